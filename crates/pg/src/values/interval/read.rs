//! Intervals from text: units after numbers, clock times, SQL's `1-2`, and ISO 8601.
//!
//! Fields are read from the right, since a unit stands after its number. Fractions of a unit go to smaller ones: of months to days
//! of 30, of days to the time.

use super::{DAY, HOUR, Interval, MINUTE, MONTH, SECOND, YEAR, apply_typmod, out_of_range, range_of};
use crate::error::PgResult;
use crate::settings::IntervalStyle;
use crate::values::datetime::calendar::{USECS_PER_DAY, USECS_PER_HOUR, USECS_PER_MINUTE, USECS_PER_SEC};
use crate::values::datetime::fields::{Fault, Fields, Kind, Unit, fraction, leading_i32, leading_int, unit};
use crate::values::datetime::parse::clock;

/// The sums of an interval's parts while it is read.
#[derive(Default)]
struct Sums {
    years: i32,
    months: i32,
    days: i32,
    micros: i64,
}

impl Sums {
    fn add_micros(&mut self, value: i64, part: f64, scale: i64) -> Option<()> {
        self.micros = self.micros.checked_add(value.checked_mul(scale)?)?;
        self.add_fraction_of(part, scale)
    }

    /// Adds `part` × `scale` microseconds, rounded.
    fn add_fraction_of(&mut self, part: f64, scale: i64) -> Option<()> {
        let exact = part * scale as f64;
        let mut micros = exact as i64;
        let rest = exact - micros as f64;
        if rest > 0.5 {
            micros += 1;
        } else if rest < -0.5 {
            micros -= 1;
        }
        self.micros = self.micros.checked_add(micros)?;
        Some(())
    }

    fn add_days(&mut self, value: i64, scale: i32) -> Option<()> {
        self.days = self.days.checked_add(i32::try_from(value).ok()?.checked_mul(scale)?)?;
        Some(())
    }

    /// Adds a part of `scale` days: whole days, and the time of the rest.
    fn add_part_of_days(&mut self, part: f64, scale: i32) -> Option<()> {
        let days = part * f64::from(scale);
        let whole = days as i32;
        self.days = self.days.checked_add(whole)?;
        self.add_fraction_of(days - f64::from(whole), USECS_PER_DAY)
    }

    fn add_months(&mut self, value: i64) -> Option<()> {
        self.months = self.months.checked_add(i32::try_from(value).ok()?)?;
        Some(())
    }

    /// Adds years; their part to whole months.
    fn add_years(&mut self, value: i64, part: f64, scale: i32) -> Option<()> {
        self.years = self.years.checked_add(i32::try_from(value).ok()?.checked_mul(scale)?)?;
        self.months = self.months.checked_add((part * f64::from(scale) * 12.0).round_ties_even() as i32)?;
        Some(())
    }

    /// A number with its unit; the parts that it sets.
    fn add(&mut self, unit: Unit, value: i64, part: f64) -> Result<u32, Fault> {
        let (done, parts) = match unit {
            Unit::Microsecond => (self.add_micros(value, part, 1), MICROS),
            Unit::Millisecond => (self.add_micros(value, part, 1000), MILLIS),
            Unit::Second => (self.add_micros(value, part, USECS_PER_SEC), if part == 0.0 { SECS } else { SECS | MILLIS | MICROS }),
            Unit::Minute => (self.add_micros(value, part, USECS_PER_MINUTE), MINUTES),
            Unit::Hour => (self.add_micros(value, part, USECS_PER_HOUR), HOURS),
            Unit::Day => (self.add_days(value, 1).and_then(|()| self.add_fraction_of(part, USECS_PER_DAY)), DAYS),
            Unit::Week => (self.add_days(value, 7).and_then(|()| self.add_part_of_days(part, 7)), WEEKS),
            Unit::Month => (self.add_months(value).and_then(|()| self.add_part_of_days(part, 30)), MONTHS),
            Unit::Year => (self.add_years(value, part, 1), YEARS),
            Unit::Decade => (self.add_years(value, part, 10), DECADES),
            Unit::Century => (self.add_years(value, part, 100), CENTURIES),
            Unit::Millennium => (self.add_years(value, part, 1000), MILLENNIA),
            _ => return Err(Fault::Format),
        };
        done.map(|()| parts).ok_or(Fault::Field)
    }

    fn finish(self, negate: bool) -> PgResult<Option<Interval>> {
        let sign = if negate { -1 } else { 1 };
        let (Some(days), Some(micros)) = (self.days.checked_mul(sign), self.micros.checked_mul(i64::from(sign))) else {
            return Ok(None);
        };
        let months = (i64::from(self.years) * 12 + i64::from(self.months)) * i64::from(sign);
        Ok(Some(Interval { months: i32::try_from(months).map_err(|_| out_of_range())?, days, micros }))
    }
}

