//! `information_schema`: the standard's view of tables, columns and constraints, a file each.

mod check_constraints;
mod collations;
mod column_column_usage;
mod column_types;
mod columns;
mod constraint_column_usage;
mod constraint_table_usage;
mod information_schema_catalog_name;
mod key_column_usage;
mod privileges;
mod referential_constraints;
mod schemata;
mod sequences;
mod shown;
mod table_constraints;
mod tables;
mod view_column_usage;
mod view_table_usage;
mod views;

use super::builder::V;
use super::objects::{foreign_keys, primary_index_oid, referenced_index, schema_of};
use crate::environment::StatementContext;
use shown::is_own;
use stoa_sql::definition::updatable::Names;
use stoa_table::catalog::{ColumnId, IndexDescriptor, IndexKey, Relation, TableDescriptor, ViewDescriptor};

/// What adds the rows of a relation; `None` for those that Stoa has nothing to say in.
pub fn filler(name: &str) -> Option<super::Fill> {
    Some(match name {
        "administrable_role_authorizations" => privileges::administrable_roles,
        "applicable_roles" => privileges::applicable_roles,
        "character_sets" => collations::character_sets,
        "check_constraints" => check_constraints::fill,
        "collation_character_set_applicability" => collations::applicability,
        "collations" => collations::collations,
        "column_column_usage" => column_column_usage::fill,
        "column_privileges" => privileges::column_privileges,
        "column_udt_usage" => column_types::column_udt_usage,
        "columns" => columns::fill,
        "constraint_column_usage" => constraint_column_usage::fill,
        "constraint_table_usage" => constraint_table_usage::fill,
        "data_type_privileges" => column_types::data_type_privileges,
        "element_types" => column_types::element_types,
        "enabled_roles" => privileges::enabled_roles,
        "information_schema_catalog_name" => information_schema_catalog_name::fill,
        "key_column_usage" => key_column_usage::fill,
        "referential_constraints" => referential_constraints::fill,
        "role_column_grants" => privileges::role_column_grants,
        "role_table_grants" => privileges::role_table_grants,
        "role_udt_grants" => privileges::role_udt_grants,
        "role_usage_grants" => privileges::role_usage_grants,
        "schemata" => schemata::fill,
        "sequences" => sequences::fill,
        "table_constraints" => table_constraints::fill,
        "table_privileges" => privileges::table_privileges,
        "tables" => tables::fill,
        "udt_privileges" => privileges::udt_privileges,
        "usage_privileges" => privileges::usage_privileges,
        "view_column_usage" => view_column_usage::fill,
        "view_table_usage" => view_table_usage::fill,
        "views" => views::fill,
        _ => return None,
    })
}

/// Bits of the events that a view takes.
const INSERT: i32 = 8;
const UPDATE_AND_DELETE: i32 = 20;

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

/// What views read of tables and of other views that are the current role's. As in PostgreSQL, materialized views stand on neither side.
fn read_by_views(ctx: &StatementContext) -> Vec<ReadByView<'_>> {
    let plain = |view: &ViewDescriptor| view.materialized.is_none();
    let mut out = Vec::new();
    for view in ctx.catalog.relations().filter_map(|r| if let Relation::View(v) = &**r { Some(v) } else { None }).filter(|v| plain(v)) {
        for used in view.depends_on.iter().filter(|used| is_own(ctx, used.relation)) {
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

/// The columns of an index's key.
fn key_of(index: &IndexDescriptor) -> Vec<ColumnId> {
    index.parts.iter().filter_map(|p| if let IndexKey::Column(c) = &p.key { Some(*c) } else { None }).collect()
}

/// The key that a foreign key to these columns goes by: its columns, and its name if it is a constraint.
fn referenced_key<'t>(table: &'t TableDescriptor, columns: &[ColumnId]) -> Option<(Vec<ColumnId>, Option<&'t str>)> {
    let oid = referenced_index(table, columns);
    if let Some(key) = table.primary_key.as_ref().filter(|_| primary_index_oid(table) == Some(oid)) {
        return Some((table.key_columns().map(|part| part.column).collect(), Some(&key.name)));
    }
    let index = table.indexes.iter().find(|index| index.oid == oid)?;
    Some((key_of(index), index.constraint.as_ref().map(|name| name.name.as_str())))
}

struct Constraint {
    name: String,
    kind: &'static str,
    columns: Vec<ColumnId>,
    referenced: Option<(u32, Vec<ColumnId>)>,
    deferrable: bool,
    deferred: bool,
    /// Of UNIQUE.
    nulls_distinct: Option<bool>,
}

fn all_constraints(table: &TableDescriptor) -> Vec<Constraint> {
    let mut out = Vec::new();
    if let Some(p) = &table.primary_key {
        out.push(Constraint {
            name: p.name.clone(),
            kind: "PRIMARY KEY",
            columns: table.key_columns().map(|k| k.column).collect(),
            referenced: None,
            deferrable: p.deferrable,
            deferred: p.initially_deferred,
            nulls_distinct: None,
        });
    }
    for index in &table.indexes {
        if let Some(c) = &index.constraint {
            out.push(Constraint {
                name: c.name.clone(),
                kind: if index.primary { "PRIMARY KEY" } else { "UNIQUE" },
                columns: key_of(index),
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
            columns: k.columns.clone(),
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
            columns: c.columns.clone(),
            referenced: None,
            deferrable: false,
            deferred: false,
            nulls_distinct: None,
        });
    }
    out
}
