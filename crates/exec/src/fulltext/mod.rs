//! Full text indexes: their files beside the store, kept up by the change feed.
//!
//! An index is as of a time T, and right at every snapshot S: what its files find, minus the rows that changed between T and S, plus
//! those of them that fit when they are looked at, the transaction's own changes among both. [`find`] does that, [`read`] reads their
//! rows; [`follow`] brings the files up to date behind the commits; [`scan`] chooses an index for the filters of a scan.
//!
//! Invariant: rows never depend on the files. Whatever happens to those, statements fall back to the table, and the files are made again.

mod columns;
pub mod find;
pub mod follow;
pub mod items;
pub mod read;
pub mod rows;
pub mod scan;
pub mod suggest;
pub mod tsquery;

use parking_lot::{Mutex, RwLock};
use rows::RowTexts;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use stoa_fulltext::{Definition, FieldDefinition, FullTextIndex, KeyForm, TokenizerKind, TokenizerOptions};
use stoa_pg::{PgError, PgResult, PgType};
use stoa_table::catalog::{CatalogSnapshot, IndexDescriptor, IndexState, Relation, TableDescriptor};
use stoa_table::feed::Feed;
use stoa_table::row::KeyCodec;
use stoa_table::{TableId, Tables, Timestamp};

pub use stoa_sql::fulltext::matching;

/// The access method of full text indexes.
pub use stoa_table::catalog::FULLTEXT_METHOD as METHOD;

/// What an index is doing.
#[derive(Clone, Debug)]
pub enum Condition {
    /// Its files are being made from the table.
    Building,
    Ready(Arc<FullTextIndex>),
    /// Its files cannot be used, and why; they are made again from the table.
    Broken(String),
}

/// One full text index of the database. It lives as long as its place in the store's numbering: REINDEX and TRUNCATE give a new one.
#[derive(Debug)]
pub struct TextIndex {
    /// The number that names its directory, and it as a reader of the feed.
    pub storage: TableId,
    /// Where the table's rows are.
    pub table: TableId,
    pub definition: Definition,
    pub texts: RowTexts,
    directory: PathBuf,
    condition: RwLock<Condition>,
    /// Rows read by the build that is running, or by the last.
    pub built: AtomicU64,
    /// When its files were last written, and whether its writers are awake since.
    written: Mutex<Option<Instant>>,
    /// One writer at a time.
    pub turn: tokio::sync::Mutex<()>,
}

impl TextIndex {
    /// The files, if they can be used now.
    #[must_use]
    pub fn files(&self) -> Option<Arc<FullTextIndex>> {
        match &*self.condition.read() {
            Condition::Ready(files) => Some(Arc::clone(files)),
            _ => None,
        }
    }

    #[must_use]
    pub fn condition(&self) -> Condition {
        self.condition.read().clone()
    }

    /// The files are of no use any more: statements read the table until they are made again.
    pub fn give_up(&self, why: &str) {
        let mut condition = self.condition.write();
        if !matches!(*condition, Condition::Broken(_)) {
            tracing::warn!(directory = %self.directory.display(), why, "a full text index cannot be used and will be built again");
        }
        *condition = Condition::Broken(why.to_owned());
    }
}

/// See the module.
#[derive(Debug)]
pub struct TextIndexes {
    tables: Tables,
    feed: Arc<Feed>,
    directory: PathBuf,
    /// What the writer of an index may keep in memory.
    writer_bytes: usize,
    /// A directory of this process alone, for databases that have none.
    _temporary: Option<TemporaryDirectory>,
    indexes: RwLock<BTreeMap<TableId, Arc<TextIndex>>>,
}

