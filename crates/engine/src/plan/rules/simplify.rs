//! Expressions, made simpler.
//!
//! What reads no column is computed once; NOT goes down to comparisons; constants among the parts of AND and OR, and parts that come twice,
//! fall away; what all alternatives of an OR ask stands before it; alternatives that compare one column with constants become a list.
//!
//! Invariant: a simpler expression gives the same for every row, NULL where the other gave NULL, and raises nothing that the other did not.
//! (Among the hundred rules of DataFusion's simplifier are some, about lists of values, that take NULL for false.)

use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::execution_props::ExecutionProps;
use datafusion::logical_expr::expr::{Case, InList};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{BinaryExpr, Expr, LogicalPlan, Operator, Volatility};
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};
use datafusion::physical_expr::create_physical_expr;
use datafusion::physical_plan::ColumnarValue;
use std::collections::HashSet;
use std::sync::Arc;
use stoa_sql::typed::udf::has_no_order;

/// Lists of no more values are written as comparisons, which are quicker than a look into a table.
const SHORT_LIST: usize = 3;

/// See the module.
#[derive(Debug)]
pub(super) struct Simplify;

impl OptimizerRule for Simplify {
    fn name(&self) -> &'static str {
        "simplify"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let names = NamePreserver::new(&plan);
        let named = |expr: Expr| -> Result<Transformed<Expr>> {
            let name = names.save(&expr);
            Ok(simplified(expr)?.update_data(|expr| name.restore(expr)))
        };
        let plan = plan.map_expressions(|expr| match expr {
            Expr::GroupingSet(_) => expr.map_children(named),
            other => named(other),
        })?;
        plan.transform_data(|plan| Ok(without_rows(plan)))
    }
}

/// A filter or a join of which a condition is never true asks nothing else: what has no column would go below groupings that give a row
/// of no rows, and what is left would be asked of rows that PostgreSQL, which asks the whole list, does not come to.
fn without_rows(mut plan: LogicalPlan) -> Transformed<LogicalPlan> {
    let condition = match &mut plan {
        LogicalPlan::Filter(filter) => Some(&mut filter.predicate),
        LogicalPlan::Join(join) if !join.null_aware => join.filter.as_mut(),
        _ => None,
    };
    let never = |e: &&Expr| matches!(e, Expr::Literal(ScalarValue::Boolean(None), _));
    match condition {
        Some(condition) if split_conjunction(condition).iter().any(never) => {
            *condition = Expr::Literal(ScalarValue::Boolean(Some(false)), None);
            Transformed::yes(plan)
        }
        _ => Transformed::no(plan),
    }
}

fn simplified(expr: Expr) -> Result<Transformed<Expr>> {
    match expr {
        Expr::BinaryExpr(BinaryExpr { op: op @ (Operator::And | Operator::Or), .. }) => connected(expr, op),
        // Below AND and OR before these are made simpler, so that each is once.
        Expr::Not(inner) => match negated(*inner) {
            Ok(other) => simplified(other).map(|other| Transformed::yes(other.data)),
            Err(same) => {
                let inner = simplified(same)?;
                match negated(inner.data) {
                    Ok(other) => simplified(other).map(|other| Transformed::yes(other.data)),
                    Err(same) => {
                        let out = computed(Expr::Not(Box::new(same)));
                        Ok(Transformed::new_transformed(out.data, inner.transformed || out.transformed))
                    }
                }
            }
        },
        other => other.map_children(simplified)?.transform_data(|expr| {
            let expr = match expr {
                Expr::Case(case) => alternatives(case),
                Expr::InList(list) => short_list(list),
                Expr::BinaryExpr(binary) => comparison(binary),
                other => Transformed::no(other),
            };
            expr.transform_data(|expr| Ok(computed(expr)))
        }),
    }
}

/// What NOT of an expression is without it, or the expression.
fn negated(expr: Expr) -> std::result::Result<Expr, Expr> {
    let not = |inner: Box<Expr>| Box::new(Expr::Not(inner));
    Ok(match expr {
        Expr::Not(inner) => *inner,
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => match op {
            Operator::And => binary(not(left), Operator::Or, not(right)),
            Operator::Or => binary(not(left), Operator::And, not(right)),
            Operator::Eq
            | Operator::NotEq
            | Operator::Lt
            | Operator::LtEq
            | Operator::Gt
            | Operator::GtEq
            | Operator::IsDistinctFrom
            | Operator::IsNotDistinctFrom => match op.negate() {
                Some(op) => binary(left, op, right),
                None => return Err(binary(left, op, right)),
            },
            other => return Err(binary(left, other, right)),
        },
        Expr::InList(list) => Expr::InList(InList { negated: !list.negated, ..list }),
        Expr::IsNull(inner) => Expr::IsNotNull(inner),
        Expr::IsNotNull(inner) => Expr::IsNull(inner),
        Expr::IsTrue(inner) => Expr::IsNotTrue(inner),
        Expr::IsNotTrue(inner) => Expr::IsTrue(inner),
        Expr::IsFalse(inner) => Expr::IsNotFalse(inner),
        Expr::IsNotFalse(inner) => Expr::IsFalse(inner),
        other => return Err(other),
    })
}

