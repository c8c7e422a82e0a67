//! What planning and execution of one statement may use. Cheap to clone: everything is shared.

use crate::catalog::{CatalogSnapshot, Oid};
use crate::database::DatabaseInner;
use crate::session::shared::SessionShared;
use crate::txn::Transaction;
use datafusion::common::ScalarValue;
use std::sync::Arc;
use stoa_pg::EvalContext;

/// The surroundings of one statement.
#[derive(Clone)]
pub struct StatementContext {
    pub database: Arc<DatabaseInner>,
    pub session: Arc<SessionShared>,
    /// The catalog as the transaction sees it, pinned for the statement.
    pub catalog: Arc<CatalogSnapshot>,
    /// Schemas in which unqualified names are looked up, in order, `pg_catalog` (and the temporary schema) included.
    pub search_path: Arc<[Oid]>,
    /// Settings, clocks and the system functions.
    pub eval: EvalContext,
    /// Snapshot, own writes, locks.
    pub txn: Arc<Transaction>,
    /// Values of `$1`, `$2`, … in the Arrow form of their types.
    pub params: Arc<[ScalarValue]>,
    /// The statement's text, for `pg_stat_activity` and error positions.
    pub text: Arc<str>,
}
