//! What exists: schemas, tables, indexes, views, sequences; kept in the store, seen as immutable snapshots.
//!
//! Reading order: [`descriptor`] → [`snapshot`] → [`store`] → [`numbers`].

pub mod descriptor;
pub mod numbers;
pub mod snapshot;
pub mod store;

pub use descriptor::*;
pub use numbers::{Numbers, SequenceState};
pub use snapshot::CatalogSnapshot;
