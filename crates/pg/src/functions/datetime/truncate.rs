//! `date_trunc` and `date_bin`.

use super::extract::{not_recognized, not_supported};
use super::memo::{Memo, named};
use crate::args::{Call, Kind, Reader, Text, Timestamp, arg, strict3};
use crate::error::{PgError, PgResult};
use crate::registry::{Func, Registry};
use crate::sqlstate::SqlState;
use crate::types::PgType;
use crate::values::datetime::calendar::{
    Civil, USECS_PER_DAY, USECS_PER_HOUR, USECS_PER_MINUTE, USECS_PER_SEC, check_timestamp, civil_from_days, is_finite_timestamp, iso_week,
    iso_week_start, timestamp_out_of_range,
};
use crate::values::datetime::fields::{Unit, unit};
use crate::values::interval::{Interval, IntervalKind, out_of_range};
use crate::values::timezone::ZoneSpec;
use std::sync::Arc;

/// A unit that values are cut to, with the name it was given by.
#[derive(Clone, Debug)]
struct Precision {
    name: String,
    /// `None` when the name is none of a unit: that is an error only for finite values.
    unit: Option<Unit>,
}

impl Precision {
    fn parse(_: &Call, text: &str) -> PgResult<Precision> {
        let name = text.to_ascii_lowercase();
        Ok(Precision { unit: unit(&name), name })
    }

    fn unit(&self, type_name: &str) -> PgResult<Unit> {
        self.unit.ok_or_else(|| not_recognized(&self.name, type_name))
    }
}

/// The unit's length when it is below a day.
fn short_unit(unit: Unit) -> Option<i64> {
    Some(match unit {
        Unit::Microsecond => 1,
        Unit::Millisecond => 1000,
        Unit::Second => USECS_PER_SEC,
        Unit::Minute => USECS_PER_MINUTE,
        Unit::Hour => USECS_PER_HOUR,
        _ => return None,
    })
}

/// The midnight that starts the unit of a day. `None` for what is no unit of days.
fn start_of(unit: Unit, civil: &Civil) -> Option<Civil> {
    let year = civil.year;
    // Centuries and millennia start with a year 1; before Christ they end with it.
    let first = |years: i32| {
        if year > 0 { (year + years - 1) / years * years - (years - 1) } else { -((years - 1 - (year - 1)) / years) * years + 1 }
    };
    let (year, month, day) = match unit {
        Unit::Day => (year, civil.month, civil.day),
        Unit::Week => {
            let (year, week) = iso_week(civil.days());
            civil_from_days(iso_week_start(year, week))
        }
        Unit::Month => (year, civil.month, 1),
        Unit::Quarter => (year, (civil.month - 1) / 3 * 3 + 1, 1),
        Unit::Year => (year, 1, 1),
        Unit::Decade => (year.div_euclid(10) * 10, 1, 1),
        Unit::Century => (first(100), 1, 1),
        Unit::Millennium => (first(1000), 1, 1),
        _ => return None,
    };
    Some(Civil { year, month, day, ..Civil::default() })
}

fn truncate_timestamp(precision: &Precision, micros: i64) -> PgResult<i64> {
    let type_name = "timestamp without time zone";
    if !is_finite_timestamp(micros) {
        return Ok(micros);
    }
    let unit = precision.unit(type_name)?;
    if let Some(length) = short_unit(unit) {
        return Ok(micros - micros.rem_euclid(length));
    }
    let start = start_of(unit, &Civil::from_micros(micros, 0)).ok_or_else(|| not_supported(&precision.name, type_name))?;
    check_timestamp(start.micros_at(0))
}

fn truncate_timestamptz(precision: &Precision, micros: i64, zone: &ZoneSpec) -> PgResult<i64> {
    let type_name = "timestamp with time zone";
    if !is_finite_timestamp(micros) {
        return Ok(micros);
    }
    let unit = precision.unit(type_name)?;
    let offset = zone.offset_at(micros);
    if let Some(length) = short_unit(unit) {
        let shift = i64::from(offset) * USECS_PER_SEC;
        // The local time is cut, without a new look at the zone.
        let cut = (micros.rem_euclid(USECS_PER_DAY) + shift).rem_euclid(length);
        return check_timestamp(micros.checked_sub(cut));
    }
    let start = start_of(unit, &Civil::from_micros(micros, offset)).ok_or_else(|| not_supported(&precision.name, type_name))?;
    check_timestamp(start.micros_at(zone.offset_for_local(start.seconds())))
}