fn binary(left: Box<Expr>, op: Operator, right: Box<Expr>) -> Expr {
    Expr::BinaryExpr(BinaryExpr { left, op, right })
}

/// The parts of a chain of one operator, in their order.
fn parts(expr: Expr, op: Operator, out: &mut Vec<Expr>) {
    let mut pending = vec![expr];
    while let Some(next) = pending.pop() {
        match next {
            Expr::BinaryExpr(BinaryExpr { left, op: own, right }) if own == op => {
                pending.push(*right);
                pending.push(*left);
            }
            other => out.push(other),
        }
    }
}

/// The chain of parts, as a balanced tree: what recurs over it stays shallow.
fn chain(mut parts: Vec<Expr>, op: Operator) -> Option<Expr> {
    while parts.len() > 1 {
        let mut next = Vec::with_capacity(parts.len().div_ceil(2));
        let mut rest = parts.into_iter();
        while let Some(left) = rest.next() {
            next.push(match rest.next() {
                Some(right) => binary(Box::new(left), op, Box::new(right)),
                None => left,
            });
        }
        parts = next;
    }
    parts.pop()
}

fn bool_of(expr: &Expr) -> Option<bool> {
    match expr {
        Expr::Literal(ScalarValue::Boolean(value), _) => *value,
        _ => None,
    }
}

/// A chain of AND or OR.
#[allow(clippy::mutable_key_type)] // what is mutable in functions is no part of their identity
fn connected(expr: Expr, op: Operator) -> Result<Transformed<Expr>> {
    // The constant that decides, and the one that changes nothing is the other.
    let decides = op == Operator::Or;
    let (mut written, mut changed) = (Vec::new(), false);
    parts(expr, op, &mut written);
    let count = written.len();
    let mut simple = Vec::with_capacity(count);
    for part in written {
        let part = simplified(part)?;
        changed |= part.transformed;
        parts(part.data, op, &mut simple);
    }
    let mut seen = HashSet::with_capacity(simple.len());
    let mut kept = Vec::with_capacity(simple.len());
    for part in simple {
        match bool_of(&part) {
            Some(value) if value == decides => return Ok(Transformed::yes(part)),
            Some(_) => changed = true,
            None if part.is_volatile() || seen.insert(part.clone()) => kept.push(part),
            None => changed = true,
        }
    }
    if op == Operator::Or {
        let lists = kept.len();
        kept = in_lists(kept);
        changed |= kept.len() < lists;
        if let Some(common) = common(&kept) {
            return simplified(common).map(|common| Transformed::yes(common.data));
        }
    }
    let constant = || Expr::Literal(ScalarValue::Boolean(Some(!decides)), None);
    Ok(Transformed::new_transformed(chain(kept, op).unwrap_or_else(constant), changed))
}

/// Alternatives with what all of them ask taken out: `(a AND b) OR (a AND c)` is `a AND (b OR c)`.
fn common(alternatives: &[Expr]) -> Option<Expr> {
    let (first, others) = alternatives.split_first()?;
    if others.is_empty() {
        return None;
    }
    let asked = |expr: &Expr| {
        let mut out = Vec::new();
        parts(expr.clone(), Operator::And, &mut out);
        out
    };
    let all: Vec<Vec<Expr>> = others.iter().map(asked).collect();
    let first = asked(first);
    let (mut shared, mut rest) = (Vec::new(), Vec::new());
    for part in first {
        // What stands before the first that is not common may guard it.
        let moves = rest.is_empty() || is_plain(&part);
        let common = moves && !part.is_volatile() && all.iter().all(|parts| parts.contains(&part));
        if common { shared.push(part) } else { rest.push(part) }
    }
    if shared.is_empty() {
        return None;
    }
    let mut left = vec![chain(rest, Operator::And)];
    for parts in all {
        left.push(chain(parts.into_iter().filter(|part| !shared.contains(part)).collect(), Operator::And));
    }
    let mut out = shared;
    // An alternative that asks nothing more makes the others needless.
    if let Some(left) = left.into_iter().collect::<Option<Vec<_>>>() {
        out.extend(chain(left, Operator::Or));
    }
    chain(out, Operator::And)
}

