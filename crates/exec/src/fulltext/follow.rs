//! Brings the files of full text indexes up to date: builds them, and follows the commits.
//!
//! Invariant: files are never ahead of the store. Before they are committed as of T, all commits up to T are made durable, whatever
//! their transactions asked for. A set of changes may be put in twice: each row is deleted by its key before it is added.

use super::rows::Texts;
use super::{Condition, TextIndex, TextIndexes};
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use stoa_fulltext::{FieldText, FullTextIndex};
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_sql::fulltext::matching::text_error;
use stoa_table::row::KeyList;
use stoa_table::txn::RangeRead;
use stoa_table::{KeyRange, Timestamp};

/// Commits that come within this time are put into the files together.
const GROUP: Duration = Duration::from_millis(250);
/// How often indexes are looked at when nothing is committed.
const LOOK: Duration = Duration::from_secs(5);
/// Writers without work give up their memory after this time.
const REST: Duration = Duration::from_secs(30);
/// How long a broken index is left alone before it is built again.
const RETRY: Duration = Duration::from_secs(5);
/// Rows read at a time.
const ROWS: usize = 1024;
/// Batches that wait for the thread that writes files.
const BATCHES: usize = 8;

/// What goes to the thread that writes files.
enum Change {
    /// The documents of these keys go.
    Delete(KeyList),
    Add(Texts),
}

/// Follows the commits until the database is gone.
pub async fn run(indexes: Weak<TextIndexes>) {
    let mut retry: std::collections::HashMap<u32, Instant> = std::collections::HashMap::new();
    loop {
        {
            let Some(indexes) = indexes.upgrade() else { return };
            let feed = Arc::clone(indexes.feed());
            drop(indexes);
            let _ = tokio::time::timeout(LOOK, feed.changes.notified()).await;
        }
        tokio::time::sleep(GROUP).await;
        let Some(indexes) = indexes.upgrade() else { return };
        for index in indexes.all() {
            let outcome = match index.condition() {
                Condition::Ready(files) => match catch_up(&indexes, &index, &files).await {
                    // Its files are as of an earlier time, and go on when there is room.
                    Err(error) if error.code() == SqlState::DISK_FULL => Err(error),
                    Err(error) => {
                        index.give_up(error.message());
                        Err(error)
                    }
                    done => done,
                },
                Condition::Broken(_) => {
                    let due = retry.get(&index.storage.0).is_none_or(|at| at.elapsed() >= RETRY);
                    if !due {
                        continue;
                    }
                    retry.insert(index.storage.0, Instant::now());
                    build(&indexes, &index, &|| Ok(())).await
                }
                Condition::Building => Ok(()),
            };
            if let Err(error) = outcome {
                tracing::warn!(%error, index = index.storage.0, "a full text index could not be brought up to date");
            }
        }
    }
}

/// Puts what was committed since into the files.
async fn catch_up(indexes: &TextIndexes, index: &Arc<TextIndex>, files: &Arc<FullTextIndex>) -> PgResult<()> {
    let _turn = index.turn.lock().await;
    let from = Timestamp(files.generation().timestamp);
    let view = indexes.tables().newest();
    let to = view.timestamp();
    let entries = indexes.feed().changed(index.table, from, to);
    let entries = entries.ok_or_else(|| PgError::internal("the change feed does not reach back to a full text index"))?;
    let keys: BTreeSet<&[u8]> = entries.iter().flat_map(|e| e.keys.iter()).collect();
    if keys.is_empty() {
        let idle = index.written.lock().is_some_and(|at| at.elapsed() >= REST);
        if idle {
            *index.written.lock() = None;
            let files = Arc::clone(files);
            let _ = tokio::task::spawn_blocking(move || files.rest()).await;
        }
        return Ok(());
    }
    let mut decoder = index.texts.lookup()?;
    let mut writer = Writer::start(files);
    let keys: Vec<&[u8]> = keys.into_iter().collect();
    for some in keys.chunks(ROWS) {
        let mut gone = KeyList::with_capacity(some.len(), 16);
        some.iter().for_each(|key| gone.push(key));
        writer.send(Change::Delete(gone)).await?;
        view.get(index.table, decoder.families(), some, &mut decoder).await?;
        writer.send(Change::Add(index.texts.take(&mut decoder)?)).await?;
    }
    indexes.feed().settle(index.table, index.storage.0).await?;
    writer.commit(to).await?;
    *index.written.lock() = Some(Instant::now());
    indexes.feed().advance(index.table, index.storage.0, to).await
}

