//! Reads the rows that a search finds: the node of a plan.
//!
//! Unordered it gives all of them; ordered by score it asks the files for the best, and for more of them while filters leave too few.

use super::TextIndex;
use super::find::{Found, Wanted, find};
use super::scan::SCORE;
use crate::access::combine::Combination;
use crate::catalog::ColumnId;
use crate::exec::key_set::{KeyCollector, describe_paths};
use crate::exec::leaf::leaf_methods;
use crate::exec::scan_output::{Gather, ScanOutput, ScanTable};
use crate::feed::Feed;
use crate::row::{ColumnSource, ScanDecoder};
use arrow::array::{ArrayRef, Float32Array, RecordBatch};
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
use stoa_fulltext::Query;
use stoa_store::KeyRange;

/// Rows read together.
const ROWS: usize = 1024;

/// What is searched, and how.
#[derive(Debug)]
pub struct Search {
    pub feed: Arc<Feed>,
    pub index: Arc<TextIndex>,
    /// The index's name, and those of its fields.
    pub name: String,
    pub fields: Vec<String>,
    pub query: Query,
    /// Rows that it is expected to find.
    pub rows: f64,
}

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
    table: ScanTable,
    search: Arc<Search>,
    among: Option<Among>,
    output: ScanOutput,
    /// The order by score that it gives.
    order: Option<PhysicalSortExpr>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl TextSearchExec {
    #[must_use]
    pub fn new(table: ScanTable, search: Arc<Search>, among: Option<Among>, output: ScanOutput) -> Self {
        let properties = Arc::new(output.properties(&[], 0, false, 1));
        Self { table, search, among, output, order: None, properties, metrics: ExecutionPlanMetricsSet::new() }
    }

    fn with_output(&self, output: ScanOutput) -> Self {
        self.with(output, self.order.clone())
    }

    fn with(&self, output: ScanOutput, order: Option<PhysicalSortExpr>) -> Self {
        let mut properties = output.properties(&[], 0, false, 1);
        if let Some(order) = &order {
            let mut equivalence = EquivalenceProperties::new(Arc::clone(&output.schema));
            equivalence.add_ordering([order.clone()]);
            properties =
                PlanProperties::new(equivalence, properties.partitioning.clone(), properties.emission_type, properties.boundedness);
        }
        Self { output, order, properties: Arc::new(properties), metrics: ExecutionPlanMetricsSet::new(), ..self.clone() }
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
        if self.order.is_some() {
            write!(f, ", order=score")?;
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
        self.table.record(self.table.codec.storage, &[KeyRange::all()]);
        let batch_rows = context.session_config().batch_size().max(1);
        let source = ColumnSource::Table(Arc::clone(&self.table.codec));
        let stored: Vec<ColumnId> = self.output.read.iter().copied().filter(|id| *id != SCORE).collect();
        let decoder = ScanDecoder::new(&source, &stored, ROWS).and_then(|d| d.collect_row_keys(&source)).map_err(DataFusionError::from)?;
        // Rows whose cells expire are there only if they are read.
        let expires = self.table.table.families.iter().any(|f| f.options.ttl.is_some());
        let state = SearchState {
            table: self.table.clone(),
            search: Arc::clone(&self.search),
            among: self.among.clone(),
            collector: KeyCollector::new(&self.metrics, partition, &context),
            gather: Gather::new(&self.output, batch_rows),
            with_scores: self.output.read.contains(&SCORE),
            ordered: self.order.is_some(),
            reads: !stored.is_empty() || expires,
            output: self.output.clone(),
            decoder,
            batch_rows,
            found: None,
            at: 0,
            held: Vec::new().into_iter(),
            baseline: BaselineMetrics::new(&self.metrics, partition),
            metrics: self.metrics.clone(),
            partition,
        };
        let stream = futures::stream::try_unfold(state, |mut state| async move {
            let batch = state.next().await?;
            Ok(batch.map(|batch| (batch, state)))
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.output.schema), stream)))
    }

    fn statistics_from_inputs(&self, _: &[Arc<Statistics>], _: &StatisticsArgs) -> Result<Arc<Statistics>> {
        Ok(Arc::new(self.output.statistics(self.search.rows, None)))
    }

    fn try_pushdown_sort(&self, order: &[PhysicalSortExpr]) -> Result<SortOrderPushdownResult<Arc<dyn ExecutionPlan>>> {
        let [one] = order else { return Ok(SortOrderPushdownResult::Unsupported) };
        // Floats are sorted by their keys; scores are in the order of both.
        let mut expr = &one.expr;
        if let Some(call) = (expr.as_ref() as &dyn std::any::Any).downcast_ref::<ScalarFunctionExpr>()
            && call.name() == "sort_key"
            && let [arg] = call.args()
        {
            expr = arg;
        }
        let column = (expr.as_ref() as &dyn std::any::Any).downcast_ref::<Column>();
        // What was limited before it was sorted is another question.
        if one.options.descending && self.output.fetch.is_none() && column.is_some_and(|c| Some(c.index()) == self.score_position()) {
            return Ok(SortOrderPushdownResult::Exact { inner: Arc::new(self.with(self.output.clone(), Some(one.clone()))) });
        }
        Ok(SortOrderPushdownResult::Unsupported)
    }
}

