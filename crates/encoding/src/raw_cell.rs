//! The qualifier under which a store has a cell of a raw table: family, qualifier, time and kind, so that cells sort as HBase sorts them.
//!
//! ```text
//! family u16 be | escaped qualifier | !time u64 be | !kind u8
//! ```

use crate::DecodeError;
use crate::keyside::{self, Direction};
use std::borrow::Cow;

/// Time and kind at the end.
const TAIL: usize = 9;
/// The kind of a cell with a value, as HBase numbers it.
pub const PUT: u8 = 4;

/// A stored qualifier, read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RawCell<'a> {
    /// Family and qualifier, as [`push_column`] writes them.
    pub column: &'a [u8],
    pub family: u16,
    /// Milliseconds since 1970.
    pub time: i64,
    /// As HBase numbers them.
    pub kind: u8,
}

/// Appends what the qualifiers of a column's cells begin with.
pub fn push_column(out: &mut Vec<u8>, family: u16, qualifier: &[u8]) {
    out.extend_from_slice(&family.to_be_bytes());
    keyside::encode_bytes(out, qualifier, Direction::Asc);
}

/// Appends the rest of a cell's qualifier; the newest sorts first. `time` is not negative.
pub fn push_cell(out: &mut Vec<u8>, time: i64, kind: u8) {
    out.extend_from_slice(&(!time.unsigned_abs()).to_be_bytes());
    out.push(!kind);
}

const MALFORMED: DecodeError = DecodeError::Malformed { what: "cell of a raw table" };

/// Reads a stored qualifier.
///
/// # Errors
/// What [`push_column`] and [`push_cell`] do not write.
pub fn parse(stored: &[u8]) -> Result<RawCell<'_>, DecodeError> {
    let at = stored.len().checked_sub(TAIL).ok_or(MALFORMED)?;
    let (column, tail) = stored.split_at(at);
    let family = column.first_chunk::<2>().map(|b| u16::from_be_bytes(*b)).ok_or(MALFORMED)?;
    let time = tail.first_chunk::<8>().map(|b| !u64::from_be_bytes(*b)).and_then(|t| i64::try_from(t).ok()).ok_or(MALFORMED)?;
    let kind = tail.last().map(|b| !*b).ok_or(MALFORMED)?;
    Ok(RawCell { column, family, time, kind })
}

/// The qualifier in what [`push_column`] has written.
///
/// # Errors
/// Anything else.
pub fn qualifier_of(column: &[u8]) -> Result<Cow<'_, [u8]>, DecodeError> {
    let escaped = column.get(2..).ok_or(MALFORMED)?;
    Ok(keyside::decode_bytes(escaped, Direction::Asc)?.0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn cells_come_back_and_sort_as_in_hbase() {
        let cell = |family: u16, qualifier: &[u8], time: i64, kind: u8| {
            let mut out = Vec::new();
            push_column(&mut out, family, qualifier);
            push_cell(&mut out, time, kind);
            out
        };
        let sorted = [
            cell(1, b"", 9, PUT),
            cell(1, b"a", 9, 12),
            cell(1, b"a", 9, PUT),
            cell(1, b"a", 3, PUT),
            cell(1, b"a\0", 9, PUT),
            cell(2, b"", 9, PUT),
        ];
        assert!(sorted.is_sorted());
        let read = parse(&sorted[2]).unwrap();
        assert_eq!((read.family, &*qualifier_of(read.column).unwrap(), read.time, read.kind), (1, &b"a"[..], 9, PUT));
        assert!(parse(b"short").is_err() && qualifier_of(b"\0").is_err());
    }
}