/// Whether an expression raises nothing for any row.
pub(super) fn is_plain(expr: &Expr) -> bool {
    let compares = |op: Operator| op.negate().is_some() || matches!(op, Operator::And | Operator::Or);
    let raises = |e: &Expr| {
        Ok(!match e {
            Expr::Column(_) | Expr::Literal(..) | Expr::InList(_) | Expr::Not(_) | Expr::IsNull(_) | Expr::IsNotNull(_) => true,
            Expr::BinaryExpr(BinaryExpr { op, .. }) => compares(*op),
            _ => false,
        })
    };
    expr.exists(raises).is_ok_and(|raises| !raises)
}

/// A column that is compared with constants, and the constants.
fn column_in(expr: &Expr) -> Option<(&Expr, Vec<&Expr>)> {
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) => match (&**left, &**right) {
            (Expr::Column(_), Expr::Literal(..)) => Some((left, vec![right])),
            _ => None,
        },
        Expr::InList(InList { expr, list, negated: false }) => match &**expr {
            Expr::Column(_) if list.iter().all(|e| matches!(e, Expr::Literal(..))) => Some((expr, list.iter().collect())),
            _ => None,
        },
        _ => None,
    }
}

/// Alternatives that compare one column with many constants, as one list where the first of them stood.
#[allow(clippy::mutable_key_type)] // constants
fn in_lists(alternatives: Vec<Expr>) -> Vec<Expr> {
    if alternatives.len() < 2 || alternatives.iter().map(|e| column_in(e).map_or(0, |(_, list)| list.len())).sum::<usize>() <= SHORT_LIST {
        return alternatives;
    }
    let mut lists: Vec<(Expr, Vec<Expr>)> = Vec::new();
    for (column, values) in alternatives.iter().filter_map(column_in) {
        match lists.iter_mut().find(|(of, _)| of == column) {
            Some((_, list)) => list.extend(values.into_iter().cloned()),
            None => lists.push((column.clone(), values.into_iter().cloned().collect())),
        }
    }
    lists.retain(|(_, list)| list.len() > SHORT_LIST);
    let mut out = Vec::with_capacity(alternatives.len());
    for alternative in alternatives {
        let Some(at) = column_in(&alternative).and_then(|(column, _)| lists.iter().position(|(of, _)| of == column)) else {
            out.push(alternative);
            continue;
        };
        if let Some((column, list)) = lists.get_mut(at)
            && !list.is_empty()
        {
            let mut seen = HashSet::with_capacity(list.len());
            let values = std::mem::take(list).into_iter().filter(|value| seen.insert(value.clone())).collect();
            out.push(Expr::InList(InList::new(Box::new(column.clone()), values, false)));
        }
    }
    out
}

/// A list of few values of a column as comparisons with each.
fn short_list(list: InList) -> Transformed<Expr> {
    let few = (1..=SHORT_LIST).contains(&list.list.len()) && (list.list.len() == 1 || list.expr.try_as_col().is_some());
    if !few {
        return Transformed::no(Expr::InList(list));
    }
    let InList { expr, list, negated } = list;
    let (equal, together) = if negated { (Operator::NotEq, Operator::And) } else { (Operator::Eq, Operator::Or) };
    let tests = list.into_iter().map(|value| comparison(BinaryExpr::new(expr.clone(), equal, Box::new(value))).data);
    // As a chain from the left: so conditions are put together below, and the same shape is not made again and again.
    match tests.reduce(|all, test| binary(Box::new(all), together, Box::new(test))) {
        Some(test) => Transformed::yes(test),
        None => Transformed::no(Expr::Literal(ScalarValue::Boolean(Some(negated)), None)),
    }
}

/// A comparison: NULL if a side is, and with a constant on its right, so that what says the same is the same.
fn comparison(BinaryExpr { left, op, right }: BinaryExpr) -> Transformed<Expr> {
    let compares = matches!(op, Operator::Eq | Operator::NotEq | Operator::Lt | Operator::LtEq | Operator::Gt | Operator::GtEq);
    let is_null = |e: &Expr| matches!(e, Expr::Literal(value, _) if value.is_null());
    if compares && (is_null(&left) || is_null(&right)) && !left.is_volatile() && !right.is_volatile() {
        return Transformed::yes(Expr::Literal(ScalarValue::Boolean(None), None));
    }
    match op.swap() {
        Some(swapped) if compares && left.as_literal().is_some() && right.as_literal().is_none() => {
            Transformed::yes(binary(right, swapped, left))
        }
        _ => Transformed::no(binary(left, op, right)),
    }
}

