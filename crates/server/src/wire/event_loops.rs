//! Where connections run: on one of a few event loops, or on the runtime's workers.
//!
//! A connection waits for its client and executes inline statements on its event loop, a thread that it shares with some of the others: a
//! message is read, answered and written there without one more thread to wake, which would cost as much as a read by key. Work that
//! may take long is offloaded to the workers, which share it among them, and the connection resumes on its event loop to wait for the
//! client again: so no connection is held up by a neighbour's.
//!
//! An offloaded connection is a suspended future that is polled on by another runtime. Its socket stays with the driver of its event loop.

use super::batched_send;
use std::future::{Future, poll_fn};
use std::os::fd::RawFd;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Poll;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// Deeply nested statements recurse deeply, and not every step grows the stack; memory is taken only where it is touched.
pub const STACK_BYTES: usize = 256 << 20;

/// The event loops. Dropping them ends their threads, with the connections that are still there.
pub struct EventLoops {
    loops: Vec<EventLoop>,
    workers: Handle,
}

struct EventLoop {
    handle: Handle,
    connections: Arc<AtomicUsize>,
    /// Dropped to end the thread.
    _running: oneshot::Sender<()>,
}

type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

impl EventLoops {
    /// Starts the threads; to be called on the runtime whose workers do the long work.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn start(count: usize) -> std::io::Result<Self> {
        let loops = (0..count.max(1)).map(EventLoop::start).collect::<std::io::Result<_>>()?;
        Ok(Self { loops, workers: Handle::current() })
    }

    /// Runs a connection on the event loop that has the fewest; `work` begins there. The receiver ends with it.
    pub fn spawn<F: Future<Output = ()> + Send + 'static>(&self, work: impl FnOnce(ConnectionTask) -> F) -> oneshot::Receiver<()> {
        let (ended, end) = oneshot::channel();
        let Some(event_loop) = self.loops.iter().min_by_key(|event_loop| event_loop.connections.load(Ordering::Relaxed)) else {
            return end;
        };
        let task = ConnectionTask(Arc::new(TaskState {
            event_loop: event_loop.handle.clone(),
            workers: self.workers.clone(),
            connections: Arc::clone(&event_loop.connections),
            offloaded: AtomicBool::new(false),
        }));
        event_loop.connections.fetch_add(1, Ordering::Relaxed);
        let state = Arc::clone(&task.0);
        let guard = Guard { connections: Arc::clone(&event_loop.connections), _ended: ended };
        let work = work(task);
        run(
            state,
            Box::pin(async move {
                let _guard = guard;
                work.await;
            }),
            false,
        );
        end
    }
}

impl EventLoop {
    fn start(number: usize) -> std::io::Result<Self> {
        // Before it sleeps, a thread lets others run that wait for its processor: often clients, whose next messages it then finds
        // without having to be woken, which costs the client and it more than the messages do.
        let runtime = Builder::new_current_thread().enable_all().on_thread_park(std::thread::yield_now).build()?;
        let handle = runtime.handle().clone();
        let (running, ended) = oneshot::channel::<()>();
        std::thread::Builder::new().name(format!("connections-{number}")).stack_size(STACK_BYTES).spawn(move || {
            // Its sender never sends: it is dropped.
            let _ = runtime.block_on(ended);
        })?;
        Ok(Self { handle, connections: Arc::default(), _running: running })
    }
}

struct Guard {
    connections: Arc<AtomicUsize>,
    _ended: oneshot::Sender<()>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

struct TaskState {
    event_loop: Handle,
    workers: Handle,
    /// How many the event loop has.
    connections: Arc<AtomicUsize>,
    /// Where the connection is, or wants to be.
    offloaded: AtomicBool,
}

/// Polls `work` where it wants to be, until it wants to be elsewhere.
fn run(state: Arc<TaskState>, mut work: Work, offloaded: bool) {
    let handle = if offloaded { state.workers.clone() } else { state.event_loop.clone() };
    handle.spawn(async move {
        let moves = poll_fn(|cx| match work.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(false),
            Poll::Pending if state.offloaded.load(Ordering::Relaxed) != offloaded => Poll::Ready(true),
            Poll::Pending => Poll::Pending,
        })
        .await;
        if moves {
            run(state, work, !offloaded);
        }
    });
}

/// A connection's task, which runs on its event loop or offloaded on the workers.
#[derive(Clone)]
pub struct ConnectionTask(Arc<TaskState>);

impl ConnectionTask {
    /// Goes on at the workers, for what may take long.
    pub async fn offload(&self) {
        self.go(true).await;
    }

    /// Goes on on its event loop.
    pub async fn resume(&self) {
        self.go(false).await;
    }

