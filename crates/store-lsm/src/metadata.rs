//! What the store remembers of itself, in RocksDB's default column family.
//!
//! ```text
//! format            "stoa-lsm 1"
//! ceiling           u64: every timestamp that was ever given is below it
//! storage           u32: the next free storage id
//! table/ID          a table: see StoredTable::encode
//! purge/STORAGE     name of the column family: a dropped family whose entries are still to be removed
//! load/BEGIN        a bulk load: see StoredLoad::encode
//! ```
//!
//! Numbers are big-endian. A table's record is one entry, so each change of a schema is atomic.

use rocksdb::{DB, IteratorMode};
use std::time::Duration;
use stoa_store::{
    BloomFilter, Compression, FamilyId, FamilyOptions, FamilySchema, Layout, StoreError, StoreResult, TableId, TableSchema, Timestamp,
};

pub const FORMAT_KEY: &[u8] = b"format";
pub const FORMAT: &[u8] = b"stoa-lsm 1";
pub const CEILING_KEY: &[u8] = b"ceiling";
pub const NEXT_STORAGE_KEY: &[u8] = b"storage";
const TABLE: &[u8] = b"table/";
const PURGE: &[u8] = b"purge/";
const LOAD: &[u8] = b"load/";

/// A table and the storage id of each of its families, in the order of the schema.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredTable {
    pub schema: TableSchema,
    pub storages: Vec<u32>,
    /// Of each family the time from which on its past is known as its options say: an alteration kept less of what was before.
    pub since: Vec<Timestamp>,
    /// Of each family what was kept before VERSIONS grew.
    pub kept: Vec<Vec<Kept>>,
    /// Of each family the microsecond up to which cells had expired when its TTL became longer or was taken away: they stay so.
    pub expired_us: Vec<u64>,
}

/// What a family has of the past of before an alteration: of a cell the newest `versions` of the entries up to `until`, and maybe no others.
/// A list of them is in order of both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kept {
    pub until: Timestamp,
    pub versions: u32,
}

/// A bulk load: entries on disk carry `begin`, and read as if they had been committed at `finish`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredLoad {
    pub begin: Timestamp,
    pub table: TableId,
    pub finish: Timestamp,
    /// Files that may not have been ingested yet, with their column families; empty when the load is complete.
    pub pending: Vec<(String, String)>,
}

/// All that was found at open.
#[derive(Debug, Default)]
pub struct Metadata {
    pub fresh: bool,
    pub ceiling: Timestamp,
    pub next_storage: u32,
    pub tables: Vec<StoredTable>,
    pub purges: Vec<(u32, String)>,
    pub loads: Vec<StoredLoad>,
}

pub fn table_key(table: TableId) -> Vec<u8> {
    [TABLE, &table.0.to_be_bytes()].concat()
}

pub fn purge_key(storage: u32) -> Vec<u8> {
    [PURGE, &storage.to_be_bytes()].concat()
}

pub fn load_key(begin: Timestamp) -> Vec<u8> {
    [LOAD, &begin.0.to_be_bytes()].concat()
}

impl Metadata {
    /// Reads everything.
    ///
    /// # Errors
    /// [`StoreError::Corruption`]; [`StoreError::Invalid`] for a directory of another format.
    pub fn read(db: &DB) -> StoreResult<Self> {
        let mut out = Metadata { fresh: true, next_storage: 1, ..Metadata::default() };
        for entry in db.iterator(IteratorMode::Start) {
            let (key, value) = entry.map_err(crate::database::read_error)?;
            let damaged = || StoreError::Corruption(format!("metadata entry {:?} can't be read", String::from_utf8_lossy(&key)));
            out.fresh = false;
            if *key == *FORMAT_KEY {
                if *value != *FORMAT {
                    let (found, known) = (String::from_utf8_lossy(&value), String::from_utf8_lossy(FORMAT));
                    return Err(StoreError::Invalid(format!("the data directory has format \"{found}\", this program reads \"{known}\"")));
                }
            } else if *key == *CEILING_KEY {
                out.ceiling = Timestamp(u64::from_be_bytes((*value).try_into().map_err(|_| damaged())?));
            } else if *key == *NEXT_STORAGE_KEY {
                out.next_storage = u32::from_be_bytes((*value).try_into().map_err(|_| damaged())?);
            } else if let Some(id) = key.strip_prefix(TABLE) {
                let id = TableId(u32::from_be_bytes(id.try_into().map_err(|_| damaged())?));
                out.tables.push(StoredTable::decode(id, &value).ok_or_else(damaged)?);
            } else if let Some(storage) = key.strip_prefix(PURGE) {
                let storage = u32::from_be_bytes(storage.try_into().map_err(|_| damaged())?);
                out.purges.push((storage, String::from_utf8(value.into_vec()).map_err(|_| damaged())?));
            } else if let Some(begin) = key.strip_prefix(LOAD) {
                let begin = Timestamp(u64::from_be_bytes(begin.try_into().map_err(|_| damaged())?));
                out.loads.push(StoredLoad::decode(begin, &value).ok_or_else(damaged)?);
            } else {
                return Err(damaged());
            }
        }
        Ok(out)
    }
}

