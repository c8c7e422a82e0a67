//! From when timestamps count: 2000-01-01, as PostgreSQL's do, so that microseconds in 64 bits reach the year 294276.
//!
//! Dates, the calendar and the rules of time zones count from 1970-01-01, as Unix and Arrow do. This file alone knows the distance:
//! what has a timestamp and wants one of the others, or has one of them and wants a timestamp, asks here.

use super::calendar::{USECS_PER_DAY, USECS_PER_SEC, is_finite_timestamp, is_valid_timestamp};

/// Days from 1970-01-01 to 2000-01-01.
pub const DAYS: i64 = 10_957;
/// Microseconds from 1970-01-01 to 2000-01-01.
pub const MICROS: i64 = DAYS * USECS_PER_DAY;

/// The timestamp of microseconds since 1970; the least and the greatest number are the infinities in both. `None` for times that no
/// timestamp has.
#[must_use]
pub fn from_unix_micros(micros: i64) -> Option<i64> {
    if is_finite_timestamp(micros) { micros.checked_sub(MICROS).filter(|&t| is_valid_timestamp(t)) } else { Some(micros) }
}

/// Microseconds since 1970 of a timestamp, infinities likewise. `None` for the last 29 years, which have no such number.
#[must_use]
pub fn to_unix_micros(timestamp: i64) -> Option<i64> {
    if is_finite_timestamp(timestamp) { timestamp.checked_add(MICROS).filter(|&t| is_finite_timestamp(t)) } else { Some(timestamp) }
}

/// The timestamp of what a clock says, in microseconds since 1970.
#[must_use]
pub fn from_clock(micros: i64) -> i64 {
    micros.saturating_sub(MICROS)
}

/// Whole seconds since 1970 of a finite timestamp.
#[must_use]
pub fn unix_seconds(timestamp: i64) -> i64 {
    timestamp.div_euclid(USECS_PER_SEC) + MICROS / USECS_PER_SEC
}

/// Days since 1970-01-01 of a finite timestamp.
#[must_use]
pub fn unix_days(timestamp: i64) -> i64 {
    timestamp.div_euclid(USECS_PER_DAY) + DAYS
}

/// The midnight of days since 1970-01-01, however far.
#[must_use]
pub fn midnight(days: i64) -> i128 {
    (i128::from(days) - i128::from(DAYS)) * i128::from(USECS_PER_DAY)
}

#[cfg(test)]
mod tests {
    use super::super::calendar::{END_TIMESTAMP, MIN_TIMESTAMP, TIMESTAMP_INFINITY, TIMESTAMP_NEG_INFINITY};
    use super::*;

    #[test]
    fn what_both_have_is_the_same_time() {
        assert_eq!((from_unix_micros(0), to_unix_micros(0)), (Some(-946_684_800_000_000), Some(946_684_800_000_000)));
        for timestamp in [MIN_TIMESTAMP, -1, 0, i64::MAX - 1 - MICROS, TIMESTAMP_INFINITY, TIMESTAMP_NEG_INFINITY] {
            assert_eq!(to_unix_micros(timestamp).and_then(from_unix_micros), Some(timestamp));
        }
        for beyond in [i64::MAX - MICROS, END_TIMESTAMP - 1] {
            assert_eq!(to_unix_micros(beyond), None);
        }
        for none in [i64::MIN + 1, MIN_TIMESTAMP + MICROS - 1] {
            assert_eq!(from_unix_micros(none), None);
        }
        assert_eq!((unix_seconds(-1), unix_days(-1), midnight(10_956)), (946_684_799, 10_956, -86_400_000_000));
    }
}
