//! Execution nodes, one file each, and the table provider.

pub mod context;

pub use context::StatementContext;
