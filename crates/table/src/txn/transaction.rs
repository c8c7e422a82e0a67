//! One transaction of one session.
//!
//! Life of a statement in it: [`Transaction::start_statement`], reads through [`Transaction::read_view`], writes that lock their
//! rows first, then [`Transaction::end_statement`], or [`Transaction::discard_statement`] when it failed or must run again.
//!
//! Invariant: what a statement wrote is in `current` until it ends, so that it never reads its own writes and leaves nothing
//! behind when it fails.

use super::advisory::AdvisoryLocks;
use super::deferred::DeferredWork;
use super::failure::{concurrent_update, lock_failure, statement_retry, store_error};
use super::locks::{Acquired, GroupId, LockId, LockStrength, LockWait, Mode, TableLockMode, Wait};
use super::manager::{TransactionManager, TxnOptions};
use super::overlay::Overlay;
use super::serializable::{ReadSet, Writes};
use super::view::ReadView;
use super::write_set::WriteSet;
use crate::catalog::{CatalogSnapshot, ConstraintName, Oid, TableDescriptor};
use crate::feed::Ticket;
use crate::row::KeyList;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use std::any::Any;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use stoa_pg::sqlstate::SqlState;
use stoa_pg::{PgError, PgResult};
use stoa_store::{Commit, Durability, FamilyId, KeyRange, Mutations, Snapshot, StoreResult, TableId, Then, Timestamp};

/// Where descriptors are stored.
pub const CATALOG_TABLE: TableId = TableId(1);
/// The one family of [`CATALOG_TABLE`].
pub const CATALOG_FAMILY: FamilyId = FamilyId(0);

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

#[derive(Clone)]
struct PrivateCatalog {
    snapshot: Arc<CatalogSnapshot>,
    /// The published version that it was made from.
    base: u64,
    changes: Vec<CatalogChange>,
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
}

#[derive(Default)]
struct State {
    snapshot: Option<Arc<dyn Snapshot>>,
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
    on_commit: Vec<Hook>,
    on_rollback: Vec<Hook>,
    /// What the running statement leaves to its end.
    at_end: Vec<Box<dyn Any + Send>>,
    deferred: Vec<Box<dyn DeferredWork>>,
    /// How many waited when the running statement began.
    deferred_mark: usize,
    /// SET CONSTRAINTS: of all, then of single ones.
    all_deferred: Option<bool>,
    deferral: HashMap<Oid, bool>,
    isolation: Isolation,
    read_only: bool,
    lock_timeout: Option<Duration>,
    deadlock_timeout: Duration,
    durability: Durability,
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
}

/// Layers above a savepoint that reads may have to look through.
const MAX_LAYERS: usize = 8;
/// Locks of rows that are held one by one.
const MANY_LOCKS: usize = 32 << 10;
/// Bytes from which on a commit goes past the store's log, where there is plenty of memory: on its way there it is copied a few times.
const LARGE_COMMIT: usize = 24 << 20;
/// Locks up to which the store gives them up, which keeps it from the next commits meanwhile.
const MAX_RELEASED_BY_STORE: usize = 64;

impl State {
    fn new(manager: &TransactionManager, options: &TxnOptions) -> Self {
        Self {
            isolation: options.isolation,
            read_only: options.read_only,
            lock_timeout: options.lock_timeout,
            deadlock_timeout: options.deadlock_timeout.unwrap_or_else(|| manager.locks().deadlock_timeout()),
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
            // What is below runs goes to disk before them.
            if newest.has_runs() && before.spill().is_err() {
                return;
            }
            before.absorb(std::mem::take(newest));
            self.layers.pop();
        }
    }
}

