//! A run: files of one family that lie one behind the other in the order of their keys, as a level of RocksDB's tree has them, read
//! as one sequence of the newest visible entries.

use super::table_file::{Stretch, TableFile, entry_head};
use std::cmp::Ordering;
use std::ops::Range;
use std::path::PathBuf;
use stoa_store::StoreResult;

/// Bytes read at once where a reading begins, doubled with every further reading up to the second.
const FIRST_AHEAD_BYTES: usize = 64 << 10;
const MOST_AHEAD_BYTES: usize = 1 << 20;
/// Behind a key: its sequence number and what kind of entry it is.
const TAG_BYTES: usize = 8;
const DELETION: u8 = 0;
const PUT: u8 = 1;

/// A file as RocksDB's version has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileEntry {
    pub path: PathBuf,
    pub bytes: u64,
    pub level: u32,
    /// Keys of the first and the last entry.
    pub smallest: Vec<u8>,
    pub largest: Vec<u8>,
    pub newest: u64,
}

/// A run, standing on an entry or at its end.
pub(super) struct Run {
    files: Vec<FileEntry>,
    /// The file that is open, and its number.
    open: Option<TableFile>,
    file: usize,
    next_block: usize,
    stretch: Stretch,
    ahead: usize,
    block: Vec<u8>,
    /// The next entry in the block, and where its entries end.
    at: usize,
    end: usize,
    /// Whether keys of the block may lie at or behind `upper`.
    last_block: bool,
    /// With the tag.
    key: Vec<u8>,
    value: Range<usize>,
    deletion: bool,
    /// Whether an entry of this key was shown: older ones are not.
    shown: bool,
    live: bool,
    /// The newest sequence number that is visible, and the one of all entries of the file, if it was ingested.
    sequence: u64,
    of_file: Option<u64>,
    upper: Vec<u8>,
}

/// Why a run can't be read here.
pub(super) enum Opened {
    Run(Run),
    /// A file is to be read by RocksDB.
    Foreign,
}

impl Run {
    /// `files`: not empty, in the order of their keys, with no key in common. All are opened once, for a scan that has begun can't be
    /// left to RocksDB any more; but only the one that is read stays open.
    pub fn open(files: Vec<FileEntry>, sequence: u64, upper: &[u8]) -> StoreResult<Opened> {
        for file in &files {
            if TableFile::open(file.path.clone(), file.bytes)?.is_none() {
                return Ok(Opened::Foreign);
            }
        }
        Ok(Opened::Run(Self {
            files,
            open: None,
            file: 0,
            next_block: 0,
            stretch: Stretch::default(),
            ahead: FIRST_AHEAD_BYTES,
            block: Vec::new(),
            at: 0,
            end: 0,
            last_block: false,
            key: Vec::new(),
            value: 0..0,
            deletion: false,
            shown: false,
            live: false,
            sequence,
            of_file: None,
            upper: upper.to_vec(),
        }))
    }

    /// The key on which it stands.
    #[inline]
    pub fn key(&self) -> Option<&[u8]> {
        if self.live { self.key.get(..self.key.len() - TAG_BYTES) } else { None }
    }

    #[inline]
    pub fn value(&self) -> &[u8] {
        self.block.get(self.value.clone()).unwrap_or_default()
    }

    pub fn is_deletion(&self) -> bool {
        self.deletion
    }

    /// To the first entry at or behind a key.
    pub fn seek(&mut self, key: &[u8]) -> StoreResult<()> {
        let file = self.files.partition_point(|file| file.largest.as_slice() < key);
        self.live = false;
        if file == self.files.len() {
            return Ok(());
        }
        if file != self.file || self.open.is_none() {
            self.enter(file)?;
        }
        self.next_block = self.open.as_ref().map_or(0, |open| open.block_of(key));
        (self.at, self.end) = (0, 0);
        self.key.clear();
        self.ahead = FIRST_AHEAD_BYTES;
        self.next()?;
        while self.key().is_some_and(|here| here < key) {
            self.next()?;
        }
        Ok(())
    }

