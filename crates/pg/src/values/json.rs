//! Values: json.

use super::{ValueBuilder, ValueWriter};
use crate::context::EvalContext;
use crate::error::{PgError, PgResult};
use crate::types::SqlType;
use arrow::array::Array;

/// Writes a column of json, jsonb or jsonpath.
pub fn writer<'a>(_ctx: &'a EvalContext, ty: &SqlType, _array: &'a dyn Array) -> PgResult<Box<dyn ValueWriter + 'a>> {
    Err(PgError::unsupported(format!("cannot display a value of type {ty}")))
}

/// Builds a column of json, jsonb or jsonpath.
pub fn builder(ty: &SqlType) -> PgResult<Box<dyn ValueBuilder>> {
    Err(PgError::unsupported(format!("cannot accept a value of type {ty}")))
}

/// Appends bytes that compare as the documents do.
pub fn sort_key_bytes(document: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(document);
}
