//! `pg_dropped_tables`: the tables that UNDROP TABLE can bring back.

use super::super::builder::{Builder, V};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_sql::catalog::names::role_name;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    let now = ctx.database.tables.now_us();
    for dropped in ctx.catalog.dropped().values().filter(|dropped| dropped.kept_until_us > now) {
        let schema = ctx.catalog.schema(dropped.table.schema).map_or(&dropped.schema, |schema| &schema.name);
        t.row(vec![
            ("oid", V::Oid(dropped.oid())),
            ("schemaname", schema.as_str().into()),
            ("tablename", dropped.table.name.as_str().into()),
            ("tableowner", role_name(&ctx.catalog, dropped.owner()).into()),
            ("dropped", V::Time(dropped.dropped_us)),
            ("kept_until", V::Time(dropped.kept_until_us)),
        ]);
    }
    Ok(())
}
