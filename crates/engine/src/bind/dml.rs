//! INSERT, UPDATE, DELETE, MERGE: a query that yields the rows, and what is done with each.

use super::aggregate::walk_volatile;
use super::assign::{Place, no_default_of_parts};
use super::expr::and;
use super::scope::{Clause, FromItem, Refusal, Scope};
use super::tree::{
    ColId, Expr, ExprKind, JoinKind, MergeAction, MergeArm, Mutation, MutationKind, MutationTarget, OnConflict, Output, Query, Rel,
};
use super::updatable::Target;
use super::{BindContext, Binder, fold, name_parts, walk};
use crate::catalog::{ColumnDescriptor, ColumnId, IndexKey, TableDescriptor};
use crate::session::KEY_OF_CURRENT_ROW;
use datafusion::common::ScalarValue;
use std::collections::HashMap;
use std::sync::Arc;
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_syntax::ast::{self, Expr as E, SetExpr, Statement};
use stoa_syntax::marks;

impl Binder<'_> {
    /// Binds a statement that changes rows.
    pub(crate) fn bind_mutation(&mut self, statement: &Statement, _top: bool) -> PgResult<Mutation> {
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
    fn target_column<'t>(&self, table: &'t TableDescriptor, name: &str) -> PgResult<&'t ColumnDescriptor> {
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
    pub(crate) fn default_of(&mut self, column: &ColumnDescriptor) -> PgResult<Expr> {
        if let Some(identity) = &column.identity {
            let sequence = Expr::new(ExprKind::Const(ScalarValue::UInt32(Some(identity.sequence))), SqlType::new(PgType::Regclass));
            let next = self.call("nextval", vec![sequence])?;
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

    fn bind_insert(&mut self, insert: &ast::Insert) -> PgResult<Mutation> {
        let ast::TableObject::TableName(name) = &insert.table else {
            return Err(PgError::new(SqlState::SYNTAX_ERROR, "INSERT needs the name of a table"));
        };
        if insert.overwrite || insert.ignore || insert.or.is_some() || insert.partitioned.is_some() {
            return Err(PgError::unsupported("this form of INSERT is not supported"));
        }
        let target = self.target(name, "insert into")?;
        self.note_use(target.table.oid, None);
        let overriding = self.take_overriding(&insert.columns);
        let result = self.bind_insert_into(insert, &target);
        (self.overriding_system, self.overriding_user) = overriding;
        result
    }

    /// Sets what OVERRIDING among an INSERT's columns says; gives what was set before.
    fn take_overriding(&mut self, columns: &[ast::ObjectName]) -> (bool, bool) {
        let before = (self.overriding_system, self.overriding_user);
        let mark = columns.last().and_then(|c| c.0.first()).and_then(|p| marks::ident(p, marks::OVERRIDING));
        (self.overriding_system, self.overriding_user) = (mark == Some("system"), mark == Some("user"));
        before
    }

    fn bind_insert_into(&mut self, insert: &ast::Insert, target: &Target) -> PgResult<Mutation> {
        let table = target.table.clone();
        let mut given: Vec<Place> = Vec::new();
        let named: Vec<&ast::ObjectName> = insert.columns.iter().filter(|c| !is_overriding(c)).collect();
        for column in named.iter().copied() {
            let (plain, subscripts) = self.subscripts_of(column)?;
            let name = self.column_name(&target.shape, &plain).map_err(|e| e.at(self.pos(column)))?;
            target.check_column(&name, "insert into").map_err(|e| e.at(self.pos(column)))?;
            let found = self.target_column(&target.shape, &name).map_err(|e| e.at(self.pos(column)))?;
            let place = Place { column: found.clone(), subscripts };
            place.ty()?;
            if given.iter().any(|other| place.is_twice(other)) {
                return Err(
                    PgError::new(SqlState::DUPLICATE_COLUMN, format!("column \"{name}\" specified more than once")).at(self.pos(column))
                );
            }
            given.push(place);
        }
        let listed = !given.is_empty();
        let targets = if listed {
            given
        } else {
            let all = target.all_columns(source_width(insert), "insert into")?;
            all.into_iter().filter_map(|id| table.column(id)).map(|c| Place::whole(c.clone())).collect()
        };
        // The values that the statement gives: a relation and a column (or DEFAULT) for each target.
        let (mut rel, values) = match &insert.source {
            None => (Rel::Values { columns: Vec::new(), rows: vec![Vec::new()] }, Vec::new()),
            Some(query) => self.bind_insert_source(query, &targets, &named)?,
        };
        let mut values: HashMap<ColumnId, Expr> = self.in_clause(Clause::Values, |b| b.gathered(&targets, values))?.into_iter().collect();
        // Everything else gets its default.
        let mut exprs: Vec<(ColId, Expr)> = Vec::new();
        let mut columns: Vec<(ColumnId, ColId)> = Vec::new();
        for column in table.visible_columns() {
            if column.generated.is_some() {
                continue;
            }
            let given = values.remove(&column.id);
            let value = match given {
                Some(value) if !(self.overriding_user && column.identity.is_some()) => value,
                _ => self.default_of(column)?,
            };
            let id = self.new_col();
            exprs.push((id, value));
            columns.push((column.id, id));
        }
        self.default_with_rows(&mut rel, &mut exprs);
        rel = Rel::Project { input: Box::new(rel), exprs };
        rel = self.with_generated(rel, &table, &mut columns)?;
        let alias = insert.table_alias.as_ref().map_or_else(|| target.shape.name.clone(), |a| fold(&a.alias));
        let on_conflict = match &insert.on {
            None if insert.replace_into => {
                replacing(target, listed.then(|| targets.iter().map(|place| place.column.id).collect()).as_ref())?
            }
            None => OnConflict::Error,
            Some(ast::OnInsert::OnConflict(on)) => self.bind_on_conflict(&target.shape, on, &alias)?,
            Some(_) => return Err(PgError::new(SqlState::SYNTAX_ERROR, "syntax error at or near \"DUPLICATE\"")),
        };
        let (returning, returning_columns) = self.bind_returning(target, &alias, insert.returning.as_deref(), None)?;
        Ok(Mutation {
            table: MutationTarget(table),
            kind: MutationKind::Insert { columns, on_conflict },
            source: Box::new(rel),
            returning,
            returning_columns,
            checks: target.view_checks(),
        })
    }

    /// Several rows of VALUES that call volatile functions get their defaults from such functions one after the other, as the rest of the
    /// row; the values of one row are computed in the order of the table's columns anyway.
    fn default_with_rows(&mut self, rel: &mut Rel, exprs: &mut [(ColId, Expr)]) {
        let Rel::Values { columns, rows } = rel else { return };
        let volatile = exprs.iter().filter(|(_, e)| walk_volatile(e)).count();
        let among_rows = || rows.iter().flatten().any(walk_volatile);
        if rows.len() < 2 || volatile == 0 || (volatile == 1 && !among_rows()) {
            return;
        }
        for (_, value) in exprs.iter_mut().filter(|(_, e)| walk_volatile(e)) {
            let id = self.new_col();
            columns.push((id, value.ty.clone()));
            let column = Expr::column(id, value.ty.clone());
            let value = std::mem::replace(value, column);
            rows.iter_mut().for_each(|row| row.push(value.clone()));
        }
    }

    /// What an INSERT writes: a relation, and a value over it for each of the targets, as far as there are values.
    fn bind_insert_source(&mut self, query: &ast::Query, targets: &[Place], named: &[&ast::ObjectName]) -> PgResult<(Rel, Vec<Expr>)> {
        let too_many = || PgError::new(SqlState::SYNTAX_ERROR, "INSERT has more expressions than target columns");
        let listed = !named.is_empty();
        let too_few = |b: &Self, given: usize| {
            let error = PgError::new(SqlState::SYNTAX_ERROR, "INSERT has more target columns than expressions");
            error.at(named.get(given).and_then(|column| b.pos(*column)))
        };
        let plain_values = match &*query.body {
            SetExpr::Values(values)
                if query.with.is_none() && query.order_by.is_none() && query.limit_clause.is_none() && query.fetch.is_none() =>
            {
                Some(values)
            }
            _ => None,
        };
        if let Some(values) = plain_values {
            let width = values.rows.first().map_or(0, |r| r.content.len());
            if let Some(other) = values.rows.iter().find(|r| r.content.len() != width) {
                let error = PgError::new(SqlState::SYNTAX_ERROR, "VALUES lists must all be the same length");
                return Err(error.at(other.content.first().and_then(|e| self.pos(e))));
            }
            if width > targets.len() {
                let extra = values.rows.first().and_then(|r| r.content.get(targets.len()));
                return Err(too_many().at(extra.and_then(|e| self.pos(e))));
            }
            if width < targets.len() && listed {
                let error = too_few(self, width);
                let whole =
                    matches!(values.rows.first().map(|r| r.content.as_slice()), Some([E::Tuple(fields)]) if fields.len() == targets.len());
                let hint = "The insertion source is a row expression containing the same number of columns expected by the INSERT. Did you accidentally use extra parentheses?";
                return Err(if whole { error.hint(hint) } else { error });
            }
            let places = &targets[..width];
            let types = places.iter().map(Place::ty).collect::<PgResult<Vec<_>>>()?;
            self.scopes.push(Scope::new(Clause::Values));
            let mut rows = Vec::with_capacity(values.rows.len());
            let mut result = Ok(());
            'rows: for row in &values.rows {
                // All of a row is read before the columns tell types to what has none.
                let mut read = Vec::with_capacity(width);
                for e in &row.content {
                    match if is_default(e) { Ok(None) } else { self.bind_expr(e).map(Some) } {
                        Ok(bound) => read.push(bound),
                        Err(e) => {
                            result = Err(e);
                            break 'rows;
                        }
                    }
                }
                let mut out = Vec::with_capacity(width);
                for ((e, bound), (Place { column, subscripts }, ty)) in row.content.iter().zip(read).zip(places.iter().zip(&types)) {
                    let value = match bound {
                        Some(bound) => self
                            .check_assignable(column)
                            .and_then(|()| self.coerce_assignment(bound, ty, &column.name).map_err(|err| err.at(self.pos(e)))),
                        None if !subscripts.is_empty() => Err(no_default_of_parts().at(self.pos(e))),
                        None if column.generated.is_some() => null_of(&column.ty),
                        None => self.default_of(column),
                    };
                    match value {
                        Ok(value) => out.push(value),
                        Err(e) => {
                            result = Err(e);
                            break 'rows;
                        }
                    }
                }
                rows.push(out);
            }
            self.scopes.pop();
            result?;
            let mut columns = Vec::with_capacity(width);
            let mut given = Vec::with_capacity(width);
            for ty in types {
                let id = self.new_col();
                columns.push((id, ty.clone()));
                given.push(Expr::column(id, ty));
            }
            if let [row] = rows.as_mut_slice()
                && let Some(input) = self.rows_of_sets(row)
            {
                // One row is a select list, which may give several.
                let exprs = columns.into_iter().map(|(id, _)| id).zip(std::mem::take(row)).collect();
                return Ok((Rel::Project { input: Box::new(input), exprs }, given));
            }
            return Ok((Rel::Values { columns, rows }, given));
        }
        let extra = match &*query.body {
            SetExpr::Select(select) => match select.projection.get(targets.len()) {
                Some(ast::SelectItem::UnnamedExpr(e) | ast::SelectItem::ExprWithAlias { expr: e, .. }) => self.pos(e),
                _ => None,
            },
            _ => None,
        };
        let scopes = std::mem::take(&mut self.scopes);
        let query = self.bind_query(query);
        self.scopes = scopes;
        let mut query = query?;
        if query.outputs.len() > targets.len() {
            return Err(too_many().at(extra));
        }
        if query.outputs.len() < targets.len() && listed {
            return Err(too_few(self, query.outputs.len()));
        }
        let mut given = Vec::with_capacity(targets.len());
        let outputs = std::mem::take(&mut query.outputs);
        for (output, place) in outputs.iter().zip(targets) {
            self.check_assignable(&place.column)?;
            let literal = if self.untyped.contains(&output.col) { self.take_untyped(&mut query.rel, output) } else { None };
            let value = literal.unwrap_or_else(|| Expr::column(output.col, output.ty.clone()));
            given.push(self.coerce_assignment(value, &place.ty()?, &place.column.name)?);
        }
        Ok((query.rel, given))
    }

    /// Whether a statement may give a column a value of its own.
    fn check_assignable(&self, column: &ColumnDescriptor) -> PgResult<()> {
        if column.generated.is_some() {
            return Err(PgError::new(
                SqlState::GENERATED_ALWAYS,
                format!("cannot insert a non-DEFAULT value into column \"{}\"", column.name),
            )
            .detail(format!("Column \"{}\" is a generated column.", column.name)));
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

    /// Computes generated columns on top of a relation that gives the others; `columns` says where each column is.
    fn with_generated(&mut self, rel: Rel, table: &TableDescriptor, columns: &mut Vec<(ColumnId, ColId)>) -> PgResult<Rel> {
        let generated: Vec<ColumnDescriptor> = table.visible_columns().filter(|c| c.generated.is_some()).cloned().collect();
        if generated.is_empty() {
            return Ok(rel);
        }
        let map: HashMap<ColId, ColId> = columns.iter().map(|(column, id)| (ColId(column.0), *id)).collect();
        let mut exprs: Vec<(ColId, Expr)> = Vec::new();
        for column in &generated {
            let Some(sql) = &column.generated else { continue };
            let ctx = BindContext { text: sql, param_types: &[], ..self.ctx.clone() };
            let bound = super::bind_table_expr(&ctx, table, sql)?;
            let mut value = self.coerce_assignment(bound, &column.ty, &column.name)?;
            walk::rename_expr(&mut value, &map);
            let id = self.new_col();
            exprs.push((id, value));
            columns.retain(|(c, _)| *c != column.id);
            columns.push((column.id, id));
        }
        // What the relation gives goes on.
        let mut through: Vec<(ColId, Expr)> = match &rel {
            Rel::Project { exprs, .. } => exprs.iter().map(|(c, e)| (*c, Expr::column(*c, e.ty.clone()))).collect(),
            _ => Vec::new(),
        };
        through.extend(exprs);
        Ok(Rel::Project { input: Box::new(rel), exprs: through })
    }

    fn bind_on_conflict(&mut self, table: &Arc<TableDescriptor>, on: &ast::OnConflict, alias: &str) -> PgResult<OnConflict> {
        let arbiters = match &on.conflict_target {
            None => None,
            Some(ast::ConflictTarget::Columns(columns)) => Some(self.inferred(table, columns)?),
            Some(ast::ConflictTarget::OnConstraint(name)) => {
                let name = name_parts(name)?.last().cloned().unwrap_or_default();
                let primary = table.primary_key.as_ref().filter(|p| p.name == name).map(|_| 0);
                let index = table.indexes.iter().find(|i| i.unique && i.constraint.as_ref().is_some_and(|c| c.name == name)).map(|i| i.oid);
                match primary.or(index) {
                    Some(oid) => Some(vec![oid]),
                    None if crate::ddl::has_constraint(table, &name) => {
                        return Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, "constraint in ON CONFLICT clause has no associated index"));
                    }
                    None => {
                        return Err(PgError::new(
                            SqlState::UNDEFINED_OBJECT,
                            format!("constraint \"{name}\" for table \"{}\" does not exist", table.name),
                        ));
                    }
                }
            }
        };
        match &on.action {
            ast::OnConflictAction::DoNothing => Ok(OnConflict::DoNothing { arbiters }),
            ast::OnConflictAction::DoUpdate(update) => {
                let Some(arbiters) = arbiters else {
                    return Err(PgError::new(
                        SqlState::SYNTAX_ERROR,
                        "ON CONFLICT DO UPDATE requires inference specification or constraint name",
                    )
                    .hint("For example, ON CONFLICT (column_name)."));
                };
                let mut scope = Scope::new(Clause::UpdateSet);
                let existing: Vec<(ColumnId, ColId)> = table.live_columns().map(|c| (c.id, self.new_col())).collect();
                let excluded: Vec<(ColumnId, ColId)> = table.live_columns().map(|c| (c.id, self.new_col())).collect();
                scope.add_table(table, alias, &|id| lookup(&existing, id));
                scope.set_schema(self.schema_of(table).filter(|_| alias == table.name));
                scope.add_table(table, "excluded", &|id| lookup(&excluded, id));
                self.scopes.push(scope);
                let result = self.bind_conflict_update(table, update);
                self.scopes.pop();
                let (assignments, condition) = result?;
                Ok(OnConflict::DoUpdate { arbiters, existing, excluded, assignments, condition })
            }
        }
    }

    #[allow(clippy::type_complexity)] // the two parts of DO UPDATE
    fn bind_conflict_update(
        &mut self,
        table: &Arc<TableDescriptor>,
        update: &ast::DoUpdate,
    ) -> PgResult<(Vec<(ColumnId, Expr)>, Option<Expr>)> {
        let assignments = self.bind_assignments(table, &update.assignments)?;
        let condition = match &update.selection {
            Some(e) => Some(self.in_clause(Clause::Where, |b| {
                let bound = b.bind_expr(e)?;
                b.coerce_bool(bound, "WHERE").map_err(|err| err.at(b.pos(e)))
            })?),
            None => None,
        };
        Ok((assignments, condition))
    }

    /// The unique constraints that the columns, expressions and condition of ON CONFLICT infer.
    fn inferred(&mut self, table: &Arc<TableDescriptor>, items: &[ast::Ident]) -> PgResult<Vec<u32>> {
        let mut columns = Vec::new();
        let mut exprs = Vec::new();
        let mut predicate = None;
        let bound = |b: &Self, sql: &str| -> PgResult<Expr> {
            let ctx = BindContext { text: sql, param_types: &[], ..b.ctx.clone() };
            super::bind_table_expr(&ctx, table, sql)
        };
        for item in items {
            match item.quote_style {
                Some(marks::EXPRESSION) => match bound(self, &item.value).map_err(|e| e.at(self.pos_span(item.span)))? {
                    Expr { kind: ExprKind::Column(id), .. } => columns.push(ColumnId(id.0)),
                    expr if exprs.iter().any(|known| super::function::same_expr(known, &expr)) => {}
                    expr => exprs.push(expr),
                },
                Some(marks::PREDICATE) => predicate = Some(bound(self, &item.value).map_err(|e| e.at(self.pos_span(item.span)))?),
                _ => {
                    let name = fold(item);
                    let found = table.column_by_name(&name).ok_or_else(|| {
                        let error = if name == table.name {
                            PgError::unsupported("whole row unique index inference specifications are not supported")
                        } else {
                            PgError::new(SqlState::UNDEFINED_COLUMN, format!("column \"{name}\" does not exist"))
                        };
                        error.at(self.pos_span(item.span))
                    })?;
                    columns.push(found.id);
                }
            }
        }
        columns.sort_unstable_by_key(|c| c.0);
        columns.dedup();
        let mut out = Vec::new();
        if table.primary_key.is_some() && exprs.is_empty() {
            let mut key: Vec<ColumnId> = table.key.iter().map(|p| p.column).collect();
            key.sort_unstable_by_key(|c| c.0);
            if key == columns {
                out.push(0);
            }
        }
        for index in table.indexes.iter().filter(|i| i.unique && i.state == crate::catalog::IndexState::Readable) {
            let mut key = Vec::new();
            let mut rest = exprs.clone();
            let mut fits = true;
            for part in &index.parts {
                match &part.key {
                    IndexKey::Column(c) => key.push(*c),
                    IndexKey::Expr(sql) => {
                        let expr = bound(self, sql)?;
                        match rest.iter().position(|e| super::function::same_expr(e, &expr)) {
                            Some(at) => drop(rest.remove(at)),
                            None => fits = exprs.iter().any(|e| super::function::same_expr(e, &expr)),
                        }
                    }
                }
            }
            key.sort_unstable_by_key(|c| c.0);
            key.dedup();
            if !fits || !rest.is_empty() || key != columns {
                continue;
            }
            // A partial index is inferred only where the condition given implies its own.
            if let Some(own) = &index.predicate {
                let own = bound(self, own)?;
                if !predicate.as_ref().is_some_and(|p| implies(p, &own)) {
                    continue;
                }
            }
            out.push(index.oid);
        }
        if out.is_empty() {
            return Err(PgError::new(
                SqlState::INVALID_COLUMN_REFERENCE,
                "there is no unique or exclusion constraint matching the ON CONFLICT specification",
            ));
        }
        Ok(out)
    }

    /// `SET a = x, (b, c) = (y, z)`: values cast to their columns.
    fn bind_assignments(&mut self, table: &Arc<TableDescriptor>, assignments: &[ast::Assignment]) -> PgResult<Vec<(ColumnId, Expr)>> {
        let mut out: Vec<(ColumnId, Expr)> = Vec::new();
        for assignment in assignments {
            match &assignment.target {
                ast::AssignmentTarget::ColumnName(name) => {
                    let (plain, subscripts) = self.subscripts_of(name)?;
                    if !subscripts.is_empty() {
                        self.push_bound_part(&mut out, table, &plain, subscripts, &assignment.value)?;
                        continue;
                    }
                    let column = match self.assigned_column(table, name) {
                        Ok(column) => column,
                        Err(missing) => {
                            // Errors in the values come first.
                            for value in assignments.iter().map(|a| &a.value).filter(|v| !is_default(v)) {
                                self.in_clause(Clause::UpdateSet, |b| b.bind_expr(value))?;
                            }
                            return Err(missing);
                        }
                    };
                    let value = self.assigned_value(&column, &assignment.value)?;
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
                            let (name, subscripts) = self.subscripts_of(name)?;
                            let place = Place { column: self.assigned_column(table, &name)?, subscripts };
                            let value = match &row {
                                Some(row) => ExprKind::Field { arg: Box::new(row.clone()), index },
                                None => {
                                    let one = Query { rel: query.rel.clone(), outputs: vec![output.clone()] };
                                    ExprKind::ScalarSubquery(Box::new(one))
                                }
                            };
                            let value = Expr::new(value, output.ty.clone());
                            let value = self.coerce_assignment(value, &place.ty()?, &place.column.name)?;
                            if place.subscripts.is_empty() {
                                push_assignment(&mut out, &place.column, value)?;
                            } else {
                                self.push_part(&mut out, &place, value)?;
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
                    if items.len() != names.len() {
                        return Err(
                            PgError::new(SqlState::SYNTAX_ERROR, "number of columns does not match number of values").at(self.pos(inner))
                        );
                    }
                    let names = names.iter().map(|n| self.subscripts_of(n)).collect::<PgResult<Vec<_>>>()?;
                    let columns = names.iter().map(|(n, _)| self.assigned_column(table, n)).collect::<PgResult<Vec<_>>>()?;
                    for ((column, (name, subscripts)), item) in columns.iter().zip(names).zip(items) {
                        if subscripts.is_empty() {
                            let value = self.assigned_value(column, item)?;
                            push_assignment(&mut out, column, value)?;
                        } else {
                            self.push_bound_part(&mut out, table, &name, subscripts, item)?;
                        }
                    }
                }
            }
        }
        Ok(out)
    }

    /// `SET a[1] = x`, of what is written.
    fn push_bound_part(
        &mut self,
        out: &mut Vec<(ColumnId, Expr)>,
        table: &TableDescriptor,
        name: &ast::ObjectName,
        subscripts: Vec<ast::Subscript>,
        value: &E,
    ) -> PgResult<()> {
        let place = Place { column: self.assigned_column(table, name)?, subscripts };
        if is_default(value) {
            return Err(no_default_of_parts().at(self.pos(value)));
        }
        let ty = place.ty()?;
        let bound = self.in_clause(Clause::UpdateSet, |b| b.bind_expr(value))?;
        let value = self.coerce_assignment(bound, &ty, &place.column.name).map_err(|e| e.at(self.pos(value)))?;
        self.push_part(out, &place, value)
    }

    /// `SET a[1] = x`: what the statement has already put into the column stays.
    fn push_part(&mut self, out: &mut Vec<(ColumnId, Expr)>, place: &Place, value: Expr) -> PgResult<()> {
        let Place { column, subscripts } = place;
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
        let value = self.in_clause(Clause::UpdateSet, |b| b.assign_part(column, base, subscripts, value))?;
        out.push((column.id, value));
        Ok(())
    }

    /// A subquery for several columns that might give another row when it is asked again: a column that holds its row, computed once below
    /// the assignments. `None` where each column may ask on its own.
    fn one_choice(&mut self, query: &Query) -> PgResult<Option<Expr>> {
        let mut chooses = false;
        walk::visit_all(&query.rel, &mut |rel| {
            chooses |= matches!(rel, Rel::Limit { .. } | Rel::DistinctOn { .. }) || walk::exprs_of(rel).into_iter().any(walk_volatile);
        });
        if query.outputs.len() < 2 || !chooses || self.chosen_rows.is_none() {
            return Ok(None);
        }
        let row = self.row(query.outputs.iter().map(|o| Expr::column(o.col, o.ty.clone())).collect())?;
        let (inner, outer, ty) = (self.new_col(), self.new_col(), row.ty.clone());
        let rel = Rel::Project { input: Box::new(query.rel.clone()), exprs: vec![(inner, row)] };
        let Some(output) = query.outputs.first().cloned() else { return Ok(None) };
        let outputs = vec![Output { col: inner, ty: ty.clone(), ..output }];
        let asked = Expr::new(ExprKind::ScalarSubquery(Box::new(Query { rel, outputs })), ty.clone());
        if let Some(rows) = &mut self.chosen_rows {
            rows.push((outer, asked));
        }
        Ok(Some(Expr::column(outer, ty)))
    }

    fn assigned_column(&self, table: &TableDescriptor, name: &ast::ObjectName) -> PgResult<ColumnDescriptor> {
        let column = self.column_name(table, name).and_then(|column| self.target_column(table, &column).cloned());
        column.map_err(|e| e.at(self.pos(name)))
    }

    /// The one name by which a column of the target is told: what stands behind a dot is a field of it.
    fn column_name(&self, table: &TableDescriptor, name: &ast::ObjectName) -> PgResult<String> {
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

    fn assigned_value(&mut self, column: &ColumnDescriptor, e: &E) -> PgResult<Expr> {
        if is_default(e) {
            return if column.generated.is_some() { null_of(&column.ty) } else { self.default_of(column) };
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
        let (rel, old) = self.target_source(target, alias, from, update.selection.as_ref())?;
        for name in update.assignments.iter().flat_map(|a| assigned_names(&a.target)) {
            target.check_column(&name, "update")?;
        }
        let outer = self.chosen_rows.replace(Vec::new());
        let assignments = self.in_clause(Clause::UpdateSet, |b| b.bind_assignments(&target.shape, &update.assignments));
        let chosen = std::mem::replace(&mut self.chosen_rows, outer).unwrap_or_default();
        let mut assignments = assignments?;
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
        let (returning, returning_columns) = self.bind_returning(target, &alias, update.returning.as_deref(), Some(()))?;
        Ok(Mutation {
            table: MutationTarget(table.clone()),
            kind: MutationKind::Update { old, new },
            source: Box::new(rel),
            returning,
            returning_columns,
            checks: target.view_checks(),
        })
    }

    /// The target joined with FROM or USING and filtered; and the target's columns.
    fn target_source(
        &mut self,
        target: &Target,
        alias: Option<&ast::TableAlias>,
        from: &[ast::TableWithJoins],
        selection: Option<&E>,
    ) -> PgResult<(Rel, Vec<(ColumnId, ColId)>)> {
        let (scan, mut item) = self.scan_table(&target.table, alias)?;
        let old: Vec<_> = scan.columns.iter().copied().filter(|(id, _)| *id != crate::text::scan::SCORE).collect();
        let mut rel = Rel::Scan(Box::new(scan));
        if let Some(view) = &target.view {
            item = view.item(&alias.map_or_else(|| view.name.clone(), |a| fold(&a.name)), &old);
            let conditions = view.conditions(&old);
            if !conditions.is_empty() {
                rel = Rel::Filter { input: Box::new(rel), predicate: and(conditions) };
            }
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.add_item(item);
        }
        if !from.is_empty() {
            let right = self.bind_beside_target(from)?;
            rel = Rel::Join { left: Box::new(rel), right: Box::new(right), kind: JoinKind::Inner, on: None, lateral: false };
        }
        if let Some(condition) = selection {
            let predicate = match marks::cursor(condition) {
                Some(cursor) => self.is_current(target, &fold(cursor), &old)?,
                _ => vec![self.in_clause(Clause::Where, |b| {
                    let bound = b.bind_expr(condition)?;
                    b.coerce_bool(bound, "WHERE").map_err(|e| e.at(b.pos(condition)))
                })?],
            };
            rel = Rel::Filter { input: Box::new(rel), predicate: and(predicate) };
        }
        Ok((rel, old))
    }

    /// That a row of the target is the one on which a cursor stands.
    fn is_current(&mut self, target: &Target, cursor: &str, columns: &[(ColumnId, ColId)]) -> PgResult<Vec<Expr>> {
        if target.view.is_some() {
            return Err(PgError::unsupported("WHERE CURRENT OF on a view is not implemented").hint("Name the table that the view reads."));
        }
        self.names_cursor = true;
        let (table, system) = (&target.table, Arc::clone(&self.ctx.eval.system));
        let mut conditions = Vec::with_capacity(table.key.len());
        for (part, key) in (0_u64..).zip(&table.key) {
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
    fn passed_through(&self, _rel: &Rel, old: &[(ColumnId, ColId)], table: &TableDescriptor) -> Vec<(ColId, Expr)> {
        let mut out: Vec<(ColId, Expr)> =
            old.iter().filter_map(|(column, id)| table.column(*column).map(|c| (*id, Expr::column(*id, c.ty.clone())))).collect();
        for column in self.scope().items.iter().skip(1).flat_map(|i| &i.columns) {
            if let ExprKind::Column(id) = column.expr.kind
                && !out.iter().any(|(c, _)| *c == id)
            {
                out.push((id, column.expr.clone()));
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
        let table = target.table.clone();
        self.scopes.push(Scope::new(Clause::From));
        let outer = self.hints.enter(&delete.optimizer_hints);
        let using: &[ast::TableWithJoins] = delete.using.as_deref().unwrap_or(&[]);
        let result = self.target_source(&target, alias.as_ref(), using, delete.selection.as_ref()).and_then(|(rel, old)| {
            let exprs = self.passed_through(&rel, &old, &table);
            let rel = Rel::Project { input: Box::new(rel), exprs };
            let alias = alias.as_ref().map_or_else(|| target.shape.name.clone(), |a| fold(&a.name));
            let (returning, returning_columns) = self.bind_returning(&target, &alias, delete.returning.as_deref(), Some(()))?;
            Ok(Mutation {
                table: MutationTarget(table.clone()),
                kind: MutationKind::Delete { old },
                source: Box::new(rel),
                returning,
                returning_columns,
                checks: None,
            })
        });
        self.hints.leave(outer);
        self.scopes.pop();
        result
    }

    /// RETURNING: over the row as it is afterwards (for DELETE: as it was) and the other FROM items.
    #[allow(clippy::type_complexity)] // the list and the columns it is over
    fn bind_returning(
        &mut self,
        target: &Target,
        alias: &str,
        items: Option<&[ast::SelectItem]>,
        in_scope: Option<()>,
    ) -> PgResult<(Option<Vec<(Output, Expr)>>, Vec<(ColumnId, ColId)>)> {
        let table = &target.table;
        let Some(items) = items else { return Ok((None, Vec::new())) };
        let columns: Vec<(ColumnId, ColId)> = table.live_columns().map(|c| (c.id, self.new_col())).collect();
        let mut scope = Scope::new(Clause::Returning);
        match &target.view {
            Some(view) => {
                scope.local.extend(columns.iter().map(|(_, c)| *c));
                scope.add_item(view.item(alias, &columns));
            }
            None => {
                scope.add_table(table, alias, &|id| lookup(&columns, id));
                scope.set_schema(self.schema_of(table).filter(|_| alias == table.name));
            }
        }
        if in_scope.is_some() {
            let others: Vec<FromItem> = self.scope().items.iter().skip(1).cloned().collect();
            for item in others {
                for c in &item.columns {
                    if let ExprKind::Column(id) = c.expr.kind {
                        scope.local.insert(id);
                    }
                }
                scope.add_item(item);
            }
        }
        self.scopes.push(scope);
        let result = self.bind_returning_list(items);
        self.scopes.pop();
        Ok((Some(result?), columns))
    }

    /// The items beside a target, which none of them may refer to.
    fn bind_beside_target(&mut self, from: &[ast::TableWithJoins]) -> PgResult<Rel> {
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
        let targets = self.bind_targets(items)?;
        let mut out = Vec::with_capacity(targets.len());
        for (name, expr) in targets {
            if super::aggregate::has_aggregate(&expr) {
                return Err(PgError::new(SqlState::GROUPING_ERROR, "aggregate functions are not allowed in RETURNING"));
            }
            let expr = self.resolve_unknown(expr)?;
            let origin = self.origin_of(&expr);
            let col = self.new_col();
            out.push((Output { name, col, ty: expr.ty.clone(), origin }, expr));
        }
        Ok(out)
    }

    fn bind_merge(&mut self, merge: &ast::Merge) -> PgResult<Mutation> {
        let ast::TableFactor::Table { name, alias, .. } = &merge.table else {
            return Err(PgError::new(SqlState::SYNTAX_ERROR, "MERGE needs the name of a table"));
        };
        let table = self.target(name, "merge into")?.table;
        self.scopes.push(Scope::new(Clause::From));
        let result = self.bind_merge_in_scope(merge, &table, alias.as_ref());
        self.scopes.pop();
        result
    }

    fn bind_merge_in_scope(
        &mut self,
        merge: &ast::Merge,
        table: &Arc<TableDescriptor>,
        alias: Option<&ast::TableAlias>,
    ) -> PgResult<Mutation> {
        let (scan, item) = self.scan_table(table, alias)?;
        let old: Vec<_> = scan.columns.iter().copied().filter(|(id, _)| *id != crate::text::scan::SCORE).collect();
        if let Some(scope) = self.scopes.last_mut() {
            scope.add_item(item);
        }
        let source = ast::TableWithJoins { relation: merge.source.clone(), joins: Vec::new() };
        let right = self.bind_beside_target(std::slice::from_ref(&source))?;
        let on = self.in_clause(Clause::JoinOn, |b| {
            let bound = b.bind_expr(&merge.on)?;
            b.coerce_bool(bound, "JOIN/ON").map_err(|e| e.at(b.pos(merge.on.as_ref())))
        })?;
        let inserts = merge.clauses.iter().any(|c| !matches!(c.clause_kind, ast::MergeClauseKind::Matched));
        let kind = if inserts { JoinKind::Left } else { JoinKind::Inner };
        let rel = Rel::Join { left: Box::new(right), right: Box::new(Rel::Scan(Box::new(scan))), kind, on: Some(on), lateral: false };
        let exprs = self.passed_through(&rel, &old, table);
        let rel = Rel::Project { input: Box::new(rel), exprs };
        let mut arms = Vec::with_capacity(merge.clauses.len());
        let mut unconditional = [false; 2];
        for clause in &merge.clauses {
            let matched = match clause.clause_kind {
                ast::MergeClauseKind::Matched => true,
                ast::MergeClauseKind::NotMatched | ast::MergeClauseKind::NotMatchedByTarget => false,
                ast::MergeClauseKind::NotMatchedBySource => {
                    return Err(PgError::new(SqlState::SYNTAX_ERROR, "syntax error at or near \"BY\""));
                }
            };
            if unconditional[usize::from(matched)] {
                return Err(PgError::new(SqlState::SYNTAX_ERROR, "unreachable WHEN clause specified after unconditional WHEN clause"));
            }
            unconditional[usize::from(matched)] = clause.predicate.is_none();
            // Where nothing matched there is no target row to speak of.
            if !matched && let Some(scope) = self.scopes.last_mut() {
                scope.items[0].lateral_only = true;
            }
            let arm = self.bind_merge_arm(clause, matched, table);
            if let Some(scope) = self.scopes.last_mut() {
                scope.items[0].lateral_only = false;
            }
            arms.push(arm?);
        }
        Ok(Mutation {
            table: MutationTarget(table.clone()),
            kind: MutationKind::Merge { old, arms },
            source: Box::new(rel),
            returning: None,
            returning_columns: Vec::new(),
            checks: None,
        })
    }

    fn bind_merge_arm(&mut self, clause: &ast::MergeClause, matched: bool, table: &Arc<TableDescriptor>) -> PgResult<MergeArm> {
        let condition = match &clause.predicate {
            Some(e) => Some(self.in_clause(Clause::MergeCondition, |b| {
                let bound = b.bind_expr(e)?;
                b.coerce_bool(bound, "WHEN").map_err(|err| err.at(b.pos(e)))
            })?),
            None => None,
        };
        let action = match &clause.action {
            ast::MergeAction::Delete { .. } if matched => MergeAction::Delete,
            ast::MergeAction::Update(update) if matched => {
                if update.assignments.is_empty() {
                    MergeAction::DoNothing
                } else {
                    MergeAction::Update(self.in_clause(Clause::UpdateSet, |b| b.bind_assignments(table, &update.assignments))?)
                }
            }
            ast::MergeAction::Insert(insert) if !matched => self.bind_merge_insert(insert, table)?,
            _ => return Err(PgError::new(SqlState::SYNTAX_ERROR, "this action does not fit its WHEN clause")),
        };
        Ok(MergeArm { matched, condition, action })
    }

    fn bind_merge_insert(&mut self, insert: &ast::MergeInsertExpr, table: &Arc<TableDescriptor>) -> PgResult<MergeAction> {
        let ast::MergeInsertKind::Values(values) = &insert.kind else { return Ok(MergeAction::DoNothing) };
        let overriding = self.take_overriding(&insert.columns);
        let result = self.bind_merge_values(insert, values, table);
        (self.overriding_system, self.overriding_user) = overriding;
        result
    }

    fn bind_merge_values(
        &mut self,
        insert: &ast::MergeInsertExpr,
        values: &ast::Values,
        table: &Arc<TableDescriptor>,
    ) -> PgResult<MergeAction> {
        let mut targets: Vec<Place> = Vec::new();
        for name in insert.columns.iter().filter(|c| !is_overriding(c)) {
            let (name, subscripts) = self.subscripts_of(name)?;
            let place = Place { column: self.assigned_column(table, &name)?, subscripts };
            if targets.iter().any(|other| place.is_twice(other)) {
                let message = format!("column \"{}\" specified more than once", place.column.name);
                return Err(PgError::new(SqlState::DUPLICATE_COLUMN, message).at(self.pos(&name)));
            }
            targets.push(place);
        }
        if targets.is_empty() {
            targets = table.visible_columns().cloned().map(Place::whole).collect();
        }
        let row = values.rows.first().map_or(&[][..], |r| r.content.as_slice());
        if row.len() > targets.len() {
            return Err(PgError::new(SqlState::SYNTAX_ERROR, "INSERT has more expressions than target columns"));
        }
        if row.len() < targets.len() && insert.columns.iter().any(|c| !is_overriding(c)) {
            return Err(PgError::new(SqlState::SYNTAX_ERROR, "INSERT has more target columns than expressions"));
        }
        let mut places: Vec<Place> = Vec::with_capacity(row.len());
        let mut values: Vec<Expr> = Vec::with_capacity(row.len());
        for (place, e) in targets.into_iter().zip(row) {
            let column = &place.column;
            let value = if is_default(e) && !place.subscripts.is_empty() {
                return Err(no_default_of_parts().at(self.pos(e)));
            } else if is_default(e) || (self.overriding_user && column.identity.is_some()) {
                if column.generated.is_some() { continue } else { self.default_of(column)? }
            } else {
                self.check_assignable(column)?;
                let bound = self.in_clause(Clause::Values, |b| b.bind_expr(e))?;
                self.coerce_assignment(bound, &place.ty()?, &column.name).map_err(|err| err.at(self.pos(e)))?
            };
            places.push(place);
            values.push(value);
        }
        let mut list = self.in_clause(Clause::Values, |b| b.gathered(&places, values))?;
        for column in table.visible_columns() {
            if column.generated.is_none() && !list.iter().any(|(c, _)| *c == column.id) {
                let value = self.default_of(column)?;
                list.push((column.id, value));
            }
        }
        Ok(MergeAction::Insert(list))
    }
}

fn lookup(columns: &[(ColumnId, ColId)], id: ColumnId) -> ColId {
    columns.iter().find(|(c, _)| *c == id).map_or(ColId(0), |(_, col)| *col)
}

/// How many values an INSERT gives for each row, where its text tells.
fn source_width(insert: &ast::Insert) -> usize {
    match insert.source.as_deref().map(|q| &*q.body) {
        Some(SetExpr::Values(values)) => values.rows.first().map_or(0, |r| r.content.len()),
        Some(SetExpr::Select(select)) => select.projection.len(),
        _ => 0,
    }
}

/// The columns that an assignment names.
fn assigned_names(target: &ast::AssignmentTarget) -> Vec<String> {
    let names: &[ast::ObjectName] = match target {
        ast::AssignmentTarget::ColumnName(name) => std::slice::from_ref(name),
        ast::AssignmentTarget::Tuple(names) => names,
    };
    names.iter().filter_map(|n| n.0.first()?.as_ident().map(fold)).collect()
}

/// Whether a column of INSERT is the mark of OVERRIDING.
fn is_overriding(name: &ast::ObjectName) -> bool {
    name.0.first().is_some_and(|p| marks::ident(p, marks::OVERRIDING).is_some())
}

/// Whether a value is the word DEFAULT.
pub(crate) fn is_default(e: &E) -> bool {
    match e {
        E::Nested(inner) => is_default(inner),
        E::Identifier(i) => i.quote_style.is_none() && i.value.eq_ignore_ascii_case("default"),
        _ => false,
    }
}

/// Whether each part of `wanted` is a part of `given`.
fn implies(given: &Expr, wanted: &Expr) -> bool {
    let parts = |e: &Expr| match &e.kind {
        ExprKind::And(list) => list.clone(),
        _ => vec![e.clone()],
    };
    let given = parts(given);
    parts(wanted).iter().all(|w| given.iter().any(|g| super::function::same_expr(g, w)))
}

fn twice(column: &ColumnDescriptor) -> PgError {
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

/// What UPSERT does with the row that has the key, when the statement names columns or none.
fn replacing(target: &Target, named: Option<&Vec<ColumnId>>) -> PgResult<OnConflict> {
    let table = &target.table;
    if target.view.is_some() {
        return Err(PgError::unsupported("UPSERT into a view is not supported").hint("Name the table, or use INSERT with ON CONFLICT."));
    }
    if table.primary_key.is_none() {
        let message = format!("UPSERT needs a primary key, which table \"{}\" does not have", table.name);
        return Err(PgError::new(SqlState::INVALID_COLUMN_REFERENCE, message).hint("Without one, no row replaces another: use INSERT."));
    }
    let Some(named) = named else { return Ok(OnConflict::Replace { columns: None }) };
    let is_named = |column: &ColumnDescriptor| column.generated.is_some() || named.contains(&column.id);
    let columns = if table.visible_columns().all(is_named) { None } else { Some(named.clone()) };
    Ok(OnConflict::Replace { columns })
}
