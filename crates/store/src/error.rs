//! Errors of stores, named by who must act.

use thiserror::Error;

pub type StoreResult<T> = Result<T, StoreError>;

/// What is known about the effect of a failed call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Certainty {
    /// Nothing happened.
    NotDone,
    /// It happened, and the answer was lost.
    Done,
    Unknown,
}

#[derive(Clone, Debug, Error)]
pub enum StoreError {
    /// Another commit changed a row or range after the snapshot: retry on a new one.
    #[error("a row was changed by another commit")]
    Conflict,
    #[error("table {0} does not exist in the store")]
    NoSuchTable(u32),
    #[error("table {0} exists in the store")]
    TableExists(u32),
    /// The caller broke the contract: keys out of order, unknown family, oversized key.
    #[error("{0}")]
    Invalid(String),
    /// What this store, or this kind of table, does not do.
    #[error("{0}")]
    Unsupported(String),
    /// Row keys and cells have limits.
    #[error("{what} of {size} bytes exceeds the limit of {limit} bytes")]
    TooLarge { what: &'static str, size: u64, limit: u64 },
    /// The snapshot is older than what the store keeps.
    #[error("the requested time is before the store's horizon")]
    SnapshotTooOld,
    /// Another process owns the directory.
    #[error("{0}")]
    Locked(String),
    /// What keeps the rows does not answer, or this process has lost the right to write: nothing was done, and it may work again later.
    #[error("{0}")]
    Unavailable(String),
    #[error("the disk is full: {0}")]
    DiskFull(String),
    /// Bytes on disk are not what was written.
    #[error("corruption: {0}")]
    Corruption(String),
    #[error("{message}")]
    Io { message: String, certainty: Certainty },
}

impl StoreError {
    /// Guarantee 8.
    #[must_use]
    pub fn certainty(&self) -> Certainty {
        match self {
            StoreError::Io { certainty, .. } => *certainty,
            _ => Certainty::NotDone,
        }
    }

    /// Whether the same call may succeed later without anyone acting.
    #[must_use]
    pub fn retryable(&self) -> bool {
        matches!(self, StoreError::Conflict | StoreError::Unavailable(_) | StoreError::Io { certainty: Certainty::NotDone, .. })
    }
}
