//! What functions may ask of the session and the catalog around them: the [`System`] of a statement.
//!
//! Functions about objects are answered by the catalog, those about the session by [`super::functions`].

use super::{functions, object_functions};
use crate::environment::SessionEnvironment;
use datafusion::common::ScalarValue;
use stoa_pg::context::System;
use stoa_pg::{PgError, PgResult, SqlType};
use stoa_sql::catalog::names::{class_named, shown_relation};

impl System for SessionEnvironment {
    fn relation_name(&self, oid: u32) -> Option<String> {
        shown_relation(&self.catalog, &self.search_path, oid)
    }

    fn relation_oid(&self, name: &str) -> PgResult<Option<u32>> {
        class_named(&self.catalog, &self.session.database, &self.search_path, self.session.temporary_schema(), name)
    }

    fn schema_name(&self, oid: u32) -> Option<String> {
        self.catalog.schema(oid).map(|s| s.name.clone())
    }

    fn call(&self, function: &str, args: &[ScalarValue], result: &SqlType) -> PgResult<ScalarValue> {
        match functions::call(self, function, args) {
            Some(Ok(value)) if value.data_type() == result.arrow => Ok(value),
            Some(out) => out.and_then(|value| value.cast_to(&result.arrow).map_err(|e| PgError::internal(e.to_string()))),
            None => object_functions::call(self, function, args, result),
        }
    }
}
