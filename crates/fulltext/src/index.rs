//! The files of a full text index: shards of tantivy indexes in one directory.
//!
//! ```text
//! DIRECTORY/definition.json     what the index was made with
//! DIRECTORY/0, 1, …             tantivy's files, one directory a shard
//! ```
//!
//! Invariant: a generation holds exactly the documents that the owner put in up to its timestamp. What a commit writes is on stable
//! storage when it returns; a crash between the commits of two shards leaves the older timestamp, and putting the same changes in
//! again changes nothing: a document is deleted by its key before it is added.

use crate::analyzer::{Analyzer, StoaTokenizer, TokenizerKind, TokenizerOptions, VERSION, Words};
use crate::error::{Error, Result};
use crate::evaluate::FieldText;
use crate::search::{Generation, ShardView, guarded};
use parking_lot::{Mutex, RwLock};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tantivy::directory::error::OpenReadError;
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy, UserOperation};
use tantivy::schema::{BytesOptions, Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{PreTokenizedString, TextAnalyzer, Token};
use tantivy::{Index, IndexReader, IndexSettings, IndexWriter, ReloadPolicy, TantivyDocument, TantivyError, Term};

/// How keys are kept beside documents.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum KeyForm {
    /// All keys have eight bytes.
    EightBytes,
    /// Keys of any length.
    Words,
}

/// One field of an index.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FieldDefinition {
    pub name: String,
    pub tokenizer: TokenizerOptions,
}

/// What an index is made with.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Definition {
    pub fields: Vec<FieldDefinition>,
    pub shards: usize,
    pub key: KeyForm,
    /// Of the analysis: [`VERSION`].
    pub version: u32,
}

/// Shards that an index may have.
pub const MAX_SHARDS: usize = 32;
const DEFINITION: &str = "definition.json";
const KEY: &str = "key";
const KEY_WORDS: &str = "row";
/// Deleted documents, of all, from which a segment is rewritten.
const DELETED_SHARE: f32 = 0.25;
/// What writers may keep in memory, all shards together, unless it is said.
pub const MEMORY: usize = 96 << 20;
const LEAST_MEMORY: usize = 15 << 20;
/// What writing leaves of the disk to others, who need less: an index can be made again at any time.
const RESERVE: u64 = 16 << 20;
/// Changes after which the disk is looked at again.
const CHANGES_BETWEEN_LOOKS: usize = 4096;

struct Shard {
    index: Index,
    reader: IndexReader,
}

/// Where the fields of an index are among those of its files.
#[derive(Clone)]
struct Places {
    fields: Arc<[Field]>,
    /// By field: where what is written is, if that is kept beside the words.
    written: Arc<[Option<Field>]>,
    /// By field: where patterns look.
    patterns: Arc<[Field]>,
}

/// See the module.
pub struct FullTextIndex {
    directory: PathBuf,
    definition: Definition,
    analyzers: Vec<Arc<Analyzer>>,
    places: Places,
    key: Field,
    words: Field,
    shards: Vec<Shard>,
    memory: usize,
    writers: Mutex<Vec<IndexWriter>>,
    current: RwLock<Arc<Generation>>,
}

impl std::fmt::Debug for FullTextIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FullTextIndex").field("directory", &self.directory).finish_non_exhaustive()
    }
}

impl Definition {
    /// A definition of this version.
    #[must_use]
    pub fn new(fields: Vec<FieldDefinition>, shards: usize, key: KeyForm) -> Self {
        Self { fields, shards: shards.clamp(1, MAX_SHARDS), key, version: VERSION }
    }

    /// The analyzer of each field.
    ///
    /// # Errors
    /// A tokenizer does not exist.
    pub fn analyzers(&self) -> Result<Vec<Arc<Analyzer>>> {
        self.fields.iter().map(|f| Analyzer::new(&f.tokenizer)).collect()
    }
}

