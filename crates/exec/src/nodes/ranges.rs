//! The ranges that a scan reads, one after the other; those of a skip scan are found on the way.
//!
//! A skip scan reads through one open scan for all values, so that to go on at another place costs a seek and no more, but of a table that
//! the transaction has written.

use crate::scan_table::ScanTable;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;
use stoa_pg::{PgError, PgResult};
use stoa_table::access::{AccessPath, Skip};
use stoa_table::range::prefix_successor;
use stoa_table::row::{ColumnSource, ScanDecoder};
use stoa_table::txn::{RangeRead, ViewScan};
use stoa_table::{CellRef, Enough, FamilyId, KeyRange, RowSink};

/// See the module.
pub(super) struct Ranges {
    path: Arc<AccessPath>,
    /// In the order in which they are read. Of a skip scan: where values are looked for.
    pending: VecDeque<KeyRange>,
    /// Behind the value that was found last.
    found: VecDeque<KeyRange>,
    /// Finds values.
    finder: Reader,
    reverse: bool,
    /// Seeks of the store since it was asked last.
    seeks: usize,
}

/// A scan that goes from range to range.
#[derive(Default)]
struct Reader {
    scan: Option<ViewScan>,
}

impl Reader {
    /// The scan at a range, which lies behind those before it. `whole` holds all ranges that are still to come.
    async fn at(&mut self, table: &ScanTable, read: RangeRead, whole: KeyRange) -> PgResult<&mut ViewScan> {
        if table.view.overlay.touches(read.table) {
            return Ok(self.scan.insert(table.view.scan(read).await?));
        }
        let range = read.range.clone();
        let scan = match self.scan.take() {
            Some(scan) => scan,
            None => table.view.scan(RangeRead { range: whole, ..read }).await?,
        };
        let scan = self.scan.insert(scan);
        scan.restrict_to(&range)?;
        Ok(scan)
    }
}

impl Ranges {
    /// Ranges of a path, ascending.
    pub(super) fn new(path: &Arc<AccessPath>, ranges: Vec<KeyRange>, reverse: bool) -> Self {
        let mut pending: VecDeque<KeyRange> = ranges.into();
        if reverse {
            pending.make_contiguous().reverse();
        }
        Self { path: Arc::clone(path), pending, found: VecDeque::new(), finder: Reader::default(), reverse, seeks: 0 }
    }

    /// Leaves out what is not in `wanted` (ascending), before anything was read.
    pub(super) fn keep(&mut self, wanted: &[KeyRange]) {
        let mut out = Vec::new();
        for range in &self.pending {
            let from = wanted.partition_point(|w| w.end.as_ref().is_some_and(|end| *end <= range.start));
            let before = |w: &&KeyRange| range.end.as_ref().is_none_or(|end| w.start < *end);
            let mut part: Vec<KeyRange> = wanted.iter().skip(from).take_while(before).map(|w| range.intersect(w)).collect();
            if self.reverse {
                part.reverse();
            }
            out.extend(part.into_iter().filter(|r| !r.is_empty()));
        }
        self.pending = out.into();
    }

    /// Ranges that are left, or where values are looked for.
    pub(super) fn len(&self) -> usize {
        self.pending.len()
    }

    /// Opens a scan of a range that was given, and of those behind it, where one scan can read all of them.
    pub(super) async fn open(&mut self, table: &ScanTable, read: RangeRead) -> PgResult<ViewScan> {
        if !self.pending.is_empty() && self.path.skip.is_none() {
            let ranges = std::iter::once(read.range.clone()).chain(self.pending.iter().cloned()).collect();
            if let Some(scan) = table.view.scan_parts(read.clone(), ranges).await? {
                self.seeks += self.pending.len();
                self.pending.clear();
                return Ok(scan);
            }
        }
        table.view.scan(read).await
    }

    pub(super) fn clear(&mut self) {
        self.pending.clear();
        self.found.clear();
    }

    /// How often the store was to find a place, since this was asked last: for a range, or for the next value of a skip scan.
    pub(super) fn take_seeks(&mut self) -> usize {
        std::mem::take(&mut self.seeks)
    }

    pub(super) fn contain(&self, key: &[u8]) -> bool {
        self.pending.iter().any(|range| range.contains(key))
    }

