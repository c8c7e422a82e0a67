//! Bulk loads: changes in key order become files that RocksDB ingests as they are, past log and memtables.
//!
//! The entries of a table carry the timestamp at which the load began; a record says at which one it became visible, and reads
//! translate (`Tables::visible_since`). The end of a load runs on the commit thread: the records of its tables with the names of the
//! files are written first, in one batch, then the files are ingested, then the records are completed and a view published. A crash in between is
//! finished at the next start ([`resume_loads`]); taking in a file twice does no harm, since it holds the same entries.

use crate::commit::{Committer, Core, count};
use crate::database::message_error;
use crate::directories::sync_directory;
use crate::keys::{Form, VALUE_DELETED, VALUE_PUT, VALUE_PUT_AFTER_DELETE, inverted, push_escaped, push_row_bound, row_range};
use crate::metadata::{StoredLoad, load_key};
use crate::options::OptionClass;
use crate::sorted_files::{FinishedFiles, SortedFiles, load_directory, remove_file};
use crate::space::Purpose;
use crate::traffic::RowsWritten;
use crate::view::{Family, Table};
use async_trait::async_trait;
use rocksdb::WriteBatch;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use stoa_store::limits::check_mutation;
use stoa_store::model::LoadOrder;
use stoa_store::{BulkLoad, Certainty, Durability, KeyRange, MutationRef, StoreError, StoreResult, Timestamp};

/// The entries of one family: those of the current row wait, since a row's cells may come in any order.
struct FamilyLoad {
    files: SortedFiles,
    /// The entries of the current row, in the order in which they came.
    row: Vec<RowEntry>,
    used: usize,
    /// Whether the row's older cells do not count.
    deleted: bool,
    /// Whether deletions are RocksDB's own.
    plain: bool,
}

#[derive(Default)]
struct RowEntry {
    key: Vec<u8>,
    value: Vec<u8>,
    delete: bool,
}

impl FamilyLoad {
    /// The next entry of the row, to be filled.
    fn entry(&mut self) -> &mut RowEntry {
        if self.used == self.row.len() {
            self.row.push(RowEntry::default());
        }
        self.used += 1;
        let entry = &mut self.row[self.used - 1];
        entry.key.clear();
        entry.value.clear();
        entry.delete = false;
        entry
    }

    fn flush_row(&mut self) -> StoreResult<()> {
        let row = self.row.get_mut(..self.used).unwrap_or_default();
        // Stable: of two entries of one cell the later stays behind, and counts.
        row.sort_by(|a, b| a.key.cmp(&b.key));
        let mut deleted = false;
        for i in 0..row.len() {
            let Some((entry, later)) = row.get_mut(i..).and_then(<[RowEntry]>::split_first_mut) else { break };
            if later.first().is_some_and(|next| next.key == entry.key) {
                deleted |= entry.delete;
                continue;
            }
            if self.plain && entry.delete {
                self.files.delete(&entry.key)?;
            } else {
                if !self.plain
                    && deleted
                    && let Some(kind) = entry.value.first_mut().filter(|_| !entry.delete)
                {
                    *kind = VALUE_PUT_AFTER_DELETE;
                }
                self.files.add(&entry.key, &entry.value)?;
            }
            deleted = false;
        }
        self.used = 0;
        self.deleted = false;
        Ok(())
    }

    fn put(&mut self, family: &Family, begin: Timestamp, key: &[u8], qualifier: &[u8], value: Option<&[u8]>) {
        let deleted = self.deleted;
        let entry = self.entry();
        push_row_bound(&mut entry.key, family.storage, family.form, key);
        entry.delete = value.is_none();
        if family.form == Form::Plain {
            entry.value.extend_from_slice(&begin.0.to_be_bytes());
        } else {
            if family.form == Form::Cells {
                push_escaped(&mut entry.key, qualifier);
            }
            entry.key.extend_from_slice(&inverted(begin));
            entry.value.push(match value {
                None => VALUE_DELETED,
                Some(_) if deleted => VALUE_PUT_AFTER_DELETE,
                Some(_) => VALUE_PUT,
            });
        }
        entry.value.extend_from_slice(value.unwrap_or_default());
    }

