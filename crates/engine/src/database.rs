//! A database: a store, its transactions, the sessions on it, and what all of them share.
//!
//! [`Database`] is a handle; [`DatabaseInner`] is what statements see of it.

use crate::memory::StatementPool;
use crate::session::admission::Admission;
use crate::session::{Session, SessionOptions, SessionShared};
use crate::text::TextIndexes;
use datafusion::execution::TaskContext;
use datafusion::execution::context::SessionState;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::TrackConsumersPool;
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use std::any::Any;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use stoa_pg::{PgError, PgResult};
use stoa_table::Tables;
use stoa_table::column_cache::ColumnCache;
use stoa_table::services::notifications::Notification;
use stoa_table::services::{SessionHandle, Signal};
use stoa_table::txn::{GroupId, SpillSpace, TransactionManager};
use tokio::sync::mpsc::UnboundedReceiver;

/// How a database is opened.
#[derive(Clone, Debug)]
pub struct DatabaseOptions {
    /// For sorts, joins, aggregations and changes of all statements together; what needs more spills, or fails with 53200. Columns
    /// that are kept for later scans have up to half of it while statements don't need it.
    pub query_memory_bytes: usize,
    /// What the process should not exceed: statements that want much are refused before.
    pub process_memory_bytes: Option<usize>,
    /// Told from time to time whether the process is near that: the allocator may give back what it keeps.
    pub memory_pressure: Option<fn(bool)>,
    /// Where statements spill; `None` for the system's temporary directory.
    pub spill_directory: Option<PathBuf>,
    /// Upper limit of what is spilled at one time.
    pub spill_bytes: u64,
    /// Where full text indexes are; `None` for a directory that goes with the process.
    pub text_directory: Option<PathBuf>,
    /// Sessions at a time; what `max_connections` says.
    pub max_sessions: usize,
    /// What `port` says, if somebody listens.
    pub port: Option<u16>,
    /// What `stoa.memory_limit` says: the limit that the others are shares of.
    pub memory_limit_bytes: Option<u64>,
    /// How indexes are checked in the background.
    pub scrub: crate::index::scrub::ScrubOptions,
    /// Parallel pieces of one statement; 0 for the number of cores.
    pub parallelism: usize,
}

/// Memory of statements for which a statement has one more piece.
const PIECE_BYTES: usize = 64 << 20;
/// Memory of statements for which batches have one more row.
const BATCH_ROW_BYTES: usize = 48 << 10;

impl DatabaseOptions {
    /// Parallel pieces of one statement: in little memory fewer, since each has buffers of its own.
    fn pieces(&self) -> usize {
        match self.parallelism {
            0 => std::thread::available_parallelism().map_or(1, NonZeroUsize::get).min((self.query_memory_bytes / PIECE_BYTES).max(1)),
            n => n,
        }
    }

    /// What the writer of a full text index may keep in memory.
    fn text_writer_bytes(&self) -> usize {
        (self.query_memory_bytes / 8).min(stoa_fulltext::index::MEMORY)
    }

    /// Rows of a batch.
    fn batch_rows(&self) -> usize {
        (self.query_memory_bytes / BATCH_ROW_BYTES).next_power_of_two().clamp(1024, 8192)
    }
}

impl Default for DatabaseOptions {
    fn default() -> Self {
        Self {
            query_memory_bytes: 1 << 30,
            process_memory_bytes: None,
            memory_pressure: None,
            spill_directory: None,
            spill_bytes: 64 << 30,
            text_directory: None,
            max_sessions: 100,
            port: None,
            memory_limit_bytes: None,
            scrub: crate::index::scrub::ScrubOptions::default(),
            parallelism: 0,
        }
    }
}

/// What the changes of one transaction take of memory at most, however much there is.
const MAX_WRITE_SET_MEMORY: usize = 128 << 20;

/// What sessions and statements share.
pub struct DatabaseInner {
    pub tables: Tables,
    pub transactions: Arc<TransactionManager>,
    /// The full text indexes.
    pub text: Arc<TextIndexes>,
    /// Columns that scans have left for later ones.
    pub columns: Arc<ColumnCache>,
    /// Places of statements that work.
    pub(crate) admission: Admission,
    /// Memory and spill files of all statements.
    pub runtime: Arc<RuntimeEnv>,
    /// What DataFusion plans and runs statements with.
    pub(crate) state: Arc<SessionState>,
    /// The same for plans that are executed in rounds.
    pub(crate) rounds: Arc<SessionState>,
    /// The same, for what runs without a plan.
    pub(crate) task: Arc<TaskContext>,
    /// What is known of the values in tables.
    pub statistics: Arc<stoa_table::statistics::Registry>,
    /// The index builds that run.
    pub builds: crate::index::build::Builds,
    /// The last checks of indexes.
    pub checks: crate::index::scrub::Checks,
    pub options: DatabaseOptions,
    pub started_us: i64,
}

