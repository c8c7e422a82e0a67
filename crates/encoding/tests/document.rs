//! Golden bytes: `docs/encoding.md` shows them, and what it shows is what the encoders write.
//!
//! Each block of the document that is fenced as `dump NAME` must be, byte for byte, what is printed here under that name.
//! `UPDATE_EXPECT=1 cargo test -p stoa-encoding --test document` writes them; the diff is read: a changed byte of a released
//! version is a broken promise, not an update.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use stoa_encoding::dump::{dump_cell, dump_key, dump_row};
use stoa_encoding::keyside::{
    Direction::{Asc, Desc},
    KeyLayout, KeyPart, KeyValue, NUMERIC, NullOrder, PartKind, SaltBuckets, salt,
};
use stoa_encoding::numeric;
use stoa_encoding::packed_row::{RowBuilder, RowShape, ValueKind};
use stoa_encoding::valueside::{
    Dimension, Interval, SequenceBuilder, StructBuilder, TimeTz, TypeTag, Value, encode_array, encode_cell, encode_map,
};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(" ")
}

fn text(text: &str) -> KeyValue<'_> {
    KeyValue::Bytes(Cow::Borrowed(text.as_bytes()))
}

/// `name  ascending | descending`, one line a value.
fn key_values() -> String {
    let cases: Vec<(PartKind, &str, KeyValue<'_>)> = vec![
        (PartKind::Bool, "false", KeyValue::Bool(false)),
        (PartKind::Bool, "true", KeyValue::Bool(true)),
        (PartKind::Int16, "-1", KeyValue::Int16(-1)),
        (PartKind::Int16, "258", KeyValue::Int16(258)),
        (PartKind::Int32, "-2147483648", KeyValue::Int32(i32::MIN)),
        (PartKind::Int32, "0", KeyValue::Int32(0)),
        (PartKind::Int64, "-1", KeyValue::Int64(-1)),
        (PartKind::Int64, "1", KeyValue::Int64(1)),
        (PartKind::UInt32, "4294967295", KeyValue::UInt32(u32::MAX)),
        (PartKind::Float32, "-1.5", KeyValue::Float32(-1.5)),
        (PartKind::Float64, "-Infinity", KeyValue::Float64(f64::NEG_INFINITY)),
        (PartKind::Float64, "-1", KeyValue::Float64(-1.0)),
        (PartKind::Float64, "-0", KeyValue::Float64(-0.0)),
        (PartKind::Float64, "0", KeyValue::Float64(0.0)),
        (PartKind::Float64, "1", KeyValue::Float64(1.0)),
        (PartKind::Float64, "Infinity", KeyValue::Float64(f64::INFINITY)),
        (PartKind::Float64, "NaN", KeyValue::Float64(f64::NAN)),
        (PartKind::Raw(3), "'abc'", text("abc")),
        (PartKind::Escaped, "''", text("")),
        (PartKind::Escaped, "'ab'", text("ab")),
        (PartKind::Escaped, "'a\\0b'", text("a\0b")),
    ];
    let mut out = String::new();
    for (kind, name, value) in cases {
        let [asc, desc] = [Asc, Desc].map(|direction| {
            let mut key = Vec::new();
            KeyPart::new(kind, direction).encode(&mut key, &value).unwrap();
            hex(&key)
        });
        let kind = format!("{kind:?}");
        writeln!(out, "{kind:<9}{name:<12}{asc:<25}{desc}").unwrap();
    }
    out
}

