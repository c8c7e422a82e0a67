//! Values of interval: months, days and microseconds; text in four styles, binary, modifiers, order.
//!
//! In Arrow an interval is [`IntervalMonthDayNano`], whose last part counts microseconds here, as PostgreSQL does: nanoseconds would end
//! after 292 years. [`Interval::from_arrow`] and [`Interval::to_arrow`] alone know that; other programs get nanoseconds (`engine/embed`).
//! Equality and order are those of [`Interval::sort_value`]: 30 days a month, 24 hours a day. Next: [`parse`] the text, [`text`].

use crate::args::Kind;
use crate::context::EvalContext;
use crate::error::{PgError, PgResult};
use crate::settings::IntervalStyle;
use crate::sqlstate::SqlState;
use crate::types::SqlType;
use crate::values::datetime::calendar::{USECS_PER_DAY, USECS_PER_HOUR, USECS_PER_MINUTE};
use crate::values::{ValueBuilder, ValueWriter, fixed_width, short_binary};
use arrow::array::{Array, ArrayRef, AsArray, IntervalMonthDayNanoArray, IntervalMonthDayNanoBuilder, PrimitiveArray};
use arrow::datatypes::{IntervalMonthDayNano, IntervalMonthDayNanoType};
use std::fmt;
use std::sync::Arc;

mod read;
pub mod text;

pub use read::parse;

/// An interval by its three parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Interval {
    pub months: i32,
    pub days: i32,
    pub micros: i64,
}

/// `interval out of range`, 22008.
#[must_use]
pub fn out_of_range() -> PgError {
    PgError::new(SqlState::DATETIME_FIELD_OVERFLOW, "interval out of range")
}

impl Interval {
    #[must_use]
    pub fn from_arrow(value: IntervalMonthDayNano) -> Interval {
        Interval { months: value.months, days: value.days, micros: value.nanoseconds }
    }

    /// The Arrow form in which columns travel.
    #[must_use]
    pub fn to_arrow(self) -> IntervalMonthDayNano {
        IntervalMonthDayNano { months: self.months, days: self.days, nanoseconds: self.micros }
    }

    /// Microseconds with months of 30 days and days of 24 hours: what intervals compare by.
    #[must_use]
    pub fn sort_value(self) -> i128 {
        (i128::from(self.months) * 30 + i128::from(self.days)) * i128::from(USECS_PER_DAY) + i128::from(self.micros)
    }

    /// Days of 24 hours out of the time, so that both have one sign.
    #[must_use]
    pub fn justify_hours(self) -> Option<Interval> {
        let mut days = self.days.checked_add(i32::try_from(self.micros / USECS_PER_DAY).ok()?)?;
        let mut micros = self.micros % USECS_PER_DAY;
        if days > 0 && micros < 0 {
            micros += USECS_PER_DAY;
            days -= 1;
        } else if days < 0 && micros > 0 {
            micros -= USECS_PER_DAY;
            days += 1;
        }
        Some(Interval { days, micros, ..self })
    }

    /// Months of 30 days out of the days, so that both have one sign.
    #[must_use]
    pub fn justify_days(self) -> Option<Interval> {
        let mut months = self.months.checked_add(self.days / 30)?;
        let mut days = self.days % 30;
        if months > 0 && days < 0 {
            days += 30;
            months -= 1;
        } else if months < 0 && days > 0 {
            days -= 30;
            months += 1;
        }
        Some(Interval { months, days, ..self })
    }

    /// Both, so that all parts have one sign.
    #[must_use]
    pub fn justify(self) -> Option<Interval> {
        let mut value = self;
        // Days to months first where the signs agree, so that fewer values overflow.
        if (value.days > 0 && value.micros > 0) || (value.days < 0 && value.micros < 0) {
            value.months = value.months.checked_add(value.days / 30)?;
            value.days %= 30;
        }
        value.days = value.days.checked_add(i32::try_from(value.micros / USECS_PER_DAY).ok()?)?;
        value.micros %= USECS_PER_DAY;
        value.months = value.months.checked_add(value.days / 30)?;
        value.days %= 30;
        if value.months > 0 && (value.days < 0 || (value.days == 0 && value.micros < 0)) {
            value.days += 30;
            value.months -= 1;
        } else if value.months < 0 && (value.days > 0 || (value.days == 0 && value.micros > 0)) {
            value.days -= 30;
            value.months += 1;
        }
        if value.days > 0 && value.micros < 0 {
            value.micros += USECS_PER_DAY;
            value.days -= 1;
        } else if value.days < 0 && value.micros > 0 {
            value.micros -= USECS_PER_DAY;
            value.days += 1;
        }
        Some(value)
    }

