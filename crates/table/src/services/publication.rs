//! The newest committed catalogs, one of each database, and who may replace them.
//!
//! Invariant: a published catalog changes only by [`Publishing::publish`], after the commit that stored it. All of them tell the same of
//! what databases share.

use crate::catalog::{CatalogSnapshot, FIRST_DATABASE, Oid};
use async_trait::async_trait;
use parking_lot::RwLock;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// See the module.
#[async_trait]
pub trait Publication: Send + Sync {
    /// That of the first database, which there always is.
    fn first(&self) -> Arc<dyn Published>;

    /// That of a database, if there is such a one.
    fn of(&self, database: Oid) -> Option<Arc<dyn Published>>;

    /// The newest catalog of every database, in the order of OIDs.
    fn all(&self) -> Vec<Arc<CatalogSnapshot>>;

    /// Begins a commit that changes a catalog: one at a time.
    async fn begin(&self) -> Box<dyn Publishing + '_>;

    /// The catalogs that were read when the store was opened.
    fn open(&self, catalogs: Vec<CatalogSnapshot>);
}

/// The catalog of a database.
pub trait Published: Send + Sync + Debug {
    /// The newest committed one that this node has taken note of: before any snapshot of its own that sees the commit.
    fn newest(&self) -> Arc<CatalogSnapshot>;

    /// Whether this is [`Published::newest`].
    fn is_newest(&self, catalog: &Arc<CatalogSnapshot>) -> bool;
}

/// A commit that changes a catalog. Nothing is changed if it is dropped.
#[async_trait]
pub trait Publishing: Send {
    /// What the change of a database's catalog is made to; `None` if the database is gone.
    fn newest(&self, database: Oid) -> Option<Arc<CatalogSnapshot>>;

    /// The newest catalog of every database.
    fn all(&self) -> Vec<Arc<CatalogSnapshot>>;

    /// Makes a catalog the newest of its database, whose commit is durable. What databases share is what it says of them: a database
    /// that it names for the first time has a catalog from now on, and one that it names no more has none.
    async fn publish(self: Box<Self>, catalog: CatalogSnapshot);
}

/// The newest catalog of one database in one process.
#[derive(Debug)]
struct Slot {
    catalog: RwLock<Arc<CatalogSnapshot>>,
    /// Where the newest catalog is in memory: whoever holds a catalog knows from it whether that is the newest.
    at: AtomicUsize,
}

impl Slot {
    fn new(catalog: CatalogSnapshot) -> Arc<Self> {
        let catalog = Arc::new(catalog);
        Arc::new(Self { at: AtomicUsize::new(Arc::as_ptr(&catalog) as usize), catalog: RwLock::new(catalog) })
    }

    fn set(&self, catalog: CatalogSnapshot) {
        let catalog = Arc::new(catalog);
        let mut newest = self.catalog.write();
        self.at.store(Arc::as_ptr(&catalog) as usize, Ordering::Release);
        *newest = catalog;
    }
}

impl Published for Slot {
    fn newest(&self) -> Arc<CatalogSnapshot> {
        Arc::clone(&self.catalog.read())
    }

    fn is_newest(&self, catalog: &Arc<CatalogSnapshot>) -> bool {
        self.at.load(Ordering::Acquire) == Arc::as_ptr(catalog) as usize
    }
}

/// The catalogs of one process.
#[derive(Debug)]
pub struct LocalPublication {
    first: Arc<Slot>,
    /// Those of the others.
    others: RwLock<BTreeMap<Oid, Arc<Slot>>>,
    publishing: tokio::sync::Mutex<()>,
}

impl Default for LocalPublication {
    fn default() -> Self {
        Self { first: Slot::new(CatalogSnapshot::default()), others: RwLock::default(), publishing: tokio::sync::Mutex::default() }
    }
}

impl LocalPublication {
    fn slot(&self, database: Oid) -> Option<Arc<Slot>> {
        if database == FIRST_DATABASE { Some(Arc::clone(&self.first)) } else { self.others.read().get(&database).cloned() }
    }

    /// Sets a catalog, and what it says of what databases share in those of the others.
    fn set(&self, catalog: CatalogSnapshot) {
        let (database, shared) = (catalog.database(), Arc::clone(catalog.authority().shared()));
        let Some(slot) = self.slot(database) else { return };
        let is_shared_new = !Arc::ptr_eq(slot.newest().authority().shared(), &shared);
        let numbers = catalog.numbers().cloned();
        slot.set(catalog);
        if !is_shared_new {
            return;
        }
        let mut others = self.others.write();
        others.retain(|oid, _| shared.databases.contains_key(oid));
        for oid in shared.databases.keys().filter(|oid| **oid != FIRST_DATABASE) {
            let new = || Slot::new(CatalogSnapshot::of_new_database(*oid, Arc::clone(&shared), numbers.clone()));
            others.entry(*oid).or_insert_with(new);
        }
        for other in others.values().chain([&self.first]) {
            let mut catalog = CatalogSnapshot::clone(&other.newest());
            if !Arc::ptr_eq(catalog.authority().shared(), &shared) {
                catalog.advance();
                catalog.authority_mut().set_shared(Arc::clone(&shared));
                other.set(catalog);
            }
        }
    }
}

#[async_trait]
impl Publication for LocalPublication {
    fn first(&self) -> Arc<dyn Published> {
        Arc::clone(&self.first) as Arc<dyn Published>
    }

    fn of(&self, database: Oid) -> Option<Arc<dyn Published>> {
        self.slot(database).map(|slot| slot as Arc<dyn Published>)
    }

    fn all(&self) -> Vec<Arc<CatalogSnapshot>> {
        let others = self.others.read();
        std::iter::once(&self.first).chain(others.values()).map(|slot| slot.newest()).collect()
    }

    async fn begin(&self) -> Box<dyn Publishing + '_> {
        Box::new(LocalPublishing { of: self, _one: self.publishing.lock().await })
    }

    fn open(&self, catalogs: Vec<CatalogSnapshot>) {
        let mut others = self.others.write();
        others.clear();
        for catalog in catalogs {
            if catalog.database() == FIRST_DATABASE {
                self.first.set(catalog);
            } else {
                others.insert(catalog.database(), Slot::new(catalog));
            }
        }
    }
}

struct LocalPublishing<'a> {
    of: &'a LocalPublication,
    _one: tokio::sync::MutexGuard<'a, ()>,
}

#[async_trait]
impl Publishing for LocalPublishing<'_> {
    fn newest(&self, database: Oid) -> Option<Arc<CatalogSnapshot>> {
        self.of.slot(database).map(|slot| slot.newest())
    }

    fn all(&self) -> Vec<Arc<CatalogSnapshot>> {
        self.of.all()
    }

    async fn publish(self: Box<Self>, catalog: CatalogSnapshot) {
        self.of.set(catalog);
    }
}
