//! Scans key ranges of an index and reads the rows that its entries point to, in the order of the index.

use super::point_get::get_rows;
use super::ranges::{FirstRows, Ranges};
use super::scan_output::{Coalescer, ScanOutput, describe};
use super::source::SourceTable;
use crate::leaf_methods;
use crate::scan_table::ScanTable;
use arrow::array::RecordBatch;
use datafusion::common::{DataFusionError, Result, Statistics};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalSortExpr;
use datafusion::physical_plan::metrics::{BaselineMetrics, Count, ExecutionPlanMetricsSet, MetricBuilder};
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SortOrderPushdownResult};
use std::fmt;
use std::sync::Arc;
use std::time::Instant;
use stoa_table::KeyRange;
use stoa_table::access::{AccessPath, PathKind};
use stoa_table::row::{ColumnSource, IndexCodec, ScanDecoder};
use stoa_table::txn::{RangeRead, ViewScan};

/// Entries whose rows are read together.
const ENTRIES_AT_ONCE: usize = 1024;
/// The first read is small: a LIMIT above may want no more.
const FIRST_ENTRIES: usize = 64;

/// See the module.
#[derive(Clone, Debug)]
pub struct IndexLookupExec {
    pub table: SourceTable,
    pub path: Arc<AccessPath>,
    index: Arc<IndexCodec>,
    /// Ascending; one, or one for each salt bucket, so that each is in the order of the index.
    partitions: Arc<[Vec<KeyRange>]>,
    output: ScanOutput,
    reverse: bool,
    rows: f64,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl IndexLookupExec {
    #[must_use]
    pub fn new(table: SourceTable, path: Arc<AccessPath>, index: Arc<IndexCodec>, output: ScanOutput, rows: f64) -> Self {
        let partitions = vec![path.scope.ranges.clone()];
        Self::of_partitions(table, path, index, partitions, output, rows)
    }

    /// A lookup whose partitions each lie in one salt bucket.
    #[must_use]
    pub fn of_partitions(
        table: SourceTable,
        path: Arc<AccessPath>,
        index: Arc<IndexCodec>,
        partitions: Vec<Vec<KeyRange>>,
        output: ScanOutput,
        rows: f64,
    ) -> Self {
        let partitions: Arc<[Vec<KeyRange>]> = if partitions.is_empty() { vec![Vec::new()].into() } else { partitions.into() };
        let properties = Arc::new(Self::compute_properties(&path, &partitions, &output, false));
        Self { table, path, index, partitions, output, reverse: false, rows, properties, metrics: ExecutionPlanMetricsSet::new() }
    }

    /// The same lookup, in its order, of fewer entries of the same ranges.
    pub fn with_path(&self, path: Arc<AccessPath>, rows: f64) -> Self {
        Self { path, rows, metrics: ExecutionPlanMetricsSet::new(), ..self.clone() }
    }

    /// As of a scan: whether it gives one row of each value that it skips over, and in the order of the values.
    pub fn gives_one_of_each(&self) -> bool {
        self.path.takes_first() && self.partitions.len() == 1 && self.path.scope.one_bucket
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

    fn compute_properties(path: &AccessPath, partitions: &[Vec<KeyRange>], output: &ScanOutput, reverse: bool) -> PlanProperties {
        let constant = path.scope.constant_parts;
        let ordered = path.scope.one_bucket || partitions.len() > 1;
        let order = if ordered { path.order() } else { Vec::new() };
        output.properties(&order, constant, reverse, partitions.len())
    }

    pub fn with_output(&self, output: ScanOutput) -> Self {
        self.with(output, self.reverse)
    }

    fn with(&self, output: ScanOutput, reverse: bool) -> Self {
        let properties = Arc::new(Self::compute_properties(&self.path, &self.partitions, &output, reverse));
        Self { output, reverse, properties, metrics: ExecutionPlanMetricsSet::new(), ..self.clone() }
    }
}

impl DisplayAs for IndexLookupExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IndexLookupExec: ")?;
        if let PathKind::Index { at, .. } = &self.path.kind
            && let Some(index) = self.table.table.indexes.get(*at)
        {
            write!(f, "index={}, ", index.name)?;
        }
        describe(f, &self.table, &self.path, &self.output, self.reverse)
    }
}

