//! A session, from connect to close, and a statement from its start to its end.

use super::api::{Execution, Prepared, SessionOptions};
use super::cursor::Cursor;
use super::login;
use super::prepared::{ends_block, log_class};
use super::transaction::Block;
use datafusion::common::ScalarValue;
use indexmap::IndexMap;
use std::pin::pin;
use std::sync::Arc;
use stoa_exec::environment::guard::interruptible;
use stoa_exec::environment::{DatabaseInner, SessionEnvironment, SessionShared, StatementContext};
use stoa_exec::settings::{ChosenRole, LogStatement, Settings, levels};
use stoa_pg::values::datetime::epoch::from_clock;
use stoa_pg::{EvalContext, PgResult, SqlState};
use stoa_sql::catalog::names::role_name;
use stoa_sql::privileges::{may_schema, undefined_database};
use stoa_table::catalog::{CatalogSnapshot, Oid, PG_CATALOG_OID, Privileges};
use stoa_table::services::notifications::Notification;
use stoa_table::txn::Transaction;
use tokio::sync::mpsc::UnboundedReceiver;

/// One connection's state. Statements run one after another.
pub struct Session {
    pub(crate) database: Arc<DatabaseInner>,
    pub(crate) shared: Arc<SessionShared>,
    pub(crate) block: Block,
    pub(crate) prepared: IndexMap<String, Prepared, hashbrown::DefaultHashBuilder>,
    pub(crate) unnamed: Option<Prepared>,
    pub(super) statement_cache: super::statement_cache::StatementCache,
    pub(crate) cursors: IndexMap<String, Cursor>,
    /// When the message arrived that the statement came with, in microseconds since 1970.
    pub(crate) statement_us: i64,
    notifications: Option<UnboundedReceiver<Notification>>,
    search_path: Option<SearchPath>,
    /// What the statements of the open transaction have around them, until it, the catalog or the path is another.
    system: Option<Arc<SessionEnvironment>>,
    /// A transaction that only read, kept to begin anew.
    pub(crate) idle: Option<Arc<Transaction>>,
}

/// Schemas to look in, and what they were resolved against.
struct SearchPath {
    catalog: Arc<CatalogSnapshot>,
    settings: Arc<Settings>,
    temporary: Option<Oid>,
    path: Arc<[Oid]>,
}

impl SearchPath {
    fn is_current(&self, shared: &SessionShared) -> bool {
        self.temporary == shared.temporary_schema() && shared.has_settings(&self.settings)
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("shared", &self.shared).finish_non_exhaustive()
    }
}

impl Session {
    pub(crate) fn open(database: Arc<DatabaseInner>, options: SessionOptions) -> PgResult<Self> {
        let authority = Arc::clone(database.transactions.published_catalog().authority());
        let role = login::role_of_session(&authority, &options)?;
        let known = authority.database(database.oid).cloned().ok_or_else(|| undefined_database(&options.database))?;
        if !options.in_background {
            login::check_connect(&authority, &role, &known)?;
        }
        let mut settings = Settings::clone(&database.base_settings.read());
        if !options.application_name.is_empty() {
            settings = settings.with("application_name", Some(&options.application_name))?;
        }
        let (mut settings, complaints) = login::start_settings(&authority, &role, database.oid, settings);
        for (name, value) in &options.settings {
            levels::check_allowed(name, role.superuser)?;
            settings = login::with_setting(&authority, &role, &settings, name, value)?;
        }
        let pid = database.next_pid();
        let login = ChosenRole { oid: role.oid, name: role.name.clone(), superuser: role.superuser };
        let of = (known.oid, known.name.clone());
        let shared = SessionShared::new(pid, rand::random(), login, of, options.client, database.tables.now_us(), settings);
        let shared = shared.with_admission(database.memory.admission.clone());
        let shared = Arc::new(if options.in_background { shared.in_background() } else { shared });
        let notifications = Some(database.register(&shared, role.superuser)?);
        let limits = login::check_not_closing(&database, &known).and_then(|()| login::check_connection_limit(&database, &role, &known));
        if let Err(error) = limits {
            database.unregister(pid);
            return Err(error);
        }
        if !shared.in_background {
            database.counters.note_session();
        }
        complaints.into_iter().for_each(|error| shared.notice("WARNING", error));
        let started_us = shared.started_us;
        Ok(Self {
            database,
            shared,
            block: Block::default(),
            prepared: IndexMap::default(),
            unnamed: None,
            statement_cache: super::statement_cache::StatementCache::default(),
            cursors: IndexMap::new(),
            statement_us: started_us,
            notifications,
            search_path: None,
            system: None,
            idle: None,
        })
    }

    /// What other sessions see of this one; settings, notices and interrupts are here too.
    #[must_use]
    pub fn shared(&self) -> &Arc<SessionShared> {
        &self.shared
    }

    #[must_use]
    pub fn database(&self) -> &Arc<DatabaseInner> {
        &self.database
    }

