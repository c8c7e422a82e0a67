//! PostgreSQL's protocol: our own loop over the messages.
//!
//! A connection reads once, handles every complete message, and writes once: at Sync or Flush when no message is left, or when the
//! output has grown to 16 KiB. Rows are encoded straight from Arrow into the output; the socket's back-pressure stops the query.
//!
//! Reading order: [`server`] and [`listen`] (listening, shutting down) → [`event_loops`] (where connections run) → [`startup`] (with
//! [`startup_packet`] and `authenticate`) → [`connection`] (the loop) → [`simple`], [`extended`], [`function_call`], [`copy`] (what messages ask for) →
//! [`rows`], [`params`] (values) → [`frame`], [`output`] (messages) → [`transport`] (bytes).

mod authenticate;
mod batched_send;
pub mod connection;
pub mod copy;
pub mod event_loops;
pub mod extended;
pub mod frame;
pub mod function_call;
pub mod listen;
pub mod output;
pub mod params;
mod record;
pub mod rows;
pub mod server;
pub mod simple;
pub mod startup;
pub mod startup_packet;
pub mod transport;

pub use listen::{Listeners, UnixSocket};
pub use server::Server;
