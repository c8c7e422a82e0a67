//! Typed expressions to DataFusion's.

use crate::typed::constant;
use crate::typed::deeper;
use crate::typed::guard::in_branches;
use crate::typed::once::coalesce_once;
use crate::typed::raises::{may_raise, own_cost, raises_itself};
use crate::typed::tree::{Expr, ExprKind, OperRef, SortKey};
use crate::typed::udf::{KernelUdf, each_row, unknown_parameter};
use crate::typed::walk::walk_volatile;
use crate::typed::{column_name, from_datafusion, kernel};
use datafusion_common::{Column, ScalarValue};
use datafusion_expr::expr::{Cast, InList, Sort};
use datafusion_expr::{BinaryExpr, Case, Expr as DfExpr, Operator};
use std::sync::Arc;
use stoa_pg::operators::datetime::equality_key;
use stoa_pg::operators::membership::{FEW, hashes_alike};
use stoa_pg::operators::quantified::{MOST_ROW_PARTS, in_rows_kernel};
use stoa_pg::registry::{NativeOp, OperKind, Volatility};
use stoa_pg::values::array::array_of_values;
use stoa_pg::{EvalContext, PgError, PgResult, PgType, SqlType};

/// What the test of rows among constant ones is called in plans: behind the values of a row, a list for each of them.
pub const IN_ROWS: &str = "in rows";

/// Elements of an array, at most, that become conditions of their own.
const MOST_ELEMENTS: usize = 8;

/// What the conversion of expressions needs.
pub struct ExprPlanner<'a> {
    pub eval: &'a EvalContext,
    /// Their values; of those that are missing any value may come, see [`unknown_parameter`].
    pub params: &'a [ScalarValue],
}

fn is_constant(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Const(_) | ExprKind::Param(_) => true,
        ExprKind::Array(items) => items.iter().all(is_constant),
        _ => false,
    }
}

/// The type that holds the values of two integer types that differ.
fn wider_integer(l: &SqlType, r: &SqlType) -> Option<arrow::datatypes::DataType> {
    let integer = |ty: &SqlType| matches!(ty.ty, PgType::Int2 | PgType::Int4 | PgType::Int8);
    let (a, b) = (&l.arrow, &r.arrow);
    let wider = if a.primitive_width() >= b.primitive_width() { a } else { b };
    (integer(l) && integer(r) && a != b).then(|| wider.clone())
}

/// A reference to a column of the plan.
#[must_use]
pub fn column(id: crate::typed::tree::ColId) -> DfExpr {
    DfExpr::Column(Column::new_unqualified(column_name(id)))
}

