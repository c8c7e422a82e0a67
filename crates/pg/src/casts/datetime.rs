//! Casts among dates, times, timestamps and intervals. The session's zone stands between timestamps with and without one; the
//! target's modifier is applied last.

use crate::args::{Date, Time, Timestamp, strict1, strict1_opt};
use crate::context::EvalContext;
use crate::error::{PgError, PgResult};
use crate::registry::{CastContext, CastKind, Registry};
use crate::sqlstate::SqlState;
use crate::types::PgType;
use crate::values::datetime::calendar::{
    Civil, DATE_INFINITY, DATE_NEG_INFINITY, TIMESTAMP_INFINITY, TIMESTAMP_NEG_INFINITY, USECS_PER_DAY, USECS_PER_SEC, is_finite_timestamp,
    is_valid_timestamp,
};
use crate::values::datetime::{TimeTz, TimeTzKind, epoch, from_session_local, round_time, round_timestamp, to_session_local};
use crate::values::interval::{Interval, IntervalKind, apply_typmod};
use crate::values::timezone;

/// The midnight of a date as a timestamp without zone, or 22008.
pub fn date_to_timestamp(days: i32) -> PgResult<i64> {
    match days {
        DATE_INFINITY => Ok(TIMESTAMP_INFINITY),
        DATE_NEG_INFINITY => Ok(TIMESTAMP_NEG_INFINITY),
        _ => i64::try_from(epoch::midnight(days.into())).ok().filter(|&t| is_valid_timestamp(t)).ok_or_else(date_out_of_range),
    }
}

fn date_out_of_range() -> PgError {
    PgError::new(SqlState::DATETIME_FIELD_OVERFLOW, "date out of range for timestamp")
}

/// The session's midnight of a date as a timestamptz, or 22008.
pub fn date_to_timestamptz(ctx: &EvalContext, days: i32) -> PgResult<i64> {
    timezone::from_local(&ctx.settings.time_zone, date_to_timestamp(days)?).ok_or_else(date_out_of_range)
}

/// The date of a timestamp without zone.
#[must_use]
pub fn timestamp_to_date(micros: i64) -> i32 {
    match micros {
        TIMESTAMP_INFINITY => DATE_INFINITY,
        TIMESTAMP_NEG_INFINITY => DATE_NEG_INFINITY,
        _ => epoch::unix_days(micros) as i32,
    }
}

/// The session's date of a timestamptz.
#[must_use]
pub fn timestamptz_to_date(ctx: &EvalContext, micros: i64) -> i32 {
    if !is_finite_timestamp(micros) {
        return timestamp_to_date(micros);
    }
    let offset = timezone::offset_at(&ctx.settings.time_zone, micros);
    Civil::from_micros(micros, offset).days() as i32
}

/// The local time of a timestamptz in the session's zone, with the zone's offset; `None` if infinite.
#[must_use]
pub fn timestamptz_to_timetz(ctx: &EvalContext, micros: i64) -> Option<TimeTz> {
    is_finite_timestamp(micros).then(|| {
        let offset = timezone::offset_at(&ctx.settings.time_zone, micros);
        let shifted = micros.rem_euclid(USECS_PER_DAY) + i64::from(offset) * USECS_PER_SEC;
        TimeTz { micros: shifted.rem_euclid(USECS_PER_DAY), offset }
    })
}

/// A time with the session's offset at that time today.
#[must_use]
pub fn time_to_timetz(ctx: &EvalContext, micros: i64) -> TimeTz {
    let (today, _) = crate::values::datetime::parse::now(ctx);
    let seconds = today.days() * 86_400 + micros / USECS_PER_SEC;
    TimeTz { micros, offset: timezone::offset_for_local(&ctx.settings.time_zone, seconds) }
}

/// The time part of an interval, within a day.
#[must_use]
pub fn interval_to_time(value: Interval) -> i64 {
    value.micros.rem_euclid(USECS_PER_DAY)
}

