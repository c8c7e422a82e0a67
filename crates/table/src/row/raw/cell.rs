//! The qualifier under which the store has a cell of a raw table.

use crate::row::corrupt;
use std::borrow::Cow;
use stoa_encoding::DecodeError;
use stoa_encoding::raw_cell;
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
    let mut out = Vec::with_capacity(qualifier.len() + 13);
    raw_cell::push_column(&mut out, family.0, qualifier);
    out
}

/// The stored qualifier of a cell of a column, which [`column()`] has written; the newest sorts first. `time` is not negative.
#[must_use]
pub fn qualifier(column: &[u8], time: i64, kind: CellKind) -> Vec<u8> {
    let mut out = Vec::with_capacity(column.len() + 9);
    out.extend_from_slice(column);
    raw_cell::push_cell(&mut out, time, kind as u8);
    out
}

/// Reads a stored qualifier.
///
/// # Errors
/// XX001 for what [`qualifier`] does not write.
pub fn parse(stored: &[u8]) -> PgResult<Parts<'_>> {
    let read = raw_cell::parse(stored).map_err(corrupt)?;
    let kind = CellKind::ALL.into_iter().find(|kind| *kind as u8 == read.kind);
    let kind = kind.ok_or_else(|| corrupt(DecodeError::Malformed { what: "cell of a raw table" }))?;
    Ok(Parts { column: read.column, family: FamilyId(read.family), time: read.time, kind })
}

/// The qualifier in what [`column()`] has written.
///
/// # Errors
/// XX001 for anything else.
pub fn qualifier_of(column: &[u8]) -> PgResult<Cow<'_, [u8]>> {
    raw_cell::qualifier_of(column).map_err(corrupt)
}