fn numerics() -> String {
    let numbers = [
        ("-12.34", (true, 1234, 2)),
        ("-1", (true, 1, 0)),
        ("0", (false, 0, 0)),
        ("0.005", (false, 5, 3)),
        ("0.5", (false, 5, 1)),
        ("1", (false, 1, 0)),
        ("1.00", (false, 100, 2)),
        ("1.5", (false, 15, 1)),
        ("99", (false, 99, 0)),
        ("12345", (false, 12345, 0)),
        ("1e-100", (false, 1, 100)),
    ];
    let mut rows: Vec<(&str, Vec<u8>)> = Vec::new();
    for (name, (negative, magnitude, scale)) in numbers {
        rows.push((name, Vec::new()));
        numeric::encode(negative, magnitude, scale, &mut rows.last_mut().unwrap().1);
    }
    type Write = fn(&mut Vec<u8>);
    let specials: [(&str, Write); 3] =
        [("-Infinity", numeric::encode_neg_infinity), ("Infinity", numeric::encode_infinity), ("NaN", numeric::encode_nan)];
    for (name, write) in specials {
        rows.push((name, Vec::new()));
        write(&mut rows.last_mut().unwrap().1);
    }
    rows.sort_by(|a, b| a.1.cmp(&b.1));
    let mut out = String::new();
    for (name, ascending) in rows {
        let name = format!("{name:<12}");
        let mut descending = Vec::new();
        let value = KeyValue::Bytes(Cow::Borrowed(&ascending));
        KeyPart::new(PartKind::PrefixFree(NUMERIC), Desc).encode(&mut descending, &value).unwrap();
        writeln!(out, "{name}{:<19}{}", hex(&ascending), hex(&descending)).unwrap();
    }
    out
}

fn nulls() -> String {
    let mut out = String::new();
    for (direction, order) in [(Asc, NullOrder::Last), (Asc, NullOrder::First), (Desc, NullOrder::First), (Desc, NullOrder::Last)] {
        let part = KeyPart::nullable(PartKind::Int16, direction, order);
        let [null, one] = [KeyValue::Null, KeyValue::Int16(1)].map(|value| {
            let mut key = Vec::new();
            part.encode(&mut key, &value).unwrap();
            hex(&key)
        });
        writeln!(out, "{direction:?} nulls {order:?}: NULL {null}, 1 {one}").unwrap();
    }
    out
}

fn salts() -> String {
    let buckets = SaltBuckets::new(16).unwrap();
    let mut out = String::new();
    for bytes in [&b""[..], b"\x80\x00\x00\x01", b"\x80\x00\x00\x02", b"device-1\x00\x01"] {
        writeln!(out, "16 buckets, [{}]: {:02x}", hex(bytes), salt(buckets, bytes)).unwrap();
    }
    out
}

fn key() -> String {
    let layout = KeyLayout::new(
        true,
        vec![
            KeyPart::new(PartKind::Escaped, Asc),
            KeyPart::new(PartKind::Int64, Desc),
            KeyPart::nullable(PartKind::Int32, Asc, NullOrder::Last),
            KeyPart::nullable(PartKind::Escaped, Asc, NullOrder::Last),
        ],
    );
    let mut key = vec![0];
    let values = [text("dev\0ice"), KeyValue::Int64(1_700_000_000_000_000), KeyValue::Int32(-7), KeyValue::Null];
    layout.parts().iter().zip(&values).for_each(|(part, value)| part.encode(&mut key, value).unwrap());
    key[0] = salt(SaltBuckets::new(16).unwrap(), layout.part_bytes(&key, 0).unwrap());
    dump_key(&layout, &key).unwrap()
}

fn cells() -> String {
    let values = [
        ("null", Value::Null),
        ("bool", Value::Bool(true)),
        ("int16", Value::Int16(-2)),
        ("int32", Value::Int32(258)),
        ("int64", Value::Int64(-1)),
        ("uint32", Value::UInt32(16)),
        ("float32", Value::Float32(1.0)),
        ("float64", Value::Float64(-0.0)),
        ("date", Value::Date(19723)),
        ("time", Value::Time(1)),
        ("timetz", Value::TimeTz(TimeTz { micros: 1, zone_seconds: -3600 })),
        ("timestamp", Value::Timestamp(2)),
        ("timestamptz", Value::TimestampTz(3)),
        ("interval", Value::Interval(Interval { months: 1, days: -1, micros: 4_294_967_296 })),
        ("uuid", Value::Uuid([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15])),
        ("decimal128", Value::Decimal128(-100)),
        ("numeric", Value::Numeric(&[0x80])),
        ("text", Value::Text("é")),
        ("bytes", Value::Bytes(&[0])),
        ("json", Value::Json("1")),
        ("jsonb", Value::Jsonb("1")),
        ("other", Value::Other(&[])),
    ];
    let mut out = String::new();
    for (name, value) in values {
        let mut cell = Vec::new();
        value.encode_cell(&mut cell);
        writeln!(out, "{name:<12}{}", hex(&cell)).unwrap();
    }
    out
}

