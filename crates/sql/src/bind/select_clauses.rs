//! The clauses of one SELECT, and how they become a relation over FROM and WHERE, stage by stage: groups, windows, set-returning
//! functions, the list with its hidden columns, DISTINCT, the order, locks and limits.

use super::aggregate::{Grouping, has_aggregate};
use super::function::same_expr;
use super::locking::locked;
use super::query::{lacks_equality, no_equality};
use super::scope::Clause;
use super::select::{Tail, Target, column_id, has_set};
use super::{Binder, fold};
use crate::typed::tree::{ColId, Expr, ExprKind, Output, Query, Rel, SetExpr, SortKey};
use crate::typed::walk;
use crate::typed::walk::walk_volatile;
use stoa_pg::{PgError, PgResult, PgType, SqlState};
use stoa_syntax::ast;

/// What stands above FROM and WHERE, bound.
pub(super) struct Clauses {
    targets: Vec<Target>,
    having: Option<Expr>,
    order: Vec<SortKey>,
    groups: Vec<Expr>,
    /// Grouping sets, by positions in the groups.
    sets: Option<Vec<Vec<usize>>>,
    distinct_on: Option<Vec<Expr>>,
    distinct: bool,
    grouped: bool,
}

/// The select list with the columns that are computed beside it.
pub(super) struct List {
    exprs: Vec<(ColId, Expr)>,
    outputs: Vec<Output>,
    keys: Vec<SortKey>,
    /// The columns of DISTINCT ON.
    on: Vec<Expr>,
    distinct: bool,
    /// Whether the rows are in the order of the keys already.
    sorted: bool,
}

impl Clauses {
    /// The expressions of the list, of ORDER BY and of DISTINCT ON.
    fn exprs_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let listed = self.targets.iter_mut().map(|t| &mut t.expr).chain(self.order.iter_mut().map(|k| &mut k.expr));
        listed.chain(self.distinct_on.iter_mut().flatten())
    }

    /// 0A000 for locks of rows that are not those of tables.
    pub(super) fn refuse_locks(&self, locks: &[ast::LockClause]) -> PgResult<()> {
        let Some(first) = locks.first() else { return Ok(()) };
        let listed = |is: fn(&ExprKind) -> bool| self.targets.iter().any(|t| t.expr.any(&mut |e| is(&e.kind)));
        let what = if self.grouped && !self.groups.is_empty() {
            "GROUP BY clause"
        } else if self.having.is_some() {
            "HAVING clause"
        } else if self.grouped {
            "aggregate functions"
        } else if self.distinct || self.distinct_on.is_some() {
            "DISTINCT clause"
        } else if listed(|kind| matches!(kind, ExprKind::Window(_))) {
            "window functions"
        } else if listed(|kind| matches!(kind, ExprKind::Set(_))) {
            "set-returning functions in the target list"
        } else {
            return Ok(());
        };
        let strength = stoa_syntax::locking::strength_and_tables(first).0.clause();
        Err(PgError::unsupported(format!("{strength} is not allowed with {what}")))
    }
}

