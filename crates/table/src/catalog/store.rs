//! The catalog as rows of its own table in the store.
//!
//! ```text
//! key    's' oid be   a schema          'r' oid be   a table, view or sequence
//!        'q' oid be   a sequence's state (outside of transactions)
//!        't' oid be   a table's statistics (likewise)
//!        'v' oid be   what the last check of an index found (likewise)
//!        'b' oid be   how far an index build has come (likewise)
//!        'x' oid be   a table that was dropped and can come back
//!        'u' oid be   a role
//!        'n' oid be   a database
//!        'a' kind u8, oid be           whose an object is and who may what with it
//!        'c' oid be, oid be            settings that sessions in a database (0: any), of a role (0: any) begin with
//!        'd' oid be, oid be, kind u8   privileges of what a role will make in a schema (0: any)
//!        'm' "format", 'm' "ids"
//!        'D' oid be, one of the keys above      the row of a database other than the first: of what it has for itself, that is
//!                                               's', 'r', 'a' but of databases, and 'd'. Ids are unique over all databases
//! cell   version u8 | JSON        2: a table whose timestamps count from 2000; 3: one whose row key has parts of other forms, too; 4: one
//!                              with row-level security; 5: a table of raw cells; 6: one whose rows have times of their own; 7: one with maps, or
//!                              of their entries; 8: the rights of a database other than the first; 9: that there are large objects;
//!                              10: a table elsewhere; 11: one with plain values; else 1. Older versions of the program
//!                              would misread them, and take the tables of databases that they do not know for left over
//! ```
//!
//! Invariant: ids are taken in blocks that are durable before the first of them is used, so that none is ever used twice; a table
//! of the store that no descriptor names is left over from a transaction that did not commit, and is removed at open.

use super::acl::ObjectClass;
use super::authority::{DefaultPrivileges, DefaultsFor, Rights, RightsOf};
use super::database::{FIRST_DATABASE, Shared};
use super::descriptor::{Epoch, FIRST_USER_OID, INFORMATION_SCHEMA_OID, Oid, PG_CATALOG_OID, PUBLIC_OID, Relation, SchemaDescriptor};
use super::dropped::DroppedTable;
use super::numbers::Numbers;
use super::role::{RoleDescriptor, built_in_roles};
use super::snapshot::CatalogSnapshot;
use crate::failure::store_error;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_store::{
    CellRef, Commit, Durability, FamilyId, FamilyOptions, FamilySchema, KeyRange, Mutations, ReadSpec, ScanSpec, Store, TableId,
    TableSchema, Timestamp,
};

/// The version of what is stored.
const VERSION: u8 = 1;
/// That of tables whose timestamps count from 2000.
const SINCE_2000: u8 = 2;
/// That of tables whose row keys have parts of other forms than their columns' values.
const KEY_FORMS: u8 = 3;
/// That of tables with row-level security: who does not know of it must not show their rows.
const ROW_SECURITY: u8 = 4;
/// That of tables whose rows are raw cells.
const RAW_CELLS: u8 = 5;
/// That of tables whose rows have times of their own: who does not know of them would show rows that have ended, or replace newer rows by older
/// ones.
const OWN_TIMES: u8 = 6;
/// That of tables with maps, and of their entries: who does not know of these would leave entries behind.
const MAPS: u8 = 7;
/// That of the rights of a database that is not the only one.
const SEVERAL_DATABASES: u8 = 8;
/// That of the row that says that there are large objects.
const LARGE_OBJECTS: u8 = 9;
/// Raw tables whose cells other programs own.
const ELSEWHERE: u8 = 10;
/// That of tables with families of plain values: who does not know of them would look for cells by numbers.
const PLAIN_VALUES: u8 = 11;
/// What rows of the catalog are, by the first bytes of their keys. It is an enum for the compiler to refuse a byte that is given twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    Schema = b's',
    Relation = b'r',
    Sequence = b'q',
    Statistics = b't',
    IndexCheck = b'v',
    IndexBuild = b'b',
    Dropped = b'x',
    Role = b'u',
    Database = b'n',
    Rights = b'a',
    Settings = b'c',
    Defaults = b'd',
    OfTheStore = b'm',
    /// A row of a database other than the first; its id and the key within it follow.
    OfDatabase = b'D',
}

impl Kind {
    const ALL: [Self; 14] = [
        Self::Schema,
        Self::Relation,
        Self::Sequence,
        Self::Statistics,
        Self::IndexCheck,
        Self::IndexBuild,
        Self::Dropped,
        Self::Role,
        Self::Database,
        Self::Rights,
        Self::Settings,
        Self::Defaults,
        Self::OfTheStore,
        Self::OfDatabase,
    ];

    /// That of the row under a key.
    #[must_use]
    pub fn of(key: &[u8]) -> Option<Self> {
        let first = *key.first()?;
        Self::ALL.into_iter().find(|kind| *kind as u8 == first)
    }

