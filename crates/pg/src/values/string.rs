//! Values: text, varchar, char(n), name, "char", bytea, uuid: text and binary forms, and lengths.
//!
//! Invariants: a `char(n)` is kept without trailing blanks, which its writer puts back, and a `char` without a length with those that it
//! has; a `name` has at most 63 bytes; a `"char"` has
//! at most one character.

use super::{ValueBuilder, ValueWriter, fixed_width, open};
use crate::args::{Kernel, Kind, Reader, Text, arg};
use crate::context::EvalContext;
use crate::error::{PgError, PgResult};
use crate::settings::ByteaOutput;
use crate::sqlstate::SqlState;
use crate::types::{PgType, SqlType, TRIMMED, length_typmod};
use arrow::array::{
    Array, ArrayRef, BinaryViewArray, BinaryViewBuilder, FixedSizeBinaryArray, FixedSizeBinaryBuilder, StringViewArray, StringViewBuilder,
};
use std::borrow::Cow;
use std::sync::Arc;

/// Bytes of the longest `name`.
pub const NAME_BYTES: usize = 63;

/// Writes a column of a type of this file.
pub fn writer<'a>(ctx: &'a EvalContext, ty: &SqlType, array: &'a dyn Array) -> PgResult<Box<dyn ValueWriter + 'a>> {
    Ok(match ty.ty {
        PgType::Bytea => Box::new(ByteaWriter { column: open(array, ty)?, output: ctx.settings.bytea_output }),
        PgType::Uuid => Box::new(UuidWriter { column: open(array, ty)? }),
        PgType::Bpchar => Box::new(TextWriter { column: open(array, ty)?, width: length_typmod(ty.typmod).unwrap_or(0), byte: false }),
        _ => Box::new(TextWriter { column: open(array, ty)?, width: 0, byte: ty.ty == PgType::Char }),
    })
}

/// Builds a column of a type of this file.
pub fn builder(ty: &SqlType) -> PgResult<Box<dyn ValueBuilder>> {
    Ok(match ty.ty {
        PgType::Bytea => Box::new(ByteaBuilder { values: BinaryViewBuilder::new() }),
        PgType::Uuid => Box::new(UuidBuilder { values: FixedSizeBinaryBuilder::new(16) }),
        _ => Box::new(TextBuilder { values: StringViewBuilder::new(), shape: Shape::of(ty), explicit: false }),
    })
}

/// Fits strings to a length: `varchar(n)` and `char(n)`. Without `explicit`, only blanks may be lost.
#[must_use]
pub fn apply_typmod(ty: &SqlType, explicit: bool) -> Option<Kernel> {
    let shape = Shape::of(ty);
    if matches!(shape, Shape::Free) {
        return None;
    }
    Some(Arc::new(move |call, args| {
        let input = Reader::<Text>::new(arg(args, 0)?)?;
        let mut out = StringViewBuilder::with_capacity(call.rows);
        for row in 0..call.rows {
            match input.get(row)? {
                Some(value) => out.append_value(shape.fit(value, explicit)?),
                None => out.append_null(),
            }
        }
        Text::finish(out, call.ret)
    }))
}

/// What a string type does to the strings it takes.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    Free,
    Varchar(usize),
    /// `char(n)`.
    Padded(usize),
    /// `char` of any length without its blanks.
    Trimmed,
    Name,
    Char,
}

impl Shape {
    #[must_use]
    pub fn of(ty: &SqlType) -> Shape {
        match (&ty.ty, length_typmod(ty.typmod)) {
            (PgType::Varchar, Some(limit)) => Shape::Varchar(limit),
            (PgType::Bpchar, Some(limit)) => Shape::Padded(limit),
            (PgType::Bpchar, None) if ty.typmod == TRIMMED => Shape::Trimmed,
            (PgType::Name, _) => Shape::Name,
            (PgType::Char, _) => Shape::Char,
            _ => Shape::Free,
        }
    }

