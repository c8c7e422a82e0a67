//! Templates of `to_char` and `to_number` for numbers: their patterns, and numbers written by them.
//!
//! A number comes as its digits, rounded to the places of the template; the patterns are then filled from the left, each digit
//! position once. Next: [`super::number_in`].

use super::date_out::ordinal_ending;
use super::template::quoted;
use crate::error::{PgError, PgResult};
use crate::sqlstate::SqlState;
use crate::values::numeric::Numeric;

/// A pattern of a template.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pattern {
    Nine,
    Zero,
    /// `,`
    Comma,
    /// `.`
    Point,
    /// `D`
    Decimal,
    /// `G`
    Group,
    /// `L`
    Currency,
    /// `MI`
    Minus,
    /// `PL`
    Plus,
    /// `SG`
    Sign,
    Roman {
        upper: bool,
    },
    Ordinal {
        upper: bool,
    },
    /// Patterns that only change how others are written: `B`, `C`, `EEEE`, `FM`, `PR`, `S`, `SP`, `V`.
    Silent,
    /// Any other character.
    Char(char),
}

/// Where the sign `S` is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Anchor {
    #[default]
    None,
    Before,
    After,
}

/// A parsed template.
#[derive(Clone, Debug, Default)]
pub struct Template {
    pub patterns: Vec<Pattern>,
    /// Digits before the point, and behind it.
    pub pre: usize,
    pub post: usize,
    /// Digits behind `V`.
    pub multi: usize,
    /// Digits before the sign `S`.
    sign_at: usize,
    pub anchor: Anchor,
    /// The first and last digit positions that are zeros.
    zero_start: usize,
    zero_end: usize,
    pub decimal: bool,
    zero: bool,
    blank: bool,
    pub fill: bool,
    pub anchored: bool,
    pub bracket: bool,
    pub minus: bool,
    pub plus: bool,
    pub roman: bool,
    pub has_multi: bool,
    pub scientific: bool,
}

fn syntax(message: &str) -> PgError {
    PgError::new(SqlState::SYNTAX_ERROR, message)
}

