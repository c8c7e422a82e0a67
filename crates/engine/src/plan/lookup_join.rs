//! Joins whose inner side is read by the keys of the outer one, where that costs less than to read all of it.
//!
//! A hash join becomes a [`LookupJoinExec`] if one of its sides is a scan that has a key or an index on the joined columns, and the
//! other side is expected to be small enough. What was compared is shown with the scan.

use arrow::datatypes::{DataType, SchemaRef};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{JoinType, NullEquality, Result};
use datafusion::config::ConfigOptions;
use datafusion::physical_expr::expressions::{CastExpr, Column};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::joins::utils::build_join_schema;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use datafusion::physical_plan::{ExecutionPlan, replace_children_if_necessary};
use std::sync::Arc;
use stoa_exec::nodes::lookup_join::{Inner, LookupJoinExec, LookupKind, LookupParts};
use stoa_exec::nodes::request::{ScanRequest, request_of, scan_cost, with_rejected};
use stoa_table::access::{PathKind, PathOptions, Predicate, Probe, probes};
use stoa_table::catalog::ColumnId;

/// See the module.
#[derive(Debug)]
pub struct LookupJoins;

impl PhysicalOptimizerRule for LookupJoins {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|plan| {
            let Some(join) = plan.downcast_ref::<HashJoinExec>() else { return Ok(Transformed::no(plan)) };
            match replaced(join)? {
                Some(other) => Ok(Transformed::yes(other)),
                None => Ok(Transformed::no(plan)),
            }
        })
        .data()
    }

    fn name(&self) -> &'static str {
        "LookupJoins"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Which rows of the outer side a join gives, if it can be one that looks up.
pub(super) fn kind_of(join: JoinType, outer_is_left: bool) -> Option<LookupKind> {
    Some(match (join, outer_is_left) {
        (JoinType::Inner, _) => LookupKind::Inner,
        (JoinType::Left, true) | (JoinType::Right, false) => LookupKind::Outer,
        (JoinType::LeftSemi, true) | (JoinType::RightSemi, false) => LookupKind::Semi,
        (JoinType::LeftAnti, true) | (JoinType::RightAnti, false) => LookupKind::Anti,
        (JoinType::LeftMark, true) | (JoinType::RightMark, false) => LookupKind::Mark,
        _ => return None,
    })
}

fn replaced(join: &HashJoinExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let mut best: Option<Candidate> = None;
    let mut notes: [Vec<(String, String)>; 2] = [Vec::new(), Vec::new()];
    for outer_is_left in [true, false] {
        let Some(kind) = kind_of(*join.join_type(), outer_is_left) else { continue };
        let Some(candidate) = candidate(join, kind, outer_is_left)? else { continue };
        if !candidate.chosen {
            let reason = format!("a lookup join costs {:.0}, a hash join {:.0}", candidate.cost, candidate.hash_cost);
            if let Some(side) = notes.get_mut(usize::from(outer_is_left)) {
                side.push((candidate.name, reason));
            }
            continue;
        }
        if best.as_ref().is_none_or(|b| candidate.cost < b.cost) {
            best = Some(candidate);
        }
    }
    if let Some(Candidate { parts, .. }) = best {
        return Ok(Some(Arc::new(LookupJoinExec::new(parts))));
    }
    if notes.iter().all(Vec::is_empty) {
        return Ok(None);
    }
    let [of_left, of_right] = notes;
    let children = vec![with_rejected(join.left(), of_left)?, with_rejected(join.right(), of_right)?];
    let join: Arc<dyn ExecutionPlan> = Arc::new(join.builder().build()?);
    replace_children_if_necessary(join, children).map(Some)
}

struct Candidate {
    /// Of the index, or of the table for its key.
    name: String,
    cost: f64,
    hash_cost: f64,
    chosen: bool,
    parts: LookupParts,
}

/// Expressions and schemas of projections, from the lowest to the highest.
type Projections = Vec<(Vec<Arc<dyn PhysicalExpr>>, SchemaRef)>;

/// The scan below projections.
fn reach(plan: &Arc<dyn ExecutionPlan>) -> (Projections, &Arc<dyn ExecutionPlan>) {
    let (mut out, mut plan) = (Vec::new(), plan);
    loop {
        if let Some(projection) = plan.downcast_ref::<ProjectionExec>() {
            out.push((projection.expr().iter().map(|e| Arc::clone(&e.expr)).collect(), projection.schema()));
            plan = projection.input();
        } else if let Some(other) = plan.downcast_ref::<CooperativeExec>() {
            plan = other.input();
        } else {
            break;
        }
    }
    out.reverse();
    (out, plan)
}

/// What a sort key is computed of: equal values have equal keys.
pub(crate) fn without_sort_key(expr: &Arc<dyn PhysicalExpr>) -> (&Arc<dyn PhysicalExpr>, bool) {
    match expr.downcast_ref::<ScalarFunctionExpr>() {
        Some(call) if call.name() == "sort_key" => match call.args() {
            [arg] => (arg, true),
            _ => (expr, false),
        },
        _ => (expr, false),
    }
}

