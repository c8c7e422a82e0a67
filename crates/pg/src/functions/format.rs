//! `to_char`, `to_date`, `to_timestamp` and `to_number`: values by templates.
//!
//! A template is parsed once a batch. Reading order: [`template`] → [`date_out`] → [`date_in`]; [`number`] → [`number_in`].

use crate::args::{Date, Float4, Float8, Int4, Int8, Kernel, Kind, Text, Timestamp};
use crate::error::{PgError, PgResult};
use crate::functions::datetime::memo::named;
use crate::registry::{Func, Registry};
use crate::sqlstate::SqlState;
use crate::types::PgType;
use crate::values::datetime::calendar::{Civil, check_date, is_finite_timestamp, is_valid_julian};
use crate::values::datetime::{calendar, round_timestamp};
use crate::values::interval::IntervalKind;
use crate::values::numeric::NumericKind;
use crate::values::timezone;
use number::Template;

pub(crate) mod date_in;
mod date_out;
mod number;
mod number_in;
pub(crate) mod template;

/// A kernel of a value and a template of dates; no text for an empty template.
fn date_kernel<V: Kind>(
    f: impl for<'a> Fn(&crate::args::Call, &[template::Node], V::In<'a>, &mut String) -> PgResult<bool> + Send + Sync + 'static,
) -> Kernel {
    named::<Option<Vec<template::Node>>, V, Text>(
        1,
        0,
        |_, text| Ok((!text.is_empty()).then(|| template::parse(text))),
        move |call, nodes, value| {
            let Some(nodes) = nodes else { return Ok(None) };
            let mut out = String::new();
            Ok(f(call, nodes, value, &mut out)?.then_some(out))
        },
    )
}

/// A kernel of a number and a template; an empty text for an empty template.
fn number_kernel<V: Kind>(f: impl for<'a> Fn(&Template, V::In<'a>) -> PgResult<String> + Send + Sync + 'static) -> Kernel {
    named::<Template, V, Text>(
        1,
        0,
        |_, text| Template::parse(text),
        move |_, t, value| if t.patterns.is_empty() { Ok(Some(String::new())) } else { f(t, value).map(Some) },
    )
}

fn to_date(nodes: &[template::Node], text: &str) -> PgResult<i32> {
    let moment = date_in::read(nodes, text)?;
    let out = || PgError::new(SqlState::DATETIME_FIELD_OVERFLOW, format!("date out of range: \"{text}\""));
    if !is_valid_julian(moment.civil.year, moment.civil.month) {
        return Err(out());
    }
    check_date(moment.civil.days()).map_err(|_| out())
}

/// Registers the functions.
pub fn register(r: &mut Registry) {
    use PgType as T;
    let mut to_char = |ty: T, kernel: Kernel| {
        r.add(Func::scalar("to_char", &[ty, T::Text], T::Text, kernel, "A value by a template.").stable());
    };
    to_char(
        T::Timestamp,
        date_kernel::<Timestamp>(|_, nodes, t, out| {
            if is_finite_timestamp(t) {
                date_out::write(nodes, &date_out::Parts::of_civil(&Civil::from_micros(t, 0), 0, ""), out)?;
            }
            Ok(is_finite_timestamp(t))
        }),
    );
    to_char(
        T::Timestamptz,
        date_kernel::<Timestamp>(|call, nodes, t, out| {
            if is_finite_timestamp(t) {
                let (offset, _, zone) = timezone::offset_info(&call.ctx.settings.time_zone, t);
                date_out::write(nodes, &date_out::Parts::of_civil(&Civil::from_micros(t, offset), offset, &zone), out)?;
            }
            Ok(is_finite_timestamp(t))
        }),
    );
    to_char(
        T::Interval,
        date_kernel::<IntervalKind>(|_, nodes, value, out| {
            date_out::write(nodes, &date_out::Parts::of_interval(value), out)?;
            Ok(true)
        }),
    );
    to_char(T::Int4, number_kernel::<Int4>(|t, value| number::write_int(t, value.into(), true)));
    to_char(T::Int8, number_kernel::<Int8>(|t, value| number::write_int(t, value, false)));
    to_char(T::Float4, number_kernel::<Float4>(|t, value| number::write_float(t, value.into(), number::SIGNIFICANT_FLOAT4)));
    to_char(T::Float8, number_kernel::<Float8>(|t, value| number::write_float(t, value, number::SIGNIFICANT_FLOAT8)));
    to_char(T::Numeric, number_kernel::<NumericKind>(|t, value| number::write_numeric(t, &value)));
    let doc = "A number read by a template.";
    let kernel = named::<Option<Template>, Text, NumericKind>(
        1,
        0,
        |_, text| (!text.is_empty()).then(|| Template::parse(text)).transpose(),
        |_, t, text| t.as_ref().map(|t| number_in::read(t, text)).transpose(),
    );
    r.add(Func::scalar("to_number", &[T::Text, T::Text], T::Numeric, kernel, doc).stable());
    let parse = |_: &crate::args::Call, text: &str| Ok(template::parse(text));
    let kernel = named::<Vec<template::Node>, Text, Date>(1, 0, parse, |_, nodes, text| to_date(nodes, text).map(Some));
    r.add(Func::scalar("to_date", &[T::Text, T::Text], T::Date, kernel, "A date read by a template.").stable());
    let kernel = named::<Vec<template::Node>, Text, Timestamp>(1, 0, parse, |call, nodes, text| {
        let moment = date_in::read(nodes, text)?;
        let offset = moment.offset.unwrap_or_else(|| timezone::offset_for_local(&call.ctx.settings.time_zone, moment.civil.seconds()));
        let micros = moment.civil.micros_at(offset).ok_or_else(calendar::timestamp_out_of_range)?;
        Ok(Some(round_timestamp(micros, moment.precision.unwrap_or(-1))))
    });
    r.add(Func::scalar("to_timestamp", &[T::Text, T::Text], T::Timestamptz, kernel, "A time read by a template.").stable());
}

#[cfg(test)]
mod tests;
