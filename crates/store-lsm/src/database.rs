//! Owners of RocksDB's handles: the database, its column families, snapshots.
//!
//! The crate's handles borrow from the database. Here each carries an `Arc` of it instead, declared after the handle, so that
//! it is dropped after it: this is what every `unsafe` of this file rests on.

use crate::options::OptionClass;
use rocksdb::{AsColumnFamilyRef, AsRawPtr, BoundColumnFamily, DB, DBRawIterator, ReadOptions, SnapshotWithThreadMode, WriteBatch};
use std::sync::Arc;
use stoa_store::{Certainty, StoreError, StoreResult};

/// An open database.
pub(crate) struct Database {
    pub db: DB,
    pub path: std::path::PathBuf,
}

impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Database").field("path", &self.path).finish_non_exhaustive()
    }
}

/// A RocksDB column family: the shared home of all families with equal options.
pub(crate) struct ColumnFamily {
    pub handle: Arc<BoundColumnFamily<'static>>,
    /// RocksDB's number of it, as in the bytes of a write batch.
    pub number: u32,
    pub class: OptionClass,
    database: Arc<Database>,
}

impl std::fmt::Debug for ColumnFamily {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.class.name())
    }
}

impl ColumnFamily {
    /// `None` if the database has none of this name.
    pub fn open(database: &Arc<Database>, class: OptionClass) -> Option<Self> {
        let handle = database.db.cf_handle(&class.name())?;
        // SAFETY: only the lifetime changes; `database` below keeps the database alive longer than the handle.
        let handle = unsafe { std::mem::transmute::<Arc<BoundColumnFamily<'_>>, Arc<BoundColumnFamily<'static>>>(handle) };
        let number = batch_number(&handle);
        Some(Self { handle, number, class, database: Arc::clone(database) })
    }

    /// An iterator that must not outlive `self`'s database; see [`OwnedIterator`].
    pub fn iterator(&self, options: ReadOptions) -> OwnedIterator {
        let inner = self.database.db.raw_iterator_cf_opt(&self.handle, options);
        // SAFETY: only the lifetime changes; `_database` keeps the database alive longer than the iterator.
        let inner = unsafe { std::mem::transmute::<DBRawIterator<'_>, DBRawIterator<'static>>(inner) };
        OwnedIterator { inner, part: None, _database: Arc::clone(&self.database) }
    }

    pub fn database(&self) -> &Arc<Database> {
        &self.database
    }

    /// Bytes of blocks in its files for a byte of keys and values; `None` if there are no files.
    pub fn compression_ratio(&self) -> Option<f64> {
        let text = self.database.db.property_value_cf(&self.handle, rocksdb::properties::AGGREGATED_TABLE_PROPERTIES).ok()??;
        let field = |name: &str| {
            let value = text.split(';').find_map(|part| part.trim().strip_prefix(name)?.trim_start().strip_prefix('='))?;
            value.trim().parse::<f64>().ok()
        };
        let raw = field("raw key size")? + field("raw value size")?;
        (raw > 0.0).then_some(field("data block size")? / raw)
    }

    /// Approximate bytes in each physical range: files as they are on disk, and what is not yet flushed.
    pub fn approximate_sizes(&self, ranges: &[(&[u8], &[u8])]) -> StoreResult<Vec<RangeSize>> {
        let files = self.approximate_sizes_of(ranges, INCLUDE_FILES)?;
        let memory = self.approximate_sizes_of(ranges, INCLUDE_MEMTABLES)?;
        Ok(files.into_iter().zip(memory).map(|(file_bytes, memory_bytes)| RangeSize { file_bytes, memory_bytes }).collect())
    }

    /// Bytes in files and in memory.
    pub fn approximate_bytes(&self, start: &[u8], end: &[u8]) -> StoreResult<u64> {
        Ok(self.approximate_sizes_of(&[(start, end)], INCLUDE_FILES | INCLUDE_MEMTABLES)?.into_iter().sum())
    }

    fn approximate_sizes_of(&self, ranges: &[(&[u8], &[u8])], flags: u8) -> StoreResult<Vec<u64>> {
        let starts: Vec<_> = ranges.iter().map(|(start, _)| start.as_ptr().cast()).collect();
        let start_lens: Vec<_> = ranges.iter().map(|(start, _)| start.len()).collect();
        let ends: Vec<_> = ranges.iter().map(|(_, end)| end.as_ptr().cast()).collect();
        let end_lens: Vec<_> = ranges.iter().map(|(_, end)| end.len()).collect();
        let mut sizes = vec![0u64; ranges.len()];
        let mut error = std::ptr::null_mut();
        let count = i32::try_from(ranges.len()).map_err(|_| StoreError::Invalid("too many ranges".into()))?;
        // SAFETY: the pointers are of live slices with the lengths that go with them, as many as `count`; the database and the
        // column family are alive; `error` is freed below.
        unsafe {
            librocksdb_sys::rocksdb_approximate_sizes_cf_with_flags(
                self.database.db.as_raw_ptr(),
                self.handle.inner(),
                count,
                starts.as_ptr(),
                start_lens.as_ptr(),
                ends.as_ptr(),
                end_lens.as_ptr(),
                flags,
                sizes.as_mut_ptr(),
                &raw mut error,
            );
            if !error.is_null() {
                let message = std::ffi::CStr::from_ptr(error).to_string_lossy().into_owned();
                librocksdb_sys::rocksdb_free(error.cast());
                return Err(message_error(&message, Certainty::NotDone));
            }
        }
        Ok(sizes)
    }
}

