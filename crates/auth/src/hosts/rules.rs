//! The list of rules, how it is read, and the one answer it gives: the first rule that fits a connection.
//!
//! A list with a broken line is no list: [`Rules::parse`] gives all its errors instead, and whoever holds the list before keeps it.

use super::address::{Address, in_net, text};
use super::rule::{self, Kind, Rule, RuleRow};
use super::tokens::{self, Files, Line, LineError, OnDisk, Token};
use crate::{Code, Refusal};
use std::net::IpAddr;
use std::path::Path;

/// Where a connection comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Peer {
    /// By the Unix socket.
    Socket,
    /// From an address, with or without TLS.
    Address { address: IpAddr, tls: bool },
}

/// A connection that wants in.
#[derive(Clone, Copy, Debug)]
pub struct Connection<'a> {
    pub peer: Peer,
    pub database: &'a str,
    pub role: &'a str,
    /// Whether it asks for physical replication, which is no database: `replication` is what its rules say.
    pub replication: bool,
}

/// What rules ask about: roles, names of addresses, and the machine. Names may take a resolver's time; they are asked for only if a
/// rule with a name is reached.
pub trait Around {
    /// Whether the role is, directly or by others, a member of the group, or is it. Being a superuser is not enough. A group that
    /// does not exist has no members.
    fn is_member(&self, role: &str, group: &str) -> bool;

    /// The name that an address resolves to.
    fn name_of(&self, address: IpAddr) -> Option<String>;

    /// The addresses that a name resolves to.
    fn addresses_of(&self, name: &str) -> Vec<IpAddr>;

    /// This machine's addresses with their masks: [`interfaces`](super::interfaces()), but in tests.
    fn interfaces(&self) -> Vec<(IpAddr, IpAddr)>;
}

/// The rules of hosts that are in force.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rules {
    rules: Vec<Rule>,
    warnings: Vec<LineError>,
}

/// What a line came to.
enum Outcome {
    Rule(rule::Parsed),
    Broken(rule::Broken),
}

fn outcome(line: &Line, tls: bool) -> Outcome {
    match &line.error {
        Some(message) => Outcome::Broken(message.clone().into()),
        None => rule::parse(line, tls).map_or_else(Outcome::Broken, Outcome::Rule),
    }
}

impl Rules {
    /// Reads a file. `tls` says whether this server serves TLS at all: without, rules for it are warned of.
    ///
    /// # Errors
    /// All that is wrong with it: that it cannot be read, its broken lines, or that it has no rule.
    pub fn load(path: &Path, tls: bool) -> Result<Self, Vec<LineError>> {
        let text = OnDisk.read(path).map_err(|e| vec![unreadable(path, &e)])?;
        Self::parse(path, &text, tls, &OnDisk)
    }

    /// Reads the text of a file; `name` is what errors call it and what `@file` is relative to.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn parse(name: &Path, text: &str, tls: bool, files: &dyn Files) -> Result<Self, Vec<LineError>> {
        let (mut rules, mut errors, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
        let problem = |line, message, hint: Option<&str>| LineError { file: name.to_owned(), line, message, hint: hint.map(str::to_owned) };
        for line in tokens::lines(name, text, files) {
            match outcome(&line, tls) {
                Outcome::Rule(parsed) => {
                    warnings.extend(parsed.warning.map(|message| problem(line.number, message.to_owned(), None)));
                    rules.push(parsed.rule);
                }
                Outcome::Broken(broken) => errors.push(problem(line.number, broken.message, broken.hint)),
            }
        }
        if errors.is_empty() && rules.is_empty() {
            errors.push(problem(0, format!("configuration file \"{}\" contains no entries", name.display()), None));
        }
        if errors.is_empty() { Ok(Self { rules, warnings }) } else { Err(errors) }
    }

    /// The rows of `pg_hba_file_rules`: of the file as it is, not of the rules in force.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn file_rows(path: &Path, tls: bool) -> Result<Vec<RuleRow>, LineError> {
        let text = OnDisk.read(path).map_err(|e| unreadable(path, &e))?;
        Ok(Self::rows(path, &text, tls, &OnDisk))
    }

    /// The rows of a text.
    #[must_use]
    pub fn rows(name: &Path, text: &str, tls: bool, files: &dyn Files) -> Vec<RuleRow> {
        let row = |line: &Line| match outcome(line, tls) {
            Outcome::Rule(parsed) => RuleRow::of(&parsed.rule, parsed.warning),
            Outcome::Broken(broken) => RuleRow::broken(line.number, broken.message),
        };
        tokens::lines(name, text, files).iter().map(row).collect()
    }

    /// Rules that can never fit, with the reason.
    #[must_use]
    pub fn warnings(&self) -> &[LineError] {
        &self.warnings
    }

    /// All of them, in order.
    #[must_use]
    pub fn all(&self) -> &[Rule] {
        &self.rules
    }

    /// Rules that let in from other machines whoever comes, without a password and without a certificate: a server that listens to
    /// others is to refuse to start with them, or at least to say so.
    pub fn open_to_others(&self) -> impl Iterator<Item = &Rule> {
        let is_open = |rule: &&Rule| {
            let without_proof = rule.method == rule::Method::Trust && rule.client_certificate == rule::ClientCertificate::Off;
            without_proof && rule.is_for_others()
        };
        self.rules.iter().filter(is_open)
    }

    /// The first rule that fits.
    ///
    /// # Errors
    /// 28000 if none does, or if it says `reject`, in PostgreSQL's words.
    pub fn decide(&self, connection: &Connection, around: &dyn Around) -> Result<&Rule, Refusal> {
        match self.find(connection, around) {
            Some(rule) if rule.method == rule::Method::Reject => Err(connection.refusal(true)),
            Some(rule) => Ok(rule),
            None => Err(connection.refusal(false)),
        }
    }

    /// The first rule that fits, whatever it says.
    #[must_use]
    pub fn find(&self, connection: &Connection, around: &dyn Around) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.fits(connection, around))
    }
}

