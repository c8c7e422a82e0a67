//! JSON text: a parser that validates and reports events, with PostgreSQL's errors; and a scanner over text that is valid
//! already, which gives the parts of a document as slices of it.
//!
//! The parser keeps its own stack, so depth costs no machine stack; documents deeper than [`MAX_DEPTH`] are refused because
//! readers of the result recurse.

use crate::error::{PgError, PgResult};
use crate::sqlstate::SqlState;
use std::borrow::Cow;

/// The deepest nesting of arrays and objects that is accepted.
pub const MAX_DEPTH: usize = 3000;

/// The error for nesting beyond [`MAX_DEPTH`].
#[must_use]
pub fn too_deep() -> PgError {
    PgError::new(SqlState::STATEMENT_TOO_COMPLEX, "stack depth limit exceeded")
        .hint(format!("JSON values may be nested at most {MAX_DEPTH} levels deep."))
}

/// What a parser reports; a sink passes over what it does not ask for.
pub trait Sink {
    /// Whether strings are decoded; a validator does without, and then accepts escapes that have no meaning (`\u0000`).
    const DECODES: bool;
    fn null(&mut self) -> PgResult<()> {
        Ok(())
    }
    fn bool(&mut self, _value: bool) -> PgResult<()> {
        Ok(())
    }
    /// A number in JSON's syntax.
    fn number(&mut self, _text: &str) -> PgResult<()> {
        Ok(())
    }
    fn string(&mut self, _value: &str) -> PgResult<()> {
        Ok(())
    }
    fn begin_array(&mut self) -> PgResult<()> {
        Ok(())
    }
    fn end_array(&mut self) -> PgResult<()> {
        Ok(())
    }
    fn begin_object(&mut self) -> PgResult<()> {
        Ok(())
    }
    fn key(&mut self, _key: &str) -> PgResult<()> {
        Ok(())
    }
    fn end_object(&mut self) -> PgResult<()> {
        Ok(())
    }
}

/// A sink that forgets: parsing into it validates, escapes too if it decodes.
struct Forget<const DECODES: bool>;

impl<const DECODES: bool> Sink for Forget<DECODES> {
    const DECODES: bool = DECODES;
}

/// Checks that `text` is one JSON value.
pub fn validate(text: &str) -> PgResult<()> {
    parse(text, &mut Forget::<false>)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Token {
    ObjectStart,
    ObjectEnd,
    ArrayStart,
    ArrayEnd,
    Comma,
    Colon,
    String,
    Number,
    True,
    False,
    Null,
    End,
}

/// Why a text is not JSON.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    EscapingInvalid,
    EscapingRequired,
    ExpectedEnd,
    ExpectedArrayNext,
    ExpectedColon,
    ExpectedJson,
    ExpectedObjectFirst,
    ExpectedObjectNext,
    ExpectedString,
    InvalidToken,
    UnicodeZero,
    UnicodeEscapeFormat,
    HighSurrogate,
    LowSurrogate,
}

struct Lexer<'a> {
    text: &'a str,
    token: Token,
    start: usize,
    end: usize,
    line: usize,
    line_start: usize,
    decodes: bool,
    decoded: Cow<'a, str>,
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

