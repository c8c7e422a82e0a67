//! What a statement reads: the store at a snapshot, with the transaction's own writes over it.
//!
//! Invariant: a row comes once, in key order, whether it is in the store, in the overlay or in both. A table that the transaction
//! has not written costs nothing extra.

use super::overlay::{Overlay, OverlayCursor};
use super::raw_rows::{VisibleRows, is_raw};
use super::row_change::{ChangedRow, RowChange};
use crate::catalog::CELLS;
use crate::failure::store_error;
use crate::row::raw::RowOfCells;
use crate::tables::Tables;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use stoa_pg::{PgError, PgResult};
use stoa_store::{
    CellRef, Enough, FamilyId, History, HistorySpec, KeyRange, ReadSpec, RowSink, Scan, ScanSpec, Snapshot, Store, TableId, Timestamp,
    Watch,
};

/// A consistent view for one statement. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ReadView {
    pub store: Arc<dyn Store>,
    pub snapshot: Arc<dyn Snapshot>,
    pub overlay: Overlay,
}

/// A scan of one key range.
#[derive(Clone, Debug)]
pub struct RangeRead {
    pub table: TableId,
    /// The first must be the table's first family.
    pub families: Vec<FamilyId>,
    pub range: KeyRange,
    pub reverse: bool,
    pub limit: Option<u64>,
    /// Whether what is read is worth keeping in the cache.
    pub fill_cache: bool,
}

impl Tables {
    /// Everything that is committed, without anybody's own writes.
    #[must_use]
    pub fn newest(&self) -> ReadView {
        ReadView { store: Arc::clone(self.store()), snapshot: self.store().snapshot(), overlay: Overlay::default() }
    }
}

impl ReadView {
    fn read_spec(&self, table: TableId, families: Vec<FamilyId>) -> ReadSpec {
        ReadSpec { table, families, qualifiers: None, versions: 1, time_range: None, snapshot: Arc::clone(&self.snapshot) }
    }

    /// Reads rows by key, in the order of `keys`; absent rows are skipped.
    ///
    /// # Errors
    /// The store failed.
    pub async fn get(&self, table: TableId, families: Vec<FamilyId>, keys: &[&[u8]], sink: &mut dyn RowSink) -> PgResult<()> {
        if keys.is_empty() {
            return Ok(());
        }
        if is_raw(&families) {
            let mut rows = VisibleRows::of(&self.store, table, None).await?;
            self.get_cells(table, families, keys, &mut rows.before(sink)).await?;
            return rows.check();
        }
        self.get_cells(table, families, keys, sink).await
    }

    /// What rows of a raw table have for who writes them, in the order of the keys.
    ///
    /// # Errors
    /// The store failed; XX001 for cells that cannot be read.
    pub async fn rows_of_cells(&self, table: TableId, keys: &[&[u8]]) -> PgResult<Vec<RowOfCells>> {
        let mut rows = VisibleRows::of(&self.store, table, None).await?;
        let mut found = HashMap::new();
        self.get_cells(table, vec![CELLS], keys, &mut rows.for_writing(&mut found)).await?;
        rows.check()?;
        Ok(keys.iter().map(|key| found.get(*key).cloned().unwrap_or_default()).collect())
    }

    async fn get_cells(&self, table: TableId, families: Vec<FamilyId>, keys: &[&[u8]], sink: &mut dyn RowSink) -> PgResult<()> {
        let spec = self.read_spec(table, families);
        if !self.overlay.touches(table) {
            return self.store.get(&spec, keys, sink).await.map_err(store_error);
        }
        let mut changes: Vec<(usize, RowChange)> = Vec::new();
        let mut change = RowChange::default();
        for (at, key) in keys.iter().enumerate() {
            if self.overlay.get(table, key, &mut change)?.is_some() {
                changes.push((at, std::mem::take(&mut change)));
            }
        }
        // One call for all: changes are laid over the rows that come. A row that was written whole is not asked for.
        let whole =
            |at: usize| changes.binary_search_by_key(&at, |(of, _)| *of).is_ok_and(|n| changes.get(n).is_some_and(|(_, c)| c.reset()));
        let stored: Vec<&[u8]> = keys.iter().enumerate().filter(|(at, _)| !whole(*at)).map(|(_, key)| *key).collect();
        let mut merge = MergeKeys { keys, changes: &changes, at: 0, families: &spec.families, sink };
        if !stored.is_empty() && self.get_stored(&spec, &stored, &mut merge).await?.is_break() {
            return Ok(());
        }
        let _ = merge.emit_before(None);
        Ok(())
    }

