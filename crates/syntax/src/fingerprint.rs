//! What statements have in common that differ in their literals only: a text without its numbers and strings.
//!
//! Clients of the simple protocol write values into the text. Two texts of one fingerprint, with literals of the same kinds, are one statement
//! with parameters; whether that is true of a fingerprint is for the binder to tell, here it is only read quickly. What is not plain (comments,
//! dollar quotes, several statements, letters outside of ASCII) has no fingerprint.

use std::borrow::Cow;

/// Longer texts have no fingerprint.
const MAX_BYTES: usize = 2048;
const MAX_LITERALS: usize = 64;

/// Words before a string that make it a part of them: `interval '1 day'`.
const TYPES_OF_LITERALS: [&[u8]; 5] = [b"interval", b"date", b"time", b"timestamp", b"timestamptz"];

/// A text's fingerprint, with the places of its literals. To be filled again and again by [`Fingerprint::read`].
#[derive(Debug, Default)]
pub struct Fingerprint {
    key: Vec<u8>,
    literals: Vec<Literal>,
    start: usize,
    end: usize,
}

/// A literal of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Literal {
    pub kind: LiteralKind,
    /// The bytes of the text that it takes, quotes and a minus included.
    pub start: usize,
    pub end: usize,
}

/// What the type of a literal follows from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LiteralKind {
    /// An integer that `int4` holds.
    Int4,
    /// One that only `int8` holds.
    Int8,
    /// With a fraction.
    Numeric,
    /// In quotes, of a type that is found by what is around it.
    Text,
}

impl LiteralKind {
    /// What stands for such a literal in a fingerprint: no text has it.
    fn mark(self, negative: bool) -> u8 {
        let mark = match self {
            Self::Int4 => 1,
            Self::Int8 => 2,
            Self::Numeric => 3,
            Self::Text => 4,
        };
        if negative { mark + 4 } else { mark }
    }
}

impl Literal {
    /// What it says: a number with its sign, or what the quotes enclose.
    #[must_use]
    pub fn value<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let literal = text.get(self.start..self.end).unwrap_or_default();
        match self.kind {
            LiteralKind::Text => {
                let quoted = literal.get(1..literal.len().saturating_sub(1)).unwrap_or_default();
                if quoted.contains('\'') { Cow::Owned(quoted.replace("''", "'")) } else { Cow::Borrowed(quoted) }
            }
            _ => Cow::Borrowed(literal),
        }
    }
}

impl Fingerprint {
    /// The same of two texts of one fingerprint.
    #[must_use]
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    #[must_use]
    pub fn literals(&self) -> &[Literal] {
        &self.literals
    }

    /// Where the statement begins, behind blanks.
    #[must_use]
    pub fn start(&self) -> usize {
        self.start
    }

    /// Where the statement ends: a semicolon behind it is not of it.
    #[must_use]
    pub fn end(&self) -> usize {
        self.end
    }

