//! [`HbaseStore`]: opening, closing, and the contract's calls, each handed to the part that does it.

use crate::commit::{Committer, Core, count};
use crate::failure::{read_error, write_error};
use crate::history::HbaseHistory;
use crate::keys::LIMITS;
use crate::loads::{HbaseLoad, Loads};
use crate::log::{self, Log};
use crate::options::HbaseOptions;
use crate::pending::Pending;
use crate::read::check_age;
use crate::scan::HbaseScan;
use crate::schema::StoredTable;
use crate::tables::{Table, Tables};
use crate::ticks::Tick;
use crate::views::HbaseSnapshot;
use async_trait::async_trait;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use stoa_hbase_client::{Client, TableName};
use stoa_store::parts::PartScan;
use stoa_store::{
    BulkLoad, Certainty, Commit, FamilyId, History, HistorySpec, KeyRange, Limits, OnVisible, ReadSpec, Region, RowSink, Scan, ScanSpec,
    Snapshot, Store, StoreError, StoreResult, TableId, TableSchema, Timestamp, Watch,
};
use tokio::runtime::{Builder, Runtime};

/// Threads that commit, apply and change tables; the client's own do the rest.
const THREADS: usize = 2;
/// Tables that are asked for their regions at once.
const DESCRIBED_AT_ONCE: usize = 16;
/// What going on at another place of a scan costs: a call, in which as many rows would have come.
const SEEK_COST: f64 = 700.0;

/// A store in a namespace of an HBase cluster. One process at a time has it: opening it takes it over from the one that had it, which
/// fails from then on. Closing is dropping it; what is committed and not yet in its tables is in the log, and found by the next one.
///
/// Its futures can be awaited in any runtime, and in none.
#[derive(Debug)]
pub struct HbaseStore {
    core: Arc<Core>,
    runtime: Option<Runtime>,
}

