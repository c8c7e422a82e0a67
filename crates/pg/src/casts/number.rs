//! Casts among bool, integers, floats, numeric, oid and the types that show an object's name.

use crate::args::{Bool, Float4, Float8, Int2, Int4, Int8, Kernel, Kind, Oid, Reader, arg, strict1};
use crate::casts::column_kernel;
use crate::error::{PgError, PgResult};
use crate::registry::{CastContext, CastKind, Registry};
use crate::types::PgType;
use crate::values::numeric::arithmetic::divide_rounded;
use crate::values::numeric::column::{of_decimal, to_decimal as fit_decimal};
use crate::values::numeric::{Numeric, NumericKind, power_of_ten};
use arrow::array::{Array, ArrayRef, AsArray, Decimal128Array, PrimitiveArray};
use arrow::datatypes::{ArrowPrimitiveType, Decimal128Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type, UInt32Type};
use std::sync::Arc;
use stoa_encoding::valueside::DECIMAL_NAN;

/// A cast that cannot fail, a column at a time.
fn widening<F: ArrowPrimitiveType, T: ArrowPrimitiveType>(f: impl Fn(F::Native) -> T::Native + Send + Sync + Copy + 'static) -> CastKind {
    CastKind::Kernel(column_kernel(move |_, array| Ok(Arc::new(primitive::<F>(array)?.unary::<_, T>(f)))))
}

/// A cast that may fail on values that are not NULL.
fn narrowing<F: ArrowPrimitiveType, T: ArrowPrimitiveType>(
    f: impl Fn(F::Native) -> PgResult<T::Native> + Send + Sync + Copy + 'static,
) -> CastKind {
    CastKind::Kernel(column_kernel(move |_, array| Ok(Arc::new(primitive::<F>(array)?.try_unary::<_, T, PgError>(f)?))))
}

fn primitive<T: ArrowPrimitiveType>(array: &ArrayRef) -> PgResult<&PrimitiveArray<T>> {
    array.as_primitive_opt::<T>().ok_or_else(|| PgError::internal(format!("a cast was given {}", array.data_type())))
}

/// A float rounded to an integer, halves to even, if it is within the bounds: `low` ≤ x < `high`.
fn float_to_integer(value: f64, low: f64, high: f64, type_name: &str) -> PgResult<f64> {
    let rounded = value.round_ties_even();
    if rounded >= low && rounded < high { Ok(rounded) } else { Err(PgError::out_of_range(type_name)) }
}

fn float_to_i16(value: f64) -> PgResult<i16> {
    float_to_integer(value, -32_768.0, 32_768.0, "smallint").map(|value| value as i16)
}

fn float_to_i32(value: f64) -> PgResult<i32> {
    float_to_integer(value, -2_147_483_648.0, 2_147_483_648.0, "integer").map(|value| value as i32)
}

fn float_to_i64(value: f64) -> PgResult<i64> {
    float_to_integer(value, -9_223_372_036_854_775_808.0, 9_223_372_036_854_775_808.0, "bigint").map(|value| value as i64)
}

