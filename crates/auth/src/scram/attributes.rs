//! The attributes that SCRAM's messages are made of, `a=value` with commas between them, and what PostgreSQL says if they are not.
//!
//! Values are bytes: what is no UTF-8 is compared and hashed as it came. Characters that are shown are made harmless first.

use crate::{Code, Refusal};

/// What is left of a message.
pub(super) struct Attributes<'a> {
    rest: &'a [u8],
}

pub(super) fn malformed(detail: impl Into<String>) -> Refusal {
    Refusal::new(Code::ProtocolViolation, "malformed SCRAM message").detail(detail)
}

impl<'a> Attributes<'a> {
    pub(super) const fn new(rest: &'a [u8]) -> Self {
        Self { rest }
    }

    /// The next byte, which stays.
    pub(super) fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    pub(super) fn skip(&mut self) {
        self.rest = self.rest.get(1..).unwrap_or_default();
    }

    pub(super) const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// A comma.
    pub(super) fn comma(&mut self) -> Result<(), Refusal> {
        match self.peek() {
            Some(b',') => {
                self.skip();
                Ok(())
            }
            found => Err(malformed(format!("Comma expected, but found character \"{}\".", shown(found)))),
        }
    }

    /// The value of the attribute that has to come now.
    pub(super) fn value(&mut self, name: u8) -> Result<&'a [u8], Refusal> {
        let found = self.peek();
        if found != Some(name) {
            return Err(malformed(format!("Expected attribute \"{}\" but found \"{}\".", char::from(name), shown(found))));
        }
        self.after_name(name)
    }

    /// Whatever attribute comes now.
    pub(super) fn any(&mut self) -> Result<(u8, &'a [u8]), Refusal> {
        match self.peek() {
            None => Err(malformed("Attribute expected, but found end of string.")),
            Some(name) if name.is_ascii_alphabetic() => Ok((name, self.after_name(name)?)),
            found => Err(malformed(format!("Attribute expected, but found invalid character \"{}\".", shown(found)))),
        }
    }

    fn after_name(&mut self, name: u8) -> Result<&'a [u8], Refusal> {
        self.skip();
        if self.peek() != Some(b'=') {
            return Err(malformed(format!("Expected character \"=\" for attribute \"{}\".", char::from(name))));
        }
        self.skip();
        let end = self.rest.iter().position(|&b| b == b',').unwrap_or(self.rest.len());
        let (value, rest) = self.rest.split_at(end);
        self.rest = rest.get(1..).unwrap_or_default();
        Ok(value)
    }
}

/// A byte as an error may show it.
pub(super) fn shown(byte: Option<u8>) -> String {
    match byte {
        Some(byte @ 0x21..=0x7e) => format!("'{}'", char::from(byte)),
        byte => format!("0x{:02x}", byte.unwrap_or(0)),
    }
}

/// Text as an error may show it: thirty bytes of it, printable ones.
pub(super) fn shown_text(text: &[u8]) -> String {
    text.iter().take(30).map(|&b| if (0x21..=0x7e).contains(&b) { char::from(b) } else { '?' }).collect()
}
