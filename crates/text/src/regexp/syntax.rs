//! The syntax of PostgreSQL's regular expressions: advanced (the usual), extended, basic and literal.
//!
//! The result is a tree in which case, newline and expansion options are already applied: a character, a class and `.` are all sets.

use super::class::{CharSet, class_named, collating_element};
use stoa_error::{PgError, PgResult, SqlState};

/// Options of a regular expression.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Options {
    pub mode: Mode,
    pub ignore_case: bool,
    /// White space and comments are ignored.
    pub expanded: bool,
    /// `.` and `[^…]` do not match a newline.
    pub newline_stops: bool,
    /// `^` and `$` match at newlines too.
    pub newline_anchors: bool,
}

/// Which syntax a pattern is written in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Mode {
    #[default]
    Advanced,
    Extended,
    Basic,
    Literal,
}

impl Options {
    /// Applies one option letter; `false` if there is no such option.
    pub fn set(&mut self, letter: char) -> bool {
        match letter {
            'b' => self.mode = Mode::Basic,
            'c' => self.ignore_case = false,
            'e' => self.mode = Mode::Extended,
            'i' => self.ignore_case = true,
            'm' | 'n' => (self.newline_stops, self.newline_anchors) = (true, true),
            'p' => (self.newline_stops, self.newline_anchors) = (true, false),
            'q' => self.mode = Mode::Literal,
            's' => (self.newline_stops, self.newline_anchors) = (false, false),
            't' => self.expanded = false,
            'w' => (self.newline_stops, self.newline_anchors) = (false, true),
            'x' => self.expanded = true,
            _ => return false,
        }
        true
    }
}

/// A condition on a place between characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Assertion {
    TextStart,
    TextEnd,
    LineStart,
    LineEnd,
    WordStart,
    WordEnd,
    WordBoundary,
    NotWordBoundary,
}

/// A regular expression.
#[derive(Clone, Debug)]
pub enum Node {
    Empty,
    Set(CharSet),
    Concat(Vec<Node>),
    Alternate(Vec<Node>),
    /// `greedy` is `None` for `{m}`, which leaves the choice to what it repeats.
    Repeat {
        node: Box<Node>,
        min: u32,
        max: Option<u32>,
        greedy: Option<bool>,
    },
    Capture(Box<Node>, usize),
    Backref(usize),
    Assert(Assertion),
    Look {
        ahead: bool,
        negated: bool,
        node: Box<Node>,
    },
}

/// A parsed pattern.
#[derive(Clone, Debug)]
pub struct Parsed {
    pub root: Node,
    /// Capturing groups.
    pub groups: usize,
    pub ignore_case: bool,
}

/// `invalid regular expression: …`, 2201B.
pub fn invalid(reason: &str) -> PgError {
    PgError::new(SqlState::INVALID_REGULAR_EXPRESSION, format!("invalid regular expression: {reason}"))
}

const PARENTHESES: &str = "parentheses () not balanced";
const BRACKETS: &str = "brackets [] not balanced";
const BRACES: &str = "braces {} not balanced";
const QUANTIFIER: &str = "quantifier operand invalid";
const REPETITION: &str = "invalid repetition count(s)";
const RANGE: &str = "invalid character range";
const ESCAPE: &str = "invalid escape \\ sequence";
const BACKREFERENCE: &str = "invalid backreference number";
const ARGUMENT: &str = "invalid argument to regex function";
const OPTION: &str = "invalid embedded option";
const CLASS: &str = "invalid character class";
const COLLATING: &str = "invalid collating element";

/// The largest count in `{m,n}`.
const MAX_COUNT: u32 = 255;
/// How deep groups may nest.
const MAX_DEPTH: usize = 200;

