//! `pg_stat_progress_create_index`: the index builds that run.

use super::super::builder::{Builder, V};
use super::super::objects::DATABASE_OID;
use stoa_exec::environment::StatementContext;
use stoa_pg::PgResult;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for build in ctx.database.builds.list() {
        t.row(vec![
            ("pid", V::Int(i64::from(build.pid))),
            ("datid", V::Oid(DATABASE_OID)),
            ("datname", "stoa".into()),
            ("relid", V::Oid(build.table)),
            ("index_relid", V::Oid(build.index)),
            ("command", build.command.into()),
            ("phase", build.phase.into()),
            ("tuples_total", V::Int(i64::try_from(build.rows_total).unwrap_or(i64::MAX))),
            ("tuples_done", V::Int(i64::try_from(build.rows_done).unwrap_or(i64::MAX))),
        ]);
    }
    Ok(())
}
