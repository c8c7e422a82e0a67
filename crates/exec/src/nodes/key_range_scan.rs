//! Scans key ranges of a table or of a covering index, in parallel partitions.
//!
//! Invariant: a partition gives its rows in key order (descending when reversed), and its ranges lie in one salt bucket or the
//! declared ordering is empty.

use super::cached_columns::{CachedColumns, ReadFrom, Rows};
use super::point_get::get_rows;
use super::ranges::{FirstRows, Ranges};
use super::scan_output::{Coalescer, ScanOutput, describe};
use super::source::SourceTable;
use crate::leaf_methods;
use crate::scan_table::ScanTable;
use arrow::array::RecordBatch;
use arrow::compute::BatchCoalescer;
use datafusion::common::{DataFusionError, Result, Statistics};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalSortExpr;
use datafusion::physical_plan::metrics::{BaselineMetrics, Count, ExecutionPlanMetricsSet, MetricBuilder};
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SortOrderPushdownResult};
use futures::{StreamExt, TryStreamExt};
use std::fmt;
use std::sync::Arc;
use std::time::Instant;
use stoa_pg::PgResult;
use stoa_table::KeyRange;
use stoa_table::access::{AccessPath, PathKind, PathOptions, Predicate, candidates, scope};
use stoa_table::row::{ColumnSource, KeyList, ScanDecoder};
use stoa_table::txn::{RangeRead, ViewScan};

/// See the module.
#[derive(Clone, Debug)]
pub struct KeyRangeScanExec {
    pub table: SourceTable,
    pub path: Arc<AccessPath>,
    source: ColumnSource,
    /// Ascending; by partition.
    partitions: Arc<[Vec<KeyRange>]>,
    output: ScanOutput,
    reverse: bool,
    /// Rows expected in the ranges.
    rows: f64,
    /// Leading parts that have one value in all ranges.
    constant_parts: usize,
    /// Whether blocks read are worth keeping in the cache.
    fill_cache: bool,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl KeyRangeScanExec {
    /// A scan of a path's ranges, cut into partitions.
    #[must_use]
    pub fn new(
        table: SourceTable,
        path: Arc<AccessPath>,
        partitions: Vec<Vec<KeyRange>>,
        output: ScanOutput,
        rows: f64,
        fill_cache: bool,
    ) -> Self {
        let source = match &path.kind {
            PathKind::Table => ColumnSource::Table(Arc::clone(&table.codec)),
            PathKind::Index { codec, .. } => ColumnSource::Index(Arc::clone(codec)),
        };
        let constant_parts = path.scope.constant_parts;
        let partitions: Arc<[Vec<KeyRange>]> = if partitions.is_empty() { vec![Vec::new()].into() } else { partitions.into() };
        let mut scan = Self {
            table,
            path,
            source,
            partitions,
            properties: Arc::new(output.properties(&[], 0, false, 1)),
            output,
            reverse: false,
            rows,
            constant_parts,
            fill_cache,
            metrics: ExecutionPlanMetricsSet::new(),
        };
        scan.properties = Arc::new(scan.compute_properties());
        scan
    }

    fn compute_properties(&self) -> PlanProperties {
        self.output.properties(&self.order(), self.constant_parts, self.reverse, self.partitions.len())
    }

    /// The parts by which every partition is ordered.
    fn order(&self) -> Vec<stoa_table::row::key::KeyPartCodec> {
        let one_bucket = |ranges: &[KeyRange]| {
            let first = ranges.first().and_then(|r| r.start.first().copied());
            ranges.iter().all(|r| !r.start.is_empty() && r.start.first().copied() == first && stays_in_bucket(r))
        };
        let ordered = self.path.key.salt.is_none() || self.partitions.iter().all(|ranges| one_bucket(ranges));
        if ordered { self.path.order() } else { Vec::new() }
    }

    pub fn with_output(&self, output: ScanOutput) -> Self {
        let mut scan = Self { output, metrics: ExecutionPlanMetricsSet::new(), ..self.clone() };
        scan.properties = Arc::new(scan.compute_properties());
        scan
    }

    fn reversed(&self) -> Self {
        let mut scan = Self { reverse: !self.reverse, metrics: ExecutionPlanMetricsSet::new(), ..self.clone() };
        scan.properties = Arc::new(scan.compute_properties());
        scan
    }

    /// The same scan, in its order, of fewer rows of the same ranges.
    pub fn with_path(&self, path: Arc<AccessPath>, rows: f64) -> Self {
        Self { path, rows, metrics: ExecutionPlanMetricsSet::new(), ..self.clone() }
    }

    /// Whether it gives one row of each value that it skips over, and in the order of the values.
    pub fn gives_one_of_each(&self) -> bool {
        self.path.takes_first() && self.partitions.len() == 1
    }

    /// What it is expected to cost.
    #[must_use]
    pub fn cost(&self) -> f64 {
        self.path.cost(self.rows)
    }

    #[must_use]
    pub fn output(&self) -> &ScanOutput {
        &self.output
    }
}

/// Whether a range of salted keys ends within the bucket in which it starts.
fn stays_in_bucket(range: &KeyRange) -> bool {
    let Some(bucket) = range.start.first() else { return false };
    // Behind the last bucket of 256 there is nothing.
    let Some(end) = range.end.as_deref() else { return *bucket == u8::MAX };
    match end.split_first() {
        Some((last, rest)) => last == bucket || (rest.is_empty() && Some(*last) == bucket.checked_add(1)),
        None => false,
    }
}

impl DisplayAs for KeyRangeScanExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyRangeScanExec: ")?;
        if let PathKind::Index { at, .. } = &self.path.kind
            && let Some(index) = self.table.table.indexes.get(*at)
        {
            write!(f, "index={} (covered), ", index.name)?;
        }
        describe(f, &self.table, &self.path, &self.output, self.reverse)?;
        if self.partitions.len() > 1 {
            write!(f, ", partitions={}", self.partitions.len())?;
        }
        Ok(())
    }
}

