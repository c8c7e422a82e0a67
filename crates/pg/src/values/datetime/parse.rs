//! Dates, times and timestamps from text, in all of PostgreSQL's forms.
//!
//! [`moment`] reads dates and timestamps, [`time_of_day`] times. Both go through the fields of a text once, keeping a set of the
//! parts seen; a part seen twice is a fault. The usual ISO forms take a short way without fields ([`iso`]).

use super::calendar::{Civil, UNIX_EPOCH_JULIAN, USECS_PER_DAY, days_from_civil, days_in_month, is_valid_julian};
use super::fields::{Fault, Fields, Kind, Unit, Word, fraction, fraction_micros, leading_i32, word};
use crate::context::EvalContext;
use crate::settings::DateOrder;
use crate::values::timezone::{self, ZoneSpec};
use jiff::tz::TimeZone;

const YEAR: u32 = 1;
const MONTH: u32 = 2;
const DAY: u32 = 4;
const DATE: u32 = YEAR | MONTH | DAY;
const DAY_OF_YEAR: u32 = 8;
const HOUR: u32 = 16;
const MINUTE: u32 = 32;
const SECOND: u32 = 64;
const FRACTION: u32 = 128;
const SECONDS: u32 = SECOND | FRACTION;
const TIME: u32 = HOUR | MINUTE | SECONDS;
const ZONE: u32 = 256;
const DAYLIGHT: u32 = 512;
const MERIDIAN: u32 = 1024;
const ERA: u32 = 2048;
const WEEKDAY: u32 = 4096;

/// What the text of a date or timestamp says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moment {
    /// A local time, and its offset in seconds east of UTC (that of the session where none was given).
    Local(Civil, i32),
    Epoch,
    Infinity,
    MinusInfinity,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Meridian {
    Am,
    Pm,
}

/// What was read so far.
struct State<'a> {
    ctx: &'a EvalContext,
    seen: u32,
    civil: Civil,
    day_of_year: i32,
    month_by_name: bool,
    two_digit_year: bool,
    julian: bool,
    bc: bool,
    meridian: Option<Meridian>,
    /// The label of the next number.
    label: Option<Unit>,
    time_mark: bool,
    offset: i32,
    zone: Option<ZoneSpec>,
}

impl<'a> State<'a> {
    fn new(ctx: &'a EvalContext) -> Self {
        State {
            ctx,
            seen: 0,
            civil: Civil::default(),
            day_of_year: 0,
            month_by_name: false,
            two_digit_year: false,
            julian: false,
            bc: false,
            meridian: None,
            label: None,
            time_mark: false,
            offset: 0,
            zone: None,
        }
    }

    fn has(&self, parts: u32) -> bool {
        self.seen & parts == parts
    }

    fn add(&mut self, parts: u32) -> Result<(), Fault> {
        if self.seen & parts != 0 {
            return Err(Fault::Format);
        }
        self.seen |= parts;
        Ok(())
    }

    fn labelled(&self) -> bool {
        self.label.is_some() || self.time_mark
    }

    fn set_date(&mut self, days: i64) {
        let (year, month, day) = super::calendar::civil_from_days(days);
        self.civil = Civil { year, month, day, ..self.civil };
    }

    fn set_time(&mut self, micros: i64) {
        self.civil = self.civil.with_time(micros);
    }

    /// The session's local time at the start of the transaction, and its offset.
    fn now(&self) -> (Civil, i32) {
        now(self.ctx)
    }

