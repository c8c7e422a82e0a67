//! Values: small bytes for one value, little-endian, not sorted; format version 1.
//!
//! ```text
//! cell    version u8 = 01 | tag u8 | body
//! ```
//!
//! A **cell** holds one value where a family's layout is `cells` or `map`. A **body** is the value alone: a packed row
//! ([`crate::packed_row`]) and the composites ([`composite`]) hold bodies, and the version of what holds them is theirs.
//!
//! | tag | type | body |
//! |---|---|---|
//! | 00 | NULL (explicit, where absence would mean the column's default) | empty |
//! | 01 | boolean | 1 byte, 00 or 01 |
//! | 02 03 04 | int16, int32, int64 | 2, 4, 8 |
//! | 05 | oid and its aliases | 4, unsigned |
//! | 06 07 | float32, float64 | 4, 8, IEEE bits as they are (−0 and NaN payloads kept) |
//! | 08 | date | 4: days |
//! | 09 | time | 8: microseconds |
//! | 0A | timetz | 12: microseconds i64, zone i32 |
//! | 0B 0C | timestamp, timestamptz | 8: microseconds |
//! | 0D | interval | 16: months i32, days i32, microseconds i64 |
//! | 0E | uuid | 16, as written |
//! | 0F | decimal of fixed scale | 16: two's complement; the scale is the column's |
//! | 10 | numeric | any: opaque here |
//! | 11 12 | text, bytes | any |
//! | 13 14 | json, jsonb | any: text |
//! | 15 16 17 | array, struct, map | [`composite`] |
//! | 18 | another type | any: opaque here |
//!
//! Invariant: a tag, once given, keeps its meaning. Where next: [`scalar`], [`sequence`], [`composite`].

pub mod composite;
pub mod scalar;
pub mod sequence;

pub use composite::{ArrayReader, Dimension, MAX_DIMENSIONS, MapReader, StructBuilder, StructReader, encode_array, encode_map};
pub use scalar::{Interval, TimeTz, Value};
pub use sequence::{SequenceBuilder, SequenceReader};

use crate::error::{DecodeError, EncodeError};

/// The version of the format of cells and bodies that this module writes.
pub const CELL_FORMAT_VERSION: u8 = 1;

/// What the bytes of a body mean.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum TypeTag {
    Null = 0x00,
    Bool = 0x01,
    Int16 = 0x02,
    Int32 = 0x03,
    Int64 = 0x04,
    UInt32 = 0x05,
    Float32 = 0x06,
    Float64 = 0x07,
    Date = 0x08,
    Time = 0x09,
    TimeTz = 0x0a,
    Timestamp = 0x0b,
    TimestampTz = 0x0c,
    Interval = 0x0d,
    Uuid = 0x0e,
    Decimal128 = 0x0f,
    Numeric = 0x10,
    Text = 0x11,
    Bytes = 0x12,
    Json = 0x13,
    Jsonb = 0x14,
    Array = 0x15,
    Struct = 0x16,
    Map = 0x17,
    Other = 0x18,
}

/// NaN among decimals of fixed scale, which have at most 38 digits: greater than all of them, as in SQL.
pub const DECIMAL_NAN: i128 = i128::MAX;
/// NaN among the decimals of at most 18 digits that take 8 bytes.
pub const SHORT_DECIMAL_NAN: i64 = i64::MAX;

/// A decimal in the 8 bytes that packed rows have for at most 18 digits; `None` if it does not fit.
#[inline]
#[must_use]
pub fn shorten_decimal(value: i128) -> Option<i64> {
    if value == DECIMAL_NAN { Some(SHORT_DECIMAL_NAN) } else { i64::try_from(value).ok().filter(|short| *short != SHORT_DECIMAL_NAN) }
}

/// The decimal that was shortened.
#[inline]
#[must_use]
pub fn lengthen_decimal(short: i64) -> i128 {
    if short == SHORT_DECIMAL_NAN { DECIMAL_NAN } else { i128::from(short) }
}

impl TypeTag {
    /// Every tag, in the order of their bytes.
    pub const ALL: [TypeTag; 25] = [
        TypeTag::Null,
        TypeTag::Bool,
        TypeTag::Int16,
        TypeTag::Int32,
        TypeTag::Int64,
        TypeTag::UInt32,
        TypeTag::Float32,
        TypeTag::Float64,
        TypeTag::Date,
        TypeTag::Time,
        TypeTag::TimeTz,
        TypeTag::Timestamp,
        TypeTag::TimestampTz,
        TypeTag::Interval,
        TypeTag::Uuid,
        TypeTag::Decimal128,
        TypeTag::Numeric,
        TypeTag::Text,
        TypeTag::Bytes,
        TypeTag::Json,
        TypeTag::Jsonb,
        TypeTag::Array,
        TypeTag::Struct,
        TypeTag::Map,
        TypeTag::Other,
    ];

    /// The tag that a byte stands for.
    #[must_use]
    pub fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.get(usize::from(byte)).copied()
    }

    /// The width of every body of this type, if there is one.
    #[must_use]
    pub fn width(self) -> Option<usize> {
        match self {
            TypeTag::Null => Some(0),
            TypeTag::Bool => Some(1),
            TypeTag::Int16 => Some(2),
            TypeTag::Int32 | TypeTag::UInt32 | TypeTag::Float32 | TypeTag::Date => Some(4),
            TypeTag::Int64 | TypeTag::Float64 | TypeTag::Time | TypeTag::Timestamp | TypeTag::TimestampTz => Some(8),
            TypeTag::TimeTz => Some(12),
            TypeTag::Interval | TypeTag::Uuid | TypeTag::Decimal128 => Some(16),
            TypeTag::Numeric
            | TypeTag::Text
            | TypeTag::Bytes
            | TypeTag::Json
            | TypeTag::Jsonb
            | TypeTag::Array
            | TypeTag::Struct
            | TypeTag::Map
            | TypeTag::Other => None,
        }
    }

    /// Whether a body of this length can be of this type.
    #[inline]
    fn accepts(self, len: usize) -> bool {
        self.width().is_none_or(|width| width == len)
    }
}

/// Appends a cell that holds one body.
///
/// # Errors
/// The body is not as wide as its type.
#[inline]
pub fn encode_cell(out: &mut Vec<u8>, tag: TypeTag, body: &[u8]) -> Result<(), EncodeError> {
    if !tag.accepts(body.len()) {
        return Err(EncodeError::WrongWidth { expected: tag.width().unwrap_or(0), found: body.len() });
    }
    out.extend_from_slice(&[CELL_FORMAT_VERSION, tag as u8]);
    out.extend_from_slice(body);
    Ok(())
}

/// The type and body of a cell.
///
/// # Errors
/// The version or the tag is unknown, or the body is not as wide as its type.
#[inline]
pub fn decode_cell(cell: &[u8]) -> Result<(TypeTag, &[u8]), DecodeError> {
    const WHAT: &str = "cell";
    match cell {
        [CELL_FORMAT_VERSION, tag, body @ ..] => {
            let tag = TypeTag::from_byte(*tag).ok_or(DecodeError::Malformed { what: WHAT })?;
            if tag.accepts(body.len()) { Ok((tag, body)) } else { Err(DecodeError::Malformed { what: WHAT }) }
        }
        [] | [CELL_FORMAT_VERSION] => Err(DecodeError::Truncated { what: WHAT }),
        [version, ..] => Err(DecodeError::UnknownVersion { what: WHAT, version: *version }),
    }
}
