//! Functions, operators and casts of dates and times, called through the registry; the answers are PostgreSQL 15's.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use crate::EvalContext;
use crate::args::{Arg, Call};
use crate::error::PgResult;
use crate::registry::{CastKind, FuncKind, OperKind, Registry};
use crate::settings::ValueSettings;
use crate::types::{SqlType, type_by_name};
use crate::values::datetime::epoch;
use crate::values::{builder, timezone, writer};
use arrow::array::Array;
use std::sync::Arc;

/// The text of a call's result (`NULL` for NULL), or the code of its error. The call is written `name type text | type text`, its
/// name that of a function, an operator, or `::` and a type; it is made with constants and with columns.
pub(crate) fn evaluate(zone: &str, name: &str, args: &str) -> String {
    let mut settings = ValueSettings::default();
    (settings.time_zone_name, settings.time_zone) = timezone::lookup(zone).unwrap();
    let ctx =
        EvalContext { settings: Arc::new(settings), transaction_time: epoch::from_clock(1_750_000_000_000_000), ..EvalContext::default() };
    call(&ctx, name, args).unwrap_or_else(|error| error.code().to_string())
}

fn call(ctx: &EvalContext, name: &str, args: &str) -> PgResult<String> {
    let (mut types, mut arrays) = (Vec::new(), Vec::new());
    for arg in args.split(" | ").filter(|arg| !arg.is_empty()) {
        let (ty, text) = arg.split_once(' ').unwrap();
        let ty = SqlType::new(type_by_name(ty).unwrap());
        let mut column = builder(&ty)?;
        if text == "NULL" {
            column.null();
        } else {
            column.text(ctx, text)?;
        }
        types.push(ty);
        arrays.push(Arg { array: column.finish()?, constant: true });
    }
    let r = Registry::get();
    let (ret, kernel) = if let Some(to) = name.strip_prefix("::") {
        let to = type_by_name(to).unwrap();
        match &r.cast(&types[0].ty, &to).unwrap().kind {
            CastKind::Kernel(kernel) => (SqlType::new(to), kernel.clone()),
            CastKind::Relabel => panic!("{name} has no kernel"),
        }
    } else if name.starts_with(char::is_alphabetic) {
        let found = r.functions(name).iter().find(|f| f.args.iter().eq(types.iter().map(|ty| &ty.ty)));
        match found.unwrap_or_else(|| panic!("no {name} of {types:?}")) {
            f if matches!(f.kind, FuncKind::Scalar(_)) => match &f.kind {
                FuncKind::Scalar(kernel) => (SqlType::new(f.ret.clone()), kernel.clone()),
                _ => unreachable!(),
            },
            f => panic!("{f:?} is no scalar function"),
        }
    } else {
        let (left, right) = if types.len() == 1 { (None, &types[0]) } else { (Some(&types[0].ty), &types[1]) };
        let found = r.operators(name).iter().find(|o| o.left.as_ref() == left && o.right == right.ty);
        match &found.unwrap_or_else(|| panic!("no {name} of {types:?}")).kind {
            OperKind::Kernel(kernel) => (SqlType::new(found.unwrap().ret.clone()), kernel.clone()),
            OperKind::Native(_) => return Ok("native".into()),
        }
    };
    let one = Call { ctx, rows: 1, arg_types: &types, ret: &ret, explicit: true };
    let array = kernel(&one, &arrays)?;
    assert_eq!(array.data_type(), &ret.arrow, "{name}");
    let columns: Vec<Arg> = arrays
        .iter()
        .map(|arg| Arg { array: arrow::compute::concat(&[arg.array.as_ref(), arg.array.as_ref()]).unwrap(), constant: false })
        .collect();
    assert_eq!(&kernel(&Call { rows: 2, ..one }, &columns)?.slice(1, 1), &array, "{name} over columns");
    if array.is_null(0) {
        return Ok("NULL".into());
    }
    let mut out = Vec::new();
    writer(ctx, &ret, array.as_ref())?.text(0, &mut out)?;
    Ok(String::from_utf8(out).unwrap())
}

