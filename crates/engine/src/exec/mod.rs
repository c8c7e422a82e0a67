//! Execution nodes, one file each, and the table provider.

pub mod apply;
pub mod context;
pub mod lock_rows;
pub mod project_set;
pub mod recursive;
pub mod sample;

pub use context::StatementContext;