    /// The id in a key, if it is of this kind.
    #[must_use]
    pub fn id_in(self, key: &[u8]) -> Option<Oid> {
        if Self::of(key) == Some(self) { id_of_key(key) } else { None }
    }
}

/// The id behind a key's first byte.
fn id_of_key(key: &[u8]) -> Option<Oid> {
    Some(u32::from_be_bytes(key.get(1..5)?.try_into().ok()?))
}

/// Where descriptors are stored.
pub const CATALOG_TABLE: TableId = TableId(1);
/// The one family of [`CATALOG_TABLE`].
pub const CATALOG_FAMILY: FamilyId = FamilyId(0);
/// The table of the store that holds the records of the change feed.
pub const FEED_TABLE: TableId = TableId(2);
/// The table of commit tokens.
pub const TOKEN_TABLE: TableId = TableId(3);
/// The table of large objects, of all databases.
pub const LARGE_OBJECT_TABLE: TableId = TableId(4);
/// The OID of `pg_largeobject`.
pub const LARGE_OBJECT_RELATION: Oid = 2613;
/// How long the end of a transaction can be asked for.
pub const TOKENS_KEPT: std::time::Duration = std::time::Duration::from_secs(7 * 24 * 3600);
const FORMAT_KEY: &[u8] = b"mformat";
const IDS_KEY: &[u8] = b"mids";

/// The key of a schema's row.
#[must_use]
pub fn schema_key(oid: Oid) -> Vec<u8> {
    key(Kind::Schema, oid)
}

/// The key of a relation's row.
#[must_use]
pub fn relation_key(oid: Oid) -> Vec<u8> {
    key(Kind::Relation, oid)
}

/// The key of the row of a table that was dropped and can come back.
#[must_use]
pub fn dropped_key(oid: Oid) -> Vec<u8> {
    key(Kind::Dropped, oid)
}

/// The key of the state of a sequence.
#[must_use]
pub fn sequence_key(oid: Oid) -> Vec<u8> {
    key(Kind::Sequence, oid)
}

/// The key of a table's statistics.
#[must_use]
pub fn statistics_key(table: Oid) -> Vec<u8> {
    key(Kind::Statistics, table)
}

/// The key of what the last check of an index found.
#[must_use]
pub fn index_check_key(index: Oid) -> Vec<u8> {
    key(Kind::IndexCheck, index)
}

/// The key of how far the build of an index has come.
#[must_use]
pub fn index_build_key(index: Oid) -> Vec<u8> {
    key(Kind::IndexBuild, index)
}

/// The key of a role's row.
#[must_use]
pub fn role_key(oid: Oid) -> Vec<u8> {
    key(Kind::Role, oid)
}

/// The key of a database's row.
#[must_use]
pub fn database_key(oid: Oid) -> Vec<u8> {
    key(Kind::Database, oid)
}

/// Where a row of a database's catalog is stored: those of the first database, and those that all databases share, under their keys as
/// they are.
#[must_use]
pub fn stored_key(database: Oid, key: &[u8]) -> Cow<'_, [u8]> {
    let shared = match Kind::of(key) {
        Some(Kind::Role | Kind::Database | Kind::Settings | Kind::OfTheStore) => true,
        Some(Kind::Rights) => matches!(rights_of_key(key), Some(RightsOf::Database(_))),
        _ => false,
    };
    if database == FIRST_DATABASE || shared {
        return Cow::Borrowed(key);
    }
    let mut out = vec![Kind::OfDatabase as u8];
    out.extend(database.to_be_bytes());
    out.extend(key);
    Cow::Owned(out)
}

/// The database whose row is stored under a key, and the key within it.
fn split_stored_key(key: &[u8]) -> (Oid, &[u8]) {
    match key {
        [kind, a, b, c, d, rest @ ..] if *kind == Kind::OfDatabase as u8 => (u32::from_be_bytes([*a, *b, *c, *d]), rest),
        _ => (FIRST_DATABASE, key),
    }
}

/// The keys of all rows of a database other than the first, and of no other.
///
/// # Errors
/// The store failed.
pub async fn keys_of_database(store: &dyn Store, database: Oid) -> PgResult<Vec<Vec<u8>>> {
    let all = rows(store).await?.into_iter().map(|(key, ..)| key);
    Ok(all.filter(|key| Kind::of(key) == Some(Kind::OfDatabase) && split_stored_key(key).0 == database).collect())
}

/// The key of the row of an object's rights.
#[must_use]
pub fn rights_key(of: RightsOf) -> Vec<u8> {
    let (kind, oid) = match of {
        RightsOf::Relation(oid) => (b'r', oid),
        RightsOf::Schema(oid) => (b's', oid),
        RightsOf::Database(FIRST_DATABASE) => (b'd', 0),
        RightsOf::Database(oid) => (b'd', oid),
        RightsOf::Function(oid) => (b'f', oid),
        RightsOf::Language(oid) => (b'l', oid),
        RightsOf::Type(oid) => (b't', oid),
    };
    let mut out = vec![Kind::Rights as u8, kind];
    out.extend(oid.to_be_bytes());
    out
}

