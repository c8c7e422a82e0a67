//! Key parts as other programs lay them out: big-endian numbers of some bytes, digits behind zeros, texts of one width, texts up to a
//! delimiter.
//!
//! Invariant: as everywhere in keys, the bytes of two values of one part compare as the values do, and none are the beginning of others.
//! What would break this does not fit, and is refused. Texts before a delimiter that letters and digits sort before are the one exception:
//! they are told apart, and not in order ([`delimited_in_order`]). Where next: [`super::part`].

use super::fixed::directed_cow;
use super::{Direction, append_directed};
use crate::error::{DecodeError, EncodeError};
use std::borrow::Cow;

/// The most digits of a number in a key: all numbers of 19 digits have 63 bits or 64.
pub const MOST_DIGITS: u8 = 19;

/// The number behind every number that has so many bytes, 1 to 8; `None` if it has 64 bits itself.
fn limit(width: u8) -> Option<u64> {
    1_u64.checked_shl(8 * u32::from(width)).filter(|_| width < 8)
}

fn too_large<T>() -> Result<T, EncodeError> {
    Err(EncodeError::TooLarge { what: "the key part" })
}

/// Appends a number in `width` bytes (1 to 8), the largest first.
///
/// # Errors
/// The number has more bytes.
pub fn encode_unsigned(out: &mut Vec<u8>, value: u64, width: u8, direction: Direction) -> Result<(), EncodeError> {
    if limit(width).is_some_and(|limit| value >= limit) {
        return too_large();
    }
    let bytes = value.to_be_bytes();
    append_directed(out, bytes.get(8_usize.saturating_sub(usize::from(width))..).unwrap_or_default(), direction);
    Ok(())
}

/// Reads a number of `width` bytes; returns it and what follows.
///
/// # Errors
/// The bytes are cut short.
pub fn decode_unsigned(bytes: &[u8], width: u8, direction: Direction) -> Result<(u64, &[u8]), DecodeError> {
    let (head, rest) = bytes.split_at_checked(usize::from(width)).ok_or(DecodeError::Truncated { what: "key part unsigned" })?;
    Ok((head.iter().fold(0, |value, byte| (value << 8) | u64::from(byte ^ direction.mask())), rest))
}

/// Appends a number with a sign in `width` bytes (1 to 8), the largest first and its sign bit flipped.
///
/// # Errors
/// The number has more bytes.
pub fn encode_signed(out: &mut Vec<u8>, value: i64, width: u8, direction: Direction) -> Result<(), EncodeError> {
    // From the least number of the width on, numbers count from 0.
    let half = 1_i128 << (8 * u32::from(width) - 1);
    match u64::try_from(i128::from(value) + half) {
        Ok(above) => encode_unsigned(out, above, width, direction),
        Err(_) => too_large(),
    }
}

/// Reads a number with a sign of `width` bytes; returns it and what follows.
///
/// # Errors
/// The bytes are cut short.
pub fn decode_signed(bytes: &[u8], width: u8, direction: Direction) -> Result<(i64, &[u8]), DecodeError> {
    let (above, rest) = decode_unsigned(bytes, width, direction)?;
    let half = 1_i128 << (8 * u32::from(width) - 1);
    let value = i64::try_from(i128::from(above) - half).map_err(|_| DecodeError::Malformed { what: "key part signed" })?;
    Ok((value, rest))
}

/// Appends a number as `width` decimal digits (1 to 19), zeros in front.
///
/// # Errors
/// The number has more digits.
pub fn encode_digits(out: &mut Vec<u8>, value: u64, width: u8, direction: Direction) -> Result<(), EncodeError> {
    let width = usize::from(width);
    let digits = format!("{value:0width$}");
    if digits.len() > width {
        return too_large();
    }
    append_directed(out, digits.as_bytes(), direction);
    Ok(())
}

/// Reads a number of `width` decimal digits; returns it and what follows.
///
/// # Errors
/// The bytes are cut short, or no digits.
pub fn decode_digits(bytes: &[u8], width: u8, direction: Direction) -> Result<(u64, &[u8]), DecodeError> {
    let (head, rest) = bytes.split_at_checked(usize::from(width)).ok_or(DecodeError::Truncated { what: "key part digits" })?;
    let malformed = DecodeError::Malformed { what: "key part digits" };
    let mut value = 0_u64;
    for byte in head {
        let digit = (byte ^ direction.mask()).wrapping_sub(b'0');
        if digit > 9 {
            return Err(malformed);
        }
        value = value.checked_mul(10).and_then(|v| v.checked_add(u64::from(digit))).ok_or(malformed)?;
    }
    Ok((value, rest))
}

/// Appends a text of at most `width` bytes, with bytes `00` behind it up to the width. It has no such byte itself.
///
/// # Errors
/// The text is longer.
pub fn encode_padded(out: &mut Vec<u8>, value: &[u8], width: usize, direction: Direction) -> Result<(), EncodeError> {
    let Some(padding) = width.checked_sub(value.len()) else {
        return Err(EncodeError::WrongWidth { expected: width, found: value.len() });
    };
    append_directed(out, value, direction);
    out.resize(out.len() + padding, direction.mask());
    Ok(())
}

/// Reads a text of at most `width` bytes; returns it without the padding, and what follows.
///
/// # Errors
/// The bytes are cut short.
pub fn decode_padded(bytes: &[u8], width: usize, direction: Direction) -> Result<(Cow<'_, [u8]>, &[u8]), DecodeError> {
    let (head, rest) = bytes.split_at_checked(width).ok_or(DecodeError::Truncated { what: "key part of a fixed width" })?;
    let len = head.iter().rposition(|b| *b != direction.mask()).map_or(0, |last| last + 1);
    Ok((directed_cow(head.get(..len).unwrap_or_default(), direction), rest))
}

