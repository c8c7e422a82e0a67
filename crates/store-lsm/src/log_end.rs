//! What follows the last whole record of RocksDB's log when the store is opened: nothing, room ([`crate::log_room`]), or what is left of
//! records that were not synced when the power went.
//!
//! ```text
//! log      blocks of 32 KiB, each of which begins with a fragment
//! fragment crc32c u32, masked │ length u16 │ type u8 │ bytes of a record       all little-endian; the sum is over type and bytes
//! block    fragments │ fewer than 7 bytes of zeros where no other one fits
//! ```
//!
//! A power loss leaves any sectors of what was not synced: records may be missing with whole ones behind them, and RocksDB would refuse
//! such a log, or read over a gap of zeros and go on behind it. So the first record that is not whole ends the log, and all that follows
//! it goes, in later logs as well, unless a later record says that the missing one was synced ([`crate::log_marks`]): then bytes were
//! damaged that were on stable storage, and the store is not opened. What is cut off was never acknowledged as durable.
//!
//! A log that is older than the oldest one that RocksDB needs may still be there, and those between them may not: records that are missing
//! between two logs say nothing if one of them was synced.

use crate::log_marks::{ENTRY_BYTES, Mark};
use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Result};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

const BLOCK: usize = 32 << 10;
const HEADER: usize = 7;
/// Types of fragments, where a record has several.
const FIRST: u8 = 2;
const MIDDLE: u8 = 3;
const LAST: u8 = 4;
/// Types with another header, in logs that are written over again, which these are not.
const RECYCLED: [u8; 6] = [5, 6, 7, 8, 11, 131];

/// Ends the logs of a directory where their records end, and brings what they hold to stable storage: what is read from them will be built on.
/// `salvage`: damage ends them as well.
///
/// # Errors
/// [`ErrorKind::WouldBlock`] if another process has the directory open; [`ErrorKind::InvalidData`] if a log is damaged; a file cannot be
/// read or made shorter. Whether this process has it open, the caller must know.
pub(crate) fn cut_logs(directory: &Path, salvage: bool) -> Result<()> {
    // Otherwise nothing was ever written here, and the directory may be somebody else's.
    if !directory.join("CURRENT").exists() {
        return Ok(());
    }
    // A copy may lack it; RocksDB makes it as well.
    let lock = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(directory.join("LOCK"))?;
    take_lock(&lock)?;
    let mut logs = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        let number = path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.parse::<u64>().ok());
        if let Some(number) = number.filter(|_| path.extension().is_some_and(|e| e == "log")) {
            let log = Log::open(path)?;
            let records = Records::read(&log)?;
            logs.push((number, log, records));
        }
    }
    cut_manifest(directory)?;
    logs.sort_by_key(|(number, ..)| *number);
    let records: Vec<_> = logs.iter().map(|(_, _, records)| records).collect();
    let ends = ends_of(&records, salvage).map_err(|damaged| {
        let (path, at) = logs.get(damaged).map(|(_, log, records)| (log.path.display().to_string(), records.end)).unwrap_or_default();
        Error::new(ErrorKind::InvalidData, format!("{path} is damaged at {at}: a record is missing that was synced"))
    })?;
    for ((_, log, records), end) in logs.iter().zip(ends) {
        if end < records.end || records.broken {
            tracing::warn!("{} ends at {end} of {} bytes: what follows was not synced", log.path.display(), log.len);
        }
        if end < log.len {
            log.file.set_len(end as u64)?;
        }
        log.file.sync_all()?;
    }
    Ok(())
}

/// The manifest has the form of a log. Each of its writes is synced before the next one, so that what was torn is at its end, or else it is
/// damaged: RocksDB would refuse it either way, or read over the gap.
fn cut_manifest(directory: &Path) -> Result<()> {
    let current = std::fs::read_to_string(directory.join("CURRENT"))?;
    let Some(name) = current.strip_suffix('\n').filter(|name| name.starts_with("MANIFEST-")) else { return Ok(()) };
    let path = directory.join(name);
    if !path.exists() {
        return Ok(());
    }
    let manifest = Log::open(path)?;
    let records = Records::read(&manifest)?;
    if records.whole_behind > 0 {
        let message = format!("{} is damaged at {}: a record is missing", manifest.path.display(), records.end);
        return Err(Error::new(ErrorKind::InvalidData, message));
    }
    if records.end < manifest.len {
        tracing::warn!("{} ends at {} of {} bytes: what follows was not synced", manifest.path.display(), records.end, manifest.len);
        manifest.file.set_len(records.end as u64)?;
        manifest.file.sync_all()?;
    }
    Ok(())
}

