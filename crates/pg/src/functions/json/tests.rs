//! The functions, operators and casts of json through the registry; expected texts are PostgreSQL 15's.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use crate::PgError;
use crate::args::{Arg, Call, Kernel};
use crate::context::EvalContext;
use crate::registry::{CastKind, FuncKind, OperKind, Registry};
use crate::types::{PgType, RecordType, SqlType};
use crate::values::{builder, output_text};
use arrow::array::{Array, ArrayRef};
use datafusion_common::ScalarValue;
use std::sync::Arc;

/// A value: a type and a text, or NULL.
type Value<'a> = (PgType, Option<&'a str>);

fn arg_of(value: &Value) -> Arg {
    let ty = SqlType::new(value.0.clone());
    let mut values = builder(&ty).unwrap();
    match value.1 {
        Some(text) => values.text(&EvalContext::default(), text).unwrap(),
        None => values.null(),
    }
    Arg { array: values.finish().unwrap(), constant: true }
}

fn shown(error: &PgError) -> String {
    format!("{}: {}", error.code(), error.message())
}

fn text(ty: &SqlType, array: &ArrayRef, row: usize) -> String {
    if array.is_null(row) {
        return "NULL".to_owned();
    }
    output_text(&EvalContext::default(), ty, &ScalarValue::try_from_array(array, row).unwrap()).unwrap()
}

fn run_kernel(kernel: &Kernel, args: &[Value], ret: PgType) -> String {
    let ctx = EvalContext::default();
    let types: Vec<SqlType> = args.iter().map(|(ty, _)| SqlType::new(ty.clone())).collect();
    let args: Vec<Arg> = args.iter().map(arg_of).collect();
    let ret = SqlType::new(ret);
    let call = Call { ctx: &ctx, rows: 1, arg_types: &types, ret: &ret, explicit: true };
    match kernel(&call, &args) {
        Ok(array) => text(&ret, &array, 0),
        Err(error) => shown(&error),
    }
}

fn function(name: &str, args: &[Value]) -> String {
    let func = Registry::get()
        .functions(name)
        .iter()
        .find(|func| {
            let fits = func.args.iter().zip(args).all(|(a, (b, _))| {
                a == b || a.is_pseudo() || (func.variadic && *b == a.clone().array_of()) || matches!(a, PgType::Record(_))
            });
            let least = func.args.len() - func.defaults.len();
            fits && ((func.variadic && args.len() >= func.args.len()) || (least..=func.args.len()).contains(&args.len()))
        })
        .unwrap_or_else(|| panic!("no {name}"));
    let FuncKind::Scalar(kernel) = &func.kind else { panic!("{name} is no scalar") };
    run_kernel(kernel, args, func.ret.clone())
}

/// Rows of a set-returning function, columns separated by `|`.
fn rows(name: &str, args: &[Value], ret: Option<PgType>) -> String {
    let func = &Registry::get().functions(name)[0];
    let FuncKind::Set { open, .. } = &func.kind else { panic!("{name} returns no set") };
    let ctx = EvalContext::default();
    let types: Vec<SqlType> = args.iter().map(|(ty, _)| SqlType::new(ty.clone())).collect();
    let args: Vec<Arg> = args.iter().map(arg_of).collect();
    let ret = SqlType::new(ret.unwrap_or_else(|| func.ret.clone()));
    let call = Call { ctx: &ctx, rows: 1, arg_types: &types, ret: &ret, explicit: false };
    let columns: Vec<SqlType> = match &ret.ty {
        PgType::Record(Some(record)) => record.fields.iter().map(|(_, ty)| ty.clone()).collect(),
        _ => vec![ret.clone()],
    };
    let mut source = match open(&call, &args, 0) {
        Ok(source) => source,
        Err(error) => return shown(&error),
    };
    let mut out = Vec::new();
    while let Some(chunk) = source.next_chunk(2).unwrap() {
        for row in 0..chunk[0].len() {
            out.push(columns.iter().zip(&chunk).map(|(ty, array)| text(ty, array, row)).collect::<Vec<_>>().join("|"));
        }
    }
    out.join(" / ")
}

