//! Window functions over PostgreSQL's frames: ROWS, GROUPS and RANGE with offsets of any type, EXCLUDE, and arguments that differ by row.
//!
//! DataFusion sorts and parts the rows; [`FramedUdwf`] gets one partition at a time and computes every row of it. Its arguments are, in
//! this order: those of the function; the condition of FILTER; the ORDER BY columns as sort keys; for RANGE with an offset the key and,
//! for each bound with an offset, the value that bounds the frame of each row; the offsets themselves.

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, UInt64Array, new_null_array};
use arrow::compute::{filter, interleave, take};
use arrow::datatypes::{DataType, Field, FieldRef, Float64Type, Int32Type, Int64Type, IntervalMonthDayNanoType, Schema};
use arrow::row::{RowConverter, SortField};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::function::{AccumulatorArgs, PartitionEvaluatorArgs, WindowUDFFieldArgs};
use datafusion::logical_expr::{Accumulator, AggregateUDF, PartitionEvaluator, Signature, Volatility, WindowUDF, WindowUDFImpl};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;
use stoa_pg::values::interval::Interval;
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};

use stoa_sql::typed::tree::{FrameExclusion, FrameUnits};

/// What is computed of the frame.
#[derive(Clone, Debug)]
pub enum Framed {
    Aggregate(Arc<AggregateUDF>),
    First,
    Last,
    Nth,
    Lag,
    Lead,
    Ntile,
}

/// One end of a frame, without the value of its offset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    UnboundedPreceding,
    Preceding,
    CurrentRow,
    Following,
    UnboundedFollowing,
}

impl End {
    fn has_offset(self) -> bool {
        matches!(self, End::Preceding | End::Following)
    }
}

/// A call of a window function with its frame.
#[derive(Clone, Debug)]
pub struct FramedCall {
    pub framed: Framed,
    pub arg_types: Vec<DataType>,
    pub ret: DataType,
    pub has_filter: bool,
    /// How many sort keys there are.
    pub order: usize,
    pub units: FrameUnits,
    pub start: End,
    pub end: End,
    pub exclusion: FrameExclusion,
    /// RANGE with an offset: the type of the key and its bounds, and how the key is sorted.
    pub range: Option<RangeKey>,
}

#[derive(Clone, Debug)]
pub struct RangeKey {
    pub ty: SqlType,
    pub descending: bool,
    pub nulls_first: bool,
}

/// The call as a function of DataFusion's, distinguished by its name.
pub struct FramedUdwf {
    call: Arc<FramedCall>,
    name: String,
    signature: Signature,
}

impl FramedUdwf {
    pub fn make(call: FramedCall, name: String) -> Arc<WindowUDF> {
        let signature = Signature::variadic_any(Volatility::Immutable);
        Arc::new(WindowUDF::new_from_impl(Self { call: Arc::new(call), name, signature }))
    }
}

impl fmt::Debug for FramedUdwf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl PartialEq for FramedUdwf {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for FramedUdwf {}

impl Hash for FramedUdwf {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl WindowUDFImpl for FramedUdwf {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn partition_evaluator(&self, _: PartitionEvaluatorArgs) -> Result<Box<dyn PartitionEvaluator>> {
        Ok(Box::new(Evaluator { call: Arc::clone(&self.call) }))
    }

