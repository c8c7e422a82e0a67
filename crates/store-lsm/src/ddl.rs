//! Changes of schemas, on the commit thread.
//!
//! Making a table writes its record and, only if a new class of options appears, makes a RocksDB column family. Dropping
//! one removes the record; the entries follow when no view can see them ([`crate::purge`]). A family whose physical form or
//! class changes is copied under a new storage id.

use crate::commit::{Committer, Core};
use crate::database::{ColumnFamily, read_error};
use crate::iterator::{IteratorOptions, OwnedIterator};
use crate::keys::{Form, STORAGE_ID_BYTES, TIMESTAMP_BYTES, VALUE_DELETED, VALUE_PUT, VersionedKey, inverted, push_escaped};
use crate::keys::{push_unescaped, storage_bounds};
use crate::metadata::{Kept, NEXT_STORAGE_KEY, StoredTable, load_key, purge_key, table_key};
use crate::options::OptionClass;
use crate::purge::Purge;
use crate::retention::Rule;
use crate::sorted_files::SortedFiles;
use crate::traffic::TableTraffic;
use crate::view::{Family, Table, Tables};
use parking_lot::Mutex;
use rocksdb::WriteBatch;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use stoa_store::model::{check_alteration, stays_expired};
use stoa_store::{FamilyOptions, FamilySchema, KeyRange, StoreError, StoreResult, TableId, TableSchema, Timestamp};

impl Core {
    /// The column family of a class of options, made if there is none.
    pub fn column_family(&self, class: OptionClass) -> StoreResult<Arc<ColumnFamily>> {
        let mut column_families = self.column_families.lock();
        if let Some(column_family) = column_families.get(&class) {
            return Ok(Arc::clone(column_family));
        }
        let (db, name) = (&self.database.db, class.name());
        if db.cf_handle(&name).is_none() {
            db.create_cf(&name, &self.shared.family_options(&class)).map_err(read_error)?;
        }
        let column_family = ColumnFamily::open(&self.database, class)
            .ok_or_else(|| StoreError::Corruption(format!("column family {name} can't be opened")))?;
        column_family.find_deletions()?;
        let column_family = Arc::new(column_family);
        column_families.insert(class, Arc::clone(&column_family));
        Ok(column_family)
    }

    /// A table from its record.
    pub fn table(&self, stored: &StoredTable, last_change: Timestamp) -> StoreResult<Table> {
        let mut families = Vec::with_capacity(stored.schema.families.len());
        let pasts = stored.since.iter().zip(&stored.kept).zip(&stored.expired_us);
        for ((family, storage), ((since, kept), expired_us)) in stored.schema.families.iter().zip(&stored.storages).zip(pasts) {
            families.push(Family {
                id: family.id,
                storage: *storage,
                since: *since,
                kept: kept.clone(),
                form: Form::of(&family.options),
                options: family.options.clone(),
                ttl_us: family.options.ttl.map(|ttl| u64::try_from(ttl.as_micros()).unwrap_or(u64::MAX)),
                expired_us: *expired_us,
                column_family: self.column_family(OptionClass::of(&family.options))?,
            });
        }
        let last_change = AtomicU64::new(last_change.0);
        Ok(Table {
            schema: stored.schema.clone(),
            families,
            altered: Timestamp::default(),
            last_change,
            size_splits: Mutex::default(),
            density: Mutex::default(),
            counted: Mutex::default(),
            traffic: TableTraffic::new(&stored.schema.split_points, self.options.clock.now_us()),
        })
    }

    /// Lets compactions know the rules of all tables.
    pub fn share_rules(&self, tables: &Tables) {
        let mut rules = HashMap::new();
        for table in tables.map.values() {
            for Family { storage, options, ttl_us, expired_us, .. } in &table.families {
                let (versions, min_versions) = (options.versions, options.min_versions);
                let rule = Rule { versions, min_versions, ttl_us: *ttl_us, expired_us: *expired_us, since: table.altered };
                rules.insert(*storage, rule);
            }
        }
        *self.shared.retention.rules.write() = Arc::new(rules);
        *self.shared.retention.loads.write() = Arc::clone(&tables.loads);
    }
}

impl Committer {
    pub fn create_table(&mut self, schema: &TableSchema) -> StoreResult<()> {
        schema.check()?;
        if self.tables.map.contains_key(&schema.id) {
            return Err(StoreError::TableExists(schema.id.0));
        }
        let storages = schema.families.iter().map(|_| self.take_storage()).collect::<StoreResult<Vec<_>>>()?;
        // Of a time before it says nothing, least of all that there were no rows: it may stand for a table that was written anew.
        let now_us = self.now_us();
        let since = vec![self.tick(now_us); storages.len()];
        let kept = vec![Vec::new(); storages.len()];
        let expired_us = vec![0; storages.len()];
        let stored = StoredTable { schema: with_sorted_splits(schema), storages, since, kept, expired_us };
        let table = self.core.table(&stored, Timestamp::default())?;
        let mut batch = WriteBatch::default();
        batch.put(NEXT_STORAGE_KEY, self.next_storage.to_be_bytes());
        batch.put(table_key(schema.id), stored.encode());
        self.write_metadata(batch)?;
        self.replace_table(schema.id, Some(table));
        Ok(())
    }