/// Whether texts up to this delimiter are in order: one that digits and letters sort before would leave no text that is.
#[must_use]
pub fn delimited_in_order(delimiter: u8) -> bool {
    delimiter < b'0'
}

/// Whether a text, or the beginning of one, may stand before the delimiter: it does not have it, nor a byte below it where texts are in
/// order.
#[must_use]
pub fn fits_delimited(value: &[u8], delimiter: u8) -> bool {
    let least = if delimited_in_order(delimiter) { delimiter } else { 0 };
    value.iter().all(|b| *b != delimiter && *b >= least)
}

/// Appends a text and the delimiter behind it.
///
/// # Errors
/// The text does not fit: [`fits_delimited`].
pub fn encode_delimited(out: &mut Vec<u8>, value: &[u8], delimiter: u8, direction: Direction) -> Result<(), EncodeError> {
    if !fits_delimited(value, delimiter) {
        return Err(EncodeError::WrongKind { what: "the key part" });
    }
    append_directed(out, value, direction);
    out.push(delimiter ^ direction.mask());
    Ok(())
}

/// What follows a text and its delimiter.
///
/// # Errors
/// There is no delimiter.
pub fn skip_delimited(bytes: &[u8], delimiter: u8, direction: Direction) -> Result<&[u8], DecodeError> {
    let end = bytes.iter().position(|b| *b == delimiter ^ direction.mask());
    end.and_then(|end| bytes.get(end + 1..)).ok_or(DecodeError::Truncated { what: "key part with a delimiter" })
}

/// Reads a text up to its delimiter; returns it and what follows the delimiter.
///
/// # Errors
/// There is no delimiter, or the text does not fit.
pub fn decode_delimited(bytes: &[u8], delimiter: u8, direction: Direction) -> Result<(Cow<'_, [u8]>, &[u8]), DecodeError> {
    let rest = skip_delimited(bytes, delimiter, direction)?;
    let len = bytes.len() - rest.len() - 1;
    let text = directed_cow(bytes.get(..len).unwrap_or_default(), direction);
    if !fits_delimited(&text, delimiter) {
        return Err(DecodeError::Malformed { what: "key part with a delimiter" });
    }
    Ok((text, rest))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use Direction::{Asc, Desc};

    /// What does not fit is refused, what fits comes back, and keys are in the order of the values.
    #[test]
    fn numbers_of_each_width_keep_their_order() {
        for direction in [Asc, Desc] {
            for width in 1..=8_u8 {
                let top = limit(width).map_or(u64::MAX, |limit| limit - 1);
                let half = i64::try_from(top / 2).unwrap();
                let mut before: Option<Vec<u8>> = None;
                for value in [-half - 1, -half, -1, 0, 1, half - 1, half] {
                    let mut key = Vec::new();
                    encode_signed(&mut key, value, width, direction).unwrap();
                    assert_eq!(key.len(), usize::from(width));
                    assert_eq!(decode_signed(&key, width, direction).unwrap(), (value, &[][..]));
                    assert!(before.is_none_or(|b| (b < key) == (direction == Asc)), "{value} in {width}");
                    before = Some(key);
                }
                for value in [0, 1, top - 1, top] {
                    let mut key = Vec::new();
                    encode_unsigned(&mut key, value, width, direction).unwrap();
                    assert_eq!(decode_unsigned(&key, width, direction).unwrap(), (value, &[][..]));
                }
                if width < 8 {
                    assert!(encode_unsigned(&mut Vec::new(), top + 1, width, direction).is_err());
                    assert!(encode_signed(&mut Vec::new(), half + 1, width, direction).is_err());
                    assert!(encode_signed(&mut Vec::new(), -half - 2, width, direction).is_err());
                }
            }
        }
    }

    #[test]
    fn digits_and_texts_come_back_and_what_does_not_fit_is_refused() {
        for direction in [Asc, Desc] {
            let mut key = Vec::new();
            encode_digits(&mut key, 42, 6, direction).unwrap();
            encode_padded(&mut key, b"ab", 4, direction).unwrap();
            encode_delimited(&mut key, b"cd", b',', direction).unwrap();
            let (number, rest) = decode_digits(&key, 6, direction).unwrap();
            let (padded, rest) = decode_padded(rest, 4, direction).unwrap();
            let (text, rest) = decode_delimited(rest, b',', direction).unwrap();
            assert_eq!((number, &*padded, &*text, rest.len()), (42, &b"ab"[..], &b"cd"[..], 0));
        }
        assert!(encode_digits(&mut Vec::new(), 1_000_000, 6, Asc).is_err());
        assert!(encode_padded(&mut Vec::new(), b"abcde", 4, Asc).is_err());
        assert!(encode_delimited(&mut Vec::new(), b"a+b", b',', Asc).is_err());
        for direction in [Asc, Desc] {
            // Above digits and letters all texts fit that do not have the delimiter.
            let mut key = Vec::new();
            encode_delimited(&mut key, b"An n-1", b'|', direction).unwrap();
            key.push(b'x');
            assert_eq!(decode_delimited(&key, b'|', direction).unwrap(), (b"An n-1".as_slice().into(), &b"x"[..]));
            assert!(encode_delimited(&mut Vec::new(), b"a|b", b'|', direction).is_err());
        }
        assert!(decode_digits(b"12x", 3, Asc).is_err());
        assert!(decode_delimited(b"abc", b',', Asc).is_err());
    }
}
