//! Which records of RocksDB's log count when a store is opened.
//!
//! A power loss leaves any sectors of what was not synced: records may be missing with whole ones behind them, and RocksDB reads over a
//! gap of zeros as if nothing had been there. The marks of the records ([`crate::log_marks`]) say which one comes next, and which were on
//! stable storage. RocksDB shows each whole record to a filter before it takes it:
//!
//! - The first record that is missing ends its epoch: what follows in the epoch was not acknowledged as durable, and is left out.
//! - If a later record says that the missing one was synced, bytes were damaged on stable storage. The store is not opened.
//!
//! Damage must be known before RocksDB has made anything of the log. So the log is read twice: first by a handle that only reads, with all
//! that is whole in it, to be judged ([`check`]); then by RocksDB's point-in-time recovery, under the same filter.
//!
//! Zeros behind the last record, as versions before this one wrote ahead of it, are no records, and end no epoch.

use crate::log_marks::Mark;
use librocksdb_sys as ffi;
use parking_lot::Mutex;
use rocksdb::{AsRawPtr, DB, DBRecoveryMode, Options};
use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_uchar, c_ulonglong, c_void};
use std::ptr::NonNull;
use std::sync::Arc;
use stoa_store::{StoreError, StoreResult};

/// The decisions of a filter, as RocksDB numbers them.
const TAKE: c_int = ffi::rocksdb_wal_filter_continue_processing as c_int;
const LEAVE_OUT: c_int = ffi::rocksdb_wal_filter_ignore_current_record as c_int;

/// The sequence number of the first entry stands first in a batch.
fn sequence_of(record: &[u8]) -> u64 {
    record.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

#[derive(Debug, Default)]
struct Epoch {
    /// The number of its last record that was read.
    last: u64,
    /// The number of the first one that is missing.
    missing: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Beginning {
    epoch: u64,
    number: u64,
    sequence: u64,
    /// The newest record of the epoch of which it is known that it was synced.
    synced: u64,
}

/// What was read of the log so far.
#[derive(Debug, Default)]
pub(crate) struct Judgement {
    epochs: HashMap<u64, Epoch>,
    /// Whether it only judges, and nothing is to be taken.
    reads_only: bool,
    /// The newest sequence number that files hold: the log begins at the next one, or before.
    in_files: Option<u64>,
    any: bool,
    /// The first record of all, if its epoch is older.
    begins: Option<Beginning>,
    damaged: Option<String>,
}

impl Judgement {
    /// Whether a record counts.
    fn takes(&mut self, log: u64, record: &[u8]) -> bool {
        let first = !std::mem::replace(&mut self.any, true);
        // Programs that wrote no marks left nothing that could be said.
        let Some(mark) = Mark::at_end_of(record) else { return self.damaged.is_none() };
        if let Some(begins) = self.begins.as_mut().filter(|begins| begins.epoch == mark.epoch) {
            begins.synced = begins.synced.max(mark.synced);
        }
        let known = self.epochs.contains_key(&mark.epoch);
        let epoch = self.epochs.entry(mark.epoch).or_default();
        if known || mark.number == 1 {
            if mark.number > epoch.last + 1 {
                epoch.missing.get_or_insert(epoch.last + 1);
            }
        } else if !first {
            epoch.missing = Some(1);
        } else {
            // The log begins in the middle of an epoch; the records before it should be in files.
            let sequence = sequence_of(record);
            if self.in_files.is_some_and(|newest| sequence > newest.saturating_add(1)) {
                epoch.missing = Some(mark.number - 1);
            }
            self.begins = Some(Beginning { epoch: mark.epoch, number: mark.number, sequence, synced: mark.synced });
        }
        epoch.last = epoch.last.max(mark.number);
        if let Some(missing) = epoch.missing.filter(|missing| mark.synced >= *missing) {
            self.damaged
                .get_or_insert_with(|| format!("record {missing} before {} of {log:06}.log is missing and was synced", mark.number));
        }
        // In a log that is damaged all ends there, if it is opened nevertheless.
        epoch.missing.is_none() && self.damaged.is_none()
    }
}

/// A filter that RocksDB asks while it reads its log. It must live as long as the database that was opened with it.
pub(crate) struct LogFilter {
    raw: NonNull<ffi::rocksdb_walfilter_t>,
    state: Arc<Mutex<Judgement>>,
}

// SAFETY: RocksDB calls the filter while a database is opened, and asks for its name afterwards; the state is behind a lock.
unsafe impl Send for LogFilter {}
// SAFETY: see above.
unsafe impl Sync for LogFilter {}

impl std::fmt::Debug for LogFilter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LogFilter")
    }
}

impl Drop for LogFilter {
    fn drop(&mut self) {
        // SAFETY: made by `rocksdb_walfilter_create`, and no database has it any more.
        unsafe { ffi::rocksdb_walfilter_destroy(self.raw.as_ptr()) }
    }
}

impl LogFilter {
    /// `in_files`: what [`check`] has found.
    pub fn new(in_files: Option<u64>) -> Self {
        Self::of(Judgement { in_files, ..Judgement::default() })
    }

    fn of(judgement: Judgement) -> Self {
        let state = Arc::new(Mutex::new(judgement));
        let pointer = Arc::into_raw(Arc::clone(&state)).cast_mut().cast::<c_void>();
        // SAFETY: the state is given back by `release`, which RocksDB calls once; the call never gives null.
        let raw = unsafe { NonNull::new_unchecked(ffi::rocksdb_walfilter_create(pointer, Some(release), None, Some(found), Some(name))) };
        Self { raw, state }
    }

