//! Columns that scans have decoded, kept for as long as nobody changes their rows.
//!
//! A segment is a key range with as many rows as a batch holds. Scans leave there the columns that they have read, in [`values`] of few
//! bytes, and later scans take them instead of asking the store; of a segment that lacks a column only that column is read. The store's
//! watch over the range ([`stoa_store::Store::watch`]) tells whether a segment is what a snapshot sees: one changed row costs one
//! segment, and nothing has to be told of writes. See `docs/decisions/0007-columns-of-unchanged-rows-are-kept.md`.
//!
//! Invariants: the segments of a source do not overlap; the arrays of a segment have a value for each of its rows, in key order;
//! what is kept has at most the capacity, and with what statements have at most the memory of statements.

mod values;

use crate::row::decoder::ColumnKey;
use crate::txn::ReadView;
use arrow::array::ArrayRef;
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use stoa_store::{KeyRange, TableId, Timestamp, Watch};
use values::Values;

#[derive(Debug)]
struct KeptColumn {
    key: Arc<ColumnKey>,
    values: Values,
    bytes: usize,
    /// The scan that used it last.
    used: u64,
}

#[derive(Debug)]
struct Segment {
    end: Option<Vec<u8>>,
    rows: usize,
    watch: Arc<Watch>,
    bytes: usize,
    used: u64,
    columns: Vec<KeptColumn>,
}

impl Segment {
    fn all_bytes(&self) -> usize {
        self.bytes + self.columns.iter().map(|c| c.bytes).sum::<usize>()
    }
}

#[derive(Debug, Default)]
struct Kept {
    /// By start.
    sources: HashMap<TableId, BTreeMap<Vec<u8>, Segment>>,
    bytes: usize,
}

impl Kept {
    fn count(&mut self) {
        self.bytes = self.sources.values().flat_map(BTreeMap::values).map(Segment::all_bytes).sum();
    }
}

/// See the module.
#[derive(Debug, Default)]
pub struct ColumnCache {
    kept: Mutex<Kept>,
    /// Of `kept`, to be read without its lock.
    bytes: AtomicUsize,
    capacity: usize,
    /// Of statements and the cache together.
    memory: usize,
    /// What statements have.
    statements: AtomicUsize,
    scans: AtomicU64,
    /// Rows that scans took from here.
    hits: AtomicU64,
}

/// One scan's use of the cache.
#[derive(Clone, Debug)]
pub struct Reader {
    source: TableId,
    columns: Vec<Arc<ColumnKey>>,
    at: Timestamp,
    number: u64,
    full: bool,
}

/// What is kept at a place.
#[derive(Debug)]
pub enum Found {
    Segment(FoundSegment),
    /// Nothing of use up to `end` (`None`: to the end of what was asked for). If `keep`, what is read there may be kept.
    Gap {
        end: Option<Vec<u8>>,
        keep: bool,
    },
}

/// A segment that begins at a place.
#[derive(Debug)]
pub struct FoundSegment {
    pub rows: usize,
    pub end: Option<Vec<u8>>,
    /// In the order of the reader's columns; `None` where the column is not kept.
    pub columns: Vec<Option<ArrayRef>>,
    watch: Arc<Watch>,
}

/// What a segment takes beside its columns, and a column beside its values, about.
const SEGMENT_BYTES: usize = 320;
const COLUMN_BYTES: usize = 160;

impl ColumnCache {
    /// A cache that takes up to half of `memory` bytes, less while statements need it.
    #[must_use]
    pub fn new(memory: usize) -> Self {
        Self {
            kept: Mutex::default(),
            bytes: AtomicUsize::new(0),
            capacity: memory / 2,
            memory,
            statements: AtomicUsize::new(0),
            scans: AtomicU64::new(0),
            hits: AtomicU64::new(0),
        }
    }

    /// A scan of these columns at a time.
    #[must_use]
    pub fn reader(&self, source: TableId, columns: Vec<Arc<ColumnKey>>, at: Timestamp) -> Reader {
        Reader { source, columns, at, number: self.scans.fetch_add(1, Ordering::Relaxed) + 1, full: false }
    }

