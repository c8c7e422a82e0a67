//! Simple scans: a table with its filters, or VALUES, under projections, an order that the scan has by itself, and a limit, run as they
//! stand.
//!
//! Planning costs DataFusion some hundred microseconds. The scan node and the choice of its path are the planner's own ([`table_of`]); only
//! the logical plan and its optimizer are left out. Such a scan is what a read by key comes to that turns out long, and has many rows. So it
//! is no node of a compiled query, whose nodes hold all rows and take parameters as columns: here batches stream, the path is chosen by the
//! sizes of the moment, and expressions are made for one execution with the values of its parameters in them, which costs less than a column
//! of parameters for each batch.
//!
//! Invariant: what is not recognised, or reads in several partitions, goes to the planner, whose answer this one's equals.

use super::scalar::{EvalArgs, Projection};
use crate::plan::relation::Planner;
use crate::plan::rules;
use crate::plan::scan::table_of;
use arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::catalog::TableProvider;
use datafusion::common::ScalarValue;
use datafusion::physical_expr::PhysicalSortExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::{ExecutionPlanProperties, SortOrderPushdownResult};
use futures::stream::{BoxStream, StreamExt};
use std::sync::Arc;
use stoa_pg::registry::{FuncKind, Volatility};
use stoa_pg::{PgResult, SqlType};
use stoa_sql::typed::evaluator::TableEvaluator;
use stoa_sql::typed::tree::{ColId, Expr, ExprKind, Rel, SortKey, TableScan};
use stoa_sql::typed::walk::is_plain;
use stoa_sql::typed::{column_name, constant, from_datafusion};
use stoa_table::catalog::ColumnId;

/// Rows in VALUES above which the planner's way is as good.
const MAX_VALUES: usize = 256;

/// A relation that can be run as it stands.
pub(super) struct SimpleScan<'a> {
    pub(super) base: Base<'a>,
    pub(super) filters: Vec<&'a Expr>,
    /// From the lowest to the highest.
    pub(super) projections: Vec<&'a [(ColId, Expr)]>,
    pub(super) sort: &'a [SortKey],
    pub(super) limit: Option<(Option<&'a Expr>, Option<&'a Expr>)>,
}

pub(super) enum Base<'a> {
    Scan(&'a TableScan),
    Values(&'a [(ColId, SqlType)], &'a [Vec<Expr>]),
    One,
}

/// Takes a relation apart, if it is a simple scan.
pub(super) fn simple_scan(rel: &Rel) -> Option<SimpleScan<'_>> {
    let mut rel = rel;
    let mut limit = None;
    if let Rel::Limit { input, offset, fetch, ties: None } = rel {
        limit = Some((offset.as_ref(), fetch.as_ref()));
        rel = input;
    }
    let mut sort: &[SortKey] = &[];
    if let Rel::Sort { input, keys } = rel {
        sort = keys;
        rel = input;
    }
    let mut projections = Vec::new();
    while let Rel::Project { input, exprs } = rel {
        projections.push(exprs.as_slice());
        rel = input;
    }
    projections.reverse();
    let mut filters = Vec::new();
    while let Rel::Filter { input, predicate } = rel {
        conjuncts(predicate, &mut filters);
        rel = input;
    }
    let base = match rel {
        Rel::Scan(scan) if scan.as_of.is_none() && !scan.sees_own => Base::Scan(scan),
        Rel::Values { columns, rows } if filters.is_empty() && sort.is_empty() && rows.len() <= MAX_VALUES => Base::Values(columns, rows),
        Rel::One if filters.is_empty() && sort.is_empty() => Base::One,
        _ => return None,
    };
    Some(SimpleScan { base, filters, projections, sort, limit })
}

/// The conditions that an expression demands together.
pub(super) fn conjuncts<'a>(e: &'a Expr, out: &mut Vec<&'a Expr>) {
    match &e.kind {
        ExprKind::And(parts) => parts.iter().for_each(|p| conjuncts(p, out)),
        _ => out.push(e),
    }
}

/// Columns of a batch: which they are, and of what type.
pub(super) type Columns = Vec<(ColId, SqlType)>;

