//! Reading: the cells of HBase's rows under the qualifiers that raw tables have.

use super::table::Elsewhere;
use crate::failure::read_error;
use async_trait::async_trait;
use bytes::Bytes;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use stoa_encoding::raw_cell;
use stoa_hbase_client::{Action, Filter, Get, Row, RowRange, Scanner};
use stoa_store::{CellRef, KeyRange, ReadSpec, RowSink, Scan, ScanSpec, StoreError, StoreResult, Timestamp};

/// Gets of one call over all servers.
const GETS: usize = 1024;
/// Ranges that one scanner goes through.
const RANGES: usize = 2000;

/// Cells of a row as they are given: one is made for a whole scan.
#[derive(Debug, Default)]
struct Given {
    qualifiers: Vec<u8>,
    /// Where the qualifier of a cell is, and which one it is.
    places: Vec<(Range<usize>, usize)>,
}

impl Given {
    /// Gives a row to a sink; whether there was a cell to give, and what the sink said.
    fn row(&mut self, of: &Elsewhere, qualifiers: Option<&KeyRange>, row: &Row, sink: &mut dyn RowSink) -> (bool, ControlFlow<()>) {
        self.qualifiers.clear();
        self.places.clear();
        for (number, cell) in row.cells().iter().enumerate() {
            // Of families that came later nobody knows.
            let Some(family) = of.family(cell.family()) else { continue };
            let start = self.qualifiers.len();
            raw_cell::push_column(&mut self.qualifiers, family.0, cell.qualifier());
            raw_cell::push_cell(&mut self.qualifiers, cell.timestamp(), raw_cell::PUT);
            self.places.push((start..self.qualifiers.len(), number));
        }
        let bytes = &self.qualifiers;
        let at = |place: &Range<usize>| bytes.get(place.clone()).unwrap_or_default();
        if let Some(range) = qualifiers {
            self.places.retain(|(place, _)| range.contains(at(place)));
        }
        // HBase has families by name, as they are numbered unless one was made again.
        self.places.sort_by(|(a, _), (b, _)| at(a).cmp(at(b)));
        let cells: Vec<CellRef<'_>> = self
            .places
            .iter()
            .filter_map(|(place, number)| {
                let cell = row.cells().get(*number)?;
                let us = u64::try_from(cell.timestamp()).unwrap_or(0).saturating_mul(1000).min(u64::MAX >> Timestamp::COUNTER_BITS);
                Some(CellRef { family: of.cells, qualifier: at(place), timestamp: Timestamp::from_micros(us), value: cell.value() })
            })
            .collect();
        if cells.is_empty() { (false, ControlFlow::Continue(())) } else { (true, sink.row(row.key(), &cells)) }
    }
}

/// Versions of a column that are asked of HBase.
fn versions(spec: &ReadSpec) -> u32 {
    spec.versions.clamp(1, i32::MAX as u32)
}

/// See [`stoa_store::Store::get`].
pub(super) async fn get(of: &Elsewhere, spec: &ReadSpec, keys: &[&[u8]], sink: &mut dyn RowSink) -> StoreResult<()> {
    check(spec)?;
    let mut given = Given::default();
    // HBase has no empty key.
    let keys: Vec<&[u8]> = keys.iter().copied().filter(|key| !key.is_empty()).collect();
    for keys in keys.chunks(GETS) {
        let gets = keys.iter().map(|key| {
            let get = Get::new(key.to_vec()).versions(versions(spec));
            of.families.iter().fold(get, |get, (_, name)| get.family(name.clone()))
        });
        let rows: Vec<Option<Row>> = match keys {
            [_] => vec![match gets.into_iter().next() {
                Some(get) => of.table.get(&get).await.map_err(read_error)?,
                None => None,
            }],
            _ => {
                let actions: Vec<Action> = gets.map(Action::Get).collect();
                of.table.batch(&actions).await.into_iter().map(|answer| answer.map_err(read_error)).collect::<StoreResult<_>>()?
            }
        };
        for row in rows.iter().flatten() {
            if given.row(of, spec.qualifiers.as_ref(), row, sink).1.is_break() {
                return Ok(());
            }
        }
    }
    Ok(())
}

fn check(spec: &ReadSpec) -> StoreResult<()> {
    match spec.time_range {
        None => Ok(()),
        Some(_) => Err(StoreError::Unsupported("the commit times of what other programs write are not known".into())),
    }
}

/// Ranges that one scanner goes through: the first key, the end, and which of them if they are several.
#[derive(Debug)]
struct Piece(Bytes, Bytes, Option<Filter>);

impl Piece {
    fn of(ranges: &[(Bytes, Bytes)]) -> Option<Piece> {
        let start = ranges.iter().map(|(start, _)| start).min()?.clone();
        let open = ranges.iter().any(|(_, end)| end.is_empty());
        let end = if open { Bytes::new() } else { ranges.iter().map(|(_, end)| end).max()?.clone() };
        let several = || Filter::multi_row_range(ranges.iter().map(|(start, end)| RowRange::new(start.clone(), end.clone())));
        Some(Piece(start, end, (ranges.len() > 1).then(several)))
    }
}

