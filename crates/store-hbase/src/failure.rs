//! What errors of the client mean to callers of the store.

use stoa_hbase_client::Error;
use stoa_store::{Certainty, StoreError};

/// Of a call that changed nothing if it failed.
pub(crate) fn read_error(error: Error) -> StoreError {
    match error {
        Error::Deadline { .. }
        | Error::Connection { .. }
        | Error::RegionUnavailable { .. }
        | Error::RegionHole { .. }
        | Error::Registry(_)
        | Error::TableDisabled(_) => StoreError::Unavailable(format!("HBase does not answer: {error}")),
        Error::Protocol(_) => StoreError::Corruption(error.to_string()),
        Error::TooLarge { size, limit, .. } => StoreError::TooLarge { what: "an answer of HBase", size, limit },
        Error::Argument(_) | Error::Unsupported(_) => StoreError::Invalid(error.to_string()),
        Error::Exception(_) | Error::TableNotFound(_) | Error::Closed | Error::Unknown { .. } => {
            StoreError::Io { message: error.to_string(), certainty: Certainty::NotDone }
        }
    }
}

/// Of a call that may have changed something.
pub(crate) fn write_error(error: Error) -> StoreError {
    match error {
        Error::Unknown { .. } | Error::Deadline { .. } => StoreError::Io { message: error.to_string(), certainty: Certainty::Unknown },
        error => read_error(error),
    }
}