impl ExecutionPlan for IndexLookupExec {
    leaf_methods!("IndexLookupExec");

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let source = ColumnSource::Index(Arc::clone(&self.index));
        let rows = ColumnSource::Table(Arc::clone(&self.table.codec));
        let first = match self.output.fetch {
            Some(fetch) if self.output.is_unfiltered() => fetch.clamp(1, ENTRIES_AT_ONCE),
            _ => FIRST_ENTRIES,
        };
        let entries = ScanDecoder::new(&source, &[], first).and_then(|d| d.collect_row_keys(&source)).map_err(DataFusionError::from)?;
        let own = self.partitions.get(partition).cloned().unwrap_or_default();
        let table = self.table.open_path(&self.path, &context)?;
        table.record(self.index.storage, &own);
        let ranges = Ranges::new(&self.path, own, self.reverse);
        let firsts = self.path.takes_first().then(|| FirstRows::new(true));
        let state = LookupState {
            scan: None,
            seeks: firsts.is_some().then(|| MetricBuilder::new(&self.metrics).counter("seeks", partition)),
            firsts,
            entries,
            decoder: self.output.decoder(&rows, first).map_err(DataFusionError::from)?,
            coalescer: Coalescer::new(&self.output, context.session_config().batch_size().max(1)),
            baseline: BaselineMetrics::new(&self.metrics, partition),
            entries_read: MetricBuilder::new(&self.metrics).counter("entries_read", partition),
            bytes_read: MetricBuilder::new(&self.metrics).counter("bytes_read", partition),
            table,
            index: Arc::clone(&self.index),
            output: self.output.clone(),
            source,
            ranges,
            reverse: self.reverse,
            block: first,
            ended: false,
        };
        let stream = futures::stream::try_unfold(state, |mut state| async move {
            let started = Instant::now();
            let batch = state.next().await?;
            // All that it takes, the reading of the store included.
            state.baseline.elapsed_compute().add_elapsed(started);
            Ok(batch.map(|batch| (batch, state)))
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.output.schema), stream)))
    }

    fn statistics_from_inputs(&self, _: &[Arc<Statistics>], args: &StatisticsArgs) -> Result<Arc<Statistics>> {
        let share = if args.partition().is_some() { 1.0 / self.partitions.len().max(1) as f64 } else { 1.0 };
        Ok(Arc::new(self.output.statistics(self.rows * share, self.path.unique_rows())))
    }

    fn try_pushdown_sort(&self, order: &[PhysicalSortExpr]) -> Result<SortOrderPushdownResult<Arc<dyn ExecutionPlan>>> {
        for reverse in [self.reverse, !self.reverse] {
            // The first rows of one order are not those of the other.
            if reverse != self.reverse && (self.output.fetch.is_some() || self.path.takes_first()) {
                break;
            }
            let scan = self.with(self.output.clone(), reverse);
            if scan.properties.equivalence_properties().ordering_satisfy(order.iter().cloned())? {
                return Ok(SortOrderPushdownResult::Exact { inner: Arc::new(scan) });
            }
        }
        Ok(SortOrderPushdownResult::Unsupported)
    }
}

struct LookupState {
    scan: Option<ViewScan>,
    /// Reads the first entry of each value, where no others are wanted.
    firsts: Option<FirstRows>,
    seeks: Option<Count>,
    /// Collects the keys that entries point to.
    entries: ScanDecoder,
    decoder: ScanDecoder,
    coalescer: Coalescer,
    baseline: BaselineMetrics,
    entries_read: Count,
    bytes_read: Count,
    table: ScanTable,
    index: Arc<IndexCodec>,
    output: ScanOutput,
    source: ColumnSource,
    ranges: Ranges,
    reverse: bool,
    block: usize,
    ended: bool,
}

impl LookupState {
    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        while !self.ended && !self.coalescer.is_done() {
            self.ended = !self.fill().await?;
            let keys = self.entries.take_keys();
            self.entries.finish().map_err(DataFusionError::from)?;
            if keys.is_empty() {
                continue;
            }
            self.entries_read.add(keys.len());
            if let Some(txn) = self.table.txn.as_ref().filter(|t| t.records_reads()) {
                keys.iter().for_each(|key| txn.record_read(self.table.codec.storage, &KeyRange::point(key)));
            }
            get_rows(&self.table, &keys, 0..keys.len(), &mut self.decoder).await.map_err(DataFusionError::from)?;
            self.bytes_read.add(self.entries.take_bytes_read() + self.decoder.take_bytes_read());
            self.block = (self.block * 4).min(ENTRIES_AT_ONCE);
            self.entries.set_max_rows(self.block);
            if self.decoder.rows() == 0 {
                continue;
            }
            let batch = self.output.batch(&mut self.decoder)?;
            let batch = self.output.apply(batch)?;
            if let Some(batch) = self.coalescer.push(batch)? {
                self.baseline.record_output(batch.num_rows());
                return Ok(Some(batch));
            }
        }
        let batch = self.coalescer.finish()?;
        match &batch {
            Some(batch) => {
                self.baseline.record_output(batch.num_rows());
            }
            None => self.baseline.done(),
        }
        Ok(batch)
    }

    /// Collects keys; false when the index has no more.
    async fn fill(&mut self) -> Result<bool> {
        if let Some(firsts) = &mut self.firsts {
            let mut more = true;
            while more && !self.entries.is_full() {
                let before = self.entries.rows();
                let read = firsts.read(&mut self.ranges, &self.table, &self.source, &mut self.entries);
                more = read.await.map_err(DataFusionError::from)?;
                if self.entries.rows() > before {
                    firsts.take(&mut self.ranges);
                }
            }
            if let Some(seeks) = &self.seeks {
                seeks.add(self.ranges.take_seeks());
            }
            return Ok(more);
        }
        while !self.entries.is_full() {
            let scan = match &mut self.scan {
                Some(scan) => scan,
                None => {
                    let next = self.ranges.next(&self.table, &self.source).await.map_err(DataFusionError::from)?;
                    let Some(range) = next else { return Ok(false) };
                    let read = RangeRead {
                        table: self.index.storage,
                        families: self.entries.families(),
                        range,
                        reverse: self.reverse,
                        limit: None,
                        fill_cache: true,
                    };
                    self.scan.insert(self.ranges.open(&self.table, read).await.map_err(DataFusionError::from)?)
                }
            };
            let wanted = self.block.saturating_sub(self.entries.rows()).max(1);
            let more = scan.next_block(wanted, &mut self.entries).await.map_err(DataFusionError::from)?;
            if let Some(error) = self.entries.take_error() {
                return Err(error.into());
            }
            if !more {
                self.scan = None;
            }
        }
        Ok(true)
    }
}
