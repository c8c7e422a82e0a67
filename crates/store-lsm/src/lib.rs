//! The store's promise kept on one machine, on RocksDB.
//!
//! [`LsmStore`] is the door. In reading order: [`keys`] (how cells lie in RocksDB), `view` (what a reader sees), `scan`,
//! `files`, `get`, `cached_ranges` and `iterator` (reading), `batch` and `commit` (writing: one thread owns it), `ddl`,
//! `bulk`, `purge`, `retention`, `regions`, `traffic`, `sweep`, `log_marks` and `log_recovery` (RocksDB's log), `directories` and `space`
//! (the disk), and [`metadata`] (what the store remembers of itself).
//!
//! Invariants: a published view holds only what is durable (or was committed as relaxed), and all of it; every entry's
//! storage id belongs to one family of one table, for ever; timestamps never go back, over restarts too.
//!
//! ```
//! # use stoa_store::{FamilyId, FamilyOptions, FamilySchema, Mutations, Commit, Durability, Store, TableId, TableSchema};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let store = stoa_store_lsm::LsmStore::open(directory.path(), stoa_store_lsm::LsmOptions::default())?;
//! let family = FamilySchema { id: FamilyId(0), name: "f".into(), options: FamilyOptions::default() };
//! let table = TableSchema { id: TableId(1), name: "t".into(), families: vec![family], split_points: vec![] };
//! store.create_table(&table).await?;
//! let mut mutations = Mutations::new();
//! mutations.put(TableId(1), b"key", FamilyId(0), b"", b"value");
//! store.commit(Commit { mutations: &mutations, snapshot: None, validate: &[], durability: Durability::Sync }).await?;
//! # Ok::<_, stoa_store::StoreError>(())
//! # })?;
//! # Ok(())
//! # }
//! ```

mod batch;
mod bulk;
mod cached_ranges;
mod commit;
mod database;
mod ddl;
mod directories;
mod files;
mod get;
mod history;
mod iterator;
pub mod keys;
mod log_marks;
mod log_recovery;
pub mod metadata;
mod options;
mod purge;
mod regions;
mod retention;
mod scan;
mod schedule;
mod sorted_files;
mod space;
mod store;
mod sweep;
mod traffic;
mod view;

pub use directories::{make_directory, sync_directory};
pub use options::LsmOptions;
pub use store::LsmStore;
