//! Whole keys: what their parts are, and how to reach, skip and decode them.
//!
//! Invariant: a [`KeyLayout`] is all that is needed to cut a key into its parts; it knows nothing of tables. Parts before the
//! first of variable width lie at offsets computed once. Where next: [`mod@super::salt`].

use super::fixed::directed_cow;
use super::{
    Direction, decode_bool, decode_bytes, decode_f32, decode_f64, decode_i16, decode_i32, decode_i64, decode_raw, decode_u32, decode_uuid,
    encode_bool, encode_bytes, encode_f32, encode_f64, encode_i16, encode_i32, encode_i64, encode_prefix_free, encode_raw, encode_u32,
    encode_uuid, skip_bytes,
};
use crate::error::{DecodeError, EncodeError};
use std::borrow::Cow;

const NULL_FIRST: u8 = 0x00;
const PRESENT: u8 = 0x01;
const NULL_LAST: u8 = 0x02;

/// A family of encodings that sort and are prefix-free by themselves, and are written as they are.
#[derive(Clone, Copy)]
pub struct PrefixFree {
    /// For dumps and errors; also the identity of the family.
    pub name: &'static str,
    /// The length of the (ascending) encoding that the bytes begin with; `None` if they begin with none.
    pub encoded_len: fn(&[u8]) -> Option<usize>,
}

/// Numerics: [`crate::numeric`].
pub const NUMERIC: PrefixFree =
    PrefixFree { name: "numeric", encoded_len: |bytes| crate::numeric::decode(bytes).map(|(_, encoded_len)| encoded_len) };

impl PartialEq for PrefixFree {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for PrefixFree {}

impl std::fmt::Debug for PrefixFree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// How the value of a key part is encoded; the table in [`super`] maps SQL types to kinds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PartKind {
    Bool,
    Int16,
    Int32,
    Int64,
    UInt32,
    Float32,
    Float64,
    Uuid,
    /// Text or bytes of this many bytes, as they are.
    Raw(u32),
    /// Text, bytes, or an opaque sort key.
    Escaped,
    /// Text without the delimiter (and bytes below it, where texts are in order), then the delimiter: [`super::raw`].
    Delimited(u8),
    /// Text or bytes as they are, up to the key's end: the last part of a key, ascending and never NULL. It is not prefix-free; nothing
    /// follows it.
    Rest,
    PrefixFree(PrefixFree),
}

impl PartKind {
    /// The width of every value's encoding, if there is one.
    #[must_use]
    pub fn width(self) -> Option<usize> {
        match self {
            PartKind::Bool => Some(1),
            PartKind::Int16 => Some(2),
            PartKind::Int32 | PartKind::UInt32 | PartKind::Float32 => Some(4),
            PartKind::Int64 | PartKind::Float64 => Some(8),
            PartKind::Uuid => Some(16),
            PartKind::Raw(width) => Some(width as usize),
            PartKind::Escaped | PartKind::Delimited(_) | PartKind::Rest | PartKind::PrefixFree(_) => None,
        }
    }
}

/// Where NULLs stand in the order of the keys, after the direction is applied (as `NULLS FIRST` and `NULLS LAST` say it).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NullOrder {
    First,
    Last,
}

impl NullOrder {
    /// PostgreSQL's default: NULLs are larger than every value.
    #[must_use]
    pub fn default_for(direction: Direction) -> Self {
        match direction {
            Direction::Asc => NullOrder::Last,
            Direction::Desc => NullOrder::First,
        }
    }
}

/// One part of a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeyPart {
    pub kind: PartKind,
    pub direction: Direction,
    /// `None`: the part is never NULL and has no tag.
    pub nulls: Option<NullOrder>,
}

/// A value of a key part, for code that is not typed: tools, dumps, tests, rare paths.
#[derive(Clone, PartialEq, Debug)]
pub enum KeyValue<'a> {
    Null,
    Bool(bool),
    Int16(i16),
    Int32(i32),
    Int64(i64),
    UInt32(u32),
    Float32(f32),
    Float64(f64),
    Uuid([u8; 16]),
    /// `Raw`, `Escaped`, `Delimited`, `Rest`, and (in ascending form) `PrefixFree`.
    Bytes(Cow<'a, [u8]>),
}

