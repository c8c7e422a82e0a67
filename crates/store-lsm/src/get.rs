//! Reading rows by key.
//!
//! Plain families are read from the cache of rows or by pinned gets (many at once for larger batches), versioned ones by an iterator
//! that stays inside the row, so that the bloom filter on rows is used.

use crate::commit::Core;
use crate::database::Value;
use crate::iterator::{IteratorOptions, OwnedIterator};
use crate::keys::{Form, push_row_bound};
use crate::scan::{VersionedCursor, Visibility, recycle};
use crate::view::{Family, LsmSnapshot, Table};
use std::ops::Deref;
use std::sync::Arc;
use stoa_store::{CellRef, ReadSpec, RowSink, StoreResult};

/// Keys that RocksDB is asked for at once.
const BATCH_KEYS: usize = 128;
/// More keys at once are neither looked for in the cache nor cached: they would drive out the others.
const MAX_CACHED_KEYS: usize = 32;
/// Fewer keys are asked for one by one.
const MIN_BATCH_KEYS: usize = 4;

enum Source<'a> {
    Plain { family: &'a Family, visibility: Visibility },
    Versioned(Box<VersionedCursor>),
}

pub(crate) fn get(
    core: &Core,
    spec: &ReadSpec,
    snapshot: &LsmSnapshot,
    table: &Table,
    keys: &[&[u8]],
    sink: &mut dyn RowSink,
) -> StoreResult<()> {
    if let [id] = spec.families.as_slice()
        && keys.len() < MIN_BATCH_KEYS
    {
        let family = table.family(*id)?;
        if family.form == Form::Plain {
            return get_few(core, spec, snapshot, table, family, keys, sink);
        }
    }
    let mut sources = Vec::with_capacity(spec.families.len());
    for id in &spec.families {
        let family = table.family(*id)?;
        let visibility = Visibility::new(spec, snapshot, table, family)?;
        sources.push(match family.form {
            Form::Plain => Source::Plain { family, visibility },
            Form::PackedVersions | Form::Cells => {
                let options = IteratorOptions { snapshot: Some(&snapshot.view.snapshot), one_row: true, ..IteratorOptions::default() };
                Source::Versioned(Box::new(VersionedCursor::new(OwnedIterator::new(&family.column_family, options), visibility, false)))
            }
        });
    }
    let mut cells: Vec<CellRef<'static>> = Vec::new();
    let batch = if keys.len() < MIN_BATCH_KEYS { 1 } else { BATCH_KEYS };
    let mut physical = Vec::new();
    for keys in keys.chunks(batch) {
        let mut values = Vec::with_capacity(sources.len());
        for source in &sources {
            values.push(match source {
                Source::Plain { family, .. } => read_plain(core, snapshot, table, family, keys, &mut physical)?,
                Source::Versioned(_) => Vec::new(),
            });
        }
        for (i, key) in keys.iter().enumerate() {
            for source in &mut sources {
                if let Source::Versioned(cursor) = source {
                    cursor.get(key)?;
                }
            }
            let mut row = recycle(std::mem::take(&mut cells));
            for (source, values) in sources.iter().zip(&values) {
                match source {
                    Source::Plain { visibility, .. } => {
                        if let Some(Some(value)) = values.get(i) {
                            row.extend(visibility.plain(value)?);
                        }
                    }
                    Source::Versioned(cursor) => cursor.push_cells(&mut row),
                }
            }
            let stop = !row.is_empty() && sink.row(key, &row).is_break();
            cells = recycle(row);
            if stop {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The most common read, without anything that it does not need: some keys of one plain family.
fn get_few(
    core: &Core,
    spec: &ReadSpec,
    snapshot: &LsmSnapshot,
    table: &Table,
    family: &Family,
    keys: &[&[u8]],
    sink: &mut dyn RowSink,
) -> StoreResult<()> {
    let visibility = Visibility::new(spec, snapshot, table, family)?;
    let mut physical = Vec::with_capacity(64);
    for key in keys {
        physical.clear();
        push_row_bound(&mut physical, family.storage, Form::Plain, key);
        let value = read_one(core, snapshot, table, family, key, &physical)?;
        if let Some(value) = value
            && let Some(cell) = visibility.plain(&value)?
            && sink.row(key, &[cell]).is_break()
        {
            break;
        }
    }
    Ok(())
}

/// A value of a plain family, where it is.
enum Held<'a> {
    Pinned(Value<'a>),
    Cached(Arc<[u8]>),
}

impl Deref for Held<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Held::Pinned(value) => value,
            Held::Cached(value) => value,
        }
    }
}

/// Whether rows of a plain family may be taken from the cache.
fn is_cacheable(snapshot: &LsmSnapshot, family: &Family) -> bool {
    family.ttl_us.is_none() && !snapshot.is_past()
}

fn read_one<'a>(
    core: &Core,
    snapshot: &'a LsmSnapshot,
    table: &Table,
    family: &Family,
    key: &[u8],
    physical: &[u8],
) -> StoreResult<Option<Held<'a>>> {
    let view = &snapshot.view;
    let is_cacheable = is_cacheable(snapshot, family);
    if is_cacheable && let Some(cached) = core.range_cache.row(physical, view.timestamp) {
        return Ok(Some(Held::Cached(cached)));
    }
    let value = view.snapshot.get(&family.column_family, physical)?;
    if let Some(value) = value.as_ref().filter(|_| is_cacheable) {
        core.cache_row(table, key, physical, value, view);
    }
    Ok(value.map(Held::Pinned))
}