    /// Digits and separators of a date: a month by name, and numbers by the order of dates.
    fn date(&mut self, text: &str, seen: u32) -> Result<u32, Fault> {
        let mut parts: [&str; 25] = [""; 25];
        let mut count = 0;
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() && count < parts.len() {
            while bytes.get(at).is_some_and(|c| !c.is_ascii_alphanumeric()) {
                at += 1;
            }
            let start = at;
            let Some(first) = bytes.get(at) else { return Err(Fault::Format) };
            let digits = first.is_ascii_digit();
            while bytes.get(at).is_some_and(|c| if digits { c.is_ascii_digit() } else { c.is_ascii_alphabetic() }) {
                at += 1;
            }
            if let Some(part) = parts.get_mut(count) {
                *part = text.get(start..at).unwrap_or("");
            }
            count += 1;
            // Whatever ended the part is passed over.
            at += 1;
        }
        let parts = parts.get_mut(..count).unwrap_or_default();
        let mut now_seen = seen;
        for part in parts.iter_mut().filter(|part| part.starts_with(|c: char| c.is_ascii_alphabetic())) {
            match word(part) {
                Some(Word::Ignored) => continue,
                Some(Word::Month(month)) if now_seen & MONTH == 0 => {
                    self.civil.month = month;
                    self.month_by_name = true;
                    now_seen |= MONTH;
                    *part = "";
                }
                _ => return Err(Fault::Format),
            }
        }
        for part in parts.iter().filter(|part| !part.is_empty()) {
            let by_name = self.month_by_name;
            let found = self.number(part, now_seen, by_name)?;
            if now_seen & found != 0 {
                return Err(Fault::Format);
            }
            now_seen |= found;
        }
        if now_seen & !(DAY_OF_YEAR | ZONE) != DATE {
            return Err(Fault::Format);
        }
        Ok(now_seen & !seen)
    }

    /// A number without label: which part it is depends on what was seen.
    fn number(&mut self, text: &str, seen: u32, by_name: bool) -> Result<u32, Fault> {
        let (value, rest) = leading_i32(text).ok_or(Fault::Field)?;
        let digits = text.len() - rest.len();
        if digits == 0 {
            return Err(Fault::Format);
        }
        if rest.starts_with('.') {
            // More than two digits before the point: a date or time run together.
            if digits > 2 {
                return self.run_together(text, seen | DATE);
            }
            self.civil.micros = fraction_micros(rest)?;
        } else if !rest.is_empty() {
            return Err(Fault::Format);
        }
        if text.len() == 3 && seen & DATE == YEAR && (1..=366).contains(&value) {
            self.day_of_year = value;
            return Ok(DAY_OF_YEAR | MONTH | DAY);
        }
        let order = self.ctx.settings.date_order;
        let part = match seen & DATE {
            0 if text.len() >= 3 || order == DateOrder::Ymd => YEAR,
            0 if order == DateOrder::Dmy => DAY,
            0 => MONTH,
            YEAR => MONTH,
            MONTH if by_name && (text.len() >= 3 || order == DateOrder::Ymd) => YEAR,
            MONTH => DAY,
            m if m == YEAR | MONTH => {
                if by_name && text.len() >= 3 && self.two_digit_year {
                    // What was taken for the year was the day.
                    self.civil.day = self.civil.year;
                    self.civil.year = value;
                    self.two_digit_year = false;
                    return Ok(DAY);
                }
                DAY
            }
            DAY => MONTH,
            m if m == MONTH | DAY => YEAR,
            DATE => return self.run_together(text, seen),
            _ => return Err(Fault::Format),
        };
        match part {
            YEAR => {
                self.civil.year = value;
                self.two_digit_year = text.len() <= 2;
            }
            MONTH => self.civil.month = value,
            _ => self.civil.day = value,
        }
        Ok(part)
    }

