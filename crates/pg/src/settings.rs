//! The settings that change what a value's text means or looks like.

use jiff::tz::TimeZone;

pub use stoa_text::textsearch::config::Config;

/// The order in which ambiguous dates are read and SQL dates are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DateOrder {
    Ymd,
    Dmy,
    Mdy,
}

/// The output form of dates and timestamps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DateFormat {
    Iso,
    Sql,
    Postgres,
    German,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IntervalStyle {
    Postgres,
    PostgresVerbose,
    SqlStandard,
    Iso8601,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ByteaOutput {
    Hex,
    Escape,
}

/// A session's value settings; immutable once shared, replaced on `SET`.
#[derive(Clone, Debug)]
pub struct ValueSettings {
    pub date_format: DateFormat,
    pub date_order: DateOrder,
    pub interval_style: IntervalStyle,
    /// The name as `SHOW TimeZone` prints it.
    pub time_zone_name: String,
    pub time_zone: TimeZone,
    pub extra_float_digits: i32,
    pub bytea_output: ByteaOutput,
    /// The text search configuration of what names none.
    pub text_search: Config,
    /// `expression = NULL` asks whether the expression is NULL.
    pub null_equals: bool,
}

impl Default for ValueSettings {
    fn default() -> Self {
        Self {
            date_format: DateFormat::Iso,
            date_order: DateOrder::Mdy,
            interval_style: IntervalStyle::Postgres,
            time_zone_name: "UTC".into(),
            time_zone: TimeZone::UTC,
            extra_float_digits: 1,
            bytea_output: ByteaOutput::Hex,
            text_search: Config::English,
            null_equals: false,
        }
    }
}
