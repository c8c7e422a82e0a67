//! Where the server listens: on addresses, and on a Unix socket beside them.
//!
//! The socket is called as PostgreSQL calls it, `.s.PGSQL.PORT`, with a lock file beside it. The lock is that of the open file, so one that a
//! killed server has left locks nobody out; a server that locks otherwise is found by connecting to it.

use super::transport::Socket;
use crate::access::user_name;
use std::fs::{File, OpenOptions};
use std::future::poll_fn;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::task::Poll;
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};

/// Where a connection comes from.
#[derive(Clone, Debug)]
pub enum Origin {
    Tcp {
        client: SocketAddr,
        server: SocketAddr,
    },
    /// The Unix socket, and the user of the system at its other end, where it has a name.
    Socket {
        user: Option<String>,
    },
}

impl Origin {
    /// The client's address.
    #[must_use]
    pub fn address(&self) -> Option<IpAddr> {
        match self {
            Self::Tcp { client, .. } => Some(client.ip().to_canonical()),
            Self::Socket { .. } => None,
        }
    }

    /// As logs tell it.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Tcp { client, .. } => format!("host={} port={}", client.ip().to_canonical(), client.port()),
            Self::Socket { .. } => "host=[local]".to_owned(),
        }
    }
}

/// A connection's socket on its way to its event loop.
pub enum Handed {
    Tcp(std::net::TcpStream),
    Unix(std::os::unix::net::UnixStream),
}

impl Handed {
    /// The socket, served by the runtime of the thread that calls.
    ///
    /// # Errors
    /// What the system says.
    pub fn take(self) -> io::Result<Socket> {
        Ok(match self {
            Self::Tcp(socket) => {
                let _ = socket.set_nodelay(true);
                Socket::Tcp(TcpStream::from_std(socket)?)
            }
            Self::Unix(socket) => Socket::Unix(UnixStream::from_std(socket)?),
        })
    }
}

/// All that is listened on.
pub struct Listeners {
    tcp: Vec<TcpListener>,
    unix: Option<UnixSocket>,
}

/// A socket in the file system; its files go when it is dropped.
pub struct UnixSocket {
    listener: UnixListener,
    path: PathBuf,
    lock_path: PathBuf,
    /// The lock is its.
    _lock: File,
}

impl Listeners {
    /// Listens on addresses.
    ///
    /// # Errors
    /// What the system says of one of them.
    pub async fn bind(addresses: &[SocketAddr]) -> io::Result<Self> {
        let mut tcp = Vec::with_capacity(addresses.len());
        for address in addresses {
            let listener = TcpListener::bind(address).await;
            tcp.push(listener.map_err(|error| io::Error::new(error.kind(), format!("cannot listen on {address}: {error}")))?);
        }
        Ok(Self { tcp, unix: None })
    }

    /// Listens on a socket too.
    pub fn with_socket(mut self, socket: UnixSocket) -> Self {
        self.unix = Some(socket);
        self
    }

    /// The addresses, with the ports that they have got.
    ///
    /// # Errors
    /// What the system says.
    pub fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        self.tcp.iter().map(TcpListener::local_addr).collect()
    }

    /// The next connection.
    ///
    /// # Errors
    /// What the system says: most likely, too many files are open.
    pub async fn accept(&self) -> io::Result<(Handed, Origin)> {
        poll_fn(|cx| {
            if let Some(unix) = &self.unix
                && let Poll::Ready(accepted) = unix.listener.poll_accept(cx)
            {
                let accepted = accepted.and_then(|(socket, _)| {
                    let user = socket.peer_cred().ok().and_then(|peer| user_name(peer.uid()));
                    Ok((Handed::Unix(socket.into_std()?), Origin::Socket { user }))
                });
                return Poll::Ready(accepted);
            }
            for listener in &self.tcp {
                if let Poll::Ready(accepted) = listener.poll_accept(cx) {
                    let accepted = accepted.and_then(|(socket, client)| {
                        let server = socket.local_addr()?;
                        Ok((Handed::Tcp(socket.into_std()?), Origin::Tcp { client, server }))
                    });
                    return Poll::Ready(accepted);
                }
            }
            Poll::Pending
        })
        .await
    }
}