    /// `20010203`, `010203`, `040506`, `0405`, `040506.789`.
    fn run_together(&mut self, text: &str, seen: u32) -> Result<u32, Fault> {
        let cut = |text: &str, from: usize, to: usize| -> Result<i32, Fault> {
            let part = text.get(from..to).ok_or(Fault::Format)?;
            leading_i32(part).map(|(value, _)| value).ok_or(Fault::Field)
        };
        let digits = match text.find('.') {
            Some(point) => {
                let after = text.get(point..).unwrap_or("");
                let end = after.bytes().skip(1).position(|c| !c.is_ascii_digit()).map_or(after.len(), |n| n + 1);
                self.civil.micros = fraction_micros(after.get(..end).unwrap_or("."))?;
                text.get(..point).unwrap_or("")
            }
            None => {
                if seen & DATE != DATE && text.len() >= 6 {
                    let n = text.len();
                    self.civil.day = cut(text, n - 2, n)?;
                    self.civil.month = cut(text, n - 4, n - 2)?;
                    self.civil.year = cut(text, 0, n - 4)?;
                    if n == 6 {
                        self.two_digit_year = true;
                    }
                    return Ok(DATE);
                }
                text
            }
        };
        if seen & TIME != TIME {
            let second = match digits.len() {
                6 => cut(digits, 4, 6)?,
                4 => 0,
                _ => return Err(Fault::Format),
            };
            self.civil.second = second;
            self.civil.minute = cut(digits, 2, 4)?;
            self.civil.hour = cut(digits, 0, 2)?;
            return Ok(TIME);
        }
        Err(Fault::Format)
    }

    /// `04:05`, `04:05:06.789`.
    fn time(&mut self, text: &str) -> Result<u32, Fault> {
        let clock = clock(text, false)?;
        self.civil.hour = i32::try_from(clock.hour).map_err(|_| Fault::Field)?;
        self.civil.minute = clock.minute;
        self.civil.second = clock.second;
        self.civil.micros = clock.micros;
        Ok(TIME)
    }

    /// `hhmmss-zz`: a time run together with its zone.
    fn time_and_offset(&mut self, text: &str, seen: u32) -> Result<u32, Fault> {
        let sign = text.find('-').ok_or(Fault::Format)?;
        self.offset = offset(text.get(sign..).unwrap_or(""))?;
        Ok(self.run_together(text.get(..sign).unwrap_or(""), seen)? | ZONE)
    }

    fn named_zone(&mut self, text: &str) -> Option<u32> {
        self.zone = Some(ZoneSpec::Zone(timezone::named(text)?.1));
        Some(ZONE)
    }

    /// A number after a label: `J2451187`, `T040506`, `y2001m02`.
    fn labelled_number(&mut self, text: &str) -> Result<u32, Fault> {
        let (value, rest) = leading_i32(text).ok_or(Fault::Field)?;
        let unit = self.label.take();
        let fractional = match rest.as_bytes().first() {
            None => false,
            Some(b'.') if self.time_mark || matches!(unit, Some(Unit::Julian | Unit::Second)) => true,
            _ => return Err(Fault::Format),
        };
        if std::mem::take(&mut self.time_mark) {
            let found = self.run_together(text, self.seen | DATE)?;
            return if found == TIME { Ok(TIME) } else { Err(Fault::Format) };
        }
        match unit {
            Some(Unit::Year) => self.civil.year = value,
            Some(Unit::Month) if self.has(MONTH) && self.has(HOUR) => {
                self.civil.minute = value;
                return Ok(MINUTE);
            }
            Some(Unit::Month) => self.civil.month = value,
            Some(Unit::Day) => self.civil.day = value,
            Some(Unit::Hour) => self.civil.hour = value,
            Some(Unit::Minute) => self.civil.minute = value,
            Some(Unit::Second) => {
                self.civil.second = value;
                if fractional {
                    self.civil.micros = fraction_micros(rest)?;
                    return Ok(SECONDS);
                }
            }
            Some(Unit::Julian) => {
                if value < 0 {
                    return Err(Fault::Field);
                }
                self.set_date(i64::from(value) - UNIX_EPOCH_JULIAN);
                self.julian = true;
                if fractional {
                    self.set_time((fraction(rest)? * USECS_PER_DAY as f64) as i64);
                    return Ok(DATE | TIME);
                }
                return Ok(DATE);
            }
            _ => return Err(Fault::Format),
        }
        Ok(match unit {
            Some(Unit::Year) => YEAR,
            Some(Unit::Month) => MONTH,
            Some(Unit::Day) => DAY,
            Some(Unit::Hour) => HOUR,
            Some(Unit::Minute) => MINUTE,
            _ => SECOND,
        })
    }

