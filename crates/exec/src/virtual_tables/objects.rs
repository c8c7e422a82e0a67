//! Objects as system relations show them: which tables and indexes there are, and the OIDs of what has none of its own in the catalog.

use super::builder::V;
use crate::environment::StatementContext;
use std::collections::HashSet;
use std::sync::Arc;
use stoa_pg::collation::{self, DEFAULT};
use stoa_pg::types::PgType;
use stoa_sql::bind::collation::{of_descriptor, of_type};
use stoa_sql::catalog::acl_text::acl_texts;
use stoa_sql::catalog::names::{RULE_BIT, role_name};
use stoa_table::catalog::ColumnDescriptor;
use stoa_table::catalog::ColumnId;
use stoa_table::catalog::ForeignKeyDescriptor;
use stoa_table::catalog::IndexDescriptor;
use stoa_table::catalog::IndexKey;
use stoa_table::catalog::IndexPart;
use stoa_table::catalog::RightsOf;
use stoa_table::catalog::TableDescriptor;
use stoa_table::catalog::ViewDescriptor;

pub const HEAP_AM: u32 = 2;

pub const BTREE_AM: u32 = 403;
pub const GIN_AM: u32 = 2742;
/// The access method of full text indexes, and the one operator class and family that it has.
pub const FULLTEXT_AM: u32 = 9_100;
pub const FULLTEXT_CLASS: u32 = 9_101;
pub const FULLTEXT_FAMILY: u32 = 9_102;

/// `pg_authid`'s OID.
pub const PG_AUTHID: u32 = 1260;
/// `pg_database`'s OID.
pub const PG_DATABASE: u32 = 1262;

/// `pg_proc`'s OID.
pub const PG_PROC: u32 = 1255;

pub const PG_CLASS: u32 = 1259;

pub const PG_CONSTRAINT: u32 = 2606;

pub const PG_NAMESPACE: u32 = 2615;

pub const PG_ATTRDEF: u32 = 2604;

pub const PG_REWRITE: u32 = 2618;
/// `pg_largeobject`'s OID.
pub const PG_LARGEOBJECT: u32 = 2613;
/// `pg_default_acl`'s OID.
pub const PG_DEFAULT_ACL: u32 = 826;
/// `pg_language`'s OID.
pub const PG_LANGUAGE: u32 = 2612;
/// `pg_policy`'s OID.
pub const PG_POLICY: u32 = 3256;

pub const PG_TYPE: u32 = 1247;

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

pub fn attnum(column: &ColumnDescriptor) -> V {
    V::Int(i64::from(column.id.0))
}

pub fn collation(ty: &PgType) -> V {
    V::Oid(of_type(ty))
}

/// The collation of a column of a catalog, whose texts have the order of bytes.
pub fn catalog_collation(ty: &PgType) -> V {
    match collation(ty) {
        V::Oid(DEFAULT) => V::Oid(collation::C),
        other => other,
    }
}

/// The collation of a column: what was said, else its type's.
pub fn column_collation(column: &ColumnDescriptor) -> V {
    V::Oid(of_descriptor(column))
}

/// The collation of a part of an index; 0 of what has none.
pub fn part_collation(table: &TableDescriptor, part: &IndexPart) -> u32 {
    if let Some(said) = part.collation.as_ref().and_then(|name| collation::named(name)) {
        return said.oid;
    }
    match &part.key {
        IndexKey::Column(id) => table.column(*id).map_or(0, of_descriptor),
        IndexKey::Expr(_) => of_type(&part.ty.ty),
    }
}

/// Tables that sessions see, in the order of their OIDs.
pub fn tables(ctx: &StatementContext) -> Vec<Arc<TableDescriptor>> {
    tables_among(ctx, None)
}

/// As [`tables`], of these OIDs.
pub fn tables_among(ctx: &StatementContext, oids: Option<Vec<u32>>) -> Vec<Arc<TableDescriptor>> {
    let mut out: Vec<_> = match oids {
        Some(oids) => oids.into_iter().filter_map(|oid| ctx.catalog.shared_table(oid)).collect(),
        None => ctx.catalog.shared_tables().cloned().collect(),
    };
    out.retain(|t| ctx.catalog.view_of_rows(t.oid).is_none());
    out.sort_by_key(|t| t.oid);
    out
}

