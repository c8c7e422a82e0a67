//! The transactions of a database: what they share, some of it with those of the other databases of the store.

use super::advisory::AdvisoryLocks;
use super::spill_space::SpillSpace;
use super::transaction::{Isolation, Transaction};
use crate::catalog::{CatalogSnapshot, FIRST_DATABASE, Oid};
use crate::feed::Feed;
use crate::services::locks::{GroupId, Locks};
use crate::services::{Published, Serializability, Services};
use crate::tables::Tables;
use parking_lot::{Mutex, RwLock};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;
use stoa_store::{Durability, Store};

/// How a transaction begins.
#[derive(Clone, Debug)]
pub struct TxnOptions {
    /// The session, by its process number.
    pub group: GroupId,
    pub isolation: Isolation,
    pub read_only: bool,
    pub lock_timeout: Option<Duration>,
    /// `None`: the lock manager's own.
    pub deadlock_timeout: Option<Duration>,
    pub durability: Durability,
}

impl TxnOptions {
    #[must_use]
    pub fn new(group: GroupId) -> Self {
        Self {
            group,
            isolation: Isolation::default(),
            read_only: false,
            lock_timeout: None,
            deadlock_timeout: None,
            durability: Durability::default(),
        }
    }
}

/// See the module.
#[derive(Debug)]
pub struct Transactions {
    database: Oid,
    catalog: Arc<dyn Published>,
    shared: Arc<SharedByAll>,
}

/// What transactions share, of whichever database.
#[derive(Debug)]
struct SharedByAll {
    tables: Tables,
    feed: Arc<Feed>,
    max_transaction_bytes: AtomicU64,
    spill_space: RwLock<Arc<SpillSpace>>,
    /// Transactions by the numbers that they began with: those that run, and those that sessions keep for the next.
    known: Mutex<BTreeMap<u64, Weak<Transaction>>>,
    /// Whether the catalog says that there are large objects.
    noted_large_objects: AtomicBool,
    /// Advisory locks of the sessions that used any.
    advisory: Mutex<BTreeMap<GroupId, Arc<AdvisoryLocks>>>,
}

/// What one transaction may write, unless told otherwise.
const MAX_TRANSACTION_BYTES: u64 = 64 << 30;

impl Transactions {
    /// Those of the first database.
    #[must_use]
    pub fn new(tables: &Tables) -> Arc<Self> {
        let shared = SharedByAll {
            feed: Feed::new(Arc::clone(tables.store())),
            tables: tables.clone(),
            max_transaction_bytes: AtomicU64::new(MAX_TRANSACTION_BYTES),
            spill_space: RwLock::default(),
            known: Mutex::default(),
            noted_large_objects: AtomicBool::new(false),
            advisory: Mutex::default(),
        };
        let catalog = tables.services().publication().first();
        Arc::new(Self { database: FIRST_DATABASE, catalog, shared: Arc::new(shared) })
    }

    /// Those of another database of the same store, if there is such a one.
    #[must_use]
    pub fn of_database(&self, database: Oid) -> Option<Arc<Self>> {
        let catalog = self.services().publication().of(database)?;
        Some(Arc::new(Self { database, catalog, shared: Arc::clone(&self.shared) }))
    }

    /// The database whose catalog the transactions see.
    #[must_use]
    pub fn database(&self) -> Oid {
        self.database
    }

    /// The advisory locks of a session.
    #[must_use]
    pub fn advisory(&self, group: GroupId) -> Arc<AdvisoryLocks> {
        let mut sessions = self.shared.advisory.lock();
        Arc::clone(sessions.entry(group).or_insert_with(|| Arc::new(AdvisoryLocks::new(Arc::clone(self.services()), self.database, group))))
    }

    /// A session has ended: its advisory locks are given up.
    pub fn end_session(&self, group: GroupId) {
        if let Some(locks) = self.shared.advisory.lock().remove(&group) {
            locks.end_session();
        }
    }

