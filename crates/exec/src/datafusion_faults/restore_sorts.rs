//! What DataFusion's rules leave broken in a finished physical plan.
//!
//! Fault: sorts. A sort leaves out the columns that are constant or equal to another where it stands. DataFusion's later rules, and nodes that forget
//! what they know of their input, may leave the node above without that knowledge; its check of the finished plan then fails. Here
//! such a node gets its whole sort back: the rows are the same, at worst they are compared by one more column.
//!
//! Partitions. Rows that are partitioned by a column are so by its copies too, which is known above the projection that copies it; where that one
//! is pushed down below a UNION, or a filter that makes two columns equal gives one of them alone, it is no longer known, and the check fails in the
//! same way. The rows are partitioned again, and are in the same order as before in each partition: a limit above may rely on it without saying so.
//! Still refused are a node of several inputs, which are partitioned alike or not at all, and rows that are in several orders.
//!
//! Limits of groups without aggregates: one that was given to a node which has an order by then is taken for one of the best groups by
//! some aggregate, and fails for want of it. It is only a hint, and is taken away.
//!
//! Of sorts apache/datafusion#17372 and #12446 (closed) were cases, #11675 is open; of limits no issue was found.
//! Of partitions none was found either.
//! May go: when `sql-tests/neutral/orders_by_what_is_constant.slt`, `distinct_on_and_order.slt` and `partitions_by_copies.slt` pass without the rule.

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::physical_expr::{Distribution, LexOrdering, Partitioning};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::{ChildSatisfactionOptions, ExecutionPlan, ExecutionPlanProperties, replace_children_if_necessary};
use std::sync::Arc;

/// See the module.
#[derive(Debug)]
pub struct RestoreSorts;

impl PhysicalOptimizerRule for RestoreSorts {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|plan| {
            let limited = plan.downcast_ref::<AggregateExec>().filter(|groups| {
                groups.limit_options().is_some_and(|limit| limit.descending().is_none())
                    && groups.aggr_expr().is_empty()
                    && !groups.is_unordered_unfiltered_group_by_distinct()
            });
            let unlimited = limited.map(|groups| Arc::new(groups.with_new_limit_options(None)) as Arc<dyn ExecutionPlan>);
            let mended = unlimited.is_some();
            let plan = unlimited.unwrap_or(plan);
            let mut changed = false;
            let mut children = Vec::with_capacity(plan.children().len());
            let distributions = plan.input_distribution_requirements();
            for (at, (child, required)) in plan.children().into_iter().zip(plan.required_input_ordering()).enumerate() {
                let allowed = ChildSatisfactionOptions::new().with_allow_subset(true);
                let mut child = Arc::clone(child);
                if plan.children().len() == 1
                    && !distributions.child_satisfaction(at, child.as_ref(), allowed)?.is_satisfied()
                    && let Some(hash @ Partitioning::Hash(..)) = distributions.child_distribution(at).map(|d| partitioning(d, &child))
                    && let Some(again) = repartitioned(&child, hash)?
                {
                    changed = true;
                    child = again;
                }
                let required = required.map(|required| required.into_single());
                match required {
                    Some(required) if !child.equivalence_properties().ordering_satisfy_requirement(required.clone())? => {
                        changed = true;
                        children.push(sorted(&child, LexOrdering::from(required)));
                    }
                    _ => children.push(child),
                }
            }
            match changed {
                true => replace_children_if_necessary(plan, children).map(Transformed::yes),
                false => Ok(Transformed::new_transformed(plan, mended)),
            }
        })
        .data()
    }

    fn name(&self) -> &'static str {
        "RestoreSorts"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// What is required, in as many partitions as there are.
fn partitioning(required: &Distribution, input: &Arc<dyn ExecutionPlan>) -> Partitioning {
    required.clone().create_partitioning(input.output_partitioning().partition_count())
}

/// The input in these partitions, in the order in which it is; `None` where that is not made here.
fn repartitioned(input: &Arc<dyn ExecutionPlan>, partitioning: Partitioning) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(order) = input.output_ordering() else {
        return Ok(Some(Arc::new(RepartitionExec::try_new(Arc::clone(input), partitioning)?)));
    };
    if input.equivalence_properties().oeq_class().len() > 1 {
        return Ok(None);
    }
    // A sort of all rows has the columns of its input, and is made above it.
    let unsorted = input.downcast_ref::<SortExec>().filter(|sort| sort.fetch().is_none()).map_or(input, |sort| sort.input());
    let rows = Arc::new(RepartitionExec::try_new(Arc::clone(unsorted), partitioning)?);
    Ok(Some(Arc::new(SortExec::new(order.clone(), rows).with_preserve_partitioning(true))))
}

