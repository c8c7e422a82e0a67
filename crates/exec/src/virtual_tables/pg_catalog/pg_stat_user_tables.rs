//! `pg_stat_user_tables` and its kin: what statistics say of tables.

use super::super::builder::{Builder, V};
use super::super::objects::{indexed, schema_of};
use crate::environment::StatementContext;
use stoa_pg::PgResult;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for owner in indexed(ctx) {
        let table = &owner.table;
        let known = ctx.database.statistics.of(table.oid);
        let written = ctx.database.counters.rows_of(table.oid);
        let explicit = known.as_ref().is_some_and(|s| s.explicit);
        t.row(vec![
            ("relid", V::Oid(owner.oid)),
            ("schemaname", schema_of(ctx, table.schema).into()),
            ("relname", owner.name.as_str().into()),
            ("n_tup_ins", written.inserted.into()),
            ("n_tup_upd", written.updated.into()),
            ("n_tup_del", written.deleted.into()),
            ("n_live_tup", V::Int(known.as_ref().map_or(0, |s| s.rows as i64))),
            ("n_mod_since_analyze", ctx.database.statistics.changed(table.oid).into()),
            (if explicit { "last_analyze" } else { "last_autoanalyze" }, known.as_ref().map_or(V::Null, |s| V::Time(s.collected_us))),
        ]);
    }
    Ok(())
}
