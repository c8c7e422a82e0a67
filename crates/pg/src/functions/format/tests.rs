//! Templates as PostgreSQL 15 fills and reads them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use crate::functions::datetime::tests::{check, evaluate};

#[test]
fn dates_are_written() {
    let moment = "2024-02-29 13:14:15.678901";
    for (template, wanted) in [
        ("YYYY-MM-DD HH24:MI:SS.US", "2024-02-29 13:14:15.678901"),
        ("HH12:MI:SS AM p.m.", "01:14:15 PM p.m."),
        ("[Day] [DAY] [FMday] [TMDay] Dy", "[Thursday ] [THURSDAY ] [thursday] [Thursday] Thu"),
        ("[Month] [FMMONTH] mon", "[February ] [FEBRUARY] feb"),
        ("DDD DD D ID IDDD WW IW W Q CC J", "060 29 5 4 060 09 09 5 1 21 2460370"),
        ("Y,YYY YYY YY Y IYYY IYY IY I", "2,024 024 24 4 2024 024 24 4"),
        ("[RM] [FMrm] BC a.d.", "[II  ] [ii] AD a.d."),
        ("MS FF1 FF6 FF7 SSSS", "678 6 678901 FF7 47655"),
        ("FMMM/FMDD FMHH12 FMMI", "2/29 1 14"),
        ("DDth DDTH FMMMth Y,YYYth", "29th 29TH 2nd 2,024th"),
        ("\"YYYY\" YYYY \\\"MM\\\" \"a\\\"b\" \"un", "YYYY 2024 \"02\" a\"b un"),
        ("hh24H", "13H"),
        ("---", "---"),
        ("", "NULL"),
    ] {
        let template_arg = format!("timestamp {moment} | text {template}");
        assert_eq!(evaluate("UTC", "to_char", &template_arg), wanted, "{template}");
    }
    check(
        "Asia/Kolkata",
        &[
            ("to_char", "timestamptz 2024-02-29 13:14 | text TZ tz OF TZH:TZM", "IST ist +05:30 +05:30"),
            ("to_char", "timestamp 2024-02-29 13:14 | text TZ|OF", "|+00"),
            ("to_char", "timestamp 0044-03-15 BC | text YYYY CC BC", "0044 -01 BC"),
            ("to_char", "timestamp infinity | text YYYY", "NULL"),
            ("to_char", "interval -1 year -2 mon -3 days -04:05:06 | text YYYY MM DD HH24:MI", "-0001 -02 -3 -04:-05"),
            ("to_char", "interval 100:00:00 | text HH24 HH12 DDD", "100 04 000"),
            ("to_char", "interval 99999999 years | text DDD WW", "1640261272 234323039"),
            ("to_char", "interval 1 day | text Day", "22007"),
            // No template, and one that writes nothing.
            ("to_char", "interval 1 day | text ", "NULL"),
            ("to_char", "interval 1 day | text \"\"", ""),
            ("to_char", "timestamp 2024-02-29 13:14 | text \"", ""),
        ],
    );
}

#[test]
fn dates_are_read() {
    for (text, template, wanted) in [
        ("2024-02-05", "YYYY-MM-DD", "2024-02-05"),
        ("05 Feb 2024", "DD Mon YYYY", "2024-02-05"),
        ("February 5, 2024", "Month DD, YYYY", "2024-02-05"),
        ("20240205", "YYYYMMDD", "2024-02-05"),
        ("2/5/24", "MM/DD/YY", "2024-02-05"),
        ("995", "YYY", "1995-01-01"),
        ("2024 060", "YYYY DDD", "2024-02-29"),
        ("2024-W06-1", "IYYY-\"W\"IW-ID", "2024-02-05"),
        ("2024 06", "YYYY WW", "2024-02-05"),
        ("21 24", "CC YY", "2024-01-01"),
        ("6 00 BC", "CC YY BC", "0600-01-01 BC"),
        ("2451187", "J", "1999-01-08"),
        ("44-03-15 B.C.", "YYYY-MM-DD A.D.", "0044-03-15 BC"),
        ("2,024-02", "Y,YYY-MM", "2024-02-01"),
        ("2024 viii", "YYYY RM", "2024-08-01"),
        ("5th Feb 2024", "DDth Mon YYYY", "2024-02-05"),
        ("2024/ 2/5", "YYYY-MM-DD", "2024-02-05"),
        ("2011x12x18", "YYYYxMMxDD", "2011-12-18"),
        ("2024", "", "0001-01-01 BC"),
        ("2024-13-01", "YYYY-MM-DD", "22008"),
        ("2024-02-30", "YYYY-MM-DD", "22008"),
        ("abcd", "YYYY", "22007"),
        ("24", "YYYYMM", "22007"),
        ("2024-2-5", "FXYYYY-MM-DD", "2024-02-05"),
        ("2024-02 03", "YYYY-MM MM", "22007"),
        ("2024 06 1", "YYYY IW ID", "22007"),
        ("060", "DDD", "22007"),
        ("99999999999", "YYYY", "22008"),
        ("12 X", "DD TZ", "0A000"),
    ] {
        assert_eq!(evaluate("UTC", "to_date", &format!("text {text} | text {template}")), wanted, "{text} by {template}");
    }
    check(
        "America/New_York",
        &[
            ("to_timestamp", "text 05/07/2024 03:04 PM | text DD/MM/YYYY HH12:MI AM", "2024-07-05 15:04:00-04"),
            ("to_timestamp", "text 2024-02-05 1.25 | text YYYY-MM-DD SS.MS", "2024-02-05 00:00:01.25-05"),
            ("to_timestamp", "text 2024-02-05 1.123456 | text YYYY-MM-DD SS.FF3", "2024-02-05 00:00:01.123-05"),
            ("to_timestamp", "text 2024-02-05 10:00 -03:30 | text YYYY-MM-DD HH24:MI TZH:TZM", "2024-02-05 08:30:00-05"),
            ("to_timestamp", "text 2024-02-05 86399 | text YYYY-MM-DD SSSS", "2024-02-05 23:59:59-05"),
            ("to_timestamp", "text 13:00 | text HH:MI", "22007"),
            ("to_timestamp", "text 24:00 | text HH24:MI", "22008"),
            ("to_timestamp", "text 03:04 +16 | text HH24:MI TZH", "22009"),
        ],
    );
}