fn rights_of_key(key: &[u8]) -> Option<RightsOf> {
    let oid = u32::from_be_bytes(key.get(2..6)?.try_into().ok()?);
    Some(match key.get(1)? {
        b'r' => RightsOf::Relation(oid),
        b's' => RightsOf::Schema(oid),
        b'd' if oid == 0 => RightsOf::Database(FIRST_DATABASE),
        b'd' => RightsOf::Database(oid),
        b'f' => RightsOf::Function(oid),
        b'l' => RightsOf::Language(oid),
        b't' => RightsOf::Type(oid),
        _ => return None,
    })
}

/// The key of the row of settings that sessions begin with.
#[must_use]
pub fn settings_key(database: Oid, role: Oid) -> Vec<u8> {
    let mut out = key(Kind::Settings, database);
    out.extend(role.to_be_bytes());
    out
}

/// The key of the row of privileges of what is yet to be made.
#[must_use]
pub fn defaults_key(of: DefaultsFor) -> Vec<u8> {
    let mut out = key(Kind::Defaults, of.role);
    out.extend(of.schema.to_be_bytes());
    out.push(match of.class {
        ObjectClass::Table => b'r',
        ObjectClass::Column => b'c',
        ObjectClass::Sequence => b'S',
        ObjectClass::Database => b'd',
        ObjectClass::Function => b'f',
        ObjectClass::Schema => b'n',
        ObjectClass::Language => b'l',
        ObjectClass::Type => b'T',
        ObjectClass::LargeObject => b'L',
    });
    out
}

fn key(kind: Kind, oid: Oid) -> Vec<u8> {
    let mut out = vec![kind as u8];
    out.extend(oid.to_be_bytes());
    out
}

/// A row's cell.
///
/// # Errors
/// XX000 if the value cannot be written as JSON.
pub fn encode<T: Serialize>(value: &T) -> PgResult<Vec<u8>> {
    versioned(VERSION, value)
}

/// The cell of a relation's row.
///
/// # Errors
/// As [`encode`].
pub fn encode_relation(relation: &Relation) -> PgResult<Vec<u8>> {
    let version = match relation {
        Relation::Table(table) if table.location().is_some() => ELSEWHERE,
        Relation::Table(table) if table.families.iter().any(|family| family.plain) => PLAIN_VALUES,
        Relation::Table(table) if table.entries_of.is_some() || table.map_columns().next().is_some() => MAPS,
        Relation::Table(table) if table.expires.is_some() || table.timestamp.is_some() => OWN_TIMES,
        Relation::Table(table) if !table.row_security.is_default() => ROW_SECURITY,
        Relation::Table(table) if table.is_raw() => RAW_CELLS,
        Relation::Table(table) if table.key.iter().any(|part| !part.form.is_value()) => KEY_FORMS,
        Relation::Table(table) if table.epoch == Epoch::Postgres => SINCE_2000,
        _ => VERSION,
    };
    versioned(version, relation)
}

/// The cell of the row of an object's rights.
///
/// # Errors
/// As [`encode`].
pub fn encode_rights(of: RightsOf, rights: &Rights) -> PgResult<Vec<u8>> {
    let version = match of {
        RightsOf::Database(oid) if oid != FIRST_DATABASE => SEVERAL_DATABASES,
        _ => VERSION,
    };
    versioned(version, rights)
}

/// The cell of a dropped table's row.
///
/// # Errors
/// As [`encode`].
pub fn encode_dropped(dropped: &DroppedTable) -> PgResult<Vec<u8>> {
    let version = match dropped {
        dropped if dropped.table.families.iter().any(|family| family.plain) => PLAIN_VALUES,
        dropped if dropped.entries.is_empty() => VERSION,
        _ => MAPS,
    };
    versioned(version, dropped)
}

fn versioned<T: Serialize>(version: u8, value: &T) -> PgResult<Vec<u8>> {
    let mut out = vec![version];
    serde_json::to_writer(&mut out, value).map_err(|e| PgError::internal(format!("a descriptor cannot be written: {e}")))?;
    Ok(out)
}

/// Reads a row's cell.
///
/// # Errors
/// XX001 for what no version of the program writes.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> PgResult<T> {
    let broken = |what: String| PgError::new(SqlState::DATA_CORRUPTED, format!("a row of the catalog cannot be read: {what}"));
    match bytes.split_first() {
        Some((
            &(VERSION | SINCE_2000 | KEY_FORMS | ROW_SECURITY | RAW_CELLS | OWN_TIMES | MAPS | SEVERAL_DATABASES | LARGE_OBJECTS
            | ELSEWHERE | PLAIN_VALUES),
            json,
        )) => serde_json::from_slice(json).map_err(|e| broken(e.to_string())),
        Some((version, _)) => Err(broken(format!("version {version} is unknown"))),
        None => Err(broken("it is empty".into())),
    }
}

#[derive(Serialize, Deserialize)]
struct Ids {
    next: u32,
}

