//! A store that counts what it is asked, and may answer late: what a statement would cost where each call is a journey.
//!
//! Counted is what a store on other machines sends over the network: a read by keys, a block of a scan, a commit, a change of
//! definitions, a question for regions or sizes. Snapshots, watches and questions about recent commits are answered from memory by every store,
//! and count nothing. Nothing is watched, so that no answer is kept from one statement to the next.

use async_trait::async_trait;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use stoa_store::{
    BulkLoad, Commit, Extents, History, HistorySpec, KeyRange, MutationRef, OnVisible, ReadSpec, Region, RowSink, Scan, ScanSpec, Snapshot,
    Store, StoreResult, TableId, TableSchema, Timestamp,
};

/// Calls by kind.
#[derive(Debug, Default)]
pub struct Calls {
    counts: Mutex<BTreeMap<&'static str, u64>>,
}

impl Calls {
    /// What was counted since the last time.
    #[must_use]
    pub fn take(&self) -> BTreeMap<&'static str, u64> {
        std::mem::take(&mut self.counts.lock())
    }

    fn add(&self, kind: &'static str) {
        *self.counts.lock().entry(kind).or_default() += 1;
    }
}

/// See the module.
#[derive(Debug)]
pub struct CountedStore {
    store: Arc<dyn Store>,
    calls: Arc<Calls>,
    delay: Option<Duration>,
}

impl CountedStore {
    /// Counts what `store` is asked; with a delay, each call takes so much longer.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, delay: Option<Duration>) -> (Arc<Self>, Arc<Calls>) {
        let calls = Arc::new(Calls::default());
        (Arc::new(Self { store, calls: Arc::clone(&calls), delay }), calls)
    }

    async fn count(&self, kind: &'static str) {
        self.calls.add(kind);
        late(self.delay).await;
    }
}

async fn late(delay: Option<Duration>) {
    match delay {
        Some(delay) if tokio::runtime::Handle::try_current().is_ok() => tokio::time::sleep(delay).await,
        Some(delay) => std::thread::sleep(delay),
        None => {}
    }
}

struct CountedScan {
    scan: Box<dyn Scan>,
    calls: Arc<Calls>,
    delay: Option<Duration>,
    done: bool,
}

#[async_trait]
impl Scan for CountedScan {
    async fn next_block(&mut self, max_rows: usize, sink: &mut dyn RowSink) -> StoreResult<bool> {
        // Whoever sent the last block said that it was the last.
        if !self.done {
            self.calls.add("scan");
            late(self.delay).await;
        }
        let more = self.scan.next_block(max_rows, sink).await?;
        self.done = !more;
        Ok(more)
    }

    fn restrict_to(&mut self, part: &KeyRange) -> StoreResult<()> {
        self.done = false;
        self.scan.restrict_to(part)
    }
}

struct CountedLoad {
    load: Box<dyn BulkLoad>,
    calls: Arc<Calls>,
    delay: Option<Duration>,
}

#[async_trait]
impl BulkLoad for CountedLoad {
    fn apply(&mut self, mutation: MutationRef<'_>) -> StoreResult<()> {
        self.load.apply(mutation)
    }

    async fn finish(self: Box<Self>) -> StoreResult<Timestamp> {
        self.calls.add("load");
        late(self.delay).await;
        self.load.finish().await
    }
}

#[async_trait]
impl Store for CountedStore {
    async fn create_table(&self, schema: &TableSchema) -> StoreResult<()> {
        self.count("define").await;
        self.store.create_table(schema).await
    }

    async fn alter_table(&self, schema: &TableSchema) -> StoreResult<()> {
        self.count("define").await;
        self.store.alter_table(schema).await
    }

    async fn drop_table(&self, table: TableId) -> StoreResult<()> {
        self.count("define").await;
        self.store.drop_table(table).await
    }

    async fn list_tables(&self) -> StoreResult<Vec<TableSchema>> {
        self.count("define").await;
        self.store.list_tables().await
    }