/// Reads a pattern.
///
/// # Errors
/// 2201B with PostgreSQL's reasons.
pub fn parse(pattern: &str, options: Options) -> PgResult<Parsed> {
    let mut options = options;
    let mut rest = pattern;
    if options.mode == Mode::Literal && (options.expanded || options.newline_stops || options.newline_anchors) {
        return Err(invalid(ARGUMENT));
    }
    if options.mode == Mode::Advanced {
        if let Some(after) = rest.strip_prefix("***") {
            if let Some(after) = after.strip_prefix('=') {
                options.mode = Mode::Literal;
                rest = after;
            } else if let Some(after) = after.strip_prefix(':') {
                rest = after;
            } else {
                return Err(invalid(QUANTIFIER));
            }
        }
        if options.mode == Mode::Advanced
            && let Some(after) = rest.strip_prefix("(?")
            && after.starts_with(|c: char| c.is_ascii_alphabetic())
        {
            let letters = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
            let (letters, after) = after.split_at(letters);
            if !letters.chars().all(|letter| options.set(letter)) {
                return Err(invalid(OPTION));
            }
            rest = after.strip_prefix(')').ok_or_else(|| invalid(OPTION))?;
        }
    }
    let mut parser = Parser { chars: rest.chars().collect(), at: 0, options, groups: 0, closed: Vec::new(), depth: 0, inside_look: false };
    let root = if options.mode == Mode::Literal {
        let sets = parser.chars.iter().map(|c| parser.literal(*c)).collect();
        Node::Concat(sets)
    } else {
        let root = parser.alternation()?;
        if parser.at < parser.chars.len() {
            return Err(invalid(PARENTHESES));
        }
        root
    };
    Ok(Parsed { root, groups: parser.groups, ignore_case: options.ignore_case })
}

struct Parser {
    chars: Vec<char>,
    at: usize,
    options: Options,
    groups: usize,
    /// Groups whose closing parenthesis was read: those that can be referred to.
    closed: Vec<usize>,
    depth: usize,
    inside_look: bool,
}

/// What an escape stands for.
enum Escape {
    Char(char),
    Set(CharSet),
    Assertion(Assertion),
    Backref(usize),
}

impl Parser {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn peek_at(&self, offset: usize) -> Option<char> {
        self.chars.get(self.at + offset).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    fn take(&mut self, text: &str) -> bool {
        let matches = text.chars().enumerate().all(|(offset, c)| self.peek_at(offset) == Some(c));
        if matches {
            self.at += text.chars().count();
        }
        matches
    }

    fn is(&self, mode: Mode) -> bool {
        self.options.mode == mode
    }

    /// Skips what the expanded syntax ignores, and `(?#…)`.
    fn skip(&mut self) {
        loop {
            if self.options.expanded && !self.is(Mode::Basic) {
                match self.peek() {
                    Some(c) if c.is_whitespace() => {
                        self.at += 1;
                        continue;
                    }
                    Some('#') => {
                        while self.peek().is_some_and(|c| c != '\n') {
                            self.at += 1;
                        }
                        continue;
                    }
                    _ => {}
                }
            }
            if self.is(Mode::Advanced) && self.take("(?#") {
                while self.next().is_some_and(|c| c != ')') {}
                continue;
            }
            return;
        }
    }

    fn literal(&self, c: char) -> Node {
        Node::Set(self.cased(CharSet::single(c)))
    }

    fn cased(&self, set: CharSet) -> CharSet {
        if self.options.ignore_case { set.with_both_cases() } else { set }
    }

    fn opens_group(&self) -> bool {
        if self.is(Mode::Basic) { self.peek() == Some('\\') && self.peek_at(1) == Some('(') } else { self.peek() == Some('(') }
    }

    fn closes_group(&self) -> bool {
        if self.is(Mode::Basic) { self.peek() == Some('\\') && self.peek_at(1) == Some(')') } else { self.peek() == Some(')') }
    }

    fn alternation(&mut self) -> PgResult<Node> {
        let mut branches = vec![self.branch()?];
        while !self.is(Mode::Basic) && self.peek() == Some('|') {
            self.at += 1;
            branches.push(self.branch()?);
        }
        Ok(match (branches.len(), branches.pop()) {
            (1, Some(only)) => only,
            (_, Some(last)) => {
                branches.push(last);
                Node::Alternate(branches)
            }
            (_, None) => Node::Empty,
        })
    }

    fn branch(&mut self) -> PgResult<Node> {
        let mut parts = Vec::new();
        loop {
            self.skip();
            if self.peek().is_none() || self.closes_group() || (!self.is(Mode::Basic) && self.peek() == Some('|')) {
                break;
            }
            let atom = self.atom(parts.is_empty())?;
            self.skip();
            parts.push(self.quantified(atom)?);
        }
        Ok(match (parts.len(), parts.pop()) {
            (_, None) => Node::Empty,
            (1, Some(only)) => only,
            (_, Some(last)) => {
                parts.push(last);
                Node::Concat(parts)
            }
        })
    }

