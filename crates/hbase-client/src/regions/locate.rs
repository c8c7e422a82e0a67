//! The region of a key: from the cache, or looked up.
//!
//! Invariant: for a key one lookup is under way at a time, whoever waits for it and stops waiting; few are under way at all, and each looks
//! into the cache again before it asks. What is found is remembered; a failure is not.

use super::cache::TableRegions;
use super::meta::{Found, is_disabled, look_up, meta_region};
use super::{Region, meta};
use crate::connection::Pool;
use crate::error::{Class, Error};
use crate::metrics::{Counts, add};
use crate::names::{ServerName, TableName};
use crate::registry::Registry;
use crate::runtime::Timers;
use bytes::Bytes;
use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use hashbrown::HashMap;
use parking_lot::{Mutex, RwLock};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::Instant;

/// How many lookups ask hbase:meta at once.
const AT_ONCE: usize = 8;

/// Which region of a key is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Side {
    /// The one that holds it.
    At,
    /// The one that holds what is right below it: where a reversed scan goes on.
    Below,
}

type Lookup = Shared<BoxFuture<'static, Result<Arc<Region>, Error>>>;

pub(crate) struct Locator {
    pool: Arc<Pool>,
    registry: Arc<Registry>,
    timers: Timers,
    counts: Arc<Counts>,
    patience: Duration,
    tables: RwLock<HashMap<TableName, Arc<TableRegions>>>,
    under_way: Mutex<HashMap<(TableName, Bytes, Side), Lookup>>,
    room: Semaphore,
    meta: Mutex<Option<ServerName>>,
}

impl std::fmt::Debug for Locator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Locator").field("meta", &self.meta).finish_non_exhaustive()
    }
}

impl Locator {
    pub(crate) fn new(pool: Arc<Pool>, registry: Arc<Registry>, timers: Timers, counts: Arc<Counts>, patience: Duration) -> Locator {
        Locator {
            pool,
            registry,
            timers,
            counts,
            patience,
            tables: RwLock::new(HashMap::new()),
            under_way: Mutex::new(HashMap::new()),
            room: Semaphore::new(AT_ONCE),
            meta: Mutex::new(None),
        }
    }

    /// What is remembered of a table.
    pub(crate) fn table(&self, table: &TableName) -> Arc<TableRegions> {
        if let Some(regions) = self.tables.read().get(table) {
            return Arc::clone(regions);
        }
        Arc::clone(self.tables.write().entry(table.clone()).or_default())
    }

    /// The region of a key. One try: what fails may be tried again.
    pub(crate) async fn locate(
        self: &Arc<Self>,
        table: &TableName,
        regions: &Arc<TableRegions>,
        key: &[u8],
        side: Side,
        deadline: Instant,
    ) -> Result<Arc<Region>, Error> {
        if let Some(region) = known(regions, key, side) {
            return Ok(region);
        }
        let key = Bytes::copy_from_slice(key);
        let lookup = {
            let mut under_way = self.under_way.lock();
            let lookup = under_way.entry((table.clone(), key.clone(), side)).or_insert_with(|| self.start(table, regions, &key, side));
            lookup.clone()
        };
        let no_answer = || Error::RegionUnavailable { region: table.to_string(), reason: "hbase:meta does not answer".to_owned() };
        self.timers.within(deadline, lookup).await.unwrap_or_else(|| Err(no_answer()))
    }

    /// Begins a lookup on the client's runtime.
    fn start(self: &Arc<Self>, table: &TableName, regions: &Arc<TableRegions>, key: &Bytes, side: Side) -> Lookup {
        let (locator, table, regions, key) = (Arc::clone(self), table.clone(), Arc::clone(regions), key.clone());
        let task = self.timers.spawn(async move {
            let deadline = Instant::now() + locator.patience;
            let found = locator.look_up(&table, &regions, &key, side, deadline).await;
            locator.under_way.lock().remove(&(table, key, side));
            found
        });
        task.map(|ended| ended.unwrap_or(Err(Error::Closed))).boxed().shared()
    }

    async fn look_up(
        &self,
        table: &TableName,
        regions: &TableRegions,
        key: &Bytes,
        side: Side,
        deadline: Instant,
    ) -> Result<Arc<Region>, Error> {
        let _room = self.room.acquire().await.map_err(|_| Error::Closed)?;
        if let Some(region) = known(regions, key, side) {
            return Ok(region);
        }
        add(&self.counts.region_lookups, 1);
        let server = self.meta_server(deadline).await?;
        if table.is_meta() {
            return Ok(regions.put(meta_region(server)?));
        }
        let found = look_up(&self.pool, &server, table, key, side, deadline).await;
        let found = found.inspect_err(|error| self.meta_failed(&server, error))?;
        match found {
            Found::Served(region) => Ok(regions.put(region)),
            Found::NotServed(region, reason) => {
                let disabled = is_disabled(&self.pool, &server, table, deadline).await;
                if disabled.inspect_err(|error| self.meta_failed(&server, error))? {
                    return Err(Error::TableDisabled(table.clone()));
                }
                Err(Error::RegionUnavailable { region, reason })
            }
        }
    }

    /// Where hbase:meta is, remembered or asked for. On the client's runtime.
    async fn meta_server(&self, deadline: Instant) -> Result<ServerName, Error> {
        if let Some(server) = self.meta.lock().clone() {
            return Ok(server);
        }
        let server = self.registry.meta(deadline).await?;
        *self.meta.lock() = Some(server.clone());
        Ok(server)
    }

    /// Forgets where hbase:meta was, if that may be why it does not answer.
    fn meta_failed(&self, server: &ServerName, error: &Error) {
        if matches!(error.class(), Class::LookUp { .. } | Class::NewConnection) && !matches!(error, Error::RegionHole { .. }) {
            let mut meta = self.meta.lock();
            if meta.as_ref() == Some(server) {
                *meta = None;
            }
        }
    }

    /// Learns from what a call of a region met, before it is tried again.
    pub(crate) fn learn(&self, regions: &TableRegions, region: &Region, error: &Error) {
        match error.class() {
            Class::LookUp { moved_to: Some(server) } => regions.moved(region, &server),
            Class::LookUp { moved_to: None } => regions.forget(region),
            Class::NewConnection => {
                regions.forget(region);
                if matches!(error, Error::Connection { sent: false, .. }) {
                    // The server is not there: its other regions will not be either.
                    regions.forget_server(&region.server);
                }
            }
            Class::Later { .. } | Class::AtOnce | Class::Reopen | Class::Final => return,
        }
        if region.name == meta::META_REGION {
            self.meta_failed(&region.server, error);
        }
    }
}

fn known(regions: &TableRegions, key: &[u8], side: Side) -> Option<Arc<Region>> {
    match side {
        Side::At => regions.of(key),
        Side::Below => regions.below(key),
    }
}
