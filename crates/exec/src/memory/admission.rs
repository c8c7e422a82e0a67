//! Admission: in little memory few statements work at once.
//!
//! A planned statement takes memory that it can't ask for: batches on their way between operators, buffers of files, what decoding
//! makes. Where the memory of statements is little, so that many of them at once would take more than there is, each has a slot
//! while it works, and the others wait for one. See `docs/decisions/0012-few-statements-at-once-in-little-memory.md`.

use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Memory of statements for which there is one slot more.
const SLOT_BYTES: usize = 64 << 20;
/// From so many slots on everyone has one.
const MANY: usize = 32;
/// How long a statement waits before it is asked whether the process has room for it without a slot, and how often it is asked.
const PATIENCE: Duration = Duration::from_millis(500);
/// Then it works in any case: who has a slot may be waiting for a client.
const MOST: u32 = 6;

/// The slots of a database.
#[derive(Clone, Debug, Default)]
pub struct Admission {
    /// `None`: everyone has a slot.
    slots: Option<Arc<Semaphore>>,
}

/// Given back when it is dropped.
pub type Slot = Option<OwnedSemaphorePermit>;

impl Admission {
    /// For so much memory of all statements together.
    pub fn new(query_memory_bytes: usize) -> Self {
        let slots = (query_memory_bytes / SLOT_BYTES).max(1);
        Self { slots: (slots < MANY).then(|| Arc::new(Semaphore::new(slots))) }
    }

    /// How many slots are free, where there are less than statements.
    #[must_use]
    pub fn free(&self) -> Option<usize> {
        self.slots.as_ref().map(|slots| slots.available_permits())
    }

    /// Whether there are less slots than there may be statements.
    pub fn is_limited(&self) -> bool {
        self.slots.is_some()
    }

    /// Waits for a slot, not for ever: without one if `has_room` says that there is memory for SLOT_BYTES more.
    pub async fn slot(&self, has_room: impl Fn(usize) -> bool) -> Slot {
        let slots = self.slots.as_ref()?;
        for _ in 0..MOST {
            match tokio::time::timeout(PATIENCE, Arc::clone(slots).acquire_owned()).await {
                Ok(slot) => return slot.ok(),
                Err(_) if has_room(SLOT_BYTES) => return None,
                Err(_) => {}
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn paused() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
    }

    #[test]
    fn there_are_as_many_slots_as_the_memory_has_room_for() {
        paused().block_on(async {
            for (bytes, count) in [(0, 1), (100 << 20, 1), (128 << 20, 2), (1 << 30, 16)] {
                let admission = Admission::new(bytes);
                let slots = admission.slots.as_ref().unwrap();
                assert_eq!(slots.available_permits(), count);
                let first = admission.slot(|_| false).await;
                assert!(first.is_some() && slots.available_permits() == count - 1);
                drop(first);
                assert_eq!(slots.available_permits(), count);
            }
            assert!(Admission::new(2 << 30).slot(|_| false).await.is_none(), "where there is much, there are no slots");
        });
    }

    #[test]
    fn who_waits_has_the_next_place_or_goes_without_where_there_is_room() {
        paused().block_on(async {
            let admission = Admission::new(0);
            let first = admission.slot(|_| false).await;
            let waiting = tokio::spawn({
                let admission = admission.clone();
                async move { admission.slot(|_| false).await }
            });
            tokio::task::yield_now().await;
            assert!(!waiting.is_finished());
            drop(first);
            let second = waiting.await.unwrap();
            assert!(second.is_some());
            let before = std::time::Instant::now();
            assert!(admission.slot(|bytes| bytes == SLOT_BYTES).await.is_none());
            let short = before.elapsed();
            assert!(short >= PATIENCE, "{short:?}");
            assert!(admission.slot(|_| false).await.is_none(), "nobody waits for ever");
            assert!(before.elapsed() - short >= PATIENCE * MOST);
        });
    }
}
