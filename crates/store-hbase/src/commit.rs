//! The committer: one task that alone makes commits.
//!
//! Callers queue encoded commits. The task takes those that wait as a group, checks them in order against the commits of late
//! ([`CommitWindow`]), gives the group its time and writes it as one record of the log; up to [`log::ROWS`](crate::log::ROWS) groups are
//! under way. In the order of their times, and only once its record is durable, a group's changes go to [`Pending`], its time is published,
//! and its callers are answered. What comes to HBase's tables comes behind that ([`crate::apply`]).

use crate::changes::{EncodedCommit, RowChange, decode};
use crate::loads::{EndedLoad, Loads};
use crate::log::{Appended, Entry, Log, ROWS, StoredLoad};
use crate::options::HbaseOptions;
use crate::pending::{Changes, Pending};
use crate::tables::{Table, Tables};
use crate::ticks::{Tick, Ticks};
use crate::views::{HbaseSnapshot, Live, View};
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use hashbrown::HashSet;
use parking_lot::{Mutex, RwLock};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;
use stoa_hbase_client::{Admin, Client};
use stoa_store::commit_window::{CommitWindow, WrittenRows};
use stoa_store::{Certainty, Compression, KeyRange, OnVisible, StoreError, StoreResult, TableId, Timestamp};
use tokio::runtime::Handle;
use tokio::sync::{Notify, OwnedRwLockReadGuard, oneshot};
use tokio::task::JoinHandle;

/// Bytes of the commits of one group, at most, unless one alone is larger.
const GROUP_BYTES: usize = 8 << 20;
/// The largest commit.
pub(crate) const COMMIT_BYTES: usize = 64 << 20;
/// Commits wait while so much waits for HBase.
const PENDING_BYTES: usize = 64 << 20;
/// What may be in the log before changes that hang are written to its head: it is what a restart reads.
const LOG_BYTES: usize = 128 << 20;
/// What is not applied after so long hangs.
const HANGS_MS: u64 = 5_000;

/// What the store's parts share.
#[derive(Debug)]
pub(crate) struct Core {
    pub options: HbaseOptions,
    pub client: Client,
    pub admin: Admin,
    /// Of the store's own threads.
    pub handle: Handle,
    pub log: Log,
    pub tables: RwLock<Arc<Tables>>,
    /// Those of late, and those that are under way.
    pub loads: Loads,
    pub newest: RwLock<Arc<View>>,
    pub live: Arc<Live>,
    pub window: Mutex<CommitWindow>,
    pub pending: RwLock<Pending>,
    /// Changes came to `pending`, or may be sent now.
    pub arrived: Notify,
    /// Changes left `pending`: for those who wait for their table.
    pub left: Notify,
    /// The same, for the committer.
    pub room: Notify,
    pub counters: Counters,
    /// At or below the time of every commit that is not published.
    pub being_written: Mutex<Option<Tick>>,
    /// The last time that was given to a commit.
    pub last_tick: AtomicU64,
    /// Held by whoever changes what the log does not tell of: tables, ends of loads, cells of the past. A backup waits for them, and holds
    /// them up.
    pub quiet: tokio::sync::RwLock<()>,
    /// The log is not trimmed behind this time.
    pub trimmed_to: AtomicU64,
    /// Tables that are being made.
    pub making: Mutex<HashSet<TableId>>,
    /// What the servers have refused.
    pub lacking_codecs: Mutex<Vec<Compression>>,
    queue: Mutex<Queue>,
    queued: Notify,
    lost: AtomicBool,
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub commits: AtomicU64,
    pub groups: AtomicU64,
    pub conflicts: AtomicU64,
    pub log_bytes: AtomicU64,
    pub applied_rows: AtomicU64,
    pub apply_calls: AtomicU64,
    pub apply_failures: AtomicU64,
    pub gets: AtomicU64,
    pub scans: AtomicU64,
    pub loads: AtomicU64,
}

