//! Products become joins by key, where another order of the inputs gives them one.
//!
//! `FROM a, b, c WHERE a.x = c.x AND c.y = b.y` is written as a product of `a` and `b`. Here a tree of inner joins is taken apart into its
//! inputs and all that is asked of them, and put together so that each input comes when something compares it with those before, if that
//! makes fewer products. The cheapest order is found later, by [`super::super::join_order`], among joins that have keys.
//!
//! Invariant: every condition is asked once, at the first join that has all of its columns, with its own treatment of NULL: keys that
//! compare NULL as equal become IS NOT DISTINCT FROM. (DataFusion's rule for the same leaves out the keys that no join takes, and gives
//! all of them the treatment of the topmost join.)

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, NullEquality, Result};
use datafusion::logical_expr::utils::{conjunction, split_conjunction};
use datafusion::logical_expr::{BinaryExpr, Expr, Filter, Join, JoinConstraint, JoinType, LogicalPlan, Operator, Projection};
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use std::collections::HashMap;
use std::sync::Arc;

/// Sets of inputs are bits of a number.
const INPUTS: usize = 120;

/// See the module.
#[derive(Debug)]
pub(super) struct JoinKeys;

impl OptimizerRule for JoinKeys {
    fn name(&self) -> &'static str {
        "join_keys"
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        with_keys(plan)
    }
}

fn with_keys(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    match reordered(&plan)? {
        Some(other) => Ok(Transformed::yes(other)),
        None => plan.map_children(with_keys),
    }
}

fn inner(plan: &LogicalPlan) -> Option<&Join> {
    match plan {
        LogicalPlan::Join(join) if join.join_type == JoinType::Inner && !join.null_aware => Some(join),
        _ => None,
    }
}

/// A tree of inner joins, taken apart.
#[derive(Default)]
struct Parts<'a> {
    inputs: Vec<&'a Arc<LogicalPlan>>,
    conditions: Vec<Expr>,
    /// The sides of the joins as they are written.
    joins: Vec<(u128, u128)>,
}

impl<'a> Parts<'a> {
    /// Takes a side of a join in; its inputs.
    fn take(&mut self, plan: &'a Arc<LogicalPlan>) -> u128 {
        if let Some(join) = inner(plan) {
            return self.take_join(join);
        }
        let at = self.inputs.len();
        self.inputs.push(plan);
        if at < INPUTS { 1 << at } else { 0 }
    }

    fn take_join(&mut self, join: &'a Join) -> u128 {
        let (left, right) = (self.take(&join.left), self.take(&join.right));
        let equal = match join.null_equality {
            NullEquality::NullEqualsNothing => Operator::Eq,
            NullEquality::NullEqualsNull => Operator::IsNotDistinctFrom,
        };
        self.conditions.extend(join.on.iter().map(|(l, r)| stoa_sql::typed::expr::binary(l.clone(), equal, r.clone())));
        self.conditions.extend(join.filter.iter().flat_map(split_conjunction).cloned());
        self.joins.push((left, right));
        left | right
    }
}

/// What a condition is about, and the two sides if it is an equality.
struct About {
    inputs: u128,
    sides: Option<(u128, u128)>,
}

impl About {
    /// Whether it compares two sets of inputs for equality.
    fn connects(&self, one: u128, other: u128) -> bool {
        let within = |set: u128, of: u128| set != 0 && set & !of == 0;
        self.sides.is_some_and(|(l, r)| (within(l, one) && within(r, other)) || (within(l, other) && within(r, one)))
    }
}

/// The plan with fewer products, if it is a tree of inner joins that can be put together so.
fn reordered(plan: &LogicalPlan) -> Result<Option<LogicalPlan>> {
    let (above, top) = match plan {
        LogicalPlan::Filter(filter) => (Some(&filter.predicate), filter.input.as_ref()),
        other => (None, other),
    };
    let Some(join) = inner(top) else { return Ok(None) };
    let mut parts = Parts::default();
    parts.take_join(join);
    parts.conditions.extend(above.into_iter().flat_map(split_conjunction).cloned());
    let Parts { inputs, conditions, joins } = parts;
    if inputs.len() < 3 || inputs.len() > INPUTS || conditions.iter().any(Expr::is_volatile) {
        return Ok(None);
    }
    let mut owners: HashMap<Column, usize> = HashMap::new();
    for (at, input) in inputs.iter().enumerate() {
        owners.extend(input.schema().columns().into_iter().map(|column| (column, at)));
    }
    let Some(about) = conditions.iter().map(|condition| about(condition, &owners)).collect::<Option<Vec<_>>>() else { return Ok(None) };
    let connected = |one: u128, other: u128| about.iter().any(|condition| condition.connects(one, other));
    let written = joins.iter().filter(|(left, right)| !connected(*left, *right)).count();
    if written == 0 {
        return Ok(None);
    }
    let mut left: Vec<usize> = (1..inputs.len()).collect();
    let (mut order, mut set, mut products) = (vec![0], 1u128, 0);
    while !left.is_empty() {
        let next = left.iter().position(|at| connected(set, 1 << *at));
        products += usize::from(next.is_none());
        let at = left.remove(next.unwrap_or(0));
        set |= 1 << at;
        order.push(at);
    }
    if products >= written {
        return Ok(None);
    }
    let input = |at: usize| -> Result<Arc<LogicalPlan>> {
        match inputs.get(at) {
            Some(input) => Ok(Arc::new(with_keys(LogicalPlan::clone(input))?.data)),
            None => Err(datafusion::error::DataFusionError::Internal("an input of joins was lost".into())),
        }
    };
    let mut asked: Vec<(Expr, u128)> = conditions.into_iter().zip(about.iter().map(|a| a.inputs)).collect();
    let (mut joined, mut set) = (input(0)?, 1u128);
    for at in order.into_iter().skip(1) {
        set |= 1 << at;
        let (now, later): (Vec<_>, Vec<_>) = asked.into_iter().partition(|(_, inputs)| *inputs != 0 && inputs & !set == 0);
        asked = later;
        let filter = conjunction(now.into_iter().map(|(condition, _)| condition));
        let (on, kind, equality) = (Vec::new(), JoinType::Inner, NullEquality::NullEqualsNothing);
        let join = Join::try_new(joined, input(at)?, on, filter, kind, JoinConstraint::On, equality, false)?;
        joined = Arc::new(LogicalPlan::Join(join));
    }
    let mut out = joined;
    if top.schema() != out.schema() {
        out = Arc::new(LogicalPlan::Projection(Projection::new_from_schema(out, Arc::clone(top.schema()))));
    }
    // Conditions without columns.
    if let Some(rest) = conjunction(asked.into_iter().map(|(condition, _)| condition)) {
        out = Arc::new(LogicalPlan::Filter(Filter::try_new(rest, out)?));
    }
    Ok(Some(Arc::unwrap_or_clone(out)))
}

/// What a condition is about; `None` if it reads what no input has.
fn about(condition: &Expr, owners: &HashMap<Column, usize>) -> Option<About> {
    let of = |e: &Expr| e.column_refs().into_iter().try_fold(0u128, |set, column| Some(set | 1u128 << *owners.get(column)?));
    let sides = match condition {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq | Operator::IsNotDistinctFrom, right }) => Some((of(left)?, of(right)?)),
        _ => None,
    };
    Some(About { inputs: of(condition)?, sides })
}