const MICROS: u32 = 1;
const MILLIS: u32 = 2;
const SECS: u32 = 4;
const MINUTES: u32 = 8;
const HOURS: u32 = 16;
const TIME: u32 = MICROS | MILLIS | SECS | MINUTES | HOURS;
const DAYS: u32 = 32;
const WEEKS: u32 = 64;
const MONTHS: u32 = 128;
const YEARS: u32 = 256;
const DECADES: u32 = 512;
const CENTURIES: u32 = 1024;
const MILLENNIA: u32 = 2048;

/// Reads an interval and applies a modifier, whose fields also say what numbers without unit are. Under `sql_standard`, a leading
/// minus counts for all parts without sign.
pub fn parse(text: &str, typmod: i32, style: IntervalStyle) -> PgResult<Interval> {
    let read = match traditional(text, typmod, style) {
        Err(Fault::Format) => iso_8601(text).map(|sums| (sums, false)),
        other => other,
    };
    let fault = |fault: Fault| fault.error("interval", text);
    let (sums, negate) = read.map_err(fault)?;
    let value = sums.finish(negate)?.ok_or_else(|| fault(Fault::Field))?;
    apply_typmod(value, typmod)
}

/// The unit of a number that stands last without one.
fn last_unit(typmod: i32) -> Unit {
    match range_of(typmod) {
        Some(YEAR) => Unit::Year,
        Some(r) if r & MONTH != 0 => Unit::Month,
        Some(DAY) => Unit::Day,
        Some(r) if r & SECOND == 0 && r & MINUTE != 0 => Unit::Minute,
        Some(r) if r & SECOND == 0 && r & HOUR != 0 => Unit::Hour,
        _ => Unit::Second,
    }
}

fn traditional(text: &str, typmod: i32, style: IntervalStyle) -> Result<(Sums, bool), Fault> {
    let fields = Fields::cut(text, 256)?;
    let signed = |i: usize| fields.text(i).starts_with(['-', '+']);
    let all_negative = style == IntervalStyle::SqlStandard && fields.text(0).starts_with('-') && !(1..fields.len()).any(signed);
    let minutes_first = range_of(typmod) == Some(MINUTE | SECOND);
    let mut sums = Sums::default();
    let mut seen = 0;
    let mut ago = false;
    // The unit of the number to the left.
    let mut next: Option<Unit> = None;
    for i in (0..fields.len()).rev() {
        let field = fields.text(i);
        let kind = fields.kind(i).unwrap_or(Kind::Word);
        let found = match kind {
            Kind::Word => {
                if field == "ago" {
                    ago = true;
                    // No unit: a number cannot come before it.
                    next = Some(Unit::Epoch);
                } else {
                    next = Some(unit(field).ok_or(Fault::Format)?);
                }
                0
            }
            Kind::Time => {
                let micros = time(field, minutes_first)?;
                sums.micros = if all_negative { -micros } else { micros };
                next = Some(Unit::Day);
                TIME
            }
            Kind::Signed if field.contains(':') && time(field.get(1..).unwrap_or(""), minutes_first).is_ok() => {
                let micros = time(field.get(1..).unwrap_or(""), minutes_first)?;
                sums.micros = if field.starts_with('-') { -micros } else { micros };
                next = Some(Unit::Day);
                TIME
            }
            _ => {
                let unit = *next.get_or_insert_with(|| last_unit(typmod));
                let (mut value, rest) = leading_int(field).ok_or(Fault::Field)?;
                let negative = field.starts_with('-');
                let (mut part, mut unit) = (0.0, unit);
                if let Some(months) = rest.strip_prefix('-') {
                    let (months, rest) = leading_i32(months).ok_or(Fault::Field)?;
                    if !(0..12).contains(&months) {
                        return Err(Fault::Field);
                    }
                    if !rest.is_empty() {
                        return Err(Fault::Format);
                    }
                    let months = i64::from(if negative { -months } else { months });
                    value = value.checked_mul(12).and_then(|v| v.checked_add(months)).ok_or(Fault::Field)?;
                    unit = Unit::Month;
                } else if rest.starts_with('.') {
                    part = fraction(rest)?;
                    if negative {
                        part = -part;
                    }
                } else if !rest.is_empty() {
                    return Err(Fault::Format);
                }
                if all_negative && value > 0 {
                    value = -value;
                }
                if all_negative && part > 0.0 {
                    part = -part;
                }
                next = Some(if unit == Unit::Hour { Unit::Day } else { unit });
                sums.add(unit, value, part)?
            }
        };
        if seen & found != 0 {
            return Err(Fault::Format);
        }
        seen |= found;
    }
    if seen == 0 { Err(Fault::Format) } else { Ok((sums, ago)) }
}

fn time(text: &str, minutes_first: bool) -> Result<i64, Fault> {
    let clock = clock(text, minutes_first)?;
    let below = i64::from(clock.minute) * USECS_PER_MINUTE + i64::from(clock.second) * USECS_PER_SEC + i64::from(clock.micros);
    clock.hour.checked_mul(USECS_PER_HOUR).and_then(|hours| hours.checked_add(below)).ok_or(Fault::Field)
}