const RECORD_VERSION: u8 = 1;

impl StoredTable {
    /// Record version │ name │ u16 families, each: u16 id, u32 storage, name, layout, u32 versions, u32 min_versions,
    /// u64 TTL in µs (all ones: none), compression, bloom filter, u32 block size, flags │ u32 split points, each its bytes │ of each
    /// family the u64 time from which its past is known, if one of them is not 0 or something follows │ of each family a u8 number of
    /// [`Kept`]s, each: u64 until, u32 versions, if there are any or something follows │ of each family the u64 time up to which cells stay
    /// expired, if one of them is not 0. Names and bytes begin with a u32 length.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![RECORD_VERSION];
        push_bytes(&mut out, self.schema.name.as_bytes());
        out.extend_from_slice(&(self.schema.families.len() as u16).to_be_bytes());
        for (family, storage) in self.schema.families.iter().zip(&self.storages) {
            let o = &family.options;
            out.extend_from_slice(&family.id.0.to_be_bytes());
            out.extend_from_slice(&storage.to_be_bytes());
            push_bytes(&mut out, family.name.as_bytes());
            out.push(match o.layout {
                Layout::Packed => 0,
                Layout::Cells => 1,
            });
            out.extend_from_slice(&o.versions.to_be_bytes());
            out.extend_from_slice(&o.min_versions.to_be_bytes());
            let ttl_us = o.ttl.map_or(u64::MAX, |ttl| u64::try_from(ttl.as_micros()).unwrap_or(u64::MAX - 1));
            out.extend_from_slice(&ttl_us.to_be_bytes());
            out.push(match o.compression {
                Compression::None => 0,
                Compression::Snappy => 1,
                Compression::Lz4 => 2,
                Compression::Zstd => 3,
            });
            out.push(match o.bloom_filter {
                BloomFilter::None => 0,
                BloomFilter::Row => 1,
                BloomFilter::RowCol => 2,
            });
            out.extend_from_slice(&o.block_size.to_be_bytes());
            out.push(u8::from(o.block_cache) | u8::from(o.in_memory) << 1 | u8::from(o.blob) << 2);
        }
        out.extend_from_slice(&(self.schema.split_points.len() as u32).to_be_bytes());
        for point in &self.schema.split_points {
            push_bytes(&mut out, point);
        }
        let any_expired = self.expired_us.iter().any(|us| *us > 0);
        let any_kept = any_expired || self.kept.iter().any(|kept| !kept.is_empty());
        if any_kept || self.since.iter().any(|since| since.0 > 0) {
            self.since.iter().for_each(|since| out.extend_from_slice(&since.0.to_be_bytes()));
        }
        for kept in self.kept.iter().filter(|_| any_kept) {
            out.push(kept.len() as u8);
            for kept in kept {
                out.extend_from_slice(&kept.until.0.to_be_bytes());
                out.extend_from_slice(&kept.versions.to_be_bytes());
            }
        }
        if any_expired {
            self.expired_us.iter().for_each(|us| out.extend_from_slice(&us.to_be_bytes()));
        }
        out
    }

    /// `None` if the bytes are no such record.
    #[must_use]
    pub fn decode(id: TableId, bytes: &[u8]) -> Option<Self> {
        let mut input = Input(bytes);
        if input.u8()? != RECORD_VERSION {
            return None;
        }
        let name = input.string()?;
        let (mut families, mut storages) = (Vec::new(), Vec::new());
        for _ in 0..input.u16()? {
            let family = FamilyId(input.u16()?);
            storages.push(input.u32()?);
            let name = input.string()?;
            let layout = match input.u8()? {
                0 => Layout::Packed,
                1 => Layout::Cells,
                _ => return None,
            };
            let (versions, min_versions) = (input.u32()?, input.u32()?);
            let ttl = match input.u64()? {
                u64::MAX => None,
                us => Some(Duration::from_micros(us)),
            };
            let compression = match input.u8()? {
                0 => Compression::None,
                1 => Compression::Snappy,
                2 => Compression::Lz4,
                3 => Compression::Zstd,
                _ => return None,
            };
            let bloom_filter = match input.u8()? {
                0 => BloomFilter::None,
                1 => BloomFilter::Row,
                2 => BloomFilter::RowCol,
                _ => return None,
            };
            let block_size = input.u32()?;
            let flags = input.u8()?;
            let (block_cache, in_memory, blob) = (flags & 1 != 0, flags & 2 != 0, flags & 4 != 0);
            let options =
                FamilyOptions { layout, versions, min_versions, ttl, compression, bloom_filter, block_size, block_cache, in_memory, blob };
            families.push(FamilySchema { id: family, name, options });
        }
        let mut split_points = Vec::new();
        for _ in 0..input.u32()? {
            split_points.push(input.bytes()?.to_vec());
        }
        let mut since = vec![Timestamp::default(); families.len()];
        if !input.0.is_empty() {
            for since in &mut since {
                *since = Timestamp(input.u64()?);
            }
        }
        let mut kept = vec![Vec::new(); families.len()];
        if !input.0.is_empty() {
            for kept in &mut kept {
                for _ in 0..input.u8()? {
                    kept.push(Kept { until: Timestamp(input.u64()?), versions: input.u32()? });
                }
            }
        }
        let mut expired_us = vec![0; families.len()];
        if !input.0.is_empty() {
            for us in &mut expired_us {
                *us = input.u64()?;
            }
        }
        let schema = TableSchema { id, name, families, split_points };
        input.0.is_empty().then_some(Self { schema, storages, since, kept, expired_us })
    }
}

