//! Evaluation of expressions without columns, outside any plan: for folding at bind time, LIMIT counts, column defaults; and what constants
//! raise before a row is read.

use crate::typed::raises::may_take_long;
use crate::typed::tree::{Bound, BoundBody, ColId, CteBody, Expr, ExprKind, Mutation, Rel};
use crate::typed::walk;
use crate::typed::walk::is_lasting;
use crate::typed::{deeper, kernel};
use datafusion_common::ScalarValue;
use std::collections::HashSet;
use stoa_pg::args::{Arg, Call};
use stoa_pg::registry::{FuncKind, Volatility};
use stoa_pg::{EvalContext, PgResult, SqlState};

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
    evaluated(ctx, params, expr, false)
}

/// As [`evaluate_with`], for a statement that runs now: settings and what else the session says have their values.
///
/// # Errors
/// As [`evaluate`].
pub fn evaluate_now(ctx: &EvalContext, params: &[ScalarValue], expr: &Expr) -> PgResult<Option<ScalarValue>> {
    evaluated(ctx, params, expr, true)
}

fn evaluated(ctx: &EvalContext, params: &[ScalarValue], expr: &Expr, now: bool) -> PgResult<Option<ScalarValue>> {
    match &expr.kind {
        ExprKind::Const(value) => return Ok(Some(value.clone())),
        ExprKind::Param(index) => return Ok(params.get(*index).cloned()),
        ExprKind::Column(_) => return Ok(None),
        _ => {}
    }
    if let ExprKind::Func { func, .. } = &expr.kind
        && matches!(func.0.kind, stoa_pg::registry::FuncKind::System)
        && func.0.volatility != stoa_pg::registry::Volatility::Volatile
        && !now
    {
        // The engine's answers may change before the statement runs.
        return Ok(None);
    }
    let Some(kernel) = kernel::of(expr)? else { return Ok(None) };
    let children = expr.children();
    let mut args = Vec::with_capacity(children.len());
    let mut types = Vec::with_capacity(children.len());
    for child in children {
        let Some(value) = evaluated(ctx, params, child, now)? else { return Ok(None) };
        args.push(Arg { array: value.to_array().map_err(crate::typed::from_datafusion)?, constant: true });
        types.push(child.ty.clone());
    }
    let explicit = matches!(expr.kind, ExprKind::Cast { explicit: true, .. });
    let call = Call { ctx, rows: 1, arg_types: &types, ret: &expr.ty, explicit };
    let array = kernel(&call, &args)?;
    crate::typed::udf::constant_of(array.as_ref()).map(Some)
}

/// What is known of an expression before any row is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    Nothing,
    Null,
    Boolean(bool),
    Value,
}

impl Known {
    fn of(value: &ScalarValue) -> Self {
        match value {
            ScalarValue::Boolean(Some(value)) => Known::Boolean(*value),
            value if value.is_null() => Known::Null,
            _ => Known::Value,
        }
    }

    fn is_null(self) -> Option<bool> {
        match self {
            Known::Nothing => None,
            Known::Null => Some(true),
            Known::Boolean(_) | Known::Value => Some(false),
        }
    }
}

/// Raises what PostgreSQL's planner raises: an immutable call of constants that fails, whether a row needs it or not. What AND, OR, CASE
/// and COALESCE leave out for constants before it is left out. `used` are the columns that anything in the statement uses.
///
/// # Errors
/// Those of class 22, and 0A000.
pub fn check(ctx: &EvalContext, used: &HashSet<ColId>, bound: &Bound) -> PgResult<()> {
    let check = Check { ctx, used };
    for cte in &bound.ctes {
        match &cte.body {
            CteBody::Query(rel) => check.rel(rel)?,
            CteBody::Mutation(mutation) => check.mutation(mutation)?,
        }
    }
    match &bound.body {
        BoundBody::Query(query) => check.rel(&query.rel),
        BoundBody::Mutation(mutation) => check.mutation(mutation),
    }
}

/// The truth value that constants give a condition, whatever its columns hold.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Truth {
    Is(bool),
    /// There is none, or it is NULL.
    Open,
    /// Constants in it raise an error, before any that would decide.
    Raises,
}

impl Truth {
    pub fn value(self) -> Option<bool> {
        match self {
            Truth::Is(value) => Some(value),
            Truth::Open | Truth::Raises => None,
        }
    }

    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Truth::Is(value) => Truth::Is(!value),
            other => other,
        }
    }

    /// That of AND (`by` is false) or OR (`by` is true): they end at the operand that decides.
    pub fn of_all(operands: impl IntoIterator<Item = Truth>, by: bool) -> Self {
        let mut all = Truth::Is(!by);
        for operand in operands {
            match operand {
                Truth::Is(value) if value == by => return operand,
                Truth::Is(_) => {}
                Truth::Open => all = Truth::Open,
                Truth::Raises => return Truth::Raises,
            }
        }
        all
    }
}

/// See [`Truth`].
#[must_use]
pub fn truth(ctx: &EvalContext, condition: &Expr) -> Truth {
    match (Check { ctx, used: &HashSet::new() }).known(condition) {
        Ok(Known::Boolean(value)) => Truth::Is(value),
        Ok(_) => Truth::Open,
        Err(_) => Truth::Raises,
    }
}

struct Check<'a> {
    ctx: &'a EvalContext,
    used: &'a HashSet<ColId>,
}

