//! A scan that takes from the [`ColumnCache`] what earlier scans have left there, reads the rest from the store, and leaves that.
//!
//! Invariant: its batches are the rows of the ranges in key order, each of one segment or of one gap between segments.

use super::ranges::Ranges;
use super::scan_output::ScanOutput;
use crate::scan_table::ScanTable;
use arrow::array::ArrayRef;
use std::ops::ControlFlow;
use std::sync::Arc;
use stoa_pg::{PgError, PgResult};
use stoa_table::column_cache::{ColumnCache, Found, FoundSegment, Reader};
use stoa_table::row::{ColumnSource, ScanDecoder};
use stoa_table::txn::{RangeRead, ViewScan};
use stoa_table::{CellRef, Enough, FamilyId, KeyRange, RowSink};

/// Rows below which what was read is not worth keeping.
const MIN_KEPT_ROWS: usize = 16;

/// See the module.
pub(super) struct CachedColumns {
    cache: Arc<ColumnCache>,
    reader: Reader,
    /// What has not been read of the range that is being read.
    rest: Option<KeyRange>,
    gap: Option<OpenGap>,
    lacking: Option<Lacking>,
    last_key: Vec<u8>,
}

struct OpenGap {
    scan: ViewScan,
    end: Option<Vec<u8>>,
    keep: bool,
}

/// The reading of columns that segments lack, one segment after the other.
struct Lacking {
    /// By place in the reader's order.
    columns: Vec<usize>,
    decoder: ScanDecoder,
    /// To the end of the range.
    scan: ViewScan,
}

/// Columns of one batch, how many rows it has, and whether all of them were kept.
pub(super) struct Rows {
    pub columns: Vec<ArrayRef>,
    pub rows: usize,
    pub kept: bool,
}

/// What a scan reads from and with.
pub(super) struct ReadFrom<'a> {
    pub table: &'a ScanTable,
    pub source: &'a ColumnSource,
    pub output: &'a ScanOutput,
    pub ranges: &'a mut Ranges,
    /// Of all columns.
    pub decoder: &'a mut ScanDecoder,
    pub block_rows: usize,
    pub fill_cache: bool,
}

impl CachedColumns {
    /// `None` where the cache is of no use: what the transaction has written itself is not in it.
    pub(super) fn new(table: &ScanTable, source: &ColumnSource, output: &ScanOutput) -> Option<Self> {
        let cache = table.columns.as_ref().filter(|_| !table.view.overlay.touches(source.storage()))?;
        let columns = output.read.iter().map(|id| source.column_key(*id).map(Arc::new)).collect::<Option<Vec<_>>>()?;
        let reader = cache.reader(source.storage(), columns, table.view.timestamp());
        Some(Self { cache: Arc::clone(cache), reader, rest: None, gap: None, lacking: None, last_key: Vec::new() })
    }

    /// The next rows; `None` at the end.
    pub(super) async fn next(&mut self, from: &mut ReadFrom<'_>) -> PgResult<Option<Rows>> {
        loop {
            let rest = match self.rest.take().filter(|rest| !rest.is_empty()) {
                Some(rest) => rest,
                None => {
                    (self.gap, self.lacking) = (None, None);
                    match from.ranges.next(from.table, from.source).await? {
                        Some(range) => range,
                        None => return Ok(None),
                    }
                }
            };
            let gap = match self.gap.take() {
                Some(gap) => gap,
                None => match self.cache.find(&self.reader, &rest.start, rest.end.as_deref()) {
                    Found::Segment(found) => {
                        let kept = found.columns.iter().all(Option::is_some);
                        let columns = self.columns_of(&found, &rest, from).await?;
                        self.rest = found.end.map(|end| KeyRange::new(end, rest.end));
                        return Ok(Some(Rows { columns, rows: found.rows, kept }));
                    }
                    Found::Gap { end, keep } => {
                        let end = end.or_else(|| rest.end.clone());
                        let range = KeyRange::new(rest.start.clone(), end.clone());
                        OpenGap { scan: open(from, from.decoder.families(), range).await?, end, keep }
                    }
                },
            };
            let (rows, columns) = self.read(gap, rest, from).await?;
            if rows > 0 {
                return Ok(Some(Rows { columns, rows, kept: false }));
            }
        }
    }

