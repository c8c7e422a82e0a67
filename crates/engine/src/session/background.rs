//! Work that no client asked for, in a session of its own.

use super::SessionOptions;
use super::session_impl::Session;
use crate::catalog::{Oid, Relation};
use crate::database::DatabaseInner;
use crate::ddl::Work;
use crate::txn::TableLockMode;
use std::sync::Arc;
use stoa_pg::PgResult;

/// Finishes an index build that ended with the process.
///
/// # Errors
/// Those of the build.
pub(crate) async fn background_build(database: Arc<DatabaseInner>, table: Oid, index: Oid) -> PgResult<()> {
    let options = SessionOptions { user: "stoa".into(), database: "stoa".into(), ..SessionOptions::default() };
    let mut session = Session::open(database, options)?;
    session.start_query().await?;
    let context = session.statement_context(Arc::from("resumed index build"), Arc::from([]))?;
    let work = Work { ctx: &context };
    if let Some(descriptor) = work.catalog().table(table).cloned() {
        work.lock(&Relation::Table(descriptor), TableLockMode::ShareUpdateExclusive).await?;
        let outcome = crate::index::build::run(&context, table, index, "CREATE INDEX CONCURRENTLY").await;
        context.txn.rollback().await;
        outcome?;
    }
    Ok(())
}
