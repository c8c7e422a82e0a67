//! A client of HBase 2.5 and later, without Java: gets, puts, deletes, check-and-mutates, scans, and the administration of tables.
//!
//! ```no_run
//! use stoa_hbase_client::{Client, ClientConfig, Get, Mutation, Scan};
//!
//! # async fn run() -> Result<(), stoa_hbase_client::Error> {
//! let client = Client::connect(ClientConfig::zookeeper("zk1:2181,zk2:2181"))?;
//! let table = client.table("ns:table")?;
//! table.mutate(&Mutation::put("row").set("f", "name", "value")).await?;
//! let row = table.get(&Get::new("row").column("f", "name")).await?;
//! assert_eq!(row.as_ref().and_then(|row| row.value(b"f", b"name")), Some(&b"value"[..]));
//! let mut scanner = table.scan(Scan::range("a", "z").family("f"));
//! while let Some(row) = scanner.next().await? {
//!     println!("{:?}", row.cells());
//! }
//! # Ok(()) }
//! ```
//!
//! What can be relied on:
//!
//! - **No call outlives its timeout**, over all its tries, and nothing blocks a thread: the client has a small runtime of its own, and its
//!   futures can be awaited anywhere.
//! - **Regions may split, merge and move, and their servers die**: calls are sent again where they belong. A write that is acknowledged is
//!   done; one whose outcome nobody knows ends as [`Error::Unknown`]; one that twice would do harm is not sent twice. Increment and
//!   Append are left out for that reason.
//! - **Scans give each row once, whole and in order.**
//! - **Memory is bounded**, by the limits of [`ClientConfig`]; what a server sends is checked before it is believed.
//!
//! Where to read on: [`call`] (tries), [`connection`], [`regions`], [`multi`], [`scanner`], [`admin`], and below them [`wire`] and
//! [`messages`].
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
#![allow(rustdoc::private_intra_doc_links)]

mod admin;
mod call;
mod client;
mod config;
mod connection;
mod error;
mod filter;
mod get;
mod messages;
mod metrics;
#[cfg(test)]
mod mock;
mod multi;
mod mutation;
mod names;
mod regions;
mod registry;
mod row;
mod runtime;
mod scanner;
mod wire;

pub use admin::{Admin, FamilyDescriptor, RegionSize, Snapshot, TableDescriptor};
pub use client::{Client, Table};
pub use config::{ClientConfig, Security};
pub use error::{Error, Exception};
pub use filter::{Comparator, Compare, Filter, RowRange};
pub use get::Get;
pub use metrics::{Metrics, ServerMetrics};
pub use multi::Action;
pub use mutation::{CheckAndMutate, Condition, Durability, Mutation};
pub use names::{ServerName, TableName};
pub use regions::Region;
pub use row::Row;
pub use scanner::{Scan, Scanner};
pub use wire::cell::{Cell, CellKind, LATEST};
