//! UPDATE and DELETE, RETURNING and what all changes share: a query that yields the rows, and what is done with each.

use super::assign::{Place, no_default_of_parts};
use super::compare::chooses;
use super::expr::and;
use super::scope::{Clause, FromItem, Refusal, Scope};
use super::updatable::Target;
use super::{Binder, fold, name_parts};
use crate::typed::tree::{ColId, Expr, ExprKind, FuncRef, JoinKind, Mutation, MutationKind, MutationTarget, Output, Query, Rel, RowChecks};
use crate::typed::walk;
use datafusion_common::ScalarValue;
use std::sync::{Arc, LazyLock};
use stoa_pg::registry::{Func, FuncKind};
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_syntax::ast::{self, Expr as E, SetExpr, Statement};
use stoa_syntax::marks;
use stoa_table::catalog::{ColumnDescriptor, ColumnId, Privileges, TableDescriptor};

/// The name by which the binder asks for a part of the key of a cursor's row: of the cursor, the table's OID and name, the part.
pub const KEY_OF_CURRENT_ROW: &str = "key of current row";

/// The name by which identity columns ask for their next value: who may write the table need not be allowed to use the sequence.
pub const NEXT_OF_IDENTITY: &str = "next value of an identity column";

/// It has no name in SQL.
static NEXT: LazyLock<Arc<Func>> = LazyLock::new(|| {
    let mut func = Func::of_kind(NEXT_OF_IDENTITY, &[PgType::Regclass], PgType::Int8, FuncKind::System, "The next value of an identity.");
    func.oid = u32::MAX;
    Arc::new(func.volatile())
});

