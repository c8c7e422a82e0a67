//! What planning and execution of one statement may use. Cheap to clone: everything is shared.

use crate::session::system::SessionSystem;
use crate::virtual_tables::Made;
use datafusion::common::ScalarValue;
use std::ops::Deref;
use std::sync::Arc;
use stoa_pg::EvalContext;
use stoa_table::catalog::{CatalogSnapshot, Oid};

/// The surroundings of one statement: those that it shares with others of its transaction, and its own.
#[derive(Clone)]
pub struct StatementContext {
    /// The catalog as the transaction sees it, pinned for the statement; the transaction with its snapshot, writes and locks.
    pub system: Arc<SessionSystem>,
    /// Settings, clocks and the system functions.
    pub eval: EvalContext,
    /// Values of `$1`, `$2`, … in the Arrow form of their types.
    pub params: Arc<[ScalarValue]>,
    /// The statement's text, for `pg_stat_activity` and error positions.
    pub text: Arc<str>,
    /// Rows of system relations.
    pub made: Arc<Made>,
}

impl Deref for StatementContext {
    type Target = SessionSystem;

    fn deref(&self) -> &SessionSystem {
        &self.system
    }
}

impl StatementContext {
    /// The same with another catalog to look names up in.
    #[must_use]
    pub fn with_catalog(&self, catalog: Arc<CatalogSnapshot>, search_path: Arc<[Oid]>) -> Self {
        let system = Arc::new(SessionSystem { catalog, search_path, ..(*self.system).clone() });
        Self { system, made: Arc::default(), ..self.clone() }
    }
}
