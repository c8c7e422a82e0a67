//! Conditions on the rows of a relation, put as deep into it as that gives the same rows: to where a key may answer them.
//!
//! A condition on what a subquery groups by selects the rows that are grouped, as in PostgreSQL, and so on through projections, duplicates,
//! windows' partitions and both sides of set operations. Columns that the relation does not give are those of outer rows.

use crate::plan::decorrelate::given_columns;
use stoa_sql::bind::outer_join::drops;
use stoa_sql::typed::tree::{ColId, Expr, ExprKind, JoinKind, Rel};
use stoa_sql::typed::walk::{columns_of, is_plain, walk_volatile};

/// The relation under conditions.
pub(super) fn sunk(rel: Rel, conditions: impl IntoIterator<Item = Expr>) -> Rel {
    conditions.into_iter().fold(rel, under)
}

fn under(mut rel: Rel, condition: Expr) -> Rel {
    match is_plain(&condition) && !walk_volatile(&condition) && sink(&mut rel, &condition) {
        true => rel,
        false => Rel::Filter { input: Box::new(rel), predicate: condition },
    }
}

/// Puts a condition below a node, if it can stand there.
fn sink(rel: &mut Rel, condition: &Expr) -> bool {
    let given = given_columns(rel);
    let mut used = Vec::new();
    columns_of(condition, &mut used);
    used.retain(|column| given.contains(column));
    match rel {
        // Above the condition of the same relation, which may guard it; below that of groups.
        Rel::Filter { input, .. } | Rel::Sort { input, .. } => sink(input, condition),
        Rel::Project { input, exprs } => match substituted(condition, exprs, &used) {
            Some(condition) => put(input, condition),
            None => false,
        },
        Rel::Aggregate { input, groups, sets: None, .. } if !groups.is_empty() => match substituted(condition, groups, &used) {
            Some(condition) => put(input, condition),
            None => false,
        },
        Rel::Distinct { input, .. } => put(input, condition.clone()),
        Rel::DistinctOn { input, on, .. } if used.iter().all(|column| on.iter().any(|e| is_column(e, *column))) => {
            put(input, condition.clone())
        }
        Rel::Window { input, windows } => {
            let parts = |column: &ColId| windows.iter().all(|(_, w)| w.partition_by.iter().any(|e| is_column(e, *column)));
            used.iter().all(parts) && put(input, condition.clone())
        }
        Rel::SetOp { left, left_columns, right, right_columns, columns, .. } => {
            for (side, own) in [(left, left_columns), (right, right_columns)] {
                let exprs: Vec<(ColId, Expr)> =
                    columns.iter().zip(own.iter()).map(|((id, ty), own)| (*id, Expr::column(*own, ty.clone()))).collect();
                let Some(condition) = substituted(condition, &exprs, &used) else { return false };
                put(side, condition);
            }
            true
        }
        _ => false,
    }
}

/// Puts a condition on a relation, or below it.
fn put(rel: &mut Rel, condition: Expr) -> bool {
    let below = std::mem::replace(rel, Rel::One);
    *rel = under(below, condition);
    true
}

fn is_column(e: &Expr, column: ColId) -> bool {
    matches!(e.kind, ExprKind::Column(own) if own == column)
}

/// The condition over what columns are computed from; `None` if one of them is none of those, or may not be computed twice.
fn substituted(condition: &Expr, exprs: &[(ColId, Expr)], used: &[ColId]) -> Option<Expr> {
    let has_one = |column: &ColId| {
        let of = exprs.iter().find(|(id, _)| id == column).map(|(_, e)| e);
        of.is_some_and(|e| is_plain(e) && !walk_volatile(e) && !e.any(&mut |x| matches!(x.kind, ExprKind::Set(_))))
    };
    if !used.iter().all(has_one) {
        return None;
    }
    let mut condition = condition.clone();
    substitute(&mut condition, exprs);
    Some(condition)
}

/// Puts the expressions of a projection in the place of its columns.
fn substitute(e: &mut Expr, exprs: &[(ColId, Expr)]) {
    if let ExprKind::Column(column) = e.kind {
        if let Some((_, below)) = exprs.iter().find(|(id, _)| *id == column) {
            *e = below.clone();
        }
        return;
    }
    e.children_mut().into_iter().for_each(|child| substitute(child, exprs));
}

/// What a join is under conditions on its rows: where one is not true of NULLs in the columns of a side, rows without a match on that side
/// are none.
pub(super) fn reduced(kind: JoinKind, left: &Rel, right: &Rel, conditions: &[Expr]) -> JoinKind {
    let rejects = |side: &Rel| {
        let given = given_columns(side);
        conditions.iter().any(|condition| drops(condition, true, &given))
    };
    match kind {
        JoinKind::Left if rejects(right) => JoinKind::Inner,
        JoinKind::Right if rejects(left) => JoinKind::Inner,
        JoinKind::Full => match (rejects(left), rejects(right)) {
            (true, true) => JoinKind::Inner,
            (true, false) => JoinKind::Left,
            (false, true) => JoinKind::Right,
            (false, false) => JoinKind::Full,
        },
        kind => kind,
    }
}
