//! Aggregates as folds: a small state for each group, rows added to it, states merged.
//!
//! A [`Fold`] says what a state is; this file makes DataFusion's three shapes of it: the function, the accumulator of one group
//! and the accumulator of all groups. Between stages a state travels as bytes. DISTINCT, and ORDER BY where order matters, go
//! through [`super::buffered`].

use super::buffered::Buffered;
use crate::error::{PgError, PgResult};
use crate::memory::process;
use crate::registry::AggregateCall;
use crate::types::SqlType;
use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, BinaryBuilder, BooleanArray};
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion_common::{DataFusionError, Result, ScalarValue};
use datafusion_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, EmitTo, GroupsAccumulator, Signature, Volatility};
use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// An aggregate over rows.
pub trait Fold: Debug + Send + Sync + 'static {
    type State: Default + Debug + Send + Sync;
    /// The argument columns in their concrete types.
    type Columns<'a>;
    /// Whether the result depends on the order of rows.
    const ORDERED: bool = false;
    /// Whether [`Fold::retract`] undoes [`Fold::add`].
    const RETRACTS: bool = false;

    fn open<'a>(&'a self, args: &'a [ArrayRef]) -> PgResult<Self::Columns<'a>>;
    /// Adds a row; NULLs too, which most aggregates pass over.
    fn add(&self, state: &mut Self::State, columns: &Self::Columns<'_>, row: usize) -> PgResult<()>;
    /// Takes a row out again.
    fn retract(&self, _state: &mut Self::State, _columns: &Self::Columns<'_>, _row: usize) -> PgResult<()> {
        Err(PgError::internal("an aggregate that cannot give rows back was asked to"))
    }
    /// Adds what another state has seen, behind what this one has.
    fn merge(&self, state: &mut Self::State, other: Self::State) -> PgResult<()>;
    fn encode(&self, state: &Self::State, out: &mut Vec<u8>);
    fn decode(&self, bytes: &[u8]) -> PgResult<Self::State>;
    /// The results of groups, in order.
    fn finish(&self, states: Vec<Self::State>) -> PgResult<ArrayRef>;
    /// Bytes that a state owns on the heap.
    fn heap_size(&self, _state: &Self::State) -> usize {
        0
    }
}

/// Reads fixed-size parts of an encoded state.
#[derive(Debug)]
pub struct StateReader<'a>(pub &'a [u8]);

impl<'a> StateReader<'a> {
    fn broken() -> PgError {
        PgError::internal("a partial aggregate that cannot be read")
    }

    pub fn bytes<const N: usize>(&mut self) -> PgResult<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>().ok_or_else(Self::broken)?;
        self.0 = rest;
        Ok(*head)
    }

    pub fn u8(&mut self) -> PgResult<u8> {
        Ok(self.bytes::<1>()?[0])
    }

    pub fn u16(&mut self) -> PgResult<u16> {
        Ok(u16::from_le_bytes(self.bytes()?))
    }

    pub fn i64(&mut self) -> PgResult<i64> {
        Ok(i64::from_le_bytes(self.bytes()?))
    }

    pub fn i128(&mut self) -> PgResult<i128> {
        Ok(i128::from_le_bytes(self.bytes()?))
    }

    pub fn f64(&mut self) -> PgResult<f64> {
        Ok(f64::from_le_bytes(self.bytes()?))
    }

    /// Bytes behind their length.
    pub fn blob(&mut self) -> PgResult<&'a [u8]> {
        let len = usize::try_from(self.i64()?).map_err(|_| Self::broken())?;
        let (head, rest) = self.0.split_at_checked(len).ok_or_else(Self::broken)?;
        self.0 = rest;
        Ok(head)
    }
}

/// Appends bytes behind their length.
pub fn push_blob(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(bytes.len() as i64).to_le_bytes());
    out.extend_from_slice(bytes);
}

