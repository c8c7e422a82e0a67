//! Walks over the typed tree: columns that an expression uses, free columns of a relation, replacement, renaming.

use crate::typed::tree::{ColId, CteId, Expr, ExprKind, FrameBound, JoinKind, Mutation, MutationKind, Query, Rel, SortKey};
use std::collections::{HashMap, HashSet};
use stoa_pg::registry::Volatility;
use stoa_pg::{PgType, SqlType};

/// All columns that an expression refers to, those inside its subqueries that come from outside them included.
pub fn columns_of(expr: &Expr, out: &mut Vec<ColId>) {
    match &expr.kind {
        ExprKind::Column(id) => out.push(*id),
        ExprKind::ScalarSubquery(q) | ExprKind::Exists(q) | ExprKind::ArraySubquery(q) => out.extend(free_columns(&q.rel)),
        ExprKind::AnyQuery { query, left, .. } => {
            out.extend(free_columns(&query.rel));
            for l in left {
                columns_of(l, out);
            }
        }
        ExprKind::Window(w) => {
            for child in expr.children() {
                columns_of(child, out);
            }
            if let Some(frame) = &w.frame {
                for bound in [&frame.start, &frame.end] {
                    if let FrameBound::Preceding(e) | FrameBound::Following(e) = bound {
                        columns_of(e, out);
                    }
                }
            }
        }
        _ => {
            for child in expr.children() {
                columns_of(child, out);
            }
        }
    }
}

/// Columns used by a relation that none of its nodes gives: outer references.
#[must_use]
pub fn free_columns(rel: &Rel) -> Vec<ColId> {
    let mut used = Vec::new();
    let mut given = HashSet::new();
    visit_rel(rel, &mut |node| {
        given_by(node, &mut given);
        for e in exprs_of(node) {
            columns_of(e, &mut used);
        }
    });
    let mut seen = HashSet::new();
    used.retain(|c| !given.contains(c) && seen.insert(*c));
    used
}

/// Calls `f` on a relation and all below it (not into subqueries of expressions).
pub fn visit_rel<'r>(rel: &'r Rel, f: &mut dyn FnMut(&'r Rel)) {
    f(rel);
    for child in children(rel) {
        visit_rel(child, f);
    }
}

/// Calls `f` on every relation, those inside subqueries of expressions included.
pub fn visit_all<'r>(rel: &'r Rel, f: &mut dyn FnMut(&'r Rel)) {
    f(rel);
    for e in exprs_of(rel) {
        visit_subqueries(e, &mut |q| visit_all(&q.rel, f));
    }
    for child in children(rel) {
        visit_all(child, f);
    }
}

/// Calls `f` on each subquery that stands in the expression.
pub fn visit_subqueries<'e>(expr: &'e Expr, f: &mut dyn FnMut(&'e Query)) {
    match &expr.kind {
        ExprKind::ScalarSubquery(q) | ExprKind::Exists(q) | ExprKind::ArraySubquery(q) => f(q),
        ExprKind::AnyQuery { query, .. } => f(query),
        _ => {}
    }
    for child in expr.children() {
        visit_subqueries(child, f);
    }
}

/// Mutable form: every relation inside subqueries of the expression.
pub fn subqueries_mut<'e>(expr: &'e mut Expr, f: &mut dyn FnMut(&mut Query)) {
    match &mut expr.kind {
        ExprKind::ScalarSubquery(q) | ExprKind::Exists(q) | ExprKind::ArraySubquery(q) => f(q),
        ExprKind::AnyQuery { query, .. } => f(query),
        _ => {}
    }
    for child in expr.children_mut() {
        subqueries_mut(child, f);
    }
}