pub(crate) fn count(counter: &AtomicU64, by: u64) {
    counter.fetch_add(by, Ordering::Relaxed);
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    /// Loads that wait for the time at which they put their rows.
    begins: Vec<(Arc<[TableId]>, oneshot::Sender<Tick>)>,
    closed: bool,
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue").field("jobs", &self.jobs.len()).field("closed", &self.closed).finish()
    }
}

type Reply = oneshot::Sender<StoreResult<Timestamp>>;

struct Job {
    body: Bytes,
    rows: Vec<Arc<RowChange>>,
    tables: Vec<Arc<Table>>,
    written: WrittenRows,
    since: Option<Timestamp>,
    validate: Vec<(TableId, KeyRange)>,
    /// The load that ends with it.
    load: Option<EndedLoad>,
    then: Option<OnVisible>,
    reply: Reply,
    _gates: Vec<OwnedRwLockReadGuard<()>>,
    came: Instant,
}

/// A job whose record is being written.
struct Accepted {
    rows: Vec<Arc<RowChange>>,
    load: Option<StoredLoad>,
    then: Option<OnVisible>,
    reply: Option<Reply>,
    came: Instant,
    _gates: Vec<OwnedRwLockReadGuard<()>>,
}

struct Group {
    tick: Tick,
    jobs: Vec<Accepted>,
    /// What is written again, in place of jobs.
    again: Changes,
    bytes: usize,
    written: Option<Appended>,
}

