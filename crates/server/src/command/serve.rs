//! `stoa serve`.

use super::CommandError;
use super::open::{DataOptions, open_for};
use crate::wire::{Server, ServerOptions};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;
use stoa_engine::Database;
use tokio::signal::unix::{SignalKind, signal};

#[derive(clap::Args, Debug)]
pub struct Serve {
    #[command(flatten)]
    data: DataOptions,
    /// Where to listen. Only this machine's own addresses are possible until there is authentication.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:5433", value_parser = address)]
    listen: SocketAddr,
    /// Clients that may be connected at a time.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=262_143))]
    max_connections: u32,
}

/// How long no statement has run when memory that is not needed then is given back.
const QUIET: Duration = Duration::from_secs(30);

/// An address of this machine, by number or as `localhost`.
fn address(text: &str) -> Result<SocketAddr, String> {
    let number = text.strip_prefix("localhost:").map_or_else(|| text.to_owned(), |port| format!("127.0.0.1:{port}"));
    number.parse().map_err(|_| "not an address and a port, such as 127.0.0.1:5433 or [::1]:5433".into())
}

/// The least limit of memory that is held whatever statements run.
const SURE_BYTES: u64 = 256 << 20;

impl Serve {
    pub(super) async fn run(self) -> Result<ExitCode, CommandError> {
        if !self.listen.ip().is_loopback() {
            return Err(CommandError::Usage(format!(
                "will not listen on {}: there is no authentication yet, so only this machine may connect; use 127.0.0.1:{}",
                self.listen,
                self.listen.port()
            )));
        }
        let io = |what: &str| {
            let what = what.to_owned();
            move |error| CommandError::Io { what, error }
        };
        if let Some(limit) = self.data.memory_limit.filter(|limit| *limit < SURE_BYTES) {
            tracing::warn!(
                limit_mb = limit >> 20,
                "many statements at once may pass a memory limit below {} MB for moments",
                SURE_BYTES >> 20
            );
        }
        let sessions = usize::try_from(self.max_connections).unwrap_or(usize::MAX);
        let database = open_for(&self.data, sessions, Some(self.listen.port()).filter(|port| *port != 0)).await?;
        let limit_mb = database.inner().options.memory_limit_bytes.map(|bytes| bytes >> 20);
        let server = Server::bind(self.listen, database.clone(), ServerOptions::default())
            .await
            .map_err(io(&format!("cannot listen on {}", self.listen)))?;
        let address = server.local_address().map_err(io("cannot listen"))?;
        let mut terminate = signal(SignalKind::terminate()).map_err(io("cannot wait for signals"))?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(io("cannot wait for signals"))?;
        let quiet = tokio::spawn(give_back_when_quiet(database));
        tracing::info!(%address, data = %self.data.data.display(), memory_limit_mb = limit_mb, "ready for connections");
        server
            .run(async move {
                tokio::select! {
                    _ = terminate.recv() => {}
                    _ = interrupt.recv() => {}
                }
            })
            .await;
        // It holds the database.
        quiet.abort();
        let _ = quiet.await;
        Ok(ExitCode::SUCCESS)
    }
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
