//! What happens when the disk, its bytes or another process get in the way; backups; bounds of memory and time.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stoa_store::clock::ManualClock;
use stoa_store::conformance::{Rows, block_on};
use stoa_store::{
    CellRef, Certainty, Commit, Compression, Durability, FamilyId, FamilyOptions, FamilySchema, KeyRange, Layout, MutationRef, Mutations,
    ReadSpec, RowSink, ScanSpec, Store, StoreError, StoreResult, TableId, TableSchema, Timestamp,
};
use stoa_store_lsm::{LsmOptions, LsmStore};

const T: TableId = TableId(1);
const F: FamilyId = FamilyId(0);

fn table(options: FamilyOptions) -> TableSchema {
    let families = vec![FamilySchema { id: F, name: "f".into(), options }];
    TableSchema { id: T, name: "t".into(), families, split_points: vec![] }
}

fn open(path: &Path) -> StoreResult<LsmStore> {
    LsmStore::open(path, LsmOptions { write_buffer_bytes: 4 << 20, block_cache_bytes: 16 << 20, ..Default::default() })
}

fn fresh(path: &Path) -> LsmStore {
    let store = open(path).unwrap();
    block_on(store.create_table(&table(FamilyOptions::default()))).unwrap();
    store
}

fn put(store: &LsmStore, key: u64, value: &[u8], durability: Durability) -> StoreResult<Timestamp> {
    let mut mutations = Mutations::new();
    mutations.put(T, &key.to_be_bytes(), F, b"", value);
    block_on(store.commit(Commit { mutations: &mutations, snapshot: None, validate: &[], durability }))
}

fn put_of<'a>(key: &'a [u8], value: &'a [u8]) -> MutationRef<'a> {
    MutationRef::Put { table: T, key, family: F, qualifier: b"", value }
}

fn scan(store: &LsmStore) -> StoreResult<Rows> {
    let read = ReadSpec { table: T, families: vec![F], qualifiers: None, versions: 1, time_range: None, snapshot: store.snapshot() };
    let spec = ScanSpec { read, range: KeyRange::all(), reverse: false, limit: None, fill_cache: true };
    let mut scan = block_on(store.scan(spec))?;
    let mut rows = Rows::default();
    while block_on(scan.next_block(1000, &mut rows))? {}
    Ok(rows)
}

/// Bytes that don't compress.
fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut random = stoa_store::conformance::SplitMix(seed);
    (0..len.div_ceil(8)).flat_map(|_| random.number().to_be_bytes()).take(len).collect()
}

fn files(path: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(path).unwrap().flatten().map(|e| e.path());
    entries.filter(|p| p.extension().is_some_and(|e| e == extension)).collect()
}

#[test]
fn a_directory_has_one_owner() {
    let directory = tempfile::tempdir().unwrap();
    let store = fresh(directory.path());
    let error = open(directory.path()).unwrap_err();
    assert!(matches!(&error, StoreError::Locked(m) if m.contains(&directory.path().display().to_string())), "{error:?}");
    // A snapshot keeps it open, an ended one does not.
    let snapshot = store.snapshot();
    drop(store);
    assert!(matches!(open(directory.path()), Err(StoreError::Locked(_))));
    drop(snapshot);
    open(directory.path()).unwrap();
}

#[test]
fn foreign_directories_and_formats_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("thesis.txt"), "years of work").unwrap();
    assert!(matches!(open(directory.path()), Err(StoreError::Invalid(m)) if m.contains("thesis.txt")));
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1, "nothing was written into it");

    let directory = tempfile::tempdir().unwrap();
    drop(fresh(directory.path()));
    {
        let mut options = rocksdb::Options::default();
        options.create_if_missing(false);
        let names = rocksdb::DB::list_cf(&options, directory.path()).unwrap();
        let db = rocksdb::DB::open_cf(&options, directory.path(), names).unwrap();
        db.put(stoa_store_lsm::metadata::FORMAT_KEY, b"stoa-lsm 7").unwrap();
    }
    assert!(matches!(open(directory.path()), Err(StoreError::Invalid(m)) if m.contains("stoa-lsm 7") && m.contains("stoa-lsm 1")));
}

