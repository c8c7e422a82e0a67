//! The proof that a client owes: the first rule of hosts that fits asks for it.
//!
//! Whatever fails is reported as PostgreSQL reports it, which is not why: that is for the log. Attempts by password wait their time first.

use super::frame::violation;
use super::listen::Origin;
use super::startup::{Attempt, End, Proof};
use crate::access::{Access, error_of, own_user_name};
use bytes::Buf;
use bytes::Bytes;
use std::net::IpAddr;
use std::sync::Arc;
use stoa_auth::Refusal;
use stoa_auth::hosts::{ClientCertificate, Connection, Method, Peer};
use stoa_auth::scram::{Channel, Exchange, MAX_MESSAGE, Reply, Verifier};
use stoa_engine::LoginRole;
use stoa_pg::{PgError, SqlState};

/// The message of a client that answers.
const ANSWER: u8 = b'p';
/// AuthenticationSASL and its kin.
const SASL: i32 = 10;
const SASL_CONTINUE: i32 = 11;
const SASL_FINAL: i32 = 12;

/// An attempt by password that counts as failed unless it is said otherwise: a client may leave at any moment.
struct Counted {
    access: Arc<Access>,
    address: Option<IpAddr>,
    role: String,
    open: bool,
}

impl Counted {
    fn proven(mut self) {
        self.open = false;
        self.access.end_attempt(self.address, &self.role, true);
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        if self.open {
            self.access.end_attempt(self.address, &self.role, false);
        }
    }
}

impl Attempt {
    /// Lets the client prove that it may be the role.
    pub(super) async fn authenticate(&mut self, role: &str, database: &str) -> Result<Proof, End> {
        let in_force = self.access.in_force();
        let peer = match &self.origin {
            Origin::Socket { .. } => Peer::Socket,
            Origin::Tcp { client, .. } => Peer::Address { address: client.ip(), tls: self.secured.is_some() },
        };
        let connection = Connection { peer, database, role, replication: false };
        let rule = self.access.decide(&in_force, connection, &self.database).await?;
        let names = self.secured.as_ref().and_then(|secured| secured.names.as_ref());
        rule.check_certificate_is_there(self.secured.as_ref().is_some_and(|secured| secured.served.has_authorities()), names)?;
        match rule.method {
            // The certificate is looked at below.
            Method::Trust | Method::Cert => {}
            Method::Peer => {
                let system_user = match &self.origin {
                    Origin::Socket { user } => user.as_deref(),
                    Origin::Tcp { .. } => None,
                };
                rule.check_peer(role, system_user, &in_force.maps)?;
            }
            Method::ScramSha256 | Method::Md5 => {
                let line = rule.line;
                self.prove_password(role).await.map_err(|end| match end {
                    End::Refused { error, log } => End::Refused {
                        error,
                        log: Some(format!("{}line {line} of pg_hba.conf", log.map_or_else(String::new, |why| why + "; "))),
                    },
                    End::Gone => End::Gone,
                })?;
            }
            Method::Reject => return Err(rule.failed(role).into()),
        }
        let names = self.secured.as_ref().and_then(|secured| secured.names.as_ref());
        rule.check_certificate_names(role, names, &in_force.maps)?;
        // Before anybody has made a role, names stand for the first superuser: for the server's own user, and for whoever is trusted, but
        // not for those who have only proven to be somebody else.
        let is_owner = matches!(&self.origin, Origin::Socket { user: Some(user) } if Some(user) == own_user_name().as_ref());
        let is_trusted = rule.method == Method::Trust && rule.client_certificate == ClientCertificate::Off;
        if !is_owner && !is_trusted && self.database.login_role(role).is_none() {
            let what = format!("role \"{role}\" does not exist");
            return Err(PgError::new(SqlState::INVALID_AUTHORIZATION_SPECIFICATION, what).into());
        }
        Ok(Proof { method: rule.method.name(), line: rule.line })
    }

    async fn prove_password(&mut self, role: &str) -> Result<(), End> {
        let (verifier, why_none) = usable_verifier(role, self.database.login_role(role), self.database.inner().tables.now_us());
        let address = self.origin.address();
        let wait = self.access.begin_attempt(address, role)?;
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        let channel = match &self.secured {
            None => Channel::Plain,
            Some(secured) => Channel::Tls { end_point: secured.served.end_point().map(<[u8]>::to_vec) },
        };
        let mut mechanisms = Vec::new();
        for name in Exchange::mechanisms(&channel) {
            mechanisms.extend_from_slice(name.as_bytes());
            mechanisms.push(0);
        }
        mechanisms.push(0);
        self.request(SASL, &mechanisms);
        let mut exchange = Exchange::new(role, verifier, self.access.mock(), channel);
        // Who leaves before an answer has tried nothing: he may have to ask for the password first.
        let mut counted = None;
        loop {
            self.transport.write_all(&self.output.bytes).await?;
            self.output.clear();
            let answer = self.answer().await?;
            let access = Arc::clone(&self.access);
            counted.get_or_insert_with(|| Counted { access, address, role: role.to_owned(), open: true });
            match exchange.receive(&answer) {
                Ok(Reply::Continue(text)) => self.request(SASL_CONTINUE, &text),
                Ok(Reply::Proven(text)) => {
                    // It goes with AuthenticationOk.
                    self.request(SASL_FINAL, &text);
                    if let Some(counted) = counted {
                        counted.proven();
                    }
                    return Ok(());
                }
                Err(refusal) => {
                    let log = why_none.filter(|_| refusal.code == Refusal::wrong_password("").code);
                    return Err(End::Refused { error: error_of(&refusal), log });
                }
            }
        }
    }

    /// AuthenticationSASL and its kin.
    fn request(&mut self, code: i32, body: &[u8]) {
        let start = self.output.begin(b'R');
        self.output.int32(code);
        self.output.bytes.extend_from_slice(body);
        self.output.end(start);
    }

    /// The next answer of the client: of no other type, and not longer than answers are.
    async fn answer(&mut self) -> Result<Bytes, End> {
        loop {
            match self.input.first() {
                Some(&ANSWER) | None => {}
                Some(other) => return Err(violation(format!("expected SASL response, got message type {other}")).into()),
            }
            if let Some(length) = self.input.get(1..).and_then(<[u8]>::first_chunk::<4>).map(|bytes| i32::from_be_bytes(*bytes)) {
                let length = usize::try_from(length).ok().filter(|length| (4..=4 + MAX_MESSAGE).contains(length));
                let Some(length) = length else { return Err(violation("invalid message length").into()) };
                if self.input.len() > length {
                    self.input.advance(5);
                    return Ok(self.input.split_to(length - 4).freeze());
                }
            }
            if self.transport.read(&mut self.input).await? == 0 {
                return Err(End::Gone);
            }
        }
    }
}

/// What a role's password is proven against, or why there is nothing.
fn usable_verifier(role: &str, found: Option<LoginRole>, now_us: i64) -> (Option<Verifier>, Option<String>) {
    let Some(found) = found else { return (None, Some(format!("role \"{role}\" does not exist"))) };
    let Some(stored) = &found.verifier else { return (None, Some(format!("user \"{role}\" has no password assigned"))) };
    if found.is_expired(now_us) {
        return (None, Some(format!("user \"{role}\" has an expired password")));
    }
    match stored.expose().parse() {
        Ok(verifier) => (Some(verifier), None),
        Err(_) => (None, Some(format!("user \"{role}\" does not have a valid SCRAM secret"))),
    }
}