/// Checks calls under a time zone.
pub(crate) fn check(zone: &str, cases: &[(&str, &str, &str)]) {
    for (name, args, wanted) in cases {
        assert_eq!(evaluate(zone, name, args), *wanted, "{name}({args}) in {zone}");
    }
}

#[test]
fn arithmetic() {
    check(
        "America/New_York",
        &[
            ("+", "date 2024-02-28 | int4 2", "2024-03-01"),
            ("-", "date 2024-03-01 | date 2024-02-01", "29"),
            ("-", "date infinity | date 2024-02-01", "22008"),
            ("+", "date 2024-01-01 | int4 2147483647", "22008"),
            ("+", "date infinity | int4 1", "infinity"),
            ("+", "date 2024-01-31 | interval 1 month", "2024-02-29 00:00:00"),
            ("+", "time 01:00 | date 2024-01-31", "2024-01-31 01:00:00"),
            ("+", "date 2024-01-31 | timetz 01:00+03", "2024-01-30 17:00:00-05"),
            ("+", "timestamp 2024-01-31 | interval 1 month 1 day", "2024-03-01 00:00:00"),
            ("-", "timestamp 4714-11-24 BC | interval 1 day", "22008"),
            ("-", "timestamp infinity | interval -2147483648 days", "infinity"),
            ("+", "timestamptz 2024-03-09 02:30 | interval 1 day", "2024-03-10 03:30:00-04"),
            ("+", "timestamptz 2024-11-02 01:30 | interval 1 day", "2024-11-03 01:30:00-05"),
            ("+", "interval 24 hours | timestamptz 2024-11-02 01:30", "2024-11-03 01:30:00-04"),
            ("-", "timestamptz 2024-11-04 | timestamptz 2024-11-03", "1 day 01:00:00"),
            ("-", "timestamp infinity | timestamp 2024-01-01", "22008"),
            ("+", "time 23:00 | interval 2:00", "01:00:00"),
            ("-", "timetz 01:00+02 | interval 2:00", "23:00:00+02"),
            ("-", "time 01:00 | time 02:30", "-01:30:00"),
            ("+", "interval 2147483647 days | interval 1 day", "22008"),
            ("-", "interval 1 mon", "-1 mons"),
            ("*", "float8 1.5 | interval 1 month", "1 mon 15 days"),
            ("/", "interval 1 day | float8 0", "22012"),
        ],
    );
}

#[test]
fn comparisons_across_types() {
    check(
        "America/New_York",
        &[
            ("=", "interval 1 mon | interval 30 days", "t"),
            ("<", "timetz 10:00+02 | timetz 09:00+01", "t"),
            ("=", "timetz 10:00+02 | timetz 09:00+01", "f"),
            (">", "date 5874897-12-31 | timestamp 2024-01-01", "t"),
            ("<", "date 5874897-12-31 | timestamp infinity", "t"),
            ("=", "date 2024-01-01 | timestamptz 2024-01-01 05:00+00", "t"),
            ("=", "timestamp 2024-07-01 | timestamptz 2024-07-01 04:00+00", "t"),
            ("<>", "timestamptz 2024-07-01 04:00+00 | date 2024-07-01", "f"),
            ("=", "date 2024-01-01 | date 2024-01-01", "native"),
        ],
    );
}

#[test]
fn casts() {
    check(
        "America/New_York",
        &[
            ("::timestamptz", "date 2024-07-01", "2024-07-01 00:00:00-04"),
            ("::timestamp", "date 5874897-01-01", "22008"),
            ("::date", "timestamptz 2024-07-01 02:00+00", "2024-06-30"),
            ("::time", "timestamptz 2024-07-01 02:00+00", "22:00:00"),
            ("::timetz", "timestamptz 2024-07-01 02:00+00", "22:00:00-04"),
            ("::timetz", "time 10:00", "10:00:00-04"),
            ("::time", "timestamp infinity", "NULL"),
            ("::date", "timestamp -infinity", "-infinity"),
            ("::timestamp", "timestamptz 2024-07-01 02:00+00", "2024-06-30 22:00:00"),
            ("::time", "interval -1 day -1:00", "23:00:00"),
            ("::interval", "time 04:05", "04:05:00"),
            ("date", "timestamp 2024-07-01 02:00", "2024-07-01"),
        ],
    );
}

