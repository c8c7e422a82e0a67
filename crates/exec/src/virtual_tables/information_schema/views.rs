//! `views`: the views, with their definitions and whether rows can be changed through them.

use super::super::builder::{Builder, V, yes};
use super::super::objects::schema_of;
use super::written;
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_table::catalog::Relation;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for relation in ctx.catalog.relations() {
        if let Relation::View(v) = &**relation
            && v.materialized.is_none()
            && t.wants("table_name", v.name.as_str())
        {
            let updatable = yes((t.reads("is_updatable") || t.reads("is_insertable_into")) && written(ctx).is_updatable(v));
            t.row(vec![
                ("table_catalog", ctx.catalog.database_name().into()),
                ("table_schema", schema_of(ctx, v.schema).into()),
                ("table_name", v.name.as_str().into()),
                ("view_definition", if t.reads("view_definition") { ctx.definitions().view(v.oid, false)?.into() } else { V::Null }),
                ("check_option", v.check_option.as_deref().unwrap_or("none").to_uppercase().into()),
                ("is_updatable", updatable.clone()),
                ("is_insertable_into", updatable),
                ("is_trigger_updatable", yes(false)),
                ("is_trigger_deletable", yes(false)),
                ("is_trigger_insertable_into", yes(false)),
            ]);
        }
    }
    Ok(())
}
