//! Transactions: what a statement sees, what it has written, what it has locked, and how all of it becomes durable.
//!
//! - A statement reads a [`ReadView`]: a snapshot of the store with the transaction's own earlier writes over it.
//! - What it writes goes to a buffer of its own ([`WriteSet`]), which joins the transaction's when the statement succeeds and is
//!   thrown away when it fails or must run again. What memory does not hold goes to disk; a large transaction is committed as one
//!   bulk load ([`stoa_store::BulkLoad`]).
//! - READ COMMITTED: each statement takes a new snapshot. One that finds a row changed behind its snapshot waits for the writer
//!   (row locks), then runs again on a new one ([`statement_retry`]); the user sees neither.
//! - REPEATABLE READ: one snapshot; a row changed behind it is 40001.
//! - SERIALIZABLE: as before, and [`serializable`](crate::services::serializable) aborts one of any transactions whose reads and writes cross dangerously.
//!
//! Invariant: no row is written without its lock, so a commit has nothing to check but what [`serializable`](crate::services::serializable) asks.
//!
//! Reading order: [`row_change`] → [`write_buffer`] → [`spill_file`] → [`write_set`] → [`overlay`] → [`view`] → [`transaction`] → [`transactions`] → [`large_object`].

pub mod advisory;
pub mod commit_token;
pub mod deferred;
pub mod key_filter;
pub mod large_object;
pub mod overlay;
mod raw_rows;
pub mod row_change;
pub mod spill_file;
pub mod spill_space;
pub mod transaction;
pub mod transactions;
pub mod view;
pub mod write_buffer;
pub mod write_set;

pub use crate::catalog::store::{CATALOG_FAMILY, CATALOG_TABLE};
pub use crate::failure::{DISK_FULL_HINT, is_definition_retry, is_statement_retry, statement_retry, store_error};
pub use crate::services::locks::{GroupId, LockStrength, LockWait, TableLockMode};
pub use overlay::Overlay;
pub use row_change::RowChange;
pub use spill_space::SpillSpace;
pub use transaction::{Isolation, KeyLock, Transaction};
pub use transactions::{Transactions, TxnOptions};
pub use view::{RangeRead, ReadView, ViewScan};
pub use write_set::WriteSet;
