//! Subqueries out of expressions: joins where a join says the same, else nodes that run the subquery for each distinct row.
//!
//! A conjunct `EXISTS (…)`, `NOT EXISTS (…)` or `x IN (…)` of a WHERE whose subquery uses outer columns only in its own top filter
//! becomes a semi- or anti-join (predicates of any form may correlate). A scalar subquery that is one aggregate over rows
//! matched by equalities becomes a grouped outer join (Galindo-Legaria and Joshi 2001). The rest is left as [`Apply`] items.

use super::aggregate::gathers;
use datafusion::common::ScalarValue;
use std::collections::HashSet;
pub use stoa_exec::nodes::apply::ApplyKind;
use stoa_pg::registry::{FuncKind, NativeAggregate};
use stoa_pg::{PgType, SqlType};
use stoa_sql::typed::sorted::type_of_column;
use stoa_sql::typed::tree::{AggregateExpr, ColId, Expr, ExprKind, JoinKind, Query, Rel};
use stoa_sql::typed::walk;
pub(crate) use stoa_sql::typed::walk::{conjunction, given_columns};
use stoa_sql::typed::walk::{is_steady, walk_volatile};

/// A subquery to run for each distinct binding of its free columns; adds one column.
#[derive(Clone, Debug)]
pub struct Apply {
    pub kind: ApplyKind,
    pub query: Query,
    pub output: ColId,
    pub ty: SqlType,
}

/// Splits a relation whose free columns stand only in filters at its top into the uncorrelated part and the conditions.
/// `needed`: columns that must still be visible above; `ordered`: whether the order of rows means something there.
///
/// What calls a volatile function, takes a sample or locks rows stays correlated: it is run for each outer row.
pub fn pull_correlation(rel: &Rel, needed: &mut HashSet<ColId>, ordered: bool) -> Option<(Rel, Vec<Expr>)> {
    if walk::free_columns(rel).is_empty() {
        return Some((rel.clone(), Vec::new()));
    }
    if !is_steady(rel) {
        return None;
    }
    match rel {
        Rel::Filter { input, predicate } => {
            let conjuncts = match &predicate.kind {
                ExprKind::And(parts) => parts.clone(),
                _ => vec![predicate.clone()],
            };
            let given = given_columns(input);
            let (correlated, own): (Vec<Expr>, Vec<Expr>) = conjuncts.into_iter().partition(|c| {
                let mut used = Vec::new();
                walk::columns_of(c, &mut used);
                used.iter().any(|u| !given.contains(u))
            });
            // A subquery inside the condition stays where it is: not for a join.
            if correlated.iter().any(|c| c.any(&mut |e| is_subquery(e))) {
                return None;
            }
            for c in &correlated {
                let mut used = Vec::new();
                walk::columns_of(c, &mut used);
                needed.extend(used.into_iter().filter(|u| given.contains(u)));
            }
            let (inner, mut rest) = pull_correlation(input, needed, ordered)?;
            rest.extend(correlated);
            let inner = if own.is_empty() { inner } else { Rel::Filter { input: Box::new(inner), predicate: conjunction(own) } };
            Some((inner, rest))
        }
        Rel::Project { input, exprs } => {
            // Outer columns in the select list itself would have to move too.
            let given = given_columns(input);
            for (_, e) in exprs {
                let mut used = Vec::new();
                walk::columns_of(e, &mut used);
                if used.iter().any(|u| !given.contains(u)) {
                    return None;
                }
            }
            let (inner, conditions) = pull_correlation(input, needed, ordered)?;
            // What was pulled may have given the input more columns.
            let given = given_columns(&inner);
            let mut list = exprs.clone();
            for c in needed.iter() {
                if given.contains(c) && !list.iter().any(|(id, _)| id == c) {
                    let ty = type_of_column(&inner, *c)?;
                    list.push((*c, Expr::column(*c, ty)));
                }
            }
            Some((Rel::Project { input: Box::new(inner), exprs: list }, conditions))
        }
        Rel::Join { left, right, kind: JoinKind::Inner, on, lateral: false } => {
            let (left, mut conditions) = pull_correlation(left, needed, ordered)?;
            let (right, more) = pull_correlation(right, needed, ordered)?;
            conditions.extend(more);
            if let Some(on) = on {
                let mut used = Vec::new();
                walk::columns_of(on, &mut used);
                let mut given = given_columns(&left);
                given.extend(given_columns(&right));
                if used.iter().any(|u| !given.contains(u)) {
                    return None;
                }
            }
            Some((
                Rel::Join { left: Box::new(left), right: Box::new(right), kind: JoinKind::Inner, on: on.clone(), lateral: false },
                conditions,
            ))
        }
        Rel::Sort { input, keys } if ordered => {
            let given = given_columns(input);
            let mut used = Vec::new();
            keys.iter().for_each(|key| walk::columns_of(&key.expr, &mut used));
            if used.iter().any(|u| !given.contains(u)) {
                return None;
            }
            let (inner, conditions) = pull_correlation(input, needed, ordered)?;
            Some((Rel::Sort { input: Box::new(inner), keys: keys.clone() }, conditions))
        }
        Rel::Sort { input, .. } => pull_correlation(input, needed, ordered),
        _ => None,
    }
}

