//! A read for many sets of values at once, as joins and subqueries make it: what they ask for is read together, each row once.
//!
//! Invariant: each set is given the rows that [`CompiledRead::run`] gives for it, in that order.

use super::{AccessMethod, CompiledRead, CompiledRows, EvalArgs, Narrowed, Range, SHORT_LOOKUPS, SHORT_ROWS, count, limited};
use arrow::array::{RecordBatch, RecordBatchOptions, UInt32Array};
use arrow::compute::{concat_batches, take_record_batch};
use datafusion::common::ScalarValue;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use stoa_exec::environment::StatementContext;
use stoa_exec::nodes::scan_output::ScanTable;
use stoa_pg::{EvalContext, PgError, PgResult};
use stoa_table::range::normalize;
use stoa_table::row::{ColumnSource, KeyList, ScanDecoder};
use stoa_table::txn::RangeRead;
use stoa_table::{CellRef, Enough, KeyRange, RowSink};

/// Keys, or rows of ranges, read in one call of the store.
const AT_ONCE: usize = 1024;
/// Rows read together, of which conditions may leave few, above which each set's are read on their own.
const MANY_ROWS: usize = 4096;

/// The rows of each set; `None` where the planner must choose.
type Many = Option<Vec<Option<RecordBatch>>>;

/// What is read together.
enum Together {
    Done(Many),
    /// Each set is to be read on its own.
    Apart,
}

/// What a set of values asks for.
struct Wanted {
    /// Ascending and apart.
    ranges: Vec<KeyRange>,
    offset: Option<usize>,
    limit: Option<usize>,
}

/// Takes rows with their keys.
struct Keyed<'a> {
    decoder: &'a mut ScanDecoder,
    keys: KeyList,
}

impl RowSink for Keyed<'_> {
    fn row(&mut self, key: &[u8], cells: &[CellRef<'_>]) -> ControlFlow<()> {
        let before = self.decoder.rows();
        let flow = self.decoder.row(key, cells);
        if self.decoder.rows() > before {
            self.keys.push(key);
        }
        flow
    }

    fn enough(&self) -> Enough {
        self.decoder.enough()
    }
}

impl CompiledRead {
    /// The rows for each of several sets of parameters' values; none of them if they are more than `most`, which the planner then reads.
    ///
    /// # Errors
    /// As [`CompiledRead::run`].
    pub(in crate::plan) async fn run_many(&self, ctx: &StatementContext, sets: &[&[ScalarValue]], most: usize) -> PgResult<Many> {
        if sets.len() > 1 && !self.takes_first() {
            // Boxed, so that the future of one read stays small.
            match Box::pin(self.together(ctx, sets, most)).await? {
                Together::Done(many) => return Ok(many),
                Together::Apart => {}
            }
        }
        let mut left = most;
        let mut out = Vec::with_capacity(sets.len());
        for params in sets {
            let CompiledRows::Rows(rows) = self.run(ctx, params).await? else { return Ok(None) };
            // Rows without columns are a number.
            let given = rows.as_ref().filter(|rows| rows.num_columns() > 0).map_or(0, RecordBatch::num_rows);
            let Some(rest) = left.checked_sub(given) else { return Ok(None) };
            left = rest;
            out.push(rows);
        }
        Ok(Some(out))
    }

    /// Whether it takes the first rows of a range, of which the others may be many.
    fn takes_first(&self) -> bool {
        let many = matches!(&self.way, AccessMethod::Range(range) if !range.unique);
        many && self.limit.is_some() && self.conditions.is_empty()
    }

    async fn together(&self, ctx: &StatementContext, sets: &[&[ScalarValue]], most: usize) -> PgResult<Together> {
        let table = self.scan_table(ctx);
        let source = ColumnSource::Table(Arc::clone(&self.codec));
        match &self.way {
            AccessMethod::Row(key) => {
                let mut wanted = Vec::with_capacity(sets.len());
                for params in sets {
                    let key = self.encode_key(key, EvalArgs { eval: &ctx.eval, params })?;
                    let ranges = key.iter().map(|key| KeyRange::point(key)).collect();
                    wanted.push(Wanted { ranges, offset: None, limit: None });
                }
                let mut ranges = ranges_of(&wanted);
                ranges.dedup();
                table.record(self.codec.storage, &ranges);
                let mut decoder = self.row_decoder(ranges.len())?;
                let keys = get_keyed(&table, &source, ranges.iter().filter_map(KeyRange::as_point), &mut decoder).await?;
                let rows = self.read_batch(&mut decoder)?;
                *self.decoder.lock() = Some(decoder);
                self.divided(&ctx.eval, sets, &wanted, &keys, None, false, &rows).map(Together::Done)
            }
            AccessMethod::Range(range) => self.ranges_together(range, &table, &ctx.eval, sets, most).await,
            AccessMethod::Search(_) => Ok(Together::Apart),
        }
    }

