//! `pg_stat_progress_create_index`: the index builds that run.

use super::super::builder::{Builder, V};
use crate::environment::StatementContext;
use stoa_pg::PgResult;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for build in ctx.database.builds.list() {
        let session = ctx.database.session(build.pid);
        t.row(vec![
            ("pid", V::Int(i64::from(build.pid))),
            ("datid", session.as_ref().map_or(V::Null, |session| V::Oid(session.database_oid))),
            ("datname", session.as_ref().map_or(V::Null, |session| session.database.as_str().into())),
            ("relid", V::Oid(build.table)),
            ("index_relid", V::Oid(build.index)),
            ("command", build.command.into()),
            ("phase", build.phase.into()),
            ("tuples_total", build.rows_total.into()),
            ("tuples_done", build.rows_done.into()),
        ]);
    }
    Ok(())
}