/// Where the columns wanted are among those given, if they are not all there in their order; `None` if one is missing.
pub(super) fn order_of(given: &Columns, wanted: Option<&[ColId]>) -> Option<Option<Vec<usize>>> {
    let Some(wanted) = wanted else { return Some(None) };
    let positions: Vec<usize> = wanted.iter().map(|c| given.iter().position(|(g, _)| g == c)).collect::<Option<_>>()?;
    let in_place = positions.len() == given.len() && positions.iter().enumerate().all(|(i, p)| i == *p);
    Some((!in_place).then_some(positions))
}

pub(super) fn schema_of(columns: &Columns) -> SchemaRef {
    Arc::new(Schema::new(columns.iter().map(|(c, ty)| Field::new(column_name(*c), ty.arrow.clone(), true)).collect::<Vec<_>>()))
}

fn batch_of(schema: &SchemaRef, arrays: Vec<ArrayRef>, rows: usize) -> PgResult<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(Arc::clone(schema), arrays, &options)?)
}

/// Starts a relation without a planner, if it can be. With `columns` the batches have exactly these in this order, otherwise those of
/// the relation that the statement uses.
///
/// # Errors
/// What evaluation of constants and the start of the scan raise.
pub(in crate::plan) async fn start(
    planner: &Planner,
    rel: &Rel,
    columns: Option<&[ColId]>,
) -> PgResult<Option<BoxStream<'static, PgResult<RecordBatch>>>> {
    let Some(simple) = simple_scan(rel) else { return Ok(None) };
    if planner.ctx.session.settings().raw(rules::DISABLED).is_some_and(|list| rules::is_disabled(list, rules::DIRECT)) {
        return Ok(None);
    }
    let exprs = simple.projections.iter().flat_map(|p| p.iter().filter(|(id, _)| planner.is_used(*id)).map(|(_, e)| e));
    if !exprs.chain(simple.filters.iter().copied()).all(is_plain) {
        return Ok(None);
    }
    let (mut skip, mut fetch) = (0, None);
    if let Some((offset, limit)) = simple.limit {
        if !offset.into_iter().chain(limit).all(is_plain) {
            return Ok(None);
        }
        (skip, fetch) = planner.offset_and_limit(offset, limit).await?;
    }
    let (mut given, mut stream) = match simple.base {
        Base::Scan(scan) => {
            let rows = fetch.map(|n| n.saturating_add(skip));
            let Some(started) = start_scan(planner, scan, &simple, rows).await? else { return Ok(None) };
            started
        }
        Base::One => (Columns::new(), single(batch_of(&schema_of(&Columns::new()), Vec::new(), 1)?)),
        Base::Values(columns, rows) => {
            let Some(batch) = values(planner, columns, rows)? else { return Ok(None) };
            (columns.to_vec(), single(batch))
        }
    };
    let ctx = &planner.ctx;
    let mut projections = Vec::with_capacity(simple.projections.len());
    for exprs in &simple.projections {
        let used: Vec<&(ColId, Expr)> = exprs.iter().filter(|(id, _)| planner.is_used(*id)).collect();
        let of_execution = EvalArgs { eval: &ctx.eval, params: &ctx.params };
        let Some((projection, columns)) = Projection::for_execution(of_execution, &given, &used)? else { return Ok(None) };
        given = columns;
        projections.push(projection);
    }
    let Some(order) = order_of(&given, columns) else { return Ok(None) };
    if !projections.is_empty() || order.is_some() {
        let eval = ctx.eval.clone();
        stream = stream
            .map(move |batch| {
                let mut batch = batch?;
                for projection in &projections {
                    batch = projection.apply(&batch, EvalArgs { eval: &eval, params: &[] })?;
                }
                match &order {
                    Some(positions) => Ok(batch.project(positions)?),
                    None => Ok(batch),
                }
            })
            .boxed();
    }
    if skip > 0 || fetch.is_some() {
        stream = limited(stream, skip, fetch);
    }
    Ok(Some(stream))
}

fn single(batch: RecordBatch) -> BoxStream<'static, PgResult<RecordBatch>> {
    futures::stream::iter(std::iter::once(Ok(batch))).boxed()
}