impl<'a> Lexer<'a> {
    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    /// The token's text.
    fn slice(&self) -> &'a str {
        self.text.get(self.start..self.end).unwrap_or("")
    }

    /// The end of the character that starts at or around `at`.
    fn char_end(&self, at: usize) -> usize {
        (at + 1..=self.text.len()).find(|i| self.text.is_char_boundary(*i)).unwrap_or(self.text.len())
    }

    fn advance(&mut self) -> PgResult<()> {
        let mut at = self.end;
        while let Some(byte) = self.byte(at) {
            match byte {
                b' ' | b'\t' | b'\r' => at += 1,
                b'\n' => {
                    at += 1;
                    self.line += 1;
                    self.line_start = at;
                }
                _ => break,
            }
        }
        self.start = at;
        let Some(byte) = self.byte(at) else {
            self.end = at;
            self.token = Token::End;
            return Ok(());
        };
        let single = match byte {
            b'{' => Token::ObjectStart,
            b'}' => Token::ObjectEnd,
            b'[' => Token::ArrayStart,
            b']' => Token::ArrayEnd,
            b',' => Token::Comma,
            b':' => Token::Colon,
            b'"' => {
                self.token = Token::String;
                return self.string();
            }
            b'-' | b'0'..=b'9' => {
                self.token = Token::Number;
                return self.number();
            }
            _ => {
                let mut end = at;
                while self.byte(end).is_some_and(is_word) {
                    end += 1;
                }
                if end == at {
                    self.end = at + 1;
                    return Err(self.fault(Fault::InvalidToken));
                }
                self.end = end;
                self.token = match self.slice() {
                    "true" => Token::True,
                    "false" => Token::False,
                    "null" => Token::Null,
                    _ => return Err(self.fault(Fault::InvalidToken)),
                };
                return Ok(());
            }
        };
        self.end = at + 1;
        self.token = single;
        Ok(())
    }

    fn number(&mut self) -> PgResult<()> {
        let mut at = self.start + usize::from(self.byte(self.start) == Some(b'-'));
        let mut bad = false;
        let digits = |lexer: &Self, mut at: usize| {
            while lexer.byte(at).is_some_and(|b| b.is_ascii_digit()) {
                at += 1;
            }
            at
        };
        match self.byte(at) {
            Some(b'0') => at += 1,
            Some(b'1'..=b'9') => at = digits(self, at),
            _ => bad = true,
        }
        if self.byte(at) == Some(b'.') {
            let end = digits(self, at + 1);
            bad |= end == at + 1;
            at = end;
        }
        if matches!(self.byte(at), Some(b'e' | b'E')) {
            at += 1;
            if matches!(self.byte(at), Some(b'+' | b'-')) {
                at += 1;
            }
            let end = digits(self, at);
            bad |= end == at;
            at = end;
        }
        while self.byte(at).is_some_and(is_word) {
            at += 1;
            bad = true;
        }
        self.end = at;
        if bad { Err(self.fault(Fault::InvalidToken)) } else { Ok(()) }
    }

    fn string(&mut self) -> PgResult<()> {
        let from = self.start + 1;
        let mut at = from;
        let mut copied = from;
        let mut decoded = String::new();
        let mut high: Option<u32> = None;
        loop {
            let Some(byte) = self.byte(at) else {
                self.end = at;
                return Err(self.fault(Fault::InvalidToken));
            };
            match byte {
                b'"' => break,
                b'\\' => {
                    if self.decodes {
                        decoded.push_str(self.text.get(copied..at).unwrap_or(""));
                    }
                    at += 1;
                    let Some(escape) = self.byte(at) else {
                        self.end = at;
                        return Err(self.fault(Fault::InvalidToken));
                    };
                    if escape == b'u' {
                        let mut code = 0u32;
                        for _ in 0..4 {
                            at += 1;
                            let Some(byte) = self.byte(at) else {
                                self.end = at;
                                return Err(self.fault(Fault::InvalidToken));
                            };
                            let Some(digit) = char::from(byte).to_digit(16) else {
                                return Err(self.fault_after(at, Fault::UnicodeEscapeFormat));
                            };
                            code = code * 16 + digit;
                        }
                        if self.decodes {
                            match (code, high.take()) {
                                (0xD800..=0xDBFF, Some(_)) => return Err(self.fault_after(at, Fault::HighSurrogate)),
                                (0xD800..=0xDBFF, None) => high = Some(code),
                                (0xDC00..=0xDFFF, Some(first)) => {
                                    let code = 0x10000 + ((first & 0x3ff) << 10) + (code & 0x3ff);
                                    decoded.push(char::from_u32(code).unwrap_or('\u{FFFD}'));
                                }
                                (0xDC00..=0xDFFF, None) | (_, Some(_)) => return Err(self.fault_after(at, Fault::LowSurrogate)),
                                (0, None) => return Err(self.fault_after(at, Fault::UnicodeZero)),
                                (code, None) => decoded.push(char::from_u32(code).unwrap_or('\u{FFFD}')),
                            }
                        }
                    } else {
                        if high.is_some() {
                            return Err(self.fault_after(at, Fault::LowSurrogate));
                        }
                        decoded.push(match escape {
                            b'"' => '"',
                            b'\\' => '\\',
                            b'/' => '/',
                            b'b' => '\u{8}',
                            b'f' => '\u{c}',
                            b'n' => '\n',
                            b'r' => '\r',
                            b't' => '\t',
                            _ => {
                                self.start = at;
                                return Err(self.fault_after(at, Fault::EscapingInvalid));
                            }
                        });
                    }
                    at += 1;
                    copied = at;
                }
                0..32 => {
                    self.end = at;
                    return Err(self.fault(Fault::EscapingRequired));
                }
                _ => {
                    if high.is_some() {
                        return Err(self.fault_after(at, Fault::LowSurrogate));
                    }
                    at += 1;
                }
            }
        }
        if high.is_some() {
            return Err(self.fault_after(at, Fault::LowSurrogate));
        }
        self.end = at + 1;
        if self.decodes {
            let rest = self.text.get(copied..at).unwrap_or("");
            self.decoded = if copied == from {
                Cow::Borrowed(rest)
            } else {
                decoded.push_str(rest);
                Cow::Owned(decoded)
            };
        }
        Ok(())
    }

    /// An error whose context ends behind the character at `at`.
    fn fault_after(&mut self, at: usize, fault: Fault) -> PgError {
        self.end = self.char_end(at);
        self.fault(fault)
    }

    /// The error of a token that the grammar does not expect here.
    fn unexpected(&self, fault: Fault) -> PgError {
        self.fault(fault)
    }

    fn fault(&self, fault: Fault) -> PgError {
        let token = self.slice();
        let detail = match fault {
            // Only grammar faults can meet the end of the input.
            Fault::ExpectedEnd
            | Fault::ExpectedArrayNext
            | Fault::ExpectedColon
            | Fault::ExpectedJson
            | Fault::ExpectedObjectFirst
            | Fault::ExpectedObjectNext
            | Fault::ExpectedString
                if self.token == Token::End =>
            {
                "The input string ended unexpectedly.".to_owned()
            }
            Fault::EscapingInvalid => format!("Escape sequence \"\\{token}\" is invalid."),
            Fault::EscapingRequired => format!("Character with value 0x{:02x} must be escaped.", self.byte(self.end).unwrap_or(0)),
            Fault::ExpectedEnd => format!("Expected end of input, but found \"{token}\"."),
            Fault::ExpectedArrayNext => format!("Expected \",\" or \"]\", but found \"{token}\"."),
            Fault::ExpectedColon => format!("Expected \":\", but found \"{token}\"."),
            Fault::ExpectedJson => format!("Expected JSON value, but found \"{token}\"."),
            Fault::ExpectedObjectFirst => format!("Expected string or \"}}\", but found \"{token}\"."),
            Fault::ExpectedObjectNext => format!("Expected \",\" or \"}}\", but found \"{token}\"."),
            Fault::ExpectedString => format!("Expected string, but found \"{token}\"."),
            Fault::InvalidToken => format!("Token \"{token}\" is invalid."),
            Fault::UnicodeZero => "\\u0000 cannot be converted to text.".to_owned(),
            Fault::UnicodeEscapeFormat => "\"\\u\" must be followed by four hexadecimal digits.".to_owned(),
            Fault::HighSurrogate => "Unicode high surrogate must not follow a high surrogate.".to_owned(),
            Fault::LowSurrogate => "Unicode low surrogate must follow a high surrogate.".to_owned(),
        };
        let error = if fault == Fault::UnicodeZero {
            PgError::new(SqlState::UNTRANSLATABLE_CHARACTER, "unsupported Unicode escape sequence")
        } else {
            PgError::new(SqlState::INVALID_TEXT_REPRESENTATION, "invalid input syntax for type json")
        };
        error.detail(detail).context(self.context())
    }

    /// The line up to the fault, shortened to its last 50 bytes.
    fn context(&self) -> String {
        let mut from = self.line_start;
        while self.end.saturating_sub(from) >= 50 {
            from = self.char_end(from);
        }
        if from - self.line_start <= 3 {
            from = self.line_start;
        }
        let prefix = if from > self.line_start { "..." } else { "" };
        let goes_on = self.token != Token::End && self.byte(self.end).is_some_and(|b| b != b'\n' && b != b'\r');
        let suffix = if goes_on { "..." } else { "" };
        format!("JSON data, line {}: {prefix}{}{suffix}", self.line, self.text.get(from..self.end).unwrap_or(""))
    }
}