impl ExecutionPlan for KeyRangeScanExec {
    leaf_methods!("KeyRangeScanExec");

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let batch_rows = context.session_config().batch_size().max(1);
        let own = self.partitions.get(partition).cloned().unwrap_or_default();
        let table = self.table.open_path(&self.path, &context)?;
        table.record(self.source.storage(), &own);
        let ranges = Ranges::new(&self.path, own, self.reverse);
        let firsts = self.path.takes_first().then(|| FirstRows::new(self.output.is_unfiltered()));
        // A short scan reads no more than it needs.
        let block_rows = match self.output.fetch {
            Some(fetch) if self.output.is_unfiltered() || firsts.is_some() => fetch.clamp(1, batch_rows),
            _ if firsts.is_some() => FIRST_VALUES.min(batch_rows),
            _ => batch_rows,
        };
        let state = ScanState {
            scan: None,
            decoder: self.output.decoder(&self.source, block_rows).map_err(DataFusionError::from)?,
            coalescer: if firsts.is_some() { Coalescer::whole_batches(&self.output) } else { Coalescer::new(&self.output, batch_rows) },
            firsts,
            batch_rows,
            values: 0,
            seeks: MetricBuilder::new(&self.metrics).counter("seeks", partition),
            rows_read: MetricBuilder::new(&self.metrics).counter("rows_read", partition),
            bytes_read: MetricBuilder::new(&self.metrics).counter("bytes_read", partition),
            rows_kept: table.columns.is_some().then(|| MetricBuilder::new(&self.metrics).counter("rows_from_columns_kept", partition)),
            kept: None,
            baseline: BaselineMetrics::new(&self.metrics, partition),
            table,
            source: self.source.clone(),
            output: self.output.clone(),
            ranges,
            reverse: self.reverse,
            fill_cache: self.fill_cache,
            block_rows,
            path: Arc::clone(&self.path),
            rows: self.rows,
            lookup: None,
            is_past: self.table.as_of.is_some(),
            started: false,
            ended: false,
        };
        let stream = futures::stream::try_unfold(state, |mut state| async move {
            let started = Instant::now();
            let batch = state.next().await?;
            // All that it takes, the reading of the store included.
            state.baseline.elapsed_compute().add_elapsed(started);
            Ok(batch.map(|batch| (batch, state)))
        });
        let stream = stream.into_stream().fuse();
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.output.schema), stream)))
    }

    fn statistics_from_inputs(&self, _: &[Arc<Statistics>], args: &StatisticsArgs) -> Result<Arc<Statistics>> {
        let share = if args.partition().is_some() { 1.0 / self.partitions.len().max(1) as f64 } else { 1.0 };
        Ok(Arc::new(self.output.statistics(self.rows * share, self.path.unique_rows())))
    }

    fn try_pushdown_sort(&self, order: &[PhysicalSortExpr]) -> Result<SortOrderPushdownResult<Arc<dyn ExecutionPlan>>> {
        if self.properties.equivalence_properties().ordering_satisfy(order.iter().cloned())? {
            return Ok(SortOrderPushdownResult::Exact { inner: Arc::new(self.clone()) });
        }
        // The first rows of one order are not those of the other.
        if self.output.fetch.is_some() || self.path.takes_first() {
            return Ok(SortOrderPushdownResult::Unsupported);
        }
        let reversed = self.reversed();
        if reversed.properties.equivalence_properties().ordering_satisfy(order.iter().cloned())? {
            return Ok(SortOrderPushdownResult::Exact { inner: Arc::new(reversed) });
        }
        Ok(SortOrderPushdownResult::Unsupported)
    }
}

