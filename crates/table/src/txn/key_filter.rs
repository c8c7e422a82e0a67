//! A set of hashes that may say "yes" wrongly, never "no": two bytes a key.
//!
//! Blocks of 256 bits, one bit in each of eight words (Putze, Sanders, Singler: Cache-, Hash- and Space-Efficient Bloom Filters);
//! with sixteen bits a key about one question in a thousand is answered "yes" wrongly.

const BITS_A_KEY: usize = 16;
const SALTS: [u32; 8] = [0x47b6_137b, 0x4497_4d91, 0x8824_ad5b, 0xa2b7_289d, 0x7054_95c7, 0x2df1_424b, 0x9efc_4947, 0x5c6b_fb31];

/// See the module.
#[derive(Debug)]
pub struct KeyFilter {
    blocks: Vec<[u32; 8]>,
}

impl KeyFilter {
    /// For so many keys; more make it less exact.
    #[must_use]
    pub fn with_capacity(keys: usize) -> Self {
        Self { blocks: vec![[0; 8]; (keys * BITS_A_KEY).div_ceil(256).max(1)] }
    }

    fn block(&self, hash: u64) -> usize {
        (((hash >> 32) * self.blocks.len() as u64) >> 32) as usize
    }

    fn masks(hash: u64) -> [u32; 8] {
        SALTS.map(|salt| 1 << ((hash as u32).wrapping_mul(salt) >> 27))
    }

    pub fn insert(&mut self, hash: u64) {
        let at = self.block(hash);
        if let Some(block) = self.blocks.get_mut(at) {
            block.iter_mut().zip(Self::masks(hash)).for_each(|(word, mask)| *word |= mask);
        }
    }

    #[must_use]
    pub fn may_contain(&self, hash: u64) -> bool {
        self.blocks.get(self.block(hash)).is_some_and(|block| block.iter().zip(Self::masks(hash)).all(|(word, mask)| word & mask != 0))
    }

    #[must_use]
    pub fn bytes(&self) -> usize {
        self.blocks.len() * 32
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use xxhash_rust::xxh3::xxh3_64;

    #[test]
    fn what_was_inserted_is_found_and_little_else() {
        let mut filter = KeyFilter::with_capacity(10_000);
        (0..10_000u32).for_each(|n| filter.insert(xxh3_64(&n.to_be_bytes())));
        assert!((0..10_000u32).all(|n| filter.may_contain(xxh3_64(&n.to_be_bytes()))));
        let wrong = (10_000..110_000u32).filter(|n| filter.may_contain(xxh3_64(&n.to_be_bytes()))).count();
        assert!(wrong < 500, "{wrong} of 100000");
        assert_eq!(filter.bytes(), 20_000);
    }
}
