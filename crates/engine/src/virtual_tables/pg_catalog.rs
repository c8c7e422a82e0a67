//! The relations of `pg_catalog` that describe objects.

use super::cell::{Table, V};
use crate::catalog::{
    ColumnDescriptor, ForeignKeyAction, INFORMATION_SCHEMA_OID, IndexDescriptor, IndexKey, PG_CATALOG_OID, Relation, TableDescriptor,
};
use crate::exec::StatementContext;
use stoa_pg::registry::{CastContext, CastKind, FuncKind, Registry, Volatility};
use stoa_pg::type_functions::{self, TypeForms};
use stoa_pg::types::{BASE_TYPES, PgType};
use stoa_pg::{PgResult, SqlType};

/// The OID of the only role.
pub const OWNER: u32 = 10;
/// The OID of the database `stoa`.
pub const DATABASE: u32 = 16_383;
const HEAP_AM: u32 = 2;
const BTREE_AM: u32 = 403;
const DEFAULT_COLLATION: u32 = 100;
const PG_CLASS: u32 = 1259;
const PG_CONSTRAINT: u32 = 2606;
const PG_NAMESPACE: u32 = 2615;

/// The OID under which a table's primary key index is seen.
#[must_use]
pub fn primary_index_oid(table: &TableDescriptor) -> Option<u32> {
    // The constraint and its index have OIDs of their own in PostgreSQL; here the index's is the constraint's in another range.
    table.primary_key.as_ref().map(|p| p.oid | 0x4000_0000)
}

/// One index of a table as the catalogs show it, the primary key's included.
pub struct ShownIndex<'a> {
    pub oid: u32,
    pub name: &'a str,
    pub unique: bool,
    pub primary: bool,
    pub index: Option<&'a IndexDescriptor>,
}

/// All indexes of a table.
#[must_use]
pub fn indexes(table: &TableDescriptor) -> Vec<ShownIndex<'_>> {
    let mut out = Vec::new();
    if let (Some(primary), Some(oid)) = (&table.primary_key, primary_index_oid(table)) {
        out.push(ShownIndex { oid, name: &primary.name, unique: true, primary: true, index: None });
    }
    out.extend(table.indexes.iter().map(|i| ShownIndex {
        oid: i.oid,
        name: &i.name,
        unique: i.unique,
        primary: i.primary,
        index: Some(i),
    }));
    out
}

fn attnum(column: &ColumnDescriptor) -> V {
    V::Int(i64::from(column.id.0))
}

fn collation(ty: &PgType) -> V {
    let collated = |ty: &PgType| ty.is_string() && *ty != PgType::Char;
    let text = collated(ty) || ty.element().is_some_and(|e| collated(&e));
    V::Oid(if *ty == PgType::Name {
        950
    } else if text {
        DEFAULT_COLLATION
    } else {
        0
    })
}

