//! Operators on bool, integers, floats, numeric and object identifiers.
//!
//! Integer arithmetic is checked: a column is computed with wrapping and one flag, and only a set flag looks for the row at fault.
//! Floats compare with NaN equal to itself and greatest, and −0 equal to 0. Numerics compare by their stored bytes.

use crate::args::{Arg, Call, Float8, Kernel, arg, strict1, strict2};
use crate::error::{PgError, PgResult};
use crate::registry::{NativeOp, OperKind, Registry};
use crate::sqlstate::SqlState;
use crate::types::PgType;
use crate::values::numeric::{Numeric, NumericKind, decimal_to_numeric, power_of_ten};
use crate::values::sort::{float4_bits, float8_bits, without_scale};
use arrow::array::{Array, ArrayRef, AsArray, BinaryViewArray, BooleanArray, Decimal128Array, PrimitiveArray, new_null_array};
use arrow::buffer::{BooleanBuffer, NullBuffer, ScalarBuffer};
use arrow::datatypes::{
    ArrowNativeTypeOp, ArrowPrimitiveType, DataType, Decimal128Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type, UInt32Type,
};
use std::cmp::Ordering;
use std::sync::Arc;
use stoa_encoding::valueside::DECIMAL_NAN;

/// The six comparisons with their names.
pub(crate) const COMPARISONS: [(&str, NativeOp); 6] = [
    ("=", NativeOp::Eq),
    ("<>", NativeOp::NotEq),
    ("<", NativeOp::Lt),
    ("<=", NativeOp::LtEq),
    (">", NativeOp::Gt),
    (">=", NativeOp::GtEq),
];

/// Whether an order satisfies a comparison.
#[inline]
pub(crate) fn holds(op: NativeOp, order: Ordering) -> bool {
    match op {
        NativeOp::Eq => order.is_eq(),
        NativeOp::NotEq => order.is_ne(),
        NativeOp::Lt => order.is_lt(),
        NativeOp::LtEq => order.is_le(),
        NativeOp::Gt => order.is_gt(),
        NativeOp::GtEq => order.is_ge(),
        _ => false,
    }
}

/// The NULLs of a result that is NULL where an argument is; a constant NULL is the caller's.
fn nulls_of(a: &Arg, b: &Arg) -> Option<NullBuffer> {
    let of = |arg: &Arg| if arg.constant { None } else { arg.array.logical_nulls() };
    NullBuffer::union(of(a).as_ref(), of(b).as_ref())
}

fn constant_null(arg: &Arg) -> bool {
    arg.constant && arg.array.is_null(0)
}

/// A comparison kernel over rows of two opened columns.
fn compare<C: 'static, D: 'static>(
    open_left: impl Fn(&ArrayRef) -> PgResult<&C> + Send + Sync + 'static,
    open_right: impl Fn(&ArrayRef) -> PgResult<&D> + Send + Sync + 'static,
    order: impl Fn(&C, usize, &D, usize) -> bool + Send + Sync + 'static,
) -> Kernel {
    Arc::new(move |call, args| {
        let (a, b) = (arg(args, 0)?, arg(args, 1)?);
        if constant_null(a) || constant_null(b) {
            return Ok(new_null_array(&DataType::Boolean, call.rows));
        }
        let (left, right) = (open_left(&a.array)?, open_right(&b.array)?);
        let bits = match (a.constant, b.constant) {
            (false, false) => BooleanBuffer::collect_bool(call.rows, |row| order(left, row, right, row)),
            (false, true) => BooleanBuffer::collect_bool(call.rows, |row| order(left, row, right, 0)),
            (true, false) => BooleanBuffer::collect_bool(call.rows, |row| order(left, 0, right, row)),
            (true, true) => BooleanBuffer::collect_bool(call.rows, |_| order(left, 0, right, 0)),
        };
        Ok(Arc::new(BooleanArray::new(bits, nulls_of(a, b))))
    })
}

fn open_primitive<T: ArrowPrimitiveType>(array: &ArrayRef) -> PgResult<&PrimitiveArray<T>> {
    array.as_primitive_opt::<T>().ok_or_else(|| PgError::internal(format!("an operator was given {}", array.data_type())))
}