/// Ranges of an index whose sizes the store is asked for.
const SAMPLED_PROBES: usize = 16;

/// Ranges of a partition up to which columns are kept, and looked for.
const MAX_KEPT_RANGES: usize = 16;

/// Values of which the first rows are read before any is given, at first: a LIMIT above may want no more.
const FIRST_VALUES: usize = 16;

struct ScanState {
    scan: Option<ViewScan>,
    /// Reads the first row of each value, where no others are wanted.
    firsts: Option<FirstRows>,
    decoder: ScanDecoder,
    coalescer: Coalescer,
    seeks: Count,
    rows_read: Count,
    bytes_read: Count,
    /// Of `rows_read`, those that were kept from earlier scans.
    rows_kept: Option<Count>,
    kept: Option<CachedColumns>,
    baseline: BaselineMetrics,
    table: ScanTable,
    source: ColumnSource,
    output: ScanOutput,
    ranges: Ranges,
    reverse: bool,
    fill_cache: bool,
    block_rows: usize,
    batch_rows: usize,
    /// Values whose first rows have been given.
    values: usize,
    path: Arc<AccessPath>,
    /// Rows expected in all partitions.
    rows: f64,
    /// Keys to read instead of ranges, and how many were read.
    lookup: Option<(KeyList, usize)>,
    /// Whether the rows are those of a time before, of which indexes know nothing once their entries have changed.
    is_past: bool,
    /// Whether a row was asked for: by then the dynamic filters are known, which narrow the ranges.
    started: bool,
    ended: bool,
}

impl ScanState {
    /// Uses what the dynamic filters say by now (a join's build side is complete before its probe side is read): fewer ranges,
    /// or, where an index leads to few rows, their keys.
    async fn narrow(&mut self) -> Result<()> {
        let predicates = self.output.dynamic_predicates();
        let wanted = scope(&self.path.key, &predicates);
        if !wanted.is_full() {
            self.ranges.keep(&wanted.ranges);
            return Ok(());
        }
        if matches!(self.path.kind, PathKind::Table) && self.path.skip.is_none() && !self.is_past {
            let found = self.keys_by_index(&predicates).await.map_err(DataFusionError::from)?;
            if let Some(mut keys) = found {
                if self.reverse {
                    keys.reverse();
                }
                let mut list = KeyList::new();
                keys.iter().for_each(|k| list.push(k));
                self.lookup = Some((list, 0));
                self.ranges.clear();
            }
        }
        Ok(())
    }

