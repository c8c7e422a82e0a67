//! Bodies of single values: little-endian, fixed width where the type has one.
//!
//! Invariant: a reader checks the width, and UTF-8 where it returns text, so that a body of another type is an error and
//! never another value. Where next: [`super::sequence`].

use super::TypeTag;
use crate::error::DecodeError;

/// An interval as SQL keeps it: three parts that do not carry into each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Interval {
    pub months: i32,
    pub days: i32,
    pub micros: i64,
}

impl Interval {
    /// The body.
    #[must_use]
    #[inline]
    pub fn to_bytes(self) -> [u8; 16] {
        let (months, days, micros) = (self.months.to_le_bytes(), self.days.to_le_bytes(), self.micros.to_le_bytes());
        let mut body = [0; 16];
        for (to, from) in body.iter_mut().zip(months.iter().chain(&days).chain(&micros)) {
            *to = *from;
        }
        body
    }

    /// # Errors
    /// The body is not 16 bytes.
    #[inline]
    pub fn from_bytes(body: &[u8]) -> Result<Self, DecodeError> {
        match body.as_chunks::<4>() {
            ([months, days, low, high], []) => Ok(Self {
                months: i32::from_le_bytes(*months),
                days: i32::from_le_bytes(*days),
                micros: i64::from(u32::from_le_bytes(*low)) | (i64::from(i32::from_le_bytes(*high)) << 32),
            }),
            _ => Err(DecodeError::Malformed { what: "interval" }),
        }
    }
}

/// A time of day with its zone.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct TimeTz {
    pub micros: i64,
    /// Seconds **west** of UTC, as PostgreSQL keeps it.
    pub zone_seconds: i32,
}

impl TimeTz {
    /// The body.
    #[must_use]
    #[inline]
    pub fn to_bytes(self) -> [u8; 12] {
        let mut body = [0; 12];
        for (to, from) in body.iter_mut().zip(self.micros.to_le_bytes().iter().chain(&self.zone_seconds.to_le_bytes())) {
            *to = *from;
        }
        body
    }

    /// # Errors
    /// The body is not 12 bytes.
    #[inline]
    pub fn from_bytes(body: &[u8]) -> Result<Self, DecodeError> {
        match body.split_first_chunk::<8>() {
            Some((micros, zone)) => Ok(Self { micros: i64::from_le_bytes(*micros), zone_seconds: read_i32(zone)? }),
            None => Err(DecodeError::Malformed { what: "timetz" }),
        }
    }
}

macro_rules! read_fixed {
    ($($name:ident, $type:ty, $what:literal;)*) => {
        $(
            #[doc = concat!("The value of a body of type ", $what, ".")]
            ///
            /// # Errors
            /// The body has another width.
            #[inline]
            pub fn $name(body: &[u8]) -> Result<$type, DecodeError> {
                match body.try_into() {
                    Ok(body) => Ok(<$type>::from_le_bytes(body)),
                    Err(_) => Err(DecodeError::Malformed { what: $what }),
                }
            }
        )*
    };
}

read_fixed! {
    read_i16, i16, "int16";
    read_i32, i32, "int32";
    read_i64, i64, "int64";
    read_u32, u32, "uint32";
    read_f32, f32, "float32";
    read_f64, f64, "float64";
    read_i128, i128, "decimal128";
}

/// The value of a body of type boolean.
///
/// # Errors
/// The body is not one byte, 00 or 01.
#[inline]
pub fn read_bool(body: &[u8]) -> Result<bool, DecodeError> {
    match body {
        [0] => Ok(false),
        [1] => Ok(true),
        _ => Err(DecodeError::Malformed { what: "bool" }),
    }
}

/// The value of a body of type uuid.
///
/// # Errors
/// The body is not 16 bytes.
#[inline]
pub fn read_uuid(body: &[u8]) -> Result<[u8; 16], DecodeError> {
    body.try_into().map_err(|_| DecodeError::Malformed { what: "uuid" })
}

/// The value of a body that is text.
///
/// # Errors
/// The body is not UTF-8.
#[inline]
pub fn read_text(body: &[u8]) -> Result<&str, DecodeError> {
    std::str::from_utf8(body).map_err(|_| DecodeError::Malformed { what: "text" })
}

