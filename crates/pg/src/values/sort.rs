//! Bytes that sort, compare and are equal as PostgreSQL's values are, for types where Arrow's order is another.
//!
//! Numerics: 1.0 = 1.00. Blanks at the end of `character` do not count. Floats: −0 = 0, NaN = NaN and last. Intervals: 30 days = 1 month. Arrays and records compare field by field,
//! NULL after everything; shorter arrays before longer, then by dimensions and lower bounds. Every form is prefix-free, so that forms can follow one
//! another in a larger one.

use super::array::{ArrayColumn, element_type, elements_of};
use super::{json, numeric, open, record};
use crate::error::{PgError, PgResult};
use crate::sqlstate::SqlState;
use crate::types::{PgType, SqlType};
use arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, BinaryViewBuilder, BooleanArray, Decimal128Array, FixedSizeBinaryArray, MapArray,
    StringViewArray, StructArray,
};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Date32Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type, IntervalMonthDayNanoType,
    Time64MicrosecondType, TimestampMicrosecondType, UInt32Type,
};
use std::cmp::Ordering;
use std::sync::Arc;

/// Writes a value's bytes, by row.
pub trait KeyWriter {
    /// Appends the bytes of a value that is not NULL.
    fn write(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()>;
}

/// The column by which values of type `ty` sort, group, join and are distinguished: the array itself where Arrow's order is
/// PostgreSQL's ([`SqlType::has_native_order`]), else binary views. NULL stays NULL.
///
/// # Errors
/// 42883 for types without an order (json).
pub fn sort_key(ty: &SqlType, array: &ArrayRef) -> PgResult<ArrayRef> {
    if ty.has_native_order() || *array.data_type() == DataType::Null {
        return Ok(Arc::clone(array));
    }
    let mut out = BinaryViewBuilder::with_capacity(array.len());
    if ty.ty == PgType::Numeric {
        // The stored bytes without the scale.
        let column: &BinaryViewArray = open(array.as_ref(), ty)?;
        for value in column {
            out.append_option(value.map(without_scale));
        }
        return Ok(Arc::new(out.finish()));
    }
    if ty.keeps_blanks() {
        let column: &StringViewArray = open(array.as_ref(), ty)?;
        for value in column {
            out.append_option(value.map(without_blanks));
        }
        return Ok(Arc::new(out.finish()));
    }
    let writer = key_writer(ty, array.as_ref())?;
    let views = array.as_any().downcast_ref::<BinaryViewArray>().map_or(&[][..], |column| column.views());
    let (mut scratch, mut last) = (Vec::new(), None);
    for row in 0..array.len() {
        if array.is_null(row) {
            out.append_null();
            continue;
        }
        // A join repeats values: neighbours that are the same bytes in memory have one key.
        let view = views.get(row);
        if view.is_none() || view != last {
            scratch.clear();
            writer.write(row, &mut scratch)?;
            last = view;
        }
        out.append_value(&scratch);
    }
    Ok(Arc::new(out.finish()))
}

/// Compares two values of one type, neither NULL.
///
/// # Errors
/// 42883 for types without an order (json).
pub fn compare_rows(ty: &SqlType, left: &ArrayRef, left_row: usize, right: &ArrayRef, right_row: usize) -> PgResult<Ordering> {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    key_writer(ty, left.as_ref())?.write(left_row, &mut a)?;
    key_writer(ty, right.as_ref())?.write(right_row, &mut b)?;
    Ok(a.cmp(&b))
}

/// Types whose key is the text that carries them.
fn is_text(ty: &PgType) -> bool {
    matches!(ty, PgType::Text | PgType::Varchar | PgType::Name | PgType::Char)
        || matches!(ty, PgType::Unknown | PgType::Aclitem | PgType::PgNodeTree | PgType::Bit | PgType::Varbit)
}

/// What writes the sortable bytes of a column, for every type that has an order.
///
/// # Errors
/// 42883 for types without an order (json).
pub fn key_writer<'a>(ty: &SqlType, array: &'a dyn Array) -> PgResult<Box<dyn KeyWriter + 'a>> {
    fn primitive<'a, T: ArrowPrimitiveType>(
        array: &'a dyn Array,
        ty: &SqlType,
        write: impl Fn(T::Native, &mut Vec<u8>) + 'a,
    ) -> PgResult<Box<dyn KeyWriter + 'a>> {
        let column = array
            .as_primitive_opt::<T>()
            .ok_or_else(|| PgError::internal(format!("a column of type {ty} came as {}", array.data_type())))?;
        Ok(key(move |row, out| {
            write(column.value(row), out);
            Ok(())
        }))
    }
    if *array.data_type() == DataType::Null {
        return Ok(key(|_, _| Ok(())));
    }
    match &ty.ty {
        PgType::Bool => {
            let column: &BooleanArray = open(array, ty)?;
            Ok(key(move |row, out| {
                out.push(u8::from(column.value(row)));
                Ok(())
            }))
        }
        PgType::Int2 => primitive::<Int16Type>(array, ty, |v, out| out.extend((v ^ i16::MIN).to_be_bytes())),
        PgType::Int4 => primitive::<Int32Type>(array, ty, |v, out| out.extend((v ^ i32::MIN).to_be_bytes())),
        PgType::Int8 => primitive::<Int64Type>(array, ty, |v, out| out.extend((v ^ i64::MIN).to_be_bytes())),
        PgType::Float4 => primitive::<Float32Type>(array, ty, |v, out| out.extend(float4_bits(v).to_be_bytes())),
        PgType::Float8 => primitive::<Float64Type>(array, ty, |v, out| out.extend(float8_bits(v).to_be_bytes())),
        PgType::Date => primitive::<Date32Type>(array, ty, |v, out| out.extend((v ^ i32::MIN).to_be_bytes())),
        PgType::Time => primitive::<Time64MicrosecondType>(array, ty, |v, out| out.extend((v ^ i64::MIN).to_be_bytes())),
        PgType::Timestamp | PgType::Timestamptz => {
            primitive::<TimestampMicrosecondType>(array, ty, |v, out| out.extend((v ^ i64::MIN).to_be_bytes()))
        }
        PgType::Interval => primitive::<IntervalMonthDayNanoType>(array, ty, |v, out| {
            out.extend((super::interval::interval_sort_value(v) ^ i128::MIN).to_be_bytes());
        }),
        ty_ if ty_.is_oid_like() => primitive::<UInt32Type>(array, ty, |v, out| out.extend(v.to_be_bytes())),
        PgType::Numeric => match array.data_type() {
            DataType::Decimal128(_, scale) => {
                let (column, scale): (&Decimal128Array, i8) = (open(array, ty)?, *scale);
                Ok(key(move |row, out| {
                    numeric::column::of_decimal(column.value(row), scale).encode(out);
                    out.truncate(out.len() - 2);
                    Ok(())
                }))
            }
            _ => {
                let column: &BinaryViewArray = open(array, ty)?;
                Ok(key(move |row, out| {
                    out.extend_from_slice(without_scale(column.value(row)));
                    Ok(())
                }))
            }
        },
        PgType::Bytea => {
            let column: &BinaryViewArray = open(array, ty)?;
            Ok(key(move |row, out| {
                escape(column.value(row), out);
                Ok(())
            }))
        }
        PgType::Jsonb => {
            let column: &BinaryViewArray = open(array, ty)?;
            Ok(key(move |row, out| {
                let mut bytes = Vec::new();
                json::sort_key_bytes(column.value(row), &mut bytes);
                escape(&bytes, out);
                Ok(())
            }))
        }
        PgType::Uuid | PgType::Timetz => {
            let column: &FixedSizeBinaryArray = open(array, ty)?;
            Ok(key(move |row, out| {
                out.extend_from_slice(column.value(row));
                Ok(())
            }))
        }
        PgType::Bpchar => {
            let column: &StringViewArray = open(array, ty)?;
            Ok(key(move |row, out| {
                escape(without_blanks(column.value(row)), out);
                Ok(())
            }))
        }
        ty_ if is_text(ty_) => {
            let column: &StringViewArray = open(array, ty)?;
            Ok(key(move |row, out| {
                escape(column.value(row).as_bytes(), out);
                Ok(())
            }))
        }
        PgType::Array(_) | PgType::Int2Vector | PgType::OidVector => array_key(ty, array),
        PgType::Record(_) => {
            let column: &StructArray = open(array, ty)?;
            let fields = record::field_types(ty, column)
                .iter()
                .zip(column.columns())
                .map(|(ty, column)| Ok((column, key_writer(ty, column.as_ref())?)))
                .collect::<PgResult<Vec<_>>>()?;
            Ok(key(move |row, out| {
                for (column, writer) in &fields {
                    if column.is_null(row) {
                        out.push(NULL);
                    } else {
                        out.push(VALUE);
                        writer.write(row, out)?;
                    }
                }
                Ok(())
            }))
        }
        PgType::Map(key_type, value_type) => map_key(key_type, value_type, open(array, ty)?),
        _ => Err(PgError::new(SqlState::UNDEFINED_FUNCTION, format!("could not identify an ordering operator for type {ty}"))
            .hint("Use an explicit ordering operator or modify the query.")),
    }
}

