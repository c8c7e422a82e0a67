//! What is committed and not yet in HBase's tables: readers lay it over what HBase says, and the applier writes it there.
//!
//! Invariants: what is here is in the log. A change leaves only once HBase has acknowledged it, so that whoever looks here first and asks
//! HBase then misses nothing. The changes of a row go to HBase in the order of their times, those that wait together, one call at a time.

use crate::changes::RowChange;
use crate::keys::bytes_to_hbase;
use crate::ticks::Tick;
use bytes::Bytes;
use hashbrown::HashMap;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stoa_store::TableId;

/// The changes of a row with the times of their commits, oldest first.
pub(crate) type Changes = Vec<(Tick, Arc<RowChange>)>;

#[derive(Debug, Default)]
pub(crate) struct Pending {
    tables: HashMap<TableId, OfTable>,
    /// How many changes of each time are here.
    ticks: BTreeMap<Tick, usize>,
    bytes: usize,
    rows: usize,
    /// Rows that HBase did not take, and when they are sent again.
    later: VecDeque<(Instant, TableId, Bytes)>,
}

/// Rows by their keys as HBase has them.
#[derive(Debug, Default)]
struct OfTable {
    rows: BTreeMap<Bytes, Row>,
    /// Rows that wait to be sent, with when they came.
    ready: VecDeque<(Instant, Bytes)>,
    /// Rows of which changes are being sent.
    sending: usize,
    /// Nothing is sent: the table is about to go.
    held: bool,
    /// Callers that wait until all is sent: nothing is held back by its age.
    hurried: usize,
}

#[derive(Debug, Default)]
struct Row {
    changes: Changes,
    /// It is in `ready`, in `later` or being sent.
    queued: bool,
}

/// Rows to be sent.
pub(crate) type Batch = Vec<(Bytes, Changes)>;

impl Pending {
    /// Takes in what a group of commits changes. Times must not go down.
    pub fn insert(&mut self, tick: Tick, rows: impl IntoIterator<Item = Arc<RowChange>>) {
        let now = Instant::now();
        for change in rows {
            let of = self.tables.entry(change.table).or_default();
            let key = bytes_to_hbase(&change.key);
            self.bytes += change.size();
            *self.ticks.entry(tick).or_default() += 1;
            let row = of.rows.entry(key.clone()).or_insert_with(|| {
                self.rows += 1;
                Row::default()
            });
            row.changes.push((tick, change));
            if !row.queued {
                row.queued = true;
                of.ready.push_back((now, key));
            }
        }
    }

    /// Bytes held, about.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The oldest time of a change that is here.
    pub fn oldest(&self) -> Option<Tick> {
        self.ticks.keys().next().copied()
    }

    /// Whether anything of a table is here.
    pub fn has(&self, table: TableId) -> bool {
        self.tables.get(&table).is_some_and(|of| !of.rows.is_empty())
    }

    /// The changes of a row, by its key in HBase, up to a time.
    pub fn of_row(&self, table: TableId, key: &[u8], upto: Tick) -> Changes {
        let Some(of) = self.tables.get(&table).filter(|of| !of.rows.is_empty()) else { return Changes::new() };
        of.rows.get(key).map_or_else(Changes::new, |row| before(&row.changes, upto))
    }

    /// The rows from a key to before another (none: the end), with their changes up to a time.
    pub fn of_range(&self, table: TableId, start: &[u8], end: &[u8], upto: Tick, out: &mut Batch) {
        let Some(of) = self.tables.get(&table).filter(|of| !of.rows.is_empty()) else { return };
        if !end.is_empty() && end <= start {
            return;
        }
        let end = if end.is_empty() { Bound::Unbounded } else { Bound::Excluded(end) };
        for (key, row) in of.rows.range::<[u8], _>((Bound::Included(start), end)) {
            let changes = before(&row.changes, upto);
            if !changes.is_empty() {
                out.push((key.clone(), changes));
            }
        }
    }

