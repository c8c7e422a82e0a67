//! `information_schema`: the standard's view of tables, columns and constraints.

use super::cell::{Table, V, yes};
use super::pg_catalog::{schema_of, tables};
use stoa_exec::nodes::StatementContext;
use stoa_pg::types::{PgType, length_typmod, numeric_typmod};
use stoa_pg::{PgResult, SqlType};
use stoa_sql::bind::{BindContext, bind_table_expr};
use stoa_sql::catalog::names::DATABASE_OWNER_NAME;
use stoa_sql::definition::updatable::Names;
use stoa_sql::typed::tree::ColId;
use stoa_sql::typed::walk::columns_of;
use stoa_table::catalog::{ForeignKeyAction, IndexKey, PUBLIC_OID, Relation, TableDescriptor, ViewDescriptor};

/// The catalog's name in the standard's sense.
const DATABASE: &str = "stoa";

/// What can be written of views.
fn written(ctx: &StatementContext) -> Names<'_> {
    Names { catalog: &ctx.catalog, path: &ctx.search_path, temporary: ctx.session.temporary_schema(), eval: &ctx.eval }
}

/// Fills a relation; those that Stoa has nothing to say in stay empty.
pub fn fill(ctx: &StatementContext, name: &str, t: &mut Table<'_>) -> PgResult<()> {
    match name {
        "schemata" => {
            for s in ctx.catalog.schemas() {
                let owner = if s.oid == PUBLIC_OID { DATABASE_OWNER_NAME.to_owned() } else { ctx.session.current_user() };
                t.row(vec![("catalog_name", DATABASE.into()), ("schema_name", s.name.as_str().into()), ("schema_owner", owner.into())]);
            }
        }
        "information_schema_catalog_name" => t.row(vec![("catalog_name", DATABASE.into())]),
        "tables" => {
            for table in tables(ctx) {
                let kind = if table.temporary { "LOCAL TEMPORARY" } else { "BASE TABLE" };
                table_row(ctx, t, table.schema, &table.name, kind, true);
            }
            for relation in ctx.catalog.relations() {
                if let Relation::View(v) = &**relation
                    && v.materialized.is_none()
                {
                    table_row(ctx, t, v.schema, &v.name, "VIEW", written(ctx).is_updatable(v));
                }
            }
            for shape in stoa_sql::system_relations::all() {
                let is_table = shape.kind == "r";
                t.row(vec![
                    ("table_catalog", DATABASE.into()),
                    ("table_schema", shape.schema.as_str().into()),
                    ("table_name", shape.name.as_str().into()),
                    ("table_type", if is_table { "BASE TABLE" } else { "VIEW" }.into()),
                    ("is_insertable_into", yes(is_table)),
                    ("is_typed", yes(false)),
                ]);
            }
        }
        "views" => {
            for relation in ctx.catalog.relations() {
                if let Relation::View(v) = &**relation
                    && v.materialized.is_none()
                {
                    t.row(vec![
                        ("table_catalog", DATABASE.into()),
                        ("table_schema", schema_of(ctx, v.schema).into()),
                        ("table_name", v.name.as_str().into()),
                        ("view_definition", definitions(ctx).view(v.oid, false)?.into()),
                        ("check_option", v.check_option.as_deref().unwrap_or("none").to_uppercase().into()),
                        ("is_updatable", yes(written(ctx).is_updatable(v))),
                        ("is_insertable_into", yes(written(ctx).is_updatable(v))),
                        ("is_trigger_updatable", yes(false)),
                        ("is_trigger_deletable", yes(false)),
                        ("is_trigger_insertable_into", yes(false)),
                    ]);
                }
            }
        }
        "columns" => {
            for shape in stoa_sql::system_relations::all() {
                for (i, ((name, ty), not_null)) in shape.columns.iter().zip(&shape.not_null).enumerate() {
                    let mut cells = column_cells(ctx, 0, &shape.name, name, i as i64 + 1, ty);
                    cells.retain(|(cell, _)| *cell != "table_schema");
                    cells.extend([
                        ("table_schema", shape.schema.as_str().into()),
                        ("is_nullable", yes(!not_null)),
                        ("is_identity", yes(false)),
                        ("identity_cycle", yes(false)),
                        ("is_generated", "NEVER".into()),
                        ("is_updatable", yes(shape.kind == "r")),
                    ]);
                    t.row(cells);
                }
            }
            for table in tables(ctx) {
                for c in table.visible_columns() {
                    let identity = c.identity.as_ref();
                    let sequence = identity.and_then(|i| match ctx.catalog.relation(i.sequence).map(|r| &**r) {
                        Some(Relation::Sequence(sequence)) => Some(sequence),
                        _ => None,
                    });
                    let mut cells = column_cells(ctx, table.schema, &table.name, &c.name, i64::from(c.id.0), &c.ty);
                    cells.extend([
                        ("column_default", default_shown(ctx, &table, c).into()),
                        ("is_nullable", yes(!c.not_null)),
                        ("is_identity", yes(identity.is_some())),
                        ("identity_generation", identity.map(|i| if i.always { "ALWAYS" } else { "BY DEFAULT" }.to_owned()).into()),
                        ("identity_cycle", yes(sequence.is_some_and(|s| s.cycle))),
                        ("is_generated", if c.generated.is_some() { "ALWAYS" } else { "NEVER" }.into()),
                        ("generation_expression", c.generated.clone().into()),
                        ("is_updatable", yes(true)),
                    ]);
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
                {
                    let names = written(ctx);
                    let writable = if names.is_updatable(v) { names.columns(v) } else { Vec::new() };
                    for (i, c) in v.columns.iter().enumerate() {
                        let mut cells = column_cells(ctx, v.schema, &v.name, &c.name, i as i64 + 1, &c.ty);
                        cells.extend([
                            ("column_default", c.default.clone().map(|text| definitions(ctx).expr(None, &text, false)).into()),
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
        }
        "table_constraints" => {
            for table in tables(ctx) {
                for c in all_constraints(&table) {
                    t.row(vec![
                        ("constraint_catalog", DATABASE.into()),
                        ("constraint_schema", schema_of(ctx, table.schema).into()),
                        ("constraint_name", c.name.into()),
                        ("table_catalog", DATABASE.into()),
                        ("table_schema", schema_of(ctx, table.schema).into()),
                        ("table_name", table.name.as_str().into()),
                        ("constraint_type", c.kind.into()),
                        ("is_deferrable", yes(c.deferrable)),
                        ("initially_deferred", yes(c.deferred)),
                        ("enforced", yes(true)),
                    ]);
                }
                for column in table.visible_columns().filter(|c| c.not_null) {
                    t.row(vec![
                        ("constraint_catalog", DATABASE.into()),
                        ("constraint_schema", schema_of(ctx, table.schema).into()),
                        ("constraint_name", format!("{}_{}_{}_not_null", table.schema, table.oid, column.id.0).into()),
                        ("table_catalog", DATABASE.into()),
                        ("table_schema", schema_of(ctx, table.schema).into()),
                        ("table_name", table.name.as_str().into()),
                        ("constraint_type", "CHECK".into()),
                        ("is_deferrable", yes(false)),
                        ("initially_deferred", yes(false)),
                        ("enforced", yes(true)),
                    ]);
                }
            }
        }
        "key_column_usage" => {
            for table in tables(ctx) {
                for c in all_constraints(&table).into_iter().filter(|c| c.kind != "CHECK") {
                    for (i, column) in c.columns.iter().enumerate() {
                        let position = i as i64 + 1;
                        t.row(vec![
                            ("constraint_catalog", DATABASE.into()),
                            ("constraint_schema", schema_of(ctx, table.schema).into()),
                            ("constraint_name", c.name.clone().into()),
                            ("table_catalog", DATABASE.into()),
                            ("table_schema", schema_of(ctx, table.schema).into()),
                            ("table_name", table.name.as_str().into()),
                            ("column_name", column.as_str().into()),
                            ("ordinal_position", V::Int(position)),
                            ("position_in_unique_constraint", if c.kind == "FOREIGN KEY" { V::Int(position) } else { V::Null }),
                        ]);
                    }
                }
            }
        }
        "column_column_usage" => {
            for table in tables(ctx) {
                for column in table.visible_columns() {
                    let Some(generated) = &column.generated else { continue };
                    let bind =
                        BindContext { catalog: &ctx.catalog, search_path: &ctx.search_path, eval: &ctx.eval, param_types: &[], text: "" };
                    let mut used = Vec::new();
                    columns_of(&bind_table_expr(&bind, &table, generated)?, &mut used);
                    for read in table.visible_columns().filter(|c| used.contains(&ColId(c.id.0))) {
                        t.row(vec![
                            ("table_catalog", DATABASE.into()),
                            ("table_schema", schema_of(ctx, table.schema).into()),
                            ("table_name", table.name.as_str().into()),
                            ("column_name", read.name.as_str().into()),
                            ("dependent_column", column.name.as_str().into()),
                        ]);
                    }
                }
            }
        }
        "constraint_column_usage" => {
            for table in tables(ctx) {
                for c in all_constraints(&table) {
                    let (owner, columns) = match &c.referenced {
                        Some((oid, columns)) => match ctx.catalog.shared_table(*oid) {
                            Some(r) => (r.clone(), columns.iter().filter_map(|id| r.column(*id).map(|c| c.name.clone())).collect()),
                            None => continue,
                        },
                        None => (table.clone(), c.columns.clone()),
                    };
                    for column in columns {
                        t.row(vec![
                            ("table_catalog", DATABASE.into()),
                            ("table_schema", schema_of(ctx, owner.schema).into()),
                            ("table_name", owner.name.as_str().into()),
                            ("column_name", column.into()),
                            ("constraint_catalog", DATABASE.into()),
                            ("constraint_schema", schema_of(ctx, table.schema).into()),
                            ("constraint_name", c.name.clone().into()),
                        ]);
                    }
                }
            }
        }
        "constraint_table_usage" => {
            for table in tables(ctx) {
                for c in all_constraints(&table).into_iter().filter(|c| c.kind != "CHECK") {
                    let owner = match &c.referenced {
                        Some((oid, _)) => match ctx.catalog.shared_table(*oid) {
                            Some(referenced) => referenced.clone(),
                            None => continue,
                        },
                        None => table.clone(),
                    };
                    t.row(vec![
                        ("table_catalog", DATABASE.into()),
                        ("table_schema", schema_of(ctx, owner.schema).into()),
                        ("table_name", owner.name.as_str().into()),
                        ("constraint_catalog", DATABASE.into()),
                        ("constraint_schema", schema_of(ctx, table.schema).into()),
                        ("constraint_name", c.name.into()),
                    ]);
                }
            }
        }
        "view_table_usage" => {
            for read in read_by_views(ctx) {
                t.row(read.cells());
            }
        }
        "view_column_usage" => {
            for read in read_by_views(ctx) {
                for column in &read.columns {
                    let mut cells = read.cells();
                    cells.push(("column_name", column.as_str().into()));
                    t.row(cells);
                }
            }
        }
        "referential_constraints" => {
            let rule = |a: ForeignKeyAction| {
                V::from(match a {
                    ForeignKeyAction::NoAction => "NO ACTION",
                    ForeignKeyAction::Restrict => "RESTRICT",
                    ForeignKeyAction::Cascade => "CASCADE",
                    ForeignKeyAction::SetNull => "SET NULL",
                    ForeignKeyAction::SetDefault => "SET DEFAULT",
                })
            };
            for table in tables(ctx) {
                for key in &table.foreign_keys {
                    let referenced = ctx.catalog.table(key.referenced_table);
                    let unique = referenced.and_then(|r| unique_name(r, &key.referenced_columns));
                    t.row(vec![
                        ("constraint_catalog", DATABASE.into()),
                        ("constraint_schema", schema_of(ctx, table.schema).into()),
                        ("constraint_name", key.name.name.as_str().into()),
                        ("unique_constraint_catalog", DATABASE.into()),
                        ("unique_constraint_schema", referenced.map(|r| schema_of(ctx, r.schema)).into()),
                        ("unique_constraint_name", unique.into()),
                        ("match_option", if key.match_full { "FULL" } else { "NONE" }.into()),
                        ("update_rule", rule(key.on_update)),
                        ("delete_rule", rule(key.on_delete)),
                    ]);
                }
            }
        }
        "check_constraints" => {
            for table in tables(ctx) {
                for check in &table.checks {
                    t.row(vec![
                        ("constraint_catalog", DATABASE.into()),
                        ("constraint_schema", schema_of(ctx, table.schema).into()),
                        ("constraint_name", check.name.name.as_str().into()),
                        ("check_clause", format!("({})", check.expr).into()),
                    ]);
                }
                for column in table.visible_columns().filter(|c| c.not_null) {
                    t.row(vec![
                        ("constraint_catalog", DATABASE.into()),
                        ("constraint_schema", schema_of(ctx, table.schema).into()),
                        ("constraint_name", format!("{}_{}_{}_not_null", table.schema, table.oid, column.id.0).into()),
                        ("check_clause", format!("{} IS NOT NULL", column.name).into()),
                    ]);
                }
            }
        }
        "sequences" => {
            for relation in ctx.catalog.relations() {
                if let Relation::Sequence(s) = &**relation {
                    // The standard leaves out those behind identity columns.
                    let identity = s
                        .owned_by
                        .as_ref()
                        .and_then(|(table, column)| ctx.catalog.table(*table)?.column(*column))
                        .is_some_and(|c| c.identity.is_some());
                    if identity {
                        continue;
                    }
                    let bits = match s.ty.ty {
                        PgType::Int2 => 16,
                        PgType::Int4 => 32,
                        _ => 64,
                    };
                    t.row(vec![
                        ("sequence_catalog", DATABASE.into()),
                        ("sequence_schema", schema_of(ctx, s.schema).into()),
                        ("sequence_name", s.name.as_str().into()),
                        ("data_type", s.ty.to_string().into()),
                        ("numeric_precision", V::Int(bits)),
                        ("numeric_precision_radix", V::Int(2)),
                        ("numeric_scale", V::Int(0)),
                        ("start_value", s.start.to_string().into()),
                        ("minimum_value", s.min.to_string().into()),
                        ("maximum_value", s.max.to_string().into()),
                        ("increment", s.increment.to_string().into()),
                        ("cycle_option", yes(s.cycle)),
                    ]);
                }
            }
        }
        _ => {}
    }
    Ok(())
}

fn table_row(ctx: &StatementContext, t: &mut Table<'_>, schema: u32, name: &str, kind: &str, writable: bool) {
    t.row(vec![
        ("table_catalog", DATABASE.into()),
        ("table_schema", schema_of(ctx, schema).into()),
        ("table_name", name.into()),
        ("table_type", kind.into()),
        ("is_insertable_into", yes(writable)),
        ("is_typed", yes(false)),
    ]);
}

/// A relation that a view reads, and the columns of it that it names.
struct ReadByView<'a> {
    ctx: &'a StatementContext,
    view: &'a ViewDescriptor,
    relation: &'a Relation,
    columns: Vec<String>,
}

impl ReadByView<'_> {
    /// The cells that tell the view and the relation.
    fn cells(&self) -> Vec<(&'static str, V)> {
        vec![
            ("view_catalog", DATABASE.into()),
            ("view_schema", schema_of(self.ctx, self.view.schema).into()),
            ("view_name", self.view.name.as_str().into()),
            ("table_catalog", DATABASE.into()),
            ("table_schema", schema_of(self.ctx, self.relation.schema()).into()),
            ("table_name", self.relation.name().into()),
        ]
    }
}

/// What views read of tables and of other views. As in PostgreSQL, materialized views stand on neither side.
fn read_by_views(ctx: &StatementContext) -> Vec<ReadByView<'_>> {
    let plain = |view: &ViewDescriptor| view.materialized.is_none();
    let mut out = Vec::new();
    for view in ctx.catalog.relations().filter_map(|r| if let Relation::View(v) = &**r { Some(v) } else { None }).filter(|v| plain(v)) {
        for used in &view.depends_on {
            let Some(relation) = ctx.catalog.relation(used.relation) else { continue };
            let names: Vec<String> = match &**relation {
                Relation::Table(table) => used.columns.iter().filter_map(|id| table.column(*id)).map(|c| c.name.clone()).collect(),
                Relation::View(read) if plain(read) => {
                    used.columns.iter().filter_map(|id| read.columns.get((id.0 as usize).checked_sub(1)?)).map(|c| c.name.clone()).collect()
                }
                _ => continue,
            };
            out.push(ReadByView { ctx, view, relation, columns: names });
        }
    }
    out
}

/// A column's default as statements name it.
fn default_shown(ctx: &StatementContext, table: &TableDescriptor, column: &stoa_table::catalog::ColumnDescriptor) -> Option<String> {
    let text = column.default.as_ref()?;
    Some(stoa_sql::definition::written_time::as_written(definitions(ctx).expr(Some(table), text, false), text, false))
}

struct Constraint {
    name: String,
    kind: &'static str,
    columns: Vec<String>,
    referenced: Option<(u32, Vec<stoa_table::catalog::ColumnId>)>,
    deferrable: bool,
    deferred: bool,
}

fn all_constraints(table: &TableDescriptor) -> Vec<Constraint> {
    let names = |ids: &[stoa_table::catalog::ColumnId]| -> Vec<String> {
        ids.iter().filter_map(|id| table.column(*id).map(|c| c.name.clone())).collect()
    };
    let mut out = Vec::new();
    if let Some(p) = &table.primary_key {
        let columns: Vec<_> = table.key.iter().map(|k| k.column).collect();
        out.push(Constraint {
            name: p.name.clone(),
            kind: "PRIMARY KEY",
            columns: names(&columns),
            referenced: None,
            deferrable: p.deferrable,
            deferred: p.initially_deferred,
        });
    }
    for index in &table.indexes {
        if let Some(c) = &index.constraint {
            let columns: Vec<_> =
                index.parts.iter().filter_map(|p| if let IndexKey::Column(c) = &p.key { Some(*c) } else { None }).collect();
            out.push(Constraint {
                name: c.name.clone(),
                kind: if index.primary { "PRIMARY KEY" } else { "UNIQUE" },
                columns: names(&columns),
                referenced: None,
                deferrable: c.deferrable,
                deferred: c.initially_deferred,
            });
        }
    }
    for k in &table.foreign_keys {
        out.push(Constraint {
            name: k.name.name.clone(),
            kind: "FOREIGN KEY",
            columns: names(&k.columns),
            referenced: Some((k.referenced_table, k.referenced_columns.clone())),
            deferrable: k.name.deferrable,
            deferred: k.name.initially_deferred,
        });
    }
    for c in &table.checks {
        out.push(Constraint {
            name: c.name.name.clone(),
            kind: "CHECK",
            columns: names(&c.columns),
            referenced: None,
            deferrable: false,
            deferred: false,
        });
    }
    out
}

fn unique_name(table: &TableDescriptor, columns: &[stoa_table::catalog::ColumnId]) -> Option<String> {
    let key: Vec<_> = table.key.iter().map(|p| p.column).collect();
    if let Some(p) = &table.primary_key
        && key.len() == columns.len()
        && columns.iter().all(|c| key.contains(c))
    {
        return Some(p.name.clone());
    }
    table
        .indexes
        .iter()
        .find(|i| {
            i.unique
                && i.parts.len() == columns.len()
                && i.parts.iter().all(|p| matches!(&p.key, IndexKey::Column(c) if columns.contains(c)))
        })
        .map(|i| i.name.clone())
}

fn column_cells(ctx: &StatementContext, schema: u32, table: &str, name: &str, position: i64, ty: &SqlType) -> Vec<(&'static str, V)> {
    let mut cells = vec![
        ("table_catalog", V::from(DATABASE)),
        ("table_schema", schema_of(ctx, schema).into()),
        ("table_name", table.into()),
        ("column_name", name.into()),
        ("ordinal_position", V::Int(position)),
        ("data_type", if ty.ty.is_array() { V::from("ARRAY") } else { ty.ty.to_string().into() }),
        ("udt_catalog", DATABASE.into()),
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
        PgType::Time | PgType::Timetz | PgType::Timestamp | PgType::Timestamptz | PgType::Interval => {
            let precision = if ty.typmod >= 0 && ty.ty != PgType::Interval { i64::from(ty.typmod) } else { 6 };
            cells.push(("datetime_precision", V::Int(precision)));
        }
        _ => {}
    }
    cells
}

/// What definitions of objects are printed against.
pub fn definitions(ctx: &StatementContext) -> stoa_sql::definition::Definitions<'_> {
    stoa_sql::definition::Definitions { catalog: &ctx.catalog, path: &ctx.search_path, eval: &ctx.eval }
}
