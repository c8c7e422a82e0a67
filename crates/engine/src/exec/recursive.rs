//! WITH RECURSIVE: the base's rows, then the step over the rows of the round before, until a round gives nothing new.
//!
//! Rounds run one after the other; the working table is in memory, as is the set of rows seen for UNION.

use crate::bind::tree::{ColId, CteId, Rel};
use crate::plan::relation::{Materialized, Planner, memory_scan};
use crate::plan::{column_name, from_datafusion};
use arrow::array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{Field, Schema, SchemaRef};
use arrow::row::{OwnedRow, RowConverter, SortField};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::logical_expr::LogicalPlan;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use stoa_pg::{PgResult, SqlType};

/// Computes the recursion and gives its rows as a plan.
#[allow(clippy::too_many_arguments)] // the parts of the node
pub async fn plan(
    planner: &Planner,
    cte: CteId,
    columns: &[(ColId, SqlType)],
    base: &Rel,
    base_columns: &[ColId],
    step: &Rel,
    step_columns: &[ColId],
    all: bool,
) -> PgResult<LogicalPlan> {
    let fields: Vec<Field> = columns.iter().map(|(c, ty)| Field::new(column_name(*c), ty.arrow.clone(), true)).collect();
    let schema: SchemaRef = Arc::new(Schema::new(fields));
    let reservation = MemoryConsumer::new("recursive query").register(&planner.ctx.database.runtime.memory_pool);
    let mut seen = Seen::new(columns, all)?;
    let mut result: Vec<RecordBatch> = Vec::new();
    let mut working = take(planner.run(base, base_columns).await?, &schema, &mut seen, &reservation)?;
    if !planner.run_subqueries {
        // EXPLAIN plans the terms and runs neither.
        working.clear();
    }
    while working.iter().any(|b| b.num_rows() > 0) {
        planner.ctx.session.check_interrupt()?;
        let mut ctes: HashMap<CteId, Materialized> = (*planner.ctes).clone();
        let ids = columns.iter().map(|(c, _)| *c).collect();
        ctes.insert(cte, Materialized { columns: ids, schema: schema.clone(), batches: Arc::new(working.clone()) });
        result.append(&mut working);
        let round = Planner { ctes: Arc::new(ctes), ..planner.clone() };
        working = take(round.run(step, step_columns).await?, &schema, &mut seen, &reservation)?;
    }
    result.append(&mut working);
    memory_scan(schema, result)
}

/// A round's rows under the recursion's names, without those that were seen.
fn take(batches: Vec<RecordBatch>, schema: &SchemaRef, seen: &mut Seen, reservation: &MemoryReservation) -> PgResult<Vec<RecordBatch>> {
    let mut out = Vec::with_capacity(batches.len());
    for batch in batches {
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let batch = RecordBatch::try_new_with_options(schema.clone(), batch.columns().to_vec(), &options)?;
        let batch = seen.fresh(batch)?;
        if batch.num_rows() > 0 {
            reservation.try_grow(batch.get_array_memory_size()).map_err(from_datafusion)?;
            out.push(batch);
        }
    }
    Ok(out)
}

/// Rows that came before, for UNION; nothing for UNION ALL.
struct Seen {
    rows: Option<(RowConverter, HashSet<OwnedRow>)>,
    types: Vec<SqlType>,
}

impl Seen {
    fn new(columns: &[(ColId, SqlType)], all: bool) -> PgResult<Self> {
        let types: Vec<SqlType> = columns.iter().map(|(_, t)| t.clone()).collect();
        if all {
            return Ok(Self { rows: None, types });
        }
        let fields = types
            .iter()
            .map(|t| {
                SortField::new(if crate::plan::expr::has_native_order(t) {
                    t.arrow.clone()
                } else {
                    arrow::datatypes::DataType::BinaryView
                })
            })
            .collect();
        Ok(Self { rows: Some((RowConverter::new(fields)?, HashSet::new())), types })
    }

    fn fresh(&mut self, batch: RecordBatch) -> PgResult<RecordBatch> {
        let Some((converter, seen)) = &mut self.rows else { return Ok(batch) };
        let mut keys: Vec<ArrayRef> = Vec::with_capacity(batch.num_columns());
        for (array, ty) in batch.columns().iter().zip(&self.types) {
            keys.push(if crate::plan::expr::has_native_order(ty) { array.clone() } else { stoa_pg::values::sort_key(ty, array)? });
        }
        let rows = converter.convert_columns(&keys)?;
        let mask: BooleanArray = rows.iter().map(|r| Some(seen.insert(r.owned()))).collect();
        Ok(filter_record_batch(&batch, &mask)?)
    }
}
