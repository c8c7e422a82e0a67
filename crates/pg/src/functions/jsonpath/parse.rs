//! Text to jsonpath: tokens, then recursive descent by precedence.

use super::syntax::{Arithmetic, Comparison, Expr, Method, Path, Step};
use crate::error::{PgError, PgResult};
use crate::sqlstate::SqlState;
use crate::values::json::number;
use std::sync::Arc;
use stoa_text::regexp::{Mode, Options, Regexp, compiled};

/// How deep expressions may be nested.
const MAX_DEPTH: usize = 400;

#[derive(Clone, PartialEq, Eq, Debug)]
enum Token {
    /// A word without quotes: a key or a keyword.
    Word(String),
    Quoted(String),
    Variable(String),
    /// Digits only, or any other number.
    Integer(String),
    Number(String),
    Sign(&'static str),
    End,
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<(Token, usize, usize)>,
    at: usize,
    depth: usize,
    /// Whether `@` and `last` mean something here.
    in_filter: usize,
    in_subscript: usize,
}

fn syntax(message: impl Into<String>) -> PgError {
    PgError::new(SqlState::SYNTAX_ERROR, message)
}

const SIGNS: &[&str] = &[
    "&&", "||", "==", "<>", "!=", "<=", ">=", "**", "=", "<", ">", "!", "+", "-", "*", "/", "%", "(", ")", "[", "]", "{", "}", "?", ",",
    ".", "@", "$", ":", "#", "|", "&",
];

fn is_special(c: char) -> bool {
    matches!(
        c,
        '?' | '%'
            | '$'
            | '.'
            | '['
            | ']'
            | '{'
            | '}'
            | '('
            | ')'
            | '|'
            | '&'
            | '!'
            | '='
            | '<'
            | '>'
            | '@'
            | '#'
            | ','
            | '*'
            | ':'
            | '-'
            | '+'
            | '/'
            | '\\'
            | '"'
            | ' '
            | '\t'
            | '\n'
            | '\r'
            | '\u{c}'
    )
}

/// Cuts the text into tokens.
fn tokenize(text: &str) -> PgResult<Vec<(Token, usize, usize)>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    let rest = |at: usize| text.get(at..).unwrap_or("");
    while at < text.len() {
        let from = at;
        let tail = rest(at);
        let Some(first) = tail.chars().next() else { break };
        let token = if matches!(first, ' ' | '\t' | '\n' | '\r' | '\u{c}') {
            at += 1;
            continue;
        } else if let Some(comment) = tail.strip_prefix("/*") {
            match comment.find("*/") {
                Some(end) => at += 4 + end,
                None => return Err(syntax("unexpected end of comment at end of jsonpath input")),
            }
            continue;
        } else if first == '"' {
            let (value, end) = quoted(text, at)?;
            at = end;
            Token::Quoted(value)
        } else if first == '$' && rest(at + 1).starts_with('"') {
            let (value, end) = quoted(text, at + 1)?;
            at = end;
            Token::Variable(value)
        } else if first == '$' && rest(at + 1).chars().next().is_some_and(|c| !is_special(c) || c == '\\') {
            let (value, end) = word(text, at + 1)?;
            at = end;
            Token::Variable(value)
        } else if first.is_ascii_digit() || (first == '.' && rest(at + 1).starts_with(|c: char| c.is_ascii_digit())) {
            let (token, end) = numeral(text, at)?;
            at = end;
            token
        } else if !is_special(first) || first == '\\' {
            let (value, end) = word(text, at)?;
            at = end;
            Token::Word(value)
        } else if let Some(sign) = SIGNS.iter().find(|sign| tail.starts_with(**sign)) {
            at += sign.len();
            Token::Sign(sign)
        } else {
            return Err(syntax(format!("syntax error at or near \"{first}\" of jsonpath input")));
        };
        tokens.push((token, from, at));
    }
    tokens.push((Token::End, text.len(), text.len()));
    Ok(tokens)
}

