//! `pg_catalog` and `information_schema`: relations computed from the catalog's snapshot when they are read.
//!
//! Names, columns and types of every relation are PostgreSQL 15's ([`stoa_sql::system_relations`]); those that Stoa has nothing to say in are empty.
//! OIDs are the catalog's own, stable over restarts.

mod cell;
mod information_schema;
mod pg_catalog;
mod statistics;

use arrow::array::RecordBatch;
use cell::Table;
use std::sync::Arc;
use stoa_exec::nodes::StatementContext;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_sql::system_relations;
use stoa_table::catalog::{Oid, Relation};

/// What `SELECT * FROM sequence` gives.
///
/// # Errors
/// 42P01 if the sequence is gone; what the store reports.
fn sequence_row(ctx: &StatementContext, oid: Oid) -> PgResult<RecordBatch> {
    use arrow::array::{ArrayRef, BooleanArray, Int64Array};
    let gone = || PgError::new(SqlState::UNDEFINED_TABLE, format!("could not open relation with OID {oid}"));
    let Some(Relation::Sequence(sequence)) = ctx.catalog.relation(oid).map(|r| &**r) else { return Err(gone()) };
    let shared = ctx.catalog.shared().ok_or_else(gone)?;
    let state = shared.sequences.state(sequence)?;
    let columns: [(&str, ArrayRef); 3] = [
        ("last_value", Arc::new(Int64Array::from(vec![state.last_value]))),
        ("log_cnt", Arc::new(Int64Array::from(vec![state.log_cnt]))),
        ("is_called", Arc::new(BooleanArray::from(vec![state.is_called]))),
    ];
    RecordBatch::try_from_iter(columns).map_err(PgError::from)
}

/// The rows of a computed relation, columns in the order of [`system_relations::columns`]; the same in all of a statement.
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
    let shape =
        system_relations::find(schema, name).ok_or_else(|| PgError::internal(format!("{schema}.{name} is no computed relation")))?;
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