/// Direct inputs of a node.
#[must_use]
pub fn children(rel: &Rel) -> Vec<&Rel> {
    match rel {
        Rel::One
        | Rel::Values { .. }
        | Rel::Batches { .. }
        | Rel::Scan(_)
        | Rel::History(_)
        | Rel::Virtual { .. }
        | Rel::CteScan { .. } => Vec::new(),
        Rel::Filter { input, .. }
        | Rel::Barrier { input }
        | Rel::Project { input, .. }
        | Rel::Aggregate { input, .. }
        | Rel::Window { input, .. }
        | Rel::ProjectSet { input, .. }
        | Rel::Sort { input, .. }
        | Rel::Limit { input, .. }
        | Rel::Distinct { input, .. }
        | Rel::DistinctOn { input, .. }
        | Rel::Sample { input, .. }
        | Rel::Lock { input, .. } => vec![input],
        Rel::Join { left, right, .. } | Rel::SetOp { left, right, .. } => vec![left, right],
        Rel::Recursive { base, step, .. } => vec![base, step],
    }
}

/// Direct inputs of a node, mutably.
pub fn children_mut(rel: &mut Rel) -> Vec<&mut Rel> {
    match rel {
        Rel::One
        | Rel::Values { .. }
        | Rel::Batches { .. }
        | Rel::Scan(_)
        | Rel::History(_)
        | Rel::Virtual { .. }
        | Rel::CteScan { .. } => Vec::new(),
        Rel::Filter { input, .. }
        | Rel::Barrier { input }
        | Rel::Project { input, .. }
        | Rel::Aggregate { input, .. }
        | Rel::Window { input, .. }
        | Rel::ProjectSet { input, .. }
        | Rel::Sort { input, .. }
        | Rel::Limit { input, .. }
        | Rel::Distinct { input, .. }
        | Rel::DistinctOn { input, .. }
        | Rel::Sample { input, .. }
        | Rel::Lock { input, .. } => vec![input],
        Rel::Join { left, right, .. } | Rel::SetOp { left, right, .. } => vec![left, right],
        Rel::Recursive { base, step, .. } => vec![base, step],
    }
}

fn sort_exprs(keys: &[SortKey]) -> impl Iterator<Item = &Expr> {
    keys.iter().map(|k| &k.expr)
}

/// The expressions of a node itself.
#[must_use]
pub fn exprs_of(rel: &Rel) -> Vec<&Expr> {
    let mut out: Vec<&Expr> = Vec::new();
    match rel {
        Rel::One
        | Rel::Batches { .. }
        | Rel::Virtual { .. }
        | Rel::CteScan { .. }
        | Rel::SetOp { .. }
        | Rel::Recursive { .. }
        | Rel::Lock { .. }
        | Rel::Barrier { .. }
        | Rel::Distinct { .. } => {}
        Rel::Scan(scan) => out.extend(scan.as_of.as_deref()),
        Rel::History(history) => out.extend(history.span.times()),
        Rel::Values { rows, .. } => out.extend(rows.iter().flatten()),
        Rel::Filter { predicate, .. } => out.push(predicate),
        Rel::Project { exprs, .. } => out.extend(exprs.iter().map(|(_, e)| e)),
        Rel::Join { on, .. } => out.extend(on.as_ref()),
        Rel::Aggregate { groups, aggregates, .. } => {
            out.extend(groups.iter().map(|(_, e)| e));
            for (_, a) in aggregates {
                out.extend(&a.args);
                out.extend(sort_exprs(&a.order_by));
                out.extend(a.filter.as_ref());
            }
        }
        Rel::Window { windows, .. } => {
            for (_, w) in windows {
                out.extend(&w.args);
                out.extend(w.filter.as_ref());
                out.extend(&w.partition_by);
                out.extend(sort_exprs(&w.order_by));
                if let Some(frame) = &w.frame {
                    for bound in [&frame.start, &frame.end] {
                        if let FrameBound::Preceding(e) | FrameBound::Following(e) = bound {
                            out.push(e);
                        }
                    }
                }
            }
        }
        Rel::ProjectSet { sets, .. } => out.extend(sets.iter().flat_map(|(_, s)| &s.args)),
        Rel::Sort { keys, .. } => out.extend(sort_exprs(keys)),
        Rel::Limit { offset, fetch, ties, .. } => {
            out.extend(offset.as_ref());
            out.extend(fetch.as_ref());
            out.extend(ties.iter().flat_map(|k| sort_exprs(k)));
        }
        Rel::DistinctOn { on, order, .. } => {
            out.extend(on);
            out.extend(sort_exprs(order));
        }
        Rel::Sample { percent, seed, .. } => {
            out.push(percent);
            out.extend(seed.as_ref());
        }
    }
    out
}

