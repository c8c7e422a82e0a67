//! One connection: calls by number, many at once.
//!
//! Invariant: every call that is entered in `calls` leaves it once: by its answer, when its caller stops waiting, or when the connection
//! ends; from then on nothing is entered. Bytes of requests count until they are both written and answered.

use crate::config::ClientConfig;
use crate::error::Error;
use crate::metrics::{ServerCounts, add};
use crate::names::ServerName;
use crate::runtime::Timers;
use crate::wire::frame::{Request, Response, peek_call_id, preamble, read_response};
use bytes::{Bytes, BytesMut};
use hashbrown::HashMap;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};
use tokio::time::Instant;

/// What is read at once, and the largest piece that is copied together with others before it is written.
const CHUNK: usize = 64 << 10;
/// How far into an answer that is too large its call's number is looked for.
const PEEK: usize = 4 << 10;

type Reply = Result<Response, Error>;

/// A connection that was made. It ends when it fails, or when the last of its holders is gone.
#[derive(Debug)]
pub(crate) struct Channel {
    shared: Arc<Shared>,
    queue: mpsc::UnboundedSender<Frame>,
}

#[derive(Debug)]
struct Shared {
    server: ServerName,
    calls: Mutex<Calls>,
    counts: Arc<ServerCounts>,
    closed: watch::Sender<bool>,
}

#[derive(Debug)]
struct Calls {
    waiting: HashMap<u32, Waiting>,
    next_id: u32,
    /// Why the connection ended.
    closed: Option<Error>,
    /// Since when calls wait and nothing has come.
    silent_since: Option<Instant>,
}

#[derive(Debug)]
struct Waiting {
    reply: oneshot::Sender<Reply>,
    _bytes: Arc<OwnedSemaphorePermit>,
}

#[derive(Debug)]
struct Frame {
    pieces: Vec<Bytes>,
    _bytes: Arc<OwnedSemaphorePermit>,
}

impl Channel {
    /// Connects; to be called on the client's runtime.
    pub(crate) async fn connect(
        server: ServerName,
        service: &str,
        config: &ClientConfig,
        counts: Arc<ServerCounts>,
    ) -> Result<Channel, Error> {
        let failed = |reason: String| Error::Connection { server: server.to_string(), reason, sent: false };
        let connecting = TcpStream::connect((&*server.host, server.port));
        let stream = tokio::time::timeout(config.connect_timeout, connecting)
            .await
            .map_err(|_| failed(format!("not made within {} ms", config.connect_timeout.as_millis())))?
            .map_err(|e| failed(e.to_string()))?;
        stream.set_nodelay(true).map_err(|e| failed(e.to_string()))?;
        let (mut reader, mut writer) = stream.into_split();
        writer.write_all(&preamble(&config.user, service)).await.map_err(|e| failed(e.to_string()))?;
        add(&counts.connections, 1);
        let calls = Calls { waiting: HashMap::new(), next_id: 1, closed: None, silent_since: None };
        let shared = Arc::new(Shared { server, calls: Mutex::new(calls), counts, closed: watch::Sender::new(false) });
        let (queue, mut frames) = mpsc::unbounded_channel::<Frame>();
        let writing = Arc::clone(&shared);
        tokio::spawn(async move {
            tokio::select! {
                reason = write(&mut writer, &mut frames, &writing.counts) => writing.close(&reason),
                () = writing.wait_closed() => {}
            }
        });
        let reading = Arc::clone(&shared);
        let limit = config.largest_response;
        tokio::spawn(async move {
            let reason = tokio::select! {
                reason = read(&mut reader, &reading, limit) => reason,
                () = reading.wait_closed() => "closed".to_owned(),
            };
            reading.close(&reason);
        });
        Ok(Channel { shared, queue })
    }

    pub(crate) fn is_closed(&self) -> bool {
        *self.shared.closed.borrow()
    }