    /// Words that dates and times share. `None` for the others.
    fn common_word(&mut self, text: &str, meaning: Option<Word>) -> Result<Option<u32>, Fault> {
        Ok(Some(match meaning {
            Some(Word::DaylightSaving) => {
                self.offset += 3600;
                DAYLIGHT
            }
            Some(Word::Am) => {
                self.meridian = Some(Meridian::Am);
                MERIDIAN
            }
            Some(Word::Pm) => {
                self.meridian = Some(Meridian::Pm);
                MERIDIAN
            }
            Some(Word::Ad) => {
                self.bc = false;
                ERA
            }
            Some(Word::Bc) => {
                self.bc = true;
                ERA
            }
            Some(Word::Unit(unit)) => {
                self.label = Some(unit);
                self.time_mark = false;
                0
            }
            None => self.named_zone(text).ok_or(Fault::Format)?,
            _ => return Ok(None),
        }))
    }

    /// An abbreviation of a zone, which goes before any other meaning of a word.
    fn abbreviation(&mut self, text: &str) -> bool {
        match ZoneSpec::abbreviation(text) {
            Some(ZoneSpec::Offset(offset)) => self.offset = offset,
            Some(spec) => self.zone = Some(spec),
            None => return false,
        }
        true
    }

    /// The year as written becomes the astronomical one; months and days are checked.
    fn check_date(&mut self) -> Result<(), Fault> {
        if self.has(YEAR) && !self.julian {
            if self.bc {
                if self.civil.year <= 0 {
                    return Err(Fault::Field);
                }
                self.civil.year = 1 - self.civil.year;
            } else if self.two_digit_year {
                if self.civil.year < 0 {
                    return Err(Fault::Field);
                }
                self.civil.year += match self.civil.year {
                    0..70 => 2000,
                    70..100 => 1900,
                    _ => 0,
                };
            } else if self.civil.year <= 0 {
                return Err(Fault::Field);
            }
        }
        if self.has(DAY_OF_YEAR) {
            self.set_date(days_from_civil(self.civil.year, 1, 1) + i64::from(self.day_of_year) - 1);
        }
        if self.has(MONTH) && !(1..=12).contains(&self.civil.month) {
            return Err(Fault::MonthDay);
        }
        if self.has(DAY) && !(1..=31).contains(&self.civil.day) {
            return Err(Fault::MonthDay);
        }
        if self.has(DATE) && self.civil.day > days_in_month(self.civil.year, self.civil.month) {
            return Err(Fault::Field);
        }
        Ok(())
    }

    fn apply_meridian(&mut self) -> Result<(), Fault> {
        match self.meridian {
            Some(_) if self.civil.hour > 12 => return Err(Fault::Field),
            Some(Meridian::Am) if self.civil.hour == 12 => self.civil.hour = 0,
            Some(Meridian::Pm) if self.civil.hour != 12 => self.civil.hour += 12,
            _ => {}
        }
        Ok(())
    }

    /// The offset that applies at the local time `at`.
    fn resolve_offset(&mut self, at: Civil) -> Result<i32, Fault> {
        if let Some(zone) = &self.zone {
            return if self.has(DAYLIGHT) { Err(Fault::Format) } else { Ok(zone.offset_for_local(local_seconds(&at))) };
        }
        if self.has(ZONE) {
            return Ok(self.offset);
        }
        if self.has(DAYLIGHT) {
            return Err(Fault::Format);
        }
        Ok(timezone::offset_for_local(&self.ctx.settings.time_zone, local_seconds(&at)))
    }
}

