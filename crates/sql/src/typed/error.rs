//! Users' errors out of DataFusion's.

use datafusion_common::DataFusionError;
use stoa_pg::{PgError, SqlState};

/// A user's error from one of DataFusion's: ours travel inside it; memory and cancellation have codes of their own.
#[must_use]
pub fn from_datafusion(error: DataFusionError) -> PgError {
    match error {
        DataFusionError::External(inner) => match inner.downcast::<PgError>() {
            Ok(error) => *error,
            Err(inner) => match inner.downcast::<DataFusionError>() {
                Ok(inner) => from_datafusion(*inner),
                Err(inner) => internal(&inner.to_string()),
            },
        },
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => from_datafusion(*inner),
        DataFusionError::Shared(inner) => match std::sync::Arc::try_unwrap(inner) {
            Ok(inner) => from_datafusion(inner),
            Err(shared) => from_shared(&shared),
        },
        DataFusionError::Collection(errors) => {
            errors.into_iter().next().map_or_else(|| internal("an empty collection of errors"), from_datafusion)
        }
        DataFusionError::IoError(error) => file_error(&error),
        DataFusionError::ArrowError(inner, _) => match *inner {
            arrow::error::ArrowError::IoError(_, error) => file_error(&error),
            inner => PgError::from(inner),
        },
        DataFusionError::ResourcesExhausted(message) => out_of_memory(&message),
        other => internal(&other.to_string()),
    }
}

fn from_shared(error: &DataFusionError) -> PgError {
    match error {
        DataFusionError::External(inner) => match inner.downcast_ref::<PgError>() {
            Some(error) => error.clone(),
            None => match inner.downcast_ref::<DataFusionError>() {
                Some(inner) => from_shared(inner),
                None => internal(&inner.to_string()),
            },
        },
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => from_shared(inner),
        DataFusionError::Shared(inner) => from_shared(inner),
        DataFusionError::IoError(error) => file_error(error),
        DataFusionError::ResourcesExhausted(message) => out_of_memory(message),
        DataFusionError::ArrowError(inner, _) => match &**inner {
            arrow::error::ArrowError::IoError(_, error) => file_error(error),
            arrow::error::ArrowError::DivideByZero => PgError::division_by_zero(),
            arrow::error::ArrowError::ExternalError(e) => match e.downcast_ref::<PgError>() {
                Some(error) => error.clone(),
                None => internal(&e.to_string()),
            },
            other => internal(&other.to_string()),
        },
        other => internal(&other.to_string()),
    }
}

/// A failure of a file that a statement has spilled to.
fn file_error(error: &std::io::Error) -> PgError {
    use std::io::ErrorKind;
    let message = format!("could not use a temporary file: {error}");
    // Between the file and here errors are wrapped, and keep no kind.
    let full = matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge)
        || message.contains("No space left on device");
    if full {
        PgError::new(SqlState::DISK_FULL, message).hint(stoa_table::txn::DISK_FULL_HINT)
    } else {
        PgError::new(SqlState::IO_ERROR, message)
    }
}

fn out_of_memory(message: &str) -> PgError {
    // What tracks consumers puts their list before the reason.
    let reason = message.rsplit_once("\nError: ").map_or(message, |(_, reason)| reason);
    stoa_pg::memory::refused(first_line(reason))
}

fn first_line(message: &str) -> String {
    message.lines().next().unwrap_or("").to_owned()
}

fn internal(message: &str) -> PgError {
    tracing::error!(message, "an error from below that no rule names");
    PgError::internal(first_line(message))
}
