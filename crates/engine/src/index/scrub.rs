//! Indexes proved again and again in the background, slowly: what CHECK TABLE does, at a limited rate, for every table that was not
//! checked for an interval. What was found, by it or by a statement, is kept for `pg_stat_index_check`.
//!
//! A check holds no lock: a table that is dropped or changed meanwhile ends it, and nothing is recorded.

use super::check::{CheckTarget, Report, check};
use crate::database::DatabaseInner;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use stoa_pg::PgResult;
use stoa_table::Tables;
use stoa_table::catalog::store::{decode, encode};
use stoa_table::catalog::{IndexState, Oid, Relation, TableDescriptor};

/// How a database is scrubbed.
#[derive(Clone, Copy, Debug)]
pub struct ScrubOptions {
    /// Rows and entries read in a second; 0 for no scrubbing.
    pub rows_per_second: u64,
    /// How long a check of a table counts.
    pub interval: Duration,
}

impl Default for ScrubOptions {
    fn default() -> Self {
        Self { rows_per_second: 10_000, interval: Duration::from_secs(24 * 3600) }
    }
}

/// What is known of the checks of one index.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct IndexCheck {
    pub table: Oid,
    /// When the last one ended, in microseconds since 1970, and how long it took.
    pub ended_us: i64,
    pub duration_us: i64,
    /// No statement asked for it.
    pub background: bool,
    pub entries: u64,
    pub ranges: u64,
    /// Of the last one. Anything but zero means that the index had drifted.
    pub faults: u64,
    /// What the last one failed with, if it did.
    pub failure: Option<String>,
    /// Of all of them.
    pub checks: u64,
    pub faults_ever: u64,
}

/// The checks of all indexes: in memory, and as rows of the catalog's table.
#[derive(Debug, Default)]
pub struct Checks(Mutex<BTreeMap<Oid, IndexCheck>>);

fn key(index: Oid) -> Vec<u8> {
    let mut out = vec![b'v'];
    out.extend(index.to_be_bytes());
    out
}

impl Checks {
    /// Reads what is stored; checks of indexes that are gone are removed.
    ///
    /// # Errors
    /// The store failed.
    pub async fn load(tables: &Tables, exists: impl Fn(Oid, Oid) -> bool) -> PgResult<Self> {
        let out = Self::default();
        for (key, value) in tables.notes().await? {
            let index = match key.split_first() {
                Some((b'v', rest)) => <[u8; 4]>::try_from(rest).ok().map(u32::from_be_bytes),
                _ => None,
            };
            let Some(index) = index else { continue };
            match decode::<IndexCheck>(&value) {
                Ok(check) if exists(check.table, index) => {
                    out.0.lock().insert(index, check);
                }
                // What cannot be read is checked again.
                _ => tables.delete_note(&key).await?,
            }
        }
        Ok(out)
    }

    /// The last check of an index.
    #[must_use]
    pub fn of(&self, index: Oid) -> Option<IndexCheck> {
        self.0.lock().get(&index).cloned()
    }

    /// Keeps what a check of a table's indexes (or of one) came to.
    ///
    /// # Errors
    /// The store failed.
    pub async fn record(
        &self,
        tables: &Tables,
        target: &CheckTarget,
        report: &Result<Report, String>,
        started_us: i64,
        background: bool,
    ) -> PgResult<()> {
        let ended_us = tables.now_us();
        for index in checked(&target.table).filter(|i| target.index.is_none_or(|oid| oid == i.oid)) {
            let mut check = self.of(index.oid).unwrap_or_default();
            check.table = target.table.oid;
            check.ended_us = ended_us;
            check.duration_us = ended_us - started_us;
            check.background = background;
            check.checks += 1;
            match report {
                Ok(report) => {
                    let Some((_, entries, ranges)) = report.checked.iter().find(|(name, ..)| *name == index.name) else { continue };
                    check.entries = *entries;
                    check.ranges = *ranges as u64;
                    check.faults = report.faults.iter().filter(|f| f.index == index.name).count() as u64;
                    check.faults_ever += check.faults;
                    check.failure = None;
                    if check.faults > 0 {
                        tracing::error!(index = index.name, faults = check.faults, "an index differs from its table");
                    }
                }
                Err(error) => check.failure = Some(error.clone()),
            }
            tables.put_note(&key(index.oid), &encode(&check)?).await?;
            self.0.lock().insert(index.oid, check);
        }
        Ok(())
    }

