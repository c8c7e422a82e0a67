//! Large objects in a transaction: what is read and written of their rows, and which of them it has opened.
//!
//! They are rows like any others: versions, savepoints, what a transaction holds in memory and how it is committed are those of tables.
//!
//! Invariant: rows of an object are written behind the lock of its description, and by one operation of the session at a time
//! ([`Transaction::large_object_turn`]); how long an object is and what a page has is looked at behind the lock, in what is committed by then.

use super::transaction::Transaction;
use super::view::{RangeRead, ReadView};
use crate::catalog::Oid;
use crate::catalog::large_object::{
    LARGE_OBJECT_FAMILY, LargeObject, MAX_LARGE_OBJECT_BYTES, PAGE_BYTES, description_key, descriptions, of_description_key, of_page_key,
    page_key, pages,
};
use crate::catalog::store::{LARGE_OBJECT_TABLE, decode, encode, note_large_objects};
use crate::row::KeyList;
use crate::services::locks::{LockId, LockStrength, LockWait};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_store::{CellRef, KeyRange};

/// Rows that are read at once.
const BLOCK_ROWS: usize = 512;
/// Reads of more than these bytes leave the cache as it is.
const CACHED_BYTES: usize = 1 << 20;

fn page_of(offset: i64) -> PgResult<u32> {
    u32::try_from(offset / PAGE_BYTES as i64).map_err(|_| PgError::internal("an offset that no large object has"))
}

fn start_of(page: u32) -> i64 {
    i64::from(page) * PAGE_BYTES as i64
}

/// 42704.
#[must_use]
pub fn undefined_large_object(oid: Oid) -> PgError {
    PgError::new(SqlState::UNDEFINED_OBJECT, format!("large object {oid} does not exist"))
}

/// An object that is open: until its transaction ends, or the savepoint goes back under which it was opened.
#[derive(Clone, Debug)]
pub struct OpenObject {
    pub oid: Oid,
    pub offset: i64,
    /// What is read; `None`: it is open for writing, and what is newest is read.
    pub view: Option<ReadView>,
    /// Savepoints that there were.
    depth: usize,
}

/// The open objects of a transaction, by their numbers.
#[derive(Debug, Default)]
pub(super) struct OpenObjects(Vec<Option<OpenObject>>);

impl OpenObjects {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// What was opened under more savepoints than these is closed.
    pub(super) fn roll_back_to(&mut self, depth: usize) {
        self.0.iter_mut().filter(|open| open.as_ref().is_some_and(|open| open.depth > depth)).for_each(|open| *open = None);
    }

    /// Of savepoints so many are left; the others have joined them.
    pub(super) fn release(&mut self, depth: usize) {
        self.0.iter_mut().flatten().for_each(|open| open.depth = open.depth.min(depth));
    }

    fn open(&mut self, object: OpenObject) -> usize {
        match self.0.iter().position(Option::is_none) {
            Some(free) => {
                self.0.iter_mut().skip(free).take(1).for_each(|slot| *slot = Some(object.clone()));
                free
            }
            None => {
                self.0.push(Some(object));
                self.0.len() - 1
            }
        }
    }
}

impl ReadView {
    /// What is known of an object, if it is there.
    ///
    /// # Errors
    /// The store failed; XX001.
    pub async fn large_object(&self, database: Oid, oid: Oid) -> PgResult<Option<LargeObject>> {
        let mut cell = None;
        let mut sink = |_: &[u8], cells: &[CellRef<'_>]| {
            cell = cells.first().map(|c| c.value.to_vec());
            ControlFlow::Continue(())
        };
        self.get(LARGE_OBJECT_TABLE, vec![LARGE_OBJECT_FAMILY], &[&description_key(database, oid)], &mut sink).await?;
        cell.map(|cell| decode(&cell)).transpose()
    }

