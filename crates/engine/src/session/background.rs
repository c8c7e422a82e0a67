//! Work that no client asked for, in a session of its own.

use super::SessionOptions;
use super::session_impl::Session;
use crate::ddl::Work;
use futures::future::BoxFuture;
use std::sync::Arc;
use stoa_exec::environment::{DatabaseInner, StatementContext};
use stoa_exec::index::CheckTarget;
use stoa_exec::index::check::Report;
use stoa_exec::index::scrub::Pace;
use stoa_pg::PgResult;
use stoa_table::catalog::{IndexState, Oid, Relation};
use stoa_table::txn::TableLockMode;

/// Finishes an index build that ended with the process.
///
/// # Errors
/// Those of the build.
pub(crate) fn background_build(database: Arc<DatabaseInner>, table: Oid, index: Oid) -> BoxFuture<'static, PgResult<()>> {
    Box::pin(build(database, table, index))
}

async fn build(database: Arc<DatabaseInner>, table: Oid, index: Oid) -> PgResult<()> {
    let mut session = Session::open(database, SessionOptions { in_background: true, ..SessionOptions::default() })?;
    session.start_query().await?;
    let context = session.statement_context(Arc::from("resumed index build"), Arc::from([]))?;
    let work = Work { ctx: &context };
    if let Some(descriptor) = work.catalog().table(table).cloned() {
        work.lock(&Relation::Table(descriptor), TableLockMode::ShareUpdateExclusive).await?;
        let outcome = finish_build(&context, table, index).await;
        context.txn.rollback().await;
        outcome?;
    }
    Ok(())
}

/// Builds an index to its end; one that was made for REINDEX then takes its place.
async fn finish_build(context: &StatementContext, table: Oid, index: Oid) -> PgResult<()> {
    let catalog = context.database.transactions.published_catalog();
    let Some(found) = catalog.table(table).and_then(|t| t.indexes.iter().find(|i| i.oid == index)) else { return Ok(()) };
    let replaces = found.replaces.is_some();
    if found.state != IndexState::Readable {
        let command = if replaces { "REINDEX CONCURRENTLY" } else { "CREATE INDEX CONCURRENTLY" };
        stoa_exec::index::build::run(context, table, index, command).await?;
    }
    if replaces { stoa_exec::index::build::take_place(context, table, index).await } else { Ok(()) }
}

/// Checks the indexes of a table, at a pace.
///
/// # Errors
/// Those of the check.
pub(crate) fn background_check<'a>(
    database: Arc<DatabaseInner>,
    target: &'a CheckTarget,
    pace: &'a mut Pace,
) -> BoxFuture<'a, PgResult<Report>> {
    Box::pin(check(database, target, pace))
}

async fn check(database: Arc<DatabaseInner>, target: &CheckTarget, pace: &mut Pace) -> PgResult<Report> {
    let mut session = Session::open(database, SessionOptions { in_background: true, ..SessionOptions::default() })?;
    session.start_query().await?;
    let context = session.statement_context(Arc::from("background check of indexes"), Arc::from([]))?;
    context.txn.start_statement().await?;
    let report = stoa_exec::index::check(&context, target, pace).await;
    context.txn.rollback().await;
    report
}
