//! Iterators over RocksDB, and the pool of those of short reads.
//!
//! Making an iterator costs more than the seek of a short read. So those of short reads are kept when they are done, and take other
//! bounds for the next read, as MyRocks does. An iterator reads at a sequence number: one that rests serves the view that it was made
//! for, or is refreshed, which needs that nothing was written behind the view that asks for it.
//!
//! What an iterator reads is pinned: memtables, files, blocks. Few are pooled, none that has read ahead, and none for longer than two rounds of the janitor since it
//! was made or refreshed.
//!
//! What every `unsafe` here rests on: the database outlives its iterators (an [`OwnedIterator`] holds an `Arc` of it, those in the pool
//! lie in it), and the bounds that RocksDB points to are bytes on the heap that change only together with its pointers.

use crate::database::{ColumnFamily, Database, RocksSnapshot, take_error};
use librocksdb_sys as ffi;
use parking_lot::Mutex;
use rocksdb::{AsColumnFamilyRef, AsRawPtr};
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use stoa_store::{Certainty, StoreResult};

/// Iterators that are pooled at once, of all column families.
const MAX_POOLED: usize = 32;

/// Steps after which a read was not short: its iterator has begun to read ahead, and keeps the memory for it.
const MAX_STEPS: u32 = 256;

/// `ReadTier::kMemtableTier`.
const MEMTABLE_TIER: i32 = 3;

/// How an iterator is made. Without a snapshot it reads what is newest.
#[derive(Default)]
pub(crate) struct IteratorOptions<'a> {
    pub snapshot: Option<&'a RocksSnapshot>,
    /// Physical keys, the upper exclusive.
    pub bounds: Option<(Vec<u8>, Vec<u8>)>,
    /// Blocks that are read do not go to the cache.
    pub keep_cache: bool,
    /// Bytes that are read ahead of a scan; 0 leaves it to RocksDB.
    pub readahead: usize,
    /// Goes over the rows of families that have a filter on rows.
    pub total_order: bool,
    /// Stays within the row that it is put on.
    pub one_row: bool,
    /// Only what is not yet flushed.
    pub memory_only: bool,
}

/// An iterator without its database.
struct RawIterator {
    inner: NonNull<ffi::rocksdb_iterator_t>,
    options: NonNull<ffi::rocksdb_readoptions_t>,
    /// What `options` points to.
    bounds: Option<(Vec<u8>, Vec<u8>)>,
}

// SAFETY: RocksDB's iterators may be used by one thread after the other; all use takes `&mut self`, or reads what only that changes.
unsafe impl Send for RawIterator {}
// SAFETY: see above: shared references only read the entry that it stands on.
unsafe impl Sync for RawIterator {}

impl Drop for RawIterator {
    fn drop(&mut self) {
        // SAFETY: both are alive and not used any more; the iterator goes first, for it may look at its options.
        unsafe {
            ffi::rocksdb_iter_destroy(self.inner.as_ptr());
            ffi::rocksdb_readoptions_destroy(self.options.as_ptr());
        }
    }
}

impl RawIterator {
    /// It must be dropped before the database of `column_family`.
    fn new(column_family: &ColumnFamily, options: IteratorOptions<'_>) -> Self {
        // SAFETY: the calls that create never give null; the options live as long as the iterator; the bounds are kept; the snapshot
        // is looked at when the iterator is made, and its holder keeps it while the iterator reads.
        unsafe {
            let raw = ffi::rocksdb_readoptions_create();
            if let Some(snapshot) = options.snapshot {
                ffi::rocksdb_readoptions_set_snapshot(raw, snapshot.as_ptr());
            }
            ffi::rocksdb_readoptions_set_fill_cache(raw, u8::from(!options.keep_cache));
            ffi::rocksdb_readoptions_set_readahead_size(raw, options.readahead);
            ffi::rocksdb_readoptions_set_total_order_seek(raw, u8::from(options.total_order));
            ffi::rocksdb_readoptions_set_prefix_same_as_start(raw, u8::from(options.one_row));
            if options.memory_only {
                ffi::rocksdb_readoptions_set_read_tier(raw, MEMTABLE_TIER);
            }
            ffi::rocksdb_readoptions_set_background_purge_on_iterator_cleanup(raw, 1);
            set_bounds(raw, options.bounds.as_ref());
            let database = column_family.database().db.as_raw_ptr();
            let inner = ffi::rocksdb_create_iterator_cf(database, raw, column_family.handle.inner());
            Self { inner: NonNull::new_unchecked(inner), options: NonNull::new_unchecked(raw), bounds: options.bounds }
        }
    }
}

