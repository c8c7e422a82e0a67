//! What is read from files is what an iterator of RocksDB has; damage is noticed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use super::FileScan;
use crate::iterator::{IteratorOptions, OwnedIterator};
use crate::keys::{Form, row_range, storage_bounds};
use crate::view::{Family, LsmSnapshot};
use crate::{LsmOptions, LsmStore};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stoa_store::conformance::{Rows, SplitMix, block_on};
use stoa_store::{
    Commit, Compression, Durability, FamilyId, FamilyOptions, FamilySchema, KeyRange, MutationRef, Mutations, ReadSpec, ScanSpec, Snapshot,
    Store, StoreError, StoreResult, TableId, TableSchema,
};

const F: FamilyId = FamilyId(0);
const T: TableId = TableId(1);
const OTHER: TableId = TableId(2);

fn open(directory: &Path) -> LsmStore {
    let options = LsmOptions { write_buffer_bytes: 2 << 20, block_cache_bytes: 8 << 20, file_scan_bytes: 0, ..LsmOptions::default() };
    LsmStore::open(directory, options).unwrap()
}

fn store(directory: &Path, compression: Compression, block_size: u32) -> LsmStore {
    let store = open(directory);
    for id in [T, OTHER] {
        let options = FamilyOptions { compression, block_size, ..FamilyOptions::default() };
        let family = FamilySchema { id: F, name: "f".into(), options };
        block_on(store.create_table(&TableSchema { id, name: "t".into(), families: vec![family], split_points: vec![] })).unwrap();
    }
    store
}

fn commit(store: &LsmStore, mutations: &Mutations) {
    block_on(store.commit(Commit { mutations, snapshot: None, validate: &[], durability: Durability::Relaxed })).unwrap();
}

fn load(store: &LsmStore, rows: &[(Vec<u8>, Option<Vec<u8>>)]) {
    let mut load = block_on(store.bulk_load(&[T])).unwrap();
    for (key, value) in rows {
        load.apply(match value {
            Some(value) => MutationRef::Put { table: T, key, family: F, qualifier: b"", value },
            None => MutationRef::DeleteRow { table: T, key },
        })
        .unwrap();
    }
    block_on(load.finish()).unwrap();
}

type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

fn with_family<T>(snapshot: &Arc<dyn Snapshot>, f: impl FnOnce(&LsmSnapshot, &Family) -> T) -> T {
    let snapshot = LsmSnapshot::of(snapshot).unwrap();
    f(snapshot, &snapshot.view.tables.map[&T].families[0])
}

/// The physical entries of a range as the files have them; `None` if they are left to RocksDB.
fn by_files(snapshot: &Arc<dyn Snapshot>, bounds: (Vec<u8>, Vec<u8>)) -> StoreResult<Option<Pairs>> {
    with_family(snapshot, |snapshot, family| {
        let Some(mut scan) = FileScan::open(&family.column_family, family.storage, &snapshot.view.snapshot, bounds, 0)? else {
            return Ok(None);
        };
        let mut out = Pairs::new();
        scan.seek_to_first();
        while scan.check()? {
            let (key, value) = scan.item().unwrap();
            assert_eq!(scan.key(), Some(key));
            out.push((key.to_vec(), value.to_vec()));
            scan.next();
        }
        // The same emitted, by a few and by many.
        scan.seek_to_first();
        let (mut handed, mut pieces) = (Pairs::new(), SplitMix(out.len() as u64));
        while scan.check()? {
            let more = handed.len() + 1 + pieces.below(50) as usize;
            let goes_on = scan.hand_over(|key, value| {
                handed.push((key.to_vec(), value.to_vec()));
                Ok(handed.len() < more)
            })?;
            assert!(handed.len() == more || !goes_on);
        }
        assert!(handed == out, "emitted: {} of {}", handed.len(), out.len());
        Ok(Some(out))
    })
}

