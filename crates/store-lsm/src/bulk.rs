//! Bulk loads: rows in key order become files that RocksDB takes in as they are, past log and memtables.
//!
//! The entries carry the timestamp at which the load began; a record says at which one it became visible, and reads
//! translate (`Tables::visible_since`). The end of a load runs on the commit thread: the record with the names of the files
//! is written first, then the files are taken in, then the record is completed and a view published. A crash in between is
//! finished at the next start ([`resume_loads`]); taking in a file twice does no harm, since it holds the same entries.

use crate::commit::{Committer, Core, count};
use crate::database::{ColumnFamily, Database, message_error, read_error, write_error};
use crate::keys::{Form, TIMESTAMP_BYTES, VALUE_PUT, inverted, push_escaped, push_row_bound};
use crate::metadata::{StoredLoad, load_key};
use crate::options::OptionClass;
use crate::view::Table;
use async_trait::async_trait;
use rocksdb::{IngestExternalFileOptions, Options, SstFileWriter, WriteBatch};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use stoa_store::limits::check_cell;
use stoa_store::{BulkLoad, Certainty, FamilyId, KeyRange, StoreError, StoreResult, Timestamp};

const FILE_BYTES: u64 = 64 << 20;

pub(crate) fn load_directory(database: &Database) -> PathBuf {
    database.path.join("load")
}

/// A writer and the options that it borrows.
struct SortedFile {
    /// Before the options, so that it is dropped first.
    writer: SstFileWriter<'static>,
    path: PathBuf,
    _options: Box<Options>,
}

/// Writes entries in ascending order of their physical keys into files of one class of options.
pub(crate) struct SortedFiles {
    core: Arc<Core>,
    class: OptionClass,
    stem: String,
    current: Option<SortedFile>,
    finished: Vec<PathBuf>,
}

impl SortedFiles {
    pub fn new(core: &Arc<Core>, class: OptionClass, stem: String) -> StoreResult<Self> {
        std::fs::create_dir_all(load_directory(&core.database)).map_err(|e| message_error(&e.to_string(), Certainty::NotDone))?;
        Ok(Self { core: Arc::clone(core), class, stem, current: None, finished: Vec::new() })
    }

    pub fn add(&mut self, key: &[u8], value: &[u8]) -> StoreResult<()> {
        if self.current.as_ref().is_some_and(|file| file.writer.file_size() >= FILE_BYTES) {
            self.finish_file()?;
        }
        let file = match &mut self.current {
            Some(file) => file,
            None => {
                let options = Box::new(self.core.shared.family_options(&self.class));
                let writer = SstFileWriter::create(&options);
                // SAFETY: only the lifetime changes; the options are on the heap and dropped after the writer.
                let writer = unsafe { std::mem::transmute::<SstFileWriter<'_>, SstFileWriter<'static>>(writer) };
                let path = load_directory(&self.core.database).join(format!("{}-{}.sst", self.stem, self.finished.len()));
                writer.open(&path).map_err(read_error)?;
                self.current.insert(SortedFile { writer, path, _options: options })
            }
        };
        file.writer.put(key, value).map_err(|error| match error.kind() {
            rocksdb::ErrorKind::InvalidArgument => StoreError::Invalid("the keys of a bulk load must not go down".into()),
            _ => read_error(error),
        })
    }

    fn finish_file(&mut self) -> StoreResult<()> {
        if let Some(mut file) = self.current.take() {
            self.finished.push(file.path.clone());
            file.writer.finish().map_err(read_error)?;
        }
        Ok(())
    }

    pub fn finish(mut self) -> StoreResult<FinishedFiles> {
        self.finish_file()?;
        Ok(FinishedFiles { class: self.class, paths: std::mem::take(&mut self.finished) })
    }
}

impl Drop for SortedFiles {
    fn drop(&mut self) {
        let unfinished = self.current.take().map(|file| file.path.clone());
        for path in self.finished.iter().chain(&unfinished) {
            remove_file(path);
        }
    }
}

/// Files on stable storage.
#[derive(Debug)]
pub(crate) struct FinishedFiles {
    pub class: OptionClass,
    pub paths: Vec<PathBuf>,
}

impl FinishedFiles {
    /// Moves the files into the column family: all or none.
    pub fn ingest(mut self, home: &ColumnFamily) -> StoreResult<()> {
        let paths = std::mem::take(&mut self.paths);
        if paths.is_empty() {
            return Ok(());
        }
        let result = home.ingest(&paths);
        paths.iter().for_each(|path| remove_file(path));
        result
    }
}

