//! Passes rows on and claims nothing about them: neither an order nor columns that are constant.
//!
//! DataFusion takes what is known of a column below GROUPING SETS for known above them too, where it is NULL in the sets without it.
//! Read [`crate::plan::aggregate`] next.

use crate::plan::relation::Planner;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties, SendableRecordBatchStream,
};
use std::fmt;
use std::sync::Arc;
use stoa_pg::PgResult;

/// See the module.
#[derive(Debug)]
pub struct PlainExec {
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
}

/// The input behind such a node.
pub fn plan(planner: &Planner, input: LogicalPlan) -> PgResult<LogicalPlan> {
    let make: crate::plan::node::MakeExec = Arc::new(|mut inputs| {
        let Some(input) = inputs.pop() else { return Err(DataFusionError::Internal("Plain has one input".into())) };
        Ok(Arc::new(PlainExec::new(input)))
    });
    planner.extend("Plain".into(), input, &[], make)
}

impl PlainExec {
    fn new(input: Arc<dyn ExecutionPlan>) -> Self {
        let properties = Arc::new(PlanProperties::new(
            EquivalenceProperties::new(input.schema()),
            input.output_partitioning().clone(),
            EmissionType::Incremental,
            Boundedness::Bounded,
        ));
        Self { input, properties }
    }
}

impl DisplayAs for PlainExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("PlainExec")
    }
}

impl ExecutionPlan for PlainExec {
    fn name(&self) -> &str {
        "PlainExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<datafusion::common::tree_node::TreeNodeRecursion>,
    ) -> Result<datafusion::common::tree_node::TreeNodeRecursion> {
        Ok(datafusion::common::tree_node::TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, mut children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(input) = children.pop() else { return Err(DataFusionError::Internal("Plain has one input".into())) };
        Ok(Arc::new(Self::new(input)))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        self.input.execute(partition, context)
    }
}