/// DataFusion's function over a fold.
#[derive(Debug)]
pub struct FoldFunction<F: Fold> {
    name: &'static str,
    /// Tells uses with different types apart.
    identity: String,
    fold: Arc<F>,
    arg_types: Vec<SqlType>,
    ret: DataType,
    signature: Signature,
    /// The result over no rows, where that is not NULL.
    empty: Option<ScalarValue>,
}

impl<F: Fold> PartialEq for FoldFunction<F> {
    fn eq(&self, other: &Self) -> bool {
        self.identity == other.identity
    }
}

impl<F: Fold> Eq for FoldFunction<F> {}

impl<F: Fold> Hash for FoldFunction<F> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.identity.hash(hasher);
    }
}

/// What tells one use of an aggregate from another.
#[must_use]
pub fn identity(name: &str, call: &AggregateCall) -> String {
    format!("{name}({:?} {:?}) -> {:?}", call.arg_types, call.within_group, call.ret)
}

/// The function for one use of a fold.
pub fn function<F: Fold>(name: &'static str, call: &AggregateCall, fold: F) -> Arc<AggregateUDF> {
    function_with_empty(name, call, fold, None)
}

/// The same, for aggregates whose result over no rows is not NULL.
pub fn function_with_empty<F: Fold>(name: &'static str, call: &AggregateCall, fold: F, empty: Option<ScalarValue>) -> Arc<AggregateUDF> {
    Arc::new(AggregateUDF::from(FoldFunction {
        name,
        identity: identity(name, call),
        fold: Arc::new(fold),
        arg_types: call.arg_types.clone(),
        ret: call.ret.arrow.clone(),
        signature: Signature::variadic_any(Volatility::Immutable),
        empty,
    }))
}

impl<F: Fold> FoldFunction<F> {
    fn buffers(&self, args: &AccumulatorArgs) -> bool {
        args.is_distinct || (F::ORDERED && !args.order_bys.is_empty())
    }
}

impl<F: Fold> AggregateUDFImpl for FoldFunction<F> {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.ret.clone())
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        let one = Folding { fold: Arc::clone(&self.fold), states: vec![F::State::default()] };
        if self.buffers(&args) {
            let types = args.is_distinct.then(|| self.arg_types.clone());
            return Ok(Box::new(Buffered::new(Box::new(one), &args, types)));
        }
        Ok(Box::new(one))
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        if args.is_distinct || (F::ORDERED && !args.ordering_fields.is_empty()) {
            return Ok(super::buffered::state_fields(&args));
        }
        Ok(vec![Arc::new(Field::new(format_state_name(args.name, "state"), DataType::Binary, true))])
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs) -> bool {
        !self.buffers(&args)
    }

    fn create_groups_accumulator(&self, _: AccumulatorArgs) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(Folding { fold: Arc::clone(&self.fold), states: Vec::new() }))
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        if F::ORDERED { AggregateOrderSensitivity::HardRequirement } else { AggregateOrderSensitivity::Insensitive }
    }

    fn default_value(&self, data_type: &DataType) -> Result<ScalarValue> {
        match &self.empty {
            Some(value) => Ok(value.clone()),
            None => ScalarValue::try_from(data_type),
        }
    }
}

/// States of one group or of many.
#[derive(Debug)]
struct Folding<F: Fold> {
    fold: Arc<F>,
    states: Vec<F::State>,
}

impl<F: Fold> Folding<F> {
    fn resize(&mut self, groups: usize) {
        if self.states.len() < groups {
            self.states.resize_with(groups, F::State::default);
        }
    }

    fn encoded<'s>(&self, states: impl Iterator<Item = &'s F::State>) -> ArrayRef
    where
        F::State: 's,
    {
        let mut out = BinaryBuilder::new();
        let mut bytes = Vec::new();
        for state in states {
            bytes.clear();
            self.fold.encode(state, &mut bytes);
            out.append_value(&bytes);
        }
        Arc::new(out.finish())
    }

    fn bytes(&self) -> usize {
        size_of_val(self)
            + self.states.capacity() * size_of::<F::State>()
            + self.states.iter().map(|s| self.fold.heap_size(s)).sum::<usize>()
    }
}

