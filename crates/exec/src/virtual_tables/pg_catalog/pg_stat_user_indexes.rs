//! `pg_stat_user_indexes` and its kin: the indexes, by name.

use super::super::builder::{Builder, V};
use super::super::objects::{indexed, indexes, schema_of};
use crate::environment::StatementContext;
use stoa_pg::PgResult;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for owner in indexed(ctx) {
        for index in indexes(&owner.table) {
            t.row(vec![
                ("relid", V::Oid(owner.oid)),
                ("indexrelid", V::Oid(index.oid)),
                ("schemaname", schema_of(ctx, owner.table.schema).into()),
                ("relname", owner.name.as_str().into()),
                ("indexrelname", index.name.into()),
            ]);
        }
    }
    Ok(())
}
