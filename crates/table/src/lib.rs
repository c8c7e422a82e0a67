//! Here are tables, rows and transactions: what is stored, what may I see, what do I write? This crate knows no SQL: no syntax
//! tree, no binder, no plan, no session. It is the only one that reads and writes a store.
//!
//! [`catalog`] describes tables; [`row`] turns rows into keys and cells and back; [`access`] turns filters into key ranges and chooses
//! a path; [`services`] hold what nodes agree about; [`txn`] says what a statement sees, locks and commits; the [`feed`] tells derived structures of changes;
//! [`statistics`] and the [`column_cache`] are what planning and repeated scans go by.

pub mod access;
pub mod catalog;
pub mod clock;
pub mod column_cache;
pub mod failure;
pub mod feed;
pub mod raw;
pub mod row;
pub mod services;
pub mod statistics;
pub mod tables;
pub mod txn;

/// The types of a store in which ranges, rows and definitions are written; who uses them from here names no store.
pub use stoa_store::{
    BloomFilter, CellRef, CellTest, Compression, Durability, Enough, Extents, FamilyId, FamilyOptions, FamilySchema, History, HistorySink,
    KeyRange, Layout, MutationRef, Mutations, Region, RowSink, TableId, TableSchema, Timestamp, Traffic, Version, range,
};
pub use tables::Tables;