pub(super) struct ScanElsewhere {
    of: Arc<Elsewhere>,
    qualifiers: Option<KeyRange>,
    versions: u32,
    range: KeyRange,
    reverse: bool,
    fill_cache: bool,
    left: u64,
    failed: Option<StoreError>,
    pieces: std::vec::IntoIter<Piece>,
    scanner: Option<Scanner>,
    rows: Vec<Row>,
    next_row: usize,
    given: Given,
}

impl ScanElsewhere {
    /// `parts`: those of the range that are read, in the order of the scan; all of it without.
    pub fn open(of: Arc<Elsewhere>, spec: &ScanSpec, parts: Option<&[KeyRange]>) -> Self {
        let mut out = Self::newest(of, KeyRange::empty(), spec.limit.unwrap_or(u64::MAX));
        (out.qualifiers, out.versions) = (spec.read.qualifiers.clone(), versions(&spec.read));
        (out.reverse, out.fill_cache) = (spec.reverse, spec.fill_cache);
        out.failed = check(&spec.read).err();
        out.range = spec.range.clone();
        let whole = [spec.range.clone()];
        out.go_through(parts.unwrap_or(&whole));
        out
    }

    /// Of the newest values of so many rows.
    pub fn newest(of: Arc<Elsewhere>, range: KeyRange, limit: u64) -> Self {
        let mut out = Self {
            of,
            qualifiers: None,
            versions: 1,
            range: range.clone(),
            reverse: false,
            fill_cache: true,
            left: limit,
            failed: None,
            pieces: Vec::new().into_iter(),
            scanner: None,
            rows: Vec::new(),
            next_row: 0,
            given: Given::default(),
        };
        out.go_through(&[range]);
        out
    }

    fn go_through(&mut self, parts: &[KeyRange]) {
        let bytes = |key: &[u8]| Bytes::copy_from_slice(key);
        // Where an end is empty the range is: in HBase that would be the end of the table.
        let ranges = parts.iter().map(|part| self.range.intersect(part)).filter(|range| !range.is_empty());
        let ranges: Vec<_> = ranges.map(|r| (bytes(&r.start), r.end.as_deref().map_or_else(Bytes::new, bytes))).collect();
        // The servers go from range to range upwards only.
        let at_once = if self.reverse { 1 } else { RANGES };
        let pieces: Vec<Piece> = ranges.chunks(at_once).filter_map(Piece::of).collect();
        self.pieces = pieces.into_iter();
        self.scanner = None;
        self.rows.clear();
        self.next_row = 0;
    }

    fn open_scanner(&mut self, Piece(start, end, filter): Piece) {
        let scan = if self.reverse {
            // From before `end`, or from the end of the table, down to the first key of the range.
            let open = end.is_empty();
            let scan = stoa_hbase_client::Scan::range(end, start).reversed().include_stop();
            if open { scan } else { scan.exclude_start() }
        } else {
            stoa_hbase_client::Scan::range(start, end)
        };
        let scan = self.of.families.iter().fold(scan.versions(self.versions), |scan, (_, name)| scan.family(name.clone()));
        let scan = if let Some(filter) = filter { scan.filter(filter) } else { scan };
        let scan = if self.fill_cache { scan } else { scan.uncached() };
        // Each row that comes has a cell that is given, unless some qualifiers alone are wanted.
        let scan = if self.left < u64::MAX && self.qualifiers.is_none() { scan.limit(self.left) } else { scan };
        self.scanner = Some(self.of.table.scan(scan));
    }

    /// Reads on until there is a row; false at the end.
    async fn fill(&mut self) -> StoreResult<bool> {
        loop {
            if self.next_row < self.rows.len() {
                return Ok(true);
            }
            self.rows.clear();
            self.next_row = 0;
            if let Some(scanner) = &mut self.scanner {
                match scanner.next_batch().await.map_err(read_error)? {
                    Some(rows) => self.rows = rows,
                    None => self.scanner = None,
                }
                continue;
            }
            let Some(piece) = self.pieces.next() else { return Ok(false) };
            self.open_scanner(piece);
        }
    }
}

#[async_trait]
impl Scan for ScanElsewhere {
    async fn next_block(&mut self, max_rows: usize, sink: &mut dyn RowSink) -> StoreResult<bool> {
        if let Some(error) = self.failed.clone() {
            return Err(error);
        }
        let mut pushed = 0;
        while pushed < max_rows.max(1) {
            if self.left == 0 || !self.fill().await? {
                return Ok(false);
            }
            while let Some(row) = self.rows.get(self.next_row).filter(|_| self.left > 0 && pushed < max_rows.max(1)) {
                let (is_given, flow) = self.given.row(&self.of, self.qualifiers.as_ref(), row, sink);
                self.next_row += 1;
                self.left -= u64::from(is_given);
                pushed += usize::from(is_given);
                if flow.is_break() {
                    return Ok(self.left > 0);
                }
            }
        }
        Ok(self.left > 0)
    }

    fn restrict_to(&mut self, part: &KeyRange) -> StoreResult<()> {
        self.go_through(std::slice::from_ref(part));
        Ok(())
    }
}
