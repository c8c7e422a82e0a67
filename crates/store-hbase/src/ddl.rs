//! Making, altering and dropping tables: procedures of HBase's master, and what is known of tables here.
//!
//! All of it runs on the store's own threads and is carried through, though the caller may be gone. An alteration waits until no commit to
//! the table is under way and all are applied, so that nothing in memory is of families that go.

use crate::commit::Core;
use crate::failure::{read_error, write_error};
use crate::keys::{self, LIMITS};
use crate::schema::StoredTable;
use crate::tables::Table;
use bytes::Bytes;
use hashbrown::HashSet;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use stoa_hbase_client::{Error, TableDescriptor, TableName};
use stoa_store::model::check_alteration;
use stoa_store::{Compression, StoreError, StoreResult, TableId, TableSchema};
use tokio::time::Instant;

/// How long is waited until what is committed to a table is in HBase.
const DRAIN: Duration = Duration::from_secs(60);
/// How long a split is tried: a half of a region can be split again once the servers have put its old files away.
const SPLIT: Duration = Duration::from_secs(180);
const SPLIT_PAUSE: Duration = Duration::from_millis(500);
/// Those that servers may lack, beginning with what they lack first.
const CODECS: [Compression; 3] = [Compression::Zstd, Compression::Lz4, Compression::Snappy];

/// A table that is being made.
struct Making<'a> {
    all: &'a Mutex<HashSet<TableId>>,
    id: TableId,
}

impl<'a> Making<'a> {
    /// `None` if somebody else makes it.
    fn begin(all: &'a Mutex<HashSet<TableId>>, id: TableId) -> Option<Making<'a>> {
        all.lock().insert(id).then_some(Making { all, id })
    }
}

impl Drop for Making<'_> {
    fn drop(&mut self) {
        self.all.lock().remove(&self.id);
    }
}

impl Core {
    /// Replaces what is known of tables.
    fn change_tables(&self, id: TableId, table: Option<Arc<Table>>) {
        let mut tables = self.tables.write();
        let mut changed = (**tables).clone();
        match table {
            Some(table) => changed.0.insert(id, table),
            None => changed.0.remove(&id),
        };
        *tables = Arc::new(changed);
    }

    /// The last time that a commit may have.
    fn last_given(&self) -> u64 {
        self.view().tick.0.max(self.last_tick.load(Ordering::Acquire))
    }

    pub async fn create_table(self: Arc<Self>, schema: TableSchema) -> StoreResult<()> {
        schema.check()?;
        let _not_quiet = self.quiet.read().await;
        self.check_owner()?;
        let mut splits: Vec<Vec<u8>> = schema.split_points.iter().filter(|key| !key.is_empty()).cloned().collect();
        splits.iter().try_for_each(|key| LIMITS.check_row_key(key))?;
        splits.sort();
        splits.dedup();
        let id = schema.id;
        let _making =
            Making::begin(&self.making, id).filter(|_| !self.tables().0.contains_key(&id)).ok_or(StoreError::TableExists(id.0))?;
        let stored = StoredTable::new(&schema, None, self.last_given(), 0, self.options.retention);
        let name = stored.table_name(&self.options.namespace)?;
        let splits: Vec<Bytes> = splits.iter().map(|key| keys::to_hbase(key).into_owned().into()).collect();
        self.describe_to_hbase(&stored, &name, Some(&splits)).await?;
        let table = Table::new(&self.client, stored, name.as_str(), Arc::default(), self.last_given())?;
        self.change_tables(id, Some(Arc::new(table)));
        Ok(())
    }

    /// Makes a table as described, parted there, or alters it; without the codecs that the servers lack, which they say when they are asked
    /// for one, each in words of its own.
    async fn describe_to_hbase(&self, stored: &StoredTable, name: &TableName, splits: Option<&[Bytes]>) -> StoreResult<()> {
        let families = stored.schema().families;
        let is_asked_for = |codec: &Compression| families.iter().any(|family| family.options.compression == *codec);
        let mut lacking = self.lacking_codecs.lock().clone();
        let mut left: Vec<Compression> = CODECS.into_iter().filter(|codec| is_asked_for(codec) && !lacking.contains(codec)).collect();
        let mut first = None;
        loop {
            match self.send_descriptor(&stored.descriptor(name, &lacking)?, splits).await {
                Ok(()) => break,
                Err(error) if error.is_exception("DoNotRetryIOException") && !left.is_empty() => {
                    lacking.push(left.remove(0));
                    first.get_or_insert(error);
                }
                Err(error) => return Err(write_error(first.unwrap_or(error))),
            }
        }
        if let Some(error) = first {
            tracing::warn!("the servers lack a codec, tables are made without any of {lacking:?}: {error}");
            *self.lacking_codecs.lock() = lacking;
        }
        Ok(())
    }

    async fn send_descriptor(&self, descriptor: &TableDescriptor, splits: Option<&[Bytes]>) -> Result<(), Error> {
        match splits {
            Some(splits) => self.admin.create_table(descriptor, splits).await,
            None => self.admin.alter_table(descriptor).await,
        }
    }