fn json(text: &str) -> Value<'_> {
    (PgType::Json, Some(text))
}

fn jsonb(text: &str) -> Value<'_> {
    (PgType::Jsonb, Some(text))
}

fn string(value: &str) -> Value<'_> {
    (PgType::Text, Some(value))
}

fn texts(value: &str) -> Value<'_> {
    (PgType::Text.array_of(), Some(value))
}

fn int(value: &str) -> Value<'_> {
    (PgType::Int4, Some(value))
}

#[test]
fn values_to_json() {
    for (ty, value, wanted, wanted_b) in [
        (PgType::Float8, "1.5", "1.5", "1.5"),
        (PgType::Float8, "1e20", "1e+20", "100000000000000000000"),
        (PgType::Numeric, "NaN", "\"NaN\"", "\"NaN\""),
        (PgType::Bool, "t", "true", "true"),
        (PgType::Timestamptz, "2020-01-02 03:04:05+00", "\"2020-01-02T03:04:05+00:00\"", "\"2020-01-02T03:04:05+00:00\""),
        (PgType::Timestamp, "2020-01-02 03:04:05.25", "\"2020-01-02T03:04:05.25\"", "\"2020-01-02T03:04:05.25\""),
        (PgType::Interval, "1 day", "\"1 day\"", "\"1 day\""),
        (PgType::Text.array_of(), "{a,NULL}", "[\"a\",null]", "[\"a\", null]"),
        (PgType::Json, " {\"a\" : 1}", " {\"a\" : 1}", "{\"a\": 1}"),
        (PgType::Oid, "1", "\"1\"", "\"1\""),
    ] {
        assert_eq!(function("to_json", &[(ty.clone(), Some(value))]), wanted, "{ty}");
        assert_eq!(function("to_jsonb", &[(ty.clone(), Some(value))]), wanted_b, "{ty}");
    }
    assert_eq!(function("to_json", &[(PgType::Int4, None)]), "NULL");
    let record = RecordType { fields: vec![("f1".into(), SqlType::new(PgType::Int4)), ("f2".into(), SqlType::new(PgType::Text))] };
    let record = PgType::Record(Some(Arc::new(record)));
    assert_eq!(function("row_to_json", &[(record.clone(), Some("(1,)"))]), "{\"f1\":1,\"f2\":null}");
    assert_eq!(function("row_to_json", &[(record.clone(), Some("(1,a)")), (PgType::Bool, Some("t"))]), "{\"f1\":1,\n \"f2\":\"a\"}");
    assert_eq!(function("to_jsonb", &[(record, Some("(1,a)"))]), "{\"f1\": 1, \"f2\": \"a\"}");
}

#[test]
fn building() {
    for (name, args, wanted) in [
        (
            "json_build_object",
            vec![string("a"), int("1"), string("b"), (PgType::Int4.array_of(), Some("{1,2}"))],
            "{\"a\" : 1, \"b\" : [1,2]}",
        ),
        ("jsonb_build_object", vec![int("1"), (PgType::Text, None)], "{\"1\": null}"),
        ("json_build_object", vec![(PgType::Text, None), int("1")], "22023: argument 1 cannot be null"),
        ("jsonb_build_object", vec![(PgType::Text, None), int("1")], "22023: argument 1: key must not be null"),
        ("json_build_object", vec![string("a")], "22023: argument list must have even number of elements"),
        ("jsonb_build_object", vec![json("[1]"), int("1")], "22023: key value must be scalar, not array, composite, or json"),
        ("json_build_array", vec![int("1"), string("a"), (PgType::Text, None)], "[1, \"a\", null]"),
        ("jsonb_build_array", vec![], "[]"),
        ("json_build_object", vec![], "{}"),
        ("json_object", vec![texts("{a,1,b,NULL}")], "{\"a\" : \"1\", \"b\" : null}"),
        ("jsonb_object", vec![texts("{a,1,a,2}")], "{\"a\": \"2\"}"),
        ("json_object", vec![texts("{a,1,b}")], "2202E: array must have even number of elements"),
        ("json_object", vec![texts("{a,b}"), texts("{1,NULL}")], "{\"a\" : \"1\", \"b\" : null}"),
        ("json_object", vec![texts("{a,b}"), texts("{1}")], "2202E: mismatched array dimensions"),
        ("jsonb_object", vec![texts("{a,NULL}"), texts("{1,2}")], "22004: null value not allowed for object key"),
        ("json_object", vec![texts("{a}"), texts("{{1}}")], "2202E: wrong number of array subscripts"),
        ("json_object", vec![texts("{{a}}"), (PgType::Text.array_of(), None)], "NULL"),
        ("jsonb_object", vec![(PgType::Text.array_of(), None), texts("{{1}}")], "NULL"),
        ("json_object", vec![texts("{}")], "{}"),
    ] {
        assert_eq!(function(name, &args), wanted, "{name}");
    }
}