/// Seconds of a local time; 1970 for one that no timestamp can hold, which is refused later.
fn local_seconds(civil: &Civil) -> i64 {
    if is_valid_julian(civil.year, civil.month) { civil.seconds() } else { 0 }
}

/// The session's local time at the start of the transaction, and its offset.
#[must_use]
pub fn now(ctx: &EvalContext) -> (Civil, i32) {
    let offset = timezone::offset_at(&ctx.settings.time_zone, ctx.transaction_time);
    (Civil::from_micros(ctx.transaction_time, offset), offset)
}

/// A time of a day or of an interval, not yet checked against 24 hours.
#[derive(Debug)]
pub struct Clock {
    pub hour: i64,
    pub minute: i32,
    pub second: i32,
    pub micros: i32,
}

/// `hh:mm`, `hh:mm:ss`, `mm:ss.fff`; two parts are minutes and seconds if `minutes_first`.
pub fn clock(text: &str, minutes_first: bool) -> Result<Clock, Fault> {
    use super::fields::leading_int;
    let (hour, rest) = leading_int(text).ok_or(Fault::Field)?;
    let rest = rest.strip_prefix(':').ok_or(Fault::Format)?;
    let (minute, rest) = leading_i32(rest).ok_or(Fault::Field)?;
    let shifted = |micros| Ok(Clock { hour: 0, minute: i32::try_from(hour).map_err(|_| Fault::Field)?, second: minute, micros });
    let clock = if rest.is_empty() {
        if minutes_first { shifted(0)? } else { Clock { hour, minute, second: 0, micros: 0 } }
    } else if rest.starts_with('.') {
        shifted(fraction_micros(rest)?)?
    } else {
        let rest = rest.strip_prefix(':').ok_or(Fault::Format)?;
        let (second, rest) = leading_i32(rest).ok_or(Fault::Field)?;
        Clock { hour, minute, second, micros: if rest.is_empty() { 0 } else { fraction_micros(rest)? } }
    };
    let in_range =
        clock.hour >= 0 && (0..60).contains(&clock.minute) && (0..=60).contains(&clock.second) && (0..=1_000_000).contains(&clock.micros);
    if in_range { Ok(clock) } else { Err(Fault::Field) }
}

/// Whether parts are no time from 00:00 to 24:00; 60 seconds are allowed.
#[must_use]
pub fn time_overflows(civil: &Civil) -> bool {
    !(0..=24).contains(&civil.hour)
        || !(0..60).contains(&civil.minute)
        || !(0..=60).contains(&civil.second)
        || !(0..=1_000_000).contains(&civil.micros)
        || civil.time() > USECS_PER_DAY
}

/// A numeric offset, `+05`, `-0830`, `+01:02:03`, in seconds east.
pub fn offset(text: &str) -> Result<i32, Fault> {
    let (negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, text.get(1..)),
        Some(b'+') => (false, text.get(1..)),
        _ => return Err(Fault::Format),
    };
    let (mut hours, mut rest) = leading_i32(digits.unwrap_or("")).ok_or(Fault::Displacement)?;
    let (mut minutes, mut seconds) = (0, 0);
    if let Some(more) = rest.strip_prefix(':') {
        (minutes, rest) = leading_i32(more).ok_or(Fault::Displacement)?;
        if let Some(more) = rest.strip_prefix(':') {
            (seconds, rest) = leading_i32(more).ok_or(Fault::Displacement)?;
        }
    } else if rest.is_empty() && text.len() > 3 {
        minutes = hours % 100;
        hours /= 100;
    }
    if !(0..=15).contains(&hours) || !(0..60).contains(&minutes) || !(0..60).contains(&seconds) {
        return Err(Fault::Displacement);
    }
    if !rest.is_empty() {
        return Err(Fault::Format);
    }
    let total = (hours * 60 + minutes) * 60 + seconds;
    Ok(if negative { -total } else { total })
}

