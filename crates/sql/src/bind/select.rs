//! One SELECT: its lists and clauses, in the order in which SQL evaluates them ([`super::select_clauses`]).

use super::Binder;
use super::origin::Origin;
use super::scope::{Clause, Scope};
use crate::typed::tree::{ColId, Expr, ExprKind, Query, Rel, SetExpr, SortKey, TableScan};
use crate::typed::walk;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_syntax::ast::{self, Expr as E};

/// What stands around a SELECT in its query: order, limits, locks.
#[derive(Default)]
pub struct Tail<'q> {
    pub order_by: Vec<&'q ast::OrderByExpr>,
    pub offset: Option<&'q E>,
    pub fetch: Option<&'q E>,
    pub with_ties: bool,
    pub locks: &'q [ast::LockClause],
}

/// An item of the select list.
pub(super) struct Target {
    pub(super) name: String,
    pub(super) expr: Expr,
    pub(super) origin: Option<Origin>,
}

impl Binder<'_> {
    pub fn bind_select(&mut self, select: &ast::Select, tail: &Tail<'_>) -> PgResult<Query> {
        if select.into.is_some() {
            let place = select.into.as_ref().and_then(|into| self.pos(&into.name));
            return Err(PgError::new(SqlState::SYNTAX_ERROR, "SELECT ... INTO is not allowed here").at(place));
        }
        if select.top.is_some()
            || select.qualify.is_some()
            || !select.lateral_views.is_empty()
            || !select.cluster_by.is_empty()
            || !select.sort_by.is_empty()
        {
            return Err(PgError::new(SqlState::SYNTAX_ERROR, "syntax error: this clause is not part of the dialect"));
        }
        self.scopes.push(Scope::new(Clause::From));
        let no_sets = self.no_sets.take();
        let outer = self.hints.enter(&select.optimizer_hints);
        let result = self.bind_select_in_scope(select, tail);
        self.hints.leave(outer);
        self.no_sets = no_sets;
        self.scopes.pop();
        result
    }

    fn bind_select_in_scope(&mut self, select: &ast::Select, tail: &Tail<'_>) -> PgResult<Query> {
        let mut rel = self.bind_from(&select.from)?;
        self.bind_named_windows(&select.named_window)?;
        let (targets, predicate) = self.bind_list_and_condition(select)?;
        if let Some(predicate) = predicate {
            rel = Rel::Filter { input: Box::new(rel), predicate };
        }
        let mut clauses = self.bind_clauses(select, tail, targets)?;
        clauses.refuse_locks(tail.locks)?;
        self.check_distinct_order(&clauses, tail)?;
        let typed = self.become_text(&clauses)?;
        rel = self.group(&mut clauses, rel)?;
        // Windows, then set-returning functions.
        rel = self.add_windows(&mut clauses, rel);
        let (rel, keys) = self.add_sets(&mut clauses, rel, tail)?;
        let list = self.list_of(clauses, typed, keys, tail.with_ties)?;
        self.finish_select(rel, list, tail)
    }

    /// Hands the columns of this query that an expression has through a projection below it.
    pub(super) fn pass_columns(&self, expr: &Expr, below: &mut Vec<(ColId, Expr)>) {
        let outer = self.scopes.split_last().map_or(&[][..], |(_, outer)| outer);
        expr.any(&mut |e| {
            if let ExprKind::Column(id) = e.kind
                && !below.iter().any(|(known, _)| *known == id)
                && !outer.iter().any(|scope| scope.local.contains(&id))
            {
                below.push((id, e.clone()));
            }
            false
        });
    }

    /// LIMIT, OFFSET, FETCH on top of a relation sorted by `keys`.
    pub fn limit(&mut self, rel: Rel, tail: &Tail<'_>, keys: Vec<SortKey>) -> PgResult<Rel> {
        if tail.offset.is_none() && tail.fetch.is_none() {
            return Ok(rel);
        }
        let offset = tail.offset.map(|e| self.in_clause(Clause::Limit, |b| b.bind_count(e, "OFFSET"))).transpose()?;
        let fetch = match tail.fetch {
            Some(E::Identifier(i)) if i.value.eq_ignore_ascii_case("all") => None,
            Some(e) => Some(self.in_clause(Clause::Limit, |b| b.bind_count(e, "LIMIT"))?),
            None => None,
        };
        if tail.with_ties && keys.is_empty() {
            return Err(PgError::new(SqlState::SYNTAX_ERROR, "WITH TIES cannot be specified without ORDER BY clause"));
        }
        let null = |e: &E| matches!(super::expr::unnested(e), E::Value(value) if matches!(value.value, ast::Value::Null));
        if tail.with_ties && tail.fetch.is_some_and(null) {
            let message = "row count cannot be null in FETCH FIRST ... WITH TIES clause";
            return Err(PgError::new(SqlState::INVALID_ROW_COUNT_IN_LIMIT_CLAUSE, message));
        }
        // A count that comes out as NULL is none.
        let fetch = fetch.filter(|count| !count.is_null_const());
        let ties = (tail.with_ties && fetch.is_some()).then_some(keys);
        Ok(Rel::Limit { input: Box::new(rel), offset, fetch, ties })
    }

    /// A grouped plain column of FROM keeps its id; one of an outer query has another value where a grouping set leaves it out.
    pub(super) fn group_id(&mut self, group: &Expr) -> ColId {
        match group.kind {
            ExprKind::Column(id) if self.scope().local.contains(&id) => id,
            _ => self.new_col(),
        }
    }

    /// Replaces window calls by columns.
    pub fn take_windows(&mut self, expr: &mut Expr, windows: &mut Vec<(ColId, crate::typed::tree::WindowExpr)>) {
        if let ExprKind::Window(window) = &expr.kind {
            let ty = window.ty.clone();
            let id = match windows.iter().find(|(_, w)| *w == **window) {
                Some((id, _)) => *id,
                None => {
                    let id = self.new_col();
                    windows.push((id, (**window).clone()));
                    id
                }
            };
            *expr = Expr::column(id, ty);
            return;
        }
        for child in expr.children_mut() {
            self.take_windows(child, windows);
        }
    }

    /// Replaces the innermost calls of set-returning functions by columns.
    pub fn take_sets(&mut self, expr: &mut Expr, sets: &mut Vec<(Vec<ColId>, SetExpr)>) {
        fold_nulls_with_sets(expr);
        if let ExprKind::Set(set) = &mut expr.kind {
            let nested = set.args.iter().any(|a| a.any(&mut |e| matches!(e.kind, ExprKind::Set(_))));
            if !nested {
                let set = (**set).clone();
                let existing = sets.iter().find(|(_, s)| {
                    *s == set && !crate::typed::walk::walk_volatile(&Expr::new(ExprKind::Set(Box::new(s.clone())), s.ty.clone()))
                });
                let ids = match existing {
                    Some((ids, _)) => ids.clone(),
                    None => {
                        let ids: Vec<ColId> = set.columns.iter().map(|_| self.new_col()).collect();
                        sets.push((ids.clone(), set.clone()));
                        ids
                    }
                };
                let mut fields: Vec<Expr> = ids.iter().zip(&set.columns).map(|(id, (_, ty))| Expr::column(*id, ty.clone())).collect();
                let one = fields.len() == 1 && fields.first().is_some_and(|f| f.ty.ty == set.ty.ty);
                *expr = if one { fields.remove(0) } else { Expr::new(ExprKind::Row(fields), set.ty) };
                return;
            }
        }
        for child in expr.children_mut() {
            self.take_sets(child, sets);
        }
    }

    /// The rows that the set-returning functions of a list give, where it has any: their calls become columns.
    pub fn rows_of_sets(&mut self, list: &mut [Expr]) -> Option<Rel> {
        let mut rel = None;
        loop {
            let mut sets = Vec::new();
            list.iter_mut().for_each(|expr| self.take_sets(expr, &mut sets));
            if sets.is_empty() {
                return rel;
            }
            let input = rel.take().unwrap_or(Rel::One);
            rel = Some(self.nested_sets(input, sets));
        }
    }

    pub(super) fn nested_sets(&mut self, rel: Rel, sets: Vec<(Vec<ColId>, SetExpr)>) -> Rel {
        Rel::ProjectSet { input: Box::new(rel), sets, outer: false, ordinality: None }
    }
}

