//! `TTL EXPIRES AT`: what is said of it, and the sweeping of rows that have ended.
//!
//! Invariant: what has ended does not come back. Rows that have ended by what was said before are removed before something else is said.

use super::builder::columns_of;
use super::work::Work;
use futures::StreamExt;
use futures::future::BoxFuture;
use std::sync::Arc;
use stoa_exec::environment::{DatabaseInner, StatementContext};
use stoa_exec::write::expiry::remove_ended;
use stoa_exec::write::table_writer::TableWriter;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_sql::catalog::deparse::quote_name;
use stoa_sql::typed::raises::may_raise;
use stoa_sql::typed::tree::{ColId, Expr};
use stoa_syntax::ast;
use stoa_table::catalog::{ColumnId, Oid, Relation, TableDescriptor};
use stoa_table::row::KeyList;
use stoa_table::services::locks::LockWait;
use stoa_table::txn::TableLockMode;

/// Rows that are removed by one commit, at most.
const PIECE: usize = 4096;

// What is said.

/// Says when rows of a table end; gives the expression.
///
/// # Errors
/// 42804, 42P17 for expressions that are none; 0A000 for tables that cannot have it.
pub(super) fn set(work: Work<'_>, table: &mut TableDescriptor, expr: &ast::Expr) -> PgResult<Expr> {
    super::raw::refuse(table, "set TTL EXPIRES AT of")?;
    let catalog = work.catalog();
    // Entries of maps refer to their rows as well; what is said of them is below.
    let refers = |oid: &Oid| catalog.table(*oid).is_some_and(|child| child.entries_of.is_none());
    if catalog.referencing(table.oid).iter().any(refers) || table.foreign_keys.iter().any(|key| key.referenced_table == table.oid) {
        return Err(PgError::unsupported(format!("rows of table \"{}\" cannot end by themselves: foreign keys refer to them", table.name))
            .hint("Drop the foreign keys that refer to the table, or delete its rows where ON DELETE is to act."));
    }
    let path = work.path();
    let context = work.bind_context(&catalog, &path);
    let bound = stoa_sql::bind::expiry::bind(&context, table, expr)?;
    table.expires = Some(work.stored(table, &bound)?);
    super::map::check(table)?;
    Ok(bound)
}

/// ALTER TABLE: says when rows end, or that they do not. Those that have ended are gone.
pub(super) async fn alter(work: Work<'_>, mut table: TableDescriptor, expr: Option<&ast::Expr>) -> PgResult<()> {
    remove_all(work, &table).await?;
    table.expires = None;
    if let Some(expr) = expr {
        let end = set(work, &mut table, expr)?;
        if may_raise(&work.ctx.eval, &end) {
            // No row may be there whose end cannot be computed.
            let mut ends = work.scan(&table, vec![end], None).await?;
            while ends.next().await.transpose()?.is_some() {}
        }
    }
    work.put(Relation::Table(table))
}

/// The columns by whose values rows end.
pub(super) fn columns(work: Work<'_>, table: &TableDescriptor) -> PgResult<Vec<ColumnId>> {
    let Some(text) = &table.expires else { return Ok(Vec::new()) };
    Ok(columns_of(&work.read_stored(table, text)?))
}

/// Refuses changes of a column by whose value rows end, or are newer than others.
///
/// # Errors
/// 0A000.
pub(super) fn refuse_change(work: Work<'_>, table: &TableDescriptor, column: ColumnId, what: &str) -> PgResult<()> {
    let tells_newer = table.timestamp == Some(column);
    if !tells_newer && !columns(work, table)?.contains(&column) {
        return Ok(());
    }
    let (detail, hint) = match tells_newer {
        true => ("Its values tell which rows are newer.", "ALTER TABLE … NO TIMESTAMP lets go of the column."),
        false => ("Rows of the table end by its value.", "ALTER TABLE … NO TTL, or another TTL EXPIRES AT, lets go of the column."),
    };
    let name = table.column(column).map_or_else(String::new, |c| quote_name(&c.name));
    Err(PgError::new(SqlState::DEPENDENT_OBJECTS_STILL_EXIST, format!("cannot {what} column {name} of table {}", quote_name(&table.name)))
        .detail(detail)
        .hint(hint))
}