    /// Sends a call and waits for its answer. The try ends at `until`; `room` is the server's room for requests;
    /// a connection that has been silent for `patience` is given up.
    pub(crate) async fn call(
        &self,
        request: &Request,
        until: Instant,
        timers: &Timers,
        room: &Arc<Semaphore>,
        room_bytes: usize,
        patience: Duration,
    ) -> Reply {
        let started = Instant::now();
        let deadline = |sent: bool| {
            let reason = format!("no answer to {} within {} ms", request.method, started.elapsed().as_millis());
            Error::Connection { server: self.shared.server.to_string(), reason, sent }
        };
        let weight = u32::try_from(request.len().min(room_bytes)).unwrap_or(u32::MAX);
        let permit = match Arc::clone(room).try_acquire_many_owned(weight) {
            Ok(permit) => permit,
            Err(_) => match timers.within(until, Arc::clone(room).acquire_many_owned(weight)).await {
                Some(Ok(permit)) => permit,
                Some(Err(_)) => return Err(Error::Closed),
                None => return Err(deadline(false)),
            },
        };
        let bytes = Arc::new(permit);
        let now = Instant::now();
        if until <= now {
            return Err(deadline(false));
        }
        let timeout_ms = u32::try_from((until - now).as_millis()).unwrap_or(u32::MAX).max(1);
        let (reply, answer) = oneshot::channel();
        let guard = self.enter(Waiting { reply, _bytes: Arc::clone(&bytes) }, now)?;
        let mut pieces = Vec::with_capacity(2 + request.cells.len());
        pieces.push(request.head(guard.id, timeout_ms)?);
        pieces.push(request.message.clone());
        pieces.extend(request.cells.iter().cloned());
        if self.queue.send(Frame { pieces, _bytes: bytes }).is_err() {
            let reason = "the connection is closed".to_owned();
            return Err(Error::Connection { server: self.shared.server.to_string(), reason, sent: false });
        }
        match timers.within(until, answer).await {
            Some(Ok(reply)) => {
                if matches!(reply, Err(Error::Exception(_))) {
                    add(&self.shared.counts.exceptions, 1);
                }
                reply
            }
            // The connection ended, and `close` has taken the call out without a word: it cannot.
            Some(Err(_)) => Err(Error::Closed),
            None => {
                add(&self.shared.counts.unanswered, 1);
                let silent = self.shared.calls.lock().silent_since.is_some_and(|since| since.elapsed() >= patience * 9 / 10);
                if silent {
                    self.shared.close(&format!("nothing has come for {} ms though calls wait", patience.as_millis()));
                }
                Err(deadline(true))
            }
        }
    }

    fn enter(&self, waiting: Waiting, now: Instant) -> Result<Entered<'_>, Error> {
        let mut calls = self.shared.calls.lock();
        if let Some(closed) = &calls.closed {
            let Error::Connection { server, reason, .. } = closed else { return Err(closed.clone()) };
            return Err(Error::Connection { server: server.clone(), reason: reason.clone(), sent: false });
        }
        let mut id = calls.next_id;
        while calls.waiting.contains_key(&id) {
            id = id.wrapping_add(1) & 0x7fff_ffff;
        }
        calls.next_id = id.wrapping_add(1) & 0x7fff_ffff;
        calls.waiting.insert(id, waiting);
        calls.silent_since.get_or_insert(now);
        add(&self.shared.counts.calls, 1);
        add(&self.shared.counts.under_way, 1);
        Ok(Entered { shared: &self.shared, id })
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.shared.close("closed");
    }
}

/// A call that is entered; it leaves when its caller no longer waits.
struct Entered<'a> {
    shared: &'a Shared,
    id: u32,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.shared.calls.lock().waiting.remove(&self.id);
        self.shared.counts.under_way.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Shared {
    /// Ends the connection: all who wait are told, once.
    fn close(&self, reason: &str) {
        let error = Error::Connection { server: self.server.to_string(), reason: reason.to_owned(), sent: true };
        let waiting = {
            let mut calls = self.calls.lock();
            if calls.closed.is_some() {
                return;
            }
            calls.closed = Some(error.clone());
            std::mem::take(&mut calls.waiting)
        };
        self.closed.send_replace(true);
        add(&self.counts.unanswered, waiting.len() as u64);
        for (_, call) in waiting {
            let _ = call.reply.send(Err(error.clone()));
        }
    }

    async fn wait_closed(&self) {
        let _ = self.closed.subscribe().wait_for(|closed| *closed).await;
    }

    /// Hands an answer to its caller, if somebody still waits for it.
    fn answer(&self, id: u32, reply: Reply) {
        let call = {
            let mut calls = self.calls.lock();
            let call = calls.waiting.remove(&id);
            calls.silent_since = if calls.waiting.is_empty() { None } else { Some(Instant::now()) };
            call
        };
        if let Some(call) = call {
            let _ = call.reply.send(reply);
        }
    }

    fn heard(&self) {
        let mut calls = self.calls.lock();
        if calls.silent_since.is_some() {
            calls.silent_since = Some(Instant::now());
        }
    }
}

