//! PostgreSQL's protocol: our own loop over the messages.
//!
//! A connection reads once, handles every complete message, and writes once: at Sync or Flush when no message is left, or when the
//! output has grown to 16 KiB. Rows are encoded straight from Arrow into the output; the socket's back-pressure stops the query.
//!
//! Reading order: [`server`] (listening, shutting down) → [`event_loops`] (where connections run) → [`startup`] → [`connection`] (the loop) → [`simple`], [`extended`],
//! [`copy`] (what messages ask for) → [`rows`], [`params`] (values) → [`frame`], [`output`] (bytes).

mod batched_send;
pub mod connection;
pub mod copy;
pub mod event_loops;
pub mod extended;
pub mod frame;
pub mod output;
pub mod params;
pub mod rows;
pub mod server;
pub mod simple;
pub mod startup;

pub use server::{Server, ServerOptions};