/// A reader of a shard's newest state. A merge that an earlier handle began may end meanwhile and take away the files that it has replaced:
/// then what is named now is read.
fn reader_of(index: &Index) -> tantivy::Result<IndexReader> {
    const TRIES: usize = 200;
    const PAUSE: std::time::Duration = std::time::Duration::from_millis(5);
    let mut tries = 1;
    loop {
        match index.reader_builder().reload_policy(ReloadPolicy::Manual).doc_store_cache_num_blocks(1).try_into() {
            Err(TantivyError::OpenReadError(OpenReadError::FileDoesNotExist(_))) if tries < TRIES => {
                tries += 1;
                // Files go one by one, and the machine may be busy.
                std::thread::sleep(PAUSE);
            }
            reader => return reader,
        }
    }
}

impl FullTextIndex {
    /// Makes an empty index; what the directory held is removed.
    ///
    /// # Errors
    /// The disk failed.
    pub fn create(directory: &Path, definition: &Definition) -> Result<Self> {
        match fs::remove_dir_all(directory) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        for shard in 0..definition.shards {
            fs::create_dir_all(directory.join(shard.to_string()))?;
        }
        let text = serde_json::to_vec(definition).map_err(|e| Error::Failed(e.to_string()))?;
        let schema = schema(definition).schema;
        for shard in 0..definition.shards {
            Index::builder().schema(schema.clone()).settings(IndexSettings::default()).create_in_dir(directory.join(shard.to_string()))?;
        }
        // Last: an index without it was never finished.
        fs::write(directory.join(DEFINITION), text)?;
        fs::File::open(directory.join(DEFINITION))?.sync_all()?;
        // What was there before must not come back after a power loss, where it would pass for the files of now.
        for changed in directory.ancestors().take(3).filter(|path| path.is_dir()) {
            sync_directory(changed)?;
        }
        Self::open(directory, definition)
    }

    /// Opens an index.
    ///
    /// # Errors
    /// [`Error::Damaged`] if there is none, it is of another definition, or its files do not fit together.
    pub fn open(directory: &Path, definition: &Definition) -> Result<Self> {
        let text = fs::read(directory.join(DEFINITION)).map_err(|e| Error::Damaged(e.to_string()))?;
        let stored: Definition = serde_json::from_slice(&text).map_err(|e| Error::Damaged(e.to_string()))?;
        if stored != *definition {
            return Err(Error::Damaged("it was made with another definition".into()));
        }
        let analyzers = definition.analyzers()?;
        let Fields { schema: wanted, fields, written, patterns, key, words } = schema(definition);
        let mut shards = Vec::with_capacity(definition.shards);
        for shard in 0..definition.shards {
            let path = directory.join(shard.to_string());
            shards.push(guarded(|| {
                let index = Index::open_in_dir(&path).map_err(|e| Error::Damaged(e.to_string()))?;
                if index.schema() != wanted {
                    return Err(Error::Damaged("its files have other fields".into()));
                }
                for (name, analyzer) in definition.fields.iter().zip(&analyzers) {
                    for written in [false, true] {
                        let tokenizer = StoaTokenizer { analyzer: Arc::clone(analyzer), written, words: Words::default() };
                        index.tokenizers().register(&tokenizer_name(name, written), TextAnalyzer::from(tokenizer));
                    }
                }
                let reader = reader_of(&index).map_err(|e| Error::Damaged(e.to_string()))?;
                Ok(Shard { index, reader })
            })?);
        }
        let places = Places { fields: fields.into(), written: written.into(), patterns: patterns.into() };
        let current = Arc::new(generation(&shards, &places, definition.key)?);
        Ok(Self {
            directory: directory.to_owned(),
            definition: definition.clone(),
            analyzers,
            places,
            key,
            words,
            shards,
            memory: MEMORY,
            writers: Mutex::new(Vec::new()),
            current: RwLock::new(current),
        })
    }

