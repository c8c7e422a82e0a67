//! The order and equality of array elements: PostgreSQL's, over Arrow values or over sort keys.
//!
//! NULL elements are equal to each other and greater than all values, as array comparison takes them.

use super::sort_key;
use crate::error::{PgError, PgResult};
use crate::sqlstate::SqlState;
use crate::types::{PgType, SqlType};
use arrow::array::{ArrayRef, DynComparator, make_comparator};
use arrow::compute::SortOptions;
use std::cmp::Ordering;

/// Compares rows of two columns of elements.
pub struct ElementOrder(DynComparator);

impl ElementOrder {
    /// An order between elements of type `ty`; both columns have that type.
    ///
    /// # Errors
    /// 42883 when the type has no equality (json).
    pub fn new(ty: &SqlType, left: &ArrayRef, right: &ArrayRef) -> PgResult<ElementOrder> {
        if matches!(ty.ty, PgType::Json | PgType::Jsonpath) {
            return Err(PgError::new(SqlState::UNDEFINED_FUNCTION, format!("could not identify an equality operator for type {ty}")));
        }
        let options = SortOptions { descending: false, nulls_first: false };
        Ok(ElementOrder(make_comparator(&sort_key(ty, left)?, &sort_key(ty, right)?, options)?))
    }

    #[inline]
    #[must_use]
    pub fn compare(&self, left: usize, right: usize) -> Ordering {
        (self.0)(left, right)
    }

    #[inline]
    #[must_use]
    pub fn equal(&self, left: usize, right: usize) -> bool {
        self.compare(left, right).is_eq()
    }
}