#[test]
fn damaged_files_are_reported_and_never_read_as_missing_rows() {
    // A table's file: damaged in the middle, and missing.
    for remove in [false, true] {
        let directory = tempfile::tempdir().unwrap();
        let store = fresh(directory.path());
        for key in 0..2000 {
            put(&store, key, &noise(key, 100), Durability::Relaxed).unwrap();
        }
        block_on(store.flush(T)).unwrap();
        drop(store);
        // The largest holds the table, not the metadata.
        let file = files(directory.path(), "sst").into_iter().max_by_key(|f| f.metadata().unwrap().len()).unwrap();
        if remove {
            std::fs::remove_file(&file).unwrap();
        } else {
            let mut bytes = std::fs::read(&file).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle..middle + 64].fill(0x55);
            std::fs::write(&file, bytes).unwrap();
        }
        let error = open(directory.path()).and_then(|store| scan(&store)).unwrap_err();
        assert!(matches!(error, StoreError::Corruption(_)), "{error:?}");
    }
}

/// A copy of an open store's directory, as a crash leaves it: without a clean end.
fn copy_of(store: &Path, target: PathBuf) -> PathBuf {
    std::fs::create_dir(&target).unwrap();
    for entry in std::fs::read_dir(store).unwrap().flatten().filter(|e| e.file_type().unwrap().is_file()) {
        std::fs::copy(entry.path(), target.join(entry.file_name())).unwrap();
    }
    target
}

fn log_of(path: &Path) -> PathBuf {
    files(path, "log").into_iter().max_by_key(|f| f.metadata().unwrap().len()).unwrap()
}

#[test]
fn a_torn_log_is_accepted_and_a_damaged_one_is_not() {
    let directory = tempfile::tempdir().unwrap();
    let store = fresh(directory.path());
    for key in 0..100 {
        put(&store, key, &noise(key, 1000), Durability::Sync).unwrap();
    }
    let copies = tempfile::tempdir().unwrap();
    let [whole, zeros, cut, empty, damaged] =
        ["whole", "zeros", "cut", "empty", "damaged"].map(|name| copy_of(directory.path(), copies.path().join(name)));
    drop(store);
    let bytes = std::fs::read(log_of(&whole)).unwrap();
    let end = bytes.len();
    assert_eq!(scan(&open(&whole).unwrap()).unwrap().rows.len(), 100);

    // As programs of before left it, which wrote zeros ahead of the records.
    std::fs::write(log_of(&zeros), [&bytes[..], &[0; 300_000]].concat()).unwrap();
    let store = open(&zeros).unwrap();
    assert_eq!(scan(&store).unwrap().rows.len(), 100);
    put(&store, 100, b"later", Durability::Sync).unwrap();
    drop(store);
    assert_eq!(scan(&open(&zeros).unwrap()).unwrap().rows.len(), 101);

    std::fs::write(log_of(&cut), &bytes[..end - 500]).unwrap();
    let mut missing = bytes.clone();
    missing[end - 500..end].fill(0);
    missing.extend([0; 100_000]);
    std::fs::write(log_of(&empty), missing).unwrap();
    for torn in [cut, empty] {
        let rows = scan(&open(&torn).unwrap()).unwrap();
        assert_eq!(rows.rows.len(), 99, "only the torn commit is gone");
    }

    let mut bytes = bytes;
    let middle = end / 2;
    bytes[middle..middle + 8].fill(0x55);
    std::fs::write(log_of(&damaged), &bytes).unwrap();
    for _ in 0..2 {
        let error = open(&damaged).unwrap_err();
        assert!(matches!(&error, StoreError::Corruption(m) if m.contains("is missing and was synced")), "{error:?}");
        assert_eq!(std::fs::read(log_of(&damaged)).unwrap(), bytes, "nothing was done to it");
    }
    let salvaged = LsmStore::open(&damaged, LsmOptions { salvage_log: true, ..Default::default() }).unwrap();
    let rows = scan(&salvaged).unwrap();
    assert!((10..99).contains(&rows.rows.len()), "what was before the damage is there");
}

