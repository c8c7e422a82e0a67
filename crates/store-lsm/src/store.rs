//! [`LsmStore`]: opening, closing, and the contract's calls, each handed to the part that does it.

use crate::batch::EncodedCommit;
use crate::bulk::{LsmBulkLoad, resume_loads};
use crate::cached_ranges::{CacheableRange, PartsOrCached};
use crate::commit::{Committer, Core, Reply, count};
use crate::database::{Database, RocksSnapshot, message_error, read_error, write_error};
use crate::directories::{make_directory, sync_all, sync_directory};
use crate::history::LsmHistory;
use crate::iterator::IteratorPool;
use crate::keys::Form;
use crate::log_marks::LogWriter;
use crate::log_recovery::{self, LogFilter};
use crate::metadata::{FORMAT, FORMAT_KEY, Metadata, load_key};
use crate::options::{LsmOptions, OptionClass, SharedResources};
use crate::purge::Purge;
use crate::scan::LsmScan;
use crate::space::Space;
use crate::traffic::RowsWritten;
use crate::view::{LsmSnapshot, Table, Tables, View};
use async_trait::async_trait;
use parking_lot::Mutex;
use rocksdb::checkpoint::Checkpoint;
use rocksdb::{ColumnFamilyDescriptor, DB, Options, WriteBatch};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use stoa_store::parts::PartScan;
use stoa_store::{
    BulkLoad, Certainty, Commit, Durability, History, HistorySpec, KeyRange, OnVisible, ReadSpec, Region, RowSink, Scan, ScanSpec,
    Snapshot, Store, StoreError, StoreResult, TableId, TableSchema, Timestamp, Watch,
};

/// How far above everything known a store starts, so that a damaged ceiling is noticed and not lived with.
const MICROS_AFTER_CRASH: u64 = 1;

/// A store in a directory of this machine, on RocksDB. Cheap to share behind an `Arc`; closing is dropping it, which waits for
/// queued commits. Snapshots and scans keep the directory open until they are dropped too.
#[derive(Debug)]
pub struct LsmStore {
    core: Arc<Core>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl LsmStore {
    /// Opens the store in a directory, which is made if it does not exist. Blocks while the log is replayed.
    ///
    /// # Errors
    /// [`StoreError::Locked`] if a process (this one included) has it open; [`StoreError::Invalid`] if it holds something else
    /// or a newer format; [`StoreError::Corruption`] if its files are damaged; [`StoreError::Io`].
    pub fn open(path: impl AsRef<Path>, options: LsmOptions) -> StoreResult<Self> {
        let path = path.as_ref();
        let shared = SharedResources::new(&options);
        let database = Arc::new(open_database(path, &options, &shared)?);
        let mut metadata = Metadata::read(&database.db)?;
        if metadata.fresh {
            let mut format = WriteBatch::default();
            format.put(FORMAT_KEY, FORMAT);
            database.write(format, Durability::Sync)?;
        }
        let start = Timestamp::after(metadata.ceiling, options.clock.now_us().saturating_add(MICROS_AFTER_CRASH));
        let tracker = Arc::clone(&shared.retention.tracker);
        let placeholder = View::publish(&tracker, start, 0, Arc::default(), RocksSnapshot::take(&database));
        let core = Arc::new(Core::new(Arc::clone(&database), options, shared, placeholder));
        resume_loads(&core, &mut metadata.loads)?;
        let tables = Arc::new(open_tables(&core, &metadata, start)?);
        forget_loads_without_table(&core, &metadata, &tables)?;
        core.share_rules(&tables);
        let mut committer = Committer::new(Arc::clone(&core), tables, start, metadata.ceiling, metadata.next_storage);
        // The ceiling goes above the start before anything can be read at it.
        committer.write_metadata(WriteBatch::default())?;
        committer.publish();
        core.janitor.add(metadata.purges.iter().filter_map(|(storage, name)| {
            let class = OptionClass::parse(name)?;
            Some(Purge { storage: *storage, class, seen_by: 0 })
        }));
        let spawn = |name: &str, run: Box<dyn FnOnce() + Send>| {
            std::thread::Builder::new().name(name.into()).spawn(run).map_err(|e| message_error(&e.to_string(), Certainty::NotDone))
        };
        let weak = Arc::downgrade(&core);
        let threads = vec![
            spawn(
                "stoa-commit",
                Box::new(move || {
                    crate::schedule::prefer_short_slices();
                    committer.run();
                }),
            )?,
            spawn("stoa-janitor", Box::new(move || crate::purge::run(&weak)))?,
        ];
        Ok(Self { core, threads: Mutex::new(threads) })
    }

    /// The table as a snapshot sees it; `None` if it was made later: then it has no rows.
    fn table_at<'a>(&self, snapshot: &'a LsmSnapshot, id: TableId) -> StoreResult<Option<&'a Arc<Table>>> {
        match snapshot.view.tables.map.get(&id) {
            Some(table) => Ok(Some(table)),
            None if self.core.view().tables.map.contains_key(&id) => Ok(None),
            None => Err(StoreError::NoSuchTable(id.0)),
        }
    }

    async fn queue_commit(&self, commit: Commit<'_>, then: Option<OnVisible>) -> StoreResult<Timestamp> {
        loop {
            let tables = Arc::clone(&self.core.view().tables);
            for (table, _) in commit.validate {
                tables.map.get(table).ok_or(StoreError::NoSuchTable(table.0))?;
            }
            let encoded = EncodedCommit::encode(commit.mutations, &tables)?;
            drop(tables);
            let written = RowsWritten::of_commit(&encoded);
            match self.core.commit(encoded, commit.snapshot, commit.validate, commit.durability, then.clone()).await? {
                Reply::Committed(at) => {
                    written.iter().for_each(RowsWritten::count);
                    return Ok(at);
                }
                Reply::Failed(error) => return Err(error),
                Reply::Stale => {}
            }
        }
    }

    fn table_now(&self, id: TableId) -> StoreResult<Arc<Table>> {
        self.core.view().tables.map.get(&id).map(Arc::clone).ok_or(StoreError::NoSuchTable(id.0))
    }
}