/// Fills a relation; false if this file does not know it.
pub fn fill(ctx: &StatementContext, name: &str, t: &mut Table<'_>) -> PgResult<bool> {
    let catalog = &ctx.catalog;
    match name {
        "pg_namespace" => {
            let mut schemas: Vec<_> = catalog.schemas().collect();
            schemas.sort_by_key(|s| s.oid);
            for s in schemas {
                t.row(vec![("oid", V::Oid(s.oid)), ("nspname", s.name.as_str().into()), ("nspowner", V::Oid(OWNER))]);
            }
        }
        "pg_class" => classes(ctx, t),
        "pg_attribute" => attributes(ctx, t),
        "pg_type" => types(t),
        "pg_index" => {
            for table in tables(ctx) {
                for shown in indexes(&table) {
                    index_row(&table, &shown, t);
                }
            }
        }
        "pg_constraint" => constraints(ctx, t),
        "pg_attrdef" => {
            for table in tables(ctx) {
                for c in table.visible_columns() {
                    if let Some(sql) = c.default.as_ref().or(c.generated.as_ref()) {
                        t.row(vec![
                            ("oid", V::Oid(attrdef_oid(&table, c))),
                            ("adrelid", V::Oid(table.oid)),
                            ("adnum", attnum(c)),
                            ("adbin", sql.as_str().into()),
                        ]);
                    }
                }
            }
        }
        "pg_description" => descriptions(ctx, t),
        "pg_proc" => procs(t),
        "pg_operator" => {
            for o in Registry::get().all_operators() {
                t.row(vec![
                    ("oid", V::Oid(o.oid)),
                    ("oprname", o.name.into()),
                    ("oprnamespace", V::Oid(PG_CATALOG_OID)),
                    ("oprowner", V::Oid(OWNER)),
                    ("oprkind", if o.left.is_some() { "b" } else { "l" }.into()),
                    ("oprcanmerge", false.into()),
                    ("oprcanhash", false.into()),
                    ("oprleft", V::Oid(o.left.as_ref().map_or(0, PgType::oid))),
                    ("oprright", V::Oid(o.right.oid())),
                    ("oprresult", V::Oid(o.ret.oid())),
                ]);
            }
        }
        "pg_cast" => {
            for (i, c) in Registry::get().all_casts().enumerate() {
                t.row(vec![
                    ("oid", V::Oid(9_000 + i as u32)),
                    ("castsource", V::Oid(c.from.oid())),
                    ("casttarget", V::Oid(c.to.oid())),
                    ("castfunc", V::Oid(0)),
                    (
                        "castcontext",
                        match c.context {
                            CastContext::Implicit => "i",
                            CastContext::Assignment => "a",
                            CastContext::Explicit => "e",
                        }
                        .into(),
                    ),
                    ("castmethod", if matches!(c.kind, CastKind::Relabel) { "b" } else { "f" }.into()),
                ]);
            }
        }
        "pg_am" => {
            for (oid, name, kind) in [(HEAP_AM, "heap", "t"), (BTREE_AM, "btree", "i"), (405, "hash", "i"), (9_100, "fulltext", "i")] {
                t.row(vec![("oid", V::Oid(oid)), ("amname", name.into()), ("amtype", kind.into())]);
            }
        }
        "pg_database" => {
            for (oid, name) in [(DATABASE, "stoa"), (5, "postgres")] {
                t.row(vec![
                    ("oid", V::Oid(oid)),
                    ("datname", name.into()),
                    ("datdba", V::Oid(OWNER)),
                    ("encoding", V::Int(6)),
                    ("datlocprovider", "c".into()),
                    ("datistemplate", false.into()),
                    ("datallowconn", true.into()),
                    ("datconnlimit", V::Int(-1)),
                    ("dattablespace", V::Oid(1663)),
                    ("datcollate", "C".into()),
                    ("datctype", "C".into()),
                ]);
            }
        }
        "pg_roles" | "pg_authid" => {
            let user = ctx.session.current_user();
            t.row(vec![
                ("oid", V::Oid(OWNER)),
                ("rolname", user.into()),
                ("rolsuper", true.into()),
                ("rolinherit", true.into()),
                ("rolcreaterole", true.into()),
                ("rolcreatedb", true.into()),
                ("rolcanlogin", true.into()),
                ("rolreplication", false.into()),
                ("rolbypassrls", true.into()),
                ("rolconnlimit", V::Int(-1)),
            ]);
        }
        "pg_user" => {
            t.row(vec![
                ("usename", ctx.session.current_user().into()),
                ("usesysid", V::Oid(OWNER)),
                ("usecreatedb", true.into()),
                ("usesuper", true.into()),
                ("userepl", false.into()),
                ("usebypassrls", true.into()),
            ]);
        }
        "pg_tables" => {
            for table in tables(ctx) {
                t.row(vec![
                    ("schemaname", schema_of(ctx, table.schema).into()),
                    ("tablename", table.name.as_str().into()),
                    ("tableowner", ctx.session.current_user().into()),
                    ("hasindexes", (!indexes(&table).is_empty()).into()),
                    ("hasrules", false.into()),
                    ("hastriggers", (!table.foreign_keys.is_empty()).into()),
                    ("rowsecurity", false.into()),
                ]);
            }
        }
        "pg_views" => {
            for relation in catalog.relations() {
                if let Relation::View(v) = &**relation
                    && v.materialized.is_none()
                {
                    t.row(vec![
                        ("schemaname", schema_of(ctx, v.schema).into()),
                        ("viewname", v.name.as_str().into()),
                        ("viewowner", ctx.session.current_user().into()),
                        ("definition", v.sql.as_str().into()),
                    ]);
                }
            }
        }
        "pg_matviews" => {
            for relation in catalog.relations() {
                if let Relation::View(v) = &**relation
                    && v.materialized.is_some()
                {
                    t.row(vec![
                        ("schemaname", schema_of(ctx, v.schema).into()),
                        ("matviewname", v.name.as_str().into()),
                        ("matviewowner", ctx.session.current_user().into()),
                        ("hasindexes", false.into()),
                        ("ispopulated", (!v.unpopulated).into()),
                        ("definition", v.sql.as_str().into()),
                    ]);
                }
            }
        }
        "pg_indexes" => {
            for table in tables(ctx) {
                for shown in indexes(&table) {
                    t.row(vec![
                        ("schemaname", schema_of(ctx, table.schema).into()),
                        ("tablename", table.name.as_str().into()),
                        ("indexname", shown.name.into()),
                        ("indexdef", crate::catalog::deparse::index_definition(catalog, &table, shown.index).into()),
                    ]);
                }
            }
        }
        "pg_sequence" | "pg_sequences" => {
            for relation in catalog.relations() {
                if let Relation::Sequence(s) = &**relation {
                    let state = catalog.shared().and_then(|shared| shared.sequences.state(s).ok());
                    t.row(vec![
                        ("last_value", state.filter(|state| state.is_called).map_or(V::Null, |state| V::Int(state.last_value))),
                        ("seqrelid", V::Oid(s.oid)),
                        ("seqtypid", V::Oid(s.ty.ty.oid())),
                        ("seqstart", V::Int(s.start)),
                        ("seqincrement", V::Int(s.increment)),
                        ("seqmax", V::Int(s.max)),
                        ("seqmin", V::Int(s.min)),
                        ("seqcache", V::Int(s.cache)),
                        ("seqcycle", s.cycle.into()),
                        ("schemaname", schema_of(ctx, s.schema).into()),
                        ("sequencename", s.name.as_str().into()),
                        ("sequenceowner", ctx.session.current_user().into()),
                        ("data_type", V::Oid(s.ty.ty.oid())),
                        ("start_value", V::Int(s.start)),
                        ("min_value", V::Int(s.min)),
                        ("max_value", V::Int(s.max)),
                        ("increment_by", V::Int(s.increment)),
                        ("cycle", s.cycle.into()),
                        ("cache_size", V::Int(s.cache)),
                    ]);
                }
            }
        }
        "pg_depend" => {
            for relation in catalog.relations() {
                match &**relation {
                    Relation::Sequence(s) => {
                        if let Some((table, column)) = &s.owned_by {
                            let identity = catalog.table(*table).and_then(|d| d.column(*column)).is_some_and(|c| c.identity.is_some());
                            t.row(vec![
                                ("classid", V::Oid(PG_CLASS)),
                                ("objid", V::Oid(s.oid)),
                                ("objsubid", V::Int(0)),
                                ("refclassid", V::Oid(PG_CLASS)),
                                ("refobjid", V::Oid(*table)),
                                ("refobjsubid", V::Int(i64::from(column.0))),
                                ("deptype", if identity { "i" } else { "a" }.into()),
                            ]);
                        }
                    }
                    Relation::View(v) => {
                        for d in &v.depends_on {
                            t.row(vec![
                                ("classid", V::Oid(PG_CLASS)),
                                ("objid", V::Oid(v.oid)),
                                ("objsubid", V::Int(0)),
                                ("refclassid", V::Oid(PG_CLASS)),
                                ("refobjid", V::Oid(d.relation)),
                                ("refobjsubid", V::Int(0)),
                                ("deptype", "n".into()),
                            ]);
                        }
                    }
                    Relation::Table(_) => {}
                }
            }
        }
        "pg_collation" => {
            for (oid, name, provider) in [(DEFAULT_COLLATION, "default", "d"), (950, "C", "c"), (951, "POSIX", "c")] {
                t.row(vec![
                    ("oid", V::Oid(oid)),
                    ("collname", name.into()),
                    ("collnamespace", V::Oid(PG_CATALOG_OID)),
                    ("collowner", V::Oid(OWNER)),
                    ("collprovider", provider.into()),
                    ("collisdeterministic", true.into()),
                    ("collencoding", V::Int(-1)),
                ]);
            }
        }
        "pg_tablespace" => {
            for (oid, name) in [(1663, "pg_default"), (1664, "pg_global")] {
                t.row(vec![("oid", V::Oid(oid)), ("spcname", name.into()), ("spcowner", V::Oid(OWNER))]);
            }
        }
        "pg_language" => {
            for (oid, name) in [(12, "internal"), (13, "c"), (14, "sql")] {
                t.row(vec![
                    ("oid", V::Oid(oid)),
                    ("lanname", name.into()),
                    ("lanowner", V::Oid(OWNER)),
                    ("lanispl", false.into()),
                    ("lanpltrusted", true.into()),
                ]);
            }
        }
        "pg_opclass" => {
            t.row(vec![
                ("oid", V::Oid(1978)),
                ("opcmethod", V::Oid(BTREE_AM)),
                ("opcname", "any_ops".into()),
                ("opcnamespace", V::Oid(PG_CATALOG_OID)),
                ("opcowner", V::Oid(OWNER)),
                ("opcdefault", true.into()),
            ]);
        }
        "pg_rewrite" => {
            for relation in catalog.relations() {
                if let Relation::View(v) = &**relation {
                    t.row(vec![
                        ("oid", V::Oid(v.oid | 0x2000_0000)),
                        ("rulename", "_RETURN".into()),
                        ("ev_class", V::Oid(v.oid)),
                        ("ev_type", "1".into()),
                        ("ev_enabled", "O".into()),
                        ("is_instead", true.into()),
                    ]);
                }
            }
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// Tables that sessions see, in the order of their OIDs.
pub fn tables(ctx: &StatementContext) -> Vec<TableDescriptor> {
    let mut out: Vec<TableDescriptor> = ctx
        .catalog
        .relations()
        .filter_map(|r| match &**r {
            Relation::Table(t) => Some(t.clone()),
            _ => None,
        })
        .collect();
    // The rows of materialized views are no tables of their own.
    let hidden: Vec<u32> = ctx
        .catalog
        .relations()
        .filter_map(|r| match &**r {
            Relation::View(v) => v.materialized,
            _ => None,
        })
        .collect();
    out.retain(|t| !hidden.contains(&t.oid));
    out.sort_by_key(|t| t.oid);
    out
}

/// The name of a schema.
pub fn schema_of(ctx: &StatementContext, oid: u32) -> String {
    ctx.catalog.schema(oid).map_or_else(String::new, |s| s.name.clone())
}

fn attrdef_oid(table: &TableDescriptor, column: &ColumnDescriptor) -> u32 {
    0x8000_0000 | (table.oid << 11) | (column.id.0 & 0x7ff)
}

/// `name=value` of WITH (…); NULL where there are none.
fn storage_options(options: &[(String, String)]) -> V {
    if options.is_empty() { V::Null } else { V::Texts(options.iter().map(|(name, value)| format!("{name}={value}")).collect()) }
}

fn class_row(t: &mut Table<'_>, oid: u32, name: &str, schema: u32, kind: &str, natts: usize, more: Vec<(&'static str, V)>) {
    let mut cells = vec![
        ("oid", V::Oid(oid)),
        ("relname", name.into()),
        ("relnamespace", V::Oid(schema)),
        ("reltype", V::Oid(0)),
        ("reloftype", V::Oid(0)),
        ("relowner", V::Oid(OWNER)),
        ("relfilenode", V::Oid(oid)),
        ("reltablespace", V::Oid(0)),
        ("relpages", V::Int(0)),
        ("relallvisible", V::Int(0)),
        ("reltoastrelid", V::Oid(0)),
        ("relisshared", false.into()),
        ("relkind", kind.into()),
        ("relnatts", V::Int(natts as i64)),
        ("relhasrules", (kind == "v").into()),
        ("relhassubclass", false.into()),
        ("relrowsecurity", false.into()),
        ("relforcerowsecurity", false.into()),
        ("relreplident", if kind == "r" { "d" } else { "n" }.into()),
        ("relispartition", false.into()),
        ("relrewrite", V::Oid(0)),
        ("relfrozenxid", V::Oid(0)),
        ("relminmxid", V::Oid(0)),
    ];
    let given: Vec<&str> = more.iter().map(|(n, _)| *n).collect();
    for (column, value) in [
        ("relam", V::Oid(0)),
        ("reltuples", V::Float(-1.0)),
        ("relhasindex", false.into()),
        ("relpersistence", "p".into()),
        ("relispopulated", true.into()),
        ("relchecks", V::Int(0)),
        ("relhastriggers", false.into()),
    ] {
        if !given.contains(&column) {
            cells.push((column, value));
        }
    }
    cells.extend(more);
    t.row(cells);
}

fn classes(ctx: &StatementContext, t: &mut Table<'_>) {
    let rows = |oid: u32| V::Float(ctx.database.statistics.of(oid).map_or(-1.0, |s| s.rows));
    // Both sides of a foreign key have triggers in PostgreSQL, by which psql decides whether to look for keys.
    let referenced: std::collections::HashSet<u32> =
        tables(ctx).iter().flat_map(|t| t.foreign_keys.iter().map(|f| f.referenced_table)).collect();
    for (schema, name, oid, columns) in super::all() {
        let schema = if schema == "pg_catalog" { PG_CATALOG_OID } else { INFORMATION_SCHEMA_OID };
        let kind = if schema == INFORMATION_SCHEMA_OID || name.ends_with('s') && name != "pg_class" { "v" } else { "r" };
        class_row(t, oid, name, schema, kind, columns, vec![]);
    }
    let mut relations: Vec<_> = ctx.catalog.relations().cloned().collect();
    relations.sort_by_key(|r| r.oid());
    let hidden: Vec<u32> = relations
        .iter()
        .filter_map(|r| match &**r {
            Relation::View(v) => v.materialized,
            _ => None,
        })
        .collect();
    for relation in &relations {
        match &**relation {
            Relation::Table(table) if !hidden.contains(&table.oid) => {
                let shown = indexes(table);
                let persistence = if table.temporary { "t" } else { "p" };
                class_row(
                    t,
                    table.oid,
                    &table.name,
                    table.schema,
                    "r",
                    table.columns.iter().filter(|c| !c.hidden).count(),
                    vec![
                        ("relam", V::Oid(HEAP_AM)),
                        ("relhasindex", (!shown.is_empty()).into()),
                        ("relpersistence", persistence.into()),
                        ("relchecks", V::Int(table.checks.len() as i64)),
                        ("relhastriggers", (!table.foreign_keys.is_empty() || referenced.contains(&table.oid)).into()),
                        ("reltuples", rows(table.oid)),
                        ("reloptions", storage_options(&table.options)),
                    ],
                );
                for index in shown {
                    let natts = index.index.map_or(table.key.len(), |i| i.parts.len() + i.include.len());
                    class_row(
                        t,
                        index.oid,
                        index.name,
                        table.schema,
                        "i",
                        natts,
                        vec![
                            ("relam", V::Oid(BTREE_AM)),
                            ("relpersistence", persistence.into()),
                            ("reltuples", rows(table.oid)),
                            ("reloptions", index.index.map_or(V::Null, |i| storage_options(&i.options))),
                        ],
                    );
                }
            }
            Relation::Table(_) => {}
            Relation::View(v) => {
                let kind = if v.materialized.is_some() { "m" } else { "v" };
                class_row(
                    t,
                    v.oid,
                    &v.name,
                    v.schema,
                    kind,
                    v.columns.len(),
                    vec![("relispopulated", (!v.unpopulated).into()), ("reloptions", storage_options(&v.options))],
                );
            }
            Relation::Sequence(s) => {
                let persistence = if s.temporary { "t" } else { "p" };
                class_row(t, s.oid, &s.name, s.schema, "S", 3, vec![("relpersistence", persistence.into()), ("reltuples", V::Float(1.0))]);
            }
        }
    }
}

fn attribute_row(t: &mut Table<'_>, relation: u32, name: &str, number: i64, ty: &SqlType, more: Vec<(&'static str, V)>) {
    let forms = type_functions::of_type(ty.ty.oid());
    let mut cells = vec![
        ("attrelid", V::Oid(relation)),
        ("attname", name.into()),
        ("atttypid", V::Oid(ty.ty.oid())),
        ("attstattarget", V::Int(-1)),
        ("attlen", V::Int(i64::from(ty.ty.len()))),
        ("attnum", V::Int(number)),
        ("attndims", V::Int(i64::from(ty.ty.is_array()))),
        ("attcacheoff", V::Int(-1)),
        ("atttypmod", V::Int(i64::from(ty.typmod))),
        ("attbyval", ((1..=8).contains(&ty.ty.len())).into()),
        ("attalign", forms.map_or("i", |f| f.align).into()),
        ("attstorage", forms.map_or("x", |f| f.storage).into()),
        ("attcompression", "".into()),
        ("attislocal", true.into()),
        ("attinhcount", V::Int(0)),
        ("attcollation", collation(&ty.ty)),
        ("atthasmissing", false.into()),
    ];
    let given: Vec<&str> = more.iter().map(|(n, _)| *n).collect();
    for (column, value) in [
        ("attnotnull", false.into()),
        ("atthasdef", false.into()),
        ("attidentity", "".into()),
        ("attgenerated", "".into()),
        ("attisdropped", false.into()),
    ] {
        if !given.contains(&column) {
            cells.push((column, value));
        }
    }
    cells.extend(more);
    t.row(cells);
}

fn attributes(ctx: &StatementContext, t: &mut Table<'_>) {
    for relation in ctx.catalog.relations() {
        match &**relation {
            Relation::Table(table) => {
                for c in table.columns.iter().filter(|c| !c.hidden) {
                    if c.dropped {
                        let dropped = SqlType::new(PgType::Unknown);
                        attribute_row(
                            t,
                            table.oid,
                            &format!("........pg.dropped.{}........", c.id.0),
                            i64::from(c.id.0),
                            &dropped,
                            vec![("attisdropped", true.into())],
                        );
                        continue;
                    }
                    let identity = match &c.identity {
                        Some(i) if i.always => "a",
                        Some(_) => "d",
                        None => "",
                    };
                    attribute_row(
                        t,
                        table.oid,
                        &c.name,
                        i64::from(c.id.0),
                        &c.ty,
                        vec![
                            ("attnotnull", c.not_null.into()),
                            ("atthasdef", (c.default.is_some() || c.generated.is_some()).into()),
                            ("attidentity", identity.into()),
                            ("attgenerated", if c.generated.is_some() { "s" } else { "" }.into()),
                        ],
                    );
                }
                for shown in indexes(table) {
                    let mut number = 0;
                    let mut push = |name: &str, ty: &SqlType| {
                        number += 1;
                        attribute_row(t, shown.oid, name, number, ty, vec![]);
                    };
                    match shown.index {
                        None => {
                            for part in &table.key {
                                if let Some(c) = table.column(part.column) {
                                    push(&c.name, &c.ty);
                                }
                            }
                        }
                        Some(index) => {
                            for part in &index.parts {
                                match &part.key {
                                    IndexKey::Column(id) => {
                                        if let Some(c) = table.column(*id) {
                                            push(&c.name, &c.ty);
                                        }
                                    }
                                    IndexKey::Expr(_) => push("expr", &part.ty),
                                }
                            }
                            for id in &index.include {
                                if let Some(c) = table.column(*id) {
                                    push(&c.name, &c.ty);
                                }
                            }
                        }
                    }
                }
            }
            Relation::View(v) => {
                for (i, c) in v.columns.iter().enumerate() {
                    attribute_row(t, v.oid, &c.name, i as i64 + 1, &c.ty, vec![]);
                }
            }
            Relation::Sequence(s) => {
                for (i, (name, ty)) in
                    [("last_value", PgType::Int8), ("log_cnt", PgType::Int8), ("is_called", PgType::Bool)].into_iter().enumerate()
                {
                    attribute_row(t, s.oid, name, i as i64 + 1, &SqlType::new(ty), vec![("attnotnull", true.into())]);
                }
            }
        }
    }
}

fn types(t: &mut Table<'_>) {
    let row = |t: &mut Table<'_>, ty: &PgType, oid: u32, name: &str, element: u32, array: u32| {
        let is_array = element != 0 && name.starts_with('_');
        // Types of Stoa's own have no functions that PostgreSQL knows.
        let forms = type_functions::of_type(oid);
        let function = |of: fn(&TypeForms) -> u32| V::Oid(forms.map_or(0, of));
        t.row(vec![
            ("oid", V::Oid(oid)),
            ("typname", name.into()),
            ("typnamespace", V::Oid(PG_CATALOG_OID)),
            ("typowner", V::Oid(OWNER)),
            ("typlen", V::Int(if is_array { -1 } else { i64::from(ty.len()) })),
            ("typbyval", (!is_array && (1..=8).contains(&ty.len())).into()),
            (
                "typtype",
                if !is_array && (ty.is_pseudo() || matches!(ty, PgType::Record(_) | PgType::Unknown)) || oid == 2287 { "p" } else { "b" }
                    .into(),
            ),
            ("typcategory", if is_array { if oid == 2287 { "P" } else { "A" }.into() } else { V::Text(ty.category().to_string()) }),
            ("typispreferred", (!is_array && ty.is_preferred()).into()),
            ("typisdefined", true.into()),
            ("typdelim", ",".into()),
            ("typrelid", V::Oid(0)),
            ("typsubscript", function(|f| f.subscript)),
            ("typelem", V::Oid(element)),
            ("typarray", V::Oid(array)),
            ("typinput", function(|f| f.input)),
            ("typoutput", function(|f| f.output)),
            ("typreceive", function(|f| f.receive)),
            ("typsend", function(|f| f.send)),
            ("typmodin", function(|f| f.modifier_in)),
            ("typmodout", function(|f| f.modifier_out)),
            ("typanalyze", function(|f| f.analyze)),
            ("typalign", forms.map_or("i", |f| f.align).into()),
            ("typstorage", forms.map_or("x", |f| f.storage).into()),
            ("typnotnull", false.into()),
            ("typbasetype", V::Oid(0)),
            ("typtypmod", V::Int(-1)),
            ("typndims", V::Int(0)),
            ("typcollation", collation(ty)),
        ]);
    };
    for (ty, info) in BASE_TYPES {
        let element = match ty {
            PgType::Int2Vector => PgType::Int2.oid(),
            PgType::OidVector => PgType::Oid.oid(),
            PgType::Name => PgType::Char.oid(),
            _ => 0,
        };
        row(t, ty, info.oid, info.name, element, info.array_oid);
        if info.array_oid != 0 {
            row(t, ty, info.array_oid, &format!("_{}", info.name), info.oid, 0);
        }
    }
    row(t, &PgType::Record(None), 2249, "record", 0, 2287);
    row(t, &PgType::Record(None), 2287, "_record", 2249, 0);
}

