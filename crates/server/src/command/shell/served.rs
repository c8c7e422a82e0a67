//! The shell of a directory that a server has open: it runs there, and is asked by a socket in the directory, which only its owner may use.
//!
//! ```text
//! client   width u32 | interactive u8, once; then for each text of commands: length u32 | text
//! server   for each text: any number of (length u32 ≥ 1 | what is printed), then 00 00 00 00 | how it ended u8
//! ```
//!
//! Numbers are little-endian.

use super::commands::{Flow, Shell};
use super::text::Printer;
use crate::wire::event_loops::STACK_BYTES;
use parking_lot::Mutex;
use std::io::{self, BufWriter, Read, Write};
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use stoa_engine::Database;

const NAME: &str = "shell.sock";
/// The longest text of commands.
const LONGEST: u32 = 64 << 20;

/// Shells that are served, each on a thread of its own.
type Served = Arc<Mutex<Vec<(UnixStream, JoinHandle<()>)>>>;

/// The socket, as long as it is there.
pub struct ShellSocket {
    path: PathBuf,
    closed: Arc<AtomicBool>,
    /// Waits for who asks.
    listening: Option<JoinHandle<()>>,
    served: Served,
}

impl ShellSocket {
    /// Serves shells on a database from now on.
    ///
    /// # Errors
    /// What the system says of the socket.
    pub fn open(directory: &Path, database: Database) -> io::Result<Self> {
        let path = directory.join(NAME);
        // One process has the directory: what is there is left over.
        let _ = std::fs::remove_file(&path);
        let listener = UnixListener::bind(&path)?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
        let (served, closed) = (Served::default(), Arc::new(AtomicBool::new(false)));
        let (runtime, running, ends) = (tokio::runtime::Handle::current(), Arc::clone(&served), Arc::clone(&closed));
        let listen = move || {
            for stream in listener.incoming() {
                if ends.load(Ordering::Acquire) {
                    return;
                }
                let Ok((stream, kept)) = stream.and_then(|stream| stream.try_clone().map(|kept| (stream, kept))) else { continue };
                let (database, runtime) = (database.clone(), runtime.clone());
                let work = move || {
                    // Who asked has gone away, or sees what was said so far.
                    if let Err(error) = serve(stream, &database, &runtime) {
                        tracing::debug!(%error, "a shell ended");
                    }
                };
                let mut running = running.lock();
                running.retain(|(_, thread)| !thread.is_finished());
                if let Ok(thread) = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(work) {
                    running.push((kept, thread));
                }
            }
        };
        let listening = Some(std::thread::Builder::new().name("shells".into()).spawn(listen)?);
        Ok(Self { path, closed, listening, served })
    }
}

impl Drop for ShellSocket {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::Release);
        // It has to be woken to see that.
        if UnixStream::connect(&self.path).is_ok()
            && let Some(listening) = self.listening.take()
        {
            let _ = listening.join();
        }
        let _ = std::fs::remove_file(&self.path);
        for (stream, thread) in self.served.lock().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
            let _ = thread.join();
        }
    }
}

fn serve(mut stream: UnixStream, database: &Database, runtime: &tokio::runtime::Handle) -> io::Result<()> {
    let width = number(&mut stream)?;
    let mut interactive = [0];
    stream.read_exact(&mut interactive)?;
    let frames = BufWriter::with_capacity(1 << 15, Frames(stream.try_clone()?));
    let printer = Printer::new(Box::new(frames), usize::try_from(width).unwrap_or(0));
    let mut shell = Shell::new(database, interactive == [1], printer).map_err(|error| io::Error::other(error.message().to_owned()))?;
    let done = runtime.block_on(async {
        loop {
            let length = match number(&mut stream) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
                length => length?,
            };
            if length > LONGEST {
                return Err(io::ErrorKind::InvalidData.into());
            }
            let mut text = vec![0; length as usize];
            stream.read_exact(&mut text)?;
            let flow = shell.run_text(&String::from_utf8_lossy(&text)).await?;
            stream.write_all(&[0, 0, 0, 0, flow as u8])?;
        }
    });
    runtime.block_on(shell.close());
    done
}

fn number(stream: &mut impl Read) -> io::Result<u32> {
    let mut bytes = [0; 4];
    stream.read_exact(&mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}

/// What is printed, in pieces.
struct Frames(UnixStream);

impl Write for Frames {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let bytes = bytes.get(..1 << 20).unwrap_or(bytes);
        if !bytes.is_empty() {
            self.0.write_all(&(bytes.len() as u32).to_le_bytes())?;
            self.0.write_all(bytes)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// A shell that a server runs.
pub struct Client(UnixStream);

impl Client {
    /// `None` if no server has the directory open.
    pub fn connect(directory: &Path, width: usize, interactive: bool) -> Option<Self> {
        let mut stream = UnixStream::connect(directory.join(NAME)).ok()?;
        let width = u32::try_from(width).unwrap_or(0).to_le_bytes();
        stream.write_all(&width).and_then(|()| stream.write_all(&[u8::from(interactive)])).ok()?;
        Some(Self(stream))
    }

    /// Has commands run, and prints what comes.
    ///
    /// # Errors
    /// The connection, or the output, is closed.
    pub fn run(&mut self, text: &str) -> io::Result<Flow> {
        let length = u32::try_from(text.len()).ok().filter(|length| *length <= LONGEST).ok_or(io::ErrorKind::InvalidInput)?;
        self.0.write_all(&length.to_le_bytes())?;
        self.0.write_all(text.as_bytes())?;
        let mut out = io::stdout().lock();
        loop {
            let length = number(&mut self.0)?;
            if length == 0 {
                let mut flow = [0];
                self.0.read_exact(&mut flow)?;
                out.flush()?;
                return Ok(Flow::of(flow));
            }
            io::copy(&mut (&mut self.0).take(u64::from(length)), &mut out)?;
        }
    }
}

impl Flow {
    fn of(code: [u8; 1]) -> Self {
        [Flow::Done, Flow::Failed, Flow::Quit, Flow::Asks].into_iter().find(|flow| [*flow as u8] == code).unwrap_or(Flow::Failed)
    }
}
