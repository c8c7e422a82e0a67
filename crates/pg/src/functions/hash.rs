//! PostgreSQL's hash functions of texts and integers, with its values: Bob Jenkins's lookup3 (2006) as PostgreSQL seeds it.
//!
//! People name advisory locks by them (`pg_advisory_xact_lock(hashtext('job'))`) and deal work out, so the values must be the same everywhere.

use crate::args::{Int2, Int4, Int8, Text, strict1, strict2};
use crate::registry::Registry;
use crate::types::PgType as P;

/// The three words that bytes are mixed into.
struct Words(u32, u32, u32);

impl Words {
    fn of_length(len: usize) -> Self {
        let start = 0x9e37_79b9_u32.wrapping_add(len as u32).wrapping_add(3_923_095);
        Self(start, start, start)
    }

    fn seeded(len: usize, seed: u64) -> Self {
        let mut words = Self::of_length(len);
        if seed != 0 {
            words.add((seed >> 32) as u32, seed as u32, 0);
            words.mix();
        }
        words
    }

    fn add(&mut self, a: u32, b: u32, c: u32) {
        (self.0, self.1, self.2) = (self.0.wrapping_add(a), self.1.wrapping_add(b), self.2.wrapping_add(c));
    }

    fn mix(&mut self) {
        let (mut x, mut y, mut z) = (self.0, self.2, self.1);
        for bits in [4, 6, 8, 16, 19, 4] {
            x = x.wrapping_sub(y) ^ y.rotate_left(bits);
            y = y.wrapping_add(z);
            (x, y, z) = (z, x, y);
        }
        *self = Self(x, z, y);
    }

    fn finish(&mut self) {
        let (mut x, mut y, mut z) = (self.2, self.1, self.0);
        for bits in [14, 11, 25, 16, 4, 14, 24] {
            x = (x ^ y).wrapping_sub(y.rotate_left(bits));
            (x, y, z) = (z, x, y);
        }
        // The last step was of the third word.
        *self = Self(x, z, y);
    }

    fn bytes(mut self, bytes: &[u8]) -> Self {
        let word = |four: &[u8]| four.iter().rev().fold(0_u32, |word, byte| word << 8 | u32::from(*byte));
        let mut blocks = bytes.chunks_exact(12);
        for block in &mut blocks {
            self.add(word(&block[..4]), word(&block[4..8]), word(&block[8..]));
            self.mix();
        }
        // The lowest byte of the last word is the length's.
        let mut rest = [0; 12];
        rest[..blocks.remainder().len()].copy_from_slice(blocks.remainder());
        self.add(word(&rest[..4]), word(&rest[4..8]), word(&rest[8..11]) << 8);
        self.finish();
        self
    }

    fn number(mut self, number: u32) -> Self {
        self.add(number, 0, 0);
        self.finish();
        self
    }

    fn short(&self) -> i32 {
        self.2 as i32
    }

    fn long(&self) -> i64 {
        (u64::from(self.1) << 32 | u64::from(self.2)) as i64
    }
}

/// What numbers that are equal have in common, whatever their types.
fn folded(n: i64) -> u32 {
    let high = (n >> 32) as u32;
    n as u32 ^ if n >= 0 { high } else { !high }
}

/// Registers the entries of this file.
pub fn register(r: &mut Registry) {
    const SHORT: &str = "hash";
    const LONG: &str = "64-bit hash, of a seed";
    r.scalar(
        "hashtext",
        &[P::Text],
        P::Int4,
        strict1::<Text, Int4>(|_, s| Ok(Words::of_length(s.len()).bytes(s.as_bytes()).short())),
        SHORT,
    );
    r.scalar(
        "hashtextextended",
        &[P::Text, P::Int8],
        P::Int8,
        strict2::<Text, Int8, Int8>(|_, s, seed| Ok(Words::seeded(s.len(), seed as u64).bytes(s.as_bytes()).long())),
        LONG,
    );
    let number = |n: i64| Words::of_length(4).number(folded(n)).short();
    let seeded = |n: i64, seed: i64| Words::seeded(4, seed as u64).number(folded(n)).long();
    r.scalar("hashint2", &[P::Int2], P::Int4, strict1::<Int2, Int4>(move |_, n| Ok(number(n.into()))), SHORT);
    r.scalar("hashint4", &[P::Int4], P::Int4, strict1::<Int4, Int4>(move |_, n| Ok(number(n.into()))), SHORT);
    r.scalar("hashint8", &[P::Int8], P::Int4, strict1::<Int8, Int4>(move |_, n| Ok(number(n))), SHORT);
    r.scalar(
        "hashint2extended",
        &[P::Int2, P::Int8],
        P::Int8,
        strict2::<Int2, Int8, Int8>(move |_, n, seed| Ok(seeded(n.into(), seed))),
        LONG,
    );
    r.scalar(
        "hashint4extended",
        &[P::Int4, P::Int8],
        P::Int8,
        strict2::<Int4, Int8, Int8>(move |_, n, seed| Ok(seeded(n.into(), seed))),
        LONG,
    );
    r.scalar("hashint8extended", &[P::Int8, P::Int8], P::Int8, strict2::<Int8, Int8, Int8>(move |_, n, seed| Ok(seeded(n, seed))), LONG);
}
