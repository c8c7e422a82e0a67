//! Reading: a cursor for each family, merged by row key.
//!
//! A cursor stands on a row that has something to show, or is at its end. [`PlainCursor`] hands out bytes where RocksDB has
//! them; [`VersionedCursor`] gathers the visible versions of a row, which takes a copy, since the iterator moves on.

use crate::cached_ranges::Fill;
use crate::database::{ColumnFamily, RocksSnapshot};
use crate::files::FileScan;
use crate::iterator::{IteratorOptions, OwnedIterator};
use crate::keys::{
    Form, STORAGE_ID_BYTES, TIMESTAMP_BYTES, VALUE_DELETED, VALUE_PUT, VersionedKey, push_escaped, push_unescaped, row_range,
};
use crate::metadata::Kept;
use crate::traffic::ScanTraffic;
use crate::view::{Family, LsmSnapshot, Table, Tables};
use async_trait::async_trait;
use std::ops::Range;
use std::sync::Arc;
use stoa_store::{CellRef, FamilyId, KeyRange, ReadSpec, RowSink, Scan, ScanSpec, Snapshot, StoreError, StoreResult, Timestamp};

/// Entries of one cell to walk over before it is worth to seek.
const SKIPS_BEFORE_SEEK: u32 = 16;
pub(crate) const READAHEAD_BYTES: usize = 1 << 20;

/// What is visible to a read, for one family.
#[derive(Clone, Debug)]
pub(crate) struct Visibility {
    pub family: FamilyId,
    pub storage: u32,
    pub form: Form,
    versions: u32,
    min_versions: u32,
    /// Those that were still to come at the snapshot.
    kept: Vec<Kept>,
    ttl_us: Option<u64>,
    expired_us: u64,
    timestamp: Timestamp,
    taken_us: u64,
    wanted_versions: u32,
    time_range: Option<(Timestamp, Timestamp)>,
    tables: Arc<Tables>,
    /// Escaped and closed, as in keys.
    qualifier_start: Option<Vec<u8>>,
    qualifier_end: Option<Vec<u8>>,
    no_qualifiers: bool,
}

impl Visibility {
    pub fn new(spec: &ReadSpec, snapshot: &LsmSnapshot, table: &Table, family: &Family) -> StoreResult<Self> {
        snapshot.check_history(table, family)?;
        let mut out = Self {
            family: family.id,
            storage: family.storage,
            form: family.form,
            versions: family.options.versions,
            min_versions: family.options.min_versions,
            kept: family.kept.iter().filter(|kept| kept.until > snapshot.timestamp).copied().collect(),
            ttl_us: family.ttl_us,
            expired_us: family.expired_us,
            timestamp: snapshot.timestamp,
            taken_us: snapshot.taken_us,
            wanted_versions: spec.versions,
            time_range: spec.time_range,
            tables: Arc::clone(&snapshot.view.tables),
            qualifier_start: None,
            qualifier_end: None,
            no_qualifiers: false,
        };
        if let (Form::Cells, Some(range)) = (family.form, &spec.qualifiers) {
            let escaped = |qualifier: &[u8]| {
                let mut escaped = Vec::with_capacity(qualifier.len() + 2);
                push_escaped(&mut escaped, qualifier);
                escaped
            };
            out.no_qualifiers = range.is_empty();
            out.qualifier_start = (!range.start.is_empty()).then(|| escaped(&range.start));
            out.qualifier_end = range.end.as_deref().map(escaped);
        }
        Ok(out)
    }

    /// Whether a version has expired that so many newer ones precede.
    #[inline]
    fn expired(&self, at: Timestamp, rank: u32) -> bool {
        let aged = self.ttl_us.is_some_and(|ttl| at.micros().saturating_add(ttl) <= self.taken_us);
        (aged && rank >= self.min_versions) || at.micros() <= self.expired_us
    }

    /// For [`Visibility::count`].
    fn counts(&self) -> Vec<u32> {
        vec![0; self.kept.len()]
    }

