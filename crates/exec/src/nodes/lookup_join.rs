//! A join that reads its inner side by the keys of the outer side's rows, a batch of them at a time.
//!
//! Invariant: rows come in the order of the outer side. Rows of the inner side that were read are compared with the join's whole
//! condition again: a probe gives a superset of what matches.

use super::join_pairs::Pairs;
use super::point_get::get_rows;
use super::scan_output::ScanOutput;
use super::shown::shown;
use super::source::SourceTable;
use crate::scan_table::ScanTable;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow::compute::filter as filter_array;
use arrow::datatypes::SchemaRef;
use arrow::row::{RowConverter, SortField};
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{DataFusionError, JoinSide, Result, Statistics};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::joins::utils::{ColumnIndex, JoinFilter};
use datafusion::physical_plan::metrics::{BaselineMetrics, Count, ExecutionPlanMetricsSet, MetricBuilder, MetricsSet};
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, Partitioning, PlanProperties,
    ReplaceChildrenOptions,
};
use futures::StreamExt;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use stoa_table::KeyRange;
use stoa_table::access::{PathKind, Probe};
use stoa_table::row::{ColumnSource, KeyList, ScanDecoder};
use stoa_table::txn::RangeRead;

/// Rows of the outer side whose keys are read together: at first, and at most.
const FIRST_KEYS: usize = 64;
const MOST_KEYS: usize = 1024;
/// Rows of the inner side read for one batch of keys above which the next batch is smaller.
const MANY_ROWS: usize = 32_768;

/// What the outer side's rows come to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LookupKind {
    /// Each with each of its matches.
    Inner,
    /// As inner; those without a match once, with NULLs.
    Outer,
    /// Those that have a match.
    Semi,
    /// Those that have none.
    Anti,
    /// All, with whether they have a match.
    Mark,
}

/// The inner side.
#[derive(Clone, Debug)]
pub struct Inner {
    pub table: SourceTable,
    pub probe: Probe,
    pub output: ScanOutput,
    /// What is computed of the rows read, from the lowest to the highest: expressions and the schema of their values.
    pub projections: Vec<(Vec<Arc<dyn PhysicalExpr>>, SchemaRef)>,
}