    /// Reads rows of the store; tells whether the sink has enough.
    async fn get_stored(&self, spec: &ReadSpec, keys: &[&[u8]], sink: &mut dyn RowSink) -> PgResult<ControlFlow<()>> {
        let mut sink = Stopping { sink, flow: ControlFlow::Continue(()) };
        self.store.get(spec, keys, &mut sink).await.map_err(store_error)?;
        Ok(sink.flow)
    }

    /// Which of the keys have a row, in the order of the keys.
    ///
    /// # Errors
    /// The store failed.
    pub async fn exists(&self, table: TableId, first_family: FamilyId, keys: &[&[u8]]) -> PgResult<Vec<bool>> {
        if keys.len() >= KEYS_OF_A_RANGE && keys.is_sorted() && self.is_vacant(table, first_family, keys).await? {
            return Ok(vec![false; keys.len()]);
        }
        let mut seen = SeenKeys { keys, at: 0, found: vec![false; keys.len()] };
        self.get(table, vec![first_family], keys, &mut seen).await?;
        Ok(seen.found)
    }

    /// Whether there is no row at all from the first to the last of some ascending keys, as where rows are loaded in the order of their keys.
    async fn is_vacant(&self, table: TableId, first_family: FamilyId, keys: &[&[u8]]) -> PgResult<bool> {
        if is_raw(&[first_family]) {
            return Ok(false);
        }
        let (Some(first), Some(last)) = (keys.first(), keys.last()) else { return Ok(true) };
        if self.overlay.may_touch(table, first, last) {
            return Ok(false);
        }
        let range = KeyRange::new(first.to_vec(), KeyRange::point(last).end);
        let spec = ScanSpec { read: self.read_spec(table, vec![first_family]), range, reverse: false, limit: Some(1), fill_cache: true };
        let mut found = AnyRow(false);
        let mut scan = self.store.scan(spec).await.map_err(store_error)?;
        while !found.0 && scan.next_block(1, &mut found).await.map_err(store_error)? {}
        Ok(!found.0)
    }

    /// Opens a scan.
    ///
    /// # Errors
    /// The store failed.
    pub async fn scan(&self, read: RangeRead) -> PgResult<ViewScan> {
        let merged = self.overlay.touches(read.table);
        let rows = self.visible_rows(&read).await?;
        let spec = ScanSpec {
            read: self.read_spec(read.table, read.families.clone()),
            range: read.range.clone(),
            reverse: read.reverse,
            // Rows may be deleted in the overlay: the store must go on behind the limit.
            limit: if merged || rows.is_some() { None } else { read.limit },
            fill_cache: read.fill_cache,
        };
        let scan = self.store.scan(spec).await.map_err(store_error)?;
        let overlay = if merged {
            let cursor = self.overlay.cursor(read.table, read.range, read.reverse)?;
            Some(Merge { cursor, families: read.families, reverse: read.reverse, pending: None, failed: None })
        } else {
            None
        };
        Ok(ViewScan { scan, overlay, store_done: false, rows })
    }

    /// What stands between the cells of a raw table and who reads rows.
    async fn visible_rows(&self, read: &RangeRead) -> PgResult<Option<VisibleRows>> {
        if !is_raw(&read.families) {
            return Ok(None);
        }
        Ok(Some(VisibleRows::of(&self.store, read.table, read.limit).await?))
    }

    /// Opens a scan over many ranges, which come in the order of the scan and are apart from each other; `read` has all but the range,
    /// and its limit is for all of them. `None` for a table that the transaction has written, whose ranges are read one by one.
    ///
    /// # Errors
    /// The store failed.
    pub async fn scan_parts(&self, read: RangeRead, ranges: Vec<KeyRange>) -> PgResult<Option<ViewScan>> {
        if self.overlay.touches(read.table) {
            return Ok(None);
        }
        let (Some(first), Some(last)) = (ranges.first(), ranges.last()) else { return Ok(None) };
        let (first, last) = if read.reverse { (last, first) } else { (first, last) };
        let rows = self.visible_rows(&read).await?;
        let spec = ScanSpec {
            read: self.read_spec(read.table, read.families),
            range: KeyRange::new(first.start.clone(), last.end.clone()),
            reverse: read.reverse,
            limit: if rows.is_some() { None } else { read.limit },
            fill_cache: read.fill_cache,
        };
        // One for all: to open a scan, or to ask a store for one more, costs more than to read a few rows.
        let scan = self.store.scan_parts(spec, ranges.into()).await.map_err(store_error)?;
        Ok(Some(ViewScan { scan, overlay: None, store_done: false, rows }))
    }