/// The expressions of a node itself, mutably.
pub fn exprs_mut(rel: &mut Rel) -> Vec<&mut Expr> {
    let mut out: Vec<&mut Expr> = Vec::new();
    match rel {
        Rel::One
        | Rel::Batches { .. }
        | Rel::Virtual { .. }
        | Rel::CteScan { .. }
        | Rel::SetOp { .. }
        | Rel::Recursive { .. }
        | Rel::Lock { .. }
        | Rel::Barrier { .. }
        | Rel::Distinct { .. } => {}
        Rel::Scan(scan) => out.extend(scan.as_of.as_deref_mut()),
        Rel::History(history) => out.extend(history.span.times_mut()),
        Rel::Values { rows, .. } => out.extend(rows.iter_mut().flatten()),
        Rel::Filter { predicate, .. } => out.push(predicate),
        Rel::Project { exprs, .. } => out.extend(exprs.iter_mut().map(|(_, e)| e)),
        Rel::Join { on, .. } => out.extend(on.as_mut()),
        Rel::Aggregate { groups, aggregates, .. } => {
            out.extend(groups.iter_mut().map(|(_, e)| e));
            for (_, a) in aggregates {
                out.extend(&mut a.args);
                out.extend(a.order_by.iter_mut().map(|k| &mut k.expr));
                out.extend(a.filter.as_mut());
            }
        }
        Rel::Window { windows, .. } => {
            for (_, w) in windows {
                out.extend(&mut w.args);
                out.extend(w.filter.as_mut());
                out.extend(&mut w.partition_by);
                out.extend(w.order_by.iter_mut().map(|k| &mut k.expr));
                if let Some(frame) = &mut w.frame {
                    for bound in [&mut frame.start, &mut frame.end] {
                        if let FrameBound::Preceding(e) | FrameBound::Following(e) = bound {
                            out.push(e);
                        }
                    }
                }
            }
        }
        Rel::ProjectSet { sets, .. } => out.extend(sets.iter_mut().flat_map(|(_, s)| &mut s.args)),
        Rel::Sort { keys, .. } => out.extend(keys.iter_mut().map(|k| &mut k.expr)),
        Rel::Limit { offset, fetch, ties, .. } => {
            out.extend(offset.as_mut());
            out.extend(fetch.as_mut());
            out.extend(ties.iter_mut().flat_map(|k| k.iter_mut().map(|k| &mut k.expr)));
        }
        Rel::DistinctOn { on, order, .. } => {
            out.extend(on);
            out.extend(order.iter_mut().map(|k| &mut k.expr));
        }
        Rel::Sample { percent, seed, .. } => {
            out.push(percent);
            out.extend(seed.as_mut());
        }
    }
    out
}

/// Columns that a node itself brings into being.
fn given_by(rel: &Rel, out: &mut HashSet<ColId>) {
    match rel {
        Rel::One
        | Rel::Filter { .. }
        | Rel::Barrier { .. }
        | Rel::Join { .. }
        | Rel::Sort { .. }
        | Rel::Limit { .. }
        | Rel::Sample { .. }
        | Rel::Lock { .. }
        | Rel::DistinctOn { .. }
        | Rel::Distinct { .. } => {}
        Rel::Values { columns, .. } | Rel::Batches { columns, .. } => out.extend(columns.iter().map(|(c, _)| *c)),
        Rel::Scan(scan) => out.extend(scan.columns.iter().map(|(_, c)| *c)),
        Rel::History(history) => out.extend(history.columns()),
        Rel::Virtual { columns, .. } => out.extend(columns.iter().map(|(c, ..)| *c)),
        // A column that is passed through is given below, or comes from outside.
        Rel::Project { exprs, .. } => {
            out.extend(exprs.iter().filter(|(c, e)| !matches!(e.kind, ExprKind::Column(x) if x == *c)).map(|(c, _)| *c))
        }
        Rel::Aggregate { groups, aggregates, grouping, .. } => {
            out.extend(groups.iter().filter(|(c, e)| !matches!(e.kind, ExprKind::Column(x) if x == *c)).map(|(c, _)| *c));
            out.extend(aggregates.iter().map(|(c, _)| *c));
            out.extend(grouping.iter().map(|(c, _)| *c));
        }
        Rel::Window { windows, .. } => out.extend(windows.iter().map(|(c, _)| *c)),
        Rel::ProjectSet { sets, ordinality, .. } => {
            out.extend(sets.iter().flat_map(|(c, _)| c.iter().copied()));
            out.extend(ordinality);
        }
        Rel::SetOp { columns, .. } | Rel::Recursive { columns, .. } => out.extend(columns.iter().map(|(c, _)| *c)),
        Rel::CteScan { columns, .. } => out.extend(columns.iter().map(|(c, ..)| *c)),
    }
}

