//! What is stored of a password: iterations, salt, StoredKey and ServerKey, in PostgreSQL's text form.
//!
//! The text is `SCRAM-SHA-256$ITERATIONS:SALT$STOREDKEY:SERVERKEY` with padded base64, so roles move between PostgreSQL and Stoa with
//! their passwords. It is read back strictly: what is not exactly of this form is no verifier.

use super::{Key, SCRAM_SHA_256, hmac, random, sha256};
use crate::{Code, Refusal, Secret};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::fmt;
use std::str::FromStr;
use zeroize::Zeroizing;

/// Iterations of new verifiers: PostgreSQL's number.
pub const DEFAULT_ITERATIONS: u32 = 4096;
/// More iterations would let one CREATE ROLE hold a processor for seconds; a verifier that is stored already may have any.
const MAX_ITERATIONS: u32 = 10_000_000;
const SALT_LENGTH: usize = 16;

/// What a role's password is proven against. `Debug` shows iterations and nothing else; [`to_text`](Self::to_text) is what is stored.
#[derive(Clone)]
pub struct Verifier {
    pub(super) iterations: u32,
    pub(super) salt: Vec<u8>,
    pub(super) stored_key: Key,
    pub(super) server_key: Key,
}

/// What the text after PASSWORD is.
#[derive(Debug)]
pub enum PasswordText {
    /// A password: make a verifier of it.
    Plain,
    /// A verifier, to be stored as it is.
    Scram(Verifier),
    /// PostgreSQL's old hash, by which nobody can prove anything here: refuse it.
    Md5,
}

impl PasswordText {
    /// Tells them apart as PostgreSQL does: what is of neither form is a password.
    #[must_use]
    pub fn of(text: &str) -> Self {
        if let Ok(verifier) = text.parse() {
            return Self::Scram(verifier);
        }
        let md5 = text.strip_prefix("md5").filter(|hex| hex.len() == 32 && hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')));
        if md5.is_some() { Self::Md5 } else { Self::Plain }
    }
}

impl Verifier {
    /// A verifier with a salt of its own. Takes as long as the iterations say: milliseconds for [`DEFAULT_ITERATIONS`].
    ///
    /// # Errors
    /// If the system has no random numbers, or iterations are none or more than ten million.
    pub fn make(password: &Secret, iterations: u32) -> Result<Self, Refusal> {
        Self::with_salt(password, iterations, &random::<SALT_LENGTH>()?)
    }

    /// The verifier by a salt that is given: what a client computes, and how one asks whether a password is the stored one.
    ///
    /// # Errors
    /// If iterations are none or more than ten million.
    pub fn with_salt(password: &Secret, iterations: u32, salt: &[u8]) -> Result<Self, Refusal> {
        if !(1..=MAX_ITERATIONS).contains(&iterations) {
            return Err(Refusal::new(Code::ConfigFile, format!("iterations of SCRAM must be between 1 and {MAX_ITERATIONS}")));
        }
        let salted = salted_password(password, salt, iterations);
        let client_key = hmac(&*salted, &[b"Client Key"]);
        let server_key = hmac(&*salted, &[b"Server Key"]);
        Ok(Self { iterations, salt: salt.to_vec(), stored_key: sha256(&*client_key), server_key })
    }

    /// Whether the password is the one that was stored. Takes as long as making a verifier, right or wrong.
    #[must_use]
    pub fn is_of(&self, password: &Secret) -> bool {
        use subtle::ConstantTimeEq;
        let salted = salted_password(password, &self.salt, self.iterations);
        bool::from(hmac(&*salted, &[b"Server Key"]).ct_eq(&*self.server_key))
    }

    /// The text that is stored, and that `pg_authid.rolpassword` shows superusers.
    #[must_use]
    pub fn to_text(&self) -> String {
        let [salt, stored, server] = [&self.salt[..], &self.stored_key[..], &self.server_key[..]].map(|bytes| STANDARD.encode(bytes));
        format!("{SCRAM_SHA_256}${}:{salt}${stored}:{server}", self.iterations)
    }
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verifier").field("iterations", &self.iterations).finish_non_exhaustive()
    }
}

/// Why a text is no verifier. It does not repeat the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotAVerifier;

impl fmt::Display for NotAVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a SCRAM verifier")
    }
}

impl std::error::Error for NotAVerifier {}

impl FromStr for Verifier {
    type Err = NotAVerifier;

    fn from_str(text: &str) -> Result<Self, NotAVerifier> {
        let parts = || {
            let rest = text.strip_prefix(SCRAM_SHA_256)?.strip_prefix('$')?;
            let (front, keys) = rest.split_once('$')?;
            let (iterations, salt) = front.split_once(':')?;
            let (stored, server) = keys.split_once(':')?;
            let digits = iterations.bytes().all(|b| b.is_ascii_digit()) && !iterations.starts_with('0');
            let iterations = iterations.parse::<i32>().ok().filter(|_| digits)?;
            let salt = STANDARD.decode(salt).ok().filter(|salt| !salt.is_empty())?;
            let [stored_key, server_key] = [stored, server].map(|key| {
                let bytes = Zeroizing::new(STANDARD.decode(key).ok()?);
                Some(Zeroizing::new(<[u8; 32]>::try_from(&bytes[..]).ok()?))
            });
            Some(Self { iterations: u32::try_from(iterations).ok()?, salt, stored_key: stored_key?, server_key: server_key? })
        };
        parts().ok_or(NotAVerifier)
    }
}

/// `Hi(Normalize(password), salt, iterations)`.
pub(super) fn salted_password(password: &Secret, salt: &[u8], iterations: u32) -> Key {
    let prepared = super::prepare::prepare(password);
    let mut out = Zeroizing::new([0; 32]);
    pbkdf2::pbkdf2_hmac::<sha2::Sha256>(prepared.expose(), salt, iterations, &mut *out);
    out
}
