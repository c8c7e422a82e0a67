//! `to_date` and `to_timestamp` with a template.
//!
//! Blanks and separators are matched loosely, unless the template says `FX`. A number takes as many digits as its field has, or all
//! there are when what follows is no digit. A field given twice must say the same.

use super::date_out::{ROMAN_MONTHS, iso_date};
use super::template::{Action, Convention, Field, Node, is_blank, is_separator};
use crate::error::{PgError, PgResult};
use crate::sqlstate::SqlState;
use crate::values::datetime::calendar::{Civil, UNIX_EPOCH_JULIAN, civil_from_days, days_in_month, iso_week_start};
use crate::values::datetime::fields::Fault;
use crate::values::datetime::text::{DAYS, MONTHS};

/// What a text says by a template.
#[derive(Debug, PartialEq, Eq)]
pub struct Moment {
    pub civil: Civil,
    /// Seconds east of UTC, if the template has a zone.
    pub offset: Option<i32>,
    /// The digits of a second's fraction that the template has, if it says so.
    pub precision: Option<i32>,
}

/// Fields as they were read; 0 is not given.
#[derive(Default)]
struct Read {
    convention: Option<Convention>,
    hour: i32,
    pm: i32,
    minute: i32,
    second: i32,
    second_of_day: i32,
    /// Sunday is 1.
    weekday: i32,
    day: i32,
    day_of_year: i32,
    month: i32,
    millis: i32,
    year: i32,
    bc: i32,
    week: i32,
    week_of_month: i32,
    century: i32,
    julian: i32,
    micros: i32,
    /// Digits of the field that gave the year.
    year_digits: usize,
    twelve_hours: bool,
    zone_sign: i32,
    zone_hour: i32,
    zone_minute: i32,
    precision: Option<i32>,
}

fn invalid(message: impl Into<String>) -> PgError {
    PgError::new(SqlState::INVALID_DATETIME_FORMAT, message)
}

/// Sets a field that must not have another value already.
fn set(slot: &mut i32, value: i32, action: &Action) -> PgResult<()> {
    if *slot != 0 && *slot != value {
        return Err(invalid(format!("conflicting values for \"{}\" field in formatting string", action.name))
            .detail("This value contradicts a previous setting for the same field type."));
    }
    *slot = value;
    Ok(())
}

/// The text that is left to read.
struct Input<'a> {
    whole: &'a str,
    at: usize,
}

impl<'a> Input<'a> {
    fn rest(&self) -> &'a str {
        self.whole.get(self.at..).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip(&mut self) {
        self.at += self.peek().map_or(0, char::len_utf8);
    }

    /// Passes over blanks; how many.
    fn skip_blanks(&mut self) -> i32 {
        let mut count = 0;
        while self.peek().is_some_and(is_blank) {
            self.at += 1;
            count += 1;
        }
        count
    }

    /// A number of `len` digits, or of as many as there are when `open`; how many characters it took.
    fn number(&mut self, len: usize, open: bool, action: &Action) -> PgResult<(i32, usize)> {
        let start = self.at;
        self.skip_blanks();
        let rest = self.rest();
        // As many bytes as the field has; a character is not cut.
        let mut end = len.min(rest.len());
        while !rest.is_char_boundary(end) {
            end += 1;
        }
        let copy = rest.get(..end).unwrap_or("");
        let parsed = if open {
            leading_number(rest)
        } else {
            if rest.len() < len {
                return Err(invalid(format!("source string too short for \"{}\" formatting field", action.name))
                    .detail(format!("Field requires {len} characters, but only {} remain.", rest.len()))
                    .hint("If your source string is not fixed-width, try using the \"FM\" modifier."));
            }
            let parsed = leading_number(copy);
            if parsed.1 > 0 && parsed.1 < len {
                return Err(invalid(format!("invalid value \"{copy}\" for \"{}\"", action.name))
                    .detail(format!("Field requires {len} characters, but only {} could be parsed.", parsed.1))
                    .hint("If your source string is not fixed-width, try using the \"FM\" modifier."));
            }
            parsed
        };
        let (value, used) = parsed;
        if used == 0 {
            // Blanks before the number do not count as read either.
            if open || self.at == start {
                return Err(invalid(format!("invalid value \"{copy}\" for \"{}\"", action.name)).detail("Value must be an integer."));
            }
        }
        self.at += used;
        let value = value.and_then(|value| i32::try_from(value).ok()).ok_or_else(|| out_of_range(action.name))?;
        Ok((value, self.at - start))
    }

