//! The places of connections that have proven nothing yet: who has none is closed, and so is whose time is over.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stoa_auth::half_open::{Admission, HalfOpen, Ticket};
use tokio::sync::oneshot;

/// All of them.
#[derive(Debug)]
pub struct Places {
    began: Instant,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    half_open: HalfOpen,
    /// Dropped to close a connection.
    closers: HashMap<Ticket, oneshot::Sender<()>>,
}

/// A connection's place; given back when it is dropped.
#[derive(Debug)]
pub struct Place {
    places: Arc<Places>,
    ticket: Ticket,
    open: oneshot::Receiver<()>,
}

impl Places {
    /// As [`HalfOpen::new`].
    #[must_use]
    pub fn new(limit: usize, time: Duration) -> Self {
        Self { began: Instant::now(), inner: Mutex::new(Inner { half_open: HalfOpen::new(limit, time), closers: HashMap::new() }) }
    }

    /// A connection has come, from an address or by the socket. It has a place, perhaps that of another which is closed then, or is to be
    /// closed itself.
    pub fn admit(self: &Arc<Self>, address: Option<IpAddr>) -> Option<Place> {
        let mut inner = self.inner.lock();
        let ticket = match inner.half_open.admit(address, self.began.elapsed()) {
            Admission::Admitted(ticket) => ticket,
            Admission::Instead { of, ticket } => {
                inner.closers.remove(&of);
                ticket
            }
            Admission::Refused => return None,
        };
        let (closer, open) = oneshot::channel();
        inner.closers.insert(ticket, closer);
        Some(Place { places: Arc::clone(self), ticket, open })
    }

    /// Closes those whose time is over.
    pub fn close_overdue(&self) {
        let mut inner = self.inner.lock();
        for ticket in inner.half_open.overdue(self.began.elapsed()) {
            inner.closers.remove(&ticket);
        }
    }

    /// When [`Places::close_overdue`] is to be called next.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        self.inner.lock().half_open.next_deadline().map(|at| self.began + at)
    }

    /// Closes all.
    pub fn close_all(&self) {
        self.inner.lock().closers.clear();
    }
}

impl Place {
    /// Waits until the connection must be closed.
    pub async fn lost(&mut self) {
        // Its sender never sends.
        let _ = (&mut self.open).await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut inner = self.places.inner.lock();
        inner.half_open.done(self.ticket);
        inner.closers.remove(&self.ticket);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[tokio::test]
    async fn a_place_is_lost_to_another_and_to_time() {
        let places = Arc::new(Places::new(2, Duration::from_millis(50)));
        let greedy = Some(IpAddr::from([10, 0, 0, 1]));
        let mut first = places.admit(greedy).unwrap();
        let second = places.admit(greedy).unwrap();
        assert!(places.admit(greedy).is_none());
        let mut other = places.admit(Some(IpAddr::from([10, 0, 0, 2]))).unwrap();
        first.lost().await;
        drop(second);
        let deadline = places.next_deadline().unwrap();
        tokio::time::sleep_until(deadline.into()).await;
        places.close_overdue();
        other.lost().await;
        assert!(places.next_deadline().is_none());
    }
}
