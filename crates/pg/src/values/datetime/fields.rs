//! Cuts the text of a date, time or interval into fields, and knows the words that may stand in them.
//!
//! A field is a run of characters of one [`Kind`]; its letters are folded to lower case. What a field means depends on those
//! around it: [`super::parse`] and [`crate::values::interval`] decide that.

use crate::error::PgError;
use crate::sqlstate::SqlState;

/// What a field looks like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Digits, perhaps with one decimal point.
    Number,
    /// Letters, perhaps after a sign.
    Word,
    /// Digits and separators of a date, or a zone's name with separators.
    Date,
    /// Digits with colons.
    Time,
    /// A sign and digits.
    Signed,
}

/// Why a text is not a value.
#[derive(Debug, PartialEq, Eq)]
pub enum Fault {
    Format,
    /// A field is out of its range.
    Field,
    /// A month or day is out of its range, perhaps for another order of fields.
    MonthDay,
    Displacement,
    /// No zone of this name.
    Zone(String),
}

impl Fault {
    /// The error for a whole text that should have been of a type.
    #[must_use]
    pub fn error(self, type_name: &str, text: &str) -> PgError {
        let out_of_range = || PgError::new(SqlState::DATETIME_FIELD_OVERFLOW, format!("date/time field value out of range: \"{text}\""));
        match self {
            Fault::Format => {
                PgError::new(SqlState::INVALID_DATETIME_FORMAT, format!("invalid input syntax for type {type_name}: \"{text}\""))
            }
            Fault::Field if type_name == "interval" => {
                PgError::new(SqlState::INTERVAL_FIELD_OVERFLOW, format!("interval field value out of range: \"{text}\""))
            }
            Fault::Field => out_of_range(),
            Fault::MonthDay => out_of_range().hint("Perhaps you need a different \"datestyle\" setting."),
            Fault::Displacement => {
                PgError::new(SqlState::INVALID_TIME_ZONE_DISPLACEMENT_VALUE, format!("time zone displacement out of range: \"{text}\""))
            }
            Fault::Zone(name) => crate::values::timezone::not_recognized(&name),
        }
    }
}

/// The fields of a text, in its order.
#[derive(Debug, Default)]
pub struct Fields {
    buffer: String,
    items: Vec<(Kind, usize, usize)>,
}

/// More fields than any value has.
const MAX_FIELDS: usize = 25;

/// White space as C's `isspace` has it.
#[must_use]
pub fn is_space(c: u8) -> bool {
    matches!(c, b' ' | b'\t'..=b'\r')
}

struct Cutter<'a> {
    text: &'a [u8],
    at: usize,
    buffer: String,
}

impl Cutter<'_> {
    fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    /// Moves the next character to the buffer.
    fn take(&mut self) {
        self.buffer.push(self.peek().to_ascii_lowercase() as char);
        self.at += 1;
    }

    fn take_while(&mut self, accept: impl Fn(u8) -> bool) {
        while self.at < self.text.len() && accept(self.peek()) {
            self.take();
        }
    }

    fn field(&mut self) -> Result<Option<Kind>, Fault> {
        let start = self.buffer.len();
        let c = self.peek();
        if c.is_ascii_digit() {
            self.take_while(|c| c.is_ascii_digit());
            return Ok(Some(match self.peek() {
                b':' => {
                    self.take_while(|c| c.is_ascii_digit() || c == b':' || c == b'.');
                    Kind::Time
                }
                separator @ (b'-' | b'/' | b'.') => {
                    self.take();
                    if !self.peek().is_ascii_digit() {
                        self.take_while(|c| c.is_ascii_alphanumeric() || c == separator);
                        return Ok(Some(Kind::Date));
                    }
                    self.take_while(|c| c.is_ascii_digit());
                    // A date of three parts has one separator.
                    if self.peek() == separator {
                        self.take_while(|c| c.is_ascii_digit() || c == separator);
                        Kind::Date
                    } else if separator == b'.' {
                        Kind::Number
                    } else {
                        Kind::Date
                    }
                }
                _ => Kind::Number,
            }));
        }
        match c {
            b'.' => {
                self.take();
                self.take_while(|c| c.is_ascii_digit());
                Ok(Some(Kind::Number))
            }
            b'+' | b'-' => {
                self.take();
                while is_space(self.peek()) {
                    self.at += 1;
                }
                if self.peek().is_ascii_digit() {
                    self.take_while(|c| c.is_ascii_digit() || matches!(c, b':' | b'.' | b'-'));
                    Ok(Some(Kind::Signed))
                } else if self.peek().is_ascii_alphabetic() {
                    self.take_while(|c| c.is_ascii_alphabetic());
                    Ok(Some(Kind::Word))
                } else {
                    Err(Fault::Format)
                }
            }
            _ if c.is_ascii_alphabetic() => {
                self.take_while(|c| c.is_ascii_alphabetic());
                // A date may have separators and so may a zone's name; but a word that is known ends here.
                let separated = match self.peek() {
                    b'-' | b'/' | b'.' => true,
                    c if c == b'+' || c.is_ascii_digit() => word(self.buffer.get(start..).unwrap_or("")).is_none(),
                    _ => false,
                };
                if separated {
                    self.take_while(|c| c.is_ascii_alphanumeric() || matches!(c, b'+' | b'-' | b'/' | b'_' | b'.' | b':'));
                    Ok(Some(Kind::Date))
                } else {
                    Ok(Some(Kind::Word))
                }
            }
            // Other punctuation only separates.
            _ if c.is_ascii_punctuation() => {
                self.at += 1;
                Ok(None)
            }
            _ => Err(Fault::Format),
        }
    }
}

