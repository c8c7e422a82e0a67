//! Where a table is split so that its regions are alike: beginnings of keys, evenly apart in what their first part is written with.
//!
//! Invariant: points of a salted table are in each bucket, and each bucket begins a region.

use crate::catalog::{KeyForm, TableDescriptor};

/// What the first part of a key is written with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Alphabet {
    Bytes,
    /// `0` to `9` and `a` to `f`.
    Hex,
    /// `0` to `9`.
    Decimal,
}

impl Alphabet {
    /// The alphabet of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::Bytes, Self::Hex, Self::Decimal].into_iter().find(|alphabet| alphabet.name().eq_ignore_ascii_case(name))
    }

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Bytes => "BYTES",
            Self::Hex => "HEX",
            Self::Decimal => "DECIMAL",
        }
    }

    /// What the first part of a table's key is written with, where its type and form say so: texts may have any letters.
    #[must_use]
    pub fn of(table: &TableDescriptor) -> Option<Self> {
        let part = table.key.first()?;
        let is_text = table.column(part.column).is_some_and(|c| c.ty.ty.is_string());
        match part.form {
            KeyForm::Digits(_) => Some(Self::Decimal),
            KeyForm::Reversed if !is_text => Some(Self::Decimal),
            KeyForm::Hash(_) | KeyForm::Md5(_) | KeyForm::Unsigned(_) | KeyForm::Signed(_) => Some(Self::Bytes),
            _ if is_text => None,
            _ => Some(Self::Bytes),
        }
    }

    /// The beginning of the `n`-th of `of` pieces.
    fn point(self, n: u64, of: u64) -> Vec<u8> {
        let share = |space: u128| u64::try_from(u128::from(n) * space / u128::from(of)).unwrap_or(u64::MAX);
        // What ends with the least letter begins where it would without.
        let digits = |text: String| text.trim_end_matches('0').as_bytes().to_vec();
        match self {
            Self::Bytes => u32::try_from(share(1 << 32)).unwrap_or(u32::MAX).to_be_bytes().to_vec(),
            Self::Hex => digits(format!("{:08x}", share(1 << 32))),
            Self::Decimal => digits(format!("{:09}", share(1_000_000_000))),
        }
    }
}

/// The points that part a table, or each bucket of a salted one, into `pieces` alike.
#[must_use]
pub fn uniform(table: &TableDescriptor, alphabet: Alphabet, pieces: u32) -> Vec<Vec<u8>> {
    let descending = table.key.first().is_some_and(|part| part.descending);
    let mut points: Vec<Vec<u8>> = (1..u64::from(pieces)).map(|n| alphabet.point(n, u64::from(pieces))).collect();
    if descending && alphabet != Alphabet::Bytes {
        points.iter_mut().flatten().for_each(|byte| *byte = !*byte);
    }
    in_buckets(table, points)
}

/// Points of the key behind the salt in each bucket, in order.
#[must_use]
pub fn in_buckets(table: &TableDescriptor, points: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let mut out = match &table.salt {
        None => points,
        Some(salt) => {
            let buckets = (0..salt.buckets).filter_map(|bucket| u8::try_from(bucket).ok());
            let with = |bucket: u8| points.iter().map(move |point| [&[bucket], point.as_slice()].concat());
            buckets.flat_map(|bucket| with(bucket).chain((bucket > 0).then(|| vec![bucket]))).collect()
        }
    };
    out.sort();
    out.dedup();
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn hexadecimal_and_decimal_digits_part_evenly() {
        let points =
            |alphabet: Alphabet, of: u64| -> Vec<String> { (1..of).map(|n| String::from_utf8(alphabet.point(n, of)).unwrap()).collect() };
        assert_eq!(points(Alphabet::Hex, 4), ["4", "8", "c"]);
        assert_eq!(points(Alphabet::Decimal, 3), ["333333333", "666666666"]);
        assert_eq!(Alphabet::Bytes.point(1, 2), [0x80, 0, 0, 0]);
    }
}