impl Drop for FinishedFiles {
    fn drop(&mut self) {
        self.paths.iter().for_each(|path| remove_file(path));
    }
}

impl ColumnFamily {
    fn ingest(&self, paths: &[PathBuf]) -> StoreResult<()> {
        let mut options = IngestExternalFileOptions::default();
        options.set_move_files(true);
        self.database().db.ingest_external_file_cf_opts(&self.handle, &options, paths.to_vec()).map_err(write_error)
    }
}

/// What is left over is removed at the next start at the latest.
fn remove_file(path: &Path) {
    if let Err(error) = std::fs::remove_file(path)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::warn!("{} could not be removed: {error}", path.display());
    }
}

/// The entries of one family: those of the current row wait, since a row's cells may come in any order.
struct FamilyLoad {
    files: SortedFiles,
    /// Key and value of each cell of the current row, in the order in which they came.
    row: Vec<(Vec<u8>, Vec<u8>)>,
    used: usize,
}

impl FamilyLoad {
    fn flush_row(&mut self) -> StoreResult<()> {
        let row = self.row.get_mut(..self.used).unwrap_or_default();
        // Stable: of two values of one cell the later stays behind, and counts.
        row.sort_by(|a, b| a.0.cmp(&b.0));
        for i in 0..row.len() {
            let (Some((key, value)), next) = (row.get(i), row.get(i + 1)) else { break };
            if next.is_none_or(|(next, _)| next != key) {
                self.files.add(key, value)?;
            }
        }
        self.used = 0;
        Ok(())
    }
}

pub(crate) struct LsmBulkLoad {
    core: Arc<Core>,
    table: Arc<Table>,
    begin: Timestamp,
    families: Vec<FamilyLoad>,
    /// The first and the current row.
    first_key: Option<Vec<u8>>,
    key: Vec<u8>,
}

impl LsmBulkLoad {
    pub fn new(core: Arc<Core>, table: Arc<Table>, begin: Timestamp) -> StoreResult<Self> {
        let mut families = Vec::with_capacity(table.families.len());
        for family in &table.families {
            let files = SortedFiles::new(&core, family.home.class, format!("{}-{}", begin.0, family.storage))?;
            families.push(FamilyLoad { files, row: Vec::new(), used: 0 });
        }
        Ok(Self { core, table, begin, families, first_key: None, key: Vec::new() })
    }

    fn put_cell(&mut self, key: &[u8], family: FamilyId, qualifier: &[u8], value: &[u8]) -> StoreResult<()> {
        let place = self.table.families.iter().position(|f| f.id == family);
        let (Some(family), Some(load)) = (place.and_then(|i| self.table.families.get(i)), place.and_then(|i| self.families.get_mut(i)))
        else {
            return Err(StoreError::Invalid(format!("table {} has no family {}", self.table.schema.id.0, family.0)));
        };
        check_cell(&family.options, key, qualifier, value)?;
        if load.used == load.row.len() {
            load.row.push(Default::default());
        }
        let Some((entry_key, entry_value)) = load.row.get_mut(load.used) else { return Ok(()) };
        load.used += 1;
        entry_key.clear();
        entry_value.clear();
        push_row_bound(entry_key, family.storage, family.form, key);
        if family.form == Form::Plain {
            entry_value.reserve(TIMESTAMP_BYTES + value.len());
            entry_value.extend_from_slice(&self.begin.0.to_be_bytes());
        } else {
            if family.form == Form::Cells {
                push_escaped(entry_key, qualifier);
            }
            entry_key.extend_from_slice(&inverted(self.begin));
            entry_value.push(VALUE_PUT);
        }
        entry_value.extend_from_slice(value);
        Ok(())
    }

    fn flush_row(&mut self) -> StoreResult<()> {
        self.families.iter_mut().try_for_each(FamilyLoad::flush_row)
    }

    fn put_next(&mut self, key: &[u8], family: FamilyId, qualifier: &[u8], value: &[u8]) -> StoreResult<()> {
        if self.first_key.is_none() {
            self.first_key = Some(key.to_vec());
            self.key = key.to_vec();
        } else if key != self.key.as_slice() {
            if key < self.key.as_slice() {
                return Err(StoreError::Invalid("the keys of a bulk load must not go down".into()));
            }
            self.flush_row()?;
            self.key.clear();
            self.key.extend_from_slice(key);
        }
        self.put_cell(key, family, qualifier, value)
    }
}