    fn field(&self, args: WindowUDFFieldArgs) -> Result<FieldRef> {
        Ok(Arc::new(Field::new(args.name(), self.call.ret.clone(), true)))
    }
}

#[derive(Debug)]
struct Evaluator {
    call: Arc<FramedCall>,
}

impl PartitionEvaluator for Evaluator {
    fn evaluate_all(&mut self, values: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
        if rows == 0 {
            return Ok(arrow::array::new_empty_array(&self.call.ret));
        }
        Ok(Partition::open(&self.call, values, rows)?.evaluate()?)
    }
}

/// The rows of one partition, sorted.
struct Partition<'a> {
    call: &'a FramedCall,
    args: &'a [ArrayRef],
    filter: Option<BooleanArray>,
    rows: usize,
    /// For each row, the number of its peer group; and the rows of each group.
    group_of: Vec<usize>,
    groups: Vec<Range<usize>>,
    /// Rows of ROWS, groups of GROUPS.
    start_offset: usize,
    end_offset: usize,
    range: Option<RangeBounds>,
}

/// A key that compares as PostgreSQL's `in_range` does; `None` is NULL.
type Keys = Vec<Option<RangeValue>>;

#[derive(Clone, Debug)]
enum RangeValue {
    Lowest,
    Float(f64),
    Bytes(Vec<u8>),
    Highest,
}

impl RangeValue {
    fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (RangeValue::Lowest, RangeValue::Lowest) | (RangeValue::Highest, RangeValue::Highest) => Ordering::Equal,
            (RangeValue::Lowest, _) | (_, RangeValue::Highest) => Ordering::Less,
            (RangeValue::Highest, _) | (_, RangeValue::Lowest) => Ordering::Greater,
            (RangeValue::Float(a), RangeValue::Float(b)) => match (a.is_nan(), b.is_nan()) {
                (true, true) => Ordering::Equal,
                (true, false) => Ordering::Greater,
                (false, true) => Ordering::Less,
                (false, false) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
            },
            (RangeValue::Bytes(a), RangeValue::Bytes(b)) => a.cmp(b),
            _ => Ordering::Equal,
        }
    }
}

struct RangeBounds {
    keys: Keys,
    start: Option<Keys>,
    end: Option<Keys>,
    descending: bool,
    nulls_first: bool,
}

fn bad_size(message: &str) -> PgError {
    PgError::new(SqlState::INVALID_PRECEDING_OR_FOLLOWING_SIZE, message)
}

fn wrong() -> PgError {
    PgError::internal("a window function was given other columns")
}

/// The number of rows or groups that an offset says; the same for all rows.
fn count(offset: &ArrayRef, which: &str) -> PgResult<usize> {
    if offset.is_null(0) {
        return Err(PgError::new(SqlState::NULL_VALUE_NOT_ALLOWED, format!("frame {which} offset must not be null")));
    }
    let n = offset.as_primitive_opt::<Int64Type>().ok_or_else(wrong)?.value(0);
    usize::try_from(n).map_err(|_| bad_size(&format!("frame {which} offset must not be negative")))
}

/// Refuses offsets of RANGE that are NULL, negative or no number.
fn check_distance(offset: &ArrayRef, ty: &SqlType, which: &str) -> PgResult<()> {
    if offset.is_null(0) {
        return Err(PgError::new(SqlState::NULL_VALUE_NOT_ALLOWED, format!("frame {which} offset must not be null")));
    }
    let bad = if let Some(floats) = offset.as_primitive_opt::<Float64Type>() {
        floats.value(0).is_nan() || floats.value(0) < 0.0
    } else {
        let key = stoa_pg::values::sort_key(ty, &offset.slice(0, 1))?;
        let ctx = stoa_pg::EvalContext::default();
        let zero = stoa_pg::values::input_text(&ctx, ty, "0")?.to_array().map_err(stoa_sql::typed::from_datafusion)?;
        let zero = stoa_pg::values::sort_key(ty, &zero)?;
        let nan = ty.ty == PgType::Numeric
            && stoa_pg::values::numeric::Numeric::decode(offset.as_binary_view_opt().ok_or_else(wrong)?.value(0))?.is_nan();
        nan || bytes_of(&key, 0)? < bytes_of(&zero, 0)?
    };
    if bad { Err(bad_size("invalid preceding or following size in window function")) } else { Ok(()) }
}

fn bytes_of(array: &ArrayRef, row: usize) -> PgResult<Vec<u8>> {
    Ok(array.as_binary_view_opt().ok_or_else(wrong)?.value(row).to_vec())
}