    /// All objects of a database, or of all of them, in the order of their numbers.
    ///
    /// # Errors
    /// The store failed; XX001; those of `take`.
    pub async fn large_objects(
        &self,
        database: Option<Oid>,
        take: &mut (dyn FnMut(Oid, Oid, LargeObject) -> PgResult<()> + Send),
    ) -> PgResult<()> {
        let mut outcome = Ok(());
        let mut sink = |key: &[u8], cells: &[CellRef<'_>]| {
            let (Some((database, oid)), Some(cell)) = (of_description_key(key), cells.first()) else { return ControlFlow::Continue(()) };
            outcome = decode(cell.value).and_then(|object| take(database, oid, object));
            if outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        self.scan_ranges(large_object_read(descriptions(database), true), &[descriptions(database)], BLOCK_ROWS, &mut sink).await?;
        outcome
    }

    /// The bytes of an object.
    ///
    /// # Errors
    /// The store failed.
    pub async fn large_object_bytes(&self, database: Oid, oid: Oid) -> PgResult<i64> {
        let mut bytes = 0;
        let mut sink = |key: &[u8], cells: &[CellRef<'_>]| {
            if let (Some((.., page)), Some(cell)) = (of_page_key(key), cells.first()) {
                bytes = start_of(page) + cell.value.len() as i64;
            }
            ControlFlow::Break(())
        };
        let read = large_object_read(pages(database, Some(oid), 0), true);
        let mut scan = self.scan(RangeRead { reverse: true, limit: Some(1), ..read }).await?;
        scan.next_block(1, &mut sink).await?;
        Ok(bytes)
    }

    /// The bytes of an object from an offset on: at most so many, fewer at its end.
    ///
    /// # Errors
    /// The store failed.
    pub async fn read_large_object(&self, database: Oid, oid: Oid, offset: i64, length: usize) -> PgResult<Vec<u8>> {
        let end = offset.saturating_add(i64::try_from(length).unwrap_or(i64::MAX)).min(MAX_LARGE_OBJECT_BYTES);
        if offset < 0 || end <= offset {
            return Ok(Vec::new());
        }
        let length = usize::try_from(end - offset).unwrap_or(0);
        let range = pages(database, Some(oid), page_of(offset)?);
        // One more than may be read: that there is one says that what is missing before it is zeros.
        let limit = u64::from(page_of(end - 1)? - page_of(offset)?) + 2;
        let mut out: Vec<u8> = Vec::new();
        let mut sink = |key: &[u8], cells: &[CellRef<'_>]| {
            let (Some((.., page)), Some(cell)) = (of_page_key(key), cells.first()) else { return ControlFlow::Continue(()) };
            let at = offset + out.len() as i64;
            let from = start_of(page);
            // What is missing before a page is zeros.
            out.resize(length.min(out.len() + usize::try_from(from - at).unwrap_or(0)), 0);
            let skipped = usize::try_from(at - from).unwrap_or(0);
            let left = length - out.len();
            let bytes = cell.value.get(skipped..).unwrap_or_default();
            out.extend_from_slice(bytes.get(..left).unwrap_or(bytes));
            if out.len() < length { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let read = RangeRead { limit: Some(limit), ..large_object_read(range.clone(), length <= CACHED_BYTES) };
        self.scan_ranges(read, &[range], BLOCK_ROWS, &mut sink).await?;
        Ok(out)
    }
}

/// A read of rows of large objects.
#[must_use]
pub fn large_object_read(range: KeyRange, fill_cache: bool) -> RangeRead {
    RangeRead { table: LARGE_OBJECT_TABLE, families: vec![LARGE_OBJECT_FAMILY], range, reverse: false, limit: None, fill_cache }
}

impl Transaction {
    fn database(&self) -> Oid {
        self.transactions().database()
    }

    // Open objects.

    /// To be held while objects are looked at and changed: functions of one statement may run side by side.
    pub async fn large_object_turn(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.object_turn.lock().await
    }

    /// Opens an object that is there: for reading what the statement sees, or for writing. Its number comes back.
    #[must_use]
    pub fn open_large_object(&self, oid: Oid, write: bool) -> usize {
        let object = OpenObject { oid, offset: 0, view: (!write).then(|| self.read_view()), depth: self.savepoints() };
        self.open_objects.lock().open(object)
    }

    /// The open object with a number.
    #[must_use]
    pub fn opened_large_object(&self, number: usize) -> Option<OpenObject> {
        self.open_objects.lock().0.get(number).cloned().flatten()
    }

    /// Goes to a place in an open object.
    pub fn seek_large_object(&self, number: usize, offset: i64) {
        self.open_objects.lock().0.iter_mut().skip(number).take(1).flatten().for_each(|open| open.offset = offset);
    }

    /// Closes an open object.
    pub fn close_large_object(&self, number: usize) {
        self.open_objects.lock().0.iter_mut().skip(number).take(1).for_each(|open| *open = None);
    }

    // Changes.

    /// Locks an object for writing, if nobody else has it: `Some` if it is locked, with whether it was not before. What was there when it was
    /// locked is there as long as it is.
    #[must_use]
    pub fn try_lock_large_object(&self, oid: Oid) -> Option<bool> {
        self.try_lock_row(LockId::row(LARGE_OBJECT_TABLE, &description_key(self.database(), oid)), LockStrength::Update)
    }

    /// Locks an object for writing; it need not be there.
    ///
    /// # Errors
    /// 55P03, 40P01.
    pub async fn lock_large_object(&self, oid: Oid) -> PgResult<()> {
        let mut keys = KeyList::new();
        keys.push(&description_key(self.database(), oid));
        self.lock_rows(LARGE_OBJECT_TABLE, &keys, LockStrength::Update, LockWait::Wait, "pg_largeobject_metadata").await.map(|_| ())
    }

    /// Makes an object, or replaces what is known of one. It must be locked.
    ///
    /// # Errors
    /// The store failed; those of [`Transaction::write`].
    pub async fn put_large_object(&self, oid: Oid, object: &LargeObject) -> PgResult<()> {
        if !self.transactions().noted_large_objects().load(Ordering::Relaxed) {
            note_large_objects(&**self.transactions().store()).await?;
            self.transactions().noted_large_objects().store(true, Ordering::Relaxed);
        }
        let (key, cell) = (description_key(self.database(), oid), encode(object)?);
        self.write(|set| set.put(LARGE_OBJECT_TABLE, &key, LARGE_OBJECT_FAMILY, &[], Some(&cell)))
    }

    /// Writes bytes into an object, from an offset on. It must be locked, and be there.
    ///
    /// # Errors
    /// 22023 for more than an object can have; the store failed; those of [`Transaction::write`].
    pub async fn write_large_object(&self, oid: Oid, offset: i64, bytes: &[u8]) -> PgResult<()> {
        let end =
            i64::try_from(bytes.len()).ok().and_then(|length| offset.checked_add(length)).filter(|end| *end <= MAX_LARGE_OBJECT_BYTES);
        let Some(end) = end else {
            let message = format!("invalid large object write request size: {}", bytes.len());
            return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, message));
        };
        if bytes.is_empty() {
            return Ok(());
        }
        let (first, last) = (page_of(offset)?, page_of(end - 1)?);
        // Pages that are written whole need not be read.
        let is_whole = |page: u32| offset <= start_of(page) && start_of(page) + PAGE_BYTES as i64 <= end;
        let wanted: &[u32] = match (is_whole(first), is_whole(last)) {
            (true, true) => &[],
            (false, true) => &[first],
            (true, false) => &[last],
            (false, false) if first == last => &[first],
            (false, false) => &[first, last],
        };
        let mut edges = self.edges(oid, wanted).await?;
        let mut page = first;
        let mut rest = bytes;
        let mut within = usize::try_from(offset - start_of(first)).unwrap_or(0);
        self.write(|set| {
            while !rest.is_empty() {
                let (part, after) = rest.split_at((PAGE_BYTES - within).min(rest.len()));
                let key = page_key(self.database(), oid, page);
                let mut put = |cell: &[u8]| set.put(LARGE_OBJECT_TABLE, &key, LARGE_OBJECT_FAMILY, &[], Some(cell));
                if part.len() == PAGE_BYTES {
                    put(part);
                } else {
                    let mut whole = edges.take(page);
                    if whole.len() < within + part.len() {
                        whole.resize(within + part.len(), 0);
                    }
                    whole.iter_mut().skip(within).zip(part).for_each(|(to, from)| *to = *from);
                    put(&whole);
                }
                (rest, within, page) = (after, 0, page.saturating_add(1));
            }
        })
    }

    /// What some pages of an object have.
    async fn edges(&self, oid: Oid, wanted: &[u32]) -> PgResult<Edges> {
        let keys: Vec<Vec<u8>> = wanted.iter().map(|page| page_key(self.database(), oid, *page)).collect();
        let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        let mut edges = Edges::default();
        let mut sink = |key: &[u8], cells: &[CellRef<'_>]| {
            if let (Some((.., page)), Some(cell)) = (of_page_key(key), cells.first()) {
                edges.0.push((page, cell.value.to_vec()));
            }
            ControlFlow::Continue(())
        };
        self.newest_view().get(LARGE_OBJECT_TABLE, vec![LARGE_OBJECT_FAMILY], &keys, &mut sink).await?;
        Ok(edges)
    }

    /// Makes an object as long as this: what is behind goes, and what is missing is zeros. It must be locked, and be there.
    ///
    /// # Errors
    /// The store failed; those of [`Transaction::write`].
    pub async fn truncate_large_object(&self, oid: Oid, length: i64) -> PgResult<()> {
        let last = page_of(length)?;
        let mut page = self.edges(oid, &[last]).await?.take(last);
        page.resize(usize::try_from(length - start_of(last)).unwrap_or(0), 0);
        self.delete_pages(oid, last.saturating_add(1)).await?;
        let key = page_key(self.database(), oid, last);
        self.write(|set| set.put(LARGE_OBJECT_TABLE, &key, LARGE_OBJECT_FAMILY, &[], Some(&page)))
    }

    /// Removes an object, and closes it where it is open. It must be locked.
    ///
    /// # Errors
    /// The store failed; those of [`Transaction::write`].
    pub async fn remove_large_object(&self, oid: Oid) -> PgResult<()> {
        self.open_objects
            .lock()
            .0
            .iter_mut()
            .filter(|open| open.as_ref().is_some_and(|open| open.oid == oid))
            .for_each(|open| *open = None);
        self.delete_pages(oid, 0).await?;
        let key = description_key(self.database(), oid);
        self.write(|set| set.delete(LARGE_OBJECT_TABLE, &key))
    }

    async fn delete_pages(&self, oid: Oid, from: u32) -> PgResult<()> {
        let range = pages(self.database(), Some(oid), from);
        let mut scan = self.newest_view().scan(large_object_read(range, false)).await?;
        loop {
            let mut keys = KeyList::new();
            let mut sink = |key: &[u8], _: &[CellRef<'_>]| {
                keys.push(key);
                ControlFlow::Continue(())
            };
            let more = scan.next_block(BLOCK_ROWS, &mut sink).await?;
            self.write(|set| keys.iter().for_each(|key| set.delete(LARGE_OBJECT_TABLE, key)))?;
            if !more {
                return Ok(());
            }
        }
    }
}

/// Pages that are written in part.
#[derive(Default)]
struct Edges(Vec<(u32, Vec<u8>)>);

impl Edges {
    fn take(&mut self, page: u32) -> Vec<u8> {
        self.0.iter_mut().find(|(known, _)| *known == page).map(|(_, bytes)| std::mem::take(bytes)).unwrap_or_default()
    }
}
