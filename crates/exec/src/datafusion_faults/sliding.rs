//! Aggregates over frames whose start moves. Those that cannot take rows back keep the frame's rows and compute it anew.
//!
//! Fault: DataFusion refuses such an aggregate there (apache/datafusion#6611 let it say that it can; #21957 is about one that could not).
//! May go: when `still_some_cannot_take_rows_back` fails, and our own aggregates all can.

use arrow::array::{Array, ArrayRef};
use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Signature};
use std::fmt;
use std::sync::Arc;

/// Another aggregate, able to slide.
#[derive(PartialEq, Eq, Hash)]
pub struct SlidingUdaf {
    inner: Arc<AggregateUDF>,
}

impl SlidingUdaf {
    /// Wraps an aggregate; whether it can slide by itself is known when it accumulates.
    #[must_use]
    pub fn wrap(inner: Arc<AggregateUDF>) -> Arc<AggregateUDF> {
        Arc::new(AggregateUDF::new_from_impl(Self { inner }))
    }
}

impl fmt::Debug for SlidingUdaf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.inner.name())
    }
}

impl AggregateUDFImpl for SlidingUdaf {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        self.inner.return_type(arg_types)
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        self.inner.coerce_types(arg_types)
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        self.inner.accumulator(args)
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        self.inner.state_fields(args)
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        let probe = self.inner.create_sliding_accumulator(args.clone())?;
        if probe.supports_retract_batch() {
            return Ok(probe);
        }
        // The aggregate starts again for each frame: it must be able to come to life without the arguments' borrow.
        let make = Remake::new(&self.inner, &args)?;
        Ok(Box::new(Recomputing { make, rows: Vec::new(), skip: 0 }))
    }
}

/// What an accumulator is made from, owned.
struct Remake {
    inner: Arc<AggregateUDF>,
    schema: arrow::datatypes::Schema,
    return_field: FieldRef,
    name: String,
    exprs: Vec<Arc<dyn datafusion::physical_expr::PhysicalExpr>>,
    expr_fields: Vec<FieldRef>,
}

impl Remake {
    fn new(inner: &Arc<AggregateUDF>, args: &AccumulatorArgs<'_>) -> Result<Self> {
        Ok(Self {
            inner: inner.clone(),
            schema: args.schema.clone(),
            return_field: args.return_field.clone(),
            name: args.name.to_owned(),
            exprs: args.exprs.to_vec(),
            expr_fields: args.expr_fields.to_vec(),
        })
    }

    fn make(&self) -> Result<Box<dyn Accumulator>> {
        self.inner.accumulator(AccumulatorArgs {
            return_field: self.return_field.clone(),
            schema: &self.schema,
            ignore_nulls: false,
            order_bys: &[],
            is_reversed: false,
            name: &self.name,
            is_distinct: false,
            exprs: &self.exprs,
            expr_fields: &self.expr_fields,
        })
    }
}

/// The rows of the frame, oldest first; `skip` of the first batch are out of it.
struct Recomputing {
    make: Remake,
    rows: Vec<Vec<ArrayRef>>,
    skip: usize,
}

impl fmt::Debug for Recomputing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "recomputing {}", self.make.name)
    }
}

impl Accumulator for Recomputing {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        if values.first().is_some_and(|v| !v.is_empty()) {
            self.rows.push(values.to_vec());
        }
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.skip += values.first().map_or(0, |v| v.len());
        while let Some(first) = self.rows.first() {
            let len = first.first().map_or(0, |a| a.len());
            if self.skip < len {
                break;
            }
            self.skip -= len;
            self.rows.remove(0);
        }
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let mut accumulator = self.make.make()?;
        for (i, batch) in self.rows.iter().enumerate() {
            if i == 0 && self.skip > 0 {
                let rest: Vec<ArrayRef> = batch.iter().map(|a| a.slice(self.skip, a.len() - self.skip)).collect();
                accumulator.update_batch(&rest)?;
            } else {
                accumulator.update_batch(batch)?;
            }
        }
        accumulator.evaluate()
    }

    fn size(&self) -> usize {
        std::mem::size_of_val(self) + self.rows.iter().flatten().map(|a| a.get_array_memory_size()).sum::<usize>()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.evaluate()?])
    }

    fn merge_batch(&mut self, _: &[ArrayRef]) -> Result<()> {
        Err(datafusion::common::DataFusionError::Internal("a window's aggregate has one part".into()))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use arrow::datatypes::{Field, Schema};
    use datafusion::functions_aggregate::bool_and_or::bool_and_udaf;
    use datafusion::functions_aggregate::string_agg::string_agg_udaf;
    use datafusion::physical_expr::expressions::{col, lit};

    fn sliding(udaf: &Arc<AggregateUDF>, ty: DataType, exprs: usize) -> bool {
        let schema = Schema::new(vec![Field::new("a", ty.clone(), true)]);
        let exprs: Vec<_> = [col("a", &schema).unwrap(), lit(",")].into_iter().take(exprs).collect();
        let fields: Vec<FieldRef> = exprs.iter().map(|e| e.return_field(&schema).unwrap()).collect();
        let args = AccumulatorArgs {
            return_field: Arc::new(Field::new("r", ty, true)),
            schema: &schema,
            ignore_nulls: false,
            order_bys: &[],
            is_reversed: false,
            name: "r",
            is_distinct: false,
            exprs: &exprs,
            expr_fields: &fields,
        };
        udaf.create_sliding_accumulator(args).unwrap().supports_retract_batch()
    }

    #[test]
    fn still_some_cannot_take_rows_back() {
        let (text, truth) = (string_agg_udaf(), bool_and_udaf());
        assert!(!sliding(&text, DataType::Utf8, 2) || !sliding(&truth, DataType::Boolean, 1));
        assert!(sliding(&SlidingUdaf::wrap(text), DataType::Utf8, 2) && sliding(&SlidingUdaf::wrap(truth), DataType::Boolean, 1));
    }
}
