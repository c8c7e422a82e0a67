//! What the sessions on one store share, and what those of one of its databases do.

use super::builds::Builds;
use super::checks::{Checks, ScrubOptions};
use super::counters::Counters;
use super::server::ServerControl;
use super::session::SessionShared;
use super::statement::SessionEnvironment;
use crate::fulltext::TextIndexes;
use crate::memory::{Governor, Shares};
use crate::settings::Settings;
use datafusion::common::ScalarValue;
use datafusion::execution::context::SessionState;
use datafusion::execution::runtime_env::RuntimeEnv;
use parking_lot::{Mutex, RwLock};
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, OnceLock};
use stoa_pg::{PgError, PgResult, SqlType};
use stoa_table::Tables;
use stoa_table::catalog::Oid;
use stoa_table::services::notifications::Notification;
use stoa_table::services::{SessionHandle, Signal};
use stoa_table::txn::{GroupId, Transactions};
use tokio::sync::mpsc::UnboundedReceiver;

/// How a database is opened.
#[derive(Clone, Debug)]
pub struct DatabaseOptions {
    /// Who may have how much memory.
    pub memory: Shares,
    /// Called from time to time with whether the process is near its limit: the allocator may give back what it keeps.
    pub memory_pressure: Option<fn(bool)>,
    /// Where statements spill; `None` for the system's temporary directory.
    pub spill_directory: Option<PathBuf>,
    /// Upper limit of what is spilled at one time.
    pub spill_bytes: u64,
    /// Where full text indexes are; `None` for a directory that goes with the process.
    pub text_directory: Option<PathBuf>,
    /// Sessions at a time; what `max_connections` says.
    pub max_sessions: usize,
    /// How indexes are checked in the background.
    pub scrub: ScrubOptions,
    /// Parallel pieces of one statement; 0 for the number of cores.
    pub parallelism: usize,
}

impl DatabaseOptions {
    /// Parallel pieces of one statement.
    pub fn pieces(&self) -> usize {
        if self.parallelism == 0 { self.memory.pieces() } else { self.parallelism }
    }
}

impl Default for DatabaseOptions {
    fn default() -> Self {
        Self {
            memory: Shares::default(),
            memory_pressure: None,
            spill_directory: None,
            spill_bytes: 64 << 30,
            text_directory: None,
            max_sessions: 100,
            scrub: ScrubOptions::default(),
            parallelism: 0,
        }
    }
}

/// Answers a call of a function that only a session can: its name, its arguments, the type of its result.
pub type SystemFunctions = fn(&SessionEnvironment, &str, &[ScalarValue], &SqlType) -> PgResult<ScalarValue>;

/// A database, as its sessions and statements share it: its catalog, seen by its transactions, on what all databases have in common.
#[derive(Debug)]
pub struct DatabaseInner {
    pub oid: Oid,
    pub transactions: Arc<Transactions>,
    pub counters: Arc<Counters>,
    pub instance: Arc<Instance>,
}

impl Deref for DatabaseInner {
    type Target = Instance;

    fn deref(&self) -> &Instance {
        &self.instance
    }
}

impl DatabaseInner {
    /// As it is called now.
    #[must_use]
    pub fn name(&self) -> String {
        let catalog = self.transactions.published_catalog();
        catalog.authority().database(self.oid).map_or_else(String::new, |database| database.name.clone())
    }
}

/// What the sessions and statements of all databases of a store share.
pub struct Instance {
    pub tables: Tables,
    /// The full text indexes.
    pub text: Arc<TextIndexes>,
    /// Who gets memory, and who gives it up.
    pub memory: Governor,
    /// Memory and spill files of all statements.
    pub runtime: Arc<RuntimeEnv>,
    /// What DataFusion plans and runs statements with.
    pub state: Arc<SessionState>,
    /// The same for plans that are executed in rounds.
    pub rounds: Arc<SessionState>,
    /// What is known of the values in tables.
    pub statistics: Arc<stoa_table::statistics::Registry>,
    /// The index builds that run.
    pub builds: Builds,
    /// The last checks of indexes.
    pub checks: Checks,
    /// Answers functions that tell of the session and the catalog around it.
    pub functions: SystemFunctions,
    pub options: DatabaseOptions,
    pub started_us: i64,
    /// What the settings of sessions are before anybody has set one.
    pub base_settings: RwLock<Arc<Settings>>,
    /// The server, once there is one.
    pub server: OnceLock<Arc<dyn ServerControl>>,
    /// When the files of configuration were read last, in microseconds since 1970.
    pub configured_us: AtomicI64,
    /// Databases that nobody may connect to now, since they are being dropped or renamed.
    pub closing: Mutex<BTreeSet<Oid>>,
    /// What happened in each database.
    pub counters: Mutex<BTreeMap<Oid, Arc<Counters>>>,
}

