//! The order of keys and indexes put to use where the filters did not choose them: ORDER BY … LIMIT reads no more than the limit,
//! min and max read one row from an end, and what looks at the first row of each group skips over the others ([`first_rows`]).
//!
//! A sort with a limit gets another input if reading in its order costs less than to read all and sort; the sort itself goes when
//! the planner sees that its input is ordered. An aggregate of minima and maxima alone gets the first rows of such orders as its
//! input: the aggregate of those is that of all.

use super::first_rows;
use arrow::compute::SortOptions;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::config::ConfigOptions;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::union::UnionExec;
use datafusion::physical_plan::{ExecutionPlan, replace_children_if_necessary};
use std::sync::Arc;
use stoa_exec::nodes::request::{ScanRequest, request_of, scan_cost, with_rejected};
use stoa_exec::nodes::text_search::TextSearchExec;
use stoa_table::catalog::ColumnId;

/// See the module.
#[derive(Debug)]
pub struct IndexOrders;

impl PhysicalOptimizerRule for IndexOrders {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|plan| {
            let input = if let Some(sort) = plan.downcast_ref::<SortExec>() {
                match sorted(sort)? {
                    None => first_rows::of_limit(&plan)?,
                    found => found,
                }
            } else if let Some(aggregate) = plan.downcast_ref::<AggregateExec>() {
                match ends(aggregate)? {
                    None => first_rows::of_groups(aggregate)?,
                    found => found,
                }
            } else if let Some(filter) = plan.downcast_ref::<FilterExec>() {
                first_rows::of_numbered(filter)?
            } else {
                first_rows::of_limit(&plan)?
            };
            match input {
                Some(input) => Ok(Transformed::yes(replace_children_if_necessary(plan, vec![input])?)),
                None => Ok(Transformed::no(plan)),
            }
        })
        .data()
    }

    fn name(&self) -> &'static str {
        "IndexOrders"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// The scan below projections.
pub(crate) fn scan_below(plan: &Arc<dyn ExecutionPlan>) -> Option<(&Arc<dyn ExecutionPlan>, &ScanRequest)> {
    let mut plan = plan;
    loop {
        if let Some(projection) = plan.downcast_ref::<ProjectionExec>() {
            plan = projection.input();
        } else if let Some(other) = plan.downcast_ref::<CooperativeExec>() {
            plan = other.input();
        } else {
            break;
        }
    }
    let request = request_of(plan)?;
    plan.fetch().is_none().then_some((plan, request.as_ref()))
}

/// The search below projections whose rows are in no order yet.
fn search_below(plan: &Arc<dyn ExecutionPlan>) -> Option<&TextSearchExec> {
    if let Some(projection) = plan.downcast_ref::<ProjectionExec>() {
        return search_below(projection.input());
    }
    if let Some(other) = plan.downcast_ref::<CooperativeExec>() {
        return search_below(other.input());
    }
    plan.downcast_ref::<TextSearchExec>().filter(|search| search.fetch().is_none() && !search.is_ordered())
}

/// The same projections over another scan.
pub(crate) fn over(plan: &Arc<dyn ExecutionPlan>, scan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    match plan.downcast_ref::<ProjectionExec>() {
        Some(projection) => {
            let input = over(projection.input(), scan)?;
            replace_children_if_necessary(Arc::clone(plan), vec![input])
        }
        None => match plan.downcast_ref::<CooperativeExec>() {
            Some(other) => over(other.input(), scan),
            None => Ok(scan),
        },
    }
}

/// The table's column that an expression over projections of a scan is.
pub(crate) fn column_of(expr: &Arc<dyn PhysicalExpr>, plan: &Arc<dyn ExecutionPlan>, request: &ScanRequest) -> Option<ColumnId> {
    let at = expr.downcast_ref::<Column>()?.index();
    if let Some(other) = plan.downcast_ref::<CooperativeExec>() {
        return column_of(expr, other.input(), request);
    }
    match plan.downcast_ref::<ProjectionExec>() {
        Some(projection) => column_of(&projection.expr().get(at)?.expr, projection.input(), request),
        None => request.columns.get(*request.projected.get(at)?).map(|(id, ..)| *id),
    }
}

