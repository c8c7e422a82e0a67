//! TLS as PostgreSQL's server has it: a chain and a key from files, authorities for the certificates of clients, and what SCRAM and
//! rules ask of certificates.
//!
//! rustls does the protocol. [`files`] says which files can be served and makes [`Served`] of them; a [`Keeper`] holds what is served now
//! and exchanges it when the files change, for connections that come afterwards. [`names`] reads whom a certificate is for,
//! [`end_point()`] is what SCRAM binds to, [`self_signed`] makes a certificate for a start.

mod end_point;
mod files;
mod keeper;
mod names;
mod self_signed;

#[cfg(test)]
mod tests;

pub use end_point::end_point;
pub use files::{Paths, Served};
pub use keeper::Keeper;
pub use names::ClientNames;
pub use self_signed::SelfSigned;

/// The protocol's name in ALPN.
pub const ALPN: &[u8] = b"postgresql";

/// Whether a connection may go on by what ALPN has agreed on. One that begins with TLS at once must have agreed on
/// [`ALPN`], so that no client of another protocol talks to a database; one that asked with SSLRequest may have agreed on nothing.
#[must_use]
pub fn alpn_is_right(agreed: Option<&[u8]>, direct: bool) -> bool {
    match agreed {
        Some(name) => name == ALPN,
        None => !direct,
    }
}