    /// The next rows of some table to be sent, at least `age` old; `Err`: when there may be some.
    pub fn next_batch(
        &mut self,
        most: BatchSize,
        age: Duration,
        busy: &HashMap<TableId, usize>,
    ) -> Result<(TableId, Batch), Option<Instant>> {
        let now = Instant::now();
        while self.later.front().is_some_and(|(at, ..)| *at <= now) {
            let Some((_, table, key)) = self.later.pop_front() else { break };
            if let Some(of) = self.tables.get_mut(&table) {
                of.ready.push_front((now.checked_sub(age).unwrap_or(now), key));
            }
        }
        let mut wake = self.later.front().map(|(at, ..)| *at);
        let mut oldest: Option<(Instant, TableId)> = None;
        for (id, of) in self.tables.iter().filter(|(id, of)| !of.held && busy.get(*id).is_none_or(|n| *n < most.at_once)) {
            let Some((came, _)) = of.ready.front() else { continue };
            let due = if of.hurried > 0 { *came } else { *came + age };
            if due > now {
                wake = Some(wake.map_or(due, |wake| wake.min(due)));
            } else if oldest.is_none_or(|(when, _)| *came < when) {
                oldest = Some((*came, *id));
            }
        }
        let Some((_, table)) = oldest else { return Err(wake) };
        let Some(of) = self.tables.get_mut(&table) else { return Err(wake) };
        let (mut batch, mut bytes) = (Batch::new(), 0);
        while batch.len() < most.rows && bytes < most.bytes {
            let Some((_, key)) = of.ready.pop_front() else { break };
            let Some(row) = of.rows.get(&key) else { continue };
            bytes += row.changes.iter().map(|(_, change)| change.size()).sum::<usize>();
            batch.push((key, row.changes.clone()));
        }
        of.sending += batch.len();
        Ok((table, batch))
    }

    /// HBase has the changes of a row up to a time.
    pub fn done(&mut self, table: TableId, key: &Bytes, upto: Tick) {
        let Some(of) = self.tables.get_mut(&table) else { return };
        of.sending -= 1;
        let Some(row) = of.rows.get_mut(key) else { return };
        let gone = row.changes.partition_point(|(tick, _)| *tick <= upto);
        for (tick, change) in row.changes.drain(..gone) {
            self.bytes -= change.size();
            forget(&mut self.ticks, tick);
        }
        if row.changes.is_empty() {
            of.rows.remove(key);
            self.rows -= 1;
        } else {
            of.ready.push_back((Instant::now(), key.clone()));
        }
        self.tidy(table);
    }

    /// HBase did not take the changes of a row: they are sent again then.
    pub fn failed(&mut self, table: TableId, key: Bytes, again: Instant) {
        if let Some(of) = self.tables.get_mut(&table) {
            of.sending -= 1;
            self.later.push_back((again, table, key));
        }
    }

    /// Sends nothing of a table from now on, or goes on with it.
    pub fn hold(&mut self, table: TableId, held: bool) {
        self.tables.entry(table).or_default().held = held;
        self.tidy(table);
    }

    /// Somebody waits until all of a table is sent, or does not any more.
    pub fn hurry(&mut self, table: TableId, waits: bool) {
        let of = self.tables.entry(table).or_default();
        of.hurried = if waits { of.hurried + 1 } else { of.hurried.saturating_sub(1) };
        self.tidy(table);
    }

    /// Whether changes of a table are being sent.
    pub fn is_sending(&self, table: TableId) -> bool {
        self.tables.get(&table).is_some_and(|of| of.sending > 0)
    }

    /// Forgets all of a table that is gone; nothing of it is being sent.
    pub fn forget(&mut self, table: TableId) {
        let Some(of) = self.tables.remove(&table) else { return };
        for row in of.rows.into_values() {
            self.rows -= 1;
            for (tick, change) in row.changes {
                self.bytes -= change.size();
                forget(&mut self.ticks, tick);
            }
        }
        self.later.retain(|(_, of, _)| *of != table);
    }

    fn tidy(&mut self, table: TableId) {
        let unused = |of: &OfTable| of.rows.is_empty() && of.sending == 0 && !of.held && of.hurried == 0;
        if self.tables.get(&table).is_some_and(unused) {
            self.tables.remove(&table);
        }
    }
}