/// Parses one JSON value and reports it to `sink`.
///
/// # Errors
/// 22P02 for text that is not JSON, with PostgreSQL's detail and context; 22P05 for `\u0000` where strings are decoded; 54001
/// for nesting that is too deep; what the sink raises.
pub fn parse<S: Sink>(text: &str, sink: &mut S) -> PgResult<()> {
    let mut lexer =
        Lexer { text, token: Token::Comma, start: 0, end: 0, line: 1, line_start: 0, decodes: S::DECODES, decoded: Cow::Borrowed("") };
    // True for an object.
    let mut stack: Vec<bool> = Vec::new();
    lexer.advance()?;
    'value: loop {
        match lexer.token {
            Token::ObjectStart => {
                if stack.len() >= MAX_DEPTH {
                    return Err(too_deep());
                }
                sink.begin_object()?;
                lexer.advance()?;
                if lexer.token == Token::ObjectEnd {
                    sink.end_object()?;
                } else {
                    stack.push(true);
                    key(&mut lexer, sink, Fault::ExpectedObjectFirst)?;
                    continue 'value;
                }
            }
            Token::ArrayStart => {
                if stack.len() >= MAX_DEPTH {
                    return Err(too_deep());
                }
                sink.begin_array()?;
                lexer.advance()?;
                if lexer.token == Token::ArrayEnd {
                    sink.end_array()?;
                } else {
                    stack.push(false);
                    continue 'value;
                }
            }
            Token::String => sink.string(&lexer.decoded)?,
            Token::Number => sink.number(lexer.slice())?,
            Token::True => sink.bool(true)?,
            Token::False => sink.bool(false)?,
            Token::Null => sink.null()?,
            _ => return Err(lexer.unexpected(Fault::ExpectedJson)),
        }
        lexer.advance()?;
        // A value is complete: what its container says comes next.
        loop {
            match (stack.last(), lexer.token) {
                (None, Token::End) => return Ok(()),
                (None, _) => return Err(lexer.fault(Fault::ExpectedEnd)),
                (Some(true), Token::Comma) => {
                    lexer.advance()?;
                    key(&mut lexer, sink, Fault::ExpectedString)?;
                    continue 'value;
                }
                (Some(false), Token::Comma) => {
                    lexer.advance()?;
                    continue 'value;
                }
                (Some(true), Token::ObjectEnd) => sink.end_object()?,
                (Some(false), Token::ArrayEnd) => sink.end_array()?,
                (Some(true), _) => return Err(lexer.unexpected(Fault::ExpectedObjectNext)),
                (Some(false), _) => return Err(lexer.unexpected(Fault::ExpectedArrayNext)),
            }
            stack.pop();
            lexer.advance()?;
        }
    }
}