fn truncate_interval(precision: &Precision, value: Interval) -> PgResult<Interval> {
    let type_name = "interval";
    let unit = precision.unit(type_name)?;
    let months = |months: i32| Ok(Interval { months: value.months / months * months, ..Interval::default() });
    match unit {
        Unit::Millennium => months(12_000),
        Unit::Century => months(1200),
        Unit::Decade => months(120),
        Unit::Year => months(12),
        Unit::Quarter => months(3),
        Unit::Month => months(1),
        Unit::Day => Ok(Interval { micros: 0, ..value }),
        Unit::Week => Err(not_supported(&precision.name, type_name).detail("Months usually have fractional weeks.")),
        _ => match short_unit(unit) {
            Some(length) => Ok(Interval { micros: value.micros / length * length, ..value }),
            None => Err(not_supported(&precision.name, type_name)),
        },
    }
}

/// The start of the bin of `stride` length that holds a timestamp; bins are counted from `origin`.
fn bin(stride: Interval, micros: i64, origin: i64) -> PgResult<i64> {
    let invalid = |what: &str| PgError::new(SqlState::DATETIME_FIELD_OVERFLOW, what);
    if !is_finite_timestamp(micros) {
        return Ok(micros);
    }
    if !is_finite_timestamp(origin) {
        return Err(invalid("origin out of range"));
    }
    if stride.months != 0 {
        return Err(PgError::unsupported("timestamps cannot be binned into intervals containing months or years"));
    }
    let length = i64::from(stride.days).checked_mul(USECS_PER_DAY).and_then(|days| days.checked_add(stride.micros));
    let length = length.ok_or_else(out_of_range)?;
    if length <= 0 {
        return Err(invalid("stride must be greater than zero"));
    }
    let since = micros.checked_sub(origin).ok_or_else(out_of_range)?;
    let start = micros.checked_sub(since.rem_euclid(length)).ok_or_else(timestamp_out_of_range)?;
    check_timestamp(Some(start))
}

/// Registers the functions.
pub fn register(r: &mut Registry) {
    use PgType as T;
    let doc = "Cuts a value to a unit.";
    r.scalar(
        "date_trunc",
        &[T::Text, T::Timestamp],
        T::Timestamp,
        named::<Precision, Timestamp, Timestamp>(0, 1, Precision::parse, |_, precision, t| truncate_timestamp(precision, t).map(Some)),
        doc,
    );
    r.scalar(
        "date_trunc",
        &[T::Text, T::Interval],
        T::Interval,
        named::<Precision, IntervalKind, IntervalKind>(0, 1, Precision::parse, |_, precision, i| truncate_interval(precision, i).map(Some)),
        doc,
    );
    let in_session = named::<(Precision, ZoneSpec), Timestamp, Timestamp>(
        0,
        1,
        |call, name| Ok((Precision::parse(call, name)?, ZoneSpec::Zone(call.ctx.settings.time_zone.clone()))),
        |_, (precision, zone), t| truncate_timestamptz(precision, t, zone).map(Some),
    );
    r.add(Func::scalar("date_trunc", &[T::Text, T::Timestamptz], T::Timestamptz, in_session, doc).stable());
    let in_zone: crate::args::Kernel = Arc::new(|call, args| {
        let units = Reader::<Text>::new(arg(args, 0)?)?;
        let values = Reader::<Timestamp>::new(arg(args, 1)?)?;
        let zones = Reader::<Text>::new(arg(args, 2)?)?;
        let (mut unit, mut zone) = (Memo::new(), Memo::new());
        let mut out = Timestamp::builder(call.rows);
        for row in 0..call.rows {
            let result = match (units.get(row)?, values.get(row)?, zones.get(row)?) {
                (Some(name), Some(value), Some(zone_name)) => {
                    if is_finite_timestamp(value) {
                        let unit = unit.get(name, |name| Precision::parse(call, name))?;
                        Some(truncate_timestamptz(
                            unit,
                            value,
                            zone.get(zone_name, |name| ZoneSpec::parse(name).map(ZoneSpec::without_abbreviation))?,
                        )?)
                    } else {
                        Some(value)
                    }
                }
                _ => None,
            };
            Timestamp::push(&mut out, result)?;
        }
        Timestamp::finish(out, call.ret)
    });
    r.add(Func::scalar("date_trunc", &[T::Text, T::Timestamptz, T::Text], T::Timestamptz, in_zone, doc).stable());
    for ty in [T::Timestamp, T::Timestamptz] {
        r.scalar(
            "date_bin",
            &[T::Interval, ty.clone(), ty.clone()],
            ty,
            strict3::<IntervalKind, Timestamp, Timestamp, Timestamp>(|_, stride, t, origin| bin(stride, t, origin)),
            "The start of the interval of a given length, counted from an origin, in which a timestamp lies.",
        );
    }
}
