//! `TIMESTAMP FROM`: the column whose values tell which of two rows with one key is newer.

use super::alter::column;
use super::work::Work;
use stoa_pg::{PgError, PgResult, PgType, SqlState};
use stoa_sql::bind::fold;
use stoa_syntax::ast::Ident;
use stoa_table::catalog::{Relation, TableDescriptor};

/// Says it of a table.
///
/// # Errors
/// 42703; 42P16 for columns that cannot tell.
pub(super) fn set(table: &mut TableDescriptor, name: &Ident) -> PgResult<()> {
    super::raw::refuse(table, "set TIMESTAMP FROM of")?;
    let invalid = |message: String| PgError::new(SqlState::INVALID_TABLE_DEFINITION, message);
    let found = column(table, &fold(name))?;
    if table.primary_key.is_none() {
        let message = format!("TIMESTAMP FROM needs a primary key, which table \"{}\" does not have", table.name);
        return Err(invalid(message).hint("Without one, no row replaces another."));
    }
    if table.is_key(found.id) || found.generated.is_some() {
        let what = if found.generated.is_some() { "generated" } else { "part of the primary key" };
        return Err(invalid(format!("column \"{}\" cannot tell which rows are newer: it is {what}", found.name)));
    }
    use PgType::{Date, Int2, Int4, Int8, Timestamp, Timestamptz};
    if !matches!(found.ty.ty, Timestamptz | Timestamp | Date | Int8 | Int4 | Int2) {
        return Err(invalid(format!("column \"{}\" cannot tell which rows are newer: it is of type {}", found.name, found.ty))
            .hint("It is a timestamp, a date or an integer."));
    }
    table.timestamp = Some(found.id);
    super::map::check(table)
}

/// ALTER TABLE: says it, or that there is none.
pub(super) fn alter(work: Work<'_>, mut table: TableDescriptor, name: Option<&Ident>) -> PgResult<()> {
    table.timestamp = None;
    if let Some(name) = name {
        set(&mut table, name)?;
    }
    work.put(Relation::Table(table))
}