impl ExprPlanner<'_> {
    /// Converts one expression; subqueries, aggregates and windows were taken out before.
    pub fn expr(&self, e: &Expr) -> PgResult<DfExpr> {
        deeper(|| self.converted(e))
    }

    fn converted(&self, e: &Expr) -> PgResult<DfExpr> {
        Ok(match &e.kind {
            ExprKind::Column(id) | ExprKind::Given(id) => column(*id),
            ExprKind::Once { id, value, body } => self.once(*id, value, body)?,
            ExprKind::Const(value) => DfExpr::Literal(value.clone(), None),
            ExprKind::Param(index) => match self.params.get(*index) {
                Some(value) => DfExpr::Literal(value.clone(), None),
                None => unknown_parameter(*index, &e.ty, self.eval),
            },
            ExprKind::And(_) | ExprKind::Or(_) | ExprKind::Not(_) => self.value(&self.condition(e))?,
            ExprKind::IsNull(arg) => DfExpr::IsNull(Box::new(self.expr(arg)?)),
            ExprKind::IsNotNull(arg) => DfExpr::IsNotNull(Box::new(self.expr(arg)?)),
            ExprKind::IsBool { arg, value, negated } => {
                let arg = Box::new(if *value == Some(true) { self.test(arg)? } else { self.expr(arg)? });
                match (value, negated) {
                    (Some(true), false) => DfExpr::IsTrue(arg),
                    (Some(true), true) => DfExpr::IsNotTrue(arg),
                    (Some(false), false) => DfExpr::IsFalse(arg),
                    (Some(false), true) => DfExpr::IsNotFalse(arg),
                    (None, false) => DfExpr::IsNull(arg),
                    (None, true) => DfExpr::IsNotNull(arg),
                }
            }
            ExprKind::IsDistinct { left, right, negated, .. } => {
                let (l, r) = (self.sort_key(left)?, self.sort_key(right)?);
                let is_null = |e: &DfExpr| matches!(e, DfExpr::Literal(value, _) if value.is_null());
                // DataFusion's simplifier takes two NULLs for distinct.
                match (is_null(&l), is_null(&r)) {
                    (true, true) => DfExpr::Literal(ScalarValue::Boolean(Some(*negated)), None),
                    (true, false) if *negated => DfExpr::IsNull(Box::new(r)),
                    (true, false) => DfExpr::IsNotNull(Box::new(r)),
                    (false, true) if *negated => DfExpr::IsNull(Box::new(l)),
                    (false, true) => DfExpr::IsNotNull(Box::new(l)),
                    _ => binary(l, if *negated { Operator::IsNotDistinctFrom } else { Operator::IsDistinctFrom }, r),
                }
            }
            ExprKind::Func { .. } | ExprKind::Oper { .. } if is_null_call(e) => {
                DfExpr::Literal(ScalarValue::try_from(&e.ty.arrow).map_err(from_datafusion)?, None)
            }
            ExprKind::Oper { oper, args } => self.operator(e, oper, args)?,
            ExprKind::Case { whens, otherwise } => {
                let mut pairs = Vec::with_capacity(whens.len());
                for (when, then) in whens {
                    pairs.push((self.test(when)?, self.expr(then)?));
                }
                let otherwise = match otherwise {
                    Some(e) => self.expr(e)?,
                    None => DfExpr::Literal(ScalarValue::try_from(&e.ty.arrow).map_err(from_datafusion)?, None),
                };
                self.branches(e, pairs, otherwise)
            }
            ExprKind::Coalesce(args) if let Some(once) = coalesce_once(args, &e.ty) => self.expr(&once)?,
            ExprKind::Coalesce(args) => {
                // As CASE, so that later arguments are computed only where they are needed.
                let mut converted = args.iter().map(|a| self.expr(a)).collect::<PgResult<Vec<_>>>()?;
                let Some(last) = converted.pop() else { return Err(PgError::internal("COALESCE without arguments")) };
                if converted.is_empty() {
                    last
                } else {
                    let pairs = converted.into_iter().map(|c| (DfExpr::IsNotNull(Box::new(c.clone())), c)).collect();
                    self.branches(e, pairs, last)
                }
            }
            ExprKind::AnyArray { left, oper, array, all } => match self.in_list(left, oper, array, *all, false)? {
                Some(list) => list,
                None => match self.each_element(e, left, oper, array, *all)? {
                    Some(alternatives) => alternatives,
                    None => self.call(e)?,
                },
            },
            ExprKind::Cast { .. } if let Some(arg) = e.relabelled() => self.expr(arg)?,
            // As a constant that is written as such.
            ExprKind::Array(_)
                if is_constant(e)
                    && let Ok(Some(value)) = constant::evaluate_with(self.eval, self.params, e) =>
            {
                DfExpr::Literal(value, None)
            }
            ExprKind::Func { .. }
            | ExprKind::Cast { .. }
            | ExprKind::Extreme { .. }
            | ExprKind::Array(_)
            | ExprKind::Row(_)
            | ExprKind::Field { .. }
            | ExprKind::RowIsNull { .. }
            | ExprKind::Subscript { .. }
            | ExprKind::Slice { .. } => self.call(e)?,
            ExprKind::ScalarSubquery(_)
            | ExprKind::Exists(_)
            | ExprKind::AnyQuery { .. }
            | ExprKind::ArraySubquery(_)
            | ExprKind::Aggregate(_)
            | ExprKind::Window(_)
            | ExprKind::Set(_)
            | ExprKind::Grouping(_) => return Err(PgError::internal("an expression reached the plan that belongs to a node of its own")),
        })
    }

    /// `NOT x = ANY (list)` as NOT IN; `None` for any other negation.
    pub(super) fn not_in_list(&self, e: &Expr) -> PgResult<Option<DfExpr>> {
        let ExprKind::Not(arg) = &e.kind else { return Ok(None) };
        let ExprKind::AnyArray { left, oper, array, all } = &arg.kind else { return Ok(None) };
        self.in_list(left, oper, array, *all, true)
    }

    /// CASE, or what is computed as such. Where branches may raise its form is one that the optimizer does not take apart.
    fn branches(&self, e: &Expr, whens: Vec<(DfExpr, DfExpr)>, otherwise: DfExpr) -> DfExpr {
        if e.children().into_iter().skip(1).any(|child| may_raise(self.eval, child)) {
            return in_branches(whens, otherwise);
        }
        let whens = whens.into_iter().map(|(when, then)| (Box::new(when), Box::new(then))).collect();
        DfExpr::Case(Case::new(None, whens, Some(Box::new(otherwise))))
    }

    fn operator(&self, e: &Expr, oper: &OperRef, args: &[Expr]) -> PgResult<DfExpr> {
        if let [l, r] = args {
            let decimals = l.ty.decimal_parts().is_some() && r.ty.decimal_parts().is_some();
            let comparison = match &oper.0.kind {
                OperKind::Native(op) => to_comparison(*op),
                OperKind::Kernel(_) if decimals => kernel::comparison_of(oper.0.name).and_then(to_comparison),
                OperKind::Kernel(_) => None,
            };
            if let Some(op) = comparison
                && same_arrow(&l.ty, &r.ty)
            {
                let (l, r) = (self.expr(l)?, self.expr(r)?);
                // DataFusion merges conditions on a column wrongly if constants stand on different sides of it.
                return Ok(match (&l, &r, op.swap()) {
                    (DfExpr::Literal(..), right, Some(swapped)) if !matches!(right, DfExpr::Literal(..)) => binary(r, swapped, l),
                    _ => binary(l, op, r),
                });
            }
            // Equality of two columns must be visible to the optimizer as one, so that it can become a join key.
            if oper.0.comparison == Some(NativeOp::Eq)
                && l.ty.ty == r.ty.ty
                && l.ty.arrow == r.ty.arrow
                && !is_constant(l)
                && !is_constant(r)
            {
                return Ok(binary(self.sort_key(l)?, Operator::Eq, self.sort_key(r)?));
            }
            if oper.0.comparison == Some(NativeOp::Eq)
                && let (Some(wide), false, false) = (wider_integer(&l.ty, &r.ty), is_constant(l), is_constant(r))
            {
                let widened = |e: &Expr| {
                    let inner = self.expr(e)?;
                    let same = e.ty.arrow == wide;
                    Ok::<_, PgError>(if same { inner } else { DfExpr::Cast(Cast::new(Box::new(inner), wide.clone())) })
                };
                return Ok(binary(widened(l)?, Operator::Eq, widened(r)?));
            }
            if oper.0.name == "="
                && !is_constant(l)
                && !is_constant(r)
                && let Some((l, r)) = self.keys_of_two_types(l, r)?
            {
                return Ok(binary(l, Operator::Eq, r));
            }
        }
        self.call(e)
    }

    /// `left = ANY (constants)` and `left <> ALL (constants)`, or (`not`) the negation, as IN and NOT IN for types that DataFusion
    /// compares as PostgreSQL does; `None` for others.
    fn in_list(&self, left: &Expr, oper: &OperRef, array: &Expr, all: bool, not: bool) -> PgResult<Option<DfExpr>> {
        let negated = match (oper.0.name, all) {
            ("=", false) => not,
            ("<>", true) => !not,
            _ => return Ok(None),
        };
        let ExprKind::Array(items) = &array.kind else { return Ok(None) };
        let native = matches!(oper.0.kind, OperKind::Native(_)) || left.ty.decimal_parts().is_some();
        let fits = items.iter().all(|i| i.ty.arrow == left.ty.arrow && matches!(i.kind, ExprKind::Const(_) | ExprKind::Param(_)));
        if !native || !fits || items.is_empty() {
            return Ok(None);
        }
        let list = items.iter().map(|i| self.expr(i)).collect::<PgResult<Vec<_>>>()?;
        Ok(Some(DfExpr::InList(InList::new(Box::new(self.expr(left)?), list, negated))))
    }

    /// `left op ANY (ARRAY[a, b])` as `left op a OR left op b`, and ALL as AND, where elements are computed: joins are made by what is asked
    /// of each. `None` where there are many, or an element might raise.
    fn each_element(&self, e: &Expr, left: &Expr, oper: &OperRef, array: &Expr, all: bool) -> PgResult<Option<DfExpr>> {
        let ExprKind::Array(items) = &array.kind else { return Ok(None) };
        let elements = items.iter().all(|item| item.ty.array_of().ty == array.ty.ty);
        let computed = items.iter().any(|item| !is_constant(item));
        if oper.0.comparison.is_none() || items.len() > MOST_ELEMENTS || !elements || !computed {
            return Ok(None);
        }
        let test = |item: &Expr| Expr::new(ExprKind::Oper { oper: oper.clone(), args: vec![left.clone(), item.clone()] }, e.ty.clone());
        let mut tests: Vec<Expr> = items.iter().map(test).collect();
        if tests.iter().any(|test| walk_volatile(test) || may_raise(self.eval, test)) {
            return Ok(None);
        }
        let one = if tests.len() == 1 { tests.pop() } else { None };
        let alternatives = one.unwrap_or_else(|| Expr::new(if all { ExprKind::And(tests) } else { ExprKind::Or(tests) }, e.ty.clone()));
        self.expr(&alternatives).map(Some)
    }

    /// `(left, …) IN ((constant, …), …)`, which is written as alternatives, as one test; `None` for any other alternatives.
    pub(super) fn in_rows(&self, parts: &[Expr]) -> PgResult<Option<DfExpr>> {
        if parts.len() < FEW {
            return Ok(None);
        }
        let mut lefts: Vec<&Expr> = Vec::new();
        let mut lists: Vec<(&SqlType, Vec<ScalarValue>)> = Vec::new();
        for part in parts {
            let ExprKind::And(tests) = &part.kind else { return Ok(None) };
            if lefts.is_empty() {
                if tests.len() > MOST_ROW_PARTS {
                    return Ok(None);
                }
                for test in tests {
                    let Some((left, right, _)) = self.equal_to_constant(test) else { return Ok(None) };
                    lefts.push(left);
                    lists.push((&right.ty, Vec::with_capacity(parts.len())));
                }
            }
            if tests.len() != lefts.len() {
                return Ok(None);
            }
            for ((test, left), (ty, list)) in tests.iter().zip(&lefts).zip(&mut lists) {
                match self.equal_to_constant(test) {
                    Some((l, right, value)) if l == *left && right.ty == **ty => list.push(value.clone()),
                    _ => return Ok(None),
                }
            }
        }
        let mut args = lefts.iter().map(|left| self.expr(left)).collect::<PgResult<Vec<_>>>()?;
        let mut arg_types: Vec<SqlType> = lefts.iter().map(|left| left.ty.clone()).collect();
        for (ty, list) in lists {
            args.push(DfExpr::Literal(array_of_values(list, &ty.arrow)?, None));
            arg_types.push(ty.array_of());
        }
        let ret = SqlType::new(PgType::Bool);
        let udf = KernelUdf::make(IN_ROWS.into(), in_rows_kernel(), self.eval.clone(), arg_types, ret, false, false);
        Ok(Some(udf.call(args)))
    }

    /// The sides of `left = constant`, and the constant's value, where equality is that of hashed bytes.
    fn equal_to_constant<'e>(&'e self, test: &'e Expr) -> Option<(&'e Expr, &'e Expr, &'e ScalarValue)> {
        let ExprKind::Oper { oper, args } = &test.kind else { return None };
        let [left, right] = args.as_slice() else { return None };
        let value = match &right.kind {
            ExprKind::Const(value) => value,
            ExprKind::Param(index) => self.params.get(*index)?,
            _ => return None,
        };
        let equal = oper.0.comparison == Some(NativeOp::Eq) && !is_constant(left) && !right.ty.ty.is_array();
        (equal && hashes_alike(&left.ty, &right.ty) && value.data_type() == right.ty.arrow).then_some((left, right, value))
    }

    /// A call of the expression's kernel.
    fn call(&self, e: &Expr) -> PgResult<DfExpr> {
        let Some(kernel) = kernel::of(e)? else { return Err(PgError::internal("an expression without a kernel")) };
        let children = e.children();
        let mut args = children.iter().map(|c| self.expr(c)).collect::<PgResult<Vec<_>>>()?;
        let arg_types: Vec<SqlType> = children.iter().map(|c| c.ty.clone()).collect();
        let (name, volatile, explicit) = describe(e);
        // A plan is copied many times while it is made, with its constants.
        let volatile = volatile || is_large_constant(e);
        if volatile && !args.is_empty() {
            args.push(each_row());
        }
        let mut udf = KernelUdf::new(name, kernel, self.eval.clone(), arg_types, e.ty.clone(), explicit, volatile);
        udf.tell(raises_itself(self.eval, e), own_cost(e));
        Ok(udf.shared().call(args))
    }

    /// The expression, or its sort key where Arrow's order is not PostgreSQL's.
    pub fn sort_key(&self, e: &Expr) -> PgResult<DfExpr> {
        let inner = self.expr(e)?;
        Ok(self.key_of(inner, &e.ty))
    }

    /// The sort key of a converted expression of a type.
    #[must_use]
    pub fn key_of(&self, inner: DfExpr, ty: &SqlType) -> DfExpr {
        if ty.has_native_order() {
            return inner;
        }
        let kernel: stoa_pg::args::Kernel = Arc::new(|call, args| {
            let arg = stoa_pg::args::arg(args, 0)?;
            let ty = call.arg_types.first().ok_or_else(|| PgError::internal("a sort key of nothing"))?;
            stoa_pg::values::sort_key(ty, &arg.array)
        });
        let ret = SqlType::new(PgType::Bytea);
        KernelUdf::make("sort_key".into(), kernel, self.eval.clone(), vec![ty.clone()], ret, false, false).call(vec![inner])
    }

    /// For an equality of two types that an operator of its own compares, what can be compared as values of one type instead.
    fn keys_of_two_types(&self, l: &Expr, r: &Expr) -> PgResult<Option<(DfExpr, DfExpr)>> {
        let float = |ty: &SqlType| matches!(ty.ty, PgType::Float4 | PgType::Float8);
        if float(&l.ty) && float(&r.ty) && l.ty.ty != r.ty.ty {
            let double = SqlType::new(PgType::Float8);
            let key = |e: &Expr| {
                let inner = self.expr(e)?;
                let wide = if e.ty.ty == PgType::Float8 { inner } else { DfExpr::Cast(Cast::new(Box::new(inner), double.arrow.clone())) };
                Ok::<_, PgError>(self.key_of(wide, &double))
            };
            return Ok(Some((key(l)?, key(r)?)));
        }
        let key = |side: &Expr, other: &Expr| {
            let Some(kernel) = equality_key(&side.ty.ty, &other.ty.ty) else { return Ok(None) };
            let name = format!("moment of {}", side.ty);
            let key = KernelUdf::make(name, kernel, self.eval.clone(), vec![side.ty.clone()], SqlType::new(PgType::Int8), false, false);
            Ok::<_, PgError>(Some(key.call(vec![self.expr(side)?])))
        };
        Ok(key(l, r)?.zip(key(r, l)?))
    }

    /// ORDER BY keys.
    pub fn sort(&self, keys: &[SortKey]) -> PgResult<Vec<Sort>> {
        keys.iter().map(|k| Ok(Sort::new(self.sort_key(&k.expr)?, !k.descending, k.nulls_first))).collect()
    }
}