/// # Safety
/// The options are alive, and the bounds are kept as they are for as long as an iterator with these options is moved.
unsafe fn set_bounds(options: *mut ffi::rocksdb_readoptions_t, bounds: Option<&(Vec<u8>, Vec<u8>)>) {
    let Some((lower, upper)) = bounds else { return };
    // SAFETY: the caller's.
    unsafe {
        ffi::rocksdb_readoptions_set_iterate_lower_bound(options, lower.as_ptr().cast(), lower.len());
        ffi::rocksdb_readoptions_set_iterate_upper_bound(options, upper.as_ptr().cast(), upper.len());
    }
}

/// What of an iterator must be known to use it for another read.
#[derive(Clone, Copy, Debug)]
struct Lease {
    /// RocksDB's number of the column family.
    column_family: u32,
    /// The view whose entries it reads.
    view: u64,
    /// It has a snapshot of its view, and can't be refreshed.
    bound: bool,
    /// When it was made or refreshed, in rounds of the janitor.
    round: u32,
}

/// An iterator that keeps its database open. It stands nowhere until it is put somewhere.
pub(crate) struct OwnedIterator {
    raw: RawIterator,
    valid: bool,
    /// Since it was made, or has rested.
    steps: u32,
    /// Where it ends, on either side, short of its bounds.
    pub part: Option<(Vec<u8>, Vec<u8>)>,
    /// It may go to the pool when it is done.
    lease: Option<Lease>,
    database: Arc<Database>,
}

impl OwnedIterator {
    pub fn new(column_family: &ColumnFamily, options: IteratorOptions<'_>) -> Self {
        Self {
            raw: RawIterator::new(column_family, options),
            valid: false,
            steps: 0,
            part: None,
            lease: None,
            database: Arc::clone(column_family.database()),
        }
    }

    /// For a short read of a view: one of the pool, or one that goes there when [`OwnedIterator::release`] is called. The view must be
    /// held for as long as it reads.
    pub fn for_short_read(column_family: &ColumnFamily, view: u64, snapshot: &RocksSnapshot, bounds: (Vec<u8>, Vec<u8>)) -> Self {
        let database = column_family.database();
        if let Some((mut raw, lease)) = database.iterator_pool.take(database, column_family.number, view, snapshot) {
            // SAFETY: the iterator is moved only after this, and keeps the bounds.
            unsafe { set_bounds(raw.options.as_ptr(), Some(&bounds)) };
            raw.bounds = Some(bounds);
            return Self { raw, valid: false, steps: 0, part: None, lease: Some(lease), database: Arc::clone(database) };
        }
        let round = database.iterator_pool.round.load(Ordering::Relaxed);
        let lease = |bound| Some(Lease { column_family: column_family.number, view, bound, round });
        // It reads at the snapshot without holding it if nothing is written meanwhile; so it can be refreshed for a later view.
        let bounds = if database.is_newest(snapshot) {
            let mut out = Self::new(column_family, IteratorOptions { bounds: Some(bounds), ..IteratorOptions::default() });
            if database.is_newest(snapshot) {
                out.lease = lease(false);
                return out;
            }
            out.raw.bounds.take()
        } else {
            Some(bounds)
        };
        let mut out = Self::new(column_family, IteratorOptions { snapshot: Some(snapshot), bounds, ..IteratorOptions::default() });
        out.lease = lease(true);
        out
    }

    /// Keeps it for another read, if it is of those that may be kept, and the read was short.
    pub fn release(self) {
        if let Some(lease) = self.lease
            && self.steps <= MAX_STEPS
        {
            self.database.iterator_pool.put(self.raw, lease);
        }
    }

    #[inline]
    fn moved(&mut self) {
        // SAFETY: the iterator is alive.
        self.valid = unsafe { ffi::rocksdb_iter_valid(self.raw.inner.as_ptr()) != 0 };
    }

