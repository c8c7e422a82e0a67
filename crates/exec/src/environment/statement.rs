//! What planning and execution of one statement may use. Cheap to clone: everything is shared.

use super::database::DatabaseInner;
use super::session::SessionShared;
use arrow::array::RecordBatch;
use datafusion::common::ScalarValue;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;
use stoa_pg::context::System;
use stoa_pg::{EvalContext, PgError, PgResult, SqlState, SqlType};
use stoa_sql::catalog::names::{class_named, shown_relation};
use stoa_table::catalog::store::{encode_relation, relation_key};
use stoa_table::catalog::{CatalogSnapshot, Oid, Relation};
use stoa_table::txn::Transaction;

/// What the statements of a transaction and their functions have around them, until the catalog or the path is another.
#[derive(Clone)]
pub struct SessionEnvironment {
    pub database: Arc<DatabaseInner>,
    pub session: Arc<SessionShared>,
    pub catalog: Arc<CatalogSnapshot>,
    /// Schemas in which unqualified names are looked up, in order, `pg_catalog` (and the temporary schema) included.
    pub search_path: Arc<[Oid]>,
    pub txn: Arc<Transaction>,
}

impl std::fmt::Debug for SessionEnvironment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionEnvironment").field("pid", &self.session.pid).finish_non_exhaustive()
    }
}

/// What a statement has read of system relations whose rows change while it runs, or that it reads whole: it sees each of them in one
/// state, made once. By schema and name, and the positions of the columns.
#[derive(Debug, Default)]
pub struct SystemRows(pub Mutex<HashMap<(String, String, Vec<usize>), RecordBatch>>);

/// The environment of one statement: what it shares with others of its transaction, and its own.
#[derive(Clone)]
pub struct StatementContext {
    /// The catalog as the transaction sees it, pinned for the statement; the transaction with its snapshot, writes and locks.
    pub system: Arc<SessionEnvironment>,
    /// Settings, clocks and the system functions.
    pub eval: EvalContext,
    /// Values of `$1`, `$2`, … in the Arrow form of their types.
    pub params: Arc<[ScalarValue]>,
    /// The statement's text, for `pg_stat_activity` and error positions.
    pub text: Arc<str>,
    /// Rows of system relations.
    pub made: Arc<SystemRows>,
}

impl Deref for StatementContext {
    type Target = SessionEnvironment;

    fn deref(&self) -> &SessionEnvironment {
        &self.system
    }
}

impl StatementContext {
    /// The same with another catalog to look names up in.
    #[must_use]
    pub fn with_catalog(&self, catalog: Arc<CatalogSnapshot>, search_path: Arc<[Oid]>) -> Self {
        let system = Arc::new(SessionEnvironment { catalog, search_path, ..(*self.system).clone() });
        Self { system, made: Arc::default(), ..self.clone() }
    }

    /// Stores a relation, new or changed, in the transaction's catalog. Names are checked again when it commits.
    pub fn put_relation(&self, mut relation: Relation) -> PgResult<()> {
        if let Relation::Table(table) = &mut relation {
            stoa_sql::fulltext::settings::note_words(table);
        }
        self.txn.add_catalog_mutation(&relation_key(relation.oid()), Some(&encode_relation(&relation)?))?;
        self.txn.change_catalog(move |catalog| {
            if catalog.schema(relation.schema()).is_none() {
                return Err(PgError::new(SqlState::INVALID_SCHEMA_NAME, "the schema was dropped by another transaction"));
            }
            if catalog.relation_by_name(relation.schema(), relation.name()).is_some_and(|other| other.oid() != relation.oid()) {
                return Err(PgError::new(SqlState::DUPLICATE_TABLE, format!("relation \"{}\" already exists", relation.name())));
            }
            catalog.put_relation(relation.clone());
            Ok(())
        })
    }
}

impl System for SessionEnvironment {
    fn relation_name(&self, oid: u32) -> Option<String> {
        shown_relation(&self.catalog, &self.search_path, oid)
    }

    fn relation_oid(&self, name: &str) -> PgResult<Option<u32>> {
        class_named(&self.catalog, &self.session.database, &self.search_path, self.session.temporary_schema(), name)
    }

    fn schema_name(&self, oid: u32) -> Option<String> {
        self.catalog.schema(oid).map(|s| s.name.clone())
    }

    fn call(&self, function: &str, args: &[ScalarValue], result: &SqlType) -> PgResult<ScalarValue> {
        (self.database.functions)(self, function, args, result)
    }
}
