//! Listening and shutting down.

use super::event_loops::{ConnectionTask, EventLoops};
use super::startup;
use futures::FutureExt;
use futures::stream::{FuturesUnordered, StreamExt};
use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::time::Duration;
use stoa_engine::Database;
use stoa_pg::PgError;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// How long running statements may go on when the server is told to stop.
    pub shutdown_grace: Duration,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self { shutdown_grace: Duration::from_secs(10) }
    }
}

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    event_loops: EventLoops,
    database: Database,
    options: ServerOptions,
}

impl Server {
    /// # Errors
    /// What the operating system says about the address, or about threads.
    pub async fn bind(address: SocketAddr, database: Database, options: ServerOptions) -> std::io::Result<Self> {
        let event_loops = EventLoops::start(std::thread::available_parallelism().map_or(1, usize::from))?;
        Ok(Self { listener: TcpListener::bind(address).await?, event_loops, database, options })
    }

    /// # Errors
    /// What the operating system says.
    pub fn local_address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `stop` is ready; then idle sessions end at once, and running statements have a moment to finish.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let (down, is_down) = watch::channel(false);
        let mut connections = FuturesUnordered::new();
        let mut stop = std::pin::pin!(stop);
        loop {
            tokio::select! {
                () = &mut stop => break,
                accepted = self.listener.accept() => match accepted {
                    Ok((socket, peer)) => {
                        let (database, is_down) = (self.database.clone(), is_down.clone());
                        match socket.into_std() {
                            Ok(socket) => connections.push(self.event_loops.spawn(|task| serve(socket, peer, database, is_down, task))),
                            Err(error) => tracing::warn!(%error, "a connection could not be handed on"),
                        }
                    }
                    Err(error) => {
                        // Too many open files, most likely: others will be closed.
                        tracing::warn!(%error, "a connection could not be accepted");
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                },
                Some(_) = connections.next() => {}
            }
        }
        drop(self.listener);
        let _ = down.send(true);
        self.database.inner().wake_sessions();
        tracing::info!(sessions = connections.len(), "shutting down");
        let all_gone = async { while connections.next().await.is_some() {} };
        if tokio::time::timeout(self.options.shutdown_grace, all_gone).await.is_err() {
            self.database.inner().terminate_sessions();
            let all_gone = async { while connections.next().await.is_some() {} };
            let _ = tokio::time::timeout(Duration::from_secs(5), all_gone).await;
        }
    }
}

/// One connection; a panic in it ends it and nothing else.
async fn serve(socket: std::net::TcpStream, peer: SocketAddr, database: Database, down: watch::Receiver<bool>, task: ConnectionTask) {
    let _ = socket.set_nodelay(true);
    let Ok(socket) = TcpStream::from_std(socket) else { return };
    let Some(mut connection) = startup::start(socket, peer, &database, down, task).await else { return };
    if let Err(panic) = AssertUnwindSafe(connection.run()).catch_unwind().await {
        let message = panic
            .downcast_ref::<&str>()
            .map(|s| (*s).to_owned())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "a panic without a message".into());
        tracing::error!(message, "a session panicked");
        connection.send_fatal(&PgError::internal(format!("internal error: {message}")).hint("This is a bug.")).await;
    }
    if AssertUnwindSafe(connection.close()).catch_unwind().await.is_err() {
        tracing::error!("a session panicked while it was closed");
    }
}
