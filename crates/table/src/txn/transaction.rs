//! One transaction of one session.
//!
//! Life of a statement in it: [`Transaction::start_statement`], reads through [`Transaction::read_view`], writes that lock their
//! rows first, then [`Transaction::end_statement`], or [`Transaction::discard_statement`] when it failed or must run again.
//!
//! Invariant: what a statement wrote is in `current` until it ends, so that it never reads its own writes and leaves nothing
//! behind when it fails.

mod catalog_changes;
mod commit;
mod lent;
mod locking;
mod savepoints;

use self::commit::serialization_danger;
use self::lent::Lent;
pub use self::locking::KeyLock;
use super::advisory::AdvisoryLocks;
use super::deferred::DeferredWork;
use super::large_object::OpenObjects;
use super::overlay::Overlay;
use super::transactions::{Transactions, TxnOptions};
use super::view::ReadView;
use super::write_set::WriteSet;
use crate::catalog::{CatalogSnapshot, ConstraintName, Oid};
use crate::services::locks::{GroupId, LockId, Mode, Wait};
use crate::services::serializable::ReadSet;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use std::any::Any;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use stoa_pg::sqlstate::SqlState;
use stoa_pg::{PgError, PgResult};
use stoa_store::{Durability, KeyRange, Snapshot, TableId, Timestamp};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Isolation {
    #[default]
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

/// Work that follows the end of a transaction.
pub type Hook = Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send>;

/// A change of the catalog: run on the snapshot of the transaction, and again on the newest one when it commits.
pub type CatalogChange = Arc<dyn Fn(&mut CatalogSnapshot) -> PgResult<()> + Send + Sync>;

/// What must hold in all databases for a change of the catalog to be committed.
pub type CatalogCheck = Arc<dyn Fn(&[Arc<CatalogSnapshot>]) -> PgResult<()> + Send + Sync>;

#[derive(Clone)]
struct PrivateCatalog {
    snapshot: Arc<CatalogSnapshot>,
    /// The published version that it was made from.
    base: u64,
    changes: Vec<CatalogChange>,
    checks: Vec<CatalogCheck>,
}

struct Savepoint {
    name: String,
    /// Layers of the write set.
    layers: usize,
    locks: usize,
    strengthened: usize,
    /// Filters of the locks of many rows.
    many_locks: usize,
    advisory: usize,
    catalog: Option<PrivateCatalog>,
    on_commit: usize,
    on_rollback: usize,
    deferred: usize,
    constraints: Constraints,
}

/// SET CONSTRAINTS: of all, then of single ones.
#[derive(Clone, Default)]
struct Constraints {
    all: Option<bool>,
    single: HashMap<Oid, bool>,
}

#[derive(Default)]
struct State {
    snapshot: Option<Arc<dyn Snapshot>>,
    /// The catalog that was published when the snapshot was taken, of a transaction that keeps its first one.
    catalog_of_snapshot: Option<Arc<CatalogSnapshot>>,
    /// What earlier statements wrote, the oldest first: those under different savepoints are apart.
    layers: Vec<Arc<WriteSet>>,
    /// What the running statement wrote: more than one if it was read while it went on.
    current: Vec<Arc<WriteSet>>,
    savepoints: Vec<Savepoint>,
    /// Locks of rows and tables, each once, in the order in which they were taken.
    locks: Vec<LockId>,
    /// Locks that are held in further modes since a savepoint.
    strengthened: Vec<(LockId, Mode)>,
    /// Locks that the store gives up when the commit is visible; whoever ends the transaction before takes them.
    leaving: Option<Arc<Mutex<Vec<LockId>>>>,
    catalog: Option<PrivateCatalog>,
    /// How much of the catalog and the store the transaction had changed when the running definition began; of one that has its locks, none.
    definition: Option<usize>,
    on_commit: Vec<Hook>,
    on_rollback: Vec<Hook>,
    /// What the running statement leaves to its end.
    at_end: Vec<Box<dyn Any + Send>>,
    deferred: Vec<Box<dyn DeferredWork>>,
    /// How many waited when the running statement began.
    deferred_mark: usize,
    constraints: Constraints,
    isolation: Isolation,
    read_only: bool,
    lock_timeout: Option<Duration>,
    deadlock_timeout: Duration,
    durability: Durability,
    /// What it has written is ingested as sorted runs, however little it is.
    loads: bool,
    /// Set by the first snapshot of a SERIALIZABLE transaction.
    tracked: bool,
    /// A safe snapshot needs no tracking.
    untracked: bool,
    finished: bool,
    id_assigned: bool,
    committed: Option<Timestamp>,
    commit_token: Option<String>,
    /// Read by the running statement instead of `snapshot`: definitions see all rows, whatever the isolation level.
    newest: Option<Arc<dyn Snapshot>>,
    /// Snapshots that others may read as, while this transaction runs.
    lent: Vec<Lent>,
}

/// Layers above a savepoint that reads may have to look through.
const MAX_LAYERS: usize = 8;

impl State {
    fn new(transactions: &Transactions, options: &TxnOptions) -> Self {
        Self {
            isolation: options.isolation,
            read_only: options.read_only,
            lock_timeout: options.lock_timeout,
            deadlock_timeout: options.deadlock_timeout.unwrap_or_else(|| transactions.locks().deadlock_timeout()),
            durability: options.durability,
            ..Self::default()
        }
    }

    /// The writes of a statement that succeeded join the transaction's.
    fn end_statement(&mut self) {
        let current = std::mem::take(&mut self.current);
        for written in current.into_iter().filter(|written| !written.is_empty()) {
            self.layers.push(written);
            self.merge_layers();
        }
    }

    /// Everything that the transaction wrote, the running statement included.
    fn overlay(&self) -> Overlay {
        Overlay::new(self.layers.iter().chain(&self.current).cloned())
    }

    /// Makes few layers of those above the newest savepoint, where nobody reads them.
    fn merge_layers(&mut self) {
        let floor = self.savepoints.last().map_or(0, |s| s.layers);
        while self.layers.len() > floor + 1 {
            let many = self.layers.len() > floor + MAX_LAYERS;
            let Some((newest, older)) = self.layers.split_last_mut() else { return };
            let (Some(newest), Some(before)) = (Arc::get_mut(newest), older.last_mut().and_then(Arc::get_mut)) else { return };
            // A large one on top of a small one would cost more than it brings.
            if newest.rows() > before.rows().saturating_mul(4) && !many {
                return;
            }
            // What is below spill files goes to disk before them.
            if newest.has_spill_files() && before.spill().is_err() {
                return;
            }
            before.absorb(std::mem::take(newest));
            self.layers.pop();
        }
    }
}

/// See the module.
pub struct Transaction {
    /// By which [`Transactions`] knows it.
    number: u64,
    id: AtomicU64,
    group: GroupId,
    transactions: Arc<Transactions>,
    advisory: Arc<AdvisoryLocks>,
    reads: Arc<Mutex<ReadSet>>,
    state: Mutex<State>,
    /// Large objects that it has opened, and whose turn it is to look at them.
    pub(super) open_objects: Mutex<OpenObjects>,
    pub(super) object_turn: tokio::sync::Mutex<()>,
    max_bytes: usize,
    /// See [`Transaction::set_before_waits`].
    before_waits: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

impl std::fmt::Debug for Transaction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Transaction").field("id", &self.id()).finish_non_exhaustive()
    }
}

