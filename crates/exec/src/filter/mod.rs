//! Filters of plans as [`Predicate`](stoa_table::access::Predicate)s: the one door between DataFusion's expressions and key ranges.
//!
//! Statements that are compiled have predicates of the typed tree, whose values come later; what a predicate is, which operator compares
//! how, what NULLs do and which key ranges follow is the same for both (`stoa_table::access`).
//!
//! Reading order: [`logical`] (what a statement says) → [`dynamic`] (what becomes known while it runs).

pub mod dynamic;
pub mod logical;

pub use logical::{ScanColumns, predicate};
