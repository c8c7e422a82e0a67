//! The end of a log that was not closed: behind its last record lie zeros ([`crate::log_room`]), which are taken away before RocksDB
//! reads it, with a record that a crash has torn.
//!
//! ```text
//! log      blocks of 32 KiB, each of which begins with a fragment
//! fragment crc32c u32, masked │ length u16 │ type u8 │ bytes of a record       all little-endian; the sum is over type and bytes
//! block    fragments │ fewer than 7 bytes of zeros where no other one fits
//! ```
//!
//! RocksDB takes a log for torn if its file ends within a fragment. Here the file goes on, so what is torn must be told from what is
//! damaged. A fragment that is not whole is
//! - torn, if no whole one follows it: a crash came before the sync that would have brought it to the disk;
//! - torn as well, if a page that it should lie in, before the next whole one, is empty to its end: pages of one sync reach the disk in
//!   any order, and one that never came still has the zeros from before;
//! - damage otherwise: then the file is left as it is, for RocksDB to refuse it.
//!
//! What is cut off was never acknowledged as durable. Invariant: a file without zeros at its end is not touched.

use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Result};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

const BLOCK: usize = 32 << 10;
const HEADER: usize = 7;
/// What disks write at once, or not at all.
const PAGE: usize = 4 << 10;
/// What a crash may find on its way to the disk: two groups of commits.
const MAX_UNSYNCED: usize = 16 << 20;
/// Types with another header, in logs that are written over again, which these are not.
const RECYCLED: [u8; 6] = [5, 6, 7, 8, 11, 131];

/// Ends each log of a directory where its records end.
///
/// # Errors
/// [`ErrorKind::WouldBlock`] if another process has the directory open; a file cannot be read or made shorter. Whether this process has
/// it open, the caller must know.
pub(crate) fn cut_logs(directory: &Path) -> Result<()> {
    // Otherwise nothing was ever written here, and the directory may be somebody else's.
    if !directory.join("CURRENT").exists() {
        return Ok(());
    }
    // A copy may lack it; RocksDB makes it as well.
    let lock = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(directory.join("LOCK"))?;
    take_lock(&lock)?;
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        let number = path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.parse::<u64>().ok());
        if number.is_some() && path.extension().is_some_and(|e| e == "log") {
            cut(&path)?;
        }
    }
    Ok(())
}

/// As RocksDB takes it, until the file is closed.
fn take_lock(file: &File) -> Result<()> {
    // SAFETY: all of it may be zero: from the file's beginning, of any length.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = libc::F_WRLCK as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    // SAFETY: the descriptor is open, and the lock alive while it is read.
    if unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLK, &raw const lock) } == 0 {
        return Ok(());
    }
    let error = Error::last_os_error();
    Err(if matches!(error.raw_os_error(), Some(libc::EACCES | libc::EAGAIN)) { ErrorKind::WouldBlock.into() } else { error })
}

fn cut(path: &Path) -> Result<()> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    let len = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    let mut log = Log { file, len };
    if !log.ends_in_zeros()? {
        return Ok(());
    }
    match end_of(&mut log)? {
        Some(end) if end < len => {
            tracing::debug!("{} ends at {end} of {len} bytes", path.display());
            log.file.set_len(end as u64)?;
            log.file.sync_all()
        }
        Some(_) => Ok(()),
        None => {
            tracing::warn!("{} is damaged before its end", path.display());
            Ok(())
        }
    }
}

/// A log by its blocks, which are read one at a time.
trait Blocks {
    fn len(&self) -> usize;
    /// Fills `out` with a block; the last one may be short.
    fn read(&mut self, number: usize, out: &mut Vec<u8>) -> Result<()>;
}

struct Log {
    file: File,
    len: usize,
}

impl Log {
    fn ends_in_zeros(&self) -> Result<bool> {
        let Some(from) = self.len.checked_sub(PAGE) else { return Ok(false) };
        let mut tail = [0; PAGE];
        self.file.read_exact_at(&mut tail, from as u64)?;
        Ok(is_empty(&tail))
    }
}

impl Blocks for Log {
    fn len(&self) -> usize {
        self.len
    }

    fn read(&mut self, number: usize, out: &mut Vec<u8>) -> Result<()> {
        let from = number * BLOCK;
        out.clear();
        out.resize(BLOCK.min(self.len.saturating_sub(from)), 0);
        self.file.read_exact_at(out, from as u64)
    }
}

fn is_empty(bytes: &[u8]) -> bool {
    bytes.iter().all(|b| *b == 0)
}

