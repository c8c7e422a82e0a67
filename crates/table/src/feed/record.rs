//! The bytes of feed records.
//!
//! ```text
//! key    table u32 be | at u64 be | number u64 be | chunk u32 be
//! cell   version u8 = 1 | count u32 le | count × (length u32 le | row key)
//! mark   00 00 00 00 | table u32 be | reader u32 be: an empty cell, written where a reader wants all before it to be durable
//! ```

use crate::row::KeyList;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_store::{TableId, Timestamp};

const VERSION: u8 = 1;
/// Bytes of keys from which a record is cut.
const CHUNK: usize = 256 << 10;

/// One record.
#[derive(Debug)]
pub struct Record {
    pub at: Timestamp,
    pub number: u64,
    pub chunk: u32,
    pub keys: KeyList,
}

/// The key of a record.
#[must_use]
pub fn key(table: TableId, at: Timestamp, number: u64, chunk: u32) -> Vec<u8> {
    let mut out = Vec::with_capacity(24);
    out.extend(table.0.to_be_bytes());
    out.extend(at.0.to_be_bytes());
    out.extend(number.to_be_bytes());
    out.extend(chunk.to_be_bytes());
    out
}

/// The key of a reader's mark.
#[must_use]
pub fn mark_key(table: TableId, reader: u32) -> Vec<u8> {
    let mut out = vec![0; 4];
    out.extend(table.0.to_be_bytes());
    out.extend(reader.to_be_bytes());
    out
}

/// Gives the records of a commit to `put`, and their number.
pub fn write(table: TableId, at: Timestamp, number: u64, keys: &KeyList, mut put: impl FnMut(&[u8], &[u8])) -> u32 {
    let mut chunk = 0;
    let mut count = 0u32;
    let mut cell = vec![VERSION, 0, 0, 0, 0];
    let mut flush = |cell: &mut Vec<u8>, count: &mut u32, chunk: &mut u32| {
        if let Some(place) = cell.get_mut(1..5) {
            place.copy_from_slice(&count.to_le_bytes());
        }
        put(&key(table, at, number, *chunk), cell);
        cell.truncate(5);
        *count = 0;
        *chunk += 1;
    };
    for row in keys.iter() {
        // Row keys have at most 64 KiB.
        cell.extend((row.len() as u32).to_le_bytes());
        cell.extend_from_slice(row);
        count += 1;
        if cell.len() >= CHUNK {
            flush(&mut cell, &mut count, &mut chunk);
        }
    }
    if count > 0 {
        flush(&mut cell, &mut count, &mut chunk);
    }
    chunk
}

/// Reads a record.
///
/// # Errors
/// XX001 for bytes that no version of the program writes.
pub fn read(key: &[u8], cell: &[u8]) -> PgResult<Record> {
    parse(key, cell).ok_or_else(|| PgError::new(SqlState::DATA_CORRUPTED, "a record of the change feed cannot be read"))
}

fn parse(key: &[u8], cell: &[u8]) -> Option<Record> {
    let at = Timestamp(u64::from_be_bytes(key.get(4..12)?.try_into().ok()?));
    let number = u64::from_be_bytes(key.get(12..20)?.try_into().ok()?);
    let chunk = u32::from_be_bytes(key.get(20..24)?.try_into().ok()?);
    let (version, rest) = cell.split_first()?;
    if *version != VERSION {
        return None;
    }
    let (count, mut rest) = rest.split_first_chunk::<4>()?;
    let mut keys = KeyList::new();
    for _ in 0..u32::from_le_bytes(*count) {
        let (length, after) = rest.split_first_chunk::<4>()?;
        let length = u32::from_le_bytes(*length) as usize;
        keys.push(after.get(..length)?);
        rest = after.get(length..)?;
    }
    rest.is_empty().then_some(Record { at, number, chunk, keys })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn records_are_cut_and_read_again() {
        let mut keys = KeyList::new();
        for n in 0..5000u32 {
            keys.push(&vec![7; 100 + n as usize % 50]);
        }
        let mut written = Vec::new();
        let chunks = write(TableId(5), Timestamp(9), 3, &keys, |k, v| written.push((k.to_vec(), v.to_vec())));
        assert!(chunks > 1 && chunks as usize == written.len());
        let mut rows = 0;
        for (n, (key, cell)) in written.iter().enumerate() {
            let record = read(key, cell).unwrap();
            assert_eq!((record.at, record.number, record.chunk as usize), (Timestamp(9), 3, n));
            rows += record.keys.len();
            assert!(read(key, &cell[..cell.len() - 1]).is_err());
        }
        assert_eq!(rows, 5000);
        assert_eq!(write(TableId(5), Timestamp(9), 3, &KeyList::new(), |_, _| panic!()), 0);
    }
}
