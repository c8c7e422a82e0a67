//! Filters to key ranges, and the choice of an access path. Pure: no I/O, no plans, no async.
//!
//! ```text
//! filter ──► Predicate ──► boxes: a set of spans per key part ──► key ranges + which filters remain ──► path
//! ```
//!
//! Invariant: every row that satisfies the filters lies in the ranges. A filter is left out of the residual only if the ranges
//! hold nothing else, three-valued logic included: a comparison with NULL is never satisfied, and NULL lies in no comparison's
//! span.
//!
//! Reading order: [`predicate`] → [`constant`] → [`span`] → [`ranges`] → [`prefix`] → [`skip`] → [`path`] → [`combine`] → [`probe`] → `cell_tests` → [`explain`].

mod cell_tests;
pub mod combine;
pub mod constant;
pub mod explain;
pub mod path;
pub mod predicate;
pub mod preferences;
pub mod prefix;
pub mod probe;
pub mod ranges;
pub mod skip;
pub mod span;

pub use cell_tests::cell_tests;
pub use path::{AccessPath, PathKind, PathOptions, Usable, Ways, candidates, cheapest, choose, usable, ways};
pub use predicate::{Comparison, Predicate, ReadValue};
pub use preferences::{Hint, Preferences};
pub use probe::{Probe, ProbePart, probes};
pub use ranges::{KeyShape, Scope, scope};
pub use skip::{Skip, first_of_each};
