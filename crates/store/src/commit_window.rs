//! The commit window: which rows were committed lately. First-committer-wins checks against it.
//!
//! Small commits go row by row into an ordered map, larger ones stay together as a sorted run, very large ones are remembered
//! as one key range a table. What no live snapshot can ask about is forgotten; a question about a time before the horizon is
//! answered with "changed". So an answer "unchanged" is always exact.

use crate::{KeyRange, TableId, Timestamp, Watch, Watches};
use hashbrown::HashMap;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::Arc;

const MAX_MAP_ROWS: usize = 256;
const MAX_RUN_ROWS: usize = 50_000;
const MAX_LARGE: usize = 64;
const MAX_RANGES: usize = 256;
/// Memory of rows that are held one by one; beyond, the oldest commits are forgotten, whoever may still ask.
const MAX_HELD_BYTES: usize = 40 << 20;
/// What a row takes in the ordered map and in its commit's list, beside its key.
const MAP_ROW_BYTES: usize = 120;

/// The row keys that one commit writes, in one arena.
#[derive(Debug, Default)]
pub struct WrittenRows {
    arena: Vec<u8>,
    rows: Vec<(TableId, u32, u32)>,
}

impl WrittenRows {
    /// Adds a row unless it was the last one added.
    pub fn push(&mut self, table: TableId, key: &[u8]) {
        if self.rows.last().is_some_and(|last| self.row(last) == (table, key)) {
            return;
        }
        let at = self.arena.len();
        self.arena.extend_from_slice(key);
        self.rows.push((table, at as u32, key.len() as u32));
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.arena.len() + self.rows.len() * 12
    }

    fn row(&self, row: &(TableId, u32, u32)) -> (TableId, &[u8]) {
        let (table, at, len) = *row;
        (table, self.arena.get(at as usize..at as usize + len as usize).unwrap_or_default())
    }

    /// The rows in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (TableId, &[u8])> {
        self.rows.iter().map(|row| self.row(row))
    }

    fn sort(&mut self) {
        let arena = &self.arena;
        let key = |row: &(TableId, u32, u32)| (row.0, arena.get(row.1 as usize..(row.1 + row.2) as usize).unwrap_or_default());
        if !self.rows.is_sorted_by(|a, b| key(a) <= key(b)) {
            self.rows.sort_unstable_by(|a, b| key(a).cmp(&key(b)));
        }
    }

    /// For each table the least range that covers its rows.
    fn ranges(&self) -> Vec<(TableId, KeyRange)> {
        let mut bounds: HashMap<TableId, (&[u8], &[u8])> = HashMap::new();
        for (table, key) in self.iter() {
            let bound = bounds.entry(table).or_insert((key, key));
            *bound = (bound.0.min(key), bound.1.max(key));
        }
        bounds.into_iter().map(|(table, (first, last))| (table, closed_range(first, last))).collect()
    }

    fn contains(&self, table: TableId, key: &[u8]) -> bool {
        self.rows.binary_search_by(|row| self.row(row).cmp(&(table, key))).is_ok()
    }

    fn overlaps(&self, table: TableId, range: &KeyRange) -> bool {
        let first = self.rows.partition_point(|row| self.row(row) < (table, range.start.as_slice()));
        self.rows.get(first).is_some_and(|row| {
            let (t, key) = self.row(row);
            t == table && range.contains(key)
        })
    }
}

fn closed_range(first: &[u8], last: &[u8]) -> KeyRange {
    KeyRange { start: first.to_vec(), end: KeyRange::point(last).end }
}

/// A commit too large for the map.
#[derive(Debug)]
enum Large {
    Run(WrittenRows),
    Ranges(Vec<(TableId, KeyRange)>),
}

impl Large {
    fn held(&self) -> Held {
        match self {
            Large::Run(rows) => Held { rows: rows.len(), bytes: rows.bytes() },
            Large::Ranges(_) => Held::default(),
        }
    }

    fn contains(&self, table: TableId, key: &[u8]) -> bool {
        match self {
            Large::Run(rows) => rows.contains(table, key),
            Large::Ranges(ranges) => ranges.iter().any(|(t, range)| *t == table && range.contains(key)),
        }
    }

