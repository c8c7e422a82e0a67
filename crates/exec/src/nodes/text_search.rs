//! Reads the rows that a search finds: the node of a plan.
//!
//! Unordered it gives all of them; ordered by score it asks the files for the best, and for more of them while filters leave too few.

use super::key_set::{KeyCollector, describe_paths};
use super::scan_output::{Coalescer, ScanOutput};
use super::source::{SourceTable, text_of};
use crate::fulltext::read::{RowOrder, SearchRequest, SearchRows};
use crate::fulltext::scan::{SCORE, Search};
use crate::leaf_methods;
use crate::scan_table::ScanTable;
use arrow::array::RecordBatch;
use datafusion::common::{DataFusionError, Result, Statistics};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{EquivalenceProperties, PhysicalSortExpr, ScalarFunctionExpr};
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricBuilder};
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SortOrderPushdownResult};
use hashbrown::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;
use stoa_pg::PgError;
use stoa_sql::typed::from_datafusion;
use stoa_table::KeyRange;
use stoa_table::access::combine::Combination;

/// Rows read together.
const ROWS: usize = 1024;

/// What says of keys that are found, before their rows are read, that other filters do not pass them.
#[derive(Clone, Debug)]
pub struct Among {
    pub keys: AmongKeys,
    /// The share of the table's rows that is left, as far as statistics tell.
    pub share: f64,
}

#[derive(Clone, Debug)]
pub enum AmongKeys {
    /// They lie in none of these ranges.
    Ranges(Vec<KeyRange>),
    /// Indexes do not lead to them.
    Paths(Arc<Combination>),
}

/// See the module.
#[derive(Clone, Debug)]
pub struct TextSearchExec {
    table: SourceTable,
    search: Arc<Search>,
    among: Option<Among>,
    output: ScanOutput,
    /// The order that it gives, if one is asked for: by score, then perhaps by the key.
    order: Vec<PhysicalSortExpr>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl TextSearchExec {
    #[must_use]
    pub fn new(table: SourceTable, search: Arc<Search>, among: Option<Among>, output: ScanOutput) -> Self {
        let properties = Arc::new(output.properties(&[], 0, false, 1));
        Self { table, search, among, output, order: Vec::new(), properties, metrics: ExecutionPlanMetricsSet::new() }
    }

    fn with_output(&self, output: ScanOutput) -> Self {
        self.with(output, self.order.clone())
    }

    fn with(&self, output: ScanOutput, order: Vec<PhysicalSortExpr>) -> Self {
        let mut properties = output.properties(&[], 0, false, 1);
        if !order.is_empty() {
            let mut equivalence = EquivalenceProperties::new(Arc::clone(&output.schema));
            equivalence.add_ordering(order.clone());
            properties =
                PlanProperties::new(equivalence, properties.partitioning.clone(), properties.emission_type, properties.boundedness);
        }
        Self { output, order, properties: Arc::new(properties), metrics: ExecutionPlanMetricsSet::new(), ..self.clone() }
    }

    fn row_order(&self) -> RowOrder {
        match self.order.as_slice() {
            [] => RowOrder::Any,
            [_] => RowOrder::Score,
            _ => RowOrder::ScoreAndKey,
        }
    }

    /// The position of the score in what is given.
    fn score_position(&self) -> Option<usize> {
        self.output.projection.iter().position(|p| self.output.read.get(*p) == Some(&SCORE))
    }
}

impl DisplayAs for TextSearchExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |field: usize| self.search.fields.get(field).cloned().unwrap_or_default();
        write!(
            f,
            "TextSearchExec: index={}, table={}, query={}",
            self.search.name,
            self.table.table.name,
            self.search.query.shown(&names)
        )?;
        if !self.search.query.is_exact() {
            write!(f, ", rows are looked at again")?;
        }
        match self.among.as_ref().map(|among| &among.keys) {
            None => {}
            Some(AmongKeys::Ranges(_)) => write!(f, ", keys within ranges")?,
            Some(AmongKeys::Paths(paths)) => {
                write!(f, ", keys of ")?;
                describe_paths(f, &self.table, paths)?;
            }
        }
        for (what, filters) in [("filters", &*self.output.filters), ("dynamic", &self.output.dynamic)] {
            if !filters.is_empty() {
                write!(f, ", {what}=[")?;
                for (at, filter) in filters.iter().enumerate() {
                    write!(f, "{}{filter}", if at > 0 { " AND " } else { "" })?;
                }
                write!(f, "]")?;
            }
        }
        write!(f, ", columns=[")?;
        for (at, position) in self.output.projection.iter().enumerate() {
            let name = match self.output.read.get(*position) {
                Some(&SCORE) => "score",
                Some(id) => self.table.table.column(*id).map_or("?", |c| c.name.as_str()),
                None => "?",
            };
            write!(f, "{}{name}", if at > 0 { ", " } else { "" })?;
        }
        write!(f, "]")?;
        match self.row_order() {
            RowOrder::Any => {}
            RowOrder::Score => write!(f, ", order=score")?,
            RowOrder::ScoreAndKey => write!(f, ", order=score and key")?,
        }
        if let Some(fetch) = self.output.fetch {
            write!(f, ", limit={fetch}")?;
        }
        Ok(())
    }
}

