//! A join that looks for the matches of a row among the rows of its other side in the order of keys: those with equal values, with a
//! value between bounds that the row gives, or with what one of several alternatives asks for.
//!
//! The left side is read once, kept in memory, and sorted by a key for each alternative; for each row of the right side its matches are
//! found by binary search. So pairs that cannot match are not looked at, where a join of all pairs would compare them.
//!
//! Invariants: the keys give a superset of the pairs that match, each once; what they do not decide is asked of every pair. Where the
//! values of a key cannot be computed, the whole condition is asked of all pairs, which raises what is to be raised. Where the left side
//! has no room, all pairs are compared by DataFusion's join, which spills.

use super::join_pairs::Pairs;
use super::lookup_join::LookupKind;
use super::shown::shown;
use arrow::array::{Array, ArrayRef, BooleanArray, RecordBatch, UInt32Array};
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType, SchemaRef};
use arrow::row::{RowConverter, Rows, SortField};
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, JoinSide, JoinType, Result, Statistics};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, reset_plan_states};
use datafusion::physical_plan::joins::NestedLoopJoinExecBuilder;
use datafusion::physical_plan::joins::utils::{ColumnIndex, JoinFilter};
use datafusion::physical_plan::metrics::{BaselineMetrics, Count, ExecutionPlanMetricsSet, MetricBuilder, MetricsSet};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, Distribution, ExecutionPlan, ExecutionPlanProperties,
    InputDistributionRequirements, Partitioning, PlanProperties, ReplaceChildrenOptions,
};
use futures::StreamExt;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::OnceCell;

/// How long it works before others have their turn.
const TURN: Duration = Duration::from_millis(20);

/// A bound of a range: its value, and whether it is in the range.
#[derive(Clone, Debug)]
pub struct Bound {
    /// Over the right side.
    pub value: Arc<dyn PhysicalExpr>,
    pub inclusive: bool,
}

/// What a row of the right side asks of a value of the left one.
#[derive(Clone, Debug)]
pub struct Range {
    /// Over the left side.
    pub value: Arc<dyn PhysicalExpr>,
    pub lower: Option<Bound>,
    pub upper: Option<Bound>,
}

/// What is asked of the rows of the left side: values that are equal, then one between bounds. NULL is neither.
#[derive(Clone, Debug)]
pub struct RangeKey {
    /// Over the left side and the right one, of one type for which [`is_ordered`] holds.
    pub equal: Vec<(Arc<dyn PhysicalExpr>, Arc<dyn PhysicalExpr>)>,
    /// The types likewise.
    pub range: Option<Range>,
}