impl Drop for LsmStore {
    fn drop(&mut self) {
        self.core.close();
        self.core.janitor.close();
        for thread in self.threads.lock().drain(..) {
            // The last one to hold the store may be what the commit thread does behind a commit: it ends by itself then.
            if thread.thread().id() == std::thread::current().id() {
                continue;
            }
            if thread.join().is_err() {
                tracing::error!("a thread of the store panicked");
            }
        }
    }
}

fn open_database(path: &Path, options: &LsmOptions, shared: &SharedResources) -> StoreResult<Database> {
    let io = |error: std::io::Error| message_error(&format!("{}: {error}", path.display()), Certainty::NotDone);
    make_directory(path).map_err(io)?;
    let mut database_options = shared.database_options(options);
    let mut classes = Vec::new();
    if path.join("CURRENT").exists() {
        for name in DB::list_cf(&database_options, path).map_err(|e| open_error(path, e))? {
            if name == rocksdb::DEFAULT_COLUMN_FAMILY_NAME {
                continue;
            }
            let class = OptionClass::parse(&name).ok_or_else(|| {
                StoreError::Invalid(format!("{} holds column family \"{name}\", which this program does not know", path.display()))
            })?;
            classes.push(class);
        }
    } else if std::fs::read_dir(path).map_err(io)?.flatten().any(|entry| entry.file_name() != "lost+found") {
        // RocksDB leaves its lock and log when it was stopped before it had made anything.
        let ours =
            |name: &str| ["LOCK", "LOG", "IDENTITY", "load"].contains(&name) || name.starts_with("LOG.") || name.starts_with("MANIFEST-");
        let entries = std::fs::read_dir(path).map_err(io)?.flatten();
        let foreign = entries.map(|e| e.file_name().to_string_lossy().into_owned()).find(|name| !ours(name) && name != "lost+found");
        if let Some(name) = foreign.filter(|name| !name.ends_with(".dbtmp") && !name.ends_with(".log")) {
            return Err(StoreError::Invalid(format!("{} is not empty and not a store: it holds \"{name}\"", path.display())));
        }
    }
    let mut in_files = None;
    if path.join("CURRENT").exists() && !options.salvage_log {
        let read = |options: &Options| {
            let families = families(options, &classes, &|class| shared.opening_options(class));
            DB::open_cf_descriptors_read_only(options, path, families, false).map_err(|e| open_error(path, e))
        };
        in_files = Some(log_recovery::check(database_options.clone(), read)?);
    }
    let filter = LogFilter::new(in_files);
    filter.apply(&mut database_options);
    let mut in_memory = false;
    let db = match open_families(path, &database_options, &classes, &|class| shared.opening_options(class)) {
        Err(StoreError::DiskFull(why)) => {
            tracing::warn!("the disk is nearly full ({why}): what the log holds stays in memory");
            let bytes = shared.hold_log(path);
            let of = |options| SharedResources::replays_into_memory(options, bytes);
            let opened = open_families(path, &of(database_options), &classes, &|class| of(shared.opening_options(class)));
            shared.hold_writes();
            in_memory = true;
            opened?
        }
        opened => opened?,
    };
    for class in classes.iter().filter(|_| !in_memory) {
        shared.set_write_buffer_size(&db, class);
    }
    let (log, space) = (Mutex::new(LogWriter::default()), Space::new(path));
    Ok(Database { iterator_pool: IteratorPool::default(), db, path: path.to_path_buf(), log, space, _filter: filter })
}

