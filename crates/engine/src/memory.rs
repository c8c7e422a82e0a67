//! The pool that statements have their memory from: fair shares for those that can spill, and a limit on what the process has.
//!
//! DataFusion's [`FairSpillPool`] gives each consumer that can spill its share of the pool, but what one has taken while it was alone
//! stays its own when others come; and nobody tells it of what is allocated unasked. So this pool looks at two more numbers before it
//! gives: the sum of what it has given, and the memory that the process really has. A consumer that is refused spills, or its
//! statement fails with 53200.
//!
//! Invariant: whoever has little is not refused for the sake of those who have much.

use datafusion::common::DataFusionError;
use datafusion::execution::memory_pool::{FairSpillPool, MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation};
use parking_lot::Mutex;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// See the module.
#[derive(Debug)]
pub struct StatementPool {
    shares: FairSpillPool,
    bytes: usize,
    /// What a consumer may have whatever the others have.
    modest: usize,
    process: Option<ProcessMemory>,
}

impl StatementPool {
    /// A pool of `bytes`, in a process that should stay below `process` bytes.
    #[must_use]
    pub fn new(bytes: usize, process: Option<usize>) -> Self {
        let modest = (bytes / 32).clamp(256 << 10, 16 << 20);
        Self { shares: FairSpillPool::new(bytes), bytes, modest, process: process.map(ProcessMemory::new) }
    }
}

impl std::fmt::Display for StatementPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "statements({} of {} bytes)", self.shares.reserved(), self.bytes)
    }
}

impl MemoryPool for StatementPool {
    fn name(&self) -> &str {
        "statements"
    }

    fn register(&self, consumer: &MemoryConsumer) {
        self.shares.register(consumer);
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        self.shares.unregister(consumer);
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        self.shares.grow(reservation, additional);
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        self.shares.shrink(reservation, shrink);
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> Result<(), DataFusionError> {
        if reservation.size().saturating_add(additional) > self.modest {
            let given = self.shares.reserved();
            let full = given.saturating_add(additional) > self.bytes;
            // A process that is large for other reasons does not stop statements altogether.
            let crowded = given > self.bytes / 4 && self.process.as_ref().is_some_and(|p| p.exceeded_by(additional));
            if full || crowded {
                let what = if full { "the pool of statements is used up" } else { "the process has reached its limit" };
                return Err(DataFusionError::ResourcesExhausted(format!("{}: {what}.", reservation.consumer().name())));
            }
        }
        self.shares.try_grow(reservation, additional)
    }

    fn reserved(&self) -> usize {
        self.shares.reserved()
    }

    fn memory_limit(&self) -> MemoryLimit {
        MemoryLimit::Finite(self.bytes)
    }
}

/// What the process has in memory, asked of the system now and then.
#[derive(Debug)]
struct ProcessMemory {
    limit: usize,
    statm: Option<File>,
    known: AtomicUsize,
    asked: Mutex<Option<Instant>>,
}

/// How old an answer may be.
const FRESH: Duration = Duration::from_millis(3);
const PAGE_BYTES: usize = 4096;

impl ProcessMemory {
    fn new(limit: usize) -> Self {
        Self { limit, statm: File::open("/proc/self/statm").ok(), known: AtomicUsize::new(0), asked: Mutex::default() }
    }

    fn exceeded_by(&self, additional: usize) -> bool {
        self.bytes().saturating_add(additional) > self.limit
    }

    fn bytes(&self) -> usize {
        if let Some(mut asked) = self.asked.try_lock()
            && asked.is_none_or(|at| at.elapsed() > FRESH)
            && let Some(statm) = &self.statm
        {
            let mut text = [0; 96];
            let read = statm.read_at(&mut text, 0).unwrap_or(0);
            let text = std::str::from_utf8(text.get(..read).unwrap_or_default()).unwrap_or_default();
            if let Some(pages) = text.split(' ').nth(1).and_then(|n| n.parse::<usize>().ok()) {
                self.known.store(pages.saturating_mul(PAGE_BYTES), Ordering::Relaxed);
            }
            *asked = Some(Instant::now());
        }
        self.known.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use std::sync::Arc;

    fn consumer(pool: &Arc<dyn MemoryPool>, name: &str) -> MemoryReservation {
        MemoryConsumer::new(name).with_can_spill(true).register(pool)
    }

    #[test]
    fn the_sum_of_what_is_given_has_a_limit_and_the_modest_are_served() {
        let pool: Arc<dyn MemoryPool> = Arc::new(StatementPool::new(64 << 20, None));
        let first = consumer(&pool, "first");
        first.try_grow(60 << 20).unwrap();
        // Its share would be half of the pool.
        let second = consumer(&pool, "second");
        assert!(second.try_grow(20 << 20).is_err());
        second.try_grow(1 << 20).unwrap();
        first.shrink(40 << 20);
        second.try_grow(20 << 20).unwrap();
        assert!(first.try_grow(60 << 20).is_err());
    }

    #[test]
    fn a_large_process_makes_the_large_spill() {
        let pool: Arc<dyn MemoryPool> = Arc::new(StatementPool::new(64 << 20, Some(1 << 20)));
        let one = consumer(&pool, "one");
        one.try_grow(17 << 20).unwrap();
        assert!(one.try_grow(1 << 20).is_err(), "a quarter of the pool is there in any case, and no more");
        consumer(&pool, "other").try_grow(1 << 20).unwrap();
    }
}
