//! The services of one process on a store: all in its memory, and what must outlive it in the store.

use super::Services;
use super::leases::{Leases, LocalLeases};
use super::locks::{LockManager, Locks};
use super::publication::{LocalPublication, Publication};
use super::sequences::LocalNumbers;
use super::serializable::{Serializability, SerializableSet};
use super::sessions::{LocalSessions, Sessions};
use crate::catalog::Numbers;
use crate::clock::{Clock, SystemClock};
use std::sync::Arc;
use stoa_store::Store;

/// See the module.
#[derive(Debug)]
pub struct LocalServices {
    locks: LockManager,
    serializable: SerializableSet,
    numbers: Arc<dyn Numbers>,
    publication: LocalPublication,
    sessions: LocalSessions,
    leases: LocalLeases,
}

impl LocalServices {
    #[must_use]
    pub fn new(store: &Arc<dyn Store>) -> Self {
        Self {
            locks: LockManager::default(),
            serializable: SerializableSet::default(),
            numbers: Arc::new(LocalNumbers::new(Arc::clone(store))),
            publication: LocalPublication::default(),
            sessions: LocalSessions::default(),
            leases: LocalLeases::default(),
        }
    }
}

impl Services for LocalServices {
    fn clock(&self) -> &dyn Clock {
        &SystemClock
    }

    fn locks(&self) -> &dyn Locks {
        &self.locks
    }

    fn serializable(&self) -> &dyn Serializability {
        &self.serializable
    }

    fn numbers(&self) -> &Arc<dyn Numbers> {
        &self.numbers
    }

    fn publication(&self) -> &dyn Publication {
        &self.publication
    }

    fn sessions(&self) -> &dyn Sessions {
        &self.sessions
    }

    fn leases(&self) -> &dyn Leases {
        &self.leases
    }
}
