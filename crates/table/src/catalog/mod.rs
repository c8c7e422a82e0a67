//! What exists: databases, schemas, tables, indexes, views, sequences, roles and their rights; kept in the store, seen as immutable snapshots.
//!
//! Reading order: [`descriptor`] → [`mapping`] → [`role`] → [`acl`] → [`database`] → [`authority`] → [`policy`] → [`replica`] → [`dropped`] → [`snapshot`] →
//! [`store`] → [`large_object`] → [`numbers`].

pub mod acl;
pub mod authority;
pub mod database;
pub mod descriptor;
pub mod dropped;
pub mod large_object;
pub mod mapping;
pub mod numbers;
pub mod policy;
pub mod replica;
pub mod role;
pub mod snapshot;
pub mod store;

pub use acl::{Acl, AclItem, ObjectClass, Privileges};
pub use authority::{Authority, Rights, RightsOf};
pub use database::{DatabaseDescriptor, FIRST_DATABASE, Shared};
pub use descriptor::*;
pub use dropped::DroppedTable;
pub use large_object::LargeObject;
pub use mapping::{CELLS, Encoding, LOCATION, MappedColumn, Mapping};
pub use numbers::{Numbers, SequenceState};
pub use policy::{PolicyCommand, PolicyCondition, PolicyDescriptor, RowSecurity};
pub use replica::ReplicaIdentity;
pub use role::RoleDescriptor;
pub use snapshot::CatalogSnapshot;