    /// Bytes that are kept.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// For monitoring: name and value.
    #[must_use]
    pub fn metrics(&self) -> [(&'static str, u64); 2] {
        [("column_cache_bytes", self.bytes() as u64), ("column_cache_rows_read", self.hits.load(Ordering::Relaxed))]
    }

    /// Tells what statements have now.
    pub fn set_statements(&self, bytes: usize) {
        self.statements.store(bytes, Ordering::Relaxed);
    }

    /// Gives up what was used longest ago, about so many bytes of it; returns how many.
    pub fn release(&self, bytes: usize) -> usize {
        if self.bytes() == 0 {
            return 0;
        }
        let mut kept = self.kept.lock();
        let before = kept.bytes;
        evict(&mut kept, bytes.max(self.capacity / 16).min(before), u64::MAX);
        self.bytes.store(kept.bytes, Ordering::Relaxed);
        before - kept.bytes
    }

    /// Gives up what is kept of sources that are not `needed`.
    pub fn retain(&self, needed: impl Fn(TableId) -> bool) {
        let mut kept = self.kept.lock();
        let before = kept.sources.len();
        kept.sources.retain(|source, _| needed(*source));
        if kept.sources.len() < before {
            kept.count();
            self.bytes.store(kept.bytes, Ordering::Relaxed);
        }
    }

    /// How many rows of a source are kept with all of these columns, for a snapshot of this time; of large ones by a part of them.
    #[must_use]
    pub fn kept_rows(&self, source: TableId, columns: &[ColumnKey], at: Timestamp) -> usize {
        const SAMPLED: usize = 512;
        let kept = self.kept.lock();
        let Some(segments) = kept.sources.get(&source) else { return 0 };
        let has_all = |own: &Segment| columns.iter().all(|wanted| own.columns.iter().any(|c| *c.key == *wanted));
        let step = segments.len().div_ceil(SAMPLED).max(1);
        let useful = segments.values().step_by(step).filter(|own| own.watch.holds_at(at) && has_all(own));
        useful.map(|own| own.rows).sum::<usize>() * step
    }

    /// What is kept from a key on, of what lies before `end`.
    #[must_use]
    pub fn find(&self, reader: &Reader, from: &[u8], end: Option<&[u8]>) -> Found {
        let within = |segment: &Segment| match (&segment.end, end) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(own), Some(end)) => own.as_slice() <= end,
        };
        let mut kept = self.kept.lock();
        let Some(segments) = kept.sources.get_mut(&reader.source) else { return Found::Gap { end: None, keep: true } };
        let before = segments.range_mut::<[u8], _>((Bound::Unbounded, Bound::Included(from))).next_back();
        if let Some((start, segment)) = before
            && segment.end.as_ref().is_none_or(|own| own.as_slice() > from)
            && segment.watch.holds_at(reader.at)
        {
            if start.as_slice() != from || !within(segment) {
                // In the middle of it, or only to its middle.
                let own = segment.end.clone().filter(|own| end.is_none_or(|end| own.as_slice() < end));
                return Found::Gap { end: own, keep: false };
            }
            segment.used = reader.number;
            let mut columns = Vec::with_capacity(reader.columns.len());
            for wanted in &reader.columns {
                let kept = segment.columns.iter_mut().find(|c| Arc::ptr_eq(&c.key, wanted) || c.key == *wanted);
                columns.push(kept.map(|kept| {
                    kept.used = reader.number;
                    kept.values.clone()
                }));
            }
            let found = (segment.rows, segment.end.clone(), Arc::clone(&segment.watch));
            drop(kept);
            let (rows, end, watch) = found;
            self.hits.fetch_add(rows as u64, Ordering::Relaxed);
            let columns = columns.iter().map(|values| values.as_ref().map(Values::array)).collect();
            return Found::Segment(FoundSegment { rows, end, columns, watch });
        }
        let mut later = segments.range::<[u8], _>((Bound::Excluded(from), end.map_or(Bound::Unbounded, Bound::Excluded)));
        let next = later.find(|(_, segment)| segment.watch.holds_at(reader.at));
        Found::Gap { end: next.map(|(start, _)| start.clone()), keep: true }
    }

    /// Keeps what a reader has read of a range at a snapshot: all its columns, in its order.
    pub fn keep(&self, reader: &mut Reader, view: &ReadView, range: &KeyRange, rows: usize, columns: &[ArrayRef]) {
        if reader.full || columns.len() != reader.columns.len() {
            return;
        }
        let bytes = SEGMENT_BYTES + 2 * range.start.len();
        let columns: Vec<KeptColumn> = reader.columns.iter().zip(columns).map(|(key, values)| kept_column(key, values, reader)).collect();
        let all = bytes + columns.iter().map(|c| c.bytes).sum::<usize>();
        let mut kept = self.kept.lock();
        if !self.has_room(&mut kept, all, reader) {
            return;
        }
        let segments = kept.sources.entry(reader.source).or_default();
        let overlaps = |own: &Segment| own.end.as_ref().is_none_or(|end| *end > range.start);
        let below = segments.range::<[u8], _>((Bound::Unbounded, Bound::Excluded(range.start.as_slice()))).next_back();
        let inside = (Bound::Included(range.start.as_slice()), range.end.as_deref().map_or(Bound::Unbounded, Bound::Excluded));
        let others: Vec<_> = below.filter(|(_, own)| overlaps(own)).into_iter().chain(segments.range::<[u8], _>(inside)).collect();
        // Another scan was here before.
        if others.iter().any(|(_, own)| own.watch.is_open()) {
            return;
        }
        let stale: Vec<Vec<u8>> = others.into_iter().map(|(start, _)| start.clone()).collect();
        let freed: usize = stale.iter().filter_map(|start| segments.remove(start)).map(|own| own.all_bytes()).sum();
        let watch = view.watch(reader.source, range);
        let added = watch.map(|watch| {
            let segment = Segment { end: range.end.clone(), rows, watch, bytes, used: reader.number, columns };
            segments.insert(range.start.clone(), segment);
        });
        kept.bytes = kept.bytes - freed + if added.is_some() { all } else { 0 };
        self.bytes.store(kept.bytes, Ordering::Relaxed);
    }

    /// Keeps columns that a segment lacked, by their place in the reader's order.
    pub fn complete(&self, reader: &mut Reader, start: &[u8], found: &FoundSegment, columns: &[(usize, ArrayRef)]) {
        let named = columns.iter().filter_map(|(at, values)| Some(kept_column(reader.columns.get(*at)?, values, reader)));
        let columns: Vec<KeptColumn> = named.collect();
        let bytes: usize = columns.iter().map(|c| c.bytes).sum();
        let mut kept = self.kept.lock();
        if reader.full || !self.has_room(&mut kept, bytes, reader) {
            return;
        }
        let segment = kept.sources.get_mut(&reader.source).and_then(|segments| segments.get_mut(start));
        let Some(segment) = segment.filter(|segment| Arc::ptr_eq(&segment.watch, &found.watch)) else { return };
        let mut added = 0;
        for column in columns {
            if !segment.columns.iter().any(|own| own.key == column.key) {
                added += column.bytes;
                segment.columns.push(column);
            }
        }
        kept.bytes += added;
        self.bytes.store(kept.bytes, Ordering::Relaxed);
    }

    /// Whether there is room for so many bytes once what earlier scans used is given up. A reader that finds none does not ask again:
    /// of a table that is too large a part is kept, rather than each part for a moment.
    fn has_room(&self, kept: &mut Kept, bytes: usize, reader: &mut Reader) -> bool {
        let left = self.memory.saturating_sub(self.statements.load(Ordering::Relaxed)).min(self.capacity);
        let over = (kept.bytes + bytes).saturating_sub(left);
        if over > 0 {
            evict(kept, over, reader.number);
            self.bytes.store(kept.bytes, Ordering::Relaxed);
            reader.full = kept.bytes + bytes > left;
        }
        !reader.full
    }
}