/// Leaves rows out at the beginning, and ends after `fetch`.
fn limited(
    stream: BoxStream<'static, PgResult<RecordBatch>>,
    skip: usize,
    fetch: Option<usize>,
) -> BoxStream<'static, PgResult<RecordBatch>> {
    let state = (stream, skip, fetch.unwrap_or(usize::MAX));
    futures::stream::try_unfold(state, |(mut stream, mut skip, mut left)| async move {
        while left > 0 {
            let Some(batch) = stream.next().await else { return Ok(None) };
            let batch = batch?;
            let dropped = skip.min(batch.num_rows());
            skip -= dropped;
            let kept = (batch.num_rows() - dropped).min(left);
            if kept > 0 {
                left -= kept;
                return Ok(Some((batch.slice(dropped, kept), (stream, skip, left))));
            }
        }
        Ok(None)
    })
    .boxed()
}

/// The rows of VALUES.
fn values(planner: &Planner, columns: &[(ColId, SqlType)], rows: &[Vec<Expr>]) -> PgResult<Option<RecordBatch>> {
    let schema = schema_of(&columns.to_vec());
    let mut scalars: Vec<Vec<ScalarValue>> = vec![Vec::with_capacity(rows.len()); columns.len()];
    for row in rows {
        let has_columns = |e: &Expr| e.any(&mut |x| matches!(x.kind, ExprKind::Column(_)));
        if row.iter().any(|e| !is_plain(e) || has_columns(e)) {
            return Ok(None);
        }
        // KernelExpr as they are; what holds more than calls is compiled, in one evaluation for the row.
        let mut known: Vec<Option<ScalarValue>> = Vec::with_capacity(row.len());
        for e in row {
            let value = if is_volatile(e) { None } else { constant::evaluate_with(&planner.ctx.eval, &planner.ctx.params, e)? };
            known.push(value.filter(|value| value.data_type() == e.ty.arrow));
        }
        let rest: Vec<Expr> = row.iter().zip(&known).filter(|(_, value)| value.is_none()).map(|(e, _)| e.clone()).collect();
        let mut arrays = if rest.is_empty() {
            Vec::new()
        } else {
            TableEvaluator::new(&planner.ctx.eval, &planner.ctx.params, &[], &rest)?.evaluate(Vec::new(), 1)?
        }
        .into_iter();
        for (value, out) in known.into_iter().zip(&mut scalars) {
            out.push(match value {
                Some(value) => value,
                None => match arrays.next() {
                    Some(array) => stoa_sql::typed::udf::constant_of(array.as_ref())?,
                    None => return Ok(None),
                },
            });
        }
    }
    let mut arrays = Vec::with_capacity(columns.len());
    for (column, (_, ty)) in scalars.into_iter().zip(columns) {
        let array = if column.is_empty() {
            arrow::array::new_empty_array(&ty.arrow)
        } else {
            ScalarValue::iter_to_array(column).map_err(from_datafusion)?
        };
        if *array.data_type() != ty.arrow {
            return Ok(None);
        }
        arrays.push(array);
    }
    batch_of(&schema, arrays, rows.len()).map(Some)
}

