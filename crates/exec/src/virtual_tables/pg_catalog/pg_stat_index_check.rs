//! `pg_stat_index_check`: when each index was last compared with its table, and what was found.

use super::super::builder::{Builder, V};
use super::super::objects::{schema_of, tables};
use crate::environment::StatementContext;
use stoa_pg::PgResult;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    let count = |n: u64| V::Int(i64::try_from(n).unwrap_or(i64::MAX));
    for table in tables(ctx) {
        for index in table.indexes.iter().filter(|i| !i.is_fulltext()) {
            let mut row = vec![
                ("relid", V::Oid(table.oid)),
                ("indexrelid", V::Oid(index.oid)),
                ("schemaname", schema_of(ctx, table.schema).into()),
                ("relname", table.name.as_str().into()),
                ("indexrelname", index.name.as_str().into()),
                ("checks", V::Int(0)),
                ("faults_ever", V::Int(0)),
            ];
            if let Some(check) = ctx.database.checks.of(index.oid) {
                row.truncate(5);
                row.extend([
                    ("last_check", V::Time(check.ended_us)),
                    ("background", V::Bool(check.background)),
                    ("duration_ms", V::Int(check.duration_us / 1000)),
                    ("entries", count(check.entries)),
                    ("ranges", count(check.ranges)),
                    ("faults", count(check.faults)),
                    ("failure", check.failure.into()),
                    ("checks", count(check.checks)),
                    ("faults_ever", count(check.faults_ever)),
                ]);
            }
            t.row(row);
        }
    }
    Ok(())
}
