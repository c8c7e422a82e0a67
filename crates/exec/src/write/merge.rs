//! MERGE: for each row of the source the first arm that fits.

use super::foreign_key::ForeignKeyWork;
use super::insert::{Arbiters, insert};
use super::missing_column;
use super::policy::refuse;
use super::row_exprs::{RowExprs, Subqueries};
use super::rows::{Rows, indices};
use super::table_writer::TableWriter;
use super::update::{self, Freshness};
use crate::nodes::StatementContext;
use arrow::array::{Array, ArrayRef, RecordBatch};
use arrow::compute::take_record_batch;
use hashbrown::HashSet;
use stoa_pg::sqlstate::SqlState;
use stoa_pg::{PgError, PgResult};
use stoa_sql::typed::column_name;
use stoa_sql::typed::tree::{ColId, Expr, MergeAction, MergeArm, PolicyCheck};
use stoa_table::catalog::ColumnId;
use stoa_table::row::RowEncoder;

/// Expressions over the columns of the source.
struct BatchExprs(RowExprs);

impl BatchExprs {
    async fn evaluate(&mut self, ctx: &StatementContext, batch: &RecordBatch) -> PgResult<Vec<ArrayRef>> {
        let columns = self
            .0
            .columns()
            .map(|col| {
                let name = column_name(col);
                batch.column_by_name(&name).cloned().ok_or_else(|| missing_column(&name))
            })
            .collect::<PgResult<Vec<_>>>()?;
        self.0.evaluate(&ctx.eval, &ctx.params, columns, batch.num_rows()).await
    }
}

enum Action {
    Nothing,
    Delete,
    Update(Vec<ColumnId>, BatchExprs),
    Insert(Vec<ColumnId>, BatchExprs),
}

struct Arm {
    matched: bool,
    condition: Option<BatchExprs>,
    action: Action,
}

/// The arms, compiled.
pub struct Arms(Vec<Arm>);

impl Arms {
    #[must_use]
    pub fn new(queries: &dyn Subqueries, arms: &[MergeArm]) -> Self {
        let compile = |exprs: Vec<Expr>| BatchExprs(RowExprs::new(queries, exprs));
        let split = |list: &[(ColumnId, Expr)]| -> (Vec<ColumnId>, BatchExprs) {
            (list.iter().map(|(id, _)| *id).collect(), compile(list.iter().map(|(_, e)| e.clone()).collect()))
        };
        let compiled = arms
            .iter()
            .map(|arm| Arm {
                matched: arm.matched,
                condition: arm.condition.as_ref().map(|c| compile(vec![c.clone()])),
                action: match &arm.action {
                    MergeAction::DoNothing => Action::Nothing,
                    MergeAction::Delete => Action::Delete,
                    MergeAction::Update(list) => {
                        let (ids, exprs) = split(list);
                        Action::Update(ids, exprs)
                    }
                    MergeAction::Insert(list) => {
                        let (ids, exprs) = split(list);
                        Action::Insert(ids, exprs)
                    }
                },
            })
            .collect();
        Self(compiled)
    }
}

