//! Columns whose computation does something, such as taking a value of a sequence: they are computed for each row, whether anybody
//! asks for them or not.
//!
//! Fault: `optimize_projections` leaves out columns that nobody reads, calls of volatile functions among them. DataFusion means it so
//! (its issues about volatile functions, apache/datafusion#8518 and #24678, are about computing them too often); PostgreSQL does not.
//! May go: when `still_leaves_out_volatile_calls` fails.

use crate::node::{MakeExec, StoaNode};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use stoa_sql::bind::aggregate::walk_effects;
use stoa_sql::typed::column_name;
use stoa_sql::typed::tree::{ColId, Expr};

/// A projection of these columns, so that those with effects stay in it. Filters on the others go below it, as in PostgreSQL.
pub fn keep(projection: LogicalPlan, columns: &[(ColId, &Expr)]) -> LogicalPlan {
    let names: HashSet<String> = columns.iter().filter(|(_, e)| walk_effects(e)).map(|(id, _)| column_name(*id)).collect();
    if names.is_empty() {
        return projection;
    }
    let schema = Arc::clone(projection.schema());
    let make: MakeExec = Arc::new(|mut inputs| {
        let Some(input) = inputs.pop() else { return Err(DataFusionError::Internal("effects have one input".into())) };
        Ok(Arc::new(EffectsExec { input }))
    });
    StoaNode::plan("Effects".into(), vec![projection], schema, names, make)
}

/// Passes on what the projection below it computes.
#[derive(Debug)]
struct EffectsExec {
    input: Arc<dyn ExecutionPlan>,
}

impl DisplayAs for EffectsExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("EffectsExec")
    }
}

impl ExecutionPlan for EffectsExec {
    fn name(&self) -> &str {
        "EffectsExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(&self, _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, mut children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(input) = children.pop() else { return Err(DataFusionError::Internal("effects have one input".into())) };
        Ok(Arc::new(Self { input }))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        self.input.execute(partition, context)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use datafusion::arrow::datatypes::DataType;
    use datafusion::logical_expr::{ColumnarValue, LogicalPlanBuilder, Volatility, create_udf, lit};
    use datafusion::optimizer::optimize_projections::OptimizeProjections;
    use datafusion::optimizer::{OptimizerContext, OptimizerRule};
    use datafusion::prelude::col;
    use std::sync::Arc;

    #[test]
    fn still_leaves_out_volatile_calls() {
        let next =
            create_udf("next", vec![], DataType::Int64, Volatility::Volatile, Arc::new(|args: &[ColumnarValue]| Ok(args[0].clone())));
        let plan = LogicalPlanBuilder::empty(true)
            .project(vec![lit(1).alias("a"), next.call(vec![]).alias("b")])
            .and_then(|plan| plan.project(vec![col("a")]))
            .and_then(LogicalPlanBuilder::build)
            .unwrap();
        assert!(plan.display_indent().to_string().contains("next()"));
        let optimized = OptimizeProjections::new().rewrite(plan, &OptimizerContext::new()).unwrap().data;
        assert!(!optimized.display_indent().to_string().contains("next()"), "{}", optimized.display_indent());
    }
}