fn index_row(table: &TableDescriptor, shown: &ShownIndex<'_>, t: &mut Table<'_>) {
    let (keys, options, count, all, immediate, exprs, predicate, nulls): (Vec<i16>, Vec<i16>, usize, usize, bool, V, V, bool) = match shown
        .index
    {
        None => (
            table.key.iter().map(|p| p.column.0 as i16).collect(),
            table.key.iter().map(|p| if p.descending { 3 } else { 0 }).collect(),
            table.key.len(),
            table.key.len(),
            table.primary_key.as_ref().is_none_or(|p| !p.deferrable),
            V::Null,
            V::Null,
            false,
        ),
        Some(index) => {
            let mut keys: Vec<i16> = index.parts.iter().map(|p| if let IndexKey::Column(c) = &p.key { c.0 as i16 } else { 0 }).collect();
            keys.extend(index.include.iter().map(|c| c.0 as i16));
            let texts: Vec<String> =
                index.parts.iter().filter_map(|p| if let IndexKey::Expr(sql) = &p.key { Some(sql.clone()) } else { None }).collect();
            (
                keys,
                index.parts.iter().map(|p| i16::from(p.descending) | (i16::from(p.nulls_first) << 1)).collect(),
                index.parts.len(),
                index.parts.len() + index.include.len(),
                index.constraint.as_ref().is_none_or(|c| !c.deferrable),
                if texts.is_empty() { V::Null } else { V::Text(texts.join(", ")) },
                index.predicate.clone().into(),
                index.nulls_not_distinct,
            )
        }
    };
    let valid = shown.index.is_none_or(|i| i.state == crate::catalog::IndexState::Readable);
    t.row(vec![
        ("indexrelid", V::Oid(shown.oid)),
        ("indrelid", V::Oid(table.oid)),
        ("indnatts", V::Int(all as i64)),
        ("indnkeyatts", V::Int(count as i64)),
        ("indisunique", shown.unique.into()),
        ("indnullsnotdistinct", nulls.into()),
        ("indisprimary", shown.primary.into()),
        ("indisexclusion", false.into()),
        ("indimmediate", immediate.into()),
        ("indisclustered", false.into()),
        ("indisvalid", valid.into()),
        ("indcheckxmin", false.into()),
        ("indisready", shown.index.is_none_or(|i| i.state >= crate::catalog::IndexState::WriteOnly).into()),
        ("indislive", true.into()),
        ("indisreplident", false.into()),
        ("indkey", V::Ints(keys)),
        ("indcollation", V::Oids(vec![0; count])),
        ("indclass", V::Oids(vec![1978; count])),
        ("indoption", V::Ints(options)),
        ("indexprs", exprs),
        ("indpred", predicate),
    ]);
}