    /// To the first entry at or behind a key.
    pub fn seek(&mut self, key: &[u8]) {
        // SAFETY: the iterator is alive, the key is copied.
        unsafe { ffi::rocksdb_iter_seek(self.raw.inner.as_ptr(), key.as_ptr().cast(), key.len()) };
        self.moved();
    }

    /// To the last entry at or before a key.
    pub fn seek_for_prev(&mut self, key: &[u8]) {
        // SAFETY: as in `seek`.
        unsafe { ffi::rocksdb_iter_seek_for_prev(self.raw.inner.as_ptr(), key.as_ptr().cast(), key.len()) };
        self.moved();
    }

    pub fn seek_to_first(&mut self) {
        // SAFETY: the iterator is alive.
        unsafe { ffi::rocksdb_iter_seek_to_first(self.raw.inner.as_ptr()) };
        self.moved();
    }

    pub fn seek_to_last(&mut self) {
        // SAFETY: the iterator is alive.
        unsafe { ffi::rocksdb_iter_seek_to_last(self.raw.inner.as_ptr()) };
        self.moved();
    }

    #[inline]
    pub fn next(&mut self) {
        if self.valid {
            // SAFETY: the iterator is alive and stands on an entry.
            unsafe { ffi::rocksdb_iter_next(self.raw.inner.as_ptr()) };
            self.steps = self.steps.saturating_add(1);
            self.moved();
        }
    }

    #[inline]
    pub fn prev(&mut self) {
        if self.valid {
            // SAFETY: the iterator is alive and stands on an entry.
            unsafe { ffi::rocksdb_iter_prev(self.raw.inner.as_ptr()) };
            self.steps = self.steps.saturating_add(1);
            self.moved();
        }
    }

    #[inline]
    pub fn key(&self) -> Option<&[u8]> {
        // SAFETY: it stands on an entry, whose bytes stay until it is moved, which takes `&mut self`.
        self.valid.then(|| unsafe { bytes_of(ffi::rocksdb_iter_key_slice(self.raw.inner.as_ptr())) })
    }

    #[inline]
    pub fn value(&self) -> Option<&[u8]> {
        // SAFETY: as in `key`.
        self.valid.then(|| unsafe { bytes_of(ffi::rocksdb_iter_value_slice(self.raw.inner.as_ptr())) })
    }

    /// Key and value.
    #[inline]
    pub fn item(&self) -> Option<(&[u8], &[u8])> {
        Some((self.key()?, self.value()?))
    }

    /// Whether it stands on an entry of its part; an error if it stopped for one.
    #[inline]
    pub fn check(&self) -> StoreResult<bool> {
        if let Some(key) = self.key() {
            return Ok(self.reaches(key));
        }
        let mut error = null_mut();
        // SAFETY: the iterator is alive; the error is freed where it is taken.
        unsafe {
            ffi::rocksdb_iter_get_error(self.raw.inner.as_ptr(), &raw mut error);
            take_error(error, Certainty::NotDone)?;
        }
        Ok(false)
    }

    /// Whether a key lies in the part that is read.
    #[inline]
    pub fn reaches(&self, key: &[u8]) -> bool {
        self.part.as_ref().is_none_or(|(lower, upper)| key >= lower.as_slice() && key < upper.as_slice())
    }
}

/// # Safety
/// The slice is of live bytes.
unsafe fn bytes_of<'a>(slice: ffi::rocksdb_slice_t) -> &'a [u8] {
    if slice.size == 0 {
        return &[];
    }
    // SAFETY: the caller's; an empty slice may have no bytes.
    unsafe { std::slice::from_raw_parts(slice.data.cast(), slice.size) }
}

/// The pooled iterators of one database, in which they lie. A later one has been there for less time.
#[derive(Default)]
pub(crate) struct IteratorPool {
    iterators: Mutex<Vec<(RawIterator, Lease)>>,
    round: AtomicU32,
}