    /// Counts an entry of a cell, or a deletion, older than those before it: an error if what was before it may be gone since VERSIONS
    /// were fewer.
    fn count(&self, counts: &mut [u32], at: Timestamp) -> StoreResult<()> {
        for (kept, count) in self.kept.iter().zip(counts).filter(|(kept, _)| at <= kept.until) {
            *count += 1;
            if *count >= kept.versions {
                return Err(StoreError::SnapshotTooOld);
            }
        }
        Ok(())
    }

    #[inline]
    fn in_time_range(&self, at: Timestamp) -> bool {
        self.time_range.is_none_or(|(from, to)| from <= at && at < to)
    }

    /// The one cell of a plain entry, if it is visible.
    #[inline]
    pub fn plain<'a>(&self, value: &'a [u8]) -> StoreResult<Option<CellRef<'a>>> {
        self.plain_after(value, &mut None)
    }

    /// As [`Visibility::plain`], with what a stored timestamp means as it was found for the entry before: rows of one load follow each
    /// other.
    #[inline]
    fn plain_after<'a>(&self, value: &'a [u8], last: &mut Option<(Timestamp, Timestamp)>) -> StoreResult<Option<CellRef<'a>>> {
        let Some((stamp, value)) = value.split_first_chunk::<TIMESTAMP_BYTES>() else { return Err(damaged(self.storage)) };
        let stored = Timestamp(u64::from_be_bytes(*stamp));
        let timestamp = match *last {
            Some((same, since)) if same == stored => since,
            _ => last.insert((stored, self.tables.visible_since(stored))).1,
        };
        if self.expired(timestamp, 0) || !self.in_time_range(timestamp) || self.wanted_versions == 0 {
            return Ok(None);
        }
        Ok(Some(CellRef { family: self.family, qualifier: &[], timestamp, value }))
    }
}

pub(crate) fn damaged(storage: u32) -> StoreError {
    StoreError::Corruption(format!("an entry of storage {storage} can't be read"))
}

/// Uses the memory of a vector of cells for cells of another lifetime.
pub(crate) fn recycle<'a>(mut cells: Vec<CellRef<'_>>) -> Vec<CellRef<'a>> {
    cells.clear();
    // Collecting into the same layout keeps the allocation.
    cells.into_iter().map_while(|_| None).collect()
}

pub(crate) struct PlainCursor {
    iterator: OwnedIterator,
    /// What is read instead of the iterator.
    files: Option<Box<FileScan>>,
    /// The iterator's range, if it may be read from files.
    long: Option<(Vec<u8>, Vec<u8>)>,
    visibility: Visibility,
    reverse: bool,
}

impl PlainCursor {
    /// Whether what is to be read is read from files.
    fn open_files(&mut self, column_family: &ColumnFamily, snapshot: &RocksSnapshot, file_scan_bytes: u64) -> StoreResult<()> {
        if let Some(bounds) = self.long.take() {
            self.files = FileScan::open(column_family, self.visibility.storage, snapshot, bounds, file_scan_bytes)?.map(Box::new);
        }
        Ok(())
    }

    /// To the first entry in the direction of the scan.
    fn start(&mut self, column_family: &ColumnFamily, snapshot: &RocksSnapshot, file_scan_bytes: u64) -> StoreResult<()> {
        self.open_files(column_family, snapshot, file_scan_bytes)?;
        match &mut self.files {
            Some(files) => files.seek_to_first(),
            None if self.reverse => self.iterator.seek_to_last(),
            None => self.iterator.seek_to_first(),
        }
        Ok(())
    }

    #[inline]
    fn step(&mut self) {
        match &mut self.files {
            Some(files) => files.next(),
            None if self.reverse => self.iterator.prev(),
            None => self.iterator.next(),
        }
    }

    /// Whether it stands on an entry of what is read; an error if it stopped for one.
    #[inline]
    fn check(&self) -> StoreResult<bool> {
        self.files.as_ref().map_or_else(|| self.iterator.check(), |files| files.check())
    }