#[test]
fn any_sectors_of_what_was_not_synced_may_be_missing() {
    let mut random = stoa_store::conformance::SplitMix(7);
    let directory = tempfile::tempdir().unwrap();
    let store = fresh(directory.path());
    // Rows before are in files, so that the log begins in the middle.
    for key in 0..20 {
        put(&store, key, &noise(key, 3000), Durability::Relaxed).unwrap();
    }
    block_on(store.flush(T)).unwrap();
    // Of such lengths that blocks of the log, of 32 KiB, often begin with a record.
    let len = |key: u64| if key.is_multiple_of(3) { 32_768 / 4 - 100 } else { 32_768 / 8 - 100 };
    for key in 20..60 {
        put(&store, key, &noise(key, len(key)), Durability::Relaxed).unwrap();
    }
    let from = log_of(directory.path()).metadata().unwrap().len() as usize;
    put(&store, 60, b"synced", Durability::Sync).unwrap();
    for key in 61..120 {
        put(&store, key, &noise(key, len(key)), Durability::Relaxed).unwrap();
    }
    let copies = tempfile::tempdir().unwrap();
    let whole = copy_of(directory.path(), copies.path().join("whole"));
    drop(store);
    let log = std::fs::read(log_of(&whole)).unwrap();
    for round in 0..60 {
        let mut bytes = log.clone();
        let sector = [512, 4096, 32_768][round % 3];
        // All that follows the synced record, whose length is less than a sector.
        let first = (from + 4096).div_ceil(sector);
        let share = random.number() % 20;
        for at in first..bytes.len().div_ceil(sector) {
            if random.number() % 20 < share {
                let end = ((at + 1) * sector).min(bytes.len());
                bytes[at * sector..end].fill(0);
            }
        }
        if random.number().is_multiple_of(3) {
            bytes.truncate(first * sector + random.number() as usize % (bytes.len() - first * sector));
        }
        let torn = copy_of(&whole, copies.path().join(round.to_string()));
        std::fs::write(log_of(&torn), &bytes).unwrap();
        let rows = scan(&open(&torn).unwrap_or_else(|error| panic!("round {round}: {error:?}"))).unwrap().rows.len() as u64;
        assert!(rows > 60, "round {round}: what was synced is there, of {rows} rows");
        let last = scan(&open(&torn).unwrap()).unwrap().rows.last().unwrap().0.clone();
        assert_eq!(last, (rows - 1).to_be_bytes(), "round {round}: a later commit without an earlier one");
        std::fs::remove_dir_all(torn).unwrap();
    }
}

