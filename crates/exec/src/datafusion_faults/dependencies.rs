//! What determines what: DataFusion's functional dependencies, which are not to be relied on.
//!
//! Fault: a grouping whose input has a dependency takes it for one of all its columns, and for a key of its rows. So where a grouping is
//! joined and grouped again (`SELECT DISTINCT a.g, u.k FROM u JOIN (SELECT g, count(*) FROM v GROUP BY g) a ON u.g = a.g`), `g` counted as
//! unique: sort keys and groups behind it were left out, and so were the rows of an outer join with it. [`ForgetDependencies`] runs before
//! each rule that asks for dependencies; those rules go from the top down, so that none meets one that was computed meanwhile.
//! No issue of DataFusion was found (#23626 and #23818 are of the same kind; tables tell no keys here, so that theirs do not arise).
//! May go: when `still_takes_a_dependency_for_a_key` fails.

use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, DFSchemaRef, FunctionalDependencies, Result};
use datafusion::logical_expr::LogicalPlan;
use datafusion::logical_expr::logical_plan::{Distinct, DistinctOn};
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use std::sync::Arc;

/// See the module.
#[derive(Debug)]
pub struct ForgetDependencies;

impl OptimizerRule for ForgetDependencies {
    fn name(&self) -> &'static str {
        "forget_dependencies"
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        plan.transform_up_with_subqueries(forget)
    }
}

/// A node whose own schema has no dependencies.
fn forget(mut plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let own = match &mut plan {
        LogicalPlan::Projection(node) => &mut node.schema,
        LogicalPlan::Window(node) => &mut node.schema,
        LogicalPlan::Aggregate(node) => &mut node.schema,
        LogicalPlan::Join(node) => &mut node.schema,
        LogicalPlan::Union(node) => &mut node.schema,
        LogicalPlan::SubqueryAlias(node) => &mut node.schema,
        LogicalPlan::TableScan(node) => &mut node.projected_schema,
        LogicalPlan::EmptyRelation(node) => &mut node.schema,
        LogicalPlan::Values(node) => &mut node.schema,
        LogicalPlan::Unnest(node) => &mut node.schema,
        LogicalPlan::Distinct(Distinct::On(DistinctOn { schema, .. })) => schema,
        // The others have their input's; nodes of ours tell none.
        _ => return Ok(Transformed::no(plan)),
    };
    if own.functional_dependencies().is_empty() {
        return Ok(Transformed::no(plan));
    }
    *own = without(own)?;
    Ok(Transformed::yes(plan))
}

fn without(schema: &DFSchemaRef) -> Result<DFSchemaRef> {
    Ok(Arc::new(DFSchema::clone(schema).with_functional_dependencies(FunctionalDependencies::empty())?))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use datafusion::arrow::datatypes::{DataType, Field, Schema};
    use datafusion::common::{Dependency, JoinType};
    use datafusion::functions_aggregate::count::count;
    use datafusion::logical_expr::logical_plan::table_scan;
    use datafusion::logical_expr::{LogicalPlanBuilder, col, lit};
    use datafusion::optimizer::OptimizerContext;
    use datafusion::optimizer::eliminate_duplicated_expr::EliminateDuplicatedExpr;
    use datafusion::optimizer::optimize_projections::OptimizeProjections;

    /// Different pairs of a group that was joined and what it was joined with.
    fn pairs() -> LogicalPlanBuilder {
        let table = |name, columns: [&str; 2]| {
            let fields = columns.map(|column| Field::new(column, DataType::Int32, true)).to_vec();
            LogicalPlanBuilder::from(table_scan(Some(name), &Schema::new(fields), None).unwrap().build().unwrap())
        };
        let groups = table("v", ["g", "w"]).aggregate([col("v.g")], [count(lit(1)).alias("n")]).unwrap().build().unwrap();
        table("u", ["k", "h"])
            .join(groups, JoinType::Inner, (vec!["u.h"], vec!["v.g"]), None)
            .unwrap()
            .aggregate([col("v.g"), col("u.k")], Vec::<datafusion::logical_expr::Expr>::new())
            .unwrap()
    }

    fn rewritten(rule: &dyn OptimizerRule, plan: LogicalPlan) -> String {
        rule.rewrite(plan, &OptimizerContext::new()).unwrap().data.display_indent().to_string()
    }

    fn forgotten(plan: LogicalPlan) -> LogicalPlan {
        ForgetDependencies.rewrite(plan, &OptimizerContext::new()).unwrap().data
    }

    #[test]
    fn still_takes_a_dependency_for_a_key() {
        let plan = pairs().build().unwrap();
        let wrong = |plan: &LogicalPlan| {
            plan.schema()
                .functional_dependencies()
                .iter()
                .any(|d| d.source_indices == [0] && d.target_indices.contains(&1) && d.mode == Dependency::Single)
        };
        assert!(wrong(&plan));
        assert!(!wrong(&forgotten(plan)));
    }

    #[test]
    fn sort_keys_stay() {
        let sorted = || pairs().sort([col("v.g").sort(true, false), col("u.k").sort(true, false)]).unwrap().build().unwrap();
        let rule = EliminateDuplicatedExpr::new();
        assert!(rewritten(&rule, sorted()).starts_with("Sort: v.g ASC NULLS LAST\n"));
        assert!(rewritten(&rule, forgotten(sorted())).starts_with("Sort: v.g ASC NULLS LAST, u.k ASC NULLS LAST\n"));
    }

    #[test]
    fn groups_stay() {
        let counted = || {
            let groups = pairs().aggregate([col("v.g"), col("u.k")], [count(lit(1)).alias("c")]).unwrap();
            groups.project([col("c")]).unwrap().build().unwrap()
        };
        let rule = OptimizeProjections::new();
        assert!(rewritten(&rule, counted()).contains("groupBy=[[v.g]], aggr=[[count(Int32(1)) AS c"));
        assert!(!rewritten(&rule, forgotten(counted())).contains("groupBy=[[v.g]], aggr=[[count(Int32(1)) AS c"));
    }
}
