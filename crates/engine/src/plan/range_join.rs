//! Joins whose condition is no plain equality, made by searches in sorted rows ([`RangeJoinExec`]) where it asks for few rows all the same:
//! equal values in each of its alternatives (OR, IN, `= ANY (ARRAY[…])`), or a value between two bounds.
//!
//! In place of joins of all pairs, and of hash joins whose keys have so many rows that bounds on another value narrow more. What is asked
//! is read from the parts of the condition that compare a side with the other by an order that is that of encoded values; what is not
//! understood stays a filter.

use super::guard::in_turn;
use super::lookup_join::kind_of;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{JoinSide, JoinType, NullEquality, Result, ScalarValue};
use datafusion::config::ConfigOptions;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{BinaryExpr, CaseExpr, Column, InListExpr, Literal};
use datafusion::physical_expr::{PhysicalExpr, split_conjunction};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::utils::{ColumnIndex, JoinFilter, build_join_schema};
use datafusion::physical_plan::joins::{HashJoinExec, NestedLoopJoinExec};
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use std::collections::BTreeSet;
use std::sync::Arc;
use stoa_exec::nodes::lookup_join::LookupKind;
use stoa_exec::nodes::range_join::{Bound, Range, RangeJoinExec, RangeKey, RangeParts, is_ordered};

type Physical = Arc<dyn PhysicalExpr>;

/// Alternatives, at most, that a join is made by.
const MOST_ALTERNATIVES: usize = 16;
/// How many pairs of equal keys a hash join must find for each row of its sides, to look for narrower keys.
const MANY_PAIRS: f64 = 8.0;
/// Rows of one side that are not worth sorting many of the other.
const FEW_ROWS: usize = 16;

/// See the module.
#[derive(Debug)]
pub struct RangeJoins;

impl PhysicalOptimizerRule for RangeJoins {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|plan| {
            let found = if let Some(join) = plan.downcast_ref::<NestedLoopJoinExec>() {
                of_all_pairs(join)?
            } else if let Some(join) = plan.downcast_ref::<HashJoinExec>() {
                of_equal_keys(join)?
            } else {
                None
            };
            Ok(match found {
                Some(other) => Transformed::yes(other),
                None => Transformed::no(plan),
            })
        })
        .data()
    }

    fn name(&self) -> &'static str {
        "RangeJoins"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// A join with its condition over the columns of its left side and then those of its right one.
struct Joined<'a> {
    join: &'a dyn ExecutionPlan,
    left: &'a Arc<dyn ExecutionPlan>,
    right: &'a Arc<dyn ExecutionPlan>,
    kind: JoinType,
    conditions: Vec<Physical>,
    projection: Option<&'a [usize]>,
}

fn of_all_pairs(join: &NestedLoopJoinExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(filter) = join.filter() else { return Ok(None) };
    let (left, right) = (join.left(), join.right());
    let conditions = conjuncts(&over_both(filter, left.schema().fields().len())?);
    let joined = Joined { join, left, right, kind: *join.join_type(), conditions, projection: join.projection().as_deref() };
    best(&joined, &|keys| keys.iter().all(is_narrow))
}

fn of_equal_keys(join: &HashJoinExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(filter) = join.filter() else { return Ok(None) };
    if join.null_aware || join.null_equality() != NullEquality::NullEqualsNothing || !has_many_pairs(join)? {
        return Ok(None);
    }
    let (left, right) = (join.left(), join.right());
    let own = left.schema().fields().len();
    let mut conditions = Vec::new();
    for (l, r) in join.on() {
        let r = moved(r, &|at| Some(at + own))?;
        conditions.extend(r.map(|r| Arc::new(BinaryExpr::new(Arc::clone(l), Operator::Eq, r)) as Physical));
    }
    let equal = conditions.len();
    conditions.extend(conjuncts(&over_both(filter, own)?));
    let joined = Joined { join, left, right, kind: *join.join_type(), conditions, projection: join.projection.as_deref() };
    // Worth it for two bounds beside all of the keys.
    best(&joined, &|keys| matches!(keys, [key] if key.equal.len() >= equal && is_between(key)))
}

/// Whether pairs of equal keys are expected to be many more than rows.
fn has_many_pairs(join: &HashJoinExec) -> Result<bool> {
    let statistics = |side: &Arc<dyn ExecutionPlan>| StatisticsContext::new().compute(side.as_ref(), &StatisticsArgs::new());
    let (left, right) = (statistics(join.left())?, statistics(join.right())?);
    let rows = |n: Option<&usize>| n.map(|n| *n as f64);
    let (Some(lefts), Some(rights)) = (rows(left.num_rows.get_value()), rows(right.num_rows.get_value())) else { return Ok(false) };
    let mut pairs = lefts * rights;
    for (l, r) in join.on() {
        let distinct = |side: &datafusion::common::Statistics, e: &Physical| {
            let at = e.downcast_ref::<Column>()?.index();
            side.column_statistics.get(at)?.distinct_count.get_value().copied()
        };
        match distinct(&left, l).max(distinct(&right, r)) {
            Some(distinct) => pairs /= (distinct as f64).max(1.0),
            None => return Ok(false),
        }
    }
    Ok(pairs > MANY_PAIRS * (lefts + rights))
}

