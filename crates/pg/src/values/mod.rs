//! Values of each type: text in and out, binary in and out, and the order of those whose order is not Arrow's.
//!
//! Wire, COPY, casts through text, and literals all come here. [`writer`] and [`builder`] resolve type and column once; the
//! per-value work is one call. [`sort_key`] gives bytes that sort and compare as PostgreSQL's values do.
//!
//! A file here is a family of types and offers `writer(ctx, ty, array)` and `builder(ty)` for them, of the shapes below. What a
//! modifier does to values is in [`apply_typmod`].

use crate::args::{Kernel, Time, Timestamp, strict1};
use crate::context::EvalContext;
use crate::error::{PgError, PgResult};
use crate::types::{PgType, SqlType};
use arrow::array::{Array, ArrayRef};
use arrow::datatypes::DataType;
use datafusion_common::ScalarValue;

pub mod acl;
pub mod array;
pub mod bit;
pub mod datetime;
pub mod element_order;
pub mod interval;
pub mod json;
pub mod map;
pub mod number;
pub mod numeric;
pub mod object;
pub mod record;
pub mod sort;
pub mod string;
pub mod textsearch;
pub mod timezone;
pub mod type_name;

pub use sort::{KeyWriter, compare_rows, key_writer, sort_key};
pub use type_name::parse_type_name;