/// The input in an order; a sort of it is replaced.
fn sorted(input: &Arc<dyn ExecutionPlan>, order: LexOrdering) -> Arc<dyn ExecutionPlan> {
    let (input, fetch) = match input.downcast_ref::<SortExec>() {
        Some(sort) => (sort.input(), sort.fetch()),
        None => (input, None),
    };
    let partitioned = input.output_partitioning().partition_count() > 1;
    Arc::new(SortExec::new(order, Arc::clone(input)).with_fetch(fetch).with_preserve_partitioning(partitioned))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use datafusion::arrow::datatypes::{DataType, Field, Schema};
    use datafusion::physical_expr::PhysicalSortExpr;
    use datafusion::physical_expr::expressions::col;
    use datafusion::physical_plan::aggregates::{AggregateMode, PhysicalGroupBy};
    use datafusion::physical_plan::displayable;
    use datafusion::physical_plan::empty::EmptyExec;
    use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;

    #[test]
    fn a_merge_gets_the_whole_sort_that_it_asks_for() {
        let schema = Arc::new(Schema::new(vec![Field::new("a", DataType::Int32, true), Field::new("b", DataType::Int32, true)]));
        let order =
            |columns: &[&str]| LexOrdering::new(columns.iter().map(|c| PhysicalSortExpr::new_default(col(c, &schema).unwrap()))).unwrap();
        let input = Arc::new(EmptyExec::new(Arc::clone(&schema)).with_partitions(2));
        let sort = SortExec::new(order(&["a"]), input).with_fetch(Some(3)).with_preserve_partitioning(true);
        let plan: Arc<dyn ExecutionPlan> = Arc::new(SortPreservingMergeExec::new(order(&["a", "b"]), Arc::new(sort)));
        let lines = |plan: &Arc<dyn ExecutionPlan>| displayable(plan.as_ref()).indent(false).to_string();
        let expected = "SortPreservingMergeExec: [a@0 ASC, b@1 ASC]\n  \
                        SortExec: TopK(fetch=3), expr=[a@0 ASC, b@1 ASC], preserve_partitioning=[true]\n    EmptyExec\n";
        let mended = RestoreSorts.optimize(plan, &ConfigOptions::default()).unwrap();
        assert_eq!(lines(&mended), expected);
        // What is complete stays.
        let again = RestoreSorts.optimize(Arc::clone(&mended), &ConfigOptions::default()).unwrap();
        assert!(Arc::ptr_eq(&again, &mended));
    }

    #[test]
    fn groups_get_their_rows_partitioned_again() {
        let schema = Arc::new(Schema::new(vec![Field::new("a", DataType::Int32, true), Field::new("b", DataType::Int32, true)]));
        let column = |name: &str| col(name, &schema).unwrap();
        let input = Arc::new(EmptyExec::new(Arc::clone(&schema)).with_partitions(2));
        let by_b: Arc<dyn ExecutionPlan> = Arc::new(RepartitionExec::try_new(input, Partitioning::Hash(vec![column("b")], 2)).unwrap());
        let groups = |by: &str| -> Arc<dyn ExecutionPlan> {
            let by = PhysicalGroupBy::new_single(vec![(column(by), by.to_string())]);
            let input = Arc::clone(&by_b);
            Arc::new(AggregateExec::try_new(AggregateMode::SinglePartitioned, by, vec![], vec![], input, Arc::clone(&schema)).unwrap())
        };
        let mended = RestoreSorts.optimize(groups("a"), &ConfigOptions::default()).unwrap();
        let lines = displayable(mended.as_ref()).indent(false).to_string();
        assert!(
            lines.contains(
                "gby=[a@0 as a], aggr=[]\n  RepartitionExec: partitioning=Hash([a@0], 2), input_partitions=2\n    RepartitionExec"
            ),
            "{lines}"
        );
        // Rows in an order are in it again.
        let order = |input| SortExec::new(LexOrdering::new([PhysicalSortExpr::new_default(column("a"))]).unwrap(), input);
        let sorted: Arc<dyn ExecutionPlan> = Arc::new(order(Arc::clone(&by_b)).with_preserve_partitioning(true));
        let again = repartitioned(&sorted, Partitioning::Hash(vec![column("a")], 2)).unwrap().expect("below the sort");
        let lines = displayable(again.as_ref()).indent(false).to_string();
        assert!(
            lines.starts_with("SortExec: expr=[a@0 ASC], preserve_partitioning=[true]\n  RepartitionExec: partitioning=Hash([a@0], 2)"),
            "{lines}"
        );
        let first: Arc<dyn ExecutionPlan> = Arc::new(order(Arc::clone(&by_b)).with_fetch(Some(3)).with_preserve_partitioning(true));
        let again = repartitioned(&first, Partitioning::Hash(vec![column("a")], 2)).unwrap().expect("above the sort");
        let lines = displayable(again.as_ref()).indent(false).to_string();
        assert!(lines.contains("Hash([a@0], 2), input_partitions=2\n    SortExec: TopK(fetch=3), expr=[a@0 ASC]"), "{lines}");
        let right = groups("b");
        assert!(Arc::ptr_eq(&RestoreSorts.optimize(Arc::clone(&right), &ConfigOptions::default()).unwrap(), &right));
    }
}