    pub fn alter_table(&mut self, schema: &TableSchema) -> StoreResult<()> {
        schema.check()?;
        let old = self.existing(schema.id)?;
        check_alteration(&old.schema, schema)?;
        let mut batch = WriteBatch::default();
        let mut storages = Vec::new();
        let mut copies = Vec::new();
        for family in &schema.families {
            let before = old.families.iter().find(|f| f.id == family.id);
            let class = OptionClass::of(&family.options);
            match before {
                Some(before) if before.column_family.class == class => storages.push(before.storage),
                _ => {
                    let storage = self.take_storage()?;
                    storages.push(storage);
                    copies.extend(before.map(|before| (before, storage, class)));
                }
            }
        }
        if !copies.is_empty() {
            // A crash on the way leaves marks that make the next start remove what was copied.
            let mut intent = WriteBatch::default();
            intent.put(NEXT_STORAGE_KEY, self.next_storage.to_be_bytes());
            for (_, storage, class) in &copies {
                intent.put(purge_key(*storage), class.name());
                batch.delete(purge_key(*storage));
            }
            self.write_metadata(intent)?;
            for (before, storage, class) in copies {
                self.copy_family(before, storage, class)?;
            }
        }
        let removed: Vec<_> = old.families.iter().filter(|f| !storages.contains(&f.storage)).collect();
        for family in &removed {
            batch.put(purge_key(family.storage), family.column_family.class.name());
        }
        let now_us = self.now_us();
        let now = self.tick(now_us);
        let last_change = Timestamp(old.last_change.load(Ordering::Acquire));
        let past = |family: &FamilySchema| {
            let before = old.families.iter().find(|before| before.id == family.id);
            before.map_or_else(Default::default, |before| {
                let gone = before.expired_us.max(stays_expired(&before.options, &family.options, now_us));
                (past_after(before, &family.options, now, last_change), gone)
            })
        };
        let ((since, kept), expired_us): ((_, _), Vec<u64>) = schema.families.iter().map(past).unzip();
        let stored = StoredTable { schema: with_sorted_splits(schema), storages, since, kept, expired_us };
        let mut table = Table { altered: now, ..self.core.table(&stored, last_change)? };
        if table.schema.split_points == old.schema.split_points {
            table.traffic = Arc::clone(&old.traffic);
        }
        batch.put(NEXT_STORAGE_KEY, self.next_storage.to_be_bytes());
        batch.put(table_key(schema.id), stored.encode());
        self.write_metadata(batch)?;
        self.replace_table(schema.id, Some(table));
        self.purge_later(removed);
        Ok(())
    }

    pub fn drop_table(&mut self, id: TableId) -> StoreResult<()> {
        let Some(old) = self.tables.map.get(&id).map(Arc::clone) else { return Ok(()) };
        let mut batch = WriteBatch::default();
        batch.delete(table_key(id));
        for family in &old.families {
            batch.put(purge_key(family.storage), family.column_family.class.name());
        }
        self.write_metadata(batch)?;
        self.replace_table(id, None);
        self.purge_later(&old.families);
        Ok(())
    }

    pub fn change_splits(&mut self, id: TableId, change: impl FnOnce(&mut Vec<Vec<u8>>)) -> StoreResult<()> {
        let old = self.existing(id)?;
        let mut schema = old.schema.clone();
        change(&mut schema.split_points);
        self.alter_table(&schema)
    }

    pub fn existing(&self, id: TableId) -> StoreResult<Arc<Table>> {
        self.tables.map.get(&id).map(Arc::clone).ok_or(StoreError::NoSuchTable(id.0))
    }

    fn take_storage(&mut self) -> StoreResult<u32> {
        let storage = self.next_storage;
        self.next_storage = storage.checked_add(1).ok_or_else(|| StoreError::Invalid("no storage id is left".into()))?;
        Ok(storage)
    }

    fn replace_table(&mut self, id: TableId, table: Option<Table>) {
        let mut tables = Tables::clone(&self.tables);
        match table {
            Some(table) => tables.map.insert(id, Arc::new(table)),
            None => tables.map.remove(&id),
        };
        self.tables = Arc::new(tables);
        self.core.share_rules(&self.tables);
        self.publish();
        // From here on none is made over the table as it was.
        let mut window = self.core.window.lock();
        window.end_watches(id);
        self.core.range_cache.range_changed(id, &KeyRange::all(), Timestamp::default());
    }

