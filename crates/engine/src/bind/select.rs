//! One SELECT: its lists and clauses, in the order in which SQL evaluates them.

use super::aggregate::{Grouping, has_aggregate, walk_volatile};
use super::function::same_expr;
use super::query::{lacks_equality, no_equality};
use super::scope::{Clause, FromItem, Scope};
use super::tree::{ColId, Expr, ExprKind, JoinKind, LockStrength, LockWait, Output, Query, Rel, SetExpr, SortKey, TableScan};
use super::{Binder, fold, name_parts, walk};
use stoa_pg::types::type_by_name;
use stoa_pg::{PgError, PgResult, PgType, SqlState};
use stoa_syntax::ast::{self, Expr as E, SelectItem};
use stoa_syntax::locking::Strength;

/// What stands around a SELECT in its query: order, limits, locks.
#[derive(Default)]
pub(crate) struct Tail<'q> {
    pub order_by: Vec<&'q ast::OrderByExpr>,
    pub offset: Option<&'q E>,
    pub fetch: Option<&'q E>,
    pub with_ties: bool,
    pub locks: &'q [ast::LockClause],
}

/// A column that `*` stands for, as it may be written.
fn star_expr(item: Option<&FromItem>, name: &str) -> E {
    let ident = |name: &str| {
        let plain = !crate::catalog::deparse::quote_name(name).starts_with('"');
        if plain { ast::Ident::new(name) } else { ast::Ident::with_quote('"', name) }
    };
    match item {
        Some(FromItem { alias, schema, .. }) if !alias.is_empty() => {
            E::CompoundIdentifier(schema.iter().map(String::as_str).chain([alias.as_str(), name]).map(ident).collect())
        }
        _ => E::Identifier(ident(name)),
    }
}

/// The place of the `*` in `(row).*`.
pub(crate) fn fields_star(e: &E) -> Option<super::sqlparser_span::Span> {
    let E::CompoundFieldAccess { access_chain, .. } = super::expr::unnested(e) else { return None };
    match access_chain.last() {
        Some(ast::AccessExpr::Dot(E::Wildcard(token))) => Some(token.0.span),
        _ => None,
    }
}

/// A field that `(row).*` stands for.
fn field_expr(root: &E, way: &[ast::AccessExpr], name: &str) -> E {
    // A name without parentheses would be a table's.
    let root = if matches!(root, E::Identifier(_)) { E::Nested(Box::new(root.clone())) } else { root.clone() };
    let access_chain = way.iter().cloned().chain([ast::AccessExpr::Dot(star_expr(None, name))]).collect();
    E::CompoundFieldAccess { root: Box::new(root), access_chain }
}

/// An item of the select list.
struct Target {
    name: String,
    expr: Expr,
}