    /// The string as the type keeps it.
    ///
    /// # Errors
    /// 22001 when more than blanks would be lost and `explicit` does not allow it.
    pub fn fit(self, value: &str, explicit: bool) -> PgResult<&str> {
        let (limit, type_name) = match self {
            Shape::Free => return Ok(value),
            Shape::Name => return Ok(value.get(..value.floor_char_boundary(NAME_BYTES)).unwrap_or(value)),
            Shape::Char => return one_character(value),
            Shape::Trimmed => return Ok(value.trim_end_matches(' ')),
            Shape::Varchar(limit) => (limit, "character varying"),
            Shape::Padded(limit) => (limit, "character"),
        };
        let kept = match end_of_chars(value, limit) {
            None => value,
            Some(end) => {
                let (kept, excess) = value.split_at(end);
                if !explicit && excess.bytes().any(|byte| byte != b' ') {
                    return Err(PgError::new(
                        SqlState::STRING_DATA_RIGHT_TRUNCATION,
                        format!("value too long for type {type_name}({limit})"),
                    ));
                }
                kept
            }
        };
        Ok(if matches!(self, Shape::Padded(_)) { kept.trim_end_matches(' ') } else { kept })
    }
}

/// The first character, or the one whose byte is written as `\ooo` in octal.
fn one_character(value: &str) -> PgResult<&str> {
    const ASCII: &str = "\0\x01\x02\x03\x04\x05\x06\x07\x08\t\n\x0b\x0c\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\
                         \x20!\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~\x7f";
    if let [b'\\', digits @ ..] = value.as_bytes()
        && let [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7'] = digits
    {
        let byte = usize::from(a - b'0') * 64 + usize::from(b - b'0') * 8 + usize::from(c - b'0');
        return match byte {
            // PostgreSQL prints a byte of zero as nothing.
            0 => Ok(""),
            byte => ASCII
                .get(byte..=byte)
                .ok_or_else(|| PgError::unsupported("a \"char\" beyond ASCII").hint("Use text for characters beyond ASCII.")),
        };
    }
    Ok(value.get(..value.chars().next().map_or(0, char::len_utf8)).unwrap_or(""))
}

/// Where the first `limit` characters end, if there are more.
fn end_of_chars(value: &str, limit: usize) -> Option<usize> {
    if value.len() <= limit {
        return None;
    }
    value.char_indices().nth(limit).map(|(at, _)| at)
}

/// `value` padded with blanks to `width` characters: a `char(n)` as SQL shows it.
#[must_use]
pub fn padded(value: &str, width: usize) -> Cow<'_, str> {
    let missing = if value.len() >= width * 4 { 0 } else { width.saturating_sub(value.chars().count()) };
    if missing == 0 { Cow::Borrowed(value) } else { Cow::Owned(format!("{value}{:missing$}", "")) }
}

struct TextWriter<'a> {
    column: &'a StringViewArray,
    /// Characters to which values are padded.
    width: usize,
    /// Of "char", whose binary form is one byte: of nothing, zero.
    byte: bool,
}

impl ValueWriter for TextWriter<'_> {
    fn text(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        let value = self.column.value(row);
        out.extend_from_slice(value.as_bytes());
        if self.width > 0 {
            out.extend(std::iter::repeat_n(b' ', self.width.saturating_sub(value.chars().count())));
        }
        Ok(())
    }

    fn binary(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        if self.byte && self.column.value(row).is_empty() {
            out.push(0);
        }
        self.text(row, out)
    }
}

struct TextBuilder {
    values: StringViewBuilder,
    shape: Shape,
    explicit: bool,
}

impl TextBuilder {
    fn append(&mut self, value: &str) -> PgResult<()> {
        if value.as_bytes().contains(&0) {
            return Err(invalid_utf8(&[0]));
        }
        self.values.append_value(self.shape.fit(value, self.explicit)?);
        Ok(())
    }
}

impl ValueBuilder for TextBuilder {
    fn text(&mut self, _: &EvalContext, value: &str) -> PgResult<()> {
        self.append(value)
    }

    fn binary(&mut self, _: &EvalContext, value: &[u8]) -> PgResult<()> {
        if matches!(self.shape, Shape::Char) && fixed_width::<1>(value)? == [0] {
            return self.append("");
        }
        match std::str::from_utf8(value) {
            Ok(value) => self.append(value),
            Err(error) => {
                let bad = value.get(error.valid_up_to()..).unwrap_or(&[]);
                Err(invalid_utf8(bad.get(..bad.len().min(error.error_len().unwrap_or(bad.len()))).unwrap_or(&[])))
            }
        }
    }

    fn null(&mut self) {
        self.values.append_null();
    }

    fn len(&self) -> usize {
        arrow::array::ArrayBuilder::len(&self.values)
    }

    fn finish(&mut self) -> PgResult<ArrayRef> {
        Ok(Arc::new(self.values.finish()))
    }
}