/// The values of a plain family for some keys; `physical` is memory to build keys in.
fn read_plain<'a>(
    core: &Core,
    snapshot: &'a LsmSnapshot,
    table: &Table,
    family: &Family,
    keys: &[&[u8]],
    physical: &mut Vec<u8>,
) -> StoreResult<Vec<Option<Held<'a>>>> {
    physical.clear();
    if let [key] = keys {
        push_row_bound(physical, family.storage, family.form, key);
        return Ok(vec![read_one(core, snapshot, table, family, key, physical)?]);
    }
    let mut ends = Vec::with_capacity(keys.len());
    for key in keys {
        push_row_bound(physical, family.storage, family.form, key);
        ends.push(physical.len());
    }
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let physical_keys: Vec<&[u8]> = starts.zip(&ends).map(|(start, end)| physical.get(start..*end).unwrap_or_default()).collect();
    let sorted = keys.is_sorted();
    let view = &snapshot.view;
    if keys.len() > MAX_CACHED_KEYS || !is_cacheable(snapshot, family) {
        let values = view.snapshot.get_many(&family.column_family, &physical_keys, sorted)?;
        return Ok(values.into_iter().map(|value| value.map(Held::Pinned)).collect());
    }
    let mut out: Vec<Option<Held<'a>>> =
        physical_keys.iter().map(|key| core.range_cache.row(key, view.timestamp).map(Held::Cached)).collect();
    let (mut places, mut absent) = (Vec::new(), Vec::new());
    for (place, physical) in physical_keys.iter().enumerate().filter(|(place, _)| out.get(*place).is_some_and(Option::is_none)) {
        places.push(place);
        absent.push(*physical);
    }
    if !absent.is_empty() {
        let read = view.snapshot.get_many(&family.column_family, &absent, sorted)?;
        for ((place, physical), value) in places.into_iter().zip(absent).zip(read) {
            if let (Some(value), Some(key)) = (&value, keys.get(place)) {
                core.cache_row(table, key, physical, value, view);
            }
            if let Some(slot) = out.get_mut(place) {
                *slot = value.map(Held::Pinned);
            }
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use crate::{LsmOptions, LsmStore};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    use stoa_store::conformance::{Rows, block_on};
    use stoa_store::{
        Commit, Durability, FamilyId, FamilyOptions, FamilySchema, Mutations, ReadSpec, Snapshot, Store, TableId, TableSchema,
    };

    const T: TableId = TableId(1);
    const F: FamilyId = FamilyId(0);

    fn store(directory: &std::path::Path, ttl: Option<std::time::Duration>) -> LsmStore {
        let store = LsmStore::open(directory, LsmOptions::default()).unwrap();
        let options = FamilyOptions { ttl, ..FamilyOptions::default() };
        let family = FamilySchema { id: F, name: "f".into(), options };
        let schema = TableSchema { id: T, name: "t".into(), families: vec![family], split_points: vec![] };
        block_on(store.create_table(&schema)).unwrap();
        store
    }

    fn commit(store: &LsmStore, fill: impl FnOnce(&mut Mutations)) {
        let mut mutations = Mutations::new();
        fill(&mut mutations);
        block_on(store.commit(Commit { mutations: &mutations, snapshot: None, validate: &[], durability: Durability::Relaxed })).unwrap();
    }

    /// The values of keys that have one.
    fn read(store: &LsmStore, snapshot: &Arc<dyn Snapshot>, keys: &[&str]) -> Vec<String> {
        let snapshot = Arc::clone(snapshot);
        let spec = ReadSpec { table: T, families: vec![F], qualifiers: None, versions: 1, time_range: None, snapshot };
        let keys: Vec<&[u8]> = keys.iter().map(|key| key.as_bytes()).collect();
        let mut rows = Rows::default();
        block_on(store.get(&spec, &keys, &mut rows)).unwrap();
        rows.rows.iter().map(|(_, cells)| String::from_utf8(cells[0].value.clone()).unwrap()).collect()
    }

    fn cached(store: &LsmStore) -> u64 {
        store.metrics().iter().find(|(name, _)| name == "range_cache_entries").unwrap().1
    }

    #[test]
    fn a_row_that_is_cached_is_what_each_view_sees() {
        let directory = tempfile::tempdir().unwrap();
        let store = store(directory.path(), None);
        commit(&store, |m| ["a", "b", "c", "d", "e"].iter().for_each(|key| m.put(T, key.as_bytes(), F, b"", b"1")));
        let first = store.snapshot();
        let all = ["a", "b", "c", "d", "e", "f"];
        for _ in 0..2 {
            assert_eq!(read(&store, &first, &["a"]), ["1"]);
            assert_eq!(read(&store, &first, &all), ["1"; 5]);
        }
        assert_eq!(cached(&store), 5, "what is absent is not cached");
        commit(&store, |m| {
            m.put(T, b"a", F, b"", b"2");
            m.delete_row(T, b"b");
        });
        assert_eq!(cached(&store), 3);
        let second = store.snapshot();
        for _ in 0..2 {
            assert_eq!(read(&store, &second, &all), ["2", "1", "1", "1"]);
            assert_eq!(read(&store, &first, &all), ["1"; 5], "an older view sees what it saw");
            assert_eq!(read(&store, &second, &["a", "b"]), ["2"]);
        }
        let mut load = block_on(store.bulk_load(&[T])).unwrap();
        ["c", "d"].iter().for_each(|key| load.put(T, key.as_bytes(), F, b"", b"3").unwrap());
        block_on(load.finish()).unwrap();
        let third = store.snapshot();
        for _ in 0..2 {
            assert_eq!(read(&store, &third, &all), ["2", "3", "3", "1"]);
            assert_eq!(read(&store, &second, &all), ["2", "1", "1", "1"]);
        }
    }

    #[test]
    fn rows_that_expire_are_not_cached() {
        let directory = tempfile::tempdir().unwrap();
        let store = store(directory.path(), Some(std::time::Duration::from_secs(3600)));
        commit(&store, |m| m.put(T, b"a", F, b"", b"1"));
        assert_eq!(read(&store, &store.snapshot(), &["a"]), ["1"]);
        assert_eq!(cached(&store), 0);
    }

    /// Readers fill and read what writers change: a reader never sees an older value than was acknowledged before its snapshot.
    #[test]
    fn readers_beside_writers_see_what_was_acknowledged() {
        let directory = tempfile::tempdir().unwrap();
        let store = store(directory.path(), None);
        let keys: Vec<String> = (0..8).map(|n| format!("k{n}")).collect();
        commit(&store, |m| keys.iter().for_each(|key| m.put(T, key.as_bytes(), F, b"", b"0")));
        let acknowledged: Vec<AtomicU64> = keys.iter().map(|_| AtomicU64::new(0)).collect();
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let (store, keys, acknowledged, stop) = (&store, &keys, &acknowledged, &stop);
            let writers: Vec<_> = (0..2)
                .map(|half| {
                    scope.spawn(move || {
                        for n in 1..=1500u64 {
                            let at = (n % 4) as usize * 2 + half;
                            commit(store, |m| m.put(T, keys[at].as_bytes(), F, b"", n.to_string().as_bytes()));
                            acknowledged[at].store(n, Ordering::SeqCst);
                        }
                    })
                })
                .collect();
            for reader in 0..2usize {
                scope.spawn(move || {
                    let mut round = reader;
                    while !stop.load(Ordering::Relaxed) {
                        round += 1;
                        let from = if round % 3 == 0 { 0 } else { round % 8 };
                        let wanted: Vec<&str> = keys[from..].iter().take(if round % 3 == 0 { 8 } else { 1 }).map(String::as_str).collect();
                        let least: Vec<u64> = acknowledged[from..].iter().map(|n| n.load(Ordering::SeqCst)).collect();
                        let found = read(store, &store.snapshot(), &wanted);
                        assert_eq!(found.len(), wanted.len());
                        for (found, least) in found.iter().zip(least) {
                            assert!(found.parse::<u64>().unwrap() >= least, "{found} was read, {least} was acknowledged");
                        }
                    }
                });
            }
            writers.into_iter().for_each(|writer| writer.join().unwrap());
            stop.store(true, Ordering::Relaxed);
        });
    }
}
