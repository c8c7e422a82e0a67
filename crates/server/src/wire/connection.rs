//! One connection: read, handle all complete messages, write.

use super::event_loops::ConnectionTask;
use super::extended::Portal;
use super::frame::{self, Frame, kind, violation};
use super::output::{Output, take_away};
use super::record;
use super::transport::Transport;
use crate::access::Access;
use bytes::BytesMut;
use hashbrown::HashMap;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use stoa_engine::Session;
use stoa_engine::environment::session::terminated;
use stoa_engine::session::{Execution, Notification, ParamValue, Prepared, TransactionStatus};
use stoa_engine::settings::SETTINGS;
use stoa_pg::{PgError, SqlState};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::watch;

/// What a client may send while its statement runs before we stop reading.
const READ_AHEAD_BYTES: usize = 64 << 10;
/// A longer text takes more than a moment to parse and bind, and longer parameters to read and write.
const LONG_TEXT_BYTES: usize = 16 << 10;
/// A larger input buffer is given back when it is empty.
const KEPT_INPUT_BYTES: usize = 64 << 10;

/// Why a message was not handled.
#[derive(Debug)]
pub enum Failure {
    /// The statement failed; the connection goes on.
    Statement(PgError),
    /// The connection ends with this.
    Fatal(PgError),
    /// The client is gone.
    Closed,
}

impl From<PgError> for Failure {
    fn from(error: PgError) -> Self {
        if error.code() == SqlState::ADMIN_SHUTDOWN { Failure::Fatal(error) } else { Failure::Statement(error) }
    }
}

impl From<std::io::Error> for Failure {
    fn from(_: std::io::Error) -> Self {
        Failure::Closed
    }
}

/// Why work was given up.
pub enum Stop {
    Closed,
}

/// Whether the connection goes on.
#[derive(PartialEq, Eq)]
pub(super) enum Flow {
    Continue,
    Close,
}

/// A connection whose startup is done.
pub struct Connection {
    pub(super) transport: Transport,
    pub(super) input: BytesMut,
    pub(super) output: Output,
    pub(super) session: Session,
    pub(super) portals: HashMap<String, Portal>,
    /// Statements that call functions, by the functions' OIDs.
    pub(super) called: HashMap<u32, Prepared>,
    notifications: Option<UnboundedReceiver<Notification>>,
    /// Changes when the server is told to stop.
    shutdown: watch::Receiver<bool>,
    pub(super) task: ConnectionTask,
    /// After an error of the extended protocol, until Sync.
    pub(super) skip_to_sync: bool,
    /// Sync or Flush asked for the output.
    pub(super) flush_due: bool,
    /// Settings as they were reported to the client.
    reported: Vec<(&'static str, String)>,
    reported_version: u64,
    access: Arc<Access>,
}

impl Connection {
    pub fn new(
        transport: Transport,
        input: BytesMut,
        mut session: Session,
        shutdown: watch::Receiver<bool>,
        task: ConnectionTask,
        access: Arc<Access>,
    ) -> Self {
        let notifications = session.take_notifications();
        let elsewhere = task.clone();
        session.shared().set_before_blocking(move || {
            let task = elsewhere.clone();
            Box::pin(async move { task.offload().await })
        });
        Self {
            transport,
            input,
            output: Output::default(),
            session,
            portals: HashMap::new(),
            called: HashMap::new(),
            notifications,
            shutdown,
            task,
            skip_to_sync: false,
            flush_due: false,
            reported: Vec::new(),
            reported_version: u64::MAX,
            access,
        }
    }

    /// Serves the client until it leaves, or must.
    pub async fn run(&mut self) {
        let ended = self.serve().await;
        if let Err(Failure::Fatal(error) | Failure::Statement(error)) = ended {
            self.send_fatal(&error).await;
        }
    }

