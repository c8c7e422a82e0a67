//! Messages as they come: one byte of type, four of length, a body.
//!
//! pgwire's decoders for these messages read beyond a message whose inner lengths lie, panic when they reach the end of the buffer,
//! and replace bytes that are not UTF-8. Here every body is a slice of its own that is read to its end and not further.

use bytes::{Buf, Bytes, BytesMut};
use stoa_pg::{PgError, PgResult, SqlState};

/// Types of messages from a client.
pub mod kind {
    pub const QUERY: u8 = b'Q';
    pub const PARSE: u8 = b'P';
    pub const BIND: u8 = b'B';
    pub const DESCRIBE: u8 = b'D';
    pub const EXECUTE: u8 = b'E';
    pub const CLOSE: u8 = b'C';
    pub const FLUSH: u8 = b'H';
    pub const SYNC: u8 = b'S';
    pub const TERMINATE: u8 = b'X';
    pub const COPY_DATA: u8 = b'd';
    pub const COPY_DONE: u8 = b'c';
    pub const COPY_FAIL: u8 = b'f';
    pub const FUNCTION_CALL: u8 = b'F';
    pub const PASSWORD: u8 = b'p';
}

/// A message.
#[derive(Clone, Debug)]
pub struct Frame {
    pub kind: u8,
    pub body: Bytes,
}

/// The longest message with a statement or data.
const LARGE: usize = (1 << 30) - 1;
/// The longest message of any other type.
const SMALL: usize = 10_000;

/// The next complete message, if there is one.
///
/// # Errors
/// 08P01 for types that do not exist and lengths that cannot be; the connection must be closed then.
pub fn next(input: &mut BytesMut) -> PgResult<Option<Frame>> {
    let Some((kind, length)) = head(input)? else { return Ok(None) };
    if input.len() < 1 + length {
        return Ok(None);
    }
    input.advance(5);
    Ok(Some(Frame { kind, body: input.split_to(length - 4).freeze() }))
}

/// Bytes that are missing until the first message is complete.
pub fn missing(input: &BytesMut) -> usize {
    match head(input) {
        Ok(Some((_, length))) => (1 + length).saturating_sub(input.len()),
        _ => 0,
    }
}

fn head(input: &BytesMut) -> PgResult<Option<(u8, usize)>> {
    let Some(&kind) = input.first() else { return Ok(None) };
    let limit = match kind {
        kind::QUERY | kind::PARSE | kind::BIND | kind::COPY_DATA | kind::FUNCTION_CALL => LARGE,
        kind::DESCRIBE
        | kind::EXECUTE
        | kind::CLOSE
        | kind::FLUSH
        | kind::SYNC
        | kind::TERMINATE
        | kind::COPY_DONE
        | kind::COPY_FAIL
        | kind::PASSWORD => SMALL,
        other => return Err(violation(format!("invalid frontend message type {other}"))),
    };
    let Some(length) = input.get(1..5).and_then(|b| b.try_into().ok()).map(i32::from_be_bytes) else { return Ok(None) };
    match usize::try_from(length) {
        Ok(length) if (4..=limit).contains(&length) => Ok(Some((kind, length))),
        _ => Err(violation("invalid message length")),
    }
}

/// 08P01.
pub fn violation(message: impl Into<String>) -> PgError {
    PgError::new(SqlState::PROTOCOL_VIOLATION, message)
}

/// Reads a body from its start to its end.
pub struct Body<'a> {
    rest: &'a [u8],
}

impl<'a> Body<'a> {
    pub fn new(frame: &'a Frame) -> Self {
        Self { rest: &frame.body }
    }

    /// A string up to its zero byte.
    ///
    /// # Errors
    /// 08P01 without a zero byte, 22021 for bytes that are not UTF-8.
    pub fn string(&mut self) -> PgResult<&'a str> {
        let end = self.rest.iter().position(|b| *b == 0).ok_or_else(|| violation("invalid string in message"))?;
        let bytes = self.take(end)?;
        self.take(1)?;
        utf8(bytes)
    }

    pub fn int16(&mut self) -> PgResult<i16> {
        Ok(i16::from_be_bytes(self.array()?))
    }

    pub fn int32(&mut self) -> PgResult<i32> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    pub fn byte(&mut self) -> PgResult<u8> {
        Ok(u8::from_be_bytes(self.array()?))
    }

    /// The next bytes.
    pub fn take(&mut self, length: usize) -> PgResult<&'a [u8]> {
        let (out, rest) = self.rest.split_at_checked(length).ok_or_else(|| violation("insufficient data left in message"))?;
        self.rest = rest;
        Ok(out)
    }

    /// All of it has been read.
    pub fn end(&self) -> PgResult<()> {
        if self.rest.is_empty() { Ok(()) } else { Err(violation("invalid message format")) }
    }

    fn array<const N: usize>(&mut self) -> PgResult<[u8; N]> {
        self.take(N)?.try_into().map_err(|_| violation("insufficient data left in message"))
    }
}

/// Text from a client.
///
/// # Errors
/// 22021 with the bytes at fault.
pub fn utf8(bytes: &[u8]) -> PgResult<&str> {
    std::str::from_utf8(bytes).map_err(|error| {
        let rest = bytes.get(error.valid_up_to()..).unwrap_or_default();
        let length = match rest.first() {
            Some(0xc2..=0xdf) => 2,
            Some(0xe0..=0xef) => 3,
            Some(0xf0..=0xf4) => 4,
            _ => 1,
        };
        let shown: Vec<String> = rest.iter().take(length).map(|b| format!("0x{b:02x}")).collect();
        PgError::new(SqlState::CHARACTER_NOT_IN_REPERTOIRE, format!("invalid byte sequence for encoding \"UTF8\": {}", shown.join(" ")))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn frames_and_their_limits() {
        let mut input = BytesMut::from(&b"S\0\0\0\x04Q\0\0\0\x06a\0Q\0\0\0\x09x"[..]);
        assert_eq!(next(&mut input).unwrap().unwrap().kind, kind::SYNC);
        let query = next(&mut input).unwrap().unwrap();
        assert_eq!(Body::new(&query).string().unwrap(), "a");
        assert!(next(&mut input).unwrap().is_none());
        assert_eq!(missing(&input), 4);
        for bad in [&b"\0\0\0\0\x04"[..], b"S\0\0\0\x03", b"S\0\xff\0\0", b"Q\xff\xff\xff\xff", b"Q\x40\0\0\0"] {
            assert_eq!(next(&mut BytesMut::from(bad)).unwrap_err().code().as_str(), "08P01", "{bad:?}");
        }
    }

    #[test]
    fn bodies_end_where_they_end() {
        let frame = Frame { kind: b'B', body: Bytes::from_static(b"ab\0\0\x01") };
        let mut body = Body::new(&frame);
        assert_eq!(body.string().unwrap(), "ab");
        assert_eq!(body.int16().unwrap(), 1);
        assert!(body.end().is_ok());
        assert_eq!(body.int32().unwrap_err().code().as_str(), "08P01");
        assert_eq!(utf8(b"a\xc3\x28").unwrap_err().message(), "invalid byte sequence for encoding \"UTF8\": 0xc3 0x28");
    }
}
