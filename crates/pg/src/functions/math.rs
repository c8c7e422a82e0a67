//! Mathematical functions on integers, floats and numerics.
//!
//! Functions of floats raise where PostgreSQL does: 2201E and 2201F for arguments of logarithms and powers, 22003 for overflow,
//! underflow and arguments outside a function's domain. The functions that take degrees are exact where the result is.

use crate::args::{Float8, Int4, Int8, Kernel, arg, each_row, strict1, strict1_opt, strict2, strict4};
use crate::casts::column_kernel;
use crate::error::{PgError, PgResult};
use crate::operators::number::modulo;
use crate::registry::{Func, Registry};
use crate::sqlstate::SqlState;
use crate::types::PgType;
use crate::values::array::{ArrayColumn, ArrayValue, element_type};
use crate::values::key_writer;
use crate::values::numeric::arithmetic::{MAX_ROUND_SCALE, MIN_ROUND_SCALE};
use crate::values::numeric::{Numeric, NumericKind};
use arrow::array::{Array, AsArray, Int32Array};
use arrow::datatypes::{ArrowPrimitiveType, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// The C library's functions where Rust's differ from it in the last digit: PostgreSQL's results are the C library's.
mod c {
    #[link(name = "m")]
    unsafe extern "C" {
        // Under its plain name the linker finds the one that comes with Rust.
        #[cfg_attr(target_env = "gnu", link_name = "cbrtf64")]
        pub safe fn cbrt(x: f64) -> f64;
        pub safe fn asinh(x: f64) -> f64;
        pub safe fn acosh(x: f64) -> f64;
        pub safe fn atanh(x: f64) -> f64;
    }
}

/// The cube root of a double.
#[must_use]
pub fn cube_root(x: f64) -> f64 {
    c::cbrt(x)
}

fn overflow() -> PgError {
    PgError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: overflow")
}

fn underflow() -> PgError {
    PgError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: underflow")
}

fn domain() -> PgError {
    PgError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "input is out of range")
}

/// The square root of a double.
///
/// # Errors
/// 2201F below zero.
pub fn sqrt(x: f64) -> PgResult<f64> {
    if x < 0.0 {
        return Err(PgError::new(SqlState::INVALID_ARGUMENT_FOR_POWER, "cannot take square root of a negative number"));
    }
    Ok(x.sqrt())
}

/// A double to a power.
///
/// # Errors
/// 2201F where the power is not a real number, 22003 on overflow and underflow.
pub fn power(x: f64, y: f64) -> PgResult<f64> {
    let invalid = |message: &str| PgError::new(SqlState::INVALID_ARGUMENT_FOR_POWER, message);
    if x.is_nan() {
        return Ok(if y == 0.0 { 1.0 } else { x });
    }
    if y.is_nan() {
        return Ok(if x == 1.0 { 1.0 } else { y });
    }
    if x == 0.0 && y < 0.0 {
        return Err(invalid("zero raised to a negative power is undefined"));
    }
    if x < 0.0 && y.floor() != y {
        return Err(invalid("a negative number raised to a non-integer power yields a complex result"));
    }
    let result = x.powf(y);
    if x.is_finite() && y.is_finite() {
        if result.is_infinite() {
            return Err(overflow());
        }
        if result == 0.0 && x != 0.0 {
            return Err(underflow());
        }
    }
    Ok(result)
}

fn exp(x: f64) -> PgResult<f64> {
    let result = x.exp();
    if x.is_finite() {
        if result.is_infinite() {
            return Err(overflow());
        }
        if result == 0.0 {
            return Err(underflow());
        }
    }
    Ok(result)
}

/// A logarithm of a double that checks what it is taken of.
fn logarithm(x: f64, f: fn(f64) -> f64) -> PgResult<f64> {
    let invalid = |message: &str| PgError::new(SqlState::INVALID_ARGUMENT_FOR_LOG, message);
    if x == 0.0 {
        Err(invalid("cannot take logarithm of zero"))
    } else if x < 0.0 {
        Err(invalid("cannot take logarithm of a negative number"))
    } else {
        Ok(f(x))
    }
}

