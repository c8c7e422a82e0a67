//! Values of date, time, timetz, timestamp and timestamptz: text, binary, modifiers.
//!
//! date is days since 1970-01-01, time microseconds since midnight, timestamps microseconds since 2000 (UTC for timestamptz);
//! the largest and smallest numbers are ±infinity. A timetz is [`TimeTz`]: 12 bytes whose order is the order of the values.
//! Reading order: [`calendar`] → [`epoch`] → [`fields`] → [`parse`] → [`text`].

use crate::args::Kind;
use crate::context::EvalContext;
use crate::error::{PgError, PgResult};
use crate::settings::{DateFormat, DateOrder};
use crate::sqlstate::SqlState;
use crate::types::{PgType, SqlType};
use crate::values::{ValueBuilder, ValueWriter, fixed_width, short_binary, timezone};
use arrow::array::{
    Array, ArrayRef, AsArray, Date32Array, Date32Builder, FixedSizeBinaryArray, FixedSizeBinaryBuilder, Time64MicrosecondArray,
    Time64MicrosecondBuilder, TimestampMicrosecondArray, TimestampMicrosecondBuilder,
};
use arrow::datatypes::{Date32Type, Time64MicrosecondType, TimestampMicrosecondType};
use calendar::{
    Civil, DATE_INFINITY, DATE_NEG_INFINITY, TIMESTAMP_INFINITY, TIMESTAMP_NEG_INFINITY, USECS_PER_DAY, USECS_PER_SEC, check_date,
    is_finite_date, is_finite_timestamp,
};
use parse::Moment;
use std::sync::Arc;

pub mod calendar;
pub mod epoch;
pub mod fields;
pub mod parse;
pub mod text;

/// A time of day with an offset, which is not applied to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeTz {
    /// Microseconds since local midnight.
    pub micros: i64,
    /// Seconds east of UTC.
    pub offset: i32,
}

impl TimeTz {
    /// Microseconds of the same time in UTC, perhaps below 0 or above a day: what orders values first.
    #[must_use]
    pub fn utc(self) -> i64 {
        self.micros - i64::from(self.offset) * USECS_PER_SEC
    }

    /// The stored form: the time in UTC, then seconds *west* of it, both big-endian with the sign bit flipped, so that bytes compare
    /// and are equal as values are.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 12] {
        let mut bytes = [0; 12];
        let (time, zone) = bytes.split_at_mut(8);
        time.copy_from_slice(&((self.utc() as u64) ^ (1 << 63)).to_be_bytes());
        zone.copy_from_slice(&((self.offset.wrapping_neg() as u32) ^ (1 << 31)).to_be_bytes());
        bytes
    }

    /// The value of a stored form; XX000 unless it has 12 bytes.
    pub fn from_bytes(bytes: &[u8]) -> PgResult<TimeTz> {
        match (bytes.first_chunk::<8>(), bytes.last_chunk::<4>(), bytes.len()) {
            (Some(time), Some(zone), 12) => {
                let offset = ((u32::from_be_bytes(*zone) ^ (1 << 31)) as i32).wrapping_neg();
                let utc = (u64::from_be_bytes(*time) ^ (1 << 63)) as i64;
                Ok(TimeTz { micros: utc.wrapping_add(i64::from(offset) * USECS_PER_SEC), offset })
            }
            _ => Err(PgError::internal("a timetz that has not 12 bytes")),
        }
    }
}

