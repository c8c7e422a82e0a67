//! Operators that look at the first row of each group alone get no others: DISTINCT ON and row_number() = 1, DISTINCT, minima and maxima
//! by group, and counts of distinct values.
//!
//! Where groups are the values of a key's leading columns, a scan that skips over what follows the first row of each costs a seek a group
//! instead of reading all rows. The operators stay: they give of the first rows what they give of all, also where several parts of a scan
//! each give first rows of one group.

use super::index_order::{column_of, over, scan_below};
use arrow::compute::SortOptions;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{BinaryExpr, CastExpr, Column, Literal};
use datafusion::physical_expr::utils::split_conjunction;
use datafusion::physical_expr::window::{StandardWindowExpr, WindowExpr};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::limit::{GlobalLimitExec, LocalLimitExec};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::union::UnionExec;
use datafusion::physical_plan::windows::{BoundedWindowAggExec, WindowAggExec, WindowUDFExpr};
use datafusion::physical_plan::{ExecutionPlan, replace_children_if_necessary};
use std::sync::Arc;
use stoa_exec::nodes::index_lookup::IndexLookupExec;
use stoa_exec::nodes::key_range_scan::KeyRangeScanExec;
use stoa_exec::nodes::request::{ScanRequest, scan_cost};
use stoa_table::catalog::ColumnId;

type Plan = Arc<dyn ExecutionPlan>;

/// A cheaper input of an aggregate by groups.
pub(super) fn of_groups(aggregate: &AggregateExec) -> Result<Option<Plan>> {
    let input = aggregate.input();
    let Some((scan, request)) = scan_below(input) else { return Ok(None) };
    let first = matches!(aggregate.mode(), AggregateMode::Partial | AggregateMode::Single | AggregateMode::SinglePartitioned);
    let groups = aggregate.group_expr();
    if !first || !groups.is_single() || aggregate.filter_expr().iter().any(Option::is_some) {
        return Ok(None);
    }
    let column = |expr: &Arc<dyn PhysicalExpr>| column_of(expr, input, request);
    let Some(mut each) = groups.expr().iter().map(|(expr, _)| column(expr)).collect::<Option<Vec<ColumnId>>>() else { return Ok(None) };
    let by = each.len();
    // The columns whose ends are wanted.
    let mut ends: Vec<(ColumnId, bool)> = Vec::new();
    for call in aggregate.aggr_expr() {
        let Some(args) = call.expressions().iter().map(column).collect::<Option<Vec<ColumnId>>>() else { return Ok(None) };
        match (call.fun().name(), args.as_slice()) {
            (name @ ("min" | "max"), [arg]) => {
                let end = (*arg, name == "max");
                if !ends.contains(&end) {
                    ends.push(end);
                }
            }
            ("count", args) if call.is_distinct() && !args.is_empty() && call.order_bys().is_empty() => each.extend(args),
            _ => return Ok(None),
        }
    }
    ends.retain(|(column, _)| !each.get(..by).is_some_and(|groups| groups.contains(column)));
    // Ends of whole tables are another rule's, and those of groups are not those of the values that are counted in them.
    if each.is_empty() || (each.len() > by && !ends.is_empty()) {
        return Ok(None);
    }
    let mut inputs: Vec<Plan> = Vec::new();
    let mut total = 0.0;
    let orders = if ends.is_empty() { vec![None] } else { ends.into_iter().map(Some).collect() };
    for end in orders {
        let Some((node, cost)) = (match end {
            None => request.first_of_each(&each, &[])?,
            Some((column, descending)) => end_of_each(request, &each, column, descending)?,
        }) else {
            return Ok(None);
        };
        total += cost;
        inputs.push(over(input, node)?);
    }
    if !is_better(request, scan, total) {
        return Ok(None);
    }
    if let [_] = inputs.as_slice() {
        return Ok(inputs.pop());
    }
    Ok(Some(UnionExec::try_new(inputs)?))
}