impl std::fmt::Debug for DatabaseInner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DatabaseInner").field("tables", &self.tables).field("options", &self.options).finish_non_exhaustive()
    }
}

/// A handle on an open database; cheap to clone.
#[derive(Clone, Debug)]
pub struct Database {
    inner: Arc<DatabaseInner>,
}

impl Database {
    /// Opens the database that the tables of a store hold; makes an empty one in an empty store.
    ///
    /// # Errors
    /// What the store reports; XX001 for a catalog that cannot be read.
    pub async fn open(tables: Tables, options: DatabaseOptions) -> PgResult<Self> {
        let columns = Arc::new(ColumnCache::new(options.query_memory_bytes));
        let process = options.process_memory_bytes.map(|bytes| {
            let process = stoa_pg::memory::process();
            let (pressure, columns) = (options.memory_pressure, Arc::clone(&columns));
            let told = move |used: usize, limit: usize| {
                if let Some(pressure) = pressure {
                    pressure(used > limit / 4 * 3);
                }
                let over = used.saturating_sub(limit / 8 * 7);
                if over > 0 {
                    columns.release(over);
                }
            };
            process.set_limit(bytes, Some(Box::new(told)));
            process
        });
        let pool = TrackConsumersPool::new(
            StatementPool::new(options.query_memory_bytes, process, Arc::clone(&columns)),
            NonZeroUsize::new(5).unwrap_or(NonZeroUsize::MIN),
        );
        let mode = match &options.spill_directory {
            Some(directory) => DiskManagerMode::Directories(vec![directory.clone()]),
            None => DiskManagerMode::OsTmpDirectory,
        };
        let runtime = RuntimeEnvBuilder::new()
            .with_memory_pool(Arc::new(pool))
            .with_disk_manager_builder(DiskManagerBuilder::default().with_mode(mode).with_max_temp_directory_size(options.spill_bytes))
            .build_arc()
            .map_err(|e| PgError::internal(e.to_string()))?;
        let state = crate::plan::execute::database_state(options.pieces(), options.batch_rows(), runtime.clone());
        let catalog = tables.open_catalog().await?;
        let statistics = Arc::new(stoa_table::statistics::Registry::load(&tables, |oid| catalog.table(oid).is_some()).await?);
        let has = |table, index| catalog.table(table).is_some_and(|t| t.indexes.iter().any(|i| i.oid == index));
        let checks = crate::index::scrub::Checks::load(&tables, has).await?;
        let transactions = TransactionManager::new(&tables);
        let directory = options.spill_directory.clone().unwrap_or_else(std::env::temp_dir);
        let most = (options.query_memory_bytes / 4).min(MAX_WRITE_SET_MEMORY);
        transactions.set_spill_space(SpillSpace::new(directory, runtime.memory_pool.clone(), most));
        transactions.set_max_transaction_bytes(options.spill_bytes);
        let text_directory = options.text_directory.as_deref();
        let text =
            TextIndexes::open(&tables, transactions.feed(), text_directory, options.text_writer_bytes(), &transactions.published_catalog())
                .await?;
        tokio::spawn(crate::text::follow::run(Arc::downgrade(&text)));
        let started_us = tables.now_us();
        let inner = Arc::new(DatabaseInner {
            tables,
            transactions,
            text,
            columns,
            admission: Admission::new(options.query_memory_bytes),
            task: state.task_ctx(),
            rounds: crate::plan::execute::rounds_state(&state),
            state,
            runtime,
            statistics,
            builds: crate::index::build::Builds::default(),
            checks,
            options,
            started_us,
        });
        crate::index::build::resume(&inner);
        if inner.options.scrub.rows_per_second > 0 {
            tokio::spawn(crate::index::scrub::run(Arc::downgrade(&inner)));
        }
        Ok(Self { inner })
    }

    /// Starts a session.
    ///
    /// # Errors
    /// 53300 when there are too many; 3D000 for another database's name; what settings raise.
    pub fn connect(&self, options: SessionOptions) -> PgResult<Session> {
        Session::open(self.inner.clone(), options)
    }

    #[must_use]
    pub fn inner(&self) -> &Arc<DatabaseInner> {
        &self.inner
    }
}

impl DatabaseInner {
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

    pub(crate) fn next_pid(&self) -> u32 {
        self.tables.services().sessions().next_pid()
    }

    /// A session begins; what it listens to arrives at what is returned.
    pub(crate) fn register(&self, session: &Arc<SessionShared>) -> PgResult<UnboundedReceiver<Notification>> {
        let session = Arc::clone(session);
        self.tables.services().sessions().register(session, self.options.max_sessions)
    }

    pub(crate) fn unregister(&self, pid: u32) {
        self.tables.services().sessions().unregister(pid);
        self.transactions.end_session(GroupId(u64::from(pid)));
    }
}

fn shared_of(session: Arc<dyn SessionHandle>) -> Option<Arc<SessionShared>> {
    let session: Arc<dyn Any + Send + Sync> = session;
    session.downcast().ok()
}