    /// Reads many ranges, ascending and apart from each other, to their ends or until the sink breaks; `read` has all but the range.
    ///
    /// # Errors
    /// The store failed.
    pub async fn scan_ranges(&self, read: RangeRead, ranges: &[KeyRange], block_rows: usize, sink: &mut dyn RowSink) -> PgResult<()> {
        let mut sink = Stopping { sink, flow: ControlFlow::Continue(()) };
        if ranges.len() > 1
            && let Some(mut scan) = self.scan_parts(read.clone(), ranges.to_vec()).await?
        {
            while sink.flow.is_continue() && scan.next_block(block_rows, &mut sink).await? {}
            return Ok(());
        }
        for range in ranges {
            if sink.flow.is_break() {
                break;
            }
            let mut scan = self.scan(RangeRead { range: range.clone(), ..read.clone() }).await?;
            while sink.flow.is_continue() && scan.next_block(block_rows, &mut sink).await? {}
        }
        Ok(())
    }

    /// Opens the histories of the rows of a range: what was committed by now.
    ///
    /// # Errors
    /// The store failed.
    pub async fn history(&self, table: TableId, families: Vec<FamilyId>, range: KeyRange) -> PgResult<Box<dyn History>> {
        let spec = HistorySpec { table, families, range, snapshot: Arc::clone(&self.snapshot) };
        self.store.history(spec).await.map_err(store_error)
    }

    /// The same store at an earlier time, without the transaction's own writes.
    ///
    /// # Errors
    /// 72000 for a time that the store has forgotten.
    pub fn as_of(&self, at: Timestamp) -> PgResult<Self> {
        let snapshot = self.store.snapshot_at(at).map_err(store_error)?;
        Ok(Self { store: Arc::clone(&self.store), snapshot, overlay: Overlay::default() })
    }

    /// What is stored, without the transaction's own writes.
    #[must_use]
    pub fn stored(&self) -> Self {
        Self { overlay: Overlay::default(), ..self.clone() }
    }

    /// The tables that it reads.
    #[must_use]
    pub fn tables(&self) -> Tables {
        Tables::new(Arc::clone(&self.store))
    }

    pub fn watch(&self, table: TableId, range: &KeyRange) -> Option<Arc<Watch>> {
        self.store.watch(table, range, &self.snapshot)
    }

    /// The bytes of some ranges, without a look at their rows: cheap enough to be asked before every read.
    ///
    /// # Errors
    /// The store failed.
    pub async fn approximate_bytes(&self, table: TableId, ranges: &[KeyRange]) -> PgResult<u64> {
        let mut bytes = 0u64;
        for range in ranges {
            bytes = bytes.saturating_add(self.store.approximate_bytes(table, range).await.map_err(store_error)?);
        }
        Ok(bytes)
    }

    /// The view's time.
    #[must_use]
    pub fn timestamp(&self) -> Timestamp {
        self.snapshot.timestamp()
    }
}

/// Ascending keys of which it is asked first whether there is anything between them.
const KEYS_OF_A_RANGE: usize = 64;

/// Whether a row came.
struct AnyRow(bool);

impl RowSink for AnyRow {
    fn row(&mut self, _: &[u8], _: &[CellRef<'_>]) -> ControlFlow<()> {
        self.0 = true;
        ControlFlow::Break(())
    }
}

/// Marks the keys that were found; rows come in the order of the keys.
struct SeenKeys<'a> {
    keys: &'a [&'a [u8]],
    at: usize,
    found: Vec<bool>,
}

impl RowSink for SeenKeys<'_> {
    fn row(&mut self, key: &[u8], _: &[CellRef<'_>]) -> ControlFlow<()> {
        while let Some(wanted) = self.keys.get(self.at) {
            self.at += 1;
            if *wanted == key {
                if let Some(found) = self.found.get_mut(self.at - 1) {
                    *found = true;
                }
                break;
            }
        }
        ControlFlow::Continue(())
    }
}

