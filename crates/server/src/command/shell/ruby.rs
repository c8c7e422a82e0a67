//! The part of Ruby that commands of HBase's shell are written in: a name and arguments, which are strings, numbers, constants, arrays
//! and hashes.

use std::iter::Peekable;
use std::str::CharIndices;

/// An argument.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// Any bytes: `"\x00"` is one.
    Text(Vec<u8>),
    Int(i64),
    Float(f64),
    Bool(bool),
    Nil,
    /// A constant such as `VERSIONS`, which is its own name, or the name of a variable.
    Name(String),
    List(Vec<Value>),
    /// In the order in which it was written.
    Hash(Vec<(String, Value)>),
}

/// `variable = receiver.name arguments`.
#[derive(Clone, PartialEq, Debug)]
pub struct Call {
    pub variable: Option<String>,
    pub receiver: Option<String>,
    pub name: String,
    /// Options without braces, at the end, are one hash.
    pub arguments: Vec<Value>,
}

/// Why a text is no command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trouble {
    /// It goes on in the next line.
    Unfinished,
    Wrong(String),
}

#[derive(Clone, PartialEq, Debug)]
enum Token {
    Text(Vec<u8>),
    Number(String),
    Word(String),
    Symbol(char),
    Arrow,
    /// Of a line, or a semicolon.
    End,
}

/// Reads commands.
///
/// # Errors
/// What is no command, and what is only the beginning of one.
pub fn parse(text: &str) -> Result<Vec<Call>, Trouble> {
    let tokens = tokens(text)?;
    let mut reader = Reader { tokens: &tokens, at: 0 };
    let mut calls = Vec::new();
    loop {
        while reader.take_if(&Token::End) {}
        if reader.peek().is_none() {
            return Ok(calls);
        }
        calls.push(reader.call()?);
        match reader.peek() {
            None | Some(Token::End) => {}
            Some(other) => return Err(unexpected(other)),
        }
    }
}

fn unexpected(token: &Token) -> Trouble {
    let shown = match token {
        Token::Text(bytes) => format!("'{}'", String::from_utf8_lossy(bytes)),
        Token::Number(text) | Token::Word(text) => text.clone(),
        Token::Symbol(c) => c.to_string(),
        Token::Arrow => "=>".into(),
        Token::End => "end of the line".into(),
    };
    Trouble::Wrong(format!("syntax error, unexpected {shown}"))
}

fn tokens(text: &str) -> Result<Vec<Token>, Trouble> {
    let mut out = Vec::new();
    let mut depth = 0_u32;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '\n' => {
                // A line goes on behind what asks for more.
                let asks = matches!(out.last(), Some(Token::Symbol(',' | '=' | '.') | Token::Arrow));
                if depth == 0 && !asks {
                    out.push(Token::End);
                }
            }
            ';' => out.push(Token::End),
            c if c.is_whitespace() => {}
            '#' => while chars.next_if(|(_, c)| *c != '\n').is_some() {},
            '\'' => out.push(Token::Text(single_quoted(&mut chars)?)),
            '"' => out.push(Token::Text(double_quoted(&mut chars)?)),
            '=' if chars.next_if(|(_, c)| *c == '>').is_some() => out.push(Token::Arrow),
            // A symbol is its name.
            ':' if chars.peek().is_some_and(|(_, c)| c.is_ascii_alphabetic()) => {}
            '(' | '[' | '{' => {
                depth += 1;
                out.push(Token::Symbol(c));
            }
            ')' | ']' | '}' => {
                depth = depth.saturating_sub(1);
                out.push(Token::Symbol(c));
            }
            ',' | '=' | '.' => out.push(Token::Symbol(c)),
            c if c.is_ascii_digit() || (c == '-' && chars.peek().is_some_and(|(_, c)| c.is_ascii_digit())) => {
                let mut end = at + c.len_utf8();
                while let Some((next, c)) = chars.next_if(|(_, c)| c.is_ascii_digit() || matches!(c, '.' | '_')) {
                    end = next + c.len_utf8();
                }
                out.push(Token::Number(text.get(at..end).unwrap_or_default().replace('_', "")));
            }
            c if c.is_alphabetic() || c == '_' => {
                let mut end = at + c.len_utf8();
                while let Some((next, c)) = chars.next_if(|(_, c)| c.is_alphanumeric() || matches!(c, '_' | '?' | '!')) {
                    end = next + c.len_utf8();
                }
                out.push(Token::Word(text.get(at..end).unwrap_or_default().to_owned()));
            }
            other => return Err(unexpected(&Token::Symbol(other))),
        }
    }
    let asks = matches!(out.last(), Some(Token::Symbol(',' | '=') | Token::Arrow));
    if depth > 0 || asks { Err(Trouble::Unfinished) } else { Ok(out) }
}

fn push(out: &mut Vec<u8>, c: char) {
    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}

fn single_quoted(chars: &mut Peekable<CharIndices<'_>>) -> Result<Vec<u8>, Trouble> {
    let mut out = Vec::new();
    while let Some((_, c)) = chars.next() {
        match c {
            '\'' => return Ok(out),
            '\\' => match chars.next_if(|(_, c)| matches!(c, '\'' | '\\')) {
                Some((_, c)) => push(&mut out, c),
                None => out.push(b'\\'),
            },
            c => push(&mut out, c),
        }
    }
    Err(Trouble::Unfinished)
}