const END: u8 = 0;
const VALUE: u8 = 1;
const NULL: u8 = 2;

fn key<'a>(write: impl Fn(usize, &mut Vec<u8>) -> PgResult<()> + 'a) -> Box<dyn KeyWriter + 'a> {
    struct Key<F>(F);
    impl<F: Fn(usize, &mut Vec<u8>) -> PgResult<()>> KeyWriter for Key<F> {
        fn write(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
            (self.0)(row, out)
        }
    }
    Box::new(Key(write))
}

/// What `character` compares by.
fn without_blanks(value: &str) -> &[u8] {
    value.trim_end_matches(' ').as_bytes()
}

/// The stored form of a numeric without the scale it shows.
#[inline]
#[must_use]
pub fn without_scale(bytes: &[u8]) -> &[u8] {
    bytes.get(..bytes.len().saturating_sub(2)).unwrap_or(bytes)
}

/// Bits that order as floats do, with one zero and one NaN.
#[inline]
#[must_use]
pub fn float8_bits(value: f64) -> u64 {
    if value.is_nan() {
        return u64::MAX;
    }
    let bits = if value == 0.0 { 0 } else { value.to_bits() };
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// Bits that order as floats do, with one zero and one NaN.
#[inline]
#[must_use]
pub fn float4_bits(value: f32) -> u32 {
    if value.is_nan() {
        return u32::MAX;
    }
    let bits = if value == 0.0 { 0 } else { value.to_bits() };
    if bits >> 31 == 1 { !bits } else { bits | 1 << 31 }
}

/// Bytes with an end mark: 00 becomes 00 FF, and 00 01 ends.
fn escape(bytes: &[u8], out: &mut Vec<u8>) {
    for &byte in bytes {
        out.push(byte);
        if byte == 0 {
            out.push(0xFF);
        }
    }
    out.extend([0, 1]);
}

/// The elements, then the bounds: the number of dimensions, their lengths, their lower bounds. In one dimension the length is that of the
/// elements before, and five bytes of the upper bound say both.
fn array_key<'a>(ty: &SqlType, array: &'a dyn Array) -> PgResult<Box<dyn KeyWriter + 'a>> {
    let column = ArrayColumn::open(array)?;
    let leaf = elements_of(array)?;
    let elements = key_writer(&element_type(ty), leaf.as_ref())?;
    Ok(key(move |row, out| {
        let Some(value) = column.get(row) else { return Err(PgError::internal("a NULL was given to a writer of keys")) };
        for at in value.start..value.end {
            if leaf.is_null(at) {
                out.push(NULL);
            } else {
                out.push(VALUE);
                elements.write(at, out)?;
            }
        }
        out.push(END);
        match value.shape.ndim() {
            0 => out.push(0),
            1 => {
                let upper = value.shape.bounds().next().map_or(0, |(_, upper)| upper);
                out.push(u8::from(upper >= 0));
                out.extend(upper.to_be_bytes());
            }
            ndim => {
                out.push(ndim as u8);
                out.extend(value.shape.lengths().iter().flat_map(|length| (*length as u32).to_be_bytes()));
                out.extend(value.shape.lowers().iter().flat_map(|lower| (lower ^ i32::MIN).to_be_bytes()));
            }
        }
        Ok(())
    }))
}