/// Gives up so many bytes, and a sixteenth of all, of what was used longest before the scan `before`; nothing if that is not enough.
fn evict(kept: &mut Kept, bytes: usize, before: u64) {
    let mut uses: BTreeMap<u64, usize> = BTreeMap::new();
    for segment in kept.sources.values().flat_map(BTreeMap::values) {
        *uses.entry(segment.used).or_default() += segment.bytes;
        for column in &segment.columns {
            *uses.entry(column.used).or_default() += column.bytes;
        }
    }
    let wanted = bytes + kept.bytes / 16;
    // Of the last scan that is met only as much as is wanted.
    let (mut last, mut sum, mut of_last) = (None, 0, 0);
    for (used, size) in uses.range(..before) {
        if sum >= wanted {
            break;
        }
        of_last = wanted - sum;
        (last, sum) = (Some(*used), sum + size);
    }
    let Some(last) = last.filter(|_| sum >= bytes) else { return };
    let mut goes = |used: u64, bytes: usize| {
        let goes = used < last || (used == last && of_last > 0);
        if goes && used == last {
            of_last = of_last.saturating_sub(bytes);
        }
        goes
    };
    kept.sources.retain(|_, segments| {
        segments.retain(|_, segment| {
            segment.columns.retain(|column| !goes(column.used, column.bytes));
            !segment.columns.is_empty() || !goes(segment.used, segment.bytes)
        });
        !segments.is_empty()
    });
    kept.count();
}

