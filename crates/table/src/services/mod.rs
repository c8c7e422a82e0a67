//! What is true in one process only, behind one door: locks, numbers, the published catalog, sessions, leases.
//!
//! Nodes that share a store must agree about all of this. [`Services`] is what the program asks; [`LocalServices`] answers from the memory of
//! one process. Another implementation asks a coordinator, so that an answer may take a round trip: what waits is asynchronous, what has
//! many things to ask asks for all of them in one call, and `try_…` answers at once if that is possible without asking anybody.
//! Nobody blocks a thread on an answer. What is given up is reported and not waited for.
//!
//! Reading order: [`locks`] → [`serializable`] → [`sequences`] → [`publication`] → [`sessions`] → [`leases`] → [`local`].

pub mod leases;
pub mod local;
pub mod locks;
pub mod notifications;
pub mod publication;
pub mod sequences;
pub mod serializable;
pub mod sessions;

use crate::catalog::Numbers;
use crate::clock::Clock;
pub use leases::{Lease, Leases};
pub use local::LocalServices;
pub use locks::Locks;
pub use publication::{Publication, Published, Publishing};
pub use serializable::Serializability;
pub use sessions::{SessionHandle, Sessions, Signal};
use std::fmt::Debug;
use std::sync::Arc;

/// See the module.
pub trait Services: Send + Sync + Debug {
    /// The time of day.
    fn clock(&self) -> &dyn Clock;
    /// Locks of rows, tables, names and advisory keys.
    fn locks(&self) -> &dyn Locks;
    /// What SERIALIZABLE transactions know of each other.
    fn serializable(&self) -> &dyn Serializability;
    /// Ids, and the values of sequences.
    fn numbers(&self) -> &Arc<dyn Numbers>;
    /// The newest committed catalogs.
    fn publication(&self) -> &dyn Publication;
    /// Sessions: signals to them, and LISTEN and NOTIFY.
    fn sessions(&self) -> &dyn Sessions;
    /// Who does the work in the background.
    fn leases(&self) -> &dyn Leases;
}