/// A double as a single-precision float.
///
/// # Errors
/// 22003 when it becomes infinite or zero on the way.
pub(crate) fn to_f32(value: f64) -> PgResult<f32> {
    let narrow = value as f32;
    if narrow.is_infinite() && !value.is_infinite() {
        return Err(PgError::new(crate::SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: overflow"));
    }
    if narrow == 0.0 && value != 0.0 {
        return Err(PgError::new(crate::SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: underflow"));
    }
    Ok(narrow)
}

/// Casts straight into 128-bit decimals; `None` where the way through `numeric` does.
pub(crate) fn to_decimal(from: &PgType, precision: u8, scale: i8) -> Option<Kernel> {
    fn integers<T: ArrowPrimitiveType>(precision: u8, scale: i8) -> Kernel
    where
        i128: From<T::Native>,
    {
        let factor = power_of_ten(u32::from(scale.unsigned_abs())).unwrap_or(i128::MAX);
        let limit = power_of_ten(u32::from(precision)).unwrap_or(i128::MAX);
        column_kernel(move |_, array| {
            let decimals: Decimal128Array = primitive::<T>(array)?.try_unary::<_, Decimal128Type, PgError>(|value| {
                let value = i128::from(value);
                match value.checked_mul(factor) {
                    Some(mantissa) if mantissa.unsigned_abs() < limit.unsigned_abs() => Ok(mantissa),
                    _ => fit_decimal(&Numeric::from_i128(value, 0), precision, scale),
                }
            })?;
            Ok(Arc::new(decimals.with_precision_and_scale(precision, scale)?))
        })
    }
    if scale < 0 {
        return None;
    }
    match from {
        PgType::Int2 => Some(integers::<Int16Type>(precision, scale)),
        PgType::Int4 => Some(integers::<Int32Type>(precision, scale)),
        PgType::Int8 => Some(integers::<Int64Type>(precision, scale)),
        _ => None,
    }
}

/// Casts straight from 128-bit decimals; `None` where the way through `numeric` does.
pub(crate) fn from_decimal(to: &PgType, scale: i8) -> Option<Kernel> {
    let power = power_of_ten(u32::try_from(scale).ok()?)?;
    /// A decimal rounded to an integer; of NaN the longer way tells what is wrong.
    fn whole<T: TryFrom<i128>>(value: i128, power: i128, nan: impl Fn(&Numeric) -> PgResult<T>, name: &str) -> PgResult<T> {
        if value == DECIMAL_NAN {
            return nan(&Numeric::NAN);
        }
        divide_rounded(value, power).try_into().map_err(|_| PgError::out_of_range(name))
    }
    fn kernel<T: ArrowPrimitiveType>(f: impl Fn(i128) -> PgResult<T::Native> + Send + Sync + Copy + 'static) -> Kernel {
        column_kernel(move |_, array| Ok(Arc::new(primitive::<Decimal128Type>(array)?.try_unary::<_, T, PgError>(f)?)))
    }
    Some(match to {
        PgType::Int2 => kernel::<Int16Type>(move |value| whole(value, power, Numeric::to_i16, "smallint")),
        PgType::Int4 => kernel::<Int32Type>(move |value| whole(value, power, Numeric::to_i32, "integer")),
        PgType::Int8 => kernel::<Int64Type>(move |value| whole(value, power, Numeric::to_i64, "bigint")),
        PgType::Float4 => kernel::<Float32Type>(move |value| of_decimal(value, scale).to_f32()),
        PgType::Float8 => kernel::<Float64Type>(move |value| of_decimal(value, scale).to_f64()),
        _ => return None,
    })
}

/// Registers the entries of this file.
pub fn register(r: &mut Registry) {
    use CastContext::{Assignment, Explicit, Implicit};
    use PgType as P;

    r.add_cast(P::Int2, P::Int4, Implicit, widening::<Int16Type, Int32Type>(i32::from));
    r.add_cast(P::Int2, P::Int8, Implicit, widening::<Int16Type, Int64Type>(i64::from));
    r.add_cast(P::Int4, P::Int8, Implicit, widening::<Int32Type, Int64Type>(i64::from));
    r.add_cast(
        P::Int4,
        P::Int2,
        Assignment,
        narrowing::<Int32Type, Int16Type>(|v| v.try_into().map_err(|_| PgError::out_of_range("smallint"))),
    );
    r.add_cast(
        P::Int8,
        P::Int2,
        Assignment,
        narrowing::<Int64Type, Int16Type>(|v| v.try_into().map_err(|_| PgError::out_of_range("smallint"))),
    );
    r.add_cast(
        P::Int8,
        P::Int4,
        Assignment,
        narrowing::<Int64Type, Int32Type>(|v| v.try_into().map_err(|_| PgError::out_of_range("integer"))),
    );

    r.add_cast(P::Int2, P::Float4, Implicit, widening::<Int16Type, Float32Type>(f32::from));
    r.add_cast(P::Int2, P::Float8, Implicit, widening::<Int16Type, Float64Type>(f64::from));
    r.add_cast(P::Int4, P::Float4, Implicit, widening::<Int32Type, Float32Type>(|v| v as f32));
    r.add_cast(P::Int4, P::Float8, Implicit, widening::<Int32Type, Float64Type>(f64::from));
    r.add_cast(P::Int8, P::Float4, Implicit, widening::<Int64Type, Float32Type>(|v| v as f32));
    r.add_cast(P::Int8, P::Float8, Implicit, widening::<Int64Type, Float64Type>(|v| v as f64));
    r.add_cast(P::Float4, P::Float8, Implicit, widening::<Float32Type, Float64Type>(f64::from));
    r.add_cast(P::Float8, P::Float4, Assignment, narrowing::<Float64Type, Float32Type>(to_f32));
    r.add_cast(P::Float4, P::Int2, Assignment, narrowing::<Float32Type, Int16Type>(|v| float_to_i16(f64::from(v))));
    r.add_cast(P::Float4, P::Int4, Assignment, narrowing::<Float32Type, Int32Type>(|v| float_to_i32(f64::from(v))));
    r.add_cast(P::Float4, P::Int8, Assignment, narrowing::<Float32Type, Int64Type>(|v| float_to_i64(f64::from(v))));
    r.add_cast(P::Float8, P::Int2, Assignment, narrowing::<Float64Type, Int16Type>(float_to_i16));
    r.add_cast(P::Float8, P::Int4, Assignment, narrowing::<Float64Type, Int32Type>(float_to_i32));
    r.add_cast(P::Float8, P::Int8, Assignment, narrowing::<Float64Type, Int64Type>(float_to_i64));

    r.add_cast(P::Int2, P::Numeric, Implicit, kernel(strict1::<Int2, NumericKind>(|_, v| Ok(Numeric::from_i64(i64::from(v))))));
    r.add_cast(P::Int4, P::Numeric, Implicit, kernel(strict1::<Int4, NumericKind>(|_, v| Ok(Numeric::from_i64(i64::from(v))))));
    r.add_cast(P::Int8, P::Numeric, Implicit, kernel(strict1::<Int8, NumericKind>(|_, v| Ok(Numeric::from_i64(v)))));
    r.add_cast(P::Float4, P::Numeric, Assignment, kernel(strict1::<Float4, NumericKind>(|_, v| Ok(Numeric::from_f32(v)))));
    r.add_cast(P::Float8, P::Numeric, Assignment, kernel(strict1::<Float8, NumericKind>(|_, v| Ok(Numeric::from_f64(v)))));
    r.add_cast(P::Numeric, P::Int2, Assignment, kernel(strict1::<NumericKind, Int2>(|_, v| v.to_i16())));
    r.add_cast(P::Numeric, P::Int4, Assignment, kernel(strict1::<NumericKind, Int4>(|_, v| v.to_i32())));
    r.add_cast(P::Numeric, P::Int8, Assignment, kernel(strict1::<NumericKind, Int8>(|_, v| v.to_i64())));
    r.add_cast(P::Numeric, P::Float4, Implicit, kernel(strict1::<NumericKind, Float4>(|_, v| v.to_f32())));
    r.add_cast(P::Numeric, P::Float8, Implicit, kernel(strict1::<NumericKind, Float8>(|_, v| v.to_f64())));

    r.add_cast(P::Bool, P::Int4, Explicit, kernel(strict1::<Bool, Int4>(|_, v| Ok(i32::from(v)))));
    r.add_cast(P::Int4, P::Bool, Explicit, kernel(strict1::<Int4, Bool>(|_, v| Ok(v != 0))));

    let named = [
        P::Regproc,
        P::Regprocedure,
        P::Regoper,
        P::Regoperator,
        P::Regclass,
        P::Regcollation,
        P::Regtype,
        P::Regnamespace,
        P::Regrole,
        P::Regconfig,
    ];
    let oid_like = std::iter::once(P::Oid).chain(named.clone());
    for oid in oid_like {
        r.add_cast(P::Int2, oid.clone(), Implicit, widening::<Int16Type, UInt32Type>(|v| i32::from(v) as u32));
        r.add_cast(P::Int4, oid.clone(), Implicit, widening::<Int32Type, UInt32Type>(|v| v as u32));
        r.add_cast(P::Int8, oid.clone(), Implicit, kernel(to_oid()));
        r.add_cast(oid.clone(), P::Int4, Assignment, widening::<UInt32Type, Int32Type>(|v| v as i32));
        r.add_cast(oid.clone(), P::Int8, Assignment, widening::<UInt32Type, Int64Type>(i64::from));
    }
    for oid in named {
        r.add_cast(P::Oid, oid.clone(), Implicit, CastKind::Relabel);
        r.add_cast(oid, P::Oid, Implicit, CastKind::Relabel);
    }
    r.add_cast(P::Regproc, P::Regprocedure, Implicit, CastKind::Relabel);
    r.add_cast(P::Regprocedure, P::Regproc, Implicit, CastKind::Relabel);
    r.add_cast(P::Regoper, P::Regoperator, Implicit, CastKind::Relabel);
    r.add_cast(P::Regoperator, P::Regoper, Implicit, CastKind::Relabel);
}

fn kernel(kernel: Kernel) -> CastKind {
    CastKind::Kernel(kernel)
}

fn to_oid() -> Kernel {
    Arc::new(|call, args| {
        let input = Reader::<Int8>::new(arg(args, 0)?)?;
        let mut out = Oid::builder(call.rows);
        for row in 0..call.rows {
            let value = input.get(row)?;
            let oid = value.map(|value| u32::try_from(value).map_err(|_| PgError::out_of_range("OID"))).transpose()?;
            Oid::push(&mut out, oid)?;
        }
        Oid::finish(out, call.ret)
    })
}
