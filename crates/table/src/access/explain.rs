//! Key ranges as SQL values, for EXPLAIN.
//!
//! `[1, 'a' … 1, 'c')`: parts that a bound has, in the order of the key; `(` and `]` stand at a value that is left out as a
//! beginning, or is the last. `'Ba'*` is every text that begins so.

use super::ranges::KeyShape;
use crate::catalog::KeyForm;
use crate::row::ColumnBuilder;
use crate::row::key::KeyPartCodec;
use crate::row::types::key_is_lossless;
use std::fmt::Write as _;
use stoa_encoding::keyside::{Direction, KeyValue, PartKind, encode_present};
use stoa_encoding::numeric::Decoded;
use stoa_pg::values::numeric::Numeric;
use stoa_pg::{EvalContext, PgType};
use stoa_store::KeyRange;

/// At most this many ranges are written out.
const SHOWN: usize = 5;

/// The ranges of a path; `full` when there is one and it is everything.
#[must_use]
pub fn ranges(key: &KeyShape, ranges: &[KeyRange]) -> String {
    if ranges.is_empty() {
        return "none".into();
    }
    if let [only] = ranges
        && only.start.is_empty()
        && only.end.is_none()
    {
        return "full".into();
    }
    let mut out = String::new();
    for (at, one) in ranges.iter().take(SHOWN).enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        out.push_str(&range(key, one));
    }
    if ranges.len() > SHOWN {
        let _ = write!(out, ", … ({} in all)", ranges.len());
    }
    out
}

/// One range.
#[must_use]
pub fn range(key: &KeyShape, range: &KeyRange) -> String {
    if let Some(point) = range.as_point() {
        return format!("[{}]", bound(key, point).0);
    }
    let (start, behind) = bound(key, &range.start);
    // A range of all keys with a beginning is shown as that beginning.
    if range.end == stoa_store::range::prefix_successor(&range.start) && !range.start.is_empty() && !behind {
        return format!("[{start}{}]", if has_some_of_the_rest(key, &range.start) { "*" } else { "" });
    }
    let open = if behind { '(' } else { '[' };
    match range.end.as_deref().map(|end| bound(key, end)) {
        None => format!("{open}{start} … ∞)"),
        Some((end, last)) => format!("{open}{start} … {end}{}", if last { ']' } else { ')' }),
    }
}

/// Whether bytes go into a part that is what is left of keys: they may be the beginning of several.
fn has_some_of_the_rest(key: &KeyShape, bytes: &[u8]) -> bool {
    let Some((last, before)) = key.parts.split_last() else { return false };
    let skipped = |rest: &'_ [u8]| {
        before.iter().try_fold(rest.len(), |left, part| {
            let from = rest.get(rest.len() - left..).unwrap_or_default();
            part.part.skip(from).ok().map(<[u8]>::len)
        })
    };
    let rest = bytes.get(usize::from(key.salt.is_some())..).unwrap_or_default();
    last.part.kind == PartKind::Rest && skipped(rest).is_some_and(|left| left > 0)
}

/// A key, or the beginning of one, as the values of its parts.
#[must_use]
pub fn key(shape: &KeyShape, bytes: &[u8]) -> String {
    bound(shape, bytes).0
}

/// A bound as values, and whether it lies behind all keys that begin with them.
fn bound(key: &KeyShape, bytes: &[u8]) -> (String, bool) {
    let mut behind = false;
    let mut out = String::new();
    let mut rest = bytes;
    if key.salt.is_some() {
        match rest.split_first() {
            Some((bucket, after)) => {
                let _ = write!(out, "bucket {bucket}");
                rest = after;
            }
            None => return ("-∞".into(), false),
        }
    }
    for part in &key.parts {
        if rest.is_empty() {
            break;
        }
        if !out.is_empty() {
            out.push_str(", ");
        }
        match part.part.skip(rest) {
            // The key behind one that ends with a text: there is no byte 0 in texts.
            Ok(_) if part.part.kind == PartKind::Rest && rest.ends_with(&[0]) && part.ty.ty != PgType::Bytea => {
                out.push_str(&value(part, rest.get(..rest.len() - 1).unwrap_or_default()));
                behind = true;
                rest = &[];
            }
            Ok(after) => {
                out.push_str(&value(part, rest));
                rest = after;
            }
            Err(_) if is_present(part, rest) => {
                out.push_str("not NULL");
                rest = &[];
            }
            Err(_) => {
                if let Some(last) = predecessor(part, rest) {
                    out.push_str(&value(part, &last));
                    behind = true;
                } else if let Some(digits) = least_digits(part, rest) {
                    out.push_str(&value(part, &digits));
                } else if let Some(text) = beginning(part, rest) {
                    let _ = write!(out, "'{}'*", text.replace('\'', "''"));
                } else {
                    out.push_str("0x");
                    rest.iter().for_each(|b| {
                        let _ = write!(out, "{b:02x}");
                    });
                }
                rest = &[];
            }
        }
    }
    (if out.is_empty() { "-∞".into() } else { out }, behind)
}