/// Comparison of two native types by a key that orders.
fn compare_by<A: ArrowPrimitiveType, B: ArrowPrimitiveType, K: Ord + 'static>(
    op: NativeOp,
    left: impl Fn(A::Native) -> K + Send + Sync + Copy + 'static,
    right: impl Fn(B::Native) -> K + Send + Sync + Copy + 'static,
) -> OperKind {
    macro_rules! kernel {
        ($test:tt) => {
            compare(open_primitive::<A>, open_primitive::<B>, move |a, i, b, j| {
                // Rows are within the columns: the kernel walks their length.
                left(a.value(i)) $test right(b.value(j))
            })
        };
    }
    OperKind::Kernel(match op {
        NativeOp::Eq => kernel!(==),
        NativeOp::NotEq => kernel!(!=),
        NativeOp::Lt => kernel!(<),
        NativeOp::LtEq => kernel!(<=),
        NativeOp::Gt => kernel!(>),
        _ => kernel!(>=),
    })
}

/// Arithmetic on two columns of native numbers.
///
/// `fast` computes a value and whether it may be at fault; `slow` computes it again and says what is wrong.
pub(crate) fn arithmetic<A: ArrowPrimitiveType, B: ArrowPrimitiveType, R: ArrowPrimitiveType>(
    fast: impl Fn(A::Native, B::Native) -> (R::Native, bool) + Send + Sync + Copy + 'static,
    slow: impl Fn(A::Native, B::Native) -> PgResult<R::Native> + Send + Sync + Copy + 'static,
) -> Kernel {
    Arc::new(move |call, args| {
        let (a, b) = (arg(args, 0)?, arg(args, 1)?);
        if constant_null(a) || constant_null(b) {
            return Ok(new_null_array(&call.ret.arrow, call.rows));
        }
        let (left, right) = (open_primitive::<A>(&a.array)?.values(), open_primitive::<B>(&b.array)?.values());
        let mut fault = false;
        let mut step = |(a, b): (A::Native, B::Native)| {
            let (value, bad) = fast(a, b);
            fault |= bad;
            value
        };
        let first = |missing| PgError::internal(format!("a constant without a row on the {missing}"));
        let values: Vec<R::Native> = match (a.constant, b.constant) {
            (false, false) => left.iter().copied().zip(right.iter().copied()).map(&mut step).collect(),
            (false, true) => {
                let constant = *right.first().ok_or_else(|| first("right"))?;
                left.iter().map(|value| step((*value, constant))).collect()
            }
            (true, false) => {
                let constant = *left.first().ok_or_else(|| first("left"))?;
                right.iter().map(|value| step((constant, *value))).collect()
            }
            (true, true) => {
                let pair = (*left.first().ok_or_else(|| first("left"))?, *right.first().ok_or_else(|| first("right"))?);
                vec![step(pair); call.rows]
            }
        };
        let nulls = nulls_of(a, b);
        if fault {
            // The flag may come from rows that are NULL.
            for row in 0..call.rows {
                if nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row))
                    && let (Some(x), Some(y)) = (left.get(a.at(row)), right.get(b.at(row)))
                {
                    slow(*x, *y)?;
                }
            }
        }
        Ok(Arc::new(PrimitiveArray::<R>::new(ScalarBuffer::from(values), nulls)))
    })
}

/// Arithmetic on one column of native numbers; NULL stays NULL.
fn unary<T: ArrowPrimitiveType>(f: impl Fn(T::Native) -> PgResult<T::Native> + Send + Sync + Copy + 'static) -> OperKind {
    OperKind::Kernel(crate::casts::column_kernel(move |_, array| Ok(Arc::new(open_primitive::<T>(array)?.try_unary::<_, T, PgError>(f)?))))
}

fn overflow() -> PgError {
    PgError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: overflow")
}

fn underflow() -> PgError {
    PgError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: underflow")
}

