//! The tables of a store: the one way to it from above.

use crate::catalog::store as rows;
use crate::catalog::{CatalogSnapshot, Oid, Relation, large_object};
use crate::failure::store_error;
use crate::row::RowCodec;
use crate::services::{LocalServices, Services};
use std::sync::Arc;
use stoa_pg::PgResult;
use stoa_store::{BulkLoad, Commit, Durability, Extents, KeyRange, Mutations, Store, TableId, TableSchema, Timestamp};

/// A handle on the tables of a store; cheap to clone.
#[derive(Clone, Debug)]
pub struct Tables {
    store: Arc<dyn Store>,
    services: Arc<dyn Services>,
}

/// Entries of an index that is being filled: keys and cells, ascending.
pub type Entries<'a> = &'a [(&'a [u8], &'a [u8])];

impl Tables {
    /// The tables of a store that this process alone has open.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        let services = Arc::new(LocalServices::new(&store));
        Self::with_services(store, services)
    }

    #[must_use]
    pub fn with_services(store: Arc<dyn Store>, services: Arc<dyn Services>) -> Self {
        Self { store, services }
    }

    /// Tables in memory, over the model of a store: for tests.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::new(Arc::new(stoa_store::model::ModelStore::new()))
    }

    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// What those who share the store agree about.
    #[must_use]
    pub fn services(&self) -> &Arc<dyn Services> {
        &self.services
    }

    /// The time of day, in microseconds since 1970 UTC.
    #[must_use]
    pub fn now_us(&self) -> i64 {
        self.services.clock().now_us()
    }

    /// Reads the catalogs that the store holds; makes that of the first database in an empty store. Temporary objects and tables that
    /// nothing names go. They are the published ones from then on; that of the first database comes back.
    ///
    /// # Errors
    /// What the store reports; XX001 for rows that cannot be read.
    pub async fn open_catalog(&self) -> PgResult<Arc<CatalogSnapshot>> {
        let catalogs = rows::open(&self.store, Arc::clone(self.services.numbers())).await?;
        for relation in catalogs.iter().flat_map(CatalogSnapshot::relations) {
            if let Relation::Table(table) = &**relation
                && let (Some(location), None) = (table.location(), &table.mapping)
            {
                self.attach(&RowCodec::table_schema(table), location)?;
            }
        }
        self.services.publication().open(catalogs);
        Ok(self.services.publication().first().newest())
    }

    /// Writes a consistent copy of everything, as of the returned time, into an empty directory.
    ///
    /// # Errors
    /// The store failed.
    pub async fn backup(&self, directory: &std::path::Path) -> PgResult<Timestamp> {
        self.store.backup(directory).await.map_err(store_error)
    }

    /// Counters of the store, for monitoring: name and value.
    #[must_use]
    pub fn metrics(&self) -> Vec<(String, u64)> {
        self.store.metrics()
    }

    // Reading.

    /// The time of the newest commit that is visible.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.store.snapshot().timestamp()
    }

    /// The regions of some tables, and the sizes of some sets of key ranges.
    ///
    /// # Errors
    /// The store failed.
    pub async fn extents(&self, tables: &[TableId], ranges: &[(TableId, &[KeyRange])]) -> PgResult<Extents> {
        self.store.extents(tables, ranges).await.map_err(store_error)
    }

    /// What it costs to go on at another place of a scan, in rows that are read one behind the other.
    #[must_use]
    pub fn seek_cost(&self) -> f64 {
        self.store.seek_cost()
    }

    /// The rows that a table has, approximately.
    ///
    /// # Errors
    /// The store failed.
    pub async fn approximate_rows(&self, table: TableId) -> PgResult<u64> {
        let extents = self.extents(&[table], &[]).await?;
        Ok(extents.regions.iter().flatten().map(|r| r.approximate_rows).sum())
    }

    /// The bytes and rows of a table, approximately.
    ///
    /// # Errors
    /// The store failed.
    pub async fn size(&self, table: TableId) -> PgResult<(u64, u64)> {
        let all = [KeyRange::all()];
        let extents = self.extents(&[], &[(table, &all)]).await?;
        Ok(extents.sizes.first().copied().unwrap_or_default())
    }

    // Definitions: each is durable when the call returns.

    /// Makes a table.
    ///
    /// # Errors
    /// The store failed.
    pub async fn create(&self, schema: &TableSchema) -> PgResult<()> {
        self.store.create_table(schema).await.map_err(store_error)
    }

    /// The families of a table that other programs own, as those of a raw table, and where its regions begin; `None` if there is no such table.
    ///
    /// # Errors
    /// 0A000 for a location that is none, and where the store knows no other; the cluster does not answer.
    pub async fn describe_elsewhere(&self, location: &str) -> PgResult<Option<TableSchema>> {
        self.store.describe_elsewhere(location, crate::catalog::CELLS).await.map_err(store_error)
    }

    /// Lets a table that other programs own be read and written as this one. [`Tables::drop`] lets go of it.
    ///
    /// # Errors
    /// As [`Tables::describe_elsewhere`]; the cluster is not asked.
    pub fn attach(&self, schema: &TableSchema, location: &str) -> PgResult<()> {
        self.store.attach(schema, location).map_err(store_error)
    }

    /// How a table is stored.
    ///
    /// # Errors
    /// The store failed.
    pub async fn describe(&self, table: TableId) -> PgResult<Option<TableSchema>> {
        self.store.describe_table(table).await.map_err(store_error)
    }

    /// Gives a table these families and options: new families are empty, those left out are removed.
    ///
    /// # Errors
    /// The store failed.
    pub async fn alter(&self, schema: &TableSchema) -> PgResult<()> {
        self.store.alter_table(schema).await.map_err(store_error)
    }

    /// Lets regions of a table begin at these keys, and no longer at those, where it is not so already: a store whose regions are moved for it
    /// takes its time.
    ///
    /// # Errors
    /// The store failed, or cannot part or join regions now.
    pub async fn change_splits(&self, table: TableId, added: &[Vec<u8>], removed: &[Vec<u8>]) -> PgResult<()> {
        for at in added {
            self.store.split(table, at).await.map_err(store_error)?;
        }
        for at in removed {
            self.store.unsplit(table, at).await.map_err(store_error)?;
        }
        Ok(())
    }

    /// Removes a table. What cannot be removed now is when the database is opened the next time.
    pub async fn drop(&self, table: TableId) {
        if let Err(error) = self.store.drop_table(table).await {
            tracing::warn!(%error, table = table.0, "a table of the store could not be removed");
        }
    }

    /// Writes what a table has in memory to files.
    ///
    /// # Errors
    /// The store failed.
    pub async fn flush(&self, table: TableId) -> PgResult<()> {
        self.store.flush(table).await.map_err(store_error)
    }

    /// Rewrites a table's files without what is deleted, expired or replaced.
    ///
    /// # Errors
    /// The store failed.
    pub async fn compact(&self, table: TableId) -> PgResult<()> {
        self.store.compact(table).await.map_err(store_error)
    }

    // Writing past transactions.

    /// Writes rows that nobody else can see or write yet. They are on stable storage with the next commit that is.
    ///
    /// # Errors
    /// The store failed.
    pub async fn write(&self, mutations: &Mutations) -> PgResult<()> {
        let commit = Commit { mutations, snapshot: None, validate: &[], durability: Durability::Relaxed };
        self.store.commit(commit).await.map(|_| ()).map_err(store_error)
    }

    /// Writes entries of rows as they were at a time, where no entry was written since. The positions of the others come back: what is
    /// newer stays. `shared`: rows that are not one and the same may have the same entry, so that it matters to each what the others do.
    ///
    /// # Errors
    /// The store failed.
    pub async fn backfill(&self, table: TableId, entries: Entries<'_>, at: Timestamp, shared: bool) -> PgResult<Vec<usize>> {
        let family = crate::row::INDEX_FAMILY;
        let newer = if shared {
            stoa_store::backfill::by_commits(&*self.store, table, family, entries, at).await
        } else {
            self.store.backfill(table, family, entries, at).await
        };
        newer.map_err(store_error)
    }

    /// Starts a load of sorted rows into some tables, which becomes visible at its end.
    ///
    /// # Errors
    /// The store failed.
    pub async fn load(&self, tables: &[TableId]) -> PgResult<Load> {
        Ok(Load(self.store.bulk_load(tables).await.map_err(store_error)?))
    }

    /// Removes the large objects of a database that was dropped.
    ///
    /// # Errors
    /// The store failed.
    pub async fn remove_large_objects(&self, database: Oid) -> PgResult<()> {
        large_object::remove(&*self.store, &|other| other == database).await
    }

    // What the engine keeps about tables, beside the catalog: a small value by its key.

    /// The value of a key.
    ///
    /// # Errors
    /// The store failed.
    pub async fn note(&self, key: &[u8]) -> PgResult<Option<Vec<u8>>> {
        rows::get(&*self.store, key).await
    }

    /// All keys and values, the catalog's own among them.
    ///
    /// # Errors
    /// The store failed.
    pub async fn notes(&self) -> PgResult<Vec<(Vec<u8>, Vec<u8>)>> {
        Ok(rows::rows(&*self.store).await?.into_iter().map(|(key, value, _)| (key, value)).collect())
    }

    /// Sets the value of a key.
    ///
    /// # Errors
    /// The store failed.
    pub async fn put_note(&self, key: &[u8], value: &[u8]) -> PgResult<()> {
        rows::put(&*self.store, key, value).await
    }

    /// Removes a key.
    ///
    /// # Errors
    /// The store failed.
    pub async fn delete_note(&self, key: &[u8]) -> PgResult<()> {
        rows::delete(&*self.store, key).await
    }
}

/// A load of sorted rows.
pub struct Load(Box<dyn BulkLoad>);

impl Load {
    /// Sets an entry; a table comes once, its keys ascend.
    ///
    /// # Errors
    /// The store failed; the load is unusable then.
    pub fn entry(&mut self, table: TableId, key: &[u8], cell: &[u8]) -> PgResult<()> {
        self.0.put(table, key, crate::row::INDEX_FAMILY, &[], cell).map_err(store_error)
    }

    /// Waits until the store has room for more, if it has none.
    ///
    /// # Errors
    /// The store failed; the load is unusable then.
    pub async fn make_room(&mut self) -> PgResult<()> {
        if self.0.is_full() { self.0.drain().await.map_err(store_error) } else { Ok(()) }
    }

    /// Makes all of it visible and durable.
    ///
    /// # Errors
    /// The store failed; nothing is visible then.
    pub async fn finish(self) -> PgResult<()> {
        self.0.finish().await.map(|_| ()).map_err(store_error)
    }
}
