//! Row ids of tables without PRIMARY KEY.
//!
//! Invariant: ids of one process only grow, so that such a table is read in the order in which it was filled; microseconds in the
//! high bits keep them growing over restarts.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// 2020-01-01 in microseconds since 1970.
const EPOCH_US: i64 = 1_577_836_800_000_000;
/// Ids of one microsecond; with the rest, microseconds last until the year 2092.
const COUNTER_BITS: u32 = 12;

static LAST: AtomicI64 = AtomicI64::new(0);

/// An id above all that this process gave before.
#[must_use]
pub fn next_row_id() -> i64 {
    let now_us = SystemTime::now().duration_since(UNIX_EPOCH).map_or(EPOCH_US, |d| i64::try_from(d.as_micros()).unwrap_or(EPOCH_US));
    let floor = now_us.saturating_sub(EPOCH_US).max(0) << COUNTER_BITS;
    let step = |last: i64| Some(floor.max(last.saturating_add(1)));
    match LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, step) {
        Ok(last) | Err(last) => floor.max(last.saturating_add(1)),
    }
}

/// `count` ids in a row, ascending.
#[must_use]
pub fn next_row_ids(count: usize) -> Vec<i64> {
    (0..count).map(|_| next_row_id()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_grow() {
        let ids = next_row_ids(10_000);
        assert!(ids.windows(2).all(|w| w[0] < w[1]));
        assert!(ids[0] > 0);
    }
}
