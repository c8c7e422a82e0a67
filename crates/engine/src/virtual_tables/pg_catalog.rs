//! The relations of `pg_catalog` that describe objects.

use super::cell::{Table, V};
use super::information_schema::definitions;
use crate::exec::StatementContext;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use stoa_pg::registry::{CastContext, CastKind, FuncKind, Registry, Volatility};
use stoa_pg::type_functions::{self, TypeForms};
use stoa_pg::types::{BASE_TYPES, PgType};
use stoa_pg::{PgResult, SqlType};
use stoa_table::catalog::{
    CatalogSnapshot, ColumnDescriptor, ColumnId, ForeignKeyAction, INFORMATION_SCHEMA_OID, IndexDescriptor, IndexKey, PG_CATALOG_OID,
    PUBLIC_OID, Relation, TableDescriptor, ViewDescriptor,
};

/// The OID of the only role.
pub const OWNER: u32 = 10;
/// The role that stands for the owner of the database; the schema `public` is its.
pub const DATABASE_OWNER: u32 = 6171;
pub const DATABASE_OWNER_NAME: &str = "pg_database_owner";
/// The OID of the database `stoa`.
pub const DATABASE: u32 = 16_383;
const HEAP_AM: u32 = 2;
const BTREE_AM: u32 = 403;
const DEFAULT_COLLATION: u32 = 100;
const PG_CLASS: u32 = 1259;
const PG_CONSTRAINT: u32 = 2606;
const PG_NAMESPACE: u32 = 2615;
const PG_ATTRDEF: u32 = 2604;
const PG_REWRITE: u32 = 2618;
const PG_TYPE: u32 = 1247;

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
                // What PostgreSQL 15 gives the schema public, and dumps only where it is otherwise.
                let (owner, privileges) = if s.oid == PUBLIC_OID {
                    let privileges = [format!("{DATABASE_OWNER_NAME}=UC/{DATABASE_OWNER_NAME}"), format!("=U/{DATABASE_OWNER_NAME}")];
                    (DATABASE_OWNER, V::Texts(privileges.into()))
                } else {
                    (OWNER, V::Null)
                };
                t.row(vec![
                    ("oid", V::Oid(s.oid)),
                    ("nspname", s.name.as_str().into()),
                    ("nspowner", V::Oid(owner)),
                    ("nspacl", privileges),
                ]);
            }
        }
        "pg_class" => classes(ctx, t),
        "pg_attribute" => attributes(ctx, t),
        "pg_type" => types(ctx, t),
        "pg_index" => {
            for owner in indexed(ctx) {
                for shown in indexes(&owner.table) {
                    index_row(&owner, &shown, t);
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
            for (oid, role, is_user) in [(OWNER, user.as_str(), true), (DATABASE_OWNER, DATABASE_OWNER_NAME, false)] {
                t.row(vec![
                    ("oid", V::Oid(oid)),
                    ("rolname", role.into()),
                    ("rolsuper", is_user.into()),
                    ("rolinherit", true.into()),
                    ("rolcreaterole", is_user.into()),
                    ("rolcreatedb", is_user.into()),
                    ("rolcanlogin", is_user.into()),
                    ("rolreplication", false.into()),
                    ("rolbypassrls", is_user.into()),
                    ("rolconnlimit", V::Int(-1)),
                ]);
            }
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
            let referenced = referenced_tables(ctx);
            for table in tables(ctx) {
                t.row(vec![
                    ("schemaname", schema_of(ctx, table.schema).into()),
                    ("tablename", table.name.as_str().into()),
                    ("tableowner", ctx.session.current_user().into()),
                    ("hasindexes", (!indexes(&table).is_empty()).into()),
                    ("hasrules", false.into()),
                    ("hastriggers", has_triggers(&table, &referenced).into()),
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
                        ("definition", definitions(ctx).view(v.oid, false)?.into()),
                    ]);
                }
            }
        }
        "pg_matviews" => {
            for relation in catalog.relations() {
                if let Relation::View(v) = &**relation
                    && let Some(held) = v.materialized
                {
                    t.row(vec![
                        ("schemaname", schema_of(ctx, v.schema).into()),
                        ("matviewname", v.name.as_str().into()),
                        ("matviewowner", ctx.session.current_user().into()),
                        ("hasindexes", catalog.table(held).is_some_and(|held| !held.indexes.is_empty()).into()),
                        ("ispopulated", (!v.unpopulated).into()),
                        ("definition", definitions(ctx).view(v.oid, false)?.into()),
                    ]);
                }
            }
        }
        "pg_indexes" => {
            for owner in indexed(ctx) {
                for shown in indexes(&owner.table) {
                    t.row(vec![
                        ("schemaname", schema_of(ctx, owner.table.schema).into()),
                        ("tablename", owner.name.as_str().into()),
                        ("indexname", shown.name.into()),
                        ("indexdef", crate::catalog::deparse::index_definition(catalog, &owner.table, shown.index).into()),
                    ]);
                }
            }
        }
        "pg_sequence" | "pg_sequences" => {
            for relation in catalog.relations() {
                if let Relation::Sequence(s) = &**relation {
                    let state = catalog.numbers().and_then(|numbers| ctx.session.wait_for(numbers.state(s)).ok());
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
        "pg_depend" => depends(ctx, t),
        "pg_collation" => {
            for (oid, name, provider) in
                [(DEFAULT_COLLATION, "default", "d"), (950, "C", "c"), (951, "POSIX", "c"), (952, "ucs_basic", "c")]
            {
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
                        ("oid", V::Oid(rule_oid(v))),
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

/// The tables that hold the rows of materialized views, by their OID: no tables of their own to those who look.
fn hidden(catalog: &CatalogSnapshot) -> HashMap<u32, &ViewDescriptor> {
    catalog
        .relations()
        .filter_map(|r| match &**r {
            Relation::View(v) => Some((v.materialized?, v)),
            _ => None,
        })
        .collect()
}

/// Tables that sessions see, in the order of their OIDs.
pub fn tables(ctx: &StatementContext) -> Vec<Arc<TableDescriptor>> {
    let hidden = hidden(&ctx.catalog);
    let mut out: Vec<_> = ctx.catalog.shared_tables().filter(|t| !hidden.contains_key(&t.oid)).cloned().collect();
    out.sort_by_key(|t| t.oid);
    out
}

/// Something with indexes: a table, or a materialized view, whose rows and indexes are a hidden table's.
pub struct Indexed {
    pub table: Arc<TableDescriptor>,
    /// Of the table, or of the view.
    pub oid: u32,
    pub name: String,
    is_view: bool,
}

impl Indexed {
    /// The number that a column of the table has in what is shown.
    fn number(&self, id: ColumnId) -> i16 {
        if !self.is_view {
            return id.0 as i16;
        }
        self.table.visible_columns().position(|c| c.id == id).map_or(0, |at| at as i16 + 1)
    }
}

/// What has indexes, in the order of OIDs.
pub fn indexed(ctx: &StatementContext) -> Vec<Indexed> {
    let hidden = hidden(&ctx.catalog);
    let mut out: Vec<_> = ctx
        .catalog
        .shared_tables()
        .map(|table| match hidden.get(&table.oid) {
            Some(view) => Indexed { table: table.clone(), oid: view.oid, name: view.name.clone(), is_view: true },
            None => Indexed { table: table.clone(), oid: table.oid, name: table.name.clone(), is_view: false },
        })
        .collect();
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
    let shown = options.iter().filter(|(name, _)| crate::ddl::storage_parameters::is_shown(name));
    let texts: Vec<String> = shown.map(|(name, value)| format!("{name}={value}")).collect();
    if texts.is_empty() { V::Null } else { V::Texts(texts) }
}

fn class_row(t: &mut Table<'_>, oid: u32, name: &str, schema: u32, kind: &str, natts: usize, more: Vec<(&'static str, V)>) {
    let mut cells = vec![
        ("oid", V::Oid(oid)),
        ("relname", name.into()),
        ("relnamespace", V::Oid(schema)),
        ("reloftype", V::Oid(0)),
        ("relowner", V::Oid(OWNER)),
        ("relfilenode", V::Oid(if kind == "v" { 0 } else { oid })),
        ("reltablespace", V::Oid(0)),
        ("relpages", V::Int(0)),
        ("relallvisible", V::Int(0)),
        ("reltoastrelid", V::Oid(0)),
        ("relisshared", false.into()),
        ("relkind", kind.into()),
        ("relnatts", V::Int(natts as i64)),
        ("relhasrules", matches!(kind, "v" | "m").into()),
        ("relhassubclass", false.into()),
        ("relrowsecurity", false.into()),
        ("relforcerowsecurity", false.into()),
        ("relispartition", false.into()),
        ("relrewrite", V::Oid(0)),
        ("relfrozenxid", V::Oid(0)),
        ("relminmxid", V::Oid(0)),
    ];
    let given: Vec<&str> = more.iter().map(|(n, _)| *n).collect();
    for (column, value) in [
        ("reltype", V::Oid(0)),
        ("relreplident", if matches!(kind, "r" | "m") { "d" } else { "n" }.into()),
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

/// The tables to which foreign keys refer.
fn referenced_tables(ctx: &StatementContext) -> HashSet<u32> {
    tables(ctx).iter().flat_map(|t| t.foreign_keys.iter().map(|f| f.referenced_table)).collect()
}

/// Whether PostgreSQL would have triggers on a table: both sides of a foreign key do, and psql looks for keys where they are.
fn has_triggers(table: &TableDescriptor, referenced: &HashSet<u32>) -> bool {
    !table.foreign_keys.is_empty() || referenced.contains(&table.oid)
}

fn classes(ctx: &StatementContext, t: &mut Table<'_>) {
    let rows = |oid: u32| V::Float(ctx.database.statistics.of(oid).map_or(-1.0, |s| s.rows));
    let persistence = |temporary: bool| V::from(if temporary { "t" } else { "p" });
    let referenced = referenced_tables(ctx);
    for shape in super::shapes::all() {
        let schema = if shape.schema == "pg_catalog" { PG_CATALOG_OID } else { INFORMATION_SCHEMA_OID };
        let mut more = vec![("relreplident", V::from("n"))];
        if shape.kind == "r" {
            more.push(("relam", V::Oid(HEAP_AM)));
        }
        class_row(t, shape.oid, &shape.name, schema, &shape.kind, shape.columns.len(), more);
    }
    for owner in indexed(ctx) {
        let table = &owner.table;
        let shown = indexes(table);
        if !owner.is_view {
            class_row(
                t,
                table.oid,
                &table.name,
                table.schema,
                "r",
                table.columns.iter().filter(|c| !c.hidden).count(),
                vec![
                    ("reltype", V::Oid(row_type_oid(table.oid))),
                    ("relam", V::Oid(HEAP_AM)),
                    ("relhasindex", (!shown.is_empty()).into()),
                    ("relpersistence", persistence(table.temporary)),
                    ("relchecks", V::Int(table.checks.len() as i64)),
                    ("relhastriggers", has_triggers(table, &referenced).into()),
                    ("reltuples", rows(table.oid)),
                    ("reloptions", storage_options(&table.options)),
                ],
            );
        }
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
        match &**relation {
            Relation::Table(_) => {}
            Relation::View(v) => {
                let mut more = vec![("relispopulated", (!v.unpopulated).into()), ("reltype", V::Oid(row_type_oid(v.oid)))];
                let kind = match v.materialized.and_then(|held| ctx.catalog.table(held)) {
                    Some(held) => {
                        more.extend([
                            ("relam", V::Oid(HEAP_AM)),
                            ("relhasindex", (!held.indexes.is_empty()).into()),
                            ("reltuples", rows(held.oid)),
                            ("reloptions", storage_options(&held.options)),
                        ]);
                        "m"
                    }
                    None => {
                        more.push(("reloptions", storage_options(&v.options)));
                        "v"
                    }
                };
                class_row(t, v.oid, &v.name, v.schema, kind, v.columns.len(), more);
            }
            Relation::Sequence(s) => {
                let more = vec![("relpersistence", persistence(s.temporary)), ("reltuples", V::Float(1.0))];
                class_row(t, s.oid, &s.name, s.schema, "S", 3, more);
            }
        }
    }
}

/// What `WITH (…)` said, as `reloptions` has it.
/// The OID under which `pg_type` lists the rows of a relation.
fn row_type_oid(relation: u32) -> u32 {
    relation | 0x1000_0000
}

/// The OID of arrays of a relation's rows.
fn row_array_oid(relation: u32) -> u32 {
    relation | 0x1800_0000
}

/// Edges between objects, where PostgreSQL has them: what goes with what, and what stands in whose way.
fn depends(ctx: &StatementContext, t: &mut Table<'_>) {
    let mut edge = |from: (u32, u32), to: (u32, u32, u32), kind: &str| {
        t.row(vec![
            ("classid", V::Oid(from.0)),
            ("objid", V::Oid(from.1)),
            ("objsubid", V::Int(0)),
            ("refclassid", V::Oid(to.0)),
            ("refobjid", V::Oid(to.1)),
            ("refobjsubid", V::Int(i64::from(to.2))),
            ("deptype", kind.into()),
        ]);
    };
    for owner in indexed(ctx) {
        let table = &owner.table;
        if !owner.is_view {
            edge((PG_CLASS, table.oid), (PG_NAMESPACE, table.schema, 0), "n");
            edge((PG_TYPE, row_type_oid(table.oid)), (PG_CLASS, table.oid, 0), "i");
        }
        let columns = |ids: &[ColumnId]| -> Vec<u32> {
            let mut numbers: Vec<u32> = ids.iter().filter_map(|id| u32::try_from(owner.number(*id)).ok()).collect();
            if numbers.is_empty() {
                numbers.push(0);
            }
            numbers
        };
        if let Some(key) = &table.primary_key {
            let ids: Vec<ColumnId> = table.key.iter().map(|p| p.column).collect();
            for number in columns(&ids) {
                edge((PG_CONSTRAINT, key.oid), (PG_CLASS, owner.oid, number), "a");
            }
            if let Some(index) = primary_index_oid(table) {
                edge((PG_CLASS, index), (PG_CONSTRAINT, key.oid, 0), "i");
            }
        }
        for index in &table.indexes {
            let mut ids: Vec<ColumnId> =
                index.parts.iter().filter_map(|p| if let IndexKey::Column(id) = &p.key { Some(*id) } else { None }).collect();
            ids.extend(&index.include);
            let object = match &index.constraint {
                Some(constraint) => {
                    edge((PG_CLASS, index.oid), (PG_CONSTRAINT, constraint.oid, 0), "i");
                    (PG_CONSTRAINT, constraint.oid)
                }
                None => (PG_CLASS, index.oid),
            };
            for number in columns(&ids) {
                edge(object, (PG_CLASS, owner.oid, number), "a");
            }
        }
        for check in &table.checks {
            for number in columns(&check.columns) {
                edge((PG_CONSTRAINT, check.name.oid), (PG_CLASS, owner.oid, number), "a");
            }
        }
        for key in &table.foreign_keys {
            for number in columns(&key.columns) {
                edge((PG_CONSTRAINT, key.name.oid), (PG_CLASS, owner.oid, number), "a");
            }
            for id in &key.referenced_columns {
                edge((PG_CONSTRAINT, key.name.oid), (PG_CLASS, key.referenced_table, id.0), "n");
            }
            let index = ctx.catalog.table(key.referenced_table).map_or(0, |r| referenced_index(r, &key.referenced_columns));
            if index != 0 {
                edge((PG_CONSTRAINT, key.name.oid), (PG_CLASS, index, 0), "n");
            }
        }
        for column in table.visible_columns() {
            let Some(text) = column.default.as_ref().or(column.generated.as_ref()) else { continue };
            let object = (PG_ATTRDEF, attrdef_oid(table, column));
            edge(object, (PG_CLASS, owner.oid, column.id.0), "a");
            for sequence in named_relations(text) {
                edge(object, (PG_CLASS, sequence, 0), "n");
            }
        }
    }
    for relation in ctx.catalog.relations() {
        match &**relation {
            Relation::Sequence(s) => {
                edge((PG_CLASS, s.oid), (PG_NAMESPACE, s.schema, 0), "n");
                if let Some((table, column)) = &s.owned_by {
                    let identity = ctx.catalog.table(*table).and_then(|d| d.column(*column)).is_some_and(|c| c.identity.is_some());
                    edge((PG_CLASS, s.oid), (PG_CLASS, *table, column.0), if identity { "i" } else { "a" });
                }
            }
            Relation::View(v) => {
                edge((PG_CLASS, v.oid), (PG_NAMESPACE, v.schema, 0), "n");
                edge((PG_TYPE, row_type_oid(v.oid)), (PG_CLASS, v.oid, 0), "i");
                // The view's rule is what uses other relations.
                let rule = (PG_REWRITE, rule_oid(v));
                edge(rule, (PG_CLASS, v.oid, 0), "i");
                for d in &v.depends_on {
                    if d.columns.is_empty() {
                        edge(rule, (PG_CLASS, d.relation, 0), "n");
                    }
                    for column in &d.columns {
                        edge(rule, (PG_CLASS, d.relation, column.0), "n");
                    }
                }
            }
            Relation::Table(_) => {}
        }
    }
}

/// The relations that a stored expression names: `'OID'::regclass`.
fn named_relations(text: &str) -> Vec<u32> {
    let mut parts: Vec<&str> = text.split("'::regclass").collect();
    parts.pop();
    parts.iter().filter_map(|part| part.rsplit('\'').next()?.parse().ok()).collect()
}

/// The OID of the rule that makes a relation a view.
fn rule_oid(view: &ViewDescriptor) -> u32 {
    view.oid | 0x2000_0000
}

/// The unique index that a foreign key to these columns goes by.
fn referenced_index(table: &TableDescriptor, columns: &[ColumnId]) -> u32 {
    let same = |key: &[ColumnId]| key.len() == columns.len() && columns.iter().all(|c| key.contains(c));
    let key: Vec<ColumnId> = table.key.iter().map(|p| p.column).collect();
    if same(&key)
        && let Some(oid) = primary_index_oid(table)
    {
        return oid;
    }
    let by_columns = |index: &&IndexDescriptor| {
        let key: Vec<ColumnId> =
            index.parts.iter().filter_map(|p| if let IndexKey::Column(c) = &p.key { Some(*c) } else { None }).collect();
        index.unique && key.len() == index.parts.len() && same(&key)
    };
    table.indexes.iter().find(by_columns).map_or(0, |i| i.oid)
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
    for shape in super::shapes::all() {
        for (i, ((name, ty), not_null)) in shape.columns.iter().zip(&shape.not_null).enumerate() {
            attribute_row(t, shape.oid, name, i as i64 + 1, ty, vec![("attnotnull", (*not_null).into())]);
        }
    }
    for table in tables(ctx) {
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
            // Where an index says it, it is the index's.
            let words = if crate::text::settings::words_by(&table, c.id).is_none() { storage_options(&c.words) } else { V::Null };
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
                    ("attoptions", words),
                ],
            );
        }
    }
    for owner in indexed(ctx) {
        for shown in indexes(&owner.table) {
            for (i, (name, ty)) in index_columns(&owner.table, &shown).into_iter().enumerate() {
                attribute_row(t, shown.oid, &name, i as i64 + 1, &ty, vec![]);
            }
        }
    }
    for relation in ctx.catalog.relations() {
        match &**relation {
            Relation::Table(_) => {}
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

/// The columns of an index as PostgreSQL names them, with those that it only includes: `expr`, `expr1`, … are expressions, and a
/// column that stands there twice is `a`, `a1`.
fn index_columns(table: &TableDescriptor, shown: &ShownIndex<'_>) -> Vec<(String, SqlType)> {
    let column = |id: ColumnId| table.column(id).map(|c| (c.name.clone(), c.ty.clone()));
    let Some(index) = shown.index else { return table.key.iter().filter_map(|p| column(p.column)).collect() };
    let mut out: Vec<(String, SqlType)> = Vec::new();
    for part in &index.parts {
        let (first, ty) = match &part.key {
            IndexKey::Column(id) => match column(*id) {
                Some(column) => column,
                None => continue,
            },
            IndexKey::Expr(_) => ("expr".to_owned(), part.ty.clone()),
        };
        let mut name = first.clone();
        let mut n = 0;
        while out.iter().any(|(taken, _)| *taken == name) {
            n += 1;
            name = format!("{first}{n}");
        }
        out.push((name, ty));
    }
    out.extend(index.include.iter().filter_map(|id| column(*id)));
    out
}

fn types(ctx: &StatementContext, t: &mut Table<'_>) {
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
    row_types(ctx, t);
}

/// The types of relations' rows, and of arrays of them, which clients find in the catalogs although statements do not know them.
fn row_types(ctx: &StatementContext, t: &mut Table<'_>) {
    let hidden = hidden(&ctx.catalog);
    let forms = |oid: u32| type_functions::of_type(oid);
    for relation in ctx.catalog.relations() {
        if matches!(&**relation, Relation::Sequence(_)) || hidden.contains_key(&relation.oid()) {
            continue;
        }
        let (oid, array) = (row_type_oid(relation.oid()), row_array_oid(relation.oid()));
        for is_array in [false, true] {
            // Read and written as any record, or any array of records, is.
            let forms = forms(if is_array { 2287 } else { 2249 });
            let function = |of: fn(&TypeForms) -> u32| V::Oid(forms.map_or(0, of));
            t.row(vec![
                ("oid", V::Oid(if is_array { array } else { oid })),
                ("typname", if is_array { format!("_{}", relation.name()) } else { relation.name().to_owned() }.into()),
                ("typnamespace", V::Oid(relation.schema())),
                ("typowner", V::Oid(OWNER)),
                ("typlen", V::Int(-1)),
                ("typbyval", false.into()),
                ("typtype", if is_array { "b" } else { "c" }.into()),
                ("typcategory", if is_array { "A" } else { "C" }.into()),
                ("typispreferred", false.into()),
                ("typisdefined", true.into()),
                ("typdelim", ",".into()),
                ("typrelid", V::Oid(if is_array { 0 } else { relation.oid() })),
                ("typsubscript", function(|f| f.subscript)),
                ("typelem", V::Oid(if is_array { oid } else { 0 })),
                ("typarray", V::Oid(if is_array { 0 } else { array })),
                ("typinput", function(|f| f.input)),
                ("typoutput", function(|f| f.output)),
                ("typreceive", function(|f| f.receive)),
                ("typsend", function(|f| f.send)),
                ("typmodin", V::Oid(0)),
                ("typmodout", V::Oid(0)),
                ("typanalyze", function(|f| f.analyze)),
                ("typalign", "d".into()),
                ("typstorage", "x".into()),
                ("typnotnull", false.into()),
                ("typbasetype", V::Oid(0)),
                ("typtypmod", V::Int(-1)),
                ("typndims", V::Int(0)),
                ("typcollation", V::Oid(0)),
            ]);
        }
    }
}

fn index_row(owner: &Indexed, shown: &ShownIndex<'_>, t: &mut Table<'_>) {
    let table = &owner.table;
    let number = |id: ColumnId| owner.number(id);
    let (keys, options, count, all, immediate, exprs, predicate, nulls): (Vec<i16>, Vec<i16>, usize, usize, bool, V, V, bool) = match shown
        .index
    {
        None => (
            table.key.iter().map(|p| number(p.column)).collect(),
            table.key.iter().map(|p| if p.descending { 3 } else { 0 }).collect(),
            table.key.len(),
            table.key.len(),
            table.primary_key.as_ref().is_none_or(|p| !p.deferrable),
            V::Null,
            V::Null,
            false,
        ),
        Some(index) => {
            let mut keys: Vec<i16> = index.parts.iter().map(|p| if let IndexKey::Column(c) = &p.key { number(*c) } else { 0 }).collect();
            keys.extend(index.include.iter().map(|c| number(*c)));
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
    let valid = shown.index.is_none_or(|i| i.state == stoa_table::catalog::IndexState::Readable);
    t.row(vec![
        ("indexrelid", V::Oid(shown.oid)),
        ("indrelid", V::Oid(owner.oid)),
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
        ("indisready", shown.index.is_none_or(|i| i.state >= stoa_table::catalog::IndexState::WriteOnly).into()),
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
        let mut row = |name: &stoa_table::catalog::ConstraintName, kind: &str, more: Vec<(&'static str, V)>| {
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
            ];
            let given: Vec<&str> = more.iter().map(|(n, _)| *n).collect();
            for (column, value) in [
                ("convalidated", true.into()),
                ("conindid", V::Oid(0)),
                ("confrelid", V::Oid(0)),
                ("confupdtype", " ".into()),
                ("confdeltype", " ".into()),
                ("confmatchtype", " ".into()),
                ("connoinherit", true.into()),
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
                vec![
                    ("conkey", V::Ints(keys)),
                    ("conbin", check.expr.as_str().into()),
                    ("convalidated", check.validated.into()),
                    ("connoinherit", check.no_inherit.into()),
                ],
            );
        }
        for key in &table.foreign_keys {
            let index = ctx.catalog.table(key.referenced_table).map_or(0, |r| referenced_index(r, &key.referenced_columns));
            let set: Vec<i16> = key.on_delete_columns.iter().map(|c| c.0 as i16).collect();
            row(
                &key.name,
                "f",
                vec![
                    ("confdelsetcols", if set.is_empty() { V::Null } else { V::Ints(set) }),
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
                if let (Some(text), Some(index)) =
                    (table.primary_key.as_ref().and_then(|key| key.index_comment.as_ref()), primary_index_oid(table))
                {
                    row(PG_CLASS, index, 0, text);
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
            ("proargtypes", V::Oids(f.declared_args().map(|ty| ty.oid()).collect())),
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
