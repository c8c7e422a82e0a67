//! The types of columns: `data_type_privileges` tells which can be seen, `element_types` of what the arrays among them are, and
//! `column_udt_usage` which columns have the current role's types.

use super::super::builder::{Builder, V};
use super::super::objects::{catalog_collation, collation, column_collation, schema_of, tables};
use super::collations::collation_cells;
use super::shown::{is_of_another_session, shown_columns};
use crate::environment::StatementContext;
use stoa_pg::types::PgType;
use stoa_pg::{PgResult, SqlType};
use stoa_sql::catalog::names::OWNER;
use stoa_sql::system_relations::{self as definitions, Definition};
use stoa_table::catalog::{ColumnId, Relation};

/// A column of a table or view.
struct Column<'a> {
    schema: &'a str,
    relation: &'a str,
    name: &'a str,
    number: u32,
    ty: &'a SqlType,
    collation: V,
}

/// The collation of a column of a system relation: texts of catalogs have the order of bytes, as the domains of this schema have.
pub fn system_collation(definition: &Definition, ty: &PgType) -> V {
    if definition.kind == "r" || definition.schema == "information_schema" { catalog_collation(ty) } else { collation(ty) }
}

/// Calls a function with every column that the current role sees of relations that are wanted by these cells, the schema's and the name's.
fn each_column(
    ctx: &StatementContext,
    t: &mut Builder<'_>,
    [schema_cell, name_cell]: [&str; 2],
    row: impl Fn(&mut Builder<'_>, &Column<'_>),
) {
    for definition in definitions::all() {
        let (schema, relation) = (definition.schema.as_str(), definition.name.as_str());
        if !t.wants(name_cell, relation) || !t.wants(schema_cell, schema) {
            continue;
        }
        let is_seen = shown_columns(ctx, definition.oid);
        for (number, (name, ty)) in (1..).zip(&definition.columns).filter(|(number, _)| is_seen(ColumnId(*number))) {
            let collation = system_collation(definition, &ty.ty);
            row(t, &Column { schema, relation, name, number, ty, collation });
        }
    }
    for table in tables(ctx).into_iter().filter(|table| !is_of_another_session(ctx, table.schema)) {
        let (schema, relation) = (schema_of(ctx, table.schema), table.name.as_str());
        if !t.wants(name_cell, relation) || !t.wants(schema_cell, schema.as_str()) {
            continue;
        }
        let is_seen = shown_columns(ctx, table.oid);
        for c in table.visible_columns().filter(|c| is_seen(c.id)) {
            let collation = column_collation(c);
            row(t, &Column { schema: &schema, relation, name: &c.name, number: c.id.0, ty: &c.ty, collation });
        }
    }
    for relation in ctx.catalog.relations() {
        let Relation::View(view) = &**relation else { continue };
        let (schema, relation) = (schema_of(ctx, view.schema), view.name.as_str());
        let is_wanted = t.wants(name_cell, relation) && t.wants(schema_cell, schema.as_str());
        if view.materialized.is_some() || !is_wanted || is_of_another_session(ctx, view.schema) {
            continue;
        }
        let is_seen = shown_columns(ctx, view.oid);
        for (number, c) in (1..).zip(&view.columns).filter(|(number, _)| is_seen(ColumnId(*number))) {
            let collation = collation(&c.ty.ty);
            row(t, &Column { schema: &schema, relation, name: &c.name, number, ty: &c.ty, collation });
        }
    }
}

/// Adds the rows of `data_type_privileges`.
pub fn data_type_privileges(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    each_column(ctx, t, ["object_schema", "object_name"], |t, column| {
        t.row(vec![
            ("object_catalog", ctx.catalog.database_name().into()),
            ("object_schema", column.schema.into()),
            ("object_name", column.relation.into()),
            ("object_type", "TABLE".into()),
            ("dtd_identifier", column.number.to_string().into()),
        ]);
    });
    Ok(())
}

/// Adds the rows of `element_types`.
pub fn element_types(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    each_column(ctx, t, ["object_schema", "object_name"], |t, column| {
        let Some(element) = column.ty.ty.element() else { return };
        let mut cells = vec![
            ("object_catalog", ctx.catalog.database_name().into()),
            ("object_schema", column.schema.into()),
            ("object_name", column.relation.into()),
            ("object_type", "TABLE".into()),
            ("collection_type_identifier", column.number.to_string().into()),
            ("data_type", element.to_string().into()),
            ("udt_catalog", ctx.catalog.database_name().into()),
            ("udt_schema", "pg_catalog".into()),
            ("udt_name", element.name().into()),
            ("dtd_identifier", format!("a{}", column.number).into()),
        ];
        cells.extend(collation_cells(ctx, &column.collation));
        t.row(cells);
    });
    Ok(())
}

/// Adds the rows of `column_udt_usage`: columns have types of the system, which are the first superuser's.
pub fn column_udt_usage(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    if !ctx.catalog.authority().has_rights_of(ctx.role, OWNER) {
        return Ok(());
    }
    each_column(ctx, t, ["table_schema", "table_name"], |t, column| {
        t.row(vec![
            ("udt_catalog", ctx.catalog.database_name().into()),
            ("udt_schema", "pg_catalog".into()),
            ("udt_name", column.ty.ty.name().into()),
            ("table_catalog", ctx.catalog.database_name().into()),
            ("table_schema", column.schema.into()),
            ("table_name", column.relation.into()),
            ("column_name", column.name.into()),
        ]);
    });
    Ok(())
}
