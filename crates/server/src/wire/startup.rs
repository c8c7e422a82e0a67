//! From the first byte to the first ReadyForQuery: encryption is declined, the protocol's version agreed on, the session opened.

use super::connection::Connection;
use super::event_loops::ConnectionTask;
use super::frame::violation;
use super::output::Output;
use bytes::{Buf, BytesMut};
use pgwire::messages::startup::Startup;
use pgwire::messages::{DecodeContext, Message, ProtocolVersion, cancel::CancelRequest, startup::SecretKey};
use std::net::SocketAddr;
use std::time::Duration;
use stoa_engine::{Database, Session, SessionOptions};
use stoa_pg::{PgError, PgResult, SqlState};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;

/// A client that has not started a session by then is sent away.
const STARTUP_TIMEOUT: Duration = Duration::from_secs(60);
/// The longest startup message.
const LIMIT: usize = 10_000;

const SSL_REQUEST: i32 = 80_877_103;
const GSS_REQUEST: i32 = 80_877_104;
const CANCEL_REQUEST: i32 = 80_877_102;

/// Does the startup; `None` when the connection was for something else, or is to be closed.
pub async fn start(
    mut socket: TcpStream,
    peer: SocketAddr,
    database: &Database,
    shutdown: watch::Receiver<bool>,
    task: ConnectionTask,
) -> Option<Connection> {
    let mut input = BytesMut::with_capacity(8 << 10);
    let down = *shutdown.borrow();
    let opened = tokio::time::timeout(STARTUP_TIMEOUT, open(&mut socket, &mut input, peer, database, down)).await;
    match opened {
        Ok(Ok(Some((session, greeting)))) => {
            let mut connection = Connection::new(socket, input, session, shutdown, task);
            connection.output = greeting;
            connection.send_parameter_changes();
            let shared = connection.session.shared().clone();
            let start = connection.output.begin(b'K');
            connection.output.uint32(shared.pid);
            connection.output.uint32(shared.secret);
            connection.output.end(start);
            connection.ready().await;
            Some(connection)
        }
        Ok(Err(Some(error))) => {
            let mut output = Output::default();
            output.error("FATAL", &error);
            let _ = tokio::time::timeout(Duration::from_secs(5), socket.write_all(&output.bytes)).await;
            let _ = socket.shutdown().await;
            None
        }
        _ => None,
    }
}

/// `Err(None)`: the client is gone.
async fn open(
    socket: &mut TcpStream,
    input: &mut BytesMut,
    peer: SocketAddr,
    database: &Database,
    down: bool,
) -> Result<Option<(Session, Output)>, Option<PgError>> {
    loop {
        let mut packet = read_packet(socket, input).await?;
        let code = packet.get(4..8).and_then(|b| b.try_into().ok()).map(i32::from_be_bytes).unwrap_or(0);
        match code {
            // Neither encryption is offered; the client may go on without.
            SSL_REQUEST | GSS_REQUEST => socket.write_all(b"N").await.map_err(|_| None)?,
            CANCEL_REQUEST => {
                if let Ok(Some(request)) = CancelRequest::decode(&mut packet, &DecodeContext::default()) {
                    cancel(database, &request).await;
                }
                return Ok(None);
            }
            _ => {
                let major = code >> 16;
                if major != 3 {
                    return Err(Some(PgError::unsupported(format!(
                        "unsupported frontend protocol {major}.{}: server supports 3.0 to 3.2",
                        code & 0xffff
                    ))));
                }
                let startup = Startup::decode(&mut packet, &DecodeContext::default());
                let Ok(Some(startup)) = startup else { return Err(Some(violation("invalid startup packet layout"))) };
                if down {
                    return Err(Some(PgError::new(SqlState::CANNOT_CONNECT_NOW, "the database system is shutting down")));
                }
                return greet(&startup, peer, database).map(Some).map_err(Some);
            }
        }
    }
}

fn greet(startup: &Startup, peer: SocketAddr, database: &Database) -> PgResult<(Session, Output)> {
    let mut output = Output::default();
    let minor = startup.protocol_number_minor;
    let unknown: Vec<&String> = startup.parameters.keys().filter(|name| name.starts_with("_pq_.")).collect();
    let known = ProtocolVersion::from_version_number(3, minor);
    if known.is_none() || !unknown.is_empty() {
        let offered = known.unwrap_or(if minor >= 2 { ProtocolVersion::PROTOCOL3_2 } else { ProtocolVersion::PROTOCOL3_0 });
        let start = output.begin(b'v');
        output.int32(i32::from(offered));
        output.int32(i32::try_from(unknown.len()).unwrap_or(0));
        for name in unknown {
            output.string(name);
        }
        output.end(start);
    }
    let session = database.connect(options(startup, peer)?)?;
    // AuthenticationOk: only this machine can connect.
    let start = output.begin(b'R');
    output.int32(0);
    output.end(start);
    Ok((session, output))
}

fn options(startup: &Startup, peer: SocketAddr) -> PgResult<SessionOptions> {
    let mut out = SessionOptions { client_address: Some(peer), ..SessionOptions::default() };
    for (name, value) in &startup.parameters {
        if name.contains('\u{fffd}') || value.contains('\u{fffd}') {
            return Err(PgError::new(
                SqlState::CHARACTER_NOT_IN_REPERTOIRE,
                "invalid byte sequence for encoding \"UTF8\" in startup packet",
            ));
        }
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

async fn cancel(database: &Database, request: &CancelRequest) {
    let secret = match &request.secret_key {
        SecretKey::I32(key) => key.cast_unsigned(),
        SecretKey::Bytes(bytes) => match <[u8; 4]>::try_from(bytes.as_ref()) {
            Ok(bytes) => u32::from_be_bytes(bytes),
            Err(_) => return,
        },
    };
    if let Ok(pid) = u32::try_from(request.pid) {
        database.inner().cancel(pid, secret).await;
    }
}

/// A packet of the startup: four bytes of length, and no type.
async fn read_packet(socket: &mut TcpStream, input: &mut BytesMut) -> Result<BytesMut, Option<PgError>> {
    loop {
        if let Some(length) = input.get(..4).and_then(|b| b.try_into().ok()).map(i32::from_be_bytes) {
            let length = usize::try_from(length).unwrap_or(0);
            if !(8..=LIMIT).contains(&length) {
                // As PostgreSQL: what is no protocol at all gets no answer in one.
                input.clear();
                return Err(Some(violation("invalid length of startup packet")));
            }
            if input.len() >= length {
                return Ok(input.split_to(length));
            }
        }
        if input.remaining() > LIMIT + 8 || socket.read_buf(input).await.map_err(|_| None)? == 0 {
            return Err(None);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

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
