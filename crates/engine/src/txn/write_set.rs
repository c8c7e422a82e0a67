//! What a transaction has written and nobody else sees.
//!
//! Invariant: keys are in order, so that a read merges a scan of the store with the buffer in one pass. A change without `reset`
//! lies over the row in the store, cell by cell; one with `reset` replaces it.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use stoa_store::{FamilyId, KeyRange, Mutations, TableId};

/// One cell of a change; without a value the cell is removed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CellChange {
    pub family: FamilyId,
    pub qualifier: Box<[u8]>,
    pub value: Option<Box<[u8]>>,
}

/// The change of one row.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RowChange {
    /// The row in the store does not count any more.
    pub reset: bool,
    /// One entry a cell.
    pub cells: Vec<CellChange>,
}

impl RowChange {
    /// Whether the row is gone.
    #[must_use]
    pub fn is_delete(&self) -> bool {
        self.reset && self.cells.is_empty()
    }

    fn put(&mut self, family: FamilyId, qualifier: &[u8], value: Option<&[u8]>) -> isize {
        let value: Option<Box<[u8]>> = value.map(Into::into);
        let size = value.as_ref().map_or(0, |v| v.len()) as isize;
        match self.cells.iter_mut().find(|c| c.family == family && *c.qualifier == *qualifier) {
            Some(cell) => {
                let old = cell.value.as_ref().map_or(0, |v| v.len()) as isize;
                cell.value = value;
                size - old
            }
            None => {
                self.cells.push(CellChange { family, qualifier: qualifier.into(), value });
                size + CELL_OVERHEAD
            }
        }
    }

    /// This change followed by a later one.
    #[must_use]
    pub fn then(&self, later: &RowChange) -> RowChange {
        if later.reset {
            return later.clone();
        }
        let mut out = self.clone();
        for cell in &later.cells {
            out.put(cell.family, &cell.qualifier, cell.value.as_deref());
        }
        out
    }

    fn bytes(&self) -> usize {
        self.cells.iter().map(|c| c.value.as_ref().map_or(0, |v| v.len()) + CELL_OVERHEAD as usize).sum()
    }
}

/// What an entry of the map and a cell cost beside their bytes, roughly.
const ROW_OVERHEAD: usize = 96;
const CELL_OVERHEAD: isize = 56;

type Rows = BTreeMap<Box<[u8]>, RowChange>;

/// Changes of rows by table, in key order.
#[derive(Clone, Debug, Default)]
pub struct WriteSet {
    tables: BTreeMap<TableId, Rows>,
    bytes: usize,
}

/// How to take back the change of one row.
#[derive(Debug)]
pub struct Undo {
    table: TableId,
    key: Box<[u8]>,
    before: Option<RowChange>,
}