/// Turns a strict call with a constant NULL beside a set into NULL. As in PostgreSQL, the set then gives no rows of its own.
fn fold_nulls_with_sets(expr: &mut Expr) {
    if !expr.any(&mut |e| matches!(e.kind, ExprKind::Set(_))) || matches!(expr.kind, ExprKind::Set(_)) {
        return;
    }
    for child in expr.children_mut() {
        fold_nulls_with_sets(child);
    }
    let (strict, args) = match &expr.kind {
        // Only what joins arrays takes NULL for a value.
        ExprKind::Oper { oper, args } => (oper.0.name != "||" || !expr.ty.ty.is_array(), args),
        ExprKind::Func { func, args } => (func.0.strict, args),
        _ => return,
    };
    if strict
        && args.iter().any(Expr::is_null_const)
        && let Ok(null) = super::dml::null_of(&expr.ty)
    {
        *expr = null;
    }
}

/// The columns of a scan's row key, in the order of its parts.
pub fn key_columns(scan: &TableScan) -> Vec<(ColId, Expr)> {
    let parts = scan.table.key_columns().filter_map(|part| {
        let (_, id) = scan.columns.iter().find(|(c, _)| *c == part.column)?;
        Some((*id, Expr::column(*id, scan.table.column(part.column)?.ty.clone())))
    });
    parts.collect()
}

/// Lets a column of a scan pass through the projections above it; whether the scan is here.
pub fn hand_on(rel: &mut Rel, id: ColId, expr: &Expr) -> bool {
    if let Rel::Scan(scan) = rel {
        return scan.columns.iter().any(|(_, column)| *column == id);
    }
    let mut below = false;
    for child in walk::children_mut(rel) {
        below |= hand_on(child, id, expr);
    }
    if below
        && let Rel::Project { exprs, .. } = rel
        && !exprs.iter().any(|(column, _)| *column == id)
    {
        exprs.push((id, expr.clone()));
    }
    below
}

pub(super) fn has_set(expr: &Expr) -> bool {
    expr.any(&mut |e| matches!(e.kind, ExprKind::Set(_)))
}

pub(super) fn column_id(expr: &Expr) -> Option<ColId> {
    if let ExprKind::Column(id) = expr.kind { Some(id) } else { None }
}