/// Opens RocksDB with a column family for each class and one for the metadata.
fn open_families(path: &Path, options: &Options, classes: &[OptionClass], of: &dyn Fn(&OptionClass) -> Options) -> StoreResult<DB> {
    DB::open_cf_descriptors(options, path, families(options, classes, of)).map_err(|e| open_error(path, e))
}

fn families(options: &Options, classes: &[OptionClass], of: &dyn Fn(&OptionClass) -> Options) -> Vec<ColumnFamilyDescriptor> {
    let metadata = ColumnFamilyDescriptor::new(rocksdb::DEFAULT_COLUMN_FAMILY_NAME, options.clone());
    classes.iter().map(|class| ColumnFamilyDescriptor::new(class.name(), of(class))).chain([metadata]).collect()
}

fn open_error(path: &Path, error: rocksdb::Error) -> StoreError {
    let message = error.as_ref().to_ascii_lowercase();
    if message.contains("lock")
        && (message.contains("resource temporarily unavailable")
            || message.contains("no locks available")
            || message.contains("lock hold by current process"))
    {
        return StoreError::Locked(format!("the data directory {} is in use by another process", path.display()));
    }
    read_error(error)
}

fn open_tables(core: &Core, metadata: &Metadata, start: Timestamp) -> StoreResult<Tables> {
    let mut tables = Tables::default();
    for stored in &metadata.tables {
        tables.map.insert(stored.schema.id, Arc::new(core.table(stored, start)?));
    }
    let loads: crate::view::Loads = metadata.loads.iter().map(|load| (load.begin, load.finish)).collect();
    tables.loads = Arc::new(loads);
    Ok(tables)
}

fn forget_loads_without_table(core: &Core, metadata: &Metadata, tables: &Tables) -> StoreResult<()> {
    let mut batch = WriteBatch::default();
    for load in metadata.loads.iter().filter(|load| !tables.map.contains_key(&load.table)) {
        batch.delete(load_key(load.begin));
    }
    core.database.write(batch, Durability::Relaxed)
}

#[async_trait]
impl Store for LsmStore {
    async fn create_table(&self, schema: &TableSchema) -> StoreResult<()> {
        let schema = schema.clone();
        self.core.exclusive(move |committer| committer.create_table(&schema)).await
    }

    async fn alter_table(&self, schema: &TableSchema) -> StoreResult<()> {
        let schema = schema.clone();
        self.core.exclusive(move |committer| committer.alter_table(&schema)).await
    }

    async fn drop_table(&self, table: TableId) -> StoreResult<()> {
        self.core.exclusive(move |committer| committer.drop_table(table)).await
    }

    async fn list_tables(&self) -> StoreResult<Vec<TableSchema>> {
        let mut schemas: Vec<_> = self.core.view().tables.map.values().map(|table| table.schema.clone()).collect();
        schemas.sort_by_key(|schema| schema.id);
        Ok(schemas)
    }

    async fn describe_table(&self, table: TableId) -> StoreResult<Option<TableSchema>> {
        Ok(self.core.view().tables.map.get(&table).map(|table| table.schema.clone()))
    }

    async fn regions(&self, table: TableId) -> StoreResult<Vec<Region>> {
        self.core.regions(&*self.table_now(table)?)
    }

    async fn approximate_size(&self, table: TableId, range: &KeyRange) -> StoreResult<(u64, u64)> {
        self.core.approximate_size(&*self.table_now(table)?, range)
    }

    async fn approximate_bytes(&self, table: TableId, range: &KeyRange) -> StoreResult<u64> {
        self.core.approximate_bytes(&*self.table_now(table)?, range)
    }

    async fn split(&self, table: TableId, at: &[u8]) -> StoreResult<()> {
        let at = at.to_vec();
        self.core.exclusive(move |committer| committer.change_splits(table, |points| points.push(at))).await
    }

