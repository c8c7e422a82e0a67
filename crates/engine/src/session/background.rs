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
use stoa_table::row::KeyList;
use stoa_table::txn::TableLockMode;

/// Finishes an index build that ended with the process.
///
/// # Errors
/// Those of the build.
pub(crate) fn background_build(database: Arc<DatabaseInner>, table: Oid, index: Oid) -> BoxFuture<'static, PgResult<()>> {
    Box::pin(build(database, table, index))
}

async fn build(database: Arc<DatabaseInner>, table: Oid, index: Oid) -> PgResult<()> {
    let (_session, context) = work_of_its_own(database, "resumed index build").await?;
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

/// Removes a dropped table for good.
///
/// # Errors
/// What the transaction raises.
pub(crate) fn background_purge(database: Arc<DatabaseInner>, table: Oid) -> BoxFuture<'static, PgResult<()>> {
    Box::pin(async move {
        let (_session, context) = work_of_its_own(database, "removal of a dropped table").await?;
        let outcome = crate::ddl::undrop::purge(&context, table).await;
        context.txn.rollback().await;
        outcome
    })
}

/// Removes the rows of a table that have ended.
///
/// # Errors
/// What the store reports.
pub(crate) fn background_sweep(database: Arc<DatabaseInner>, table: Oid) -> BoxFuture<'static, PgResult<()>> {
    fn piece(database: Arc<DatabaseInner>, table: Oid, keys: KeyList) -> BoxFuture<'static, PgResult<()>> {
        Box::pin(async move {
            let (_session, context) = work_of_its_own(database, "removal of rows that have ended").await?;
            let outcome = crate::ddl::expiry::remove_piece(&context, table, &keys).await;
            context.txn.rollback().await;
            outcome
        })
    }
    Box::pin(async move {
        let (_session, context) = work_of_its_own(database, "search for rows that have ended").await?;
        let outcome = crate::ddl::expiry::sweep(&context, table, piece).await;
        context.txn.rollback().await;
        outcome
    })
}

/// A session that no client asked for, and the context of a statement in it.
async fn work_of_its_own(database: Arc<DatabaseInner>, what: &'static str) -> PgResult<(Session, StatementContext)> {
    let options = SessionOptions { in_background: true, ..SessionOptions::default() };
    let mut session = Session::open(database, options)?;
    session.start_query().await?;
    let context = session.statement_context(Arc::from(what), Arc::from([]))?;
    Ok((session, context))
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
    let (_session, context) = work_of_its_own(database, "background check of indexes").await?;
    context.txn.start_statement().await?;
    let report = stoa_exec::index::check(&context, target, pace).await;
    context.txn.rollback().await;
    report
}
