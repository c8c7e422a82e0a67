//! `to_char` of timestamps and intervals.

use super::template::{Action, Case, Field, Node};
use crate::error::{PgError, PgResult};
use crate::sqlstate::SqlState;
use crate::values::datetime::calendar::{
    Civil, UNIX_EPOCH_JULIAN, USECS_PER_HOUR, USECS_PER_MINUTE, USECS_PER_SEC, civil_from_days, day_of_year, days_from_civil, iso_week,
    iso_week_start, weekday,
};
use crate::values::datetime::text::{DAYS, MONTHS};
use crate::values::interval::Interval;
use std::fmt::Write;

/// Roman numerals of months, from December.
pub const ROMAN_MONTHS: [&str; 12] = ["XII", "XI", "X", "IX", "VIII", "VII", "VI", "V", "IV", "III", "II", "I"];

/// What a template is filled with.
#[derive(Debug)]
pub struct Parts<'a> {
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    micros: i64,
    day_of_year: i64,
    weekday: usize,
    /// Seconds east of UTC.
    offset: i32,
    zone: &'a str,
    interval: bool,
}

impl<'a> Parts<'a> {
    /// The parts of a local time, with the offset and abbreviation of its zone.
    #[must_use]
    pub fn of_civil(civil: &Civil, offset: i32, zone: &'a str) -> Self {
        Parts {
            year: civil.year.into(),
            month: civil.month.into(),
            day: civil.day.into(),
            hour: civil.hour.into(),
            minute: civil.minute.into(),
            second: civil.second.into(),
            micros: civil.micros.into(),
            day_of_year: day_of_year(civil.year, civil.month, civil.day).into(),
            weekday: weekday(civil.days()) as usize,
            offset,
            zone,
            interval: false,
        }
    }

    /// The parts of an interval; its days of the year are those of all its days, counted in 32 bits as PostgreSQL does.
    #[must_use]
    pub fn of_interval(value: Interval) -> Self {
        let (year, month, day) = (i64::from(value.months / 12), i64::from(value.months % 12), i64::from(value.days));
        Parts {
            year,
            month,
            day,
            hour: value.micros / USECS_PER_HOUR,
            minute: value.micros / USECS_PER_MINUTE % 60,
            second: value.micros / USECS_PER_SEC % 60,
            micros: value.micros % USECS_PER_SEC,
            day_of_year: i64::from(value.months.wrapping_mul(30).wrapping_add(value.days)),
            weekday: 0,
            offset: 0,
            zone: "",
            interval: true,
        }
    }

    fn days(&self) -> i64 {
        days_from_civil(self.year as i32, self.month as i32, self.day as i32)
    }

    /// A year as it is written: without sign before Christ, with it in an interval.
    fn shown_year(&self, year: i64) -> i64 {
        if self.interval || year > 0 { year } else { 1 - year }
    }
}

/// A number with `width` digits and its sign beside them; no padding under `FM`.
fn number(out: &mut String, action: &Action, value: i64, width: usize) {
    places(out, action, value, width + usize::from(value < 0));
}

/// The hours of twelve, of which none is 0. They are as wide as the hours of a day would be: half a day before midnight is 012.
fn half_day(hour: i64) -> i64 {
    if hour % 12 == 0 { 12 } else { hour % 12 }
}

/// A number with `width` characters, its sign among them; no padding under `FM`.
fn places(out: &mut String, action: &Action, value: i64, width: usize) {
    let start = out.len();
    let width = if action.fill { 0 } else { width };
    let _ = write!(out, "{value:0width$}");
    ordinal(out, start, action);
}

/// Appends the ending of an ordinal number to the number that starts at `start`.
fn ordinal(out: &mut String, start: usize, action: &Action) {
    if let Some(case) = action.ordinal {
        let ending = ordinal_ending(out.get(start..).unwrap_or(""), case == Case::Upper);
        out.push_str(ending);
    }
}

/// `st`, `nd`, `rd` or `th` for a number's digits.
#[must_use]
pub fn ordinal_ending(digits: &str, upper: bool) -> &'static str {
    let mut last = digits.bytes().rev();
    let (one, ten) = (last.next(), last.next());
    match (one, ten, upper) {
        (Some(b'1'), ten, upper) if ten != Some(b'1') => {
            if upper {
                "ST"
            } else {
                "st"
            }
        }
        (Some(b'2'), ten, upper) if ten != Some(b'1') => {
            if upper {
                "ND"
            } else {
                "nd"
            }
        }
        (Some(b'3'), ten, upper) if ten != Some(b'1') => {
            if upper {
                "RD"
            } else {
                "rd"
            }
        }
        (_, _, true) => "TH",
        (_, _, false) => "th",
    }
}

