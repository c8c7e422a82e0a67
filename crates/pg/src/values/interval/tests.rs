//! Intervals as PostgreSQL 15 reads and writes them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::*;

const STYLES: [IntervalStyle; 4] =
    [IntervalStyle::Postgres, IntervalStyle::PostgresVerbose, IntervalStyle::SqlStandard, IntervalStyle::Iso8601];

fn shown(value: Interval, style: IntervalStyle) -> String {
    let mut out = Vec::new();
    text::push(&mut out, value, style);
    String::from_utf8(out).unwrap()
}

#[test]
fn texts_in_all_forms() {
    for (text, wanted) in [
        ("1 year 2 months 3 days 04:05:06.789", "1 year 2 mons 3 days 04:05:06.789"),
        ("1-2", "1 year 2 mons"),
        ("3 4:05:06", "3 days 04:05:06"),
        ("+1-2 -3 +4:05:06.7", "1 year 2 mons -3 days +04:05:06.7"),
        ("-1-2", "-1 years -2 mons"),
        ("P1Y2M3DT4H5M6S", "1 year 2 mons 3 days 04:05:06"),
        ("P-1Y-2M3DT-4H5.5S", "-1 years -2 mons +3 days -03:59:54.5"),
        ("P0001-02-03T04:05:06", "1 year 2 mons 3 days 04:05:06"),
        ("P00010203T040506", "1 year 2 mons 3 days 04:05:06"),
        ("P1.5W", "10 days 12:00:00"),
        ("P1e3D", "1000 days"),
        ("PT", "00:00:00"),
        ("1 day ago", "-1 days"),
        ("@ 5 minutes", "00:05:00"),
        ("1.5 weeks 1.5 decades", "15 years 10 days 12:00:00"),
        ("1.5 months", "1 mon 15 days"),
        ("0.7 years", "8 mons"),
        ("0.0000006 s", "00:00:00.000001"),
        ("1y 2mon 3w 4h 5min 6ms 7us", "1 year 2 mons 21 days 04:05:00.006007"),
        ("1 day 2", "1 day 00:00:02"),
        ("day 1", "00:00:01"),
        ("-1 mon +1 day 02:00", "-1 mons +1 day 02:00:00"),
        ("1:2.5", "00:01:02.5"),
        ("100:00:00", "100:00:00"),
        ("2147483647 days", "2147483647 days"),
        ("2147483648 days", "22015"),
        ("1-13", "22015"),
        ("2:60", "22015"),
        ("P99999999999D", "22015"),
        ("9223372036854775807 us", "2562047788:00:54.775807"),
        ("-2562047788:00:54.775807", "-2562047788:00:54.775807"),
        ("9223372036854775808 us", "22015"),
        ("178956970 years 8 mons", "22008"),
        ("1 fortnight", "22007"),
        ("2 ago", "22007"),
        ("1 day 1 day", "22007"),
        ("1 qtr", "22007"),
        ("infinity", "22007"),
        ("P", "22007"),
        ("", "22007"),
    ] {
        let got = match parse(text, -1, IntervalStyle::Postgres) {
            Ok(value) => value.to_string(),
            Err(error) => error.code().to_string(),
        };
        assert_eq!(got, wanted, "{text}");
    }
    let leading_minus = parse("-1 2:03:04", -1, IntervalStyle::SqlStandard).unwrap();
    assert_eq!(leading_minus.to_string(), "-1 days -02:03:04");
    assert_eq!(parse("-1 2:03:04", -1, IntervalStyle::Postgres).unwrap().to_string(), "-1 days +02:03:04");
}

#[test]
fn texts_in_all_styles() {
    for (text, wanted) in [
        (
            "1 year 2 months 3 days 04:05:06.789",
            [
                "1 year 2 mons 3 days 04:05:06.789",
                "@ 1 year 2 mons 3 days 4 hours 5 mins 6.789 secs",
                "+1-2 +3 +4:05:06.789",
                "P1Y2M3DT4H5M6.789S",
            ],
        ),
        (
            "-1 year 2 mons -3 days 01:00:01",
            ["-10 mons -3 days +01:00:01", "@ 10 mons 3 days -1 hours -1 sec ago", "-0-10 -3 +1:00:01", "P-10M-3DT1H1S"],
        ),
        ("0", ["00:00:00", "@ 0", "0", "PT0S"]),
        ("-1 day", ["-1 days", "@ 1 day ago", "-1 0:00:00", "P-1D"]),
        ("-0.5 s", ["-00:00:00.5", "@ 0.5 secs ago", "-0:00:00.5", "PT-0.5S"]),
        ("1-2", ["1 year 2 mons", "@ 1 year 2 mons", "1-2", "P1Y2M"]),
        ("3 4:05", ["3 days 04:05:00", "@ 3 days 4 hours 5 mins", "3 4:05:00", "P3DT4H5M"]),
    ] {
        let value = parse(text, -1, IntervalStyle::Postgres).unwrap();
        assert_eq!(STYLES.map(|style| shown(value, style)), wanted, "{text}");
    }
}

