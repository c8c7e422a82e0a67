//! Execution nodes, one file each, and the table provider.

pub mod apply;
pub mod barrier;
pub mod bounded;
mod cached_columns;
pub mod foreign_form;
pub mod history;
pub mod index_lookup;
mod join_pairs;
pub mod key_range_scan;
pub mod key_set;
pub mod leaf;
pub mod lock_rows;
pub mod lookup_join;
pub mod point_get;
pub mod project_set;
pub mod raises;
pub mod range_join;
mod ranges;
pub mod request;
pub mod scan_output;
pub mod shown;
pub mod source;
pub mod table_provider;
pub mod text_search;
pub mod working_table;

#[cfg(test)]
mod range_join_tests;
#[cfg(test)]
mod scan_tests;

pub use crate::environment::StatementContext;