    #[must_use]
    pub fn checked_add(self, other: Interval) -> Option<Interval> {
        Some(Interval {
            months: self.months.checked_add(other.months)?,
            days: self.days.checked_add(other.days)?,
            micros: self.micros.checked_add(other.micros)?,
        })
    }

    #[must_use]
    pub fn checked_sub(self, other: Interval) -> Option<Interval> {
        Some(Interval {
            months: self.months.checked_sub(other.months)?,
            days: self.days.checked_sub(other.days)?,
            micros: self.micros.checked_sub(other.micros)?,
        })
    }

    #[must_use]
    pub fn checked_neg(self) -> Option<Interval> {
        Interval::default().checked_sub(self)
    }

    /// Each part times a factor; what is left of a part goes to the smaller ones.
    pub fn multiply(self, factor: f64) -> PgResult<Interval> {
        self.scaled(|part| part * factor)
    }

    /// Each part by a divisor; 22012 when it is 0.
    pub fn divide(self, divisor: f64) -> PgResult<Interval> {
        if divisor == 0.0 {
            return Err(PgError::division_by_zero());
        }
        self.scaled(|part| part / divisor)
    }

    fn scaled(self, scale: impl Fn(f64) -> f64) -> PgResult<Interval> {
        const SECS_PER_DAY: f64 = 86_400.0;
        // To whole microseconds, against noise of floats.
        let settle = |x: f64| (x * 1e6).round_ties_even() / 1e6;
        let whole = |x: f64| {
            if x.is_nan() || x > f64::from(i32::MAX) || x < f64::from(i32::MIN) { Err(out_of_range()) } else { Ok(x as i32) }
        };
        let (months, days) = (scale(f64::from(self.months)), scale(f64::from(self.days)));
        let mut result = Interval { months: whole(months)?, days: whole(days)?, micros: 0 };
        let days_left = settle((months - f64::from(result.months)) * 30.0);
        let mut seconds = settle((days - f64::from(result.days) + days_left - days_left.trunc()) * SECS_PER_DAY);
        let mut more_days = days_left as i32;
        if seconds.abs() >= SECS_PER_DAY {
            let extra = (seconds / SECS_PER_DAY) as i32;
            more_days += extra;
            seconds -= f64::from(extra) * SECS_PER_DAY;
        }
        result.days = result.days.checked_add(more_days).ok_or_else(out_of_range)?;
        let micros = (scale(self.micros as f64) + seconds * 1e6).round_ties_even();
        if micros.is_nan() || micros < i64::MIN as f64 || micros >= i64::MAX as f64 {
            return Err(out_of_range());
        }
        result.micros = micros as i64;
        Ok(result)
    }
}

impl fmt::Display for Interval {
    /// The `postgres` style.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Vec::new();
        text::push(&mut out, *self, IntervalStyle::Postgres);
        f.write_str(&String::from_utf8_lossy(&out))
    }
}

/// What intervals are sorted, grouped and joined by.
#[must_use]
pub fn interval_sort_value(value: IntervalMonthDayNano) -> i128 {
    Interval::from_arrow(value).sort_value()
}

/// interval as kernels read and write it.
#[derive(Debug)]
pub struct IntervalKind;
impl Kind for IntervalKind {
    type In<'a> = Interval;
    type Out = Interval;
    type Column = IntervalMonthDayNanoArray;
    type Builder = IntervalMonthDayNanoBuilder;
    fn open(array: &ArrayRef) -> PgResult<&IntervalMonthDayNanoArray> {
        array.as_primitive_opt::<IntervalMonthDayNanoType>().ok_or_else(|| wrong(array.as_ref()))
    }
    #[inline]
    fn get(column: &IntervalMonthDayNanoArray, row: usize) -> PgResult<Interval> {
        Ok(Interval::from_arrow(column.value(row)))
    }
    fn builder(rows: usize) -> IntervalMonthDayNanoBuilder {
        IntervalMonthDayNanoBuilder::with_capacity(rows)
    }
    fn push(builder: &mut IntervalMonthDayNanoBuilder, value: Option<Interval>) -> PgResult<()> {
        match value {
            Some(value) => builder.append_value(value.to_arrow()),
            None => builder.append_null(),
        }
        Ok(())
    }
    fn finish(mut builder: IntervalMonthDayNanoBuilder, _: &SqlType) -> PgResult<ArrayRef> {
        Ok(Arc::new(builder.finish()))
    }
}

