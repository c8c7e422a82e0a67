//! An immutable view of the catalog, pinned per statement.

use super::authority::Authority;
use super::database::Shared;
use super::descriptor::{IndexDescriptor, Oid, Relation, SchemaDescriptor, TableDescriptor, ViewDescriptor};
use super::dropped::DroppedTable;
use super::numbers::Numbers;
use hashbrown::HashMap;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use stoa_store::Timestamp;

/// Everything that exists in a database at one version, and what all databases share. Cloning copies maps of pointers, not descriptors.
#[derive(Clone, Debug, Default)]
pub struct CatalogSnapshot {
    /// Grows with every change that was published, and is the number of no transaction: what `xmin` shows, and `age` compares.
    pub version: u64,
    schemas: HashMap<Oid, Arc<SchemaDescriptor>>,
    schemas_by_name: HashMap<String, Oid>,
    relations: HashMap<Oid, Arc<Relation>>,
    /// The tables among them, for statements to share: what is compiled of a table goes by its pointer.
    tables: HashMap<Oid, Arc<TableDescriptor>>,
    relations_by_name: HashMap<(Oid, String), Oid>,
    /// Index OID → table OID; indexes share the name space of relations.
    indexes: HashMap<Oid, Oid>,
    indexes_by_name: HashMap<(Oid, String), Oid>,
    /// Primary keys likewise: by OID of the constraint, and by name.
    keys: HashMap<Oid, Oid>,
    keys_by_name: HashMap<(Oid, String), Oid>,
    /// Ids and sequences; none in catalogs that were made for tests.
    numbers: Option<Arc<dyn Numbers>>,
    /// Tables by a table that their foreign keys refer to; found when first asked for.
    referencing: OnceLock<HashMap<Oid, Vec<Oid>>>,
    authority: Arc<Authority>,
    /// Tables that were dropped and can come back.
    dropped: Arc<BTreeMap<Oid, Arc<DroppedTable>>>,
    /// Tables, dropped ones too, with what is to get the time of the commit that makes it ([`TableDescriptor::date`]).
    undated: Vec<Oid>,
}

impl CatalogSnapshot {
    /// That of a database with nothing in it, not even a schema.
    pub(super) fn empty(database: Oid, shared: Arc<Shared>, numbers: Option<Arc<dyn Numbers>>) -> Self {
        Self { version: 1, numbers, authority: Arc::new(Authority::of_database(database, shared)), ..Self::default() }
    }

    /// That of a database as CREATE DATABASE makes it.
    pub(crate) fn of_new_database(database: Oid, shared: Arc<Shared>, numbers: Option<Arc<dyn Numbers>>) -> Self {
        let mut out = Self::empty(database, shared, numbers);
        super::store::built_in_schemas().into_iter().for_each(|schema| out.put_schema(schema));
        out
    }

    /// The next version.
    pub fn advance(&mut self) {
        let number = self.numbers.as_ref().map_or(0, |numbers| numbers.next_transaction());
        self.version = number.max(self.version + 1);
    }

    /// The database that it is about.
    #[must_use]
    pub fn database(&self) -> Oid {
        self.authority.this_database()
    }

    /// How that is called.
    #[must_use]
    pub fn database_name(&self) -> &str {
        self.authority.database(self.database()).map_or("", |database| database.name.as_str())
    }

    /// Whether the first of three parts of a name means this database.
    #[must_use]
    pub fn is_this_database(&self, name: &str) -> bool {
        self.authority.database_to_connect_to(name).is_some_and(|database| database.oid == self.database())
    }

    /// Where new objects have their ids from, and sequences their values.
    #[must_use]
    pub fn numbers(&self) -> Option<&Arc<dyn Numbers>> {
        self.numbers.as_ref()
    }

    /// Tables that were dropped and can come back, by OID.
    #[must_use]
    pub fn dropped(&self) -> &BTreeMap<Oid, Arc<DroppedTable>> {
        &self.dropped
    }