pub fn binary(left: DfExpr, op: Operator, right: DfExpr) -> DfExpr {
    DfExpr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right)))
}

fn same_arrow(a: &SqlType, b: &SqlType) -> bool {
    a.arrow == b.arrow || (a.decimal_parts().is_some() && b.decimal_parts().is_some())
}

fn to_comparison(op: NativeOp) -> Option<Operator> {
    Some(match op {
        NativeOp::Eq => Operator::Eq,
        NativeOp::NotEq => Operator::NotEq,
        NativeOp::Lt => Operator::Lt,
        NativeOp::LtEq => Operator::LtEq,
        NativeOp::Gt => Operator::Gt,
        NativeOp::GtEq => Operator::GtEq,
        _ => return None,
    })
}

/// Calls within calls that are looked through for a NULL.
const LOOKED_THROUGH: usize = 16;

/// Whether a strict call has a constant NULL among its arguments: as in PostgreSQL it is NULL, whatever the others raise or change.
#[must_use]
pub fn is_null_call(e: &Expr) -> bool {
    is_null_call_within(e, LOOKED_THROUGH)
}

fn is_null_call_within(e: &Expr, depth: usize) -> bool {
    let is_null = |arg: &Expr| match &arg.kind {
        ExprKind::Cast { arg, .. } => arg.is_null_const() || depth > 0 && is_null_call_within(arg, depth - 1),
        _ => arg.is_null_const() || depth > 0 && is_null_call_within(arg, depth - 1),
    };
    match &e.kind {
        ExprKind::Func { func, args } => func.0.strict && args.iter().any(is_null),
        // Of operators those that put arrays together alone are not strict.
        ExprKind::Oper { oper, args } => !(oper.0.name == "||" && e.ty.ty.is_array()) && args.iter().any(is_null),
        _ => false,
    }
}