    /// On its event loop, sends `bytes` in one batch with what those of the thread's other connections that have something to do send, each once.
    /// Gives the number of bytes that are gone; the rest is the connection's to send.
    ///
    /// # Errors
    /// When it is not known what has been sent.
    pub async fn send_batched(&self, socket: RawFd, bytes: &mut Vec<u8>) -> std::io::Result<usize> {
        if bytes.is_empty() || self.0.offloaded.load(Ordering::Relaxed) || self.0.connections.load(Ordering::Relaxed) <= 1 {
            return Ok(0);
        }
        let pending = batched_send::enqueue(socket, std::mem::take(bytes));
        let mut waited = false;
        poll_fn(|cx| {
            if std::mem::replace(&mut waited, true) {
                return Poll::Ready(());
            }
            // To the end of the queue. `yield_now` would wait for the next look at all sockets as well.
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
        let sent;
        (*bytes, sent) = pending.complete()?;
        Ok(sent)
    }

    async fn go(&self, offloaded: bool) {
        if self.0.offloaded.swap(offloaded, Ordering::Relaxed) == offloaded {
            return;
        }
        let mut gone = false;
        // Once pending, the future is polled again only where it wants to be.
        poll_fn(|_| if std::mem::replace(&mut gone, true) { Poll::Ready(()) } else { Poll::Pending }).await;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    fn thread_name() -> String {
        std::thread::current().name().unwrap_or_default().to_owned()
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn connections_go_over_and_come_home() {
        let threads = EventLoops::start(2).unwrap();
        let (answer, received) = oneshot::channel();
        let end = threads.spawn(|task| async move {
            let mut seen = Vec::new();
            for _ in 0..3 {
                seen.push(thread_name());
                task.offload().await;
                task.offload().await;
                seen.push(thread_name());
                tokio::task::yield_now().await;
                task.resume().await;
            }
            answer.send(seen).unwrap();
        });
        let seen = received.await.unwrap();
        let _ = end.await;
        assert_eq!(seen.len(), 6);
        assert!(seen.iter().step_by(2).all(|name| name == "connections-0"), "{seen:?}");
        assert!(seen.iter().skip(1).step_by(2).all(|name| !name.starts_with("connections")), "{seen:?}");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn connections_spread_over_the_threads() {
        let threads = EventLoops::start(2).unwrap();
        let mut ends = Vec::new();
        let (stop, stopped) = tokio::sync::watch::channel(false);
        for _ in 0..5 {
            let mut stopped = stopped.clone();
            ends.push(threads.spawn(|_| async move {
                let _ = stopped.wait_for(|stop| *stop).await;
            }));
        }
        let counts = || threads.loops.iter().map(|h| h.connections.load(Ordering::Relaxed)).collect::<Vec<_>>();
        assert_eq!(counts(), [3, 2]);
        stop.send(true).unwrap();
        for end in ends {
            let _ = end.await;
        }
        assert_eq!(counts(), [0, 0]);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn neighbours_go_first() {
        let threads = EventLoops::start(1).unwrap();
        let (start, started) = tokio::sync::watch::channel(false);
        let order = Arc::new(std::sync::Mutex::new(Vec::new()));
        let waiting = Arc::new(AtomicUsize::new(0));
        let mut ends: Vec<_> = (0..3)
            .map(|_| {
                let (mut started, order, waiting) = (started.clone(), Arc::clone(&order), Arc::clone(&waiting));
                threads.spawn(move |task| async move {
                    waiting.fetch_add(1, Ordering::Relaxed);
                    let _ = started.wait_for(|start| *start).await;
                    let (here, mut there) = UnixStream::pair().unwrap();
                    order.lock().unwrap().push("read");
                    let mut bytes = b"answer".to_vec();
                    let sent = task.send_batched(here.as_raw_fd(), &mut bytes).await.unwrap();
                    order.lock().unwrap().push("answer");
                    assert!(bytes == b"answer" && (sent == 0 || sent == 6));
                    drop(here);
                    let mut got = Vec::new();
                    std::io::Read::read_to_end(&mut there, &mut got).unwrap();
                    assert_eq!(got, bytes[..sent]);
                })
            })
            .collect();
        // On their thread, so that all have something to do before the first of them goes on.
        ends.push(threads.spawn(|_| async move {
            while waiting.load(Ordering::Relaxed) < 3 {
                tokio::task::yield_now().await;
            }
            start.send(true).unwrap();
        }));
        for end in ends {
            let _ = end.await;
        }
        assert_eq!(*order.lock().unwrap(), ["read", "read", "read", "answer", "answer", "answer"]);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn a_connection_without_neighbours_does_not_wait() {
        let threads = EventLoops::start(1).unwrap();
        let (answer, received) = oneshot::channel();
        let end = threads.spawn(|task| async move {
            let mut bytes = b"answer".to_vec();
            let mut send = std::pin::pin!(task.send_batched(-1, &mut bytes));
            answer.send(poll_fn(|cx| Poll::Ready(matches!(send.as_mut().poll(cx), Poll::Ready(Ok(0))))).await).unwrap();
        });
        assert!(received.await.unwrap());
        let _ = end.await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn dropping_the_threads_ends_connections() {
        let threads = EventLoops::start(1).unwrap();
        let end = threads.spawn(|_| std::future::pending());
        drop(threads);
        assert!(end.await.is_err());
    }
}
