//! Bodies of values from columns.
//!
//! Invariant: a body is what `stoa_encoding::valueside` lists for the type.

use super::types::{SHORT_DECIMAL_DIGITS, type_tag};
use super::unencodable;
use arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, BooleanArray, Date32Array, Decimal128Array, FixedSizeBinaryArray, Float32Array,
    Float64Array, Int16Array, Int32Array, Int64Array, IntervalMonthDayNanoArray, StringViewArray, Time64MicrosecondArray,
    TimestampMicrosecondArray, UInt32Array,
};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type, IntervalMonthDayNanoType,
    Time64MicrosecondType, TimestampMicrosecondType, UInt32Type,
};
use std::sync::Arc;
use stoa_encoding::packed_row::RowBuilder;
use stoa_encoding::valueside::{Dimension, Interval, SequenceBuilder, TypeTag, encode_array, shorten_decimal};
use stoa_pg::types::PgType;
use stoa_pg::values::array::{ArrayColumn, MAX_DIMENSIONS};
use stoa_pg::values::interval;
use stoa_pg::{PgError, PgResult, SqlType};

/// A column opened for writing bodies.
#[derive(Clone, Debug)]
pub enum ValueColumn {
    Bool(BooleanArray),
    Int16(Int16Array),
    Int32(Int32Array),
    Int64(Int64Array),
    UInt32(UInt32Array),
    Float32(Float32Array),
    Float64(Float64Array),
    Date(Date32Array),
    Time(Time64MicrosecondArray),
    Timestamp(TimestampMicrosecondArray),
    Interval(IntervalMonthDayNanoArray),
    Text(StringViewArray),
    Bytes(BinaryViewArray),
    Fixed(FixedSizeBinaryArray),
    Decimal(Decimal128Array),
    ShortDecimal(Decimal128Array),
    Array(Box<Arrays>),
}

/// A column of arrays.
#[derive(Clone, Debug)]
pub struct Arrays {
    array: ArrayRef,
    column: ArrayColumn,
    elements: ValueColumn,
    tag: TypeTag,
}

impl ValueColumn {
    /// Opens a column of a packed row; an array of another form of the type is cast.
    ///
    /// # Errors
    /// The array is not of the type, or the type cannot be stored.
    pub fn new(ty: &SqlType, array: &ArrayRef) -> PgResult<Self> {
        let column = if *array.data_type() == ty.arrow {
            Self::open(&ty.ty, array)?
        } else {
            Self::open(&ty.ty, &arrow::compute::cast(array, &ty.arrow)?)?
        };
        Ok(match (column, &ty.arrow) {
            (ValueColumn::Decimal(a), DataType::Decimal128(p, _)) if *p <= SHORT_DECIMAL_DIGITS => ValueColumn::ShortDecimal(a),
            (column, _) => column,
        })
    }

