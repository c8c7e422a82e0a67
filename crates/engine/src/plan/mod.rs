//! Typed tree to DataFusion: a logical plan, its optimisation, its execution.
//!
//! Columns are called `c` and their id: names are unique in a plan. Subqueries never reach DataFusion as such: [`decorrelate`]
//! makes joins of what can be joined, values that do not depend on a row are computed first, and the rest runs by
//! [`crate::exec::apply`]. Reading order: [`crate::typed`] → [`decorrelate`] → [`relation`] →
//! [`aggregate`] → [`mod@execute`].

pub mod advise;
pub mod aggregate;
mod array_agg;
mod branches;
pub(crate) mod compiled;
mod decimal_sum;
pub mod decorrelate;
pub mod distinct;
pub mod execute;
mod first_rows;
mod frame;
pub(crate) mod guard;
pub mod index_order;
mod join_order;
pub mod lookup_join;
mod mend;
mod never;
pub mod node;
pub(crate) mod pull_up;
pub(crate) mod raises;
mod readable;
pub mod relation;
pub mod rules;
pub mod sliding;
pub mod window;

pub(crate) use compiled::{PlanCache, is_inline};
pub use execute::{Executed, execute, explain};
pub(crate) use execute::{execute_cached, execute_part};
