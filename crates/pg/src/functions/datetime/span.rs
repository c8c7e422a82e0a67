//! Intervals between and of times: `age`, `justify_…`, `isfinite`, `overlaps`; and the functions that casts are known by.

use crate::args::{Bool, Call, Date, Kernel, Kind, Time, Timestamp, lax4, strict1, strict2};
use crate::casts::datetime::{date_to_timestamp, timestamptz_to_date};
use crate::error::PgResult;
use crate::operators::datetime::{add_interval_timestamp, add_interval_timestamptz};
use crate::registry::{Func, Registry};
use crate::types::PgType;
use crate::values::datetime::calendar::{
    Civil, TIMESTAMP_NEG_INFINITY, USECS_PER_DAY, days_in_month, is_finite_date, is_finite_timestamp, timestamp_out_of_range,
};
use crate::values::datetime::{TimeTz, TimeTzKind, from_session_local};
use crate::values::interval::{Interval, IntervalKind, out_of_range};
use crate::values::timezone;

/// The difference of two local times in years, months, days and time, as a calendar shows it. `negative` says that the first is the
/// earlier.
fn difference(a: &Civil, b: &Civil, negative: bool) -> Interval {
    let sign = if negative { -1 } else { 1 };
    let mut months = ((a.year - b.year) * 12 + a.month - b.month) * sign;
    let mut days = (a.day - b.day) * sign;
    let mut micros = (a.time() - b.time()) * i64::from(sign);
    if micros < 0 {
        micros += USECS_PER_DAY;
        days -= 1;
    }
    if days < 0 {
        // Days are borrowed from the month of the earlier time.
        let from = if negative { a } else { b };
        days += days_in_month(from.year, from.month);
        months -= 1;
    }
    Interval { months: months * sign, days: days * sign, micros: micros * i64::from(sign) }
}

/// A local time; infinity has that of its number, as in PostgreSQL, whose calendar -infinity is before.
fn local_time(t: i64, offset: i32) -> PgResult<Civil> {
    if t == TIMESTAMP_NEG_INFINITY { Err(timestamp_out_of_range()) } else { Ok(Civil::from_micros(t, offset)) }
}

fn age(a: i64, b: i64) -> PgResult<Interval> {
    Ok(difference(&local_time(a, 0)?, &local_time(b, 0)?, a < b))
}

fn age_in_zone(call: &Call, a: i64, b: i64) -> PgResult<Interval> {
    let zone = &call.ctx.settings.time_zone;
    let local = |t| local_time(t, timezone::offset_at(zone, t));
    Ok(difference(&local(a)?, &local(b)?, a < b))
}

/// Today's midnight, from which `age` with one argument counts.
fn today(call: &Call) -> PgResult<i64> {
    date_to_timestamp(timestamptz_to_date(call.ctx, call.ctx.transaction_time))
}

/// SQL's `(a, b) OVERLAPS (c, d)`, ends known only in part.
fn overlaps<T: PartialOrd>(a: Option<T>, b: Option<T>, c: Option<T>, d: Option<T>) -> Option<bool> {
    // The smaller end first; one that is NULL second.
    let sorted = |a: Option<T>, b: Option<T>| match (a, b) {
        (None, b) => b.map(|b| (b, None)),
        (Some(a), Some(b)) if a > b => Some((b, Some(a))),
        (Some(a), b) => Some((a, b)),
    };
    let ((s1, e1), (s2, e2)) = (sorted(a, b)?, sorted(c, d)?);
    let (late, late_end, early_end) = if s1 > s2 {
        (s1, e1, e2)
    } else if s1 < s2 {
        (s2, e2, e1)
    } else {
        return (e1.is_some() && e2.is_some()).then_some(true);
    };
    match (early_end, late_end) {
        (None, _) => None,
        (Some(early), _) if late < early => Some(true),
        (Some(_), None) => None,
        (Some(_), Some(_)) => Some(false),
    }
}