impl ExecutionPlan for TextSearchExec {
    leaf_methods!("TextSearchExec");

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let columns = Arc::clone(&self.output.read);
        let (table, text) = (self.table.open(&context)?, text_of(&self.table, &context)?);
        let gone = || PgError::internal(format!("the full text index \"{}\" is gone", self.search.name));
        let index = text.get(self.search.index).ok_or_else(gone)?;
        let request = SearchRequest { feed: Arc::clone(text.feed()), index, query: Arc::clone(&self.search.query) };
        let rows = SearchRows::new(table.clone(), request, columns, self.row_order(), ROWS).map_err(DataFusionError::from)?;
        let batch_rows = context.session_config().batch_size().max(1);
        let state = SearchState {
            table,
            expected: self.search.rows,
            among: self.among.clone(),
            collector: KeyCollector::new(&self.metrics, partition, &context),
            coalescer: Coalescer::new(&self.output, batch_rows),
            ordered: !self.order.is_empty(),
            output: self.output.clone(),
            rows,
            batch_rows,
            started: false,
            held: Vec::new().into_iter(),
            baseline: BaselineMetrics::new(&self.metrics, partition),
            metrics: self.metrics.clone(),
            partition,
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
        Ok(Arc::new(self.output.statistics(self.search.rows, None)))
    }

    fn try_pushdown_sort(&self, order: &[PhysicalSortExpr]) -> Result<SortOrderPushdownResult<Arc<dyn ExecutionPlan>>> {
        let [one, rest @ ..] = order else { return Ok(SortOrderPushdownResult::Unsupported) };
        // Floats are sorted by their keys; scores are in the order of both.
        let mut expr = &one.expr;
        if let Some(call) = (expr.as_ref() as &dyn std::any::Any).downcast_ref::<ScalarFunctionExpr>()
            && call.name() == "sort_key"
            && let [arg] = call.args()
        {
            expr = arg;
        }
        let column = (expr.as_ref() as &dyn std::any::Any).downcast_ref::<Column>();
        // Rows as good as each other can come in the order of the key.
        let parts = if self.table.codec.key.salt.is_none() { self.table.codec.key.parts.as_slice() } else { &[] };
        let by_key = self.output.properties(parts, 0, false, 1);
        if !rest.is_empty() && !by_key.equivalence_properties().ordering_satisfy(rest.iter().cloned())? {
            return Ok(SortOrderPushdownResult::Unsupported);
        }
        // What was limited before it was sorted is another question.
        if one.options.descending && self.output.fetch.is_none() && column.is_some_and(|c| Some(c.index()) == self.score_position()) {
            return Ok(SortOrderPushdownResult::Exact { inner: Arc::new(self.with(self.output.clone(), order.to_vec())) });
        }
        Ok(SortOrderPushdownResult::Unsupported)
    }
}

struct SearchState {
    table: ScanTable,
    /// Rows that the search is expected to find.
    expected: f64,
    among: Option<Among>,
    collector: KeyCollector,
    output: ScanOutput,
    coalescer: Coalescer,
    rows: SearchRows,
    ordered: bool,
    batch_rows: usize,
    started: bool,
    /// The best rows that pass the filters, where no others are wanted.
    held: std::vec::IntoIter<RecordBatch>,
    baseline: BaselineMetrics,
    metrics: ExecutionPlanMetricsSet,
    partition: usize,
}

impl SearchState {
    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        if !self.started {
            self.started = true;
            self.start().await?;
        }
        if let Some(batch) = self.held.next() {
            return Ok(Some(batch));
        }
        // No more keys than rows are wanted.
        let most = match self.output.fetch {
            Some(fetch) if self.output.is_unfiltered() => fetch.clamp(1, ROWS),
            _ => self.batch_rows,
        };
        while !self.coalescer.is_done() {
            let Some((columns, rows)) = self.rows.next(most).await.map_err(DataFusionError::from)? else { break };
            let batch = self.output.apply(self.output.of_columns(columns, rows)?)?;
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

    /// Searches; the best only if they are enough.
    async fn start(&mut self) -> Result<()> {
        let fetch = self.output.fetch.filter(|_| self.ordered);
        // The best of all are less work than all of few, if enough of them are among those.
        if let (Some(fetch), Some(among)) = (fetch, &self.among)
            && fetch as f64 / among.share.max(1e-9) < self.expected * 0.1
        {
            self.among = None;
        }
        match fetch.filter(|_| self.among.is_none()) {
            Some(fetch) if !self.output.is_unfiltered() || self.rows.may_be_gone() => {
                let output = &self.output;
                let pass =
                    |(columns, rows)| output.of_columns(columns, rows).and_then(|batch| output.apply(batch)).map_err(from_datafusion);
                let (batches, _) = self.rows.best(fetch, output.selectivity(), pass).await.map_err(DataFusionError::from)?;
                self.baseline.record_output(batches.iter().map(RecordBatch::num_rows).sum());
                self.held = batches.into_iter();
                self.rows.retain(|_| false);
            }
            top => {
                let count = self.output.is_unfiltered() && self.output.read.is_empty();
                self.rows.search(top, count).await.map_err(DataFusionError::from)?;
                match self.among.as_ref().map(|among| &among.keys) {
                    None => {}
                    Some(AmongKeys::Ranges(ranges)) => self.rows.retain(|key| ranges.iter().any(|range| range.contains(key))),
                    Some(AmongKeys::Paths(_)) if self.rows.found().keys.is_empty() => {}
                    Some(AmongKeys::Paths(paths)) => {
                        let keys = self.collector.collect(&self.table, paths).await?;
                        let keys: HashSet<&[u8]> = keys.iter().map(Vec::as_slice).collect();
                        self.rows.retain(|key| keys.contains(key));
                    }
                }
            }
        }
        let found = self.rows.found();
        for (name, value) in [("hits", found.hits), ("changed", found.changed), ("segments", found.segments)] {
            MetricBuilder::new(&self.metrics).gauge(name, self.partition).set(value);
        }
        Ok(())
    }
}