#[test]
fn a_full_disk_is_an_error_and_space_makes_it_go_on() {
    let directory = tempfile::tempdir().unwrap();
    let mount = |arguments: &[&str]| {
        let status = std::process::Command::new(arguments[0]).args(&arguments[1..]).arg(directory.path()).status();
        status.is_ok_and(|s| s.success())
    };
    if !mount(&["mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs"]) {
        eprintln!("skipped: no right to mount a small file system");
        return;
    }
    let result = std::panic::catch_unwind(|| {
        let path = directory.path().join("store");
        let ballast = directory.path().join("ballast");
        std::fs::write(&ballast, noise(0, 12 << 20)).unwrap();
        let store = fresh(&path);
        let mut written = 0;
        let error = loop {
            match put(&store, written, &noise(written, 50_000), Durability::Sync) {
                Ok(_) => written += 1,
                Err(error) => break error,
            }
            assert!(written < 10_000, "the disk never filled");
        };
        assert!(matches!(error, StoreError::DiskFull(_)), "{error:?}");
        assert_eq!(error.certainty(), Certainty::NotDone);
        assert_eq!(scan(&store).unwrap().rows.len() as u64, written, "reads go on, and see what was acknowledged only");
        std::fs::remove_file(&ballast).unwrap();
        // RocksDB looks for space from time to time by itself.
        let mut tries = 0;
        while let Err(error) = put(&store, written, b"after", Durability::Sync) {
            assert!(matches!(error, StoreError::DiskFull(_)), "{error:?}");
            tries += 1;
            assert!(tries < 600, "the store does not recover");
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        written += 1;
        let mut load = block_on(store.bulk_load(&[T])).unwrap();
        let error = (1 << 40..(1 << 40) + 10_000u64)
            .find_map(|key| load.apply(put_of(&key.to_be_bytes(), &noise(key, 50_000))).err())
            .expect("the files have no room");
        assert!(matches!(error, StoreError::DiskFull(_)), "{error:?}");
        drop(load);
        assert_eq!(std::fs::read_dir(path.join("load")).unwrap().count(), 0, "what was written of a load goes with it");
        put(&store, written, b"after the load", Durability::Sync).unwrap();
        written += 1;
        assert_eq!(scan(&store).unwrap().rows.len() as u64, written);
        drop(store);
        assert_eq!(scan(&open(&path).unwrap()).unwrap().rows.len() as u64, written);
    });
    assert!(mount(&["umount"]));
    result.unwrap();
}

#[test]
fn long_loads_are_whole_or_leave_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let store = fresh(directory.path());
    let left = || std::fs::read_dir(directory.path().join("load")).unwrap().count();
    let rows = 40_000;
    for last in [rows, rows / 2] {
        // Megabytes, so that a thread builds the files; the second is given up on its way.
        let mut load = block_on(store.bulk_load(&[T])).unwrap();
        (0..last).for_each(|key: u64| load.apply(put_of(&key.to_be_bytes(), &noise(key + rows - last, 100))).unwrap());
        if last == rows {
            block_on(load.finish()).unwrap();
        } else {
            assert!(matches!(load.apply(put_of(b"", b"")), Err(StoreError::Invalid(_))), "keys must not go down");
            assert_eq!(left(), 1);
            drop(load);
        }
        assert_eq!(left(), 0);
        let found = scan(&store).unwrap();
        assert_eq!(found.rows.len() as u64, rows);
        for (key, (found, cells)) in (0..rows).zip(&found.rows) {
            assert_eq!((found.as_slice(), cells[0].value.as_slice()), (key.to_be_bytes().as_slice(), noise(key, 100).as_slice()));
        }
    }
}

#[test]
fn a_backup_is_a_store_as_of_its_timestamp() {
    let directory = tempfile::tempdir().unwrap();
    let store = Arc::new(fresh(directory.path()));
    let target = directory.path().join("backups").join("one");
    let stop = std::sync::atomic::AtomicBool::new(false);
    let at = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut key = 0;
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                put(&store, key, b"v", Durability::Relaxed).unwrap();
                key += 1;
            }
        });
        while store.snapshot().timestamp() == Timestamp::default() || scan(&store).unwrap().rows.len() < 100 {}
        let at = block_on(store.backup(&target)).unwrap();
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        at
    });
    let copy = open(&target).unwrap();
    let rows = scan(&copy).unwrap().rows;
    assert!(rows.len() >= 100);
    assert_eq!(rows.iter().map(|(_, cells)| cells[0].timestamp).max(), Some(at), "up to the timestamp, and all of it");
    let expected: Vec<_> = (0..rows.len() as u64).map(|k| k.to_be_bytes().to_vec()).collect();
    assert_eq!(rows.iter().map(|(k, _)| k.clone()).collect::<Vec<_>>(), expected);
    assert!(put(&copy, 0, b"x", Durability::Sync).unwrap() > at);
    assert!(matches!(block_on(store.backup(directory.path())), Err(StoreError::Invalid(_))), "only into an empty directory");
}

