//! Columns of a batch, built from stored bytes.
//!
//! Invariant: a builder takes bodies of exactly its type's width, and gives text that is UTF-8; anything else is corruption, reported
//! as such.

use super::corrupt;
use super::key::decimal_from_key;
use super::types::type_tag;
use super::view_builder::ViewBuilder;
use crate::catalog::Epoch;
use arrow::array::{
    ArrayRef, BooleanBuilder, Date32Builder, Decimal128Builder, FixedSizeBinaryBuilder, Float32Builder, Float64Builder, Int16Builder,
    Int32Builder, Int64Builder, IntervalMonthDayNanoBuilder, Time64MicrosecondBuilder, TimestampMicrosecondBuilder, UInt32Builder,
};
use arrow::datatypes::{DataType, IntervalMonthDayNano};
use std::sync::Arc;
use stoa_encoding::DecodeError;
use stoa_encoding::keyside::{self, Direction, KeyPart, KeyValue};
use stoa_encoding::valueside::{ArrayReader, Interval, TypeTag, lengthen_decimal};
use stoa_pg::types::{PgType, array_item};
use stoa_pg::values::array::{MAX_DIMENSIONS, Rows, Shape};
use stoa_pg::values::interval;
use stoa_pg::values::{self, ValueBuilder};
use stoa_pg::{EvalContext, PgError, PgResult, SqlType};

/// A column that grows by stored values.
#[derive(Debug)]
pub enum ColumnBuilder {
    Bool(BooleanBuilder),
    Int16(Int16Builder),
    Int32(Int32Builder),
    Int64(Int64Builder),
    UInt32(UInt32Builder),
    Float32(Float32Builder),
    Float64(Float64Builder),
    Date(Date32Builder),
    Time(Time64MicrosecondBuilder),
    Timestamp(TimestampMicrosecondBuilder),
    Interval(IntervalMonthDayNanoBuilder),
    Text(ViewBuilder),
    Bytes(ViewBuilder),
    Fixed(FixedSizeBinaryBuilder, usize),
    Decimal(Decimal128Builder, i8),
    Array(Box<ArrayBuilder>),
    /// Values that are stored as their texts.
    Read(Box<TextColumn>),
}

/// A column whose stored values are texts, each read as a statement would read it. What comes out of it is no stored form.
pub struct TextColumn(Box<dyn ValueBuilder>);

impl TextColumn {
    /// # Errors
    /// 0A000 for types that have no input.
    pub fn new(ty: &SqlType) -> PgResult<Self> {
        values::builder(ty).map(Self)
    }

    /// # Errors
    /// What the type raises.
    pub fn push(&mut self, text: &str) -> PgResult<()> {
        self.0.text(&EvalContext::default(), text)
    }
}

impl std::fmt::Debug for TextColumn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("TextColumn").field(&self.0.len()).finish()
    }
}

/// A column of arrays under construction.
#[derive(Debug)]
pub struct ArrayBuilder {
    tag: TypeTag,
    rows: Rows,
    elements: ColumnBuilder,
}

#[cold]
pub(super) fn malformed(what: &'static str) -> PgError {
    corrupt(DecodeError::Malformed { what })
}

#[inline]
fn bytes<const N: usize>(body: &[u8]) -> PgResult<[u8; N]> {
    <[u8; N]>::try_from(body).map_err(|_| malformed("value"))
}

fn interval_of(body: &[u8]) -> PgResult<IntervalMonthDayNano> {
    let Interval { months, days, micros } = Interval::from_bytes(body).map_err(corrupt)?;
    Ok(interval::Interval { months, days, micros }.to_arrow())
}

impl ColumnBuilder {
    /// A builder for a column of this type.
    ///
    /// # Errors
    /// 0A000 for types that cannot be stored.
    pub fn new(ty: &SqlType, rows: usize) -> PgResult<Self> {
        Self::for_arrow(&ty.ty, &ty.arrow, rows)
    }

