//! What exists: schemas, tables, indexes, views, sequences; kept in the store, seen as immutable snapshots.
//!
//! Reading order: [`descriptor`] → [`snapshot`] → [`store`] → [`sequence`].

pub mod descriptor;
pub mod sequence;
pub mod snapshot;
pub mod store;

pub use descriptor::*;
pub use snapshot::CatalogSnapshot;
pub use store::open;