/// The longest text of a timestamp's fields.
const LIMIT: usize = 128 + 25;

/// The local time of a text in one of the usual ISO forms, whatever zone it names; `None` for other forms.
pub fn iso_local(text: &str) -> Option<Civil> {
    iso(text).map(|(civil, _)| civil)
}

/// Reads a date or timestamp.
pub fn moment(ctx: &EvalContext, text: &str) -> Result<Moment, Fault> {
    if let Some((civil, offset)) = iso(text) {
        let offset = offset.unwrap_or_else(|| timezone::offset_for_local(&ctx.settings.time_zone, local_seconds(&civil)));
        return Ok(Moment::Local(civil, offset));
    }
    let fields = Fields::cut(text, LIMIT)?;
    let mut s = State::new(ctx);
    let mut special = None;
    for i in 0..fields.len() {
        let text = fields.text(i);
        let found = match fields.kind(i).unwrap_or(Kind::Word) {
            Kind::Date if s.label == Some(Unit::Julian) => {
                s.label = None;
                let (value, rest) = leading_i32(text).ok_or(Fault::Field)?;
                if value < 0 {
                    return Err(Fault::Field);
                }
                s.set_date(i64::from(value) - UNIX_EPOCH_JULIAN);
                s.julian = true;
                s.offset = offset(rest)?;
                DATE | TIME | ZONE
            }
            Kind::Date if s.labelled() || s.has(MONTH | DAY) => {
                if s.labelled() || text.starts_with(|c: char| c.is_ascii_digit()) {
                    if s.label.take().is_some() {
                        return Err(Fault::Format);
                    }
                    s.time_mark = false;
                    if s.has(TIME) {
                        return Err(Fault::Format);
                    }
                    s.time_and_offset(text, s.seen)?
                } else {
                    s.named_zone(text).ok_or_else(|| Fault::Zone(text.to_string()))?
                }
            }
            Kind::Date => s.date(text, s.seen)?,
            Kind::Time => {
                if s.label.take().is_some() {
                    return Err(Fault::Format);
                }
                s.time_mark = false;
                let found = s.time(text)?;
                if time_overflows(&s.civil) {
                    return Err(Fault::Field);
                }
                found
            }
            Kind::Signed => {
                s.offset = offset(text)?;
                ZONE
            }
            Kind::Number if s.labelled() => s.labelled_number(text)?,
            Kind::Number => {
                let point = text.find('.');
                let long = text.len() >= 6 && (s.seen & DATE == 0 || s.seen & TIME == 0);
                if point.is_some() && s.seen & DATE == 0 {
                    s.date(text, s.seen)?
                } else if point.is_some_and(|at| at > 2) || long {
                    s.run_together(text, s.seen)?
                } else {
                    s.number(text, s.seen, s.month_by_name)?
                }
            }
            Kind::Word if s.abbreviation(text) => ZONE,
            Kind::Word => match word(text) {
                Some(Word::Ignored) => continue,
                Some(Word::Now) => {
                    (s.civil, s.offset) = s.now();
                    DATE | TIME | ZONE
                }
                Some(day @ (Word::Yesterday | Word::Today | Word::Tomorrow)) => {
                    let shift = match day {
                        Word::Yesterday => -1,
                        Word::Tomorrow => 1,
                        _ => 0,
                    };
                    let days = s.now().0.days() + shift;
                    s.set_date(days);
                    DATE
                }
                Some(Word::Zulu) => {
                    s.set_time(0);
                    s.offset = 0;
                    TIME | ZONE
                }
                Some(Word::Epoch) => {
                    special = Some(Moment::Epoch);
                    DATE | TIME | ZONE
                }
                Some(Word::Infinity) => {
                    special = Some(Moment::Infinity);
                    DATE | TIME | ZONE
                }
                Some(Word::MinusInfinity) => {
                    special = Some(Moment::MinusInfinity);
                    DATE | TIME | ZONE
                }
                Some(Word::Month(month)) => {
                    let found = if s.has(MONTH) && !s.month_by_name && !s.has(DAY) && (1..=31).contains(&s.civil.month) {
                        s.civil.day = s.civil.month;
                        DAY
                    } else {
                        MONTH
                    };
                    s.month_by_name = true;
                    s.civil.month = month;
                    found
                }
                Some(Word::DayOfWeek) => WEEKDAY,
                Some(Word::TimeMark) => {
                    let next = fields.kind(i + 1);
                    if !s.has(DATE) || !matches!(next, Some(Kind::Number | Kind::Time | Kind::Date)) {
                        return Err(Fault::Format);
                    }
                    s.time_mark = true;
                    s.label = None;
                    0
                }
                meaning => s.common_word(text, meaning)?.ok_or(Fault::Format)?,
            },
        };
        s.add(found)?;
    }
    if let Some(special) = special {
        return Ok(special);
    }
    s.check_date()?;
    s.apply_meridian()?;
    if !s.has(DATE) {
        return Err(Fault::Format);
    }
    let at = s.civil;
    let offset = s.resolve_offset(at)?;
    Ok(Moment::Local(s.civil, offset))
}

