//! The bytes of each form, as other programs write them, and what does not fit.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::*;
use arrow::array::{Array, ArrayRef};

fn bytes(form: KeyForm, value: FormValue<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    encode(form, value, Direction::Asc, &mut out).unwrap();
    out
}

#[test]
fn parts_have_the_bytes_that_others_expect() {
    assert_eq!(bytes(KeyForm::Unsigned(2), FormValue::Number(258)), [1, 2]);
    assert_eq!(bytes(KeyForm::Unsigned(4), FormValue::Number(86_399_999)), 86_399_999_u32.to_be_bytes());
    assert_eq!(bytes(KeyForm::Signed(2), FormValue::Number(-1)), [0x7f, 0xff]);
    assert_eq!(bytes(KeyForm::Digits(6), FormValue::Number(42)), *b"000042");
    // 2012-09-01
    assert_eq!(bytes(KeyForm::Digits(8), FormValue::Date(15_584)), *b"20120901");
    assert_eq!(bytes(KeyForm::Fixed(4), FormValue::Text("ab")), *b"ab\0\0");
    assert_eq!(bytes(KeyForm::Delimited(b','), FormValue::Text("ab")), *b"ab,");
    assert_eq!(bytes(KeyForm::Rest(12), FormValue::Text("ab")), *b"ab");
    assert_eq!(bytes(KeyForm::Reversed, FormValue::Text("añb")), "bña\0\u{1}".as_bytes());
    assert_eq!(bytes(KeyForm::Reversed, FormValue::Number(1200)), *b"0021\0\x01");
    // md5('a') is 0cc175b9c0f1b6a831c399e269772661.
    assert_eq!(bytes(KeyForm::Md5(4), FormValue::Text("a")), [0x0c, 0xc1, 0x75, 0xb9]);
    // XXH3 of "pump-7", seed 0, is part of the format.
    assert_eq!(bytes(KeyForm::Hash(8), FormValue::Text("pump-7")), keyside::hash(b"pump-7").to_be_bytes());
}

#[test]
fn what_does_not_fit_is_refused_and_leaves_nothing() {
    for (form, value) in [
        (KeyForm::Unsigned(2), FormValue::Number(65_536)),
        (KeyForm::Unsigned(8), FormValue::Number(-1)),
        (KeyForm::Signed(1), FormValue::Number(128)),
        (KeyForm::Digits(6), FormValue::Number(1_000_000)),
        (KeyForm::Digits(8), FormValue::Date(i32::MAX)),
        (KeyForm::Fixed(2), FormValue::Text("abc")),
        (KeyForm::Fixed(2), FormValue::Bytes(b"a")),
        (KeyForm::Delimited(b'_'), FormValue::Text("A_")),
        (KeyForm::Rest(1), FormValue::Text("ab")),
    ] {
        let mut out = b"before".to_vec();
        assert!(encode(form, value, Direction::Desc, &mut out).is_err(), "{form:?}");
        assert_eq!(out, b"before");
    }
}

#[test]
fn values_come_back() {
    let one = |form: KeyForm, ty: PgType, value: FormValue<'_>| -> ArrayRef {
        let mut key = Vec::new();
        encode(form, value, Direction::Desc, &mut key).unwrap();
        let mut column = ColumnBuilder::new(&SqlType::new(ty), 1).unwrap();
        assert!(decode(form, Direction::Desc, &key, &mut column).unwrap().is_empty());
        column.finish().unwrap()
    };
    let text = |array: ArrayRef| format!("{:?}", array.slice(0, 1));
    assert!(text(one(KeyForm::Digits(8), PgType::Date, FormValue::Date(15_584))).contains("2012-09-01"));
    assert!(text(one(KeyForm::Signed(3), PgType::Int4, FormValue::Number(-70_000))).contains("-70000"));
    assert!(text(one(KeyForm::Fixed(9), PgType::Text, FormValue::Text("ab"))).contains("\"ab\""));
}
