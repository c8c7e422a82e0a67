//! NOT NULL and CHECK, and the texts of violations.
//!
//! PostgreSQL checks row by row: the first row that fails is the one that is reported, and of its constraints NOT NULL comes first,
//! by column, then CHECK by name, then uniqueness.

use super::policy::Conditions;
use super::row_exprs::Subqueries;
use super::rows::Rows;
use super::table_writer::{Entries, IndexWriter, TableWriter};
use crate::nodes::StatementContext;
use arrow::array::{Array, ArrayRef};
use stoa_pg::sqlstate::SqlState;
use stoa_pg::{EvalContext, PgError, PgResult, SqlType};
use stoa_sql::catalog::deparse::quote_name;
use stoa_sql::definition::Definitions;
use stoa_sql::typed::tree::{AsksCheck, RowChecks};
use stoa_table::catalog::policy::hides_rows;
use stoa_table::catalog::{ColumnDescriptor, ColumnId, IndexDescriptor, IndexKey, ObjectClass, Privileges, RightsOf, TableDescriptor};

/// How many rows pass, and what the next one fails.
///
/// # Errors
/// What a CHECK raises while it is computed, or what an index of items has of a row.
pub fn first_failure(writer: &TableWriter, rows: &Rows) -> PgResult<(usize, Option<PgError>)> {
    if let Some(expiry) = &writer.expiry {
        expiry.check(rows)?;
    }
    let mut limit = rows.len();
    let mut failure: Option<Failure> = None;
    for column in writer.table.live_columns().filter(|c| c.not_null || writer.table.is_key(c.id)) {
        let array = rows.column(column.id)?;
        if array.null_count() == 0 {
            continue;
        }
        if let Some(row) = (0..limit).find(|row| array.is_null(*row)) {
            limit = row;
            failure = Some(Failure::NotNull(column.id));
        }
    }
    for (at, check) in writer.checks.iter().enumerate() {
        // Of the rows behind one that fails nothing is asked.
        let out = match limit < rows.len() {
            true => check.compiled.evaluate(&rows.at(&(0..limit).collect::<Vec<_>>())?)?,
            false => check.compiled.evaluate(rows)?,
        };
        let Some(array) = out.first() else { continue };
        let passed = datafusion::common::cast::as_boolean_array(array).map_err(stoa_sql::typed::from_datafusion)?;
        if let Some(row) = (0..limit).find(|row| passed.is_valid(*row) && !passed.value(*row)) {
            limit = row;
            failure = Some(Failure::Check(at));
        }
    }
    if let Some(items) = &writer.items {
        match limit < rows.len() {
            true => items.evaluate(&rows.at(&(0..limit).collect::<Vec<_>>())?)?,
            false => items.evaluate(rows)?,
        };
    }
    let error = failure.map(|f| f.error(writer, rows, limit)).transpose()?;
    Ok((limit, error))
}

/// WITH CHECK OPTION of the views through which rows are written.
pub struct ViewCheck {
    conditions: Conditions,
    views: Vec<String>,
}

impl ViewCheck {
    /// `None` where no view asks.
    #[must_use]
    pub fn new(queries: &dyn Subqueries, checks: &RowChecks) -> Option<Self> {
        let mut chosen = Vec::new();
        let mut views = Vec::new();
        for check in &checks.checks {
            if let AsksCheck::View(view) = &check.asks {
                chosen.push(check);
                views.push(view.clone());
            }
        }
        (!chosen.is_empty()).then(|| Self { conditions: Conditions::new(queries, checks, &chosen), views })
    }

