//! The pool that statements have their memory from: fair shares for those that can spill, and a limit on what the process has.
//!
//! In DataFusion's own pool of fair shares, what one has taken while it was alone stays its own when others come, and the sum is more
//! than the pool; and nobody tells it of what is allocated unasked. So this pool looks, before it gives, at the sum of what it has
//! given, and at the memory that the process really has. A consumer that is refused spills, or its statement fails with 53200.
//!
//! Columns that are kept for later scans ([`ColumnCache`]) have what statements leave, and give it up before a statement is refused.
//!
//! Invariant: whoever has little is not refused for the sake of those who have much.

use datafusion::common::DataFusionError;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation};
use parking_lot::Mutex;
use std::sync::Arc;
use stoa_pg::memory::ProcessMemory;
use stoa_table::column_cache::ColumnCache;

/// The part of the pool that what can spill leaves to what cannot: who spills merges what it has, and needs memory for that.
const HEADROOM: usize = 8;

#[derive(Debug, Default)]
struct Given {
    /// Consumers that can spill, and what they have.
    spillers: usize,
    spillable: usize,
    unspillable: usize,
}

/// See the module.
#[derive(Debug)]
pub struct StatementPool {
    given: Mutex<Given>,
    bytes: usize,
    /// What a consumer may have whatever the others have.
    modest: usize,
    /// Asked unless it is `None`.
    process: Option<&'static ProcessMemory>,
    columns: Arc<ColumnCache>,
}

impl StatementPool {
    /// A pool of `bytes`, in a process that has a limit of its own.
    #[must_use]
    pub fn new(bytes: usize, process: Option<&'static ProcessMemory>, columns: Arc<ColumnCache>) -> Self {
        let modest = (bytes / 32).clamp(256 << 10, 16 << 20);
        Self { given: Mutex::default(), bytes, modest, process, columns }
    }

    /// Why a consumer cannot have more, if it cannot.
    fn refusal(&self, given: &Given, spills: bool, size: usize, additional: usize) -> Option<&'static str> {
        let wanted = size.saturating_add(additional);
        if wanted <= self.modest {
            return None;
        }
        let all = given.spillable + given.unspillable;
        let kept = self.columns.bytes();
        let over = (all + kept).saturating_add(additional).saturating_sub(self.bytes).min(kept);
        if over > 0 {
            self.columns.release(over);
        }
        // A process that is large for other reasons does not stop statements altogether.
        let exceeded = || self.process.as_ref().is_some_and(|p| p.exceeded_by(additional));
        if all > self.bytes / 4 && exceeded() && self.columns.release(additional) < additional {
            return Some("the process has reached its limit");
        }
        if all.saturating_add(additional) > self.bytes {
            return Some("the memory of statements is used up");
        }
        if spills {
            let theirs = (self.bytes - self.bytes / HEADROOM).saturating_sub(given.unspillable);
            if wanted > theirs / given.spillers.max(1) || given.spillable.saturating_add(additional) > theirs {
                return Some("its share of the memory of statements is used up");
            }
        }
        None
    }
}

impl StatementPool {
    fn tell(&self, given: &Given) {
        self.columns.set_statements(given.spillable + given.unspillable);
    }
}

impl std::fmt::Display for StatementPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "statements({} of {} bytes)", self.reserved(), self.bytes)
    }
}

impl MemoryPool for StatementPool {
    fn name(&self) -> &str {
        "statements"
    }

    fn register(&self, consumer: &MemoryConsumer) {
        if consumer.can_spill() {
            self.given.lock().spillers += 1;
        }
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        if consumer.can_spill() {
            let mut given = self.given.lock();
            given.spillers = given.spillers.saturating_sub(1);
        }
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        let mut given = self.given.lock();
        if reservation.consumer().can_spill() {
            given.spillable += additional
        } else {
            given.unspillable += additional
        }
        self.tell(&given);
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        let mut given = self.given.lock();
        let part = if reservation.consumer().can_spill() { &mut given.spillable } else { &mut given.unspillable };
        *part = part.saturating_sub(shrink);
        self.tell(&given);
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> Result<(), DataFusionError> {
        let spills = reservation.consumer().can_spill();
        let mut given = self.given.lock();
        if let Some(why) = self.refusal(&given, spills, reservation.size(), additional) {
            return Err(DataFusionError::ResourcesExhausted(format!("{}: {why}.", reservation.consumer().name())));
        }
        if spills {
            given.spillable += additional
        } else {
            given.unspillable += additional
        }
        self.tell(&given);
        Ok(())
    }

    fn reserved(&self) -> usize {
        let given = self.given.lock();
        given.spillable + given.unspillable
    }

    fn memory_limit(&self) -> MemoryLimit {
        MemoryLimit::Finite(self.bytes)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    fn consumer(pool: &Arc<dyn MemoryPool>, name: &str) -> MemoryReservation {
        MemoryConsumer::new(name).with_can_spill(true).register(pool)
    }

    #[test]
    fn the_sum_of_what_is_given_has_a_limit_and_the_modest_are_served() {
        let pool: Arc<dyn MemoryPool> = Arc::new(StatementPool::new(64 << 20, None, Arc::default()));
        let first = consumer(&pool, "first");
        first.try_grow(48 << 20).unwrap();
        let merge = MemoryConsumer::new("merge").register(&pool);
        merge.try_grow(10 << 20).unwrap();
        // Its share would be half of the rest.
        let second = consumer(&pool, "second");
        assert!(second.try_grow(20 << 20).is_err());
        second.try_grow(512 << 10).unwrap();
        first.shrink(40 << 20);
        second.try_grow(20 << 20).unwrap();
        assert!(first.try_grow(30 << 20).is_err());
        drop((first, second, merge));
        assert_eq!(pool.reserved(), 0);
        consumer(&pool, "again").try_grow(48 << 20).unwrap();
    }

    #[test]
    fn a_large_process_makes_the_large_spill() {
        let process = Box::leak(Box::new(ProcessMemory::new()));
        process.set_limit(1 << 20, None);
        let pool: Arc<dyn MemoryPool> = Arc::new(StatementPool::new(64 << 20, Some(process), Arc::default()));
        let one = consumer(&pool, "one");
        one.try_grow(33 << 20).unwrap();
        assert!(one.try_grow(1 << 20).is_err(), "a part of the pool is there in any case, and no more");
        consumer(&pool, "other").try_grow(512 << 10).unwrap();
    }
}