/// See the module.
pub struct Transaction {
    /// By which the manager knows it.
    number: u64,
    id: AtomicU64,
    group: GroupId,
    manager: Arc<TransactionManager>,
    advisory: Arc<AdvisoryLocks>,
    reads: Arc<Mutex<ReadSet>>,
    state: Mutex<State>,
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
    pub(super) fn new(id: u64, manager: Arc<TransactionManager>, options: TxnOptions) -> Self {
        let state = State::new(&manager, &options);
        let advisory = manager.advisory(options.group);
        Self {
            number: id,
            id: AtomicU64::new(id),
            group: options.group,
            max_bytes: manager.max_transaction_bytes(),
            manager,
            advisory,
            reads: Arc::default(),
            state: Mutex::new(state),
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
        self.id.store(self.manager.next_id(), Ordering::Relaxed);
        *state = State::new(&self.manager, options);
    }

    pub(super) fn is_running(&self) -> bool {
        !self.state.lock().finished
    }

    /// Somebody was told the number: it counts as given from here on.
    pub fn assign_id(&self) {
        self.state.lock().id_assigned = true;
    }

    /// Whether the transaction has written, or its number was asked for.
    #[must_use]
    pub fn is_id_assigned(&self) -> bool {
        let assigned = self.state.lock().id_assigned;
        assigned || self.has_writes()
    }

    #[must_use]
    pub fn group(&self) -> GroupId {
        self.group
    }

    #[must_use]
    pub fn manager(&self) -> &Arc<TransactionManager> {
        &self.manager
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
    pub fn start_statement(&self) -> PgResult<()> {
        let mut state = self.state.lock();
        state.end_statement();
        self.refresh_snapshot(&mut state);
        state.newest = None;
        state.at_end.clear();
        state.deferred_mark = state.deferred.len();
        Ok(())
    }

    /// Lets the running statement, which defines something and holds the locks that it needs, read what is committed now.
    pub fn read_newest(&self) {
        let snapshot = self.manager.store().snapshot();
        self.state.lock().newest = Some(snapshot);
    }

    fn refresh_snapshot(&self, state: &mut State) -> Arc<dyn Snapshot> {
        match (&state.snapshot, state.isolation) {
            (Some(snapshot), Isolation::RepeatableRead | Isolation::Serializable) => Arc::clone(snapshot),
            (_, isolation) => {
                let store = self.manager.store();
                let snapshot = if isolation == Isolation::Serializable && !state.tracked && !state.untracked {
                    state.tracked = true;
                    self.manager.serializable().begin(self.id(), Arc::clone(&self.reads), state.read_only, || store.snapshot())
                } else {
                    store.snapshot()
                };
                state.snapshot = Some(Arc::clone(&snapshot));
                snapshot
            }
        }
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
            (None, None) => self.refresh_snapshot(&mut state),
        };
        ReadView { store: Arc::clone(self.manager.store()), snapshot, overlay: Overlay::new(state.layers.iter().cloned()) }
    }

    /// What constraints are checked against: the newest commits, with everything that the transaction wrote, the running
    /// statement included. Take it behind the locks.
    #[must_use]
    pub fn newest_view(&self) -> ReadView {
        let state = self.state.lock();
        ReadView { store: Arc::clone(self.manager.store()), snapshot: self.manager.store().snapshot(), overlay: state.overlay() }
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
            state.current.push(Arc::new(WriteSet::new(&self.manager.write_space())));
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
        snapshot.is_some_and(|snapshot| self.manager.serializable().wrote_behind(snapshot, table, key))
    }

    /// SERIALIZABLE READ ONLY DEFERRABLE: waits for a snapshot with which nothing can go wrong, and needs no tracking from then on.
    pub async fn wait_for_safe_snapshot(&self) {
        if self.state.lock().snapshot.is_some() {
            return;
        }
        let (store, set) = (self.manager.store(), self.manager.serializable());
        loop {
            let snapshot = set.begin(self.id(), Arc::default(), true, || store.snapshot());
            let others = set.running_besides(self.id());
            let safe = loop {
                let changed = set.changed();
                match set.is_safe(snapshot.timestamp(), &others) {
                    Some(safe) => break safe,
                    None => changed.await,
                }
            };
            set.abort(self.id());
            if safe {
                let mut state = self.state.lock();
                state.snapshot = Some(snapshot);
                state.untracked = true;
                return;
            }
        }
    }

    /// SERIALIZABLE: fails early what could not commit any more.
    ///
    /// # Errors
    /// 40001.
    pub fn check_serializable(&self) -> PgResult<()> {
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
        self.manager.serializable().check(self.id(), &Writes::of(&overlay)?).map_err(|_| serialization_danger("during write"))
    }

    // Locks.

    /// Locks rows of one table in the order of the keys, waiting for those who hold them. `relation` is for messages. With
    /// [`LockWait::SkipLocked`] the answer says which rows were locked.
    ///
    /// # Errors
    /// 55P03 (NOWAIT, lock timeout), 40P01.
    pub async fn lock_rows(
        &self,
        table: TableId,
        keys: &KeyList,
        strength: LockStrength,
        wait: LockWait,
        relation: &str,
    ) -> PgResult<Vec<bool>> {
        let mode = Mode::from(strength);
        let locks = self.manager.locks();
        let mut out = Vec::with_capacity(keys.len());
        let in_savepoint = self.in_savepoint();
        for key in keys.iter() {
            let id = LockId::row(table, key);
            let stronger = in_savepoint && locks.strengthens(self.group, id, mode);
            if let Some(new) = locks.try_acquire(self.group, id, mode) {
                self.keep_lock(id, new, stronger.then_some(mode));
                out.push(true);
                continue;
            }
            if wait == LockWait::SkipLocked {
                out.push(false);
                continue;
            }
            let patience = match wait {
                LockWait::NoWait => Wait::Never,
                _ => Wait::Until(self.state.lock().lock_timeout),
            };
            self.waits();
            match locks.acquire_watchful(self.group, id, mode, patience, self.deadlock_timeout()).await {
                Acquired::Granted { new } => {
                    self.keep_lock(id, new, stronger.then_some(mode));
                    out.push(true);
                }
                other => return Err(lock_failure(&other, &format!("row in relation \"{relation}\""))),
            }
        }
        self.gather_locks();
        Ok(out)
    }

    /// How many locks are held one by one: to be told to [`Transaction::release_since`].
    #[must_use]
    pub fn locks_held(&self) -> usize {
        self.state.lock().locks.len()
    }

    /// Gives up some of the locks that were taken since: nothing was done under them.
    pub fn release_since(&self, mark: usize, unused: &HashSet<LockId>) {
        let mut state = self.state.lock();
        let mark = mark.min(state.locks.len());
        let since = state.locks.split_off(mark);
        for id in since {
            if unused.contains(&id) {
                self.manager.locks().release(self.group, id);
            } else {
                state.locks.push(id);
            }
        }
    }

    /// Keeps the locks of very many rows in little memory.
    fn gather_locks(&self) {
        let mut state = self.state.lock();
        let from = state.savepoints.last().map_or(0, |s| s.locks);
        if state.locks.len().saturating_sub(from) < MANY_LOCKS {
            return;
        }
        let from = from.min(state.locks.len());
        let loose = state.locks.split_off(from);
        let kept = self.manager.locks().gather(self.group, loose);
        state.locks.extend(kept);
        if state.locks.len() < MANY_LOCKS / 4 {
            state.locks.shrink_to(MANY_LOCKS / 4);
        }
    }

    /// Locks a table; whether it had to be waited for.
    ///
    /// # Errors
    /// 55P03, 40P01.
    pub async fn lock_table(&self, table: Oid, mode: TableLockMode, nowait: bool, relation: &str) -> PgResult<bool> {
        self.lock_id(LockId::Table(table), mode.into(), nowait, || format!("relation \"{relation}\"")).await
    }

    /// Locks a table if nobody is in the way; whether it is locked.
    #[must_use]
    pub fn try_lock_table(&self, table: Oid, mode: TableLockMode) -> bool {
        let id = LockId::Table(table);
        let stronger = self.in_savepoint() && self.manager.locks().strengthens(self.group, id, mode.into());
        let acquired = self.manager.locks().try_acquire(self.group, id, mode.into());
        self.keep_lock(id, acquired == Some(true), (stronger && acquired.is_some()).then(|| mode.into()));
        acquired.is_some()
    }

    fn in_savepoint(&self) -> bool {
        !self.state.lock().savepoints.is_empty()
    }

    /// A lock that was taken for the transaction goes with it; one that was held before and is held in a further mode, `stronger`, goes
    /// back to what it was with a savepoint.
    pub(super) fn keep_lock(&self, id: LockId, new: bool, stronger: Option<Mode>) {
        if new {
            self.state.lock().locks.push(id);
        } else if let Some(mode) = stronger {
            self.state.lock().strengthened.push((id, mode));
        }
    }

    /// Keeps a name that is being made from others until the transaction ends.
    ///
    /// # Errors
    /// 55P03, 40P01.
    pub async fn lock_name(&self, schema: Oid, name: &str) -> PgResult<()> {
        let id = LockId::Advisory(3, xxhash_rust::xxh3::xxh3_64_with_seed(name.as_bytes(), u64::from(schema)));
        self.lock_id(id, Mode::ADVISORY_EXCLUSIVE, false, || format!("name \"{name}\"")).await.map(|_| ())
    }

    /// Whether it had to be waited for.
    async fn lock_id(&self, id: LockId, mode: Mode, nowait: bool, what: impl Fn() -> String) -> PgResult<bool> {
        let locks = self.manager.locks();
        let stronger = self.in_savepoint() && locks.strengthens(self.group, id, mode);
        let (new, waited) = match locks.try_acquire(self.group, id, mode) {
            Some(new) => (new, false),
            None => {
                let (wait, deadlock_timeout) = {
                    let state = self.state.lock();
                    (if nowait { Wait::Never } else { Wait::Until(state.lock_timeout) }, state.deadlock_timeout)
                };
                self.waits();
                match locks.acquire_watchful(self.group, id, mode, wait, deadlock_timeout).await {
                    Acquired::Granted { new } => (new, true),
                    other => return Err(lock_failure(&other, &what())),
                }
            }
        };
        self.keep_lock(id, new, stronger.then_some(mode));
        Ok(waited)
    }

    /// Whether a row was changed by another transaction behind the statement's snapshot. The rows must be locked.
    ///
    /// # Errors
    /// [`statement_retry`] in READ COMMITTED, else 40001.
    pub fn check_unchanged(&self, table: TableId, keys: &KeyList) -> PgResult<()> {
        let (snapshot, isolation) = {
            let state = self.state.lock();
            (state.snapshot.as_ref().map(|s| s.timestamp()), state.isolation)
        };
        let Some(since) = snapshot else { return Ok(()) };
        if !self.rows_changed_since(table, keys, since) {
            return Ok(());
        }
        Err(if isolation == Isolation::ReadCommitted { statement_retry() } else { concurrent_update() })
    }

    /// Whether any of the rows was committed after `since`.
    #[must_use]
    pub fn rows_changed_since(&self, table: TableId, keys: &KeyList, since: Timestamp) -> bool {
        let mut rows = keys.iter().map(|key| (table, key));
        self.manager.store().rows_changed_since(&mut rows, since)
    }

    // Savepoints.

    /// SAVEPOINT: names may repeat; the newest counts.
    ///
    /// # Errors
    /// None at present.
    pub fn savepoint(&self, name: &str) -> PgResult<()> {
        self.end_statement();
        let mut state = self.state.lock();
        let savepoint = Savepoint {
            name: name.to_owned(),
            layers: state.layers.len(),
            locks: state.locks.len(),
            strengthened: state.strengthened.len(),
            many_locks: self.manager.locks().seal(self.group),
            advisory: self.advisory.mark(),
            catalog: state.catalog.clone(),
            on_commit: state.on_commit.len(),
            on_rollback: state.on_rollback.len(),
            deferred: state.deferred.len(),
        };
        state.savepoints.push(savepoint);
        Ok(())
    }

    fn savepoint_position(state: &State, name: &str) -> PgResult<usize> {
        state
            .savepoints
            .iter()
            .rposition(|s| s.name == name)
            .ok_or_else(|| PgError::new(SqlState::INVALID_SAVEPOINT_SPECIFICATION, format!("savepoint \"{name}\" does not exist")))
    }

    /// RELEASE SAVEPOINT.
    ///
    /// # Errors
    /// 3B001.
    pub fn release(&self, name: &str) -> PgResult<()> {
        let mut state = self.state.lock();
        let at = Self::savepoint_position(&state, name)?;
        state.savepoints.truncate(at);
        state.merge_layers();
        Ok(())
    }

    /// ROLLBACK TO SAVEPOINT: the savepoint stays.
    ///
    /// # Errors
    /// 3B001.
    pub async fn rollback_to(&self, name: &str) -> PgResult<()> {
        let at = {
            let mut state = self.state.lock();
            let at = Self::savepoint_position(&state, name)?;
            state.savepoints.truncate(at + 1);
            state.current.clear();
            if let Some(layers) = state.savepoints.get(at).map(|s| s.layers) {
                state.layers.truncate(layers);
            }
            at
        };
        self.run_rollback_hooks(|state| state.savepoints.get(at).map_or(0, |s| s.on_rollback)).await;
        let mut state = self.state.lock();
        let state = &mut *state;
        let Some(savepoint) = state.savepoints.get(at) else { return Ok(()) };
        state.catalog.clone_from(&savepoint.catalog);
        state.deferred.truncate(savepoint.deferred);
        state.on_commit.truncate(savepoint.on_commit);
        self.advisory.rollback_to(savepoint.advisory);
        self.manager.locks().release_many(self.group, savepoint.many_locks);
        for id in state.locks.split_off(savepoint.locks.min(state.locks.len())) {
            self.manager.locks().release(self.group, id);
        }
        for (id, mode) in state.strengthened.split_off(savepoint.strengthened.min(state.strengthened.len())) {
            self.manager.locks().release_mode(self.group, id, mode);
        }
        Ok(())
    }

    /// Runs hooks of a rollback, the latest first, until as many are left as `floor` says. Locks are given up after it: whoever
    /// waits for one must find everything as it was before.
    async fn run_rollback_hooks(&self, floor: impl Fn(&State) -> usize) {
        loop {
            let hook = {
                let mut state = self.state.lock();
                if state.on_rollback.len() <= floor(&state) {
                    return;
                }
                state.on_rollback.pop()
            };
            if let Some(hook) = hook {
                hook().await;
            }
        }
    }

    /// A statement failed: what was done since the newest savepoint is taken back at once, and its locks are given up.
    pub async fn abort_newest(&self) {
        let newest = self.state.lock().savepoints.last().map(|s| s.name.clone());
        match newest {
            // It is there: its name was read from it.
            Some(name) => drop(self.rollback_to(&name).await),
            None => self.rollback().await,
        }
    }

    // Catalog.

    /// The catalog as the transaction sees it: the newest, with its own changes.
    #[must_use]
    pub fn catalog(&self) -> Arc<CatalogSnapshot> {
        let published = self.manager.published_catalog();
        let mut state = self.state.lock();
        let Some(private) = &mut state.catalog else { return published };
        if private.base != published.version {
            // Others have changed the catalog: the own changes go on top. One that does not fit any more fails at commit.
            let mut snapshot = (*published).clone();
            if private.changes.iter().all(|change| change(&mut snapshot).is_ok()) {
                private.base = published.version;
                private.snapshot = Arc::new(snapshot);
            }
        }
        Arc::clone(&private.snapshot)
    }

    /// Whether this is what [`Transaction::catalog`] would give.
    #[must_use]
    pub fn sees(&self, catalog: &Arc<CatalogSnapshot>) -> bool {
        if self.state.lock().catalog.is_none() {
            return self.manager.is_published(catalog);
        }
        Arc::ptr_eq(&self.catalog(), catalog)
    }

    /// Changes the catalog for this transaction, and for all when it commits. `change` is run now, and again at commit on what
    /// is the newest then: it must be a pure function of its argument.
    ///
    /// # Errors
    /// Those of `change`; nothing is changed then.
    pub fn change_catalog(&self, change: impl Fn(&mut CatalogSnapshot) -> PgResult<()> + Send + Sync + 'static) -> PgResult<()> {
        let before = self.catalog();
        let mut snapshot = (*before).clone();
        change(&mut snapshot)?;
        let change: CatalogChange = Arc::new(change);
        let mut state = self.state.lock();
        match &mut state.catalog {
            Some(private) => {
                private.snapshot = Arc::new(snapshot);
                private.changes.push(change);
            }
            None => {
                state.catalog = Some(PrivateCatalog { base: before.version, snapshot: Arc::new(snapshot), changes: vec![change] });
            }
        }
        Ok(())
    }

    /// Whether the place where a table keeps its rows was made since the newest savepoint, or the beginning: by CREATE TABLE, TRUNCATE
    /// and the like.
    #[must_use]
    pub fn made_rows_place(&self, table: &TableDescriptor) -> bool {
        let published = self.manager.published_catalog();
        let state = self.state.lock();
        let at_savepoint = state.savepoints.last().and_then(|savepoint| savepoint.catalog.as_ref());
        let before = at_savepoint.map_or(&published, |catalog| &catalog.snapshot);
        before.table(table.oid).is_none_or(|before| before.storage != table.storage)
    }

    /// Whether the transaction has changed the catalog.
    #[must_use]
    pub fn has_catalog_changes(&self) -> bool {
        self.state.lock().catalog.is_some()
    }

    /// Sets or removes a row of the catalog's own table, in this transaction.
    ///
    /// # Errors
    /// As [`Transaction::write`].
    pub fn add_catalog_mutation(&self, key: &[u8], value: Option<&[u8]>) -> PgResult<()> {
        self.write(|set| match value {
            Some(value) => set.put(CATALOG_TABLE, key, CATALOG_FAMILY, &[], Some(value)),
            None => set.delete(CATALOG_TABLE, key),
        })
    }

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
                state.all_deferred = Some(deferred);
                state.deferral.clear();
            }
            Some(oids) => state.deferral.extend(oids.iter().map(|oid| (*oid, deferred))),
        }
    }

    /// Whether a constraint waits for the commit now.
    #[must_use]
    pub fn is_deferred(&self, constraint: &ConstraintName) -> bool {
        if !constraint.deferrable {
            return false;
        }
        let state = self.state.lock();
        state.deferral.get(&constraint.oid).copied().or(state.all_deferred).unwrap_or(constraint.initially_deferred)
    }

    // The end.

    /// Runs the deferred checks, makes everything durable and visible, then gives up the locks.
    ///
    /// # Errors
    /// 23503 and the like, 40001, or what the store said; the transaction is rolled back then.
    pub async fn commit(&self) -> PgResult<()> {
        let outcome = match self.prepare_commit().await {
            Ok(()) => self.commit_writes().await,
            Err(error) => Err(error),
        };
        match outcome {
            Ok(timestamp) => {
                let hooks = {
                    let mut state = self.state.lock();
                    state.finished = true;
                    state.committed = timestamp;
                    state.on_rollback.clear();
                    std::mem::take(&mut state.on_commit)
                };
                self.hold().release();
                for hook in hooks {
                    hook().await;
                }
                Ok(())
            }
            Err(error) => {
                self.rollback().await;
                Err(error)
            }
        }
    }

    /// Commits a transaction that only read, which nothing can keep from it; false, and nothing done, for any other.
    #[must_use]
    pub fn commit_reads(&self) -> bool {
        {
            let mut state = self.state.lock();
            let wrote = !state.layers.is_empty() || !state.current.is_empty() || state.catalog.is_some();
            if wrote || state.tracked || !state.deferred.is_empty() || !state.on_commit.is_empty() {
                return false;
            }
            state.finished = true;
            state.on_rollback.clear();
            // What is kept for another transaction keeps no version of any row.
            state.snapshot = None;
            state.newest = None;
        }
        self.hold().release();
        true
    }

    /// What is done before anything is durable, and may fail.
    async fn prepare_commit(&self) -> PgResult<()> {
        self.end_statement();
        for work in self.take_deferred(|_| true) {
            work.run(self).await?;
        }
        let token = self.state.lock().commit_token.take();
        if let Some(token) = token
            && self.has_writes()
        {
            super::commit_token::write(self, &token).await?;
            self.end_statement();
        }
        Ok(())
    }

    /// Names the transaction: see [`super::commit_token`].
    pub fn set_commit_token(&self, token: Option<String>) {
        self.state.lock().commit_token = token;
    }

    async fn commit_writes(&self) -> PgResult<Option<Timestamp>> {
        let (writes, catalog, tracked, durability) = {
            let state = self.state.lock();
            (Overlay::new(state.layers.iter().cloned()), state.catalog.clone(), state.tracked, state.durability)
        };
        let sequence = if tracked {
            let decided = self.manager.serializable().prepare(self.id(), Writes::of(&writes)?);
            decided.map_err(|_| serialization_danger("during commit attempt"))?
        } else {
            None
        };
        let outcome = match catalog {
            None => self.commit_store(&writes, durability).await,
            Some(private) => {
                let publishing = self.manager.publishing().await;
                let published = self.manager.published_catalog();
                let mut newest = (*published).clone();
                let replayed = private.changes.iter().try_for_each(|change| change(&mut newest));
                match replayed {
                    Err(error) => Err(error),
                    Ok(()) => {
                        newest.version = published.version + 1;
                        let outcome = self.commit_store(&writes, durability).await;
                        if outcome.is_ok() {
                            self.manager.publish(Arc::new(newest));
                        }
                        drop(publishing);
                        outcome
                    }
                }
            }
        };
        if let Some(sequence) = sequence {
            let timestamp = match &outcome {
                Ok(timestamp) => Some(timestamp.unwrap_or_else(|| self.manager.store().snapshot().timestamp())),
                Err(_) => None,
            };
            self.manager.serializable().finish(sequence, timestamp);
        }
        outcome
    }

    async fn commit_store(&self, writes: &Overlay, durability: Durability) -> PgResult<Option<Timestamp>> {
        if let Some(error) = writes.failure() {
            return Err(error.clone());
        }
        if writes.is_empty() {
            return Ok(None);
        }
        if writes.has_runs() || writes.bytes() > LARGE_COMMIT.min(self.manager.write_space().most() / 5) {
            return self.commit_bulk(writes).await.map(Some);
        }
        let mut mutations = writes.mutations()?;
        // An index or a table that is dropped is a change of a definition.
        if self.has_catalog_changes() {
            mutations.make_room();
        }
        let ticket = self.manager.feed().begin(writes, &mut mutations).await?;
        // The locks protect the rows: nothing is left to check.
        let commit = Commit { mutations: &mutations, snapshot: None, validate: &[], durability };
        let release = if ticket.is_none() { self.release_when_visible() } else { None };
        let outcome = match release {
            Some(release) => self.manager.store().commit_then(commit, release).await,
            None => self.manager.store().commit(commit).await,
        };
        settle(ticket, &outcome);
        outcome.map(Some).map_err(store_error)
    }

    /// Gives up the locks as soon as the commit is visible, without the way back to the session: others wait for them. `None` for
    /// transactions that have more to do before, and for very many locks.
    fn release_when_visible(&self) -> Option<Then> {
        let mut state = self.state.lock();
        if state.tracked || state.catalog.is_some() || state.locks.is_empty() || state.locks.len() > MAX_RELEASED_BY_STORE {
            return None;
        }
        state.strengthened.clear();
        let locks = Arc::new(Mutex::new(std::mem::take(&mut state.locks)));
        state.leaving = Some(Arc::clone(&locks));
        let (manager, group) = (Arc::clone(&self.manager), self.group);
        Some(Arc::new(move |_| {
            let locks = std::mem::take(&mut *locks.lock());
            locks.into_iter().for_each(|id| manager.locks().release(group, id));
        }))
    }

    /// A large transaction is taken in by the store as sorted files, past its log and its memory.
    async fn commit_bulk(&self, writes: &Overlay) -> PgResult<Timestamp> {
        let mut records = Mutations::new();
        let ticket = self.manager.feed().begin(writes, &mut records).await?;
        let load = async {
            let mut tables = writes.tables();
            tables.extend(records.iter().map(|record| record.row().0));
            tables.sort_unstable();
            tables.dedup();
            let mut load = self.manager.store().bulk_load(&tables).await.map_err(store_error)?;
            for table in writes.tables() {
                let mut cursor = writes.cursor(table, KeyRange::all(), false)?;
                let mut rows = 0u32;
                while cursor.take()? {
                    cursor.change().mutations(table, cursor.key()).try_for_each(|m| load.apply(m)).map_err(store_error)?;
                    rows = rows.wrapping_add(1);
                    if rows.is_multiple_of(4096) {
                        tokio::task::yield_now().await;
                    }
                }
            }
            records.iter().try_for_each(|record| load.apply(record)).map_err(store_error)?;
            Ok(load)
        };
        let load = match load.await {
            Ok(load) => load,
            Err(error) => {
                ticket.into_iter().for_each(Ticket::undone);
                return Err(error);
            }
        };
        let outcome = load.finish().await;
        settle(ticket, &outcome);
        outcome.map_err(store_error)
    }

    /// When the transaction was committed, if it wrote anything.
    #[must_use]
    pub fn commit_timestamp(&self) -> Option<Timestamp> {
        self.state.lock().committed
    }

    /// Throws everything away and gives up the locks.
    pub async fn rollback(&self) {
        {
            let mut state = self.state.lock();
            if state.finished {
                return;
            }
            state.layers.clear();
            state.current.clear();
            state.catalog = None;
            state.at_end.clear();
            state.deferred.clear();
            state.on_commit.clear();
        }
        self.run_rollback_hooks(|_| 0).await;
        self.state.lock().finished = true;
        self.hold().release();
    }

    /// What others wait for.
    fn hold(&self) -> Hold {
        let mut state = self.state.lock();
        state.strengthened.clear();
        let mut locks = std::mem::take(&mut state.locks);
        if let Some(leaving) = state.leaving.take() {
            locks.append(&mut leaving.lock());
        }
        Hold {
            id: self.id(),
            group: self.group,
            manager: Arc::clone(&self.manager),
            advisory: Arc::clone(&self.advisory),
            locks,
            tracked: state.tracked,
        }
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        self.manager.forget(self.number);
        // A session that went away without ROLLBACK, or in the middle of it; its hooks are run by a task if there is a runtime.
        let hooks = {
            let mut state = self.state.lock();
            if state.finished {
                return;
            }
            state.finished = true;
            std::mem::take(&mut state.on_rollback)
        };
        let hold = self.hold();
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) if !hooks.is_empty() => {
                runtime.spawn(async move {
                    for hook in hooks.into_iter().rev() {
                        hook().await;
                    }
                    hold.release();
                });
            }
            _ => hold.release(),
        }
    }
}