fn wrong(array: &dyn Array) -> PgError {
    PgError::internal(format!("a column of interval came as {}", array.data_type()))
}

// ---- modifiers

/// Bits of a modifier's fields, where PostgreSQL has them.
pub const MONTH: i32 = 1 << 1;
pub const YEAR: i32 = 1 << 2;
pub const DAY: i32 = 1 << 3;
pub const HOUR: i32 = 1 << 10;
pub const MINUTE: i32 = 1 << 11;
pub const SECOND: i32 = 1 << 12;
const ALL_FIELDS: i32 = 0x7fff;
const ALL_DIGITS: i32 = 0xffff;

const FIELD_NAMES: [(i32, &str); 13] = [
    (YEAR, "year"),
    (MONTH, "month"),
    (DAY, "day"),
    (HOUR, "hour"),
    (MINUTE, "minute"),
    (SECOND, "second"),
    (YEAR | MONTH, "year to month"),
    (DAY | HOUR, "day to hour"),
    (DAY | HOUR | MINUTE, "day to minute"),
    (DAY | HOUR | MINUTE | SECOND, "day to second"),
    (HOUR | MINUTE, "hour to minute"),
    (HOUR | MINUTE | SECOND, "hour to second"),
    (MINUTE | SECOND, "minute to second"),
];

/// The modifier of `interval FIELDS (precision)`: fields as in `day to second`, empty for all; `None` for no such fields. A precision
/// above 6 counts as 6.
#[must_use]
pub fn typmod_of(fields: &str, precision: Option<i32>) -> Option<i32> {
    let fields = fields.trim().to_ascii_lowercase();
    let range = if fields.is_empty() { ALL_FIELDS } else { FIELD_NAMES.iter().find(|(_, name)| *name == fields)?.0 };
    if range == ALL_FIELDS && precision.is_none() {
        return Some(-1);
    }
    Some((range << 16) | precision.map_or(ALL_DIGITS, |p| p.clamp(0, 6)))
}

/// The fields of a modifier; `None` for all.
fn range_of(typmod: i32) -> Option<i32> {
    let range = (typmod >> 16) & ALL_FIELDS;
    (typmod >= 0 && range != ALL_FIELDS).then_some(range)
}

/// `interval` with a modifier, as `format_type` prints it.
#[must_use]
pub fn format_typmod(typmod: i32) -> String {
    let mut name = String::from("interval");
    if let Some((_, fields)) = range_of(typmod).and_then(|range| FIELD_NAMES.iter().find(|(bits, _)| *bits == range)) {
        name.push(' ');
        name.push_str(fields);
    }
    let precision = typmod & ALL_DIGITS;
    if typmod >= 0 && precision != ALL_DIGITS {
        name.push_str(&format!("({precision})"));
    }
    name
}

/// The interval with only the fields and digits that a modifier keeps.
pub fn apply_typmod(value: Interval, typmod: i32) -> PgResult<Interval> {
    if typmod < 0 {
        return Ok(value);
    }
    let mut value = value;
    let keep = |micros: i64, unit: i64| micros / unit * unit;
    if let Some(range) = range_of(typmod) {
        match range {
            YEAR => value = Interval { months: value.months / 12 * 12, days: 0, micros: 0 },
            r if r & (DAY | HOUR | MINUTE | SECOND) == 0 => value = Interval { days: 0, micros: 0, ..value },
            DAY => value.micros = 0,
            r if r & (MINUTE | SECOND) == 0 => value.micros = keep(value.micros, USECS_PER_HOUR),
            r if r & SECOND == 0 => value.micros = keep(value.micros, USECS_PER_MINUTE),
            _ => {}
        }
    }
    let precision = typmod & ALL_DIGITS;
    if precision < 6 {
        let step = 10_i64.pow((6 - precision) as u32);
        let half = step / 2;
        let rounded = if value.micros >= 0 { value.micros.checked_add(half) } else { value.micros.checked_sub(half) };
        value.micros = keep(rounded.ok_or_else(out_of_range)?, step);
    }
    Ok(value)
}

