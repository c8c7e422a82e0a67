//! What the database removes by itself once its time is over: tables that were dropped, and rows that end at a time of their own.
//!
//! These are the rounds; what is done to a table is above, and is done in sessions of its own, under a lease: one process at a time.

use super::DatabaseInner;
use futures::future::BoxFuture;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use stoa_pg::PgResult;
use stoa_table::TableId;
use stoa_table::catalog::Oid;

/// How often it is looked for what is due.
const ROUND: Duration = Duration::from_secs(5);
/// So many dropped tables are kept at most in a database, the last ones: each is in every copy of the catalog.
const MOST_DROPPED: usize = 250;
/// A table is not swept more often.
const INTERVAL: Duration = Duration::from_secs(60);
/// Sweeping takes one part in so many of the time.
const SHARE: u32 = 50;

/// Does something to one table.
pub type Upkeep = fn(Arc<DatabaseInner>, Oid) -> BoxFuture<'static, PgResult<()>>;

/// Removes dropped tables whose time is over, until the database is closed.
pub async fn purge(database: Weak<DatabaseInner>, purging: Upkeep) {
    let mut absent = Absent::new();
    loop {
        tokio::time::sleep(ROUND).await;
        let Some(database) = database.upgrade() else { return };
        if let Err(error) = forget_gone(&database, &mut absent).await {
            tracing::warn!(error = error.message(), "statistics of tables that are gone are kept for longer");
        }
        let now = database.tables.now_us();
        let catalog = database.transactions.published_catalog();
        let kept = catalog.dropped().values().map(|dropped| (dropped.dropped_us, dropped.kept_until_us, dropped.oid()));
        let due = due(kept.collect(), now);
        if due.is_empty() {
            continue;
        }
        let _lease = database.tables.services().leases().take("removal of dropped tables").await;
        for oid in due {
            if let Err(error) = purging(Arc::clone(&database), oid).await {
                let name = catalog.dropped().get(&oid).map(|dropped| dropped.table.name.clone());
                tracing::warn!(table = name, error = error.message(), "a dropped table is kept for longer");
            }
        }
    }
}

/// Tables of which something is known and that no catalog has, with when that was first seen, in microseconds since 1970.
pub type Absent = HashMap<Oid, i64>;

/// Forgets what is known of tables that are gone for good, also in databases that are. A table that is absent may be about to come, in a
/// transaction that has made and filled it: only those are gone that are still absent when all who had begun are through. Columns that
/// scans have left are given up at once; also of tables that might be brought back.
///
/// # Errors
/// The store failed.
pub async fn forget_gone(database: &DatabaseInner, absent: &mut Absent) -> PgResult<()> {
    let (now, sessions) = (database.tables.now_us(), database.sessions());
    let begun = sessions.iter().map(|session| session.activity().transaction_start_us).filter(|us| *us > 0).min().unwrap_or(now);
    let (counted, known) = (database.counters.tables(), database.statistics.tables());
    // What was known before these were looked at is not new.
    let catalogs = database.tables.services().publication().all();
    let tables = || catalogs.iter().flat_map(|catalog| catalog.shared_tables());
    let read: HashSet<TableId> = tables().flat_map(|t| t.indexes.iter().map(|index| index.storage).chain([t.storage])).collect();
    database.memory.columns.retain(|source| read.contains(&source));
    let is_absent = |oid: &Oid| !catalogs.iter().any(|catalog| catalog.relation(*oid).is_some() || catalog.dropped().contains_key(oid));
    let found: HashSet<Oid> = counted.into_iter().chain(known).filter(is_absent).collect();
    absent.retain(|oid, _| found.contains(oid));
    let gone: Vec<Oid> = found.into_iter().filter(|oid| *absent.entry(*oid).or_insert(now) < begun).collect();
    database.counters.forget(&gone);
    database.statistics.forget(&database.tables, &gone).await
}

/// Of dropped tables, each with the time when it was dropped and until when it is kept, in microseconds: those that go now.
fn due(mut dropped: Vec<(i64, i64, Oid)>, now: i64) -> Vec<Oid> {
    dropped.sort_unstable_by(|a, b| b.cmp(a));
    let goes = |(at, (_, until, oid)): (usize, (i64, i64, Oid))| (at >= MOST_DROPPED || until <= now).then_some(oid);
    dropped.into_iter().enumerate().filter_map(goes).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_dropped_tables_are_kept_until_their_time() {
        assert_eq!(due(vec![(1, 10, 7), (2, 11, 8), (3, 9, 9)], 10), [9, 7]);
        let many = (0..MOST_DROPPED as i64 + 3).map(|n| (n, 1000, n as Oid)).collect();
        assert_eq!(due(many, 10), [2, 1, 0]);
    }
}