/// Appends NULL: the tag alone.
#[inline]
pub fn encode_null(out: &mut Vec<u8>, direction: Direction, nulls: NullOrder) {
    out.push(null_tag(direction, nulls));
}

/// Appends the tag that precedes the value of a part that may be NULL.
#[inline]
pub fn encode_present(out: &mut Vec<u8>, direction: Direction) {
    out.push(PRESENT ^ direction.mask());
}

/// Reads the tag of a part that may be NULL: whether a value follows, and what follows the tag.
///
/// # Errors
/// There is no byte, or it is neither tag.
#[inline]
pub fn decode_presence(bytes: &[u8], direction: Direction, nulls: NullOrder) -> Result<(bool, &[u8]), DecodeError> {
    let (tag, rest) = bytes.split_first().ok_or(DecodeError::Truncated { what: "null tag" })?;
    if *tag == PRESENT ^ direction.mask() {
        Ok((true, rest))
    } else if *tag == null_tag(direction, nulls) {
        Ok((false, rest))
    } else {
        Err(DecodeError::Malformed { what: "null tag" })
    }
}

#[inline]
fn null_tag(direction: Direction, nulls: NullOrder) -> u8 {
    match (direction, nulls) {
        (Direction::Asc, NullOrder::First) => NULL_FIRST,
        (Direction::Asc, NullOrder::Last) => NULL_LAST,
        (Direction::Desc, NullOrder::First) => !NULL_LAST,
        (Direction::Desc, NullOrder::Last) => !NULL_FIRST,
    }
}

impl KeyPart {
    /// A part that is never NULL: of a primary key.
    #[must_use]
    pub fn new(kind: PartKind, direction: Direction) -> Self {
        Self { kind, direction, nulls: None }
    }

    /// A part that may be NULL: of an index key.
    #[must_use]
    pub fn nullable(kind: PartKind, direction: Direction, nulls: NullOrder) -> Self {
        Self { kind, direction, nulls: Some(nulls) }
    }

    /// The width of every encoding of this part, tag included, if there is one.
    #[must_use]
    pub fn width(self) -> Option<usize> {
        if self.nulls.is_some() { None } else { self.kind.width() }
    }

    /// What follows this part.
    ///
    /// # Errors
    /// The bytes are cut short or malformed.
    #[inline]
    pub fn skip(self, bytes: &[u8]) -> Result<&[u8], DecodeError> {
        let bytes = match self.nulls {
            None => bytes,
            Some(nulls) => match decode_presence(bytes, self.direction, nulls)? {
                (true, rest) => rest,
                (false, rest) => return Ok(rest),
            },
        };
        match self.kind {
            PartKind::Escaped => skip_bytes(bytes, self.direction),
            PartKind::Delimited(delimiter) => super::raw::skip_delimited(bytes, delimiter, self.direction),
            PartKind::Rest => Ok(&[]),
            PartKind::PrefixFree(family) => Ok(split_prefix_free(bytes, family, self.direction)?.1),
            // The other kinds have a width.
            kind => bytes.get(kind.width().unwrap_or(0)..).ok_or(DecodeError::Truncated { what: "key" }),
        }
    }

