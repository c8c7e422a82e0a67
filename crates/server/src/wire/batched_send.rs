//! Batched sends: answers of several connections, given to the kernel in one call.
//!
//! A client that is woken by an answer takes the processor: where each connection sends by itself, the client finds one answer, deals
//! with it, and sleeps until the next one wakes it. Sent in one batch, all are there before the first client runs. Linux takes
//! writes to several sockets in one call through `io_uring`; where there is none, or it is forbidden, each connection sends by itself.

use slab::Slab;
use std::cell::RefCell;
use std::io;
use std::os::fd::RawFd;

thread_local! {
    static PENDING: RefCell<Pending> = RefCell::default();
}

/// What the connections of a thread have to send.
#[derive(Default)]
struct Pending {
    entries: Slab<Entry>,
    queue: Queue,
}

struct Entry {
    socket: RawFd,
    bytes: Vec<u8>,
    outcome: Outcome,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// Not sent.
    Waits,
    /// The kernel has it, and has not reported yet what became of it.
    Submitted,
    /// So many bytes are gone.
    Sent(usize),
}

/// A send that waits for others of its thread, until its connection asks what became of it. Dropped before that, it may have been sent or not.
pub struct PendingSend {
    key: usize,
}

/// Enqueues `bytes` to be sent with those of others of this thread. The socket must stay open until the send is completed or dropped, which
/// must be on this thread.
pub fn enqueue(socket: RawFd, bytes: Vec<u8>) -> PendingSend {
    PENDING.with_borrow_mut(|pending| PendingSend { key: pending.entries.insert(Entry { socket, bytes, outcome: Outcome::Waits }) })
}

impl PendingSend {
    /// Sends it and all others that wait, unless that has been done. Gives the bytes back, and how many of them are gone: none, where
    /// the connection may as well send them by itself. An error of the socket is found by who sends the rest.
    ///
    /// # Errors
    /// When it is not known what has been sent.
    pub fn complete(self) -> io::Result<(Vec<u8>, usize)> {
        let entry = PENDING.with_borrow_mut(|pending| {
            if pending.entries.get(self.key).is_some_and(|entry| entry.outcome == Outcome::Waits) {
                pending.queue.send(&mut pending.entries);
            }
            pending.entries.try_remove(self.key)
        });
        // What `drop` does has been done.
        std::mem::forget(self);
        match entry {
            Some(Entry { bytes, outcome: Outcome::Waits, .. }) => Ok((bytes, 0)),
            Some(Entry { bytes, outcome: Outcome::Sent(count), .. }) => Ok((bytes, count)),
            lost => {
                forget(lost);
                Err(io::Error::other("it is not known whether an answer has been sent"))
            }
        }
    }
}

impl Drop for PendingSend {
    fn drop(&mut self) {
        // The thread may be ending.
        let _ = PENDING.try_with(|pending| forget(pending.borrow_mut().entries.try_remove(self.key)));
    }
}

/// Drops an entry; bytes that the kernel may still read are never freed.
fn forget(entry: Option<Entry>) {
    if let Some(Entry { bytes, outcome: Outcome::Submitted, .. }) = entry {
        std::mem::forget(bytes);
    }
}

#[cfg(target_os = "linux")]
use with_io_uring::Queue;
#[cfg(not(target_os = "linux"))]
use without::Queue;

#[cfg(not(target_os = "linux"))]
mod without {
    #[derive(Default)]
    pub struct Queue;

    impl Queue {
        pub fn send(&mut self, _: &mut slab::Slab<super::Entry>) {}
    }
}

#[cfg(target_os = "linux")]
mod with_io_uring {
    use super::{Entry, Outcome};
    use io_uring::{IoUring, opcode, types};
    use slab::Slab;
    use std::io;

    /// More than so many are submitted in several calls.
    pub const MOST: u32 = 64;

    /// The thread's queue of the kernel.
    #[derive(Default)]
    pub enum Queue {
        /// Not asked for yet.
        #[default]
        Unknown,
        Open(IoUring),
        /// There is none.
        Closed,
    }

    impl Queue {
        /// Sends what waits, if it is for two sockets or more, as far as they take it at once.
        pub fn send(&mut self, entries: &mut Slab<Entry>) {
            while entries.iter().filter(|(_, entry)| entry.outcome == Outcome::Waits).nth(1).is_some() {
                let Some(ring) = self.ring() else { return };
                if let Err(error) = send_all(ring, entries) {
                    tracing::warn!(%error, "a batched send failed: connections send by themselves");
                    *self = Self::Closed;
                }
            }
        }

        fn ring(&mut self) -> Option<&mut IoUring> {
            if matches!(self, Self::Unknown) {
                // All of this is in Linux 6.0.
                let ring = IoUring::builder().setup_single_issuer().setup_coop_taskrun().setup_submit_all().build(MOST);
                *self = ring.map_or_else(
                    |error| {
                        tracing::debug!(%error, "no io_uring: connections send by themselves");
                        Self::Closed
                    },
                    Self::Open,
                );
            }
            match self {
                Self::Open(ring) => Some(ring),
                _ => None,
            }
        }
    }