impl Template {
    /// Parses a template; 42601 for patterns that do not go together.
    pub fn parse(text: &str) -> PgResult<Template> {
        let mut t = Template::default();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            if let Some(length) = t.pattern(rest)? {
                rest = rest.get(length..).unwrap_or("");
                continue;
            }
            if first == '"' {
                rest = quoted(rest.get(1..).unwrap_or(""), |c| t.patterns.push(Pattern::Char(c)));
                continue;
            }
            let c = if rest.starts_with("\\\"") {
                rest = rest.get(1..).unwrap_or("");
                '"'
            } else {
                first
            };
            rest = rest.get(c.len_utf8()..).unwrap_or("");
            t.patterns.push(Pattern::Char(c));
        }
        Ok(t)
    }

    /// Takes the pattern at the start of a text; its length.
    fn pattern(&mut self, text: &str) -> PgResult<Option<usize>> {
        // Names stand in one case.
        let is = |name: &str| text.starts_with(name) || text.starts_with(&name.to_ascii_lowercase());
        const NAMES: [&str; 20] =
            [",", ".", "0", "9", "B", "C", "D", "EEEE", "FM", "G", "L", "MI", "PL", "PR", "RN", "SG", "SP", "S", "TH", "V"];
        let Some(name) = NAMES.into_iter().find(|name| is(name)) else { return Ok(None) };
        let upper = text.starts_with(name);
        if self.scientific && name != "EEEE" {
            return Err(syntax("\"EEEE\" must be the last pattern used"));
        }
        let any_sign = self.plus || self.minus;
        let pattern = match name {
            "9" => {
                if self.bracket {
                    return Err(syntax("\"9\" must be ahead of \"PR\""));
                }
                if self.has_multi {
                    self.multi += 1;
                } else if self.decimal {
                    self.post += 1;
                } else {
                    self.pre += 1;
                }
                Pattern::Nine
            }
            "0" => {
                if self.bracket {
                    return Err(syntax("\"0\" must be ahead of \"PR\""));
                }
                if !self.zero && !self.decimal {
                    self.zero = true;
                    self.zero_start = self.pre + 1;
                }
                if self.decimal {
                    self.post += 1;
                } else {
                    self.pre += 1;
                }
                self.zero_end = self.pre + self.post;
                Pattern::Zero
            }
            "B" => {
                if self.pre == 0 && self.post == 0 && !self.zero {
                    self.blank = true;
                }
                Pattern::Silent
            }
            "D" | "." => {
                if self.decimal {
                    return Err(syntax("multiple decimal points"));
                }
                if self.has_multi {
                    return Err(syntax("cannot use \"V\" and decimal point together"));
                }
                self.decimal = true;
                if name == "D" { Pattern::Decimal } else { Pattern::Point }
            }
            "FM" => {
                self.fill = true;
                Pattern::Silent
            }
            "S" => {
                if self.anchored {
                    return Err(syntax("cannot use \"S\" twice"));
                }
                if any_sign || self.bracket {
                    return Err(syntax("cannot use \"S\" and \"PL\"/\"MI\"/\"SG\"/\"PR\" together"));
                }
                if !self.decimal {
                    self.anchor = Anchor::Before;
                    self.sign_at = self.pre;
                    self.anchored = true;
                } else if self.anchor == Anchor::None {
                    self.anchor = Anchor::After;
                    self.anchored = true;
                }
                Pattern::Silent
            }
            "MI" => {
                if self.anchored {
                    return Err(syntax("cannot use \"S\" and \"MI\" together"));
                }
                self.minus = true;
                Pattern::Minus
            }
            "PL" => {
                if self.anchored {
                    return Err(syntax("cannot use \"S\" and \"PL\" together"));
                }
                self.plus = true;
                Pattern::Plus
            }
            "SG" => {
                if self.anchored {
                    return Err(syntax("cannot use \"S\" and \"SG\" together"));
                }
                (self.minus, self.plus) = (true, true);
                Pattern::Sign
            }
            "PR" => {
                if self.anchored || any_sign {
                    return Err(syntax("cannot use \"PR\" and \"S\"/\"PL\"/\"MI\"/\"SG\" together"));
                }
                self.bracket = true;
                Pattern::Silent
            }
            "RN" => {
                self.roman = true;
                Pattern::Roman { upper }
            }
            "V" => {
                if self.decimal {
                    return Err(syntax("cannot use \"V\" and decimal point together"));
                }
                self.has_multi = true;
                Pattern::Silent
            }
            "EEEE" => {
                if self.scientific {
                    return Err(syntax("cannot use \"EEEE\" twice"));
                }
                let other = self.blank || self.fill || self.anchored || self.bracket || any_sign || self.roman || self.has_multi;
                if other {
                    return Err(syntax("\"EEEE\" is incompatible with other formats")
                        .detail("\"EEEE\" may only be used together with digit and decimal point patterns."));
                }
                self.scientific = true;
                Pattern::Silent
            }
            "," => Pattern::Comma,
            "G" => Pattern::Group,
            "L" => Pattern::Currency,
            "TH" => Pattern::Ordinal { upper },
            _ => Pattern::Silent,
        };
        self.patterns.push(pattern);
        Ok(Some(name.len()))
    }

    /// Digits before the point once `V` has moved it.
    fn whole_digits(&self) -> usize {
        if self.has_multi { self.pre + self.multi } else { self.pre }
    }
}

/// A number as a template takes it: its sign, and digits with perhaps a point, or `#`s, or a Roman numeral.
struct Digits {
    negative: bool,
    text: String,
    /// Digit positions before the first digit.
    blanks: usize,
    post: usize,
}

impl Digits {
    /// From a decimal text with its sign.
    fn new(t: &Template, text: &str, post: usize) -> Digits {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let whole = text.find('.').unwrap_or(text.len());
        let pre = t.whole_digits();
        let text = if whole > pre {
            // Too many digits: none is shown.
            let mut marks = "#".repeat(pre + post + 1);
            marks.replace_range(pre..=pre, ".");
            marks
        } else {
            text.to_string()
        };
        Digits { negative, text, blanks: pre.saturating_sub(whole), post }
    }
}