/// Opens a simple scan; `None` if it must be planned: several partitions, or an order that it does not have.
async fn start_scan(
    planner: &Planner,
    scan: &TableScan,
    simple: &SimpleScan<'_>,
    fetch: Option<usize>,
) -> PgResult<Option<(Columns, BoxStream<'static, PgResult<RecordBatch>>)>> {
    let ctx = &planner.ctx;
    let used: Vec<(ColumnId, ColId)> = scan.columns.iter().filter(|(_, col)| planner.is_used(*col)).copied().collect();
    // A filter of constants alone is the optimizer's business: it may end the scan, or raise an error for no row.
    let exprs = planner.exprs();
    let mut filters = Vec::with_capacity(simple.filters.len());
    for filter in &simple.filters {
        if !filter.any(&mut |x| matches!(x.kind, ExprKind::Column(_))) || is_volatile(filter) {
            return Ok(None);
        }
        let mut filter = (*filter).clone();
        fold(planner, &mut filter);
        filters.push(exprs.test(&filter)?);
    }
    let table = table_of(planner, scan)?.alone();
    // What only filters use is read, and not given on.
    let given: Vec<usize> = (0..used.len()).filter(|at| used.get(*at).is_some_and(|(_, c)| needed_above(planner, simple, *c))).collect();
    let mut columns = Columns::with_capacity(given.len());
    for at in &given {
        let Some((id, col)) = used.get(*at) else { return Ok(None) };
        let Some(column) = scan.table.column(*id) else { return Ok(None) };
        columns.push((*col, column.ty.clone()));
    }
    let limit = if simple.sort.is_empty() { fetch } else { None };
    let mut plan = table.scan(ctx.database.state.as_ref(), Some(&given), &filters, limit).await.map_err(from_datafusion)?;
    if plan.output_partitioning().partition_count() != 1 {
        return Ok(None);
    }
    if !simple.sort.is_empty() {
        let Some(order) = sort_order(simple, &columns) else { return Ok(None) };
        match plan.try_pushdown_sort(&order).map_err(from_datafusion)? {
            SortOrderPushdownResult::Exact { inner } => plan = inner,
            _ => return Ok(None),
        }
        if fetch.is_some() {
            plan = plan.with_fetch(fetch).unwrap_or(plan);
        }
    }
    let stream = plan.execute(0, stoa_exec::nodes::source::task(ctx)).map_err(from_datafusion)?;
    Ok(Some((columns, stream.map(|batch| batch.map_err(from_datafusion)).boxed())))
}

/// Whether a column of the scan is used by more than its filters.
fn needed_above(planner: &Planner, simple: &SimpleScan<'_>, column: ColId) -> bool {
    match simple.projections.first() {
        None => true,
        Some(exprs) => exprs
            .iter()
            .filter(|(id, _)| planner.is_used(*id))
            .any(|(_, e)| e.any(&mut |x| matches!(x.kind, ExprKind::Column(c) if c == column))),
    }
}

/// The order in terms of the scan's columns; `None` if a key is computed, or sorted by other than its value.
fn sort_order(simple: &SimpleScan<'_>, columns: &Columns) -> Option<Vec<PhysicalSortExpr>> {
    let mut order = Vec::with_capacity(simple.sort.len());
    for key in simple.sort {
        if !key.expr.ty.has_native_order() {
            return None;
        }
        let ExprKind::Column(mut column) = key.expr.kind else { return None };
        for exprs in simple.projections.iter().rev() {
            let (_, from) = exprs.iter().find(|(id, _)| *id == column)?;
            let ExprKind::Column(below) = from.kind else { return None };
            column = below;
        }
        let at = columns.iter().position(|(c, _)| *c == column)?;
        let options = arrow::compute::SortOptions { descending: key.descending, nulls_first: key.nulls_first };
        order.push(PhysicalSortExpr::new(Arc::new(Column::new(&column_name(column), at)), options));
    }
    Some(order)
}

fn is_volatile(e: &Expr) -> bool {
    e.any(&mut |x| match &x.kind {
        ExprKind::Func { func, .. } => func.0.volatility == Volatility::Volatile,
        ExprKind::Oper { oper, .. } => oper.0.volatility == Volatility::Volatile,
        _ => false,
    })
}

/// Replaces what is computed from constants and parameters alone by its value, so that it can bound a key. What fails stays, and
/// fails when a row needs it.
fn fold(planner: &Planner, e: &mut Expr) {
    let simple = matches!(e.kind, ExprKind::Const(_) | ExprKind::Param(_) | ExprKind::Column(_));
    if simple {
        return;
    }
    let foldable = matches!(e.kind, ExprKind::Func { .. } | ExprKind::Oper { .. } | ExprKind::Cast { .. } | ExprKind::Array(_));
    let constant = foldable
        && !e.any(&mut |x| {
            matches!(&x.kind, ExprKind::Column(_))
                || matches!(&x.kind, ExprKind::Func { func, .. } if matches!(func.0.kind, FuncKind::System))
        });
    if constant {
        if let Ok(Some(value)) = constant::evaluate_with(&planner.ctx.eval, &planner.ctx.params, e)
            && value.data_type() == e.ty.arrow
        {
            e.kind = ExprKind::Const(value);
        }
        return;
    }
    e.children_mut().into_iter().for_each(|child| fold(planner, child));
}