impl UnixSocket {
    /// Listens in a directory, for a port; `data` is what the lock file calls the data directory.
    ///
    /// # Errors
    /// What the system says; `AddrInUse` if another server is there.
    pub fn bind(directory: &Path, port: u16, data: &Path) -> io::Result<Self> {
        let path = directory.join(format!(".s.PGSQL.{port}"));
        let lock_path = directory.join(format!(".s.PGSQL.{port}.lock"));
        let mut lock = lock(&lock_path)?;
        if std::os::unix::net::UnixStream::connect(&path).is_ok() {
            return Err(in_use(&path, ""));
        }
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(&path)?;
        // Whoever may reach the directory may connect: rules decide.
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o777))?;
        let began = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs());
        lock.set_len(0)?;
        // As PostgreSQL writes it, who looks there for other servers.
        write!(lock, "{}\n{}\n{began}\n{port}\n{}\n\n", std::process::id(), data.display(), directory.display())?;
        Ok(Self { listener, path, lock_path, _lock: lock })
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for UnixSocket {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
        let _ = std::fs::remove_file(&self.lock_path);
    }
}

fn in_use(path: &Path, by: &str) -> io::Error {
    io::Error::new(io::ErrorKind::AddrInUse, format!("another server{by} listens on {}", path.display()))
}

/// Takes the lock of a file that is made if it is not there. In a directory that all can write to, it may be somebody else's, or a link.
fn lock(path: &Path) -> io::Result<File> {
    loop {
        let opened =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(libc::O_NOFOLLOW).open(path);
        let mut file = opened?;
        // SAFETY: the file is open.
        if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } != 0 {
            let mut text = String::new();
            let pid = file.read_to_string(&mut text).ok().and_then(|_| text.lines().next()?.parse::<u32>().ok());
            return Err(in_use(path, &pid.map_or_else(String::new, |pid| format!(" (PID {pid})"))));
        }
        let held = file.metadata()?;
        // SAFETY: it only tells who runs this process, and cannot fail.
        if held.uid() != unsafe { libc::geteuid() } {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("{} is another user's", path.display())));
        }
        // Whoever had it may have removed it between.
        if std::fs::metadata(path).is_ok_and(|there| (there.dev(), there.ino()) == (held.dev(), held.ino())) {
            return Ok(file);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[tokio::test]
    async fn a_socket_is_one_servers_and_goes_with_it() {
        let directory = tempfile::tempdir().unwrap();
        let bind = || UnixSocket::bind(directory.path(), 5433, Path::new("/data"));
        let first = bind().unwrap();
        assert_eq!(bind().err().unwrap().kind(), io::ErrorKind::AddrInUse);
        let text = std::fs::read_to_string(&first.lock_path).unwrap();
        assert_eq!(text.lines().nth(3), Some("5433"));
        let path = first.path().to_owned();
        drop(first);
        assert!(!path.exists());
        // What a killed server has left.
        std::fs::write(directory.path().join(".s.PGSQL.5433.lock"), "1\n").unwrap();
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        let again = bind().unwrap();
        let listeners = Listeners::bind(&[]).await.unwrap().with_socket(again);
        let client = UnixStream::connect(&path).await.unwrap();
        let (_, origin) = listeners.accept().await.unwrap();
        assert!(matches!(origin, Origin::Socket { user: Some(user) } if Some(&user) == crate::access::own_user_name().as_ref()));
        drop(client);
    }

    #[tokio::test]
    async fn a_socket_that_another_program_listens_on_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(".s.PGSQL.5432");
        let other = std::os::unix::net::UnixListener::bind(&path).unwrap();
        assert_eq!(UnixSocket::bind(directory.path(), 5432, Path::new("/d")).err().unwrap().kind(), io::ErrorKind::AddrInUse);
        assert!(path.exists());
        drop(other);
        std::os::unix::fs::symlink("/etc/hostname", directory.path().join(".s.PGSQL.1.lock")).unwrap();
        assert!(UnixSocket::bind(directory.path(), 1, Path::new("/d")).is_err());
    }
}
