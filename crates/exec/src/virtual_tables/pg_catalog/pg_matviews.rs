//! `pg_matviews`: the materialized views, with their definitions.

use super::super::builder::{Builder, V};
use super::super::objects::{owner_name, schema_of};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_table::catalog::{Relation, RightsOf};

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for relation in ctx.catalog.relations() {
        if let Relation::View(v) = &**relation
            && let Some(held) = v.materialized
            && t.wants("matviewname", v.name.as_str())
        {
            t.row(vec![
                ("schemaname", schema_of(ctx, v.schema).into()),
                ("matviewname", v.name.as_str().into()),
                ("matviewowner", owner_name(ctx, RightsOf::Relation(v.oid)).into()),
                ("hasindexes", ctx.catalog.table(held).is_some_and(|held| !held.indexes.is_empty()).into()),
                ("ispopulated", (!v.unpopulated).into()),
                ("definition", if t.reads("definition") { ctx.definitions().view(v.oid, false)?.into() } else { V::Null }),
            ]);
        }
    }
    Ok(())
}
