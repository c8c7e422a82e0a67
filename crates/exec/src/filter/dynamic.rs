//! Filters that become known while a plan runs (a join's build side, the worst row of a top-k), as [`Predicate`]s.
//!
//! Invariant: what is not understood is [`Predicate::Unknown`]: ranges made from these predicates hold every row that passes.

use super::logical::comparison;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{BinaryExpr, Column, DynamicFilterPhysicalExpr, InListExpr, Literal};
use std::any::Any;
use std::sync::Arc;
use stoa_table::access::Predicate;
use stoa_table::catalog::ColumnId;

/// What a filter says now; `column` gives the table's column at a position of the scan's output.
#[must_use]
pub fn predicate(expr: &Arc<dyn PhysicalExpr>, column: &dyn Fn(usize) -> Option<ColumnId>) -> Predicate {
    let any = expr.as_ref() as &dyn Any;
    if let Some(dynamic) = any.downcast_ref::<DynamicFilterPhysicalExpr>() {
        return dynamic.current().map_or(Predicate::Unknown, |current| predicate(&current, column));
    }
    if let Some(binary) = any.downcast_ref::<BinaryExpr>() {
        return match binary.op() {
            Operator::And => Predicate::and(vec![predicate(binary.left(), column), predicate(binary.right(), column)]),
            Operator::Or => Predicate::or(vec![predicate(binary.left(), column), predicate(binary.right(), column)]),
            op => {
                let Some(op) = comparison(*op) else { return Predicate::Unknown };
                match (column_of(binary.left(), column), literal(binary.right())) {
                    (Some(column), Some(value)) => Predicate::compare(column, op, value.clone()),
                    _ => match (column_of(binary.right(), column), literal(binary.left())) {
                        (Some(column), Some(value)) => Predicate::compare(column, op.flipped(), value.clone()),
                        _ => Predicate::Unknown,
                    },
                }
            }
        };
    }
    if let Some(list) = any.downcast_ref::<InListExpr>() {
        let values: Option<Vec<ScalarValue>> = list.list().iter().map(|e| literal(e).cloned()).collect();
        return match (column_of(list.expr(), column), values) {
            (Some(column), Some(values)) if !list.negated() => Predicate::In { column, values },
            _ => Predicate::Unknown,
        };
    }
    if let Some(ScalarValue::Boolean(Some(value))) = literal(expr) {
        return if *value { Predicate::Always } else { Predicate::Never };
    }
    Predicate::Unknown
}

fn column_of(expr: &Arc<dyn PhysicalExpr>, column: &dyn Fn(usize) -> Option<ColumnId>) -> Option<ColumnId> {
    column((expr.as_ref() as &dyn Any).downcast_ref::<Column>()?.index())
}

fn literal(expr: &Arc<dyn PhysicalExpr>) -> Option<&ScalarValue> {
    (expr.as_ref() as &dyn Any).downcast_ref::<Literal>().map(Literal::value)
}