/// Maps compare as their entries in the order of keys.
fn map_key<'a>(key_type: &PgType, value_type: &PgType, column: &'a MapArray) -> PgResult<Box<dyn KeyWriter + 'a>> {
    let of = |ty: &PgType, array: &ArrayRef| SqlType { ty: ty.clone(), typmod: -1, arrow: array.data_type().clone() };
    let keys = key_writer(&of(key_type, column.keys()), column.keys().as_ref())?;
    let values = key_writer(&of(value_type, column.values()), column.values().as_ref())?;
    Ok(key(move |row, out| {
        let offsets = column.value_offsets();
        let (start, end) = (offsets.get(row).map_or(0, |o| *o as usize), offsets.get(row + 1).map_or(0, |o| *o as usize));
        let mut entries = Vec::with_capacity(end.saturating_sub(start));
        for at in start..end {
            let mut entry = vec![VALUE];
            keys.write(at, &mut entry)?;
            if column.values().is_null(at) {
                entry.push(NULL);
            } else {
                entry.push(VALUE);
                values.write(at, &mut entry)?;
            }
            entries.push(entry);
        }
        entries.sort();
        out.extend(entries.concat());
        out.push(END);
        Ok(())
    }))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use crate::context::EvalContext;
    use crate::values::builder;

    fn keys(ty: PgType, texts: &[&str]) -> Vec<Vec<u8>> {
        let ty = SqlType::new(ty);
        let mut values = builder(&ty).unwrap();
        for text in texts {
            values.text(&EvalContext::default(), text).unwrap();
        }
        let keys = sort_key(&ty, &values.finish().unwrap()).unwrap();
        keys.as_binary_view().iter().map(|key| key.unwrap().to_vec()).collect()
    }

    #[test]
    fn order() {
        for (ty, ascending) in [
            (PgType::Float8, &["-Infinity", "-1.5", "0", "1e-300", "2", "Infinity", "NaN"][..]),
            (PgType::Float4, &["-2", "-1", "0", "1", "NaN"]),
            (PgType::Numeric, &["-Infinity", "-1e30", "-1", "0", "0.001", "1", "1.5", "1e30", "Infinity", "NaN"]),
            (PgType::Int4.array_of(), &["{}", "{-1}", "{1}", "{1,2}", "{1,3}", "{1,NULL}", "{2}", "{NULL}"]),
            (
                PgType::Int4.array_of(),
                &[
                    "[-5:-5]={1}",
                    "[0:0]={1}",
                    "{1}",
                    "[7:7]={1}",
                    "{{1}}",
                    "[1:1][2:2]={{1}}",
                    "[2:2][1:1]={{1}}",
                    "[-1:0]={1,2}",
                    "{1,2}",
                    "[2:3]={1,2}",
                    "{{1,2}}",
                    "[0:1][1:1]={{1},{2}}",
                    "{{1},{2}}",
                    "{1,2,3}",
                ],
            ),
            (PgType::Text.array_of(), &["{\"\"}", "{a}", "{a,b}", "{aa}", "{b}"]),
            (PgType::Numeric.array_of(), &["{1.0,2}", "{1.00,3}", "{NaN}"]),
            (PgType::Interval, &["-1 day", "0", "1 hour", "29 days", "1 mon", "1 mon 1 us", "1 year"]),
        ] {
            let keys = keys(ty, ascending);
            assert!(keys.windows(2).all(|pair| pair[0] < pair[1]), "{ascending:?}");
        }
        for (ty, equal) in [(PgType::Float8, ["0", "-0"]), (PgType::Numeric, ["1.0", "1.000"]), (PgType::Interval, ["30 days", "1 mon"])] {
            let keys = keys(ty, &equal);
            assert_eq!(keys[0], keys[1]);
        }
    }
}