/// The type in which distances of a key are measured.
pub fn distance_type(key: &PgType) -> Option<PgType> {
    Some(match key {
        PgType::Int2 | PgType::Int4 | PgType::Int8 | PgType::Numeric => PgType::Numeric,
        PgType::Float4 | PgType::Float8 => PgType::Float8,
        PgType::Date | PgType::Time | PgType::Timestamp | PgType::Timestamptz | PgType::Interval => PgType::Interval,
        _ => return None,
    })
}

fn keys_of(array: &ArrayRef, ty: &SqlType) -> PgResult<Keys> {
    if let Some(floats) = array.as_primitive_opt::<Float64Type>() {
        return Ok(floats.iter().map(|v| v.map(RangeValue::Float)).collect());
    }
    if ty.ty == PgType::Time {
        // Microseconds; bounds are computed beside them.
        let micros = array.as_primitive_opt::<arrow::datatypes::Time64MicrosecondType>().ok_or_else(wrong)?;
        return Ok(micros.iter().map(|v| v.map(|v| RangeValue::Float(v as f64))).collect());
    }
    let sorted = stoa_pg::values::sort_key(ty, array)?;
    let Some(bytes) = sorted.as_binary_view_opt() else {
        // Types of native order: their values as bytes that sort.
        let rows = RowConverter::new(vec![SortField::new(sorted.data_type().clone())])?.convert_columns(std::slice::from_ref(&sorted))?;
        return Ok((0..sorted.len()).map(|i| (!sorted.is_null(i)).then(|| RangeValue::Bytes(rows.row(i).as_ref().to_vec()))).collect());
    };
    Ok(bytes.iter().map(|v| v.map(|v| RangeValue::Bytes(v.to_vec()))).collect())
}