    async fn unsplit(&self, table: TableId, at: &[u8]) -> StoreResult<()> {
        let at = at.to_vec();
        self.core.exclusive(move |committer| committer.change_splits(table, |points| points.retain(|point| *point != at))).await
    }

    async fn flush(&self, table: TableId) -> StoreResult<()> {
        let table = self.table_now(table)?;
        for family in &table.families {
            self.core.database.db.flush_cf(&family.column_family.handle).map_err(write_error)?;
        }
        Ok(())
    }

    async fn compact(&self, table: TableId) -> StoreResult<()> {
        // A view of now, so that what expired since the last commit counts as old.
        self.core
            .exclusive(|committer| {
                // A load that failed half way must not be seen.
                committer.check_working()?;
                Ok(committer.publish())
            })
            .await?;
        let table = self.table_now(table)?;
        for family in &table.families {
            self.core.sweep(&table, family)?;
            self.core.compact(family)?;
        }
        Ok(())
    }

    fn snapshot(&self) -> Arc<dyn Snapshot> {
        Arc::new(self.core.snapshot())
    }

    fn snapshot_at(&self, timestamp: Timestamp) -> StoreResult<Arc<dyn Snapshot>> {
        let mut snapshot = self.core.snapshot();
        snapshot.timestamp = snapshot.timestamp.min(timestamp);
        Ok(Arc::new(snapshot))
    }

    async fn get(&self, spec: &ReadSpec, keys: &[&[u8]], sink: &mut dyn RowSink) -> StoreResult<()> {
        count(&self.core.counters.gets, keys.len() as u64);
        let snapshot = LsmSnapshot::of(&spec.snapshot)?;
        match self.table_at(snapshot, spec.table)? {
            Some(table) => {
                table.traffic.keys_read(keys);
                crate::get::get(&self.core, spec, snapshot, table, keys, sink)
            }
            None => Ok(()),
        }
    }

    async fn scan(&self, spec: ScanSpec) -> StoreResult<Box<dyn Scan>> {
        count(&self.core.counters.scans, 1);
        let snapshot = LsmSnapshot::of(&spec.read.snapshot)?;
        let table = self.table_at(snapshot, spec.read.table)?;
        let cacheable = table.and_then(|table| CacheableRange::of(&spec, snapshot, table));
        if let Some(cacheable) = &cacheable
            && let Some(cached) = cacheable.cached(&self.core, &spec, snapshot)?
        {
            return Ok(Box::new(cached));
        }
        let fill = cacheable.and_then(|cacheable| cacheable.fill(&self.core, &spec));
        Ok(Box::new(LsmScan::open(&spec, snapshot, table.map(|table| &**table), fill, self.core.options.file_scan_bytes)?))
    }

    async fn history(&self, spec: HistorySpec) -> StoreResult<Box<dyn History>> {
        count(&self.core.counters.scans, 1);
        let snapshot = LsmSnapshot::of(&spec.snapshot)?;
        Ok(Box::new(LsmHistory::open(&spec, snapshot, self.table_at(snapshot, spec.table)?)?))
    }

    async fn scan_parts(&self, spec: ScanSpec, parts: Arc<[KeyRange]>) -> StoreResult<Box<dyn Scan>> {
        let snapshot = LsmSnapshot::of(&spec.read.snapshot)?;
        let table = self.table_at(snapshot, spec.read.table)?;
        let scan: Box<dyn Scan> = match PartsOrCached::new(&self.core, &spec, table, parts.len()) {
            Some(scan) => {
                count(&self.core.counters.scans, 1);
                Box::new(scan)
            }
            None => self.scan(spec).await?,
        };
        Ok(Box::new(PartScan::new(scan, parts)))
    }

    fn watch(&self, table: TableId, range: &KeyRange, snapshot: &Arc<dyn Snapshot>) -> Option<Arc<Watch>> {
        let snapshot = LsmSnapshot::of(snapshot).ok().filter(|snapshot| !snapshot.is_past())?;
        let of = self.table_at(snapshot, table).ok()??;
        if !of.families.iter().all(|family| family.form == Form::Plain && family.ttl_us.is_none()) {
            return None;
        }
        let mut window = self.core.window.lock();
        // Of a table that is altered now, the watches are ended once the alteration is visible.
        let current = self.core.view().tables.map.get(&table).is_some_and(|now| Arc::ptr_eq(now, of));
        current.then(|| window.watch(table, range, snapshot.timestamp)).flatten()
    }

    async fn commit(&self, commit: Commit<'_>) -> StoreResult<Timestamp> {
        self.queue_commit(commit, None).await
    }

