//! Groups and aggregates over one batch.

use super::super::aggregate::{Lowered, Lowering};
use super::super::direct::Columns;
use super::super::distinct::DistinctUdaf;
use super::super::evaluator::TableEvaluator;
use super::super::expr::ExprPlanner;
use super::super::key_read::Computed;
use super::super::{column_name, from_datafusion};
use crate::bind::tree::{AggregateExpr, ColId, Expr};
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow::compute::{filter, prep_null_mask_filter, take};
use arrow::datatypes::{DataType, SchemaRef};
use arrow::row::{RowConverter, SortField};
use datafusion::common::ScalarValue;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::aggregate::{AggregateExprBuilder, AggregateFunctionExpr};
use parking_lot::Mutex;
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;
use stoa_pg::{EvalContext, PgError, PgResult};

/// Ids of columns that only a group's own expressions have; those of parameters and of the binder are elsewhere.
const OWN_COLUMNS: u32 = 0x6000_0000;

/// GROUP BY, DISTINCT, aggregates.
pub(super) struct Group {
    /// Values by which rows are of one group, in their sortable form, and how they become bytes; none for a single group of all rows.
    keys: Option<(Computed, Mutex<RowConverter>)>,
    /// The groups' values; those of a group's first row are given.
    values: Option<Computed>,
    /// Arguments and conditions of the aggregates.
    args: Option<Computed>,
    parts: Vec<Part>,
    /// The aggregates' results over those of the parts.
    results: Option<TableEvaluator>,
}

/// One accumulator for each group.
struct Part {
    call: AggregateFunctionExpr,
    args: Vec<Arc<dyn PhysicalExpr>>,
    /// The position of FILTER's condition among the arguments' columns.
    filter: Option<usize>,
}

impl Group {
    /// Compiles the groups and the aggregates, with the columns that they give; `None` if one needs more than the rows.
    pub(super) fn compile(
        eval: &EvalContext,
        input: &Columns,
        groups: &[(ColId, Expr)],
        aggregates: &[&(ColId, AggregateExpr)],
    ) -> PgResult<Option<(Self, Columns)>> {
        let mut given = Columns::with_capacity(groups.len() + aggregates.len());
        given.extend(groups.iter().map(|(id, e)| (*id, e.ty.clone())));
        given.extend(aggregates.iter().map(|(id, a)| (*id, a.ty.clone())));
        let group_exprs: Vec<Expr> = groups.iter().map(|(_, e)| e.clone()).collect();
        let (mut keys, mut values) = (None, None);
        if !group_exprs.is_empty() {
            let Some(computed) = Computed::compile_keys(eval, input, &group_exprs)? else { return Ok(None) };
            let fields = computed.types()?.into_iter().map(SortField::new).collect();
            keys = Some((computed, Mutex::new(RowConverter::new(fields)?)));
            let Some(computed) = Computed::compile(eval, input, &group_exprs)? else { return Ok(None) };
            values = Some(computed);
        }

        // Arguments become columns of a batch of their own, over which the aggregates are chosen.
        let next = Cell::new(OWN_COLUMNS);
        let fresh = || {
            next.set(next.get() + 1);
            ColId(next.get())
        };
        let mut arg_exprs: Vec<Expr> = Vec::new();
        let mut arg_columns: Vec<(ColId, DataType)> = Vec::new();
        let mut as_column = |e: &Expr| {
            let id = fresh();
            arg_exprs.push(e.clone());
            arg_columns.push((id, e.ty.arrow.clone()));
            (Expr::column(id, e.ty.clone()), arg_exprs.len() - 1)
        };
        let mut chosen: Vec<(Lowered, Option<usize>, bool)> = Vec::with_capacity(aggregates.len());
        for (_, a) in aggregates {
            if a.within_group || !a.order_by.is_empty() {
                return Ok(None);
            }
            let args: Vec<Expr> = a.args.iter().map(|e| as_column(e).0).collect();
            let lowering = Lowering { exprs: ExprPlanner { eval, params: &[] }, fresh: &fresh };
            let filter = a.filter.as_ref().map(|condition| as_column(condition).1);
            chosen.push((lowering.lower(a, &args)?, filter, a.distinct));
        }
        let args = match arg_exprs.is_empty() {
            true => None,
            false => match Computed::compile(eval, input, &arg_exprs)? {
                Some(computed) => Some(computed),
                None => return Ok(None),
            },
        };
        let mut parts = Vec::new();
        let (mut part_columns, mut result_exprs) = (Vec::new(), Vec::with_capacity(chosen.len()));
        for (lowered, filter, distinct) in chosen {
            for part in lowered.parts {
                let udf = match part.sensitive && !part.distinct && distinct {
                    true => DistinctUdaf::ordered(part.udf, part.arg_types, true, Vec::new(), Vec::new()),
                    false => part.udf,
                };
                let compiled = TableEvaluator::of(&arg_columns, &part.args)?;
                let args = compiled.exprs().to_vec();
                let builder =
                    AggregateExprBuilder::new(udf, args.clone()).schema(Arc::clone(compiled.schema())).alias(column_name(part.id));
                let call = builder.with_distinct(part.distinct).build().map_err(from_datafusion)?;
                part_columns.push((part.id, call.field().data_type().clone()));
                parts.push(Part { call, args, filter });
            }
            result_exprs.push(lowered.value);
        }
        let results = match result_exprs.is_empty() {
            true => None,
            false => Some(TableEvaluator::of(&part_columns, &result_exprs)?),
        };
        Ok(Some((Self { keys, values, args, parts, results }, given)))
    }

