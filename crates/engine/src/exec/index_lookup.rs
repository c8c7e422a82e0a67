//! Scans key ranges of an index and reads the rows that its entries point to, in the order of the index.

use super::leaf::leaf_methods;
use super::point_get::get_rows;
use super::scan_output::{Gather, ScanOutput, ScanTable, describe};
use crate::access::{AccessPath, PathKind};
use crate::row::{ColumnSource, IndexCodec, ScanDecoder};
use crate::txn::{RangeRead, ViewScan};
use arrow::array::RecordBatch;
use datafusion::common::{DataFusionError, Result, Statistics};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalSortExpr;
use datafusion::physical_plan::metrics::{BaselineMetrics, Count, ExecutionPlanMetricsSet, MetricBuilder};
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SortOrderPushdownResult};
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use stoa_store::KeyRange;

/// Entries whose rows are read together.
const ENTRIES_AT_ONCE: usize = 1024;
/// The first read is small: a LIMIT above may want no more.
const FIRST_ENTRIES: usize = 64;

/// See the module.
#[derive(Clone, Debug)]
pub struct IndexLookupExec {
    pub table: ScanTable,
    pub path: Arc<AccessPath>,
    index: Arc<IndexCodec>,
    output: ScanOutput,
    reverse: bool,
    rows: f64,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl IndexLookupExec {
    #[must_use]
    pub fn new(table: ScanTable, path: Arc<AccessPath>, index: Arc<IndexCodec>, output: ScanOutput, rows: f64) -> Self {
        let properties = Arc::new(Self::compute_properties(&path, &output, false));
        Self { table, path, index, output, reverse: false, rows, properties, metrics: ExecutionPlanMetricsSet::new() }
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

    fn compute_properties(path: &AccessPath, output: &ScanOutput, reverse: bool) -> PlanProperties {
        let constant = if path.scope.ranges.len() == 1 { path.scope.equal_parts } else { 0 };
        let order = if path.scope.one_bucket { path.key.parts.as_slice() } else { &[] };
        output.properties(order, constant, reverse, 1)
    }

    pub(crate) fn with_output(&self, output: ScanOutput) -> Self {
        self.with(output, self.reverse)
    }

    fn with(&self, output: ScanOutput, reverse: bool) -> Self {
        let properties = Arc::new(Self::compute_properties(&self.path, &output, reverse));
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
        self.table.record(self.index.storage, &self.path.scope.ranges);
        let source = ColumnSource::Index(Arc::clone(&self.index));
        let rows = ColumnSource::Table(Arc::clone(&self.table.codec));
        let first = match self.output.fetch {
            Some(fetch) if self.output.is_unfiltered() => fetch.clamp(1, ENTRIES_AT_ONCE),
            _ => FIRST_ENTRIES,
        };
        let entries = ScanDecoder::new(&source, &[], first).and_then(|d| d.collect_row_keys(&source)).map_err(DataFusionError::from)?;
        let mut ranges: VecDeque<KeyRange> = self.path.scope.ranges.clone().into();
        if self.reverse {
            ranges.make_contiguous().reverse();
        }
        let state = LookupState {
            scan: None,
            entries,
            decoder: self.output.decoder(&rows, first).map_err(DataFusionError::from)?,
            gather: Gather::new(&self.output, context.session_config().batch_size().max(1)),
            baseline: BaselineMetrics::new(&self.metrics, partition),
            entries_read: MetricBuilder::new(&self.metrics).counter("entries_read", partition),
            table: self.table.clone(),
            index: Arc::clone(&self.index),
            output: self.output.clone(),
            ranges,
            reverse: self.reverse,
            block: first,
            ended: false,
        };
        let stream = futures::stream::try_unfold(state, |mut state| async move {
            let batch = state.next().await?;
            Ok(batch.map(|batch| (batch, state)))
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.output.schema), stream)))
    }

    fn statistics_from_inputs(&self, _: &[Arc<Statistics>], _: &StatisticsArgs) -> Result<Arc<Statistics>> {
        Ok(Arc::new(self.output.statistics(self.rows, self.path.unique_rows())))
    }

    fn try_pushdown_sort(&self, order: &[PhysicalSortExpr]) -> Result<SortOrderPushdownResult<Arc<dyn ExecutionPlan>>> {
        for reverse in [self.reverse, !self.reverse] {
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
    /// Collects the keys that entries point to.
    entries: ScanDecoder,
    decoder: ScanDecoder,
    gather: Gather,
    baseline: BaselineMetrics,
    entries_read: Count,
    table: ScanTable,
    index: Arc<IndexCodec>,
    output: ScanOutput,
    ranges: VecDeque<KeyRange>,
    reverse: bool,
    block: usize,
    ended: bool,
}

impl LookupState {
    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        while !self.ended && !self.gather.is_done() {
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
            self.block = (self.block * 4).min(ENTRIES_AT_ONCE);
            self.entries.set_max_rows(self.block);
            if self.decoder.rows() == 0 {
                continue;
            }
            let batch = self.output.batch(&mut self.decoder)?;
            let batch = self.output.apply(batch)?;
            if let Some(batch) = self.gather.push(batch)? {
                self.baseline.record_output(batch.num_rows());
                return Ok(Some(batch));
            }
        }
        let batch = self.gather.finish()?;
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
        while !self.entries.is_full() {
            let scan = match &mut self.scan {
                Some(scan) => scan,
                None => {
                    let Some(range) = self.ranges.pop_front() else { return Ok(false) };
                    let read = RangeRead {
                        table: self.index.storage,
                        families: self.entries.families(),
                        range,
                        reverse: self.reverse,
                        limit: None,
                        fill_cache: true,
                    };
                    self.scan.insert(self.table.view.scan(read).await.map_err(DataFusionError::from)?)
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