/// A cheaper input of a sort with a limit, or one that says why there is none.
fn sorted(sort: &SortExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(limit) = sort.fetch() else { return Ok(None) };
    let input = sort.input();
    if let Some(search) = search_below(input) {
        let order: Option<Vec<(ColumnId, SortOptions)>> =
            sort.expr().iter().map(|key| Some((column_of(&key.expr, input, search.request())?, key.options))).collect();
        let walking = match order {
            Some(order) => search.in_order(&order, limit)?,
            None => None,
        };
        return walking.map(|search| over(input, Arc::new(search))).transpose();
    }
    let Some((scan, request)) = scan_below(input) else { return Ok(None) };
    if !request.preferences.index_order || request.preferences.is_full() {
        return Ok(None);
    }
    let order: Option<Vec<(ColumnId, SortOptions)>> =
        sort.expr().iter().map(|key| Some((column_of(&key.expr, input, request)?, key.options))).collect();
    let (Some(order), Some(now)) = (order, scan_cost(scan)) else { return Ok(None) };
    if input.properties().equivalence_properties().ordering_satisfy(sort.expr().iter().cloned())? {
        return Ok(None);
    }
    let Some((node, cost)) = request.ordered(&order, limit)? else { return Ok(None) };
    let forced = request.preferences.force_index && cost < 1e12;
    if forced || cost < now {
        return over(input, node).map(Some);
    }
    let reason = format!("reading in its order costs {cost:.0}, to sort {now:.0}");
    let names: Vec<(String, String)> = request.ordering_indexes(&order).into_iter().map(|name| (name, reason.clone())).collect();
    if names.is_empty() { Ok(None) } else { with_rejected(input, names).map(Some) }
}

/// The ends of orders that an aggregate of minima and maxima needs.
fn ends(aggregate: &AggregateExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let input = aggregate.input();
    let Some((scan, request)) = scan_below(input) else { return Ok(None) };
    let first = matches!(aggregate.mode(), AggregateMode::Partial | AggregateMode::Single | AggregateMode::SinglePartitioned);
    let whole = aggregate.group_expr().expr().is_empty() && aggregate.filter_expr().iter().all(Option::is_none);
    if !first || !whole || !request.preferences.index_ends || request.preferences.is_full() {
        return Ok(None);
    }
    let mut inputs: Vec<Arc<dyn ExecutionPlan>> = Vec::new();
    let mut seen: Vec<(ColumnId, bool)> = Vec::new();
    let mut total = 0.0;
    for call in aggregate.aggr_expr() {
        let descending = match call.fun().name() {
            "min" => false,
            "max" => true,
            _ => return Ok(None),
        };
        let args = call.expressions();
        let [arg] = args.as_slice() else { return Ok(None) };
        let Some(column) = column_of(arg, input, request) else { return Ok(None) };
        if seen.contains(&(column, descending)) {
            continue;
        }
        seen.push((column, descending));
        let Some((node, cost)) = end(request, column, descending)? else { return Ok(None) };
        total += cost;
        inputs.push(over(input, node)?);
    }
    let forced = request.preferences.force_index && total < 1e12;
    if inputs.is_empty() || !(forced || scan_cost(scan).is_some_and(|now| total < now)) {
        return Ok(None);
    }
    if let [_] = inputs.as_slice() {
        return Ok(inputs.pop());
    }
    Ok(Some(UnionExec::try_new(inputs)?))
}

/// The first row, in each partition, of the order by one column without NULLs.
fn end(request: &ScanRequest, column: ColumnId, descending: bool) -> Result<Option<(Arc<dyn ExecutionPlan>, f64)>> {
    let request = request.without_null(column);
    // Where NULLs would be makes no difference: an order may have them at either end.
    for nulls_first in [descending, !descending] {
        let options = SortOptions { descending, nulls_first };
        if let Some((node, cost)) = request.ordered(&[(column, options)], 1)?
            && let Some(node) = node.with_fetch(Some(1))
        {
            return Ok(Some((node, cost)));
        }
    }
    Ok(None)
}
