//! The databases of a store that is opened: a handle on what their sessions share.

use crate::session::background::{background_build, background_check, background_purge, background_sweep};
use crate::session::login::{self, LoginRole};
use crate::session::{Session, SessionOptions};
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use parking_lot::{Mutex, RwLock};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, OnceLock};
use stoa_exec::environment::builds::Builds;
use stoa_exec::environment::checks::Checks;
use stoa_exec::environment::{DatabaseInner, DatabaseOptions, Instance, upkeep};
use stoa_exec::fulltext::TextIndexes;
use stoa_exec::memory::Governor;
use stoa_exec::settings::Settings;
use stoa_pg::{PgError, PgResult};
use stoa_sql::privileges::undefined_database;
use stoa_table::Tables;
use stoa_table::catalog::{FIRST_DATABASE, Oid};
use stoa_table::txn::{SpillSpace, Transactions};

/// A handle on an open store and its databases; cheap to clone. What programs use without a session is the first database.
#[derive(Clone, Debug)]
pub struct Database {
    inner: Arc<DatabaseInner>,
    /// Databases that somebody has connected to.
    others: Arc<Mutex<BTreeMap<Oid, Arc<DatabaseInner>>>>,
}

impl Database {
    /// Opens the databases that the tables of a store hold; makes an empty one in an empty store.
    ///
    /// # Errors
    /// What the store reports; XX001 for a catalog that cannot be read.
    pub async fn open(tables: Tables, options: DatabaseOptions) -> PgResult<Self> {
        let memory = Governor::new(options.memory, options.memory_pressure);
        let mode = match &options.spill_directory {
            Some(directory) => DiskManagerMode::Directories(vec![directory.clone()]),
            None => DiskManagerMode::OsTmpDirectory,
        };
        let runtime = RuntimeEnvBuilder::new()
            .with_memory_pool(Arc::clone(&memory.pool))
            .with_disk_manager_builder(DiskManagerBuilder::default().with_mode(mode).with_max_temp_directory_size(options.spill_bytes))
            .build_arc()
            .map_err(|e| PgError::internal(e.to_string()))?;
        let state = crate::plan::execute::database_state(options.pieces(), memory.shares.batch_rows(), runtime.clone());
        tables.open_catalog().await?;
        let catalogs = tables.services().publication().all();
        let table = |oid| catalogs.iter().find_map(|catalog| catalog.table(oid));
        let statistics = Arc::new(stoa_table::statistics::Registry::load(&tables, |oid| table(oid).is_some()).await?);
        let has = |oid, index| table(oid).is_some_and(|t| t.indexes.iter().any(|i| i.oid == index));
        let checks = Checks::load(&tables, has).await?;
        let transactions = Transactions::new(&tables);
        let directory = options.spill_directory.clone().unwrap_or_else(std::env::temp_dir);
        transactions.set_spill_space(SpillSpace::new(directory, Arc::clone(&memory.pool), memory.shares.write_set()));
        transactions.set_max_transaction_bytes(options.spill_bytes);
        let text_directory = options.text_directory.as_deref();
        let text = TextIndexes::open(&tables, transactions.feed(), text_directory, memory.shares.text_writer(), &catalogs).await?;
        tokio::spawn(stoa_exec::fulltext::follow::run(Arc::downgrade(&text)));
        let started_us = tables.now_us();
        let mut base = Settings::default().with("max_connections", Some(&options.max_sessions.to_string()))?;
        if let Some(bytes) = memory.shares.limit {
            base = base.with("stoa.memory_limit", Some(&format!("{}MB", bytes >> 20)))?;
        }
        let instance = Arc::new(Instance {
            tables,
            text,
            memory,
            functions: crate::session::system::call,
            rounds: crate::plan::execute::rounds_state(&state),
            state,
            runtime,
            statistics,
            builds: Builds::default(),
            checks,
            options,
            started_us,
            base_settings: RwLock::new(Arc::new(base)),
            server: OnceLock::new(),
            configured_us: AtomicI64::new(started_us),
            closing: Mutex::default(),
            counters: Mutex::default(),
        });
        let out = Self { inner: of_instance(FIRST_DATABASE, transactions, instance), others: Arc::default() };
        start(&out.inner);
        // Their indexes are built to the end and checked, too, before anybody connects.
        for catalog in catalogs.iter().filter(|catalog| catalog.database() != FIRST_DATABASE) {
            out.database(catalog.database());
        }
        Ok(out)
    }

