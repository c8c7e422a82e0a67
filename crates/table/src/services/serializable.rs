//! SERIALIZABLE: of transactions whose reads and writes cross dangerously, one is aborted.
//!
//! Snapshots alone allow histories that no serial order explains: dependencies that go in a circle. Of the transactions of a circle,
//! let `out` be the one that commits first. The one before it, the `pivot`, has read what `out` replaced, for it did not
//! commit before `out` began, which any other dependency would mean. The one before that, `in`, has read what the pivot replaced,
//! for else it had committed before the pivot began, and so before `out` committed. So a transaction fails that would complete
//! `in → pivot → out`, concurrent ones, with `out` committed first; `in` may be `out` (Cahill, Röhm, Fekete: Serializable Isolation
//! for Snapshot Databases, SIGMOD 2008; Ports and Grittner, VLDB 2012). One dependency alone, in whichever direction, passes; and so
//! does an `in` that only reads, with a snapshot older than `out`'s commit: it stands before both.
//!
//! **What "first" means.** The order of the argument is that of the store's timestamps, which is what snapshots are made of. A
//! transaction is decided here ([`SerializableSet::prepare`]), is then on its way to the store, where others may overtake it, gets
//! its timestamp, and is seen by new snapshots before it is known here ([`SerializableSet::finish`]). So of one that is on its way only bounds
//! are known: it commits after all that was seen or known when it was decided. Where bounds leave open who is first, the
//! worse is assumed; a transaction that is on its way cannot be aborted any more.
//!
//! **Why all are found.** A structure is complete when the last of its three is decided (for `in = out`, of its two), and
//! then all that was read and written by them is known: what they read was remembered before it was given to anyone, and
//! nothing of a transaction is read after its decision that anybody sees. Each may be the last:
//!
//! - `in`: the pivot remembers the first of those that it depends on, also of those decided after it;
//! - the pivot: it looks for both (and gives way to an `in` that still runs, which may yet go on reading);
//! - `out`: only if it may overtake the pivot, so the pivot and `in` are on their way like itself. Had `in` committed, it were first.
//!
//! Invariant: a decided transaction is remembered for as long as it is on its way or one that was concurrent with it runs: others
//! can be neither `in` nor pivot nor `out` of what runs, and the time of a pivot's first `out` is kept with the pivot.

use async_trait::async_trait;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
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
    fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// Rows of one table: their keys, ascending.
    pub fn add_keys(&mut self, table: TableId, keys: Vec<Box<[u8]>>) {
        self.tables.insert(table, Written::Keys(keys));
    }

    /// Rows of one table, somewhere in a range.
    pub fn add_span(&mut self, table: TableId, span: KeyRange) {
        self.tables.insert(table, Written::Span(span));
    }
}

/// A transaction that was decided.
#[derive(Debug)]
struct Decided {
    /// The order of decisions; counts up.
    sequence: u64,
    snapshot: Timestamp,
    /// Its commit comes after this.
    after: Timestamp,
    /// Its commit, when it is known; until then it is on its way.
    commit: Option<Timestamp>,
    reads: ReadSet,
    writes: Writes,
    /// Those that it depends on: `self → out`.
    outs: Outs,
}

impl Decided {
    /// No commit of it is before this.
    fn earliest(&self) -> Timestamp {
        self.commit.unwrap_or(Timestamp(self.after.0.saturating_add(1)))
    }

    /// No commit of it is after this.
    fn latest(&self) -> Timestamp {
        self.commit.unwrap_or(Timestamp(u64::MAX))
    }
}

/// Whom a transaction depends on.
#[derive(Debug, Default)]
struct Outs {
    /// The first commit among those that are known.
    first: Option<Timestamp>,
    /// Those that are on their way.
    pending: Vec<u64>,
}

impl Outs {
    fn add(&mut self, out: &Decided) {
        match out.commit {
            Some(commit) => self.committed(commit),
            None => self.pending.push(out.sequence),
        }
    }

    fn committed(&mut self, at: Timestamp) {
        self.first = Some(self.first.map_or(at, |first| first.min(at)));
    }
}

#[derive(Debug, Default)]
struct State {
    next_sequence: u64,
    /// Snapshots of running transactions, by id.
    active: BTreeMap<u64, Active>,
    decided: Vec<Decided>,
    /// The newest time that was seen: what commits from now on is after it.
    now: Timestamp,
}

