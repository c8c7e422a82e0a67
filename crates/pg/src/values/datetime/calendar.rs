//! The proleptic Gregorian calendar: days since 1970-01-01, broken-down local times, ISO weeks.
//!
//! Years are astronomical (0 is 1 BC). Everything here is total: arguments out of any range give far days, never a panic; the
//! limits of SQL's types are checked by [`check_date`] and [`check_timestamp`]. Next: [`super::parse`].

use super::epoch;
use crate::error::{PgError, PgResult};
use crate::sqlstate::SqlState;

pub const USECS_PER_SEC: i64 = 1_000_000;
pub const USECS_PER_MINUTE: i64 = 60 * USECS_PER_SEC;
pub const USECS_PER_HOUR: i64 = 3600 * USECS_PER_SEC;
pub const USECS_PER_DAY: i64 = 86_400 * USECS_PER_SEC;
pub const SECS_PER_DAY: i64 = 86_400;

/// The Julian day of 1970-01-01.
pub const UNIX_EPOCH_JULIAN: i64 = 2_440_588;

/// ±infinity of dates.
pub const DATE_INFINITY: i32 = i32::MAX;
pub const DATE_NEG_INFINITY: i32 = i32::MIN;
/// ±infinity of timestamps.
pub const TIMESTAMP_INFINITY: i64 = i64::MAX;
pub const TIMESTAMP_NEG_INFINITY: i64 = i64::MIN;

/// 4714-11-24 BC: the first day of dates and timestamps.
pub const MIN_DATE: i32 = -2_440_588;
/// 5874897-12-31.
pub const MAX_DATE: i32 = 2_145_042_905;
/// The first microsecond of [`MIN_DATE`].
pub const MIN_TIMESTAMP: i64 = (MIN_DATE as i64 - epoch::DAYS) * USECS_PER_DAY;
/// The first microsecond of 294277-01-01, which is no timestamp any more.
pub const END_TIMESTAMP: i64 = 9_223_371_331_200_000_000;

/// A local date and time by its parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Civil {
    pub year: i32,
    pub month: i32,
    pub day: i32,
    pub hour: i32,
    pub minute: i32,
    pub second: i32,
    pub micros: i32,
}

impl Civil {
    /// The local time of a timestamp, `offset` seconds east of it.
    #[must_use]
    pub fn from_micros(micros: i64, offset: i32) -> Civil {
        let mut days = epoch::unix_days(micros);
        let shifted = micros.rem_euclid(USECS_PER_DAY) + i64::from(offset) * USECS_PER_SEC;
        days += shifted.div_euclid(USECS_PER_DAY);
        let (year, month, day) = civil_from_days(days);
        Civil { year, month, day, ..Civil::default() }.with_time(shifted.rem_euclid(USECS_PER_DAY))
    }

    /// The same day at so many microseconds after midnight.
    #[must_use]
    pub fn with_time(self, time: i64) -> Civil {
        Civil {
            hour: (time / USECS_PER_HOUR) as i32,
            minute: (time / USECS_PER_MINUTE % 60) as i32,
            second: (time / USECS_PER_SEC % 60) as i32,
            micros: (time % USECS_PER_SEC) as i32,
            ..self
        }
    }

    /// Days since 1970-01-01 of the date.
    #[must_use]
    pub fn days(&self) -> i64 {
        days_from_civil(self.year, self.month, self.day)
    }

    /// Microseconds since midnight of the time.
    #[must_use]
    pub fn time(&self) -> i64 {
        i64::from(self.hour) * USECS_PER_HOUR
            + i64::from(self.minute) * USECS_PER_MINUTE
            + i64::from(self.second) * USECS_PER_SEC
            + i64::from(self.micros)
    }

    /// Whole seconds since 1970-01-01 as if the local time was UTC.
    #[must_use]
    pub fn seconds(&self) -> i64 {
        self.days().saturating_mul(SECS_PER_DAY).saturating_add(self.time().div_euclid(USECS_PER_SEC))
    }

    /// The timestamp of a local time `offset` seconds east; `None` outside what timestamps hold.
    #[must_use]
    pub fn micros_at(&self, offset: i32) -> Option<i64> {
        if !is_valid_julian(self.year, self.month) {
            return None;
        }
        let total = epoch::midnight(self.days()) + i128::from(self.time()) - i128::from(offset) * i128::from(USECS_PER_SEC);
        i64::try_from(total).ok().filter(|&t| is_valid_timestamp(t))
    }
}

/// Whether a year and month are among those that have Julian days from 0 to 2^31.
#[must_use]
pub fn is_valid_julian(year: i32, month: i32) -> bool {
    (year > -4713 || (year == -4713 && month >= 11)) && (year < 5_874_898 || (year == 5_874_898 && month < 6))
}

/// Whether these are microseconds of a finite timestamp.
#[must_use]
pub fn is_valid_timestamp(micros: i64) -> bool {
    (MIN_TIMESTAMP..END_TIMESTAMP).contains(&micros)
}

