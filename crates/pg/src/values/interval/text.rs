//! The text of intervals in each style.

use super::Interval;
use crate::settings::IntervalStyle;
use crate::values::datetime::calendar::{USECS_PER_HOUR, USECS_PER_MINUTE, USECS_PER_SEC};
use crate::values::datetime::text::{push_number, push_seconds};
use std::io::Write;

/// An interval by its smallest units; all parts of months have one sign, as have all of the time.
struct Parts {
    years: i32,
    months: i32,
    days: i32,
    hours: i64,
    minutes: i32,
    seconds: i32,
    micros: i32,
}

impl Parts {
    fn of(value: Interval) -> Parts {
        let time = value.micros;
        Parts {
            years: value.months / 12,
            months: value.months % 12,
            days: value.days,
            hours: time / USECS_PER_HOUR,
            minutes: (time / USECS_PER_MINUTE % 60) as i32,
            seconds: (time / USECS_PER_SEC % 60) as i32,
            micros: (time % USECS_PER_SEC) as i32,
        }
    }
}

/// Writing to a vector cannot fail.
macro_rules! put {
    ($out:expr, $($args:tt)*) => { let _ = write!($out, $($args)*); };
}

/// Appends the text of an interval.
pub fn push(out: &mut Vec<u8>, value: Interval, style: IntervalStyle) {
    let parts = Parts::of(value);
    match style {
        IntervalStyle::Postgres => postgres(out, &parts, value.micros),
        IntervalStyle::PostgresVerbose => verbose(out, &parts),
        IntervalStyle::SqlStandard => sql_standard(out, &parts, value),
        IntervalStyle::Iso8601 => iso_8601(out, &parts, value),
    }
}

/// `hh:mm:ss.ffffff` of the absolute time.
fn clock(out: &mut Vec<u8>, parts: &Parts, hour_digits: usize) {
    push_number(out, parts.hours.unsigned_abs(), hour_digits);
    out.push(b':');
    push_number(out, u64::from(parts.minutes.unsigned_abs()), 2);
    out.push(b':');
    push_seconds(out, parts.seconds, parts.micros, 2);
}

fn postgres(out: &mut Vec<u8>, parts: &Parts, time: i64) {
    let (mut any, mut after_negative) = (false, false);
    for (value, unit) in [(parts.years, "year"), (parts.months, "mon"), (parts.days, "day")] {
        if value == 0 {
            continue;
        }
        if any {
            out.push(b' ');
        }
        if after_negative && value > 0 {
            out.push(b'+');
        }
        put!(out, "{value} {unit}{}", if value == 1 { "" } else { "s" });
        any = true;
        // A sign is shown when the part before had the other one.
        after_negative = value < 0;
    }
    if time != 0 || !any {
        if any {
            out.push(b' ');
        }
        if time < 0 {
            out.push(b'-');
        } else if after_negative {
            out.push(b'+');
        }
        clock(out, parts, 2);
    }
}

fn verbose(out: &mut Vec<u8>, parts: &Parts) {
    out.push(b'@');
    let (mut any, mut ago) = (false, false);
    let units = [
        (i64::from(parts.years), "year"),
        (i64::from(parts.months), "mon"),
        (i64::from(parts.days), "day"),
        (parts.hours, "hour"),
        (i64::from(parts.minutes), "min"),
    ];
    for (value, unit) in units {
        if value == 0 {
            continue;
        }
        // The first part's sign is said once, at the end.
        let value = if any {
            if ago { -value } else { value }
        } else {
            ago = value < 0;
            value.abs()
        };
        put!(out, " {value} {unit}{}", if value == 1 { "" } else { "s" });
        any = true;
    }
    if parts.seconds != 0 || parts.micros != 0 {
        out.push(b' ');
        let negative = parts.seconds < 0 || parts.micros < 0;
        if !any {
            ago = negative;
        } else if negative != ago {
            out.push(b'-');
        }
        push_seconds(out, parts.seconds, parts.micros, 1);
        put!(out, " sec{}", if parts.seconds.abs() == 1 && parts.micros == 0 { "" } else { "s" });
        any = true;
    }
    if !any {
        out.extend_from_slice(b" 0");
    }
    if ago {
        out.extend_from_slice(b" ago");
    }
}

fn sql_standard(out: &mut Vec<u8>, parts: &Parts, value: Interval) {
    let signs = [i64::from(value.months), i64::from(value.days), value.micros];
    let (negative, positive) = (signs.iter().any(|v| *v < 0), signs.iter().any(|v| *v > 0));
    let (months, days_or_time) = (value.months != 0, value.days != 0 || value.micros != 0);
    if !negative && !positive {
        out.push(b'0');
        return;
    }
    if (negative && positive) || (months && days_or_time) {
        let sign = |negative: bool| if negative { '-' } else { '+' };
        put!(
            out,
            "{}{}-{} {}{} {}",
            sign(value.months < 0),
            parts.years.unsigned_abs(),
            parts.months.unsigned_abs(),
            sign(value.days < 0),
            parts.days.unsigned_abs(),
            sign(value.micros < 0)
        );
        clock(out, parts, 1);
        return;
    }
    if negative {
        out.push(b'-');
    }
    if months {
        put!(out, "{}-{}", parts.years.unsigned_abs(), parts.months.unsigned_abs());
    } else {
        if parts.days != 0 {
            put!(out, "{} ", parts.days.unsigned_abs());
        }
        clock(out, parts, 1);
    }
}

fn iso_8601(out: &mut Vec<u8>, parts: &Parts, value: Interval) {
    if value == Interval::default() {
        out.extend_from_slice(b"PT0S");
        return;
    }
    out.push(b'P');
    let unit = |out: &mut Vec<u8>, value: i64, letter: char| {
        if value != 0 {
            put!(out, "{value}{letter}");
        }
    };
    unit(out, parts.years.into(), 'Y');
    unit(out, parts.months.into(), 'M');
    unit(out, parts.days.into(), 'D');
    if value.micros != 0 {
        out.push(b'T');
        unit(out, parts.hours, 'H');
        unit(out, parts.minutes.into(), 'M');
        if parts.seconds != 0 || parts.micros != 0 {
            if value.micros < 0 {
                out.push(b'-');
            }
            push_seconds(out, parts.seconds, parts.micros, 1);
            out.push(b'S');
        }
    }
}
