//! Columns of `numeric`: as sortable bytes, as 128-bit decimals, and from one to the other.
//!
//! Among decimals NaN is a number that no decimal of 38 digits is: the greatest of all, so that it equals itself and sorts last without
//! more ado. Whatever computes with decimals looks for it first. The infinities are in the sortable form alone: no `numeric(p, s)` has them.

use super::{MAX_SCALE, Numeric, Repr, power_of_ten};
use crate::args::{Bytes, Kind};
use crate::context::EvalContext;
use crate::error::{PgError, PgResult};
use crate::types::{SqlType, numeric_typmod_of};
use crate::values::{ValueBuilder, ValueWriter};
use arrow::array::{Array, ArrayRef, AsArray, BinaryViewArray, BinaryViewBuilder, Decimal128Array, Decimal128Builder};
use arrow::datatypes::{DataType, Decimal128Type};
use std::sync::Arc;
use stoa_encoding::valueside::DECIMAL_NAN;

/// How kernels read and write `numeric`: always as sortable bytes.
#[derive(Debug)]
pub struct NumericKind;

/// A column of sortable bytes under construction, with the space in which a value is encoded.
#[derive(Debug)]
pub struct NumericBuilder {
    values: BinaryViewBuilder,
    scratch: Vec<u8>,
}

impl NumericBuilder {
    #[must_use]
    pub fn with_capacity(rows: usize) -> Self {
        Self { values: BinaryViewBuilder::with_capacity(rows), scratch: Vec::with_capacity(32) }
    }

    pub fn append(&mut self, value: &Numeric) {
        self.scratch.clear();
        value.encode(&mut self.scratch);
        self.values.append_value(&self.scratch);
    }

    pub fn append_null(&mut self) {
        self.values.append_null();
    }

    #[must_use]
    pub fn finish(&mut self) -> ArrayRef {
        Arc::new(self.values.finish())
    }

    fn len(&self) -> usize {
        arrow::array::ArrayBuilder::len(&self.values)
    }
}

impl Kind for NumericKind {
    type In<'a> = Numeric;
    type Out = Numeric;
    type Column = BinaryViewArray;
    type Builder = NumericBuilder;
    fn open(array: &ArrayRef) -> PgResult<&BinaryViewArray> {
        Bytes::open(array)
    }
    #[inline]
    fn get(column: &BinaryViewArray, row: usize) -> PgResult<Numeric> {
        Numeric::decode(column.value(row))
    }
    fn builder(rows: usize) -> NumericBuilder {
        NumericBuilder::with_capacity(rows)
    }
    #[inline]
    fn push(builder: &mut NumericBuilder, value: Option<Numeric>) -> PgResult<()> {
        match value {
            Some(value) => builder.append(&value),
            None => builder.append_null(),
        }
        Ok(())
    }
    fn finish(mut builder: NumericBuilder, _: &SqlType) -> PgResult<ArrayRef> {
        Ok(builder.finish())
    }
}

/// 128-bit decimals as sortable bytes that show `scale` digits after the point (the scale of the decimals' type, where that is
/// not negative).
///
/// # Errors
/// XX000 if the array is not of 128-bit decimals.
pub fn decimal_to_numeric(array: &ArrayRef, scale: i8) -> PgResult<ArrayRef> {
    let decimals = decimals(array.as_ref())?;
    let mut out = NumericBuilder::with_capacity(decimals.len());
    for mantissa in decimals {
        match mantissa {
            Some(mantissa) => out.append(&of_decimal(mantissa, scale)),
            None => out.append_null(),
        }
    }
    Ok(out.finish())
}

/// Sortable bytes as 128-bit decimals, rounded to `scale` digits after the point.
///
/// # Errors
/// 22003 `numeric field overflow` for the infinities and numbers with more than `precision` digits.
pub fn numeric_to_decimal(array: &ArrayRef, precision: u8, scale: i8) -> PgResult<ArrayRef> {
    let column = Bytes::open(array)?;
    let mut out = decimal_builder(column.len(), precision, scale)?;
    for row in 0..column.len() {
        if column.is_null(row) {
            out.append_null();
        } else {
            out.append_value(to_decimal(&Numeric::decode(column.value(row))?, precision, scale)?);
        }
    }
    Ok(Arc::new(out.finish()))
}

