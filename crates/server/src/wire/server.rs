//! Listening and shutting down.

use super::event_loops::{ConnectionTask, EventLoops};
use super::listen::{Handed, Listeners, Origin};
use super::startup::{self, Environment};
use crate::access::{Access, Place};
use futures::FutureExt;
use futures::stream::{FuturesUnordered, StreamExt};
use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use stoa_engine::Database;
use stoa_pg::PgError;
use tokio::sync::watch;

/// How long sessions have to go when the server is told to stop. Statements are ended at once; a commit is not.
const FAREWELL: Duration = Duration::from_secs(15);
/// How often is looked whether certificates have changed.
const LOOK_AT_CERTIFICATES: Duration = Duration::from_secs(10);

/// A server that listens.
pub struct Server {
    listeners: Listeners,
    event_loops: EventLoops,
    database: Database,
    access: Arc<Access>,
}

impl Server {
    /// Serves a database to those whom `access` lets in.
    ///
    /// # Errors
    /// What the operating system says about threads.
    pub fn new(listeners: Listeners, database: Database, access: Arc<Access>) -> std::io::Result<Self> {
        let event_loops = EventLoops::start(std::thread::available_parallelism().map_or(1, usize::from))?;
        access.serve(database.inner());
        Ok(Self { listeners, event_loops, database, access })
    }

    /// # Errors
    /// What the operating system says.
    pub fn addresses(&self) -> std::io::Result<Vec<SocketAddr>> {
        self.listeners.addresses()
    }

    /// Serves until `stop` is ready; then sessions end at once, with the statements that run.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let (down, is_down) = watch::channel(false);
        let mut connections = FuturesUnordered::new();
        let mut stop = std::pin::pin!(stop);
        let mut look = tokio::time::interval(LOOK_AT_CERTIFICATES);
        loop {
            let deadline = self.access.places.next_deadline();
            let overdue = async {
                match deadline {
                    Some(at) => tokio::time::sleep_until(at.into()).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = &mut stop => break,
                accepted = self.listeners.accept() => match accepted {
                    Ok((socket, origin)) => {
                        if self.access.log_connections() {
                            tracing::info!("connection received: {}", origin.text());
                        }
                        // Who finds no place is closed without a word, which would take one.
                        let Some(place) = self.access.places.admit(origin.address()) else { continue };
                        let environment = Environment { database: self.database.clone(), access: Arc::clone(&self.access), shutdown: is_down.clone() };
                        connections.push(self.event_loops.spawn(|task| serve(socket, origin, place, environment, task)));
                    }
                    Err(error) => {
                        // Too many open files, most likely: others will be closed.
                        tracing::warn!(%error, "a connection could not be accepted");
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                },
                Some(_) = connections.next() => {}
                () = overdue => self.access.places.close_overdue(),
                _ = look.tick(), if self.access.tls().is_some() => {
                    let access = Arc::clone(&self.access);
                    drop(tokio::task::spawn_blocking(move || access.reload_changed_certificates()));
                }
            }
        }
        drop(self.listeners);
        let _ = down.send(true);
        self.access.places.close_all();
        tracing::info!(sessions = connections.len(), "shutting down");
        self.database.inner().terminate_sessions();
        let all_gone = async { while connections.next().await.is_some() {} };
        if tokio::time::timeout(FAREWELL, all_gone).await.is_err() {
            tracing::warn!(sessions = connections.len(), "sessions did not end in time");
        }
    }
}

/// One connection; a panic in it ends it and nothing else.
async fn serve(socket: Handed, origin: Origin, place: Place, environment: Environment, task: ConnectionTask) {
    let Ok(socket) = socket.take() else { return };
    let started = AssertUnwindSafe(startup::start(socket, origin, place, environment, task)).catch_unwind().await;
    let mut connection = match started {
        Ok(Some(connection)) => connection,
        Ok(None) => return,
        Err(_) => {
            tracing::error!("a connection panicked before its session");
            return;
        }
    };
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
