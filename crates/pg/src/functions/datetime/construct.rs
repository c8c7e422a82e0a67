//! Dates, times and intervals made of numbers: `make_date` and its family, `to_timestamp`.

use crate::args::{Date, Float8, Int4, Kernel, Kind, Reader, Text, Time, Timestamp, arg, strict1, strict3};
use crate::error::{PgError, PgResult};
use crate::registry::{Func, Registry};
use crate::sqlstate::SqlState;
use crate::types::PgType;
use crate::values::datetime::calendar::{
    Civil, TIMESTAMP_INFINITY, TIMESTAMP_NEG_INFINITY, USECS_PER_DAY, USECS_PER_HOUR, USECS_PER_MINUTE, USECS_PER_SEC, check_date,
    days_in_month, is_valid_julian, is_valid_timestamp,
};
use crate::values::datetime::fields::Fault;
use crate::values::datetime::{epoch, parse};
use crate::values::interval::{Interval, IntervalKind, out_of_range};
use crate::values::timezone::{self, ZoneSpec};
use std::sync::Arc;

fn overflow(message: String) -> PgError {
    PgError::new(SqlState::DATETIME_FIELD_OVERFLOW, message)
}

/// As C's `%g` prints a number.
fn general(value: f64) -> String {
    if value.is_nan() {
        return "NaN".into();
    }
    if value.is_infinite() {
        return if value < 0.0 { "-Infinity".into() } else { "Infinity".into() };
    }
    if value == 0.0 {
        return "0".into();
    }
    let scientific = format!("{value:.5e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: String| if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text };
    if (-4..6).contains(&exponent) {
        trim(format!("{value:.*}", (5 - exponent).max(0) as usize))
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", trim(digits.to_string()), exponent.abs())
    }
}

/// A date of its parts, years before Christ negative; its days are checked, its range is not. The error names the year as it is
/// counted inside when `inside`.
fn make_civil(year: i32, month: i32, day: i32, inside: bool) -> PgResult<Civil> {
    let invalid = |year: i32| overflow(format!("date field value out of range: {year}-{month:02}-{day:02}"));
    // 1 BC is the year 0.
    let astronomical = if year < 0 { year.checked_neg().map(|shown| 1 - shown) } else { Some(year).filter(|year| *year != 0) };
    let astronomical = astronomical.ok_or_else(|| invalid(year))?;
    if !(1..=12).contains(&month) || !(1..=days_in_month(astronomical, month)).contains(&day) {
        return Err(invalid(if inside { astronomical } else { year }));
    }
    Ok(Civil { year: astronomical, month, day, ..Civil::default() })
}

fn make_date(year: i32, month: i32, day: i32) -> PgResult<i32> {
    let civil = make_civil(year, month, day, true)?;
    let out = || overflow(format!("date out of range: {}-{month:02}-{day:02}", civil.year));
    if !is_valid_julian(civil.year, civil.month) {
        return Err(out());
    }
    check_date(civil.days()).map_err(|_| out())
}

fn make_time(hour: i32, minute: i32, second: f64) -> PgResult<i64> {
    let invalid = || overflow(format!("time field value out of range: {hour}:{minute:02}:{:0>2}", general(second)));
    if !(0..=24).contains(&hour) || !(0..60).contains(&minute) || !(0.0..=60.0).contains(&second) {
        return Err(invalid());
    }
    let micros = (second * 1e6).round_ties_even() as i64;
    let time = i64::from(hour) * USECS_PER_HOUR + i64::from(minute) * USECS_PER_MINUTE + micros;
    if time > USECS_PER_DAY { Err(invalid()) } else { Ok(time) }
}

/// A local time in a zone (UTC for a timestamp without one).
fn make_timestamp(date: (i32, i32, i32), time: (i32, i32, f64), offset: impl FnOnce(&Civil) -> i32) -> PgResult<i64> {
    let civil = make_civil(date.0, date.1, date.2, false)?;
    if !is_valid_julian(civil.year, civil.month) {
        return Err(overflow(format!("date out of range: {}-{:02}-{:02}", date.0, date.1, date.2)));
    }
    let micros = make_time(time.0, time.1, time.2)?;
    let out = || {
        overflow(format!("timestamp out of range: {}-{:02}-{:02} {}:{:02}:{:0>2}", date.0, date.1, date.2, time.0, time.1, general(time.2)))
    };
    let civil = Civil { hour: (micros / USECS_PER_HOUR) as i32, ..civil.with_time(micros) };
    civil.micros_at(offset(&civil)).ok_or_else(out)
}

/// A zone named to `make_timestamptz`: an offset with its sign, an abbreviation, or a name.
fn zone_argument(name: &str) -> PgResult<ZoneSpec> {
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(PgError::new(
            SqlState::INVALID_PARAMETER_VALUE,
            format!("invalid input syntax for type numeric time zone: \"{name}\""),
        )
        .hint("Numeric time zones must have \"-\" or \"+\" as first character."));
    }
    match parse::offset(name) {
        Ok(offset) => Ok(ZoneSpec::Offset(offset)),
        Err(Fault::Displacement) => {
            Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("numeric time zone \"{name}\" out of range")))
        }
        Err(_) => ZoneSpec::parse(name),
    }
}

