//! Sets of characters, and the classes that regular expressions name.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange, HirKind};
use std::collections::HashMap;
use std::sync::LazyLock;

/// A set of characters.
#[derive(Clone, Debug)]
pub struct CharSet {
    ranges: ClassUnicode,
    /// Membership of the first 128 characters, a bit each.
    ascii: u128,
}

impl Default for CharSet {
    fn default() -> Self {
        CharSet { ranges: ClassUnicode::empty(), ascii: 0 }
    }
}

impl CharSet {
    fn of(ranges: ClassUnicode) -> CharSet {
        let mut set = CharSet { ranges, ascii: 0 };
        set.refresh();
        set
    }

    fn refresh(&mut self) {
        self.ascii = 0;
        for range in self.ranges.ranges() {
            for code in range.start() as u32..=(range.end() as u32).min(127) {
                self.ascii |= 1 << code;
            }
        }
    }

    /// The set of one character.
    #[must_use]
    pub fn single(c: char) -> CharSet {
        CharSet::of(ClassUnicode::new([ClassUnicodeRange::new(c, c)]))
    }

    /// The set of all characters.
    #[must_use]
    pub fn any() -> CharSet {
        CharSet::of(ClassUnicode::new([ClassUnicodeRange::new('\0', char::MAX)]))
    }

    pub fn add_range(&mut self, start: char, end: char) {
        self.ranges.push(ClassUnicodeRange::new(start, end));
        self.refresh();
    }

    pub fn add(&mut self, other: &CharSet) {
        self.ranges.union(&other.ranges);
        self.ascii |= other.ascii;
    }

    pub fn remove(&mut self, c: char) {
        self.ranges.difference(&CharSet::single(c).ranges);
        self.refresh();
    }

    pub fn negate(&mut self) {
        self.ranges.negate();
        self.ascii = !self.ascii;
    }

    /// The set with the capital and the small form of each of its letters.
    #[must_use]
    pub fn with_both_cases(mut self) -> CharSet {
        let mut added = Vec::new();
        for range in self.ranges.ranges() {
            let first = CASES.partition_point(|(c, _)| *c < range.start());
            let within = CASES.iter().skip(first).take_while(|(c, _)| *c <= range.end());
            added.extend(within.map(|(_, other)| ClassUnicodeRange::new(*other, *other)));
        }
        if !added.is_empty() {
            self.ranges.union(&ClassUnicode::new(added));
            self.refresh();
        }
        self
    }

    #[inline]
    #[must_use]
    pub fn contains(&self, c: char) -> bool {
        if c.is_ascii() {
            return self.ascii >> (c as u32) & 1 == 1;
        }
        let ranges = self.ranges.ranges();
        let at = ranges.partition_point(|range| range.end() < c);
        ranges.get(at).is_some_and(|range| range.start() <= c)
    }

    /// Whether the sets have a character in common.
    #[must_use]
    pub fn intersects(&self, other: &CharSet) -> bool {
        let mut common = self.ranges.clone();
        common.intersect(&other.ranges);
        !common.ranges().is_empty()
    }

    #[must_use]
    pub fn ranges(&self) -> &ClassUnicode {
        &self.ranges
    }
}

/// Letters and their other form: a small letter's capital, a capital's small letter; in order.
static CASES: LazyLock<Vec<(char, char)>> = LazyLock::new(|| {
    let mut cases = Vec::new();
    for c in '\0'..='\u{1ffff}' {
        for other in [one(c.to_lowercase()), one(c.to_uppercase())].into_iter().flatten() {
            if other != c {
                cases.push((c, other));
            }
        }
    }
    cases
});

fn one(mut mapped: impl Iterator<Item = char>) -> Option<char> {
    let first = mapped.next()?;
    if mapped.next().is_some() { None } else { Some(first) }
}

/// A character and its other case are one when case is ignored.
#[must_use]
pub fn same_ignoring_case(a: char, b: char) -> bool {
    a == b || one(a.to_lowercase()).unwrap_or(a) == one(b.to_lowercase()).unwrap_or(b)
}

/// Classes as glibc's C.UTF-8 has them: digits are ASCII, other scripts' digits are letters.
const CLASSES: &[(&str, &str)] = &[
    ("alnum", r"[\p{Alphabetic}\p{Nd}]"),
    ("alpha", r"[[\p{Alphabetic}\p{Nd}]--[0-9]]"),
    ("ascii", r"[\x00-\x7f]"),
    ("blank", r"[\t\x20\x{1680}\x{2000}-\x{2006}\x{2008}-\x{200a}\x{205f}\x{3000}]"),
    ("cntrl", r"[\p{Cc}\x{2028}\x{2029}]"),
    ("digit", r"[0-9]"),
    ("graph", r"[^\p{Z}\p{C}]"),
    ("lower", r"\p{Lowercase}"),
    ("print", r"[[^\p{Z}\p{C}]\p{Zs}]"),
    ("punct", r"[\p{P}\p{S}]"),
    ("space", r"[\t-\r\x20\x{1680}\x{2000}-\x{2006}\x{2008}-\x{200a}\x{2028}\x{2029}\x{205f}\x{3000}]"),
    ("upper", r"\p{Uppercase}"),
    ("xdigit", r"[0-9A-Fa-f]"),
    ("word", r"[\p{Alphabetic}\p{Nd}_]"),
];

