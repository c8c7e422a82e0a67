//! Items of values, and of conditions, beside what is contained in what.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use super::*;
use crate::context::EvalContext;
use crate::values::{builder, json};

fn column(ty: &SqlType, texts: &[&str]) -> arrow::array::ArrayRef {
    let mut values = builder(ty).unwrap();
    for text in texts {
        if *text == "-" { values.null() } else { values.text(&EvalContext::default(), text).unwrap() }
    }
    values.finish().unwrap()
}

fn constant(ty: &SqlType, text: &str) -> ScalarValue {
    ScalarValue::try_from_array(&column(ty, &[text]), 0).unwrap()
}

fn items(class: &Class, ty: &SqlType, text: &str) -> String {
    class.items(column(ty, &[text]).as_ref()).unwrap().pop().unwrap().map_or("NULL".to_owned(), |items| items.join(" "))
}

/// What is sought, in short.
fn shown(sought: Option<Sought>) -> String {
    let list = |of: Vec<Sought>, sign: &str| of.into_iter().map(|one| shown(Some(one))).collect::<Vec<_>>().join(sign);
    match sought {
        None => "?".into(),
        Some(Sought::Nothing) => "nothing".into(),
        Some(Sought::Item(item)) => item,
        Some(Sought::All(of)) => format!("({})", list(of, " & ")),
        Some(Sought::Any(of)) => format!("({})", list(of, " | ")),
    }
}

