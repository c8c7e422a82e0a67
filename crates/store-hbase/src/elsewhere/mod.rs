//! [`WithElsewhere`]: a store beside which tables that other programs own on HBase clusters are read and written, as raw tables.
//!
//! Such a table is a name for what is there: nothing is copied, and dropping it lets go of it. Its cells are given under the qualifiers of
//! `stoa_encoding::raw_cell`, so that whoever reads raw tables reads these as well. There are no snapshots of what others write: a read gives
//! what is there when it comes to the row, each row whole; a commit changes each row at once, and one row after the other.

mod read;
mod table;
mod write;

use crate::failure::read_error;
use crate::url::{Cluster, TableUrl};
use async_trait::async_trait;
use hashbrown::HashMap;
use parking_lot::{Mutex, RwLock};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use stoa_hbase_client::Client;
use stoa_store::{
    BulkLoad, Commit, Extents, FamilyId, History, HistorySpec, KeyRange, Limits, OnVisible, ReadSpec, Region, RowSink, Scan, ScanSpec,
    Snapshot, Store, StoreError, StoreResult, TableId, TableSchema, Timestamp, Watch,
};
use table::Elsewhere;

/// See the module.
#[derive(Debug)]
pub struct WithElsewhere {
    own: Arc<dyn Store>,
    clients: Mutex<HashMap<Cluster, Client>>,
    tables: RwLock<HashMap<TableId, Arc<Elsewhere>>>,
    /// Whether there was one ever: most stores have none, and ask no further.
    any: AtomicBool,
}

fn not_of(what: &str) -> StoreError {
    StoreError::Unsupported(format!("{what} of tables that other programs own is not supported"))
}

impl WithElsewhere {
    #[must_use]
    pub fn new(own: Arc<dyn Store>) -> Self {
        Self { own, clients: Mutex::default(), tables: RwLock::default(), any: AtomicBool::new(false) }
    }

    fn at(&self, table: TableId) -> Option<Arc<Elsewhere>> {
        if !self.any.load(Ordering::Acquire) {
            return None;
        }
        self.tables.read().get(&table).cloned()
    }

    /// [`StoreError::Unsupported`] for a table that is elsewhere.
    fn own(&self, table: TableId, what: &str) -> StoreResult<&Arc<dyn Store>> {
        if self.at(table).is_some() { Err(not_of(what)) } else { Ok(&self.own) }
    }

    /// The client of a cluster: one for all of its tables.
    fn client(&self, cluster: &Cluster) -> StoreResult<Client> {
        let mut clients = self.clients.lock();
        if let Some(client) = clients.get(cluster) {
            return Ok(client.clone());
        }
        let client = Client::connect(cluster.config()).map_err(read_error)?;
        clients.insert(cluster.clone(), client.clone());
        Ok(client)
    }

    fn place(&self, location: &str) -> StoreResult<(TableUrl, Client)> {
        let url: TableUrl = location.parse().map_err(StoreError::Unsupported)?;
        let client = self.client(&url.cluster)?;
        Ok((url, client))
    }
}

#[async_trait]
impl Store for WithElsewhere {
    async fn create_table(&self, schema: &TableSchema) -> StoreResult<()> {
        self.own.create_table(schema).await
    }

    async fn alter_table(&self, schema: &TableSchema) -> StoreResult<()> {
        self.own(schema.id, "alteration")?.alter_table(schema).await
    }

    async fn drop_table(&self, table: TableId) -> StoreResult<()> {
        if self.at(table).is_some() {
            self.tables.write().remove(&table);
            return Ok(());
        }
        self.own.drop_table(table).await
    }

    async fn list_tables(&self) -> StoreResult<Vec<TableSchema>> {
        self.own.list_tables().await
    }

    async fn describe_table(&self, table: TableId) -> StoreResult<Option<TableSchema>> {
        match self.at(table) {
            Some(table) => Ok(Some(table.schema.clone())),
            None => self.own.describe_table(table).await,
        }
    }

    async fn describe_elsewhere(&self, location: &str, cells: FamilyId) -> StoreResult<Option<TableSchema>> {
        let (url, client) = self.place(location)?;
        table::describe(&client, &url.table, cells).await
    }

    fn attach(&self, schema: &TableSchema, location: &str) -> StoreResult<()> {
        let (url, client) = self.place(location)?;
        let table = Elsewhere::new(&client, &url.table, schema)?;
        self.tables.write().insert(schema.id, Arc::new(table));
        self.any.store(true, Ordering::Release);
        Ok(())
    }

    async fn regions(&self, table: TableId) -> StoreResult<Vec<Region>> {
        match self.at(table) {
            Some(table) => table.regions().await,
            None => self.own.regions(table).await,
        }
    }

    async fn approximate_size(&self, table: TableId, range: &KeyRange) -> StoreResult<(u64, u64)> {
        match self.at(table) {
            Some(table) => table.size(range).await,
            None => self.own.approximate_size(table, range).await,
        }
    }

