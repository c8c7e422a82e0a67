//! The working table of a recursion: the rows of the round before, read anew each time the plan of a round is executed.

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, Statistics};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;

/// A round's rows, which the plan of the next one reads.
pub type Round = Arc<Mutex<Arc<Vec<RecordBatch>>>>;

/// A scan of the working table.
pub struct WorkingTableExec {
    rows: Round,
    /// Where the columns of `schema` stand in the working table.
    positions: Vec<usize>,
    schema: SchemaRef,
    properties: Arc<PlanProperties>,
}

impl WorkingTableExec {
    #[must_use]
    pub fn new(rows: Round, positions: Vec<usize>, schema: SchemaRef) -> Self {
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
        f.write_str("WorkingTableExec")
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
        let (rows, positions, schema) = (Arc::clone(&self.rows.lock()), self.positions.clone(), Arc::clone(&self.schema));
        let batches = (0..rows.len()).map(move |at| {
            let batch = &rows[at];
            let columns = positions.iter().map(|p| Arc::clone(batch.column(*p))).collect();
            let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            Ok(RecordBatch::try_new_with_options(Arc::clone(&schema), columns, &options)?)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), futures::stream::iter(batches))))
    }

    /// As PostgreSQL does, a round is expected to have ten times the rows of the first.
    fn statistics_from_inputs(&self, _: &[Arc<Statistics>], _: &StatisticsArgs) -> Result<Arc<Statistics>> {
        let rows: usize = self.rows.lock().iter().map(RecordBatch::num_rows).sum();
        let mut statistics = Statistics::new_unknown(&self.schema);
        statistics.num_rows = Precision::Inexact(rows.saturating_mul(10));
        Ok(Arc::new(statistics))
    }
}