/// `to_timestamp(seconds)`.
fn from_seconds(seconds: f64) -> PgResult<i64> {
    if seconds.is_nan() {
        return Err(overflow("timestamp cannot be NaN".into()));
    }
    if seconds.is_infinite() {
        return Ok(if seconds < 0.0 { TIMESTAMP_NEG_INFINITY } else { TIMESTAMP_INFINITY });
    }
    let micros = ((seconds - (epoch::MICROS / USECS_PER_SEC) as f64) * 1e6).round_ties_even();
    // A float beyond 64 bits becomes the end of them, which is no time.
    let timestamp = Some(micros as i64).filter(|&t| is_valid_timestamp(t));
    timestamp.ok_or_else(|| overflow(format!("timestamp out of range: \"{}\"", general(seconds))))
}

/// Parts that do not fit wrap around, as PostgreSQL 15's do.
fn make_interval(parts: [i32; 6], seconds: f64) -> PgResult<Interval> {
    let [years, months, weeks, days, hours, minutes] = parts;
    let micros = (seconds * 1e6).round_ties_even();
    if !seconds.is_finite() {
        return Err(out_of_range());
    }
    // A double beyond 64 bits becomes what the machine makes of it.
    let fits = micros >= i64::MIN as f64 && micros < -(i64::MIN as f64);
    let micros = if fits { micros as i64 } else { i64::MIN };
    let clock = i64::from(hours).wrapping_mul(USECS_PER_HOUR).wrapping_add(i64::from(minutes) * USECS_PER_MINUTE);
    Ok(Interval {
        months: years.wrapping_mul(12).wrapping_add(months),
        days: weeks.wrapping_mul(7).wrapping_add(days),
        micros: clock.wrapping_add(micros),
    })
}

/// Readers of six integers, the fifth and sixth before seconds.
struct Parts<'a> {
    ints: Vec<Reader<'a, Int4>>,
    seconds: Reader<'a, Float8>,
}

impl<'a> Parts<'a> {
    fn new(args: &'a [crate::args::Arg], ints: usize) -> PgResult<Self> {
        let readers = (0..ints).map(|i| Reader::new(arg(args, i)?)).collect::<PgResult<_>>()?;
        Ok(Parts { ints: readers, seconds: Reader::new(arg(args, ints)?)? })
    }

    /// The integers of a row (missing ones 0) and the seconds; `None` when one is NULL.
    fn row(&self, row: usize) -> PgResult<Option<([i32; 6], f64)>> {
        let mut values = [0; 6];
        for (value, reader) in values.iter_mut().zip(&self.ints) {
            match reader.get(row)? {
                Some(given) => *value = given,
                None => return Ok(None),
            }
        }
        Ok(self.seconds.get(row)?.map(|seconds| (values, seconds)))
    }
}

