//! Texts in and out of dates and times, as PostgreSQL 15 answers them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::*;
use crate::settings::ValueSettings;

/// 2025-06-15 15:06:40 UTC, a Sunday.
const NOW: i64 = 1_750_000_000_000_000 - epoch::MICROS;

fn context(zone: &str, style: &str) -> EvalContext {
    let mut settings = ValueSettings::default();
    (settings.time_zone_name, settings.time_zone) = timezone::lookup(zone).unwrap();
    (settings.date_format, settings.date_order) = parse_date_style(style, (settings.date_format, settings.date_order)).unwrap();
    EvalContext { settings: Arc::new(settings), transaction_time: NOW, ..EvalContext::default() }
}

/// The text of a value, or the code of its error; the value also makes its way through the binary form.
fn round_trip(ctx: &EvalContext, ty: PgType, typmod: i32, text: &str) -> String {
    let ty = SqlType::with_typmod(ty, typmod);
    let mut column = builder(&ty).unwrap();
    if let Err(error) = column.text(ctx, text) {
        return error.code().to_string();
    }
    let array = column.finish().unwrap();
    let (mut out, mut binary) = (Vec::new(), Vec::new());
    writer(ctx, &ty, array.as_ref()).unwrap().text(0, &mut out).unwrap();
    writer(ctx, &ty, array.as_ref()).unwrap().binary(0, &mut binary).unwrap();
    column.binary(ctx, &binary).unwrap();
    assert_eq!(&column.finish().unwrap(), &array, "binary form of {text}");
    String::from_utf8(out).unwrap()
}

#[test]
fn dates_in_all_forms() {
    let ctx = context("UTC", "iso, mdy");
    for (text, wanted) in [
        ("1999-01-08", "1999-01-08"),
        ("January 8, 1999", "1999-01-08"),
        ("1/8/1999", "1999-01-08"),
        ("18/1/1999", "22008"),
        ("01/02/03", "2003-01-02"),
        ("1999-Jan-08", "1999-01-08"),
        ("Jan-08-1999", "1999-01-08"),
        ("08-Jan-1999", "1999-01-08"),
        ("99-Jan-08", "22008"),
        ("Jan-08-99", "1999-01-08"),
        ("19990108", "1999-01-08"),
        ("990108", "1999-01-08"),
        ("1999.008", "1999-01-08"),
        ("2000.366", "2000-12-31"),
        ("J2451187", "1999-01-08"),
        ("y2001m02d04", "2001-02-04"),
        ("January 8, 99 BC", "0099-01-08 BC"),
        ("4714-11-24 BC", "4714-11-24 BC"),
        ("4714-11-23 BC", "22008"),
        ("5874897-12-31", "5874897-12-31"),
        ("5874898-01-01", "22008"),
        ("0000-01-01", "22008"),
        ("69-1-1", "22008"),
        ("epoch", "1970-01-01"),
        ("infinity", "infinity"),
        ("-infinity", "-infinity"),
        ("now", "2025-06-15"),
        ("today", "2025-06-15"),
        ("yesterday", "2025-06-14"),
        ("tomorrow", "2025-06-16"),
        ("mon jan 8 1999", "1999-01-08"),
        ("1999-01-08 04:05:06 PST", "1999-01-08"),
        ("2024-02-30", "22008"),
        ("2024-13-01", "22008"),
        ("2024-01", "22007"),
        ("someday", "22007"),
        ("", "22007"),
        ("2024-01-01 BC AD", "22007"),
        ("2024-01-01 00:00 Mars/Base", "22023"),
        ("2024-01-01 +16", "22009"),
    ] {
        assert_eq!(round_trip(&ctx, PgType::Date, -1, text), wanted, "{text}");
    }
    let hint = parse_date(&ctx, "18/1/1999").unwrap_err().fields().hint.clone();
    assert_eq!(hint.as_deref(), Some("Perhaps you need a different \"datestyle\" setting."));
    assert_eq!(parse_date(&ctx, "2024-02-30").unwrap_err().fields().hint, None);
    for (style, text, wanted) in [
        ("sql, dmy", "1/8/1999", "01/08/1999"),
        ("sql, mdy", "1999-08-01", "08/01/1999"),
        ("postgres, mdy", "1999-08-01 BC", "08-01-1999 BC"),
        ("postgres, dmy", "1999-08-01", "01-08-1999"),
        ("german", "1.8.1999", "01.08.1999"),
        ("iso, ymd", "99-08-01", "1999-08-01"),
        ("iso, ymd", "99 jan 8", "1999-01-08"),
    ] {
        assert_eq!(round_trip(&context("UTC", style), PgType::Date, -1, text), wanted, "{style}: {text}");
    }
}

