//! What is read and written of each region since the store was opened: rows, counted by the points at which a table is split, those that were
//! given and those that were found by size.
//!
//! To count costs an addition for a block of a scan, for the keys of a region that are asked for at once, for the rows of a commit; only scans
//! over more than one region look at each key. The counts of a table begin anew together when its regions become others, so that what is
//! compared is of the same time.

use crate::batch::EncodedCommit;
use crate::view::Table;
use parking_lot::RwLock;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use stoa_store::{CellRef, KeyRange, RowSink, StoreResult, TableId, Traffic};

/// The counts of a table, over its alterations.
#[derive(Debug)]
pub(crate) struct TableTraffic {
    counts: RwLock<Arc<Counts>>,
}

impl TableTraffic {
    pub fn new(points: &[Vec<u8>], now_us: u64) -> Arc<Self> {
        Arc::new(Self { counts: RwLock::new(Counts::new(points.to_vec(), now_us)) })
    }

    fn counts(&self) -> Arc<Counts> {
        Arc::clone(&self.counts.read())
    }

    /// What was counted of these regions: nothing if the table had others until now.
    pub fn of_regions(&self, regions: &[KeyRange], now_us: u64) -> Arc<Counts> {
        let points = || regions.iter().skip(1).map(|range| &range.start);
        let counts = self.counts();
        if counts.points.iter().eq(points()) {
            return counts;
        }
        let counts = Counts::new(points().cloned().collect(), now_us);
        *self.counts.write() = Arc::clone(&counts);
        counts
    }

    /// Rows written since the counts began.
    pub fn writes(&self) -> u64 {
        self.counts.read().regions.iter().map(|(_, writes)| writes.load(Ordering::Relaxed)).sum()
    }

    /// Counts keys that are asked for, whether there are rows or not.
    pub fn keys_read(&self, keys: &[&[u8]]) {
        let counts = self.counts.read();
        if counts.points.is_empty() {
            counts.read(0, keys.len() as u64);
            return;
        }
        let mut runs = Runs::default();
        for key in keys {
            if let Some((region, rows)) = runs.next(&counts, key) {
                counts.read(region, rows);
            }
        }
        counts.read(runs.region, runs.rows);
    }
}

/// Rows by region. The points are the starts of all regions but the first.
#[derive(Debug)]
pub(crate) struct Counts {
    points: Vec<Vec<u8>>,
    regions: Vec<(AtomicU64, AtomicU64)>,
    since_us: u64,
}

impl Counts {
    fn new(points: Vec<Vec<u8>>, since_us: u64) -> Arc<Self> {
        let regions = std::iter::repeat_with(Default::default).take(points.len() + 1).collect();
        Arc::new(Self { points, regions, since_us })
    }

    pub fn of(&self, region: usize) -> Option<Traffic> {
        let (reads, writes) = self.regions.get(region)?;
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Some(Traffic { reads: count(reads), writes: count(writes), since_us: Some(self.since_us) })
    }

    fn region_of(&self, key: &[u8]) -> usize {
        self.points.partition_point(|point| point.as_slice() <= key)
    }

    #[inline]
    fn is_in(&self, region: usize, key: &[u8]) -> bool {
        self.points.get(region).is_none_or(|end| key < end.as_slice())
            && region.checked_sub(1).and_then(|before| self.points.get(before)).is_none_or(|start| start.as_slice() <= key)
    }

    /// The region that a range lies in, if it is one.
    fn only_region(&self, range: &KeyRange) -> Option<usize> {
        let region = self.region_of(&range.start);
        let whole = self.points.get(region).is_none_or(|point| range.end.as_ref().is_some_and(|end| end <= point));
        whole.then_some(region)
    }

    fn read(&self, region: usize, rows: u64) {
        if let Some((reads, _)) = self.regions.get(region).filter(|_| rows > 0) {
            reads.fetch_add(rows, Ordering::Relaxed);
        }
    }
}

/// Rows that come one by one, as so many of one region.
#[derive(Debug, Default)]
struct Runs {
    region: usize,
    rows: u64,
}

impl Runs {
    /// Takes a row; gives what came before it if that was of another region.
    #[inline]
    fn next(&mut self, counts: &Counts, key: &[u8]) -> Option<(usize, u64)> {
        if counts.is_in(self.region, key) {
            self.rows += 1;
            return None;
        }
        let done = (self.region, self.rows);
        *self = Runs { region: counts.region_of(key), rows: 1 };
        Some(done)
    }
}

/// Counts the rows that a scan gives.
#[derive(Debug)]
pub(crate) struct ScanTraffic {
    counts: Arc<Counts>,
    /// The region that all of them are in.
    region: Option<usize>,
    reverse: bool,
}

