//! The order of a sorted subquery, as columns.
//!
//! SQL promises no order of a subquery's rows, but PostgreSQL keeps that of a sorted one where nothing needs another, and its manual says
//! that aggregates see it. Whoever reads such rows gets the keys of the sort as columns and sorts by them.

use crate::typed::tree::{ColId, Expr, ExprKind, Rel, SortKey};
use crate::typed::walk::given_columns;
use stoa_pg::{PgType, SqlType};

/// A sorted relation with the keys of its sort as columns, and the keys over them; none if it is not sorted.
///
/// The rows come in no order, unless a limit needs one.
pub fn sorted_input(input: &Rel, fresh: &mut dyn FnMut() -> ColId) -> Option<(Rel, Vec<SortKey>)> {
    match input {
        Rel::Sort { input: below, keys } => with_keys(below, keys, fresh),
        Rel::DistinctOn { input: below, on, order } => {
            let ascending = |expr: &Expr| SortKey { expr: expr.clone(), descending: false, nulls_first: false };
            let keys = if order.is_empty() { on.iter().map(ascending).collect() } else { order.clone() };
            let (rel, outer) = with_keys(below, &keys, fresh)?;
            Some((Rel::DistinctOn { input: Box::new(rel), on: on.clone(), order: order.clone() }, outer))
        }
        Rel::Project { input: below, exprs } => {
            let (rel, keys) = sorted_input(below, fresh)?;
            let mut exprs = exprs.clone();
            exprs.extend(keys.iter().filter_map(|k| Some((of_key(k)?, k.expr.clone()))));
            Some((Rel::Project { input: Box::new(rel), exprs }, keys))
        }
        Rel::Filter { input: below, predicate } => {
            let (rel, keys) = sorted_input(below, fresh)?;
            Some((Rel::Filter { input: Box::new(rel), predicate: predicate.clone() }, keys))
        }
        Rel::Limit { input: below, offset, fetch, ties } => {
            let (rel, keys) = sorted_input(below, fresh)?;
            // The limit needs the order itself.
            let sorted = Rel::Sort { input: Box::new(rel), keys: keys.clone() };
            let limited = Rel::Limit { input: Box::new(sorted), offset: offset.clone(), fetch: fetch.clone(), ties: ties.clone() };
            Some((limited, keys))
        }
        _ => None,
    }
}

/// The column that is a key.
pub fn of_key(key: &SortKey) -> Option<ColId> {
    match key.expr.kind {
        ExprKind::Column(c) => Some(c),
        _ => None,
    }
}

/// A relation with keys as further columns, and the keys over them.
fn with_keys(rel: &Rel, keys: &[SortKey], fresh: &mut dyn FnMut() -> ColId) -> Option<(Rel, Vec<SortKey>)> {
    let mut exprs = Vec::with_capacity(keys.len());
    let mut outer = Vec::with_capacity(keys.len());
    for key in keys {
        let (c, ty) = (fresh(), key.expr.ty.clone());
        exprs.push((c, key.expr.clone()));
        outer.push(SortKey { expr: Expr::column(c, ty), ..key.clone() });
    }
    let mut through: Vec<(ColId, Expr)> = Vec::new();
    for c in given_columns(rel) {
        through.push((c, Expr::column(c, type_of_column(rel, c)?)));
    }
    through.sort_by_key(|(c, _)| *c);
    through.extend(exprs);
    Some((Rel::Project { input: Box::new(rel.clone()), exprs: through }, outer))
}

/// The type of a column that a relation gives.
pub fn type_of_column(rel: &Rel, id: ColId) -> Option<SqlType> {
    match rel {
        Rel::One => None,
        Rel::Values { columns, .. }
        | Rel::Batches { columns, .. }
        | Rel::Distinct { columns, .. }
        | Rel::SetOp { columns, .. }
        | Rel::Recursive { columns, .. } => columns.iter().find(|(c, _)| *c == id).map(|(_, t)| t.clone()),
        Rel::Scan(scan) => {
            scan.columns.iter().find(|(_, c)| *c == id).and_then(|(column, _)| scan.table.column(*column)).map(|c| c.ty.clone())
        }
        Rel::History(history) => {
            let own = history.version_columns.iter().find(|(_, c)| *c == id).map(|(column, _)| column.ty());
            let column = history.scan.columns.iter().find(|(_, c)| *c == id);
            own.or_else(|| column.and_then(|(column, _)| history.scan.table.column(*column)).map(|c| c.ty.clone()))
        }
        Rel::Virtual { columns, .. } => columns.iter().find(|(c, ..)| *c == id).map(|(_, _, t)| t.clone()),
        Rel::CteScan { columns, .. } => columns.iter().find(|(c, ..)| *c == id).map(|(_, _, t)| t.clone()),
        Rel::Project { exprs, .. } => exprs.iter().find(|(c, _)| *c == id).map(|(_, e)| e.ty.clone()),
        Rel::Aggregate { groups, aggregates, .. } => groups
            .iter()
            .find(|(c, _)| *c == id)
            .map(|(_, e)| e.ty.clone())
            .or_else(|| aggregates.iter().find(|(c, _)| *c == id).map(|(_, a)| a.ty.clone()))
            .or_else(|| Some(SqlType::new(PgType::Int4))),
        Rel::Window { input, windows } => {
            windows.iter().find(|(c, _)| *c == id).map(|(_, w)| w.ty.clone()).or_else(|| type_of_column(input, id))
        }
        Rel::ProjectSet { input, sets, ordinality, .. } => {
            if *ordinality == Some(id) {
                return Some(SqlType::new(PgType::Int8));
            }
            for (ids, set) in sets {
                if let Some(i) = ids.iter().position(|c| *c == id) {
                    return set.columns.get(i).map(|(_, t)| t.clone());
                }
            }
            type_of_column(input, id)
        }
        Rel::Join { left, right, .. } => type_of_column(left, id).or_else(|| type_of_column(right, id)),
        Rel::Filter { input, .. }
        | Rel::Barrier { input }
        | Rel::Sort { input, .. }
        | Rel::Limit { input, .. }
        | Rel::DistinctOn { input, .. }
        | Rel::Sample { input, .. }
        | Rel::Lock { input, .. } => type_of_column(input, id),
    }
}
