//! What functions may ask of the session and the catalog around them: the [`System`] of a statement.
//!
//! Functions about objects are answered by the catalog, those about the session by [`super::functions`].

use super::functions;
use super::shared::SessionShared;
use crate::database::DatabaseInner;
use datafusion::common::ScalarValue;
use std::sync::Arc;
use stoa_pg::context::System;
use stoa_pg::{PgError, PgResult, SqlType};
use stoa_table::catalog::{CatalogSnapshot, Oid};
use stoa_table::txn::Transaction;

/// What the statements of a transaction and their functions have around them, until the catalog or the path is another.
#[derive(Clone)]
pub struct SessionSystem {
    pub database: Arc<DatabaseInner>,
    pub session: Arc<SessionShared>,
    pub catalog: Arc<CatalogSnapshot>,
    /// Schemas in which unqualified names are looked up, in order, `pg_catalog` (and the temporary schema) included.
    pub search_path: Arc<[Oid]>,
    pub txn: Arc<Transaction>,
}

impl std::fmt::Debug for SessionSystem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionSystem").field("pid", &self.session.pid).finish_non_exhaustive()
    }
}

impl System for SessionSystem {
    fn relation_name(&self, oid: u32) -> Option<String> {
        crate::virtual_tables::relation_name(self, oid)
    }

    fn relation_oid(&self, name: &str) -> PgResult<Option<u32>> {
        crate::virtual_tables::relation_oid(self, name)
    }

    fn schema_name(&self, oid: u32) -> Option<String> {
        crate::virtual_tables::schema_name(self, oid)
    }

    fn call(&self, function: &str, args: &[ScalarValue], result: &SqlType) -> PgResult<ScalarValue> {
        match functions::call(self, function, args) {
            Some(Ok(value)) if value.data_type() == result.arrow => Ok(value),
            Some(out) => out.and_then(|value| value.cast_to(&result.arrow).map_err(|e| PgError::internal(e.to_string()))),
            None => crate::virtual_tables::call(self, function, args, result),
        }
    }
}