/// Replaces expressions bottom-up: `f` gives a replacement or `None`. Goes into subqueries' relations when `deep`.
pub fn rewrite(expr: &mut Expr, deep: bool, f: &mut dyn FnMut(&Expr) -> Option<Expr>) {
    if let Some(new) = f(expr) {
        *expr = new;
        return;
    }
    for child in expr.children_mut() {
        rewrite(child, deep, f);
    }
    if deep {
        let queries: Vec<&mut Query> = match &mut expr.kind {
            ExprKind::ScalarSubquery(q) | ExprKind::Exists(q) | ExprKind::ArraySubquery(q) => vec![q],
            ExprKind::AnyQuery { query, .. } => vec![query],
            _ => Vec::new(),
        };
        for q in queries {
            rewrite_rel(&mut q.rel, f);
        }
    }
}

/// Whether an expression is computed from a row alone: nothing in it stands for what another node computes.
pub fn is_plain(e: &Expr) -> bool {
    !e.any(&mut |x| {
        matches!(
            x.kind,
            ExprKind::ScalarSubquery(_)
                | ExprKind::Exists(_)
                | ExprKind::AnyQuery { .. }
                | ExprKind::ArraySubquery(_)
                | ExprKind::Aggregate(_)
                | ExprKind::Window(_)
                | ExprKind::Set(_)
                | ExprKind::Grouping(_)
        )
    })
}

/// Replaces expressions everywhere in a relation, its subqueries included.
pub fn rewrite_rel(rel: &mut Rel, f: &mut dyn FnMut(&Expr) -> Option<Expr>) {
    for e in exprs_mut(rel) {
        rewrite(e, true, f);
    }
    for child in children_mut(rel) {
        rewrite_rel(child, f);
    }
}

/// Gives every column that a relation brings into being a fresh id, so that the relation can stand twice in a statement.
pub fn refresh(rel: &mut Rel, next: &mut dyn FnMut() -> ColId, map: &mut HashMap<ColId, ColId>) {
    let mut given = HashSet::new();
    visit_all(rel, &mut |node| given_by(node, &mut given));
    // Outputs of subqueries are given by their relations, so all ids are covered.
    let mut sorted: Vec<ColId> = given.into_iter().collect();
    sorted.sort();
    for id in sorted {
        map.entry(id).or_insert_with(&mut *next);
    }
    rename_rel(rel, map);
}

/// Whether a subquery stands in the expression.
#[must_use]
pub fn has_subquery(expr: &Expr) -> bool {
    let mut has = false;
    visit_subqueries(expr, &mut |_| has = true);
    has
}

/// The expression with what its subqueries bring into being numbered anew, and the tables that they read: the same for two expressions
/// that are written alike.
#[must_use]
pub fn numbered(expr: &Expr) -> (Expr, Vec<(u32, Option<Expr>)>) {
    let mut expr = expr.clone();
    let (mut given, mut tables) = (HashSet::new(), Vec::new());
    visit_subqueries(&expr, &mut |query| {
        visit_all(&query.rel, &mut |node| {
            given_by(node, &mut given);
            if let Rel::Scan(scan) = node {
                tables.push((scan.table.oid, scan.as_of.as_deref().cloned()));
            }
            if let Rel::History(history) = node {
                tables.push((history.scan.table.oid, history.span.times().next().cloned()));
            }
        });
    });
    // Columns are numbered as they are bound, in the order of the text.
    let mut sorted: Vec<ColId> = given.into_iter().collect();
    sorted.sort();
    let map = (NUMBERED..).map(ColId).zip(sorted).map(|(new, old)| (old, new)).collect();
    rename_expr(&mut expr, &map);
    let mut next = 0;
    subqueries_mut(&mut expr, &mut |query| number_scans(&mut query.rel, &mut next));
    (expr, tables)
}