fn timestamp_kernel(with_zone: bool, zone_given: bool) -> Kernel {
    Arc::new(move |call, args| {
        let parts = Parts::new(args, 5)?;
        let zones = if zone_given { Some(Reader::<Text>::new(arg(args, 6)?)?) } else { None };
        let mut memo = super::memo::Memo::new();
        let mut out = Timestamp::builder(call.rows);
        for row in 0..call.rows {
            let name = match &zones {
                Some(zones) => zones.get(row)?,
                None => Some(""),
            };
            let result = match (parts.row(row)?, name) {
                (Some(([year, month, day, hour, minute, _], second)), Some(name)) => {
                    let (date, time) = ((year, month, day), (hour, minute, second));
                    Some(if zone_given {
                        // The parts are checked before the zone.
                        make_timestamp(date, time, |_| 0)?;
                        let zone = memo.get(name, zone_argument)?;
                        make_timestamp(date, time, |civil| zone.offset_for_local(civil.seconds()))?
                    } else if with_zone {
                        make_timestamp(date, time, |civil| timezone::offset_for_local(&call.ctx.settings.time_zone, civil.seconds()))?
                    } else {
                        make_timestamp(date, time, |_| 0)?
                    })
                }
                _ => None,
            };
            Timestamp::push(&mut out, result)?;
        }
        Timestamp::finish(out, call.ret)
    })
}

/// Registers the functions.
pub fn register(r: &mut Registry) {
    use PgType as T;
    let date = strict3::<Int4, Int4, Int4, Date>(|_, y, m, d| make_date(y, m, d));
    r.add(Func::scalar("make_date", &[T::Int4, T::Int4, T::Int4], T::Date, date, "A date of its parts.").named(&["year", "month", "day"]));
    let time = strict3::<Int4, Int4, Float8, Time>(|_, h, m, s| make_time(h, m, s));
    r.add(Func::scalar("make_time", &[T::Int4, T::Int4, T::Float8], T::Time, time, "A time of its parts.").named(&["hour", "min", "sec"]));
    const NAMES: &[&str] = &["year", "month", "mday", "hour", "min", "sec", "timezone"];
    let args = [T::Int4, T::Int4, T::Int4, T::Int4, T::Int4, T::Float8, T::Text];
    let (six, names) = (args.get(..6).unwrap_or_default(), NAMES.get(..6).unwrap_or_default());
    let doc = "A timestamp of its parts.";
    r.add(Func::scalar("make_timestamp", six, T::Timestamp, timestamp_kernel(false, false), doc).named(names));
    r.add(Func::scalar("make_timestamptz", six, T::Timestamptz, timestamp_kernel(true, false), doc).named(names).stable());
    r.add(Func::scalar("make_timestamptz", &args, T::Timestamptz, timestamp_kernel(true, true), doc).named(NAMES).stable());
    let interval: Kernel = Arc::new(|call, args| {
        let parts = Parts::new(args, 6)?;
        let mut out = IntervalKind::builder(call.rows);
        for row in 0..call.rows {
            let value = parts.row(row)?.map(|(ints, seconds)| make_interval(ints, seconds)).transpose()?;
            IntervalKind::push(&mut out, value)?;
        }
        IntervalKind::finish(out, call.ret)
    });
    r.add(
        Func::scalar(
            "make_interval",
            &[T::Int4, T::Int4, T::Int4, T::Int4, T::Int4, T::Int4, T::Float8],
            T::Interval,
            interval,
            "An interval of its parts.",
        )
        .named(&["years", "months", "weeks", "days", "hours", "mins", "secs"])
        .defaults(&["0", "0", "0", "0", "0", "0", "0.0"]),
    );
    r.scalar(
        "to_timestamp",
        &[T::Float8],
        T::Timestamptz,
        strict1::<Float8, Timestamp>(|_, seconds| from_seconds(seconds)),
        "The time so many seconds after 1970-01-01 00:00 UTC.",
    );
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::general;

    #[test]
    fn general_is_percent_g() {
        for (value, text) in [
            (1e20, "1e+20"),
            (-1.0, "-1"),
            (3.5, "3.5"),
            (123_456.0, "123456"),
            (1_234_567.0, "1.23457e+06"),
            (0.0001, "0.0001"),
            (1e-5, "1e-05"),
        ] {
            assert_eq!(general(value), text);
        }
    }
}
