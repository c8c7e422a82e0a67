//! Nodes whose batches are kept small in bytes, where DataFusion counts rows alone, and joins that let others have their turn.
//!
//! A node that computes long values makes them for all rows of a batch at once: eight thousand texts of a megabyte. Its input comes in
//! slices here, few rows first, then as many as the values leave room for ([`stoa_sql::typed::udf::bytes_made`]).
//!
//! Batches share texts: those of a sort the texts of all its input, those of kept columns the texts of a whole segment. Who keeps batches
//! reserves memory for each with all that it shares, many times what there is; so what sorts and joins keep, and what sorts give, gets
//! texts of its own.
//!
//! A join may find millions of pairs, or look at them in vain, between two rows of its inputs, and what is above it asks for more without
//! end: a statement is cancelled, and times out, only where it waits. So the rows that a join of all pairs probes with come a few at a
//! time, and joins give way after some milliseconds.
//!
//! Such a node shows itself as the one that it stands for.

use super::range_join::RangeJoinExec;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::joins::{CrossJoinExec, HashJoinExec, NestedLoopJoinExec};
use datafusion::physical_plan::metrics::MetricsSet;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, RecordBatchStream, SendableRecordBatchStream,
    replace_children_if_necessary,
};
use futures::{Stream, StreamExt};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use stoa_pg::memory::value_bytes;
use stoa_sql::typed::udf::{KernelUdf, bytes_made, may_be_long};

/// Rows of the first slice.
const FIRST_ROWS: usize = 64;
/// Bytes of its texts.
const FIRST_BYTES: usize = 256 << 10;
/// How many times as many the next slice may have.
const GROWTH: usize = 4;
/// How long a join goes on before it gives way, and how long it should deal with a slice.
const TURN: Duration = Duration::from_millis(20);
const SLICE: Duration = Duration::from_millis(5);
/// Groups up to which an aggregate keeps only the first ones.
const MOST_LIMITED_GROUPS: usize = 10_000;
/// What the values that are computed for a slice should take.
const SLICE_BYTES: usize = 4 << 20;

/// Bounds the nodes of a finished plan that need it.
#[derive(Debug)]
pub struct Bounds;

impl PhysicalOptimizerRule for Bounds {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|plan| {
            // For a limit of the groups, room for as many is taken before the first row.
            if let Some(aggregate) = plan.downcast_ref::<AggregateExec>()
                && aggregate.limit_options().is_some_and(|options| options.limit() > MOST_LIMITED_GROUPS)
            {
                return Ok(Transformed::yes(Arc::new(aggregate.with_new_limit_options(None)) as Arc<dyn ExecutionPlan>));
            }
            let sorts = plan.downcast_ref::<SortExec>().is_some_and(|sort| sort.fetch().is_none());
            let all_pairs = plan.is::<NestedLoopJoinExec>() || plan.is::<CrossJoinExec>();
            let joins = all_pairs || plan.is::<HashJoinExec>() || plan.is::<RangeJoinExec>();
            let computes = plan.is::<ProjectionExec>() || plan.is::<FilterExec>() || plan.is::<AggregateExec>();
            let bound = match plan.children().first() {
                Some(input) if sorts && has_texts(&input.schema()) => Bound { input: How::OwnTexts, ..Bound::default() },
                Some(input) if joins => {
                    let input = if has_texts(&input.schema()) { How::OwnTexts } else { How::AsItIs };
                    Bound { input, probe: if all_pairs { How::Paced } else { How::AsItIs }, gives_way: true, output: false }
                }
                Some(_) if computes && makes_long_values(&plan)? => Bound { input: How::Slices, ..Bound::default() },
                _ => return Ok(Transformed::no(plan)),
            };
            let bound = Bound { output: sorts, ..bound };
            BoundedExec::new(plan, bound).map(|node| Transformed::yes(Arc::new(node) as Arc<dyn ExecutionPlan>))
        })
        .data()
    }

    fn name(&self) -> &'static str {
        "Bounds"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// A node as it was planned.
pub fn as_planned(plan: &Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    match plan.downcast_ref::<BoundedExec>() {
        Some(bounded) => replace_children_if_necessary(Arc::clone(&bounded.node), bounded.inputs.clone()),
        None => Ok(Arc::clone(plan)),
    }
}

