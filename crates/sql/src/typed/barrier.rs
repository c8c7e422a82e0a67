//! Conditions that tell nothing of rows that they do not pass may go below barriers, to where keys answer them.
//!
//! A condition tells something if it may raise an error or has an effect: `1 / (salary - 1000) > 0` says by its error that somebody has
//! just that salary. What compares columns with values cannot, whatever rows it is computed for: it is what PostgreSQL calls leakproof.
//!
//! Invariant: a relation gives the same rows as before, and nothing above a barrier is computed for a row that does not come through it.

use crate::typed::raises::may_raise;
use crate::typed::tree::{Bound, BoundBody, ColId, CteBody, Expr, ExprKind, JoinKind, Rel};
use crate::typed::walk::{children_mut, columns_of, conjunction, exprs_mut, given_columns, is_plain, mutation_exprs_mut};
use crate::typed::walk::{subqueries_mut, visit_all, walk_volatile};
use std::collections::HashSet;
use stoa_pg::EvalContext;

/// The name of the function that MATCH becomes.
pub const MATCH_FUNCTION: &str = "match_against";

/// Whether a condition tells nothing of the rows that it does not pass.
#[must_use]
pub fn tells_nothing(eval: &EvalContext, condition: &Expr) -> bool {
    let plain = is_plain(condition) && !walk_volatile(condition);
    // What is wrong with a search string is wrong for any row.
    plain && (is_match(condition) || !may_raise(eval, condition))
}

fn is_match(condition: &Expr) -> bool {
    let ExprKind::Func { func, args } = &condition.kind else { return false };
    let given = |arg: &Expr| matches!(arg.kind, ExprKind::Column(_) | ExprKind::Const(_) | ExprKind::Param(_));
    func.0.name == MATCH_FUNCTION && args.iter().all(given)
}

/// Puts conditions of a statement below its barriers, where they tell nothing.
pub fn let_through(eval: &EvalContext, bound: &mut Bound) {
    let through = Through { eval };
    for cte in &mut bound.ctes {
        match &mut cte.body {
            CteBody::Query(rel) => through.all(rel),
            CteBody::Mutation(mutation) => {
                through.all(&mut mutation.source);
                mutation_exprs_mut(mutation).into_iter().for_each(|e| subqueries_mut(e, &mut |query| through.all(&mut query.rel)));
            }
        }
    }
    match &mut bound.body {
        BoundBody::Query(query) => through.all(&mut query.rel),
        BoundBody::Mutation(mutation) => {
            through.all(&mut mutation.source);
            mutation_exprs_mut(mutation).into_iter().for_each(|e| subqueries_mut(e, &mut |query| through.all(&mut query.rel)));
        }
    }
}

struct Through<'a> {
    eval: &'a EvalContext,
}

impl Through<'_> {
    fn all(&self, rel: &mut Rel) {
        let mut barred = false;
        visit_all(rel, &mut |node| barred |= matches!(node, Rel::Barrier { .. }));
        if barred {
            self.rel(rel);
        }
    }

    fn rel(&self, rel: &mut Rel) {
        crate::typed::deeper(|| {
            if let Rel::Filter { input, predicate } = rel {
                let parts = match &predicate.kind {
                    ExprKind::And(parts) => parts.clone(),
                    _ => vec![predicate.clone()],
                };
                let kept: Vec<Expr> = parts.into_iter().filter(|part| !(tells_nothing(self.eval, part) && sink(input, part))).collect();
                if kept.is_empty() {
                    let below = std::mem::replace(&mut **input, Rel::One);
                    *rel = below;
                    return self.rel(rel);
                }
                *predicate = conjunction(kept);
            }
            for e in exprs_mut(rel) {
                subqueries_mut(e, &mut |query| self.rel(&mut query.rel));
            }
            children_mut(rel).into_iter().for_each(|child| self.rel(child));
        });
    }
}

/// Puts a condition behind the barrier whose rows it is about; `false` if there is none.
fn sink(rel: &mut Rel, condition: &Expr) -> bool {
    let mut used = Vec::new();
    columns_of(condition, &mut used);
    let within = |given: &HashSet<ColId>| !used.is_empty() && used.iter().all(|column| given.contains(column));
    match rel {
        Rel::Filter { input, .. } | Rel::Sort { input, .. } => sink(input, condition),
        // Columns of outer queries stay where they are looked for.
        Rel::Barrier { input } if within(&given_columns(input)) => {
            if !sink(input, condition) {
                let place = innermost(input);
                let below = std::mem::replace(place, Rel::One);
                *place = Rel::Filter { input: Box::new(below), predicate: condition.clone() };
            }
            true
        }
        Rel::Project { input, exprs } => match over_input(condition, exprs, &used) {
            Some(condition) => sink(input, &condition),
            None => false,
        },
        Rel::Join { left, right, kind, .. } => {
            let of_left = matches!(kind, JoinKind::Inner | JoinKind::Left | JoinKind::Semi | JoinKind::Anti);
            let of_right = matches!(kind, JoinKind::Inner | JoinKind::Right);
            (of_left && within(&given_columns(left)) && sink(left, condition))
                || (of_right && within(&given_columns(right)) && sink(right, condition))
        }
        _ => false,
    }
}

/// What stands under all filters.
fn innermost(rel: &mut Rel) -> &mut Rel {
    match rel {
        Rel::Filter { input, .. } => innermost(input),
        rel => rel,
    }
}

/// The condition over what a projection passes on as it is; `None` if it is about what is computed there.
fn over_input(condition: &Expr, exprs: &[(ColId, Expr)], used: &[ColId]) -> Option<Expr> {
    let of = |column: ColId| exprs.iter().find(|(id, _)| *id == column).map(|(_, e)| e);
    if !used.iter().all(|column| of(*column).is_some_and(|e| matches!(e.kind, ExprKind::Column(_)))) {
        return None;
    }
    let mut condition = condition.clone();
    crate::typed::walk::rewrite(&mut condition, false, &mut |e| match e.kind {
        ExprKind::Column(column) => of(column).cloned(),
        _ => None,
    });
    Some(condition)
}
