//! Dates and times inside jsonpath: ISO texts in, ISO 8601 out, comparison across types.

use crate::context::EvalContext;
use crate::error::{PgError, PgResult};
use crate::functions::format::date_in::{Moment, read_standard};
use crate::functions::format::template::{self, Field, Node};
use crate::settings::{DateFormat, DateOrder};
use crate::sqlstate::SqlState;
use crate::values::datetime::calendar::{Civil, SECS_PER_DAY, USECS_PER_DAY, USECS_PER_SEC, check_date};
use crate::values::datetime::text::{push_civil_xsd, push_date, push_offset, push_time};
use crate::values::timezone;
use std::cmp::Ordering;
use std::sync::LazyLock;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DatetimeKind {
    Date,
    Time,
    TimeTz,
    Timestamp,
    TimestampTz,
}

impl DatetimeKind {
    /// As `.type()` names it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            DatetimeKind::Date => "date",
            DatetimeKind::Time => "time without time zone",
            DatetimeKind::TimeTz => "time with time zone",
            DatetimeKind::Timestamp => "timestamp without time zone",
            DatetimeKind::TimestampTz => "timestamp with time zone",
        }
    }

    fn short_name(self) -> &'static str {
        match self {
            DatetimeKind::Date => "date",
            DatetimeKind::Time => "time",
            DatetimeKind::TimeTz => "timetz",
            DatetimeKind::Timestamp => "timestamp",
            DatetimeKind::TimestampTz => "timestamptz",
        }
    }

    fn has_zone(self) -> bool {
        matches!(self, DatetimeKind::TimeTz | DatetimeKind::TimestampTz)
    }

    fn is_time(self) -> bool {
        matches!(self, DatetimeKind::Time | DatetimeKind::TimeTz)
    }
}

/// A value of `.datetime()`: as written, with the offset that was given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Datetime {
    pub kind: DatetimeKind,
    /// 1970-01-01 where there is no date, midnight where there is no time.
    local: Civil,
    /// Seconds east of UTC; 0 without a zone.
    offset: i32,
}

/// What is tried where no template is given, in this order.
static STANDARD: LazyLock<Vec<(DatetimeKind, Vec<Node>)>> = LazyLock::new(|| {
    let mut forms = vec![(DatetimeKind::Date, "yyyy-mm-dd".to_owned())];
    for date in ["", "yyyy-mm-dd ", "yyyy-mm-dd\"T\""] {
        for seconds in ["HH24:MI:SS.US", "HH24:MI:SS"] {
            for zone in ["TZH:TZM", "TZH", ""] {
                let kind = match (date.is_empty(), zone.is_empty()) {
                    (true, true) => DatetimeKind::Time,
                    (true, false) => DatetimeKind::TimeTz,
                    (false, true) => DatetimeKind::Timestamp,
                    (false, false) => DatetimeKind::TimestampTz,
                };
                forms.push((kind, format!("{date}{seconds}{zone}")));
            }
        }
    }
    forms.into_iter().map(|(kind, form)| (kind, template::parse(&form))).collect()
});

