//! What planning and execution of one statement may use. Cheap to clone: everything is shared.

use super::database::DatabaseInner;
use super::session::SessionShared;
use arrow::array::RecordBatch;
use datafusion::common::ScalarValue;
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};
use std::ops::Deref;
use std::sync::Arc;
use stoa_pg::context::System;
use stoa_pg::{EvalContext, PgError, PgResult, SqlState, SqlType};
use stoa_sql::catalog::names::{class_named, shown_relation};
use stoa_sql::definition::Definitions;
use stoa_sql::privileges::{check_name, may_schema};
use stoa_table::catalog::acl::PUBLIC_GRANTEE;
use stoa_table::catalog::role::{FIRST_SUPERUSER, READ_ALL_STATS};
use stoa_table::catalog::store::{encode_relation, encode_rights, relation_key, rights_key};
use stoa_table::catalog::{CatalogSnapshot, ObjectClass, Oid, Privileges, Relation, Rights, RightsOf, STORAGE_PREFIX};
use stoa_table::failure::concurrent_update;
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
    /// The role whose rights count.
    pub role: Oid,
}

impl std::fmt::Debug for SessionEnvironment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionEnvironment").field("pid", &self.session.pid).finish_non_exhaustive()
    }
}

/// What a statement has read of system relations whose rows change while it runs, or that it reads whole: it sees each of them in one
/// state, made once. By schema and name, and the positions of the columns.
#[derive(Debug, Default)]
pub struct SystemRows {
    pub whole: Mutex<HashMap<SystemColumns, RecordBatch>>,
    /// Those of which a part was made: the next time it is all of them.
    pub parts: Mutex<HashSet<SystemColumns>>,
}

/// A system relation, by schema and name, and the positions of the columns of it that are read.
pub type SystemColumns = (String, String, Vec<usize>);

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
    /// What definitions of objects are printed against.
    #[must_use]
    pub fn definitions(&self) -> Definitions<'_> {
        Definitions { catalog: &self.catalog, path: &self.search_path, eval: &self.eval }
    }

    /// The same with another catalog to look names up in.
    #[must_use]
    pub fn with_catalog(&self, catalog: Arc<CatalogSnapshot>, search_path: Arc<[Oid]>) -> Self {
        let system = Arc::new(SessionEnvironment { catalog, search_path, ..(*self.system).clone() });
        Self { system, made: Arc::default(), ..self.clone() }
    }

    /// The same in the name of another role.
    #[must_use]
    pub fn with_role(&self, role: Oid) -> Self {
        let system = Arc::new(SessionEnvironment { role, ..(*self.system).clone() });
        let eval = EvalContext { system: Arc::clone(&system) as Arc<dyn System>, ..self.eval.clone() };
        Self { system, eval, ..self.clone() }
    }

    /// Stores a relation, new or changed, in the transaction's catalog. When the transaction commits, names are checked again, and that
    /// nobody has changed or dropped the relation since: what it was changed from is what it was then.
    ///
    /// # Errors
    /// 40001 if it is not; 42P07, 3F000 and 42704 for names and roles.
    pub fn put_relation(&self, mut relation: Relation) -> PgResult<()> {
        if let Relation::Table(table) = &mut relation {
            stoa_sql::fulltext::settings::note_words(table);
        }
        if self.txn.catalog().relation(relation.oid()).is_none() && !relation.name().starts_with(STORAGE_PREFIX) {
            let class = if matches!(relation, Relation::Sequence(_)) { ObjectClass::Sequence } else { ObjectClass::Table };
            self.put_rights_of_new(RightsOf::Relation(relation.oid()), relation.schema(), class)?;
        }
        self.txn.add_catalog_mutation(&relation_key(relation.oid()), Some(&encode_relation(&relation)?))?;
        let before = self.txn.catalog().relation(relation.oid()).cloned();
        self.txn.change_catalog(move |catalog| {
            let unchanged = match (&before, catalog.relation(relation.oid())) {
                (Some(before), Some(now)) => Arc::ptr_eq(before, now) || before == now,
                (before, now) => before.is_none() && now.is_none(),
            };
            if !unchanged {
                return Err(concurrent_update().detail(format!("Another transaction has changed relation \"{}\".", relation.name())));
            }
            if catalog.schema(relation.schema()).is_none() {
                return Err(PgError::new(SqlState::INVALID_SCHEMA_NAME, "the schema was dropped by another transaction"));
            }
            if catalog.relation_by_name(relation.schema(), relation.name()).is_some_and(|other| other.oid() != relation.oid()) {
                return Err(PgError::new(SqlState::DUPLICATE_TABLE, format!("relation \"{}\" already exists", relation.name())));
            }
            if let Relation::Table(table) = &relation {
                let mut roles = table.row_security.policies.iter().flat_map(|policy| &policy.roles);
                if roles.any(|role| *role != PUBLIC_GRANTEE && catalog.authority().role(*role).is_none()) {
                    return Err(PgError::new(SqlState::UNDEFINED_OBJECT, "the role was dropped by another transaction"));
                }
            }
            catalog.put_relation(relation.clone());
            Ok(())
        })
    }
}

