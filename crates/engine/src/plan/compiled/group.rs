//! Groups and aggregates over one batch.

use super::keys::Keys;
use super::scalar::{Computed, EvalArgs};
use super::simple_scan::Columns;
use crate::plan::aggregate::{Lowered, Lowering};
use arrow::array::{Array, ArrayRef, AsArray, Int32Array, RecordBatch, RecordBatchOptions, UInt32Array, new_null_array};
use arrow::compute::{SortOptions, concat_batches, filter, prep_null_mask_filter, take};
use arrow::datatypes::{DataType, SchemaRef};
use datafusion::common::ScalarValue;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::aggregate::{AggregateExprBuilder, AggregateFunctionExpr};
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;
use stoa_exec::groups::distinct::DistinctUdaf;
use stoa_pg::{EvalContext, PgError, PgResult, PgType, SqlType};
use stoa_sql::typed::evaluator::TableEvaluator;
use stoa_sql::typed::expr::{ExprPlanner, column};
use stoa_sql::typed::guard::only_where;
use stoa_sql::typed::tree::{AggregateExpr, ColId, Expr, SortKey};
use stoa_sql::typed::{column_name, from_datafusion};

/// Ids of columns that only a group's own expressions have; those of parameters and of the binder are elsewhere.
const OWN_COLUMNS: u32 = 0x6000_0000;

/// GROUP BY, DISTINCT, aggregates.
pub(super) struct Group {
    /// Each grouping set; without GROUPING SETS there is one.
    sets: Vec<GroupingSet>,
    /// The groups' values; those of a group's first row are given.
    values: Option<Computed>,
    /// Arguments and conditions of the aggregates.
    args: Option<Computed>,
    /// What the aggregates' rows are sorted by, as sort keys: columns behind those of the arguments.
    order: Option<Computed>,
    parts: Vec<Part>,
    /// The aggregates' results over those of the parts.
    results: Option<TableEvaluator>,
}

/// What one of GROUPING SETS, or GROUP BY, groups by.
struct GroupingSet {
    /// None for a single group of all rows.
    keys: Option<Keys>,
    /// Which of the groups' values it has: others are NULL.
    has: Vec<bool>,
    /// The values of GROUPING(…).
    grouping: Vec<i32>,
}

/// One accumulator for each group.
struct Part {
    call: AggregateFunctionExpr,
    args: Vec<Arc<dyn PhysicalExpr>>,
    /// The position of FILTER's condition among the arguments' columns.
    filter: Option<usize>,
}