/// Registers the casts.
pub fn register(r: &mut Registry) {
    use CastContext::{Assignment, Implicit};
    use PgType as T;
    let mut add = |from: T, to: T, context, kernel| r.add_cast(from, to, context, CastKind::Kernel(kernel));
    add(
        T::Date,
        T::Timestamp,
        Implicit,
        strict1::<Date, Timestamp>(|call, days| Ok(round_timestamp(date_to_timestamp(days)?, call.ret.typmod))),
    );
    add(
        T::Date,
        T::Timestamptz,
        Implicit,
        strict1::<Date, Timestamp>(|call, days| Ok(round_timestamp(date_to_timestamptz(call.ctx, days)?, call.ret.typmod))),
    );
    add(T::Time, T::Time, Implicit, strict1::<Time, Time>(|call, time| Ok(round_time(time, call.ret.typmod))));
    add(
        T::Time,
        T::Interval,
        Implicit,
        strict1::<Time, IntervalKind>(|call, micros| apply_typmod(Interval { micros, ..Interval::default() }, call.ret.typmod)),
    );
    add(
        T::Time,
        T::Timetz,
        Implicit,
        strict1::<Time, TimeTzKind>(|call, time| Ok(time_to_timetz(call.ctx, round_time(time, call.ret.typmod)))),
    );
    add(T::Timestamp, T::Date, Assignment, strict1::<Timestamp, Date>(|_, ts| Ok(timestamp_to_date(ts))));
    add(
        T::Timestamp,
        T::Time,
        Assignment,
        strict1_opt::<Timestamp, Time>(|call, ts| {
            Ok(is_finite_timestamp(ts).then(|| round_time(ts.rem_euclid(USECS_PER_DAY), call.ret.typmod)))
        }),
    );
    add(T::Timestamp, T::Timestamp, Implicit, strict1::<Timestamp, Timestamp>(|call, ts| Ok(round_timestamp(ts, call.ret.typmod))));
    add(
        T::Timestamp,
        T::Timestamptz,
        Implicit,
        strict1::<Timestamp, Timestamp>(|call, ts| Ok(round_timestamp(from_session_local(call.ctx, ts)?, call.ret.typmod))),
    );
    add(T::Timestamptz, T::Date, Assignment, strict1::<Timestamp, Date>(|call, ts| Ok(timestamptz_to_date(call.ctx, ts))));
    add(
        T::Timestamptz,
        T::Time,
        Assignment,
        strict1_opt::<Timestamp, Time>(|call, ts| {
            Ok(timestamptz_to_timetz(call.ctx, ts).map(|time| round_time(time.micros, call.ret.typmod)))
        }),
    );
    add(
        T::Timestamptz,
        T::Timestamp,
        Assignment,
        strict1::<Timestamp, Timestamp>(|call, ts| Ok(round_timestamp(to_session_local(call.ctx, ts)?, call.ret.typmod))),
    );
    add(T::Timestamptz, T::Timestamptz, Implicit, strict1::<Timestamp, Timestamp>(|call, ts| Ok(round_timestamp(ts, call.ret.typmod))));
    add(
        T::Timestamptz,
        T::Timetz,
        Assignment,
        strict1_opt::<Timestamp, TimeTzKind>(|call, ts| {
            let time = timestamptz_to_timetz(call.ctx, ts);
            Ok(time.map(|time| TimeTz { micros: round_time(time.micros, call.ret.typmod), ..time }))
        }),
    );
    add(
        T::Interval,
        T::Time,
        Assignment,
        strict1::<IntervalKind, Time>(|call, value| Ok(round_time(interval_to_time(value), call.ret.typmod))),
    );
    add(T::Interval, T::Interval, Implicit, strict1::<IntervalKind, IntervalKind>(|call, value| apply_typmod(value, call.ret.typmod)));
    add(T::Timetz, T::Time, Assignment, strict1::<TimeTzKind, Time>(|call, time| Ok(round_time(time.micros, call.ret.typmod))));
    add(
        T::Timetz,
        T::Timetz,
        Implicit,
        strict1::<TimeTzKind, TimeTzKind>(|call, time| Ok(TimeTz { micros: round_time(time.micros, call.ret.typmod), ..time })),
    );
}
