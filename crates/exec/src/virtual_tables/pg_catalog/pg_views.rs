//! `pg_views`: the views, with their definitions.

use super::super::builder::{Builder, V};
use super::super::objects::{owner_name, schema_of};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_table::catalog::{Relation, RightsOf};

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for relation in ctx.catalog.relations() {
        if let Relation::View(v) = &**relation
            && v.materialized.is_none()
            && t.wants("viewname", v.name.as_str())
        {
            t.row(vec![
                ("schemaname", schema_of(ctx, v.schema).into()),
                ("viewname", v.name.as_str().into()),
                ("viewowner", owner_name(ctx, RightsOf::Relation(v.oid)).into()),
                ("definition", if t.reads("definition") { ctx.definitions().view(v.oid, false)?.into() } else { V::Null }),
            ]);
        }
    }
    Ok(())
}
