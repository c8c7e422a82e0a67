//! Scans: the rows of HBase in order, with the commits that it does not have yet laid over them.
//!
//! Those commits are copied when the scan is opened: each that the snapshot sees is there or in HBase by then, so that it does not matter
//! when scanners are opened, and how often.

use crate::commit::Core;
use crate::failure::read_error;
use crate::keys::{from_hbase, range_to_hbase};
use crate::pending::Batch;
use crate::read::ReadPlan;
use async_trait::async_trait;
use bytes::Bytes;
use std::ops::ControlFlow;
use std::sync::Arc;
use stoa_hbase_client::{Filter, Row, RowRange, Scanner};
use stoa_store::{KeyRange, RowSink, Scan, ScanSpec, StoreResult};

/// Ranges that one scanner goes through.
const RANGES: usize = 2000;

/// A piece of a scan that one scanner reads: rows from a key to before another (none: the end), or some ranges of them.
#[derive(Clone, Debug)]
struct Piece {
    start: Bytes,
    end: Bytes,
    filter: Option<Filter>,
}

pub(crate) struct HbaseScan {
    core: Arc<Core>,
    plan: ReadPlan,
    range: KeyRange,
    reverse: bool,
    fill_cache: bool,
    /// Rows that the limit leaves.
    left: u64,
    /// Commits that are laid over what HBase gives, in the order of the scan, and which of them are still to come.
    over: Batch,
    coming: std::ops::Range<usize>,
    pieces: std::vec::IntoIter<Piece>,
    scanner: Option<Scanner>,
    rows: Vec<Row>,
    next_row: usize,
}

impl HbaseScan {
    /// `parts`: those of the range that are read, in the order of keys; all of it without.
    pub fn open(core: &Arc<Core>, spec: &ScanSpec, parts: Option<&[KeyRange]>) -> StoreResult<HbaseScan> {
        let plan = ReadPlan::new(core, &spec.read)?;
        let mut over = Batch::new();
        let mut pieces = Vec::new();
        if !plan.is_empty() {
            let whole = [spec.range.clone()];
            let ranges = parts.unwrap_or(&whole).iter().map(|part| spec.range.intersect(part)).filter(|range| !range.is_empty());
            let ranges: Vec<(Bytes, Bytes)> = ranges.map(|range| range_to_hbase(&range)).collect();
            let pending = core.pending.read();
            for (start, end) in &ranges {
                pending.of_range(spec.read.table, start, end, plan.tick, &mut over);
            }
            drop(pending);
            pieces = ranges.chunks(RANGES).filter_map(Piece::of).collect();
        }
        if spec.reverse {
            over.reverse();
        }
        Ok(HbaseScan {
            core: Arc::clone(core),
            plan,
            range: spec.range.clone(),
            reverse: spec.reverse,
            fill_cache: spec.fill_cache,
            left: spec.limit.unwrap_or(u64::MAX),
            coming: 0..over.len(),
            over,
            pieces: pieces.into_iter(),
            scanner: None,
            rows: Vec::new(),
            next_row: 0,
        })
    }

    fn open_scanner(&mut self, piece: Piece) {
        let Piece { start, end, filter } = piece;
        let scan = if self.reverse {
            // From before `end`, or from the end of the table, down to the first key of the range.
            let open = end.is_empty();
            let scan = self.plan.scan(end, start).reversed().include_stop();
            if open { scan } else { scan.exclude_start() }
        } else {
            self.plan.scan(start, end)
        };
        let filters = [filter, self.plan.filter()].into_iter().flatten();
        let scan = match filters.reduce(|a, b| Filter::all_of([a, b])) {
            Some(filter) => scan.filter(filter),
            None => scan,
        };
        let scan = if self.fill_cache { scan } else { scan.uncached() };
        // Each commit that is laid over hides one row at most.
        let enough = self.left.saturating_add(self.coming.len() as u64);
        let scan = if self.plan.every_row_counts() && self.left < u64::MAX { scan.limit(enough) } else { scan };
        self.scanner = Some(self.plan.table.handle.scan(scan));
    }

