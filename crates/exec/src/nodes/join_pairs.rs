//! What joins make of pairs of rows that they have found: those that pass a filter, and batches of them.

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, RecordBatchOptions, UInt32Array, new_null_array};
use arrow::compute::take;
use arrow::datatypes::SchemaRef;
use datafusion::common::{DataFusionError, JoinSide, Result};
use datafusion::physical_plan::joins::utils::{ColumnIndex, JoinFilter};
use std::collections::VecDeque;
use std::sync::Arc;

/// How the pairs of a join become its rows.
#[derive(Clone, Debug)]
pub(super) struct Pairs {
    /// Whether the outer side is the left one.
    pub outer_is_left: bool,
    pub schema: SchemaRef,
    /// Where the columns of the schema come from.
    pub columns: Vec<ColumnIndex>,
    /// Pairs that are dealt with at once.
    pub batch_rows: usize,
}

impl Pairs {
    fn is_outer(&self, side: JoinSide) -> bool {
        (side == JoinSide::Left) == self.outer_is_left
    }

    /// The pairs that pass a filter, in their order.
    ///
    /// # Errors
    /// What the filter raises.
    pub fn filtered(
        &self,
        filter: &JoinFilter,
        outer: &RecordBatch,
        inner: &RecordBatch,
        outer_at: &UInt32Array,
        inner_at: &UInt32Array,
    ) -> Result<(UInt32Array, UInt32Array)> {
        let (mut left, mut right) = (Vec::new(), Vec::new());
        let mut from = 0;
        while from < outer_at.len() {
            let rows = self.batch_rows.min(outer_at.len() - from);
            let (some_outer, some_inner) = (outer_at.slice(from, rows), inner_at.slice(from, rows));
            from += rows;
            let mut arrays = Vec::with_capacity(filter.column_indices().len());
            for column in filter.column_indices() {
                let is_outer = self.is_outer(column.side);
                arrays.push(if is_outer {
                    take(outer.column(column.index), &some_outer, None)?
                } else {
                    take(inner.column(column.index), &some_inner, None)?
                });
            }
            let options = RecordBatchOptions::new().with_row_count(Some(rows));
            let batch = RecordBatch::try_new_with_options(Arc::clone(filter.schema()), arrays, &options)?;
            let mask = filter.expression().evaluate(&batch)?.into_array(rows)?;
            let mask = mask.as_boolean();
            for row in (0..rows).filter(|row| mask.is_valid(*row) && mask.value(*row)) {
                left.push(some_outer.value(row));
                right.push(some_inner.value(row));
            }
        }
        Ok((left.into(), right.into()))
    }

    /// Makes batches of pairs.
    ///
    /// # Errors
    /// A mark is asked for and not given.
    pub fn give(
        &self,
        out: &mut VecDeque<RecordBatch>,
        outer: &RecordBatch,
        inner: &RecordBatch,
        outer_at: &UInt32Array,
        inner_at: &UInt32Array,
        mark: Option<ArrayRef>,
    ) -> Result<()> {
        let mut from = 0;
        while from < outer_at.len() {
            let rows = self.batch_rows.min(outer_at.len() - from);
            let (some_outer, some_inner) = (outer_at.slice(from, rows), inner_at.slice(from, rows));
            let mut arrays = Vec::with_capacity(self.columns.len());
            for (column, field) in self.columns.iter().zip(self.schema.fields()) {
                arrays.push(match column.side {
                    JoinSide::None => match &mark {
                        Some(mark) => mark.slice(from, rows),
                        None => return Err(DataFusionError::Internal("a mark of a join that has none".into())),
                    },
                    side if self.is_outer(side) => take(outer.column(column.index), &some_outer, None)?,
                    _ if inner.num_rows() == 0 => new_null_array(field.data_type(), rows),
                    _ => take(inner.column(column.index), &some_inner, None)?,
                });
            }
            from += rows;
            let options = RecordBatchOptions::new().with_row_count(Some(rows));
            out.push_back(RecordBatch::try_new_with_options(Arc::clone(&self.schema), arrays, &options)?);
        }
        Ok(())
    }
}
