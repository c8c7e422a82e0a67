//! Tells a search how many rows are wanted of it.
//!
//! A limit stays where it is written; what lies between it and a search that gives the best rows first may change rows, but neither
//! adds nor drops any: the search need not look for more.

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::config::ConfigOptions;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::limit::GlobalLimitExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::{ExecutionPlan, replace_children_if_necessary};
use std::sync::Arc;
use stoa_exec::nodes::text_search::TextSearchExec;

/// See the module.
#[derive(Debug)]
pub struct SearchLimit;

impl PhysicalOptimizerRule for SearchLimit {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_down(|plan| {
            let Some(limit) = plan.downcast_ref::<GlobalLimitExec>() else { return Ok(Transformed::no(plan)) };
            let Some(rows) = limit.fetch().map(|fetch| fetch.saturating_add(limit.skip())) else { return Ok(Transformed::no(plan)) };
            match limited(limit.input(), rows)? {
                Some(input) => Ok(Transformed::yes(Arc::new(GlobalLimitExec::new(input, limit.skip(), limit.fetch())))),
                None => Ok(Transformed::no(plan)),
            }
        })
        .data()
    }

    fn name(&self) -> &'static str {
        "SearchLimit"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

fn limited(plan: &Arc<dyn ExecutionPlan>, rows: usize) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    if let Some(search) = plan.downcast_ref::<TextSearchExec>() {
        return Ok(if search.fetch().is_none_or(|f| f > rows) { search.with_fetch(Some(rows)) } else { None });
    }
    if plan.downcast_ref::<ProjectionExec>().is_none() && plan.downcast_ref::<CooperativeExec>().is_none() {
        return Ok(None);
    }
    let children = plan.children();
    let [child] = children.as_slice() else { return Ok(None) };
    match limited(child, rows)? {
        Some(child) => replace_children_if_necessary(Arc::clone(plan), vec![child]).map(Some),
        None => Ok(None),
    }
}
