//! Owners of RocksDB's handles: the database, its column families, snapshots.
//!
//! The crate's handles borrow from the database. Here each carries an `Arc` of it instead, declared after the handle, so that
//! it is dropped after it: this is what every `unsafe` of this file rests on.

use crate::files::{Deletions, FileEntry};
use crate::iterator::IteratorPool;
use crate::log_marks::LogWriter;
use crate::log_recovery::LogFilter;
use crate::options::OptionClass;
use crate::space::Space;
use librocksdb_sys as ffi;
use parking_lot::Mutex;
use rocksdb::{AsColumnFamilyRef, AsRawPtr, BoundColumnFamily, DB, WriteBatch};
use std::ffi::{CStr, c_char};
use std::marker::PhantomData;
use std::path::PathBuf;
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;
use stoa_store::{Certainty, Durability, StoreError, StoreResult};

/// An open database.
pub(crate) struct Database {
    /// Before `db`, since they must be dropped before it.
    pub iterator_pool: IteratorPool,
    pub db: DB,
    pub path: PathBuf,
    pub log: Mutex<LogWriter>,
    pub space: Space,
    /// Behind `db`, which knows it.
    pub _filter: LogFilter,
}

impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Database").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Database {
    /// Writes a batch, from any thread: everything that goes through the log goes through here.
    pub fn write(&self, batch: WriteBatch, durability: Durability) -> StoreResult<()> {
        if batch.is_empty() {
            return Ok(());
        }
        self.log.lock().write(&self.db, batch, durability).map_err(write_error)
    }

    /// Whether nothing was written behind a snapshot.
    pub fn is_newest(&self, snapshot: &RocksSnapshot) -> bool {
        self.db.latest_sequence_number() == snapshot.sequence
    }
}

/// A RocksDB column family: which all families with equal options share.
pub(crate) struct ColumnFamily {
    pub handle: Arc<BoundColumnFamily<'static>>,
    /// RocksDB's number of it, as in the bytes of a write batch.
    pub number: u32,
    pub class: OptionClass,
    pub deletions: Deletions,
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
        Some(Self { handle, number, class, deletions: Deletions::default(), database: Arc::clone(database) })
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

    /// Approximate bytes of files alone.
    pub fn file_bytes(&self, start: &[u8], end: &[u8]) -> StoreResult<u64> {
        Ok(self.approximate_sizes_of(&[(start, end)], INCLUDE_FILES)?.into_iter().sum())
    }

    /// Its files of now that reach into a physical range.
    pub fn files(&self, start: &[u8], end: &[u8]) -> Vec<FileEntry> {
        let name = self.class.name();
        let mut files = Vec::new();
        // SAFETY: the database is alive; the list is alive until it is destroyed, and what it says of its files as long as it is.
        unsafe {
            let list = ffi::rocksdb_livefiles(self.database.db.as_raw_ptr());
            for i in 0..ffi::rocksdb_livefiles_count(list) {
                let text = |text: *const c_char| CStr::from_ptr(text).to_bytes();
                let key = |key: unsafe extern "C" fn(*const ffi::rocksdb_livefiles_t, i32, *mut usize) -> *const c_char| {
                    let mut length = 0;
                    let bytes = key(list, i, &raw mut length);
                    if length == 0 { &[][..] } else { std::slice::from_raw_parts(bytes.cast::<u8>(), length) }
                };
                let (smallest, largest) = (key(ffi::rocksdb_livefiles_smallestkey), key(ffi::rocksdb_livefiles_largestkey));
                if text(ffi::rocksdb_livefiles_column_family_name(list, i)) != name.as_bytes() || smallest >= end || largest < start {
                    continue;
                }
                let file = text(ffi::rocksdb_livefiles_name(list, i));
                let file = String::from_utf8_lossy(file.strip_prefix(b"/").unwrap_or(file)).into_owned();
                files.push(FileEntry {
                    path: self.database.path.join(file),
                    bytes: ffi::rocksdb_livefiles_size(list, i) as u64,
                    level: u32::try_from(ffi::rocksdb_livefiles_level(list, i)).unwrap_or_default(),
                    smallest: smallest.to_vec(),
                    largest: largest.to_vec(),
                    newest: ffi::rocksdb_livefiles_largest_seqno(list, i),
                });
            }
            ffi::rocksdb_livefiles_destroy(list);
        }
        files
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
            ffi::rocksdb_approximate_sizes_cf_with_flags(
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
            take_error(error, Certainty::NotDone)?;
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

/// RocksDB's own snapshot, with the options of point reads at it: made once, since making them costs as much as a part of a read.
pub(crate) struct RocksSnapshot {
    inner: NonNull<ffi::rocksdb_snapshot_t>,
    point_options: NonNull<ffi::rocksdb_readoptions_t>,
    sequence: u64,
    database: Arc<Database>,
}

// SAFETY: a snapshot and read options that nobody changes may be used by all threads.
unsafe impl Send for RocksSnapshot {}
// SAFETY: see above.
unsafe impl Sync for RocksSnapshot {}

impl std::fmt::Debug for RocksSnapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RocksSnapshot({})", self.sequence)
    }
}

impl Drop for RocksSnapshot {
    fn drop(&mut self) {
        // SAFETY: `database` is alive; what reads at the snapshot borrows from this, or says itself that it is kept.
        unsafe {
            ffi::rocksdb_readoptions_destroy(self.point_options.as_ptr());
            ffi::rocksdb_release_snapshot(self.database.db.as_raw_ptr(), self.inner.as_ptr());
        }
    }
}

impl RocksSnapshot {
    pub fn take(database: &Arc<Database>) -> Self {
        // SAFETY: the database is alive; the calls that create never give null.
        unsafe {
            let inner = ffi::rocksdb_create_snapshot(database.db.as_raw_ptr());
            let point_options = ffi::rocksdb_readoptions_create();
            ffi::rocksdb_readoptions_set_snapshot(point_options, inner);
            Self {
                sequence: ffi::rocksdb_snapshot_get_sequence_number(inner),
                inner: NonNull::new_unchecked(inner.cast_mut()),
                point_options: NonNull::new_unchecked(point_options),
                database: Arc::clone(database),
            }
        }
    }

