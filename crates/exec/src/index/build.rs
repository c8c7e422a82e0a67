//! Online builds: an index comes to be while its table is written.
//!
//! ```text
//! delete-only ──(older writers have ended)──► write-only ──(rows that were there got entries)──► readable
//! ```
//!
//! Writers obey the state in the catalog that they see: first all remove entries, then all keep them. Behind that, rows that were
//! there before are gone through range by range, each at a snapshot of its own, and their entries committed on the condition that
//! none of them was touched since. Entries that were are made under the lock of their row, from the row as it is then.
//!
//! A full text index is not written by writers: the change feed tells it of their commits. Its files are made from the rows at one
//! snapshot, and it is readable when they are; a build that was killed begins again.
//!
//! Invariants: no entry of an old value comes back after its writer removed it. What is done is recorded: a build that was killed
//! goes on at the next start. A build that fails or is cancelled leaves nothing.

use super::entries::{TableRows, each_entry};
use crate::environment::builds::Progress;
use crate::environment::{DatabaseInner, SessionEnvironment, StatementContext};
use crate::write::constraint::duplicate_entry;
use crate::write::lookup;
use crate::write::rows::Rows;
use crate::write::table_writer::{IndexWriter, TableWriter};
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_table::KeyRange;
use stoa_table::catalog::store::{decode, encode, index_build_key};
use stoa_table::catalog::{IndexDescriptor, IndexState, Oid, Relation, TableDescriptor};
use stoa_table::row::{INDEX_FAMILY, KeyList, RowEncoder};
use stoa_table::services::locks::LockId;
use stoa_table::services::locks::{LockStrength, LockWait};
use stoa_table::txn::{ReadView, TableLockMode, TxnOptions};

/// Rows whose keys are recorded as done at a time.
const RANGE_ROWS: usize = 65_536;
/// Rows that are locked at a time.
const LOCKED_ROWS: usize = 256;
/// After so many in one batch a build gives up: each takes `deadlock_timeout`.
const MAX_DEADLOCKS: u32 = 100;

/// The progress of a build that a statement waits for; it ends when this is dropped.
pub struct Watched {
    database: Arc<DatabaseInner>,
    indexes: Vec<Oid>,
}

impl Watched {
    pub fn start(ctx: &StatementContext, table: Oid, indexes: &[Oid], command: &'static str, rows_total: u64) -> Self {
        let database = Arc::clone(&ctx.database);
        for index in indexes {
            let (pid, index, phase) = (ctx.session.pid, *index, "building index");
            database.builds.start(Progress { pid, table, index, command, phase, rows_total, rows_done: 0 });
        }
        Self { database, indexes: indexes.to_vec() }
    }

    pub fn rows(&self, done: u64) {
        self.change(|p| {
            p.rows_done = done;
            p.rows_total = p.rows_total.max(done);
        });
    }

    pub fn phase(&self, phase: &'static str) {
        self.change(|p| p.phase = phase);
    }

    fn change(&self, change: impl Fn(&mut Progress)) {
        self.indexes.iter().for_each(|index| self.database.builds.change(*index, &change));
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.indexes.iter().for_each(|index| self.database.builds.end(*index));
    }
}

/// What is recorded of a build: rows below this key have their entries.
#[derive(Serialize, Deserialize)]
struct Done {
    next: Vec<u8>,
    rows: u64,
}

/// Takes an index that is in the catalog to readable. `ctx` is that of a statement whose transaction keeps others from changing
/// the table's definition.
///
/// # Errors
/// 23505 with the keys; 57014. The index is gone then.
pub async fn run(ctx: &StatementContext, table: Oid, index: Oid, command: &'static str) -> PgResult<()> {
    // A statement that is cancelled is dropped: the task outlives it, notices, and cleans up.
    let cancelled = CancelOnDrop(Arc::default());
    let (ctx, flag) = (ctx.clone(), Arc::clone(&cancelled.0));
    let task = tokio::spawn(async move {
        let builds = &ctx.database.builds;
        builds.start(Progress { pid: ctx.session.pid, table, index, command, phase: "initializing", rows_total: 0, rows_done: 0 });
        let outcome = advance(&ctx, table, index, &flag).await;
        if let Err(error) = &outcome {
            tracing::info!(%error, index, "an index build has ended");
            remove(&ctx, table, index).await?;
        }
        builds.end(index);
        ctx.database.tables.delete_note(&index_build_key(index)).await?;
        outcome
    });
    task.await.map_err(|e| PgError::internal(format!("an index build ended: {e}")))?
}

struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// 57014 when the statement was given up.
fn check(ctx: &StatementContext, cancelled: &AtomicBool) -> PgResult<()> {
    if cancelled.load(Ordering::Acquire) {
        return Err(PgError::new(SqlState::QUERY_CANCELED, "canceling statement due to user request"));
    }
    ctx.session.check_interrupt()
}

async fn advance(ctx: &StatementContext, table: Oid, index: Oid, cancelled: &AtomicBool) -> PgResult<()> {
    let builds = &ctx.database.builds;
    let found = index_of(ctx, table, index)?;
    if found.is_fulltext() {
        fill_text(ctx, table, &found, cancelled).await?;
        check(ctx, cancelled)?;
        return set_state(ctx, table, index, IndexState::Readable).await;
    }
    if found.state == IndexState::DeleteOnly {
        builds.change(index, |p| p.phase = "waiting for writers before build");
        wait_for_writers(ctx, table, cancelled).await?;
        set_state(ctx, table, index, IndexState::WriteOnly).await?;
        wait_for_writers(ctx, table, cancelled).await?;
    }
    builds.change(index, |p| p.phase = "building index");
    fill(ctx, table, index, cancelled).await?;
    check(ctx, cancelled)?;
    set_state(ctx, table, index, IndexState::Readable).await
}

fn descriptor(ctx: &StatementContext, table: Oid) -> PgResult<TableDescriptor> {
    let catalog = ctx.database.transactions.published_catalog();
    catalog.table(table).cloned().ok_or_else(|| PgError::new(SqlState::UNDEFINED_TABLE, "the table was dropped"))
}

fn index_of(ctx: &StatementContext, table: Oid, index: Oid) -> PgResult<IndexDescriptor> {
    let found = descriptor(ctx, table)?.indexes.into_iter().find(|i| i.oid == index);
    found.ok_or_else(|| PgError::new(SqlState::UNDEFINED_OBJECT, "the index was dropped"))
}

/// Makes the files of a full text index. Commits that begin once the feed follows the table are recorded, so only those before it
/// are waited for, and what is committed while rows are read reaches the files behind them.
async fn fill_text(ctx: &StatementContext, table: Oid, index: &IndexDescriptor, cancelled: &AtomicBool) -> PgResult<()> {
    let (builds, text) = (&ctx.database.builds, &ctx.database.text);
    let catalog = ctx.database.transactions.published_catalog();
    let described = text.describe(&catalog, &descriptor(ctx, table)?, index)?;
    text.admit(&described).await?;
    builds.change(index.oid, |p| p.phase = "waiting for writers before build");
    wait_for_writers(ctx, table, cancelled).await?;
    let total = ctx.database.tables.approximate_rows(described.table).await?;
    builds.change(index.oid, |p| p.phase = "building index");
    let interrupt = || {
        let rows = described.progress();
        builds.change(index.oid, |p| {
            p.rows_done = rows;
            p.rows_total = total.max(rows);
        });
        check(ctx, cancelled)
    };
    crate::fulltext::follow::build(text, &described, &interrupt).await
}

/// The statement's context in a transaction of its own, which shares the session's locks.
fn inner(ctx: &StatementContext) -> StatementContext {
    let txn = ctx.database.transactions.begin(TxnOptions::new(ctx.txn.group()));
    let system = SessionEnvironment { catalog: txn.catalog(), txn, ..(*ctx.system).clone() };
    StatementContext { system: Arc::new(system), made: Arc::default(), ..ctx.clone() }
}

async fn set_state(ctx: &StatementContext, table: Oid, index: Oid, to: IndexState) -> PgResult<()> {
    let now = ctx.database.tables.now().0;
    change(ctx, table, move |table| {
        for index in table.indexes.iter_mut().filter(|i| i.oid == index) {
            index.state = to;
            index.readable_from = now;
        }
    })
    .await
}

/// Changes a table's descriptor at once.
pub async fn change(ctx: &StatementContext, table: Oid, change: impl FnOnce(&mut TableDescriptor)) -> PgResult<()> {
    let ctx = inner(ctx);
    ctx.txn.lock_table(table, TableLockMode::ShareUpdateExclusive, false, "of an index").await?;
    ctx.txn.start_statement().await?;
    let mut table = descriptor(&ctx, table)?;
    change(&mut table);
    ctx.put_relation(Relation::Table(table))?;
    ctx.txn.end_statement();
    ctx.txn.commit().await
}

