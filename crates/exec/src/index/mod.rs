//! The life of an index beside the rows that it follows: online builds, proof that it equals its table, and repair.
//!
//! Reading order: [`entries`] (what the entries of a table's rows should be) → [`build`] → [`sorter`] → [`mod@check`] → [`check_rows`] → [`ageing`] →
//! [`repair`] → [`scrub`].

pub mod ageing;
pub mod build;
pub mod check;
pub mod check_rows;
pub mod entries;
pub mod repair;
pub mod scrub;
pub mod sorter;

pub use check::{CheckTarget, Fault, FaultKind, check};