static NAMED: LazyLock<HashMap<&'static str, CharSet>> = LazyLock::new(|| {
    let class = |pattern: &str| match regex_syntax::parse(pattern).ok()?.into_kind() {
        HirKind::Class(regex_syntax::hir::Class::Unicode(class)) => Some(CharSet::of(class)),
        _ => None,
    };
    CLASSES.iter().filter_map(|(name, pattern)| Some((*name, class(pattern)?))).collect()
});

/// The class of a name in `[:…:]`.
#[must_use]
pub fn class_named(name: &str) -> Option<CharSet> {
    NAMED.get(name).cloned()
}

/// Whether a character is part of a word.
#[must_use]
pub fn is_word(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphanumeric() || c == '_' } else { NAMED.get("word").is_some_and(|word| word.contains(c)) }
}

/// Names of characters in `[.….]`, from POSIX.
#[rustfmt::skip]
const ELEMENTS: &[(&str, char)] = &[
    ("NUL", '\0'), ("SOH", '\u{1}'), ("STX", '\u{2}'), ("ETX", '\u{3}'), ("EOT", '\u{4}'), ("ENQ", '\u{5}'), ("ACK", '\u{6}'),
    ("BEL", '\u{7}'), ("alert", '\u{7}'), ("BS", '\u{8}'), ("backspace", '\u{8}'), ("HT", '\t'), ("tab", '\t'), ("LF", '\n'),
    ("newline", '\n'), ("VT", '\u{b}'), ("vertical-tab", '\u{b}'), ("FF", '\u{c}'), ("form-feed", '\u{c}'), ("CR", '\r'),
    ("carriage-return", '\r'), ("SO", '\u{e}'), ("SI", '\u{f}'), ("DLE", '\u{10}'), ("DC1", '\u{11}'), ("DC2", '\u{12}'),
    ("DC3", '\u{13}'), ("DC4", '\u{14}'), ("NAK", '\u{15}'), ("SYN", '\u{16}'), ("ETB", '\u{17}'), ("CAN", '\u{18}'), ("EM", '\u{19}'),
    ("SUB", '\u{1a}'), ("ESC", '\u{1b}'), ("IS4", '\u{1c}'), ("FS", '\u{1c}'), ("IS3", '\u{1d}'), ("GS", '\u{1d}'), ("IS2", '\u{1e}'),
    ("RS", '\u{1e}'), ("IS1", '\u{1f}'), ("US", '\u{1f}'), ("space", ' '), ("exclamation-mark", '!'), ("quotation-mark", '"'),
    ("number-sign", '#'), ("dollar-sign", '$'), ("percent-sign", '%'), ("ampersand", '&'), ("apostrophe", '\''),
    ("left-parenthesis", '('), ("right-parenthesis", ')'), ("asterisk", '*'), ("plus-sign", '+'), ("comma", ','), ("hyphen", '-'),
    ("hyphen-minus", '-'), ("period", '.'), ("full-stop", '.'), ("slash", '/'), ("solidus", '/'), ("zero", '0'), ("one", '1'),
    ("two", '2'), ("three", '3'), ("four", '4'), ("five", '5'), ("six", '6'), ("seven", '7'), ("eight", '8'), ("nine", '9'),
    ("colon", ':'), ("semicolon", ';'), ("less-than-sign", '<'), ("equals-sign", '='), ("greater-than-sign", '>'),
    ("question-mark", '?'), ("commercial-at", '@'), ("left-square-bracket", '['), ("backslash", '\\'), ("reverse-solidus", '\\'),
    ("right-square-bracket", ']'), ("circumflex", '^'), ("circumflex-accent", '^'), ("underscore", '_'), ("low-line", '_'),
    ("grave-accent", '`'), ("left-brace", '{'), ("left-curly-bracket", '{'), ("vertical-line", '|'), ("right-brace", '}'),
    ("right-curly-bracket", '}'), ("tilde", '~'), ("DEL", '\u{7f}'),
];

/// The character that a collating element names: itself, or by its POSIX name.
#[must_use]
pub fn collating_element(name: &str) -> Option<char> {
    one(name.chars()).or_else(|| ELEMENTS.iter().find(|(element, _)| *element == name).map(|(_, c)| *c))
}