    /// The place of the first of some words that the text starts with, in any case.
    fn word(&mut self, words: &[&str], action: &Action) -> PgResult<usize> {
        let rest = self.rest();
        let found = words.iter().position(|word| rest.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word)));
        match found {
            Some(at) => {
                self.at += words.get(at).map_or(0, |word| word.len());
                Ok(at)
            }
            None => {
                let shown = rest.split([' ', '\t', '\n', '\r', '\x0c']).next().unwrap_or("");
                Err(invalid(format!("invalid value \"{shown}\" for \"{}\"", action.name))
                    .detail("The given value did not match any of the allowed values for this field."))
            }
        }
    }
}

fn out_of_range(field: &str) -> PgError {
    PgError::new(SqlState::DATETIME_FIELD_OVERFLOW, format!("value for \"{field}\" in source string is out of range")).detail(format!(
        "Value must be in the range {} to {}.",
        i32::MIN,
        i32::MAX
    ))
}

/// Blanks, a sign and digits at the start of a text: the number (`None` beyond 64 bits) and how many characters; 0 without digits.
fn leading_number(text: &str) -> (Option<i64>, usize) {
    let bytes = text.as_bytes();
    let blanks = bytes.iter().take_while(|c| is_blank(**c as char)).count();
    let signed = usize::from(matches!(bytes.get(blanks), Some(b'-' | b'+')));
    let start = blanks + signed;
    let digits = bytes.iter().skip(start).take_while(|c| c.is_ascii_digit()).count();
    if digits == 0 {
        return (Some(0), 0);
    }
    (text.get(blanks..start + digits).and_then(|number| number.parse().ok()), start + digits)
}

/// Whether the number of a field goes on as far as there are digits: what follows the field is no digit.
fn is_open(nodes: &[Node], at: usize) -> bool {
    if let Some(Node::Action(action)) = nodes.get(at)
        && (action.fill || action.ordinal.is_some())
    {
        return true;
    }
    match nodes.get(at + 1) {
        Some(Node::Action(next)) => !next.field.is_digit(),
        Some(Node::Char(c)) => !c.is_ascii_digit(),
        Some(Node::Separator(_) | Node::Space(_)) | None => true,
    }
}

/// Years of fewer than four digits are those nearest to 2020.
fn near_2020(year: i32) -> i32 {
    match year {
        i32::MIN..70 => year + 2000,
        70..100 => year + 1900,
        100..520 => year + 2000,
        520..1000 => year + 1000,
        _ => year,
    }
}

const ERAS: [&str; 2] = ["ad", "bc"];
const ERAS_DOTS: [&str; 2] = ["a.d.", "b.c."];
const MERIDIANS: [&str; 2] = ["am", "pm"];
const MERIDIANS_DOTS: [&str; 2] = ["a.m.", "p.m."];
const SHORT_MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const SHORT_DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// Reads a text by a template.
pub fn read(nodes: &[Node], text: &str) -> PgResult<Moment> {
    let mut input = Input { whole: text, at: 0 };
    let mut fields = Read::default();
    let mut exact = false;
    // Characters passed over beyond those of the template.
    let mut extra = 0;
    for (at, node) in nodes.iter().enumerate() {
        if input.rest().is_empty() {
            break;
        }
        let is_exact = matches!(node, Node::Action(action) if action.field == Field::Exact);
        if !exact && !is_exact && (at == 0 || matches!(node, Node::Action(_))) {
            extra += input.skip_blanks();
        }
        match node {
            Node::Separator(_) | Node::Space(_) => {
                if exact {
                    input.skip();
                } else {
                    extra -= 1;
                    if input.peek().is_some_and(|c| is_blank(c) || is_separator(c)) {
                        input.skip();
                        extra += 1;
                    }
                }
            }
            Node::Char(_) => {
                if !exact && extra > 0 {
                    extra -= 1;
                } else {
                    input.skip();
                }
            }
            Node::Action(action) => {
                if is_exact {
                    exact = true;
                } else {
                    set_convention(&mut fields, action.field.convention())?;
                    read_field(&mut fields, &mut input, action, is_open(nodes, at), extra)?;
                }
                if !exact {
                    extra = input.skip_blanks();
                }
            }
        }
    }
    finish(fields, text)
}

