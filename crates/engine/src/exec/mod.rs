//! Execution nodes, one file each, and the table provider.

pub mod apply;
pub mod context;
pub mod index_lookup;
pub mod key_range_scan;
pub mod lock_rows;
pub mod point_get;
pub mod project_set;
pub mod recursive;
pub mod sample;
pub mod scan_output;
pub mod table_provider;

#[cfg(test)]
mod scan_tests;

pub use context::StatementContext;
