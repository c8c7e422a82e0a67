//! What PostgreSQL means by a type, an operator, a function and a text form.
//!
//! This crate knows values and nothing else: no tables, no plans, no sockets. Kernels work on Arrow arrays; every signature
//! stands once, in the [`registry`], which binds names, prints `\df`, and feeds `pg_proc`, `pg_operator` and `pg_cast`. What texts say
//! without a type is read by [`stoa_text`]; errors are those of [`stoa_error`], which crates above take from here.
//!
//! Reading order: [`types`] → [`settings`] → [`context`] → [`args`] → [`registry`] → `values` (one file a kind of
//! value: its text, its binary form, its order) → `casts` → `operators` → `functions` → [`items`].

pub mod args;
pub mod casts;
pub mod collation;
pub mod context;
pub mod functions;
pub mod items;
pub mod memory;
pub mod operators;
pub mod registry;
pub mod settings;
pub mod type_functions;
pub mod types;
pub mod values;

pub use context::EvalContext;
pub use error::{PgError, PgResult, SqlState};
pub use stoa_error as error;
pub use stoa_error::sqlstate;
pub use types::{PgType, SqlType};