impl<'a> Partition<'a> {
    fn open(call: &'a FramedCall, values: &'a [ArrayRef], rows: usize) -> PgResult<Self> {
        let mut rest = values;
        let mut some = |n: usize| -> PgResult<&'a [ArrayRef]> {
            let (taken, left) = rest.split_at_checked(n).ok_or_else(wrong)?;
            rest = left;
            Ok(taken)
        };
        let args = some(call.arg_types.len())?;
        let filter = match some(usize::from(call.has_filter))? {
            [condition] => Some(condition.as_boolean_opt().ok_or_else(wrong)?.clone()),
            _ => None,
        };
        let order = some(call.order)?;
        let mut group_of = vec![0; rows];
        let mut groups: Vec<Range<usize>> = Vec::new();
        if order.is_empty() {
            groups.push(0..rows);
        } else {
            let fields = order.iter().map(|a| SortField::new(a.data_type().clone())).collect();
            let keys = RowConverter::new(fields)?.convert_columns(order)?;
            let mut start = 0;
            for row in 1..=rows {
                if row == rows || keys.row(row) != keys.row(start) {
                    group_of.get_mut(start..row).unwrap_or(&mut []).fill(groups.len());
                    groups.push(start..row);
                    start = row;
                }
            }
        }
        let (starts, ends) = (usize::from(call.start.has_offset()), usize::from(call.end.has_offset()));
        let mut out = Self { call, args, filter, rows, group_of, groups, start_offset: 0, end_offset: 0, range: None };
        if let Some(key) = &call.range {
            let keys = some(1)?.first().ok_or_else(wrong)?;
            let bounds = some(starts + ends)?;
            let offsets = some(starts + ends)?;
            let distance = SqlType::new(distance_type(&key.ty.ty).ok_or_else(wrong)?);
            let mut ends_of = Vec::with_capacity(2);
            let which = [(starts > 0).then_some(("starting", call.start)), (ends > 0).then_some(("ending", call.end))];
            for ((bound, offset), (which, end)) in bounds.iter().zip(offsets).zip(which.into_iter().flatten()) {
                check_distance(offset, &distance, which)?;
                ends_of.push(bound_keys(keys, bound, offset, key, which == "starting", end)?);
            }
            let mut ends_of = ends_of.into_iter();
            let start = if starts > 0 { ends_of.next() } else { None };
            let end = if ends > 0 { ends_of.next() } else { None };
            out.range =
                Some(RangeBounds { keys: keys_of(keys, &key.ty)?, start, end, descending: key.descending, nulls_first: key.nulls_first });
        } else if call.units != FrameUnits::Range {
            let offsets = some(starts + ends)?;
            let mut offsets = offsets.iter();
            if starts > 0 {
                out.start_offset = count(offsets.next().ok_or_else(wrong)?, "starting")?;
            }
            if ends > 0 {
                out.end_offset = count(offsets.next().ok_or_else(wrong)?, "ending")?;
            }
        }
        Ok(out)
    }

    fn group(&self, row: usize) -> Range<usize> {
        self.group_of.get(row).and_then(|g| self.groups.get(*g)).cloned().unwrap_or(row..row + 1)
    }

    fn start(&self, row: usize) -> usize {
        let call = self.call;
        let group = self.group_of.get(row).copied().unwrap_or(0);
        match (call.start, call.units) {
            (End::UnboundedPreceding, _) => 0,
            (End::UnboundedFollowing, _) => self.rows,
            (End::CurrentRow, FrameUnits::Rows) => row,
            (End::CurrentRow, _) => self.group(row).start,
            (End::Preceding, FrameUnits::Rows) => row.saturating_sub(self.start_offset),
            (End::Following, FrameUnits::Rows) => row.saturating_add(self.start_offset).min(self.rows),
            (End::Preceding, FrameUnits::Groups) => self.groups.get(group.saturating_sub(self.start_offset)).map_or(0, |g| g.start),
            (End::Following, FrameUnits::Groups) => self.groups.get(group.saturating_add(self.start_offset)).map_or(self.rows, |g| g.start),
            (_, FrameUnits::Range) => match &self.range {
                Some(range) => range.first(row),
                None => 0,
            },
        }
    }

    fn end(&self, row: usize) -> usize {
        let call = self.call;
        let group = self.group_of.get(row).copied().unwrap_or(0);
        match (call.end, call.units) {
            (End::UnboundedPreceding, _) => 0,
            (End::UnboundedFollowing, _) => self.rows,
            (End::CurrentRow, FrameUnits::Rows) => row + 1,
            (End::CurrentRow, _) => self.group(row).end,
            (End::Preceding, FrameUnits::Rows) => (row + 1).saturating_sub(self.end_offset),
            (End::Following, FrameUnits::Rows) => row.saturating_add(self.end_offset).saturating_add(1).min(self.rows),
            (End::Preceding, FrameUnits::Groups) => {
                group.checked_sub(self.end_offset).and_then(|g| self.groups.get(g)).map_or(0, |g| g.end)
            }
            (End::Following, FrameUnits::Groups) => self.groups.get(group.saturating_add(self.end_offset)).map_or(self.rows, |g| g.end),
            (_, FrameUnits::Range) => match &self.range {
                Some(range) => range.past(row),
                None => self.rows,
            },
        }
    }

    /// The rows of a row's frame, in order, as ranges.
    fn frame(&self, row: usize) -> [Range<usize>; 3] {
        let start = self.start(row);
        let whole = start..self.end(row).max(start);
        let without =
            |from: usize, to: usize| [whole.start..from.clamp(whole.start, whole.end), to.clamp(whole.start, whole.end)..whole.end, 0..0];
        match self.call.exclusion {
            FrameExclusion::None => [whole, 0..0, 0..0],
            FrameExclusion::CurrentRow => without(row, row + 1),
            FrameExclusion::Group => {
                let group = self.group(row);
                without(group.start, group.end)
            }
            FrameExclusion::Ties => {
                let group = self.group(row);
                let [before, after, _] = without(group.start, group.end);
                let own = if whole.contains(&row) { row..row + 1 } else { 0..0 };
                [before, own, after]
            }
        }
    }

    fn arg(&self, at: usize) -> PgResult<&ArrayRef> {
        self.args.get(at).ok_or_else(wrong)
    }

    fn evaluate(&self) -> PgResult<ArrayRef> {
        match &self.call.framed {
            Framed::Aggregate(udf) => self.aggregate(udf),
            Framed::First => self.picked(|frame| frame.iter().find(|r| !r.is_empty()).map(|r| r.start)),
            Framed::Last => self.picked(|frame| frame.iter().rev().find(|r| !r.is_empty()).map(|r| r.end - 1)),
            Framed::Nth => {
                let nth = self.arg(1)?.as_primitive_opt::<Int32Type>().ok_or_else(wrong)?;
                let mut at = Vec::with_capacity(self.rows);
                for row in 0..self.rows {
                    if nth.is_null(row) {
                        at.push(None);
                        continue;
                    }
                    let mut left = match usize::try_from(nth.value(row)) {
                        Ok(n) if n > 0 => n - 1,
                        _ => {
                            return Err(PgError::new(
                                SqlState::INVALID_ARGUMENT_FOR_NTH_VALUE,
                                "argument of nth_value must be greater than zero",
                            ));
                        }
                    };
                    let mut found = None;
                    for part in self.frame(row) {
                        if left < part.len() {
                            found = Some((part.start + left) as u64);
                            break;
                        }
                        left -= part.len();
                    }
                    at.push(found);
                }
                Ok(take(self.arg(0)?, &UInt64Array::from(at), None)?)
            }
            Framed::Lag => self.neighbour(-1),
            Framed::Lead => self.neighbour(1),
            Framed::Ntile => self.ntile(),
        }
    }

    fn picked(&self, pick: impl Fn(&[Range<usize>; 3]) -> Option<usize>) -> PgResult<ArrayRef> {
        let at: UInt64Array = (0..self.rows).map(|row| pick(&self.frame(row)).map(|at| at as u64)).collect();
        Ok(take(self.arg(0)?, &at, None)?)
    }

    /// `lag` and `lead`: the frame does not matter to them.
    fn neighbour(&self, direction: i64) -> PgResult<ArrayRef> {
        let value = self.arg(0)?;
        let offsets = match self.args.get(1) {
            Some(offsets) => Some(offsets.as_primitive_opt::<Int32Type>().ok_or_else(wrong)?),
            None => None,
        };
        let null = new_null_array(value.data_type(), 1);
        let default = self.args.get(2);
        let mut at = Vec::with_capacity(self.rows);
        for row in 0..self.rows {
            let offset = match offsets {
                Some(offsets) if offsets.is_null(row) => {
                    at.push((2, 0));
                    continue;
                }
                Some(offsets) => i64::from(offsets.value(row)),
                None => 1,
            };
            let target = row as i64 + direction * offset;
            at.push(match usize::try_from(target) {
                Ok(target) if target < self.rows => (0, target),
                _ if default.is_some() => (1, row),
                _ => (2, 0),
            });
        }
        let sources: [&dyn Array; 3] = [value, default.unwrap_or(&null), &null];
        Ok(interleave(&sources, &at)?)
    }

    fn ntile(&self) -> PgResult<ArrayRef> {
        let buckets = self.arg(0)?.as_primitive_opt::<Int32Type>().ok_or_else(wrong)?;
        // The first argument that is not NULL counts for the rest of the partition.
        let Some(first) = (0..self.rows).find(|row| !buckets.is_null(*row)) else {
            return Ok(new_null_array(&self.call.ret, self.rows));
        };
        let buckets = match usize::try_from(buckets.value(first)) {
            Ok(n) if n > 0 => n,
            _ => return Err(PgError::new(SqlState::INVALID_ARGUMENT_FOR_NTILE, "argument of ntile must be greater than zero")),
        };
        let (small, larger) = (self.rows / buckets, self.rows % buckets);
        let tile = |row: usize| {
            let in_larger = larger * (small + 1);
            if row < in_larger { row / (small + 1) } else { larger + (row - in_larger) / small.max(1) }
        };
        let tiles: arrow::array::Int32Array = (0..self.rows).map(|row| row.checked_sub(first).map(|row| tile(row) as i32 + 1)).collect();
        Ok(Arc::new(tiles))
    }

    fn aggregate(&self, udf: &Arc<AggregateUDF>) -> PgResult<ArrayRef> {
        let make = Maker::new(udf, &self.call.arg_types)?;
        // Only integers and decimals are taken back: floats would keep rounding errors and NaN, numerics the scale of what is gone.
        let exact = self.call.arg_types.iter().all(|t| t.is_integer() || matches!(t, DataType::Decimal128(..)));
        let plain = self.call.exclusion == FrameExclusion::None;
        let mut accumulator: Box<dyn Accumulator> = make.make(false)?;
        let mut slides = false;
        if exact && plain && self.call.start != End::UnboundedPreceding {
            let sliding = make.make(true)?;
            // Taking back with XOR leaves 0 where there is nothing.
            if sliding.supports_retract_batch() && udf.name() != "bit_xor" {
                accumulator = sliding;
                slides = true;
            }
        }
        let mut seen = 0..0;
        let mut last: Option<([Range<usize>; 3], ScalarValue)> = None;
        let mut out = Vec::with_capacity(self.rows);
        for row in 0..self.rows {
            let frame = self.frame(row);
            if let Some((before, value)) = &last
                && *before == frame
            {
                out.push(value.clone());
                continue;
            }
            let [whole, ..] = &frame;
            let grows = plain && whole.start == seen.start && whole.end >= seen.end && last.is_some();
            let moves = slides && last.is_some() && whole.start >= seen.start && whole.end >= seen.end && whole.start <= seen.end;
            if grows || moves {
                self.feed(accumulator.as_mut(), seen.end..whole.end, true)?;
                if whole.start > seen.start {
                    self.feed(accumulator.as_mut(), seen.start..whole.start, false)?;
                }
            } else {
                accumulator = make.make(slides)?;
                for part in &frame {
                    self.feed(accumulator.as_mut(), part.clone(), true)?;
                }
            }
            seen = whole.clone();
            let value = accumulator.evaluate().map_err(stoa_sql::typed::from_datafusion)?;
            out.push(value.clone());
            last = Some((frame, value));
        }
        ScalarValue::iter_to_array(out).map_err(stoa_sql::typed::from_datafusion)
    }

    /// Gives rows to an accumulator, or takes them back.
    fn feed(&self, accumulator: &mut dyn Accumulator, rows: Range<usize>, add: bool) -> PgResult<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let mut values: Vec<ArrayRef> = self.args.iter().map(|a| a.slice(rows.start, rows.len())).collect();
        if let Some(condition) = &self.filter {
            let mask = condition.slice(rows.start, rows.len());
            values = values.iter().map(|a| filter(a, &mask)).collect::<std::result::Result<Vec<_>, _>>()?;
            if values.first().is_some_and(|a| a.is_empty()) {
                return Ok(());
            }
        }
        if add { accumulator.update_batch(&values) } else { accumulator.retract_batch(&values) }.map_err(stoa_sql::typed::from_datafusion)
    }
}

