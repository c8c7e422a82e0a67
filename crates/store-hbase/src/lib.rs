//! [`HbaseStore`]: the promise of [`stoa_store`] kept by an HBase cluster, 2.5 or later, on which nothing is installed.
//!
//! ```no_run
//! use stoa_hbase_client::ClientConfig;
//! use stoa_store::{Store, TableId};
//! use stoa_store_hbase::{HbaseOptions, HbaseStore};
//!
//! # async fn run() -> Result<(), stoa_store::StoreError> {
//! let store = HbaseStore::open(HbaseOptions::new(ClientConfig::zookeeper("zk1:2181,zk2:2181"), "shop")).await?;
//! assert!(store.describe_table(TableId(1)).await?.is_none());
//! # Ok(()) }
//! ```
//!
//! A commit is a record in a [`log`] of a few rows, written on condition that this process still owns it; from then on it is visible, to
//! readers that lay it over what HBase says ([`pending`], [`read`], [`scan`]); behind that its cells are written to HBase's tables
//! ([`apply`]). [`commit`] is the one task that makes commits, [`changes`] what they are made of, [`ticks`] their times; [`tables`],
//! [`schema`] and [`ddl`] are tables, [`sizes`] how large they are, [`loads`] bulk loads,
//! [`backfill`] entries of indexes that are built,
//! [`backup`] copies of all of it. [`elsewhere`] are tables of other programs, beside any store. `docs/hbase.md` says what an HBase user sees.
#![allow(rustdoc::private_intra_doc_links)]

mod apply;
mod backfill;
mod backup;
mod changes;
mod commit;
mod ddl;
mod elsewhere;
mod failure;
mod history;
mod keys;
mod loads;
mod log;
mod options;
mod owner;
mod pending;
mod read;
mod scan;
mod schema;
mod sizes;
mod store;
mod tables;
mod ticks;
mod url;
mod views;

pub use elsewhere::WithElsewhere;
pub use options::HbaseOptions;
#[doc(hidden)]
pub use options::{Faults, Markers};
pub use store::HbaseStore;
pub use url::HbaseUrl;