/// A key and its colon; the value's first token is read.
fn key<S: Sink>(lexer: &mut Lexer, sink: &mut S, fault: Fault) -> PgResult<()> {
    if lexer.token != Token::String {
        return Err(lexer.unexpected(fault));
    }
    sink.key(&lexer.decoded)?;
    lexer.advance()?;
    if lexer.token != Token::Colon {
        return Err(lexer.unexpected(Fault::ExpectedColon));
    }
    lexer.advance()
}

/// The kinds of JSON value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JsonKind {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

impl JsonKind {
    /// As `json_typeof` names it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            JsonKind::Null => "null",
            JsonKind::Bool => "boolean",
            JsonKind::Number => "number",
            JsonKind::String => "string",
            JsonKind::Array => "array",
            JsonKind::Object => "object",
        }
    }
}

/// A value inside a valid JSON text, as written.
#[derive(Clone, Copy, Debug)]
pub struct Written<'a>(&'a str);

impl<'a> Written<'a> {
    /// The text must be valid JSON; blanks around it are dropped.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        Self(text.trim_matches([' ', '\t', '\n', '\r']))
    }

    /// A value of whose strings all can be decoded: what takes a json apart asks for that, wherever the strings stand.
    ///
    /// # Errors
    /// 22P02 for halves of surrogate pairs, 22P05 for `\u0000`.
    pub fn decodable(text: &'a str) -> PgResult<Self> {
        if text.contains("\\u") {
            parse(text, &mut Forget::<true>)?;
        }
        Ok(Self::new(text))
    }

    /// The text, without blanks around it.
    #[must_use]
    pub fn text(self) -> &'a str {
        self.0
    }

    #[must_use]
    pub fn kind(self) -> JsonKind {
        match self.0.as_bytes().first() {
            Some(b'{') => JsonKind::Object,
            Some(b'[') => JsonKind::Array,
            Some(b'"') => JsonKind::String,
            Some(b't' | b'f') => JsonKind::Bool,
            Some(b'n') | None => JsonKind::Null,
            Some(_) => JsonKind::Number,
        }
    }

    /// The elements of an array; none for other values.
    #[must_use]
    pub fn elements(self) -> Elements<'a> {
        Elements { scan: Scan { text: self.0, at: 1, done: self.kind() != JsonKind::Array } }
    }

    /// The entries of an object, duplicates included, in the order written; none for other values.
    #[must_use]
    pub fn entries(self) -> Entries<'a> {
        Entries { scan: Scan { text: self.0, at: 1, done: self.kind() != JsonKind::Object } }
    }

    /// The value of a key; the last one if it is written more than once.
    pub fn get(self, key: &str) -> PgResult<Option<Written<'a>>> {
        let mut found = None;
        for (name, value) in self.entries() {
            let same = if name.contains('\\') {
                decode(name)? == key
            } else {
                name.strip_prefix('"').and_then(|n| n.strip_suffix('"')) == Some(key)
            };
            if same {
                found = Some(value);
            }
        }
        Ok(found)
    }

    /// The element at an index, counted from the end if negative.
    #[must_use]
    pub fn at(self, index: i64) -> Option<Written<'a>> {
        let index = if index < 0 { i64::try_from(self.elements().count()).ok()?.checked_add(index)? } else { index };
        self.elements().nth(usize::try_from(index).ok()?)
    }

    /// As `->>` gives it: NULL for null, strings decoded, the rest as written.
    pub fn as_text(self) -> PgResult<Option<Cow<'a, str>>> {
        Ok(match self.kind() {
            JsonKind::Null => None,
            JsonKind::String => Some(decode(self.0)?),
            _ => Some(Cow::Borrowed(self.0)),
        })
    }
}