fn numeral(text: &str, from: usize) -> PgResult<(Token, usize)> {
    let bytes = text.as_bytes();
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let leading_zero = bytes.get(from) == Some(&b'0');
    let mut at = if leading_zero { from + 1 } else { digits(from) };
    let mut integer = true;
    if bytes.get(at) == Some(&b'.') {
        integer = false;
        at = digits(at + 1);
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let mut exponent = at + 1;
        if matches!(bytes.get(exponent), Some(b'+' | b'-')) {
            exponent += 1;
        }
        let end = digits(exponent);
        if end > exponent {
            integer = false;
            at = end;
        }
    }
    if let Some(junk) = text.get(at..).and_then(|t| t.chars().next())
        && !is_special(junk)
    {
        let shown = text.get(from..at + junk.len_utf8()).unwrap_or("");
        return Err(syntax(format!("trailing junk after numeric literal at or near \"{shown}\" of jsonpath input")));
    }
    let shown = text.get(from..at).unwrap_or("");
    if integer {
        return Ok((Token::Integer(shown.to_owned()), at));
    }
    // JSON's syntax wants digits on both sides of the point.
    let (mantissa, exponent) = shown.split_at(shown.find(['e', 'E']).unwrap_or(shown.len()));
    let mantissa = match mantissa.split_once('.') {
        Some((whole, "")) => whole.to_owned(),
        Some(("", fraction)) => format!("0.{fraction}"),
        _ => mantissa.to_owned(),
    };
    Ok((Token::Number(canonical(&format!("{mantissa}{exponent}"))?), at))
}

fn canonical(text: &str) -> PgResult<String> {
    let mut out = Vec::new();
    number::canonical(text, &mut out)?;
    String::from_utf8(out).map_err(|_| PgError::internal("a number that is not UTF-8"))
}

/// A quoted string that starts at `from`.
fn quoted(text: &str, from: usize) -> PgResult<(String, usize)> {
    let mut out = String::new();
    let mut at = from + 1;
    loop {
        match text.get(at..).and_then(|t| t.chars().next()) {
            None => return Err(syntax("unterminated quoted string at end of jsonpath input")),
            Some('"') => return Ok((out, at + 1)),
            Some('\\') => at = escape(text, at, &mut out)?,
            Some(c) => {
                out.push(c);
                at += c.len_utf8();
            }
        }
    }
}

/// A word that starts at `from`.
fn word(text: &str, from: usize) -> PgResult<(String, usize)> {
    let mut out = String::new();
    let mut at = from;
    loop {
        match text.get(at..).and_then(|t| t.chars().next()) {
            Some('\\') => at = escape(text, at, &mut out)?,
            Some(c) if !is_special(c) => {
                out.push(c);
                at += c.len_utf8();
            }
            _ => return Ok((out, at)),
        }
    }
}

/// An escape whose backslash is at `at`; gives the position behind it.
fn escape(text: &str, at: usize, out: &mut String) -> PgResult<usize> {
    let hex = |from: usize, len: usize| {
        text.get(from..from + len).filter(|h| h.bytes().all(|b| b.is_ascii_hexdigit())).and_then(|h| u32::from_str_radix(h, 16).ok())
    };
    let near = |end: usize| text.get(at..end.min(text.len())).unwrap_or("\\").to_owned();
    let Some(c) = text.get(at + 1..).and_then(|t| t.chars().next()) else {
        return Err(syntax("unexpected end after backslash at end of jsonpath input"));
    };
    match c {
        'b' => out.push('\u{8}'),
        'f' => out.push('\u{c}'),
        'n' => out.push('\n'),
        'r' => out.push('\r'),
        't' => out.push('\t'),
        'v' => out.push('\u{b}'),
        'x' => {
            let Some(code) = hex(at + 2, 2) else {
                return Err(syntax(format!("invalid hexadecimal character sequence at or near \"{}\" of jsonpath input", near(at + 2))));
            };
            push_code(code, out)?;
            return Ok(at + 4);
        }
        'u' => {
            let (mut code, mut end) = code_unit(text, at + 2, &hex)?;
            if (0xD800..0xDC00).contains(&code) {
                let low = if text.get(end..end + 2) == Some("\\u") { Some(code_unit(text, end + 2, &hex)?) } else { None };
                match low {
                    Some((low @ 0xDC00..=0xDFFF, after)) => {
                        code = 0x10000 + ((code & 0x3ff) << 10) + (low & 0x3ff);
                        end = after;
                    }
                    _ => return Err(surrogate("Unicode low surrogate must follow a high surrogate.")),
                }
            } else if (0xDC00..0xE000).contains(&code) {
                return Err(surrogate("Unicode low surrogate must follow a high surrogate."));
            }
            push_code(code, out)?;
            return Ok(end);
        }
        other => {
            out.push(other);
            return Ok(at + 1 + other.len_utf8());
        }
    }
    Ok(at + 2)
}