    fn purge_later<'a>(&self, families: impl IntoIterator<Item = &'a Family>) {
        let seen_by = self.core.view().number - 1;
        let purge = |family: &Family| Purge { storage: family.storage, class: family.column_family.class, seen_by };
        self.core.janitor.add(families.into_iter().map(purge));
    }

    /// Records how the timestamps of a load read, or that all loads of a table are forgotten.
    pub fn add_loads(&mut self, added: impl Iterator<Item = (Timestamp, Timestamp)>) {
        let mut tables = Tables::clone(&self.tables);
        let mut loads = crate::view::Loads::clone(&tables.loads);
        loads.extend(added);
        tables.loads = Arc::new(loads);
        self.tables = Arc::new(tables);
        self.core.share_rules(&self.tables);
    }

    pub fn forget_loads(&mut self, begins: impl Iterator<Item = Timestamp>) -> StoreResult<()> {
        let mut batch = WriteBatch::default();
        begins.for_each(|begin| batch.delete(load_key(begin)));
        self.write_metadata(batch)
    }

    /// Copies a family into another class of options: all versions of it, if both have some.
    fn copy_family(&mut self, from: &Family, storage: u32, class: OptionClass) -> StoreResult<()> {
        let column_family = self.core.column_family(class)?;
        let mut files = SortedFiles::new(&self.core, class, format!("alter-{storage}"))?;
        let options = IteratorOptions {
            bounds: Some(storage_bounds(from.storage)),
            total_order: true,
            keep_cache: true,
            readahead: 2 << 20,
            ..IteratorOptions::default()
        };
        let mut iterator = OwnedIterator::new(&from.column_family, options);
        let (mut key, mut value) = (Vec::new(), Vec::new());
        let mut last_row = None::<Vec<u8>>;
        iterator.seek_to_first();
        while iterator.check()? {
            let (from_key, from_value) = iterator.item().unwrap_or_default();
            key.clear();
            key.extend_from_slice(&storage.to_be_bytes());
            let rest = from_key.get(STORAGE_ID_BYTES..).unwrap_or_default();
            let mut keep = true;
            match (from.form, class.form) {
                (Form::Plain, Form::PackedVersions) => {
                    let damaged = || StoreError::Corruption(format!("an entry of storage {} can't be read", from.storage));
                    let (stamp, bytes) = from_value.split_first_chunk::<TIMESTAMP_BYTES>().ok_or_else(damaged)?;
                    push_escaped(&mut key, rest);
                    key.extend_from_slice(&inverted(Timestamp(u64::from_be_bytes(*stamp))));
                    value.clear();
                    value.push(VALUE_PUT);
                    value.extend_from_slice(bytes);
                }
                (Form::PackedVersions, Form::Plain) => {
                    let damaged = || StoreError::Corruption(format!("an entry of storage {} can't be read", from.storage));
                    let parsed = VersionedKey::parse(from_key, from.form).ok_or_else(damaged)?;
                    let (kind, bytes) = from_value.split_first().ok_or_else(damaged)?;
                    // The newest version comes first.
                    keep = last_row.as_deref() != Some(parsed.row) && *kind != VALUE_DELETED;
                    if last_row.as_deref() != Some(parsed.row) {
                        last_row = Some(parsed.row.to_vec());
                    }
                    push_unescaped(&mut key, parsed.row.get(STORAGE_ID_BYTES..).unwrap_or_default());
                    value.clear();
                    value.extend_from_slice(&parsed.timestamp.0.to_be_bytes());
                    value.extend_from_slice(bytes);
                }
                _ => {
                    key.extend_from_slice(rest);
                    value.clear();
                    value.extend_from_slice(from_value);
                }
            }
            if keep {
                files.add(&key, &value)?;
            }
            iterator.next();
        }
        files.finish()?.ingest(&column_family)
    }
}

/// How many [`Kept`]s a family has at most.
const MOST_KEPT: usize = 4;

/// What is known of a family's past once it has other options: since when it is known as they say, and what was kept before they did.
fn past_after(before: &Family, options: &FamilyOptions, now: Timestamp, last_change: Timestamp) -> (Timestamp, Vec<Kept>) {
    if before.options.versions == 1 || before.form != Form::of(options) {
        // Deletions, or all but the newest versions, are not there.
        return (last_change, Vec::new());
    }
    // What was older than a shorter ttl has gone, or goes while nobody looks.
    let aged = before.ttl_us.filter(|_| options.ttl.is_none_or(|new| before.options.ttl.is_some_and(|ttl| new > ttl)));
    let since = before.since.max(aged.map_or(Timestamp::default(), |ttl| Timestamp::from_micros(now.micros().saturating_sub(ttl))));
    let mut kept = before.kept.clone();
    kept.push(Kept { until: now, versions: before.options.versions });
    // What is no less than is kept from now on says nothing.
    kept.retain(|kept| kept.versions < options.versions && kept.until > since);
    if kept.len() > MOST_KEPT
        && let Some(until) = kept.get(1).map(|second| second.until)
        && let Some(first) = kept.first_mut()
    {
        first.until = until;
        kept.remove(1);
    }
    (since, kept)
}

fn with_sorted_splits(schema: &TableSchema) -> TableSchema {
    let mut schema = schema.clone();
    schema.split_points.sort();
    schema.split_points.dedup();
    schema.split_points.retain(|point| !point.is_empty());
    schema
}
