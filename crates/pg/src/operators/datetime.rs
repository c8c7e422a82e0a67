//! Arithmetic and comparison of dates, times, timestamps and intervals.
//!
//! Months move a date to the same day of another month, or to its last day; days of a timestamptz are days of the session's zone,
//! which may have 23 or 25 hours; the time of an interval is exact. Infinite dates and timestamps stay as they are.

use crate::args::{Bool, Date, Float8, Int4, Int8, Kernel, Kind, Time, Timestamp, strict1, strict2};
use crate::casts::datetime::date_to_timestamp;
use crate::context::EvalContext;
use crate::error::{PgError, PgResult};
use crate::registry::{NativeOp, OperKind, Registry};
use crate::sqlstate::SqlState;
use crate::types::PgType;
use crate::values::datetime::calendar::{
    Civil, DATE_INFINITY, DATE_NEG_INFINITY, TIMESTAMP_INFINITY, TIMESTAMP_NEG_INFINITY, USECS_PER_DAY, USECS_PER_SEC, check_date,
    check_timestamp, days_in_month, is_finite_date, is_finite_timestamp, timestamp_out_of_range,
};
use crate::values::datetime::{TimeTz, TimeTzKind, epoch};
use crate::values::interval::{Interval, IntervalKind, out_of_range};
use crate::values::timezone;
use jiff::tz::TimeZone;
use std::cmp::Ordering;

/// Moves a local time by months, then by days; `None` out of range.
fn move_days(civil: Civil, months: i32, days: i32) -> Option<Civil> {
    let mut civil = civil;
    if months != 0 {
        let month = i64::from(civil.year) * 12 + i64::from(civil.month) - 1 + i64::from(months);
        civil.year = i32::try_from(month.div_euclid(12)).ok()?;
        civil.month = month.rem_euclid(12) as i32 + 1;
        civil.day = civil.day.min(days_in_month(civil.year, civil.month));
    }
    if days != 0 {
        let (year, month, day) = crate::values::datetime::calendar::civil_from_days(civil.days() + i64::from(days));
        civil = Civil { year, month, day, ..civil };
    }
    Some(civil)
}

/// timestamp + interval.
pub fn add_interval_timestamp(micros: i64, interval: Interval) -> PgResult<i64> {
    if !is_finite_timestamp(micros) {
        return Ok(micros);
    }
    let mut sum = micros;
    if interval.months != 0 {
        let moved = move_days(Civil::from_micros(sum, 0), interval.months, 0).and_then(|civil| civil.micros_at(0));
        sum = check_timestamp(moved)?;
    }
    if interval.days != 0 {
        // Days from one end of the range to the other are more microseconds than 64 bits hold.
        let moved = i128::from(sum) + i128::from(interval.days) * i128::from(USECS_PER_DAY);
        sum = check_timestamp(i64::try_from(moved).ok())?;
    }
    check_timestamp(sum.checked_add(interval.micros))
}

/// timestamptz + interval, with months and days of a zone.
pub fn add_interval_timestamptz(micros: i64, interval: Interval, zone: &TimeZone) -> PgResult<i64> {
    if !is_finite_timestamp(micros) {
        return Ok(micros);
    }
    let mut sum = micros;
    for (months, days) in [(interval.months, 0), (0, interval.days)] {
        if months != 0 || days != 0 {
            let local = Civil::from_micros(sum, timezone::offset_at(zone, sum));
            sum = check_timestamp(move_days(local, months, days).and_then(|civil| timezone::to_utc(zone, &civil)))?;
        }
    }
    check_timestamp(sum.checked_add(interval.micros))
}

/// timestamp − interval.
pub fn subtract_interval_timestamp(micros: i64, interval: Interval) -> PgResult<i64> {
    if !is_finite_timestamp(micros) {
        return Ok(micros);
    }
    add_interval_timestamp(micros, interval.checked_neg().ok_or_else(timestamp_out_of_range)?)
}

/// timestamptz − interval, with months and days of a zone.
pub fn subtract_interval_timestamptz(micros: i64, interval: Interval, zone: &TimeZone) -> PgResult<i64> {
    if !is_finite_timestamp(micros) {
        return Ok(micros);
    }
    add_interval_timestamptz(micros, interval.checked_neg().ok_or_else(timestamp_out_of_range)?, zone)
}

/// The negated interval.
fn negated(interval: Interval) -> PgResult<Interval> {
    interval.checked_neg().ok_or_else(out_of_range)
}

