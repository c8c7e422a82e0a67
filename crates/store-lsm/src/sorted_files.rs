//! Files of entries that are in order, for RocksDB to ingest as they are.
//!
//! Building them (blocks, checksums, compression, filters) is as much work as bringing the entries, so that a thread does it for all but
//! short ones: entries go to it in chunks.
//!
//! ```text
//! entry   u32 key length │ u32 value length, or all ones for a deletion │ key │ value
//! ```

use crate::commit::Core;
use crate::database::{ColumnFamily, Database, message_error, read_error, write_error};
use crate::directories::make_directory;
use crate::options::OptionClass;
use crate::space::Purpose;
use rocksdb::{IngestExternalFileOptions, Options, SstFileWriter};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;
use stoa_store::{Certainty, StoreError, StoreResult};

const FILE_BYTES: u64 = 64 << 20;
const CHUNK_BYTES: usize = 256 << 10;
/// Chunks that wait for the thread.
const QUEUED: usize = 4;
const DELETION: u32 = u32::MAX;

pub(crate) fn load_directory(database: &Database) -> PathBuf {
    database.path.join("load")
}

/// Takes entries in ascending order of their physical keys, for files of one class of options. Whether they could be written is known
/// at the end at the latest.
pub(crate) struct SortedFiles {
    builder: Builder,
    chunk: Vec<u8>,
}

enum Builder {
    /// So far, everything is in the chunk.
    Here(FileBuilder),
    There(Thread),
    /// It has failed.
    Ended,
}

struct Thread {
    /// The chunks; an empty one is the end.
    chunks: SyncSender<Vec<u8>>,
    /// Chunks that were read, to be filled again.
    free: Receiver<Vec<u8>>,
    /// `None` if it was not told the end.
    handle: JoinHandle<StoreResult<Option<FinishedFiles>>>,
}

impl SortedFiles {
    /// `stem`: what the files' names begin with.
    pub fn new(core: &Arc<Core>, class: OptionClass, stem: String) -> StoreResult<Self> {
        make_directory(&load_directory(&core.database)).map_err(|e| message_error(&e.to_string(), Certainty::NotDone))?;
        let builder = FileBuilder { core: Arc::clone(core), class, stem, current: None, finished: Vec::new() };
        Ok(Self { builder: Builder::Here(builder), chunk: Vec::new() })
    }

    pub fn add(&mut self, key: &[u8], value: &[u8]) -> StoreResult<()> {
        let length = u32::try_from(value.len()).ok().filter(|length| *length != DELETION);
        self.push(key, length.ok_or_else(|| StoreError::Invalid("a value of 4 GiB".into()))?, value)
    }

    /// Removes what there is under a key.
    pub fn delete(&mut self, key: &[u8]) -> StoreResult<()> {
        self.push(key, DELETION, &[])
    }

    fn push(&mut self, key: &[u8], length: u32, value: &[u8]) -> StoreResult<()> {
        let key_length = u32::try_from(key.len()).map_err(|_| StoreError::Invalid("a key of 4 GiB".into()))?;
        self.chunk.extend_from_slice(&key_length.to_le_bytes());
        self.chunk.extend_from_slice(&length.to_le_bytes());
        self.chunk.extend_from_slice(key);
        self.chunk.extend_from_slice(value);
        if self.chunk.len() >= CHUNK_BYTES { self.send() } else { Ok(()) }
    }

    /// Gives the chunk to the thread; an empty one ends it.
    fn send(&mut self) -> StoreResult<()> {
        if let Builder::Here(_) = self.builder
            && let Builder::Here(builder) = std::mem::replace(&mut self.builder, Builder::Ended)
        {
            self.builder = Builder::There(builder.start()?);
        }
        let Builder::There(thread) = &self.builder else { return Err(ended()) };
        let empty = thread.free.try_recv().unwrap_or_default();
        if thread.chunks.send(std::mem::replace(&mut self.chunk, empty)).is_ok() {
            return Ok(());
        }
        // It has left with an error.
        match std::mem::replace(&mut self.builder, Builder::Ended) {
            Builder::There(thread) => thread.join().and_then(|_| Err(ended())),
            _ => Err(ended()),
        }
    }

    pub fn finish(mut self) -> StoreResult<FinishedFiles> {
        if !self.chunk.is_empty() && matches!(self.builder, Builder::There(_)) {
            self.send()?;
        }
        match std::mem::replace(&mut self.builder, Builder::Ended) {
            Builder::Here(mut builder) => {
                builder.add_all(&self.chunk)?;
                builder.finish()
            }
            Builder::There(thread) => {
                // Where it has left, its error is known by joining it.
                let _ = thread.chunks.send(Vec::new());
                thread.join()?.ok_or_else(ended)
            }
            Builder::Ended => Err(ended()),
        }
    }
}

impl Drop for SortedFiles {
    fn drop(&mut self) {
        if let Builder::There(thread) = std::mem::replace(&mut self.builder, Builder::Ended) {
            // It removes its files.
            let _ = thread.join();
        }
    }
}

fn ended() -> StoreError {
    StoreError::Io { message: "the building of sorted files has ended early".into(), certainty: Certainty::NotDone }
}

impl Thread {
    /// Lets it read what it has been sent, and waits for it.
    fn join(self) -> StoreResult<Option<FinishedFiles>> {
        drop(self.chunks);
        self.handle.join().unwrap_or_else(|_| Err(ended()))
    }
}