#[derive(Debug)]
struct Active {
    snapshot: Timestamp,
    reads: Arc<Mutex<ReadSet>>,
    /// Declared to be, and so for ever.
    read_only: bool,
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

/// Takes the snapshot of a transaction.
pub type TakeSnapshot<'a> = &'a (dyn Fn() -> Arc<dyn Snapshot> + Send + Sync);

/// What SERIALIZABLE transactions know of each other.
#[async_trait]
pub trait Serializability: Send + Sync {
    /// As [`Serializability::begin`], if it needs no asking.
    fn try_begin(&self, id: u64, reads: &Arc<Mutex<ReadSet>>, read_only: bool, take: TakeSnapshot<'_>) -> Option<Arc<dyn Snapshot>>;

    /// A transaction takes its snapshot; `reads` is what it goes on filling, and one that is `read_only` never writes. No commit is
    /// forgotten between the snapshot and this.
    async fn begin(&self, id: u64, reads: &Arc<Mutex<ReadSet>>, read_only: bool, take: TakeSnapshot<'_>) -> Arc<dyn Snapshot>;

    /// A snapshot whose reader can take part in no dangerous structure.
    async fn safe_snapshot(&self, id: u64, take: TakeSnapshot<'_>) -> Arc<dyn Snapshot>;

    /// Whether the transaction could still commit with what it has read and written.
    ///
    /// # Errors
    /// It must be rolled back.
    async fn check(&self, id: u64, own: Writes) -> Result<(), Danger>;

    /// Decides whether the transaction may commit; if so it counts as committed from here on, until [`Serializability::finish`] says
    /// otherwise for the sequence that this gives. `None`: it is not one of these.
    ///
    /// # Errors
    /// It must be rolled back.
    async fn prepare(&self, id: u64, own: Writes) -> Result<Option<u64>, Danger>;

    /// The store has committed (or, with `None`, refused) the transaction that got this sequence. A transaction without writes gets
    /// any time from its decision to this call.
    fn finish(&self, sequence: u64, commit: Option<Timestamp>);

    /// Whether one of these transactions has written a row behind a snapshot, whose transaction is running.
    fn wrote_behind(&self, snapshot: Timestamp, table: TableId, key: &[u8]) -> bool;

    /// The transaction was rolled back.
    fn abort(&self, id: u64);
}

#[async_trait]
impl Serializability for SerializableSet {
    fn try_begin(&self, id: u64, reads: &Arc<Mutex<ReadSet>>, read_only: bool, take: TakeSnapshot<'_>) -> Option<Arc<dyn Snapshot>> {
        Some(SerializableSet::begin(self, id, Arc::clone(reads), read_only, take))
    }

    async fn begin(&self, id: u64, reads: &Arc<Mutex<ReadSet>>, read_only: bool, take: TakeSnapshot<'_>) -> Arc<dyn Snapshot> {
        SerializableSet::begin(self, id, Arc::clone(reads), read_only, take)
    }

    async fn safe_snapshot(&self, id: u64, take: TakeSnapshot<'_>) -> Arc<dyn Snapshot> {
        loop {
            let snapshot = SerializableSet::begin(self, id, Arc::default(), true, take);
            let others = self.running_besides(id);
            let safe = loop {
                let changed = self.changed();
                match self.is_safe(snapshot.timestamp(), &others) {
                    Some(safe) => break safe,
                    None => changed.await,
                }
            };
            SerializableSet::abort(self, id);
            if safe {
                return snapshot;
            }
        }
    }

    async fn check(&self, id: u64, own: Writes) -> Result<(), Danger> {
        SerializableSet::check(self, id, &own)
    }

    async fn prepare(&self, id: u64, own: Writes) -> Result<Option<u64>, Danger> {
        SerializableSet::prepare(self, id, own)
    }

    fn finish(&self, sequence: u64, commit: Option<Timestamp>) {
        SerializableSet::finish(self, sequence, commit);
    }

    fn wrote_behind(&self, snapshot: Timestamp, table: TableId, key: &[u8]) -> bool {
        SerializableSet::wrote_behind(self, snapshot, table, key)
    }

    fn abort(&self, id: u64) {
        SerializableSet::abort(self, id);
    }
}

impl SerializableSet {
    /// A transaction takes its snapshot; `reads` is what it goes on filling, and one that is `read_only` never writes. No commit is
    /// forgotten between the snapshot and this.
    pub fn begin(
        &self,
        id: u64,
        reads: Arc<Mutex<ReadSet>>,
        read_only: bool,
        take: impl FnOnce() -> Arc<dyn Snapshot>,
    ) -> Arc<dyn Snapshot> {
        let mut state = self.state.lock();
        let snapshot = take();
        state.now = state.now.max(snapshot.timestamp());
        state.active.insert(id, Active { snapshot: snapshot.timestamp(), reads, read_only });
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
        // One with the same snapshot or a newer one has missed nothing.
        let undecided = |d: &Decided| d.commit.is_none() && d.snapshot < snapshot;
        if others.iter().any(|id| state.active.contains_key(id)) || state.decided.iter().any(undecided) {
            return None;
        }
        let dangerous = |d: &Decided| d.latest() > snapshot && state.first_of(&d.outs).is_some_and(|out| out <= snapshot);
        Some(!state.decided.iter().any(dangerous))
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

    /// Decides whether the transaction may commit; if so it counts as committed from here on, until [`SerializableSet::finish`] is told
    /// otherwise of the sequence that this gives. `None`: it is not one of these.
    ///
    /// # Errors
    /// It must be rolled back.
    pub fn prepare(&self, id: u64, own: Writes) -> Result<Option<u64>, Danger> {
        let mut state = self.state.lock();
        let Some(active) = state.active.get(&id) else { return Ok(None) };
        let (snapshot, reads) = (active.snapshot, active.reads.lock().clone());
        let outs = state.danger(id, snapshot, &reads, &own)?;
        let sequence = state.next_sequence;
        state.next_sequence += 1;
        state.active.remove(&id);
        // Who is on its way may yet commit behind this one.
        for d in state.decided.iter_mut().filter(|d| d.commit.is_none() && d.reads.meets(&own)) {
            d.outs.pending.push(sequence);
        }
        let after = state.now;
        state.decided.push(Decided { sequence, snapshot, after, commit: None, reads, writes: own, outs });
        Ok(Some(sequence))
    }

    /// The store has committed (or, with `None`, refused) the transaction that got this sequence. A transaction without writes gets
    /// any time from its decision to this call.
    pub fn finish(&self, sequence: u64, commit: Option<Timestamp>) {
        let mut state = self.state.lock();
        for d in &mut state.decided {
            if d.sequence == sequence {
                d.commit = commit;
            }
            let pending = d.outs.pending.len();
            d.outs.pending.retain(|out| *out != sequence);
            // One that was seen before it was known is no dependency.
            if d.outs.pending.len() < pending
                && let Some(commit) = commit.filter(|commit| *commit > d.snapshot)
            {
                d.outs.committed(commit);
            }
        }
        match commit {
            Some(commit) => state.now = state.now.max(commit),
            None => state.decided.retain(|d| d.sequence != sequence),
        }
        state.sweep();
        drop(state);
        self.ended.notify_waiters();
    }

    /// Whether one of these transactions has written a row behind a snapshot, whose transaction is running.
    #[must_use]
    pub fn wrote_behind(&self, snapshot: Timestamp, table: TableId, key: &[u8]) -> bool {
        let (state, row) = (self.state.lock(), KeyRange::point(key));
        state.decided.iter().any(|d| d.latest() > snapshot && d.writes.tables.get(&table).is_some_and(|w| w.meets(&row)))
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
    /// The time before which none of these has committed.
    fn first_of(&self, outs: &Outs) -> Option<Timestamp> {
        let pending = outs.pending.iter().filter_map(|out| self.decided.iter().find(|d| d.sequence == *out)).map(Decided::earliest);
        pending.chain(outs.first).min()
    }

    /// Whether a commit now would complete a dangerous structure; otherwise those that it depends on.
    fn danger(&self, id: u64, snapshot: Timestamp, reads: &ReadSet, own: &Writes) -> Result<Outs, Danger> {
        let read_only = own.is_empty();
        // A commit that the store has made may be seen before it is known here.
        let concurrent = |d: &&Decided| d.latest() > snapshot;

        let mut outs = Outs::default();
        for out in self.decided.iter().filter(concurrent).filter(|d| reads.meets(&d.writes)) {
            outs.add(out);
            // self → out → third: self is `in`.
            let third = self.first_of(&out.outs);
            if third.is_some_and(|third| third < out.latest() && (!read_only || third <= snapshot)) {
                return Err(Danger);
            }
        }
        // Nobody depends on who only reads.
        if read_only {
            return Ok(outs);
        }
        // in → self → out: self is the pivot.
        if let Some(out) = self.first_of(&outs) {
            let behind = |d: &Decided| out <= if d.writes.is_empty() { d.snapshot } else { d.latest() };
            let decided = self.decided.iter().filter(concurrent).any(|d| behind(d) && d.reads.meets(own));
            let may_be_in = |a: &Active| !a.read_only || out <= a.snapshot;
            let running = self.active.iter().any(|(other, a)| *other != id && may_be_in(a) && a.reads.lock().meets(own));
            if decided || running {
                return Err(Danger);
            }
        }
        // in → pivot → self: self is `out`. An `in` that only reads has not seen what self is about to do.
        let on_the_way = || self.decided.iter().filter(|d| d.commit.is_none() && !d.writes.is_empty());
        let pivots = on_the_way().filter(|d| d.reads.meets(own));
        for pivot in pivots {
            if on_the_way().any(|d| d.sequence != pivot.sequence && d.reads.meets(&pivot.writes)) {
                return Err(Danger);
            }
        }
        Ok(outs)
    }

    fn sweep(&mut self) {
        let oldest = self.active.values().map(|a| a.snapshot).min().unwrap_or(Timestamp(u64::MAX));
        self.decided.retain(|d| d.commit.is_none_or(|commit| commit > oldest));
    }
}

#[cfg(test)]
mod tests;
