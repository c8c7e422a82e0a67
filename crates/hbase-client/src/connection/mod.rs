//! Connections to servers: one or two to each, each with a task that writes and one that reads.
//!
//! Invariant: a call ends with its answer, at its deadline, or when its connection does, whichever comes first. [`pool`] knows which
//! connections there are, [`channel`] is one of them.

mod channel;
mod pool;

pub(crate) use pool::{Lane, Pool, Service};
