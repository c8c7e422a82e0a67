//! `to_number`: a number read by a template.

use super::number::{Anchor, Pattern, Template};
use crate::error::{PgError, PgResult};
use crate::types::numeric_typmod_of;
use crate::values::numeric::Numeric;

struct Reader<'a> {
    t: &'a Template,
    text: &'a [u8],
    at: usize,
    negative: Option<bool>,
    digits: String,
    before: usize,
    after: usize,
    point: bool,
}

/// Reads a number; characters that the template does not expect are passed over where it has some, or end the number.
pub fn read(t: &Template, text: &str) -> PgResult<Numeric> {
    if t.scientific {
        return Err(PgError::unsupported("\"EEEE\" not supported for input"));
    }
    if t.roman {
        return Err(PgError::unsupported("\"RN\" not supported for input"));
    }
    let mut r = Reader { t, text: text.as_bytes(), at: 0, negative: None, digits: String::new(), before: 0, after: 0, point: false };
    for pattern in &t.patterns {
        if r.at >= r.text.len() {
            break;
        }
        if r.pattern(*pattern) {
            r.at += 1;
        }
    }
    let sign = match r.negative {
        Some(true) => "-",
        Some(false) => "+",
        None => " ",
    };
    let digits = r.digits.strip_suffix('.').unwrap_or(&r.digits);
    let number = Numeric::parse(&format!("{sign}{digits}"))?;
    let precision = u16::try_from(t.pre + t.multi + r.after).unwrap_or(1000).min(1000);
    let number = number.apply_typmod(numeric_typmod_of(precision, i32::try_from(r.after).unwrap_or(0)))?;
    if !t.has_multi {
        return Ok(number);
    }
    // A power has the digits that PostgreSQL gives it, and so has the result.
    let places = i64::try_from(t.multi).unwrap_or(i64::MAX);
    number.mul(&Numeric::from_i64(10).pow(&Numeric::from_i64(-places))?)
}

impl Reader<'_> {
    fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    fn ended(&self) -> bool {
        self.at >= self.text.len()
    }

    /// Passes over one character.
    fn skip_char(&mut self) {
        self.at += 1;
        while self.text.get(self.at).is_some_and(|c| c & 0xc0 == 0x80) {
            self.at += 1;
        }
    }

    /// Passes over up to `n` characters that are no part of a number.
    fn skip_text(&mut self, n: usize) {
        for _ in 0..n {
            if self.ended() || b"0123456789.,+-".contains(&self.peek()) {
                break;
            }
            self.skip_char();
        }
    }

    /// Reads what a pattern stands for; whether the current character is done with.
    fn pattern(&mut self, pattern: Pattern) -> bool {
        match pattern {
            Pattern::Nine | Pattern::Zero | Pattern::Point | Pattern::Decimal => {
                self.digit(pattern);
                true
            }
            Pattern::Comma | Pattern::Group => {
                // Nothing is in a number yet for a template that fills.
                !self.t.fill && self.peek() == b','
            }
            Pattern::Currency => {
                self.skip_text(1);
                false
            }
            Pattern::Ordinal { .. } => {
                if self.digits.starts_with('#') || self.negative == Some(true) || self.t.decimal {
                    return false;
                }
                self.skip_text(2);
                false
            }
            Pattern::Minus => {
                if self.peek() == b'-' {
                    self.negative = Some(true);
                    return true;
                }
                self.skip_text(1);
                false
            }
            Pattern::Plus => {
                if self.peek() == b'+' {
                    self.negative = Some(false);
                    return true;
                }
                self.skip_text(1);
                false
            }
            Pattern::Sign => match self.peek() {
                sign @ (b'-' | b'+') => {
                    self.negative = Some(sign == b'-');
                    true
                }
                _ => {
                    self.skip_text(1);
                    false
                }
            },
            Pattern::Char(_) => {
                self.skip_char();
                false
            }
            Pattern::Roman { .. } | Pattern::Silent => false,
        }
    }

    fn digit(&mut self, pattern: Pattern) {
        if self.peek() == b' ' {
            self.at += 1;
        }
        if self.ended() {
            return;
        }
        let first = self.before + self.after == 0;
        if self.negative.is_none() && first && matches!(pattern, Pattern::Nine | Pattern::Zero) {
            let sign = self.peek();
            if self.t.anchored && self.t.anchor == Anchor::Before {
                if sign == b'-' || sign == b'+' {
                    self.negative = Some(sign == b'-');
                    self.at += 1;
                }
            } else if sign == b'-' || (self.t.bracket && sign == b'<') {
                self.negative = Some(true);
                self.at += 1;
            } else if sign == b'+' {
                self.negative = Some(false);
                self.at += 1;
            }
        }
        if self.ended() {
            return;
        }
        let mut read = false;
        if self.peek().is_ascii_digit() {
            if self.point && self.after == self.t.post {
                return;
            }
            self.digits.push(self.peek() as char);
            if self.point {
                self.after += 1;
            } else {
                self.before += 1;
            }
            read = true;
        } else if self.t.decimal && !self.point && self.peek() == b'.' {
            self.digits.push('.');
            self.point = true;
            read = true;
        }
        // A sign may stand behind the last digit.
        if self.negative.is_none() && self.before + self.after > 0 {
            let next = self.text.get(self.at + 1).copied();
            if self.t.anchored && read {
                if let Some(sign @ (b'-' | b'+')) = next {
                    self.negative = Some(sign == b'-');
                    self.at += 1;
                }
            } else if !read
                && (self.t.plus || self.t.minus)
                && let sign @ (b'-' | b'+') = self.peek()
            {
                self.negative = Some(sign == b'-');
            }
        }
    }
}
