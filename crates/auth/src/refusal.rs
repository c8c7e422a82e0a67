//! Why somebody is not let in, as the protocol tells it.
//!
//! What goes to the client says no more than PostgreSQL says: of a wrong password, not whether the role exists. No secret is in it.

use std::fmt;

/// The SQLSTATEs of refusals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Code {
    /// 08P01: the message is none that the protocol knows here.
    ProtocolViolation,
    /// 28000: no rule lets the connection in, or its certificate, its system user or its channel do not fit.
    InvalidAuthorization,
    /// 28P01: the password is wrong, or there is none.
    InvalidPassword,
    /// 0A000: PostgreSQL knows it, and so do we, and neither does it.
    Unsupported,
    /// 53300: so many attempts from this address are waiting that another would wait too long.
    TooManyConnections,
    /// F0000: a file of configuration, a certificate or a key cannot be used.
    ConfigFile,
    /// XX000: the machine has no random numbers, or a library failed.
    Internal,
}

impl Code {
    /// Its five characters.
    #[must_use]
    pub const fn sqlstate(self) -> &'static str {
        match self {
            Self::ProtocolViolation => "08P01",
            Self::InvalidAuthorization => "28000",
            Self::InvalidPassword => "28P01",
            Self::Unsupported => "0A000",
            Self::TooManyConnections => "53300",
            Self::ConfigFile => "F0000",
            Self::Internal => "XX000",
        }
    }
}

/// A refusal: code, message, detail and hint, in PostgreSQL's words where it has some.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    pub code: Code,
    pub message: String,
    pub detail: Option<String>,
    pub hint: Option<String>,
}

impl Refusal {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), detail: None, hint: None }
    }

    pub(crate) fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// What every failed proof by password says, whatever was wrong with it: 28P01.
    #[must_use]
    pub fn wrong_password(role: &str) -> Self {
        Self::new(Code::InvalidPassword, format!("password authentication failed for user \"{role}\""))
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for more in [&self.detail, &self.hint].into_iter().flatten() {
            write!(f, " ({more})")?;
        }
        Ok(())
    }
}

impl std::error::Error for Refusal {}
