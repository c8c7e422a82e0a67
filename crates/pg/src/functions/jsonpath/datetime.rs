//! Dates and times inside jsonpath: ISO texts in, ISO 8601 out, comparison across types.

use crate::error::{PgError, PgResult};
use crate::functions::format::date_in::read_standard;
use crate::functions::format::template::{self, Field, Node};
use crate::sqlstate::SqlState;
use jiff::civil;
use jiff::tz::TimeZone;
use std::cmp::Ordering;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DatetimeKind {
    Date,
    Time,
    TimeTz,
    Timestamp,
    TimestampTz,
}

impl DatetimeKind {
    /// As `.type()` names it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            DatetimeKind::Date => "date",
            DatetimeKind::Time => "time without time zone",
            DatetimeKind::TimeTz => "time with time zone",
            DatetimeKind::Timestamp => "timestamp without time zone",
            DatetimeKind::TimestampTz => "timestamp with time zone",
        }
    }

    fn short_name(self) -> &'static str {
        match self {
            DatetimeKind::Date => "date",
            DatetimeKind::Time => "time",
            DatetimeKind::TimeTz => "timetz",
            DatetimeKind::Timestamp => "timestamp",
            DatetimeKind::TimestampTz => "timestamptz",
        }
    }

    fn has_zone(self) -> bool {
        matches!(self, DatetimeKind::TimeTz | DatetimeKind::TimestampTz)
    }

    fn is_time(self) -> bool {
        matches!(self, DatetimeKind::Time | DatetimeKind::TimeTz)
    }
}

/// A value of `.datetime()`: as written, with the offset that was given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Datetime {
    pub kind: DatetimeKind,
    local: civil::DateTime,
    /// Seconds east of UTC; 0 without a zone.
    offset: i32,
}

/// A number of up to `max` digits at the start.
fn digits(text: &str, max: usize) -> Option<(i32, &str)> {
    let len = text.bytes().take(max).take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at_checked(len)?;
    Some((digits.parse().ok()?, rest))
}

fn date(text: &str) -> Option<(civil::Date, &str)> {
    let (year, rest) = digits(text, 4)?;
    let (month, rest) = digits(rest.strip_prefix('-')?, 2)?;
    let (day, rest) = digits(rest.strip_prefix('-')?, 2)?;
    Some((civil::Date::new(i16::try_from(year).ok()?, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()?, rest))
}

fn time(text: &str) -> Option<(civil::Time, &str)> {
    let (hour, rest) = digits(text, 2)?;
    let (minute, rest) = digits(rest.strip_prefix(':')?, 2)?;
    let (second, rest) = digits(rest.strip_prefix(':')?, 2)?;
    let (micros, rest) = match rest.strip_prefix('.') {
        Some(fraction) => {
            let len = fraction.bytes().take(6).take_while(u8::is_ascii_digit).count();
            let (digits, rest) = fraction.split_at_checked(len)?;
            (format!("{digits:0<6}").parse::<i32>().ok()?, rest)
        }
        None => (0, rest),
    };
    Some((civil::Time::new(i8::try_from(hour).ok()?, i8::try_from(minute).ok()?, i8::try_from(second).ok()?, micros * 1000).ok()?, rest))
}

/// An offset, or nothing.
fn zone(text: &str) -> Option<Option<i32>> {
    let text = text.trim_start_matches(' ');
    if text.is_empty() {
        return Some(None);
    }
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+')?),
    };
    let (hours, rest) = digits(rest, 2)?;
    let (minutes, rest) = match rest.strip_prefix(':') {
        Some(rest) => digits(rest, 2)?,
        None => (0, rest),
    };
    (rest.is_empty() && hours <= 15 && minutes < 60).then_some(Some(sign * (hours * 3600 + minutes * 60)))
}