/// `invalid byte sequence for encoding "UTF8": 0x…`, 22021.
#[must_use]
pub fn invalid_utf8(bytes: &[u8]) -> PgError {
    let hex: Vec<String> = bytes.iter().take(4).map(|byte| format!("0x{byte:02x}")).collect();
    PgError::new(SqlState::CHARACTER_NOT_IN_REPERTOIRE, format!("invalid byte sequence for encoding \"UTF8\": {}", hex.join(" ")))
}

// ---------------------------------------------------------------------------------------------------------------------------------
// bytea

struct ByteaWriter<'a> {
    column: &'a BinaryViewArray,
    output: ByteaOutput,
}

impl ValueWriter for ByteaWriter<'_> {
    fn text(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        write_bytea(self.column.value(row), self.output, out);
        Ok(())
    }

    fn binary(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        out.extend_from_slice(self.column.value(row));
        Ok(())
    }
}

/// Appends the text form of bytes: `\x1f` or escapes.
pub fn write_bytea(value: &[u8], output: ByteaOutput, out: &mut Vec<u8>) {
    match output {
        ByteaOutput::Hex => {
            out.extend_from_slice(b"\\x");
            write_hex(value, out);
        }
        ByteaOutput::Escape => {
            for &byte in value {
                match byte {
                    b'\\' => out.extend_from_slice(b"\\\\"),
                    0x20..=0x7e => out.push(byte),
                    _ => out.extend([b'\\', b'0' + (byte >> 6), b'0' + (byte >> 3 & 7), b'0' + (byte & 7)]),
                }
            }
        }
    }
}

/// Appends two lower-case hexadecimal digits a byte.
pub fn write_hex(value: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.reserve(value.len() * 2);
    for &byte in value {
        out.extend([DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
}

/// The bytes of hexadecimal digits; blanks may stand between pairs.
///
/// # Errors
/// 22023 for other characters or half a pair.
pub fn parse_hex(text: &str) -> PgResult<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 2);
    let mut chars = text.chars();
    let digit = |c: char| {
        c.to_digit(16)
            .map(|digit| digit as u8)
            .ok_or_else(|| PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("invalid hexadecimal digit: \"{c}\"")))
    };
    while let Some(high) = chars.next() {
        if matches!(high, ' ' | '\n' | '\t' | '\r') {
            continue;
        }
        let high = digit(high)?;
        let low = chars
            .next()
            .ok_or_else(|| PgError::new(SqlState::INVALID_PARAMETER_VALUE, "invalid hexadecimal data: odd number of digits"))?;
        out.push(high << 4 | digit(low)?);
    }
    Ok(out)
}

/// The bytes of a bytea's text: `\x…`, or characters with `\\` and `\ooo`.
///
/// # Errors
/// 22P02 or 22023 for what is neither.
pub fn parse_bytea(text: &str) -> PgResult<Vec<u8>> {
    if let Some(hex) = text.strip_prefix("\\x") {
        return parse_hex(hex);
    }
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    loop {
        rest = match rest {
            [] => return Ok(out),
            [b'\\', b'\\', rest @ ..] => {
                out.push(b'\\');
                rest
            }
            [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', rest @ ..] => {
                out.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                rest
            }
            [b'\\', ..] => {
                return Err(PgError::new(SqlState::INVALID_TEXT_REPRESENTATION, "invalid input syntax for type bytea"));
            }
            [byte, rest @ ..] => {
                out.push(*byte);
                rest
            }
        };
    }
}

struct ByteaBuilder {
    values: BinaryViewBuilder,
}

impl ValueBuilder for ByteaBuilder {
    fn text(&mut self, _: &EvalContext, value: &str) -> PgResult<()> {
        self.values.append_value(parse_bytea(value)?);
        Ok(())
    }

    fn binary(&mut self, _: &EvalContext, value: &[u8]) -> PgResult<()> {
        self.values.append_value(value);
        Ok(())
    }

    fn null(&mut self) {
        self.values.append_null();
    }

    fn len(&self) -> usize {
        arrow::array::ArrayBuilder::len(&self.values)
    }

    fn finish(&mut self) -> PgResult<ArrayRef> {
        Ok(Arc::new(self.values.finish()))
    }
}

// ---------------------------------------------------------------------------------------------------------------------------------
// uuid

struct UuidWriter<'a> {
    column: &'a FixedSizeBinaryArray,
}

