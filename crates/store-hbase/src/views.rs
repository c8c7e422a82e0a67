//! Published times: what readers see, and which of them are still in use.

use crate::ticks::Tick;
use parking_lot::Mutex;
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;
use stoa_store::{Snapshot, StoreError, StoreResult, Timestamp};

/// What was published last at some moment: all commits up to its time are in HBase or in memory, and no others are.
#[derive(Debug)]
pub(crate) struct View {
    pub tick: Tick,
    pub published_us: u64,
    live: Arc<Live>,
}

impl View {
    pub fn publish(live: &Arc<Live>, tick: Tick, now_us: u64) -> Arc<View> {
        *live.0.lock().entry(tick).or_default() += 1;
        Arc::new(View { tick, published_us: now_us, live: Arc::clone(live) })
    }
}

impl Drop for View {
    fn drop(&mut self) {
        let mut live = self.live.0.lock();
        if let Some(count) = live.get_mut(&self.tick) {
            *count -= 1;
            if *count == 0 {
                live.remove(&self.tick);
            }
        }
    }
}

/// The times of views that somebody holds.
#[derive(Debug, Default)]
pub(crate) struct Live(Mutex<BTreeMap<Tick, usize>>);

impl Live {
    pub fn oldest(&self) -> Option<Tick> {
        self.0.lock().keys().next().copied()
    }

    pub fn count(&self) -> usize {
        self.0.lock().values().sum()
    }
}

/// The snapshot that callers hold.
#[derive(Debug)]
pub(crate) struct HbaseSnapshot {
    pub tick: Tick,
    /// The time of day that decides what has expired.
    pub taken_us: u64,
    /// The newest when it was taken.
    pub view: Arc<View>,
    /// In milliseconds: all that it sees was there at this time, so that what it needs was replaced or deleted later.
    pub seen_ms: u64,
}

impl Snapshot for HbaseSnapshot {
    fn timestamp(&self) -> Timestamp {
        self.tick.timestamp()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl HbaseSnapshot {
    pub fn of(snapshot: &Arc<dyn Snapshot>) -> StoreResult<&HbaseSnapshot> {
        snapshot.as_any().downcast_ref().ok_or_else(|| StoreError::Invalid("the snapshot is another store's".into()))
    }

    /// Whether it looks at a time before the newest.
    pub fn is_past(&self) -> bool {
        self.tick < self.view.tick
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_view_is_the_oldest_that_is_held() {
        let live = Arc::new(Live::default());
        let [a, b, c] = [2, 4, 4].map(|tick| View::publish(&live, Tick(tick), 0));
        assert_eq!((live.oldest(), live.count()), (Some(Tick(2)), 3));
        drop(a);
        drop(b);
        assert_eq!((live.oldest(), live.count()), (Some(Tick(4)), 1));
        drop(c);
        assert_eq!(live.oldest(), None);
    }
}
