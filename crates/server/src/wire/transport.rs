//! The bytes of a connection, by a TCP or a Unix socket, through TLS or not.
//!
//! Without TLS, reads and writes are the socket's. With it, what has come is decrypted into the same input buffer, and what goes is
//! sealed into records, which then leave as other bytes do: in batched sends too.

use bytes::BytesMut;
use rustls::{CipherSuite, ProtocolVersion, ServerConnection};
use std::future::poll_fn;
use std::io::{self, BufRead, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, RawFd};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use stoa_auth::tls::Served;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpStream, UnixStream};

/// What is read from the socket at once, and decrypted.
const READ_BYTES: usize = 16 << 10;
/// What is sealed before it is sent; more would have all of a large answer in memory twice.
const SEAL_BYTES: usize = 64 << 10;

/// A socket of either kind.
pub enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// A connection's socket, with TLS once it has been agreed on.
pub struct Transport {
    socket: Socket,
    tls: Option<Box<Tls>>,
}

struct Tls {
    connection: ServerConnection,
    /// Records that are to be sent.
    sealed: Vec<u8>,
    /// The client has said that nothing more comes.
    ended: bool,
}

/// What was agreed on.
#[derive(Debug)]
pub struct Agreed {
    pub version: &'static str,
    /// OpenSSL's name.
    pub cipher: &'static str,
    pub bits: i32,
    /// The protocol by ALPN, if the client named any.
    pub protocol: Option<Vec<u8>>,
    /// The client's certificate, which has been verified.
    pub certificate: Option<Vec<u8>>,
}

impl Socket {
    fn poll_read(&mut self, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Tcp(socket) => Pin::new(socket).poll_read(cx, into),
            Self::Unix(socket) => Pin::new(socket).poll_read(cx, into),
        }
    }

    async fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Tcp(socket) => socket.write_all(bytes).await,
            Self::Unix(socket) => socket.write_all(bytes).await,
        }
    }

    fn try_read_ahead(&self, cx: &mut Context<'_>, input: &mut BytesMut) -> Poll<io::Result<usize>> {
        loop {
            let read = match self {
                Self::Tcp(socket) => {
                    ready!(socket.poll_read_ready(cx))?;
                    socket.try_read_buf(input)
                }
                Self::Unix(socket) => {
                    ready!(socket.poll_read_ready(cx))?;
                    socket.try_read_buf(input)
                }
            };
            match read {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return Poll::Ready(read),
            }
        }
    }
}

impl Transport {
    pub fn new(socket: Socket) -> Self {
        Self { socket, tls: None }
    }

    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.tls.is_some()
    }

    /// Reads what is there, or waits for it; 0 at the end. Nothing is lost when it is dropped while it waits.
    ///
    /// # Errors
    /// Those of the socket, and of TLS: the connection is to be closed.
    pub async fn read(&mut self, input: &mut BytesMut) -> io::Result<usize> {
        match (&mut self.tls, &mut self.socket) {
            (None, Socket::Tcp(socket)) => socket.read_buf(input).await,
            (None, Socket::Unix(socket)) => socket.read_buf(input).await,
            (Some(tls), socket) => poll_fn(|cx| tls.poll_read(socket, cx, input)).await,
        }
    }

    /// As [`Transport::read`], beside other work of the same task.
    pub fn poll_read_ahead(&mut self, cx: &mut Context<'_>, input: &mut BytesMut) -> Poll<io::Result<usize>> {
        match &mut self.tls {
            None => self.socket.try_read_ahead(cx, input),
            Some(tls) => tls.poll_read(&mut self.socket, cx, input),
        }
    }

    /// Sends all of it.
    ///
    /// # Errors
    /// Those of the socket. Dropped before its end, a part may have been sent, and nothing more can be.
    pub async fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(tls) = &mut self.tls else { return self.socket.write_all(bytes).await };
        for piece in bytes.chunks(SEAL_BYTES) {
            tls.seal(piece)?;
            self.socket.write_all(&tls.sealed).await?;
            tls.sealed.clear();
        }
        if !tls.sealed.is_empty() {
            self.socket.write_all(&tls.sealed).await?;
            tls.sealed.clear();
        }
        Ok(())
    }

    /// The socket, and the bytes that go into it for `output`: these, or records of TLS that take their place. Who has sent some of them
    /// takes them away, and lets [`Transport::write_all`] send the rest.
    ///
    /// # Errors
    /// Those of TLS.
    pub fn outgoing<'a>(&'a mut self, output: &'a mut Vec<u8>) -> io::Result<(RawFd, &'a mut Vec<u8>)> {
        let descriptor = match &self.socket {
            Socket::Tcp(socket) => socket.as_raw_fd(),
            Socket::Unix(socket) => socket.as_raw_fd(),
        };
        let Some(tls) = &mut self.tls else { return Ok((descriptor, output)) };
        // What is larger goes in pieces, by `write_all`: nothing of it now.
        if output.len() <= SEAL_BYTES {
            tls.seal(output)?;
            output.clear();
        }
        Ok((descriptor, &mut tls.sealed))
    }

    /// Says the end to the client, and sends nothing more.
    pub async fn shutdown(&mut self) {
        if let Some(tls) = &mut self.tls {
            tls.connection.send_close_notify();
            if tls.take_records().is_ok() {
                let _ = self.socket.write_all(&tls.sealed).await;
            }
        }
        let _ = match &mut self.socket {
            Socket::Tcp(socket) => socket.shutdown().await,
            Socket::Unix(socket) => socket.shutdown().await,
        };
    }

    /// Does the handshake of TLS. `input` holds what has come of it already, and gets what the client sends behind it.
    ///
    /// # Errors
    /// What is wrong with it; the client has been told.
    pub async fn accept_tls(&mut self, served: &Served, input: &mut BytesMut) -> io::Result<Agreed> {
        let connection = ServerConnection::new(Arc::clone(served.config())).map_err(io::Error::other)?;
        let tls = self.tls.insert(Box::new(Tls { connection, sealed: Vec::new(), ended: false }));
        // Answers are as large as they are made: what they take is bounded by what is made before it is sent.
        tls.connection.set_buffer_limit(None);
        let come = input.split();
        let mut taken = tls.receive(&come, input);
        loop {
            // An alert too.
            if !tls.sealed.is_empty() {
                self.socket.write_all(&tls.sealed).await?;
                tls.sealed.clear();
            }
            taken?;
            if !tls.connection.is_handshaking() {
                break;
            }
            let socket = &mut self.socket;
            taken = poll_fn(|cx| tls.poll_receive(socket, cx, input)).await.and_then(|more| match more {
                true => Ok(()),
                false => Err(io::ErrorKind::UnexpectedEof.into()),
            });
        }
        Ok(tls.agreed())
    }
}

