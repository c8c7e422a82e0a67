//! `sum(interval)` and `avg(interval)`.

use super::fold::{Fold, StateReader};
use crate::error::{PgError, PgResult};
use crate::values::interval::{Interval, out_of_range};
use arrow::array::{Array, ArrayRef, AsArray, IntervalMonthDayNanoArray};
use arrow::datatypes::IntervalMonthDayNanoType;
use std::sync::Arc;

/// The sum of intervals.
#[derive(Debug)]
pub struct IntervalFold {
    pub average: bool,
}

/// Count, months, days and microseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct IntervalSum {
    count: i64,
    months: i32,
    days: i32,
    micros: i64,
}

impl IntervalSum {
    fn plus(&mut self, count: i64, months: i32, days: i32, micros: i64) -> PgResult<()> {
        self.count += count;
        self.months = self.months.checked_add(months).ok_or_else(out_of_range)?;
        self.days = self.days.checked_add(days).ok_or_else(out_of_range)?;
        self.micros = self.micros.checked_add(micros).ok_or_else(out_of_range)?;
        Ok(())
    }

    /// Divides: fractions of months become days of thirty, fractions of days time.
    fn average(self) -> PgResult<Self> {
        const DAY_SECONDS: f64 = 86_400.0;
        let round = |x: f64| (x * 1e6).round_ties_even() / 1e6;
        let n = self.count as f64;
        let (months, days) = (f64::from(self.months) / n, f64::from(self.days) / n);
        let (whole_months, mut whole_days) = (months.trunc(), days.trunc());
        let month_days = round((months - whole_months) * 30.0);
        let mut seconds = round((days - whole_days + month_days - month_days.trunc()) * DAY_SECONDS);
        if seconds.abs() >= DAY_SECONDS {
            whole_days += (seconds / DAY_SECONDS).trunc();
            seconds -= (seconds / DAY_SECONDS).trunc() * DAY_SECONDS;
        }
        whole_days += month_days.trunc();
        let micros = (self.micros as f64 / n + seconds * 1e6).round_ties_even();
        let fits = |x: f64| x >= f64::from(i32::MIN) && x <= f64::from(i32::MAX);
        if !fits(whole_months) || !fits(whole_days) || micros.abs() >= i64::MAX as f64 {
            return Err(out_of_range());
        }
        Ok(Self { count: self.count, months: whole_months as i32, days: whole_days as i32, micros: micros as i64 })
    }
}

impl Fold for IntervalFold {
    type State = IntervalSum;
    type Columns<'a> = &'a IntervalMonthDayNanoArray;
    const RETRACTS: bool = true;

    fn open<'a>(&'a self, args: &'a [ArrayRef]) -> PgResult<Self::Columns<'a>> {
        args.first()
            .and_then(|array| array.as_primitive_opt::<IntervalMonthDayNanoType>())
            .ok_or_else(|| PgError::internal("an aggregate of intervals was given another type"))
    }

    fn add(&self, state: &mut IntervalSum, columns: &Self::Columns<'_>, row: usize) -> PgResult<()> {
        if columns.is_null(row) {
            return Ok(());
        }
        let value = Interval::from_arrow(columns.value(row));
        state.plus(1, value.months, value.days, value.micros)
    }

    fn retract(&self, state: &mut IntervalSum, columns: &Self::Columns<'_>, row: usize) -> PgResult<()> {
        if columns.is_null(row) {
            return Ok(());
        }
        let value = Interval::from_arrow(columns.value(row)).checked_neg().ok_or_else(out_of_range)?;
        state.plus(-1, value.months, value.days, value.micros)
    }

    fn merge(&self, state: &mut IntervalSum, other: IntervalSum) -> PgResult<()> {
        state.plus(other.count, other.months, other.days, other.micros)
    }

    fn encode(&self, state: &IntervalSum, out: &mut Vec<u8>) {
        out.extend_from_slice(&state.count.to_le_bytes());
        out.extend_from_slice(&state.months.to_le_bytes());
        out.extend_from_slice(&state.days.to_le_bytes());
        out.extend_from_slice(&state.micros.to_le_bytes());
    }

    fn decode(&self, bytes: &[u8]) -> PgResult<IntervalSum> {
        let mut reader = StateReader(bytes);
        Ok(IntervalSum {
            count: reader.i64()?,
            months: i32::from_le_bytes(reader.bytes()?),
            days: i32::from_le_bytes(reader.bytes()?),
            micros: reader.i64()?,
        })
    }

    fn finish(&self, states: Vec<IntervalSum>) -> PgResult<ArrayRef> {
        let values = states.into_iter().map(|state| {
            if state.count == 0 {
                return Ok(None);
            }
            let value = if self.average { state.average()? } else { state };
            Ok(Some(Interval { months: value.months, days: value.days, micros: value.micros }.to_arrow()))
        });
        Ok(Arc::new(IntervalMonthDayNanoArray::from_iter(values.collect::<PgResult<Vec<_>>>()?)))
    }
}
