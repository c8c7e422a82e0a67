//! Templates of `to_char`, `to_date` and `to_timestamp` for dates and times, parsed once.
//!
//! A template is a list of [`Node`]s: fields, and the characters between them. Field names are matched at each place, the longest
//! of those that begin there first; text in double quotes is taken as it stands.

/// A field of a template.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Field {
    /// `AD`, with dots or without.
    Era {
        dots: bool,
    },
    /// `AM`.
    Meridian {
        dots: bool,
    },
    Century,
    DayName,
    DayShort,
    DayOfYear,
    DayOfMonth,
    DayOfWeek,
    IsoDayOfYear,
    IsoDayOfWeek,
    IsoWeek,
    /// `IYYY` to `I`, by how many digits.
    IsoYear(u8),
    /// `YYYY` to `Y`.
    Year(u8),
    /// `Y,YYY`.
    YearComma,
    /// `FF1` to `FF6`.
    Fraction(u8),
    Exact,
    Hour24,
    Hour12,
    Julian,
    Minute,
    Month,
    MonthName,
    MonthShort,
    Millisecond,
    Offset,
    Quarter,
    RomanMonth,
    SecondOfDay,
    Second,
    ZoneHour,
    ZoneMinute,
    ZoneName,
    Microsecond,
    WeekOfYear,
    WeekOfMonth,
}

/// How the letters of a field's text are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Case {
    Upper,
    Capital,
    Lower,
}

/// Which calendar a field counts by; a template to be read may not mix them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Convention {
    Any,
    Gregorian,
    Iso,
}

/// A field with its modifiers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Action {
    pub field: Field,
    pub case: Case,
    /// The name as it stands in the template.
    pub name: &'static str,
    /// `FM`: no padding.
    pub fill: bool,
    /// `TM`: names without padding.
    pub translate: bool,
    /// `th` or `TH` behind.
    pub ordinal: Option<Case>,
}

/// A part of a template.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Node {
    Action(Action),
    /// Punctuation.
    Separator(char),
    Space(char),
    Char(char),
}

impl Field {
    /// Whether input of the field is digits only, which decides how far the number before it reaches.
    #[must_use]
    pub fn is_digit(self) -> bool {
        !matches!(
            self,
            Field::Era { .. }
                | Field::Meridian { .. }
                | Field::DayName
                | Field::DayShort
                | Field::Exact
                | Field::MonthName
                | Field::MonthShort
                | Field::Offset
                | Field::RomanMonth
                | Field::ZoneName
                | Field::ZoneHour
        )
    }

    #[must_use]
    pub fn convention(self) -> Convention {
        match self {
            Field::DayOfYear
            | Field::DayOfMonth
            | Field::DayOfWeek
            | Field::Month
            | Field::MonthName
            | Field::MonthShort
            | Field::RomanMonth
            | Field::WeekOfYear
            | Field::WeekOfMonth
            | Field::Year(_)
            | Field::YearComma => Convention::Gregorian,
            Field::IsoDayOfYear | Field::IsoDayOfWeek | Field::IsoWeek | Field::IsoYear(_) => Convention::Iso,
            _ => Convention::Any,
        }
    }
}

/// Names of fields in upper case, longer ones before those they start with.
const UPPER: [(&str, Field); 52] = [
    ("A.D.", Field::Era { dots: true }),
    ("A.M.", Field::Meridian { dots: true }),
    ("AD", Field::Era { dots: false }),
    ("AM", Field::Meridian { dots: false }),
    ("B.C.", Field::Era { dots: true }),
    ("BC", Field::Era { dots: false }),
    ("CC", Field::Century),
    ("DAY", Field::DayName),
    ("DDD", Field::DayOfYear),
    ("DD", Field::DayOfMonth),
    ("DY", Field::DayShort),
    ("D", Field::DayOfWeek),
    ("FF1", Field::Fraction(1)),
    ("FF2", Field::Fraction(2)),
    ("FF3", Field::Fraction(3)),
    ("FF4", Field::Fraction(4)),
    ("FF5", Field::Fraction(5)),
    ("FF6", Field::Fraction(6)),
    ("FX", Field::Exact),
    ("HH24", Field::Hour24),
    ("HH12", Field::Hour12),
    ("HH", Field::Hour12),
    ("IDDD", Field::IsoDayOfYear),
    ("ID", Field::IsoDayOfWeek),
    ("IW", Field::IsoWeek),
    ("IYYY", Field::IsoYear(4)),
    ("IYY", Field::IsoYear(3)),
    ("IY", Field::IsoYear(2)),
    ("I", Field::IsoYear(1)),
    ("J", Field::Julian),
    ("MI", Field::Minute),
    ("MM", Field::Month),
    ("MONTH", Field::MonthName),
    ("MON", Field::MonthShort),
    ("MS", Field::Millisecond),
    ("OF", Field::Offset),
    ("P.M.", Field::Meridian { dots: true }),
    ("PM", Field::Meridian { dots: false }),
    ("Q", Field::Quarter),
    ("RM", Field::RomanMonth),
    ("SSSSS", Field::SecondOfDay),
    ("SSSS", Field::SecondOfDay),
    ("SS", Field::Second),
    ("TZH", Field::ZoneHour),
    ("TZM", Field::ZoneMinute),
    ("TZ", Field::ZoneName),
    ("US", Field::Microsecond),
    ("WW", Field::WeekOfYear),
    ("W", Field::WeekOfMonth),
    ("Y,YYY", Field::YearComma),
    ("YYYY", Field::Year(4)),
    ("YYY", Field::Year(3)),
];
const UPPER_SHORT: [(&str, Field); 2] = [("YY", Field::Year(2)), ("Y", Field::Year(1))];