/// Removed when the database goes.
#[derive(Debug)]
struct TemporaryDirectory(PathBuf);

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl TextIndexes {
    /// Opens the indexes of all databases' catalogs; directories that none of them names are removed.
    ///
    /// # Errors
    /// What the store and the file system report. Damaged indexes are no error.
    pub async fn open(
        tables: &Tables,
        feed: &Arc<Feed>,
        directory: Option<&Path>,
        writer_bytes: usize,
        catalogs: &[Arc<CatalogSnapshot>],
    ) -> PgResult<Arc<Self>> {
        let (directory, temporary) = match directory {
            Some(directory) => (directory.to_owned(), None),
            None => {
                let directory = std::env::temp_dir().join(format!("stoa-text-{}-{:016x}", std::process::id(), rand::random::<u64>()));
                (directory.clone(), Some(TemporaryDirectory(directory)))
            }
        };
        let out = Self {
            tables: tables.clone(),
            feed: Arc::clone(feed),
            directory,
            writer_bytes,
            _temporary: temporary,
            indexes: RwLock::default(),
        };
        let mut named = HashSet::new();
        for (catalog, relation) in catalogs.iter().flat_map(|catalog| catalog.relations().map(move |relation| (catalog, relation))) {
            let Relation::Table(table) = &**relation else { continue };
            for index in table.indexes.iter().filter(|i| i.is_fulltext() && i.state == IndexState::Readable) {
                named.insert(index.storage.0.to_string());
                // What cannot be described is searched in the table.
                let index = match out.describe(catalog, table, index) {
                    Ok(index) => index,
                    Err(error) => {
                        tracing::error!(%error, index = index.name, "a full text index cannot be opened");
                        continue;
                    }
                };
                out.reopen(&index).await?;
                out.indexes.write().insert(index.storage, index);
            }
        }
        if let Ok(entries) = std::fs::read_dir(&out.directory) {
            for entry in entries.flatten().filter(|e| !named.contains(&*e.file_name().to_string_lossy())) {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
        Ok(Arc::new(out))
    }

    async fn reopen(&self, index: &Arc<TextIndex>) -> PgResult<()> {
        self.feed.prepare().await?;
        let newest = self.tables.now();
        let opened = FullTextIndex::open(&index.directory, &index.definition).map(|files| files.with_memory(self.writer_bytes));
        let condition = match opened {
            Ok(files) => match Timestamp(files.generation().timestamp) {
                at if at > newest || at.0 == 0 => Err("it is not of this database's history".to_owned()),
                at => Ok((files, at)),
            },
            Err(error) => Err(error.to_string()),
        };
        let position = condition.as_ref().ok().map(|(_, at)| *at);
        let resumed = self.feed.resume(index.table, index.storage.0, position).await;
        match (condition, resumed) {
            (Ok((files, _)), Ok(())) => *index.condition.write() = Condition::Ready(Arc::new(files)),
            (Err(why), Ok(())) => index.give_up(&why),
            (_, Err(error)) => {
                self.feed.follow(index.table, index.storage.0);
                index.give_up(error.message());
            }
        }
        Ok(())
    }

    /// An index as its descriptor says, without files.
    ///
    /// # Errors
    /// An expression of the index cannot be bound, or an option has no meaning.
    pub fn describe(&self, catalog: &CatalogSnapshot, table: &TableDescriptor, index: &IndexDescriptor) -> PgResult<Arc<TextIndex>> {
        let key = KeyCodec::new(table)?;
        let widths: Option<usize> = key.parts.iter().map(|p| p.part.width()).sum();
        let form = if key.salt.is_none() && widths == Some(8) { KeyForm::EightBytes } else { KeyForm::Words };
        let settings = stoa_sql::fulltext::settings::Settings::read(&index.options)?;
        let fields = index.parts.iter().enumerate().map(|(n, part)| {
            let of_kind = |kind| TokenizerOptions { kind, ..TokenizerOptions::default() };
            let tokenizer = match part.ty.ty {
                PgType::Tsvector => of_kind(TokenizerKind::Lexemes),
                _ if part.is_text() => settings.tokenizer.clone(),
                _ => of_kind(TokenizerKind::Items { version: stoa_pg::items::VERSION }),
            };
            FieldDefinition { name: format!("f{n}"), tokenizer }
        });
        Ok(Arc::new(TextIndex {
            storage: index.storage,
            table: table.storage,
            definition: Definition::new(fields.collect(), settings.shards, form),
            texts: RowTexts::new(catalog, table, index)?,
            directory: self.directory.join(index.storage.0.to_string()),
            condition: RwLock::new(Condition::Building),
            built: AtomicU64::new(0),
            written: Mutex::new(None),
            turn: tokio::sync::Mutex::new(()),
        }))
    }

    /// The index with this number.
    #[must_use]
    pub fn get(&self, storage: TableId) -> Option<Arc<TextIndex>> {
        self.indexes.read().get(&storage).cloned()
    }

    #[must_use]
    pub fn all(&self) -> Vec<Arc<TextIndex>> {
        self.indexes.read().values().cloned().collect()
    }

    #[must_use]
    pub fn feed(&self) -> &Arc<Feed> {
        &self.feed
    }

    /// Takes an index in: the changes of its table are recorded from now on. No writer of the table may be at work.
    ///
    /// # Errors
    /// What the store reports.
    pub async fn admit(&self, index: &Arc<TextIndex>) -> PgResult<()> {
        self.feed.prepare().await?;
        self.feed.follow(index.table, index.storage.0);
        self.indexes.write().insert(index.storage, Arc::clone(index));
        Ok(())
    }

    /// Forgets an index and removes its files.
    pub async fn forget(&self, storage: TableId) {
        let Some(index) = self.indexes.write().remove(&storage) else { return };
        self.feed.unfollow(index.table, storage.0);
        if !self.indexes.read().values().any(|i| i.table == index.table)
            && let Err(error) = self.feed.forget(index.table).await
        {
            tracing::warn!(%error, "records of the change feed could not be removed");
        }
        // Whoever writes or reads it now keeps open files; names go at once.
        let _turn = index.turn.lock().await;
        *index.condition.write() = Condition::Broken("it was dropped".into());
        let directory = index.directory.clone();
        let _ = tokio::task::spawn_blocking(move || std::fs::remove_dir_all(directory)).await;
    }

    /// Compares an index with its table at one snapshot; gives the number of rows whose entries differ, and of all rows.
    ///
    /// # Errors
    /// What the store reports; XX002 if the files cannot be read.
    pub async fn check(&self, table: &TableDescriptor, index: &TextIndex) -> PgResult<(u64, u64)> {
        find::check(self, table, index).await
    }

    /// Makes the files of an index again from its table.
    ///
    /// # Errors
    /// What the store and the disk report.
    pub async fn rebuild(&self, index: &Arc<TextIndex>) -> PgResult<()> {
        follow::build(self, index, &|| Ok(())).await
    }

    pub fn tables(&self) -> &Tables {
        &self.tables
    }
}

impl TextIndex {
    /// Rows that the running build has read.
    #[must_use]
    pub fn progress(&self) -> u64 {
        self.built.load(Ordering::Relaxed)
    }
}

/// 55000 for what needs the files now.
pub fn not_ready(name: &str, condition: &Condition) -> PgError {
    let why = match condition {
        Condition::Building => "It is being built.".to_owned(),
        Condition::Ready(_) => "Its files do not reach back to the statement's snapshot.".to_owned(),
        Condition::Broken(why) => format!("It is built again: {why}."),
    };
    PgError::new(stoa_pg::SqlState(*b"55000"), format!("the full text index \"{name}\" cannot be used now")).detail(why)
}