/// A name in a case, padded with blanks to a width.
fn name(out: &mut String, text: &str, case: Case, width: usize) {
    let start = out.len();
    match case {
        Case::Upper => out.extend(text.chars().map(|c| c.to_ascii_uppercase())),
        Case::Lower => out.extend(text.chars().map(|c| c.to_ascii_lowercase())),
        Case::Capital => out.push_str(text),
    }
    for _ in out.len() - start..width {
        out.push(' ');
    }
}

fn not_for_intervals(parts: &Parts<'_>) -> PgResult<()> {
    if parts.interval {
        return Err(PgError::new(SqlState::INVALID_DATETIME_FORMAT, "invalid format specification for an interval value")
            .hint("Intervals are not tied to specific calendar dates."));
    }
    Ok(())
}

/// Fills a template.
pub fn write(nodes: &[Node], parts: &Parts<'_>, out: &mut String) -> PgResult<()> {
    for node in nodes {
        match node {
            Node::Action(action) => field(action, parts, out)?,
            Node::Separator(c) | Node::Space(c) | Node::Char(c) => out.push(*c),
        }
    }
    Ok(())
}

fn field(action: &Action, parts: &Parts<'_>, out: &mut String) -> PgResult<()> {
    let names = |list: &'static [&'static str], at: i64| usize::try_from(at).ok().and_then(|at| list.get(at)).copied().unwrap_or("");
    let short = |text: &'static str| text.get(..3).unwrap_or("");
    let padded = if action.fill || action.translate { 0 } else { 9 };
    match action.field {
        Field::Meridian { dots } => {
            let text = match (parts.hour % 24 >= 12, dots) {
                (true, true) => "P.M.",
                (true, false) => "PM",
                (false, true) => "A.M.",
                (false, false) => "AM",
            };
            name(out, text, action.case, 0);
        }
        Field::Era { dots } => {
            not_for_intervals(parts)?;
            let text = match (parts.year <= 0, dots) {
                (true, true) => "B.C.",
                (true, false) => "BC",
                (false, true) => "A.D.",
                (false, false) => "AD",
            };
            name(out, text, action.case, 0);
        }
        Field::Hour12 => places(out, action, half_day(parts.hour), 2 + usize::from(parts.hour < 0)),
        Field::Hour24 => number(out, action, parts.hour, 2),
        Field::Minute => number(out, action, parts.minute, 2),
        Field::Second => number(out, action, parts.second, 2),
        Field::Fraction(digits) => fraction(out, action, parts.micros / 10_i64.pow(6 - u32::from(digits)), digits.into()),
        Field::Millisecond => fraction(out, action, parts.micros / 1000, 3),
        Field::Microsecond => fraction(out, action, parts.micros, 6),
        Field::SecondOfDay => {
            let start = out.len();
            let _ = write!(out, "{}", parts.hour * 3600 + parts.minute * 60 + parts.second);
            ordinal(out, start, action);
        }
        Field::ZoneName => {
            not_for_intervals(parts)?;
            name(out, parts.zone, if action.case == Case::Lower { Case::Lower } else { Case::Capital }, 0);
        }
        Field::ZoneHour => {
            not_for_intervals(parts)?;
            let _ = write!(out, "{}{:02}", if parts.offset >= 0 { '+' } else { '-' }, parts.offset.abs() / 3600);
        }
        Field::ZoneMinute => {
            not_for_intervals(parts)?;
            let _ = write!(out, "{:02}", parts.offset.abs() % 3600 / 60);
        }
        Field::Offset => {
            not_for_intervals(parts)?;
            let (hours, rest) = (parts.offset.abs() / 3600, parts.offset.abs() % 3600);
            let width = if action.fill { 0 } else { 2 };
            let _ = write!(out, "{}{hours:0width$}", if parts.offset >= 0 { '+' } else { '-' });
            if rest != 0 {
                let _ = write!(out, ":{:02}", rest / 60);
            }
        }
        Field::MonthName | Field::MonthShort => {
            not_for_intervals(parts)?;
            let month = names(&MONTHS, parts.month - 1);
            if action.field == Field::MonthName {
                name(out, month, action.case, padded);
            } else {
                name(out, short(month), action.case, 0);
            }
        }
        Field::Month => number(out, action, parts.month, 2),
        Field::DayName | Field::DayShort => {
            not_for_intervals(parts)?;
            let day = DAYS.get(parts.weekday).copied().unwrap_or("");
            if action.field == Field::DayName {
                name(out, day, action.case, padded);
            } else {
                name(out, short(day), action.case, 0);
            }
        }
        Field::DayOfYear => places(out, action, parts.day_of_year, 3),
        Field::IsoDayOfYear => {
            let days = parts.days();
            places(out, action, days - iso_week_start(iso_week(days).0, 1) + 1, 3);
        }
        Field::DayOfMonth => places(out, action, parts.day, 2),
        Field::DayOfWeek => {
            not_for_intervals(parts)?;
            number(out, action, parts.weekday as i64 + 1, 1);
        }
        Field::IsoDayOfWeek => {
            not_for_intervals(parts)?;
            number(out, action, if parts.weekday == 0 { 7 } else { parts.weekday as i64 }, 1);
        }
        Field::WeekOfYear => places(out, action, (parts.day_of_year - 1) / 7 + 1, 2),
        Field::IsoWeek => places(out, action, iso_week(parts.days()).1.into(), 2),
        Field::Quarter => {
            if parts.month != 0 {
                number(out, action, (parts.month - 1) / 3 + 1, 1);
            }
        }
        Field::Century => {
            let century = if parts.interval {
                parts.year / 100
            } else if parts.year > 0 {
                (parts.year - 1) / 100 + 1
            } else {
                parts.year / 100 - 1
            };
            number(out, action, century, if century.abs() <= 99 { 2 } else { 0 });
        }
        Field::YearComma => {
            let (year, start) = (parts.shown_year(parts.year), out.len());
            let thousands = year / 1000;
            let _ = write!(out, "{thousands},{:03}", year - thousands * 1000);
            ordinal(out, start, action);
        }
        Field::Year(digits) => year(out, action, parts.shown_year(parts.year), digits, parts.shown_year(parts.year) < 0),
        Field::IsoYear(digits) => {
            let shown = parts.shown_year(iso_week(parts.days()).0.into());
            year(out, action, shown, digits, parts.shown_year(parts.year) < 0);
        }
        Field::RomanMonth => {
            // An interval may have no months, and negative ones count back from December.
            let at = match (parts.month, parts.year) {
                (0, 0) => return Ok(()),
                (0, year) => {
                    if year >= 0 {
                        0
                    } else {
                        11
                    }
                }
                (month, _) if month < 0 => -(month + 1),
                (month, _) => 12 - month,
            };
            let case = if action.case == Case::Lower { Case::Lower } else { Case::Upper };
            name(out, names(&ROMAN_MONTHS, at), case, if action.fill { 0 } else { 4 });
        }
        Field::WeekOfMonth => number(out, action, (parts.day - 1) / 7 + 1, 1),
        // Of intervals beyond the calendar it wraps around, as PostgreSQL's does.
        Field::Julian => number(out, action, i64::from((parts.days() + UNIX_EPOCH_JULIAN) as i32), 1),
        Field::Exact => {}
    }
    Ok(())
}

/// Digits of a second's fraction; always all of them.
fn fraction(out: &mut String, action: &Action, value: i64, width: usize) {
    let start = out.len();
    let _ = write!(out, "{value:0width$}");
    ordinal(out, start, action);
}

/// The last digits of a year; `negative` says that the year's number is below 0 and so takes one place more.
fn year(out: &mut String, action: &Action, year: i64, digits: u8, negative: bool) {
    let width = usize::from(digits) + usize::from(negative);
    match digits {
        1 => {
            let start = out.len();
            let _ = write!(out, "{}", year % 10);
            ordinal(out, start, action);
        }
        2 => places(out, action, year % 100, width),
        3 => places(out, action, year % 1000, width),
        _ => places(out, action, year, width),
    }
}

/// The date of an ISO week and day, for reading.
#[must_use]
pub fn iso_date(year: i32, week: i32, sunday_first: i32) -> (i32, i32, i32) {
    let monday = iso_week_start(year, week);
    civil_from_days(if sunday_first > 1 { monday + i64::from(sunday_first) - 2 } else { monday + 6 })
}