impl Datetime {
    /// Reads one of the ISO forms; `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Datetime> {
        STANDARD.iter().find_map(|(kind, form)| Self::of(*kind, read_standard(form, text).ok()?).ok())
    }

    /// What was read, as a kind that has all of it.
    fn of(kind: DatetimeKind, moment: Moment) -> PgResult<Datetime> {
        let offset = moment.offset.unwrap_or(0);
        let mut local = moment.civil;
        match kind {
            DatetimeKind::Date => {
                check_date(local.days())?;
                local = local.with_time(0);
            }
            DatetimeKind::Time | DatetimeKind::TimeTz => {
                local = Civil { year: 1970, month: 1, day: 1, ..local };
            }
            DatetimeKind::Timestamp | DatetimeKind::TimestampTz => {
                local
                    .micros_at(offset)
                    .ok_or_else(|| PgError::new(SqlState::DATETIME_FIELD_OVERFLOW, format!("{} out of range", kind.short_name())))?;
            }
        }
        Ok(Datetime { kind, local, offset })
    }

    /// Reads a text by a template of `to_timestamp`, taken strictly. The fields of the template decide the type.
    ///
    /// # Errors
    /// 22007 for texts that do not fit, or templates that have neither a date nor a time.
    pub fn by_template(text: &str, template: &str) -> PgResult<Datetime> {
        let invalid = |message: &str| PgError::new(SqlState::INVALID_DATETIME_FORMAT, message);
        let nodes = template::parse(template);
        let (mut dated, mut timed, mut zoned) = (false, false, false);
        for node in &nodes {
            let Node::Action(action) = node else { continue };
            match action.field {
                Field::Exact => {}
                Field::ZoneHour | Field::ZoneMinute | Field::ZoneName | Field::Offset => zoned = true,
                Field::Meridian { .. }
                | Field::Hour12
                | Field::Hour24
                | Field::Minute
                | Field::Second
                | Field::Millisecond
                | Field::Microsecond
                | Field::Fraction(_)
                | Field::SecondOfDay => timed = true,
                _ => dated = true,
            }
        }
        let moment = read_standard(&nodes, text)?;
        if zoned && !timed {
            return Err(invalid(if dated {
                "datetime format is zoned but not timed"
            } else {
                "datetime format is not dated and not timed"
            }));
        }
        let kind = match (dated, timed, zoned) {
            (true, false, _) => DatetimeKind::Date,
            (false, true, false) => DatetimeKind::Time,
            (false, true, true) => DatetimeKind::TimeTz,
            (true, true, false) => DatetimeKind::Timestamp,
            (true, true, true) => DatetimeKind::TimestampTz,
            (false, false, _) => return Err(invalid("datetime format is not dated and not timed")),
        };
        Self::of(kind, moment)
    }

    /// ISO 8601.
    #[must_use]
    pub fn to_text(self) -> String {
        let mut out = Vec::new();
        match self.kind {
            DatetimeKind::Date => push_date(&mut out, self.local.days() as i32, DateFormat::Iso, DateOrder::Ymd),
            DatetimeKind::Time => push_time(&mut out, &self.local),
            DatetimeKind::TimeTz => {
                push_time(&mut out, &self.local);
                push_offset(&mut out, self.offset, true);
            }
            DatetimeKind::Timestamp => push_civil_xsd(&mut out, &self.local, None),
            DatetimeKind::TimestampTz => push_civil_xsd(&mut out, &self.local, Some(self.offset)),
        }
        String::from_utf8_lossy(&out).into_owned()
    }

    /// Microseconds since 1970 in UTC.
    fn instant(self) -> i128 {
        let local = i128::from(self.local.days()) * i128::from(USECS_PER_DAY) + i128::from(self.local.time());
        local - i128::from(self.offset) * i128::from(USECS_PER_SEC)
    }

    /// The value with the zone of the session; times are those of today.
    fn in_zone(self, ctx: &EvalContext) -> Self {
        if self.kind.has_zone() {
            return self;
        }
        let zone = &ctx.settings.time_zone;
        let mut seconds = self.local.seconds();
        if self.kind.is_time() {
            let now = ctx.transaction_time;
            let today = Civil::from_micros(now, timezone::offset_at(zone, now)).days();
            seconds = today.saturating_mul(SECS_PER_DAY).saturating_add(seconds);
        }
        Self { offset: timezone::offset_for_local(zone, seconds), ..self }
    }

    /// Compares; `None` for a time with a date.
    ///
    /// # Errors
    /// 0A000 where the comparison depends on the session's zone and it may not be asked: `ctx` is not given.
    pub fn compare(self, other: Datetime, ctx: Option<&EvalContext>) -> PgResult<Option<Ordering>> {
        if self.kind.is_time() != other.kind.is_time() {
            return Ok(None);
        }
        let (mut a, mut b) = (self, other);
        if a.kind.has_zone() != b.kind.has_zone() {
            let Some(ctx) = ctx else {
                let (from, to) = if self.kind.has_zone() { (other, self) } else { (self, other) };
                return Err(PgError::unsupported(format!(
                    "cannot convert value from {} to {} without time zone usage",
                    from.kind.short_name(),
                    to.kind.short_name()
                ))
                .hint("Use *_tz() function for time zone support."));
            };
            (a, b) = (a.in_zone(ctx), b.in_zone(ctx));
        }
        // Equal instants of times are distinguished by the zone.
        let tie = if a.kind.is_time() { b.offset.cmp(&a.offset) } else { Ordering::Equal };
        Ok(Some(a.instant().cmp(&b.instant()).then(tie)))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn iso_forms() {
        for (given, kind, wanted) in [
            ("2020-1-2", "date", "2020-01-02"),
            ("2020-01-02 10:11:12.345", "timestamp without time zone", "2020-01-02T10:11:12.345"),
            ("2020-01-02T10:11:12+03", "timestamp with time zone", "2020-01-02T10:11:12+03:00"),
            ("2020-01-02T10:11:12 +03:30", "timestamp with time zone", "2020-01-02T10:11:12+03:30"),
            ("10:11:12", "time without time zone", "10:11:12"),
            ("10:11:12-03", "time with time zone", "10:11:12-03:00"),
            ("1000000-01-01", "date", "1000000-01-01"),
            ("12345-01-01T00:00:00.5", "timestamp without time zone", "12345-01-01T00:00:00.5"),
        ] {
            let value = Datetime::parse(given).unwrap();
            assert_eq!((value.kind.name(), value.to_text().as_str()), (kind, wanted), "{given}");
        }
        for bad in ["10:11", "2020-13-02", "23:59:60", "", "2020-01-02x", "5900000-01-01", "300000-01-01 00:00:00"] {
            assert!(Datetime::parse(bad).is_none(), "{bad}");
        }
    }
}