    async fn commit_then(&self, commit: Commit<'_>, then: OnVisible) -> StoreResult<Timestamp> {
        self.queue_commit(commit, Some(then)).await
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

    async fn bulk_load(&self, tables: &[TableId]) -> StoreResult<Box<dyn BulkLoad>> {
        let tables = tables.iter().map(|table| self.table_now(*table)).collect::<StoreResult<Vec<_>>>()?;
        let count = tables.len();
        // The timestamps must be below the stored ceiling before any entry carries one.
        let begins: Vec<Timestamp> = self
            .core
            .exclusive(move |committer| {
                let begins = (0..count).map(|_| committer.load_tick()).collect();
                committer.write_metadata(WriteBatch::default())?;
                Ok(begins)
            })
            .await?;
        Ok(Box::new(LsmBulkLoad::new(Arc::clone(&self.core), tables.into_iter().zip(begins).collect())))
    }

    async fn backup(&self, directory: &Path) -> StoreResult<Timestamp> {
        let directory = directory.to_path_buf();
        self.core
            .exclusive(move |committer| {
                let io = |error: std::io::Error| message_error(&format!("{}: {error}", directory.display()), Certainty::NotDone);
                if directory.exists() {
                    if std::fs::read_dir(&directory).map_err(io)?.next().is_some() {
                        return Err(StoreError::Invalid(format!("{} is not empty", directory.display())));
                    }
                    // RocksDB makes it, and removes what it made if it fails.
                    std::fs::remove_dir(&directory).map_err(io)?;
                } else if let Some(parent) = directory.parent() {
                    make_directory(parent).map_err(io)?;
                }
                let db = &committer.core.database.db;
                Checkpoint::new(db).and_then(|checkpoint| checkpoint.create_checkpoint(&directory)).map_err(read_error)?;
                sync_all(&directory).map_err(io)?;
                directory.parent().map_or(Ok(()), sync_directory).map_err(io)?;
                Ok(committer.core.view().timestamp)
            })
            .await
    }

    fn metrics(&self) -> Vec<(String, u64)> {
        let core = &self.core;
        let counters = &core.counters;
        let db = &core.database.db;
        let view = core.view();
        let mut out: Vec<(String, u64)> = [
            ("commits", &counters.commits),
            ("commit_groups", &counters.groups),
            ("commit_conflicts", &counters.conflicts),
            ("commits_failed", &counters.failed),
            ("log_syncs", &counters.syncs),
            ("bytes_written", &counters.bytes_written),
            ("rows_got", &counters.gets),
            ("scans", &counters.scans),
            ("bulk_loads", &counters.bulk_loads),
        ]
        .map(|(name, counter)| (name.to_owned(), counter.load(Ordering::Relaxed)))
        .into();
        let (window_rows, watches) = {
            let window = core.window.lock();
            (window.len(), window.watches())
        };
        let gauges = [
            ("tables", view.tables.map.len() as u64),
            ("views_held", core.shared.retention.tracker.count()),
            ("commit_window_rows", window_rows as u64),
            ("ranges_watched", watches as u64),
            ("range_cache_entries", core.range_cache.len() as u64),
            ("range_cache_ranges", core.range_cache.ranges() as u64),
            ("storages_to_remove", core.janitor.pending()),
            ("cache_bytes", (core.shared.cache.get_usage() + core.shared.in_memory_cache.get_usage()) as u64),
            ("write_buffer_bytes", core.shared.write_buffers.get_usage() as u64),
        ];
        out.extend(gauges.map(|(name, value)| (name.to_owned(), value)));
        let column_families: Vec<_> = core.column_families.lock().values().map(Arc::clone).collect();
        let properties = [
            ("file_bytes", rocksdb::properties::TOTAL_SST_FILES_SIZE),
            ("compaction_pending_bytes", rocksdb::properties::ESTIMATE_PENDING_COMPACTION_BYTES),
            ("keys_estimated", rocksdb::properties::ESTIMATE_NUM_KEYS),
        ];
        for (name, property) in properties {
            let of_family =
                |column_family: &Arc<_>| db.property_int_value_cf(handle_of(column_family), property).ok().flatten().unwrap_or(0);
            out.push((name.to_owned(), column_families.iter().map(of_family).sum()));
        }
        out.push(("column_families".to_owned(), column_families.len() as u64));
        out
    }
}

fn handle_of(column_family: &Arc<crate::database::ColumnFamily>) -> &Arc<rocksdb::BoundColumnFamily<'static>> {
    &column_family.handle
}