    /// Tells the client why the connection ends.
    pub async fn send_fatal(&mut self, error: &PgError) {
        self.output.error("FATAL", error);
        // A client that does not read must not keep us.
        let _ = tokio::time::timeout(Duration::from_secs(5), self.transport.write_all(&self.output.bytes)).await;
        let _ = tokio::time::timeout(Duration::from_secs(1), self.transport.shutdown()).await;
    }

    /// Ends the session.
    pub async fn close(self) {
        drop(self.portals);
        record::left(&self.access, self.session.shared());
        let mut transport = self.transport;
        if transport.is_encrypted() {
            // So that the client knows that nobody has cut the connection.
            let _ = tokio::time::timeout(Duration::from_secs(1), transport.shutdown()).await;
        }
        self.session.close().await;
    }

    async fn serve(&mut self) -> Result<(), Failure> {
        loop {
            while let Some(frame) = frame::next(&mut self.input).map_err(Failure::Fatal)? {
                if self.handle(frame).await? == Flow::Close {
                    return Ok(());
                }
            }
            if std::mem::take(&mut self.flush_due) {
                let (socket, bytes) = self.transport.outgoing(&mut self.output.bytes)?;
                let sent = self.task.send_batched(socket, bytes).await?;
                take_away(bytes, sent);
                if !bytes.is_empty() || !self.output.is_empty() {
                    self.write().await?;
                }
            }
            self.wait().await?;
        }
    }

    async fn handle(&mut self, frame: Frame) -> Result<Flow, Failure> {
        if matches!(frame.kind, kind::QUERY | kind::PARSE | kind::BIND | kind::FUNCTION_CALL) && frame.body.len() > LONG_TEXT_BYTES {
            self.task.offload().await;
        }
        if matches!(frame.kind, kind::QUERY | kind::PARSE | kind::BIND | kind::EXECUTE | kind::FUNCTION_CALL) {
            self.session.message_arrived();
        }
        match frame.kind {
            kind::TERMINATE => return Ok(Flow::Close),
            kind::SYNC => {
                self.skip_to_sync = false;
                self.sync().await?;
            }
            _ if self.skip_to_sync => {}
            kind::QUERY => self.query(&frame).await?,
            kind::FLUSH => self.flush_due = true,
            kind::PARSE | kind::BIND | kind::DESCRIBE | kind::EXECUTE | kind::CLOSE => {
                if let Err(failure) = self.extended(&frame).await {
                    let error = self.statement_failed(failure).await?;
                    self.output.error("ERROR", &error);
                    self.skip_to_sync = true;
                    // A client may wait for the error before it sends Sync.
                    self.flush_due = true;
                }
            }
            // What is left of a COPY that failed.
            kind::COPY_DATA | kind::COPY_DONE | kind::COPY_FAIL => {}
            kind::FUNCTION_CALL => Box::pin(self.function_call(&frame)).await?,
            other => return Err(Failure::Fatal(violation(format!("invalid frontend message type {other}")))),
        }
        if self.output.len() >= super::rows::WRITE_BYTES {
            self.write().await?;
        }
        Ok(Flow::Continue)
    }

    /// Says that a statement is done.
    pub(super) fn complete(&mut self, tag: &str) {
        record::done(&self.access, self.session.shared(), tag);
        self.output.command_complete(tag);
    }

    /// After an error: the transaction is failed or rolled back. Gives the error to report, or passes on what ends the connection.
    pub(super) async fn statement_failed(&mut self, failure: Failure) -> Result<PgError, Failure> {
        let Failure::Statement(error) = failure else { return Err(failure) };
        record::refused(&self.access, self.session.shared(), &error);
        self.session.fail().await;
        self.drop_portals();
        self.send_notices();
        Ok(error)
    }

    /// After an error of a text or a call, which is a transaction by itself: reports it.
    pub(super) async fn text_failed(&mut self, failure: Failure) -> Result<(), Failure> {
        let error = self.statement_failed(failure).await?;
        self.output.error("ERROR", &error);
        // A failed implicit transaction is over already.
        if let Err(error) = self.session.finish().await {
            self.output.error("ERROR", &error);
        }
        Ok(())
    }

