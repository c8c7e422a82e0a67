//! Scans of short ranges, as those of one value in an index: the next scan of the same range finds its entries in the
//! [range cache](stoa_store::RangeCache), without an iterator.
//!
//! Only plain families without expiry are cached: what they hold changes by commits alone. A scan that has come to the end of such a range
//! fills it in.

use crate::commit::Core;
use crate::keys::Form;
use crate::scan::{LsmScan, Visibility};
use crate::traffic::ScanTraffic;
use crate::view::{Family, LsmSnapshot, Table, View};
use async_trait::async_trait;
use std::sync::Arc;
use stoa_store::{KeyRange, RangeCache, RowSink, Scan, ScanSpec, StoreResult};

/// What is longer is read from the blocks: to open an iterator is then the smaller part.
const MAX_BYTES: usize = 2048;

/// A range that the cache may have, or take.
pub(crate) struct CacheableRange<'a> {
    key: Vec<u8>,
    family: &'a Family,
    table: &'a Arc<Table>,
}

impl<'a> CacheableRange<'a> {
    /// `None` if the scan is none that is cached.
    pub fn of(spec: &ScanSpec, snapshot: &LsmSnapshot, table: &'a Arc<Table>) -> Option<Self> {
        let [id] = spec.read.families.as_slice() else { return None };
        let family = table.family(*id).ok()?;
        let all_is_seen = spec.read.time_range.is_none() && spec.read.versions > 0 && family.ttl_us.is_none() && !snapshot.is_past();
        if !spec.fill_cache || spec.range.end.is_none() || spec.range.is_empty() || family.form != Form::Plain || !all_is_seen {
            return None;
        }
        let key = RangeCache::key_of(family.storage, &spec.range);
        Some(Self { key, family, table })
    }

    /// The scan of what is cached.
    pub fn cached(&self, core: &Core, spec: &ScanSpec, snapshot: &LsmSnapshot) -> StoreResult<Option<CachedScan>> {
        let Some(entries) = core.range_cache.range(&self.key, snapshot.view.timestamp) else { return Ok(None) };
        let visibility = Visibility::new(&spec.read, snapshot, self.table, self.family)?;
        let left = spec.limit.unwrap_or(u64::MAX);
        let traffic = ScanTraffic::new(self.table, &spec.range, spec.reverse);
        Ok(Some(CachedScan { entries, visibility, at: Place::begin(spec.reverse), part: None, left, traffic }))
    }

    /// What fills the cache while a scan reads the range from RocksDB.
    pub fn fill(self, core: &Arc<Core>, spec: &ScanSpec) -> Option<Fill> {
        (!spec.reverse).then(|| Fill {
            core: Arc::clone(core),
            table: Arc::clone(self.table),
            key: self.key,
            range: spec.range.clone(),
            entries: Vec::new(),
        })
    }
}

/// The entries of a scan so far, for the cache.
#[derive(Debug)]
pub(crate) struct Fill {
    core: Arc<Core>,
    table: Arc<Table>,
    key: Vec<u8>,
    range: KeyRange,
    entries: Vec<u8>,
}

impl Fill {
    /// Adds an entry: a row's key and its value as it is stored. False if they have become too many.
    pub fn push(&mut self, key: &[u8], value: &[u8]) -> bool {
        if self.entries.len() + key.len() + value.len() > MAX_BYTES {
            return false;
        }
        for bytes in [key, value] {
            self.entries.extend_from_slice(&(bytes.len() as u16).to_be_bytes());
            self.entries.extend_from_slice(bytes);
        }
        true
    }

    /// The scan has come to its end. Ranges without rows are not cached: they are mostly asked for by those who are about to fill them.
    pub fn finish(self, view: &View) {
        if !self.entries.is_empty() {
            self.core.cache_range(&self.table, &self.key, &self.entries, &self.range, view);
        }
    }
}

/// Reads an entry; returns the rest as well.
fn split_entry(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let (key, rest) = split_bytes(bytes)?;
    let (value, rest) = split_bytes(rest)?;
    Some((key, value, rest))
}

