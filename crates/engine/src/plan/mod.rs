//! Typed tree to DataFusion: a logical plan, its optimisation, its execution.
//!
//! Columns are called `c` and their id: names are unique in a plan. Subqueries never reach DataFusion as such: [`decorrelate`]
//! makes joins of what can be joined, values that do not depend on a row are computed first, and the rest runs by
//! [`stoa_exec::nodes::apply`]. Reading order: [`stoa_sql::typed`] → [`decorrelate`] → [`relation`] →
//! [`aggregate`] → [`mod@execute`].

pub mod advise;
pub mod aggregate;
mod apply;
pub(crate) mod compiled;
pub mod decorrelate;
pub mod execute;
pub mod explain;
mod first_rows;
pub(crate) mod guard;
mod history;
pub mod index_order;
mod join_order;
pub mod lookup_join;
mod membership;
mod range_join;
mod readable;
mod recursive;
pub mod relation;
pub mod rules;
mod sample;
mod scan;
mod search_limit;
mod set_operation;
mod sets;
pub mod window;

#[cfg(test)]
mod data_tests;
#[cfg(test)]
mod lookup_join_tests;
#[cfg(test)]
mod path_tests;
#[cfg(test)]
mod range_join_tests;

pub(crate) use compiled::{PlanCache, is_inline};
pub use execute::{Executed, execute, explain};
pub(crate) use execute::{execute_cached, execute_part};
pub(crate) use scan::as_micros;
