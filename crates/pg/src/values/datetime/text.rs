//! The text of dates, times and timestamps in each output style.

use super::calendar::{Civil, DATE_INFINITY, DATE_NEG_INFINITY, TIMESTAMP_INFINITY, TIMESTAMP_NEG_INFINITY};
use crate::settings::{DateFormat, DateOrder};
use crate::values::timezone;
use jiff::tz::TimeZone;

/// Names of months, from January.
pub const MONTHS: [&str; 12] =
    ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
/// Names of days, from Sunday.
pub const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// A zone to print after a timestamp.
#[derive(Clone, Copy, Debug)]
pub struct Suffix<'a> {
    /// Seconds east.
    pub offset: i32,
    /// The zone's abbreviation at the time; styles other than ISO print it.
    pub abbreviation: &'a str,
}

/// Appends a number with at least `width` digits.
pub fn push_number(out: &mut Vec<u8>, value: u64, width: usize) {
    let mut digits = [b'0'; 20];
    let mut at = digits.len();
    let mut rest = value;
    while rest > 0 || at == digits.len() {
        at -= 1;
        if let Some(digit) = digits.get_mut(at) {
            *digit = b'0' + (rest % 10) as u8;
        }
        rest /= 10;
    }
    let at = at.min(digits.len().saturating_sub(width));
    out.extend_from_slice(digits.get(at..).unwrap_or_default());
}

/// Two digits of a number below 100.
fn push2(out: &mut Vec<u8>, value: i32) {
    out.push(b'0' + (value / 10 % 10) as u8);
    out.push(b'0' + (value % 10) as u8);
}

/// The year as it is written: 1 BC is 1.
fn shown_year(civil: &Civil) -> u64 {
    let year = i64::from(civil.year);
    if year > 0 { year.unsigned_abs() } else { (1 - year).unsigned_abs() }
}

/// Appends seconds with their fraction, without trailing zeros.
pub fn push_seconds(out: &mut Vec<u8>, seconds: i32, micros: i32, width: usize) {
    push_number(out, u64::from(seconds.unsigned_abs()), width);
    push_fraction(out, micros.unsigned_abs());
}

/// Appends `.5` for 500000 microseconds, nothing for 0.
pub fn push_fraction(out: &mut Vec<u8>, micros: u32) {
    if micros == 0 {
        return;
    }
    out.push(b'.');
    let (mut rest, mut width) = (micros, 6);
    while rest % 10 == 0 {
        rest /= 10;
        width -= 1;
    }
    push_number(out, u64::from(rest), width);
}

/// Appends `+02`, `-03:30`, `+01:02:03`; with minutes always if `minutes`.
pub fn push_offset(out: &mut Vec<u8>, offset: i32, minutes: bool) {
    out.push(if offset >= 0 { b'+' } else { b'-' });
    let seconds = offset.abs();
    push2(out, seconds / 3600);
    if seconds % 60 != 0 {
        out.push(b':');
        push2(out, seconds / 60 % 60);
        out.push(b':');
        push2(out, seconds % 60);
    } else if minutes || seconds / 60 % 60 != 0 {
        out.push(b':');
        push2(out, seconds / 60 % 60);
    }
}

fn push_date_parts(out: &mut Vec<u8>, civil: &Civil, format: DateFormat, order: DateOrder) {
    let (first, second, separator) = match (format, order) {
        (DateFormat::Iso, _) => {
            push_number(out, shown_year(civil), 4);
            out.push(b'-');
            push2(out, civil.month);
            out.push(b'-');
            push2(out, civil.day);
            return;
        }
        (DateFormat::German, _) => (civil.day, civil.month, b'.'),
        (DateFormat::Sql, DateOrder::Dmy) => (civil.day, civil.month, b'/'),
        (DateFormat::Sql, _) => (civil.month, civil.day, b'/'),
        (DateFormat::Postgres, DateOrder::Dmy) => (civil.day, civil.month, b'-'),
        (DateFormat::Postgres, _) => (civil.month, civil.day, b'-'),
    };
    push2(out, first);
    out.push(separator);
    push2(out, second);
    out.push(separator);
    push_number(out, shown_year(civil), 4);
}