/// Above the numbers that the binder gives, and below those of the planner.
const NUMBERED: u32 = 0x3000_0000;

fn number_scans(rel: &mut Rel, next: &mut u32) {
    if let Rel::Scan(scan) = rel {
        *next += 1;
        scan.scan_id = *next;
    }
    if let Rel::History(history) = rel {
        *next += 1;
        history.scan.scan_id = *next;
    }
    for e in exprs_mut(rel) {
        subqueries_mut(e, &mut |query| number_scans(&mut query.rel, next));
    }
    for child in children_mut(rel) {
        number_scans(child, next);
    }
}

/// Renames columns everywhere in a relation.
pub fn rename_rel(rel: &mut Rel, map: &HashMap<ColId, ColId>) {
    let get = |c: &mut ColId| {
        if let Some(new) = map.get(c) {
            *c = *new;
        }
    };
    match rel {
        Rel::Values { columns, .. } => columns.iter_mut().for_each(|(c, _)| get(c)),
        Rel::Scan(scan) => scan.columns.iter_mut().for_each(|(_, c)| get(c)),
        Rel::History(history) => {
            history.scan.columns.iter_mut().for_each(|(_, c)| get(c));
            history.version_columns.iter_mut().for_each(|(_, c)| get(c));
        }
        Rel::Virtual { columns, .. } => columns.iter_mut().for_each(|(c, ..)| get(c)),
        Rel::Project { exprs, .. } => exprs.iter_mut().for_each(|(c, _)| get(c)),
        Rel::Aggregate { groups, aggregates, grouping, .. } => {
            groups.iter_mut().for_each(|(c, _)| get(c));
            aggregates.iter_mut().for_each(|(c, _)| get(c));
            grouping.iter_mut().for_each(|(c, _)| get(c));
        }
        Rel::Window { windows, .. } => windows.iter_mut().for_each(|(c, _)| get(c)),
        Rel::ProjectSet { sets, ordinality, .. } => {
            sets.iter_mut().for_each(|(cs, _)| cs.iter_mut().for_each(get));
            ordinality.iter_mut().for_each(get);
        }
        Rel::SetOp { columns, left_columns, right_columns, .. } => {
            columns.iter_mut().for_each(|(c, _)| get(c));
            left_columns.iter_mut().chain(right_columns).for_each(get);
        }
        Rel::Recursive { columns, base_columns, step_columns, .. } => {
            columns.iter_mut().for_each(|(c, _)| get(c));
            base_columns.iter_mut().chain(step_columns).for_each(get);
        }
        // The working table's columns are those of the recursion around it.
        Rel::CteScan { columns, .. } => columns.iter_mut().for_each(|(c, source, _)| {
            get(c);
            get(source);
        }),
        Rel::Distinct { columns, .. } => columns.iter_mut().for_each(|(c, _)| get(c)),
        _ => {}
    }
    for e in exprs_mut(rel) {
        rename_expr(e, map);
    }
    for child in children_mut(rel) {
        rename_rel(child, map);
    }
}

/// Renames columns in an expression and its subqueries.
pub fn rename_expr(expr: &mut Expr, map: &HashMap<ColId, ColId>) {
    if let ExprKind::Column(c) = &mut expr.kind
        && let Some(new) = map.get(c)
    {
        *c = *new;
    }
    subqueries_mut_shallow(expr, &mut |q| {
        rename_rel(&mut q.rel, map);
        for o in &mut q.outputs {
            if let Some(new) = map.get(&o.col) {
                o.col = *new;
            }
        }
    });
    if let ExprKind::Window(w) = &mut expr.kind
        && let Some(frame) = &mut w.frame
    {
        for bound in [&mut frame.start, &mut frame.end] {
            if let FrameBound::Preceding(e) | FrameBound::Following(e) = bound {
                rename_expr(e, map);
            }
        }
    }
    for child in expr.children_mut() {
        rename_expr(child, map);
    }
}