/// The difference of two timestamps in days and time; one beyond 64 bits wraps around, as PostgreSQL 15's does.
pub fn subtract_timestamps(a: i64, b: i64) -> PgResult<Interval> {
    if !is_finite_timestamp(a) || !is_finite_timestamp(b) {
        return Err(PgError::new(SqlState::DATETIME_FIELD_OVERFLOW, "cannot subtract infinite timestamps"));
    }
    let micros = a.wrapping_sub(b);
    Interval { micros, ..Interval::default() }.justify_hours().ok_or_else(out_of_range)
}

fn add_days(date: i32, days: i64) -> PgResult<i32> {
    if is_finite_date(date) { check_date(i64::from(date) + days) } else { Ok(date) }
}

fn date_plus_time(date: i32, time: i64) -> PgResult<i64> {
    let midnight = date_to_timestamp(date)?;
    if is_finite_timestamp(midnight) { check_timestamp(midnight.checked_add(time)) } else { Ok(midnight) }
}

fn date_plus_timetz(date: i32, time: TimeTz) -> PgResult<i64> {
    let midnight = date_to_timestamp(date)?;
    if is_finite_timestamp(midnight) { check_timestamp(midnight.checked_add(time.utc())) } else { Ok(midnight) }
}

/// A sum beyond 64 bits wraps around, as PostgreSQL's does.
fn time_plus_interval(time: i64, interval: Interval) -> i64 {
    time.wrapping_add(interval.micros).rem_euclid(USECS_PER_DAY)
}

fn interval_minus_time(time: i64, interval: Interval) -> i64 {
    time.wrapping_sub(interval.micros).rem_euclid(USECS_PER_DAY)
}

/// What dates and timestamps of any kind compare by: microseconds wide enough for all dates.
fn wide(micros: i64) -> i128 {
    match micros {
        TIMESTAMP_INFINITY => i128::MAX,
        TIMESTAMP_NEG_INFINITY => i128::MIN,
        _ => i128::from(micros),
    }
}

fn wide_date(days: i32) -> i128 {
    match days {
        DATE_INFINITY => i128::MAX,
        DATE_NEG_INFINITY => i128::MIN,
        _ => epoch::midnight(days.into()),
    }
}

/// A local time as the point in time that the session's zone makes of it.
fn wide_in_zone(ctx: &EvalContext, local: i128) -> i128 {
    if local == i128::MAX || local == i128::MIN {
        return local;
    }
    let seconds = i64::try_from(local).map_or(i64::MAX, epoch::unix_seconds);
    local - i128::from(timezone::offset_for_local(&ctx.settings.time_zone, seconds)) * i128::from(USECS_PER_SEC)
}

/// What the side of an equality of two types among date, timestamp and timestamptz may be compared by, so that rows can be looked up by
/// it: a kernel that gives bigints, alike for both sides where they are equal. `None` for one type, and for other types.
#[must_use]
pub fn equality_key(side: &PgType, other: &PgType) -> Option<Kernel> {
    use PgType as T;
    // A date beyond the last timestamp equals none; and no timestamp is this.
    const NO_TIMESTAMP: i64 = TIMESTAMP_INFINITY - 1;
    let narrow = |moment: i128| match moment {
        i128::MAX => TIMESTAMP_INFINITY,
        i128::MIN => TIMESTAMP_NEG_INFINITY,
        _ => i64::try_from(moment).unwrap_or(NO_TIMESTAMP),
    };
    Some(match (side, other) {
        (T::Date, T::Timestamp) => strict1::<Date, Int8>(move |_, d| Ok(narrow(wide_date(d)))),
        (T::Date, T::Timestamptz) => strict1::<Date, Int8>(move |call, d| Ok(narrow(wide_in_zone(call.ctx, wide_date(d))))),
        (T::Timestamp, T::Timestamptz) => strict1::<Timestamp, Int8>(move |call, t| Ok(narrow(wide_in_zone(call.ctx, wide(t))))),
        (T::Timestamp, T::Date) | (T::Timestamptz, T::Date | T::Timestamp) => strict1::<Timestamp, Int8>(|_, t| Ok(t)),
        _ => return None,
    })
}

type Test = fn(Ordering) -> bool;

/// Comparison operators: name, meaning, test.
const COMPARISONS: [(&str, NativeOp, Test); 6] = [
    ("=", NativeOp::Eq, Ordering::is_eq),
    ("<>", NativeOp::NotEq, Ordering::is_ne),
    ("<", NativeOp::Lt, Ordering::is_lt),
    ("<=", NativeOp::LtEq, Ordering::is_le),
    (">", NativeOp::Gt, Ordering::is_gt),
    (">=", NativeOp::GtEq, Ordering::is_ge),
];

