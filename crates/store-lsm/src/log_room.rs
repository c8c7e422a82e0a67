//! Room in RocksDB's log ahead of what is written: a sync then has bytes to bring to the disk and nothing else.
//!
//! A file that grows makes each sync write its length, and where its bytes lie, beside the bytes themselves: one more round trip to the
//! disk, and on some file systems a commit of their journal. So zeros are written ahead of the log's end, a piece at a time, and the log
//! goes over them. What a crash leaves behind the last record is taken away when the store is opened: [`crate::log_end`].
//!
//! RocksDB writes its log at the position of its own descriptor, which a duplicate of the descriptor tells. Zeros are only ever written
//! behind the end of the file, some way ahead of that position, and by one who holds [`LogRoom`]'s lock, as does everyone who writes to
//! the log. It is no matter if there is no room: the log grows then, as RocksDB's logs do. Linux only.

use std::fs::File;
use std::io::Seek;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Larger groups make the log grow: what they take is their bytes.
const SMALL_GROUP: u64 = 64 << 10;
/// The distance that is kept from the position: a small group with its frames fits, and more.
const GUARD: u64 = 4 * SMALL_GROUP;
/// Groups after which a log is looked for again, where there was no newer one than the one that is known.
const GROUPS_BETWEEN_SEARCHES: u32 = 1000;
/// What is written at once. It goes to the disk with the next sync.
const PIECE: u64 = 256 << 10;

/// The room in the newest log of a directory.
#[derive(Debug)]
pub(crate) struct LogRoom {
    directory: PathBuf,
    log: Option<Log>,
    /// Groups before the next search, which looks at every descriptor of the process.
    rest: u32,
}

#[derive(Debug)]
struct Log {
    number: u64,
    /// Shares the position of RocksDB's.
    file: File,
    /// Where RocksDB stood when this was asked last; none before.
    position: Option<u64>,
    /// The file is at least as long.
    end: u64,
}

impl LogRoom {
    pub fn new(directory: &Path) -> Self {
        let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_path_buf());
        Self { directory, log: None, rest: 0 }
    }

    /// Sees to room for a group of so many bytes, which is about to be written and synced.
    pub fn prepare(&mut self, bytes: usize) {
        if bytes as u64 > SMALL_GROUP {
            return;
        }
        // A log that has not moved since the group before is not the newest any more.
        let moved = self.log.as_mut().is_some_and(Log::has_moved);
        if !moved {
            self.search();
        }
        if let Some(log) = &mut self.log
            && let Err(error) = log.extend()
        {
            tracing::debug!("no room is made in the log: {error}");
            // There is none until the next log.
            log.end = u64::MAX;
        }
    }
}

impl LogRoom {
    fn search(&mut self) {
        if self.rest > 0 {
            self.rest -= 1;
            return;
        }
        match newest_log(&self.directory) {
            Some(newest) if self.log.as_ref().is_none_or(|log| log.number != newest.number) => self.log = Some(newest),
            _ => self.rest = GROUPS_BETWEEN_SEARCHES,
        }
    }
}

impl Log {
    /// Asks for the position; whether it is another one than before.
    fn has_moved(&mut self) -> bool {
        let position = self.file.stream_position().ok();
        let moved = position.is_some() && position != self.position;
        self.position = position;
        moved
    }

    fn extend(&mut self) -> std::io::Result<()> {
        static ZEROS: [u8; PIECE as usize] = [0; PIECE as usize];
        let Some(position) = self.position else { return Ok(()) };
        if position.saturating_add(GUARD) <= self.end {
            return Ok(());
        }
        // Nothing that is in the file is written over.
        let len = self.file.metadata()?.len();
        let from = (position + GUARD).max(len);
        self.file.write_all_at(&ZEROS, from)?;
        self.end = from + PIECE;
        Ok(())
    }
}

