//! Here is a statement: do it. The engine knows no socket, no terminal, and not which store it runs on.
//!
//! # Life of a SELECT
//!
//! [`session`] is the only entry. The text is parsed once (`stoa_syntax`); [`stoa_sql::bind`] resolves names, types and functions as
//! PostgreSQL does and gives a typed tree ([`stoa_sql::typed::tree`]); [`plan`] turns it into a DataFusion plan; `stoa_table` turns
//! filters into key ranges; scan nodes in [`stoa_exec::nodes`] stream what it reads.
//!
//! # Life of an INSERT
//!
//! Same front. The statement becomes a query that yields the rows to write, with [`mod@stoa_exec::write`] on top, which checks constraints and
//! maintains indexes; `stoa_table` commits all of it, or nothing.

pub mod database;
pub mod ddl;
pub mod embed;
pub mod plan;
pub mod raw;
pub mod session;

pub use database::Database;
pub use session::login::LoginRole;
pub use session::{Execution, OutputColumn, Prepared, Session, SessionOptions};
pub use stoa_exec::environment::DatabaseOptions;
/// What a server names.
pub use stoa_exec::{environment, memory, settings};
/// What a [`Database`] is opened on.
pub use stoa_table::Tables;