    /// The keys of this partition's rows that the predicates may pass, ascending, if an index finds them cheaply.
    async fn keys_by_index(&mut self, predicates: &[Predicate]) -> PgResult<Option<Vec<Vec<u8>>>> {
        /// More ranges than this are not worth asking for.
        const MAX_PROBES: usize = 4096;
        let options = PathOptions { columns: &self.output.read, index_predicates: &|_| None, distinct: None };
        let tables = self.table.view.tables();
        let mut best: Option<(f64, AccessPath)> = None;
        for path in candidates(&self.table.table, &self.table.codec, predicates, &options)? {
            let PathKind::Index { codec, at, .. } = &path.kind else { continue };
            let late = |i: &stoa_table::catalog::IndexDescriptor| i.readable_from > self.table.view.timestamp().0;
            if self.table.table.indexes.get(*at).is_none_or(late) {
                continue;
            }
            if path.scope.equal_parts == 0 || path.scope.ranges.len() > MAX_PROBES {
                continue;
            }
            let probed: Vec<_> =
                path.scope.ranges.iter().take(SAMPLED_PROBES).map(|range| (codec.storage, std::slice::from_ref(range))).collect();
            let rows: u64 = tables.extents(&[], &probed).await?.sizes.iter().map(|(_, rows)| (*rows).max(1)).sum();
            let sampled = path.scope.ranges.len().clamp(1, SAMPLED_PROBES);
            let rows = path.unique_rows().map_or(rows as f64 * path.scope.ranges.len() as f64 / sampled as f64, |n| n as f64);
            let scatter = self.output.request.as_ref().map_or(1.0, |request| request.scatter(&path.key));
            let cost = 3.0 * path.scope.ranges.len() as f64 + 5.0 * scatter * rows;
            if cost < self.rows && best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, path));
            }
        }
        let Some((_, path)) = best else { return Ok(None) };
        let PathKind::Index { codec, .. } = &path.kind else { return Ok(None) };
        self.table.record(codec.storage, &path.scope.ranges);
        let source = ColumnSource::Index(Arc::clone(codec));
        let mut entries = ScanDecoder::new(&source, &[], 1024)?.collect_row_keys(&source)?;
        entries.set_max_rows(usize::MAX);
        let range = KeyRange::empty();
        let read = RangeRead { table: codec.storage, families: entries.families(), range, reverse: false, limit: None, fill_cache: true };
        self.table.view.scan_ranges(read, &path.scope.ranges, 1024, &mut entries).await?;
        if let Some(error) = entries.take_error() {
            return Err(error);
        }
        let keys = entries.take_keys();
        let mut out: Vec<Vec<u8>> = keys.iter().filter(|key| self.ranges.contain(key)).map(<[u8]>::to_vec).collect();
        out.sort_unstable();
        out.dedup();
        Ok(Some(out))
    }

    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        if !self.started {
            self.started = true;
            if !self.output.dynamic.is_empty() {
                self.narrow().await?;
            }
            // Many short ranges are read together instead.
            let alone = self.lookup.is_none() && self.path.skip.is_none() && !self.reverse && self.ranges.len() <= MAX_KEPT_RANGES;
            if alone && (self.output.fetch.is_none() || !self.output.is_unfiltered()) {
                self.kept = CachedColumns::new(&self.table, &self.source, &self.output);
            }
            // What would be kept for others has all rows.
            if self.kept.is_none() && self.firsts.is_none() {
                self.decoder.set_tests(&self.output.tests);
            }
        }
        loop {
            if self.ended || self.coalescer.is_done() {
                let batch = self.coalescer.finish()?;
                if let Some(batch) = &batch {
                    self.baseline.record_output(batch.num_rows());
                } else {
                    self.baseline.done();
                }
                return Ok(batch);
            }
            if self.firsts.is_some() {
                let Some(batch) = self.first_rows().await? else {
                    self.ended = true;
                    continue;
                };
                if let Some(out) = self.coalescer.push(batch)? {
                    self.baseline.record_output(out.num_rows());
                    return Ok(Some(out));
                }
                continue;
            }
            let kept = match &mut self.kept {
                None => {
                    self.ended = !self.fill().await?;
                    None
                }
                Some(kept) => {
                    let mut from = ReadFrom {
                        table: &self.table,
                        source: &self.source,
                        output: &self.output,
                        ranges: &mut self.ranges,
                        decoder: &mut self.decoder,
                        block_rows: self.block_rows,
                        fill_cache: self.fill_cache,
                    };
                    let next = kept.next(&mut from).await.map_err(DataFusionError::from)?;
                    self.ended = next.is_none();
                    next
                }
            };
            let rows = kept.as_ref().map_or(self.decoder.rows(), |kept| kept.rows);
            self.rows_read.add(rows);
            self.bytes_read.add(self.decoder.take_bytes_read());
            self.seeks.add(self.ranges.take_seeks());
            if rows == 0 {
                continue;
            }
            let batch = match kept {
                None => self.output.batch(&mut self.decoder)?,
                Some(Rows { columns, rows, kept }) => {
                    if let Some(count) = self.rows_kept.as_ref().filter(|_| kept) {
                        count.add(rows);
                    }
                    self.output.of_columns(columns, rows)?
                }
            };
            let batch = self.output.apply(batch)?;
            let out = self.coalescer.push(batch)?;
            if let Some(batch) = out {
                self.baseline.record_output(batch.num_rows());
                return Ok(Some(batch));
            }
        }
    }

    /// The first rows of the next values, of more the more were asked for; `None` at the end.
    async fn first_rows(&mut self) -> Result<Option<RecordBatch>> {
        let Some(firsts) = &mut self.firsts else { return Ok(None) };
        let wanted = self.block_rows;
        let unfiltered = self.output.is_unfiltered();
        self.decoder.set_max_rows(if unfiltered { wanted } else { self.batch_rows });
        let mut passed = BatchCoalescer::new(Arc::clone(&self.output.schema), wanted);
        let mut more = true;
        while more && !self.decoder.is_full() && !passed.has_completed_batch() {
            let before = self.decoder.rows();
            let read = firsts.read(&mut self.ranges, &self.table, &self.source, &mut self.decoder);
            more = read.await.map_err(DataFusionError::from)?;
            let rows = self.decoder.rows() - before;
            self.rows_read.add(rows);
            if rows == 0 {
                continue;
            }
            if unfiltered {
                firsts.take(&mut self.ranges);
                continue;
            }
            let batch = self.output.apply(self.output.batch(&mut self.decoder)?)?;
            if batch.num_rows() > 0 {
                firsts.take(&mut self.ranges);
                passed.push_batch(batch.slice(0, 1))?;
            }
        }
        self.bytes_read.add(self.decoder.take_bytes_read());
        self.seeks.add(self.ranges.take_seeks());
        // A LIMIT above ends the scan a few batches late.
        self.values += wanted;
        self.block_rows = (self.values / 4).clamp(wanted, self.batch_rows);
        if unfiltered {
            let any = self.decoder.rows() > 0;
            return if any { self.output.apply(self.output.batch(&mut self.decoder)?).map(Some) } else { Ok(None) };
        }
        passed.finish_buffered_batch()?;
        Ok(passed.next_completed_batch())
    }

    /// Reads until the decoder is full; false when there is no more.
    async fn fill(&mut self) -> Result<bool> {
        if let Some((keys, at)) = &mut self.lookup {
            let to = (*at + self.block_rows).min(keys.len());
            get_rows(&self.table, keys, *at..to, &mut self.decoder).await.map_err(DataFusionError::from)?;
            self.seeks.add(to - *at);
            *at = to;
            return Ok(to < keys.len());
        }
        while !self.decoder.is_full() {
            let scan = match &mut self.scan {
                Some(scan) => scan,
                None => {
                    let next = self.ranges.next(&self.table, &self.source).await.map_err(DataFusionError::from)?;
                    let Some(range) = next else { return Ok(false) };
                    // Where the first family has ended, what is left of a row is passed over.
                    let all_are_rows = !self.table.table.rows_end();
                    let limited = self.output.is_unfiltered() && all_are_rows;
                    let limit = self.output.fetch.filter(|_| limited).and_then(|n| u64::try_from(n).ok());
                    let read = RangeRead {
                        table: self.source.storage(),
                        families: self.decoder.families(),
                        range,
                        reverse: self.reverse,
                        limit,
                        fill_cache: self.fill_cache,
                    };
                    self.scan.insert(self.ranges.open(&self.table, read).await.map_err(DataFusionError::from)?)
                }
            };
            let wanted = self.block_rows.saturating_sub(self.decoder.rows()).max(1);
            let more = scan.next_block(wanted, &mut self.decoder).await.map_err(DataFusionError::from)?;
            if let Some(error) = self.decoder.take_error() {
                return Err(error.into());
            }
            if !more {
                self.scan = None;
            }
        }
        Ok(true)
    }
}
