//! SCRAM-SHA-256 and SCRAM-SHA-256-PLUS on the server's side: RFC 5802, 7677 and 5929 as PostgreSQL 15 speaks them.
//!
//! The server holds [verifiers](Verifier) only: who reads them can test guesses, not log in. An [exchange](Exchange) takes the client's
//! messages and gives the server's; it computes the same for roles that do not exist. The code is our own: that of the protocol's
//! library lets SCRAM-SHA-256-PLUS be chosen by a message without channel binding and has no exchange for roles without a password.

mod attributes;
mod exchange;
mod prepare;
mod verifier;

#[cfg(test)]
mod client;
#[cfg(test)]
mod tests;

pub use exchange::{Channel, Exchange, MAX_MESSAGE, MockSecret, Reply};
pub use verifier::{DEFAULT_ITERATIONS, PasswordText, Verifier};

use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// The name of the mechanism without channel binding.
pub const SCRAM_SHA_256: &str = "SCRAM-SHA-256";
/// The name of the mechanism with it.
pub const SCRAM_SHA_256_PLUS: &str = "SCRAM-SHA-256-PLUS";

/// A key of SCRAM-SHA-256, wiped when dropped.
type Key = Zeroizing<[u8; 32]>;

fn hmac(key: &[u8], parts: &[&[u8]]) -> Key {
    // Keys of HMAC may have any length: there is no error to report, and an empty tag would match no proof.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return Zeroizing::new([0; 32]) };
    for part in parts {
        mac.update(part);
    }
    Zeroizing::new(mac.finalize().into_bytes().into())
}

fn sha256(bytes: &[u8]) -> Key {
    Zeroizing::new(Sha256::digest(bytes).into())
}

/// Random bytes of the system.
fn random<const N: usize>() -> Result<[u8; N], crate::Refusal> {
    let mut bytes = [0; N];
    match getrandom::fill(&mut bytes) {
        Ok(()) => Ok(bytes),
        Err(e) => Err(crate::Refusal::new(crate::Code::Internal, format!("could not generate random bytes: {e}"))),
    }
}
