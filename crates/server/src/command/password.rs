//! `stoa password`: a role's password, typed in or read, stored as what it is proven against. The password itself goes nowhere.
//!
//! If a server runs on the directory, it is asked by its Unix socket; else the database is opened.

use super::CommandError;
use super::open::{DataOptions, open_existing};
use super::running;
use std::io::{self, BufRead, IsTerminal, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use stoa_auth::Secret;
use stoa_auth::scram::{DEFAULT_ITERATIONS, Verifier};
use stoa_engine::{Database, SessionOptions};
use stoa_pg::PgResult;

#[derive(clap::Args, Debug)]
pub struct Password {
    #[command(flatten)]
    data: DataOptions,
    /// The role.
    role: String,
    /// The superuser that changes it, if a server runs.
    #[arg(long = "as", value_name = "ROLE", default_value = "stoa")]
    superuser: String,
}

/// The longest that is taken, as psql takes it.
const LONGEST: usize = 1024;

impl Password {
    pub(super) async fn run(self) -> Result<ExitCode, CommandError> {
        let password = self.read()?;
        let made = Verifier::make(&password, DEFAULT_ITERATIONS);
        let verifier = made.map_err(|refusal| CommandError::Usage(refusal.to_string()))?.to_text();
        let statement = format!("ALTER ROLE \"{}\" PASSWORD '{verifier}'", self.role.replace('"', "\"\""));
        let there = running::find(&self.data.data).and_then(|server| Some((server.pid, server.socket?)));
        // The file may be a killed server's.
        match there.and_then(|(pid, path)| Some((pid, UnixStream::connect(path).ok()?))) {
            Some((pid, socket)) => {
                ask(socket, &self.superuser, &statement)?;
                eprintln!("The server with PID {pid} has a password for {} now.", self.role);
            }
            None => {
                let database = open_existing(&self.data).await?;
                execute(&database, &statement).await?;
                eprintln!("{} has a password now.", self.role);
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    /// From the terminal, twice and unseen, or the first line of the standard input.
    fn read(&self) -> Result<Secret, CommandError> {
        let trouble = |error| CommandError::Io { what: "cannot read the password".into(), error };
        let line = |prompt: &str| -> io::Result<Secret> {
            let unseen = Unseen::begin();
            if unseen.is_some() {
                eprint!("{prompt}");
                io::stderr().flush()?;
            }
            // Room for all of it, so that no copy stays behind where it grew.
            let mut bytes = Vec::with_capacity(LONGEST + 2);
            io::stdin().lock().take(LONGEST as u64 + 2).read_until(b'\n', &mut bytes)?;
            if unseen.is_some() {
                eprintln!();
            }
            while bytes.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
                bytes.pop();
            }
            Ok(Secret::new(bytes))
        };
        let first = line(&format!("New password for {}: ", self.role)).map_err(trouble)?;
        let refused = |what: &str| Err(CommandError::Usage(what.to_owned()));
        if first.expose().is_empty() {
            return refused("a password cannot be empty");
        }
        if first.expose().len() > LONGEST || first.expose().contains(&0) {
            return refused("a password is at most 1024 bytes, without zero bytes");
        }
        if io::stdin().is_terminal() && line("Again: ").map_err(trouble)? != first {
            return refused("these are two passwords");
        }
        Ok(first)
    }
}

/// What is typed is not shown until this is dropped.
struct Unseen(libc::termios);

impl Unseen {
    /// `None` where there is no terminal.
    fn begin() -> Option<Self> {
        let input = io::stdin().as_raw_fd();
        // SAFETY: it is made of numbers, for which zero is a value; the calls change nothing but it and the terminal.
        unsafe {
            let mut before: libc::termios = std::mem::zeroed();
            if libc::tcgetattr(input, &raw mut before) != 0 {
                return None;
            }
            let mut unseen = before;
            unseen.c_lflag &= !libc::ECHO;
            (libc::tcsetattr(input, libc::TCSAFLUSH, &raw const unseen) == 0).then(|| Self(before))
        }
    }
}

impl Drop for Unseen {
    fn drop(&mut self) {
        // SAFETY: as in `begin`.
        unsafe { libc::tcsetattr(io::stdin().as_raw_fd(), libc::TCSAFLUSH, &raw const self.0) };
    }
}

async fn execute(database: &Database, statement: &str) -> PgResult<()> {
    let options = SessionOptions { application_name: "stoa password".into(), ..SessionOptions::default() };
    let mut session = database.connect(options)?;
    let mut done = Ok(());
    for piece in session.parse(statement)? {
        let prepared = session.prepare(Some(piece), Arc::from(statement), Vec::new())?;
        done = session.execute(&prepared, Vec::new()).await.map(drop);
    }
    if done.is_ok() {
        done = session.finish().await;
    }
    session.close().await;
    done
}

/// Lets a server execute a statement, as a role that its rules trust at the socket.
fn ask(mut socket: UnixStream, role: &str, statement: &str) -> Result<(), CommandError> {
    let trouble = |error| CommandError::Io { what: "cannot talk to the server that runs".into(), error };
    let time = Some(Duration::from_secs(30));
    socket.set_read_timeout(time).and_then(|()| socket.set_write_timeout(time)).map_err(trouble)?;
    let startup = format!("\0\x03\0\0user\0{role}\0database\0stoa\0application_name\0stoa password\0\0");
    send(&mut socket, None, startup.as_bytes()).map_err(trouble)?;
    let mut asked = false;
    loop {
        let (kind, body) = receive(&mut socket).map_err(trouble)?;
        match kind {
            b'R' if body.iter().any(|byte| *byte != 0) => {
                let what = format!("the server asks for a password of {role} at its socket: set it with psql's \\password");
                return Err(CommandError::Usage(what));
            }
            b'E' => return Err(CommandError::Usage(format!("the server says: {}", message_of(&body)))),
            b'Z' if asked => return Ok(()),
            b'Z' => {
                asked = true;
                send(&mut socket, Some(b'Q'), &[statement.as_bytes(), b"\0"].concat()).map_err(trouble)?;
            }
            _ => {}
        }
    }
}

fn send(socket: &mut UnixStream, kind: Option<u8>, body: &[u8]) -> io::Result<()> {
    let length = u32::try_from(body.len() + 4).map_err(io::Error::other)?.to_be_bytes();
    socket.write_all(&[kind.as_slice(), &length, body].concat())
}

fn receive(socket: &mut UnixStream) -> io::Result<(u8, Vec<u8>)> {
    let mut head = [0; 5];
    socket.read_exact(&mut head)?;
    let [kind, length @ ..] = head;
    let length = u32::from_be_bytes(length).checked_sub(4).filter(|length| *length < 1 << 20);
    let length = length.and_then(|length| usize::try_from(length).ok()).ok_or_else(|| io::Error::other("a message of no length"))?;
    let mut body = vec![0; length];
    socket.read_exact(&mut body)?;
    Ok((kind, body))
}

/// The text of an error.
fn message_of(body: &[u8]) -> String {
    let text = body.split(|byte| *byte == 0).find_map(|field| field.strip_prefix(b"M"));
    String::from_utf8_lossy(text.unwrap_or_default()).into_owned()
}
