//! `tsquery`: lexemes with operators.

use super::vector::{MAX_LEXEME, quote};
use std::fmt;
use stoa_error::{PgError, PgResult, SqlState};

/// The greatest distance of `<N>`.
pub const MAX_DISTANCE: u16 = 16_384;
const MAX_DEPTH: usize = 500;

/// A node of a query.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Node {
    /// `weights`: bit 0 is D, bit 3 is A; 0 is any.
    Lexeme {
        text: String,
        weights: u8,
        prefix: bool,
    },
    Not(Box<Node>),
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    /// The right stands `distance` behind the left.
    Phrase(Box<Node>, Box<Node>, u16),
    /// A word that the configuration leaves out; only until [`clean`].
    Stop,
}

/// See the module: without a node it finds nothing.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Query(pub Option<Node>);

/// What an operand of a query written as text becomes.
pub type Operand<'a> = &'a mut dyn FnMut(&str, u8, bool) -> PgResult<Node>;

impl Query {
    /// Reads the text form: operands are lexemes as they are.
    ///
    /// # Errors
    /// 42601 as PostgreSQL raises it.
    pub fn parse(text: &str) -> PgResult<Self> {
        Self::parse_with(text, &mut |word, weights, prefix| Ok(Node::Lexeme { text: word.to_owned(), weights, prefix }))
    }

    /// Reads the text form; what an operand becomes says `operand`.
    ///
    /// # Errors
    /// 42601 as PostgreSQL raises it.
    pub fn parse_with(text: &str, operand: Operand<'_>) -> PgResult<Self> {
        let mut reader = Reader { text, chars: text.chars().collect(), at: 0, operand, depth: 0 };
        reader.blanks();
        if reader.peek().is_none() {
            return Ok(Self(None));
        }
        let node = reader.either()?;
        reader.blanks();
        if reader.peek().is_some() {
            return Err(reader.wrong());
        }
        Ok(Self(Some(node)))
    }

    /// Nodes, operators among them.
    #[must_use]
    pub fn nodes(&self) -> usize {
        fn count(node: &Node) -> usize {
            match node {
                Node::Lexeme { .. } | Node::Stop => 1,
                Node::Not(a) => 1 + count(a),
                Node::And(a, b) | Node::Or(a, b) | Node::Phrase(a, b, _) => 1 + count(a) + count(b),
            }
        }
        self.0.as_ref().map_or(0, count)
    }
}

struct Reader<'a> {
    text: &'a str,
    chars: Vec<char>,
    at: usize,
    operand: Operand<'a>,
    depth: usize,
}

impl Reader<'_> {
    fn wrong(&self) -> PgError {
        PgError::new(SqlState::SYNTAX_ERROR, format!("syntax error in tsquery: \"{}\"", self.text))
    }

    fn no_operand(&self) -> PgError {
        PgError::new(SqlState::SYNTAX_ERROR, format!("no operand in tsquery: \"{}\"", self.text))
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
    }

    fn take(&mut self, c: char) -> bool {
        self.blanks();
        let found = self.peek() == Some(c);
        self.at += usize::from(found);
        found
    }

    fn either(&mut self) -> PgResult<Node> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(PgError::new(SqlState::STATEMENT_TOO_COMPLEX, "stack depth limit exceeded"));
        }
        let mut left = self.both()?;
        while self.take('|') {
            left = Node::Or(Box::new(left), Box::new(self.both()?));
        }
        self.depth -= 1;
        Ok(left)
    }

    fn both(&mut self) -> PgResult<Node> {
        let mut left = self.phrase()?;
        while self.take('&') {
            left = Node::And(Box::new(left), Box::new(self.phrase()?));
        }
        Ok(left)
    }

    fn phrase(&mut self) -> PgResult<Node> {
        let mut left = self.unary()?;
        loop {
            self.blanks();
            if self.peek() != Some('<') {
                return Ok(left);
            }
            let end = self.chars.iter().skip(self.at).position(|c| *c == '>').ok_or_else(|| self.wrong())?;
            let inside: String = self.chars.iter().skip(self.at + 1).take(end.saturating_sub(1)).collect();
            let distance = match inside.as_str() {
                "-" => 1,
                digits => {
                    let n: u64 = digits.parse().map_err(|_| self.wrong())?;
                    u16::try_from(n).ok().filter(|n| *n <= MAX_DISTANCE).ok_or_else(|| {
                        let message =
                            format!("distance in phrase operator must be an integer value between zero and {MAX_DISTANCE} inclusive");
                        PgError::new(SqlState::INVALID_PARAMETER_VALUE, message)
                    })?
                }
            };
            self.at += end + 1;
            left = Node::Phrase(Box::new(left), Box::new(self.unary()?), distance);
        }
    }

    fn unary(&mut self) -> PgResult<Node> {
        self.blanks();
        match self.peek() {
            Some('!') => {
                self.at += 1;
                self.depth += 1;
                if self.depth > MAX_DEPTH {
                    return Err(PgError::new(SqlState::STATEMENT_TOO_COMPLEX, "stack depth limit exceeded"));
                }
                let inner = self.unary()?;
                self.depth -= 1;
                Ok(Node::Not(Box::new(inner)))
            }
            Some('(') => {
                self.at += 1;
                let inner = self.either()?;
                if !self.take(')') {
                    return Err(self.wrong());
                }
                Ok(inner)
            }
            None => Err(self.no_operand()),
            Some('&' | '|' | ')' | '<' | ':') => Err(if self.peek() == Some(':') { self.wrong() } else { self.no_operand() }),
            Some(_) => self.word(),
        }
    }

    fn word(&mut self) -> PgResult<Node> {
        let mut text = String::new();
        if self.peek() == Some('\'') {
            self.at += 1;
            loop {
                let c = self.peek().ok_or_else(|| self.wrong())?;
                self.at += 1;
                match c {
                    '\'' if self.peek() == Some('\'') => {
                        text.push('\'');
                        self.at += 1;
                    }
                    '\'' => break,
                    '\\' => {
                        text.push(self.peek().ok_or_else(|| self.wrong())?);
                        self.at += 1;
                    }
                    c => text.push(c),
                }
            }
            if text.is_empty() {
                return Err(self.wrong());
            }
        } else {
            while let Some(c) = self.peek() {
                match c {
                    '\\' => {
                        self.at += 1;
                        text.push(self.peek().ok_or_else(|| self.wrong())?);
                    }
                    c if c.is_whitespace() || matches!(c, '!' | '&' | '|' | '(' | ')' | ':' | '<') => break,
                    c => text.push(c),
                }
                self.at += 1;
            }
        }
        if text.len() > MAX_LEXEME {
            return Err(PgError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, format!("word is too long in tsquery: \"{}\"", self.text)));
        }
        let (mut weights, mut prefix) = (0, false);
        if self.peek() == Some(':') {
            self.at += 1;
            while let Some(c) = self.peek() {
                match c.to_ascii_uppercase() {
                    'A' => weights |= 8,
                    'B' => weights |= 4,
                    'C' => weights |= 2,
                    'D' => weights |= 1,
                    '*' => prefix = true,
                    _ => break,
                }
                self.at += 1;
            }
        }
        (self.operand)(&text, weights, prefix)
    }
}