impl std::fmt::Debug for Instance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Instance").field("tables", &self.tables).field("options", &self.options).finish_non_exhaustive()
    }
}

impl Instance {
    /// What happened in a database.
    pub fn counters_of(&self, database: Oid) -> Arc<Counters> {
        Arc::clone(self.counters.lock().entry(database).or_default())
    }

    /// Changes what sessions that begin from now on find a setting to be.
    ///
    /// # Errors
    /// As [`Settings::with`].
    pub fn set_base(&self, name: &str, value: &str) -> PgResult<()> {
        let mut base = self.base_settings.write();
        *base = Arc::new(base.with(name, Some(value))?);
        Ok(())
    }

    /// The sessions that are connected to this node, by pid.
    #[must_use]
    pub fn sessions(&self) -> Vec<Arc<SessionShared>> {
        self.tables.services().sessions().local().into_iter().filter_map(shared_of).collect()
    }

    #[must_use]
    pub fn session(&self, pid: u32) -> Option<Arc<SessionShared>> {
        self.tables.services().sessions().of(pid).and_then(shared_of)
    }

    /// What a cancel request does: nothing unless it knows the session's secret.
    pub async fn cancel(&self, pid: u32, secret: u32) {
        self.tables.services().sessions().signal(pid, Signal::CancelWith(secret)).await;
    }

    /// Lets all sessions look at what they wait for.
    pub fn wake_sessions(&self) {
        for session in self.sessions() {
            session.wake();
        }
    }

    /// Ends all sessions with 57P01.
    pub fn terminate_sessions(&self) {
        for session in self.sessions() {
            session.terminate();
        }
    }

    /// How many sessions have begun since the database was opened.
    #[must_use]
    pub fn sessions_begun(&self) -> u32 {
        self.tables.services().sessions().begun()
    }

    pub fn next_pid(&self) -> u32 {
        self.tables.services().sessions().next_pid()
    }

    /// A session begins; what it listens to arrives at what is returned. Some are for superusers alone.
    ///
    /// # Errors
    /// 53300 if there are too many.
    pub fn register(&self, session: &Arc<SessionShared>, superuser: bool) -> PgResult<UnboundedReceiver<Notification>> {
        let session = Arc::clone(session);
        let all = self.options.max_sessions;
        let reserved = self.base_settings.read().raw("superuser_reserved_connections").and_then(|text| text.parse().ok()).unwrap_or(0);
        let most = if superuser { all } else { all.saturating_sub(reserved) };
        let sessions = self.tables.services().sessions();
        sessions.register(session, most).map_err(|error| {
            if most < all && sessions.local().len() < all {
                let what = "remaining connection slots are reserved for non-replication superuser connections";
                return PgError::new(error.code(), what);
            }
            error.hint(format!("The server takes {all} connections at a time: max_connections, or serve's --max-connections."))
        })
    }

    /// The sessions of this node that are connected to a database.
    #[must_use]
    pub fn sessions_of(&self, database: Oid) -> Vec<Arc<SessionShared>> {
        self.sessions().into_iter().filter(|session| session.database_oid == database).collect()
    }
}

impl DatabaseInner {
    pub fn unregister(&self, pid: u32) {
        self.tables.services().sessions().unregister(pid);
        self.transactions.end_session(GroupId(u64::from(pid)));
    }
}

fn shared_of(session: Arc<dyn SessionHandle>) -> Option<Arc<SessionShared>> {
    let session: Arc<dyn Any + Send + Sync> = session;
    session.downcast().ok()
}