/// A kernel that compares by keys of both sides.
fn compare<A, B, K>(
    test: Test,
    left: impl for<'a> Fn(&EvalContext, A::In<'a>) -> K + Send + Sync + 'static,
    right: impl for<'a> Fn(&EvalContext, B::In<'a>) -> K + Send + Sync + 'static,
) -> OperKind
where
    A: Kind,
    B: Kind,
    K: Ord,
{
    OperKind::Kernel(strict2::<A, B, Bool>(move |call, a, b| Ok(test(left(call.ctx, a).cmp(&right(call.ctx, b))))))
}

fn register_comparisons(r: &mut Registry) {
    use PgType as T;
    for (name, meaning, test) in COMPARISONS {
        for ty in [T::Date, T::Time, T::Timestamp, T::Timestamptz] {
            r.comparison(name, ty.clone(), ty, OperKind::Native(meaning), meaning);
        }
        let order = |_: &EvalContext, i: Interval| i.sort_value();
        r.comparison(name, T::Interval, T::Interval, compare::<IntervalKind, IntervalKind, _>(test, order, order), meaning);
        // The stored form has the offset west, as the tie is broken.
        let order = |_: &EvalContext, t: TimeTz| (t.utc(), -t.offset);
        r.comparison(name, T::Timetz, T::Timetz, compare::<TimeTzKind, TimeTzKind, _>(test, order, order), meaning);

        let date = |_: &EvalContext, d: i32| wide_date(d);
        let timestamp = |_: &EvalContext, t: i64| wide(t);
        let date_in_zone = |ctx: &EvalContext, d: i32| wide_in_zone(ctx, wide_date(d));
        let in_zone = |ctx: &EvalContext, t: i64| wide_in_zone(ctx, wide(t));
        r.operator(name, T::Date, T::Timestamp, T::Bool, compare::<Date, Timestamp, _>(test, date, timestamp));
        r.operator(name, T::Timestamp, T::Date, T::Bool, compare::<Timestamp, Date, _>(test, timestamp, date));
        r.stable_operator(name, T::Date, T::Timestamptz, T::Bool, compare::<Date, Timestamp, _>(test, date_in_zone, timestamp));
        r.stable_operator(name, T::Timestamptz, T::Date, T::Bool, compare::<Timestamp, Date, _>(test, timestamp, date_in_zone));
        r.stable_operator(name, T::Timestamp, T::Timestamptz, T::Bool, compare::<Timestamp, Timestamp, _>(test, in_zone, timestamp));
        r.stable_operator(name, T::Timestamptz, T::Timestamp, T::Bool, compare::<Timestamp, Timestamp, _>(test, timestamp, in_zone));
    }
}

/// A kernel with its arguments exchanged.
fn swapped(kernel: Kernel) -> Kernel {
    std::sync::Arc::new(move |call, args| match args {
        [a, b] => {
            let types: Vec<_> = call.arg_types.iter().rev().cloned().collect();
            kernel(
                &crate::args::Call { ctx: call.ctx, rows: call.rows, arg_types: &types, ret: call.ret, explicit: call.explicit },
                &[b.clone(), a.clone()],
            )
        }
        _ => Err(PgError::internal("an operator with other than two arguments")),
    })
}