/// What is cast to a wider integer: the values that it has are the same.
fn without_widening<'a>(expr: &'a Arc<dyn PhysicalExpr>, schema: &SchemaRef) -> &'a Arc<dyn PhysicalExpr> {
    let Some(cast) = expr.downcast_ref::<CastExpr>() else { return expr };
    let width = |ty: &DataType| ty.is_signed_integer().then(|| ty.primitive_width()).flatten();
    match (cast.expr().data_type(schema).ok().as_ref().and_then(width), width(cast.cast_type())) {
        (Some(narrow), Some(wide)) if narrow <= wide => cast.expr(),
        _ => expr,
    }
}

/// The table's column that an expression over projections of a scan stands for, and whether as its sort key.
fn scanned(expr: &Arc<dyn PhysicalExpr>, projections: &Projections, scan: &SchemaRef, request: &ScanRequest) -> Option<(ColumnId, bool)> {
    let schema = |level: usize| level.checked_sub(1).and_then(|l| projections.get(l)).map_or(scan, |(_, schema)| schema);
    let (expr, mut keyed) = without_sort_key(expr);
    let mut expr = without_widening(expr, schema(projections.len()));
    for (level, (exprs, _)) in projections.iter().enumerate().rev() {
        let below = exprs.get(expr.downcast_ref::<Column>()?.index())?;
        let (inner, as_key) = without_sort_key(without_widening(below, schema(level)));
        (expr, keyed) = (inner, keyed | as_key);
    }
    let at = request.projected.get(expr.downcast_ref::<Column>()?.index())?;
    request.columns.get(*at).map(|(id, _, _)| (*id, keyed))
}

/// A scan below projections, with what it was asked for.
pub(crate) struct Scanned<'a> {
    pub node: &'a Arc<dyn ExecutionPlan>,
    pub request: &'a Arc<ScanRequest>,
    projections: Projections,
}

/// The scan that a plan is, below projections, if there may be other ways to answer it.
pub(crate) fn scan_of(plan: &Arc<dyn ExecutionPlan>) -> Option<Scanned<'_>> {
    let (projections, node) = reach(plan);
    let request = request_of(node)?;
    node.fetch().is_none().then_some(Scanned { node, request, projections })
}

/// The table's columns that expressions over a plan stand for, whose columns are numbered from `first`.
pub(crate) fn scanned_columns<'e>(
    scan: &Scanned<'_>,
    exprs: impl Iterator<Item = &'e Arc<dyn PhysicalExpr>>,
    first: usize,
) -> Result<Vec<ColumnId>> {
    let own = |expr: &Arc<dyn PhysicalExpr>| {
        Arc::clone(expr).transform_up(|e| match e.downcast_ref::<Column>() {
            Some(c) => Ok(Transformed::yes(Arc::new(Column::new(c.name(), c.index().saturating_sub(first))) as Arc<dyn PhysicalExpr>)),
            None => Ok(Transformed::no(e)),
        })
    };
    let mut out = Vec::new();
    for expr in exprs {
        out.extend(scanned(&own(expr)?.data, &scan.projections, &scan.node.schema(), scan.request).map(|(column, _)| column));
    }
    Ok(out)
}

/// The value behind an expression over the outer side: that of which a sort key was computed, if it can still be seen.
fn value_of(expr: &Arc<dyn PhysicalExpr>, outer: &Arc<dyn ExecutionPlan>, keyed: bool) -> Option<Arc<dyn PhysicalExpr>> {
    let (value, as_key) = without_sort_key(expr);
    if as_key == keyed {
        return Some(Arc::clone(value));
    }
    let projection = outer.downcast_ref::<ProjectionExec>()?;
    let (below, as_key) = without_sort_key(&projection.expr().get(value.downcast_ref::<Column>()?.index())?.expr);
    if !as_key {
        return None;
    }
    let at = projection.expr().iter().position(|e| e.expr.eq(below))?;
    Some(Arc::new(Column::new(outer.schema().field(at).name(), at)))
}

/// One side of a join that a scan gives, and the columns of it that the other side has values for.
pub(crate) struct Joined<'a> {
    pub request: &'a Arc<ScanRequest>,
    /// What it costs to scan that side as it is planned now.
    pub scan_cost: f64,
    pub columns: Vec<ColumnId>,
    /// Rows expected of the other side.
    pub outer_rows: Option<f64>,
    /// The values of the columns, over the other side.
    keys: Vec<Arc<dyn PhysicalExpr>>,
    on: Vec<(Arc<dyn PhysicalExpr>, Arc<dyn PhysicalExpr>)>,
    projections: Projections,
}