fn by_rocksdb(snapshot: &Arc<dyn Snapshot>, bounds: (Vec<u8>, Vec<u8>)) -> Pairs {
    with_family(snapshot, |snapshot, family| {
        let options = IteratorOptions { snapshot: Some(&snapshot.view.snapshot), bounds: Some(bounds), ..IteratorOptions::default() };
        let mut iterator = OwnedIterator::new(&family.column_family, options);
        iterator.seek_to_first();
        let mut out = Pairs::new();
        while iterator.check().unwrap() {
            let (key, value) = iterator.item().unwrap();
            out.push((key.to_vec(), value.to_vec()));
            iterator.next();
        }
        out
    })
}

fn key_of(random: &mut SplitMix) -> Vec<u8> {
    let n = random.below(3000);
    // Of several lengths, some the beginning of others.
    let mut key = format!("{n:05}").into_bytes();
    key.truncate(2 + random.below(4) as usize);
    if random.below(40) == 0 {
        key.extend(vec![b'x'; 200]);
    }
    key
}

fn value_of(random: &mut SplitMix) -> Vec<u8> {
    let length = if random.below(50) == 0 { 20_000 } else { random.below(200) };
    (0..length).map(|_| random.below(20) as u8).collect()
}

/// Writes of all kinds, flushes, compactions and loads, looked at with snapshots of different ages: the files have what RocksDB's
/// iterator has.
fn history(seed: u64, compression: Compression, block_size: u32) -> u32 {
    let directory = tempfile::tempdir().unwrap();
    let mut store = store(directory.path(), compression, block_size);
    let mut random = SplitMix(seed);
    let mut snapshots: Vec<Arc<dyn Snapshot>> = Vec::new();
    let mut compared = 0;
    for step in 0..250 {
        let mut mutations = Mutations::new();
        match random.below(16) {
            0..=5 => {
                for _ in 0..random.below(400) {
                    mutations.put(T, &key_of(&mut random), F, b"", &value_of(&mut random));
                }
                commit(&store, &mutations);
            }
            6 => {
                for _ in 0..random.below(100) {
                    mutations.delete_row(T, &key_of(&mut random));
                }
                commit(&store, &mutations);
            }
            // Deletions beside it concern nobody.
            7 if step % 2 == 0 => {
                mutations.delete_row(OTHER, &key_of(&mut random));
                mutations.put(OTHER, &key_of(&mut random), F, b"", &value_of(&mut random));
                commit(&store, &mutations);
            }
            8..=11 => block_on(store.flush(T)).unwrap(),
            12 if random.below(3) == 0 => block_on(store.compact(T)).unwrap(),
            12..=14 => {
                let mut rows: Vec<_> =
                    (0..random.below(500)).map(|_| (key_of(&mut random), (random.below(10) > 0).then(|| value_of(&mut random)))).collect();
                rows.sort_by(|a, b| a.0.cmp(&b.0));
                rows.dedup_by(|a, b| a.0 == b.0);
                load(&store, &rows);
            }
            _ if random.below(3) == 0 => {
                snapshots.clear();
                drop(store);
                store = open(directory.path());
            }
            _ => {}
        }
        if random.below(4) == 0 || step == 0 {
            snapshots.push(store.snapshot());
        }
        if snapshots.len() > 4 {
            snapshots.remove(random.below(4) as usize);
        }
        for snapshot in snapshots.iter().chain([&store.snapshot()]) {
            let storage = with_family(snapshot, |_, family| family.storage);
            let (mut from, mut to) = (key_of(&mut random), key_of(&mut random));
            if from > to {
                (from, to) = (to, from);
            }
            for bounds in [storage_bounds(storage), row_range(storage, Form::Plain, &from, Some(&to))] {
                if let Some(found) = by_files(snapshot, bounds.clone()).unwrap() {
                    assert!(found == by_rocksdb(snapshot, bounds), "seed {seed}, step {step}");
                    compared += 1;
                }
            }
        }
    }
    compared
}