/// Makes the files of an index from the newest rows of its table. The feed must follow the table already, and no writer that began
/// before it did may be at work.
///
/// # Errors
/// What the store, the disk and `interrupt` say; the index is broken then.
pub async fn build(indexes: &TextIndexes, index: &Arc<TextIndex>, interrupt: &(dyn Fn() -> PgResult<()> + Sync)) -> PgResult<()> {
    let _turn = index.turn.lock().await;
    *index.condition.write() = Condition::Building;
    let outcome = build_files(indexes, index, interrupt).await;
    match outcome {
        Ok((files, at)) => {
            *index.condition.write() = Condition::Ready(files);
            *index.written.lock() = Some(Instant::now());
            indexes.feed().advance(index.table, index.storage.0, at).await
        }
        Err(error) => {
            *index.condition.write() = Condition::Broken(error.message().to_owned());
            // They are of no use, and the disk may be full.
            let directory = index.directory.clone();
            let _ = tokio::task::spawn_blocking(move || std::fs::remove_dir_all(directory)).await;
            Err(error)
        }
    }
}

async fn build_files(
    indexes: &TextIndexes,
    index: &Arc<TextIndex>,
    interrupt: &(dyn Fn() -> PgResult<()> + Sync),
) -> PgResult<(Arc<FullTextIndex>, Timestamp)> {
    index.built.store(0, Ordering::Relaxed);
    let (directory, definition) = (index.directory.clone(), index.definition.clone());
    let memory = indexes.writer_bytes;
    let created =
        tokio::task::spawn_blocking(move || FullTextIndex::create(&directory, &definition).map(|files| files.with_memory(memory))).await;
    let files = created.map_err(|e| PgError::internal(e.to_string()))?.map_err(text_error)?;
    let files = Arc::new(files);
    let view = indexes.tables().newest();
    let at = view.timestamp();
    let mut decoder = index.texts.decoder(ROWS)?;
    let mut writer = Writer::start(&files);
    let read = RangeRead {
        table: index.table,
        families: decoder.families(),
        range: KeyRange::all(),
        reverse: false,
        limit: None,
        fill_cache: false,
    };
    let mut scan = view.scan(read).await?;
    loop {
        interrupt()?;
        let more = scan.next_block(ROWS, &mut decoder).await?;
        let texts = index.texts.take(&mut decoder)?;
        index.built.fetch_add(texts.len() as u64, Ordering::Relaxed);
        if !texts.is_empty() {
            writer.send(Change::Add(texts)).await?;
        }
        if !more {
            break;
        }
    }
    indexes.feed().settle(index.table, index.storage.0).await?;
    writer.commit(at).await?;
    Ok((files, at))
}

/// A thread that writes one set of changes: files are no matter for the threads that run statements.
struct Writer {
    changes: tokio::sync::mpsc::Sender<Change>,
    timestamp: tokio::sync::oneshot::Sender<Timestamp>,
    done: tokio::task::JoinHandle<PgResult<()>>,
}

impl Writer {
    fn start(files: &Arc<FullTextIndex>) -> Self {
        let (changes, mut received) = tokio::sync::mpsc::channel::<Change>(BATCHES);
        let (timestamp, when) = tokio::sync::oneshot::channel::<Timestamp>();
        let files = Arc::clone(files);
        let done = tokio::task::spawn_blocking(move || {
            let mut writing = files.write().map_err(text_error)?;
            let mut work = || -> PgResult<()> {
                while let Some(change) = received.blocking_recv() {
                    match change {
                        Change::Delete(keys) => keys.iter().for_each(|key| writing.delete(key)),
                        Change::Add(texts) => {
                            let mut row: Vec<FieldText<'_>> = Vec::new();
                            for n in 0..texts.len() {
                                if texts.row(n, &mut row) {
                                    writing.add(texts.keys.get(n), &row).map_err(text_error)?;
                                }
                            }
                        }
                    }
                }
                Ok(())
            };
            // At once: whoever sends changes must not wait for a thread that takes none.
            if let Err(error) = work() {
                writing.abandon();
                return Err(error);
            }
            match when.blocking_recv() {
                Ok(at) => writing.commit(at.0).map_err(text_error),
                // Whoever sent the changes has given up.
                Err(_) => {
                    writing.abandon();
                    Ok(())
                }
            }
        });
        Self { changes, timestamp, done }
    }

    async fn send(&mut self, change: Change) -> PgResult<()> {
        if self.changes.send(change).await.is_ok() {
            return Ok(());
        }
        // It has left with an error.
        let ended = || Err(PgError::internal("the thread that writes a full text index has ended"));
        (&mut self.done).await.map_or_else(|_| ended(), |outcome| outcome.and_then(|()| ended()))
    }

    async fn commit(self, at: Timestamp) -> PgResult<()> {
        drop(self.changes);
        let _ = self.timestamp.send(at);
        self.done.await.map_err(|e| PgError::internal(e.to_string()))?
    }
}