/// Reads a time of day: microseconds since midnight, and its offset in seconds east when `want_offset`.
pub fn time_of_day(ctx: &EvalContext, text: &str, want_offset: bool) -> Result<(i64, i32), Fault> {
    let fields = Fields::cut(text, LIMIT)?;
    let mut s = State::new(ctx);
    let last = fields.len().saturating_sub(1);
    for i in 0..fields.len() {
        let text = fields.text(i);
        let two = fields.len() >= 2;
        let found = match fields.kind(i).unwrap_or(Kind::Word) {
            Kind::Date => {
                if i == 0 && two && (fields.kind(last) == Some(Kind::Date) || fields.kind(1) == Some(Kind::Time)) {
                    s.date(text, s.seen)?
                } else if text.starts_with(|c: char| c.is_ascii_digit()) {
                    if s.has(TIME) {
                        return Err(Fault::Format);
                    }
                    s.time_and_offset(text, s.seen | DATE)?
                } else {
                    s.named_zone(text).ok_or_else(|| Fault::Zone(text.to_string()))?
                }
            }
            Kind::Time => s.time(text)?,
            Kind::Signed => {
                s.offset = offset(text)?;
                ZONE
            }
            Kind::Number if s.labelled() => s.labelled_number(text)?,
            Kind::Number => match text.find('.') {
                Some(_) if i == 0 && two && fields.kind(last) == Some(Kind::Date) => s.date(text, s.seen)?,
                Some(point) if point > 2 => s.run_together(text, s.seen | DATE)?,
                Some(_) => return Err(Fault::Format),
                None if text.len() > 4 => s.run_together(text, s.seen | DATE)?,
                None => s.number(text, s.seen | DATE, false)?,
            },
            Kind::Word if s.abbreviation(text) => ZONE,
            Kind::Word => match word(text) {
                Some(Word::Ignored) => continue,
                Some(Word::Now) => {
                    let now = s.now().0;
                    s.set_time(now.time());
                    TIME
                }
                Some(Word::Zulu) => {
                    s.set_time(0);
                    TIME | ZONE
                }
                Some(Word::TimeMark) => {
                    if !matches!(fields.kind(i + 1), Some(Kind::Number | Kind::Time | Kind::Date)) {
                        return Err(Fault::Format);
                    }
                    s.time_mark = true;
                    0
                }
                meaning => s.common_word(text, meaning)?.ok_or(Fault::Format)?,
            },
        };
        s.add(found)?;
    }
    s.check_date()?;
    s.apply_meridian()?;
    if time_overflows(&s.civil) {
        return Err(Fault::Field);
    }
    if !s.has(TIME) {
        return Err(Fault::Format);
    }
    let fixed = match &s.zone {
        Some(ZoneSpec::Zone(zone)) => timezone::fixed_offset(zone),
        _ => None,
    };
    if let (Some(offset), false) = (fixed, s.has(DAYLIGHT)) {
        return Ok((s.civil.time(), offset));
    }
    let mut at = s.civil;
    if !s.has(DATE) {
        // A zone with changing offsets needs a day; the session's and those of abbreviations take today, unless some of a day is written.
        let today = s.seen & DATE == 0 && matches!(s.zone, None | Some(ZoneSpec::Abbreviation(..)));
        if !(today || s.has(ZONE) && s.zone.is_none()) {
            return Err(Fault::Format);
        }
        let today = s.now().0;
        at = Civil { year: today.year, month: today.month, day: today.day, ..at };
    }
    let offset = if want_offset || s.zone.is_some() || s.has(DAYLIGHT) { s.resolve_offset(at)? } else { 0 };
    Ok((s.civil.time(), offset))
}