/// CASE without the branches that are never taken.
fn alternatives(case: Case) -> Transformed<Expr> {
    if case.expr.is_some() || case.else_expr.is_none() || !case.when_then_expr.iter().any(|(when, _)| when.as_literal().is_some()) {
        return Transformed::no(Expr::Case(case));
    }
    let (mut taken, mut otherwise) = (Vec::with_capacity(case.when_then_expr.len()), case.else_expr);
    for (when, then) in case.when_then_expr {
        match bool_of(&when) {
            Some(true) => {
                otherwise = Some(then);
                break;
            }
            Some(false) => {}
            None if when.as_literal().is_some_and(ScalarValue::is_null) => {}
            None => taken.push((when, then)),
        }
    }
    match otherwise {
        Some(otherwise) if taken.is_empty() => Transformed::yes(*otherwise),
        otherwise => Transformed::yes(Expr::Case(Case::new(None, taken, otherwise))),
    }
}

/// The value of an expression over constants. What fails is left as it is: perhaps no row asks for it.
fn computed(expr: Expr) -> Transformed<Expr> {
    let computes = match &expr {
        Expr::ScalarFunction(call) => call.func.signature().volatility != Volatility::Volatile,
        Expr::BinaryExpr(_)
        | Expr::Not(_)
        | Expr::IsNull(_)
        | Expr::IsNotNull(_)
        | Expr::IsTrue(_)
        | Expr::IsNotTrue(_)
        | Expr::IsFalse(_)
        | Expr::IsNotFalse(_)
        | Expr::Cast(_)
        | Expr::InList(_) => true,
        _ => false,
    };
    let mut constant = computes;
    if computes {
        let walked = expr.apply_children(|child| {
            constant &= matches!(child, Expr::Literal(..));
            Ok(datafusion::common::tree_node::TreeNodeRecursion::Continue)
        });
        constant &= walked.is_ok();
    }
    match if constant { value_of(&expr) } else { None } {
        Some(value) if !has_no_order(&value) => Transformed::yes(Expr::Literal(value, None)),
        _ => Transformed::no(expr),
    }
}

