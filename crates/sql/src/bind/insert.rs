//! INSERT and ON CONFLICT.

use super::assign::{Place, no_default_of_parts};
use super::dml::{ReturnedMaps, is_default, lookup, names_any, null_of};
use super::scope::{Clause, Scope};
use super::updatable::Target;
use super::{Binder, fold, name_parts};
use crate::typed::tree::{Arbiters, ColId, Expr, ExprKind, Mutation, MutationKind, MutationTarget, OnConflict, Rel, XMAX};
use crate::typed::walk;
use crate::typed::walk::walk_volatile;
use datafusion_common::ScalarValue;
use std::collections::HashMap;
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_syntax::ast::{self, Expr as E, SetExpr};
use stoa_syntax::marks;
use stoa_table::catalog::{ColumnDescriptor, ColumnId, IndexKey, Privileges, TableDescriptor};

impl Binder<'_> {
    pub(super) fn bind_insert(&mut self, insert: &ast::Insert) -> PgResult<Mutation> {
        let ast::TableObject::TableName(name) = &insert.table else {
            return Err(PgError::new(SqlState::SYNTAX_ERROR, "INSERT needs the name of a table"));
        };
        if insert.overwrite || insert.ignore || insert.or.is_some() {
            return Err(PgError::unsupported("this form of INSERT is not supported"));
        }
        let target = self.target(name, "insert into")?;
        target.check_defaults()?;
        self.note_use(target.table.oid, None);
        self.note_writes(&target.levels, Privileges::INSERT, &[]);
        let overriding = self.take_overriding(&insert.columns);
        let outer = self.hints.enter(&insert.optimizer_hints);
        let result = self.bind_insert_into(insert, &target);
        self.hints.leave(outer);
        self.loads |= std::mem::take(&mut self.hints.loads);
        (self.overriding_system, self.overriding_user) = overriding;
        result
    }

    /// Sets what OVERRIDING among an INSERT's columns says; gives what was set before.
    pub(super) fn take_overriding(&mut self, columns: &[ast::ObjectName]) -> (bool, bool) {
        let before = (self.overriding_system, self.overriding_user);
        let args = columns.last().and_then(|c| c.0.first()).and_then(|p| marks::in_part(p, marks::OVERRIDING));
        let word = |word: &str| matches!(args.as_deref(), Some([E::Identifier(named)]) if named.value == word);
        (self.overriding_system, self.overriding_user) = (word("system"), word("user"));
        before
    }

    fn bind_insert_into(&mut self, insert: &ast::Insert, target: &Target) -> PgResult<Mutation> {
        let table = target.table.clone();
        let mut given: Vec<Place> = Vec::new();
        let partitioned = self.partitioned(insert.partitioned.as_deref(), target)?;
        let named: Vec<&ast::ObjectName> = insert.columns.iter().chain(&partitioned).filter(|c| !is_overriding(c)).collect();
        self.undeclared_of_list(target, &named)?;
        for column in named.iter().copied() {
            let name = column.0.first().and_then(|part| part.as_ident()).map(fold).unwrap_or_default();
            target.check_column(&name, "insert into").map_err(|e| e.at(self.pos(column)))?;
            let place = self.place_of(&target.shape, column)?;
            place.ty()?;
            if given.iter().any(|other| place.is_twice(other)) {
                let message = format!("column \"{}\" specified more than once", place.name());
                return Err(PgError::new(SqlState::DUPLICATE_COLUMN, message).at(self.pos(column)));
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
        let written: Vec<ColumnId> = targets.iter().take(values.len()).map(|place| place.column.id).collect();
        self.note_writes(&target.levels, Privileges::INSERT, &written);
        let replaces = insert.on.is_none() && (insert.replace_into || target.table.overwrites());
        if replaces {
            self.note_writes(&target.levels, Privileges::UPDATE, &written);
        }
        let mut values: HashMap<ColumnId, Expr> =
            self.in_clause(Clause::Values, |b| b.gathered(&targets, values, replaces))?.into_iter().collect();
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
            let value = if column.is_map() { self.map_or_empty(column, value)? } else { value };
            let id = self.new_col();
            exprs.push((id, value));
            columns.push((column.id, id));
        }
        self.default_with_rows(&mut rel, &mut exprs);
        rel = Rel::Project { input: Box::new(rel), exprs };
        rel = self.with_generated(rel, &table, &mut columns)?;
        let alias = insert.table_alias.as_ref().map_or_else(|| target.shape.name.clone(), |a| fold(&a.alias));
        let arbitrated = matches!(&insert.on, Some(ast::OnInsert::OnConflict(on)) if on.conflict_target.is_some());
        let on_conflict = match &insert.on {
            None if replaces => replacing(target, listed.then(|| targets.iter().map(|place| place.column.id).collect()).as_ref())?,
            None => OnConflict::Error,
            Some(ast::OnInsert::OnConflict(on)) => self.bind_on_conflict(target, on, &alias)?,
            Some(_) => return Err(PgError::new(SqlState::SYNTAX_ERROR, "syntax error at or near \"DUPLICATE\"")),
        };
        let plain = target.view.is_none() && matches!(on_conflict, OnConflict::Error | OnConflict::DoNothing { .. });
        let returned = if plain { ReturnedMaps::Written } else { ReturnedMaps::Left };
        let xmax = match &on_conflict {
            OnConflict::DoUpdate { .. } => Some(Expr::column(self.new_col(), SqlType::new(PgType::Xid))),
            OnConflict::Error | OnConflict::DoNothing { .. } => {
                Some(Expr::new(ExprKind::Const(ScalarValue::UInt32(Some(0))), SqlType::new(PgType::Xid)))
            }
            // What is replaced is not looked at.
            OnConflict::Replace { .. } => None,
        };
        let told = xmax.as_ref().and_then(|xmax| if let ExprKind::Column(col) = xmax.kind { Some((XMAX, col)) } else { None });
        self.returned_xmax = xmax.map(|xmax| (table.oid, xmax));
        let returned = self.bind_returning(target, &alias, insert.returning.as_deref(), None, returned);
        self.returned_xmax = None;
        let (returning, mut returning_columns) = returned?;
        returning_columns.extend(told.filter(|told| names_any(returning.iter().flatten().map(|(_, e)| e), &[*told])));
        // What decides which row is in the way is read, and so is what DO UPDATE names of that row.
        let updates = match &on_conflict {
            OnConflict::DoUpdate { existing, assignments, condition, .. } => {
                names_any(assignments.iter().map(|(_, e)| e).chain(condition), existing)
            }
            OnConflict::Replace { .. } => true,
            OnConflict::Error | OnConflict::DoNothing { .. } => false,
        };
        let replaces_rows = matches!(on_conflict, OnConflict::DoUpdate { .. } | OnConflict::Replace { .. });
        let reads = arbitrated || updates || names_any(returning.iter().flatten().map(|(_, e)| e), &returning_columns);
        Ok(Mutation {
            table: MutationTarget(table),
            kind: MutationKind::Insert { columns, on_conflict },
            source: Box::new(rel),
            usage: target.usage(None, reads),
            returning,
            returning_columns,
            checks: target.view_checks(replaces_rows),
        })
    }

    /// All columns of the target, those of PARTITION last.
    fn partitioned(&self, partition: Option<&[E]>, target: &Target) -> PgResult<Vec<ast::ObjectName>> {
        let Some(partition) = partition else { return Ok(Vec::new()) };
        let mut last = Vec::with_capacity(partition.len());
        for column in partition {
            let E::Identifier(ident) = column else { return Err(PgError::internal("a partition without a column")) };
            let found = self.assigned_column(&target.shape, &ast::ObjectName::from(vec![ident.clone()]))?;
            if !target.table.is_primary(found.id) {
                let message = format!("column \"{}\" does not partition table \"{}\"", found.name, target.shape.name);
                return Err(PgError::new(SqlState::INVALID_COLUMN_REFERENCE, message)
                    .hint("A partition is named by columns of the primary key.")
                    .at(self.pos_span(ident.span)));
            }
            last.push(found.name);
        }
        let named = |name: &String| ast::ObjectName::from(vec![ast::Ident::with_quote('"', name.as_str())]);
        let others = target.shape.visible_columns().filter(|c| c.generated.is_none()).map(|c| &c.name).filter(|name| !last.contains(name));
        Ok(others.chain(&last).map(named).collect())
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
                for ((e, bound), (place, ty)) in row.content.iter().zip(read).zip(places.iter().zip(&types)) {
                    let column = &place.column;
                    let value = match bound {
                        Some(bound) => self
                            .check_assignable(column)
                            .and_then(|()| self.coerce_assignment(bound, ty, place.name()).map_err(|err| err.at(self.pos(e)))),
                        None if place.undeclared.is_some() => null_of(ty),
                        None if place.is_part() => Err(no_default_of_parts().at(self.pos(e))),
                        // An identity that is not taken from here takes no value of its sequence here.
                        None if column.generated.is_some() || (self.overriding_user && column.identity.is_some()) => null_of(&column.ty),
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
            let literal = self.take_untyped(&mut query.rel, output);
            let value = literal.unwrap_or_else(|| Expr::column(output.col, output.ty.clone()));
            given.push(self.coerce_assignment(value, &place.ty()?, place.name())?);
        }
        Ok((query.rel, given))
    }

    /// Computes generated columns on top of a relation that gives the others; `columns` says where each column is.
    pub(super) fn with_generated(&mut self, rel: Rel, table: &TableDescriptor, columns: &mut Vec<(ColumnId, ColId)>) -> PgResult<Rel> {
        let generated: Vec<ColumnDescriptor> = table.visible_columns().filter(|c| c.generated.is_some()).cloned().collect();
        if generated.is_empty() {
            return Ok(rel);
        }
        let map: HashMap<ColId, ColId> = columns.iter().map(|(column, id)| (ColId(column.0), *id)).collect();
        let mut exprs: Vec<(ColId, Expr)> = Vec::new();
        for column in &generated {
            let Some(mut value) = super::bind_generated(&self.ctx, table, column)? else { continue };
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

    fn bind_on_conflict(&mut self, target: &Target, on: &ast::OnConflict, alias: &str) -> PgResult<OnConflict> {
        let table = &target.shape;
        let arbiters = match &on.conflict_target {
            None => None,
            Some(ast::ConflictTarget::Columns(_)) => {
                return Err(PgError::internal("columns of ON CONFLICT that the grammar does not make"));
            }
            Some(ast::ConflictTarget::OnConstraint(name))
                if name.0.first().is_some_and(|p| marks::in_part(p, marks::COLUMNS).is_some()) =>
            {
                let of = |mark| name.0.iter().find_map(|part| marks::in_part(part, mark)).unwrap_or_default();
                let (columns, condition) = (of(marks::COLUMNS), of(marks::PREDICATE).first().copied());
                // What decides which row is in the way is read.
                for column in columns.iter().filter(|_| target.view.is_none()) {
                    if let E::Identifier(name) = column
                        && let Some(column) = table.column_by_name(&fold(name))
                    {
                        self.note_read(table.oid, column.id);
                    }
                }
                Some(self.inferred(table, alias, &columns, condition)?)
            }
            Some(ast::ConflictTarget::OnConstraint(name)) => {
                let name = name_parts(name)?.last().cloned().unwrap_or_default();
                let primary = table.primary_key.as_ref().filter(|p| p.name == name).map(|_| 0);
                let index = table.indexes.iter().find(|i| i.unique && i.constraint.as_ref().is_some_and(|c| c.name == name));
                let parts = index.into_iter().flat_map(|i| &i.parts);
                let of_index = parts.filter_map(|p| if let IndexKey::Column(id) = p.key { Some(id) } else { None });
                let of_key = primary.iter().flat_map(|_| table.key.iter().map(|p| p.column));
                for column in of_key.chain(of_index).filter(|_| target.view.is_none()) {
                    self.note_read(table.oid, column);
                }
                match primary.or(index.map(|i| i.oid)) {
                    Some(oid) => Some(Arbiters::These(vec![oid])),
                    None if crate::catalog::names::has_constraint(table, &name) => {
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
                let all = table.live_columns().chain(table.map_columns());
                let excluded: Vec<(ColumnId, ColId)> = all.map(|c| (c.id, self.new_col())).collect();
                match &target.view {
                    // The rows are the view's, with the columns that it computes.
                    Some(view) => {
                        scope.local.extend(existing.iter().chain(&excluded).map(|(_, c)| *c));
                        scope.add_item(view.item(alias, &existing));
                        scope.set_schema(self.schema_of(table).filter(|_| alias == table.name));
                        scope.add_item(view.item("excluded", &excluded));
                    }
                    None => {
                        scope.add_table(table, alias, &|id| lookup(&existing, id));
                        scope.set_schema(self.schema_of(table).filter(|_| alias == table.name));
                        self.show_undeclared(&mut scope, table)?;
                        scope.add_table(table, "excluded", &|id| lookup(&excluded, id));
                        scope.give_maps(table, &excluded);
                        self.show_undeclared(&mut scope, table)?;
                    }
                }
                self.note_writes(&target.levels, Privileges::UPDATE, &[]);
                self.scopes.push(scope);
                let result = self.bind_conflict_update(target, update);
                self.scopes.pop();
                let (assignments, condition) = result?;
                let assigned: Vec<ColumnId> = assignments.iter().map(|(column, _)| *column).collect();
                self.note_writes(&target.levels, Privileges::UPDATE, &assigned);
                Ok(OnConflict::DoUpdate { arbiters, existing, excluded, assignments, condition })
            }
        }
    }

    #[allow(clippy::type_complexity)] // the two parts of DO UPDATE
    fn bind_conflict_update(&mut self, target: &Target, update: &ast::DoUpdate) -> PgResult<(Vec<(ColumnId, Expr)>, Option<Expr>)> {
        let assignments = self.bind_assignments(target, &update.assignments)?;
        let condition = match &update.selection {
            Some(e) => Some(self.in_clause(Clause::Where, |b| {
                let bound = b.bind_expr(e)?;
                b.coerce_condition(bound, "WHERE").map_err(|err| err.at(b.pos(e)))
            })?),
            None => None,
        };
        Ok((assignments, condition))
    }
}

/// How many values an INSERT gives for each row, where its text tells.
fn source_width(insert: &ast::Insert) -> usize {
    match insert.source.as_deref().map(|q| &*q.body) {
        Some(SetExpr::Values(values)) => values.rows.first().map_or(0, |r| r.content.len()),
        Some(SetExpr::Select(select)) => select.projection.len(),
        _ => 0,
    }
}

/// Whether a column of INSERT is the mark of OVERRIDING.
pub(super) fn is_overriding(name: &ast::ObjectName) -> bool {
    name.0.first().is_some_and(|p| marks::in_part(p, marks::OVERRIDING).is_some())
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
    if let Some(time) = table.timestamp.filter(|time| !named.contains(time)).and_then(|time| table.column(time)) {
        let message = format!("UPSERT into table \"{}\" must give a value for column \"{}\"", table.name, time.name);
        return Err(PgError::new(SqlState::INVALID_COLUMN_REFERENCE, message)
            .detail("It tells whether the row is newer than the one that is there.")
            .hint("Name the column as well, or use UPDATE."));
    }
    let is_named = |column: &ColumnDescriptor| column.generated.is_some() || named.contains(&column.id);
    let columns = if table.visible_columns().all(is_named) { None } else { Some(named.clone()) };
    Ok(OnConflict::Replace { columns })
}
