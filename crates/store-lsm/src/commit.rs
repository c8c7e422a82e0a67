//! The commit thread: the one owner of writes.
//!
//! Callers queue encoded commits; the thread takes all that wait, validates them in order against [`CommitWindow`], gives
//! timestamps, writes one batch, syncs the log once if any asks for it, publishes a view, and only then answers. What must
//! not run beside commits (changes of schemas, the end of a bulk load) runs on the same thread between groups.

use crate::batch::{EncodedCommit, GroupBatch};
use crate::bulk::Unfinished;
use crate::database::{ColumnFamily, Database, RocksSnapshot, write_error};
use crate::keys::{Form, push_row_bound};
use crate::metadata::CEILING_KEY;
use crate::options::{LsmOptions, OptionClass, SharedResources};
use crate::space::Purpose;
use crate::view::{LOAD_COUNTER, LsmSnapshot, Table, Tables, View};
use parking_lot::{Condvar, Mutex, RwLock};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use stoa_store::commit_window::CommitWindow;
use stoa_store::{Certainty, Durability, KeyRange, OnVisible, RangeCache, StoreError, StoreResult, TableId, Timestamp};
use tokio::sync::oneshot;

/// Bytes of commits that share one sync, at most: so that a stream of large commits does not make small ones wait for all of it.
const MAX_GROUP_BYTES: usize = 8 << 20;
/// How far ahead the stored ceiling of timestamps is, so that it is seldom written.
const CEILING_AHEAD_US: u64 = 1_000_000;
/// Larger groups do not count as making room, whatever they delete.
const MAX_FREEING_BYTES: usize = 256 << 10;
/// What memory must hold for it to be written to files early, when the disk is nearly full.
const WORTH_FLUSHING: u64 = 2 << 20;

pub(crate) struct CommitJob {
    pub encoded: EncodedCommit,
    pub since: Option<Timestamp>,
    pub validate: Vec<(TableId, KeyRange)>,
    pub durability: Durability,
    pub then: Option<OnVisible>,
    pub reply: oneshot::Sender<Reply>,
}

pub(crate) enum Reply {
    Committed(Timestamp),
    /// A table was altered since the commit was encoded.
    Stale,
    Failed(StoreError),
}

type Exclusive = Box<dyn FnOnce(&mut Committer) + Send>;

enum Job {
    Commit(CommitJob),
    Exclusive(Exclusive),
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    closed: bool,
}

/// What the store's parts share.
pub(crate) struct Core {
    pub database: Arc<Database>,
    pub options: LsmOptions,
    pub shared: SharedResources,
    pub published: RwLock<Arc<View>>,
    pub window: Mutex<CommitWindow>,
    pub range_cache: RangeCache,
    pub column_families: Mutex<HashMap<OptionClass, Arc<ColumnFamily>>>,
    pub counters: Counters,
    queue: Mutex<Queue>,
    wake: Condvar,
    pub janitor: crate::purge::Janitor,
}

#[derive(Default)]
pub(crate) struct Counters {
    pub commits: AtomicU64,
    pub groups: AtomicU64,
    pub syncs: AtomicU64,
    pub conflicts: AtomicU64,
    pub failed: AtomicU64,
    pub bytes_written: AtomicU64,
    pub gets: AtomicU64,
    pub scans: AtomicU64,
    pub bulk_loads: AtomicU64,
}

pub(crate) fn count(counter: &AtomicU64, by: u64) {
    counter.fetch_add(by, Ordering::Relaxed);
}

impl std::fmt::Debug for Core {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Core").field("database", &self.database).finish_non_exhaustive()
    }
}

fn closed() -> StoreError {
    StoreError::Io { message: "the store is closed".into(), certainty: Certainty::Unknown }
}

impl Core {
    pub fn new(database: Arc<Database>, options: LsmOptions, shared: SharedResources, first: Arc<View>) -> Self {
        Self {
            range_cache: RangeCache::new(options.range_cache_bytes()),
            database,
            options,
            shared,
            window: Mutex::new(CommitWindow::new(first.timestamp)),
            published: RwLock::new(first),
            column_families: Mutex::default(),
            counters: Counters::default(),
            queue: Mutex::default(),
            wake: Condvar::new(),
            janitor: crate::purge::Janitor::default(),
        }
    }

