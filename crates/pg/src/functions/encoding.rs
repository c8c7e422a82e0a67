//! Bytes as text: hex, base64 and escape forms, and character encodings.

use crate::error::{PgError, PgResult};
use crate::sqlstate::SqlState;

fn invalid(message: impl Into<String>) -> PgError {
    PgError::new(SqlState::INVALID_PARAMETER_VALUE, message)
}

/// Bytes in lower-case hexadecimal.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 2);
    push_hex(bytes, &mut out);
    out
}

fn push_hex(bytes: &[u8], out: &mut String) {
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            out.extend(char::from_digit(u32::from(digit), 16));
        }
    }
}

/// A form of `encode` and `decode`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    Hex,
    Base64,
    Escape,
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// Characters in a line of base64.
const LINE: usize = 76;

impl Form {
    /// The form with this name.
    ///
    /// # Errors
    /// 22023 for unknown names.
    pub fn named(name: &str) -> PgResult<Form> {
        match name.to_ascii_lowercase().as_str() {
            "hex" => Ok(Form::Hex),
            "base64" => Ok(Form::Base64),
            "escape" => Ok(Form::Escape),
            _ => Err(invalid(format!("unrecognized encoding: \"{name}\""))),
        }
    }

    /// Appends the text of bytes.
    pub fn encode(self, bytes: &[u8], out: &mut String) -> PgResult<()> {
        match self {
            Form::Hex => push_hex(bytes, out),
            Form::Escape => {
                for &byte in bytes {
                    match byte {
                        0 | 0x80.. => {
                            out.push('\\');
                            out.extend([byte >> 6, byte >> 3 & 7, byte & 7].map(|digit| char::from(b'0' + digit)));
                        }
                        b'\\' => out.push_str("\\\\"),
                        _ => out.push(char::from(byte)),
                    }
                }
            }
            Form::Base64 => {
                let mut line = 0;
                for group in bytes.chunks(3) {
                    let byte = |i: usize| group.get(i).map_or(0, |b| u32::from(*b));
                    let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
                    for i in 0..4usize {
                        let code = bits >> (18 - 6 * i) & 63;
                        let shown = if i <= group.len() { BASE64.get(code as usize).map_or('=', |b| char::from(*b)) } else { '=' };
                        out.push(shown);
                    }
                    line += 4;
                    if line == LINE && group.len() == 3 {
                        out.push('\n');
                        line = 0;
                    }
                }
            }
        }
        Ok(())
    }

    /// The bytes of a text.
    pub fn decode(self, text: &str) -> PgResult<Vec<u8>> {
        match self {
            Form::Hex => decode_hex(text),
            Form::Base64 => decode_base64(text),
            Form::Escape => decode_escape(text),
        }
    }
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\n' | '\t' | '\r')
}

/// Bytes from hexadecimal digits, which may have blanks between bytes.
pub fn decode_hex(text: &str) -> PgResult<Vec<u8>> {
    let digit = |c: char| c.to_digit(16).map(|d| d as u8).ok_or_else(|| invalid(format!("invalid hexadecimal digit: \"{c}\"")));
    let mut bytes = Vec::with_capacity(text.len() / 2);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if is_blank(c) {
            continue;
        }
        let high = digit(c)?;
        let Some(c) = chars.next() else { return Err(invalid("invalid hexadecimal data: odd number of digits")) };
        bytes.push(high << 4 | digit(c)?);
    }
    Ok(bytes)
}

fn decode_base64(text: &str) -> PgResult<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count, mut end) = (0u32, 0, 0);
    for c in text.chars() {
        let code = match c {
            c if is_blank(c) => continue,
            '=' => {
                if end == 0 {
                    end = match count {
                        2 => 1,
                        3 => 2,
                        _ => return Err(invalid("unexpected \"=\" while decoding base64 sequence")),
                    };
                }
                0
            }
            'A'..='Z' => c as u32 - 'A' as u32,
            'a'..='z' => c as u32 - 'a' as u32 + 26,
            '0'..='9' => c as u32 - '0' as u32 + 52,
            '+' => 62,
            '/' => 63,
            _ => return Err(invalid(format!("invalid symbol \"{c}\" found while decoding base64 sequence"))),
        };
        bits = bits << 6 | code;
        count += 1;
        if count == 4 {
            bytes.push((bits >> 16) as u8);
            if end != 1 {
                bytes.push((bits >> 8) as u8);
            }
            if end == 0 {
                bytes.push(bits as u8);
            }
            (bits, count) = (0, 0);
        }
    }
    if count != 0 {
        return Err(invalid("invalid base64 end sequence").hint("Input data is missing padding, is truncated, or is otherwise corrupted."));
    }
    Ok(bytes)
}

