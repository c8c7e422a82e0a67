//! One SELECT: its lists and clauses, in the order in which SQL evaluates them.

use super::aggregate::{Grouping, has_aggregate};
use super::function::same_expr;
use super::query::{lacks_equality, no_equality};
use super::scope::{Clause, Scope};
use super::{Binder, fold};
use crate::typed::tree::{ColId, Expr, ExprKind, JoinKind, Output, Query, Rel, SetExpr, SortKey, TableScan};
use crate::typed::walk;
use crate::typed::walk::walk_volatile;
use stoa_pg::{PgError, PgResult, PgType, SqlState};
use stoa_syntax::ast::{self, Expr as E};
use stoa_syntax::locking::Strength;
use stoa_table::services::locks::{LockStrength, LockWait};

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
        for ast::NamedWindowDefinition(name, definition) in &select.named_window {
            let name = fold(name);
            if self.scope().named_windows.iter().any(|(n, _)| *n == name) {
                return Err(PgError::new(SqlState::WINDOWING_ERROR, format!("window \"{name}\" is already defined")));
            }
            let bound = match definition {
                ast::NamedWindowExpr::WindowSpec(spec) => self.window_spec(spec),
                ast::NamedWindowExpr::NamedWindow(other) => self.window_spec(&ast::WindowSpec {
                    window_name: Some(other.clone()),
                    partition_by: Vec::new(),
                    order_by: Vec::new(),
                    window_frame: None,
                }),
            };
            if let Some(scope) = self.scopes.last_mut() {
                scope.named_windows.push((name, bound));
            }
        }
        let condition = |b: &mut Self| match &select.selection {
            None => Ok(None),
            Some(condition) => b.in_clause(Clause::Where, |b| {
                let bound = b.bind_expr(condition)?;
                b.coerce_condition(bound, "WHERE").map_err(|e| e.at(b.pos(condition))).map(Some)
            }),
        };
        // As in PostgreSQL the select list is read, and its errors are told, before the condition. What it shows of a text is for a
        // MATCH in that.
        let first = if super::text_match::has_snippet(&select.projection) { condition(self)? } else { None };
        let mut targets = self.in_clause(Clause::SelectList, |b| b.bind_select_list(&select.projection))?;
        let predicate = if first.is_some() { first } else { condition(self)? };
        if let Some(predicate) = predicate {
            rel = Rel::Filter { input: Box::new(rel), predicate };
        }

        // In PostgreSQL's order, in which errors are found.
        let mut having = match &select.having {
            Some(condition) => Some(self.in_clause(Clause::Having, |b| {
                let bound = b.bind_expr(condition)?;
                b.coerce_condition(bound, "HAVING").map_err(|e| e.at(b.pos(condition)))
            })?),
            None => None,
        };
        let mut order = self.in_clause(Clause::OrderBy, |b| b.bind_order_by(&tail.order_by, &targets))?;
        // GROUP BY sees the input first, then the select list's names.
        let (groups, sets) = self.in_clause(Clause::GroupBy, |b| b.bind_group_by(&select.group_by, &targets))?;
        let mut distinct_on = match &select.distinct {
            Some(ast::Distinct::On(exprs)) => Some(self.in_clause(Clause::SelectList, |b| b.bind_distinct_on(exprs, &targets))?),
            _ => None,
        };
        if let (Some(on), Some(ast::Distinct::On(written))) = (&distinct_on, &select.distinct) {
            self.check_distinct_on(on, written, &order)?;
        }
        let distinct = matches!(select.distinct, Some(ast::Distinct::Distinct));
        if let Some(error) = self.scopes.last_mut().and_then(|s| s.window_error.take()) {
            return Err(error);
        }

        let grouped = !groups.is_empty()
            || sets.is_some()
            || having.is_some()
            || !self.scope().outer_aggregates.is_empty()
            || !self.scope().outer_groupings.is_empty()
            || targets.iter().any(|t| has_aggregate(&t.expr))
            || order.iter().any(|k| has_aggregate(&k.expr))
            || distinct_on.iter().flatten().any(has_aggregate);
        if !tail.locks.is_empty() {
            let what = if grouped && !groups.is_empty() {
                Some("GROUP BY clause")
            } else if having.is_some() {
                Some("HAVING clause")
            } else if grouped {
                Some("aggregate functions")
            } else if distinct || distinct_on.is_some() {
                Some("DISTINCT clause")
            } else if targets.iter().any(|t| t.expr.any(&mut |e| matches!(e.kind, ExprKind::Window(_)))) {
                Some("window functions")
            } else if targets.iter().any(|t| t.expr.any(&mut |e| matches!(e.kind, ExprKind::Set(_)))) {
                Some("set-returning functions in the target list")
            } else {
                None
            };
            if let Some(what) = what {
                let strength = stoa_syntax::locking::strength_and_tables(&tail.locks[0]).0.clause();
                return Err(PgError::unsupported(format!("{strength} is not allowed with {what}")));
            }
        }
        if distinct {
            let listed = targets.iter().map(|t| self.resolve_unknown(t.expr.clone())).collect::<PgResult<Vec<_>>>()?;
            for (key, syntax) in order.iter().zip(&tail.order_by) {
                let key = self.resolve_unknown(key.expr.clone())?;
                if !listed.iter().any(|e| same_expr(e, &key)) {
                    return Err(PgError::new(
                        SqlState::INVALID_COLUMN_REFERENCE,
                        "for SELECT DISTINCT, ORDER BY expressions must appear in select list",
                    )
                    .at(self.pos(&syntax.expr)));
                }
            }
        }
        // What is grouped, sorted or made distinct is text, where it had no type.
        let mut typed = Vec::with_capacity(targets.len());
        for target in &targets {
            let mut named = groups.iter().chain(order.iter().map(|k| &k.expr)).chain(distinct_on.iter().flatten());
            typed.push(
                target.expr.ty.ty == PgType::Unknown && {
                    let text = self.resolve_unknown(target.expr.clone())?;
                    distinct || named.any(|e| same_expr(e, &target.expr) || same_expr(e, &text))
                },
            );
        }
        let mut groups = groups;
        if grouped && groups.iter().any(has_set) {
            // Set-returning functions that are grouped by give their rows before.
            let written = groups.clone();
            loop {
                let mut sets = Vec::new();
                groups.iter_mut().for_each(|group| self.take_sets(group, &mut sets));
                if sets.is_empty() {
                    break;
                }
                rel = self.nested_sets(rel, sets);
            }
            let above = targets.iter_mut().map(|t| &mut t.expr).chain(&mut having);
            for expr in above.chain(order.iter_mut().map(|k| &mut k.expr)).chain(distinct_on.iter_mut().flatten()) {
                for (from, to) in written.iter().zip(&groups).filter(|(from, _)| has_set(from)) {
                    walk::rewrite(expr, false, &mut |e| same_expr(e, from).then(|| to.clone()));
                }
            }
        }
        if grouped {
            let groups = groups.into_iter().map(|g| (self.group_id(&g), g)).collect();
            let mut grouping = Grouping::new(groups, sets, self.scope())?;
            for target in &mut targets {
                self.above_groups(&mut target.expr, &mut grouping)?;
            }
            if let Some(having) = &mut having {
                self.above_groups(having, &mut grouping)?;
            }
            for key in &mut order {
                self.above_groups(&mut key.expr, &mut grouping)?;
            }
            for on in distinct_on.iter_mut().flatten() {
                self.above_groups(on, &mut grouping)?;
            }
            rel = grouping.into_rel(rel);
            if let Some(predicate) = having {
                rel = Rel::Filter { input: Box::new(rel), predicate };
            }
        }

        // Windows, then set-returning functions.
        let mut windows = Vec::new();
        for expr in
            targets.iter_mut().map(|t| &mut t.expr).chain(order.iter_mut().map(|k| &mut k.expr)).chain(distinct_on.iter_mut().flatten())
        {
            self.take_windows(expr, &mut windows);
        }
        if !windows.is_empty() {
            rel = Rel::Window { input: Box::new(rel), windows };
        }
        // Rows are sorted before set-returning functions make several of each, unless they are sorted by what those give: they come in
        // the order in which it is given.
        let mut keys: Vec<SortKey> = Vec::with_capacity(order.len());
        let sorted_before_sets = !order.is_empty()
            && !distinct
            && distinct_on.is_none()
            && tail.locks.is_empty()
            && targets.iter().any(|t| has_set(&t.expr))
            && !order.iter().any(|k| has_set(&k.expr))
            && !targets.iter().any(|t| walk::has_subquery(&t.expr));
        if sorted_before_sets {
            let mut below = Vec::with_capacity(order.len() + targets.len());
            for key in std::mem::take(&mut order) {
                let (expr, col) = (self.resolve_unknown(key.expr)?, self.new_col());
                keys.push(SortKey { expr: Expr::column(col, expr.ty.clone()), descending: key.descending, nulls_first: key.nulls_first });
                below.push((col, expr));
            }
            targets.iter().for_each(|target| self.pass_columns(&target.expr, &mut below));
            rel = Rel::Project { input: Box::new(rel), exprs: below };
            rel = Rel::Sort { input: Box::new(rel), keys: keys.clone() };
        }
        loop {
            let mut sets: Vec<(Vec<ColId>, SetExpr)> = Vec::new();
            for expr in
                targets.iter_mut().map(|t| &mut t.expr).chain(order.iter_mut().map(|k| &mut k.expr)).chain(distinct_on.iter_mut().flatten())
            {
                self.take_sets(expr, &mut sets);
            }
            if sets.is_empty() {
                break;
            }
            rel = self.nested_sets(rel, sets);
        }

        let mut exprs: Vec<(ColId, Expr)> = Vec::with_capacity(targets.len() + order.len());
        let mut outputs = Vec::with_capacity(targets.len());
        for (target, typed) in targets.into_iter().zip(typed) {
            let untyped = target.expr.ty.ty == PgType::Unknown && !typed;
            let expr = self.resolve_unknown(target.expr)?;
            let origin = self.origin_of(&expr);
            let col = self.new_col();
            if untyped {
                self.untyped.insert(col);
            }
            outputs.push(Output { name: target.name, col, ty: expr.ty.clone(), origin });
            exprs.push((col, expr));
        }
        if sorted_before_sets && tail.with_ties {
            exprs.extend(keys.iter().filter_map(|key| Some((column_id(&key.expr)?, key.expr.clone()))));
        }
        // Sort keys are output columns, or hidden ones behind them.
        for key in order {
            let expr = self.resolve_unknown(key.expr)?;
            let col = match exprs.iter().find(|(_, e)| same_expr(e, &expr)) {
                Some((col, _)) => *col,
                None => {
                    let col = self.new_col();
                    exprs.push((col, expr.clone()));
                    col
                }
            };
            keys.push(SortKey { expr: Expr::column(col, expr.ty), descending: key.descending, nulls_first: key.nulls_first });
        }
        let mut on_columns = Vec::new();
        if let Some(on) = distinct_on {
            for expr in on {
                let expr = self.resolve_unknown(expr)?;
                let col = match exprs.iter().find(|(_, e)| same_expr(e, &expr)) {
                    Some((col, _)) => *col,
                    None => {
                        let col = self.new_col();
                        exprs.push((col, expr.clone()));
                        col
                    }
                };
                on_columns.push(Expr::column(col, expr.ty));
            }
        }
        let scans = self.locked_scans(&rel, tail.locks)?;
        if !scans.is_empty() {
            // The row keys of locked tables go up to the lock.
            let mut through = Vec::new();
            walk::visit_rel(&rel, &mut |node| {
                if let Rel::Scan(scan) = node
                    && scans.iter().any(|(ids, ..)| ids.contains(&scan.scan_id))
                {
                    through.extend(key_columns(scan));
                }
            });
            // Subqueries and views between hand them on.
            for (id, expr) in &through {
                hand_on(&mut rel, *id, expr);
            }
            exprs.extend(through);
        }
        // A volatile function is called for the rows that are left, in their order.
        let mut late: Vec<(ColId, Expr)> = Vec::new();
        if !distinct && (!keys.is_empty() || tail.fetch.is_some() || tail.offset.is_some()) {
            let sorted: Vec<ColId> = keys.iter().map(|k| &k.expr).chain(&on_columns).filter_map(column_id).collect();
            let is_late = |(id, expr): &(ColId, Expr)| {
                outputs.iter().any(|o| o.col == *id) && !sorted.contains(id) && walk_volatile(expr) && !walk::has_subquery(expr)
            };
            let (above, mut below): (Vec<_>, Vec<_>) = exprs.into_iter().partition(is_late);
            if !above.is_empty() {
                above.iter().for_each(|(_, expr)| self.pass_columns(expr, &mut below));
                late = outputs
                    .iter()
                    .map(|o| {
                        above.iter().find(|(id, _)| *id == o.col).cloned().unwrap_or_else(|| (o.col, Expr::column(o.col, o.ty.clone())))
                    })
                    .collect();
            }
            exprs = below;
        }
        rel = Rel::Project { input: Box::new(rel), exprs };
        if distinct {
            for o in &outputs {
                if lacks_equality(&o.ty.ty) {
                    return Err(no_equality(&o.ty.ty));
                }
            }
            let columns = outputs.iter().map(|o| (o.col, o.ty.clone())).collect();
            rel = Rel::Distinct { input: Box::new(rel), columns };
        }
        if !sorted_before_sets && (!keys.is_empty() || !on_columns.is_empty()) {
            let mut sort = keys.clone();
            for on in &on_columns {
                if !sort.iter().any(|k| k.expr == *on) {
                    sort.push(SortKey { expr: on.clone(), descending: false, nulls_first: false });
                }
            }
            if on_columns.is_empty() {
                rel = Rel::Sort { input: Box::new(rel), keys: sort };
            } else {
                rel = Rel::Sort { input: Box::new(rel), keys: sort.clone() };
                rel = Rel::DistinctOn { input: Box::new(rel), on: on_columns, order: sort };
            }
        }
        for (scans, strength, wait) in scans {
            rel = Rel::Lock { input: Box::new(rel), scans, strength, wait };
        }
        // Rows that OFFSET passes over have called it; those behind LIMIT have not.
        let above_limit = tail.offset.is_none() || tail.with_ties;
        if !above_limit && !late.is_empty() {
            rel = Rel::Project { input: Box::new(rel), exprs: std::mem::take(&mut late) };
        }
        rel = self.limit(rel, tail, keys)?;
        if !late.is_empty() {
            rel = Rel::Project { input: Box::new(rel), exprs: late };
        }
        Ok(Query { rel, outputs })
    }

    /// Hands the columns of this query that an expression has through a projection below it.
    fn pass_columns(&self, expr: &Expr, below: &mut Vec<(ColId, Expr)>) {
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

    /// A grouped plain column keeps its id.
    fn group_id(&mut self, group: &Expr) -> ColId {
        if let ExprKind::Column(id) = group.kind { id } else { self.new_col() }
    }

    /// Which table column an expression is, for RowDescription.
    pub fn origin_of(&self, expr: &Expr) -> Option<(u32, u32)> {
        let ExprKind::Column(id) = expr.kind else { return None };
        self.scope()
            .items
            .iter()
            .flat_map(|i| &i.columns)
            .find(|c| matches!(c.expr.kind, ExprKind::Column(x) if x == id))
            .and_then(|c| c.origin)
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

    fn nested_sets(&mut self, rel: Rel, sets: Vec<(Vec<ColId>, SetExpr)>) -> Rel {
        Rel::ProjectSet { input: Box::new(rel), sets, outer: false, ordinality: None }
    }

    /// The scans that each locking clause names.
    fn locked_scans(&self, rel: &Rel, locks: &[ast::LockClause]) -> PgResult<Vec<(Vec<u32>, LockStrength, LockWait)>> {
        let mut out = Vec::with_capacity(locks.len());
        for lock in locks {
            let (written, tables) = stoa_syntax::locking::strength_and_tables(lock);
            let strength = match written {
                Strength::KeyShare => LockStrength::KeyShare,
                Strength::Share => LockStrength::Share,
                Strength::NoKeyUpdate => LockStrength::NoKeyUpdate,
                Strength::Update => LockStrength::Update,
            };
            let wait = match lock.nonblock {
                None => LockWait::Wait,
                Some(ast::NonBlock::Nowait) => LockWait::NoWait,
                Some(ast::NonBlock::SkipLocked) => LockWait::SkipLocked,
            };
            let mut scans = Vec::new();
            let wanted: Option<Vec<String>> = tables.map(|tables| tables.iter().map(fold).collect());
            for name in wanted.iter().flatten() {
                if !self.scope().items.iter().any(|i| i.alias == *name) {
                    return Err(PgError::new(
                        SqlState::UNDEFINED_TABLE,
                        format!("relation \"{name}\" in {} clause not found in FROM clause", written.clause()),
                    ));
                }
            }
            let is_wanted = |scan: &TableScan| wanted.as_ref().is_none_or(|w| w.contains(&scan.alias));
            if on_nullable_side(rel, false, &is_wanted) {
                return Err(PgError::unsupported(format!("{} cannot be applied to the nullable side of an outer join", written.clause())));
            }
            if let (None, Some(what)) = (&wanted, not_lockable(rel)) {
                return Err(PgError::unsupported(format!("{} is not allowed with {what}", written.clause())));
            }
            walk::visit_rel(rel, &mut |node| {
                if let Rel::Scan(scan) = node
                    && is_wanted(scan)
                {
                    scans.push(scan.scan_id);
                }
            });
            out.push((scans, strength, wait));
        }
        Ok(out)
    }
}

/// What keeps the rows of FROM from being those of tables.
fn not_lockable(rel: &Rel) -> Option<&'static str> {
    let mut found = None;
    walk::visit_rel(rel, &mut |node| {
        let what = match node {
            Rel::Aggregate { groups, .. } if groups.is_empty() => "aggregate functions",
            Rel::Aggregate { .. } => "GROUP BY clause",
            Rel::Distinct { .. } | Rel::DistinctOn { .. } => "DISTINCT clause",
            Rel::Window { .. } => "window functions",
            Rel::SetOp { .. } => "UNION/INTERSECT/EXCEPT",
            _ => return,
        };
        found = Some(what);
    });
    found
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

/// Whether one of the wanted scans may be filled with NULLs by an outer join of FROM.
fn on_nullable_side(rel: &Rel, nullable: bool, wanted: &dyn Fn(&TableScan) -> bool) -> bool {
    match rel {
        Rel::Scan(scan) => nullable && wanted(scan),
        Rel::Join { left, right, kind, .. } => {
            let (on_left, on_right) = match kind {
                JoinKind::Left => (false, true),
                JoinKind::Right => (true, false),
                JoinKind::Full => (true, true),
                _ => (false, false),
            };
            on_nullable_side(left, nullable || on_left, wanted) || on_nullable_side(right, nullable || on_right, wanted)
        }
        Rel::Filter { input, .. } | Rel::Project { input, .. } | Rel::Sample { input, .. } => on_nullable_side(input, nullable, wanted),
        _ => false,
    }
}

/// The columns of a scan's row key, in the order of its parts.
pub fn key_columns(scan: &TableScan) -> Vec<(ColId, Expr)> {
    let parts = scan.table.key.iter().filter_map(|part| {
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

fn has_set(expr: &Expr) -> bool {
    expr.any(&mut |e| matches!(e.kind, ExprKind::Set(_)))
}

fn column_id(expr: &Expr) -> Option<ColId> {
    if let ExprKind::Column(id) = expr.kind { Some(id) } else { None }
}
