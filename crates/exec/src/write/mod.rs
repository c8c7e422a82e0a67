//! The one path by which rows change: constraints, index maintenance, foreign keys.
//!
//! A statement that changes rows is a query that yields them and a [`Mutation`] on top. [`apply`] takes the query's batches and
//! does to each what the mutation says: rows are locked, checked against the newest commits, encoded, and put into the
//! transaction's buffer with the entries of every index.
//!
//! Invariant: what a statement reads never depends on what it writes, but what it checks does: uniqueness counts the statement's
//! own rows, in the order in which the query yields them, as PostgreSQL does.
//!
//! Reading order: [`rows`] → [`table_writer`] → [`constraint`] → [`policy`] → [`expiry`] → [`unique_keys`] → [`insert`] → [`update`] → [`merge`] →
//! [`foreign_key`] → [`maps`] →
//! [`deferrable_unique`] → [`deferred`].

pub mod constraint;
pub mod deferrable_unique;
pub mod deferred;
pub mod expiry;
pub mod foreign_key;
pub mod insert;
pub mod lookup;
pub mod maps;
pub mod merge;
pub mod policy;
pub mod returning;
pub mod row_exprs;
pub mod rows;
pub mod table_writer;
pub mod unique_keys;
pub mod update;

use crate::nodes::StatementContext;
use arrow::array::RecordBatch;
use datafusion::execution::memory_pool::MemoryReservation;
use foreign_key::ForeignKeyWork;
use futures::StreamExt;
use futures::stream::BoxStream;
use hashbrown::HashSet;
use insert::ConflictRule;
use returning::Returning;
pub use row_exprs::Subqueries;
use rows::Rows;
use std::future::Future;
use std::sync::Arc;
use stoa_pg::{PgError, PgResult};
use stoa_sql::typed::tree::{Mutation, MutationKind};
use stoa_table::txn::is_statement_retry;
use table_writer::TableWriter;

/// What a mutation did.
#[derive(Debug, Default)]
pub struct Applied {
    /// Rows inserted, updated or deleted.
    pub count: u64,
    /// The rows of RETURNING, and their memory.
    pub returning: Vec<RecordBatch>,
    pub memory: Option<MemoryReservation>,
}

/// Runs a statement that changes or locks rows until it has met none that was changed behind its snapshot; then what waits for its end
/// (if it is `whole`, [`finish`]). What a failed run wrote is thrown away.
///
/// # Errors
/// Those of the statement.
pub async fn with_retry<T, F, Fut>(ctx: &StatementContext, whole: bool, run: F) -> PgResult<T>
where
    F: Fn() -> Fut,
    Fut: Future<Output = PgResult<T>>,
{
    loop {
        let outcome = match run().await {
            Ok(executed) => match finish(ctx, whole).await {
                Ok(()) => ctx.txn.check_serializable().await.map(|()| executed),
                Err(error) => Err(error),
            },
            Err(error) => Err(error),
        };
        match outcome {
            Ok(executed) => return Ok(executed),
            Err(error) => {
                ctx.txn.discard_statement();
                if !is_statement_retry(&error) {
                    return Err(error);
                }
                ctx.txn.start_statement().await?;
            }
        }
    }
}

/// What waits for all rows of a statement to be written: actions and checks of foreign keys, then other checks. If the statement is not
/// `whole`, what depends on rows that are still to come goes on waiting.
///
/// # Errors
/// Constraint violations.
pub async fn finish(ctx: &StatementContext, whole: bool) -> PgResult<()> {
    let steps = ctx.txn.take_at_end();
    if !steps.is_empty() {
        Box::pin(foreign_key::run(ctx, steps, whole)).await?;
    }
    if whole { deferred::run_immediate(&ctx.txn).await } else { Ok(()) }
}