fn composite(tag: TypeTag) -> String {
    let mut body = Vec::new();
    let mut words = SequenceBuilder::new(TypeTag::Text);
    [Some("one"), None, Some("three"), Some("")].into_iter().for_each(|word| words.push(word.map(str::as_bytes)));
    match tag {
        TypeTag::Array => encode_array(&mut body, &[Dimension::new(2), Dimension { len: 2, lower_bound: 0 }], &words).unwrap(),
        TypeTag::Map => {
            let mut keys = SequenceBuilder::new(TypeTag::Int16);
            (1..5i16).for_each(|key| keys.push(Some(&key.to_le_bytes())));
            encode_map(&mut body, &keys, &words).unwrap();
        }
        _ => {
            let mut fields = StructBuilder::new();
            fields.push(TypeTag::Int32, Some(&7i32.to_le_bytes()));
            fields.push(TypeTag::Text, None);
            fields.push(TypeTag::Text, Some(b"x"));
            fields.finish(&mut body).unwrap();
        }
    }
    let mut cell = Vec::new();
    encode_cell(&mut cell, tag, &body).unwrap();
    dump_cell(&cell).unwrap()
}

fn row() -> String {
    let shape = RowShape::new(vec![
        (1, ValueKind::Fixed(4)),
        (2, ValueKind::Variable),
        (3, ValueKind::Fixed(8)),
        (5, ValueKind::Variable),
        (6, ValueKind::Fixed(1)),
        (300, ValueKind::Variable),
    ]);
    let mut builder = RowBuilder::new();
    builder.start(&Arc::new(shape.unwrap()));
    builder.push_fixed(258i32.to_le_bytes());
    builder.push_variable(b"name");
    builder.push_null();
    builder.push_variable(b"");
    builder.push_fixed([1]);
    builder.push_variable("größe".as_bytes());
    let mut row = Vec::new();
    builder.finish(&mut row).unwrap();
    dump_row(&row).unwrap()
}

fn empty_row() -> String {
    let mut builder = RowBuilder::new();
    builder.start(&Arc::new(RowShape::new(vec![]).unwrap()));
    let mut row = Vec::new();
    builder.finish(&mut row).unwrap();
    dump_row(&row).unwrap()
}

#[test]
fn the_document_shows_what_is_written() {
    let mut dumps = vec![
        ("key-values", key_values()),
        ("key-numerics", numerics()),
        ("key-nulls", nulls()),
        ("key-salt", salts()),
        ("key", key()),
        ("cells", cells()),
        ("array", composite(TypeTag::Array)),
        ("struct", composite(TypeTag::Struct)),
        ("map", composite(TypeTag::Map)),
        ("packed-row", row()),
        ("packed-row-empty", empty_row()),
    ];
    // Asked while the test runs: what was compiled may serve another checkout as well.
    let path = Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../../docs/encoding.md");
    let document = std::fs::read_to_string(&path).unwrap();
    let mut printed = String::new();
    let mut lines = document.lines();
    while let Some(line) = lines.next() {
        printed.push_str(line);
        printed.push('\n');
        if let Some(name) = line.strip_prefix("```dump ") {
            let at = dumps.iter().position(|(known, _)| *known == name).unwrap_or_else(|| panic!("nothing prints the dump {name}"));
            printed.push_str(&dumps.remove(at).1);
            printed.push_str("```\n");
            assert!(lines.any(|line| line == "```"), "the dump {name} is not closed");
        }
    }
    assert!(dumps.is_empty(), "the document lacks dumps: {:?}", dumps.iter().map(|(name, _)| name).collect::<Vec<_>>());
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, printed).unwrap();
        return;
    }
    for (number, (shown, written)) in document.lines().zip(printed.lines()).enumerate() {
        assert_eq!(shown, written, "docs/encoding.md, line {}", number + 1);
    }
    assert_eq!(document, printed);
}