fn double_quoted(chars: &mut Peekable<CharIndices<'_>>) -> Result<Vec<u8>, Trouble> {
    let mut out = Vec::new();
    while let Some((_, c)) = chars.next() {
        match c {
            '"' => return Ok(out),
            '\\' => {
                let Some((_, c)) = chars.next() else { return Err(Trouble::Unfinished) };
                match c {
                    'n' => out.push(b'\n'),
                    't' => out.push(b'\t'),
                    'r' => out.push(b'\r'),
                    'e' => out.push(0x1b),
                    's' => out.push(b' '),
                    'a' => out.push(7),
                    'b' => out.push(8),
                    'f' => out.push(0x0c),
                    'v' => out.push(0x0b),
                    'x' => match digits(chars, 16, 2, String::new()) {
                        Some(byte) => out.push(byte),
                        None => return Err(Trouble::Wrong("invalid hex escape".into())),
                    },
                    'u' => match code_point(chars) {
                        Some(c) => push(&mut out, c),
                        None => return Err(Trouble::Wrong("invalid Unicode escape".into())),
                    },
                    c @ '0'..='7' => out.extend(digits(chars, 8, 3, c.to_string())),
                    c => push(&mut out, c),
                }
            }
            '#' if chars.peek().is_some_and(|(_, c)| *c == '{') => {
                return Err(Trouble::Wrong("expressions within strings are Ruby's, and not known here".into()));
            }
            c => push(&mut out, c),
        }
    }
    Err(Trouble::Unfinished)
}

/// At most so many digits, together a byte.
fn digits(chars: &mut Peekable<CharIndices<'_>>, radix: u32, most: usize, mut text: String) -> Option<u8> {
    while text.len() < most
        && let Some((_, c)) = chars.next_if(|(_, c)| c.is_digit(radix))
    {
        text.push(c);
    }
    u32::from_str_radix(&text, radix).ok().map(|n| (n & 0xff) as u8)
}

fn code_point(chars: &mut Peekable<CharIndices<'_>>) -> Option<char> {
    let braces = chars.next_if(|(_, c)| *c == '{').is_some();
    let mut text = String::new();
    while text.len() < if braces { 6 } else { 4 }
        && let Some((_, c)) = chars.next_if(|(_, c)| c.is_ascii_hexdigit())
    {
        text.push(c);
    }
    if braces {
        chars.next_if(|(_, c)| *c == '}')?;
    }
    u32::from_str_radix(&text, 16).ok().and_then(char::from_u32)
}

struct Reader<'a> {
    tokens: &'a [Token],
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.at)
    }

    fn next(&mut self) -> Option<&'a Token> {
        let token = self.tokens.get(self.at);
        self.at += 1;
        token
    }

    fn take_if(&mut self, token: &Token) -> bool {
        let same = self.peek() == Some(token);
        self.at += usize::from(same);
        same
    }

    fn word(&mut self) -> Result<String, Trouble> {
        match self.next() {
            Some(Token::Word(word)) => Ok(word.clone()),
            Some(other) => Err(unexpected(other)),
            None => Err(Trouble::Unfinished),
        }
    }

    fn call(&mut self) -> Result<Call, Trouble> {
        let mut name = self.word()?;
        let (mut variable, mut receiver) = (None, None);
        if self.take_if(&Token::Symbol('=')) {
            variable = Some(name);
            name = self.word()?;
        }
        if self.take_if(&Token::Symbol('.')) {
            receiver = Some(name);
            name = self.word()?;
        }
        let closing = self.take_if(&Token::Symbol('('));
        let arguments = self.arguments(closing)?;
        if closing && !self.take_if(&Token::Symbol(')')) {
            return Err(self.peek().map_or(Trouble::Unfinished, unexpected));
        }
        Ok(Call { variable, receiver, name, arguments })
    }

    fn arguments(&mut self, in_parentheses: bool) -> Result<Vec<Value>, Trouble> {
        let mut out = Vec::new();
        let mut options: Vec<(String, Value)> = Vec::new();
        if matches!(self.peek(), None | Some(Token::End | Token::Symbol(')'))) {
            return Ok(out);
        }
        loop {
            if in_parentheses {
                while self.take_if(&Token::End) {}
            }
            let value = self.value()?;
            if self.take_if(&Token::Arrow) {
                options.push((key_of(value)?, self.value()?));
            } else if options.is_empty() {
                out.push(value);
            } else {
                return Err(Trouble::Wrong("syntax error: an argument behind options".into()));
            }
            if !self.take_if(&Token::Symbol(',')) {
                break;
            }
        }
        if !options.is_empty() {
            out.push(Value::Hash(options));
        }
        Ok(out)
    }

    fn value(&mut self) -> Result<Value, Trouble> {
        let token = self.next().ok_or(Trouble::Unfinished)?;
        Ok(match token {
            Token::Text(bytes) => {
                let mut bytes = bytes.clone();
                // Strings side by side are one.
                while let Some(Token::Text(more)) = self.peek() {
                    bytes.extend_from_slice(more);
                    self.at += 1;
                }
                Value::Text(bytes)
            }
            Token::Number(text) => match text.parse() {
                Ok(number) => Value::Int(number),
                Err(_) => Value::Float(text.parse().map_err(|_| unexpected(token))?),
            },
            Token::Word(word) => match word.as_str() {
                "true" => Value::Bool(true),
                "false" => Value::Bool(false),
                "nil" => Value::Nil,
                _ => Value::Name(word.clone()),
            },
            Token::Symbol('[') => {
                let mut out = Vec::new();
                while !self.take_if(&Token::Symbol(']')) {
                    out.push(self.value()?);
                    self.comma_before(']')?;
                }
                Value::List(out)
            }
            Token::Symbol('{') => {
                let mut out = Vec::new();
                while !self.take_if(&Token::Symbol('}')) {
                    let key = key_of(self.value()?)?;
                    if !self.take_if(&Token::Arrow) {
                        return Err(self.peek().map_or(Trouble::Unfinished, unexpected));
                    }
                    out.push((key, self.value()?));
                    self.comma_before('}')?;
                }
                Value::Hash(out)
            }
            other => return Err(unexpected(other)),
        })
    }

    /// A comma, unless the end follows.
    fn comma_before(&mut self, end: char) -> Result<(), Trouble> {
        if self.take_if(&Token::Symbol(',')) || self.peek() == Some(&Token::Symbol(end)) {
            return Ok(());
        }
        Err(self.peek().map_or(Trouble::Unfinished, unexpected))
    }
}

