//! The messages that HBase's servers understand, field by field as its protocol numbers them, and only the fields that this client
//! writes or reads: others are skipped when a message is read.
//!
//! Invariant: a field that HBase calls *required* is `required` here too, so that it is always written; reading never fails for a field
//! that is missing, whoever reads looks. Byte fields are slices of what was received. [`crate::wire`] puts messages into frames.

pub mod admin;
pub mod client;
pub mod filter;
pub mod master;
pub mod region;
pub mod registry;
pub mod rpc;