pub(super) fn unreadable(path: &Path, error: &std::io::Error) -> LineError {
    let message = format!("could not open configuration file \"{}\": {}", path.display(), tokens::reason(error));
    LineError { file: path.to_owned(), line: 0, message, hint: None }
}

impl Connection<'_> {
    /// What is said where no rule fits.
    #[must_use]
    pub fn refused(&self) -> Refusal {
        self.refusal(false)
    }

    fn refusal(&self, rejected: bool) -> Refusal {
        let (host, encryption) = match self.peer {
            Peer::Socket => ("[local]".to_owned(), "no encryption"),
            Peer::Address { address, tls } => (text(address.to_canonical()), if tls { "SSL encryption" } else { "no encryption" }),
        };
        let what = match (rejected, self.replication) {
            (true, true) => "pg_hba.conf rejects replication connection for",
            (true, false) => "pg_hba.conf rejects connection for",
            (false, true) => "no pg_hba.conf entry for replication connection from",
            (false, false) => "no pg_hba.conf entry for",
        };
        let database = if self.replication { String::new() } else { format!(", database \"{}\"", self.database) };
        Refusal::new(Code::InvalidAuthorization, format!("{what} host \"{host}\", user \"{}\"{database}, {encryption}", self.role))
    }
}

impl Rule {
    /// Whether connections from other machines may fit.
    #[must_use]
    pub fn is_for_others(&self) -> bool {
        self.kind != Kind::HostGssEnc && !self.address.is_of_this_machine()
    }

    fn fits(&self, connection: &Connection, around: &dyn Around) -> bool {
        let from = match (self.kind, connection.peer) {
            (Kind::Local, Peer::Socket) => true,
            (Kind::Local, Peer::Address { .. }) | (_, Peer::Socket) | (Kind::HostGssEnc, _) => false,
            (Kind::HostSsl, Peer::Address { tls: false, .. }) | (Kind::HostNoSsl, Peer::Address { tls: true, .. }) => false,
            // An address is asked last, since names may take a resolver.
            (_, Peer::Address { .. }) => true,
        };
        from && self.databases.iter().any(|token| is_database(token, connection, around))
            && self.users.iter().any(|token| is_user(token, connection, around))
            && match connection.peer {
                Peer::Socket => true,
                Peer::Address { address, .. } => self.address.fits(address.to_canonical(), around),
            }
    }
}

fn is_database(token: &Token, connection: &Connection, around: &dyn Around) -> bool {
    if connection.replication {
        return token.is_keyword("replication");
    }
    if token.quoted {
        return token.text == connection.database;
    }
    match token.text.as_str() {
        "all" => true,
        "sameuser" => connection.database == connection.role,
        "samerole" | "samegroup" => around.is_member(connection.role, connection.database),
        "replication" => false,
        name => name == connection.database,
    }
}

fn is_user(token: &Token, connection: &Connection, around: &dyn Around) -> bool {
    match token.text.strip_prefix('+') {
        Some(group) if !token.quoted => around.is_member(connection.role, group),
        _ => token.is_keyword("all") || token.text == connection.role,
    }
}

impl Address {
    /// Whether nothing but this machine can have it.
    fn is_of_this_machine(&self) -> bool {
        match self {
            Self::Socket | Self::SameHost => true,
            Self::Net { address: IpAddr::V4(address), mask: IpAddr::V4(mask) } => {
                mask.octets().first() == Some(&255) && address.octets().first() == Some(&127)
            }
            Self::Net { address, mask: IpAddr::V6(mask) } => address.is_loopback() && u128::from(*mask) == u128::MAX,
            Self::All | Self::SameNet | Self::Name(_) | Self::Net { .. } => false,
        }
    }

    fn fits(&self, address: IpAddr, around: &dyn Around) -> bool {
        match self {
            Self::Socket => false,
            Self::All => true,
            Self::SameHost => around.interfaces().iter().any(|(own, _)| own.to_canonical() == address),
            Self::SameNet => around.interfaces().iter().any(|&(own, mask)| in_net(address, own, mask)),
            Self::Net { address: net, mask } => in_net(address, *net, *mask),
            Self::Name(name) => {
                // A name that an address claims counts only if it leads back.
                let Some(claimed) = around.name_of(address) else { return false };
                let (claimed_lower, name) = (claimed.to_ascii_lowercase(), name.to_ascii_lowercase());
                let fits = if name.starts_with('.') { claimed_lower.ends_with(&name) } else { claimed_lower == name };
                fits && around.addresses_of(&claimed).iter().any(|found| found.to_canonical() == address)
            }
        }
    }
}