/// The four signatures of `overlaps` on one type, whose order is that of a key; the end of a span may be its length.
fn register_overlaps<V, K>(
    r: &mut Registry,
    ty: &PgType,
    key: impl for<'a> Fn(V::In<'a>) -> K + Copy + Send + Sync + 'static,
    add: impl for<'a> Fn(&Call, V::In<'a>, Interval) -> PgResult<V::Out> + Copy + Send + Sync + 'static,
    out_key: impl Fn(V::Out) -> K + Copy + Send + Sync + 'static,
) where
    V: Kind,
    for<'a> V::In<'a>: Copy,
    K: PartialOrd,
{
    use PgType as T;
    let stable = *ty == T::Timestamptz;
    let doc = "Whether two spans of time have a time in common.";
    let mut register = |second: T, fourth: T, kernel: Kernel| {
        let func = Func::scalar("overlaps", &[ty.clone(), second, ty.clone(), fourth], T::Bool, kernel, doc).lax();
        r.add(if stable { func.stable() } else { func });
    };
    let end = move |call: &Call, start: Option<V::In<'_>>, length: Option<Interval>| match (start, length) {
        (Some(start), Some(length)) => add(call, start, length).map(|end| Some(out_key(end))),
        _ => Ok(None),
    };
    register(
        ty.clone(),
        ty.clone(),
        lax4::<V, V, V, V, Bool>(move |_, a, b, c, d| Ok(overlaps(a.map(key), b.map(key), c.map(key), d.map(key)))),
    );
    register(
        T::Interval,
        T::Interval,
        lax4::<V, IntervalKind, V, IntervalKind, Bool>(move |call, a, b, c, d| {
            Ok(overlaps(a.map(key), end(call, a, b)?, c.map(key), end(call, c, d)?))
        }),
    );
    register(
        ty.clone(),
        T::Interval,
        lax4::<V, V, V, IntervalKind, Bool>(move |call, a, b, c, d| Ok(overlaps(a.map(key), b.map(key), c.map(key), end(call, c, d)?))),
    );
    register(
        T::Interval,
        ty.clone(),
        lax4::<V, IntervalKind, V, V, Bool>(move |call, a, b, c, d| Ok(overlaps(a.map(key), end(call, a, b)?, c.map(key), d.map(key)))),
    );
}

/// Registers the functions.
pub fn register(r: &mut Registry) {
    use PgType as T;
    let doc = "The time between two times, in years, months and days.";
    r.scalar("age", &[T::Timestamp, T::Timestamp], T::Interval, strict2::<Timestamp, Timestamp, IntervalKind>(|_, a, b| age(a, b)), doc);
    r.add(
        Func::scalar(
            "age",
            &[T::Timestamptz, T::Timestamptz],
            T::Interval,
            strict2::<Timestamp, Timestamp, IntervalKind>(age_in_zone),
            doc,
        )
        .stable(),
    );
    let doc = "The time from a time to today.";
    let local = strict1::<Timestamp, IntervalKind>(|call, t| age(today(call)?, t));
    r.add(Func::scalar("age", &[T::Timestamp], T::Interval, local, doc).stable());
    let zoned = strict1::<Timestamp, IntervalKind>(|call, t| age_in_zone(call, from_session_local(call.ctx, today(call)?)?, t));
    r.add(Func::scalar("age", &[T::Timestamptz], T::Interval, zoned, doc).stable());

    type Justify = fn(Interval) -> Option<Interval>;
    let justify: [(&str, Justify, &str); 3] = [
        ("justify_hours", Interval::justify_hours, "24 hours of an interval as days."),
        ("justify_days", Interval::justify_days, "30 days of an interval as months."),
        ("justify_interval", Interval::justify, "24 hours as days, 30 days as months, and all parts of one sign."),
    ];
    for (name, f, doc) in justify {
        let kernel = strict1::<IntervalKind, IntervalKind>(move |_, i| f(i).ok_or_else(out_of_range));
        r.scalar(name, &[T::Interval], T::Interval, kernel, doc);
    }

    let doc = "Whether a value is not infinite.";
    r.scalar("isfinite", &[T::Date], T::Bool, strict1::<Date, Bool>(|_, d| Ok(is_finite_date(d))), doc);
    for ty in [T::Timestamp, T::Timestamptz] {
        r.scalar("isfinite", &[ty], T::Bool, strict1::<Timestamp, Bool>(|_, t| Ok(is_finite_timestamp(t))), doc);
    }
    r.scalar("isfinite", &[T::Interval], T::Bool, strict1::<IntervalKind, Bool>(|_, _| Ok(true)), doc);

    let within_day = |t: i64, i: Interval| (t + i.micros % USECS_PER_DAY).rem_euclid(USECS_PER_DAY);
    register_overlaps::<Timestamp, i64>(r, &T::Timestamp, |t| t, |_, t, i| add_interval_timestamp(t, i), |t| t);
    register_overlaps::<Timestamp, i64>(
        r,
        &T::Timestamptz,
        |t| t,
        |call, t, i| add_interval_timestamptz(t, i, &call.ctx.settings.time_zone),
        |t| t,
    );
    register_overlaps::<Time, i64>(r, &T::Time, |t| t, move |_, t, i| Ok(within_day(t, i)), |t| t);
    let order = |t: TimeTz| (t.utc(), -t.offset);
    // PostgreSQL has this only with both ends given.
    let kernel = lax4::<TimeTzKind, TimeTzKind, TimeTzKind, TimeTzKind, Bool>(move |_, a, b, c, d| {
        Ok(overlaps(a.map(order), b.map(order), c.map(order), d.map(order)))
    });
    let args = [T::Timetz, T::Timetz, T::Timetz, T::Timetz];
    r.add(Func::scalar("overlaps", &args, T::Bool, kernel, "Whether two spans of time have a time in common.").lax());
    register_casts(r);
}

