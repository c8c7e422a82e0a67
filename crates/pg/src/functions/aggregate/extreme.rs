//! `min` and `max` for types that Arrow does not order as PostgreSQL does.
//!
//! Floats and decimals are compared as they are; everything else by its sort key, with the value beside it.

use super::fold::{Fold, StateReader, identity};
use crate::error::{PgError, PgResult};
use crate::registry::AggregateCall;
use crate::types::SqlType;
use crate::values::key_writer;
use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, BooleanArray, PrimitiveArray};
use arrow::datatypes::{DataType, Decimal128Type, Field, FieldRef, Float32Type, Float64Type};
use datafusion_common::{DataFusionError, Result, ScalarValue};
use datafusion_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, EmitTo, GroupsAccumulator, Signature, Volatility};
use std::cmp::Ordering;
use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::sync::Arc;

/// A primitive type whose order is known.
pub trait Ordered: ArrowPrimitiveType + Debug + Send + Sync {
    fn order(a: Self::Native, b: Self::Native) -> Ordering;
    fn to_bytes(value: Self::Native) -> [u8; 16];
    fn from_bytes(bytes: [u8; 16]) -> Self::Native;
}

/// PostgreSQL's order of floats: NaN equals itself and is last, −0 equals 0.
fn float_order(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

impl Ordered for Float64Type {
    fn order(a: f64, b: f64) -> Ordering {
        float_order(a, b)
    }
    fn to_bytes(value: f64) -> [u8; 16] {
        u128::from(value.to_bits()).to_le_bytes()
    }
    fn from_bytes(bytes: [u8; 16]) -> f64 {
        f64::from_bits(u128::from_le_bytes(bytes) as u64)
    }
}

impl Ordered for Float32Type {
    fn order(a: f32, b: f32) -> Ordering {
        float_order(f64::from(a), f64::from(b))
    }
    fn to_bytes(value: f32) -> [u8; 16] {
        u128::from(value.to_bits()).to_le_bytes()
    }
    fn from_bytes(bytes: [u8; 16]) -> f32 {
        f32::from_bits(u128::from_le_bytes(bytes) as u32)
    }
}

impl Ordered for Decimal128Type {
    fn order(a: i128, b: i128) -> Ordering {
        a.cmp(&b)
    }
    fn to_bytes(value: i128) -> [u8; 16] {
        value.to_le_bytes()
    }
    fn from_bytes(bytes: [u8; 16]) -> i128 {
        i128::from_le_bytes(bytes)
    }
}

/// The wanted side of an order.
fn wins(largest: bool, new: Ordering) -> bool {
    // Of equal values PostgreSQL keeps the later one.
    if largest { new != Ordering::Less } else { new != Ordering::Greater }
}

/// `min` and `max` of primitives.
#[derive(Debug)]
pub struct PrimitiveExtreme<T> {
    pub largest: bool,
    pub ret: DataType,
    ty: PhantomData<T>,
}

impl<T> PrimitiveExtreme<T> {
    #[must_use]
    pub fn new(largest: bool, ret: DataType) -> Self {
        Self { largest, ret, ty: PhantomData }
    }
}

impl<T: Ordered> Fold for PrimitiveExtreme<T> {
    type State = Option<T::Native>;
    type Columns<'a> = &'a PrimitiveArray<T>;

    fn open<'a>(&'a self, args: &'a [ArrayRef]) -> PgResult<&'a PrimitiveArray<T>> {
        args.first()
            .and_then(|array| array.as_primitive_opt::<T>())
            .ok_or_else(|| PgError::internal("min or max was given another type than it was made for"))
    }

    #[inline]
    fn add(&self, state: &mut Self::State, columns: &Self::Columns<'_>, row: usize) -> PgResult<()> {
        if columns.is_valid(row) {
            self.merge(state, Some(columns.value(row)))?;
        }
        Ok(())
    }

    #[inline]
    fn merge(&self, state: &mut Self::State, other: Self::State) -> PgResult<()> {
        if let Some(new) = other
            && state.is_none_or(|old| wins(self.largest, T::order(new, old)))
        {
            *state = Some(new);
        }
        Ok(())
    }

    fn encode(&self, state: &Self::State, out: &mut Vec<u8>) {
        if let Some(value) = state {
            out.extend_from_slice(&T::to_bytes(*value));
        }
    }

    fn decode(&self, bytes: &[u8]) -> PgResult<Self::State> {
        if bytes.is_empty() { Ok(None) } else { Ok(Some(T::from_bytes(StateReader(bytes).bytes()?))) }
    }

    fn finish(&self, states: Vec<Self::State>) -> PgResult<ArrayRef> {
        Ok(Arc::new(PrimitiveArray::<T>::from_iter(states).with_data_type(self.ret.clone())))
    }
}

/// `min` or `max` by sort key.
#[derive(Debug)]
struct KeyExtreme {
    name: &'static str,
    identity: String,
    ty: SqlType,
    largest: bool,
    signature: Signature,
}

impl PartialEq for KeyExtreme {
    fn eq(&self, other: &Self) -> bool {
        self.identity == other.identity
    }
}

impl Eq for KeyExtreme {}

impl Hash for KeyExtreme {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.identity.hash(hasher);
    }
}