    /// Reads a batch of a gap.
    async fn read(&mut self, mut gap: OpenGap, rest: KeyRange, from: &mut ReadFrom<'_>) -> PgResult<(usize, Vec<ArrayRef>)> {
        let more = fill(&mut gap.scan, from.decoder, &mut self.last_key, from.block_rows).await?;
        let rows = from.decoder.rows();
        let columns = from.decoder.finish()?;
        let end = if more { KeyRange::point(&self.last_key).end } else { gap.end.clone() };
        if gap.keep && rows >= MIN_KEPT_ROWS {
            let range = KeyRange::new(rest.start, end.clone());
            let view = &from.table.view;
            self.cache.keep(&mut self.reader, view, &range, rows, &columns);
        }
        self.rest = end.map(|end| KeyRange::new(end, rest.end));
        self.gap = more.then_some(gap);
        Ok((rows, columns))
    }

    /// The columns of a segment at the front of `rest`; those that it lacks are read and left there.
    async fn columns_of(&mut self, found: &FoundSegment, rest: &KeyRange, from: &mut ReadFrom<'_>) -> PgResult<Vec<ArrayRef>> {
        let columns: Vec<usize> = found.columns.iter().enumerate().filter(|(_, c)| c.is_none()).map(|(at, _)| at).collect();
        let mut read = Vec::new();
        if !columns.is_empty() {
            let lacking = match self.lacking.take().filter(|lacking| lacking.columns == columns) {
                Some(lacking) => lacking,
                None => {
                    let ids: Vec<_> = columns.iter().filter_map(|at| from.output.read.get(*at)).copied().collect();
                    let mut decoder = ScanDecoder::new(from.source, &ids, found.rows)?;
                    decoder.set_max_rows(usize::MAX);
                    let scan = open(from, decoder.families(), rest.clone()).await?;
                    Lacking { columns, decoder, scan }
                }
            };
            let Lacking { columns, decoder, scan } = self.lacking.insert(lacking);
            scan.restrict_to(&KeyRange::new(rest.start.clone(), found.end.clone()))?;
            while fill(scan, decoder, &mut self.last_key, found.rows + 1).await? {}
            let rows = decoder.rows();
            if rows != found.rows {
                return Err(PgError::internal(format!("{rows} rows where {} were kept", found.rows)));
            }
            read = columns.iter().copied().zip(decoder.finish()?).collect();
            self.cache.complete(&mut self.reader, &rest.start, found, &read);
        }
        let mut read = read.into_iter();
        let column = |kept: &Option<ArrayRef>| kept.clone().or_else(|| read.next().map(|(_, values)| values));
        let columns: Option<Vec<ArrayRef>> = found.columns.iter().map(column).collect();
        columns.ok_or_else(|| PgError::internal("a column was neither kept nor read"))
    }
}

async fn open(from: &mut ReadFrom<'_>, families: Vec<FamilyId>, range: KeyRange) -> PgResult<ViewScan> {
    let read = RangeRead { table: from.source.storage(), families, range, reverse: false, limit: None, fill_cache: from.fill_cache };
    from.table.view.scan(read).await
}

/// Reads until the decoder is full, whose last key is then in `last_key`; false at the end of the scan.
async fn fill(scan: &mut ViewScan, decoder: &mut ScanDecoder, last_key: &mut Vec<u8>, block_rows: usize) -> PgResult<bool> {
    loop {
        let wanted = block_rows.saturating_sub(decoder.rows()).max(1);
        let more = scan.next_block(wanted, &mut LastKey { decoder, last_key }).await?;
        if let Some(error) = decoder.take_error() {
            return Err(error);
        }
        if !more || decoder.is_full() {
            return Ok(more);
        }
    }
}

/// Remembers the key at which the decoder was full.
struct LastKey<'a> {
    decoder: &'a mut ScanDecoder,
    last_key: &'a mut Vec<u8>,
}

impl RowSink for LastKey<'_> {
    #[inline]
    fn row(&mut self, key: &[u8], cells: &[CellRef<'_>]) -> ControlFlow<()> {
        let flow = self.decoder.row(key, cells);
        if flow.is_break() {
            self.last_key.clear();
            self.last_key.extend_from_slice(key);
        }
        flow
    }

    fn enough(&self) -> Enough {
        self.decoder.enough()
    }
}