/// The first id that was never given out.
pub(crate) async fn stored_ids(store: &dyn Store) -> PgResult<u32> {
    let stored = get(store, IDS_KEY).await?;
    Ok(stored.map(|bytes| decode::<Ids>(&bytes)).transpose()?.map_or(FIRST_USER_OID, |ids| ids.next.max(FIRST_USER_OID)))
}

/// From this id on none was given out.
pub(crate) async fn store_ids(store: &dyn Store, next: u32) -> PgResult<()> {
    put(store, IDS_KEY, &encode(&Ids { next })?).await
}

/// Says in the catalog that there are large objects: a version that does not know them refuses this row, rather than take their table for left
/// over.
///
/// # Errors
/// The store failed.
pub(crate) async fn note_large_objects(store: &dyn Store) -> PgResult<()> {
    let key = relation_key(LARGE_OBJECT_RELATION);
    match get(store, &key).await? {
        Some(_) => Ok(()),
        None => put(store, &key, &versioned(LARGE_OBJECTS, &())?).await,
    }
}

/// Writes one row of the catalog outside of any transaction, durably.
pub async fn put(store: &dyn Store, key: &[u8], value: &[u8]) -> PgResult<()> {
    let mut mutations = Mutations::new();
    mutations.put(CATALOG_TABLE, key, CATALOG_FAMILY, &[], value);
    commit(store, &mutations).await
}

/// Removes one row of the catalog outside of any transaction.
pub async fn delete(store: &dyn Store, key: &[u8]) -> PgResult<()> {
    let mut mutations = Mutations::new();
    mutations.delete_row(CATALOG_TABLE, key);
    commit(store, &mutations).await
}

async fn commit(store: &dyn Store, mutations: &Mutations) -> PgResult<()> {
    let commit = Commit { mutations, snapshot: None, validate: &[], durability: Durability::Sync };
    store.commit(commit).await.map(|_| ()).map_err(store_error)
}

/// Reads one row of the catalog.
pub async fn get(store: &dyn Store, key: &[u8]) -> PgResult<Option<Vec<u8>>> {
    let spec = read_spec(store);
    let mut found = None;
    let mut sink = |_: &[u8], cells: &[CellRef<'_>]| {
        found = cells.first().map(|c| c.value.to_vec());
        ControlFlow::Continue(())
    };
    store.get(&spec, &[key], &mut sink).await.map_err(store_error)?;
    Ok(found)
}

fn read_spec(store: &dyn Store) -> ReadSpec {
    ReadSpec {
        table: CATALOG_TABLE,
        families: vec![CATALOG_FAMILY],
        qualifiers: None,
        versions: 1,
        time_range: None,
        snapshot: store.snapshot(),
    }
}

/// All rows of the catalog: the key, the cell, and when it was committed.
pub async fn rows(store: &dyn Store) -> PgResult<Vec<(Vec<u8>, Vec<u8>, Timestamp)>> {
    const BATCH: usize = 1024;
    let spec = ScanSpec { read: read_spec(store), range: KeyRange::all(), reverse: false, limit: None, fill_cache: false };
    let mut scan = store.scan(spec).await.map_err(store_error)?;
    let mut out = Vec::new();
    loop {
        let mut sink = |key: &[u8], cells: &[CellRef<'_>]| {
            if let Some(cell) = cells.first() {
                out.push((key.to_vec(), cell.value.to_vec(), cell.timestamp));
            }
            ControlFlow::Continue(())
        };
        if !scan.next_block(BATCH, &mut sink).await.map_err(store_error)? {
            return Ok(out);
        }
    }
}

/// Schemas that every database has.
#[must_use]
pub fn built_in_schemas() -> [SchemaDescriptor; 3] {
    let schema = |oid, name: &str, comment: Option<&str>| SchemaDescriptor {
        oid,
        name: name.to_owned(),
        comment: comment.map(str::to_owned),
        temporary: None,
    };
    [
        schema(PG_CATALOG_OID, "pg_catalog", Some("system catalog schema")),
        schema(INFORMATION_SCHEMA_OID, "information_schema", None),
        schema(PUBLIC_OID, "public", Some("standard public schema")),
    ]
}

/// The stored ids of tables that a relation has.
#[must_use]
pub fn storage_of(relation: &Relation) -> Vec<TableId> {
    match relation {
        // The cells of a foreign table are another's.
        Relation::Table(table) if table.mapping.is_some() => Vec::new(),
        Relation::Table(table) => {
            std::iter::once(table.storage).chain(table.indexes.iter().map(|i| i.storage).filter(|s| *s != table.storage)).collect()
        }
        _ => Vec::new(),
    }
}

/// Those of [`storage_of`] that are tables of the store; full text indexes have files of their own.
pub fn store_tables_of(relation: &Relation) -> impl Iterator<Item = TableId> {
    let table = match relation {
        Relation::Table(table) if table.mapping.is_none() => Some(table),
        _ => None,
    };
    let indexes = table.into_iter().flat_map(|t| &t.indexes).filter(|i| !i.is_fulltext()).map(|i| i.storage);
    let own = table.map(|t| t.storage);
    own.into_iter().chain(indexes.filter(move |s| Some(*s) != own))
}