    /// # Errors
    /// 44000 for a row that a view would not show.
    pub async fn check(&self, writer: &TableWriter, rows: &Rows) -> PgResult<()> {
        let results = self.conditions.evaluate(writer, rows).await?;
        for row in 0..rows.len() {
            for (view, passed) in self.views.iter().zip(&results) {
                let passed = datafusion::common::cast::as_boolean_array(passed).map_err(stoa_sql::typed::from_datafusion)?;
                if !(passed.is_valid(row) && passed.value(row)) {
                    let message = format!("new row violates check option for view \"{view}\"");
                    return Err(with_row(PgError::new(SqlState::WITH_CHECK_OPTION_VIOLATION, message), writer, rows, row)?);
                }
            }
        }
        Ok(())
    }
}

enum Failure {
    NotNull(ColumnId),
    /// By position in the writer.
    Check(usize),
}

impl Failure {
    fn error(self, writer: &TableWriter, rows: &Rows, row: usize) -> PgResult<PgError> {
        let table = &writer.table;
        let error = match self {
            Failure::NotNull(id) => {
                let column = table.column(id).map_or("?", |c| c.name.as_str());
                PgError::new(
                    SqlState::NOT_NULL_VIOLATION,
                    format!("null value in column \"{column}\" of relation \"{}\" violates not-null constraint", table.name),
                )
                .column(column)
            }
            Failure::Check(at) => {
                let name = writer.checks.get(at).map_or("?", |c| c.name.name.as_str());
                PgError::new(
                    SqlState::CHECK_VIOLATION,
                    format!("new row for relation \"{}\" violates check constraint \"{name}\"", table.name),
                )
                .constraint(name)
            }
        };
        Ok(with_row(error, writer, rows, row)?.schema(writer.schema_name()).table(&table.name).row(row))
    }
}

/// Whether the current role may read columns of a table, of any row: what an error tells is no more than that.
pub(super) fn may_read(ctx: &StatementContext, table: &TableDescriptor, mut columns: impl Iterator<Item = ColumnId>) -> bool {
    let (authority, role) = (ctx.catalog.authority(), ctx.role);
    let (one, none) = (Privileges::SELECT, Privileges::NONE);
    !hides_rows(&ctx.catalog, role, table)
        && (authority.may(role, ObjectClass::Table, RightsOf::Relation(table.oid), one)
            || columns.all(|column| authority.column_privileges(role, table.oid, column, one, none).0.has(one)))
}

/// The error with the row that fails, as far as the current role may read it.
fn with_row(error: PgError, writer: &TableWriter, rows: &Rows, row: usize) -> PgResult<PgError> {
    let visible: Vec<&ColumnDescriptor> = writer.table.visible_columns().filter(|c| !c.is_map()).collect();
    let (ctx, table) = (&writer.ctx, &writer.table);
    if may_read(ctx, table, visible.iter().map(|column| column.id)) {
        return Ok(error.detail(format!("Failing row contains {}.", row_text(writer, &visible, rows, row)?)));
    }
    let shown: Vec<&ColumnDescriptor> = visible.into_iter().filter(|column| may_read(ctx, table, std::iter::once(column.id))).collect();
    if shown.is_empty() {
        return Ok(error);
    }
    let names: Vec<&str> = shown.iter().map(|column| column.name.as_str()).collect();
    Ok(error.detail(format!("Failing row contains ({}) = {}.", names.join(", "), row_text(writer, &shown, rows, row)?)))
}

/// `(1, x, null)`: values of columns, long ones cut.
fn row_text(writer: &TableWriter, columns: &[&ColumnDescriptor], rows: &Rows, row: usize) -> PgResult<String> {
    /// Bytes of a value that are shown.
    const SHOWN: usize = 64;
    let mut out = String::from("(");
    for (at, column) in columns.iter().enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        let text = value_text(&writer.ctx.eval, &column.ty, rows.column(column.id)?, row)?;
        if text.len() > SHOWN {
            let cut = (0..=SHOWN).rev().find(|n| text.is_char_boundary(*n)).unwrap_or(0);
            out.push_str(text.get(..cut).unwrap_or_default());
            out.push_str("...");
        } else {
            out.push_str(&text);
        }
    }
    out.push(')');
    Ok(out)
}