impl Fields {
    /// Cuts a text whose fields, each with one more, have at most `limit` characters.
    pub fn cut(text: &str, limit: usize) -> Result<Fields, Fault> {
        let mut cutter = Cutter { text: text.as_bytes(), at: 0, buffer: String::with_capacity(text.len().min(limit)) };
        let mut items = Vec::with_capacity(4);
        while cutter.at < cutter.text.len() {
            if is_space(cutter.peek()) {
                cutter.at += 1;
                continue;
            }
            let start = cutter.buffer.len();
            if let Some(kind) = cutter.field()? {
                items.push((kind, start, cutter.buffer.len()));
                if items.len() > MAX_FIELDS || cutter.buffer.len() + items.len() > limit {
                    return Err(Fault::Format);
                }
            }
        }
        Ok(Fields { buffer: cutter.buffer, items })
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    #[must_use]
    pub fn kind(&self, index: usize) -> Option<Kind> {
        self.items.get(index).map(|item| item.0)
    }

    /// The text of a field; empty when there is none.
    #[must_use]
    pub fn text(&self, index: usize) -> &str {
        self.items.get(index).and_then(|item| self.buffer.get(item.1..item.2)).unwrap_or("")
    }
}

/// Units of labelled numbers, of intervals, and of `extract` and `date_trunc`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    Microsecond,
    Millisecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
    Decade,
    Century,
    Millennium,
    IsoYear,
    Dow,
    IsoDow,
    Doy,
    Epoch,
    Julian,
    Timezone,
    TimezoneHour,
    TimezoneMinute,
}

/// What a word means in a date or time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Word {
    Now,
    Today,
    Tomorrow,
    Yesterday,
    Epoch,
    Infinity,
    MinusInfinity,
    /// `allballs`: midnight, UTC.
    Zulu,
    Month(i32),
    DayOfWeek,
    Am,
    Pm,
    Ad,
    Bc,
    /// `dst`: one hour more.
    DaylightSaving,
    /// Labels the number that follows.
    Unit(Unit),
    /// `t` before a time.
    TimeMark,
    /// `at`, `on`.
    Ignored,
}

/// Words that dates and times know, in lower case.
#[must_use]
pub fn word(text: &str) -> Option<Word> {
    use Word as W;
    Some(match text {
        "-infinity" => W::MinusInfinity,
        "infinity" => W::Infinity,
        "epoch" => W::Epoch,
        "now" => W::Now,
        "today" => W::Today,
        "tomorrow" => W::Tomorrow,
        "yesterday" => W::Yesterday,
        "allballs" => W::Zulu,
        "ad" => W::Ad,
        "bc" => W::Bc,
        "am" => W::Am,
        "pm" => W::Pm,
        "at" | "on" => W::Ignored,
        "dst" => W::DaylightSaving,
        "t" => W::TimeMark,
        "jan" | "january" => W::Month(1),
        "feb" | "february" => W::Month(2),
        "mar" | "march" => W::Month(3),
        "apr" | "april" => W::Month(4),
        "may" => W::Month(5),
        "jun" | "june" => W::Month(6),
        "jul" | "july" => W::Month(7),
        "aug" | "august" => W::Month(8),
        "sep" | "sept" | "september" => W::Month(9),
        "oct" | "october" => W::Month(10),
        "nov" | "november" => W::Month(11),
        "dec" | "december" => W::Month(12),
        "sun" | "sunday" | "mon" | "monday" | "tue" | "tues" | "tuesday" | "wed" | "weds" | "wednesday" | "thu" | "thur" | "thurs"
        | "thursday" | "fri" | "friday" | "sat" | "saturday" => W::DayOfWeek,
        "d" => W::Unit(Unit::Day),
        "dow" => W::Unit(Unit::Dow),
        "doy" => W::Unit(Unit::Doy),
        "h" => W::Unit(Unit::Hour),
        "isodow" => W::Unit(Unit::IsoDow),
        "isoyear" => W::Unit(Unit::IsoYear),
        "j" | "jd" | "julian" => W::Unit(Unit::Julian),
        "m" => W::Unit(Unit::Month),
        "mm" => W::Unit(Unit::Minute),
        "s" => W::Unit(Unit::Second),
        "y" => W::Unit(Unit::Year),
        _ => return None,
    })
}