fn constraints(ctx: &StatementContext, t: &mut Table<'_>) {
    let action = |a: ForeignKeyAction| {
        V::from(match a {
            ForeignKeyAction::NoAction => "a",
            ForeignKeyAction::Restrict => "r",
            ForeignKeyAction::Cascade => "c",
            ForeignKeyAction::SetNull => "n",
            ForeignKeyAction::SetDefault => "d",
        })
    };
    for table in tables(ctx) {
        let mut row = |name: &crate::catalog::ConstraintName, kind: &str, more: Vec<(&'static str, V)>| {
            let mut cells = vec![
                ("oid", V::Oid(name.oid)),
                ("conname", name.name.as_str().into()),
                ("connamespace", V::Oid(table.schema)),
                ("contype", kind.into()),
                ("condeferrable", name.deferrable.into()),
                ("condeferred", name.initially_deferred.into()),
                ("conrelid", V::Oid(table.oid)),
                ("contypid", V::Oid(0)),
                ("conparentid", V::Oid(0)),
                ("conislocal", true.into()),
                ("coninhcount", V::Int(0)),
                ("connoinherit", (kind != "c").into()),
            ];
            let given: Vec<&str> = more.iter().map(|(n, _)| *n).collect();
            for (column, value) in [
                ("convalidated", true.into()),
                ("conindid", V::Oid(0)),
                ("confrelid", V::Oid(0)),
                ("confupdtype", " ".into()),
                ("confdeltype", " ".into()),
                ("confmatchtype", " ".into()),
            ] {
                if !given.contains(&column) {
                    cells.push((column, value));
                }
            }
            cells.extend(more);
            t.row(cells);
        };
        if let Some(primary) = &table.primary_key {
            let keys = table.key.iter().map(|p| p.column.0 as i16).collect();
            row(primary, "p", vec![("conkey", V::Ints(keys)), ("conindid", V::Oid(primary_index_oid(&table).unwrap_or(0)))]);
        }
        for index in &table.indexes {
            if let Some(name) = &index.constraint {
                let keys =
                    index.parts.iter().filter_map(|p| if let IndexKey::Column(c) = &p.key { Some(c.0 as i16) } else { None }).collect();
                let kind = if index.primary { "p" } else { "u" };
                row(name, kind, vec![("conkey", V::Ints(keys)), ("conindid", V::Oid(index.oid))]);
            }
        }
        for check in &table.checks {
            let keys = check.columns.iter().map(|c| c.0 as i16).collect();
            row(
                &check.name,
                "c",
                vec![("conkey", V::Ints(keys)), ("conbin", check.expr.as_str().into()), ("convalidated", check.validated.into())],
            );
        }
        for key in &table.foreign_keys {
            let index = ctx.catalog.table(key.referenced_table).map_or(0, |r| {
                let primary: Vec<_> = r.key.iter().map(|p| p.column).collect();
                if key.referenced_columns.iter().all(|c| primary.contains(c)) { primary_index_oid(r).unwrap_or(0) } else { 0 }
            });
            row(
                &key.name,
                "f",
                vec![
                    ("conkey", V::Ints(key.columns.iter().map(|c| c.0 as i16).collect())),
                    ("confkey", V::Ints(key.referenced_columns.iter().map(|c| c.0 as i16).collect())),
                    ("confrelid", V::Oid(key.referenced_table)),
                    ("confupdtype", action(key.on_update)),
                    ("confdeltype", action(key.on_delete)),
                    ("confmatchtype", if key.match_full { "f" } else { "s" }.into()),
                    ("convalidated", key.validated.into()),
                    ("conindid", V::Oid(index)),
                ],
            );
        }
    }
}