/// For each value of some columns, a row with the least or greatest value of another, NULL only where there is nothing else.
fn end_of_each(request: &ScanRequest, each: &[ColumnId], column: ColumnId, descending: bool) -> Result<Option<(Plan, f64)>> {
    // Where there are no NULLs, an order may have them at either end.
    let nullable = request.scan.table.column(column).is_none_or(|own| request.scan.table.stores_null(own));
    for nulls_first in [false, true] {
        if nulls_first && nullable {
            break;
        }
        let options = SortOptions { descending, nulls_first };
        if let Some(found) = request.first_of_each(each, &[(column, options)])? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

fn is_better(request: &ScanRequest, scan: &Plan, cost: f64) -> bool {
    let forced = request.preferences.force_index && cost < 1e12;
    forced || scan_cost(scan).is_some_and(|now| cost < now)
}

/// A cheaper input of a filter that leaves the first row of each partition of a window.
pub(super) fn of_numbered(filter: &FilterExec) -> Result<Option<Plan>> {
    let windows = filter.input();
    let Some((calls, input)) = calls_of(windows) else { return Ok(None) };
    let Some(first) = calls.first() else { return Ok(None) };
    let given = input.schema().fields().len();
    let all_number = calls.iter().all(|call| {
        let function = call.as_any().downcast_ref::<StandardWindowExpr>().map(StandardWindowExpr::get_standard_func_expr);
        function.and_then(|f| f.as_any().downcast_ref::<WindowUDFExpr>()).is_some_and(|f| f.fun().name() == "row_number")
            && call.partition_by().len() == first.partition_by().len()
            && call.partition_by().iter().zip(first.partition_by()).all(|(a, b)| a.eq(b))
            && call.order_by() == first.order_by()
    });
    let is_number = |column: &Column| column.index() >= given;
    if !all_number || !split_conjunction(filter.predicate()).into_iter().any(|condition| is_first(condition, &is_number)) {
        return Ok(None);
    }
    // A sort beneath keeps the first rows first.
    let below = match input.downcast_ref::<SortExec>() {
        Some(sort) if sort.fetch().is_none() => sort.input(),
        _ => input,
    };
    let Some((scan, request)) = scan_below(below) else { return Ok(None) };
    let column = |expr: &Arc<dyn PhysicalExpr>| column_of(expr, below, request);
    let each: Option<Vec<ColumnId>> = first.partition_by().iter().map(column).collect();
    let order: Option<Vec<(ColumnId, SortOptions)>> = first.order_by().iter().map(|key| Some((column(&key.expr)?, key.options))).collect();
    let (Some(each), Some(order)) = (each, order) else { return Ok(None) };
    let Some((node, cost)) = request.first_of_each(&each, &order)? else { return Ok(None) };
    if each.is_empty() || !is_better(request, scan, cost) {
        return Ok(None);
    }
    let mut new = over(below, node)?;
    if !Arc::ptr_eq(below, input) {
        new = replace_children_if_necessary(Arc::clone(input), vec![new])?;
    }
    replace_children_if_necessary(Arc::clone(windows), vec![new]).map(Some)
}

/// The input of a limit, with a scan beneath that gives no more first rows than the limit wants.
pub(super) fn of_limit(plan: &Plan) -> Result<Option<Plan>> {
    let (input, limit) = if let Some(limit) = plan.downcast_ref::<GlobalLimitExec>() {
        (limit.input(), limit.fetch().map(|fetch| fetch.saturating_add(limit.skip())))
    } else if let Some(limit) = plan.downcast_ref::<LocalLimitExec>() {
        (limit.input(), Some(limit.fetch()))
    } else if let Some(sort) = plan.downcast_ref::<SortExec>() {
        (sort.input(), sort.fetch().filter(|_| sorts_nothing(sort)))
    } else {
        return Ok(None);
    };
    match limit {
        Some(limit) => limited(input, limit, Above::Groups),
        None => Ok(None),
    }
}

/// Whether the input of a sort is in its order.
fn sorts_nothing(sort: &SortExec) -> bool {
    let properties = sort.input().properties().equivalence_properties();
    properties.ordering_satisfy(sort.expr().iter().cloned()).unwrap_or(false)
}

/// What may stand above the scan of a limit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Above {
    /// What makes groups, of which there are as many as first rows.
    Groups,
    /// The first half of an aggregate.
    Partial,
    Nothing,
}

fn limited(plan: &Plan, limit: usize, above: Above) -> Result<Option<Plan>> {
    let one_of_each = if let Some(scan) = plan.downcast_ref::<KeyRangeScanExec>() {
        scan.gives_one_of_each()
    } else {
        plan.downcast_ref::<IndexLookupExec>().is_some_and(IndexLookupExec::gives_one_of_each)
    };
    if one_of_each {
        let fewer = plan.fetch().is_none_or(|fetch| limit < fetch);
        return Ok(plan.with_fetch(Some(limit)).filter(|_| fewer && above == Above::Nothing));
    }
    let (input, next) = if let Some(projection) = plan.downcast_ref::<ProjectionExec>() {
        (projection.input(), above)
    } else if let Some(other) = plan.downcast_ref::<CooperativeExec>() {
        (other.input(), above)
    } else if let Some(sort) = plan.downcast_ref::<SortExec>().filter(|sort| sort.fetch().is_none() && sorts_nothing(sort)) {
        (sort.input(), above)
    } else if let Some(limit) = plan.downcast_ref::<LocalLimitExec>().filter(|_| above == Above::Groups) {
        (limit.input(), above)
    } else if let Some(aggregate) = plan.downcast_ref::<AggregateExec>() {
        let ends = aggregate.aggr_expr().iter().all(|call| matches!(call.fun().name(), "min" | "max"));
        let next = match (above, aggregate.mode()) {
            (Above::Groups, AggregateMode::Final | AggregateMode::FinalPartitioned) => Above::Partial,
            (Above::Groups, AggregateMode::Single | AggregateMode::SinglePartitioned) | (Above::Partial, AggregateMode::Partial) => {
                Above::Nothing
            }
            _ => return Ok(None),
        };
        if !ends || aggregate.group_expr().is_empty() {
            return Ok(None);
        }
        (aggregate.input(), next)
    } else if let Some(filter) = plan.downcast_ref::<FilterExec>().filter(|_| above == Above::Groups) {
        let Some((calls, input)) = calls_of(filter.input()) else { return Ok(None) };
        let given = input.schema().fields().len();
        if calls.len() != 1 || !is_first(filter.predicate(), &|column| column.index() >= given) {
            return Ok(None);
        }
        let Some(input) = limited(input, limit, Above::Nothing)? else { return Ok(None) };
        let windows = replace_children_if_necessary(Arc::clone(filter.input()), vec![input])?;
        return replace_children_if_necessary(Arc::clone(plan), vec![windows]).map(Some);
    } else {
        return Ok(None);
    };
    let Some(input) = limited(input, limit, next)? else { return Ok(None) };
    replace_children_if_necessary(Arc::clone(plan), vec![input]).map(Some)
}

/// The calls of a node of windows, and its input.
fn calls_of(plan: &Plan) -> Option<(&[Arc<dyn WindowExpr>], &Plan)> {
    if let Some(windows) = plan.downcast_ref::<BoundedWindowAggExec>() {
        return Some((windows.window_expr(), windows.input()));
    }
    plan.downcast_ref::<WindowAggExec>().map(|windows| (windows.window_expr(), windows.input()))
}

/// Whether a condition leaves of numbers from 1 on no other: `= 1`, `<= 1`, `< 2`.
fn is_first(condition: &Arc<dyn PhysicalExpr>, is_number: &dyn Fn(&Column) -> bool) -> bool {
    let (left, operator, right) = if let Some(binary) = condition.downcast_ref::<BinaryExpr>() {
        (binary.left(), *binary.op(), binary.right())
    } else if let Some(call) = condition.downcast_ref::<ScalarFunctionExpr>() {
        // Operators over two types are kernels, called after the operator.
        let operator = match call.fun().name().split('#').next() {
            Some("=") => Operator::Eq,
            Some("<") => Operator::Lt,
            Some("<=") => Operator::LtEq,
            Some(">") => Operator::Gt,
            Some(">=") => Operator::GtEq,
            _ => return false,
        };
        let [left, right] = call.args() else { return false };
        (left, operator, right)
    } else {
        return false;
    };
    let (left, operator, right) = match operator.swap() {
        Some(swapped) if left.downcast_ref::<Literal>().is_some() => (right, swapped, left),
        _ => (left, operator, right),
    };
    let number = match left.downcast_ref::<CastExpr>() {
        Some(cast) => cast.expr(),
        None => left,
    };
    let most = match right.downcast_ref::<Literal>().map(Literal::value) {
        Some(ScalarValue::UInt64(Some(n))) => i64::try_from(*n).ok(),
        Some(ScalarValue::Int64(Some(n))) => Some(*n),
        Some(ScalarValue::Int32(Some(n))) => Some(i64::from(*n)),
        _ => None,
    };
    number.downcast_ref::<Column>().is_some_and(is_number)
        && matches!((operator, most), (Operator::Eq | Operator::LtEq, Some(1)) | (Operator::Lt, Some(2)))
}
