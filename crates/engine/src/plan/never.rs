//! Conditions of which a part is never true, and aggregates that give a row of no rows too.
//!
//! DataFusion moves a condition without columns, such as the NULL that it makes of `NOT (x = x)`, below such aggregates, where it does not
//! mean the same. [`barrier`] keeps it above; [`WithoutBarriers`] takes the barrier out of the physical plan.

use super::from_datafusion;
use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::logical_expr::{LogicalPlan, LogicalPlanBuilder};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::limit::GlobalLimitExec;
use std::sync::Arc;
use stoa_pg::PgResult;

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
