//! The range cache: rows that were read by key, and short key ranges that were read to their end, for stores to find them without a search.
//!
//! What is cached is what every view sees from its own time on, until a commit changes it. A row is a point range: a commit that writes it
//! removes it by its key. A longer range has a [`Watch`], which ends before anyone can see a change in it. What was not used lately
//! makes room for others, and takes its watch along.
//!
//! Invariant: each longer range that holds for views to come is watched, and no others are. Whoever adds something does so while no
//! commit can be reported to it, and only if none has changed it since its view.

use crate::{KeyRange, TableId, Timestamp, Watch, Watches};
use parking_lot::Mutex;
use quick_cache::sync::Cache;
use quick_cache::{DefaultHashBuilder, Equivalent, Lifecycle, Weighter};
use std::sync::Arc;

/// What an entry takes beside its key and value, about.
const ENTRY_BYTES: usize = 144;
/// Values of more bytes are not cached.
const MAX_VALUE_BYTES: usize = 4096;
/// Entries for which the cache is laid out: as many as fit if they are of this size.
const USUAL_BYTES: usize = 256;
/// Behind the bounds in the key of a range: how long the first one is, and whether there is a second one.
const TAIL_BYTES: usize = 5;

#[derive(PartialEq, Eq, Hash, Debug)]
struct Key {
    is_row: bool,
    bytes: Box<[u8]>,
}

#[derive(Clone, Copy, Hash)]
struct KeyRef<'a> {
    is_row: bool,
    bytes: &'a [u8],
}

impl Equivalent<Key> for KeyRef<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        self.is_row == key.is_row && *self.bytes == *key.bytes
    }
}

#[derive(Clone, Debug)]
enum Validity {
    /// From a time on; what ends it removes the entry.
    Since(Timestamp),
    Watched(TableId, Arc<Watch>),
}

#[derive(Clone, Debug)]
struct Entry {
    value: Arc<[u8]>,
    validity: Validity,
}

#[derive(Clone, Debug)]
struct ByBytes;

impl Weighter<Key, Entry> for ByBytes {
    fn weight(&self, key: &Key, entry: &Entry) -> u64 {
        (ENTRY_BYTES + key.bytes.len() + entry.value.len()) as u64
    }
}

/// Collects the watched ranges that make room.
#[derive(Clone, Debug)]
struct Evicted;

impl Lifecycle<Key, Entry> for Evicted {
    type RequestState = Vec<(Key, Entry)>;

    fn on_evict(&self, evicted: &mut Self::RequestState, key: Key, entry: Entry) {
        if !key.is_row {
            evicted.push((key, entry));
        }
    }
}

/// See the module.
pub struct RangeCache {
    entries: Cache<Key, Entry, ByBytes, DefaultHashBuilder, Evicted>,
    watches: Mutex<Watches>,
    /// Of one part of the cache: nothing larger is cached.
    largest: usize,
}

impl std::fmt::Debug for RangeCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RangeCache").field("entries", &self.entries.len()).finish_non_exhaustive()
    }
}

