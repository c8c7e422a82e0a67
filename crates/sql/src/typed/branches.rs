//! Subqueries in branches: of CASE and COALESCE, and behind operands of AND and OR.
//!
//! A subquery is asked below the expression in which it stands, for every row, also where a row does not come to its branch. One that may
//! raise an error, or give more rows than it may, is therefore told when a row does: the condition stands in it, as one on rows of its
//! outer query, and it finds nothing where that does not hold. What it gives there nobody reads.
//!
//! One that reads nothing of its outer query is left as it is: it is computed once, and `plan::relation` keeps its error until a row needs
//! it.

use crate::typed::raises::may_raise;
use crate::typed::tree::{Expr, ExprKind, FuncRef, Query, Rel};
use crate::typed::walk;
use crate::typed::walk::walk_volatile;
use std::sync::Arc;
use stoa_pg::args::Kernel;
use stoa_pg::registry::Func;
use stoa_pg::{EvalContext, PgError, PgType, SqlType};

/// Tells the subqueries in branches of an expression when they are needed.
pub fn tell(eval: &EvalContext, e: &mut Expr) {
    let mut has_queries = false;
    walk::visit_subqueries(e, &mut |_| has_queries = true);
    if has_queries {
        in_branches(eval, e, &mut Vec::new());
    }
}

fn in_branches(eval: &EvalContext, e: &mut Expr, needed: &mut Vec<Expr>) {
    let depth = needed.len();
    match &mut e.kind {
        ExprKind::Case { whens, otherwise } => {
            for (when, then) in whens {
                in_branches(eval, when, needed);
                let before = needed.len();
                note(needed, is(when, true, false));
                in_branches(eval, then, needed);
                needed.truncate(before);
                note(needed, is(when, true, true));
            }
            if let Some(otherwise) = otherwise {
                in_branches(eval, otherwise, needed);
            }
        }
        ExprKind::Coalesce(args) => {
            for arg in args {
                in_branches(eval, arg, needed);
                note(needed, Expr::new(ExprKind::IsNull(Box::new(arg.clone())), SqlType::new(PgType::Bool)));
            }
        }
        ExprKind::And(parts) => operands(eval, parts, false, needed),
        ExprKind::Or(parts) => operands(eval, parts, true, needed),
        ExprKind::ScalarSubquery(query) => tell_query(eval, query, needed, true),
        ExprKind::Exists(query) | ExprKind::ArraySubquery(query) => tell_query(eval, query, needed, false),
        ExprKind::AnyQuery { left, query, .. } => {
            left.iter_mut().for_each(|l| in_branches(eval, l, needed));
            tell_query(eval, query, needed, false);
        }
        _ => e.children_mut().into_iter().for_each(|child| in_branches(eval, child, needed)),
    }
    needed.truncate(depth);
}

/// An operand is needed where none before it decides.
fn operands(eval: &EvalContext, parts: &mut [Expr], by: bool, needed: &mut Vec<Expr>) {
    // Those without subqueries are computed first, wherever they stand.
    let plain: Vec<Expr> = parts.iter().filter(|part| walk::is_plain(part)).map(|part| is(part, by, true)).collect();
    plain.into_iter().for_each(|condition| note(needed, condition));
    parts.iter_mut().for_each(|part| in_branches(eval, part, needed));
}

fn is(arg: &Expr, value: bool, negated: bool) -> Expr {
    Expr::new(ExprKind::IsBool { arg: Box::new(arg.clone()), value: Some(value), negated }, SqlType::new(PgType::Bool))
}

/// Notes a condition that can be asked twice.
fn note(needed: &mut Vec<Expr>, condition: Expr) {
    if walk::is_plain(&condition) && !walk_volatile(&condition) {
        needed.push(condition);
    }
}

fn tell_query(eval: &EvalContext, query: &mut Query, needed: &[Expr], one: bool) {
    if !needed.is_empty() && !walk::free_columns(&query.rel).is_empty() && raises(eval, &query.rel, one) {
        only_where(&mut query.rel, &walk::conjunction(needed.to_vec()));
    }
}

/// Whether reading a relation, of which one row may be wanted, may raise an error.
pub fn raises(eval: &EvalContext, rel: &Rel, one: bool) -> bool {
    let mut raises = one && !gives_one(rel);
    walk::visit_all(rel, &mut |rel| {
        raises |= matches!(rel, Rel::ProjectSet { .. }) || walk::exprs_of(rel).into_iter().any(|e| may_raise(eval, e));
    });
    raises
}

/// What raises an error for each row that needs it.
pub fn raising(error: PgError, ty: &SqlType) -> ExprKind {
    let kernel: Kernel = Arc::new(move |_, _| Err(error.clone()));
    let func = Func::scalar("raise", &[], ty.ty.clone(), kernel, "").volatile();
    ExprKind::Func { func: FuncRef(Arc::new(func)), args: Vec::new() }
}

/// Whether a relation gives one row at most, whatever there is.
fn gives_one(rel: &Rel) -> bool {
    match rel {
        Rel::One => true,
        Rel::Aggregate { groups, sets: None, .. } => groups.is_empty(),
        Rel::Project { input, .. } | Rel::Filter { input, .. } | Rel::Barrier { input } | Rel::Sort { input, .. } => gives_one(input),
        Rel::Limit { fetch: Some(fetch), ties: None, .. } => {
            matches!(fetch.kind, ExprKind::Const(datafusion_common::ScalarValue::Int64(Some(0..=1))))
        }
        _ => false,
    }
}

/// Lets nothing in a relation be computed where a condition on rows of outer queries does not hold.
fn only_where(rel: &mut Rel, condition: &Expr) {
    match rel {
        Rel::Project { input, .. }
        | Rel::Filter { input, .. }
        | Rel::Barrier { input }
        | Rel::Sort { input, .. }
        | Rel::Limit { input, .. }
        | Rel::Window { input, .. }
        | Rel::ProjectSet { input, .. }
        | Rel::Distinct { input, .. }
        | Rel::DistinctOn { input, .. } => only_where(input, condition),
        Rel::Join { left, right, .. } | Rel::SetOp { left, right, .. } => {
            only_where(left, condition);
            only_where(right, condition);
        }
        _ => {
            // Of no rows an aggregate makes a row.
            if let Rel::Aggregate { input, .. } = rel {
                only_where(input, condition);
            }
            let input = Box::new(std::mem::replace(rel, Rel::One));
            *rel = Rel::Filter { input, predicate: condition.clone() };
        }
    }
}
