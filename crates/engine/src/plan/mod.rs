//! Typed tree to DataFusion: a logical plan, its optimisation, its execution.
//!
//! Columns are called `c` and their id: names are unique in a plan. Subqueries never reach DataFusion as such: [`decorrelate`]
//! makes joins of what can be joined, values that do not depend on a row are computed first, and the rest runs by
//! [`crate::exec::apply`]. Reading order: [`kernel`] → [`constant`] → [`udf`] → `raises` → `guard` → [`expr`] → [`decorrelate`] → [`relation`] →
//! [`aggregate`] → [`mod@execute`].

pub mod advise;
pub mod aggregate;
mod array_agg;
mod branches;
mod brief;
pub mod constant;
mod decimal_sum;
pub mod decorrelate;
mod direct;
pub mod distinct;
pub mod evaluator;
pub mod execute;
pub mod expr;
mod first_rows;
mod frame;
pub(crate) mod guard;
pub mod index_order;
mod join_order;
pub mod kernel;
pub(crate) mod key_read;
pub mod lookup_join;
mod mend;
mod never;
pub mod node;
pub(crate) mod pull_up;
pub(crate) mod raises;
mod readable;
pub mod relation;
pub mod rules;
pub(crate) mod short;
pub mod sliding;
pub mod udf;
mod values_row;
pub mod window;

pub(crate) use brief::is_brief;
pub use evaluator::TableEvaluator;
pub use execute::{Executed, execute, explain};
pub(crate) use execute::{execute_cached, execute_part};
pub(crate) use key_read::{PlanCache, is_lasting};

use crate::bind::tree::ColId;
use datafusion::error::DataFusionError;
use stoa_pg::{PgError, SqlState};

/// The name of a column in plans.
#[must_use]
pub fn column_name(id: ColId) -> String {
    let mut name = String::with_capacity(11);
    write_column_name(id, &mut name);
    name
}

/// Appends [`column_name`].
pub(crate) fn write_column_name(id: ColId, out: &mut String) {
    let mut digits = [0u8; 10];
    let (mut at, mut left) = (digits.len(), id.0);
    loop {
        at -= 1;
        if let Some(digit) = digits.get_mut(at) {
            *digit = b'0' + (left % 10) as u8;
        }
        left /= 10;
        if left == 0 {
            break;
        }
    }
    out.push('c');
    out.extend(digits.iter().skip(at).map(|digit| char::from(*digit)));
}

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
