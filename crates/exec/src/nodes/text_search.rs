//! Reads the rows that a search finds: the node of a plan.
//!
//! Unordered it gives all of them; ordered by score it asks the files for the best, and for more of them while filters leave too few. Ordered
//! as a key is, it follows that key and reads the rows that were found, until there are enough.

use super::key_set::{KeyCollector, describe_paths};
use super::request::{Among, AmongKeys, ScanRequest, Walk};
use super::scan_output::{Coalescer, ScanOutput};
use super::shown::shown;
use super::source::{SourceTable, text_of};
use crate::fulltext::TextIndexes;
use crate::fulltext::find::Found;
use crate::fulltext::read::{Requested, RowOrder, SearchRequest, SearchRows};
use crate::fulltext::scan::{IndexSearch, SCORE, Search};
use crate::leaf_methods;
use crate::scan_table::ScanTable;
use arrow::array::RecordBatch;
use arrow::compute::SortOptions;
use datafusion::common::{DataFusionError, Result, Statistics};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{EquivalenceProperties, PhysicalSortExpr, ScalarFunctionExpr};
use datafusion::physical_plan::metrics::Count;
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricBuilder};
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SortOrderPushdownResult};
use hashbrown::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;
use stoa_pg::{PgError, PgResult};
use stoa_sql::typed::from_datafusion;
use stoa_table::KeyRange;
use stoa_table::access::{PathKind, explain};
use stoa_table::catalog::ColumnId;
use stoa_table::row::{ColumnSource, KeyList, ScanDecoder};
use stoa_table::txn::{RangeRead, ViewScan};

/// Rows read together.
const ROWS: usize = 1024;
/// What an entry costs that is only compared with what was found, and what a row costs, in rows of a sequential scan.
const ENTRY_COST: f64 = 0.5;
const ROW_COST: f64 = 5.0;
/// Entries read at first; twice as many each time.
const FIRST_ENTRIES: usize = 64;

