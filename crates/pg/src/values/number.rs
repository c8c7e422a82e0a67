//! Values: bool, integers, floats: text and binary forms.
//!
//! Floats print the shortest digits that read back as the same value, in PostgreSQL's choice of plain and exponent notation, or,
//! with `extra_float_digits` at 0 or below, a fixed number of significant digits.

use super::{ValueBuilder, ValueWriter, fixed_width, numeric, open};
use crate::args::{Kernel, strict1};
use crate::context::EvalContext;
use crate::error::{PgError, PgResult};
use crate::sqlstate::SqlState;
use crate::types::{PgType, SqlType};
use arrow::array::{Array, ArrayRef, BooleanArray, BooleanBuilder, PrimitiveArray, PrimitiveBuilder};
use arrow::datatypes::{ArrowPrimitiveType, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type};
use numeric::NumericKind;
use std::sync::Arc;

/// A native value with PostgreSQL's forms.
trait Scalar: Copy + Send + 'static {
    fn read(text: &str) -> PgResult<Self>;
    fn write(self, ctx: &EvalContext, out: &mut Vec<u8>);
    fn from_wire(bytes: &[u8]) -> PgResult<Self>;
    fn to_wire(self, out: &mut Vec<u8>);
}

macro_rules! integer_scalar {
    ($native:ty, $name:literal) => {
        impl Scalar for $native {
            fn read(text: &str) -> PgResult<Self> {
                parse_integer(text, $name, i128::from(<$native>::MIN), i128::from(<$native>::MAX)).map(|value| value as $native)
            }
            fn write(self, _: &EvalContext, out: &mut Vec<u8>) {
                write_integer(i64::from(self), out);
            }
            fn from_wire(bytes: &[u8]) -> PgResult<Self> {
                fixed_width(bytes).map(<$native>::from_be_bytes)
            }
            fn to_wire(self, out: &mut Vec<u8>) {
                out.extend(self.to_be_bytes());
            }
        }
    };
}

integer_scalar!(i16, "smallint");
integer_scalar!(i32, "integer");
integer_scalar!(i64, "bigint");

impl Scalar for f32 {
    fn read(text: &str) -> PgResult<Self> {
        parse_f32(text)
    }
    fn write(self, ctx: &EvalContext, out: &mut Vec<u8>) {
        write_f32(self, ctx.settings.extra_float_digits, out);
    }
    fn from_wire(bytes: &[u8]) -> PgResult<Self> {
        fixed_width(bytes).map(f32::from_be_bytes)
    }
    fn to_wire(self, out: &mut Vec<u8>) {
        out.extend(self.to_be_bytes());
    }
}

impl Scalar for f64 {
    fn read(text: &str) -> PgResult<Self> {
        parse_f64(text)
    }
    fn write(self, ctx: &EvalContext, out: &mut Vec<u8>) {
        write_f64(self, ctx.settings.extra_float_digits, out);
    }
    fn from_wire(bytes: &[u8]) -> PgResult<Self> {
        fixed_width(bytes).map(f64::from_be_bytes)
    }
    fn to_wire(self, out: &mut Vec<u8>) {
        out.extend(self.to_be_bytes());
    }
}

struct Writer<'a, T: ArrowPrimitiveType> {
    ctx: &'a EvalContext,
    column: &'a PrimitiveArray<T>,
}

impl<T: ArrowPrimitiveType> ValueWriter for Writer<'_, T>
where
    T::Native: Scalar,
{
    fn text(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        self.column.value(row).write(self.ctx, out);
        Ok(())
    }

    fn binary(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        self.column.value(row).to_wire(out);
        Ok(())
    }
}

struct Builder<T: ArrowPrimitiveType> {
    values: PrimitiveBuilder<T>,
}

impl<T: ArrowPrimitiveType> ValueBuilder for Builder<T>
where
    T::Native: Scalar,
{
    fn text(&mut self, _: &EvalContext, value: &str) -> PgResult<()> {
        self.values.append_value(T::Native::read(value)?);
        Ok(())
    }

    fn binary(&mut self, _: &EvalContext, value: &[u8]) -> PgResult<()> {
        self.values.append_value(T::Native::from_wire(value)?);
        Ok(())
    }

    fn null(&mut self) {
        self.values.append_null();
    }

    fn len(&self) -> usize {
        arrow::array::ArrayBuilder::len(&self.values)
    }

    fn finish(&mut self) -> PgResult<ArrayRef> {
        Ok(Arc::new(self.values.finish()))
    }
}