/// 128-bit decimals rounded from one scale to another and checked against a precision.
///
/// # Errors
/// 22003 `numeric field overflow` for numbers with more than `precision` digits.
pub fn rescale_decimal(array: &ArrayRef, from_scale: i8, precision: u8, scale: i8) -> PgResult<ArrayRef> {
    let decimals = decimals(array.as_ref())?;
    let mut out = decimal_builder(decimals.len(), precision, scale)?;
    let limit = power_of_ten(u32::from(precision)).unwrap_or(i128::MAX);
    let step = i32::from(scale) - i32::from(from_scale);
    let power = power_of_ten(step.unsigned_abs());
    for value in decimals {
        let Some(value) = value else {
            out.append_null();
            continue;
        };
        let moved = match power {
            _ if value == DECIMAL_NAN => {
                out.append_value(DECIMAL_NAN);
                continue;
            }
            Some(power) if step >= 0 => value.checked_mul(power),
            Some(power) => Some(super::arithmetic::divide_rounded(value, power)),
            None => None,
        };
        match moved {
            Some(moved) if moved.unsigned_abs() < limit.unsigned_abs() => out.append_value(moved),
            _ => out.append_value(to_decimal(&of_decimal(value, from_scale), precision, scale)?),
        }
    }
    Ok(Arc::new(out.finish()))
}

/// One decimal of a scale that may be negative.
pub(crate) fn of_decimal(mantissa: i128, scale: i8) -> Numeric {
    match u16::try_from(scale) {
        _ if mantissa == DECIMAL_NAN => Numeric::NAN,
        Ok(scale) => Numeric::from_i128(mantissa, scale),
        Err(_) => Numeric::from_big(num_bigint::BigInt::from(mantissa) * super::big_power_of_ten(u32::from(scale.unsigned_abs())), 0)
            .unwrap_or(Numeric::NAN),
    }
}

/// One number as the mantissa of a 128-bit decimal.
pub(crate) fn to_decimal(value: &Numeric, precision: u8, scale: i8) -> PgResult<i128> {
    let fitted = value.apply_typmod(numeric_typmod_of(u16::from(precision), i32::from(scale)))?;
    match fitted.0 {
        Repr::NaN => Ok(DECIMAL_NAN),
        Repr::Small { mantissa, .. } if scale >= 0 => Ok(mantissa),
        Repr::Small { mantissa, .. } => Ok(mantissa / power_of_ten(u32::from(scale.unsigned_abs())).unwrap_or(1)),
        _ => Err(PgError::new(crate::SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "numeric field overflow")
            .detail(format!("A field with precision {precision}, scale {scale} cannot hold {value}."))),
    }
}

fn decimals(array: &dyn Array) -> PgResult<&Decimal128Array> {
    array
        .as_primitive_opt::<Decimal128Type>()
        .ok_or_else(|| PgError::internal(format!("expected 128-bit decimals, found {}", array.data_type())))
}

fn decimal_builder(rows: usize, precision: u8, scale: i8) -> PgResult<Decimal128Builder> {
    Ok(Decimal128Builder::with_capacity(rows).with_precision_and_scale(precision, scale)?)
}

/// Writes a column of numerics in either form.
pub fn writer<'a>(_ctx: &'a EvalContext, _ty: &SqlType, array: &'a dyn Array) -> PgResult<Box<dyn ValueWriter + 'a>> {
    Ok(match array.data_type() {
        DataType::Decimal128(_, scale) => Box::new(DecimalWriter { column: decimals(array)?, scale: *scale }),
        _ => Box::new(NumericWriter {
            column: array.as_binary_view_opt().ok_or_else(|| PgError::internal(format!("numeric as {}", array.data_type())))?,
        }),
    })
}

struct NumericWriter<'a> {
    column: &'a BinaryViewArray,
}

impl ValueWriter for NumericWriter<'_> {
    fn text(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        Numeric::decode(self.column.value(row))?.write_text(out);
        Ok(())
    }

    fn binary(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        Numeric::decode(self.column.value(row))?.write_binary(out);
        Ok(())
    }
}

struct DecimalWriter<'a> {
    column: &'a Decimal128Array,
    scale: i8,
}

impl ValueWriter for DecimalWriter<'_> {
    fn text(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        of_decimal(self.column.value(row), self.scale).write_text(out);
        Ok(())
    }

    fn binary(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        of_decimal(self.column.value(row), self.scale).write_binary(out);
        Ok(())
    }
}

/// Builds a column of numerics in the form that the type says.
pub fn builder(ty: &SqlType) -> PgResult<Box<dyn ValueBuilder>> {
    Ok(match ty.decimal_parts() {
        Some((precision, scale)) => {
            Box::new(DecimalTextBuilder { values: decimal_builder(0, precision, scale)?, precision, scale, typmod: ty.typmod })
        }
        None => Box::new(NumericTextBuilder { values: NumericBuilder::with_capacity(0), typmod: ty.typmod }),
    })
}

struct NumericTextBuilder {
    values: NumericBuilder,
    typmod: i32,
}