    /// The table that is due, by the oldest check of its indexes; those never checked count from `since`.
    fn due(&self, tables: &[TableDescriptor], since: i64, now: i64, interval: Duration) -> Option<TableDescriptor> {
        let interval = i64::try_from(interval.as_micros()).unwrap_or(i64::MAX);
        let known = self.0.lock();
        let last = |table: &TableDescriptor| checked(table).map(|i| known.get(&i.oid).map_or(since, |c| c.ended_us.max(0))).min();
        let due = tables.iter().filter_map(|table| Some((last(table)?, table)));
        let (last, table) = due.min_by_key(|(last, table)| (*last, table.oid))?;
        (now.saturating_sub(last) >= interval).then(|| table.clone())
    }
}

/// The indexes of a table that can be checked.
fn checked(table: &TableDescriptor) -> impl Iterator<Item = &stoa_table::catalog::IndexDescriptor> {
    table.indexes.iter().filter(|i| i.state == IndexState::Readable && i.method == "btree")
}

/// Keeps to a rate.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    started: Instant,
    rows: u64,
    rows_per_second: Option<u64>,
}

impl Pace {
    /// As fast as it goes.
    #[must_use]
    pub fn unlimited() -> Self {
        Self { started: Instant::now(), rows: 0, rows_per_second: None }
    }

    #[must_use]
    pub fn of(rows_per_second: u64) -> Self {
        Self { rows_per_second: Some(rows_per_second.max(1)), ..Self::unlimited() }
    }

    /// How long to wait after so many more rows.
    fn wait(&mut self, rows: u64) -> Duration {
        self.rows = self.rows.saturating_add(rows);
        let Some(rate) = self.rows_per_second else { return Duration::ZERO };
        Duration::from_secs_f64(self.rows as f64 / rate as f64).saturating_sub(self.started.elapsed())
    }

    /// Takes note of rows read, and waits until they may have been.
    pub async fn took(&mut self, rows: u64) {
        let wait = self.wait(rows);
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
    }
}

/// Checks tables as they become due, until the database is closed.
pub(crate) async fn run(database: Weak<DatabaseInner>) {
    let Some(since) = database.upgrade().map(|database| database.tables.now_us()) else { return };
    loop {
        let pause = match database.upgrade() {
            Some(database) => (database.options.scrub.interval / 10).clamp(Duration::from_millis(10), Duration::from_secs(10)),
            None => return,
        };
        tokio::time::sleep(pause).await;
        let Some(database) = database.upgrade() else { return };
        let catalog = database.transactions.published_catalog();
        let tables: Vec<TableDescriptor> = catalog
            .relations()
            .filter_map(|r| match &**r {
                Relation::Table(table) if !table.temporary => Some(table.clone()),
                _ => None,
            })
            .collect();
        let Some(table) = database.checks.due(&tables, since, database.tables.now_us(), database.options.scrub.interval) else { continue };
        let _lease = database.tables.services().leases().take("check of indexes").await;
        if let Err(error) = scrub(&database, table).await {
            tracing::warn!(%error, "a background check of indexes failed");
        }
    }
}

