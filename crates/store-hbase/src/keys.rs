//! Row keys and qualifiers in HBase: ours, as they are, but for those of nothing but zeros, the empty one too, which get one more zero.
//!
//! HBase has no empty row. An empty qualifier is what a marker that hides a family bears: a cell with that qualifier would stand before
//! older markers, and reads go on to the next column from there, so that they would miss them.
//!
//! Invariant: the order of keys stays, and different keys stay different.

use bytes::Bytes;
use std::borrow::Cow;
use stoa_store::{KeyRange, Limits};

/// The longest row key: HBase takes 32,767 bytes, of which a deletion that a load has staged will take twelve.
const MAX_ROW_KEY_BYTES: usize = 32_752;
/// HBase refuses cells of 10 MiB with key, qualifier and all (`hbase.server.keyvalue.maxsize`).
const MAX_CELL_BYTES: usize = (10 << 20) - (64 << 10);
/// Longer ones leave no room in a cell.
const MAX_QUALIFIER_BYTES: usize = 16 << 10;

/// What HBase takes.
pub(crate) const LIMITS: Limits =
    Limits { row_key: MAX_ROW_KEY_BYTES, qualifier: MAX_QUALIFIER_BYTES, cell: MAX_CELL_BYTES, blob: MAX_CELL_BYTES };

/// A key as HBase has it.
pub(crate) fn to_hbase(key: &[u8]) -> Cow<'_, [u8]> {
    if key.iter().all(|b| *b == 0) { Cow::Owned(vec![0; key.len() + 1]) } else { Cow::Borrowed(key) }
}

/// A key as HBase has it, without a copy where that is the same.
pub(crate) fn bytes_to_hbase(key: &Bytes) -> Bytes {
    match to_hbase(key) {
        Cow::Borrowed(_) => key.clone(),
        Cow::Owned(key) => key.into(),
    }
}

/// The key that HBase has as this.
pub(crate) fn from_hbase(key: &[u8]) -> &[u8] {
    if key.iter().all(|b| *b == 0) { key.get(1..).unwrap_or_default() } else { key }
}

/// The first key of a range as HBase has it, and the one behind its last: empty for the end of the table.
pub(crate) fn range_to_hbase(range: &KeyRange) -> (Bytes, Bytes) {
    let start = Bytes::from(to_hbase(&range.start).into_owned());
    (start, range.end.as_ref().map_or_else(Bytes::new, |end| to_hbase(end).into_owned().into()))
}

/// The keys of a region, or of another range of HBase's keys, where nothing stands for no bound.
pub(crate) fn range_from_hbase(start: &[u8], end: &[u8]) -> KeyRange {
    KeyRange::new(from_hbase(start).to_vec(), (!end.is_empty()).then(|| from_hbase(end).to_vec()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn keys_keep_their_order_and_come_back() {
        let mut keys: Vec<Vec<u8>> = vec![vec![]];
        for len in 1..5u32 {
            for n in 0..3usize.pow(len) {
                keys.push((0..len).map(|digit| [0u8, 1, 0xff][n / 3usize.pow(digit) % 3]).collect());
            }
        }
        keys.sort();
        let stored: Vec<_> = keys.iter().map(|key| to_hbase(key).into_owned()).collect();
        assert!(stored.windows(2).all(|two| two[0] < two[1]) && stored.iter().all(|key| !key.is_empty()));
        assert!(keys.iter().zip(&stored).all(|(key, stored)| from_hbase(stored) == key));
        assert_eq!(range_to_hbase(&KeyRange::all()), (Bytes::from_static(b"\0"), Bytes::new()));
        assert_eq!(range_from_hbase(b"", b"m"), KeyRange::new(vec![], Some(b"m".to_vec())));
        assert_eq!(range_from_hbase(b"\0", b""), KeyRange::all());
    }
}
