//! Which expressions of a physical plan may raise an error, and their order: what [`stoa_sql::typed::raises`] says of typed ones.
//!
//! Invariant: an expression that is reported not to raise does not.

use arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{
    BinaryExpr, CaseExpr, CastExpr, Column, InListExpr, IsNotNullExpr, IsNullExpr, LikeExpr, Literal, NotExpr,
};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use std::sync::Arc;
use stoa_sql::typed::udf::KernelUdf;

/// Whether an expression of a plan may raise.
#[must_use]
pub fn plan_may_raise(expr: &Arc<dyn PhysicalExpr>) -> bool {
    !is_safe(expr) || expr.children().into_iter().any(plan_may_raise)
}

fn is_safe(expr: &Arc<dyn PhysicalExpr>) -> bool {
    let any = expr.as_ref() as &dyn std::any::Any;
    if let Some(binary) = any.downcast_ref::<BinaryExpr>() {
        return matches!(
            binary.op(),
            Operator::Eq
                | Operator::NotEq
                | Operator::Lt
                | Operator::LtEq
                | Operator::Gt
                | Operator::GtEq
                | Operator::And
                | Operator::Or
                | Operator::IsDistinctFrom
                | Operator::IsNotDistinctFrom
        );
    }
    if let Some(cast) = any.downcast_ref::<CastExpr>() {
        // Integers are widened for keys of joins; other casts are kernels.
        return matches!(cast.cast_type(), DataType::Int32 | DataType::Int64);
    }
    if let Some(call) = any.downcast_ref::<ScalarFunctionExpr>() {
        return call.fun().inner().downcast_ref::<KernelUdf>().is_some_and(|kernel| !kernel.raises());
    }
    any.is::<Column>()
        || any.is::<Literal>()
        || any.is::<InListExpr>()
        || any.is::<IsNullExpr>()
        || any.is::<IsNotNullExpr>()
        || any.is::<NotExpr>()
        || any.is::<LikeExpr>()
        || any.is::<CaseExpr>()
}

/// What an expression of a plan costs, as [`stoa_sql::typed::raises::own_cost`] counts.
fn plan_cost(expr: &Arc<dyn PhysicalExpr>) -> usize {
    let any = expr.as_ref() as &dyn std::any::Any;
    if let Some(case) = any.downcast_ref::<CaseExpr>() {
        if let Some(condition) = three_valued(case) {
            return plan_cost(condition);
        }
        // What COALESCE looks at twice is computed once in PostgreSQL.
        let branches = case.when_then_expr().iter().map(|(when, then)| match is_not_null(when) == Some(then) {
            true => plan_cost(then),
            false => plan_cost(when) + plan_cost(then),
        });
        return branches.sum::<usize>() + case.expr().into_iter().chain(case.else_expr()).map(plan_cost).sum::<usize>();
    }
    let own = if let Some(binary) = any.downcast_ref::<BinaryExpr>() {
        if let Some(elements) = short_list(binary) {
            return elements;
        }
        // Tests of truth are free, and such is how guards are written.
        let truth = |e: &Arc<dyn PhysicalExpr>| {
            let literal = (e.as_ref() as &dyn std::any::Any).downcast_ref::<Literal>();
            literal.is_some_and(|literal| matches!(literal.value(), ScalarValue::Boolean(_)))
        };
        let free = match binary.op() {
            Operator::And | Operator::Or => true,
            Operator::IsDistinctFrom | Operator::IsNotDistinctFrom => truth(binary.right()),
            _ => false,
        };
        if free { 0 } else { 2 }
    } else if let Some(call) = any.downcast_ref::<ScalarFunctionExpr>() {
        call.fun().inner().downcast_ref::<KernelUdf>().map_or(2, KernelUdf::cost)
    } else {
        any.downcast_ref::<InListExpr>().map_or(0, |list| list.list().len())
    };
    own + expr.children().into_iter().map(plan_cost).sum::<usize>()
}

/// The condition of a CASE that asks whether it is true and then whether it is false, as `ExprPlanner::three_valued` writes it.
fn three_valued(case: &CaseExpr) -> Option<&Arc<dyn PhysicalExpr>> {
    let gives = |then: &Arc<dyn PhysicalExpr>, value: bool| {
        let literal = (then.as_ref() as &dyn std::any::Any).downcast_ref::<Literal>();
        literal.is_some_and(|literal| *literal.value() == ScalarValue::Boolean(Some(value)))
    };
    match case.when_then_expr() {
        [(condition, yes), (_, no)] if gives(yes, true) && gives(no, false) => Some(condition),
        _ => None,
    }
}

fn is_not_null(test: &Arc<dyn PhysicalExpr>) -> Option<&Arc<dyn PhysicalExpr>> {
    (test.as_ref() as &dyn std::any::Any).downcast_ref::<IsNotNullExpr>().map(IsNotNullExpr::arg)
}

/// The number of elements of a list that a column is compared with: DataFusion writes short ones as comparisons under OR, or AND.
fn short_list(list: &BinaryExpr) -> Option<usize> {
    let each = match list.op() {
        Operator::Or => Operator::Eq,
        Operator::And => Operator::NotEq,
        _ => return None,
    };
    fn collect<'e>(e: &'e Arc<dyn PhysicalExpr>, of: Operator, each: Operator, columns: &mut Vec<&'e Column>) -> bool {
        let Some(binary) = (e.as_ref() as &dyn std::any::Any).downcast_ref::<BinaryExpr>() else { return false };
        if *binary.op() == of {
            return collect(binary.left(), of, each, columns) && collect(binary.right(), of, each, columns);
        }
        let side = |e: &'e Arc<dyn PhysicalExpr>| e.as_ref() as &dyn std::any::Any;
        let column = side(binary.left()).downcast_ref::<Column>().filter(|_| *binary.op() == each && side(binary.right()).is::<Literal>());
        columns.extend(column);
        column.is_some()
    }
    let mut columns = Vec::new();
    let all = collect(list.left(), *list.op(), each, &mut columns) && collect(list.right(), *list.op(), each, &mut columns);
    (all && columns.windows(2).all(|two| two[0] == two[1])).then_some(columns.len())
}

/// As [`stoa_sql::typed::raises::in_turn`], for a plan. Of what cannot raise, what Arrow compares comes before calls of kernels.
pub fn plan_in_turn(conditions: &mut [Arc<dyn PhysicalExpr>]) {
    if conditions.len() > 1 {
        conditions.sort_by_cached_key(|condition| match plan_may_raise(condition) {
            true => 2 + 2 * plan_cost(condition) + usize::from(is_equality(condition)),
            false => usize::from(has_calls(condition)),
        });
    }
}

fn is_equality(expr: &Arc<dyn PhysicalExpr>) -> bool {
    let any = expr.as_ref() as &dyn std::any::Any;
    any.downcast_ref::<BinaryExpr>().is_some_and(|binary| *binary.op() == Operator::Eq)
        || any.downcast_ref::<ScalarFunctionExpr>().is_some_and(|call| call.fun().name().split('#').next() == Some("="))
}

fn has_calls(expr: &Arc<dyn PhysicalExpr>) -> bool {
    (expr.as_ref() as &dyn std::any::Any).is::<ScalarFunctionExpr>() || expr.children().into_iter().any(has_calls)
}