    fn for_arrow(ty: &PgType, arrow: &DataType, rows: usize) -> PgResult<Self> {
        Ok(match arrow {
            DataType::Boolean => ColumnBuilder::Bool(BooleanBuilder::with_capacity(rows)),
            DataType::Int16 => ColumnBuilder::Int16(Int16Builder::with_capacity(rows)),
            DataType::Int32 => ColumnBuilder::Int32(Int32Builder::with_capacity(rows)),
            DataType::Int64 => ColumnBuilder::Int64(Int64Builder::with_capacity(rows)),
            DataType::UInt32 => ColumnBuilder::UInt32(UInt32Builder::with_capacity(rows)),
            DataType::Float32 => ColumnBuilder::Float32(Float32Builder::with_capacity(rows)),
            DataType::Float64 => ColumnBuilder::Float64(Float64Builder::with_capacity(rows)),
            DataType::Date32 => ColumnBuilder::Date(Date32Builder::with_capacity(rows)),
            DataType::Time64(_) => ColumnBuilder::Time(Time64MicrosecondBuilder::with_capacity(rows)),
            DataType::Timestamp(..) => {
                ColumnBuilder::Timestamp(TimestampMicrosecondBuilder::with_capacity(rows).with_data_type(arrow.clone()))
            }
            DataType::Interval(_) => ColumnBuilder::Interval(IntervalMonthDayNanoBuilder::with_capacity(rows)),
            DataType::Utf8View => ColumnBuilder::Text(ViewBuilder::with_capacity(rows)),
            DataType::BinaryView => ColumnBuilder::Bytes(ViewBuilder::with_capacity(rows)),
            DataType::FixedSizeBinary(width) => {
                ColumnBuilder::Fixed(FixedSizeBinaryBuilder::with_capacity(rows, *width), usize::try_from(*width).unwrap_or(0))
            }
            DataType::Decimal128(_, scale) => {
                ColumnBuilder::Decimal(Decimal128Builder::with_capacity(rows).with_data_type(arrow.clone()), *scale)
            }
            DataType::Struct(_) => {
                let wrong = || PgError::unsupported(format!("a column of type {ty} ({arrow}) cannot be stored"));
                let (element, item) = ty.element().zip(array_item(arrow)).ok_or_else(wrong)?;
                let elements = Self::for_arrow(&element, item, rows)?;
                ColumnBuilder::Array(Box::new(ArrayBuilder { tag: type_tag(&element, item)?, rows: Rows::new(rows), elements }))
            }
            other => return Err(PgError::unsupported(format!("a column of type {ty} ({other}) cannot be stored"))),
        })
    }

    #[inline]
    pub fn push_null(&mut self) {
        match self {
            ColumnBuilder::Bool(b) => b.append_null(),
            ColumnBuilder::Int16(b) => b.append_null(),
            ColumnBuilder::Int32(b) => b.append_null(),
            ColumnBuilder::Int64(b) => b.append_null(),
            ColumnBuilder::UInt32(b) => b.append_null(),
            ColumnBuilder::Float32(b) => b.append_null(),
            ColumnBuilder::Float64(b) => b.append_null(),
            ColumnBuilder::Date(b) => b.append_null(),
            ColumnBuilder::Time(b) => b.append_null(),
            ColumnBuilder::Timestamp(b) => b.append_null(),
            ColumnBuilder::Interval(b) => b.append_null(),
            ColumnBuilder::Text(b) | ColumnBuilder::Bytes(b) => b.push_null(),
            ColumnBuilder::Fixed(b, _) => b.append_null(),
            ColumnBuilder::Decimal(b, _) => b.append_null(),
            ColumnBuilder::Array(b) => b.rows.push_null(),
            ColumnBuilder::Read(b) => b.0.null(),
        }
    }