/// What a join is made of.
#[derive(Clone, Debug)]
pub struct LookupParts {
    pub outer: Arc<dyn ExecutionPlan>,
    pub inner: Arc<Inner>,
    pub kind: LookupKind,
    /// Over the outer side: the values of the probe's joined columns.
    pub keys: Vec<Arc<dyn PhysicalExpr>>,
    /// Over the outer side and the inner one: what must be equal.
    pub on: Vec<(Arc<dyn PhysicalExpr>, Arc<dyn PhysicalExpr>)>,
    pub filter: Option<JoinFilter>,
    /// Whether the outer side is the left one.
    pub outer_is_left: bool,
    pub schema: SchemaRef,
    /// Where the columns of the schema come from.
    pub columns: Vec<ColumnIndex>,
    /// What is expected of it.
    pub statistics: Arc<Statistics>,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct LookupJoinExec {
    parts: Arc<LookupParts>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl LookupJoinExec {
    #[must_use]
    pub fn new(parts: LookupParts) -> Self {
        let properties = Arc::new(properties(&parts));
        Self { parts: Arc::new(parts), properties, metrics: ExecutionPlanMetricsSet::new() }
    }
}

/// The outer side's order and partitions, in terms of the columns that are given.
fn properties(parts: &LookupParts) -> PlanProperties {
    let outer = if parts.outer_is_left { JoinSide::Left } else { JoinSide::Right };
    let given = |index: usize| parts.columns.iter().position(|c| c.side == outer && c.index == index);
    let mut equivalence = EquivalenceProperties::new(Arc::clone(&parts.schema));
    for order in parts.outer.properties().equivalence_properties().oeq_class().iter() {
        let mut ordering: Vec<PhysicalSortExpr> = Vec::new();
        for key in order.iter() {
            let mut all = true;
            let moved = Arc::clone(&key.expr)
                .transform(|e| {
                    let Some(column) = e.downcast_ref::<Column>() else { return Ok(Transformed::no(e)) };
                    let Some(at) = given(column.index()) else {
                        all = false;
                        return Ok(Transformed::no(e));
                    };
                    Ok(Transformed::yes(Arc::new(Column::new(parts.schema.field(at).name(), at)) as Arc<dyn PhysicalExpr>))
                })
                .data();
            match moved {
                Ok(expr) if all => ordering.push(PhysicalSortExpr::new(expr, key.options)),
                _ => break,
            }
        }
        if !ordering.is_empty() {
            equivalence.add_ordering(ordering);
        }
    }
    let partitions = parts.outer.output_partitioning().partition_count();
    PlanProperties::new(equivalence, Partitioning::UnknownPartitioning(partitions), EmissionType::Incremental, Boundedness::Bounded)
}

impl DisplayAs for LookupJoinExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LookupParts { inner, kind, on, filter, .. } = &*self.parts;
        write!(f, "LookupJoinExec: {kind:?}, ")?;
        match &inner.probe.kind {
            PathKind::Table => write!(f, "table={}, by=primary key", inner.table.table.name)?,
            PathKind::Index { at, covered, .. } => {
                let name = inner.table.table.indexes.get(*at).map_or("?", |i| i.name.as_str());
                write!(f, "table={}, by={name}{}", inner.table.table.name, if *covered { " (covered)" } else { "" })?;
            }
        }
        write!(f, ", on=[")?;
        for (at, (outer, own)) in on.iter().enumerate() {
            write!(f, "{}{outer} = {own}", if at > 0 { ", " } else { "" })?;
        }
        write!(f, "]")?;
        if let Some(filter) = filter {
            write!(f, ", filter={}", shown(filter.expression()))?;
        }
        if !inner.output.filters.is_empty() {
            write!(f, ", inner filters=[")?;
            for (at, filter) in inner.output.filters.iter().enumerate() {
                write!(f, "{}{}", if at > 0 { " AND " } else { "" }, shown(filter))?;
            }
            write!(f, "]")?;
        }
        if !inner.output.rejected.is_empty() {
            write!(f, ", not used=[")?;
            for (at, (index, reason)) in inner.output.rejected.iter().enumerate() {
                write!(f, "{}{index}: {reason}", if at > 0 { "; " } else { "" })?;
            }
            write!(f, "]")?;
        }
        Ok(())
    }
}

