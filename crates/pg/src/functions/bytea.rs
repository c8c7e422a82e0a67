//! Functions of bytea: parts, bits, digests, and conversion from and to text.

use super::encoding;
use super::text::{negative_length, push, substring_range, text1, text2};
use crate::args::{Bytes, Int4, Int8, Kernel, Text, strict1, strict2, strict3, strict4};
use crate::error::{PgError, PgResult};
use crate::registry::{Func, Registry};
use crate::sqlstate::SqlState;
use crate::types::PgType;
use md5::Md5;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};

/// The MD5 digest.
#[must_use]
pub fn md5(bytes: &[u8]) -> [u8; 16] {
    Md5::digest(bytes).into()
}

/// Registers the entries of this file.
pub fn register(r: &mut Registry) {
    use PgType::{Bytea as B, Int4 as Int, Int8 as Big, Name, Text as T};
    r.scalar("length", &[B], Int, strict1::<Bytes, Int4>(|_, b| Ok(b.len() as i32)), "number of bytes");
    r.scalar("octet_length", &[B], Int, strict1::<Bytes, Int4>(|_, b| Ok(b.len() as i32)), "number of bytes");
    r.scalar("bit_length", &[B], Int, strict1::<Bytes, Int4>(|_, b| Ok((b.len() as i32).saturating_mul(8))), "number of bits");
    r.add(
        Func::scalar(
            "length",
            &[B, Name],
            Int,
            strict2::<Bytes, Text, Int4>(|_, b, name| Ok(encoding::decode(b, encoding::source(name)?)?.chars().count() as i32)),
            "number of characters in an encoding",
        )
        .stable(),
    );
    for name in ["substr", "substring"] {
        r.scalar(
            name,
            &[B, Int],
            B,
            strict2::<Bytes, Int4, Bytes>(|_, b, from| substring(b, from, None).map(<[u8]>::to_vec)),
            "the part from a position",
        );
        r.scalar(
            name,
            &[B, Int, Int],
            B,
            strict3::<Bytes, Int4, Int4, Bytes>(|_, b, from, count| substring(b, from, Some(count)).map(<[u8]>::to_vec)),
            "the part from a position, of a length",
        );
    }
    r.scalar("position", &[B, B], Int, strict2::<Bytes, Bytes, Int4>(|_, b, part| Ok(find(b, part))), "where a part begins");
    r.scalar(
        "overlay",
        &[B, B, Int],
        B,
        strict3::<Bytes, Bytes, Int4, Bytes>(|_, b, new, from| overlay(b, new, from, new.len() as i32)),
        "replace a part by position",
    );
    r.scalar(
        "overlay",
        &[B, B, Int, Int],
        B,
        strict4::<Bytes, Bytes, Int4, Int4, Bytes>(|_, b, new, from, count| overlay(b, new, from, count)),
        "replace a part by position",
    );
    for (name, start, end) in [("btrim", true, true), ("ltrim", true, false), ("rtrim", false, true)] {
        r.scalar(
            name,
            &[B, B],
            B,
            strict2::<Bytes, Bytes, Bytes>(move |_, b, set| Ok(trim(b, set, start, end).to_vec())),
            "without bytes of a set at the ends",
        );
    }

    r.scalar(
        "get_byte",
        &[B, Int],
        Int,
        strict2::<Bytes, Int4, Int4>(|_, b, n| Ok(i32::from(get_byte(b, i64::from(n))?))),
        "the byte at an index from 0",
    );
    r.scalar(
        "set_byte",
        &[B, Int, Int],
        B,
        strict3::<Bytes, Int4, Int4, Bytes>(|_, b, n, value| set_byte(b, n, value)),
        "with another byte at an index",
    );
    r.scalar("get_bit", &[B, Big], Int, strict2::<Bytes, Int8, Int4>(|_, b, n| get_bit(b, n)), "the bit at an index from 0");
    r.scalar(
        "set_bit",
        &[B, Big, Int],
        B,
        strict3::<Bytes, Int8, Int4, Bytes>(|_, b, n, value| set_bit(b, n, value)),
        "with another bit at an index",
    );
    r.scalar(
        "bit_count",
        &[B],
        Big,
        strict1::<Bytes, Int8>(|_, b| Ok(b.iter().map(|byte| i64::from(byte.count_ones())).sum())),
        "number of bits that are set",
    );

    r.scalar("md5", &[T], T, text1::<Text>(|_, s, out| push(out, &encoding::hex(&Md5::digest(s.as_bytes())))), "MD5 in hexadecimal");
    r.scalar("md5", &[B], T, text1::<Bytes>(|_, b, out| push(out, &encoding::hex(&Md5::digest(b)))), "MD5 in hexadecimal");
    r.scalar("sha224", &[B], B, digest::<Sha224>(), "SHA-224");
    r.scalar("sha256", &[B], B, digest::<Sha256>(), "SHA-256");
    r.scalar("sha384", &[B], B, digest::<Sha384>(), "SHA-384");
    r.scalar("sha512", &[B], B, digest::<Sha512>(), "SHA-512");

    r.scalar(
        "encode",
        &[B, T],
        T,
        text2::<Bytes, Text>(|_, b, form, out| encoding::Form::named(form)?.encode(b, out)),
        "as text: hex, base64, escape",
    );
    r.scalar(
        "decode",
        &[T, T],
        B,
        strict2::<Text, Text, Bytes>(|_, s, form| encoding::Form::named(form)?.decode(s)),
        "from text: hex, base64, escape",
    );
    r.add(
        Func::scalar(
            "convert_from",
            &[B, Name],
            T,
            text2::<Bytes, Text>(|_, b, name, out| push(out, &encoding::decode(b, encoding::source(name)?)?)),
            "text from bytes in an encoding",
        )
        .stable(),
    );
    r.add(
        Func::scalar(
            "convert_to",
            &[T, Name],
            B,
            strict2::<Text, Text, Bytes>(|_, s, name| encoding::encode(s, encoding::destination(name)?)),
            "the bytes of text in an encoding",
        )
        .stable(),
    );
    r.add(
        Func::scalar(
            "convert",
            &[B, Name, Name],
            B,
            strict3::<Bytes, Text, Text, Bytes>(|_, b, from, to| {
                let (from, to) = (encoding::source(from)?, encoding::destination(to)?);
                encoding::encode(&encoding::decode(b, from)?, to)
            }),
            "from one encoding to another",
        )
        .stable(),
    );
}