fn sign(x: f64) -> f64 {
    if x > 0.0 {
        1.0
    } else if x < 0.0 {
        -1.0
    } else {
        0.0
    }
}

/// A function that takes no infinity, as sine.
fn finite(x: f64, f: impl Fn(f64) -> f64) -> PgResult<f64> {
    if x.is_infinite() { Err(domain()) } else { Ok(f(x)) }
}

/// A function of numbers within bounds, as arc sine.
fn bounded(x: f64, low: f64, high: f64, f: impl Fn(f64) -> f64) -> PgResult<f64> {
    if x < low || x > high { Err(domain()) } else { Ok(f(x)) }
}

fn degrees(x: f64) -> PgResult<f64> {
    let result = x / RADIANS_PER_DEGREE;
    if result.is_infinite() && x.is_finite() {
        return Err(overflow());
    }
    Ok(result)
}

/// As PostgreSQL writes it down.
const RADIANS_PER_DEGREE: f64 = 0.017_453_292_519_943_295;

// Functions of degrees are scaled so that they are exact at the multiples of 30 and 45 degrees.

struct Scale {
    sin_30: f64,
    one_minus_cos_60: f64,
    asin_half: f64,
    acos_half: f64,
    atan_one: f64,
    tan_45: f64,
    cot_45: f64,
}

static SCALE: LazyLock<Scale> = LazyLock::new(|| {
    let mut scale = Scale {
        sin_30: (30.0 * RADIANS_PER_DEGREE).sin(),
        one_minus_cos_60: 1.0 - (60.0 * RADIANS_PER_DEGREE).cos(),
        asin_half: 0.5f64.asin(),
        acos_half: 0.5f64.acos(),
        atan_one: 1.0f64.atan(),
        tan_45: 1.0,
        cot_45: 1.0,
    };
    scale.tan_45 = sin_first_quadrant(&scale, 45.0) / cos_first_quadrant(&scale, 45.0);
    scale.cot_45 = cos_first_quadrant(&scale, 45.0) / sin_first_quadrant(&scale, 45.0);
    scale
});

fn sin_0_to_30(scale: &Scale, x: f64) -> f64 {
    ((x * RADIANS_PER_DEGREE).sin() / scale.sin_30) / 2.0
}

fn cos_0_to_60(scale: &Scale, x: f64) -> f64 {
    let one_minus_cos = 1.0 - (x * RADIANS_PER_DEGREE).cos();
    1.0 - (one_minus_cos / scale.one_minus_cos_60) / 2.0
}

fn sin_first_quadrant(scale: &Scale, x: f64) -> f64 {
    if x <= 30.0 { sin_0_to_30(scale, x) } else { cos_0_to_60(scale, 90.0 - x) }
}

fn cos_first_quadrant(scale: &Scale, x: f64) -> f64 {
    if x <= 60.0 { cos_0_to_60(scale, x) } else { sin_0_to_30(scale, 90.0 - x) }
}

fn sin_degrees(x: f64) -> f64 {
    let mut x = x % 360.0;
    let mut sign = 1.0;
    if x < 0.0 {
        (x, sign) = (-x, -sign);
    }
    if x > 180.0 {
        (x, sign) = (360.0 - x, -sign);
    }
    if x > 90.0 {
        x = 180.0 - x;
    }
    sign * sin_first_quadrant(&SCALE, x)
}

fn cos_degrees(x: f64) -> f64 {
    let mut x = (x % 360.0).abs();
    let mut sign = 1.0;
    if x > 180.0 {
        x = 360.0 - x;
    }
    if x > 90.0 {
        (x, sign) = (180.0 - x, -sign);
    }
    sign * cos_first_quadrant(&SCALE, x)
}

/// An angle as one of the first quadrant, with the sign that tangent and cotangent have for it.
fn tangent_quadrant(x: f64) -> (f64, f64) {
    let mut x = x % 360.0;
    let mut sign = 1.0;
    if x < 0.0 {
        (x, sign) = (-x, -sign);
    }
    if x > 180.0 {
        (x, sign) = (360.0 - x, -sign);
    }
    if x > 90.0 {
        (x, sign) = (180.0 - x, -sign);
    }
    (x, sign)
}

