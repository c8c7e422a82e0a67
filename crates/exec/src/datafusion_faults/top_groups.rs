//! Fault: groups. A sort with a limit hands its limit down to the groups below it, which then keep the best ones only. DataFusion's rule does so
//! through everything that gives as many rows as it takes: through windows, whose values are of all groups (`count(*) OVER ()` of one
//! row), and through a GROUP BY to the groups that it groups again, of which the best may all be one. Here the rule is for plans alone where each
//! sort with a limit comes to one GROUP BY, in one step or in two, without a window between.
//!
//! apache/datafusion#25066 (open) is the case of windows.
//! May go: when `sql-tests/neutral/best_groups.slt` passes without it.

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::topk_aggregation::TopKAggregation;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::execution_plan::CardinalityEffect;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::windows::{BoundedWindowAggExec, WindowAggExec};
use std::sync::Arc;

/// DataFusion's rule where it does nothing wrong.
#[derive(Debug)]
pub struct TopGroups(TopKAggregation);

impl TopGroups {
    #[must_use]
    pub fn new() -> Self {
        Self(TopKAggregation::new())
    }
}

impl Default for TopGroups {
    fn default() -> Self {
        Self::new()
    }
}

impl PhysicalOptimizerRule for TopGroups {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let mut right = true;
        plan.apply(|node| {
            if let Some(sort) = node.downcast_ref::<SortExec>().filter(|sort| sort.fetch().is_some()) {
                right &= one_grouping(sort.input(), None, false);
            }
            Ok(if right { TreeNodeRecursion::Continue } else { TreeNodeRecursion::Stop })
        })?;
        if right { self.0.optimize(plan, config) } else { Ok(plan) }
    }

    fn name(&self) -> &str {
        self.0.name()
    }

    fn schema_check(&self) -> bool {
        self.0.schema_check()
    }
}

/// Whether what the rule comes to from here is at most one grouping. `above`: the step of it that was met; `windowed`: a window was met before.
fn one_grouping(node: &Arc<dyn ExecutionPlan>, above: Option<AggregateMode>, windowed: bool) -> bool {
    if let Some(groups) = node.downcast_ref::<AggregateExec>() {
        let first_step =
            matches!(above, Some(AggregateMode::Final | AggregateMode::FinalPartitioned)) && *groups.mode() == AggregateMode::Partial;
        return !windowed && (above.is_none() || first_step) && one_grouping(groups.input(), Some(*groups.mode()), false);
    }
    let windowed = windowed || node.is::<WindowAggExec>() || node.is::<BoundedWindowAggExec>();
    match node.cardinality_effect() {
        CardinalityEffect::Equal | CardinalityEffect::GreaterEqual => {
            node.children().into_iter().all(|child| one_grouping(child, above, windowed))
        }
        CardinalityEffect::Unknown | CardinalityEffect::LowerEqual => true,
    }
}