    /// Adds a value from its body.
    ///
    /// # Errors
    /// XX001: the body is not one of the type.
    #[inline]
    pub fn push_body(&mut self, body: &[u8]) -> PgResult<()> {
        match self {
            ColumnBuilder::Bool(b) => match body {
                [0] => b.append_value(false),
                [1] => b.append_value(true),
                _ => return Err(malformed("boolean")),
            },
            ColumnBuilder::Int16(b) => b.append_value(i16::from_le_bytes(bytes(body)?)),
            ColumnBuilder::Int32(b) => b.append_value(i32::from_le_bytes(bytes(body)?)),
            ColumnBuilder::Int64(b) => b.append_value(i64::from_le_bytes(bytes(body)?)),
            ColumnBuilder::UInt32(b) => b.append_value(u32::from_le_bytes(bytes(body)?)),
            ColumnBuilder::Float32(b) => b.append_value(f32::from_bits(u32::from_le_bytes(bytes(body)?))),
            ColumnBuilder::Float64(b) => b.append_value(f64::from_bits(u64::from_le_bytes(bytes(body)?))),
            ColumnBuilder::Date(b) => b.append_value(i32::from_le_bytes(bytes(body)?)),
            ColumnBuilder::Time(b) => b.append_value(i64::from_le_bytes(bytes(body)?)),
            ColumnBuilder::Timestamp(b) => b.append_value(i64::from_le_bytes(bytes(body)?)),
            ColumnBuilder::Interval(b) => b.append_value(interval_of(body)?),
            ColumnBuilder::Text(b) | ColumnBuilder::Bytes(b) => b.push(body)?,
            ColumnBuilder::Fixed(b, width) => {
                if body.len() != *width {
                    return Err(malformed("value"));
                }
                b.append_value(body)?;
            }
            // Either width may be met: the precision may have grown since.
            ColumnBuilder::Decimal(b, _) => b.append_value(if body.len() == 8 {
                lengthen_decimal(i64::from_le_bytes(bytes(body)?))
            } else {
                i128::from_le_bytes(bytes(body)?)
            }),
            ColumnBuilder::Array(b) => b.push(body)?,
            ColumnBuilder::Read(_) => return Err(PgError::internal("a body was given to a reader of texts")),
        }
        Ok(())
    }

    /// Adds a value from the key part at the front of `key`; returns what follows the part. `scratch` is overwritten.
    ///
    /// # Errors
    /// XX001: the bytes are not such a part.
    #[inline]
    pub fn push_key<'k>(&mut self, part: KeyPart, key: &'k [u8], scratch: &mut Vec<u8>) -> PgResult<&'k [u8]> {
        let direction = part.direction;
        let key = match part.nulls {
            None => key,
            Some(nulls) => match keyside::decode_presence(key, direction, nulls).map_err(corrupt)? {
                (true, rest) => rest,
                (false, rest) => {
                    self.push_null();
                    return Ok(rest);
                }
            },
        };
        macro_rules! fixed {
            ($builder:expr, $decode:ident) => {{
                let (value, rest) = keyside::$decode(key, direction).map_err(corrupt)?;
                $builder.append_value(value);
                Ok(rest)
            }};
        }
        match self {
            ColumnBuilder::Bool(b) => fixed!(b, decode_bool),
            ColumnBuilder::Int16(b) => fixed!(b, decode_i16),
            ColumnBuilder::Int32(b) => fixed!(b, decode_i32),
            ColumnBuilder::Int64(b) => fixed!(b, decode_i64),
            ColumnBuilder::UInt32(b) => fixed!(b, decode_u32),
            ColumnBuilder::Float32(b) => fixed!(b, decode_f32),
            ColumnBuilder::Float64(b) => fixed!(b, decode_f64),
            ColumnBuilder::Date(b) => fixed!(b, decode_i32),
            ColumnBuilder::Time(b) => fixed!(b, decode_i64),
            ColumnBuilder::Timestamp(b) => fixed!(b, decode_i64),
            ColumnBuilder::Text(b) | ColumnBuilder::Bytes(b) => {
                let (rest, value) = escaped(key, direction, scratch)?;
                b.push(value)?;
                Ok(rest)
            }
            ColumnBuilder::Fixed(b, _) => {
                let (value, rest) = keyside::decode_uuid(key, direction).map_err(corrupt)?;
                b.append_value(value)?;
                Ok(rest)
            }
            ColumnBuilder::Decimal(b, scale) => {
                let (value, rest) = KeyPart { nulls: None, ..part }.decode(key).map_err(corrupt)?;
                let KeyValue::Bytes(number) = value else { return Err(malformed("key part numeric")) };
                b.append_value(decimal_from_key(&number, *scale)?);
                Ok(rest)
            }
            ColumnBuilder::Interval(_) | ColumnBuilder::Array(_) | ColumnBuilder::Read(_) => {
                Err(PgError::internal("a sort key was read as a value"))
            }
        }
    }

    /// The column so far, out of the form that tables of this epoch store; the builder is empty afterwards.
    ///
    /// # Errors
    /// As [`ColumnBuilder::finish`].
    pub fn finish_in(&mut self, epoch: Epoch) -> PgResult<ArrayRef> {
        match self {
            ColumnBuilder::Read(_) => self.finish(),
            _ => epoch.from_stored(&self.finish()?),
        }
    }

    /// The column so far; the builder is empty afterwards.
    ///
    /// # Errors
    /// XX001: a text is not UTF-8. Arrow refuses the parts, which is a bug.
    pub fn finish(&mut self) -> PgResult<ArrayRef> {
        Ok(match self {
            ColumnBuilder::Bool(b) => Arc::new(b.finish()),
            ColumnBuilder::Int16(b) => Arc::new(b.finish()),
            ColumnBuilder::Int32(b) => Arc::new(b.finish()),
            ColumnBuilder::Int64(b) => Arc::new(b.finish()),
            ColumnBuilder::UInt32(b) => Arc::new(b.finish()),
            ColumnBuilder::Float32(b) => Arc::new(b.finish()),
            ColumnBuilder::Float64(b) => Arc::new(b.finish()),
            ColumnBuilder::Date(b) => Arc::new(b.finish()),
            ColumnBuilder::Time(b) => Arc::new(b.finish()),
            ColumnBuilder::Timestamp(b) => Arc::new(b.finish()),
            ColumnBuilder::Interval(b) => Arc::new(b.finish()),
            ColumnBuilder::Text(b) => Arc::new(b.finish_text()?),
            ColumnBuilder::Bytes(b) => Arc::new(b.finish_bytes()),
            ColumnBuilder::Fixed(b, _) => Arc::new(b.finish()),
            ColumnBuilder::Decimal(b, _) => Arc::new(b.finish()),
            ColumnBuilder::Array(b) => return b.finish(),
            ColumnBuilder::Read(b) => return b.0.finish(),
        })
    }
}