/// Where each log is to end, or the number of one that is damaged.
fn ends_of(logs: &[&Records], salvage: bool) -> std::result::Result<Vec<usize>, usize> {
    // The first record of an epoch in this and later logs, and the newest that one of them knows to be synced.
    let of_epoch = |from: usize, epoch: u64| {
        let marks = logs.get(from..).unwrap_or_default().iter().flat_map(|log| log.marks());
        let mut marks = marks.filter(|mark| mark.epoch == epoch);
        let first = marks.next()?;
        Some((first.number, marks.map(|mark| mark.synced).fold(first.synced, u64::max)))
    };
    let mut ends = Vec::with_capacity(logs.len());
    let mut previous: Option<Mark> = None;
    // Epochs that end in an earlier log.
    let mut ended: Vec<u64> = Vec::new();
    let mut all_ended = false;
    for (number, log) in logs.iter().enumerate() {
        if let Some(first) = log.marks().next() {
            let lost = previous.filter(|p| p.epoch == first.epoch && p.number + 1 < first.number).map(|p| p.number + 1);
            let unknown = lost.is_some_and(|lost| of_epoch(number, first.epoch).is_some_and(|(_, synced)| synced < lost));
            if all_ended || unknown || ended.contains(&first.epoch) {
                ended.push(first.epoch);
                ends.push(0);
                continue;
            }
        }
        ends.push(log.end);
        let last = log.before.last();
        if log.broken {
            let mut epochs: Vec<u64> = log.behind.iter().chain(last).map(|mark| mark.epoch).collect();
            epochs.dedup();
            for epoch in epochs {
                let from_here = log.behind.iter().find(|mark| mark.epoch == epoch).map(|mark| (mark.number, mark.synced));
                let later = of_epoch(number + 1, epoch);
                let Some((next, _)) = from_here.or(later) else { continue };
                let synced =
                    log.behind.iter().filter(|mark| mark.epoch == epoch).map(|mark| mark.synced).chain(later.map(|(_, s)| s)).max();
                let lost = match last {
                    Some(last) if last.epoch == epoch => last.number + 1,
                    Some(_) => 1,
                    // How many went before is not known: the one right before it did.
                    None => next.saturating_sub(1).max(1),
                };
                if lost >= next {
                    continue;
                }
                if synced.is_some_and(|synced| synced >= lost) {
                    if !salvage {
                        return Err(number);
                    }
                    all_ended = true;
                }
                ended.push(epoch);
            }
        }
        previous = last.copied().or(previous);
    }
    Ok(ends)
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

/// A log by its blocks, which are read one at a time.
trait Blocks {
    fn len(&self) -> usize;
    /// Fills `out` with a block; the last one may be short.
    fn read(&self, number: usize, out: &mut Vec<u8>) -> Result<()>;
}

struct Log {
    path: PathBuf,
    file: File,
    len: usize,
}

impl Log {
    fn open(path: PathBuf) -> Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(&path)?;
        let len = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
        Ok(Self { path, file, len })
    }
}

impl Blocks for Log {
    fn len(&self) -> usize {
        self.len
    }

    fn read(&self, number: usize, out: &mut Vec<u8>) -> Result<()> {
        let from = number * BLOCK;
        out.clear();
        out.resize(BLOCK.min(self.len.saturating_sub(from)), 0);
        self.file.read_exact_at(out, from as u64)
    }
}

/// What a log holds.
#[derive(Debug, Default, PartialEq)]
struct Records {
    /// Where its first whole records end.
    end: usize,
    /// Whether there is more behind them than zeros.
    broken: bool,
    /// The marks of those records.
    before: Vec<Mark>,
    /// Those of whole records further behind.
    behind: Vec<Mark>,
    /// How many there are.
    whole_behind: usize,
}

impl Records {
    fn marks(&self) -> impl Iterator<Item = Mark> {
        self.before.iter().chain(&self.behind).copied()
    }