impl Drop for HbaseStore {
    fn drop(&mut self) {
        self.core.close();
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn io(message: &str) -> StoreError {
    StoreError::Io { message: message.to_owned(), certainty: Certainty::NotDone }
}

impl HbaseStore {
    /// Opens the store of a namespace, which is made if it does not exist, and takes it over from whoever had it.
    ///
    /// # Errors
    /// [`StoreError::Locked`] if another process has it and works, and it is not to be taken over; [`StoreError::Unavailable`] if the
    /// cluster does not answer; [`StoreError::Invalid`] if this machine's clock is far from the
    /// servers', or a later version of this program has written there; [`StoreError::Corruption`] if the log is damaged.
    pub async fn open(options: HbaseOptions) -> StoreResult<HbaseStore> {
        let threads = Builder::new_multi_thread().worker_threads(THREADS).thread_name("stoa-hbase").enable_all().build();
        let runtime = threads.map_err(|error| io(&format!("the store's threads do not start: {error}")))?;
        let handle = runtime.handle().clone();
        let mut store = HbaseStoreBeingOpened { runtime: Some(runtime) };
        let opened = handle.clone().spawn(open(options, handle)).await;
        let core = opened.unwrap_or_else(|_| Err(io("opening the store was cut off")))?;
        Ok(HbaseStore { core, runtime: store.runtime.take() })
    }

    /// Whether there is a store in the namespace of these options.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if the cluster does not answer.
    pub async fn is_there(options: &HbaseOptions) -> StoreResult<bool> {
        crate::owner::is_there(options).await
    }

    /// Makes the tables of a backup in another namespace of the same cluster, which has none: a store that [`HbaseStore::open`] opens.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] if the namespace has tables, or the directory is no backup; [`StoreError::Unavailable`].
    pub async fn restore(options: &HbaseOptions, backup: &Path) -> StoreResult<()> {
        crate::backup::restore(options, backup).await
    }

    /// Runs something to its end on the store's own threads.
    async fn on_own_threads<T: Send + 'static>(&self, work: impl Future<Output = StoreResult<T>> + Send + 'static) -> StoreResult<T> {
        let closed = || StoreError::Io { message: "the store was closed".into(), certainty: Certainty::Unknown };
        self.core.handle.spawn(work).await.unwrap_or_else(|_| Err(closed()))
    }

    async fn schema_of(&self, table: &Table) -> StoreResult<TableSchema> {
        let mut schema = table.schema.clone();
        schema.split_points = self.core.split_points(table).await?;
        Ok(schema)
    }
}

/// Lets go of its threads wherever it is dropped.
struct HbaseStoreBeingOpened {
    runtime: Option<Runtime>,
}

impl Drop for HbaseStoreBeingOpened {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn open(options: HbaseOptions, handle: tokio::runtime::Handle) -> StoreResult<Arc<Core>> {
    let client = Client::connect(options.client.clone()).map_err(read_error)?;
    let name = |table: &str| TableName::new(&options.namespace, table).map_err(|e| StoreError::Invalid(e.to_string()));
    let log_name = name("log")?;
    let admin = client.admin();
    if !crate::owner::has_namespace(&admin, &options.namespace).await? {
        match admin.create_namespace(&options.namespace).await {
            Err(error) if !error.is_exception("NamespaceExistException") => return Err(write_error(error)),
            _ => {}
        }
    }
    log::ensure_table(&client, &log_name).await?;
    let log_table = client.table(log_name.as_str()).map_err(read_error)?;
    if !options.take_over {
        crate::owner::refuse_if_alive(&log_table, &options.namespace).await?;
    }
    let log = Log::take(log_table, rand::random()).await?;
    check_clock(&options, &log).await?;
    let found = log.read().await?;
    let mut tables = Tables::default();
    for descriptor in admin.describe_tables(&options.namespace).await.map_err(read_error)? {
        if let Some(stored) = StoredTable::of(&descriptor)? {
            let table = Table::new(&client, stored, descriptor.name.as_str(), Arc::default(), found.last.0)?;
            tables.0.insert(table.id(), Arc::new(table));
        }
    }
    // What the first snapshot sees is at its time or before: even, and at or above all that was committed.
    let last = Tick((found.last.0 + 1) & !1);
    let mut pending = Pending::default();
    let mut rows = 0;
    for (tick, changes) in found.commits {
        let is_there = |table: &TableId| tables.0.get(table).is_some_and(|table| tick.0 > table.stored.since);
        let changes: Vec<_> = changes.into_iter().filter(|(_, change)| is_there(&change.table)).collect();
        rows += changes.len();
        pending.insert(tick, changes);
    }
    tracing::info!("namespace {}: epoch {}, {} tables, {rows} changes from the log", options.namespace, log.epoch, tables.0.len());
    if let Some(table) = options.faults.hanging {
        pending.hold(table, true);
    }
    let core = Arc::new(Core::new(options, client, handle.clone(), log, tables, Loads::found(found.loads), pending, last));
    handle.spawn(Committer::new(Arc::clone(&core), last).run());
    handle.spawn(crate::apply::run(Arc::clone(&core)));
    handle.spawn(crate::apply::trim(Arc::clone(&core)));
    handle.spawn(crate::loads::tend(Arc::clone(&core)));
    Ok(core)
}

/// Commits are at this machine's times, and the servers remove what is old by theirs.
async fn check_clock(options: &HbaseOptions, log: &Log) -> StoreResult<()> {
    let (ours, theirs) = (options.clock.now_us() / 1000, log.server_clock().await?);
    if u128::from(ours.abs_diff(theirs)) <= options.clock_difference.as_millis() {
        return Ok(());
    }
    let (ours, theirs) = (ours / 1000, theirs / 1000);
    Err(StoreError::Invalid(format!("this machine's clock says {ours} s since 1970, that of HBase's servers {theirs}: they must agree")))
}

#[async_trait]
impl Store for HbaseStore {
    async fn create_table(&self, schema: &TableSchema) -> StoreResult<()> {
        self.on_own_threads(Arc::clone(&self.core).create_table(schema.clone())).await
    }

    async fn alter_table(&self, schema: &TableSchema) -> StoreResult<()> {
        self.on_own_threads(Arc::clone(&self.core).alter_table(schema.clone())).await
    }