    /// Hands over entries from the one on which it stands, up to a deletion or the first that is not before `bound`, as long as `each` says
    /// so; whether it was `each` that ended it. It then stands on the next one.
    #[inline]
    pub fn hand_over(&mut self, bound: Option<&[u8]>, each: &mut impl FnMut(&[u8], &[u8]) -> StoreResult<bool>) -> StoreResult<bool> {
        // Of a block whose keys are all before the bound, none is compared.
        let (mut place, mut clear) = (None, bound.is_none());
        while let Some(key) = self.key().filter(|_| !self.deletion) {
            if let Some(bound) = bound {
                if place != Some((self.file, self.next_block)) {
                    place = Some((self.file, self.next_block));
                    let last = self.next_block.checked_sub(1).zip(self.open.as_ref()).map(|(block, open)| open.separator(block));
                    clear = last.is_some_and(|last| last < bound);
                }
                if !clear && key >= bound {
                    break;
                }
            }
            let goes_on = each(key, self.value())?;
            self.next()?;
            if !goes_on {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn enter(&mut self, number: usize) -> StoreResult<()> {
        self.open = None;
        self.stretch.forget();
        self.next_block = 0;
        if let Some(file) = self.files.get(number) {
            let open = TableFile::open(file.path.clone(), file.bytes)?;
            let path = file.path.display();
            let open = open.ok_or_else(|| stoa_store::StoreError::Corruption(format!("{path} was replaced")))?;
            self.of_file = open.taken_in.then_some(file.newest);
            self.open = Some(open);
        }
        self.file = number;
        Ok(())
    }

    /// To the next key's newest visible entry.
    #[inline]
    pub fn next(&mut self) -> StoreResult<()> {
        loop {
            if self.at >= self.end && !self.next_block()? {
                self.live = false;
                return Ok(());
            }
            if self.read_entry().ok_or_else(|| self.damaged())? {
                if self.last_block && self.key.get(..self.key.len() - TAG_BYTES).is_none_or(|key| key >= self.upper.as_slice()) {
                    self.live = false;
                    // It has no more.
                    (self.at, self.end, self.file, self.open) = (0, 0, self.files.len(), None);
                    return Ok(());
                }
                self.live = true;
                return Ok(());
            }
        }
    }

    /// Reads the entry at `at`; whether it is to be shown. `None`: it can't be read.
    #[inline]
    fn read_entry(&mut self) -> Option<bool> {
        let head = entry_head(&self.block, self.at)?;
        let own = self.block.get(head.key..head.key.checked_add(head.own)?)?;
        let value = head.key + head.own;
        let behind = value.checked_add(head.value_bytes).filter(|behind| *behind <= self.end)?;
        let before = self.key.len();
        if head.shared > before || head.shared + head.own < TAG_BYTES {
            return None;
        }
        let length = head.shared + head.own - TAG_BYTES;
        // Keys share all that they can, except at restart points.
        let same = before == length + TAG_BYTES
            && if head.shared == 0 { own.get(..length) == self.key.get(..length) } else { head.shared >= length };
        self.key.truncate(head.shared);
        self.key.extend_from_slice(own);
        self.at = behind;
        let tag = u64::from_le_bytes(*self.key.last_chunk()?);
        let sequence = self.of_file.unwrap_or(tag >> 8);
        self.shown &= same;
        if self.shown || sequence > self.sequence {
            return Some(false);
        }
        self.deletion = match tag as u8 {
            PUT => false,
            DELETION => true,
            _ => return None,
        };
        self.value = value..behind;
        self.shown = true;
        Some(true)
    }

    /// Reads the next block with entries; whether there is one.
    #[cold]
    fn next_block(&mut self) -> StoreResult<bool> {
        loop {
            let Some(open) = &self.open else { return Ok(false) };
            if self.next_block < open.blocks() {
                let had = self.stretch.reads;
                self.end = open.block(self.next_block, self.ahead, &mut self.stretch, &mut self.block)?;
                if self.stretch.reads != had {
                    self.ahead = (2 * self.ahead).min(MOST_AHEAD_BYTES);
                }
                self.at = 0;
                self.last_block = open.separator(self.next_block) >= self.upper.as_slice();
                self.next_block += 1;
                if self.end > 0 {
                    return Ok(true);
                }
            } else if self.files.get(self.file + 1).is_some_and(|next| next.smallest < self.upper) {
                self.enter(self.file + 1)?;
            } else {
                return Ok(false);
            }
        }
    }

    #[cold]
    fn damaged(&self) -> stoa_store::StoreError {
        let damaged = |open: &TableFile| open.damaged("an entry can't be read");
        self.open.as_ref().map_or_else(|| stoa_store::StoreError::Corruption("an entry can't be read".into()), damaged)
    }
}

/// Runs of the files that reach into a range, those with newer entries first.
pub(super) fn runs_of(mut files: Vec<FileEntry>) -> Vec<Vec<FileEntry>> {
    let by_age = |a: &FileEntry, b: &FileEntry| match a.level.cmp(&b.level) {
        // Files of the first level overlap, those of others don't.
        Ordering::Equal if a.level == 0 => b.newest.cmp(&a.newest),
        Ordering::Equal => a.smallest.cmp(&b.smallest),
        other => other,
    };
    files.sort_by(by_age);
    let mut runs: Vec<Vec<FileEntry>> = Vec::new();
    for file in files {
        match runs.last_mut() {
            Some(run) if file.level > 0 && run.last().is_some_and(|last| last.level == file.level) => run.push(file),
            _ => runs.push(vec![file]),
        }
    }
    runs
}
