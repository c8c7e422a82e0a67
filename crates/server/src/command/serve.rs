//! `stoa serve`.

use super::CommandError;
use super::open::{DataOptions, open_for};
use super::running::RunningFile;
use crate::access::{Access, AccessOptions};
use crate::wire::{Listeners, Server, UnixSocket};
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use stoa_engine::Database;
use stoa_engine::environment::server::ServerControl;
use stoa_engine::settings::{self, Context};
use tokio::signal::unix::{SignalKind, signal};

#[derive(clap::Args, Debug)]
pub struct Serve {
    #[command(flatten)]
    data: DataOptions,
    /// Where to listen; may be given several times, or with commas. Other addresses than this machine's own are served if DIR/pg_hba.conf
    /// asks for a proof there.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:5433", value_delimiter = ',', value_parser = address)]
    listen: Vec<SocketAddr>,
    /// The directory of the Unix socket, called .s.PGSQL.PORT after the first port; "none" for no socket. Without this it is
    /// /var/run/postgresql, or /tmp where that cannot be.
    #[arg(long, value_name = "DIR")]
    socket_dir: Option<PathBuf>,
    /// Clients that may be connected at a time.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=262_143))]
    max_connections: u32,
    /// The server's certificate in PEM, with those between it and its authority; DIR/server.crt if that is there. Without one there is no TLS.
    #[arg(long, value_name = "FILE")]
    tls_certificate: Option<PathBuf>,
    /// Its key; DIR/server.key.
    #[arg(long, value_name = "FILE")]
    tls_key: Option<PathBuf>,
    /// The authorities by which certificates of clients are verified; DIR/root.crt if that is there.
    #[arg(long, value_name = "FILE")]
    tls_authorities: Option<PathBuf>,
    /// Where to write who came, who was refused, which rights were changed and which statements were not allowed, a JSON object a line.
    #[arg(long, value_name = "FILE")]
    audit_log: Option<PathBuf>,
    /// What a setting is for all sessions, such as log_statement=ddl; may be given several times.
    #[arg(short = 'c', value_name = "NAME=VALUE", value_parser = setting)]
    settings: Vec<(String, String)>,
}

/// How long no statement has run when memory that is not needed then is given back.
const QUIET: Duration = Duration::from_secs(30);

/// Where PostgreSQL's clients look for the socket, on Debian and its kin, and elsewhere.
const SOCKET_DIRECTORIES: [&str; 2] = ["/var/run/postgresql", "/tmp"];

/// An address by number, `localhost`, or `*` for all of IPv4.
fn address(text: &str) -> Result<SocketAddr, String> {
    let number = match text.split_once(':') {
        Some(("localhost", port)) => format!("127.0.0.1:{port}"),
        Some(("*", port)) => format!("0.0.0.0:{port}"),
        _ => text.to_owned(),
    };
    number.parse().map_err(|_| "not an address and a port, such as 127.0.0.1:5433 or [::1]:5433".into())
}

fn setting(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("not of the form NAME=VALUE")?;
    let known = settings::find(name).ok_or_else(|| format!("there is no setting \"{name}\""))?;
    let own = matches!(known.name, "authentication_timeout" | "superuser_reserved_connections");
    if known.hidden || (matches!(known.context, Context::Internal | Context::Postmaster | Context::Sighup) && !own) {
        return Err(format!("\"{name}\" cannot be set so"));
    }
    Ok((known.name.to_owned(), value.to_owned()))
}

/// The least limit of memory that is held whatever statements run.
const SURE_BYTES: u64 = 256 << 20;

fn trouble(what: impl Into<String>) -> impl FnOnce(io::Error) -> CommandError {
    let what = what.into();
    move |error| CommandError::Io { what, error }
}

impl Serve {
    pub(super) async fn run(self) -> Result<ExitCode, CommandError> {
        if let Some(limit) = self.data.memory_limit.filter(|limit| *limit < SURE_BYTES) {
            tracing::warn!(
                limit_mb = limit >> 20,
                "many statements at once may pass a memory limit below {} MB for moments",
                SURE_BYTES >> 20
            );
        }
        raise_file_limit();
        let sessions = usize::try_from(self.max_connections).unwrap_or(usize::MAX);
        let database = open_for(&self.data, sessions).await?;
        let limit_mb = database.inner().memory.shares.limit.map(|bytes| bytes >> 20);
        for (name, value) in &self.settings {
            database.inner().set_base(name, value)?;
        }
        let access = Arc::new(Access::open(self.access_options(&database, sessions))?);
        if is_open_to_others(&self.data.data) {
            let data = self.data.data.display();
            tracing::warn!("other users of this machine can read {data}, whatever roles they have: chmod 700 {data}");
        }
        let mut listeners = Listeners::bind(&self.listen).await.map_err(trouble("cannot listen"))?;
        let addresses = listeners.addresses().map_err(trouble("cannot listen"))?;
        let port = addresses.first().map_or(5433, SocketAddr::port);
        let socket = self.socket(port)?;
        self.tell_settings(&database, &addresses, port, socket.as_ref())?;
        // It is there as long as the server runs, for other commands to find it.
        let _running = RunningFile::write(&self.data.data, port, socket.as_ref().map(UnixSocket::path))?;
        let shells = super::shell::ShellSocket::open(&self.data.data, database.clone());
        if let Err(error) = &shells {
            tracing::warn!(%error, "there is no socket for stoa shell");
        }
        let socket_path = socket.as_ref().map(|socket| socket.path().display().to_string());
        if let Some(socket) = socket {
            listeners = listeners.with_socket(socket);
        }
        let server = Server::new(listeners, database.clone(), Arc::clone(&access)).map_err(trouble("cannot start threads"))?;
        let mut terminate = signal(SignalKind::terminate()).map_err(trouble("cannot wait for signals"))?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(trouble("cannot wait for signals"))?;
        let reloads = tokio::spawn(reload_on_signal(Arc::clone(&access))?);
        let quiet = tokio::spawn(give_back_when_quiet(database));
        let listening = addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        tracing::info!(
            address = listening,
            socket = socket_path,
            tls = access.tls().is_some(),
            max_connections = self.max_connections,
            data = %self.data.data.display(),
            memory_limit_mb = limit_mb,
            "ready for connections"
        );
        server
            .run(async move {
                tokio::select! {
                    _ = terminate.recv() => {}
                    _ = interrupt.recv() => {}
                }
            })
            .await;
        reloads.abort();
        drop(shells);
        // It holds the database.
        quiet.abort();
        let _ = quiet.await;
        Ok(ExitCode::SUCCESS)
    }