/// Whether an expression of constants tells that its value will be large.
fn is_large_constant(e: &Expr) -> bool {
    let ExprKind::Func { func, args } = &e.kind else { return false };
    let [text, Expr { kind: ExprKind::Const(ScalarValue::Int32(Some(count))), .. }, ..] = args.as_slice() else { return false };
    let ExprKind::Const(ScalarValue::Utf8View(Some(text))) = &text.kind else { return false };
    let bytes = match func.0.name {
        "repeat" => text.len(),
        "lpad" | "rpad" => 1,
        _ => return false,
    };
    bytes.saturating_mul(usize::try_from(*count).unwrap_or(0)) >= stoa_pg::memory::SMALL_BYTES
}

/// A name that tells computations apart and says in plans what they are; whether it is volatile; whether a cast is explicit.
fn describe(e: &Expr) -> (String, bool, bool) {
    match &e.kind {
        ExprKind::Func { func, .. } => (format!("{}#{}", func.0.name, func.0.oid), func.0.volatility == Volatility::Volatile, false),
        ExprKind::Oper { oper, .. } => (format!("{}#{}", oper.0.name, oper.0.oid), oper.0.volatility == Volatility::Volatile, false),
        ExprKind::Cast { explicit, .. } => (format!("cast as {}", e.ty), false, *explicit),
        ExprKind::Extreme { greatest, .. } => (if *greatest { "greatest" } else { "least" }.into(), false, false),
        ExprKind::Array(_) => ("array".into(), false, false),
        ExprKind::Row(_) => ("row".into(), false, false),
        ExprKind::Field { index, .. } => (format!("field {index}"), false, false),
        ExprKind::RowIsNull { negated, .. } => (if *negated { "row is not null" } else { "row is null" }.into(), false, false),
        ExprKind::Subscript { .. } => ("subscript".into(), false, false),
        ExprKind::Slice { bounds, .. } => {
            let shape: String = bounds.iter().map(|(l, u)| format!("{}{}", u8::from(l.is_some()), u8::from(u.is_some()))).collect();
            (format!("slice {shape}"), false, false)
        }
        ExprKind::AnyArray { oper, all, .. } => {
            (format!("{} {}#{}", oper.0.name, if *all { "all" } else { "any" }, oper.0.oid), false, false)
        }
        _ => ("expression".into(), false, false),
    }
}