/// Casts by the names of their functions: `date(x)`, `timestamptz(x)`, `timestamp(d, t)`.
fn register_casts(r: &mut Registry) {
    use PgType as T;
    let casts = [
        ("date", T::Timestamp, T::Date),
        ("date", T::Timestamptz, T::Date),
        ("interval", T::Time, T::Interval),
        ("time", T::Interval, T::Time),
        ("time", T::Timestamp, T::Time),
        ("time", T::Timestamptz, T::Time),
        ("time", T::Timetz, T::Time),
        ("timestamp", T::Date, T::Timestamp),
        ("timestamp", T::Timestamptz, T::Timestamp),
        ("timestamptz", T::Date, T::Timestamptz),
        ("timestamptz", T::Timestamp, T::Timestamptz),
        ("timetz", T::Time, T::Timetz),
        ("timetz", T::Timestamptz, T::Timetz),
    ];
    for (name, from, to) in casts {
        let kernel = match r.cast(&from, &to).map(|cast| cast.kind.clone()) {
            Some(crate::registry::CastKind::Kernel(kernel)) => kernel,
            _ => continue,
        };
        let zoned = [&from, &to].iter().any(|ty| matches!(ty, T::Timestamptz | T::Timetz));
        let func = Func::scalar(name, &[from], to, kernel, "The cast of this name.");
        r.add(if zoned { func.stable() } else { func });
    }
    let pairs = [("timestamp", T::Time, T::Timestamp), ("timestamptz", T::Timetz, T::Timestamptz)];
    for (name, time, ret) in pairs {
        let kernel = r.operators("+").iter().find(|o| o.left == Some(T::Date) && o.right == time).map(|o| o.kind.clone());
        if let Some(crate::registry::OperKind::Kernel(kernel)) = kernel {
            r.scalar(name, &[T::Date, time], ret, kernel, "A date and a time as one.");
        }
    }
    let kernel = strict2::<Date, Time, Timestamp>(|call, d, t| {
        let local = date_to_timestamp(d)?;
        let local = if is_finite_timestamp(local) { local.checked_add(t).ok_or_else(timestamp_out_of_range)? } else { local };
        from_session_local(call.ctx, local)
    });
    r.add(Func::scalar("timestamptz", &[T::Date, T::Time], T::Timestamptz, kernel, "A date and a time as one.").stable());
}