/// What a lookup join with the left or the right side outside would have to go by; `None` if it cannot be one.
pub(crate) fn joined(join: &HashJoinExec, outer_is_left: bool) -> Result<Option<Joined<'_>>> {
    if join.null_equality() != NullEquality::NullEqualsNothing || join.null_aware || kind_of(*join.join_type(), outer_is_left).is_none() {
        return Ok(None);
    }
    let (outer, side) = if outer_is_left { (join.left(), join.right()) } else { (join.right(), join.left()) };
    let (projections, scan) = reach(side);
    let (Some(request), Some(scan_cost)) = (request_of(scan), scan_cost(scan)) else { return Ok(None) };
    if !request.preferences.lookup_join || scan.fetch().is_some() {
        return Ok(None);
    }
    let on: Vec<(Arc<dyn PhysicalExpr>, Arc<dyn PhysicalExpr>)> = join
        .on()
        .iter()
        .map(|(l, r)| if outer_is_left { (Arc::clone(l), Arc::clone(r)) } else { (Arc::clone(r), Arc::clone(l)) })
        .collect();
    let (mut columns, mut keys): (Vec<ColumnId>, Vec<Arc<dyn PhysicalExpr>>) = (Vec::new(), Vec::new());
    for (own, inner) in &on {
        if let Some((column, keyed)) = scanned(inner, &projections, &scan.schema(), request)
            && let Some(value) = value_of(own, outer, keyed)
        {
            columns.push(column);
            keys.push(value);
        }
    }
    if columns.is_empty() {
        return Ok(None);
    }
    let outer_rows = StatisticsContext::new().compute(outer.as_ref(), &StatisticsArgs::new())?.num_rows.get_value().map(|n| *n as f64);
    Ok(Some(Joined { request, scan_cost, columns, outer_rows, keys, on, projections }))
}

/// The best probe of one side by the rows of the other, with what it costs.
fn candidate(join: &HashJoinExec, kind: LookupKind, outer_is_left: bool) -> Result<Option<Candidate>> {
    let Some(Joined { request, scan_cost, columns: joined, outer_rows, keys, on, projections }) = joined(join, outer_is_left)? else {
        return Ok(None);
    };
    let outer = if outer_is_left { join.left() } else { join.right() };
    let preferences = &request.preferences;
    let Some((probe, rows)) = best_probe(request, &joined)? else { return Ok(None) };
    if outer_rows.is_none() && !preferences.force_index && !preferences.names_any() {
        return Ok(None);
    }
    let outer_rows = outer_rows.unwrap_or(1000.0);
    let cost = probe.cost(outer_rows, rows);
    let hash_cost = scan_cost + outer_rows;
    let asked = preferences.force_index || matches!(&probe.kind, PathKind::Index { .. } if preferences.names_any());
    let name = match &probe.kind {
        PathKind::Table => request.scan.table.name.clone(),
        PathKind::Index { at, .. } => request.scan.table.indexes.get(*at).map(|i| i.name.clone()).unwrap_or_default(),
    };
    let all: Vec<usize> = (0..request.filters.len()).collect();
    let output = request.output(&all, outer_rows * rows)?;
    let (_, columns) = build_join_schema(&join.left().schema(), &join.right().schema(), join.join_type());
    let columns = match &join.projection {
        Some(projection) => projection.iter().filter_map(|at| columns.get(*at).cloned()).collect(),
        None => columns,
    };
    let parts = LookupParts {
        outer: Arc::clone(outer),
        inner: Arc::new(Inner { table: request.scan.clone(), probe, output, projections }),
        kind,
        keys,
        on,
        filter: join.filter().cloned(),
        outer_is_left,
        schema: join.schema(),
        columns,
        statistics: StatisticsContext::new().compute(join, &StatisticsArgs::new())?,
    };
    Ok(Some(Candidate { name, cost, hash_cost, chosen: asked || cost < hash_cost, parts }))
}

/// The cheapest probe of a scan by values of some columns, with the rows that each is expected to read.
pub(crate) fn best_probe(request: &ScanRequest, joined: &[ColumnId]) -> Result<Option<(Probe, f64)>> {
    let understood = |at: usize| request.index_predicates.get(at).cloned().flatten();
    let options = PathOptions { columns: &request.needed, index_predicates: &understood, distinct: None };
    let mut filters = request.predicates.clone();
    // NULL equals nothing.
    filters.extend(joined.iter().map(|c| Predicate::IsNotNull(*c)));
    let all = probes(&request.scan.table, &request.scan.codec, &filters, &options, &request.preferences, joined)
        .map_err(datafusion::common::DataFusionError::from)?;
    let forced = request.preferences.force_index;
    let each = all.into_iter().map(|mut probe| {
        probe.width = request.scatter(&probe.key);
        let rows = request.rows_per_probe(&probe, joined);
        // Forced: an index before the key.
        let avoided = if forced && probe.kind.is_table() { 1e12 } else { 0.0 };
        (probe.cost(1.0, rows) + avoided, probe, rows)
    });
    Ok(each.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, probe, rows)| (probe, rows)))
}
