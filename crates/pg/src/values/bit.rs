//! Values: bit and bit varying. They travel as the text of their digits, whose order and equality are those of bit strings.
//!
//! Invariant: every value is made of `0` and `1` alone. What is done with such values is in [`crate::operators::bit`].

use super::{ValueBuilder, ValueWriter, bad_binary, open, short_binary};
use crate::args::{Kernel, Kind, Reader, Text, arg};
use crate::context::EvalContext;
use crate::error::{PgError, PgResult};
use crate::memory::{SMALL_BYTES, process};
use crate::sqlstate::SqlState;
use crate::types::{PgType, SqlType};
use arrow::array::{Array, ArrayRef, StringViewArray, StringViewBuilder};
use std::borrow::Cow;
use std::sync::Arc;

/// Writes a column of a type of this file.
pub fn writer<'a>(ty: &SqlType, array: &'a dyn Array) -> PgResult<Box<dyn ValueWriter + 'a>> {
    Ok(Box::new(Writer { column: open(array, ty)? }))
}

/// Builds a column of a type of this file.
#[must_use]
pub fn builder(ty: &SqlType) -> Box<dyn ValueBuilder> {
    Box::new(Builder { length: Length::of(ty), out: Text::builder(0), len: 0 })
}

/// What the modifier of `ty` asks of bit strings; `None` where it asks nothing. With `explicit` they are cut, and filled with zeros.
#[must_use]
pub fn apply_typmod(ty: &SqlType, explicit: bool) -> Option<Kernel> {
    let length = Length::of(ty);
    if matches!(length, Length::Free) {
        return None;
    }
    Some(Arc::new(move |call, args| {
        let input = Reader::<Text>::new(arg(args, 0)?)?;
        let mut out = StringViewBuilder::with_capacity(call.rows);
        for row in 0..call.rows {
            match input.get(row)? {
                Some(value) => out.append_value(length.fit(value, explicit)?),
                None => out.append_null(),
            }
        }
        Text::finish(out, call.ret)
    }))
}

/// The modifier of a type with this length.
///
/// # Errors
/// 22023 for one that no bit string has.
pub fn bit_typmod(ty: &PgType, length: i64) -> PgResult<i32> {
    const MAX: i64 = 83_886_080;
    let invalid = |what: String| PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("length for type {} {what}", ty.name()));
    match i32::try_from(length) {
        _ if length < 1 => Err(invalid("must be at least 1".into())),
        Ok(typmod) if length <= MAX => Ok(typmod),
        _ => Err(invalid(format!("cannot exceed {MAX}"))),
    }
}

/// Before a text of this many digits is made.
///
/// # Errors
/// 53200.
pub(crate) fn claim(digits: usize) -> PgResult<()> {
    if digits >= SMALL_BYTES { process().claim(digits) } else { Ok(()) }
}

/// How many digits a type's values have.
#[derive(Clone, Copy, Debug)]
enum Length {
    Free,
    /// `bit(n)`.
    Exactly(usize),
    /// `bit varying(n)`.
    AtMost(usize),
}

impl Length {
    fn of(ty: &SqlType) -> Length {
        match (&ty.ty, usize::try_from(ty.typmod)) {
            (PgType::Bit, Ok(n)) if n > 0 => Length::Exactly(n),
            (PgType::Varbit, Ok(n)) if n > 0 => Length::AtMost(n),
            _ => Length::Free,
        }
    }

    /// The digits as the type keeps them.
    ///
    /// # Errors
    /// 22026 and 22001 for another length, unless `explicit` allows for it.
    fn fit(self, digits: &str, explicit: bool) -> PgResult<Cow<'_, str>> {
        match self {
            Length::Exactly(n) if digits.len() != n => {
                if !explicit {
                    let message = format!("bit string length {} does not match type bit({n})", digits.len());
                    return Err(PgError::new(SqlState::STRING_DATA_LENGTH_MISMATCH, message));
                }
                match digits.get(..n) {
                    Some(kept) => Ok(kept.into()),
                    None => {
                        claim(n)?;
                        Ok(format!("{digits:0<n$}").into())
                    }
                }
            }
            Length::AtMost(n) if digits.len() > n => {
                if !explicit {
                    let message = format!("bit string too long for type bit varying({n})");
                    return Err(PgError::new(SqlState::STRING_DATA_RIGHT_TRUNCATION, message));
                }
                Ok(digits.get(..n).unwrap_or(digits).into())
            }
            _ => Ok(digits.into()),
        }
    }
}

/// The digits that a text means: binary ones, behind a `b` or by themselves, or hexadecimal ones behind an `x`.
///
/// # Errors
/// 22P02 for what is no digit.
pub fn digits(text: &str) -> PgResult<Cow<'_, str>> {
    let invalid = |c: char, kind: &str| PgError::new(SqlState::INVALID_TEXT_REPRESENTATION, format!("\"{c}\" is not a valid {kind} digit"));
    if let Some(hex) = text.strip_prefix(['x', 'X']) {
        claim(hex.len().saturating_mul(4))?;
        let mut out = String::with_capacity(hex.len().saturating_mul(4));
        for c in hex.chars() {
            let value = c.to_digit(16).ok_or_else(|| invalid(c, "hexadecimal"))?;
            out.push_str(&format!("{value:04b}"));
        }
        return Ok(out.into());
    }
    let binary = text.strip_prefix(['b', 'B']).unwrap_or(text);
    match binary.chars().find(|c| !matches!(c, '0' | '1')) {
        Some(c) => Err(invalid(c, "binary")),
        None => Ok(binary.into()),
    }
}