    /// The index with another bound on what its writers keep in memory; a shard's writer has 15 MiB at least.
    #[must_use]
    pub fn with_memory(self, memory: usize) -> Self {
        Self { memory, ..self }
    }

    #[must_use]
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// By field.
    #[must_use]
    pub fn analyzers(&self) -> &[Arc<Analyzer>] {
        &self.analyzers
    }

    /// The newest committed state.
    #[must_use]
    pub fn generation(&self) -> Arc<Generation> {
        Arc::clone(&self.current.read())
    }

    /// Starts a set of changes. One at a time: the next waits.
    ///
    /// # Errors
    /// The disk failed, or another process has the files.
    pub fn write(&self) -> Result<Writing<'_>> {
        self.check_space()?;
        let mut writers = self.writers.lock();
        if writers.is_empty() {
            let memory = (self.memory / self.shards.len().max(1)).max(LEAST_MEMORY);
            for shard in &self.shards {
                let options =
                    IndexWriterOptions::builder().num_worker_threads(1).num_merge_threads(1).memory_budget_per_thread(memory).build();
                let writer: IndexWriter = shard.index.writer_with_options(options)?;
                let mut policy = LogMergePolicy::default();
                policy.set_min_num_segments(6);
                policy.set_del_docs_ratio_before_merge(DELETED_SHARE);
                writer.set_merge_policy(Box::new(policy));
                // A commit that a crash cut off has left files whose names the same changes would give again.
                writer.garbage_collect_files().wait()?;
                // The first number that tantivy gives is that of the last commit. A change must not have it: a merge as of that commit
                // makes it in some segments and skips it in others, so that a document that was replaced stays beside the new one.
                writer.run([] as [UserOperation; 0])?;
                writers.push(writer);
            }
        }
        Ok(Writing { index: self, writers, changes: 0 })
    }

    /// Gives up the memory and the threads of writing, until the next time.
    pub fn rest(&self) {
        for writer in std::mem::take(&mut *self.writers.lock()) {
            let _ = guarded(|| Ok(writer.wait_merging_threads()?));
        }
    }

    /// Reads all files and compares their checksums.
    ///
    /// # Errors
    /// [`Error::Damaged`] with the names of files that are.
    pub fn verify(&self) -> Result<()> {
        for shard in &self.shards {
            let damaged = guarded(|| shard.index.validate_checksum().map_err(|e| Error::Damaged(e.to_string())))?;
            if !damaged.is_empty() {
                let mut names: Vec<String> = damaged.iter().map(|p| p.display().to_string()).collect();
                names.sort();
                return Err(Error::Damaged(format!("checksums of {} are wrong", names.join(", "))));
            }
        }
        Ok(())
    }

    fn check_space(&self) -> Result<()> {
        match free_space(&self.directory) {
            Some(free) if free < RESERVE => {
                let (directory, free, wanted) = (self.directory.display(), free >> 20, RESERVE >> 20);
                Err(Error::Full(format!("{directory} has {free} MiB left, and {wanted} MiB are needed")))
            }
            _ => Ok(()),
        }
    }

    /// What a failure of a writer was, whose threads do not tell.
    fn failure(&self, error: Error) -> Error {
        match (error, self.check_space()) {
            (Error::Failed(_), Err(full)) => full,
            (error, _) => error,
        }
    }

    fn shard_of(&self, key: &[u8]) -> usize {
        // FNV-1a: part of the format, as long as an index has its shards.
        let hash = key.iter().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3));
        usize::try_from(hash % self.shards.len().max(1) as u64).unwrap_or(0)
    }
}

/// A set of changes, invisible until [`Writing::commit`].
pub struct Writing<'a> {
    index: &'a FullTextIndex,
    writers: parking_lot::MutexGuard<'a, Vec<IndexWriter>>,
    changes: usize,
}

