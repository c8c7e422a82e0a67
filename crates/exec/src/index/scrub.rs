//! Indexes proved again and again in the background, slowly: what CHECK TABLE does, at a limited rate, for every table that was not
//! checked for an interval. What was found, by it or by a statement, is kept for `pg_stat_index_check`.
//!
//! A check holds no lock: a table that is dropped or changed meanwhile ends it, and nothing is recorded.

use super::check::{CheckTarget, Report, check};
use crate::environment::checks::{Checks, checked};
use crate::environment::{DatabaseInner, StatementContext};
use futures::future::BoxFuture;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use stoa_pg::PgResult;
use stoa_table::Tables;
use stoa_table::catalog::{Relation, TableDescriptor};

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

/// Checks what a target names at a pace, in a session of its own.
pub type Checking = for<'a> fn(Arc<DatabaseInner>, &'a CheckTarget, &'a mut Pace) -> BoxFuture<'a, PgResult<Report>>;

/// Checks tables as they become due, until the database is closed.
pub async fn run(database: Weak<DatabaseInner>, checking: Checking) {
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
        if let Err(error) = scrub(&database, table, checking).await {
            tracing::warn!(%error, "a background check of indexes failed");
        }
    }
}

/// Checks the indexes of one table.
async fn scrub(database: &Arc<DatabaseInner>, table: TableDescriptor, checking: Checking) -> PgResult<()> {
    let started_us = database.tables.now_us();
    let target = CheckTarget { table: Arc::new(table), index: None };
    let mut pace = Pace::of(database.options.scrub.rows_per_second);
    let report = checking(Arc::clone(database), &target, &mut pace).await;
    // Indexes that came, went or were built again since are another matter.
    let now = database.transactions.published_catalog();
    let same = now.table(target.table.oid).is_some_and(|now| now.indexes == target.table.indexes && now.storage == target.table.storage);
    if !same {
        return Ok(());
    }
    let report = report.map_err(|error| error.message().to_owned());
    record(&database.checks, &database.tables, &target, &report, started_us, true).await
}

/// Keeps what a check of a table's indexes (or of one) came to.
///
/// # Errors
/// The store failed.
async fn record(
    checks: &Checks,
    tables: &Tables,
    target: &CheckTarget,
    report: &Result<Report, String>,
    started_us: i64,
    background: bool,
) -> PgResult<()> {
    let ended_us = tables.now_us();
    for index in checked(&target.table).filter(|i| target.index.is_none_or(|oid| oid == i.oid)) {
        let mut check = checks.of(index.oid).unwrap_or_default();
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
        checks.put(tables, index.oid, check).await?;
    }
    Ok(())
}

/// Checks what a statement names, and keeps what was found.
///
/// # Errors
/// Those of [`check`].
pub async fn check_and_record(ctx: &StatementContext, target: &CheckTarget) -> PgResult<Report> {
    let started_us = ctx.database.tables.now_us();
    let report = check(ctx, target, &mut Pace::unlimited()).await;
    let kept = match report {
        Ok(report) => Ok(report),
        Err(error) => {
            let failure = Err(error.message().to_owned());
            record(&ctx.database.checks, &ctx.database.tables, target, &failure, started_us, false).await?;
            return Err(error);
        }
    };
    record(&ctx.database.checks, &ctx.database.tables, target, &kept, started_us, false).await?;
    kept.map_err(|error: String| stoa_pg::PgError::internal(error))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn a_pace_waits_for_what_is_ahead_of_it() {
        let mut pace = Pace::of(1000);
        assert!(pace.wait(500) > Duration::from_millis(400));
        assert!(pace.wait(500) > Duration::from_millis(900));
        assert_eq!(Pace::unlimited().wait(1 << 40), Duration::ZERO);
        let mut late = Pace { started: Instant::now() - Duration::from_secs(5), ..Pace::of(1000) };
        assert_eq!(late.wait(1000), Duration::ZERO);
    }
}