impl Datetime {
    /// Reads one of the ISO forms; `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Datetime> {
        if let Some((day, rest)) = date(text) {
            if rest.is_empty() {
                return Some(Datetime { kind: DatetimeKind::Date, local: day.into(), offset: 0 });
            }
            let rest = rest.strip_prefix(['T', ' '])?;
            let (clock, rest) = time(rest)?;
            let zone = zone(rest)?;
            let kind = if zone.is_some() { DatetimeKind::TimestampTz } else { DatetimeKind::Timestamp };
            return Some(Datetime { kind, local: day.to_datetime(clock), offset: zone.unwrap_or(0) });
        }
        let (clock, rest) = time(text)?;
        let zone = zone(rest)?;
        let kind = if zone.is_some() { DatetimeKind::TimeTz } else { DatetimeKind::Time };
        Some(Datetime { kind, local: civil::date(1970, 1, 1).to_datetime(clock), offset: zone.unwrap_or(0) })
    }

    /// Reads a text by a template of `to_timestamp`, taken strictly. The fields of the template decide the type.
    ///
    /// # Errors
    /// 22007 for texts that do not fit, or templates that have neither a date nor a time.
    pub fn by_template(text: &str, template: &str) -> PgResult<Datetime> {
        let invalid = |message: &str| PgError::new(SqlState::INVALID_DATETIME_FORMAT, message);
        let nodes = template::parse(template);
        let (mut dated, mut timed, mut zoned) = (false, false, false);
        for node in &nodes {
            let Node::Action(action) = node else { continue };
            match action.field {
                Field::Exact => {}
                Field::ZoneHour | Field::ZoneMinute | Field::ZoneName | Field::Offset => zoned = true,
                Field::Meridian { .. }
                | Field::Hour12
                | Field::Hour24
                | Field::Minute
                | Field::Second
                | Field::Millisecond
                | Field::Microsecond
                | Field::Fraction(_)
                | Field::SecondOfDay => timed = true,
                _ => dated = true,
            }
        }
        if zoned && !timed {
            return Err(invalid(if dated {
                "datetime format is zoned but not timed"
            } else {
                "datetime format is not dated and not timed"
            }));
        }
        let kind = match (dated, timed, zoned) {
            (true, false, _) => DatetimeKind::Date,
            (false, true, false) => DatetimeKind::Time,
            (false, true, true) => DatetimeKind::TimeTz,
            (true, true, false) => DatetimeKind::Timestamp,
            (true, true, true) => DatetimeKind::TimestampTz,
            (false, false, _) => return Err(invalid("datetime format is not dated and not timed")),
        };
        let moment = read_standard(&nodes, text)?;
        let c = &moment.civil;
        let small = |value: i32| i8::try_from(value).ok();
        let day = || civil::Date::new(i16::try_from(c.year).ok()?, small(c.month)?, small(c.day)?).ok();
        let clock = || civil::Time::new(small(c.hour)?, small(c.minute)?, small(c.second)?, c.micros * 1000).ok();
        let out_of_range = || PgError::new(SqlState::DATETIME_FIELD_OVERFLOW, "date/time value is out of range");
        let clock = clock().ok_or_else(out_of_range)?;
        let day = if dated { day().ok_or_else(out_of_range)? } else { civil::date(1970, 1, 1) };
        let local = if timed { day.to_datetime(clock) } else { day.into() };
        Ok(Datetime { kind, local, offset: moment.offset.unwrap_or(0) })
    }

    /// ISO 8601.
    #[must_use]
    pub fn to_text(self) -> String {
        let offset = || {
            let (sign, seconds) = if self.offset < 0 { ('-', -self.offset) } else { ('+', self.offset) };
            format!("{sign}{:02}:{:02}", seconds / 3600, seconds / 60 % 60)
        };
        match self.kind {
            DatetimeKind::Date => self.local.date().to_string(),
            DatetimeKind::Time => self.local.time().to_string(),
            DatetimeKind::TimeTz => format!("{}{}", self.local.time(), offset()),
            DatetimeKind::Timestamp => self.local.to_string(),
            DatetimeKind::TimestampTz => format!("{}{}", self.local, offset()),
        }
    }

    /// Nanoseconds since 1970 in UTC; values without zone are taken in `zone`.
    fn instant(self, zone: Option<&TimeZone>) -> i128 {
        let local = self.local.to_zoned(TimeZone::UTC).map_or(0, |z| z.timestamp().as_nanosecond());
        let offset = match zone {
            Some(zone) if !self.kind.has_zone() => {
                zone.to_ambiguous_timestamp(self.local).compatible().map_or(0, |t| local - t.as_nanosecond())
            }
            _ => i128::from(self.offset) * 1_000_000_000,
        };
        local - offset
    }

    /// Compares; `None` for a time with a date.
    ///
    /// # Errors
    /// 0A000 where the comparison depends on the session's zone and `zone` is not given.
    pub fn compare(self, other: Datetime, zone: Option<&TimeZone>) -> PgResult<Option<Ordering>> {
        if self.kind.is_time() != other.kind.is_time() {
            return Ok(None);
        }
        if self.kind.has_zone() == other.kind.has_zone() {
            let by_instant = self.instant(None).cmp(&other.instant(None));
            // Equal instants of times with zones are told apart by the zone.
            let tie = if self.kind == DatetimeKind::TimeTz { other.offset.cmp(&self.offset) } else { Ordering::Equal };
            return Ok(Some(by_instant.then(tie)));
        }
        let Some(zone) = zone else {
            let (from, to) = if self.kind.has_zone() { (other, self) } else { (self, other) };
            return Err(PgError::unsupported(format!(
                "cannot convert value from {} to {} without time zone usage",
                from.kind.short_name(),
                to.kind.short_name()
            ))
            .hint("Use *_tz() function for time zone support."));
        };
        Ok(Some(self.instant(Some(zone)).cmp(&other.instant(Some(zone)))))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn iso_forms() {
        for (given, kind, wanted) in [
            ("2020-1-2", "date", "2020-01-02"),
            ("2020-01-02 10:11:12.345", "timestamp without time zone", "2020-01-02T10:11:12.345"),
            ("2020-01-02T10:11:12+03", "timestamp with time zone", "2020-01-02T10:11:12+03:00"),
            ("2020-01-02T10:11:12 +03:30", "timestamp with time zone", "2020-01-02T10:11:12+03:30"),
            ("10:11:12", "time without time zone", "10:11:12"),
            ("10:11:12-03", "time with time zone", "10:11:12-03:00"),
        ] {
            let value = Datetime::parse(given).unwrap();
            assert_eq!((value.kind.name(), value.to_text().as_str()), (kind, wanted), "{given}");
        }
        for bad in ["10:11", "2020-13-02", "23:59:60", "", "2020-01-02x"] {
            assert!(Datetime::parse(bad).is_none(), "{bad}");
        }
    }
}