#[test]
fn fields() {
    check(
        "Asia/Kolkata",
        &[
            ("extract", "text second | timestamp 2024-02-29 13:14:15.678901", "15.678901"),
            ("extract", "text milliseconds | time 04:05:06.789", "6789.000"),
            ("date_part", "text milliseconds | time 04:05:06.789", "6789"),
            ("extract", "text epoch | date 2024-01-01", "1704067200"),
            ("extract", "text epoch | timestamptz 2024-01-01 00:00+00", "1704067200.000000"),
            ("extract", "text epoch | interval 1 year 1 sec", "31557601.000000"),
            ("extract", "text epoch | timetz 10:00-02:30", "45000.000000"),
            ("extract", "text julian | timestamp 2024-01-01 12:34:56", "2460311.52425925925925925926"),
            ("extract", "text century | timestamp 0100-01-01 BC", "-1"),
            ("extract", "text decade | date 0005-01-01 BC", "-1"),
            ("extract", "text isoyear | date 2021-01-03", "2020"),
            ("extract", "text week | date 2021-01-03", "53"),
            ("extract", "text isodow | date 2021-01-03", "7"),
            ("extract", "text doy | date 2024-12-31", "366"),
            ("extract", "text Quarter | interval -5 months", "0"),
            ("extract", "text timezone_minute | timestamptz 2024-01-01", "30"),
            ("extract", "text year | date -infinity", "-Infinity"),
            ("extract", "text day | timestamp infinity", "NULL"),
            ("extract", "text hour | date 2024-01-01", "0A000"),
            ("date_part", "text hour | date 2024-01-01", "0"),
            ("extract", "text week | interval 1 day", "0A000"),
            ("extract", "text fortnight | interval 1 day", "22023"),
            ("extract", "text now | time 10:00", "22023"),
            ("extract", "text now | timestamp 2024-01-01", "0A000"),
        ],
    );
}

#[test]
fn truncation() {
    check(
        "America/New_York",
        &[
            ("date_trunc", "text week | timestamp 2024-02-29 13:14", "2024-02-26 00:00:00"),
            ("date_trunc", "text quarter | timestamp 2024-02-29 13:14", "2024-01-01 00:00:00"),
            ("date_trunc", "text century | timestamp 2000-02-29", "1901-01-01 00:00:00"),
            ("date_trunc", "text decade | timestamp 0005-06-07 BC", "0011-01-01 00:00:00 BC"),
            ("date_trunc", "text day | timestamptz 2024-03-10 12:00", "2024-03-10 00:00:00-05"),
            ("date_trunc", "text day | timestamptz 2024-03-10 12:00 | text Asia/Kolkata", "2024-03-09 13:30:00-05"),
            ("date_trunc", "text hour | timestamptz 2024-03-10 12:45", "2024-03-10 12:00:00-04"),
            ("date_trunc", "text foo | timestamp infinity", "infinity"),
            ("date_trunc", "text dow | timestamp 2024-01-01", "22023"),
            ("date_trunc", "text timezone | timestamp 2024-01-01", "0A000"),
            ("date_trunc", "text week | interval 1 day", "0A000"),
            ("date_trunc", "text quarter | interval 14 months 3 days", "1 year"),
            ("date_trunc", "text day | timestamptz 2024-01-01 | text nowhere", "22023"),
            ("date_bin", "interval 7 days | timestamp 2024-01-01 | timestamp 2024-01-03", "2023-12-27 00:00:00"),
            ("date_bin", "interval 1 month | timestamp 2024-01-01 | timestamp 2024-01-03", "0A000"),
            ("date_bin", "interval 0 | timestamp 2024-01-01 | timestamp 2024-01-03", "22008"),
        ],
    );
}

