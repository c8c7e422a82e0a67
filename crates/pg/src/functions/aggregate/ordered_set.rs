//! Aggregates with WITHIN GROUP: percentiles, mode, and the ranks of hypothetical rows.
//!
//! All rows of a group are kept and sorted here, by the flags in [`AggregateCall::within_group`]. The direct arguments come as the
//! first columns and are the same in every row.

use super::buffered::{Rows, state_fields};
use super::fold::identity;
use crate::error::{PgError, PgResult};
use crate::registry::AggregateCall;
use crate::sqlstate::SqlState;
use crate::types::{PgType, SqlType, array_item};
use crate::values::array::{ArrayAssembler, ArrayColumn, element_type};
use crate::values::interval::{Interval, out_of_range};
use crate::values::key_writer;
use arrow::array::{Array, ArrayRef, AsArray, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::{DataType, FieldRef, Float32Type, Float64Type, IntervalMonthDayNanoType};
use datafusion_common::{Result, ScalarValue};
use datafusion_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion_expr::utils::AggregateOrderSensitivity;
use datafusion_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility};
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The ordered-set aggregates.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OrderedSet {
    PercentileCont,
    PercentileDisc,
    Mode,
    Rank,
    DenseRank,
    PercentRank,
    CumeDist,
}

impl OrderedSet {
    /// Whether the direct arguments are a row that is compared with the sorted ones.
    #[must_use]
    pub fn is_hypothetical(self) -> bool {
        matches!(self, OrderedSet::Rank | OrderedSet::DenseRank | OrderedSet::PercentRank | OrderedSet::CumeDist)
    }
}

/// The ordered-set aggregate of a name, if it is one: such calls need WITHIN GROUP. `rank` and its relatives are window functions
/// as well.
#[must_use]
pub fn ordered_set(name: &str) -> Option<OrderedSet> {
    Some(match name {
        "percentile_cont" => OrderedSet::PercentileCont,
        "percentile_disc" => OrderedSet::PercentileDisc,
        "mode" => OrderedSet::Mode,
        "rank" => OrderedSet::Rank,
        "dense_rank" => OrderedSet::DenseRank,
        "percent_rank" => OrderedSet::PercentRank,
        "cume_dist" => OrderedSet::CumeDist,
        _ => return None,
    })
}

#[derive(Debug)]
struct Function {
    name: &'static str,
    identity: String,
    kind: OrderedSet,
    call: AggregateCall,
    signature: Signature,
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.identity == other.identity
    }
}

impl Eq for Function {}

impl Hash for Function {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.identity.hash(hasher);
    }
}

/// The function for one use.
pub fn function(name: &'static str, call: &AggregateCall) -> PgResult<Arc<AggregateUDF>> {
    let kind = ordered_set(name).ok_or_else(|| PgError::internal("not an ordered-set aggregate"))?;
    let sorted = call.within_group.len();
    if sorted == 0 || call.arg_types.len() < sorted {
        return Err(PgError::new(SqlState::WRONG_OBJECT_TYPE, format!("WITHIN GROUP is required for ordered-set aggregate {name}")));
    }
    let direct = call.arg_types.len() - sorted;
    if kind.is_hypothetical() && direct != sorted {
        return Err(PgError::new(SqlState::UNDEFINED_FUNCTION, format!("function {name} has {direct} direct arguments and {sorted} ordering columns"))
            .hint(format!("To use the hypothetical-set aggregate {name}, the number of hypothetical direct arguments must match the number of ordering columns.")));
    }
    Ok(Arc::new(AggregateUDF::from(Function {
        name,
        identity: identity(name, call),
        kind,
        call: call.clone(),
        signature: Signature::variadic_any(Volatility::Immutable),
    })))
}

impl AggregateUDFImpl for Function {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.call.ret.arrow.clone())
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        let types = args.expr_fields.iter().map(|field| field.data_type().clone()).collect();
        Ok(Box::new(Group { kind: self.kind, call: self.call.clone(), rows: Rows::new(types) }))
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        Ok(state_fields(&StateFieldsArgs { ordering_fields: &[], ..args }))
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }
}

#[derive(Debug)]
struct Group {
    kind: OrderedSet,
    call: AggregateCall,
    rows: Rows,
}

impl Accumulator for Group {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.rows.push(values);
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let rows = &mut self.rows;
        Rows::each_state(states, |columns| {
            rows.push(columns);
            Ok(())
        })
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.rows.state()
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let mut columns = self.rows.columns()?;
        let direct = columns.len().saturating_sub(self.call.within_group.len());
        let sorted = columns.split_off(direct);
        match evaluate(self.kind, &self.call, &columns, &sorted)? {
            Some(array) => ScalarValue::try_from_array(&array, 0),
            None => ScalarValue::try_from(&self.call.ret.arrow),
        }
    }

    fn size(&self) -> usize {
        self.rows.bytes()
    }
}