fn descriptions(ctx: &StatementContext, t: &mut Table<'_>) {
    let mut row = |class: u32, object: u32, sub: i64, text: &str| {
        t.row(vec![("objoid", V::Oid(object)), ("classoid", V::Oid(class)), ("objsubid", V::Int(sub)), ("description", text.into())]);
    };
    for s in ctx.catalog.schemas() {
        if let Some(text) = &s.comment {
            row(PG_NAMESPACE, s.oid, 0, text);
        }
    }
    for relation in ctx.catalog.relations() {
        match &**relation {
            Relation::Table(table) => {
                if let Some(text) = &table.comment {
                    row(PG_CLASS, table.oid, 0, text);
                }
                for c in table.visible_columns() {
                    if let Some(text) = &c.comment {
                        row(PG_CLASS, table.oid, i64::from(c.id.0), text);
                    }
                }
                for index in &table.indexes {
                    if let Some(text) = &index.comment {
                        row(PG_CLASS, index.oid, 0, text);
                    }
                    if let Some((name, text)) = index.constraint.as_ref().and_then(|c| c.comment.as_ref().map(|t| (c, t))) {
                        row(PG_CONSTRAINT, name.oid, 0, text);
                    }
                }
                let names =
                    table.primary_key.iter().chain(table.checks.iter().map(|c| &c.name)).chain(table.foreign_keys.iter().map(|k| &k.name));
                for name in names {
                    if let Some(text) = &name.comment {
                        row(PG_CONSTRAINT, name.oid, 0, text);
                    }
                }
            }
            Relation::View(v) => {
                if let Some(text) = &v.comment {
                    row(PG_CLASS, v.oid, 0, text);
                }
                for (i, c) in v.columns.iter().enumerate() {
                    if let Some(text) = &c.comment {
                        row(PG_CLASS, v.oid, i as i64 + 1, text);
                    }
                }
            }
            Relation::Sequence(s) => {
                if let Some(text) = &s.comment {
                    row(PG_CLASS, s.oid, 0, text);
                }
            }
        }
    }
    for f in Registry::get().all_functions() {
        if !f.doc.is_empty() {
            row(1255, f.oid, 0, f.doc);
        }
    }
}