    /// The statement with `$1`, `$2`, … in the place of its literals.
    #[must_use]
    pub fn with_parameters(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len() + 4 * self.literals.len());
        let mut at = 0;
        for (number, literal) in self.literals.iter().enumerate() {
            out.push_str(text.get(at..literal.start).unwrap_or_default());
            out.push_str(&format!(" ${} ", number + 1));
            at = literal.end;
        }
        out.push_str(text.get(at..self.end).unwrap_or_default());
        out
    }

    /// Reads a text; whether it has a fingerprint. One that has none leaves an empty key.
    pub fn read(&mut self, text: &str) -> bool {
        self.clear();
        self.start = skip(text.as_bytes(), 0, |c| c.is_ascii_whitespace());
        let found = text.len() <= MAX_BYTES && self.statement(text.as_bytes()).is_some() && self.literals.len() <= MAX_LITERALS;
        if !found {
            self.clear();
        }
        found
    }

    fn clear(&mut self) {
        self.key.clear();
        self.literals.clear();
        self.start = 0;
        self.end = 0;
    }

    fn statement(&mut self, text: &[u8]) -> Option<()> {
        let mut at = 0;
        // Where the last word is in the key, if nothing but blanks follow it.
        let mut word = 0..0;
        while let Some(&c) = text.get(at) {
            let next = text.get(at + 1).copied();
            let start = at;
            match c {
                b' ' | b'\t' | b'\n' | b'\r' => {
                    if self.key.last().is_some_and(|last| *last != b' ') {
                        self.key.push(b' ');
                    }
                    at += 1;
                    continue;
                }
                b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                    at = skip(text, at, is_word);
                    match text.get(at) {
                        Some(b'\'') => return None,
                        Some(b'&') if at - start == 1 => return None,
                        _ => {}
                    }
                    word = self.key.len()..self.key.len() + at - start;
                    self.key.extend_from_slice(text.get(start..at)?);
                    self.end = at;
                    continue;
                }
                b'0'..=b'9' => at = self.number(text, at, false)?,
                b'-' if next == Some(b'-') => return None,
                b'-' if next.is_some_and(|n| n.is_ascii_digit()) && self.is_sign_next() => at = self.number(text, at, true)?,
                b'/' if next == Some(b'*') => return None,
                b'.' if next.is_some_and(|n| n == b'.' || n.is_ascii_digit()) => return None,
                b'\'' => {
                    at = quoted(text, at, b'\'')?;
                    let before = self.key.get(word.clone()).filter(|word| !word.is_empty());
                    if before.is_some_and(|word| TYPES_OF_LITERALS.iter().any(|ty| word.eq_ignore_ascii_case(ty))) {
                        let literal = text.get(start..at)?;
                        // A time in words, such as now or today, is another each time that it is read.
                        if !before.is_some_and(|word| word.eq_ignore_ascii_case(b"interval")) && literal.iter().any(u8::is_ascii_alphabetic)
                        {
                            return None;
                        }
                        self.copy(literal)?;
                    } else {
                        self.literal(LiteralKind::Text, start, at, false);
                    }
                    // Strings of several lines are one.
                    if text.get(skip(text, at, |c| c.is_ascii_whitespace())) == Some(&b'\'') {
                        return None;
                    }
                }
                b'"' => {
                    at = quoted(text, at, b'"')?;
                    self.copy(text.get(start..at)?)?;
                }
                b';' => {
                    at = skip(text, at + 1, |c| c.is_ascii_whitespace());
                    return (at == text.len()).then_some(());
                }
                b'$' | b'\\' | 0x7f.. | 0..0x20 => return None,
                _ => {
                    self.key.push(c);
                    at += 1;
                }
            }
            word = 0..0;
            self.end = at;
        }
        Some(())
    }

    /// Whether a minus that comes now is a sign.
    fn is_sign_next(&self) -> bool {
        let apart = matches!(self.key.last(), None | Some(b' ' | b'(' | b','));
        let last = self.key.iter().rev().find(|c| **c != b' ');
        apart && matches!(last, Some(b'(' | b',' | b'=' | b'<' | b'>' | b'+' | b'*' | b'/'))
    }

    fn number(&mut self, text: &[u8], start: usize, negative: bool) -> Option<usize> {
        let first = start + usize::from(negative);
        let mut at = skip(text, first, |c| c.is_ascii_digit());
        // With its sign: the least number of a type is one of it.
        let digits = std::str::from_utf8(text.get(start..at)?).ok()?;
        let kind = if text.get(at) == Some(&b'.') {
            at = skip(text, at + 1, |c| c.is_ascii_digit());
            LiteralKind::Numeric
        } else if digits.parse::<i32>().is_ok() {
            LiteralKind::Int4
        } else if digits.parse::<i64>().is_ok() {
            LiteralKind::Int8
        } else {
            LiteralKind::Numeric
        };
        if text.get(at).is_some_and(|c| is_word(*c) || *c == b'.' || !c.is_ascii()) {
            return None;
        }
        self.literal(kind, start, at, negative);
        Some(at)
    }

    fn literal(&mut self, kind: LiteralKind, start: usize, end: usize, negative: bool) {
        self.key.push(kind.mark(negative));
        self.literals.push(Literal { kind, start, end });
    }

    fn copy(&mut self, piece: &[u8]) -> Option<()> {
        self.key.extend_from_slice(piece);
        piece.iter().all(|c| *c >= 0x20).then_some(())
    }
}

fn is_word(c: u8) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, b'_' | b'$')
}

/// The first place that a test does not hold for.
fn skip(text: &[u8], at: usize, test: impl Fn(u8) -> bool) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + rest.iter().position(|c| !test(*c)).unwrap_or(rest.len())
}