impl Core {
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        options: HbaseOptions,
        client: Client,
        handle: Handle,
        log: Log,
        tables: Tables,
        loads: Loads,
        pending: Pending,
        last: Tick,
    ) -> Core {
        let live = Arc::new(Live::default());
        Core {
            admin: client.admin(),
            newest: RwLock::new(View::publish(&live, last, options.clock.now_us())),
            window: Mutex::new(CommitWindow::new(last.timestamp())),
            tables: RwLock::new(Arc::new(tables)),
            loads,
            pending: RwLock::new(pending),
            arrived: Notify::new(),
            left: Notify::new(),
            room: Notify::new(),
            counters: Counters::default(),
            being_written: Mutex::new(None),
            last_tick: AtomicU64::new(last.0),
            quiet: tokio::sync::RwLock::default(),
            trimmed_to: AtomicU64::new(u64::MAX),
            making: Mutex::default(),
            lacking_codecs: Mutex::default(),
            queue: Mutex::default(),
            queued: Notify::new(),
            lost: AtomicBool::new(false),
            options,
            client,
            handle,
            log,
            live,
        }
    }

    pub fn view(&self) -> Arc<View> {
        Arc::clone(&self.newest.read())
    }

    pub fn tables(&self) -> Arc<Tables> {
        Arc::clone(&self.tables.read())
    }

    /// # Errors
    /// [`StoreError::NoSuchTable`].
    pub fn table(&self, id: TableId) -> StoreResult<Arc<Table>> {
        self.tables.read().existing(id).map(Arc::clone)
    }

    pub fn snapshot(&self) -> HbaseSnapshot {
        let view = self.view();
        let taken_us = self.options.clock.now_us().max(view.published_us);
        HbaseSnapshot { tick: view.tick, taken_us, seen_ms: taken_us / 1000, view }
    }

    /// # Errors
    /// [`StoreError::Unavailable`] once another process is the owner.
    pub fn check_owner(&self) -> StoreResult<()> {
        if self.lost.load(Ordering::Acquire) { Err(not_owner()) } else { Ok(()) }
    }

    /// Another process is the owner: nothing is written any more, and nothing read.
    pub fn lose(&self) {
        if !self.lost.swap(true, Ordering::AcqRel) {
            tracing::error!("another process has taken over namespace {}: this one stops", self.options.namespace);
        }
        self.queued.notify_one();
        self.arrived.notify_one();
        self.left.notify_waiters();
    }

    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    pub fn close(&self) {
        self.queue.lock().closed = true;
        self.queued.notify_one();
    }

    /// Up to which time all commits are in their tables.
    pub fn applied(&self) -> Tick {
        let being_written = *self.being_written.lock();
        // In this order: what is published meanwhile is in one of them.
        let published = self.view().tick;
        let oldest = [being_written, self.pending.read().oldest_record()].into_iter().flatten().min();
        oldest.map_or(published, |oldest| Tick(oldest.0 - 1).min(published))
    }

    /// Queues a commit and waits for the answer.
    ///
    /// # Errors
    /// As [`stoa_store::Store::commit`].
    pub async fn commit(
        &self,
        mutations: &stoa_store::Mutations,
        since: Option<Timestamp>,
        validate: &[(TableId, KeyRange)],
        then: Option<OnVisible>,
    ) -> StoreResult<Timestamp> {
        loop {
            self.check_owner()?;
            let tables = self.tables();
            for (table, _) in validate {
                tables.existing(*table)?;
            }
            let EncodedCommit { body, rows, tables, written } = EncodedCommit::new(mutations, &tables)?;
            if body.len() > COMMIT_BYTES {
                let (size, limit) = (body.len() as u64, COMMIT_BYTES as u64);
                return Err(StoreError::TooLarge { what: "a commit", size, limit });
            }
            let mut in_order = tables.clone();
            in_order.sort_by_key(|table| table.id());
            let mut gates = Vec::with_capacity(in_order.len());
            for table in &in_order {
                gates.push(Arc::clone(&table.gate).read_owned().await);
            }
            let now = self.tables();
            if !tables.iter().all(|table| now.has(table)) {
                continue;
            }
            let (reply, answer) = oneshot::channel();
            let validate = validate.to_vec();
            let came = Instant::now();
            self.queue(Job { body, rows, tables, written, since, validate, load: None, then, reply, _gates: gates, came })?;
            return answer.await.unwrap_or_else(|_| Err(unknown("the store was closed")));
        }
    }

    fn queue(&self, job: Job) -> StoreResult<()> {
        let mut queue = self.queue.lock();
        if queue.closed {
            return Err(closed());
        }
        queue.jobs.push_back(job);
        drop(queue);
        self.queued.notify_one();
        Ok(())
    }

    /// A time for the rows of a load into these tables: no commit has it, and no reader sees what stands at it until the load has ended.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if another process is the owner, or the store is closed.
    pub async fn begin_load(&self, tables: Arc<[TableId]>) -> StoreResult<Tick> {
        self.check_owner()?;
        let (reply, answer) = oneshot::channel();
        self.queue.lock().begins.push((tables, reply));
        self.queued.notify_one();
        answer.await.map_err(|_| closed())
    }

    /// Commits a load whose rows are in HBase, together with changes that it could not put there: a body of [`crate::changes`].
    ///
    /// # Errors
    /// As [`stoa_store::Store::commit`].
    pub async fn end_load(
        &self,
        load: EndedLoad,
        body: Bytes,
        tables: Vec<Arc<Table>>,
        gates: Vec<OwnedRwLockReadGuard<()>>,
    ) -> StoreResult<Timestamp> {
        let _not_quiet = self.quiet.read().await;
        self.check_owner()?;
        let rows = decode(&body).map_err(StoreError::Corruption)?.into_iter().map(Arc::new).collect();
        let (reply, answer) = oneshot::channel();
        let (since, validate, written, came) = (None, Vec::new(), WrittenRows::default(), Instant::now());
        self.queue(Job { body, rows, tables, written, since, validate, load: Some(load), then: None, reply, _gates: gates, came })?;
        answer.await.unwrap_or_else(|_| Err(unknown("the store was closed")))
    }
}

fn closed() -> StoreError {
    StoreError::Unavailable("the store is closed".into())
}

fn not_owner() -> StoreError {
    StoreError::Unavailable("another process has taken the store over".into())
}

fn unknown(message: &str) -> StoreError {
    StoreError::Io { message: message.to_owned(), certainty: Certainty::Unknown }
}