/// An expression with other columns; `None` if one of them has no place.
fn moved(expr: &Physical, place: &dyn Fn(usize) -> Option<usize>) -> Result<Option<Physical>> {
    let mut all = true;
    let out = Arc::clone(expr).transform_up(|e| {
        let Some(column) = e.downcast_ref::<Column>() else { return Ok(Transformed::no(e)) };
        Ok(match place(column.index()) {
            Some(at) => Transformed::yes(Arc::new(Column::new(column.name(), at)) as Physical),
            None => {
                all = false;
                Transformed::no(e)
            }
        })
    })?;
    Ok(all.then_some(out.data))
}

/// The condition of a filter over the columns of the left side, of which there are so many, and those of the right one.
fn over_both(filter: &JoinFilter, left: usize) -> Result<Physical> {
    let place = |at: usize| {
        let column = filter.column_indices().get(at)?;
        Some(if column.side == JoinSide::Left { column.index } else { left + column.index })
    };
    moved(filter.expression(), &place)?
        .ok_or_else(|| datafusion::common::DataFusionError::Internal("a filter of a join reads what no side has".into()))
}

/// A filter for a condition over the columns of both sides.
fn filter_of(condition: &Physical, left: &SchemaRef, right: &SchemaRef) -> Result<JoinFilter> {
    let mut used = BTreeSet::new();
    condition.apply(|e| {
        used.extend(e.downcast_ref::<Column>().map(Column::index));
        Ok(TreeNodeRecursion::Continue)
    })?;
    let own = left.fields().len();
    let (mut fields, mut indices) = (Vec::new(), Vec::new());
    for at in &used {
        let (side, schema, index) = if *at < own { (JoinSide::Left, left, *at) } else { (JoinSide::Right, right, *at - own) };
        fields.push(Arc::clone(schema.fields().get(index).ok_or_else(|| datafusion::common::internal_datafusion_err!("a lost column"))?));
        indices.push(ColumnIndex { index, side });
    }
    let place = |at: usize| used.iter().position(|u| *u == at);
    let condition = moved(condition, &place)?.unwrap_or_else(|| Arc::clone(condition));
    Ok(JoinFilter::new(condition, indices, Arc::new(Schema::new(fields))))
}

fn is_literal(expr: &Physical, value: bool) -> bool {
    expr.downcast_ref::<Literal>().is_some_and(|literal| *literal.value() == ScalarValue::Boolean(Some(value)))
}

/// The tests of a CASE that is true if all of them are true, or any of them, as [`stoa_sql::typed::guard`] and [`in_turn`] write it.
fn tests(expr: &Physical, all: bool) -> Option<Vec<&Physical>> {
    let case = expr.downcast_ref::<CaseExpr>()?;
    if !case.expr().is_some_and(|base| is_literal(base, true)) {
        return None;
    }
    let mut out = Vec::new();
    for (when, then) in case.when_then_expr() {
        if !is_literal(then, !all) {
            return None;
        }
        out.push(if all {
            let undecided = when.downcast_ref::<BinaryExpr>()?;
            if *undecided.op() != Operator::IsDistinctFrom || !is_literal(undecided.right(), true) {
                return None;
            }
            undecided.left()
        } else {
            when
        });
    }
    out.push(case.else_expr()?);
    Some(out)
}

/// What must all be true for a condition to be true.
fn conjuncts(expr: &Physical) -> Vec<Physical> {
    if let Some(tests) = tests(expr, true) {
        return tests.into_iter().flat_map(conjuncts).collect();
    }
    let parts = split_conjunction(expr);
    match parts.as_slice() {
        [one] => vec![Arc::clone(one)],
        _ => parts.into_iter().flat_map(conjuncts).collect(),
    }
}

/// Of what something must be true for a condition to be true.
fn disjuncts(expr: &Physical) -> Vec<Physical> {
    if let Some(tests) = tests(expr, false) {
        return tests.into_iter().flat_map(disjuncts).collect();
    }
    if let Some(list) = expr.downcast_ref::<InListExpr>()
        && !list.negated()
    {
        let equal = |e: &Physical| Arc::new(BinaryExpr::new(Arc::clone(list.expr()), Operator::Eq, Arc::clone(e))) as Physical;
        return list.list().iter().map(equal).collect();
    }
    match expr.downcast_ref::<BinaryExpr>() {
        Some(or) if *or.op() == Operator::Or => [or.left(), or.right()].into_iter().flat_map(disjuncts).collect(),
        _ => vec![Arc::clone(expr)],
    }
}

