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

/// A change, and the time of the log's last record that has it.
#[derive(Debug)]
struct Entry {
    tick: Tick,
    record: Tick,
    change: Arc<RowChange>,
}

#[derive(Debug, Default)]
pub(crate) struct Pending {
    tables: HashMap<TableId, OfTable>,
    /// How many changes of each record are here.
    records: BTreeMap<Tick, usize>,
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
    changes: Vec<Entry>,
    /// It is in `ready`, in `later` or being sent.
    queued: bool,
}

/// Rows to be sent.
pub(crate) type Batch = Vec<(Bytes, Changes)>;

impl Pending {
    /// Takes in what commits of a time change, with the time of the record that it stands in. Times must not go down.
    pub fn insert(&mut self, tick: Tick, rows: impl IntoIterator<Item = (Tick, Arc<RowChange>)>) {
        let now = Instant::now();
        for (record, change) in rows {
            let of = self.tables.entry(change.table).or_default();
            let key = bytes_to_hbase(&change.key);
            let known = of.rows.get_mut(&key).and_then(|row| row.changes.last_mut()).filter(|last| last.tick == tick);
            if let Some(known) = known {
                // It was written to the log again.
                move_record(&mut self.records, &mut known.record, record);
                continue;
            }
            self.bytes += change.size();
            *self.records.entry(record).or_default() += 1;
            let row = of.rows.entry(key.clone()).or_insert_with(|| {
                self.rows += 1;
                Row::default()
            });
            row.changes.push(Entry { tick, record, change });
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

    /// The oldest record of the log that something here stands in.
    pub fn oldest_record(&self) -> Option<Tick> {
        self.records.keys().next().copied()
    }

    /// All changes of the rows that have one in a record up to this one.
    pub fn in_records(&self, upto: Tick) -> Changes {
        let rows = self.tables.values().flat_map(|of| of.rows.values());
        let old = rows.filter(|row| row.changes.iter().any(|entry| entry.record <= upto));
        old.flat_map(|row| row.changes.iter().map(|entry| (entry.tick, Arc::clone(&entry.change)))).collect()
    }

    /// These changes stand in a later record now.
    pub fn written_again(&mut self, changes: &Changes, record: Tick) {
        for (tick, change) in changes {
            let of = self.tables.get_mut(&change.table);
            let Some(row) = of.and_then(|of| of.rows.get_mut(&bytes_to_hbase(&change.key))) else { continue };
            if let Some(entry) = row.changes.iter_mut().find(|entry| entry.tick == *tick) {
                move_record(&mut self.records, &mut entry.record, record);
            }
        }
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
            bytes += row.changes.iter().map(|entry| entry.change.size()).sum::<usize>();
            batch.push((key, before(&row.changes, Tick(u64::MAX))));
        }
        of.sending += batch.len();
        Ok((table, batch))
    }

    /// HBase has the changes of a row up to a time.
    pub fn done(&mut self, table: TableId, key: &Bytes, upto: Tick) {
        let Some(of) = self.tables.get_mut(&table) else { return };
        of.sending = of.sending.saturating_sub(1);
        let Some(row) = of.rows.get_mut(key) else { return };
        let gone = row.changes.partition_point(|entry| entry.tick <= upto);
        for entry in row.changes.drain(..gone) {
            self.bytes -= entry.change.size();
            leave_record(&mut self.records, entry.record);
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
            for entry in row.changes {
                self.bytes -= entry.change.size();
                leave_record(&mut self.records, entry.record);
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

fn before(changes: &[Entry], upto: Tick) -> Changes {
    changes.iter().take_while(|entry| entry.tick <= upto).map(|entry| (entry.tick, Arc::clone(&entry.change))).collect()
}

fn leave_record(records: &mut BTreeMap<Tick, usize>, record: Tick) {
    if let Some(count) = records.get_mut(&record) {
        *count -= 1;
        if *count == 0 {
            records.remove(&record);
        }
    }
}

fn move_record(records: &mut BTreeMap<Tick, usize>, from: &mut Tick, to: Tick) {
    if to > *from {
        leave_record(records, *from);
        *records.entry(to).or_default() += 1;
        *from = to;
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
        Arc::new(RowChange { table: T, key: Bytes::from_static(key.as_bytes()), families: vec![], encoded: Bytes::new() })
    }

    fn insert(pending: &mut Pending, tick: u64, keys: &[&'static str]) {
        pending.insert(Tick(tick), keys.iter().map(|key| (Tick(tick), change(key))));
    }

    fn next(pending: &mut Pending) -> Vec<(String, Vec<u64>)> {
        let Ok((_, batch)) = pending.next_batch(ALL, Duration::ZERO, &HashMap::new()) else { return vec![] };
        let text = |key: Bytes| String::from_utf8(key.to_vec()).unwrap();
        batch.into_iter().map(|(key, changes)| (text(key), changes.iter().map(|(tick, _)| tick.0).collect())).collect()
    }

    #[test]
    fn changes_of_a_row_go_together_and_one_call_at_a_time() {
        let mut pending = Pending::default();
        insert(&mut pending, 2, &["a", "b"]);
        insert(&mut pending, 4, &["a"]);
        assert_eq!(next(&mut pending), [("a".to_owned(), vec![2, 4]), ("b".to_owned(), vec![2])]);
        insert(&mut pending, 6, &["a", "c"]);
        assert_eq!(next(&mut pending), [("c".to_owned(), vec![6])], "a is being sent");
        assert_eq!(pending.oldest_record(), Some(Tick(2)));
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
        assert!(
            !pending.has(T)
                && pending.bytes() == 0
                && pending.rows() == 0
                && pending.oldest_record().is_none()
                && pending.tables.is_empty()
        );
    }

    #[test]
    fn what_hangs_can_be_written_to_the_log_again() {
        let mut pending = Pending::default();
        insert(&mut pending, 2, &["a"]);
        insert(&mut pending, 4, &["b"]);
        insert(&mut pending, 6, &["a"]);
        let again = pending.in_records(Tick(2));
        assert_eq!(again.iter().map(|(tick, _)| tick.0).collect::<Vec<_>>(), [2, 6], "rows as a whole");
        pending.written_again(&again, Tick(8));
        assert_eq!(pending.oldest_record(), Some(Tick(4)));
        pending.done(T, &Bytes::from_static(b"b"), Tick(4));
        assert_eq!((pending.oldest_record(), pending.rows()), (Some(Tick(8)), 1));
        // As it is found after a restart: each time once, and where it was written last.
        let mut found = Pending::default();
        found.insert(Tick(2), [(Tick(2), change("a")), (Tick(8), change("a"))]);
        found.insert(Tick(6), [(Tick(8), change("a")), (Tick(6), change("a"))]);
        assert_eq!((found.oldest_record(), found.of_row(T, b"a", Tick(9)).len()), (Some(Tick(8)), 2));
    }

    #[test]
    fn what_is_held_or_young_waits() {
        let mut pending = Pending::default();
        pending.hold(T, true);
        insert(&mut pending, 2, &["a"]);
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
        insert(&mut pending, 4, &["a", "b"]);
        pending.forget(T);
        assert!(pending.bytes() == 0 && pending.rows() == 0 && pending.oldest_record().is_none());
    }
}
