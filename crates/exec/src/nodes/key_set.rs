//! Reads the rows whose keys several paths lead to: any of them, or all.
//!
//! Keys are collected and sorted before the first row is read; rows come in the order of their keys. All filters are applied to the
//! rows again.

use super::point_get::get_rows;
use super::scan_output::{Coalescer, ScanOutput, describe_output};
use super::source::SourceTable;
use crate::leaf_methods;
use crate::scan_table::ScanTable;
use arrow::array::RecordBatch;
use datafusion::common::{DataFusionError, Result, Statistics};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
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
use stoa_table::access::combine::Combination;
use stoa_table::access::{AccessPath, PathKind, explain};
use stoa_table::row::{ColumnSource, KeyList, ScanDecoder};
use stoa_table::txn::RangeRead;

/// Entries read, and rows read by their keys, at a time.
const AT_ONCE: usize = 1024;

/// See the module.
#[derive(Clone, Debug)]
pub struct KeySetExec {
    table: SourceTable,
    paths: Arc<Combination>,
    output: ScanOutput,
    reverse: bool,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl KeySetExec {
    #[must_use]
    pub fn new(table: SourceTable, paths: Arc<Combination>, output: ScanOutput) -> Self {
        Self::directed(table, paths, output, false)
    }

    fn directed(table: SourceTable, paths: Arc<Combination>, output: ScanOutput, reverse: bool) -> Self {
        let order = if table.codec.key.salt.is_none() { table.codec.key.parts.as_slice() } else { &[] };
        let properties = Arc::new(output.properties(order, 0, reverse, 1));
        Self { table, paths, output, reverse, properties, metrics: ExecutionPlanMetricsSet::new() }
    }

    pub fn with_output(&self, output: ScanOutput) -> Self {
        Self::directed(self.table.clone(), Arc::clone(&self.paths), output, self.reverse)
    }

    #[must_use]
    pub fn output(&self) -> &ScanOutput {
        &self.output
    }

    /// What it is expected to cost.
    #[must_use]
    pub fn cost(&self) -> f64 {
        self.paths.cost
    }
}

/// The paths of a combination, as EXPLAIN shows them.
pub fn describe_paths(f: &mut fmt::Formatter<'_>, table: &SourceTable, paths: &Combination) -> fmt::Result {
    write!(f, "{}=[", if paths.any { "any" } else { "all" })?;
    for (at, path) in paths.branches.iter().enumerate() {
        let name = match &path.kind {
            PathKind::Table => "primary key",
            PathKind::Index { at, .. } => table.table.indexes.get(*at).map_or("?", |i| i.name.as_str()),
        };
        write!(f, "{}{name} {}", if at > 0 { "; " } else { "" }, explain::ranges(&path.key, &path.scope.ranges))?;
    }
    write!(f, "]")
}

impl DisplayAs for KeySetExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeySetExec: ")?;
        describe_paths(f, &self.table, &self.paths)?;
        write!(f, ", table={}", self.table.table.name)?;
        describe_output(f, &self.table, &self.output, self.reverse)
    }
}

impl ExecutionPlan for KeySetExec {
    leaf_methods!("KeySetExec");

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let rows = ColumnSource::Table(Arc::clone(&self.table.codec));
        let state = SetState {
            decoder: self.output.decoder(&rows, AT_ONCE).map_err(DataFusionError::from)?,
            coalescer: Coalescer::new(&self.output, context.session_config().batch_size().max(1)),
            baseline: BaselineMetrics::new(&self.metrics, partition),
            collector: KeyCollector::new(&self.metrics, partition, &context),
            table: self.table.open(&context)?,
            paths: Arc::clone(&self.paths),
            output: self.output.clone(),
            reverse: self.reverse,
            keys: None,
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
        Ok(Arc::new(self.output.statistics(self.paths.rows, None)))
    }

    fn try_pushdown_sort(&self, order: &[PhysicalSortExpr]) -> Result<SortOrderPushdownResult<Arc<dyn ExecutionPlan>>> {
        for reverse in [self.reverse, !self.reverse] {
            // The first rows of one order are not those of the other.
            if reverse != self.reverse && self.output.fetch.is_some() {
                break;
            }
            let scan = Self::directed(self.table.clone(), Arc::clone(&self.paths), self.output.clone(), reverse);
            if scan.properties.equivalence_properties().ordering_satisfy(order.iter().cloned())? {
                return Ok(SortOrderPushdownResult::Exact { inner: Arc::new(scan) });
            }
        }
        Ok(SortOrderPushdownResult::Unsupported)
    }
}