    pub fn view(&self) -> Arc<View> {
        Arc::clone(&self.published.read())
    }

    pub fn snapshot(&self) -> LsmSnapshot {
        let view = self.view();
        let taken_us = self.options.clock.now_us().max(view.published_us);
        LsmSnapshot { timestamp: view.timestamp, taken_us, view }
    }

    fn push(&self, job: Job) -> StoreResult<()> {
        let mut queue = self.queue.lock();
        if queue.closed {
            return Err(closed());
        }
        queue.jobs.push_back(job);
        drop(queue);
        self.wake.notify_one();
        Ok(())
    }

    /// Caches what a view has seen of a row for the next reads by its key, unless it was written since, or one would have to wait.
    pub fn cache_row(&self, table: &Table, key: &[u8], physical: &[u8], value: &[u8], view: &View) {
        if let Some(window) = self.window.try_lock()
            && !window.row_changed(table.schema.id, key, view.timestamp)
        {
            self.range_cache.insert_row(physical, value, view.timestamp);
        }
    }

    /// Caches what a view has seen in a range, unless it was written since, its table was altered, or one would have to wait.
    pub fn cache_range(&self, table: &Arc<Table>, key: &[u8], entries: &[u8], range: &KeyRange, view: &View) {
        let Some(window) = self.window.try_lock() else { return };
        // Of a table that is altered now, the watches are ended once the alteration is visible.
        let current = self.published.read().tables.map.get(&table.schema.id).is_some_and(|now| Arc::ptr_eq(now, table));
        if current && !window.range_changed(table.schema.id, range, view.timestamp) {
            self.range_cache.insert_range(key, entries, table.schema.id, range, view.timestamp);
        }
    }

    /// Takes what a commit writes out of the cache; to be called under the lock of the commit window, where it is recorded.
    fn uncache(&self, commit: &EncodedCommit, at: Timestamp) {
        if self.range_cache.is_empty() {
            return;
        }
        self.range_cache.rows_changed(commit.written.iter(), at);
        let mut physical = Vec::new();
        for (id, key) in commit.written.iter() {
            let Some(table) = commit.tables.iter().find(|table| table.schema.id == id) else { continue };
            for family in table.families.iter().filter(|family| family.form == Form::Plain) {
                physical.clear();
                push_row_bound(&mut physical, family.storage, family.form, key);
                self.range_cache.remove_row(&physical);
            }
        }
    }

    /// Queues a commit and waits for the answer.
    pub async fn commit(
        &self,
        encoded: EncodedCommit,
        since: Option<Timestamp>,
        validate: &[(TableId, KeyRange)],
        durability: Durability,
        then: Option<OnVisible>,
    ) -> StoreResult<Reply> {
        let (reply, answer) = oneshot::channel();
        self.push(Job::Commit(CommitJob { encoded, since, validate: validate.to_vec(), durability, then, reply }))?;
        answer.await.map_err(|_| closed())
    }

    /// Runs something on the commit thread, between groups.
    pub async fn exclusive<T: Send + 'static>(
        &self,
        run: impl FnOnce(&mut Committer) -> StoreResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        let (reply, answer) = oneshot::channel();
        self.push(Job::Exclusive(Box::new(move |committer| {
            // Nobody to answer is fine: the caller went away.
            let _ = reply.send(run(committer));
        })))?;
        answer.await.map_err(|_| closed())?
    }

    /// Whether there is place on the disk for a write.
    ///
    /// # Errors
    /// [`StoreError::DiskFull`].
    pub fn check_space(&self, bytes: u64, purpose: Purpose) -> StoreResult<()> {
        let check = || self.database.space.check(bytes, self.shared.write_buffers.get_usage() as u64, purpose);
        let Err(full) = check() else { return Ok(()) };
        let in_memory = self.shared.write_buffers.get_usage() as u64;
        if in_memory < WORTH_FLUSHING || self.database.space.free().is_none_or(|free| free < in_memory) {
            return Err(full);
        }
        // Files take less than memory and the log, which goes with it.
        let column_families: Vec<_> = self.column_families.lock().values().map(Arc::clone).collect();
        for column_family in column_families {
            self.database.db.flush_cf(&column_family.handle).map_err(write_error)?;
        }
        check()
    }

    pub fn close(&self) {
        self.queue.lock().closed = true;
        self.wake.notify_all();
    }

    fn max_group_bytes(&self) -> usize {
        MAX_GROUP_BYTES.min(self.options.write_buffer_bytes / 4)
    }

    /// The next group: commits up to some bytes, or one exclusive job. `None` when closed and all is done.
    fn next_group(&self) -> Option<Group> {
        let mut queue = self.queue.lock();
        loop {
            match queue.jobs.pop_front() {
                Some(Job::Exclusive(run)) => return Some(Group::Exclusive(run)),
                Some(Job::Commit(first)) => {
                    let mut bytes = first.encoded.bytes();
                    let mut group = vec![first];
                    while bytes < self.max_group_bytes()
                        && let Some(Job::Commit(_)) = queue.jobs.front()
                        && let Some(Job::Commit(next)) = queue.jobs.pop_front()
                    {
                        bytes += next.encoded.bytes();
                        group.push(next);
                    }
                    return Some(Group::Commits(group));
                }
                None if queue.closed => return None,
                None => self.wake.wait(&mut queue),
            }
        }
    }
}