impl WriteSet {
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tables.values().all(BTreeMap::is_empty)
    }

    /// Memory held, roughly.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Rows changed.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.tables.values().map(BTreeMap::len).sum()
    }

    /// Sets or (without a value) removes a cell.
    pub fn put(&mut self, table: TableId, key: &[u8], family: FamilyId, qualifier: &[u8], value: Option<&[u8]>) {
        let rows = self.tables.entry(table).or_default();
        let grown = match rows.get_mut(key) {
            Some(change) => change.put(family, qualifier, value),
            None => {
                let mut change = RowChange { reset: false, cells: Vec::with_capacity(1) };
                let grown = change.put(family, qualifier, value) + (key.len() + ROW_OVERHEAD) as isize;
                rows.insert(key.into(), change);
                grown
            }
        };
        self.bytes = self.bytes.saturating_add_signed(grown);
    }

    /// Removes a row.
    pub fn delete(&mut self, table: TableId, key: &[u8]) {
        let rows = self.tables.entry(table).or_default();
        match rows.get_mut(key) {
            Some(change) => {
                self.bytes = self.bytes.saturating_sub(change.bytes());
                change.reset = true;
                change.cells.clear();
            }
            None => {
                self.bytes += key.len() + ROW_OVERHEAD;
                rows.insert(key.into(), RowChange { reset: true, cells: Vec::new() });
            }
        }
    }

    #[must_use]
    pub fn get(&self, table: TableId, key: &[u8]) -> Option<&RowChange> {
        self.tables.get(&table)?.get(key)
    }

    #[must_use]
    pub fn touches(&self, table: TableId) -> bool {
        self.tables.get(&table).is_some_and(|rows| !rows.is_empty())
    }

    /// Forgets the changes of a table (it was dropped or truncated).
    pub fn forget_table(&mut self, table: TableId) {
        self.tables.remove(&table);
    }

    /// Adds later changes; with `undo`, keeps what is needed to take them back.
    pub fn absorb(&mut self, later: WriteSet, mut undo: Option<&mut Vec<Undo>>) {
        if self.is_empty() && undo.is_none() {
            *self = later;
            return;
        }
        self.bytes += later.bytes;
        for (table, rows) in later.tables {
            let own = self.tables.entry(table).or_default();
            for (key, change) in rows {
                let before = own.get(&key).cloned();
                let after = before.as_ref().map_or_else(|| change.clone(), |b| b.then(&change));
                if let Some(undo) = undo.as_deref_mut() {
                    undo.push(Undo { table, key: key.clone(), before });
                }
                own.insert(key, after);
            }
        }
    }

    /// Takes back one change.
    pub fn revert(&mut self, undo: Undo) {
        let rows = self.tables.entry(undo.table).or_default();
        let removed = match undo.before {
            Some(before) => {
                self.bytes += before.bytes();
                rows.insert(undo.key, before)
            }
            None => rows.remove(&undo.key),
        };
        self.bytes = self.bytes.saturating_sub(removed.map_or(0, |r| r.bytes()));
    }

    /// As the store takes it.
    #[must_use]
    pub fn mutations(&self) -> Mutations {
        let mut out = Mutations::new();
        for (table, rows) in &self.tables {
            for (key, change) in rows {
                if change.reset {
                    out.delete_row(*table, key);
                }
                for cell in &change.cells {
                    match &cell.value {
                        Some(value) => out.put(*table, key, cell.family, &cell.qualifier, value),
                        None if change.reset => {}
                        None => out.delete_cell(*table, key, cell.family, &cell.qualifier),
                    }
                }
            }
        }
        out
    }

    /// The tables with changes.
    pub fn tables(&self) -> impl Iterator<Item = TableId> {
        self.tables.iter().filter(|(_, rows)| !rows.is_empty()).map(|(table, _)| *table)
    }

    /// The changed rows of a table, in order.
    pub fn keys_of(&self, table: TableId) -> impl Iterator<Item = &[u8]> {
        self.tables.get(&table).into_iter().flat_map(|rows| rows.keys().map(|key| &**key))
    }

    /// Every changed row.
    pub fn keys(&self) -> impl Iterator<Item = (TableId, &[u8])> {
        self.tables.iter().flat_map(|(table, rows)| rows.keys().map(move |key| (*table, &**key)))
    }

    fn range(
        &self,
        table: TableId,
        start: Bound<&[u8]>,
        end: Bound<&[u8]>,
    ) -> Option<std::collections::btree_map::Range<'_, Box<[u8]>, RowChange>> {
        let inverted = match (start, end) {
            (Bound::Included(s), Bound::Excluded(e)) => s >= e,
            (Bound::Excluded(s) | Bound::Included(s), Bound::Excluded(e) | Bound::Included(e)) => {
                s > e || (s == e && !matches!((start, end), (Bound::Included(_), Bound::Included(_))))
            }
            _ => false,
        };
        if inverted {
            return None;
        }
        Some(self.tables.get(&table)?.range::<[u8], _>((start, end)))
    }
}

/// The transaction's own writes as one statement sees them: layers, the later over the earlier.
#[derive(Clone, Debug, Default)]
pub struct Overlay {
    layers: Vec<Arc<WriteSet>>,
}

impl Overlay {
    /// Layers from the earliest; empty ones are dropped.
    #[must_use]
    pub fn new(layers: impl IntoIterator<Item = Arc<WriteSet>>) -> Self {
        Self { layers: layers.into_iter().filter(|l| !l.is_empty()).collect() }
    }

    /// Whether reads of a table must look here.
    #[must_use]
    pub fn touches(&self, table: TableId) -> bool {
        self.layers.iter().any(|l| l.touches(table))
    }