/// What is stored of a database.
#[derive(Default)]
struct Stored {
    schemas: Vec<SchemaDescriptor>,
    relations: Vec<Relation>,
    rights: Vec<(RightsOf, Rights)>,
    defaults: Vec<DefaultPrivileges>,
    dropped: Vec<DroppedTable>,
    /// Under which keys, as they are in the store.
    keys: Vec<Vec<u8>>,
}

/// Reads the catalogs that a store holds, one of each database; makes that of the first in an empty store. Temporary objects go, and so do
/// tables and rows that nothing names.
///
/// # Errors
/// What the store reports; XX001 for rows that cannot be read.
pub(crate) async fn open(store: &Arc<dyn Store>, numbers: Arc<dyn Numbers>) -> PgResult<Vec<CatalogSnapshot>> {
    make_tables(&**store).await?;
    let mut shared = Shared::default();
    let mut stored_roles: Vec<Oid> = Vec::new();
    let mut sequences: Vec<Oid> = Vec::new();
    let mut stored: BTreeMap<Oid, Stored> = BTreeMap::new();
    for (stored_key, value, committed) in rows(&**store).await? {
        let (database, key) = split_stored_key(&stored_key);
        let oid = id_of_key(key);
        let of = stored.entry(database).or_default();
        match (Kind::of(key), oid) {
            (Some(Kind::Schema), Some(_)) => of.schemas.push(decode(&value)?),
            // That of the table of large objects, which is no relation.
            (Some(Kind::Relation), Some(oid)) if oid < FIRST_USER_OID => {}
            (Some(Kind::Relation), Some(_)) => {
                let mut relation = decode(&value)?;
                if let Relation::Table(table) = &mut relation {
                    table.date(committed);
                }
                of.relations.push(relation);
            }
            (Some(Kind::Defaults), _) => of.defaults.push(decode(&value)?),
            (Some(Kind::Dropped), Some(_)) => {
                let mut dropped: DroppedTable = decode(&value)?;
                dropped.table.date(committed);
                of.dropped.push(dropped);
            }
            (Some(Kind::Rights), _) => match rights_of_key(key) {
                Some(RightsOf::Database(oid)) => drop(shared.rights.insert(oid, Arc::new(decode(&value)?))),
                Some(rights) => of.rights.push((rights, decode(&value)?)),
                None => {}
            },
            (Some(Kind::Sequence), Some(oid)) => sequences.push(oid),
            (Some(Kind::Settings), _) => shared.put_settings(decode(&value)?),
            (Some(Kind::Database), Some(_)) => shared.put_database(decode(&value)?),
            (Some(Kind::Role), Some(oid)) => {
                shared.put_role(decode(&value)?);
                stored_roles.push(oid);
            }
            _ => {}
        }
        if database != FIRST_DATABASE {
            of.keys.push(stored_key);
        }
    }
    settle_roles(&**store, &mut shared, &stored_roles).await?;
    super::large_object::remove(&**store, &|database| !shared.databases.contains_key(&database)).await?;
    let shared = Arc::new(shared);
    let mut stale = Mutations::new();
    let mut catalogs = Vec::with_capacity(shared.databases.len());
    for oid in shared.databases.keys() {
        let catalog = CatalogSnapshot::empty(*oid, Arc::clone(&shared), Some(Arc::clone(&numbers)));
        catalogs.push(catalog_of(catalog, stored.remove(oid).unwrap_or_default(), &mut stale));
    }
    // What a process wrote that did not know that the database was dropped.
    for key in stored.into_values().flat_map(|left| left.keys) {
        stale.delete_row(CATALOG_TABLE, &key);
    }
    let dropped = || catalogs.iter().flat_map(|catalog| catalog.dropped().values());
    let kept: HashSet<Oid> = dropped().flat_map(|dropped| dropped.sequences.iter().map(|s| s.oid)).collect();
    for oid in sequences {
        if !kept.contains(&oid) && catalogs.iter().all(|catalog| catalog.relation(oid).is_none()) {
            stale.delete_row(CATALOG_TABLE, &sequence_key(oid));
        }
    }
    if !stale.is_empty() {
        commit(&**store, &stale).await?;
    }
    let of_relations = catalogs.iter().flat_map(|c| c.relations()).flat_map(|r| storage_of(r));
    let named: HashSet<TableId> = of_relations.chain(dropped().flat_map(|dropped| dropped.storage())).collect();
    for table in store.list_tables().await.map_err(store_error)? {
        if ![CATALOG_TABLE, TOKEN_TABLE, FEED_TABLE, LARGE_OBJECT_TABLE].contains(&table.id) && !named.contains(&table.id) {
            store.drop_table(table.id).await.map_err(store_error)?;
        }
    }
    Ok(catalogs)
}

