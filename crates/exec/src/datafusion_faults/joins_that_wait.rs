//! Joins of which one part waits for another that nobody asks for rows.
//!
//! Fault: a hash join tells its other side which keys it has met (`enable_join_dynamic_filter_pushdown`), and each of its partitions waits until all of them
//! have told. A partitioned join above, which has nothing to look for in one of its partitions, never asks for the other side of it: the join below
//! waits for ever. apache/datafusion#21625 (closed) was that of partitioned joins whose streams are dropped in time; of those that hash one side for all
//! partitions, and of streams that are kept, no issue was found.
//! May go: when `sql-tests/neutral/joins_below_joins_without_rows.slt` ends without the rule.

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::joins::{HashJoinExec, PartitionMode};
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, replace_children_if_necessary};
use std::sync::Arc;

/// See the module. Joins below such a join tell nothing.
#[derive(Debug)]
pub struct JoinsThatWait;

impl PhysicalOptimizerRule for JoinsThatWait {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        without_waiting(plan, false)
    }

    fn name(&self) -> &'static str {
        "JoinsThatWait"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// `some` tells whether it may be that only some partitions of the plan are asked for rows.
fn without_waiting(plan: Arc<dyn ExecutionPlan>, some: bool) -> Result<Arc<dyn ExecutionPlan>> {
    let join = plan.downcast_ref::<HashJoinExec>();
    let partitioned = join.is_some_and(|join| *join.partition_mode() == PartitionMode::Partitioned);
    // These ask all partitions of their input at the same time.
    let all = plan.is::<RepartitionExec>() || plan.is::<CoalescePartitionsExec>() || plan.is::<SortPreservingMergeExec>();
    let mut children = Vec::with_capacity(plan.children().len());
    for (at, child) in plan.children().into_iter().enumerate() {
        children.push(without_waiting(Arc::clone(child), !all && (some || partitioned && at == 1))?);
    }
    let waits = |_: &&HashJoinExec| !plan.dynamic_expressions_produced().is_empty() && plan.output_partitioning().partition_count() > 1;
    match join.filter(|_| some).filter(waits) {
        Some(join) => join.builder().with_new_children(children)?.reset_state().build_exec(),
        None => replace_children_if_necessary(plan, children),
    }
}
