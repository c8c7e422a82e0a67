//! Parts of row keys that are made of their columns in another way than by the encoding of the type: hashes that spread rows, and the
//! layouts of other programs.
//!
//! Invariant: a form is part of the stored format; which types it takes and what it writes never changes. A form that holds its column's
//! value orders keys as the values are ordered, but for texts before a delimiter that sorts behind them.

use super::builder::ColumnBuilder;
use super::corrupt;
use super::types::part_kind;
use crate::catalog::KeyForm;
use std::borrow::Cow;
use stoa_encoding::DecodeError;
use stoa_encoding::keyside::{self, Direction, PartKind, raw};
use stoa_pg::types::PgType;
use stoa_pg::values::datetime::calendar;
use stoa_pg::{PgError, PgResult, SqlState, SqlType};

/// The longest part of a fixed width, in bytes.
pub const WIDEST: u32 = 1024;

/// A value as forms take it.
#[derive(Clone, Copy, Debug)]
pub enum FormValue<'a> {
    Number(i64),
    /// Days since 1970.
    Date(i32),
    Text(&'a str),
    Bytes(&'a [u8]),
    /// A value of another type: its encoding in an ascending part.
    Other(&'a [u8]),
}

/// How a part of this form lies in keys.
///
/// # Errors
/// 42P16 for a type that the form does not take.
pub fn kind(form: KeyForm, ty: &SqlType) -> PgResult<PartKind> {
    let integer = matches!(ty.ty, PgType::Int2 | PgType::Int4 | PgType::Int8);
    let text = matches!(ty.ty, PgType::Text | PgType::Varchar);
    let bytes = ty.ty == PgType::Bytea;
    let (takes, kind) = match form {
        KeyForm::Value => return part_kind(ty),
        // Of values that are equal and not the same, such as 1.0 and 1.00, the key has one form.
        KeyForm::Hash(width) => (part_kind(ty).is_ok(), PartKind::Raw(u32::from(width))),
        KeyForm::Md5(width) => (integer || text || bytes, PartKind::Raw(u32::from(width))),
        KeyForm::Reversed => (integer || text, PartKind::Escaped),
        KeyForm::Unsigned(width) | KeyForm::Signed(width) => (integer, PartKind::Raw(u32::from(width))),
        KeyForm::Digits(width) => (integer || (ty.ty == PgType::Date && width == 8), PartKind::Raw(u32::from(width))),
        KeyForm::Fixed(width) => (text || bytes, PartKind::Raw(width)),
        KeyForm::Delimited(delimiter) => (text, PartKind::Delimited(delimiter)),
        KeyForm::Rest(_) => (text || bytes, PartKind::Rest),
    };
    if takes {
        return Ok(kind);
    }
    let message = format!("a key part {} cannot be made of type {}", form.written("…"), ty.ty);
    Err(PgError::new(SqlState::INVALID_TABLE_DEFINITION, message).hint(match form {
        KeyForm::Digits(_) => "DIGITS takes integers, and dates with 8 digits.",
        KeyForm::Unsigned(_) | KeyForm::Signed(_) => "UNSIGNED and SIGNED take integers.",
        KeyForm::Reversed | KeyForm::Md5(_) => "REVERSE takes texts and integers, MD5 these and bytea.",
        _ => "It takes texts, and FIXED and REST take bytea.",
    }))
}

/// The least and the greatest number that a part of this form holds, where it is one of numbers.
#[must_use]
pub fn limits(form: KeyForm) -> Option<(i128, i128)> {
    match form {
        KeyForm::Unsigned(width) => Some((0, (1_i128 << (8 * u32::from(width))) - 1)),
        KeyForm::Signed(width) => {
            let half = 1_i128 << (8 * u32::from(width) - 1);
            Some((-half, half - 1))
        }
        KeyForm::Digits(width) => Some((0, 10_i128.pow(u32::from(width)) - 1)),
        _ => None,
    }
}

/// Appends the part of a value.
///
/// # Errors
/// 22003 or 22001: the value does not fit.
pub fn encode(form: KeyForm, value: FormValue<'_>, direction: Direction, out: &mut Vec<u8>) -> PgResult<()> {
    let from = out.len();
    let fits = match form {
        KeyForm::Hash(width) => {
            let mut plain = Vec::new();
            match value {
                FormValue::Number(n) => keyside::encode_i64(&mut plain, n, Direction::Asc),
                FormValue::Date(days) => keyside::encode_i32(&mut plain, days, Direction::Asc),
                FormValue::Text(text) => plain.extend_from_slice(text.as_bytes()),
                FormValue::Bytes(bytes) | FormValue::Other(bytes) => plain.extend_from_slice(bytes),
            }
            head(&keyside::hash(&plain).to_be_bytes(), width, direction, out)
        }
        KeyForm::Md5(width) => match value {
            FormValue::Bytes(bytes) => head(&stoa_pg::functions::bytea::md5(bytes), width, direction, out),
            value => head(&stoa_pg::functions::bytea::md5(text(value)?.as_bytes()), width, direction, out),
        },
        KeyForm::Reversed => {
            let reversed: String = text(value)?.chars().rev().collect();
            keyside::encode_bytes(out, reversed.as_bytes(), direction);
            true
        }
        KeyForm::Unsigned(width) => match value {
            FormValue::Number(n) => u64::try_from(n).is_ok_and(|n| raw::encode_unsigned(out, n, width, direction).is_ok()),
            _ => return Err(wrong()),
        },
        KeyForm::Signed(width) => match value {
            FormValue::Number(n) => raw::encode_signed(out, n, width, direction).is_ok(),
            _ => return Err(wrong()),
        },
        KeyForm::Digits(width) => {
            let number = match value {
                FormValue::Number(n) => u64::try_from(n).ok(),
                FormValue::Date(days) => digits_of_date(days),
                _ => return Err(wrong()),
            };
            number.is_some_and(|n| raw::encode_digits(out, n, width, direction).is_ok())
        }
        KeyForm::Fixed(width) => match value {
            FormValue::Text(text) => raw::encode_padded(out, text.as_bytes(), width as usize, direction).is_ok(),
            FormValue::Bytes(bytes) => keyside::encode_raw(out, bytes, width as usize, direction).is_ok(),
            _ => return Err(wrong()),
        },
        KeyForm::Delimited(delimiter) => raw::encode_delimited(out, text(value)?.as_bytes(), delimiter, direction).is_ok(),
        KeyForm::Rest(most) => {
            let bytes = match value {
                FormValue::Text(text) => text.as_bytes(),
                FormValue::Bytes(bytes) => bytes,
                _ => return Err(wrong()),
            };
            out.extend_from_slice(bytes);
            bytes.len() <= most as usize
        }
        KeyForm::Value => return Err(PgError::internal("a value is no form of a key part")),
    };
    if fits {
        return Ok(());
    }
    out.truncate(from);
    Err(misfit(form, value))
}

/// The first bytes of a digest.
fn head(digest: &[u8], width: u8, direction: Direction, out: &mut Vec<u8>) -> bool {
    let head = digest.get(..usize::from(width)).unwrap_or(digest);
    out.extend(head.iter().map(|b| b ^ direction.mask()));
    true
}

/// Year, month and day of a date as one number, if it has four digits for the year.
fn digits_of_date(days: i32) -> Option<u64> {
    let (year, month, day) =
        Some(days).filter(|days| calendar::is_finite_date(*days)).map(|days| calendar::civil_from_days(i64::from(days)))?;
    let number = i64::from(year) * 10_000 + i64::from(month) * 100 + i64::from(day);
    u64::try_from(number).ok().filter(|_| (1..=9999).contains(&year))
}

fn text(value: FormValue<'_>) -> PgResult<Cow<'_, str>> {
    match value {
        FormValue::Number(n) => Ok(n.to_string().into()),
        FormValue::Text(text) => Ok(text.into()),
        _ => Err(wrong()),
    }
}

#[cold]
fn wrong() -> PgError {
    PgError::internal("a key part of another type")
}

#[cold]
fn misfit(form: KeyForm, value: FormValue<'_>) -> PgError {
    let (state, shown) = match value {
        FormValue::Number(n) => (SqlState::NUMERIC_VALUE_OUT_OF_RANGE, n.to_string()),
        FormValue::Date(days) if !calendar::is_finite_date(days) => {
            (SqlState::NUMERIC_VALUE_OUT_OF_RANGE, if days > 0 { "infinity" } else { "-infinity" }.to_owned())
        }
        FormValue::Date(days) => {
            let (year, month, day) = calendar::civil_from_days(i64::from(days));
            (SqlState::NUMERIC_VALUE_OUT_OF_RANGE, format!("{year:04}-{month:02}-{day:02}"))
        }
        FormValue::Text(text) => (SqlState::STRING_DATA_RIGHT_TRUNCATION, format!("\"{text}\"")),
        FormValue::Bytes(bytes) | FormValue::Other(bytes) => (SqlState::STRING_DATA_RIGHT_TRUNCATION, format!("of {} bytes", bytes.len())),
    };
    let error = PgError::new(state, format!("value {shown} does not fit the row key's part {}", form.written("…")));
    match form {
        KeyForm::Delimited(delimiter) if raw::delimited_in_order(delimiter) => error
            .detail(format!(
                "A text there has no byte up to the delimiter {:?}, so that keys are in the order of the texts.",
                char::from(delimiter)
            ))
            .hint("Before a delimiter that sorts behind digits, such as '|' or ':', any text may stand that does not have it."),
        KeyForm::Delimited(delimiter) => error.detail(format!("A text there does not have the delimiter {:?}.", char::from(delimiter))),
        _ => error,
    }
}

/// Reads the value of a part that holds it into a column; returns what follows.
///
/// # Errors
/// XX001 for bytes that no such part has.
pub fn decode<'k>(form: KeyForm, direction: Direction, key: &'k [u8], column: &mut ColumnBuilder) -> PgResult<&'k [u8]> {
    let malformed = || corrupt(DecodeError::Malformed { what: "key part" });
    let number = |bytes: &'k [u8]| -> PgResult<(i64, &'k [u8])> {
        let unsigned = |found: Result<(u64, &'k [u8]), DecodeError>| {
            let (value, rest) = found.map_err(corrupt)?;
            Ok((i64::try_from(value).map_err(|_| malformed())?, rest))
        };
        match form {
            KeyForm::Unsigned(width) => unsigned(raw::decode_unsigned(bytes, width, direction)),
            KeyForm::Signed(width) => raw::decode_signed(bytes, width, direction).map_err(corrupt),
            KeyForm::Digits(width) => unsigned(raw::decode_digits(bytes, width, direction)),
            _ => Err(wrong()),
        }
    };
    match column {
        ColumnBuilder::Int16(b) => {
            let (value, rest) = number(key)?;
            b.append_value(i16::try_from(value).map_err(|_| malformed())?);
            Ok(rest)
        }
        ColumnBuilder::Int32(b) => {
            let (value, rest) = number(key)?;
            b.append_value(i32::try_from(value).map_err(|_| malformed())?);
            Ok(rest)
        }
        ColumnBuilder::Int64(b) => {
            let (value, rest) = number(key)?;
            b.append_value(value);
            Ok(rest)
        }
        ColumnBuilder::Date(b) => {
            let (value, rest) = number(key)?;
            let part = |n: i64| i32::try_from(n).map_err(|_| malformed());
            let (year, month, day) = (part(value / 10_000)?, part(value / 100 % 100)?, part(value % 100)?);
            if !(1..=12).contains(&month) || !(1..=calendar::days_in_month(year, month)).contains(&day) {
                return Err(malformed());
            }
            b.append_value(i32::try_from(calendar::days_from_civil(year, month, day)).map_err(|_| malformed())?);
            Ok(rest)
        }
        ColumnBuilder::Text(b) => {
            let (value, rest) = match form {
                KeyForm::Fixed(width) => raw::decode_padded(key, width as usize, direction).map_err(corrupt)?,
                KeyForm::Delimited(delimiter) => raw::decode_delimited(key, delimiter, direction).map_err(corrupt)?,
                KeyForm::Rest(_) => (Cow::Borrowed(key), &[][..]),
                _ => return Err(wrong()),
            };
            b.push(&value)?;
            Ok(rest)
        }
        ColumnBuilder::Bytes(b) => {
            let (value, rest) = match form {
                KeyForm::Fixed(width) => keyside::decode_raw(key, width as usize, direction).map_err(corrupt)?,
                KeyForm::Rest(_) => (Cow::Borrowed(key), &[][..]),
                _ => return Err(wrong()),
            };
            b.push(&value)?;
            Ok(rest)
        }
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests;
