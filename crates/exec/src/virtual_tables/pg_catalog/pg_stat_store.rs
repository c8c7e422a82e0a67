//! `pg_stat_store`: counters and gauges of the store and of the memory of statements, by name.

use super::super::builder::Builder;
use crate::environment::StatementContext;
use stoa_pg::PgResult;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    let memory = &ctx.database.memory;
    let of_statements = [("statement_bytes", memory.pool.reserved() as u64)].into_iter().chain(memory.columns.metrics());
    let of_statements = of_statements.map(|(name, value)| (name.to_owned(), value));
    for (name, value) in ctx.database.tables.metrics().into_iter().chain(of_statements) {
        t.row(vec![("name", name.into()), ("value", value.into())]);
    }
    Ok(())
}