impl Binder<'_> {
    /// Binds a statement that changes rows.
    pub fn bind_mutation(&mut self, statement: &Statement, top: bool) -> PgResult<Mutation> {
        let undeclared = std::mem::take(&mut self.undeclared);
        let mutation = self.bind_change(statement, top);
        self.undeclared = undeclared;
        mutation
    }

    fn bind_change(&mut self, statement: &Statement, _top: bool) -> PgResult<Mutation> {
        match statement {
            Statement::Insert(insert) => self.bind_insert(insert),
            Statement::Update(update) => self.bind_update(update),
            Statement::Delete(delete) => self.bind_delete(delete),
            Statement::Merge(merge) => self.bind_merge(merge),
            Statement::Query(query) => {
                // WITH … INSERT wraps the statement in a query.
                match &*query.body {
                    SetExpr::Insert(s) | SetExpr::Update(s) | SetExpr::Delete(s) | SetExpr::Merge(s) => {
                        if let Some(with) = &query.with {
                            self.bind_with(with, true)?;
                        }
                        self.bind_mutation(s, _top)
                    }
                    _ => Err(PgError::internal("a query is no mutation")),
                }
            }
            other => Err(PgError::unsupported(format!("statement does not change rows: {}", super::first_word(&other.to_string())))),
        }
    }

    /// A column of the target by name.
    pub(super) fn target_column<'t>(&self, table: &'t TableDescriptor, name: &str) -> PgResult<&'t ColumnDescriptor> {
        table.column_by_name(name).ok_or_else(|| {
            let error =
                PgError::new(SqlState::UNDEFINED_COLUMN, format!("column \"{name}\" of relation \"{}\" does not exist", table.name));
            match super::suggest::closest(name, table.visible_columns().map(|c| c.name.as_str())) {
                Some(better) => error.hint(format!("Perhaps you meant the column \"{better}\".")),
                None => error,
            }
        })
    }

    /// What a column gets when the statement gives it nothing.
    pub fn default_of(&mut self, column: &ColumnDescriptor) -> PgResult<Expr> {
        if let Some(identity) = &column.identity {
            let sequence = Expr::new(ExprKind::Const(ScalarValue::UInt32(Some(identity.sequence))), SqlType::new(PgType::Regclass));
            let next = Expr::new(ExprKind::Func { func: FuncRef(NEXT.clone()), args: vec![sequence] }, SqlType::new(PgType::Int8));
            return self.coerce_assignment(next, &column.ty, &column.name);
        }
        match &column.default {
            Some(sql) => {
                let syntax = stoa_syntax::parse_expression(sql).map_err(super::syntax_error)?;
                // Positions inside a default say nothing about the statement.
                let scopes = std::mem::take(&mut self.scopes);
                self.scopes.push(Scope::new(Clause::Default));
                let bound = self.bind_expr(&syntax).and_then(|e| self.coerce_assignment(e, &column.ty, &column.name));
                self.scopes = scopes;
                bound.map_err(|mut e| {
                    e.fields_mut().position = None;
                    e
                })
            }
            None => null_of(&column.ty),
        }
    }

    /// Whether a statement may give a column a value of its own.
    pub(super) fn check_assignable(&self, column: &ColumnDescriptor) -> PgResult<()> {
        if column.generated.is_some() {
            return Err(given_though_generated(column));
        }
        if column.identity.as_ref().is_some_and(|i| i.always) && !self.overriding_system && !self.overriding_user {
            return Err(PgError::new(
                SqlState::GENERATED_ALWAYS,
                format!("cannot insert a non-DEFAULT value into column \"{}\"", column.name),
            )
            .detail(format!("Column \"{}\" is an identity column defined as GENERATED ALWAYS.", column.name))
            .hint("Use OVERRIDING SYSTEM VALUE to override."));
        }
        Ok(())
    }

    /// `SET a = x, (b, c) = (y, z)`: values cast to their columns.
    pub(super) fn bind_assignments(&mut self, target: &Target, assignments: &[ast::Assignment]) -> PgResult<Vec<(ColumnId, Expr)>> {
        let table = &target.shape;
        let mut out: Vec<(ColumnId, Expr)> = Vec::new();
        for assignment in assignments {
            match &assignment.target {
                ast::AssignmentTarget::ColumnName(name) => {
                    let column = match self.place_of(table, name) {
                        Ok(place) if place.is_part() => {
                            self.push_bound_part(&mut out, &place, &assignment.value)?;
                            continue;
                        }
                        Ok(place) => place.column,
                        Err(missing) => {
                            // Errors in the values come first.
                            for value in assignments.iter().map(|a| &a.value).filter(|v| !is_default(v)) {
                                self.in_clause(Clause::UpdateSet, |b| b.bind_expr(value))?;
                            }
                            return Err(missing);
                        }
                    };
                    let value = self.assigned_value(target, &column, &assignment.value)?;
                    push_assignment(&mut out, &column, value)?;
                }
                ast::AssignmentTarget::Tuple(names) => {
                    let mut inner = &assignment.value;
                    while let E::Nested(next) = inner {
                        inner = next;
                    }
                    if let E::Subquery(query) = inner {
                        let query = self.bind_subquery(query)?;
                        if query.outputs.len() != names.len() {
                            return Err(PgError::new(SqlState::SYNTAX_ERROR, "number of columns does not match number of values")
                                .at(self.pos(inner)));
                        }
                        let row = self.one_choice(&query)?;
                        for (index, (name, output)) in names.iter().zip(&query.outputs).enumerate() {
                            let place = self.place_of(table, name)?;
                            let value = match &row {
                                Some(row) => ExprKind::Field { arg: Box::new(row.clone()), index },
                                None => {
                                    let one = Query { rel: query.rel.clone(), outputs: vec![output.clone()] };
                                    ExprKind::ScalarSubquery(Box::new(one))
                                }
                            };
                            let value = Expr::new(value, output.ty.clone());
                            let value = self.coerce_assignment(value, &place.ty()?, place.name())?;
                            if place.is_part() {
                                self.push_part(&mut out, &place, value)?;
                            } else {
                                push_assignment(&mut out, &place.column, value)?;
                            }
                        }
                        continue;
                    }
                    let items: Vec<&E> = match inner {
                        E::Tuple(items) => items.iter().collect(),
                        E::Function(f) if f.name.to_string().eq_ignore_ascii_case("row") => match &f.args {
                            ast::FunctionArguments::List(list) => list
                                .args
                                .iter()
                                .filter_map(
                                    |a| if let ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(e)) = a { Some(e) } else { None },
                                )
                                .collect(),
                            _ => Vec::new(),
                        },
                        other => {
                            return Err(PgError::unsupported(
                                "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression",
                            )
                            .at(self.pos(other)));
                        }
                    };
                    // (a, b) = ROW(v.*) assigns the fields.
                    let mut values: Vec<(Option<Expr>, &E)> = Vec::with_capacity(items.len());
                    for item in items {
                        match self.in_clause(Clause::UpdateSet, |b| b.expanded(item))? {
                            Some(fields) => values.extend(fields.into_iter().map(|(_, field)| (Some(field), item))),
                            None => values.push((None, item)),
                        }
                    }
                    if values.len() != names.len() {
                        return Err(
                            PgError::new(SqlState::SYNTAX_ERROR, "number of columns does not match number of values").at(self.pos(inner))
                        );
                    }
                    let places = names.iter().map(|n| self.place_of(table, n)).collect::<PgResult<Vec<_>>>()?;
                    for (place, (field, item)) in places.iter().zip(values) {
                        let column = &place.column;
                        match (field, !place.is_part()) {
                            (None, true) => {
                                let value = self.assigned_value(target, column, item)?;
                                push_assignment(&mut out, column, value)?;
                            }
                            (None, false) => self.push_bound_part(&mut out, place, item)?,
                            (Some(field), true) => {
                                self.check_updatable(column)?;
                                let value = self.coerce_assignment(field, &column.ty, &column.name).map_err(|e| e.at(self.pos(item)))?;
                                push_assignment(&mut out, column, value)?;
                            }
                            (Some(field), false) => {
                                let value = self.coerce_assignment(field, &place.ty()?, place.name()).map_err(|e| e.at(self.pos(item)))?;
                                self.push_part(&mut out, place, value)?;
                            }
                        }
                    }
                }
            }
        }
        self.as_map_changes(table, out)
    }

    /// `SET a[1] = x`, of what is written.
    fn push_bound_part(&mut self, out: &mut Vec<(ColumnId, Expr)>, place: &Place, value: &E) -> PgResult<()> {
        let ty = place.ty()?;
        if is_default(value) {
            if place.undeclared.is_none() {
                return Err(no_default_of_parts().at(self.pos(value)));
            }
            return self.push_part(out, place, null_of(&ty)?);
        }
        let bound = self.in_clause(Clause::UpdateSet, |b| b.bind_expr(value))?;
        let value = self.coerce_assignment(bound, &ty, place.name()).map_err(|e| e.at(self.pos(value)))?;
        self.push_part(out, place, value)
    }

    /// `SET a[1] = x`: what the statement has already put into the column stays.
    fn push_part(&mut self, out: &mut Vec<(ColumnId, Expr)>, place: &Place, value: Expr) -> PgResult<()> {
        let column = &place.column;
        self.check_updatable(column)?;
        let before = out.iter().position(|(c, _)| *c == column.id).map(|at| out.remove(at).1);
        let base = match before {
            Some(Expr { kind: kind @ ExprKind::Func { .. }, ty }) => Expr::new(kind, ty),
            Some(_) => return Err(twice(column)),
            None => self
                .scope()
                .items
                .first()
                .and_then(|i| i.columns.iter().find(|c| c.name == column.name))
                .map(|c| c.expr.clone())
                .ok_or_else(|| PgError::internal("the target has no such column"))?,
        };
        let value = self.in_clause(Clause::UpdateSet, |b| b.assign_place(place, base, value))?;
        out.push((column.id, value));
        Ok(())
    }

    /// A subquery for several columns that might give another row when it is asked again: a column that holds its row, computed once below
    /// the assignments. `None` where each column may ask on its own.
    fn one_choice(&mut self, query: &Query) -> PgResult<Option<Expr>> {
        if self.chosen_rows.is_none() || !chooses(query) {
            return Ok(None);
        }
        let asked = self.as_one_row(query.clone())?;
        let (outer, ty) = (self.new_col(), asked.ty.clone());
        if let Some(rows) = &mut self.chosen_rows {
            rows.push((outer, asked));
        }
        Ok(Some(Expr::column(outer, ty)))
    }

    pub(super) fn assigned_column(&self, table: &TableDescriptor, name: &ast::ObjectName) -> PgResult<ColumnDescriptor> {
        let column = self.column_name(table, name).and_then(|column| self.target_column(table, &column).cloned());
        column.map_err(|e| e.at(self.pos(name)))
    }

    /// The one name by which a column of the target is known: what stands behind a dot is a field of it.
    pub(super) fn column_name(&self, table: &TableDescriptor, name: &ast::ObjectName) -> PgResult<String> {
        let mut parts = name_parts(name)?;
        if let [column, field, ..] = parts.as_slice() {
            let Some(found) = table.column_by_name(column) else {
                let message = format!("column \"{column}\" of relation \"{}\" does not exist", table.name);
                return Err(PgError::new(SqlState::UNDEFINED_COLUMN, message));
            };
            let ty = &found.ty.ty;
            let message =
                format!("cannot assign to field \"{field}\" of column \"{column}\" because its type {ty} is not a composite type");
            return Err(PgError::new(SqlState::DATATYPE_MISMATCH, message));
        }
        Ok(parts.pop().unwrap_or_default())
    }

    fn assigned_value(&mut self, target: &Target, column: &ColumnDescriptor, e: &E) -> PgResult<Expr> {
        if is_default(e) {
            return match &target.view {
                Some(view) => {
                    self.check_updatable(column)?;
                    self.default_of(&view.assigned(column))
                }
                None if column.generated.is_some() => null_of(&column.ty),
                None => self.default_of(column),
            };
        }
        self.check_updatable(column)?;
        let bound = self.in_clause(Clause::UpdateSet, |b| b.bind_expr(e))?;
        self.coerce_assignment(bound, &column.ty, &column.name).map_err(|err| err.at(self.pos(e)))
    }

    /// Whether UPDATE may give a column a value of its own.
    fn check_updatable(&self, column: &ColumnDescriptor) -> PgResult<()> {
        if column.generated.is_some() || column.identity.as_ref().is_some_and(|i| i.always) {
            let kind = if column.generated.is_some() { "a generated column" } else { "an identity column defined as GENERATED ALWAYS" };
            return Err(PgError::new(SqlState::GENERATED_ALWAYS, format!("column \"{}\" can only be updated to DEFAULT", column.name))
                .detail(format!("Column \"{}\" is {kind}.", column.name)));
        }
        Ok(())
    }

    fn bind_update(&mut self, update: &ast::Update) -> PgResult<Mutation> {
        let ast::TableFactor::Table { name, alias, .. } = &update.table.relation else {
            return Err(PgError::new(SqlState::SYNTAX_ERROR, "UPDATE needs the name of a table"));
        };
        if !update.table.joins.is_empty() || update.or.is_some() || !update.order_by.is_empty() || update.limit.is_some() {
            return Err(PgError::new(SqlState::SYNTAX_ERROR, "syntax error: this clause is not part of UPDATE"));
        }
        let target = self.target(name, "update")?;
        self.undeclared_of_target(&target, alias.as_ref())?;
        self.scopes.push(Scope::new(Clause::From));
        let from: &[ast::TableWithJoins] = match &update.from {
            Some(ast::UpdateTableFromKind::BeforeSet(from) | ast::UpdateTableFromKind::AfterSet(from)) => from,
            None => &[],
        };
        let outer = self.hints.enter(&update.optimizer_hints);
        let result = self.bind_update_in_scope(update, &target, alias.as_ref(), from);
        self.hints.leave(outer);
        self.scopes.pop();
        result
    }

    fn bind_update_in_scope(
        &mut self,
        update: &ast::Update,
        target: &Target,
        alias: Option<&ast::TableAlias>,
        from: &[ast::TableWithJoins],
    ) -> PgResult<Mutation> {
        let table = &target.table;
        let TargetSource { rel, old, scan, selects } = self.target_source(target, alias, from, update.selection.as_ref())?;
        for name in update.assignments.iter().flat_map(|a| assigned_names(&a.target)) {
            target.check_column(&name, "update")?;
        }
        self.note_writes(&target.levels, Privileges::UPDATE, &[]);
        let outer = self.chosen_rows.replace(Vec::new());
        let assignments = self.in_clause(Clause::UpdateSet, |b| b.bind_assignments(target, &update.assignments));
        let chosen = std::mem::replace(&mut self.chosen_rows, outer).unwrap_or_default();
        let mut assignments = assignments?;
        let assigned: Vec<ColumnId> = assignments.iter().map(|(column, _)| *column).collect();
        self.note_writes(&target.levels, Privileges::UPDATE, &assigned);
        let reads = selects || names_any(assignments.iter().map(|(_, e)| e).chain(chosen.iter().map(|(_, e)| e)), &old);
        // The order in which they are computed.
        assignments.sort_by_key(|(column, _)| *column);
        let mut exprs = self.passed_through(&rel, &old, table);
        let rel = if chosen.is_empty() {
            rel
        } else {
            Rel::Project { input: Box::new(rel), exprs: exprs.iter().cloned().chain(chosen).collect() }
        };
        let mut new: Vec<(ColumnId, ColId)> = Vec::new();
        for (column, value) in assignments {
            if table.column(column).is_some_and(|c| c.generated.is_some()) {
                continue;
            }
            let id = self.new_col();
            exprs.push((id, value));
            new.push((column, id));
        }
        let mut rel = Rel::Project { input: Box::new(rel), exprs };
        // Generated columns follow from the new row.
        let mut all: Vec<(ColumnId, ColId)> =
            old.iter().map(|(c, id)| new.iter().find(|(n, _)| n == c).copied().unwrap_or((*c, *id))).collect();
        rel = self.with_generated(rel, table, &mut all)?;
        for column in table.visible_columns().filter(|c| c.generated.is_some()) {
            if let Some(found) = all.iter().find(|(c, _)| *c == column.id) {
                new.push(*found);
            }
        }
        let alias = alias.map_or_else(|| target.shape.name.clone(), |a| fold(&a.name));
        let (returning, returning_columns) =
            self.bind_returning(target, &alias, update.returning.as_deref(), Some(()), ReturnedMaps::Left)?;
        super::map::refuse_moved(returning.as_deref().unwrap_or_default(), &returning_columns, table, &assigned)?;
        Ok(Mutation {
            table: MutationTarget(table.clone()),
            kind: MutationKind::Update { old, new },
            source: Box::new(rel),
            usage: target.usage(Some(scan), reads || names_any(returning.iter().flatten().map(|(_, e)| e), &returning_columns)),
            returning,
            returning_columns,
            checks: target.view_checks(false),
        })
    }

    /// The target joined with FROM or USING and filtered; and the target's columns.
    fn target_source(
        &mut self,
        target: &Target,
        alias: Option<&ast::TableAlias>,
        from: &[ast::TableWithJoins],
        selection: Option<&E>,
    ) -> PgResult<TargetSource> {
        let (scan, mut item) = self.scan_table(&target.table, alias)?;
        let old: Vec<_> = scan.columns.iter().copied().filter(|(id, _)| *id != crate::fulltext::SCORE).collect();
        let scan_id = scan.scan_id;
        let mut rel = Rel::Scan(Box::new(scan));
        if let Some(view) = &target.view {
            item = view.item(&alias.map_or_else(|| view.name.clone(), |a| fold(&a.name)), &old);
            let conditions = view.conditions(&old);
            if !conditions.is_empty() {
                rel = Rel::Filter { input: Box::new(rel), predicate: and(conditions) };
            }
            if view.barrier {
                rel = self.barrier(rel);
            }
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.add_item(item);
        }
        if !from.is_empty() {
            let right = self.bind_beside_target(from)?;
            rel = Rel::Join { left: Box::new(rel), right: Box::new(right), kind: JoinKind::Inner, on: None, lateral: false };
        }
        let mut selects = false;
        if let Some(condition) = selection {
            let predicate = match marks::cursor(condition) {
                // The cursor has seen the row.
                Some(cursor) => self.is_current(target, &fold(cursor), &old)?,
                _ => vec![self.in_clause(Clause::Where, |b| {
                    let bound = b.bind_expr(condition)?;
                    // What it is found to be is one thing, what it names another.
                    selects = names_any([&bound], &old);
                    b.coerce_condition(bound, "WHERE").map_err(|e| e.at(b.pos(condition)))
                })?],
            };
            rel = Rel::Filter { input: Box::new(rel), predicate: and(predicate) };
        }
        Ok(TargetSource { rel, old, scan: scan_id, selects })
    }

    /// That a row of the target is the one on which a cursor stands.
    fn is_current(&mut self, target: &Target, cursor: &str, columns: &[(ColumnId, ColId)]) -> PgResult<Vec<Expr>> {
        if target.view.is_some() {
            return Err(PgError::unsupported("WHERE CURRENT OF on a view is not implemented").hint("Name the table that the view reads."));
        }
        self.names_cursor = true;
        let (table, system) = (&target.table, Arc::clone(&self.ctx.eval.system));
        let mut conditions = Vec::with_capacity(table.key.len());
        for (part, key) in (0_u64..).zip(table.key_columns()) {
            let (Some((_, id)), Some(column)) = (columns.iter().find(|(c, _)| *c == key.column), table.column(key.column)) else {
                return Err(PgError::internal("a table without its key"));
            };
            let asked = [
                ScalarValue::from(cursor),
                ScalarValue::UInt32(Some(table.oid)),
                ScalarValue::from(table.name.as_str()),
                ScalarValue::UInt64(Some(part)),
            ];
            let value = system.call(KEY_OF_CURRENT_ROW, &asked, &column.ty)?;
            let value = Expr::new(ExprKind::Const(value), column.ty.clone());
            conditions.push(self.operator("=", Some(Expr::column(*id, column.ty.clone())), value)?);
        }
        Ok(conditions)
    }

    /// Columns of the source that the mutation and RETURNING may use.
    pub(super) fn passed_through(&self, _rel: &Rel, old: &[(ColumnId, ColId)], table: &TableDescriptor) -> Vec<(ColId, Expr)> {
        let mut out: Vec<(ColId, Expr)> =
            old.iter().filter_map(|(column, id)| table.column(*column).map(|c| (*id, Expr::column(*id, c.ty.clone())))).collect();
        for (id, ty) in self.scope().items.iter().skip(1).flat_map(FromItem::made_of) {
            if !out.iter().any(|(c, _)| *c == id) {
                out.push((id, Expr::column(id, ty)));
            }
        }
        out
    }

    fn bind_delete(&mut self, delete: &ast::Delete) -> PgResult<Mutation> {
        let (ast::FromTable::WithFromKeyword(from) | ast::FromTable::WithoutKeyword(from)) = &delete.from;
        let [target] = from.as_slice() else {
            return Err(PgError::new(SqlState::SYNTAX_ERROR, "DELETE takes one table"));
        };
        let ast::TableFactor::Table { name, alias, .. } = &target.relation else {
            return Err(PgError::new(SqlState::SYNTAX_ERROR, "DELETE needs the name of a table"));
        };
        if !delete.order_by.is_empty() || delete.limit.is_some() || !delete.tables.is_empty() || !target.joins.is_empty() {
            return Err(PgError::new(SqlState::SYNTAX_ERROR, "syntax error: this clause is not part of DELETE"));
        }
        let target = self.target(name, "delete from")?;
        self.undeclared_of_target(&target, alias.as_ref())?;
        self.note_writes(&target.levels, Privileges::DELETE, &[]);
        let table = target.table.clone();
        self.scopes.push(Scope::new(Clause::From));
        let outer = self.hints.enter(&delete.optimizer_hints);
        let using: &[ast::TableWithJoins] = delete.using.as_deref().unwrap_or(&[]);
        let source = self.target_source(&target, alias.as_ref(), using, delete.selection.as_ref());
        let result = source.and_then(|TargetSource { rel, old, scan, selects }| {
            let exprs = self.passed_through(&rel, &old, &table);
            let rel = Rel::Project { input: Box::new(rel), exprs };
            let alias = alias.as_ref().map_or_else(|| target.shape.name.clone(), |a| fold(&a.name));
            let (returning, returning_columns) =
                self.bind_returning(&target, &alias, delete.returning.as_deref(), Some(()), ReturnedMaps::Found)?;
            Ok(Mutation {
                table: MutationTarget(table.clone()),
                kind: MutationKind::Delete { old },
                source: Box::new(rel),
                usage: target.usage(Some(scan), selects || names_any(returning.iter().flatten().map(|(_, e)| e), &returning_columns)),
                returning,
                returning_columns,
                checks: RowChecks::default(),
            })
        });
        self.hints.leave(outer);
        self.scopes.pop();
        result
    }

    /// RETURNING: over the row as it is afterwards (for DELETE: as it was) and the other FROM items.
    #[allow(clippy::type_complexity)] // the list and the columns it is over
    pub(super) fn bind_returning(
        &mut self,
        target: &Target,
        alias: &str,
        items: Option<&[ast::SelectItem]>,
        in_scope: Option<()>,
        returned: ReturnedMaps,
    ) -> PgResult<(Option<Vec<(Output, Expr)>>, Vec<(ColumnId, ColId)>)> {
        let table = &target.table;
        let Some(items) = items else { return Ok((None, Vec::new())) };
        let maps = table.map_columns().filter(|_| returned == ReturnedMaps::Written);
        let columns: Vec<(ColumnId, ColId)> = table.live_columns().chain(maps).map(|c| (c.id, self.new_col())).collect();
        let mut scope = Scope::new(Clause::Returning);
        match &target.view {
            Some(view) => {
                scope.local.extend(columns.iter().map(|(_, c)| *c));
                scope.add_item(view.item(alias, &columns));
                self.maps_as_left(&mut scope, table, returned);
            }
            None => {
                scope.add_table(table, alias, &|id| lookup(&columns, id));
                scope.give_maps(table, &columns);
                self.maps_as_left(&mut scope, table, returned);
                scope.set_schema(self.schema_of(table).filter(|_| alias == table.name));
                self.show_undeclared(&mut scope, table)?;
            }
        }
        if in_scope.is_some() {
            let others: Vec<FromItem> = self.scope().items.iter().skip(1).cloned().collect();
            for item in others {
                scope.local.extend(item.made_of().into_iter().map(|(id, _)| id));
                scope.add_item(item);
            }
        }
        self.scopes.push(scope);
        let result = self.bind_returning_list(items);
        self.scopes.pop();
        Ok((Some(result?), columns))
    }

    fn maps_as_left(&mut self, scope: &mut Scope, table: &TableDescriptor, returned: ReturnedMaps) {
        if returned == ReturnedMaps::Left && table.map_columns().next().is_some() {
            self.has_maps = true;
            super::map::read_last_as_left(scope);
        }
    }

    /// The items beside a target, which none of them may refer to.
    pub(super) fn bind_beside_target(&mut self, from: &[ast::TableWithJoins]) -> PgResult<Rel> {
        self.refuse_target(Some(Refusal::Target));
        let bound = self.bind_from(from);
        self.refuse_target(None);
        bound
    }

    fn refuse_target(&mut self, refused: Option<Refusal>) {
        if let Some(target) = self.scopes.last_mut().and_then(|s| s.items.first_mut()) {
            target.refused = refused;
        }
    }

    fn bind_returning_list(&mut self, items: &[ast::SelectItem]) -> PgResult<Vec<(Output, Expr)>> {
        let targets = self.bind_select_list(items)?;
        let mut out = Vec::with_capacity(targets.len());
        for super::select::Target { name, expr, origin } in targets {
            if super::aggregate::has_aggregate(&expr) {
                return Err(PgError::new(SqlState::GROUPING_ERROR, "aggregate functions are not allowed in RETURNING"));
            }
            let expr = self.resolve_unknown(expr)?;
            let col = self.new_col();
            out.push((Output { name, col, ty: expr.ty.clone(), origin }, expr));
        }
        Ok(out)
    }
}

