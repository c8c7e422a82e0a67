//! A client that speaks bytes, for tests of the server and for tests in SQL.
#![allow(dead_code, reason = "each test uses a part of it")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A client that speaks bytes.
pub struct Client {
    pub socket: TcpStream,
    input: Vec<u8>,
    pub pid: u32,
    pub secret: u32,
}

pub fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut out = vec![kind];
    out.extend_from_slice(&u32::try_from(body.len() + 4).unwrap().to_be_bytes());
    out.extend_from_slice(body);
    out
}

pub fn query(sql: &str) -> Vec<u8> {
    message(b'Q', format!("{sql}\0").as_bytes())
}

pub fn parse(name: &str, sql: &str) -> Vec<u8> {
    message(b'P', format!("{name}\0{sql}\0\0\0").as_bytes())
}

pub fn bind(portal: &str, name: &str) -> Vec<u8> {
    message(b'B', format!("{portal}\0{name}\0\0\0\0\0\0\0").as_bytes())
}

pub fn execute(portal: &str, rows: u8) -> Vec<u8> {
    let mut body = format!("{portal}\0").into_bytes();
    body.extend_from_slice(&[0, 0, 0, rows]);
    message(b'E', &body)
}

pub const SYNC: &[u8] = b"S\0\0\0\x04";

impl Client {
    pub async fn connect(address: std::net::SocketAddr) -> Self {
        Self::connect_as(address, "stoa", "stoa").await
    }

    /// Connects to a server that asks for no password.
    pub async fn connect_as(address: std::net::SocketAddr, user: &str, database: &str) -> Self {
        let mut socket = TcpStream::connect(address).await.unwrap();
        let body = format!("\0\x03\0\0user\0{user}\0database\0{database}\0\0").into_bytes();
        socket.write_all(&u32::try_from(body.len() + 4).unwrap().to_be_bytes()).await.unwrap();
        socket.write_all(&body).await.unwrap();
        let mut client = Self { socket, input: Vec::new(), pid: 0, secret: 0 };
        for (kind, body) in client.until_ready().await {
            if kind == b'K' {
                client.pid = u32::from_be_bytes(body[..4].try_into().unwrap());
                client.secret = u32::from_be_bytes(body[4..8].try_into().unwrap());
            }
        }
        client
    }

    pub async fn send(&mut self, pieces: &[&[u8]]) {
        self.socket.write_all(&pieces.concat()).await.unwrap();
    }

    /// The next message; `None` at the end of the connection.
    pub async fn next(&mut self) -> Option<(u8, Vec<u8>)> {
        loop {
            if self.input.len() >= 5 {
                let length = u32::from_be_bytes(self.input[1..5].try_into().unwrap()) as usize;
                if self.input.len() > length {
                    let rest = self.input.split_off(length + 1);
                    let message = std::mem::replace(&mut self.input, rest);
                    return Some((message[0], message[5..].to_vec()));
                }
            }
            let read = tokio::time::timeout(Duration::from_secs(20), self.socket.read_buf(&mut self.input)).await;
            if read.expect("the server answers").unwrap_or(0) == 0 {
                return None;
            }
        }
    }

    pub async fn until_ready(&mut self) -> Vec<(u8, Vec<u8>)> {
        let mut out = Vec::new();
        while let Some(message) = self.next().await {
            let last = message.0 == b'Z';
            out.push(message);
            if last {
                break;
            }
        }
        out
    }

    /// What came, in short: types of messages, SQLSTATEs, command tags, values of rows, the transaction's status.
    pub async fn answer(&mut self) -> String {
        let messages = self.until_ready().await;
        messages.iter().map(|(kind, body)| short(*kind, body)).collect::<Vec<_>>().join(" ")
    }
}

pub fn short(kind: u8, body: &[u8]) -> String {
    match kind {
        b'E' | b'N' => {
            let code = body.split(|b| *b == 0).find_map(|f| f.strip_prefix(b"C")).unwrap_or_default();
            format!("{}:{}", char::from(kind), String::from_utf8_lossy(code))
        }
        b'C' => format!("C:{}", String::from_utf8_lossy(&body[..body.len() - 1]).replace(' ', "_")),
        b'Z' => format!("Z:{}", char::from(body[0])),
        b'D' => {
            let mut at = 2;
            let mut values = Vec::new();
            while at < body.len() {
                let length = i32::from_be_bytes(body[at..at + 4].try_into().unwrap());
                at += 4;
                match usize::try_from(length) {
                    Ok(length) => {
                        values.push(String::from_utf8_lossy(&body[at..at + length]).into_owned());
                        at += length;
                    }
                    Err(_) => values.push("NULL".into()),
                }
            }
            format!("D:{}", values.join(","))
        }
        b'd' => format!("d:{}", String::from_utf8_lossy(body).trim_end().replace('\t', ",")),
        other => char::from(other).to_string(),
    }
}