/// Writes an integer.
pub fn write_int(t: &Template, value: i64, is_int4: bool) -> PgResult<String> {
    let overflow = || PgError::out_of_range(if is_int4 { "integer" } else { "bigint" });
    if t.roman {
        return Ok(fill_roman(t, &roman(i32::try_from(value).map_err(|_| PgError::out_of_range("integer"))?)));
    }
    if t.scientific {
        return Ok(if is_int4 { float_scientific(t, value as f64) } else { numeric_scientific(t, &Numeric::from_i64(value)) });
    }
    let mut value = value;
    if t.has_multi {
        let scale = u32::try_from(t.multi).ok().and_then(|n| 10_i64.checked_pow(n)).ok_or_else(overflow)?;
        value = value.checked_mul(scale).ok_or_else(overflow)?;
        if is_int4 && (i32::try_from(scale).is_err() || i32::try_from(value).is_err()) {
            return Err(overflow());
        }
    }
    let mut text = value.to_string();
    let fits = text.trim_start_matches('-').len() <= t.whole_digits();
    if t.post > 0 && fits {
        text.push('.');
        text.extend(std::iter::repeat_n('0', t.post));
    }
    fill(t, Digits::new(t, &text, t.post))
}

/// Writes a numeric.
pub fn write_numeric(t: &Template, value: &Numeric) -> PgResult<String> {
    if t.roman {
        return Ok(fill_roman(t, &roman(value.round(0).to_i32()?)));
    }
    if t.scientific {
        return Ok(numeric_scientific(t, value));
    }
    let places = i32::try_from(t.post).unwrap_or(i32::MAX);
    let rounded = if t.has_multi { value.mul(&Numeric::parse(&format!("1e{}", t.multi))?)?.round(places) } else { value.round(places) };
    fill(t, Digits::new(t, &rounded.to_string(), t.post))
}

/// Digits that a real surely holds, and a double precision.
pub const SIGNIFICANT_FLOAT4: usize = 6;
pub const SIGNIFICANT_FLOAT8: usize = 15;

/// Writes a float of so many significant digits.
pub fn write_float(t: &Template, value: f64, significant: usize) -> PgResult<String> {
    if t.roman {
        // What is beyond an integer has no numeral either; NaN becomes 0.
        return Ok(fill_roman(t, &roman(value.round_ties_even() as i32)));
    }
    if t.scientific {
        return Ok(float_scientific(t, value));
    }
    let value = if t.has_multi {
        let moved = value * 10_f64.powi(i32::try_from(t.multi).unwrap_or(i32::MAX));
        // The product is a value of the same type.
        if significant == SIGNIFICANT_FLOAT4 { f64::from(moved as f32) } else { moved }
    } else {
        value
    };
    let text = |value: f64, places: usize| {
        if value.is_nan() {
            "NaN".to_string()
        } else if value.is_infinite() {
            if value < 0.0 { "-Infinity".into() } else { "Infinity".into() }
        } else {
            format!("{value:.places$}")
        }
    };
    // A float has no more digits than it can hold.
    let whole = text(value.abs(), 0).len();
    let post = if whole >= significant { 0 } else { t.post.min(significant - whole) };
    fill(t, Digits::new(t, &text(value, post), post))
}

/// A Roman numeral; `#`s beyond 1 to 3999.
fn roman(value: i32) -> String {
    const STEPS: [(i32, &str); 13] = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    if !(1..=3999).contains(&value) {
        return "#".repeat(15);
    }
    let mut rest = value;
    let mut text = String::new();
    for (step, letters) in STEPS {
        while rest >= step {
            text.push_str(letters);
            rest -= step;
        }
    }
    text
}

/// The patterns around a numeral are written as without a number.
fn fill_roman(t: &Template, numeral: &str) -> String {
    let mut out = String::new();
    for pattern in &t.patterns {
        match pattern {
            Pattern::Roman { upper } => {
                let numeral = if *upper { numeral.to_string() } else { numeral.to_ascii_lowercase() };
                out.push_str(&if t.fill { numeral } else { format!("{numeral:>15}") });
            }
            Pattern::Char(c) => out.push(*c),
            // A numeral has no sign, and PostgreSQL's text ends at one.
            Pattern::Sign => break,
            Pattern::Comma | Pattern::Group | Pattern::Minus | Pattern::Plus if !t.fill => out.push(' '),
            Pattern::Currency => out.push(' '),
            _ => {}
        }
    }
    out
}