/// Bytes from bytea's escape form: `\\` and `\ooo`.
pub fn decode_escape(text: &str) -> PgResult<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        if first != b'\\' {
            bytes.push(first);
            rest = after;
            continue;
        }
        match after {
            [b'\\', after @ ..] => {
                bytes.push(b'\\');
                rest = after;
            }
            [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', after @ ..] => {
                bytes.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                rest = after;
            }
            _ => return Err(PgError::new(SqlState::INVALID_TEXT_REPRESENTATION, "invalid input syntax for type bytea")),
        }
    }
    Ok(bytes)
}

/// A character encoding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Encoding {
    Utf8,
    Latin1,
    Latin9,
    Windows1252,
    Ascii,
}

/// Encodings of PostgreSQL that are known by name and not converted.
#[rustfmt::skip]
const OTHERS: &[&str] = &[
    "euccn", "eucjp", "eucjis2004", "euckr", "euctw", "shiftjisx0213", "mskanji", "shiftjis", "sjis", "shiftjis2004", "big5", "gbk",
    "gb18030", "johab", "uhc", "iso88592", "latin2", "iso88593", "latin3", "iso88594", "latin4", "iso88595", "iso88596", "iso88597",
    "iso88598", "iso88599", "latin5", "iso885910", "latin6", "iso885913", "latin7", "iso885914", "latin8", "iso885916", "latin10",
    "koi8", "koi8r", "koi8u", "muleinternal", "tcvn", "tcvn5712", "vscii", "win", "win866", "win874", "win932", "win936", "win949",
    "win950", "win1250", "win1251", "win1253", "win1254", "win1255", "win1256", "win1257", "win1258", "windows866", "windows874",
    "windows932", "windows936", "windows949", "windows950", "windows1250", "windows1251", "windows1253", "windows1254", "windows1255",
    "windows1256", "windows1257", "windows1258", "alt", "abc",
];

/// Windows-1252 from 0x80 to 0x9f; the five holes are not characters.
#[rustfmt::skip]
const WINDOWS_1252: [char; 32] = [
   
    '€', '\0', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\0', 'Ž', '\0', '\0', '‘', '’', '“', '”', '•', '–', '—', '˜', '™',
    'š', '›', 'œ', '\0', 'ž', 'Ÿ',
];

/// Where Latin 9 differs from Latin 1.
const LATIN9: [(u8, char); 8] = [(0xa4, '€'), (0xa6, 'Š'), (0xa8, 'š'), (0xb4, 'Ž'), (0xb8, 'ž'), (0xbc, 'Œ'), (0xbd, 'œ'), (0xbe, 'Ÿ')];

impl Encoding {
    fn name(self) -> &'static str {
        match self {
            Encoding::Utf8 => "UTF8",
            Encoding::Latin1 => "LATIN1",
            Encoding::Latin9 => "LATIN9",
            Encoding::Windows1252 => "WIN1252",
            Encoding::Ascii => "SQL_ASCII",
        }
    }

    fn named(name: &str, role: &str) -> PgResult<Encoding> {
        let plain: String = name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
        Ok(match plain.as_str() {
            "utf8" | "unicode" => Encoding::Utf8,
            "latin1" | "iso88591" => Encoding::Latin1,
            "latin9" | "iso885915" => Encoding::Latin9,
            "win1252" | "windows1252" => Encoding::Windows1252,
            "sqlascii" => Encoding::Ascii,
            other if OTHERS.contains(&other) => {
                return Err(PgError::unsupported(format!("conversion of encoding {name} is not supported")));
            }
            _ => return Err(invalid(format!("invalid {role} encoding name \"{name}\""))),
        })
    }
}

