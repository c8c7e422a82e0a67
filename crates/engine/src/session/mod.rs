//! A session: the only entry for statements. Settings, the transaction, prepared statements, portals, cursors.

pub mod api;

pub use api::{CopyFormat, Execution, Notice, OutputColumn, Prepared, Session, SessionOptions, TransactionStatus};