    /// Moves to a visible entry, from here on.
    fn settle(&mut self) -> StoreResult<bool> {
        while self.check()? {
            if self.cell()?.is_some() {
                return Ok(true);
            }
            self.step();
        }
        Ok(false)
    }

    fn key(&self) -> &[u8] {
        let key = self.files.as_ref().map_or_else(|| self.iterator.key(), |files| files.key());
        key.and_then(|key| key.get(STORAGE_ID_BYTES..)).unwrap_or_default()
    }

    fn cell(&self) -> StoreResult<Option<CellRef<'_>>> {
        let value = self.files.as_ref().map_or_else(|| self.iterator.value(), |files| files.item().map(|(_, value)| value));
        self.visibility.plain(value.unwrap_or_default())
    }
}

/// A cell in a row's buffer.
#[derive(Clone, Debug)]
struct BufferedCell {
    qualifier: Range<usize>,
    timestamp: Timestamp,
    value: Range<usize>,
}

pub(crate) struct VersionedCursor {
    iterator: OwnedIterator,
    visibility: Visibility,
    reverse: bool,
    /// The row's key as it is stored, and as it is.
    row: Vec<u8>,
    row_key: Vec<u8>,
    bytes: Vec<u8>,
    cells: Vec<BufferedCell>,
    /// The qualifier that is being read, escaped.
    qualifier: Vec<u8>,
    seek: Vec<u8>,
}

impl VersionedCursor {
    pub fn new(iterator: OwnedIterator, visibility: Visibility, reverse: bool) -> Self {
        Self {
            iterator,
            visibility,
            reverse,
            row: Vec::new(),
            row_key: Vec::new(),
            bytes: Vec::new(),
            cells: Vec::new(),
            qualifier: Vec::new(),
            seek: Vec::new(),
        }
    }

