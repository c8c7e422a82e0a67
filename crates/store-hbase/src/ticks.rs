//! Times: a commit's is a millisecond, since HBase counts in no smaller unit, and an even one.
//!
//! What replaces a version says with a marker at the odd millisecond before it when the version ended. Snapshots stand at even ones, so
//! that none ever sees a marker without what it announces.

use std::time::{Duration, Instant};
use stoa_store::Timestamp;

/// Counters and microseconds of a timestamp that make a millisecond.
const TIMESTAMP_PER_MS: u64 = 1000 << Timestamp::COUNTER_BITS;
/// From one commit time to the next, at least.
const STEP_MS: u64 = 2;
/// How far commit times may run ahead of the clock because commits come faster than one each step.
const MOST_SAVED_MS: u64 = 10_000;

/// A commit's time, or a snapshot's: even milliseconds since 1970.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(crate) struct Tick(pub u64);

impl Tick {
    pub fn timestamp(self) -> Timestamp {
        Timestamp::from_micros(self.0.saturating_mul(1000))
    }

    /// The last one at or before a time: reads at both see the same.
    pub fn at_or_before(at: Timestamp) -> Tick {
        Tick((at.0 / TIMESTAMP_PER_MS) & !1)
    }

    pub fn micros(self) -> u64 {
        self.0.saturating_mul(1000)
    }
}

/// The first millisecond at or after a time.
pub(crate) fn first_millisecond(at: Timestamp) -> u64 {
    at.0.div_ceil(TIMESTAMP_PER_MS)
}

/// Gives out commit times, each above all before it. It follows the clock, and runs ahead of it for a while when there is haste: each time
/// costs what it takes, and what was not spent is saved up to a bound.
#[derive(Debug)]
pub(crate) struct Ticks {
    last: Tick,
    saved_ms: u64,
    counted: Instant,
}

impl Ticks {
    /// All to come are above `last`.
    pub fn after(last: Tick) -> Ticks {
        Ticks { last, saved_ms: MOST_SAVED_MS, counted: Instant::now() }
    }

    /// # Errors
    /// How long to wait for the next one.
    pub fn next(&mut self, now_ms: u64) -> Result<Tick, Duration> {
        let passed = u64::try_from(self.counted.elapsed().as_millis()).unwrap_or(MOST_SAVED_MS);
        if passed > 0 {
            self.saved_ms = self.saved_ms.saturating_add(passed).min(MOST_SAVED_MS);
            self.counted = Instant::now();
        }
        if self.saved_ms < STEP_MS {
            return Err(Duration::from_millis(STEP_MS - self.saved_ms));
        }
        self.saved_ms -= STEP_MS;
        self.last = Tick((now_ms.saturating_add(1) & !1).max((self.last.0 & !1) + STEP_MS));
        Ok(self.last)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn ticks_are_even_rise_and_follow_the_clock() {
        let mut ticks = Ticks::after(Tick(101));
        assert_eq!(ticks.next(50), Ok(Tick(102)), "a clock that went back is not followed");
        assert_eq!(ticks.next(50), Ok(Tick(104)));
        assert_eq!(ticks.next(1001), Ok(Tick(1002)));
        assert_eq!(ticks.next(1001), Ok(Tick(1004)));
    }

    #[test]
    fn haste_is_bounded() {
        let mut ticks = Ticks::after(Tick(0));
        let given = (0..20_000).take_while(|_| ticks.next(0).is_ok()).count() as u64;
        assert!((MOST_SAVED_MS / STEP_MS..MOST_SAVED_MS).contains(&given), "{given}");
        let wait = ticks.next(0).unwrap_err();
        std::thread::sleep(wait + Duration::from_millis(1));
        assert!(ticks.next(0).is_ok());
    }

    #[test]
    fn times_round_to_ticks_that_see_the_same() {
        let at = Tick(1_700_000_000_002);
        assert_eq!(Tick::at_or_before(at.timestamp()), at);
        assert_eq!(Tick::at_or_before(Timestamp(at.timestamp().0 - 1)), Tick(at.0 - 2));
        assert_eq!(Tick::at_or_before(Timestamp::from_micros(at.micros() + 1999)), at);
        assert_eq!(first_millisecond(at.timestamp()), at.0);
        assert_eq!(first_millisecond(Timestamp(at.timestamp().0 + 1)), at.0 + 1);
        assert!(first_millisecond(Timestamp(u64::MAX)) > at.0);
    }
}