/// Remembers that a sink broke.
struct Stopping<'a> {
    sink: &'a mut dyn RowSink,
    flow: ControlFlow<()>,
}

impl RowSink for Stopping<'_> {
    fn row(&mut self, key: &[u8], cells: &[CellRef<'_>]) -> ControlFlow<()> {
        self.flow = self.sink.row(key, cells);
        self.flow
    }

    fn enough(&self) -> Enough {
        self.sink.enough()
    }
}

/// Lays changes over rows that come in the order of their keys.
struct MergeKeys<'a> {
    keys: &'a [&'a [u8]],
    /// Ascending positions among the keys, and the changes of those rows that are still to come.
    changes: &'a [(usize, RowChange)],
    at: usize,
    families: &'a [FamilyId],
    sink: &'a mut dyn RowSink,
}

impl<'a> MergeKeys<'a> {
    /// The change of the row at the present position.
    fn take_change(&mut self) -> Option<&'a RowChange> {
        let ((of, change), rest) = self.changes.split_first()?;
        if *of != self.at {
            return None;
        }
        self.changes = rest;
        Some(change)
    }

    /// Gives the rows up to a key (all that are left without one) that the store does not have.
    fn emit_before(&mut self, key: Option<&[u8]>) -> ControlFlow<()> {
        while let Some(wanted) = self.keys.get(self.at).filter(|wanted| Some(**wanted) != key) {
            let change = self.take_change();
            self.at += 1;
            if let Some(change) = change {
                emit(wanted, &[], change, self.families, self.sink)?;
            }
        }
        ControlFlow::Continue(())
    }
}

impl RowSink for MergeKeys<'_> {
    fn row(&mut self, key: &[u8], cells: &[CellRef<'_>]) -> ControlFlow<()> {
        self.emit_before(Some(key))?;
        let change = self.take_change();
        self.at += 1;
        match change {
            Some(change) => emit(key, cells, change, self.families, self.sink),
            None => self.sink.row(key, cells),
        }
    }
}