fn tan_degrees(x: f64) -> f64 {
    let (x, sign) = tangent_quadrant(x);
    let tangent = sign * ((sin_first_quadrant(&SCALE, x) / cos_first_quadrant(&SCALE, x)) / SCALE.tan_45);
    if tangent == 0.0 { 0.0 } else { tangent }
}

fn cot_degrees(x: f64) -> f64 {
    let (x, sign) = tangent_quadrant(x);
    let cotangent = sign * ((cos_first_quadrant(&SCALE, x) / sin_first_quadrant(&SCALE, x)) / SCALE.cot_45);
    if cotangent == 0.0 { 0.0 } else { cotangent }
}

fn asin_first_quadrant(x: f64) -> f64 {
    if x <= 0.5 { (x.asin() / SCALE.asin_half) * 30.0 } else { 90.0 - (x.acos() / SCALE.acos_half) * 60.0 }
}

fn acos_first_quadrant(x: f64) -> f64 {
    if x <= 0.5 { 90.0 - (x.asin() / SCALE.asin_half) * 30.0 } else { (x.acos() / SCALE.acos_half) * 60.0 }
}

fn asin_degrees(x: f64) -> f64 {
    if x >= 0.0 { asin_first_quadrant(x) } else { -asin_first_quadrant(-x) }
}

fn acos_degrees(x: f64) -> f64 {
    if x >= 0.0 { acos_first_quadrant(x) } else { 90.0 + asin_first_quadrant(-x) }
}

fn atan_degrees(x: f64) -> f64 {
    (x.atan() / SCALE.atan_one) * 45.0
}

fn atan2_degrees(y: f64, x: f64) -> f64 {
    (y.atan2(x) / SCALE.atan_one) * 45.0
}

// ---------------------------------------------------------------------------------------------------------------------------------
// Integers

fn gcd(a: i64, b: i64) -> u64 {
    num_integer::gcd(a.unsigned_abs(), b.unsigned_abs())
}

/// |a · b| / gcd, in the type's range.
fn lcm(a: i64, b: i64, max: i64, type_name: &str) -> PgResult<i64> {
    if a == 0 || b == 0 {
        return Ok(0);
    }
    let product = u128::from(a.unsigned_abs() / gcd(a, b)) * u128::from(b.unsigned_abs());
    i64::try_from(product).ok().filter(|lcm| *lcm <= max).ok_or_else(|| PgError::out_of_range(type_name))
}

// ---------------------------------------------------------------------------------------------------------------------------------
// Buckets

fn bucket_error(message: &str) -> PgError {
    PgError::new(SqlState::INVALID_ARGUMENT_FOR_WIDTH_BUCKET, message)
}

fn width_bucket(x: f64, low: f64, high: f64, count: i32) -> PgResult<i32> {
    if count <= 0 {
        return Err(bucket_error("count must be greater than zero"));
    }
    if x.is_nan() || low.is_nan() || high.is_nan() {
        return Err(bucket_error("operand, lower bound, and upper bound cannot be NaN"));
    }
    if low.is_infinite() || high.is_infinite() {
        return Err(bucket_error("lower and upper bounds must be finite"));
    }
    let beyond = || count.checked_add(1).ok_or_else(|| PgError::out_of_range("integer"));
    // The bucket of a value that lies the fraction `part / whole` into the range; huge ranges are halved first.
    let within = |part: f64, whole: f64, half_part: f64, half_whole: f64| {
        let fraction = if whole.is_finite() { part / whole } else { half_part / half_whole };
        ((f64::from(count) * fraction) as i32).min(count - 1) + 1
    };
    if low < high {
        if x < low {
            Ok(0)
        } else if x >= high {
            beyond()
        } else {
            Ok(within(x - low, high - low, x / 2.0 - low / 2.0, high / 2.0 - low / 2.0))
        }
    } else if low > high {
        if x > low {
            Ok(0)
        } else if x <= high {
            beyond()
        } else {
            Ok(within(low - x, low - high, low / 2.0 - x / 2.0, low / 2.0 - high / 2.0))
        }
    } else {
        Err(bucket_error("lower bound cannot equal upper bound"))
    }
}

