//! Statements over few rows, compiled once and run without DataFusion.
//!
//! A statement is a tree of few kinds of nodes with parameters ([`query`]) over compiled reads ([`read`]) and values; expressions are
//! evaluated by [`scalar`]. [`cache`] keeps what is compiled with the statement as it is bound.
//! Scans that no key narrows, under simple projections, are run as they stand ([`simple_scan`]). [`inline`] says which statements take
//! so little that a thread may execute them between the messages of others.
//!
//! Invariant: the answer is the planner's; what is not recognised is left to it.

mod both_sides;
mod cache;
mod compile;
mod group;
mod inline;
mod joins;
pub(crate) mod kept;
mod keys;
#[cfg(test)]
mod nested_tests;
mod query;
mod read;
mod scalar;
pub(super) mod simple_scan;
mod sink;
#[cfg(test)]
mod tests;
mod values_row;
mod window;

pub(crate) use cache::{Compiled, PlanCache};
pub(crate) use inline::is_inline;
pub(super) use inline::{readies_sequences, sequences};
pub(crate) use query::{CompiledQuery, Ctes};
pub(crate) use read::CompiledRows;
