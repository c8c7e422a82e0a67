//! Tables whose rows are cells as HBase has them, and foreign tables, whose columns are such cells.

use super::descriptor::{ColumnId, Oid};
use serde::{Deserialize, Serialize};
use stoa_store::FamilyId;

/// The family of the store that has all cells of a raw table. No table has as many families as it would take to reach it.
pub const CELLS: FamilyId = FamilyId(0xfff0);

/// The option of a raw table whose cells other programs own: where they are.
pub const LOCATION: &str = "location";

/// How values of a type become the bytes of cells that other programs read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Encoding {
    /// HBase's `Bytes`: numbers big-endian, `ff` and `00` for booleans, texts in UTF-8.
    Bytes,
    /// The text form of the type.
    Text,
    /// Phoenix's types: as `Bytes`, the bits turned so that bytes sort as values do; `01` and `00` for booleans; dates and timestamps in
    /// milliseconds since 1970.
    Phoenix,
}

impl Encoding {
    /// As options name it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Bytes => "bytes",
            Encoding::Text => "text",
            Encoding::Phoenix => "phoenix",
        }
    }

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Encoding::Bytes, Encoding::Text, Encoding::Phoenix].into_iter().find(|e| e.name() == name)
    }
}

/// Which raw table's cells the columns of a table are.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Mapping {
    /// The raw table.
    pub table: Oid,
    pub columns: Vec<MappedColumn>,
}

/// The cells of one column.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MappedColumn {
    pub column: ColumnId,
    /// Of the raw table.
    pub family: u16,
    pub qualifier: Vec<u8>,
    pub encoding: Encoding,
}