impl IteratorPool {
    fn take(&self, database: &Database, column_family: u32, view: u64, snapshot: &RocksSnapshot) -> Option<(RawIterator, Lease)> {
        let mut iterators = self.iterators.lock();
        let of_family = |(_, lease): &(RawIterator, Lease)| lease.column_family == column_family;
        if let Some(at) = iterators.iter().rposition(|i| of_family(i) && i.1.view == view) {
            return Some(iterators.remove(at));
        }
        let at = iterators.iter().rposition(|i| of_family(i) && !i.1.bound)?;
        if !database.is_newest(snapshot) {
            return None;
        }
        let (raw, lease) = iterators.remove(at);
        drop(iterators);
        let round = self.round.load(Ordering::Relaxed);
        let mut error = null_mut();
        // SAFETY: the iterator is alive, and so are its bounds; the error is freed where it is taken.
        let refreshed = unsafe {
            ffi::rocksdb_iter_refresh(raw.inner.as_ptr(), &raw mut error);
            take_error(error, Certainty::NotDone)
        };
        // It reads at the snapshot if that was the newest before and behind it.
        (refreshed.is_ok() && database.is_newest(snapshot)).then_some((raw, Lease { view, round, ..lease }))
    }

    fn put(&self, raw: RawIterator, lease: Lease) {
        if is_over(lease, self.round.load(Ordering::Relaxed)) {
            return;
        }
        let mut iterators = self.iterators.lock();
        // Dropped behind the lock.
        let _oldest = (iterators.len() >= MAX_POOLED).then(|| iterators.remove(0));
        iterators.push((raw, lease));
        drop(iterators);
    }

    /// A round of the janitor: those that were made or refreshed before the last one go.
    pub fn retire(&self) {
        let round = self.round.fetch_add(1, Ordering::Relaxed) + 1;
        let old: Vec<_> = self.iterators.lock().extract_if(.., |(_, lease)| is_over(*lease, round)).collect();
        drop(old);
    }

    /// How many there are.
    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.iterators.lock().len()
    }
}

