//! What the tests share: stores in namespaces of their own.

use super::harness::Cluster;
use futures::executor::block_on;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use stoa_hbase_client::Client;
use stoa_store::clock::Clock;
use stoa_store::conformance::{Fixture, Rows};
use stoa_store::{
    Commit, Durability, FamilyId, FamilyOptions, FamilySchema, KeyRange, Mutations, ReadSpec, ScanSpec, Snapshot, Store, StoreResult,
    TableId, TableSchema, Timestamp,
};
use stoa_store_hbase::{HbaseOptions, HbaseStore};

pub const T: TableId = TableId(1);
pub const F: FamilyId = FamilyId(0);

/// A namespace that no other test has.
pub fn fresh_namespace() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    format!("stoa_{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed))
}

/// A namespace that has its log already: they are made ahead, while tests run.
fn prepared_namespace(cluster: &Cluster) -> String {
    static PREPARED: OnceLock<Mutex<Receiver<String>>> = OnceLock::new();
    let prepared = PREPARED.get_or_init(|| {
        let (give, take) = sync_channel(2);
        let config = cluster.config();
        std::thread::spawn(move || {
            loop {
                let namespace = fresh_namespace();
                // It fails when the cluster is stopped, in the end.
                let Ok(store) = block_on(HbaseStore::open(HbaseOptions::new(config.clone(), &namespace))) else { return };
                drop(store);
                if give.send(namespace).is_err() {
                    return;
                }
            }
        });
        Mutex::new(take)
    });
    prepared.lock().unwrap().recv().unwrap()
}

pub fn options(cluster: &Cluster, namespace: &str) -> HbaseOptions {
    HbaseOptions::new(cluster.config(), namespace)
}

pub fn open(options: &HbaseOptions) -> HbaseStore {
    block_on(HbaseStore::open(options.clone())).unwrap()
}

/// A store for the contract's tests, which set the clock as they like.
pub fn fixture(cluster: &Cluster, clock: Arc<dyn Clock>, change: impl Fn(&mut HbaseOptions)) -> Fixture {
    let mut options = HbaseOptions { clock, clock_difference: Duration::from_secs(3600), ..options(cluster, &prepared_namespace(cluster)) };
    change(&mut options);
    let leaves = Leaves { client: cluster.client(), namespace: options.namespace.clone() };
    let open = move || -> Arc<dyn Store> { Arc::new(open(&options)) };
    Fixture { store: open(), reopen: Some(Box::new(open)), keep: Some(Box::new(leaves)) }
}

/// Drops the tables of a namespace when its test has ended, while others run.
struct Leaves {
    client: Client,
    namespace: String,
}

impl Drop for Leaves {
    fn drop(&mut self) {
        let (admin, namespace) = (self.client.admin(), self.namespace.clone());
        let client = self.client.clone();
        std::thread::spawn(move || {
            let tables = block_on(admin.list_tables(&namespace)).unwrap_or_default();
            block_on(futures::future::join_all(tables.iter().map(|table| admin.drop_table(table))));
            drop(client);
        });
    }
}

pub fn table(families: &[FamilyOptions]) -> TableSchema {
    let family =
        |(n, options): (usize, &FamilyOptions)| FamilySchema { id: FamilyId(n as u16), name: format!("f{n}"), options: options.clone() };
    TableSchema { id: T, name: "t".into(), families: families.iter().enumerate().map(family).collect(), split_points: vec![] }
}

pub fn commit(store: &dyn Store, fill: impl FnOnce(&mut Mutations)) -> StoreResult<Timestamp> {
    let mut mutations = Mutations::new();
    fill(&mut mutations);
    block_on(store.commit(Commit { mutations: &mutations, snapshot: None, validate: &[], durability: Durability::Sync }))
}

pub fn read(snapshot: &Arc<dyn Snapshot>) -> ReadSpec {
    ReadSpec { table: T, families: vec![F], qualifiers: None, versions: 1, time_range: None, snapshot: Arc::clone(snapshot) }
}

pub fn scan(store: &dyn Store, read: ReadSpec, range: KeyRange) -> StoreResult<Rows> {
    let mut rows = Rows::default();
    let mut scan = block_on(store.scan(ScanSpec { read, range, reverse: false, limit: None, fill_cache: true }))?;
    while block_on(scan.next_block(1000, &mut rows))? {}
    Ok(rows)
}

/// A gauge or counter of a store.
pub fn metric(store: &dyn Store, name: &str) -> u64 {
    store.metrics().iter().find(|(known, _)| known == name).unwrap().1
}