/// A comparison of the sorted side with the outer one, over the columns of each.
#[derive(Clone)]
struct Comparison {
    sorted: Physical,
    op: Operator,
    outer: Physical,
    /// The condition that it is, by its place.
    at: usize,
}

/// The sides with one of them sorted.
struct Sides<'a> {
    joined: &'a Joined<'a>,
    outer_is_left: bool,
    own: usize,
}

impl Sides<'_> {
    /// Whether an expression is over the sorted side alone, or the outer one, and what it is there.
    fn side(&self, expr: &Physical) -> Result<Option<(bool, Physical)>> {
        let (mut left, mut right) = (false, false);
        expr.apply(|e| {
            if let Some(column) = e.downcast_ref::<Column>() {
                *(if column.index() < self.own { &mut left } else { &mut right }) = true;
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
        if left == right {
            return Ok(None);
        }
        let place = |at: usize| if left { Some(at) } else { at.checked_sub(self.own) };
        Ok(moved(expr, &place)?.map(|expr| (right == self.outer_is_left, expr)))
    }

    /// The condition as a comparison of the sides whose order is known.
    fn comparison(&self, condition: &Physical, at: usize) -> Result<Option<Comparison>> {
        let Some(binary) = condition.downcast_ref::<BinaryExpr>() else { return Ok(None) };
        let (Some((l_sorted, l)), Some((r_sorted, r))) = (self.side(binary.left())?, self.side(binary.right())?) else { return Ok(None) };
        let op = match binary.op() {
            Operator::Eq | Operator::Lt | Operator::LtEq | Operator::Gt | Operator::GtEq if l_sorted != r_sorted => *binary.op(),
            _ => return Ok(None),
        };
        let found = match (l_sorted, op.swap()) {
            (true, _) => Comparison { sorted: l, op, outer: r, at },
            (false, Some(op)) => Comparison { sorted: r, op, outer: l, at },
            (false, None) => return Ok(None),
        };
        let schema = |left: bool| if left { self.joined.left.schema() } else { self.joined.right.schema() };
        let (a, b) = (found.sorted.data_type(&schema(!self.outer_is_left))?, found.outer.data_type(&schema(self.outer_is_left))?);
        Ok((a == b && is_ordered(&a)).then_some(found))
    }

    /// The comparisons among conditions.
    fn comparisons(&self, conditions: &[Physical]) -> Result<Vec<Comparison>> {
        let mut out = Vec::new();
        for (at, condition) in conditions.iter().enumerate() {
            out.extend(self.comparison(condition, at)?);
        }
        Ok(out)
    }

    /// The keys that a pair that matches has one of, and the conditions that these say.
    fn keys(&self, enough: &dyn Fn(&[RangeKey]) -> bool) -> Result<Option<(Vec<RangeKey>, BTreeSet<usize>)>> {
        let conditions = &self.joined.conditions;
        let common = self.comparisons(conditions)?;
        let (key, said) = key_of(&common);
        if enough(std::slice::from_ref(&key)) {
            return Ok(Some((vec![key], said)));
        }
        for condition in conditions {
            let alternatives = disjuncts(condition);
            if alternatives.len() < 2 || alternatives.len() > MOST_ALTERNATIVES {
                continue;
            }
            let mut keys = Vec::new();
            for alternative in &alternatives {
                let mut all = self.comparisons(&conjuncts(alternative))?;
                all.extend(common.iter().cloned());
                keys.push(key_of(&all).0);
            }
            if enough(&keys) {
                return Ok(Some((keys, BTreeSet::new())));
            }
        }
        Ok(None)
    }
}

/// The key that comparisons which must all hold ask for, and the conditions that it says.
fn key_of(comparisons: &[Comparison]) -> (RangeKey, BTreeSet<usize>) {
    let mut said = BTreeSet::new();
    let mut equal: Vec<(Physical, Physical)> = Vec::new();
    for Comparison { sorted, outer, at, .. } in comparisons.iter().filter(|c| c.op == Operator::Eq) {
        equal.push((Arc::clone(sorted), Arc::clone(outer)));
        said.insert(*at);
    }
    // Of the values that have bounds, the first that has two.
    let mut best: Option<(Range, Vec<usize>)> = None;
    for value in comparisons.iter().filter(|c| c.op != Operator::Eq).map(|c| &c.sorted) {
        let bound = |inclusive: Operator, exclusive: Operator| {
            comparisons.iter().find(|c| c.sorted.eq(value) && (c.op == inclusive || c.op == exclusive)).map(|c| {
                let bound = Bound { value: Arc::clone(&c.outer), inclusive: c.op == inclusive };
                (bound, c.at)
            })
        };
        let (lower, upper) = (bound(Operator::GtEq, Operator::Gt), bound(Operator::LtEq, Operator::Lt));
        let places: Vec<usize> = lower.iter().chain(&upper).map(|(_, at)| *at).collect();
        if best.as_ref().is_none_or(|(_, others)| others.len() < places.len()) {
            let (lower, upper) = (lower.map(|(bound, _)| bound), upper.map(|(bound, _)| bound));
            best = Some((Range { value: Arc::clone(value), lower, upper }, places));
        }
    }
    let range = best.map(|(range, places)| {
        said.extend(places);
        range
    });
    (RangeKey { equal, range }, said)
}

fn is_between(key: &RangeKey) -> bool {
    key.range.as_ref().is_some_and(|range| range.lower.is_some() && range.upper.is_some())
}

/// Whether few rows are expected to have a key.
fn is_narrow(key: &RangeKey) -> bool {
    !key.equal.is_empty() || is_between(key)
}

/// The join by searches, if one of its sides can be sorted for it.
fn best(joined: &Joined<'_>, enough: &dyn Fn(&[RangeKey]) -> bool) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let volatile = datafusion::physical_expr_common::physical_expr::is_volatile;
    if joined.conditions.iter().any(volatile) {
        return Ok(None);
    }
    let own = joined.left.schema().fields().len();
    let mut found: Option<(Sides<'_>, LookupKind, Vec<RangeKey>, BTreeSet<usize>)> = None;
    // The left side is the smaller one: it is sorted, if it is as good.
    for outer_is_left in [false, true] {
        let Some(kind) = kind_of(joined.kind, outer_is_left) else { continue };
        let sides = Sides { joined, outer_is_left, own };
        let Some((keys, said)) = sides.keys(enough)? else { continue };
        let equal = |keys: &[RangeKey]| keys.iter().all(|key| !key.equal.is_empty());
        if found.as_ref().is_none_or(|(_, _, others, _)| equal(&keys) && !equal(others)) {
            found = Some((sides, kind, keys, said));
        }
    }
    let Some((sides, kind, keys, said)) = found else { return Ok(None) };
    let outer_is_left = sides.outer_is_left;
    let (sorted, outer) = if outer_is_left { (joined.right, joined.left) } else { (joined.left, joined.right) };
    let rows = |side: &Arc<dyn ExecutionPlan>| {
        let statistics = StatisticsContext::new().compute(side.as_ref(), &StatisticsArgs::new())?;
        Ok::<_, datafusion::common::DataFusionError>(statistics.num_rows.get_value().copied())
    };
    if let (Some(sorted), Some(outer)) = (rows(sorted)?, rows(outer)?)
        && outer < FEW_ROWS
        && sorted > FEW_ROWS * FEW_ROWS
    {
        return Ok(None);
    }
    let (left_schema, right_schema) = (joined.left.schema(), joined.right.schema());
    let (_, columns) = build_join_schema(&left_schema, &right_schema, &joined.kind);
    let mut columns = match joined.projection {
        Some(projection) => projection.iter().filter_map(|at| columns.get(*at).cloned()).collect(),
        None => columns,
    };
    let together = |conditions: Vec<&Physical>| -> Result<Option<JoinFilter>> {
        let all = conditions.into_iter().map(Arc::clone);
        let Some(condition) = all.reduce(|a, b| Arc::new(BinaryExpr::new(a, Operator::And, b)) as Physical) else { return Ok(None) };
        let condition = in_turn(&condition)?.unwrap_or(condition);
        let filter = filter_of(&condition, &left_schema, &right_schema)?;
        Ok(Some(if outer_is_left { filter.swap() } else { filter }))
    };
    let rest = together(joined.conditions.iter().enumerate().filter(|(at, _)| !said.contains(at)).map(|(_, c)| c).collect())?;
    let Some(filter) = together(joined.conditions.iter().collect())? else { return Ok(None) };
    if outer_is_left {
        for column in &mut columns {
            column.side = column.side.negate();
        }
    }
    Ok(Some(Arc::new(RangeJoinExec::new(RangeParts {
        left: Arc::clone(sorted),
        right: Arc::clone(outer),
        kind,
        keys,
        filter,
        rest,
        schema: joined.join.schema(),
        columns,
        statistics: StatisticsContext::new().compute(joined.join, &StatisticsArgs::new())?,
    })?)))
}