fn split_bytes(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<2>()?;
    rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))
}

#[derive(Debug)]
enum Place {
    /// Where the next entry begins.
    Forward(usize),
    /// Where entries begin of which the last is the next one; unknown before the first is read.
    Reverse(Option<Vec<usize>>),
}

impl Place {
    fn begin(reverse: bool) -> Self {
        if reverse { Place::Reverse(None) } else { Place::Forward(0) }
    }

    fn next(&mut self, entries: &[u8]) -> Option<usize> {
        let length = |at: usize| {
            let all = entries.get(at..).unwrap_or_default();
            split_entry(all).map(|(_, _, rest)| all.len() - rest.len())
        };
        match self {
            Place::Forward(next) => {
                let at = *next;
                *next = at + length(at)?;
                Some(at)
            }
            Place::Reverse(places) => {
                let all = || std::iter::successors(Some(0), |at| Some(at + length(*at)?)).filter(|at| length(*at).is_some()).collect();
                places.get_or_insert_with(all).pop()
            }
        }
    }
}

/// A scan of a range that is cached.
#[derive(Debug)]
pub(crate) struct CachedScan {
    entries: Arc<[u8]>,
    visibility: Visibility,
    at: Place,
    part: Option<KeyRange>,
    left: u64,
    traffic: ScanTraffic,
}

impl CachedScan {
    fn block(&mut self, max_rows: usize, sink: &mut dyn RowSink) -> StoreResult<bool> {
        let max_rows = u64::try_from(max_rows.max(1)).unwrap_or(u64::MAX).min(self.left);
        let Self { entries, visibility, at: place, part, traffic, .. } = self;
        let mut ended = false;
        let pushed = traffic.block(sink, |sink| {
            let mut pushed = 0;
            while pushed < max_rows {
                let entry = place.next(entries).and_then(|at| entries.get(at..)).and_then(split_entry);
                let Some((key, value, _)) = entry else {
                    ended = true;
                    break;
                };
                if part.as_ref().is_some_and(|part| !part.contains(key)) {
                    continue;
                }
                let Some(cell) = visibility.plain(value)? else { continue };
                pushed += 1;
                if sink.row(key, &[cell]).is_break() {
                    break;
                }
            }
            Ok(pushed)
        })?;
        self.left -= pushed;
        Ok(!ended && self.left > 0)
    }
}

#[async_trait]
impl Scan for CachedScan {
    fn restrict_to(&mut self, part: &KeyRange) -> StoreResult<()> {
        self.traffic.restrict_to(part);
        self.part = Some(part.clone());
        // What is passed over may be of this part.
        self.at = Place::begin(matches!(self.at, Place::Reverse(_)));
        Ok(())
    }

    async fn next_block(&mut self, max_rows: usize, sink: &mut dyn RowSink) -> StoreResult<bool> {
        self.block(max_rows, sink)
    }
}

/// Parts of a scan, above which none is looked for in the cache, nor filled in: to read them costs less.
const MOST_PARTS: usize = 256;

/// A scan that goes from part to part: what is cached is taken from there, and the rest read by one iterator and filled in.
pub(crate) struct PartsOrCached {
    core: Arc<Core>,
    spec: ScanSpec,
    /// `None` if it did not exist at the snapshot.
    table: Option<Arc<Table>>,
    cached: Option<CachedScan>,
    scan: Option<LsmScan>,
}

impl PartsOrCached {
    /// `None` for parts of which none is cached.
    pub fn new(core: &Arc<Core>, spec: &ScanSpec, table: Option<&Arc<Table>>, parts: usize) -> Option<Self> {
        let few = parts <= MOST_PARTS && spec.fill_cache && spec.limit.is_none() && spec.read.families.len() == 1;
        few.then(|| Self { core: Arc::clone(core), spec: spec.clone(), table: table.cloned(), cached: None, scan: None })
    }
}