/// Writes a column of a type of this file.
pub fn writer<'a>(ctx: &'a EvalContext, ty: &SqlType, array: &'a dyn Array) -> PgResult<Box<dyn ValueWriter + 'a>> {
    Ok(match ty.ty {
        PgType::Int2 => Box::new(Writer::<Int16Type> { ctx, column: open(array, ty)? }),
        PgType::Int4 => Box::new(Writer::<Int32Type> { ctx, column: open(array, ty)? }),
        PgType::Int8 => Box::new(Writer::<Int64Type> { ctx, column: open(array, ty)? }),
        PgType::Float4 => Box::new(Writer::<Float32Type> { ctx, column: open(array, ty)? }),
        PgType::Float8 => Box::new(Writer::<Float64Type> { ctx, column: open(array, ty)? }),
        _ => Box::new(BoolWriter { column: open(array, ty)? }),
    })
}

/// Builds a column of a type of this file.
pub fn builder(ty: &SqlType) -> PgResult<Box<dyn ValueBuilder>> {
    Ok(match ty.ty {
        PgType::Int2 => Box::new(Builder::<Int16Type> { values: PrimitiveBuilder::new() }),
        PgType::Int4 => Box::new(Builder::<Int32Type> { values: PrimitiveBuilder::new() }),
        PgType::Int8 => Box::new(Builder::<Int64Type> { values: PrimitiveBuilder::new() }),
        PgType::Float4 => Box::new(Builder::<Float32Type> { values: PrimitiveBuilder::new() }),
        PgType::Float8 => Box::new(Builder::<Float64Type> { values: PrimitiveBuilder::new() }),
        _ => Box::new(BoolBuilder { values: BooleanBuilder::new() }),
    })
}

/// Rounds numerics (as sortable bytes) to a modifier.
#[must_use]
pub fn apply_typmod(ty: &SqlType) -> Option<Kernel> {
    let typmod = ty.typmod;
    crate::types::numeric_typmod(&ty.ty, typmod)?;
    Some(strict1::<NumericKind, NumericKind>(move |_, value| value.apply_typmod(typmod)))
}

struct BoolWriter<'a> {
    column: &'a BooleanArray,
}

impl ValueWriter for BoolWriter<'_> {
    fn text(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        out.push(if self.column.value(row) { b't' } else { b'f' });
        Ok(())
    }

    fn binary(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        out.push(u8::from(self.column.value(row)));
        Ok(())
    }
}

struct BoolBuilder {
    values: BooleanBuilder,
}

impl ValueBuilder for BoolBuilder {
    fn text(&mut self, _: &EvalContext, value: &str) -> PgResult<()> {
        self.values.append_value(parse_bool(value)?);
        Ok(())
    }

    fn binary(&mut self, _: &EvalContext, value: &[u8]) -> PgResult<()> {
        let [byte] = fixed_width(value)?;
        self.values.append_value(byte != 0);
        Ok(())
    }

    fn null(&mut self) {
        self.values.append_null();
    }

    fn len(&self) -> usize {
        arrow::array::ArrayBuilder::len(&self.values)
    }

    fn finish(&mut self) -> PgResult<ArrayRef> {
        Ok(Arc::new(self.values.finish()))
    }
}

/// Without the blanks that PostgreSQL's input functions skip around a value.
#[must_use]
pub fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b')
}

/// Reads `true`, `yes`, `on`, `1` and their opposites, cut short as far as they are unambiguous.
///
/// # Errors
/// 22P02 for anything else.
pub fn parse_bool(text: &str) -> PgResult<bool> {
    let word = trim(text);
    let prefix_of =
        |full: &str, least: usize| word.len() >= least && full.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    if prefix_of("true", 1) || prefix_of("yes", 1) || prefix_of("on", 2) || word == "1" {
        Ok(true)
    } else if prefix_of("false", 1) || prefix_of("no", 1) || prefix_of("off", 2) || word == "0" {
        Ok(false)
    } else {
        Err(PgError::invalid_text("boolean", text))
    }
}