impl ValueBuilder for NumericTextBuilder {
    fn text(&mut self, _: &EvalContext, value: &str) -> PgResult<()> {
        self.values.append(&Numeric::parse(value)?.apply_typmod(self.typmod)?);
        Ok(())
    }

    fn binary(&mut self, _: &EvalContext, value: &[u8]) -> PgResult<()> {
        self.values.append(&Numeric::from_binary(value)?.apply_typmod(self.typmod)?);
        Ok(())
    }

    fn null(&mut self) {
        self.values.append_null();
    }

    fn len(&self) -> usize {
        self.values.len()
    }

    fn finish(&mut self) -> PgResult<ArrayRef> {
        Ok(self.values.finish())
    }
}

struct DecimalTextBuilder {
    values: Decimal128Builder,
    precision: u8,
    scale: i8,
    typmod: i32,
}

impl DecimalTextBuilder {
    fn append(&mut self, value: &Numeric) -> PgResult<()> {
        let value = value.apply_typmod(self.typmod)?;
        self.values.append_value(to_decimal(&value, self.precision, self.scale)?);
        Ok(())
    }
}

/// A number in digits that needs no rounding and fits, as a decimal; `None` for all others.
fn plain_decimal(text: &str, precision: u8, scale: i8) -> Option<i128> {
    /// With as many, and the zeros behind them, nothing overflows.
    const MOST_DIGITS: usize = 18;
    let (negative, digits) = match text.as_bytes() {
        [b'-', rest @ ..] => (true, rest),
        all => (false, all),
    };
    let (mut mantissa, mut fraction, mut count) = (0u64, None, 0);
    for byte in digits {
        match byte {
            b'0'..=b'9' => {
                mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
                count += 1;
                fraction = fraction.map(|n: u32| n + 1);
            }
            b'.' if fraction.is_none() => fraction = Some(0),
            _ => return None,
        }
    }
    let missing = u32::try_from(scale).ok()?.checked_sub(fraction.unwrap_or(0))?;
    if count == 0 || count > MOST_DIGITS || missing as usize > MOST_DIGITS {
        return None;
    }
    let value = i128::from(mantissa) * i128::from(10u64.pow(missing));
    let fits = value < 10i128.checked_pow(u32::from(precision))?;
    fits.then_some(if negative { -value } else { value })
}

impl ValueBuilder for DecimalTextBuilder {
    fn text(&mut self, _: &EvalContext, value: &str) -> PgResult<()> {
        if let Some(value) = plain_decimal(value, self.precision, self.scale) {
            self.values.append_value(value);
            return Ok(());
        }
        self.append(&Numeric::parse(value)?)
    }

    fn binary(&mut self, _: &EvalContext, value: &[u8]) -> PgResult<()> {
        self.append(&Numeric::from_binary(value)?)
    }

    fn null(&mut self) {
        self.values.append_null();
    }

    fn len(&self) -> usize {
        arrow::array::ArrayBuilder::len(&self.values)
    }

    fn finish(&mut self) -> PgResult<ArrayRef> {
        let parts = (self.precision, self.scale);
        let array = self.values.finish();
        self.values = decimal_builder(0, parts.0, parts.1)?;
        Ok(Arc::new(array))
    }
}

const _: () = assert!(MAX_SCALE <= u16::MAX as u32);

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use crate::types::PgType;

    #[test]
    fn the_short_way_to_decimals_gives_what_the_long_one_gives() {
        let mut taken = 0;
        for (precision, scale) in [(15u16, 2i32), (5, 0), (5, 5), (38, 10), (3, 2)] {
            let ty = SqlType::with_typmod(PgType::Numeric, numeric_typmod_of(precision, scale));
            let Some((p, s)) = ty.decimal_parts() else { panic!("no decimal: {ty}") };
            for text in [
                "0",
                "-0",
                "1",
                "-1",
                "7.5",
                "-7.25",
                "0.00",
                "00012.30",
                ".5",
                "5.",
                ".",
                "-",
                "",
                "12345",
                "99999",
                "100000",
                "9.99",
                "9.999",
                "10.00",
                "-9.99",
                "-10",
                "1e2",
                "+3",
                " 3",
                "3 ",
                "1_000",
                "NaN",
                "123456789012345678",
                "1234567890123456789",
                "1.2.3",
                "0.000001",
                "--1",
            ] {
                let long = Numeric::parse(text).and_then(|n| to_decimal(&n.apply_typmod(ty.typmod)?, p, s));
                if let Some(short) = plain_decimal(text, p, s) {
                    taken += 1;
                    assert_eq!(short, long.unwrap(), "{text} as numeric({precision},{scale})");
                }
            }
        }
        assert!(taken > 40, "{taken}");
    }
}