/// Takes out words that were left out; distances grow by the words between. The numbers are what is missing before and behind.
#[must_use]
pub fn clean(node: Node) -> (Option<Node>, u16, u16) {
    match node {
        Node::Stop => (None, 0, 0),
        Node::Lexeme { .. } => (Some(node), 0, 0),
        Node::Not(inner) => {
            let (inner, before, behind) = clean(*inner);
            (inner.map(|n| Node::Not(Box::new(n))), before, behind)
        }
        Node::And(left, right) => joined(clean(*left), clean(*right), None, |l, r, _| Node::And(l, r)),
        Node::Or(left, right) => joined(clean(*left), clean(*right), None, |l, r, _| Node::Or(l, r)),
        Node::Phrase(left, right, distance) => joined(clean(*left), clean(*right), Some(distance), Node::Phrase),
    }
}

type Cleaned = (Option<Node>, u16, u16);

fn joined(left: Cleaned, right: Cleaned, distance: Option<u16>, make: impl FnOnce(Box<Node>, Box<Node>, u16) -> Node) -> Cleaned {
    let (left, l_before, l_behind) = left;
    let (right, r_before, r_behind) = right;
    let far = |a: u16, b: u16| a.saturating_add(distance.unwrap_or(0)).saturating_add(b).min(MAX_DISTANCE);
    match (left, right) {
        (None, None) => {
            let gap = if distance.is_some() { far(l_before, r_before) } else { l_before.max(r_before) };
            (None, gap, gap)
        }
        (None, right) => (right, if distance.is_some() { far(l_before, r_before) } else { r_before }, r_behind),
        (left, None) => (left, l_before, if distance.is_some() { far(l_behind, r_behind) } else { l_behind }),
        (Some(left), Some(right)) => {
            let node = make(Box::new(left), Box::new(right), far(l_behind, r_before));
            if distance.is_some() { (Some(node), l_before, r_behind) } else { (Some(node), 0, 0) }
        }
    }
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(node) => write(node, 0, false, f),
            None => Ok(()),
        }
    }
}

fn write(node: &Node, outer: u8, right_of_phrase: bool, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (priority, sign, left, right) = match node {
        Node::Stop => return Ok(()),
        Node::Lexeme { text, weights, prefix } => {
            quote(text, f)?;
            if *prefix || *weights != 0 {
                f.write_str(":")?;
                f.write_str(if *prefix { "*" } else { "" })?;
                for (bit, letter) in [(8, "A"), (4, "B"), (2, "C"), (1, "D")] {
                    f.write_str(if weights & bit != 0 { letter } else { "" })?;
                }
            }
            return Ok(());
        }
        Node::Not(inner) => {
            let brackets = 4 < outer;
            f.write_str(if brackets { "( !" } else { "!" })?;
            write(inner, 4, false, f)?;
            return f.write_str(if brackets { " )" } else { "" });
        }
        Node::Or(l, r) => (1, " | ".to_owned(), l, r),
        Node::And(l, r) => (2, " & ".to_owned(), l, r),
        Node::Phrase(l, r, 1) => (3, " <-> ".to_owned(), l, r),
        Node::Phrase(l, r, n) => (3, format!(" <{n}> "), l, r),
    };
    let brackets = (priority == 3 && right_of_phrase) || priority < outer;
    f.write_str(if brackets { "( " } else { "" })?;
    write(left, priority, false, f)?;
    f.write_str(&sign)?;
    write(right, priority, priority == 3, f)?;
    f.write_str(if brackets { " )" } else { "" })
}
