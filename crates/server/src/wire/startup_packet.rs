//! The packets before a session: four bytes of length, four that say what it is, and a body. They have no type, and come from anybody.

use super::frame::{utf8, violation};
use bytes::{Buf, Bytes, BytesMut};
use stoa_pg::{PgError, PgResult, SqlState};

/// The longest.
pub const LIMIT: usize = 10_000;

const CANCEL_REQUEST: i32 = 80_877_102;
pub(super) const SSL_REQUEST: i32 = 80_877_103;
pub(super) const GSS_REQUEST: i32 = 80_877_104;
/// The newest protocol: 3.2.
const NEWEST_MINOR: i32 = 2;

/// What a client asks for at first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Packet {
    /// Encryption by TLS.
    Tls,
    /// Encryption by GSSAPI.
    Gss,
    /// To end another session's statement.
    Cancel { pid: u32, secret: u32 },
    /// A session.
    Startup(Startup),
}

/// The wish for a session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Startup {
    /// Of protocol 3.
    pub minor: i32,
    /// In their order.
    pub parameters: Vec<(String, String)>,
}

/// The next packet if all of it is there.
///
/// # Errors
/// 08P01 for a length that no packet has, and what [`Packet`]s raise.
pub fn next(input: &mut BytesMut) -> PgResult<Option<Packet>> {
    let Some(length) = input.first_chunk::<4>().map(|bytes| i32::from_be_bytes(*bytes)) else { return Ok(None) };
    let length = usize::try_from(length).ok().filter(|length| (8..=LIMIT).contains(length));
    let Some(length) = length else { return Err(violation("invalid length of startup packet")) };
    if input.len() < length {
        return Ok(None);
    }
    input.advance(4);
    read(input.split_to(length - 4).freeze()).map(Some)
}

/// Reads a packet from its code on.
fn read(mut packet: Bytes) -> PgResult<Packet> {
    let code = packet.get_i32();
    match code {
        SSL_REQUEST => Ok(Packet::Tls),
        GSS_REQUEST => Ok(Packet::Gss),
        CANCEL_REQUEST if packet.len() == 8 => Ok(Packet::Cancel { pid: packet.get_u32(), secret: packet.get_u32() }),
        CANCEL_REQUEST => Err(violation("invalid length of cancel request")),
        code if code >> 16 == 3 => Ok(Packet::Startup(Startup { minor: code & 0xffff, parameters: parameters(&packet)? })),
        code => Err(unknown_protocol(code)),
    }
}

/// 0A000.
pub(super) fn unknown_protocol(code: i32) -> PgError {
    let (major, minor) = (code.cast_unsigned() >> 16, code & 0xffff);
    PgError::unsupported(format!("unsupported frontend protocol {major}.{minor}: server supports 3.0 to 3.{NEWEST_MINOR}"))
}

/// Names and values, each with a zero byte, and one more at the end.
fn parameters(mut body: &[u8]) -> PgResult<Vec<(String, String)>> {
    let layout = || violation("invalid startup packet layout: expected terminator as last byte");
    let mut word = || -> PgResult<&[u8]> {
        let end = body.iter().position(|&byte| byte == 0).ok_or_else(layout)?;
        let (word, rest) = body.split_at(end);
        body = rest.get(1..).unwrap_or_default();
        Ok(word)
    };
    let text = |word: &[u8]| match utf8(word) {
        Ok(text) => Ok(text.to_owned()),
        Err(_) => {
            let what = "invalid byte sequence for encoding \"UTF8\" in startup packet";
            Err(PgError::new(SqlState::CHARACTER_NOT_IN_REPERTOIRE, what))
        }
    };
    let mut out = Vec::new();
    loop {
        let name = word()?;
        if name.is_empty() {
            break;
        }
        out.push((text(name)?, text(word()?)?));
    }
    if body.is_empty() { Ok(out) } else { Err(layout()) }
}

impl Startup {
    /// What the client is told of the protocol before anything else, if it asks for more than there is: the newest minor version that it
    /// can have, and the names of options that are not known.
    #[must_use]
    pub fn negotiated(&self) -> Option<(i32, Vec<&str>)> {
        let unknown: Vec<&str> = self.parameters.iter().map(|(name, _)| name.as_str()).filter(|name| name.starts_with("_pq_.")).collect();
        // There is no 3.1.
        let offered = if self.minor >= NEWEST_MINOR { NEWEST_MINOR } else { 0 };
        (offered != self.minor || !unknown.is_empty()).then_some((3 << 16 | offered, unknown))
    }

    /// The last value that a parameter was given.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().rev().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn packet(body: &[u8]) -> BytesMut {
        let mut out = BytesMut::from(&u32::try_from(body.len() + 4).unwrap().to_be_bytes()[..]);
        out.extend_from_slice(body);
        out
    }

    #[test]
    fn packets_are_read_whole_or_refused() {
        let startup = |minor, parameters: &[(&str, &str)]| {
            let parameters = parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            Ok(Some(Packet::Startup(Startup { minor, parameters })))
        };
        for (body, expected) in [
            (&b"\0\x03\0\0user\0anna\0a\0\0\0"[..], startup(0, &[("user", "anna"), ("a", "")])),
            (b"\0\x03\0\x02\0", startup(2, &[])),
            (b"\0\x03\0\0", Err("08P01")),
            (b"\0\x03\0\0user\0anna", Err("08P01")),
            (b"\0\x03\0\0user\0anna\0", Err("08P01")),
            (b"\0\x03\0\0user\0\0\0\0\0", Err("08P01")),
            (b"\0\x03\0\0user\0a\0\0b\0c\0\0", Err("08P01")),
            (b"\0\x03\0\0user\0\xff\0\0", Err("22021")),
            (b"\0\x02\0\0user\0a\0\0", Err("0A000")),
            (b"\xff\xff\xff\xff", Err("0A000")),
            (b"\x04\xd2\x16\x2f", Ok(Some(Packet::Tls))),
            (b"\x04\xd2\x16\x30", Ok(Some(Packet::Gss))),
            (b"\x04\xd2\x16\x2e\0\0\0\x07\0\0\0\x09", Ok(Some(Packet::Cancel { pid: 7, secret: 9 }))),
            (b"\x04\xd2\x16\x2e\0\0\0\x07", Err("08P01")),
        ] {
            let read = next(&mut packet(body));
            assert_eq!(read.map_err(|e| e.code().as_str().to_owned()), expected.map_err(str::to_owned), "{body:?}");
        }
        for length in [0, 7, 10_001, -1, i32::MIN] {
            let mut input = BytesMut::from(&length.to_be_bytes()[..]);
            assert_eq!(next(&mut input).unwrap_err().code().as_str(), "08P01", "{length}");
        }
        let mut half = packet(b"\0\x03\0\0user\0anna\0\0");
        half.truncate(12);
        assert_eq!(next(&mut half), Ok(None));
    }

    #[test]
    fn what_is_not_there_is_reported() {
        let of = |minor, names: &[&str]| Startup { minor, parameters: names.iter().map(|n| ((*n).to_owned(), String::new())).collect() };
        assert_eq!(of(0, &["user"]).negotiated(), None);
        assert_eq!(of(2, &["user"]).negotiated(), None);
        assert_eq!(of(1, &[]).negotiated(), Some((3 << 16, vec![])));
        assert_eq!(of(9, &["_pq_.x", "user"]).negotiated(), Some((3 << 16 | 2, vec!["_pq_.x"])));
    }
}