enum Group {
    Commits(Vec<CommitJob>),
    Exclusive(Exclusive),
}

/// The commit thread's own state.
pub(crate) struct Committer {
    pub core: Arc<Core>,
    pub tables: Arc<Tables>,
    /// The last timestamp given.
    last: Timestamp,
    ceiling: Timestamp,
    pub next_storage: u32,
    /// A load that is to be finished before anything else is written.
    pub unfinished: Option<Unfinished>,
}

impl Committer {
    pub fn new(core: Arc<Core>, tables: Arc<Tables>, last: Timestamp, ceiling: Timestamp, next_storage: u32) -> Self {
        Self { core, tables, last, ceiling, next_storage, unfinished: None }
    }

    /// Works until the store is closed.
    pub fn run(mut self) {
        let core = Arc::clone(&self.core);
        while let Some(group) = core.next_group() {
            match group {
                Group::Exclusive(run) => run(&mut self),
                Group::Commits(jobs) => self.commit_group(jobs),
            }
        }
        self.lower_ceiling();
    }

    /// The next timestamp for a commit.
    pub fn tick(&mut self, now_us: u64) -> Timestamp {
        let mut next = Timestamp::after(self.last, now_us);
        if next.0 & LOAD_COUNTER == LOAD_COUNTER {
            next = Timestamp(next.0 + 1);
        }
        self.last = next;
        next
    }

    /// The next timestamp for the entries of a bulk load.
    pub fn load_tick(&mut self) -> Timestamp {
        let next = Timestamp::after(self.last, self.now_us());
        self.last = Timestamp(next.0 | LOAD_COUNTER);
        self.last
    }

    pub fn now_us(&self) -> u64 {
        self.core.options.clock.now_us()
    }

    /// Adds a higher ceiling to a batch if timestamps have reached the stored one; returns the one to remember.
    fn raise_ceiling(&self, batch: &mut GroupBatch) -> Timestamp {
        if self.last < self.ceiling {
            return self.ceiling;
        }
        let ceiling = Timestamp::from_micros(self.last.micros().saturating_add(CEILING_AHEAD_US));
        batch.put_metadata(CEILING_KEY, &ceiling.0.to_be_bytes());
        ceiling
    }

    /// After an orderly end, timestamps go on right where they were.
    fn lower_ceiling(&mut self) {
        let mut ceiling = rocksdb::WriteBatch::default();
        ceiling.put(CEILING_KEY, (self.last.0 + 1).to_be_bytes());
        if self.unfinished.is_none()
            && let Err(error) = self.core.database.write(ceiling, Durability::Relaxed)
        {
            tracing::warn!("the last timestamp could not be stored: {error}");
        }
    }

    /// Writes metadata at once and durably.
    pub fn write_metadata(&mut self, mut batch: rocksdb::WriteBatch) -> StoreResult<()> {
        self.check_working()?;
        if self.last >= self.ceiling {
            self.ceiling = Timestamp::from_micros(self.last.micros().saturating_add(CEILING_AHEAD_US));
            batch.put(CEILING_KEY, self.ceiling.0.to_be_bytes());
        }
        self.core.database.write(batch, Durability::Sync)
    }