    async fn ranges_together(
        &self,
        range: &Range,
        table: &ScanTable,
        eval: &EvalContext,
        sets: &[&[ScalarValue]],
        most: usize,
    ) -> PgResult<Together> {
        if !self.is_short() || table.view.timestamp().0 < range.readable_from {
            return Ok(Together::Done(None));
        }
        let short = if range.looks_up { SHORT_LOOKUPS } else { SHORT_ROWS };
        let mut wanted = Vec::with_capacity(sets.len());
        let mut unique = range.unique && range.equals.is_some();
        for params in sets {
            let known = EvalArgs { eval, params };
            let (Ok(offset), Ok(limit)) = (count(self.offset.as_ref(), known), count(self.limit.as_ref(), known)) else {
                return Ok(Together::Done(None));
            };
            let ranges = match range.key_ranges(known) {
                Narrowed::Ranges(ranges) => ranges,
                Narrowed::Nothing => Vec::new(),
                Narrowed::Unsuitable => return Ok(Together::Done(None)),
            };
            wanted.push(Wanted { ranges, offset, limit });
        }
        let mut ranges = ranges_of(&wanted);
        ranges.dedup();
        table.record(range.source.storage(), &ranges);
        let of_rows = !range.looks_up && matches!(range.source, ColumnSource::Table(_));
        let points = of_rows && ranges.iter().all(|range| range.as_point().is_some());
        unique |= points;
        // Ranges that only touch stay apart: each may be one that the store has kept.
        let overlap = |pair: &[KeyRange]| matches!(pair, [a, b] if a.end.as_ref().is_none_or(|end| *end > b.start));
        if !unique && ranges.windows(2).any(overlap) {
            ranges = normalize(ranges);
        }

        let kept = self.entries.lock().take();
        let mut entries = match kept {
            Some(entries) => entries,
            None if range.looks_up => ScanDecoder::new(&range.source, &[], ranges.len())?.collect_row_keys(&range.source)?,
            None => ScanDecoder::new(&range.source, &self.read, ranges.len())?,
        };
        // Without conditions as many are given (rows without columns are a number), and those that several sets ask for are given several times.
        let all_given = !self.given.is_empty() && self.conditions.is_empty() && self.offset.is_none() && self.limit.is_none();
        let keys = if unique {
            // A unique entry has no other part.
            get_keyed(table, &range.source, ranges.iter().map(|range| range.start.as_slice()), &mut entries).await?
        } else {
            entries.set_max_rows(if all_given { most.saturating_add(1) } else { MANY_ROWS });
            let read = RangeRead {
                table: range.source.storage(),
                families: entries.families(),
                range: KeyRange::empty(),
                reverse: false,
                limit: None,
                fill_cache: true,
            };
            let mut sink = Keyed { decoder: &mut entries, keys: KeyList::new() };
            table.view.scan_ranges(read, &ranges, AT_ONCE, &mut sink).await?;
            let keys = sink.keys;
            if let Some(error) = entries.take_error() {
                return Err(error);
            }
            keys
        };
        if !points && wanted.iter().any(|wanted| wanted.ranges.iter().map(|range| within(&keys, range).len()).sum::<usize>() > short) {
            range.misses.fetch_add(1, Ordering::Relaxed);
            return Ok(Together::Done(None));
        }
        if !unique && entries.is_full() {
            return Ok(if all_given && entries.rows() > most { Together::Done(None) } else { Together::Apart });
        }
        let (rows, before) = if range.looks_up {
            let pointed = entries.take_keys();
            entries.finish()?;
            *self.entries.lock() = Some(entries);
            if let Some(txn) = table.txn.as_ref().filter(|txn| txn.records_reads()) {
                pointed.iter().for_each(|key| txn.record_read(self.codec.storage, &KeyRange::point(key)));
            }
            let mut decoder = self.row_decoder(pointed.len())?;
            let source = ColumnSource::Table(Arc::clone(&self.codec));
            let found = get_keyed(table, &source, pointed.iter(), &mut decoder).await?;
            let rows = self.read_batch(&mut decoder)?;
            *self.decoder.lock() = Some(decoder);
            (rows, Some(rows_before(&pointed, &found)))
        } else {
            let rows = self.read_batch(&mut entries)?;
            *self.entries.lock() = Some(entries);
            (rows, None)
        };
        self.divided(eval, sets, &wanted, &keys, before.as_deref(), range.reverse, &rows).map(Together::Done)
    }