    /// Sets it for databases that are opened with these options.
    pub fn apply(&self, options: &mut Options) {
        // SAFETY: both are alive; the caller keeps the filter as long as the database.
        unsafe { ffi::rocksdb_options_set_wal_filter(options.as_raw_ptr(), self.raw.as_ptr()) }
    }
}

/// Reads the log with a handle that only reads; the newest sequence number that files hold.
///
/// # Errors
/// [`StoreError::Corruption`] if a record is missing that was synced; what `open` says.
pub(crate) fn check(mut options: Options, open: impl FnOnce(&Options) -> StoreResult<DB>) -> StoreResult<u64> {
    // Records behind a damaged one are read as well: they tell what it was.
    options.set_wal_recovery_mode(DBRecoveryMode::SkipAnyCorruptedRecord);
    let filter = LogFilter::of(Judgement { reads_only: true, ..Judgement::default() });
    filter.apply(&mut options);
    let db = open(&options)?;
    let in_files = db.latest_sequence_number();
    drop(db);
    let state = filter.state.lock();
    if let Some(what) = &state.damaged {
        return Err(StoreError::Corruption(format!("the log is damaged: {what}")));
    }
    if let Some(begins) = state.begins.filter(|begins| begins.sequence > in_files.saturating_add(1) && begins.synced + 1 >= begins.number) {
        let message =
            format!("the log is damaged: it begins at {}, files end at {in_files}, and what is between was synced", begins.sequence);
        return Err(StoreError::Corruption(message));
    }
    Ok(in_files)
}

unsafe extern "C" fn found(
    state: *mut c_void,
    log: c_ulonglong,
    _: *const c_char,
    _: usize,
    batch: *const ffi::rocksdb_writebatch_t,
    _: *mut ffi::rocksdb_writebatch_t,
    _: *mut c_uchar,
) -> c_int {
    let mut length = 0;
    // SAFETY: the state is the filter's own; the batch is alive during the call, and reading its bytes changes nothing.
    let (state, record) = unsafe {
        let bytes = ffi::rocksdb_writebatch_data(batch.cast_mut(), &raw mut length);
        let record = if bytes.is_null() { &[][..] } else { std::slice::from_raw_parts(bytes.cast::<u8>(), length) };
        (&*state.cast::<Mutex<Judgement>>(), record)
    };
    let mut state = state.lock();
    if state.takes(log, record) && !state.reads_only { TAKE } else { LEAVE_OUT }
}

unsafe extern "C" fn name(_: *mut c_void) -> *const c_char {
    c"stoa.log".as_ptr()
}

unsafe extern "C" fn release(state: *mut c_void) {
    // SAFETY: from `Arc::into_raw`, once.
    drop(unsafe { Arc::from_raw(state.cast_const().cast::<Mutex<Judgement>>()) });
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use rocksdb::WriteBatch;

    fn record(epoch: u64, number: u64, synced: u64) -> Vec<u8> {
        let mut batch = WriteBatch::default();
        batch.put(b"key", b"value");
        batch.put_log_data(Mark { epoch, number, synced }.encode());
        let mut bytes = batch.data().to_vec();
        bytes[..8].copy_from_slice(&(100 + number).to_le_bytes());
        bytes
    }

    /// Which of the records count, and whether they show damage.
    fn judged(judgement: Judgement, records: &[(u64, u64, u64)]) -> (Vec<bool>, bool) {
        let mut judgement = judgement;
        let taken = records.iter().map(|(epoch, number, synced)| judgement.takes(4, &record(*epoch, *number, *synced))).collect();
        (taken, judgement.damaged.is_some())
    }

    #[test]
    fn the_first_record_that_is_missing_ends_its_epoch() {
        let judged = |records: &[_]| judged(Judgement::default(), records);
        assert_eq!(judged(&[(9, 1, 0), (9, 2, 1), (9, 3, 2)]), (vec![true; 3], false));
        assert_eq!(judged(&[(9, 1, 0), (9, 2, 1), (9, 4, 2), (9, 5, 2)]), (vec![true, true, false, false], false));
        // What was written later, by a store that was opened or after a write that failed, counts.
        assert_eq!(judged(&[(9, 1, 0), (9, 3, 1), (10, 1, 0), (10, 2, 1)]), (vec![true, false, true, true], false));
        assert_eq!(judged(&[(9, 1, 0), (10, 2, 0), (10, 3, 0)]), (vec![true, false, false], false));
    }

    #[test]
    fn a_missing_record_that_was_synced_is_damage() {
        let judged = |records: &[_]| judged(Judgement::default(), records);
        assert_eq!(judged(&[(9, 1, 0), (9, 3, 2), (9, 4, 3)]), (vec![true, false, false], true));
        // A later record knows it.
        assert_eq!(judged(&[(9, 1, 0), (9, 3, 1), (9, 4, 3)]), (vec![true, false, false], true));
        assert_eq!(judged(&[(9, 1, 0), (10, 2, 1)]), (vec![true, false], true));
    }

    #[test]
    fn a_log_that_begins_in_the_middle_begins_where_files_end() {
        let after = |in_files| Judgement { in_files: Some(in_files), ..Judgement::default() };
        assert_eq!(judged(after(140), &[(9, 41, 40), (9, 42, 41)]), (vec![true, true], false));
        assert_eq!(judged(after(139), &[(9, 41, 30), (9, 42, 30)]), (vec![false, false], false));
        assert_eq!(judged(after(139), &[(9, 41, 40), (9, 42, 41)]), (vec![false, false], true));
    }
}