/// Gives a row as it is after a change, if it still exists.
fn emit(key: &[u8], stored: &[CellRef<'_>], change: &RowChange, families: &[FamilyId], sink: &mut dyn RowSink) -> ControlFlow<()> {
    let mut cells: Vec<CellRef<'_>> = Vec::with_capacity(stored.len() + 2);
    for family in families {
        let from = cells.len();
        if !change.reset() {
            let untouched = |c: &&CellRef<'_>| c.family == *family && !change.cells().any(|(f, q, _)| f == c.family && *q == *c.qualifier);
            cells.extend(stored.iter().filter(untouched));
        }
        for (_, qualifier, value) in change.cells().filter(|(f, ..)| f == family) {
            if let Some(value) = value {
                cells.push(CellRef { family: *family, qualifier, timestamp: Timestamp(u64::MAX), value });
            }
        }
        if let Some(own) = cells.get_mut(from..).filter(|own| own.len() > 1) {
            own.sort_by(|a, b| a.qualifier.cmp(b.qualifier));
        }
    }
    // The first family has a cell of every row that exists.
    if cells.first().is_none_or(|c| Some(&c.family) != families.first()) {
        return ControlFlow::Continue(());
    }
    sink.row(key, &cells)
}

/// A row of the store that had to wait for rows of the overlay.
struct OwnedRow {
    key: Vec<u8>,
    cells: Vec<(FamilyId, Vec<u8>, Timestamp, Vec<u8>)>,
}

/// Rows of the overlay, and what they wait for.
struct Merge {
    cursor: OverlayCursor,
    families: Vec<FamilyId>,
    reverse: bool,
    pending: Option<OwnedRow>,
    /// Why the overlay could not be read.
    failed: Option<PgError>,
}

impl Merge {
    /// Reads the cursor's next row; false at the end and after a failure.
    fn take(&mut self) -> bool {
        match self.cursor.take() {
            Ok(more) => more,
            Err(error) => {
                self.failed = Some(error);
                false
            }
        }
    }

    /// Gives rows of the overlay before `key` (all that are left without one) until the sink breaks.
    fn emit_before(&mut self, key: Option<&[u8]>, sink: &mut dyn RowSink) -> ControlFlow<()> {
        while let Some(next) = self.cursor.peek() {
            let before = key.is_none_or(|key| if self.reverse { next > key } else { next < key });
            if !before {
                break;
            }
            if !self.take() {
                return ControlFlow::Break(());
            }
            emit(self.cursor.key(), &[], self.cursor.change(), &self.families, sink)?;
        }
        ControlFlow::Continue(())
    }

    /// Gives a row of the store, changed as the overlay says.
    fn emit_stored(&mut self, key: &[u8], cells: &[CellRef<'_>], sink: &mut dyn RowSink) -> ControlFlow<()> {
        if self.cursor.peek() != Some(key) {
            return sink.row(key, cells);
        }
        if !self.take() {
            return ControlFlow::Break(());
        }
        emit(key, cells, self.cursor.change(), &self.families, sink)
    }
}

struct MergeSink<'a> {
    merge: &'a mut Merge,
    sink: &'a mut dyn RowSink,
    broke: bool,
}

impl RowSink for MergeSink<'_> {
    fn row(&mut self, key: &[u8], cells: &[CellRef<'_>]) -> ControlFlow<()> {
        if self.merge.emit_before(Some(key), self.sink).is_break() {
            // The sink has enough, and this row must not be lost.
            let cells = cells.iter().map(|c| (c.family, c.qualifier.to_vec(), c.timestamp, c.value.to_vec())).collect();
            self.merge.pending = Some(OwnedRow { key: key.to_vec(), cells });
            self.broke = true;
            return ControlFlow::Break(());
        }
        let flow = self.merge.emit_stored(key, cells, self.sink);
        self.broke = flow.is_break();
        flow
    }
}

/// An open scan over a [`ReadView`].
pub struct ViewScan {
    scan: Box<dyn Scan>,
    overlay: Option<Merge>,
    store_done: bool,
    /// Of a raw table.
    rows: Option<VisibleRows>,
}

impl ViewScan {
    /// Goes on with a part of the scan's range, behind those before.
    ///
    /// # Errors
    /// XX000 for a table that the transaction has written; what the store reports.
    pub fn restrict_to(&mut self, part: &KeyRange) -> PgResult<()> {
        if self.overlay.is_some() {
            return Err(PgError::internal("a scan over changed rows has no parts"));
        }
        self.scan.restrict_to(part).map_err(store_error)
    }

    /// Pushes rows into the sink until it breaks, about `max_rows` were pushed, or the range ends. False at the end.
    ///
    /// # Errors
    /// The store failed.
    pub async fn next_block(&mut self, max_rows: usize, sink: &mut dyn RowSink) -> PgResult<bool> {
        let Some(mut rows) = self.rows.take() else { return self.next_cells(max_rows, sink).await };
        let more = self.next_cells(max_rows, &mut rows.before(sink)).await;
        let checked = rows.check();
        let done = rows.is_done();
        self.rows = Some(rows);
        checked?;
        Ok(more? && !done)
    }

    async fn next_cells(&mut self, max_rows: usize, sink: &mut dyn RowSink) -> PgResult<bool> {
        if self.overlay.is_none() {
            return self.scan.next_block(max_rows, sink).await.map_err(store_error);
        }
        let more = self.next_merged(max_rows, sink).await;
        match self.overlay.as_mut().and_then(|merge| merge.failed.take()) {
            Some(error) => Err(error),
            None => more,
        }
    }

    async fn next_merged(&mut self, max_rows: usize, sink: &mut dyn RowSink) -> PgResult<bool> {
        let Some(merge) = &mut self.overlay else { return Ok(false) };
        if let Some(row) = merge.pending.take() {
            if merge.emit_before(Some(&row.key), sink).is_break() {
                merge.pending = Some(row);
                return Ok(true);
            }
            let cells: Vec<CellRef<'_>> = row
                .cells
                .iter()
                .map(|(family, qualifier, timestamp, value)| CellRef { family: *family, qualifier, timestamp: *timestamp, value })
                .collect();
            if merge.emit_stored(&row.key, &cells, sink).is_break() {
                return Ok(true);
            }
        }
        if !self.store_done {
            let mut sink = MergeSink { merge: &mut *merge, sink: &mut *sink, broke: false };
            let more = self.scan.next_block(max_rows, &mut sink).await.map_err(store_error)?;
            let broke = sink.broke;
            self.store_done = !more;
            if more || broke {
                return Ok(true);
            }
        }
        if merge.emit_before(None, sink).is_break() {
            return Ok(true);
        }
        Ok(false)
    }
}
