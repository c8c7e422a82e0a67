//! What a statement has around it: the database, its session, its transaction, its own text and values.
//!
//! Reading order: [`database`] → [`session`] → [`statement`]; [`builds`] and [`checks`] are parts of the database; [`upkeep`]
//! is what it does by itself; [`server`] is what is around it.

pub mod builds;
pub mod checks;
pub mod counters;
pub mod database;
pub mod guard;
pub mod server;
pub mod session;
pub mod statement;
pub mod upkeep;
pub mod waiting;

pub use database::{DatabaseInner, DatabaseOptions, Instance};
pub use session::{Notice, SessionShared};
pub use statement::{SessionEnvironment, StatementContext, SystemRows};
