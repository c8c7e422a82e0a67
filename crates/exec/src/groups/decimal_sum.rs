//! `sum` of 128-bit decimals: DataFusion's, with NaN kept from it.
//!
//! NaN is the greatest decimal ([`DECIMAL_NAN`]), and what it is added to is NaN. The numbers go to DataFusion's accumulators, NaN as the
//! 0 that changes no sum; which sums have met one is kept here. So it costs numbers one look at each of them.

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Decimal128Array};
use arrow::datatypes::{DataType, Decimal128Type, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::functions_aggregate::sum::sum_udaf;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, EmitTo, GroupsAccumulator, ReversedUDAF, Signature, Volatility,
};
use std::sync::{Arc, LazyLock};
use stoa_encoding::valueside::DECIMAL_NAN;
use stoa_pg::PgError;

/// The aggregate.
pub fn decimal_sum() -> Arc<AggregateUDF> {
    static SUM: LazyLock<Arc<AggregateUDF>> = LazyLock::new(|| {
        let signature = Signature::any(1, Volatility::Immutable);
        Arc::new(AggregateUDF::new_from_impl(DecimalSum { inner: sum_udaf(), signature }))
    });
    Arc::clone(&SUM)
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct DecimalSum {
    inner: Arc<AggregateUDF>,
    signature: Signature,
}

impl AggregateUDFImpl for DecimalSum {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        self.inner.return_type(arg_types)
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        not_distinct(args.is_distinct)?;
        Ok(Box::new(One { inner: self.inner.accumulator(args)?, nan: 0 }))
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        self.inner.state_fields(args)
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs) -> bool {
        self.inner.groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(Groups { inner: self.inner.create_groups_accumulator(args)?, nan: Vec::new() }))
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        not_distinct(args.is_distinct)?;
        Ok(Box::new(One { inner: self.inner.create_sliding_accumulator(args)?, nan: 0 }))
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }
}

/// Equal numbers are left out before they come here.
fn not_distinct(is_distinct: bool) -> Result<()> {
    if is_distinct { Err(PgError::internal("a sum of decimals that is to tell them apart").into()) } else { Ok(()) }
}

fn decimals(values: &[ArrayRef]) -> Result<&Decimal128Array> {
    let decimals = values.first().and_then(|array| array.as_primitive_opt::<Decimal128Type>());
    decimals.ok_or_else(|| PgError::internal("a sum of decimals was given something else").into())
}

/// The rows that are NaN, and the column with 0 in their place; `None` if there are none. What is under a NULL may be anything.
fn without_nan(column: &Decimal128Array) -> Option<(Vec<usize>, ArrayRef)> {
    if !column.values().contains(&DECIMAL_NAN) {
        return None;
    }
    let rows = (0..column.len()).filter(|row| column.is_valid(*row) && column.value(*row) == DECIMAL_NAN).collect();
    let rest = column.unary::<_, Decimal128Type>(|value| if value == DECIMAL_NAN { 0 } else { value });
    Some((rows, Arc::new(rest.with_data_type(column.data_type().clone()))))
}

/// One sum.
#[derive(Debug)]
struct One {
    inner: Box<dyn Accumulator>,
    /// How many NaN it has: they can leave a window again.
    nan: usize,
}

impl Accumulator for One {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        match without_nan(decimals(values)?) {
            None => self.inner.update_batch(values),
            Some((rows, rest)) => {
                self.nan += rows.len();
                self.inner.update_batch(&[rest])
            }
        }
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        match without_nan(decimals(values)?) {
            None => self.inner.retract_batch(values),
            Some((rows, rest)) => {
                self.nan = self.nan.saturating_sub(rows.len());
                self.inner.retract_batch(&[rest])
            }
        }
    }

    fn supports_retract_batch(&self) -> bool {
        self.inner.supports_retract_batch()
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        match without_nan(decimals(states)?) {
            None => self.inner.merge_batch(states),
            Some((rows, rest)) => {
                self.nan += rows.len();
                let mut states = states.to_vec();
                states.iter_mut().take(1).for_each(|sums| *sums = Arc::clone(&rest));
                self.inner.merge_batch(&states)
            }
        }
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(match self.inner.evaluate()? {
            ScalarValue::Decimal128(Some(_), precision, scale) if self.nan > 0 => {
                ScalarValue::Decimal128(Some(DECIMAL_NAN), precision, scale)
            }
            sum => sum,
        })
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let mut state = self.inner.state()?;
        let sum = self.evaluate()?;
        state.iter_mut().take(1).for_each(|first| *first = sum.clone());
        Ok(state)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.inner.size()
    }
}

/// A sum for each group.
struct Groups {
    inner: Box<dyn GroupsAccumulator>,
    /// Whether a group has a NaN; shorter than the groups are many if the rest has none.
    nan: Vec<bool>,
}

impl Groups {
    /// The sums as they leave, with NaN where it is due.
    fn with_nan(&mut self, emit_to: EmitTo, sums: ArrayRef) -> Result<ArrayRef> {
        if self.nan.is_empty() {
            return Ok(sums);
        }
        let nan: Vec<bool> = match emit_to {
            EmitTo::All => std::mem::take(&mut self.nan),
            EmitTo::First(groups) => self.nan.drain(..groups.min(self.nan.len())).collect(),
        };
        let column = decimals(std::slice::from_ref(&sums))?;
        let values = column.values().iter().enumerate();
        let values: Vec<i128> = values.map(|(group, sum)| if nan.get(group) == Some(&true) { DECIMAL_NAN } else { *sum }).collect();
        Ok(Arc::new(Decimal128Array::new(values.into(), column.nulls().cloned()).with_data_type(column.data_type().clone())))
    }
}

impl GroupsAccumulator for Groups {
    fn update_batch(&mut self, values: &[ArrayRef], groups: &[usize], filter: Option<&BooleanArray>, total: usize) -> Result<()> {
        let Some((rows, rest)) = without_nan(decimals(values)?) else {
            return self.inner.update_batch(values, groups, filter, total);
        };
        for row in rows {
            let counts = filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row));
            if let Some(group) = groups.get(row).filter(|_| counts) {
                if self.nan.len() <= *group {
                    self.nan.resize(group + 1, false);
                }
                self.nan.iter_mut().skip(*group).take(1).for_each(|nan| *nan = true);
            }
        }
        self.inner.update_batch(&[rest], groups, filter, total)
    }

    fn merge_batch(&mut self, values: &[ArrayRef], groups: &[usize], total: usize) -> Result<()> {
        self.update_batch(values, groups, None, total)
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let sums = self.inner.evaluate(emit_to)?;
        self.with_nan(emit_to, sums)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        Ok(vec![self.evaluate(emit_to)?])
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        // Each row is a sum of its own: 0 and the number, or 0 and NaN.
        self.inner.convert_to_state(values, filter)
    }

    fn size(&self) -> usize {
        self.inner.size() + self.nan.capacity()
    }
}