impl SessionEnvironment {
    /// Whether the current role may see what a session does.
    #[must_use]
    pub fn may_see(&self, session: &SessionShared) -> bool {
        let authority = self.catalog.authority();
        authority.has_rights_of(self.role, session.login.oid) || authority.has_rights_of(self.role, READ_ALL_STATS)
    }
}

impl StatementContext {
    /// A new object is the current role's, and has the privileges that were said to be those of new ones.
    ///
    /// # Errors
    /// As [`StatementContext::put_rights`].
    pub fn put_rights_of_new(&self, of: RightsOf, schema: Oid, class: ObjectClass) -> PgResult<()> {
        let rights = self.txn.catalog().authority().rights_of_new(self.role, schema, class);
        // Of the first superuser nothing needs to be said.
        if rights == Rights::of(FIRST_SUPERUSER) { Ok(()) } else { self.put_rights(of, rights) }
    }

    /// Stores whose an object is, and who may what with it.
    ///
    /// # Errors
    /// What writing in the transaction raises.
    pub fn put_rights(&self, of: RightsOf, rights: Rights) -> PgResult<()> {
        self.txn.add_catalog_mutation(&rights_key(of), Some(&encode_rights(of, &rights)?))?;
        self.txn.change_catalog(move |catalog| {
            // A role that is gone owns nothing and has no privileges.
            let authority = catalog.authority_mut();
            let lists = rights.columns.iter().map(|(_, list)| list).chain(&rights.acl).flatten();
            let mut roles = lists.flat_map(|item| [item.grantee, item.grantor]).chain([rights.owner]);
            if roles.any(|role| role != PUBLIC_GRANTEE && authority.role(role).is_none()) {
                return Err(PgError::new(SqlState::UNDEFINED_OBJECT, "the role was dropped by another transaction"));
            }
            authority.put_rights(of, rights.clone());
            Ok(())
        })
    }

    /// Forgets the rights of an object that goes.
    ///
    /// # Errors
    /// What writing in the transaction raises.
    pub fn remove_rights(&self, of: RightsOf) -> PgResult<()> {
        if !self.txn.catalog().authority().says_of(of) {
            return Ok(());
        }
        self.txn.add_catalog_mutation(&rights_key(of), None)?;
        self.txn.change_catalog(move |catalog| {
            catalog.authority_mut().remove_rights(of);
            Ok(())
        })
    }
}

impl System for SessionEnvironment {
    fn relation_name(&self, oid: u32) -> Option<String> {
        shown_relation(&self.catalog, &self.search_path, oid)
    }

    fn relation_oid(&self, name: &str) -> PgResult<Option<u32>> {
        let found = class_named(&self.catalog, &self.search_path, self.session.temporary_schema(), name)?;
        check_name(&self.catalog, self.role, name)?;
        Ok(found)
    }

    fn schema_name(&self, oid: u32) -> Option<String> {
        self.catalog.schema(oid).map(|s| s.name.clone())
    }

    fn role(&self) -> u32 {
        self.role
    }

    fn row_security(&self) -> bool {
        self.session.settings().row_security
    }

    fn may_use_schema(&self, schema: u32) -> bool {
        may_schema(&self.catalog, self.role, schema, Privileges::USAGE)
    }

    fn check_interrupt(&self) -> PgResult<()> {
        self.session.check_interrupt()
    }

    fn call(&self, function: &str, args: &[ScalarValue], result: &SqlType) -> PgResult<ScalarValue> {
        (self.database.functions)(self, function, args, result)
    }
}