/// The four operations on integers of any two widths, in the wider.
macro_rules! integer_pair {
    ($r:ident, $a:ident, $b:ident, $wide:ident, $left:expr, $right:expr, $native:ty, $type:expr, $name:literal) => {{
        let out = || PgError::out_of_range($name);
        $r.operator(
            "+",
            $left,
            $right,
            $type,
            OperKind::Kernel(arithmetic::<$a, $b, $wide>(
                |x, y| <$native>::from(x).overflowing_add(<$native>::from(y)),
                move |x, y| <$native>::from(x).checked_add(<$native>::from(y)).ok_or_else(out),
            )),
        );
        $r.operator(
            "-",
            $left,
            $right,
            $type,
            OperKind::Kernel(arithmetic::<$a, $b, $wide>(
                |x, y| <$native>::from(x).overflowing_sub(<$native>::from(y)),
                move |x, y| <$native>::from(x).checked_sub(<$native>::from(y)).ok_or_else(out),
            )),
        );
        $r.operator(
            "*",
            $left,
            $right,
            $type,
            OperKind::Kernel(arithmetic::<$a, $b, $wide>(
                |x, y| <$native>::from(x).overflowing_mul(<$native>::from(y)),
                move |x, y| <$native>::from(x).checked_mul(<$native>::from(y)).ok_or_else(out),
            )),
        );
        $r.operator(
            "/",
            $left,
            $right,
            $type,
            OperKind::Kernel(arithmetic::<$a, $b, $wide>(
                |x, y| match <$native>::from(x).checked_div(<$native>::from(y)) {
                    Some(quotient) => (quotient, false),
                    None => (0, true),
                },
                move |x, y| {
                    if y == 0 {
                        return Err(PgError::division_by_zero());
                    }
                    <$native>::from(x).checked_div(<$native>::from(y)).ok_or_else(out)
                },
            )),
        );
        for (name, op) in COMPARISONS {
            let kind =
                if $left == $right { OperKind::Native(op) } else { compare_by::<$a, $b, i64>(op, |x| i64::from(x), |y| i64::from(y)) };
            $r.comparison(name, $left, $right, kind, op);
        }
    }};
}

/// What one integer type has for itself.
macro_rules! integer_type {
    ($r:ident, $arrow:ident, $native:ty, $type:expr, $name:literal, $shift:ty) => {{
        let out = || PgError::out_of_range($name);
        $r.operator("%", $type, $type, $type, OperKind::Kernel(modulo::<$arrow>()));
        $r.operator("&", $type, $type, $type, OperKind::Native(NativeOp::BitAnd));
        $r.operator("|", $type, $type, $type, OperKind::Native(NativeOp::BitOr));
        $r.operator("#", $type, $type, $type, OperKind::Native(NativeOp::BitXor));
        $r.prefix_operator("~", $type, $type, unary::<$arrow>(|x| Ok(!x)));
        $r.prefix_operator("+", $type, $type, unary::<$arrow>(Ok));
        $r.prefix_operator("-", $type, $type, unary::<$arrow>(move |x| x.checked_neg().ok_or_else(out)));
        $r.prefix_operator("@", $type, $type, unary::<$arrow>(move |x| x.checked_abs().ok_or_else(out)));
        // Shifts take the count modulo the width of the register, as the machine does; smallint is shifted as an integer.
        $r.operator(
            "<<",
            $type,
            PgType::Int4,
            $type,
            OperKind::Kernel(arithmetic::<$arrow, Int32Type, $arrow>(
                |x, n| (<$shift>::from(x).wrapping_shl(n as u32) as $native, false),
                |x, n| Ok(<$shift>::from(x).wrapping_shl(n as u32) as $native),
            )),
        );
        $r.operator(
            ">>",
            $type,
            PgType::Int4,
            $type,
            OperKind::Kernel(arithmetic::<$arrow, Int32Type, $arrow>(
                |x, n| (<$shift>::from(x).wrapping_shr(n as u32) as $native, false),
                |x, n| Ok(<$shift>::from(x).wrapping_shr(n as u32) as $native),
            )),
        );
    }};
}

/// The remainder with the sign of the dividend; the smallest number modulo −1 is 0.
pub(crate) fn modulo<T: ArrowPrimitiveType>() -> Kernel
where
    T::Native: ArrowNativeTypeOp,
{
    arithmetic::<T, T, T>(
        |x, y| {
            if y == T::Native::ZERO {
                (x, true)
            } else if y == T::Native::ZERO.sub_wrapping(T::Native::ONE) {
                (T::Native::ZERO, false)
            } else {
                (x.mod_wrapping(y), false)
            }
        },
        |x, y| if y == T::Native::ZERO { Err(PgError::division_by_zero()) } else { Ok(x) },
    )
}