/// The committer's own state.
pub(crate) struct Committer {
    core: Arc<Core>,
    ticks: Ticks,
    sequence: u64,
    /// Rows of the log that nothing is being written to.
    free: Vec<usize>,
    /// Oldest first.
    groups: VecDeque<Group>,
    running: FuturesUnordered<JoinHandle<(Tick, usize, Appended)>>,
    /// Records that are in the log, oldest first, with their sizes and those together.
    records: VecDeque<(Tick, usize)>,
    logged: usize,
    /// No group is started until those that are under way have ended.
    pausing: bool,
}

impl Committer {
    /// `last`: the last time that was given.
    pub fn new(core: Arc<Core>, last: Tick) -> Committer {
        Committer {
            core,
            ticks: Ticks::after(last),
            sequence: 0,
            free: (0..ROWS).rev().collect(),
            groups: VecDeque::new(),
            running: FuturesUnordered::new(),
            records: VecDeque::new(),
            logged: 0,
            pausing: false,
        }
    }

    /// Works until the store is closed or lost.
    pub async fn run(mut self) {
        let core = Arc::clone(&self.core);
        let mut second = tokio::time::interval(std::time::Duration::from_secs(1));
        loop {
            let pause = self.start_groups();
            if core.is_lost() {
                self.give_up();
                if self.groups.is_empty() {
                    return;
                }
            }
            let done = {
                let queue = core.queue.lock();
                queue.closed && queue.jobs.is_empty()
            };
            if done && self.groups.is_empty() {
                return;
            }
            tokio::select! {
                Some(ended) = self.running.next(), if !self.running.is_empty() => {
                    let Ok((tick, row, written)) = ended else { continue };
                    self.free.push(row);
                    self.ended(tick, written);
                    if self.pausing && self.groups.is_empty() {
                        self.write_again();
                    }
                }
                () = core.queued.notified() => {}
                () = core.room.notified() => {}
                () = tokio::time::sleep(pause.unwrap_or_default()), if pause.is_some() => {}
                _ = second.tick() => {
                    self.answer_those_who_waited();
                    self.write_again();
                }
            }
        }
    }

    /// Starts as many groups as there are jobs, rows of the log and times; how long to wait if it is times that are missing.
    fn start_groups(&mut self) -> Option<std::time::Duration> {
        let core = Arc::clone(&self.core);
        if let Some(wait) = self.begin_loads() {
            return Some(wait);
        }
        while !self.pausing && !core.is_lost() && core.pending.read().bytes() < PENDING_BYTES && !core.queue.lock().jobs.is_empty() {
            let row = *self.free.last()?;
            let tick = match self.ticks.next(core.options.clock.now_us() / 1000) {
                Ok(tick) => tick,
                Err(wait) => return Some(wait),
            };
            core.last_tick.store(tick.0, Ordering::Release);
            let (bodies, jobs) = self.next_group(tick);
            if jobs.is_empty() {
                continue;
            }
            let entries: Vec<_> = bodies.iter().map(|(sequence, body)| Entry { tick, sequence: *sequence, body }).collect();
            let record = core.log.encode(tick, &entries);
            self.start(row, Group { tick, jobs, again: Changes::new(), bytes: record.len(), written: None }, record);
        }
        None
    }

    /// Gives times to loads that begin; how long to wait if there is none.
    fn begin_loads(&mut self) -> Option<std::time::Duration> {
        let core = Arc::clone(&self.core);
        let mut queue = core.queue.lock();
        while !queue.begins.is_empty() {
            let tick = match self.ticks.next(core.options.clock.now_us() / 1000) {
                Ok(tick) => tick,
                Err(wait) => return Some(wait),
            };
            core.last_tick.store(tick.0, Ordering::Release);
            let Some((tables, reply)) = queue.begins.pop() else { break };
            // Before any later time is published: whoever may see rows at this one knows of the load.
            core.loads.begin(tick, tables);
            if reply.send(tick).is_err() {
                core.loads.give_up(tick);
            }
        }
        None
    }