/// A value of any type, for code that is not typed: tools, dumps, tests, rare paths. Composites and opaque types keep
/// their bodies.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value<'a> {
    Null,
    Bool(bool),
    Int16(i16),
    Int32(i32),
    Int64(i64),
    UInt32(u32),
    Float32(f32),
    Float64(f64),
    Date(i32),
    Time(i64),
    TimeTz(TimeTz),
    Timestamp(i64),
    TimestampTz(i64),
    Interval(Interval),
    Uuid([u8; 16]),
    Decimal128(i128),
    Text(&'a str),
    Json(&'a str),
    Jsonb(&'a str),
    Bytes(&'a [u8]),
    Numeric(&'a [u8]),
    Array(&'a [u8]),
    Struct(&'a [u8]),
    Map(&'a [u8]),
    Other(&'a [u8]),
}

impl<'a> Value<'a> {
    /// Reads a body.
    ///
    /// # Errors
    /// The body is not one of its type. The bodies of composites are not looked into.
    pub fn decode(tag: TypeTag, body: &'a [u8]) -> Result<Self, DecodeError> {
        Ok(match tag {
            TypeTag::Null if body.is_empty() => Value::Null,
            TypeTag::Null => return Err(DecodeError::Trailing { what: "null" }),
            TypeTag::Bool => Value::Bool(read_bool(body)?),
            TypeTag::Int16 => Value::Int16(read_i16(body)?),
            TypeTag::Int32 => Value::Int32(read_i32(body)?),
            TypeTag::Int64 => Value::Int64(read_i64(body)?),
            TypeTag::UInt32 => Value::UInt32(read_u32(body)?),
            TypeTag::Float32 => Value::Float32(read_f32(body)?),
            TypeTag::Float64 => Value::Float64(read_f64(body)?),
            TypeTag::Date => Value::Date(read_i32(body)?),
            TypeTag::Time => Value::Time(read_i64(body)?),
            TypeTag::TimeTz => Value::TimeTz(TimeTz::from_bytes(body)?),
            TypeTag::Timestamp => Value::Timestamp(read_i64(body)?),
            TypeTag::TimestampTz => Value::TimestampTz(read_i64(body)?),
            TypeTag::Interval => Value::Interval(Interval::from_bytes(body)?),
            TypeTag::Uuid => Value::Uuid(read_uuid(body)?),
            TypeTag::Decimal128 => Value::Decimal128(read_i128(body)?),
            TypeTag::Text => Value::Text(read_text(body)?),
            TypeTag::Json => Value::Json(read_text(body)?),
            TypeTag::Jsonb => Value::Jsonb(read_text(body)?),
            TypeTag::Bytes => Value::Bytes(body),
            TypeTag::Numeric => Value::Numeric(body),
            TypeTag::Array => Value::Array(body),
            TypeTag::Struct => Value::Struct(body),
            TypeTag::Map => Value::Map(body),
            TypeTag::Other => Value::Other(body),
        })
    }

    /// The type.
    #[must_use]
    pub fn tag(&self) -> TypeTag {
        match self {
            Value::Null => TypeTag::Null,
            Value::Bool(_) => TypeTag::Bool,
            Value::Int16(_) => TypeTag::Int16,
            Value::Int32(_) => TypeTag::Int32,
            Value::Int64(_) => TypeTag::Int64,
            Value::UInt32(_) => TypeTag::UInt32,
            Value::Float32(_) => TypeTag::Float32,
            Value::Float64(_) => TypeTag::Float64,
            Value::Date(_) => TypeTag::Date,
            Value::Time(_) => TypeTag::Time,
            Value::TimeTz(_) => TypeTag::TimeTz,
            Value::Timestamp(_) => TypeTag::Timestamp,
            Value::TimestampTz(_) => TypeTag::TimestampTz,
            Value::Interval(_) => TypeTag::Interval,
            Value::Uuid(_) => TypeTag::Uuid,
            Value::Decimal128(_) => TypeTag::Decimal128,
            Value::Text(_) => TypeTag::Text,
            Value::Json(_) => TypeTag::Json,
            Value::Jsonb(_) => TypeTag::Jsonb,
            Value::Bytes(_) => TypeTag::Bytes,
            Value::Numeric(_) => TypeTag::Numeric,
            Value::Array(_) => TypeTag::Array,
            Value::Struct(_) => TypeTag::Struct,
            Value::Map(_) => TypeTag::Map,
            Value::Other(_) => TypeTag::Other,
        }
    }

    /// Appends the body.
    pub fn encode_body(&self, out: &mut Vec<u8>) {
        match *self {
            Value::Null => {}
            Value::Bool(v) => out.push(u8::from(v)),
            Value::Int16(v) => out.extend_from_slice(&v.to_le_bytes()),
            Value::Int32(v) | Value::Date(v) => out.extend_from_slice(&v.to_le_bytes()),
            Value::Int64(v) | Value::Time(v) | Value::Timestamp(v) | Value::TimestampTz(v) => out.extend_from_slice(&v.to_le_bytes()),
            Value::UInt32(v) => out.extend_from_slice(&v.to_le_bytes()),
            Value::Float32(v) => out.extend_from_slice(&v.to_le_bytes()),
            Value::Float64(v) => out.extend_from_slice(&v.to_le_bytes()),
            Value::TimeTz(v) => out.extend_from_slice(&v.to_bytes()),
            Value::Interval(v) => out.extend_from_slice(&v.to_bytes()),
            Value::Uuid(v) => out.extend_from_slice(&v),
            Value::Decimal128(v) => out.extend_from_slice(&v.to_le_bytes()),
            Value::Text(v) | Value::Json(v) | Value::Jsonb(v) => out.extend_from_slice(v.as_bytes()),
            Value::Bytes(v) | Value::Numeric(v) | Value::Array(v) | Value::Struct(v) | Value::Map(v) | Value::Other(v) => {
                out.extend_from_slice(v);
            }
        }
    }

    /// Appends a cell.
    pub fn encode_cell(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[super::CELL_FORMAT_VERSION, self.tag() as u8]);
        self.encode_body(out);
    }

    /// Reads a cell.
    ///
    /// # Errors
    /// As [`super::decode_cell`] and [`Value::decode`].
    pub fn decode_cell(cell: &'a [u8]) -> Result<Self, DecodeError> {
        let (tag, body) = super::decode_cell(cell)?;
        Self::decode(tag, body)
    }
}
