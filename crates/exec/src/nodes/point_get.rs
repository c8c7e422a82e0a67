//! Reads rows by their keys.

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
use stoa_pg::PgResult;
use stoa_table::access::AccessPath;
use stoa_table::row::{ColumnSource, KeyList, ScanDecoder};

/// Keys read in one call of the store.
const KEYS_AT_ONCE: usize = 1024;

/// One row per key, in key order, where there is one.
#[derive(Clone, Debug)]
pub struct PointGetExec {
    pub table: SourceTable,
    pub path: Arc<AccessPath>,
    keys: Arc<KeyList>,
    output: ScanOutput,
    reverse: bool,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl PointGetExec {
    /// Gets the rows of a path whose ranges are single keys.
    #[must_use]
    pub fn new(table: SourceTable, path: Arc<AccessPath>, output: ScanOutput) -> Self {
        Self::directed(table, path, output, false)
    }

    fn with_output(&self, output: ScanOutput) -> Self {
        Self { output, metrics: ExecutionPlanMetricsSet::new(), ..self.clone() }
    }

    fn directed(table: SourceTable, path: Arc<AccessPath>, output: ScanOutput, reverse: bool) -> Self {
        let mut keys = KeyList::new();
        let mut push = |range: &stoa_table::KeyRange| keys.push(range.as_point().unwrap_or(&range.start));
        if reverse {
            path.scope.ranges.iter().rev().for_each(&mut push);
        } else {
            path.scope.ranges.iter().for_each(&mut push);
        }
        let constant = if keys.len() <= 1 { path.key.parts.len() } else { 0 };
        let order = if path.scope.one_bucket { path.key.parts.as_slice() } else { &[] };
        let properties = Arc::new(output.properties(order, constant, reverse, 1));
        Self { table, path, keys: Arc::new(keys), output, reverse, properties, metrics: ExecutionPlanMetricsSet::new() }
    }
}

impl DisplayAs for PointGetExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PointGetExec: ")?;
        describe(f, &self.table, &self.path, &self.output, self.reverse)
    }
}

impl ExecutionPlan for PointGetExec {
    leaf_methods!("PointGetExec");

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let table = self.table.open(&context)?;
        table.record(table.codec.storage, &self.path.scope.ranges);
        let source = ColumnSource::Table(Arc::clone(&self.table.codec));
        let rows = self.keys.len().clamp(1, KEYS_AT_ONCE);
        let state = GetState {
            decoder: self.output.decoder(&source, rows).map_err(DataFusionError::from)?,
            coalescer: Coalescer::new(&self.output, context.session_config().batch_size().max(1)),
            baseline: BaselineMetrics::new(&self.metrics, partition),
            seeks: MetricBuilder::new(&self.metrics).counter("seeks", partition),
            bytes_read: MetricBuilder::new(&self.metrics).counter("bytes_read", partition),
            table,
            output: self.output.clone(),
            keys: Arc::clone(&self.keys),
            at: 0,
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

    fn statistics_from_inputs(&self, _: &[Arc<Statistics>], _: &StatisticsArgs) -> Result<Arc<Statistics>> {
        Ok(Arc::new(self.output.statistics(self.keys.len() as f64, Some(self.keys.len()))))
    }

    fn try_pushdown_sort(&self, order: &[PhysicalSortExpr]) -> Result<SortOrderPushdownResult<Arc<dyn ExecutionPlan>>> {
        if self.properties.equivalence_properties().ordering_satisfy(order.iter().cloned())? {
            return Ok(SortOrderPushdownResult::Exact { inner: Arc::new(self.clone()) });
        }
        // The first rows of one order are not those of the other.
        if self.output.fetch.is_some() {
            return Ok(SortOrderPushdownResult::Unsupported);
        }
        let reversed = Self::directed(self.table.clone(), Arc::clone(&self.path), self.output.clone(), !self.reverse);
        if reversed.properties.equivalence_properties().ordering_satisfy(order.iter().cloned())? {
            return Ok(SortOrderPushdownResult::Exact { inner: Arc::new(reversed) });
        }
        Ok(SortOrderPushdownResult::Unsupported)
    }
}

struct GetState {
    decoder: ScanDecoder,
    coalescer: Coalescer,
    baseline: BaselineMetrics,
    seeks: Count,
    bytes_read: Count,
    table: ScanTable,
    output: ScanOutput,
    keys: Arc<KeyList>,
    at: usize,
}

impl GetState {
    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        while self.at < self.keys.len() && !self.coalescer.is_done() {
            let to = (self.at + KEYS_AT_ONCE).min(self.keys.len());
            get_rows(&self.table, &self.keys, self.at..to, &mut self.decoder).await.map_err(DataFusionError::from)?;
            self.seeks.add(to - self.at);
            self.bytes_read.add(self.decoder.take_bytes_read());
            self.at = to;
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
}

/// Reads the data rows of some keys into a decoder.
pub async fn get_rows(table: &ScanTable, keys: &KeyList, range: std::ops::Range<usize>, decoder: &mut ScanDecoder) -> PgResult<()> {
    decoder.set_max_rows(usize::MAX);
    let keys: Vec<&[u8]> = range.map(|n| keys.get(n)).collect();
    table.view.get(table.codec.storage, decoder.families(), &keys, decoder).await?;
    match decoder.take_error() {
        Some(error) => Err(error),
        None => Ok(()),
    }
}