impl RangeCache {
    /// A cache of so many bytes.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        let entries = Cache::with(bytes / USUAL_BYTES, bytes as u64, ByBytes, DefaultHashBuilder::default(), Evicted);
        let largest = usize::try_from(entries.shard_capacity()).unwrap_or(usize::MAX);
        Self { entries, watches: Mutex::new(Watches::of_tidy_holders()), largest }
    }

    /// Rows and ranges that are cached.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Longer ranges that nobody has changed since.
    #[must_use]
    pub fn ranges(&self) -> usize {
        self.watches.lock().count()
    }

    /// What a row's key holds for a view of this time, if it is cached.
    #[inline]
    #[must_use]
    pub fn row(&self, key: &[u8], at: Timestamp) -> Option<Arc<[u8]>> {
        let entry = self.entries.get(&KeyRef { is_row: true, bytes: key })?;
        matches!(entry.validity, Validity::Since(from) if from <= at).then_some(entry.value)
    }

    /// What a range holds for a view of this time, if it is cached; its key is from [`RangeCache::key_of`].
    #[must_use]
    pub fn range(&self, key: &[u8], at: Timestamp) -> Option<Arc<[u8]>> {
        let key = KeyRef { is_row: false, bytes: key };
        let entry = self.entries.get(&key)?;
        let Validity::Watched(_, watch) = &entry.validity else { return None };
        if watch.holds_at(at) {
            return Some(entry.value);
        }
        if !watch.is_open() {
            let is_over = |own: &Entry| matches!(&own.validity, Validity::Watched(_, own) if Arc::ptr_eq(own, watch));
            self.entries.remove_if(&key, is_over);
        }
        None
    }

    /// The key of a range of what has a number.
    #[must_use]
    pub fn key_of(storage: u32, range: &KeyRange) -> Vec<u8> {
        let end = range.end.as_deref();
        let mut key = Vec::with_capacity(4 + range.start.len() + end.map_or(0, <[u8]>::len) + TAIL_BYTES);
        key.extend_from_slice(&storage.to_be_bytes());
        key.extend_from_slice(&range.start);
        key.extend_from_slice(end.unwrap_or_default());
        key.extend_from_slice(&u32::try_from(range.start.len()).unwrap_or(u32::MAX).to_be_bytes());
        key.push(u8::from(end.is_some()));
        key
    }

    fn has_room_for(&self, key: &[u8], value: &[u8]) -> bool {
        value.len() <= MAX_VALUE_BYTES && ENTRY_BYTES + key.len() + value.len() <= self.largest
    }

    /// Caches what a view of this time has seen of a row.
    pub fn insert_row(&self, key: &[u8], value: &[u8], from: Timestamp) {
        if self.has_room_for(key, value) {
            self.insert(Key { is_row: true, bytes: key.into() }, Entry { value: value.into(), validity: Validity::Since(from) });
        }
    }

    /// Caches what a view of this time has seen in a range of a table.
    pub fn insert_range(&self, key: &[u8], value: &[u8], table: TableId, range: &KeyRange, from: Timestamp) {
        if self.has_room_for(key, value) {
            let watch = self.watches.lock().add(table, range, from);
            let validity = Validity::Watched(table, watch);
            self.insert(Key { is_row: false, bytes: key.into() }, Entry { value: value.into(), validity });
        }
    }

    fn insert(&self, key: Key, entry: Entry) {
        let mut evicted = Vec::new();
        self.entries.insert_with_lifecycle(key, entry, &mut evicted);
        if evicted.is_empty() {
            return;
        }
        let mut watches = self.watches.lock();
        for (key, entry) in evicted {
            if let Validity::Watched(table, watch) = &entry.validity {
                watches.forget(*table, start_of(&key.bytes), watch);
            }
        }
    }

    /// A commit writes the row of a key.
    pub fn remove_row(&self, key: &[u8]) {
        self.entries.remove(&KeyRef { is_row: true, bytes: key });
    }

    /// A load may write the row of any key from one to another, exclusive.
    pub fn remove_rows(&self, from: &[u8], to: &[u8]) {
        self.entries.retain(|key, _| !(key.is_row && *key.bytes >= *from && *key.bytes < *to));
    }

    /// A commit writes rows: ranges with one of them end.
    pub fn rows_changed<'a>(&self, rows: impl Iterator<Item = (TableId, &'a [u8])>, at: Timestamp) {
        let mut watches = self.watches.lock();
        if watches.count() > 0 {
            rows.for_each(|(table, key)| watches.row_changed(table, key, at));
        }
    }

    /// A commit may write any row of a range: ranges that overlap it end.
    pub fn range_changed(&self, table: TableId, range: &KeyRange, at: Timestamp) {
        self.watches.lock().range_changed(table, range, at);
    }
}