impl Writing<'_> {
    /// Removes the document of a key, if there is one.
    pub fn delete(&mut self, key: &[u8]) {
        self.changes += 1;
        if let Some(writer) = self.writers.get(self.index.shard_of(key)) {
            writer.delete_term(Term::from_field_bytes(self.index.key, key));
        }
    }

    /// Adds a document. The key must have none: see [`Writing::delete`].
    ///
    /// # Errors
    /// The disk failed.
    pub fn add(&mut self, key: &[u8], texts: &[FieldText<'_>]) -> Result<()> {
        self.changes += 1;
        if self.changes.is_multiple_of(CHANGES_BETWEEN_LOOKS) {
            self.index.check_space()?;
        }
        let mut document = TantivyDocument::default();
        document.add_bytes(self.index.key, key);
        match self.index.definition.key {
            KeyForm::EightBytes => {
                let word = <[u8; 8]>::try_from(key).map_err(|_| Error::Failed("a key that has not eight bytes".into()))?;
                document.add_u64(self.index.words, u64::from_be_bytes(word));
            }
            KeyForm::Words => {
                document.add_u64(self.index.words, key.len() as u64);
                for chunk in key.chunks(8) {
                    let mut word = [0; 8];
                    word.iter_mut().zip(chunk).for_each(|(to, from)| *to = *from);
                    document.add_u64(self.index.words, u64::from_be_bytes(word));
                }
            }
        }
        let places = &self.index.places;
        for ((field, written), text) in places.fields.iter().zip(places.written.iter()).zip(texts) {
            match text {
                FieldText::Nothing => {}
                FieldText::Text(text) => {
                    document.add_text(*field, text);
                    if let Some(written) = written {
                        document.add_text(*written, text);
                    }
                }
                FieldText::Words(words) => {
                    let tokens = words.iter().map(|(word, position, place)| Token {
                        offset_from: place.start,
                        offset_to: place.end,
                        position: position as usize,
                        text: word.to_owned(),
                        position_length: 1,
                    });
                    document.add_pre_tokenized_text(*field, PreTokenizedString { text: String::new(), tokens: tokens.collect() });
                }
            }
        }
        if let Some(writer) = self.writers.get(self.index.shard_of(key)) {
            writer.add_document(document).map_err(|error| self.index.failure(error.into()))?;
        }
        Ok(())
    }

    /// Changes so far.
    #[must_use]
    pub fn changes(&self) -> usize {
        self.changes
    }

    /// Makes the changes durable and visible: the index is as of `timestamp` then.
    ///
    /// # Errors
    /// The disk failed; the changes are forgotten, and must be made again.
    pub fn commit(mut self, timestamp: u64) -> Result<()> {
        let outcome = guarded(|| {
            let payload = timestamp.to_string();
            let results: Vec<Result<()>> = if let [one] = self.writers.as_mut_slice() {
                vec![commit_one(one, &payload)]
            } else {
                std::thread::scope(|scope| {
                    let all: Vec<_> = self.writers.iter_mut().map(|w| scope.spawn(|| commit_one(w, &payload))).collect();
                    all.into_iter().map(|t| t.join().unwrap_or_else(|_| Err(Error::Failed("a commit panicked".into())))).collect()
                })
            };
            results.into_iter().collect::<Result<Vec<()>>>()?;
            // The names too: tantivy leaves that of the newest commit to whoever syncs the directory next.
            for shard in 0..self.index.definition.shards {
                sync_directory(&self.index.directory.join(shard.to_string()))?;
            }
            for shard in &self.index.shards {
                shard.reader.reload()?;
            }
            generation(&self.index.shards, &self.index.places, self.index.definition.key)
        });
        match outcome {
            Ok(generation) => {
                *self.index.current.write() = Arc::new(generation);
                Ok(())
            }
            Err(error) => {
                // A writer that failed once is of no use.
                self.writers.clear();
                Err(self.index.failure(error))
            }
        }
    }

    /// Forgets the changes.
    pub fn abandon(mut self) {
        self.writers.clear();
    }
}

