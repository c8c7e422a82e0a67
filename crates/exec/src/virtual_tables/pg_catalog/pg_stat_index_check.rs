//! `pg_stat_index_check`: when each index was last compared with its table, and what was found.

use super::super::builder::{Builder, V};
use super::super::objects::{schema_of, tables};
use crate::environment::StatementContext;
use stoa_pg::PgResult;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
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
                    ("entries", check.entries.into()),
                    ("ranges", check.ranges.into()),
                    ("faults", check.faults.into()),
                    ("failure", check.failure.into()),
                    ("checks", check.checks.into()),
                    ("faults_ever", check.faults_ever.into()),
                ]);
            }
            t.row(row);
        }
    }
    Ok(())
}