    /// Reads the part; returns its value and what follows.
    ///
    /// # Errors
    /// The bytes are cut short or malformed.
    pub fn decode(self, bytes: &[u8]) -> Result<(KeyValue<'_>, &[u8]), DecodeError> {
        let direction = self.direction;
        let bytes = match self.nulls {
            None => bytes,
            Some(nulls) => match decode_presence(bytes, direction, nulls)? {
                (true, rest) => rest,
                (false, rest) => return Ok((KeyValue::Null, rest)),
            },
        };
        Ok(match self.kind {
            PartKind::Bool => decode_bool(bytes, direction).map(|(v, rest)| (KeyValue::Bool(v), rest))?,
            PartKind::Int16 => decode_i16(bytes, direction).map(|(v, rest)| (KeyValue::Int16(v), rest))?,
            PartKind::Int32 => decode_i32(bytes, direction).map(|(v, rest)| (KeyValue::Int32(v), rest))?,
            PartKind::Int64 => decode_i64(bytes, direction).map(|(v, rest)| (KeyValue::Int64(v), rest))?,
            PartKind::UInt32 => decode_u32(bytes, direction).map(|(v, rest)| (KeyValue::UInt32(v), rest))?,
            PartKind::Float32 => decode_f32(bytes, direction).map(|(v, rest)| (KeyValue::Float32(v), rest))?,
            PartKind::Float64 => decode_f64(bytes, direction).map(|(v, rest)| (KeyValue::Float64(v), rest))?,
            PartKind::Uuid => decode_uuid(bytes, direction).map(|(v, rest)| (KeyValue::Uuid(v), rest))?,
            PartKind::Raw(width) => decode_raw(bytes, width as usize, direction).map(|(v, rest)| (KeyValue::Bytes(v), rest))?,
            PartKind::Escaped => decode_bytes(bytes, direction).map(|(v, rest)| (KeyValue::Bytes(v), rest))?,
            PartKind::Delimited(delimiter) => {
                super::raw::decode_delimited(bytes, delimiter, direction).map(|(v, rest)| (KeyValue::Bytes(v), rest))?
            }
            PartKind::Rest => (KeyValue::Bytes(directed_cow(bytes, direction)), &[]),
            PartKind::PrefixFree(family) => {
                let (head, rest) = split_prefix_free(bytes, family, direction)?;
                (KeyValue::Bytes(directed_cow(head, direction)), rest)
            }
        })
    }

    /// Appends a value, with its tag if the part may be NULL.
    ///
    /// # Errors
    /// The value is not of the part's kind or width, or is NULL in a part that cannot be.
    pub fn encode(self, out: &mut Vec<u8>, value: &KeyValue<'_>) -> Result<(), EncodeError> {
        let direction = self.direction;
        if let Some(nulls) = self.nulls {
            if matches!(value, KeyValue::Null) {
                encode_null(out, direction, nulls);
                return Ok(());
            }
            encode_present(out, direction);
        }
        match (self.kind, value) {
            (PartKind::Bool, KeyValue::Bool(v)) => encode_bool(out, *v, direction),
            (PartKind::Int16, KeyValue::Int16(v)) => encode_i16(out, *v, direction),
            (PartKind::Int32, KeyValue::Int32(v)) => encode_i32(out, *v, direction),
            (PartKind::Int64, KeyValue::Int64(v)) => encode_i64(out, *v, direction),
            (PartKind::UInt32, KeyValue::UInt32(v)) => encode_u32(out, *v, direction),
            (PartKind::Float32, KeyValue::Float32(v)) => encode_f32(out, *v, direction),
            (PartKind::Float64, KeyValue::Float64(v)) => encode_f64(out, *v, direction),
            (PartKind::Uuid, KeyValue::Uuid(v)) => encode_uuid(out, v, direction),
            (PartKind::Raw(width), KeyValue::Bytes(v)) => encode_raw(out, v, width as usize, direction)?,
            (PartKind::Escaped, KeyValue::Bytes(v)) => encode_bytes(out, v, direction),
            (PartKind::Delimited(delimiter), KeyValue::Bytes(v)) => super::raw::encode_delimited(out, v, delimiter, direction)?,
            (PartKind::Rest, KeyValue::Bytes(v)) => super::append_directed(out, v, direction),
            (PartKind::PrefixFree(family), KeyValue::Bytes(v)) if (family.encoded_len)(v) == Some(v.len()) => {
                encode_prefix_free(out, v, direction);
            }
            _ => return Err(EncodeError::WrongKind { what: "the key part" }),
        }
        Ok(())
    }
}

