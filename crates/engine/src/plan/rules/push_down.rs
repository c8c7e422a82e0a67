//! Conditions go down to where their columns come from.
//!
//! Through all nodes but joins by DataFusion's rule; through joins by this one. It goes by two questions: whether each row of the join is
//! (but for NULLs that are added) a row of the side, which lets a condition above the join go down; and whether a row of the side that
//! fails a condition of the join is of no use to it, which lets that go down. What is concluded, by keys that are equal or from
//! alternatives, is asked of more rows than what it was concluded from: it must raise nothing ([`is_plain`]).
//! DataFusion's rule also merges comparisons of a column, wrongly: [`merged_comparisons`] keeps them apart.

use super::simplify::is_plain;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, Result};
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, Filter, Join, JoinType, LogicalPlan, Operator};
use datafusion::optimizer::push_down_filter::PushDownFilter;
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};
use std::collections::HashSet;
use std::sync::Arc;
use stoa_exec::datafusion_faults::merged_comparisons;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct PushDown(PushDownFilter);

impl OptimizerRule for PushDown {
    fn name(&self) -> &'static str {
        "push_down_filter"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::TopDown)
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let filter = match plan {
            LogicalPlan::Join(join) => return below(join, Vec::new()),
            LogicalPlan::Filter(filter) => filter,
            other => return self.0.rewrite(other, config),
        };
        let (mut filters, mut input) = (vec![filter.predicate], filter.input);
        while let LogicalPlan::Filter(filter) = input.as_ref() {
            filters.push(filter.predicate.clone());
            input = Arc::clone(&filter.input);
        }
        // The lowest were asked first.
        let conditions = distinct(filters.into_iter().rev().flat_map(split_conjunction_owned));
        match Arc::unwrap_or_clone(input) {
            LogicalPlan::Join(join) => below(join, conditions),
            other => match conjunction(merged_comparisons::apart(conditions)) {
                Some(predicate) => self.0.rewrite(LogicalPlan::Filter(Filter::try_new(predicate, Arc::new(other))?), config),
                None => Ok(Transformed::yes(other)),
            },
        }
    }
}

#[allow(clippy::mutable_key_type)] // what is mutable in functions is no part of their identity
fn distinct(conditions: impl Iterator<Item = Expr>) -> Vec<Expr> {
    let mut seen = HashSet::new();
    conditions.filter(|condition| condition.is_volatile() || seen.insert(condition.clone())).collect()
}

/// For the left and the right side: whether every row of the join has a row of the side.
fn gives_rows(kind: JoinType) -> [bool; 2] {
    match kind {
        JoinType::Inner => [true, true],
        JoinType::Left | JoinType::LeftSemi | JoinType::LeftAnti | JoinType::LeftMark => [true, false],
        JoinType::Right | JoinType::RightSemi | JoinType::RightAnti | JoinType::RightMark => [false, true],
        JoinType::Full => [false, false],
    }
}

/// For the left and the right side: whether a row that matches no other has no part in the join.
fn needs_match(kind: JoinType) -> [bool; 2] {
    match kind {
        JoinType::Inner | JoinType::LeftSemi | JoinType::RightSemi => [true, true],
        JoinType::Left | JoinType::LeftAnti | JoinType::LeftMark => [false, true],
        JoinType::Right | JoinType::RightAnti | JoinType::RightMark => [true, false],
        JoinType::Full => [false, false],
    }
}

/// The columns of the two sides.
struct Sides([HashSet<Column>; 2]);

impl Sides {
    /// The side that an expression reads, if it reads one alone.
    fn of(&self, e: &Expr) -> Option<usize> {
        let read = e.column_refs();
        (0..2).find(|side| !read.is_empty() && self.0.get(*side).is_some_and(|columns| read.iter().all(|column| columns.contains(column))))
    }
}