fn has_texts(schema: &SchemaRef) -> bool {
    schema.fields().iter().any(|field| matches!(field.data_type(), DataType::Utf8View | DataType::BinaryView))
}

/// Whether a node computes values whose length only their arguments tell.
fn makes_long_values(plan: &Arc<dyn ExecutionPlan>) -> Result<bool> {
    let mut found = false;
    plan.apply_expressions(&mut |expr| {
        expr.apply(|expr: &Arc<dyn PhysicalExpr>| {
            let call = expr.downcast_ref::<ScalarFunctionExpr>();
            found |= call.is_some_and(|call| call.fun().inner().is::<KernelUdf>() && may_be_long(call.return_type()));
            Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
        })
    })?;
    Ok(found)
}

/// What is done for a node.
#[derive(Clone, Copy, Debug, Default)]
struct Bound {
    /// How its first input comes, and the second.
    input: How,
    probe: How,
    /// Whether its batches get texts of their own.
    output: bool,
    /// Whether it waits from time to time.
    gives_way: bool,
}

/// See the module.
#[derive(Debug)]
struct BoundedExec {
    /// As it is executed.
    node: Arc<dyn ExecutionPlan>,
    /// As they are shown.
    inputs: Vec<Arc<dyn ExecutionPlan>>,
    bound: Bound,
}

impl BoundedExec {
    fn new(node: Arc<dyn ExecutionPlan>, bound: Bound) -> Result<Self> {
        let inputs: Vec<_> = node.children().into_iter().cloned().collect();
        Self::over(node, inputs, bound)
    }

    fn over(node: Arc<dyn ExecutionPlan>, inputs: Vec<Arc<dyn ExecutionPlan>>, bound: Bound) -> Result<Self> {
        let mut children = inputs.clone();
        for (child, how) in children.iter_mut().zip([bound.input, bound.probe]).filter(|(_, how)| *how != How::AsItIs) {
            *child = Arc::new(InputExec { input: Arc::clone(child), how });
        }
        Ok(Self { node: replace_children_if_necessary(node, children)?, inputs, bound })
    }
}

impl DisplayAs for BoundedExec {
    fn fmt_as(&self, t: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        self.node.fmt_as(t, f)
    }
}

impl ExecutionPlan for BoundedExec {
    fn name(&self) -> &str {
        self.node.name()
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.node.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.inputs.iter().collect()
    }

    fn metrics(&self) -> Option<MetricsSet> {
        self.node.metrics()
    }

    fn apply_expressions(&self, f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>) -> Result<TreeNodeRecursion> {
        self.node.apply_expressions(f)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(Self::over(Arc::clone(&self.node), children, self.bound)?))
    }

    fn reset_state(self: Arc<Self>) -> Result<Arc<dyn ExecutionPlan>> {
        let node = Arc::clone(&self.node).reset_state()?;
        Ok(Arc::new(Self::over(node, self.inputs.clone(), self.bound)?))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let stream = self.node.execute(partition, context)?;
        let stream = if self.bound.output { own_texts(stream) } else { stream };
        Ok(if self.bound.gives_way {
            Box::pin(Paced { input: stream, sliced: false, rest: None, rows: 0, given: None, turn: Turn::default() })
        } else {
            stream
        })
    }
}

fn own_texts(stream: SendableRecordBatchStream) -> SendableRecordBatchStream {
    Box::pin(RecordBatchStreamAdapter::new(stream.schema(), stream.map(|batch| batch.map(with_own_texts))))
}

/// The batch with texts of its own, where it shares much larger ones.
fn with_own_texts(batch: RecordBatch) -> RecordBatch {
    let mut changed = false;
    let columns: Vec<ArrayRef> = batch
        .columns()
        .iter()
        .map(|column| {
            let held = column.get_buffer_memory_size();
            let own = || held > 2 * value_bytes(column.as_ref());
            let column = match column.data_type() {
                DataType::Utf8View if own() => Arc::new(column.as_string_view().gc()) as ArrayRef,
                DataType::BinaryView if own() => Arc::new(column.as_binary_view().gc()),
                _ => return Arc::clone(column),
            };
            changed = true;
            column
        })
        .collect();
    if changed { RecordBatch::try_new(batch.schema(), columns).unwrap_or(batch) } else { batch }
}

