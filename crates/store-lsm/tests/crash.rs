//! `kill -9` under load: nothing acknowledged is lost, nothing is torn.
//!
//! The test runs itself as a child process that commits from several threads and tells each acknowledged commit on its standard
//! output; the oracle is here, outside the process that dies.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::io::{BufRead, BufReader};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use stoa_store::conformance::{SplitMix, block_on};
use stoa_store::{
    CellRef, Commit, Durability, FamilyId, FamilyOptions, FamilySchema, KeyRange, Layout, Mutations, ReadSpec, RowSink, ScanSpec, Store,
    TableId, TableSchema, Timestamp,
};
use stoa_store_lsm::{LsmOptions, LsmStore};

const CHILD: &str = "STOA_CRASH_TEST_CHILD";
const THREADS: u64 = 4;
const ROWS: u8 = 5;

fn schema(id: u32) -> TableSchema {
    let family = |i, layout, versions| {
        let options = FamilyOptions { layout, versions, ..Default::default() };
        FamilySchema { id: FamilyId(i), name: format!("f{i}"), options }
    };
    let families = vec![family(0, Layout::Packed, 1), family(1, Layout::Cells, 1), family(2, Layout::Packed, 3)];
    TableSchema { id: TableId(id), name: format!("t{id}"), families, split_points: vec![] }
}

fn open(path: &Path) -> LsmStore {
    let options = LsmOptions { write_buffer_bytes: 1 << 20, block_cache_bytes: 8 << 20, ..Default::default() };
    LsmStore::open(path, options).unwrap()
}

/// Every commit of a thread writes its number into the same rows of two tables, in all families; each third is a bulk load.
fn child(path: &Path, round: u64) {
    let store = Arc::new(open(path));
    if round == 0 {
        for id in [1, 2] {
            block_on(store.create_table(&schema(id))).unwrap();
        }
    }
    println!("open");
    let started = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (store, started) = (Arc::clone(&store), &started);
            scope.spawn(move || {
                let mut random = SplitMix(round * THREADS + thread);
                let mut number = round << 32;
                loop {
                    number += 1;
                    started.fetch_add(1, Ordering::Relaxed);
                    if thread == 0 && number.is_multiple_of(16) {
                        bulk_load(&store, thread, number);
                    } else {
                        commit(&store, thread, number, &mut random);
                    }
                    // One write, so that lines of threads don't mix.
                    println!("{thread} {number}");
                    if thread == 1 && number.is_multiple_of(64) {
                        block_on(store.flush(TableId(1))).unwrap();
                    }
                    if thread == 2 && number.is_multiple_of(50) {
                        let temporary = schema(10 + random.below(3) as u32);
                        block_on(store.drop_table(temporary.id)).unwrap();
                        block_on(store.create_table(&temporary)).unwrap();
                    }
                }
            });
        }
    });
}

fn cells(thread: u64, number: u64) -> Vec<(Vec<u8>, FamilyId, Vec<u8>, Vec<u8>)> {
    let mut out = Vec::new();
    for row in 0..ROWS {
        let key = vec![thread as u8, row];
        out.push((key.clone(), FamilyId(0), vec![], number.to_be_bytes().to_vec()));
        out.push((key.clone(), FamilyId(1), vec![b'a'], number.to_be_bytes().to_vec()));
        out.push((key.clone(), FamilyId(1), vec![b'b'], number.to_be_bytes().to_vec()));
        out.push((key, FamilyId(2), vec![], number.to_be_bytes().to_vec()));
    }
    out
}

fn commit(store: &LsmStore, thread: u64, number: u64, random: &mut SplitMix) {
    let mut mutations = Mutations::new();
    for (key, family, qualifier, value) in cells(thread, number) {
        mutations.put(TableId(1), &key, family, &qualifier, &value);
        mutations.put(TableId(2), &key, family, &qualifier, &value);
    }
    // Some filling, so that the log rolls and files are written.
    let filling = vec![random.number() as u8; random.below(4000) as usize];
    mutations.put(TableId(1), &[200, thread as u8, random.below(50) as u8], FamilyId(0), b"", &filling);
    block_on(store.commit(Commit { mutations: &mutations, snapshot: None, validate: &[], durability: Durability::Sync })).unwrap();
}