    /// Reads rows from here on, until one has something to show.
    fn settle(&mut self) -> StoreResult<bool> {
        while self.iterator.check()? {
            let key = self.iterator.key().unwrap_or_default();
            let parsed = VersionedKey::parse(key, self.visibility.form).ok_or_else(|| damaged(self.visibility.storage))?;
            self.row.clear();
            self.row.extend_from_slice(parsed.row);
            if self.reverse {
                self.iterator.seek(&self.row);
            }
            self.read_row()?;
            if self.reverse {
                self.iterator.seek_for_prev(&self.row);
            }
            if !self.cells.is_empty() {
                self.row_key.clear();
                push_unescaped(&mut self.row_key, self.row.get(STORAGE_ID_BYTES..).unwrap_or_default());
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads one row by its key.
    pub fn get(&mut self, key: &[u8]) -> StoreResult<bool> {
        self.row.clear();
        crate::keys::push_row_bound(&mut self.row, self.visibility.storage, self.visibility.form, key);
        self.iterator.seek(&self.row);
        self.cells.clear();
        self.bytes.clear();
        if !self.iterator.check()? {
            return Ok(false);
        }
        self.read_row()?;
        Ok(!self.cells.is_empty())
    }

    /// Gathers what is visible of the row `self.row`, on whose first entry the iterator stands, and leaves it behind the row.
    fn read_row(&mut self) -> StoreResult<()> {
        self.cells.clear();
        self.bytes.clear();
        self.qualifier.clear();
        let v = &self.visibility;
        let past_limit = |newer: u32| if newer >= v.versions { Err(StoreError::SnapshotTooOld) } else { Ok(()) };
        // Deletions of the family after the snapshot, and the newest before it.
        let mut newer_marks = 0;
        // Of deletions and of the cell, how many each alteration of VERSIONS counted.
        let (mut counted_marks, mut counted) = (v.counts(), v.counts());
        let mut hidden_below = Timestamp::default();
        // Of the cell that is being read:
        let (mut newer, mut rank, mut taken, mut done, mut skips) = (0, 0, 0, false, 0);
        let mut first = true;
        while self.iterator.check()? {
            let Some((key, value)) = self.iterator.item() else { break };
            let Some(rest) = key.strip_prefix(self.row.as_slice()) else { break };
            let parsed = parse_rest(rest, v.form).ok_or_else(|| damaged(v.storage))?;
            let (qualifier, stored) = parsed;
            let at = v.tables.visible_since(stored);
            let Some(qualifier) = qualifier else {
                if at > v.timestamp {
                    newer_marks += 1;
                    past_limit(newer_marks)?;
                    v.count(&mut counted_marks, at)?;
                } else {
                    hidden_below = hidden_below.max(at);
                }
                self.iterator.next();
                continue;
            };
            if first || qualifier != self.qualifier.as_slice() {
                if v.no_qualifiers || v.qualifier_end.as_ref().is_some_and(|end| qualifier >= end.as_slice()) {
                    seek_behind(&mut self.iterator, &mut self.seek, &[&self.row]);
                    break;
                }
                if let Some(start) = v.qualifier_start.as_ref().filter(|start| qualifier < start.as_slice()) {
                    self.seek.clear();
                    self.seek.extend_from_slice(&self.row);
                    self.seek.extend_from_slice(start);
                    self.iterator.seek(&self.seek);
                    continue;
                }
                self.qualifier.clear();
                self.qualifier.extend_from_slice(qualifier);
                (newer, rank, taken, done, skips, first) = (0, 0, 0, false, 0, false);
                counted.clone_from(&counted_marks);
            }
            if done {
                skips += 1;
                if skips > SKIPS_BEFORE_SEEK {
                    seek_behind(&mut self.iterator, &mut self.seek, &[&self.row, &self.qualifier]);
                } else {
                    self.iterator.next();
                }
                continue;
            }
            if at > v.timestamp {
                newer += 1;
                past_limit(newer + newer_marks)?;
                v.count(&mut counted, at)?;
            } else {
                let (kind, bytes) = value.split_first().ok_or_else(|| damaged(v.storage))?;
                done =
                    *kind == VALUE_DELETED || at < hidden_below || rank >= v.versions || v.expired(at, rank) || taken >= v.wanted_versions;
                if !done {
                    rank += 1;
                    if v.in_time_range(at) {
                        taken += 1;
                        let q = self.bytes.len();
                        if v.form == Form::Cells {
                            push_unescaped(&mut self.bytes, qualifier);
                        }
                        let start = self.bytes.len();
                        self.bytes.extend_from_slice(bytes);
                        self.cells.push(BufferedCell { qualifier: q..start, timestamp: at, value: start..self.bytes.len() });
                    }
                    done = *kind != VALUE_PUT;
                    let unsure = |kept: u32| rank < kept && rank + newer + newer_marks >= kept;
                    if newer + newer_marks > 0 && !done && taken < v.wanted_versions && (unsure(v.versions) || unsure(v.min_versions)) {
                        // Versions that existed then may be gone, for newer ones count as well.
                        return Err(StoreError::SnapshotTooOld);
                    }
                    if newer + newer_marks > 0 && !done && taken < v.wanted_versions {
                        v.count(&mut counted, at)?;
                    }
                }
            }
            self.iterator.next();
        }
        Ok(())
    }

    pub fn push_cells<'a>(&'a self, cells: &mut Vec<CellRef<'a>>) {
        let bytes = |range: &Range<usize>| self.bytes.get(range.clone()).unwrap_or_default();
        cells.extend(self.cells.iter().map(|cell| CellRef {
            family: self.visibility.family,
            qualifier: bytes(&cell.qualifier),
            timestamp: cell.timestamp,
            value: bytes(&cell.value),
        }));
    }
}

/// Moves behind all keys that begin with these parts, of which the last is closed with `00 01`.
fn seek_behind(iterator: &mut OwnedIterator, seek: &mut Vec<u8>, parts: &[&[u8]]) {
    seek.clear();
    parts.iter().for_each(|part| seek.extend_from_slice(part));
    if let Some(last) = seek.last_mut() {
        *last = 2;
    }
    iterator.seek(seek.as_slice());
}

/// The escaped qualifier (`None`: a mark) and the timestamp in what follows the row in a key.
fn parse_rest(rest: &[u8], form: Form) -> Option<(Option<&[u8]>, Timestamp)> {
    let (qualifier, stamp) = rest.split_last_chunk::<TIMESTAMP_BYTES>()?;
    let timestamp = Timestamp(!u64::from_be_bytes(*stamp));
    Some(((form != Form::Cells || qualifier != [0, 0]).then_some(qualifier), timestamp))
}

pub(crate) enum Cursor {
    Plain(PlainCursor),
    Versioned(Box<VersionedCursor>),
}

impl Cursor {
    fn settle(&mut self) -> StoreResult<bool> {
        match self {
            Cursor::Plain(cursor) => cursor.settle(),
            Cursor::Versioned(cursor) => cursor.settle(),
        }
    }

    fn key(&self) -> &[u8] {
        match self {
            Cursor::Plain(cursor) => cursor.key(),
            Cursor::Versioned(cursor) => &cursor.row_key,
        }
    }

    fn push_cells<'a>(&'a self, cells: &mut Vec<CellRef<'a>>) -> StoreResult<()> {
        match self {
            Cursor::Plain(cursor) => cells.extend(cursor.cell()?),
            Cursor::Versioned(cursor) => cursor.push_cells(cells),
        }
        Ok(())
    }

    /// From a row to the next one that is visible.
    fn advance(&mut self) -> StoreResult<bool> {
        if let Cursor::Plain(cursor) = self {
            cursor.step();
        }
        self.settle()
    }
}

/// An open scan.
pub(crate) struct LsmScan {
    cursors: Vec<Cursor>,
    /// Where each of them reads.
    column_families: Vec<Arc<ColumnFamily>>,
    /// Bytes of files from which on they are read here.
    file_scan_bytes: u64,
    /// Which cursors stand on a row; which stand on the row being emitted.
    on_row: Vec<bool>,
    used: Vec<bool>,
    started: bool,
    reverse: bool,
    left: u64,
    cells: Vec<CellRef<'static>>,
    /// What is read, as long as it may be cached.
    fill: Option<Fill>,
    /// `None` without a table.
    traffic: Option<ScanTraffic>,
    /// Keeps the view, and so the bytes, alive.
    snapshot: Arc<dyn Snapshot>,
}

impl LsmScan {
    /// `table` is `None` if it did not exist at the snapshot: no rows.
    pub fn open(
        spec: &ScanSpec,
        snapshot: &LsmSnapshot,
        table: Option<&Table>,
        fill: Option<Fill>,
        file_scan_bytes: u64,
    ) -> StoreResult<Self> {
        let mut cursors = Vec::with_capacity(spec.read.families.len());
        let mut column_families = Vec::with_capacity(spec.read.families.len());
        if let Some(table) = table.filter(|_| !spec.range.is_empty() && spec.limit != Some(0)) {
            for id in &spec.read.families {
                let family = table.family(*id)?;
                let visibility = Visibility::new(&spec.read, snapshot, table, family)?;
                cursors.push(open_cursor(spec, snapshot, family, visibility));
                column_families.push(Arc::clone(&family.column_family));
            }
        }
        Ok(Self {
            on_row: vec![false; cursors.len()],
            used: vec![false; cursors.len()],
            cursors,
            column_families,
            file_scan_bytes,
            started: false,
            reverse: spec.reverse,
            left: spec.limit.unwrap_or(u64::MAX),
            cells: Vec::new(),
            fill,
            traffic: table.map(|table| ScanTraffic::new(table, &spec.range, spec.reverse)),
            snapshot: Arc::clone(&spec.read.snapshot),
        })
    }