/// The value whose successor as a beginning of keys these bytes are.
fn predecessor(part: &KeyPartCodec, bytes: &[u8]) -> Option<Vec<u8>> {
    /// The longest part of fixed length.
    const LONGEST: usize = 17;
    let (last, before) = bytes.split_last()?;
    let mut value = before.to_vec();
    value.push(last.checked_sub(1)?);
    // A successor has lost the bytes that could not grow.
    while value.len() <= bytes.len() + LONGEST {
        if part.part.skip(&value).is_ok_and(<[u8]>::is_empty) {
            return Some(value);
        }
        value.push(u8::MAX);
    }
    None
}

/// The least number in decimal digits that is not below some bytes.
fn least_digits(part: &KeyPartCodec, bytes: &[u8]) -> Option<Vec<u8>> {
    let KeyForm::Digits(width) = part.form else { return None };
    if part.part.direction == Direction::Desc || part.ty.ty == PgType::Date {
        return None;
    }
    let known = bytes.iter().take_while(|b| b.is_ascii_digit()).count().min(usize::from(width));
    let mut digits = bytes.get(..known)?.to_vec();
    if bytes.get(known).is_some_and(|next| *next > b'9') {
        // Behind all numbers that begin so.
        let last = digits.iter().rposition(|digit| *digit < b'9')?;
        digits.truncate(last + 1);
        *digits.last_mut()? += 1;
    }
    digits.resize(usize::from(width), b'0');
    Some(digits)
}

/// The text that bytes are the beginning of.
fn beginning(part: &KeyPartCodec, bytes: &[u8]) -> Option<String> {
    // A part that can be NULL says first that it is not.
    let bytes = bytes.get(usize::from(part.part.nulls.is_some())..)?;
    let text = match part.part.direction {
        Direction::Asc => bytes.to_vec(),
        Direction::Desc => bytes.iter().map(|b| !b).collect(),
    };
    let is_text = match part.form {
        KeyForm::Reversed => true,
        form => form.gives_back() && part.ty.arrow == arrow::datatypes::DataType::Utf8View,
    };
    String::from_utf8(text).ok().filter(|s| is_text && !s.contains('\0'))
}

/// Whether bytes are what all values of a part begin with, and NULL does not.
fn is_present(part: &KeyPartCodec, bytes: &[u8]) -> bool {
    let mut tag = Vec::new();
    encode_present(&mut tag, part.part.direction);
    part.part.nulls.is_some() && tag == bytes
}

/// The values of a key's leading parts, as literals.
#[must_use]
pub fn values(parts: &[KeyPartCodec], key: &[u8]) -> Vec<String> {
    let mut out = Vec::new();
    let mut rest = key;
    for part in parts {
        match part.part.skip(rest) {
            Ok(after) if !rest.is_empty() => {
                out.push(value(part, rest));
                rest = after;
            }
            _ => break,
        }
    }
    out
}

/// Whether bytes are a key's leading parts, and nothing besides.
#[must_use]
pub fn whole_values(parts: &[KeyPartCodec], key: &[u8]) -> bool {
    let mut rest = key;
    for part in parts {
        if rest.is_empty() {
            break;
        }
        match part.part.skip(rest) {
            Ok(after) => rest = after,
            Err(_) => return false,
        }
    }
    rest.is_empty()
}

fn hex_of(bytes: &[u8]) -> String {
    bytes.iter().fold("0x".to_owned(), |mut s, b| {
        let _ = write!(s, "{b:02x}");
        s
    })
}