    /// Executes a statement; a client that goes away ends it, unless it is about to commit.
    pub(super) async fn run_statement(&mut self, prepared: &Prepared, params: Vec<ParamValue>) -> Result<Execution, Failure> {
        let mut work = pin!(self.session.execute(prepared, params));
        if prepared.ends_transaction() {
            return Ok(work.await?);
        }
        Ok(watched(&mut self.transport, &mut self.input, work.as_mut()).await??)
    }

    async fn sync(&mut self) -> Result<(), Failure> {
        if let Err(error) = self.session.finish().await {
            self.output.error("ERROR", &error);
        }
        self.ready().await;
        Ok(())
    }

    /// Everything that goes before ReadyForQuery, and it.
    pub(super) async fn ready(&mut self) {
        self.drop_portals();
        self.send_notices();
        self.send_parameter_changes();
        let status = self.session.transaction_status();
        if status == TransactionStatus::Idle {
            // Those too whose transaction, of a Bind alone, never began.
            self.portals.clear();
            self.send_notifications();
        }
        self.output.ready_for_query(status);
        self.flush_due = true;
    }

    /// Portals of transactions that have ended are gone.
    pub(super) fn drop_portals(&mut self) {
        if !self.portals.is_empty() {
            let generation = self.session.transaction_generation();
            self.portals.retain(|_, portal| portal.generation == generation);
        }
    }

    pub(super) fn send_notices(&mut self) {
        for notice in self.session.shared().take_notices() {
            self.output.notice(&notice);
        }
    }

    fn send_notifications(&mut self) {
        if let Some(receiver) = &mut self.notifications {
            while let Ok(notification) = receiver.try_recv() {
                self.output.notification(&notification);
            }
        }
    }

    /// ParameterStatus for settings that are reported to clients and that have changed.
    pub(super) fn send_parameter_changes(&mut self) {
        let shared = self.session.shared();
        let version = shared.settings_version();
        if version == self.reported_version {
            return;
        }
        self.reported_version = version;
        for setting in SETTINGS.iter().filter(|s| s.report) {
            let value = shared.show(setting.name).unwrap_or_default();
            match self.reported.iter_mut().find(|(name, _)| *name == setting.name) {
                Some((_, reported)) if *reported == value => continue,
                Some((_, reported)) => reported.clone_from(&value),
                None => self.reported.push((setting.name, value.clone())),
            }
            self.output.parameter_status(setting.name, &value);
        }
    }

    /// Sends the output; a client that does not read holds us here.
    pub(super) async fn write(&mut self) -> Result<(), Failure> {
        let shared = self.session.shared().clone();
        let mut waited = false;
        let written = {
            let mut write = pin!(self.transport.write_all(&self.output.bytes));
            std::future::poll_fn(|cx| {
                if let Poll::Ready(out) = write.as_mut().poll(cx) {
                    return Poll::Ready(out.map_err(Failure::from));
                }
                waited = true;
                shared.set_sending(true);
                shared.watch_interrupt(cx.waker());
                if shared.is_terminated() { Poll::Ready(Err(Failure::Closed)) } else { Poll::Pending }
            })
            .await
        };
        if waited {
            shared.set_sending(false);
        }
        self.output.clear();
        written
    }

