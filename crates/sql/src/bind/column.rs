//! References to columns, whole rows and system columns.

use super::access::SYSTEM_COLUMN;
use super::expr::{bool_type, or};
use super::scope::{Clause, FromItem, Refusal, ScopeColumn, record_type};
use super::sqlparser_span::Span;
use super::{Binder, fold, row_address};
use crate::typed::tree::{Expr, ExprKind};
use datafusion_common::ScalarValue;
use stoa_pg::types::RecordType;
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_syntax::ast;
use stoa_table::catalog::{FIRST_USER_OID, Relation};

impl Binder<'_> {
    /// A name of one to four parts: a column, a field, a whole row.
    pub fn bind_column(&mut self, parts: &[ast::Ident]) -> PgResult<Expr> {
        let names: Vec<String> = parts.iter().map(fold).collect();
        let span = parts.first().map_or_else(Span::empty, |p| p.span);
        let position = self.pos_span(span);
        let result = match names.as_slice() {
            [column] => self.bind_unqualified(column, span),
            [table, column] => self.bind_qualified(None, table, column, span),
            [schema, table, column] => self.bind_qualified(Some(schema), table, column, span),
            [database, _, _, _] if !self.ctx.catalog.is_this_database(database) => {
                Err(PgError::unsupported(format!("cross-database references are not implemented: {}", names.join("."))))
            }
            [_, schema, table, column] => self.bind_qualified(Some(schema), table, column, span),
            _ => Err(PgError::new(SqlState::SYNTAX_ERROR, format!("improper qualified name (too many dotted names): {}", names.join(".")))),
        };
        if let (Ok(Expr { kind: ExprKind::Column(id), .. }), Some(position)) = (&result, position)
            && self.scopes.last().is_none_or(|scope| scope.clause != Clause::Aggregate)
        {
            self.column_positions.entry(*id).or_insert(position);
        }
        result.map_err(|e| e.at(position))
    }

    /// The name of a FROM item is its whole row; of a function with one column, that column.
    pub(super) fn row_of_item(&mut self, name: &str, span: Span) -> PgResult<Option<Expr>> {
        for depth in (0..self.scopes.len()).rev() {
            let scope = &self.scopes[depth];
            let item = scope.items.iter().find(|i| i.alias == name && !i.lateral_only);
            if let Some(item) = item {
                if let Some(refusal) = item.refused {
                    return Err(lateral_error(name, refusal));
                }
                if item.scalar
                    && let [one] = item.columns.as_slice()
                {
                    return Ok(Some(one.expr.clone()));
                }
                let item = item.clone();
                let row = whole_row(&item);
                self.wants_marks |= needs_mark(&item);
                self.note_meaning(span, &item);
                for c in &item.columns {
                    self.note_origin(c.origin);
                }
                return Ok(Some(row));
            }
        }
        Ok(None)
    }

    /// Whether a name is that of an item's row, and of no column.
    pub(super) fn names_row(&self, name: &str) -> bool {
        let is_column = self.scopes.iter().flat_map(|scope| &scope.star).any(|star| star.name == name);
        !is_column && self.scopes.iter().flat_map(|scope| &scope.items).any(|item| item.alias == name && !item.scalar)
    }

    fn bind_unqualified(&mut self, name: &str, span: Span) -> PgResult<Expr> {
        for depth in (0..self.scopes.len()).rev() {
            let scope = &self.scopes[depth];
            let mut found: Option<(Expr, Option<(u32, u32)>, Option<PgError>, Option<usize>)> = None;
            for star in scope.star.iter().filter(|s| s.name == name) {
                if star.item.is_some_and(|i| scope.items[i].lateral_only) {
                    continue;
                }
                if found.is_some() {
                    return Err(PgError::new(SqlState::AMBIGUOUS_COLUMN, format!("column reference \"{name}\" is ambiguous")));
                }
                let item = star.item.map(|i| &scope.items[i]);
                let refused = item.and_then(|item| item.refused.map(|why| lateral_error(&item.alias, why)));
                found = Some((star.expr.clone(), star.origin, refused, star.item));
            }
            if let Some((expr, origin, refused, item)) = found {
                if let Some(error) = refused {
                    return Err(error);
                }
                if let Some(item) = item {
                    self.note_column(span, depth, item);
                }
                self.note_origin(origin);
                return Ok(expr);
            }
            if let Some(expr) = self.system_column(name, depth)? {
                return Ok(expr);
            }
        }
        // What SEARCH and CYCLE add may be used in the recursion; what a table with a period tells of its versions, everywhere.
        let hidden = format!("{}{name}", super::search::HIDDEN);
        for scope in self.scopes.iter().rev() {
            let mut added = scope.star.iter().filter(|s| s.name == hidden);
            match (added.next(), added.next()) {
                (Some(_), Some(_)) => {
                    return Err(PgError::new(SqlState::AMBIGUOUS_COLUMN, format!("column reference \"{name}\" is ambiguous")));
                }
                (Some(added), None) => return Ok(added.expr.clone()),
                (None, _) => {}
            }
        }
        // Columns, of outer queries too, go before.
        if let Some(row) = self.row_of_item(name, span)? {
            return Ok(row);
        }
        let error = PgError::new(SqlState::UNDEFINED_COLUMN, format!("column \"{name}\" does not exist"));
        let known = self
            .scopes
            .iter()
            .rev()
            .flat_map(|s| s.items.iter().flat_map(|i| i.columns.iter().map(move |c| (i.alias.as_str(), c.name.as_str()))));
        let known: Vec<(&str, &str)> = known.collect();
        if let Some(better) = super::suggest::closest_column(name, known.iter().map(|(_, c)| *c)) {
            let table = known.iter().find(|(_, c)| *c == better).map_or("", |(t, _)| *t);
            let full = if table.is_empty() { better.to_owned() } else { format!("{table}.{better}") };
            return Err(error.hint(format!("Perhaps you meant to reference the column \"{full}\".")));
        }
        let items = self.scopes.iter().rev().flat_map(|scope| &scope.items);
        let takes = |oid: u32| self.ctx.catalog.table(oid).is_some_and(|table| table.dynamic_column().is_some());
        Err(match items.into_iter().find(|item| item.table_oid.is_some_and(takes)) {
            Some(item) if self.clause() == Clause::Policy => error.hint(format!(
                "Undeclared columns of \"{}\" are named with their types behind ON: {} ({name} text).",
                item.alias, item.alias
            )),
            // What is computed of a row by itself reads no entries.
            Some(item) if self.clause().is_of_stored_rows() => error.hint(format!(
                "An undeclared column can be used here once it is declared: ALTER TABLE {} ADD COLUMN {name} … FROM DYNAMIC.",
                item.alias
            )),
            Some(item) => error.hint(format!(
                "Undeclared columns of \"{}\" are named with their types in FROM: {} ({name} text).",
                item.alias, item.alias
            )),
            None => error,
        })
    }

    /// `tableoid` and its like, of the one table in a scope; none if no item is a table.
    fn system_column(&mut self, name: &str, depth: usize) -> PgResult<Option<Expr>> {
        let mut found: Option<((u32, Expr), FromItem)> = None;
        for item in self.scopes[depth].items.iter().filter(|i| !i.lateral_only) {
            let Some(column) = self.system_column_of(name, item, depth) else { continue };
            if found.is_some() {
                return Err(PgError::new(SqlState::AMBIGUOUS_COLUMN, format!("column reference \"{name}\" is ambiguous")));
            }
            if let Some(why) = item.refused {
                return Err(lateral_error(&item.alias, why));
            }
            found = Some((column, item.clone()));
        }
        let Some(((relation, column), item)) = found else { return Ok(None) };
        self.note_read(relation, SYSTEM_COLUMN);
        self.wants_marks |= needs_mark(&item);
        Ok(Some(where_found(&item, column)))
    }

    /// A column that tables have without having been given it. Those that tell of transactions are the catalogs' alone: all rows of
    /// these are of the change that made the catalog what it is. Only `xmax` of what INSERT returns is known of other rows.
    fn system_column_of(&self, name: &str, item: &FromItem, depth: usize) -> Option<(u32, Expr)> {
        let relation = item.table_oid?;
        if !self.has_system_columns(relation) {
            return None;
        }
        if let Some((of, value)) = &self.returned_xmax
            && (name, *of, self.scopes[depth].clause) == ("xmax", relation, Clause::Returning)
        {
            return Some((relation, value.clone()));
        }
        let number = match name {
            "tableoid" => {
                return Some((relation, Expr::new(ExprKind::Const(ScalarValue::UInt32(Some(relation))), SqlType::new(PgType::Oid))));
            }
            // What is stored is computed of values alone.
            "ctid" if !self.scopes[depth].clause.is_of_stored_rows() => return Some((relation, row_address::address(item)?)),
            "xmin" => u32::try_from(self.ctx.catalog.version).unwrap_or(u32::MAX),
            "xmax" => 0,
            _ => return None,
        };
        let of_catalogs = relation < FIRST_USER_OID;
        of_catalogs.then(|| (relation, Expr::new(ExprKind::Const(ScalarValue::UInt32(Some(number))), SqlType::new(PgType::Xid))))
    }

    pub(super) fn has_system_columns(&self, relation: u32) -> bool {
        match self.ctx.catalog.relation(relation).map(|r| &**r) {
            Some(Relation::Table(_) | Relation::Sequence(_)) => true,
            Some(Relation::View(view)) => view.materialized.is_some(),
            None => crate::system_relations::is_table(relation),
        }
    }

    pub(super) fn bind_qualified(&mut self, schema: Option<&str>, table: &str, column: &str, span: Span) -> PgResult<Expr> {
        let mut hidden = false;
        for depth in (0..self.scopes.len()).rev() {
            let scope = &self.scopes[depth];
            let mut items = scope.items.iter().filter(|i| i.alias == table && schema.is_none_or(|s| i.schema.as_deref() == Some(s)));
            let Some(item) = items.next() else { continue };
            if item.lateral_only {
                hidden = true;
                continue;
            }
            if items.next().is_some() {
                return Err(PgError::new(SqlState::AMBIGUOUS_ALIAS, format!("table reference \"{table}\" is ambiguous")));
            }
            if let Some(refusal) = item.refused {
                return Err(lateral_error(table, refusal));
            }
            let mut matches =
                item.columns.iter().filter(|c| c.name == column || c.name.strip_prefix(super::search::HIDDEN) == Some(column));
            if let Some(found) = matches.next() {
                if matches.next().is_some() {
                    return Err(PgError::new(SqlState::AMBIGUOUS_COLUMN, format!("column reference \"{column}\" is ambiguous")));
                }
                let (expr, origin) = (found.expr.clone(), found.origin);
                if self.meant.is_some() {
                    let item = item.clone();
                    self.note_meaning(span, &item);
                }
                self.note_origin(origin);
                return Ok(expr);
            }
            if let Some((relation, expr)) = self.system_column_of(column, item, depth) {
                let item = item.clone();
                self.note_read(relation, SYSTEM_COLUMN);
                self.note_meaning(span, &item);
                self.wants_marks |= needs_mark(&item);
                return Ok(where_found(&item, expr));
            }
            let error = PgError::new(SqlState::UNDEFINED_COLUMN, format!("column {table}.{column} does not exist"));
            return Err(match super::suggest::closest_column(column, item.columns.iter().map(|c| c.name.as_str())) {
                Some(better) => error.hint(format!("Perhaps you meant to reference the column \"{table}.{better}\".")),
                None => error,
            });
        }
        // column.field of a composite column
        if schema.is_none() {
            for depth in (0..self.scopes.len()).rev() {
                let found = self.scopes[depth]
                    .star
                    .iter()
                    .find(|s| {
                        let fields = |record: &RecordType| record.fields.iter().any(|(name, _)| name == column);
                        s.name == table && matches!(&s.expr.ty.ty, PgType::Record(Some(record)) if fields(record))
                    })
                    .map(|s| s.expr.clone());
                if let Some(expr) = found {
                    return self.field(expr, column);
                }
            }
        }
        if let Some(field) = self.struct_field(schema, table, column)? {
            return Ok(field);
        }
        let invalid = || PgError::new(SqlState::UNDEFINED_TABLE, format!("invalid reference to FROM-clause entry for table \"{table}\""));
        let out_of_reach =
            || invalid().hint(format!("There is an entry for table \"{table}\", but it cannot be referenced from this part of the query."));
        if hidden {
            return Err(out_of_reach());
        }
        // A table that stands under an alias.
        let catalog = self.ctx.catalog;
        let in_schema = |schema: stoa_table::catalog::Oid| catalog.relation_by_name(schema, table).map(|r| r.oid());
        let oid = match schema {
            Some(schema) => catalog.schema_by_name(schema).and_then(|s| in_schema(s.oid)),
            None => self.ctx.search_path.iter().find_map(|s| in_schema(*s)),
        };
        let alias = self.scopes.iter().rev().flat_map(|s| &s.items).find(|i| oid.is_some() && i.table_oid == oid).map(|i| &i.alias);
        Err(match alias {
            Some(alias) if alias == table => out_of_reach(),
            Some(alias) => invalid().hint(format!("Perhaps you meant to reference the table alias \"{alias}\".")),
            None => PgError::new(SqlState::UNDEFINED_TABLE, format!("missing FROM-clause entry for table \"{table}\"")),
        })
    }

    /// Whether a value is the row of an item of FROM.
    pub(super) fn is_whole_row(&self, value: &Expr) -> bool {
        self.scopes.iter().flat_map(|scope| &scope.items).any(|item| whole_row(item) == *value)
    }
}