    /// Makes everything written so far visible.
    pub fn publish(&mut self) -> Arc<View> {
        let snapshot = RocksSnapshot::take(&self.core.database);
        let tracker = &self.core.shared.retention.tracker;
        let view = View::publish(tracker, self.last, self.now_us(), Arc::clone(&self.tables), snapshot);
        let old = std::mem::replace(&mut *self.core.published.write(), Arc::clone(&view));
        drop(old);
        let oldest = tracker.oldest().map_or(self.last, |view| view.timestamp);
        self.core.window.lock().forget(oldest);
        view
    }

    fn commit_group(&mut self, jobs: Vec<CommitJob>) {
        let now_us = self.now_us();
        let core = Arc::clone(&self.core);
        let mut batch = GroupBatch::default();
        let mut accepted = Vec::with_capacity(jobs.len());
        let mut durability = Durability::Relaxed;
        let mut deleted = Vec::new();
        let mut frees = false;
        let working = self.check_working();
        let mut window = core.window.lock();
        for job in jobs {
            let CommitJob { mut encoded, since, validate, durability: wanted, then, reply } = job;
            if let Err(error) = &working {
                let _ = reply.send(Reply::Failed(error.clone()));
                continue;
            }
            let current = |table: &Arc<Table>| self.tables.map.get(&table.schema.id).is_some_and(|now| Arc::ptr_eq(now, table));
            if !encoded.tables.iter().all(current) {
                let _ = reply.send(Reply::Stale);
                continue;
            }
            if let Some(since) = since
                && (window.any_changed(&encoded.written, since)
                    || validate.iter().any(|(table, range)| window.range_changed(*table, range, since)))
            {
                count(&core.counters.conflicts, 1);
                let _ = reply.send(Reply::Failed(StoreError::Conflict));
                continue;
            }
            let at = self.tick(now_us);
            encoded.stamp(at);
            for table in &encoded.tables {
                table.last_change.store(at.0, Ordering::Release);
            }
            core.uncache(&encoded, at);
            window.record(at, std::mem::take(&mut encoded.written));
            if wanted == Durability::Sync {
                durability = Durability::Sync;
            }
            deleted.append(&mut encoded.deleted);
            frees |= encoded.frees;
            if !encoded.is_empty() {
                batch.add(encoded);
            }
            accepted.push((at, then, reply));
        }
        drop(window);
        if accepted.is_empty() {
            return;
        }
        let ceiling = self.raise_ceiling(&mut batch);
        let written = self.write_group(batch, durability, frees);
        deleted.iter().for_each(|(column_family, storage)| column_family.deleted(*storage));
        match written {
            Ok(()) => {
                self.ceiling = ceiling;
                self.publish();
                count(&core.counters.commits, accepted.len() as u64);
                count(&core.counters.groups, 1);
                // First those who wait for what these commits have locked: they have work to do, the others only answer.
                accepted.iter().filter_map(|(at, then, _)| Some((at, then.as_ref()?))).for_each(|(at, then)| then(*at));
                for (at, _, reply) in accepted {
                    let _ = reply.send(Reply::Committed(at));
                }
            }
            Err(error) => {
                count(&core.counters.failed, accepted.len() as u64);
                tracing::error!("a group of {} commits could not be written: {error}", accepted.len());
                for (_, _, reply) in accepted {
                    let _ = reply.send(Reply::Failed(error.clone()));
                }
            }
        }
    }

    fn write_group(&self, batch: GroupBatch, durability: Durability, frees: bool) -> StoreResult<()> {
        let batch = batch.finish();
        if batch.is_empty() {
            return Ok(());
        }
        let bytes = batch.size_in_bytes();
        let purpose = if frees && bytes <= MAX_FREEING_BYTES { Purpose::Frees } else { Purpose::Fills };
        self.core.check_space(bytes as u64, purpose)?;
        count(&self.core.counters.bytes_written, batch.size_in_bytes() as u64);
        if durability == Durability::Sync {
            count(&self.core.counters.syncs, 1);
        }
        self.core.database.write(batch, durability)
    }
}