/// Splits after an encoding that is prefix-free by itself. Its length is known to the ascending form only, so a descending
/// one is complemented piece by piece: first as many bytes as nearly all encodings have, on the stack.
fn split_prefix_free(bytes: &[u8], family: PrefixFree, direction: Direction) -> Result<(&[u8], &[u8]), DecodeError> {
    const NEARLY_ALL: usize = 64;
    let len = match direction {
        Direction::Asc => (family.encoded_len)(bytes),
        Direction::Desc => {
            let mut head = [0; NEARLY_ALL];
            let known = bytes.len().min(NEARLY_ALL);
            for (to, from) in head.iter_mut().zip(bytes) {
                *to = !from;
            }
            let found = (family.encoded_len)(head.get(..known).unwrap_or_default());
            if found.is_none() && bytes.len() > NEARLY_ALL { (family.encoded_len)(&directed_cow(bytes, Direction::Desc)) } else { found }
        }
    };
    len.and_then(|len| bytes.split_at_checked(len)).ok_or(DecodeError::Malformed { what: family.name })
}

/// All parts of a key, in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyLayout {
    salted: bool,
    parts: Vec<KeyPart>,
    /// Where each leading part lies as long as all before it have a width; the last entry is where the first part begins
    /// that follows one without.
    fixed_starts: Vec<usize>,
}

impl KeyLayout {
    /// A key of these parts, behind a salt byte if `salted`.
    #[must_use]
    pub fn new(salted: bool, parts: Vec<KeyPart>) -> Self {
        let mut fixed_starts = vec![usize::from(salted)];
        for part in &parts {
            match (part.width(), fixed_starts.last()) {
                (Some(width), Some(start)) => fixed_starts.push(start.saturating_add(width)),
                _ => break,
            }
        }
        Self { salted, parts, fixed_starts }
    }

    #[must_use]
    pub fn is_salted(&self) -> bool {
        self.salted
    }

    #[must_use]
    pub fn parts(&self) -> &[KeyPart] {
        &self.parts
    }

    /// Where the n-th part begins in every key, if that is the same in all.
    #[must_use]
    pub fn fixed_start(&self, n: usize) -> Option<usize> {
        self.fixed_starts.get(n).copied()
    }

    /// The key from its n-th part on (from its end, if it has n parts).
    ///
    /// # Errors
    /// The key is cut short or malformed, or has fewer than n parts.
    #[inline]
    pub fn skip_to<'a>(&self, key: &'a [u8], n: usize) -> Result<&'a [u8], DecodeError> {
        let truncated = DecodeError::Truncated { what: "key" };
        let known = n.min(self.fixed_starts.len() - 1);
        let mut rest = self.fixed_start(known).and_then(|start| key.get(start..)).ok_or(truncated)?;
        for part in self.parts.get(known..n).ok_or(truncated)? {
            rest = part.skip(rest)?;
        }
        Ok(rest)
    }

    /// The bytes of the n-th part, tag included.
    ///
    /// # Errors
    /// As [`KeyLayout::skip_to`].
    pub fn part_bytes<'a>(&self, key: &'a [u8], n: usize) -> Result<&'a [u8], DecodeError> {
        let truncated = DecodeError::Truncated { what: "key" };
        let from = self.skip_to(key, n)?;
        let rest = self.parts.get(n).ok_or(truncated)?.skip(from)?;
        from.get(..from.len() - rest.len()).ok_or(truncated)
    }

    /// Decodes every part.
    ///
    /// # Errors
    /// The key is cut short, malformed, or longer than its parts.
    pub fn decode<'a>(&self, key: &'a [u8]) -> Result<Vec<KeyValue<'a>>, DecodeError> {
        let mut rest = self.skip_to(key, 0)?;
        let mut values = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let (value, after) = part.decode(rest)?;
            values.push(value);
            rest = after;
        }
        if rest.is_empty() { Ok(values) } else { Err(DecodeError::Trailing { what: "key" }) }
    }
}