impl ExecutionPlan for LookupJoinExec {
    fn name(&self) -> &'static str {
        "LookupJoinExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.parts.outer]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn apply_expressions(&self, f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>) -> Result<TreeNodeRecursion> {
        for key in &self.parts.keys {
            if f(key)? == TreeNodeRecursion::Stop {
                return Ok(TreeNodeRecursion::Stop);
            }
        }
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let outer = children.into_iter().next().ok_or_else(|| DataFusionError::Internal("a join without an outer side".into()))?;
        Ok(Arc::new(Self::new(LookupParts { outer, ..(*self.parts).clone() })))
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let parts = Arc::clone(&self.parts);
        let input = parts.outer.execute(partition, Arc::clone(&context))?;
        let source = match &parts.inner.probe.kind {
            PathKind::Index { codec, covered: true, .. } => ColumnSource::Index(Arc::clone(codec)),
            _ => ColumnSource::Table(Arc::clone(&parts.inner.table.codec)),
        };
        let decoder = parts.inner.output.decoder(&source, FIRST_KEYS).map_err(DataFusionError::from)?;
        let entries = match &parts.inner.probe.kind {
            PathKind::Index { codec, covered: false, .. } => {
                let source = ColumnSource::Index(Arc::clone(codec));
                let entries = ScanDecoder::new(&source, &[], FIRST_KEYS).and_then(|d| d.collect_row_keys(&source));
                Some(entries.map_err(DataFusionError::from)?)
            }
            _ => None,
        };
        let fields = |side: &dyn Fn(&(Arc<dyn PhysicalExpr>, Arc<dyn PhysicalExpr>)) -> Result<arrow::datatypes::DataType>| {
            parts.on.iter().map(|on| side(on).map(SortField::new)).collect::<Result<Vec<_>>>()
        };
        let outer_schema = parts.outer.schema();
        let converter = RowConverter::new(fields(&|(outer, _)| outer.data_type(&outer_schema))?)?;
        let table = parts.inner.table.open(&context)?;
        let state = JoinState {
            table,
            input,
            decoder,
            entries,
            converter,
            pending: VecDeque::new(),
            batch: None,
            chunk: FIRST_KEYS,
            pairs: Pairs {
                outer_is_left: parts.outer_is_left,
                schema: Arc::clone(&parts.schema),
                columns: parts.columns.clone(),
                batch_rows: context.session_config().batch_size().max(1),
            },
            memory: MemoryConsumer::new(format!("LookupJoin[{partition}]")).register(context.memory_pool()),
            baseline: BaselineMetrics::new(&self.metrics, partition),
            probes: MetricBuilder::new(&self.metrics).counter("probes", partition),
            rows_read: MetricBuilder::new(&self.metrics).counter("rows_read", partition),
            bytes_read: MetricBuilder::new(&self.metrics).counter("bytes_read", partition),
            parts,
        };
        let schema = Arc::clone(&self.parts.schema);
        let stream = futures::stream::try_unfold(state, |mut state| async move {
            let batch = state.next().await?;
            Ok(batch.map(|batch| (batch, state)))
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, stream)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn statistics_from_inputs(&self, _: &[Arc<Statistics>], args: &StatisticsArgs) -> Result<Arc<Statistics>> {
        let mut out = (*self.parts.statistics).clone();
        if args.partition().is_some() {
            let partitions = self.properties.output_partitioning().partition_count().max(1);
            out.num_rows = match out.num_rows {
                Precision::Exact(n) | Precision::Inexact(n) => Precision::Inexact(n.div_ceil(partitions)),
                Precision::Absent => Precision::Absent,
            };
        }
        Ok(Arc::new(out))
    }

    fn child_stats_requests(&self, _: Option<usize>) -> Vec<ChildStats> {
        vec![ChildStats::Skip]
    }
}

/// A batch of the outer side, and how far it is dealt with.
struct OuterBatch {
    batch: RecordBatch,
    /// Values of the probe's joined columns.
    keys: Vec<ArrayRef>,
    /// Values of what must be equal.
    on: Vec<ArrayRef>,
    at: usize,
}

struct JoinState {
    /// The inner side's.
    table: ScanTable,
    parts: Arc<LookupParts>,
    input: SendableRecordBatchStream,
    decoder: ScanDecoder,
    /// Collects the keys of rows that an index leads to.
    entries: Option<ScanDecoder>,
    converter: RowConverter,
    pending: VecDeque<RecordBatch>,
    batch: Option<OuterBatch>,
    chunk: usize,
    pairs: Pairs,
    memory: MemoryReservation,
    baseline: BaselineMetrics,
    probes: Count,
    rows_read: Count,
    bytes_read: Count,
}

impl JoinState {
    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(batch) = self.pending.pop_front() {
                self.baseline.record_output(batch.num_rows());
                return Ok(Some(batch));
            }
            let (outer, keys, on) = match &mut self.batch {
                Some(current) if current.at < current.batch.num_rows() => {
                    let rows = self.chunk.min(current.batch.num_rows() - current.at);
                    let cut = |arrays: &[ArrayRef]| arrays.iter().map(|a| a.slice(current.at, rows)).collect::<Vec<_>>();
                    let chunk = (current.batch.slice(current.at, rows), cut(&current.keys), cut(&current.on));
                    current.at += rows;
                    chunk
                }
                _ => {
                    let Some(batch) = self.input.next().await.transpose()? else {
                        self.baseline.done();
                        return Ok(None);
                    };
                    let values = |exprs: &mut dyn Iterator<Item = &Arc<dyn PhysicalExpr>>| {
                        exprs.map(|e| e.evaluate(&batch)?.into_array(batch.num_rows())).collect::<Result<Vec<_>>>()
                    };
                    let keys = values(&mut self.parts.keys.iter())?;
                    let on = values(&mut self.parts.on.iter().map(|(outer, _)| outer))?;
                    self.batch = Some(OuterBatch { batch, keys, on, at: 0 });
                    continue;
                }
            };
            let inner = self.read(&keys, &on, outer.num_rows()).await?;
            self.memory.try_resize(inner.get_array_memory_size())?;
            self.chunk = if inner.num_rows() > MANY_ROWS { (self.chunk / 4).max(1) } else { (self.chunk * 4).min(MOST_KEYS) };
            let time = self.baseline.elapsed_compute().clone();
            let timer = time.timer();
            self.join(&outer, &on, &inner)?;
            timer.done();
        }
    }

    /// The rows of the inner side that some rows of the outer one ask for.
    async fn read(&mut self, keys: &[ArrayRef], on: &[ArrayRef], rows: usize) -> Result<RecordBatch> {
        let parts = Arc::clone(&self.parts);
        let (table, Inner { probe, output, projections, .. }) = (&self.table, &*parts.inner);
        let columns = probe.columns(keys).map_err(DataFusionError::from)?;
        let mut ranges: Vec<KeyRange> = Vec::with_capacity(rows);
        for row in (0..rows).filter(|row| on.iter().all(|a| !a.is_null(*row))) {
            probe.ranges(&columns, row, &mut ranges).map_err(DataFusionError::from)?;
        }
        ranges.sort_unstable();
        ranges.dedup();
        self.probes.add(ranges.len());
        let storage = match &probe.kind {
            PathKind::Table => table.codec.storage,
            PathKind::Index { codec, .. } => codec.storage,
        };
        table.record(storage, &ranges);
        {
            let first = self.entries.as_mut().unwrap_or(&mut self.decoder);
            first.set_max_rows(usize::MAX);
            if probe.is_point() {
                let keys: Vec<&[u8]> = ranges.iter().filter_map(KeyRange::as_point).collect();
                table.view.get(storage, first.families(), &keys, first).await.map_err(DataFusionError::from)?;
            } else {
                let range = KeyRange::empty();
                let read = RangeRead { table: storage, families: first.families(), range, reverse: false, limit: None, fill_cache: true };
                table.view.scan_ranges(read, &ranges, self.pairs.batch_rows, first).await.map_err(DataFusionError::from)?;
            }
            if let Some(error) = first.take_error() {
                return Err(error.into());
            }
        }
        if let Some(entries) = &mut self.entries {
            let found = entries.take_keys();
            entries.finish().map_err(DataFusionError::from)?;
            let mut sorted: Vec<&[u8]> = found.iter().collect();
            sorted.sort_unstable();
            let mut keys = KeyList::new();
            sorted.iter().for_each(|key| keys.push(key));
            if let Some(txn) = table.txn.as_ref().filter(|t| t.records_reads()) {
                keys.iter().for_each(|key| txn.record_read(table.codec.storage, &KeyRange::point(key)));
            }
            get_rows(table, &keys, 0..keys.len(), &mut self.decoder).await.map_err(DataFusionError::from)?;
        }
        self.rows_read.add(self.decoder.rows());
        self.bytes_read.add(self.decoder.take_bytes_read());
        let mut batch = output.apply(output.batch(&mut self.decoder)?)?;
        for (exprs, schema) in projections {
            let rows = batch.num_rows();
            let values = exprs.iter().map(|e| e.evaluate(&batch)?.into_array(rows)).collect::<Result<Vec<_>>>()?;
            batch = RecordBatch::try_new_with_options(Arc::clone(schema), values, &RecordBatchOptions::new().with_row_count(Some(rows)))?;
        }
        Ok(batch)
    }

    /// Joins rows of the outer side with all rows of the inner one that may match.
    fn join(&mut self, outer: &RecordBatch, on: &[ArrayRef], inner: &RecordBatch) -> Result<()> {
        let parts = Arc::clone(&self.parts);
        let count = outer.num_rows();
        let (mut outer_at, mut inner_at): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        if inner.num_rows() > 0 {
            let own = parts.on.iter().map(|(_, e)| e.evaluate(inner)?.into_array(inner.num_rows())).collect::<Result<Vec<_>>>()?;
            let inner_keys = self.converter.convert_columns(&own)?;
            let outer_keys = self.converter.convert_columns(on)?;
            // The last row with a key, and for each row the one before it.
            let mut last: HashMap<&[u8], u32> = HashMap::with_capacity(inner.num_rows());
            let mut before: Vec<Option<u32>> = vec![None; inner.num_rows()];
            for row in 0..inner.num_rows() {
                if own.iter().any(|a| a.is_null(row)) {
                    continue;
                }
                let number = u32::try_from(row).map_err(|_| DataFusionError::Internal("too many rows at once".into()))?;
                if let Some(slot) = before.get_mut(row) {
                    *slot = last.insert(inner_keys.row(row).data(), number);
                }
            }
            let mut matches: Vec<u32> = Vec::new();
            for row in 0..count {
                if on.iter().any(|a| a.is_null(row)) {
                    continue;
                }
                matches.clear();
                let mut next = last.get(outer_keys.row(row).data()).copied();
                while let Some(at) = next {
                    matches.push(at);
                    next = before.get(at as usize).copied().flatten();
                }
                outer_at.extend(std::iter::repeat_n(row as u32, matches.len()));
                inner_at.extend(matches.iter().rev());
            }
        }
        let (mut outer_at, mut inner_at) = (UInt32Array::from(outer_at), UInt32Array::from(inner_at));
        if let Some(filter) = &parts.filter {
            (outer_at, inner_at) = self.pairs.filtered(filter, outer, inner, &outer_at, &inner_at)?;
        }
        match parts.kind {
            LookupKind::Inner => self.pairs.give(&mut self.pending, outer, inner, &outer_at, &inner_at, None),
            LookupKind::Outer => {
                let (mut all, mut with): (Vec<u32>, Vec<Option<u32>>) = (Vec::new(), Vec::new());
                let mut pairs = outer_at.values().iter().zip(inner_at.values()).peekable();
                for row in 0..count as u32 {
                    let from = all.len();
                    while let Some((_, own)) = pairs.next_if(|(o, _)| **o == row) {
                        all.push(row);
                        with.push(Some(*own));
                    }
                    if all.len() == from {
                        all.push(row);
                        with.push(None);
                    }
                }
                self.pairs.give(&mut self.pending, outer, inner, &UInt32Array::from(all), &UInt32Array::from(with), None)
            }
            LookupKind::Semi | LookupKind::Anti | LookupKind::Mark => {
                let mut matched = vec![false; count];
                for row in outer_at.values() {
                    if let Some(slot) = matched.get_mut(*row as usize) {
                        *slot = true;
                    }
                }
                let mark = BooleanArray::from(matched);
                let rows = UInt32Array::from_iter_values(0..count as u32);
                let kept = match parts.kind {
                    LookupKind::Semi => filter_array(&rows, &mark)?,
                    LookupKind::Anti => filter_array(&rows, &arrow::compute::not(&mark)?)?,
                    _ => Arc::new(rows) as ArrayRef,
                };
                let kept = kept.as_primitive::<arrow::datatypes::UInt32Type>().clone();
                let none = UInt32Array::new_null(kept.len());
                let mark: Option<ArrayRef> = (parts.kind == LookupKind::Mark).then(|| Arc::new(mark) as ArrayRef);
                self.pairs.give(&mut self.pending, outer, inner, &kept, &none, mark)
            }
        }
    }
}