    fn access_options(&self, database: &Database, sessions: usize) -> AccessOptions {
        let seconds = database.inner().base_settings.read().raw("authentication_timeout").and_then(|text| text.parse().ok());
        AccessOptions {
            directory: Some(std::path::absolute(&self.data.data).unwrap_or_else(|_| self.data.data.clone())),
            certificate: self.tls_certificate.clone(),
            key: self.tls_key.clone(),
            authorities: self.tls_authorities.clone(),
            // As PostgreSQL: twice as many as may have sessions.
            half_open: sessions.saturating_mul(2).max(64),
            authentication_timeout: Duration::from_secs(seconds.unwrap_or(60)),
            audit: self.audit_log.clone(),
            reaches_others: self.listen.iter().any(|address| !address.ip().is_loopback()),
        }
    }

    /// The socket in the directory that was named; else where one can be, or none.
    fn socket(&self, port: u16) -> Result<Option<UnixSocket>, CommandError> {
        let data = &self.data.data;
        if let Some(directory) = &self.socket_dir {
            if directory.as_os_str() == "none" {
                return Ok(None);
            }
            let socket = UnixSocket::bind(directory, port, data);
            return socket.map(Some).map_err(trouble(format!("cannot make a socket in {}", directory.display())));
        }
        for directory in SOCKET_DIRECTORIES {
            match UnixSocket::bind(Path::new(directory), port, data) {
                Ok(socket) => return Ok(Some(socket)),
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                    tracing::warn!(%error, "there is no Unix socket: name another directory with --socket-dir");
                    return Ok(None);
                }
                Err(error) => tracing::debug!(%error, directory, "no socket here"),
            }
        }
        tracing::warn!("there is no Unix socket: name a directory for it with --socket-dir");
        Ok(None)
    }

    fn tell_settings(
        &self,
        database: &Database,
        addresses: &[SocketAddr],
        port: u16,
        socket: Option<&UnixSocket>,
    ) -> Result<(), CommandError> {
        let inner = database.inner();
        let mut hosts: Vec<String> = addresses.iter().map(|address| address.ip().to_string()).collect();
        hosts.dedup();
        inner.set_base("listen_addresses", &hosts.join(","))?;
        inner.set_base("port", &port.to_string())?;
        inner.set_base("data_directory", &std::path::absolute(&self.data.data).unwrap_or_default().display().to_string())?;
        let directory = socket.and_then(|socket| socket.path().parent()).map(|path| path.display().to_string());
        Ok(inner.set_base("unix_socket_directories", &directory.unwrap_or_default())?)
    }
}

/// Reads the files of configuration again at each SIGHUP.
fn reload_on_signal(access: Arc<Access>) -> Result<impl Future<Output = ()>, CommandError> {
    let mut hangup = signal(SignalKind::hangup()).map_err(trouble("cannot wait for signals"))?;
    Ok(async move {
        while hangup.recv().await.is_some() {
            let access = Arc::clone(&access);
            // Only a panic keeps it from being done, and that has been logged.
            let _ = tokio::task::spawn_blocking(move || access.reload()).await;
        }
    })
}

/// Connections are files, and the store has some: as many as the system lets us have.
fn raise_file_limit() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is ours; a call that fails changes nothing.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 && limit.rlim_cur < limit.rlim_max {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}

/// Whether others than the owner may enter a directory.
fn is_open_to_others(directory: &Path) -> bool {
    std::fs::metadata(directory).is_ok_and(|found| found.permissions().mode() & 0o077 != 0)
}

/// Gives the pages of code back that the start has touched, and those that statements have touched whenever none has run for a while:
/// of a server that does nothing they are the greater part.
async fn give_back_when_quiet(database: Database) {
    crate::allocator::forget_code();
    let (mut begun, mut worked) = (database.inner().sessions_begun(), false);
    loop {
        tokio::time::sleep(QUIET).await;
        let now = database.inner().sessions_begun();
        let now_us = database.inner().tables.now_us();
        let quiet = now == begun && database.inner().sessions().iter().all(|session| session.is_quiet_for(QUIET, now_us));
        if quiet && worked {
            crate::allocator::forget_code();
        }
        (begun, worked) = (now, !quiet);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn addresses_and_settings() {
        assert_eq!(address("localhost:1").unwrap().to_string(), "127.0.0.1:1");
        assert_eq!(address("*:1").unwrap().to_string(), "0.0.0.0:1");
        assert_eq!(address("[::]:1").unwrap().to_string(), "[::]:1");
        assert!(address("example.org:1").is_err());
        assert_eq!(setting("LOG_statement=all").unwrap(), ("log_statement".to_owned(), "all".to_owned()));
        for wrong in ["log_statement", "nosuch=1", "port=1", "ssl=on", "server_version=1"] {
            assert!(setting(wrong).is_err(), "{wrong}");
        }
    }
}
