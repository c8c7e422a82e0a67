//! Salt: one leading byte that spreads neighbouring keys over buckets.
//!
//! Invariant: the hash is part of the format: XXH3, 64 bits, seed 0, over the encoded salt columns (without the salt byte),
//! modulo the number of buckets. A table's descriptor keeps the number; it never changes.

/// How many buckets a table is salted into: 1 to 256.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SaltBuckets(u16);

impl SaltBuckets {
    /// `None` outside 1 to 256.
    #[must_use]
    pub fn new(count: u16) -> Option<Self> {
        (1..=256).contains(&count).then_some(Self(count))
    }

    /// How many there are.
    #[must_use]
    pub fn count(self) -> u16 {
        self.0
    }

    /// Every bucket's byte, ascending: what a scan fans out over.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = u8> {
        // The last bucket of 256 is 255: the cast keeps every bucket.
        (0..self.0).map(|bucket| bucket as u8)
    }
}

/// The hash of the format: XXH3, 64 bits, seed 0.
#[must_use]
#[inline]
pub fn hash(bytes: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(bytes)
}

/// The bucket of a row whose salt columns are encoded in `bytes`.
#[must_use]
#[inline]
pub fn salt(buckets: SaltBuckets, bytes: &[u8]) -> u8 {
    (hash(bytes) % u64::from(buckets.0)) as u8
}
