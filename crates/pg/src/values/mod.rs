//! Values of each type: text in and out, binary in and out, and the order of those whose order is not Arrow's.
//!
//! Wire, COPY, casts through text, and literals all come here. [`writer`] and [`builder`] resolve type and column once; the
//! per-value work is one call.

use crate::context::EvalContext;
use crate::error::PgResult;

use arrow::array::ArrayRef;

pub mod array;
pub mod datetime;
pub mod interval;
pub mod json;
pub mod number;
pub mod numeric;
pub mod record;
pub mod string;
pub mod timezone;

/// Writes values of one column, by row.
pub trait ValueWriter {
    /// Appends the text form of a value that is not NULL.
    fn text(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()>;
    /// Appends the binary form (without length) of a value that is not NULL.
    fn binary(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()>;
}

/// Builds a column from text or binary forms.
pub trait ValueBuilder: Send {
    /// Appends a value from its text form, with the target's modifier applied as an assignment does.
    fn text(&mut self, ctx: &EvalContext, value: &str) -> PgResult<()>;
    /// Appends a value from its binary form.
    fn binary(&mut self, ctx: &EvalContext, value: &[u8]) -> PgResult<()>;
    fn null(&mut self);
    fn len(&self) -> usize;
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The column so far; the builder is empty afterwards.
    fn finish(&mut self) -> PgResult<ArrayRef>;
}
