//! Evaluation of expressions without columns, outside any plan: for folding at bind time, LIMIT counts, column defaults.

use super::kernel;
use crate::bind::tree::{Expr, ExprKind};
use datafusion::common::ScalarValue;
use stoa_pg::args::{Arg, Call};
use stoa_pg::{EvalContext, PgResult};

/// The value of an expression of constants; `Ok(None)` when it holds more than operators, functions and casts.
///
/// # Errors
/// What the computation raises.
pub fn evaluate(ctx: &EvalContext, expr: &Expr) -> PgResult<Option<ScalarValue>> {
    evaluate_with(ctx, &[], expr)
}

/// As [`evaluate`], with the values of parameters.
///
/// # Errors
/// As [`evaluate`].
pub fn evaluate_with(ctx: &EvalContext, params: &[ScalarValue], expr: &Expr) -> PgResult<Option<ScalarValue>> {
    match &expr.kind {
        ExprKind::Const(value) => return Ok(Some(value.clone())),
        ExprKind::Param(index) => return Ok(params.get(*index).cloned()),
        ExprKind::Column(_) => return Ok(None),
        _ => {}
    }
    if let ExprKind::Func { func, .. } = &expr.kind
        && matches!(func.0.kind, stoa_pg::registry::FuncKind::System)
        && func.0.volatility != stoa_pg::registry::Volatility::Volatile
    {
        // The engine's answers may change before the statement runs.
        return Ok(None);
    }
    let Some(kernel) = kernel::of(expr)? else { return Ok(None) };
    let children = expr.children();
    let mut args = Vec::with_capacity(children.len());
    let mut types = Vec::with_capacity(children.len());
    for child in children {
        let Some(value) = evaluate_with(ctx, params, child)? else { return Ok(None) };
        args.push(Arg { array: value.to_array().map_err(super::from_datafusion)?, constant: true });
        types.push(child.ty.clone());
    }
    let explicit = matches!(expr.kind, ExprKind::Cast { explicit: true, .. });
    let call = Call { ctx, rows: 1, arg_types: &types, ret: &expr.ty, explicit };
    let array = kernel(&call, &args)?;
    super::udf::constant_of(array.as_ref()).map(Some)
}