    /// Sends up to [`MOST`] of those that wait, in one call.
    fn send_all(ring: &mut IoUring, entries: &mut Slab<Entry>) -> io::Result<()> {
        let mut handed = 0;
        for (key, entry) in entries.iter_mut().filter(|(_, entry)| entry.outcome == Outcome::Waits).take(MOST as usize) {
            let length = u32::try_from(entry.bytes.len()).unwrap_or(u32::MAX);
            let send = opcode::Send::new(types::Fd(entry.socket), entry.bytes.as_ptr(), length)
                .flags(libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL)
                .build()
                .user_data(key as u64);
            // SAFETY: the entry says that its bytes are submitted, and they are neither changed nor freed until the kernel has reported
            // what became of them: nobody touches entries in this function's course, and who removes one later looks at its outcome.
            if unsafe { ring.submission().push(&send) }.is_err() {
                break;
            }
            entry.outcome = Outcome::Submitted;
            handed += 1;
        }
        if handed == 0 {
            return Err(io::Error::other("the queue is full"));
        }
        while handed > 0 {
            match ring.submit_and_wait(handed) {
                Ok(_) => {}
                Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
                Err(error) => return Err(error),
            }
            for done in ring.completion() {
                handed = handed.saturating_sub(1);
                if let Some(entry) = usize::try_from(done.user_data()).ok().and_then(|key| entries.get_mut(key)) {
                    entry.outcome = Outcome::Sent(usize::try_from(done.result()).unwrap_or(0));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::io::{Read, Write};
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    fn pairs(count: usize) -> Vec<(UnixStream, UnixStream)> {
        (0..count).map(|_| UnixStream::pair().unwrap()).collect()
    }

    /// As a connection does it: what has not been sent is sent by itself.
    fn deliver(send: PendingSend, socket: &mut UnixStream) -> usize {
        let (bytes, sent) = send.complete().unwrap();
        socket.write_all(bytes.get(sent..).unwrap()).unwrap();
        sent
    }

    #[test]
    fn each_socket_gets_its_own() {
        for count in [1, 2, 5, 150] {
            let mut pairs = pairs(count);
            let text = |n: usize| format!("answer {n} of {count}").into_bytes();
            let sends: Vec<_> = pairs.iter().enumerate().map(|(n, (here, _))| enqueue(here.as_raw_fd(), text(n))).collect();
            let mut batched = 0;
            for (n, send) in sends.into_iter().enumerate() {
                batched += usize::from(deliver(send, &mut pairs[n].0) == text(n).len());
            }
            let open = PENDING.with_borrow(|pending| matches!(pending.queue, Queue::Open(_)));
            assert!(batched == 0 || open, "{batched}");
            assert!(!open || count == 1 || batched >= count - 1, "{batched} of {count}");
            for (n, (here, mut there)) in pairs.into_iter().enumerate() {
                drop(here);
                let mut got = Vec::new();
                there.read_to_end(&mut got).unwrap();
                assert_eq!(got, text(n));
            }
            assert!(PENDING.with_borrow(|pending| pending.entries.is_empty()));
        }
    }

    #[test]
    fn what_a_socket_does_not_take_is_left() {
        let mut pairs = pairs(3);
        let large = vec![7; 4 << 20];
        // The first is full, the second's client is gone.
        let sends: Vec<_> = pairs.iter().map(|(here, _)| enqueue(here.as_raw_fd(), large.clone())).collect();
        let (_, gone) = &pairs[1];
        gone.shutdown(std::net::Shutdown::Both).unwrap();
        let outcomes: Vec<_> = sends.into_iter().map(|send| send.complete().unwrap()).collect();
        for (n, (bytes, sent)) in outcomes.into_iter().enumerate() {
            assert_eq!(bytes.len(), large.len());
            assert!(sent < large.len());
            let (mut here, mut there) = (pairs[n].0.try_clone().unwrap(), pairs[n].1.try_clone().unwrap());
            if n == 1 {
                assert_eq!(sent, 0);
                assert!(here.write_all(&bytes).is_err());
                continue;
            }
            let reader = std::thread::spawn(move || {
                let mut got = vec![0; 4 << 20];
                there.read_exact(&mut got).unwrap();
                got
            });
            here.write_all(bytes.get(sent..).unwrap()).unwrap();
            assert!(reader.join().unwrap() == large);
        }
        pairs.clear();
    }

    #[test]
    fn a_dropped_letter_is_not_sent() {
        let mut pairs = pairs(3);
        let mut sends: Vec<_> = pairs.iter().map(|(here, _)| enqueue(here.as_raw_fd(), b"x".to_vec())).collect();
        drop(sends.remove(1));
        for (send, n) in sends.into_iter().zip([0, 2]) {
            deliver(send, &mut pairs[n].0);
        }
        let got: Vec<_> = pairs
            .drain(..)
            .map(|(here, mut there)| {
                drop(here);
                let mut got = Vec::new();
                there.read_to_end(&mut got).unwrap();
                got.len()
            })
            .collect();
        assert_eq!(got, [1, 0, 1]);
        assert!(PENDING.with_borrow(|pending| pending.entries.is_empty()));
    }

    #[test]
    fn without_a_queue_connections_send_by_themselves() {
        std::thread::spawn(|| {
            PENDING.with_borrow_mut(|pending| pending.queue = Queue::Closed);
            let mut pairs = pairs(2);
            let sends: Vec<_> = pairs.iter().map(|(here, _)| enqueue(here.as_raw_fd(), b"x".to_vec())).collect();
            for (send, (here, there)) in sends.into_iter().zip(&mut pairs) {
                assert_eq!(deliver(send, here), 0);
                let mut got = [0];
                there.read_exact(&mut got).unwrap();
                assert_eq!(&got, b"x");
            }
        })
        .join()
        .unwrap();
    }
}
