//! SERIALIZABLE: of transactions whose reads and writes cross dangerously, one is aborted.
//!
//! Snapshots alone allow histories that no serial order explains. Each of those has a transaction in the middle (the pivot) of
//! two read-write dependencies between concurrent transactions, `in → pivot → out`, where `out` committed first (Cahill, Röhm,
//! Fekete: Serializable Isolation for Snapshot Databases, SIGMOD 2008; Ports and Grittner, VLDB 2012). So a transaction fails at
//! its commit if it would complete such a triple. One dependency alone, in whichever direction, passes; so does a reader whose
//! snapshot is older than `out`'s commit.
//!
//! Invariant: a finished transaction is remembered for as long as one that was concurrent with it is still running.

use super::overlay::Overlay;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use stoa_pg::PgResult;
use stoa_store::{KeyRange, Snapshot, TableId, Timestamp};

/// Ranges that a transaction has read; too many of one table become one that spans them.
#[derive(Clone, Debug, Default)]
pub struct ReadSet {
    tables: BTreeMap<TableId, Vec<KeyRange>>,
}

const MAX_RANGES: usize = 1024;

impl ReadSet {
    pub fn add(&mut self, table: TableId, range: KeyRange) {
        let ranges = self.tables.entry(table).or_default();
        if ranges.last() == Some(&range) {
            return;
        }
        ranges.push(range);
        if ranges.len() > MAX_RANGES {
            let mut merged = stoa_store::range::normalize(std::mem::take(ranges));
            if merged.len() > MAX_RANGES / 2 {
                let start = merged.first().map(|r| r.start.clone()).unwrap_or_default();
                let end = merged.last().and_then(|r| r.end.clone());
                merged = vec![KeyRange::new(start, end)];
            }
            *ranges = merged;
        }
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    fn meets(&self, writes: &Writes) -> bool {
        self.tables
            .iter()
            .any(|(table, ranges)| writes.tables.get(table).is_some_and(|written| ranges.iter().any(|range| written.meets(range))))
    }
}

/// What a transaction has written in one table.
#[derive(Clone, Debug)]
enum Written {
    /// Keys, ascending.
    Keys(Vec<Box<[u8]>>),
    /// Too many to be kept: somewhere in here.
    Span(KeyRange),
}

impl Written {
    fn meets(&self, range: &KeyRange) -> bool {
        match self {
            Written::Keys(keys) => {
                let from = keys.partition_point(|k| **k < *range.start);
                keys.get(from).is_some_and(|k| range.contains(k))
            }
            Written::Span(span) => span.overlaps(range),
        }
    }
}

/// What a transaction has written.
#[derive(Clone, Debug, Default)]
pub struct Writes {
    tables: BTreeMap<TableId, Written>,
}

impl Writes {
    /// Rows from which on only their span is known.
    const MAX_ROWS: usize = 50_000;

    /// # Errors
    /// A file cannot be read.
    pub fn of(overlay: &Overlay) -> PgResult<Self> {
        let mut out = Self::default();
        let exact = overlay.rows() <= Self::MAX_ROWS;
        for table in overlay.tables() {
            let written = if exact {
                Written::Keys(overlay.keys_of(table)?.iter().map(Into::into).collect())
            } else {
                let Some((first, last)) = overlay.span_of(table)? else { continue };
                Written::Span(KeyRange { start: first, end: KeyRange::point(&last).end })
            };
            out.tables.insert(table, written);
        }
        Ok(out)
    }
}

#[derive(Debug)]
struct Finished {
    /// The order of commits; `u64` counts up.
    sequence: u64,
    /// Its snapshot and, once the store has said it, its commit.
    snapshot: Timestamp,
    commit: Option<Timestamp>,
    reads: ReadSet,
    writes: Writes,
    /// The earliest commit sequence among the transactions that it has a dependency to: `self → out`.
    earliest_out: Option<u64>,
}

#[derive(Debug, Default)]
struct State {
    next_sequence: u64,
    /// Snapshots of running transactions, by id.
    active: BTreeMap<u64, Active>,
    finished: Vec<Finished>,
}

#[derive(Debug)]
struct Active {
    snapshot: Timestamp,
    reads: Arc<Mutex<ReadSet>>,
}

/// The serializable transactions of a database.
#[derive(Debug, Default)]
pub struct SerializableSet {
    state: Mutex<State>,
    ended: tokio::sync::Notify,
}

/// The transaction would complete a dangerous structure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Danger;

impl SerializableSet {
    /// A transaction takes its snapshot; `reads` is what it goes on filling. No commit is forgotten between the snapshot and this.
    pub fn begin(&self, id: u64, reads: Arc<Mutex<ReadSet>>, take: impl FnOnce() -> Arc<dyn Snapshot>) -> Arc<dyn Snapshot> {
        let mut state = self.state.lock();
        let snapshot = take();
        state.active.insert(id, Active { snapshot: snapshot.timestamp(), reads });
        snapshot
    }

    /// Is ready when a transaction has ended after this call.
    pub fn changed(&self) -> impl Future<Output = ()> + '_ {
        let mut notified = Box::pin(self.ended.notified());
        notified.as_mut().enable();
        notified
    }