#[test]
fn files_have_what_an_iterator_has() {
    for (seed, compression, block_size) in
        [(1, Compression::Lz4, 16384), (2, Compression::None, 4096), (3, Compression::Lz4, 1024), (4, Compression::Lz4, 65536)]
    {
        let compared = history(seed, compression, block_size);
        assert!(compared > 60, "seed {seed}: only {compared} were read from files");
    }
    assert_eq!(history(5, Compression::Zstd, 16384), 0, "what can't be decompressed here is left to RocksDB");
}

fn filled(directory: &Path) -> LsmStore {
    let store = store(directory, Compression::Lz4, 4096);
    let row = |n: u32| (format!("{n:06}").into_bytes(), Some(format!("{n}, and so on: {}", n * 7919).into_bytes()));
    load(&store, &(0..20_000).map(row).collect::<Vec<_>>());
    store
}

/// What is before a bound in one file says nothing of the first block of the next.
#[test]
fn files_of_one_block_lie_between_others() {
    let directory = tempfile::tempdir().unwrap();
    let store = store(directory.path(), Compression::Lz4, 4096);
    let row = |n: u32| (format!("{n:06}").into_bytes(), Some(format!("old {n}, and so on: {}", n * 7919).into_bytes()));
    for range in [0..20_000, 20_000..20_001, 20_001..40_000, 40_000..40_003, 40_003..60_000] {
        load(&store, &range.map(row).collect::<Vec<_>>());
    }
    let mut mutations = Mutations::new();
    for n in [20_003, 40_003, 40_010, 59_999] {
        mutations.put(T, format!("{n:06}").as_bytes(), F, b"", b"new");
    }
    commit(&store, &mutations);
    let snapshot = store.snapshot();
    let storage = with_family(&snapshot, |_, family| family.storage);
    let whole = storage_bounds(storage);
    let found = by_files(&snapshot, whole.clone()).unwrap().unwrap();
    assert!(found == by_rocksdb(&snapshot, whole.clone()), "{} rows", found.len());
    // A part that ends in the first block behind such a file.
    with_family(&snapshot, |snapshot, family| {
        let mut scan = FileScan::open(&family.column_family, family.storage, &snapshot.view.snapshot, whole, 0).unwrap().unwrap();
        let bound = |n: u32| row_range(storage, Form::Plain, format!("{n:06}").as_bytes(), None).0;
        scan.restrict_to(&bound(19_990), bound(20_005));
        let mut keys = Vec::new();
        while scan.check().unwrap() {
            let more = scan.hand_over(|key, _| {
                keys.push(key.to_vec());
                Ok(true)
            });
            more.unwrap();
        }
        assert_eq!(keys.len(), 15, "{:?}", keys.iter().map(|key| String::from_utf8_lossy(key)).collect::<Vec<_>>());
    });
}

fn scan(store: &LsmStore) -> Box<dyn stoa_store::Scan> {
    let snapshot = store.snapshot();
    let read = ReadSpec { table: T, families: vec![F], qualifiers: None, versions: 1, time_range: None, snapshot };
    block_on(store.scan(ScanSpec { read, range: KeyRange::all(), reverse: false, limit: None, fill_cache: false })).unwrap()
}

fn table_files(directory: &Path) -> Vec<PathBuf> {
    let paths = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|e| e == "sst")).collect()
}

#[test]
fn a_scan_goes_on_when_its_files_were_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let store = filled(directory.path());
    let mut scan = scan(&store);
    let mut rows = Rows::default();
    block_on(scan.next_block(10, &mut rows)).unwrap();
    let before = table_files(directory.path());
    let mut mutations = Mutations::new();
    for n in 0..20_000 {
        mutations.put(T, format!("{n:06}").as_bytes(), F, b"", b"new");
    }
    commit(&store, &mutations);
    block_on(store.compact(T)).unwrap();
    assert!(table_files(directory.path()).iter().any(|path| !before.contains(path)), "nothing was replaced");
    while block_on(scan.next_block(1000, &mut rows)).unwrap() {}
    assert_eq!(rows.rows.len(), 20_000);
    assert!(rows.rows.iter().all(|row| row.1[0].value != b"new"));
}