/// timetz as kernels read and write it.
#[derive(Debug)]
pub struct TimeTzKind;
impl Kind for TimeTzKind {
    type In<'a> = TimeTz;
    type Out = TimeTz;
    type Column = FixedSizeBinaryArray;
    type Builder = FixedSizeBinaryBuilder;
    fn open(array: &ArrayRef) -> PgResult<&FixedSizeBinaryArray> {
        array.as_fixed_size_binary_opt().ok_or_else(|| wrong("timetz", array.as_ref()))
    }
    fn get(column: &FixedSizeBinaryArray, row: usize) -> PgResult<TimeTz> {
        TimeTz::from_bytes(column.value(row))
    }
    fn builder(rows: usize) -> FixedSizeBinaryBuilder {
        FixedSizeBinaryBuilder::with_capacity(rows, 12)
    }
    fn push(builder: &mut FixedSizeBinaryBuilder, value: Option<TimeTz>) -> PgResult<()> {
        match value {
            Some(value) => builder.append_value(value.to_bytes())?,
            None => builder.append_null(),
        }
        Ok(())
    }
    fn finish(mut builder: FixedSizeBinaryBuilder, _: &SqlType) -> PgResult<ArrayRef> {
        Ok(Arc::new(builder.finish()))
    }
}

fn wrong(type_name: &str, array: &dyn Array) -> PgError {
    PgError::internal(format!("a column of {type_name} came as {}", array.data_type()))
}

// ---- text to values

/// A date from text.
pub fn parse_date(ctx: &EvalContext, text: &str) -> PgResult<i32> {
    if let Some(civil) = parse::iso_local(text) {
        return check_date(civil.days());
    }
    match parse::moment(ctx, text).map_err(|fault| fault.error("date", text))? {
        Moment::Epoch => Ok(0),
        Moment::Infinity => Ok(DATE_INFINITY),
        Moment::MinusInfinity => Ok(DATE_NEG_INFINITY),
        Moment::Local(civil, _) => {
            check_date(civil.days()).map_err(|_| PgError::new(SqlState::DATETIME_FIELD_OVERFLOW, format!("date out of range: \"{text}\"")))
        }
    }
}

/// A timestamp (`with_zone`: timestamptz) from text, before any modifier.
pub fn parse_timestamp(ctx: &EvalContext, text: &str, with_zone: bool) -> PgResult<i64> {
    let type_name = if with_zone { "timestamp with time zone" } else { "timestamp" };
    if !with_zone && let Some(micros) = parse::iso_local(text).and_then(|civil| civil.micros_at(0)) {
        return Ok(micros);
    }
    match parse::moment(ctx, text).map_err(|fault| fault.error(type_name, text))? {
        Moment::Epoch => Ok(-epoch::MICROS),
        Moment::Infinity => Ok(TIMESTAMP_INFINITY),
        Moment::MinusInfinity => Ok(TIMESTAMP_NEG_INFINITY),
        Moment::Local(civil, offset) => civil
            .micros_at(if with_zone { offset } else { 0 })
            .ok_or_else(|| PgError::new(SqlState::DATETIME_FIELD_OVERFLOW, format!("timestamp out of range: \"{text}\""))),
    }
}

/// A time from text, before any modifier.
pub fn parse_time(ctx: &EvalContext, text: &str) -> PgResult<i64> {
    parse::time_of_day(ctx, text, false).map(|(micros, _)| micros).map_err(|fault| fault.error("time", text))
}

/// A timetz from text, before any modifier.
pub fn parse_timetz(ctx: &EvalContext, text: &str) -> PgResult<TimeTz> {
    let (micros, offset) = parse::time_of_day(ctx, text, true).map_err(|fault| fault.error("time with time zone", text))?;
    Ok(TimeTz { micros, offset })
}

// ---- modifiers

/// Microseconds that a precision keeps apart; `None` when it keeps all.
fn step(typmod: i32) -> Option<i64> {
    match typmod {
        0..=5 => Some(10_i64.pow((6 - typmod) as u32)),
        _ => None,
    }
}

/// Rounds half away from zero.
fn round_to(value: i64, step: i64) -> i64 {
    let half = step / 2;
    if value >= 0 { (value + half) / step * step } else { -((half - value) / step * step) }
}

/// A time rounded to the precision of `time(p)`.
#[must_use]
pub fn round_time(micros: i64, typmod: i32) -> i64 {
    step(typmod).map_or(micros, |step| round_to(micros, step))
}