    /// Waits for bytes from the client while nothing runs; what else happens is dealt with.
    async fn wait(&mut self) -> Result<(), Failure> {
        self.session.shared().release_slot();
        self.task.resume().await;
        self.reserve_input();
        let settings = self.session.shared().settings();
        let status = self.session.transaction_status();
        let timeout_ms = match status {
            TransactionStatus::Idle => settings.idle_session_timeout_ms,
            _ => settings.idle_in_transaction_session_timeout_ms,
        };
        // Between the messages of one pipeline nothing is idle.
        let idle = self.output.is_empty() && !self.skip_to_sync;
        let shared = self.session.shared().clone();
        let deadline = (timeout_ms > 0 && idle).then(|| tokio::time::Instant::now() + Duration::from_millis(timeout_ms));
        loop {
            let shutdown = &self.shutdown;
            let notification = async {
                match &mut self.notifications {
                    Some(receiver) if idle && status == TransactionStatus::Idle => receiver.recv().await,
                    _ => std::future::pending().await,
                }
            };
            // Whoever shuts the server down wakes the sessions as those do who end them.
            let ended = std::future::poll_fn(|cx| {
                shared.watch_interrupt(cx.waker());
                if shared.is_terminated() || shutdown.has_changed().unwrap_or(true) { Poll::Ready(()) } else { Poll::Pending }
            });
            let timer = async {
                match deadline {
                    Some(at) => tokio::time::sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            let heard = tokio::select! {
                biased;
                read = self.transport.read(&mut self.input) => {
                    return if read? == 0 { Err(Failure::Closed) } else { Ok(()) };
                }
                Some(notification) = notification => notification,
                () = ended => return Err(Failure::Fatal(terminated())),
                () = timer => return Err(Failure::Fatal(idle_timeout(status))),
            };
            self.output.notification(&heard);
            self.write().await?;
        }
    }

    /// Waits for bytes from the client in the middle of a COPY; cancel requests count.
    pub(super) async fn wait_for_copy(&mut self) -> Result<(), Failure> {
        self.reserve_input();
        let shared = self.session.shared().clone();
        let interrupted = std::future::poll_fn(|cx| {
            shared.watch_interrupt(cx.waker());
            match shared.check_interrupt() {
                Err(error) => Poll::Ready(error),
                Ok(()) => Poll::Pending,
            }
        });
        tokio::select! {
            biased;
            error = interrupted => Err(error.into()),
            read = self.transport.read(&mut self.input) => if read? == 0 { Err(Failure::Closed) } else { Ok(()) },
        }
    }

    /// Room for what is coming: a large message is read in large pieces, but memory is taken only for what has come.
    fn reserve_input(&mut self) {
        if self.input.is_empty() && self.input.capacity() > KEPT_INPUT_BYTES {
            self.input = BytesMut::new();
        }
        let missing = frame::missing(&self.input);
        let wanted = missing.clamp(8 << 10, (self.input.len() * 2).clamp(64 << 10, 16 << 20));
        self.input.reserve(wanted);
    }

    /// The frame that comes next, waiting for it; in the middle of a COPY.
    pub(super) async fn next_copy_frame(&mut self) -> Result<Frame, Failure> {
        loop {
            if let Some(frame) = frame::next(&mut self.input).map_err(Failure::Fatal)? {
                return Ok(frame);
            }
            self.wait_for_copy().await?;
        }
    }
}

/// Why a session that has been idle for too long ends.
fn idle_timeout(status: TransactionStatus) -> PgError {
    match status {
        TransactionStatus::Idle => PgError::new(SqlState(*b"57P05"), "terminating connection due to idle-session timeout"),
        _ => PgError::new(SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT, "terminating connection due to idle-in-transaction timeout"),
    }
}

/// Runs a statement's work, and notices when the client goes away meanwhile: the work is dropped then.
pub(super) async fn watched<T>(transport: &mut Transport, input: &mut BytesMut, work: impl Future<Output = T>) -> Result<T, Stop> {
    let mut work = pin!(work);
    std::future::poll_fn(|cx| {
        if let Poll::Ready(out) = work.as_mut().poll(cx) {
            return Poll::Ready(Ok(out));
        }
        while input.len() < READ_AHEAD_BYTES {
            match transport.poll_read_ahead(cx, input) {
                Poll::Pending => break,
                Poll::Ready(Ok(0) | Err(_)) => return Poll::Ready(Err(Stop::Closed)),
                Poll::Ready(Ok(_)) => {}
            }
        }
        Poll::Pending
    })
    .await
}