struct SearchState {
    table: ScanTable,
    search: Arc<Search>,
    among: Option<Among>,
    collector: KeyCollector,
    output: ScanOutput,
    gather: Gather,
    decoder: ScanDecoder,
    with_scores: bool,
    ordered: bool,
    /// Whether rows are read at all.
    reads: bool,
    batch_rows: usize,
    found: Option<Found>,
    /// Keys dealt with.
    at: usize,
    /// Batches that are complete.
    held: std::vec::IntoIter<RecordBatch>,
    baseline: BaselineMetrics,
    metrics: ExecutionPlanMetricsSet,
    partition: usize,
}

impl SearchState {
    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        if self.found.is_none() {
            self.start().await?;
        }
        if let Some(batch) = self.held.next() {
            return Ok(Some(batch));
        }
        loop {
            if self.gather.is_done() {
                break;
            }
            let Some(batch) = self.read().await? else { break };
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

    /// Searches; the best only if they are enough.
    async fn start(&mut self) -> Result<()> {
        let fetch = self.output.fetch.filter(|_| self.ordered);
        // The best of all are less work than all of few, if enough of them are among those.
        if let (Some(fetch), Some(among)) = (fetch, &self.among)
            && fetch as f64 / among.share.max(1e-9) < self.search.rows * 0.1
        {
            self.among = None;
        }
        let fetch = fetch.filter(|_| self.among.is_none());
        let Some(fetch) = fetch else {
            self.search(None).await?;
            return Ok(());
        };
        if self.output.is_unfiltered() {
            self.search(Some(fetch)).await?;
            return Ok(());
        }
        // Filters leave some of the best: look further until there are enough. Rows are held back until that is known.
        let mut top = fetch.saturating_mul(4).saturating_add(60);
        loop {
            self.search(Some(top)).await?;
            let (mut rows, mut batches) = (0, Vec::new());
            while rows < fetch {
                let Some(batch) = self.read().await? else { break };
                let batch = self.output.apply(batch)?;
                let batch = batch.slice(0, batch.num_rows().min(fetch - rows));
                rows += batch.num_rows();
                if batch.num_rows() > 0 {
                    batches.push(batch);
                }
            }
            let more = self.found.as_ref().is_some_and(|f| f.more);
            if rows >= fetch || !more {
                self.baseline.record_output(rows);
                self.held = batches.into_iter();
                self.at = usize::MAX;
                return Ok(());
            }
            top = top.saturating_mul(8);
        }
    }

    async fn search(&mut self, top: Option<usize>) -> Result<()> {
        let wanted = Wanted {
            scores: self.with_scores || self.ordered,
            // All of them in order, without a limit.
            top: if self.ordered { Some(top.unwrap_or(usize::MAX >> 1)) } else { None },
            count: !self.reads && !self.with_scores && self.output.is_unfiltered() && self.output.read.is_empty(),
        };
        let mut found =
            find(&self.search.feed, &self.table, &self.search.index, &self.search.query, wanted).await.map_err(DataFusionError::from)?;
        match self.among.as_ref().map(|among| &among.keys) {
            None => {}
            Some(AmongKeys::Ranges(ranges)) => found.retain(|key| ranges.iter().any(|range| range.contains(key))),
            Some(AmongKeys::Paths(_)) if found.keys.is_empty() => {}
            Some(AmongKeys::Paths(paths)) => {
                let keys = self.collector.collect(&self.table, paths).await?;
                let keys: HashSet<&[u8]> = keys.iter().map(Vec::as_slice).collect();
                found.retain(|key| keys.contains(key));
            }
        }
        for (name, value) in [("hits", found.hits), ("changed", found.changed), ("segments", found.segments)] {
            MetricBuilder::new(&self.metrics).gauge(name, self.partition).set(value);
        }
        self.found = Some(found);
        self.at = 0;
        Ok(())
    }

    /// The next rows, before filters.
    async fn read(&mut self) -> Result<Option<RecordBatch>> {
        let Some(found) = &self.found else { return Ok(None) };
        if !self.reads {
            // Nothing is stored in what is asked for: rows are as many as keys.
            let all = usize::try_from(found.count).unwrap_or(usize::MAX);
            let rows = all.saturating_sub(self.at).min(self.batch_rows);
            if rows == 0 {
                return Ok(None);
            }
            let scores = found.scores.get(self.at..).unwrap_or_default().iter().take(rows).copied();
            let columns: Vec<ArrayRef> = if self.with_scores {
                vec![Arc::new(Float32Array::from_iter_values(scores)) as ArrayRef; self.output.read.len()]
            } else {
                Vec::new()
            };
            self.at += rows;
            return self.output.of_columns(columns, rows).map(Some);
        }
        loop {
            let Some(found) = &self.found else { return Ok(None) };
            if self.at >= found.keys.len() {
                return Ok(None);
            }
            let wanted = match self.output.fetch {
                Some(fetch) if self.output.is_unfiltered() => fetch.clamp(1, ROWS),
                _ => ROWS,
            };
            let (from, to) = (self.at, (self.at + wanted).min(found.keys.len()));
            self.at = to;
            self.decoder.set_max_rows(usize::MAX);
            let keys: Vec<&[u8]> = (from..to).map(|n| found.keys.get(n)).collect();
            self.table
                .view
                .get(self.table.codec.storage, self.decoder.families(), &keys, &mut self.decoder)
                .await
                .map_err(DataFusionError::from)?;
            if let Some(error) = self.decoder.take_error() {
                return Err(error.into());
            }
            let rows = self.decoder.rows();
            let there = self.decoder.take_keys();
            let mut stored = self.decoder.finish().map_err(DataFusionError::from)?.into_iter();
            if rows == 0 {
                continue;
            }
            let mut scores: Option<ArrayRef> = None;
            if self.with_scores {
                // Rows come in the order of the keys; some may be gone.
                let mut values = Vec::with_capacity(rows);
                let mut n = from;
                for key in there.iter() {
                    while n < to && found.keys.get(n) != key {
                        n += 1;
                    }
                    values.push(found.scores.get(n).copied().unwrap_or(0.0));
                    n += 1;
                }
                scores = Some(Arc::new(Float32Array::from(values)));
            }
            let mut columns = Vec::with_capacity(self.output.read.len());
            for id in self.output.read.iter() {
                let column = if *id == SCORE { scores.clone() } else { stored.next() };
                columns.push(column.ok_or_else(|| DataFusionError::Internal("a column of a search is missing".into()))?);
            }
            return self.output.of_columns(columns, rows).map(Some);
        }
    }
}