fn kept_column(key: &Arc<ColumnKey>, values: &ArrayRef, reader: &Reader) -> KeptColumn {
    let values = Values::new(values);
    let bytes = values.bytes() + COLUMN_BYTES;
    KeptColumn { key: Arc::clone(key), values, bytes, used: reader.number }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use crate::catalog::ColumnId;
    use crate::txn::Overlay;
    use arrow::array::{AsArray, Int64Array};
    use stoa_pg::{PgType, SqlType};
    use stoa_store::conformance::block_on;
    use stoa_store::model::ModelStore;
    use stoa_store::{Commit, Durability, FamilyId, FamilyOptions, FamilySchema, Mutations, Snapshot, Store, TableSchema};

    const T: TableId = TableId(1);

    fn view(store: &Arc<ModelStore>, snapshot: &Arc<dyn Snapshot>) -> ReadView {
        ReadView { store: Arc::clone(store) as Arc<dyn Store>, snapshot: Arc::clone(snapshot), overlay: Overlay::default() }
    }

    fn store() -> Arc<ModelStore> {
        let store = Arc::new(ModelStore::new());
        let family = FamilySchema { id: FamilyId(0), name: "f".into(), options: FamilyOptions::default() };
        let schema = TableSchema { id: T, name: "t".into(), families: vec![family], split_points: vec![] };
        block_on(store.create_table(&schema)).unwrap();
        store
    }

    fn change(store: &ModelStore, key: &str) {
        let mut mutations = Mutations::new();
        mutations.put(T, key.as_bytes(), FamilyId(0), b"", b"v");
        let commit = Commit { mutations: &mutations, snapshot: None, validate: &[], durability: Durability::Relaxed };
        block_on(store.commit(commit)).unwrap();
    }

    fn column(id: u32) -> Arc<ColumnKey> {
        Arc::new(ColumnKey { id: ColumnId(id), ty: SqlType::new(PgType::Int8), missing: None })
    }

    fn values(first: i64, rows: usize) -> ArrayRef {
        Arc::new(Int64Array::from_iter_values((0..rows as i64).map(|n| first + n)))
    }

    fn range(from: &str, to: &str) -> KeyRange {
        KeyRange::new(from.into(), (!to.is_empty()).then(|| to.into()))
    }

    /// `keep`, or the end of the gap, or the values' first numbers.
    fn find(cache: &ColumnCache, reader: &Reader, from: &str, end: &str) -> String {
        let end = (!end.is_empty()).then_some(end.as_bytes());
        let text = |bytes: &Option<Vec<u8>>| String::from_utf8_lossy(bytes.as_deref().unwrap_or(b"end")).into_owned();
        match cache.find(reader, from.as_bytes(), end) {
            Found::Gap { end, keep } => format!("{} {}", if keep { "keep to" } else { "read to" }, text(&end)),
            Found::Segment(found) => {
                let first = |c: &Option<ArrayRef>| {
                    let value = |c: &ArrayRef| c.as_primitive::<arrow::datatypes::Int64Type>().value(0).to_string();
                    c.as_ref().map_or("-".into(), value)
                };
                let columns: Vec<String> = found.columns.iter().map(first).collect();
                format!("{} rows to {}: {}", found.rows, text(&found.end), columns.join(" "))
            }
        }
    }

    #[test]
    fn a_scan_finds_what_is_unchanged_and_what_it_has_to_read() {
        let (store, cache) = (store(), ColumnCache::new(1 << 20));
        change(&store, "a");
        let snapshot = store.snapshot();
        let mut reader = cache.reader(T, vec![column(1)], snapshot.timestamp());
        assert_eq!(find(&cache, &reader, "", ""), "keep to end");
        for (from, to, first) in [("", "d", 10), ("d", "h", 20), ("p", "", 30)] {
            cache.keep(&mut reader, &view(&store, &snapshot), &range(from, to), 4, &[values(first, 4)]);
        }
        assert_eq!(find(&cache, &reader, "", ""), "4 rows to d: 10");
        assert_eq!(find(&cache, &reader, "d", "h"), "4 rows to h: 20");
        assert_eq!(find(&cache, &reader, "d", "g"), "read to end", "the range ends within the segment");
        assert_eq!(find(&cache, &reader, "e", ""), "read to h", "the range begins within the segment");
        assert_eq!(find(&cache, &reader, "h", ""), "keep to p");
        assert_eq!(find(&cache, &reader, "h", "k"), "keep to end");
        assert_eq!(find(&cache, &reader, "p", ""), "4 rows to end: 30");
        assert_eq!(find(&cache, &reader, "p", "z"), "read to end");

        change(&store, "e");
        assert_eq!(find(&cache, &reader, "d", ""), "4 rows to h: 20", "an earlier snapshot still sees it");
        let later = store.snapshot();
        let mut reader = cache.reader(T, vec![column(1), column(2)], later.timestamp());
        assert_eq!(find(&cache, &reader, "d", ""), "keep to p", "one row costs its segment");
        assert_eq!(find(&cache, &reader, "", ""), "4 rows to d: 10 -");
        let kept_rows = |columns: &[u32]| {
            cache.kept_rows(T, &columns.iter().map(|id| ColumnKey::clone(&column(*id))).collect::<Vec<_>>(), later.timestamp())
        };
        assert_eq!([kept_rows(&[]), kept_rows(&[1]), kept_rows(&[1, 2])], [8, 8, 0]);
        let Found::Segment(found) = cache.find(&reader, b"", None) else { panic!("it is there") };
        cache.complete(&mut reader, b"", &found, &[(1, values(11, 4))]);
        assert_eq!(find(&cache, &reader, "", ""), "4 rows to d: 10 11");
        cache.keep(&mut reader, &view(&store, &later), &range("d", "k"), 7, &[values(1, 7), values(2, 7)]);
        assert_eq!(find(&cache, &reader, "d", ""), "7 rows to k: 1 2");
        cache.keep(&mut reader, &view(&store, &later), &range("j", "m"), 7, &[values(3, 7), values(4, 7)]);
        assert_eq!(find(&cache, &reader, "d", ""), "7 rows to k: 1 2", "who comes later leaves what is there");

        let other = Arc::new(ColumnKey { missing: Some(Arc::from(&b"x"[..])), ..ColumnKey::clone(&column(1)) });
        let altered = cache.reader(T, vec![other], later.timestamp());
        assert_eq!(find(&cache, &altered, "d", ""), "7 rows to k: -", "the column reads differently");
    }

    #[test]
    fn what_has_changed_since_the_snapshot_is_not_kept() {
        let (store, cache) = (store(), ColumnCache::new(1 << 20));
        let snapshot = store.snapshot();
        change(&store, "b");
        let mut reader = cache.reader(T, vec![], snapshot.timestamp());
        cache.keep(&mut reader, &view(&store, &snapshot), &range("a", "c"), 0, &[]);
        assert_eq!(find(&cache, &reader, "a", ""), "keep to end");
        cache.keep(&mut reader, &view(&store, &snapshot), &range("c", "d"), 5, &[]);
        assert_eq!(find(&cache, &reader, "c", ""), "5 rows to d: ", "rows without columns are counted");
    }

    #[test]
    fn a_table_too_large_is_kept_in_part_and_statements_come_first() {
        let (store, cache) = (store(), ColumnCache::new(200_000));
        change(&store, "a");
        let snapshot = store.snapshot();
        let scan = |column_id: u32| {
            let mut reader = cache.reader(T, vec![column(column_id)], snapshot.timestamp());
            let mut found = 0;
            for n in 0..40u8 {
                let place = KeyRange::new(vec![n], Some(vec![n + 1]));
                match cache.find(&reader, &place.start, place.end.as_deref()) {
                    Found::Segment(segment) if segment.columns[0].is_some() => found += 1,
                    Found::Segment(segment) => cache.complete(&mut reader, &place.start, &segment, &[(0, values(1 << 40, 1000))]),
                    Found::Gap { .. } => cache.keep(&mut reader, &view(&store, &snapshot), &place, 1000, &[values(1 << 40, 1000)]),
                }
                assert!(cache.bytes() <= 100_000);
            }
            found
        };
        assert_eq!(scan(1), 0);
        let found = scan(1);
        assert!(found >= 10, "{found} of 40 segments of 8,000 bytes");
        assert_eq!(scan(1), found);
        assert_eq!(scan(2), 0);
        assert!(scan(2) >= 10, "what was used longest ago has gone");
        let before = cache.bytes();
        let freed = cache.release(30_000);
        assert!(freed >= 30_000 && cache.bytes() == before - freed);
        cache.set_statements(180_000);
        scan(3);
        assert!(cache.bytes() <= before - freed, "nothing is added while statements have the memory");
        let left = cache.bytes();
        cache.retain(|source| source == T);
        assert!(left > 0 && cache.bytes() == left);
        cache.retain(|source| source != T);
        assert_eq!(cache.bytes(), 0);
        cache.set_statements(0);
        scan(3);
        assert!(cache.bytes() > 0);
        cache.release(usize::MAX);
        assert_eq!(cache.bytes(), 0);
    }
}