/// Whether values of a type are compared in plans as they are sorted by their encodings.
#[must_use]
pub fn is_ordered(ty: &DataType) -> bool {
    ty.is_integer()
        || ty.is_floating()
        || ty.is_temporal() && !matches!(ty, DataType::Interval(_) | DataType::Duration(_))
        || matches!(ty, DataType::Boolean | DataType::Decimal128(..) | DataType::Decimal256(..))
        || matches!(ty, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
        || matches!(ty, DataType::Binary | DataType::LargeBinary | DataType::BinaryView)
}

/// What a join is made of. The right side is the outer one.
#[derive(Clone, Debug)]
pub struct RangeParts {
    pub left: Arc<dyn ExecutionPlan>,
    pub right: Arc<dyn ExecutionPlan>,
    /// What the rows of the right side come to.
    pub kind: LookupKind,
    /// A pair matches by one of them at least.
    pub keys: Vec<RangeKey>,
    /// The whole condition.
    pub filter: JoinFilter,
    /// What a pair must satisfy that was found by the keys: nothing, or a part of the condition, or all of it.
    pub rest: Option<JoinFilter>,
    pub schema: SchemaRef,
    /// Where the columns of the schema come from.
    pub columns: Vec<ColumnIndex>,
    /// What is expected of it.
    pub statistics: Arc<Statistics>,
}

/// See the module.
#[derive(Debug)]
pub struct RangeJoinExec {
    parts: Arc<RangeParts>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
    /// The left side, which all partitions share.
    kept: Arc<OnceCell<std::result::Result<Kept, Arc<DataFusionError>>>>,
}

impl RangeJoinExec {
    /// # Errors
    /// The columns are not those of the schema.
    pub fn new(parts: RangeParts) -> Result<Self> {
        let partitions = parts.right.output_partitioning().partition_count();
        let mut equivalence = EquivalenceProperties::new(Arc::clone(&parts.schema));
        // A column that is given twice: what is spread by the one is spread by the other, and plans above may rely on that.
        for (at, column) in parts.columns.iter().enumerate() {
            if let Some(first) = parts.columns.iter().take(at).position(|other| other == column) {
                let given = |at: usize| Arc::new(Column::new(parts.schema.field(at).name(), at)) as Arc<dyn PhysicalExpr>;
                equivalence.add_equal_conditions(given(first), given(at))?;
            }
        }
        let properties = PlanProperties::new(
            equivalence,
            Partitioning::UnknownPartitioning(partitions),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        Ok(Self {
            parts: Arc::new(parts),
            properties: Arc::new(properties),
            metrics: ExecutionPlanMetricsSet::new(),
            kept: Arc::new(OnceCell::new()),
        })
    }
}

fn join_type(kind: LookupKind) -> JoinType {
    match kind {
        LookupKind::Inner => JoinType::Inner,
        LookupKind::Outer => JoinType::Right,
        LookupKind::Semi => JoinType::RightSemi,
        LookupKind::Anti => JoinType::RightAnti,
        LookupKind::Mark => JoinType::RightMark,
    }
}

impl fmt::Display for RangeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        let mut and = |f: &mut fmt::Formatter<'_>| if std::mem::take(&mut first) { Ok(()) } else { f.write_str(" AND ") };
        for (left, right) in &self.equal {
            and(f)?;
            write!(f, "{left} = {right}")?;
        }
        if let Some(Range { value, lower, upper }) = &self.range {
            for (bound, sign) in [(lower, '>'), (upper, '<')] {
                if let Some(bound) = bound {
                    and(f)?;
                    write!(f, "{value} {sign}{} {}", if bound.inclusive { "=" } else { "" }, bound.value)?;
                }
            }
        }
        Ok(())
    }
}

impl DisplayAs for RangeJoinExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RangeJoinExec: join_type={:?}, by=[", join_type(self.parts.kind))?;
        for (at, key) in self.parts.keys.iter().enumerate() {
            write!(f, "{}{key}", if at > 0 { " OR " } else { "" })?;
        }
        write!(f, "]")?;
        if let Some(rest) = &self.parts.rest {
            write!(f, ", filter={}", shown(rest.expression()))?;
        }
        Ok(())
    }
}