    pub fn put_dropped(&mut self, dropped: Arc<DroppedTable>) {
        self.undated.extend(dropped.table.is_undated().then(|| dropped.oid()));
        Arc::make_mut(&mut self.dropped).insert(dropped.oid(), dropped);
    }

    pub fn remove_dropped(&mut self, oid: Oid) -> Option<Arc<DroppedTable>> {
        if self.dropped.contains_key(&oid) { Arc::make_mut(&mut self.dropped).remove(&oid) } else { None }
    }

    /// Roles, owners and privileges.
    #[must_use]
    pub fn authority(&self) -> &Arc<Authority> {
        &self.authority
    }

    /// The same, to be changed.
    pub fn authority_mut(&mut self) -> &mut Authority {
        Arc::make_mut(&mut self.authority)
    }

    /// The tables with foreign keys that refer to this one, by OID.
    #[must_use]
    pub fn referencing(&self, table: Oid) -> &[Oid] {
        let all = self.referencing.get_or_init(|| {
            let mut all: HashMap<Oid, Vec<Oid>> = HashMap::new();
            for child in self.tables.values() {
                for key in &child.foreign_keys {
                    let known = all.entry(key.referenced_table).or_default();
                    if !known.contains(&child.oid) {
                        known.push(child.oid);
                    }
                }
            }
            all
        });
        all.get(&table).map_or(&[], Vec::as_slice)
    }

    /// An index with the table that owns it.
    #[must_use]
    pub fn index(&self, oid: Oid) -> Option<(&TableDescriptor, &IndexDescriptor)> {
        let table = self.table_of_index(oid)?;
        Some((table, table.indexes.iter().find(|i| i.oid == oid)?))
    }

    /// Whether a relation or an index of the schema has this name.
    #[must_use]
    pub fn is_name_taken(&self, schema: Oid, name: &str) -> bool {
        self.relation_by_name(schema, name).is_some()
            || self.index_by_name(schema, name).is_some()
            || self.primary_key_named(schema, name).is_some()
    }

    /// The table of the schema whose primary key has this name: the key is an index to those who look at the catalogs.
    #[must_use]
    pub fn primary_key_named(&self, schema: Oid, name: &str) -> Option<&TableDescriptor> {
        self.table(*self.keys_by_name.get(&(schema, name.to_owned()))?)
    }

    /// The table whose primary key constraint has this OID.
    #[must_use]
    pub fn table_of_key(&self, oid: Oid) -> Option<&TableDescriptor> {
        self.table(*self.keys.get(&oid)?)
    }

    pub fn schemas(&self) -> impl Iterator<Item = &Arc<SchemaDescriptor>> {
        self.schemas.values()
    }

    pub fn relations(&self) -> impl Iterator<Item = &Arc<Relation>> {
        self.relations.values()
    }

    #[must_use]
    pub fn schema(&self, oid: Oid) -> Option<&Arc<SchemaDescriptor>> {
        self.schemas.get(&oid)
    }

    #[must_use]
    pub fn schema_by_name(&self, name: &str) -> Option<&Arc<SchemaDescriptor>> {
        self.schemas.get(self.schemas_by_name.get(name)?)
    }

    #[must_use]
    pub fn relation(&self, oid: Oid) -> Option<&Arc<Relation>> {
        self.relations.get(&oid)
    }

    #[must_use]
    pub fn relation_by_name(&self, schema: Oid, name: &str) -> Option<&Arc<Relation>> {
        // The tuple key needs an owned name; lookups by name happen once a statement.
        self.relations.get(self.relations_by_name.get(&(schema, name.to_owned()))?)
    }