    /// Starts a session in the database that the options name.
    ///
    /// # Errors
    /// 53300 when there are too many; 3D000 where there is no such database; what settings raise.
    pub fn connect(&self, options: SessionOptions) -> PgResult<Session> {
        let catalog = self.inner.transactions.published_catalog();
        let oid = match options.database.as_str() {
            "" => Some(FIRST_DATABASE),
            name => catalog.authority().database_to_connect_to(name).map(|database| database.oid),
        };
        // The role is checked before the database: who may not connect at all learns of none.
        login::role_of_session(catalog.authority(), &options)?;
        let database = oid.and_then(|oid| self.database(oid)).ok_or_else(|| undefined_database(&options.database))?;
        Session::open(database, options)
    }

    /// A database that there is.
    fn database(&self, oid: Oid) -> Option<Arc<DatabaseInner>> {
        if oid == FIRST_DATABASE {
            return Some(Arc::clone(&self.inner));
        }
        let mut others = self.others.lock();
        // Behind the lock: an older one would not have what others have just connected to.
        let catalog = self.inner.transactions.published_catalog();
        // Those that were dropped go, and with them the work on them in the background.
        others.retain(|oid, _| catalog.authority().database(*oid).is_some());
        self.inner.instance.counters.lock().retain(|oid, _| catalog.authority().database(*oid).is_some());
        if let Some(known) = others.get(&oid) {
            return Some(Arc::clone(known));
        }
        let transactions = self.inner.transactions.of_database(oid)?;
        let database = of_instance(oid, transactions, Arc::clone(&self.inner.instance));
        start(&database);
        others.insert(oid, Arc::clone(&database));
        Some(database)
    }

    /// The role with a name, for those who ask for a proof.
    #[must_use]
    pub fn login_role(&self, name: &str) -> Option<LoginRole> {
        login::named(self.inner.transactions.published_catalog().authority(), name)
    }

    /// The role that a name means to whoever is let in without a proof: while nobody has made a role, names that cannot log in mean
    /// the first superuser. A session that [`Database::connect`] starts under the name is that role's.
    #[must_use]
    pub fn trusted_role(&self, name: &str) -> Option<LoginRole> {
        login::trusted(self.inner.transactions.published_catalog().authority(), name)
    }

    /// Whether a role is a member of another, by names: what `+group` in rules of hosts asks. Superusers are members of what they were
    /// made members of.
    #[must_use]
    pub fn is_member(&self, role: &str, of: &str) -> bool {
        let catalog = self.inner.transactions.published_catalog();
        let authority = catalog.authority();
        let (role, of) = (authority.role_named(role), authority.role_named(of));
        matches!((role, of), (Some(role), Some(of)) if authority.is_plain_member(role.oid, of.oid))
    }

    #[must_use]
    pub fn inner(&self) -> &Arc<DatabaseInner> {
        &self.inner
    }
}

fn of_instance(oid: Oid, transactions: Arc<Transactions>, instance: Arc<Instance>) -> Arc<DatabaseInner> {
    Arc::new(DatabaseInner { oid, transactions, counters: instance.counters_of(oid), instance })
}

/// Starts what works on a database in the background.
fn start(database: &Arc<DatabaseInner>) {
    stoa_exec::index::build::resume(database, background_build);
    tokio::spawn(upkeep::purge(Arc::downgrade(database), background_purge));
    tokio::spawn(upkeep::sweep(Arc::downgrade(database), background_sweep));
    if database.options.scrub.rows_per_second > 0 {
        tokio::spawn(stoa_exec::index::scrub::run(Arc::downgrade(database), background_check));
    }
}