    /// The changed rows of a table; a row may come several times.
    pub fn keys_of(&self, table: TableId) -> impl Iterator<Item = &[u8]> {
        self.layers.iter().flat_map(move |l| l.keys_of(table))
    }

    /// The change of a row.
    #[must_use]
    pub fn get(&self, table: TableId, key: &[u8]) -> Option<RowChange> {
        let mut out: Option<RowChange> = None;
        for layer in &self.layers {
            if let Some(change) = layer.get(table, key) {
                out = Some(match out {
                    None => change.clone(),
                    Some(earlier) => earlier.then(change),
                });
            }
        }
        out
    }

    /// The next changed row of a range behind `after` (before it, if reversed).
    pub(super) fn next(&self, table: TableId, range: &KeyRange, after: Option<&[u8]>, reverse: bool) -> Option<(&[u8], RowChange)> {
        let start = Bound::Included(range.start.as_slice());
        let end = range.end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        let (start, end) = match (after, reverse) {
            (None, _) => (start, end),
            (Some(after), false) => (Bound::Excluded(after), end),
            (Some(after), true) => (start, Bound::Excluded(after)),
        };
        let mut best: Option<&[u8]> = None;
        for layer in &self.layers {
            let Some(mut rows) = layer.range(table, start, end) else { continue };
            let first = if reverse { rows.next_back() } else { rows.next() };
            if let Some((key, _)) = first {
                let closer = best.is_none_or(|b| if reverse { **key > *b } else { **key < *b });
                if closer {
                    best = Some(key);
                }
            }
        }
        let key = best?;
        Some((key, self.get(table, key)?))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    const T: TableId = TableId(7);
    const F: FamilyId = FamilyId(0);

    #[test]
    fn later_changes_lie_over_earlier_ones_and_can_be_taken_back() {
        let mut base = WriteSet::default();
        base.put(T, b"a", F, b"", Some(b"1"));
        base.put(T, b"b", F, b"", Some(b"2"));
        let mut later = WriteSet::default();
        later.put(T, b"a", F, b"q", Some(b"3"));
        later.delete(T, b"b");
        later.put(T, b"c", F, b"", Some(b"4"));
        let mut undo = Vec::new();
        base.absorb(later, Some(&mut undo));
        assert_eq!(base.get(T, b"a").unwrap().cells.len(), 2);
        assert!(base.get(T, b"b").unwrap().is_delete());
        assert_eq!(base.rows(), 3);
        for entry in undo.into_iter().rev() {
            base.revert(entry);
        }
        assert_eq!(base.rows(), 2);
        assert_eq!(base.get(T, b"b").unwrap().cells[0].value.as_deref(), Some(&b"2"[..]));
        assert_eq!(base.get(T, b"a").unwrap().cells.len(), 1);
    }

    #[test]
    fn delete_then_put_resets_the_row() {
        let mut set = WriteSet::default();
        set.delete(T, b"a");
        set.put(T, b"a", F, b"", Some(b"1"));
        let change = set.get(T, b"a").unwrap();
        assert!(change.reset && !change.is_delete());
        assert_eq!(set.mutations().len(), 2);
    }

    #[test]
    fn an_overlay_walks_its_layers_in_order_both_ways() {
        let (mut one, mut two) = (WriteSet::default(), WriteSet::default());
        for key in [&b"a"[..], b"c", b"e"] {
            one.put(T, key, F, b"", Some(b"1"));
        }
        for key in [&b"b"[..], b"c", b"d"] {
            two.put(T, key, F, b"", Some(b"2"));
        }
        let overlay = Overlay::new([Arc::new(one), Arc::new(two)]);
        let range = KeyRange::new(b"b".to_vec(), Some(b"e".to_vec()));
        for reverse in [false, true] {
            let mut seen = Vec::new();
            let mut after: Option<Vec<u8>> = None;
            while let Some((key, _)) = overlay.next(T, &range, after.as_deref(), reverse) {
                seen.push(key[0]);
                after = Some(key.to_vec());
            }
            let mut wanted = b"bcd".to_vec();
            if reverse {
                wanted.reverse();
            }
            assert_eq!(seen, wanted);
        }
    }
}
