//! From the first byte to the first ReadyForQuery: encryption and the protocol's version are agreed on, the client proves who it is, the
//! session is opened. Until then a connection has a [`Place`], which it may lose.

use super::connection::Connection;
use super::event_loops::ConnectionTask;
use super::frame::violation;
use super::listen::Origin;
use super::output::Output;
use super::startup_packet::{self, Packet, Startup};
use super::transport::{Agreed, Socket, Transport};
use crate::access::{Access, Place, error_of};
use bytes::BytesMut;
use serde_json::{Map, Value, json};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use stoa_auth::Refusal;
use stoa_auth::hosts::Failure;
use stoa_auth::tls::{ClientNames, Served, alpn_is_right};
use stoa_engine::environment::server::{ClientInfo, TlsInfo};
use stoa_engine::{Database, Session, SessionOptions};
use stoa_pg::{PgError, PgResult, SqlState};
use tokio::sync::watch;

/// A packet that has begun is there by then: who has a slow network needs as long, and nobody has a place for longer by sending half of one.
const PACKET_TIME: Duration = Duration::from_secs(5);
/// The first byte of TLS, by clients that do not ask for it before.
const TLS_HANDSHAKE: u8 = 0x16;

/// What a connection finds around it.
pub struct Environment {
    pub database: Database,
    pub access: Arc<Access>,
    /// Changes when the server is told to stop.
    pub shutdown: watch::Receiver<bool>,
}

/// TLS as it was agreed on.
pub(super) struct Secured {
    pub(super) served: Arc<Served>,
    pub(super) agreed: Agreed,
    /// Whom the client's certificate names, if it has shown one.
    pub(super) names: Option<ClientNames>,
}

/// Why no session came of it.
pub(super) enum End {
    /// The client is told; the log may have why.
    Refused { error: PgError, log: Option<String> },
    /// The client is gone, or cannot be told.
    Gone,
}

impl From<PgError> for End {
    fn from(error: PgError) -> Self {
        Self::Refused { error, log: None }
    }
}

impl From<Refusal> for End {
    fn from(refusal: Refusal) -> Self {
        error_of(&refusal).into()
    }
}

impl From<Failure> for End {
    fn from(failure: Failure) -> Self {
        Self::Refused { error: error_of(&failure.refusal), log: failure.log }
    }
}

impl From<io::Error> for End {
    fn from(_: io::Error) -> Self {
        Self::Gone
    }
}

/// A connection that has no session yet.
pub(super) struct Attempt {
    pub(super) transport: Transport,
    pub(super) input: BytesMut,
    pub(super) output: Output,
    pub(super) origin: Origin,
    pub(super) access: Arc<Access>,
    pub(super) secured: Option<Secured>,
    pub(super) database: Database,
    task: ConnectionTask,
    /// Who wants in, and where, once that is known.
    role: String,
    name: String,
}

/// Does the startup; `None` when the connection was for something else, or has ended.
pub async fn start(socket: Socket, origin: Origin, mut place: Place, around: Environment, task: ConnectionTask) -> Option<Connection> {
    let mut attempt = Attempt {
        transport: Transport::new(socket),
        input: BytesMut::with_capacity(8 << 10),
        output: Output::default(),
        origin,
        access: around.access,
        secured: None,
        database: around.database,
        task: task.clone(),
        role: String::new(),
        name: String::new(),
    };
    let opened = tokio::select! {
        biased;
        opened = attempt.open(&around.shutdown) => opened,
        () = place.lost() => return None,
    };
    match opened {
        Ok(Some(session)) => {
            drop(place);
            let access = attempt.access;
            let mut connection = Connection::new(attempt.transport, attempt.input, session, around.shutdown, task, access);
            connection.output = attempt.output;
            connection.send_parameter_changes();
            let shared = connection.session.shared().clone();
            let start = connection.output.begin(b'K');
            connection.output.uint32(shared.pid);
            connection.output.uint32(shared.secret);
            connection.output.end(start);
            connection.ready().await;
            Some(connection)
        }
        Err(End::Refused { error, log }) => {
            attempt.refused(&error, log.as_deref());
            attempt.output.error("FATAL", &error);
            let Attempt { mut transport, output, .. } = attempt;
            let farewell = async {
                let _ = transport.write_all(&output.bytes).await;
                transport.shutdown().await;
            };
            let _ = tokio::time::timeout(Duration::from_secs(5), farewell).await;
            None
        }
        Ok(None) | Err(End::Gone) => None,
    }
}