#[test]
fn reads_of_the_past_are_exact_or_refused() {
    let directory = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::at_us(1_700_000_000_000_000));
    let store = LsmStore::open(directory.path(), LsmOptions { clock: clock.clone(), ..Default::default() }).unwrap();
    let versions = FamilyOptions { versions: 3, ..Default::default() };
    block_on(store.create_table(&table(versions))).unwrap();
    let plain = TableId(2);
    block_on(store.create_table(&TableSchema { id: plain, ..table(FamilyOptions::default()) })).unwrap();
    let read = |table, at| {
        let snapshot = store.snapshot_at(at).unwrap();
        let spec = ReadSpec { table, families: vec![F], qualifiers: None, versions: 1, time_range: None, snapshot };
        let mut rows = Rows::default();
        block_on(store.get(&spec, &[&5u64.to_be_bytes()], &mut rows)).map(|()| rows.texts_of_values())
    };
    let mut times = vec![];
    for value in ["1", "2", "3", "4"] {
        clock.advance_us(100);
        times.push(put(&store, 5, value.as_bytes(), Durability::Relaxed).unwrap());
    }
    let mut mutations = Mutations::new();
    mutations.put(plain, &5u64.to_be_bytes(), F, b"", b"p");
    let commit = Commit { mutations: &mutations, snapshot: None, validate: &[], durability: Durability::Relaxed };
    let changed = block_on(store.commit(commit)).unwrap();
    assert_eq!(read(T, times[3]).unwrap(), ["4"]);
    assert_eq!(read(T, times[2]).unwrap(), ["3"]);
    assert_eq!(read(T, times[1]).unwrap(), ["2"]);
    assert!(matches!(read(T, times[0]), Err(StoreError::SnapshotTooOld)), "three newer versions: the fourth may be gone");
    assert_eq!(read(plain, changed).unwrap(), ["p"]);
    assert!(matches!(read(plain, times[3]), Err(StoreError::SnapshotTooOld)), "a family of one version has no past");
    clock.advance_us(100);
    put(&store, 5, b"5", Durability::Relaxed).unwrap();
    assert_eq!(read(plain, changed).unwrap(), ["p"], "unless nothing changed since");
}

#[test]
fn more_versions_bring_none_back() {
    let directory = tempfile::tempdir().unwrap();
    let with = |versions, layout| table(FamilyOptions { versions, layout, ..FamilyOptions::default() });
    let mut store = open(directory.path()).unwrap();
    block_on(store.create_table(&with(1, Layout::Packed))).unwrap();
    let read = |store: &LsmStore, at| {
        let snapshot = store.snapshot_at(at).unwrap();
        let spec = ReadSpec { table: T, families: vec![F], qualifiers: None, versions: 1, time_range: None, snapshot };
        let mut rows = Rows::default();
        block_on(store.get(&spec, &[&5u64.to_be_bytes()], &mut rows)).map(|()| rows.texts_of_values())
    };
    let old = put(&store, 5, b"1", Durability::Sync).unwrap();
    let kept = put(&store, 5, b"2", Durability::Sync).unwrap();
    block_on(store.alter_table(&with(3, Layout::Packed))).unwrap();
    put(&store, 5, b"3", Durability::Sync).unwrap();
    for _ in 0..2 {
        assert_eq!(read(&store, kept).unwrap(), ["2"]);
        assert!(matches!(read(&store, old), Err(StoreError::SnapshotTooOld)));
        drop(store);
        store = open(directory.path()).unwrap();
    }
    // From here on three are kept, and none more because of another change.
    let again = put(&store, 5, b"4", Durability::Sync).unwrap();
    block_on(store.alter_table(&with(2, Layout::Packed))).unwrap();
    block_on(store.alter_table(&with(4, Layout::Packed))).unwrap();
    put(&store, 5, b"5", Durability::Sync).unwrap();
    assert_eq!(read(&store, again).unwrap(), ["4"]);
    assert!(matches!(read(&store, kept), Err(StoreError::SnapshotTooOld)));
}