    /// The next range; `None` at the end.
    pub(super) async fn next(&mut self, table: &ScanTable, source: &ColumnSource) -> PgResult<Option<KeyRange>> {
        let path = Arc::clone(&self.path);
        let Some(skip) = &path.skip else {
            self.seeks += usize::from(!self.pending.is_empty());
            return Ok(self.pending.pop_front());
        };
        loop {
            if let Some(range) = self.found.pop_front() {
                self.seeks += 1;
                return Ok(Some(range));
            }
            let Some(place) = self.pending.pop_front() else { return Ok(None) };
            if place.is_empty() {
                continue;
            }
            self.seeks += 1;
            if skip.reads_all() {
                return Ok(Some(place));
            }
            let Some(key) = self.first(table, source, &place).await? else { continue };
            self.found_at(skip, place, &key)?;
        }
    }

    /// All that is still to be read, beginning with a range.
    fn whole(&self, range: &KeyRange) -> KeyRange {
        // What was found comes before what is pending.
        match self.pending.back().or(self.found.back()) {
            None => range.clone(),
            Some(last) if self.reverse => KeyRange::new(last.start.clone(), range.end.clone()),
            Some(last) => KeyRange::new(range.start.clone(), last.end.clone()),
        }
    }

    /// What is left of a range behind a key.
    fn rest(&self, range: KeyRange, key: &[u8]) -> KeyRange {
        if self.reverse { KeyRange::new(range.start, Some(key.to_vec())) } else { KeyRange::new(successor(key), range.end) }
    }

    /// Goes on behind a key of a range, first with what is left of the key's value.
    fn go_on(&mut self, range: KeyRange, key: &[u8], value: &KeyRange) {
        let rest = self.rest(range, key);
        let inside = rest.intersect(value);
        let behind = match &value.end {
            _ if self.reverse => KeyRange::new(rest.start.clone(), Some(value.start.clone())),
            Some(end) => KeyRange::new(end.clone(), rest.end.clone()),
            None => KeyRange::empty(),
        };
        if !behind.intersect(&rest).is_empty() {
            self.pending.push_front(behind.intersect(&rest));
        }
        if !inside.is_empty() {
            self.found.push_front(inside);
        }
    }

    /// Leaves out what is left of a value.
    fn leave(&mut self, value: &KeyRange) {
        self.found.clear();
        while let Some(next) = self.pending.front_mut() {
            if self.reverse {
                if next.end.as_ref().is_some_and(|end| *end <= value.start) {
                    break;
                }
                next.end = Some(value.start.clone());
            } else {
                match &value.end {
                    Some(end) if next.start >= *end => break,
                    Some(end) => next.start.clone_from(end),
                    None => *next = KeyRange::empty(),
                }
            }
            if !next.is_empty() {
                break;
            }
            self.pending.pop_front();
        }
    }

    fn found_at(&mut self, skip: &Skip, place: KeyRange, key: &[u8]) -> PgResult<()> {
        let prefix = skip.prefix(&self.path.key, key).ok_or_else(|| PgError::internal("a key that cannot be read"))?;
        let inside = skip.behind(prefix).map(|range| range.intersect(&place)).filter(|r| !r.is_empty());
        if self.reverse {
            self.found.extend(inside.rev());
            self.pending.push_front(KeyRange::new(place.start, Some(prefix.to_vec())));
        } else {
            self.found.extend(inside);
            if let Some(next) = prefix_successor(prefix) {
                self.pending.push_front(KeyRange::new(next, place.end));
            }
        }
        Ok(())
    }

    /// The key that is read first in a range.
    async fn first(&mut self, table: &ScanTable, source: &ColumnSource, range: &KeyRange) -> PgResult<Option<Vec<u8>>> {
        let family = match source {
            ColumnSource::Table(codec) => codec.families.first().map_or(FamilyId(0), |f| f.id),
            ColumnSource::Index(_) => stoa_table::row::INDEX_FAMILY,
        };
        let read = RangeRead {
            table: source.storage(),
            families: vec![family],
            range: range.clone(),
            reverse: self.reverse,
            limit: None,
            fill_cache: true,
        };
        let mut found = None;
        let whole = self.whole(range);
        let scan = self.finder.at(table, read, whole).await?;
        // Rows may be left out that the transaction has deleted.
        loop {
            let mut sink = |key: &[u8], _: &[CellRef<'_>]| {
                found = Some(key.to_vec());
                ControlFlow::Break(())
            };
            let more = scan.next_block(1, &mut sink).await?;
            if found.is_some() || !more {
                return Ok(found);
            }
        }
    }
}

