//! `timezone`: what `AT TIME ZONE` calls.

use super::memo::{Memo, named};
use crate::args::{Kernel, Kind, Reader, Text, Timestamp, arg, strict2};
use crate::error::PgResult;
use crate::registry::{Func, Registry};
use crate::types::PgType;
use crate::values::datetime::calendar::{USECS_PER_DAY, USECS_PER_SEC, check_timestamp, is_finite_timestamp};
use crate::values::datetime::epoch::unix_seconds;
use crate::values::datetime::{TimeTz, TimeTzKind};
use crate::values::interval::IntervalKind;
use crate::values::timezone::ZoneSpec;
use std::sync::Arc;

/// The point in time of a local timestamp of a zone.
fn from_local(zone: &ZoneSpec, micros: i64) -> PgResult<i64> {
    if !is_finite_timestamp(micros) {
        return Ok(micros);
    }
    let offset = zone.offset_for_local(unix_seconds(micros));
    check_timestamp(micros.checked_sub(i64::from(offset) * USECS_PER_SEC))
}

/// The local timestamp of a point in time in a zone.
fn to_local(zone: &ZoneSpec, micros: i64) -> PgResult<i64> {
    if !is_finite_timestamp(micros) {
        return Ok(micros);
    }
    check_timestamp(micros.checked_add(i64::from(zone.offset_at(micros)) * USECS_PER_SEC))
}

/// A kernel of a zone's name and a timestamp. An infinite timestamp is in no zone, so that its name does not matter.
fn zone_kernel(f: fn(&ZoneSpec, i64) -> PgResult<i64>) -> Kernel {
    Arc::new(move |call, args| {
        let names = Reader::<Text>::new(arg(args, 0)?)?;
        let values = Reader::<Timestamp>::new(arg(args, 1)?)?;
        let mut memo = Memo::new();
        let mut out = Timestamp::builder(call.rows);
        for row in 0..call.rows {
            let result = match (names.get(row)?, values.get(row)?) {
                (Some(_), Some(value)) if !is_finite_timestamp(value) => Some(value),
                (Some(name), Some(value)) => Some(f(memo.get(name, ZoneSpec::parse)?, value)?),
                _ => None,
            };
            Timestamp::push(&mut out, result)?;
        }
        Timestamp::finish(out, call.ret)
    })
}

/// The same time with the offset that a zone has at a point in time.
fn move_timetz(zone: &ZoneSpec, time: TimeTz, at: i64) -> TimeTz {
    let offset = zone.offset_at(at);
    TimeTz { micros: (time.utc() + i64::from(offset) * USECS_PER_SEC).rem_euclid(USECS_PER_DAY), offset }
}

/// Registers the functions.
pub fn register(r: &mut Registry) {
    use PgType as T;
    let doc = "A time in another zone.";
    let find = |_: &crate::args::Call, name: &str| ZoneSpec::parse(name);
    r.scalar("timezone", &[T::Text, T::Timestamp], T::Timestamptz, zone_kernel(from_local), doc);
    r.scalar("timezone", &[T::Text, T::Timestamptz], T::Timestamp, zone_kernel(to_local), doc);
    let of_time =
        named::<ZoneSpec, TimeTzKind, TimeTzKind>(0, 1, find, |call, zone, t| Ok(Some(move_timetz(zone, t, call.ctx.transaction_time))));
    r.add(Func::scalar("timezone", &[T::Text, T::Timetz], T::Timetz, of_time, doc).stable());
    r.scalar(
        "timezone",
        &[T::Interval, T::Timestamp],
        T::Timestamptz,
        strict2::<IntervalKind, Timestamp, Timestamp>(|_, i, t| {
            if matches!(t, i64::MIN | i64::MAX) { Ok(t) } else { from_local(&ZoneSpec::from_interval(i)?, t) }
        }),
        doc,
    );
    r.scalar(
        "timezone",
        &[T::Interval, T::Timestamptz],
        T::Timestamp,
        strict2::<IntervalKind, Timestamp, Timestamp>(|_, i, t| {
            if matches!(t, i64::MIN | i64::MAX) { Ok(t) } else { to_local(&ZoneSpec::from_interval(i)?, t) }
        }),
        doc,
    );
    r.scalar(
        "timezone",
        &[T::Interval, T::Timetz],
        T::Timetz,
        strict2::<IntervalKind, TimeTzKind, TimeTzKind>(|_, i, t| Ok(move_timetz(&ZoneSpec::from_interval(i)?, t, 0))),
        doc,
    );
}