    fn overlaps(&self, table: TableId, range: &KeyRange) -> bool {
        match self {
            Large::Run(rows) => rows.overlaps(table, range),
            Large::Ranges(ranges) => ranges.iter().any(|(t, r)| *t == table && r.overlaps(range)),
        }
    }
}

/// What is held one by one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Held {
    rows: usize,
    bytes: usize,
}

impl Held {
    fn in_map(keys: &[(TableId, Arc<[u8]>)]) -> Self {
        Self { rows: keys.len(), bytes: keys.iter().map(|(_, key)| key.len() + MAP_ROW_BYTES).sum() }
    }

    fn add(&mut self, more: Self) {
        *self = Self { rows: self.rows + more.rows, bytes: self.bytes + more.bytes };
    }

    fn remove(&mut self, less: Self) {
        *self = Self { rows: self.rows - less.rows, bytes: self.bytes - less.bytes };
    }
}

/// CommitWindow commits, oldest first, and the newest commit of each of their rows.
#[derive(Debug)]
pub struct CommitWindow {
    small: VecDeque<(Timestamp, Vec<(TableId, Arc<[u8]>)>)>,
    /// The newest small commit of each row.
    rows: HashMap<TableId, BTreeMap<Arc<[u8]>, Timestamp>>,
    large: VecDeque<(Timestamp, Large)>,
    held: Held,
    /// Commits up to here may have been forgotten.
    horizon: Timestamp,
    watches: Watches,
}

impl CommitWindow {
    /// Everything up to `epoch` counts as forgotten.
    #[must_use]
    pub fn new(epoch: Timestamp) -> Self {
        Self {
            small: VecDeque::new(),
            rows: HashMap::new(),
            large: VecDeque::new(),
            held: Held::default(),
            horizon: epoch,
            watches: Watches::default(),
        }
    }

