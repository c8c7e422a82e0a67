//! Arrays of one shape that become one array of a dimension more: `array_agg` and `ARRAY (SELECT …)` over arrays.

use super::{ArrayColumn, Rows, Shape, scalar_of};
use crate::error::{PgError, PgResult};
use crate::functions::subscript::one_deeper;
use crate::sqlstate::SqlState;
use arrow::array::{Array, ArrayRef};
use datafusion_common::ScalarValue;

/// The arrays so far, in columns.
#[derive(Debug, Default)]
pub struct Stack {
    shape: Option<Shape>,
    columns: Vec<ArrayRef>,
    arrays: usize,
}

impl Stack {
    /// Adds the arrays of a column.
    ///
    /// # Errors
    /// 22004 for NULL; 2202E if the first is empty, and for one of another shape than the first.
    pub fn push(&mut self, arrays: ArrayRef) -> PgResult<()> {
        let column = ArrayColumn::open(arrays.as_ref())?;
        for row in 0..arrays.len() {
            let Some(value) = column.get(row) else {
                return Err(PgError::new(SqlState::NULL_VALUE_NOT_ALLOWED, "cannot accumulate null arrays"));
            };
            match &self.shape {
                None if value.is_empty() => {
                    return Err(PgError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, "cannot accumulate empty arrays"));
                }
                None => {
                    one_deeper(1, &value.shape)?;
                    self.shape = Some(value.shape);
                }
                Some(shape) if *shape != value.shape => {
                    return Err(PgError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, "cannot accumulate arrays of different dimensionality"));
                }
                Some(_) => {}
            }
        }
        if !arrays.is_empty() {
            self.arrays += arrays.len();
            self.columns.push(arrays);
        }
        Ok(())
    }

    /// The columns as they were added.
    #[must_use]
    pub fn columns(&self) -> &[ArrayRef] {
        &self.columns
    }

    /// The array of all; `None` without any.
    ///
    /// # Errors
    /// 54000 for too many elements.
    pub fn value(&self) -> PgResult<Option<ScalarValue>> {
        let Some(shape) = &self.shape else { return Ok(None) };
        let shape = one_deeper(self.arrays, shape)?;
        let mut elements = Vec::with_capacity(self.columns.len());
        for arrays in &self.columns {
            let column = ArrayColumn::open(arrays.as_ref())?;
            // No array is NULL or empty: together they are a range of the elements.
            let (first, last) = (column.get(0), column.get(arrays.len() - 1));
            if let (Some(first), Some(last)) = (first, last) {
                elements.push(column.leaf().slice(first.start, last.end - first.start));
            }
        }
        let elements: Vec<&dyn Array> = elements.iter().map(AsRef::as_ref).collect();
        let mut rows = Rows::new(1);
        rows.push(&shape)?;
        scalar_of(&rows.over(arrow::compute::concat(&elements)?)?).map(Some)
    }
}