impl Tls {
    fn poll_read(&mut self, socket: &mut Socket, cx: &mut Context<'_>, input: &mut BytesMut) -> Poll<io::Result<usize>> {
        let before = input.len();
        loop {
            if self.ended || !ready!(self.poll_receive(socket, cx, input))? {
                return Poll::Ready(Ok(0));
            }
            if input.len() > before {
                return Poll::Ready(Ok(input.len() - before));
            }
        }
    }

    /// Takes what the socket has; false at its end.
    fn poll_receive(&mut self, socket: &mut Socket, cx: &mut Context<'_>, input: &mut BytesMut) -> Poll<io::Result<bool>> {
        let mut space = [const { MaybeUninit::<u8>::uninit() }; READ_BYTES];
        let mut raw = ReadBuf::uninit(&mut space);
        ready!(socket.poll_read(cx, &mut raw))?;
        if raw.filled().is_empty() {
            return Poll::Ready(Ok(false));
        }
        Poll::Ready(self.receive(raw.filled(), input).map(|()| true))
    }

    /// Decrypts what has come.
    fn receive(&mut self, mut bytes: &[u8], input: &mut BytesMut) -> io::Result<()> {
        while !bytes.is_empty() && !self.ended {
            self.connection.read_tls(&mut bytes)?;
            let state = self.connection.process_new_packets();
            // What the protocol has to say itself: its handshake, and why it gives up.
            self.take_records()?;
            let state = state.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
            self.ended = state.peer_has_closed();
            let mut left = state.plaintext_bytes_to_read();
            let mut reader = self.connection.reader();
            while left > 0 {
                let piece = reader.fill_buf()?;
                let length = piece.len();
                input.extend_from_slice(piece);
                reader.consume(length);
                left = left.saturating_sub(length.max(1));
            }
        }
        Ok(())
    }

    fn seal(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.connection.writer().write_all(bytes)?;
        self.take_records()
    }

    fn take_records(&mut self) -> io::Result<()> {
        while self.connection.wants_write() {
            self.connection.write_tls(&mut self.sealed)?;
        }
        Ok(())
    }

    fn agreed(&self) -> Agreed {
        let connection = &self.connection;
        let version = match connection.protocol_version() {
            Some(ProtocolVersion::TLSv1_2) => "TLSv1.2",
            _ => "TLSv1.3",
        };
        let (cipher, bits) = cipher(connection.negotiated_cipher_suite().map(|suite| suite.suite()));
        Agreed {
            version,
            cipher,
            bits,
            protocol: connection.alpn_protocol().map(<[u8]>::to_vec),
            certificate: connection.peer_certificates().and_then(<[_]>::first).map(|certificate| certificate.to_vec()),
        }
    }
}

/// OpenSSL's name of a cipher, and the bits of its key.
fn cipher(suite: Option<CipherSuite>) -> (&'static str, i32) {
    match suite {
        Some(CipherSuite::TLS13_AES_128_GCM_SHA256) => ("TLS_AES_128_GCM_SHA256", 128),
        Some(CipherSuite::TLS13_AES_256_GCM_SHA384) => ("TLS_AES_256_GCM_SHA384", 256),
        Some(CipherSuite::TLS13_CHACHA20_POLY1305_SHA256) => ("TLS_CHACHA20_POLY1305_SHA256", 256),
        Some(CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256) => ("ECDHE-ECDSA-AES128-GCM-SHA256", 128),
        Some(CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384) => ("ECDHE-ECDSA-AES256-GCM-SHA384", 256),
        Some(CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256) => ("ECDHE-ECDSA-CHACHA20-POLY1305", 256),
        Some(CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256) => ("ECDHE-RSA-AES128-GCM-SHA256", 128),
        Some(CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384) => ("ECDHE-RSA-AES256-GCM-SHA384", 256),
        Some(CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256) => ("ECDHE-RSA-CHACHA20-POLY1305", 256),
        _ => ("unknown", 0),
    }
}