    fn open(ty: &PgType, array: &ArrayRef) -> PgResult<Self> {
        let wrong = || PgError::internal(format!("a column of type {ty} came as {}", array.data_type()));
        Ok(match array.data_type() {
            DataType::Boolean => ValueColumn::Bool(array.as_boolean_opt().ok_or_else(wrong)?.clone()),
            DataType::Int16 => ValueColumn::Int16(array.as_primitive_opt::<Int16Type>().ok_or_else(wrong)?.clone()),
            DataType::Int32 => ValueColumn::Int32(array.as_primitive_opt::<Int32Type>().ok_or_else(wrong)?.clone()),
            DataType::Int64 => ValueColumn::Int64(array.as_primitive_opt::<Int64Type>().ok_or_else(wrong)?.clone()),
            DataType::UInt32 => ValueColumn::UInt32(array.as_primitive_opt::<UInt32Type>().ok_or_else(wrong)?.clone()),
            DataType::Float32 => ValueColumn::Float32(array.as_primitive_opt::<Float32Type>().ok_or_else(wrong)?.clone()),
            DataType::Float64 => ValueColumn::Float64(array.as_primitive_opt::<Float64Type>().ok_or_else(wrong)?.clone()),
            DataType::Date32 => ValueColumn::Date(array.as_primitive_opt::<Date32Type>().ok_or_else(wrong)?.clone()),
            DataType::Time64(_) => ValueColumn::Time(array.as_primitive_opt::<Time64MicrosecondType>().ok_or_else(wrong)?.clone()),
            DataType::Timestamp(..) => {
                ValueColumn::Timestamp(array.as_primitive_opt::<TimestampMicrosecondType>().ok_or_else(wrong)?.clone())
            }
            DataType::Interval(_) => ValueColumn::Interval(array.as_primitive_opt::<IntervalMonthDayNanoType>().ok_or_else(wrong)?.clone()),
            DataType::Utf8View => ValueColumn::Text(array.as_string_view_opt().ok_or_else(wrong)?.clone()),
            DataType::BinaryView => ValueColumn::Bytes(array.as_binary_view_opt().ok_or_else(wrong)?.clone()),
            DataType::FixedSizeBinary(_) => ValueColumn::Fixed(array.as_fixed_size_binary_opt().ok_or_else(wrong)?.clone()),
            DataType::Decimal128(..) => ValueColumn::Decimal(array.as_primitive_opt::<Decimal128Type>().ok_or_else(wrong)?.clone()),
            DataType::Struct(_) => {
                let column = ArrayColumn::open(array.as_ref())?;
                let element = ty.element().ok_or_else(wrong)?;
                let tag = type_tag(&element, column.leaf().data_type())?;
                let elements = Self::open(&element, column.leaf())?;
                ValueColumn::Array(Box::new(Arrays { array: Arc::clone(array), column, elements, tag }))
            }
            _ => return Err(wrong()),
        })
    }

    fn array(&self) -> &dyn Array {
        match self {
            ValueColumn::Bool(a) => a,
            ValueColumn::Int16(a) => a,
            ValueColumn::Int32(a) => a,
            ValueColumn::Int64(a) => a,
            ValueColumn::UInt32(a) => a,
            ValueColumn::Float32(a) => a,
            ValueColumn::Float64(a) => a,
            ValueColumn::Date(a) => a,
            ValueColumn::Time(a) => a,
            ValueColumn::Timestamp(a) => a,
            ValueColumn::Interval(a) => a,
            ValueColumn::Text(a) => a,
            ValueColumn::Bytes(a) => a,
            ValueColumn::Fixed(a) => a,
            ValueColumn::Decimal(a) | ValueColumn::ShortDecimal(a) => a,
            ValueColumn::Array(a) => &a.array,
        }
    }

    #[inline]
    #[must_use]
    pub fn is_null(&self, row: usize) -> bool {
        self.array().is_null(row)
    }

    /// Adds the value of a row to a packed row.
    ///
    /// # Errors
    /// The value cannot be stored.
    #[inline]
    pub fn push(&self, row: usize, builder: &mut RowBuilder, scratch: &mut Vec<u8>) -> PgResult<()> {
        if self.is_null(row) {
            builder.push_null();
            return Ok(());
        }
        match self {
            ValueColumn::Bool(a) => builder.push_fixed([u8::from(a.value(row))]),
            ValueColumn::Int16(a) => builder.push_fixed(a.value(row).to_le_bytes()),
            ValueColumn::Int32(a) => builder.push_fixed(a.value(row).to_le_bytes()),
            ValueColumn::Int64(a) => builder.push_fixed(a.value(row).to_le_bytes()),
            ValueColumn::UInt32(a) => builder.push_fixed(a.value(row).to_le_bytes()),
            ValueColumn::Float32(a) => builder.push_fixed(a.value(row).to_bits().to_le_bytes()),
            ValueColumn::Float64(a) => builder.push_fixed(a.value(row).to_bits().to_le_bytes()),
            ValueColumn::Date(a) => builder.push_fixed(a.value(row).to_le_bytes()),
            ValueColumn::Time(a) => builder.push_fixed(a.value(row).to_le_bytes()),
            ValueColumn::Timestamp(a) => builder.push_fixed(a.value(row).to_le_bytes()),
            ValueColumn::Text(a) => builder.push_variable(a.value(row).as_bytes()),
            ValueColumn::Bytes(a) => builder.push_variable(a.value(row)),
            ValueColumn::Fixed(a) => builder.push(Some(a.value(row))),
            ValueColumn::Decimal(a) => builder.push_fixed(a.value(row).to_le_bytes()),
            ValueColumn::ShortDecimal(_) | ValueColumn::Interval(_) | ValueColumn::Array(_) => {
                scratch.clear();
                self.append(row, scratch)?;
                builder.push(Some(scratch));
            }
        }
        Ok(())
    }

