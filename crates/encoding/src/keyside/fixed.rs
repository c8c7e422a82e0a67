//! Key parts of fixed width: booleans, integers, floats, UUIDs, raw bytes; and bytes that are prefix-free by themselves.
//!
//! Invariant: a decoder accepts exactly the bytes that its encoder writes (so a second NaN or a negative zero is
//! corruption, not another value), and returns what follows. Where next: [`super::escaped`].

use super::{Direction, append_directed, complement};
use crate::error::{DecodeError, EncodeError};
use std::borrow::Cow;

macro_rules! integer_part {
    ($encode:ident, $decode:ident, $int:ty, $bits:ty, $flip:expr, $width:literal, $what:literal, $doc:literal) => {
        #[doc = concat!("Appends ", $doc, ".")]
        #[inline]
        pub fn $encode(out: &mut Vec<u8>, value: $int, direction: Direction) {
            let mask = <$bits>::from_be_bytes([direction.mask(); $width]);
            out.extend_from_slice(&((value as $bits) ^ $flip ^ mask).to_be_bytes());
        }

        #[doc = concat!("Reads ", $doc, "; returns it and what follows.")]
        ///
        /// # Errors
        /// The bytes are cut short.
        #[inline]
        pub fn $decode(bytes: &[u8], direction: Direction) -> Result<($int, &[u8]), DecodeError> {
            let (head, rest) = bytes.split_first_chunk::<$width>().ok_or(DecodeError::Truncated { what: $what })?;
            let mask = <$bits>::from_be_bytes([direction.mask(); $width]);
            Ok(((<$bits>::from_be_bytes(*head) ^ $flip ^ mask) as $int, rest))
        }
    };
}

integer_part!(encode_i16, decode_i16, i16, u16, (1 << 15), 2, "key part int16", "a 16-bit integer");
integer_part!(encode_i32, decode_i32, i32, u32, (1 << 31), 4, "key part int32", "a 32-bit integer, or a date in days");
integer_part!(encode_i64, decode_i64, i64, u64, (1 << 63), 8, "key part int64", "a 64-bit integer, or a time or timestamp in microseconds");
integer_part!(encode_u32, decode_u32, u32, u32, 0, 4, "key part uint32", "an unsigned 32-bit integer (oid)");

macro_rules! float_part {
    ($encode:ident, $decode:ident, $float:ty, $bits:ty, $nan:literal, $width:literal, $what:literal, $doc:literal) => {
        #[doc = concat!("Appends ", $doc, ": −0 as +0, every NaN as the one that sorts last.")]
        #[inline]
        pub fn $encode(out: &mut Vec<u8>, value: $float, direction: Direction) {
            const SIGN: $bits = 1 << (<$bits>::BITS - 1);
            let bits = if value.is_nan() {
                $nan
            } else if value == 0.0 {
                0
            } else {
                value.to_bits()
            };
            let sortable = if bits & SIGN == 0 { bits | SIGN } else { !bits };
            let mask = <$bits>::from_be_bytes([direction.mask(); $width]);
            out.extend_from_slice(&(sortable ^ mask).to_be_bytes());
        }

        #[doc = concat!("Reads ", $doc, "; returns it and what follows.")]
        ///
        /// # Errors
        /// The bytes are cut short, or are a negative zero or a NaN that the encoder does not write.
        #[inline]
        pub fn $decode(bytes: &[u8], direction: Direction) -> Result<($float, &[u8]), DecodeError> {
            const SIGN: $bits = 1 << (<$bits>::BITS - 1);
            let (head, rest) = bytes.split_first_chunk::<$width>().ok_or(DecodeError::Truncated { what: $what })?;
            let mask = <$bits>::from_be_bytes([direction.mask(); $width]);
            let sortable = <$bits>::from_be_bytes(*head) ^ mask;
            let bits = if sortable & SIGN == 0 { !sortable } else { sortable & !SIGN };
            let value = <$float>::from_bits(bits);
            if bits == SIGN || (value.is_nan() && bits != $nan) {
                return Err(DecodeError::Malformed { what: $what });
            }
            Ok((value, rest))
        }
    };
}

float_part!(encode_f32, decode_f32, f32, u32, 0x7fc0_0000, 4, "key part float32", "a 32-bit float");
float_part!(encode_f64, decode_f64, f64, u64, 0x7ff8_0000_0000_0000, 8, "key part float64", "a 64-bit float");

/// Appends a boolean: false sorts first.
#[inline]
pub fn encode_bool(out: &mut Vec<u8>, value: bool, direction: Direction) {
    out.push(u8::from(value) ^ direction.mask());
}

/// Reads a boolean; returns it and what follows.
///
/// # Errors
/// There is no byte, or it is neither of the two.
#[inline]
pub fn decode_bool(bytes: &[u8], direction: Direction) -> Result<(bool, &[u8]), DecodeError> {
    let (head, rest) = bytes.split_first().ok_or(DecodeError::Truncated { what: "key part bool" })?;
    match head ^ direction.mask() {
        0 => Ok((false, rest)),
        1 => Ok((true, rest)),
        _ => Err(DecodeError::Malformed { what: "key part bool" }),
    }
}

/// Appends a UUID.
#[inline]
pub fn encode_uuid(out: &mut Vec<u8>, value: &[u8; 16], direction: Direction) {
    append_directed(out, value, direction);
}

/// Reads a UUID; returns it and what follows.
///
/// # Errors
/// The bytes are cut short.
#[inline]
pub fn decode_uuid(bytes: &[u8], direction: Direction) -> Result<([u8; 16], &[u8]), DecodeError> {
    let (head, rest) = bytes.split_first_chunk::<16>().ok_or(DecodeError::Truncated { what: "key part uuid" })?;
    let mut value = *head;
    if direction == Direction::Desc {
        complement(&mut value);
    }
    Ok((value, rest))
}

/// Appends text or bytes of a declared width as they are. Padding, where a type has it, is the caller's.
///
/// # Errors
/// The value has another width: two widths in one part would not be prefix-free.
#[inline]
pub fn encode_raw(out: &mut Vec<u8>, value: &[u8], width: usize, direction: Direction) -> Result<(), EncodeError> {
    if value.len() != width {
        return Err(EncodeError::WrongWidth { expected: width, found: value.len() });
    }
    append_directed(out, value, direction);
    Ok(())
}

/// Reads text or bytes of a declared width; returns them (borrowed when ascending) and what follows.
///
/// # Errors
/// The bytes are cut short.
#[inline]
pub fn decode_raw(bytes: &[u8], width: usize, direction: Direction) -> Result<(Cow<'_, [u8]>, &[u8]), DecodeError> {
    let (head, rest) = bytes.split_at_checked(width).ok_or(DecodeError::Truncated { what: "key part raw" })?;
    Ok((directed_cow(head, direction), rest))
}

/// Appends the bytes of a value that is prefix-free and sorted by itself (numeric).
#[inline]
pub fn encode_prefix_free(out: &mut Vec<u8>, ascending: &[u8], direction: Direction) {
    append_directed(out, ascending, direction);
}

/// The ascending form of a part's bytes.
pub(super) fn directed_cow(bytes: &[u8], direction: Direction) -> Cow<'_, [u8]> {
    match direction {
        Direction::Asc => Cow::Borrowed(bytes),
        Direction::Desc => Cow::Owned(bytes.iter().map(|b| !b).collect()),
    }
}