/// A finite date that fits, or 22008.
pub fn check_date(days: i64) -> PgResult<i32> {
    match i32::try_from(days) {
        Ok(days) if (MIN_DATE..=MAX_DATE).contains(&days) => Ok(days),
        _ => Err(PgError::new(SqlState::DATETIME_FIELD_OVERFLOW, "date out of range")),
    }
}

/// `timestamp out of range`, 22008.
#[must_use]
pub fn timestamp_out_of_range() -> PgError {
    PgError::new(SqlState::DATETIME_FIELD_OVERFLOW, "timestamp out of range")
}

/// A finite timestamp that fits, or 22008.
pub fn check_timestamp(micros: Option<i64>) -> PgResult<i64> {
    micros.filter(|&t| is_valid_timestamp(t)).ok_or_else(timestamp_out_of_range)
}

#[must_use]
pub fn is_finite_timestamp(micros: i64) -> bool {
    micros != TIMESTAMP_INFINITY && micros != TIMESTAMP_NEG_INFINITY
}

#[must_use]
pub fn is_finite_date(days: i32) -> bool {
    days != DATE_INFINITY && days != DATE_NEG_INFINITY
}

#[must_use]
pub fn is_leap_year(year: i32) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Days of a month, 1 to 12; 31 for any other number.
#[must_use]
pub fn days_in_month(year: i32, month: i32) -> i32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap_year(year) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Days since 1970-01-01. Months beyond 1 to 12 and days beyond the month's count on.
#[must_use]
pub fn days_from_civil(year: i32, month: i32, day: i32) -> i64 {
    let months = i64::from(year) * 12 + i64::from(month) - 1;
    // Years that start in March end with the leap day.
    let shifted = months - 2;
    let (year, month) = (shifted.div_euclid(12), shifted.rem_euclid(12));
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * month + 2) / 5;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468 + i64::from(day) - 1
}

/// Year, month and day of days since 1970-01-01.
#[must_use]
pub fn civil_from_days(days: i64) -> (i32, i32, i32) {
    let z = days.saturating_add(719_468);
    let (era, day_of_era) = (z.div_euclid(146_097), z.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year as i32, month as i32, day as i32)
}

/// 0 for Sunday to 6 for Saturday.
#[must_use]
pub fn weekday(days: i64) -> i32 {
    (days + 4).rem_euclid(7) as i32
}

/// 1 for Monday to 7 for Sunday.
#[must_use]
pub fn iso_weekday(days: i64) -> i32 {
    (days + 3).rem_euclid(7) as i32 + 1
}

/// Day of the year, from 1.
#[must_use]
pub fn day_of_year(year: i32, month: i32, day: i32) -> i32 {
    (days_from_civil(year, month, day) - days_from_civil(year, 1, 1)) as i32 + 1
}

/// ISO 8601 year and week (1 to 53) of a day.
#[must_use]
pub fn iso_week(days: i64) -> (i32, i32) {
    // The week belongs to the year of its Thursday.
    let thursday = days - i64::from(iso_weekday(days)) + 4;
    let (year, _, _) = civil_from_days(thursday);
    (year, ((thursday - days_from_civil(year, 1, 1)) / 7) as i32 + 1)
}

/// The Monday of an ISO week.
#[must_use]
pub fn iso_week_start(year: i32, week: i32) -> i64 {
    let fourth = days_from_civil(year, 1, 4);
    fourth - i64::from(iso_weekday(fourth)) + 1 + (i64::from(week) - 1) * 7
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn days_and_dates_are_inverse() {
        for days in (MIN_DATE as i64..=MAX_DATE as i64).step_by(7_654_321).chain(-800_000..-700_000).chain(0..100_000) {
            let (y, m, d) = civil_from_days(days);
            assert_eq!(days_from_civil(y, m, d), days);
            assert!((1..=12).contains(&m) && (1..=days_in_month(y, m)).contains(&d));
        }
        assert_eq!(civil_from_days(MIN_DATE.into()), (-4713, 11, 24));
        assert_eq!(civil_from_days(MAX_DATE.into()), (5_874_897, 12, 31));
        assert_eq!(days_from_civil(2000, 1, 1), epoch::DAYS);
        assert_eq!(epoch::midnight(days_from_civil(294_277, 1, 1)), i128::from(END_TIMESTAMP));
    }

    #[test]
    fn weeks_are_iso() {
        for (date, year, week, dow) in
            [((2021, 1, 3), 2020, 53, 7), ((2024, 2, 5), 2024, 6, 1), ((1999, 12, 31), 1999, 52, 5), ((2018, 12, 31), 2019, 1, 1)]
        {
            let days = days_from_civil(date.0, date.1, date.2);
            assert_eq!((iso_week(days), iso_weekday(days)), ((year, week), dow));
            assert_eq!(iso_week_start(year, week) + i64::from(dow) - 1, days);
        }
        assert_eq!(weekday(0), 4);
    }
}