/// Marks in place of a number that has no digits.
fn scientific_marks(pre: usize, post: usize) -> String {
    let mut marks = "#".repeat(pre + post + 6);
    marks.replace_range(0..1, " ");
    marks.replace_range(pre + 1..pre + 2, ".");
    marks
}

fn float_scientific(t: &Template, value: f64) -> String {
    let post = t.post;
    if !value.is_finite() {
        return scientific_marks(t.pre, post);
    }
    let text = format!("{value:.post$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let blank = if digits.starts_with('-') { "" } else { " " };
    format!("{blank}{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

fn numeric_scientific(t: &Template, value: &Numeric) -> String {
    let post = t.post;
    if !value.is_finite() {
        return scientific_marks(t.pre, post);
    }
    let text = value.abs().to_string();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let digits: String = whole.chars().chain(fraction.chars()).collect();
    let first = digits.find(|c| c != '0');
    let exponent = first.map_or(0, |first| whole.len() as i64 - 1 - first as i64);
    // The digits from the first, with a point behind it, rounded.
    let significant = first.and_then(|first| digits.get(first..)).unwrap_or("0");
    let (head, tail) = significant.split_at(significant.len().min(1));
    // One digit more decides how it is rounded.
    let tail = tail.get(..=post).unwrap_or(tail);
    let mantissa = Numeric::parse(&format!("{head}.{tail}0")).unwrap_or_else(|_| Numeric::from_i64(0));
    let mantissa = mantissa.round(i32::try_from(post).unwrap_or(i32::MAX));
    let sign = if value.signum() < 0 { "-" } else { " " };
    format!("{sign}{mantissa}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

/// What has been written of a number.
struct Filler<'a> {
    t: &'a Template,
    d: &'a Digits,
    digits: &'a [u8],
    out: String,
    /// The next digit.
    at: usize,
    /// The digit position of the template.
    position: usize,
    /// How many there are less one, with one for a sign that is written before them.
    count: isize,
    /// The last digit that `FM` keeps.
    last: Option<usize>,
    sign_written: bool,
    in_number: bool,
    ended: bool,
    anchor: Anchor,
    bracket: bool,
    zero_start: usize,
}

fn fill(t: &Template, d: Digits) -> PgResult<String> {
    let mut anchor = t.anchor;
    let sign_written = if t.plus || t.minus {
        // MI, PL and SG write the sign themselves; PL alone leaves the minus to the number.
        !t.plus || t.minus
    } else {
        if anchor == Anchor::Before && t.whole_digits() == t.sign_at {
            anchor = Anchor::After;
        }
        !d.negative && t.fill && !t.anchored
    };
    let digits = d.text.as_bytes();
    let bracket = t.bracket && (!t.fill || d.negative || t.plus || t.minus);
    let mut last = None;
    if t.fill
        && t.decimal
        && let Some(point) = digits.iter().position(|c| *c == b'.')
    {
        let significant = digits.iter().enumerate().skip(point + 1).filter(|(_, c)| **c != b'0').map(|(i, _)| i).next_back();
        last = Some(significant.unwrap_or(point));
        if t.zero_end > d.blanks {
            let zero = (digits.len() - 1).min(t.zero_end - d.blanks);
            last = last.max(Some(zero));
        }
    }
    let count = (d.post + t.whole_digits()) as isize - 1 + isize::from(!sign_written && d.blanks == 0);
    let mut filler = Filler {
        t,
        d: &d,
        digits,
        out: String::with_capacity(t.patterns.len() + 8),
        at: 0,
        position: 0,
        count,
        last,
        sign_written,
        in_number: false,
        ended: false,
        anchor,
        bracket,
        zero_start: t.zero_start.saturating_sub(1),
    };
    for pattern in &t.patterns {
        filler.pattern(*pattern)?;
        if filler.ended {
            break;
        }
    }
    Ok(filler.out)
}

impl Filler<'_> {
    fn pattern(&mut self, pattern: Pattern) -> PgResult<()> {
        let negative = self.d.negative;
        let blank_unless_fill = |out: &mut String, fill: bool| {
            if !fill {
                out.push(' ');
            }
        };
        match pattern {
            Pattern::Nine | Pattern::Zero | Pattern::Point | Pattern::Decimal => self.digit(pattern),
            Pattern::Comma | Pattern::Group => {
                if self.in_number {
                    self.out.push(',');
                } else {
                    blank_unless_fill(&mut self.out, self.t.fill);
                }
            }
            Pattern::Currency => self.out.push(' '),
            Pattern::Minus => {
                if negative {
                    self.out.push('-');
                } else {
                    blank_unless_fill(&mut self.out, self.t.fill);
                }
            }
            Pattern::Plus => {
                if negative {
                    blank_unless_fill(&mut self.out, self.t.fill);
                } else {
                    self.out.push('+');
                }
            }
            Pattern::Sign => self.out.push(if negative { '-' } else { '+' }),
            Pattern::Ordinal { upper } => {
                if !(self.d.text.starts_with('#') || negative || self.t.decimal) {
                    if !self.d.text.ends_with(|c: char| c.is_ascii_digit()) {
                        let text = &self.d.text;
                        return Err(PgError::new(SqlState::INVALID_TEXT_REPRESENTATION, format!("\"{text}\" is not a number")));
                    }
                    self.out.push_str(ordinal_ending(&self.d.text, upper));
                }
            }
            Pattern::Roman { .. } | Pattern::Silent => {}
            Pattern::Char(c) => self.out.push(c),
        }
        Ok(())
    }

    /// Whether a leading `0` is left away: `9.9` writes 0.1 as ` .1`.
    fn leading_zero(&self) -> bool {
        !self.t.zero && self.at == 0 && self.digits.first() == Some(&b'0') && self.d.post != 0
    }

    fn last_is_point(&self) -> bool {
        self.last.is_some_and(|last| self.digits.get(last) == Some(&b'.'))
    }

    fn write_sign(&mut self) {
        let negative = self.d.negative;
        if self.t.anchored {
            if self.anchor == Anchor::Before {
                self.out.push(if negative { '-' } else { '+' });
                self.sign_written = true;
            }
        } else if self.bracket {
            self.out.push(if negative { '<' } else { ' ' });
            self.sign_written = true;
        } else {
            if negative {
                self.out.push('-');
            } else if !self.t.fill {
                self.out.push(' ');
            }
            self.sign_written = true;
        }
    }

    fn digit(&mut self, pattern: Pattern) {
        let t = self.t;
        let zero_here = t.zero && self.zero_start <= self.position;
        self.in_number = false;
        if !self.sign_written
            && (self.position >= self.d.blanks || (t.zero && self.zero_start == self.position))
            && (!self.leading_zero() || self.last_is_point())
        {
            self.write_sign();
        }
        if self.position < self.d.blanks && !zero_here {
            if !t.fill {
                self.out.push(' ');
            }
        } else if self.position < self.d.blanks {
            self.out.push('0');
            self.in_number = true;
        } else {
            match self.digits.get(self.at) {
                Some(b'.') => {
                    if !self.last_is_point() || t.fill {
                        self.out.push('.');
                    }
                }
                digit => {
                    if self.last.is_some_and(|last| self.at > last) && pattern != Pattern::Zero {
                    } else if self.leading_zero() {
                        if !t.fill {
                            self.out.push(' ');
                        } else if self.last_is_point() {
                            self.out.push('0');
                        }
                    } else {
                        match digit {
                            Some(digit) => self.out.push(*digit as char),
                            // A float has no more digits: its text ends here.
                            None => {
                                self.ended = true;
                                return;
                            }
                        }
                        self.in_number = true;
                    }
                }
            }
            if self.at < self.digits.len() {
                self.at += 1;
            }
        }
        let mut end = self.count + isize::from(self.d.blanks > 0) + isize::from(t.decimal);
        let position = self.position as isize;
        if self.last.is_some_and(|last| last == self.at) {
            end = position;
        }
        if position + 1 == end {
            if self.sign_written && self.bracket {
                self.out.push(if self.d.negative { '>' } else { ' ' });
            } else if t.anchored && self.anchor == Anchor::After {
                self.out.push(if self.d.negative { '-' } else { '+' });
            }
        }
        self.position += 1;
    }
}