impl Transaction {
    pub(super) fn new(id: u64, transactions: Arc<Transactions>, options: TxnOptions) -> Self {
        let state = State::new(&transactions, &options);
        let advisory = transactions.advisory(options.group);
        Self {
            number: id,
            id: AtomicU64::new(id),
            group: options.group,
            max_bytes: transactions.max_transaction_bytes(),
            transactions,
            advisory,
            reads: Arc::default(),
            state: Mutex::new(state),
            open_objects: Mutex::default(),
            object_turn: tokio::sync::Mutex::default(),
            before_waits: OnceLock::new(),
        }
    }

    /// Called before a lock of a row, a table or a name is waited for: what others may have meanwhile is given to them. May be said once.
    pub fn set_before_waits(&self, give: impl Fn() + Send + Sync + 'static) {
        // A second one changes nothing.
        let _ = self.before_waits.set(Box::new(give));
    }

    fn waits(&self) {
        if let Some(give) = self.before_waits.get() {
            give();
        }
    }

    /// Unique in the process; what `txid_current()` tells.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id.load(Ordering::Relaxed)
    }

    /// Begins anew behind [`Transaction::commit_reads`], as another transaction of the same session. Nobody else may hold it.
    pub fn renew(&self, options: &TxnOptions) {
        let mut state = self.state.lock();
        // First what is looked for among the running, then that it runs.
        self.id.store(self.transactions.next_id(), Ordering::Relaxed);
        *state = State::new(&self.transactions, options);
        self.open_objects.lock().clear();
    }

    pub(super) fn is_running(&self) -> bool {
        !self.state.lock().finished
    }

    /// Somebody was told the number: it counts as given from here on.
    pub fn assign_id(&self) {
        self.state.lock().id_assigned = true;
    }

    /// Whether the transaction has written, defined something or locked a row, or its number was asked for.
    #[must_use]
    pub fn is_id_assigned(&self) -> bool {
        let assigned = {
            let state = self.state.lock();
            state.id_assigned || state.catalog.is_some() || state.locks.iter().any(|lock| matches!(lock, LockId::Row(_)))
        };
        assigned || self.has_writes()
    }

    #[must_use]
    pub fn group(&self) -> GroupId {
        self.group
    }

    #[must_use]
    pub fn transactions(&self) -> &Arc<Transactions> {
        &self.transactions
    }

    #[must_use]
    pub fn advisory(&self) -> &Arc<AdvisoryLocks> {
        &self.advisory
    }

    /// How long to wait for an advisory lock.
    #[must_use]
    pub fn lock_wait(&self) -> Wait {
        Wait::Until(self.state.lock().lock_timeout)
    }

    #[must_use]
    pub fn isolation(&self) -> Isolation {
        self.state.lock().isolation
    }

    /// SET TRANSACTION ISOLATION LEVEL.
    ///
    /// # Errors
    /// 25001 after the first statement.
    pub fn set_isolation(&self, isolation: Isolation) -> PgResult<()> {
        let mut state = self.state.lock();
        if state.snapshot.is_some() && state.isolation != isolation {
            return Err(PgError::new(SqlState(*b"25001"), "SET TRANSACTION ISOLATION LEVEL must be called before any query"));
        }
        state.isolation = isolation;
        Ok(())
    }

    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.state.lock().read_only
    }

    /// SET TRANSACTION READ ONLY | READ WRITE.
    ///
    /// # Errors
    /// 25001 when a read-only transaction would become writing after its first statement.
    pub fn set_read_only(&self, read_only: bool) -> PgResult<()> {
        let mut state = self.state.lock();
        if state.read_only && !read_only && state.snapshot.is_some() {
            return Err(PgError::new(SqlState(*b"25001"), "transaction read-write mode must be set before any query"));
        }
        state.read_only = read_only;
        Ok(())
    }

    /// # Errors
    /// 25006 in a read-only transaction; `command` is the word of the statement.
    pub fn require_writable(&self, command: &str) -> PgResult<()> {
        if self.is_read_only() {
            return Err(PgError::new(SqlState::READ_ONLY_SQL_TRANSACTION, format!("cannot execute {command} in a read-only transaction")));
        }
        Ok(())
    }

    /// `lock_timeout`, `deadlock_timeout` (how long to wait for a lock before looking for a deadlock), `synchronous_commit`.
    pub fn set_patience(&self, lock_timeout: Option<Duration>, deadlock_timeout: Duration, durability: Durability) {
        let mut state = self.state.lock();
        state.lock_timeout = lock_timeout;
        state.deadlock_timeout = deadlock_timeout;
        state.durability = durability;
    }

    /// What the transaction writes is ingested by the store as sorted runs when it commits, past the log, as that of large ones is.
    pub fn load_at_commit(&self) {
        self.state.lock().loads = true;
    }

    #[must_use]
    pub fn deadlock_timeout(&self) -> Duration {
        self.state.lock().deadlock_timeout
    }

    // Statements.

    /// Begins a statement: READ COMMITTED takes a new snapshot, the others keep their first one. What the statement before
    /// wrote joins the transaction, unless it was discarded.
    ///
    /// # Errors
    /// None at present.
    pub async fn start_statement(&self) -> PgResult<()> {
        let asks = {
            let mut state = self.state.lock();
            state.end_statement();
            state.newest = None;
            state.definition = None;
            state.at_end.clear();
            state.deferred_mark = state.deferred.len();
            self.refresh_snapshot(&mut state).is_none().then_some(state.read_only)
        };
        if let Some(read_only) = asks {
            let store = self.transactions.store();
            let snapshot = self.transactions.serializable().begin(self.id(), &self.reads, read_only, &|| store.snapshot()).await;
            let mut state = self.state.lock();
            state.tracked = true;
            state.snapshot = Some(snapshot);
            state.catalog_of_snapshot = Some(self.transactions.published_catalog());
        }
        Ok(())
    }

    /// Lets the running statement, which defines something and holds the locks that it needs, read what is committed now.
    pub fn read_newest(&self) {
        let snapshot = self.transactions.store().snapshot();
        self.state.lock().newest = Some(snapshot);
    }

    /// The snapshot of the next statement; `None` if others must be asked for it.
    fn refresh_snapshot(&self, state: &mut State) -> Option<Arc<dyn Snapshot>> {
        let store = self.transactions.store();
        let snapshot = match (&state.snapshot, state.isolation) {
            (Some(snapshot), Isolation::RepeatableRead | Isolation::Serializable) => return Some(Arc::clone(snapshot)),
            (_, Isolation::Serializable) if !state.tracked && !state.untracked => {
                let set = self.transactions.serializable();
                let snapshot = set.try_begin(self.id(), &self.reads, state.read_only, &|| store.snapshot())?;
                state.tracked = true;
                snapshot
            }
            _ => store.snapshot(),
        };
        state.snapshot = Some(Arc::clone(&snapshot));
        if state.isolation != Isolation::ReadCommitted {
            state.catalog_of_snapshot = Some(self.transactions.published_catalog());
        }
        Some(snapshot)
    }

    /// The statement succeeded: its writes join the transaction's.
    pub fn end_statement(&self) {
        self.state.lock().end_statement();
    }

    /// The statement failed, or runs again: its writes are thrown away. Locks stay until the transaction ends.
    pub fn discard_statement(&self) {
        let mut state = self.state.lock();
        state.current.clear();
        state.at_end.clear();
        let mark = state.deferred_mark;
        state.deferred.truncate(mark);
    }

    /// What the statement reads.
    #[must_use]
    pub fn read_view(&self) -> ReadView {
        let mut state = self.state.lock();
        let snapshot = match (&state.newest, &state.snapshot) {
            (Some(snapshot), _) | (None, Some(snapshot)) => Arc::clone(snapshot),
            // Before the first statement nothing depends on what is read.
            (None, None) => self.refresh_snapshot(&mut state).unwrap_or_else(|| self.transactions.store().snapshot()),
        };
        ReadView { store: Arc::clone(self.transactions.store()), snapshot, overlay: Overlay::new(state.layers.iter().cloned()) }
    }

    /// What constraints are checked against: the newest commits, with everything that the transaction wrote, the running
    /// statement included. Take it behind the locks.
    #[must_use]
    pub fn newest_view(&self) -> ReadView {
        let state = self.state.lock();
        ReadView { store: Arc::clone(self.transactions.store()), snapshot: self.transactions.store().snapshot(), overlay: state.overlay() }
    }

    /// The view of the statement's snapshot with everything that the transaction wrote, the running statement included.
    #[must_use]
    pub fn statement_view(&self) -> ReadView {
        let view = self.read_view();
        let state = self.state.lock();
        ReadView { overlay: state.overlay(), ..view }
    }

    /// Changes the running statement's write set.
    ///
    /// # Errors
    /// 54000 when the transaction has written more than one may; 53100 when what memory does not hold finds no place on disk.
    pub fn write<T>(&self, change: impl FnOnce(&mut WriteSet) -> T) -> PgResult<T> {
        let mut state = self.state.lock();
        // What somebody still reads stays as it is; the rest goes over it.
        if state.current.last_mut().and_then(Arc::get_mut).is_none() {
            state.current.push(Arc::new(WriteSet::new(&self.transactions.spill_space())));
        }
        let Some(current) = state.current.last_mut().and_then(Arc::get_mut) else {
            return Err(PgError::internal("a write set that is read while it is written"));
        };
        let out = change(current);
        if let Some(error) = current.take_failure() {
            return Err(error);
        }
        let bytes = state.layers.iter().chain(&state.current).map(|l| l.bytes()).sum::<usize>();
        if bytes > self.max_bytes {
            return Err(PgError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "the transaction has written too much")
                .detail(format!("Its changes take {bytes} bytes; the limit is {} bytes.", self.max_bytes))
                .hint("Commit in smaller transactions."));
        }
        Ok(out)
    }

    /// Whether the running statement has changed a row.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn changed_by_statement(&self, table: TableId, key: &[u8]) -> PgResult<bool> {
        let state = self.state.lock();
        for written in &state.current {
            if written.contains(table, key)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the transaction has changed a row, in this statement or an earlier one.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn changed_by_transaction(&self, table: TableId, key: &[u8]) -> PgResult<bool> {
        let overlay = self.state.lock().overlay();
        overlay.contains(table, key)
    }

    /// Whether the transaction has changed a row that it had not yet changed, or has changed again, since it had written `before`.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn changed_since(&self, before: &Overlay, table: TableId, key: &[u8]) -> PgResult<bool> {
        let overlay = self.state.lock().overlay();
        overlay.without(before).contains(table, key)
    }

    #[must_use]
    pub fn has_writes(&self) -> bool {
        let state = self.state.lock();
        !state.layers.is_empty() || state.current.iter().any(|written| !written.is_empty())
    }

    /// Rows in its write sets; one that several statements wrote may count more than once.
    #[must_use]
    pub fn rows_written(&self) -> usize {
        let state = self.state.lock();
        state.layers.iter().chain(&state.current).map(|written| written.rows()).sum()
    }

    /// Forgets what the transaction wrote to a table that it drops or truncates.
    pub fn forget_table(&self, table: TableId) {
        let mut state = self.state.lock();
        if state.savepoints.is_empty() {
            state.layers.iter_mut().filter_map(Arc::get_mut).for_each(|layer| layer.forget_table(table));
            state.layers.retain(|layer| !layer.is_empty());
        }
    }

    /// SERIALIZABLE: the statement depends on the absence of changes here.
    pub fn record_read(&self, table: TableId, range: &KeyRange) {
        if self.state.lock().tracked {
            self.reads.lock().add(table, range.clone());
        }
    }

    /// Whether reads are to be recorded.
    #[must_use]
    pub fn records_reads(&self) -> bool {
        self.state.lock().tracked
    }

    /// SERIALIZABLE: whether another such transaction has committed a change of a row behind the snapshot of this one.
    #[must_use]
    pub fn written_behind(&self, table: TableId, key: &[u8]) -> bool {
        let snapshot = self.state.lock().snapshot.as_ref().map(|s| s.timestamp());
        snapshot.is_some_and(|snapshot| self.transactions.serializable().wrote_behind(snapshot, table, key))
    }

    /// SERIALIZABLE READ ONLY DEFERRABLE: waits for a snapshot with which nothing can go wrong, and needs no tracking from then on.
    pub async fn wait_for_safe_snapshot(&self) {
        if self.state.lock().snapshot.is_some() {
            return;
        }
        let store = self.transactions.store();
        let snapshot = self.transactions.serializable().safe_snapshot(self.id(), &|| store.snapshot()).await;
        let mut state = self.state.lock();
        state.snapshot = Some(snapshot);
        state.catalog_of_snapshot = Some(self.transactions.published_catalog());
        state.untracked = true;
    }

    /// SERIALIZABLE: fails early what could not commit any more.
    ///
    /// # Errors
    /// 40001.
    pub async fn check_serializable(&self) -> PgResult<()> {
        /// Larger transactions learn it at their commit.
        const MAX_ROWS: usize = 1000;
        let overlay = {
            let state = self.state.lock();
            if !state.tracked {
                return Ok(());
            }
            state.overlay()
        };
        if overlay.rows() > MAX_ROWS {
            return Ok(());
        }
        let outcome = self.transactions.serializable().check(self.id(), overlay.writes()?).await;
        outcome.map_err(|_| serialization_danger("during write"))
    }

    // What follows.

    /// Runs after the commit is durable and published, in the order of registration.
    pub fn on_commit(&self, hook: impl FnOnce() -> BoxFuture<'static, ()> + Send + 'static) {
        self.state.lock().on_commit.push(Box::new(hook));
    }

    /// Runs if the transaction (or the savepoint it was registered under) is rolled back, the latest first.
    pub fn on_rollback(&self, hook: impl FnOnce() -> BoxFuture<'static, ()> + Send + 'static) {
        self.state.lock().on_rollback.push(Box::new(hook));
    }

    // What constraints ask for.

    /// Adds to what is done at the end of the statement, by the layer above.
    pub fn add_at_end<T: Any + Send>(&self, work: Vec<T>) {
        if !work.is_empty() {
            self.state.lock().at_end.extend(work.into_iter().map(|w| Box::new(w) as Box<dyn Any + Send>));
        }
    }

    /// Takes what the statement has left to its end, in order.
    #[must_use]
    pub fn take_at_end<T: Any + Send>(&self) -> Vec<T> {
        let all = std::mem::take(&mut self.state.lock().at_end);
        all.into_iter().filter_map(|w| w.downcast().ok()).map(|w| *w).collect()
    }

    /// Leaves work to the commit.
    pub fn defer(&self, work: Box<dyn DeferredWork>) {
        self.state.lock().deferred.push(work);
    }

    /// Whether checks wait for the end of the transaction.
    #[must_use]
    pub fn has_deferred(&self) -> bool {
        !self.state.lock().deferred.is_empty()
    }

    /// Whether checks wait that are about rows of a table.
    #[must_use]
    pub fn has_deferred_on(&self, table: Oid) -> bool {
        self.state.lock().deferred.iter().any(|check| check.is_on(table))
    }

    /// DISCARD ALL: gives up the advisory locks that the session holds.
    pub fn release_session_locks(&self) {
        self.advisory.unlock_all();
    }

    /// Takes those of the waiting checks that `due` names, in their order.
    pub fn take_deferred(&self, due: impl Fn(&dyn DeferredWork) -> bool) -> Vec<Box<dyn DeferredWork>> {
        let mut state = self.state.lock();
        let (taken, kept) = std::mem::take(&mut state.deferred).into_iter().partition(|c| due(&**c));
        state.deferred = kept;
        taken
    }

    /// SET CONSTRAINTS: `None` is ALL.
    pub fn set_constraints(&self, constraints: Option<&[Oid]>, deferred: bool) {
        let mut state = self.state.lock();
        match constraints {
            None => {
                state.constraints = Constraints { all: Some(deferred), single: HashMap::new() };
            }
            Some(oids) => state.constraints.single.extend(oids.iter().map(|oid| (*oid, deferred))),
        }
    }

    /// Whether a constraint waits for the commit now.
    #[must_use]
    pub fn is_deferred(&self, constraint: &ConstraintName) -> bool {
        if !constraint.deferrable {
            return false;
        }
        let state = self.state.lock();
        state.constraints.single.get(&constraint.oid).copied().or(state.constraints.all).unwrap_or(constraint.initially_deferred)
    }
}

#[cfg(test)]
mod tests;