/// A number at the start of a text: its whole part, its fraction, the rest, and how many digits it starts with.
fn iso_number(text: &str) -> Result<(i64, f64, &str, usize), Fault> {
    let b = text.as_bytes();
    let digits = |from: usize| b.iter().skip(from).take_while(|c| c.is_ascii_digit()).count();
    let mut at = usize::from(b.first() == Some(&b'-'));
    let width = digits(at);
    at += width;
    let mut any = width;
    if b.get(at) == Some(&b'.') {
        let n = digits(at + 1);
        any += n;
        at += 1 + n;
    }
    if any == 0 {
        return Err(Fault::Format);
    }
    if matches!(b.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(b.get(at + 1), Some(b'+' | b'-')));
        let n = digits(at + 1 + sign);
        if n > 0 {
            at += 1 + sign + n;
        }
    }
    let (number, rest) = text.split_at(at);
    let value: f64 = number.parse().map_err(|_| Fault::Format)?;
    if !(-1.0e15..=1.0e15).contains(&value) {
        return Err(Fault::Field);
    }
    Ok((value.trunc() as i64, value - value.trunc(), rest, width))
}

/// `P1Y2M3DT4H5M6S` and the alternative `P0001-02-03T04:05:06`, `P00010203T040506`.
fn iso_8601(text: &str) -> Result<Sums, Fault> {
    let mut sums = Sums::default();
    let mut rest = text.strip_prefix('P').filter(|rest| !rest.is_empty()).ok_or(Fault::Format)?;
    let (mut dates, mut any) = (true, false);
    let check = |done: Option<()>| done.ok_or(Fault::Field);
    while !rest.is_empty() {
        if let Some(time) = rest.strip_prefix('T') {
            (dates, any, rest) = (false, false, time);
            continue;
        }
        let (value, part, after, width) = iso_number(rest)?;
        let unit = after.chars().next();
        rest = after.get(unit.map_or(0, char::len_utf8)..).unwrap_or("");
        match (dates, unit) {
            (true, Some('Y')) => check(sums.add_years(value, part, 1))?,
            (true, Some('M')) => check(sums.add_months(value).and_then(|()| sums.add_part_of_days(part, 30)))?,
            (true, Some('W')) => check(sums.add_days(value, 7).and_then(|()| sums.add_part_of_days(part, 7)))?,
            (true, Some('D')) => check(sums.add_days(value, 1).and_then(|()| sums.add_fraction_of(part, USECS_PER_DAY)))?,
            (true, None | Some('T')) if width == 8 && !any => {
                check(sums.add_years(value / 10_000, 0.0, 1))?;
                check(sums.add_months(value / 100 % 100))?;
                check(sums.add_days(value % 100, 1).and_then(|()| sums.add_fraction_of(part, USECS_PER_DAY)))?;
                (dates, any) = (unit.is_none(), false);
                continue;
            }
            (true, None | Some('T' | '-')) if !any => {
                check(sums.add_years(value, part, 1))?;
                if unit == Some('-') {
                    let (value, part, after, _) = iso_number(rest)?;
                    check(sums.add_months(value).and_then(|()| sums.add_part_of_days(part, 30)))?;
                    rest = after;
                    if let Some(days) = rest.strip_prefix('-') {
                        let (value, part, after, _) = iso_number(days)?;
                        check(sums.add_days(value, 1).and_then(|()| sums.add_fraction_of(part, USECS_PER_DAY)))?;
                        rest = after;
                    }
                    if !rest.is_empty() && !rest.starts_with('T') {
                        return Err(Fault::Format);
                    }
                } else {
                    dates = unit.is_none();
                }
                any = false;
                continue;
            }
            (false, Some('H')) => check(sums.add_micros(value, part, USECS_PER_HOUR))?,
            (false, Some('M')) => check(sums.add_micros(value, part, USECS_PER_MINUTE))?,
            (false, Some('S')) => check(sums.add_micros(value, part, USECS_PER_SEC))?,
            (false, None) if width == 6 && !any => {
                check(sums.add_micros(value / 10_000, 0.0, USECS_PER_HOUR))?;
                check(sums.add_micros(value / 100 % 100, 0.0, USECS_PER_MINUTE))?;
                check(sums.add_micros(value % 100, 0.0, USECS_PER_SEC))?;
                check(sums.add_fraction_of(part, 1))?;
                return Ok(sums);
            }
            (false, None | Some(':')) if !any => {
                check(sums.add_micros(value, part, USECS_PER_HOUR))?;
                if unit.is_none() {
                    return Ok(sums);
                }
                let (value, part, after, _) = iso_number(rest)?;
                check(sums.add_micros(value, part, USECS_PER_MINUTE))?;
                rest = after;
                if let Some(seconds) = rest.strip_prefix(':') {
                    let (value, part, after, _) = iso_number(seconds)?;
                    check(sums.add_micros(value, part, USECS_PER_SEC))?;
                    rest = after;
                }
                return if rest.is_empty() { Ok(sums) } else { Err(Fault::Format) };
            }
            _ => return Err(Fault::Format),
        }
        any = true;
    }
    Ok(sums)
}
