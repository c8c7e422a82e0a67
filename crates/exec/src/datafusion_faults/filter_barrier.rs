//! Conditions of which a part is never true, and aggregates that give a row of no rows too.
//!
//! Fault: `push_down_filter` moves a condition without columns, such as the NULL that it makes of `NOT (x = x)`, below such aggregates,
//! where it does not mean the same. [`barrier`] keeps it above; [`WithoutBarriers`] takes the barrier out of the physical plan.
//! No issue of DataFusion was found (Spark had the same as SPARK-17712; apache/datafusion#25416 mends the same place for volatile keys).
//! May go: when `still_moves_conditions_below_aggregates_of_no_rows` fails.

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::logical_expr::{LogicalPlan, LogicalPlanBuilder};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::limit::GlobalLimitExec;
use std::sync::Arc;
use stoa_pg::registry::NativeOp;
use stoa_pg::{PgResult, PgType};
use stoa_sql::typed::from_datafusion;
use stoa_sql::typed::tree::{Expr, ExprKind};

/// Whether conditions that must all hold ask a column for two values: nothing else is asked of the rows then. DataFusion sees that as well,
/// but lets the other conditions run over the other sides of joins.
pub fn contradict(conditions: &[Expr]) -> bool {
    let value = |e: &Expr| {
        let ExprKind::Oper { oper, args } = &e.kind else { return None };
        match args.as_slice() {
            [Expr { kind: ExprKind::Column(id), ty }, Expr { kind: ExprKind::Const(value), .. }]
            | [Expr { kind: ExprKind::Const(value), .. }, Expr { kind: ExprKind::Column(id), ty }]
                if oper.0.comparison == Some(NativeOp::Eq)
                    && matches!(ty.ty, PgType::Int2 | PgType::Int4 | PgType::Int8 | PgType::Text | PgType::Bool | PgType::Date)
                    && value.data_type() == ty.arrow
                    && !value.is_null() =>
            {
                Some((*id, value.clone()))
            }
            _ => None,
        }
    };
    let values: Vec<_> = conditions.iter().filter_map(value).collect();
    values.iter().enumerate().any(|(at, (id, value))| values.iter().take(at).any(|(other, known)| other == id && known != value))
}

/// A limit that no rows reach: conditions are not moved below limits.
const NO_LIMIT: usize = i64::MAX as usize;

/// The plan, below which no condition is moved.
pub fn barrier(plan: LogicalPlan) -> PgResult<LogicalPlan> {
    LogicalPlanBuilder::from(plan).limit(0, Some(NO_LIMIT)).and_then(LogicalPlanBuilder::build).map_err(from_datafusion)
}

/// See the module.
#[derive(Debug)]
pub struct WithoutBarriers;

impl PhysicalOptimizerRule for WithoutBarriers {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|plan| match plan.downcast_ref::<GlobalLimitExec>() {
            Some(limit) if limit.skip() == 0 && limit.fetch() == Some(NO_LIMIT) => Ok(Transformed::yes(Arc::clone(limit.input()))),
            _ => Ok(Transformed::no(plan)),
        })
        .data()
    }

    fn name(&self) -> &'static str {
        "WithoutBarriers"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use datafusion::logical_expr::{Filter, lit};
    use datafusion::optimizer::push_down_filter::PushDownFilter;
    use datafusion::optimizer::{OptimizerContext, OptimizerRule};

    fn pushed(barred: bool) -> String {
        let (groups, count) = (Vec::<datafusion::logical_expr::Expr>::new(), datafusion::functions_aggregate::count::count(lit(1)));
        let rows = LogicalPlanBuilder::empty(false).aggregate(groups, vec![count]).and_then(LogicalPlanBuilder::build).unwrap();
        let rows = if barred { barrier(rows).unwrap() } else { rows };
        let never = lit(datafusion::common::ScalarValue::Boolean(None));
        let plan = LogicalPlan::Filter(Filter::try_new(never, Arc::new(rows)).unwrap());
        PushDownFilter::new().rewrite(plan, &OptimizerContext::new()).unwrap().data.display_indent().to_string()
    }

    #[test]
    fn still_moves_conditions_below_aggregates_of_no_rows() {
        assert!(!pushed(false).starts_with("Filter"), "{}", pushed(false));
        assert!(pushed(true).starts_with("Filter"), "{}", pushed(true));
    }
}
