//! Keys of joins and sorts of which one is a part of another.
//!
//! Fault: a hash join tells its other side which keys it has met, and a sort with a limit which rows come too late
//! (`enable_join_dynamic_filter_pushdown`, `enable_topk_dynamic_filter_pushdown`), in terms of their keys. Where the filter goes below a projection or
//! a join, each key is replaced by what it is there, from the leaves of an expression up. A key within another is replaced first; the other is
//! then not known again, and its remaining columns keep positions at which something else stands: rows that match are left out, or the
//! statement fails. No issue was found.
//! May go: when `sql-tests/neutral/keys_within_keys.slt` passes without the rule.

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use std::sync::Arc;

/// See the module. Such joins and sorts tell nothing.
#[derive(Debug)]
pub struct NestedKeys;

impl PhysicalOptimizerRule for NestedKeys {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_down(|plan| {
            if plan.dynamic_expressions_produced().is_empty() || !is_nested(&keys(&plan)) {
                return Ok(Transformed::no(plan));
            }
            // What is below holds the filter as it was, which lets everything through.
            Ok(Transformed::yes(plan.reset_state()?))
        })
        .map(|plan| plan.data)
    }

    fn name(&self) -> &'static str {
        "NestedKeys"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// What the filter of a node is about.
fn keys(plan: &Arc<dyn ExecutionPlan>) -> Vec<Arc<dyn PhysicalExpr>> {
    if let Some(join) = plan.downcast_ref::<HashJoinExec>() {
        return join.on().iter().map(|(_, key)| Arc::clone(key)).collect();
    }
    plan.downcast_ref::<SortExec>().map_or_else(Vec::new, |sort| sort.expr().iter().map(|key| Arc::clone(&key.expr)).collect())
}

fn is_nested(keys: &[Arc<dyn PhysicalExpr>]) -> bool {
    let is_part =
        |part: &Arc<dyn PhysicalExpr>, key: &Arc<dyn PhysicalExpr>| part != key && key.exists(|within| Ok(within == part)).unwrap_or(true);
    keys.iter().any(|key| keys.iter().any(|part| is_part(part, key)))
}

#[cfg(test)]
mod tests {
    use super::is_nested;
    use datafusion::logical_expr::Operator;
    use datafusion::physical_expr::PhysicalExpr;
    use datafusion::physical_expr::expressions::{BinaryExpr, Column};
    use std::sync::Arc;

    #[test]
    fn a_key_within_another_is_found() {
        let column = |name: &str, at| Arc::new(Column::new(name, at)) as Arc<dyn PhysicalExpr>;
        let sum = |a, b| Arc::new(BinaryExpr::new(a, Operator::Plus, b)) as Arc<dyn PhysicalExpr>;
        let (a, b, c) = (|| column("a", 0), || column("b", 1), || column("c", 2));
        assert!(is_nested(&[a(), sum(b(), a())]) && is_nested(&[sum(sum(a(), b()), c()), sum(a(), b())]));
        assert!(!is_nested(&[]) && !is_nested(&[a(), b(), a()]) && !is_nested(&[sum(a(), b()), sum(b(), a()), c()]));
    }
}