    /// The other transactions that are running.
    #[must_use]
    pub fn running_besides(&self, id: u64) -> Vec<u64> {
        self.state.lock().active.keys().copied().filter(|other| *other != id).collect()
    }

    /// Whether a reader of a snapshot can take part in no dangerous structure, once those that ran when it was taken have ended:
    /// none of them may have missed what was committed before the snapshot. `None`: one is still running.
    #[must_use]
    pub fn is_safe(&self, snapshot: Timestamp, others: &[u64]) -> Option<bool> {
        let state = self.state.lock();
        if others.iter().any(|id| state.active.contains_key(id)) || state.finished.iter().any(|f| f.commit.is_none()) {
            return None;
        }
        let committed = |sequence: u64| state.finished.iter().find(|f| f.sequence == sequence).and_then(|f| f.commit);
        let dangerous = state
            .finished
            .iter()
            .filter(|f| f.commit.is_some_and(|c| c > snapshot))
            .filter_map(|f| f.earliest_out)
            .any(|out| committed(out).is_none_or(|c| c <= snapshot));
        Some(!dangerous)
    }

    /// Whether the transaction could still commit with what it has read and written.
    ///
    /// # Errors
    /// It must be rolled back.
    pub fn check(&self, id: u64, own: &Writes) -> Result<(), Danger> {
        let state = self.state.lock();
        let Some(active) = state.active.get(&id) else { return Ok(()) };
        let (snapshot, reads) = (active.snapshot, active.reads.lock().clone());
        state.danger(id, snapshot, &reads, own).map(|_| ())
    }

    /// Decides whether the transaction may commit; if so it counts as committed from here on.
    ///
    /// # Errors
    /// It must be rolled back.
    pub fn prepare(&self, id: u64, own: Writes) -> Result<u64, Danger> {
        let mut state = self.state.lock();
        let Some(active) = state.active.get(&id) else { return Ok(state.next_sequence) };
        let (snapshot, reads) = (active.snapshot, active.reads.lock().clone());
        let earliest_out = state.danger(id, snapshot, &reads, &own)?;
        let sequence = state.next_sequence;
        state.next_sequence += 1;
        state.active.remove(&id);
        // Commits that come later may find that they depend on this one; that makes no difference to it. But it may be the
        // `in` of one that is committed, which has been looked at above.
        state.finished.push(Finished { sequence, snapshot, commit: None, reads, writes: own, earliest_out });
        Ok(sequence)
    }

    /// The store has committed (or, with `None`, refused) the transaction that got this sequence.
    pub fn finish(&self, sequence: u64, commit: Option<Timestamp>) {
        let mut state = self.state.lock();
        match commit {
            Some(commit) => {
                if let Some(f) = state.finished.iter_mut().find(|f| f.sequence == sequence) {
                    f.commit = Some(commit);
                }
            }
            None => state.finished.retain(|f| f.sequence != sequence),
        }
        state.sweep();
        drop(state);
        self.ended.notify_waiters();
    }

    /// The transaction was rolled back.
    pub fn abort(&self, id: u64) {
        let mut state = self.state.lock();
        state.active.remove(&id);
        state.sweep();
        drop(state);
        self.ended.notify_waiters();
    }
}

impl State {
    /// Whether a commit now would complete a dangerous structure; otherwise the earliest commit that it depends on.
    fn danger(&self, id: u64, snapshot: Timestamp, reads: &ReadSet, own: &Writes) -> Result<Option<u64>, Danger> {
        let read_only = own.tables.is_empty();

        // self → out: what this one read, another committed behind its snapshot.
        let concurrent = |f: &&Finished| f.commit.is_none_or(|c| c > snapshot);
        let mut earliest_out: Option<u64> = None;
        for out in self.finished.iter().filter(concurrent).filter(|f| reads.meets(&f.writes)) {
            earliest_out = Some(earliest_out.map_or(out.sequence, |e| e.min(out.sequence)));
            // self → out → third, where third committed before out: out is a pivot that can't be aborted any more. A reader
            // alone is safe if third had not committed when it took its snapshot.
            if let Some(third) = out.earliest_out.filter(|third| *third < out.sequence) {
                let third_commit = self.finished.iter().find(|f| f.sequence == third).and_then(|f| f.commit);
                if !read_only || third_commit.is_none_or(|c| c <= snapshot) {
                    return Err(Danger);
                }
            }
        }
        // in → self → out: this one is the pivot, and out has committed first.
        if let Some(out) = earliest_out
            && !read_only
        {
            // `in` may be `out` itself. One that only read is in danger only if it has seen what `out` did.
            let out_commit = self.finished.iter().find(|f| f.sequence == out).and_then(|f| f.commit);
            // A commit that the store has made may be seen before it is told here.
            let seen_out = |f: &Finished| !f.writes.tables.is_empty() || out_commit.is_none_or(|c| c <= f.snapshot);
            let committed_in = self.finished.iter().filter(concurrent).any(|f| f.sequence >= out && seen_out(f) && f.reads.meets(own));
            let running_in = self.active.iter().any(|(other, a)| *other != id && a.reads.lock().meets(own));
            if committed_in || running_in {
                return Err(Danger);
            }
        }
        Ok(earliest_out)
    }

