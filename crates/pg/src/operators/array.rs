//! Operators of arrays: comparison, containment, concatenation.
//!
//! Arrays compare element by element, then by number of elements, then by dimensions and lower bounds; NULL elements are
//! equal to each other and greatest. Containment and overlap never match NULL elements. `= ANY (…)` is in [`super::quantified`].

use crate::args::{Bool, Call, Kernel, Kind};
use crate::error::PgResult;
use crate::functions::array::{ArrayArg, append_kernel, cat_kernel, prepend_kernel};
use crate::registry::{NativeOp, OperKind, Registry};
use crate::types::PgType;
use crate::values::array::ArrayValue;
use crate::values::element_order::ElementOrder;
use std::cmp::Ordering;
use std::sync::Arc;

/// An operator's name, its meaning, and for which orders it holds.
type Comparison = (&'static str, NativeOp, fn(Ordering) -> bool);

/// Registers the entries of this file.
pub fn register(r: &mut Registry) {
    use PgType::{AnyArray, AnyCompatible, AnyCompatibleArray};
    let comparisons: [Comparison; 6] = [
        ("=", NativeOp::Eq, Ordering::is_eq),
        ("<>", NativeOp::NotEq, Ordering::is_ne),
        ("<", NativeOp::Lt, Ordering::is_lt),
        ("<=", NativeOp::LtEq, Ordering::is_le),
        (">", NativeOp::Gt, Ordering::is_gt),
        (">=", NativeOp::GtEq, Ordering::is_ge),
    ];
    for (name, meaning, holds) in comparisons {
        let kernel = between(move |a, b, order| holds(compare(a, b, order)));
        r.comparison(name, AnyArray, AnyArray, OperKind::Kernel(kernel), meaning);
        for vector in [PgType::Int2Vector, PgType::OidVector] {
            let kernel = between(move |a, b, order| holds(compare(a, b, order)));
            r.comparison(name, vector.clone(), vector, OperKind::Kernel(kernel), meaning);
        }
    }
    r.operator("@>", AnyArray, AnyArray, PgType::Bool, OperKind::Kernel(between_elements(|a, b, has, _| contains(a, b, has))));
    r.operator("<@", AnyArray, AnyArray, PgType::Bool, OperKind::Kernel(between_elements(|a, b, _, flipped| contains(b, a, flipped))));
    r.operator("&&", AnyArray, AnyArray, PgType::Bool, OperKind::Kernel(between_elements(|a, b, has, _| overlap(a, b, has))));
    r.operator("||", AnyCompatibleArray, AnyCompatibleArray, AnyCompatibleArray, OperKind::Kernel(cat_kernel()));
    r.operator("||", AnyCompatibleArray, AnyCompatible, AnyCompatibleArray, OperKind::Kernel(append_kernel()));
    r.operator("||", AnyCompatible, AnyCompatibleArray, AnyCompatibleArray, OperKind::Kernel(prepend_kernel()));
}

fn compare(a: ArrayValue, b: ArrayValue, order: &ElementOrder) -> Ordering {
    for (x, y) in (a.start..a.end).zip(b.start..b.end) {
        let ordering = order.compare(x, y);
        if ordering.is_ne() {
            return ordering;
        }
    }
    let (x, y) = (&a.shape, &b.shape);
    let lengths = a.len().cmp(&b.len()).then_with(|| x.ndim().cmp(&y.ndim())).then_with(|| x.lengths().cmp(y.lengths()));
    lengths.then_with(|| x.lowers().cmp(y.lowers()))
}

fn between(f: impl Fn(ArrayValue, ArrayValue, &ElementOrder) -> bool + Send + Sync + 'static) -> Kernel {
    Arc::new(move |call, args| {
        let (left, right) = (ArrayArg::open(call, args, 0)?, ArrayArg::open(call, args, 1)?);
        let order = ElementOrder::new(&left.element, left.column.leaf(), right.column.leaf())?;
        rows(call, &left, &right, |a, b| f(a, b, &order))
    })
}

fn rows(call: &Call, left: &ArrayArg, right: &ArrayArg, f: impl Fn(ArrayValue, ArrayValue) -> bool) -> PgResult<arrow::array::ArrayRef> {
    let mut out = Bool::builder(call.rows);
    for row in 0..call.rows {
        out.push(match (left.get(row), right.get(row)) {
            (Some(a), Some(b)) => Some(f(a, b)),
            _ => None,
        });
    }
    Bool::finish(out, call.ret)
}

/// Whether the element at a place of one column equals that at a place of the other, neither being NULL.
type Same<'a> = &'a dyn Fn(usize, usize) -> bool;

/// `f` gets equality from left to right, and from right to left.
fn between_elements(f: impl Fn(ArrayValue, ArrayValue, Same, Same) -> bool + Send + Sync + 'static) -> Kernel {
    Arc::new(move |call, args| {
        let (left, right) = (ArrayArg::open(call, args, 0)?, ArrayArg::open(call, args, 1)?);
        let nulls = left.column.leaf().logical_nulls();
        let order = ElementOrder::new(&left.element, left.column.leaf(), right.column.leaf())?;
        let same = |a: usize, b: usize| !nulls.as_ref().is_some_and(|nulls| nulls.is_null(a)) && order.equal(a, b);
        let flipped = |b: usize, a: usize| same(a, b);
        rows(call, &left, &right, |a, b| f(a, b, &same, &flipped))
    })
}

fn contains(outer: ArrayValue, inner: ArrayValue, same: Same) -> bool {
    (inner.start..inner.end).all(|wanted| (outer.start..outer.end).any(|at| same(at, wanted)))
}

fn overlap(a: ArrayValue, b: ArrayValue, same: Same) -> bool {
    (a.start..a.end).any(|x| (b.start..b.end).any(|y| same(x, y)))
}
