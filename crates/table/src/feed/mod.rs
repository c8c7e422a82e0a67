//! The change feed: which rows changed, by commit, for whatever is derived from tables.
//!
//! A commit that changes rows of a *followed* table writes, in the same commit, one record with the keys of those rows. Readers follow
//! it and say how far they are; what all of them have passed is removed. Tables that nobody follows pay one look at a flag.
//!
//! ```text
//! FEED_TABLE   key  table u32 be | at u64 be | number u64 be | chunk u32 be      cell  see [`record`]
//! ```
//!
//! `at` is a time before the commit: the newest commit that the writer knew. The commit's own time is the cell's timestamp.
//!
//! A structure that is right as of time T answers at snapshot S with its own answer, minus the keys that changed between T and S
//! (whichever is later), plus those rows evaluated at S. [`Feed::changed`] gives a superset of those keys: more is right as well.
//! Records of this process are in memory, from before their commit is sent until some time after all readers have passed it.
//!
//! Invariant: a commit that a snapshot sees is among the entries in memory, unless it is at or below the table's floor.

pub mod record;

use crate::catalog::store::FEED_TABLE;
use crate::failure::store_error;
use crate::row::KeyList;
use parking_lot::RwLock;
use std::collections::{HashMap, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use stoa_pg::PgResult;
use stoa_store::{
    CellRef, Commit, Durability, FamilyId, FamilyOptions, FamilySchema, KeyRange, Mutations, ReadSpec, ScanSpec, Store, TableId,
    TableSchema, Timestamp,
};
use tokio::sync::Notify;

const FEED_FAMILY: FamilyId = FamilyId(0);

/// How long entries stay in memory for snapshots older than what readers have reached.
const KEPT: Duration = Duration::from_secs(60);
/// Bytes of such entries.
const KEPT_BYTES: usize = 64 << 20;
/// Keys that the slowest reader may be behind before writers wait for it.
const MAX_BEHIND: usize = 400_000;
/// How long a writer waits at most: a reader that is stuck must not stop all writing.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

const IN_FLIGHT: u64 = 0;
const UNDONE: u64 = u64::MAX;

/// What one commit changed in one table.
#[derive(Debug)]
pub struct Entry {
    at: Timestamp,
    number: u64,
    chunks: u32,
    pub keys: KeyList,
    /// When it was committed; [`IN_FLIGHT`] until that is known.
    committed: AtomicU64,
    made: Instant,
}

impl Entry {
    fn time(&self) -> Option<Timestamp> {
        match self.committed.load(Ordering::Acquire) {
            IN_FLIGHT | UNDONE => None,
            at => Some(Timestamp(at)),
        }
    }

    fn is_undone(&self) -> bool {
        self.committed.load(Ordering::Acquire) == UNDONE
    }

    fn bytes(&self) -> usize {
        self.keys.iter().map(<[u8]>::len).sum::<usize>() + 8 * self.keys.len() + 96
    }
}

/// A reader of one table's changes, by a number of its own choice.
pub type ReaderId = u32;

#[derive(Debug, Default)]
struct TableFeed {
    /// Those that some reader has not passed, and those under way.
    entries: VecDeque<Arc<Entry>>,
    /// Those that all readers have passed and old snapshots may still ask for.
    old: VecDeque<Arc<Entry>>,
    old_bytes: usize,
    /// All readers had passed this when `old` was last filled.
    passed: Timestamp,
    /// Entries at or below may be missing.
    floor: Timestamp,
    /// How far each reader is.
    readers: HashMap<ReaderId, Timestamp>,
    /// Keys in `entries`.
    behind: usize,
}

impl TableFeed {
    /// Moves what all readers have passed aside; gives what can go from the store.
    fn retire(&mut self) -> Vec<Arc<Entry>> {
        let passed = self.readers.values().copied().min().unwrap_or(Timestamp(u64::MAX));
        self.passed = self.passed.max(passed);
        let mut gone = Vec::new();
        let mut behind = 0;
        let live = std::mem::take(&mut self.entries);
        for entry in live {
            // One that is under way for so long was lost with the task that sent it: readers have seen its rows since.
            let lost = entry.committed.load(Ordering::Acquire) == IN_FLIGHT && entry.made.elapsed() > 10 * KEPT;
            if entry.is_undone() {
                continue;
            }
            if lost || entry.time().is_some_and(|t| t <= passed) {
                self.old_bytes += entry.bytes();
                self.old.push_back(Arc::clone(&entry));
                gone.push(entry);
            } else {
                behind += entry.keys.len();
                self.entries.push_back(entry);
            }
        }
        self.behind = behind;
        while let Some(first) = self.old.front() {
            if first.made.elapsed() <= KEPT && self.old_bytes <= KEPT_BYTES {
                break;
            }
            self.old_bytes = self.old_bytes.saturating_sub(first.bytes());
            self.floor = self.floor.max(first.time().unwrap_or(self.floor));
            self.old.pop_front();
        }
        gone
    }
}

/// What a transaction has written.
pub trait Written: Sync {
    /// The tables of which rows were written.
    fn tables(&self) -> Vec<TableId>;

    /// The rows of one of them.
    ///
    /// # Errors
    /// They cannot be read.
    fn keys_of(&self, table: TableId) -> PgResult<KeyList>;
}

/// How far readers of a table are behind.
#[derive(Clone, Debug)]
pub struct Lag {
    pub table: TableId,
    pub reader: ReaderId,
    pub position: Timestamp,
    /// Commits and keys that the reader has not seen.
    pub commits: u64,
    pub keys: u64,
    /// Bytes in memory, of all entries of the table.
    pub bytes: u64,
    /// The age of the oldest commit not seen.
    pub age: Duration,
}

/// See the module.
#[derive(Debug)]
pub struct Feed {
    store: Arc<dyn Store>,
    active: AtomicBool,
    tables: RwLock<HashMap<TableId, TableFeed>>,
    next: AtomicU64,
    /// Rung when something was committed.
    pub changes: Notify,
    /// Rung when a reader got on.
    room: Notify,
}

impl Feed {
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Arc<Self> {
        Arc::new(Self {
            store,
            active: AtomicBool::new(false),
            tables: RwLock::default(),
            next: AtomicU64::new(1),
            changes: Notify::new(),
            room: Notify::new(),
        })
    }

    /// Makes the table of records, if there is none.
    ///
    /// # Errors
    /// What the store reports.
    pub async fn prepare(&self) -> PgResult<()> {
        if self.store.describe_table(FEED_TABLE).await.map_err(store_error)?.is_none() {
            let family = FamilySchema { id: FEED_FAMILY, name: "f".into(), options: FamilyOptions::default() };
            let schema = TableSchema { id: FEED_TABLE, name: "feed".into(), families: vec![family], split_points: Vec::new() };
            self.store.create_table(&schema).await.map_err(store_error)?;
        }
        Ok(())
    }

    /// Follows a table from now on. The caller sees to it that no writer of the table is between its writes and their commit.
    pub fn follow(&self, table: TableId, reader: ReaderId) {
        let now = self.store.snapshot().timestamp();
        let mut tables = self.tables.write();
        let feed = tables.entry(table).or_insert_with(|| TableFeed { floor: now, passed: now, ..TableFeed::default() });
        feed.readers.insert(reader, now);
        self.active.store(true, Ordering::Release);
    }

    /// Follows a table after a restart, with the records that the store has: from the time on that a reader had reached, or from now on
    /// for one that has lost what it had. Nothing may be committed before all readers have resumed.
    ///
    /// # Errors
    /// What the store reports; XX001 for records that cannot be read.
    pub async fn resume(&self, table: TableId, reader: ReaderId, position: Option<Timestamp>) -> PgResult<()> {
        let position = position.unwrap_or_else(|| self.store.snapshot().timestamp());
        let known = self.tables.read().contains_key(&table);
        let entries = if known { Vec::new() } else { self.stored(table).await? };
        let mut tables = self.tables.write();
        let feed = tables.entry(table).or_insert_with(|| {
            let behind = entries.iter().map(|e| e.keys.len()).sum();
            TableFeed { entries: entries.into(), floor: position, behind, ..TableFeed::default() }
        });
        // What the store does not have was passed by all readers: it has all that is behind the slowest.
        feed.floor = feed.floor.min(position);
        feed.readers.insert(reader, position);
        self.active.store(true, Ordering::Release);
        Ok(())
    }

    async fn stored(&self, table: TableId) -> PgResult<Vec<Arc<Entry>>> {
        let read = ReadSpec {
            table: FEED_TABLE,
            families: vec![FEED_FAMILY],
            qualifiers: None,
            versions: 1,
            time_range: None,
            snapshot: self.store.snapshot(),
        };
        let spec = ScanSpec { read, range: KeyRange::prefix(&table.0.to_be_bytes()), reverse: false, limit: None, fill_cache: false };
        let mut scan = self.store.scan(spec).await.map_err(store_error)?;
        let mut out: Vec<Arc<Entry>> = Vec::new();
        loop {
            let mut failed = None;
            let mut sink = |key: &[u8], cells: &[CellRef<'_>]| {
                let read = cells.first().map(|cell| record::read(key, cell.value).map(|r| (r, cell.timestamp)));
                match read {
                    Some(Ok((record, time))) => out.push(Arc::new(Entry {
                        at: record.at,
                        number: record.number,
                        chunks: record.chunk + 1,
                        keys: record.keys,
                        committed: AtomicU64::new(time.0),
                        made: Instant::now(),
                    })),
                    Some(Err(error)) => {
                        failed = Some(error);
                        return ControlFlow::Break(());
                    }
                    None => {}
                }
                ControlFlow::Continue(())
            };
            let more = scan.next_block(1024, &mut sink).await.map_err(store_error)?;
            if let Some(error) = failed {
                return Err(error);
            }
            if !more {
                return Ok(out);
            }
        }
    }

    /// Ends the work of a reader. Without readers a table is not followed any more.
    pub fn unfollow(&self, table: TableId, reader: ReaderId) {
        let mut tables = self.tables.write();
        if let Some(feed) = tables.get_mut(&table) {
            feed.readers.remove(&reader);
            if feed.readers.is_empty() {
                tables.remove(&table);
            }
        }
        self.active.store(!tables.is_empty(), Ordering::Release);
        self.room.notify_waiters();
    }

    /// Removes all records of a table that is gone.
    ///
    /// # Errors
    /// What the store reports.
    pub async fn forget(&self, table: TableId) -> PgResult<()> {
        let entries = self.stored(table).await?;
        self.remove(table, &entries, Durability::Relaxed).await
    }

    /// Adds the records of a transaction that is about to be committed. Waits while the readers of its tables are far behind.
    ///
    /// # Errors
    /// The transaction's changes cannot be read.
    pub async fn begin(self: &Arc<Self>, writes: &impl Written, mutations: &mut Mutations) -> PgResult<Option<Ticket>> {
        if !self.active.load(Ordering::Acquire) {
            return Ok(None);
        }
        let touched: Vec<TableId> = {
            let tables = self.tables.read();
            writes.tables().into_iter().filter(|t| tables.contains_key(t)).collect()
        };
        if touched.is_empty() {
            return Ok(None);
        }
        let started = Instant::now();
        loop {
            let room = self.room.notified();
            let behind = {
                let tables = self.tables.read();
                touched.iter().filter_map(|t| tables.get(t)).map(|f| f.behind).max().unwrap_or(0)
            };
            if behind < MAX_BEHIND || started.elapsed() >= LONGEST_WAIT {
                break;
            }
            self.changes.notify_one();
            let _ = tokio::time::timeout(Duration::from_millis(100), room).await;
        }
        let mut entries = Vec::with_capacity(touched.len());
        let lists = touched.into_iter().map(|table| Ok((table, writes.keys_of(table)?))).collect::<PgResult<Vec<_>>>()?;
        // A snapshot taken before the entries are in place cannot see the commit.
        let mut tables = self.tables.write();
        let at = self.store.snapshot().timestamp();
        for (table, keys) in lists {
            let Some(feed) = tables.get_mut(&table) else { continue };
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let chunks = record::write(table, at, number, &keys, |key, value| mutations.put(FEED_TABLE, key, FEED_FAMILY, &[], value));
            let entry = Arc::new(Entry { at, number, chunks, keys, committed: AtomicU64::new(IN_FLIGHT), made: Instant::now() });
            feed.behind += entry.keys.len();
            feed.entries.push_back(Arc::clone(&entry));
            entries.push(entry);
        }
        drop(tables);
        Ok((!entries.is_empty()).then(|| Ticket { feed: Arc::clone(self), entries }))
    }

    /// Entries of commits between two times, in either order, and of those that are under way. `None`: they are not known any more.
    #[must_use]
    pub fn changed(&self, table: TableId, one: Timestamp, other: Timestamp) -> Option<Vec<Arc<Entry>>> {
        let (from, to) = (one.min(other), one.max(other));
        let tables = self.tables.read();
        let feed = tables.get(&table)?;
        if from < feed.floor {
            return None;
        }
        let within = |e: &&Arc<Entry>| !e.is_undone() && e.time().is_none_or(|t| t > from && t <= to);
        let old = if from < feed.passed { feed.old.iter() } else { Default::default() };
        Some(old.chain(&feed.entries).filter(within).cloned().collect())
    }

    /// A reader has everything up to a time, durably. Removes what nobody needs.
    ///
    /// # Errors
    /// What the store reports.
    pub async fn advance(&self, table: TableId, reader: ReaderId, position: Timestamp) -> PgResult<()> {
        let gone: Vec<Arc<Entry>> = {
            let mut tables = self.tables.write();
            let Some(feed) = tables.get_mut(&table) else { return Ok(()) };
            if let Some(own) = feed.readers.get_mut(&reader) {
                *own = position.max(*own);
            }
            feed.retire()
        };
        self.room.notify_waiters();
        self.remove(table, &gone, Durability::Relaxed).await
    }

    async fn remove(&self, table: TableId, entries: &[Arc<Entry>], durability: Durability) -> PgResult<()> {
        const AT_ONCE: usize = 10_000;
        for entries in entries.chunks(AT_ONCE) {
            let mut mutations = Mutations::new();
            for entry in entries {
                for chunk in 0..entry.chunks {
                    mutations.delete_row(FEED_TABLE, &record::key(table, entry.at, entry.number, chunk));
                }
            }
            let commit = Commit { mutations: &mutations, snapshot: None, validate: &[], durability };
            self.store.commit(commit).await.map_err(store_error)?;
        }
        Ok(())
    }

    /// Makes all that was committed so far durable, whatever its transactions asked for: a reader must not be ahead of the store.
    ///
    /// # Errors
    /// What the store reports.
    pub async fn settle(&self, table: TableId, reader: ReaderId) -> PgResult<()> {
        let mut mutations = Mutations::new();
        let key = record::mark_key(table, reader);
        mutations.put(FEED_TABLE, &key, FEED_FAMILY, &[], &[]);
        let commit = Commit { mutations: &mutations, snapshot: None, validate: &[], durability: Durability::Sync };
        self.store.commit(commit).await.map(|_| ()).map_err(store_error)
    }

    /// How far each reader is.
    #[must_use]
    pub fn lag(&self) -> Vec<Lag> {
        let tables = self.tables.read();
        let mut out = Vec::new();
        for (table, feed) in tables.iter() {
            let bytes = feed.entries.iter().map(|e| e.bytes() as u64).sum::<u64>() + feed.old_bytes as u64;
            for (reader, position) in &feed.readers {
                let behind = || feed.entries.iter().filter(|e| !e.is_undone() && e.time().is_none_or(|t| t > *position));
                out.push(Lag {
                    table: *table,
                    reader: *reader,
                    position: *position,
                    commits: behind().count() as u64,
                    keys: behind().map(|e| e.keys.len() as u64).sum(),
                    bytes,
                    age: behind().map(|e| e.made.elapsed()).max().unwrap_or_default(),
                });
            }
        }
        out.sort_by_key(|l| (l.table, l.reader));
        out
    }
}

/// The entries of a commit that is under way. Dropped without an answer, they stay as they are: readers count them as changed.
#[derive(Debug)]
pub struct Ticket {
    feed: Arc<Feed>,
    entries: Vec<Arc<Entry>>,
}

impl Ticket {
    /// The commit is durable and visible.
    pub fn committed(self, at: Timestamp) {
        self.resolve(at.0);
        self.feed.changes.notify_one();
    }

    /// Certainly nothing was written.
    pub fn undone(self) {
        self.resolve(UNDONE);
    }

    fn resolve(&self, value: u64) {
        self.entries.iter().for_each(|e| e.committed.store(value, Ordering::Release));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use stoa_store::model::ModelStore;

    const T: TableId = TableId(77);

    /// Rows of one table.
    struct Rows(Vec<String>);

    impl Written for Rows {
        fn tables(&self) -> Vec<TableId> {
            vec![T]
        }

        fn keys_of(&self, _: TableId) -> PgResult<KeyList> {
            let mut out = KeyList::new();
            self.0.iter().for_each(|key| out.push(key.as_bytes()));
            Ok(out)
        }
    }

    impl Rows {
        fn mutations(&self) -> Mutations {
            let mut out = Mutations::new();
            self.0.iter().for_each(|key| out.put(T, key.as_bytes(), FamilyId(0), &[], b"x"));
            out
        }
    }

    async fn store() -> Arc<dyn Store> {
        let store: Arc<dyn Store> = Arc::new(ModelStore::default());
        let family = FamilySchema { id: FamilyId(0), name: "f".into(), options: FamilyOptions::default() };
        store.create_table(&TableSchema { id: T, name: "t".into(), families: vec![family], split_points: Vec::new() }).await.unwrap();
        store
    }

    async fn commit(store: &Arc<dyn Store>, feed: &Arc<Feed>, keys: &[&str]) -> Timestamp {
        let writes = Rows(keys.iter().map(|key| (*key).to_owned()).collect());
        let mut mutations = writes.mutations();
        let ticket = feed.begin(&writes, &mut mutations).await.unwrap();
        let commit = Commit { mutations: &mutations, snapshot: None, validate: &[], durability: Durability::Sync };
        let at = store.commit(commit).await.unwrap();
        if let Some(ticket) = ticket {
            ticket.committed(at);
        }
        at
    }

    fn keys(entries: Option<Vec<Arc<Entry>>>) -> Option<Vec<String>> {
        let mut out: Vec<String> =
            entries?.iter().flat_map(|e| e.keys.iter().map(|k| String::from_utf8(k.to_vec()).unwrap()).collect::<Vec<_>>()).collect();
        out.sort();
        Some(out)
    }

    #[tokio::test]
    async fn writers_wait_for_a_reader_that_is_far_behind() {
        let store = store().await;
        let feed = Feed::new(Arc::clone(&store));
        feed.prepare().await.unwrap();
        feed.follow(T, 1);
        let many: Vec<String> = (0..MAX_BEHIND).map(|n| format!("{n:07}")).collect();
        let at = commit(&store, &feed, &many.iter().map(String::as_str).collect::<Vec<_>>()).await;
        let (writes, mut mutations) = (Rows(vec!["one more".into()]), Mutations::new());
        let mut waiting = Box::pin(feed.begin(&writes, &mut mutations));
        assert!(futures::poll!(&mut waiting).is_pending());
        feed.advance(T, 1, at).await.unwrap();
        let started = Instant::now();
        assert!(waiting.await.unwrap().is_some());
        assert!(started.elapsed() < LONGEST_WAIT);
    }

    #[tokio::test]
    async fn what_nobody_follows_is_not_recorded() {
        let store = store().await;
        let feed = Feed::new(Arc::clone(&store));
        feed.prepare().await.unwrap();
        commit(&store, &feed, &["a"]).await;
        assert!(feed.stored(T).await.unwrap().is_empty());
        assert!(feed.changed(T, Timestamp(0), Timestamp(9)).is_none());
    }

    #[tokio::test]
    async fn changes_are_known_in_both_directions_and_after_a_restart() {
        let store = store().await;
        let feed = Feed::new(Arc::clone(&store));
        feed.prepare().await.unwrap();
        let before = commit(&store, &feed, &["0"]).await;
        feed.follow(T, 1);
        let one = commit(&store, &feed, &["a", "b"]).await;
        let two = commit(&store, &feed, &["b", "c"]).await;
        assert_eq!(keys(feed.changed(T, before, two)), Some(vec!["a".into(), "b".into(), "b".into(), "c".into()]));
        assert_eq!(keys(feed.changed(T, one, two)), keys(feed.changed(T, two, one)));
        assert_eq!(keys(feed.changed(T, one, two)), Some(vec!["b".into(), "c".into()]));
        assert_eq!(keys(feed.changed(T, two, two)), Some(vec![]));
        assert!(feed.changed(T, Timestamp(1), two).is_none());
        feed.advance(T, 1, one).await.unwrap();
        // An older snapshot still knows what changed.
        assert_eq!(keys(feed.changed(T, before, one)), Some(vec!["a".into(), "b".into()]));

        let again = Feed::new(Arc::clone(&store));
        again.resume(T, 1, Some(one)).await.unwrap();
        assert_eq!(keys(again.changed(T, one, two)), Some(vec!["b".into(), "c".into()]));
        assert!(again.changed(T, before, two).is_none());
        again.advance(T, 1, two).await.unwrap();
        assert!(again.stored(T).await.unwrap().is_empty());
        let lag = again.lag();
        assert_eq!((lag.len(), lag[0].keys, lag[0].position), (1, 0, two));
        again.unfollow(T, 1);
        commit(&store, &again, &["z"]).await;
        assert!(again.stored(T).await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn each_reader_goes_on_from_where_it_was_after_a_restart() {
        let store = store().await;
        let feed = Feed::new(Arc::clone(&store));
        feed.prepare().await.unwrap();
        feed.follow(T, 1);
        let start = store.snapshot().timestamp();
        let one = commit(&store, &feed, &["a"]).await;
        feed.follow(T, 2);
        let two = commit(&store, &feed, &["b"]).await;
        feed.advance(T, 2, two).await.unwrap();
        // In either order, also beside one that begins anew.
        for order in [[(1, Some(start)), (2, Some(two)), (3, None)], [(3, None), (2, Some(two)), (1, Some(start))]] {
            let again = Feed::new(Arc::clone(&store));
            for (reader, position) in order {
                again.resume(T, reader, position).await.unwrap();
            }
            assert_eq!(keys(again.changed(T, start, two)), Some(vec!["a".into(), "b".into()]));
            assert_eq!(keys(again.changed(T, one, two)), Some(vec!["b".into()]));
            assert_eq!(keys(again.changed(T, two, two)), Some(vec![]));
        }
    }

    #[tokio::test]
    async fn a_commit_under_way_counts_as_changed() {
        let store = store().await;
        let feed = Feed::new(Arc::clone(&store));
        feed.prepare().await.unwrap();
        feed.follow(T, 1);
        let now = store.snapshot().timestamp();
        let writes = Rows(vec!["k".into()]);
        let ticket = feed.begin(&writes, &mut writes.mutations()).await.unwrap().unwrap();
        assert_eq!(keys(feed.changed(T, now, now)), Some(vec!["k".into()]));
        ticket.undone();
        assert_eq!(keys(feed.changed(T, now, now)), Some(vec![]));
    }
}
