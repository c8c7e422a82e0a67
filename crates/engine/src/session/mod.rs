//! A session: the only entry for statements. Settings, the transaction, prepared statements, cursors, COPY, notifications.
//!
//! Reading order: [`api`] (what callers see) → [`stoa_exec::environment::session`] (what other sessions may see of this one) → [`stoa_exec::settings`] →
//! [`session_impl`] (life of a session and of a statement) → [`dispatch`] (one statement) → [`transaction`] → [`prepared`], [`statement_cache`] →
//! [`login`], [`roles`] → [`cursor`] → [`copy`] → [`explain`], [`block`] → [`system`], [`functions`] (what functions may ask).

pub mod api;
pub(crate) mod background;
mod block;
pub(crate) mod check;
pub(crate) mod commit_status;
pub mod copy;
pub mod cursor;
pub(crate) mod cursor_row;
pub mod dispatch;
pub mod explain;
pub mod functions;
mod large_object_functions;
pub mod login;
mod object_functions;
pub mod prepared;
mod roles;
pub mod session_impl;
pub mod show;
mod statement_cache;
pub mod system;
pub(crate) mod table_locks;
mod text_functions;
pub mod transaction;

pub use api::{CopyFormat, Execution, OutputColumn, ParamValue, Prepared, Rows, RowsTag, Session, SessionOptions, TransactionStatus};
pub use login::LoginRole;
pub use prepared::Description;
pub use stoa_exec::environment::{Notice, SessionShared};
pub use stoa_table::services::notifications::Notification;

#[cfg(test)]
mod database_tests;
#[cfg(test)]
mod definition_tests;
#[cfg(test)]
mod dropped_tests;
#[cfg(test)]
mod policy_tests;
#[cfg(test)]
mod role_tests;
#[cfg(test)]
mod virtual_tables_tests;
#[cfg(test)]
pub(crate) mod write_tests;