    fn start(&mut self) -> StoreResult<()> {
        let view = &LsmSnapshot::of(&self.snapshot)?.view;
        for ((cursor, column_family), on_row) in self.cursors.iter_mut().zip(&self.column_families).zip(&mut self.on_row) {
            match cursor {
                Cursor::Plain(cursor) => cursor.start(column_family, &view.snapshot, self.file_scan_bytes)?,
                Cursor::Versioned(cursor) if self.reverse => cursor.iterator.seek_to_last(),
                Cursor::Versioned(cursor) => cursor.iterator.seek_to_first(),
            }
            *on_row = cursor.settle()?;
        }
        self.started = true;
        Ok(())
    }

    pub fn block(&mut self, max_rows: usize, sink: &mut dyn RowSink) -> StoreResult<bool> {
        if !self.started {
            self.start()?;
        }
        let max_rows = u64::try_from(max_rows.max(1)).unwrap_or(u64::MAX).min(self.left);
        let traffic = self.traffic.take();
        let pushed = match &traffic {
            Some(traffic) => traffic.block(sink, |sink| self.push_rows(max_rows, sink)),
            None => self.push_rows(max_rows, sink),
        };
        self.traffic = traffic;
        let pushed = pushed?;
        if let Some(fill) = self.fill.take_if(|_| !self.on_row.contains(&true)) {
            fill.finish(&LsmSnapshot::of(&self.snapshot)?.view);
        }
        self.left -= pushed;
        Ok(self.left > 0 && self.on_row.contains(&true))
    }

