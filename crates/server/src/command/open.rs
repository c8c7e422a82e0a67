//! Opening a database, in a directory or on a cluster: the one place that names a store.

use super::CommandError;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stoa_engine::memory::Shares;
use stoa_engine::memory::shares::LEAST_LIMIT;
use stoa_engine::{Database, DatabaseOptions, Tables};
use stoa_store::Store;
use stoa_store_hbase::{HbaseStore, HbaseUrl, WithElsewhere};

/// Options of every command that opens a database.
#[derive(clap::Args, Clone, Debug)]
pub struct DataOptions {
    /// The directory of the database; made if there is none.
    #[arg(long, value_name = "DIR")]
    pub data: PathBuf,
    /// Keep the tables in a namespace of an HBase cluster, as hbase://zk1,zk2:2181/shop. The directory then has what belongs to this
    /// machine: full text indexes, rules of hosts, certificates.
    #[arg(long, value_name = "URL")]
    pub store: Option<HbaseUrl>,
    /// Take the namespace over from another process that has it open, which can write no more from then on.
    #[arg(long, requires = "store")]
    pub take_over: bool,
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
    let (there, place) = match &options.store {
        Some(url) => (HbaseStore::is_there(&url.options()).await?, url.to_string()),
        None => (options.data.join("store").is_dir() || recorded(&options.data).is_some(), options.data.display().to_string()),
    };
    if !there {
        return Err(CommandError::Usage(format!("there is no database in {place}")));
    }
    open(options).await
}

/// The file of a directory whose tables are on a cluster: where.
const PLACE: &str = "store.url";

/// Where the tables of a directory are, if they are on a cluster.
fn recorded(data: &Path) -> Option<String> {
    std::fs::read_to_string(data.join(PLACE)).ok().map(|text| text.trim().to_owned())
}

/// What is in a directory belongs to the tables that it was made for.
fn check_place(options: &DataOptions) -> Result<(), CommandError> {
    let data = options.data.display();
    let problem = match (&options.store, recorded(&options.data)) {
        (None, Some(place)) => format!("the tables of {data} are on a cluster: say --store {place}"),
        (Some(url), Some(place)) if url.to_string() != place => format!("{data} belongs to {place}: take another directory for {url}"),
        (Some(url), None) if options.data.join("store").exists() => {
            format!("{data} has tables of its own: take another directory for {url}")
        }
        _ => return Ok(()),
    };
    Err(CommandError::Usage(problem))
}

async fn open_store(options: &DataOptions, memory: &Shares) -> Result<Arc<dyn Store>, CommandError> {
    let Some(url) = &options.store else {
        let lsm = stoa_store_lsm::LsmOptions {
            block_cache_bytes: memory.store_cache(),
            write_buffer_bytes: memory.store_writes(),
            ..stoa_store_lsm::LsmOptions::default()
        };
        return Ok(Arc::new(stoa_store_lsm::LsmStore::open(options.data.join("store"), lsm)?));
    };
    let mut hbase = url.options();
    hbase.take_over = options.take_over;
    let store = HbaseStore::open(hbase).await.map_err(|error| match error {
        stoa_store::StoreError::Locked(message) => {
            CommandError::Usage(format!("{message}; stop it, or take the namespace over with --take-over"))
        }
        error => CommandError::Usage(format!("cannot open {url}: {error}")),
    })?;
    let io = |error| CommandError::Io { what: format!("cannot write {}", options.data.join(PLACE).display()), error };
    std::fs::write(options.data.join(PLACE), format!("{url}\n")).map_err(io)?;
    Ok(Arc::new(store))
}

/// Opens the database, or makes one in an empty directory.
pub async fn open(options: &DataOptions) -> Result<Database, CommandError> {
    open_for(options, DatabaseOptions::default().max_sessions).await
}

/// As [`open`], for so many sessions at a time.
pub async fn open_for(options: &DataOptions, max_sessions: usize) -> Result<Database, CommandError> {
    let limit = options.memory_limit.unwrap_or_else(default_memory_limit);
    if limit < LEAST_LIMIT {
        return Err(CommandError::Usage("--memory-limit must be at least 64MB".into()));
    }
    if let Some(total) = machine_memory().filter(|total| limit > *total) {
        return Err(CommandError::Usage(format!("--memory-limit is more than the {} MB that this machine has", total >> 20)));
    }
    crate::allocator::prepare(limit);
    let memory = Shares::of_limit(limit);
    check_place(options)?;
    make_directory(&options.data)?;
    let store = open_store(options, &memory).await?;
    // What an earlier process spilled is of no use; that it is not another one that still runs, the open store tells.
    let spill = options.data.join("spill");
    let _ = std::fs::remove_dir_all(&spill);
    make_directory(&spill)?;
    let interval = std::time::Duration::try_from_secs_f64(options.scrub_interval * 3600.0)
        .map_err(|_| CommandError::Usage("--scrub-interval must be a number of hours".into()))?;
    let database = DatabaseOptions {
        scrub: stoa_engine::environment::checks::ScrubOptions { rows_per_second: options.scrub_rate, interval },
        memory,
        memory_pressure: Some(crate::allocator::under_pressure),
        spill_directory: Some(spill),
        text_directory: Some(options.data.join("text")),
        max_sessions,
        ..DatabaseOptions::default()
    };
    Ok(Database::open(Tables::new(Arc::new(WithElsewhere::new(store))), database).await?)
}

fn make_directory(path: &Path) -> Result<(), CommandError> {
    stoa_store_lsm::make_directory(path)
        .map_err(|error| CommandError::Io { what: format!("cannot make the directory {}", path.display()), error })
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