    /// One row for each group, in the order in which they begin.
    ///
    /// # Errors
    /// What the expressions and the aggregates raise.
    pub(super) fn apply(&self, batch: &RecordBatch, schema: &SchemaRef, params: &[ScalarValue]) -> PgResult<RecordBatch> {
        let rows = batch.num_rows();
        // The rows of each group.
        let mut members: Vec<Vec<u32>> = Vec::new();
        match &self.keys {
            None => members.push((0u32..).take(rows).collect()),
            Some(_) if rows == 0 => return Ok(RecordBatch::new_empty(Arc::clone(schema))),
            Some((keys, converter)) => {
                let keys = keys.evaluate(batch.columns(), rows, params)?;
                let keys = converter.lock().convert_columns(&keys)?;
                let mut known: HashMap<&[u8], usize> = HashMap::with_capacity(rows);
                for (number, row) in (0u32..).zip(0..rows) {
                    let group = *known.entry(keys.row(row).data()).or_insert(members.len());
                    match members.get_mut(group) {
                        Some(members) => members.push(number),
                        None => members.push(vec![number]),
                    }
                }
            }
        }
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(schema.fields().len());
        if let Some(values) = &self.values {
            let firsts = UInt32Array::from_iter_values(members.iter().filter_map(|m| m.first().copied()));
            for value in values.evaluate(batch.columns(), rows, params)? {
                columns.push(take(&value, &firsts, None)?);
            }
        }
        if let Some(results) = &self.results {
            let args = self.arguments(batch, params)?;
            let parts = self.parts.iter().map(|part| part.apply(args.as_ref(), &members)).collect::<PgResult<Vec<_>>>()?;
            columns.extend(results.evaluate(parts, members.len())?);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(members.len()));
        Ok(RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)?)
    }

    /// The arguments' values; `None` without rows.
    fn arguments(&self, batch: &RecordBatch, params: &[ScalarValue]) -> PgResult<Option<RecordBatch>> {
        if batch.num_rows() == 0 {
            return Ok(None);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let Some(args) = &self.args else {
            let schema = Arc::new(arrow::datatypes::Schema::empty());
            return Ok(Some(RecordBatch::try_new_with_options(schema, Vec::new(), &options)?));
        };
        let arrays = args.evaluate(batch.columns(), batch.num_rows(), params)?;
        let fields: Vec<_> =
            arrays.iter().enumerate().map(|(at, a)| arrow::datatypes::Field::new(at.to_string(), a.data_type().clone(), true)).collect();
        let schema = Arc::new(arrow::datatypes::Schema::new(fields));
        Ok(Some(RecordBatch::try_new_with_options(schema, arrays, &options)?))
    }
}

impl Part {
    /// The value for each group of rows.
    fn apply(&self, batch: Option<&RecordBatch>, members: &[Vec<u32>]) -> PgResult<ArrayRef> {
        let mut out = Vec::with_capacity(members.len());
        let mut args: Vec<ArrayRef> = Vec::with_capacity(self.args.len());
        let mut passing = None;
        if let Some(batch) = batch {
            for arg in &self.args {
                args.push(arg.evaluate(batch).and_then(|v| v.into_array(batch.num_rows())).map_err(from_datafusion)?);
            }
            if let Some(at) = self.filter {
                let mask = batch.column(at).as_boolean_opt().ok_or_else(|| PgError::internal("a condition that is no boolean"))?;
                passing = Some(if mask.null_count() > 0 { prep_null_mask_filter(mask) } else { mask.clone() });
            }
        }
        for members in members {
            let mut accumulator = self.call.create_accumulator().map_err(from_datafusion)?;
            if let Some(batch) = batch {
                let all = members.len() == batch.num_rows();
                let rows = if all { UInt32Array::from(Vec::<u32>::new()) } else { UInt32Array::from(members.clone()) };
                let mut own = Vec::with_capacity(args.len());
                for arg in &args {
                    let mut arg = if all { Arc::clone(arg) } else { take(arg, &rows, None)? };
                    if let Some(passing) = &passing {
                        let passing = if all { Arc::new(passing.clone()) as ArrayRef } else { take(passing, &rows, None)? };
                        arg = filter(&arg, passing.as_boolean())?;
                    }
                    own.push(arg);
                }
                if own.first().is_none_or(|arg| !arg.is_empty()) {
                    accumulator.update_batch(&own).map_err(from_datafusion)?;
                }
            }
            out.push(accumulator.evaluate().map_err(from_datafusion)?);
        }
        ScalarValue::iter_to_array(out).map_err(from_datafusion)
    }
}
