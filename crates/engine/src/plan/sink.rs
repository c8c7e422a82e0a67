//! Conditions that may raise go to the relation that they are about before DataFusion sees them.
//!
//! It infers conditions from join keys: of `a.k = b.k AND a.k::int > 3` it asks `b.k::int > 3` of the rows of `b` as well, also of those that
//! meet no row of `a`, where nobody has written that the cast will do. What stands below a join already is not carried to its other side.

use super::decorrelate::given_columns;
use super::raises::may_raise;
use super::relation::Planner;
use crate::bind::aggregate::walk_volatile;
use crate::bind::function::bool_const;
use crate::bind::tree::{ColId, Expr, ExprKind, JoinKind, Rel};
use crate::bind::walk;
use datafusion::common::ScalarValue;
use stoa_pg::{EvalContext, PgType, SqlType};

/// Puts the conditions that may raise below the joins of a relation, where they are about one side; the others are left.
pub(super) fn sink(eval: &EvalContext, rel: &mut Rel, conditions: &mut Vec<Expr>) {
    if has_join(rel) {
        conditions.retain(|condition| !sinks(eval, condition) || !below(rel, condition));
    }
}

/// The same for the conditions of an inner join.
pub(super) fn sink_into(eval: &EvalContext, left: &mut Rel, right: &mut Rel, conditions: &mut Vec<Expr>) {
    conditions.retain(|condition| {
        if !sinks(eval, condition) {
            return true;
        }
        for side in [&mut *left, &mut *right] {
            if gives_all(side, condition) {
                put(side, condition);
                return false;
            }
        }
        true
    });
}

/// The conditions of an outer join that are about the side that is kept cannot go below it. They read one more column of that side, which
/// is no key: then the other side has not all that they read.
pub(super) fn hold(planner: &Planner, kept: &mut Rel, conditions: &mut [Expr]) {
    let held: Vec<&mut Expr> =
        conditions.iter_mut().filter(|condition| sinks(&planner.ctx.eval, condition) && gives_all(kept, condition)).collect();
    if held.is_empty() {
        return;
    }
    let bool_type = SqlType::new(PgType::Bool);
    let nothing = planner.fresh();
    let mut exprs: Vec<(ColId, Expr)> = planner.columns_given(kept).into_iter().map(|(id, ty)| (id, Expr::column(id, ty))).collect();
    // What is never NULL would be found out.
    exprs.push((nothing, Expr::new(ExprKind::Const(ScalarValue::Boolean(None)), bool_type.clone())));
    let input = Box::new(std::mem::replace(kept, Rel::One));
    *kept = Rel::Project { input, exprs };
    for condition in held {
        let never = Expr::new(ExprKind::IsNotNull(Box::new(Expr::column(nothing, bool_type.clone()))), bool_type.clone());
        let otherwise = Some(Box::new(condition.clone()));
        condition.kind = ExprKind::Case { whens: vec![(never, bool_const(false))], otherwise };
    }
}

fn sinks(eval: &EvalContext, condition: &Expr) -> bool {
    walk::is_plain(condition) && !walk_volatile(condition) && may_raise(eval, condition)
}

fn has_join(rel: &Rel) -> bool {
    match rel {
        Rel::Join { kind: JoinKind::Inner | JoinKind::Left, .. } => true,
        Rel::Filter { input, .. } | Rel::Project { input, .. } => has_join(input),
        _ => false,
    }
}

fn gives_all(rel: &Rel, condition: &Expr) -> bool {
    let mut used = Vec::new();
    walk::columns_of(condition, &mut used);
    let given = given_columns(rel);
    !used.is_empty() && used.iter().all(|column| given.contains(column))
}

/// Puts a condition below the first join; `false` if it is about more than a side of that.
fn below(rel: &mut Rel, condition: &Expr) -> bool {
    match rel {
        Rel::Filter { input, .. } => below(input, condition),
        Rel::Project { input, exprs } => {
            let mut used = Vec::new();
            walk::columns_of(condition, &mut used);
            let passed =
                |column: &ColId| exprs.iter().any(|(id, e)| id == column && matches!(e.kind, ExprKind::Column(from) if from == *column));
            used.iter().all(passed) && below(input, condition)
        }
        Rel::Join { left, right, kind, .. } => {
            let sides = if *kind == JoinKind::Inner { vec![left, right] } else { vec![left] };
            let inner_or_left = matches!(kind, JoinKind::Inner | JoinKind::Left);
            let Some(side) = sides.into_iter().find(|side| inner_or_left && gives_all(side, condition)) else { return false };
            put(side, condition);
            true
        }
        _ => false,
    }
}

/// Puts a condition as low as it goes.
fn put(rel: &mut Rel, condition: &Expr) {
    if !below(rel, condition) {
        let input = Box::new(std::mem::replace(rel, Rel::One));
        *rel = Rel::Filter { input, predicate: condition.clone() };
    }
}
