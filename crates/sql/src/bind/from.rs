//! FROM: tables, views, subqueries, joins; and what each lets the others see.

use super::expr::and;
use super::history::{HistoryFunction, no_past};
use super::promoted::Past;
use super::scope::{Clause, FromItem, Lockable, Refusal, Scope, ScopeColumn, StarColumn};
use super::search::HIDDEN;
use super::sqlparser_span::Span;
use super::table_function::CallInFrom;
use super::undeclared::refuse_typed;
use super::{Binder, CteColumn, MAX_VIEWS, fold, name_parts, row_address};
use crate::catalog::names::is_security_barrier;
use crate::system_relations::{self, Definition};
use crate::typed::tree::{ColId, Expr, ExprKind, JoinKind, Rel, TableScan};
use std::collections::HashSet;
use std::sync::Arc;
use stoa_pg::registry::CastContext;
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_syntax::ast::{self, Expr as E, FunctionArg, FunctionArgExpr, JoinConstraint, JoinOperator, Spanned, TableFactor};
use stoa_syntax::marks;
use stoa_table::catalog::{Relation, TableDescriptor, ViewDescriptor};

/// A FROM item that was bound: its relation, and whether it refers to items to its left.
pub struct Bound {
    pub(super) rel: Rel,
    pub(super) lateral: bool,
}