    /// A decoder of rows that are read by their keys.
    fn row_decoder(&self, rows: usize) -> PgResult<ScanDecoder> {
        let kept = self.decoder.lock().take();
        match kept {
            Some(decoder) => Ok(decoder),
            None => ScanDecoder::new(&ColumnSource::Table(Arc::clone(&self.codec)), &self.read, rows),
        }
    }

    fn read_batch(&self, decoder: &mut ScanDecoder) -> PgResult<RecordBatch> {
        let options = RecordBatchOptions::new().with_row_count(Some(decoder.rows()));
        Ok(RecordBatch::try_new_with_options(Arc::clone(&self.read_schema), decoder.finish()?, &options)?)
    }

    /// The rows of each set, of those that were read: `keys` are the ascending keys of rows, or those of entries, with the number of
    /// rows `before` each of them.
    #[allow(clippy::too_many_arguments)]
    fn divided(
        &self,
        eval: &EvalContext,
        sets: &[&[ScalarValue]],
        wanted: &[Wanted],
        keys: &KeyList,
        before: Option<&[usize]>,
        reverse: bool,
        rows: &RecordBatch,
    ) -> PgResult<Many> {
        let mut out = Vec::with_capacity(sets.len());
        for (params, Wanted { ranges, offset, limit }) in sets.iter().zip(wanted) {
            let mut parts: Vec<RecordBatch> = Vec::with_capacity(ranges.len());
            for range in ranges {
                let mut at = within(keys, range);
                if let Some(before) = before {
                    at = before.get(at.start).copied().unwrap_or(0)..before.get(at.end).copied().unwrap_or(0);
                }
                if !at.is_empty() {
                    parts.push(rows.slice(at.start, at.len()));
                }
            }
            let mut batch = match parts.as_slice() {
                [] => {
                    out.push(None);
                    continue;
                }
                [one] => one.clone(),
                several => concat_batches(rows.schema_ref(), several)?,
            };
            if reverse && batch.num_rows() > 1 && batch.num_columns() > 0 {
                let last = u32::try_from(batch.num_rows()).map_err(|_| PgError::internal("too many rows at once"))?;
                batch = take_record_batch(&batch, &UInt32Array::from_iter_values((0..last).rev()))?;
            }
            let known = EvalArgs { eval, params };
            let batch = self.passing(batch, known)?;
            out.push(match batch.num_rows() {
                0 => None,
                _ => Some(limited(self.projected(batch, known)?, *offset, *limit)),
            });
        }
        Ok(Some(out))
    }
}

/// The ranges of all sets, ascending.
fn ranges_of(wanted: &[Wanted]) -> Vec<KeyRange> {
    let mut ranges: Vec<KeyRange> = wanted.iter().flat_map(|wanted| wanted.ranges.iter().cloned()).collect();
    ranges.sort_unstable();
    ranges
}

/// The positions of the keys that lie in a range, among ascending ones.
fn within(keys: &KeyList, range: &KeyRange) -> std::ops::Range<usize> {
    let from = first_from(keys, &range.start);
    let to = range.end.as_ref().map_or(keys.len(), |end| first_from(keys, end));
    from..to.max(from)
}

/// The position of the first key that is not below another.
fn first_from(keys: &KeyList, key: &[u8]) -> usize {
    let (mut from, mut to) = (0, keys.len());
    while from < to {
        let middle = from + (to - from) / 2;
        if keys.get(middle) < key {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    from
}

/// Reads rows by their keys, many in a call; gives the keys of those that there are.
async fn get_keyed<'k>(
    table: &ScanTable,
    source: &ColumnSource,
    keys: impl Iterator<Item = &'k [u8]>,
    decoder: &mut ScanDecoder,
) -> PgResult<KeyList> {
    let wanted: Vec<&[u8]> = keys.collect();
    let families = decoder.families();
    decoder.set_max_rows(usize::MAX);
    let mut sink = Keyed { decoder, keys: KeyList::new() };
    for some in wanted.chunks(AT_ONCE) {
        table.view.get(source.storage(), families.clone(), some, &mut sink).await?;
    }
    let found = sink.keys;
    match decoder.take_error() {
        Some(error) => Err(error),
        None => Ok(found),
    }
}

/// How many of the keys before each one, and before the end, were found; `found` are some of them in their order.
fn rows_before(keys: &KeyList, found: &KeyList) -> Vec<usize> {
    let mut out = Vec::with_capacity(keys.len() + 1);
    let mut rows = 0;
    for key in keys.iter() {
        out.push(rows);
        if rows < found.len() && found.get(rows) == key {
            rows += 1;
        }
    }
    out.push(rows);
    out
}