    /// How many rows it has pushed.
    fn push_rows(&mut self, max_rows: u64, sink: &mut dyn RowSink) -> StoreResult<u64> {
        match self.cursors.as_mut_slice() {
            [] => Ok(0),
            [Cursor::Plain(cursor)] => plain_block(cursor, &mut self.on_row, max_rows, &mut self.fill, sink),
            _ => self.merged_block(max_rows, sink),
        }
    }

    /// Goes to a part, whose entries may be cached.
    pub fn restrict_filling(&mut self, part: &KeyRange, fill: Option<Fill>) -> StoreResult<()> {
        self.fill = fill;
        if let Some(traffic) = &mut self.traffic {
            traffic.restrict_to(part);
        }
        let view = &LsmSnapshot::of(&self.snapshot)?.view;
        for ((cursor, column_family), on_row) in self.cursors.iter_mut().zip(&self.column_families).zip(&mut self.on_row) {
            if let Cursor::Plain(cursor) = cursor {
                cursor.open_files(column_family, &view.snapshot, self.file_scan_bytes)?;
                if let Some(files) = &mut cursor.files {
                    let (lower, upper) = row_range(cursor.visibility.storage, cursor.visibility.form, &part.start, part.end.as_deref());
                    files.restrict_to(&lower, upper);
                    *on_row = cursor.settle()?;
                    continue;
                }
            }
            let (iterator, visibility, ahead) = match cursor {
                Cursor::Plain(cursor) => (&mut cursor.iterator, &cursor.visibility, false),
                // It has read a row before it is asked for it.
                Cursor::Versioned(cursor) => (&mut cursor.iterator, &cursor.visibility, true),
            };
            let (lower, upper) = row_range(visibility.storage, visibility.form, &part.start, part.end.as_deref());
            if self.reverse {
                iterator.seek_for_prev(&upper);
                if iterator.key() == Some(upper.as_slice()) {
                    iterator.prev();
                }
            } else if !self.started || ahead || iterator.key().is_none_or(|key| key < lower.as_slice()) {
                // Otherwise it stands where the part begins: nothing of it was passed.
                iterator.seek(&lower);
            }
            iterator.part = Some((lower, upper));
            *on_row = cursor.settle()?;
        }
        self.started = true;
        Ok(())
    }

