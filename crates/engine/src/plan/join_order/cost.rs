//! What joins of a graph are expected to give and to cost, in rows of a sequential scan.
//!
//! How many rows a set of inputs comes to does not depend on the order of its joins: each input brings its rows, each class of equal
//! expressions divides by the larger number of different values, as if the smaller side's values were all among the larger's.

use super::Tree;
use super::graph::{Graph, columns};
use crate::plan::lookup_join::{Scanned, best_probe, scan_of, scanned_columns, without_sort_key};
use datafusion::common::{Result, Statistics};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{CastExpr, Column};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use std::collections::HashMap;
use std::sync::Arc;
use stoa_exec::nodes::request::scan_cost;

/// Of a row that is put into a hash table, that looks into one, and that comes out of a join.
const BUILD: f64 = 0.6;
const PROBE: f64 = 0.25;
const OUT: f64 = 0.25;
/// The share of rows that a condition leaves of which nothing is known.
const CONDITION_SHARE: f64 = 1.0 / 3.0;
/// The same of the matches of a semi-join.
const MATCH_SHARE: f64 = 0.5;
/// The least share that a semi- or anti-join is taken to leave.
const LEAST_SHARE: f64 = 0.01;
/// Rows of an input of which nothing is known.
const UNKNOWN_ROWS: f64 = 1000.0;

struct Known<'a> {
    rows: f64,
    /// Without the filters of a scan.
    table_rows: f64,
    cost: f64,
    statistics: Arc<Statistics>,
    scan: Option<Scanned<'a>>,
}

/// See the module. What was worked out is kept.
pub(super) struct Costs<'a> {
    graph: &'a Graph,
    inputs: Vec<Known<'a>>,
    rows: HashMap<u64, f64>,
    /// By input and classes: what a probe costs beside its rows, and how many of them it finds.
    probes: HashMap<(usize, u64), Option<f64>>,
}

impl<'a> Costs<'a> {
    pub fn new(graph: &'a Graph) -> Result<Self> {
        let mut inputs = Vec::with_capacity(graph.inputs.len());
        for input in &graph.inputs {
            let statistics = StatisticsContext::new().compute(input.plan.as_ref(), &StatisticsArgs::new())?;
            let rows = statistics.num_rows.get_value().map_or(UNKNOWN_ROWS, |n| (*n as f64).max(1.0));
            let scan = scan_of(&input.plan);
            let (cost, table_rows) = match &scan {
                Some(scan) => (scan_cost(scan.node).unwrap_or(0.0), scan.request.known_rows()),
                // It is needed in any case.
                None => (0.0, rows),
            };
            inputs.push(Known { rows, table_rows: table_rows.max(rows), cost, statistics, scan });
        }
        Ok(Self { graph, inputs, rows: HashMap::new(), probes: HashMap::new() })
    }

    pub fn of_input(&self, input: usize) -> f64 {
        self.inputs.get(input).map_or(0.0, |known| known.cost)
    }

    pub fn of_tree(&mut self, tree: &Tree) -> Result<f64> {
        match tree {
            Tree::Input(n) => Ok(self.of_input(*n)),
            Tree::Join(left, right) => {
                let (a, b) = (self.of_tree(left)?, self.of_tree(right)?);
                Ok(self.of_join(left.set(), a, right.set(), b)?.unwrap_or(f64::INFINITY))
            }
        }
    }

    /// The cost of a join of two sets that cost `a` and `b`; `None`: they cannot be joined, or not with the right one on that side.
    pub fn of_join(&mut self, left: u64, a: f64, right: u64, b: f64) -> Result<Option<f64>> {
        let graph = self.graph;
        let single = |set: u64| set.is_power_of_two().then(|| set.trailing_zeros() as usize);
        let semi = |set: u64| single(set).and_then(|n| graph.inputs.get(n)).and_then(|input| input.semi.as_ref());
        if semi(left).is_some() {
            return Ok(None);
        }
        let of_right: Vec<(usize, &Arc<dyn PhysicalExpr>)> = match semi(right) {
            Some(semi) if semi.needs & !left > 0 => return Ok(None),
            Some(semi) => semi.on.iter().map(|(_, inner)| (0, inner)).collect(),
            None => graph.pairs(left, right).map(|(class, _, r)| (class, r)).collect(),
        };
        if of_right.is_empty() {
            return Ok(None);
        }
        let (outer, inner, out) = (self.rows(left), self.own_rows(right), self.rows(left | right));
        let hashed = a + b + BUILD * outer.min(inner) + PROBE * outer.max(inner) + OUT * out;
        let looked_up = match single(right) {
            Some(input) => self.probe(input, &of_right)?.map(|probe| a + outer * probe + OUT * out),
            None => None,
        };
        Ok(Some(looked_up.map_or(hashed, |cost| cost.min(hashed))))
    }

