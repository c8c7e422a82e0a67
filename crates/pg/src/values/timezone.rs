//! Time zones: by name, abbreviation, POSIX form or offset; and the offset at a time, at any year that SQL allows.
//!
//! Offsets are seconds east of UTC. The zone database is the one compiled in. Local times that a change of the clocks skips are
//! read with the offset before it; those it repeats with the offset after it. Next: [`abbreviations`].

use crate::error::{PgError, PgResult};
use crate::sqlstate::SqlState;
use crate::values::datetime::calendar::{Civil, USECS_PER_DAY, USECS_PER_SEC};
use crate::values::datetime::epoch::unix_seconds;
use crate::values::interval::Interval;
use jiff::Timestamp;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

pub mod abbreviations;

/// Seconds of 400 years, after which the calendar and so the rules of a zone repeat.
const CYCLE: i64 = 146_097 * 86_400;
/// 9000-01-01: the library below knows years to 9999.
const LAST_SECOND: i64 = 221_845_392_000;
/// About the year −9000, before anything that SQL holds and all rules.
const FIRST_SECOND: i64 = -346_000_000_000;

/// The same second of the year, in a year that the library knows.
fn fold(seconds: i64) -> i64 {
    if seconds > LAST_SECOND { LAST_SECOND - CYCLE + (seconds - LAST_SECOND).rem_euclid(CYCLE) } else { seconds.max(FIRST_SECOND) }
}