/// Sortable bytes of each row over some columns, with the flags of WITHIN GROUP applied.
fn keys(order: &[(SqlType, bool, bool)], columns: &[ArrayRef]) -> PgResult<Vec<Vec<u8>>> {
    let rows = columns.first().map_or(0, |column| column.len());
    let mut keys = vec![Vec::new(); rows];
    for ((ty, descending, nulls_first), column) in order.iter().zip(columns) {
        let writer = key_writer(ty, column.as_ref())?;
        for (row, key) in keys.iter_mut().enumerate() {
            if column.is_null(row) {
                key.push(if *nulls_first { 0 } else { 2 });
                continue;
            }
            key.push(1);
            let from = key.len();
            writer.write(row, key)?;
            if *descending {
                key.iter_mut().skip(from).for_each(|byte| *byte = !*byte);
            }
        }
    }
    Ok(keys)
}

fn evaluate(kind: OrderedSet, call: &AggregateCall, direct: &[ArrayRef], sorted: &[ArrayRef]) -> PgResult<Option<ArrayRef>> {
    if kind.is_hypothetical() {
        return hypothetical(kind, call, direct, sorted).map(Some);
    }
    // NULLs do not take part.
    let column = sorted.first().ok_or_else(|| PgError::internal("an ordered-set aggregate without its column"))?;
    let keys = keys(&call.within_group, sorted)?;
    let mut order: Vec<u32> = (0..column.len() as u32).filter(|row| column.is_valid(*row as usize)).collect();
    order.sort_by(|a, b| keys.get(*a as usize).cmp(&keys.get(*b as usize)));
    if order.is_empty() {
        return Ok(None);
    }
    let at = |position: usize| order.get(position).copied().unwrap_or(0);
    match kind {
        OrderedSet::Mode => {
            let mut best = (0, 0);
            let mut from = 0;
            for to in 1..=order.len() {
                if to == order.len() || keys.get(at(to) as usize) != keys.get(at(from) as usize) {
                    if to - from > best.1 {
                        best = (from, to - from);
                    }
                    from = to;
                }
            }
            Ok(Some(take(column, &UInt32Array::from(vec![at(best.0)]), None)?))
        }
        _ => {
            let fraction = direct.first().ok_or_else(|| PgError::internal("a percentile without its fraction"))?;
            let discrete = kind == OrderedSet::PercentileDisc;
            let sorted = take(column, &UInt32Array::from(order), None)?;
            if array_item(fraction.data_type()).is_some() {
                return many(fraction, &sorted, discrete, call);
            }
            match fractions(fraction)?.first().copied().flatten() {
                None => Ok(None),
                Some(fraction) => percentile(fraction, &sorted, discrete).map(Some),
            }
        }
    }
}

/// Checked fractions of a float8 column.
fn fractions(column: &ArrayRef) -> PgResult<Vec<Option<f64>>> {
    let column = column
        .as_primitive_opt::<Float64Type>()
        .ok_or_else(|| PgError::internal("the fraction of a percentile is not double precision"))?;
    column
        .iter()
        .map(|fraction| match fraction {
            Some(p) if !(0.0..=1.0).contains(&p) => {
                Err(PgError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, format!("percentile value {} is not between 0 and 1", shortest(p))))
            }
            other => Ok(other),
        })
        .collect()
}

/// A float as `%g` prints it, near enough for a message.
fn shortest(value: f64) -> String {
    if value.is_nan() { "nan".into() } else { format!("{value}") }
}

/// The percentile as an array of one row. `sorted` is not empty.
fn percentile(fraction: f64, sorted: &ArrayRef, discrete: bool) -> PgResult<ArrayRef> {
    let n = sorted.len();
    if discrete {
        let position = (fraction * n as f64).ceil().max(1.0) as usize - 1;
        return Ok(sorted.slice(position.min(n - 1), 1));
    }
    let exact = fraction * (n - 1) as f64;
    let (low, high) = (exact.floor() as usize, exact.ceil() as usize);
    if low == high {
        return Ok(sorted.slice(low.min(n - 1), 1));
    }
    let share = exact - low as f64;
    if let Some(values) = sorted.as_primitive_opt::<Float64Type>() {
        let (low, high) = (values.value(low), values.value(high));
        return Ok(Arc::new(arrow::array::Float64Array::from(vec![low + share * (high - low)])));
    }
    if let Some(values) = sorted.as_primitive_opt::<Float32Type>() {
        let (low, high) = (f64::from(values.value(low)), f64::from(values.value(high)));
        return Ok(Arc::new(arrow::array::Float64Array::from(vec![low + share * (high - low)])));
    }
    if let Some(values) = sorted.as_primitive_opt::<IntervalMonthDayNanoType>() {
        let at = |row: usize| Interval::from_arrow(values.value(row));
        let value = between(at(low), at(high), share)?;
        return Ok(Arc::new(arrow::array::IntervalMonthDayNanoArray::from(vec![value.to_arrow()])));
    }
    Err(PgError::internal(format!("percentile_cont over {}", sorted.data_type())))
}

