//! PostgreSQL's own client proves its passwords to us: over TLS, bound and not, and without; where `psql` is installed.
//!
//! The server here is as small as may be: it takes the startup, leads the exchange, and answers every query with nothing.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use rustls::{ServerConnection, StreamOwned};
use std::io::{Read, Result, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::SystemTime;
use stoa_auth::scram::{Channel, Exchange, MockSecret, Reply, Verifier};
use stoa_auth::tls::{Paths, SelfSigned, Served};

trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

fn message(stream: &mut dyn Stream, kind: u8, body: &[u8]) -> Result<()> {
    let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
    stream.write_all(&[&[kind], &length[..], body].concat())?;
    stream.flush()
}

fn read(stream: &mut dyn Stream) -> Result<Vec<u8>> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let mut body = vec![0; usize::try_from(u32::from_be_bytes(length)).unwrap() - 4];
    stream.read_exact(&mut body)?;
    Ok(body)
}

/// Leads one connection. `bound_to` is what the server thinks its certificate is.
fn serve(mut tcp: TcpStream, served: &Served, bound_to: Option<Vec<u8>>, verifier: &Verifier) -> Result<()> {
    let mut startup = read(&mut tcp)?;
    let mut channel = Channel::Plain;
    let mut stream: Box<dyn Stream> = if startup == 80_877_103_u32.to_be_bytes() {
        tcp.write_all(b"S")?;
        channel = Channel::Tls { end_point: bound_to };
        let connection = ServerConnection::new(Arc::clone(served.config())).unwrap();
        let mut stream = StreamOwned::new(connection, tcp);
        startup = read(&mut stream)?;
        Box::new(stream)
    } else {
        Box::new(tcp)
    };
    let words: Vec<&[u8]> = startup[4..].split(|&b| b == 0).collect();
    let at = words.iter().position(|&word| word == b"user").unwrap();
    let role = std::str::from_utf8(words[at + 1]).unwrap();
    let mechanisms: String = Exchange::mechanisms(&channel).iter().map(|name| format!("{name}\0")).collect();
    let mock = MockSecret::generate().unwrap();
    let mut exchange = Exchange::new(role, (role == "anna").then(|| verifier.clone()), &mock, channel);
    message(&mut stream, b'R', &[&10_u32.to_be_bytes(), mechanisms.as_bytes(), b"\0"].concat())?;
    loop {
        let mut kind = [0];
        stream.read_exact(&mut kind)?;
        assert_eq!(&kind, b"p");
        match exchange.receive(&read(&mut stream)?) {
            Ok(Reply::Continue(text)) => message(&mut stream, b'R', &[&11_u32.to_be_bytes()[..], &text].concat())?,
            Ok(Reply::Proven(text)) => {
                message(&mut stream, b'R', &[&12_u32.to_be_bytes()[..], &text].concat())?;
                message(&mut stream, b'R', &0_u32.to_be_bytes())?;
                message(&mut stream, b'Z', b"I")?;
                break;
            }
            Err(refusal) => {
                let fields = format!("SFATAL\0C{}\0M{}\0\0", refusal.code.sqlstate(), refusal.message);
                return message(&mut stream, b'E', fields.as_bytes());
            }
        }
    }
    loop {
        let mut kind = [0];
        stream.read_exact(&mut kind)?;
        read(&mut stream)?;
        if &kind == b"X" {
            return Ok(());
        }
        message(&mut stream, b'I', b"")?;
        message(&mut stream, b'Z', b"I")?;
    }
}

/// Whether psql gets in, and what it says.
fn psql(port: u16, password: &str, options: &str) -> (bool, String) {
    let target = format!("host=localhost hostaddr=127.0.0.1 port={port} dbname=d gssencmode=disable connect_timeout=20 {options}");
    let done = Command::new("psql").args(["-X", "-c", "", &target]).env("PGPASSWORD", password).output().unwrap();
    (done.status.success(), String::from_utf8_lossy(&done.stderr).into_owned())
}

#[test]
fn psql_proves_its_password_and_notices_what_is_wrong() {
    if Command::new("psql").arg("--version").output().is_err() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let in_directory = |name: &str| directory.path().join(name);
    let paths = Paths { certificate: in_directory("server.crt"), key: in_directory("server.key"), authorities: None };
    let made = SelfSigned::make(&["localhost".into()], SystemTime::now(), 2).unwrap();
    made.write(&paths.certificate, &paths.key).unwrap();
    let served = Served::load(&paths).unwrap();
    let verifier = Verifier::make(&"pencil\u{e9}\u{a0}".into(), 4096).unwrap();
    let listen = |bound_to: Option<Vec<u8>>| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (served, verifier) = (served.clone(), verifier.clone());
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                // A client that goes away in the middle is what some of the cases are about.
                let _ = serve(connection.unwrap(), &served, bound_to.clone(), &verifier);
            }
        });
        port
    };
    let good = listen(served.end_point().map(<[u8]>::to_vec));
    let other = listen(Some(vec![1; 32]));
    let unbound = listen(None);
    let full = format!("sslmode=verify-full sslrootcert={}", Path::new(&paths.certificate).display());
    let right = "pencil\u{e9}\u{a0}";
    for (port, role, password, options, expected) in [
        (good, "anna", right, "sslmode=disable", ""),
        (good, "anna", right, "sslmode=require channel_binding=disable", ""),
        (good, "anna", right, "sslmode=require channel_binding=require", ""),
        (good, "anna", right, "sslmode=require ssl_max_protocol_version=TLSv1.2 channel_binding=require", ""),
        (good, "anna", right, &format!("{full} channel_binding=require"), ""),
        (good, "anna", "pencil", "sslmode=disable", "password authentication failed for user \"anna\""),
        (good, "anna", "pencil", "sslmode=require channel_binding=require", "password authentication failed for user \"anna\""),
        (good, "bob", right, "sslmode=disable", "password authentication failed for user \"bob\""),
        (good, "anna", right, "sslmode=disable channel_binding=require", "channel binding"),
        (other, "anna", right, "sslmode=require channel_binding=require", "SCRAM channel binding check failed"),
        (other, "anna", right, "sslmode=require channel_binding=disable", ""),
        (unbound, "anna", right, "sslmode=require", ""),
        (unbound, "anna", right, "sslmode=require channel_binding=require", "channel binding"),
    ] {
        let (fine, reported) = psql(port, password, &format!("user={role} {options}"));
        assert!(fine == expected.is_empty() && reported.contains(expected), "{role} {options}: {reported}");
    }
}
