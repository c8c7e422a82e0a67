//! `information_schema_catalog_name`: the database.

use super::super::builder::Builder;
use super::DATABASE;
use stoa_exec::environment::StatementContext;
use stoa_pg::PgResult;

/// Adds the rows.
pub fn fill(_: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    t.row(vec![("catalog_name", DATABASE.into())]);
    Ok(())
}