#[test]
fn more_versions_take_nothing_away() {
    for layout in [Layout::Packed, Layout::Cells] {
        let directory = tempfile::tempdir().unwrap();
        let with = |versions, compression| table(FamilyOptions { versions, layout, compression, ..FamilyOptions::default() });
        let mut store = open(directory.path()).unwrap();
        block_on(store.create_table(&with(3, Compression::Lz4))).unwrap();
        let at = |store: &LsmStore, key: u64, at| {
            let snapshot = store.snapshot_at(at).unwrap();
            let spec = ReadSpec { table: T, families: vec![F], qualifiers: None, versions: 1, time_range: None, snapshot };
            let mut rows = Rows::default();
            block_on(store.get(&spec, &[&key.to_be_bytes()], &mut rows)).map(|()| rows.texts_of_values())
        };
        let delete = |store: &LsmStore, key: u64| {
            let mut mutations = Mutations::new();
            mutations.delete_row(T, &key.to_be_bytes());
            let commit = Commit { mutations: &mutations, snapshot: None, validate: &[], durability: Durability::Sync };
            block_on(store.commit(commit)).unwrap()
        };
        let write = |store: &LsmStore, key, value: &str| put(store, key, value.as_bytes(), Durability::Sync).unwrap();
        let before: Vec<_> = ["1", "2", "3", "4"].into_iter().map(|value| write(&store, 5, value)).collect();
        let there = write(&store, 6, "a");
        let gone = delete(&store, 6);
        // With more versions, in another place, and with more again.
        block_on(store.alter_table(&with(10, Compression::Lz4))).unwrap();
        let between: Vec<_> = ["5", "6", "7", "8"].into_iter().map(|value| write(&store, 5, value)).collect();
        block_on(store.alter_table(&with(10, Compression::Zstd))).unwrap();
        block_on(store.alter_table(&with(20, Compression::Zstd))).unwrap();
        let again = write(&store, 6, "b");
        let check = |store: &LsmStore| {
            assert!(matches!(at(store, 5, before[0]), Err(StoreError::SnapshotTooOld)), "three newer ones were enough for it to go");
            for (value, time) in ["2", "3", "4"].into_iter().zip(&before[1..]).chain(["5", "6", "7", "8"].into_iter().zip(&between)) {
                assert_eq!(at(store, 5, *time).unwrap(), [value], "{layout:?}");
            }
            assert_eq!(at(store, 6, there).unwrap(), ["a"]);
            assert!(at(store, 6, gone).unwrap().is_empty());
            assert_eq!(at(store, 6, again).unwrap(), ["b"]);
        };
        check(&store);
        block_on(store.compact(T)).unwrap();
        check(&store);
        drop(store);
        store = open(directory.path()).unwrap();
        check(&store);
        // Lowered and raised: nothing is known of what the lower number has let go.
        block_on(store.alter_table(&with(2, Compression::Zstd))).unwrap();
        block_on(store.alter_table(&with(20, Compression::Zstd))).unwrap();
        assert!(matches!(at(&store, 5, between[1]), Err(StoreError::SnapshotTooOld)));
        assert_eq!(at(&store, 5, between[2]).unwrap(), ["7"]);
        assert!(matches!(at(&store, 6, there), Err(StoreError::SnapshotTooOld)));
        assert!(at(&store, 6, gone).unwrap().is_empty());
    }
}

#[test]
fn a_longer_ttl_knows_no_more_than_a_shorter_one_has_kept() {
    const SECOND: u64 = 1_000_000;
    let directory = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::at_us(1_700_000_000_000_000));
    let store = LsmStore::open(directory.path(), LsmOptions { clock: clock.clone(), ..Default::default() }).unwrap();
    let with = |ttl| {
        let ttl = Some(std::time::Duration::from_secs(ttl));
        table(FamilyOptions { versions: FamilyOptions::ALL_VERSIONS, min_versions: 1, ttl, ..FamilyOptions::default() })
    };
    block_on(store.create_table(&with(2))).unwrap();
    let read = |at| {
        let snapshot = store.snapshot_at(at).unwrap();
        let spec = ReadSpec { table: T, families: vec![F], qualifiers: None, versions: 1, time_range: None, snapshot };
        let mut rows = Rows::default();
        block_on(store.get(&spec, &[&5u64.to_be_bytes()], &mut rows)).map(|()| rows.texts_of_values())
    };
    let old = put(&store, 5, b"1", Durability::Sync).unwrap();
    clock.advance_us(SECOND);
    let next = put(&store, 5, b"2", Durability::Sync).unwrap();
    clock.advance_us(4 * SECOND);
    let last = put(&store, 5, b"3", Durability::Sync).unwrap();
    block_on(store.compact(T)).unwrap();
    clock.advance_us(SECOND);
    block_on(store.alter_table(&with(3600))).unwrap();
    for at in [old, next] {
        assert!(matches!(read(at), Err(StoreError::SnapshotTooOld)), "what two seconds have let go is not known");
    }
    assert_eq!(read(last).unwrap(), ["3"]);
    put(&store, 5, b"4", Durability::Sync).unwrap();
    clock.advance_us(100 * SECOND);
    assert_eq!(read(last).unwrap(), ["3"], "from then on the longer one holds");
}

