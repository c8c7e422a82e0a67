//! Tokens of a text, with strings of the form `E'…'` read as PostgreSQL reads them: octal and hexadecimal escapes are bytes of UTF-8,
//! and what they make wrong has PostgreSQL's error.

use crate::{SyntaxError, char_offset, dialect, operators};
use sqlparser::tokenizer::TokenWithSpan;
use std::borrow::Cow;

/// How often a literal that the tokenizer does not read is written in another way.
const MAX_REWRITES: usize = 1000;

/// Parts a text into tokens; the text comes back changed when a literal had to be written in another way.
pub(crate) fn tokenize(sql: &str) -> Result<(Cow<'_, str>, Vec<TokenWithSpan>), SyntaxError> {
    let dialect = dialect::StoaDialect::default();
    let mut text = Cow::Borrowed(sql);
    for _ in 0..MAX_REWRITES {
        let error = match operators::tokenize(&dialect, &text) {
            Ok(tokens) => return Ok((text, tokens)),
            Err(error) => error,
        };
        let at = char_offset(&text, error.location);
        let start = text.char_indices().nth(at).map_or(text.len(), |(i, _)| i);
        let literal = text.get(start..).unwrap_or("");
        if !(literal.starts_with("E'") || literal.starts_with("e'")) {
            return Err(SyntaxError::at(sql, &error.message, Some(error.location)));
        }
        let (value, length) = decode(literal).map_err(|e| e.placed(at))?;
        let mut quoted = format!("'{}'", value.replace('\'', "''"));
        let (before, after) = (literal.get(..length).unwrap_or("").chars().count(), quoted.chars().count());
        quoted.extend(std::iter::repeat_n(' ', before.saturating_sub(after)));
        let changed = format!("{}{quoted}{}", text.get(..start).unwrap_or(""), literal.get(length..).unwrap_or(""));
        text = Cow::Owned(changed);
    }
    Err(SyntaxError::at(sql, "too many string literals with escapes", None))
}

/// What is wrong with a literal, and how many characters into it.
struct Wrong {
    state: &'static str,
    message: String,
    hint: Option<&'static str>,
    offset: usize,
}

impl Wrong {
    fn placed(self, start: usize) -> SyntaxError {
        let mut error = SyntaxError::at("", &self.message, None);
        // Errors of encoding have no position.
        error.position = (self.state != "22021").then_some(start + self.offset + 1);
        error.state = Some(self.state);
        error.hint = self.hint;
        error
    }
}

