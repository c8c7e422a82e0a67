//! `REPLICA IDENTITY` of a table: kept to be shown, as there is no logical replication.

use super::descriptor::{Oid, TableDescriptor};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum ReplicaIdentity {
    /// The primary key, if there is one.
    #[default]
    Default,
    Nothing,
    Full,
    /// An index, or the constraint of the primary key; nothing once that is dropped.
    Index(Oid),
}

impl ReplicaIdentity {
    /// As `pg_class.relreplident` has it.
    #[must_use]
    pub fn letter(self) -> &'static str {
        match self {
            ReplicaIdentity::Default => "d",
            ReplicaIdentity::Nothing => "n",
            ReplicaIdentity::Full => "f",
            ReplicaIdentity::Index(_) => "i",
        }
    }

    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == ReplicaIdentity::Default
    }
}

impl TableDescriptor {
    /// Whether the index, or the primary key's constraint, was said to be the replica identity.
    #[must_use]
    pub fn is_replica_identity(&self, index: Oid) -> bool {
        self.replica_identity == ReplicaIdentity::Index(index)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn descriptors_that_say_nothing_of_it_have_the_default() {
        let mut table = crate::row::samples::table(&[], &[], &[]);
        // What older versions have stored, and what is stored of a table that says nothing of it.
        let old = serde_json::to_string(&table).unwrap();
        assert!(!old.contains("replica"), "{old}");
        assert_eq!(serde_json::from_str::<TableDescriptor>(&old).unwrap().replica_identity, ReplicaIdentity::Default);
        for said in [ReplicaIdentity::Nothing, ReplicaIdentity::Full, ReplicaIdentity::Index(16_400)] {
            table.replica_identity = said;
            let new = serde_json::to_string(&table).unwrap();
            assert_eq!(serde_json::from_str::<TableDescriptor>(&new).unwrap().replica_identity, said, "{new}");
        }
    }
}