/// Removes an index that did not come to be.
async fn remove(ctx: &StatementContext, table: Oid, index: Oid) -> PgResult<()> {
    let Ok(descriptor) = descriptor(ctx, table) else { return Ok(()) };
    let storage = descriptor.indexes.iter().find(|i| i.oid == index).map(|i| i.storage);
    change(ctx, table, |table| table.indexes.retain(|i| i.oid != index)).await?;
    if let Some(storage) = storage {
        // Nobody has searched it.
        ctx.database.text.forget(storage).await;
        drop_later(ctx, table, storage);
    }
    Ok(())
}

/// Lets an index that is complete take the place of the one that it was built for. What was on the way when the process ended goes on
/// at the next start: the new index knows whom it replaces.
///
/// # Errors
/// The store failed.
pub async fn take_place(ctx: &StatementContext, table: Oid, new: Oid) -> PgResult<()> {
    let indexes = descriptor(ctx, table)?.indexes;
    let Some(made) = indexes.iter().find(|i| i.oid == new) else { return Ok(()) };
    let Some(old) = indexes.iter().find(|i| Some(i.oid) == made.replaces) else {
        // It was dropped meanwhile.
        return remove(ctx, table, new).await;
    };
    let (storage, from, replaced, gone) = (made.storage, made.readable_from, old.oid, old.storage);
    change(ctx, table, move |table| {
        table.indexes.retain(|i| i.oid != new);
        for own in table.indexes.iter_mut().filter(|i| i.oid == replaced) {
            own.storage = storage;
            own.state = IndexState::Readable;
            own.readable_from = from;
        }
    })
    .await?;
    drop_later(ctx, table, gone);
    Ok(())
}

/// Removes a table of the store, or the files of a full text index, once nobody reads or writes it any more.
pub fn drop_later(ctx: &StatementContext, table: Oid, storage: stoa_table::TableId) {
    let ctx = ctx.clone();
    let waited = users(&ctx, table, true);
    tokio::spawn(async move {
        while still_running(&ctx.database, &waited) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        ctx.database.text.forget(storage).await;
        ctx.database.tables.drop(storage).await;
    });
}

/// The running transactions that hold a lock on a table under which they write (or read).
fn users(ctx: &StatementContext, table: Oid, readers: bool) -> Vec<u64> {
    const WRITE: &[&str] = &["RowExclusiveLock", "ShareRowExclusiveLock", "ExclusiveLock", "AccessExclusiveLock"];
    let transactions = &ctx.database.transactions;
    let groups: Vec<_> = transactions
        .locks()
        .overview()
        .into_iter()
        .filter(|lock| lock.granted && lock.id == LockId::Table(table) && (readers || WRITE.contains(&lock.mode_name())))
        .map(|lock| lock.group)
        .filter(|group| readers || *group != ctx.txn.group())
        .collect();
    transactions.running().into_iter().filter(|(group, _)| groups.contains(group)).map(|(_, id)| id).collect()
}

fn still_running(database: &DatabaseInner, waited: &[u64]) -> bool {
    let running = database.transactions.running();
    waited.iter().any(|id| running.iter().any(|(_, r)| r == id))
}

