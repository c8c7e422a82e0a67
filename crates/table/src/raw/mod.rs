//! Raw tables for who speaks HBase: all cells of rows, with families and qualifiers by name. What they are in the store is described in
//! [`row::raw`](crate::row::raw).

mod names;
mod table;

pub use names::{DEFAULT_NAMESPACE, SNAPSHOTS, from_binary, schema_of, snapshot_of};
pub use stoa_encoding::keyside::raw::fits_delimited;
pub use table::{Change, RawScan, RawTable, Row, RowCell};