fn digest<D: Digest + 'static>() -> Kernel {
    strict1::<Bytes, Bytes>(|_, b| Ok(D::digest(b).to_vec()))
}

fn substring(bytes: &[u8], start: i32, count: Option<i32>) -> PgResult<&[u8]> {
    let (first, count) = substring_range(start, count)?;
    let rest = bytes.get(first..).unwrap_or(&[]);
    Ok(count.and_then(|count| rest.get(..count)).unwrap_or(rest))
}

fn find(bytes: &[u8], part: &[u8]) -> i32 {
    if part.is_empty() {
        return 1;
    }
    bytes.windows(part.len()).position(|window| window == part).map_or(0, |at| at as i32 + 1)
}

fn overlay(bytes: &[u8], new: &[u8], start: i32, count: i32) -> PgResult<Vec<u8>> {
    if start <= 0 {
        return Err(negative_length());
    }
    let rest = start.checked_add(count).ok_or_else(|| PgError::out_of_range("integer"))?;
    Ok([substring(bytes, 1, Some(start - 1))?, new, substring(bytes, rest, None)?].concat())
}

fn trim<'a>(bytes: &'a [u8], set: &[u8], start: bool, end: bool) -> &'a [u8] {
    let mut bytes = bytes;
    while let Some((_, rest)) = bytes.split_first().filter(|(first, _)| start && set.contains(first)) {
        bytes = rest;
    }
    while let Some((_, rest)) = bytes.split_last().filter(|(last, _)| end && set.contains(last)) {
        bytes = rest;
    }
    bytes
}

fn outside(index: i64, length: usize) -> PgError {
    PgError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, format!("index {index} out of valid range, 0..{}", length as i64 - 1))
}

fn get_byte(bytes: &[u8], index: i64) -> PgResult<u8> {
    usize::try_from(index).ok().and_then(|at| bytes.get(at).copied()).ok_or_else(|| outside(index, bytes.len()))
}

fn set_byte(bytes: &[u8], index: i32, value: i32) -> PgResult<Vec<u8>> {
    let mut bytes = bytes.to_vec();
    let length = bytes.len();
    let slot = usize::try_from(index).ok().and_then(|at| bytes.get_mut(at)).ok_or_else(|| outside(i64::from(index), length))?;
    *slot = value as u8; // the low byte, as PostgreSQL takes it
    Ok(bytes)
}

fn get_bit(bytes: &[u8], index: i64) -> PgResult<i32> {
    let byte = get_byte(bytes, index >> 3).map_err(|_| outside(index, bytes.len() * 8))?;
    Ok(i32::from(byte >> (index & 7) & 1))
}

fn set_bit(bytes: &[u8], index: i64, value: i32) -> PgResult<Vec<u8>> {
    let mut bytes = bytes.to_vec();
    let bits = bytes.len() * 8;
    let slot = usize::try_from(index >> 3).ok().and_then(|at| bytes.get_mut(at)).ok_or_else(|| outside(index, bits))?;
    match value {
        0 => *slot &= !(1 << (index & 7)),
        1 => *slot |= 1 << (index & 7),
        _ => return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, "new bit must be 0 or 1")),
    }
    Ok(bytes)
}