/// See the module.
#[derive(Clone, Debug)]
pub struct TextSearchExec {
    table: SourceTable,
    search: Arc<Search>,
    among: Option<Among>,
    output: ScanOutput,
    /// Other ways to the rows, for their order.
    request: Arc<ScanRequest>,
    /// The order that it gives, if one is asked for: by score, then perhaps by the key; or that of a path.
    order: Vec<PhysicalSortExpr>,
    walk: Option<Walk>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl TextSearchExec {
    #[must_use]
    pub fn new(request: Arc<ScanRequest>, search: Arc<Search>, among: Option<Among>, output: ScanOutput) -> Self {
        let properties = Arc::new(output.properties(&[], 0, false, 1));
        let table = request.scan.clone();
        Self { table, search, among, output, request, order: Vec::new(), walk: None, properties, metrics: ExecutionPlanMetricsSet::new() }
    }

    /// Whether an order was asked of it.
    #[must_use]
    pub fn is_ordered(&self) -> bool {
        !self.order.is_empty()
    }

    #[must_use]
    pub fn request(&self) -> &ScanRequest {
        &self.request
    }

    /// The same search whose rows come in an order, by a path that has it; `None` if there is none that costs less than to read all rows
    /// and sort them, if so many are wanted.
    ///
    /// # Errors
    /// A filter or an index cannot be described.
    pub fn in_order(&self, order: &[(ColumnId, SortOptions)], limit: usize) -> Result<Option<Self>> {
        let hits = self.search.rows.max(1.0);
        let among = self.among.as_ref().map_or(1.0, |among| among.share);
        let wanted = (limit as f64 / self.output.selectivity().max(1e-6)).min(hits);
        let mut best: Option<(f64, Walk, Vec<PhysicalSortExpr>)> = None;
        for (walk, keys, rows) in self.request.walks(order)? {
            // Entries are read until so many rows have been found; the order of the table's own key needs none.
            let entries = if walk.path.kind.is_table() { 0.0 } else { rows * (wanted / (hits * among)).min(1.0) };
            let cost = ENTRY_COST * entries + ROW_COST * wanted;
            if best.as_ref().is_none_or(|(least, ..)| cost < *least) {
                best = Some((cost, walk, keys));
            }
        }
        let forced = self.request.preferences.force_index;
        let found = best.filter(|(cost, ..)| forced || *cost < ROW_COST * hits * among);
        Ok(found.map(|(_, walk, keys)| Self { walk: Some(walk), ..self.with(self.output.clone(), keys) }))
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
            _ if self.walk.is_some() => RowOrder::Any,
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
        match self.search.names().as_slice() {
            [one] => write!(f, "TextSearchExec: index={one}")?,
            several => write!(f, "TextSearchExec: indexes=[{}]", several.join(", "))?,
        }
        write!(f, ", table={}, query={}", self.table.table.name, self.search.what)?;
        if !self.search.is_exact() {
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
                    write!(f, "{}{}", if at > 0 { " AND " } else { "" }, shown(filter))?;
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
        if let Some(walk) = &self.walk {
            match &walk.path.kind {
                PathKind::Table => write!(f, ", order=primary key")?,
                PathKind::Index { at, .. } => {
                    let name = self.table.table.indexes.get(*at).map_or("?", |i| i.name.as_str());
                    write!(f, ", order=index {name}")?;
                    let ranges = explain::ranges(&walk.path.key, &walk.path.scope.ranges);
                    if ranges != "full" {
                        write!(f, " within {ranges}")?;
                    }
                }
            }
            if walk.reverse {
                write!(f, ", reverse")?;
            }
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
        let table = match &self.walk {
            Some(walk) => self.table.open_path(&walk.path, &context)?,
            None => self.table.open(&context)?,
        };
        let text = text_of(&self.table, &context)?;
        let request = SearchRequest { feed: Arc::clone(text.feed()), what: requested(&text, &self.search.what)? };
        let rows = SearchRows::new(table.clone(), request, columns, self.row_order(), ROWS).map_err(DataFusionError::from)?;
        let batch_rows = context.session_config().batch_size().max(1);
        let state = SearchState {
            table,
            expected: self.search.rows,
            among: self.among.clone(),
            collector: KeyCollector::new(&self.metrics, partition, &context),
            coalescer: Coalescer::new(&self.output, batch_rows),
            ordered: !self.order.is_empty() && self.walk.is_none(),
            walk: self.walk.clone(),
            walking: None,
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
        if self.walk.is_none()
            && one.options.descending
            && self.output.fetch.is_none()
            && column.is_some_and(|c| Some(c.index()) == self.score_position())
        {
            return Ok(SortOrderPushdownResult::Exact { inner: Arc::new(self.with(self.output.clone(), order.to_vec())) });
        }
        Ok(SortOrderPushdownResult::Unsupported)
    }
}

/// The indexes that a search asks.
fn requested(text: &TextIndexes, sought: &IndexSearch) -> Result<Requested> {
    let all = |of: &[IndexSearch]| of.iter().map(|part| requested(text, part)).collect::<Result<Vec<_>>>();
    Ok(match sought {
        IndexSearch::Index(leaf) => {
            let gone = || PgError::internal(format!("the full text index \"{}\" is gone", leaf.name));
            Requested::Index { index: text.get(leaf.index).ok_or_else(gone)?, query: Arc::clone(&leaf.query) }
        }
        IndexSearch::All(of) => Requested::All(all(of)?),
        IndexSearch::Any(of) => Requested::Any(all(of)?),
    })
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
    walk: Option<Walk>,
    walking: Option<Walking>,
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
            let Some((columns, rows)) = self.rows.next(most).await.map_err(DataFusionError::from)? else {
                let Some(walking) = &mut self.walking else { break };
                let Some((keys, scores)) = walking.next(&self.table).await.map_err(DataFusionError::from)? else { break };
                self.rows.put(keys, scores);
                continue;
            };
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
        if let Some(walk) = self.walk.take() {
            self.walking =
                Some(Walking::new(&walk, &self.table, &mut self.rows, self.collector.entries_read()).map_err(DataFusionError::from)?);
        }
        Ok(())
    }
}

/// Rows that were found, by their keys.
struct Hits {
    keys: KeyList,
    scores: Vec<f32>,
    /// Places in the order of the keys, and whether they have been taken.
    order: Vec<u32>,
    taken: Vec<bool>,
    left: usize,
}

impl Hits {
    fn new(found: Found) -> Self {
        let (keys, scores) = (found.keys, found.scores);
        // Rows of one search are far below 2³².
        let mut order: Vec<u32> = (0..keys.len() as u32).collect();
        order.sort_unstable_by(|a, b| keys.get(*a as usize).cmp(keys.get(*b as usize)));
        Self { taken: vec![false; order.len()], left: order.len(), keys, scores, order }
    }

    fn score(&self, place: u32) -> f32 {
        self.scores.get(place as usize).copied().unwrap_or(0.0)
    }

    /// The score of a row, the first time that it is asked for; `None` if it was not found.
    fn take(&mut self, key: &[u8]) -> Option<f32> {
        let at = self.order.binary_search_by(|place| self.keys.get(*place as usize).cmp(key)).ok()?;
        let taken = self.taken.get_mut(at).filter(|taken| !**taken)?;
        *taken = true;
        self.left -= 1;
        self.order.get(at).map(|place| self.score(*place))
    }

    /// All of them, in the order of their keys.
    fn in_order(&mut self, reverse: bool) -> (KeyList, Vec<f32>) {
        let (mut keys, mut scores) = (KeyList::with_capacity(self.order.len(), 16), Vec::with_capacity(self.order.len()));
        let places = 0..self.order.len();
        let places: Box<dyn Iterator<Item = usize>> = if reverse { Box::new(places.rev()) } else { Box::new(places) };
        for place in places.filter_map(|at| self.order.get(at)) {
            keys.push(self.keys.get(*place as usize));
            scores.push(self.score(*place));
        }
        self.left = 0;
        (keys, scores)
    }
}

/// Follows a path through the rows that were found.
struct Walking {
    hits: Hits,
    /// In the order in which they are read.
    ranges: std::vec::IntoIter<KeyRange>,
    source: ColumnSource,
    reverse: bool,
    entries: ScanDecoder,
    scan: Option<ViewScan>,
    block: usize,
    read: Count,
}

impl Walking {
    fn new(walk: &Walk, table: &ScanTable, rows: &mut SearchRows, read: Count) -> PgResult<Self> {
        let mut hits = Hits::new(rows.take());
        let (source, mut ranges) = match &walk.path.kind {
            PathKind::Table => (ColumnSource::Table(Arc::clone(&table.codec)), Vec::new()),
            PathKind::Index { codec, .. } => (ColumnSource::Index(Arc::clone(codec)), walk.path.scope.ranges.clone()),
        };
        if walk.path.kind.is_table() {
            // The keys say it themselves.
            let (keys, scores) = hits.in_order(walk.reverse);
            rows.put(keys, scores);
        } else {
            table.record(source.storage(), &ranges);
        }
        if walk.reverse {
            ranges.reverse();
        }
        let mut entries = ScanDecoder::new(&source, &[], ROWS)?.collect_row_keys(&source)?;
        entries.set_max_rows(usize::MAX);
        Ok(Self { hits, ranges: ranges.into_iter(), source, reverse: walk.reverse, entries, scan: None, block: FIRST_ENTRIES, read })
    }

    /// The next of the rows found, with their scores; `None` when all have come.
    async fn next(&mut self, table: &ScanTable) -> PgResult<Option<(KeyList, Vec<f32>)>> {
        while self.hits.left > 0 {
            let Some(scan) = &mut self.scan else {
                let Some(range) = self.ranges.next() else { return Ok(None) };
                let read = RangeRead {
                    table: self.source.storage(),
                    families: self.entries.families(),
                    range,
                    reverse: self.reverse,
                    limit: None,
                    fill_cache: true,
                };
                self.scan = Some(table.view.scan(read).await?);
                continue;
            };
            let more = scan.next_block(self.block, &mut self.entries).await?;
            if let Some(error) = self.entries.take_error() {
                return Err(error);
            }
            let passed = self.entries.take_keys();
            self.entries.finish()?;
            self.read.add(passed.len());
            self.block = (self.block * 2).min(ROWS);
            if !more {
                self.scan = None;
            }
            let (mut keys, mut scores) = (KeyList::new(), Vec::new());
            for key in passed.iter() {
                if let Some(score) = self.hits.take(key) {
                    keys.push(key);
                    scores.push(score);
                }
            }
            if !keys.is_empty() {
                return Ok(Some((keys, scores)));
            }
        }
        Ok(None)
    }
}