/// Where what is in quotes ends; a quote is doubled in it.
fn quoted(text: &[u8], start: usize, quote: u8) -> Option<usize> {
    let mut at = start + 1;
    loop {
        at = skip(text, at, |c| c != quote) + 1;
        if at > text.len() {
            return None;
        }
        if text.get(at) != Some(&quote) {
            return Some(at);
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    fn with_parameters(text: &str) -> Option<(String, Vec<String>)> {
        let mut fingerprint = Fingerprint::default();
        fingerprint
            .read(text)
            .then(|| (fingerprint.with_parameters(text), fingerprint.literals().iter().map(|l| l.value(text).into_owned()).collect()))
    }

    #[test]
    fn literals_are_found() {
        for (text, parameters, values) in [
            ("SELECT a1 FROM t WHERE id = 5;", "SELECT a1 FROM t WHERE id =  $1 ", vec!["5"]),
            ("SELECT 'it''s', -7 ; ", "SELECT  $1 ,  $2  ", vec!["it's", "-7"]),
            ("UPDATE t SET a = a + -5, b = a-5", "UPDATE t SET a = a +  $1 , b = a- $2 ", vec!["-5", "5"]),
            (
                "SELECT 1.50, 9999999999, 99999999999999999999",
                "SELECT  $1 ,  $2 ,  $3 ",
                vec!["1.50", "9999999999", "99999999999999999999"],
            ),
            ("SELECT \"a 1\" - 1, INTERVAL '1 day', 'ä'", "SELECT \"a 1\" -  $1 , INTERVAL '1 day',  $2 ", vec!["1", "ä"]),
            ("SELECT x-1 FROM t1", "SELECT x- $1  FROM t1", vec!["1"]),
            ("COMMIT", "COMMIT", vec![]),
        ] {
            let found = with_parameters(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((found.0.trim_end(), found.1), (parameters.trim_end(), values.iter().map(ToString::to_string).collect()), "{text}");
        }
    }

    #[test]
    fn what_is_not_plain_has_no_fingerprint() {
        for text in [
            "SELECT 1 -- one",
            "SELECT /* one */ 1",
            "SELECT $1",
            "SELECT $$a$$",
            "SELECT E'a'",
            "SELECT U&'a'",
            "SELECT U&\"a\"",
            "SELECT x'1f'",
            "SELECT 1; SELECT 2",
            "SELECT 'a'\n'b'",
            "SELECT 'a",
            "SELECT \"a",
            "SELECT 1e5",
            "SELECT 1a",
            "SELECT 1_000",
            "SELECT 0x1f",
            "SELECT .5",
            "SELECT 1..2",
            "SELECT ä",
            "SELECT 5ä",
            "SELECT \"\u{1}\"",
            "SELECT date '\u{1}'",
            "SELECT date 'today'",
            "SELECT timestamp '2020-01-01 noon'",
            "SELECT \u{1}",
        ] {
            assert_eq!(with_parameters(text), None, "{text}");
        }
        let mut fingerprint = Fingerprint::default();
        assert!(!fingerprint.read("SELECT 5 -- five") && fingerprint.key().is_empty());
        assert_eq!(with_parameters(&format!("SELECT {}", "1,".repeat(65))), None);
        assert_eq!(with_parameters(&format!("SELECT {}", " ".repeat(2048))), None);
    }

    #[test]
    fn fingerprints_tell_kinds_apart() {
        let key = |text: &str| {
            let mut fingerprint = Fingerprint::default();
            assert!(fingerprint.read(text), "{text}");
            fingerprint.key().to_vec()
        };
        assert_eq!(key("SELECT 1 ,  'a'"), key("SELECT\n22 , 'b'''"));
        assert_eq!(key("SELECT (-1)"), key("SELECT (-2147483648)"));
        let different = [
            "SELECT 1",
            "SELECT '1'",
            "SELECT 1.0",
            "SELECT 3000000000",
            "SELECT (-3000000000)",
            "SELECT (-1)",
            "SELECT (1)",
            "SELECT 1, 1",
            "select 1",
            "SELECT \"1\"",
        ];
        let keys: std::collections::HashSet<_> = different.iter().map(|text| key(text)).collect();
        assert_eq!(keys.len(), different.len());
    }
}
