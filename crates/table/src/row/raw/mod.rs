//! Raw tables: rows of cells as HBase has them, with qualifiers and times of the writer's choice, under any bytes as key.
//!
//! ```text
//! row key   the bytes as they are
//! cell      family CELLS, qualifier = family u16 be | escaped qualifier | !time u64 be | !kind u8, value as it is
//! ```
//!
//! A store gives cells its own commit times and removes what is deleted; HBase's times are the writer's, and its deletions are cells
//! that hide others. So all cells of a row, deletions among them, are cells of one family of the store, and which of them count is
//! found out by every read ([`mod@visible`]). The families themselves are families of the store that hold nothing: their options are.
//!
//! Reading order: [`cell`] → [`mod@visible`] → [`there`]; [`clock`] gives times.

pub mod cell;
pub mod clock;
pub mod there;
pub mod visible;

#[cfg(test)]
mod tests;

pub use cell::CellKind;
pub use there::RowOfCells;
pub use visible::{Limits, Visible, Wanted, visible};