    /// Removes all cells of the row.
    fn delete(&mut self, family: &Family, begin: Timestamp, key: &[u8]) {
        // What the load itself has set before is hidden as well.
        self.used = 0;
        match family.form {
            Form::Plain | Form::PackedVersions => self.put(family, begin, key, &[], None),
            Form::Cells => {
                let entry = self.entry();
                push_row_bound(&mut entry.key, family.storage, family.form, key);
                entry.key.extend_from_slice(&[0, 0]);
                entry.key.extend_from_slice(&inverted(begin));
                entry.value.push(VALUE_DELETED);
                entry.delete = true;
            }
        }
        self.deleted = true;
    }
}

/// The part of a load that concerns one table.
struct TableLoad {
    table: Arc<Table>,
    begin: Timestamp,
    families: Vec<FamilyLoad>,
    /// The first and the current row.
    first_key: Vec<u8>,
    key: Vec<u8>,
    written: RowsWritten,
}

impl TableLoad {
    fn new(core: &Arc<Core>, table: Arc<Table>, begin: Timestamp, first_key: &[u8]) -> StoreResult<Self> {
        let mut families = Vec::with_capacity(table.families.len());
        for family in &table.families {
            let files = SortedFiles::new(core, family.column_family.class, format!("{}-{}", begin.0, family.storage))?;
            families.push(FamilyLoad { files, row: Vec::new(), used: 0, deleted: false, plain: family.form == Form::Plain });
        }
        let mut written = RowsWritten::new(&table);
        written.row(first_key);
        Ok(Self { table, begin, families, first_key: first_key.to_vec(), key: first_key.to_vec(), written })
    }

    fn apply(&mut self, mutation: &MutationRef<'_>) -> StoreResult<()> {
        check_mutation(&self.table.schema, mutation)?;
        let (_, key) = mutation.row();
        if key != self.key.as_slice() {
            self.flush_row()?;
            self.key.clear();
            self.key.extend_from_slice(key);
            self.written.row(key);
        }
        let only = match mutation {
            MutationRef::Put { family, .. } | MutationRef::DeleteCell { family, .. } | MutationRef::DeleteFamily { family, .. } => {
                Some(*family)
            }
            MutationRef::DeleteRow { .. } => None,
        };
        let families = self.table.families.iter().zip(&mut self.families);
        for (family, load) in families.filter(|(family, _)| only.is_none_or(|only| only == family.id)) {
            match mutation {
                MutationRef::Put { qualifier, value, .. } => load.put(family, self.begin, key, qualifier, Some(value)),
                MutationRef::DeleteCell { qualifier, .. } => load.put(family, self.begin, key, qualifier, None),
                MutationRef::DeleteFamily { .. } | MutationRef::DeleteRow { .. } => load.delete(family, self.begin, key),
            }
        }
        Ok(())
    }

    fn flush_row(&mut self) -> StoreResult<()> {
        self.families.iter_mut().try_for_each(FamilyLoad::flush_row)
    }

    fn finish(mut self) -> StoreResult<LoadedTable> {
        self.flush_row()?;
        let files = self.families.into_iter().map(|load| load.files.finish()).collect::<StoreResult<Vec<_>>>()?;
        let range = KeyRange { start: self.first_key, end: KeyRange::point(&self.key).end };
        Ok(LoadedTable { table: self.table, begin: self.begin, files, range, written: self.written })
    }
}

/// A load of which a part was ingested.
#[derive(Debug)]
pub(crate) struct Unfinished {
    records: Vec<StoredLoad>,
    by_class: HashMap<OptionClass, Vec<PathBuf>>,
    /// Why it could not be finished.
    error: StoreError,
    tried: Instant,
}

/// How long a load that is half done is left alone.
const RETRY: Duration = Duration::from_secs(1);

/// A table's files, complete.
struct LoadedTable {
    table: Arc<Table>,
    begin: Timestamp,
    files: Vec<FinishedFiles>,
    range: KeyRange,
    written: RowsWritten,
}