fn subqueries_mut_shallow(expr: &mut Expr, f: &mut dyn FnMut(&mut Query)) {
    match &mut expr.kind {
        ExprKind::ScalarSubquery(q) | ExprKind::Exists(q) | ExprKind::ArraySubquery(q) => f(q),
        ExprKind::AnyQuery { query, .. } => f(query),
        _ => {}
    }
}

/// How often each CTE is read in a relation, its subqueries included.
pub fn count_ctes(rel: &Rel, out: &mut HashMap<CteId, usize>) {
    visit_all(rel, &mut |node| {
        if let Rel::CteScan { cte, .. } = node {
            *out.entry(*cte).or_insert(0) += 1;
        }
    });
}

/// Expressions of a mutation outside its source: what it does, what it returns, what views ask of its rows.
pub fn mutation_exprs(mutation: &Mutation) -> Vec<&Expr> {
    let returning = mutation.returning.iter().flatten().map(|(_, e)| e);
    let checks = mutation.checks.checks.iter().map(|check| &check.condition);
    kind_exprs(&mutation.kind).into_iter().chain(returning).chain(checks).collect()
}

/// Mutable form of [`mutation_exprs`].
pub fn mutation_exprs_mut(mutation: &mut Mutation) -> Vec<&mut Expr> {
    let returning = mutation.returning.iter_mut().flatten().map(|(_, e)| e);
    let checks = mutation.checks.checks.iter_mut().map(|check| &mut check.condition);
    kind_exprs_mut(&mut mutation.kind).into_iter().chain(returning).chain(checks).collect()
}

/// Expressions of what a mutation does: assignments and conditions of ON CONFLICT and MERGE.
pub fn kind_exprs(kind: &MutationKind) -> Vec<&Expr> {
    use crate::typed::tree::{MergeAction, OnConflict};
    match kind {
        MutationKind::Insert { on_conflict: OnConflict::DoUpdate { assignments, condition, .. }, .. } => {
            assignments.iter().map(|(_, e)| e).chain(condition.as_ref()).collect()
        }
        MutationKind::Merge { arms, .. } => {
            let mut out = Vec::new();
            for arm in arms {
                out.extend(arm.condition.as_ref());
                if let MergeAction::Update(list) | MergeAction::Insert(list) = &arm.action {
                    out.extend(list.iter().map(|(_, e)| e));
                }
            }
            out
        }
        _ => Vec::new(),
    }
}

fn kind_exprs_mut(kind: &mut MutationKind) -> Vec<&mut Expr> {
    use crate::typed::tree::{MergeAction, OnConflict};
    match kind {
        MutationKind::Insert { on_conflict: OnConflict::DoUpdate { assignments, condition, .. }, .. } => {
            assignments.iter_mut().map(|(_, e)| e).chain(condition.as_mut()).collect()
        }
        MutationKind::Merge { arms, .. } => {
            let mut out = Vec::new();
            for arm in arms {
                out.extend(arm.condition.as_mut());
                if let MergeAction::Update(list) | MergeAction::Insert(list) = &mut arm.action {
                    out.extend(list.iter_mut().map(|(_, e)| e));
                }
            }
            out
        }
        _ => Vec::new(),
    }
}

/// Whether an expression calls a volatile function.
pub fn walk_volatile(expr: &Expr) -> bool {
    expr.any(&mut |e| match &e.kind {
        ExprKind::Func { func, .. } => func.0.volatility == stoa_pg::registry::Volatility::Volatile,
        ExprKind::Set(s) => s.func.0.volatility == stoa_pg::registry::Volatility::Volatile,
        ExprKind::Given(_) => true,
        _ => false,
    })
}

/// Whether a relation gives the same rows each time: nothing in it is volatile, takes samples or locks rows.
pub fn is_steady(rel: &Rel) -> bool {
    let mut steady = true;
    visit_all(rel, &mut |rel| {
        steady &= !matches!(rel, Rel::Lock { .. } | Rel::Sample { .. }) && !exprs_of(rel).into_iter().any(walk_volatile);
    });
    steady
}