/// Writes the files. Those that are not finished go with it.
struct FileBuilder {
    core: Arc<Core>,
    class: OptionClass,
    stem: String,
    current: Option<SortedFile>,
    finished: Vec<PathBuf>,
}

/// A writer and the options that it borrows.
struct SortedFile {
    /// Before the options, so that it is dropped first.
    writer: SstFileWriter<'static>,
    path: PathBuf,
    _options: Box<Options>,
}

impl FileBuilder {
    /// Goes on in a thread.
    fn start(self) -> StoreResult<Thread> {
        let (chunks, full) = sync_channel(QUEUED);
        let (empty, free) = channel();
        let run = move || self.run(&full, &empty);
        let handle = std::thread::Builder::new().name("load".into()).spawn(run);
        Ok(Thread { chunks, free, handle: handle.map_err(|e| message_error(&e.to_string(), Certainty::NotDone))? })
    }

    fn run(mut self, chunks: &Receiver<Vec<u8>>, free: &Sender<Vec<u8>>) -> StoreResult<Option<FinishedFiles>> {
        while let Ok(mut chunk) = chunks.recv() {
            if chunk.is_empty() {
                return self.finish().map(Some);
            }
            self.add_all(&chunk)?;
            chunk.clear();
            // Nobody needs it any more if this fails.
            let _ = free.send(chunk);
        }
        Ok(None)
    }

    fn add_all(&mut self, mut chunk: &[u8]) -> StoreResult<()> {
        self.core.database.space.check(chunk.len() as u64, 0, Purpose::Fills)?;
        while let Some((entry, rest)) = split_entry(chunk) {
            let writer = self.writer()?;
            match entry {
                (key, Some(value)) => writer.put(key, value),
                (key, None) => writer.delete(key),
            }
            .map_err(load_error)?;
            chunk = rest;
        }
        if chunk.is_empty() { Ok(()) } else { Err(StoreError::Corruption("a chunk of entries can't be read".into())) }
    }

    fn writer(&mut self) -> StoreResult<&mut SstFileWriter<'static>> {
        if self.current.as_ref().is_some_and(|file| file.writer.file_size() >= FILE_BYTES) {
            self.finish_file()?;
        }
        let file = match self.current.take() {
            Some(file) => file,
            None => {
                let options = Box::new(self.core.shared.family_options(&self.class));
                let writer = SstFileWriter::create(&options);
                // SAFETY: only the lifetime changes; the options are on the heap and dropped after the writer.
                let writer = unsafe { std::mem::transmute::<SstFileWriter<'_>, SstFileWriter<'static>>(writer) };
                let path = load_directory(&self.core.database).join(format!("{}-{}.sst", self.stem, self.finished.len()));
                writer.open(&path).map_err(read_error)?;
                SortedFile { writer, path, _options: options }
            }
        };
        Ok(&mut self.current.insert(file).writer)
    }

    fn finish_file(&mut self) -> StoreResult<()> {
        if let Some(mut file) = self.current.take() {
            self.finished.push(file.path.clone());
            file.writer.finish().map_err(read_error)?;
        }
        Ok(())
    }

    fn finish(mut self) -> StoreResult<FinishedFiles> {
        self.finish_file()?;
        Ok(FinishedFiles { class: self.class, paths: std::mem::take(&mut self.finished) })
    }
}

impl Drop for FileBuilder {
    fn drop(&mut self) {
        let unfinished = self.current.take().map(|file| file.path.clone());
        for path in self.finished.iter().chain(&unfinished) {
            remove_file(path);
        }
    }
}

/// Key, and value unless it is a deletion.
type Entry<'a> = (&'a [u8], Option<&'a [u8]>);

/// The first entry of a chunk, and what follows it.
fn split_entry(chunk: &[u8]) -> Option<(Entry<'_>, &[u8])> {
    let (key_length, rest) = chunk.split_first_chunk()?;
    let (length, rest) = rest.split_first_chunk()?;
    let (key, rest) = rest.split_at_checked(u32::from_le_bytes(*key_length) as usize)?;
    match u32::from_le_bytes(*length) {
        DELETION => Some(((key, None), rest)),
        length => {
            let (value, rest) = rest.split_at_checked(length as usize)?;
            Some(((key, Some(value)), rest))
        }
    }
}

fn load_error(error: rocksdb::Error) -> StoreError {
    match error.kind() {
        rocksdb::ErrorKind::InvalidArgument => StoreError::Invalid("the keys of a bulk load must not go down".into()),
        _ => read_error(error),
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
    pub fn ingest(mut self, column_family: &ColumnFamily) -> StoreResult<()> {
        let paths = std::mem::take(&mut self.paths);
        if paths.is_empty() {
            return Ok(());
        }
        let result = column_family.ingest(&paths);
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
    pub(crate) fn ingest(&self, paths: &[PathBuf]) -> StoreResult<()> {
        let mut options = IngestExternalFileOptions::default();
        options.set_move_files(true);
        self.database().db.ingest_external_file_cf_opts(&self.handle, &options, paths.to_vec()).map_err(write_error)
    }
}

/// What is left over is removed at the next start at the latest.
pub(crate) fn remove_file(path: &Path) {
    if let Err(error) = std::fs::remove_file(path)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::warn!("{} could not be removed: {error}", path.display());
    }
}
