//! The times of cells that are written now.

use crate::clock::{Clock, SystemClock};
use std::sync::atomic::{AtomicI64, Ordering};

/// Up to this time a deletion of this process hides what is written: a cell that follows it within its millisecond gets the next one.
static DELETED: AtomicI64 = AtomicI64::new(0);

/// Milliseconds since 1970.
#[must_use]
pub fn now() -> i64 {
    SystemClock.now_us() / 1000
}

/// The time of a cell that is written now: behind all deletions so far.
#[must_use]
pub fn time_of_put() -> i64 {
    now().max(DELETED.load(Ordering::Acquire).saturating_add(1))
}

/// The time of a deletion that is made now: not before any cell so far.
#[must_use]
pub fn time_of_delete() -> i64 {
    let at = time_of_put();
    DELETED.fetch_max(at, Ordering::AcqRel);
    at
}