/// The best key of each group and the value that has it.
#[derive(Debug)]
struct Best {
    ty: SqlType,
    largest: bool,
    keys: Vec<Option<Vec<u8>>>,
    values: Vec<ScalarValue>,
    null: ScalarValue,
}

impl Best {
    fn new(ty: &SqlType, largest: bool, groups: usize) -> Result<Self> {
        let null = ScalarValue::try_from(&ty.arrow)?;
        Ok(Self { ty: ty.clone(), largest, keys: vec![None; groups], values: vec![null.clone(); groups], null })
    }

    fn resize(&mut self, groups: usize) {
        if self.keys.len() < groups {
            self.keys.resize(groups, None);
            self.values.resize(groups, self.null.clone());
        }
    }

    /// Offers the rows of a column, each to the group that `group` gives it, if any.
    fn offer(&mut self, column: &ArrayRef, group: impl Fn(usize) -> Option<usize>) -> Result<()> {
        let writer = key_writer(&self.ty, column.as_ref())?;
        let mut key = Vec::new();
        for row in 0..column.len() {
            let Some(group) = group(row) else { continue };
            if column.is_null(row) {
                continue;
            }
            key.clear();
            writer.write(row, &mut key)?;
            let (Some(best), Some(value)) = (self.keys.get_mut(group), self.values.get_mut(group)) else {
                return Err(DataFusionError::from(PgError::internal("an aggregate was given a group that it does not have")));
            };
            let better = match best {
                Some(best) => wins(self.largest, key.as_slice().cmp(best.as_slice())),
                None => true,
            };
            if better {
                *value = ScalarValue::try_from_array(column, row)?;
                match best {
                    Some(best) => std::mem::swap(best, &mut key),
                    None => *best = Some(key.clone()),
                }
            }
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        size_of_val(self)
            + self.keys.iter().map(|key| 24 + key.as_ref().map_or(0, Vec::capacity)).sum::<usize>()
            + self.values.iter().map(ScalarValue::size).sum::<usize>()
    }
}

fn column(values: &[ArrayRef]) -> Result<&ArrayRef> {
    values.first().ok_or_else(|| DataFusionError::from(PgError::internal("min or max without its argument")))
}

impl Accumulator for Best {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.offer(column(values)?, |_| Some(0))
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.offer(column(states)?, |_| Some(0))
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(self.values.first().cloned().unwrap_or_else(|| self.null.clone()))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![Accumulator::evaluate(self)?])
    }

    fn size(&self) -> usize {
        self.bytes()
    }
}

impl GroupsAccumulator for Best {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        self.resize(total_num_groups);
        self.offer(column(values)?, |row| {
            if opt_filter.is_some_and(|filter| filter.is_null(row) || !filter.value(row)) { None } else { group_indices.get(row).copied() }
        })
    }

    fn merge_batch(&mut self, values: &[ArrayRef], group_indices: &[usize], total_num_groups: usize) -> Result<()> {
        self.resize(total_num_groups);
        self.offer(column(values)?, |row| group_indices.get(row).copied())
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        emit_to.take_needed(&mut self.keys);
        let values = emit_to.take_needed(&mut self.values);
        if values.is_empty() {
            return Ok(arrow::array::new_empty_array(&self.ty.arrow));
        }
        ScalarValue::iter_to_array(values)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        Ok(vec![GroupsAccumulator::evaluate(self, emit_to)?])
    }

    fn convert_to_state(&self, values: &[ArrayRef], opt_filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let values = column(values)?;
        Ok(vec![match opt_filter {
            None => Arc::clone(values),
            Some(filter) => {
                let hidden: BooleanArray = filter.iter().map(|keep| Some(keep != Some(true))).collect();
                arrow::compute::nullif(values, &hidden)?
            }
        }])
    }

    fn size(&self) -> usize {
        self.bytes()
    }
}

impl AggregateUDFImpl for KeyExtreme {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.ty.arrow.clone())
    }

    fn accumulator(&self, _: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Best::new(&self.ty, self.largest, 1)?))
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        Ok(vec![Arc::new(Field::new(format_state_name(args.name, "best"), self.ty.arrow.clone(), true))])
    }

    fn groups_accumulator_supported(&self, _: AccumulatorArgs) -> bool {
        true
    }

    fn create_groups_accumulator(&self, _: AccumulatorArgs) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(Best::new(&self.ty, self.largest, 0)?))
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }
}

/// `min` or `max` for one use.
pub fn function(name: &'static str, call: &AggregateCall, largest: bool) -> PgResult<Arc<AggregateUDF>> {
    let ty = call.arg_types.first().ok_or_else(|| PgError::internal("min or max without its argument"))?;
    Ok(match &ty.arrow {
        DataType::Float32 => super::fold::function(name, call, PrimitiveExtreme::<Float32Type>::new(largest, ty.arrow.clone())),
        DataType::Float64 => super::fold::function(name, call, PrimitiveExtreme::<Float64Type>::new(largest, ty.arrow.clone())),
        DataType::Decimal128(..) => super::fold::function(name, call, PrimitiveExtreme::<Decimal128Type>::new(largest, ty.arrow.clone())),
        _ => Arc::new(AggregateUDF::from(KeyExtreme {
            name,
            identity: identity(name, call),
            ty: ty.clone(),
            largest,
            signature: Signature::variadic_any(Volatility::Immutable),
        })),
    })
}
