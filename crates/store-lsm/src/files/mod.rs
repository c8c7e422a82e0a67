//! Long scans read the table files themselves.
//!
//! A scan of a large part of a table spends most of its time in RocksDB's iterator: levels of virtual calls for each entry, and the
//! search of a block cache for each block. [`FileScan`] reads the same files with long reads of its own, checks and decompresses their
//! blocks, and merges runs of them with an iterator over what is not yet flushed. See `docs/decisions/0011-long-scans-read-files.md`.
//!
//! That it reads the files of one version: the iterator over memory pins the version of the moment in which it was made, and the list of
//! files is asked for before and behind that. Files are never changed and their names never used again, so with the same list on both
//! sides it is the list of the version that is pinned; with another one it is tried again.
//!
//! What an iterator over memory does not tell are deletions: they hide entries of files. So a storage whose deletions may not be
//! flushed is read by RocksDB ([`Deletions`]); if long scans meet some, the janitor flushes them.

mod run;
mod table_file;
#[cfg(test)]
mod tests;

use crate::database::{ColumnFamily, RocksSnapshot};
use crate::iterator::{IteratorOptions, OwnedIterator};
use crate::keys::Form;
use parking_lot::Mutex;
pub(crate) use run::FileEntry;
use run::{Opened, Run, runs_of};
use std::collections::HashMap;
use std::time::{Duration, Instant};
use stoa_store::{Compression, StoreError, StoreResult};

/// How often the list of files may have changed while it was looked at.
const TRIES: u32 = 3;
/// More runs than that are merged by RocksDB.
const MOST_RUNS: usize = 12;
/// Deletions are flushed for scans of so many times the bytes that are in memory, and not more often than that.
const FLUSHED_SHARE: u64 = 4;
const BETWEEN_FLUSHES: Duration = Duration::from_secs(10);

/// An iterator over what was not flushed (source 0) and runs of files (from 1 on), those with newer entries first; forward only.
pub(crate) struct FileScan {
    memory: OwnedIterator,
    runs: Vec<Run>,
    lower: Vec<u8>,
    /// Where the part ends that is read.
    end: Option<Vec<u8>>,
    /// The source that stands on the least key, and the one with the least key among the others.
    current: Option<usize>,
    next: Option<usize>,
    error: Option<StoreError>,
    /// Room for a key.
    bound: Vec<u8>,
}

impl FileScan {
    /// Opens a scan of a physical range; `None` if it is better read by RocksDB: it is short, or its files can't be read here.
    pub fn open(
        column_family: &ColumnFamily,
        storage: u32,
        snapshot: &RocksSnapshot,
        bounds: (Vec<u8>, Vec<u8>),
        at_least: u64,
    ) -> StoreResult<Option<Self>> {
        let readable = matches!(column_family.class.compression, Compression::None | Compression::Lz4) && !column_family.class.blob;
        if !readable || column_family.class.form != Form::Plain {
            return Ok(None);
        }
        let bytes = column_family.file_bytes(&bounds.0, &bounds.1)?;
        if bytes < at_least || column_family.has_deletions(storage, bytes)? {
            return Ok(None);
        }
        let (lower, upper) = bounds;
        for _ in 0..TRIES {
            let files = column_family.files(&lower, &upper);
            let options = IteratorOptions {
                snapshot: Some(snapshot),
                bounds: Some((lower.clone(), upper.clone())),
                memory_only: true,
                ..IteratorOptions::default()
            };
            let memory = OwnedIterator::new(column_family, options);
            if column_family.files(&lower, &upper) != files {
                continue;
            }
            let wanted = runs_of(files);
            if wanted.len() > MOST_RUNS {
                return Ok(None);
            }
            let mut runs = Vec::with_capacity(wanted.len());
            for files in wanted {
                match Run::open(files, snapshot.sequence(), &upper)? {
                    Opened::Run(run) => runs.push(run),
                    Opened::Foreign => return Ok(None),
                }
            }
            return Ok(Some(Self { memory, runs, lower, end: None, current: None, next: None, error: None, bound: Vec::new() }));
        }
        Ok(None)
    }

    pub fn seek_to_first(&mut self) {
        let lower = std::mem::take(&mut self.lower);
        self.seek(&lower);
        self.lower = lower;
    }