/// The least key above another.
fn successor(key: &[u8]) -> Vec<u8> {
    let mut next = Vec::with_capacity(key.len() + 1);
    next.extend_from_slice(key);
    next.push(0);
    next
}

/// Reads the first row of each value of a skip scan that takes no more of each.
pub(super) struct FirstRows {
    reader: Reader,
    /// The value of the rows that were read last.
    value: Option<KeyRange>,
    /// Rows to be read at once of a value whose first ones did not pass.
    more: usize,
    /// Whether every row passes that the decoder takes.
    unfiltered: bool,
}

/// Rows that are read at once, at most, of a value whose first ones did not pass the filters.
const MOST_AT_ONCE: usize = 1024;

impl FirstRows {
    pub(super) fn new(unfiltered: bool) -> Self {
        Self { reader: Reader::default(), value: None, more: 1, unfiltered }
    }

    /// Reads the first row of the next value, or, where nothing of a value has been taken yet, more of it. False at the end.
    pub(super) async fn read(
        &mut self,
        ranges: &mut Ranges,
        table: &ScanTable,
        source: &ColumnSource,
        decoder: &mut ScanDecoder,
    ) -> PgResult<bool> {
        let path = Arc::clone(&ranges.path);
        let skip = path.skip.as_ref().ok_or_else(|| PgError::internal("no values to skip over"))?;
        // What is left of a value comes before the next one.
        let inside = self.value.is_some() && !ranges.found.is_empty();
        if !inside {
            self.more = 1;
        }
        let seeks = ranges.seeks;
        let Some(range) = ranges.next(table, source).await? else { return Ok(false) };
        if inside && self.more > 1 {
            // The scan stands there.
            ranges.seeks = seeks;
        }
        let read = RangeRead {
            table: source.storage(),
            families: decoder.families(),
            range: range.clone(),
            reverse: ranges.reverse,
            limit: None,
            fill_cache: true,
        };
        let whole = ranges.whole(&range);
        let scan = self.reader.at(table, read, whole).await?;
        let mut sink = Noting { decoder, key: Vec::new(), any: false, left: self.more, one: self.unfiltered };
        let mut more = true;
        while more && sink.left > 0 {
            more = scan.next_block(sink.left, &mut sink).await?;
            if let Some(error) = sink.decoder.take_error() {
                return Err(error);
            }
            if sink.decoder.is_full() {
                break;
            }
        }
        if sink.any {
            let prefix = skip.prefix(&path.key, &sink.key).ok_or_else(|| PgError::internal("a key that cannot be read"))?;
            let value = KeyRange::prefix(prefix);
            ranges.go_on(range, &sink.key, &value);
            self.value = Some(value);
            self.more = (self.more * 4).min(MOST_AT_ONCE);
        }
        Ok(true)
    }

    /// A row that was read last has passed: nothing else of its value is wanted.
    pub(super) fn take(&mut self, ranges: &mut Ranges) {
        if let Some(value) = self.value.take() {
            ranges.leave(&value);
        }
    }
}

/// Hands so many rows on, and notes the key of the last.
struct Noting<'a> {
    decoder: &'a mut ScanDecoder,
    key: Vec<u8>,
    any: bool,
    left: usize,
    /// One that the decoder takes is enough.
    one: bool,
}

impl RowSink for Noting<'_> {
    fn row(&mut self, key: &[u8], cells: &[CellRef<'_>]) -> ControlFlow<()> {
        self.key.clear();
        self.key.extend_from_slice(key);
        self.any = true;
        self.left = self.left.saturating_sub(1);
        let before = self.decoder.rows();
        let flow = self.decoder.row(key, cells);
        if self.one && self.decoder.rows() > before {
            self.left = 0;
        }
        flow?;
        if self.left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn enough(&self) -> Enough {
        self.decoder.enough()
    }
}