impl ScanTraffic {
    pub fn new(table: &Table, range: &KeyRange, reverse: bool) -> Self {
        let counts = table.traffic.counts();
        Self { region: counts.only_region(range), counts, reverse }
    }

    /// The scan goes to a part of its range.
    pub fn restrict_to(&mut self, part: &KeyRange) {
        self.region = self.counts.only_region(part);
    }

    /// Reads a block of rows, which says how many it has given.
    pub fn block(&self, sink: &mut dyn RowSink, read: impl FnOnce(&mut dyn RowSink) -> StoreResult<u64>) -> StoreResult<u64> {
        if let Some(region) = self.region {
            let rows = read(sink)?;
            self.counts.read(region, rows);
            return Ok(rows);
        }
        let mut sink = Crossing { sink, counts: &self.counts, reverse: self.reverse, region: 0, rows: 0, bound: None };
        let rows = read(&mut sink);
        self.counts.read(sink.region, sink.rows);
        rows
    }
}

/// Takes the rows of a scan over several regions, which come in order: a row is compared with the end to come alone.
struct Crossing<'a> {
    sink: &'a mut dyn RowSink,
    counts: &'a Counts,
    reverse: bool,
    /// Of the rows counted last.
    region: usize,
    rows: u64,
    /// Where the region ends, or begins in a scan from the end.
    bound: Option<&'a [u8]>,
}

impl Crossing<'_> {
    #[inline]
    fn is_in(&self, key: &[u8]) -> bool {
        self.rows > 0 && self.bound.is_none_or(|bound| if self.reverse { bound <= key } else { key < bound })
    }

    fn enter(&mut self, key: &[u8]) {
        self.counts.read(self.region, self.rows);
        (self.region, self.rows) = (self.counts.region_of(key), 0);
        let point = if self.reverse { self.region.checked_sub(1) } else { Some(self.region) };
        self.bound = point.and_then(|at| self.counts.points.get(at)).map(Vec::as_slice);
    }
}

impl RowSink for Crossing<'_> {
    fn row(&mut self, key: &[u8], cells: &[CellRef<'_>]) -> ControlFlow<()> {
        if !self.is_in(key) {
            self.enter(key);
        }
        self.rows += 1;
        self.sink.row(key, cells)
    }
}

/// Rows of a table that are about to be written, to be counted once they are.
#[derive(Debug)]
pub(crate) struct RowsWritten {
    counts: Arc<Counts>,
    runs: Runs,
    done: Vec<(usize, u64)>,
}

impl RowsWritten {
    pub fn new(table: &Table) -> Self {
        Self { counts: table.traffic.counts(), runs: Runs::default(), done: Vec::new() }
    }

    #[inline]
    pub fn row(&mut self, key: &[u8]) {
        self.done.extend(self.runs.next(&self.counts, key));
    }

    pub fn count(&self) {
        for (region, rows) in self.done.iter().chain([&(self.runs.region, self.runs.rows)]) {
            if let Some((_, writes)) = self.counts.regions.get(*region).filter(|_| *rows > 0) {
                writes.fetch_add(*rows, Ordering::Relaxed);
            }
        }
    }