impl Group {
    /// Compiles the groups and the aggregates, with the columns that they give; `None` if an expression cannot be computed here.
    pub(super) fn compile(
        eval: &EvalContext,
        input: &Columns,
        groups: &[(ColId, Expr)],
        (sets, grouping): (Option<&[Vec<usize>]>, &[(ColId, Vec<usize>)]),
        aggregates: &[&(ColId, AggregateExpr)],
    ) -> PgResult<Option<(Self, Columns)>> {
        let mut given = Columns::with_capacity(groups.len() + aggregates.len());
        given.extend(groups.iter().map(|(id, e)| (*id, e.ty.clone())));
        given.extend(aggregates.iter().map(|(id, a)| (*id, a.ty.clone())));
        given.extend(grouping.iter().map(|(id, _)| (*id, SqlType::new(PgType::Int4))));
        let group_exprs: Vec<Expr> = groups.iter().map(|(_, e)| e.clone()).collect();
        let all: Vec<usize> = (0..groups.len()).collect();
        let mut compiled = Vec::new();
        for set in sets.unwrap_or(std::slice::from_ref(&all)) {
            let Some(set) = GroupingSet::compile(eval, input, &group_exprs, set, grouping)? else { return Ok(None) };
            compiled.push(set);
        }
        let sets = compiled;
        let mut values = None;
        if !group_exprs.is_empty() {
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
        let mut chosen: Vec<(&AggregateExpr, Lowered, Option<usize>)> = Vec::with_capacity(aggregates.len());
        for (_, a) in aggregates {
            let mut args = a.args.clone();
            only_where(eval, a.filter.as_ref(), &mut args);
            let args: Vec<Expr> = args.iter().map(|e| as_column(e).0).collect();
            let lowering = Lowering { exprs: ExprPlanner { eval, params: &[] }, fresh: &fresh };
            let filter = a.filter.as_ref().map(|condition| as_column(condition).1);
            chosen.push((a, lowering.lower(a, &args)?, filter));
        }
        let args = match arg_exprs.is_empty() {
            true => None,
            false => match Computed::compile(eval, input, &arg_exprs)? {
                Some(computed) => Some(computed),
                None => return Ok(None),
            },
        };
        let order_of = |a: &AggregateExpr| {
            let mut order: Vec<Expr> = sorting(a).iter().map(|key| key.expr.clone()).collect();
            only_where(eval, a.filter.as_ref(), &mut order);
            order
        };
        let order_exprs: Vec<Expr> = aggregates.iter().flat_map(|(_, a)| order_of(a)).collect();
        let order = match order_exprs.is_empty() {
            true => None,
            false => match Computed::compile_keys(eval, input, &order_exprs)? {
                Some(computed) => Some(computed),
                None => return Ok(None),
            },
        };
        let mut order_types = order.as_ref().map_or_else(|| Ok(Vec::new()), Computed::types)?.into_iter();
        let mut parts = Vec::new();
        let (mut part_columns, mut result_exprs) = (Vec::new(), Vec::with_capacity(chosen.len()));
        for (a, lowered, filter) in chosen {
            let sort = sorting(a);
            let sort_types: Vec<DataType> = order_types.by_ref().take(sort.len()).collect();
            let sort_columns: Vec<ColId> = sort_types
                .iter()
                .map(|ty| {
                    let id = fresh();
                    arg_columns.push((id, ty.clone()));
                    id
                })
                .collect();
            for mut part in lowered.parts {
                if part.sensitive && !part.distinct && (a.distinct || !sort.is_empty()) {
                    let options = sort.iter().map(|key| SortOptions { descending: key.descending, nulls_first: key.nulls_first });
                    part.udf = DistinctUdaf::ordered(part.udf, part.arg_types, a.distinct, options.collect(), sort_types.clone());
                    part.args.extend(sort_columns.iter().map(|id| column(*id)));
                }
                let compiled = TableEvaluator::of(&arg_columns, &part.args)?;
                let args = compiled.exprs().to_vec();
                let builder =
                    AggregateExprBuilder::new(part.udf, args.clone()).schema(Arc::clone(compiled.schema())).alias(column_name(part.id));
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
        Ok(Some((Self { sets, values, args, order, parts, results }, given)))
    }

    /// One row for each group of each set, in the order in which they begin.
    ///
    /// # Errors
    /// What the expressions and the aggregates raise.
    pub(super) fn apply(&self, batch: &RecordBatch, schema: &SchemaRef, known: EvalArgs<'_>) -> PgResult<RecordBatch> {
        let rows = batch.num_rows();
        let args = self.arguments(batch, known)?;
        let values = match &self.values {
            Some(values) if rows > 0 => values.evaluate(batch.columns(), rows, known)?,
            _ => Vec::new(),
        };
        let mut out = Vec::with_capacity(self.sets.len());
        for set in &self.sets {
            let members = set.members(batch, known)?;
            if members.is_empty() {
                continue;
            }
            let mut columns: Vec<ArrayRef> = Vec::with_capacity(schema.fields().len());
            let firsts = UInt32Array::from_iter_values(members.iter().filter_map(|m| m.first().copied()));
            for (at, (has, field)) in set.has.iter().zip(schema.fields()).enumerate() {
                columns.push(match values.get(at) {
                    Some(value) if *has => take(value, &firsts, None)?,
                    _ => new_null_array(field.data_type(), members.len()),
                });
            }
            if let Some(results) = &self.results {
                let parts = self.parts.iter().map(|part| part.apply(args.as_ref(), &members)).collect::<PgResult<Vec<_>>>()?;
                columns.extend(results.evaluate(parts, members.len())?);
            }
            columns.extend(set.grouping.iter().map(|bits| Arc::new(Int32Array::from(vec![*bits; members.len()])) as ArrayRef));
            let options = RecordBatchOptions::new().with_row_count(Some(members.len()));
            out.push(RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)?);
        }
        match out.as_slice() {
            [one] => Ok(one.clone()),
            several => Ok(concat_batches(schema, several)?),
        }
    }

    /// The arguments' values; `None` without rows.
    fn arguments(&self, batch: &RecordBatch, known: EvalArgs<'_>) -> PgResult<Option<RecordBatch>> {
        if batch.num_rows() == 0 {
            return Ok(None);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let mut arrays = Vec::new();
        for computed in self.args.iter().chain(&self.order) {
            arrays.extend(computed.evaluate(batch.columns(), batch.num_rows(), known)?);
        }
        let fields: Vec<_> =
            arrays.iter().enumerate().map(|(at, a)| arrow::datatypes::Field::new(at.to_string(), a.data_type().clone(), true)).collect();
        let schema = Arc::new(arrow::datatypes::Schema::new(fields));
        Ok(Some(RecordBatch::try_new_with_options(schema, arrays, &options)?))
    }
}

impl GroupingSet {
    fn compile(
        eval: &EvalContext,
        input: &Columns,
        groups: &[Expr],
        set: &[usize],
        grouping: &[(ColId, Vec<usize>)],
    ) -> PgResult<Option<Self>> {
        let own: Vec<Expr> = set.iter().filter_map(|at| groups.get(*at)).cloned().collect();
        let keys = match own.is_empty() {
            true => None,
            false => match Keys::compile(eval, input, &own)? {
                Some(keys) => Some(keys),
                None => return Ok(None),
            },
        };
        // The last argument is the lowest bit.
        let bits = |positions: &Vec<usize>| positions.iter().fold(0, |bits, at| bits << 1 | i32::from(!set.contains(at)));
        let grouping = grouping.iter().map(|(_, positions)| bits(positions)).collect();
        Ok(Some(Self { keys, has: (0..groups.len()).map(|at| set.contains(&at)).collect(), grouping }))
    }

    /// The rows of each group.
    fn members(&self, batch: &RecordBatch, known: EvalArgs<'_>) -> PgResult<Vec<Vec<u32>>> {
        let rows = batch.num_rows();
        let Some(keys) = &self.keys else { return Ok(vec![(0u32..).take(rows).collect()]) };
        let mut members: Vec<Vec<u32>> = Vec::new();
        if rows == 0 {
            return Ok(members);
        }
        let keys = keys.of(batch, known)?;
        let mut seen: HashMap<&[u8], usize> = HashMap::with_capacity(rows);
        for (number, row) in (0u32..).zip(0..rows) {
            let group = *seen.entry(keys.row(row).data()).or_insert(members.len());
            match members.get_mut(group) {
                Some(members) => members.push(number),
                None => members.push(vec![number]),
            }
        }
        Ok(members)
    }
}

/// What sorts the rows of an aggregate, other than one that does it itself.
fn sorting(a: &AggregateExpr) -> &[SortKey] {
    if a.within_group { &[] } else { &a.order_by }
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
