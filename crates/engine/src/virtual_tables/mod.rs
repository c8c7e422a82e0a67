//! `pg_catalog` and `information_schema`: system relations, computed when they are read, a file each.
//!
//! Names, columns and types of every relation are PostgreSQL 15's ([`definitions`]); those that Stoa has nothing to say in are empty.
//! OIDs are the catalog's own, stable over restarts. A [`scan`] makes the rows that its filters may pass and the columns that are read:
//! a client that asks for one table among thousands does not wait for the others.

mod builder;
mod definitions;
mod information_schema;
mod objects;
mod pg_catalog;
pub(crate) mod scan;
#[cfg(test)]
mod tests;
pub(crate) mod updatable;
mod wanted;

use crate::exec::StatementContext;
use arrow::array::RecordBatch;
use builder::Builder;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use stoa_pg::{PgError, PgResult, SqlState, SqlType};
use stoa_table::catalog::{Oid, Relation};
use wanted::Wanted;

pub use objects::{DATABASE_OWNER, DATABASE_OWNER_NAME, OWNER};

pub use crate::catalog::functions::{call, relation_name, relation_oid, schema_name, schema_oid};

/// The schema by which a query names the row of a sequence; the relation's name is the sequence's OID.
pub const SEQUENCES: &str = "stoa_sequence";

/// Whether a schema has such a system relation.
#[must_use]
pub fn exists(schema: &str, name: &str) -> bool {
    definitions::find(schema, name).is_some()
}

/// The columns of a system relation.
#[must_use]
pub fn columns(schema: &str, name: &str) -> Option<Vec<(String, SqlType)>> {
    definitions::find(schema, name).map(|d| d.columns.clone())
}

/// The OID of a system relation; 0 if there is none.
#[must_use]
pub fn oid(schema: &str, name: &str) -> u32 {
    definitions::find(schema, name).map_or(0, |s| s.oid)
}

/// The system relation with an OID: its schema and name.
#[must_use]
pub fn by_oid(oid: u32) -> Option<(&'static str, &'static str)> {
    definitions::all().find(|s| s.oid == oid).map(|s| (s.schema.as_str(), s.name.as_str()))
}

/// Whether an OID is that of a system relation that PostgreSQL has as a table, not as a view.
#[must_use]
pub fn is_table(oid: u32) -> bool {
    definitions::all().any(|s| s.oid == oid && s.kind == "r")
}

/// Sets of columns of which no two rows of a system relation have the same values.
#[must_use]
pub fn keys(schema: &str, name: &str) -> &'static [Vec<String>] {
    definitions::find(schema, name).map_or(&[], |s| s.keys.as_slice())
}

/// Adds the rows of a relation.
type Fill = fn(&StatementContext, &mut Builder<'_>) -> PgResult<()>;

/// What a statement has read of system relations whose rows change while it runs, or that it reads whole: it sees each of them in one
/// state, made once.
#[derive(Debug, Default)]
pub struct Made(Mutex<HashMap<MadeKey, RecordBatch>>);

/// A relation's schema and name, and the columns of it.
type MadeKey = (String, String, Vec<usize>);

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

/// Rows of a system relation: at least those that may be wanted, with the columns at these positions of its definition.
///
/// # Errors
/// XX000 if a value does not fit its column; what reading a sequence reports.
fn rows(ctx: &StatementContext, schema: &str, name: &str, read: &[usize], wanted: &Wanted) -> PgResult<RecordBatch> {
    if schema == SEQUENCES {
        // Its row changes while the statement runs.
        let oid = name.parse().map_err(|_| PgError::internal("a sequence without an OID"))?;
        return Ok(sequence_row(ctx, oid)?.project(read)?);
    }
    let live = schema == "pg_catalog" && pg_catalog::is_live(name);
    if !live && !wanted.is_everything() {
        return make(ctx, schema, name, read, wanted);
    }
    let definition = definitions::find(schema, name).ok_or_else(|| PgError::internal(format!("{schema}.{name} is no system relation")))?;
    let columns: Vec<usize> = if live { (0..definition.columns.len()).collect() } else { read.to_vec() };
    let key = (schema.to_owned(), name.to_owned(), columns);
    let found = ctx.made.0.lock().get(&key).cloned();
    let made = match found {
        Some(made) => made,
        None => {
            let made = make(ctx, schema, name, &key.2, &Wanted::default())?;
            ctx.made.0.lock().entry(key).or_insert(made).clone()
        }
    };
    Ok(if live { made.project(read)? } else { made })
}

fn make(ctx: &StatementContext, schema: &str, name: &str, read: &[usize], wanted: &Wanted) -> PgResult<RecordBatch> {
    let definition = definitions::find(schema, name).ok_or_else(|| PgError::internal(format!("{schema}.{name} is no system relation")))?;
    let mut builder = Builder::new(definition, read, wanted);
    let fill = match schema {
        "pg_catalog" => pg_catalog::filler(name),
        "information_schema" => information_schema::filler(name),
        _ => None,
    };
    if let Some(fill) = fill {
        fill(ctx, &mut builder)?;
    }
    builder.finish()
}
