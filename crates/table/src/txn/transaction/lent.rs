//! Snapshots that a transaction lends to others: `pg_export_snapshot()` and SET TRANSACTION SNAPSHOT.
//!
//! A lent snapshot lives as long as the transaction that lends it, and is found by that one's session and number, which its name has.

use super::{Isolation, Transaction};
use crate::catalog::CatalogSnapshot;
use crate::services::locks::GroupId;
use std::sync::Arc;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_store::Snapshot;

/// What others may read as.
#[derive(Clone)]
pub(super) struct Lent {
    snapshot: Arc<dyn Snapshot>,
    catalog: Arc<CatalogSnapshot>,
}

impl Transaction {
    /// Lends what the running statement reads, without what the transaction has written. Gives its name, as long as this transaction runs.
    ///
    /// # Errors
    /// 25001 behind a savepoint.
    pub fn lend_snapshot(&self) -> PgResult<String> {
        let published = self.transactions.published_catalog();
        let mut state = self.state.lock();
        if !state.savepoints.is_empty() {
            return Err(PgError::new(SqlState::ACTIVE_SQL_TRANSACTION, "cannot export a snapshot from a subtransaction"));
        }
        let Some(snapshot) = state.snapshot.clone() else { return Err(PgError::internal("a statement without a snapshot")) };
        let catalog = state.catalog_of_snapshot.clone().unwrap_or(published);
        // One that is lent again is the same: a call for each of many rows keeps no more.
        if !state.lent.last().is_some_and(|last| Arc::ptr_eq(&last.snapshot, &snapshot)) {
            state.lent.push(Lent { snapshot, catalog });
        }
        Ok(format!("{:08X}-{:08X}-{}", self.group.0, self.id(), state.lent.len()))
    }

    /// Reads as a transaction that lent its snapshot under this name. Nothing may have been read before.
    ///
    /// # Errors
    /// 22023 if no running transaction has lent it; 0A000 in READ COMMITTED and SERIALIZABLE, or if it is one of another database; 25001 behind
    /// the first statement.
    pub fn borrow_snapshot(&self, name: &str) -> PgResult<()> {
        match self.isolation() {
            Isolation::ReadCommitted => {
                let message = "a snapshot-importing transaction must have isolation level SERIALIZABLE or REPEATABLE READ";
                return Err(PgError::unsupported(message));
            }
            // Who is among those that are watched must have been watched since its snapshot was taken.
            Isolation::Serializable => {
                return Err(PgError::unsupported("a serializable transaction cannot import a snapshot").hint("Use REPEATABLE READ."));
            }
            Isolation::RepeatableRead => {}
        }
        let unknown = || PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("invalid snapshot identifier: \"{name}\""));
        let (group, id, number) = parts(name).ok_or_else(unknown)?;
        let lender = self.transactions.running_as(group, id).ok_or_else(unknown)?;
        if lender.transactions.database() != self.transactions.database() {
            return Err(PgError::unsupported("cannot import a snapshot from a different database"));
        }
        let lent = number.checked_sub(1).and_then(|at| lender.state.lock().lent.get(at).cloned()).ok_or_else(unknown)?;
        let mut state = self.state.lock();
        if state.snapshot.is_some() || !state.savepoints.is_empty() {
            return Err(PgError::new(SqlState::ACTIVE_SQL_TRANSACTION, "SET TRANSACTION SNAPSHOT must be called before any query"));
        }
        state.snapshot = Some(lent.snapshot);
        state.catalog_of_snapshot = Some(lent.catalog);
        Ok(())
    }
}

/// Session, transaction and number of a lent snapshot.
fn parts(name: &str) -> Option<(GroupId, u64, usize)> {
    let hexadecimal = |text: &str| u64::from_str_radix(text, 16).ok().filter(|_| text.len() >= 8 && !text.starts_with('+'));
    let mut parts = name.split('-');
    let (group, id, number) = (parts.next()?, parts.next()?, parts.next()?);
    let number = number.parse().ok().filter(|_| parts.next().is_none())?;
    Some((GroupId(hexadecimal(group)?), hexadecimal(id)?, number))
}