    /// Appends the body of a value that is not NULL.
    ///
    /// # Errors
    /// The value cannot be stored.
    pub fn append(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        match self {
            ValueColumn::Bool(a) => out.push(u8::from(a.value(row))),
            ValueColumn::Int16(a) => out.extend_from_slice(&a.value(row).to_le_bytes()),
            ValueColumn::Int32(a) => out.extend_from_slice(&a.value(row).to_le_bytes()),
            ValueColumn::Int64(a) => out.extend_from_slice(&a.value(row).to_le_bytes()),
            ValueColumn::UInt32(a) => out.extend_from_slice(&a.value(row).to_le_bytes()),
            ValueColumn::Float32(a) => out.extend_from_slice(&a.value(row).to_bits().to_le_bytes()),
            ValueColumn::Float64(a) => out.extend_from_slice(&a.value(row).to_bits().to_le_bytes()),
            ValueColumn::Date(a) => out.extend_from_slice(&a.value(row).to_le_bytes()),
            ValueColumn::Time(a) => out.extend_from_slice(&a.value(row).to_le_bytes()),
            ValueColumn::Timestamp(a) => out.extend_from_slice(&a.value(row).to_le_bytes()),
            ValueColumn::Text(a) => out.extend_from_slice(a.value(row).as_bytes()),
            ValueColumn::Bytes(a) => out.extend_from_slice(a.value(row)),
            ValueColumn::Fixed(a) => out.extend_from_slice(a.value(row)),
            ValueColumn::Decimal(a) => out.extend_from_slice(&a.value(row).to_le_bytes()),
            ValueColumn::ShortDecimal(a) => {
                let value = shorten_decimal(a.value(row)).ok_or_else(|| PgError::internal("a decimal beyond its precision"))?;
                out.extend_from_slice(&value.to_le_bytes());
            }
            ValueColumn::Interval(a) => {
                let value = interval::Interval::from_arrow(a.value(row));
                let body = Interval { months: value.months, days: value.days, micros: value.micros };
                out.extend_from_slice(&body.to_bytes());
            }
            ValueColumn::Array(arrays) => arrays.append(row, out)?,
        }
        Ok(())
    }
}

impl Arrays {
    fn append(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        let value = self.column.get(row).ok_or_else(|| PgError::internal("a NULL was given to a writer of bodies"))?;
        let mut elements = SequenceBuilder::new(self.tag);
        let mut body = Vec::new();
        for at in value.start..value.end {
            if self.elements.is_null(at) {
                elements.push(None);
            } else {
                body.clear();
                self.elements.append(at, &mut body)?;
                elements.push(Some(&body));
            }
        }
        let mut dimensions = [Dimension::new(0); MAX_DIMENSIONS];
        for ((slot, &length), &lower_bound) in dimensions.iter_mut().zip(value.shape.lengths()).zip(value.shape.lowers()) {
            // No shape is longer than 32 bits say.
            *slot = Dimension { len: length as u32, lower_bound };
        }
        encode_array(out, dimensions.get(..value.shape.ndim()).unwrap_or(&[]), &elements).map_err(unencodable)
    }
}