/// What maps are in RETURNING.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ReturnedMaps {
    /// Values of the row that is written.
    Written,
    /// Entries as the statement finds them.
    Found,
    /// Entries as it leaves them.
    Left,
}

/// Where the rows of a target come from.
struct TargetSource {
    rel: Rel,
    /// The target's columns in it.
    old: Vec<(ColumnId, ColId)>,
    /// The scan of the target.
    scan: u32,
    /// The condition names columns of the target.
    selects: bool,
}

/// Whether expressions name a column of these.
pub(super) fn names_any<'e>(exprs: impl IntoIterator<Item = &'e Expr>, columns: &[(ColumnId, ColId)]) -> bool {
    let mut used = Vec::new();
    exprs.into_iter().for_each(|e| walk::columns_of(e, &mut used));
    used.iter().any(|id| columns.iter().any(|(_, own)| own == id))
}

pub(super) fn lookup(columns: &[(ColumnId, ColId)], id: ColumnId) -> ColId {
    columns.iter().find(|(c, _)| *c == id).map_or(ColId(0), |(_, col)| *col)
}

/// The columns that an assignment names.
fn assigned_names(target: &ast::AssignmentTarget) -> Vec<String> {
    let names: &[ast::ObjectName] = match target {
        ast::AssignmentTarget::ColumnName(name) => std::slice::from_ref(name),
        ast::AssignmentTarget::Tuple(names) => names,
    };
    names.iter().filter_map(|n| n.0.first()?.as_ident().map(fold)).collect()
}

