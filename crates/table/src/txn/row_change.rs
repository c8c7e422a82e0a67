//! The change of one row: which cells are set and removed, and whether what the store has counts at all.

use std::ops::Range;
use stoa_store::{FamilyId, MutationRef, TableId};

/// A change, wherever its bytes are.
pub trait ChangedRow {
    /// The row below does not count any more.
    fn reset(&self) -> bool;
    /// Each cell once; without a value it is removed.
    fn each_cell(&self, f: &mut dyn FnMut(FamilyId, &[u8], Option<&[u8]>));
}

#[derive(Clone, Debug)]
struct Cell {
    family: FamilyId,
    qualifier: Range<usize>,
    value: Option<Range<usize>>,
}

/// A change that owns its bytes. Its memory is used again after [`RowChange::clear`].
#[derive(Clone, Debug, Default)]
pub struct RowChange {
    reset: bool,
    cells: Vec<Cell>,
    bytes: Vec<u8>,
}

impl RowChange {
    pub fn clear(&mut self) {
        self.reset = false;
        self.cells.clear();
        self.bytes.clear();
    }

    /// Whether the row is gone.
    #[must_use]
    pub fn is_delete(&self) -> bool {
        self.reset && self.cells.iter().all(|c| c.value.is_none())
    }

    /// Sets or (without a value) removes a cell.
    pub fn put(&mut self, family: FamilyId, qualifier: &[u8], value: Option<&[u8]>) {
        let value = value.map(|v| self.push(v));
        let found = self.cells.iter().position(|c| c.family == family && self.bytes.get(c.qualifier.clone()) == Some(qualifier));
        match found.and_then(|at| self.cells.get_mut(at)) {
            Some(cell) => cell.value = value,
            None => {
                let qualifier = self.push(qualifier);
                self.cells.push(Cell { family, qualifier, value });
            }
        }
    }

    fn push(&mut self, bytes: &[u8]) -> Range<usize> {
        let from = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        from..self.bytes.len()
    }

    /// This change followed by a later one.
    pub fn add(&mut self, later: &impl ChangedRow) {
        if later.reset() {
            self.clear();
            self.reset = true;
        }
        later.each_cell(&mut |family, qualifier, value| self.put(family, qualifier, value));
    }

    /// Family, qualifier, value (none: the cell is removed).
    pub fn cells(&self) -> impl Iterator<Item = (FamilyId, &[u8], Option<&[u8]>)> {
        self.cells.iter().map(|c| {
            let bytes = |range: &Range<usize>| self.bytes.get(range.clone()).unwrap_or_default();
            (c.family, bytes(&c.qualifier), c.value.as_ref().map(bytes))
        })
    }

    /// As the store takes it.
    pub fn mutations<'a>(&'a self, table: TableId, key: &'a [u8]) -> impl Iterator<Item = MutationRef<'a>> {
        let delete = self.reset.then_some(MutationRef::DeleteRow { table, key });
        delete.into_iter().chain(self.cells().filter_map(move |(family, qualifier, value)| match value {
            Some(value) => Some(MutationRef::Put { table, key, family, qualifier, value }),
            None if self.reset => None,
            None => Some(MutationRef::DeleteCell { table, key, family, qualifier }),
        }))
    }
}

impl ChangedRow for RowChange {
    fn reset(&self) -> bool {
        self.reset
    }

    fn each_cell(&self, f: &mut dyn FnMut(FamilyId, &[u8], Option<&[u8]>)) {
        self.cells().for_each(|(family, qualifier, value)| f(family, qualifier, value));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    const F: FamilyId = FamilyId(0);

    #[test]
    fn later_changes_lie_over_earlier_ones() {
        let mut row = RowChange::default();
        row.put(F, b"", Some(b"1"));
        let mut later = RowChange::default();
        later.put(F, b"q", Some(b"2"));
        later.put(F, b"", None);
        row.add(&later);
        assert_eq!(row.cells().collect::<Vec<_>>(), [(F, &b""[..], None), (F, &b"q"[..], Some(&b"2"[..]))]);
        assert_eq!(row.mutations(TableId(1), b"k").count(), 2);
        later.clear();
        later.reset = true;
        later.put(F, b"", Some(b"3"));
        row.add(&later);
        assert!(row.reset() && !row.is_delete());
        assert_eq!(row.cells().collect::<Vec<_>>(), [(F, &b""[..], Some(&b"3"[..]))]);
        let mutations: Vec<_> = row.mutations(TableId(1), b"k").collect();
        assert!(matches!(mutations.as_slice(), [MutationRef::DeleteRow { .. }, MutationRef::Put { value: b"3", .. }]));
    }
}