/// Whether an expression may have another value when it is computed again: it calls a volatile function, or a subquery in it does.
pub fn varies(expr: &Expr) -> bool {
    let mut varies = walk_volatile(expr);
    visit_subqueries(expr, &mut |query| varies |= !is_steady(&query.rel));
    varies
}

/// Whether a node means the same in every execution under the same settings.
pub fn is_lasting(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Func { func, .. } => func.0.volatility == Volatility::Immutable,
        // Concatenation of any value counts as stable, for those whose text depends on settings.
        ExprKind::Oper { oper, args } => {
            let fixed = |arg: &Expr| {
                matches!(
                    arg.ty.ty,
                    PgType::Bool
                        | PgType::Int2
                        | PgType::Int4
                        | PgType::Int8
                        | PgType::Numeric
                        | PgType::Text
                        | PgType::Varchar
                        | PgType::Bpchar
                )
            };
            match oper.0.volatility {
                Volatility::Immutable => true,
                Volatility::Stable => oper.0.name == "||" && args.iter().all(fixed),
                Volatility::Volatile => false,
            }
        }
        ExprKind::Cast { arg, .. } => {
            let simple = |ty: &SqlType| {
                matches!(
                    ty.ty,
                    PgType::Bool
                        | PgType::Int2
                        | PgType::Int4
                        | PgType::Int8
                        | PgType::Float4
                        | PgType::Float8
                        | PgType::Numeric
                        | PgType::Text
                        | PgType::Varchar
                        | PgType::Bpchar
                )
            };
            simple(&arg.ty) && simple(&e.ty)
        }
        _ => true,
    }
}

/// Columns that a relation gives to the nodes above it.
pub fn given_columns(rel: &Rel) -> HashSet<ColId> {
    let mut out = HashSet::new();
    collect_given(rel, &mut out);
    out
}

fn collect_given(rel: &Rel, out: &mut HashSet<ColId>) {
    match rel {
        Rel::One => {}
        Rel::Values { columns, .. } | Rel::Batches { columns, .. } => out.extend(columns.iter().map(|(c, _)| *c)),
        Rel::Scan(scan) => out.extend(scan.columns.iter().map(|(_, c)| *c)),
        Rel::History(history) => out.extend(history.columns()),
        Rel::Virtual { columns, .. } => out.extend(columns.iter().map(|(c, ..)| *c)),
        Rel::Filter { input, .. }
        | Rel::Barrier { input }
        | Rel::Sort { input, .. }
        | Rel::Limit { input, .. }
        | Rel::DistinctOn { input, .. }
        | Rel::Sample { input, .. }
        | Rel::Lock { input, .. } => {
            collect_given(input, out);
        }
        Rel::Project { exprs, .. } => out.extend(exprs.iter().map(|(c, _)| *c)),
        Rel::Join { left, right, kind, .. } => {
            collect_given(left, out);
            if !matches!(kind, JoinKind::Semi | JoinKind::Anti) {
                collect_given(right, out);
            }
        }
        Rel::Aggregate { groups, aggregates, grouping, .. } => {
            out.extend(groups.iter().map(|(c, _)| *c));
            out.extend(aggregates.iter().map(|(c, _)| *c));
            out.extend(grouping.iter().map(|(c, _)| *c));
        }
        Rel::Window { input, windows } => {
            collect_given(input, out);
            out.extend(windows.iter().map(|(c, _)| *c));
        }
        Rel::ProjectSet { input, sets, ordinality, .. } => {
            collect_given(input, out);
            out.extend(sets.iter().flat_map(|(c, _)| c.iter().copied()));
            out.extend(ordinality);
        }
        Rel::Distinct { columns, .. } | Rel::SetOp { columns, .. } | Rel::Recursive { columns, .. } => {
            out.extend(columns.iter().map(|(c, _)| *c))
        }
        Rel::CteScan { columns, .. } => out.extend(columns.iter().map(|(c, ..)| *c)),
    }
}

/// All conditions in one.
pub fn conjunction(mut parts: Vec<Expr>) -> Expr {
    if parts.len() == 1
        && let Some(one) = parts.pop()
    {
        return one;
    }
    Expr::new(ExprKind::And(parts), SqlType::new(PgType::Bool))
}