/// The number of thresholds that are not above the value; they stand in ascending order.
fn width_bucket_array() -> Kernel {
    Arc::new(|call, args| {
        let (operand, thresholds) = (arg(args, 0)?, arg(args, 1)?);
        let (Some(operand_type), Some(array_type)) = (call.arg_types.first(), call.arg_types.get(1)) else {
            return Err(PgError::internal("width_bucket was called without types"));
        };
        let arrays = ArrayColumn::open(thresholds.array.as_ref())?;
        let elements = arrays.leaf();
        let values = key_writer(operand_type, operand.array.as_ref())?;
        let bounds = key_writer(&element_type(array_type), elements.as_ref())?;
        let (mut value, mut bound) = (Vec::new(), Vec::new());
        let mut out = Vec::with_capacity(call.rows);
        for row in 0..call.rows {
            let array = if operand.is_null(row) { None } else { arrays.get(thresholds.at(row)) };
            let Some(ArrayValue { shape, start, end }) = array else {
                out.push(None);
                continue;
            };
            if shape.ndim() > 1 {
                return Err(PgError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, "thresholds must be one-dimensional array"));
            }
            if (start..end).any(|at| elements.is_null(at)) {
                return Err(PgError::new(SqlState::NULL_VALUE_NOT_ALLOWED, "thresholds array must not contain NULLs"));
            }
            value.clear();
            values.write(operand.at(row), &mut value)?;
            let (mut low, mut high) = (start, end);
            while low < high {
                let middle = low + (high - low) / 2;
                bound.clear();
                bounds.write(middle, &mut bound)?;
                if value < bound { high = middle } else { low = middle + 1 }
            }
            out.push(Some((low - start) as i32));
        }
        Ok(Arc::new(Int32Array::from(out)))
    })
}

// ---------------------------------------------------------------------------------------------------------------------------------
// Random numbers

static GENERATOR: LazyLock<Mutex<StdRng>> = LazyLock::new(|| Mutex::new(StdRng::from_os_rng()));

/// The next number of the process's generator, from 0 to below 1.
#[must_use]
pub fn random() -> f64 {
    GENERATOR.lock().unwrap_or_else(PoisonError::into_inner).random()
}

/// Begins the process's generator anew.
///
/// # Errors
/// 22023 for a seed that is not from −1 to 1.
pub fn set_seed(seed: f64) -> PgResult<()> {
    if !(-1.0..=1.0).contains(&seed) {
        let mut text = Vec::new();
        crate::values::number::write_f64(seed, 0, &mut text);
        return Err(PgError::new(
            SqlState::INVALID_PARAMETER_VALUE,
            format!("setseed parameter {} is out of allowed range [-1,1]", String::from_utf8_lossy(&text)),
        ));
    }
    *GENERATOR.lock().unwrap_or_else(PoisonError::into_inner) = StdRng::seed_from_u64(seed.to_bits());
    Ok(())
}

// ---------------------------------------------------------------------------------------------------------------------------------
// Registration

/// A function of doubles, a column at a time.
fn float(f: impl Fn(f64) -> PgResult<f64> + Send + Sync + Copy + 'static) -> Kernel {
    column::<Float64Type>(f)
}

fn column<T: ArrowPrimitiveType>(f: impl Fn(T::Native) -> PgResult<T::Native> + Send + Sync + Copy + 'static) -> Kernel {
    column_kernel(move |_, array| {
        let column =
            array.as_primitive_opt::<T>().ok_or_else(|| PgError::internal(format!("a function was given {}", array.data_type())))?;
        Ok(Arc::new(column.try_unary::<_, T, PgError>(f)?))
    })
}

fn numeric(f: impl Fn(&Numeric) -> PgResult<Numeric> + Send + Sync + 'static) -> Kernel {
    strict1::<NumericKind, NumericKind>(move |_, value| f(&value))
}