impl Check<'_> {
    fn mutation(&self, mutation: &Mutation) -> PgResult<()> {
        self.rel(&mutation.source)?;
        walk::mutation_exprs(mutation).into_iter().try_for_each(|e| self.known(e).map(drop))
    }

    fn rel(&self, rel: &Rel) -> PgResult<()> {
        match rel {
            Rel::Project { exprs, .. } => {
                exprs.iter().filter(|(id, _)| self.used.contains(id)).try_for_each(|(_, e)| self.known(e).map(drop))?;
            }
            _ => walk::exprs_of(rel).into_iter().try_for_each(|e| self.known(e).map(drop))?,
        }
        walk::children(rel).into_iter().try_for_each(|child| self.rel(child))
    }

    fn known(&self, e: &Expr) -> PgResult<Known> {
        deeper(|| self.known_of(e))
    }

    fn known_of(&self, e: &Expr) -> PgResult<Known> {
        match &e.kind {
            ExprKind::Const(value) => Ok(Known::of(value)),
            ExprKind::And(parts) => self.decided(parts, false),
            ExprKind::Or(parts) => self.decided(parts, true),
            ExprKind::Not(arg) => Ok(match self.known(arg)? {
                Known::Boolean(value) => Known::Boolean(!value),
                other => other,
            }),
            ExprKind::IsNull(arg) => Ok(self.known(arg)?.is_null().map_or(Known::Nothing, Known::Boolean)),
            ExprKind::IsNotNull(arg) => Ok(self.known(arg)?.is_null().map_or(Known::Nothing, |null| Known::Boolean(!null))),
            ExprKind::IsBool { arg, value, negated } => Ok(match self.known(arg)? {
                Known::Boolean(is) => Known::Boolean((*value == Some(is)) != *negated),
                Known::Null => Known::Boolean(value.is_none() != *negated),
                Known::Nothing | Known::Value => Known::Nothing,
            }),
            ExprKind::IsDistinct { left, right, negated, .. } => Ok(match (self.known(left)?, self.known(right)?) {
                (Known::Null, other) | (other, Known::Null) => {
                    other.is_null().map_or(Known::Nothing, |null| Known::Boolean(null == *negated))
                }
                (Known::Boolean(left), Known::Boolean(right)) => Known::Boolean((left != right) != *negated),
                _ => Known::Nothing,
            }),
            ExprKind::Case { whens, otherwise } => {
                let mut open = false;
                for (when, then) in whens {
                    match self.known(when)? {
                        Known::Boolean(true) => {
                            let then = self.known(then)?;
                            return Ok(if open { Known::Nothing } else { then });
                        }
                        Known::Boolean(false) | Known::Null => {}
                        Known::Nothing | Known::Value => {
                            open = true;
                            self.known(then)?;
                        }
                    }
                }
                let otherwise = otherwise.as_ref().map_or(Ok(Known::Null), |e| self.known(e))?;
                Ok(if open { Known::Nothing } else { otherwise })
            }
            ExprKind::Coalesce(args) => {
                let mut open = false;
                for arg in args {
                    match self.known(arg)? {
                        Known::Null => {}
                        Known::Nothing => open = true,
                        known => return Ok(if open { Known::Nothing } else { known }),
                    }
                }
                Ok(if open { Known::Nothing } else { Known::Null })
            }
            ExprKind::ScalarSubquery(query) | ExprKind::ArraySubquery(query) => self.rel(&query.rel).map(|()| Known::Nothing),
            // Nobody asks what the rows are.
            ExprKind::Exists(query) => match &query.rel {
                Rel::Project { input, .. } => self.rel(input),
                rel => self.rel(rel),
            }
            .map(|()| Known::Nothing),
            ExprKind::AnyQuery { left, query, .. } => {
                left.iter().try_for_each(|e| self.known(e).map(drop))?;
                self.rel(&query.rel).map(|()| Known::Nothing)
            }
            _ => {
                let mut constant = true;
                for child in e.children() {
                    constant &= self.known(child)? != Known::Nothing;
                }
                if constant && is_immutable_call(e) { self.call(e) } else { Ok(Known::Nothing) }
            }
        }
    }

    /// AND and OR end at the operand that decides.
    fn decided(&self, parts: &[Expr], by: bool) -> PgResult<Known> {
        let mut all = Known::Boolean(!by);
        for part in parts {
            match self.known(part)? {
                Known::Boolean(value) if value == by => return Ok(Known::Boolean(by)),
                Known::Boolean(_) => {}
                Known::Null if all != Known::Nothing => all = Known::Null,
                Known::Null => {}
                Known::Nothing | Known::Value => all = Known::Nothing,
            }
        }
        Ok(all)
    }

    fn call(&self, e: &Expr) -> PgResult<Known> {
        match evaluate(self.ctx, e) {
            Ok(value) => Ok(value.as_ref().map_or(Known::Nothing, Known::of)),
            Err(error) if error.code() == SqlState::FEATURE_NOT_SUPPORTED || error.code().as_str().starts_with("22") => Err(error),
            Err(_) => Ok(Known::Nothing),
        }
    }
}

/// Whether a node is computed while planning once its children are constants.
pub(super) fn is_immutable_call(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Func { func, args } => {
            matches!(func.0.kind, FuncKind::Scalar(_))
                && func.0.volatility == Volatility::Immutable
                && !args.is_empty()
                && !may_take_long(e)
        }
        ExprKind::Oper { oper, .. } => oper.0.volatility == Volatility::Immutable && !may_take_long(e),
        ExprKind::AnyArray { oper, .. } => oper.0.volatility == Volatility::Immutable && !may_take_long(e),
        ExprKind::Cast { .. } | ExprKind::Array(_) => is_lasting(e),
        _ => false,
    }
}
