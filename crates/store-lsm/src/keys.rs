//! Physical keys and values: how a cell of the contract lies in RocksDB.
//!
//! Each (table, family) has a storage id of its own, and all its entries begin with it. Two forms:
//!
//! ```text
//! plain      (layout packed, VERSIONS 1: one entry a row, a write replaces)
//!   key   = storage id, u32 big-endian │ row key as it is
//!   value = timestamp, u64 big-endian │ bytes of the cell
//!
//! versioned  (everything else: an entry a version)
//!   key   = storage id │ row key escaped │ 00 01 │ qualifier escaped │ 00 01 │ !timestamp, u64 big-endian
//!           packed: no qualifier and no second 00 01
//!           mark that the whole family of the row was deleted (layout cells): 00 00 instead of qualifier and 00 01
//!   value = 00 │ bytes of the cell; 01 for a deletion; 02 │ bytes of a cell that hides all older versions, because its commit
//!           deleted the cell before it set it
//! ```
//!
//! Escaped: `00` becomes `00 FF`. So entries sort by row key, then marks before cells, then by qualifier, then newest first.
//! Numbers and layout are frozen (`FORMAT` in [`crate::metadata`]).

use stoa_store::{FamilyOptions, Layout, Timestamp};

pub const STORAGE_ID_BYTES: usize = 4;
pub const TIMESTAMP_BYTES: usize = 8;
/// First byte of a versioned value.
pub const VALUE_PUT: u8 = 0;
pub const VALUE_DELETED: u8 = 1;
pub const VALUE_PUT_AFTER_DELETE: u8 = 2;

/// The form of a family's entries.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Form {
    Plain,
    /// Versioned, no qualifier.
    PackedVersions,
    /// Versioned, with qualifiers.
    Cells,
}

impl Form {
    pub fn of(options: &FamilyOptions) -> Form {
        match (options.layout, options.versions) {
            (Layout::Packed, 1) => Form::Plain,
            (Layout::Packed, _) => Form::PackedVersions,
            (Layout::Cells, _) => Form::Cells,
        }
    }
}

/// The bounds of everything that a storage id holds.
pub fn storage_bounds(storage: u32) -> (Vec<u8>, Vec<u8>) {
    (storage.to_be_bytes().to_vec(), storage.saturating_add(1).to_be_bytes().to_vec())
}

/// Appends bytes escaped and closed.
pub fn push_escaped(out: &mut Vec<u8>, bytes: &[u8]) {
    let mut rest = bytes;
    while let Some(zero) = rest.iter().position(|b| *b == 0) {
        let (head, tail) = rest.split_at(zero + 1);
        out.extend_from_slice(head);
        out.push(0xff);
        rest = tail;
    }
    out.extend_from_slice(rest);
    out.extend_from_slice(&[0, 1]);
}

/// The length of an escaped part with its close at the start of `bytes`; `None` if it is not closed.
pub fn escaped_len(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += bytes.get(at..)?.iter().position(|b| *b == 0)?;
        match bytes.get(at + 1)? {
            0xff => at += 2,
            1 => return Some(at + 2),
            _ => return None,
        }
    }
}