/// Decodes a JSON string with its quotes.
pub fn decode(quoted: &str) -> PgResult<Cow<'_, str>> {
    if !quoted.contains('\\') {
        return Ok(Cow::Borrowed(quoted.strip_prefix('"').and_then(|s| s.strip_suffix('"')).unwrap_or(quoted)));
    }
    let mut lexer =
        Lexer { text: quoted, token: Token::Comma, start: 0, end: 0, line: 1, line_start: 0, decodes: true, decoded: Cow::Borrowed("") };
    lexer.advance()?;
    Ok(lexer.decoded)
}

/// A position in the text of a container.
#[derive(Clone, Debug)]
struct Scan<'a> {
    text: &'a str,
    at: usize,
    done: bool,
}

impl<'a> Scan<'a> {
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while matches!(bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r' | b',' | b':')) {
            self.at += 1;
        }
        match bytes.get(self.at) {
            None | Some(b']' | b'}') => {
                self.done = true;
                None
            }
            Some(byte) => Some(*byte),
        }
    }

    fn skip_string(&mut self) {
        let bytes = self.text.as_bytes();
        self.at += 1;
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b'"' => {
                    self.at += 1;
                    return;
                }
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
    }

    /// The next value of the container as written.
    fn value(&mut self) -> Option<&'a str> {
        if self.done {
            return None;
        }
        let first = self.peek()?;
        let from = self.at;
        let bytes = self.text.as_bytes();
        match first {
            b'"' => self.skip_string(),
            b'{' | b'[' => {
                let mut depth = 0usize;
                while let Some(byte) = bytes.get(self.at) {
                    match byte {
                        b'"' => {
                            self.skip_string();
                            continue;
                        }
                        b'{' | b'[' => depth += 1,
                        b'}' | b']' => depth -= 1,
                        _ => {}
                    }
                    self.at += 1;
                    if depth == 0 {
                        break;
                    }
                }
            }
            _ => {
                while let Some(byte) = bytes.get(self.at) {
                    if matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r') {
                        break;
                    }
                    self.at += 1;
                }
            }
        }
        self.text.get(from..self.at.min(self.text.len()))
    }
}

/// The elements of an array.
#[derive(Clone, Debug)]
pub struct Elements<'a> {
    scan: Scan<'a>,
}

impl<'a> Iterator for Elements<'a> {
    type Item = Written<'a>;
    fn next(&mut self) -> Option<Written<'a>> {
        self.scan.value().map(Written)
    }
}

/// The entries of an object: the key with its quotes, as written, and the value.
#[derive(Clone, Debug)]
pub struct Entries<'a> {
    scan: Scan<'a>,
}

impl<'a> Iterator for Entries<'a> {
    type Item = (&'a str, Written<'a>);
    fn next(&mut self) -> Option<Self::Item> {
        let key = self.scan.value()?;
        let value = self.scan.value()?;
        Some((key, Written(value)))
    }
}