impl Binder<'_> {
    /// The WINDOW clause.
    pub(super) fn bind_named_windows(&mut self, windows: &[ast::NamedWindowDefinition]) -> PgResult<()> {
        for ast::NamedWindowDefinition(name, definition) in windows {
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
        Ok(())
    }

    /// The select list and the condition. As in PostgreSQL the list is read, and its errors are raised, before the condition. What it shows
    /// of a text is for a MATCH in that.
    pub(super) fn bind_list_and_condition(&mut self, select: &ast::Select) -> PgResult<(Vec<Target>, Option<Expr>)> {
        let condition = |b: &mut Self| match &select.selection {
            None => Ok(None),
            Some(condition) => b.in_clause(Clause::Where, |b| {
                let bound = b.bind_expr(condition)?;
                b.coerce_condition(bound, "WHERE").map_err(|e| e.at(b.pos(condition))).map(Some)
            }),
        };
        let first = if super::text_match::has_snippet(&select.projection) { condition(self)? } else { None };
        let targets = self.in_clause(Clause::SelectList, |b| b.bind_select_list(&select.projection))?;
        let predicate = if first.is_some() { first } else { condition(self)? };
        Ok((targets, predicate))
    }

    /// The other clauses in PostgreSQL's order, in which errors are found.
    pub(super) fn bind_clauses(&mut self, select: &ast::Select, tail: &Tail<'_>, targets: Vec<Target>) -> PgResult<Clauses> {
        let having = match &select.having {
            Some(condition) => Some(self.in_clause(Clause::Having, |b| {
                let bound = b.bind_expr(condition)?;
                b.coerce_condition(bound, "HAVING").map_err(|e| e.at(b.pos(condition)))
            })?),
            None => None,
        };
        let order = self.in_clause(Clause::OrderBy, |b| b.bind_order_by(&tail.order_by, &targets))?;
        // GROUP BY sees the input first, then the select list's names.
        let (groups, sets) = self.in_clause(Clause::GroupBy, |b| b.bind_group_by(&select.group_by, &targets))?;
        let distinct_on = match &select.distinct {
            Some(ast::Distinct::On(exprs)) => Some(self.in_clause(Clause::SelectList, |b| b.bind_distinct_on(exprs, &targets))?),
            _ => None,
        };
        if let (Some(on), Some(ast::Distinct::On(written))) = (&distinct_on, &select.distinct) {
            self.check_distinct_on(on, written, &order)?;
        }
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
        let distinct = matches!(select.distinct, Some(ast::Distinct::Distinct));
        Ok(Clauses { targets, having, order, groups, sets, distinct_on, distinct, grouped })
    }

    /// 42P10 for an order by what DISTINCT has not in its list.
    pub(super) fn check_distinct_order(&mut self, clauses: &Clauses, tail: &Tail<'_>) -> PgResult<()> {
        if !clauses.distinct {
            return Ok(());
        }
        let listed = clauses.targets.iter().map(|t| self.resolve_unknown(t.expr.clone())).collect::<PgResult<Vec<_>>>()?;
        for (key, syntax) in clauses.order.iter().zip(&tail.order_by) {
            let key = self.resolve_unknown(key.expr.clone())?;
            if !listed.iter().any(|e| same_expr(e, &key)) {
                let message = "for SELECT DISTINCT, ORDER BY expressions must appear in select list";
                return Err(PgError::new(SqlState::INVALID_COLUMN_REFERENCE, message).at(self.pos(&syntax.expr)));
            }
        }
        Ok(())
    }

    /// For each target without a type whether it becomes text: what is grouped, sorted or made distinct does.
    pub(super) fn become_text(&mut self, clauses: &Clauses) -> PgResult<Vec<bool>> {
        let mut typed = Vec::with_capacity(clauses.targets.len());
        for target in &clauses.targets {
            let ordered = clauses.order.iter().map(|k| &k.expr);
            let mut named = clauses.groups.iter().chain(ordered).chain(clauses.distinct_on.iter().flatten());
            typed.push(
                target.expr.ty.ty == PgType::Unknown && {
                    let text = self.resolve_unknown(target.expr.clone())?;
                    clauses.distinct || named.any(|e| same_expr(e, &target.expr) || same_expr(e, &text))
                },
            );
        }
        Ok(typed)
    }

    /// GROUP BY and HAVING over a relation; what stands above refers to the groups then.
    pub(super) fn group(&mut self, clauses: &mut Clauses, mut rel: Rel) -> PgResult<Rel> {
        if !clauses.grouped {
            return Ok(rel);
        }
        let mut groups = std::mem::take(&mut clauses.groups);
        if groups.iter().any(has_set) {
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
            let mut having = clauses.having.take();
            for expr in clauses.exprs_mut().chain(&mut having) {
                for (from, to) in written.iter().zip(&groups).filter(|(from, _)| has_set(from)) {
                    walk::rewrite(expr, false, &mut |e| same_expr(e, from).then(|| to.clone()));
                }
            }
            clauses.having = having;
        }
        let groups = groups.into_iter().map(|g| (self.group_id(&g), g)).collect();
        let mut grouping = Grouping::new(groups, clauses.sets.take(), self.scope())?;
        for target in &mut clauses.targets {
            self.above_groups(&mut target.expr, &mut grouping)?;
        }
        if let Some(having) = &mut clauses.having {
            self.above_groups(having, &mut grouping)?;
        }
        for key in &mut clauses.order {
            self.above_groups(&mut key.expr, &mut grouping)?;
        }
        for on in clauses.distinct_on.iter_mut().flatten() {
            self.above_groups(on, &mut grouping)?;
        }
        let rel = grouping.into_rel(rel);
        Ok(match clauses.having.take() {
            Some(predicate) => Rel::Filter { input: Box::new(rel), predicate },
            None => rel,
        })
    }

    pub(super) fn add_windows(&mut self, clauses: &mut Clauses, rel: Rel) -> Rel {
        let mut windows = Vec::new();
        for expr in clauses.exprs_mut() {
            self.take_windows(expr, &mut windows);
        }
        if windows.is_empty() { rel } else { Rel::Window { input: Box::new(rel), windows } }
    }

    /// Set-returning functions over a relation, and the keys by which it is sorted already.
    ///
    /// Rows are sorted before set-returning functions make several of each, unless they are sorted by what those give: they come in the
    /// order in which it is given.
    pub(super) fn add_sets(&mut self, clauses: &mut Clauses, mut rel: Rel, tail: &Tail<'_>) -> PgResult<(Rel, Option<Vec<SortKey>>)> {
        let sorted = !clauses.order.is_empty()
            && !clauses.distinct
            && clauses.distinct_on.is_none()
            && tail.locks.is_empty()
            && clauses.targets.iter().any(|t| has_set(&t.expr))
            && !clauses.order.iter().any(|k| has_set(&k.expr))
            && !clauses.targets.iter().any(|t| walk::has_subquery(&t.expr));
        let mut keys = None;
        if sorted {
            let mut below = Vec::with_capacity(clauses.order.len() + clauses.targets.len());
            let mut by = Vec::with_capacity(clauses.order.len());
            for key in std::mem::take(&mut clauses.order) {
                let (expr, col) = (self.resolve_unknown(key.expr)?, self.new_col());
                by.push(SortKey { expr: Expr::column(col, expr.ty.clone()), descending: key.descending, nulls_first: key.nulls_first });
                below.push((col, expr));
            }
            clauses.targets.iter().for_each(|target| self.pass_columns(&target.expr, &mut below));
            rel = Rel::Project { input: Box::new(rel), exprs: below };
            rel = Rel::Sort { input: Box::new(rel), keys: by.clone() };
            keys = Some(by);
        }
        loop {
            let mut sets: Vec<(Vec<ColId>, SetExpr)> = Vec::new();
            for expr in clauses.exprs_mut() {
                self.take_sets(expr, &mut sets);
            }
            if sets.is_empty() {
                return Ok((rel, keys));
            }
            rel = self.nested_sets(rel, sets);
        }
    }

    /// The columns that are computed: those of the list, then hidden ones that it is sorted or made distinct by. `sorted`: the keys by
    /// which the rows are sorted already.
    pub(super) fn list_of(&mut self, clauses: Clauses, typed: Vec<bool>, sorted: Option<Vec<SortKey>>, with_ties: bool) -> PgResult<List> {
        let mut exprs: Vec<(ColId, Expr)> = Vec::with_capacity(clauses.targets.len() + clauses.order.len());
        let mut outputs = Vec::with_capacity(clauses.targets.len());
        for (target, typed) in clauses.targets.into_iter().zip(typed) {
            let untyped = (target.expr.ty.ty == PgType::Unknown && !typed).then_some(target.expr.ty.typmod);
            let expr = self.resolve_unknown(target.expr)?;
            let col = self.new_col();
            if let Some(place) = untyped {
                self.untyped.insert(col, place);
            }
            outputs.push(Output { name: target.name, col, ty: expr.ty.clone(), origin: target.origin });
            exprs.push((col, expr));
        }
        let is_sorted = sorted.is_some();
        let mut keys = sorted.unwrap_or_default();
        if with_ties {
            exprs.extend(keys.iter().filter_map(|key| Some((column_id(&key.expr)?, key.expr.clone()))));
        }
        for key in clauses.order {
            let expr = self.computed(key.expr, &mut exprs)?;
            keys.push(SortKey { expr, descending: key.descending, nulls_first: key.nulls_first });
        }
        let mut on = Vec::new();
        for expr in clauses.distinct_on.into_iter().flatten() {
            on.push(self.computed(expr, &mut exprs)?);
        }
        Ok(List { exprs, outputs, keys, on, distinct: clauses.distinct, sorted: is_sorted })
    }

    /// The column that is an expression: one that is computed already, or another.
    fn computed(&mut self, expr: Expr, exprs: &mut Vec<(ColId, Expr)>) -> PgResult<Expr> {
        let expr = self.resolve_unknown(expr)?;
        let col = match exprs.iter().find(|(_, e)| same_expr(e, &expr)) {
            Some((col, _)) => *col,
            None => {
                let col = self.new_col();
                exprs.push((col, expr.clone()));
                col
            }
        };
        Ok(Expr::column(col, expr.ty))
    }

    /// The list over a relation, with DISTINCT, the order, locks and limits.
    pub(super) fn finish_select(&mut self, mut rel: Rel, mut list: List, tail: &Tail<'_>) -> PgResult<Query> {
        let locks = self.locks_of(&mut rel, &mut list.exprs, tail.locks)?;
        let mut late = self.late_calls(&mut list, tail);
        rel = Rel::Project { input: Box::new(rel), exprs: std::mem::take(&mut list.exprs) };
        rel = list.distinct_and_sorted(rel)?;
        rel = locked(rel, &locks);
        // Rows that OFFSET passes over have called it; those behind LIMIT have not.
        let above_limit = tail.offset.is_none() || tail.with_ties;
        if !above_limit && !late.is_empty() {
            rel = Rel::Project { input: Box::new(rel), exprs: std::mem::take(&mut late) };
        }
        rel = self.limit(rel, tail, list.keys)?;
        if !late.is_empty() {
            rel = Rel::Project { input: Box::new(rel), exprs: late };
        }
        Ok(Query { rel, outputs: list.outputs })
    }

    /// Takes the volatile functions of the list that are called for the rows that are left, in their order.
    fn late_calls(&mut self, list: &mut List, tail: &Tail<'_>) -> Vec<(ColId, Expr)> {
        if list.distinct || (list.keys.is_empty() && tail.fetch.is_none() && tail.offset.is_none()) {
            return Vec::new();
        }
        let sorted: Vec<ColId> = list.keys.iter().map(|k| &k.expr).chain(&list.on).filter_map(column_id).collect();
        let outputs = &list.outputs;
        let is_late = |(id, expr): &(ColId, Expr)| {
            outputs.iter().any(|o| o.col == *id) && !sorted.contains(id) && walk_volatile(expr) && !walk::has_subquery(expr)
        };
        let (above, mut below): (Vec<_>, Vec<_>) = std::mem::take(&mut list.exprs).into_iter().partition(is_late);
        let mut late = Vec::new();
        if !above.is_empty() {
            above.iter().for_each(|(_, expr)| self.pass_columns(expr, &mut below));
            let call = |o: &Output| above.iter().find(|(id, _)| *id == o.col).cloned();
            late.extend(outputs.iter().map(|o| call(o).unwrap_or_else(|| (o.col, Expr::column(o.col, o.ty.clone())))));
        }
        list.exprs = below;
        late
    }
}

impl List {
    /// DISTINCT, or the order and DISTINCT ON, over the computed columns.
    fn distinct_and_sorted(&self, mut rel: Rel) -> PgResult<Rel> {
        if self.distinct {
            if let Some(output) = self.outputs.iter().find(|o| lacks_equality(&o.ty.ty)) {
                return Err(no_equality(&output.ty.ty));
            }
            let columns = self.outputs.iter().map(|o| (o.col, o.ty.clone())).collect();
            rel = Rel::Distinct { input: Box::new(rel), columns };
        }
        if self.sorted || (self.keys.is_empty() && self.on.is_empty()) {
            return Ok(rel);
        }
        let mut sort = self.keys.clone();
        for on in &self.on {
            if !sort.iter().any(|k| k.expr == *on) {
                sort.push(SortKey { expr: on.clone(), descending: false, nulls_first: false });
            }
        }
        rel = Rel::Sort { input: Box::new(rel), keys: sort.clone() };
        if !self.on.is_empty() {
            rel = Rel::DistinctOn { input: Box::new(rel), on: self.on.clone(), order: sort };
        }
        Ok(rel)
    }
}
