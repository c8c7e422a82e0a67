//! Servers that die while the store works.

use super::harness::Cluster;
use super::support::{F, T, commit, fresh_namespace, metric, open, options, read, scan, table};
use futures::executor::block_on;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use stoa_store::{Certainty, FamilyOptions, KeyRange, Store};

/// Commits go on when a region server dies, of the log or of data, and none is lost.
pub fn a_region_server_dies(cluster: &Cluster) {
    let store = open(&options(cluster, &fresh_namespace()));
    let mut schema = table(&[FamilyOptions::default()]);
    schema.split_points = (1..8u8).map(|n| vec![n * 32]).collect();
    block_on(store.create_table(&schema)).unwrap();
    let stop = AtomicBool::new(false);
    let written = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..4u8)
            .map(|thread| {
                let (store, stop) = (&store, &stop);
                scope.spawn(move || {
                    let mut written = Vec::new();
                    for number in 0u32.. {
                        if stop.load(Ordering::Relaxed) {
                            break;
                        }
                        let key = [&[(number % 256) as u8, thread], &number.to_be_bytes()[..]].concat();
                        match commit(store, |m| m.put(T, &key, F, b"", &number.to_be_bytes())) {
                            Ok(_) => written.push(key),
                            Err(error) => assert_eq!(error.certainty(), Certainty::Unknown, "{error}"),
                        }
                    }
                    written
                })
            })
            .collect();
        for server in ["rs1", "rs2"] {
            std::thread::sleep(Duration::from_secs(2));
            cluster.script(&["kill", server]);
            std::thread::sleep(Duration::from_secs(1));
            cluster.script(&["restart", server]);
            std::thread::sleep(Duration::from_secs(15));
        }
        stop.store(true, Ordering::Relaxed);
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect::<Vec<_>>()
    });
    println!("  {} commits", written.len());
    let missing = |written: &[Vec<u8>]| {
        let rows = scan(&store, read(&store.snapshot()), KeyRange::all()).unwrap().rows;
        let there: std::collections::HashSet<_> = rows.into_iter().map(|(key, _)| key).collect();
        written.iter().filter(|key| !there.contains(*key)).count()
    };
    assert_eq!(missing(&written), 0);
    let until = Instant::now() + Duration::from_secs(60);
    while metric(&store, "pending_rows") > 0 {
        assert!(Instant::now() < until, "{} rows are not applied", metric(&store, "pending_rows"));
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(missing(&written), 0, "once all is applied");
}