/// Names with a capital only.
const CAPITAL: [(&str, Field); 4] =
    [("Day", Field::DayName), ("Dy", Field::DayShort), ("Month", Field::MonthName), ("Mon", Field::MonthShort)];

/// The field whose name a text starts with, its letters' case, and its name.
fn field_at(text: &str) -> Option<(Field, Case, &'static str, usize)> {
    if let Some((name, field)) = CAPITAL.iter().find(|(name, _)| text.starts_with(name)) {
        return Some((*field, Case::Capital, name, name.len()));
    }
    let upper = || UPPER.iter().chain(&UPPER_SHORT);
    if let Some((name, field)) = upper().find(|(name, _)| text.starts_with(name)) {
        return Some((*field, Case::Upper, name, name.len()));
    }
    let lower = |name: &str| {
        text.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name) && !head.bytes().any(|c| c.is_ascii_uppercase()))
    };
    let (name, field) = upper().find(|(name, _)| lower(name))?;
    Some((*field, Case::Lower, LOWER_NAMES.iter().find(|lower| lower.eq_ignore_ascii_case(name)).copied().unwrap_or(name), name.len()))
}

/// Lower-case names, for messages about them.
const LOWER_NAMES: [&str; 54] = [
    "a.d.", "a.m.", "ad", "am", "b.c.", "bc", "cc", "day", "ddd", "dd", "dy", "d", "ff1", "ff2", "ff3", "ff4", "ff5", "ff6", "fx", "hh24",
    "hh12", "hh", "iddd", "id", "iw", "iyyy", "iyy", "iy", "i", "j", "mi", "mm", "month", "mon", "ms", "of", "p.m.", "pm", "q", "rm",
    "sssss", "ssss", "ss", "tzh", "tzm", "tz", "us", "ww", "w", "y,yyy", "yyyy", "yyy", "yy", "y",
];

/// Whether a character between fields is punctuation.
#[must_use]
pub fn is_separator(c: char) -> bool {
    c.is_ascii_graphic() && !c.is_ascii_alphanumeric()
}

/// White space as C has it.
#[must_use]
pub fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t'..='\r')
}

/// The characters of a text in double quotes that begins here (the quote is passed), each given to `push`; returns the rest.
pub fn quoted(text: &str, mut push: impl FnMut(char)) -> &str {
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            '\\' => push(chars.next().unwrap_or('\\')),
            c => push(c),
        }
    }
    chars.as_str()
}

/// Parses a template. Every text is one.
#[must_use]
pub fn parse(text: &str) -> Vec<Node> {
    let mut nodes = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (mut fill, mut translate) = (false, false);
        // One prefix counts; it is dropped when no field follows.
        if rest.starts_with("FM") || rest.starts_with("fm") {
            fill = true;
            rest = rest.get(2..).unwrap_or("");
        } else if rest.starts_with("TM") || rest.starts_with("tm") {
            translate = true;
            rest = rest.get(2..).unwrap_or("");
        }
        if let Some((field, case, name, length)) = field_at(rest) {
            rest = rest.get(length..).unwrap_or("");
            let mut ordinal = None;
            for (suffix, value) in [("TH", Some(Case::Upper)), ("th", Some(Case::Lower)), ("SP", None)] {
                if let Some(after) = rest.strip_prefix(suffix) {
                    (ordinal, rest) = (value, after);
                    break;
                }
            }
            nodes.push(Node::Action(Action { field, case, name, fill, translate, ordinal }));
            continue;
        }
        let Some(first) = rest.chars().next() else { break };
        if first == '"' {
            rest = quoted(rest.get(1..).unwrap_or(""), |c| nodes.push(Node::Char(c)));
            continue;
        }
        // A backslash only escapes a double quote here.
        let c = if rest.starts_with("\\\"") {
            rest = rest.get(1..).unwrap_or("");
            '"'
        } else {
            first
        };
        rest = rest.get(c.len_utf8()..).unwrap_or("");
        nodes.push(if is_separator(c) {
            Node::Separator(c)
        } else if is_blank(c) {
            Node::Space(c)
        } else {
            Node::Char(c)
        });
    }
    nodes
}
