//! `array_agg`: over arrays, those of one shape become an array of one dimension more; over anything else DataFusion's lists become arrays.

use arrow::array::{Array, ArrayRef, AsArray, ListArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility};
use std::sync::Arc;
use stoa_pg::PgError;
use stoa_pg::args::{Kernel, arg};
use stoa_pg::memory::{own_values, value_bytes};
use stoa_pg::types::list_of;
use stoa_pg::values::array::of_lists;
use stoa_pg::values::array::stack::Stack;

/// Arrays of one dimension from the lists that DataFusion's aggregate gives.
pub fn array_of_list() -> Kernel {
    Arc::new(|_, args| of_lists(arg(args, 0)?.array.as_ref()))
}

/// The aggregate over arrays of an Arrow type.
#[derive(Debug, PartialEq, Eq, Hash)]
struct NestedArrayAgg {
    signature: Signature,
}

pub fn nested_array_agg() -> Arc<AggregateUDF> {
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
        Ok(args.first().ok_or_else(|| PgError::internal("array_agg of nothing"))?.clone())
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        let ty = args.expr_fields.first().map_or(DataType::Null, |f| f.data_type().clone());
        Ok(Box::new(Nested { ty, arrays: Stack::default(), bytes: 0 }))
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        let item = args.input_fields.first().map_or(DataType::Null, |f| f.data_type().clone());
        Ok(vec![Arc::new(Field::new("arrays", list_of(item), true))])
    }
}

#[derive(Debug)]
struct Nested {
    ty: DataType,
    /// Slices of batches, or of the states of many groups, with texts of their own.
    arrays: Stack,
    bytes: usize,
}

impl Nested {
    fn add(&mut self, arrays: &ArrayRef) -> Result<()> {
        let piece = own_values(arrays);
        self.bytes += value_bytes(piece.as_ref());
        Ok(self.arrays.push(piece)?)
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
        let pieces: Vec<&dyn Array> = self.arrays.columns().iter().map(AsRef::as_ref).collect();
        if pieces.is_empty() {
            return Ok(vec![ScalarValue::try_from(&list_of(self.ty.clone()))?]);
        }
        let all = arrow::compute::concat(&pieces)?;
        let field = Arc::new(Field::new("item", self.ty.clone(), true));
        let offsets = OffsetBuffer::from_lengths([all.len()]);
        Ok(vec![ScalarValue::List(Arc::new(ListArray::try_new(field, offsets, all, None)?))])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        match self.arrays.value()? {
            Some(array) => Ok(array),
            None => ScalarValue::try_from(&self.ty),
        }
    }

    fn size(&self) -> usize {
        size_of_val(self) + std::mem::size_of_val(self.arrays.columns()) + self.bytes
    }
}