#[test]
fn timestamps_in_all_forms() {
    for (zone, style, ty, text, wanted) in [
        ("UTC", "iso", PgType::Timestamp, "2024-02-05 03:04:05.0067895", "2024-02-05 03:04:05.00679"),
        ("UTC", "iso", PgType::Timestamp, "2024-02-05T03:04:05Z", "2024-02-05 03:04:05"),
        ("UTC", "iso", PgType::Timestamp, "20240205T030405.25", "2024-02-05 03:04:05.25"),
        ("UTC", "iso", PgType::Timestamp, "2024-02-05 12:04:05 am", "2024-02-05 00:04:05"),
        ("UTC", "iso", PgType::Timestamp, "2024-02-05 24:00", "2024-02-06 00:00:00"),
        ("UTC", "iso", PgType::Timestamp, "2024-02-05 23:59:60", "2024-02-06 00:00:00"),
        ("UTC", "iso", PgType::Timestamp, "2024-02-05 23:59:61", "22008"),
        ("UTC", "iso", PgType::Timestamp, "2024-02-05 03:04:05+16", "22009"),
        ("UTC", "iso", PgType::Timestamp, "2024-02-05 03:04:05 Foo", "22007"),
        ("UTC", "iso", PgType::Timestamp, "294277-01-01", "22008"),
        ("UTC", "iso", PgType::Timestamp, "J2451187.25", "1999-01-08 06:00:00"),
        ("UTC", "iso", PgType::Timestamp, "infinity", "infinity"),
        ("UTC", "iso", PgType::Timestamptz, "2024-02-05 03:04:05+08:30:15", "2024-02-04 18:33:50+00"),
        ("UTC", "iso", PgType::Timestamptz, "2024-07-05 03:04:05 America/New_York", "2024-07-05 07:04:05+00"),
        ("UTC", "iso", PgType::Timestamptz, "2024-07-05 03:04:05 PST", "2024-07-05 11:04:05+00"),
        ("UTC", "iso", PgType::Timestamptz, "2010-07-05 03:04:05 MSK", "2010-07-05 00:04:05+00"),
        ("UTC", "iso", PgType::Timestamptz, "2024-07-05 03:04:05 MET DST", "2024-07-05 01:04:05+00"),
        ("UTC", "iso", PgType::Timestamptz, "2024-07-05 03:04:05 UTC+3", "2024-07-05 06:04:05+00"),
        ("UTC", "iso", PgType::Timestamptz, "20240205T030405-08", "2024-02-05 11:04:05+00"),
        ("America/New_York", "iso", PgType::Timestamptz, "2024-03-10 02:30", "2024-03-10 03:30:00-04"),
        ("America/New_York", "iso", PgType::Timestamptz, "2024-11-03 01:30", "2024-11-03 01:30:00-05"),
        ("America/New_York", "iso", PgType::Timestamptz, "12000-07-01 12:00", "12000-07-01 12:00:00-04"),
        ("America/New_York", "iso", PgType::Timestamptz, "1850-01-01", "1850-01-01 00:00:00-04:56:02"),
        ("America/New_York", "sql, dmy", PgType::Timestamptz, "2024-07-05 03:04:05+00", "04/07/2024 23:04:05 EDT"),
        ("America/New_York", "postgres, mdy", PgType::Timestamptz, "2024-02-05 03:04:05.5+00", "Sun Feb 04 22:04:05.5 2024 EST"),
        ("America/New_York", "german", PgType::Timestamptz, "5.2.2024 3:04", "05.02.2024 03:04:00 EST"),
        ("UTC", "postgres, dmy", PgType::Timestamp, "0044-03-15 12:00 BC", "Fri 15 Mar 12:00:00 0044 BC"),
        ("5.5", "iso", PgType::Timestamptz, "2024-02-05", "2024-02-05 00:00:00+05:30"),
    ] {
        assert_eq!(round_trip(&context(zone, style), ty, -1, text), wanted, "{zone} {style}: {text}");
    }
}