fn start_of(key: &[u8]) -> &[u8] {
    let length = key.len().checked_sub(TAIL_BYTES).and_then(|at| key.get(at..)?.first_chunk::<4>());
    let length = length.map_or(0, |bytes| u32::from_be_bytes(*bytes) as usize);
    key.get(4..).and_then(|rest| rest.get(..length)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use crate::conformance::SplitMix;
    use std::collections::HashMap;

    const T: TableId = TableId(1);

    #[test]
    fn a_row_serves_views_from_its_own_on() {
        let cache = RangeCache::new(1 << 20);
        cache.insert_row(b"k", b"v", Timestamp(5));
        assert_eq!(cache.row(b"k", Timestamp(5)).as_deref(), Some(&b"v"[..]));
        assert_eq!(cache.row(b"k", Timestamp(4)), None);
        cache.insert_row(b"k", b"w", Timestamp(7));
        assert_eq!(cache.row(b"k", Timestamp(6)), None);
        assert_eq!(cache.row(b"k", Timestamp(7)).as_deref(), Some(&b"w"[..]));
        cache.remove_row(b"k");
        cache.remove_row(b"other");
        assert!(cache.row(b"k", Timestamp(9)).is_none() && cache.is_empty());
        cache.insert_row(b"k", &vec![0; MAX_VALUE_BYTES + 1], Timestamp(1));
        assert!(cache.is_empty());
    }

    #[test]
    fn a_range_serves_views_until_one_of_its_rows_changes() {
        let cache = RangeCache::new(1 << 20);
        let range = KeyRange::new(b"b".to_vec(), Some(b"d".to_vec()));
        let key = RangeCache::key_of(7, &range);
        cache.insert_range(&key, b"rows", T, &range, Timestamp(5));
        assert!(cache.range(&key, Timestamp(4)).is_none() && cache.range(&key, Timestamp(5)).is_some());
        assert!(cache.row(&key, Timestamp(5)).is_none(), "a row of the same key is another one");
        cache.rows_changed([(T, &b"d"[..]), (TableId(2), &b"c"[..])].into_iter(), Timestamp(8));
        assert!(cache.range(&key, Timestamp(9)).is_some());
        cache.rows_changed([(T, &b"c"[..])].into_iter(), Timestamp(10));
        assert!(cache.range(&key, Timestamp(9)).is_some(), "an older view sees what it saw");
        assert!(cache.range(&key, Timestamp(10)).is_none() && cache.is_empty() && cache.ranges() == 0);
        cache.insert_range(&key, b"rows", T, &range, Timestamp(11));
        cache.range_changed(T, &KeyRange::all(), Timestamp(12));
        assert!(cache.range(&key, Timestamp(12)).is_none());
    }

    #[test]
    fn what_makes_room_takes_its_watch_along() {
        let cache = RangeCache::new(64 << 10);
        for n in 0..10_000u32 {
            let range = KeyRange::new(n.to_be_bytes().to_vec(), Some((n + 1).to_be_bytes().to_vec()));
            cache.insert_range(&RangeCache::key_of(7, &range), &[0; 50], T, &range, Timestamp(1));
        }
        assert!(cache.len() > 100 && cache.ranges() == cache.len(), "{} watched, {} cached", cache.ranges(), cache.len());
    }

    #[test]
    fn it_does_as_a_map_does_within_its_bounds() {
        let (cache, mut model, mut random) = (RangeCache::new(64 << 10), HashMap::new(), SplitMix(3));
        let mut hits = 0;
        for round in 0..40_000u64 {
            let key = (random.below(1000) as u32).to_be_bytes();
            match random.below(12) {
                0 => {
                    cache.remove_row(&key);
                    model.remove(&key);
                }
                1 if round % 50 == 0 => {
                    let (from, to) = (random.below(1000) as u32, random.below(1000) as u32);
                    cache.remove_rows(&from.to_be_bytes(), &to.to_be_bytes());
                    model.retain(|key, _| !(from..to).contains(&u32::from_be_bytes(*key)));
                }
                2..5 => {
                    let value = vec![round as u8; random.below(60) as usize];
                    cache.insert_row(&key, &value, Timestamp(1));
                    model.insert(key, value);
                }
                _ => {
                    if let Some(value) = cache.row(&key, Timestamp(1)) {
                        hits += 1;
                        assert_eq!(Some(&*value), model.get(&key).map(Vec::as_slice), "of {key:?}");
                    }
                }
            }
            assert!(cache.entries.weight() <= 64 << 10 && cache.len() <= model.len());
        }
        assert!(hits > 2000, "{hits} reads found their row");
    }
}
