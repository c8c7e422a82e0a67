//! The conjuncts of a filter that may raise, computed in turn: the last step of what [`stoa_sql::typed::guard`] does to other conditions.

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{BinaryExpr as PhysicalBinary, case, lit};
use datafusion::physical_expr::{PhysicalExpr, split_conjunction};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::filter::{FilterExec, FilterExecBuilder};
use datafusion::physical_plan::joins::utils::JoinFilter;
use datafusion::physical_plan::joins::{HashJoinExec, NestedLoopJoinExec, NestedLoopJoinExecBuilder};
use std::sync::Arc;
use stoa_exec::nodes::raises::{plan_in_turn, plan_may_raise};

/// The conditions of a plan that stand together and of which some may raise, as one that computes them in turn; `None` where there is
/// nothing to do.
pub(super) fn in_turn(condition: &Arc<dyn PhysicalExpr>) -> Result<Option<Arc<dyn PhysicalExpr>>> {
    let mut parts: Vec<Arc<dyn PhysicalExpr>> = split_conjunction(condition).into_iter().map(Arc::clone).collect();
    if parts.len() < 2 || !parts.iter().any(plan_may_raise) {
        return Ok(None);
    }
    plan_in_turn(&mut parts);
    let safe = parts.iter().take_while(|part| !plan_may_raise(part)).count();
    let raising = parts.split_off(safe);
    let together = |a, b| Arc::new(PhysicalBinary::new(a, Operator::And, b)) as Arc<dyn PhysicalExpr>;
    let mut tests: Vec<Arc<dyn PhysicalExpr>> = parts.into_iter().reduce(together).into_iter().chain(raising).collect();
    let Some(last) = tests.pop() else { return Ok(None) };
    let decided = |test| {
        let undecided: Arc<dyn PhysicalExpr> = Arc::new(PhysicalBinary::new(test, Operator::IsDistinctFrom, lit(true)));
        (undecided, lit(false))
    };
    case(Some(lit(true)), tests.into_iter().map(decided).collect(), Some(last)).map(Some)
}

/// See the module. It runs when conditions have found their places, before joins become other nodes.
#[derive(Debug)]
pub struct InTurn;

impl PhysicalOptimizerRule for InTurn {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let filter_of = |filter: Option<&JoinFilter>| {
            let Some(filter) = filter else { return Ok(None) };
            let found = in_turn(filter.expression())?;
            let same = |expr| JoinFilter::new(expr, filter.column_indices().to_vec(), Arc::clone(filter.schema()));
            Ok::<_, datafusion::common::DataFusionError>(found.map(same))
        };
        plan.transform_up(|plan| {
            if let Some(filter) = plan.downcast_ref::<FilterExec>() {
                return Ok(match in_turn(filter.predicate())? {
                    Some(predicate) => Transformed::yes(
                        Arc::new(FilterExecBuilder::from(filter).with_predicate(predicate).build()?) as Arc<dyn ExecutionPlan>
                    ),
                    None => Transformed::no(plan),
                });
            }
            if let Some(join) = plan.downcast_ref::<HashJoinExec>() {
                return Ok(match filter_of(join.filter())? {
                    Some(filter) => Transformed::yes(join.builder().with_filter(Some(filter)).build_exec()?),
                    None => Transformed::no(plan),
                });
            }
            if let Some(join) = plan.downcast_ref::<NestedLoopJoinExec>() {
                return Ok(match filter_of(join.filter())? {
                    Some(filter) => {
                        let join = NestedLoopJoinExecBuilder::from(join).with_filter(Some(filter)).build()?;
                        Transformed::yes(Arc::new(join) as Arc<dyn ExecutionPlan>)
                    }
                    None => Transformed::no(plan),
                });
            }
            Ok(Transformed::no(plan))
        })
        .data()
    }

    fn name(&self) -> &'static str {
        "InTurn"
    }

    fn schema_check(&self) -> bool {
        true
    }
}