fn long_bytes(column: &ArrayRef) -> usize {
    if may_be_long(column.data_type()) { value_bytes(column.as_ref()) } else { 0 }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum How {
    #[default]
    AsItIs,
    Slices,
    OwnTexts,
    Paced,
}

/// Passes its input on.
#[derive(Debug)]
struct InputExec {
    input: Arc<dyn ExecutionPlan>,
    how: How,
}

impl DisplayAs for InputExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("InputExec")
    }
}

impl ExecutionPlan for InputExec {
    fn name(&self) -> &str {
        "InputExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(&self, _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, mut children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(input) = children.pop() else { return Err(DataFusionError::Internal("there is one input".into())) };
        Ok(Arc::new(Self { input, how: self.how }))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let input = self.input.execute(partition, context)?;
        Ok(match self.how {
            How::Slices => Box::pin(Slices { input, rest: None, rows: FIRST_ROWS, known: false, given: None }),
            How::OwnTexts => own_texts(input),
            How::AsItIs => input,
            How::Paced => Box::pin(Paced { input, sliced: true, rest: None, rows: FIRST_ROWS, given: None, turn: Turn::default() }),
        })
    }
}

/// Gives a batch in slices, as the values that were computed for the last ones allow.
struct Slices {
    input: SendableRecordBatchStream,
    rest: Option<RecordBatch>,
    /// Of the next slice.
    rows: usize,
    /// Whether something was learnt.
    known: bool,
    /// The rows of the slice before, and what this thread had made when it was given.
    given: Option<(usize, usize)>,
}

impl Slices {
    /// Learns from what was made of the slice before. Work of others on this thread counts along, and none of another thread: that is
    /// a guess which the next slice corrects.
    fn learn(&mut self) {
        if let Some((rows, before)) = self.given.take() {
            let made = bytes_made().wrapping_sub(before);
            let row_bytes = made.div_ceil(rows.max(1)).max(1);
            self.known = true;
            self.rows = (SLICE_BYTES / row_bytes).clamp(1, self.rows.saturating_mul(GROWTH).min(1 << 20));
        }
    }
}

impl Stream for Slices {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.learn();
        let batch = match self.rest.take() {
            Some(batch) => batch,
            None => match ready!(self.input.poll_next_unpin(cx)) {
                Some(Ok(batch)) => batch,
                other => return Poll::Ready(other),
            },
        };
        // What is long already may become much longer.
        let bytes: usize = batch.columns().iter().map(long_bytes).sum();
        let few = (FIRST_BYTES / (bytes / batch.num_rows().max(1)).max(1)).max(1);
        let rows = self.rows.min(if self.known { usize::MAX } else { few }).min(batch.num_rows());
        self.given = Some((rows, bytes_made()));
        if rows == batch.num_rows() {
            return Poll::Ready(Some(Ok(batch)));
        }
        self.rest = Some(batch.slice(rows, batch.num_rows() - rows));
        Poll::Ready(Some(Ok(batch.slice(0, rows))))
    }
}

impl RecordBatchStream for Slices {
    fn schema(&self) -> SchemaRef {
        self.input.schema()
    }
}

/// When it was another's turn last.
struct Turn(Instant);

impl Default for Turn {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Turn {
    /// Whether somebody else has waited long enough; then it is their turn.
    fn is_over(&mut self, now: Instant, cx: &mut Context<'_>) -> bool {
        let over = now.duration_since(self.0) > TURN;
        if over {
            self.0 = now;
            cx.waker().wake_by_ref();
        }
        over
    }
}

/// Passes batches on and waits from time to time; if `sliced`, in slices that whoever asks for them deals with in a moment.
struct Paced {
    input: SendableRecordBatchStream,
    sliced: bool,
    rest: Option<RecordBatch>,
    /// Of the next slice.
    rows: usize,
    /// The rows of the slice before, and when it was given.
    given: Option<(usize, Instant)>,
    turn: Turn,
}

impl Stream for Paced {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let now = Instant::now();
        if let Some((rows, at)) = self.given.take() {
            let took = now.duration_since(at).as_nanos().max(1);
            let fitting = (rows as u128).saturating_mul(SLICE.as_nanos()) / took;
            self.rows = usize::try_from(fitting).unwrap_or(usize::MAX).clamp(1, rows.saturating_mul(GROWTH).min(1 << 20));
        }
        if self.turn.is_over(now, cx) {
            return Poll::Pending;
        }
        let batch = match self.rest.take() {
            Some(batch) => batch,
            None => match ready!(self.input.poll_next_unpin(cx)) {
                Some(Ok(batch)) => batch,
                other => return Poll::Ready(other),
            },
        };
        if !self.sliced {
            return Poll::Ready(Some(Ok(batch)));
        }
        let rows = self.rows.min(batch.num_rows());
        self.given = (rows > 0).then(|| (rows, Instant::now()));
        if rows == batch.num_rows() {
            return Poll::Ready(Some(Ok(batch)));
        }
        self.rest = Some(batch.slice(rows, batch.num_rows() - rows));
        Poll::Ready(Some(Ok(batch.slice(0, rows))))
    }
}