const INCLUDE_MEMTABLES: u8 = 1;
const INCLUDE_FILES: u8 = 2;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct RangeSize {
    pub file_bytes: u64,
    pub memory_bytes: u64,
}

/// How a write batch names a column family: read from a batch, since the crate does not tell.
fn batch_number(handle: &Arc<BoundColumnFamily<'static>>) -> u32 {
    let mut batch = WriteBatch::default();
    batch.put_cf(handle, [], []);
    let record = batch.data().get(12..).unwrap_or_default();
    let Some((5, digits)) = record.split_first() else { return 0 };
    let mut number = 0;
    for (i, digit) in digits.iter().take(5).enumerate() {
        number |= u32::from(digit & 0x7f) << (7 * i);
        if digit & 0x80 == 0 {
            break;
        }
    }
    number
}

/// An iterator that keeps its database open.
pub(crate) struct OwnedIterator {
    pub inner: DBRawIterator<'static>,
    /// Where it ends, on either side, short of the bounds that it was made with.
    pub part: Option<(Vec<u8>, Vec<u8>)>,
    _database: Arc<Database>,
}

impl OwnedIterator {
    /// Whether it stands on an entry; an error if it stopped for one.
    #[inline]
    pub fn check(&self) -> StoreResult<bool> {
        if let Some(key) = self.inner.key() {
            return Ok(self.reaches(key));
        }
        self.inner.status().map_err(read_error)?;
        Ok(false)
    }

    /// Whether a key lies in the part that is read.
    #[inline]
    pub fn reaches(&self, key: &[u8]) -> bool {
        self.part.as_ref().is_none_or(|(lower, upper)| key >= lower.as_slice() && key < upper.as_slice())
    }
}

/// RocksDB's own snapshot, with read options that use it.
pub(crate) struct RocksSnapshot {
    /// For point reads: made once, since making one costs as much as a part of a read.
    pub point_options: ReadOptions,
    inner: SnapshotWithThreadMode<'static, DB>,
    _database: Arc<Database>,
}

impl std::fmt::Debug for RocksSnapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RocksSnapshot({})", self.inner.sequence_number())
    }
}

impl RocksSnapshot {
    pub fn take(database: &Arc<Database>) -> Self {
        let inner = database.db.snapshot();
        // SAFETY: only the lifetime changes; `_database` keeps the database alive longer than the snapshot.
        let inner = unsafe { std::mem::transmute::<SnapshotWithThreadMode<'_, DB>, SnapshotWithThreadMode<'static, DB>>(inner) };
        let mut point_options = ReadOptions::default();
        point_options.set_snapshot(&inner);
        Self { point_options, inner, _database: Arc::clone(database) }
    }

    /// Fresh options for an iterator at this snapshot.
    pub fn iterator_options(&self) -> ReadOptions {
        let mut options = ReadOptions::default();
        options.set_snapshot(&self.inner);
        options
    }
}

/// An error of a read: nothing happened.
pub(crate) fn read_error(error: rocksdb::Error) -> StoreError {
    message_error(error.as_ref(), Certainty::NotDone)
}

/// An error of a write: unless it is plain that the disk was full, its bytes may have reached the log.
pub(crate) fn write_error(error: rocksdb::Error) -> StoreError {
    message_error(error.as_ref(), Certainty::Unknown)
}

/// Sorts RocksDB's messages into the contract's errors.
pub(crate) fn message_error(message: &str, certainty: Certainty) -> StoreError {
    let lower = message.to_ascii_lowercase();
    if lower.contains("no space left") || lower.contains("space limit") {
        StoreError::DiskFull(message.into())
    } else if lower.starts_with("corruption") || (lower.contains("no such file") && (lower.contains(".sst") || lower.contains(".blob"))) {
        StoreError::Corruption(message.into())
    } else {
        StoreError::Io { message: message.into(), certainty }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn messages_become_errors() {
        let of = |message: &str| message_error(message, Certainty::Unknown);
        assert!(matches!(of("IO error: No space left on device: While appending to file: /x/000004.log"), StoreError::DiskFull(_)));
        assert!(matches!(of("Corruption: block checksum mismatch: stored = 1"), StoreError::Corruption(_)));
        assert!(matches!(of("IO error: No such file or directory: While open a file: /x/000007.sst"), StoreError::Corruption(_)));
        assert!(matches!(of("IO error: Input/output error: x"), StoreError::Io { certainty: Certainty::Unknown, .. }));
    }
}
