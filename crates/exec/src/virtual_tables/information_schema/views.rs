//! `views`: the views, with their definitions and whether rows can be changed through them.

use super::super::builder::{Builder, yes};
use super::super::objects::schema_of;
use super::shown::{is_of_another_session, is_own, is_shown};
use super::{INSERT, UPDATE_AND_DELETE, written};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_table::catalog::Relation;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for relation in ctx.catalog.relations() {
        if let Relation::View(v) = &**relation
            && v.materialized.is_none()
            && t.wants("table_name", v.name.as_str())
            && !is_of_another_session(ctx, v.schema)
            && is_shown(ctx, v.oid)
        {
            let is_read = t.reads("is_updatable") || t.reads("is_insertable_into");
            let events = if is_read { written(ctx).events(v.oid) } else { 0 };
            // Its owner alone is shown what it is made of.
            let definition = if t.reads("view_definition") && is_own(ctx, v.oid) { ctx.definitions().view(v.oid, false)? } else { None };
            t.row(vec![
                ("table_catalog", ctx.catalog.database_name().into()),
                ("table_schema", schema_of(ctx, v.schema).into()),
                ("table_name", v.name.as_str().into()),
                ("view_definition", definition.into()),
                ("check_option", v.check_option.as_deref().unwrap_or("none").to_uppercase().into()),
                ("is_updatable", yes(events & UPDATE_AND_DELETE == UPDATE_AND_DELETE)),
                ("is_insertable_into", yes(events & INSERT != 0)),
                ("is_trigger_updatable", yes(false)),
                ("is_trigger_deletable", yes(false)),
                ("is_trigger_insertable_into", yes(false)),
            ]);
        }
    }
    Ok(())
}