/// Where the frame of each row ends by a distance: the values that bound it.
fn bound_keys(keys: &ArrayRef, bound: &ArrayRef, offset: &ArrayRef, key: &RangeKey, is_start: bool, end: End) -> PgResult<Keys> {
    // In descending order what precedes is larger.
    let subtract = (end == End::Preceding) != key.descending;
    if let (Some(base), Some(offset)) = (keys.as_primitive_opt::<Float64Type>(), offset.as_primitive_opt::<Float64Type>()) {
        let distance = offset.value(0);
        let open = if is_start != key.descending { RangeValue::Lowest } else { RangeValue::Highest };
        return Ok(base
            .iter()
            .map(|base| {
                base.map(|base| {
                    if base.is_infinite() && distance.is_infinite() && (base > 0.0) == subtract {
                        return open.clone();
                    }
                    RangeValue::Float(if subtract { base - distance } else { base + distance })
                })
            })
            .collect());
    }
    if key.ty.ty == PgType::Time {
        // Days and months do not count, and midnight is no end.
        let micros = keys.as_primitive_opt::<arrow::datatypes::Time64MicrosecondType>().ok_or_else(wrong)?;
        let distance = offset.as_primitive_opt::<IntervalMonthDayNanoType>().ok_or_else(wrong)?.value(0);
        let distance = Interval::from_arrow(distance).micros;
        let to = |v: i64| if subtract { v.saturating_sub(distance) } else { v.saturating_add(distance) };
        return Ok(micros.iter().map(|v| v.map(|v| RangeValue::Float(to(v) as f64))).collect());
    }
    keys_of(bound, &key.ty)
}

