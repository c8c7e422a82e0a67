//! `pg_stat_database` and its kin: what happened in databases since the process began. What nobody counts is NULL.

use super::super::builder::{Builder, V};
use crate::environment::StatementContext;
use stoa_pg::PgResult;

/// Adds the rows: one for what belongs to no database, in which nothing happens, and one for each database.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    t.row(vec![("datid", V::Oid(0)), ("numbackends", V::Int(0))]);
    for database in ctx.catalog.authority().databases() {
        let counters = ctx.database.counters_of(database.oid);
        let rows = counters.rows();
        let clients = ctx.database.sessions_of(database.oid).into_iter().filter(|session| !session.in_background).count();
        t.row(vec![
            ("datid", V::Oid(database.oid)),
            ("datname", database.name.as_str().into()),
            ("numbackends", V::Int(i64::try_from(clients).unwrap_or(i64::MAX))),
            ("xact_commit", counters.committed().into()),
            ("xact_rollback", counters.rolled_back().into()),
            ("tup_inserted", rows.inserted.into()),
            ("tup_updated", rows.updated.into()),
            ("tup_deleted", rows.deleted.into()),
            // There is no standby whose queries could be in the way.
            ("conflicts", V::Int(0)),
            ("deadlocks", counters.deadlocks().into()),
            ("sessions", counters.sessions().into()),
        ]);
    }
    Ok(())
}

/// `pg_stat_database_conflicts`: there is no standby whose queries could be in the way.
pub fn conflicts(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for database in ctx.catalog.authority().databases() {
        let none = ["confl_tablespace", "confl_lock", "confl_snapshot", "confl_bufferpin", "confl_deadlock"].map(|name| (name, V::Int(0)));
        t.row([vec![("datid", V::Oid(database.oid)), ("datname", database.name.as_str().into())], none.to_vec()].concat());
    }
    Ok(())
}

/// `pg_stat_archiver`: there is none, and it has archived nothing.
pub fn archiver(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    t.row(vec![("archived_count", V::Int(0)), ("failed_count", V::Int(0)), ("stats_reset", V::Time(ctx.database.started_us))]);
    Ok(())
}

/// `pg_stat_bgwriter`: there are no buffers that a process of its own would write.
pub fn bgwriter(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    let counted = ["checkpoints_timed", "checkpoints_req", "buffers_checkpoint", "buffers_clean", "maxwritten_clean"];
    let counted = counted.into_iter().chain(["buffers_backend", "buffers_backend_fsync", "buffers_alloc"]).map(|name| (name, V::Int(0)));
    let taken = ["checkpoint_write_time", "checkpoint_sync_time"].map(|name| (name, V::Float(0.0)));
    t.row(counted.chain(taken).chain([("stats_reset", V::Time(ctx.database.started_us))]).collect());
    Ok(())
}

/// `pg_stat_wal`: the store's log of commits. A record is a commit, a write takes those that came together.
pub fn wal(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    let metrics = ctx.database.tables.metrics();
    let of = |names: &[&str]| metrics.iter().find(|(name, _)| names.contains(&name.as_str())).map(|(_, value)| *value);
    t.row(vec![
        ("wal_records", of(&["commits"]).map_or(V::Null, V::from)),
        ("wal_bytes", of(&["bytes_written", "log_bytes"]).map_or(V::Null, |bytes| V::Numeric(bytes.to_string()))),
        ("wal_write", of(&["commit_groups"]).map_or(V::Null, V::from)),
        ("wal_sync", of(&["log_syncs"]).map_or(V::Null, V::from)),
        ("stats_reset", V::Time(ctx.database.started_us)),
    ]);
    Ok(())
}
