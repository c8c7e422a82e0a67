//! Who connects, and by which proof? The rules of hosts, passwords as SCRAM proves them, certificates, and the slowing down of guesses.
//!
//! Nothing here knows a table, a session or a socket: connections are described ([`hosts::Connection`]), messages are bytes, files are
//! text, time is handed in. So all of it is tested without a network. Whoever has the sockets asks in this order:
//! [`half_open`] whether to go on with a connection at all, [`hosts::Rules::decide`] which proof it owes, [`attempts`] how long to
//! wait for it, and then [`scram`], [`hosts::Maps`] or [`tls`] for the proof itself.
//!
//! The invariant: whatever is not proven is refused, whatever a client sends is answered without a panic, and no secret is in a
//! `Debug` or an error.

pub mod attempts;
pub mod half_open;
pub mod hosts;
mod refusal;
pub mod scram;
mod secret;
pub mod tls;

pub use refusal::{Code, Refusal};
pub use secret::Secret;