/// The four operations on floats of any two widths, in the wider.
macro_rules! float_pair {
    ($r:ident, $a:ident, $b:ident, $wide:ident, $left:expr, $right:expr, $native:ty, $type:expr) => {{
        $r.operator(
            "+",
            $left,
            $right,
            $type,
            OperKind::Kernel(arithmetic::<$a, $b, $wide>(
                |x, y| {
                    let z = <$native>::from(x) + <$native>::from(y);
                    (z, !z.is_finite())
                },
                |x, y| {
                    let z = <$native>::from(x) + <$native>::from(y);
                    if z.is_infinite() && x.is_finite() && y.is_finite() { Err(overflow()) } else { Ok(z) }
                },
            )),
        );
        $r.operator(
            "-",
            $left,
            $right,
            $type,
            OperKind::Kernel(arithmetic::<$a, $b, $wide>(
                |x, y| {
                    let z = <$native>::from(x) - <$native>::from(y);
                    (z, !z.is_finite())
                },
                |x, y| {
                    let z = <$native>::from(x) - <$native>::from(y);
                    if z.is_infinite() && x.is_finite() && y.is_finite() { Err(overflow()) } else { Ok(z) }
                },
            )),
        );
        $r.operator(
            "*",
            $left,
            $right,
            $type,
            OperKind::Kernel(arithmetic::<$a, $b, $wide>(
                |x, y| {
                    let z = <$native>::from(x) * <$native>::from(y);
                    (z, z == 0.0 || !z.is_finite())
                },
                |x, y| {
                    let z = <$native>::from(x) * <$native>::from(y);
                    if z.is_infinite() && x.is_finite() && y.is_finite() {
                        Err(overflow())
                    } else if z == 0.0 && x != 0.0 && y != 0.0 {
                        Err(underflow())
                    } else {
                        Ok(z)
                    }
                },
            )),
        );
        $r.operator(
            "/",
            $left,
            $right,
            $type,
            OperKind::Kernel(arithmetic::<$a, $b, $wide>(
                |x, y| {
                    let z = <$native>::from(x) / <$native>::from(y);
                    (z, z == 0.0 || !z.is_finite())
                },
                |x, y| {
                    let z = <$native>::from(x) / <$native>::from(y);
                    if y == 0.0 && !x.is_nan() {
                        Err(PgError::division_by_zero())
                    } else if z.is_infinite() && x.is_finite() {
                        Err(overflow())
                    } else if z == 0.0 && x != 0.0 && y.is_finite() {
                        Err(underflow())
                    } else {
                        Ok(z)
                    }
                },
            )),
        );
    }};
}

// ---------------------------------------------------------------------------------------------------------------------------------
// numeric

/// A numeric argument as sortable bytes, whatever form it came in.
fn as_bytes(arg: &Arg) -> PgResult<Arg> {
    Ok(match arg.array.data_type() {
        DataType::Decimal128(_, scale) => Arg { array: decimal_to_numeric(&arg.array, *scale)?, constant: arg.constant },
        _ => arg.clone(),
    })
}

/// A kernel on two numerics in either form; the result is in bytes.
fn numeric_binary(f: impl Fn(&Numeric, &Numeric) -> PgResult<Numeric> + Send + Sync + 'static) -> Kernel {
    let kernel = strict2::<NumericKind, NumericKind, NumericKind>(move |_, a, b| f(&a, &b));
    Arc::new(move |call, args| kernel(call, &[as_bytes(arg(args, 0)?)?, as_bytes(arg(args, 1)?)?]))
}

/// +, − or × on numerics: on 128-bit decimals when the result is one, else on bytes.
fn numeric_exact(
    product: bool,
    f: impl Fn(&Numeric, &Numeric) -> PgResult<Numeric> + Send + Sync + 'static,
    small: impl Fn(i128, i128) -> i128 + Send + Sync + Copy + 'static,
) -> OperKind {
    let general = numeric_binary(f);
    OperKind::Kernel(Arc::new(move |call, args| {
        let (a, b) = (arg(args, 0)?, arg(args, 1)?);
        match (a.array.data_type(), b.array.data_type(), &call.ret.arrow) {
            (DataType::Decimal128(_, s), DataType::Decimal128(_, t), DataType::Decimal128(_, scale)) => {
                let raise = |from: i8| if product { 0 } else { scale - from };
                decimals(call, a, b, (raise(*s), raise(*t)), small)
            }
            _ => general(call, args),
        }
    }))
}