/// Does what a mutation says to each row of its source.
///
/// # Errors
/// Constraint violations; [`stoa_table::txn::statement_retry`] when the statement must run again.
pub async fn apply(
    ctx: &StatementContext,
    queries: &dyn Subqueries,
    mutation: &Mutation,
    stream: BoxStream<'static, PgResult<RecordBatch>>,
) -> PgResult<Applied> {
    let table = &mutation.table.0;
    let mut writer = TableWriter::new(ctx, table)?;
    let mut work = ForeignKeyWork::default();
    let mut returning = Returning::new(ctx, queries, mutation);
    let mut applied = Applied::default();
    let checks = constraint::ViewCheck::new(queries, &mutation.checks);
    writer.policies = policy::Policies::new(queries, &mutation.checks).map(Arc::new);
    let mut stream = stream;
    match &mutation.kind {
        MutationKind::Insert { columns, on_conflict } => {
            let mut rule = ConflictRule::new(ctx, queries, mutation, on_conflict)?;
            let mut before = 0;
            while let Some(batch) = stream.next().await {
                let batch = batch?;
                let rows = Rows::of_batch(&batch, columns)?;
                let written = insert::apply(&mut writer, &mut work, &mut rule, rows).await.map_err(|mut error| {
                    let row = &mut error.fields_mut().row;
                    *row = row.map(|row| before + row);
                    error
                })?;
                before += batch.num_rows();
                if let Some(checks) = &checks {
                    Box::pin(checks.check(&writer, &written.rows)).await?;
                }
                applied.count += written.len() as u64;
                returning.add(&written.rows, &batch, &written.source)?;
            }
        }
        MutationKind::Update { old, new } => {
            let assigned: HashSet<_> = new.iter().map(|(id, _)| *id).collect();
            while let Some(batch) = stream.next().await {
                let batch = batch?;
                let before = Rows::of_batch(&batch, old)?;
                let after = before.with(&Rows::of_batch(&batch, new)?);
                let written = update::update(&mut writer, &mut work, &before, after, &assigned, update::Freshness::Snapshot).await?;
                if let Some(checks) = &checks {
                    Box::pin(checks.check(&writer, &written.rows)).await?;
                }
                applied.count += written.len() as u64;
                returning.add(&written.rows, &batch, &written.source)?;
            }
        }
        MutationKind::Delete { old } => {
            while let Some(batch) = stream.next().await {
                let batch = batch?;
                let before = Rows::of_batch(&batch, old)?;
                let written = update::delete(&writer, &mut work, &before, update::Freshness::Snapshot).await?;
                applied.count += written.len() as u64;
                returning.add(&written.rows, &batch, &written.source)?;
            }
        }
        MutationKind::Merge { old, arms } => {
            let mut arms = merge::Arms::new(queries, arms);
            while let Some(batch) = stream.next().await {
                applied.count += Box::pin(merge::apply(&mut writer, &mut work, &mut arms, old, &batch?)).await?;
            }
        }
    }
    ctx.txn.add_at_end(work.into_steps());
    if applied.count > 0 {
        let (statistics, transactions) = (Arc::clone(&ctx.database.statistics), Arc::clone(&ctx.database.transactions));
        let (oid, count) = (table.oid, applied.count);
        ctx.txn.on_commit(move || {
            statistics.note_changes(&transactions, oid, count);
            Box::pin(async {})
        });
    }
    if mutation.returning.is_some() {
        (applied.returning, applied.memory) = Box::pin(returning.finish()).await?;
    }
    Ok(applied)
}

/// Rows that were written, with the positions in the source from which they come.
#[derive(Debug)]
pub struct Written {
    pub rows: Rows,
    pub source: Vec<usize>,
}

impl Written {
    #[must_use]
    pub fn len(&self) -> usize {
        self.source.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.source.is_empty()
    }
}

/// An error for what a mutation's source does not have.
pub fn missing_column(what: &str) -> PgError {
    PgError::internal(format!("the source of a statement that changes rows has no column for {what}"))
}