impl Attempt {
    async fn open(&mut self, shutdown: &watch::Receiver<bool>) -> Result<Option<Session>, End> {
        let Some(startup) = self.agree().await? else { return Ok(None) };
        if *shutdown.borrow() {
            return Err(PgError::new(SqlState::CANNOT_CONNECT_NOW, "the database system is shutting down").into());
        }
        if let Some((version, unknown)) = startup.negotiated() {
            let start = self.output.begin(b'v');
            self.output.int32(version);
            self.output.int32(i32::try_from(unknown.len()).unwrap_or(0));
            unknown.iter().for_each(|name| self.output.string(name));
            self.output.end(start);
        }
        let mut options = options(&startup)?;
        (self.role, self.name) = (options.user.clone(), options.database.clone());
        options.client = self.client_info();
        let (role, name) = (self.role.clone(), self.name.clone());
        let proof = self.authenticate(&role, if name.is_empty() { "stoa" } else { &name }).await?;
        // AuthenticationOk.
        let start = self.output.begin(b'R');
        self.output.int32(0);
        self.output.end(start);
        let session = self.database.connect(options)?;
        self.admitted(&session, &proof);
        Ok(Some(session))
    }

    /// Encryption, as often as a client may ask for it; then what it wants. `None` if that was to cancel a statement.
    async fn agree(&mut self) -> Result<Option<Startup>, End> {
        let (mut tls_asked, mut gss_asked) = (false, false);
        loop {
            if !tls_asked && !gss_asked && self.first_byte().await? == TLS_HANDSHAKE && self.tls().is_some() {
                (tls_asked, gss_asked) = (true, true);
                self.secure(true).await?;
            }
            match self.packet().await? {
                Packet::Tls if !tls_asked => {
                    tls_asked = true;
                    // What has come already has not been encrypted, and may be another's than the client's.
                    let injected = !self.input.is_empty();
                    if self.tls().is_none() {
                        self.transport.write_all(b"N").await?;
                    }
                    if injected {
                        return Err(injection("received unencrypted data after SSL request").into());
                    }
                    if self.tls().is_some() {
                        gss_asked = true;
                        self.transport.write_all(b"S").await?;
                        self.secure(false).await?;
                    }
                }
                Packet::Gss if !gss_asked => {
                    gss_asked = true;
                    self.transport.write_all(b"N").await?;
                    if !self.input.is_empty() {
                        return Err(injection("received unencrypted data after GSSAPI encryption request").into());
                    }
                }
                Packet::Tls => return Err(startup_packet::unknown_protocol(startup_packet::SSL_REQUEST).into()),
                Packet::Gss => return Err(startup_packet::unknown_protocol(startup_packet::GSS_REQUEST).into()),
                Packet::Cancel { pid, secret } => {
                    self.database.inner().cancel(pid, secret).await;
                    return Ok(None);
                }
                Packet::Startup(startup) => return Ok(Some(startup)),
            }
        }
    }

    /// What TLS would be served with on this connection.
    fn tls(&self) -> Option<Arc<Served>> {
        match self.origin {
            Origin::Tcp { .. } => self.access.tls(),
            Origin::Socket { .. } => None,
        }
    }