fn before(changes: &Changes, upto: Tick) -> Changes {
    let count = changes.partition_point(|(tick, _)| *tick <= upto);
    changes.get(..count).unwrap_or_default().to_vec()
}

fn forget(ticks: &mut BTreeMap<Tick, usize>, tick: Tick) {
    if let Some(count) = ticks.get_mut(&tick) {
        *count -= 1;
        if *count == 0 {
            ticks.remove(&tick);
        }
    }
}

/// How much goes to HBase at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchSize {
    pub rows: usize,
    pub bytes: usize,
    /// Batches of one table under way.
    pub at_once: usize,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    const T: TableId = TableId(1);
    const ALL: BatchSize = BatchSize { rows: 10, bytes: 1 << 20, at_once: 9 };

    fn change(key: &'static str) -> Arc<RowChange> {
        Arc::new(RowChange { table: T, key: Bytes::from_static(key.as_bytes()), families: vec![] })
    }

    fn next(pending: &mut Pending) -> Vec<(String, Vec<u64>)> {
        let Ok((_, batch)) = pending.next_batch(ALL, Duration::ZERO, &HashMap::new()) else { return vec![] };
        let text = |key: Bytes| String::from_utf8(key.to_vec()).unwrap();
        batch.into_iter().map(|(key, changes)| (text(key), changes.iter().map(|(tick, _)| tick.0).collect())).collect()
    }

    #[test]
    fn changes_of_a_row_go_together_and_one_call_at_a_time() {
        let mut pending = Pending::default();
        pending.insert(Tick(2), [change("a"), change("b")]);
        pending.insert(Tick(4), [change("a")]);
        assert_eq!(next(&mut pending), [("a".to_owned(), vec![2, 4]), ("b".to_owned(), vec![2])]);
        pending.insert(Tick(6), [change("a"), change("c")]);
        assert_eq!(next(&mut pending), [("c".to_owned(), vec![6])], "a is being sent");
        assert_eq!(pending.oldest(), Some(Tick(2)));
        assert_eq!(pending.of_row(T, b"a", Tick(4)).len(), 2);
        pending.done(T, &Bytes::from_static(b"a"), Tick(4));
        assert_eq!(pending.of_row(T, b"a", Tick(4)).len(), 0);
        assert_eq!(next(&mut pending), [("a".to_owned(), vec![6])]);
        pending.failed(T, Bytes::from_static(b"b"), Instant::now());
        assert_eq!(next(&mut pending), [("b".to_owned(), vec![2])]);
        let mut range = Batch::new();
        pending.of_range(T, b"b", b"c", Tick(9), &mut range);
        pending.of_range(T, b"c", b"", Tick(4), &mut range);
        pending.of_range(T, b"c", b"a", Tick(9), &mut range);
        assert_eq!(range.len(), 1);
        for (key, tick) in [("a", 6), ("b", 2), ("c", 6)] {
            pending.done(T, &Bytes::from_static(key.as_bytes()), Tick(tick));
        }
        assert!(!pending.has(T) && pending.bytes() == 0 && pending.rows() == 0 && pending.oldest().is_none() && pending.tables.is_empty());
    }

    #[test]
    fn what_is_held_or_young_waits() {
        let mut pending = Pending::default();
        pending.hold(T, true);
        pending.insert(Tick(2), [change("a")]);
        assert_eq!(next(&mut pending), []);
        pending.hold(T, false);
        let hour = Duration::from_secs(3600);
        assert!(pending.next_batch(ALL, hour, &HashMap::new()).is_err_and(|wake| wake.is_some()));
        assert!(pending.next_batch(ALL, Duration::ZERO, &HashMap::from([(T, 9)])).is_err(), "enough is under way");
        pending.hurry(T, true);
        assert!(pending.next_batch(ALL, hour, &HashMap::new()).is_ok());
        pending.hurry(T, false);
        assert!(pending.is_sending(T));
        pending.done(T, &Bytes::from_static(b"a"), Tick(2));
        pending.insert(Tick(4), [change("a"), change("b")]);
        pending.forget(T);
        assert!(pending.bytes() == 0 && pending.rows() == 0 && pending.oldest().is_none());
    }
}
