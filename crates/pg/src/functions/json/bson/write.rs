//! A BSON document made of jsonb.

use super::{
    ARRAY, BINARY, BOOLEAN, CODE, CODE_WITH_SCOPE, DATE, DB_POINTER, DECIMAL128, DOCUMENT, DOUBLE, INT32, INT64, MAX_KEY, MIN_KEY, NULL,
    OBJECT_ID, OLD_BINARY, REGULAR_EXPRESSION, STRING, SYMBOL, TIMESTAMP, UNDEFINED, UUID_BINARY, decimal,
};
use crate::error::{PgError, PgResult};
use crate::functions::encoding::{Form, decode_hex};
use crate::memory::reserve;
use crate::sqlstate::SqlState;
use crate::values::json::binary::{Node, Object};

fn too_large() -> PgError {
    PgError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "a BSON document has at most 2147483647 bytes")
}

fn not_a_number(text: &str) -> PgError {
    PgError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, format!("no number of BSON is {text}"))
        .detail("BSON has integers of 64 bits, doubles, and decimal numbers of 34 digits; nothing is rounded.")
}

/// Appends the document that an object is.
///
/// # Errors
/// 22023 for what is no object, and for Extended JSON that is wrong (`{"$oid": 1}`); 22003 for numbers that BSON does not have; 54000 for
/// documents of 2 GiB.
pub fn root(node: &Node, out: &mut Vec<u8>) -> PgResult<()> {
    match node {
        Node::Object(object) => document(object, out),
        other => Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, "a BSON document is made of a jsonb object")
            .detail(format!("This is of type {}.", other.kind().name()))),
    }
}

/// Writes something with its length, which counts itself, before it.
fn with_length(out: &mut Vec<u8>, body: impl FnOnce(&mut Vec<u8>) -> PgResult<()>) -> PgResult<()> {
    let start = out.len();
    out.extend([0; 4]);
    body(out)?;
    let length = i32::try_from(out.len() - start).map_err(|_| too_large())?;
    if let Some(place) = out.get_mut(start..start + 4) {
        place.copy_from_slice(&length.to_le_bytes());
    }
    Ok(())
}

fn document(object: &Object, out: &mut Vec<u8>) -> PgResult<()> {
    with_length(out, |out| {
        for (key, value) in object.iter() {
            element(key, &value, out)?;
        }
        out.push(0);
        Ok(())
    })
}

fn element(key: &str, value: &Node, out: &mut Vec<u8>) -> PgResult<()> {
    // Beside the key a type, and at most a decimal.
    reserve(out, key.len() + 24)?;
    let kind = out.len();
    out.push(NULL);
    cstring(key, out);
    let is = match value {
        Node::Object(object) if !object.key(0).starts_with('$') => {
            document(object, out)?;
            DOCUMENT
        }
        Node::Array(array) => {
            with_length(out, |out| {
                for (i, value) in array.iter().enumerate() {
                    element(&i.to_string(), &value, out)?;
                }
                out.push(0);
                Ok(())
            })?;
            ARRAY
        }
        // What has an inner document of its own, and is no scalar.
        Node::Object(object) if object.len() == 2 && object.get("$code").is_some() && object.get("$scope").is_some() => {
            let (Some(Node::String(code)), Some(Node::Object(scope))) = (object.get("$code"), object.get("$scope")) else {
                return Err(wrong("$code"));
            };
            with_length(out, |out| {
                string(code, out)?;
                document(&scope, out)
            })?;
            CODE_WITH_SCOPE
        }
        Node::Object(object) => match extended(object, out)? {
            Some(kind) => kind,
            None => {
                document(object, out)?;
                DOCUMENT
            }
        },
        other => scalar(other, out)?,
    };
    if let Some(place) = out.get_mut(kind) {
        *place = is;
    }
    Ok(())
}

fn cstring(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(text.as_bytes());
    out.push(0);
}

fn string(text: &str, out: &mut Vec<u8>) -> PgResult<()> {
    let length = i32::try_from(text.len() + 1).map_err(|_| too_large())?;
    reserve(out, text.len() + 5)?;
    out.extend(length.to_le_bytes());
    cstring(text, out);
    Ok(())
}

fn scalar(node: &Node, out: &mut Vec<u8>) -> PgResult<u8> {
    Ok(match node {
        Node::Bool(value) => {
            out.push(u8::from(*value));
            BOOLEAN
        }
        Node::Number(digits) => number(digits, out)?,
        Node::String(text) => {
            string(text, out)?;
            STRING
        }
        _ => NULL,
    })
}

/// An integer of 32 or 64 bits where the number has no point; else a double, if one is the same number, or a decimal of 34 digits.
fn number(text: &str, out: &mut Vec<u8>) -> PgResult<u8> {
    if let Ok(value) = text.parse::<i32>() {
        out.extend(value.to_le_bytes());
        return Ok(INT32);
    }
    if let Ok(value) = text.parse::<i64>() {
        out.extend(value.to_le_bytes());
        return Ok(INT64);
    }
    if let Some(value) = text.parse::<f64>().ok().filter(|value| value.is_finite() && same_digits(&value.to_string(), text)) {
        out.extend(value.to_le_bytes());
        return Ok(DOUBLE);
    }
    out.extend(decimal::bytes(text).ok_or_else(|| not_a_number(text))?);
    Ok(DECIMAL128)
}

/// Whether two numbers without exponents are the same, whatever zeros end their fractions.
fn same_digits(a: &str, b: &str) -> bool {
    fn short(text: &str) -> &str {
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
    }
    short(a) == short(b)
}

fn wrong(key: &str) -> PgError {
    PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("the value of {key} is not as Extended JSON has it"))
}

