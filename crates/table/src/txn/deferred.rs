//! Work of the layer above that waits for a later moment of a transaction.

use super::Transaction;
use crate::catalog::Oid;
use futures::future::BoxFuture;
use std::any::Any;
use std::fmt::Debug;
use stoa_pg::PgResult;

/// A check that waits for the end of its statement, or for the commit: constraints that are deferred.
pub trait DeferredWork: Any + Debug + Send + Sync {
    /// Whether it came from a change of this table.
    fn is_on(&self, table: Oid) -> bool;

    /// Does it; an error rolls the transaction back.
    fn run<'a>(&'a self, txn: &'a Transaction) -> BoxFuture<'a, PgResult<()>>;
}
