//! `pg_catalog` and `information_schema`: relations computed from the catalog's snapshot when they are read.
//!
//! Names, columns and types of every relation are PostgreSQL 15's ([`shapes`]); those that Stoa has nothing to say in are empty.
//! OIDs are the catalog's own, stable over restarts.

mod cell;
mod information_schema;
mod pg_catalog;
mod shapes;
mod statistics;
pub(crate) mod updatable;

use crate::exec::StatementContext;
use arrow::array::RecordBatch;
use cell::Table;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use stoa_pg::{PgError, PgResult, SqlState, SqlType};
use stoa_table::catalog::{Oid, Relation};

pub use pg_catalog::{DATABASE_OWNER, DATABASE_OWNER_NAME, OWNER};

pub use crate::catalog::functions::{call, relation_name, relation_oid, schema_name, schema_oid};

/// Whether a schema has such a computed relation.
#[must_use]
pub fn exists(schema: &str, name: &str) -> bool {
    shapes::find(schema, name).is_some()
}

/// The columns of a computed relation.
#[must_use]
pub fn columns(schema: &str, name: &str) -> Option<Vec<(String, SqlType)>> {
    shapes::find(schema, name).map(|s| s.columns.clone())
}

/// The OID of a computed relation; 0 if there is none.
#[must_use]
pub fn oid(schema: &str, name: &str) -> u32 {
    shapes::find(schema, name).map_or(0, |s| s.oid)
}

/// The computed relation with an OID: its schema and name.
#[must_use]
pub fn by_oid(oid: u32) -> Option<(&'static str, &'static str)> {
    shapes::all().find(|s| s.oid == oid).map(|s| (s.schema.as_str(), s.name.as_str()))
}

/// Whether an OID is that of a computed relation that PostgreSQL has as a table, not as a view.
#[must_use]
pub fn is_table(oid: u32) -> bool {
    shapes::all().any(|s| s.oid == oid && s.kind == "r")
}

/// Sets of columns of which no two rows of a computed relation have the same values.
#[must_use]
pub fn keys(schema: &str, name: &str) -> &'static [Vec<String>] {
    shapes::find(schema, name).map_or(&[], |s| s.keys.as_slice())
}

/// What a statement has read of computed relations: it sees each of them in one state, made once.
#[derive(Debug, Default)]
pub struct Made(Mutex<HashMap<(String, String), RecordBatch>>);

/// What `SELECT * FROM sequence` gives.
///
/// # Errors
/// 42P01 if the sequence is gone; what the store reports.
fn sequence_row(ctx: &StatementContext, oid: Oid) -> PgResult<RecordBatch> {
    use arrow::array::{ArrayRef, BooleanArray, Int64Array};
    let gone = || PgError::new(SqlState::UNDEFINED_TABLE, format!("could not open relation with OID {oid}"));
    let Some(Relation::Sequence(sequence)) = ctx.catalog.relation(oid).map(|r| &**r) else { return Err(gone()) };
    let numbers = ctx.catalog.numbers().ok_or_else(gone)?;
    let state = ctx.session.wait_for(numbers.state(sequence))?;
    let columns: [(&str, ArrayRef); 3] = [
        ("last_value", Arc::new(Int64Array::from(vec![state.last_value]))),
        ("log_cnt", Arc::new(Int64Array::from(vec![state.log_cnt]))),
        ("is_called", Arc::new(BooleanArray::from(vec![state.is_called]))),
    ];
    RecordBatch::try_from_iter(columns).map_err(PgError::from)
}

/// The rows of a computed relation, columns in the order of [`columns`]; the same in all of a statement.
///
/// # Errors
/// XX000 if a value does not fit its column.
pub fn rows(ctx: &StatementContext, schema: &str, name: &str) -> PgResult<RecordBatch> {
    if schema == "stoa_sequence" {
        // Its row changes while the statement runs.
        let oid = name.parse().map_err(|_| PgError::internal("a sequence without an OID"))?;
        return sequence_row(ctx, oid);
    }
    let key = (schema.to_owned(), name.to_owned());
    if let Some(made) = ctx.made.0.lock().get(&key) {
        return Ok(made.clone());
    }
    let made = make(ctx, schema, name)?;
    ctx.made.0.lock().insert(key, made.clone());
    Ok(made)
}

fn make(ctx: &StatementContext, schema: &str, name: &str) -> PgResult<RecordBatch> {
    let shape = shapes::find(schema, name).ok_or_else(|| PgError::internal(format!("{schema}.{name} is no computed relation")))?;
    let mut table = Table::new(&shape.columns);
    match schema {
        "pg_catalog" => {
            let found = pg_catalog::fill(ctx, name, &mut table)?;
            if !found {
                statistics::fill(ctx, name, &mut table)?;
            }
        }
        "information_schema" => information_schema::fill(ctx, name, &mut table)?,
        _ => {}
    }
    table.finish()
}