    /// Rows that are remembered one by one.
    #[must_use]
    pub fn len(&self) -> usize {
        self.held.rows
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Remembers a commit; timestamps must not go down.
    pub fn record(&mut self, at: Timestamp, mut written: WrittenRows) {
        if self.watches.count() > 0 {
            written.iter().for_each(|(table, key)| self.watches.row_changed(table, key, at));
        }
        if written.len() <= MAX_MAP_ROWS {
            let mut held = Vec::with_capacity(written.len());
            for (table, key) in written.iter() {
                let key: Arc<[u8]> = key.into();
                self.rows.entry(table).or_default().insert(Arc::clone(&key), at);
                held.push((table, key));
            }
            self.held.add(Held::in_map(&held));
            self.small.push_back((at, held));
        } else if written.len() <= MAX_RUN_ROWS {
            written.sort();
            let run = Large::Run(written);
            self.held.add(run.held());
            self.push_large(at, run);
        } else {
            let ranges = written.ranges();
            self.push_large(at, Large::Ranges(ranges));
        }
        while self.held.bytes > MAX_HELD_BYTES {
            let oldest = [self.small.front().map(|(at, _)| *at), self.large.front().map(|(at, _)| *at)];
            let Some(oldest) = oldest.into_iter().flatten().min() else { break };
            self.forget(oldest);
        }
    }

    /// Remembers a change of all keys of a range.
    pub fn record_range(&mut self, at: Timestamp, table: TableId, range: KeyRange) {
        self.watches.range_changed(table, &range, at);
        self.push_large(at, Large::Ranges(vec![(table, range)]));
    }

    fn push_large(&mut self, at: Timestamp, large: Large) {
        self.large.push_back((at, large));
        if self.large.len() > MAX_LARGE {
            self.merge_large();
        }
    }

    /// Makes one entry of key ranges out of all large commits: coarser, never wrong.
    fn merge_large(&mut self) {
        let mut bounds: HashMap<TableId, Vec<KeyRange>> = HashMap::new();
        let mut newest = Timestamp::default();
        for (at, large) in self.large.drain(..) {
            newest = at;
            self.held.remove(large.held());
            let ranges = match large {
                Large::Run(rows) => rows.ranges(),
                Large::Ranges(ranges) => ranges,
            };
            for (table, range) in ranges {
                bounds.entry(table).or_default().push(range);
            }
        }
        let mut ranges = Vec::new();
        for (table, of_table) in bounds {
            let mut of_table = crate::range::normalize(of_table);
            if of_table.len() > MAX_RANGES {
                let start = of_table.first().map(|r| r.start.clone()).unwrap_or_default();
                let end = of_table.pop().and_then(|r| r.end);
                of_table = vec![KeyRange { start, end }];
            }
            ranges.extend(of_table.into_iter().map(|range| (table, range)));
        }
        self.large.push_back((newest, Large::Ranges(ranges)));
    }

    /// Forgets what is at or below the oldest live snapshot.
    pub fn forget(&mut self, oldest: Timestamp) {
        while self.small.front().is_some_and(|(at, _)| *at <= oldest) {
            let Some((at, keys)) = self.small.pop_front() else { break };
            self.held.remove(Held::in_map(&keys));
            for (table, key) in keys {
                let Some(rows) = self.rows.get_mut(&table) else { continue };
                if rows.get(&key) == Some(&at) {
                    rows.remove(&key);
                }
                if rows.is_empty() {
                    self.rows.remove(&table);
                }
            }
        }
        while self.large.front().is_some_and(|(at, _)| *at <= oldest) {
            let Some((_, large)) = self.large.pop_front() else { break };
            self.held.remove(large.held());
        }
        self.horizon = self.horizon.max(oldest);
    }

    /// A watch over what a snapshot of `from` sees in a range, if that has not changed since.
    pub fn watch(&mut self, table: TableId, range: &KeyRange, from: Timestamp) -> Option<Arc<Watch>> {
        (!self.range_changed(table, range, from)).then(|| self.watches.add(table, range, from))
    }

    /// Ends all watches of a table that is altered or dropped.
    pub fn end_watches(&mut self, table: TableId) {
        self.watches.range_changed(table, &KeyRange::all(), Timestamp::default());
    }

    /// Ranges that are watched.
    #[must_use]
    pub fn watches(&self) -> usize {
        self.watches.count()
    }

    fn large_since(&self, since: Timestamp) -> impl Iterator<Item = &Large> {
        self.large.iter().rev().take_while(move |(at, _)| *at > since).map(|(_, large)| large)
    }

    /// Whether a row was committed after `since`; may guess "yes".
    #[must_use]
    pub fn row_changed(&self, table: TableId, key: &[u8], since: Timestamp) -> bool {
        since < self.horizon
            || self.rows.get(&table).and_then(|rows| rows.get(key)).is_some_and(|at| *at > since)
            || self.large_since(since).any(|large| large.contains(table, key))
    }

    /// Whether a row of a range was committed after `since`; may guess "yes".
    #[must_use]
    pub fn range_changed(&self, table: TableId, range: &KeyRange, since: Timestamp) -> bool {
        if since < self.horizon {
            return true;
        }
        if range.is_empty() {
            return false;
        }
        let bounds = (Bound::Included(range.start.as_slice()), range.end.as_deref().map_or(Bound::Unbounded, Bound::Excluded));
        let mut rows = self.rows.get(&table).into_iter().flat_map(|rows| rows.range::<[u8], _>(bounds));
        rows.any(|(_, at)| *at > since) || self.large_since(since).any(|large| large.overlaps(table, range))
    }

    /// Whether any of the rows was committed after `since`; may guess "yes".
    #[must_use]
    pub fn any_changed(&self, written: &WrittenRows, since: Timestamp) -> bool {
        if written.is_empty() {
            return false;
        }
        if since < self.horizon {
            return true;
        }
        let newer = |at: Option<Timestamp>| at.is_some_and(|at| at > since);
        if !newer(self.small.back().map(|(at, _)| *at)) && !newer(self.large.back().map(|(at, _)| *at)) {
            return false;
        }
        written.iter().any(|(table, key)| self.row_changed(table, key, since))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    const T: TableId = TableId(1);

    fn rows(keys: impl IntoIterator<Item = u32>) -> WrittenRows {
        let mut written = WrittenRows::default();
        keys.into_iter().for_each(|k| written.push(T, &k.to_be_bytes()));
        written
    }

    fn key(k: u32) -> Vec<u8> {
        k.to_be_bytes().to_vec()
    }

    #[test]
    fn changes_of_all_sizes_are_found_and_forgotten() {
        for count in [3, 1000, 60_000] {
            let mut window = CommitWindow::new(Timestamp(10));
            assert!(window.row_changed(T, &key(1), Timestamp(9)), "before the epoch everything may have changed");
            window.record(Timestamp(20), rows((0..count).rev().map(|k| k * 2)));
            assert!(window.row_changed(T, &key(2), Timestamp(19)));
            assert!(!window.row_changed(T, &key(2), Timestamp(20)));
            assert!(!window.row_changed(TableId(2), &key(2), Timestamp(19)));
            assert!(!window.row_changed(T, &key(count * 2), Timestamp(19)));
            if count < 50_000 {
                assert!(!window.row_changed(T, &key(3), Timestamp(19)));
            }
            let range = |from, to| KeyRange::new(key(from), Some(key(to)));
            assert!(window.range_changed(T, &range(1, 3), Timestamp(19)));
            assert!(!window.range_changed(T, &range(count * 2, u32::MAX), Timestamp(19)));
            assert!(window.any_changed(&rows([0]), Timestamp(15)));
            assert!(!window.any_changed(&rows([0]), Timestamp(25)));
            window.forget(Timestamp(20));
            assert!(window.small.is_empty() && window.rows.is_empty() && window.large.is_empty() && window.held == Held::default());
            assert!(window.row_changed(T, &key(2), Timestamp(19)), "the forgotten counts as changed");
            assert!(!window.row_changed(T, &key(2), Timestamp(20)));
        }
    }

    #[test]
    fn a_newer_commit_of_a_row_outlives_an_older_one() {
        let mut window = CommitWindow::new(Timestamp(0));
        window.record(Timestamp(1), rows([7]));
        window.record(Timestamp(2), rows([7]));
        window.forget(Timestamp(1));
        assert!(window.row_changed(T, &key(7), Timestamp(1)));
    }

    #[test]
    fn long_keys_are_forgotten_earlier() {
        let mut window = CommitWindow::new(Timestamp(0));
        for at in 1..=1000u64 {
            let mut written = WrittenRows::default();
            (0..10u8).for_each(|n| written.push(T, &[&at.to_be_bytes()[..], &[n; 10_000]].concat()));
            window.record(Timestamp(at), written);
        }
        assert!(window.held.bytes <= MAX_HELD_BYTES);
        assert_eq!(window.len(), window.small.iter().map(|(_, keys)| keys.len()).sum::<usize>());
        assert!(window.len() > 4000, "as many as there is room for");
        assert!(window.row_changed(T, b"other", Timestamp(500)), "what was forgotten counts as changed");
        assert!(!window.row_changed(T, b"other", Timestamp(990)));
    }

    #[test]
    fn many_large_commits_stay_bounded_and_never_say_unchanged_wrongly() {
        let mut window = CommitWindow::new(Timestamp(0));
        for i in 1..=200u64 {
            window.record(Timestamp(i * 2), rows((0..300).map(|k| k * 1000 + i as u32)));
            window.record(Timestamp(i * 2 + 1), rows([4_000_000 + i as u32]));
        }
        assert!(window.large.len() <= MAX_LARGE);
        for i in [1u32, 70, 200] {
            assert!(window.row_changed(T, &key(5000 + i), Timestamp(u64::from(i) * 2 - 1)));
            assert!(window.row_changed(T, &key(4_000_000 + i), Timestamp(u64::from(i) * 2)));
        }
        assert!(!window.row_changed(T, &key(5000), Timestamp(401)));
        window.forget(Timestamp(402));
        assert!(window.small.is_empty() && window.large.is_empty() && window.held == Held::default());
    }
}