    /// Where messages of NOTIFY arrive; can be taken once.
    pub fn take_notifications(&mut self) -> Option<UnboundedReceiver<Notification>> {
        self.notifications.take()
    }

    /// A message or a text with statements arrives, or one that goes on with a statement: what PostgreSQL's Query, Parse, Bind, Execute and
    /// FunctionCall are. It is the time of `statement_timestamp()` in a transaction until the next; one that begins takes its own.
    pub fn message_arrived(&mut self) {
        self.statement_us = self.database.tables.now_us();
    }

    /// Executes a statement. Changes of data have been made when this returns; rows come as the stream is read. The transaction of
    /// a statement outside of a block ends with [`Session::finish`], which must be called when the rows have been read. In a
    /// transaction its time is that of the last [`Session::message_arrived`].
    ///
    /// # Errors
    /// Whatever the statement raises; [`Session::fail`] has been called then. Errors of the stream are for the caller to report to
    /// `fail`.
    pub async fn execute(&mut self, prepared: &Prepared, params: Vec<ScalarValue>) -> PgResult<Execution> {
        self.shared.release_slot();
        self.open_implicit();
        let statement = prepared.inner.clone();
        let log = self.shared.begin_statement(statement.shown_text(), self.statement_us, self.block.started_us);
        let Some(body) = statement.body.as_deref() else { return Ok(Execution::Empty) };
        if log != LogStatement::None && log >= log_class(body) {
            let (pid, user) = (self.shared.pid, &self.shared.login.name);
            tracing::info!(pid, user, "statement: {}", statement.shown_text());
        }
        let result = if self.block.failed && !ends_block(Some(body)) {
            self.check_not_failed().map(|()| Execution::Empty)
        } else if ends_block(Some(body)) {
            // A commit must not be stopped half way.
            self.dispatch(&statement, body, params).await
        } else {
            let shared = self.shared.clone();
            let mut work = pin!(self.dispatch(&statement, body, params));
            interruptible(&shared, work.as_mut()).await
        };
        if let Err(error) = &result {
            if error.code() == SqlState::DEADLOCK_DETECTED {
                self.database.counters.note_deadlock();
            }
            self.fail().await;
        }
        result
    }

    /// More rows of an earlier statement are asked for: it runs again, and can be cancelled.
    pub fn resume(&mut self) {
        let text = self.shared.activity().query;
        self.shared.begin_statement(text, self.database.tables.now_us(), self.block.started_us);
    }

    /// Closes a cursor of SQL that the protocol names; not an error if there is none.
    pub fn close_cursor_if_open(&mut self, name: &str) {
        // There is none: nothing to close.
        let _ = self.close_cursor(name);
    }

    /// The statements that make the database's objects again, as the open transaction sees them.
    ///
    /// # Errors
    /// What reading the catalog raises.
    pub async fn dump_script(&mut self) -> PgResult<stoa_sql::definition::script::DumpScript> {
        let context = self.statement_context("stoa dump".into(), Arc::from([]))?;
        stoa_sql::definition::script::dump_script(&context.catalog, &context.eval).await
    }

    /// The numbers of the large objects of the database, as the transaction sees them.
    ///
    /// # Errors
    /// What reading reports.
    pub async fn large_objects(&mut self) -> PgResult<Vec<Oid>> {
        let (txn, mut out) = (self.transaction()?, Vec::new());
        let mut take = |_, oid, _| {
            out.push(oid);
            Ok(())
        };
        txn.read_view().large_objects(Some(txn.transactions().database()), &mut take).await?;
        Ok(out)
    }

    /// The statements that make a large object again, without its bytes; none if there is none.
    ///
    /// # Errors
    /// What reading reports.
    pub async fn large_object_definition(&mut self, oid: Oid) -> PgResult<Vec<String>> {
        let txn = self.transaction()?;
        let found = txn.read_view().large_object(txn.transactions().database(), oid).await?;
        Ok(found.map_or_else(Vec::new, |object| stoa_sql::definition::script_rights::large_object(&txn.catalog(), oid, &object)))
    }

    /// Bytes of a large object from an offset on; fewer than so many at its end.
    ///
    /// # Errors
    /// What reading reports.
    pub async fn large_object_part(&mut self, oid: Oid, offset: i64, length: usize) -> PgResult<Vec<u8>> {
        let txn = self.transaction()?;
        txn.read_view().read_large_object(txn.transactions().database(), oid, offset, length).await
    }

    /// Ends the session: what is open is rolled back, temporary tables go.
    pub async fn close(mut self) {
        self.abort_block().await;
        self.cursors.clear();
        if let Err(error) = self.drop_temporary_objects().await {
            tracing::warn!(%error, "temporary tables of a session could not be dropped");
        }
    }