impl RecordBatchStream for Paced {
    fn schema(&self) -> SchemaRef {
        self.input.schema()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use datafusion::arrow::array::{Int32Array, StringViewArray};
    use datafusion::arrow::datatypes::{Field, Schema};

    fn batch(texts: impl Iterator<Item = String>) -> RecordBatch {
        let texts: StringViewArray = texts.map(Some).collect();
        let numbers: Int32Array = (0..texts.len() as i32).collect();
        let schema = Schema::new(vec![Field::new("n", DataType::Int32, true), Field::new("t", DataType::Utf8View, true)]);
        RecordBatch::try_new(Arc::new(schema), vec![Arc::new(numbers), Arc::new(texts)]).unwrap()
    }

    fn bytes(batch: &RecordBatch) -> usize {
        batch.columns().iter().map(|column| column.get_buffer_memory_size()).sum()
    }

    #[test]
    fn a_part_of_a_batch_gets_texts_of_its_own() {
        let all = batch((0..1000).map(|n| format!("a text that is not short, number {n}")));
        let part = all.slice(500, 10);
        assert!(bytes(&part) > 10_000);
        let own = with_own_texts(part.clone());
        assert_eq!(own, part);
        assert!(own.column(1).get_buffer_memory_size() < 1500, "{}", own.column(1).get_buffer_memory_size());
        assert!(Arc::ptr_eq(with_own_texts(all.clone()).column(1), all.column(1)), "what it needs is not copied");
    }

    /// The rows of the slices, where so many bytes are made of each row.
    async fn slices(input: Vec<RecordBatch>, made: usize) -> Vec<usize> {
        let schema = input[0].schema();
        let expected: usize = input.iter().map(RecordBatch::num_rows).sum();
        let input = Box::pin(RecordBatchStreamAdapter::new(schema, futures::stream::iter(input.into_iter().map(Ok))));
        let mut slices = Slices { input, rest: None, rows: FIRST_ROWS, known: false, given: None };
        let (mut rows, mut next) = (Vec::new(), 0);
        while let Some(slice) = slices.next().await {
            let slice = slice.unwrap();
            let numbers = slice.column(0).as_primitive::<datafusion::arrow::datatypes::Int32Type>();
            numbers.values().iter().for_each(|n| {
                assert!(*n == next || *n == 0, "{n} where {next} comes");
                next = *n + 1;
            });
            stoa_sql::typed::udf::note_made(made * slice.num_rows());
            rows.push(slice.num_rows());
        }
        assert_eq!(rows.iter().sum::<usize>(), expected);
        rows
    }

    #[tokio::test]
    async fn slices_are_as_large_as_what_is_made_of_them_allows() {
        let short = || batch((0..9000).map(|_| "t".to_owned()));
        assert_eq!(slices(vec![short(), short()], 16).await, [64, 256, 1024, 4096, 3560, 9000]);
        assert_eq!(slices(vec![batch((0..200).map(|_| "t".to_owned()))], 1 << 20).await[..3], [64, 4, 4]);
        assert_eq!(slices(vec![batch((0..100).map(|_| "t".to_owned()))], 64 << 20).await[..3], [64, 1, 1]);
        // Long already: fewer at first.
        assert_eq!(slices(vec![batch((0..50).map(|_| "t".repeat(100_000)))], 100_000).await[..2], [2, 41]);
    }
}
