//! ANALYZE of one table: all row keys are passed, a sample of the rows is decoded.
//!
//! A row is in the sample if the hash of its key is below a threshold, so that neighbours are as likely as any. The number of
//! distinct values is estimated as PostgreSQL does (Haas and Stokes, "Estimating the number of classes in a finite population",
//! 1998, the estimator Duj1).

use super::{ColumnValues, TableStatistics, Value};
use crate::catalog::{ColumnDescriptor, ColumnId, Epoch, TableDescriptor};
use crate::row::types::part_kind;
use crate::row::{ColumnSource, KeyColumn, RowCodec, ScanDecoder};
use crate::txn::{RangeRead, ReadView, store_error};
use arrow::array::{Array, ArrayRef};
use std::ops::ControlFlow;
use stoa_encoding::keyside::{Direction, KeyPart, NullOrder};
use stoa_pg::{EvalContext, PgResult};
use stoa_store::{CellRef, KeyRange, RowSink};
use xxhash_rust::xxh3::xxh3_64;

/// Rows of a sample.
const SAMPLE: u64 = 30_000;
/// Common values and cuts of a histogram.
const TARGET: usize = 100;
/// Bytes of a value that are looked at; longer ones count for their number only.
const LONGEST: usize = 1000;

struct Sampler {
    decoder: ScanDecoder,
    threshold: u64,
    rows: u64,
}