fn bulk_load(store: &LsmStore, thread: u64, number: u64) {
    let tables = [TableId(1), TableId(2)];
    let mut load = block_on(store.bulk_load(&tables)).unwrap();
    for table in tables {
        for (key, family, qualifier, value) in cells(thread, number) {
            load.put(table, &key, family, &qualifier, &value).unwrap();
        }
    }
    block_on(load.finish()).unwrap();
}

#[derive(Default)]
struct Found(Vec<(Vec<u8>, Vec<u64>)>);

impl RowSink for Found {
    fn row(&mut self, key: &[u8], cells: &[CellRef<'_>]) -> ControlFlow<()> {
        let numbers = cells.iter().map(|c| u64::from_be_bytes(c.value.try_into().unwrap())).collect();
        self.0.push((key.to_vec(), numbers));
        ControlFlow::Continue(())
    }
}

/// The number that a thread's rows hold in a table; all cells must have the same.
fn number_of(store: &LsmStore, table: u32, thread: u64) -> u64 {
    let families = vec![FamilyId(0), FamilyId(1), FamilyId(2)];
    let snapshot = store.snapshot();
    let read = ReadSpec { table: TableId(table), families, qualifiers: None, versions: 1, time_range: None, snapshot };
    let range = KeyRange::prefix(&[thread as u8]);
    let mut scan = block_on(store.scan(ScanSpec { read, range, reverse: false, limit: None, fill_cache: true })).unwrap();
    let mut found = Found::default();
    while block_on(scan.next_block(100, &mut found)).unwrap() {}
    let all: Vec<u64> = found.0.iter().flat_map(|(_, numbers)| numbers.clone()).collect();
    assert!(all.is_empty() || all.len() == usize::from(ROWS) * 4, "a commit is torn: {found:?}", found = found.0);
    assert!(all.iter().all(|n| *n == all[0]), "a commit is torn: {found:?}", found = found.0);
    all.first().copied().unwrap_or(0)
}

#[test]
fn nothing_acknowledged_is_lost_and_nothing_is_torn_by_kill() {
    if let Ok(argument) = std::env::var(CHILD) {
        let (round, path) = argument.split_once(':').unwrap();
        return child(Path::new(path), round.parse().unwrap());
    }
    let directory = tempfile::tempdir().unwrap();
    let mut acknowledged = vec![0u64; THREADS as usize];
    let mut last = Timestamp::default();
    let rounds = std::env::var("STOA_CRASH_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(8);
    for round in 0..rounds {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["nothing_acknowledged_is_lost_and_nothing_is_torn_by_kill", "--exact", "--nocapture", "--test-threads", "1"])
            .env(CHILD, format!("{round}:{}", directory.path().display()))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut random = SplitMix(round + 99);
        // After a random number of commits, not after a time: a slow machine tests as much.
        let enough = 200 + random.below(1500);
        let mut seen = 0;
        let mut lines = output.lines();
        while seen < enough {
            let line = lines.next().expect("the child died by itself").unwrap();
            seen += u64::from(note(&line, &mut acknowledged));
        }
        std::thread::sleep(Duration::from_micros(random.below(5000)));
        child.kill().unwrap();
        // What it still managed to say counts.
        lines.map_while(Result::ok).for_each(|line| {
            note(&line, &mut acknowledged);
        });
        child.wait().unwrap();
        let store = open(directory.path());
        for thread in 0..THREADS {
            let (one, two) = (number_of(&store, 1, thread), number_of(&store, 2, thread));
            let acked = acknowledged[thread as usize];
            assert!(one == two, "tables differ: {one} and {two}");
            assert!(one >= acked && two >= acked, "round {round}, thread {thread}: {acked} was acknowledged, {one} and {two} are there");
            let first = (round << 32) + 1;
            assert!(one <= acked + 1 || one == first, "round {round}, thread {thread}: {one} was never begun after {acked}");
        }
        let now = store.snapshot().timestamp();
        assert!(now > last, "timestamps go on");
        last = now;
    }
}

/// Takes in a line like "2 4294967301"; whether it was one.
fn note(line: &str, acknowledged: &mut [u64]) -> bool {
    let Some((thread, number)) = line.split_once(' ') else { return false };
    let (Ok(thread), Ok(number)) = (thread.parse::<usize>(), number.parse()) else { return false };
    let Some(place) = acknowledged.get_mut(thread) else { return false };
    *place = number;
    true
}