fn procs(t: &mut Table<'_>) {
    for f in Registry::get().all_functions() {
        let kind = match f.kind {
            FuncKind::Aggregate(_) | FuncKind::NativeAggregate(_) => "a",
            FuncKind::Window(_) => "w",
            _ => "f",
        };
        let volatility = match f.volatility {
            Volatility::Immutable => "i",
            Volatility::Stable => "s",
            Volatility::Volatile => "v",
        };
        t.row(vec![
            ("oid", V::Oid(f.oid)),
            ("proname", f.name.into()),
            ("pronamespace", V::Oid(PG_CATALOG_OID)),
            ("proowner", V::Oid(OWNER)),
            ("prolang", V::Oid(12)),
            ("procost", V::Float(1.0)),
            ("prorows", V::Float(if f.returns_set { 1000.0 } else { 0.0 })),
            ("provariadic", V::Oid(if f.variadic { f.args.last().map_or(0, PgType::oid) } else { 0 })),
            ("prosupport", V::Oid(0)),
            ("prokind", kind.into()),
            ("prosecdef", false.into()),
            ("proleakproof", false.into()),
            ("proisstrict", f.strict.into()),
            ("proretset", f.returns_set.into()),
            ("provolatile", volatility.into()),
            ("proparallel", "s".into()),
            ("pronargs", V::Int(f.args.len() as i64)),
            ("pronargdefaults", V::Int(f.defaults.len() as i64)),
            ("prorettype", V::Oid(f.ret.oid())),
            ("proargtypes", V::Oids(f.args.iter().map(PgType::oid).collect())),
            ("proargnames", if f.arg_names.is_empty() { V::Null } else { V::Texts(f.arg_names.iter().map(|n| (*n).to_owned()).collect()) }),
            ("prosrc", f.name.into()),
        ]);
    }
    for f in type_functions::all() {
        t.row(vec![
            ("oid", V::Oid(f.oid)),
            ("proname", f.name.into()),
            ("pronamespace", V::Oid(PG_CATALOG_OID)),
            ("proowner", V::Oid(OWNER)),
            ("prolang", V::Oid(12)),
            ("procost", V::Float(1.0)),
            ("prorows", V::Float(0.0)),
            ("provariadic", V::Oid(0)),
            ("prosupport", V::Oid(0)),
            ("prokind", "f".into()),
            ("prosecdef", false.into()),
            ("proleakproof", false.into()),
            ("proisstrict", f.strict.into()),
            ("proretset", false.into()),
            ("provolatile", f.volatility.into()),
            ("proparallel", "s".into()),
            ("pronargs", V::Int(f.args.len() as i64)),
            ("pronargdefaults", V::Int(0)),
            ("prorettype", V::Oid(f.ret)),
            ("proargtypes", V::Oids(f.args.clone())),
            ("prosrc", f.name.into()),
        ]);
    }
}
