//! Execution nodes, one file each, and the table provider.

pub mod apply;
pub(crate) mod bounded;
pub mod context;
pub mod effects;
pub(crate) mod foreign_form;
pub mod in_order;
pub mod index_lookup;
mod kept_columns;
pub mod key_range_scan;
pub mod key_set;
pub(crate) mod leaf;
pub mod lock_rows;
pub mod lookup_join;
pub mod plain;
pub mod point_get;
pub mod project_set;
mod ranges;
pub mod recursive;
pub mod request;
pub mod sample;
pub mod scan_output;
pub mod skip_rows;
pub mod table_provider;
pub mod working_table;

#[cfg(test)]
mod lookup_join_tests;
#[cfg(test)]
mod path_tests;
#[cfg(test)]
mod scan_tests;

pub use context::StatementContext;
