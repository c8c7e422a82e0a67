//! Directories that are still there after a power loss: a name is on stable storage when the directory that holds it was synced. They are
//! their owner's alone: what is in them has no other protection against users of the machine.

use std::fs::{DirBuilder, File};
use std::io::Result;
use std::path::Path;

/// Makes a directory and those above it that are missing, for their owner alone.
///
/// # Errors
/// What the file system says.
pub fn make_directory(path: &Path) -> Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let parent = path.parent();
    if let Some(parent) = parent.filter(|parent| !parent.as_os_str().is_empty()) {
        make_directory(parent)?;
    }
    let mut maker = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut maker, 0o700);
    match maker.create(path) {
        // Somebody else was faster.
        Err(_) if path.is_dir() => {}
        made => made?,
    }
    parent.map_or(Ok(()), sync_directory)
}

/// Brings the names in a directory to stable storage; the parent of a plain file name, which is empty, is the working directory.
///
/// # Errors
/// What the file system says.
pub fn sync_directory(path: &Path) -> Result<()> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}

/// Brings a directory with all that is in it to stable storage.
pub(crate) fn sync_all(path: &Path) -> Result<()> {
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_all(&entry.path())?;
        } else {
            File::open(entry.path())?.sync_all()?;
        }
    }
    sync_directory(path)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn directories_are_their_owners_alone() {
        let base = tempfile::tempdir().unwrap();
        let made = base.path().join("a/b");
        make_directory(&made).unwrap();
        for path in [made.as_path(), made.parent().unwrap()] {
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        }
    }
}