fn is_subquery(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::ScalarSubquery(_) | ExprKind::Exists(_) | ExprKind::AnyQuery { .. } | ExprKind::ArraySubquery(_))
}

/// Columns that the subqueries of an expression use, and what they are compared with.
pub fn columns_of_subqueries(e: &Expr) -> Vec<ColId> {
    let mut out = Vec::new();
    e.any(&mut |part| {
        if is_subquery(part) {
            walk::columns_of(part, &mut out);
        }
        false
    });
    out
}

/// A filter's conjunct as a semi- or anti-join of the input, if it can be one.
pub fn as_join(input: Rel, conjunct: &Expr) -> Result<Rel, Rel> {
    let (query, kind, comparisons) = match &conjunct.kind {
        ExprKind::Exists(q) => (q, JoinKind::Semi, Vec::new()),
        ExprKind::Not(inner) => match &inner.kind {
            ExprKind::Exists(q) => (q, JoinKind::Anti, Vec::new()),
            _ => return Err(input),
        },
        ExprKind::AnyQuery { left, opers, query, all: false } => {
            if left.iter().any(|l| l.any(&mut |e| is_subquery(e))) {
                return Err(input);
            }
            let comparisons = left
                .iter()
                .zip(opers)
                .zip(&query.outputs)
                .map(|((l, oper), output)| {
                    let args = vec![l.clone(), Expr::column(output.col, output.ty.clone())];
                    Expr::new(ExprKind::Oper { oper: oper.clone(), args }, SqlType::new(PgType::Bool))
                })
                .collect();
            (query, JoinKind::Semi, comparisons)
        }
        _ => return Err(input),
    };
    let outer = given_columns(&input);
    // Columns of queries further out make this join part of their business.
    if !walk::free_columns(&query.rel).iter().all(|c| outer.contains(c)) && !walk::free_columns(&query.rel).is_empty() {
        let foreign = walk::free_columns(&query.rel).iter().any(|c| !outer.contains(c));
        if foreign {
            return Err(input);
        }
    }
    if comparisons.iter().any(|c| {
        let mut used = Vec::new();
        walk::columns_of(c, &mut used);
        let inner = given_columns(&query.rel);
        used.iter().any(|u| !outer.contains(u) && !inner.contains(u))
    }) {
        return Err(input);
    }
    let mut needed: HashSet<ColId> = query.outputs.iter().map(|o| o.col).collect();
    let Some((right, mut conditions)) = pull_correlation(&query.rel, &mut needed, false) else { return Err(input) };
    conditions.extend(comparisons);
    if conditions.is_empty() && matches!(query.rel, Rel::Limit { .. }) {
        return Err(input);
    }
    let on = if conditions.is_empty() { None } else { Some(conjunction(conditions)) };
    Ok(Rel::Join { left: Box::new(input), right: Box::new(right), kind, on, lateral: false })
}

