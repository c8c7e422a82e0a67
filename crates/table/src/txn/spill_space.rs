//! What write sets may take: memory of the database's pool, and files for what does not fit.
//!
//! A write set takes a little as it is; from there on it asks the pool that statements sort and join in, and goes to disk when it
//! is refused. Files have no name once they are open: they go with the process, however it ends.

use datafusion_execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use std::fs::{File, OpenOptions};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use stoa_pg::sqlstate::SqlState;
use stoa_pg::{PgError, PgResult};

/// Bytes that a write set takes without asking.
const UNASKED: usize = 1 << 20;
/// By how much it asks for more.
const STEP: usize = 1 << 20;

/// See the module.
#[derive(Debug)]
pub struct SpillSpace {
    directory: PathBuf,
    pool: Option<Arc<dyn MemoryPool>>,
    /// What one write set takes at most, whatever the pool has.
    most: usize,
    files: AtomicU64,
}

impl Default for SpillSpace {
    fn default() -> Self {
        Self { directory: std::env::temp_dir(), pool: None, most: 64 << 20, files: AtomicU64::new(0) }
    }
}

impl SpillSpace {
    /// Files go to `directory`; one write set takes at most `most` bytes of the pool.
    #[must_use]
    pub fn new(directory: PathBuf, pool: Arc<dyn MemoryPool>, most: usize) -> Self {
        Self { directory, pool: Some(pool), most: most.max(UNASKED), files: AtomicU64::new(0) }
    }

    /// Like the default one, with another limit.
    #[must_use]
    pub fn with_most(most: usize) -> Self {
        Self { most, ..Self::default() }
    }

    /// What one write set takes at most, in bytes.
    #[must_use]
    pub fn most(&self) -> usize {
        self.most
    }

    /// A file that nobody else sees.
    ///
    /// # Errors
    /// 53100 and the like.
    pub fn file(&self) -> PgResult<File> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let name = format!("stoa-writes-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let path = self.directory.join(name);
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path).map_err(|e| file_error("create", &e))?;
        std::fs::remove_file(&path).map_err(|e| file_error("remove", &e))?;
        self.files.fetch_add(1, Ordering::Relaxed);
        Ok(file)
    }

    /// Files made so far.
    #[must_use]
    pub fn files(&self) -> u64 {
        self.files.load(Ordering::Relaxed)
    }
}

/// The memory of one write set.
#[derive(Debug, Default)]
pub struct SpillMemory {
    reservation: Option<MemoryReservation>,
    granted: usize,
}

impl SpillMemory {
    /// Whether so many bytes may be held.
    pub fn grant(&mut self, space: &SpillSpace, bytes: usize) -> bool {
        if bytes <= self.granted.max(UNASKED.min(space.most)) {
            return true;
        }
        if bytes > space.most {
            return false;
        }
        let Some(pool) = &space.pool else {
            self.granted = space.most;
            return true;
        };
        let reservation =
            self.reservation.get_or_insert_with(|| MemoryConsumer::new("changes of a transaction").with_can_spill(true).register(pool));
        let wanted = bytes.saturating_add(STEP).min(space.most);
        if reservation.try_resize(wanted).is_err() {
            return false;
        }
        self.granted = wanted;
        true
    }

    /// Everything was given up.
    pub fn free(&mut self) {
        self.reservation = None;
        self.granted = 0;
    }
}

/// What a failure of a file means to the user.
pub(super) fn file_error(verb: &str, error: &std::io::Error) -> PgError {
    use std::io::ErrorKind;
    let code = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => SqlState::DISK_FULL,
        _ => SqlState::IO_ERROR,
    };
    let hint = (code == SqlState::DISK_FULL).then_some(super::DISK_FULL_HINT);
    let error = PgError::new(code, format!("could not {verb} a file for the changes of a transaction: {error}"));
    hint.into_iter().fold(error, PgError::hint)
}
