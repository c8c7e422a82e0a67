//! Who may come from where, and which proof they owe: the rules of hosts (`pg_hba.conf`) and the maps of names (`pg_ident.conf`) in
//! the formats of PostgreSQL 15.
//!
//! [`Rules`] are read whole or not at all, so that a broken file leaves those in force that were; every broken line is reported. The
//! first rule that fits a [`Connection`] decides, and none that fits refuses. From the text: [`tokens`] makes lines of fields,
//! [`rule`] a rule of a line, [`rules`] the list and its answer; [`ident`] is the same road for maps.

mod address;
mod default;
mod ident;
mod interfaces;
mod pattern;
mod proof;
mod rule;
mod rules;
mod tokens;

#[cfg(test)]
mod tests;

pub use address::Address;
pub use default::{DEFAULT_IDENT, DEFAULT_RULES, OWNER_MAP};
pub use ident::{IdentRow, Maps};
pub use interfaces::interfaces;
pub use proof::Failure;
pub use rule::{CertificateName, ClientCertificate, Kind, Method, Rule, RuleRow};
pub use rules::{Around, Connection, Peer, Rules};
pub(crate) use tokens::reason;
pub use tokens::{Files, LineError, OnDisk, Token};
