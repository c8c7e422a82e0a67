//! What exists: schemas, tables, indexes, views, sequences; kept in the store, seen as immutable snapshots.
//!
//! Reading order: [`descriptor`] → [`snapshot`] → [`store`] → [`sequence`] → [`deparse`] → [`names`] → [`definition`] →
//! [`script`] → [`functions`].

pub mod definition;
pub mod deparse;
pub mod descriptor;
pub mod functions;
pub mod names;
pub mod script;
pub mod sequence;
pub mod snapshot;
pub mod store;

pub use descriptor::*;
pub use snapshot::CatalogSnapshot;
pub use store::open;
