//! `tables`: tables and views.

use super::super::builder::{Builder, yes};
use super::super::objects::{schema_of, tables};
use super::shown::{is_of_another_session, is_shown};
use super::{INSERT, written};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_sql::system_relations as definitions;
use stoa_table::catalog::Relation;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for table in tables(ctx).into_iter().filter(|table| table.entries_of.is_none()) {
        if !t.wants("table_name", table.name.as_str()) || is_of_another_session(ctx, table.schema) || !is_shown(ctx, table.oid) {
            continue;
        }
        let kind = if table.temporary { "LOCAL TEMPORARY" } else { "BASE TABLE" };
        table_row(ctx, t, table.schema, &table.name, kind, true);
    }
    for relation in ctx.catalog.relations() {
        if let Relation::View(v) = &**relation
            && v.materialized.is_none()
            && t.wants("table_name", v.name.as_str())
            && !is_of_another_session(ctx, v.schema)
            && is_shown(ctx, v.oid)
        {
            let temporary = ctx.catalog.schema(v.schema).is_some_and(|schema| schema.temporary.is_some());
            let kind = if temporary { "LOCAL TEMPORARY" } else { "VIEW" };
            table_row(ctx, t, v.schema, &v.name, kind, t.reads("is_insertable_into") && written(ctx).events(v.oid) & INSERT != 0);
        }
    }
    for definition in definitions::all().filter(|definition| is_shown(ctx, definition.oid)) {
        let is_table = definition.kind == "r";
        t.row(vec![
            ("table_catalog", ctx.catalog.database_name().into()),
            ("table_schema", definition.schema.as_str().into()),
            ("table_name", definition.name.as_str().into()),
            ("table_type", if is_table { "BASE TABLE" } else { "VIEW" }.into()),
            ("is_insertable_into", yes(is_table)),
            ("is_typed", yes(false)),
        ]);
    }
    Ok(())
}

fn table_row(ctx: &StatementContext, t: &mut Builder<'_>, schema: u32, name: &str, kind: &str, writable: bool) {
    t.row(vec![
        ("table_catalog", ctx.catalog.database_name().into()),
        ("table_schema", schema_of(ctx, schema).into()),
        ("table_name", name.into()),
        ("table_type", kind.into()),
        ("is_insertable_into", yes(writable)),
        ("is_typed", yes(false)),
    ]);
}
