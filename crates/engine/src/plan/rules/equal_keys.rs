//! Equalities in the conditions of joins become their keys.
//!
//! DataFusion's rule adds `=` to keys that compare NULL as equal, and then NULLs match. Here keys are of one kind: those of `=`, where
//! there are any, and else those of IS NOT DISTINCT FROM; an equality of the other kind stays a condition. A side that is computed is a
//! key once: below a join it becomes a column, and two of one name are an error.

use datafusion::common::tree_node::Transformed;
use datafusion::common::{NullEquality, Result};
use datafusion::logical_expr::utils::{can_hash, conjunction, find_valid_equijoin_key_pair, split_conjunction_owned};
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, Join, LogicalPlan, Operator};
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};

/// See the module.
#[derive(Debug)]
pub(super) struct EqualKeys;

impl OptimizerRule for EqualKeys {
    fn name(&self) -> &'static str {
        "equal_keys"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let LogicalPlan::Join(mut join) = plan else { return Ok(Transformed::no(plan)) };
        if join.null_aware {
            return Ok(Transformed::no(LogicalPlan::Join(join)));
        }
        let Some(condition) = join.filter.take() else { return Ok(Transformed::no(LogicalPlan::Join(join))) };
        let before = join.on.len();
        let mut rest = split_conjunction_owned(condition);
        if join.on.is_empty() || join.null_equality == NullEquality::NullEqualsNothing {
            rest = take(&mut join, rest, Operator::Eq)?;
            if join.on.len() > before {
                join.null_equality = NullEquality::NullEqualsNothing;
            }
        }
        if join.on.is_empty() || join.null_equality == NullEquality::NullEqualsNull {
            let had = join.on.len();
            rest = take(&mut join, rest, Operator::IsNotDistinctFrom)?;
            if join.on.len() > had {
                join.null_equality = NullEquality::NullEqualsNull;
            }
        }
        join.filter = conjunction(rest);
        let changed = join.on.len() > before;
        Ok(Transformed::new_transformed(LogicalPlan::Join(join), changed))
    }
}

/// Makes keys of equalities with an operator; gives the other conditions back.
fn take(join: &mut Join, conditions: Vec<Expr>, equal: Operator) -> Result<Vec<Expr>> {
    let mut rest = Vec::with_capacity(conditions.len());
    for condition in conditions {
        let key = match &condition {
            Expr::BinaryExpr(BinaryExpr { left, op, right }) if *op == equal && !condition.is_volatile() => {
                find_valid_equijoin_key_pair(left, right, join.left.schema(), join.right.schema())?
            }
            _ => None,
        };
        let fits = |(left, right): &(Expr, Expr)| {
            let hashed = can_hash(&left.get_type(join.left.schema())?) && can_hash(&right.get_type(join.right.schema())?);
            let is_key = |e: &Expr| e.try_as_col().is_none() && join.on.iter().any(|(l, r)| l == e || r == e);
            Ok::<_, datafusion::error::DataFusionError>(hashed && !is_key(left) && !is_key(right))
        };
        match key {
            Some(key) if fits(&key)? => join.on.push(key),
            _ => rest.push(condition),
        }
    }
    Ok(rest)
}
