//! `pg_class`: tables, indexes, views and sequences, and the relations of this module themselves.

use super::super::builder::{Builder, V};
use super::super::objects::{
    BTREE_AM, FULLTEXT_AM, GIN_AM, HEAP_AM, acl, has_triggers, indexed, indexes, referenced_tables, storage_options,
};
use crate::environment::StatementContext;
use std::collections::HashSet;
use stoa_pg::PgResult;
use stoa_sql::catalog::names::row_type_oid;
use stoa_sql::system_relations as definitions;
use stoa_table::catalog::{FULLTEXT_METHOD, GIN_METHOD, INFORMATION_SCHEMA_OID, IndexDescriptor, PG_CATALOG_OID, Relation, RightsOf};

/// The catalogs of what all databases share.
const SHARED: [&str; 11] = [
    "pg_auth_members",
    "pg_authid",
    "pg_database",
    "pg_db_role_setting",
    "pg_parameter_acl",
    "pg_replication_origin",
    "pg_shdepend",
    "pg_shdescription",
    "pg_shseclabel",
    "pg_subscription",
    "pg_tablespace",
];
/// `pg_global`'s OID, where these are.
const GLOBAL_TABLESPACE: u32 = 1664;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    let rows = |oid: u32| V::Float(ctx.database.statistics.of(oid).map_or(-1.0, |s| s.rows));
    let persistence = |temporary: bool| V::from(if temporary { "t" } else { "p" });
    let referenced = if t.reads("relhastriggers") { referenced_tables(ctx) } else { HashSet::new() };
    for definition in definitions::all() {
        if !t.wants_oid("oid", definition.oid) || !t.wants("relname", definition.name.as_str()) {
            continue;
        }
        let schema = if definition.schema == "pg_catalog" { PG_CATALOG_OID } else { INFORMATION_SCHEMA_OID };
        let mut more = vec![("relreplident", V::from("n"))];
        if SHARED.contains(&definition.name.as_str()) {
            more.extend([("relisshared", true.into()), ("reltablespace", V::Oid(GLOBAL_TABLESPACE)), ("relfilenode", V::Oid(0))]);
        }
        if definition.kind == "r" {
            more.push(("relam", V::Oid(HEAP_AM)));
        }
        class_row(ctx, t, (definition.oid, definition.oid), (&definition.name, schema), &definition.kind, definition.columns.len(), more);
    }
    for owner in indexed(ctx) {
        let table = &owner.table;
        let shown = indexes(table);
        if !owner.is_view && t.wants_oid("oid", table.oid) && t.wants("relname", table.name.as_str()) {
            class_row(
                ctx,
                t,
                (table.oid, table.oid),
                (&table.name, table.schema),
                // Beside their table, and not among those that users list or dump.
                if table.entries_of.is_some() { "t" } else { "r" },
                table.columns.iter().filter(|c| !c.hidden).count(),
                vec![
                    ("reltype", V::Oid(row_type_oid(table.oid))),
                    ("relam", V::Oid(HEAP_AM)),
                    ("relhasindex", (!shown.is_empty()).into()),
                    ("relpersistence", persistence(table.temporary)),
                    ("relchecks", V::Int(table.checks.len() as i64)),
                    ("relrowsecurity", table.row_security.enabled.into()),
                    ("relforcerowsecurity", table.row_security.forced.into()),
                    ("relreplident", if table.entries_of.is_some() { "n" } else { table.replica_identity.letter() }.into()),
                    ("relhastriggers", has_triggers(table, &referenced).into()),
                    ("reltuples", rows(table.oid)),
                    ("reloptions", storage_options(&table.options)),
                ],
            );
        }
        for index in shown {
            if !t.wants_oid("oid", index.oid) || !t.wants("relname", index.name) {
                continue;
            }
            let natts = index.index.map_or_else(|| table.key_columns().count(), |i| i.parts.len() + i.include.len());
            class_row(
                ctx,
                t,
                (index.oid, owner.oid),
                (index.name, table.schema),
                "i",
                natts,
                vec![
                    ("relam", V::Oid(access_method(index.index))),
                    ("relpersistence", persistence(table.temporary)),
                    ("reltuples", rows(table.oid)),
                    ("reloptions", index.index.map_or(V::Null, |i| storage_options(&i.options))),
                ],
            );
        }
    }
    let mut relations: Vec<_> = ctx.catalog.relations().collect();
    relations.sort_by_key(|r| r.oid());
    for relation in relations {
        if !t.wants_oid("oid", relation.oid()) || !t.wants("relname", relation.name()) {
            continue;
        }
        match &**relation {
            Relation::Table(_) => {}
            Relation::View(v) => {
                let temporary = ctx.catalog.schema(v.schema).is_some_and(|schema| schema.temporary.is_some());
                let mut more = vec![
                    ("relispopulated", (!v.unpopulated).into()),
                    ("reltype", V::Oid(row_type_oid(v.oid))),
                    ("relpersistence", persistence(temporary)),
                ];
                let kind = match v.materialized.and_then(|held| ctx.catalog.table(held)) {
                    Some(held) => {
                        more.extend([
                            ("relam", V::Oid(HEAP_AM)),
                            ("relhasindex", (!held.indexes.is_empty()).into()),
                            ("reltuples", rows(held.oid)),
                            ("relreplident", held.replica_identity.letter().into()),
                            ("reloptions", storage_options(&held.options)),
                        ]);
                        "m"
                    }
                    None => {
                        more.push(("reloptions", storage_options(&v.options)));
                        "v"
                    }
                };
                class_row(ctx, t, (v.oid, v.oid), (&v.name, v.schema), kind, v.columns.len(), more);
            }
            Relation::Sequence(s) => {
                let more = vec![("relpersistence", persistence(s.temporary)), ("reltuples", V::Float(1.0)), ("relpages", V::Int(1))];
                class_row(ctx, t, (s.oid, s.oid), (&s.name, s.schema), "S", 3, more);
            }
        }
    }
    Ok(())
}