fn numeric2(f: impl Fn(&Numeric, &Numeric) -> PgResult<Numeric> + Send + Sync + 'static) -> Kernel {
    strict2::<NumericKind, NumericKind, NumericKind>(move |_, a, b| f(&a, &b))
}

/// Registers the entries of this file.
#[rustfmt::skip]
pub fn register(r: &mut Registry) {
    use PgType as P;
    let (n, f) = (P::Numeric, P::Float8);
    let n1 = std::slice::from_ref(&n);
    let f1 = std::slice::from_ref(&f);
    let n2 = [n.clone(), n.clone()];
    let f2 = [f.clone(), f.clone()];

    let doc = "The absolute value.";
    r.scalar("abs", &[P::Int2], P::Int2, column::<Int16Type>(|x| x.checked_abs().ok_or_else(|| PgError::out_of_range("smallint"))), doc);
    r.scalar("abs", &[P::Int4], P::Int4, column::<Int32Type>(|x| x.checked_abs().ok_or_else(|| PgError::out_of_range("integer"))), doc);
    r.scalar("abs", &[P::Int8], P::Int8, column::<Int64Type>(|x| x.checked_abs().ok_or_else(|| PgError::out_of_range("bigint"))), doc);
    r.scalar("abs", &[P::Float4], P::Float4, column::<Float32Type>(|x| Ok(x.abs())), doc);
    r.scalar("abs", f1, f.clone(), float(|x| Ok(x.abs())), doc);
    r.scalar("abs", n1, n.clone(), numeric(|x| Ok(x.abs())), doc);

    for name in ["ceil", "ceiling"] {
        let doc = "The nearest integer that is not below the argument.";
        r.scalar(name, f1, f.clone(), float(|x| Ok(x.ceil())), doc);
        r.scalar(name, n1, n.clone(), numeric(|x| Ok(x.ceil())), doc);
    }
    let doc = "The nearest integer that is not above the argument.";
    r.scalar("floor", f1, f.clone(), float(|x| Ok(x.floor())), doc);
    r.scalar("floor", n1, n.clone(), numeric(|x| Ok(x.floor())), doc);
    r.scalar("round", f1, f.clone(), float(|x| Ok(x.round_ties_even())), "The nearest integer; halves go to the even one.");
    r.scalar("round", n1, n.clone(), numeric(|x| Ok(x.round(0))), "The nearest integer; halves go away from zero.");
    r.scalar("round", &[n.clone(), P::Int4], n.clone(),
        strict2::<NumericKind, Int4, NumericKind>(|_, x, places| Ok(x.round(places.clamp(MIN_ROUND_SCALE, MAX_ROUND_SCALE)))),
        "Rounded to so many digits after the point.");
    let doc = "Cut to an integer, towards zero.";
    r.scalar("trunc", f1, f.clone(), float(|x| Ok(x.trunc())), doc);
    r.scalar("trunc", n1, n.clone(), numeric(|x| Ok(x.trunc(0))), doc);
    r.scalar("trunc", &[n.clone(), P::Int4], n.clone(),
        strict2::<NumericKind, Int4, NumericKind>(|_, x, places| Ok(x.trunc(places.clamp(MIN_ROUND_SCALE, MAX_ROUND_SCALE)))),
        "Cut to so many digits after the point.");
    let doc = "−1, 0 or 1.";
    r.scalar("sign", f1, f.clone(), float(|x| Ok(sign(x))), doc);
    r.scalar("sign", n1, n.clone(), numeric(|x| Ok(x.sign())), doc);

    let doc = "What division leaves, with the sign of the dividend.";
    r.scalar("mod", &[P::Int2, P::Int2], P::Int2, modulo::<Int16Type>(), doc);
    r.scalar("mod", &[P::Int4, P::Int4], P::Int4, modulo::<Int32Type>(), doc);
    r.scalar("mod", &[P::Int8, P::Int8], P::Int8, modulo::<Int64Type>(), doc);
    r.scalar("mod", &n2, n.clone(), numeric2(Numeric::rem), doc);
    r.scalar("div", &n2, n.clone(), numeric2(Numeric::div_trunc), "The integer quotient, cut towards zero.");

    let doc = "The greatest common divisor.";
    r.scalar("gcd", &[P::Int4, P::Int4], P::Int4, strict2::<Int4, Int4, Int4>(|_, a, b| {
        i32::try_from(gcd(i64::from(a), i64::from(b))).map_err(|_| PgError::out_of_range("integer"))
    }), doc);
    r.scalar("gcd", &[P::Int8, P::Int8], P::Int8, strict2::<Int8, Int8, Int8>(|_, a, b| {
        i64::try_from(gcd(a, b)).map_err(|_| PgError::out_of_range("bigint"))
    }), doc);
    r.scalar("gcd", &n2, n.clone(), numeric2(Numeric::gcd), doc);
    let doc = "The least common multiple.";
    r.scalar("lcm", &[P::Int4, P::Int4], P::Int4, strict2::<Int4, Int4, Int4>(|_, a, b| {
        lcm(i64::from(a), i64::from(b), i64::from(i32::MAX), "integer").map(|value| value as i32)
    }), doc);
    r.scalar("lcm", &[P::Int8, P::Int8], P::Int8, strict2::<Int8, Int8, Int8>(|_, a, b| lcm(a, b, i64::MAX, "bigint")), doc);
    r.scalar("lcm", &n2, n.clone(), numeric2(Numeric::lcm), doc);
    r.scalar("factorial", &[P::Int8], n.clone(), strict1::<Int8, NumericKind>(|_, x| Numeric::factorial(x)), "The product of the numbers from 1 to the argument.");

    for name in ["power", "pow"] {
        let doc = "The first argument to the power of the second.";
        r.scalar(name, &f2, f.clone(), strict2::<Float8, Float8, Float8>(|_, x, y| power(x, y)), doc);
        r.scalar(name, &n2, n.clone(), numeric2(Numeric::pow), doc);
    }
    let doc = "The square root.";
    r.scalar("sqrt", f1, f.clone(), float(sqrt), doc);
    r.scalar("sqrt", n1, n.clone(), numeric(Numeric::sqrt), doc);
    r.scalar("cbrt", f1, f.clone(), float(|x| Ok(cube_root(x))), "The cube root.");
    let doc = "e to the power of the argument.";
    r.scalar("exp", f1, f.clone(), float(exp), doc);
    r.scalar("exp", n1, n.clone(), numeric(Numeric::exp), doc);
    let doc = "The natural logarithm.";
    r.scalar("ln", f1, f.clone(), float(|x| logarithm(x, f64::ln)), doc);
    r.scalar("ln", n1, n.clone(), numeric(Numeric::ln), doc);
    for name in ["log", "log10"] {
        let doc = "The logarithm to base 10.";
        r.scalar(name, f1, f.clone(), float(|x| logarithm(x, f64::log10)), doc);
        r.scalar(name, n1, n.clone(), numeric(Numeric::log10), doc);
    }
    r.scalar("log", &n2, n.clone(), numeric2(Numeric::log), "The logarithm of the second argument to the base of the first.");

    r.scalar("scale", n1, P::Int4, strict1_opt::<NumericKind, Int4>(|_, x| Ok(x.scale())), "Digits after the point.");
    r.scalar("min_scale", n1, P::Int4, strict1_opt::<NumericKind, Int4>(|_, x| Ok(x.min_scale())), "Digits after the point that are needed.");
    r.scalar("trim_scale", n1, n.clone(), numeric(|x| Ok(x.trim_scale())), "Without trailing zeros after the point.");

    r.scalar("pi", &[], f.clone(), each_row::<Float8>(|_| Ok(std::f64::consts::PI)), "π");
    r.scalar("degrees", f1, f.clone(), float(degrees), "Radians as degrees.");
    r.scalar("radians", f1, f.clone(), float(|x| Ok(x * RADIANS_PER_DEGREE)), "Degrees as radians.");

    type Function = (&'static str, fn(f64) -> PgResult<f64>, &'static str);
    let functions: [Function; 21] = [
        ("sin", |x| finite(x, f64::sin), "The sine of an angle in radians."),
        ("cos", |x| finite(x, f64::cos), "The cosine of an angle in radians."),
        ("tan", |x| finite(x, f64::tan), "The tangent of an angle in radians."),
        ("cot", |x| finite(x, |x| 1.0 / x.tan()), "The cotangent of an angle in radians."),
        ("asin", |x| bounded(x, -1.0, 1.0, f64::asin), "The angle in radians whose sine this is."),
        ("acos", |x| bounded(x, -1.0, 1.0, f64::acos), "The angle in radians whose cosine this is."),
        ("atan", |x| Ok(x.atan()), "The angle in radians whose tangent this is."),
        ("sind", |x| finite(x, sin_degrees), "The sine of an angle in degrees."),
        ("cosd", |x| finite(x, cos_degrees), "The cosine of an angle in degrees."),
        ("tand", |x| finite(x, tan_degrees), "The tangent of an angle in degrees."),
        ("cotd", |x| finite(x, cot_degrees), "The cotangent of an angle in degrees."),
        ("asind", |x| bounded(x, -1.0, 1.0, asin_degrees), "The angle in degrees whose sine this is."),
        ("acosd", |x| bounded(x, -1.0, 1.0, acos_degrees), "The angle in degrees whose cosine this is."),
        ("atand", |x| Ok(atan_degrees(x)), "The angle in degrees whose tangent this is."),
        ("sinh", |x| Ok(x.sinh()), "The hyperbolic sine."),
        ("cosh", |x| Ok(x.cosh()), "The hyperbolic cosine."),
        ("tanh", |x| Ok(x.tanh()), "The hyperbolic tangent."),
        ("asinh", |x| Ok(c::asinh(x)), "The number whose hyperbolic sine this is."),
        ("acosh", |x| bounded(x, 1.0, f64::INFINITY, |x| c::acosh(x)), "The number whose hyperbolic cosine this is."),
        ("atanh", |x| bounded(x, -1.0, 1.0, |x| c::atanh(x)), "The number whose hyperbolic tangent this is."),
        ("dexp", exp, "e to the power of the argument."),
    ];
    for (name, function, doc) in functions {
        r.scalar(name, f1, f.clone(), float(function), doc);
    }
    r.scalar("atan2", &f2, f.clone(), strict2::<Float8, Float8, Float8>(|_, y, x| Ok(y.atan2(x))), "The angle in radians of the point (x, y), given y, x.");
    r.scalar("atan2d", &f2, f.clone(), strict2::<Float8, Float8, Float8>(|_, y, x| Ok(atan2_degrees(y, x))), "The angle in degrees of the point (x, y), given y, x.");

    let doc = "The bucket of so many equal ones between two bounds that a value falls in.";
    r.scalar("width_bucket", &[f.clone(), f.clone(), f.clone(), P::Int4], P::Int4,
        strict4::<Float8, Float8, Float8, Int4, Int4>(|_, x, low, high, count| width_bucket(x, low, high, count)), doc);
    r.scalar("width_bucket", &[n.clone(), n.clone(), n.clone(), P::Int4], P::Int4,
        strict4::<NumericKind, NumericKind, NumericKind, Int4, Int4>(|_, x, low, high, count| x.width_bucket(&low, &high, count)), doc);
    r.scalar("width_bucket", &[P::AnyCompatible, P::AnyCompatibleArray], P::Int4, width_bucket_array(),
        "The number of ascending thresholds that are not above a value.");

    r.add(Func::scalar("random", &[], f.clone(), each_row::<Float8>(|_| Ok(random())), "A random number from 0 to below 1.").volatile());
    r.add(Func::scalar("setseed", f1, P::Void, Arc::new(|call, args| {
        let seeds = crate::args::Reader::<Float8>::new(arg(args, 0)?)?;
        let mut done = arrow::array::StringViewBuilder::with_capacity(call.rows);
        for row in 0..call.rows {
            let seed = seeds.get(row)?;
            seed.map(set_seed).transpose()?;
            done.append_option(seed.map(|_| ""));
        }
        Ok(Arc::new(done.finish()))
    }), "Sets the seed of random numbers, from −1 to 1.").volatile());
}

#[cfg(test)]
mod tests;
