//! The audit log: who came, who was refused, what was changed of roles and rights, which statements were refused. A JSON object a line.
//!
//! A thread of its own writes, so that no connection waits for the disk. What it cannot take in time is not written but counted, and the
//! count is written when there is room again. Passwords are in none of it: statements come as others may see them.

use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::{SystemTime, UNIX_EPOCH};

/// Lines that wait to be written.
const WAITING: usize = 4096;

/// The log.
#[derive(Debug)]
pub struct Audit {
    lines: SyncSender<String>,
    lost: AtomicU64,
    path: PathBuf,
    file: Arc<Mutex<File>>,
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

impl Audit {
    /// Opens the file, or makes it, for the server's user alone.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = Arc::new(Mutex::new(open(path)?));
        let (lines, waiting) = sync_channel(WAITING);
        let writer = Arc::clone(&file);
        std::thread::Builder::new().name("audit".into()).spawn(move || write(&waiting, &writer))?;
        Ok(Self { lines, lost: AtomicU64::new(0), path: path.to_owned(), file })
    }

    /// Opens the file anew: whoever keeps old ones has renamed it.
    ///
    /// # Errors
    /// What the system says; then the old one is written on.
    pub fn reopen(&self) -> io::Result<()> {
        let file = open(&self.path)?;
        *self.file.lock() = file;
        Ok(())
    }

    /// Writes an event with what is known of it.
    pub fn record(&self, event: &str, facts: Map<String, Value>) {
        let lost = self.lost.swap(0, Ordering::Relaxed);
        if lost > 0 && self.lines.try_send(line("lost", Map::from_iter([("lines".to_owned(), json!(lost))]))).is_err() {
            self.lost.fetch_add(lost, Ordering::Relaxed);
        }
        match self.lines.try_send(line(event, facts)) {
            Ok(()) => {}
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {
                self.lost.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

fn line(event: &str, facts: Map<String, Value>) -> String {
    let mut all = Map::new();
    all.insert("time".into(), json!(timestamp(SystemTime::now())));
    all.insert("event".into(), json!(event));
    all.extend(facts);
    let mut out = Value::Object(all).to_string();
    out.push('\n');
    out
}

fn write(waiting: &Receiver<String>, file: &Mutex<File>) {
    let mut broken = false;
    for line in waiting {
        let written = file.lock().write_all(line.as_bytes());
        // Told once, not for each line.
        if let Err(error) = &written
            && !broken
        {
            tracing::error!(%error, "the audit log cannot be written");
        }
        broken = written.is_err();
    }
}

/// As RFC 3339 has it, in UTC, with milliseconds.
fn timestamp(at: SystemTime) -> String {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, second) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    // Days of the proleptic calendar, in eras of 400 years that begin in March.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute) = (second / 3600, second / 60 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{:02}.{:03}Z", second % 60, since.subsec_millis())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;
    use std::time::Duration;

    #[test]
    fn times_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399, "2000-02-28T23:59:59.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
            (1_798_761_599, "2026-12-31T23:59:59.000Z"),
        ] {
            assert_eq!(timestamp(UNIX_EPOCH + Duration::from_secs(seconds)), expected);
        }
    }

    #[test]
    fn lines_are_written_and_go_to_a_new_file_after_a_rename() {
        let directory = tempfile::tempdir().unwrap();
        let (path, old) = (directory.path().join("audit"), directory.path().join("old"));
        let audit = Audit::open(&path).unwrap();
        let read = |path: &Path, count: usize| {
            for _ in 0..200 {
                let text = std::fs::read_to_string(path).unwrap();
                if text.lines().count() >= count {
                    return text.lines().map(|l| serde_json::from_str::<Value>(l).unwrap()).collect::<Vec<_>>();
                }
                std::thread::sleep(Duration::from_millis(10));
            }
            Vec::new()
        };
        audit.record("connection", Map::from_iter([("user".to_owned(), json!("a\"\n"))]));
        let lines = read(&path, 1);
        assert_eq!((&lines[0]["event"], &lines[0]["user"]), (&json!("connection"), &json!("a\"\n")));
        std::fs::rename(&path, &old).unwrap();
        audit.reopen().unwrap();
        audit.record("disconnection", Map::new());
        assert_eq!(read(&path, 1)[0]["event"], json!("disconnection"));
        assert_eq!(read(&old, 1).len(), 1);
    }
}
