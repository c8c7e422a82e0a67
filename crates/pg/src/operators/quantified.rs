//! `x op ANY (array)` and `x op ALL (array)`: an element operator folded over the elements with SQL's three values; equality with one of
//! many by a hash table. `(x, …) IN (…)` over rows of constants likewise.

use super::membership::{FEW, LastMembers, Members, Part, hashes_alike};
use crate::args::{Arg, Bool, Call, Kernel, Kind, arg};
use crate::error::{PgError, PgResult};
use crate::functions::array::ArrayArg;
use crate::registry::{NativeOp, OperKind};
use crate::types::{PgType, SqlType};
use crate::values::array::ArrayValue;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Datum, Scalar, UInt64Array};
use arrow::compute::kernels::cmp;
use arrow::compute::take;
use std::sync::Arc;

/// The kernel of `scalar op ANY (array)` (`any`) or `scalar op ALL (array)` over two arguments, from the operator between the scalar's
/// type and the element type, which returns a boolean. `meaning` is the comparison that the operator stands for among its type's others.
///
/// ANY is true if the operator is true for an element, else NULL if it is NULL for one, else false; ALL is the mirror image. An empty
/// array decides even against a NULL scalar; a NULL array gives NULL.
pub fn any_all_kernel(op: OperKind, meaning: Option<NativeOp>, any: bool) -> Kernel {
    let is_membership = meaning == Some(if any { NativeOp::Eq } else { NativeOp::NotEq });
    let last = LastMembers::default();
    Arc::new(move |call, args| {
        let scalar = arg(args, 0)?;
        let arrays = ArrayArg::open(call, args, 1)?;
        let types = [
            call.arg_types.first().cloned().ok_or_else(|| PgError::internal("a kernel was given too few argument types"))?,
            arrays.element.clone(),
        ];
        let element = Element { op: &op, call, types: &types, ret: SqlType::new(PgType::Bool) };
        // One row is compared with all elements at once.
        if arg(args, 1)?.constant && !scalar.constant && call.rows > 1 {
            match arrays.get(0) {
                None => Ok(Arc::new(BooleanArray::new_null(call.rows))),
                Some(value) if is_membership && value.len() >= FEW && hashes_alike(&types[0], &types[1]) => {
                    let values = Arc::clone(arrays.column.leaf());
                    let members = last.of(vec![Part { ty: arrays.element.clone(), values, range: value.start..value.end }])?;
                    let found = members.contain(&types[..1], std::slice::from_ref(scalar), call.rows)?;
                    Bool::finish(found.into_iter().map(|found| found.map(|found| found == any)).collect(), call.ret)
                }
                Some(value) => by_element(call, scalar, &arrays, value, &element, any),
            }
        } else {
            by_row(call, scalar, &arrays, &element, any)
        }
    })
}

/// The kernel of `(x, …) IN ((a, …), …)`: over the values of a row, and behind them as many arrays, constant and of one length, that hold
/// the parts of the rows to compare with. All pairs of types hash alike.
pub fn in_rows_kernel() -> Kernel {
    let last = LastMembers::default();
    Arc::new(move |call, args| {
        let (columns, _) = args.split_at(args.len() / 2);
        let types = call.arg_types.get(..columns.len()).unwrap_or(&[]);
        let mut parts = Vec::with_capacity(columns.len());
        for part in columns.len()..args.len() {
            let arrays = ArrayArg::open(call, args, part)?;
            let Some(value) = arrays.get(0) else { return Ok(Arc::new(BooleanArray::new_null(call.rows))) };
            parts.push(Part { ty: arrays.element.clone(), values: Arc::clone(arrays.column.leaf()), range: value.start..value.end });
        }
        Bool::finish(last.of(parts)?.contain(types, columns, call.rows)?, call.ret)
    })
}

/// How many values a row for [`in_rows_kernel`] may have.
pub const MOST_ROW_PARTS: usize = Members::MOST_PARTS;

/// The element operator within one call.
struct Element<'a> {
    op: &'a OperKind,
    call: &'a Call<'a>,
    types: &'a [SqlType],
    ret: SqlType,
}