/// A correlated scalar aggregate as an outer join with the grouped rows: the joined relation and the expression for the value.
pub fn scalar_as_join(input: &Rel, query: &Query, fresh: &mut dyn FnMut() -> ColId) -> Option<(Rel, Expr)> {
    let output = query.outputs.first()?;
    let Rel::Project { input: aggregate, exprs } = &query.rel else { return None };
    let Rel::Aggregate { input: rows, groups, sets: None, aggregates, grouping } = &**aggregate else { return None };
    if !groups.is_empty() || !grouping.is_empty() {
        return None;
    }
    let outer = given_columns(input);
    // Outer columns may stand in the filter only.
    let free_in = |e: &Expr| {
        let mut used = Vec::new();
        walk::columns_of(e, &mut used);
        used.iter().any(|u| outer.contains(u))
    };
    if exprs.iter().any(|(_, e)| free_in(e) || e.any(&mut |x| is_subquery(x)))
        || aggregates.iter().any(|(_, a)| exprs_of_aggregate(a).any(|e| free_in(e) || walk_volatile(e)))
    {
        return None;
    }
    let mut needed = HashSet::new();
    let ordered = aggregates.iter().any(|(_, a)| gathers(a));
    let (rows, conditions) = pull_correlation(rows, &mut needed, ordered)?;
    if conditions.is_empty() {
        return None;
    }
    let mut keys: Vec<(ColId, Expr)> = Vec::new();
    let mut on = Vec::new();
    for condition in conditions {
        let ExprKind::Oper { oper, args } = &condition.kind else { return None };
        if oper.0.name != "=" {
            return None;
        }
        let [a, b] = args.as_slice() else { return None };
        let (inner, outer_side, inner_first) = match (free_in(a), free_in(b)) {
            (false, true) => (a, b, true),
            (true, false) => (b, a, false),
            _ => return None,
        };
        let mut used = Vec::new();
        walk::columns_of(outer_side, &mut used);
        if !used.iter().all(|u| outer.contains(u)) {
            return None;
        }
        // Several groups of local times equal one point in time: one that a zone leaves out is the same as another.
        if matches!(inner.ty.ty, PgType::Date | PgType::Timestamp) && outer_side.ty.ty == PgType::Timestamptz {
            return None;
        }
        let id = fresh();
        keys.push((id, inner.clone()));
        let key = Expr::column(id, inner.ty.clone());
        let args = if inner_first { vec![key, outer_side.clone()] } else { vec![outer_side.clone(), key] };
        on.push(Expr::new(ExprKind::Oper { oper: oper.clone(), args }, condition.ty.clone()));
    }
    // A column of groups, aggregates and what tells that a group was found.
    let marker = fresh();
    let right =
        Rel::Aggregate { input: Box::new(rows), groups: keys.clone(), sets: None, aggregates: aggregates.clone(), grouping: Vec::new() };
    let mut through: Vec<(ColId, Expr)> = keys.iter().map(|(c, e)| (*c, Expr::column(*c, e.ty.clone()))).collect();
    through.extend(aggregates.iter().map(|(c, a)| (*c, Expr::column(*c, a.ty.clone()))));
    through.push((marker, stoa_sql::bind::function::bool_const(true)));
    let right = Rel::Project { input: Box::new(right), exprs: through };
    let joined = Rel::Join {
        left: Box::new(input.clone()),
        right: Box::new(right),
        kind: JoinKind::Left,
        on: Some(conjunction(on)),
        lateral: false,
    };
    // Where no group was found, counts are 0, and ranks are those of nothing.
    let (_, value) = exprs.iter().find(|(c, _)| *c == output.col)?;
    let mut value = value.clone();
    walk::rewrite(&mut value, false, &mut |e| match &e.kind {
        ExprKind::Column(c) => aggregates.iter().find(|(id, _)| id == c).and_then(|(id, a)| {
            let none = Expr::new(ExprKind::Const(of_no_rows(a)?), a.ty.clone());
            Some(Expr::new(ExprKind::Coalesce(vec![Expr::column(*id, a.ty.clone()), none]), a.ty.clone()))
        }),
        _ => None,
    });
    Some((joined, value))
}

/// A correlated scalar subquery over system relations that can find one row at most, since equalities fix a unique key of each, as an
/// outer join: the joined relation and the expression for the value. Other tables are read by their keys for each row instead.
pub fn scalar_by_key(input: &Rel, query: &Query, fresh: &mut dyn FnMut() -> ColId) -> Option<(Rel, Expr)> {
    let output = query.outputs.first()?;
    let Rel::Project { input: rows, exprs } = &query.rel else { return None };
    let (_, value) = exprs.iter().find(|(c, _)| *c == output.col)?;
    if value.any(&mut |e| is_subquery(e)) {
        return None;
    }
    let outer = given_columns(input);
    if !walk::free_columns(&query.rel).iter().all(|c| outer.contains(c)) {
        return None;
    }
    let mut used = Vec::new();
    walk::columns_of(value, &mut used);
    let mut needed: HashSet<ColId> = used.into_iter().filter(|c| !outer.contains(c)).collect();
    let (inner, conditions) = pull_correlation(rows, &mut needed, false)?;
    if conditions.is_empty() || !finds_one(&inner, &conditions, &outer) {
        return None;
    }
    let given = given_columns(&inner);
    let mut through = Vec::new();
    for c in needed.iter().filter(|c| given.contains(c)) {
        through.push((*c, Expr::column(*c, type_of_column(&inner, *c)?)));
    }
    let marker = fresh();
    through.push((marker, stoa_sql::bind::function::bool_const(true)));
    let joined = Rel::Join {
        left: Box::new(input.clone()),
        right: Box::new(Rel::Project { input: Box::new(inner), exprs: through }),
        kind: JoinKind::Left,
        on: Some(conjunction(conditions)),
        lateral: false,
    };
    let found = Expr::column(marker, SqlType::new(PgType::Bool));
    Some((joined, Expr::new(ExprKind::Case { whens: vec![(found, value.clone())], otherwise: None }, output.ty.clone())))
}

