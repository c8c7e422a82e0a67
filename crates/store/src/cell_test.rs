//! Conditions on the bytes of single cells, which a store may try before it gives a row.

use crate::CellRef;
use std::ops::Bound;

/// Bytes from one to another, as bytes sort.
pub type ByteRange = (Bound<Box<[u8]>>, Bound<Box<[u8]>>);

/// True for a row whose cell is there with a value in one of the ranges.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CellTest {
    /// What the cell's qualifier begins with, as in [`crate::Enough::cells`].
    pub cell: Box<[u8]>,
    /// Not empty.
    pub ranges: Vec<ByteRange>,
}

impl CellTest {
    /// Whether a row with these cells passes, of each column the newest alone.
    #[must_use]
    pub fn passes(&self, cells: &[CellRef<'_>]) -> bool {
        cells.iter().find(|cell| cell.qualifier.starts_with(&self.cell)).is_some_and(|cell| self.holds(cell.value))
    }

    fn holds(&self, value: &[u8]) -> bool {
        self.ranges.iter().any(|(from, to)| {
            let above = match from {
                Bound::Included(from) => value >= &**from,
                Bound::Excluded(from) => value > &**from,
                Bound::Unbounded => true,
            };
            let below = match to {
                Bound::Included(to) => value <= &**to,
                Bound::Excluded(to) => value < &**to,
                Bound::Unbounded => true,
            };
            above && below
        })
    }
}
