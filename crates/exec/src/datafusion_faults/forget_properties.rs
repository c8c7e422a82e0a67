//! Passes rows on and claims nothing about them: neither an order nor columns that are constant.
//!
//! Fault: DataFusion takes what is known of a column below GROUPING SETS for known above them too, where it is NULL in the sets without it;
//! and a constant of the side that an outer join extends with NULLs for one above the join. Sorts and groupings by it would go wrong.
//! An order by the key of groups is one by all that follow it, so that a window over `PARTITION BY key, x` is given rows ordered by the key alone; when
//! it runs it looks for both in the order that its input names, and fails. Of
//! GROUPING SETS apache/datafusion#11291 and #24421 (closed) were parts, of unions #23528; of outer joins and windows no issue was found.
//! May go: the part about outer joins when `still_takes_constants_of_an_extended_side_for_constants` fails; that about windows when
//! `sql-tests/neutral/windows_over_unique_columns.slt` passes without it; the others when `orders_by_what_is_constant.slt` does.
//! Read `plan::aggregate` next.

use crate::node::{MakeExec, extend};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{DataFusionError, JoinType, Result};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::joins::{HashJoinExec, NestedLoopJoinExec};
use datafusion::physical_plan::union::UnionExec;
use datafusion::physical_plan::windows::{BoundedWindowAggExec, WindowAggExec};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties, SendableRecordBatchStream,
    replace_children_if_necessary,
};
use std::fmt;
use std::sync::Arc;
use stoa_pg::PgResult;

/// See the module.
#[derive(Debug)]
pub struct ForgetPropertiesExec {
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
}

/// The input behind such a node.
pub fn plan(input: LogicalPlan) -> PgResult<LogicalPlan> {
    let make: MakeExec = Arc::new(|mut inputs| {
        let Some(input) = inputs.pop() else { return Err(DataFusionError::Internal("ForgetProperties has one input".into())) };
        Ok(Arc::new(ForgetPropertiesExec::new(input)))
    });
    extend("ForgetProperties".into(), input, &[], make)
}

/// Puts [`ForgetPropertiesExec`] over the sides of outer joins that have constants and are extended with NULLs, over sides of joins that have keys,
/// below windows over such keys and more, and over unions of parts that have constants or equal columns. Runs when joins have their sides.
#[derive(Debug)]
pub struct UnsafeConstants;

impl PhysicalOptimizerRule for UnsafeConstants {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|plan| {
            // A sort of each part leaves its constants and the second of two equal columns out; the other parts have not the same.
            let known = |part: &Arc<dyn ExecutionPlan>| !part.equivalence_properties().eq_group().is_empty();
            if plan.downcast_ref::<UnionExec>().is_some_and(|union| union.inputs().iter().any(known)) {
                return Ok(Transformed::yes(Arc::new(ForgetPropertiesExec::new(plan))));
            }
            if let Some(input) = keyed_partitions(&plan) {
                let forgotten = Arc::new(ForgetPropertiesExec::new(Arc::clone(input)));
                return replace_children_if_necessary(plan, vec![forgotten]).map(Transformed::yes);
            }
            let hash = plan.downcast_ref::<HashJoinExec>().map(|join| *join.join_type());
            let Some(kind) = hash.or_else(|| plan.downcast_ref::<NestedLoopJoinExec>().map(|join| *join.join_type())) else {
                return Ok(Transformed::no(plan));
            };
            let extended = match kind {
                JoinType::Left => [false, true],
                JoinType::Right => [true, false],
                JoinType::Full => [true, true],
                _ => [false, false],
            };
            let mut changed = false;
            let mut children = Vec::with_capacity(2);
            for (child, extended) in plan.children().into_iter().zip(extended) {
                let known = child.equivalence_properties();
                // A key is forgotten above the join, and a sort that was left out for it is missed there.
                let doubtful = (extended && !known.constants().is_empty()) || !known.constraints().is_empty();
                changed |= doubtful;
                children.push(if doubtful { Arc::new(ForgetPropertiesExec::new(child.clone())) } else { child.clone() });
            }
            if changed { replace_children_if_necessary(plan, children).map(Transformed::yes) } else { Ok(Transformed::no(plan)) }
        })
        .data()
    }

    fn name(&self) -> &str {
        "UnsafeConstants"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// The input of a window over several partition keys, if that has a key.
fn keyed_partitions(plan: &Arc<dyn ExecutionPlan>) -> Option<&Arc<dyn ExecutionPlan>> {
    let bounded = plan.downcast_ref::<BoundedWindowAggExec>().map(|window| (window.window_expr(), window.input()));
    let (exprs, input) = bounded.or_else(|| plan.downcast_ref::<WindowAggExec>().map(|window| (window.window_expr(), window.input())))?;
    let several = exprs.first().is_some_and(|window| window.partition_by().len() > 1);
    (several && !input.equivalence_properties().constraints().is_empty()).then_some(input)
}

impl ForgetPropertiesExec {
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

impl DisplayAs for ForgetPropertiesExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("ForgetPropertiesExec")
    }
}

impl ExecutionPlan for ForgetPropertiesExec {
    fn name(&self) -> &str {
        "ForgetPropertiesExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<datafusion::common::tree_node::TreeNodeRecursion>,
    ) -> Result<datafusion::common::tree_node::TreeNodeRecursion> {
        Ok(datafusion::common::tree_node::TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, mut children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(input) = children.pop() else { return Err(DataFusionError::Internal("ForgetProperties has one input".into())) };
        Ok(Arc::new(Self::new(input)))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        self.input.execute(partition, context)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use datafusion::arrow::datatypes::{DataType, Field, Schema};
    use datafusion::common::NullEquality;
    use datafusion::logical_expr::Operator;
    use datafusion::physical_expr::expressions::{BinaryExpr, col, lit};
    use datafusion::physical_plan::empty::EmptyExec;
    use datafusion::physical_plan::filter::FilterExec;
    use datafusion::physical_plan::joins::PartitionMode;

    /// A LEFT JOIN whose right side has a column that is 1 in all its rows.
    fn join() -> Arc<dyn ExecutionPlan> {
        let side = |names: &[&str]| {
            let fields: Vec<Field> = names.iter().map(|name| Field::new(*name, DataType::Int32, true)).collect();
            Arc::new(EmptyExec::new(Arc::new(Schema::new(fields)))) as Arc<dyn ExecutionPlan>
        };
        let (left, right) = (side(&["a"]), side(&["b", "c"]));
        let one = Arc::new(BinaryExpr::new(col("c", &right.schema()).unwrap(), Operator::Eq, lit(1)));
        let on = vec![(col("a", &left.schema()).unwrap(), col("b", &right.schema()).unwrap())];
        let right = Arc::new(FilterExec::try_new(one, right).unwrap());
        let mode = PartitionMode::CollectLeft;
        let equality = NullEquality::NullEqualsNothing;
        Arc::new(HashJoinExec::try_new(left, right, on, None, &JoinType::Left, None, mode, equality, false).unwrap())
    }

    fn is_constant(plan: &Arc<dyn ExecutionPlan>) -> bool {
        let column = col("c", &plan.schema()).unwrap();
        plan.equivalence_properties().is_expr_constant(&column).is_some()
    }

    #[test]
    fn still_takes_constants_of_an_extended_side_for_constants() {
        assert!(is_constant(&join()));
        assert!(!is_constant(&UnsafeConstants.optimize(join(), &ConfigOptions::default()).unwrap()));
    }
}