    fn sweep(&mut self) {
        let Some(oldest) = self.active.values().map(|a| a.snapshot).min() else {
            self.finished.retain(|f| f.commit.is_none());
            return;
        };
        // A pivot's `third` is needed for its commit time as long as the pivot is.
        let keep_from = self.finished.iter().filter(|f| f.commit.is_none_or(|c| c > oldest)).map(|f| f.snapshot).min().unwrap_or(oldest);
        let horizon = keep_from.min(oldest);
        self.finished.retain(|f| f.commit.is_none_or(|c| c > horizon));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: TableId = TableId(1);

    #[derive(Debug)]
    struct At(Timestamp);

    impl Snapshot for At {
        fn timestamp(&self) -> Timestamp {
            self.0
        }
        fn as_any(&self) -> &dyn std::any::Any {
            self
        }
    }

    struct World {
        set: SerializableSet,
        clock: u64,
        next: u64,
    }

    struct Txn {
        id: u64,
        reads: Arc<Mutex<ReadSet>>,
        writes: Vec<Vec<u8>>,
    }

    fn writes(keys: &[Vec<u8>]) -> Writes {
        let mut out = Writes::default();
        if !keys.is_empty() {
            out.tables.insert(T, Written::Keys(keys.iter().map(|k| k.as_slice().into()).collect()));
        }
        out
    }

    impl World {
        fn new() -> Self {
            World { set: SerializableSet::default(), clock: 10, next: 1 }
        }
        fn begin(&mut self) -> Txn {
            let id = self.next;
            self.next += 1;
            let reads = Arc::default();
            let at = Timestamp(self.clock);
            self.set.begin(id, Arc::clone(&reads), || Arc::new(At(at)));
            Txn { id, reads, writes: Vec::new() }
        }
        fn commit(&mut self, mut txn: Txn) -> bool {
            txn.writes.sort();
            match self.set.prepare(txn.id, writes(&txn.writes)) {
                Ok(sequence) => {
                    self.clock += 1;
                    self.set.finish(sequence, Some(Timestamp(self.clock)));
                    true
                }
                Err(Danger) => {
                    self.set.abort(txn.id);
                    false
                }
            }
        }
    }

    impl Txn {
        fn read(&self, key: &[u8]) {
            self.reads.lock().add(T, KeyRange::point(key));
        }
        fn write(&mut self, key: &[u8]) {
            self.writes.push(key.to_vec());
        }
    }

    #[test]
    fn write_skew_fails_once() {
        let mut w = World::new();
        let (mut a, mut b) = (w.begin(), w.begin());
        for t in [&a, &b] {
            t.read(b"x");
            t.read(b"y");
        }
        a.write(b"x");
        b.write(b"y");
        assert!(w.commit(a) ^ w.commit(b));
    }

    #[test]
    fn one_dependency_passes_in_either_order() {
        for writer_first in [true, false] {
            let mut w = World::new();
            let (mut reader, mut writer) = (w.begin(), w.begin());
            reader.read(b"x");
            reader.write(b"z");
            writer.write(b"x");
            let (first, second) = if writer_first { (writer, reader) } else { (reader, writer) };
            assert!(w.commit(first));
            assert!(w.commit(second));
        }
    }

    #[test]
    fn the_read_only_anomaly_fails_and_an_older_reader_passes() {
        // Deposit and withdrawal with a report: Fekete, O'Neil, O'Neil 2004.
        for report_late in [true, false] {
            let mut w = World::new();
            let mut withdrawal = w.begin();
            withdrawal.read(b"x");
            withdrawal.read(b"y");
            withdrawal.write(b"x");
            let mut deposit = w.begin();
            deposit.read(b"y");
            deposit.write(b"y");
            let early = if report_late { None } else { Some(w.begin()) };
            assert!(w.commit(deposit));
            let report = early.unwrap_or_else(|| w.begin());
            report.read(b"x");
            report.read(b"y");
            if report_late {
                // The report has seen the deposit and not the withdrawal: the withdrawal must not come before it.
                assert!(!w.commit(withdrawal) || !w.commit(report));
            } else {
                assert!(w.commit(report));
                assert!(w.commit(withdrawal));
            }
        }
    }

    #[test]
    fn a_phantom_is_a_read_of_the_range() {
        let mut w = World::new();
        let (mut a, mut b) = (w.begin(), w.begin());
        a.reads.lock().add(T, KeyRange::prefix(b"k"));
        b.reads.lock().add(T, KeyRange::prefix(b"k"));
        a.write(b"k1");
        b.write(b"k2");
        assert!(w.commit(a));
        assert!(!w.commit(b));
    }

    #[test]
    fn nothing_is_remembered_when_nobody_runs() {
        let mut w = World::new();
        let mut a = w.begin();
        a.write(b"x");
        assert!(w.commit(a));
        assert!(w.set.state.lock().finished.is_empty());
    }
}