pub(crate) struct LsmBulkLoad {
    core: Arc<Core>,
    order: LoadOrder,
    /// Those that nothing has come for.
    waiting: Vec<(Arc<Table>, Timestamp)>,
    current: Option<TableLoad>,
    done: Vec<LoadedTable>,
}

impl LsmBulkLoad {
    /// Each table with the timestamp that its entries carry.
    pub fn new(core: Arc<Core>, tables: Vec<(Arc<Table>, Timestamp)>) -> Self {
        let ids: Vec<_> = tables.iter().map(|(table, _)| table.schema.id).collect();
        Self { core, order: LoadOrder::new(&ids), waiting: tables, current: None, done: Vec::new() }
    }

    fn end_table(&mut self) -> StoreResult<()> {
        if let Some(load) = self.current.take() {
            self.done.push(load.finish()?);
        }
        Ok(())
    }
}

#[async_trait]
impl BulkLoad for LsmBulkLoad {
    fn apply(&mut self, mutation: MutationRef<'_>) -> StoreResult<()> {
        let (table, key) = mutation.row();
        self.order.next(table, key)?;
        if self.current.as_ref().is_none_or(|load| load.table.schema.id != table) {
            self.end_table()?;
            let at = self.waiting.iter().position(|(t, _)| t.schema.id == table).ok_or(StoreError::NoSuchTable(table.0))?;
            let (table, begin) = self.waiting.swap_remove(at);
            self.current = Some(TableLoad::new(&self.core, table, begin, key)?);
        }
        self.current.as_mut().map_or(Ok(()), |load| load.apply(&mutation))
    }

    async fn finish(mut self: Box<Self>) -> StoreResult<Timestamp> {
        self.end_table()?;
        let Self { core, done, .. } = *self;
        core.exclusive(move |committer| committer.finish_load(done)).await
    }
}

impl Committer {
    /// Ingests the files of a load and makes them visible, together. The records are the commit: what they name is ingested, now
    /// or at the next start.
    fn finish_load(&mut self, mut loaded: Vec<LoadedTable>) -> StoreResult<Timestamp> {
        for load in &loaded {
            let id = load.table.schema.id;
            let now = self.existing(id)?;
            if now.families.iter().map(|f| f.storage).ne(load.table.families.iter().map(|f| f.storage)) {
                return Err(StoreError::Invalid(format!("table {} was altered during the bulk load", id.0)));
            }
        }
        self.check_working()?;
        let now_us = self.now_us();
        let finish = self.tick(now_us);
        if loaded.is_empty() {
            return Ok(finish);
        }
        // The files are there; what is to come is small, and must not be left half done.
        self.core.check_space(0, Purpose::Frees)?;
        let mut by_class: HashMap<OptionClass, Vec<PathBuf>> = HashMap::new();
        let mut records = Vec::new();
        for load in &mut loaded {
            let mut pending = Vec::new();
            for files in &mut load.files {
                for path in &files.paths {
                    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                    pending.push((files.class.name(), name));
                }
                // From the records on, the files are not to be removed by their owner.
                by_class.entry(files.class).or_default().append(&mut files.paths);
            }
            records.push(StoredLoad { begin: load.begin, table: load.table.schema.id, finish, pending });
        }
        let mut intent = WriteBatch::default();
        records.iter().for_each(|record| intent.put(load_key(record.begin), record.encode()));
        // The files are on stable storage, and must have their names there before a record names them.
        let named = sync_directory(&load_directory(&self.core.database)).map_err(|e| message_error(&e.to_string(), Certainty::NotDone));
        if let Err(error) = named.and_then(|()| self.write_metadata(intent)) {
            by_class.values().flatten().for_each(|path| remove_file(path));
            return Err(error);
        }
        for load in &loaded {
            let id = load.table.schema.id;
            let table = self.existing(id)?;
            table.last_change.store(finish.0, Ordering::Release);
            let mut window = self.core.window.lock();
            for family in table.families.iter().filter(|family| family.form == Form::Plain && !self.core.range_cache.is_empty()) {
                let (from, to) = row_range(family.storage, family.form, &load.range.start, load.range.end.as_deref());
                self.core.range_cache.remove_rows(&from, &to);
            }
            self.core.range_cache.range_changed(id, &load.range, finish);
            window.record_range(finish, id, load.range.clone());
        }
        // Before the first file: a compaction that meets its entries asks when they become visible.
        self.add_loads(records.iter().map(|record| (record.begin, finish)));
        let taken = self.take_in(&by_class).and_then(|()| self.complete(&records).map_err(|error| (true, error)));
        match taken {
            Ok(()) => {
                loaded.iter().for_each(|load| load.written.count());
                Ok(finish)
            }
            Err((false, error)) => {
                by_class.values().flatten().for_each(|path| remove_file(path));
                self.forget_loads(records.iter().map(|record| record.begin))?;
                Err(error)
            }
            Err((true, error)) => {
                let message = error.to_string();
                self.unfinished = Some(Unfinished { records, by_class, error, tried: Instant::now() });
                Err(StoreError::Io { message, certainty: Certainty::Unknown })
            }
        }
    }

