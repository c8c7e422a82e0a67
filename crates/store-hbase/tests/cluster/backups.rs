//! Backups while commits and loads go on, restored to another namespace.

use super::harness::Cluster;
use super::support::{F, T, commit, fresh_namespace, open, options, read, scan, table};
use futures::executor::block_on;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use stoa_store::{FamilyOptions, KeyRange, Store, StoreError, TableId, TableSchema};
use stoa_store_hbase::HbaseStore;

const OTHER: TableId = TableId(2);

pub fn are_of_one_moment(cluster: &Cluster) {
    let mut source = options(cluster, &fresh_namespace());
    source.faults.load_bytes = Some(0);
    let store = open(&source);
    block_on(store.create_table(&table(&[FamilyOptions::default()]))).unwrap();
    block_on(store.create_table(&TableSchema { id: OTHER, ..table(&[FamilyOptions::default()]) })).unwrap();
    let folder = std::env::temp_dir().join(format!("stoa-backup-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let stop = AtomicBool::new(false);
    let at = std::thread::scope(|scope| {
        let (store, stop) = (&store, &stop);
        scope.spawn(move || {
            for n in 0u32.. {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                let (value, gone) = (n.to_be_bytes(), n.saturating_sub(40).to_be_bytes());
                commit(store, |m| {
                    m.put(T, &value, F, b"", &value);
                    m.put(OTHER, &value, F, b"", &value);
                    m.delete_row(T, &gone);
                    m.delete_row(OTHER, &gone);
                    m.put(OTHER, b"last", F, b"", &value);
                })
                .unwrap();
            }
        });
        scope.spawn(move || {
            for n in 0u32.. {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                let mut load = block_on(store.bulk_load(&[T])).unwrap();
                (0..50u8).for_each(|k| load.put(T, &[&[b'l', k], &n.to_be_bytes()[..]].concat(), F, b"", b"loaded").unwrap());
                block_on(load.finish()).unwrap();
            }
        });
        std::thread::sleep(Duration::from_secs(1));
        let at = block_on(store.backup(&folder)).unwrap();
        std::thread::sleep(Duration::from_millis(300));
        stop.store(true, Ordering::Relaxed);
        at
    });
    let target = options(cluster, &fresh_namespace());
    block_on(HbaseStore::restore(&target, &folder)).unwrap();
    let restored = open(&target);
    for id in [T, OTHER] {
        let rows = |store: &HbaseStore, snapshot| {
            let mut spec = read(&snapshot);
            spec.table = id;
            scan(store, spec, KeyRange::all()).unwrap().rows
        };
        let (was, is) = (rows(&store, store.snapshot_at(at).unwrap()), rows(&restored, restored.snapshot()));
        assert!(was.len() > 30);
        assert_eq!(was, is, "table {}", id.0);
    }
    commit(&restored, |m| m.put(T, b"goes on", F, b"", b"")).unwrap();
    // Over what is there nothing is restored, and a backup goes to a directory of its own.
    assert!(matches!(block_on(HbaseStore::restore(&target, &folder)), Err(StoreError::Invalid(_))));
    assert!(matches!(block_on(store.backup(&folder)), Err(StoreError::Invalid(_))));
    // The log is trimmed again.
    let log = cluster.client().table(&format!("{}:log", source.namespace)).unwrap();
    let records = || block_on(log.scan_all(stoa_hbase_client::Scan::all().family("g"))).unwrap().len();
    let until = std::time::Instant::now() + Duration::from_secs(20);
    while records() > 0 {
        assert!(std::time::Instant::now() < until, "the log is not trimmed");
        std::thread::sleep(Duration::from_millis(100));
    }
    let admin = cluster.client().admin();
    for snapshot in block_on(admin.list_snapshots()).unwrap().iter().filter(|s| s.name.contains(&source.namespace)) {
        block_on(admin.delete_snapshot(&snapshot.name)).unwrap();
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