/// The digits as bytes, the first one in the highest bit, with zeros behind the last.
fn packed(digits: &[u8]) -> impl Iterator<Item = u8> + '_ {
    digits.chunks(8).map(|eight| eight.iter().enumerate().fold(0, |byte, (at, digit)| byte | (digit & 1) << (7 - at)))
}

struct Writer<'a> {
    column: &'a StringViewArray,
}

impl ValueWriter for Writer<'_> {
    fn text(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        out.extend_from_slice(self.column.value(row).as_bytes());
        Ok(())
    }

    fn binary(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        let digits = self.column.value(row).as_bytes();
        out.extend((digits.len() as i32).to_be_bytes());
        out.extend(packed(digits));
        Ok(())
    }
}

struct Builder {
    length: Length,
    out: StringViewBuilder,
    len: usize,
}

impl ValueBuilder for Builder {
    fn text(&mut self, _: &EvalContext, value: &str) -> PgResult<()> {
        self.out.append_value(self.length.fit(&digits(value)?, false)?);
        self.len += 1;
        Ok(())
    }

    fn binary(&mut self, _: &EvalContext, value: &[u8]) -> PgResult<()> {
        let (count, bytes) = value.split_first_chunk::<4>().ok_or_else(short_binary)?;
        let count = usize::try_from(i32::from_be_bytes(*count))
            .map_err(|_| PgError::new(SqlState::INVALID_BINARY_REPRESENTATION, "invalid length in external bit string"))?;
        match bytes.len().cmp(&count.div_ceil(8)) {
            std::cmp::Ordering::Less => return Err(short_binary()),
            std::cmp::Ordering::Greater => return Err(bad_binary()),
            std::cmp::Ordering::Equal => {}
        }
        claim(count)?;
        let bit = |at: usize| bytes.get(at / 8).is_some_and(|byte| byte >> (7 - at % 8) & 1 == 1);
        let digits: String = (0..count).map(|at| if bit(at) { '1' } else { '0' }).collect();
        self.out.append_value(self.length.fit(&digits, false)?);
        self.len += 1;
        Ok(())
    }

    fn null(&mut self) {
        self.out.append_null();
        self.len += 1;
    }

    fn len(&self) -> usize {
        self.len
    }

    fn finish(&mut self) -> PgResult<ArrayRef> {
        self.len = 0;
        Ok(Arc::new(self.out.finish()))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use crate::values::{input_binary, input_text, output_text};

    #[test]
    fn texts_of_bits_are_read_and_fitted() {
        let ctx = EvalContext::default();
        let read = |ty: &SqlType, text: &str| output_text(&ctx, ty, &input_text(&ctx, ty, text)?);
        let bits = SqlType::new(PgType::Bit);
        for (text, shown) in [("101", "101"), ("b01", "01"), ("X1f", "00011111"), ("", ""), ("x", "")] {
            assert_eq!(read(&bits, text).unwrap(), shown, "{text}");
        }
        for (text, message) in [("2", "\"2\" is not a valid binary digit"), ("x1g", "\"g\" is not a valid hexadecimal digit")] {
            assert_eq!(read(&bits, text).unwrap_err().message(), message);
        }
        assert_eq!(read(&SqlType::with_typmod(PgType::Bit, 3), "10").unwrap_err().code().as_str(), "22026");
        assert_eq!(read(&SqlType::with_typmod(PgType::Varbit, 3), "1010").unwrap_err().code().as_str(), "22001");
        assert_eq!(read(&SqlType::with_typmod(PgType::Varbit, 3), "10").unwrap(), "10");
        assert_eq!(Length::Exactly(4).fit("10", true).unwrap(), "1000");
        assert_eq!(Length::Exactly(1).fit("10", true).unwrap(), "1");
    }

    #[test]
    fn binary_forms_have_the_number_of_bits_before_them() {
        let ctx = EvalContext::default();
        let ty = SqlType::new(PgType::Varbit);
        let value = input_text(&ctx, &ty, "1010000011").unwrap().to_array().unwrap();
        let mut out = Vec::new();
        writer(&ty, value.as_ref()).unwrap().binary(0, &mut out).unwrap();
        assert_eq!(out, [0, 0, 0, 10, 0b1010_0000, 0b1100_0000]);
        assert_eq!(output_text(&ctx, &ty, &input_binary(&ctx, &ty, &out).unwrap()).unwrap(), "1010000011");
        for (bytes, code) in [(&out[..5], "08P01"), (&[255, 255, 255, 255][..], "22P03"), (&[0, 0, 0, 1, 0, 0][..], "22P03")] {
            assert_eq!(input_binary(&ctx, &ty, bytes).unwrap_err().code().as_str(), code);
        }
    }
}