    /// The cost of a probe of an input by some of its expressions.
    fn probe(&mut self, input: usize, by: &[(usize, &Arc<dyn PhysicalExpr>)]) -> Result<Option<f64>> {
        let classes = by.iter().fold(0, |set, (class, _)| set | 1u64 << (class % 64));
        if let Some(known) = self.probes.get(&(input, classes)) {
            return Ok(*known);
        }
        let first = self.graph.inputs.get(input).map_or(0, |i| i.first);
        let cost = match self.inputs.get(input).and_then(|known| known.scan.as_ref()) {
            Some(scan) if scan.request.preferences.lookup_join => {
                let columns = scanned_columns(scan, by.iter().map(|(_, expr)| *expr), first)?;
                if columns.is_empty() { None } else { best_probe(scan.request, &columns)?.map(|(probe, rows)| probe.cost(1.0, rows)) }
            }
            _ => None,
        };
        self.probes.insert((input, classes), cost);
        Ok(cost)
    }

    /// Rows of a side by itself: those of the input of a semi-join too.
    fn own_rows(&mut self, set: u64) -> f64 {
        if set.is_power_of_two() { self.inputs.get(set.trailing_zeros() as usize).map_or(1.0, |k| k.rows) } else { self.rows(set) }
    }

    /// Rows that a set of inputs comes to.
    pub fn rows(&mut self, set: u64) -> f64 {
        self.raw_rows(set).max(1.0)
    }

    fn raw_rows(&mut self, set: u64) -> f64 {
        if set == 0 {
            return 1.0;
        }
        if let Some(rows) = self.rows.get(&set) {
            return *rows;
        }
        let last = (u64::BITS - 1 - set.leading_zeros()) as usize;
        let rest = set & !(1 << last);
        let rows = self.raw_rows(rest) * self.brings(last, rest);
        self.rows.insert(set, rows);
        rows
    }

    /// By what an input multiplies the rows of others.
    fn brings(&self, input: usize, others: u64) -> f64 {
        let (Some(known), Some(of)) = (self.inputs.get(input), self.graph.inputs.get(input)) else { return 1.0 };
        if let Some(semi) = &of.semi {
            let mut share = 1.0;
            for (outer, inner) in &semi.on {
                let outer_input = self.graph.inputs_of(outer).trailing_zeros() as usize;
                share *= (self.distinct(input, inner) / self.distinct(outer_input, outer)).min(1.0);
            }
            if semi.filter.is_some() {
                share *= MATCH_SHARE;
            }
            return if semi.anti { 1.0 - share } else { share }.clamp(LEAST_SHARE, 1.0);
        }
        let mut values = 1.0;
        let mut classes = 0;
        let mut least_table = known.table_rows;
        for class in &self.graph.classes {
            let Some((_, own)) = class.iter().find(|(n, _)| *n == input) else { continue };
            let there = class.iter().filter(|(n, _)| others & 1 << n > 0);
            let Some((other, distinct)) = there.map(|(n, expr)| (*n, self.distinct(*n, expr))).min_by(|a, b| a.1.total_cmp(&b.1)) else {
                continue;
            };
            values *= self.distinct(input, own).max(distinct);
            classes += 1;
            least_table = least_table.min(self.inputs.get(other).map_or(f64::MAX, |k| k.table_rows));
        }
        if classes > 1 {
            // No more pairs of values than rows that have them.
            values = values.min(least_table);
        }
        let set = others | 1 << input;
        let conditions = self.graph.conditions.iter().filter(|(of, _)| of & !set == 0 && of & 1 << input > 0).count();
        known.rows / values.max(1.0) * CONDITION_SHARE.powi(i32::try_from(conditions).unwrap_or(i32::MAX))
    }

    /// How many different values an expression over an input has.
    fn distinct(&self, input: usize, expr: &Arc<dyn PhysicalExpr>) -> f64 {
        let (Some(known), Some(of)) = (self.inputs.get(input), self.graph.inputs.get(input)) else { return 1.0 };
        let value = value_below(expr);
        let found = match (value.downcast_ref::<Column>(), columns(value).as_slice()) {
            (Some(column), _) => column.index().checked_sub(of.first).and_then(|at| distinct_of(&of.plan, &known.statistics, at)),
            _ => None,
        };
        found.unwrap_or(known.rows).clamp(1.0, known.rows)
    }
}

/// What a cast or a sort key is made of: it has as many values.
fn value_below(expr: &Arc<dyn PhysicalExpr>) -> &Arc<dyn PhysicalExpr> {
    let expr = without_sort_key(expr).0;
    match expr.downcast_ref::<CastExpr>() {
        Some(cast) => value_below(cast.expr()),
        None => expr,
    }
}

/// How many different values a column of a plan has, also if it is the sort key of another one.
fn distinct_of(plan: &Arc<dyn ExecutionPlan>, statistics: &Statistics, at: usize) -> Option<f64> {
    if let Some(known) = statistics.column_statistics.get(at).and_then(|c| c.distinct_count.get_value()) {
        return Some(*known as f64);
    }
    let projection = plan.downcast_ref::<ProjectionExec>()?;
    let below = value_below(&projection.expr().get(at)?.expr).downcast_ref::<Column>()?.index();
    let statistics = StatisticsContext::new().compute(projection.input().as_ref(), &StatisticsArgs::new()).ok()?;
    distinct_of(projection.input(), &statistics, below)
}
