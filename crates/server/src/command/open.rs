//! Opening the database in a directory: the one place that names a store.

use super::CommandError;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stoa_engine::{Database, DatabaseOptions, Tables};

/// Options of every command that opens a database.
#[derive(clap::Args, Clone, Debug)]
pub struct DataOptions {
    /// The directory of the database; made if there is none.
    #[arg(long, value_name = "DIR")]
    pub data: PathBuf,
    /// The memory that the process may use, as 512MB or 4GB. Of what the program itself does not need, half is for statements and for
    /// columns that are kept in memory, and a quarter for the store's caches.
    #[arg(long, value_name = "SIZE", value_parser = super::size::parse)]
    pub memory_limit: Option<u64>,
    /// Rows and entries a second that the background check of indexes reads; 0 switches it off.
    #[arg(long, value_name = "ROWS", default_value_t = 10_000)]
    pub scrub_rate: u64,
    /// Hours after which the indexes of a table are checked again.
    #[arg(long, value_name = "HOURS", default_value_t = 24.0)]
    pub scrub_interval: f64,
}

/// Opens a database that is there: a mistyped directory is an error, where an empty database would be of no use.
pub async fn open_existing(options: &DataOptions) -> Result<Database, CommandError> {
    if !options.data.join("store").is_dir() {
        return Err(CommandError::Usage(format!("there is no database in {}", options.data.display())));
    }
    open(options).await
}

/// Opens the database, or makes one in an empty directory.
pub async fn open(options: &DataOptions) -> Result<Database, CommandError> {
    open_for(options, DatabaseOptions::default().max_sessions).await
}

/// As [`open`], for so many sessions at a time.
pub async fn open_for(options: &DataOptions, max_sessions: usize) -> Result<Database, CommandError> {
    let limit = options.memory_limit.unwrap_or_else(default_memory_limit);
    if limit < 64 << 20 {
        return Err(CommandError::Usage("--memory-limit must be at least 64MB".into()));
    }
    if let Some(total) = machine_memory().filter(|total| limit > *total) {
        return Err(CommandError::Usage(format!("--memory-limit is more than the {} MB that this machine has", total >> 20)));
    }
    crate::allocator::prepare(limit);
    let own = own_bytes(limit);
    let shared = limit - own;
    make_directory(&options.data)?;
    let spill = options.data.join("spill");
    // What an earlier process spilled is of no use.
    let _ = std::fs::remove_dir_all(&spill);
    make_directory(&spill)?;
    let store = stoa_store_lsm::LsmStore::open(
        options.data.join("store"),
        stoa_store_lsm::LsmOptions {
            block_cache_bytes: usize::try_from(shared / 4).unwrap_or(usize::MAX),
            write_buffer_bytes: usize::try_from(shared / 8).unwrap_or(usize::MAX),
            ..stoa_store_lsm::LsmOptions::default()
        },
    )?;
    let interval = std::time::Duration::try_from_secs_f64(options.scrub_interval * 3600.0)
        .map_err(|_| CommandError::Usage("--scrub-interval must be a number of hours".into()))?;
    let database = DatabaseOptions {
        scrub: stoa_engine::environment::checks::ScrubOptions { rows_per_second: options.scrub_rate, interval },
        query_memory_bytes: usize::try_from(shared / 2).unwrap_or(usize::MAX),
        process_memory_bytes: Some(usize::try_from(limit - unasked_bytes(limit)).unwrap_or(usize::MAX)),
        memory_pressure: Some(crate::allocator::under_pressure),
        spill_directory: Some(spill),
        text_directory: Some(options.data.join("text")),
        max_sessions,
        memory_limit_bytes: Some(limit),
        ..DatabaseOptions::default()
    };
    Ok(Database::open(Tables::new(Arc::new(store)), database).await?)
}

fn make_directory(path: &Path) -> Result<(), CommandError> {
    stoa_store_lsm::make_directory(path)
        .map_err(|error| CommandError::Io { what: format!("cannot make the directory {}", path.display()), error })
}

/// What the program itself takes: code, threads, connections, buffers of files. Of small limits more is left, for what statements take
/// beside their share is as much as in large ones.
fn own_bytes(limit: u64) -> u64 {
    (limit / 2).min((160_u64 << 20).saturating_sub(limit / 8).max(96 << 20))
}

/// What statements take between two questions whether there is room.
fn unasked_bytes(limit: u64) -> u64 {
    (limit * 9 / 20).min(128 << 20).max(limit / 16)
}

fn machine_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|l| l.starts_with("MemTotal:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

/// Half of the machine's memory, at least 256 MiB if it has as much.
fn default_memory_limit() -> u64 {
    machine_memory().map_or(1 << 30, |total| (total / 2).max((256 << 20).min(total)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_limit_leaves_more_to_share() {
        let mb = |bytes: u64| bytes >> 20;
        let shares = |limit: u64| (mb(own_bytes(limit << 20)), mb(unasked_bytes(limit << 20)));
        assert_eq!([64, 128, 256, 512, 1024, 65536].map(shares), [(32, 28), (64, 57), (128, 115), (96, 128), (96, 128), (96, 4096)]);
        let mut last = (0, 0);
        for limit in (64..2048).map(|limit| limit << 20) {
            let left = (limit - own_bytes(limit), limit - unasked_bytes(limit));
            assert!(left.0 > last.0 && left.1 > last.1, "{limit}");
            last = left;
        }
    }
}