fn parse_integer(text: &str, type_name: &str, min: i128, max: i128) -> PgResult<i128> {
    let word = trim(text);
    let (negative, digits) = match word.as_bytes() {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    // More than any of the types holds, less than an i128 does.
    let limit = 1i128 << 65;
    let count = digits.iter().take_while(|b| b.is_ascii_digit()).count();
    let magnitude = digits.iter().take(count).fold(0i128, |sum, digit| (sum * 10 + i128::from(digit - b'0')).min(limit));
    let value = if negative { -magnitude } else { magnitude };
    // Too many digits are reported before what follows them. They are counted down, so that one more than the greatest is not.
    if value < min || magnitude > max.max(-min) {
        return Err(PgError::value_out_of_range(type_name, text));
    }
    if count == 0 || count < digits.len() {
        return Err(PgError::invalid_text(type_name, text));
    }
    if value > max { Err(PgError::value_out_of_range(type_name, text)) } else { Ok(value) }
}

/// # Errors
/// 22P02 for what is no integer, 22003 for what does not fit.
pub fn parse_i16(text: &str) -> PgResult<i16> {
    i16::read(text)
}

/// # Errors
/// 22P02 for what is no integer, 22003 for what does not fit.
pub fn parse_i32(text: &str) -> PgResult<i32> {
    i32::read(text)
}

/// # Errors
/// 22P02 for what is no integer, 22003 for what does not fit.
pub fn parse_i64(text: &str) -> PgResult<i64> {
    i64::read(text)
}

/// An object identifier; negative numbers wrap, as in PostgreSQL.
///
/// # Errors
/// 22P02 for what is no integer, 22003 for what does not fit.
pub fn parse_oid(text: &str) -> PgResult<u32> {
    let value = parse_integer(text, "oid", i128::from(i32::MIN), i128::from(u32::MAX))?;
    Ok(value as u32)
}

fn float_out_of_range(text: &str, type_name: &str) -> PgError {
    PgError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, format!("\"{text}\" is out of range for type {type_name}"))
}

/// Whether a number's text has a digit other than zero before its exponent.
fn has_nonzero_digit(text: &str) -> bool {
    text.bytes().take_while(|b| !matches!(b, b'e' | b'E')).any(|b| matches!(b, b'1'..=b'9'))
}

/// A number as C writes it in base 16: `0x1.8p3` is 12.
fn hexadecimal(word: &str) -> Option<f64> {
    let (negative, rest) = match word.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, word.strip_prefix('+').unwrap_or(word)),
    };
    let rest = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X"))?;
    let (digits, exponent) = match rest.split_once(['p', 'P']) {
        Some((digits, exponent)) => {
            let unsigned = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            if unsigned.is_empty() || !unsigned.bytes().all(|b| b.is_ascii_digit()) {
                return None;
            }
            let size = unsigned.parse::<i32>().map_or(100_000, |n| n.min(100_000));
            (digits, if exponent.starts_with('-') { -size } else { size })
        }
        None => (rest, 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let (mut mantissa, mut power) = (0u64, exponent);
    for (digits, step) in [(whole, 0), (fraction, -4)] {
        for c in digits.chars() {
            let digit = u64::from(c.to_digit(16)?);
            if mantissa >> 60 == 0 {
                mantissa = mantissa << 4 | digit;
                power += step;
            } else {
                // What no longer fits decides how the rest is rounded.
                mantissa |= u64::from(digit != 0);
                power += step + 4;
            }
        }
    }
    let half = power / 2;
    let value = mantissa as f64 * 2f64.powi(half) * 2f64.powi(power - half);
    Some(if negative { -value } else { value })
}

/// Whether a number is too large or too small for what it was read as.
fn does_not_fit(infinite: bool, zero: bool, word: &str) -> bool {
    (infinite && word.bytes().any(|b| b.is_ascii_digit())) || (zero && has_nonzero_digit(word))
}

/// The decimal number at the start of a text: what stands after it is reported after a number that does not fit.
fn leading_number(word: &str) -> &str {
    let digits = |from: usize| from + word.bytes().skip(from).take_while(u8::is_ascii_digit).count();
    let sign = |at: usize| at + usize::from(matches!(word.as_bytes().get(at), Some(b'+' | b'-')));
    let mut end = digits(sign(0));
    if word.as_bytes().get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if matches!(word.as_bytes().get(end), Some(b'e' | b'E')) {
        let from = sign(end + 1);
        end = if digits(from) > from { digits(from) } else { end };
    }
    word.get(..end).unwrap_or_default()
}

/// # Errors
/// 22P02 for what is no number, 22003 for what overflows or underflows.
pub fn parse_f64(text: &str) -> PgResult<f64> {
    let word = trim(text);
    let fits = |value: f64, word: &str| {
        let out = does_not_fit(value.is_infinite(), value == 0.0, word);
        if out { Err(float_out_of_range(word, "double precision")) } else { Ok(value) }
    };
    match word.parse() {
        Ok(value) => fits(value, word),
        Err(_) => match hexadecimal(word) {
            Some(value) => fits(value, word),
            None => {
                let number = leading_number(word);
                number.parse().map_or(Ok(0.0), |value| fits(value, number))?;
                Err(PgError::invalid_text("double precision", text))
            }
        },
    }
}

/// # Errors
/// 22P02 for what is no number, 22003 for what overflows or underflows.
pub fn parse_f32(text: &str) -> PgResult<f32> {
    let word = trim(text);
    let fits = |value: f32, word: &str| {
        let out = does_not_fit(value.is_infinite(), value == 0.0, word);
        if out { Err(float_out_of_range(text, "real")) } else { Ok(value) }
    };
    match word.parse() {
        Ok(value) => fits(value, word),
        Err(_) => match hexadecimal(word) {
            Some(value) => fits(value as f32, word),
            None => {
                let number = leading_number(word);
                number.parse().map_or(Ok(0.0), |value| fits(value, number))?;
                Err(PgError::invalid_text("real", text))
            }
        },
    }
}

/// Appends an integer's digits.
pub fn write_integer(value: i64, out: &mut Vec<u8>) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    let mut rest = value.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if value < 0 {
        out.push(b'-');
    }
    out.extend(&digits[at..]);
}