/// A timestamp rounded to the precision of `timestamp(p)`: halves away from 2000-01-01. The last moment of the range becomes the
/// midnight behind it, as it does in PostgreSQL.
#[must_use]
pub fn round_timestamp(timestamp: i64, typmod: i32) -> i64 {
    match step(typmod) {
        Some(step) if is_finite_timestamp(timestamp) => round_to(timestamp, step),
        _ => timestamp,
    }
}

// ---- writers

enum Values<'a> {
    Date(&'a Date32Array),
    Time(&'a Time64MicrosecondArray),
    TimeTz(&'a FixedSizeBinaryArray),
    Timestamp(&'a TimestampMicrosecondArray),
    TimestampTz(&'a TimestampMicrosecondArray),
}

struct Writer<'a> {
    ctx: &'a EvalContext,
    values: Values<'a>,
}

/// Writes a column of this file's types.
pub fn writer<'a>(ctx: &'a EvalContext, ty: &SqlType, array: &'a dyn Array) -> PgResult<Box<dyn ValueWriter + 'a>> {
    let values = match ty.ty {
        PgType::Date => array.as_primitive_opt::<Date32Type>().map(Values::Date),
        PgType::Time => array.as_primitive_opt::<Time64MicrosecondType>().map(Values::Time),
        PgType::Timetz => array.as_fixed_size_binary_opt().map(Values::TimeTz),
        PgType::Timestamp => array.as_primitive_opt::<TimestampMicrosecondType>().map(Values::Timestamp),
        PgType::Timestamptz => array.as_primitive_opt::<TimestampMicrosecondType>().map(Values::TimestampTz),
        _ => None,
    };
    Ok(Box::new(Writer { ctx, values: values.ok_or_else(|| wrong(&ty.display_name(), array))? }))
}

impl ValueWriter for Writer<'_> {
    fn text(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        let settings = &self.ctx.settings;
        let (format, order) = (settings.date_format, settings.date_order);
        match &self.values {
            Values::Date(array) => text::push_date(out, array.value(row), format, order),
            Values::Time(array) => text::push_time(out, &Civil::default().with_time(array.value(row))),
            Values::TimeTz(array) => {
                let value = TimeTz::from_bytes(array.value(row))?;
                text::push_time(out, &Civil::default().with_time(value.micros));
                text::push_offset(out, value.offset, false);
            }
            Values::Timestamp(array) => text::push_timestamp(out, array.value(row), None, format, order),
            Values::TimestampTz(array) => {
                text::push_timestamp(out, array.value(row), Some(&settings.time_zone), format, order);
            }
        }
        Ok(())
    }

    fn binary(&self, row: usize, out: &mut Vec<u8>) -> PgResult<()> {
        match &self.values {
            Values::Date(array) => {
                let days = array.value(row);
                let days = if is_finite_date(days) { days.saturating_sub(epoch::DAYS as i32) } else { days };
                out.extend_from_slice(&days.to_be_bytes());
            }
            Values::Time(array) => out.extend_from_slice(&array.value(row).to_be_bytes()),
            Values::TimeTz(array) => {
                let value = TimeTz::from_bytes(array.value(row))?;
                out.extend_from_slice(&value.micros.to_be_bytes());
                out.extend_from_slice(&(-value.offset).to_be_bytes());
            }
            Values::Timestamp(array) | Values::TimestampTz(array) => {
                out.extend_from_slice(&array.value(row).to_be_bytes());
            }
        }
        Ok(())
    }
}

// ---- builders

enum Columns {
    Date(Date32Builder),
    Time(Time64MicrosecondBuilder),
    TimeTz(FixedSizeBinaryBuilder),
    Timestamp(TimestampMicrosecondBuilder),
    TimestampTz(TimestampMicrosecondBuilder),
}

struct Builder {
    typmod: i32,
    columns: Columns,
}

/// Builds a column of this file's types.
pub fn builder(ty: &SqlType) -> PgResult<Box<dyn ValueBuilder>> {
    let columns = match ty.ty {
        PgType::Date => Columns::Date(Date32Builder::new()),
        PgType::Time => Columns::Time(Time64MicrosecondBuilder::new()),
        PgType::Timetz => Columns::TimeTz(FixedSizeBinaryBuilder::new(12)),
        PgType::Timestamp => Columns::Timestamp(TimestampMicrosecondBuilder::new()),
        PgType::Timestamptz => Columns::TimestampTz(TimestampMicrosecondBuilder::new().with_data_type(PgType::Timestamptz.arrow())),
        _ => return Err(PgError::internal(format!("{ty} is no date or time"))),
    };
    Ok(Box::new(Builder { typmod: ty.typmod, columns }))
}

impl ValueBuilder for Builder {
    fn text(&mut self, ctx: &EvalContext, value: &str) -> PgResult<()> {
        let typmod = self.typmod;
        match &mut self.columns {
            Columns::Date(b) => b.append_value(parse_date(ctx, value)?),
            Columns::Time(b) => b.append_value(round_time(parse_time(ctx, value)?, typmod)),
            Columns::TimeTz(b) => {
                let time = parse_timetz(ctx, value)?;
                b.append_value(TimeTz { micros: round_time(time.micros, typmod), ..time }.to_bytes())?;
            }
            Columns::Timestamp(b) => b.append_value(round_timestamp(parse_timestamp(ctx, value, false)?, typmod)),
            Columns::TimestampTz(b) => b.append_value(round_timestamp(parse_timestamp(ctx, value, true)?, typmod)),
        }
        Ok(())
    }

    fn binary(&mut self, _: &EvalContext, value: &[u8]) -> PgResult<()> {
        let typmod = self.typmod;
        let eight = || fixed_width(value).map(i64::from_be_bytes);
        let time_in_range = |micros: i64| {
            if (0..=USECS_PER_DAY).contains(&micros) {
                Ok(micros)
            } else {
                Err(PgError::new(SqlState::DATETIME_FIELD_OVERFLOW, "time out of range"))
            }
        };
        match &mut self.columns {
            Columns::Date(b) => {
                let days = fixed_width(value).map(i32::from_be_bytes)?;
                b.append_value(if is_finite_date(days) { check_date(i64::from(days) + epoch::DAYS)? } else { days });
            }
            Columns::Time(b) => b.append_value(round_time(time_in_range(eight()?)?, typmod)),
            Columns::TimeTz(b) => {
                let bytes = fixed_width::<12>(value)?;
                let (Some(time), Some(zone)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<4>()) else { return Err(short_binary()) };
                let micros = time_in_range(i64::from_be_bytes(*time))?;
                let west = i32::from_be_bytes(*zone);
                if !(-57_599..=57_599).contains(&west) {
                    return Err(PgError::new(SqlState::INVALID_TIME_ZONE_DISPLACEMENT_VALUE, "time zone displacement out of range"));
                }
                b.append_value(TimeTz { micros: round_time(micros, typmod), offset: -west }.to_bytes())?;
            }
            Columns::Timestamp(b) | Columns::TimestampTz(b) => {
                let micros = eight()?;
                if is_finite_timestamp(micros) {
                    calendar::check_timestamp(Some(micros))?;
                }
                b.append_value(round_timestamp(micros, typmod));
            }
        }
        Ok(())
    }

    fn null(&mut self) {
        match &mut self.columns {
            Columns::Date(b) => b.append_null(),
            Columns::Time(b) => b.append_null(),
            Columns::TimeTz(b) => b.append_null(),
            Columns::Timestamp(b) | Columns::TimestampTz(b) => b.append_null(),
        }
    }

    fn len(&self) -> usize {
        use arrow::array::ArrayBuilder;
        match &self.columns {
            Columns::Date(b) => b.len(),
            Columns::Time(b) => b.len(),
            Columns::TimeTz(b) => b.len(),
            Columns::Timestamp(b) | Columns::TimestampTz(b) => b.len(),
        }
    }

    fn finish(&mut self) -> PgResult<ArrayRef> {
        Ok(match &mut self.columns {
            Columns::Date(b) => Arc::new(b.finish()),
            Columns::Time(b) => Arc::new(b.finish()),
            Columns::TimeTz(b) => Arc::new(b.finish()),
            Columns::Timestamp(b) | Columns::TimestampTz(b) => Arc::new(b.finish()),
        })
    }
}

// ---- settings

/// Reads `SET DateStyle`: words separated by commas or blanks change the format, the order, or both. 22023 when it is no style.
pub fn parse_date_style(text: &str, current: (DateFormat, DateOrder)) -> PgResult<(DateFormat, DateOrder)> {
    let invalid = |detail: String| {
        PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("invalid value for parameter \"DateStyle\": \"{text}\"")).detail(detail)
    };
    let (mut format, mut order, mut order_written) = (None, None, false);
    let mut conflict = false;
    for word in text.split(',').filter(|_| !text.trim().is_empty()) {
        let trimmed = word.trim();
        let word = trimmed.to_ascii_lowercase();
        let (f, o) = match word.as_str() {
            "iso" => (Some(DateFormat::Iso), None),
            "sql" => (Some(DateFormat::Sql), None),
            "german" => (Some(DateFormat::German), None),
            "ymd" => (None, Some(DateOrder::Ymd)),
            "dmy" => (None, Some(DateOrder::Dmy)),
            "mdy" | "us" => (None, Some(DateOrder::Mdy)),
            "default" => {
                // Only what is not said by another word.
                format = format.or(Some(DateFormat::Iso));
                order = order.or(Some(DateOrder::Mdy));
                continue;
            }
            _ if word.starts_with("postgres") => (Some(DateFormat::Postgres), None),
            _ if word.starts_with("euro") => (None, Some(DateOrder::Dmy)),
            _ if word.starts_with("noneuro") => (None, Some(DateOrder::Mdy)),
            _ if word.is_empty() || word.contains(char::is_whitespace) => return Err(invalid("List syntax is invalid.".into())),
            _ => return Err(invalid(format!("Unrecognized key word: \"{trimmed}\"."))),
        };
        if let Some(f) = f {
            conflict |= format.is_some_and(|have| have != f);
            format = Some(f);
            if f == DateFormat::German && !order_written {
                order = Some(DateOrder::Dmy);
            }
        }
        if let Some(o) = o {
            conflict |= order_written && order != Some(o);
            order = Some(o);
            order_written = true;
        }
    }
    if conflict {
        return Err(invalid("Conflicting \"datestyle\" specifications.".into()));
    }
    Ok((format.unwrap_or(current.0), order.unwrap_or(current.1)))
}

/// The style as `SHOW DateStyle` prints it.
#[must_use]
pub fn date_style_name(format: DateFormat, order: DateOrder) -> String {
    let format = match format {
        DateFormat::Iso => "ISO",
        DateFormat::Sql => "SQL",
        DateFormat::Postgres => "Postgres",
        DateFormat::German => "German",
    };
    let order = match order {
        DateOrder::Ymd => "YMD",
        DateOrder::Dmy => "DMY",
        DateOrder::Mdy => "MDY",
    };
    format!("{format}, {order}")
}

/// The local timestamp of a timestamptz in the session's zone, or 22008.
pub fn to_session_local(ctx: &EvalContext, micros: i64) -> PgResult<i64> {
    timezone::to_local(&ctx.settings.time_zone, micros).ok_or_else(calendar::timestamp_out_of_range)
}

/// The timestamptz of a local timestamp in the session's zone, or 22008.
pub fn from_session_local(ctx: &EvalContext, micros: i64) -> PgResult<i64> {
    timezone::from_local(&ctx.settings.time_zone, micros).ok_or_else(calendar::timestamp_out_of_range)
}

#[cfg(test)]
mod tests;
