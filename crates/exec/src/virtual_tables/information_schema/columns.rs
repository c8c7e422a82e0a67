//! `columns`: the columns of tables and views.

use super::super::builder::{Builder, V, yes};
use super::super::objects::{collation, column_collation, schema_of, tables};
use super::collations::collation_cells;
use super::column_types::system_collation;
use super::shown::{is_of_another_session, shown_columns};
use super::written;
use crate::environment::StatementContext;
use stoa_pg::types::{PgType, format_type, length_typmod, numeric_typmod};
use stoa_pg::{PgResult, SqlType};
use stoa_sql::system_relations as definitions;
use stoa_table::catalog::{ColumnId, Relation, TableDescriptor};

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for definition in definitions::all() {
        if !t.wants("table_name", definition.name.as_str()) || !t.wants("table_schema", definition.schema.as_str()) {
            continue;
        }
        let is_seen = shown_columns(ctx, definition.oid);
        for (number, ((name, ty), not_null)) in (1..).zip(definition.columns.iter().zip(&definition.not_null)) {
            if !is_seen(ColumnId(number)) {
                continue;
            }
            let mut cells = column_cells(ctx, 0, &definition.name, name, i64::from(number), ty);
            cells.extend(collation_cells(ctx, &system_collation(definition, &ty.ty)));
            cells.retain(|(cell, _)| *cell != "table_schema");
            cells.extend([
                ("table_schema", definition.schema.as_str().into()),
                ("is_nullable", yes(!not_null)),
                ("is_identity", yes(false)),
                ("identity_cycle", yes(false)),
                ("is_generated", "NEVER".into()),
                ("is_updatable", yes(definition.kind == "r")),
            ]);
            t.row(cells);
        }
    }
    for table in tables(ctx) {
        if !t.wants("table_name", table.name.as_str()) || is_of_another_session(ctx, table.schema) {
            continue;
        }
        let is_seen = shown_columns(ctx, table.oid);
        for c in table.visible_columns().filter(|c| is_seen(c.id)) {
            let identity = c.identity.as_ref();
            let sequence = identity.and_then(|i| match ctx.catalog.relation(i.sequence).map(|r| &**r) {
                Some(Relation::Sequence(sequence)) => Some(sequence),
                _ => None,
            });
            let mut cells = column_cells(ctx, table.schema, &table.name, &c.name, i64::from(c.id.0), &c.ty);
            cells.extend([
                ("column_default", if t.reads("column_default") { default_shown(ctx, &table, c).into() } else { V::Null }),
                ("is_nullable", yes(!c.not_null)),
                ("is_identity", yes(identity.is_some())),
                ("identity_generation", identity.map(|i| if i.always { "ALWAYS" } else { "BY DEFAULT" }.to_owned()).into()),
                ("identity_cycle", yes(sequence.is_some_and(|s| s.cycle))),
                ("is_generated", if c.generated.is_some() { "ALWAYS" } else { "NEVER" }.into()),
                ("generation_expression", c.generated.clone().into()),
                ("is_updatable", yes(true)),
            ]);
            cells.extend(collation_cells(ctx, &column_collation(c)));
            if let Some(s) = sequence {
                cells.extend([
                    ("identity_start", V::from(s.start.to_string())),
                    ("identity_increment", s.increment.to_string().into()),
                    ("identity_maximum", s.max.to_string().into()),
                    ("identity_minimum", s.min.to_string().into()),
                ]);
            }
            t.row(cells);
        }
    }
    for relation in ctx.catalog.relations() {
        if let Relation::View(v) = &**relation
            && v.materialized.is_none()
            && t.wants("table_name", v.name.as_str())
            && !is_of_another_session(ctx, v.schema)
        {
            let names = written(ctx);
            let writable = if t.reads("is_updatable") && names.is_updatable(v) { names.columns(v) } else { Vec::new() };
            let is_seen = shown_columns(ctx, v.oid);
            for (i, c) in v.columns.iter().enumerate().filter(|(i, _)| is_seen(ColumnId(*i as u32 + 1))) {
                let mut cells = column_cells(ctx, v.schema, &v.name, &c.name, i as i64 + 1, &c.ty);
                cells.extend(collation_cells(ctx, &collation(&c.ty.ty)));
                cells.extend([
                    ("column_default", c.default.clone().map(|text| ctx.definitions().expr(None, &text, false)).into()),
                    ("is_nullable", yes(true)),
                    ("is_identity", yes(false)),
                    ("identity_cycle", yes(false)),
                    ("is_generated", "NEVER".into()),
                    ("is_updatable", yes(writable.get(i).copied().unwrap_or(false))),
                ]);
                t.row(cells);
            }
        }
    }
    Ok(())
}

