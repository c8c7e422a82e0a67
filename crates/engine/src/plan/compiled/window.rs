//! Window functions over one batch.

use super::scalar::{Computed, EvalArgs};
use crate::plan::aggregate::Lowering;
use crate::plan::compiled::simple_scan::{Columns, schema_of};
use crate::plan::window::{Windows, expressions_of, leave_out_keys};
use arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow::compute::{SortColumn, concat, lexsort_to_indices, partition, take_record_batch};
use arrow::datatypes::{DataType, Schema, SchemaRef};
use datafusion::common::DFSchema;
use datafusion::logical_expr::execution_props::ExecutionProps;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::physical_expr::window::WindowExpr as Call;
use datafusion::physical_planner::create_window_expr_with_name;
use std::cell::Cell;
use std::sync::Arc;
use stoa_pg::{EvalContext, PgError, PgResult};
use stoa_sql::typed::evaluator::TableEvaluator;
use stoa_sql::typed::expr::ExprPlanner;
use stoa_sql::typed::tree::{ColId, Expr, WindowExpr};
use stoa_sql::typed::{column_name, from_datafusion};

/// Ids of columns that only window calls have; those of parameters, groups and the binder are elsewhere.
const OWN_COLUMNS: u32 = 0x6800_0000;

/// Window calls over the rows of a node.
pub(super) struct Window {
    /// The calls' expressions: columns behind those of the rows.
    args: Option<Computed>,
    /// The columns of the rows and these.
    schema: SchemaRef,
    /// KernelExpr of one partition and order stand together.
    calls: Vec<Vec<Arc<dyn Call>>>,
    /// The values over the calls' results, which are columns behind all others.
    values: TableEvaluator,
}

impl Window {
    /// Compiles the calls, with the columns that they add; `None` if an expression cannot be computed here.
    pub(super) fn compile(eval: &EvalContext, input: &Columns, windows: &[(ColId, WindowExpr)]) -> PgResult<Option<(Self, Columns)>> {
        let mut windows = windows.to_vec();
        leave_out_keys(&mut windows);
        let next = Cell::new(OWN_COLUMNS);
        let fresh = || {
            next.set(next.get() + 1);
            ColId(next.get())
        };
        let exprs = expressions_of(&windows);
        let mut columns = input.clone();
        let list: Vec<Expr> = exprs
            .iter()
            .map(|e| {
                let id = fresh();
                columns.push((id, e.ty.clone()));
                Expr::column(id, e.ty.clone())
            })
            .collect();
        let args = match exprs.is_empty() {
            true => None,
            false => match Computed::compile(eval, input, &exprs)? {
                Some(args) => Some(args),
                None => return Ok(None),
            },
        };
        let schema = schema_of(&columns);
        let df_schema = DFSchema::try_from(schema.as_ref().clone()).map_err(from_datafusion)?;
        let lowering = Lowering { exprs: ExprPlanner { eval, params: &[] }, fresh: &fresh };
        let Windows { calls, values } = lowering.windows(&mut windows, list, &df_schema)?;
        let (props, planning) = (ExecutionProps::new(), PhysicalPlanningContext::default());
        let mut typed: Vec<(ColId, DataType)> = columns.iter().map(|(id, ty)| (*id, ty.arrow.clone())).collect();
        let mut sorted: Vec<(Vec<Arc<dyn Call>>, Vec<ColId>)> = Vec::new();
        for (id, call) in calls {
            let call = create_window_expr_with_name(&call, column_name(id), &df_schema, &props, &planning).map_err(from_datafusion)?;
            let alike = |(of, _): &&mut (Vec<Arc<dyn Call>>, Vec<ColId>)| {
                of.first().is_some_and(|other| other.partition_by() == call.partition_by() && other.order_by() == call.order_by())
            };
            match sorted.iter_mut().find(alike) {
                Some((calls, ids)) => {
                    calls.push(call);
                    ids.push(id);
                }
                None => sorted.push((vec![call], vec![id])),
            }
        }
        for (calls, ids) in &sorted {
            for (call, id) in calls.iter().zip(ids) {
                typed.push((*id, call.field().map_err(from_datafusion)?.data_type().clone()));
            }
        }
        let (ids, values): (Vec<ColId>, Vec<_>) = values.into_iter().unzip();
        let values = TableEvaluator::of(&typed, &values)?;
        let mut given = input.clone();
        for id in ids {
            let Some((_, w)) = windows.iter().find(|(own, _)| *own == id) else { return Ok(None) };
            given.push((id, w.ty.clone()));
        }
        Ok(Some((Self { args, schema, calls: sorted.into_iter().map(|(calls, _)| calls).collect(), values }, given)))
    }