fn class_row(
    ctx: &StatementContext,
    t: &mut Builder<'_>,
    (oid, rights): (u32, u32),
    (name, schema): (&str, u32),
    kind: &str,
    natts: usize,
    more: Vec<(&'static str, V)>,
) {
    // An index is its table's owner's.
    let of = RightsOf::Relation(rights);
    let owner = ctx.catalog.authority().rights(of).owner;
    let mut cells = vec![
        ("oid", V::Oid(oid)),
        ("relname", name.into()),
        ("relnamespace", V::Oid(schema)),
        ("reloftype", V::Oid(0)),
        ("relowner", V::Oid(owner)),
        ("relacl", if kind == "i" || !t.reads("relacl") { V::Null } else { acl(ctx, of) }),
        ("relallvisible", V::Int(0)),
        ("reltoastrelid", V::Oid(0)),
        ("relkind", kind.into()),
        ("relnatts", V::Int(natts as i64)),
        ("relhasrules", matches!(kind, "v" | "m").into()),
        ("relhassubclass", false.into()),
        ("relispartition", false.into()),
        ("relrewrite", V::Oid(0)),
        ("relfrozenxid", V::Oid(0)),
        ("relminmxid", V::Oid(0)),
    ];
    let given: Vec<&str> = more.iter().map(|(n, _)| *n).collect();
    for (column, value) in [
        ("reltype", V::Oid(0)),
        ("relfilenode", V::Oid(if kind == "v" { 0 } else { oid })),
        ("reltablespace", V::Oid(0)),
        ("relisshared", false.into()),
        ("relreplident", "n".into()),
        ("relam", V::Oid(0)),
        ("relpages", V::Int(0)),
        ("reltuples", V::Float(-1.0)),
        ("relhasindex", false.into()),
        ("relpersistence", "p".into()),
        ("relispopulated", true.into()),
        ("relchecks", V::Int(0)),
        ("relhastriggers", false.into()),
        ("relrowsecurity", false.into()),
        ("relforcerowsecurity", false.into()),
    ] {
        if !given.contains(&column) {
            cells.push((column, value));
        }
    }
    cells.extend(more);
    t.row(cells);
}

/// The access method of an index; of a primary key without an index of its own, btree.
fn access_method(index: Option<&IndexDescriptor>) -> u32 {
    match index.map(|index| index.method.as_str()) {
        Some(GIN_METHOD) => GIN_AM,
        Some(FULLTEXT_METHOD) => FULLTEXT_AM,
        _ => BTREE_AM,
    }
}
