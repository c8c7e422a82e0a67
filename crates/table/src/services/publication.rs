//! The newest committed catalog, and who may replace it.
//!
//! Invariant: the published catalog changes only by [`Publishing::publish`], after the commit that stored it.

use crate::catalog::CatalogSnapshot;
use async_trait::async_trait;
use parking_lot::RwLock;
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// See the module.
#[async_trait]
pub trait Publication: Send + Sync {
    /// The newest committed catalog that this node has taken note of: before any snapshot of its own that sees the commit.
    fn newest(&self) -> Arc<CatalogSnapshot>;

    /// Whether this is [`Publication::newest`].
    fn is_newest(&self, catalog: &Arc<CatalogSnapshot>) -> bool;

    /// Begins a commit that changes the catalog: one at a time.
    async fn begin(&self) -> Box<dyn Publishing + '_>;

    /// The catalog that was read when the database was opened.
    fn open(&self, catalog: CatalogSnapshot);
}

/// A commit that changes the catalog. Nothing is changed if it is dropped.
#[async_trait]
pub trait Publishing: Send {
    /// What the change is made to.
    fn newest(&self) -> Arc<CatalogSnapshot>;

    /// Makes a catalog the newest, whose commit is durable.
    async fn publish(self: Box<Self>, catalog: CatalogSnapshot);
}

/// The catalog of one process.
#[derive(Debug)]
pub struct LocalPublication {
    catalog: RwLock<Arc<CatalogSnapshot>>,
    /// Where the newest catalog is in memory: whoever holds a catalog knows from it whether that is the newest.
    at: AtomicUsize,
    publishing: tokio::sync::Mutex<()>,
}

impl Default for LocalPublication {
    fn default() -> Self {
        let catalog: Arc<CatalogSnapshot> = Arc::default();
        Self {
            at: AtomicUsize::new(Arc::as_ptr(&catalog) as usize),
            catalog: RwLock::new(catalog),
            publishing: tokio::sync::Mutex::new(()),
        }
    }
}

impl LocalPublication {
    fn set(&self, catalog: Arc<CatalogSnapshot>) {
        let mut newest = self.catalog.write();
        self.at.store(Arc::as_ptr(&catalog) as usize, Ordering::Release);
        *newest = catalog;
    }
}

#[async_trait]
impl Publication for LocalPublication {
    fn newest(&self) -> Arc<CatalogSnapshot> {
        Arc::clone(&self.catalog.read())
    }

    fn is_newest(&self, catalog: &Arc<CatalogSnapshot>) -> bool {
        self.at.load(Ordering::Acquire) == Arc::as_ptr(catalog) as usize
    }

    async fn begin(&self) -> Box<dyn Publishing + '_> {
        Box::new(LocalPublishing { of: self, _one: self.publishing.lock().await })
    }

    fn open(&self, catalog: CatalogSnapshot) {
        self.set(Arc::new(catalog));
    }
}

struct LocalPublishing<'a> {
    of: &'a LocalPublication,
    _one: tokio::sync::MutexGuard<'a, ()>,
}

#[async_trait]
impl Publishing for LocalPublishing<'_> {
    fn newest(&self) -> Arc<CatalogSnapshot> {
        self.of.newest()
    }

    async fn publish(self: Box<Self>, catalog: CatalogSnapshot) {
        self.of.set(Arc::new(catalog));
    }
}