/// The tables that a store has before anybody makes one, and the rows that a first database begins with.
async fn make_tables(store: &dyn Store) -> PgResult<()> {
    if store.describe_table(CATALOG_TABLE).await.map_err(store_error)?.is_none() {
        let family = FamilySchema { id: CATALOG_FAMILY, name: "c".into(), options: FamilyOptions::default() };
        let schema = TableSchema { id: CATALOG_TABLE, name: "catalog".into(), families: vec![family], split_points: Vec::new() };
        store.create_table(&schema).await.map_err(store_error)?;
    }
    if get(store, FORMAT_KEY).await?.is_none() {
        // At once: a start that is interrupted must not leave a database without the schemas that it begins with.
        let mut mutations = Mutations::new();
        mutations.put(CATALOG_TABLE, FORMAT_KEY, CATALOG_FAMILY, &[], &encode(&u32::from(VERSION))?);
        for schema in built_in_schemas() {
            mutations.put(CATALOG_TABLE, &schema_key(schema.oid), CATALOG_FAMILY, &[], &encode(&schema)?);
        }
        commit(store, &mutations).await?;
    }
    if store.describe_table(TOKEN_TABLE).await.map_err(store_error)?.is_none() {
        let options = FamilyOptions { ttl: Some(TOKENS_KEPT), ..FamilyOptions::default() };
        let family = FamilySchema { id: FamilyId(0), name: "c".into(), options };
        let schema = TableSchema { id: TOKEN_TABLE, name: "commit_tokens".into(), families: vec![family], split_points: Vec::new() };
        store.create_table(&schema).await.map_err(store_error)?;
    }
    super::large_object::make_table(store).await
}

/// The roles that there are, of those that are stored and those that are built in.
async fn settle_roles(store: &dyn Store, shared: &mut Shared, stored: &[Oid]) -> PgResult<()> {
    if stored.is_empty() {
        // A new database, or one of a version that knew no roles. From now on they are what is stored.
        let mut mutations = Mutations::new();
        for role in built_in_roles() {
            mutations.put(CATALOG_TABLE, &role_key(role.oid), CATALOG_FAMILY, &[], &encode(&role)?);
        }
        return commit(store, &mutations).await;
    }
    // Predefined roles of a newer version are there all the same; others that are not stored were dropped.
    let dropped = |role: &RoleDescriptor| !stored.contains(&role.oid) && !role.is_predefined();
    let dropped: Vec<Oid> = shared.roles.values().filter(|role| dropped(role)).map(|role| role.oid).collect();
    dropped.into_iter().for_each(|oid| shared.remove_role(oid));
    Ok(())
}

