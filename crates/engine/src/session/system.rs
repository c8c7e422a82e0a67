//! What functions may ask of the session and the catalog around them: the answers that [`SessionEnvironment`] gives as the
//! [`System`](stoa_pg::context::System) of a statement.
//!
//! Functions about objects are answered by the catalog, those about the session by [`super::functions`], those about large objects by
//! [`super::large_object_functions`].

use super::{functions, large_object_functions, object_functions};
use datafusion::common::ScalarValue;
use stoa_exec::environment::SessionEnvironment;
use stoa_pg::{PgError, PgResult, SqlType};

/// Answers one call.
///
/// # Errors
/// What the function raises; 0A000 for functions that nobody answers.
pub(crate) fn call(system: &SessionEnvironment, function: &str, args: &[ScalarValue], result: &SqlType) -> PgResult<ScalarValue> {
    let of_session = functions::call(system, function, args).or_else(|| large_object_functions::call(system, function, args));
    match of_session {
        Some(Ok(value)) if value.data_type() == result.arrow => Ok(value),
        Some(out) => out.and_then(|value| value.cast_to(&result.arrow).map_err(|e| PgError::internal(e.to_string()))),
        None => object_functions::call(system, function, args, result),
    }
}
