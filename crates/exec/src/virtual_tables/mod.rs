//! `pg_catalog` and `information_schema`: system relations, computed when they are read, a file each.
//!
//! Names, columns and types of every relation are PostgreSQL 15's ([`stoa_sql::system_relations`]); those that Stoa has nothing to say in are empty.
//! OIDs are the catalog's own, stable over restarts. A [`scan`] makes the rows that its filters may pass and the columns that are read:
//! a client that asks for one table among thousands does not wait for the others.

mod builder;
mod information_schema;
mod large_object_pages;
mod objects;
mod pg_catalog;
pub mod scan;
mod wanted;

use crate::nodes::StatementContext;
use arrow::array::RecordBatch;
use builder::Builder;
use std::sync::Arc;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_sql::system_relations::{self, SEQUENCES};
use stoa_table::catalog::{Oid, Relation};
use wanted::Wanted;

pub use pg_catalog::is_live;

/// Adds the rows of a relation.
type Fill = fn(&StatementContext, &mut Builder<'_>) -> PgResult<()>;

/// What `SELECT * FROM sequence` gives.
///
/// # Errors
/// 42P01 if the sequence is gone; what the store reports.
async fn sequence_row(ctx: &StatementContext, oid: Oid) -> PgResult<RecordBatch> {
    use arrow::array::{ArrayRef, BooleanArray, Int64Array};
    let gone = || PgError::new(SqlState::UNDEFINED_TABLE, format!("could not open relation with OID {oid}"));
    let Some(Relation::Sequence(sequence)) = ctx.catalog.relation(oid).map(|r| &**r) else { return Err(gone()) };
    let numbers = ctx.catalog.numbers().ok_or_else(gone)?;
    let state = numbers.state(sequence).await?;
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
async fn rows(ctx: &StatementContext, schema: &str, name: &str, read: &[usize], wanted: &Wanted) -> PgResult<RecordBatch> {
    if schema == SEQUENCES {
        // Its row changes while the statement runs.
        let oid = name.parse().map_err(|_| PgError::internal("a sequence without an OID"))?;
        return Ok(sequence_row(ctx, oid).await?.project(read)?);
    }
    let live = schema == "pg_catalog" && pg_catalog::is_live(name);
    if !live && !wanted.is_everything() {
        // A range of numbers may be most of it. Rounds of a recursion ask for that again and again.
        let again = wanted.share() >= 1.0 && !ctx.made.parts.lock().insert((schema.to_owned(), name.to_owned(), read.to_vec()));
        if !again {
            return make(ctx, schema, name, read, wanted).await;
        }
    }
    let definition =
        system_relations::find(schema, name).ok_or_else(|| PgError::internal(format!("{schema}.{name} is no system relation")))?;
    let columns: Vec<usize> = if live { (0..definition.columns.len()).collect() } else { read.to_vec() };
    let key = (schema.to_owned(), name.to_owned(), columns);
    let found = ctx.made.whole.lock().get(&key).cloned();
    let made = match found {
        Some(made) => made,
        None => {
            let made = make(ctx, schema, name, &key.2, &Wanted::default()).await?;
            ctx.made.whole.lock().entry(key).or_insert(made).clone()
        }
    };
    Ok(if live { made.project(read)? } else { made })
}

async fn make(ctx: &StatementContext, schema: &str, name: &str, read: &[usize], wanted: &Wanted) -> PgResult<RecordBatch> {
    let definition =
        system_relations::find(schema, name).ok_or_else(|| PgError::internal(format!("{schema}.{name} is no system relation")))?;
    let mut builder = Builder::new(definition, read, wanted);
    // As other relations do, they show what was committed when the transaction's snapshot was taken.
    let seen = ctx.txn.catalog_of_snapshot();
    let older = (seen.version != ctx.catalog.version).then(|| ctx.with_catalog(seen, Arc::clone(&ctx.search_path)));
    let ctx = older.as_ref().unwrap_or(ctx);
    let fill = match schema {
        "pg_catalog" if pg_catalog::is_of_sequences(name) => {
            pg_catalog::sequences(ctx, &mut builder).await?;
            None
        }
        "pg_catalog" if pg_catalog::is_of_tables(name) => {
            pg_catalog::tables(ctx, &mut builder).await?;
            None
        }
        "pg_catalog" if pg_catalog::is_of_regions(name) => {
            match name {
                "pg_stat_hot_regions" => pg_catalog::hot_regions(ctx, &mut builder).await?,
                _ => pg_catalog::regions(ctx, &mut builder).await?,
            }
            None
        }
        "pg_catalog" => {
            if pg_catalog::is_of_large_objects(name) {
                pg_catalog::large_objects(ctx, name, &mut builder).await?;
            }
            pg_catalog::filler(name)
        }
        "information_schema" => information_schema::filler(name),
        _ => None,
    };
    if let Some(fill) = fill {
        fill(ctx, &mut builder)?;
    }
    builder.finish()
}
