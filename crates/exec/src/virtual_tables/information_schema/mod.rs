//! `information_schema`: the standard's view of tables, columns and constraints, a file each.

mod check_constraints;
mod column_column_usage;
mod columns;
mod constraint_column_usage;
mod constraint_table_usage;
mod information_schema_catalog_name;
mod key_column_usage;
mod privileges;
mod referential_constraints;
mod schemata;
mod sequences;
mod table_constraints;
mod tables;
mod view_column_usage;
mod view_table_usage;
mod views;

use super::builder::V;
use super::objects::{foreign_keys, schema_of};
use crate::environment::StatementContext;
use stoa_sql::definition::updatable::Names;
use stoa_table::catalog::{IndexKey, Relation, TableDescriptor, ViewDescriptor};

/// What adds the rows of a relation; `None` for those that Stoa has nothing to say in.
pub fn filler(name: &str) -> Option<super::Fill> {
    Some(match name {
        "administrable_role_authorizations" => privileges::administrable_roles,
        "applicable_roles" => privileges::applicable_roles,
        "check_constraints" => check_constraints::fill,
        "column_column_usage" => column_column_usage::fill,
        "column_privileges" => privileges::column_privileges,
        "columns" => columns::fill,
        "constraint_column_usage" => constraint_column_usage::fill,
        "constraint_table_usage" => constraint_table_usage::fill,
        "enabled_roles" => privileges::enabled_roles,
        "information_schema_catalog_name" => information_schema_catalog_name::fill,
        "key_column_usage" => key_column_usage::fill,
        "referential_constraints" => referential_constraints::fill,
        "role_column_grants" => privileges::role_column_grants,
        "role_table_grants" => privileges::role_table_grants,
        "role_usage_grants" => privileges::role_usage_grants,
        "schemata" => schemata::fill,
        "sequences" => sequences::fill,
        "table_constraints" => table_constraints::fill,
        "table_privileges" => privileges::table_privileges,
        "tables" => tables::fill,
        "usage_privileges" => privileges::usage_privileges,
        "view_column_usage" => view_column_usage::fill,
        "view_table_usage" => view_table_usage::fill,
        "views" => views::fill,
        _ => return None,
    })
}

/// What can be written of views.
fn written(ctx: &StatementContext) -> Names<'_> {
    Names { catalog: &ctx.catalog, path: &ctx.search_path, temporary: ctx.session.temporary_schema(), eval: &ctx.eval }
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
            ("view_catalog", self.ctx.catalog.database_name().into()),
            ("view_schema", schema_of(self.ctx, self.view.schema).into()),
            ("view_name", self.view.name.as_str().into()),
            ("table_catalog", self.ctx.catalog.database_name().into()),
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

struct Constraint {
    name: String,
    kind: &'static str,
    columns: Vec<String>,
    referenced: Option<(u32, Vec<stoa_table::catalog::ColumnId>)>,
    deferrable: bool,
    deferred: bool,
    /// Of UNIQUE.
    nulls_distinct: Option<bool>,
}

fn all_constraints(table: &TableDescriptor) -> Vec<Constraint> {
    let names = |ids: &[stoa_table::catalog::ColumnId]| -> Vec<String> {
        ids.iter().filter_map(|id| table.column(*id).map(|c| c.name.clone())).collect()
    };
    let mut out = Vec::new();
    if let Some(p) = &table.primary_key {
        let columns: Vec<_> = table.key_columns().map(|k| k.column).collect();
        out.push(Constraint {
            name: p.name.clone(),
            kind: "PRIMARY KEY",
            columns: names(&columns),
            referenced: None,
            deferrable: p.deferrable,
            deferred: p.initially_deferred,
            nulls_distinct: None,
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
                nulls_distinct: (!index.primary).then_some(!index.nulls_not_distinct),
            });
        }
    }
    for k in foreign_keys(table) {
        out.push(Constraint {
            name: k.name.name.clone(),
            kind: "FOREIGN KEY",
            columns: names(&k.columns),
            referenced: Some((k.referenced_table, k.referenced_columns.clone())),
            deferrable: k.name.deferrable,
            deferred: k.name.initially_deferred,
            nulls_distinct: None,
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
            nulls_distinct: None,
        });
    }
    out
}