fn timestamp_of(seconds: i64) -> Timestamp {
    Timestamp::from_second(fold(seconds)).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// Offset at a point in time.
#[must_use]
pub fn offset_at(zone: &TimeZone, micros: i64) -> i32 {
    zone.to_offset(timestamp_of(unix_seconds(micros))).seconds()
}

/// Offset, daylight saving, and abbreviation at a point in time.
#[must_use]
pub fn offset_info(zone: &TimeZone, micros: i64) -> (i32, bool, String) {
    let info = zone.to_offset_info(timestamp_of(unix_seconds(micros)));
    (info.offset().seconds(), info.dst().is_dst(), info.abbreviation().to_string())
}

/// Offset of a local time, given as seconds since 1970 as if it was UTC.
#[must_use]
pub fn offset_for_local(zone: &TimeZone, local_seconds: i64) -> i32 {
    let local = Offset::UTC.to_datetime(timestamp_of(local_seconds));
    match zone.to_ambiguous_timestamp(local).offset() {
        AmbiguousOffset::Unambiguous { offset } => offset.seconds(),
        AmbiguousOffset::Gap { before, .. } => before.seconds(),
        AmbiguousOffset::Fold { after, .. } => after.seconds(),
    }
}

/// The point in time of a local time in a zone; `None` outside what timestamps hold.
#[must_use]
pub fn to_utc(zone: &TimeZone, local: &Civil) -> Option<i64> {
    local.micros_at(offset_for_local(zone, local.seconds()))
}

/// The local timestamp of a point in time; infinities stay. `None` outside what timestamps hold.
#[must_use]
pub fn to_local(zone: &TimeZone, micros: i64) -> Option<i64> {
    use crate::values::datetime::calendar::{is_finite_timestamp, is_valid_timestamp};
    if !is_finite_timestamp(micros) {
        return Some(micros);
    }
    micros.checked_add(i64::from(offset_at(zone, micros)) * USECS_PER_SEC).filter(|&t| is_valid_timestamp(t))
}

/// The point in time of a local timestamp; infinities stay. `None` outside what timestamps hold.
#[must_use]
pub fn from_local(zone: &TimeZone, micros: i64) -> Option<i64> {
    use crate::values::datetime::calendar::{is_finite_timestamp, is_valid_timestamp};
    if !is_finite_timestamp(micros) {
        return Some(micros);
    }
    let offset = offset_for_local(zone, unix_seconds(micros));
    micros.checked_sub(i64::from(offset) * USECS_PER_SEC).filter(|&t| is_valid_timestamp(t))
}

/// The offset of a zone that never changes it.
#[must_use]
pub fn fixed_offset(zone: &TimeZone) -> Option<i32> {
    if let Ok(offset) = zone.to_fixed_offset() {
        return Some(offset.seconds());
    }
    let first = timestamp_of(FIRST_SECOND);
    let offset = zone.to_offset(first);
    // Zones with rules for all years have endless changes, the first of which differs.
    zone.following(first).all(|change| change.offset() == offset).then(|| offset.seconds())
}

/// A zone as texts of values and `AT TIME ZONE` name it.
#[derive(Clone, Debug)]
pub enum ZoneSpec {
    /// Seconds east.
    Offset(i32),
    Zone(TimeZone),
    /// An abbreviation whose meaning a zone gives.
    Abbreviation(String, TimeZone),
}

impl ZoneSpec {
    /// An abbreviation, else a zone: the order of `AT TIME ZONE`. 22023 when there is no such zone.
    pub fn parse(name: &str) -> PgResult<ZoneSpec> {
        match ZoneSpec::abbreviation(name) {
            Some(spec) => Ok(spec),
            None => named(name).map(|(_, zone)| ZoneSpec::Zone(zone)).ok_or_else(|| not_recognized(name)),
        }
    }

    /// The zone that an abbreviation means.
    #[must_use]
    pub fn abbreviation(name: &str) -> Option<ZoneSpec> {
        match abbreviations::find(name)? {
            abbreviations::Meaning::Fixed(offset, _) => Some(ZoneSpec::Offset(offset)),
            abbreviations::Meaning::Zone(zone) => Some(ZoneSpec::Abbreviation(name.to_ascii_uppercase(), TimeZone::get(zone).ok()?)),
        }
    }

    /// The zone whose meaning of an abbreviation counts, where times are not read by the abbreviation but moved in the zone.
    #[must_use]
    pub fn without_abbreviation(self) -> ZoneSpec {
        match self {
            ZoneSpec::Abbreviation(_, zone) => ZoneSpec::Zone(zone),
            other => other,
        }
    }

    /// From an interval that has neither months nor days.
    pub fn from_interval(interval: Interval) -> PgResult<ZoneSpec> {
        if interval.months != 0 || interval.days != 0 {
            return Err(PgError::new(
                SqlState::INVALID_PARAMETER_VALUE,
                format!("interval time zone \"{interval}\" must not include months or days"),
            ));
        }
        Ok(ZoneSpec::Offset((interval.micros / USECS_PER_SEC) as i32))
    }

    /// Offset at a point in time.
    #[must_use]
    pub fn offset_at(&self, micros: i64) -> i32 {
        match self {
            ZoneSpec::Offset(offset) => *offset,
            ZoneSpec::Zone(zone) => offset_at(zone, micros),
            ZoneSpec::Abbreviation(name, zone) => {
                abbreviation_offset(zone, name, unix_seconds(micros)).unwrap_or_else(|| offset_at(zone, micros))
            }
        }
    }

    /// Offset of a local time, given as seconds since 1970 as if it was UTC.
    #[must_use]
    pub fn offset_for_local(&self, local_seconds: i64) -> i32 {
        match self {
            ZoneSpec::Offset(offset) => *offset,
            ZoneSpec::Zone(zone) => offset_for_local(zone, local_seconds),
            ZoneSpec::Abbreviation(name, zone) => {
                let offset = offset_for_local(zone, local_seconds);
                let seconds = fold(local_seconds) - i64::from(offset);
                abbreviation_offset(zone, name, seconds).unwrap_or(offset)
            }
        }
    }
}

/// What an abbreviation meant in a zone when it was last in use there, at or before a time in seconds since 1970, or else first after it.
fn abbreviation_offset(zone: &TimeZone, name: &str, seconds: i64) -> Option<i32> {
    let at = timestamp_of(seconds);
    let info = zone.to_offset_info(at);
    if info.abbreviation() == name {
        return Some(info.offset().seconds());
    }
    // Rules that go on for ever repeat after two changes: far enough to look.
    let before = zone.preceding(at).take(400).find(|change| change.abbreviation() == name).map(|change| change.offset());
    before
        .or_else(|| zone.following(at).take(400).find(|change| change.abbreviation() == name).map(|change| change.offset()))
        .map(Offset::seconds)
}

/// `time zone "…" not recognized`, 22023.
#[must_use]
pub fn not_recognized(name: &str) -> PgError {
    PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("time zone \"{name}\" not recognized"))
}

/// A zone of the database, or in POSIX form (offsets west of UTC), with its name in the case it is known by.
#[must_use]
pub fn named(name: &str) -> Option<(String, TimeZone)> {
    if name.is_empty() || name.len() > 255 {
        return None;
    }
    match TimeZone::get(name) {
        Ok(zone) if !zone.is_unknown() => {
            let canonical = zone.iana_name().unwrap_or(name).to_string();
            Some((canonical, zone))
        }
        _ if name.eq_ignore_ascii_case("posixrules") => Some(("posixrules".into(), TimeZone::get("America/New_York").ok()?)),
        _ if name.eq_ignore_ascii_case("localtime") => Some(("localtime".into(), TimeZone::UTC)),
        _ => {
            let upper = name.to_ascii_uppercase();
            posix(&upper).map(|zone| (upper, zone))
        }
    }
}

