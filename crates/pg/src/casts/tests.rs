//! Casts through the registry; expected texts and errors are PostgreSQL 15's.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use super::*;
use crate::EvalContext;
use crate::values::{builder, input_text, output_text, parse_type_name};
use datafusion_common::ScalarValue;

fn cast(text: &str, from: &SqlType, to: &SqlType, explicit: bool) -> PgResult<String> {
    let ctx = EvalContext::default();
    let mut values = builder(from)?;
    values.text(&ctx, text)?;
    values.null();
    let array = values.finish()?;
    let out = match cast_kernel(from, to, explicit)? {
        Some(kernel) => apply(&ctx, &kernel, from, to, explicit, array)?,
        None => array,
    };
    assert_eq!(out.data_type(), &to.arrow, "{from} to {to}");
    assert!(out.is_null(1));
    output_text(&ctx, to, &ScalarValue::try_from_array(&out, 0).unwrap())
}

fn named(name: &str) -> SqlType {
    parse_type_name(name).unwrap()
}

/// What PostgreSQL 15 answers to `SELECT 'text'::from::to`.
#[test]
fn explicit_casts() {
    for (text, from, to, expected) in [
        ("2.5", "float8", "int4", "2"),
        ("3.5", "float8", "int8", "4"),
        ("2.5", "numeric", "int4", "3"),
        ("-2.5", "numeric(10,2)", "int4", "-3"),
        ("-1", "int4", "oid", "4294967295"),
        ("4294967295", "oid", "int4", "-1"),
        ("1.005", "numeric", "numeric(10,2)", "1.01"),
        ("1.005", "numeric(10,3)", "numeric(10,2)", "1.01"),
        ("1.5", "numeric(10,3)", "numeric", "1.500"),
        ("7", "int4", "numeric(10,2)", "7.00"),
        ("0.1", "float8", "numeric(10,2)", "0.10"),
        ("123456789.123456789", "float8", "numeric", "123456789.123457"),
        ("0.1", "float4", "numeric", "0.1"),
        ("1.25", "numeric(10,2)", "float8", "1.25"),
        ("12345", "int4", "varchar(3)", "123"),
        ("t", "bool", "varchar(2)", "tr"),
        ("t", "bool", "name", "t"),
        ("t", "bool", "text", "true"),
        ("abc  ", "text", "char(2)", "ab"),
        ("abc", "char(5)", "text", "abc"),
        ("12", "text", "int4", "12"),
        (" 1.5 ", "varchar", "numeric(4,2)", "1.50"),
        ("1", "int4", "bool", "t"),
        ("101", "int4", "\"char\"", "e"),
        ("a", "\"char\"", "int4", "97"),
        ("abcdef", "text", "\"char\"", "a"),
        ("int4", "text", "regtype", "integer"),
        ("23", "oid", "regtype", "integer"),
        ("{1,NULL,3}", "int4[]", "float8[]", "{1,NULL,3}"),
        ("{1.25,2}", "numeric[]", "numeric(5,1)[]", "{1.3,2.0}"),
        ("{1,2}", "int4[]", "text[]", "{1,2}"),
        ("{1,2}", "int4[]", "text", "{1,2}"),
        ("{1, 2}", "text", "int4[]", "{1,2}"),
        ("{t,f}", "bool[]", "text[]", "{true,false}"),
    ] {
        assert_eq!(cast(text, &named(from), &named(to), true).unwrap(), expected, "'{text}'::{from}::{to}");
    }
}

#[test]
fn errors() {
    for (text, from, to, explicit, code, message) in [
        ("40000", "int4", "int2", true, "22003", "smallint out of range"),
        ("32767.5", "float8", "int2", true, "22003", "smallint out of range"),
        ("nan", "float8", "int4", true, "22003", "integer out of range"),
        ("nan", "numeric", "int4", true, "0A000", "cannot convert NaN to integer"),
        ("inf", "numeric", "int8", true, "0A000", "cannot convert infinity to bigint"),
        ("1e40", "float8", "float4", true, "22003", "value out of range: overflow"),
        ("1e-60", "float8", "float4", true, "22003", "value out of range: underflow"),
        ("-1", "int8", "oid", true, "22003", "OID out of range"),
        ("200", "int4", "\"char\"", true, "22003", "\"char\" out of range"),
        ("123.45", "numeric", "numeric(4,2)", true, "22003", "numeric field overflow"),
        ("123", "int4", "numeric(4,2)", true, "22003", "numeric field overflow"),
        ("abcd", "text", "varchar(3)", false, "22001", "value too long for type character varying(3)"),
        ("1", "int4", "date", true, "42846", "cannot cast type integer to date"),
        ("{1}", "int4[]", "date[]", true, "42846", "cannot cast type integer[] to date[]"),
        ("1", "numeric", "\"char\"", true, "42846", "cannot cast type numeric to \"char\""),
        ("x", "text", "int4", true, "22P02", "invalid input syntax for type integer: \"x\""),
    ] {
        let error = cast(text, &named(from), &named(to), explicit).unwrap_err();
        assert_eq!((error.code().as_str(), error.message()), (code, message), "'{text}'::{from}::{to}");
    }
}

#[test]
fn contexts() {
    use CastContext::{Assignment, Explicit, Implicit};
    for (from, to, context) in [
        ("int4", "int8", Some(Implicit)),
        ("int8", "int4", Some(Assignment)),
        ("int4", "bool", Some(Explicit)),
        ("int4", "text", Some(Assignment)),
        ("text", "int4", Some(Explicit)),
        ("date", "int4", None),
        ("int4[]", "int8[]", Some(Implicit)),
        ("int4[]", "text", Some(Assignment)),
        ("oid", "regclass", Some(Implicit)),
    ] {
        assert_eq!(cast_context(&named(from).ty, &named(to).ty), context, "{from} to {to}");
    }
    let ctx = EvalContext::default();
    let one = input_text(&ctx, &SqlType::new(PgType::Int4), "1").unwrap();
    assert_eq!(output_text(&ctx, &SqlType::new(PgType::Int4), &one).unwrap(), "1");
}
