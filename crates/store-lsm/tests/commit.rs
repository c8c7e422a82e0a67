//! Group commit and what readers may see of it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use stoa_store::conformance::{Rows, SplitMix, block_on};
use stoa_store::{
    Commit, Durability, FamilyId, FamilyOptions, FamilySchema, KeyRange, Mutations, ReadSpec, ScanSpec, Store, StoreError, TableId,
    TableSchema,
};
use stoa_store_lsm::{LsmOptions, LsmStore};

const T: TableId = TableId(1);
const F: FamilyId = FamilyId(0);

fn schema(id: u32) -> TableSchema {
    let families = vec![FamilySchema { id: F, name: "f".into(), options: FamilyOptions::default() }];
    TableSchema { id: TableId(id), name: "t".into(), families, split_points: vec![] }
}

fn fresh() -> (tempfile::TempDir, LsmStore) {
    let directory = tempfile::tempdir().unwrap();
    let store = LsmStore::open(directory.path(), LsmOptions::default()).unwrap();
    block_on(store.create_table(&schema(1))).unwrap();
    (directory, store)
}

fn put(store: &LsmStore, key: u64, len: usize, durability: Durability) {
    let mut mutations = Mutations::new();
    mutations.put(T, &key.to_be_bytes(), F, b"", &vec![key as u8; len]);
    block_on(store.commit(Commit { mutations: &mutations, snapshot: None, validate: &[], durability })).unwrap();
}

fn metric(store: &LsmStore, name: &str) -> u64 {
    store.metrics().into_iter().find(|(n, _)| n == name).unwrap().1
}

#[test]
fn waiting_commits_share_a_sync_and_relaxed_ones_need_none() {
    let (_directory, store) = fresh();
    let syncs = metric(&store, "log_syncs");
    (0..100).for_each(|key| put(&store, key, 10, Durability::Relaxed));
    assert_eq!(metric(&store, "log_syncs"), syncs);
    put(&store, 0, 10, Durability::Sync);
    assert_eq!(metric(&store, "log_syncs"), syncs + 1);
    // While one group is being written the next gathers.
    let threads = 32;
    std::thread::scope(|scope| {
        for t in 0..threads {
            let store = &store;
            scope.spawn(move || (0..50).for_each(|i| put(store, t * 1000 + i, 10, Durability::Sync)));
        }
    });
    let (commits, syncs) = (metric(&store, "commits"), metric(&store, "log_syncs") - syncs);
    assert!(syncs < 32 * 50 / 2, "{syncs} syncs for {commits} commits");
}

#[test]
fn small_commits_go_on_beside_large_ones() {
    let (_directory, store) = fresh();
    let (stop, large) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for t in 0..3 {
            let (store, stop, large) = (&store, &stop, &large);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    put(store, 1 << 40 | t, 4 << 20, Durability::Relaxed);
                    large.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for key in 0..30 {
            let before = large.load(Ordering::Relaxed);
            put(&store, key, 10, Durability::Sync);
            let overtaken = large.load(Ordering::Relaxed) - before;
            assert!(overtaken < 20, "{overtaken} large commits went first");
        }
        stop.store(true, Ordering::Relaxed);
    });
}

/// Commits, readers and changes of schemas at once: each reader sees one state of all tables.
#[test]
fn schema_changes_run_beside_commits_and_scans() {
    let (_directory, store) = fresh();
    for id in 2..5 {
        block_on(store.create_table(&schema(id))).unwrap();
    }
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (store, stop) = (&store, &stop);
        for seed in 0..2u64 {
            scope.spawn(move || {
                let mut random = SplitMix(seed);
                while !stop.load(Ordering::Relaxed) {
                    // The same value in the same row of two tables.
                    let (key, value) = ([seed as u8, random.below(50) as u8], random.number().to_be_bytes());
                    let mut mutations = Mutations::new();
                    mutations.put(T, &key, F, b"", &value);
                    mutations.put(TableId(2), &key, F, b"", &value);
                    mutations.put(TableId(3 + random.below(2) as u32), &key, F, b"", &value);
                    let commit = Commit { mutations: &mutations, snapshot: None, validate: &[], durability: Durability::Relaxed };
                    match block_on(store.commit(commit)) {
                        Ok(_) | Err(StoreError::NoSuchTable(3 | 4)) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
        scope.spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                let snapshot = store.snapshot();
                let all = |table| {
                    let (families, snapshot) = (vec![F], snapshot.clone());
                    let read = ReadSpec { table, families, qualifiers: None, versions: 1, time_range: None, snapshot };
                    let spec = ScanSpec { read, range: KeyRange::all(), reverse: false, limit: None, fill_cache: true };
                    let mut rows = Rows::default();
                    let mut scan = block_on(store.scan(spec)).unwrap();
                    while block_on(scan.next_block(7, &mut rows)).unwrap() {}
                    rows
                };
                assert_eq!(all(T), all(TableId(2)), "a commit was seen in part");
            }
        });
        let mut random = SplitMix(7);
        for round in 0..60u32 {
            let id = 3 + round % 2;
            block_on(store.drop_table(TableId(id))).unwrap();
            block_on(store.create_table(&schema(id))).unwrap();
            if round % 10 == 0 {
                // Moves the family to another class of options, and back.
                let mut other = schema(2);
                other.families[0].options.block_size = 4096 << random.below(3);
                block_on(store.alter_table(&other)).unwrap();
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
}