#[test]
fn times_in_all_forms() {
    let ctx = context("America/New_York", "iso");
    for (text, time, timetz) in [
        ("04:05:06.789", "04:05:06.789", "04:05:06.789-04"),
        ("040506", "04:05:06", "04:05:06-04"),
        ("0405", "04:05:00", "04:05:00-04"),
        ("04:05 PM", "16:05:00", "16:05:00-04"),
        ("12:00 AM", "00:00:00", "00:00:00-04"),
        ("13:00 PM", "22008", "22008"),
        ("04:05:06.789-8", "04:05:06.789", "04:05:06.789-08"),
        ("040506+07:30:00", "04:05:06", "04:05:06+07:30"),
        ("040506-08", "04:05:06", "04:05:06-08"),
        ("04:05:06 PST", "04:05:06", "04:05:06-08"),
        ("04:05:06 America/New_York", "22007", "22007"),
        ("2003-04-12 04:05:06 America/New_York", "04:05:06", "04:05:06-04"),
        ("04:05:06 Etc/GMT+3", "04:05:06", "04:05:06-03"),
        ("allballs", "00:00:00", "00:00:00+00"),
        ("24:00", "24:00:00", "24:00:00-04"),
        ("24:00:01", "22008", "22008"),
        ("23:59:59.9999999", "24:00:00", "24:00:00-04"),
        ("T040506", "04:05:06", "04:05:06-04"),
        ("4", "22007", "22007"),
        ("foo", "22007", "22007"),
    ] {
        assert_eq!(round_trip(&ctx, PgType::Time, -1, text), time, "{text}");
        assert_eq!(round_trip(&ctx, PgType::Timetz, -1, text), timetz, "{text}");
    }
}

#[test]
fn modifiers_round() {
    let ctx = context("UTC", "iso");
    for (typmod, text, wanted) in [
        (0, "2024-02-05 03:04:05.5", "2024-02-05 03:04:06"),
        (0, "1995-02-05 03:04:05.5", "1995-02-05 03:04:05"),
        (1, "1995-02-05 03:04:05.45", "1995-02-05 03:04:05.4"),
        (3, "2024-02-05 03:04:05.4567895", "2024-02-05 03:04:05.457"),
        (0, "1999-12-31 23:59:59.999999", "2000-01-01 00:00:00"),
        (2, "infinity", "infinity"),
    ] {
        assert_eq!(round_trip(&ctx, PgType::Timestamp, typmod, text), wanted, "timestamp({typmod}) {text}");
    }
    assert_eq!(round_trip(&ctx, PgType::Time, 2, "23:59:59.999999"), "24:00:00");
    assert_eq!(round_trip(&ctx, PgType::Timetz, 1, "00:00:00.55-08"), "00:00:00.6-08");
}

#[test]
fn timetz_bytes_order_as_values() {
    let values = ["23:00+15", "10:00+02", "09:00+01", "08:00+00", "08:00:00.000001+00", "00:00-08:00:01"];
    let ctx = context("UTC", "iso");
    let bytes: Vec<_> = values.iter().map(|text| parse_timetz(&ctx, text).unwrap().to_bytes()).collect();
    assert!(bytes.is_sorted(), "{bytes:?}");
    assert!(bytes.windows(2).all(|pair| pair[0] != pair[1]));
    for (text, bytes) in values.iter().zip(&bytes) {
        assert_eq!(TimeTz::from_bytes(bytes).unwrap(), parse_timetz(&ctx, text).unwrap());
    }
}

#[test]
fn broken_binary_forms_are_refused() {
    let ctx = context("UTC", "iso");
    let refused = |ty: PgType, bytes: &[u8]| builder(&SqlType::new(ty)).unwrap().binary(&ctx, bytes).unwrap_err().code().to_string();
    assert_eq!(refused(PgType::Date, &[0; 3]), "08P01");
    assert_eq!(refused(PgType::Date, &[0; 5]), "22P03");
    assert_eq!(refused(PgType::Date, &(i32::MAX - 1).to_be_bytes()), "22008");
    assert_eq!(refused(PgType::Time, &(-1_i64).to_be_bytes()), "22008");
    assert_eq!(refused(PgType::Timestamp, &(i64::MAX - 1).to_be_bytes()), "22008");
    assert_eq!(refused(PgType::Timetz, &[[0; 8].as_slice(), &60_000_i32.to_be_bytes()].concat()), "22009");
}

#[test]
fn date_style_is_read_and_shown() {
    let current = (DateFormat::Sql, DateOrder::Ymd);
    for (text, shown) in [
        ("iso", "ISO, YMD"),
        ("german", "German, DMY"),
        ("mdy, german", "German, MDY"),
        ("sql, DMY", "SQL, DMY"),
        ("european", "SQL, DMY"),
        ("NonEuropean", "SQL, MDY"),
        ("default", "ISO, MDY"),
        ("dmy, default", "ISO, DMY"),
        ("PostgreSQL", "Postgres, YMD"),
        ("", "SQL, YMD"),
    ] {
        let (format, order) = parse_date_style(text, current).unwrap();
        assert_eq!(date_style_name(format, order), shown, "{text}");
    }
    for wrong in ["foo", "iso, sql", "dmy, mdy", "german, dmy, mdy", "iso,,", "iso mdy"] {
        assert_eq!(parse_date_style(wrong, current).unwrap_err().code(), SqlState::INVALID_PARAMETER_VALUE, "{wrong}");
    }
}