/// Waits until the transactions have ended that may have seen an older state. Those that come later look at the catalog again
/// when they have their lock.
async fn wait_for_writers(ctx: &StatementContext, table: Oid, cancelled: &AtomicBool) -> PgResult<()> {
    let waited = users(ctx, table, false);
    while still_running(&ctx.database, &waited) {
        check(ctx, cancelled)?;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    Ok(())
}

/// Gives entries to the rows that are there.
async fn fill(ctx: &StatementContext, table: Oid, index: Oid, cancelled: &AtomicBool) -> PgResult<()> {
    let tables = &ctx.database.tables;
    let total = tables.approximate_rows(descriptor(ctx, table)?.storage).await?;
    let mut done = match tables.note(&index_build_key(index)).await? {
        Some(bytes) => decode::<Done>(&bytes)?,
        None => Done { next: Vec::new(), rows: 0 },
    };
    loop {
        check(ctx, cancelled)?;
        let rows_done = done.rows;
        ctx.database.builds.change(index, |p| {
            p.rows_total = rows_done.max(total);
            p.rows_done = rows_done;
        });
        let inner = inner(ctx);
        inner.txn.start_statement().await?;
        let outcome = fill_range(&inner, table, index, &mut done).await;
        inner.txn.rollback().await;
        if outcome? {
            return Ok(());
        }
        tables.put_note(&index_build_key(index), &encode(&done)?).await?;
        // Others come first.
        tokio::task::yield_now().await;
    }
}

/// The next range; true at the end.
async fn fill_range(ctx: &StatementContext, table: Oid, index: Oid, done: &mut Done) -> PgResult<bool> {
    let writer = TableWriter::new(ctx, &Arc::new(descriptor(ctx, table)?))?;
    let gone = || PgError::new(SqlState::UNDEFINED_OBJECT, "the index was dropped");
    let at = writer.indexes.iter().find(|i| i.descriptor.oid == index).ok_or_else(gone)?;
    let view = ctx.database.tables.newest();
    let mut rows = TableRows::open(&view, &writer, KeyRange::new(done.next.clone(), None)).await?;
    let mut seen = 0;
    while seen < RANGE_ROWS {
        let Some((batch, keys)) = rows.next(ctx).await? else { return Ok(true) };
        fill_batch(ctx, &writer, at, &view, &batch, &keys).await?;
        seen += batch.len();
        done.rows += batch.len() as u64;
        // The first key that is not done.
        done.next = keys.get(keys.len().saturating_sub(1)).to_vec();
        done.next.push(0);
    }
    Ok(false)
}

/// Entries of some rows as they are at a view.
async fn fill_batch(
    ctx: &StatementContext,
    writer: &TableWriter,
    index: &IndexWriter,
    view: &ReadView,
    rows: &Rows,
    keys: &KeyList,
) -> PgResult<()> {
    let mut entries: Vec<(Vec<u8>, Vec<u8>, usize)> = Vec::with_capacity(rows.len());
    each_entry(index, rows, keys, |row, key, cell| {
        entries.push((key.to_vec(), cell.to_vec(), row));
        Ok(())
    })?;
    entries.sort();
    // Rows whose entries are not simply there to be written.
    let mut contested: Vec<usize> = Vec::new();
    if index.descriptor.unique {
        let listed: Vec<&[u8]> = entries.iter().map(|(key, ..)| key.as_slice()).collect();
        let newest = ctx.database.tables.newest();
        let owners = lookup::entries(&newest, &index.codec, &listed).await?;
        let mut first: HashMap<&[u8], usize> = HashMap::with_capacity(entries.len());
        for (key, _, row) in &entries {
            let other = owners.get(key).is_some_and(|owner| owner.as_slice() != keys.get(*row));
            if first.insert(key, *row).is_some() || other {
                contested.push(*row);
            }
        }
    }
    contested.sort_unstable();
    entries.retain(|(_, _, row)| contested.binary_search(row).is_err());
    let listed: Vec<(&[u8], &[u8])> = entries.iter().map(|(key, cell, _)| (key.as_slice(), cell.as_slice())).collect();
    let newer = ctx.database.tables.backfill(index.codec.storage, &listed, view.timestamp(), index.descriptor.unique).await?;
    contested.extend(newer.into_iter().filter_map(|at| entries.get(at)).map(|(_, _, row)| *row));
    for rows in contested.chunks(LOCKED_ROWS) {
        let list: Vec<&[u8]> = rows.iter().map(|row| keys.get(*row)).collect();
        fill_contested(ctx, writer, index, &list).await?;
    }
    Ok(())
}

/// As [`fill_locked`], again with fewer rows where writers that lock them in another order were in the way: it is they who have
/// someone waiting.
async fn fill_contested(ctx: &StatementContext, writer: &TableWriter, index: &IndexWriter, rows: &[&[u8]]) -> PgResult<()> {
    let mut parts = vec![rows];
    let mut deadlocks = 0;
    while let Some(part) = parts.pop() {
        match fill_locked(ctx, writer, index, part).await {
            Err(error) if error.fields().code == SqlState::DEADLOCK_DETECTED && deadlocks < MAX_DEADLOCKS => {
                deadlocks += 1;
                let (first, rest) = part.split_at(part.len() / 2);
                parts.extend([rest, first].into_iter().filter(|part| !part.is_empty()));
            }
            done => done?,
        }
    }
    Ok(())
}

/// Entries of some rows as they are now, under their locks.
async fn fill_locked(ctx: &StatementContext, writer: &TableWriter, index: &IndexWriter, rows: &[&[u8]]) -> PgResult<()> {
    let ctx = inner(ctx);
    ctx.txn.start_statement().await?;
    let outcome = fill_under_locks(&ctx, writer, index, rows).await;
    match outcome {
        Ok(()) => {
            ctx.txn.end_statement();
            ctx.txn.commit().await
        }
        Err(error) => {
            ctx.txn.rollback().await;
            Err(error)
        }
    }
}

async fn fill_under_locks(ctx: &StatementContext, writer: &TableWriter, index: &IndexWriter, rows: &[&[u8]]) -> PgResult<()> {
    let name = &writer.table.name;
    let mut sorted = rows.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let mut locked = KeyList::new();
    sorted.iter().for_each(|row| locked.push(row));
    ctx.txn.lock_rows(writer.codec.storage, &locked, LockStrength::Key, LockWait::Wait, name).await?;
    let (found, keys) = read(&ctx.txn.newest_view(), writer, &sorted).await?;
    let mut wanted: Vec<(Vec<u8>, Vec<u8>, usize)> = Vec::new();
    each_entry(index, &found, &keys, |row, key, cell| {
        wanted.push((key.to_vec(), cell.to_vec(), row));
        Ok(())
    })?;
    wanted.sort();
    if index.descriptor.unique {
        let mut entries = KeyList::new();
        wanted.iter().for_each(|(key, ..)| entries.push(key));
        ctx.txn.lock_rows(index.codec.storage, &entries, LockStrength::Key, LockWait::Wait, name).await?;
        let listed: Vec<&[u8]> = wanted.iter().map(|(key, ..)| key.as_slice()).collect();
        let owners = lookup::entries(&ctx.txn.newest_view(), &index.codec, &listed).await?;
        let mut first: HashMap<&[u8], usize> = HashMap::new();
        for (key, _, row) in &wanted {
            let twice = first.insert(key, *row).is_some();
            let other = match owners.get(key).filter(|owner| owner.as_slice() != keys.get(*row)) {
                Some(owner) => owns(ctx, writer, index, owner, key).await?,
                None => false,
            };
            if twice || other {
                return Err(duplicated(writer, index, &found, *row)?);
            }
        }
    }
    ctx.txn.write(|set| {
        for (key, cell, _) in &wanted {
            set.put(index.codec.storage, key, INDEX_FAMILY, &[], Some(cell));
        }
    })
}

async fn read(view: &ReadView, writer: &TableWriter, rows: &[&[u8]]) -> PgResult<(Rows, KeyList)> {
    let (found, _) = lookup::rows_by_key(view, &writer.table, &writer.codec, rows).await?;
    let mut keys = KeyList::new();
    let encoder = RowEncoder::new(&writer.codec, |id| found.get(id).cloned())?;
    for row in 0..found.len() {
        keys.push_with(|out| encoder.key(row, out))?;
    }
    drop(encoder);
    Ok((found, keys))
}

/// Whether a row, as it is now, has this entry.
async fn owns(ctx: &StatementContext, writer: &TableWriter, index: &IndexWriter, row: &[u8], entry: &[u8]) -> PgResult<bool> {
    let (rows, keys) = read(&ctx.txn.newest_view(), writer, &[row]).await?;
    let mut has = false;
    each_entry(index, &rows, &keys, |_, key, _| {
        has |= key == entry;
        Ok(())
    })?;
    Ok(has)
}

/// 23505 of a build.
fn duplicated(writer: &TableWriter, index: &IndexWriter, rows: &Rows, row: usize) -> PgResult<PgError> {
    let entries = index.entries(rows)?;
    let of_write = duplicate_entry(writer, index, &entries, row)?;
    let detail = of_write.fields().detail.as_ref().map(|detail| detail.replace("already exists", "is duplicated"));
    let name = &index.descriptor.name;
    let error = PgError::new(SqlState::UNIQUE_VIOLATION, format!("could not create unique index \"{name}\""));
    Ok(match detail {
        Some(detail) => error.detail(detail),
        None => error,
    }
    .schema(writer.schema_name())
    .table(&writer.table.name)
    .constraint(name))
}

/// Finishes the build of an index of a table, in a session of its own.
pub type Build = fn(Arc<DatabaseInner>, Oid, Oid) -> BoxFuture<'static, PgResult<()>>;

/// Goes on with builds that ended with the process.
pub fn resume(database: &Arc<DatabaseInner>, build: Build) {
    let catalog = database.transactions.published_catalog();
    let mut left: Vec<(Oid, Oid)> = Vec::new();
    for relation in catalog.relations() {
        let Relation::Table(table) = &**relation else { continue };
        let is_unfinished =
            |i: &&IndexDescriptor| matches!(i.state, IndexState::DeleteOnly | IndexState::WriteOnly) || i.replaces.is_some();
        let unfinished = table.indexes.iter().filter(is_unfinished);
        left.extend(unfinished.map(|i| (table.oid, i.oid)));
    }
    for (table, index) in left {
        let database = Arc::downgrade(database);
        tokio::spawn(async move {
            let Some(database) = database.upgrade() else { return };
            let tables = database.tables.clone();
            let _lease = tables.services().leases().take(&format!("build of index {index}")).await;
            if let Err(error) = build(database, table, index).await {
                tracing::warn!(%error, index, "an index build could not be finished");
            }
        });
    }
}