/// Appends a date.
pub fn push_date(out: &mut Vec<u8>, days: i32, format: DateFormat, order: DateOrder) {
    match days {
        DATE_INFINITY => out.extend_from_slice(b"infinity"),
        DATE_NEG_INFINITY => out.extend_from_slice(b"-infinity"),
        _ => {
            let (year, month, day) = super::calendar::civil_from_days(days.into());
            let civil = Civil { year, month, day, ..Civil::default() };
            push_date_parts(out, &civil, format, order);
            push_era(out, &civil);
        }
    }
}

fn push_era(out: &mut Vec<u8>, civil: &Civil) {
    if civil.year <= 0 {
        out.extend_from_slice(b" BC");
    }
}

/// Appends `hh:mm:ss.ffffff`.
pub fn push_time(out: &mut Vec<u8>, civil: &Civil) {
    push2(out, civil.hour);
    out.push(b':');
    push2(out, civil.minute);
    out.push(b':');
    push_seconds(out, civil.second, civil.micros, 2);
}

/// Appends a finite local timestamp, with its zone if there is one.
pub fn push_civil(out: &mut Vec<u8>, civil: &Civil, zone: Option<Suffix<'_>>, format: DateFormat, order: DateOrder) {
    let name = |text: &'static str| text.as_bytes().get(..3).unwrap_or_default();
    if format == DateFormat::Postgres {
        out.extend_from_slice(name(DAYS.get(super::calendar::weekday(civil.days()) as usize).unwrap_or(&"")));
        out.push(b' ');
        let month = name(MONTHS.get((civil.month - 1) as usize).unwrap_or(&""));
        if order == DateOrder::Dmy {
            push2(out, civil.day);
            out.push(b' ');
            out.extend_from_slice(month);
        } else {
            out.extend_from_slice(month);
            out.push(b' ');
            push2(out, civil.day);
        }
        out.push(b' ');
        push_time(out, civil);
        out.push(b' ');
        push_number(out, shown_year(civil), 4);
    } else {
        push_date_parts(out, civil, format, order);
        out.push(b' ');
        push_time(out, civil);
    }
    if let Some(zone) = zone {
        if format == DateFormat::Iso {
            push_offset(out, zone.offset, false);
        } else {
            out.push(b' ');
            out.extend_from_slice(zone.abbreviation.as_bytes());
        }
    }
    push_era(out, civil);
}

/// The word of an infinite timestamp.
#[must_use]
pub fn infinity_word(micros: i64) -> Option<&'static str> {
    match micros {
        TIMESTAMP_INFINITY => Some("infinity"),
        TIMESTAMP_NEG_INFINITY => Some("-infinity"),
        _ => None,
    }
}

/// Appends a timestamp: local if there is no zone.
pub fn push_timestamp(out: &mut Vec<u8>, micros: i64, zone: Option<&TimeZone>, format: DateFormat, order: DateOrder) {
    if let Some(word) = infinity_word(micros) {
        out.extend_from_slice(word.as_bytes());
        return;
    }
    match zone {
        None => push_civil(out, &Civil::from_micros(micros, 0), None, format, order),
        Some(zone) if format == DateFormat::Iso => {
            let offset = timezone::offset_at(zone, micros);
            push_civil(out, &Civil::from_micros(micros, offset), Some(Suffix { offset, abbreviation: "" }), format, order);
        }
        Some(zone) => {
            let (offset, _, abbreviation) = timezone::offset_info(zone, micros);
            push_civil(out, &Civil::from_micros(micros, offset), Some(Suffix { offset, abbreviation: &abbreviation }), format, order);
        }
    }
}

/// Appends a timestamp as XML and JSON have it: `2024-02-05T03:04:05+00:00`.
pub fn push_timestamp_xsd(out: &mut Vec<u8>, micros: i64, zone: Option<&TimeZone>) {
    if let Some(word) = infinity_word(micros) {
        out.extend_from_slice(word.as_bytes());
        return;
    }
    let offset = zone.map(|zone| timezone::offset_at(zone, micros));
    push_civil_xsd(out, &Civil::from_micros(micros, offset.unwrap_or(0)), offset);
}

/// Appends a finite local timestamp in that form, with its offset if there is one.
pub fn push_civil_xsd(out: &mut Vec<u8>, civil: &Civil, offset: Option<i32>) {
    push_date_parts(out, civil, DateFormat::Iso, DateOrder::Ymd);
    out.push(b'T');
    push_time(out, civil);
    if let Some(offset) = offset {
        push_offset(out, offset, true);
    }
    push_era(out, civil);
}
