//! What was read is kept where the next read finds it without a search in RocksDB's memory, files and blocks: rows by their key here,
//! short ranges of rows in [`crate::kept_ranges`].
//!
//! Only plain families without expiry are kept: what a key holds changes by commits alone. A row is kept with the time of the view at
//! which it was read, and serves views from then on; the commit thread removes what it writes, before anyone can see it. A reader adds
//! a row only if nobody has written it since its view, under the lock that the commit thread takes for telling
//! ([`crate::recent::Recent`]).
//!
//! Invariant: a row that is kept is what every view sees from its time to the newest.

use hashbrown::HashTable;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use stoa_store::Timestamp;

/// When what is kept is what a view sees.
pub(crate) trait Validity {
    fn holds_at(&self, at: Timestamp) -> bool;

    /// Whether it holds for no view that is still to come.
    fn is_over(&self) -> bool;
}

/// From a time on; what ends it removes the entry.
impl Validity for Timestamp {
    fn holds_at(&self, at: Timestamp) -> bool {
        *self <= at
    }

    fn is_over(&self) -> bool {
        false
    }
}

const SHARDS: usize = 16;
/// What an entry takes beside its key and value, about.
const ENTRY_BYTES: usize = 144;
/// Values of more bytes are left to the blocks.
const MAX_VALUE_BYTES: usize = 4096;

#[derive(Debug)]
struct Slot<V> {
    hash: u64,
    key: Box<[u8]>,
    value: Arc<[u8]>,
    validity: V,
    /// Since the hand came by.
    used: bool,
}

impl<V> Slot<V> {
    fn bytes(&self) -> usize {
        ENTRY_BYTES + self.key.len() + self.value.len()
    }
}

#[derive(Debug)]
struct Shard<V> {
    places: HashTable<usize>,
    slots: Vec<Option<Slot<V>>>,
    free: Vec<usize>,
    /// Where the clock goes on to look for what was not used.
    hand: usize,
    bytes: usize,
}

impl<V> Default for Shard<V> {
    fn default() -> Self {
        Self { places: HashTable::new(), slots: Vec::new(), free: Vec::new(), hand: 0, bytes: 0 }
    }
}

impl<V> Shard<V> {
    fn find(&self, hash: u64, key: &[u8]) -> Option<usize> {
        let slots = &self.slots;
        let is_it = |place: &usize| slots.get(*place).and_then(Option::as_ref).is_some_and(|slot| *slot.key == *key);
        self.places.find(hash, is_it).copied()
    }

    fn remove(&mut self, place: usize) -> Option<Slot<V>> {
        let slot = self.slots.get_mut(place).and_then(Option::take)?;
        if let Ok(entry) = self.places.find_entry(slot.hash, |own| *own == place) {
            entry.remove();
        }
        self.bytes -= slot.bytes();
        self.free.push(place);
        Some(slot)
    }

    /// Removes what was not used since the hand came by last, until so many bytes are left.
    fn shrink(&mut self, to: usize, gone: &mut impl FnMut(&[u8], &V)) {
        let mut looks = 2 * self.slots.len();
        while self.bytes > to && looks > 0 {
            looks -= 1;
            self.hand = (self.hand + 1) % self.slots.len().max(1);
            let Some(slot) = self.slots.get_mut(self.hand).and_then(Option::as_mut) else { continue };
            if !std::mem::take(&mut slot.used)
                && let Some(slot) = self.remove(self.hand)
            {
                gone(&slot.key, &slot.validity);
            }
        }
    }
}

/// Rows by their physical keys.
pub(crate) type KeptRows = Kept<Timestamp>;

/// Values by key, of which those that were not used lately make room for others. See the module.
#[derive(Debug)]
pub(crate) struct Kept<V> {
    shards: [Mutex<Shard<V>>; SHARDS],
    seed: u64,
    /// Of one shard.
    capacity: usize,
    entries: AtomicUsize,
}

