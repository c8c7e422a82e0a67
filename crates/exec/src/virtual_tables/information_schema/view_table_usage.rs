//! `view_table_usage`: the relations that views read.

use super::super::builder::Builder;
use super::read_by_views;
use crate::environment::StatementContext;
use stoa_pg::PgResult;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for read in read_by_views(ctx) {
        t.row(read.cells());
    }
    Ok(())
}
