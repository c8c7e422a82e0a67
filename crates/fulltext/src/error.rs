//! What can go wrong with words and files.

use thiserror::Error;

/// A failure of this crate.
#[derive(Debug, Error)]
pub enum Error {
    /// The search string is malformed.
    #[error("{message}")]
    Syntax {
        message: String,
        /// In the search string, in characters from 1.
        position: usize,
    },
    /// The search string asks for more than is allowed.
    #[error("{0}")]
    TooMuch(String),
    /// An option of an index has no meaning.
    #[error("{0}")]
    Option(String),
    /// The files of an index are damaged, or belong to another definition: it must be built again.
    #[error("the full text index is damaged: {0}")]
    Damaged(String),
    /// The disk is full, or nearly: what was there before is as it was.
    #[error("the disk is full: {0}")]
    Full(String),
    /// The disk or the machine failed.
    #[error("the full text index failed: {0}")]
    Failed(String),
}

pub type Result<T> = std::result::Result<T, Error>;

impl From<tantivy::TantivyError> for Error {
    fn from(error: tantivy::TantivyError) -> Self {
        use tantivy::TantivyError as T;
        match error {
            T::DataCorruption(_) | T::SchemaError(_) | T::IncompatibleIndex(_) | T::IndexAlreadyExists | T::DeserializeError(_) => {
                Error::Damaged(error.to_string())
            }
            T::OpenReadError(_) => Error::Damaged(error.to_string()),
            T::IoError(error) => Error::of_file(&error),
            other => Error::Failed(other.to_string()),
        }
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Error::of_file(&error)
    }
}

impl Error {
    fn of_file(error: &std::io::Error) -> Self {
        use std::io::ErrorKind as K;
        match error.kind() {
            K::StorageFull | K::QuotaExceeded => Error::Full(error.to_string()),
            _ => Error::Failed(error.to_string()),
        }
    }
}
