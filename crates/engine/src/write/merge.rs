//! MERGE: for each row of the source the first arm that fits.

use super::foreign_key::ForeignKeyWork;
use super::insert::{Arbiters, insert};
use super::missing_column;
use super::rows::{Rows, indices};
use super::table_writer::TableWriter;
use super::update::{self, Freshness};
use crate::bind::tree::{ColId, Expr, MergeAction, MergeArm};
use crate::bind::walk;
use crate::catalog::{ColumnId, TableDescriptor};
use crate::exec::StatementContext;
use crate::plan::{TableEvaluator, column_name};
use crate::row::RowEncoder;
use arrow::array::{Array, ArrayRef, RecordBatch};
use arrow::compute::take_record_batch;
use std::collections::HashSet;
use stoa_pg::sqlstate::SqlState;
use stoa_pg::{PgError, PgResult};

/// Expressions over the columns of the source.
struct BatchExprs {
    exprs: Vec<Expr>,
    used: Vec<ColId>,
}

impl BatchExprs {
    fn new(exprs: Vec<Expr>) -> PgResult<Self> {
        let mut used = Vec::new();
        for e in &exprs {
            let mut subquery = false;
            walk::visit_subqueries(e, &mut |_| subquery = true);
            if subquery {
                return Err(PgError::unsupported("subqueries in the arms of MERGE are not supported")
                    .hint("Compute the value in the query of USING."));
            }
            walk::columns_of(e, &mut used);
        }
        used.sort_unstable();
        used.dedup();
        Ok(Self { exprs, used })
    }

    fn evaluate(&self, ctx: &StatementContext, batch: &RecordBatch) -> PgResult<Vec<ArrayRef>> {
        let mut columns = Vec::with_capacity(self.used.len());
        let mut types = Vec::with_capacity(self.used.len());
        for col in &self.used {
            let name = column_name(*col);
            let array = batch.column_by_name(&name).ok_or_else(|| missing_column(&name))?;
            types.push((*col, array.data_type().clone()));
            columns.push(array.clone());
        }
        TableEvaluator::new(&ctx.eval, &ctx.params, &types, &self.exprs)?.evaluate(columns, batch.num_rows())
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
    /// # Errors
    /// 0A000 for subqueries.
    pub fn new(_: &StatementContext, _: &TableDescriptor, arms: &[MergeArm]) -> PgResult<Self> {
        let split = |list: &[(ColumnId, Expr)]| -> PgResult<(Vec<ColumnId>, BatchExprs)> {
            Ok((list.iter().map(|(id, _)| *id).collect(), BatchExprs::new(list.iter().map(|(_, e)| e.clone()).collect())?))
        };
        let compiled = arms
            .iter()
            .map(|arm| {
                Ok(Arm {
                    matched: arm.matched,
                    condition: arm.condition.as_ref().map(|c| BatchExprs::new(vec![c.clone()])).transpose()?,
                    action: match &arm.action {
                        MergeAction::DoNothing => Action::Nothing,
                        MergeAction::Delete => Action::Delete,
                        MergeAction::Update(list) => {
                            let (ids, exprs) = split(list)?;
                            Action::Update(ids, exprs)
                        }
                        MergeAction::Insert(list) => {
                            let (ids, exprs) = split(list)?;
                            Action::Insert(ids, exprs)
                        }
                    },
                })
            })
            .collect::<PgResult<Vec<_>>>()?;
        Ok(Self(compiled))
    }
}

/// Does one batch; gives the number of rows changed.
///
/// # Errors
/// Constraint violations; 21000 when a row would be changed twice.
pub async fn apply(
    writer: &mut TableWriter,
    work: &mut ForeignKeyWork,
    arms: &Arms,
    old: &[(ColumnId, ColId)],
    batch: &RecordBatch,
) -> PgResult<u64> {
    let ctx = writer.ctx.clone();
    let key = writer.table.key.first().and_then(|p| old.iter().find(|(id, _)| *id == p.column));
    let key = key.map(|(_, col)| column_name(*col)).ok_or_else(|| missing_column("the target's key"))?;
    let key = batch.column_by_name(&key).ok_or_else(|| missing_column(&key))?.clone();
    let mut undecided: Vec<usize> = (0..batch.num_rows()).collect();
    let mut chosen: Vec<Vec<usize>> = Vec::with_capacity(arms.0.len());
    for arm in &arms.0 {
        let fitting: Vec<usize> = undecided.iter().copied().filter(|row| key.is_valid(*row) == arm.matched).collect();
        let taken = match &arm.condition {
            _ if fitting.is_empty() => fitting,
            None => fitting,
            Some(condition) => {
                let out = condition.evaluate(&ctx, &take_record_batch(batch, &indices(&fitting))?)?;
                let mask = out.first().ok_or_else(|| PgError::internal("a condition without a value"))?;
                let mask = datafusion::common::cast::as_boolean_array(mask).map_err(crate::plan::from_datafusion)?;
                fitting.into_iter().enumerate().filter(|(at, _)| mask.is_valid(*at) && mask.value(*at)).map(|(_, row)| row).collect()
            }
        };
        let gone: HashSet<usize> = taken.iter().copied().collect();
        undecided.retain(|row| !gone.contains(row));
        chosen.push(taken);
    }
    refuse_second_time(writer, arms, old, batch, &chosen)?;

    let mut count = 0;
    for (arm, rows) in arms.0.iter().zip(&chosen) {
        if rows.is_empty() {
            continue;
        }
        let part = take_record_batch(batch, &indices(rows))?;
        count += match &arm.action {
            Action::Nothing => 0,
            Action::Delete => update::delete(writer, work, &Rows::of_batch(&part, old)?, Freshness::Snapshot).await?.len(),
            Action::Update(ids, exprs) => {
                let before = Rows::of_batch(&part, old)?;
                let mut after = before.clone();
                for (id, array) in ids.iter().zip(exprs.evaluate(&ctx, &part)?) {
                    after.set(*id, array);
                }
                writer.regenerate(&mut after)?;
                let mut assigned: HashSet<ColumnId> = ids.iter().copied().collect();
                assigned.extend(writer.generated_columns());
                update::update(writer, work, &before, after, &assigned, Freshness::Snapshot).await?.len()
            }
            Action::Insert(ids, exprs) => {
                let mut new = Rows::new(part.num_rows());
                for (id, array) in ids.iter().zip(exprs.evaluate(&ctx, &part)?) {
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
        if writer.ctx.txn.changed_by_statement(writer.codec.storage, &key) || !seen.insert(key) {
            return Err(PgError::new(SqlState::CARDINALITY_VIOLATION, "MERGE command cannot affect row a second time")
                .hint("Ensure that not more than one source row matches any one target row."));
        }
    }
    Ok(())
}