#[async_trait]
impl Scan for PartsOrCached {
    fn restrict_to(&mut self, part: &KeyRange) -> StoreResult<()> {
        let Self { core, spec, table, cached, scan } = self;
        let snapshot = LsmSnapshot::of(&spec.read.snapshot)?;
        let of_part = ScanSpec { read: spec.read.clone(), range: part.clone(), ..*spec };
        let cacheable = table.as_ref().and_then(|table| CacheableRange::of(&of_part, snapshot, table));
        *cached = match &cacheable {
            Some(cacheable) => cacheable.cached(core, &of_part, snapshot)?,
            None => None,
        };
        if cached.is_some() {
            return Ok(());
        }
        let scan = match scan {
            Some(scan) => scan,
            None => scan.insert(LsmScan::open(spec, snapshot, table.as_deref(), None, core.options.file_scan_bytes)?),
        };
        scan.restrict_filling(part, cacheable.and_then(|cacheable| cacheable.fill(core, &of_part)))
    }

    async fn next_block(&mut self, max_rows: usize, sink: &mut dyn RowSink) -> StoreResult<bool> {
        match (&mut self.cached, &mut self.scan) {
            (Some(cached), _) => cached.block(max_rows, sink),
            (None, Some(scan)) => scan.block(max_rows, sink),
            (None, None) => Ok(false),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use crate::{LsmOptions, LsmStore};
    use std::collections::BTreeMap;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    use stoa_store::conformance::{Rows, SplitMix, block_on};
    use stoa_store::{
        Commit, Durability, FamilyId, FamilyOptions, FamilySchema, KeyRange, Mutations, ReadSpec, ScanSpec, Snapshot, Store, TableId,
        TableSchema,
    };

    const T: TableId = TableId(1);
    const F: FamilyId = FamilyId(0);

    fn store(directory: &std::path::Path, options: LsmOptions, ttl: Option<std::time::Duration>) -> LsmStore {
        let store = LsmStore::open(directory, options).unwrap();
        let family = FamilySchema { id: F, name: "f".into(), options: FamilyOptions { ttl, ..FamilyOptions::default() } };
        block_on(store.create_table(&TableSchema { id: T, name: "t".into(), families: vec![family], split_points: vec![] })).unwrap();
        store
    }

    fn commit(store: &LsmStore, fill: impl FnOnce(&mut Mutations)) {
        let mut mutations = Mutations::new();
        fill(&mut mutations);
        block_on(store.commit(Commit { mutations: &mutations, snapshot: None, validate: &[], durability: Durability::Relaxed })).unwrap();
    }

    struct Read {
        reverse: bool,
        limit: Option<u64>,
        parts: Vec<KeyRange>,
        block: usize,
    }

    const PLAIN: Read = Read { reverse: false, limit: None, parts: Vec::new(), block: 100 };

    /// Keys and values as `key=value`.
    fn read(store: &LsmStore, snapshot: &Arc<dyn Snapshot>, from: &str, to: &str, how: &Read) -> Vec<String> {
        let read =
            ReadSpec { table: T, families: vec![F], qualifiers: None, versions: 1, time_range: None, snapshot: Arc::clone(snapshot) };
        let range = KeyRange::new(from.into(), Some(to.into()));
        let spec = ScanSpec { read, range, reverse: how.reverse, limit: how.limit, fill_cache: true };
        let mut scan = block_on(store.scan(spec)).unwrap();
        let mut rows = Rows::default();
        if how.parts.is_empty() {
            while block_on(scan.next_block(how.block, &mut rows)).unwrap() {}
        }
        for part in &how.parts {
            scan.restrict_to(part).unwrap();
            while block_on(scan.next_block(how.block, &mut rows)).unwrap() {}
        }
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        rows.rows.iter().map(|(key, cells)| format!("{}={}", text(key), text(&cells[0].value))).collect()
    }

    fn cached(store: &LsmStore) -> u64 {
        store.metrics().iter().find(|(name, _)| name == "range_cache_ranges").unwrap().1
    }

    #[test]
    fn a_range_that_is_cached_is_what_each_view_sees() {
        let directory = tempfile::tempdir().unwrap();
        let store = store(directory.path(), LsmOptions::default(), None);
        commit(&store, |m| ["a1", "a2", "a3", "b1"].iter().for_each(|key| m.put(T, key.as_bytes(), F, b"", b"1")));
        let first = store.snapshot();
        for _ in 0..2 {
            assert_eq!(read(&store, &first, "a", "b", &PLAIN), ["a1=1", "a2=1", "a3=1"]);
            assert_eq!(read(&store, &first, "c", "d", &PLAIN), [""; 0]);
            assert_eq!(cached(&store), 1, "what is empty is not cached");
        }
        commit(&store, |m| m.put(T, b"b2", F, b"", b"2"));
        let second = store.snapshot();
        for block in [1, 2, 100] {
            let how = Read { block, ..PLAIN };
            assert_eq!(read(&store, &second, "a", "b", &how), ["a1=1", "a2=1", "a3=1"]);
            assert_eq!(read(&store, &second, "a", "b", &Read { reverse: true, block, ..PLAIN }), ["a3=1", "a2=1", "a1=1"]);
            assert_eq!(read(&store, &second, "a", "b", &Read { limit: Some(2), block, ..PLAIN }), ["a1=1", "a2=1"]);
            let parts = vec![KeyRange::point(b"a1"), KeyRange::point(b"a3")];
            assert_eq!(read(&store, &second, "a", "b", &Read { parts: parts.clone(), block, ..PLAIN }), ["a1=1", "a3=1"]);
            let parts = parts.into_iter().rev().collect();
            assert_eq!(read(&store, &second, "a", "b", &Read { parts, reverse: true, block, ..PLAIN }), ["a3=1", "a1=1"]);
        }
        assert_eq!(cached(&store), 1);
        commit(&store, |m| {
            m.delete_row(T, b"a1");
            m.put(T, b"a4", F, b"", b"2");
        });
        let third = store.snapshot();
        for _ in 0..2 {
            assert_eq!(read(&store, &third, "a", "b", &PLAIN), ["a2=1", "a3=1", "a4=2"]);
            assert_eq!(read(&store, &first, "a", "b", &PLAIN), ["a1=1", "a2=1", "a3=1"], "an older view sees what it saw");
        }
        let mut load = block_on(store.bulk_load(&[T])).unwrap();
        ["a3", "a5"].iter().for_each(|key| load.put(T, key.as_bytes(), F, b"", b"3").unwrap());
        block_on(load.finish()).unwrap();
        let fourth = store.snapshot();
        for _ in 0..2 {
            assert_eq!(read(&store, &fourth, "a", "b", &PLAIN), ["a2=1", "a3=3", "a4=2", "a5=3"]);
            assert_eq!(read(&store, &third, "a", "b", &PLAIN), ["a2=1", "a3=1", "a4=2"]);
        }
        let schema = block_on(store.describe_table(T)).unwrap().unwrap();
        block_on(store.drop_table(T)).unwrap();
        block_on(store.create_table(&schema)).unwrap();
        assert_eq!(read(&store, &store.snapshot(), "a", "b", &PLAIN), [""; 0]);
    }

    #[test]
    fn what_expires_or_is_long_or_was_not_read_to_its_end_is_not_cached() {
        let directory = tempfile::tempdir().unwrap();
        let plain = store(&directory.path().join("plain"), LsmOptions::default(), None);
        let value = [b'v'; 300];
        commit(&plain, |m| (10..30).for_each(|n: u32| m.put(T, format!("k{n}").as_bytes(), F, b"", &value)));
        let snapshot = plain.snapshot();
        assert_eq!(read(&plain, &snapshot, "k", "l", &PLAIN).len(), 20);
        assert_eq!(read(&plain, &snapshot, "k10", "k13", &Read { limit: Some(2), ..PLAIN }).len(), 2);
        assert_eq!(cached(&plain), 0);
        let expiring = store(&directory.path().join("expiring"), LsmOptions::default(), Some(std::time::Duration::from_secs(3600)));
        commit(&expiring, |m| m.put(T, b"a", F, b"", b"1"));
        assert_eq!(read(&expiring, &expiring.snapshot(), "a", "b", &PLAIN).len(), 1);
        assert_eq!(cached(&expiring), 0);
    }

    /// Ranges that nest, overlap and are driven out, beside random changes: each view sees what a map says.
    #[test]
    fn it_does_as_a_map_does() {
        let directory = tempfile::tempdir().unwrap();
        let store = store(directory.path(), LsmOptions { block_cache_bytes: 1 << 20, ..LsmOptions::default() }, None);
        let (mut random, mut model) = (SplitMix(11), BTreeMap::<String, u64>::new());
        let mut views = Vec::new();
        let mut most = 0;
        for round in 0..30_000u64 {
            match random.below(40) {
                0 => {
                    commit(&store, |m| {
                        for _ in 0..1 + random.below(3) {
                            let key = format!("{:05}", random.below(9000));
                            if random.one_in(3) {
                                m.delete_row(T, key.as_bytes());
                                model.remove(&key);
                            } else {
                                m.put(T, key.as_bytes(), F, b"", round.to_string().as_bytes());
                                model.insert(key, round);
                            }
                        }
                    });
                }
                1 if round % 20 == 0 => {
                    views.push((store.snapshot(), model.clone()));
                    if views.len() > 4 {
                        views.remove(0);
                    }
                }
                _ => {
                    let from = random.below(9000) / 4 * 4;
                    let (from, to) = (format!("{from:05}"), format!("{:05}", from + [1, 4, 9][random.below(3) as usize]));
                    let how = Read { reverse: random.one_in(4), ..PLAIN };
                    let (snapshot, model) = match views.get(random.below(8) as usize) {
                        Some((snapshot, model)) => (Arc::clone(snapshot), model),
                        None => (store.snapshot(), &model),
                    };
                    let mut wanted: Vec<String> =
                        model.range(from.clone()..to.clone()).map(|(key, value)| format!("{key}={value}")).collect();
                    if how.reverse {
                        wanted.reverse();
                    }
                    assert_eq!(read(&store, &snapshot, &from, &to, &how), wanted);
                    most = most.max(cached(&store));
                }
            }
        }
        assert!(most > 100, "{most} at most");
    }

    #[test]
    fn readers_beside_writers_see_what_was_acknowledged() {
        let directory = tempfile::tempdir().unwrap();
        let store = store(directory.path(), LsmOptions::default(), None);
        let acknowledged: [AtomicU64; 4] = Default::default();
        commit(&store, |m| (0..4).for_each(|n| m.put(T, format!("{n}x").as_bytes(), F, b"", b"0")));
        let written = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let (store, acknowledged, written) = (&store, &acknowledged, &written);
            scope.spawn(move || {
                for n in 1..=3000u64 {
                    let at = (n % 4) as usize;
                    commit(store, |m| m.put(T, format!("{at}x").as_bytes(), F, b"", n.to_string().as_bytes()));
                    acknowledged[at].store(n, Ordering::SeqCst);
                }
                written.store(true, Ordering::SeqCst);
            });
            for reader in 0..2usize {
                scope.spawn(move || {
                    let mut at = reader;
                    while !written.load(Ordering::SeqCst) {
                        at = (at + 1) % 4;
                        let least = acknowledged[at].load(Ordering::SeqCst);
                        let found = read(store, &store.snapshot(), &at.to_string(), &(at + 1).to_string(), &PLAIN);
                        let [row] = found.as_slice() else { panic!("{found:?}") };
                        let value: u64 = row.split_once('=').unwrap().1.parse().unwrap();
                        assert!(value >= least, "{value} was read, {least} was acknowledged");
                    }
                });
            }
        });
    }
}