/// The catalog of a database, of what is stored; rows of what is gone are noted to be removed.
fn catalog_of(mut catalog: CatalogSnapshot, mut stored: Stored, stale: &mut Mutations) -> CatalogSnapshot {
    let database = catalog.database();
    for schema in built_in_schemas() {
        if schema.oid != PUBLIC_OID && !stored.schemas.iter().any(|s| s.oid == schema.oid) {
            stored.schemas.push(schema);
        }
    }
    let temporary: HashSet<Oid> = stored.schemas.iter().filter(|s| s.temporary.is_some()).map(|s| s.oid).collect();
    for schema in stored.schemas {
        if temporary.contains(&schema.oid) {
            stale.delete_row(CATALOG_TABLE, &stored_key(database, &schema_key(schema.oid)));
        } else {
            catalog.put_schema(schema);
        }
    }
    for relation in stored.relations {
        if temporary.contains(&relation.schema()) {
            stale.delete_row(CATALOG_TABLE, &stored_key(database, &relation_key(relation.oid())));
        } else {
            catalog.put_relation(relation);
        }
    }
    stored.defaults.into_iter().for_each(|defaults| catalog.authority_mut().put_defaults(defaults));
    stored.dropped.into_iter().for_each(|dropped| catalog.put_dropped(Arc::new(dropped)));
    for (of, rights) in stored.rights {
        // Of temporary objects, for example.
        let gone = match of {
            RightsOf::Relation(oid) => oid >= FIRST_USER_OID && catalog.relation(oid).is_none(),
            RightsOf::Schema(oid) => oid >= FIRST_USER_OID && catalog.schema(oid).is_none(),
            _ => false,
        };
        if gone {
            stale.delete_row(CATALOG_TABLE, &stored_key(database, &rights_key(of)));
        } else {
            catalog.authority_mut().put_rights(of, rights);
        }
    }
    catalog
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use crate::catalog::{DroppedTable, SequenceDescriptor, TableDescriptor};
    use stoa_store::model::ModelStore;

    #[tokio::test]
    async fn ids_are_not_used_twice() {
        let store: Arc<dyn Store> = Arc::new(ModelStore::default());
        let first = crate::Tables::new(Arc::clone(&store)).open_catalog().await.unwrap();
        assert!(first.schema_by_name("public").is_some() && first.schema_by_name("pg_catalog").is_some());
        let mut seen = HashSet::new();
        for _ in 0..3 {
            let catalog = crate::Tables::new(Arc::clone(&store)).open_catalog().await.unwrap();
            for _ in 0..70 {
                assert!(seen.insert(catalog.numbers().unwrap().next_id().await.unwrap()));
            }
        }
        assert!(seen.iter().all(|id| *id >= FIRST_USER_OID));
    }

    #[tokio::test]
    async fn a_promotion_has_the_time_of_the_row_that_was_stored_without_one() {
        let store: Arc<dyn Store> = Arc::new(ModelStore::default());
        crate::Tables::new(Arc::clone(&store)).open_catalog().await.unwrap();
        let int = stoa_pg::SqlType::new(stoa_pg::PgType::Int4);
        let mut table = crate::row::samples::table(&[("id", int)], &[(0, false)], &[(stoa_store::Layout::Packed, &[])]);
        (table.oid, table.storage) = (20_000, TableId(77));
        store.create_table(&crate::row::RowCodec::table_schema(&table)).await.unwrap();
        let column = table.columns.last_mut().unwrap();
        column.promoted = Some(crate::catalog::Promotion { name: "n".into(), map: column.id, at: None });
        let promoted = |catalog: &CatalogSnapshot| catalog.table(20_000).unwrap().columns.last().unwrap().promoted.clone().unwrap().at;
        put(&*store, &relation_key(20_000), &encode_relation(&Relation::Table(table)).unwrap()).await.unwrap();
        let written = store.snapshot().timestamp().micros();
        let first = crate::Tables::new(Arc::clone(&store)).open_catalog().await.unwrap();
        let at = promoted(&first).unwrap();
        assert!(at > 0 && at <= written);
        // What is stored with a time keeps it.
        put(&*store, &relation_key(20_000), &encode_relation(&Relation::Table(first.table(20_000).unwrap().clone())).unwrap())
            .await
            .unwrap();
        let second = crate::Tables::new(Arc::clone(&store)).open_catalog().await.unwrap();
        assert_eq!(promoted(&second), Some(at));
    }

    #[tokio::test]
    async fn tables_that_can_come_back_stay() {
        let store: Arc<dyn Store> = Arc::new(ModelStore::default());
        crate::Tables::new(Arc::clone(&store)).open_catalog().await.unwrap();
        let int = stoa_pg::SqlType::new(stoa_pg::PgType::Int4);
        let table = crate::row::samples::table(&[("id", int)], &[(0, false)], &[(stoa_store::Layout::Packed, &[])]);
        let table = TableDescriptor { oid: 20_000, storage: TableId(77), ..table };
        let entries = vec![TableDescriptor { oid: 20_002, storage: TableId(78), ..table.clone() }];
        for table in entries.iter().chain([&table]) {
            store.create_table(&crate::row::RowCodec::table_schema(table)).await.unwrap();
        }
        let sequence = SequenceDescriptor {
            oid: 20_001,
            schema: PUBLIC_OID,
            name: "s".into(),
            ty: stoa_pg::SqlType::new(stoa_pg::PgType::Int8),
            start: 1,
            increment: 1,
            min: 1,
            max: 9,
            cache: 1,
            cycle: false,
            owned_by: None,
            comment: None,
            temporary: false,
        };
        put(&*store, &sequence_key(20_001), b"state").await.unwrap();
        let dropped = DroppedTable {
            table,
            schema: "public".into(),
            sequences: vec![sequence],
            entries,
            rights: Vec::new(),
            dropped_us: 1,
            kept_until_us: 2,
        };
        put(&*store, &dropped_key(20_000), &encode_dropped(&dropped).unwrap()).await.unwrap();
        let catalog = crate::Tables::new(Arc::clone(&store)).open_catalog().await.unwrap();
        assert_eq!(*catalog.dropped()[&20_000], dropped);
        assert!(catalog.relations().all(|r| r.oid() != 20_000));
        assert!(store.describe_table(TableId(77)).await.unwrap().is_some() && store.describe_table(TableId(78)).await.unwrap().is_some());
        assert!(get(&*store, &sequence_key(20_001)).await.unwrap().is_some());
        // Purged, nothing names them.
        delete(&*store, &dropped_key(20_000)).await.unwrap();
        crate::Tables::new(Arc::clone(&store)).open_catalog().await.unwrap();
        assert!(store.describe_table(TableId(77)).await.unwrap().is_none() && store.describe_table(TableId(78)).await.unwrap().is_none());
        assert!(get(&*store, &sequence_key(20_001)).await.unwrap().is_none());
    }

    #[tokio::test]
    async fn tables_that_nothing_names_go() {
        let store: Arc<dyn Store> = Arc::new(ModelStore::default());
        crate::Tables::new(Arc::clone(&store)).open_catalog().await.unwrap();
        let family = FamilySchema { id: CATALOG_FAMILY, name: "f".into(), options: FamilyOptions::default() };
        let schema = TableSchema { id: TableId(77), name: "x".into(), families: vec![family], split_points: Vec::new() };
        let kept = store.list_tables().await.unwrap();
        store.create_table(&schema).await.unwrap();
        crate::Tables::new(Arc::clone(&store)).open_catalog().await.unwrap();
        assert_eq!(store.list_tables().await.unwrap(), kept);
    }

    #[tokio::test]
    async fn large_objects_go_with_their_database_and_older_versions_do_not_open_them() {
        use crate::catalog::large_object::{LARGE_OBJECT_FAMILY, description_key, page_key};
        let store: Arc<dyn Store> = Arc::new(ModelStore::default());
        crate::Tables::new(Arc::clone(&store)).open_catalog().await.unwrap();
        make_database(&*store, 20_000).await;
        let mut mutations = Mutations::new();
        for database in [FIRST_DATABASE, 20_000, 20_001] {
            for key in [description_key(database, 5), page_key(database, 5, 0), page_key(database, 5, 9)] {
                mutations.put(LARGE_OBJECT_TABLE, &key, LARGE_OBJECT_FAMILY, &[], b"x");
            }
        }
        commit(&*store, &mutations).await.unwrap();
        note_large_objects(&*store).await.unwrap();
        note_large_objects(&*store).await.unwrap();
        // No version knew 9 before there were large objects.
        assert_eq!(get(&*store, &relation_key(LARGE_OBJECT_RELATION)).await.unwrap().unwrap()[0], 9);
        let tables = crate::Tables::new(Arc::clone(&store));
        tables.open_catalog().await.unwrap();
        let left = || async {
            let mut out = Vec::new();
            let mut sink = |key: &[u8], _: &[CellRef<'_>]| {
                out.push((key[0], u32::from_be_bytes(key[1..5].try_into().unwrap())));
                ControlFlow::Continue(())
            };
            let read = crate::txn::large_object::large_object_read(KeyRange::all(), false);
            let mut scan = tables.newest().scan(read).await.unwrap();
            while scan.next_block(100, &mut sink).await.unwrap() {}
            out
        };
        // The third database is not there.
        assert_eq!(left().await, [(0, 1), (0, 20_000), (1, 1), (1, 1), (1, 20_000), (1, 20_000)]);
        tables.remove_large_objects(20_000).await.unwrap();
        assert_eq!(left().await, [(0, 1), (1, 1), (1, 1)]);
    }

    /// As CREATE DATABASE writes them.
    async fn make_database(store: &dyn Store, oid: Oid) {
        let mut mutations = Mutations::new();
        let mut put = |key: &[u8], cell: Vec<u8>| mutations.put(CATALOG_TABLE, key, CATALOG_FAMILY, &[], &cell);
        for schema in built_in_schemas() {
            put(&stored_key(oid, &schema_key(schema.oid)), encode(&schema).unwrap());
        }
        put(&database_key(oid), encode(&super::super::DatabaseDescriptor::new(oid, "d")).unwrap());
        let of = RightsOf::Database(oid);
        put(&rights_key(of), encode_rights(of, &Rights::of(10)).unwrap());
        commit(store, &mutations).await.unwrap();
    }

    #[tokio::test]
    async fn rows_of_databases_that_are_gone_go_at_the_start() {
        let store: Arc<dyn Store> = Arc::new(ModelStore::default());
        crate::Tables::new(Arc::clone(&store)).open_catalog().await.unwrap();
        for oid in [20_000, 20_001] {
            make_database(&*store, oid).await;
        }
        delete(&*store, &database_key(20_000)).await.unwrap();
        let tables = crate::Tables::new(Arc::clone(&store));
        tables.open_catalog().await.unwrap();
        let databases: Vec<Oid> = tables.services().publication().all().iter().map(|catalog| catalog.database()).collect();
        assert_eq!(databases, [FIRST_DATABASE, 20_001]);
        assert!(keys_of_database(&*store, 20_000).await.unwrap().is_empty());
        assert_eq!(keys_of_database(&*store, 20_001).await.unwrap().len(), 3);
        assert!(tables.services().publication().all()[1].schema_by_name("public").is_some());
    }

    #[tokio::test]
    async fn versions_that_know_one_database_do_not_open_several() {
        let store: Arc<dyn Store> = Arc::new(ModelStore::default());
        crate::Tables::new(Arc::clone(&store)).open_catalog().await.unwrap();
        make_database(&*store, 20_000).await;
        // They read rights of whatever kind, and know no version 8.
        let rows = rows(&*store).await.unwrap();
        assert!(rows.iter().any(|(key, cell, _)| Kind::of(key) == Some(Kind::Rights) && cell.first() == Some(&8)));
        let first = RightsOf::Database(FIRST_DATABASE);
        assert_eq!(encode_rights(first, &Rights::of(10)).unwrap()[0], VERSION);
        assert_eq!((rights_of_key(&rights_key(first)), rights_key(first)[2..].to_vec()), (Some(first), vec![0; 4]));
    }
}