    fn read(log: &impl Blocks) -> Result<Self> {
        let mut out = Self::default();
        // The last bytes of a record whose first fragments were read.
        let mut open: Option<Vec<u8>> = None;
        let mut zeros = false;
        let mut block = Vec::with_capacity(BLOCK);
        for number in 0..log.len().div_ceil(BLOCK) {
            log.read(number, &mut block)?;
            let mut at = 0;
            while let Some(rest) = block.get(at..).filter(|rest| !rest.is_empty()) {
                let Some((kind, bytes, end)) = whole_fragment(&block, at) else {
                    if is_empty(rest) {
                        // The end of a block that has no place for a fragment is no gap.
                        zeros |= BLOCK - at >= HEADER;
                        out.broken |= zeros && open.take().is_some();
                        break;
                    }
                    out.broken = true;
                    open = None;
                    match (at + 1..block.len()).find(|at| whole_fragment(&block, *at).is_some()) {
                        Some(next) => at = next,
                        None => break,
                    }
                    continue;
                };
                // What was written before a gap ends before it.
                out.broken |= zeros;
                at = end;
                let record = match (kind, open.take()) {
                    (FIRST, before) => {
                        out.broken |= before.is_some();
                        open = Some(bytes.to_vec());
                        continue;
                    }
                    (MIDDLE | LAST, None) => {
                        out.broken = true;
                        continue;
                    }
                    (MIDDLE | LAST, Some(mut tail)) => {
                        tail.extend_from_slice(bytes);
                        tail.drain(..tail.len().saturating_sub(ENTRY_BYTES));
                        if kind == MIDDLE {
                            open = Some(tail);
                            continue;
                        }
                        Mark::at_end_of(&tail)
                    }
                    (_, before) => {
                        out.broken |= before.is_some();
                        Mark::at_end_of(bytes)
                    }
                };
                if out.broken {
                    out.whole_behind += 1;
                    out.behind.extend(record);
                } else {
                    out.before.extend(record);
                    out.end = number * BLOCK + at;
                }
            }
        }
        out.broken |= open.is_some();
        Ok(out)
    }
}

fn is_empty(bytes: &[u8]) -> bool {
    bytes.iter().all(|b| *b == 0)
}

/// Type, bytes and end of the fragment that begins here, if all of it is here as it was written.
fn whole_fragment(block: &[u8], at: usize) -> Option<(u8, &[u8], usize)> {
    let [c0, c1, c2, c3, low, high, kind] = *block.get(at..)?.first_chunk::<HEADER>()?;
    let end = at + HEADER + usize::from(u16::from_le_bytes([low, high]));
    if kind == 0 || RECYCLED.contains(&kind) {
        return None;
    }
    let sum = crc32c::crc32c(block.get(at + HEADER - 1..end)?);
    (masked(sum) == u32::from_le_bytes([c0, c1, c2, c3])).then_some((kind, block.get(at + HEADER..end)?, end))
}

