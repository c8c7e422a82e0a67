//! Prints what the store does in a second: `cargo test --release -p stoa-store-lsm --test speed -- --ignored --nocapture`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use stoa_store::conformance::block_on;
use stoa_store::{
    CellRef, Commit, Durability, FamilyId, FamilyOptions, FamilySchema, KeyRange, Mutations, ReadSpec, RowSink, ScanSpec, Store, TableId,
    TableSchema,
};
use stoa_store_lsm::{LsmOptions, LsmStore};

const T: TableId = TableId(1);

/// Time that this thread had a processor: what a busy machine leaves of a measurement.
fn cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0))
}

/// The same of all threads of the process.
fn process_cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    Duration::from_millis(fields.filter_map(|n| n.parse::<u64>().ok()).sum::<u64>() * 10)
}

fn resident_mib() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    (text.split(' ').nth(1).and_then(|n| n.parse::<u64>().ok()).unwrap_or(0) * 4096) >> 20
}

struct Counter(u64, u64);

impl RowSink for Counter {
    fn row(&mut self, key: &[u8], cells: &[CellRef<'_>]) -> ControlFlow<()> {
        self.0 += 1;
        self.1 += key.len() as u64 + cells.iter().map(|c| c.value.len() as u64).sum::<u64>();
        ControlFlow::Continue(())
    }
}

fn table(families: u16, options: &FamilyOptions) -> TableSchema {
    let family = |i| FamilySchema { id: FamilyId(i), name: format!("f{i}"), options: options.clone() };
    TableSchema { id: T, name: "t".into(), families: (0..families).map(family).collect(), split_points: vec![] }
}

fn read(store: &dyn Store, families: u16) -> ReadSpec {
    let families = (0..families).map(FamilyId).collect();
    ReadSpec { table: T, families, qualifiers: None, versions: 1, time_range: None, snapshot: store.snapshot() }
}

fn scan(store: &dyn Store, families: u16, fill_cache: bool) {
    let start = cpu();
    let read = read(store, families);
    let spec = ScanSpec { read, range: KeyRange::all(), reverse: false, limit: None, fill_cache };
    let mut sink = Counter(0, 0);
    let mut scan = block_on(store.scan(spec)).unwrap();
    while block_on(scan.next_block(8192, &mut sink)).unwrap() {}
    let rate = sink.0 as f64 / (cpu() - start).as_secs_f64() / 1e6;
    println!("  scan of {} rows, fill_cache {fill_cache}: {rate:.2} M rows per second of processor", sink.0);
}

fn key(i: u64) -> [u8; 8] {
    i.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()
}

fn commit(store: &dyn Store, mutations: &Mutations, durability: Durability) {
    block_on(store.commit(Commit { mutations, snapshot: None, validate: &[], durability })).unwrap();
}

fn fill(store: &dyn Store, rows: u64, families: u16) {
    let mut mutations = Mutations::new();
    let (start, busy) = (Instant::now(), process_cpu());
    for i in 0..rows {
        (0..families).for_each(|family| mutations.put(T, &key(i), FamilyId(family), b"", &[7; 32]));
        if i % 5000 == 4999 {
            commit(store, &mutations, Durability::Relaxed);
            mutations.clear();
        }
    }
    let cost = (process_cpu() - busy).as_secs_f64() * 1e6 / rows as f64;
    println!("  filled {rows} rows in random order in {:?}: {cost:.2} µs of processor a row", start.elapsed());
}

fn commits(store: &Arc<LsmStore>, threads: u64, durability: Durability) {
    let (stop, done) = (AtomicBool::new(false), AtomicU64::new(0));
    let (start, busy) = (Instant::now(), process_cpu());
    std::thread::scope(|scope| {
        for t in 0..threads {
            let (stop, done) = (&stop, &done);
            scope.spawn(move || {
                let mut i = t << 40;
                while !stop.load(Ordering::Relaxed) {
                    let mut mutations = Mutations::new();
                    mutations.put(T, &key(i), FamilyId(0), b"", &[1; 100]);
                    i += 1;
                    commit(&**store, &mutations, durability);
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        std::thread::sleep(Duration::from_secs(3));
        stop.store(true, Ordering::Relaxed);
    });
    let done = done.load(Ordering::Relaxed) as f64;
    let (rate, cost) = (done / start.elapsed().as_secs_f64(), (process_cpu() - busy).as_secs_f64() * 1e6 / done);
    println!("  {durability:?} commits, {threads} threads: {rate:.0}/s, {cost:.1} µs of processor each");
}

fn gets(store: &dyn Store, families: u16, rows: u64) {
    let spec = read(store, families);
    for _ in 0..2 {
        let mut sink = Counter(0, 0);
        let (start, wall) = (cpu(), Instant::now());
        let n = 300_000;
        for i in 0..n {
            block_on(store.get(&spec, &[&key(i * 7 % rows)], &mut sink)).unwrap();
        }
        assert_eq!(sink.0, n);
        let per = |time: Duration| time.as_secs_f64() * 1e6 / n as f64;
        println!("  get: {:.2} µs of processor, {:.2} µs", per(cpu() - start), per(wall.elapsed()));
    }
    let mut sink = Counter(0, 0);
    let start = cpu();
    for batch in 0..3000 {
        let keys: Vec<_> = (0..100).map(|i| key((batch * 100 + i) * 7 % rows)).collect();
        let keys: Vec<&[u8]> = keys.iter().map(|k| &k[..]).collect();
        block_on(store.get(&spec, &keys, &mut sink)).unwrap();
    }
    println!("  get of 100 keys at once: {:.2} µs of processor a key", (cpu() - start).as_secs_f64() * 1e6 / 300_000.0);
    let start = cpu();
    for _ in 0..100_000 {
        std::hint::black_box(store.snapshot());
    }
    println!("  snapshot: {:.0} ns", (cpu() - start).as_secs_f64() * 1e9 / 100_000.0);
}

fn short_scans(store: &dyn Store, families: u16, rows: u64) {
    let read = read(store, families);
    for (limit, n) in [(1, 300_000), (10, 100_000)] {
        let mut sink = Counter(0, 0);
        let start = cpu();
        for i in 0..n {
            let range = KeyRange::new(key(i * 7 % rows).to_vec(), None);
            let spec = ScanSpec { read: read.clone(), range, reverse: false, limit: Some(limit), fill_cache: true };
            let mut scan = block_on(store.scan(spec)).unwrap();
            while block_on(scan.next_block(limit as usize, &mut sink)).unwrap() {}
        }
        println!("  scan of {limit} rows: {:.2} µs of processor", (cpu() - start).as_secs_f64() * 1e6 / n as f64);
    }
}

#[test]
#[ignore = "a measurement"]
fn speed() {
    for (name, families, options) in [
        ("plain, one family", 1, FamilyOptions::default()),
        ("plain, three families", 3, FamilyOptions::default()),
        ("three versions", 1, FamilyOptions { versions: 3, ..Default::default() }),
    ] {
        println!("{name}");
        let directory = tempfile::tempdir().unwrap();
        let store = Arc::new(LsmStore::open(directory.path(), LsmOptions::default()).unwrap());
        block_on(store.create_table(&table(families, &options))).unwrap();
        println!("  idle: {} MiB resident", resident_mib());
        let rows = 1_000_000;
        fill(&*store, rows, families);
        for compact in [false, true] {
            if compact {
                block_on(store.compact(T)).unwrap();
                println!(" compacted");
            }
            let start = Instant::now();
            let regions = block_on(store.regions(T)).unwrap();
            let estimate: u64 = regions.iter().map(|r| r.approximate_rows).sum();
            let first = start.elapsed();
            let start = Instant::now();
            block_on(store.regions(T)).unwrap();
            println!("  {} regions, {estimate} rows estimated, in {first:?}, then {:?}", regions.len(), start.elapsed());
            [true, true, false].into_iter().for_each(|fill_cache| scan(&*store, families, fill_cache));
            gets(&*store, families, rows);
            short_scans(&*store, families, rows);
        }
    }
    println!("bulk load");
    let directory = tempfile::tempdir().unwrap();
    let store = Arc::new(LsmStore::open(directory.path(), LsmOptions::default()).unwrap());
    block_on(store.create_table(&table(1, &FamilyOptions::default()))).unwrap();
    let start = cpu();
    let mut load = block_on(store.bulk_load(&[T])).unwrap();
    for i in 0..2_000_000u64 {
        load.put(T, &i.to_be_bytes(), FamilyId(0), b"", &[3; 100]).unwrap();
    }
    block_on(load.finish()).unwrap();
    println!("  2 M rows: {:.2} M rows per second of processor", 2.0 / (cpu() - start).as_secs_f64());
    println!("commits");
    for (threads, durability) in [(1, Durability::Sync), (16, Durability::Sync), (1, Durability::Relaxed), (16, Durability::Relaxed)] {
        commits(&store, threads, durability);
    }
    println!("  {:?}", store.metrics());
}
