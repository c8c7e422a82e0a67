//! Who connects, and by which proof? The rules of hosts, passwords as SCRAM proves them, certificates, and the slowing down of guesses.
//!
//! Nothing here knows a table, a session or a socket: messages are bytes, files are
//! text, time is handed in. So all of it is tested without a network.
//!
//! The invariant: whatever is not proven is refused, whatever a client sends is answered without a panic, and no secret is in a
//! `Debug` or an error.

mod refusal;
pub mod scram;
mod secret;

pub use refusal::{Code, Refusal};
pub use secret::Secret;