/// Where the records of a log end; `None` if it is damaged before that.
fn end_of(log: &mut impl Blocks) -> Result<Option<usize>> {
    let mut block = Vec::with_capacity(BLOCK);
    // Behind this are zeros alone.
    let mut last = 0;
    for number in (0..log.len().div_ceil(BLOCK)).rev() {
        log.read(number, &mut block)?;
        if let Some(at) = block.iter().rposition(|b| *b != 0) {
            last = number * BLOCK + at + 1;
            break;
        }
    }
    for number in 0..last.div_ceil(BLOCK) {
        log.read(number, &mut block)?;
        let from = number * BLOCK;
        let mut at = 0;
        while at < block.len() && from + at < last {
            match whole_fragment(&block, at) {
                Some(end) => at = end,
                None if BLOCK - at < HEADER && is_empty(block.get(at..).unwrap_or_default()) => at = block.len(),
                None => {
                    let next = (at + 1..block.len()).find(|at| whole_fragment(&block, *at).is_some());
                    // What is missing lies before what is whole again.
                    let before = block.get(..next.unwrap_or(block.len()).min(last - from)).unwrap_or_default();
                    let missing = last - from - at <= MAX_UNSYNCED && has_empty_page(before, at);
                    let torn = missing || (next.is_none() && !goes_on(log, number + 1, last)?);
                    return Ok(torn.then_some(from + at));
                }
            }
        }
        if from + at >= last {
            return Ok(Some((from + at).min(log.len())));
        }
    }
    Ok(Some(last))
}

/// The end of the fragment that begins here, if all of it is here as it was written.
fn whole_fragment(block: &[u8], at: usize) -> Option<usize> {
    let [c0, c1, c2, c3, low, high, kind] = *block.get(at..)?.first_chunk::<HEADER>()?;
    let end = at + HEADER + usize::from(u16::from_le_bytes([low, high]));
    if kind == 0 || RECYCLED.contains(&kind) {
        return None;
    }
    let sum = crc32c::crc32c(block.get(at + HEADER - 1..end)?);
    (masked(sum) == u32::from_le_bytes([c0, c1, c2, c3])).then_some(end)
}

/// As RocksDB stores sums of bytes that may hold sums.
fn masked(sum: u32) -> u32 {
    sum.rotate_right(15).wrapping_add(0xa282_ead8)
}

/// Whether one of the pages in which a fragment may lie is empty from its beginning, or from the fragment's, to its end. What is given of
/// the block is not followed by zeros alone.
fn has_empty_page(block: &[u8], at: usize) -> bool {
    let mut from = at;
    while let Some(page) = block.get(from..(from / PAGE + 1) * PAGE) {
        if is_empty(page) {
            return true;
        }
        from += page.len();
    }
    false
}