/// Appends a string with quotes and escapes, as PostgreSQL's `escape_json` does.
pub fn write_string(value: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let bytes = value.as_bytes();
    let mut copied = 0;
    for (at, byte) in bytes.iter().enumerate() {
        let escape: &[u8] = match byte {
            b'"' => b"\\\"",
            b'\\' => b"\\\\",
            b'\n' => b"\\n",
            b'\r' => b"\\r",
            b'\t' => b"\\t",
            8 => b"\\b",
            12 => b"\\f",
            0..32 => b"",
            _ => continue,
        };
        out.extend_from_slice(bytes.get(copied..at).unwrap_or(&[]));
        if escape.is_empty() {
            out.extend_from_slice(format!("\\u{byte:04x}").as_bytes());
        } else {
            out.extend_from_slice(escape);
        }
        copied = at + 1;
    }
    out.extend_from_slice(bytes.get(copied..).unwrap_or(&[]));
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    /// Details and contexts are PostgreSQL 15's.
    #[test]
    fn faults() {
        for (text, detail, context) in [
            ("{\"a\": 1,}", "Expected string, but found \"}\".", "{\"a\": 1,}"),
            ("[1, 2", "The input string ended unexpectedly.", "[1, 2"),
            ("", "The input string ended unexpectedly.", ""),
            ("{\"a\" 1}", "Expected \":\", but found \"1\".", "{\"a\" 1..."),
            ("[1 2]", "Expected \",\" or \"]\", but found \"2\".", "[1 2..."),
            ("nul", "Token \"nul\" is invalid.", "nul"),
            ("\"\\u00zz\"", "\"\\u\" must be followed by four hexadecimal digits.", "\"\\u00z..."),
            ("\"\\q\"", "Escape sequence \"\\q\" is invalid.", "\"\\q..."),
            ("[1,-]", "Token \"-\" is invalid.", "[1,-..."),
            ("01", "Token \"01\" is invalid.", "01"),
            ("1 2", "Expected end of input, but found \"2\".", "1 2"),
            ("{1:2}", "Expected string or \"}\", but found \"1\".", "{1..."),
            ("\"abc", "Token \"\"abc\" is invalid.", "\"abc"),
            ("\"a\tb\"", "Character with value 0x09 must be escaped.", "\"a..."),
            ("[,]", "Expected JSON value, but found \",\".", "[,..."),
            (".5", "Token \".\" is invalid.", "...."),
        ] {
            let error = validate(text).unwrap_err();
            assert_eq!(error.code(), SqlState::INVALID_TEXT_REPRESENTATION, "{text}");
            assert_eq!(error.fields().detail.as_deref(), Some(detail), "{text}");
            assert_eq!(error.fields().context.as_deref(), Some(format!("JSON data, line 1: {context}").as_str()), "{text}");
        }
        let error = validate("{\"a\":\n  tru, 1}").unwrap_err();
        assert_eq!(error.fields().context.as_deref(), Some("JSON data, line 2:   tru..."));
        assert_eq!(validate(&"[".repeat(10_000)).unwrap_err().code(), SqlState::STATEMENT_TOO_COMPLEX);
        let long = format!("{{\"{}\": x, \"b\":1}}", "a".repeat(80));
        let error = validate(&long).unwrap_err();
        assert_eq!(error.fields().context.as_deref(), Some("JSON data, line 1: ...aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\": x..."));
        assert!(validate("\"\\u0000 \\ud83d\"").is_ok());
    }

    #[test]
    fn parts_as_written() {
        let doc = Written::new("  {\"b\": 1, \"a\\n\": [ {\"x\":\"]\"} , -2.50 ], \"b\" :3 } ");
        assert_eq!(doc.get("b").unwrap().unwrap().text(), "3");
        let array = doc.get("a\n").unwrap().unwrap();
        assert_eq!(array.at(-1).unwrap().text(), "-2.50");
        assert_eq!(array.at(0).unwrap().text(), "{\"x\":\"]\"}");
        assert!(array.at(2).is_none() && array.at(-3).is_none());
        assert_eq!(Written::new("[ ]").elements().count(), 0);
        assert_eq!(decode("\"\\ud83d\\ude00\\t\"").unwrap(), "😀\t");
        assert_eq!(decode("\"\\u0000\"").unwrap_err().code(), SqlState::UNTRANSLATABLE_CHARACTER);
    }
}
