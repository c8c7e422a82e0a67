//! The contract's own tests, and the bounds of this store.

use super::harness::Cluster;
use super::support::{F, T, commit, fixture, fresh_namespace, open, options, table};
use futures::executor::block_on;
use std::time::Duration;
use stoa_store::conformance::{bulk_loads, random_operations, run_fixed};
use stoa_store::{FamilyOptions, Store, StoreError};
use stoa_store_hbase::HbaseOptions;

pub fn fixed(cluster: &Cluster) {
    run_fixed(&|clock| fixture(cluster, clock, |_| {}));
}

pub fn random(cluster: &Cluster) {
    random_operations(&|clock| fixture(cluster, clock, |_| {}), 1..=2, 300);
}

/// With commits that stay in memory for a while: what reads lay over HBase's answers.
pub fn random_over_memory(cluster: &Cluster) {
    let held = |clock| fixture(cluster, clock, |options| options.faults.apply_after = Duration::from_secs(2));
    random_operations(&held, 11..=12, 300);
}

pub fn bounds(cluster: &Cluster) {
    let store = open(&options(cluster, &fresh_namespace()));
    block_on(store.create_table(&table(&[FamilyOptions::default()]))).unwrap();
    // A commit of many cells that are as large as they may be, in one record of the log.
    let large = vec![7; store.limits().cell];
    commit(&store, |m| (0..4u8).for_each(|k| m.put(T, &[k], F, b"", &large))).unwrap();
    let too_large = commit(&store, |m| (0..8u8).for_each(|k| m.put(T, &[k, k], F, b"", &large)));
    assert!(matches!(too_large, Err(StoreError::TooLarge { .. })), "{too_large:?}");
    let mut load = block_on(store.bulk_load(&[T])).unwrap();
    let refused = (0..100u8).map(|k| load.put(T, &[k, 1], F, b"", &large)).find_map(Result::err);
    assert!(matches!(refused, Some(StoreError::TooLarge { .. })), "one that is not drained: {refused:?}");
}

/// Loads that put their rows before they end, however small they are.
pub fn staged_loads(cluster: &Cluster) {
    let staged = |options: &mut HbaseOptions| options.faults.load_bytes = Some(0);
    bulk_loads(&|clock| fixture(cluster, clock, staged));
    random_operations(&|clock| fixture(cluster, clock, staged), 21..=21, 300);
}
