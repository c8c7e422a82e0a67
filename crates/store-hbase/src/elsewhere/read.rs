//! Reading: the cells of HBase's rows under the qualifiers that raw tables have.

use super::table::Elsewhere;
use crate::failure::read_error;
use async_trait::async_trait;
use bytes::Bytes;
use std::ops::{Bound, ControlFlow, Range};
use std::sync::Arc;
use stoa_encoding::raw_cell;
use stoa_hbase_client::{Action, Comparator, Compare, Filter, Get, Row, RowRange, Scanner};
use stoa_store::{CellRef, CellTest, Enough, KeyRange, ReadSpec, RowSink, Scan, ScanSpec, StoreError, StoreResult, Timestamp};

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

/// So many columns are asked for by name; of more, all cells are read.
const NAMES: usize = 16;

/// What leaves out the cells that nobody makes use of, and no row: one cell of each comes all the same.
fn filter(of: &Elsewhere, spec: &Shape, enough: &Enough) -> Option<Filter> {
    // Who asks for versions, or for a range of qualifiers, is shown all of them.
    let columns = enough.cells.as_ref().filter(|columns| columns.len() <= NAMES && spec.qualifiers.is_none() && spec.versions == 1)?;
    if columns.is_empty() {
        return Some(Filter::all_of([Filter::first_key_only(), Filter::key_only()]));
    }
    let named = |name: &[u8]| {
        let (family, qualifier) = column(of, name)?;
        let qualifier = Filter::qualifier(Compare::Equal, &Comparator::binary(qualifier));
        // One family says nothing.
        let one = of.families.len() == 1;
        Some(if one { qualifier } else { Filter::all_of([Filter::family(Compare::Equal, &Comparator::binary(family)), qualifier]) })
    };
    let named = columns.iter().map(|name| named(name)).collect::<Option<Vec<_>>>()?;
    Some(Filter::any_of(std::iter::once(Filter::first_key_only()).chain(named)))
}

/// Leaves out the rows that do not pass the tests; `None`: not all of the columns are of this table.
fn rows_filter(of: &Elsewhere, tests: &[CellTest]) -> Option<Filter> {
    let each = |test: &CellTest| {
        let (family, qualifier) = column(of, &test.cell)?;
        let compared = |compare: Compare, bytes: &[u8]| {
            let comparator = Comparator::binary(bytes.to_vec());
            Filter::single_column_value(family.clone(), qualifier.clone(), compare, &comparator, false)
        };
        let ranges = test.ranges.iter().map(|range| match range {
            (Bound::Included(from), Bound::Included(to)) if from == to => compared(Compare::Equal, from),
            (from, to) => {
                let from = match from {
                    Bound::Included(from) => Some(compared(Compare::GreaterOrEqual, from)),
                    Bound::Excluded(from) => Some(compared(Compare::Greater, from)),
                    Bound::Unbounded => None,
                };
                let to = match to {
                    Bound::Included(to) => Some(compared(Compare::LessOrEqual, to)),
                    Bound::Excluded(to) => Some(compared(Compare::Less, to)),
                    Bound::Unbounded => None,
                };
                // The cell must be there.
                let any = || compared(Compare::GreaterOrEqual, &[]);
                one_or(from.into_iter().chain(to).collect(), Filter::all_of).unwrap_or_else(any)
            }
        });
        one_or(ranges.collect(), Filter::any_of)
    };
    one_or(tests.iter().map(each).collect::<Option<Vec<_>>>()?, Filter::all_of)
}

/// Several filters as one.
fn one_or(mut filters: Vec<Filter>, several: impl Fn(Vec<Filter>) -> Filter) -> Option<Filter> {
    if filters.len() > 1 { Some(several(filters)) } else { filters.pop() }
}

/// The family and the qualifier of a column of raw tables.
fn column(of: &Elsewhere, column: &[u8]) -> Option<(Bytes, Bytes)> {
    let (number, _) = column.split_first_chunk::<2>()?;
    let (_, family) = of.families.iter().find(|(id, _)| id.0 == u16::from_be_bytes(*number))?;
    Some((family.clone(), raw_cell::qualifier_of(column).ok()?.into_owned().into()))
}

/// Which cells of a row a read is about.
#[derive(Debug, Default)]
struct Shape {
    qualifiers: Option<KeyRange>,
    versions: u32,
}

impl Shape {
    fn of(spec: &ReadSpec) -> Self {
        Self { qualifiers: spec.qualifiers.clone(), versions: versions(spec) }
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
    let filter = filter(of, &Shape::of(spec), &sink.enough());
    // HBase has no empty key.
    let keys: Vec<&[u8]> = keys.iter().copied().filter(|key| !key.is_empty()).collect();
    for keys in keys.chunks(GETS) {
        let gets = keys.iter().map(|key| {
            let get = Get::new(key.to_vec()).versions(versions(spec));
            let get = of.families.iter().fold(get, |get, (_, name)| get.family(name.clone()));
            if let Some(filter) = &filter { get.filter(filter.clone()) } else { get }
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
    shape: Shape,
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
        out.shape = Shape::of(&spec.read);
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
            shape: Shape { qualifiers: None, versions: 1 },
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

    fn open_scanner(&mut self, Piece(start, end, ranges): Piece, enough: &Enough) {
        let scan = if self.reverse {
            // From before `end`, or from the end of the table, down to the first key of the range.
            let open = end.is_empty();
            let scan = stoa_hbase_client::Scan::range(end, start).reversed().include_stop();
            if open { scan } else { scan.exclude_start() }
        } else {
            stoa_hbase_client::Scan::range(start, end)
        };
        let scan = self.of.families.iter().fold(scan.versions(self.shape.versions), |scan, (_, name)| scan.family(name.clone()));
        let newest = self.shape.qualifiers.is_none() && self.shape.versions == 1;
        let rows = if newest { rows_filter(&self.of, &enough.tests) } else { None };
        let filters = [ranges, rows, filter(&self.of, &self.shape, enough)].into_iter().flatten().collect();
        let scan = match one_or(filters, Filter::all_of) {
            Some(filter) => scan.filter(filter),
            None => scan,
        };
        let scan = if self.fill_cache { scan } else { scan.uncached() };
        // Each row that comes has a cell that is given, unless some qualifiers alone are wanted.
        let limit = self.left.min(enough.rows.unwrap_or(u64::MAX));
        let scan = if limit < u64::MAX && self.shape.qualifiers.is_none() { scan.limit(limit) } else { scan };
        self.scanner = Some(self.of.table.scan(scan));
    }

    /// Reads on until there is a row; false at the end.
    async fn fill(&mut self, enough: &Enough) -> StoreResult<bool> {
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
            self.open_scanner(piece, enough);
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
            if self.left == 0 || !self.fill(&sink.enough()).await? {
                return Ok(false);
            }
            while let Some(row) = self.rows.get(self.next_row).filter(|_| self.left > 0 && pushed < max_rows.max(1)) {
                let (is_given, flow) = self.given.row(&self.of, self.shape.qualifiers.as_ref(), row, sink);
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
