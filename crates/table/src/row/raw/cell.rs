//! The qualifier under which the store has a cell of a raw table.

use crate::row::corrupt;
use std::borrow::Cow;
use stoa_encoding::DecodeError;
use stoa_encoding::keyside::{self, Direction};
use stoa_pg::PgResult;
use stoa_store::FamilyId;

/// What a cell is, with HBase's codes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CellKind {
    Put = 4,
    /// Hides the cell of its column and time.
    Delete = 8,
    /// Hides the cells of its family and time.
    DeleteFamilyVersion = 10,
    /// Hides the cells of its column up to its time.
    DeleteColumn = 12,
    /// Hides the cells of its family up to its time.
    DeleteFamily = 14,
}

impl CellKind {
    const ALL: [CellKind; 5] =
        [CellKind::Put, CellKind::Delete, CellKind::DeleteFamilyVersion, CellKind::DeleteColumn, CellKind::DeleteFamily];

    /// HBase's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            CellKind::Put => "Put",
            CellKind::Delete => "Delete",
            CellKind::DeleteFamilyVersion => "DeleteFamilyVersion",
            CellKind::DeleteColumn => "DeleteColumn",
            CellKind::DeleteFamily => "DeleteFamily",
        }
    }
}

/// Time and kind at the end of a qualifier.
const TAIL: usize = 9;

/// A stored qualifier, read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parts<'a> {
    /// Family and qualifier, as [`column()`] writes them.
    pub column: &'a [u8],
    pub family: FamilyId,
    /// Milliseconds since 1970.
    pub time: i64,
    pub kind: CellKind,
}

/// What the qualifiers of a column's cells begin with.
#[must_use]
pub fn column(family: FamilyId, qualifier: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(qualifier.len() + 4 + TAIL);
    out.extend_from_slice(&family.0.to_be_bytes());
    keyside::encode_bytes(&mut out, qualifier, Direction::Asc);
    out
}

/// The stored qualifier of a cell of a column, which [`column()`] has written; the newest sorts first. `time` is not negative.
#[must_use]
pub fn qualifier(column: &[u8], time: i64, kind: CellKind) -> Vec<u8> {
    let mut out = Vec::with_capacity(column.len() + TAIL);
    out.extend_from_slice(column);
    out.extend_from_slice(&(!time.unsigned_abs()).to_be_bytes());
    out.push(!(kind as u8));
    out
}

/// Reads a stored qualifier.
///
/// # Errors
/// XX001 for what [`qualifier`] does not write.
pub fn parse(stored: &[u8]) -> PgResult<Parts<'_>> {
    let malformed = || corrupt(DecodeError::Malformed { what: "cell of a raw table" });
    let at = stored.len().checked_sub(TAIL).ok_or_else(malformed)?;
    let (column, tail) = stored.split_at(at);
    let family = column.first_chunk::<2>().map(|b| FamilyId(u16::from_be_bytes(*b))).ok_or_else(malformed)?;
    let time = tail.first_chunk::<8>().map(|b| !u64::from_be_bytes(*b)).and_then(|t| i64::try_from(t).ok()).ok_or_else(malformed)?;
    let code = tail.last().map(|b| !*b).ok_or_else(malformed)?;
    let kind = CellKind::ALL.into_iter().find(|kind| *kind as u8 == code).ok_or_else(malformed)?;
    Ok(Parts { column, family, time, kind })
}

/// The qualifier in what [`column()`] has written.
///
/// # Errors
/// XX001 for anything else.
pub fn qualifier_of(column: &[u8]) -> PgResult<Cow<'_, [u8]>> {
    let escaped = column.get(2..).ok_or_else(|| corrupt(DecodeError::Malformed { what: "cell of a raw table" }))?;
    Ok(keyside::decode_bytes(escaped, Direction::Asc).map_err(corrupt)?.0)
}
