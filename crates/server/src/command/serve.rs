//! `stoa serve`.

use super::CommandError;
use super::open::{DataOptions, open};
use crate::wire::{Server, ServerOptions};
use std::net::SocketAddr;
use std::process::ExitCode;
use tokio::signal::unix::{SignalKind, signal};

#[derive(clap::Args, Debug)]
pub struct Serve {
    #[command(flatten)]
    data: DataOptions,
    /// Where to listen. Only this machine's own addresses are possible until there is authentication.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:5433", value_parser = address)]
    listen: SocketAddr,
}

/// An address of this machine, by number or as `localhost`.
fn address(text: &str) -> Result<SocketAddr, String> {
    let number = text.strip_prefix("localhost:").map_or_else(|| text.to_owned(), |port| format!("127.0.0.1:{port}"));
    number.parse().map_err(|_| "not an address and a port, such as 127.0.0.1:5433 or [::1]:5433".into())
}

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
        let database = open(&self.data).await?;
        let server = Server::bind(self.listen, database, ServerOptions::default())
            .await
            .map_err(io(&format!("cannot listen on {}", self.listen)))?;
        let address = server.local_address().map_err(io("cannot listen"))?;
        let mut terminate = signal(SignalKind::terminate()).map_err(io("cannot wait for signals"))?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(io("cannot wait for signals"))?;
        crate::allocator::forget_code_of_start();
        tracing::info!(%address, data = %self.data.data.display(), "ready for connections");
        server
            .run(async move {
                tokio::select! {
                    _ = terminate.recv() => {}
                    _ = interrupt.recv() => {}
                }
            })
            .await;
        Ok(ExitCode::SUCCESS)
    }
}