/// Units as intervals, `extract` and `date_trunc` name them, in lower case. Long names count by their first ten letters.
#[must_use]
pub fn unit(text: &str) -> Option<Unit> {
    use Unit as U;
    Some(match text.get(..10).unwrap_or(text) {
        "c" | "cent" | "centuries" | "century" => U::Century,
        "d" | "day" | "days" => U::Day,
        "dec" | "decade" | "decades" | "decs" => U::Decade,
        "h" | "hour" | "hours" | "hr" | "hrs" => U::Hour,
        "m" | "min" | "mins" | "minute" | "minutes" => U::Minute,
        "microsecon" | "us" | "usec" | "usecond" | "useconds" | "usecs" => U::Microsecond,
        "mil" | "millennia" | "millennium" | "mils" => U::Millennium,
        "millisecon" | "ms" | "msec" | "msecond" | "mseconds" | "msecs" => U::Millisecond,
        "mon" | "mons" | "month" | "months" => U::Month,
        "qtr" | "quarter" => U::Quarter,
        "s" | "sec" | "second" | "seconds" | "secs" => U::Second,
        "timezone" => U::Timezone,
        "timezone_h" => U::TimezoneHour,
        "timezone_m" => U::TimezoneMinute,
        "w" | "week" | "weeks" => U::Week,
        "y" | "year" | "years" | "yr" | "yrs" => U::Year,
        _ => return None,
    })
}

/// The digits at the start of a text as a number, and what follows them. A sign may stand before them; no digits are 0.
/// `None` when the number does not fit.
#[must_use]
pub fn leading_int(text: &str) -> Option<(i64, &str)> {
    let (negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, text.get(1..)?),
        Some(b'+') => (false, text.get(1..)?),
        _ => (false, text),
    };
    let end = digits.bytes().position(|c| !c.is_ascii_digit()).unwrap_or(digits.len());
    let (digits, rest) = digits.split_at(end);
    let mut value = 0i64;
    for digit in digits.bytes() {
        let digit = i64::from(digit - b'0');
        value = value.checked_mul(10)?;
        value = if negative { value.checked_sub(digit)? } else { value.checked_add(digit)? };
    }
    Some((value, rest))
}

/// As [`leading_int`], for 32 bits.
#[must_use]
pub fn leading_i32(text: &str) -> Option<(i32, &str)> {
    let (value, rest) = leading_int(text)?;
    Some((i32::try_from(value).ok()?, rest))
}

/// A fraction that starts with its point: `.`, `.5`. Anything else is a fault.
pub fn fraction(text: &str) -> Result<f64, Fault> {
    if text == "." {
        return Ok(0.0);
    }
    match text.strip_prefix('.') {
        Some(digits) if digits.bytes().all(|c| c.is_ascii_digit()) => text.parse().map_err(|_| Fault::Format),
        _ => Err(Fault::Format),
    }
}

/// Microseconds of a fraction of a second, rounded.
pub fn fraction_micros(text: &str) -> Result<i32, Fault> {
    Ok((fraction(text)? * 1e6).round_ties_even() as i32)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn texts_are_cut_into_fields() {
        use Kind::{Date, Number, Signed, Time, Word};
        for (text, wanted) in [
            ("2001-02-03 04:05:06.7-08", vec![(Date, "2001-02-03"), (Time, "04:05:06.7"), (Signed, "-08")]),
            ("January 8, 1999", vec![(Word, "january"), (Number, "8"), (Number, "1999")]),
            ("20010203T040506", vec![(Number, "20010203"), (Word, "t"), (Number, "040506")]),
            ("1999.008 America/New_York", vec![(Number, "1999.008"), (Date, "america/new_york")]),
            ("@ 1 day -2.5h", vec![(Number, "1"), (Word, "day"), (Signed, "-2.5"), (Word, "h")]),
            ("- infinity", vec![(Word, "-infinity")]),
            ("08-Jan-99 .5", vec![(Date, "08-jan-99"), (Number, ".5")]),
            ("J2451187", vec![(Word, "j"), (Number, "2451187")]),
        ] {
            let fields = Fields::cut(text, 150).unwrap();
            let got: Vec<_> = (0..fields.len()).map(|i| (fields.kind(i).unwrap(), fields.text(i))).collect();
            assert_eq!(got, wanted, "{text}");
        }
        assert!(Fields::cut("12 é", 150).is_err() && Fields::cut(&"1 ".repeat(30), 500).is_err());
    }
}