fn partials(arrays: &[ArrayRef]) -> Result<&BinaryArray> {
    arrays
        .first()
        .and_then(|array| array.as_binary_opt::<i32>())
        .ok_or_else(|| DataFusionError::from(PgError::internal("partial aggregates that are not bytes")))
}

fn no_group() -> DataFusionError {
    PgError::internal("an aggregate was given a group that it does not have").into()
}

impl<F: Fold> Accumulator for Folding<F> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let rows = values.first().map_or(0, |array| array.len());
        let columns = self.fold.open(values)?;
        let state = self.states.first_mut().ok_or_else(no_group)?;
        for row in 0..rows {
            self.fold.add(state, &columns, row)?;
        }
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let rows = values.first().map_or(0, |array| array.len());
        let columns = self.fold.open(values)?;
        let state = self.states.first_mut().ok_or_else(no_group)?;
        for row in 0..rows {
            self.fold.retract(state, &columns, row)?;
        }
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        F::RETRACTS
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        // Windows evaluate again and again: the state stays, through its own bytes.
        let state = self.states.first().ok_or_else(no_group)?;
        process().claim(3 * self.fold.heap_size(state))?;
        let mut bytes = Vec::new();
        self.fold.encode(state, &mut bytes);
        let copy = self.fold.decode(&bytes)?;
        drop(bytes);
        let result = self.fold.finish(vec![copy])?;
        ScalarValue::try_from_array(&result, 0)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let state = self.states.first().ok_or_else(no_group)?;
        process().claim(2 * self.fold.heap_size(state))?;
        let mut bytes = Vec::new();
        self.fold.encode(state, &mut bytes);
        Ok(vec![ScalarValue::Binary(Some(bytes))])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let column = partials(states)?;
        let state = self.states.first_mut().ok_or_else(no_group)?;
        for row in 0..column.len() {
            if column.is_valid(row) {
                process().claim(column.value(row).len())?;
                self.fold.merge(state, self.fold.decode(column.value(row))?)?;
            }
        }
        Ok(())
    }

    fn size(&self) -> usize {
        self.bytes()
    }
}

impl<F: Fold> GroupsAccumulator for Folding<F> {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        self.resize(total_num_groups);
        let columns = self.fold.open(values)?;
        for (row, group) in group_indices.iter().enumerate() {
            if opt_filter.is_some_and(|filter| filter.is_null(row) || !filter.value(row)) {
                continue;
            }
            self.fold.add(self.states.get_mut(*group).ok_or_else(no_group)?, &columns, row)?;
        }
        Ok(())
    }

    fn merge_batch(&mut self, values: &[ArrayRef], group_indices: &[usize], total_num_groups: usize) -> Result<()> {
        self.resize(total_num_groups);
        let column = partials(values)?;
        for (row, group) in group_indices.iter().enumerate() {
            if column.is_valid(row) {
                let other = self.fold.decode(column.value(row))?;
                self.fold.merge(self.states.get_mut(*group).ok_or_else(no_group)?, other)?;
            }
        }
        Ok(())
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let states = emit_to.take_needed(&mut self.states);
        Ok(self.fold.finish(states)?)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let states = emit_to.take_needed(&mut self.states);
        Ok(vec![self.encoded(states.iter())])
    }

    fn convert_to_state(&self, values: &[ArrayRef], opt_filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let rows = values.first().map_or(0, |array| array.len());
        let columns = self.fold.open(values)?;
        let mut states = Vec::with_capacity(rows);
        for row in 0..rows {
            let mut state = F::State::default();
            if !opt_filter.is_some_and(|filter| filter.is_null(row) || !filter.value(row)) {
                self.fold.add(&mut state, &columns, row)?;
            }
            states.push(state);
        }
        Ok(vec![self.encoded(states.iter())])
    }

    fn size(&self) -> usize {
        self.bytes()
    }
}
