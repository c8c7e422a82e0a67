//! What is known of the values in tables: ANALYZE collects it, the choice of access paths and joins uses it.
//!
//! Statistics are a guess by nature: they are not part of any transaction, and a table without them is planned all the same.
//!
//! Reading order: [`collect`](mod@collect) → [`estimate`] → [`registry`].

pub mod collect;
pub mod estimate;
pub mod registry;

pub use collect::collect;
pub use registry::Registry;

use crate::catalog::{ColumnId, Epoch};
use serde::{Deserialize, Serialize};

/// Of one table.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct TableStatistics {
    pub rows: f64,
    /// When they were collected, in microseconds since 1970, and whether a statement asked for it.
    pub collected_us: i64,
    pub explicit: bool,
    pub columns: Vec<ColumnValues>,
    /// From when timestamps count in keys of values, whatever the table's do.
    #[serde(default)]
    pub epoch: Epoch,
    /// The table has been emptied since: nothing is known of its rows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outdated: bool,
}

/// Of one column.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ColumnValues {
    pub column: ColumnId,
    pub null_share: f64,
    /// Bytes of a value, on average.
    pub width: f64,
    /// How many different values there are; negative: as a share of the rows.
    pub distinct: f64,
    /// The commonest first, with their share of the rows.
    pub common: Vec<(Value, f64)>,
    /// The values that are not common, cut into equal shares; ascending.
    pub histogram: Vec<Value>,
    /// How far the order of values is the order of rows, from -1 to 1.
    pub correlation: Option<f64>,
}

/// A value as it is shown and as it sorts.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Value {
    pub text: String,
    /// The key part, ascending, NULLs last.
    pub key: Vec<u8>,
}

impl TableStatistics {
    #[must_use]
    pub fn column_values(&self, column: ColumnId) -> Option<&ColumnValues> {
        self.columns.iter().find(|c| c.column == column)
    }
}

impl ColumnValues {
    /// How many different values among this many rows.
    #[must_use]
    pub fn distinct_of(&self, rows: f64) -> f64 {
        if self.distinct < 0.0 { (-self.distinct * rows).max(1.0) } else { self.distinct.max(1.0) }
    }
}
