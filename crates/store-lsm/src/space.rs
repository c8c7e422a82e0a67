//! What is left of the disk. Writes are refused while there is still some of it: for what memory holds must find a place in files, and a
//! start must find some when it reads the log. So a full disk is met here, in every case but that others take what is left, and nothing
//! waits for RocksDB to come out of an error: the next write asks again.
//!
//! What makes room (deletions, and with them the end of a table) may go deeper into the reserve.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use stoa_store::{StoreError, StoreResult};

/// What writes leave free, beside the place for what memory holds: for the log, manifests, and small files.
const RESERVE: u64 = 8 << 20;
/// What those leave that make room.
const LAST_RESERVE: u64 = 3 << 20;

/// Whether a write makes room.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    Fills,
    Frees,
}

/// The file system of a directory.
#[derive(Debug)]
pub(crate) struct Space {
    directory: PathBuf,
}

impl Space {
    pub fn new(directory: &Path) -> Self {
        Self { directory: directory.to_path_buf() }
    }

    /// Whether so many bytes may be written, while memory holds some that are to be written to files.
    ///
    /// # Errors
    /// [`StoreError::DiskFull`].
    pub fn check(&self, bytes: u64, in_memory: u64, purpose: Purpose) -> StoreResult<()> {
        let Some(free) = self.free() else { return Ok(()) };
        let wanted = match purpose {
            Purpose::Fills => bytes.saturating_mul(2).saturating_add(in_memory).saturating_add(RESERVE),
            Purpose::Frees => bytes.saturating_mul(2).saturating_add(LAST_RESERVE),
        };
        if free >= wanted {
            return Ok(());
        }
        let (directory, mib) = (self.directory.display(), |bytes: u64| bytes.div_ceil(1 << 20));
        Err(StoreError::DiskFull(format!("{directory} has {} MiB left, and {} MiB are needed", free >> 20, mib(wanted))))
    }

    /// Bytes that are left; `None` if that is not known.
    pub fn free(&self) -> Option<u64> {
        let path = std::ffi::CString::new(self.directory.as_os_str().as_bytes()).ok()?;
        // SAFETY: all of it may be zero; it is filled in by the call.
        let mut out: libc::statvfs = unsafe { std::mem::zeroed() };
        // SAFETY: the path ends in a zero, and both are alive during the call.
        let known = unsafe { libc::statvfs(path.as_ptr(), &raw mut out) } == 0;
        #[allow(clippy::unnecessary_cast, reason = "other systems have narrower fields")]
        known.then(|| (out.f_bavail as u64).saturating_mul(out.f_frsize as u64))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn what_makes_room_may_use_the_reserve() {
        let directory = tempfile::tempdir().unwrap();
        let space = Space::new(directory.path());
        let free = space.free().unwrap();
        assert!(space.check(1, 0, Purpose::Fills).is_ok(), "the test needs some MiB");
        let error = space.check(1, free, Purpose::Fills).unwrap_err();
        assert!(matches!(&error, StoreError::DiskFull(m) if m.contains("MiB are needed")), "{error:?}");
        assert!(space.check(1, free, Purpose::Frees).is_ok());
        assert!(space.check(free, 0, Purpose::Frees).is_err());
        assert_eq!(Space::new(Path::new("/none/at/all")).free(), None);
    }
}