/// Writes values of one column, by row.
pub trait ValueWriter {
    /// Appends the text form of a value that is not NULL.
    fn text(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()>;
    /// Appends the binary form (without length) of a value that is not NULL.
    fn binary(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()>;
}

/// Builds a column from text or binary forms.
pub trait ValueBuilder: Send {
    /// Appends a value from its text form, with the target's modifier applied as an assignment does.
    fn text(&mut self, ctx: &EvalContext, value: &str) -> PgResult<()>;
    /// Appends a value from its binary form.
    fn binary(&mut self, ctx: &EvalContext, value: &[u8]) -> PgResult<()>;
    fn null(&mut self);
    fn len(&self) -> usize;
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The column so far; the builder is empty afterwards.
    fn finish(&mut self) -> PgResult<ArrayRef>;
}

/// What writes the values of a column of type `ty`.
///
/// # Errors
/// 0A000 for types whose values have no text, XX000 when the column is not of the type.
pub fn writer<'a>(ctx: &'a EvalContext, ty: &SqlType, array: &'a dyn Array) -> PgResult<Box<dyn ValueWriter + 'a>> {
    // A column of nothing but NULLs has nothing to write, whatever its type.
    if *array.data_type() == DataType::Null || (ty.ty == PgType::Record(None) && array.null_count() == array.len()) {
        return Ok(Box::new(NoValues));
    }
    match &ty.ty {
        PgType::Bool | PgType::Int2 | PgType::Int4 | PgType::Int8 | PgType::Float4 | PgType::Float8 => number::writer(ctx, ty, array),
        PgType::Numeric => numeric::writer(ctx, ty, array),
        PgType::Text | PgType::Varchar | PgType::Bpchar | PgType::Name | PgType::Char | PgType::Unknown | PgType::Cstring => {
            string::writer(ctx, ty, array)
        }
        PgType::Bytea | PgType::Uuid => string::writer(ctx, ty, array),
        PgType::Date | PgType::Time | PgType::Timetz | PgType::Timestamp | PgType::Timestamptz => datetime::writer(ctx, ty, array),
        PgType::Interval => interval::writer(ctx, ty, array),
        PgType::Json | PgType::Jsonb | PgType::Jsonpath => json::writer(ctx, ty, array),
        PgType::Tsvector | PgType::Tsquery => textsearch::writer(ty, array),
        PgType::Aclitem | PgType::PgNodeTree => acl::writer(ty, array),
        PgType::Bit | PgType::Varbit => bit::writer(ty, array),
        ty_ if ty_.is_oid_like() => object::writer(ctx, ty, array),
        PgType::Array(_) | PgType::Int2Vector | PgType::OidVector => array::writer(ctx, ty, array),
        PgType::Record(_) => record::writer(ctx, ty, array),
        PgType::Map(key, value) => map::writer(ctx, (key, value), open(array, ty)?),
        // The one value of this type is written as an empty text, and travels as one.
        PgType::Void => string::writer(ctx, &SqlType::new(PgType::Text), array),
        _ => Err(PgError::unsupported(format!("cannot display a value of type {ty}"))),
    }
}

/// What builds a column of type `ty`.
///
/// # Errors
/// 0A000 for types that have no input.
pub fn builder(ty: &SqlType) -> PgResult<Box<dyn ValueBuilder>> {
    match &ty.ty {
        PgType::Bool | PgType::Int2 | PgType::Int4 | PgType::Int8 | PgType::Float4 | PgType::Float8 => number::builder(ty),
        PgType::Numeric => numeric::builder(ty),
        PgType::Text | PgType::Varchar | PgType::Bpchar | PgType::Name | PgType::Char | PgType::Unknown | PgType::Cstring => {
            string::builder(ty)
        }
        PgType::Bytea | PgType::Uuid => string::builder(ty),
        PgType::Date | PgType::Time | PgType::Timetz | PgType::Timestamp | PgType::Timestamptz => datetime::builder(ty),
        PgType::Interval => interval::builder(ty),
        PgType::Json | PgType::Jsonb | PgType::Jsonpath => json::builder(ty),
        PgType::Tsvector | PgType::Tsquery => Ok(textsearch::builder(ty)),
        PgType::Aclitem => Ok(acl::builder()),
        PgType::Bit | PgType::Varbit => Ok(bit::builder(ty)),
        ty_ if ty_.is_oid_like() => object::builder(ty),
        PgType::Array(_) | PgType::Int2Vector | PgType::OidVector => array::builder(ty),
        PgType::Record(_) => record::builder(ty),
        PgType::Map(key, value) => map::builder(ty, (key, value)),
        _ => Err(PgError::unsupported(format!("cannot accept a value of type {ty}"))),
    }
}

/// One value from its text form.
pub fn input_text(ctx: &EvalContext, ty: &SqlType, text: &str) -> PgResult<ScalarValue> {
    let mut values = builder(ty)?;
    values.text(ctx, text)?;
    scalar(&values.finish()?)
}

/// One value from its binary form.
pub fn input_binary(ctx: &EvalContext, ty: &SqlType, bytes: &[u8]) -> PgResult<ScalarValue> {
    let mut values = builder(ty)?;
    values.binary(ctx, bytes)?;
    scalar(&values.finish()?)
}

/// The text form of one value; of NULL, the empty string.
pub fn output_text(ctx: &EvalContext, ty: &SqlType, value: &ScalarValue) -> PgResult<String> {
    if value.is_null() {
        return Ok(String::new());
    }
    let array = value.to_array().map_err(|error| PgError::internal(error.to_string()))?;
    let mut out = Vec::new();
    writer(ctx, ty, array.as_ref())?.text(0, &mut out)?;
    text_of(out)
}

/// The bytes that a writer wrote, as a string.
pub(crate) fn text_of(bytes: Vec<u8>) -> PgResult<String> {
    String::from_utf8(bytes).map_err(|_| PgError::internal("a text form that is not UTF-8"))
}

/// The first row of an array.
fn scalar(array: &ArrayRef) -> PgResult<ScalarValue> {
    ScalarValue::try_from_array(array, 0).map_err(|error| PgError::internal(error.to_string()))
}

/// The coercion that the modifier of `ty` asks of values that have the type without one: lengths of strings, scales of numerics,
/// precisions of times. `None` where there is nothing to do. With `explicit`, strings are cut silently.
#[must_use]
pub fn apply_typmod(ty: &SqlType, explicit: bool) -> Option<Kernel> {
    let typmod = ty.typmod;
    if typmod < 0 {
        return None;
    }
    match ty.ty {
        PgType::Varchar | PgType::Bpchar => string::apply_typmod(ty, explicit),
        PgType::Bit | PgType::Varbit => bit::apply_typmod(ty, explicit),
        PgType::Numeric => number::apply_typmod(ty),
        PgType::Time => Some(strict1::<Time, Time>(move |_, micros| Ok(datetime::round_time(micros, typmod)))),
        PgType::Timetz => Some(strict1::<datetime::TimeTzKind, datetime::TimeTzKind>(move |_, time| {
            Ok(datetime::TimeTz { micros: datetime::round_time(time.micros, typmod), ..time })
        })),
        PgType::Timestamp | PgType::Timestamptz => {
            Some(strict1::<Timestamp, Timestamp>(move |_, t| Ok(datetime::round_timestamp(t, typmod))))
        }
        PgType::Interval => {
            Some(strict1::<interval::IntervalKind, interval::IntervalKind>(move |_, value| interval::apply_typmod(value, typmod)))
        }
        _ => None,
    }
}

/// Writes the only value of void.
struct NoValues;

impl ValueWriter for NoValues {
    fn text(&self, _: usize, _: &mut Vec<u8>) -> PgResult<()> {
        Ok(())
    }

    fn binary(&self, _: usize, _: &mut Vec<u8>) -> PgResult<()> {
        Ok(())
    }
}

/// A binary form of fixed width.
///
/// # Errors
/// 08P01 for too few bytes, 22P03 for more.
pub(crate) fn fixed_width<const N: usize>(value: &[u8]) -> PgResult<[u8; N]> {
    match value.split_first_chunk::<N>() {
        Some((bytes, [])) => Ok(*bytes),
        Some(_) => Err(bad_binary()),
        None => Err(short_binary()),
    }
}

/// For bytes that follow a whole value.
pub(crate) fn bad_binary() -> PgError {
    PgError::new(crate::SqlState::INVALID_BINARY_REPRESENTATION, "incorrect binary data format")
}

/// For a value whose bytes end before it does.
pub(crate) fn short_binary() -> PgError {
    PgError::new(crate::SqlState::PROTOCOL_VIOLATION, "insufficient data left in message")
}

/// A column as its concrete Arrow array.
pub(crate) fn open<'a, T: 'static>(array: &'a dyn Array, ty: &SqlType) -> PgResult<&'a T> {
    array.as_any().downcast_ref::<T>().ok_or_else(|| PgError::internal(format!("a column of type {ty} came as {}", array.data_type())))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    /// The binary form of a value as PostgreSQL sends it.
    fn binary_of(ty: &SqlType, text: &str) -> Vec<u8> {
        let ctx = EvalContext::default();
        let array = input_text(&ctx, ty, text).unwrap().to_array().unwrap();
        let mut out = Vec::new();
        writer(&ctx, ty, array.as_ref()).unwrap().binary(0, &mut out).unwrap();
        out
    }

    #[test]
    fn binary_forms_are_neither_shorter_nor_longer() {
        let ctx = EvalContext::default();
        for (ty, text) in [
            (PgType::Bool, "t"),
            (PgType::Int2, "7"),
            (PgType::Int4, "7"),
            (PgType::Int8, "7"),
            (PgType::Float4, "1.5"),
            (PgType::Float8, "1.5"),
            (PgType::Numeric, "-12345.678"),
            (PgType::Numeric, "NaN"),
            (PgType::Oid, "16384"),
            (PgType::Uuid, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
            (PgType::Date, "2024-02-29"),
            (PgType::Time, "12:00"),
            (PgType::Timetz, "12:00+02"),
            (PgType::Timestamptz, "2024-02-29 12:00+00"),
            (PgType::Interval, "1 mon 2 days 03:04:05"),
            (PgType::Char, "a"),
            (PgType::Char, ""),
        ] {
            let ty = SqlType::new(ty);
            let whole = binary_of(&ty, text);
            assert_eq!(input_binary(&ctx, &ty, &whole).unwrap(), input_text(&ctx, &ty, text).unwrap(), "{text}");
            let refused = |bytes: &[u8]| input_binary(&ctx, &ty, bytes).unwrap_err().code().to_string();
            for length in 0..whole.len() {
                assert_eq!(refused(&whole[..length]), "08P01", "{text}: {length} bytes");
            }
            assert_eq!(refused(&[whole.as_slice(), &[0]].concat()), "22P03", "{text}");
        }
    }

    #[test]
    fn a_character_of_nothing_is_a_zero_byte() {
        assert_eq!(binary_of(&SqlType::new(PgType::Char), ""), [0]);
        assert!(binary_of(&SqlType::new(PgType::Text), "").is_empty());
    }
}
