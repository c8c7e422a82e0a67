//! `pg_indexes`: the indexes, with their definitions.

use super::super::builder::Builder;
use super::super::objects::{indexed, indexes, schema_of};
use crate::environment::StatementContext;
use stoa_pg::PgResult;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for owner in indexed(ctx) {
        if !t.wants("tablename", owner.name.as_str()) {
            continue;
        }
        for shown in indexes(&owner.table) {
            t.row(vec![
                ("schemaname", schema_of(ctx, owner.table.schema).into()),
                ("tablename", owner.name.as_str().into()),
                ("indexname", shown.name.into()),
                ("indexdef", stoa_sql::definition::index_definition(&ctx.catalog, &owner.table, shown.index).into()),
            ]);
        }
    }
    Ok(())
}
