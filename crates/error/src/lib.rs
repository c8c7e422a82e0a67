//! The one error that a user sees: SQLSTATE, message, detail, hint, position and the object it is about.
//!
//! Messages follow PostgreSQL's style: the primary message starts in lower case and has no full stop; detail and hint are
//! sentences. The error is boxed so that a `Result` stays small on the paths that never fail.
//!
//! Errors of Arrow's kernels become ours here, and ours travel through DataFusion as they are.

pub mod sqlstate;

pub use sqlstate::SqlState;

use std::fmt;

/// Result of everything that can fail in a user's face.
pub type PgResult<T> = Result<T, PgError>;

/// An error as PostgreSQL's protocol carries it.
#[derive(Clone, PartialEq, Eq)]
pub struct PgError(Box<Fields>);

/// The fields of an error. Empty ones are `None`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fields {
    pub code: SqlState,
    pub message: String,
    pub detail: Option<String>,
    pub hint: Option<String>,
    /// Offset of the offending token in the statement's text, in characters, from 1.
    pub position: Option<usize>,
    pub context: Option<String>,
    pub schema: Option<String>,
    pub table: Option<String>,
    pub column: Option<String>,
    pub data_type: Option<String>,
    pub constraint: Option<String>,
    /// Which of the rows that were to be written is at fault, from 0. Not sent: it is for whoever knows where the rows come from.
    pub row: Option<usize>,
}

impl PgError {
    /// An error with a code and a primary message.
    pub fn new(code: SqlState, message: impl Into<String>) -> Self {
        Self(Box::new(Fields {
            code,
            message: message.into(),
            detail: None,
            hint: None,
            position: None,
            context: None,
            schema: None,
            table: None,
            column: None,
            data_type: None,
            constraint: None,
            row: None,
        }))
    }

    /// What Stoa does not do: 0A000.
    pub fn unsupported(what: impl Into<String>) -> Self {
        Self::new(SqlState::FEATURE_NOT_SUPPORTED, what)
    }

    /// A bug of ours or of a library below: XX000.
    pub fn internal(what: impl Into<String>) -> Self {
        Self::new(SqlState::INTERNAL_ERROR, what)
    }

    /// `invalid input syntax for type TYPE: "VALUE"`, 22P02.
    pub fn invalid_text(type_name: &str, value: &str) -> Self {
        Self::new(SqlState::INVALID_TEXT_REPRESENTATION, format!("invalid input syntax for type {type_name}: \"{value}\""))
    }

    /// `TYPE out of range`, 22003.
    pub fn out_of_range(type_name: &str) -> Self {
        Self::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, format!("{type_name} out of range"))
    }

    /// `value "VALUE" is out of range for type TYPE`, 22003.
    pub fn value_out_of_range(type_name: &str, value: &str) -> Self {
        Self::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, format!("value \"{value}\" is out of range for type {type_name}"))
    }

    /// `division by zero`, 22012.
    #[must_use]
    pub fn division_by_zero() -> Self {
        Self::new(SqlState::DIVISION_BY_ZERO, "division by zero")
    }

    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.0.detail = Some(detail.into());
        self
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Sets the position unless one is known already: the innermost wins.
    #[must_use]
    pub fn at(mut self, position: Option<usize>) -> Self {
        if self.0.position.is_none() {
            self.0.position = position;
        }
        self
    }

    #[must_use]
    pub fn context(mut self, context: impl Into<String>) -> Self {
        self.0.context = Some(context.into());
        self
    }

    #[must_use]
    pub fn schema(mut self, name: impl Into<String>) -> Self {
        self.0.schema = Some(name.into());
        self
    }

    #[must_use]
    pub fn table(mut self, name: impl Into<String>) -> Self {
        self.0.table = Some(name.into());
        self
    }

    #[must_use]
    pub fn column(mut self, name: impl Into<String>) -> Self {
        self.0.column = Some(name.into());
        self
    }

    #[must_use]
    pub fn constraint(mut self, name: impl Into<String>) -> Self {
        self.0.constraint = Some(name.into());
        self
    }

    #[must_use]
    pub fn row(mut self, row: usize) -> Self {
        self.0.row = Some(row);
        self
    }

    #[must_use]
    pub fn code(&self) -> SqlState {
        self.0.code
    }

    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    #[must_use]
    pub fn fields(&self) -> &Fields {
        &self.0
    }

    #[must_use]
    pub fn fields_mut(&mut self) -> &mut Fields {
        &mut self.0
    }
}

impl fmt::Display for PgError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.code, self.0.message)
    }
}

impl fmt::Debug for PgError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl std::error::Error for PgError {}

impl From<PgError> for datafusion_common::DataFusionError {
    fn from(error: PgError) -> Self {
        datafusion_common::DataFusionError::External(Box::new(error))
    }
}

impl From<arrow::error::ArrowError> for PgError {
    /// Arrow's own kernels raise data errors by variant; anything else is our bug.
    fn from(error: arrow::error::ArrowError) -> Self {
        use arrow::error::ArrowError;
        match error {
            ArrowError::DivideByZero => PgError::division_by_zero(),
            ArrowError::ArithmeticOverflow(_) => PgError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "value out of range"),
            ArrowError::ExternalError(inner) => match inner.downcast::<PgError>() {
                Ok(error) => *error,
                Err(other) => PgError::internal(other.to_string()),
            },
            other => PgError::internal(other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::error::ArrowError;
    use datafusion_common::DataFusionError;

    #[test]
    fn errors_travel_through_arrow_and_datafusion_as_they_are() {
        let error = PgError::new(SqlState::UNIQUE_VIOLATION, "twice").detail("A key.").at(Some(3));
        assert_eq!(PgError::from(ArrowError::ExternalError(Box::new(error.clone()))), error);
        let DataFusionError::External(inside) = DataFusionError::from(error.clone()) else { unreachable!("it was external") };
        assert_eq!(inside.downcast_ref::<PgError>(), Some(&error));
    }

    #[test]
    fn errors_of_arrow_get_the_codes_of_postgresql() {
        assert_eq!(PgError::from(ArrowError::DivideByZero), PgError::division_by_zero());
        assert_eq!(PgError::from(ArrowError::ArithmeticOverflow("i32".into())).code(), SqlState::NUMERIC_VALUE_OUT_OF_RANGE);
        assert_eq!(PgError::from(ArrowError::SchemaError("none".into())).code(), SqlState::INTERNAL_ERROR);
    }
}