    /// Ends a load whose files were ingested, and shows it.
    fn complete(&mut self, records: &[StoredLoad]) -> StoreResult<()> {
        let mut done = WriteBatch::default();
        for record in records {
            done.put(load_key(record.begin), StoredLoad { pending: Vec::new(), ..record.clone() }.encode());
        }
        self.core.database.write(done, Durability::Sync)?;
        self.publish();
        count(&self.core.counters.bulk_loads, 1);
        Ok(())
    }

    /// Whether anything can be written: not while a load is half done, which is tried again before.
    ///
    /// # Errors
    /// Why the load cannot be finished.
    pub fn check_working(&mut self) -> StoreResult<()> {
        let Some(mut unfinished) = self.unfinished.take() else { return Ok(()) };
        if unfinished.tried.elapsed() >= RETRY {
            unfinished.tried = Instant::now();
            unfinished.by_class.values_mut().for_each(|paths| paths.retain(|path| path.exists()));
            match self.take_in(&unfinished.by_class).map_err(|(_, error)| error).and_then(|()| self.complete(&unfinished.records)) {
                Ok(()) => return Ok(()),
                Err(error) => unfinished.error = error,
            }
        }
        let error = match &unfinished.error {
            StoreError::DiskFull(why) => StoreError::DiskFull(why.clone()),
            error => StoreError::Io { message: format!("a bulk load is half done: {error}"), certainty: Certainty::NotDone },
        };
        self.unfinished = Some(unfinished);
        Err(error)
    }

    /// An error says whether a part was ingested.
    fn take_in(&self, by_class: &HashMap<OptionClass, Vec<PathBuf>>) -> Result<(), (bool, StoreError)> {
        let mut some = false;
        for (class, paths) in by_class {
            let column_family = self.core.column_family(*class).map_err(|error| (some, error))?;
            if !paths.is_empty() {
                column_family.ingest(paths).map_err(|error| (some, error))?;
                some = true;
            }
            paths.iter().for_each(|path| remove_file(path));
        }
        Ok(())
    }
}

/// At open: ingests the files of loads that a crash interrupted, and removes what belongs to none.
pub(crate) fn resume_loads(core: &Core, loads: &mut [StoredLoad]) -> StoreResult<()> {
    let directory = load_directory(&core.database);
    for load in loads.iter_mut().filter(|load| !load.pending.is_empty()) {
        let mut by_class: HashMap<String, Vec<PathBuf>> = HashMap::new();
        for (class, file) in &load.pending {
            let path = directory.join(file);
            if path.exists() {
                by_class.entry(class.clone()).or_default().push(path);
            }
        }
        for (name, paths) in by_class {
            let class = OptionClass::parse(&name)
                .ok_or_else(|| StoreError::Corruption(format!("bulk load {} names an unknown column family {name}", load.begin.0)))?;
            core.column_family(class)?.ingest(&paths)?;
        }
        load.pending.clear();
        let mut batch = WriteBatch::default();
        batch.put(load_key(load.begin), load.encode());
        core.database.write(batch, Durability::Sync)?;
    }
    if let Ok(entries) = std::fs::read_dir(&directory) {
        entries.flatten().for_each(|entry| remove_file(&entry.path()));
    }
    Ok(())
}
