//! How each SQL type lies in keys and in values.
//!
//! Invariant: the mapping is part of the stored format: a type, once given a form, keeps it.

use arrow::datatypes::DataType;
use stoa_encoding::keyside::{PartKind, PrefixFree};
use stoa_encoding::packed_row::ValueKind;
use stoa_encoding::valueside::TypeTag;
use stoa_pg::types::{PgType, array_item};
use stoa_pg::{PgError, PgResult, SqlType};

/// Decimal numbers in keys.
pub const NUMERIC_PART: PrefixFree = PrefixFree { name: "numeric", encoded_len: numeric_len };

fn numeric_len(bytes: &[u8]) -> Option<usize> {
    stoa_encoding::numeric::decode(bytes).map(|(_, len)| len)
}

/// How values of a type are encoded in a key.
///
/// # Errors
/// 0A000 for types without an order.
pub fn part_kind(ty: &SqlType) -> PgResult<PartKind> {
    Ok(match &ty.ty {
        PgType::Bool => PartKind::Bool,
        PgType::Int2 => PartKind::Int16,
        PgType::Int4 | PgType::Date => PartKind::Int32,
        PgType::Int8 | PgType::Time | PgType::Timestamp | PgType::Timestamptz => PartKind::Int64,
        PgType::Float4 => PartKind::Float32,
        PgType::Float8 => PartKind::Float64,
        PgType::Uuid => PartKind::Uuid,
        PgType::Numeric => PartKind::PrefixFree(NUMERIC_PART),
        other if other.is_oid_like() => PartKind::UInt32,
        other if other.is_string() || *other == PgType::Bytea => PartKind::Escaped,
        _ if sorts_by_key(ty) => PartKind::Escaped,
        PgType::Json | PgType::Jsonpath | PgType::Tsvector | PgType::Tsquery | PgType::Aclitem | PgType::PgNodeTree => PartKind::Escaped,
        PgType::Bit | PgType::Varbit => PartKind::Escaped,
        other => return Err(PgError::unsupported(format!("type {other} cannot be part of a key"))),
    })
}

/// Types whose key form is [`stoa_pg::values::sort_key`].
#[must_use]
pub fn sorts_by_key(ty: &SqlType) -> bool {
    ty.keeps_blanks()
        || matches!(
            ty.ty,
            PgType::Interval
                | PgType::Jsonb
                | PgType::Timetz
                | PgType::Array(_)
                | PgType::Int2Vector
                | PgType::OidVector
                | PgType::Record(_)
        )
}

/// Whether a key part gives its value back. Where it does not, the value is stored beside the key.
#[must_use]
pub fn key_is_lossless(ty: &SqlType) -> bool {
    match &ty.ty {
        PgType::Numeric => matches!(ty.arrow, DataType::Decimal128(..)),
        PgType::Float4 | PgType::Float8 => false,
        _ => !sorts_by_key(ty),
    }
}

/// The tag of a type's bodies.
///
/// # Errors
/// 0A000 for types that cannot be stored.
pub fn type_tag(ty: &PgType, arrow: &DataType) -> PgResult<TypeTag> {
    if array_item(arrow).is_some() {
        return Ok(TypeTag::Array);
    }
    Ok(match ty {
        PgType::Bool => TypeTag::Bool,
        PgType::Int2 => TypeTag::Int16,
        PgType::Int4 => TypeTag::Int32,
        PgType::Int8 => TypeTag::Int64,
        PgType::Float4 => TypeTag::Float32,
        PgType::Float8 => TypeTag::Float64,
        PgType::Numeric if matches!(arrow, DataType::Decimal128(..)) => TypeTag::Decimal128,
        PgType::Numeric => TypeTag::Numeric,
        PgType::Date => TypeTag::Date,
        PgType::Time => TypeTag::Time,
        PgType::Timetz => TypeTag::TimeTz,
        PgType::Timestamp => TypeTag::Timestamp,
        PgType::Timestamptz => TypeTag::TimestampTz,
        PgType::Interval => TypeTag::Interval,
        PgType::Uuid => TypeTag::Uuid,
        PgType::Bytea => TypeTag::Bytes,
        PgType::Json => TypeTag::Json,
        PgType::Jsonb => TypeTag::Jsonb,
        other if other.is_oid_like() => TypeTag::UInt32,
        other if other.is_string() => TypeTag::Text,
        PgType::Jsonpath | PgType::Tsvector | PgType::Tsquery | PgType::Bit | PgType::Varbit => TypeTag::Other,
        other => return Err(PgError::unsupported(format!("a column cannot have type {other}"))),
    })
}

/// How a column's bodies lie in a packed row. Decimals of at most 18 digits take 8 bytes there, not 16.
///
/// # Errors
/// As [`type_tag`].
pub fn value_kind(ty: &SqlType) -> PgResult<ValueKind> {
    if let DataType::Decimal128(precision, _) = ty.arrow
        && precision <= SHORT_DECIMAL_DIGITS
    {
        return Ok(ValueKind::Fixed(8));
    }
    Ok(ValueKind::of(type_tag(&ty.ty, &ty.arrow)?))
}

/// Decimals of at most this precision fit 64 bits.
pub const SHORT_DECIMAL_DIGITS: u8 = 18;