/// Something with indexes: a table, or a materialized view, whose rows and indexes are a hidden table's.
pub struct Indexed {
    pub table: Arc<TableDescriptor>,
    /// Of the table, or of the view.
    pub oid: u32,
    pub name: String,
    pub is_view: bool,
}

impl Indexed {
    /// The number that a column of the table has in what is shown.
    pub fn number(&self, id: ColumnId) -> i16 {
        if !self.is_view {
            return id.0 as i16;
        }
        self.table.visible_columns().position(|c| c.id == id).map_or(0, |at| at as i16 + 1)
    }
}

/// What has indexes, in the order of OIDs.
pub fn indexed(ctx: &StatementContext) -> Vec<Indexed> {
    let mut out: Vec<_> = ctx
        .catalog
        .shared_tables()
        .map(|table| match ctx.catalog.view_of_rows(table.oid) {
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

pub fn attrdef_oid(table: &TableDescriptor, column: &ColumnDescriptor) -> u32 {
    0x8000_0000 | (table.oid << 11) | (column.id.0 & 0x7ff)
}

/// `name=value` of WITH (…); NULL where there are none.
pub fn storage_options(options: &[(String, String)]) -> V {
    let shown = options.iter().filter(|(name, _)| stoa_sql::definition::is_shown(name));
    let texts: Vec<String> = shown.map(|(name, value)| format!("{name}={value}")).collect();
    if texts.is_empty() { V::Null } else { V::Texts(texts) }
}

/// The foreign keys of a table that somebody has made: that by which a table of entries belongs to its table is part of the map.
pub fn foreign_keys(table: &TableDescriptor) -> &[ForeignKeyDescriptor] {
    if table.entries_of.is_some() { &[] } else { &table.foreign_keys }
}

/// The tables to which foreign keys refer.
pub fn referenced_tables(ctx: &StatementContext) -> HashSet<u32> {
    tables(ctx).iter().flat_map(|t| foreign_keys(t).iter().map(|f| f.referenced_table)).collect()
}

/// Whether PostgreSQL would have triggers on a table: both sides of a foreign key do, and psql looks for keys where they are.
pub fn has_triggers(table: &TableDescriptor, referenced: &HashSet<u32>) -> bool {
    !foreign_keys(table).is_empty() || referenced.contains(&table.oid)
}

/// The OID of the rule that makes a relation a view.
pub fn rule_oid(view: &ViewDescriptor) -> u32 {
    view.oid | RULE_BIT
}

/// The unique index that a foreign key to these columns goes by.
pub fn referenced_index(table: &TableDescriptor, columns: &[ColumnId]) -> u32 {
    let same = |key: &[ColumnId]| key.len() == columns.len() && columns.iter().all(|c| key.contains(c));
    let key: Vec<ColumnId> = table.key_columns().map(|p| p.column).collect();
    if same(&key)
        && let Some(oid) = primary_index_oid(table)
    {
        return oid;
    }
    let by_columns = |index: &&IndexDescriptor| {
        let key: Vec<ColumnId> =
            index.parts.iter().filter_map(|p| if let IndexKey::Column(c) = &p.key { Some(*c) } else { None }).collect();
        index.unique && index.predicate.is_none() && key.len() == index.parts.len() && same(&key)
    };
    table.indexes.iter().find(by_columns).map_or(0, |i| i.oid)
}

/// The name of an object's owner.
pub fn owner_name(ctx: &StatementContext, of: RightsOf) -> String {
    role_name(&ctx.catalog, ctx.catalog.authority().rights(of).owner)
}

/// What was said of who may do what with an object; NULL for what was not.
pub fn acl(ctx: &StatementContext, of: RightsOf) -> V {
    let authority = ctx.catalog.authority();
    authority.rights(of).acl.as_ref().map_or(V::Null, |acl| V::Texts(acl_texts(authority, acl)))
}