fn key_of(value: Value) -> Result<String, Trouble> {
    match value {
        Value::Name(name) => Ok(name),
        Value::Text(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        _ => Err(Trouble::Wrong("syntax error: a key of options is a name".into())),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    fn one(text: &str) -> Call {
        let mut calls = parse(text).unwrap_or_else(|e| panic!("{text}: {e:?}"));
        assert_eq!(calls.len(), 1, "{text}");
        calls.remove(0)
    }

    fn text(text: &str) -> Value {
        Value::Text(text.as_bytes().to_vec())
    }

    #[test]
    fn commands_are_names_and_arguments() {
        let call = one("put 't', 'r1', 'f:q', 'v', 17");
        assert_eq!((call.name.as_str(), call.arguments.len()), ("put", 5));
        assert_eq!(call.arguments[4], Value::Int(17));
        assert_eq!(one("put('t', 'r1',\n 'f:q', 'v', 17)").arguments, call.arguments);
        let call = one("scan 't', LIMIT => 5, 'COLUMNS' => ['f:a', 'f:b']");
        let options = vec![("LIMIT".into(), Value::Int(5)), ("COLUMNS".into(), Value::List(vec![text("f:a"), text("f:b")]))];
        assert_eq!(call.arguments, [text("t"), Value::Hash(options)]);
        let call = one("create 't', {NAME => 'f', VERSIONS => 3, IN_MEMORY => true}, {:NAME => \"g\"} # comment");
        assert_eq!(call.arguments.len(), 3);
        let call = one("t = create 't', 'f'");
        assert_eq!((call.variable.as_deref(), call.name.as_str()), (Some("t"), "create"));
        let call = one("t.put 'r', 'f:q', 'v'");
        assert_eq!((call.receiver.as_deref(), call.name.as_str(), call.arguments.len()), (Some("t"), "put", 3));
        assert_eq!(parse("list; status\n\nwhoami").unwrap().len(), 3);
        assert_eq!(one("drop_all? 1_000, -2, 1.5, nil").arguments, [Value::Int(1000), Value::Int(-2), Value::Float(1.5), Value::Nil]);
    }

    #[test]
    fn strings_hold_any_bytes() {
        let value = |text: &str| one(&format!("x {text}")).arguments.remove(0);
        assert_eq!(value(r#""\x00\xFFa\n\"\u00e9\101\7""#), Value::Text(b"\x00\xffa\n\"\xc3\xa9A\x07".to_vec()));
        assert_eq!(value(r"'\x00\'\\'"), Value::Text(br"\x00'\".to_vec()));
        assert_eq!(value("'a' \"b\""), text("ab"));
        assert_eq!(value("'größe'"), text("größe"));
    }

    #[test]
    fn what_goes_on_is_reported_from_what_is_wrong() {
        for text in ["put 't',", "create 't', {NAME =>", "scan 't', [", "put 't', 'r", "x \"", "x \"\\"] {
            assert_eq!(parse(text), Err(Trouble::Unfinished), "{text}");
        }
        for text in ["put ]", "x 1 2", "x {1}", "= 3", "x \"#{1 + 1}\"", "x 'a' => 1, 'b'", "(1..3).each", "x \"\\xg\"", "a + b"] {
            assert!(matches!(parse(text), Err(Trouble::Wrong(_))), "{text}: {:?}", parse(text));
        }
        assert_eq!(parse("\n # nothing\n ; "), Ok(vec![]));
    }
}
