//! A BSON document taken apart.

use super::{
    ARRAY, BINARY, BOOLEAN, CODE, CODE_WITH_SCOPE, DATE, DB_POINTER, DECIMAL128, DOCUMENT, DOUBLE, INT32, INT64, MAX_KEY, MIN_KEY, NULL,
    OBJECT_ID, OLD_BINARY, REGULAR_EXPRESSION, STRING, SYMBOL, TIMESTAMP, UNDEFINED, decimal,
};
use crate::error::{PgError, PgResult};
use crate::functions::encoding::{Form, hex};
use crate::sqlstate::SqlState;
use crate::values::json::binary::Builder;
use crate::values::json::text::Sink;

/// Milliseconds of 10000-01-01, from which on a date has no text.
const END_OF_DATES: i64 = 253_402_300_800_000;

fn malformed(detail: impl Into<String>) -> PgError {
    PgError::new(SqlState::INVALID_BINARY_REPRESENTATION, "invalid BSON document").detail(detail)
}

/// What is left of a document.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, bytes: usize) -> PgResult<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(bytes).ok_or_else(|| malformed("It ends in the middle of a value."))?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> PgResult<[u8; N]> {
        <[u8; N]>::try_from(self.take(N)?).map_err(|_| malformed("It ends in the middle of a value."))
    }

    fn byte(&mut self) -> PgResult<u8> {
        self.array().map(|[byte]| byte)
    }

    /// A length, which is not negative.
    fn length(&mut self) -> PgResult<usize> {
        usize::try_from(i32::from_le_bytes(self.array()?)).map_err(|_| malformed("A length is negative."))
    }

    fn text(bytes: &'a [u8]) -> PgResult<&'a str> {
        let text = std::str::from_utf8(bytes).map_err(|_| malformed("A text is not UTF-8."))?;
        if text.contains('\0') {
            return Err(PgError::new(SqlState::UNTRANSLATABLE_CHARACTER, "a text of a BSON document has a character that jsonb has not")
                .detail("\\u0000 cannot be converted to text."));
        }
        Ok(text)
    }

    /// A text that ends with a zero byte: a key, or a part of a regular expression.
    fn cstring(&mut self) -> PgResult<&'a str> {
        let end = self.0.iter().position(|byte| *byte == 0).ok_or_else(|| malformed("A key does not end."))?;
        let bytes = self.take(end)?;
        self.byte()?;
        Self::text(bytes)
    }

    /// A text with its length, which counts the zero byte behind it.
    fn string(&mut self) -> PgResult<&'a str> {
        let length = self.length()?;
        match self.take(length)?.split_last() {
            Some((0, bytes)) => Self::text(bytes),
            _ => Err(malformed("A text does not end with a zero byte.")),
        }
    }

    /// A document with its length, which counts itself.
    fn document(&mut self) -> PgResult<&'a [u8]> {
        let length = Input(self.0).length()?;
        self.take(length)
    }
}

/// Appends a document, which has its length before it and a zero byte behind it.
///
/// # Errors
/// 22P03 for bytes that are no document, 22P05 for texts with the character 0, 54001 for nesting that is too deep.
pub fn document(bytes: &[u8], out: &mut Builder) -> PgResult<()> {
    let mut input = elements_of(bytes)?;
    out.begin_object()?;
    while !input.0.is_empty() {
        let kind = input.byte()?;
        out.key(input.cstring()?)?;
        value(kind, &mut input, out)?;
    }
    out.end_object()
}

/// Appends an array: a document whose keys are left aside.
fn array(bytes: &[u8], out: &mut Builder) -> PgResult<()> {
    let mut input = elements_of(bytes)?;
    out.begin_array()?;
    while !input.0.is_empty() {
        let kind = input.byte()?;
        input.cstring()?;
        value(kind, &mut input, out)?;
    }
    out.end_array()
}

fn elements_of(bytes: &[u8]) -> PgResult<Input<'_>> {
    let mut input = Input(bytes);
    if input.length()? != bytes.len() {
        return Err(malformed(format!("It says another length than its {} bytes.", bytes.len())));
    }
    match input.0.split_last() {
        Some((0, elements)) => Ok(Input(elements)),
        _ => Err(malformed("It does not end with a zero byte.")),
    }
}

fn value(kind: u8, input: &mut Input, out: &mut Builder) -> PgResult<()> {
    match kind {
        DOCUMENT => document(input.document()?, out),
        ARRAY => array(input.document()?, out),
        CODE_WITH_SCOPE => {
            let mut inner = Input(input.document()?);
            inner.length()?;
            out.begin_object()?;
            out.key("$code")?;
            out.string(inner.string()?)?;
            out.key("$scope")?;
            document(inner.0, out)?;
            out.end_object()
        }
        _ => scalar(kind, input, out),
    }
}

/// `{"key": "text"}`.
fn wrapped(key: &str, text: &str, out: &mut Builder) -> PgResult<()> {
    out.begin_object()?;
    out.key(key)?;
    out.string(text)?;
    out.end_object()
}

