//! What functions may ask of the session and the catalog around them: the [`System`] of a statement.
//!
//! Functions about objects are answered by the catalog, those about the session by [`super::functions`].

use super::functions;
use crate::environment::SessionEnvironment;
use datafusion::common::ScalarValue;
use stoa_pg::context::System;
use stoa_pg::{PgError, PgResult, SqlType};

impl System for SessionEnvironment {
    fn relation_name(&self, oid: u32) -> Option<String> {
        crate::virtual_tables::relation_name(self, oid)
    }

    fn relation_oid(&self, name: &str) -> PgResult<Option<u32>> {
        crate::virtual_tables::relation_oid(self, name)
    }

    fn schema_name(&self, oid: u32) -> Option<String> {
        crate::virtual_tables::schema_name(self, oid)
    }

    fn call(&self, function: &str, args: &[ScalarValue], result: &SqlType) -> PgResult<ScalarValue> {
        match functions::call(self, function, args) {
            Some(Ok(value)) if value.data_type() == result.arrow => Ok(value),
            Some(out) => out.and_then(|value| value.cast_to(&result.arrow).map_err(|e| PgError::internal(e.to_string()))),
            None => crate::virtual_tables::call(self, function, args, result),
        }
    }
}
