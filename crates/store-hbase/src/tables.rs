//! The tables of a store: what is known of them in memory.
//!
//! Invariant: a [`Table`] never changes; altering it makes another one. Whoever writes a table holds its gate from before the commit is
//! encoded until it is published; whoever alters or drops it waits at the gate for those, and holds others up meanwhile.

use crate::keys;
use crate::schema::StoredTable;
use bytes::Bytes;
use hashbrown::HashMap;
use parking_lot::Mutex;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use stoa_hbase_client::{Client, Table as HbaseTable};
use stoa_store::{FamilyId, FamilyOptions, Layout, StoreError, StoreResult, TableId, TableSchema};
use tokio::sync::RwLock;

/// The qualifier of the one cell of a packed family.
pub(crate) const PACKED: &[u8] = b"p";

#[derive(Debug)]
pub(crate) struct Family {
    pub id: FamilyId,
    /// Its name in HBase.
    pub hbase: Bytes,
    /// Commits up to this time are none of its own.
    pub since: u64,
    pub options: FamilyOptions,
    pub ttl_us: Option<u64>,
    /// See [`crate::schema::StoredFamily::expired_us`].
    pub expired_us: u64,
}

impl Family {
    pub fn is_packed(&self) -> bool {
        self.options.layout == Layout::Packed
    }

    /// The microsecond up to which all has expired for who reads at a time of day.
    pub fn expired_us(&self, taken_us: u64) -> u64 {
        let aged = self.ttl_us.filter(|_| self.options.min_versions == 0).map(|ttl| taken_us.saturating_sub(ttl));
        aged.unwrap_or(0).max(self.expired_us)
    }

    /// Whether a put says with a marker when what it replaces ended. Where old versions are kept by number, or go by age, nothing ends.
    pub fn marks_what_is_replaced(&self) -> bool {
        self.options.versions == 1 && self.options.ttl.is_none()
    }

    /// The qualifier in HBase of one of ours.
    pub fn to_hbase<'a>(&self, qualifier: &'a [u8]) -> Cow<'a, [u8]> {
        if self.is_packed() { Cow::Borrowed(PACKED) } else { keys::to_hbase(qualifier) }
    }
}

#[derive(Debug)]
pub(crate) struct Table {
    pub schema: TableSchema,
    pub stored: StoredTable,
    pub families: Vec<Family>,
    /// In HBase.
    pub handle: HbaseTable,
    pub gate: Arc<RwLock<()>>,
    /// At or above the time of the last commit that wrote it.
    pub last_change: AtomicU64,
    pub sizes: Mutex<crate::sizes::Known>,
}

impl Table {
    /// `gate`: of the table that this one takes the place of.
    ///
    /// # Errors
    /// [`StoreError::Invalid`].
    pub fn new(client: &Client, stored: StoredTable, name: &str, gate: Arc<RwLock<()>>, last_change: u64) -> StoreResult<Table> {
        let schema = stored.schema();
        let families = schema.families.iter().zip(&stored.families).map(|(family, stored)| Family {
            id: family.id,
            hbase: Bytes::copy_from_slice(stored.hbase.as_bytes()),
            since: stored.since,
            options: family.options.clone(),
            ttl_us: family.options.ttl.map(|ttl| u64::try_from(ttl.as_micros()).unwrap_or(u64::MAX)),
            expired_us: stored.expired_us,
        });
        Ok(Table {
            families: families.collect(),
            handle: client.table(name).map_err(crate::failure::read_error)?,
            gate,
            last_change: AtomicU64::new(last_change),
            sizes: Mutex::default(),
            schema,
            stored,
        })
    }

    pub fn id(&self) -> TableId {
        self.schema.id
    }

    /// # Errors
    /// [`StoreError::Invalid`] if it has none of this number.
    pub fn family(&self, id: FamilyId) -> StoreResult<&Family> {
        let missing = || StoreError::Invalid(format!("table {} has no family {}", self.schema.id.0, id.0));
        self.families.iter().find(|family| family.id == id).ok_or_else(missing)
    }
}

/// All tables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tables(pub HashMap<TableId, Arc<Table>>);

impl Tables {
    /// # Errors
    /// [`StoreError::NoSuchTable`].
    pub fn existing(&self, id: TableId) -> StoreResult<&Arc<Table>> {
        self.0.get(&id).ok_or(StoreError::NoSuchTable(id.0))
    }

    /// Whether this is what the table is now.
    pub fn has(&self, table: &Arc<Table>) -> bool {
        self.0.get(&table.id()).is_some_and(|now| Arc::ptr_eq(now, table))
    }
}
