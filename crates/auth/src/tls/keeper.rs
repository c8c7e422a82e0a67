//! What is served now, and its exchange when the files change.
//!
//! Files that cannot be served leave what was served, and are reported once, not each time one looks.

use super::files::{Paths, Served};
use crate::Refusal;
use parking_lot::{Mutex, RwLock};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

/// What tells that a file is another: device, inode, length, and when it and its entry changed.
type Print = Option<(u64, u64, u64, i64, i64, i64, i64)>;

/// Holds what connections are served with.
#[derive(Debug)]
pub struct Keeper {
    paths: Paths,
    /// Of the files when they were read last, well or not.
    prints: Mutex<[Print; 3]>,
    current: RwLock<Arc<Served>>,
}

fn print(path: &Path) -> Print {
    let m = std::fs::metadata(path).ok()?;
    Some((m.dev(), m.ino(), m.len(), m.mtime(), m.mtime_nsec(), m.ctime(), m.ctime_nsec()))
}

fn prints(paths: &Paths) -> [Print; 3] {
    [print(&paths.certificate), print(&paths.key), paths.authorities.as_deref().and_then(print)]
}

impl Keeper {
    /// Reads the files.
    ///
    /// # Errors
    /// As [`Served::load`].
    pub fn new(paths: Paths) -> Result<Self, Refusal> {
        let before = prints(&paths);
        let served = Served::load(&paths)?;
        Ok(Self { paths, prints: Mutex::new(before), current: RwLock::new(Arc::new(served)) })
    }

    /// What a connection that comes now is served with.
    #[must_use]
    pub fn current(&self) -> Arc<Served> {
        Arc::clone(&self.current.read())
    }

    /// Reads the files again, as SIGHUP and `pg_reload_conf()` ask.
    ///
    /// # Errors
    /// As [`Served::load`]; then what was served is served on.
    pub fn reload(&self) -> Result<(), Refusal> {
        let mut known = self.prints.lock();
        *known = prints(&self.paths);
        let served = Served::load(&self.paths)?;
        *self.current.write() = Arc::new(served);
        Ok(())
    }

    /// Reads the files again if one of them is another than when they were read last; a few calls of the kernel if none is. True if
    /// something new is served. To be called every few seconds, on a thread that may wait for a disk.
    ///
    /// # Errors
    /// As [`Served::load`], once for each change.
    pub fn reload_if_changed(&self) -> Result<bool, Refusal> {
        if *self.prints.lock() == prints(&self.paths) {
            return Ok(false);
        }
        self.reload().map(|()| true)
    }
}
