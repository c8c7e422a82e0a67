//! Watches: who keeps what a key range held is told when that has changed.
//!
//! Invariant: the ranges that are watched in a table do not overlap, and a watch that has ended is not in [`Watches`].

use crate::{KeyRange, TableId, Timestamp};
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

/// Tells whether a key range still holds what a snapshot saw in it. See [`crate::Store::watch`].
#[derive(Debug)]
pub struct Watch {
    from: Timestamp,
    until: AtomicU64,
}

impl Watch {
    /// A watch over what a snapshot of this time sees.
    #[must_use]
    pub fn new(from: Timestamp) -> Self {
        Self { from, until: AtomicU64::new(u64::MAX) }
    }

    /// Whether a snapshot of this time sees what the watch's own saw. It is asked with the timestamp of a snapshot that was taken
    /// before the question.
    #[must_use]
    pub fn holds_at(&self, at: Timestamp) -> bool {
        self.from <= at && at.0 < self.until.load(Ordering::Acquire)
    }

    /// Whether nothing has changed so far.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.until.load(Ordering::Acquire) == u64::MAX
    }

    /// For stores: a commit at this time has changed the range.
    pub fn end(&self, at: Timestamp) {
        self.until.fetch_min(at.0, Ordering::AcqRel);
    }
}

/// Ranges by their start, with their end.
type OfTable = BTreeMap<Vec<u8>, (Option<Vec<u8>>, Weak<Watch>)>;

/// The watches of a store, for its implementation: it tells what changes, before anyone can see it.
#[derive(Debug, Default)]
pub struct Watches {
    tables: HashMap<TableId, OfTable>,
    count: usize,
    /// The count at which those are looked for that nobody holds any more.
    sweep_at: usize,
}

/// Watches below which nothing is swept.
const MIN_SWEPT: usize = 4096;

impl Watches {
    /// Watches whose holders [`forget`](Watches::forget) them: none need to be looked for.
    #[must_use]
    pub fn of_tidy_holders() -> Self {
        Self { sweep_at: usize::MAX, ..Self::default() }
    }

    /// Watches a range that has not changed since `from`. Watches that overlap it end, for all times.
    pub fn add(&mut self, table: TableId, range: &KeyRange, from: Timestamp) -> Arc<Watch> {
        self.range_changed(table, range, Timestamp::default());
        let watch = Arc::new(Watch::new(from));
        if !range.is_empty() {
            self.tables.entry(table).or_default().insert(range.start.clone(), (range.end.clone(), Arc::downgrade(&watch)));
            self.count += 1;
            if self.count > self.sweep_at.max(MIN_SWEPT) {
                self.sweep();
            }
        }
        watch
    }

    /// Ends a watch before its time: its holder asks no more.
    pub fn forget(&mut self, table: TableId, start: &[u8], watch: &Arc<Watch>) {
        let Some(ranges) = self.tables.get_mut(&table) else { return };
        if ranges.get(start).is_some_and(|(_, own)| std::ptr::eq(own.as_ptr(), Arc::as_ptr(watch))) {
            ranges.remove(start);
            self.removed(table, 1);
        }
    }

    /// How many there are, with some that nobody holds any more.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether any row of a table is watched.
    #[inline]
    #[must_use]
    pub fn has(&self, table: TableId) -> bool {
        self.count > 0 && self.tables.contains_key(&table)
    }

    /// A commit changes a row.
    pub fn row_changed(&mut self, table: TableId, key: &[u8], at: Timestamp) {
        let Some(ranges) = self.tables.get_mut(&table) else { return };
        let below = ranges.range::<[u8], _>((Bound::Unbounded, Bound::Included(key))).next_back();
        let Some((start, (end, watch))) = below else { return };
        if end.as_ref().is_some_and(|end| key >= end.as_slice()) {
            return;
        }
        if let Some(watch) = watch.upgrade() {
            watch.end(at);
        }
        let start = start.clone();
        ranges.remove(&start);
        self.removed(table, 1);
    }

