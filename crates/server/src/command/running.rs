//! The file by which other commands find the server that runs on a directory: `stoa.pid`. It is there while the server runs, and after it was
//! killed, so whoever reads it tries.

use super::CommandError;
use std::path::{Path, PathBuf};

const NAME: &str = "stoa.pid";

/// The file of the server that runs.
#[derive(Debug)]
pub struct RunningFile(PathBuf);

/// What it tells.
#[derive(Debug, PartialEq, Eq)]
pub struct RunningServer {
    pub pid: u32,
    pub port: u16,
    /// Where its Unix socket is, if it has one.
    pub socket: Option<PathBuf>,
}

impl RunningFile {
    /// Writes it: PID, directory, port, socket, a line each.
    ///
    /// # Errors
    /// What the system says.
    pub fn write(directory: &Path, port: u16, socket: Option<&Path>) -> Result<Self, CommandError> {
        let path = directory.join(NAME);
        let socket = socket.map(|path| path.display().to_string()).unwrap_or_default();
        let text = format!("{}\n{}\n{port}\n{socket}\n", std::process::id(), directory.display());
        std::fs::write(&path, text).map_err(|error| CommandError::Io { what: format!("cannot write {}", path.display()), error })?;
        Ok(Self(path))
    }
}

impl Drop for RunningFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The server that the file of a directory tells of.
#[must_use]
pub fn find(directory: &Path) -> Option<RunningServer> {
    let text = std::fs::read_to_string(directory.join(NAME)).ok()?;
    let mut lines = text.lines();
    let pid = lines.next()?.parse().ok()?;
    let port = lines.nth(1)?.parse().ok()?;
    Some(RunningServer { pid, port, socket: lines.next().filter(|line| !line.is_empty()).map(PathBuf::from) })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_is_written_is_found() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(find(directory.path()), None);
        let file = RunningFile::write(directory.path(), 5433, Some(Path::new("/tmp/.s.PGSQL.5433"))).unwrap();
        let socket = Some(PathBuf::from("/tmp/.s.PGSQL.5433"));
        assert_eq!(find(directory.path()), Some(RunningServer { pid: std::process::id(), port: 5433, socket }));
        drop(file);
        assert_eq!(find(directory.path()), None);
    }
}
