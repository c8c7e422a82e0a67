//! Numbers that are given out once: ids of objects, ids of transactions, values of sequences.

use super::descriptor::{Oid, SequenceDescriptor};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use stoa_pg::PgResult;
use stoa_store::TableId;

/// What `SELECT * FROM sequence` shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SequenceState {
    pub last_value: i64,
    pub is_called: bool,
    /// How many values PostgreSQL would have made durable and not yet given out.
    #[serde(default)]
    pub log_cnt: i64,
}

/// See the module. Sequences are outside of transactions.
#[async_trait]
pub trait Numbers: Send + Sync + Debug {
    /// An id that was never used: OIDs and tables of the store come from one row of numbers.
    ///
    /// # Errors
    /// What the store reports.
    async fn next_id(&self) -> PgResult<Oid>;

    /// A table of the store that no other ever was.
    ///
    /// # Errors
    /// As [`Numbers::next_id`].
    async fn next_table_id(&self) -> PgResult<TableId> {
        self.next_id().await.map(TableId)
    }

    /// The number of a transaction, unique while the database is open.
    fn next_transaction(&self) -> u64;

    /// The next value of a sequence, if it can be had without waiting.
    ///
    /// # Errors
    /// As [`Numbers::next`].
    fn try_next(&self, sequence: &SequenceDescriptor) -> Option<PgResult<i64>>;

    /// The next value of a sequence.
    ///
    /// # Errors
    /// 2200H at the end of a sequence that does not cycle; what the store reports.
    async fn next(&self, sequence: &SequenceDescriptor) -> PgResult<i64>;

    /// Sees to it that so many values can be had without waiting, as long as nobody else takes them.
    ///
    /// # Errors
    /// What the store reports.
    async fn fill(&self, sequence: &SequenceDescriptor, values: i64) -> PgResult<()>;

    /// The state now.
    ///
    /// # Errors
    /// What the store reports.
    async fn state(&self, sequence: &SequenceDescriptor) -> PgResult<SequenceState>;

    /// Sets the state as it is.
    ///
    /// # Errors
    /// What the store reports.
    async fn restore(&self, sequence: &SequenceDescriptor, new: SequenceState) -> PgResult<()>;

    /// `setval`.
    ///
    /// # Errors
    /// 22003 for a value out of the sequence's bounds.
    async fn set(&self, sequence: &SequenceDescriptor, value: i64, is_called: bool) -> PgResult<()>;

    /// Forgets a sequence that was dropped.
    async fn forget(&self, sequence: Oid);
}