impl<V: Validity> Kept<V> {
    pub fn new(bytes: usize) -> Self {
        Self {
            shards: std::array::from_fn(|_| Mutex::default()),
            seed: std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), bytes),
            capacity: bytes / SHARDS,
            entries: AtomicUsize::new(0),
        }
    }

    fn hash(&self, key: &[u8]) -> u64 {
        xxhash_rust::xxh3::xxh3_64_with_seed(key, self.seed)
    }

    fn shard(&self, hash: u64) -> &Mutex<Shard<V>> {
        // The table uses the other end of the hash.
        let [shard, ..] = &self.shards;
        self.shards.get((hash >> 32) as usize % SHARDS).unwrap_or(shard)
    }

    /// Entries that are kept.
    pub fn len(&self) -> usize {
        self.entries.load(Ordering::Relaxed)
    }

    /// What a key holds for a view of this time, if it is kept.
    #[inline]
    pub fn get(&self, key: &[u8], at: Timestamp) -> Option<Arc<[u8]>> {
        let hash = self.hash(key);
        let mut shard = self.shard(hash).lock();
        let place = shard.find(hash, key)?;
        let slot = shard.slots.get_mut(place).and_then(Option::as_mut)?;
        if slot.validity.holds_at(at) {
            slot.used = true;
            return Some(Arc::clone(&slot.value));
        }
        if slot.validity.is_over() {
            shard.remove(place);
            self.entries.fetch_sub(1, Ordering::Relaxed);
        }
        None
    }

    /// Whether an entry of this size is kept at all.
    pub fn has_room_for(&self, key_bytes: usize, value_bytes: usize) -> bool {
        value_bytes <= MAX_VALUE_BYTES && ENTRY_BYTES + key_bytes + value_bytes <= self.capacity
    }

    /// Keeps what a view has seen; to be called while no commit can be told, and none has changed it since. `gone` is told what
    /// made room for it.
    pub fn insert(&self, key: &[u8], value: &[u8], validity: V, mut gone: impl FnMut(&[u8], &V)) {
        if !self.has_room_for(key.len(), value.len()) {
            return;
        }
        let bytes = ENTRY_BYTES + key.len() + value.len();
        let hash = self.hash(key);
        let mut shard = self.shard(hash).lock();
        let before = shard.places.len();
        // An older view may have kept it for itself.
        if let Some(place) = shard.find(hash, key) {
            shard.remove(place);
        }
        let room = self.capacity - bytes;
        if shard.bytes > room {
            // A little more, so that the hand need not move for each.
            shard.shrink(room - room / 64, &mut gone);
        }
        let slot = Slot { hash, key: key.into(), value: value.into(), validity, used: false };
        shard.bytes += bytes;
        let Shard { places, slots, free, .. } = &mut *shard;
        let place = match free.pop() {
            Some(place) => {
                if let Some(empty) = slots.get_mut(place) {
                    *empty = Some(slot);
                }
                place
            }
            None => {
                slots.push(Some(slot));
                slots.len() - 1
            }
        };
        let hash_of = |place: &usize| slots.get(*place).and_then(Option::as_ref).map_or(0, |slot| slot.hash);
        places.insert_unique(hash, place, hash_of);
        self.count(before, places.len());
    }

    fn count(&self, before: usize, after: usize) {
        if after >= before {
            self.entries.fetch_add(after - before, Ordering::Relaxed);
        } else {
            self.entries.fetch_sub(before - after, Ordering::Relaxed);
        }
    }

    /// A commit changes a key.
    pub fn remove(&self, key: &[u8]) {
        let hash = self.hash(key);
        let mut shard = self.shard(hash).lock();
        let before = shard.places.len();
        if let Some(place) = shard.find(hash, key) {
            shard.remove(place);
        }
        self.count(before, shard.places.len());
    }

    /// A load may change any key from one to another, exclusive.
    pub fn remove_range(&self, from: &[u8], to: &[u8]) {
        for shard in &self.shards {
            let mut shard = shard.lock();
            let before = shard.places.len();
            let inside = |slot: &Option<Slot<V>>| slot.as_ref().is_some_and(|slot| *slot.key >= *from && *slot.key < *to);
            let places: Vec<usize> = shard.slots.iter().enumerate().filter(|(_, slot)| inside(slot)).map(|(place, _)| place).collect();
            places.into_iter().for_each(|place| drop(shard.remove(place)));
            self.count(before, shard.places.len());
        }
    }

    #[cfg(test)]
    fn bytes(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use std::collections::HashMap;
    use stoa_store::conformance::SplitMix;

    #[test]
    fn a_row_serves_views_from_its_own_on() {
        let cache = KeptRows::new(1 << 20);
        cache.insert(b"k", b"v", Timestamp(5), |_, _| ());
        assert_eq!(cache.get(b"k", Timestamp(5)).as_deref(), Some(&b"v"[..]));
        assert_eq!(cache.get(b"k", Timestamp(4)), None);
        cache.insert(b"k", b"w", Timestamp(7), |_, _| ());
        assert_eq!(cache.get(b"k", Timestamp(6)), None);
        assert_eq!(cache.get(b"k", Timestamp(7)).as_deref(), Some(&b"w"[..]));
        cache.remove(b"k");
        cache.remove(b"other");
        assert!(cache.get(b"k", Timestamp(9)).is_none() && cache.len() == 0 && cache.bytes() == 0);
        cache.insert(b"k", &vec![0; MAX_VALUE_BYTES + 1], Timestamp(1), |_, _| ());
        assert_eq!(cache.len(), 0);
    }

    #[test]
    fn it_does_as_a_map_does_within_its_bounds() {
        let (cache, mut model, mut random) = (KeptRows::new(64 << 10), HashMap::new(), SplitMix(3));
        let mut hits = 0;
        for round in 0..40_000u64 {
            let key = (random.below(1000) as u32).to_be_bytes();
            match random.below(12) {
                0 => {
                    cache.remove(&key);
                    model.remove(&key);
                }
                1 if round % 50 == 0 => {
                    let (from, to) = (random.below(1000) as u32, random.below(1000) as u32);
                    cache.remove_range(&from.to_be_bytes(), &to.to_be_bytes());
                    model.retain(|key, _| !(from..to).contains(&u32::from_be_bytes(*key)));
                }
                2..5 => {
                    let value = vec![round as u8; random.below(60) as usize];
                    cache.insert(&key, &value, Timestamp(1), |_, _| ());
                    model.insert(key, value);
                }
                _ => {
                    if let Some(value) = cache.get(&key, Timestamp(1)) {
                        hits += 1;
                        assert_eq!(Some(&*value), model.get(&key).map(Vec::as_slice), "of {key:?}");
                    }
                }
            }
            assert!(cache.bytes() <= 64 << 10 && cache.len() <= model.len());
        }
        assert!(hits > 2000, "{hits} reads found their row");
    }
}