impl Binder<'_> {
    /// Binds the FROM list into the innermost scope.
    pub fn bind_from(&mut self, from: &[ast::TableWithJoins]) -> PgResult<Rel> {
        let mut rel: Option<Rel> = None;
        for item in from {
            let right = self.bind_joined(item)?;
            rel = Some(match rel {
                None => right.rel,
                Some(left) => self.join(left, right, JoinKind::Inner, None),
            });
        }
        Ok(rel.unwrap_or(Rel::One))
    }

    fn join(&mut self, left: Rel, right: Bound, kind: JoinKind, on: Option<Expr>) -> Rel {
        Rel::Join { left: Box::new(left), right: Box::new(right.rel), kind, on, lateral: right.lateral }
    }

    fn bind_joined(&mut self, item: &ast::TableWithJoins) -> PgResult<Bound> {
        let first_item = self.scope().items.len();
        let first_star = self.scope().star.len();
        let mut left = self.bind_factor(&item.relation)?;
        for join in &item.joins {
            let right_item = self.scope().items.len();
            let right_star = self.scope().star.len();
            let (kind, constraint) = join_kind(&join.join_operator)?;
            // A LATERAL item may not refer to the side that a RIGHT or FULL join extends with NULLs.
            if matches!(kind, JoinKind::Right | JoinKind::Full) {
                self.each_item(first_item, right_item, |i| i.refused = Some(Refusal::Nullable));
            }
            let right = self.bind_factor(&join.relation);
            self.each_item(first_item, right_item, |i| i.refused = None);
            let mut right = right?;
            let on = match constraint {
                JoinConstraint::On(on) => {
                    // Only the two sides are visible.
                    self.each_item(0, first_item, |i| i.lateral_only = true);
                    let bound = self.in_clause(Clause::JoinOn, |b| {
                        let e = b.bind_expr(on)?;
                        b.coerce_condition(e, "JOIN/ON").map_err(|e| e.at(b.pos(on)))
                    });
                    self.each_item(0, first_item, |i| i.lateral_only = false);
                    Some(bound?)
                }
                JoinConstraint::Using(names) => {
                    let mut columns = Vec::with_capacity(names.len());
                    let mut alias = None;
                    for name in names {
                        if let Some(E::Identifier(name)) =
                            name.0.first().and_then(|part| marks::in_part(part, marks::USING_ALIAS)).and_then(|args| args.first().copied())
                        {
                            alias = Some((fold(name), self.pos_span(name.span)));
                            continue;
                        }
                        let column = name_parts(name)?.pop().unwrap_or_default();
                        if columns.contains(&column) {
                            return Err(PgError::new(
                                SqlState::DUPLICATE_COLUMN,
                                format!("column name \"{column}\" appears more than once in USING clause"),
                            ));
                        }
                        columns.push(column);
                    }
                    let on = self.merge_using(&columns, first_star, right_star, kind)?;
                    if let Some((alias, position)) = alias {
                        self.name_merged(alias, first_star, columns.len()).map_err(|e| e.at(position))?;
                    }
                    on
                }
                JoinConstraint::Natural => {
                    let scope = self.scope();
                    let right: HashSet<&str> = scope.star[right_star..].iter().map(|s| s.name.as_str()).collect();
                    let columns: Vec<String> = scope.star[first_star..right_star]
                        .iter()
                        .filter(|s| !s.name.starts_with(HIDDEN))
                        .filter(|s| right.contains(s.name.as_str()))
                        .map(|s| s.name.clone())
                        .collect();
                    let in_text = !self.in_definition();
                    if let (Some(meant), true) = (&mut self.meant, in_text) {
                        meant.natural.insert(join.relation.span(), columns.clone());
                    }
                    self.merge_using(&columns, first_star, right_star, kind)?
                }
                JoinConstraint::None => {
                    let cross = matches!(join.join_operator, JoinOperator::CrossJoin(_));
                    if !cross {
                        return Err(PgError::new(SqlState::SYNTAX_ERROR, "syntax error: a join needs ON or USING"));
                    }
                    None
                }
            };
            self.full_joins |= kind == JoinKind::Full;
            self.outer_joins |= matches!(kind, JoinKind::Left | JoinKind::Right | JoinKind::Full);
            let here = self.scope().items.len();
            if matches!(kind, JoinKind::Left | JoinKind::Full) {
                right.rel = self.fill_with_nulls(right.rel, right_item, here);
            }
            if matches!(kind, JoinKind::Right | JoinKind::Full) {
                left.rel = self.fill_with_nulls(left.rel, first_item, right_item);
            }
            // The right side may refer to an item further left than its own join.
            let lateral = left.lateral || right.lateral;
            let rel = self.join(left.rel, right, kind, on);
            left = Bound { rel, lateral };
        }
        Ok(left)
    }

    pub fn scope(&self) -> &Scope {
        // A scope is pushed before FROM is bound.
        static EMPTY: std::sync::LazyLock<Scope> = std::sync::LazyLock::new(|| Scope::new(Clause::From));
        self.scopes.last().unwrap_or(&EMPTY)
    }

    pub(super) fn each_item(&mut self, from: usize, to: usize, f: impl Fn(&mut FromItem)) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.items[from..to].iter_mut().for_each(f);
        }
    }

    /// USING and NATURAL: the condition, and one merged column in place of each pair.
    fn merge_using(&mut self, columns: &[String], left_star: usize, right_star: usize, kind: JoinKind) -> PgResult<Option<Expr>> {
        let mut conditions = Vec::with_capacity(columns.len());
        let mut merged = Vec::with_capacity(columns.len());
        for name in columns {
            let find = |range: &[StarColumn], side: &str| -> PgResult<StarColumn> {
                let mut found = range.iter().filter(|s| s.name == *name);
                let first = found.next().cloned().ok_or_else(|| {
                    PgError::new(
                        SqlState::UNDEFINED_COLUMN,
                        format!("column \"{name}\" specified in USING clause does not exist in {side} table"),
                    )
                })?;
                if found.next().is_some() {
                    return Err(PgError::new(
                        SqlState::AMBIGUOUS_COLUMN,
                        format!("common column name \"{name}\" appears more than once in {side} table"),
                    ));
                }
                Ok(first)
            };
            let star = &self.scope().star;
            let left = find(&star[left_star..right_star], "left")?;
            let right = find(&star[right_star..], "right")?;
            self.note_origin(left.origin);
            self.note_origin(right.origin);
            let ty = self.common_type([&left.expr, &right.expr], "JOIN/USING")?;
            // Either side's will do for an inner join: one that is of the type as it is, with its modifier, goes before.
            let same = left.expr.ty.ty == right.expr.ty.ty && left.expr.ty.typmod == right.expr.ty.typmod;
            let fits = |column: &StarColumn| same || (column.expr.ty.ty == ty && column.expr.ty.typmod == -1);
            let of_right = kind == JoinKind::Right || (kind == JoinKind::Inner && !fits(&left) && fits(&right));
            conditions.push(self.operator("=", Some(left.expr.clone()), right.expr.clone())?);
            let origin = if of_right { right.origin } else { left.origin };
            let expr = if kind == JoinKind::Full {
                let (both, ty) = self.unify(vec![left.expr, right.expr], "JOIN/USING")?;
                Expr::new(ExprKind::Coalesce(both), ty)
            } else {
                self.coerce(if of_right { right.expr } else { left.expr }, &SqlType::new(ty), CastContext::Implicit)?
            };
            merged.push(StarColumn { name: name.clone(), expr, item: None, origin });
        }
        if let Some(scope) = self.scopes.last_mut() {
            let mut rest: Vec<StarColumn> = scope.star.split_off(left_star);
            rest.retain(|s| !columns.contains(&s.name));
            scope.star.extend(merged);
            scope.star.extend(rest);
        }
        Ok(if conditions.is_empty() { None } else { Some(and(conditions)) })
    }

    /// `JOIN … USING (…) AS alias`: the merged columns, which begin at `first` of `*`, under a name of their own too.
    fn name_merged(&mut self, alias: String, first: usize, count: usize) -> PgResult<()> {
        let merged = self.scope().star.iter().skip(first).take(count);
        let columns = merged.map(|s| ScopeColumn { name: s.name.clone(), expr: s.expr.clone(), origin: s.origin }).collect();
        let item = FromItem { joined: true, lockable: Lockable::No("a join"), ..self.aliased(columns, None, alias)? };
        let Some(scope) = self.scopes.last_mut() else { return Ok(()) };
        is_new(scope, &item)?;
        scope.items.push(item);
        Ok(())
    }

    /// Adds an item under its alias; the alias must be new.
    pub(super) fn push_item(&mut self, item: FromItem, position: Option<usize>) -> PgResult<()> {
        let Some(scope) = self.scopes.last_mut() else { return Ok(()) };
        is_new(scope, &item).map_err(|e| e.at(position))?;
        for c in &item.columns {
            if let ExprKind::Column(id) = c.expr.kind {
                scope.local.insert(id);
            }
        }
        scope.add_item(item);
        Ok(())
    }

    pub(super) fn bind_item(&mut self, factor: &TableFactor) -> PgResult<Bound> {
        match factor {
            factor if HistoryFunction::of(factor).is_some() => self.bind_history_function(factor),
            TableFactor::Table { name, alias, args: None, version, sample, with_ordinality: false, .. } => {
                let mut bound = self.bind_table(name, alias.as_ref(), version.as_ref())?;
                if let Some(sample) = sample {
                    bound.rel = self.bind_sample(bound.rel, sample)?;
                }
                Ok(bound)
            }
            TableFactor::Table { name, alias, args, with_ordinality, .. } => {
                let args = args.as_ref().map_or(&[][..], |a| &a.args);
                self.bind_table_function(&[CallInFrom::new(name, args)], alias.as_ref(), *with_ordinality)
            }
            TableFactor::Function { name, args, with_ordinality, alias, .. } if marks::is_name(name, marks::ROWS_FROM) => {
                let mut calls = Vec::with_capacity(args.len());
                for arg in args {
                    match arg {
                        FunctionArg::Unnamed(FunctionArgExpr::Expr(E::Function(f))) => {
                            let call = CallInFrom::new(&f.name, arguments(f));
                            calls.push(CallInFrom { definitions: marks::defines(f), ..call });
                        }
                        other => return Err(PgError::unsupported(format!("{other} in ROWS FROM is not supported"))),
                    }
                }
                self.bind_table_function(&calls, alias.as_ref(), *with_ordinality)
            }
            TableFactor::Function { name, args, with_ordinality, alias, .. } => {
                self.bind_table_function(&[CallInFrom::new(name, args)], alias.as_ref(), *with_ordinality)
            }
            TableFactor::UNNEST { alias, array_exprs, with_ordinality, .. } => {
                // Several arrays run in step: ROWS FROM (unnest(a), unnest(b)).
                let unnest = ast::ObjectName::from(vec![ast::Ident::new("unnest")]);
                let of = |e: &E| CallInFrom::new(&unnest, &[FunctionArg::Unnamed(FunctionArgExpr::Expr(e.clone()))]);
                let calls: Vec<CallInFrom> = array_exprs.iter().map(of).collect();
                self.bind_table_function(&calls, alias.as_ref(), *with_ordinality)
            }
            TableFactor::TableFunction { expr: E::Function(f), alias } => {
                self.bind_table_function(&[CallInFrom::new(&f.name, arguments(f))], alias.as_ref(), false)
            }
            TableFactor::Derived { lateral, subquery, alias, .. } => self.bind_derived(*lateral, subquery, alias.as_ref()),
            TableFactor::NestedJoin { table_with_joins, alias } => self.bind_nested(table_with_joins, alias.as_ref()),
            other => Err(PgError::unsupported(format!("FROM item is not supported: {other}"))),
        }
    }

    /// A join in brackets; an alias hides the names inside.
    fn bind_nested(&mut self, joined: &ast::TableWithJoins, alias: Option<&ast::TableAlias>) -> PgResult<Bound> {
        let Some(alias) = alias else { return self.bind_joined(joined) };
        let first_item = self.scope().items.len();
        let first_star = self.scope().star.len();
        // What the join holds is hidden by its alias, and may have names that are taken outside.
        let names_from = self.scopes.last_mut().map_or(0, |scope| std::mem::replace(&mut scope.names_from, first_item));
        let bound = self.bind_joined(joined);
        let Some(scope) = self.scopes.last_mut() else { return bound };
        scope.names_from = names_from;
        let bound = bound?;
        let stars = scope.star.split_off(first_star);
        scope.items.truncate(first_item);
        let columns = stars.into_iter().map(|s| ScopeColumn { name: s.name, expr: s.expr, origin: s.origin }).collect();
        let item = FromItem { joined: true, lockable: Lockable::No("a join"), ..self.aliased(columns, Some(alias), String::new())? };
        self.push_item(item, self.pos_span(alias.name.span))?;
        Ok(bound)
    }

    /// The table as the catalog shares it.
    pub(super) fn shared_table(&self, table: &TableDescriptor) -> Arc<TableDescriptor> {
        self.ctx.catalog.shared_table(table.oid).unwrap_or_else(|| Arc::new(table.clone()))
    }

    pub(super) fn bind_table(
        &mut self,
        name: &ast::ObjectName,
        alias: Option<&ast::TableAlias>,
        version: Option<&ast::TableVersion>,
    ) -> PgResult<Bound> {
        let position = self.pos(name);
        let parts = name_parts(name)?;
        if let [single] = parts.as_slice()
            && let Some(entry) = self.cte_scope.iter().rev().find(|c| c.name == *single).cloned()
        {
            let bound = no_past(version, single).and_then(|()| refuse_typed(alias)).and_then(|()| self.bind_cte_reference(&entry, alias));
            return bound.map_err(|e| e.at(position));
        }
        let (schema, relation_name, found) = self.find_relation(name).map_err(|e| e.at(position))?;
        let in_text = !self.in_definition();
        if let (Some(meant), true) = (&mut self.meant, in_text) {
            meant.relations.insert(name.span());
        }
        refuse_typed(alias.filter(|_| !matches!(found.as_deref(), Some(Relation::Table(_))))).map_err(|e| e.at(position))?;
        match found.as_deref() {
            Some(Relation::Table(table)) => {
                let table = self.shared_table(table);
                if let Some(period @ ast::TableVersion::Function(_)) = version {
                    return self.bind_period(&table, schema, alias, period, name.span());
                }
                self.bind_base_table(&table, schema, alias, version, name.span())
            }
            Some(Relation::View(view)) => {
                no_past(version, &view.name).map_err(|e| e.at(position))?;
                let view = view.clone();
                self.bind_view(&view, schema, alias, name.span())
            }
            Some(Relation::Sequence(sequence)) => {
                no_past(version, &sequence.name).map_err(|e| e.at(position))?;
                let (oid, name) = (sequence.oid, sequence.name.clone());
                self.bind_sequence(oid, &name, alias, position)
            }
            None => {
                if let Some(definition) = system_relations::find(&schema, &relation_name) {
                    no_past(version, &relation_name).map_err(|e| e.at(position))?;
                    return self.bind_virtual(definition, None, alias, name.span());
                }
                Err(self.undefined_table(&parts).at(position))
            }
        }
    }

    /// Whether a name, of a schema or along the search path, is that of an index or a primary key.
    fn names_index(&self, parts: &[String]) -> bool {
        let catalog = self.ctx.catalog;
        let is_index =
            |schema, name: &str| catalog.index_by_name(schema, name).is_some() || catalog.primary_key_named(schema, name).is_some();
        match parts {
            [name] => self.ctx.search_path.iter().any(|schema| is_index(*schema, name)),
            [.., schema, name] => catalog.schema_by_name(schema).is_some_and(|schema| is_index(schema.oid, name)),
            [] => false,
        }
    }

    /// 42P01 with a hint when a near name exists; 42809 for the name of an index.
    pub fn undefined_table(&self, parts: &[String]) -> PgError {
        if self.names_index(parts) {
            let name = parts.last().map_or("", String::as_str);
            return PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{name}\" is an index"));
        }
        let full = parts.join(".");
        let error = PgError::new(SqlState::UNDEFINED_TABLE, format!("relation \"{full}\" does not exist"));
        if let [single] = parts
            && self.later_ctes.contains(single)
        {
            return error
                .detail(format!("There is a WITH item named \"{single}\", but it cannot be referenced from this part of the query."))
                .hint("Use WITH RECURSIVE, or re-order the WITH items to remove forward references.");
        }
        let wanted = parts.last().map_or("", String::as_str);
        let names: Vec<&str> = self
            .ctx
            .catalog
            .relations()
            .filter(|r| self.ctx.search_path.contains(&r.schema()))
            .map(|r| r.name())
            .chain(self.cte_scope.iter().map(|c| c.name.as_str()))
            .collect();
        match super::suggest::closest(wanted, names) {
            Some(better) => error.hint(format!("Perhaps you meant the table \"{better}\".")),
            None => error,
        }
    }

    fn bind_base_table(
        &mut self,
        table: &Arc<TableDescriptor>,
        schema: String,
        alias: Option<&ast::TableAlias>,
        version: Option<&ast::TableVersion>,
        place: Span,
    ) -> PgResult<Bound> {
        let position = self.pos_span(place);
        self.note_reading(table.oid);
        let (mut scan, mut item) = self.scan_table(table, alias)?;
        if alias.is_none() {
            item.schema = Some(schema);
            item.place = Some(place);
        }
        if let Some(version) = version {
            let (ast::TableVersion::ForSystemTimeAsOf(e) | ast::TableVersion::TimestampAsOf(e)) = version else {
                return Err(PgError::unsupported("this table version is not supported").at(position));
            };
            let time = self.bind_time(e)?;
            super::map::read_as_of(&mut item.columns, &time);
            self.show_past(table, &mut item.columns, &scan.columns, &Past::At(&time))?;
            scan.as_of = Some(Box::new(time));
        }
        self.push_item(item, position)?;
        Ok(Bound { rel: Rel::Scan(Box::new(scan)), lateral: false })
    }

    /// A scan of a table under fresh column ids, and the FROM item that shows it.
    pub fn scan_table(&mut self, table: &Arc<TableDescriptor>, alias: Option<&ast::TableAlias>) -> PgResult<(TableScan, FromItem)> {
        self.note_use(table.oid, None);
        let mut columns = Vec::new();
        let mut visible = Vec::new();
        for column in table.live_columns() {
            columns.push((column.id, self.new_col()));
        }
        for column in table.visible_columns() {
            let expr = self.column_of_scan(table, column, &columns);
            visible.push(ScopeColumn { name: column.name.clone(), expr, origin: Some((table.oid, column.id.0)) });
        }
        self.add_score(table, &mut columns);
        let mut item = self.item_of_table(table, visible, alias)?;
        item.table_oid = Some(table.oid);
        item.address = row_address::key_of(table, |id| columns.iter().find(|(c, _)| *c == id).map(|(_, id)| *id));
        if alias.is_none() {
            item.schema = self.schema_of(table);
        }
        if table.primary_key.is_some() {
            item.key = Some(table.key_columns().filter_map(|p| columns.iter().find(|(c, _)| *c == p.column).map(|(_, id)| *id)).collect());
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.local.extend(columns.iter().map(|(_, id)| *id));
        }
        let hints = self.hints_of(&item.alias, table);
        self.secured |= self.has_conditions(table);
        let (alias, scan_id) = (item.alias.clone(), self.new_scan());
        let scan = TableScan {
            table: table.clone(),
            columns,
            alias,
            as_of: None,
            until: None,
            hints,
            scan_id,
            rows_decided: false,
            sees_own: false,
        };
        Ok((scan, item))
    }

    /// The schema by which columns of a table without an alias may be named.
    pub fn schema_of(&self, table: &TableDescriptor) -> Option<String> {
        self.ctx.catalog.schema(table.schema).map(|s| s.name.clone())
    }

    /// A system relation, of whose columns one may be hidden.
    pub(super) fn bind_virtual(
        &mut self,
        definition: &'static Definition,
        without: Option<&str>,
        alias: Option<&ast::TableAlias>,
        place: Span,
    ) -> PgResult<Bound> {
        let position = self.pos_span(place);
        let (schema, name, oid) = (&definition.schema, &definition.name, definition.oid);
        self.note_access(oid, stoa_table::catalog::Privileges::SELECT);
        let mut rel_columns = Vec::with_capacity(definition.columns.len());
        let mut visible = Vec::with_capacity(definition.columns.len());
        for (number, (column, ty)) in (1..).zip(&definition.columns) {
            let id = self.new_col();
            rel_columns.push((id, column.clone(), ty.clone()));
            if without != Some(column.as_str()) {
                visible.push(ScopeColumn { name: column.clone(), expr: Expr::column(id, ty.clone()), origin: Some((oid, number)) });
            }
        }
        let fields = names_of(&visible, alias);
        let mut item = self.aliased(visible, alias, name.clone())?;
        item.fields = fields;
        item.table_oid = Some(oid);
        if alias.is_none() {
            item.schema = Some(schema.clone());
            item.place = Some(place);
        }
        self.push_item(item, position)?;
        Ok(Bound { rel: Rel::Virtual { schema: schema.clone(), name: name.clone(), columns: rel_columns }, lateral: false })
    }

    /// `SELECT last_value FROM sequence`.
    fn bind_sequence(&mut self, oid: u32, name: &str, alias: Option<&ast::TableAlias>, position: Option<usize>) -> PgResult<Bound> {
        self.note_reading(oid);
        let columns = vec![
            ("last_value".to_owned(), SqlType::new(PgType::Int8)),
            ("log_cnt".to_owned(), SqlType::new(PgType::Int8)),
            ("is_called".to_owned(), SqlType::new(PgType::Bool)),
        ];
        let mut rel_columns = Vec::new();
        let mut visible = Vec::new();
        for ((column, ty), number) in columns.into_iter().zip(1..) {
            let id = self.new_col();
            rel_columns.push((id, column.clone(), ty.clone()));
            visible.push(ScopeColumn { name: column, expr: Expr::column(id, ty), origin: Some((oid, number)) });
        }
        let mut item = self.aliased(visible, alias, name.to_owned())?;
        item.table_oid = Some(oid);
        self.push_item(item, position)?;
        Ok(Bound { rel: Rel::Virtual { schema: "stoa_sequence".into(), name: oid.to_string(), columns: rel_columns }, lateral: false })
    }

    fn bind_view(&mut self, view: &ViewDescriptor, schema: String, alias: Option<&ast::TableAlias>, place: Span) -> PgResult<Bound> {
        let position = self.pos_span(place);
        self.note_reading(view.oid);
        if let Some(storage) = view.materialized
            && let Some(table) = self.ctx.catalog.shared_table(storage)
        {
            if view.unpopulated {
                self.unpopulated.get_or_insert_with(|| view.name.as_str().into());
            }
            let (scan, mut item) = self.scan_table(&table, alias)?;
            // Its columns stay those of the table, by which indexes know them.
            item.table_oid = Some(view.oid);
            if alias.is_none() {
                item.alias.clone_from(&view.name);
                item.schema = Some(schema);
                item.place = Some(place);
            }
            self.push_item(item, position)?;
            return Ok(Bound { rel: Rel::Scan(Box::new(scan)), lateral: false });
        }
        // A definition may go in a circle: it is who reads it that finds no end.
        let circle = self.meant.is_some() && self.views.contains(&view.oid);
        let (rel, outputs) = if circle { self.declared_columns(view)? } else { self.bind_definition(view)? };
        let columns: Vec<(String, Expr)> =
            outputs.into_iter().zip(&view.columns).map(|((col, ty), declared)| (declared.name.clone(), Expr::column(col, ty))).collect();
        let mut visible: Vec<ScopeColumn> = columns
            .into_iter()
            .enumerate()
            .map(|(i, (name, expr))| ScopeColumn { name, expr, origin: Some((view.oid, i as u32 + 1)) })
            .collect();
        let fields = names_of(&visible, alias);
        self.hide_later(&mut visible, alias);
        let mut item = self.aliased(visible, alias, view.name.clone())?;
        item.fields = fields;
        item.table_oid = Some(view.oid);
        if alias.is_none() {
            item.schema = Some(schema);
            item.place = Some(place);
        }
        self.push_item(item, position)?;
        let rel = if is_security_barrier(view) { self.barrier(rel) } else { rel };
        Ok(Bound { rel, lateral: false })
    }

    /// The query of a view, with its columns.
    fn bind_definition(&mut self, view: &ViewDescriptor) -> PgResult<(Rel, Vec<(ColId, SqlType)>)> {
        self.enter_view(view)?;
        let parsed = stoa_syntax::parse(&view.sql).map_err(super::syntax_error)?;
        let Some(ast::Statement::Query(query)) = parsed.first().map(|p| &p.statement) else {
            return Err(PgError::internal(format!("the definition of view \"{}\" is not a query", view.name)));
        };
        // A view knows nothing of the statement around it, and columns are noted for the view alone.
        let scopes = std::mem::take(&mut self.scopes);
        let ctes = std::mem::take(&mut self.cte_scope);
        let uses = std::mem::take(&mut self.uses);
        let no_sets = self.no_sets.take();
        let bound = self.bind_query(query);
        self.scopes = scopes;
        self.cte_scope = ctes;
        self.uses = uses;
        self.no_sets = no_sets;
        self.views.pop();
        let bound = bound.map_err(|mut e| {
            e.fields_mut().position = None;
            e
        })?;
        Ok((bound.rel, bound.outputs.into_iter().map(|output| (output.col, output.ty)).collect()))
    }

    /// The columns of a view, and no rows of it that would be anything.
    fn declared_columns(&mut self, view: &ViewDescriptor) -> PgResult<(Rel, Vec<(ColId, SqlType)>)> {
        let columns: Vec<(ColId, SqlType)> = view.columns.iter().map(|column| (self.new_col(), column.ty.clone())).collect();
        let exprs = columns.iter().map(|(id, ty)| Ok((*id, super::dml::null_of(ty)?))).collect::<PgResult<_>>()?;
        Ok((Rel::Project { input: Box::new(Rel::One), exprs }, columns))
    }

    /// Notes that a view is expanded now.
    ///
    /// # Errors
    /// 42P17 for a view that is made of itself, 54001.
    pub(super) fn enter_view(&mut self, view: &ViewDescriptor) -> PgResult<()> {
        if self.views.contains(&view.oid) {
            return Err(PgError::new(
                SqlState::INVALID_OBJECT_DEFINITION,
                format!("infinite recursion detected in rules for relation \"{}\"", view.name),
            ));
        }
        if self.views.len() >= MAX_VIEWS {
            return Err(PgError::new(SqlState::STATEMENT_TOO_COMPLEX, format!("view \"{}\" is nested too deeply", view.name)));
        }
        self.views.push(view.oid);
        Ok(())
    }

    fn bind_cte_reference(&mut self, entry: &super::CteEntry, alias: Option<&ast::TableAlias>) -> PgResult<Bound> {
        if !entry.readable {
            return Err(PgError::unsupported(format!("WITH query \"{}\" does not have a RETURNING clause", entry.name)));
        }
        let sources: Vec<ColId> = self.cte_columns(entry.id);
        let mut columns = Vec::with_capacity(entry.columns.len());
        let mut visible = Vec::with_capacity(entry.columns.len());
        for (CteColumn { name, ty, origin }, source) in entry.columns.iter().zip(sources) {
            let id = self.new_col();
            columns.push((id, source, ty.clone()));
            visible.push(ScopeColumn { name: name.clone(), expr: Expr::column(id, ty.clone()), origin: *origin });
        }
        let item = FromItem { lockable: Lockable::No("a WITH query"), ..self.aliased(visible, alias, entry.name.clone())? };
        self.push_item(item, None)?;
        Ok(Bound { rel: Rel::CteScan { cte: entry.id, columns }, lateral: false })
    }

    fn bind_derived(&mut self, lateral: bool, subquery: &ast::Query, alias: Option<&ast::TableAlias>) -> PgResult<Bound> {
        let Some(alias) = alias else {
            return Err(PgError::new(SqlState::SYNTAX_ERROR, "subquery in FROM must have an alias")
                .hint("For example, FROM (SELECT ...) [AS] foo."));
        };
        let count = self.scope().items.len();
        if !lateral {
            self.each_item(0, count, |i| i.lateral_only = true);
        }
        let query = self.bind_query(subquery);
        if !lateral {
            self.each_item(0, count, |i| i.lateral_only = false);
        }
        let query = query?;
        let visible = query
            .outputs
            .iter()
            .map(|o| ScopeColumn { name: o.name.clone(), expr: Expr::column(o.col, o.ty.clone()), origin: o.origin })
            .collect();
        let mut item = self.aliased(visible, Some(alias), String::new())?;
        // A subquery that only passes a table through keeps no key.
        item.key = None;
        self.push_item(item, self.pos_span(alias.name.span))?;
        Ok(Bound { rel: query.rel, lateral })
    }

    fn bind_sample(&mut self, rel: Rel, sample: &ast::TableSampleKind) -> PgResult<Rel> {
        let (ast::TableSampleKind::BeforeTableAlias(sample) | ast::TableSampleKind::AfterTableAlias(sample)) = sample;
        let method = sample.name.as_ref().map(|n| n.to_string().to_lowercase()).unwrap_or_default();
        let system = match method.as_str() {
            "system" => true,
            "bernoulli" => false,
            other => return Err(PgError::new(SqlState::UNDEFINED_OBJECT, format!("tablesample method {other} does not exist"))),
        };
        let Some(quantity) = &sample.quantity else {
            return Err(PgError::new(
                SqlState::INVALID_TABLESAMPLE_ARGUMENT,
                format!("tablesample method {method} requires 1 argument, not 0"),
            ));
        };
        let percent = self.bind_expr(&quantity.value)?;
        let percent = self.coerce(percent, &SqlType::new(PgType::Float8), CastContext::Assignment)?;
        let seed = match &sample.seed {
            Some(seed) => {
                let value = self.bind_value(&seed.value)?;
                Some(self.coerce(value, &SqlType::new(PgType::Float8), CastContext::Assignment)?)
            }
            None => None,
        };
        Ok(Rel::Sample { input: Box::new(rel), percent, system, seed })
    }
}