struct SetState {
    table: ScanTable,
    paths: Arc<Combination>,
    output: ScanOutput,
    decoder: ScanDecoder,
    coalescer: Coalescer,
    baseline: BaselineMetrics,
    collector: KeyCollector,
    reverse: bool,
    keys: Option<KeyList>,
    at: usize,
}

impl SetState {
    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        if self.keys.is_none() {
            let keys = self.collect().await?;
            self.keys = Some(keys);
        }
        while let Some(keys) = self.keys.as_ref().filter(|keys| self.at < keys.len() && !self.coalescer.is_done()) {
            let to = (self.at + AT_ONCE).min(keys.len());
            if let Some(txn) = self.table.txn.as_ref().filter(|t| t.records_reads()) {
                (self.at..to).for_each(|n| txn.record_read(self.table.codec.storage, &KeyRange::point(keys.get(n))));
            }
            get_rows(&self.table, keys, self.at..to, &mut self.decoder).await.map_err(DataFusionError::from)?;
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

    /// The keys of the rows to read, in the order in which they are read.
    async fn collect(&mut self) -> Result<KeyList> {
        let sorted = self.collector.collect(&self.table, &self.paths).await?;
        let mut keys = KeyList::new();
        if self.reverse {
            sorted.iter().rev().for_each(|key| keys.push(key));
        } else {
            sorted.iter().for_each(|key| keys.push(key));
        }
        Ok(keys)
    }
}

/// Collects the keys of rows that paths lead to.
pub struct KeyCollector {
    entries_read: Count,
    memory: MemoryReservation,
}

impl KeyCollector {
    pub fn new(metrics: &ExecutionPlanMetricsSet, partition: usize, context: &TaskContext) -> Self {
        Self {
            entries_read: MetricBuilder::new(metrics).counter("entries_read", partition),
            memory: MemoryConsumer::new("KeySet").register(context.memory_pool()),
        }
    }

    /// Counts the entries that are read.
    #[must_use]
    pub fn entries_read(&self) -> Count {
        self.entries_read.clone()
    }

    /// The keys, ascending, each once.
    pub async fn collect(&mut self, table: &ScanTable, paths: &Combination) -> Result<Vec<Vec<u8>>> {
        let mut so_far: Option<Vec<Vec<u8>>> = None;
        for path in &paths.branches {
            let mut own = self.keys_of(table, path).await?;
            own.sort_unstable();
            own.dedup();
            so_far = Some(match so_far {
                None => own,
                Some(mut all) if paths.any => {
                    all.extend(own);
                    all.sort_unstable();
                    all.dedup();
                    all
                }
                Some(mut all) => {
                    all.retain(|key| own.binary_search(key).is_ok());
                    all
                }
            });
            if !paths.any && so_far.as_ref().is_some_and(Vec::is_empty) {
                break;
            }
        }
        Ok(so_far.unwrap_or_default())
    }

    /// The keys of rows that one path leads to.
    async fn keys_of(&mut self, table: &ScanTable, path: &AccessPath) -> Result<Vec<Vec<u8>>> {
        let source = match &path.kind {
            PathKind::Table => ColumnSource::Table(Arc::clone(&table.codec)),
            PathKind::Index { codec, .. } => ColumnSource::Index(Arc::clone(codec)),
        };
        table.record(source.storage(), &path.scope.ranges);
        let mut entries =
            ScanDecoder::new(&source, &[], AT_ONCE).and_then(|d| d.collect_row_keys(&source)).map_err(DataFusionError::from)?;
        entries.set_max_rows(usize::MAX);
        let mut out: Vec<Vec<u8>> = Vec::new();
        for range in &path.scope.ranges {
            let read = RangeRead {
                table: source.storage(),
                families: entries.families(),
                range: range.clone(),
                reverse: false,
                limit: None,
                fill_cache: true,
            };
            let mut scan = table.view.scan(read).await.map_err(DataFusionError::from)?;
            let mut more = true;
            while more {
                more = scan.next_block(AT_ONCE, &mut entries).await.map_err(DataFusionError::from)?;
                if let Some(error) = entries.take_error() {
                    return Err(error.into());
                }
                let keys = entries.take_keys();
                entries.finish().map_err(DataFusionError::from)?;
                self.entries_read.add(keys.len());
                self.memory.try_grow(keys.iter().map(|key| key.len() + size_of::<Vec<u8>>()).sum())?;
                out.extend(keys.iter().map(<[u8]>::to_vec));
            }
        }
        Ok(out)
    }
}