/// A join, with the conditions above it and its own as far down as they go.
fn below(mut join: Join, above: Vec<Expr>) -> Result<Transformed<LogicalPlan>> {
    let own = join.filter.take().map_or_else(Vec::new, split_conjunction_owned);
    let sides = Sides([&join.left, &join.right].map(|side| side.schema().columns().into_iter().collect()));
    let (gives, needs) = (gives_rows(join.join_type), needs_match(join.join_type));
    let [mut left, mut right]: [Vec<Expr>; 2] = Default::default();
    let (mut kept, mut asked) = (Vec::new(), Vec::new());
    // Conditions that hold for all rows which have a part in the join, or which the join asks for.
    let mut known: Vec<Expr> = Vec::new();
    let mut changed = false;
    let allowed = |side: Option<usize>, by: [bool; 2]| side.filter(|side| by.get(*side).is_some_and(|allowed| *allowed));
    for condition in above {
        if condition.is_volatile() {
            kept.push(condition);
            continue;
        }
        let side = sides.of(&condition);
        match allowed(side, gives) {
            Some(side) => {
                known.push(condition.clone());
                if side == 0 {
                    left.push(condition)
                } else {
                    right.push(condition)
                }
                changed = true;
            }
            None if join.join_type == JoinType::Inner && !condition.column_refs().is_empty() => {
                asked.push(condition);
                changed = true;
            }
            None => kept.push(condition),
        }
    }
    for condition in own {
        let side = if condition.is_volatile() || join.null_aware { None } else { sides.of(&condition) };
        if !condition.is_volatile() {
            known.push(condition.clone());
        }
        match allowed(side, needs) {
            Some(side) => {
                if side == 0 {
                    left.push(condition)
                } else {
                    right.push(condition)
                }
                changed = true;
            }
            None => asked.push(condition),
        }
    }
    if !join.null_aware {
        let pairs = equal_columns(&join, &asked, &sides)?;
        for condition in &known {
            for side in 0..2 {
                let concluded = match sides.of(condition) {
                    Some(of) if of != side => through(condition, &pairs, side)?,
                    Some(_) => None,
                    None => alternatives(condition, &sides, side),
                };
                let Some(concluded) = concluded.filter(is_plain) else { continue };
                if allowed(Some(side), needs).is_some() {
                    if side == 0 { left.push(concluded) } else { right.push(concluded) }
                }
            }
        }
        for condition in &kept {
            for side in (0..2).filter(|side| allowed(Some(*side), gives).is_some() && !condition.is_volatile()) {
                if let Some(concluded) = alternatives(condition, &sides, side).filter(is_plain) {
                    if side == 0 { left.push(concluded) } else { right.push(concluded) }
                }
            }
        }
        for condition in asked.iter().filter(|condition| join.join_type == JoinType::Inner && !known.contains(condition)) {
            for side in 0..2 {
                if let Some(concluded) = alternatives(condition, &sides, side).filter(is_plain) {
                    if side == 0 { left.push(concluded) } else { right.push(concluded) }
                }
            }
        }
    }
    join.filter = conjunction(distinct(asked.into_iter()));
    for (input, conditions) in [(&mut join.left, left), (&mut join.right, right)] {
        let new = distinct(conditions.into_iter().filter(|condition| !is_asked(input, condition)));
        if let Some(predicate) = conjunction(new) {
            *input = Arc::new(LogicalPlan::Filter(Filter::try_new(predicate, Arc::clone(input))?));
            changed = true;
        }
    }
    let plan = LogicalPlan::Join(join);
    let plan = match conjunction(kept) {
        Some(predicate) => LogicalPlan::Filter(Filter::try_new(predicate, Arc::new(plan))?),
        None => plan,
    };
    Ok(Transformed::new_transformed(plan, changed))
}

/// Whether a plan asks a condition at its top already.
fn is_asked(plan: &LogicalPlan, condition: &Expr) -> bool {
    match plan {
        LogicalPlan::Filter(filter) => datafusion::logical_expr::utils::split_conjunction(&filter.predicate).contains(&condition),
        LogicalPlan::TableScan(scan) => scan.filters.contains(condition),
        _ => false,
    }
}

/// Columns of the left and the right side that are equal in rows that match, in value and in form.
fn equal_columns(join: &Join, asked: &[Expr], sides: &Sides) -> Result<Vec<[Column; 2]>> {
    let mut out = Vec::new();
    let asked = asked.iter().filter_map(|condition| match condition {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) => Some((&**left, &**right)),
        _ => None,
    });
    for (one, other) in join.on.iter().map(|(l, r)| (l, r)).chain(asked) {
        let (Some(a), Some(b)) = (one.try_as_col(), other.try_as_col()) else { continue };
        let (a, b) = match (sides.of(one), sides.of(other)) {
            (Some(0), Some(1)) => (a, b),
            (Some(1), Some(0)) => (b, a),
            _ => continue,
        };
        let ty = Expr::Column(a.clone()).get_type(join.left.schema())?;
        // Zeros of two signs are equal, and are not the same.
        if ty == Expr::Column(b.clone()).get_type(join.right.schema())? && !ty.is_floating() {
            out.push([a.clone(), b.clone()]);
        }
    }
    Ok(out)
}

/// A condition on columns of the other side as one on the columns of a side that are equal to them.
fn through(condition: &Expr, pairs: &[[Column; 2]], side: usize) -> Result<Option<Expr>> {
    let equal = |column: &Column| pairs.iter().find(|pair| pair.get(1 - side) == Some(column)).and_then(|pair| pair.get(side));
    if !condition.column_refs().into_iter().all(|column| equal(column).is_some()) {
        return Ok(None);
    }
    let other = condition.clone().transform_up(|e| match e {
        Expr::Column(column) => {
            let own = equal(&column).cloned();
            Ok(Transformed::yes(Expr::Column(own.unwrap_or(column))))
        }
        other => Ok(Transformed::no(other)),
    })?;
    Ok(Some(other.data))
}

/// What alternatives ask of one side: each of them something.
fn alternatives(condition: &Expr, sides: &Sides, side: usize) -> Option<Expr> {
    match condition {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) => {
            let (left, right) = (of_side(left, sides, side)?, of_side(right, sides, side)?);
            Some(left.or(right))
        }
        _ => None,
    }
}

fn of_side(e: &Expr, sides: &Sides, side: usize) -> Option<Expr> {
    match e {
        _ if sides.of(e) == Some(side) => Some(e.clone()),
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => {
            match (of_side(left, sides, side), of_side(right, sides, side)) {
                (Some(left), Some(right)) => Some(left.and(right)),
                (left, right) => left.or(right),
            }
        }
        Expr::BinaryExpr(BinaryExpr { op: Operator::Or, .. }) => alternatives(e, sides, side),
        _ => None,
    }
}