impl ExecutionPlan for RangeJoinExec {
    fn name(&self) -> &'static str {
        "RangeJoinExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.parts.left, &self.parts.right]
    }

    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        InputDistributionRequirements::new(vec![Distribution::SinglePartition, Distribution::UnspecifiedDistribution])
    }

    fn apply_expressions(&self, f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>) -> Result<TreeNodeRecursion> {
        f(self.parts.filter.expression())
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Ok([left, right]) = <[_; 2]>::try_from(children) else {
            return Err(DataFusionError::Internal("a join has two sides".into()));
        };
        Ok(Arc::new(Self::new(RangeParts { left, right, ..(*self.parts).clone() })?))
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
    }

    /// Columns that are not asked for are not made.
    fn try_swapping_with_projection(&self, projection: &ProjectionExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let column = |expr: &Arc<dyn PhysicalExpr>| self.parts.columns.get(expr.downcast_ref::<Column>()?.index()).cloned();
        let Some(columns) = projection.expr().iter().map(|e| column(&e.expr)).collect::<Option<Vec<_>>>() else { return Ok(None) };
        let at: Vec<Option<usize>> = projection.expr().iter().map(|e| e.expr.downcast_ref::<Column>().map(Column::index)).collect();
        let mut statistics = (*self.parts.statistics).clone();
        let own = std::mem::take(&mut statistics.column_statistics);
        statistics.column_statistics = at.into_iter().map(|at| at.and_then(|at| own.get(at)).cloned().unwrap_or_default()).collect();
        let parts = RangeParts { columns, schema: projection.schema(), statistics: Arc::new(statistics), ..(*self.parts).clone() };
        Ok(Some(Arc::new(Self::new(parts)?)))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let parts = Arc::clone(&self.parts);
        let pairs = Pairs {
            outer_is_left: false,
            schema: Arc::clone(&parts.schema),
            columns: parts.columns.clone(),
            batch_rows: context.session_config().batch_size().max(1),
        };
        let mut start = Some(Start {
            kept: Arc::clone(&self.kept),
            memory: MemoryConsumer::new(format!("RangeJoin[{partition}]")).register(context.memory_pool()),
            baseline: BaselineMetrics::new(&self.metrics, partition),
            compared: MetricBuilder::new(&self.metrics).counter("pairs_compared", partition),
            context,
            partition,
            parts,
            pairs,
        });
        let schema = Arc::clone(&self.parts.schema);
        let stream = futures::stream::try_unfold(None, move |state: Option<State>| {
            let start = start.take();
            async move {
                let mut state = match (state, start) {
                    (Some(state), _) => state,
                    (None, Some(start)) => start.begin().await?,
                    (None, None) => return Ok(None),
                };
                let batch = match &mut state {
                    State::Pairs { stream, schema } => match stream.next().await.transpose()? {
                        Some(batch) => Some(batch.with_schema(Arc::clone(schema))?),
                        None => None,
                    },
                    State::Ranges(state) => state.next().await?,
                };
                Ok(batch.map(|batch| (batch, Some(state))))
            }
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
        vec![ChildStats::Skip, ChildStats::Skip]
    }
}

/// The left side.
#[derive(Clone, Debug)]
enum Kept {
    Sorted(Arc<Sorted>),
    /// It has no room: the join of all pairs.
    Pairs(Arc<dyn ExecutionPlan>),
}

#[derive(Debug)]
struct Sorted {
    rows: RecordBatch,
    /// One for each of the join's keys; `None` where its values could not be computed.
    keys: Vec<Option<SortedKey>>,
    _memory: MemoryReservation,
}

/// Rows of the left side in the order of a key.
#[derive(Debug)]
struct SortedKey {
    /// The keys of all rows, as they lie.
    encoded: Rows,
    /// The rows whose key has no NULL, in its order.
    order: Vec<u32>,
}

impl SortedKey {
    fn bytes(&self, row: u32) -> &[u8] {
        self.encoded.row(row as usize).data()
    }

    /// Where keys begin that do not come before.
    fn first(&self, before: impl Fn(&[u8]) -> bool) -> u32 {
        self.order.partition_point(|row| before(self.bytes(*row))) as u32
    }
}

fn values<'a>(exprs: impl Iterator<Item = &'a Arc<dyn PhysicalExpr>>, rows: &RecordBatch) -> Result<Vec<ArrayRef>> {
    exprs.map(|e| e.evaluate(rows)?.into_array(rows.num_rows())).collect()
}

fn encoded(values: &[ArrayRef]) -> Result<Rows> {
    let converter = RowConverter::new(values.iter().map(|a| SortField::new(a.data_type().clone())).collect())?;
    Ok(converter.convert_columns(values)?)
}

/// The rows of the left side in the order of a key; `None` if its values cannot be computed.
fn sorted(key: &RangeKey, rows: &RecordBatch, memory: &MemoryReservation) -> Result<Option<SortedKey>> {
    let exprs = key.equal.iter().map(|(left, _)| left).chain(key.range.as_ref().map(|range| &range.value));
    let Ok(values) = values(exprs, rows) else { return Ok(None) };
    memory.try_grow(values.iter().map(|a| a.get_array_memory_size()).sum::<usize>() + rows.num_rows() * 16)?;
    let encoded = encoded(&values)?;
    memory.try_grow(encoded.size())?;
    let mut order: Vec<u32> = (0..rows.num_rows() as u32).filter(|row| values.iter().all(|a| !a.is_null(*row as usize))).collect();
    order.sort_unstable_by(|a, b| encoded.row(*a as usize).data().cmp(encoded.row(*b as usize).data()));
    Ok(Some(SortedKey { encoded, order }))
}

struct Start {
    parts: Arc<RangeParts>,
    kept: Arc<OnceCell<std::result::Result<Kept, Arc<DataFusionError>>>>,
    pairs: Pairs,
    memory: MemoryReservation,
    baseline: BaselineMetrics,
    compared: Count,
    context: Arc<TaskContext>,
    partition: usize,
}

enum State {
    Pairs { stream: SendableRecordBatchStream, schema: SchemaRef },
    Ranges(Box<JoinState>),
}