    pub async fn alter_table(self: Arc<Self>, schema: TableSchema) -> StoreResult<()> {
        schema.check()?;
        let _not_quiet = self.quiet.read().await;
        self.check_owner()?;
        let table = self.table(schema.id)?;
        check_alteration(&table.schema, &schema)?;
        let _gate = Arc::clone(&table.gate).write_owned().await;
        // It may be another one by now.
        let table = self.table(schema.id)?;
        check_alteration(&table.schema, &schema)?;
        self.drain(schema.id).await?;
        let now_us = self.options.clock.now_us().max(self.view().published_us);
        let stored = StoredTable::new(&schema, Some(&table.stored), self.last_given(), now_us, self.options.retention);
        let name = table.handle.name().clone();
        self.describe_to_hbase(&stored, &name, None).await?;
        let altered = Table::new(&self.client, stored, name.as_str(), Arc::clone(&table.gate), self.last_given())?;
        self.change_tables(schema.id, Some(Arc::new(altered)));
        self.window.lock().end_watches(schema.id);
        Ok(())
    }

    pub async fn drop_table(self: Arc<Self>, id: TableId) -> StoreResult<()> {
        let _not_quiet = self.quiet.read().await;
        self.check_owner()?;
        let Ok(table) = self.table(id) else { return Ok(()) };
        let _gate = Arc::clone(&table.gate).write_owned().await;
        let Ok(table) = self.table(id) else { return Ok(()) };
        // What is sent now would come to a table that is made anew.
        self.pending.write().hold(id, true);
        let dropped = match self.until_left(id, |pending| !pending.is_sending(id)).await {
            Ok(()) => match self.admin.drop_table(table.handle.name()).await {
                Err(error) if !error.is_exception("TableNotFoundException") => Err(write_error(error)),
                _ => Ok(()),
            },
            Err(error) => Err(error),
        };
        if dropped.is_ok() {
            self.change_tables(id, None);
            self.pending.write().forget(id);
            self.window.lock().end_watches(id);
        } else {
            self.pending.write().hold(id, false);
        }
        self.room.notify_one();
        self.arrived.notify_one();
        dropped
    }

    /// Waits until HBase has all that is committed to a table now.
    pub async fn drain(&self, id: TableId) -> StoreResult<()> {
        self.pending.write().hurry(id, true);
        self.arrived.notify_one();
        let drained = self.until_left(id, |pending| !pending.has(id)).await;
        self.pending.write().hurry(id, false);
        drained
    }

    async fn until_left(&self, id: TableId, is_so: impl Fn(&crate::pending::Pending) -> bool) -> StoreResult<()> {
        let deadline = Instant::now() + DRAIN;
        loop {
            let left = self.left.notified();
            tokio::pin!(left);
            left.as_mut().enable();
            self.check_owner()?;
            if is_so(&self.pending.read()) {
                return Ok(());
            }
            if tokio::time::timeout_at(deadline, left).await.is_err() {
                return Err(StoreError::Unavailable(format!("HBase does not take what is committed to table {}", id.0)));
            }
        }
    }

    pub async fn flush(self: Arc<Self>, id: TableId) -> StoreResult<()> {
        let table = self.table(id)?;
        self.drain(id).await?;
        self.admin.flush(table.handle.name()).await.map_err(read_error)
    }

    pub async fn compact(self: Arc<Self>, id: TableId) -> StoreResult<()> {
        let table = self.table(id)?;
        self.drain(id).await?;
        let compacted = self.admin.compact(table.handle.name()).await.map_err(read_error);
        table.sizes.lock().forget();
        compacted
    }

    /// Parts a region.
    pub async fn split(self: Arc<Self>, id: TableId, at: Vec<u8>) -> StoreResult<()> {
        LIMITS.check_row_key(&at)?;
        self.change_regions(id, &at, true).await
    }

    /// Makes one region of the two that meet at a key.
    pub async fn unsplit(self: Arc<Self>, id: TableId, at: Vec<u8>) -> StoreResult<()> {
        self.change_regions(id, &at, false).await
    }

    /// Lets a region begin at a key, or none; after a compaction if there are files that are shared with regions of an earlier change.
    async fn change_regions(&self, id: TableId, at: &[u8], begins: bool) -> StoreResult<()> {
        let table = self.table(id)?;
        let name = table.handle.name().clone();
        let key: Bytes = keys::to_hbase(at).into_owned().into();
        let deadline = Instant::now() + SPLIT;
        let mut compacted = false;
        loop {
            let regions = self.admin.regions(&name).await.map_err(read_error)?;
            let there = regions.iter().position(|region| *region.start_key() == key);
            if at.is_empty() || there.is_some() == begins {
                table.sizes.lock().forget();
                return Ok(());
            }
            let changed = match there.and_then(|at| regions.get(at.checked_sub(1)?..=at)) {
                Some(neighbours) => self.admin.merge(neighbours).await,
                None => self.admin.split(&name, &key).await,
            };
            let Err(error) = changed else { continue };
            if Instant::now() > deadline {
                let verb = if begins { "split" } else { "merged" };
                return Err(StoreError::Unavailable(format!("the region cannot be {verb} yet: {error}")));
            }
            if !compacted {
                self.admin.compact(&name).await.map_err(read_error)?;
                compacted = true;
            }
            tokio::time::sleep(SPLIT_PAUSE).await;
        }
    }

    /// Where the regions of a table begin, but the first.
    pub async fn split_points(&self, table: &Table) -> StoreResult<Vec<Vec<u8>>> {
        let regions = self.admin.regions(table.handle.name()).await.map_err(read_error)?;
        let starts = regions.iter().map(|region| keys::from_hbase(region.start_key()).to_vec());
        Ok(starts.filter(|key| !key.is_empty()).collect())
    }
}