/// Writes frames until something fails; small ones are written together. Returns why it ended.
async fn write<W: AsyncWriteExt + Unpin>(writer: &mut W, frames: &mut mpsc::UnboundedReceiver<Frame>, counts: &ServerCounts) -> String {
    let mut batch = Vec::new();
    let mut buffer = BytesMut::with_capacity(CHUNK);
    loop {
        if frames.recv_many(&mut batch, 64).await == 0 {
            return "closed".to_owned();
        }
        let mut sent = 0;
        for piece in batch.iter().flat_map(|frame| &frame.pieces) {
            sent += piece.len();
            if buffer.len() + piece.len() > CHUNK && !buffer.is_empty() {
                if let Err(e) = writer.write_all(&buffer).await {
                    return e.to_string();
                }
                buffer.clear();
            }
            if piece.len() > CHUNK {
                if let Err(e) = writer.write_all(piece).await {
                    return e.to_string();
                }
            } else {
                buffer.extend_from_slice(piece);
            }
        }
        if let Err(e) = writer.write_all(&buffer).await {
            return e.to_string();
        }
        buffer.clear();
        batch.clear();
        add(&counts.bytes_sent, sent as u64);
    }
}

/// Reads answers until something fails. Returns why it ended.
async fn read<R: AsyncReadExt + Unpin>(reader: &mut R, shared: &Shared, limit: usize) -> String {
    let mut buffer = BytesMut::with_capacity(CHUNK);
    loop {
        while buffer.len() < 4 {
            if let Err(reason) = more(reader, &mut buffer, 4, shared).await {
                return reason;
            }
        }
        let length = u32::from_be_bytes([buffer[0], buffer[1], buffer[2], buffer[3]]) as usize;
        if length > limit {
            let enough = 4 + length.min(PEEK);
            while buffer.len() < enough {
                if more(reader, &mut buffer, enough, shared).await.is_err() {
                    break;
                }
            }
            if let Some(id) = peek_call_id(&buffer[4..]) {
                shared.answer(id, Err(Error::TooLarge { what: "an answer".to_owned(), size: length as u64, limit: limit as u64 }));
            }
            return format!("an answer of {length} bytes is over the limit of {limit}");
        }
        while buffer.len() < 4 + length {
            if let Err(reason) = more(reader, &mut buffer, 4 + length, shared).await {
                return reason;
            }
        }
        let mut frame = buffer.split_to(4 + length).freeze();
        let _ = frame.split_to(4);
        match read_response(frame) {
            Ok((id, reply)) => shared.answer(id, reply),
            Err(e) => return e.to_string(),
        }
    }
}

/// Reads some, with room made as bytes come and not for more than twice what is there.
async fn more<R: AsyncReadExt + Unpin>(reader: &mut R, buffer: &mut BytesMut, wanted: usize, shared: &Shared) -> Result<(), String> {
    let missing = wanted.saturating_sub(buffer.len());
    buffer.reserve(missing.min(buffer.len().max(4 * CHUNK)).max(if buffer.capacity() - buffer.len() < 4 << 10 { CHUNK } else { 1 }));
    match reader.read_buf(buffer).await {
        Ok(0) => Err("closed by the server".to_owned()),
        Ok(n) => {
            add(&shared.counts.bytes_received, n as u64);
            if buffer.len() < wanted {
                shared.heard();
            }
            Ok(())
        }
        Err(e) => Err(e.to_string()),
    }
}