    #[must_use]
    pub fn begin(self: &Arc<Self>, options: TxnOptions) -> Arc<Transaction> {
        let id = self.next_id();
        let txn = Arc::new(Transaction::new(id, Arc::clone(self), options));
        self.shared.known.lock().insert(id, Arc::downgrade(&txn));
        txn
    }

    pub(super) fn next_id(&self) -> u64 {
        self.services().numbers().next_transaction()
    }

    /// The tables that the transactions read and write.
    #[must_use]
    pub fn tables(&self) -> &Tables {
        &self.shared.tables
    }

    pub fn store(&self) -> &Arc<dyn Store> {
        self.shared.tables.store()
    }

    pub(super) fn services(&self) -> &Arc<dyn Services> {
        self.shared.tables.services()
    }

    /// What tells derived structures of changes.
    #[must_use]
    pub fn feed(&self) -> &Arc<Feed> {
        &self.shared.feed
    }

    #[must_use]
    pub fn locks(&self) -> &dyn Locks {
        self.services().locks()
    }

    pub(super) fn serializable(&self) -> &dyn Serializability {
        self.services().serializable()
    }

    /// The newest committed catalog of the database.
    #[must_use]
    pub fn published_catalog(&self) -> Arc<CatalogSnapshot> {
        self.catalog.newest()
    }

    /// Whether this is [`Transactions::published_catalog`].
    pub(super) fn is_newest(&self, catalog: &Arc<CatalogSnapshot>) -> bool {
        self.catalog.is_newest(catalog)
    }

    /// The newest catalog that has a relation, of whichever database.
    #[must_use]
    pub fn catalog_with(&self, relation: Oid) -> Option<Arc<CatalogSnapshot>> {
        let own = self.published_catalog();
        if own.relation(relation).is_some() {
            return Some(own);
        }
        self.services().publication().all().into_iter().find(|catalog| catalog.relation(relation).is_some())
    }

    pub(super) fn noted_large_objects(&self) -> &AtomicBool {
        &self.shared.noted_large_objects
    }

    /// Sets what one transaction may write, in bytes.
    pub fn set_max_transaction_bytes(&self, bytes: u64) {
        self.shared.max_transaction_bytes.store(bytes, Ordering::Relaxed);
    }

    /// Where write sets have their memory and their files from.
    pub fn set_spill_space(&self, space: SpillSpace) {
        *self.shared.spill_space.write() = Arc::new(space);
    }

    pub fn spill_space(&self) -> Arc<SpillSpace> {
        Arc::clone(&self.shared.spill_space.read())
    }

    pub(super) fn max_transaction_bytes(&self) -> usize {
        usize::try_from(self.shared.max_transaction_bytes.load(Ordering::Relaxed)).unwrap_or(usize::MAX)
    }

    /// The running transactions: whose they are, and their ids.
    #[must_use]
    pub fn running(&self) -> Vec<(GroupId, u64)> {
        // The last holder of a transaction must not be here: its end takes the lock.
        let known: Vec<Arc<Transaction>> = self.shared.known.lock().values().filter_map(Weak::upgrade).collect();
        known.iter().filter(|txn| txn.is_running()).map(|txn| (txn.group(), txn.id())).collect()
    }

    /// As [`Transactions::running`], with whether each has done something that others would have to know it by.
    #[must_use]
    pub fn running_and_assigned(&self) -> Vec<(GroupId, u64, bool)> {
        let known: Vec<Arc<Transaction>> = self.shared.known.lock().values().filter_map(Weak::upgrade).collect();
        known.iter().filter(|txn| txn.is_running()).map(|txn| (txn.group(), txn.id(), txn.is_id_assigned())).collect()
    }

    /// The running transaction with this id of a session.
    pub(super) fn running_as(&self, group: GroupId, id: u64) -> Option<Arc<Transaction>> {
        let known: Vec<Arc<Transaction>> = self.shared.known.lock().values().filter_map(Weak::upgrade).collect();
        known.into_iter().find(|txn| txn.group() == group && txn.id() == id && txn.is_running())
    }

    /// A transaction is gone that began with this number.
    pub(super) fn forget(&self, number: u64) {
        self.shared.known.lock().remove(&number);
    }
}