/// The operation on decimals raised by powers of ten. The result has been given room for all of them, so that neither raising nor the
/// operation overflows on values within their precisions; what is under a NULL may be anything.
fn decimals(
    call: &Call,
    a: &Arg,
    b: &Arg,
    raise: (i8, i8),
    small: impl Fn(i128, i128) -> i128 + Send + Sync + Copy + 'static,
) -> PgResult<ArrayRef> {
    let nan = |a: i128, b: i128| a == DECIMAL_NAN || b == DECIMAL_NAN;
    let power = |by: i8| power_of_ten(u32::try_from(by).ok()?);
    let (Some(x), Some(y)) = (power(raise.0), power(raise.1)) else { return Err(PgError::internal("a decimal that is to lose digits")) };
    let out = match raise {
        (0, 0) => arithmetic::<Decimal128Type, Decimal128Type, Decimal128Type>(
            move |a, b| (if nan(a, b) { DECIMAL_NAN } else { small(a, b) }, false),
            |a, _| Ok(a),
        )(call, &[a.clone(), b.clone()])?,
        _ => arithmetic::<Decimal128Type, Decimal128Type, Decimal128Type>(
            move |a, b| (if nan(a, b) { DECIMAL_NAN } else { small(a.wrapping_mul(x), b.wrapping_mul(y)) }, false),
            |a, _| Ok(a),
        )(call, &[a.clone(), b.clone()])?,
    };
    match out.as_any().downcast_ref::<Decimal128Array>() {
        Some(array) => Ok(Arc::new(array.clone().with_data_type(call.ret.arrow.clone()))),
        None => Ok(out),
    }
}

/// The number with the other sign, in the form in which it came.
fn numeric_negation() -> OperKind {
    let kernel = strict1::<NumericKind, NumericKind>(move |_, value| Ok(value.neg()));
    OperKind::Kernel(Arc::new(move |call, args| {
        let number = arg(args, 0)?;
        match (number.array.as_primitive_opt::<Decimal128Type>(), &call.ret.arrow) {
            (Some(decimals), DataType::Decimal128(..)) => {
                let out = decimals.unary::<_, Decimal128Type>(|value| if value == DECIMAL_NAN { value } else { value.wrapping_neg() });
                Ok(Arc::new(out.with_data_type(call.ret.arrow.clone())))
            }
            _ => kernel(call, &[as_bytes(number)?]),
        }
    }))
}

fn numeric_unary(f: impl Fn(&Numeric) -> Numeric + Send + Sync + 'static) -> OperKind {
    let kernel = strict1::<NumericKind, NumericKind>(move |_, value| Ok(f(&value)));
    OperKind::Kernel(Arc::new(move |call, args| kernel(call, &[as_bytes(arg(args, 0)?)?])))
}

/// Numerics compare by their bytes without the scale; decimals are brought into that form.
fn numeric_comparison(op: NativeOp) -> OperKind {
    fn open(array: &ArrayRef) -> PgResult<&BinaryViewArray> {
        array.as_binary_view_opt().ok_or_else(|| PgError::internal(format!("an operator was given {}", array.data_type())))
    }
    let kernel = compare(open, open, move |a, i, b, j| holds(op, without_scale(a.value(i)).cmp(without_scale(b.value(j)))));
    OperKind::Kernel(Arc::new(move |call, args| kernel(call, &[as_bytes(arg(args, 0)?)?, as_bytes(arg(args, 1)?)?])))
}

