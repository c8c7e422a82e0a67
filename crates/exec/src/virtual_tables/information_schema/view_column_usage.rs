//! `view_column_usage`: the columns that views read.

use super::super::builder::Builder;
use super::read_by_views;
use crate::environment::StatementContext;
use stoa_pg::PgResult;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for read in read_by_views(ctx) {
        for column in &read.columns {
            let mut cells = read.cells();
            cells.push(("column_name", column.as_str().into()));
            t.row(cells);
        }
    }
    Ok(())
}
