//! What exists: schemas, tables, indexes, views, sequences; kept in the store, seen as immutable snapshots.

pub mod descriptor;
pub mod snapshot;

pub use descriptor::*;
pub use snapshot::CatalogSnapshot;