    pub(crate) async fn drop_temporary_objects(&mut self) -> PgResult<()> {
        if self.shared.temporary_schema().is_none() {
            return Ok(());
        }
        let context = self.statement_context("DISCARD TEMP".into(), Arc::from([]))?;
        let out = match crate::ddl::drop_temporary(&context).await {
            Ok(()) => self.commit_block().await,
            Err(error) => Err(error),
        };
        if out.is_err() {
            self.abort_block().await;
        }
        out
    }

    /// Everything that planning and execution of one statement may use.
    pub(crate) fn statement_context(&mut self, text: Arc<str>, params: Arc<[ScalarValue]>) -> PgResult<StatementContext> {
        let system = self.environment()?;
        let eval = self.eval_context(Arc::clone(&system));
        Ok(StatementContext { system, eval, params, text, made: Arc::default() })
    }

    /// The open transaction with its catalog and the schemas to look in.
    pub(crate) fn environment(&mut self) -> PgResult<Arc<SessionEnvironment>> {
        let txn = self.transaction()?;
        if let Some(system) = &self.system
            && Arc::ptr_eq(&system.txn, &txn)
            && txn.sees(&system.catalog)
            && self
                .search_path
                .as_ref()
                .is_some_and(|known| Arc::ptr_eq(&known.path, &system.search_path) && known.is_current(&self.shared))
        {
            return Ok(Arc::clone(system));
        }
        let catalog = txn.catalog();
        let search_path = self.search_path(&catalog);
        let role = self.shared.current_role();
        let (database, session) = (self.database.clone(), self.shared.clone());
        let system = Arc::new(SessionEnvironment { database, session, catalog, search_path, txn, role });
        self.system = Some(Arc::clone(&system));
        Ok(system)
    }

    pub(crate) fn eval_context(&self, system: Arc<SessionEnvironment>) -> EvalContext {
        EvalContext {
            settings: self.shared.settings().value.clone(),
            transaction_time: from_clock(if self.block.active { self.block.started_us } else { self.statement_us }),
            statement_time: from_clock(self.statement_us),
            system,
        }
    }

    /// The transaction is over. One that only read may begin anew; nothing of any other is kept.
    pub(crate) fn forget_system(&mut self) {
        if self.idle.is_none() {
            self.system = None;
        }
    }

    /// The transaction that is kept, if nobody else holds anything of it.
    pub(crate) fn take_idle(&mut self) -> Option<Arc<Transaction>> {
        let txn = self.idle.take()?;
        let of_system = self.system.as_ref().is_some_and(|s| Arc::ptr_eq(&s.txn, &txn) && Arc::strong_count(s) == 1);
        (Arc::strong_count(&txn) == 1 + usize::from(of_system)).then_some(txn)
    }

    /// For writing values outside of any statement.
    #[must_use]
    pub fn value_context(&self) -> EvalContext {
        EvalContext {
            settings: self.shared.settings().value.clone(),
            transaction_time: from_clock(self.statement_us),
            statement_time: from_clock(self.statement_us),
            ..EvalContext::default()
        }
    }

    /// For reading parameters' values: names of relations and the like are looked up in the transaction.
    ///
    /// # Errors
    /// What the start of a transaction raises.
    pub fn parameter_context(&mut self) -> PgResult<EvalContext> {
        let system = self.environment()?;
        Ok(self.eval_context(system))
    }

    /// The schemas of `search_path`, with the temporary schema and `pg_catalog` in front unless they are named.
    pub(crate) fn search_path(&mut self, catalog: &Arc<CatalogSnapshot>) -> Arc<[Oid]> {
        if let Some(known) = &self.search_path
            && Arc::ptr_eq(&known.catalog, catalog)
            && known.is_current(&self.shared)
        {
            return known.path.clone();
        }
        let settings = self.shared.settings();
        let temporary = self.shared.temporary_schema();
        let mut path: Vec<Oid> = Vec::new();
        let role = self.shared.current_role();
        let user = role_name(catalog, role);
        for name in settings.search_path.iter() {
            let oid = match name.as_str() {
                "$user" => catalog.schema_by_name(&user).map(|s| s.oid),
                "pg_catalog" => Some(PG_CATALOG_OID),
                "pg_temp" => temporary,
                name => catalog.schema_by_name(name).map(|s| s.oid),
            };
            let may_use = |oid: &Oid| may_schema(catalog, role, *oid, Privileges::USAGE);
            if let Some(oid) = oid.filter(|oid| !path.contains(oid)).filter(may_use) {
                path.push(oid);
            }
        }
        if !path.contains(&PG_CATALOG_OID) {
            path.insert(0, PG_CATALOG_OID);
        }
        if let Some(oid) = temporary.filter(|oid| !path.contains(oid)) {
            path.insert(0, oid);
        }
        let path: Arc<[Oid]> = path.into();
        self.search_path = Some(SearchPath { catalog: catalog.clone(), settings, temporary, path: path.clone() });
        path
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.database.unregister(self.shared.pid);
    }
}