    /// The newest that it sees.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    #[cfg(test)]
    pub fn database(&self) -> &Database {
        &self.database
    }

    pub fn as_ptr(&self) -> *const ffi::rocksdb_snapshot_t {
        self.inner.as_ptr()
    }

    /// The value of a physical key.
    pub fn get(&self, column_family: &ColumnFamily, key: &[u8]) -> StoreResult<Option<Value<'_>>> {
        let mut error = null_mut();
        // SAFETY: everything is alive; the key is read during the call; the error is freed where it is taken.
        unsafe {
            let (db, options, family) = (self.database.db.as_raw_ptr(), self.point_options.as_ptr(), column_family.handle.inner());
            let value = ffi::rocksdb_get_pinned_cf(db, options, family, key.as_ptr().cast(), key.len(), &raw mut error);
            take_error(error, Certainty::NotDone)?;
            Ok(Value::of(value))
        }
    }

    /// The values of physical keys, in their order. `sorted`: they ascend.
    pub fn get_many(&self, column_family: &ColumnFamily, keys: &[&[u8]], sorted: bool) -> StoreResult<Vec<Option<Value<'_>>>> {
        let starts: Vec<_> = keys.iter().map(|key| key.as_ptr().cast()).collect();
        let lengths: Vec<_> = keys.iter().map(|key| key.len()).collect();
        let mut values = vec![null_mut(); keys.len()];
        let mut errors = vec![null_mut(); keys.len()];
        // SAFETY: as in `get`; all four lists have as many entries as there are keys.
        unsafe {
            ffi::rocksdb_batched_multi_get_cf(
                self.database.db.as_raw_ptr(),
                self.point_options.as_ptr(),
                column_family.handle.inner(),
                keys.len(),
                starts.as_ptr(),
                lengths.as_ptr(),
                values.as_mut_ptr(),
                errors.as_mut_ptr(),
                sorted,
            );
            let values: Vec<_> = values.into_iter().map(|value| Value::of(value)).collect();
            let errors: Vec<_> = errors.into_iter().map(|error| take_error(error, Certainty::NotDone)).collect();
            errors.into_iter().collect::<StoreResult<()>>()?;
            Ok(values)
        }
    }
}

/// A value where RocksDB has it.
pub(crate) struct Value<'a> {
    inner: NonNull<ffi::rocksdb_pinnableslice_t>,
    _of: PhantomData<&'a RocksSnapshot>,
}

impl Value<'_> {
    /// # Safety
    /// It is nobody else's; null if there is none.
    unsafe fn of(value: *mut ffi::rocksdb_pinnableslice_t) -> Option<Self> {
        Some(Self { inner: NonNull::new(value)?, _of: PhantomData })
    }
}

impl std::ops::Deref for Value<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        let mut length = 0;
        // SAFETY: the value is alive, and its bytes as long as it is.
        unsafe {
            let start = ffi::rocksdb_pinnableslice_value(self.inner.as_ptr(), &raw mut length);
            if length == 0 { &[] } else { std::slice::from_raw_parts(start.cast(), length) }
        }
    }
}

impl Drop for Value<'_> {
    fn drop(&mut self) {
        // SAFETY: it is alive and nobody else's.
        unsafe { ffi::rocksdb_pinnableslice_destroy(self.inner.as_ptr()) }
    }
}

/// What a call of the C interface says of its failure; the message is freed.
///
/// # Safety
/// Null, or a message that the call has made.
pub(crate) unsafe fn take_error(error: *mut c_char, certainty: Certainty) -> StoreResult<()> {
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: the caller's.
    let message = unsafe {
        let message = CStr::from_ptr(error).to_string_lossy().into_owned();
        ffi::rocksdb_free(error.cast());
        message
    };
    Err(message_error(&message, certainty))
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
    // What failed to be synced may be in the log all the same.
    let is_certain = certainty == Certainty::NotDone || !lower.contains("sync");
    if is_certain && (lower.contains("no space left") || lower.contains("space limit")) {
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
        let of_a_sync = "IO error: No space left on device: While fdatasync: /x/000004.log";
        assert!(matches!(of(of_a_sync), StoreError::Io { certainty: Certainty::Unknown, .. }));
        assert!(matches!(message_error(of_a_sync, Certainty::NotDone), StoreError::DiskFull(_)));
        assert!(matches!(of("Corruption: block checksum mismatch: stored = 1"), StoreError::Corruption(_)));
        assert!(matches!(of("IO error: No such file or directory: While open a file: /x/000007.sst"), StoreError::Corruption(_)));
        assert!(matches!(of("IO error: Input/output error: x"), StoreError::Io { certainty: Certainty::Unknown, .. }));
    }
}
