//! A session: the only entry for statements. Settings, the transaction, prepared statements, cursors, COPY, notifications.
//!
//! Reading order: [`api`] (what callers see) → [`shared`] (what other sessions may see of this one) → [`settings`] →
//! [`session_impl`] (life of a session and of a statement) → [`dispatch`] (one statement) → [`transaction`] → [`prepared`], [`shapes`] →
//! [`cursor`] → [`copy`] → [`explain`] → [`system`], [`functions`] (what functions may ask).

pub(crate) mod admission;
pub mod api;
mod background;
pub(crate) use background::{background_build, background_check};
pub(crate) mod check;
pub(crate) mod commit_status;
pub mod copy;
pub mod cursor;
pub(crate) mod cursor_row;
pub mod dispatch;
pub mod explain;
pub mod functions;
pub mod guard;
pub mod prepared;
pub mod session_impl;
pub mod settings;
mod shapes;
pub mod shared;
pub mod show;
pub mod system;
pub(crate) mod table_locks;
pub mod transaction;
pub(crate) mod waiting;

pub use api::{
    CopyFormat, Execution, Notice, OutputColumn, ParamValue, Prepared, Rows, RowsTag, Session, SessionOptions, TransactionStatus,
};
pub(crate) use cursor_row::KEY_OF_CURRENT_ROW;
pub use prepared::Description;
pub use shared::SessionShared;
pub use stoa_table::services::notifications::Notification;