impl RowSink for Sampler {
    fn row(&mut self, key: &[u8], cells: &[CellRef<'_>]) -> ControlFlow<()> {
        self.rows += 1;
        if xxh3_64(key) <= self.threshold && (self.decoder.rows() as u64) < 4 * SAMPLE {
            let _ = self.decoder.row(key, cells);
        }
        ControlFlow::Continue(())
    }
}

/// Collects the statistics of a table at a view; `check` is asked now and then whether to go on.
///
/// # Errors
/// The store failed, a row cannot be read, or what `check` raises.
pub async fn collect(
    view: &ReadView,
    table: &TableDescriptor,
    now_us: i64,
    check: &(dyn Fn() -> PgResult<()> + Sync),
) -> PgResult<TableStatistics> {
    let codec = RowCodec::of(&std::sync::Arc::new(table.clone()))?;
    let regions = view.store.regions(codec.storage).await.map_err(store_error)?;
    let expected: u64 = regions.iter().map(|r| r.approximate_rows).sum();
    let threshold = if expected <= 2 * SAMPLE { u64::MAX } else { (u64::MAX / expected).saturating_mul(SAMPLE) };
    let columns: Vec<&ColumnDescriptor> = table.live_columns().filter(|c| !c.hidden).collect();
    let ids: Vec<ColumnId> = columns.iter().map(|c| c.id).collect();
    let source = ColumnSource::Table(codec.clone());
    let mut decoder = ScanDecoder::new(&source, &ids, 8192)?;
    decoder.set_max_rows(usize::MAX);
    let families = decoder.families();
    let mut sampler = Sampler { decoder, threshold, rows: 0 };
    let read = RangeRead { table: codec.storage, families, range: KeyRange::all(), reverse: false, limit: None, fill_cache: false };
    let mut scan = view.scan(read).await?;
    while scan.next_block(16_384, &mut sampler).await? {
        check()?;
    }
    let Sampler { mut decoder, rows, .. } = sampler;
    let sampled = decoder.rows();
    let arrays = decoder.finish()?;
    let mut out = TableStatistics {
        rows: rows as f64,
        collected_us: now_us,
        explicit: false,
        columns: Vec::new(),
        epoch: Epoch::Postgres,
        outdated: false,
    };
    for (column, array) in columns.iter().zip(&arrays) {
        check()?;
        out.columns.push(values_of(column, array, sampled, rows as f64)?);
    }
    Ok(out)
}

/// The statistics of one column from the sample's values.
fn values_of(column: &ColumnDescriptor, array: &ArrayRef, sampled: usize, rows: f64) -> PgResult<ColumnValues> {
    let nulls = array.null_count();
    let mut out = ColumnValues {
        column: column.id,
        null_share: if sampled == 0 { 0.0 } else { nulls as f64 / sampled as f64 },
        width: column.ty.arrow.primitive_width().unwrap_or(0) as f64,
        distinct: 0.0,
        common: Vec::new(),
        histogram: Vec::new(),
        correlation: None,
    };
    let Ok(kind) = part_kind(&column.ty) else { return Ok(out) };
    let part = KeyPart::nullable(kind, Direction::Asc, NullOrder::Last);
    let keys = KeyColumn::new(&column.ty, array)?;
    let mut values: Vec<(Vec<u8>, usize)> = Vec::with_capacity(sampled - nulls.min(sampled));
    let mut bytes = 0;
    for row in 0..array.len() {
        if array.is_null(row) {
            continue;
        }
        let mut key = Vec::new();
        keys.encode(part, row, &mut key)?;
        bytes += key.len();
        key.truncate(LONGEST);
        values.push((key, row));
    }
    let present = values.len();
    if present == 0 {
        return Ok(out);
    }
    if out.width == 0.0 {
        // Without the tag and the end of a text.
        out.width = (bytes as f64 / present as f64 - 3.0).max(1.0);
    }
    values.sort();
    out.correlation = correlation(&values);
    // Runs of equal values: where each starts, and how long it is.
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (at, (key, _)) in values.iter().enumerate() {
        match runs.last_mut() {
            Some((start, count)) if values.get(*start).is_some_and(|(k, _)| k == key) => *count += 1,
            _ => runs.push((at, 1)),
        }
    }
    let present_rows = rows * (1.0 - out.null_share);
    out.distinct = distinct(present as f64, &runs, present_rows, rows);
    let text = |row: usize| -> PgResult<String> {
        let mut text = Vec::new();
        stoa_pg::values::writer(&EvalContext::default(), &column.ty, array.as_ref())?.text(row, &mut text)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    };
    let value = |at: usize| -> PgResult<Option<Value>> {
        let Some((key, row)) = values.get(at) else { return Ok(None) };
        Ok(Some(Value { text: text(*row)?, key: key.clone() }))
    };
    let complete = runs.len() <= TARGET && (sampled as f64 >= rows || runs.iter().all(|(_, count)| *count > 1));
    let average = present as f64 / runs.len() as f64;
    let mut common: Vec<(usize, usize)> =
        runs.iter().copied().filter(|(_, count)| *count > 1 && (complete || *count as f64 > 1.25 * average)).collect();
    common.sort_by_key(|(start, count)| (std::cmp::Reverse(*count), *start));
    common.truncate(TARGET);
    for (start, count) in &common {
        if let Some(value) = value(*start)? {
            out.common.push((value, *count as f64 / sampled as f64));
        }
    }
    let is_common: std::collections::HashSet<usize> = common.iter().map(|(start, _)| *start).collect();
    let rest: Vec<usize> =
        runs.iter().filter(|(start, _)| !is_common.contains(start)).flat_map(|(start, count)| *start..*start + *count).collect();
    let different = runs.len() - common.len();
    if different >= 2 {
        let cuts = TARGET.min(rest.len().saturating_sub(1)).max(1);
        for n in 0..=cuts {
            if let Some(value) = rest.get(n * (rest.len() - 1) / cuts).map(|at| value(*at)).transpose()?.flatten() {
                out.histogram.push(value);
            }
        }
    }
    Ok(out)
}

fn distinct(present: f64, runs: &[(usize, usize)], present_rows: f64, rows: f64) -> f64 {
    let different = runs.len() as f64;
    let once = runs.iter().filter(|(_, count)| *count == 1).count() as f64;
    let estimate = if once == 0.0 || present_rows <= present {
        different
    } else if once == different && different == present {
        present_rows
    } else {
        (present * different / (present - once + once * present / present_rows)).clamp(different, present_rows)
    };
    // What grows with the table is kept as a share.
    if estimate > 0.1 * rows && rows > 0.0 { -(estimate / rows).min(1.0) } else { estimate.floor() }
}

/// Between the order of values and that of rows; `values` are sorted.
fn correlation(values: &[(Vec<u8>, usize)]) -> Option<f64> {
    let n = values.len() as f64;
    if n < 2.0 {
        return None;
    }
    let mean = (n - 1.0) / 2.0;
    let spread: f64 = (n * n - 1.0) * n / 12.0;
    // Rows are numbered without those that are NULL.
    let mut order: Vec<(usize, usize)> = values.iter().enumerate().map(|(at, (_, row))| (*row, at)).collect();
    order.sort_unstable();
    let shared: f64 = order.iter().enumerate().map(|(position, (_, at))| (position as f64 - mean) * (*at as f64 - mean)).sum();
    Some((shared / spread).clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn distinct_values_are_estimated() {
        let once: Vec<(usize, usize)> = (0..1000).map(|n| (n, 1)).collect();
        assert_eq!(distinct(1000.0, &once, 1e6, 1e6), -1.0);
        let ten: Vec<(usize, usize)> = (0..10).map(|n| (n * 100, 100)).collect();
        assert_eq!(distinct(1000.0, &ten, 1e6, 1e6), 10.0);
        let some: Vec<(usize, usize)> = (0..100).map(|n| (n, 1)).chain((0..450).map(|n| (n, 2))).collect();
        let found = distinct(1000.0, &some, 1e6, 1e6);
        assert!((600.0..620.0).contains(&found), "{found}");
    }
}