    /// Does the handshake of TLS; `direct` if the client has begun with it.
    async fn secure(&mut self, direct: bool) -> Result<(), End> {
        let Some(served) = self.tls() else { return Err(End::Gone) };
        // Signatures take as long as hundreds of statements.
        self.task.offload().await;
        let agreed = match self.transport.accept_tls(&served, &mut self.input).await {
            Ok(agreed) => agreed,
            Err(error) => {
                tracing::info!("could not accept SSL connection: {error} ({})", self.origin.text());
                return Err(End::Gone);
            }
        };
        if !alpn_is_right(agreed.protocol.as_deref(), direct) {
            tracing::info!("received direct SSL connection request without ALPN protocol negotiation extension ({})", self.origin.text());
            return Err(End::Gone);
        }
        let names = match agreed.certificate.as_deref().map(ClientNames::of).transpose() {
            Ok(names) => names,
            Err(refusal) => {
                tracing::info!("{refusal} ({})", self.origin.text());
                return Err(End::Gone);
            }
        };
        self.secured = Some(Secured { served, agreed, names });
        Ok(())
    }

    async fn first_byte(&mut self) -> Result<u8, End> {
        loop {
            if let Some(byte) = self.input.first() {
                return Ok(*byte);
            }
            if self.transport.read(&mut self.input).await? == 0 {
                return Err(End::Gone);
            }
        }
    }

    async fn packet(&mut self) -> Result<Packet, End> {
        let incomplete = || End::from(violation("incomplete startup packet"));
        let mut deadline = None;
        loop {
            if let Some(packet) = startup_packet::next(&mut self.input)? {
                return Ok(packet);
            }
            let begun = !self.input.is_empty();
            let read = self.transport.read(&mut self.input);
            let read = if begun {
                let deadline = *deadline.get_or_insert_with(|| tokio::time::Instant::now() + PACKET_TIME);
                tokio::time::timeout_at(deadline, read).await.map_err(|_| incomplete())?
            } else {
                read.await
            };
            if read? == 0 {
                return Err(if begun { incomplete() } else { End::Gone });
            }
        }
    }

    fn client_info(&self) -> ClientInfo {
        let tls = self.secured.as_ref().map(|secured| TlsInfo {
            version: secured.agreed.version,
            cipher: secured.agreed.cipher,
            bits: secured.agreed.bits,
            client_dn: secured.names.as_ref().map(|names| names.subject.clone()),
            client_serial: secured.names.as_ref().map(|names| names.serial.clone()),
            issuer_dn: secured.names.as_ref().map(|names| names.issuer.clone()),
        });
        match self.origin {
            Origin::Tcp { client, server } => ClientInfo { address: Some(client), server_address: Some(server), by_socket: false, tls },
            Origin::Socket { .. } => ClientInfo { by_socket: true, ..ClientInfo::default() },
        }
    }

    /// Tells the logs of a session that begins.
    fn admitted(&self, session: &Session, proof: &Proof) {
        let shared = session.shared();
        if self.access.log_connections() {
            let tls = self.secured.as_ref().map_or_else(String::new, |secured| {
                let Agreed { version, cipher, bits, .. } = &secured.agreed;
                format!(" SSL enabled (protocol={version}, cipher={cipher}, bits={bits})")
            });
            let (user, database) = (&self.role, &shared.database);
            let (method, line) = (proof.method, proof.line);
            let line_of_log = format!("connection authorized: user={user} database={database} method={method} (pg_hba.conf:{line}){tls}");
            tracing::info!(pid = shared.pid, "{}", one_line(&line_of_log));
        }
        if let Some(audit) = self.access.audit() {
            let mut facts = self.facts();
            facts.insert("pid".into(), json!(shared.pid));
            facts.insert("method".into(), json!(proof.method));
            facts.insert("rule".into(), json!(proof.line));
            audit.record("connection", facts);
        }
    }

    /// Tells the logs of one that is refused.
    fn refused(&self, error: &PgError, why: Option<&str>) {
        let code = error.code();
        let (user, origin, message) = (&self.role, self.origin.text(), error.message());
        let reason = why.map_or_else(String::new, |why| format!(": {why}"));
        tracing::warn!(user, code = code.as_str(), "{}", one_line(&format!("{message} ({origin}){reason}")));
        if let Some(audit) = self.access.audit() {
            let mut facts = self.facts();
            facts.insert("sqlstate".into(), json!(code.as_str()));
            facts.insert("message".into(), json!(message));
            facts.extend(why.map(|why| ("reason".to_owned(), json!(why))));
            audit.record("connection refused", facts);
        }
    }