/// The encoding that bytes are in.
pub fn source(name: &str) -> PgResult<Encoding> {
    Encoding::named(name, "source")
}

/// The encoding that text shall have.
pub fn destination(name: &str) -> PgResult<Encoding> {
    Encoding::named(name, "destination")
}

fn sequence(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("0x{byte:02x}")).collect::<Vec<_>>().join(" ")
}

fn bad_sequence(bytes: &[u8], encoding: Encoding) -> PgError {
    PgError::new(
        SqlState::CHARACTER_NOT_IN_REPERTOIRE,
        format!("invalid byte sequence for encoding \"{}\": {}", encoding.name(), sequence(bytes)),
    )
}

/// Text from UTF-8 bytes without NUL.
///
/// # Errors
/// 22021, with the bytes of the character at fault.
pub fn decode_utf8(bytes: &[u8]) -> PgResult<&str> {
    let fault = match (std::str::from_utf8(bytes), bytes.iter().position(|b| *b == 0)) {
        (Ok(text), None) => return Ok(text),
        (Ok(_), Some(nul)) => nul,
        (Err(error), nul) => error.valid_up_to().min(nul.unwrap_or(usize::MAX)),
    };
    let rest = bytes.get(fault..).unwrap_or(&[]);
    let length = match rest.first() {
        Some(0xc0..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf7) => 4,
        _ => 1,
    };
    Err(bad_sequence(rest.get(..length).unwrap_or(rest), Encoding::Utf8))
}

/// Text from bytes in an encoding.
pub fn decode(bytes: &[u8], encoding: Encoding) -> PgResult<String> {
    if let Encoding::Utf8 | Encoding::Ascii = encoding {
        return decode_utf8(bytes).map(str::to_string);
    }
    let mut text = String::with_capacity(bytes.len());
    for &byte in bytes {
        text.push(match (encoding, byte) {
            (_, 0) => return Err(bad_sequence(&[0], encoding)),
            (Encoding::Windows1252, 0x80..=0x9f) => match WINDOWS_1252.get(usize::from(byte - 0x80)) {
                Some('\0') | None => {
                    return Err(PgError::new(
                        SqlState::UNTRANSLATABLE_CHARACTER,
                        format!("character with byte sequence 0x{byte:02x} in encoding \"WIN1252\" has no equivalent in encoding \"UTF8\""),
                    ));
                }
                Some(c) => *c,
            },
            (Encoding::Latin9, byte) => LATIN9.iter().find(|(b, _)| *b == byte).map_or(char::from(byte), |(_, c)| *c),
            (_, byte) => char::from(byte),
        });
    }
    Ok(text)
}

/// The bytes of text in an encoding.
pub fn encode(text: &str, encoding: Encoding) -> PgResult<Vec<u8>> {
    if let Encoding::Utf8 | Encoding::Ascii = encoding {
        return Ok(text.as_bytes().to_vec());
    }
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        let latin1 = u8::try_from(c as u32).ok();
        let byte = match encoding {
            Encoding::Windows1252 => match WINDOWS_1252.iter().position(|w| *w == c && c != '\0') {
                Some(at) => Some(0x80 + at as u8),
                None => latin1.filter(|b| !(0x80..=0x9f).contains(b)),
            },
            Encoding::Latin9 => match LATIN9.iter().find(|(_, special)| *special == c) {
                Some((byte, _)) => Some(*byte),
                None => latin1.filter(|b| LATIN9.iter().all(|(special, _)| special != b)),
            },
            _ => latin1,
        };
        bytes.push(byte.ok_or_else(|| {
            let mut utf8 = [0; 4];
            PgError::new(
                SqlState::UNTRANSLATABLE_CHARACTER,
                format!(
                    "character with byte sequence {} in encoding \"UTF8\" has no equivalent in encoding \"{}\"",
                    sequence(c.encode_utf8(&mut utf8).as_bytes()),
                    encoding.name()
                ),
            )
        })?);
    }
    Ok(bytes)
}