    /// An atom or a constraint. Constraints cannot be quantified.
    fn atom(&mut self, first: bool) -> PgResult<Node> {
        if self.opens_group() {
            self.at += if self.is(Mode::Basic) { 2 } else { 1 };
            return self.group();
        }
        let Some(c) = self.next() else { return Ok(Node::Empty) };
        let basic = self.is(Mode::Basic);
        let node = match c {
            '.' => {
                let mut set = CharSet::any();
                if self.options.newline_stops {
                    set.remove('\n');
                }
                Node::Set(set)
            }
            '[' => self.bracket()?,
            '\\' if basic => match self.next() {
                None => return Err(invalid(ESCAPE)),
                Some('<') => Node::Assert(Assertion::WordStart),
                Some('>') => Node::Assert(Assertion::WordEnd),
                Some('{') => return Err(invalid(QUANTIFIER)),
                Some(digit @ '1'..='9') => self.backref(digit as usize - '0' as usize)?,
                Some(c) => self.literal(c),
            },
            '\\' if self.is(Mode::Extended) => match self.next() {
                None => return Err(invalid(ESCAPE)),
                Some(c) => self.literal(c),
            },
            '\\' => match self.escape()? {
                Escape::Char(c) => self.literal(c),
                Escape::Set(set) => Node::Set(set),
                Escape::Assertion(assertion) => Node::Assert(assertion),
                Escape::Backref(group) => self.backref(group)?,
            },
            '^' if !basic || first => Node::Assert(if self.options.newline_anchors { Assertion::LineStart } else { Assertion::TextStart }),
            '$' if !basic || self.peek().is_none() || self.closes_group() => {
                Node::Assert(if self.options.newline_anchors { Assertion::LineEnd } else { Assertion::TextEnd })
            }
            '*' if !basic || !first => return Err(invalid(QUANTIFIER)),
            '+' | '?' if !basic => return Err(invalid(QUANTIFIER)),
            '{' if !basic && self.peek().is_some_and(|c| c.is_ascii_digit()) => return Err(invalid(QUANTIFIER)),
            c => self.literal(c),
        };
        if matches!(node, Node::Assert(_)) && !basic {
            self.skip();
            if self.at_quantifier() {
                return Err(invalid(QUANTIFIER));
            }
        }
        Ok(node)
    }

    fn backref(&mut self, group: usize) -> PgResult<Node> {
        if self.inside_look || !self.closed.contains(&group) {
            return Err(invalid(BACKREFERENCE));
        }
        Ok(Node::Backref(group))
    }