    fn facts(&self) -> Map<String, Value> {
        let mut facts = Map::new();
        facts.insert("user".into(), json!(self.role));
        facts.insert("database".into(), json!(self.name));
        match &self.origin {
            Origin::Tcp { client, .. } => {
                facts.insert("address".into(), json!(client.ip().to_canonical().to_string()));
                facts.insert("port".into(), json!(client.port()));
            }
            Origin::Socket { user } => {
                facts.insert("system_user".into(), json!(user));
            }
        }
        facts.extend(self.secured.as_ref().map(|secured| ("tls".to_owned(), json!(secured.agreed.version))));
        facts
    }
}

/// How a client has proven who it is.
pub(super) struct Proof {
    pub(super) method: &'static str,
    /// The line of `pg_hba.conf` that asked for it.
    pub(super) line: usize,
}

/// A text for the log, in which names that clients have made up cannot begin lines of their own.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

fn injection(what: &str) -> PgError {
    violation(what).detail("This could be either a client-software bug or evidence of an attempted man-in-the-middle attack.")
}

fn options(startup: &Startup) -> PgResult<SessionOptions> {
    let mut out = SessionOptions::default();
    for (name, value) in &startup.parameters {
        match name.as_str() {
            "user" => out.user.clone_from(value),
            "database" => out.database.clone_from(value),
            "application_name" => out.application_name.clone_from(value),
            "options" => out.settings.extend(command_line(value)?),
            "replication" if matches!(value.as_str(), "false" | "off" | "no" | "0") => {}
            "replication" => return Err(PgError::unsupported("replication connections are not supported")),
            name if name.starts_with("_pq_.") => {}
            name => out.settings.push((name.to_owned(), value.clone())),
        }
    }
    if out.user.is_empty() {
        return Err(PgError::new(SqlState::INVALID_AUTHORIZATION_SPECIFICATION, "no PostgreSQL user name specified in startup packet"));
    }
    Ok(out)
}

/// `-c name=value`, `--name=value`; a backslash keeps the character behind it.
fn command_line(text: &str) -> PgResult<Vec<(String, String)>> {
    let mut words = vec![String::new()];
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                if let (Some(next), Some(word)) = (chars.next(), words.last_mut()) {
                    word.push(next);
                }
            }
            c if c.is_whitespace() => words.push(String::new()),
            c => {
                if let Some(word) = words.last_mut() {
                    word.push(c);
                }
            }
        }
    }
    let mut out = Vec::new();
    let mut words = words.into_iter().filter(|w| !w.is_empty());
    while let Some(word) = words.next() {
        let setting = match (word.strip_prefix("--"), word.strip_prefix("-c")) {
            (Some(setting), _) => Some(setting.to_owned()),
            (None, Some("")) => words.next(),
            (None, Some(setting)) => Some(setting.to_owned()),
            (None, None) => None,
        };
        match setting.as_deref().and_then(|s| s.split_once('=')) {
            Some((name, value)) => out.push((name.replace('-', "_"), value.to_owned())),
            None => {
                return Err(PgError::new(SqlState::SYNTAX_ERROR, format!("invalid command-line argument for server process: {word}")));
            }
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn names_do_not_begin_lines_of_the_log() {
        assert_eq!(one_line("role \"a\nb\u{1b}[1m\" ü"), "role \"a?b?[1m\" ü");
    }

    #[test]
    fn command_line_options() {
        assert_eq!(
            command_line("-c statement_timeout=5s --search-path=a\\ b  -cjit=off").unwrap(),
            [("statement_timeout", "5s"), ("search_path", "a b"), ("jit", "off")].map(|(a, b)| (a.to_owned(), b.to_owned()))
        );
        assert!(command_line("-x").is_err());
        assert!(command_line("-c").is_err());
    }
}