/// Whether conditions fix a unique key of each relation: by columns from outside, or of relations whose row is fixed already.
fn finds_one(rel: &Rel, conditions: &[Expr], outer: &HashSet<ColId>) -> bool {
    let mut leaves = Vec::new();
    let mut conjuncts = conditions.to_vec();
    if !collect_leaves(rel, &mut leaves, &mut conjuncts) {
        return false;
    }
    let mut fixed = outer.clone();
    while !leaves.is_empty() {
        let before = leaves.len();
        leaves.retain(|leaf| {
            let Rel::Virtual { schema, name, columns } = leaf else { return true };
            let is_fixed = |column: &String| {
                let Some((id, ..)) = columns.iter().find(|(_, name, _)| name == column) else { return false };
                conjuncts.iter().any(|c| equals(c, *id, &fixed))
            };
            let found = stoa_sql::system_relations::keys(schema, name).iter().any(|key| key.iter().all(&is_fixed));
            if found {
                fixed.extend(columns.iter().map(|(id, ..)| *id));
            }
            !found
        });
        if leaves.len() == before {
            return false;
        }
    }
    true
}

/// System relations under inner joins and filters, with all conditions; false if there is anything else.
fn collect_leaves<'r>(rel: &'r Rel, leaves: &mut Vec<&'r Rel>, conjuncts: &mut Vec<Expr>) -> bool {
    let mut condition = |e: &Expr| match &e.kind {
        ExprKind::And(parts) => conjuncts.extend(parts.iter().cloned()),
        _ => conjuncts.push(e.clone()),
    };
    match rel {
        Rel::Virtual { .. } => {
            leaves.push(rel);
            true
        }
        Rel::Filter { input, predicate } => {
            condition(predicate);
            collect_leaves(input, leaves, conjuncts)
        }
        Rel::Join { left, right, kind: JoinKind::Inner, on, lateral: false } => {
            if let Some(on) = on {
                condition(on);
            }
            collect_leaves(left, leaves, conjuncts) && collect_leaves(right, leaves, conjuncts)
        }
        _ => false,
    }
}

/// Whether a condition says that a column equals something made of fixed columns.
fn equals(condition: &Expr, column: ColId, fixed: &HashSet<ColId>) -> bool {
    let ExprKind::Oper { oper, args } = &condition.kind else { return false };
    let [a, b] = args.as_slice() else { return false };
    let is_column = |e: &Expr| matches!(e.kind, ExprKind::Column(id) if id == column);
    let is_fixed = |e: &Expr| {
        let mut used = Vec::new();
        walk::columns_of(e, &mut used);
        used.iter().all(|c| fixed.contains(c))
    };
    oper.0.name == "=" && (is_column(a) && is_fixed(b) || is_column(b) && is_fixed(a))
}

/// The expressions of an aggregate.
fn exprs_of_aggregate(a: &AggregateExpr) -> impl Iterator<Item = &Expr> {
    a.args.iter().chain(a.order_by.iter().map(|key| &key.expr)).chain(a.filter.as_ref())
}

/// What an aggregate gives for no rows, where that is not NULL. None of these gives NULL for any rows.
fn of_no_rows(aggregate: &AggregateExpr) -> Option<ScalarValue> {
    if matches!(aggregate.func.0.kind, FuncKind::NativeAggregate(NativeAggregate::Count)) {
        return Some(ScalarValue::Int64(Some(0)));
    }
    match aggregate.func.0.name {
        "regr_count" => Some(ScalarValue::Int64(Some(0))),
        "rank" | "dense_rank" => Some(ScalarValue::Int64(Some(1))),
        "percent_rank" => Some(ScalarValue::Float64(Some(0.0))),
        "cume_dist" => Some(ScalarValue::Float64(Some(1.0))),
        _ => None,
    }
}