impl ValueWriter for UuidWriter<'_> {
    fn text(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        let value = self.column.value(row);
        for (at, byte) in value.iter().enumerate() {
            if matches!(at, 4 | 6 | 8 | 10) {
                out.push(b'-');
            }
            write_hex(std::slice::from_ref(byte), out);
        }
        Ok(())
    }

    fn binary(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        out.extend_from_slice(self.column.value(row));
        Ok(())
    }
}

/// Reads 32 hexadecimal digits, with a hyphen allowed after each four and braces around.
///
/// # Errors
/// 22P02 for anything else.
pub fn parse_uuid(text: &str) -> PgResult<[u8; 16]> {
    let invalid = || PgError::invalid_text("uuid", text);
    let digits = match text.strip_prefix('{') {
        Some(rest) => rest.strip_suffix('}').ok_or_else(invalid)?,
        None => text,
    };
    let mut out = [0u8; 16];
    let mut bytes = digits.bytes().peekable();
    for (at, slot) in out.iter_mut().enumerate() {
        let mut digit = || bytes.next().and_then(|byte| char::from(byte).to_digit(16)).ok_or_else(invalid);
        *slot = (digit()? << 4 | digit()?) as u8;
        if at % 2 == 1 && at < 15 {
            bytes.next_if_eq(&b'-');
        }
    }
    if bytes.next().is_some() { Err(invalid()) } else { Ok(out) }
}

struct UuidBuilder {
    values: FixedSizeBinaryBuilder,
}

impl ValueBuilder for UuidBuilder {
    fn text(&mut self, _: &EvalContext, value: &str) -> PgResult<()> {
        self.values.append_value(parse_uuid(value)?)?;
        Ok(())
    }

    fn binary(&mut self, _: &EvalContext, value: &[u8]) -> PgResult<()> {
        self.values.append_value(fixed_width::<16>(value)?)?;
        Ok(())
    }

    fn null(&mut self) {
        self.values.append_null();
    }

    fn len(&self) -> usize {
        arrow::array::ArrayBuilder::len(&self.values)
    }

    fn finish(&mut self) -> PgResult<ArrayRef> {
        Ok(Arc::new(self.values.finish()))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn bytea() {
        for (text, bytes) in [("\\x 12 34", &[0x12u8, 0x34][..]), ("a\\\\\\001", b"a\\\x01"), ("", b""), ("é", "é".as_bytes())] {
            assert_eq!(parse_bytea(text).unwrap(), bytes);
        }
        for (text, code, message) in [
            ("\\xgg", "22023", "invalid hexadecimal digit: \"g\""),
            ("\\x123", "22023", "invalid hexadecimal data: odd number of digits"),
            ("a\\b", "22P02", "invalid input syntax for type bytea"),
        ] {
            let error = parse_bytea(text).unwrap_err();
            assert_eq!((error.code().as_str(), error.message()), (code, message));
        }
        let mut out = Vec::new();
        write_bytea(b"a\\\x01\xff", ByteaOutput::Escape, &mut out);
        assert_eq!(out, b"a\\\\\\001\\377");
    }

    #[test]
    fn uuid() {
        let expected = parse_uuid("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11").unwrap();
        for text in ["{A0EEBC99-9c0b4ef8-bb6d6bb9-bd380a11}", "a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11", "a0eebc999c0b4ef8bb6d6bb9bd380a11"]
        {
            assert_eq!(parse_uuid(text).unwrap(), expected);
        }
        for text in ["", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1", "a-0eebc999c0b4ef8bb6d6bb9bd380a11", "{a0eebc999c0b4ef8bb6d6bb9bd380a11"] {
            assert!(parse_uuid(text).is_err());
        }
    }

    #[test]
    fn lengths() {
        let varchar = Shape::Varchar(3);
        assert_eq!(varchar.fit("äbcd", true).unwrap(), "äbc");
        assert_eq!(varchar.fit("abc  ", false).unwrap(), "abc");
        assert_eq!(varchar.fit("abcd", false).unwrap_err().message(), "value too long for type character varying(3)");
        assert_eq!(Shape::Padded(3).fit("a ", false).unwrap(), "a");
        assert_eq!(Shape::Padded(3).fit("abcd", false).unwrap_err().code().as_str(), "22001");
        assert_eq!(Shape::Name.fit(&"ä".repeat(40), false).unwrap().len(), 62);
        assert_eq!(padded("ä", 3), "ä  ");
    }
}