/// Appends the bytes of an escaped part (its close included in the input).
pub fn push_unescaped(out: &mut Vec<u8>, escaped: &[u8]) {
    let mut rest = escaped.get(..escaped.len().saturating_sub(2)).unwrap_or_default();
    while let Some(zero) = rest.iter().position(|b| *b == 0) {
        out.extend_from_slice(rest.get(..=zero).unwrap_or_default());
        rest = rest.get(zero + 2..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
}

/// Where a row key stands among the entries of a family: the least physical key of it and all rows above.
pub fn push_row_bound(out: &mut Vec<u8>, storage: u32, form: Form, row_key: &[u8]) {
    out.extend_from_slice(&storage.to_be_bytes());
    match form {
        Form::Plain => out.extend_from_slice(row_key),
        Form::PackedVersions | Form::Cells => push_escaped(out, row_key),
    }
}

/// The physical range of a half-open range of row keys.
pub fn row_range(storage: u32, form: Form, start: &[u8], end: Option<&[u8]>) -> (Vec<u8>, Vec<u8>) {
    let mut lower = Vec::with_capacity(start.len() + 8);
    push_row_bound(&mut lower, storage, form, start);
    let upper = match end {
        None => storage_bounds(storage).1,
        Some(end) => {
            let mut upper = Vec::with_capacity(end.len() + 8);
            push_row_bound(&mut upper, storage, form, end);
            upper
        }
    };
    (lower, upper)
}

pub fn inverted(timestamp: Timestamp) -> [u8; 8] {
    (!timestamp.0).to_be_bytes()
}

/// A versioned key taken apart; the parts are still escaped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VersionedKey<'a> {
    /// Storage id, row key and its close.
    pub row: &'a [u8],
    /// The qualifier with its close; empty for packed; `None` for a mark that the family was deleted.
    pub qualifier: Option<&'a [u8]>,
    pub timestamp: Timestamp,
}

impl<'a> VersionedKey<'a> {
    /// `None` if the bytes are no such key.
    pub fn parse(key: &'a [u8], form: Form) -> Option<Self> {
        let row_len = STORAGE_ID_BYTES + escaped_len(key.get(STORAGE_ID_BYTES..)?)?;
        let (row, rest) = key.split_at(row_len);
        let (qualifier, stamp) = rest.split_at(rest.len().checked_sub(TIMESTAMP_BYTES)?);
        let timestamp = Timestamp(!u64::from_be_bytes(stamp.try_into().ok()?));
        let qualifier = match form {
            Form::Cells if qualifier == [0, 0] => None,
            Form::Cells => (escaped_len(qualifier)? == qualifier.len()).then_some(Some(qualifier))?,
            Form::PackedVersions | Form::Plain => qualifier.is_empty().then_some(Some(qualifier))?,
        };
        Some(Self { row, qualifier, timestamp })
    }
}

/// The row part of a versioned key, for bloom filters; the whole key if it has no such part.
pub fn row_prefix(key: &[u8]) -> &[u8] {
    let len = key.get(STORAGE_ID_BYTES..).and_then(escaped_len);
    len.and_then(|len| key.get(..STORAGE_ID_BYTES + len)).unwrap_or(key)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    fn versioned(row: &[u8], qualifier: Option<&[u8]>, timestamp: u64) -> Vec<u8> {
        let mut key = 7u32.to_be_bytes().to_vec();
        push_escaped(&mut key, row);
        match qualifier {
            Some(q) => push_escaped(&mut key, q),
            None => key.extend_from_slice(&[0, 0]),
        }
        key.extend_from_slice(&inverted(Timestamp(timestamp)));
        key
    }

    #[test]
    fn golden_bytes() {
        assert_eq!(
            versioned(b"a\0", Some(b"q"), 1),
            [&[0, 0, 0, 7][..], b"a\0\xff\0\x01q\0\x01", &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe]].concat()
        );
        assert_eq!(versioned(b"", None, 0), [&[0, 0, 0, 7, 0, 1, 0, 0][..], &[0xff; 8]].concat());
        assert_eq!(row_range(7, Form::Plain, b"a", None), (b"\0\0\0\x07a".to_vec(), b"\0\0\0\x08".to_vec()));
    }

    #[test]
    fn entries_sort_by_row_then_marks_then_qualifier_then_newest_first() {
        let rows: [&[u8]; 7] = [b"", b"\0", b"\0\0", b"\0\x01", b"a", b"a\0", b"b"];
        let qualifiers: [Option<&[u8]>; 6] = [None, Some(b""), Some(b"\0"), Some(b"\x01"), Some(b"q"), Some(b"q\xff")];
        let mut keys = Vec::new();
        for row in rows {
            for qualifier in qualifiers {
                for timestamp in [9, 3] {
                    let key = versioned(row, qualifier, timestamp);
                    let parsed = VersionedKey::parse(&key, Form::Cells).unwrap();
                    let mut back = Vec::new();
                    push_unescaped(&mut back, &parsed.row[4..]);
                    assert_eq!(back, row);
                    assert_eq!(parsed.timestamp, Timestamp(timestamp));
                    assert_eq!(row_prefix(&key), parsed.row);
                    let q = parsed.qualifier.map(|q| {
                        let mut back = Vec::new();
                        push_unescaped(&mut back, q);
                        back
                    });
                    assert_eq!(q.as_deref(), qualifier);
                    keys.push(key);
                }
            }
        }
        let mut sorted = keys.clone();
        sorted.sort();
        assert_eq!(keys, sorted);
    }

    #[test]
    fn damaged_keys_are_not_keys() {
        let key = versioned(b"row", Some(b"q"), 5);
        for cut in 0..key.len() {
            assert_eq!(VersionedKey::parse(&key[..cut], Form::Cells), None, "cut at {cut}");
        }
    }
}
