//! `generate_series`: numbers and times from, to, by.
//!
//! Rows are made as they are asked for; a series of billions needs one chunk of memory. A NULL argument gives no rows.

use super::array::NoRows;
use crate::args::{Int4, Int8, Kind, Reader, Timestamp, arg};
use crate::error::{PgError, PgResult};
use crate::operators::datetime::{add_interval_timestamp, add_interval_timestamptz};
use crate::registry::{Func, Registry, RowSource, SetKernel};
use crate::sqlstate::SqlState;
use crate::types::{PgType, SqlType};
use crate::values::interval::{Interval, IntervalKind};
use crate::values::numeric::{Numeric, NumericKind};
use arrow::array::ArrayRef;
use jiff::tz::TimeZone;
use std::marker::PhantomData;
use std::sync::Arc;

/// Registers the entries of this file.
pub fn register(r: &mut Registry) {
    add(r, PgType::Int4, integer_series::<Int4>());
    add(r, PgType::Int8, integer_series::<Int8>());
    add(r, PgType::Numeric, numeric_series());
    let doc = "the times from a start to an end by an interval";
    for (ty, zoned) in [(PgType::Timestamp, false), (PgType::Timestamptz, true)] {
        let open = time_series(zoned);
        let args = [ty.clone(), ty.clone(), PgType::Interval];
        let func = Func::set("generate_series", &args, vec![("", ty.clone())], ty, open, doc);
        r.add(if zoned { func.stable() } else { func });
    }
}

/// Both signatures of a type whose step may be left out.
fn add(r: &mut Registry, ty: PgType, open: SetKernel) {
    let doc = "the values from a start to an end by a step";
    r.add(Func::set("generate_series", &[ty.clone(), ty.clone()], vec![("", ty.clone())], ty.clone(), Arc::clone(&open), doc));
    r.add(Func::set("generate_series", &[ty.clone(), ty.clone(), ty.clone()], vec![("", ty.clone())], ty, open, doc));
}

fn zero_step() -> PgError {
    PgError::new(SqlState::INVALID_PARAMETER_VALUE, "step size cannot equal zero")
}

/// int4 and int8, which differ only in width.
pub(crate) trait Integer: Kind {
    fn widen(value: Self::In<'_>) -> i64;
    /// The value again; the series never leaves the range of its ends.
    fn narrow(value: i64) -> Self::Out;
    const TYPE: PgType;
}

impl Integer for Int4 {
    fn widen(value: i32) -> i64 {
        i64::from(value)
    }
    fn narrow(value: i64) -> i32 {
        value as i32
    }
    const TYPE: PgType = PgType::Int4;
}

impl Integer for Int8 {
    fn widen(value: i64) -> i64 {
        value
    }
    fn narrow(value: i64) -> i64 {
        value
    }
    const TYPE: PgType = PgType::Int8;
}

fn integer_series<K: Integer>() -> SetKernel {
    Arc::new(|_, args, row| {
        let value = |index| -> PgResult<Option<i64>> { Ok(Reader::<K>::new(arg(args, index)?)?.get(row)?.map(K::widen)) };
        let step = if args.len() > 2 { value(2)? } else { Some(1) };
        let (Some(start), Some(stop), Some(step)) = (value(0)?, value(1)?, step) else { return Ok(Box::new(NoRows)) };
        if step == 0 {
            return Err(zero_step());
        }
        Ok(integers::<K>(start, stop, step))
    })
}

/// The integers from `start` to `stop` by `step`, which is not 0, as a column of `K`, whose range holds both ends.
pub(crate) fn integers<K: Integer>(start: i64, stop: i64, step: i64) -> Box<dyn RowSource> {
    Box::new(Integers::<K> { next: Some(start), stop, step, kind: PhantomData })
}

struct Integers<K> {
    next: Option<i64>,
    stop: i64,
    step: i64,
    kind: PhantomData<fn() -> K>,
}

impl<K: Integer> RowSource for Integers<K> {
    fn next_chunk(&mut self, limit: usize) -> PgResult<Option<Vec<ArrayRef>>> {
        let mut out = K::builder(0);
        let mut count = 0;
        while let Some(value) = self.next.filter(|value| if self.step > 0 { *value <= self.stop } else { *value >= self.stop }) {
            if count >= limit.max(1) {
                break;
            }
            K::push(&mut out, Some(K::narrow(value)))?;
            count += 1;
            self.next = value.checked_add(self.step);
        }
        if count == 0 {
            return Ok(None);
        }
        Ok(Some(vec![K::finish(out, &SqlType::new(K::TYPE))?]))
    }
}

fn numeric_series() -> SetKernel {
    Arc::new(|_, args, row| {
        let value = |index| -> PgResult<Option<Numeric>> { Reader::<NumericKind>::new(arg(args, index)?)?.get(row) };
        let step = if args.len() > 2 { value(2)? } else { Some(Numeric::from_i64(1)) };
        let (Some(start), Some(stop), Some(step)) = (value(0)?, value(1)?, step) else { return Ok(Box::new(NoRows)) };
        for (value, name) in [(&start, "start value"), (&stop, "stop value"), (&step, "step size")] {
            let what = if value.is_nan() { "NaN" } else { "infinity" };
            if !value.is_finite() {
                return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("{name} cannot be {what}")));
            }
        }
        if step.is_zero() {
            return Err(zero_step());
        }
        Ok(Box::new(Numerics { next: Some(start), stop, step }))
    })
}

