//! Keys: bytes whose order is the order of the values (memcomparable), format version 1.
//!
//! Invariant: the encoding of a value is **prefix-free** within its kind, and for two values of one kind, as unsigned bytes,
//! `encode(a) < encode(b)` if and only if `a` sorts before `b` in SQL. So the encoding of a tuple is the concatenation of
//! its parts. `DESC` complements every byte of a part, tag and terminator included.
//!
//! | kind | SQL types | bytes (ascending) |
//! |---|---|---|
//! | `Bool` | boolean | `00` false, `01` true |
//! | `Int16` `Int32` `Int64` | integers; date (32: days); time, timestamps (64: microseconds) | big-endian, sign bit flipped |
//! | `UInt32` | oid and its aliases | big-endian |
//! | `Float32` `Float64` | real, double precision | IEEE bits, big-endian; sign flipped, or all bits if negative; −0 as +0, one NaN, last |
//! | `Uuid` | uuid | its 16 bytes |
//! | `Raw(n)` | declared fixed-width text and bytes | the n bytes |
//! | `Escaped` | text, bytea; sort keys of interval, jsonb, timetz, arrays | `00` as `00 FF`, closed by `00 01` |
//! | `Delimited(b)` | declared text up to a delimiter | the bytes without `b` (each above it if it is below `0`), then `b` |
//! | `Rest` | declared text or bytes as the last part of a key, ascending | the bytes |
//! | `PrefixFree` | numeric ([`NUMERIC`], made by [`crate::numeric`]) | prefix-free by themselves, as they are |
//!
//! A part that may be NULL is preceded by a tag: `01` before a value; alone, `02` for NULL after all values, `00` for NULL
//! before them. A salted key begins with one byte, the [`salt()`] bucket.
//!
//! A key carries no version byte, since a byte in front of every key would cost much and sort nothing: the descriptor of the
//! table names the key format, [`KEY_FORMAT_VERSION`].
//!
//! Where next: [`fixed`], [`escaped`], [`raw`] encode single values; [`part`] describes whole keys; [`mod@salt`]; [`prefix`].

pub mod escaped;
pub mod fixed;
pub mod part;
pub mod prefix;
pub mod raw;
pub mod salt;

pub use escaped::{
    decode_bytes, decode_bytes_in, decode_text, encode_bytes, encode_bytes_prefix, encode_text, encode_text_prefix, skip_bytes,
};
pub use fixed::{
    decode_bool, decode_f32, decode_f64, decode_i16, decode_i32, decode_i64, decode_raw, decode_u32, decode_uuid, encode_bool, encode_f32,
    encode_f64, encode_i16, encode_i32, encode_i64, encode_prefix_free, encode_raw, encode_u32, encode_uuid,
};
pub use part::{KeyLayout, KeyPart, KeyValue, NUMERIC, NullOrder, PartKind, PrefixFree, decode_presence, encode_null, encode_present};
pub use prefix::{advance_to_prefix_successor, prefix_successor};
pub use salt::{SaltBuckets, hash, salt};

/// The version of the key format that this module writes, for the table's descriptor.
pub const KEY_FORMAT_VERSION: u8 = 1;

/// The direction in which a key part sorts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Direction {
    #[default]
    Asc,
    /// Every byte complemented.
    Desc,
}

impl Direction {
    /// What each byte of the ascending encoding is XORed with: `00` or `FF`.
    #[must_use]
    #[inline]
    pub fn mask(self) -> u8 {
        match self {
            Direction::Asc => 0,
            Direction::Desc => 0xff,
        }
    }
}

/// Appends bytes that are already an ascending encoding.
#[inline]
fn append_directed(out: &mut Vec<u8>, ascending: &[u8], direction: Direction) {
    let from = out.len();
    out.extend_from_slice(ascending);
    if direction == Direction::Desc {
        complement(out.get_mut(from..).unwrap_or_default());
    }
}

#[inline]
fn complement(bytes: &mut [u8]) {
    for byte in bytes {
        *byte = !*byte;
    }
}
