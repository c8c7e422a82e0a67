//! The packed cell: all columns of a family in one value; format version 1.
//!
//! ```text
//! version u8 = 01 | flags u8 | column count n u16          all numbers little-endian
//! n × descriptor                                           columns by ascending id
//! null bitmap ⌈n/8⌉                                        bit i%8 of byte i/8 is set when column i is NULL
//! fixed area                                               bodies of the fixed-width columns that are not NULL
//! v × end (u16, or u32 if flags bit 0)                     one for each variable-width column that is not NULL
//! data                                                     their bodies; an end counts from the start of the data
//!
//! descriptor   bits 0–4   width in bytes, 1 to 31; 0: variable
//!              bits 5–7   0 to 6: the id is that of the column before (−1 before the first) + 1 + this
//!                         7: the id follows in 4 bytes
//! ```
//!
//! A column costs one byte of header, and a NULL nothing but its bit. Rows written under one shape begin with the same bytes
//! (version to descriptors), and rows with the same NULLs with the same bitmap too: so a reader works out **once** where the
//! columns it wants lie, and for each row compares a few bytes and reads them there: see [`Projection`]. Without that, a
//! column is reached by a walk over descriptors, never over values: see [`RowReader`].
//!
//! Columns are known by id: one that is not in the row is **absent** (it was added later: the caller knows its default), one
//! that nobody asks for is passed over (it was dropped, or is not wanted). Absent and NULL differ. What a body means is the
//! column's type ([`crate::valueside`] lists the bodies); the row knows widths only.
//!
//! Invariant: a reader believes nothing: a row must be exactly as long as its tables say, and every place lie within it.
//! Reading order: [`RowShape`] → [`builder`] → [`reader`] → [`projection`].

pub mod builder;
mod header;
pub mod projection;
pub mod reader;

pub use builder::RowBuilder;
pub use projection::{Projection, RowView};
pub use reader::RowReader;

use crate::error::EncodeError;
use crate::valueside::TypeTag;

/// The version of the format that this module writes: the first byte of every row.
pub const ROW_FORMAT_VERSION: u8 = 1;

/// The greatest width of a fixed-width column.
pub const MAX_FIXED_WIDTH: u8 = 31;

/// How the values of a column lie in a row.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ValueKind {
    /// Always this many bytes: 1 to [`MAX_FIXED_WIDTH`].
    Fixed(u8),
    /// Any number of bytes.
    Variable,
}

impl ValueKind {
    /// Of a type's bodies.
    #[must_use]
    pub fn of(tag: TypeTag) -> Self {
        match tag.width() {
            Some(width @ 1..=31) => ValueKind::Fixed(width as u8),
            _ => ValueKind::Variable,
        }
    }
}

/// What a row says of a column.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Cell<'a> {
    /// Nothing: the column was added later; it has its default.
    Absent,
    Null,
    /// The body.
    Value(&'a [u8]),
}

impl<'a> Cell<'a> {
    /// The body, if there is one.
    #[must_use]
    #[inline]
    pub fn value(self) -> Option<&'a [u8]> {
        match self {
            Cell::Value(body) => Some(body),
            Cell::Absent | Cell::Null => None,
        }
    }
}

/// The columns that a table's rows are written with: made once, shared by all builders.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RowShape {
    columns: Vec<(u32, ValueKind)>,
    /// Version to descriptors, flags without `WIDE_ENDS`.
    header: Vec<u8>,
}

impl RowShape {
    /// A shape of these columns, whose ids must ascend.
    ///
    /// # Errors
    /// Ids do not ascend; a width is 0 or above [`MAX_FIXED_WIDTH`]; more than 65535 columns.
    pub fn new(columns: Vec<(u32, ValueKind)>) -> Result<Self, EncodeError> {
        let header = header::write(&columns)?;
        Ok(Self { columns, header })
    }

    /// Ids and kinds, by ascending id.
    #[must_use]
    pub fn columns(&self) -> &[(u32, ValueKind)] {
        &self.columns
    }
}
