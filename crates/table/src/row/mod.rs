//! Columns to bytes and back: key parts, packed families, cells; index entries likewise.
//!
//! ```text
//! row key      salt? | part | part | …                     parts as PRIMARY KEY declares them, never NULL
//! family cell  packed row of the family's columns          (layout packed: one cell, empty qualifier)
//! column cell  qualifier = column id u16 be | value cell   (layout cells)
//! plain cell   qualifier = the column's name | its value    (layout cells, plain values; as other programs read it)
//! index key    salt? | tag part | tag part | … | row key?  the row key is left out where the index alone is unique
//! index cell   packed row: 0 = row key (unique indexes), included columns, columns that a key part cannot give back
//! ```
//!
//! Invariant: what [`RowEncoder`] writes, [`ScanDecoder`] reads under every later descriptor of the same table: columns are known
//! by id. A key column whose key form loses something (`1.0` and `1.00` are one key) is stored in the first family as well.
//!
//! Reading order: [`types`] → [`epoch`] → [`key`] → [`key_form`] → [`value`] → [`named_cell`] → [`table`] → [`index`] → [`decoder`].

pub mod builder;
pub mod decoder;
pub mod epoch;
pub mod index;
pub mod key;
pub mod key_form;
pub mod named_cell;
pub mod raw;
pub mod row_id;
pub mod samples;
pub mod split_points;
pub mod table;
pub mod types;
pub mod value;
mod view_builder;

#[cfg(test)]
mod tests;

pub use builder::ColumnBuilder;
pub use decoder::{ColumnSource, ScanDecoder};
pub use index::{INDEX_FAMILY, IndexCodec, IndexEncoder, expression_column};
pub use key::{KeyCodec, KeyColumn, KeyList};
pub use row_id::next_row_id;
pub use table::{FamilyCodec, RowCodec, RowEncoder};
pub use value::ValueColumn;

use stoa_encoding::{DecodeError, EncodeError};
use stoa_pg::PgError;
use stoa_pg::sqlstate::SqlState;

/// Stored bytes that no version of the program writes: XX001.
#[cold]
#[must_use]
pub fn corrupt(error: DecodeError) -> PgError {
    PgError::new(SqlState::DATA_CORRUPTED, format!("a stored row cannot be read: {error}"))
}

/// A value that the format cannot hold: 54000.
#[cold]
#[must_use]
pub fn unencodable(error: EncodeError) -> PgError {
    match error {
        EncodeError::TooLarge { what } => PgError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, format!("{what} is too large")),
        other => PgError::internal(format!("a row cannot be encoded: {other}")),
    }
}
