//! Published views: what a reader sees.
//!
//! After each group of commits is durable, the commit thread publishes a [`View`]: the timestamp of the last commit, RocksDB's
//! snapshot of that moment, and the tables as they were then. A [`LsmSnapshot`] is a view and a time of day. Reads take no
//! lock, and never see what is not durable. The [`Tracker`] knows the oldest view that anyone still holds: what is older than
//! it may be forgotten. See `docs/decisions/0002-published-snapshots.md`.

use crate::database::{ColumnFamily, RocksSnapshot};
use crate::keys::Form;
use crate::metadata::Kept;
use hashbrown::HashMap;
use parking_lot::{Condvar, Mutex};
use std::any::Any;
use std::collections::BTreeMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use stoa_store::{FamilyId, FamilyOptions, Snapshot, StoreError, StoreResult, TableId, TableSchema, Timestamp};

/// A family of a table and where its entries are.
#[derive(Debug)]
pub(crate) struct Family {
    pub id: FamilyId,
    pub storage: u32,
    /// See [`crate::metadata::StoredTable::since`].
    pub since: Timestamp,
    /// See [`Kept`].
    pub kept: Vec<Kept>,
    pub form: Form,
    pub options: FamilyOptions,
    pub ttl_us: Option<u64>,
    /// See [`crate::metadata::StoredTable::expired_us`].
    pub expired_us: u64,
    pub column_family: Arc<ColumnFamily>,
}

/// A table as of some view. Altering it makes a new one.
#[derive(Debug)]
pub(crate) struct Table {
    pub schema: TableSchema,
    pub families: Vec<Family>,
    /// Views before it have the table with other options; 0 if none is held since the store was opened.
    pub altered: Timestamp,
    /// At or above the timestamp of the last commit that wrote it.
    pub last_change: AtomicU64,
    /// Cut points found by size, and the bytes for which they were found.
    pub size_splits: Mutex<Option<(u64, Arc<Vec<Vec<u8>>>)>>,
    /// What a row takes, and the bytes for which that was found.
    pub density: Mutex<Option<(u64, crate::regions::Density)>>,
    /// Ranges whose rows were counted.
    pub counted: Mutex<crate::regions::Counts>,
    pub traffic: Arc<crate::traffic::TableTraffic>,
}

impl Table {
    pub fn family(&self, id: FamilyId) -> StoreResult<&Family> {
        self.families
            .iter()
            .find(|f| f.id == id)
            .ok_or_else(|| StoreError::Invalid(format!("table {} has no family {}", self.schema.id.0, id.0)))
    }
}

/// From the timestamp that a load's entries carry to the one at which they became visible. Looked up for every entry that is read.
pub(crate) type Loads = HashMap<Timestamp, Timestamp, BuildHasherDefault<TimestampHasher>>;

/// Timestamps differ in their middle bits.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct TimestampHasher(u64);

impl Hasher for TimestampHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.write_u64(u64::from(*b)));
    }

    fn write_u64(&mut self, n: u64) {
        self.0 = (self.0 ^ n).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 ^= self.0 >> 32;
    }
}

/// All tables, and how the timestamps of bulk loads read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tables {
    pub map: HashMap<TableId, Arc<Table>>,
    pub loads: Arc<Loads>,
}

/// Commits never have this counter in their timestamps, bulk loads always do.
pub(crate) const LOAD_COUNTER: u64 = (1 << Timestamp::COUNTER_BITS) - 1;

impl Tables {
    /// The timestamp at which an entry became visible.
    #[inline]
    pub fn visible_since(&self, stored: Timestamp) -> Timestamp {
        if stored.0 & LOAD_COUNTER == LOAD_COUNTER { self.loads.get(&stored).copied().unwrap_or(stored) } else { stored }
    }
}

#[derive(Debug)]
pub(crate) struct View {
    pub number: u64,
    pub timestamp: Timestamp,
    pub published_us: u64,
    pub tables: Arc<Tables>,
    pub snapshot: RocksSnapshot,
    tracker: Arc<Tracker>,
}

impl View {
    pub fn publish(tracker: &Arc<Tracker>, timestamp: Timestamp, now_us: u64, tables: Arc<Tables>, snapshot: RocksSnapshot) -> Arc<Self> {
        let number = tracker.enter(timestamp, now_us);
        Arc::new(Self { number, timestamp, published_us: now_us, tables, snapshot, tracker: Arc::clone(tracker) })
    }
}

impl Drop for View {
    fn drop(&mut self) {
        self.tracker.leave(self.number);
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct LiveView {
    pub timestamp: Timestamp,
    pub published_us: u64,
}

/// The views that are held by someone.
#[derive(Debug, Default)]
pub(crate) struct Tracker {
    live: Mutex<(u64, BTreeMap<u64, LiveView>)>,
    left: Condvar,
}

impl Tracker {
    fn enter(&self, timestamp: Timestamp, published_us: u64) -> u64 {
        let mut live = self.live.lock();
        live.0 += 1;
        let number = live.0;
        live.1.insert(number, LiveView { timestamp, published_us });
        number
    }

    fn leave(&self, number: u64) {
        self.live.lock().1.remove(&number);
        self.left.notify_all();
    }

    /// The oldest view that is held; `None` before the first is published.
    pub fn oldest(&self) -> Option<LiveView> {
        self.live.lock().1.values().next().copied()
    }

    pub fn count(&self) -> u64 {
        self.live.lock().1.len() as u64
    }

    /// Waits until no view up to `number` is held, or the time is over; whether none is.
    pub fn wait_until_gone(&self, number: u64, timeout: Duration) -> bool {
        let mut live = self.live.lock();
        let gone = |live: &(u64, BTreeMap<u64, LiveView>)| live.1.keys().next().is_none_or(|oldest| *oldest > number);
        if !gone(&live) {
            self.left.wait_for(&mut live, timeout);
        }
        gone(&live)
    }
}

/// The snapshot that callers hold.
#[derive(Debug)]
pub(crate) struct LsmSnapshot {
    pub view: Arc<View>,
    /// At or below the view's timestamp.
    pub timestamp: Timestamp,
    /// The time of day that decides what has expired.
    pub taken_us: u64,
}

impl Snapshot for LsmSnapshot {
    fn timestamp(&self) -> Timestamp {
        self.timestamp
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl LsmSnapshot {
    pub fn of(snapshot: &Arc<dyn Snapshot>) -> StoreResult<&LsmSnapshot> {
        snapshot.as_any().downcast_ref().ok_or_else(|| StoreError::Invalid("the snapshot is another store's".into()))
    }

    /// Whether it looks at a time before its view.
    pub fn is_past(&self) -> bool {
        self.timestamp < self.view.timestamp
    }

    /// Whether a family keeps enough of the past to be read at this time. What the versions of a row tell is checked
    /// when they are read.
    pub fn check_history(&self, table: &Table, family: &Family) -> StoreResult<()> {
        let options = &family.options;
        let forgotten = self.is_past()
            && if self.timestamp < family.since {
                true
            } else if options.versions == 1 {
                table.last_change.load(Ordering::Acquire) > self.timestamp.0
            } else {
                options.min_versions > 0 && family.ttl_us.is_some_and(|ttl| self.timestamp.micros().saturating_add(ttl) < self.taken_us)
            };
        if forgotten { Err(StoreError::SnapshotTooOld) } else { Ok(()) }
    }
}