/// The log that RocksDB has open for writing, the newest if there are several.
#[cfg(target_os = "linux")]
fn newest_log(directory: &Path) -> Option<Log> {
    use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
    let log_of = |descriptor: RawFd| {
        let path = std::fs::read_link(format!("/proc/self/fd/{descriptor}")).ok()?;
        let is_log = path.parent() == Some(directory) && path.extension().is_some_and(|e| e == "log");
        path.file_stem()?.to_str()?.parse::<u64>().ok().filter(|_| is_log)
    };
    let mut found: Option<(u64, File)> = None;
    for entry in std::fs::read_dir("/proc/self/fd").ok()?.flatten() {
        let Some(descriptor) = entry.file_name().to_str().and_then(|name| name.parse::<RawFd>().ok()) else { continue };
        let Some(number) = log_of(descriptor).filter(|number| found.as_ref().is_none_or(|(known, _)| number > known)) else { continue };
        // SAFETY: it is only duplicated, which fails if it was closed meanwhile; what it has become is asked of the duplicate.
        let Ok(duplicate) = unsafe { BorrowedFd::borrow_raw(descriptor) }.try_clone_to_owned() else { continue };
        if log_of(duplicate.as_raw_fd()) != Some(number) || !is_writable(duplicate.as_raw_fd()) {
            continue;
        }
        found = Some((number, File::from(duplicate)));
    }
    let (number, mut file) = found?;
    let position = file.stream_position().ok();
    Some(Log { number, file, position, end: 0 })
}

#[cfg(not(target_os = "linux"))]
fn newest_log(_: &Path) -> Option<Log> {
    None
}

/// Whether a descriptor is one that RocksDB writes by: there are others that read.
#[cfg(target_os = "linux")]
fn is_writable(descriptor: std::os::fd::RawFd) -> bool {
    // SAFETY: the call reads the flags of a descriptor.
    let flags = unsafe { libc::fcntl(descriptor, libc::F_GETFL) };
    flags >= 0 && flags & libc::O_ACCMODE != libc::O_RDONLY && flags & libc::O_APPEND == 0
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use std::io::Write;

    fn log(directory: &Path, number: u32) -> File {
        File::create(directory.join(format!("{number:06}.log"))).unwrap()
    }

    #[test]
    fn zeros_lie_ahead_of_the_position_and_over_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let mut file = log(directory.path(), 4);
        file.write_all(&[7; 1000]).unwrap();
        let mut room = LogRoom::new(directory.path());
        for _ in 0..5000 {
            room.prepare(1000);
            let len = file.metadata().unwrap().len();
            assert!(len >= file.stream_position().unwrap() + GUARD, "there is room");
            file.write_all(&[7; 1000]).unwrap();
        }
        let written = file.stream_position().unwrap() as usize;
        let bytes = std::fs::read(directory.path().join("000004.log")).unwrap();
        assert_eq!(written, 5_001_000);
        assert!(bytes[..written].iter().all(|b| *b == 7) && bytes[written..].iter().all(|b| *b == 0));
        assert!(bytes.len() <= written + (GUARD + 2 * PIECE) as usize);
    }

    #[test]
    fn a_newer_log_is_found_and_a_large_group_needs_no_room() {
        let directory = tempfile::tempdir().unwrap();
        let mut old = log(directory.path(), 4);
        let mut room = LogRoom::new(directory.path());
        room.prepare(100);
        old.write_all(&[7; 100]).unwrap();
        let mut new = log(directory.path(), 5);
        let _reader = File::open(directory.path().join("000005.log")).unwrap();
        std::fs::write(directory.path().join("000006.log"), b"not open").unwrap();
        // Once more to the old one at most.
        for _ in 0..2 {
            room.prepare(100);
            new.write_all(&[7; 100]).unwrap();
        }
        assert!(new.metadata().unwrap().len() > GUARD);
        let mut newest = log(directory.path(), 7);
        room.prepare(100);
        newest.write_all(&[7; 100]).unwrap();
        room.prepare(SMALL_GROUP as usize + 1);
        assert_eq!(newest.metadata().unwrap().len(), 100);
        assert_eq!(std::fs::read(directory.path().join("000006.log")).unwrap(), b"not open");
    }

    #[test]
    fn where_there_is_no_log_nothing_happens() {
        let directory = tempfile::tempdir().unwrap();
        LogRoom::new(directory.path()).prepare(1);
        LogRoom::new(&directory.path().join("none")).prepare(1);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