/// The value of an `E'…'` literal at the start of a text, and its length in bytes.
fn decode(literal: &str) -> Result<(String, usize), Wrong> {
    let mut bytes: Vec<u8> = Vec::new();
    let mut chars = literal.char_indices().skip(2).peekable();
    let place = |at: usize| literal.get(..at).map_or(0, |s| s.chars().count());
    let mut high: Option<u32> = None;
    loop {
        let Some((at, c)) = chars.next() else {
            return Err(Wrong { state: "42601", message: "unterminated quoted string at or near \"".to_owned() + literal + "\"", hint: None, offset: 0 });
        };
        let is_unicode = c == '\\' && matches!(chars.peek(), Some((_, 'u' | 'U')));
        if high.is_some() && !is_unicode {
            return Err(surrogate(&c.to_string(), place(at)));
        }
        match c {
            '\'' => {
                if matches!(chars.peek(), Some((_, '\''))) {
                    chars.next();
                    bytes.push(b'\'');
                    continue;
                }
                let text = String::from_utf8(bytes).map_err(|e| {
                    let rest = e.as_bytes().get(e.utf8_error().valid_up_to()..).unwrap_or(&[]);
                    let length = e.utf8_error().error_len().unwrap_or(rest.len()).max(1);
                    invalid_bytes(rest.get(..length.min(rest.len())).unwrap_or(&[]))
                })?;
                if text.contains('\0') {
                    return Err(invalid_bytes(&[0]));
                }
                return Ok((text, at + 1));
            }
            '\\' => {
                let Some((_, escape)) = chars.next() else { continue };
                match escape {
                    'b' => bytes.push(8),
                    'f' => bytes.push(12),
                    'n' => bytes.push(b'\n'),
                    'r' => bytes.push(b'\r'),
                    't' => bytes.push(b'\t'),
                    '0'..='7' => {
                        let mut value = escape.to_digit(8).unwrap_or(0);
                        for _ in 0..2 {
                            let Some(digit) = chars.peek().and_then(|(_, c)| c.to_digit(8)) else { break };
                            value = value * 8 + digit;
                            chars.next();
                        }
                        bytes.push((value & 0xff) as u8);
                    }
                    'x' if chars.peek().is_some_and(|(_, c)| c.is_ascii_hexdigit()) => {
                        let mut value = 0;
                        for _ in 0..2 {
                            let Some(digit) = chars.peek().and_then(|(_, c)| c.to_digit(16)) else { break };
                            value = value * 16 + digit;
                            chars.next();
                        }
                        bytes.push(value as u8);
                    }
                    'u' | 'U' => {
                        let digits = if escape == 'u' { 4 } else { 8 };
                        let mut value: u32 = 0;
                        for _ in 0..digits {
                            let Some(digit) = chars.peek().and_then(|(_, c)| c.to_digit(16)) else {
                                return Err(Wrong {
                                    state: "22025",
                                    message: "invalid Unicode escape".into(),
                                    hint: Some("Unicode escapes must be \\uXXXX or \\UXXXXXXXX."),
                                    offset: place(at),
                                });
                            };
                            value = value.wrapping_mul(16).wrapping_add(digit);
                            chars.next();
                        }
                        let written = literal.get(at..at + 2 + digits).unwrap_or("");
                        let code = match (high.take(), value) {
                            (None, 0xD800..=0xDBFF) => {
                                high = Some(value);
                                continue;
                            }
                            (Some(first), 0xDC00..=0xDFFF) => 0x10000 + ((first - 0xD800) << 10) + (value - 0xDC00),
                            (Some(_), _) | (None, 0xDC00..=0xDFFF) => return Err(surrogate(written, place(at))),
                            (None, value) => value,
                        };
                        let Some(c) = char::from_u32(code).filter(|c| *c != '\0') else {
                            return Err(Wrong {
                                state: "42601",
                                message: format!("invalid Unicode escape value at or near \"{written}\""),
                                hint: None,
                                offset: place(at),
                            });
                        };
                        bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                    }
                    other => bytes.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
                }
            }
            other => bytes.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}

fn surrogate(near: &str, offset: usize) -> Wrong {
    Wrong { state: "42601", message: format!("invalid Unicode surrogate pair at or near \"{near}\""), hint: None, offset }
}

fn invalid_bytes(bytes: &[u8]) -> Wrong {
    let listed: Vec<String> = bytes.iter().map(|b| format!("0x{b:02x}")).collect();
    Wrong { state: "22021", message: format!("invalid byte sequence for encoding \"UTF8\": {}", listed.join(" ")), hint: None, offset: 0 }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn escapes_are_bytes() {
        assert_eq!(decode(r"E'\xc3\xa9\303\251\q\n''\u00e9\uD83D\uDE00' x").ok().unwrap(), ("ééq\n'é😀".to_owned(), 43));
        for (literal, state, message) in [
            (r"E'a\000'", "22021", "invalid byte sequence for encoding \"UTF8\": 0x00"),
            (r"E'\xe4'", "22021", "invalid byte sequence for encoding \"UTF8\": 0xe4"),
            (r"E'\u0000'", "42601", "invalid Unicode escape value at or near \"\\u0000\""),
            (r"E'\u12'", "22025", "invalid Unicode escape"),
            (r"E'\uD800x'", "42601", "invalid Unicode surrogate pair at or near \"x\""),
        ] {
            let wrong = decode(literal).err().unwrap();
            assert_eq!((wrong.state, wrong.message.as_str()), (state, message), "{literal}");
        }
    }
}