    async fn drop_table(&self, table: TableId) -> StoreResult<()> {
        self.on_own_threads(Arc::clone(&self.core).drop_table(table)).await
    }

    async fn list_tables(&self) -> StoreResult<Vec<TableSchema>> {
        let tables = self.core.tables();
        let mut tables: Vec<&Arc<Table>> = tables.0.values().collect();
        tables.sort_by_key(|table| table.id());
        let mut schemas = Vec::with_capacity(tables.len());
        for some in tables.chunks(DESCRIBED_AT_ONCE) {
            let mut asked = Vec::with_capacity(some.len());
            for table in some {
                asked.push(self.schema_of(table));
            }
            schemas.extend(futures::future::try_join_all(asked).await?);
        }
        Ok(schemas)
    }

    async fn describe_table(&self, table: TableId) -> StoreResult<Option<TableSchema>> {
        match self.core.table(table) {
            Ok(table) => self.schema_of(&table).await.map(Some),
            Err(_) => Ok(None),
        }
    }

    async fn regions(&self, table: TableId) -> StoreResult<Vec<Region>> {
        self.core.regions(&self.core.table(table)?).await
    }

    async fn approximate_size(&self, table: TableId, range: &KeyRange) -> StoreResult<(u64, u64)> {
        self.core.approximate_size(&self.core.table(table)?, range).await
    }

    async fn approximate_bytes(&self, table: TableId, range: &KeyRange) -> StoreResult<u64> {
        self.core.approximate_bytes(&*self.core.table(table)?, range).await
    }

    async fn split(&self, table: TableId, at: &[u8]) -> StoreResult<()> {
        self.on_own_threads(Arc::clone(&self.core).split(table, at.to_vec())).await
    }

    async fn unsplit(&self, table: TableId, at: &[u8]) -> StoreResult<()> {
        self.on_own_threads(Arc::clone(&self.core).unsplit(table, at.to_vec())).await
    }

    async fn flush(&self, table: TableId) -> StoreResult<()> {
        self.on_own_threads(Arc::clone(&self.core).flush(table)).await
    }

    async fn compact(&self, table: TableId) -> StoreResult<()> {
        self.on_own_threads(Arc::clone(&self.core).compact(table)).await
    }

    fn snapshot(&self) -> Arc<dyn Snapshot> {
        Arc::new(self.core.snapshot())
    }

    fn snapshot_at(&self, timestamp: Timestamp) -> StoreResult<Arc<dyn Snapshot>> {
        let mut snapshot = self.core.snapshot();
        let past = Tick::at_or_before(timestamp);
        if past < snapshot.tick {
            snapshot.tick = past;
            snapshot.seen_ms = snapshot.seen_ms.min(past.0);
        }
        // Each table says itself what it keeps.
        let kept = self
            .core
            .tables()
            .0
            .values()
            .map(|table| Duration::from_millis(table.stored.retention_ms))
            .fold(self.core.options.retention, Duration::max);
        check_age(&self.core, snapshot.seen_ms, kept)?;
        Ok(Arc::new(snapshot))
    }

    async fn get(&self, spec: &ReadSpec, keys: &[&[u8]], sink: &mut dyn RowSink) -> StoreResult<()> {
        count(&self.core.counters.gets, keys.len() as u64);
        crate::read::get(&self.core, spec, keys, sink).await
    }

    async fn scan(&self, spec: ScanSpec) -> StoreResult<Box<dyn Scan>> {
        count(&self.core.counters.scans, 1);
        Ok(Box::new(HbaseScan::open(&self.core, &spec, None)?))
    }

    async fn scan_parts(&self, spec: ScanSpec, parts: Arc<[KeyRange]>) -> StoreResult<Box<dyn Scan>> {
        count(&self.core.counters.scans, 1);
        if spec.reverse {
            // The servers go from range to range upwards only.
            return Ok(Box::new(PartScan::new(Box::new(HbaseScan::open(&self.core, &spec, None)?), parts)));
        }
        Ok(Box::new(HbaseScan::open(&self.core, &spec, Some(&parts))?))
    }