fn is_over(lease: Lease, round: u32) -> bool {
    round.wrapping_sub(lease.round) > 1
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use crate::view::LsmSnapshot;
    use crate::{LsmOptions, LsmStore};
    use std::sync::Arc;
    use stoa_store::conformance::{Rows, block_on};
    use stoa_store::{
        Commit, Durability, FamilyId, FamilyOptions, FamilySchema, KeyRange, Mutations, ReadSpec, ScanSpec, Snapshot, Store, TableId,
        TableSchema,
    };

    const F: FamilyId = FamilyId(0);

    fn store(directory: &std::path::Path) -> LsmStore {
        let store = LsmStore::open(directory, LsmOptions::default()).unwrap();
        for id in [1, 2] {
            let family = FamilySchema { id: F, name: "f".into(), options: FamilyOptions::default() };
            let schema = TableSchema { id: TableId(id), name: "t".into(), families: vec![family], split_points: vec![] };
            block_on(store.create_table(&schema)).unwrap();
        }
        store
    }

    fn put(store: &LsmStore, table: u32, key: &str, value: &str) {
        let mut mutations = Mutations::new();
        mutations.put(TableId(table), key.as_bytes(), F, b"", value.as_bytes());
        block_on(store.commit(Commit { mutations: &mutations, snapshot: None, validate: &[], durability: Durability::Relaxed })).unwrap();
    }

    /// Keys and values of a range, as `key=value`.
    fn read(store: &LsmStore, snapshot: Arc<dyn Snapshot>, table: u32, from: &str, to: &str, reverse: bool) -> String {
        let read = ReadSpec { table: TableId(table), families: vec![F], qualifiers: None, versions: 1, time_range: None, snapshot };
        let range = KeyRange::new(from.as_bytes().to_vec(), Some(to.as_bytes().to_vec()));
        let mut scan = block_on(store.scan(ScanSpec { read, range, reverse, limit: None, fill_cache: true })).unwrap();
        let mut rows = Rows::default();
        while block_on(scan.next_block(2, &mut rows)).unwrap() {}
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        rows.rows.iter().map(|row| format!("{}={}", text(&row.0), text(&row.1[0].value))).collect::<Vec<_>>().join(" ")
    }

    fn iterator_pool(store: &LsmStore) -> usize {
        let snapshot = store.snapshot();
        LsmSnapshot::of(&snapshot).unwrap().view.snapshot.database().iterator_pool.count()
    }

    #[test]
    fn an_iterator_thiterator_pooled_reads_the_view_that_asks() {
        let directory = tempfile::tempdir().unwrap();
        let store = store(directory.path());
        for (table, key) in [(1, "a"), (1, "b"), (1, "d"), (2, "c")] {
            put(&store, table, key, "1");
        }
        let old = store.snapshot();
        assert_eq!(read(&store, old.clone(), 1, "a", "z", false), "a=1 b=1 d=1");
        assert_eq!(read(&store, old.clone(), 2, "a", "z", false), "c=1");
        assert!(iterator_pool(&store) <= 1, "one after the other has used it");
        // Narrower, wider, backwards, to its right and to its left.
        for (from, to, reverse, rows) in [
            ("b", "c", false, "b=1"),
            ("a", "z", true, "d=1 b=1 a=1"),
            ("c", "z", false, "d=1"),
            ("a", "b", true, "a=1"),
            ("a", "a", false, ""),
        ] {
            assert_eq!(read(&store, old.clone(), 1, from, to, reverse), rows, "{from} {to} {reverse}");
        }
        put(&store, 1, "b", "2");
        put(&store, 1, "c", "2");
        let new = store.snapshot();
        for flush in [false, true] {
            assert_eq!(read(&store, new.clone(), 1, "a", "z", false), "a=1 b=2 c=2 d=1");
            assert_eq!(read(&store, old.clone(), 1, "a", "z", false), "a=1 b=1 d=1");
            assert_eq!(read(&store, new.clone(), 1, "b", "d", true), "c=2 b=2");
            assert_eq!(read(&store, old.clone(), 1, "b", "d", true), "b=1");
            if !flush {
                block_on(store.compact(TableId(1))).unwrap();
                put(&store, 2, "c", "3");
            }
        }
        drop((old, new));
        // The iterators of views that are gone are of no use to any other.
        put(&store, 1, "a", "4");
        assert_eq!(read(&store, store.snapshot(), 1, "a", "c", false), "a=4 b=2");
        assert_eq!(read(&store, store.snapshot(), 2, "", "z", false), "c=3");
    }

    #[test]
    fn scans_at_the_same_time_have_iterators_of_their_own_and_few_rest() {
        let directory = tempfile::tempdir().unwrap();
        let store = store(directory.path());
        for key in ["a", "b", "c"] {
            put(&store, 1, key, "1");
        }
        let open = |store: &LsmStore| {
            let snapshot = store.snapshot();
            let read = ReadSpec { table: TableId(1), families: vec![F], qualifiers: None, versions: 1, time_range: None, snapshot };
            block_on(store.scan(ScanSpec { read, range: KeyRange::all(), reverse: false, limit: None, fill_cache: true })).unwrap()
        };
        let mut scans: Vec<_> = (0..2 * super::MAX_POOLED).map(|_| open(&store)).collect();
        for _ in 0..3 {
            for scan in &mut scans {
                let mut rows = Rows::default();
                block_on(scan.next_block(1, &mut rows)).unwrap();
                assert_eq!(rows.rows.len(), 1);
            }
        }
        drop(scans);
        assert!(iterator_pool(&store) <= super::MAX_POOLED);
    }

    #[test]
    fn that_of_a_long_read_does_not_rest() {
        let directory = tempfile::tempdir().unwrap();
        let store = store(directory.path());
        for key in 0..=super::MAX_STEPS + 1 {
            put(&store, 1, &format!("{key:05}"), "1");
        }
        let count = |to: &str| read(&store, store.snapshot(), 1, "0", to, false).split(' ').count();
        assert_eq!(count("1"), super::MAX_STEPS as usize + 2);
        assert_eq!(iterator_pool(&store), 0);
        assert_eq!(count("00002"), 2);
        assert!(iterator_pool(&store) <= 1);
    }

    #[test]
    fn none_rests_for_long() {
        let directory = tempfile::tempdir().unwrap();
        let store = store(directory.path());
        put(&store, 1, "a", "1");
        let snapshot = store.snapshot();
        let iterator_pool = &LsmSnapshot::of(&snapshot).unwrap().view.snapshot.database().iterator_pool;
        assert_eq!(read(&store, snapshot.clone(), 1, "a", "b", false), "a=1");
        iterator_pool.retire();
        // Used again, but not made again.
        assert_eq!(read(&store, snapshot.clone(), 1, "a", "b", false), "a=1");
        iterator_pool.retire();
        assert_eq!(iterator_pool.count(), 0);
        assert_eq!(read(&store, snapshot.clone(), 1, "a", "b", false), "a=1");
    }
}