trait TextsOfValues {
    fn texts_of_values(&self) -> Vec<String>;
}

impl TextsOfValues for Rows {
    fn texts_of_values(&self) -> Vec<String> {
        self.rows.iter().flat_map(|(_, cells)| cells).map(|c| String::from_utf8_lossy(&c.value).into_owned()).collect()
    }
}

struct Count(u64);

impl RowSink for Count {
    fn row(&mut self, _: &[u8], _: &[CellRef<'_>]) -> ControlFlow<()> {
        self.0 += 1;
        ControlFlow::Continue(())
    }
}

#[test]
fn large_tables_are_cut_into_even_regions_and_rows_are_estimated() {
    for (options, flushed) in [
        (FamilyOptions::default(), false),
        (FamilyOptions::default(), true),
        (FamilyOptions { layout: Layout::Cells, ..Default::default() }, true),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let store = LsmStore::open(directory.path(), LsmOptions { min_regions: 4, ..Default::default() }).unwrap();
        block_on(store.create_table(&table(options.clone()))).unwrap();
        // A neighbour of the same class must not count.
        block_on(store.create_table(&TableSchema { id: TableId(2), ..table(options.clone()) })).unwrap();
        let rows = 300_000u64;
        for from in (0..rows).step_by(10_000) {
            let mut mutations = Mutations::new();
            for i in from..from + 10_000 {
                mutations.put(T, &i.to_be_bytes(), F, b"", format!("value {i}").as_bytes());
                if i % 3 == 0 {
                    mutations.put(TableId(2), &i.to_be_bytes(), F, b"", &noise(i, 100));
                }
            }
            let commit = Commit { mutations: &mutations, snapshot: None, validate: &[], durability: Durability::Relaxed };
            block_on(store.commit(commit)).unwrap();
        }
        if flushed {
            block_on(store.compact(T)).unwrap();
        }
        let regions = block_on(store.regions(T)).unwrap();
        assert!(regions.len() >= 4, "{options:?} flushed {flushed}: {regions:?}");
        let estimate: u64 = regions.iter().map(|r| r.approximate_rows).sum();
        assert!((rows / 2..rows * 2).contains(&estimate), "{options:?} flushed {flushed}: {estimate} rows");
        let mut total = 0;
        for region in &regions {
            let read =
                ReadSpec { table: T, families: vec![F], qualifiers: None, versions: 1, time_range: None, snapshot: store.snapshot() };
            let spec = ScanSpec { read, range: region.range.clone(), reverse: false, limit: None, fill_cache: false };
            let mut scan = block_on(store.scan(spec)).unwrap();
            let mut count = Count(0);
            while block_on(scan.next_block(10_000, &mut count)).unwrap() {}
            assert!(count.0 > 0 && count.0 < rows * 3 / 4, "{options:?} flushed {flushed}: a region of {} rows", count.0);
            total += count.0;
        }
        assert_eq!(total, rows);
    }
}

#[test]
fn a_thousand_tables_are_cheap_and_dropped_ones_leave_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path()).unwrap();
    let schema = |id| TableSchema { id: TableId(id), ..table(FamilyOptions::default()) };
    for id in 1..=1000 {
        block_on(store.create_table(&schema(id))).unwrap();
    }
    let metric = |name: &str| store.metrics().into_iter().find(|(n, _)| n == name).unwrap().1;
    assert_eq!((metric("tables"), metric("column_families")), (1000, 1));
    let mut mutations = Mutations::new();
    for id in 1..=1000 {
        (0..100u64).for_each(|k| mutations.put(TableId(id), &k.to_be_bytes(), F, b"", &noise(k, 100)));
    }
    block_on(store.commit(Commit { mutations: &mutations, snapshot: None, validate: &[], durability: Durability::Relaxed })).unwrap();
    let held = store.snapshot();
    for id in 2..=1000 {
        block_on(store.drop_table(TableId(id))).unwrap();
    }
    assert_eq!(metric("storages_to_remove"), 999, "a snapshot still sees them");
    drop(held);
    while metric("storages_to_remove") > 0 {
        std::thread::yield_now();
    }
    block_on(store.compact(T)).unwrap();
    assert_eq!(scan(&store).unwrap().rows.len(), 100);
    drop(store);
    let store = open(directory.path()).unwrap();
    assert_eq!(block_on(store.list_tables()).unwrap().len(), 1);
    assert_eq!(scan(&store).unwrap().rows.len(), 100);
}

