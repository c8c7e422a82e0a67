//! What the database removes by itself once its time is over: tables that were dropped, and rows that end at a time of their own.
//!
//! These are the rounds; what is done to a table is above, and is done in sessions of its own, under a lease: one process at a time.

use super::DatabaseInner;
use futures::future::BoxFuture;
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use stoa_pg::PgResult;
use stoa_table::catalog::Oid;

/// How often it is looked for what is due.
const ROUND: Duration = Duration::from_secs(5);
/// A table is not swept more often.
const INTERVAL: Duration = Duration::from_secs(60);
/// Sweeping takes one part in so many of the time.
const SHARE: u32 = 50;

/// Does something to one table.
pub type Upkeep = fn(Arc<DatabaseInner>, Oid) -> BoxFuture<'static, PgResult<()>>;

/// Removes dropped tables whose time is over, until the database is closed.
pub async fn purge(database: Weak<DatabaseInner>, purging: Upkeep) {
    loop {
        tokio::time::sleep(ROUND).await;
        let Some(database) = database.upgrade() else { return };
        let now = database.tables.now_us();
        let catalog = database.transactions.published_catalog();
        let due: Vec<_> = catalog.dropped().values().filter(|dropped| dropped.kept_until_us <= now).collect();
        if due.is_empty() {
            continue;
        }
        let _lease = database.tables.services().leases().take("removal of dropped tables").await;
        for dropped in due {
            if let Err(error) = purging(Arc::clone(&database), dropped.oid()).await {
                tracing::warn!(table = dropped.table.name, error = error.message(), "a dropped table is kept for longer");
            }
        }
    }
}

/// Sweeps tables whose rows end, until the database is closed.
pub async fn sweep(database: Weak<DatabaseInner>, sweeping: Upkeep) {
    let mut due: HashMap<Oid, Instant> = HashMap::new();
    loop {
        tokio::time::sleep(ROUND).await;
        let Some(database) = database.upgrade() else { return };
        let catalog = database.transactions.published_catalog();
        let tables: Vec<Oid> = catalog.shared_tables().filter(|t| t.expires.is_some() && !t.temporary).map(|t| t.oid).collect();
        due.retain(|oid, _| tables.contains(oid));
        for oid in tables {
            let started = Instant::now();
            if *due.entry(oid).or_insert(started + INTERVAL) > started {
                continue;
            }
            let _lease = database.tables.services().leases().take("removal of rows that have ended").await;
            if let Err(error) = sweeping(Arc::clone(&database), oid).await {
                tracing::warn!(table = oid, error = error.message(), "rows that have ended are kept for longer");
            }
            due.insert(oid, Instant::now() + INTERVAL.max(started.elapsed() * SHARE));
        }
    }
}