#[test]
fn construction() {
    check(
        "UTC",
        &[
            ("make_date", "int4 -44 | int4 3 | int4 15", "0044-03-15 BC"),
            ("make_date", "int4 2023 | int4 2 | int4 29", "22008"),
            ("make_time", "int4 8 | int4 15 | float8 23.5", "08:15:23.5"),
            ("make_time", "int4 25 | int4 0 | float8 0", "22008"),
            ("make_timestamp", "int4 2024 | int4 2 | int4 29 | int4 1 | int4 2 | float8 3.5", "2024-02-29 01:02:03.5"),
            (
                "make_timestamptz",
                "int4 2024 | int4 7 | int4 3 | int4 2 | int4 2 | float8 3.5 | text America/New_York",
                "2024-07-03 06:02:03.5+00",
            ),
            ("make_timestamptz", "int4 2024 | int4 7 | int4 3 | int4 2 | int4 2 | float8 3.5 | text 03", "22023"),
            ("make_interval", "int4 1 | int4 2 | int4 3 | int4 4 | int4 5 | int4 6 | float8 7.5", "1 year 2 mons 25 days 05:06:07.5"),
            ("to_timestamp", "float8 1700000000.5", "2023-11-14 22:13:20.5+00"),
            ("to_timestamp", "float8 nan", "22008"),
            ("to_timestamp", "float8 -inf", "-infinity"),
        ],
    );
}

#[test]
fn spans() {
    check(
        "UTC",
        &[
            ("age", "timestamp 2024-03-31 | timestamp 2024-02-29", "1 mon 2 days"),
            ("age", "timestamp 2024-02-29 | timestamp 2024-03-31", "-1 mons -2 days"),
            ("age", "timestamp 2024-06-15", "1 year"),
            ("justify_hours", "interval 1 mon 49:00", "1 mon 2 days 01:00:00"),
            ("justify_days", "interval 65 days", "2 mons 5 days"),
            ("justify_interval", "interval 1 mon -1 hour", "29 days 23:00:00"),
            ("isfinite", "timestamp -infinity", "f"),
            ("overlaps", "timestamp 2024-01-01 | timestamp 2024-02-01 | timestamp 2024-02-01 | timestamp 2024-03-01", "f"),
            ("overlaps", "timestamp 2024-01-01 | interval 2 mon | timestamp 2024-02-01 | timestamp NULL", "t"),
            ("overlaps", "timestamp 2024-01-01 | timestamp NULL | timestamp 2024-01-01 | timestamp NULL", "NULL"),
            ("overlaps", "time 23:00 | interval 2:00 | time 00:30 | interval 1:00", "t"),
        ],
    );
}

#[test]
fn zones() {
    check(
        "UTC",
        &[
            ("timezone", "text America/New_York | timestamptz 2024-07-01 00:00", "2024-06-30 20:00:00"),
            ("timezone", "text America/New_York | timestamp 2024-03-10 02:30", "2024-03-10 07:30:00+00"),
            ("timezone", "text PST | timestamp 2024-07-01", "2024-07-01 08:00:00+00"),
            ("timezone", "text +3 | timestamp 2024-07-01", "2024-07-01 03:00:00+00"),
            ("timezone", "text Mars/Base | timestamp 2024-07-01", "22023"),
            ("timezone", "text Mars/Base | timestamp infinity", "infinity"),
            ("timezone", "interval 5:30 | timestamptz 2024-07-01", "2024-07-01 05:30:00"),
            ("timezone", "interval 1 day | timestamptz 2024-07-01", "22023"),
            ("timezone", "text Asia/Tokyo | timetz 22:00+00", "07:00:00+09"),
        ],
    );
}

#[test]
fn the_current_time() {
    check(
        "America/New_York",
        &[
            ("now", "", "2025-06-15 11:06:40-04"),
            ("current_date", "", "2025-06-15"),
            ("current_time", "", "11:06:40-04"),
            ("localtime", "", "11:06:40"),
            ("localtimestamp", "int4 0", "2025-06-15 11:06:40"),
        ],
    );
}