/// Appends a double as PostgreSQL prints it.
pub fn write_f64(value: f64, extra_digits: i32, out: &mut Vec<u8>) {
    if !value.is_finite() {
        return write_special(value.is_nan(), value < 0.0, out);
    }
    if extra_digits > 0 {
        let mut buffer = ryu::Buffer::new();
        let text = buffer.format_finite(value);
        let large = (9_007_199_254_740_992.0..1e30).contains(&value.abs());
        match large.then(|| inside(text, value.abs(), value.abs().next_down(), value.abs().next_up())).flatten() {
            Some(digits) => write_decimal(&format!("{value:.*e}", digits - 1), 15, out),
            None => write_decimal(text, 15, out),
        }
    } else {
        let digits = (15 + extra_digits).max(1) as usize;
        write_general(&format!("{value:.*e}", digits - 1), digits as i32, out);
    }
}

/// Appends a single-precision float as PostgreSQL prints it.
pub fn write_f32(value: f32, extra_digits: i32, out: &mut Vec<u8>) {
    if !value.is_finite() {
        return write_special(value.is_nan(), value < 0.0, out);
    }
    if extra_digits > 0 {
        let mut buffer = ryu::Buffer::new();
        let text = buffer.format_finite(value);
        // Integers from here on have a distance of more than 1 to the next.
        let large = (16_777_216.0..1e30).contains(&value.abs());
        match large.then(|| inside(text, value.abs(), value.abs().next_down(), value.abs().next_up())).flatten() {
            Some(digits) => write_decimal(&format!("{value:.*e}", digits - 1), 6, out),
            None => write_decimal(text, 6, out),
        }
    } else {
        let digits = (6 + extra_digits).max(1) as usize;
        write_general(&format!("{value:.*e}", digits - 1), digits as i32, out);
    }
}