    /// Goes to a part, behind all that was read, at whose end it ends from now on.
    pub fn restrict_to(&mut self, lower: &[u8], end: Vec<u8>) {
        let standing = self.current.and_then(|current| self.key_of(current));
        // Otherwise it stands where the part begins: nothing of it was passed. Or there is no more.
        if self.end.is_none() || standing.is_some_and(|key| key < lower) {
            self.seek(lower);
        }
        self.end = Some(end);
    }

    /// To the first entry at or behind a key.
    fn seek(&mut self, key: &[u8]) {
        self.memory.seek(key);
        let result = self.runs.iter_mut().try_for_each(|run| run.seek(key)).and_then(|()| self.choose());
        self.settle(result);
    }

    pub fn next(&mut self) {
        let result = self.advance();
        self.settle(result);
    }

    /// Hands over entries from the one on which it stands, as long as `each` says so; then it stands on the next one. Whether there is one.
    #[inline]
    pub fn hand_over(&mut self, mut each: impl FnMut(&[u8], &[u8]) -> StoreResult<bool>) -> StoreResult<bool> {
        while let Some(current) = self.in_part() {
            let ended = match current.checked_sub(1) {
                None => {
                    let ended = !self.memory.item().map_or(Ok(true), |(key, value)| each(key, value))?;
                    self.step(current)?;
                    ended
                }
                Some(run) => {
                    let mut bound = std::mem::take(&mut self.bound);
                    bound.clear();
                    let other = self.next.and_then(|next| self.key_of(next));
                    let limit = other.into_iter().chain(self.end.as_deref()).min();
                    bound.extend_from_slice(limit.unwrap_or_default());
                    let limit = limit.is_some().then_some(bound.as_slice());
                    let ended = self.runs.get_mut(run).map_or(Ok(false), |run| run.hand_over(limit, &mut each))?;
                    self.bound = bound;
                    ended
                }
            };
            self.choose()?;
            if ended {
                break;
            }
        }
        self.check()
    }

    fn settle(&mut self, result: StoreResult<()>) {
        if let Err(error) = result {
            self.current = None;
            self.error = Some(error);
        }
    }

    #[inline]
    fn advance(&mut self) -> StoreResult<()> {
        let Some(current) = self.current else { return Ok(()) };
        self.step(current)?;
        let ahead = match (self.key_of(current), self.next) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(key), Some(next)) => self.key_of(next).is_none_or(|other| key < other),
        };
        if ahead && !self.is_deletion(current) { Ok(()) } else { self.choose() }
    }

    /// Puts `current` on the least key that is not deleted, passing over older entries of the same key.
    fn choose(&mut self) -> StoreResult<()> {
        loop {
            let (mut least, mut second): (Option<usize>, Option<usize>) = (None, None);
            for source in 0..=self.runs.len() {
                let Some(key) = self.key_of(source) else { continue };
                let before = |other: Option<usize>| other.and_then(|other| self.key_of(other)).is_none_or(|other| key < other);
                if before(least) {
                    (least, second) = (Some(source), least);
                } else if before(second) {
                    second = Some(source);
                }
            }
            (self.current, self.next) = (least, second);
            let Some(current) = least else { return Ok(()) };
            // Of equal keys the first source has the newest entry.
            if let Some(older) = second.filter(|other| self.key_of(*other) == self.key_of(current)) {
                self.step(older)?;
            } else if self.is_deletion(current) {
                self.step(current)?;
            } else {
                return Ok(());
            }
        }
    }

    fn step(&mut self, source: usize) -> StoreResult<()> {
        match source.checked_sub(1) {
            None => {
                self.memory.next();
                self.memory.check().map(|_| ())
            }
            Some(run) => self.runs.get_mut(run).map_or(Ok(()), Run::next),
        }
    }

    /// The source that stands on the least key, if that lies in the part.
    #[inline]
    fn in_part(&self) -> Option<usize> {
        let in_part = |current: &usize| self.end.as_deref().is_none_or(|end| self.key_of(*current).is_some_and(|key| key < end));
        self.current.filter(in_part)
    }

    #[inline]
    fn key_of(&self, source: usize) -> Option<&[u8]> {
        match source.checked_sub(1) {
            None => self.memory.key(),
            Some(run) => self.runs.get(run)?.key(),
        }
    }

    #[inline]
    fn is_deletion(&self, source: usize) -> bool {
        source.checked_sub(1).and_then(|run| self.runs.get(run)).is_some_and(Run::is_deletion)
    }

    #[inline]
    pub fn key(&self) -> Option<&[u8]> {
        self.key_of(self.current?)
    }

    /// Key and value.
    #[inline]
    pub fn item(&self) -> Option<(&[u8], &[u8])> {
        match self.current?.checked_sub(1) {
            None => self.memory.item(),
            Some(run) => self.runs.get(run).and_then(|run| Some((run.key()?, run.value()))),
        }
    }

    /// Whether it stands on an entry of its part; an error if it stopped for one.
    #[inline]
    pub fn check(&self) -> StoreResult<bool> {
        if self.current.is_some() {
            return Ok(self.in_part().is_some());
        }
        match &self.error {
            Some(error) => Err(error.clone()),
            None => self.memory.check(),
        }
    }
}