    /// A commit may change any row of a range.
    pub fn range_changed(&mut self, table: TableId, range: &KeyRange, at: Timestamp) {
        let Some(ranges) = self.tables.get_mut(&table) else { return };
        if range.is_empty() {
            return;
        }
        let key = range.start.as_slice();
        let reaches = |end: &Option<Vec<u8>>| end.as_ref().is_none_or(|end| end.as_slice() > key);
        let below = ranges.range::<[u8], _>((Bound::Unbounded, Bound::Excluded(key))).next_back();
        let mut starts: Vec<Vec<u8>> = below.filter(|(_, (end, _))| reaches(end)).map(|(start, _)| start.clone()).into_iter().collect();
        let inside = ranges.range::<[u8], _>((Bound::Included(key), range.end.as_deref().map_or(Bound::Unbounded, Bound::Excluded)));
        starts.extend(inside.map(|(start, _)| start.clone()));
        for start in &starts {
            if let Some(watch) = ranges.remove(start).and_then(|(_, watch)| watch.upgrade()) {
                watch.end(at);
            }
        }
        self.removed(table, starts.len());
    }

    fn removed(&mut self, table: TableId, count: usize) {
        self.count -= count;
        if self.tables.get(&table).is_some_and(BTreeMap::is_empty) {
            self.tables.remove(&table);
        }
    }

    fn sweep(&mut self) {
        self.tables.retain(|_, ranges| {
            ranges.retain(|_, (_, watch)| watch.strong_count() > 0);
            !ranges.is_empty()
        });
        self.count = self.tables.values().map(BTreeMap::len).sum();
        self.sweep_at = self.count * 2;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    const T: TableId = TableId(1);

    fn range(from: &str, to: &str) -> KeyRange {
        KeyRange::new(from.into(), (!to.is_empty()).then(|| to.into()))
    }

    #[test]
    fn a_change_ends_the_watch_of_its_range_and_no_other() {
        let mut watches = Watches::default();
        let watched = [("", "b"), ("b", "d"), ("e", "f"), ("f", "")].map(|(from, to)| watches.add(T, &range(from, to), Timestamp(5)));
        let open = || watched.iter().map(|watch| watch.is_open()).collect::<Vec<_>>();
        watches.row_changed(T, b"dd", Timestamp(9));
        watches.row_changed(TableId(2), b"b", Timestamp(9));
        assert_eq!(open(), [true; 4], "between ranges, and in another table");
        watches.row_changed(T, b"d", Timestamp(9));
        assert!(watched[1].is_open(), "the end is exclusive");
        watches.row_changed(T, b"c", Timestamp(10));
        watches.row_changed(T, b"c", Timestamp(8));
        assert_eq!(open(), [true, false, true, true]);
        assert!(!watched[1].holds_at(Timestamp(4)) && watched[1].holds_at(Timestamp(9)) && !watched[1].holds_at(Timestamp(10)));
        watches.range_changed(T, &range("ee", "ff"), Timestamp(11));
        assert_eq!(open(), [true, false, false, false]);
        watches.range_changed(T, &range("b", "b"), Timestamp(12));
        assert!(watches.has(T) && watched[0].is_open());
        watches.range_changed(T, &KeyRange::all(), Timestamp(12));
        assert!(!watches.has(T) && watches.count() == 0 && !watched[0].is_open());
    }

    #[test]
    fn a_later_watch_takes_the_place_of_those_that_it_overlaps() {
        let mut watches = Watches::default();
        let old = watches.add(T, &range("a", "m"), Timestamp(1));
        let apart = watches.add(T, &range("m", "n"), Timestamp(1));
        let new = watches.add(T, &range("c", "m"), Timestamp(2));
        assert!(!old.holds_at(Timestamp(1)) && !old.holds_at(Timestamp(7)));
        assert!(new.holds_at(Timestamp(7)) && apart.holds_at(Timestamp(7)));
        watches.row_changed(T, b"b", Timestamp(8));
        assert!(new.is_open());
    }

    #[test]
    fn a_holder_forgets_its_own_watch_and_no_later_one() {
        let mut watches = Watches::of_tidy_holders();
        let old = watches.add(T, &range("a", "m"), Timestamp(1));
        let new = watches.add(T, &range("a", "c"), Timestamp(2));
        watches.forget(T, b"a", &old);
        assert_eq!(watches.count(), 1);
        watches.forget(T, b"b", &new);
        watches.forget(TableId(2), b"a", &new);
        assert_eq!(watches.count(), 1);
        watches.forget(T, b"a", &new);
        assert!(!watches.has(T) && watches.count() == 0);
    }

    #[test]
    fn what_nobody_holds_is_forgotten() {
        let mut watches = Watches::default();
        for n in 0..10 * MIN_SWEPT as u32 {
            let key = n.to_be_bytes();
            drop(watches.add(T, &KeyRange::point(&key), Timestamp(1)));
        }
        assert!(watches.count() <= MIN_SWEPT + 1);
    }
}
