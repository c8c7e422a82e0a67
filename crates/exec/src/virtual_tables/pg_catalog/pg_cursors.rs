//! `pg_cursors`: the open cursors of this session.

use super::super::builder::{Builder, V};
use crate::environment::StatementContext;
use stoa_pg::PgResult;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for c in ctx.session.cursors.lock().iter() {
        t.row(vec![
            ("name", c.name.as_str().into()),
            ("statement", c.statement.to_string().into()),
            ("is_holdable", c.is_holdable.into()),
            ("is_binary", c.is_binary.into()),
            ("is_scrollable", c.is_scrollable.into()),
            ("creation_time", V::Time(c.creation_time_us)),
        ]);
    }
    Ok(())
}
