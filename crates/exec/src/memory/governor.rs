//! The governor of an instance: its shares, the pool, the slots, and what is given up when memory is short.
//!
//! What is kept for later goes before anything is refused: first the columns that scans have left, then what the allocator holds of freed
//! memory.

use super::admission::Admission;
use super::pool::StatementPool;
use super::shares::Shares;
use datafusion::execution::memory_pool::{MemoryPool, TrackConsumersPool};
use std::num::NonZeroUsize;
use std::sync::Arc;
use stoa_table::column_cache::ColumnCache;

/// How many of those who have most are named when a statement is refused.
const NAMED: NonZeroUsize = NonZeroUsize::MIN.saturating_add(4);

/// See the module.
#[derive(Clone, Debug)]
pub struct Governor {
    pub shares: Shares,
    /// What statements have their memory from.
    pub pool: Arc<dyn MemoryPool>,
    /// Columns that scans have left for later ones, in what statements don't need.
    pub columns: Arc<ColumnCache>,
    /// Slots of statements that work.
    pub admission: Admission,
}

impl Governor {
    /// Of a process with these shares; if they limit it, `pressure` is told from time to time whether it is near that.
    #[must_use]
    pub fn new(shares: Shares, pressure: Option<fn(bool)>) -> Self {
        let columns = Arc::new(ColumnCache::new(shares.statements));
        let process = shares.process().map(|bytes| {
            let process = stoa_pg::memory::process();
            let columns = Arc::clone(&columns);
            let on_use = move |used: usize, limit: usize| {
                if let Some(pressure) = pressure {
                    pressure(used > limit / 4 * 3);
                }
                let over = used.saturating_sub(limit / 8 * 7);
                if over > 0 {
                    columns.release(over);
                }
            };
            process.set_limit(bytes, Some(Box::new(on_use)));
            process
        });
        let pool = TrackConsumersPool::new(StatementPool::new(shares.statements, process, Arc::clone(&columns)), NAMED);
        Self { shares, pool: Arc::new(pool), columns, admission: Admission::new(shares.statements) }
    }
}