#[test]
fn damage_is_noticed() {
    let directory = tempfile::tempdir().unwrap();
    let store = filled(directory.path());
    let snapshot = store.snapshot();
    let storage = with_family(&snapshot, |_, family| family.storage);
    let good = by_files(&snapshot, storage_bounds(storage)).unwrap().unwrap();
    assert_eq!(good.len(), 20_000);
    let [path] = &table_files(directory.path())[..] else { panic!("not one file") };
    let bytes = std::fs::read(path).unwrap();
    let (mut random, mut noticed) = (SplitMix(7), 0);
    let end = bytes.len() as u64;
    let places = (0..150).map(|_| random.below(end)).chain((1..=53).map(|back| end - back)).collect::<Vec<_>>();
    for at in &places {
        let mut damaged = bytes.clone();
        damaged[*at as usize] ^= 1 << random.below(8);
        std::fs::write(path, &damaged).unwrap();
        match by_files(&snapshot, storage_bounds(storage)) {
            Err(StoreError::Corruption(message)) => {
                assert!(message.contains(".sst is damaged"), "{message}");
                noticed += 1;
            }
            Err(error) => panic!("byte {at}: {error}"),
            // The filter is not read, and what looks like another format is RocksDB's.
            Ok(None) => {}
            Ok(Some(found)) => assert!(found == good, "byte {at} changes what is read"),
        }
    }
    assert!(noticed > places.len() / 2, "{noticed} of {}", places.len());
    for length in [0, 20, 53, 1000, bytes.len() - 1] {
        std::fs::write(path, &bytes[..length]).unwrap();
        assert!(matches!(by_files(&snapshot, storage_bounds(storage)), Err(StoreError::Corruption(_))), "cut at {length}");
    }
    std::fs::write(path, &bytes).unwrap();
    assert!(by_files(&snapshot, storage_bounds(storage)).unwrap().unwrap() == good);
}

#[test]
fn deletions_of_others_and_those_that_were_flushed_do_not_keep_files_from_being_read() {
    let directory = tempfile::tempdir().unwrap();
    let store = filled(directory.path());
    let reads = || {
        let snapshot = store.snapshot();
        let storage = with_family(&snapshot, |_, family| family.storage);
        by_files(&snapshot, storage_bounds(storage)).unwrap().map(|found| found.len())
    };
    let delete = |table: TableId| {
        let mut mutations = Mutations::new();
        mutations.delete_row(table, b"000007");
        commit(&store, &mutations);
    };
    delete(OTHER);
    assert_eq!(reads(), Some(20_000));
    delete(T);
    assert_eq!(reads(), None);
    block_on(store.flush(T)).unwrap();
    assert_eq!(reads(), Some(19_999));
    // For scans that are much longer than what is in memory the janitor flushes, but not again and again.
    let snapshot = store.snapshot();
    let of_family = |what: &dyn Fn(&Family) -> bool| with_family(&snapshot, |_, family| what(family));
    let flush = || of_family(&|family| family.column_family.flush_deletions().is_ok());
    delete(T);
    assert!(flush() && reads().is_none(), "nobody asked for it");
    assert!(of_family(&|family| family.column_family.has_deletions(family.storage, 1 << 30).unwrap()));
    while reads().is_none() {
        std::thread::yield_now();
    }
    assert_eq!(reads(), Some(19_999));
    delete(T);
    assert!(of_family(&|family| family.column_family.has_deletions(family.storage, 1 << 30).unwrap()));
    assert!(flush() && reads().is_none());
}