impl Start {
    async fn begin(self) -> Result<State> {
        let kept = self.kept.get_or_init(|| async { self.keep().await.map_err(Arc::new) }).await;
        match kept {
            Err(error) => Err(DataFusionError::Shared(Arc::clone(error))),
            Ok(Kept::Pairs(join)) => {
                let stream = join.execute(self.partition, Arc::clone(&self.context))?;
                Ok(State::Pairs { stream, schema: Arc::clone(&self.parts.schema) })
            }
            Ok(Kept::Sorted(left)) => {
                let input = self.parts.right.execute(self.partition, Arc::clone(&self.context))?;
                let several = left.keys.len() > 1;
                let seen = if several { left.rows.num_rows() } else { 0 };
                self.memory.try_grow(seen * size_of::<u32>())?;
                Ok(State::Ranges(Box::new(JoinState {
                    left: Arc::clone(left),
                    input,
                    outer: None,
                    pending: VecDeque::new(),
                    seen: vec![0; seen],
                    visit: 0,
                    turn: Instant::now(),
                    pairs: self.pairs,
                    _memory: self.memory,
                    baseline: self.baseline,
                    compared: self.compared,
                    parts: self.parts,
                })))
            }
        }
    }

    async fn keep(&self) -> Result<Kept> {
        match self.sort().await {
            Ok(sorted) => Ok(Kept::Sorted(Arc::new(sorted))),
            Err(error) if matches!(error.find_root(), DataFusionError::ResourcesExhausted(_)) => Ok(Kept::Pairs(self.all_pairs()?)),
            Err(error) => Err(error),
        }
    }

    async fn sort(&self) -> Result<Sorted> {
        let left = &self.parts.left;
        let memory = MemoryConsumer::new("RangeJoin").register(self.context.memory_pool());
        let mut input = left.execute(0, Arc::clone(&self.context))?;
        let (mut batches, mut count) = (Vec::new(), 0usize);
        while let Some(batch) = input.next().await.transpose()? {
            memory.try_grow(batch.get_array_memory_size())?;
            count += batch.num_rows();
            batches.push(batch);
        }
        if count >= u32::MAX as usize {
            return Err(DataFusionError::ResourcesExhausted("too many rows for a sorted side of a join".into()));
        }
        let rows = concat_batches(&left.schema(), &batches)?;
        drop(batches);
        let keys = self.parts.keys.iter().map(|key| sorted(key, &rows, &memory)).collect::<Result<Vec<_>>>()?;
        Ok(Sorted { rows, keys, _memory: memory })
    }

    /// The join of all pairs with the same columns.
    fn all_pairs(&self) -> Result<Arc<dyn ExecutionPlan>> {
        let RangeParts { left, right, kind, filter, columns, .. } = &*self.parts;
        let own = match kind {
            LookupKind::Inner | LookupKind::Outer => left.schema().fields().len(),
            LookupKind::Semi | LookupKind::Anti | LookupKind::Mark => 0,
        };
        let place = |column: &ColumnIndex| match column.side {
            JoinSide::Left => column.index,
            JoinSide::Right => own + column.index,
            JoinSide::None => right.schema().fields().len(),
        };
        let left = reset_plan_states(Arc::clone(left))?;
        let join = NestedLoopJoinExecBuilder::new(left, Arc::clone(right), join_type(*kind))
            .with_filter(Some(filter.clone()))
            .with_projection(Some(columns.iter().map(place).collect()))
            .build()?;
        Ok(Arc::new(join))
    }
}

/// Rows of the right side, and how far they are dealt with.
struct Outer {
    rows: RecordBatch,
    /// For each key and row, where its candidates begin and end in the key's order; `None`: all rows are candidates.
    found: Option<Vec<Vec<(u32, u32)>>>,
    /// The row that is next, and how many of its candidates are dealt with.
    row: usize,
    done: usize,
    /// The candidates of that row, where several keys give them.
    united: Vec<u32>,
    matched: Vec<bool>,
    /// Pairs that match and are not given yet.
    outer_at: Vec<u32>,
    inner_at: Vec<u32>,
}

