//! Documents of the BSON specification's own tests, and bytes that are none.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::{decimal, read, write};
use crate::error::PgResult;
use crate::functions::encoding::{decode_hex, hex};
use crate::values::json::binary::{Builder, Node, from_text};

fn to_jsonb(bytes: &[u8]) -> PgResult<String> {
    let mut out = Builder::new();
    read::document(bytes, &mut out)?;
    Ok(Node::root(&out.finish()?).to_text())
}

fn to_bson(text: &str) -> PgResult<Vec<u8>> {
    let mut out = Vec::new();
    write::root(&Node::root(&from_text(text)?), &mut out)?;
    Ok(out)
}

fn code(outcome: PgResult<impl std::fmt::Debug>) -> String {
    outcome.unwrap_err().code().to_string()
}

/// What goes there and back, byte for byte.
const BOTH_WAYS: &[(&str, &str)] = &[
    ("0500000000", "{}"),
    ("10000000016400000000000000f03f00", r#"{"d": 1.0}"#),
    ("10000000016400000000000000f87f00", r#"{"d": {"$numberDouble": "NaN"}}"#),
    ("10000000016400000000000000f0ff00", r#"{"d": {"$numberDouble": "-Infinity"}}"#),
    ("10000000016400000000000000008000", r#"{"d": {"$numberDouble": "-0.0"}}"#),
    ("0d000000026100010000000000", r#"{"a": ""}"#),
    ("190000000261000d000000e29886e29886e29886e298860000", r#"{"a": "☆☆☆☆"}"#),
    ("0d000000037800050000000000", r#"{"x": {}}"#),
    ("140000000461000c0000001030000a0000000000", r#"{"a": [10]}"#),
    ("1b000000046100130000001030000a000000103100140000000000", r#"{"a": [10, 20]}"#),
    ("0d000000057800000000000000", r#"{"x": {"$binary": {"base64": "", "subType": "00"}}}"#),
    ("0f0000000578000200000000ffff00", r#"{"x": {"$binary": {"base64": "//8=", "subType": "00"}}}"#),
    ("13000000057800060000000202000000ffff00", r#"{"x": {"$binary": {"base64": "//8=", "subType": "02"}}}"#),
    ("0f0000000578000200000080ffff00", r#"{"x": {"$binary": {"base64": "//8=", "subType": "80"}}}"#),
    ("0800000006610000", r#"{"a": {"$undefined": true}}"#),
    ("1400000007610056e1fc72e0c917e9c471416100", r#"{"a": {"$oid": "56e1fc72e0c917e9c4714161"}}"#),
    ("090000000862000100", r#"{"b": true}"#),
    ("090000000862000000", r#"{"b": false}"#),
    ("10000000096100000000000000000000", r#"{"a": {"$date": "1970-01-01T00:00:00Z"}}"#),
    ("10000000096100c5d8d6cc3b01000000", r#"{"a": {"$date": "2012-12-24T12:15:30.501Z"}}"#),
    ("10000000096100c33ce7b9bdffffff00", r#"{"a": {"$date": {"$numberLong": "-284643869501"}}}"#),
    ("1000000009610000dc1fd277e6000000", r#"{"a": {"$date": {"$numberLong": "253402300800000"}}}"#),
    ("080000000a610000", r#"{"a": null}"#),
    ("0a0000000b6100000000", r#"{"a": {"$regularExpression": {"options": "", "pattern": ""}}}"#),
    (
        "1a0000000c61000200000062000102030405060708090a0b0c00",
        r#"{"a": {"$dbPointer": {"$id": {"$oid": "0102030405060708090a0b0c"}, "$ref": "b"}}}"#,
    ),
    ("190000000d61000d0000006162616261626162616261620000", r#"{"a": {"$code": "abababababab"}}"#),
    ("190000000e61000d0000006162616261626162616261620000", r#"{"a": {"$symbol": "abababababab"}}"#),
    ("160000000f61000e0000000100000000050000000000", r#"{"a": {"$code": "", "$scope": {}}}"#),
    ("0c0000001069000000008000", r#"{"i": -2147483648}"#),
    ("100000001161002a00000015cd5b0700", r#"{"a": {"$timestamp": {"i": 42, "t": 123456789}}}"#),
    ("10000000126100ffffffffffffff7f00", r#"{"a": 9223372036854775807}"#),
    ("180000001364000100000000000000000000000000403000", r#"{"d": {"$numberDecimal": "1"}}"#),
    ("1800000013640001000000000000000000000000003e3000", r#"{"d": {"$numberDecimal": "0.1"}}"#),
    ("18000000136400000000000000000000000000000000f800", r#"{"d": {"$numberDecimal": "-Infinity"}}"#),
    ("18000000136400f2af967ed05c82de3297ff6fde3c403000", r#"{"d": {"$numberDecimal": "1234567890123456789012345678901234"}}"#),
    ("08000000ff610000", r#"{"a": {"$minKey": 1}}"#),
    ("080000007f610000", r#"{"a": {"$maxKey": 1}}"#),
];

#[test]
fn documents_go_there_and_back() {
    for (bytes, text) in BOTH_WAYS {
        assert_eq!(to_jsonb(&decode_hex(bytes).unwrap()).unwrap(), *text, "{bytes}");
        assert_eq!(hex(&to_bson(text).unwrap()), *bytes, "{text}");
    }
}

#[test]
fn numbers_keep_their_value() {
    for (number, kind) in [
        ("2147483648", 0x12),
        ("-9223372036854775808", 0x12),
        ("9223372036854776000", 0x01),
        ("9223372036854775808", 0x13),
        ("9223372036854775809", 0x13),
        ("0.1", 0x01),
        ("1.10", 0x01),
        ("1e300", 0x01),
        ("0.10000000000000000001", 0x13),
        ("1234567890123456789012345678901234", 0x13),
        ("-123456789.12345678901234567890123", 0x13),
    ] {
        let bytes = to_bson(&format!("{{\"n\": {number}}}")).unwrap();
        assert_eq!(bytes[4], kind, "{number}");
        let again = to_jsonb(&bytes).unwrap();
        let back = to_bson(&again).unwrap();
        assert_eq!(bytes, back, "{number}: {again}");
    }
    assert_eq!(code(to_bson(r#"{"n": 12345678901234567890123456789012345}"#)), "22003");
    for text in [
        "0",
        "-0",
        "0E+3",
        "0E-6176",
        "1E+6111",
        "9.999999999999999999999999999999999E+6144",
        "1E-6176",
        "-0.000001",
        "1E-7",
        "1.50",
        "NaN",
    ] {
        assert_eq!(decimal::text(decimal::bytes(text).unwrap()), text);
    }
    for (given, kept) in
        [("1e6144", "1.000000000000000000000000000000000E+6144"), ("+2.5e-3", "0.0025"), ("10e-6177", "1E-6176"), ("inf", "Infinity")]
    {
        assert_eq!(decimal::text(decimal::bytes(given).unwrap()), kept);
    }
    for text in ["", "-", ".", "1e", "1e7000", "1e-6177", "12345678901234567890123456789012345", "1_0", "0x1", "١"] {
        assert_eq!(decimal::bytes(text), None, "{text}");
    }
    // A coefficient beyond the largest, in either form, is zero.
    assert_eq!(decimal::text(decode_hex("000000000000000000000000000010ec").unwrap().try_into().unwrap()), "-0");
}

#[test]
fn extended_json_has_more_than_one_way() {
    for (text, same) in [
        (r#"{"a": {"$numberInt": "5"}}"#, r#"{"a": 5}"#),
        (r#"{"a": {"$numberDouble": "2.5"}}"#, r#"{"a": 2.5}"#),
        (r#"{"a": {"$date": "2012-12-24T13:15:30.501+01:00"}}"#, r#"{"a": {"$date": {"$numberLong": "1356351330501"}}}"#),
        (
            r#"{"a": {"$uuid": "73ffd264-44b3-4c69-90e8-e7d1dfc035d4"}}"#,
            r#"{"a": {"$binary": {"base64": "c//SZESzTGmQ6OfR38A11A==", "subType": "4"}}}"#,
        ),
        (
            r#"{"a": {"$regularExpression": {"pattern": "x", "options": "xi"}}}"#,
            r#"{"a": {"$regularExpression": {"pattern": "x", "options": "ix"}}}"#,
        ),
    ] {
        assert_eq!(to_bson(text).unwrap(), to_bson(same).unwrap(), "{text}");
    }
    // No forms of Extended JSON: documents like others.
    for text in
        [r#"{"a": {"$other": 1}}"#, r#"{"a": {"$oid": "x", "b": 1}}"#, r#"{"a": {"b": 1, "$oid": "x"}}"#, r#"{"a": {"$minKey": 2}}"#]
    {
        let stored = Node::root(&from_text(text).unwrap()).to_text();
        assert_eq!(to_jsonb(&to_bson(text).unwrap()).unwrap(), stored);
    }
    for text in [
        "[1]",
        "1",
        "null",
        r#"{"a": {"$oid": "56e1fc72e0c917e9c47141"}}"#,
        r#"{"a": {"$oid": 1}}"#,
        r#"{"a": {"$date": "yesterday"}}"#,
        r#"{"a": {"$numberInt": "2147483648"}}"#,
        r#"{"a": {"$numberLong": 1}}"#,
        r#"{"a": {"$binary": {"base64": "?", "subType": "00"}}}"#,
        r#"{"a": {"$binary": {"base64": ""}}}"#,
        r#"{"a": {"$timestamp": {"t": -1, "i": 1}}}"#,
        r#"{"a": {"$code": "", "$scope": 1}}"#,
        r#"{"a": {"$dbPointer": {"$ref": "b", "$id": 1}}}"#,
    ] {
        assert_eq!(code(to_bson(text)), "22023", "{text}");
    }
}

#[test]
fn bytes_that_are_no_document() {
    for bytes in [
        "",
        "04000000",
        "0500000001",
        "0600000000",
        "050000000000",
        "ffffffff00",
        "0d000000026100020000000000",
        "0d000000026100ffffffff0000",
        "0d000000026100010000000100",
        "0e00000002610002000000ff0000",
        "090000000862000200",
        "0800000020610000",
        "0c000000106900000000",
        "0800000010ff0000",
        "13000000057800060000000203000000ffff00",
        "0d0000000378000400000000",
        "0d000000037800060000000000",
    ] {
        assert_eq!(code(to_jsonb(&decode_hex(bytes).unwrap())), "22P03", "{bytes}");
    }
    assert_eq!(code(to_jsonb(&decode_hex("0e00000002610002000000000000").unwrap())), "22P05");
}

#[test]
fn no_bytes_make_it_panic() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as usize
    };
    let mut taken = 0;
    for _ in 0..40 {
        for (bytes, _) in BOTH_WAYS {
            let mut bytes = decode_hex(bytes).unwrap();
            for _ in 0..=next() % 3 {
                let at = next() % bytes.len();
                match next() % 3 {
                    0 => bytes[at] = next() as u8,
                    1 => bytes.truncate(at.max(1)),
                    _ => bytes.insert(at, next() as u8),
                }
            }
            if let Ok(text) = to_jsonb(&bytes) {
                taken += 1;
                // What is read can be written, if not always with the same bytes: keys have another order, and no key is twice there.
                let written = to_bson(&text);
                assert!(written.is_ok() || code(written) == "22023");
            }
        }
    }
    assert!(taken > 20, "{taken}");
}

#[test]
fn nesting_has_a_limit() {
    let nested = |levels: usize| {
        (0..levels).fold(vec![5, 0, 0, 0, 0], |inner, _| {
            let mut outer = (inner.len() as i32 + 8).to_le_bytes().to_vec();
            outer.extend([3, b'a', 0]);
            outer.extend(&inner);
            outer.push(0);
            outer
        })
    };
    let text = to_jsonb(&nested(2990)).unwrap();
    assert_eq!(to_bson(&text).unwrap(), nested(2990));
    assert_eq!(code(to_jsonb(&nested(3010))), "54001");
}
