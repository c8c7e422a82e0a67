//! `array_agg` over arrays: arrays of one shape become an array of one dimension more.

use arrow::array::{Array, ArrayRef, AsArray, ListArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility};
use std::sync::Arc;
use stoa_pg::memory::{own_values, value_bytes};
use stoa_pg::types::list_of;
use stoa_pg::values::array::{ArrayColumn, Shape};
use stoa_pg::{PgError, SqlState};

/// The aggregate over arrays of an Arrow type.
#[derive(Debug, PartialEq, Eq, Hash)]
struct NestedArrayAgg {
    signature: Signature,
}

pub(super) fn nested_array_agg() -> Arc<AggregateUDF> {
    Arc::new(AggregateUDF::new_from_impl(NestedArrayAgg { signature: Signature::any(1, Volatility::Immutable) }))
}

impl AggregateUDFImpl for NestedArrayAgg {
    fn name(&self) -> &str {
        "nested_array_agg"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, args: &[DataType]) -> Result<DataType> {
        let arg = args.first().ok_or_else(|| PgError::internal("array_agg of nothing"))?;
        Ok(list_of(arg.clone()))
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        let item = args.expr_fields.first().map_or(DataType::Null, |f| f.data_type().clone());
        Ok(Box::new(Nested { item, shape: None, pieces: Vec::new(), bytes: 0 }))
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        let item = args.input_fields.first().map_or(DataType::Null, |f| f.data_type().clone());
        Ok(vec![Arc::new(Field::new("arrays", list_of(item), true))])
    }
}

#[derive(Debug)]
struct Nested {
    item: DataType,
    shape: Option<Shape>,
    /// Slices of batches, or of the states of many groups, with texts of their own.
    pieces: Vec<ArrayRef>,
    bytes: usize,
}

impl Nested {
    fn add(&mut self, arrays: &ArrayRef) -> Result<()> {
        let column = ArrayColumn::open(arrays.as_ref())?;
        for row in 0..arrays.len() {
            let error = |code: SqlState, message: &str| PgError::new(code, message);
            let Some(value) = column.get(row) else {
                return Err(error(SqlState::NULL_VALUE_NOT_ALLOWED, "cannot accumulate null arrays").into());
            };
            if value.is_empty() {
                return Err(error(SqlState::ARRAY_SUBSCRIPT_ERROR, "cannot accumulate empty arrays").into());
            }
            if *self.shape.get_or_insert(value.shape) != value.shape {
                return Err(error(SqlState::ARRAY_SUBSCRIPT_ERROR, "cannot accumulate arrays of different dimensionality").into());
            }
        }
        if !arrays.is_empty() {
            let piece = own_values(arrays);
            self.bytes += value_bytes(piece.as_ref());
            self.pieces.push(piece);
        }
        Ok(())
    }
}

impl Accumulator for Nested {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        values.first().map_or(Ok(()), |arrays| self.add(arrays))
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let Some(lists) = states.first().and_then(|s| s.as_list_opt::<i32>()) else { return Ok(()) };
        for row in 0..lists.len() {
            if lists.is_valid(row) {
                self.add(&lists.value(row))?;
            }
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.evaluate()?])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let list = list_of(self.item.clone());
        if self.pieces.is_empty() {
            return ScalarValue::try_from(&list);
        }
        let pieces: Vec<&dyn Array> = self.pieces.iter().map(AsRef::as_ref).collect();
        let all = arrow::compute::concat(&pieces)?;
        let field = Arc::new(Field::new("item", self.item.clone(), true));
        let offsets = OffsetBuffer::from_lengths([all.len()]);
        Ok(ScalarValue::List(Arc::new(ListArray::try_new(field, offsets, all, None)?)))
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.pieces.capacity() * size_of::<ArrayRef>() + self.bytes
    }
}