#[test]
fn documents_have_keys_and_values() {
    let ty = SqlType::new(PgType::Jsonb);
    for (document, keys, paths) in [
        (r#"{"a": {"b": 1.50}, "c": ["x", null, true]}"#, ".a .b .c .x =1.5 =null =true", r#".a.b=1.5 .c"x .c=null .c=true"#),
        (r#"{"a": "x"}"#, "\"x .a", ".a\"x"),
        (r#""x""#, ".x", "\"x"),
        ("100", "=100", "=100"),
        ("[1e2, 100.00, 1E+2]", "=100", "=100"),
        ("[0.0, -0]", "=0", "=0"),
        ("[[[1]]]", "=1", "=1"),
        (r#"{"": {"": ""}}"#, "\" .", "..\""),
        ("{}", "", ""),
        ("[[], {}]", "", ""),
        ("-", "NULL", "NULL"),
    ] {
        assert_eq!(items(&Class::Keys, &ty, document), keys, "{document}");
        assert_eq!(items(&Class::Paths, &ty, document), paths, "{document}");
    }
}

#[test]
fn long_items_are_cut_and_told_apart() {
    let ty = SqlType::new(PgType::Jsonb);
    let of = |text: &str| items(&Class::Keys, &ty, &format!("[\"{text}\"]"));
    let (long, other) = ("é".repeat(500), format!("{}x", "é".repeat(500)));
    assert!(of(&long).len() < 120 && of(&long).contains('…'));
    assert_ne!(of(&long), of(&other));
    assert_eq!(of(&"a".repeat(79)), format!(".{}", "a".repeat(79)));
    let deep = |value: &str| items(&Class::Paths, &ty, &format!("{}{value}{}", r#"{"key": "#.repeat(100), "}".repeat(100)));
    assert!(deep("1").len() < 120);
    assert_ne!(deep("1"), deep("2"));
}

#[test]
fn arrays_have_their_elements() {
    for (ty, array, wanted) in [
        (PgType::Int4, "{1,2,NULL,2,-1}", "-1 1 2 null"),
        (PgType::Text, "{a,\"\",NULL,\"null\"}", "\" \"a \"null null"),
        (PgType::Text, "{}", "empty"),
        (PgType::Text, "-", "NULL"),
        (PgType::Int8, "{{1,2},{3,4}}", "1 2 3 4"),
        (PgType::Bool, "{t,f}", "x00 x01"),
    ] {
        let array_type = SqlType::new(ty.array_of());
        assert_eq!(items(&Class::of(&array_type, None).unwrap(), &array_type, array), wanted, "{array}");
    }
    let ty = SqlType::new(PgType::Numeric.array_of());
    let class = Class::of(&ty, None).unwrap();
    assert_eq!(items(&class, &ty, "{1.0}"), items(&class, &ty, "{1.000}"));
    let ty = SqlType::new(PgType::Float8.array_of());
    let class = Class::of(&ty, None).unwrap();
    assert_eq!(items(&class, &ty, "{0}"), items(&class, &ty, "{-0}"));
}

#[test]
fn arrays_are_sought_by_elements() {
    let ty = SqlType::new(PgType::Int4.array_of());
    let class = Class::of(&ty, None).unwrap();
    for (operator, array, wanted) in [
        ("@>", "{1,2}", "(1 & 2)"),
        ("@>", "{1,1}", "1"),
        ("@>", "{}", "?"),
        ("@>", "{1,NULL}", "nothing"),
        ("@>", "-", "nothing"),
        ("&&", "{1,NULL,3}", "(1 | 3)"),
        ("&&", "{NULL}", "nothing"),
        ("&&", "{}", "nothing"),
        ("<@", "{1,2}", "(1 | 2 | empty)"),
        ("<@", "{NULL}", "empty"),
        ("<@", "{}", "empty"),
        ("=", "{1,NULL}", "(1 & null)"),
        ("=", "{}", "empty"),
        ("<", "{1}", "?"),
    ] {
        assert_eq!(shown(class.sought(operator, &constant(&ty, array))), wanted, "{operator} {array}");
    }
    assert_eq!(shown(class.sought_element(&ScalarValue::Int32(Some(7)))), "7");
    assert_eq!(shown(class.sought_element(&ScalarValue::Int32(None))), "nothing");
}

#[test]
fn documents_are_sought_by_items() {
    let (document, names) = (SqlType::new(PgType::Jsonb), SqlType::new(PgType::Text.array_of()));
    let text = |text: &str| ScalarValue::Utf8View(Some(text.to_owned()));
    for (operator, value, keys, paths) in [
        ("@>", constant(&document, r#"{"a": {"b": 1}}"#), "(.a & .b & =1)", ".a.b=1"),
        ("@>", constant(&document, "{}"), "?", "?"),
        ("@>", constant(&document, r#"{"a": []}"#), ".a", "?"),
        ("@>", constant(&document, r#""x""#), ".x", "\"x"),
        ("?", text("a"), ".a", "?"),
        ("?|", constant(&names, "{a,NULL,b}"), "(.a | .b)", "?"),
        ("?|", constant(&names, "{}"), "nothing", "?"),
        ("?&", constant(&names, "{a,b}"), "(.a & .b)", "?"),
        ("?&", constant(&names, "{}"), "?", "?"),
        ("<@", constant(&document, "{}"), "?", "?"),
    ] {
        let sorted = |sought: Option<Sought>| match sought {
            Some(Sought::All(mut of)) => {
                of.sort_by_key(|one| shown(Some(one.clone())));
                shown(Some(Sought::All(of)))
            }
            other => shown(other),
        };
        assert_eq!(sorted(Class::Keys.sought(operator, &value)), keys, "{operator} {value}");
        assert_eq!(sorted(Class::Paths.sought(operator, &value)), paths, "{operator} {value}");
    }
}

#[test]
fn paths_are_sought_by_items() {
    for (operator, path, keys, paths) in [
        ("@?", "$.a.b", "(.a & .b)", "?"),
        ("@?", "$.a ? (@.b == 1)", "((.a & .b & =1) & .a)", ".a.b=1"),
        ("@?", "$.a[*] ? (@ == \"x\")", "((.a & (.x | \"x)) & .a)", ".a\"x"),
        ("@?", "$.a == 1", "?", "?"),
        ("@@", "$.a == 1", "(.a & =1)", ".a=1"),
        ("@@", "1 == $.a", "(.a & =1)", ".a=1"),
        ("@@", "$.a == -1.50", "(.a & =-1.5)", ".a=-1.5"),
        ("@@", "$.a == null && $.b == true", "((.a & =null) & (.b & =true))", "(.a=null & .b=true)"),
        ("@@", "$.a == 1 || $.b == 2", "((.a & =1) | (.b & =2))", "(.a=1 | .b=2)"),
        ("@@", "$.a == 1 || $.b > 2", "?", "?"),
        ("@@", "$.a == 1 && $.b > 2", "(.a & =1)", ".a=1"),
        ("@@", "!($.a == 1)", "?", "?"),
        ("@@", "!(!($.a == 1))", "(.a & =1)", ".a=1"),
        ("@@", "!(!($.a == 1) || $.b == 2)", "(.a & =1)", ".a=1"),
        ("@@", "!(!($.a == 1) && !($.b == 2))", "((.a & =1) | (.b & =2))", "(.a=1 | .b=2)"),
        ("@@", "exists($.a ? (@ == 1))", "((.a & =1) & .a)", ".a=1"),
        ("@@", "$.* == 1", "=1", "?"),
        ("@@", "$.**.a == 1", "(.a & =1)", "?"),
        ("@@", "$.a.size() == 1", ".a", "?"),
        ("@@", "$.a + 1 == 1", "?", "?"),
        ("@@", "($.a == 1) is unknown", "?", "?"),
        ("@@", "$.a", ".a", "?"),
        ("@?", "$.a.type() ? (@ == \"string\")", ".a", "?"),
        ("@?", "$ ? (@.a == $.b)", "?", "?"),
        ("@?", "$.a ? ($.b == 1)", "((.b & =1) & .a)", ".b=1"),
    ] {
        let value = ScalarValue::Utf8View(Some(path.to_owned()));
        assert_eq!(shown(Class::Keys.sought(operator, &value)), keys, "{operator} {path}");
        assert_eq!(shown(Class::Paths.sought(operator, &value)), paths, "{operator} {path}");
    }
}

/// What is contained has no items that what contains it lacks.
#[test]
fn containment_keeps_items() {
    let documents = [
        r#"{"a": {"b": [1, {"c": "x"}]}, "d": "y"}"#,
        r#"{"a": {"b": [{"c": "x"}]}}"#,
        r#"{"a": {"b": [1.0]}}"#,
        r#"["x", "y", [1, 2]]"#,
        r#"["x", [2]]"#,
        r#""x""#,
        r#"["x"]"#,
        "{}",
        "[]",
    ];
    let bytes: Vec<Vec<u8>> = documents.iter().map(|text| json::binary::from_text(text).unwrap()).collect();
    let mut pairs = 0;
    for class in [Class::Keys, Class::Paths] {
        for outer in &bytes {
            for inner in &bytes {
                let (a, b) = (json::binary::Node::root(outer), json::binary::Node::root(inner));
                if a.contains(&b) {
                    pairs += 1;
                    let has = jsonb::items(&class, outer);
                    assert!(jsonb::items(&class, inner).iter().all(|item| has.contains(item)), "{} {}", a.to_text(), b.to_text());
                }
            }
        }
    }
    assert!(pairs > 30, "{pairs}");
}