impl RangeBounds {
    fn order(&self, row: &RangeValue, bound: &RangeValue) -> Ordering {
        let order = row.compare(bound);
        if self.descending { order.reverse() } else { order }
    }

    /// The first row that is not before the frame of a row.
    fn first(&self, row: usize) -> usize {
        let bound = self.start.as_ref().and_then(|s| s.get(row)).and_then(Option::as_ref);
        self.keys.partition_point(|key| match (key, bound) {
            (Some(key), Some(bound)) => self.order(key, bound) == Ordering::Less,
            (None, None) => false,
            (None, Some(_)) => self.nulls_first,
            (Some(_), None) => !self.nulls_first,
        })
    }

    /// The first row behind the frame of a row.
    fn past(&self, row: usize) -> usize {
        let bound = self.end.as_ref().and_then(|s| s.get(row)).and_then(Option::as_ref);
        self.keys.partition_point(|key| match (key, bound) {
            (Some(key), Some(bound)) => self.order(key, bound) != Ordering::Greater,
            (None, None) => true,
            (None, Some(_)) => self.nulls_first,
            (Some(_), None) => !self.nulls_first,
        })
    }
}

/// Makes accumulators of one aggregate.
struct Maker {
    udf: Arc<AggregateUDF>,
    schema: Schema,
    exprs: Vec<Arc<dyn PhysicalExpr>>,
    fields: Vec<FieldRef>,
    ret: FieldRef,
}

impl Maker {
    fn new(udf: &Arc<AggregateUDF>, types: &[DataType]) -> PgResult<Self> {
        let fields: Vec<FieldRef> = types.iter().enumerate().map(|(i, t)| Arc::new(Field::new(format!("a{i}"), t.clone(), true))).collect();
        let exprs = (0..fields.len()).map(|i| Arc::new(Column::new(&format!("a{i}"), i)) as Arc<dyn PhysicalExpr>).collect();
        let ret = udf.return_field(&fields).map_err(stoa_sql::typed::from_datafusion)?;
        Ok(Self { udf: Arc::clone(udf), schema: Schema::new(fields.clone()), exprs, fields, ret })
    }

    fn make(&self, sliding: bool) -> PgResult<Box<dyn Accumulator>> {
        let args = AccumulatorArgs {
            return_field: Arc::clone(&self.ret),
            schema: &self.schema,
            ignore_nulls: false,
            order_bys: &[],
            is_reversed: false,
            name: self.udf.name(),
            is_distinct: false,
            exprs: &self.exprs,
            expr_fields: &self.fields,
        };
        if sliding { self.udf.create_sliding_accumulator(args) } else { self.udf.accumulator(args) }
            .map_err(stoa_sql::typed::from_datafusion)
    }
}