impl Element<'_> {
    /// The operator between two arguments of `rows` rows (or constants).
    fn apply(&self, rows: usize, left: &Arg, right: &Arg) -> PgResult<BooleanArray> {
        match self.op {
            OperKind::Native(op) => {
                // A constant has one row, which stands for all.
                let scalar = |arg: &Arg| arg.constant.then(|| Scalar::new(Arc::clone(&arg.array)));
                let (l, r) = (scalar(left), scalar(right));
                let l: &dyn Datum = l.as_ref().map_or(&left.array, |l| l);
                let r: &dyn Datum = r.as_ref().map_or(&right.array, |r| r);
                Ok(match op {
                    NativeOp::Eq => cmp::eq(l, r)?,
                    NativeOp::NotEq => cmp::neq(l, r)?,
                    NativeOp::Lt => cmp::lt(l, r)?,
                    NativeOp::LtEq => cmp::lt_eq(l, r)?,
                    NativeOp::Gt => cmp::gt(l, r)?,
                    NativeOp::GtEq => cmp::gt_eq(l, r)?,
                    other => return Err(PgError::internal(format!("operator {other:?} of ANY or ALL is no comparison"))),
                })
            }
            OperKind::Kernel(kernel) => {
                let call = Call { ctx: self.call.ctx, rows, arg_types: self.types, ret: &self.ret, explicit: false };
                let result = kernel(&call, &[left.clone(), right.clone()])?;
                result.as_boolean_opt().cloned().ok_or_else(|| PgError::internal("op ANY/ALL (array) requires operator to yield boolean"))
            }
        }
    }
}

/// What is known of a row while its elements are seen.
#[derive(Clone, Copy, PartialEq)]
enum Verdict {
    Open,
    SawNull,
    Decided,
}

impl Verdict {
    fn see(&mut self, result: Option<bool>, any: bool) {
        match result {
            Some(holds) if holds == any => *self = Verdict::Decided,
            None if *self == Verdict::Open => *self = Verdict::SawNull,
            _ => {}
        }
    }

    fn value(self, any: bool) -> Option<bool> {
        match self {
            Verdict::Open => Some(!any),
            Verdict::SawNull => None,
            Verdict::Decided => Some(any),
        }
    }
}

fn result_at(results: &BooleanArray, row: usize) -> Option<bool> {
    // A kernel over constants gives one row.
    let row = if results.len() == 1 { 0 } else { row };
    if results.is_null(row) { None } else { Some(results.value(row)) }
}

/// One array for all rows: the operator once an element, until all rows are decided.
fn by_element(call: &Call, scalar: &Arg, arrays: &ArrayArg, value: ArrayValue, element: &Element, any: bool) -> PgResult<ArrayRef> {
    let mut verdicts = vec![Verdict::Open; call.rows];
    for at in value.start..value.end {
        let one = Arg { array: arrays.column.leaf().slice(at, 1), constant: true };
        let results = element.apply(call.rows, scalar, &one)?;
        let mut undecided = false;
        for (row, verdict) in verdicts.iter_mut().enumerate() {
            verdict.see(result_at(&results, row), any);
            undecided |= *verdict != Verdict::Decided;
        }
        if !undecided {
            break;
        }
    }
    Bool::finish(verdicts.into_iter().map(|verdict| verdict.value(any)).collect(), call.ret)
}

/// An array a row: the operator once over all elements, the scalar repeated beside them.
fn by_row(call: &Call, scalar: &Arg, arrays: &ArrayArg, element: &Element, any: bool) -> PgResult<ArrayRef> {
    let values: Vec<_> = (0..call.rows).map(|row| arrays.get(row)).collect();
    let total = values.iter().flatten().map(|value| value.len()).sum();
    if total == 0 {
        return Bool::finish(values.iter().map(|value| value.map(|_| !any)).collect(), call.ret);
    }
    let mut owners = Vec::with_capacity(total);
    let mut places = Vec::with_capacity(total);
    for (row, value) in values.iter().enumerate() {
        if let Some(value) = value {
            owners.extend(std::iter::repeat_n(scalar.at(row) as u64, value.len()));
            places.extend(value.start as u64..value.end as u64);
        }
    }
    let elements = Arg { array: take(arrays.column.leaf().as_ref(), &UInt64Array::from(places), None)?, constant: false };
    let scalars = if scalar.constant {
        scalar.clone()
    } else {
        Arg { array: take(scalar.array.as_ref(), &UInt64Array::from(owners), None)?, constant: false }
    };
    let results = element.apply(total, &scalars, &elements)?;
    let mut next = 0;
    let mut out = Bool::builder(call.rows);
    for value in values {
        out.push(match value {
            None => None,
            Some(value) => {
                let mut verdict = Verdict::Open;
                for at in next..next + value.len() {
                    verdict.see(result_at(&results, at), any);
                }
                next += value.len();
                verdict.value(any)
            }
        });
    }
    Bool::finish(out, call.ret)
}