#[test]
fn taking_apart() {
    for (name, args, wanted) in [
        ("json_array_length", vec![json("[1,[2,3]]")], "2"),
        ("json_array_length", vec![json("{}")], "22023: cannot get array length of a non-array"),
        ("jsonb_array_length", vec![jsonb("1")], "22023: cannot get array length of a scalar"),
        ("json_typeof", vec![json(" null")], "null"),
        ("jsonb_typeof", vec![jsonb("1.5")], "number"),
        (
            "json_strip_nulls",
            vec![json(" {\"a\" : null, \"b\" : [1, null], \"c\": \"\\u0041\\n\", \"d\":1.0}")],
            "{\"b\":[1,null],\"c\":\"A\\n\",\"d\":1.0}",
        ),
        ("jsonb_strip_nulls", vec![jsonb("{\"a\":null,\"b\":[null]}")], "{\"b\": [null]}"),
        ("json_extract_path", vec![json("{\"a\":[1, 2]}"), string("a")], "[1, 2]"),
        ("jsonb_extract_path_text", vec![jsonb("{\"a\":[1,\"x\"]}"), string("a"), string("-1")], "x"),
        ("jsonb_extract_path_text", vec![jsonb("{\"a\":[1,\"x\"]}"), texts("{a,1}")], "x"),
        ("jsonb_set", vec![jsonb("{\"a\":1}"), texts("{b}"), jsonb("2"), (PgType::Bool, Some("f"))], "{\"a\": 1}"),
        ("jsonb_insert", vec![jsonb("[1,2]"), texts("{0}"), jsonb("9"), (PgType::Bool, Some("t"))], "[1, 9, 2]"),
        ("jsonb_set_lax", vec![jsonb("{\"a\":1}"), texts("{a}"), (PgType::Jsonb, None)], "{\"a\": null}"),
        (
            "jsonb_set_lax",
            vec![jsonb("{\"a\":1}"), texts("{a}"), (PgType::Jsonb, None), (PgType::Bool, Some("t")), string("delete_key")],
            "{}",
        ),
        (
            "jsonb_set_lax",
            vec![jsonb("{\"a\":1}"), texts("{a}"), (PgType::Jsonb, None), (PgType::Bool, Some("t")), string("raise_exception")],
            "22004: JSON value must not be null",
        ),
        ("jsonb_delete", vec![jsonb("{\"a\":1,\"b\":2,\"c\":3}"), string("a"), string("c")], "{\"b\": 2}"),
        ("jsonb_cmp", vec![jsonb("1"), jsonb("1.0")], "0"),
        ("jsonb_path_query_array", vec![jsonb("[1,2]"), (PgType::Jsonpath, Some("$[*] ? (@ > 1)"))], "[2]"),
        ("jsonb_path_query_first", vec![jsonb("[1,2]"), (PgType::Jsonpath, Some("$[*] ? (@ > 5)"))], "NULL"),
        ("jsonb_path_match", vec![jsonb("1"), (PgType::Jsonpath, Some("$"))], "22038: single boolean result is expected"),
    ] {
        assert_eq!(function(name, &args), wanted, "{name}");
    }
    for (name, arg, wanted) in [
        ("json_object_keys", json("{\"b\":1,\"a\":2,\"b\":3}"), "b / a / b"),
        ("jsonb_object_keys", jsonb("[]"), "22023: cannot call jsonb_object_keys on an array"),
        ("json_each", json("{\"a\": 1, \"b\":\"x\"}"), "a|1 / b|\"x\""),
        ("jsonb_each_text", jsonb("{\"a\": null, \"b\":\"x\"}"), "a|NULL / b|x"),
        ("json_each", json("1"), "22023: cannot deconstruct a scalar"),
        ("json_array_elements", json("[1, {\"a\" :2}, null]"), "1 / {\"a\" :2} / null"),
        ("jsonb_array_elements_text", jsonb("[1, \"x\", null]"), "1 / x / NULL"),
        ("jsonb_array_elements", jsonb("{}"), "22023: cannot extract elements from an object"),
        ("jsonb_array_elements", (PgType::Jsonb, None), ""),
    ] {
        assert_eq!(rows(name, &[arg], None), wanted, "{name}");
    }
}