/// A part of any length, and what follows it. The value lies in the key itself or in `scratch`.
#[inline]
fn escaped<'k: 's, 's>(key: &'k [u8], direction: Direction, scratch: &'s mut Vec<u8>) -> PgResult<(&'k [u8], &'s [u8])> {
    let rest = keyside::skip_bytes(key, direction).map_err(corrupt)?;
    let (value, _) = keyside::decode_bytes_in(key, direction, scratch).map_err(corrupt)?;
    Ok((rest, value))
}

impl ArrayBuilder {
    #[inline(never)]
    fn push(&mut self, body: &[u8]) -> PgResult<()> {
        let reader = ArrayReader::new(body).map_err(corrupt)?;
        let elements = reader.elements();
        if !elements.is_empty() && elements.tag() != self.tag {
            return Err(malformed("array"));
        }
        let (mut lengths, mut lowers) = ([0; MAX_DIMENSIONS], [1; MAX_DIMENSIONS]);
        let dimensions = reader.dimensions();
        let ndim = dimensions.len();
        for ((length, lower), dimension) in lengths.iter_mut().zip(&mut lowers).zip(dimensions) {
            (*length, *lower) = (dimension.len as usize, dimension.lower_bound);
        }
        let lengths = lengths.get(..ndim).ok_or_else(|| malformed("array"))?;
        let shape = Shape::bounded(lengths, &lowers).map_err(|_| malformed("array"))?;
        for element in elements.iter() {
            match element.map_err(corrupt)? {
                None => self.elements.push_null(),
                Some(body) => self.elements.push_body(body)?,
            }
        }
        self.rows.push(&shape)
    }

    fn finish(&mut self) -> PgResult<ArrayRef> {
        std::mem::replace(&mut self.rows, Rows::new(0)).over(self.elements.finish()?)
    }
}