/// What a relation calls its columns, where an alias may call them otherwise.
pub(super) fn names_of(columns: &[ScopeColumn], alias: Option<&ast::TableAlias>) -> Vec<String> {
    match alias {
        Some(alias) if !alias.columns.is_empty() => columns.iter().map(|c| c.name.clone()).collect(),
        _ => Vec::new(),
    }
}

/// What a call is given.
fn arguments(call: &ast::Function) -> &[FunctionArg] {
    match &call.args {
        ast::FunctionArguments::List(list) => &list.args,
        _ => &[],
    }
}

fn join_kind(operator: &JoinOperator) -> PgResult<(JoinKind, &JoinConstraint)> {
    Ok(match operator {
        JoinOperator::Join(c) | JoinOperator::Inner(c) | JoinOperator::CrossJoin(c) => (JoinKind::Inner, c),
        JoinOperator::Left(c) | JoinOperator::LeftOuter(c) => (JoinKind::Left, c),
        JoinOperator::Right(c) | JoinOperator::RightOuter(c) => (JoinKind::Right, c),
        JoinOperator::FullOuter(c) => (JoinKind::Full, c),
        _ => return Err(PgError::new(SqlState::SYNTAX_ERROR, "syntax error: this join is not part of the dialect")),
    })
}

/// 42712 if the scope has an item of this name; tables of several schemas may share theirs.
fn is_new(scope: &Scope, item: &FromItem) -> PgResult<()> {
    let same = |i: &FromItem| i.alias == item.alias && (i.schema.is_none() || item.schema.is_none() || i.schema == item.schema);
    if !item.alias.is_empty() && scope.items.iter().skip(scope.names_from).any(same) {
        return Err(PgError::new(SqlState::DUPLICATE_ALIAS, format!("table name \"{}\" specified more than once", item.alias)));
    }
    Ok(())
}