fn value(part: &KeyPartCodec, bytes: &[u8]) -> String {
    let hex = || hex_of(bytes);
    if part.form == KeyForm::Reversed {
        return match part.part.decode(bytes) {
            Ok((KeyValue::Bytes(text), _)) => format!("'{}'", String::from_utf8_lossy(&text).replace('\'', "''")),
            _ => hex(),
        };
    }
    if !part.form.gives_back() {
        return part.part.skip(bytes).map_or_else(|_| hex(), |rest| hex_of(bytes.get(..bytes.len() - rest.len()).unwrap_or(bytes)));
    }
    if part.ty.ty == PgType::Numeric && !key_is_lossless(&part.ty) {
        return match part.part.decode(bytes) {
            Ok((KeyValue::Null, _)) => "NULL".into(),
            Ok((KeyValue::Bytes(number), _)) => numeric(&number).map_or_else(hex, |n| number_literal(n.to_string())),
            _ => hex(),
        };
    }
    if !key_is_lossless(&part.ty) && part.ty.ty != PgType::Float8 && part.ty.ty != PgType::Float4 {
        return hex();
    }
    let text = || -> stoa_pg::PgResult<Option<String>> {
        let mut column = ColumnBuilder::new(&part.ty, 1)?;
        part.decode(bytes, &mut column, &mut Vec::new())?;
        let array = part.epoch.from_stored(&column.finish()?)?;
        if array.is_null(0) {
            return Ok(None);
        }
        let ctx = EvalContext::default();
        let mut out = Vec::new();
        stoa_pg::values::writer(&ctx, &part.ty, &*array)?.text(0, &mut out)?;
        Ok(Some(String::from_utf8_lossy(&out).into_owned()))
    };
    match text() {
        Ok(None) => "NULL".into(),
        Ok(Some(text)) if part.ty.ty.category() == 'B' => text,
        Ok(Some(text)) if part.ty.ty.category() == 'N' => number_literal(text),
        Ok(Some(text)) => format!("'{}'", text.replace('\'', "''")),
        Err(_) => hex(),
    }
}

/// The number of a key part, with as many digits as say it: the key does not keep how many were written.
fn numeric(key: &[u8]) -> Option<Numeric> {
    let scale = match stoa_encoding::numeric::decode(key)? {
        (Decoded::Finite(finite), _) => {
            let digits = 2 * (i64::try_from(finite.len()).ok()? - i64::from(finite.exponent));
            let even = finite.pairs().last().is_some_and(|pair| pair % 10 == 0);
            u16::try_from((digits - i64::from(even)).max(0)).ok()?
        }
        _ => 0,
    };
    Numeric::decode(&[key, &scale.to_be_bytes()].concat()).ok()
}

/// NaN, the infinities and names need quotes.
fn number_literal(text: String) -> String {
    if text.bytes().all(|b| b.is_ascii_digit() || b"-+.e".contains(&b)) { text } else { format!("'{}'", text.replace('\'', "''")) }
}

#[cfg(test)]
mod tests {
    use super::least_digits;
    use crate::catalog::{ColumnId, Epoch, KeyForm};
    use crate::row::key::KeyPartCodec;
    use stoa_encoding::keyside::{Direction, KeyPart, PartKind};
    use stoa_pg::{PgType, SqlType};

    #[test]
    fn bounds_between_numbers_are_the_next_number() {
        let column = ColumnId(1);
        let part = KeyPart::new(PartKind::Raw(4), Direction::Asc);
        let form = KeyForm::Digits(4);
        let part = KeyPartCodec { column, source: column, form, ty: SqlType::new(PgType::Int4), part, epoch: Epoch::Unix };
        for (bytes, digits) in [
            (&b"0\xff\xff\xff"[..], Some(&b"1000"[..])),
            (b"12\xff", Some(b"1300")),
            (b"199\xff", Some(b"2000")),
            (b"12\x00\x01", Some(b"1200")),
            (b"12", Some(b"1200")),
            (b"99:\x00", None),
            (b"\xff", None),
        ] {
            assert_eq!(least_digits(&part, bytes).as_deref(), digits, "{bytes:?}");
        }
    }
}
