//! Key parts of any length: text, bytes, and opaque sort keys.
//!
//! ```text
//! value       61 00 62
//! ascending   61 00 FF 62 00 01      00 → 00 FF; closed by 00 01
//! descending  9E FF 00 9D FF FE      the same, complemented
//! ```
//!
//! Invariant: the terminator `00 01` sorts below every continuation (`00 FF`, or any byte from `01` up), so a string sorts
//! before those that it begins. `''` is `00 01`; an embedded `00` is data. Where next: [`super::part`].

use super::{Direction, complement};
use crate::error::DecodeError;
use std::borrow::Cow;

const ESCAPE: u8 = 0x00;
const ESCAPED_ZERO: u8 = 0xff;
const TERMINATOR: u8 = 0x01;
const WHAT: &str = "key part text";

/// Appends bytes, escaped and closed.
#[inline]
pub fn encode_bytes(out: &mut Vec<u8>, value: &[u8], direction: Direction) {
    let from = out.len();
    append_escaped(out, value);
    out.extend_from_slice(&[ESCAPE, TERMINATOR]);
    if direction == Direction::Desc {
        complement(out.get_mut(from..).unwrap_or_default());
    }
}

/// Appends text, escaped and closed.
#[inline]
pub fn encode_text(out: &mut Vec<u8>, value: &str, direction: Direction) {
    encode_bytes(out, value.as_bytes(), direction);
}

/// Appends bytes, escaped and **not** closed: what the encodings of all values that begin with them begin with. The range
/// from here to its [`super::prefix_successor`] is exactly those values.
#[inline]
pub fn encode_bytes_prefix(out: &mut Vec<u8>, prefix: &[u8], direction: Direction) {
    let from = out.len();
    append_escaped(out, prefix);
    if direction == Direction::Desc {
        complement(out.get_mut(from..).unwrap_or_default());
    }
}

/// [`encode_bytes_prefix`] for text.
#[inline]
pub fn encode_text_prefix(out: &mut Vec<u8>, prefix: &str, direction: Direction) {
    encode_bytes_prefix(out, prefix.as_bytes(), direction);
}

/// Reads bytes; returns them and what follows. Borrows when ascending and without an embedded `00`.
///
/// # Errors
/// There is no terminator, or an escape that the encoder does not write.
pub fn decode_bytes(bytes: &[u8], direction: Direction) -> Result<(Cow<'_, [u8]>, &[u8]), DecodeError> {
    let span = Span::find(bytes, direction)?;
    if direction == Direction::Asc && span.escapes == 0 {
        return Ok((Cow::Borrowed(span.body), span.rest));
    }
    let mut value = Vec::with_capacity(span.body.len() - span.escapes);
    span.unescape(&mut value, direction);
    Ok((Cow::Owned(value), span.rest))
}

/// Reads text; returns it and what follows. Borrows when ascending and without an embedded `00`.
///
/// # Errors
/// As [`decode_bytes`]; and bytes that are not UTF-8.
pub fn decode_text(bytes: &[u8], direction: Direction) -> Result<(Cow<'_, str>, &[u8]), DecodeError> {
    let malformed = DecodeError::Malformed { what: WHAT };
    let (value, rest) = decode_bytes(bytes, direction)?;
    let text = match value {
        Cow::Borrowed(value) => Cow::Borrowed(std::str::from_utf8(value).map_err(|_| malformed)?),
        Cow::Owned(value) => Cow::Owned(String::from_utf8(value).map_err(|_| malformed)?),
    };
    Ok((text, rest))
}

/// Reads bytes without allocating: the value lies in the key itself where it can, else in `scratch`, which is overwritten
/// then. Returns it and what follows.
///
/// # Errors
/// As [`decode_bytes`].
#[inline]
pub fn decode_bytes_in<'a>(bytes: &'a [u8], direction: Direction, scratch: &'a mut Vec<u8>) -> Result<(&'a [u8], &'a [u8]), DecodeError> {
    let span = Span::find(bytes, direction)?;
    if direction == Direction::Asc && span.escapes == 0 {
        return Ok((span.body, span.rest));
    }
    scratch.clear();
    span.unescape(scratch, direction);
    Ok((scratch, span.rest))
}

/// What follows the bytes.
///
/// # Errors
/// As [`decode_bytes`].
#[inline]
pub fn skip_bytes(bytes: &[u8], direction: Direction) -> Result<&[u8], DecodeError> {
    Ok(Span::find(bytes, direction)?.rest)
}

/// An escaped value where it lies.
struct Span<'a> {
    /// Without the terminator, still escaped and in its direction.
    body: &'a [u8],
    rest: &'a [u8],
    escapes: usize,
}

impl<'a> Span<'a> {
    #[inline]
    fn find(bytes: &'a [u8], direction: Direction) -> Result<Self, DecodeError> {
        let mask = direction.mask();
        let mut at = 0;
        let mut escapes = 0;
        loop {
            let tail = bytes.get(at..).unwrap_or_default();
            let escape = at + find_byte(tail, ESCAPE ^ mask).ok_or(DecodeError::Truncated { what: WHAT })?;
            match bytes.get(escape + 1).map(|b| b ^ mask) {
                Some(TERMINATOR) => {
                    let (body, rest) = bytes.split_at(escape);
                    return Ok(Self { body, rest: rest.get(2..).unwrap_or_default(), escapes });
                }
                Some(ESCAPED_ZERO) => {
                    escapes += 1;
                    at = escape + 2;
                }
                Some(_) => return Err(DecodeError::Malformed { what: WHAT }),
                None => return Err(DecodeError::Truncated { what: WHAT }),
            }
        }
    }

    fn unescape(&self, out: &mut Vec<u8>, direction: Direction) {
        let from = out.len();
        let mut body = self.body;
        if self.escapes > 0 {
            while let Some(escape) = find_byte(body, ESCAPE ^ direction.mask()) {
                out.extend_from_slice(body.get(..=escape).unwrap_or_default());
                body = body.get(escape + 2..).unwrap_or_default();
            }
        }
        out.extend_from_slice(body);
        if direction == Direction::Desc {
            complement(out.get_mut(from..).unwrap_or_default());
        }
    }
}

#[inline]
fn append_escaped(out: &mut Vec<u8>, mut value: &[u8]) {
    while let Some(zero) = find_byte(value, ESCAPE) {
        out.extend_from_slice(value.get(..=zero).unwrap_or_default());
        out.push(ESCAPED_ZERO);
        value = value.get(zero + 1..).unwrap_or_default();
    }
    out.extend_from_slice(value);
}

/// The first position of a byte, eight at a time.
#[inline]
fn find_byte(haystack: &[u8], needle: u8) -> Option<usize> {
    const LOW: u64 = u64::from_ne_bytes([0x01; 8]);
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
    let pattern = u64::from_ne_bytes([needle; 8]);
    let (chunks, tail) = haystack.as_chunks::<8>();
    for (index, chunk) in chunks.iter().enumerate() {
        // A byte is zero exactly where the lowest marked bit lies; marks above it may be borrows.
        let difference = u64::from_le_bytes(*chunk) ^ pattern;
        let marks = difference.wrapping_sub(LOW) & !difference & HIGH;
        if marks != 0 {
            return Some(index * 8 + (marks.trailing_zeros() / 8) as usize);
        }
    }
    tail.iter().position(|b| *b == needle).map(|at| chunks.len() * 8 + at)
}