    /// Writes the record of a group to a row of the log that is free.
    fn start(&mut self, row: usize, group: Group, record: Bytes) {
        let core = Arc::clone(&self.core);
        let tick = group.tick;
        self.free.retain(|free| *free != row);
        count(&core.counters.log_bytes, record.len() as u64);
        if self.groups.is_empty() {
            *core.being_written.lock() = Some(tick);
        }
        let loads = group.jobs.iter().filter_map(|job| job.load.clone()).collect();
        self.groups.push_back(group);
        let handle = core.handle.clone();
        self.running.push(handle.spawn(async move { (tick, row, core.log.append(row, tick, record, loads).await) }));
    }

    /// Keeps the log short though a region hangs: what it does not take is written again, so that older records can go. Rows go as a
    /// whole, and nothing else is under way, so that a later change of a row never stands in an earlier record.
    fn write_again(&mut self) {
        let core = Arc::clone(&self.core);
        self.pausing = false;
        let applied = core.applied();
        while let Some((_, bytes)) = self.records.pop_front_if(|(tick, _)| *tick <= applied) {
            self.logged -= bytes;
        }
        let now_ms = (core.options.clock.now_us() / 1000).max(core.view().tick.0);
        let hangs = |tick: &Tick| tick.0 + HANGS_MS < now_ms;
        if core.is_lost() || self.logged < core.options.faults.log_bytes.unwrap_or(LOG_BYTES) {
            return;
        }
        let Some(upto) = self.records.iter().map(|(tick, _)| *tick).take_while(hangs).last() else { return };
        if !self.groups.is_empty() {
            self.pausing = true;
            return;
        }
        let Some(row) = self.free.last().copied() else { return };
        let again = core.pending.read().in_records(upto);
        if again.is_empty() {
            return;
        }
        let Ok(tick) = self.ticks.next(core.options.clock.now_us() / 1000) else { return };
        core.last_tick.store(tick.0, Ordering::Release);
        let entries: Vec<_> = again.iter().map(|(tick, change)| Entry { tick: *tick, sequence: 0, body: &change.encoded }).collect();
        let record = core.log.encode(tick, &entries);
        tracing::warn!("{} changes that HBase does not take are written to the log again: {} bytes", again.len(), record.len());
        self.start(row, Group { tick, jobs: Vec::new(), again, bytes: record.len(), written: None }, record);
    }

    /// Takes jobs from the queue and records what they write as written at this time; answers those that conflict.
    fn next_group(&mut self, tick: Tick) -> (Vec<(u64, Bytes)>, Vec<Accepted>) {
        let core = &self.core;
        let at = tick.timestamp();
        let (mut bodies, mut accepted, mut bytes) = (Vec::new(), Vec::new(), 0);
        let mut rows: HashSet<(TableId, Bytes)> = HashSet::new();
        let mut window = core.window.lock();
        loop {
            let mut queue = core.queue.lock();
            let Some(next) = queue.jobs.front() else { break };
            if !accepted.is_empty() {
                let written_twice = || next.rows.iter().any(|row| rows.contains(&(row.table, row.key.clone())));
                // A row has one version at one time.
                if bytes + next.body.len() > GROUP_BYTES || written_twice() {
                    break;
                }
            }
            let Some(mut job) = queue.jobs.pop_front() else { break };
            drop(queue);
            if let Some(since) = job.since
                && (window.any_changed(&job.written, since)
                    || job.validate.iter().any(|(table, range)| window.range_changed(*table, range, since)))
            {
                count(&core.counters.conflicts, 1);
                let _ = job.reply.send(Err(StoreError::Conflict));
                continue;
            }
            for table in &job.tables {
                table.last_change.store(tick.0, Ordering::Release);
            }
            window.record(at, std::mem::take(&mut job.written));
            let load = job.load.take().map(|load| {
                load.ranges.into_iter().for_each(|(table, range)| window.record_range(at, table, range));
                StoredLoad { begin: load.begin, end: Some(tick), tables: load.tables }
            });
            rows.extend(job.rows.iter().map(|row| (row.table, row.key.clone())));
            bytes += job.body.len();
            self.sequence += 1;
            bodies.push((self.sequence, job.body));
            let (rows, reply) = (job.rows, Some(job.reply));
            accepted.push(Accepted { rows, load, then: job.then, reply, came: job.came, _gates: job._gates });
        }
        (bodies, accepted)
    }

