//! `extract` and `date_part`: one field of a date, time or interval.
//!
//! `extract` gives numeric with the digits that the field has, `date_part` double precision. Fields of infinite values are infinite
//! if they grow with time, else NULL.

use super::memo::named;
use crate::args::{Arg, Call, Date, Float8, Kernel, Kind, Time, Timestamp, arg, strict1};
use crate::error::{PgError, PgResult};
use crate::registry::{Func, Registry};
use crate::sqlstate::SqlState;
use crate::types::{PgType, SqlType};
use crate::values::datetime::calendar::{
    Civil, UNIX_EPOCH_JULIAN, USECS_PER_DAY, USECS_PER_SEC, civil_from_days, day_of_year, is_finite_date, is_finite_timestamp, iso_week,
    iso_weekday, weekday,
};
use crate::values::datetime::fields::{Unit, Word, unit, word};
use crate::values::datetime::{TimeTz, TimeTzKind, epoch};
use crate::values::interval::{Interval, IntervalKind};
use crate::values::numeric::{Numeric, NumericKind};
use crate::values::timezone;
use std::sync::Arc;

/// A field by its name, as far as it is one of any type.
#[derive(Clone, Debug)]
pub struct Field {
    name: String,
    unit: Option<Unit>,
}

impl Field {
    /// Fields that `extract` knows; 22023 for others.
    fn parse(type_name: &str, text: &str) -> PgResult<Field> {
        let name = text.to_ascii_lowercase();
        let unit = match (unit(&name), word(&name)) {
            (Some(unit), _) | (None, Some(Word::Unit(unit))) => Some(unit),
            (None, Some(Word::Epoch)) => Some(Unit::Epoch),
            // Names of days and such stand for no field.
            (
                None,
                Some(Word::Now | Word::Today | Word::Tomorrow | Word::Yesterday | Word::Infinity | Word::MinusInfinity | Word::Zulu),
            ) => None,
            _ => return Err(not_recognized(&name, type_name)),
        };
        Ok(Field { name, unit })
    }

    fn unsupported(&self, type_name: &str) -> PgError {
        not_supported(&self.name, type_name)
    }

    /// The error of times and intervals, which know no names of days.
    fn not_of_time(&self, type_name: &str) -> PgError {
        if self.unit.is_some() { self.unsupported(type_name) } else { not_recognized(&self.name, type_name) }
    }
}

/// `unit "…" not recognized for type …`, 22023.
pub fn not_recognized(name: &str, type_name: &str) -> PgError {
    PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("unit \"{name}\" not recognized for type {type_name}"))
}

/// `unit "…" not supported for type …`, 0A000.
pub fn not_supported(name: &str, type_name: &str) -> PgError {
    PgError::unsupported(format!("unit \"{name}\" not supported for type {type_name}"))
}

/// The value of a field before it becomes a number of SQL.
#[derive(Clone, Copy, Debug)]
enum Part {
    Null,
    Infinity(bool),
    Int(i64),
    /// A number and how many of its last digits are behind the point.
    Scaled(i128, u16),
    /// The seconds of a minute in microseconds, and how many of their last digits are behind the point.
    Seconds(i64, u16),
    /// Seconds since 1970 of a timestamp.
    Epoch(i64),
    /// A Julian day and microseconds of it.
    Julian(i64, i64),
    /// Seconds of a time: minus its offset, and microseconds.
    TimeEpoch(i32, i64),
    /// Seconds of an interval.
    IntervalEpoch(Interval),
}

/// What a field becomes: numeric or double precision.
trait Target: Kind {
    fn of(part: Part) -> PgResult<Option<Self::Out>>;
}