impl Binder<'_> {
    pub(crate) fn bind_select(&mut self, select: &ast::Select, tail: &Tail<'_>) -> PgResult<Query> {
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
                b.coerce_bool(bound, "WHERE").map_err(|e| e.at(b.pos(condition))).map(Some)
            }),
        };
        // As in PostgreSQL the select list is read, and its errors are told, before the condition. What it shows of a text is for a
        // MATCH in that.
        let first = if crate::text::bind::has_snippet(&select.projection) { condition(self)? } else { None };
        let mut targets = self.in_clause(Clause::SelectList, |b| b.bind_select_list(&select.projection))?;
        let predicate = if first.is_some() { first } else { condition(self)? };
        if let Some(predicate) = predicate {
            rel = Rel::Filter { input: Box::new(rel), predicate };
        }

        // In PostgreSQL's order, in which errors are found.
        let mut having = match &select.having {
            Some(condition) => Some(self.in_clause(Clause::Having, |b| {
                let bound = b.bind_expr(condition)?;
                b.coerce_bool(bound, "HAVING").map_err(|e| e.at(b.pos(condition)))
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
        // Sort keys are output columns, or hidden ones behind them.
        let mut keys = Vec::with_capacity(order.len());
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
                outputs.iter().any(|o| o.col == *id) && !sorted.contains(id) && walk_volatile(expr) && !has_subquery(expr)
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
        if !keys.is_empty() || !on_columns.is_empty() {
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
    pub(crate) fn limit(&mut self, rel: Rel, tail: &Tail<'_>, keys: Vec<SortKey>) -> PgResult<Rel> {
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
        let ties = tail.with_ties.then_some(keys);
        Ok(Rel::Limit { input: Box::new(rel), offset, fetch, ties })
    }

    /// A grouped plain column keeps its id.
    fn group_id(&mut self, group: &Expr) -> ColId {
        if let ExprKind::Column(id) = group.kind { id } else { self.new_col() }
    }

    /// Which table column an expression is, for RowDescription.
    pub(crate) fn origin_of(&self, expr: &Expr) -> Option<(u32, u32)> {
        let ExprKind::Column(id) = expr.kind else { return None };
        self.scope()
            .items
            .iter()
            .flat_map(|i| &i.columns)
            .find(|c| matches!(c.expr.kind, ExprKind::Column(x) if x == id))
            .and_then(|c| c.origin)
    }

    /// A list of named expressions, as RETURNING has it.
    pub(crate) fn bind_targets(&mut self, items: &[SelectItem]) -> PgResult<Vec<(String, Expr)>> {
        Ok(self.bind_select_list(items)?.into_iter().map(|t| (t.name, t.expr)).collect())
    }

    fn bind_select_list(&mut self, items: &[SelectItem]) -> PgResult<Vec<Target>> {
        let mut out = Vec::with_capacity(items.len());
        for item in items {
            match item {
                // (row).* has the names of the fields, whatever it is called.
                SelectItem::UnnamedExpr(e) | SelectItem::ExprWithAlias { expr: e, .. } if self.expand_access(e, &mut out)? => {}
                SelectItem::UnnamedExpr(e) => {
                    let expr = self.bind_expr(e)?;
                    let name = column_name(e).unwrap_or_else(|| match &expr.kind {
                        ExprKind::ScalarSubquery(q) => q.outputs.first().map_or_else(|| "?column?".into(), |o| o.name.clone()),
                        _ => "?column?".into(),
                    });
                    out.push(Target { name, expr });
                }
                SelectItem::ExprWithAlias { expr, alias } => {
                    let bound = self.bind_expr(expr)?;
                    out.push(Target { name: fold(alias), expr: bound });
                }
                SelectItem::Wildcard(options) => {
                    let stars: Vec<_> =
                        self.scope().star.iter().filter(|s| s.item.is_none_or(|i| !self.scope().items[i].lateral_only)).cloned().collect();
                    if stars.is_empty() && self.scope().items.is_empty() {
                        return Err(PgError::new(SqlState::SYNTAX_ERROR, "SELECT * with no tables specified is not valid")
                            .at(self.pos_span(options.wildcard_token.0.span)));
                    }
                    let names = stars.iter().map(|s| star_expr(s.item.map(|i| &self.scope().items[i]), &s.name)).collect();
                    self.stars.push((options.wildcard_token.0.span, names));
                    for star in stars.into_iter().filter(|s| !s.name.starts_with(super::search::HIDDEN)) {
                        self.note_origin(star.origin);
                        out.push(Target { name: star.name, expr: star.expr });
                    }
                }
                SelectItem::QualifiedWildcard(kind, options) => match kind {
                    ast::SelectItemQualifiedWildcardKind::ObjectName(name) => {
                        let parts = name_parts(name)?;
                        let (schema, table) = match parts.as_slice() {
                            [table] => (None, table.clone()),
                            [.., schema, table] => (Some(schema.clone()), table.clone()),
                            [] => continue,
                        };
                        let mut found = None;
                        for scope in self.scopes.iter().rev() {
                            found = scope.items.iter().find(|i| {
                                i.alias == table && !i.lateral_only && schema.as_ref().is_none_or(|s| i.schema.as_ref() == Some(s))
                            });
                            if found.is_some() {
                                break;
                            }
                        }
                        match found {
                            Some(item) => {
                                let item = item.clone();
                                let names = item.columns.iter().map(|c| star_expr(Some(&item), &c.name)).collect();
                                self.stars.push((options.wildcard_token.0.span, names));
                                for column in item.columns.into_iter().filter(|c| !c.name.starts_with(super::search::HIDDEN)) {
                                    self.note_origin(column.origin);
                                    out.push(Target { name: column.name, expr: column.expr });
                                }
                            }
                            None => {
                                // composite.* of a column
                                if schema.is_none()
                                    && self.scope().star.iter().any(|s| s.name == table && matches!(s.expr.ty.ty, PgType::Record(_)))
                                {
                                    let root = star_expr(None, &table);
                                    let first = out.len();
                                    self.expand_record(&root, &mut out)?;
                                    let names = out.iter().skip(first).map(|t| field_expr(&root, &[], &t.name)).collect();
                                    self.stars.push((options.wildcard_token.0.span, names));
                                } else {
                                    return Err(PgError::new(
                                        SqlState::UNDEFINED_TABLE,
                                        format!("missing FROM-clause entry for table \"{table}\""),
                                    )
                                    .at(self.pos(name)));
                                }
                            }
                        }
                    }
                    ast::SelectItemQualifiedWildcardKind::Expr(e) => self.expand_record(e, &mut out)?,
                },
                SelectItem::ExprWithAliases { .. } => return Err(PgError::new(SqlState::SYNTAX_ERROR, "syntax error in the select list")),
            }
        }
        Ok(out)
    }

    /// Adds what `(row).*` stands for, if this is one.
    fn expand_access(&mut self, e: &E, out: &mut Vec<Target>) -> PgResult<bool> {
        let Some(fields) = self.expanded(e)? else { return Ok(false) };
        if let Some(span) = fields_star(e)
            && let E::CompoundFieldAccess { root, access_chain } = super::expr::unnested(e)
        {
            let way = access_chain.split_last().map_or(&[][..], |(_, way)| way);
            let names = fields.iter().map(|(name, _)| field_expr(root, way, name)).collect();
            self.stars.push((span, names));
        }
        out.extend(fields.into_iter().map(|(name, expr)| Target { name, expr }));
        Ok(true)
    }

    /// The fields that `(row).*`, `(row).field.*` and `(t.*)` stand for; `None` for other expressions.
    pub(super) fn expanded(&mut self, e: &E) -> PgResult<Option<Vec<(String, Expr)>>> {
        let access = super::expr::unnested(e);
        let E::CompoundFieldAccess { root, access_chain } = access else { return Ok(None) };
        let Some((ast::AccessExpr::Dot(E::Wildcard(_)), way)) = access_chain.split_last() else { return Ok(None) };
        let value = match (&**root, way) {
            // The table of that name, rather than a column; a function's one column is no row.
            (E::Identifier(ident), []) => {
                let value = self.bind_expr(access)?;
                let alias = fold(ident);
                let item = self.scopes.iter().rev().flat_map(|s| &s.items).find(|i| i.alias == alias && i.scalar);
                match item.and_then(|i| i.columns.first()) {
                    Some(column) => return Ok(Some(vec![(column.name.clone(), value)])),
                    None => value,
                }
            }
            (root, []) => self.bind_expr(root)?,
            (root, way) => self.bind_expr(&E::CompoundFieldAccess { root: Box::new(root.clone()), access_chain: way.to_vec() })?,
        };
        self.fields_of(value, root).map(Some)
    }

    /// `(record).*`
    fn expand_record(&mut self, root: &E, out: &mut Vec<Target>) -> PgResult<()> {
        let value = self.bind_expr(root)?;
        out.extend(self.fields_of(value, root)?.into_iter().map(|(name, expr)| Target { name, expr }));
        Ok(())
    }

    fn fields_of(&mut self, value: Expr, root: &E) -> PgResult<Vec<(String, Expr)>> {
        let PgType::Record(Some(record)) = value.ty.ty.clone() else {
            return Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("type {} is not composite", value.ty.ty)).at(self.pos(root)));
        };
        record.fields.iter().map(|(name, _)| Ok((name.clone(), self.field(value.clone(), name)?))).collect()
    }

    /// GROUP BY: expressions, and grouping sets as positions among them.
    fn bind_group_by(&mut self, group_by: &ast::GroupByExpr, targets: &[Target]) -> PgResult<(Vec<Expr>, Option<Vec<Vec<usize>>>)> {
        let ast::GroupByExpr::Expressions(items, modifiers) = group_by else {
            return Err(PgError::new(SqlState::SYNTAX_ERROR, "syntax error at or near \"ALL\""));
        };
        if !modifiers.is_empty() {
            return Err(PgError::new(SqlState::SYNTAX_ERROR, "syntax error at or near \"WITH\""));
        }
        let mut groups: Vec<Expr> = Vec::new();
        // The product of what each item stands for.
        let mut sets: Vec<Vec<usize>> = vec![Vec::new()];
        let mut has_sets = false;
        let distinct = items.first().is_some_and(|e| stoa_syntax::marks::called(e) == Some(stoa_syntax::marks::GROUP_BY_DISTINCT));
        for item in items.iter().skip(usize::from(distinct)) {
            let alternatives = self.grouping_item(item, targets, &mut groups, &mut has_sets)?;
            let mut product = Vec::with_capacity(sets.len() * alternatives.len());
            for set in &sets {
                for alternative in &alternatives {
                    let mut joined = set.clone();
                    for i in alternative {
                        if !joined.contains(i) {
                            joined.push(*i);
                        }
                    }
                    product.push(joined);
                }
            }
            if product.len() > 4096 {
                return Err(PgError::new(SqlState::STATEMENT_TOO_COMPLEX, "too many grouping sets present (maximum 4096)"));
            }
            sets = product;
        }
        if distinct {
            let mut seen: Vec<Vec<usize>> = Vec::with_capacity(sets.len());
            sets.retain(|set| {
                let mut sorted = set.clone();
                sorted.sort_unstable();
                let new = !seen.contains(&sorted);
                seen.push(sorted);
                new
            });
        }
        Ok((groups, has_sets.then_some(sets)))
    }

    fn grouping_item(&mut self, item: &E, targets: &[Target], groups: &mut Vec<Expr>, has_sets: &mut bool) -> PgResult<Vec<Vec<usize>>> {
        let list = |b: &mut Self, exprs: &[E], groups: &mut Vec<Expr>| -> PgResult<Vec<usize>> {
            let mut out = Vec::new();
            for e in exprs {
                out.push(b.group_expr(e, targets, groups)?);
            }
            Ok(out)
        };
        match item {
            E::Rollup(parts) => {
                *has_sets = true;
                let parts = parts.iter().map(|p| list(self, p, groups)).collect::<PgResult<Vec<_>>>()?;
                Ok((0..=parts.len()).rev().map(|n| parts[..n].concat()).collect())
            }
            E::Cube(parts) => {
                *has_sets = true;
                let parts = parts.iter().map(|p| list(self, p, groups)).collect::<PgResult<Vec<_>>>()?;
                if parts.len() > 12 {
                    return Err(PgError::new(SqlState::TOO_MANY_COLUMNS, "CUBE is limited to 12 elements"));
                }
                let n = parts.len();
                Ok((0..1usize << n)
                    .map(|mask| (0..n).filter(|i| mask & (1 << (n - 1 - i)) == 0).flat_map(|i| parts[i].clone()).collect())
                    .collect())
            }
            E::GroupingSets(parts) => {
                *has_sets = true;
                let mut out = Vec::new();
                for part in parts {
                    // A ROLLUP or CUBE inside GROUPING SETS stands for its sets.
                    if let [inner @ (E::Rollup(_) | E::Cube(_) | E::GroupingSets(_))] = part.as_slice() {
                        out.extend(self.grouping_item(inner, targets, groups, has_sets)?);
                    } else if let [E::Tuple(items)] = part.as_slice() {
                        out.push(list(self, items, groups)?);
                    } else {
                        out.push(list(self, part, groups)?);
                    }
                }
                Ok(out)
            }
            E::Tuple(items) if items.is_empty() => {
                *has_sets = true;
                Ok(vec![Vec::new()])
            }
            E::Tuple(items) => Ok(vec![list(self, items, groups)?]),
            other => Ok(vec![vec![self.group_expr(other, targets, groups)?]]),
        }
    }

    /// One grouped expression: a position, a name, or an expression. Gives its place in `groups`.
    fn group_expr(&mut self, e: &E, targets: &[Target], groups: &mut Vec<Expr>) -> PgResult<usize> {
        let mut inner = e;
        while let E::Nested(next) = inner {
            inner = next;
        }
        let expr = match inner {
            E::Value(v) => match &v.value {
                ast::Value::Number(n, _) if n.bytes().all(|b| b.is_ascii_digit()) => {
                    self.target_at(n, targets, "GROUP BY").map_err(|err| err.at(self.pos(e)))?
                }
                ast::Value::Placeholder(_) => self.bind_expr(e)?,
                _ => return Err(PgError::new(SqlState::SYNTAX_ERROR, "non-integer constant in GROUP BY").at(self.pos(e))),
            },
            E::UnaryOp { op: ast::UnaryOperator::Minus, expr: digits } if integer_digits(digits).is_some() => {
                let number = format!("-{}", integer_digits(digits).unwrap_or_default());
                return Err(self
                    .target_at(&number, targets, "GROUP BY")
                    .err()
                    .unwrap_or_else(|| PgError::internal("a negative position"))
                    .at(self.pos(e)));
            }
            E::Identifier(ident) => {
                // An input column comes before a name of the select list.
                let name = fold(ident);
                match self.bind_expr(e) {
                    Ok(expr) => expr,
                    Err(error) if error.code() == SqlState::UNDEFINED_COLUMN => {
                        let mut found = targets.iter().filter(|t| t.name == name);
                        match found.next() {
                            Some(target) => target.expr.clone(),
                            None => return Err(error),
                        }
                    }
                    Err(error) => return Err(error),
                }
            }
            _ => self.bind_expr(e)?,
        };
        if has_aggregate(&expr) {
            return Err(PgError::new(SqlState::GROUPING_ERROR, "aggregate functions are not allowed in GROUP BY").at(self.pos(e)));
        }
        if expr.any(&mut |x| matches!(x.kind, ExprKind::Window(_))) {
            return Err(PgError::new(SqlState::WINDOWING_ERROR, "window functions are not allowed in GROUP BY").at(self.pos(e)));
        }
        let expr = self.resolve_unknown(expr)?;
        if lacks_equality(&expr.ty.ty) {
            return Err(no_equality(&expr.ty.ty).at(self.pos(e)));
        }
        if let Some(at) = groups.iter().position(|g| same_expr(g, &expr)) {
            return Ok(at);
        }
        groups.push(expr);
        Ok(groups.len() - 1)
    }

    fn target_at(&mut self, number: &str, targets: &[Target], clause: &str) -> PgResult<Expr> {
        number
            .parse::<usize>()
            .ok()
            .and_then(|n| n.checked_sub(1))
            .and_then(|i| targets.get(i))
            .map(|t| t.expr.clone())
            .ok_or_else(|| PgError::new(SqlState::INVALID_COLUMN_REFERENCE, format!("{clause} position {number} is not in select list")))
    }

    fn bind_order_by(&mut self, keys: &[&ast::OrderByExpr], targets: &[Target]) -> PgResult<Vec<SortKey>> {
        let mut out: Vec<SortKey> = Vec::with_capacity(keys.len());
        for key in keys {
            let expr = self.order_expr(&key.expr, targets, "ORDER BY")?;
            let expr = self.resolve_unknown(expr)?;
            let sort = self.sort_key(expr, &key.options).map_err(|e| e.at(self.pos(&key.expr)))?;
            if !out.iter().any(|k| same_expr(&k.expr, &sort.expr)) {
                out.push(sort);
            }
        }
        Ok(out)
    }

    /// An ORDER BY or DISTINCT ON item: a position, a name of the select list, or an expression over the input.
    fn order_expr(&mut self, e: &E, targets: &[Target], clause: &'static str) -> PgResult<Expr> {
        let mut inner = e;
        while let E::Nested(next) = inner {
            inner = next;
        }
        match inner {
            E::Value(v) => match &v.value {
                ast::Value::Number(n, _) if n.bytes().all(|b| b.is_ascii_digit()) => {
                    self.target_at(n, targets, clause).map_err(|err| err.at(self.pos(e)))
                }
                ast::Value::Placeholder(_) => self.bind_expr(e),
                _ => Err(PgError::new(SqlState::SYNTAX_ERROR, format!("non-integer constant in {clause}")).at(self.pos(e))),
            },
            E::UnaryOp { op: ast::UnaryOperator::Minus, expr: digits } if integer_digits(digits).is_some() => {
                let number = format!("-{}", integer_digits(digits).unwrap_or_default());
                self.target_at(&number, targets, clause).map_err(|err| err.at(self.pos(e)))
            }
            E::UnaryOp { op: ast::UnaryOperator::Minus, expr: digits } if is_number(digits) => {
                Err(PgError::new(SqlState::SYNTAX_ERROR, format!("non-integer constant in {clause}")).at(self.pos(e)))
            }
            E::Identifier(ident) => {
                let name = fold(ident);
                let mut found: Option<&Expr> = None;
                for target in targets.iter().filter(|t| t.name == name) {
                    if found.is_some_and(|f| !same_expr(f, &target.expr)) {
                        return Err(PgError::new(SqlState::AMBIGUOUS_COLUMN, format!("{clause} \"{name}\" is ambiguous")).at(self.pos(e)));
                    }
                    found = Some(&target.expr);
                }
                match found {
                    Some(expr) => Ok(expr.clone()),
                    None => self.bind_expr(e),
                }
            }
            _ => self.bind_expr(e),
        }
    }

    fn bind_distinct_on(&mut self, exprs: &[E], targets: &[Target]) -> PgResult<Vec<Expr>> {
        let mut out = Vec::with_capacity(exprs.len());
        for e in exprs {
            let expr = self.order_expr(e, targets, "SELECT DISTINCT ON")?;
            out.push(self.resolve_unknown(expr)?);
        }
        Ok(out)
    }

    /// 42P10 unless ORDER BY begins with the expressions of DISTINCT ON, in any order.
    fn check_distinct_on(&mut self, on: &[Expr], written: &[E], order: &[SortKey]) -> PgResult<()> {
        let mut seen = vec![false; on.len()];
        let mut others = false;
        let mut misplaced = None;
        for key in order {
            let key = self.resolve_unknown(key.expr.clone())?;
            let mut found = None;
            for (i, _) in on.iter().enumerate().filter(|(_, e)| same_expr(e, &key)) {
                seen[i] = true;
                found = found.or(Some(i));
            }
            match found {
                Some(i) if others => {
                    misplaced = Some(i);
                    break;
                }
                Some(_) => {}
                None => others = true,
            }
        }
        let missing = || seen.iter().position(|seen| !seen).filter(|_| others);
        match misplaced.or_else(missing) {
            None => Ok(()),
            Some(i) => {
                let message = "SELECT DISTINCT ON expressions must match initial ORDER BY expressions";
                let position = written.get(i).and_then(|e| self.pos(e));
                Err(PgError::new(SqlState::INVALID_COLUMN_REFERENCE, message).at(position))
            }
        }
    }

    /// Replaces window calls by columns.
    pub(crate) fn take_windows(&mut self, expr: &mut Expr, windows: &mut Vec<(ColId, super::tree::WindowExpr)>) {
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
    pub(crate) fn take_sets(&mut self, expr: &mut Expr, sets: &mut Vec<(Vec<ColId>, SetExpr)>) {
        fold_nulls_with_sets(expr);
        if let ExprKind::Set(set) = &mut expr.kind {
            let nested = set.args.iter().any(|a| a.any(&mut |e| matches!(e.kind, ExprKind::Set(_))));
            if !nested {
                let set = (**set).clone();
                let existing = sets.iter().find(|(_, s)| {
                    *s == set && !super::aggregate::walk_volatile(&Expr::new(ExprKind::Set(Box::new(s.clone())), s.ty.clone()))
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
    pub(crate) fn rows_of_sets(&mut self, list: &mut [Expr]) -> Option<Rel> {
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

fn is_number(e: &E) -> bool {
    matches!(e, E::Value(v) if matches!(v.value, ast::Value::Number(..)))
}

/// The digits of an integer constant.
fn integer_digits(e: &E) -> Option<&str> {
    match e {
        E::Value(ast::ValueWithSpan { value: ast::Value::Number(n, _), .. }) if n.bytes().all(|b| b.is_ascii_digit()) => Some(n),
        _ => None,
    }
}

/// The name that PostgreSQL gives a column without an alias; `None` for `?column?` and for a subquery of `*`.
pub(crate) fn column_name(e: &E) -> Option<String> {
    match e {
        E::Identifier(i) => Some(fold(i)),
        E::CompoundIdentifier(parts) => parts.last().map(fold),
        E::CompoundFieldAccess { root, access_chain } => access_chain
            .iter()
            .rev()
            .find_map(|a| match a {
                ast::AccessExpr::Dot(E::Identifier(i)) => Some(fold(i)),
                _ => None,
            })
            .or_else(|| column_name(root)),
        E::Nested(inner) | E::Collate { expr: inner, .. } => column_name(inner),
        E::Subquery(query) => subquery_column(&query.body),
        E::Cast { expr, data_type, .. } => column_name(expr).filter(|_| !weak_name(expr)).or_else(|| type_column_name(data_type)),
        E::TypedString(typed) => type_column_name(&typed.data_type),
        E::Interval(_) => Some("interval".into()),
        E::Function(f) => f.name.0.last().map(|p| match p {
            ast::ObjectNamePart::Identifier(i) => fold(i),
            ast::ObjectNamePart::Function(f) => fold(&f.name),
        }),
        E::Case { else_result, .. } => {
            else_result.as_ref().filter(|e| !weak_name(e)).and_then(|e| column_name(e)).or_else(|| Some("case".into()))
        }
        E::Exists { .. } => Some("exists".into()),
        E::Array(_) => Some("array".into()),
        E::Tuple(_) => Some("row".into()),
        E::AtTimeZone { .. } => Some("timezone".into()),
        E::Extract { .. } => Some("extract".into()),
        E::Ceil { .. } => Some("ceil".into()),
        E::Floor { .. } => Some("floor".into()),
        E::Position { .. } => Some("position".into()),
        E::Substring { shorthand, .. } => Some(if *shorthand { "substr".into() } else { "substring".into() }),
        E::Overlay { .. } => Some("overlay".into()),
        E::Trim { trim_where, .. } => Some(
            match trim_where {
                Some(ast::TrimWhereField::Leading) => "ltrim",
                Some(ast::TrimWhereField::Trailing) => "rtrim",
                _ => "btrim",
            }
            .into(),
        ),
        E::IsNormalized { negated: false, .. } => Some("is_normalized".into()),
        E::BinaryOp { op: ast::BinaryOperator::Overlaps, .. } => Some("overlaps".into()),
        _ => None,
    }
}

/// The name of a subquery's first column, which has one, even if it is none.
fn subquery_column(body: &ast::SetExpr) -> Option<String> {
    match body {
        ast::SetExpr::Select(select) => match select.projection.first()? {
            SelectItem::UnnamedExpr(e) => Some(column_name(e).unwrap_or_else(|| "?column?".into())),
            SelectItem::ExprWithAlias { alias, .. } => Some(fold(alias)),
            _ => None,
        },
        ast::SetExpr::SetOperation { left, .. } => subquery_column(left),
        ast::SetExpr::Query(query) => subquery_column(&query.body),
        ast::SetExpr::Values(_) => Some("column1".into()),
        _ => None,
    }
}

/// Names that give way to a better one: of casts and CASE.
fn weak_name(e: &E) -> bool {
    match e {
        E::Nested(inner) => weak_name(inner),
        E::Cast { expr, .. } => weak_name(expr) || column_name(expr).is_none(),
        E::TypedString(_) | E::Interval(_) => true,
        E::CompoundFieldAccess { root, access_chain } => {
            weak_name(root) && !access_chain.iter().any(|a| matches!(a, ast::AccessExpr::Dot(E::Identifier(_))))
        }
        E::Case { else_result, .. } => else_result.as_ref().is_none_or(|e| weak_name(e) || column_name(e).is_none()),
        _ => false,
    }
}

fn type_column_name(data_type: &ast::DataType) -> Option<String> {
    if let ast::DataType::Array(ast::ArrayElemTypeDef::SquareBracket(inner, _)) = data_type {
        return type_column_name(inner);
    }
    super::type_name::sql_type(data_type)
        .ok()
        .map(|t| t.ty.name())
        .or_else(|| type_by_name(&data_type.to_string().to_lowercase()).map(|t| t.name()))
}

/// The columns of a scan's row key, in the order of its parts.
pub(crate) fn key_columns(scan: &TableScan) -> Vec<(ColId, Expr)> {
    let parts = scan.table.key.iter().filter_map(|part| {
        let (_, id) = scan.columns.iter().find(|(c, _)| *c == part.column)?;
        Some((*id, Expr::column(*id, scan.table.column(part.column)?.ty.clone())))
    });
    parts.collect()
}

/// Lets a column of a scan pass through the projections above it; whether the scan is here.
pub(crate) fn hand_on(rel: &mut Rel, id: ColId, expr: &Expr) -> bool {
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

fn has_subquery(expr: &Expr) -> bool {
    let mut has = false;
    walk::visit_subqueries(expr, &mut |_| has = true);
    has
}

fn column_id(expr: &Expr) -> Option<ColId> {
    if let ExprKind::Column(id) = expr.kind { Some(id) } else { None }
}
