//! A barrier: what stands above it is computed for no rows but those that come through it.
//!
//! No rule of the planner moves a condition, a projection or a limit through a node that it does not know, in the logical plan or in the
//! physical one. Policies of tables and `security_barrier` views stand below: what a condition of the user raises, or does, would tell
//! of rows that are hidden.

use crate::node::{MakeExec, extend};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SendableRecordBatchStream};
use std::fmt;
use std::sync::Arc;
use stoa_pg::PgResult;

/// The plan behind a barrier.
///
/// # Errors
/// XX000 for a schema that cannot be.
pub fn plan(input: LogicalPlan) -> PgResult<LogicalPlan> {
    let make: MakeExec = Arc::new(|mut inputs| match inputs.pop() {
        Some(input) => Ok(Arc::new(BarrierExec { input })),
        None => Err(DataFusionError::Internal("a barrier has one input".into())),
    });
    extend("Barrier".into(), input, &[], make)
}

/// See the module.
#[derive(Debug)]
pub struct BarrierExec {
    input: Arc<dyn ExecutionPlan>,
}

impl DisplayAs for BarrierExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("BarrierExec")
    }
}

impl ExecutionPlan for BarrierExec {
    fn name(&self) -> &str {
        "BarrierExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn apply_expressions(&self, _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, mut children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        match children.pop() {
            Some(input) => Ok(Arc::new(Self { input })),
            None => Err(DataFusionError::Internal("a barrier has one input".into())),
        }
    }

    fn execute(&self, partition: usize, context: Arc<datafusion::execution::TaskContext>) -> Result<SendableRecordBatchStream> {
        self.input.execute(partition, context)
    }
}