/// As RocksDB stores sums of bytes that may hold sums.
fn masked(sum: u32) -> u32 {
    sum.rotate_right(15).wrapping_add(0xa282_ead8)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    const FULL: u8 = 1;

    impl Blocks for &[u8] {
        fn len(&self) -> usize {
            <[u8]>::len(self)
        }

        fn read(&self, number: usize, out: &mut Vec<u8>) -> Result<()> {
            out.clear();
            out.extend_from_slice(&self[number * BLOCK..(<[u8]>::len(self)).min((number + 1) * BLOCK)]);
            Ok(())
        }
    }

    fn read(log: &[u8]) -> Records {
        Records::read(&log).unwrap()
    }

    /// The ends of logs; `None` for damage.
    fn ends(logs: &[&[u8]]) -> Option<Vec<usize>> {
        let logs: Vec<_> = logs.iter().map(|log| read(log)).collect();
        ends_of(&logs.iter().collect::<Vec<_>>(), false).ok()
    }

    fn append(log: &mut Vec<u8>, record: &[u8]) {
        let mut rest = record;
        let mut first = true;
        loop {
            let mut left = BLOCK - log.len() % BLOCK;
            if left < HEADER {
                log.resize(log.len() + left, 0);
                left = BLOCK;
            }
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
                return;
            }
        }
    }

    /// Records of these lengths with their marks, from a number on; the places at which they begin, and the end.
    fn log(lens: &[usize], first: u64, epoch: u64, synced: impl Fn(u64) -> u64) -> (Vec<u8>, Vec<usize>) {
        let (mut log, mut places) = (Vec::new(), vec![0]);
        for (number, len) in (first..).zip(lens) {
            let mut record: Vec<u8> = (0..*len).map(|i| if i % 700 > 500 { 0 } else { (i * 31 + number as usize * 17) as u8 }).collect();
            record.extend([3, 32]);
            record.extend(Mark { epoch, number, synced: synced(number) }.encode());
            append(&mut log, &record);
            places.push(log.len());
        }
        (log, places)
    }

    const LENS: [usize; 10] = [100, 3000, 5000, 20_000, 4600, 90_000, 0, 11, 7000, 300];

    #[test]
    fn zeros_behind_the_records_are_no_records() {
        for room in [0, 1, 6, 7, 4096, 300_000] {
            for count in 0..=LENS.len() {
                let (mut log, places) = log(&LENS[..count], 1, 9, |n| n - 1);
                log.resize(log.len() + room, 0);
                let found = read(&log);
                assert_eq!((found.end, found.broken, found.before.len()), (places[count], false, count), "{room} zeros");
            }
        }
    }

    #[test]
    fn any_sectors_of_what_was_not_synced_may_be_missing() {
        let mut random = StdRng::seed_from_u64(1);
        for round in 0..3000 {
            let synced = random.random_range(0..=LENS.len());
            let (whole, places) = log(&LENS, 1, 9, |n| (n - 1).min(synced as u64));
            let unit = if random.random() { 512 } else { 4096 };
            let mut log = whole.clone();
            let from = places[synced];
            if random.random() {
                log.resize(log.len() + 300_000, 0);
            }
            if random.random_range(0..4) == 0 {
                log.truncate(random.random_range(from..=log.len()));
            }
            let missing = random.random_range(0.0..1.0);
            let mut first_gap = log.len().min(whole.len());
            for sector in from / unit..log.len().div_ceil(unit) {
                if random.random_bool(missing) {
                    let (low, high) = ((sector * unit).max(from), ((sector + 1) * unit).min(log.len()));
                    if log[low..high].iter().any(|b| *b != 0) {
                        first_gap = first_gap.min(low);
                    }
                    log[low..high].fill(0);
                }
            }
            let end = ends(&[&log]).unwrap_or_else(|| panic!("round {round}: taken for damage"))[0];
            // Whole records up to the gap, and none behind it.
            let written = places.iter().rposition(|place| *place <= first_gap).unwrap();
            assert!(end >= places[written.max(synced)], "round {round}: {end}");
            assert!(places.contains(&end) && end <= places[(written + 1).min(LENS.len())], "round {round}: {end}");
        }
    }

    #[test]
    fn what_was_synced_and_is_missing_is_damage() {
        let (whole, places) = log(&LENS, 1, 9, |n| n - 1);
        for at in (0..places[LENS.len() - 1]).step_by(101) {
            let mut log = whole.clone();
            log[at] ^= 0x40;
            // Bytes between the blocks belong to nothing.
            assert!(ends(&[&log]).is_none_or(|end| end == [whole.len()]), "damage at {at}");
            let records = [read(&log), read(&whole)];
            let [end, next] = ends_of(&records.iter().collect::<Vec<_>>(), true).unwrap()[..] else { panic!() };
            assert!(end == whole.len() || (end <= at && next == 0), "damage at {at} ends the log at {end}");
        }
        let mut zeros = whole.clone();
        zeros[4096..8192].fill(0);
        assert_eq!(ends(&[&zeros]), None);
        // The last record could as well be torn.
        let mut log = whole;
        *log.last_mut().unwrap() ^= 1;
        assert_eq!(ends(&[&log]), Some(vec![places[LENS.len() - 1]]));
    }

    #[test]
    fn later_logs_end_with_an_earlier_one() {
        let relaxed = |_| 2;
        let (one, places) = log(&LENS[..5], 1, 9, relaxed);
        let (two, _) = log(&LENS[..3], 6, 9, relaxed);
        let (other, _) = log(&LENS[..3], 1, 10, |n| n - 1);
        assert_eq!(ends(&[&one, &two, &other]), Some(vec![one.len(), two.len(), other.len()]));
        // A record is torn, or missing without a trace: what follows in the epoch was not synced either.
        assert_eq!(ends(&[&one[..places[4] + 9], &two, &other]), Some(vec![places[4], 0, other.len()]));
        assert_eq!(ends(&[&one[..places[4]], &two, &two, &other]), Some(vec![places[4], 0, 0, other.len()]));
        // It was synced: logs between them are not needed any more, or a record was damaged.
        let (two, _) = log(&LENS[..3], 6, 9, |_| 5);
        assert_eq!(ends(&[&one[..places[4]], &two]), Some(vec![places[4], two.len()]));
        assert_eq!(ends(&[&one[..places[4] + 9], &two]), None);
        // Nothing is missing: room was made, and not taken away when the log was left.
        let mut room = one.clone();
        room.resize(one.len() + 300_000, 0);
        assert_eq!(ends(&[&room, &two]), Some(vec![one.len(), two.len()]));
        // A write failed half way, and the next one went to another log.
        assert_eq!(ends(&[&one[..places[4] + 9], &other]), Some(vec![places[4], other.len()]));
        // Of the first records of the oldest log nothing is known.
        let (mut old, _) = log(&LENS[..5], 41, 9, |_| 40);
        old[3] ^= 1;
        assert_eq!(ends(&[&old]), Some(vec![0]));
        let (mut old, _) = log(&LENS[..5], 41, 9, |n| n - 1);
        old[3] ^= 1;
        assert_eq!(ends(&[&old]), None);
    }

    #[test]
    fn files_end_with_their_records() {
        let directory = tempfile::tempdir().unwrap();
        let (mut bytes, _) = log(&[5000, 100, 900], 1, 9, |n| n - 1);
        let closed = directory.path().join("000004.log");
        std::fs::write(&closed, &bytes).unwrap();
        let end = bytes.len();
        bytes.resize(end + 100_000, 0);
        let open = directory.path().join("000005.log");
        std::fs::write(&open, &bytes).unwrap();
        let other = directory.path().join("LOG.log");
        std::fs::write(&other, &bytes).unwrap();
        // Not a store: nothing is done.
        cut_logs(directory.path(), false).unwrap();
        assert_eq!(open.metadata().unwrap().len() as usize, end + 100_000);
        assert!(!directory.path().join("LOCK").exists());
        std::fs::write(directory.path().join("CURRENT"), b"").unwrap();
        cut_logs(directory.path(), false).unwrap();
        let len = |path: &Path| path.metadata().unwrap().len() as usize;
        assert_eq!((len(&closed), len(&open), len(&other)), (end, end, bytes.len()));
        bytes[3000] ^= 1;
        std::fs::write(&open, &bytes).unwrap();
        let error = cut_logs(directory.path(), false).unwrap_err();
        assert!(error.kind() == ErrorKind::InvalidData && error.to_string().contains("000005.log is damaged at 0"), "{error}");
        assert_eq!(len(&open), bytes.len(), "nothing was cut");
        cut_logs(directory.path(), true).unwrap();
        assert_eq!((len(&closed), len(&open)), (end, 0));
        cut_logs(&directory.path().join("none"), false).unwrap();
    }

    #[test]
    fn a_manifest_ends_with_its_records_or_is_damaged() {
        let directory = tempfile::tempdir().unwrap();
        let manifest = directory.path().join("MANIFEST-000007");
        std::fs::write(directory.path().join("CURRENT"), b"MANIFEST-000007\n").unwrap();
        let (whole, places) = log(&[40, 3000, 900], 1, 9, |n| n - 1);
        let torn = [whole[..whole.len() - 9].to_vec(), [&whole[..places[2] + 600], &[0; 347][..]].concat()];
        for bytes in &torn {
            std::fs::write(&manifest, bytes).unwrap();
            cut_logs(directory.path(), false).unwrap();
            assert_eq!(std::fs::read(&manifest).unwrap(), whole[..places[2]]);
        }
        for zeros in [false, true] {
            let mut bytes = whole.clone();
            if zeros {
                bytes[places[1]..places[2]].fill(0);
            } else {
                bytes[places[1] + 20] ^= 1;
            }
            std::fs::write(&manifest, &bytes).unwrap();
            let error = cut_logs(directory.path(), false).unwrap_err();
            assert!(error.kind() == ErrorKind::InvalidData && error.to_string().contains("MANIFEST-000007 is damaged"), "{error}");
        }
    }
}
