//! Here is a text in one of PostgreSQL's small languages: what does it say, and what matches it?
//!
//! The languages are regular expressions, documents and conditions of text search, and names in strings. This crate knows texts and nothing
//! else: no types, no columns, no sessions. A search that may take long asks its [`regexp::Interrupt`].
//!
//! Reading order: [`names`] → [`regexp`] → [`textsearch`]; none but the last uses another.

pub mod names;
pub mod regexp;
pub mod textsearch;