impl Target for NumericKind {
    fn of(part: Part) -> PgResult<Option<Numeric>> {
        Ok(Some(match part {
            Part::Null => return Ok(None),
            Part::Infinity(negative) => Numeric::from_f64(if negative { f64::NEG_INFINITY } else { f64::INFINITY }),
            Part::Int(value) => Numeric::from_i64(value),
            Part::Scaled(mantissa, scale) => Numeric::from_i128(mantissa, scale),
            Part::Seconds(micros, scale) => Numeric::from_i128(micros.into(), scale),
            Part::Epoch(micros) => match fits_unix(micros) {
                Some(unix) => Numeric::from_i128(unix.into(), 6),
                // Beyond 64 bits PostgreSQL divides numbers of any size, which gives fewer digits.
                None => {
                    let unix = Numeric::from_i128(i128::from(micros) + i128::from(epoch::MICROS), 0);
                    unix.div(&Numeric::from_i64(USECS_PER_SEC))?.round(6)
                }
            },
            Part::Julian(day, micros) => Numeric::from_i64(day).add(&Numeric::from_i64(micros).div(&Numeric::from_i64(USECS_PER_DAY))?)?,
            Part::TimeEpoch(west, micros) => Numeric::from_i128(i128::from(west) * i128::from(USECS_PER_SEC) + i128::from(micros), 6),
            Part::IntervalEpoch(value) => {
                // A year has 365.25 days here, a month 30.
                let (years, months) = (i128::from(value.months / 12), i128::from(value.months % 12));
                let quarters = years * 1461 + months * 120 + i128::from(value.days) * 4;
                Numeric::from_i128(quarters * 21_600 * i128::from(USECS_PER_SEC) + i128::from(value.micros), 6)
            }
        }))
    }
}

impl Target for Float8 {
    fn of(part: Part) -> PgResult<Option<f64>> {
        Ok(Some(match part {
            Part::Null => return Ok(None),
            Part::Infinity(negative) => {
                if negative {
                    f64::NEG_INFINITY
                } else {
                    f64::INFINITY
                }
            }
            Part::Int(value) => value as f64,
            Part::Scaled(mantissa, scale) => mantissa as f64 / 10_f64.powi(scale.into()),
            // Whole seconds and the rest are added, which shows in the last digit.
            Part::Seconds(micros, scale) => {
                let unit = 10_f64.powi(6 - i32::from(scale));
                (micros / USECS_PER_SEC) as f64 * unit + (micros % USECS_PER_SEC) as f64 / 10_f64.powi(scale.into())
            }
            // Beyond 64 bits PostgreSQL adds what is rounded already.
            Part::Epoch(micros) => fits_unix(micros).map_or(micros as f64 + epoch::MICROS as f64, |sum| sum as f64) / 1e6,
            Part::Julian(day, micros) => day as f64 + micros as f64 / USECS_PER_DAY as f64,
            Part::TimeEpoch(west, micros) => micros as f64 / 1e6 + f64::from(west),
            Part::IntervalEpoch(value) => {
                // In the order of PostgreSQL's sums, which shows in the last digit.
                let (years, months) = (f64::from(value.months / 12), f64::from(value.months % 12));
                let time = value.micros as f64 / 1e6;
                time + 365.25 * 86_400.0 * years + 30.0 * 86_400.0 * months + 86_400.0 * f64::from(value.days)
            }
        }))
    }
}

/// Microseconds since 1970, as far as PostgreSQL computes them in 64 bits.
fn fits_unix(micros: i64) -> Option<i64> {
    micros.checked_add(epoch::MICROS).filter(|&unix| unix < i64::MAX)
}

/// Years as people count them: none is 0.
fn shown_year(year: i32) -> i64 {
    let year = i64::from(year);
    if year > 0 { year } else { year - 1 }
}

/// Fields of a date alone. `None` for a field that a date has not.
fn date_part(unit: Unit, civil: &Civil) -> Option<Part> {
    let year = i64::from(civil.year);
    Some(Part::Int(match unit {
        Unit::Day => civil.day.into(),
        Unit::Month => civil.month.into(),
        Unit::Quarter => i64::from((civil.month - 1) / 3 + 1),
        Unit::Week => iso_week(civil.days()).1.into(),
        Unit::Year => shown_year(civil.year),
        Unit::Decade => year.div_euclid(10),
        Unit::Century => {
            if year > 0 {
                (year + 99) / 100
            } else {
                -((99 - (year - 1)) / 100)
            }
        }
        Unit::Millennium => {
            if year > 0 {
                (year + 999) / 1000
            } else {
                -((999 - (year - 1)) / 1000)
            }
        }
        Unit::IsoYear => shown_year(iso_week(civil.days()).0),
        Unit::Dow => weekday(civil.days()).into(),
        Unit::IsoDow => iso_weekday(civil.days()).into(),
        Unit::Doy => day_of_year(civil.year, civil.month, civil.day).into(),
        _ => return None,
    }))
}