struct JoinState {
    parts: Arc<RangeParts>,
    left: Arc<Sorted>,
    input: SendableRecordBatchStream,
    outer: Option<Outer>,
    pending: VecDeque<RecordBatch>,
    /// The last visit to each row of the left side, where several keys may lead to it.
    seen: Vec<u32>,
    visit: u32,
    turn: Instant,
    pairs: Pairs,
    _memory: MemoryReservation,
    baseline: BaselineMetrics,
    compared: Count,
}

/// For each row the candidates that a key gives.
fn candidates(key: &RangeKey, sorted: &SortedKey, rows: &RecordBatch) -> Result<Vec<(u32, u32)>> {
    let count = rows.num_rows();
    let bounds = key.range.as_ref().map(|range| [&range.lower, &range.upper]).unwrap_or([&None, &None]);
    let equal = values(key.equal.iter().map(|(_, right)| right), rows)?;
    let bounding = |bound: &Option<Bound>| {
        let Some(bound) = bound else { return Ok::<_, DataFusionError>(None) };
        let value = bound.value.evaluate(rows)?.into_array(count)?;
        let all: Vec<ArrayRef> = equal.iter().cloned().chain([Arc::clone(&value)]).collect();
        Ok(Some((value, encoded(&all)?, bound.inclusive)))
    };
    let (lower, upper) = (bounding(bounds[0])?, bounding(bounds[1])?);
    let prefixes = if equal.is_empty() { None } else { Some(encoded(&equal)?) };
    let mut out = Vec::with_capacity(count);
    for row in 0..count {
        let null = |bound: &Option<(ArrayRef, Rows, bool)>| bound.as_ref().is_some_and(|(value, ..)| value.is_null(row));
        if equal.iter().any(|a| a.is_null(row)) || null(&lower) || null(&upper) {
            out.push((0, 0));
            continue;
        }
        let prefix = prefixes.as_ref().map_or(&[][..], |all| all.row(row).data());
        let start = match &lower {
            Some((_, keys, inclusive)) => {
                let bound = keys.row(row).data();
                sorted.first(|key| if *inclusive { key < bound } else { key <= bound })
            }
            None => sorted.first(|key| key < prefix),
        };
        let end = match &upper {
            Some((_, keys, inclusive)) => {
                let bound = keys.row(row).data();
                sorted.first(|key| if *inclusive { key <= bound } else { key < bound })
            }
            None => sorted.first(|key| key.get(..prefix.len()).unwrap_or(key) <= prefix),
        };
        out.push((start, end.max(start)));
    }
    Ok(out)
}