/// `XXXX` or `{X…}` behind `\u`.
fn code_unit(text: &str, from: usize, hex: &impl Fn(usize, usize) -> Option<u32>) -> PgResult<(u32, usize)> {
    let bad = || syntax(format!("invalid Unicode escape sequence at or near \"{}\" of jsonpath input", "\\u"));
    if text.get(from..).is_some_and(|t| t.starts_with('{')) {
        let len = text.get(from + 1..).and_then(|t| t.find('}')).filter(|len| (1..=6).contains(len)).ok_or_else(bad)?;
        return Ok((hex(from + 1, len).ok_or_else(bad)?, from + len + 2));
    }
    Ok((hex(from, 4).ok_or_else(bad)?, from + 4))
}

fn surrogate(detail: &str) -> PgError {
    PgError::new(SqlState::INVALID_TEXT_REPRESENTATION, "invalid input syntax for type jsonpath").detail(detail)
}

fn push_code(code: u32, out: &mut String) -> PgResult<()> {
    if code == 0 {
        return Err(PgError::new(SqlState::UNTRANSLATABLE_CHARACTER, "unsupported Unicode escape sequence")
            .detail("\\u0000 cannot be converted to text."));
    }
    out.push(char::from_u32(code).ok_or_else(|| surrogate("Unicode escape value is out of range."))?);
    Ok(())
}

