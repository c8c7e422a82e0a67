//! Undeclared columns: the column of maps that has them, and those that become declared ones.

use super::alter_column::add_column;
use super::builder::TableBuilder;
use super::table::boolean;
use super::work::Work;
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_sql::bind::fold;
use stoa_sql::bind::undeclared::takes_undeclared;
use stoa_sql::catalog::deparse::quote_name;
use stoa_syntax::ddl::{Column, StorageOption};
use stoa_table::catalog::{ColumnDescriptor, ColumnId, Promotion, Relation, TableDescriptor};

/// The option of a table; its value is the column's name.
pub(super) const OPTION: &str = "dynamic_columns";

/// The name that an option gives to the column, unless it says that there is none.
fn named(option: &StorageOption) -> Option<String> {
    match (boolean(option), &option.value) {
        (Ok(false), _) => None,
        (Err(_), Some(name)) => Some(name.clone()),
        _ => Some(OPTION.to_owned()),
    }
}

/// What the options of a table say of its undeclared columns: the column for them is made if it is not there.
///
/// # Errors
/// 42804 for a column that cannot have them.
pub(super) fn set(builder: &mut TableBuilder<'_>, options: &[StorageOption]) -> PgResult<()> {
    let Some(option) = options.iter().find(|option| option.name == OPTION) else { return Ok(()) };
    builder.table.dynamic = named(option).map(|name| column(builder, name)).transpose()?;
    Ok(())
}

fn column(builder: &mut TableBuilder<'_>, name: String) -> PgResult<ColumnId> {
    let Some(found) = builder.table.column_by_name(&name) else {
        return builder.push_column(name, SqlType::new(PgType::Map(Box::new(PgType::Text), Box::new(PgType::Jsonb))));
    };
    if takes_undeclared(found) {
        return Ok(found.id);
    }
    let message = format!("column \"{name}\" cannot have the undeclared columns of a table: it is of type {}", found.ty);
    Err(PgError::new(SqlState::DATATYPE_MISMATCH, message).hint("It is of type map(text, jsonb)."))
}

/// ALTER TABLE … SET and RESET of the option; the other options come back.
///
/// # Errors
/// As [`set`].
pub(super) async fn alter(work: Work<'_>, table: TableDescriptor, options: &[StorageOption], on: bool) -> PgResult<Vec<StorageOption>> {
    let (own, others): (Vec<_>, Vec<_>) = options.iter().cloned().partition(|option| option.name == OPTION);
    if own.is_empty() {
        return Ok(others);
    }
    let mut builder = TableBuilder::of(work, table.clone());
    if on {
        set(&mut builder, &own)?
    } else {
        builder.table.dynamic = None
    }
    super::alter::apply(work, &table, builder).await?;
    Ok(others)
}

/// What ADD COLUMN tells where rows may have undeclared columns of the name: they are not looked for, which would take a while.
pub(super) fn notice_of_new(table: &TableDescriptor, column: &Column) -> Option<PgError> {
    let name = fold(&column.name);
    if table.dynamic.is_none() || table.column_by_name(&name).is_some() {
        return None;
    }
    let message = format!("column \"{name}\" of table \"{}\" hides undeclared columns of the same name", table.name);
    let way = format!("ADD COLUMN {} … FROM DYNAMIC gives it their values.", quote_name(&name));
    Some(PgError::new(SqlState::SUCCESSFUL_COMPLETION, message).hint(way))
}

/// ADD COLUMN … FROM DYNAMIC: an undeclared column becomes a declared one, which gets its values.
///
/// # Errors
/// 42809 where there are none; what ADD COLUMN and UPDATE raise.
pub(super) async fn promote(work: Work<'_>, table: TableDescriptor, column: &Column) -> PgResult<()> {
    let (oid, name) = (table.oid, fold(&column.name));
    let Some(map) = table.dynamic_column().map(|column| column.id) else {
        return Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{}\" has no undeclared columns", table.name)));
    };
    add_column(work, table, column, false).await?;
    let Some(mut table) = work.catalog().table(oid).cloned() else { return Ok(()) };
    let Some(made) = table.columns.iter_mut().find(|c| c.name == name && !c.dropped && !c.hidden) else { return Ok(()) };
    made.promoted = Some(Promotion { name: name.clone(), map, at: None });
    let made = made.clone();
    work.put(Relation::Table(table.clone()))?;
    take_values(work, &table, &made).await
}

/// Gives columns the values that they have as undeclared ones, if a time, in microseconds since 1970, is before they were promoted.
///
/// # Errors
/// What UPDATE raises.
pub(super) async fn promote_again(work: Work<'_>, table: &TableDescriptor, time: i64) -> PgResult<()> {
    let is_later = |promotion: &Promotion| promotion.at.is_none_or(|at| i128::from(time) < i128::from(at));
    for column in table.visible_columns().filter(|column| column.promoted.as_ref().is_some_and(is_later)) {
        take_values(work, table, column).await?;
        work.ctx.txn.end_statement();
    }
    Ok(())
}

/// Moves the entries that a column was into it.
async fn take_values(work: Work<'_>, table: &TableDescriptor, made: &ColumnDescriptor) -> PgResult<()> {
    let Some(Promotion { name, map, .. }) = &made.promoted else { return Ok(()) };
    let Some(from) = table.map_columns().find(|c| c.id == *map).map(|c| quote_name(&c.name)) else { return Ok(()) };
    let key = format!("'{}'", name.replace('\'', "''"));
    let text = format!("({from}[{key}] #>> '{{}}')");
    let value = match &made.ty.ty {
        PgType::Jsonb => format!("{from}[{key}]"),
        // What is too long is refused where it is assigned; a cast to the type would cut it.
        PgType::Varchar | PgType::Bpchar => text,
        _ => format!("{text}::{}", made.ty),
    };
    let sql = format!(
        "UPDATE {}.{} SET {} = {value}, {from} = {from} - {key} WHERE {from} ? {key}",
        quote_name(&super::alter::schema_name(work, table.schema)),
        quote_name(&table.name),
        quote_name(&made.name),
    );
    super::restore::statement(work, &sql).await
}
