//! Scans of rows that are still being made: the working table of a recursion, which is the round before and read anew each time the plan
//! of a round is executed; and a query of WITH whose rows are made as far as somebody reads them ([`RowsOnDemand`]).

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result, Statistics};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::StreamExt;
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

/// A round's rows, which the plan of the next one reads.
pub type Round = Arc<Mutex<Arc<Vec<RecordBatch>>>>;

/// The rows of a plan, which several readers share: each batch is made when the first of them asks for it, and kept for the others.
/// A recursion that has no end thereby ends with the limits above it.
pub struct RowsOnDemand {
    making: Mutex<Making>,
    waiting: Arc<Waiting>,
}

struct Making {
    source: Source,
    rows: Vec<RecordBatch>,
    memory: MemoryReservation,
}

enum Source {
    Planned(Arc<dyn ExecutionPlan>, Arc<TaskContext>),
    Running(SendableRecordBatchStream),
    Ended,
    Failed(Arc<DataFusionError>),
}

/// The readers that wait for the next batch. Whichever of them asked for it last, all are told.
#[derive(Default)]
struct Waiting(Mutex<Vec<Waker>>);

impl Wake for Waiting {
    fn wake(self: Arc<Self>) {
        let wakers = std::mem::take(&mut *self.0.lock());
        wakers.into_iter().for_each(Waker::wake);
    }
}

impl RowsOnDemand {
    #[must_use]
    pub fn new(plan: Arc<dyn ExecutionPlan>, task: Arc<TaskContext>) -> Self {
        let memory = MemoryConsumer::new("rows of WITH").register(task.memory_pool());
        let making = Making { source: Source::Planned(plan, task), rows: Vec::new(), memory };
        Self { making: Mutex::new(making), waiting: Arc::default() }
    }

    /// The batch at a place; `None` behind the last.
    fn poll_batch(&self, at: usize, cx: &mut Context<'_>) -> Poll<Option<Result<RecordBatch>>> {
        let mut guard = self.making.lock();
        let making = &mut *guard;
        loop {
            if let Some(batch) = making.rows.get(at) {
                return Poll::Ready(Some(Ok(batch.clone())));
            }
            let stream = match &mut making.source {
                Source::Ended => return Poll::Ready(None),
                Source::Failed(error) => return Poll::Ready(Some(Err(DataFusionError::Shared(Arc::clone(error))))),
                Source::Running(stream) => stream,
                Source::Planned(plan, task) => {
                    making.source = match crate::datafusion_faults::in_order::stream(Arc::clone(plan), task) {
                        Ok(stream) => Source::Running(stream),
                        Err(error) => Source::Failed(Arc::new(error)),
                    };
                    continue;
                }
            };
            {
                let mut waiting = self.waiting.0.lock();
                if !waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
                    waiting.push(cx.waker().clone());
                }
            }
            let all = Waker::from(Arc::clone(&self.waiting));
            let made = match stream.poll_next_unpin(&mut Context::from_waker(&all)) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(made) => made,
            };
            let kept = match made {
                Some(Ok(batch)) if batch.num_rows() == 0 => continue,
                Some(Ok(batch)) => making.memory.try_grow(batch.get_array_memory_size()).map(|()| Some(batch)),
                Some(Err(error)) => Err(error),
                None => Ok(None),
            };
            match kept {
                Ok(Some(batch)) => making.rows.push(batch),
                Ok(None) => making.source = Source::Ended,
                Err(error) => making.source = Source::Failed(Arc::new(error)),
            }
            all.wake();
        }
    }
}

impl fmt::Debug for RowsOnDemand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RowsOnDemand")
    }
}

/// Where a scan finds its rows.
#[derive(Clone)]
pub enum Rows {
    Round(Round),
    OnDemand(Arc<RowsOnDemand>),
}

/// A scan of a working table, or of a query of WITH.
pub struct WorkingTableExec {
    rows: Rows,
    /// Where the columns of `schema` stand in the working table.
    positions: Vec<usize>,
    schema: SchemaRef,
    properties: Arc<PlanProperties>,
}

impl WorkingTableExec {
    #[must_use]
    pub fn new(rows: Rows, positions: Vec<usize>, schema: SchemaRef) -> Self {
        let properties = Arc::new(PlanProperties::new(
            EquivalenceProperties::new(Arc::clone(&schema)),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Incremental,
            Boundedness::Bounded,
        ));
        Self { rows, positions, schema, properties }
    }
}

impl fmt::Debug for WorkingTableExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WorkingTableExec")
    }
}

impl DisplayAs for WorkingTableExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.rows {
            Rows::Round(_) => "WorkingTableExec",
            Rows::OnDemand(_) => "WorkingTableExec: on demand",
        })
    }
}

impl ExecutionPlan for WorkingTableExec {
    fn name(&self) -> &str {
        "WorkingTableExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(&self, _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, _: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(&self, _: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let (positions, schema) = (self.positions.clone(), Arc::clone(&self.schema));
        let scanned = move |batch: &RecordBatch| -> Result<RecordBatch> {
            let columns = positions.iter().map(|p| Arc::clone(batch.column(*p))).collect();
            let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            Ok(RecordBatch::try_new_with_options(Arc::clone(&schema), columns, &options)?)
        };
        let out_schema = Arc::clone(&self.schema);
        match &self.rows {
            Rows::Round(round) => {
                let rows = Arc::clone(&round.lock());
                let batches = (0..rows.len()).map(move |at| scanned(&rows[at]));
                Ok(Box::pin(RecordBatchStreamAdapter::new(out_schema, futures::stream::iter(batches))))
            }
            Rows::OnDemand(rows) => {
                let (rows, mut at) = (Arc::clone(rows), 0);
                let batches = futures::stream::poll_fn(move |cx| {
                    let batch = std::task::ready!(rows.poll_batch(at, cx));
                    at += 1;
                    Poll::Ready(batch.map(|batch| scanned(&batch?)))
                });
                Ok(Box::pin(RecordBatchStreamAdapter::new(out_schema, batches)))
            }
        }
    }

    /// As PostgreSQL does, a round is expected to have ten times the rows of the first.
    fn statistics_from_inputs(&self, _: &[Arc<Statistics>], _: &StatisticsArgs) -> Result<Arc<Statistics>> {
        let mut statistics = Statistics::new_unknown(&self.schema);
        if let Rows::Round(round) = &self.rows {
            let rows: usize = round.lock().iter().map(RecordBatch::num_rows).sum();
            statistics.num_rows = Precision::Inexact(rows.saturating_mul(10));
        }
        Ok(Arc::new(statistics))
    }
}