/// A value that JSON lacks, if an object is one; otherwise nothing is written.
fn extended(object: &Object, out: &mut Vec<u8>) -> PgResult<Option<u8>> {
    if object.len() != 1 {
        return Ok(None);
    }
    let (key, value) = (object.key(0), object.value(0));
    let text = match value {
        Node::String(text) => Some(text),
        _ => None,
    };
    let text_or_wrong = || text.ok_or_else(|| wrong(key));
    let inner = || match value {
        Node::Object(object) => Ok(object),
        _ => Err(wrong(key)),
    };
    Ok(Some(match key {
        "$oid" => {
            object_id(text_or_wrong()?, out).ok_or_else(|| wrong(key))?;
            OBJECT_ID
        }
        "$numberInt" => {
            out.extend(text_or_wrong()?.parse::<i32>().map_err(|_| wrong(key))?.to_le_bytes());
            INT32
        }
        "$numberLong" => {
            out.extend(text_or_wrong()?.parse::<i64>().map_err(|_| wrong(key))?.to_le_bytes());
            INT64
        }
        "$numberDouble" => {
            out.extend(text_or_wrong()?.parse::<f64>().map_err(|_| wrong(key))?.to_le_bytes());
            DOUBLE
        }
        "$numberDecimal" => {
            out.extend(decimal::bytes(text_or_wrong()?).ok_or_else(|| wrong(key))?);
            DECIMAL128
        }
        "$date" => {
            out.extend(milliseconds(&value).ok_or_else(|| wrong(key))?.to_le_bytes());
            DATE
        }
        "$binary" => {
            let parts = inner()?;
            let (Some(Node::String(base64)), Some(Node::String(subtype)), 2) = (parts.get("base64"), parts.get("subType"), parts.len())
            else {
                return Err(wrong(key));
            };
            let subtype = u8::from_str_radix(subtype, 16).map_err(|_| wrong(key))?;
            binary(subtype, &Form::Base64.decode(base64).map_err(|_| wrong(key))?, out)?;
            BINARY
        }
        "$uuid" => {
            let uuid = text_or_wrong()?.parse::<uuid::Uuid>().map_err(|_| wrong(key))?;
            binary(UUID_BINARY, uuid.as_bytes(), out)?;
            BINARY
        }
        "$regularExpression" => {
            let (pattern, options) = two_texts(&inner()?, "pattern", "options").ok_or_else(|| wrong(key))?;
            cstring(pattern, out);
            let mut options: Vec<char> = options.chars().collect();
            options.sort_unstable();
            cstring(&options.iter().collect::<String>(), out);
            REGULAR_EXPRESSION
        }
        "$timestamp" => {
            let parts = inner()?;
            let part = |name: &str| match parts.get(name) {
                Some(Node::Number(digits)) => digits.parse::<u32>().map_err(|_| wrong(key)),
                _ => Err(wrong(key)),
            };
            out.extend(part("i")?.to_le_bytes());
            out.extend(part("t")?.to_le_bytes());
            TIMESTAMP
        }
        "$code" => {
            string(text_or_wrong()?, out)?;
            CODE
        }
        "$symbol" => {
            string(text_or_wrong()?, out)?;
            SYMBOL
        }
        "$dbPointer" => {
            let parts = inner()?;
            let (Some(Node::String(name)), Some(Node::Object(id)), 2) = (parts.get("$ref"), parts.get("$id"), parts.len()) else {
                return Err(wrong(key));
            };
            let Some(Node::String(id)) = id.get("$oid").filter(|_| id.len() == 1) else { return Err(wrong(key)) };
            string(name, out)?;
            object_id(id, out).ok_or_else(|| wrong(key))?;
            DB_POINTER
        }
        "$minKey" | "$maxKey" if matches!(value, Node::Number("1")) => {
            if key == "$minKey" {
                MIN_KEY
            } else {
                MAX_KEY
            }
        }
        "$undefined" if matches!(value, Node::Bool(true)) => UNDEFINED,
        _ => return Ok(None),
    }))
}

/// The two texts that an object has, and nothing else.
fn two_texts<'a>(object: &Object<'a>, first: &str, second: &str) -> Option<(&'a str, &'a str)> {
    match (object.get(first)?, object.get(second)?) {
        (Node::String(first), Node::String(second)) if object.len() == 2 => Some((first, second)),
        _ => None,
    }
}

fn object_id(digits: &str, out: &mut Vec<u8>) -> Option<()> {
    let bytes = decode_hex(digits).ok().filter(|bytes| bytes.len() == 12)?;
    out.extend(bytes);
    Some(())
}

/// A date: a text with a zone, or `{"$numberLong": "…"}` with the milliseconds since 1970.
fn milliseconds(value: &Node) -> Option<i64> {
    match value {
        Node::String(text) => Some(text.parse::<jiff::Timestamp>().ok()?.as_millisecond()),
        Node::Object(object) if object.len() == 1 => match object.get("$numberLong")? {
            Node::String(digits) => digits.parse().ok(),
            _ => None,
        },
        _ => None,
    }
}

fn binary(subtype: u8, bytes: &[u8], out: &mut Vec<u8>) -> PgResult<()> {
    let old = subtype == OLD_BINARY;
    let length = i32::try_from(bytes.len() + if old { 4 } else { 0 }).map_err(|_| too_large())?;
    reserve(out, bytes.len() + 9)?;
    out.extend(length.to_le_bytes());
    out.push(subtype);
    if old {
        out.extend((length - 4).to_le_bytes());
    }
    out.extend_from_slice(bytes);
    Ok(())
}
