//! Where stores get the time of day: replaceable, so that tests of TTL and of clocks that go back need not wait.

use crate::Timestamp;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// A source of the time of day in microseconds since 1970. It may go back; timestamps made from it never do.
pub trait Clock: Send + Sync + std::fmt::Debug {
    fn now_us(&self) -> u64;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_us(&self) -> u64 {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| u64::try_from(d.as_micros()).unwrap_or(u64::MAX))
    }
}

/// A clock that stands still until it is told otherwise.
#[derive(Debug)]
pub struct ManualClock(AtomicU64);

impl ManualClock {
    #[must_use]
    pub fn at_us(us: u64) -> Self {
        Self(AtomicU64::new(us))
    }

    pub fn set_us(&self, us: u64) {
        self.0.store(us, Ordering::SeqCst);
    }

    pub fn advance_us(&self, us: u64) {
        self.0.fetch_add(us, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now_us(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

impl Timestamp {
    /// The timestamp to give next: the time of day, or just above the last one when the clock has not moved on.
    #[must_use]
    pub fn after(last: Timestamp, now_us: u64) -> Timestamp {
        Timestamp::from_micros(now_us).max(Timestamp(last.0.saturating_add(1)))
    }
}