#[test]
fn records() {
    use PgType::{Int4, Json, Jsonb, Text};
    let record = |fields: &[(&str, PgType)]| {
        let fields = fields.iter().map(|(name, ty)| ((*name).to_owned(), SqlType::new(ty.clone()))).collect();
        Some(PgType::Record(Some(Arc::new(RecordType { fields }))))
    };
    let ints = || Int4.array_of();
    for (name, arg, fields, wanted) in [
        (
            "json_to_record",
            json("{\"a\":1,\"b\":[1,2],\"c\":{\"x\":1},\"d\":\"x\"}"),
            vec![("a", Int4), ("b", ints()), ("c", Json), ("d", Text), ("e", Int4)],
            "1|{1,2}|{\"x\":1}|x|NULL",
        ),
        ("json_to_record", json("{\"b\":\"{1,2}\"}"), vec![("b", ints())], "{1,2}"),
        ("json_to_record", json("{\"b\":1}"), vec![("b", ints())], "22P02: expected JSON array"),
        ("json_to_record", json("{\"b\":\"x\"}"), vec![("b", Int4)], "22P02: invalid input syntax for type integer: \"x\""),
        ("json_to_record", json("{\"b\":[[1,2],[3]]}"), vec![("b", ints())], "22P02: malformed JSON array"),
        ("json_to_record", json("[]"), vec![("b", Int4)], "22023: cannot call populate_composite on an array"),
        ("jsonb_to_record", jsonb("1"), vec![("b", Int4)], "22023: cannot call populate_composite on a scalar"),
        ("jsonb_to_record", jsonb("{\"b\": [1, \"a\"], \"c\":\"q\"}"), vec![("b", Jsonb), ("c", Jsonb)], "[1, \"a\"]|\"q\""),
        ("json_to_record", json("{\"b\": [1, \"a\"]}"), vec![("b", Text)], "[1, \"a\"]"),
        ("json_to_recordset", json("[{\"a\":1},{\"a\":2,\"b\":\"x\"}]"), vec![("a", Int4), ("b", Text)], "1|NULL / 2|x"),
        ("json_to_recordset", json("{\"a\":1}"), vec![("a", Int4)], "22023: cannot call json_to_recordset on an object"),
        ("jsonb_to_recordset", jsonb("[1]"), vec![("a", Int4)], "22023: argument of jsonb_to_recordset must be an array of objects"),
    ] {
        assert_eq!(rows(name, std::slice::from_ref(&arg), record(&fields)), wanted, "{name} {:?}", arg.1);
    }
    let base = record(&[("a", Int4), ("b", Text)]).unwrap();
    let of = |text: Option<&'static str>, object: &'static str| {
        rows("json_populate_record", &[(base.clone(), text), json(object)], Some(base.clone()))
    };
    assert_eq!(of(Some("(1,x)"), "{\"a\":5}"), "5|x");
    assert_eq!(of(None, "{\"b\":\"y\"}"), "NULL|y");
    let set = rows("jsonb_populate_recordset", &[(base.clone(), Some("(7,z)")), jsonb("[{},{\"a\":1}]")], Some(base));
    assert_eq!(set, "7|z / 1|z");
}