fn value_of(expr: &Expr) -> Option<ScalarValue> {
    let physical = create_physical_expr(expr, &DFSchema::empty(), &ExecutionProps::new(), &PhysicalPlanningContext::default()).ok()?;
    let one_row = RecordBatchOptions::new().with_row_count(Some(1));
    let batch = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), Vec::new(), &one_row).ok()?;
    let value = match physical.evaluate(&batch).ok()? {
        ColumnarValue::Scalar(value) => value,
        ColumnarValue::Array(array) if array.len() == 1 => ScalarValue::try_from_array(&array, 0).ok()?,
        ColumnarValue::Array(_) => return None,
    };
    // A NULL without a type would change that of the expression.
    let ty = physical.data_type(&Schema::empty()).ok()?;
    (value.data_type().equals_datatype(&ty) && ty != DataType::Null).then_some(value)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use datafusion::arrow::array::{BooleanArray, Int32Array, cast::AsArray};
    use datafusion::arrow::datatypes::Field;
    use datafusion::logical_expr::{cast, col, lit, when};

    fn simple(expr: Expr) -> String {
        simplified(expr).unwrap().data.to_string()
    }

    #[test]
    fn expressions_become_simpler() {
        let (a, b) = (|| col("a"), || col("b"));
        let list = |values: &[i32], negated: bool| col("a").in_list(values.iter().map(|v| lit(*v)).collect(), negated);
        let null = || lit(ScalarValue::Int32(None));
        for (expr, expected) in [
            (a().eq(lit(1)).and(lit(true)), "a = Int32(1)"),
            (a().eq(lit(1)).and(lit(false)), "Boolean(false)"),
            (a().eq(lit(1)).or(lit(true)), "Boolean(true)"),
            (a().eq(lit(1)).or(a().eq(lit(1))), "a = Int32(1)"),
            (Expr::Not(Box::new(a().lt(lit(1)).or(b().is_null()))), "a >= Int32(1) AND b IS NOT NULL"),
            (Expr::Not(Box::new(list(&[1, 2, 3, 4], false))), "a NOT IN ([Int32(1), Int32(2), Int32(3), Int32(4)])"),
            (list(&[1, 2], true), "a != Int32(1) AND a != Int32(2)"),
            (list(&[1, 2], false).or(list(&[2, 3], false)), "a = Int32(1) OR a = Int32(2) OR a = Int32(3)"),
            (
                list(&[1, 2], false).or(b().eq(lit(1))).or(list(&[3, 4], false)),
                "a IN ([Int32(1), Int32(2), Int32(3), Int32(4)]) OR b = Int32(1)",
            ),
            (a().eq(null()), "Boolean(NULL)"),
            (lit(3).gt(a()), "a < Int32(3)"),
            ((lit(1) + lit(2)).lt(a()), "a > Int32(3)"),
            (lit(1) / lit(0), "Int32(1) / Int32(0)"),
            (a().eq(b()).and(a().lt(lit(1))).or(a().eq(b()).and(b().gt(lit(5)))), "a = b AND (a < Int32(1) OR b > Int32(5))"),
            (a().eq(b()).or(a().eq(b()).and(b().gt(lit(5)))), "a = b"),
            (
                when(lit(false), lit(1)).when(a().eq(lit(1)), lit(2)).otherwise(lit(3)).unwrap(),
                "CASE WHEN a = Int32(1) THEN Int32(2) ELSE Int32(3) END",
            ),
            (when(lit(true), a()).otherwise(lit(1) / lit(0)).unwrap(), "a"),
            (cast(lit(7), DataType::Int64).eq(lit(7i64)), "Boolean(true)"),
        ] {
            assert_eq!(simple(expr.clone()), expected, "{expr}");
        }
    }

    /// Random conditions over all values of two columns, NULLs among them.
    #[test]
    fn simpler_conditions_give_the_same() {
        let values = [None, Some(0), Some(1), Some(2), Some(3)];
        let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
        for a in values {
            for b in values {
                of_a.push(a);
                of_b.push(b);
            }
        }
        let schema = Schema::new(vec![Field::new("a", DataType::Int32, true), Field::new("b", DataType::Int32, true)]);
        let arrays: Vec<datafusion::arrow::array::ArrayRef> = vec![Arc::new(Int32Array::from(of_a)), Arc::new(Int32Array::from(of_b))];
        let batch = RecordBatch::try_new(Arc::new(schema.clone()), arrays).unwrap();
        let df_schema = DFSchema::try_from(schema).unwrap();
        let given = |expr: &Expr| -> BooleanArray {
            let physical = create_physical_expr(expr, &df_schema, &ExecutionProps::new(), &PhysicalPlanningContext::default()).unwrap();
            physical.evaluate(&batch).unwrap().into_array(batch.num_rows()).unwrap().as_boolean().clone()
        };
        let mut random = Random(7);
        for _ in 0..20_000 {
            let expr = random.condition(3);
            let simple = simplified(expr.clone()).unwrap().data;
            assert_eq!(given(&expr), given(&simple), "{expr} became {simple}");
        }
    }

    struct Random(u64);

    impl Random {
        fn below(&mut self, n: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.0 >> 33) % n
        }

        fn column(&mut self) -> Expr {
            if self.below(2) == 0 { col("a") } else { col("b") }
        }

        fn value(&mut self) -> Expr {
            match self.below(5) {
                0 => lit(ScalarValue::Int32(None)),
                n => lit(n as i32 - 1),
            }
        }

        fn condition(&mut self, depth: u64) -> Expr {
            if depth == 0 {
                return match self.below(7) {
                    0 => self.column().eq(self.value()),
                    1 => self.value().lt(self.column()),
                    2 => self.column().is_null(),
                    3 => lit([ScalarValue::Boolean(None), true.into(), false.into()][self.below(3) as usize].clone()),
                    4 => binary(Box::new(self.column()), Operator::IsDistinctFrom, Box::new(self.column())),
                    _ => {
                        let list = (0..1 + self.below(5)).map(|_| self.value()).collect();
                        let negated = self.below(2) == 0;
                        self.column().in_list(list, negated)
                    }
                };
            }
            match self.below(8) {
                0 | 1 => self.condition(depth - 1).and(self.condition(depth - 1)),
                2 | 3 => self.condition(depth - 1).or(self.condition(depth - 1)),
                4 => Expr::Not(Box::new(self.condition(depth - 1))),
                5 => {
                    let shared = self.condition(0);
                    shared.clone().and(self.condition(depth - 1)).or(self.condition(0).and(shared))
                }
                6 => Expr::IsNotTrue(Box::new(self.condition(depth - 1))),
                _ => when(self.condition(depth - 1), self.condition(0)).otherwise(self.condition(0)).unwrap(),
            }
        }
    }
}