impl JoinState {
    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(batch) = self.pending.pop_front() {
                self.baseline.record_output(batch.num_rows());
                return Ok(Some(batch));
            }
            if self.turn.elapsed() > TURN {
                tokio::task::yield_now().await;
                self.turn = Instant::now();
            }
            let Some(mut outer) = self.outer.take() else {
                let Some(rows) = self.input.next().await.transpose()? else {
                    self.baseline.done();
                    return Ok(None);
                };
                let time = self.baseline.elapsed_compute().clone();
                let _timer = time.timer();
                self.outer = Some(self.searched(rows));
                continue;
            };
            let time = self.baseline.elapsed_compute().clone();
            let _timer = time.timer();
            if self.advance(&mut outer)? {
                self.finish(outer)?;
            } else {
                self.outer = Some(outer);
            }
        }
    }

    /// Rows of the right side with their candidates.
    fn searched(&self, rows: RecordBatch) -> Outer {
        let each = self.parts.keys.iter().zip(&self.left.keys);
        // What cannot be computed is asked of every pair.
        let found = each.map(|(key, sorted)| candidates(key, sorted.as_ref()?, &rows).ok()).collect();
        let matched = vec![false; rows.num_rows()];
        Outer { rows, found, row: 0, done: 0, united: Vec::new(), matched, outer_at: Vec::new(), inner_at: Vec::new() }
    }

    /// Deals with some candidates; whether there are no more.
    fn advance(&mut self, outer: &mut Outer) -> Result<bool> {
        let most = self.pairs.batch_rows;
        let count = outer.rows.num_rows();
        let left = Arc::clone(&self.left);
        let parts = Arc::clone(&self.parts);
        let filter = if outer.found.is_some() { parts.rest.as_ref() } else { Some(&parts.filter) };
        let one_is_enough = !matches!(parts.kind, LookupKind::Inner | LookupKind::Outer);
        let (mut outer_at, mut inner_at): (Vec<u32>, Vec<u32>) = (Vec::with_capacity(most), Vec::with_capacity(most));
        while outer.row < count && outer_at.len() < most {
            let row = outer.row;
            if one_is_enough && outer.matched.get(row) == Some(&true) {
                (outer.row, outer.done) = (row + 1, 0);
                continue;
            }
            let room = most - outer_at.len();
            let before = inner_at.len();
            let all = match &outer.found {
                None => {
                    let all = left.rows.num_rows();
                    inner_at.extend((outer.done..all.min(outer.done + room)).map(|at| at as u32));
                    all
                }
                Some(found) => {
                    let several = found.len() > 1;
                    if several && outer.done == 0 {
                        outer.united.clear();
                        self.visit = match self.visit.checked_add(1) {
                            Some(visit) => visit,
                            None => {
                                self.seen.fill(0);
                                1
                            }
                        };
                        for at in found.iter().zip(&left.keys).flat_map(|(found, key)| slice(found, key.as_ref(), row)) {
                            if let Some(seen) = self.seen.get_mut(*at as usize)
                                && std::mem::replace(seen, self.visit) != self.visit
                            {
                                outer.united.push(*at);
                            }
                        }
                    }
                    let of_one = || found.first().zip(left.keys.first()).map_or(&[][..], |(found, key)| slice(found, key.as_ref(), row));
                    let list: &[u32] = if several { &outer.united } else { of_one() };
                    inner_at.extend(list.iter().skip(outer.done).take(room));
                    list.len()
                }
            };
            let taken = inner_at.len() - before;
            outer_at.extend(std::iter::repeat_n(row as u32, taken));
            outer.done += taken;
            if outer.done >= all {
                (outer.row, outer.done) = (row + 1, 0);
            }
        }
        self.compared.add(outer_at.len());
        let (mut outer_at, mut inner_at) = (UInt32Array::from(outer_at), UInt32Array::from(inner_at));
        if let Some(filter) = filter {
            (outer_at, inner_at) = self.pairs.filtered(filter, &outer.rows, &left.rows, &outer_at, &inner_at)?;
        }
        for row in outer_at.values() {
            if let Some(matched) = outer.matched.get_mut(*row as usize) {
                *matched = true;
            }
        }
        if !one_is_enough {
            outer.outer_at.extend(outer_at.values());
            outer.inner_at.extend(inner_at.values());
            if outer.outer_at.len() >= most {
                self.give(outer)?;
            }
        }
        Ok(outer.row >= count)
    }

    /// Gives the pairs that were found.
    fn give(&mut self, outer: &mut Outer) -> Result<()> {
        let outer_at = UInt32Array::from(std::mem::take(&mut outer.outer_at));
        let inner_at = UInt32Array::from(std::mem::take(&mut outer.inner_at));
        self.pairs.give(&mut self.pending, &outer.rows, &self.left.rows, &outer_at, &inner_at, None)
    }

    /// Gives what is left of rows whose candidates are all dealt with.
    fn finish(&mut self, mut outer: Outer) -> Result<()> {
        self.give(&mut outer)?;
        let rows = |wanted: bool| {
            let of = outer.matched.iter().enumerate().filter(|(_, matched)| **matched == wanted);
            UInt32Array::from_iter_values(of.map(|(row, _)| row as u32))
        };
        let (rows, mark): (UInt32Array, Option<ArrayRef>) = match self.parts.kind {
            LookupKind::Inner => return Ok(()),
            LookupKind::Outer | LookupKind::Anti => (rows(false), None),
            LookupKind::Semi => (rows(true), None),
            LookupKind::Mark => {
                let all = UInt32Array::from_iter_values(0..outer.rows.num_rows() as u32);
                (all, Some(Arc::new(BooleanArray::from(outer.matched.clone()))))
            }
        };
        let none = UInt32Array::new_null(rows.len());
        self.pairs.give(&mut self.pending, &outer.rows, &self.left.rows, &rows, &none, mark)
    }
}

/// The candidates of a row by one key.
fn slice<'a>(found: &[(u32, u32)], key: Option<&'a SortedKey>, row: usize) -> &'a [u32] {
    let range = found.get(row).map_or(0..0, |(start, end)| *start as usize..*end as usize);
    key.and_then(|key| key.order.get(range)).unwrap_or(&[])
}
