//! Full text in statements: MATCH and its search strings, and what `WITH (…)` says about an index.

pub mod contains;
pub mod matching;
pub mod settings;

use stoa_table::catalog::ColumnId;

/// The column of a scan that holds the score.
pub const SCORE: ColumnId = ColumnId(u32::MAX);