/// `low + share × (high − low)` of intervals: fractions of months become days of thirty, fractions of days time.
fn between(low: Interval, high: Interval, share: f64) -> PgResult<Interval> {
    let round = |x: f64| (x * 1e6).round_ties_even() / 1e6;
    let months = (f64::from(high.months) - f64::from(low.months)) * share;
    let days = (f64::from(high.days) - f64::from(low.days)) * share;
    let micros = (high.micros as f64 - low.micros as f64) * share;
    let month_days = round((months - months.trunc()) * 30.0);
    let mut whole_days = days.trunc();
    let mut seconds = round((days - days.trunc() + month_days - month_days.trunc()) * 86_400.0);
    if seconds.abs() >= 86_400.0 {
        whole_days += (seconds / 86_400.0).trunc();
        seconds -= (seconds / 86_400.0).trunc() * 86_400.0;
    }
    whole_days += month_days.trunc();
    let micros = (micros + seconds * 1e6).round_ties_even() as i64;
    Ok(Interval {
        months: low.months.checked_add(months.trunc() as i32).ok_or_else(out_of_range)?,
        days: low.days.checked_add(whole_days as i32).ok_or_else(out_of_range)?,
        micros: low.micros.checked_add(micros).ok_or_else(out_of_range)?,
    })
}

/// Percentiles of an array of fractions, as an array in the same shape.
fn many(array: &ArrayRef, sorted: &ArrayRef, discrete: bool, call: &AggregateCall) -> PgResult<Option<ArrayRef>> {
    let column = ArrayColumn::open(array.as_ref())?;
    let Some(value) = (if array.is_empty() { None } else { column.get(0) }) else { return Ok(None) };
    let fractions = fractions(&column.leaf().slice(value.start, value.len()))?;
    let item = element_type(&call.ret).arrow;
    let null = arrow::array::new_null_array(&item, 1);
    let values = fractions
        .iter()
        .map(|fraction| match fraction {
            Some(fraction) => percentile(*fraction, sorted, discrete),
            None => Ok(Arc::clone(&null)),
        })
        .collect::<PgResult<Vec<_>>>()?;
    let parts: Vec<&dyn Array> = values.iter().map(AsRef::as_ref).collect();
    let values = if parts.is_empty() { arrow::array::new_empty_array(&item) } else { arrow::compute::concat(&parts)? };
    let sources = [values.to_data()];
    let mut out = ArrayAssembler::new(&sources, 1);
    out.copy(0, 0, values.len())?;
    out.end_row(value.shape)?;
    out.finish().map(Some)
}

fn hypothetical(kind: OrderedSet, call: &AggregateCall, direct: &[ArrayRef], sorted: &[ArrayRef]) -> PgResult<ArrayRef> {
    let rows = sorted.first().map_or(0, |column| column.len());
    let (mut less, mut equal, mut distinct_less) = (0usize, 0usize, std::collections::HashSet::new());
    if rows > 0 {
        let mine = direct.iter().map(|column| column.slice(0, 1)).collect::<Vec<_>>();
        let mine = keys(&call.within_group, &mine)?.pop().unwrap_or_default();
        for key in keys(&call.within_group, sorted)? {
            match key.cmp(&mine) {
                Ordering::Less => {
                    less += 1;
                    if kind == OrderedSet::DenseRank {
                        distinct_less.insert(key);
                    }
                }
                Ordering::Equal => equal += 1,
                Ordering::Greater => {}
            }
        }
    }
    let int = |value: usize| -> ArrayRef { Arc::new(arrow::array::Int64Array::from(vec![value as i64])) };
    let float = |value: f64| -> ArrayRef { Arc::new(arrow::array::Float64Array::from(vec![value])) };
    Ok(match kind {
        OrderedSet::DenseRank => int(distinct_less.len() + 1),
        OrderedSet::PercentRank => float(if rows == 0 { 0.0 } else { less as f64 / rows as f64 }),
        OrderedSet::CumeDist => float((less + equal + 1) as f64 / (rows + 1) as f64),
        _ => int(less + 1),
    })
}

/// Signatures: name, direct arguments, sorted column, result.
#[must_use]
pub fn signatures() -> Vec<(&'static str, Vec<PgType>, PgType)> {
    use PgType::{AnyArray, AnyElement, Float8, Interval};
    let floats = || Float8.array_of();
    vec![
        ("percentile_cont", vec![Float8, Float8], Float8),
        ("percentile_cont", vec![Float8, Interval], Interval),
        ("percentile_cont", vec![floats(), Float8], floats()),
        ("percentile_cont", vec![floats(), Interval], Interval.array_of()),
        ("percentile_disc", vec![Float8, AnyElement], AnyElement),
        ("percentile_disc", vec![floats(), AnyElement], AnyArray),
        ("mode", vec![AnyElement], AnyElement),
    ]
}