/// Fields of a time alone.
fn time_part(unit: Unit, civil: &Civil) -> Option<Part> {
    let micros = i64::from(civil.second) * USECS_PER_SEC + i64::from(civil.micros);
    Some(match unit {
        Unit::Microsecond => Part::Int(micros),
        Unit::Millisecond => Part::Seconds(micros, 3),
        Unit::Second => Part::Seconds(micros, 6),
        Unit::Minute => Part::Int(civil.minute.into()),
        Unit::Hour => Part::Int(civil.hour.into()),
        _ => return None,
    })
}

/// Fields of an offset in seconds east.
fn zone_part(unit: Unit, offset: i32) -> Option<Part> {
    Some(Part::Int(i64::from(match unit {
        Unit::Timezone => offset,
        Unit::TimezoneMinute => offset / 60 % 60,
        Unit::TimezoneHour => offset / 3600,
        _ => return None,
    })))
}

/// Fields of ±infinity. `None` for a field that timestamps have not.
fn infinite_part(unit: Unit, negative: bool) -> Part {
    match unit {
        Unit::Year | Unit::Decade | Unit::Century | Unit::Millennium | Unit::Julian | Unit::IsoYear | Unit::Epoch => {
            Part::Infinity(negative)
        }
        _ => Part::Null,
    }
}

fn of_timestamp(call: &Call, field: &Field, micros: i64, with_zone: bool) -> PgResult<Part> {
    let type_name = if with_zone { "timestamp with time zone" } else { "timestamp without time zone" };
    let unsupported = || field.unsupported(type_name);
    let unit = field.unit.ok_or_else(unsupported)?;
    if !is_finite_timestamp(micros) {
        return Ok(infinite_part(unit, micros < 0));
    }
    if unit == Unit::Epoch {
        return Ok(Part::Epoch(micros));
    }
    let offset = if with_zone { timezone::offset_at(&call.ctx.settings.time_zone, micros) } else { 0 };
    let civil = Civil::from_micros(micros, offset);
    if unit == Unit::Julian {
        return Ok(Part::Julian(civil.days() + UNIX_EPOCH_JULIAN, civil.time()));
    }
    date_part(unit, &civil)
        .or_else(|| time_part(unit, &civil))
        .or_else(|| if with_zone { zone_part(unit, offset) } else { None })
        .ok_or_else(unsupported)
}

fn of_date(_: &Call, field: &Field, days: i32) -> PgResult<Part> {
    let unsupported = || field.unsupported("date");
    let unit = field.unit.ok_or_else(unsupported)?;
    let (year, month, day) = civil_from_days(days.into());
    let civil = Civil { year, month, day, ..Civil::default() };
    let part = match unit {
        Unit::Epoch => Part::Int(i64::from(days) * 86_400),
        Unit::Julian => Part::Int(i64::from(days) + UNIX_EPOCH_JULIAN),
        _ => date_part(unit, &civil).ok_or_else(unsupported)?,
    };
    Ok(if is_finite_date(days) { part } else { infinite_part(unit, days < 0) })
}

fn of_time(_: &Call, field: &Field, micros: i64) -> PgResult<Part> {
    match field.unit {
        Some(Unit::Epoch) => Some(Part::Scaled(micros.into(), 6)),
        Some(unit) => time_part(unit, &Civil::default().with_time(micros)),
        None => None,
    }
    .ok_or_else(|| field.not_of_time("time without time zone"))
}

fn of_timetz(_: &Call, field: &Field, time: TimeTz) -> PgResult<Part> {
    match field.unit {
        Some(Unit::Epoch) => Some(Part::TimeEpoch(-time.offset, time.micros)),
        Some(unit) => time_part(unit, &Civil::default().with_time(time.micros)).or_else(|| zone_part(unit, time.offset)),
        None => None,
    }
    .ok_or_else(|| field.not_of_time("time with time zone"))
}

