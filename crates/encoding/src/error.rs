//! What can go wrong between values and bytes.
//!
//! Invariant: both errors are small and `Copy`, so that hot paths can return them for nothing. [`DecodeError`] means that
//! stored bytes are corrupt (or were written by a later version); [`EncodeError`] means that the caller or the user asked
//! for something that the format cannot hold.

use thiserror::Error;

/// Bytes that no encoder of this version writes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Error)]
pub enum DecodeError {
    /// The bytes end before the value does.
    #[error("encoded {what} is cut short")]
    Truncated { what: &'static str },
    /// The bytes contradict themselves, or spell a value in a way that the encoder never does.
    #[error("encoded {what} is malformed")]
    Malformed { what: &'static str },
    /// The value ends before the bytes do.
    #[error("encoded {what} has trailing bytes")]
    Trailing { what: &'static str },
    /// The format byte names a version that this program does not know.
    #[error("{what} has unknown format version {version}")]
    UnknownVersion { what: &'static str, version: u8 },
}

/// A value that the format cannot hold, or a builder that was used against its shape.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Error)]
pub enum EncodeError {
    /// A fixed-width place was given a value of another width.
    #[error("value of {found} bytes in a place of {expected} bytes")]
    WrongWidth { expected: usize, found: usize },
    /// A value of the wrong kind, or NULL where there can be none.
    #[error("value does not fit {what}")]
    WrongKind { what: &'static str },
    /// More of something than its count or offsets can express.
    #[error("{what} is too large to encode")]
    TooLarge { what: &'static str },
    /// A builder was given fewer or more values than its shape has places.
    #[error("{found} values for {expected} places")]
    WrongCount { expected: usize, found: usize },
    /// Column ids of a row shape must ascend.
    #[error("column id {id} is out of order")]
    UnsortedColumns { id: u32 },
}