    fn merged_block(&mut self, max_rows: u64, sink: &mut dyn RowSink) -> StoreResult<u64> {
        let mut pushed = 0;
        while pushed < max_rows {
            let mut best: Option<&[u8]> = None;
            for (cursor, _) in self.cursors.iter().zip(&self.on_row).filter(|(_, on_row)| **on_row) {
                let key = cursor.key();
                if best.is_none_or(|best| if self.reverse { key > best } else { key < best }) {
                    best = Some(key);
                }
            }
            let Some(key) = best else { break };
            let mut cells = recycle(std::mem::take(&mut self.cells));
            for ((cursor, on_row), used) in self.cursors.iter().zip(&self.on_row).zip(&mut self.used) {
                *used = *on_row && cursor.key() == key;
                if *used {
                    cursor.push_cells(&mut cells)?;
                }
            }
            let flow = sink.row(key, &cells);
            self.cells = recycle(cells);
            pushed += 1;
            for ((cursor, on_row), used) in self.cursors.iter_mut().zip(&mut self.on_row).zip(&self.used) {
                if *used {
                    *on_row = cursor.advance()?;
                }
            }
            if flow.is_break() {
                break;
            }
        }
        Ok(pushed)
    }
}

/// The common case without a merge: one family, one entry a row.
fn plain_block(
    cursor: &mut PlainCursor,
    on_row: &mut [bool],
    max_rows: u64,
    fill: &mut Option<Fill>,
    sink: &mut dyn RowSink,
) -> StoreResult<u64> {
    let mut pushed = 0;
    let mut last = None;
    if let Some(files) = &mut cursor.files {
        let visibility = &cursor.visibility;
        let more = files.hand_over(|key, value| {
            let key = key.get(STORAGE_ID_BYTES..).unwrap_or_default();
            let Some(cell) = visibility.plain_after(value, &mut last)? else { return Ok(true) };
            pushed += 1;
            Ok(sink.row(key, &[cell]).is_continue() && pushed < max_rows)
        })?;
        on_row.fill(more);
        return Ok(pushed);
    }
    while pushed < max_rows {
        let Some((key, value)) = cursor.iterator.item().filter(|(key, _)| cursor.iterator.reaches(key)) else {
            cursor.iterator.check()?;
            on_row.fill(false);
            break;
        };
        let key = key.get(STORAGE_ID_BYTES..).unwrap_or_default();
        let mut flow = std::ops::ControlFlow::Continue(());
        if let Some(cell) = cursor.visibility.plain_after(value, &mut last)? {
            flow = sink.row(key, &[cell]);
            pushed += 1;
        }
        if fill.as_mut().is_some_and(|fill| !fill.push(key, value)) {
            *fill = None;
        }
        cursor.step();
        if flow.is_break() {
            break;
        }
    }
    Ok(pushed)
}

fn open_cursor(spec: &ScanSpec, snapshot: &LsmSnapshot, family: &Family, visibility: Visibility) -> Cursor {
    let KeyRange { start, end } = &spec.range;
    let bounds = row_range(family.storage, family.form, start, end.as_deref());
    let view = &snapshot.view;
    let all = !spec.fill_cache && !spec.reverse && spec.limit.is_none() && family.form == Form::Plain;
    let long = all.then(|| bounds.clone());
    // What is read for the cache is short.
    let iterator = if spec.fill_cache && family.form == Form::Plain {
        OwnedIterator::for_short_read(&family.column_family, view.number, &view.snapshot, bounds)
    } else {
        let options = IteratorOptions {
            snapshot: Some(&view.snapshot),
            bounds: Some(bounds),
            keep_cache: !spec.fill_cache,
            readahead: if !spec.fill_cache && spec.limit.is_none() { READAHEAD_BYTES } else { 0 },
            total_order: family.form != Form::Plain,
            ..IteratorOptions::default()
        };
        OwnedIterator::new(&family.column_family, options)
    };
    match family.form {
        Form::Plain => Cursor::Plain(PlainCursor { iterator, files: None, long, visibility, reverse: spec.reverse }),
        Form::PackedVersions | Form::Cells => Cursor::Versioned(Box::new(VersionedCursor::new(iterator, visibility, spec.reverse))),
    }
}

impl Drop for LsmScan {
    fn drop(&mut self) {
        for cursor in self.cursors.drain(..) {
            if let Cursor::Plain(cursor) = cursor {
                cursor.iterator.release();
            }
        }
    }
}

#[async_trait]
impl Scan for LsmScan {
    fn restrict_to(&mut self, part: &KeyRange) -> StoreResult<()> {
        self.restrict_filling(part, None)
    }

    async fn next_block(&mut self, max_rows: usize, sink: &mut dyn RowSink) -> StoreResult<bool> {
        self.block(max_rows, sink)
    }
}