    /// Reads on until there is a row of HBase; false at the end of all pieces.
    async fn fill(&mut self) -> StoreResult<bool> {
        loop {
            if self.next_row < self.rows.len() {
                return Ok(true);
            }
            self.rows.clear();
            self.next_row = 0;
            if let Some(scanner) = &mut self.scanner {
                self.plan.check(&self.core)?;
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

    /// Whether a key comes before another one.
    fn is_before(&self, a: &[u8], b: &[u8]) -> bool {
        if self.reverse { a > b } else { a < b }
    }
}

impl Piece {
    /// Some ranges, in the order of keys or the other way round.
    fn of(ranges: &[(Bytes, Bytes)]) -> Option<Piece> {
        let start = ranges.iter().map(|(start, _)| start).min()?.clone();
        let open = ranges.iter().any(|(_, end)| end.is_empty());
        let end = if open { Bytes::new() } else { ranges.iter().map(|(_, end)| end).max()?.clone() };
        let several = ranges.len() > 1;
        let filter = several.then(|| Filter::multi_row_range(ranges.iter().map(|(start, end)| RowRange::new(start.clone(), end.clone()))));
        Some(Piece { start, end, filter })
    }
}

#[async_trait]
impl Scan for HbaseScan {
    async fn next_block(&mut self, max_rows: usize, sink: &mut dyn RowSink) -> StoreResult<bool> {
        let mut pushed = 0;
        loop {
            if self.left == 0 {
                return Ok(false);
            }
            let more = self.fill().await?;
            if !more && self.coming.is_empty() {
                return Ok(false);
            }
            let mut cells = Vec::new();
            // All that can be given without another call.
            while self.left > 0 && pushed < max_rows.max(1) {
                let row = self.rows.get(self.next_row);
                let over = self.over.get(self.coming.clone()).and_then(<[_]>::first);
                let (key, found, changes) = match (row, over) {
                    (Some(row), Some((key, changes))) if row.key() == key => (row.key(), Some(row), Some(changes)),
                    (Some(row), Some((key, changes))) if self.is_before(key, row.key()) => (&**key, None, Some(changes)),
                    (Some(row), _) => (row.key(), Some(row), None),
                    (None, Some((key, changes))) if !more => (&**key, None, Some(changes)),
                    (None, _) => break,
                };
                let of_row = found.map(Row::cells).unwrap_or_default();
                match changes {
                    Some(changes) => self.plan.merged(of_row, changes, &mut cells),
                    None => self.plan.cells_of(of_row, &mut cells)?,
                }
                let (is_row, is_over) = (found.is_some(), changes.is_some());
                let mut flow = ControlFlow::Continue(());
                if !cells.is_empty() {
                    flow = sink.row(from_hbase(key), &cells);
                    pushed += 1;
                    self.left -= 1;
                }
                self.next_row += usize::from(is_row);
                self.coming.start += usize::from(is_over);
                if flow.is_break() {
                    return Ok(self.left > 0);
                }
            }
            if pushed >= max_rows.max(1) {
                return Ok(self.left > 0);
            }
        }
    }

    fn restrict_to(&mut self, part: &KeyRange) -> StoreResult<()> {
        let range = self.range.intersect(part);
        let piece = if range.is_empty() || self.plan.is_empty() { None } else { Piece::of(&[range_to_hbase(&range)]) };
        self.scanner = None;
        self.rows.clear();
        self.next_row = 0;
        self.coming = 0..0;
        if let Some(Piece { start, end, .. }) = &piece {
            let (over, is_past_end) = (&self.over, |key: &Bytes| !end.is_empty() && key >= end);
            self.coming = if self.reverse {
                over.partition_point(|(key, _)| is_past_end(key))..over.partition_point(|(key, _)| key >= start)
            } else {
                over.partition_point(|(key, _)| key < start)..over.partition_point(|(key, _)| !is_past_end(key))
            };
        }
        self.pieces = piece.into_iter().collect::<Vec<_>>().into_iter();
        Ok(())
    }
}
