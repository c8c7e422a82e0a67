//! The time of day.

use std::time::{SystemTime, UNIX_EPOCH};

/// A source of the time of day.
pub trait Clock: Send + Sync {
    /// Microseconds since 1970 UTC.
    fn now_us(&self) -> i64;
}

/// The clock of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_us(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
    }
}