fn lateral_error(table: &str, refusal: Refusal) -> PgError {
    let message = format!("invalid reference to FROM-clause entry for table \"{table}\"");
    let error = PgError::new(SqlState::INVALID_COLUMN_REFERENCE, message);
    match refusal {
        Refusal::Nullable => error.detail("The combining JOIN type must be INNER or LEFT for a LATERAL reference."),
        Refusal::Target => {
            error.hint(format!("There is an entry for table \"{table}\", but it cannot be referenced from this part of the query."))
        }
    }
}

/// A column of the item's key.
fn key_column_of(item: &FromItem) -> Option<Expr> {
    let key = item.key.as_deref()?;
    let of_key = |c: &&ScopeColumn| matches!(c.expr.kind, ExprKind::Column(id) if key.contains(&id));
    item.columns.iter().find(of_key).map(|c| c.expr.clone())
}

/// Whether nothing tells for certain where an outer join found a row of the item.
fn needs_mark(item: &FromItem) -> bool {
    item.nullable && item.found.is_none() && key_column_of(item).is_none()
}

/// The row of an item as one value; NULL where an outer join found none.
fn whole_row(item: &FromItem) -> Expr {
    let mut columns = item.columns.clone();
    columns.retain(|c| !c.name.starts_with(super::search::HIDDEN));
    let ty = record_type(&columns, &item.fields);
    where_found(item, Expr::new(ExprKind::Row(columns.into_iter().map(|c| c.expr).collect()), ty))
}

/// What each row of an item has; NULL where an outer join found none.
fn where_found(item: &FromItem, value: Expr) -> Expr {
    // A column of the key tells, or a mark; without, any column that is not NULL.
    let mark = item.found.map(|mark| Expr::column(mark, bool_type()));
    let tests = match key_column_of(item).or(mark) {
        _ if !item.nullable => Vec::new(),
        Some(column) => vec![column],
        None => item.columns.iter().filter(|c| !c.name.starts_with(super::search::HIDDEN)).map(|c| c.expr.clone()).collect(),
    };
    let found: Vec<Expr> = tests.into_iter().map(|e| Expr::new(ExprKind::IsNotNull(Box::new(e)), bool_type())).collect();
    if found.is_empty() {
        return value;
    }
    let ty = value.ty.clone();
    Expr::new(ExprKind::Case { whens: vec![(or(found), value)], otherwise: None }, ty)
}