/// A column's default as statements name it.
fn default_shown(ctx: &StatementContext, table: &TableDescriptor, column: &stoa_table::catalog::ColumnDescriptor) -> Option<String> {
    let text = column.default.as_ref()?;
    Some(stoa_sql::definition::written_time::as_written(ctx.definitions().expr(Some(table), text, false), text, false))
}

fn column_cells(ctx: &StatementContext, schema: u32, table: &str, name: &str, position: i64, ty: &SqlType) -> Vec<(&'static str, V)> {
    let mut cells = vec![
        ("table_catalog", V::from(ctx.catalog.database_name())),
        ("table_schema", schema_of(ctx, schema).into()),
        ("table_name", table.into()),
        ("column_name", name.into()),
        ("ordinal_position", V::Int(position)),
        ("data_type", if ty.ty.is_array() { V::from("ARRAY") } else { ty.ty.to_string().into() }),
        ("udt_catalog", ctx.catalog.database_name().into()),
        ("udt_schema", "pg_catalog".into()),
        ("udt_name", ty.ty.name().into()),
        ("dtd_identifier", position.to_string().into()),
        ("is_self_referencing", yes(false)),
    ];
    match ty.ty {
        PgType::Varchar | PgType::Bpchar => {
            let length = length_typmod(ty.typmod);
            cells.push(("character_maximum_length", length.map_or(V::Null, |n| V::Int(n as i64))));
            cells.push(("character_octet_length", V::Int(length.map_or(1_073_741_824, |n| 4 * n as i64))));
        }
        PgType::Bit | PgType::Varbit if ty.typmod > 0 => cells.push(("character_maximum_length", V::Int(i64::from(ty.typmod)))),
        PgType::Text => cells.push(("character_octet_length", V::Int(1_073_741_824))),
        PgType::Int2 | PgType::Int4 | PgType::Int8 => {
            let bits = i64::from(ty.ty.len()) * 8;
            cells.extend([("numeric_precision", V::Int(bits)), ("numeric_precision_radix", V::Int(2)), ("numeric_scale", V::Int(0))]);
        }
        PgType::Float4 => cells.extend([("numeric_precision", V::Int(24)), ("numeric_precision_radix", V::Int(2))]),
        PgType::Float8 => cells.extend([("numeric_precision", V::Int(53)), ("numeric_precision_radix", V::Int(2))]),
        PgType::Numeric => {
            cells.push(("numeric_precision_radix", V::Int(10)));
            if let Some((p, s)) = numeric_typmod(&ty.ty, ty.typmod) {
                cells.extend([("numeric_precision", V::Int(i64::from(p))), ("numeric_scale", V::Int(i64::from(s)))]);
            }
        }
        PgType::Date => cells.push(("datetime_precision", V::Int(0))),
        PgType::Time | PgType::Timetz | PgType::Timestamp | PgType::Timestamptz => {
            cells.push(("datetime_precision", V::Int(if ty.typmod >= 0 { i64::from(ty.typmod) } else { 6 })));
        }
        PgType::Interval => {
            // The precision is in the low half; all bits set is none.
            let precision = Some(i64::from(ty.typmod & 0xFFFF)).filter(|p| ty.typmod >= 0 && *p != 0xFFFF).unwrap_or(6);
            cells.push(("datetime_precision", V::Int(precision)));
            let fields = format_type(&ty.ty, ty.typmod);
            if let Some(fields) = fields.strip_prefix("interval ") {
                cells.push(("interval_type", fields.to_uppercase().into()));
            }
        }
        _ => {}
    }
    cells
}
