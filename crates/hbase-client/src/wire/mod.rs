//! Bytes on a connection: what opens it, frames of calls and answers, and cells.
//!
//! Invariant: nothing that a server sends panics or makes room for more than it has sent; what does not fit the protocol is
//! [`crate::Error::Protocol`].

pub mod cell;
pub mod frame;
