//! Bulk loads that are larger than what a commit may be, and cells of the past.

use super::harness::Cluster;
use super::support::{F, T, commit, fresh_namespace, metric, open, options, read, scan, table};
use futures::executor::block_on;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use stoa_hbase_client::ClientConfig;
use stoa_store::{BulkLoad, FamilyOptions, KeyRange, MutationRef, Store};
use stoa_store_hbase::{HbaseOptions, HbaseStore};

/// The first argument of the process that is killed.
pub const CHILD: &str = "child-that-loads";
const ROWS: u32 = 60_000;

fn key(number: u32) -> Vec<u8> {
    [b"k", &number.to_be_bytes()[..]].concat()
}

fn add(load: &mut dyn BulkLoad, number: u32, value: &[u8]) {
    load.put(T, &key(number), F, b"", value).unwrap();
    if load.is_full() {
        block_on(load.drain()).unwrap();
    }
}

fn count(store: &HbaseStore) -> usize {
    scan(store, read(&store.snapshot()), KeyRange::all()).unwrap().rows.len()
}

/// How many cells the table has at the servers, whoever may see them.
fn stored(cluster: &Cluster, namespace: &str) -> usize {
    let of = cluster.client().table(&format!("{namespace}:t_1")).unwrap();
    block_on(of.scan_all(stoa_hbase_client::Scan::all().versions(10))).unwrap().iter().map(|row| row.cells().len()).sum()
}

/// Loads as many rows and says so; then loads for ever.
pub fn child(quorum: &str, namespace: &str) {
    let mut options = HbaseOptions::new(ClientConfig::zookeeper(quorum), namespace);
    options.faults.load_bytes = Some(100_000);
    let store = open(&options);
    let mut load = block_on(store.bulk_load(&[T])).unwrap();
    (0..ROWS / 4).for_each(|n| add(&mut *load, n, b"loaded"));
    block_on(load.finish()).unwrap();
    println!("loaded");
    let mut load = block_on(store.bulk_load(&[T])).unwrap();
    for n in ROWS.. {
        add(&mut *load, n, b"not loaded");
        if n == 2 * ROWS {
            println!("loading");
        }
    }
}

pub fn killed_in_the_middle(cluster: &Cluster) {
    let mut options = options(cluster, &fresh_namespace());
    options.retention = Duration::from_secs(20);
    options.faults.loads_kept = Some(Duration::from_secs(10));
    block_on(open(&options).create_table(&table(&[FamilyOptions::default()]))).unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([CHILD, cluster.script(&["quorum"]).trim(), &options.namespace])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines: Vec<_> = BufReader::new(child.stdout.take().unwrap()).lines().take(2).map_while(Result::ok).collect();
    assert_eq!(lines, ["loaded", "loading"]);
    child.kill().unwrap();
    child.wait().unwrap();
    let left = stored(cluster, &options.namespace);
    assert!(left > 2 * ROWS as usize / 2, "{left} cells: the second load has put none");
    // What was acknowledged is there, and nothing of the load that was not; nor after its rows are removed, and all is forgotten of both.
    let store = open(&options);
    let began = Instant::now();
    loop {
        assert_eq!(count(&store), ROWS as usize / 4);
        assert!(store.snapshot().timestamp().micros() > 0);
        if began.elapsed() > Duration::from_secs(26) {
            break;
        }
        std::thread::sleep(Duration::from_secs(1));
    }
    assert_eq!(stored(cluster, &options.namespace), ROWS as usize / 4, "cells of the load that did not end");
    let log = cluster.client().table(&format!("{}:log", options.namespace)).unwrap();
    let shown = || {
        let rows = block_on(log.scan_all(stoa_hbase_client::Scan::all().family("e"))).unwrap();
        rows.iter().flat_map(stoa_hbase_client::Row::cells).filter(|cell| cell.qualifier().first() == Some(&b'b')).count()
    };
    let until = Instant::now() + Duration::from_secs(30);
    while shown() > 0 {
        assert!(Instant::now() < until, "the log still tells of loads");
        std::thread::sleep(Duration::from_millis(200));
    }
    assert_eq!(count(&store), ROWS as usize / 4);
}

/// More than a commit may have, beside reads that see all of it or nothing; rows that are deleted among them.
pub fn beyond_memory(cluster: &Cluster) {
    let options = options(cluster, &fresh_namespace());
    let store = open(&options);
    block_on(store.create_table(&table(&[FamilyOptions::default()]))).unwrap();
    commit(&store, |m| (0..100).for_each(|n| m.put(T, &key(n * 100), F, b"", b"before"))).unwrap();
    let before = store.snapshot();
    let value = vec![b'v'; 1500];
    let mut load = block_on(store.bulk_load(&[T])).unwrap();
    for n in 0..ROWS {
        if n % 100 == 0 && n < 5_000 {
            load.apply(MutationRef::DeleteRow { table: T, key: &key(n) }).unwrap();
        } else {
            add(&mut *load, n, &value);
        }
        if n % 20_000 == 19_999 {
            let during = store.snapshot();
            assert_eq!((count(&store), scan(&store, read(&during), KeyRange::point(&key(1))).unwrap().rows.len()), (100, 0));
            commit(&store, |m| m.put(T, b"other", F, b"", b"")).unwrap();
            commit(&store, |m| m.delete_row(T, b"other")).unwrap();
        }
    }
    let during = store.snapshot();
    let at = block_on(load.finish()).unwrap();
    assert_eq!(count(&store), ROWS as usize - 50);
    for (snapshot, wanted) in [(&before, 100), (&during, 100)] {
        assert_eq!(scan(&store, read(snapshot), KeyRange::all()).unwrap().rows.len(), wanted);
    }
    let rows = scan(&store, read(&store.snapshot()), KeyRange::new(key(0), Some(key(5_001)))).unwrap().rows;
    assert!(rows.iter().all(|(_, cells)| cells[0].timestamp == at));
    // What the log tells is enough after a restart.
    drop(store);
    let store = open(&options);
    assert_eq!(count(&store), ROWS as usize - 50);
    assert_eq!(metric(&store, "bulk_loads"), 0);
    commit(&store, |m| m.delete_row(T, &key(1))).unwrap();
    assert_eq!(count(&store), ROWS as usize - 51);
}

pub fn backfill_stays_below_what_is_newer(cluster: &Cluster) {
    let store = open(&options(cluster, &fresh_namespace()));
    block_on(store.create_table(&table(&[FamilyOptions::default()]))).unwrap();
    commit(&store, |m| m.put(T, b"old", F, b"", b"old")).unwrap();
    let at = store.snapshot();
    commit(&store, |m| {
        m.put(T, b"newer", F, b"", b"newer");
        m.delete_row(T, b"deleted");
    })
    .unwrap();
    block_on(store.flush(T)).unwrap();
    commit(&store, |m| m.delete_row(T, b"deleted in memory")).unwrap();
    let cells: Vec<(&[u8], &[u8])> =
        ["deleted", "deleted in memory", "filled", "newer", "old"].iter().map(|key| (key.as_bytes(), &b"filled"[..])).collect();
    let newer = block_on(store.backfill(T, F, &cells, at.timestamp())).unwrap();
    assert!(newer.is_empty());
    for compacted in [false, true] {
        let rows = scan(&store, read(&store.snapshot()), KeyRange::all()).unwrap();
        assert_eq!(rows.texts(), ["filled:filled", "newer:newer", "old:filled"], "compacted: {compacted}");
        block_on(store.flush(T)).unwrap();
        block_on(store.compact(T)).unwrap();
    }
}