#[test]
fn numbers_are_written() {
    for (value, template, wanted) in [
        ("485", "999", " 485"),
        ("-485", "999", "-485"),
        ("485", "9 9 9", " 4 8 5"),
        ("1485", "9,999", " 1,485"),
        ("148.5", "999.999", " 148.500"),
        ("148.5", "FM999.990", "148.500"),
        ("148.5", "FM999.999", "148.5"),
        ("-485", "999S", "485-"),
        ("-485", "S999", "-485"),
        ("-485", "999MI", "485-"),
        ("485", "999MI", "485 "),
        ("485", "FM999MI", "485"),
        ("485", "PL999", "+ 485"),
        ("485", "SG999", "+485"),
        ("-485", "9SG99", "4-85"),
        ("-485", "999PR", "<485>"),
        ("485", "L999", "  485"),
        ("485", "RN", "        CDLXXXV"),
        ("485", "FMrn", "cdlxxxv"),
        ("4000", "FMRN", "###############"),
        ("482", "999th", " 482nd"),
        ("485", "\"Good number:\"999", "Good number: 485"),
        ("12", "99V999", " 12000"),
        ("12.45", "99V9", " 125"),
        ("0.00048", "9.99EEEE", " 4.80e-04"),
        ("1.2345e45678", "9.999EEEE", " 1.235e+45678"),
        ("-9.9995e-16000", "9.999EEEE", "-10.000e-16000"),
        ("-0.1", "99.99", "  -.10"),
        ("0.1", "FM0.9", "0.1"),
        ("0", "FM9.9", "0."),
        ("12", "0999", " 0012"),
        ("12345", "999", " ###"),
        ("12", "9,999.9", "    12.0"),
        ("NaN", "999", " NaN"),
        ("1", "9EEEE9", "42601"),
        ("1", "9.9.9", "42601"),
        ("1", "S9S", "42601"),
        ("NaN", "999th", "22P02"),
        ("1", "", ""),
    ] {
        assert_eq!(evaluate("UTC", "to_char", &format!("numeric {value} | text {template}")), wanted, "{value} by {template}");
    }
    check(
        "UTC",
        &[
            ("to_char", "int4 125 | text 999.9", " 125.0"),
            ("to_char", "int8 -9223372036854775808 | text 9EEEE", "-9e+18"),
            ("to_char", "float8 1234.5 | text 9999.99", " 1234.50"),
            ("to_char", "float4 -12.345 | text 99V99", "-1234"),
            ("to_char", "float8 inf | text 9.9EEEE", " #.#####"),
        ],
    );
}

#[test]
fn numbers_are_read() {
    for (text, template, wanted) in [
        ("12,454.8-", "99G999D9S", "-12454.8"),
        ("-34,338,492", "99G999G999", "-34338492"),
        ("<564646.654564>", "999999.999999PR", "-564646.654564"),
        ("0.00001-", "9.999999S", "-0.00001"),
        ("$1,234.56", "L9,999.99", "1234.56"),
        ("12th", "99th", "12"),
        ("1234", "99V99", "12.3400000000000000"),
        ("1-", "99", "1"),
        ("1-", "99MI", "-1"),
        ("12.345", "99.9", "12.3"),
        ("x12", "\"x\"99", "12"),
        ("12", "", "NULL"),
        ("12", "\"\"", "22P02"),
        ("abc", "999", "22P02"),
        ("1", "RN", "0A000"),
        ("1", "9EEEE", "0A000"),
    ] {
        assert_eq!(evaluate("UTC", "to_number", &format!("text {text} | text {template}")), wanted, "{text} by {template}");
    }
}