#[test]
fn modifiers_keep_fields_and_digits() {
    for (fields, precision, name, text, wanted) in [
        ("year", None, "interval year", "5", "5 years"),
        ("year to month", None, "interval year to month", "1 year 3 mons 5 days", "1 year 3 mons"),
        ("day", None, "interval day", "3 4:05", "3 days"),
        ("day to hour", None, "interval day to hour", "10", "10:00:00"),
        ("day to minute", None, "interval day to minute", "2 03:04:05", "2 days 03:04:00"),
        ("minute to second", None, "interval minute to second", "10:20", "00:10:20"),
        ("hour to minute", None, "interval hour to minute", "10:20", "10:20:00"),
        ("second", Some(2), "interval second(2)", "1.23456789", "00:00:01.23"),
        ("", Some(0), "interval(0)", "-1.5 sec", "-00:00:02"),
        ("day to second", Some(3), "interval day to second(3)", "1 2:03:04.5678", "1 day 02:03:04.568"),
    ] {
        let typmod = typmod_of(fields, precision).unwrap();
        assert_eq!(format_typmod(typmod), name);
        assert_eq!(parse(text, typmod, IntervalStyle::Postgres).unwrap().to_string(), wanted, "{name} {text}");
    }
    assert_eq!(typmod_of("", None), Some(-1));
    assert_eq!(typmod_of("month to day", None), None);
}

#[test]
fn order_and_arithmetic() {
    let of = |text: &str| parse(text, -1, IntervalStyle::Postgres).unwrap();
    assert_eq!(of("1 mon").sort_value(), of("30 days").sort_value());
    assert!(of("1 year").sort_value() < of("365 days").sort_value());
    assert_eq!(of("1 year 2 mon 3 days 04:05:06").divide(7.3).unwrap().to_string(), "1 mon 27 days 23:14:40.310663");
    assert_eq!(of("-1 mon 31 days").multiply(1.7).unwrap().to_string(), "-1 mons +31 days 16:48:00");
    assert_eq!(of("1 day").divide(0.0).unwrap_err().code(), SqlState::DIVISION_BY_ZERO);
    assert_eq!(of("1 mon").multiply(f64::NAN).unwrap_err().code(), SqlState::DATETIME_FIELD_OVERFLOW);
    assert_eq!(of("-2147483648 days").checked_neg(), None);
}

#[test]
fn binary_form_is_postgresqls() {
    let ctx = EvalContext::default();
    let ty = SqlType::new(crate::PgType::Interval);
    let mut column = builder(&ty).unwrap();
    column.text(&ctx, "1 mon -2 days 00:00:03").unwrap();
    let array = column.finish().unwrap();
    let mut bytes = Vec::new();
    writer(&ctx, &ty, array.as_ref()).unwrap().binary(0, &mut bytes).unwrap();
    assert_eq!(bytes, [3_000_000_i64.to_be_bytes().as_slice(), &(-2_i32).to_be_bytes(), &1_i32.to_be_bytes()].concat());
    column.binary(&ctx, &bytes).unwrap();
    assert_eq!(&column.finish().unwrap(), &array);
    assert_eq!(column.binary(&ctx, &bytes[1..]).unwrap_err().code(), SqlState::PROTOCOL_VIOLATION);
}

#[test]
fn style_is_read_and_shown() {
    for style in STYLES {
        assert_eq!(parse_interval_style(&interval_style_name(style).to_uppercase()).unwrap(), style);
    }
    assert_eq!(parse_interval_style("sql").unwrap_err().code(), SqlState::INVALID_PARAMETER_VALUE);
}
