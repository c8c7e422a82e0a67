//! `information_schema_catalog_name`: the database.

use super::super::builder::Builder;
use crate::environment::StatementContext;
use stoa_pg::PgResult;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    t.row(vec![("catalog_name", ctx.catalog.database_name().into())]);
    Ok(())
}