#[test]
fn operators() {
    for (left, name, right, wanted) in [
        (json("{\"b\": 1, \"a\": 2, \"b\": 3}"), "->>", string("b"), "3"),
        (json("[1, \"two\"]"), "->", int("-1"), "\"two\""),
        (json("\"x\""), "->", int("0"), "NULL"),
        (jsonb("\"plain\""), "->", int("0"), "\"plain\""),
        (jsonb("\"plain\""), "->>", int("-1"), "plain"),
        (jsonb("{\"a\":null}"), "->>", string("a"), "NULL"),
        (jsonb("{\"a\":null}"), "->", string("a"), "null"),
        (jsonb("{\"a\":[1,{\"b\":2}]}"), "#>", texts("{a,1,b}"), "2"),
        (json("{\"a\":[1,{\"b\": \"x\"}]}"), "#>>", texts("{a,-1,b}"), "x"),
        (jsonb("{\"a\":1}"), "#>", texts("{}"), "{\"a\": 1}"),
        (jsonb("[1,2]"), "@>", jsonb("2"), "t"),
        (jsonb("[1]"), "<@", jsonb("[1,2]"), "t"),
        (jsonb("{\"a\":1}"), "?", string("a"), "t"),
        (jsonb("{\"a\":1}"), "?|", texts("{b,NULL,a}"), "t"),
        (jsonb("{\"a\":1}"), "?&", texts("{a,b}"), "f"),
        (jsonb("{\"a\":1}"), "||", jsonb("3"), "[{\"a\": 1}, 3]"),
        (jsonb("{\"a\":1}"), "-", string("a"), "{}"),
        (jsonb("[1,2,3]"), "-", int("-1"), "[1, 2]"),
        (jsonb("[\"a\",\"b\"]"), "-", texts("{a}"), "[\"b\"]"),
        (jsonb("5"), "-", string("a"), "22023: cannot delete from scalar"),
        (jsonb("{\"a\":[1,2]}"), "#-", texts("{a,0}"), "{\"a\": [2]}"),
        (jsonb("{\"a\":1}"), "@?", (PgType::Jsonpath, Some("strict $.b")), "NULL"),
        (jsonb("{\"a\":1}"), "@@", (PgType::Jsonpath, Some("$.a == 1")), "t"),
        (jsonb("1.0"), "=", jsonb("1.00"), "t"),
        (jsonb("[1]"), ">", jsonb("1"), "t"),
        (jsonb("1"), "<", (PgType::Jsonb, None), "NULL"),
    ] {
        let oper = Registry::get()
            .operators(name)
            .iter()
            .find(|oper| oper.left.as_ref() == Some(&left.0) && oper.right == right.0)
            .unwrap_or_else(|| panic!("no {name}"));
        let OperKind::Kernel(kernel) = &oper.kind else { panic!() };
        assert_eq!(run_kernel(kernel, &[left.clone(), right.clone()], oper.ret.clone()), wanted, "{:?} {name} {:?}", left.1, right.1);
    }
}

#[test]
fn casts() {
    use PgType::{Bool, Float8, Int2, Int4, Int8, Json, Jsonb, Numeric};
    for (from, to, text, wanted) in [
        (Jsonb, Int4, "\"a\"", "22023: cannot cast jsonb string to type integer"),
        (Jsonb, Bool, "{}", "22023: cannot cast jsonb object to type boolean"),
        (Jsonb, Bool, "1", "22023: cannot cast jsonb numeric to type boolean"),
        (Jsonb, Int4, "null", "22023: cannot cast jsonb null to type integer"),
        (Jsonb, Int4, "1.5", "2"),
        (Jsonb, Int2, "70000", "22003: smallint out of range"),
        (Jsonb, Int8, "-12", "-12"),
        (Jsonb, Float8, "1.25", "1.25"),
        (Jsonb, Numeric, "1.50", "1.50"),
        (Jsonb, Json, "{\"a\":1}", "{\"a\": 1}"),
        (Json, Jsonb, "{\"a\":1,\"a\":2}", "{\"a\": 2}"),
    ] {
        let cast = Registry::get().cast(&from, &to).unwrap();
        let CastKind::Kernel(kernel) = &cast.kind else { panic!() };
        assert_eq!(run_kernel(kernel, &[(from.clone(), Some(text))], to.clone()), wanted, "{text} as {to}");
    }
}