    fn ended(&mut self, tick: Tick, written: Appended) {
        if let Some(group) = self.groups.iter_mut().find(|group| group.tick == tick) {
            group.written = Some(written);
        }
        if matches!(written, Appended::NotOwner { .. }) {
            self.core.lose();
        }
        while !self.core.is_lost() && self.groups.front().is_some_and(|group| group.written == Some(Appended::Written)) {
            let Some(group) = self.groups.pop_front() else { break };
            self.publish(group);
        }
    }

    fn publish(&mut self, group: Group) {
        let core = &self.core;
        let Group { tick, mut jobs, again, bytes, .. } = group;
        self.records.push_back((tick, bytes));
        self.logged += bytes;
        let rows: Vec<_> = jobs.iter_mut().flat_map(|job| std::mem::take(&mut job.rows)).collect();
        core.pending.write().insert(tick, rows.into_iter().map(|row| (tick, row)));
        core.pending.write().written_again(&again, tick);
        jobs.iter().filter_map(|job| job.load.as_ref()).for_each(|load| core.loads.end(load.begin, tick));
        core.make_visible(tick);
        // Behind what was published: see `Core::applied`.
        *core.being_written.lock() = self.groups.front().map(|group| group.tick);
        count(&core.counters.commits, jobs.len() as u64);
        count(&core.counters.groups, 1);
        let at = tick.timestamp();
        // First those who wait for what these commits have locked: they have work to do, the others only answer.
        jobs.iter().filter_map(|job| job.then.as_ref()).for_each(|then| then(at));
        for job in jobs {
            if let Some(reply) = job.reply {
                let _ = reply.send(Ok(at));
            }
        }
        core.arrived.notify_one();
    }

    /// Tells callers that have waited long that the cluster does not answer. What is being written goes on.
    fn answer_those_who_waited(&mut self) {
        let timeout = self.core.options.commit_timeout;
        let mut queue = self.core.queue.lock();
        while queue.jobs.front().is_some_and(|job| job.came.elapsed() > timeout) {
            let Some(job) = queue.jobs.pop_front() else { break };
            let _ = job.reply.send(Err(StoreError::Unavailable("HBase does not take commits".into())));
        }
        drop(queue);
        for job in self.groups.iter_mut().flat_map(|group| &mut group.jobs).filter(|job| job.came.elapsed() > timeout) {
            if let Some(reply) = job.reply.take() {
                let _ = reply.send(Err(unknown("HBase does not say whether it took the commit")));
            }
        }
    }

    /// The log is another's: answers all that wait, as far as it is known what becomes of them.
    fn give_up(&mut self) {
        self.core.queue.lock().begins.clear();
        for job in std::mem::take(&mut self.core.queue.lock().jobs) {
            let _ = job.reply.send(Err(not_owner()));
        }
        self.groups.retain_mut(|group| {
            let error = match group.written {
                None => return true,
                Some(Appended::NotOwner { certain: true }) => not_owner(),
                Some(_) => unknown("another process has taken the store over while the commit was written"),
            };
            for job in &mut group.jobs {
                if let Some(reply) = job.reply.take() {
                    let _ = reply.send(Err(error.clone()));
                }
            }
            false
        });
    }
}

impl Core {
    /// Publishes a time: all up to it is in `pending`, or applied.
    fn make_visible(&self, tick: Tick) {
        let view = View::publish(&self.live, tick, self.options.clock.now_us());
        let old = std::mem::replace(&mut *self.newest.write(), view);
        drop(old);
        let oldest = self.live.oldest().unwrap_or(tick);
        self.window.lock().forget(oldest.timestamp());
    }
}