/// How many digits a large number needs where the shortest text that reads back as it lies in the middle between it and the next
/// number: PostgreSQL does not take that one, although it is read as the even of the two.
fn inside<F: Copy + Into<f64> + std::fmt::LowerExp>(text: &str, value: F, below: F, above: F) -> Option<usize> {
    let exact = |f: F| Into::<f64>::into(f) as i128;
    let (value_exact, below, above) = (exact(value), exact(below), exact(above));
    let is_inside = |text: &str| -> Option<bool> {
        let (mantissa, exponent) = text.trim_start_matches('-').split_once('e').unwrap_or((text.trim_start_matches('-'), "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let zeros = exponent.parse::<i32>().ok()? - i32::try_from(fraction.len()).ok()?;
        let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
        let number = match u32::try_from(zeros) {
            Ok(zeros) => digits.checked_mul(10i128.checked_pow(zeros)?)?,
            Err(_) => digits.checked_div(10i128.checked_pow(zeros.unsigned_abs())?)?,
        };
        let room = if number < value_exact { value_exact - below } else { above - value_exact };
        Some((number - value_exact).abs().checked_mul(2)? < room)
    };
    if is_inside(text)? {
        return None;
    }
    let written: String = text.split('e').next().unwrap_or(text).chars().filter(char::is_ascii_digit).collect();
    let digits = written.trim_matches('0').len();
    (digits + 1..=17).find(|n| is_inside(&format!("{value:.*e}", n - 1)) == Some(true))
}

fn write_special(nan: bool, negative: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(match (nan, negative) {
        (true, _) => b"NaN",
        (false, true) => b"-Infinity",
        (false, false) => b"Infinity",
    });
}

/// Appends a number given as `digits[.digits][e±n]`: plainly if the exponent of its first digit is at least −4 and below
/// `plain_below`, else with an exponent.
fn write_decimal(text: &str, plain_below: i32, out: &mut Vec<u8>) {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut digits = [0u8; 32];
    let mut count = 0;
    let mut leading_zeros = 0;
    for digit in whole.bytes().chain(fraction.bytes()) {
        if count == 0 && digit == b'0' {
            leading_zeros += 1;
        } else if let Some(slot) = digits.get_mut(count) {
            *slot = digit;
            count += 1;
        }
    }
    if negative {
        out.push(b'-');
    }
    let digits = digits.get(..count).unwrap_or(&[]);
    let significant = digits.iter().rposition(|digit| *digit != b'0').map_or(0, |last| last + 1);
    let digits = digits.get(..significant).unwrap_or(&[]);
    if digits.is_empty() {
        out.push(b'0');
        return;
    }
    // The exponent of the first digit that is not zero.
    let exponent = exponent + whole.len() as i32 - 1 - leading_zeros;
    let (first, rest) = digits.split_at(1);
    if (-4..plain_below).contains(&exponent) {
        if exponent < 0 {
            out.extend_from_slice(b"0.");
            out.extend(std::iter::repeat_n(b'0', (-exponent - 1) as usize));
            out.extend_from_slice(digits);
        } else {
            let whole = exponent as usize + 1;
            out.extend(digits.iter().take(whole));
            out.extend(std::iter::repeat_n(b'0', whole.saturating_sub(digits.len())));
            if digits.len() > whole {
                out.push(b'.');
                out.extend(digits.iter().skip(whole));
            }
        }
        return;
    }
    out.extend_from_slice(first);
    if !rest.is_empty() {
        out.push(b'.');
        out.extend_from_slice(rest);
    }
    out.extend_from_slice(if exponent < 0 { b"e-" } else { b"e+" });
    let magnitude = exponent.unsigned_abs();
    if magnitude < 10 {
        out.push(b'0');
    }
    write_integer(i64::from(magnitude), out);
}

/// C's `%.*g` of a number given with an exponent.
fn write_general(text: &str, digits: i32, out: &mut Vec<u8>) {
    write_decimal(text, digits, out);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn floats() {
        let text = |value: f64, digits: i32| {
            let mut out = Vec::new();
            write_f64(value, digits, &mut out);
            String::from_utf8(out).unwrap()
        };
        for (value, expected) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.5, "1.5"),
            (100_000.0, "100000"),
            (1e14, "100000000000000"),
            (1e15, "1e+15"),
            (123_456_789_012_345_680.0, "1.2345678901234568e+17"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1.25e-7, "1.25e-07"),
            (1e300, "1e+300"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
            (0.1 + 0.2, "0.30000000000000004"),
        ] {
            assert_eq!(text(value, 1), expected);
        }
        assert_eq!(text(0.1 + 0.2, 0), "0.3");
        assert_eq!(text(1.0 / 3.0, -10), "0.33333");
        assert_eq!(text(123_456.0, -10), "1.2346e+05");
        let mut out = Vec::new();
        write_f32(1_000_000.0, 1, &mut out);
        assert_eq!(out, b"1e+06");
    }

    #[test]
    fn input() {
        for (text, value) in [("t", true), (" TRUE ", true), ("yE", true), ("on", true), ("1", true), ("of", false), ("n", false)] {
            assert_eq!(parse_bool(text).unwrap(), value, "{text}");
        }
        for text in ["", "o", "10", "truee", "ja"] {
            assert_eq!(parse_bool(text).unwrap_err().code().as_str(), "22P02");
        }
        assert_eq!(parse_i16(" -32768 ").unwrap(), i16::MIN);
        assert_eq!(parse_i16("32768").unwrap_err().message(), "value \"32768\" is out of range for type smallint");
        assert_eq!(parse_i32("1.5").unwrap_err().message(), "invalid input syntax for type integer: \"1.5\"");
        assert_eq!(parse_i64("-9223372036854775808").unwrap(), i64::MIN);
        assert_eq!(parse_oid("-1").unwrap(), u32::MAX);
        assert_eq!(parse_f64("1e400").unwrap_err().message(), "\"1e400\" is out of range for type double precision");
        assert_eq!(parse_f64("1e-400").unwrap_err().code().as_str(), "22003");
        assert_eq!(parse_f32("1e39").unwrap_err().message(), "\"1e39\" is out of range for type real");
        assert_eq!(parse_f64(" -inf ").unwrap(), f64::NEG_INFINITY);
        assert!(parse_f64("nan").unwrap().is_nan());
        assert_eq!(parse_f64("0e400").unwrap(), 0.0);
    }
}