    async fn history(&self, spec: HistorySpec) -> StoreResult<Box<dyn History>> {
        count(&self.core.counters.scans, 1);
        Ok(Box::new(HbaseHistory::open(&self.core, spec)?))
    }

    fn seek_cost(&self) -> f64 {
        SEEK_COST
    }

    fn watch(&self, table: TableId, range: &KeyRange, snapshot: &Arc<dyn Snapshot>) -> Option<Arc<Watch>> {
        let snapshot = HbaseSnapshot::of(snapshot).ok().filter(|snapshot| !snapshot.is_past())?;
        let of = self.core.table(table).ok()?;
        if !of.families.iter().all(|family| family.options.versions == 1 && family.ttl_us.is_none()) {
            return None;
        }
        let mut window = self.core.window.lock();
        // Of a table that is altered now, the watches are ended once the alteration is visible.
        let current = self.core.tables().has(&of);
        current.then(|| window.watch(table, range, snapshot.timestamp())).flatten()
    }

    async fn commit(&self, commit: Commit<'_>) -> StoreResult<Timestamp> {
        self.core.commit(commit.mutations, commit.snapshot, commit.validate, None).await
    }

    async fn commit_then(&self, commit: Commit<'_>, then: OnVisible) -> StoreResult<Timestamp> {
        self.core.commit(commit.mutations, commit.snapshot, commit.validate, Some(then)).await
    }

    fn rows_changed_since(&self, rows: &mut dyn Iterator<Item = (TableId, &[u8])>, since: Timestamp) -> bool {
        let window = self.core.window.lock();
        for (table, key) in rows {
            if window.row_changed(table, key, since) {
                return true;
            }
        }
        false
    }

    async fn backfill(&self, table: TableId, family: FamilyId, cells: &[(&[u8], &[u8])], at: Timestamp) -> StoreResult<Vec<usize>> {
        if crate::backfill::can_put(&self.core, table, family, at)? {
            crate::backfill::put(&self.core, table, family, cells, at).await.map(|()| Vec::new())
        } else {
            stoa_store::backfill::by_commits(self, table, family, cells, at).await
        }
    }

    async fn bulk_load(&self, tables: &[TableId]) -> StoreResult<Box<dyn BulkLoad>> {
        Ok(Box::new(HbaseLoad::new(&self.core, tables).await?))
    }

    async fn backup(&self, directory: &Path) -> StoreResult<Timestamp> {
        self.on_own_threads(crate::backup::backup(Arc::clone(&self.core), directory.to_owned())).await
    }

    fn limits(&self) -> Limits {
        LIMITS
    }

    fn metrics(&self) -> Vec<(String, u64)> {
        let core = &self.core;
        let counters = &core.counters;
        let counted = [
            ("commits", &counters.commits),
            ("commit_groups", &counters.groups),
            ("commit_conflicts", &counters.conflicts),
            ("log_bytes", &counters.log_bytes),
            ("rows_applied", &counters.applied_rows),
            ("apply_calls", &counters.apply_calls),
            ("apply_failures", &counters.apply_failures),
            ("rows_got", &counters.gets),
            ("scans", &counters.scans),
            ("bulk_loads", &counters.loads),
        ];
        let mut out: Vec<_> = counted.map(|(name, counter)| (name.to_owned(), counter.load(Ordering::Relaxed))).into();
        let (pending_rows, pending_bytes) = {
            let pending = core.pending.read();
            (pending.rows() as u64, pending.bytes() as u64)
        };
        let (window_rows, watches) = {
            let window = core.window.lock();
            (window.len() as u64, window.watches() as u64)
        };
        let gauges = [
            ("tables", core.tables().0.len() as u64),
            ("views_held", core.live.count() as u64),
            ("commit_window_rows", window_rows),
            ("ranges_watched", watches),
            ("pending_rows", pending_rows),
            ("pending_bytes", pending_bytes),
            ("epoch", core.log.epoch),
        ];
        out.extend(gauges.map(|(name, value)| (name.to_owned(), value)));
        let servers = core.client.metrics();
        out.extend([("hbase_calls".to_owned(), servers.servers.iter().map(|server| server.calls).sum())]);
        out
    }
}