/// Parses a path.
///
/// # Errors
/// 42601 for syntax, 22P02 for an empty text, 2201B for a pattern of `like_regex`.
pub fn parse(text: &str) -> PgResult<Path> {
    let tokens = tokenize(text)?;
    if tokens.len() == 1 {
        return Err(PgError::invalid_text("jsonpath", text));
    }
    let mut parser = Parser { text, tokens, at: 0, depth: 0, in_filter: 0, in_subscript: 0 };
    let strict = parser.keyword("strict");
    if !strict {
        parser.keyword("lax");
    }
    let expr = parser.or()?;
    if *parser.peek() != Token::End {
        return Err(parser.unexpected());
    }
    Ok(Path { strict, expr })
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        self.tokens.get(self.at).map_or(&Token::End, |(token, ..)| token)
    }

    fn unexpected(&self) -> PgError {
        match self.tokens.get(self.at) {
            // A word is only seen to be complete at what follows it.
            Some((Token::Word(_), _, end)) if *end == self.text.len() => syntax("syntax error at end of jsonpath input"),
            Some((token, from, to)) if *token != Token::End => {
                syntax(format!("syntax error at or near \"{}\" of jsonpath input", self.text.get(*from..*to).unwrap_or("")))
            }
            _ => syntax("syntax error at end of jsonpath input"),
        }
    }

    fn sign(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Token::Sign(s) if *s == sign);
        if found {
            self.at += 1;
        }
        found
    }

    fn expect(&mut self, sign: &str) -> PgResult<()> {
        if self.sign(sign) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn is_keyword(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(w) if w.eq_ignore_ascii_case(word))
    }

    fn keyword(&mut self, word: &str) -> bool {
        let found = self.is_keyword(word);
        if found {
            self.at += 1;
        }
        found
    }

    fn deeper<T>(&mut self, f: impl FnOnce(&mut Self) -> PgResult<T>) -> PgResult<T> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(crate::values::json::text::too_deep());
        }
        let result = f(self);
        self.depth -= 1;
        result
    }

    /// Requires a predicate, or an expression.
    fn kind(&self, expr: Expr, predicate: bool) -> PgResult<Expr> {
        if expr.is_predicate() == predicate { Ok(expr) } else { Err(self.unexpected()) }
    }

    fn or(&mut self) -> PgResult<Expr> {
        let mut left = self.and()?;
        while matches!(self.peek(), Token::Sign("||")) {
            left = self.kind(left, true)?;
            self.at += 1;
            let right = self.and()?;
            left = Expr::Or(Box::new(left), Box::new(self.kind(right, true)?));
        }
        Ok(left)
    }

    fn and(&mut self) -> PgResult<Expr> {
        let mut left = self.comparison()?;
        while matches!(self.peek(), Token::Sign("&&")) {
            left = self.kind(left, true)?;
            self.at += 1;
            let right = self.comparison()?;
            left = Expr::And(Box::new(left), Box::new(self.kind(right, true)?));
        }
        Ok(left)
    }

    fn comparison(&mut self) -> PgResult<Expr> {
        if matches!(self.peek(), Token::Sign("!")) {
            self.at += 1;
            let exists = self.is_keyword("exists");
            if !exists && !matches!(self.peek(), Token::Sign("(")) {
                return Err(self.unexpected());
            }
            let inner = self.deeper(Self::unary)?;
            return Ok(Expr::Not(Box::new(self.kind(inner, true)?)));
        }
        let left = self.additive()?;
        let comparison = match self.peek() {
            Token::Sign("==" | "=") => Some(Comparison::Equal),
            Token::Sign("<>" | "!=") => Some(Comparison::NotEqual),
            Token::Sign("<") => Some(Comparison::Less),
            Token::Sign("<=") => Some(Comparison::LessOrEqual),
            Token::Sign(">") => Some(Comparison::Greater),
            Token::Sign(">=") => Some(Comparison::GreaterOrEqual),
            _ => None,
        };
        if let Some(comparison) = comparison {
            let left = self.kind(left, false)?;
            self.at += 1;
            let right = self.additive()?;
            return Ok(Expr::Compare(comparison, Box::new(left), Box::new(self.kind(right, false)?)));
        }
        if self.is_keyword("starts") {
            let left = self.kind(left, false)?;
            self.at += 1;
            if !self.keyword("with") {
                return Err(self.unexpected());
            }
            let initial = match self.peek().clone() {
                Token::Quoted(value) => Expr::String(value),
                Token::Variable(name) => Expr::Variable(name),
                _ => return Err(self.unexpected()),
            };
            self.at += 1;
            return Ok(Expr::StartsWith(Box::new(left), Box::new(initial)));
        }
        if self.is_keyword("like_regex") {
            let left = self.kind(left, false)?;
            self.at += 1;
            let Token::Quoted(pattern) = self.peek().clone() else { return Err(self.unexpected()) };
            self.at += 1;
            let mut flags = String::new();
            if self.keyword("flag") {
                let Token::Quoted(given) = self.peek().clone() else { return Err(self.unexpected()) };
                self.at += 1;
                flags = canonical_flags(&given)?;
            }
            let regex = compile(&pattern, &flags)?;
            return Ok(Expr::LikeRegex { of: Box::new(left), pattern, flags, regex });
        }
        Ok(left)
    }

    fn additive(&mut self) -> PgResult<Expr> {
        let mut left = self.multiplicative()?;
        loop {
            let op = match self.peek() {
                Token::Sign("+") => Arithmetic::Add,
                Token::Sign("-") => Arithmetic::Sub,
                _ => return Ok(left),
            };
            left = self.kind(left, false)?;
            self.at += 1;
            let right = self.multiplicative()?;
            left = Expr::Binary(op, Box::new(left), Box::new(self.kind(right, false)?));
        }
    }

    fn multiplicative(&mut self) -> PgResult<Expr> {
        let mut left = self.deeper(Self::unary)?;
        loop {
            let op = match self.peek() {
                Token::Sign("*") => Arithmetic::Mul,
                Token::Sign("/") => Arithmetic::Div,
                Token::Sign("%") => Arithmetic::Mod,
                _ => return Ok(left),
            };
            left = self.kind(left, false)?;
            self.at += 1;
            let right = self.deeper(Self::unary)?;
            left = Expr::Binary(op, Box::new(left), Box::new(self.kind(right, false)?));
        }
    }

    fn unary(&mut self) -> PgResult<Expr> {
        let negative = match self.peek() {
            Token::Sign("-") => true,
            Token::Sign("+") => false,
            _ => return self.primary(),
        };
        self.at += 1;
        let of = self.deeper(Self::unary)?;
        Ok(match self.kind(of, false)? {
            Expr::Number(digits) if !negative => Expr::Number(digits),
            Expr::Number(digits) => {
                let flipped = match digits.strip_prefix('-') {
                    Some(positive) => positive.to_owned(),
                    None => format!("-{digits}"),
                };
                Expr::Number(canonical(&flipped)?)
            }
            of => Expr::Sign { negative, of: Box::new(of) },
        })
    }

    fn primary(&mut self) -> PgResult<Expr> {
        let token = self.peek().clone();
        let base = match token {
            Token::Sign("(") => {
                self.at += 1;
                let inner = self.deeper(Self::or)?;
                self.expect(")")?;
                if inner.is_predicate() && self.is_keyword("is") {
                    self.at += 1;
                    if !self.keyword("unknown") {
                        return Err(self.unexpected());
                    }
                    return Ok(Expr::IsUnknown(Box::new(inner)));
                }
                let steps = self.steps()?;
                return Ok(match inner {
                    inner if steps.is_empty() => inner,
                    // Brackets around a path change nothing.
                    Expr::Access { base, steps: mut all } => {
                        all.extend(steps);
                        Expr::Access { base, steps: all }
                    }
                    inner => Expr::Access { base: Box::new(inner), steps },
                });
            }
            Token::Word(word) if word.eq_ignore_ascii_case("exists") => {
                self.at += 1;
                self.expect("(")?;
                let inner = self.deeper(Self::or)?;
                let inner = self.kind(inner, false)?;
                self.expect(")")?;
                return Ok(Expr::Exists(Box::new(inner)));
            }
            Token::Word(word) => match word.as_str() {
                "null" => Expr::Null,
                "true" => Expr::Bool(true),
                "false" => Expr::Bool(false),
                word if word.eq_ignore_ascii_case("last") => {
                    if self.in_subscript == 0 {
                        return Err(syntax("LAST is allowed only in array subscripts"));
                    }
                    Expr::Last
                }
                _ => return Err(self.unexpected()),
            },
            Token::Quoted(value) => Expr::String(value),
            Token::Variable(name) => Expr::Variable(name),
            Token::Integer(digits) | Token::Number(digits) => Expr::Number(canonical(&digits)?),
            Token::Sign("$") => Expr::Root,
            Token::Sign("@") => {
                if self.in_filter == 0 {
                    return Err(syntax("@ is not allowed in root expressions"));
                }
                Expr::Current
            }
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        let steps = self.steps()?;
        Ok(if steps.is_empty() { base } else { Expr::Access { base: Box::new(base), steps } })
    }

    fn steps(&mut self) -> PgResult<Vec<Step>> {
        let mut steps = Vec::new();
        loop {
            if self.sign("?") {
                self.expect("(")?;
                self.in_filter += 1;
                let predicate = self.deeper(Self::or)?;
                self.in_filter -= 1;
                let predicate = self.kind(predicate, true)?;
                self.expect(")")?;
                steps.push(Step::Filter(predicate));
            } else if self.sign("[") {
                steps.push(self.subscript()?);
            } else if self.sign(".") {
                steps.push(self.member()?);
            } else {
                return Ok(steps);
            }
        }
    }

    fn subscript(&mut self) -> PgResult<Step> {
        if matches!(self.peek(), Token::Sign("*")) {
            self.at += 1;
            self.expect("]")?;
            return Ok(Step::AnyElement);
        }
        self.in_subscript += 1;
        let mut list = Vec::new();
        loop {
            let from = self.deeper(Self::additive)?;
            let from = self.kind(from, false)?;
            let to = if self.keyword("to") {
                let to = self.deeper(Self::additive)?;
                Some(self.kind(to, false)?)
            } else {
                None
            };
            list.push((from, to));
            if !self.sign(",") {
                break;
            }
        }
        self.in_subscript -= 1;
        self.expect("]")?;
        Ok(Step::Index(list))
    }

    fn level(&mut self) -> PgResult<Option<u32>> {
        if self.keyword("last") {
            return Ok(None);
        }
        let Token::Integer(digits) = self.peek().clone() else { return Err(self.unexpected()) };
        self.at += 1;
        digits.parse::<u32>().map(Some).map_err(|_| PgError::value_out_of_range("integer", &digits))
    }

    fn member(&mut self) -> PgResult<Step> {
        let token = self.peek().clone();
        self.at += 1;
        match token {
            Token::Sign("*") => Ok(Step::AnyKey),
            Token::Sign("**") => {
                if !self.sign("{") {
                    return Ok(Step::AnyDepth { from: Some(0), to: None });
                }
                let from = self.level()?;
                let to = if self.keyword("to") { self.level()? } else { from };
                self.expect("}")?;
                Ok(Step::AnyDepth { from, to })
            }
            Token::Quoted(key) => Ok(Step::Key(key)),
            Token::Word(word) if matches!(self.peek(), Token::Sign("(")) => {
                let method = match word.to_ascii_lowercase().as_str() {
                    "type" => Method::Type,
                    "size" => Method::Size,
                    "double" => Method::Double,
                    "ceiling" => Method::Ceiling,
                    "floor" => Method::Floor,
                    "abs" => Method::Abs,
                    "keyvalue" => Method::KeyValue,
                    "datetime" => {
                        self.at += 1;
                        let template = match self.peek().clone() {
                            Token::Quoted(template) => {
                                self.at += 1;
                                Some(template)
                            }
                            _ => None,
                        };
                        self.expect(")")?;
                        return Ok(Step::Datetime(template));
                    }
                    _ => return Err(self.unexpected()),
                };
                self.at += 1;
                self.expect(")")?;
                Ok(Step::Method(method))
            }
            Token::Word(key) => Ok(Step::Key(key)),
            _ => {
                self.at -= 1;
                Err(self.unexpected())
            }
        }
    }
}

