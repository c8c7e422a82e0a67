//! Names of types as SQL writes them, with modifiers and brackets: what `regtype` reads.

use crate::error::{PgError, PgResult};
use crate::sqlstate::SqlState;
use crate::types::{PgType, SqlType, numeric_typmod_of, type_by_name};
use crate::values::bit::bit_typmod;

/// Reads a type name: `numeric(10,2)[]`, `timestamp(3) with time zone`, `"char"`, `pg_catalog.int4`.
///
/// # Errors
/// 42601 for what is no type name, 42704 for a type that does not exist, 22023 for a modifier out of its range.
pub fn parse_type_name(text: &str) -> PgResult<SqlType> {
    let tokens = tokens(text)?;
    let mut at = Cursor { tokens: &tokens, at: 0, text };
    let ty = at.type_name()?;
    match at.peek() {
        None => Ok(ty),
        Some(_) => Err(at.error()),
    }
}

#[derive(Clone, PartialEq, Debug)]
enum Token {
    Word(String),
    Quoted(String),
    Number(i64),
    Symbol(char),
}

fn syntax(at: &str, text: &str) -> PgError {
    let message = if at.is_empty() { "syntax error at end of input".to_owned() } else { format!("syntax error at or near \"{at}\"") };
    PgError::new(SqlState::SYNTAX_ERROR, message).context(format!("invalid type name \"{text}\""))
}

fn tokens(text: &str) -> PgResult<Vec<Token>> {
    let mut out = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(&c) = chars.peek() {
        if c.is_whitespace() {
            chars.next();
        } else if c == '"' {
            chars.next();
            let mut name = String::new();
            loop {
                match chars.next() {
                    Some('"') if chars.peek() == Some(&'"') => {
                        chars.next();
                        name.push('"');
                    }
                    Some('"') => break,
                    Some(c) => name.push(c),
                    None => return Err(syntax("", text)),
                }
            }
            out.push(Token::Quoted(name));
        } else if c.is_alphabetic() || c == '_' {
            let mut word = String::new();
            while let Some(&c) = chars.peek().filter(|c| c.is_alphanumeric() || matches!(c, '_' | '$')) {
                word.extend(c.to_lowercase());
                chars.next();
            }
            out.push(Token::Word(word));
        } else if c.is_ascii_digit() || c == '-' {
            let mut number = String::new();
            while let Some(&c) = chars.peek().filter(|c| c.is_ascii_digit() || **c == '-') {
                number.push(c);
                chars.next();
            }
            out.push(Token::Number(number.parse().map_err(|_| syntax(&number, text))?));
        } else if matches!(c, '(' | ')' | '[' | ']' | ',' | '.') {
            chars.next();
            out.push(Token::Symbol(c));
        } else {
            return Err(syntax(&c.to_string(), text));
        }
    }
    Ok(out)
}

struct Cursor<'a> {
    tokens: &'a [Token],
    at: usize,
    text: &'a str,
}