/// Checks the indexes of one table.
async fn scrub(database: &Arc<DatabaseInner>, table: TableDescriptor) -> PgResult<()> {
    let started_us = database.tables.now_us();
    let target = CheckTarget { table: Arc::new(table), index: None };
    let mut pace = Pace::of(database.options.scrub.rows_per_second);
    let report = crate::session::background_check(Arc::clone(database), &target, &mut pace).await;
    // Indexes that came, went or were built again since are another matter.
    let now = database.transactions.published_catalog();
    let same = now.table(target.table.oid).is_some_and(|now| now.indexes == target.table.indexes && now.storage == target.table.storage);
    if !same {
        return Ok(());
    }
    let report = report.map_err(|error| error.message().to_owned());
    database.checks.record(&database.tables, &target, &report, started_us, true).await
}

/// Checks what a statement names, and keeps what was found.
///
/// # Errors
/// Those of [`check`].
pub async fn check_and_record(ctx: &crate::exec::StatementContext, target: &CheckTarget) -> PgResult<Report> {
    let started_us = ctx.database.tables.now_us();
    let report = check(ctx, target, &mut Pace::unlimited()).await;
    let kept = match report {
        Ok(report) => Ok(report),
        Err(error) => {
            let told = Err(error.message().to_owned());
            ctx.database.checks.record(&ctx.database.tables, target, &told, started_us, false).await?;
            return Err(error);
        }
    };
    ctx.database.checks.record(&ctx.database.tables, target, &kept, started_us, false).await?;
    kept.map_err(|error: String| stoa_pg::PgError::internal(error))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use crate::index::tests::{change, entries, table};
    use crate::write::tests::{answer, connect};
    use crate::{Database, DatabaseOptions};

    #[test]
    fn a_pace_waits_for_what_is_ahead_of_it() {
        let mut pace = Pace::of(1000);
        assert!(pace.wait(500) > Duration::from_millis(400));
        assert!(pace.wait(500) > Duration::from_millis(900));
        assert_eq!(Pace::unlimited().wait(1 << 40), Duration::ZERO);
        let mut late = Pace { started: Instant::now() - Duration::from_secs(5), ..Pace::of(1000) };
        assert_eq!(late.wait(1000), Duration::ZERO);
    }

    #[tokio::test]
    async fn drift_is_found_without_being_asked_for_and_kept() {
        let tables = Tables::in_memory();
        let scrub = ScrubOptions { rows_per_second: 1_000_000, interval: Duration::from_millis(50) };
        let options = DatabaseOptions { scrub, ..DatabaseOptions::default() };
        let database = Database::open(tables.clone(), options.clone()).await.unwrap();
        let mut s = connect(&database);
        for sql in [
            "CREATE TABLE t (id int PRIMARY KEY, a int)",
            "INSERT INTO t SELECT n, n FROM generate_series(1, 20) n",
            "CREATE INDEX i ON t (a)",
        ] {
            answer(&mut s, sql).await;
        }
        let told = "SELECT indexrelname, entries, faults, background, failure FROM pg_stat_index_check WHERE relname = 't'";
        let mut wait = async |wanted: &str| {
            for _ in 0..400 {
                if answer(&mut s, told).await == wanted {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            panic!("{}", answer(&mut s, told).await);
        };
        wait("i|20|0|t|NULL").await;
        let index = table(&database, "t").indexes[0].clone();
        let first = entries(&database, index.storage).await.remove(0);
        change(&database, |m| m.delete_row(index.storage, &first.0)).await;
        wait("i|19|1|t|NULL").await;
        let mut s = connect(&database);
        assert!(answer(&mut s, "CHECK INDEX i REPAIR").await.contains("missing"));
        drop((s, database));
        // It survives, without the background when that is off.
        let off = DatabaseOptions { scrub: ScrubOptions { rows_per_second: 0, ..scrub }, ..options };
        let database = Database::open(tables, off).await.unwrap();
        let mut s = connect(&database);
        let kept = answer(&mut s, "SELECT checks > 1, faults_ever > 0, last_check <= now() FROM pg_stat_index_check").await;
        assert_eq!(kept, "t|t|t");
        answer(&mut s, "CHECK TABLE t").await;
        assert_eq!(answer(&mut s, told).await, "i|20|0|f|NULL");
    }
}