/// Whether a block from this one on begins with a whole fragment, as every block of a log does.
fn goes_on(log: &mut impl Blocks, from: usize, last: usize) -> Result<bool> {
    let mut block = Vec::with_capacity(BLOCK);
    for number in from..last.div_ceil(BLOCK) {
        log.read(number, &mut block)?;
        if whole_fragment(&block, 0).is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    impl Blocks for &[u8] {
        fn len(&self) -> usize {
            <[u8]>::len(self)
        }

        fn read(&mut self, number: usize, out: &mut Vec<u8>) -> Result<()> {
            out.clear();
            out.extend_from_slice(&self[number * BLOCK..(<[u8]>::len(self)).min((number + 1) * BLOCK)]);
            Ok(())
        }
    }

    fn end_of(mut log: &[u8]) -> Option<usize> {
        super::end_of(&mut log).unwrap()
    }

    fn block_end(at: usize) -> usize {
        (at / BLOCK + 1) * BLOCK
    }

    const FULL: u8 = 1;
    const FIRST: u8 = 2;
    const MIDDLE: u8 = 3;
    const LAST: u8 = 4;

    /// Appends a record as RocksDB does; returns where it begins.
    fn append(log: &mut Vec<u8>, record: &[u8]) -> usize {
        let mut rest = record;
        let mut first = true;
        let mut begin = None;
        loop {
            let mut left = block_end(log.len()) - log.len();
            if left < HEADER {
                log.resize(log.len() + left, 0);
                left = BLOCK;
            }
            begin.get_or_insert(log.len());
            let (bytes, after) = rest.split_at(rest.len().min(left - HEADER));
            let kind = match (first, after.is_empty()) {
                (true, true) => FULL,
                (true, false) => FIRST,
                (false, false) => MIDDLE,
                (false, true) => LAST,
            };
            let sum = masked(crc32c::crc32c_append(crc32c::crc32c(&[kind]), bytes));
            log.extend_from_slice(&sum.to_le_bytes());
            log.extend_from_slice(&(bytes.len() as u16).to_le_bytes());
            log.push(kind);
            log.extend_from_slice(bytes);
            (rest, first) = (after, false);
            if rest.is_empty() {
                return begin.unwrap();
            }
        }
    }

    fn record(number: usize, len: usize) -> Vec<u8> {
        // Zeros at the end as well: a record may end in any bytes.
        (0..len).map(|i| if i + 40 > len { 0 } else { (i * 31 + number * 17) as u8 | 1 }).collect()
    }

    /// Some records, with the place at which each begins, and the end.
    fn log(lens: &[usize]) -> (Vec<u8>, Vec<usize>) {
        let mut log = Vec::new();
        let mut places: Vec<usize> = lens.iter().enumerate().map(|(n, len)| append(&mut log, &record(n, *len))).collect();
        places.push(log.len());
        (log, places)
    }

    const LENS: [usize; 9] = [100, 3000, 5000, 20_000, 4600, 90_000, 0, 11, 7000];

    #[test]
    fn zeros_are_not_records() {
        for room in [0, 1, 7, 4096, 300_000] {
            for count in 0..=LENS.len() {
                let (mut log, places) = log(&LENS[..count]);
                log.resize(log.len() + room, 0);
                assert_eq!(end_of(&log), Some(*places.last().unwrap()), "{count} records, {room} zeros");
            }
        }
    }

    #[test]
    fn a_log_cut_anywhere_ends_with_a_whole_fragment_before_that() {
        let (whole, places) = log(&LENS);
        for cut in (0..whole.len()).step_by(97).chain(places.iter().copied()) {
            let mut log = whole[..cut].to_vec();
            log.resize(whole.len() + 300_000, 0);
            let end = end_of(&log).unwrap();
            assert!(end <= cut || whole[cut..end].iter().all(|b| *b == 0), "{end} of {cut}");
            // No record that was written whole is lost.
            let written = places.iter().rfind(|place| **place <= cut).unwrap();
            assert!(end >= *written, "{end} of {written}");
        }
    }

    #[test]
    fn pages_of_the_last_sync_may_be_missing() {
        let (whole, places) = log(&LENS);
        // What was synced stands; of the rest any page may not have come.
        for (synced, from) in places.iter().enumerate() {
            let first = from.div_ceil(PAGE);
            for page in first..whole.len() / PAGE {
                let mut log = whole.clone();
                log[page * PAGE..(page + 1) * PAGE].fill(0);
                log.resize(whole.len() + 300_000, 0);
                let end = end_of(&log).unwrap_or_else(|| panic!("record {synced}, page {page}"));
                assert!(end >= *from && end < (page + 1) * PAGE);
            }
        }
        // The page that was there before, with what it had then.
        for place in &places[..places.len() - 1] {
            let mut log = whole.clone();
            let page_end = (place / PAGE + 1) * PAGE;
            log[*place..page_end.min(whole.len())].fill(0);
            log.resize(whole.len() + 300_000, 0);
            assert_eq!(end_of(&log), Some(*place));
        }
    }

    #[test]
    fn damage_in_the_middle_is_not_the_end() {
        let (whole, places) = log(&LENS);
        for at in (0..places[places.len() - 2]).step_by(101) {
            let mut log = whole.clone();
            log[at] ^= 0x40;
            log.resize(whole.len() + 300_000, 0);
            match end_of(&log) {
                None => {}
                // Bytes between the blocks belong to nothing.
                Some(end) => assert!(end == whole.len(), "damage at {at} ends the log at {end}"),
            }
        }
    }

    #[test]
    fn empty_pages_of_whole_records_do_not_make_damage_before_them_torn() {
        let mut log = Vec::new();
        append(&mut log, &record(0, 900));
        append(&mut log, &record(1, 900));
        append(&mut log, &[0; 12_000]);
        append(&mut log, &record(2, 900));
        log.resize(log.len() + 300_000, 0);
        for at in 0..2 * (HEADER + 900) {
            let mut damaged = log.clone();
            damaged[at] ^= 0x40;
            assert_eq!(end_of(&damaged), None, "damage at {at}");
        }
    }

    #[test]
    fn files_that_were_closed_are_not_touched() {
        let directory = tempfile::tempdir().unwrap();
        let (mut bytes, _) = log(&[5000, 100]);
        let closed = directory.path().join("000004.log");
        std::fs::write(&closed, &bytes).unwrap();
        let end = bytes.len();
        bytes.resize(end + 100_000, 0);
        let open = directory.path().join("000005.log");
        std::fs::write(&open, &bytes).unwrap();
        let other = directory.path().join("LOG.log");
        std::fs::write(&other, &bytes).unwrap();
        bytes[3000] ^= 1;
        let damaged = directory.path().join("000006.log");
        std::fs::write(&damaged, &bytes).unwrap();
        // Not a store: nothing is done.
        cut_logs(directory.path()).unwrap();
        assert_eq!(open.metadata().unwrap().len() as usize, end + 100_000);
        assert!(!directory.path().join("LOCK").exists());
        std::fs::write(directory.path().join("CURRENT"), b"").unwrap();
        cut_logs(directory.path()).unwrap();
        let len = |path: &Path| path.metadata().unwrap().len() as usize;
        assert_eq!((len(&closed), len(&open), len(&other), len(&damaged)), (end, end, bytes.len(), bytes.len()));
        cut_logs(&directory.path().join("none")).unwrap();
    }
}