impl StoredLoad {
    /// Record version │ u32 table │ u64 finish │ u32 pending files, each: column family, file name.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![RECORD_VERSION];
        out.extend_from_slice(&self.table.0.to_be_bytes());
        out.extend_from_slice(&self.finish.0.to_be_bytes());
        out.extend_from_slice(&(self.pending.len() as u32).to_be_bytes());
        for (family, file) in &self.pending {
            push_bytes(&mut out, family.as_bytes());
            push_bytes(&mut out, file.as_bytes());
        }
        out
    }

    /// `None` if the bytes are no such record.
    #[must_use]
    pub fn decode(begin: Timestamp, bytes: &[u8]) -> Option<Self> {
        let mut input = Input(bytes);
        if input.u8()? != RECORD_VERSION {
            return None;
        }
        let table = TableId(input.u32()?);
        let finish = Timestamp(input.u64()?);
        let mut pending = Vec::new();
        for _ in 0..input.u32()? {
            pending.push((input.string()?, input.string()?));
        }
        input.0.is_empty().then_some(Self { begin, table, finish, pending })
    }
}

fn push_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
    out.extend_from_slice(bytes);
}

struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(head)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_be_bytes)
    }

    fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = self.u32()?;
        self.take(len as usize)
    }

    fn string(&mut self) -> Option<String> {
        String::from_utf8(self.bytes()?.to_vec()).ok()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn golden_bytes_of_a_table() {
        let options = FamilyOptions { versions: 3, min_versions: 1, ttl: Some(Duration::from_micros(7)), ..Default::default() };
        let mut table = StoredTable {
            schema: TableSchema {
                id: TableId(9),
                name: "t".into(),
                families: vec![FamilySchema { id: FamilyId(2), name: "f".into(), options }],
                split_points: vec![b"m".to_vec()],
            },
            storages: vec![5],
            since: vec![Timestamp::default()],
            kept: vec![vec![]],
            expired_us: vec![0],
        };
        let bytes = table.encode();
        let mut expected: Vec<u8> = [
            &[1, 0, 0, 0, 1, b't', 0, 1, 0, 2, 0, 0, 0, 5, 0, 0, 0, 1, b'f', 0, 0, 0, 0, 3, 0, 0, 0, 1][..],
            &[0, 0, 0, 0, 0, 0, 0, 7, 2, 1, 0, 0, 0x40, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, b'm'],
        ]
        .concat();
        assert_eq!(bytes, expected);
        assert_eq!(StoredTable::decode(TableId(9), &bytes).as_ref(), Some(&table));
        for cut in 0..bytes.len() {
            assert_eq!(StoredTable::decode(TableId(9), &bytes[..cut]), None);
        }
        table.since = vec![Timestamp(0x102)];
        expected.extend([0, 0, 0, 0, 0, 0, 1, 2]);
        assert_eq!(table.encode(), expected);
        assert_eq!(StoredTable::decode(TableId(9), &expected).as_ref(), Some(&table));
        let before = (table.clone(), expected.clone());
        table.kept = vec![vec![Kept { until: Timestamp(0x304), versions: 5 }]];
        expected.extend([1, 0, 0, 0, 0, 0, 0, 3, 4, 0, 0, 0, 5]);
        assert_eq!(table.encode(), expected);
        assert_eq!(StoredTable::decode(TableId(9), &expected).as_ref(), Some(&table));
        table.expired_us = vec![0x506];
        expected.extend([0, 0, 0, 0, 0, 0, 5, 6]);
        assert_eq!(table.encode(), expected);
        assert_eq!(StoredTable::decode(TableId(9), &expected), Some(table));
        let (mut table, mut expected) = before;
        table.expired_us = vec![0x506];
        expected.extend([0, 0, 0, 0, 0, 0, 0, 5, 6]);
        assert_eq!(table.encode(), expected);
        assert_eq!(StoredTable::decode(TableId(9), &expected), Some(table));
    }

    #[test]
    fn loads_come_back() {
        let load =
            StoredLoad { begin: Timestamp(1), table: TableId(2), finish: Timestamp(3), pending: vec![("plain".into(), "1-5.sst".into())] };
        assert_eq!(StoredLoad::decode(Timestamp(1), &load.encode()), Some(load));
    }
}
