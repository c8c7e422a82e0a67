//! `tsvector`: lexemes in order, each with the positions where it stands.

use std::collections::BTreeMap;
use std::fmt;
use stoa_error::{PgError, PgResult, SqlState};

/// The last position; later ones count as this.
pub const MAX_POSITION: u16 = 16_383;
/// Positions that a lexeme may have.
const MAX_POSITIONS: usize = 255;
/// Bytes of a lexeme.
pub const MAX_LEXEME: usize = 2_046;
const MAX_BYTES: usize = 1 << 20;

/// Where a lexeme stands, and its weight: 0 is D, 3 is A.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Position {
    pub at: u16,
    pub weight: u8,
}

/// See the module.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Vector {
    /// By lexeme, in the order of bytes; positions ascending, each once.
    pub lexemes: BTreeMap<String, Vec<Position>>,
}

impl Vector {
    /// Adds a lexeme; a position counts once, with its greatest weight.
    pub fn add(&mut self, lexeme: &str, position: Option<Position>) {
        let positions = self.lexemes.entry(lexeme.to_owned()).or_default();
        let Some(position) = position else { return };
        let position = Position { at: position.at.clamp(1, MAX_POSITION), ..position };
        match positions.binary_search_by_key(&position.at, |p| p.at) {
            Ok(known) => {
                if let Some(p) = positions.get_mut(known) {
                    p.weight = p.weight.max(position.weight);
                }
            }
            Err(place) if positions.len() < MAX_POSITIONS => positions.insert(place, position),
            Err(_) => {}
        }
    }

    /// Reads the text form.
    ///
    /// # Errors
    /// 42601 as PostgreSQL raises it; 54000 for lexemes that are too long.
    pub fn parse(text: &str) -> PgResult<Self> {
        let wrong = || PgError::new(SqlState::SYNTAX_ERROR, format!("syntax error in tsvector: \"{text}\""));
        let mut out = Self::default();
        let mut chars = text.chars().peekable();
        loop {
            while chars.peek().is_some_and(|c| c.is_whitespace()) {
                chars.next();
            }
            let Some(first) = chars.peek().copied() else { break };
            let mut lexeme = String::new();
            if first == '\'' {
                chars.next();
                loop {
                    match chars.next() {
                        Some('\'') if chars.peek() == Some(&'\'') => {
                            chars.next();
                            lexeme.push('\'');
                        }
                        Some('\'') => break,
                        Some('\\') => lexeme.push(chars.next().ok_or_else(wrong)?),
                        Some(c) => lexeme.push(c),
                        None => return Err(wrong()),
                    }
                }
            } else {
                while let Some(c) = chars.peek().copied() {
                    match c {
                        ':' => break,
                        c if c.is_whitespace() => break,
                        '\\' => {
                            chars.next();
                            lexeme.push(chars.next().ok_or_else(|| {
                                PgError::new(SqlState::SYNTAX_ERROR, format!("there is no escaped character: \"{text}\""))
                            })?);
                        }
                        c => {
                            chars.next();
                            lexeme.push(c);
                        }
                    }
                }
            }
            if lexeme.is_empty() {
                return Err(wrong());
            }
            if lexeme.len() > MAX_LEXEME {
                let message = format!("word is too long ({} bytes, max {MAX_LEXEME} bytes)", lexeme.len());
                return Err(PgError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message));
            }
            out.add(&lexeme, None);
            if chars.peek() == Some(&':') {
                chars.next();
                loop {
                    let mut digits = String::new();
                    while let Some(c) = chars.peek().filter(|c| c.is_ascii_digit()) {
                        digits.push(*c);
                        chars.next();
                    }
                    let at: u64 = digits.parse().map_err(|_| wrong())?;
                    if at == 0 {
                        return Err(PgError::new(SqlState::SYNTAX_ERROR, format!("wrong position info in tsvector: \"{text}\"")));
                    }
                    let mut weight = 0;
                    while let Some(c) = chars.peek().copied() {
                        match c.to_ascii_uppercase() {
                            'A' | '*' => weight = 3,
                            'B' => weight = 2,
                            'C' => weight = 1,
                            'D' => weight = 0,
                            _ => break,
                        }
                        chars.next();
                    }
                    let at = u16::try_from(at).unwrap_or(MAX_POSITION).min(MAX_POSITION);
                    out.add(&lexeme, Some(Position { at, weight }));
                    match chars.peek() {
                        Some(',') => {
                            chars.next();
                        }
                        Some(c) if !c.is_whitespace() => return Err(wrong()),
                        _ => break,
                    }
                }
            }
        }
        if out.lexemes.iter().map(|(l, p)| l.len() + 2 * p.len()).sum::<usize>() > MAX_BYTES {
            return Err(PgError::new(
                SqlState::PROGRAM_LIMIT_EXCEEDED,
                format!("string is too long for tsvector (max {} bytes)", MAX_BYTES - 1),
            ));
        }
        Ok(out)
    }

    /// Reads a stored text form, which was written by [`fmt::Display`].
    ///
    /// # Errors
    /// As [`Vector::parse`].
    pub fn stored(text: &str) -> PgResult<Self> {
        Self::parse(text)
    }

    /// This document followed by another: its positions go on behind the last here.
    #[must_use]
    pub fn concat(&self, other: &Vector) -> Vector {
        let last = self.lexemes.values().flatten().map(|p| p.at).max().unwrap_or(0);
        let mut out = self.clone();
        for (lexeme, positions) in &other.lexemes {
            out.add(lexeme, None);
            for p in positions {
                out.add(lexeme, Some(Position { at: p.at.saturating_add(last).min(MAX_POSITION), weight: p.weight }));
            }
        }
        out
    }
}

/// A lexeme in quotes.
pub(super) fn quote(lexeme: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("'")?;
    for c in lexeme.chars() {
        match c {
            '\'' => f.write_str("''")?,
            '\\' => f.write_str("\\\\")?,
            c => write!(f, "{c}")?,
        }
    }
    f.write_str("'")
}

impl fmt::Display for Vector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, (lexeme, positions)) in self.lexemes.iter().enumerate() {
            if n > 0 {
                f.write_str(" ")?;
            }
            quote(lexeme, f)?;
            for (n, p) in positions.iter().enumerate() {
                write!(f, "{}{}", if n == 0 { ":" } else { "," }, p.at)?;
                f.write_str(["", "C", "B", "A"].get(usize::from(p.weight)).copied().unwrap_or(""))?;
            }
        }
        Ok(())
    }
}