#[async_trait]
impl BulkLoad for LsmBulkLoad {
    async fn put(&mut self, key: &[u8], family: FamilyId, qualifier: &[u8], value: &[u8]) -> StoreResult<()> {
        self.put_next(key, family, qualifier, value)
    }

    async fn finish(mut self: Box<Self>) -> StoreResult<Timestamp> {
        self.flush_row()?;
        let Self { core, table, begin, families, first_key, key } = *self;
        let files = families.into_iter().map(|load| load.files.finish()).collect::<StoreResult<Vec<_>>>()?;
        let range = first_key.map(|first| KeyRange { start: first, end: KeyRange::point(&key).end });
        core.exclusive(move |committer| committer.finish_load(&table, begin, files, range)).await
    }

    async fn abort(self: Box<Self>) {}
}

impl Committer {
    /// Takes in the files of a load and makes them visible, together.
    fn finish_load(
        &mut self,
        table: &Arc<Table>,
        begin: Timestamp,
        files: Vec<FinishedFiles>,
        range: Option<KeyRange>,
    ) -> StoreResult<Timestamp> {
        let id = table.schema.id;
        let now = self.existing(id)?;
        if now.families.iter().map(|f| f.storage).ne(table.families.iter().map(|f| f.storage)) {
            return Err(StoreError::Invalid(format!("table {} was altered during the bulk load", id.0)));
        }
        self.check_working()?;
        let now_us = self.now_us();
        let Some(range) = range else { return Ok(self.tick(now_us)) };
        let mut by_class: HashMap<OptionClass, Vec<PathBuf>> = HashMap::new();
        let mut pending = Vec::new();
        for mut files in files {
            for path in &files.paths {
                let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                pending.push((files.class.name(), name));
            }
            // From the record on, the files are not to be removed by their owner.
            by_class.entry(files.class).or_default().append(&mut files.paths);
        }
        let finish = self.tick(now_us);
        let mut load = StoredLoad { begin, table: id, finish, pending };
        let mut intent = WriteBatch::default();
        intent.put(load_key(begin), load.encode());
        if let Err(error) = self.write_metadata(intent) {
            by_class.values().flatten().for_each(|path| remove_file(path));
            return Err(error);
        }
        now.last_change.store(finish.0, Ordering::Release);
        self.core.recent.lock().record_range(finish, id, range);
        let result = self.take_in(&by_class).and_then(|()| {
            load.pending.clear();
            let mut done = WriteBatch::default();
            done.put(load_key(begin), load.encode());
            self.write_metadata(done).map_err(|error| (true, error))
        });
        match result {
            Ok(()) => {
                self.add_load(begin, finish);
                self.publish();
                count(&self.core.counters.bulk_loads, 1);
                Ok(finish)
            }
            Err((false, error)) => {
                by_class.values().flatten().for_each(|path| remove_file(path));
                self.forget_load(begin)?;
                Err(error)
            }
            Err((true, error)) => {
                self.broken = Some(format!("a bulk load failed half way, it is finished when the store is opened again: {error}"));
                Err(StoreError::Io { message: error.to_string(), certainty: Certainty::Unknown })
            }
        }
    }

    /// An error says whether a part was taken in.
    fn take_in(&self, by_class: &HashMap<OptionClass, Vec<PathBuf>>) -> Result<(), (bool, StoreError)> {
        let mut some = false;
        for (class, paths) in by_class {
            let home = self.core.home(*class).map_err(|error| (some, error))?;
            if !paths.is_empty() {
                home.ingest(paths).map_err(|error| (some, error))?;
                some = true;
            }
            paths.iter().for_each(|path| remove_file(path));
        }
        Ok(())
    }
}

/// At open: takes in the files of loads that a crash interrupted, and removes what belongs to none.
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
            core.home(class)?.ingest(&paths)?;
        }
        load.pending.clear();
        let mut batch = WriteBatch::default();
        batch.put(load_key(load.begin), load.encode());
        core.database.db.write_opt(batch, &crate::commit::write_options(stoa_store::Durability::Sync)).map_err(write_error)?;
    }
    if let Ok(entries) = std::fs::read_dir(&directory) {
        entries.flatten().for_each(|entry| remove_file(&entry.path()));
    }
    Ok(())
}