#[test]
fn bytes_of_expired_versions_are_freed() {
    for layout in [Layout::Packed, Layout::Cells] {
        let directory = tempfile::tempdir().unwrap();
        let store = open(directory.path()).unwrap();
        block_on(store.create_table(&table(FamilyOptions { layout, versions: 2, ..Default::default() }))).unwrap();
        for round in 0..20 {
            let mut mutations = Mutations::new();
            (0..100u64).for_each(|k| mutations.put(T, &k.to_be_bytes(), F, b"", &noise(round * 100 + k, 1000)));
            block_on(store.commit(Commit { mutations: &mutations, snapshot: None, validate: &[], durability: Durability::Relaxed }))
                .unwrap();
        }
        block_on(store.compact(T)).unwrap();
        let (bytes, rows) = block_on(store.approximate_size(T, &KeyRange::all())).unwrap();
        assert!((200_000..300_000).contains(&bytes) && rows == 100, "{layout:?}: {bytes} bytes of {rows} rows");
        let mut mutations = Mutations::new();
        (0..100u64).for_each(|k| mutations.delete_row(T, &k.to_be_bytes()));
        block_on(store.commit(Commit { mutations: &mutations, snapshot: None, validate: &[], durability: Durability::Relaxed })).unwrap();
        assert!(scan(&store).unwrap().rows.is_empty());
    }
}

#[test]
fn deletions_of_single_version_cells_are_swept() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path()).unwrap();
    block_on(store.create_table(&table(FamilyOptions { layout: Layout::Cells, ..Default::default() }))).unwrap();
    for delete in [false, true, false, true] {
        let mut mutations = Mutations::new();
        for k in 0..1000u64 {
            match (delete, k % 2) {
                (false, _) => (0..3u8).for_each(|q| mutations.put(T, &k.to_be_bytes(), F, &[q], b"value")),
                (true, 0) => mutations.delete_row(T, &k.to_be_bytes()),
                (true, _) => (0..3u8).for_each(|q| mutations.delete_cell(T, &k.to_be_bytes(), F, &[q])),
            }
        }
        block_on(store.commit(Commit { mutations: &mutations, snapshot: None, validate: &[], durability: Durability::Relaxed })).unwrap();
        block_on(store.flush(T)).unwrap();
    }
    assert!(scan(&store).unwrap().rows.is_empty());
    block_on(store.compact(T)).unwrap();
    let (_, rows) = block_on(store.approximate_size(T, &KeyRange::all())).unwrap();
    assert_eq!(rows, 0, "not one deletion is left");
}

#[test]
fn counts_of_rows_follow_what_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path()).unwrap();
    block_on(store.create_table(&table(FamilyOptions::default()))).unwrap();
    let commit = |mutations: &Mutations| {
        block_on(store.commit(Commit { mutations, snapshot: None, validate: &[], durability: Durability::Relaxed })).unwrap();
    };
    let rows = |range: &KeyRange| block_on(store.approximate_size(T, range)).unwrap().1;
    let upper = KeyRange::new(100u64.to_be_bytes().to_vec(), None);
    let mut there = 0u64;
    // Between two questions nothing changes, a little, or much.
    for more in [1, 60, 40, 0, 100, 1, 300, 0, 400] {
        let mut mutations = Mutations::new();
        (there..there + more).for_each(|k| mutations.put(T, &k.to_be_bytes(), F, b"", &noise(k, 50)));
        commit(&mutations);
        there += more;
        for _ in 0..2 {
            for (range, exact) in [(&KeyRange::all(), there), (&upper, there.saturating_sub(100))] {
                let found = rows(range);
                assert!(found.abs_diff(exact) <= exact / 30, "{found} of {exact} rows");
            }
        }
    }
    let mut mutations = Mutations::new();
    (0..there).for_each(|k| mutations.delete_row(T, &k.to_be_bytes()));
    commit(&mutations);
    assert_eq!(rows(&KeyRange::all()), 0);
}
