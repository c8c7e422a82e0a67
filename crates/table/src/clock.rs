//! The clock of the machine.

use std::time::{SystemTime, UNIX_EPOCH};

/// Microseconds since 1970 UTC.
#[must_use]
pub fn now_us() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}