fn of_interval(_: &Call, field: &Field, value: Interval) -> PgResult<Part> {
    let unsupported = || field.not_of_time("interval");
    let unit = field.unit.ok_or_else(unsupported)?;
    let (years, months) = (i64::from(value.months / 12), i64::from(value.months % 12));
    let seconds = value.micros % (60 * USECS_PER_SEC);
    Ok(match unit {
        Unit::Microsecond => Part::Int(seconds),
        Unit::Millisecond => Part::Seconds(seconds, 3),
        Unit::Second => Part::Seconds(seconds, 6),
        Unit::Minute => Part::Int(value.micros / (60 * USECS_PER_SEC) % 60),
        Unit::Hour => Part::Int(value.micros / (3600 * USECS_PER_SEC)),
        Unit::Day => Part::Int(value.days.into()),
        Unit::Month => Part::Int(months),
        Unit::Quarter => Part::Int(months / 3 + 1),
        Unit::Year => Part::Int(years),
        Unit::Decade => Part::Int(years / 10),
        Unit::Century => Part::Int(years / 100),
        Unit::Millennium => Part::Int(years / 1000),
        Unit::Epoch => Part::IntervalEpoch(value),
        _ => return Err(unsupported()),
    })
}

/// `extract` or `date_part` for one type.
fn kernel<V: Kind, R: Target>(
    type_name: &'static str,
    part: impl for<'a> Fn(&Call, &Field, V::In<'a>) -> PgResult<Part> + Send + Sync + 'static,
) -> Kernel {
    named::<Field, V, R>(0, 1, move |_, name| Field::parse(type_name, name), move |call, field, value| R::of(part(call, field, value)?))
}

/// Registers the functions.
pub fn register(r: &mut Registry) {
    use PgType as T;
    let mut add = |name, arg: T, ret: T, kernel: Kernel| {
        let stable = arg == T::Timestamptz;
        let func = Func::scalar(name, &[T::Text, arg], ret, kernel, "A field of a date, time or interval.");
        r.add(if stable { func.stable() } else { func });
    };
    macro_rules! both {
        ($ty:expr, $kind:ty, $name:literal, $part:expr) => {
            add("extract", $ty, T::Numeric, kernel::<$kind, NumericKind>($name, $part));
            add("date_part", $ty, T::Float8, kernel::<$kind, Float8>($name, $part));
        };
    }
    both!(T::Timestamp, Timestamp, "timestamp without time zone", |call, field, t| of_timestamp(call, field, t, false));
    both!(T::Timestamptz, Timestamp, "timestamp with time zone", |call, field, t| of_timestamp(call, field, t, true));
    both!(T::Time, Time, "time without time zone", of_time);
    both!(T::Timetz, TimeTzKind, "time with time zone", of_timetz);
    both!(T::Interval, IntervalKind, "interval", of_interval);
    add("extract", T::Date, T::Numeric, kernel::<Date, NumericKind>("date", of_date));
    // date_part sees a date as the timestamp of its midnight, which it must have, whatever the field.
    let midnight = strict1::<Date, Timestamp>(|_, days| crate::casts::datetime::date_to_timestamp(days));
    let part = kernel::<Timestamp, Float8>("timestamp without time zone", |call, field, t| of_timestamp(call, field, t, false));
    let of_date: Kernel = Arc::new(move |call, args| {
        let (field, date) = (arg(args, 0)?, arg(args, 1)?);
        let rows = if date.constant { 1 } else { call.rows };
        let ret = SqlType::new(T::Timestamp);
        let to_midnight = Call { ctx: call.ctx, rows, arg_types: call.arg_types, ret: &ret, explicit: call.explicit };
        let array = midnight(&to_midnight, std::slice::from_ref(date))?;
        part(call, &[field.clone(), Arg { array, constant: date.constant }])
    });
    add("date_part", T::Date, T::Float8, of_date);
}