impl Cursor<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn error(&self) -> PgError {
        let near = match self.peek() {
            None => String::new(),
            Some(Token::Word(word) | Token::Quoted(word)) => word.clone(),
            Some(Token::Number(number)) => number.to_string(),
            Some(Token::Symbol(symbol)) => symbol.to_string(),
        };
        syntax(&near, self.text)
    }

    fn word(&mut self, wanted: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Word(word)) if word == wanted);
        self.at += usize::from(found);
        found
    }

    fn symbol(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(&Token::Symbol(wanted));
        self.at += usize::from(found);
        found
    }

    fn type_name(&mut self) -> PgResult<SqlType> {
        let mut name = match self.peek() {
            Some(Token::Word(word)) => (word.clone(), false),
            Some(Token::Quoted(word)) => (word.clone(), true),
            _ => return Err(self.error()),
        };
        self.at += 1;
        if self.symbol('.') {
            let schema = name.0;
            name = match self.peek() {
                Some(Token::Word(word) | Token::Quoted(word)) => (word.clone(), true),
                _ => return Err(self.error()),
            };
            self.at += 1;
            if schema != "pg_catalog" {
                return Err(PgError::new(SqlState::UNDEFINED_OBJECT, format!("type \"{schema}.{}\" does not exist", name.0)));
            }
        }
        let (ty, typmod) = if name.1 { (self.find(&name.0, true)?, -1) } else { self.sql_name(&name.0)? };
        let typmod = if typmod == -1 && self.symbol('(') { self.modifier(&ty)? } else { typmod };
        // `timestamp(3) with time zone`: the modifier stands in the middle.
        let ty = if name.1 { ty } else { self.time_zone(ty) };
        let mut dimensions = 0;
        loop {
            if self.symbol('[') {
                if let Some(Token::Number(_)) = self.peek() {
                    self.at += 1;
                }
                if !self.symbol(']') {
                    return Err(self.error());
                }
            } else if self.word("array") {
                if self.symbol('[') {
                    self.at += 1;
                    if !self.symbol(']') {
                        return Err(self.error());
                    }
                }
            } else {
                break;
            }
            dimensions += 1;
        }
        Ok(SqlType::with_typmod(if dimensions > 0 { ty.array_of() } else { ty }, typmod))
    }

    fn find(&self, name: &str, quoted: bool) -> PgResult<PgType> {
        // A quoted name is the catalog's, not SQL's: "integer" is no type, "char" is the one-byte one.
        let found = type_by_name(name).filter(|ty| !quoted || ty.name() == name);
        found
            .filter(|ty| *ty != PgType::Unknown || name == "unknown")
            .ok_or_else(|| PgError::new(SqlState::UNDEFINED_OBJECT, format!("type \"{name}\" does not exist")))
    }

    fn sql_name(&mut self, first: &str) -> PgResult<(PgType, i32)> {
        Ok(match first {
            "double" if self.word("precision") => (PgType::Float8, -1),
            "character" | "char" | "nchar" | "national" => {
                if first == "national" && !self.word("character") && !self.word("char") {
                    return Err(self.error());
                }
                if self.word("varying") {
                    (PgType::Varchar, -1)
                } else {
                    // Without a length, char is char(1).
                    (PgType::Bpchar, if self.peek() == Some(&Token::Symbol('(')) { -1 } else { 5 })
                }
            }
            // Without a length, bit is bit(1).
            "bit" if self.word("varying") => (PgType::Varbit, -1),
            "bit" => (PgType::Bit, if self.peek() == Some(&Token::Symbol('(')) { -1 } else { 1 }),
            "float" => {
                if !self.symbol('(') {
                    return Ok((PgType::Float8, -1));
                }
                let Some(Token::Number(bits)) = self.peek().cloned() else { return Err(self.error()) };
                self.at += 1;
                if !self.symbol(')') {
                    return Err(self.error());
                }
                match bits {
                    1..=24 => (PgType::Float4, -1),
                    25..=53 => (PgType::Float8, -1),
                    n if n < 1 => {
                        return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, "precision for type float must be at least 1 bit"));
                    }
                    _ => {
                        return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, "precision for type float must be less than 54 bits"));
                    }
                }
            }
            "interval" => (PgType::Interval, self.interval_fields()?),
            "setof" => {
                return self.type_name().map(|ty| (ty.ty, ty.typmod));
            }
            other => (self.find(other, false)?, -1),
        })
    }

    fn modifier(&mut self, ty: &PgType) -> PgResult<i32> {
        let mut numbers = Vec::new();
        loop {
            let Some(Token::Number(number)) = self.peek().cloned() else { return Err(self.error()) };
            self.at += 1;
            numbers.push(number);
            if self.symbol(')') {
                break;
            }
            if !self.symbol(',') {
                return Err(self.error());
            }
        }
        let invalid = |message: String| PgError::new(SqlState::INVALID_PARAMETER_VALUE, message);
        let element = ty.element().unwrap_or_else(|| ty.clone());
        match (&element, numbers.as_slice()) {
            (PgType::Numeric, [precision, rest @ ..]) if rest.len() <= 1 => {
                let scale = rest.first().copied().unwrap_or(0);
                if !(1..=1000).contains(precision) {
                    return Err(invalid(format!("NUMERIC precision {precision} must be between 1 and 1000")));
                }
                if !(-1000..=1000).contains(&scale) {
                    return Err(invalid(format!("NUMERIC scale {scale} must be between -1000 and 1000")));
                }
                Ok(numeric_typmod_of(*precision as u16, scale as i32))
            }
            (PgType::Numeric, _) => Err(invalid("invalid NUMERIC type modifier".into())),
            (PgType::Varchar | PgType::Bpchar, [length]) => {
                let name = if element == PgType::Varchar { "varchar" } else { "char" };
                match *length {
                    n if n < 1 => Err(invalid(format!("length for type {name} must be at least 1"))),
                    n if n > 10_485_760 => Err(invalid(format!("length for type {name} cannot exceed 10485760"))),
                    n => Ok(n as i32 + 4),
                }
            }
            (PgType::Bit | PgType::Varbit, [length]) => bit_typmod(&element, *length),
            (PgType::Time | PgType::Timetz | PgType::Timestamp | PgType::Timestamptz, [precision]) => {
                if *precision < 0 {
                    let name = if matches!(element, PgType::Time | PgType::Timetz) { "TIME" } else { "TIMESTAMP" };
                    return Err(invalid(format!("{name}({precision}) precision must not be negative")));
                }
                Ok((*precision).min(6) as i32)
            }
            (PgType::Bytea, _) | (_, []) | (_, [_, ..]) => {
                Err(PgError::new(SqlState::SYNTAX_ERROR, format!("type modifier is not allowed for type \"{}\"", element.name())))
            }
        }
    }

    fn time_zone(&mut self, ty: PgType) -> PgType {
        let start = self.at;
        let with = self.word("with");
        if (with || self.word("without")) && self.word("time") && self.word("zone") {
            return match ty {
                PgType::Timestamp if with => PgType::Timestamptz,
                PgType::Time if with => PgType::Timetz,
                other => other,
            };
        }
        self.at = start;
        ty
    }

    /// `year to month`, `second(3)` and so on, or nothing, as a modifier of interval.
    fn interval_fields(&mut self) -> PgResult<i32> {
        const FIELDS: [(&str, i32); 6] =
            [("year", 1 << 2), ("month", 1 << 1), ("day", 1 << 3), ("hour", 1 << 10), ("minute", 1 << 11), ("second", 1 << 12)];
        const FULL_PRECISION: i32 = 0xFFFF;
        let mut range = 0x7FFF;
        let mut fields = false;
        if let Some(first) = FIELDS.iter().position(|(name, _)| self.word(name)) {
            fields = true;
            let last = if self.word("to") {
                FIELDS.iter().position(|(name, _)| self.word(name)).filter(|last| *last > first).ok_or_else(|| self.error())?
            } else {
                first
            };
            // Years go with months only, the rest among themselves.
            if (first == 0 && last > 1) || (first == 1 && last != 1) {
                return Err(self.error());
            }
            range = FIELDS.iter().skip(first).take(last - first + 1).map(|(_, bit)| bit).sum();
        }
        let mut precision = FULL_PRECISION;
        if self.symbol('(') {
            let Some(Token::Number(number)) = self.peek().cloned() else { return Err(self.error()) };
            self.at += 1;
            if !self.symbol(')') {
                return Err(self.error());
            }
            if number < 0 {
                return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("INTERVAL({number}) precision must not be negative")));
            }
            precision = number.min(6) as i32;
        }
        Ok(if !fields && precision == FULL_PRECISION { -1 } else { range << 16 | precision })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn names() {
        for (text, shown) in [
            ("numeric(10,2)[]", "numeric(10,2)[]"),
            ("INT4", "integer"),
            ("pg_catalog.int4", "integer"),
            ("double  precision", "double precision"),
            ("character varying(3)", "character varying(3)"),
            ("char", "character(1)"),
            ("\"char\"", "\"char\""),
            ("timestamp(3) with time zone", "timestamp(3) with time zone"),
            ("time without time zone", "time without time zone"),
            ("float(24)", "real"),
            ("_text", "text[]"),
            ("int[3][]", "integer[]"),
            ("bpchar", "character"),
        ] {
            assert_eq!(parse_type_name(text).unwrap().display_name(), shown, "{text}");
        }
        for (text, code) in [("abc", "42704"), ("int4 foo", "42601"), ("", "42601"), ("\"integer\"", "42704"), ("numeric(0)", "22023")] {
            assert_eq!(parse_type_name(text).unwrap_err().code().as_str(), code, "{text}");
        }
        assert_eq!(parse_type_name("interval day to second(3)").unwrap().typmod, 0x1C08_0003);
    }
}