/// Reads a text by a template as the SQL standard has it: characters between fields as they stand, and nothing left over.
pub fn read_standard(nodes: &[Node], text: &str) -> PgResult<Moment> {
    let mut input = Input { whole: text, at: 0 };
    let mut fields = Read::default();
    for (at, node) in nodes.iter().enumerate() {
        if input.rest().is_empty() {
            return Err(invalid("input string is too short for datetime format"));
        }
        match node {
            Node::Separator(c) | Node::Space(c) if input.peek() != Some(*c) => {
                return Err(invalid(format!("unmatched format separator \"{c}\"")));
            }
            Node::Char(c) if input.peek() != Some(*c) => return Err(invalid(format!("unmatched format character \"{c}\""))),
            Node::Separator(_) | Node::Space(_) | Node::Char(_) => input.skip(),
            Node::Action(action) if action.field == Field::Exact => {}
            Node::Action(action) => {
                set_convention(&mut fields, action.field.convention())?;
                read_field(&mut fields, &mut input, action, is_open(nodes, at), 0)?;
            }
        }
    }
    input.skip_blanks();
    if !input.rest().is_empty() {
        return Err(invalid("trailing characters remain in input string after datetime format"));
    }
    finish(fields, text)
}

fn set_convention(fields: &mut Read, convention: Convention) -> PgResult<()> {
    if convention == Convention::Any {
        return Ok(());
    }
    match fields.convention {
        Some(had) if had != convention => Err(invalid("invalid combination of date conventions")
            .hint("Do not mix Gregorian and ISO week date conventions in a formatting template.")),
        _ => {
            fields.convention = Some(convention);
            Ok(())
        }
    }
}

fn read_field(r: &mut Read, input: &mut Input<'_>, action: &Action, open: bool, extra: i32) -> PgResult<()> {
    let mut int = |slot: &mut i32, len: usize| -> PgResult<usize> {
        let (value, used) = input.number(len, open, action)?;
        set(slot, value, action)?;
        Ok(used)
    };
    match action.field {
        Field::Meridian { dots } => {
            let value = input.word(if dots { &MERIDIANS_DOTS } else { &MERIDIANS }, action)?;
            set(&mut r.pm, value as i32, action)?;
            r.twelve_hours = true;
            return Ok(());
        }
        Field::Era { dots } => {
            let value = input.word(if dots { &ERAS_DOTS } else { &ERAS }, action)?;
            return set(&mut r.bc, value as i32, action);
        }
        Field::Hour12 => {
            int(&mut r.hour, 2)?;
            r.twelve_hours = true;
        }
        Field::Hour24 => drop(int(&mut r.hour, 2)?),
        Field::Minute => drop(int(&mut r.minute, 2)?),
        Field::Second => drop(int(&mut r.second, 2)?),
        Field::Millisecond => {
            // 25 is a quarter of a second, as 250 is.
            let used = int(&mut r.millis, 3)?;
            r.millis = r.millis.saturating_mul(match used {
                1 => 100,
                2 => 10,
                _ => 1,
            });
        }
        Field::Fraction(_) | Field::Microsecond => {
            let len = match action.field {
                Field::Fraction(digits) => {
                    r.precision = Some(digits.into());
                    usize::from(digits)
                }
                _ => 6,
            };
            let used = int(&mut r.micros, len)?;
            let scale = if (1..6).contains(&used) { 10_i32.pow(6 - used as u32) } else { 1 };
            r.micros = r.micros.saturating_mul(scale);
        }
        Field::SecondOfDay => drop(int(&mut r.second_of_day, action.name.len())?),
        Field::ZoneName | Field::Offset => {
            return Err(PgError::unsupported(format!("formatting field \"{}\" is only supported in to_char", action.name)));
        }
        Field::ZoneHour => {
            match input.peek() {
                Some(c @ ('+' | '-' | ' ')) => {
                    r.zone_sign = if c == '-' { -1 } else { 1 };
                    input.skip();
                }
                _ => {
                    // The minus may have been passed over as a separator.
                    let minus = extra > 0 && input.whole.get(..input.at).is_some_and(|read| read.ends_with('-'));
                    r.zone_sign = if minus { -1 } else { 1 };
                }
            }
            let (value, _) = input.number(2, open, action)?;
            return set(&mut r.zone_hour, value, action);
        }
        Field::ZoneMinute => {
            if r.zone_sign == 0 {
                r.zone_sign = 1;
            }
            int(&mut r.zone_minute, 2)?;
            return Ok(());
        }
        Field::MonthName | Field::MonthShort => {
            let value = input.word(if action.field == Field::MonthName { &MONTHS } else { &SHORT_MONTHS }, action)?;
            return set(&mut r.month, value as i32 + 1, action);
        }
        Field::Month => drop(int(&mut r.month, 2)?),
        Field::DayName | Field::DayShort => {
            let value = input.word(if action.field == Field::DayName { &DAYS } else { &SHORT_DAYS }, action)?;
            set(&mut r.weekday, value as i32, action)?;
            r.weekday += 1;
            return Ok(());
        }
        Field::DayOfYear | Field::IsoDayOfYear => drop(int(&mut r.day_of_year, 3)?),
        Field::DayOfMonth => drop(int(&mut r.day, 2)?),
        Field::DayOfWeek => drop(int(&mut r.weekday, 1)?),
        Field::IsoDayOfWeek => {
            int(&mut r.weekday, 1)?;
            // From Monday first to Sunday first.
            r.weekday = if r.weekday >= 7 { 1 } else { r.weekday + 1 };
        }
        Field::WeekOfYear | Field::IsoWeek => drop(int(&mut r.week, 2)?),
        Field::Quarter => {
            // A quarter says nothing that a date could take.
            input.number(1, open, action)?;
        }
        Field::Century => drop(int(&mut r.century, 2)?),
        Field::YearComma => {
            let year = year_with_comma(input).ok_or_else(|| invalid("invalid input string for \"Y,YYY\""))?;
            set(&mut r.year, i32::try_from(year).map_err(|_| out_of_range("Y,YYY"))?, action)?;
            r.year_digits = 4;
        }
        Field::Year(digits) | Field::IsoYear(digits) => {
            let used = int(&mut r.year, digits.into())?;
            if digits < 4 && used < 4 {
                r.year = near_2020(r.year);
            }
            r.year_digits = digits.into();
        }
        Field::RomanMonth => {
            let value = input.word(&ROMAN_MONTHS, action)?;
            return set(&mut r.month, 12 - value as i32, action);
        }
        Field::WeekOfMonth => drop(int(&mut r.week_of_month, 1)?),
        Field::Julian => drop(int(&mut r.julian, 1)?),
        Field::Exact => {}
    }
    if action.ordinal.is_some() {
        input.skip();
        input.skip();
    }
    Ok(())
}