/// Bytes that a directory's file system has left; `None` if that is not known.
fn free_space(directory: &Path) -> Option<u64> {
    use std::os::unix::ffi::OsStrExt;
    let path = std::ffi::CString::new(directory.as_os_str().as_bytes()).ok()?;
    // SAFETY: all of it may be zero; it is filled in by the call.
    let mut out: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: the path ends in a zero, and both are alive during the call.
    let known = unsafe { libc::statvfs(path.as_ptr(), &raw mut out) } == 0;
    #[allow(clippy::unnecessary_cast, reason = "other systems have narrower fields")]
    known.then(|| (out.f_bavail as u64).saturating_mul(out.f_frsize as u64))
}

/// Brings the names in a directory to stable storage.
fn sync_directory(path: &Path) -> Result<()> {
    if cfg!(unix) { Ok(fs::File::open(path)?.sync_all()?) } else { Ok(()) }
}

fn commit_one(writer: &mut IndexWriter, payload: &str) -> Result<()> {
    let mut prepared = writer.prepare_commit()?;
    prepared.set_payload(payload);
    prepared.commit()?;
    Ok(())
}

fn tokenizer_name(field: &FieldDefinition, written: bool) -> String {
    format!("stoa_{}{}", field.name, if written { "_written" } else { "" })
}

/// tantivy's fields.
struct Fields {
    schema: Schema,
    fields: Vec<Field>,
    written: Vec<Option<Field>>,
    patterns: Vec<Field>,
    key: Field,
    words: Field,
}

fn schema(definition: &Definition) -> Fields {
    let mut builder = Schema::builder();
    let key = builder.add_bytes_field(KEY, BytesOptions::default().set_indexed());
    let words = builder.add_u64_field(KEY_WORDS, NumericOptions::default().set_fast());
    let mut text = |name: String, tokenizer: &str, of_phrases: bool| {
        let option = if of_phrases { IndexRecordOption::WithFreqsAndPositions } else { IndexRecordOption::Basic };
        let indexing = TextFieldIndexing::default().set_tokenizer(tokenizer).set_index_option(option).set_fieldnorms(of_phrases);
        builder.add_text_field(&name, TextOptions::default().set_indexing_options(indexing))
    };
    let (mut fields, mut written, mut patterns) = (Vec::new(), Vec::new(), Vec::new());
    for (n, field) in definition.fields.iter().enumerate() {
        let places = !matches!(field.tokenizer.kind, TokenizerKind::Items { .. });
        let words = text(format!("f{n}"), &tokenizer_name(field, false), places);
        let letters = field.tokenizer.kind == TokenizerKind::Jieba;
        let stems = matches!(field.tokenizer.kind, TokenizerKind::Stemmer { .. });
        let beside = (letters || stems).then(|| text(format!("l{n}"), &tokenizer_name(field, true), letters));
        fields.push(words);
        patterns.push(beside.filter(|_| stems).unwrap_or(words));
        written.push(beside);
    }
    Fields { schema: builder.build(), fields, written, patterns, key, words }
}

fn generation(shards: &[Shard], places: &Places, form: KeyForm) -> Result<Generation> {
    let mut views = Vec::with_capacity(shards.len());
    let mut timestamp = u64::MAX;
    for shard in shards {
        let payload = shard.index.load_metas().map_err(|e| Error::Damaged(e.to_string()))?.payload;
        timestamp = timestamp.min(payload.and_then(|p| p.parse().ok()).unwrap_or(0));
        let searcher = shard.reader.searcher();
        let mut keys = Vec::with_capacity(searcher.segment_readers().len());
        for segment in searcher.segment_readers() {
            keys.push(segment.fast_fields().u64(KEY_WORDS).map_err(|e| Error::Damaged(e.to_string()))?);
        }
        views.push(ShardView { searcher, keys });
    }
    let Places { fields, written, patterns } = places.clone();
    Ok(Generation { shards: views, fields, written, patterns, form, timestamp })
}

#[cfg(test)]
mod tests;