/// Where a column family has deletions that may not be flushed yet.
#[derive(Debug, Default)]
pub(crate) struct Deletions(Mutex<Noted>);

#[derive(Debug, Default)]
struct Noted {
    /// By storage, a sequence number at or behind its last one.
    last: HashMap<u32, u64>,
    /// The same of those that a log had of any storage when the store was opened.
    of_any: Option<u64>,
    /// Whether a scan would have gained by a flush since the last one.
    flush_wanted: bool,
    /// When the janitor has last flushed them.
    flushed_at: Option<Instant>,
}

impl Noted {
    fn concerns(&self, storage: u32) -> bool {
        self.of_any.is_some() || self.last.contains_key(&storage)
    }
}

impl ColumnFamily {
    /// Looks for those that the log had, before anything is written.
    pub fn find_deletions(&self) -> StoreResult<()> {
        let some = self.unflushed_deletions()? > 0;
        self.deletions.0.lock().of_any = some.then(|| self.database().db.latest_sequence_number());
        Ok(())
    }

    /// Notes that entries of a storage were deleted, before anyone can see it.
    pub fn deleted(&self, storage: u32) {
        let newest = self.database().db.latest_sequence_number();
        self.deletions.0.lock().last.insert(storage, newest);
    }

    /// Whether a storage has deletions that are not flushed: those that are visible to anyone who asks now. If a scan of so many bytes
    /// of files gains more by a flush than that costs, the janitor is asked for one.
    fn has_deletions(&self, storage: u32, bytes: u64) -> StoreResult<bool> {
        if !self.deletions.0.lock().concerns(storage) {
            return Ok(false);
        }
        let newest = self.database().db.latest_sequence_number();
        if self.unflushed_deletions()? > 0 {
            let memory = self.number("rocksdb.cur-size-all-mem-tables")?;
            self.deletions.0.lock().flush_wanted |= memory.saturating_mul(FLUSHED_SHARE) <= bytes;
            return Ok(true);
        }
        // What was noted since then may be of later ones.
        let mut noted = self.deletions.0.lock();
        noted.last.retain(|_, last| *last > newest);
        noted.of_any.take_if(|last| *last <= newest);
        Ok(noted.concerns(storage))
    }

    /// Flushes deletions that scans have met, now and then.
    pub fn flush_deletions(&self) -> StoreResult<()> {
        {
            let mut noted = self.deletions.0.lock();
            if !noted.flush_wanted || noted.flushed_at.is_some_and(|at| at.elapsed() < BETWEEN_FLUSHES) {
                return Ok(());
            }
            noted.flush_wanted = false;
            noted.flushed_at = Some(Instant::now());
        }
        self.database().db.flush_cf(&self.handle).map_err(crate::database::write_error)
    }

    fn unflushed_deletions(&self) -> StoreResult<u64> {
        Ok(self.number("rocksdb.num-deletes-active-mem-table")? + self.number("rocksdb.num-deletes-imm-mem-tables")?)
    }

    fn number(&self, property: &str) -> StoreResult<u64> {
        let number = self.database().db.property_int_value_cf(&self.handle, property).map_err(crate::database::read_error)?;
        number.ok_or_else(|| StoreError::Invalid(format!("RocksDB does not know {property}")))
    }
}
