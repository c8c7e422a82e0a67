//! What becomes of an expression when values of its columns become NULL, as those of a family with a ttl do behind everybody's back.
//!
//! Strict functions and operators, AND, OR and NOT know less where they are told less: the value stays, or is NULL. Only what makes a
//! value of NULL (IS NULL, coalesce, CASE …) may give another one.
//! Invariant: what is reported to hold does; to report too little only refuses more.

use crate::typed::tree::{ColId, Expr, ExprKind};
use stoa_pg::registry::FuncKind;

/// Columns whose values may become NULL.
pub type Lost<'a> = &'a dyn Fn(ColId) -> bool;

/// Whether the value stays what it is, or becomes NULL.
#[must_use]
pub fn keeps_or_is_null(e: &Expr, lost: Lost<'_>) -> bool {
    let children = || e.children().into_iter().all(|child| keeps_or_is_null(child, lost));
    match &e.kind {
        ExprKind::Column(_) | ExprKind::Const(_) | ExprKind::Param(_) | ExprKind::Given(_) => true,
        ExprKind::And(_)
        | ExprKind::Or(_)
        | ExprKind::Not(_)
        | ExprKind::Cast { .. }
        | ExprKind::AnyArray { .. }
        | ExprKind::Field { .. }
        | ExprKind::Subscript { .. }
        | ExprKind::Slice { .. }
        | ExprKind::Once { .. } => children(),
        ExprKind::Func { func, .. } if func.0.strict && matches!(func.0.kind, FuncKind::Scalar(_) | FuncKind::System) => children(),
        // Arrays are put together with NULL, too.
        ExprKind::Oper { oper, .. } if !(oper.0.name == "||" && e.ty.ty.is_array()) => children(),
        _ => !e.any(&mut |x| matches!(x.kind, ExprKind::Column(id) if lost(id))),
    }
}

/// Whether a condition that is not false stays so: a CHECK that holds goes on to hold.
#[must_use]
pub fn stays_not_false(e: &Expr, lost: Lost<'_>) -> bool {
    match &e.kind {
        ExprKind::And(parts) | ExprKind::Or(parts) => parts.iter().all(|part| stays_not_false(part, lost)),
        ExprKind::Not(part) if stays_not_true(part, lost) => true,
        ExprKind::IsNull(arg) | ExprKind::IsBool { arg, value: None, negated: false } => keeps_or_is_null(arg, lost),
        // `IS NOT TRUE` and `IS NOT FALSE`.
        ExprKind::IsBool { arg, value: Some(_), negated: true } => keeps_or_is_null(arg, lost),
        _ => keeps_or_is_null(e, lost),
    }
}

/// Whether a condition that is not true stays so: an index WHERE it holds may lose rows, and gets none.
#[must_use]
pub fn stays_not_true(e: &Expr, lost: Lost<'_>) -> bool {
    match &e.kind {
        ExprKind::And(parts) | ExprKind::Or(parts) => parts.iter().all(|part| stays_not_true(part, lost)),
        ExprKind::Not(part) if stays_not_false(part, lost) => true,
        ExprKind::IsNotNull(arg) | ExprKind::IsBool { arg, value: None, negated: true } => keeps_or_is_null(arg, lost),
        // `IS TRUE` and `IS FALSE`.
        ExprKind::IsBool { arg, value: Some(_), negated: false } => keeps_or_is_null(arg, lost),
        _ => keeps_or_is_null(e, lost),
    }
}