/// Registers the operators.
pub fn register(r: &mut Registry) {
    use PgType as T;
    register_comparisons(r);
    let mut both = |a: T, b: T, ret: T, stable: bool, kernel: Kernel| {
        let (there, back) = (OperKind::Kernel(kernel.clone()), OperKind::Kernel(swapped(kernel)));
        if stable {
            r.stable_operator("+", a.clone(), b.clone(), ret.clone(), there);
            r.stable_operator("+", b, a, ret, back);
        } else {
            r.operator("+", a.clone(), b.clone(), ret.clone(), there);
            r.operator("+", b, a, ret, back);
        }
    };
    both(T::Date, T::Int4, T::Date, false, strict2::<Date, Int4, Date>(|_, d, n| add_days(d, n.into())));
    both(T::Date, T::Time, T::Timestamp, false, strict2::<Date, Time, Timestamp>(|_, d, t| date_plus_time(d, t)));
    both(T::Date, T::Timetz, T::Timestamptz, false, strict2::<Date, TimeTzKind, Timestamp>(|_, d, t| date_plus_timetz(d, t)));
    both(
        T::Date,
        T::Interval,
        T::Timestamp,
        false,
        strict2::<Date, IntervalKind, Timestamp>(|_, d, i| add_interval_timestamp(date_to_timestamp(d)?, i)),
    );
    both(T::Time, T::Interval, T::Time, false, strict2::<Time, IntervalKind, Time>(|_, t, i| Ok(time_plus_interval(t, i))));
    both(
        T::Timetz,
        T::Interval,
        T::Timetz,
        false,
        strict2::<TimeTzKind, IntervalKind, TimeTzKind>(|_, t, i| Ok(TimeTz { micros: time_plus_interval(t.micros, i), ..t })),
    );
    both(
        T::Timestamp,
        T::Interval,
        T::Timestamp,
        false,
        strict2::<Timestamp, IntervalKind, Timestamp>(|_, t, i| add_interval_timestamp(t, i)),
    );
    both(
        T::Timestamptz,
        T::Interval,
        T::Timestamptz,
        true,
        strict2::<Timestamp, IntervalKind, Timestamp>(|call, t, i| add_interval_timestamptz(t, i, &call.ctx.settings.time_zone)),
    );

    let mut binary = |name, a: T, b: T, ret: T, kernel: Kernel| r.operator(name, a, b, ret, OperKind::Kernel(kernel));
    binary(
        "+",
        T::Interval,
        T::Interval,
        T::Interval,
        strict2::<IntervalKind, IntervalKind, IntervalKind>(|_, a, b| a.checked_add(b).ok_or_else(out_of_range)),
    );
    binary(
        "-",
        T::Interval,
        T::Interval,
        T::Interval,
        strict2::<IntervalKind, IntervalKind, IntervalKind>(|_, a, b| a.checked_sub(b).ok_or_else(out_of_range)),
    );
    binary("-", T::Date, T::Int4, T::Date, strict2::<Date, Int4, Date>(|_, d, n| add_days(d, -i64::from(n))));
    binary(
        "-",
        T::Date,
        T::Date,
        T::Int4,
        strict2::<Date, Date, Int4>(|_, a, b| {
            if !is_finite_date(a) || !is_finite_date(b) {
                return Err(PgError::new(SqlState::DATETIME_FIELD_OVERFLOW, "cannot subtract infinite dates"));
            }
            a.checked_sub(b).ok_or_else(|| PgError::out_of_range("integer"))
        }),
    );
    binary(
        "-",
        T::Date,
        T::Interval,
        T::Timestamp,
        strict2::<Date, IntervalKind, Timestamp>(|_, d, i| subtract_interval_timestamp(date_to_timestamp(d)?, i)),
    );
    binary(
        "-",
        T::Time,
        T::Time,
        T::Interval,
        strict2::<Time, Time, IntervalKind>(|_, a, b| Ok(Interval { micros: a - b, ..Interval::default() })),
    );
    binary("-", T::Time, T::Interval, T::Time, strict2::<Time, IntervalKind, Time>(|_, t, i| Ok(interval_minus_time(t, i))));
    binary(
        "-",
        T::Timetz,
        T::Interval,
        T::Timetz,
        strict2::<TimeTzKind, IntervalKind, TimeTzKind>(|_, t, i| Ok(TimeTz { micros: interval_minus_time(t.micros, i), ..t })),
    );
    for ty in [T::Timestamp, T::Timestamptz] {
        let kernel = strict2::<Timestamp, Timestamp, IntervalKind>(|_, a, b| subtract_timestamps(a, b));
        binary("-", ty.clone(), ty, T::Interval, kernel);
    }
    binary(
        "-",
        T::Timestamp,
        T::Interval,
        T::Timestamp,
        strict2::<Timestamp, IntervalKind, Timestamp>(|_, t, i| subtract_interval_timestamp(t, i)),
    );
    binary("*", T::Interval, T::Float8, T::Interval, strict2::<IntervalKind, Float8, IntervalKind>(|_, i, f| i.multiply(f)));
    binary("*", T::Float8, T::Interval, T::Interval, strict2::<Float8, IntervalKind, IntervalKind>(|_, f, i| i.multiply(f)));
    binary("/", T::Interval, T::Float8, T::Interval, strict2::<IntervalKind, Float8, IntervalKind>(|_, i, f| i.divide(f)));
    let minus =
        strict2::<Timestamp, IntervalKind, Timestamp>(|call, t, i| subtract_interval_timestamptz(t, i, &call.ctx.settings.time_zone));
    r.stable_operator("-", T::Timestamptz, T::Interval, T::Timestamptz, OperKind::Kernel(minus));
    let negate = crate::args::strict1::<IntervalKind, IntervalKind>(|_, i| negated(i));
    r.prefix_operator("-", T::Interval, T::Interval, OperKind::Kernel(negate));
}
