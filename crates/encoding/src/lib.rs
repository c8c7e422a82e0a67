//! Here is a value: give me bytes that sort, or bytes that are small.
//!
//! Invariant: everything here is a pure function of bytes and plain values. No tables, no stores, no Arrow; nothing is
//! allocated per value; whatever is read may be hostile and gives a [`DecodeError`], never a panic.
//!
//! Reading order: [`keyside`] (row keys and index keys) → [`numeric`] (the bytes of a numeric in a key) → [`valueside`] (one
//! value in one cell, and the bodies of arrays, structs and maps) → [`packed_row`] (all columns of a family in one cell) →
//! [`raw_cell`] (the qualifier of a cell as HBase has it) → [`dump`] (any of these, annotated). `docs/encoding.md` is the specification; a test prints its dumps and compares them
//! with the document.

pub mod dump;
pub mod error;
pub mod keyside;
pub mod numeric;
pub mod packed_row;
pub mod raw_cell;
pub mod valueside;

pub use error::{DecodeError, EncodeError};
