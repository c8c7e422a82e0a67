//! The current time: of the transaction, of the statement, of the clock.

use crate::args::{Date, Int4, Kernel, Text, Time, Timestamp, each_row, strict1};
use crate::casts::datetime::{timestamptz_to_date, timestamptz_to_timetz};
use crate::context::EvalContext;
use crate::error::PgResult;
use crate::registry::{Func, Registry};
use crate::types::PgType;
use crate::values::datetime::calendar::Civil;
use crate::values::datetime::{TimeTz, TimeTzKind, epoch, round_time, round_timestamp, text, to_session_local};
use crate::values::timezone;
use std::time::{SystemTime, UNIX_EPOCH};

/// The time on the clock.
fn clock_time() -> i64 {
    let unix = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| i64::try_from(since.as_micros()).unwrap_or(i64::MAX));
    epoch::from_clock(unix)
}

/// `Wed Feb 21 09:25:34.123456 2024 UTC`.
fn time_of_day(ctx: &EvalContext) -> String {
    let now = clock_time();
    let (offset, _, zone) = timezone::offset_info(&ctx.settings.time_zone, now);
    let civil = Civil::from_micros(now, offset);
    let short = |names: &[&'static str], at: i32| names.get(at as usize).and_then(|name| name.get(..3)).unwrap_or("");
    format!(
        "{} {} {:02} {:02}:{:02}:{:02}.{:06} {} {}",
        short(&text::DAYS, crate::values::datetime::calendar::weekday(civil.days())),
        short(&text::MONTHS, civil.month - 1),
        civil.day,
        civil.hour,
        civil.minute,
        civil.second,
        civil.micros,
        civil.year,
        zone
    )
}

/// `localtimestamp`: the transaction's start in the session's zone, to a precision (−1 for all digits).
pub fn local_timestamp(ctx: &EvalContext, precision: i32) -> PgResult<i64> {
    Ok(round_timestamp(to_session_local(ctx, ctx.transaction_time)?, precision))
}

/// `current_time`, to a precision.
#[must_use]
pub fn current_time(ctx: &EvalContext, precision: i32) -> TimeTz {
    let time = timestamptz_to_timetz(ctx, ctx.transaction_time).unwrap_or(TimeTz { micros: 0, offset: 0 });
    TimeTz { micros: round_time(time.micros, precision), ..time }
}

/// `current_timestamp`, to a precision.
#[must_use]
pub fn current_timestamp(ctx: &EvalContext, precision: i32) -> i64 {
    round_timestamp(ctx.transaction_time, precision)
}

/// `current_date`.
#[must_use]
pub fn current_date(ctx: &EvalContext) -> i32 {
    timestamptz_to_date(ctx, ctx.transaction_time)
}

/// Registers the functions.
pub fn register(r: &mut Registry) {
    use PgType as T;
    let mut add = |name, args: &[T], ret: T, kernel: Kernel, doc| r.add(Func::scalar(name, args, ret, kernel, doc).stable());
    let transaction = || each_row::<Timestamp>(|call| Ok(call.ctx.transaction_time));
    add("now", &[], T::Timestamptz, transaction(), "When the transaction began.");
    add("transaction_timestamp", &[], T::Timestamptz, transaction(), "When the transaction began.");
    let statement = each_row::<Timestamp>(|call| Ok(call.ctx.statement_time));
    add("statement_timestamp", &[], T::Timestamptz, statement, "When the statement began.");
    add(
        "current_date",
        &[],
        T::Date,
        each_row::<Date>(|call| Ok(current_date(call.ctx))),
        "The session's date when the transaction began.",
    );
    let doc = "When the transaction began, to a precision.";
    add("current_timestamp", &[], T::Timestamptz, transaction(), doc);
    add("current_timestamp", &[T::Int4], T::Timestamptz, strict1::<Int4, Timestamp>(|call, p| Ok(current_timestamp(call.ctx, p))), doc);
    add("current_time", &[], T::Timetz, each_row::<TimeTzKind>(|call| Ok(current_time(call.ctx, -1))), doc);
    add("current_time", &[T::Int4], T::Timetz, strict1::<Int4, TimeTzKind>(|call, p| Ok(current_time(call.ctx, p))), doc);
    add("localtime", &[], T::Time, each_row::<Time>(|call| Ok(current_time(call.ctx, -1).micros)), doc);
    add("localtime", &[T::Int4], T::Time, strict1::<Int4, Time>(|call, p| Ok(current_time(call.ctx, p).micros)), doc);
    add("localtimestamp", &[], T::Timestamp, each_row::<Timestamp>(|call| local_timestamp(call.ctx, -1)), doc);
    add("localtimestamp", &[T::Int4], T::Timestamp, strict1::<Int4, Timestamp>(|call, p| local_timestamp(call.ctx, p)), doc);
    let clock = each_row::<Timestamp>(|_| Ok(clock_time()));
    r.add(Func::scalar("clock_timestamp", &[], T::Timestamptz, clock, "The time on the clock.").volatile());
    let text = each_row::<Text>(|call| Ok(time_of_day(call.ctx)));
    r.add(Func::scalar("timeofday", &[], T::Text, text, "The time on the clock, as text.").volatile());
}