/// `{"key": {"first": "…", "second": "…"}}`.
fn pair(key: &str, [first, second]: [(&str, &str); 2], out: &mut Builder) -> PgResult<()> {
    out.begin_object()?;
    out.key(key)?;
    out.begin_object()?;
    for (key, text) in [first, second] {
        out.key(key)?;
        out.string(text)?;
    }
    out.end_object()?;
    out.end_object()
}

// Apart from `value`, so that what calls itself takes little of the stack.
#[inline(never)]
fn scalar(kind: u8, input: &mut Input, out: &mut Builder) -> PgResult<()> {
    match kind {
        DOUBLE => double(f64::from_le_bytes(input.array()?), out),
        STRING => out.string(input.string()?),
        BINARY => binary(input, out),
        UNDEFINED => {
            out.begin_object()?;
            out.key("$undefined")?;
            out.bool(true)?;
            out.end_object()
        }
        OBJECT_ID => wrapped("$oid", &hex(input.take(12)?), out),
        BOOLEAN => match input.byte()? {
            0 => out.bool(false),
            1 => out.bool(true),
            other => Err(malformed(format!("A truth value is {other}."))),
        },
        DATE => date(i64::from_le_bytes(input.array()?), out),
        NULL => out.null(),
        REGULAR_EXPRESSION => {
            let pattern = input.cstring()?;
            pair("$regularExpression", [("pattern", pattern), ("options", input.cstring()?)], out)
        }
        DB_POINTER => {
            let name = input.string()?;
            out.begin_object()?;
            out.key("$dbPointer")?;
            out.begin_object()?;
            out.key("$ref")?;
            out.string(name)?;
            out.key("$id")?;
            wrapped("$oid", &hex(input.take(12)?), out)?;
            out.end_object()?;
            out.end_object()
        }
        CODE => wrapped("$code", input.string()?, out),
        SYMBOL => wrapped("$symbol", input.string()?, out),
        INT32 => out.number(&i32::from_le_bytes(input.array()?).to_string()),
        INT64 => out.number(&i64::from_le_bytes(input.array()?).to_string()),
        TIMESTAMP => {
            let (increment, seconds) = (u32::from_le_bytes(input.array()?), u32::from_le_bytes(input.array()?));
            out.begin_object()?;
            out.key("$timestamp")?;
            out.begin_object()?;
            for (key, number) in [("t", seconds), ("i", increment)] {
                out.key(key)?;
                out.number(&number.to_string())?;
            }
            out.end_object()?;
            out.end_object()
        }
        DECIMAL128 => wrapped("$numberDecimal", &decimal::text(input.array()?), out),
        MIN_KEY | MAX_KEY => {
            out.begin_object()?;
            out.key(if kind == MIN_KEY { "$minKey" } else { "$maxKey" })?;
            out.number("1")?;
            out.end_object()
        }
        _ => Err(malformed(format!("It has a value of the unknown type 0x{kind:02x}."))),
    }
}

/// A double always has a point, which tells it from an integer when it goes back.
fn double(value: f64, out: &mut Builder) -> PgResult<()> {
    if !value.is_finite() {
        let text = if value.is_nan() {
            "NaN"
        } else if value > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        };
        return wrapped("$numberDouble", text, out);
    }
    if value == 0.0 && value.is_sign_negative() {
        return wrapped("$numberDouble", "-0.0", out);
    }
    let mut text = value.to_string();
    if !text.contains('.') {
        text.push_str(".0");
    }
    out.number(&text)
}

fn binary(input: &mut Input, out: &mut Builder) -> PgResult<()> {
    let length = input.length()?;
    let subtype = input.byte()?;
    let mut bytes = input.take(length)?;
    if subtype == OLD_BINARY {
        let mut inner = Input(bytes);
        if inner.length()? != inner.0.len() {
            return Err(malformed("A binary value of the old kind says two lengths."));
        }
        bytes = inner.0;
    }
    let mut base64 = String::new();
    Form::Base64.encode(bytes, &mut base64)?;
    base64.retain(|c| c != '\n');
    pair("$binary", [("base64", &base64), ("subType", &hex(&[subtype]))], out)
}

/// A date from 1970 to 9999 is a text, another one the milliseconds since 1970.
fn date(milliseconds: i64, out: &mut Builder) -> PgResult<()> {
    if (0..END_OF_DATES).contains(&milliseconds)
        && let Ok(time) = jiff::Timestamp::from_millisecond(milliseconds)
    {
        let form = if milliseconds % 1000 == 0 { "%Y-%m-%dT%H:%M:%SZ" } else { "%Y-%m-%dT%H:%M:%S%.3fZ" };
        return wrapped("$date", &time.strftime(form).to_string(), out);
    }
    out.begin_object()?;
    out.key("$date")?;
    wrapped("$numberLong", &milliseconds.to_string(), out)?;
    out.end_object()
}