// ---- columns

struct Writer<'a> {
    style: IntervalStyle,
    array: &'a PrimitiveArray<IntervalMonthDayNanoType>,
}

/// Writes a column of intervals.
pub fn writer<'a>(ctx: &'a EvalContext, _: &SqlType, array: &'a dyn Array) -> PgResult<Box<dyn ValueWriter + 'a>> {
    let array = array.as_primitive_opt::<IntervalMonthDayNanoType>().ok_or_else(|| wrong(array))?;
    Ok(Box::new(Writer { style: ctx.settings.interval_style, array }))
}

impl ValueWriter for Writer<'_> {
    fn text(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        text::push(out, Interval::from_arrow(self.array.value(row)), self.style);
        Ok(())
    }

    fn binary(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        let value = Interval::from_arrow(self.array.value(row));
        out.extend_from_slice(&value.micros.to_be_bytes());
        out.extend_from_slice(&value.days.to_be_bytes());
        out.extend_from_slice(&value.months.to_be_bytes());
        Ok(())
    }
}

struct Builder {
    typmod: i32,
    column: IntervalMonthDayNanoBuilder,
}

/// Builds a column of intervals.
pub fn builder(ty: &SqlType) -> PgResult<Box<dyn ValueBuilder>> {
    Ok(Box::new(Builder { typmod: ty.typmod, column: IntervalMonthDayNanoBuilder::new() }))
}

impl ValueBuilder for Builder {
    fn text(&mut self, ctx: &EvalContext, value: &str) -> PgResult<()> {
        self.column.append_value(parse(value, self.typmod, ctx.settings.interval_style)?.to_arrow());
        Ok(())
    }

    fn binary(&mut self, _: &EvalContext, value: &[u8]) -> PgResult<()> {
        let value = fixed_width::<16>(value)?;
        let part = |from: usize| value.get(from..from + 4).and_then(|b| b.try_into().ok()).map(i32::from_be_bytes);
        let (Some(micros), Some(days), Some(months)) = (value.first_chunk::<8>(), part(8), part(12)) else { return Err(short_binary()) };
        let value = Interval { months, days, micros: i64::from_be_bytes(*micros) };
        self.column.append_value(apply_typmod(value, self.typmod)?.to_arrow());
        Ok(())
    }

    fn null(&mut self) {
        self.column.append_null();
    }

    fn len(&self) -> usize {
        use arrow::array::ArrayBuilder;
        self.column.len()
    }

    fn finish(&mut self) -> PgResult<ArrayRef> {
        Ok(Arc::new(self.column.finish()))
    }
}

// ---- the setting

/// Reads `SET IntervalStyle`. 22023 when it is no style.
pub fn parse_interval_style(text: &str) -> PgResult<IntervalStyle> {
    Ok(match text.to_ascii_lowercase().as_str() {
        "postgres" => IntervalStyle::Postgres,
        "postgres_verbose" => IntervalStyle::PostgresVerbose,
        "sql_standard" => IntervalStyle::SqlStandard,
        "iso_8601" => IntervalStyle::Iso8601,
        _ => {
            return Err(PgError::new(
                SqlState::INVALID_PARAMETER_VALUE,
                format!("invalid value for parameter \"IntervalStyle\": \"{text}\""),
            )
            .hint("Available values: postgres, postgres_verbose, sql_standard, iso_8601."));
        }
    })
}

/// The style as `SHOW IntervalStyle` prints it.
#[must_use]
pub fn interval_style_name(style: IntervalStyle) -> &'static str {
    match style {
        IntervalStyle::Postgres => "postgres",
        IntervalStyle::PostgresVerbose => "postgres_verbose",
        IntervalStyle::SqlStandard => "sql_standard",
        IntervalStyle::Iso8601 => "iso_8601",
    }
}

#[cfg(test)]
mod tests;