    fn group(&mut self) -> PgResult<Node> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(invalid("regular expression is too complex"));
        }
        let mut look = None;
        let mut captures = !self.inside_look;
        if self.is(Mode::Advanced) && self.peek() == Some('?') {
            captures = false;
            look = if self.take("?:") {
                None
            } else if self.take("?=") {
                Some((true, false))
            } else if self.take("?!") {
                Some((true, true))
            } else if self.take("?<=") {
                Some((false, false))
            } else if self.take("?<!") {
                Some((false, true))
            } else {
                return Err(invalid(QUANTIFIER));
            };
        }
        let number = if captures {
            self.groups += 1;
            self.groups
        } else {
            0
        };
        let outside = self.inside_look;
        self.inside_look |= look.is_some();
        let inner = self.alternation()?;
        self.inside_look = outside;
        if !self.closes_group() {
            return Err(invalid(PARENTHESES));
        }
        self.at += if self.is(Mode::Basic) { 2 } else { 1 };
        self.depth -= 1;
        if captures {
            self.closed.push(number);
            return Ok(Node::Capture(Box::new(inner), number));
        }
        if let Some((ahead, negated)) = look {
            self.skip();
            if self.at_quantifier() {
                return Err(invalid(QUANTIFIER));
            }
            return Ok(Node::Look { ahead, negated, node: Box::new(inner) });
        }
        // A group keeps the parts together: a quantifier behind it takes all of them.
        Ok(match inner {
            Node::Concat(_) | Node::Empty | Node::Assert(_) | Node::Look { .. } => Node::Concat(vec![inner]),
            other => other,
        })
    }

    fn at_quantifier(&self) -> bool {
        if self.is(Mode::Basic) {
            return self.peek() == Some('*') || (self.peek() == Some('\\') && self.peek_at(1) == Some('{'));
        }
        match self.peek() {
            Some('*' | '+' | '?') => true,
            Some('{') => self.is(Mode::Extended) || self.peek_at(1).is_some_and(|c| c.is_ascii_digit()),
            _ => false,
        }
    }

    fn quantified(&mut self, atom: Node) -> PgResult<Node> {
        if !self.at_quantifier() {
            return Ok(atom);
        }
        let basic = self.is(Mode::Basic);
        let (min, max, exact) = match self.next() {
            Some('*') => (0, None, false),
            Some('+') => (1, None, false),
            Some('?') => (0, Some(1), false),
            _ => {
                if basic {
                    self.at += 1;
                }
                self.counts()?
            }
        };
        let lazy = self.is(Mode::Advanced) && self.take("?");
        self.skip();
        if self.at_quantifier() {
            return Err(invalid(QUANTIFIER));
        }
        if matches!(atom, Node::Look { .. } | Node::Assert(_)) {
            return Err(invalid(QUANTIFIER));
        }
        Ok(Node::Repeat { node: Box::new(atom), min, max, greedy: if exact { None } else { Some(!lazy) } })
    }

    /// The inside of `{m,n}` and its end; the last result says that it is `{m}`.
    fn counts(&mut self) -> PgResult<(u32, Option<u32>, bool)> {
        let min = self.count()?;
        let (max, exact) = match self.peek() {
            Some(',') => {
                self.at += 1;
                if self.peek().is_some_and(|c| c.is_ascii_digit()) { (Some(self.count()?), false) } else { (None, false) }
            }
            _ => (Some(min), true),
        };
        let closed = if self.is(Mode::Basic) { self.take("\\}") } else { self.take("}") };
        if !closed {
            return Err(invalid(if self.peek().is_none() { BRACES } else { REPETITION }));
        }
        if max.is_some_and(|max| max < min) {
            return Err(invalid(REPETITION));
        }
        Ok((min, max, exact))
    }

    fn count(&mut self) -> PgResult<u32> {
        let mut count = 0u32;
        let mut digits = 0;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
            self.at += 1;
            digits += 1;
            count = count * 10 + digit;
            if count > MAX_COUNT {
                return Err(invalid(REPETITION));
            }
        }
        if digits == 0 {
            return Err(invalid(if self.peek().is_none() { BRACES } else { REPETITION }));
        }
        Ok(count)
    }

    /// An escape of the advanced syntax, behind its backslash.
    fn escape(&mut self) -> PgResult<Escape> {
        let Some(c) = self.next() else { return Err(invalid(ESCAPE)) };
        if !c.is_ascii_alphanumeric() {
            return Ok(Escape::Char(c));
        }
        let class = |name: &str, negated: bool| {
            let mut set = class_named(name).unwrap_or_default();
            if negated {
                set.negate();
            }
            Ok(Escape::Set(set))
        };
        Ok(match c {
            'd' | 'D' => return class("digit", c == 'D'),
            's' | 'S' => return class("space", c == 'S'),
            'w' | 'W' => return class("word", c == 'W'),
            'A' => Escape::Assertion(Assertion::TextStart),
            'Z' => Escape::Assertion(Assertion::TextEnd),
            'm' => Escape::Assertion(Assertion::WordStart),
            'M' => Escape::Assertion(Assertion::WordEnd),
            'y' => Escape::Assertion(Assertion::WordBoundary),
            'Y' => Escape::Assertion(Assertion::NotWordBoundary),
            'a' => Escape::Char('\u{7}'),
            'b' => Escape::Char('\u{8}'),
            'B' => Escape::Char('\\'),
            'c' => {
                let c = self.next().ok_or_else(|| invalid(ESCAPE))?;
                Escape::Char(char::from((c as u32 & 0x1f) as u8))
            }
            'e' => Escape::Char('\u{1b}'),
            'f' => Escape::Char('\u{c}'),
            'n' => Escape::Char('\n'),
            'r' => Escape::Char('\r'),
            't' => Escape::Char('\t'),
            'v' => Escape::Char('\u{b}'),
            'u' => Escape::Char(self.digits(16, 4, 4)?),
            'U' => Escape::Char(self.digits(16, 8, 8)?),
            'x' => Escape::Char(self.digits(16, 1, 255)?),
            '0' => {
                self.at -= 1;
                Escape::Char(self.digits(8, 1, 3)?)
            }
            '1'..='9' => {
                let start = self.at - 1;
                while self.peek().is_some_and(|c| c.is_ascii_digit()) {
                    self.at += 1;
                }
                let number = self
                    .chars
                    .get(start..self.at)
                    .unwrap_or(&[])
                    .iter()
                    .filter_map(|c| c.to_digit(10))
                    .try_fold(0usize, |n, d| n.checked_mul(10).and_then(|n| n.checked_add(d as usize)));
                match number {
                    // More than one digit is a reference only if there is such a group; otherwise it is octal.
                    Some(number) if self.at - start == 1 || number <= self.groups => Escape::Backref(number),
                    _ => {
                        self.at = start;
                        Escape::Char(self.digits(8, 1, 3)?)
                    }
                }
            }
            _ => return Err(invalid(ESCAPE)),
        })
    }

    fn digits(&mut self, radix: u32, least: usize, most: usize) -> PgResult<char> {
        let mut code = 0u32;
        let mut count = 0;
        while count < most
            && let Some(digit) = self.peek().and_then(|c| c.to_digit(radix))
        {
            self.at += 1;
            count += 1;
            code = code.checked_mul(radix).and_then(|code| code.checked_add(digit)).ok_or_else(|| invalid(ESCAPE))?;
        }
        if count < least {
            return Err(invalid(ESCAPE));
        }
        char::from_u32(code).ok_or_else(|| invalid(ESCAPE))
    }

    fn bracket(&mut self) -> PgResult<Node> {
        if self.take("[:<:]]") {
            return Ok(Node::Assert(Assertion::WordStart));
        }
        if self.take("[:>:]]") {
            return Ok(Node::Assert(Assertion::WordEnd));
        }
        let negated = self.take("^");
        let mut set = CharSet::default();
        let mut first = true;
        loop {
            let Some(c) = self.peek() else { return Err(invalid(BRACKETS)) };
            if c == ']' && !first {
                self.at += 1;
                break;
            }
            let may_be_dash = first;
            first = false;
            // A dash stands for itself only at either end.
            if c == '-' && !may_be_dash && self.peek_at(1) != Some(']') {
                return Err(invalid(RANGE));
            }
            let start = match self.bracket_element(&mut set)? {
                Some(start) => start,
                // A class cannot begin a range.
                None if self.peek() == Some('-') && self.peek_at(1).is_some_and(|c| c != ']') => return Err(invalid(RANGE)),
                None => continue,
            };
            if self.peek() == Some('-') && self.peek_at(1) != Some(']') {
                self.at += 1;
                if self.peek().is_none() {
                    return Err(invalid(BRACKETS));
                }
                let end = self.bracket_element(&mut set)?.ok_or_else(|| invalid(RANGE))?;
                if end < start {
                    return Err(invalid(RANGE));
                }
                set.add_range(start, end);
            } else {
                set.add_range(start, start);
            }
        }
        let mut set = self.cased(set);
        if negated {
            set.negate();
            if self.options.newline_stops {
                set.remove('\n');
            }
        }
        Ok(Node::Set(set))
    }

    /// One character of a bracket expression, or `None` for a class, which is added to the set.
    fn bracket_element(&mut self, set: &mut CharSet) -> PgResult<Option<char>> {
        let Some(c) = self.next() else { return Err(invalid(BRACKETS)) };
        match (c, self.peek()) {
            ('[', Some(kind @ ('.' | '=' | ':'))) => {
                self.at += 1;
                let start = self.at;
                while !(self.peek() == Some(kind) && self.peek_at(1) == Some(']')) {
                    if self.next().is_none() {
                        return Err(invalid(BRACKETS));
                    }
                }
                let name: String = self.chars.get(start..self.at).unwrap_or(&[]).iter().collect();
                self.at += 2;
                if kind == ':' {
                    let name = if self.options.ignore_case && matches!(name.as_str(), "upper" | "lower") { "alpha" } else { name.as_str() };
                    set.add(&class_named(name).ok_or_else(|| invalid(CLASS))?);
                    return Ok(None);
                }
                let element = collating_element(&name).ok_or_else(|| invalid(COLLATING))?;
                if kind == '=' {
                    set.add_range(element, element);
                    return Ok(None);
                }
                Ok(Some(element))
            }
            ('\\', _) if self.is(Mode::Advanced) => match self.escape()? {
                Escape::Char(c) => Ok(Some(c)),
                Escape::Set(class) => {
                    set.add(&class);
                    Ok(None)
                }
                _ => Err(invalid(ESCAPE)),
            },
            _ => Ok(Some(c)),
        }
    }
}