/// Registers the entries of this file.
#[rustfmt::skip]
pub fn register(r: &mut Registry) {
    use PgType as P;

    integer_pair!(r, Int16Type, Int16Type, Int16Type, P::Int2, P::Int2, i16, P::Int2, "smallint");
    integer_pair!(r, Int32Type, Int32Type, Int32Type, P::Int4, P::Int4, i32, P::Int4, "integer");
    integer_pair!(r, Int64Type, Int64Type, Int64Type, P::Int8, P::Int8, i64, P::Int8, "bigint");
    integer_pair!(r, Int16Type, Int32Type, Int32Type, P::Int2, P::Int4, i32, P::Int4, "integer");
    integer_pair!(r, Int32Type, Int16Type, Int32Type, P::Int4, P::Int2, i32, P::Int4, "integer");
    integer_pair!(r, Int16Type, Int64Type, Int64Type, P::Int2, P::Int8, i64, P::Int8, "bigint");
    integer_pair!(r, Int64Type, Int16Type, Int64Type, P::Int8, P::Int2, i64, P::Int8, "bigint");
    integer_pair!(r, Int32Type, Int64Type, Int64Type, P::Int4, P::Int8, i64, P::Int8, "bigint");
    integer_pair!(r, Int64Type, Int32Type, Int64Type, P::Int8, P::Int4, i64, P::Int8, "bigint");
    integer_type!(r, Int16Type, i16, P::Int2, "smallint", i32);
    integer_type!(r, Int32Type, i32, P::Int4, "integer", i32);
    integer_type!(r, Int64Type, i64, P::Int8, "bigint", i64);

    float_pair!(r, Float32Type, Float32Type, Float32Type, P::Float4, P::Float4, f32, P::Float4);
    float_pair!(r, Float64Type, Float64Type, Float64Type, P::Float8, P::Float8, f64, P::Float8);
    float_pair!(r, Float32Type, Float64Type, Float64Type, P::Float4, P::Float8, f64, P::Float8);
    float_pair!(r, Float64Type, Float32Type, Float64Type, P::Float8, P::Float4, f64, P::Float8);
    r.prefix_operator("+", P::Float4, P::Float4, unary::<Float32Type>(Ok));
    r.prefix_operator("+", P::Float8, P::Float8, unary::<Float64Type>(Ok));
    r.prefix_operator("-", P::Float4, P::Float4, unary::<Float32Type>(|x| Ok(-x)));
    r.prefix_operator("-", P::Float8, P::Float8, unary::<Float64Type>(|x| Ok(-x)));
    r.prefix_operator("@", P::Float4, P::Float4, unary::<Float32Type>(|x| Ok(x.abs())));
    r.prefix_operator("@", P::Float8, P::Float8, unary::<Float64Type>(|x| Ok(x.abs())));
    r.prefix_operator("|/", P::Float8, P::Float8, unary::<Float64Type>(crate::functions::math::sqrt));
    r.prefix_operator("||/", P::Float8, P::Float8, unary::<Float64Type>(|x| Ok(crate::functions::math::cube_root(x))));
    r.operator("^", P::Float8, P::Float8, P::Float8, OperKind::Kernel(strict2::<Float8, Float8, Float8>(|_, x, y| crate::functions::math::power(x, y))));

    for (name, op) in COMPARISONS {
        r.comparison(name, P::Float4, P::Float4, compare_by::<Float32Type, Float32Type, u32>(op, float4_bits, float4_bits), op);
        r.comparison(name, P::Float8, P::Float8, compare_by::<Float64Type, Float64Type, u64>(op, float8_bits, float8_bits), op);
        r.comparison(name, P::Float4, P::Float8, compare_by::<Float32Type, Float64Type, u64>(op, |x| float8_bits(f64::from(x)), float8_bits), op);
        r.comparison(name, P::Float8, P::Float4, compare_by::<Float64Type, Float32Type, u64>(op, float8_bits, |y| float8_bits(f64::from(y))), op);
        r.comparison(name, P::Numeric, P::Numeric, numeric_comparison(op), op);
        r.comparison(name, P::Bool, P::Bool, OperKind::Native(op), op);
        r.comparison(name, P::Oid, P::Oid, OperKind::Native(op), op);
    }
    for (name, op) in COMPARISONS.into_iter().take(2) {
        r.comparison(name, P::Xid, P::Xid, OperKind::Native(op), op);
        r.comparison(name, P::Xid, P::Int4, compare_by::<UInt32Type, Int32Type, u32>(op, |x| x, |y| y as u32), op);
    }

    r.operator("+", P::Numeric, P::Numeric, P::Numeric, numeric_exact(false, Numeric::add, i128::wrapping_add));
    r.operator("-", P::Numeric, P::Numeric, P::Numeric, numeric_exact(false, Numeric::sub, i128::wrapping_sub));
    r.operator("*", P::Numeric, P::Numeric, P::Numeric, numeric_exact(true, Numeric::mul, i128::wrapping_mul));
    r.operator("/", P::Numeric, P::Numeric, P::Numeric, OperKind::Kernel(numeric_binary(Numeric::div)));
    r.operator("%", P::Numeric, P::Numeric, P::Numeric, OperKind::Kernel(numeric_binary(Numeric::rem)));
    r.operator("^", P::Numeric, P::Numeric, P::Numeric, OperKind::Kernel(numeric_binary(Numeric::pow)));
    r.prefix_operator("+", P::Numeric, P::Numeric, numeric_unary(Clone::clone));
    r.prefix_operator("-", P::Numeric, P::Numeric, numeric_negation());
    r.prefix_operator("@", P::Numeric, P::Numeric, numeric_unary(Numeric::abs));
}