/// `2,024`: thousands, a comma, up to three digits.
fn year_with_comma(input: &mut Input<'_>) -> Option<i64> {
    let rest = input.rest();
    let (thousands, used) = leading_number(rest);
    if used == 0 {
        return None;
    }
    let after = rest.get(used..)?.strip_prefix(',')?;
    let blanks = after.bytes().take_while(|c| is_blank(*c as char)).count();
    let digits = after.bytes().skip(blanks).take(3).take_while(u8::is_ascii_digit).count();
    let years: i64 = after.get(blanks..blanks + digits)?.parse().ok()?;
    input.at += used + 1 + blanks + digits;
    thousands?.checked_mul(1000)?.checked_add(years)
}

/// A year of a century: one that no type has stays one, because a Julian day may come in its place.
fn far_year(year: i64) -> i32 {
    year.clamp(-2_000_000_000, 2_000_000_000) as i32
}

/// Fields that were read as a local time.
fn finish(r: Read, text: &str) -> PgResult<Moment> {
    let overflow = || Fault::Field.error("timestamp", text);
    let mut civil = Civil { month: 1, day: 1, ..Civil::default() };
    if r.second_of_day != 0 {
        civil.hour = r.second_of_day / 3600;
        civil.minute = r.second_of_day % 3600 / 60;
        civil.second = r.second_of_day % 60;
    }
    let given = |value: i32, slot: &mut i32| {
        if value != 0 {
            *slot = value;
        }
    };
    given(r.second, &mut civil.second);
    given(r.minute, &mut civil.minute);
    given(r.hour, &mut civil.hour);
    if r.twelve_hours {
        if !(1..=12).contains(&civil.hour) {
            return Err(invalid(format!("hour \"{}\" is invalid for the 12-hour clock", civil.hour))
                .hint("Use the 24-hour clock, or give an hour between 1 and 12."));
        }
        if r.pm != 0 && civil.hour < 12 {
            civil.hour += 12;
        } else if r.pm == 0 && civil.hour == 12 {
            civil.hour = 0;
        }
    }
    let (mut year_given, mut month_given, mut day_given) = (false, false, false);
    let century = if r.bc != 0 { -r.century } else { r.century };
    if r.year != 0 {
        year_given = true;
        if r.century != 0 && r.year_digits <= 2 {
            // The last two digits of a year of this century, which ends with a year 00.
            let last = r.year % 100;
            let whole = if last != 0 {
                if century >= 0 {
                    i64::from(last) + (i64::from(century) - 1) * 100
                } else {
                    (i64::from(century) + 1) * 100 - i64::from(last) + 1
                }
            } else {
                i64::from(century) * 100 + i64::from(century < 0)
            };
            civil.year = far_year(whole);
        } else {
            let year = if r.bc != 0 { -r.year } else { r.year };
            civil.year = if year < 0 { year + 1 } else { year };
        }
    } else if r.century != 0 {
        year_given = true;
        let first = if century >= 0 { (i64::from(century) - 1) * 100 + 1 } else { i64::from(century) * 100 + 1 };
        civil.year = far_year(first);
    }
    let set_date = |civil: &mut Civil, days: i64| {
        let (year, month, day) = civil_from_days(days);
        *civil = Civil { year, month, day, ..*civil };
    };
    if r.julian != 0 {
        set_date(&mut civil, i64::from(r.julian) - UNIX_EPOCH_JULIAN);
        (year_given, month_given, day_given) = (true, true, true);
    }
    let (mut day_of_year, mut day) = (r.day_of_year, r.day);
    let iso = r.convention == Some(Convention::Iso);
    if r.week != 0 {
        if iso {
            if r.weekday != 0 {
                let (year, month, day) = iso_date(civil.year, r.week, r.weekday);
                civil = Civil { year, month, day, ..civil };
            } else {
                let monday = iso_week_start(civil.year, r.week);
                set_date(&mut civil, monday);
            }
            (year_given, month_given, day_given) = (true, true, true);
        } else {
            day_of_year = r.week.checked_sub(1).and_then(|w| w.checked_mul(7)).and_then(|d| d.checked_add(1)).ok_or_else(overflow)?;
        }
    }
    if r.week_of_month != 0 {
        day = r.week_of_month.checked_sub(1).and_then(|w| w.checked_mul(7)).and_then(|d| d.checked_add(1)).ok_or_else(overflow)?;
    }
    if day != 0 {
        civil.day = day;
        day_given = true;
    }
    if r.month != 0 {
        civil.month = r.month;
        month_given = true;
    }
    if day_of_year != 0 && (civil.month <= 1 || civil.day <= 1) {
        if civil.year == 0 && r.bc == 0 {
            return Err(invalid("cannot calculate day of year without year information"));
        }
        if iso {
            let first = iso_week_start(civil.year, 1);
            set_date(&mut civil, first - 1 + i64::from(day_of_year));
            year_given = true;
        } else {
            let mut month = 1;
            let mut before = 0;
            while month < 13 {
                let days = if month > 12 { 0 } else { days_in_month(civil.year, month) };
                if day_of_year <= before + days {
                    break;
                }
                before += days;
                month += 1;
            }
            if civil.month <= 1 {
                civil.month = month;
            }
            if civil.day <= 1 {
                civil.day = day_of_year - before;
            }
        }
        (month_given, day_given) = (true, true);
    }
    let micros = r.millis.checked_mul(1000).and_then(|micros| micros.checked_add(r.micros)).ok_or_else(overflow)?;
    let bad_month = month_given && !(1..=12).contains(&civil.month);
    let bad_day = day_given && !(1..=31).contains(&civil.day);
    let all = year_given && month_given && day_given;
    if bad_month || bad_day || (all && civil.day > days_in_month(civil.year, civil.month)) {
        return Err(overflow());
    }
    let time_in_range = (0..24).contains(&civil.hour)
        && (0..60).contains(&civil.minute)
        && (0..60).contains(&civil.second)
        && (0..1_000_000).contains(&micros);
    if !time_in_range {
        return Err(overflow());
    }
    civil.micros = micros;
    let mut offset = None;
    if r.zone_sign != 0 {
        if !(0..=15).contains(&r.zone_hour) || !(0..60).contains(&r.zone_minute) {
            return Err(Fault::Displacement.error("timestamp", text));
        }
        offset = Some(r.zone_sign * (r.zone_hour * 3600 + r.zone_minute * 60));
    }
    Ok(Moment { civil, offset, precision: r.precision })
}
