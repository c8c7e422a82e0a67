//! RETURNING: expressions over the rows written and the source's columns.

use super::missing_column;
use super::row_exprs::{RowExprs, Subqueries};
use super::rows::{Rows, indices};
use crate::nodes::StatementContext;
use arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::compute::take;
use arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use std::sync::Arc;
use stoa_pg::PgResult;
use stoa_sql::typed::tree::{ColId, Mutation, Output};
use stoa_sql::typed::{column_name, from_datafusion};
use stoa_table::catalog::ColumnId;

/// Where a column that an expression uses comes from.
enum Origin {
    Row(ColumnId),
    Source(ColId),
}

struct Plan {
    exprs: RowExprs,
    /// Where each column that they use comes from.
    used: Vec<Origin>,
    schema: SchemaRef,
    ctx: StatementContext,
    memory: MemoryReservation,
}

/// Collects the rows of RETURNING.
pub struct Returning {
    plan: Option<Plan>,
    /// What the expressions are over; they are computed when all rows are written.
    rows: Vec<(Vec<ArrayRef>, usize)>,
}

impl Returning {
    #[must_use]
    pub fn new(ctx: &StatementContext, queries: &dyn Subqueries, mutation: &Mutation) -> Self {
        let Some(list) = &mutation.returning else { return Self { plan: None, rows: Vec::new() } };
        let exprs = RowExprs::new(queries, list.iter().map(|(_, e)| e.clone()).collect());
        let used = exprs
            .columns()
            .map(|col| match mutation.returning_columns.iter().find(|(_, c)| *c == col) {
                Some((id, _)) => Origin::Row(*id),
                None => Origin::Source(col),
            })
            .collect();
        let fields: Vec<Field> = list.iter().map(|(o, _): &(Output, _)| Field::new(column_name(o.col), o.ty.arrow.clone(), true)).collect();
        let memory = MemoryConsumer::new("rows of RETURNING").register(&ctx.database.runtime.memory_pool);
        let plan = Plan { exprs, used, schema: Arc::new(Schema::new(fields)), ctx: ctx.clone(), memory };
        Self { plan: Some(plan), rows: Vec::new() }
    }

    /// Adds rows that were written; `source` gives each one's position in the source's batch.
    ///
    /// # Errors
    /// A column is missing; 53200.
    pub fn add(&mut self, rows: &Rows, batch: &RecordBatch, source: &[usize]) -> PgResult<()> {
        let Some(plan) = &self.plan else { return Ok(()) };
        if rows.is_empty() {
            return Ok(());
        }
        let positions = indices(source);
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(plan.used.len());
        for origin in &plan.used {
            columns.push(match origin {
                Origin::Row(id) => rows.column(*id)?.clone(),
                Origin::Source(col) => {
                    let name = column_name(*col);
                    take(batch.column_by_name(&name).ok_or_else(|| missing_column(&name))?, &positions, None)?
                }
            });
        }
        // All of them are held until the statement has ended: there is no place for more than memory.
        let bytes = columns.iter().map(|c| c.get_array_memory_size()).sum();
        plan.memory.try_grow(bytes).map_err(from_datafusion)?;
        self.rows.push((columns, rows.len()));
        Ok(())
    }

    /// Computes the list for all rows. The memory is that of the rows: it goes with them.
    ///
    /// # Errors
    /// What an expression raises.
    pub async fn finish(self) -> PgResult<(Vec<RecordBatch>, Option<MemoryReservation>)> {
        let Some(plan) = self.plan else { return Ok((Vec::new(), None)) };
        let mut out = Vec::with_capacity(self.rows.len());
        for (columns, rows) in self.rows {
            let values = plan.exprs.evaluate(&plan.ctx.eval, &plan.ctx.params, columns, rows).await?;
            let options = RecordBatchOptions::new().with_row_count(Some(rows));
            out.push(RecordBatch::try_new_with_options(Arc::clone(&plan.schema), values, &options)?);
        }
        Ok((out, Some(plan.memory)))
    }
}