    async fn describe_table(&self, table: TableId) -> StoreResult<Option<TableSchema>> {
        self.count("define").await;
        self.store.describe_table(table).await
    }

    async fn regions(&self, table: TableId) -> StoreResult<Vec<Region>> {
        self.count("size").await;
        self.store.regions(table).await
    }

    async fn extents(&self, tables: &[TableId], ranges: &[(TableId, &[KeyRange])]) -> StoreResult<Extents> {
        self.count("size").await;
        self.store.extents(tables, ranges).await
    }

    async fn approximate_size(&self, table: TableId, range: &KeyRange) -> StoreResult<(u64, u64)> {
        self.count("size").await;
        self.store.approximate_size(table, range).await
    }

    async fn approximate_bytes(&self, table: TableId, range: &KeyRange) -> StoreResult<u64> {
        self.count("size").await;
        self.store.approximate_bytes(table, range).await
    }

    async fn split(&self, table: TableId, at: &[u8]) -> StoreResult<()> {
        self.count("define").await;
        self.store.split(table, at).await
    }

    async fn unsplit(&self, table: TableId, at: &[u8]) -> StoreResult<()> {
        self.count("define").await;
        self.store.unsplit(table, at).await
    }

    async fn flush(&self, table: TableId) -> StoreResult<()> {
        self.count("define").await;
        self.store.flush(table).await
    }

    async fn compact(&self, table: TableId) -> StoreResult<()> {
        self.count("define").await;
        self.store.compact(table).await
    }

    fn snapshot(&self) -> Arc<dyn Snapshot> {
        self.store.snapshot()
    }

    fn snapshot_at(&self, timestamp: Timestamp) -> StoreResult<Arc<dyn Snapshot>> {
        self.store.snapshot_at(timestamp)
    }

    async fn get(&self, spec: &ReadSpec, keys: &[&[u8]], sink: &mut dyn RowSink) -> StoreResult<()> {
        self.count("get").await;
        self.store.get(spec, keys, sink).await
    }

    async fn scan(&self, spec: ScanSpec) -> StoreResult<Box<dyn Scan>> {
        let scan = self.store.scan(spec).await?;
        Ok(Box::new(CountedScan { scan, calls: Arc::clone(&self.calls), delay: self.delay, done: false }))
    }

    async fn scan_parts(&self, spec: ScanSpec, parts: Arc<[KeyRange]>) -> StoreResult<Box<dyn Scan>> {
        let scan = self.store.scan_parts(spec, parts).await?;
        Ok(Box::new(CountedScan { scan, calls: Arc::clone(&self.calls), delay: self.delay, done: false }))
    }

    async fn history(&self, spec: HistorySpec) -> StoreResult<Box<dyn History>> {
        self.count("history").await;
        self.store.history(spec).await
    }

    fn seek_cost(&self) -> f64 {
        700.0
    }

    async fn commit(&self, commit: Commit<'_>) -> StoreResult<Timestamp> {
        self.count("commit").await;
        self.store.commit(commit).await
    }

    async fn commit_then(&self, commit: Commit<'_>, then: OnVisible) -> StoreResult<Timestamp> {
        self.count("commit").await;
        self.store.commit_then(commit, then).await
    }

    fn rows_changed_since(&self, rows: &mut dyn Iterator<Item = (TableId, &[u8])>, since: Timestamp) -> bool {
        self.store.rows_changed_since(rows, since)
    }

    async fn bulk_load(&self, tables: &[TableId]) -> StoreResult<Box<dyn BulkLoad>> {
        let load = self.store.bulk_load(tables).await?;
        Ok(Box::new(CountedLoad { load, calls: Arc::clone(&self.calls), delay: self.delay }))
    }

    async fn backup(&self, directory: &std::path::Path) -> StoreResult<Timestamp> {
        self.store.backup(directory).await
    }

    fn metrics(&self) -> Vec<(String, u64)> {
        self.store.metrics()
    }
}