    /// The rows with the columns that are added, in the order of the last call.
    ///
    /// # Errors
    /// What the expressions and the calls raise.
    pub(super) fn apply(&self, batch: &RecordBatch, schema: &SchemaRef, known: EvalArgs<'_>) -> PgResult<RecordBatch> {
        let rows = batch.num_rows();
        if rows == 0 {
            return Ok(RecordBatch::new_empty(Arc::clone(schema)));
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let mut columns = batch.columns().to_vec();
        if let Some(args) = &self.args {
            columns.extend(args.evaluate(batch.columns(), rows, known)?);
        }
        let mut batch = RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)?;
        for calls in &self.calls {
            batch = with_calls(batch, calls)?;
        }
        let values = self.values.evaluate(batch.columns().to_vec(), rows)?;
        let own = schema.fields().len() - values.len();
        let columns = batch.columns().iter().take(own).cloned().chain(values).collect();
        Ok(RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)?)
    }
}

/// The rows in the order of some calls, with their results.
fn with_calls(batch: RecordBatch, calls: &[Arc<dyn Call>]) -> PgResult<RecordBatch> {
    let Some(first) = calls.first() else { return Ok(batch) };
    let rows = batch.num_rows();
    let mut keys: Vec<SortColumn> = Vec::with_capacity(first.partition_by().len() + first.order_by().len() + 1);
    for e in first.partition_by() {
        let values = e.evaluate(&batch).and_then(|v| v.into_array(rows)).map_err(from_datafusion)?;
        keys.push(SortColumn { values, options: None });
    }
    let parted = keys.len();
    keys.extend(first.order_by_columns(&batch).map_err(from_datafusion)?);
    let mut batch = batch;
    if !keys.is_empty() {
        // Rows that are equal stay in their order.
        let numbers = UInt32Array::from_iter_values((0u32..).take(rows));
        keys.push(SortColumn { values: Arc::new(numbers), options: None });
        let order = lexsort_to_indices(&keys, None)?;
        batch = take_record_batch(&batch, &order)?;
        keys.truncate(parted);
        for key in &mut keys {
            key.values = arrow::compute::take(&key.values, &order, None)?;
        }
    }
    let of_keys: Vec<ArrayRef> = keys.into_iter().map(|key| key.values).collect();
    let partitions = if of_keys.is_empty() { std::iter::once(0..rows).collect() } else { partition(&of_keys)?.ranges() };
    let mut columns = batch.columns().to_vec();
    let mut fields: Vec<_> = batch.schema().fields().iter().cloned().collect();
    for call in calls {
        let mut pieces = Vec::with_capacity(partitions.len());
        for range in &partitions {
            pieces.push(call.evaluate(&batch.slice(range.start, range.len())).map_err(from_datafusion)?);
        }
        let column = match pieces.as_slice() {
            [] => return Err(PgError::internal("rows of no partition")),
            [one] => Arc::clone(one),
            several => concat(&several.iter().map(|piece| &**piece as &dyn Array).collect::<Vec<_>>())?,
        };
        fields.push(call.field().map_err(from_datafusion)?);
        columns.push(column);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)?)
}