/// Flags in the order in which they print.
fn canonical_flags(given: &str) -> PgResult<String> {
    for flag in given.chars() {
        match flag {
            'i' | 's' | 'm' | 'q' => {}
            'x' => return Err(PgError::unsupported("XQuery \"x\" flag (expanded regular expressions) is not implemented")),
            other => {
                return Err(syntax("invalid input syntax for type jsonpath")
                    .detail(format!("Unrecognized flag character \"{other}\" in LIKE_REGEX predicate.")));
            }
        }
    }
    Ok("ismq".chars().filter(|flag| given.contains(*flag)).collect())
}

/// As XQuery has it, a point matches no newline unless `s` says so, and with `q` the other flags but `i` mean nothing.
fn compile(pattern: &str, flags: &str) -> PgResult<Arc<Regexp>> {
    let has = |flag| flags.contains(flag);
    let mut options = Options { ignore_case: has('i'), ..Options::default() };
    if has('q') {
        options.mode = Mode::Literal;
    } else {
        (options.newline_stops, options.newline_anchors) = (!has('s'), has('m'));
    }
    compiled(pattern, options)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    /// Texts are PostgreSQL 15's.
    #[test]
    fn canonical_text() {
        for (given, wanted) in [
            ("(1).type()", "(1).type()"),
            ("($.a+1).type()", "($.\"a\" + 1).type()"),
            ("-1", "-1"),
            ("-($.a)", "(-$.\"a\")"),
            ("$.a ? (@.b > 1 && !(@.c == \"x\") || exists(@.d))", "$.\"a\"?(@.\"b\" > 1 && !(@.\"c\" == \"x\") || exists (@.\"d\"))"),
            ("$.** {2 to last}.x", "$.**{2 to last}.\"x\""),
            ("strict $[0, 1 to last - 1]", "strict $[0,1 to last - 1]"),
            ("$.a starts with $x", "($.\"a\" starts with $\"x\")"),
            ("$.\"a b\".*[*]", "$.\"a b\".*[*]"),
            ("lax $", "$"),
            ("$.a.datetime(\"HH\")", "$.\"a\".datetime(\"HH\")"),
            ("($.a > 1) is unknown", "($.\"a\" > 1) is unknown"),
            ("-$.a * 2", "(-$.\"a\" * 2)"),
            ("1.5e3", "1500"),
            ("($.a == 1 || $.b == 2) && $.c == 3", "(($.\"a\" == 1 || $.\"b\" == 2) && $.\"c\" == 3)"),
            ("$.a == 1 || $.b == 2 && $.c == 3", "($.\"a\" == 1 || $.\"b\" == 2 && $.\"c\" == 3)"),
            ("1 - (2 - 3)", "(1 - (2 - 3))"),
            ("1 - 2 - 3", "((1 - 2) - 3)"),
            ("\"a\\u0041\\x42\\n'\"", "\"aAB\\n'\""),
            ("$.**{0}", "$.**{0}"),
            ("$.**{last}", "$.**{last}"),
            ("$.x.double().ceiling().keyvalue()", "$.\"x\".double().ceiling().keyvalue()"),
            ("1..type()", "(1).type()"),
            ("$.a /* c */ .b", "$.\"a\".\"b\""),
            ("$.a.TYPE()", "$.\"a\".type()"),
            ("$.type", "$.\"type\""),
            ("($ ? (@ > 1))", "$?(@ > 1)"),
            ("$.a\\\"b", "$.\"a\\\"b\""),
            ("+$", "(+$)"),
            ("$.a like_regex \"^a\" flag \"mi\"", "($.\"a\" like_regex \"^a\" flag \"im\")"),
        ] {
            let path = parse(given).unwrap().to_string();
            assert_eq!(path, wanted, "{given}");
            assert_eq!(parse(&path).unwrap().to_string(), path, "{given} again");
        }
    }

    #[test]
    fn faults() {
        for (given, code, message) in [
            ("", "22P02", "invalid input syntax for type jsonpath: \"\""),
            ("$.a +", "42601", "syntax error at end of jsonpath input"),
            ("@", "42601", "@ is not allowed in root expressions"),
            ("last", "42601", "LAST is allowed only in array subscripts"),
            ("$.1a", "42601", "trailing junk after numeric literal at or near \".1a\" of jsonpath input"),
            ("$ & $", "42601", "syntax error at or near \"&\" of jsonpath input"),
            ("$.-1", "42601", "syntax error at or near \"-\" of jsonpath input"),
            ("1.type()", "42601", "trailing junk after numeric literal at or near \"1.t\" of jsonpath input"),
            ("00", "42601", "trailing junk after numeric literal at or near \"00\" of jsonpath input"),
            ("$ ? (true)", "42601", "syntax error at or near \")\" of jsonpath input"),
            ("$.a ? (@.b)", "42601", "syntax error at or near \")\" of jsonpath input"),
            ("1 == 1 == 1", "42601", "syntax error at or near \"==\" of jsonpath input"),
            ("NULL", "42601", "syntax error at end of jsonpath input"),
            ("$.a ? (@ like_regex \"a\" flag \"x\")", "0A000", "XQuery \"x\" flag (expanded regular expressions) is not implemented"),
        ] {
            let error = parse(given).unwrap_err();
            assert_eq!((error.code().as_str(), error.message()), (code, message), "{given}");
        }
        assert!(parse(&"(".repeat(100_000)).is_err());
        assert!(parse(&format!("{}1", "-".repeat(100_000))).is_err());
    }
}