/// The names of the zones of the database.
#[must_use]
pub fn names() -> Vec<String> {
    jiff::tz::db().available().map(|name| name.to_string()).collect()
}

/// The abbreviations, each with its seconds east of UTC at a point in time and whether that is daylight saving time.
#[must_use]
pub fn abbreviations_at(micros: i64) -> Vec<(&'static str, i32, bool)> {
    let at = |name: &'static str, meaning| match meaning {
        abbreviations::Meaning::Fixed(offset, is_dst) => Some((name, offset, is_dst)),
        abbreviations::Meaning::Zone(zone) => {
            let zone = TimeZone::get(zone).ok()?;
            let (now, is_dst, _) = offset_info(&zone, micros);
            Some(abbreviation_offset(&zone, name, unix_seconds(micros)).map_or((name, now, is_dst), |offset| (name, offset, false)))
        }
    };
    abbreviations::ABBREVIATIONS.iter().filter_map(|(name, meaning)| at(name, *meaning)).collect()
}

/// `STD offset [DST [offset] [,rules]]`, in upper case.
fn posix(text: &str) -> Option<TimeZone> {
    fn zone_name(text: &str) -> Option<(&str, &str)> {
        if let Some(quoted) = text.strip_prefix('<') {
            return quoted.split_once('>');
        }
        let end = text.find(|c: char| c.is_ascii_digit() || matches!(c, ',' | '-' | '+')).unwrap_or(text.len());
        Some(text.split_at(end))
    }
    fn number(text: &str, max: i32) -> Option<(i32, &str)> {
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (digits, rest) = text.split_at(end);
        digits.parse().ok().filter(|n| *n <= max).map(|n| (n, rest))
    }
    fn offset(text: &str) -> Option<(i32, &str)> {
        let (sign, rest) = match text.as_bytes().first()? {
            b'-' => (-1, text.get(1..)?),
            b'+' => (1, text.get(1..)?),
            _ => (1, text),
        };
        let (hours, mut rest) = number(rest, 167)?;
        let mut seconds = hours * 3600;
        for unit in [60, 1] {
            if let Some(more) = rest.strip_prefix(':') {
                let (n, after) = number(more, 59)?;
                seconds += n * unit;
                rest = after;
            } else {
                break;
            }
        }
        Some((sign * seconds, rest))
    }
    let (std, rest) = zone_name(text)?;
    let (west, rest) = offset(rest)?;
    let rules_known = |name: &str| name.len() >= 3 && name.bytes().all(|b| b.is_ascii_alphabetic());
    if rest.is_empty() {
        if (rules_known(std) || (text.starts_with('<') && std.len() >= 3))
            && let Ok(zone) = TimeZone::posix(text)
        {
            return Some(zone);
        }
        return Offset::from_seconds(-west).ok().map(TimeZone::fixed);
    }
    let (_, rules) = zone_name(rest)?;
    let rules = if rules.is_empty() || rules.starts_with(',') { rules } else { offset(rules)?.1 };
    // Without rules, daylight saving time is that of the United States.
    if rules.is_empty() { TimeZone::posix(&format!("{text},M3.2.0,M11.1.0")).ok() } else { TimeZone::posix(text).ok() }
}

/// The value of `SET TIME ZONE`: a zone's name, POSIX form, hours east of UTC, or `INTERVAL '…'`; with what `SHOW` prints.
pub fn lookup(name: &str) -> PgResult<(String, TimeZone)> {
    let invalid = || PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("invalid value for parameter \"TimeZone\": \"{name}\""));
    if name.get(..8).is_some_and(|head| head.eq_ignore_ascii_case("interval")) {
        let text = name.get(8..).unwrap_or("").trim_start().strip_prefix('\'').and_then(|rest| rest.split_once('\''));
        let Some((text, "")) = text else { return Err(invalid()) };
        return from_interval(crate::values::interval::parse(text, -1, crate::settings::IntervalStyle::Postgres)?).map_err(|e| {
            let mut error = invalid();
            error.fields_mut().detail = e.fields().detail.clone();
            error
        });
    }
    if let Ok(hours) = name.trim_start().parse::<f64>()
        && hours.is_finite()
    {
        return from_offset((hours * 3600.0) as i64).ok_or_else(|| invalid().detail("UTC timezone offset is out of range."));
    }
    named(name).ok_or_else(invalid)
}