struct Numerics {
    /// `None` behind the largest there is.
    next: Option<Numeric>,
    stop: Numeric,
    step: Numeric,
}

impl RowSource for Numerics {
    fn next_chunk(&mut self, limit: usize) -> PgResult<Option<Vec<ArrayRef>>> {
        let mut out = NumericKind::builder(0);
        let mut count = 0;
        let up = self.step.signum() > 0;
        while count < limit.max(1)
            && let Some(value) = self.next.take_if(|value| if up { *value <= self.stop } else { *value >= self.stop })
        {
            self.next = value.add(&self.step).ok();
            NumericKind::push(&mut out, Some(value))?;
            count += 1;
        }
        if count == 0 {
            return Ok(None);
        }
        Ok(Some(vec![NumericKind::finish(out, &SqlType::new(PgType::Numeric))?]))
    }
}

fn time_series(zoned: bool) -> SetKernel {
    Arc::new(move |call, args, row| {
        let time = |index| -> PgResult<Option<i64>> { Reader::<Timestamp>::new(arg(args, index)?)?.get(row) };
        let step = Reader::<IntervalKind>::new(arg(args, 2)?)?.get(row)?;
        let (Some(start), Some(stop), Some(step)) = (time(0)?, time(1)?, step) else { return Ok(Box::new(NoRows)) };
        if step.sort_value() == 0 {
            return Err(zero_step());
        }
        let zone = zoned.then(|| call.ctx.settings.time_zone.clone());
        Ok(Box::new(Times { last: None, start, stop, step, zone, ret: call.ret.clone() }))
    })
}

struct Times {
    /// The time that was given last; the next one is not computed before it is asked for, because it may be out of range.
    last: Option<i64>,
    start: i64,
    stop: i64,
    step: Interval,
    /// The session's zone, for timestamptz.
    zone: Option<TimeZone>,
    ret: SqlType,
}

impl RowSource for Times {
    fn next_chunk(&mut self, limit: usize) -> PgResult<Option<Vec<ArrayRef>>> {
        let forward = self.step.sort_value() > 0;
        let mut out = Timestamp::builder(0);
        while out.len() < limit.max(1) {
            let next = match (self.last, &self.zone) {
                (None, _) => Ok(self.start),
                (Some(last), None) => add_interval_timestamp(last, self.step),
                (Some(last), Some(zone)) => add_interval_timestamptz(last, self.step, zone),
            };
            // An error is the next chunk's: nobody may ask for it.
            let next = match next {
                Err(_) if !out.is_empty() => break,
                next => next?,
            };
            if if forward { next > self.stop } else { next < self.stop } {
                break;
            }
            self.last = Some(next);
            out.push(Some(next));
        }
        if out.is_empty() {
            return Ok(None);
        }
        Ok(Some(vec![Timestamp::finish(out, &self.ret)?]))
    }
}