    #[must_use]
    pub fn table(&self, oid: Oid) -> Option<&TableDescriptor> {
        match &**self.relations.get(&oid)? {
            Relation::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The table that says by its policies which rows of a table are seen: of the entries of maps, which have none, that of their rows.
    #[must_use]
    pub fn rows_of<'t>(&'t self, table: &'t TableDescriptor) -> &'t TableDescriptor {
        table.entries_of.and_then(|(of, _)| self.table(of)).unwrap_or(table)
    }

    /// The table, to be kept by a statement.
    #[must_use]
    pub fn shared_table(&self, oid: Oid) -> Option<Arc<TableDescriptor>> {
        self.tables.get(&oid).cloned()
    }

    /// All tables, to be kept by a statement; those that hold the rows of materialized views are among them.
    pub fn shared_tables(&self) -> impl Iterator<Item = &Arc<TableDescriptor>> {
        self.tables.values()
    }

    /// The materialized view whose rows a table holds.
    #[must_use]
    pub fn view_of_rows(&self, table: Oid) -> Option<&ViewDescriptor> {
        if !self.table(table)?.name.starts_with(super::descriptor::STORAGE_PREFIX) {
            return None;
        }
        self.relations.values().find_map(|relation| match &**relation {
            Relation::View(view) if view.materialized == Some(table) => Some(view),
            _ => None,
        })
    }

    /// The table that owns an index.
    #[must_use]
    pub fn table_of_index(&self, index: Oid) -> Option<&TableDescriptor> {
        self.table(*self.indexes.get(&index)?)
    }

    /// The OID of an index by name.
    #[must_use]
    pub fn index_by_name(&self, schema: Oid, name: &str) -> Option<Oid> {
        self.indexes_by_name.get(&(schema, name.to_owned())).copied()
    }

    pub fn put_schema(&mut self, schema: SchemaDescriptor) {
        self.remove_schema(schema.oid);
        self.schemas_by_name.insert(schema.name.clone(), schema.oid);
        self.schemas.insert(schema.oid, Arc::new(schema));
    }

    pub fn remove_schema(&mut self, oid: Oid) {
        if let Some(old) = self.schemas.remove(&oid) {
            self.schemas_by_name.remove(&old.name);
        }
    }

    pub fn put_relation(&mut self, relation: Relation) {
        self.remove_relation(relation.oid());
        let (oid, schema) = (relation.oid(), relation.schema());
        self.relations_by_name.insert((schema, relation.name().to_owned()), oid);
        if let Relation::Table(table) = &relation {
            self.undated.extend(table.is_undated().then_some(oid));
            self.tables.insert(oid, Arc::new(table.clone()));
            if let Some(key) = &table.primary_key {
                self.keys.insert(key.oid, oid);
                self.keys_by_name.insert((schema, key.name.clone()), oid);
            }
            for index in &table.indexes {
                self.indexes.insert(index.oid, oid);
                self.indexes_by_name.insert((schema, index.name.clone()), index.oid);
            }
        }
        self.relations.insert(oid, Arc::new(relation));
    }

    /// Notes when the changes of a transaction were committed.
    pub(crate) fn date(&mut self, committed: Timestamp) {
        for oid in std::mem::take(&mut self.undated) {
            if let Some(Relation::Table(table)) = self.relations.get(&oid).map(|relation| &**relation) {
                let mut table = table.clone();
                table.date(committed);
                self.put_relation(Relation::Table(table));
            }
            if let Some(dropped) = self.dropped.get(&oid) {
                let mut dropped = DroppedTable::clone(dropped);
                dropped.table.date(committed);
                self.put_dropped(Arc::new(dropped));
            }
        }
    }

    pub fn remove_relation(&mut self, oid: Oid) {
        self.referencing.take();
        if let Some(old) = self.relations.remove(&oid) {
            self.relations_by_name.remove(&(old.schema(), old.name().to_owned()));
            self.tables.remove(&oid);
            if let Relation::Table(table) = &*old {
                if let Some(key) = &table.primary_key {
                    self.keys.remove(&key.oid);
                    self.keys_by_name.remove(&(old.schema(), key.name.clone()));
                }
                for index in &table.indexes {
                    self.indexes.remove(&index.oid);
                    self.indexes_by_name.remove(&(old.schema(), index.name.clone()));
                }
            }
        }
    }
}