/// A value as output prints it; `null` for NULL.
///
/// # Errors
/// The array is not of the type.
pub fn value_text(eval: &EvalContext, ty: &SqlType, array: &ArrayRef, row: usize) -> PgResult<String> {
    if array.is_null(row) {
        return Ok("null".into());
    }
    let mut out = Vec::new();
    stoa_pg::values::writer(eval, ty, array.as_ref())?.text(row, &mut out)?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// `(a, b)=(1, x)`.
///
/// # Errors
/// An array is not of its type.
pub fn key_text(eval: &EvalContext, columns: &[(String, SqlType)], arrays: &[ArrayRef], row: usize) -> PgResult<String> {
    let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    let mut values = Vec::with_capacity(arrays.len());
    for ((_, ty), array) in columns.iter().zip(arrays) {
        values.push(value_text(eval, ty, array, row)?);
    }
    Ok(format!("({})=({})", names.join(", "), values.join(", ")))
}

/// Names and types of columns.
#[must_use]
pub fn named(table: &TableDescriptor, columns: impl Iterator<Item = ColumnId>) -> Vec<(String, SqlType)> {
    columns.filter_map(|id| table.column(id)).map(|c| (c.name.clone(), c.ty.clone())).collect()
}

/// The parts of a unique index as details of errors name them: as they are printed.
pub fn index_parts(definitions: &Definitions<'_>, table: &TableDescriptor, index: &IndexDescriptor) -> Vec<(String, SqlType)> {
    let name = |n| definitions.index_column(table, Some(index), n, false, true).unwrap_or_default();
    index.parts.iter().enumerate().map(|(n, part)| (name(n), part.ty.clone())).collect()
}

/// 23505 for the primary key.
///
/// # Errors
/// The key's columns are not in the rows.
pub fn duplicate_primary_key(writer: &TableWriter, rows: &Rows, row: usize) -> PgResult<PgError> {
    let table = &writer.table;
    let columns: Vec<_> =
        named(table, table.key_columns().map(|p| p.column)).into_iter().map(|(name, ty)| (quote_name(&name), ty)).collect();
    let arrays = table.key_columns().map(|p| rows.column(p.column).cloned()).collect::<PgResult<Vec<_>>>()?;
    let name = table.primary_key.as_ref().map_or("", |c| c.name.as_str());
    let shown = may_read(&writer.ctx, table, table.key.iter().map(|part| part.column));
    Ok(duplicate(writer, name, shown.then_some(key_text(&writer.ctx.eval, &columns, &arrays, row)?)).row(row))
}

/// 23505 for a unique index.
///
/// # Errors
/// The entries are not of the index.
pub fn duplicate_entry(writer: &TableWriter, index: &IndexWriter, entries: &Entries<'_>, row: usize) -> PgResult<PgError> {
    let columns = index_parts(&writer.ctx.definitions(), &writer.table, &index.descriptor);
    let shown = may_read(&writer.ctx, &writer.table, columns_of_parts(&index.descriptor));
    Ok(duplicate(writer, index.constraint_name(), shown.then_some(key_text(&writer.ctx.eval, &columns, &entries.parts, row)?)).row(row))
}

/// The columns of an index; what an expression reads is not one column.
pub(super) fn columns_of_parts(index: &IndexDescriptor) -> impl Iterator<Item = ColumnId> {
    index.parts.iter().map(|part| if let IndexKey::Column(id) = part.key { id } else { ColumnId(0) })
}

fn duplicate(writer: &TableWriter, constraint: &str, key: Option<String>) -> PgError {
    let error = PgError::new(SqlState::UNIQUE_VIOLATION, format!("duplicate key value violates unique constraint \"{constraint}\""));
    match key {
        Some(key) => error.detail(format!("Key {key} already exists.")),
        None => error,
    }
    .schema(writer.schema_name())
    .table(&writer.table.name)
    .constraint(constraint)
}