/// Does one batch; gives the number of rows changed.
///
/// # Errors
/// Constraint violations; 21000 when a row would be changed twice.
pub async fn apply(
    writer: &mut TableWriter,
    work: &mut ForeignKeyWork,
    arms: &mut Arms,
    old: &[(ColumnId, ColId)],
    batch: &RecordBatch,
) -> PgResult<u64> {
    let ctx = writer.ctx.clone();
    let key = writer.table.key.first().and_then(|p| old.iter().find(|(id, _)| *id == p.column));
    let key = key.map(|(_, col)| column_name(*col)).ok_or_else(|| missing_column("the target's key"))?;
    let key = batch.column_by_name(&key).ok_or_else(|| missing_column(&key))?.clone();
    let mut undecided: Vec<usize> = (0..batch.num_rows()).collect();
    let mut chosen: Vec<Vec<usize>> = Vec::with_capacity(arms.0.len());
    for arm in &mut arms.0 {
        let fitting: Vec<usize> = undecided.iter().copied().filter(|row| key.is_valid(*row) == arm.matched).collect();
        let taken = match &mut arm.condition {
            _ if fitting.is_empty() => fitting,
            None => fitting,
            Some(condition) => {
                let out = condition.evaluate(&ctx, &take_record_batch(batch, &indices(&fitting))?).await?;
                let mask = out.first().ok_or_else(|| PgError::internal("a condition without a value"))?;
                let mask = datafusion::common::cast::as_boolean_array(mask).map_err(stoa_sql::typed::from_datafusion)?;
                fitting.into_iter().enumerate().filter(|(at, _)| mask.is_valid(*at) && mask.value(*at)).map(|(_, row)| row).collect()
            }
        };
        let gone: HashSet<usize> = taken.iter().copied().collect();
        undecided.retain(|row| !gone.contains(row));
        chosen.push(taken);
    }
    refuse_second_time(writer, arms, old, batch, &chosen)?;

    let mut count = 0;
    for (arm, rows) in arms.0.iter_mut().zip(&chosen) {
        if rows.is_empty() {
            continue;
        }
        let part = take_record_batch(batch, &indices(rows))?;
        count += match &mut arm.action {
            Action::Nothing => 0,
            Action::Delete => {
                let rows = Rows::of_batch(&part, old)?;
                refuse(writer, PolicyCheck::MergeDeletes, &rows).await?;
                update::delete(writer, work, &rows, Freshness::Snapshot).await?.len()
            }
            Action::Update(ids, exprs) => {
                let before = Rows::of_batch(&part, old)?;
                refuse(writer, PolicyCheck::MergeUpdates, &before).await?;
                let mut after = before.clone();
                let values = exprs.evaluate(&ctx, &part).await?;
                for (id, array) in ids.iter().zip(values) {
                    after.set(*id, array);
                }
                writer.regenerate(&mut after)?;
                let mut assigned: HashSet<ColumnId> = ids.iter().copied().collect();
                assigned.extend(writer.generated_columns());
                update::update(writer, work, &before, after, &assigned, Freshness::Snapshot).await?.len()
            }
            Action::Insert(ids, exprs) => {
                let mut new = Rows::new(part.num_rows());
                let values = exprs.evaluate(&ctx, &part).await?;
                for (id, array) in ids.iter().zip(values) {
                    new.set(*id, array);
                }
                writer.complete(&mut new)?;
                writer.regenerate(&mut new)?;
                insert(writer, work, &new, Arbiters::None).await?.inserted.len()
            }
        } as u64;
    }
    Ok(count)
}

/// 21000 when two rows of the source would change one of the target.
fn refuse_second_time(
    writer: &TableWriter,
    arms: &Arms,
    old: &[(ColumnId, ColId)],
    batch: &RecordBatch,
    chosen: &[Vec<usize>],
) -> PgResult<()> {
    let rows: Vec<usize> = arms
        .0
        .iter()
        .zip(chosen)
        .filter(|(arm, _)| matches!(arm.action, Action::Delete | Action::Update(..)))
        .flat_map(|(_, rows)| rows.iter().copied())
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    let targets = Rows::of_batch(&take_record_batch(batch, &indices(&rows))?, old)?;
    let encoder = RowEncoder::new(&writer.codec, |id| targets.get(id).cloned())?;
    let mut seen = HashSet::with_capacity(rows.len());
    for row in 0..targets.len() {
        let mut key = Vec::new();
        encoder.key(row, &mut key)?;
        if writer.ctx.txn.changed_by_statement(writer.codec.storage, &key)? || !seen.insert(key) {
            return Err(PgError::new(SqlState::CARDINALITY_VIOLATION, "MERGE command cannot affect row a second time")
                .hint("Ensure that not more than one source row matches any one target row."));
        }
    }
    Ok(())
}