/// What a transaction keeps from others until it ends.
struct Hold {
    id: u64,
    group: GroupId,
    manager: Arc<TransactionManager>,
    advisory: Arc<AdvisoryLocks>,
    locks: Vec<LockId>,
    tracked: bool,
}

impl Hold {
    fn release(self) {
        self.manager.locks().release_many(self.group, 0);
        for id in self.locks {
            self.manager.locks().release(self.group, id);
        }
        self.advisory.end_transaction();
        if self.tracked {
            self.manager.serializable().abort(self.id);
        }
    }
}

/// Tells the change feed how a commit ended.
fn settle(ticket: Option<Ticket>, outcome: &StoreResult<Timestamp>) {
    let Some(ticket) = ticket else { return };
    match outcome {
        Ok(at) => ticket.committed(*at),
        Err(error) if error.certainty() == stoa_store::Certainty::NotDone => ticket.undone(),
        Err(_) => drop(ticket),
    }
}

/// 40001 as PostgreSQL words it.
fn serialization_danger(when: &str) -> PgError {
    PgError::new(SqlState::SERIALIZATION_FAILURE, "could not serialize access due to read/write dependencies among transactions")
        .detail(format!("Reason code: Canceled on identification as a pivot, {when}."))
        .hint("The transaction might succeed if retried.")
}

#[cfg(test)]
mod tests;
