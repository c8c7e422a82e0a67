//! Values: array.

use super::{ValueBuilder, ValueWriter};
use crate::context::EvalContext;
use crate::error::{PgError, PgResult};
use crate::types::SqlType;
use arrow::array::Array;

/// Writes a column of arrays.
pub fn writer<'a>(_ctx: &'a EvalContext, ty: &SqlType, _array: &'a dyn Array) -> PgResult<Box<dyn ValueWriter + 'a>> {
    Err(PgError::unsupported(format!("cannot display a value of type {ty}")))
}

/// Builds a column of arrays.
pub fn builder(ty: &SqlType) -> PgResult<Box<dyn ValueBuilder>> {
    Err(PgError::unsupported(format!("cannot accept a value of type {ty}")))
}