/// Whether a value is the word DEFAULT.
pub fn is_default(e: &E) -> bool {
    match e {
        E::Nested(inner) => is_default(inner),
        E::Identifier(i) => i.quote_style.is_none() && i.value.eq_ignore_ascii_case("default"),
        _ => false,
    }
}

pub(super) fn given_though_generated(column: &ColumnDescriptor) -> PgError {
    PgError::new(SqlState::GENERATED_ALWAYS, format!("cannot insert a non-DEFAULT value into column \"{}\"", column.name))
        .detail(format!("Column \"{}\" is a generated column.", column.name))
}

pub(super) fn twice(column: &ColumnDescriptor) -> PgError {
    PgError::new(SqlState::SYNTAX_ERROR, format!("multiple assignments to same column \"{}\"", column.name))
}

fn push_assignment(out: &mut Vec<(ColumnId, Expr)>, column: &ColumnDescriptor, value: Expr) -> PgResult<()> {
    if out.iter().any(|(c, _)| *c == column.id) {
        return Err(twice(column));
    }
    out.push((column.id, value));
    Ok(())
}

pub(super) fn null_of(ty: &SqlType) -> PgResult<Expr> {
    let value = ScalarValue::try_from(&ty.arrow).map_err(|e| PgError::internal(e.to_string()))?;
    Ok(Expr::new(ExprKind::Const(value), ty.clone()))
}