    async fn extents(&self, tables: &[TableId], ranges: &[(TableId, &[KeyRange])]) -> StoreResult<Extents> {
        let all = tables.iter().chain(ranges.iter().map(|(table, _)| table));
        let elsewhere: HashMap<TableId, Arc<Elsewhere>> = all.filter_map(|id| Some((*id, self.at(*id)?))).collect();
        if elsewhere.is_empty() {
            return self.own.extents(tables, ranges).await;
        }
        // Those of its own in one call.
        let own_tables: Vec<TableId> = tables.iter().filter(|id| !elsewhere.contains_key(*id)).copied().collect();
        let own_ranges: Vec<(TableId, &[KeyRange])> = ranges.iter().filter(|(id, _)| !elsewhere.contains_key(id)).copied().collect();
        let own = self.own.extents(&own_tables, &own_ranges).await?;
        let (mut own_regions, mut own_sizes) = (own.regions.into_iter(), own.sizes.into_iter());
        let mut out = Extents { regions: Vec::with_capacity(tables.len()), sizes: Vec::with_capacity(ranges.len()) };
        for id in tables {
            out.regions.push(match elsewhere.get(id) {
                Some(table) => table.regions().await?,
                None => own_regions.next().unwrap_or_default(),
            });
        }
        for (id, ranges) in ranges {
            out.sizes.push(match elsewhere.get(id) {
                Some(table) => table.sizes(ranges).await?,
                None => own_sizes.next().unwrap_or_default(),
            });
        }
        Ok(out)
    }

    async fn approximate_bytes(&self, table: TableId, range: &KeyRange) -> StoreResult<u64> {
        match self.at(table) {
            Some(table) => table.bytes(range).await,
            None => self.own.approximate_bytes(table, range).await,
        }
    }

    async fn split(&self, table: TableId, at: &[u8]) -> StoreResult<()> {
        self.own(table, "a split")?.split(table, at).await
    }

    async fn unsplit(&self, table: TableId, at: &[u8]) -> StoreResult<()> {
        self.own(table, "a merge")?.unsplit(table, at).await
    }

    async fn flush(&self, table: TableId) -> StoreResult<()> {
        self.own(table, "a flush")?.flush(table).await
    }

    async fn compact(&self, table: TableId) -> StoreResult<()> {
        self.own(table, "a compaction")?.compact(table).await
    }

    fn snapshot(&self) -> Arc<dyn Snapshot> {
        self.own.snapshot()
    }

    fn snapshot_at(&self, timestamp: Timestamp) -> StoreResult<Arc<dyn Snapshot>> {
        self.own.snapshot_at(timestamp)
    }

    async fn get(&self, spec: &ReadSpec, keys: &[&[u8]], sink: &mut dyn RowSink) -> StoreResult<()> {
        match self.at(spec.table) {
            Some(table) => read::get(&table, spec, keys, sink).await,
            None => self.own.get(spec, keys, sink).await,
        }
    }

    async fn scan(&self, spec: ScanSpec) -> StoreResult<Box<dyn Scan>> {
        match self.at(spec.read.table) {
            Some(table) => Ok(Box::new(read::ScanElsewhere::open(table, &spec, None))),
            None => self.own.scan(spec).await,
        }
    }

    async fn scan_parts(&self, spec: ScanSpec, parts: Arc<[KeyRange]>) -> StoreResult<Box<dyn Scan>> {
        match self.at(spec.read.table) {
            Some(table) => Ok(Box::new(read::ScanElsewhere::open(table, &spec, Some(&parts)))),
            None => self.own.scan_parts(spec, parts).await,
        }
    }

    async fn history(&self, spec: HistorySpec) -> StoreResult<Box<dyn History>> {
        self.own(spec.table, "the history")?.history(spec).await
    }

    fn seek_cost(&self) -> f64 {
        self.own.seek_cost()
    }

    fn watch(&self, table: TableId, range: &KeyRange, snapshot: &Arc<dyn Snapshot>) -> Option<Arc<Watch>> {
        // Nobody tells when others write.
        if self.at(table).is_some() { None } else { self.own.watch(table, range, snapshot) }
    }

    async fn commit(&self, commit: Commit<'_>) -> StoreResult<Timestamp> {
        if self.writes_elsewhere(&commit)? { self.write(&commit).await } else { self.own.commit(commit).await }
    }

    async fn commit_then(&self, commit: Commit<'_>, then: OnVisible) -> StoreResult<Timestamp> {
        if !self.writes_elsewhere(&commit)? {
            return self.own.commit_then(commit, then).await;
        }
        let at = self.write(&commit).await?;
        then(at);
        Ok(at)
    }

    fn rows_changed_since(&self, rows: &mut dyn Iterator<Item = (TableId, &[u8])>, since: Timestamp) -> bool {
        if !self.any.load(Ordering::Acquire) {
            return self.own.rows_changed_since(rows, since);
        }
        self.own.rows_changed_since(&mut rows.filter(|(table, _)| self.at(*table).is_none()), since)
    }

    async fn backfill(&self, table: TableId, family: FamilyId, cells: &[(&[u8], &[u8])], at: Timestamp) -> StoreResult<Vec<usize>> {
        self.own(table, "an index")?.backfill(table, family, cells, at).await
    }

    async fn bulk_load(&self, tables: &[TableId]) -> StoreResult<Box<dyn BulkLoad>> {
        for table in tables {
            self.own(*table, "a transaction that is larger than memory")?;
        }
        self.own.bulk_load(tables).await
    }

    async fn backup(&self, directory: &Path) -> StoreResult<Timestamp> {
        self.own.backup(directory).await
    }

    fn limits(&self) -> Limits {
        self.own.limits()
    }

    fn metrics(&self) -> Vec<(String, u64)> {
        let mut out = self.own.metrics();
        if self.any.load(Ordering::Acquire) {
            let calls = |client: &Client| client.metrics().servers.iter().map(|server| server.calls).sum::<u64>();
            out.push(("elsewhere_calls".to_owned(), self.clients.lock().values().map(calls).sum()));
        }
        out
    }
}