/// `YYYY-MM-DD`, perhaps with ` ` or `T` and `HH:MM:SS`, a fraction of up to six digits, and `Z` or an offset in hours and
/// minutes. `None` for anything else, which may still be valid.
fn iso(text: &str) -> Option<(Civil, Option<i32>)> {
    fn digits(bytes: &[u8]) -> Option<i32> {
        let mut value = 0;
        for &c in bytes {
            if !c.is_ascii_digit() {
                return None;
            }
            value = value * 10 + i32::from(c - b'0');
        }
        Some(value)
    }
    let b = text.as_bytes();
    if b.len() < 10 || b.get(4) != Some(&b'-') || b.get(7) != Some(&b'-') {
        return None;
    }
    let part = |from: usize, to: usize| digits(b.get(from..to)?);
    let mut civil = Civil { year: part(0, 4)?, month: part(5, 7)?, day: part(8, 10)?, ..Civil::default() };
    if civil.year == 0 || !(1..=12).contains(&civil.month) || civil.day == 0 || civil.day > days_in_month(civil.year, civil.month) {
        return None;
    }
    if b.len() == 10 {
        return Some((civil, None));
    }
    if b.len() < 19 || !matches!(b.get(10), Some(b' ' | b'T')) || b.get(13) != Some(&b':') || b.get(16) != Some(&b':') {
        return None;
    }
    (civil.hour, civil.minute, civil.second) = (part(11, 13)?, part(14, 16)?, part(17, 19)?);
    if civil.hour > 23 || civil.minute > 59 || civil.second > 59 {
        return None;
    }
    let mut at = 19;
    if b.get(at) == Some(&b'.') {
        let end = b.iter().skip(20).position(|c| !c.is_ascii_digit()).map_or(b.len(), |n| n + 20);
        if !(21..=26).contains(&end) {
            return None;
        }
        civil.micros = part(20, end)? * 10_i32.pow((26 - end) as u32);
        at = end;
    }
    let zone = match b.get(at..)? {
        [] => None,
        [b'Z'] => Some(0),
        [sign @ (b'+' | b'-'), rest @ ..] => {
            let (hours, minutes) = match rest {
                [h @ .., b':', _, _] if h.len() == 2 => (digits(h)?, part(b.len() - 2, b.len())?),
                [_, _] => (digits(rest)?, 0),
                _ => return None,
            };
            if hours > 15 || minutes > 59 {
                return None;
            }
            let offset = hours * 3600 + minutes * 60;
            Some(if *sign == b'-' { -offset } else { offset })
        }
        _ => return None,
    };
    Some((civil, zone))
}

/// The zone of the session.
#[must_use]
pub fn session_zone(ctx: &EvalContext) -> &TimeZone {
    &ctx.settings.time_zone
}