    /// Those of a commit, table by table.
    pub fn of_commit(commit: &EncodedCommit) -> Vec<Self> {
        let mut out: Vec<(TableId, Self)> = commit.tables.iter().map(|table| (table.schema.id, Self::new(table))).collect();
        let mut at = 0;
        for (id, key) in commit.written.iter() {
            if out.get(at).is_none_or(|(of, _)| *of != id) {
                at = out.iter().position(|(of, _)| *of == id).unwrap_or_default();
            }
            if let Some((_, rows)) = out.get_mut(at) {
                rows.row(key);
            }
        }
        out.into_iter().map(|(_, rows)| rows).collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use crate::{LsmOptions, LsmStore};
    use std::sync::Arc;
    use std::time::Duration;
    use stoa_store::conformance::{Rows, block_on};
    use stoa_store::{
        Commit, Durability, FamilyId, FamilyOptions, FamilySchema, KeyRange, Mutations, ReadSpec, ScanSpec, Store, TableId, TableSchema,
    };

    const T: TableId = TableId(1);
    const F: FamilyId = FamilyId(0);

    fn schema(options: FamilyOptions) -> TableSchema {
        let family = FamilySchema { id: F, name: "f".into(), options };
        TableSchema { id: T, name: "t".into(), families: vec![family], split_points: vec![b"g".to_vec(), b"p".to_vec()] }
    }

    fn commit(store: &LsmStore, keys: &[&str]) {
        let mut mutations = Mutations::new();
        keys.iter().for_each(|key| mutations.put(T, key.as_bytes(), F, b"", b"1"));
        block_on(store.commit(Commit { mutations: &mutations, snapshot: None, validate: &[], durability: Durability::Relaxed })).unwrap();
    }

    fn read(store: &LsmStore) -> ReadSpec {
        ReadSpec { table: T, families: vec![F], qualifiers: None, versions: 1, time_range: None, snapshot: store.snapshot() }
    }

    fn range(start: &str, end: Option<&str>) -> KeyRange {
        KeyRange::new(start.as_bytes().to_vec(), end.map(|end| end.as_bytes().to_vec()))
    }

    /// The rows of a scan, `block` at a time.
    fn scan(store: &LsmStore, range: KeyRange, reverse: bool, fill_cache: bool, block: usize) -> usize {
        let spec = ScanSpec { read: read(store), range, reverse, limit: None, fill_cache };
        let mut scan = block_on(store.scan(spec)).unwrap();
        let mut rows = Rows::default();
        while block_on(scan.next_block(block, &mut rows)).unwrap() {}
        rows.rows.len()
    }

    /// Reads and writes of each region.
    fn traffic(store: &LsmStore) -> Vec<(u64, u64)> {
        let regions = block_on(store.regions(T)).unwrap();
        regions.iter().map(|region| region.traffic.unwrap()).map(|traffic| (traffic.reads, traffic.writes)).collect()
    }

    #[test]
    fn rows_are_counted_in_the_regions_that_they_lie_in() {
        let directory = tempfile::tempdir().unwrap();
        let store = LsmStore::open(directory.path(), LsmOptions::default()).unwrap();
        block_on(store.create_table(&schema(FamilyOptions::default()))).unwrap();
        assert_eq!(traffic(&store), [(0, 0); 3]);
        commit(&store, &["z", "a", "g", "b", "p", "o", "q"]);
        assert_eq!(traffic(&store), [(0, 2), (0, 2), (0, 3)]);
        block_on(store.get(&read(&store), &[b"a", b"none", b"g", b"z"], &mut Rows::default())).unwrap();
        assert_eq!(traffic(&store), [(1, 2), (2, 2), (1, 3)], "a key that is asked for counts, whether it is there or not");
        for reverse in [false, true] {
            for block in [1, 2, 100] {
                assert_eq!(scan(&store, KeyRange::all(), reverse, false, block), 7);
            }
        }
        assert_eq!(traffic(&store), [(13, 2), (14, 2), (19, 3)]);
        // The second time from the cache.
        for _ in 0..2 {
            assert_eq!(scan(&store, range("a", Some("g")), false, true, 10), 2);
            assert_eq!(scan(&store, range("h", Some("q")), false, true, 10), 2);
        }
        assert_eq!(traffic(&store), [(17, 2), (16, 2), (21, 3)]);
        let spec = ScanSpec { read: read(&store), range: KeyRange::all(), reverse: false, limit: None, fill_cache: true };
        let parts: Arc<[KeyRange]> = Arc::from([range("a", Some("b")), range("b", Some("h")), range("z", None)]);
        let mut rows = Rows::default();
        let mut parts = block_on(store.scan_parts(spec, parts)).unwrap();
        while block_on(parts.next_block(10, &mut rows)).unwrap() {}
        assert_eq!((rows.rows.len(), traffic(&store)), (4, vec![(19, 2), (17, 2), (22, 3)]));
        let mut load = block_on(store.bulk_load(&[T])).unwrap();
        ["c", "h", "i", "x"].iter().for_each(|key| load.put(T, key.as_bytes(), F, b"", b"2").unwrap());
        assert_eq!(traffic(&store)[0], (19, 2), "a load counts at its end");
        block_on(load.finish()).unwrap();
        assert_eq!(traffic(&store), [(19, 3), (17, 4), (22, 4)]);
    }

    #[test]
    fn counts_go_on_with_other_options_and_begin_anew_with_other_regions() {
        let directory = tempfile::tempdir().unwrap();
        let store = LsmStore::open(directory.path(), LsmOptions::default()).unwrap();
        block_on(store.create_table(&schema(FamilyOptions::default()))).unwrap();
        commit(&store, &["a", "h"]);
        let since = |store: &LsmStore| block_on(store.regions(T)).unwrap()[0].traffic.unwrap().since_us.unwrap();
        let first = since(&store);
        let ttl = Some(Duration::from_secs(3600));
        block_on(store.alter_table(&schema(FamilyOptions { ttl, ..FamilyOptions::default() }))).unwrap();
        assert_eq!((traffic(&store), since(&store)), (vec![(0, 1), (0, 1), (0, 0)], first));
        block_on(store.split(T, b"c")).unwrap();
        assert_eq!(traffic(&store), [(0, 0); 4]);
        assert!(since(&store) >= first);
        commit(&store, &["d"]);
        block_on(store.unsplit(T, b"c")).unwrap();
        assert_eq!(traffic(&store), [(0, 0); 3]);
    }
}