/// Refuses a foreign key that refers to a table whose rows end, or are cells.
///
/// # Errors
/// 0A000, 42809.
pub(super) fn refuse_reference(target: &TableDescriptor) -> PgResult<()> {
    super::raw::refuse_reference(target)?;
    if target.expires.is_none() {
        return Ok(());
    }
    Err(PgError::unsupported(format!("foreign keys cannot refer to table \"{}\": its rows end by themselves", target.name))
        .hint("ALTER TABLE … NO TTL makes rows stay until they are deleted."))
}

// Sweeping.

/// The keys of rows that have ended, piece by piece, as the statement's snapshot has them.
async fn ended_keys(
    work: Work<'_>,
    table: &TableDescriptor,
) -> PgResult<Option<(TableWriter, futures::stream::BoxStream<'static, PgResult<arrow::array::RecordBatch>>)>> {
    let catalog = work.catalog();
    let path = work.path();
    let Some(ended) = stoa_sql::bind::expiry::ended(&work.bind_context(&catalog, &path), table)? else { return Ok(None) };
    let keys = table.key_columns().filter_map(|part| table.column(part.column));
    let exprs = keys.map(|column| Expr::column(ColId(column.id.0), column.ty.clone())).collect();
    let stream = work.scan_by_any_path(table, exprs, Some(ended)).await?;
    Ok(Some((TableWriter::new(&work.current(), &Arc::new(table.clone()))?, stream)))
}

/// Removes the rows that have ended, in the transaction.
pub(super) async fn remove_all(work: Work<'_>, table: &TableDescriptor) -> PgResult<()> {
    let Some((writer, mut stream)) = ended_keys(work, table).await? else { return Ok(()) };
    while let Some(batch) = stream.next().await {
        let batch = batch?;
        let keys = writer.codec.encode_keys(batch.columns(), batch.num_rows(), None)?;
        remove_ended(&writer, &keys, LockWait::Wait).await?;
    }
    work.refresh().await
}

/// Removes the keys of rows that have ended, in a transaction of its own.
pub(crate) type Removing = fn(Arc<DatabaseInner>, Oid, KeyList) -> BoxFuture<'static, PgResult<()>>;

/// Sweeps a table: rows that have ended are removed, a piece a transaction, without waiting for who has one.
///
/// # Errors
/// What the store reports.
pub(crate) async fn sweep(ctx: &StatementContext, oid: Oid, removing: Removing) -> PgResult<()> {
    let work = Work { ctx };
    work.refresh().await?;
    let Some(table) = work.catalog().table(oid).cloned() else { return Ok(()) };
    let Some((writer, mut stream)) = ended_keys(work, &table).await? else { return Ok(()) };
    let mut piece = KeyList::new();
    while let Some(batch) = stream.next().await {
        let batch = batch?;
        for key in writer.codec.encode_keys(batch.columns(), batch.num_rows(), None)?.iter() {
            piece.push(key);
            if piece.len() >= PIECE {
                removing(Arc::clone(&ctx.database), oid, std::mem::take(&mut piece)).await?;
            }
        }
    }
    if !piece.is_empty() {
        removing(Arc::clone(&ctx.database), oid, piece).await?;
    }
    Ok(())
}

/// Removes rows of a table that have ended, and commits.
///
/// # Errors
/// What the transaction raises.
pub(crate) async fn remove_piece(ctx: &StatementContext, oid: Oid, keys: &KeyList) -> PgResult<()> {
    let work = Work { ctx };
    ctx.txn.lock_table(oid, TableLockMode::RowExclusive, false, "whose rows have ended").await?;
    work.refresh().await?;
    let Some(table) = work.catalog().table(oid).cloned() else { return Ok(()) };
    let writer = TableWriter::new(&work.current(), &Arc::new(table))?;
    remove_ended(&writer, keys, LockWait::SkipLocked).await?;
    ctx.txn.end_statement();
    ctx.txn.commit().await
}
