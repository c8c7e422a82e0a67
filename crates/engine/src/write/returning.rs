//! RETURNING: expressions over the rows written and the source's columns.

use super::missing_column;
use super::rows::{Rows, indices};
use crate::bind::tree::{ColId, Mutation, Output};
use crate::bind::walk;
use crate::catalog::ColumnId;
use crate::exec::StatementContext;
use crate::plan::{TableEvaluator, column_name};
use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::compute::take;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use std::sync::Arc;
use stoa_pg::{PgError, PgResult};

/// Where a column that an expression uses comes from.
enum Origin {
    Row(ColumnId),
    Source(ColId),
}

struct Plan {
    exprs: Vec<crate::bind::tree::Expr>,
    /// The columns used, with their origins; types of the source's are known with the first batch.
    used: Vec<(ColId, Origin)>,
    evaluator: Option<TableEvaluator>,
    schema: SchemaRef,
    ctx: StatementContext,
}

/// Collects the rows of RETURNING.
pub struct Returning {
    plan: Option<Plan>,
    batches: Vec<RecordBatch>,
}

impl Returning {
    /// # Errors
    /// 0A000 for subqueries.
    pub fn new(ctx: &StatementContext, mutation: &Mutation) -> PgResult<Self> {
        let Some(list) = &mutation.returning else { return Ok(Self { plan: None, batches: Vec::new() }) };
        let mut columns = Vec::new();
        for (_, e) in list {
            let mut subquery = false;
            walk::visit_subqueries(e, &mut |_| subquery = true);
            if subquery {
                return Err(PgError::unsupported("subqueries in RETURNING are not supported")
                    .hint("Put the statement into a WITH clause and select from it."));
            }
            walk::columns_of(e, &mut columns);
        }
        columns.sort_unstable();
        columns.dedup();
        let used = columns
            .into_iter()
            .map(|col| match mutation.returning_columns.iter().find(|(_, c)| *c == col) {
                Some((id, _)) => (col, Origin::Row(*id)),
                None => (col, Origin::Source(col)),
            })
            .collect();
        let fields: Vec<Field> = list.iter().map(|(o, _): &(Output, _)| Field::new(column_name(o.col), o.ty.arrow.clone(), true)).collect();
        let plan = Plan {
            exprs: list.iter().map(|(_, e)| e.clone()).collect(),
            used,
            evaluator: None,
            schema: Arc::new(Schema::new(fields)),
            ctx: ctx.clone(),
        };
        Ok(Self { plan: Some(plan), batches: Vec::new() })
    }

    /// Adds rows that were written; `source` gives each one's position in the source's batch.
    ///
    /// # Errors
    /// What an expression raises.
    pub fn add(&mut self, rows: &Rows, batch: &RecordBatch, source: &[usize]) -> PgResult<()> {
        let Some(plan) = &mut self.plan else { return Ok(()) };
        if rows.is_empty() {
            return Ok(());
        }
        let positions = indices(source);
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(plan.used.len());
        let mut types: Vec<(ColId, DataType)> = Vec::with_capacity(plan.used.len());
        for (col, origin) in &plan.used {
            let array = match origin {
                Origin::Row(id) => rows.column(*id)?.clone(),
                Origin::Source(col) => {
                    let name = column_name(*col);
                    take(batch.column_by_name(&name).ok_or_else(|| missing_column(&name))?, &positions, None)?
                }
            };
            types.push((*col, array.data_type().clone()));
            columns.push(array);
        }
        let evaluator = match &mut plan.evaluator {
            Some(evaluator) => evaluator,
            None => plan.evaluator.insert(TableEvaluator::new(&plan.ctx.eval, &plan.ctx.params, &types, &plan.exprs)?),
        };
        let out = evaluator.evaluate(columns, rows.len())?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        self.batches.push(RecordBatch::try_new_with_options(Arc::clone(&plan.schema), out, &options)?);
        Ok(())
    }

    #[must_use]
    pub fn finish(self) -> Vec<RecordBatch> {
        self.batches
    }
}
