//! Filters of plans as [`Predicate`](stoa_table::access::Predicate)s: the one door between DataFusion's expressions and key ranges.
//!
//! Reading order: [`logical`] (what a statement says) → [`dynamic`] (what becomes known while it runs).

pub mod dynamic;
pub mod logical;

pub use logical::{ScanColumns, predicate};
