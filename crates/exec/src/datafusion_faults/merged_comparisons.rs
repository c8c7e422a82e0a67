//! Comparisons of one column with constants, which DataFusion merges.
//!
//! Fault: `push_down_filter` keeps one of several comparisons of a column that go the same way, the one with the greatest or the least
//! constant. NULL counts as the least value, so that `x > 1 AND x > NULL` became `x > 1`; where the constant stands on the left, `>` and `>=`
//! are not told apart (`x >= 5 AND 5 < x` became `x >= 5`); zeros of two signs are ordered, and are unequal. Binding folds what is written
//! so, but the columns of a derived table or of an arm of a UNION become constants only when conditions go down to them. No issue of
//! DataFusion was found. May go: when `still_merges_wrongly` fails.

use datafusion::common::Column;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator, not};
use std::collections::HashSet;

/// The same conditions, of which DataFusion merges none: all but the first of those that it would are written as negations.
#[must_use]
pub fn apart(conditions: Vec<Expr>) -> Vec<Expr> {
    let mut seen: HashSet<(Column, Way)> = HashSet::new();
    conditions
        .into_iter()
        .map(|condition| {
            let Some((column, way, op)) = merged(&condition) else { return condition };
            if seen.insert((column, way)) { condition } else { negated(condition, op) }
        })
        .collect()
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Way {
    Equal,
    Above,
    Below,
}

/// The column that a comparison with a constant is of, the way in which it goes, and its operator, if it is one that is merged.
fn merged(condition: &Expr) -> Option<(Column, Way, Operator)> {
    let Expr::BinaryExpr(BinaryExpr { left, op, right }) = condition else { return None };
    let (column, turned) = match (&**left, &**right) {
        (Expr::Column(column), Expr::Literal(..)) => (column, false),
        (Expr::Literal(..), Expr::Column(column)) => (column, true),
        _ => return None,
    };
    let way = match (op, turned) {
        (Operator::Eq, _) => Way::Equal,
        (Operator::Gt | Operator::GtEq, false) | (Operator::Lt | Operator::LtEq, true) => Way::Above,
        (Operator::Lt | Operator::LtEq, false) | (Operator::Gt | Operator::GtEq, true) => Way::Below,
        _ => return None,
    };
    Some((column.clone(), way, *op))
}

/// A comparison as the negation of its opposite.
fn negated(condition: Expr, op: Operator) -> Expr {
    match (condition, op.negate()) {
        (Expr::BinaryExpr(BinaryExpr { left, right, .. }), Some(op)) => not(Expr::BinaryExpr(BinaryExpr { left, op, right })),
        (condition, _) => condition,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use datafusion::arrow::datatypes::{DataType, Field, Schema};
    use datafusion::common::ScalarValue;
    use datafusion::logical_expr::logical_plan::table_scan;
    use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
    use datafusion::logical_expr::{col, lit};
    use datafusion::optimizer::push_down_filter::PushDownFilter;
    use datafusion::optimizer::{OptimizerContext, OptimizerRule};

    /// What the rule leaves of conditions on a column above a limit, below which they do not go.
    fn left(conditions: Vec<Expr>) -> Vec<Expr> {
        let schema = Schema::new(vec![Field::new("x", DataType::Float64, true)]);
        let scan = table_scan(Some("t"), &schema, None).unwrap().limit(0, Some(10)).unwrap();
        let plan = scan.filter(conjunction(conditions).unwrap()).unwrap().build().unwrap();
        let datafusion::logical_expr::LogicalPlan::Filter(filter) =
            PushDownFilter::new().rewrite(plan, &OptimizerContext::new()).unwrap().data
        else {
            panic!("no filter");
        };
        split_conjunction_owned(filter.predicate)
    }

    fn pairs() -> [Vec<Expr>; 4] {
        let (x, null) = (|| col("t.x"), lit(ScalarValue::Float64(None)));
        [
            vec![x().gt(lit(1.0)), x().gt(null.clone())],
            vec![x().lt(lit(1.0)), null.gt(x())],
            vec![x().gt_eq(lit(5.0)), lit(5.0).lt(x())],
            vec![x().eq(lit(0.0)), x().eq(lit(-0.0))],
        ]
    }

    #[test]
    fn still_merges_wrongly() {
        let [above, below, sides, zeros] = pairs();
        assert_eq!(left(above.clone()), above[..1]);
        // The least value is taken here, which is right for another reason.
        assert_eq!(left(below.clone()), below[1..]);
        assert_eq!(left(sides.clone()), sides[..1]);
        assert_eq!(left(zeros), [lit(false)]);
    }

    #[test]
    fn all_stay_that_are_kept_apart() {
        for conditions in pairs() {
            assert_eq!(left(apart(conditions.clone())).len(), 2, "{conditions:?}");
        }
        let x = || col("t.x");
        let (between, same) = (vec![x().gt(lit(1.0)), x().lt(lit(2.0))], vec![x().gt(lit(1.0)), x().gt(lit(2.0))]);
        assert_eq!(apart(between.clone()), between);
        assert_eq!(apart(same), [x().gt(lit(1.0)), not(x().lt_eq(lit(2.0)))]);
    }
}