/// The zone of `SET TIME ZONE INTERVAL '…'`.
pub fn from_interval(interval: Interval) -> PgResult<(String, TimeZone)> {
    let invalid = |detail: &str| {
        PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("invalid value for parameter \"TimeZone\": \"INTERVAL '{interval}'\""))
            .detail(detail)
    };
    if interval.months != 0 {
        return Err(invalid("Cannot specify months in time zone interval."));
    }
    if interval.days != 0 {
        return Err(invalid("Cannot specify days in time zone interval."));
    }
    from_offset(interval.micros / USECS_PER_SEC).ok_or_else(|| invalid("UTC timezone offset is out of range."))
}

/// A zone of one offset, named as PostgreSQL names it: `<-03>+03`.
#[must_use]
pub fn from_offset(seconds: i64) -> Option<(String, TimeZone)> {
    if seconds.saturating_abs().saturating_mul(USECS_PER_SEC) > USECS_PER_DAY * 7 {
        return None;
    }
    let zone = TimeZone::fixed(Offset::from_seconds(i32::try_from(seconds).ok()?).ok()?);
    let (hours, minutes, rest) = (seconds.abs() / 3600, seconds.abs() / 60 % 60, seconds.abs() % 60);
    let digits = match (minutes, rest) {
        (0, 0) => format!("{hours:02}"),
        (_, 0) => format!("{hours:02}:{minutes:02}"),
        _ => format!("{hours:02}:{minutes:02}:{rest:02}"),
    };
    let (sign, reverse) = if seconds < 0 { ('-', '+') } else { ('+', '-') };
    Some((format!("<{sign}{digits}>{reverse}{digits}"), zone))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use crate::values::datetime::calendar::Civil;

    #[test]
    fn set_time_zone_knows_all_forms() {
        for (given, shown, summer) in [
            ("america/new_york", "America/New_York", -4 * 3600),
            ("utc", "UTC", 0),
            ("utc+3", "UTC+3", -3 * 3600),
            ("<foo>3", "<FOO>3", -3 * 3600),
            ("-3", "<-03>+03", -3 * 3600),
            ("3.5", "<+03:30>-03:30", 12_600),
            ("-3.25", "<-03:15>+03:15", -11_700),
            ("EST", "EST", -5 * 3600),
            ("est5edt", "EST5EDT", -4 * 3600),
            ("FOO3BAR", "FOO3BAR", -2 * 3600),
            ("zulu", "Zulu", 0),
            ("+03:30", "+03:30", -12_600),
            ("3:30", "3:30", -12_600),
            ("15", "<+15>-15", 54_000),
            ("INTERVAL '+05:30'", "<+05:30>-05:30", 19_800),
            ("Europe/London", "Europe/London", 3600),
        ] {
            let (name, zone) = lookup(given).unwrap();
            assert_eq!(name, shown);
            assert_eq!(offset_at(&zone, crate::values::datetime::epoch::from_clock(1_719_792_000_000_000)), summer, "{given}");
        }
        for wrong in ["PST", "foo", "200", "Z", "", "UTC ", "Mars/Base", "UTC+25:70"] {
            assert_eq!(lookup(wrong).unwrap_err().code(), SqlState::INVALID_PARAMETER_VALUE, "{wrong}");
        }
    }

    #[test]
    fn local_times_at_changes_of_the_clocks_and_far_away() {
        let zone = TimeZone::get("America/New_York").unwrap();
        for ((year, month, day, hour), offset) in [
            ((2024, 3, 10, 1), -5),
            ((2024, 3, 10, 2), -5), // skipped
            ((2024, 3, 10, 3), -4),
            ((2024, 11, 3, 0), -4),
            ((2024, 11, 3, 1), -5), // repeated
            ((20_000, 7, 1, 0), -4),
            ((290_000, 1, 1, 0), -5),
        ] {
            let civil = Civil { year, month, day, hour, minute: 30, ..Civil::default() };
            assert_eq!(offset_for_local(&zone, civil.seconds()), offset * 3600, "{civil:?}");
            let utc = to_utc(&zone, &civil).unwrap();
            assert_eq!(utc, civil.micros_at(offset * 3600).unwrap());
        }
        assert_eq!(offset_for_local(&zone, Civil { year: 1, month: 1, day: 1, ..Civil::default() }.seconds()), -17_762);
        assert_eq!(fixed_offset(&zone), None);
        assert_eq!(fixed_offset(&TimeZone::get("Etc/GMT+3").unwrap()), Some(-10_800));
    }

    #[test]
    fn abbreviations_of_zones_follow_time() {
        let spec = ZoneSpec::parse("msk").unwrap();
        let at = |year| spec.offset_for_local(Civil { year, month: 6, day: 1, ..Civil::default() }.seconds());
        assert_eq!((at(2000), at(2012), at(2020)), (3 * 3600, 4 * 3600, 3 * 3600));
    }
}
