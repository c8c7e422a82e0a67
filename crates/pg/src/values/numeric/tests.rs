//! Numerics: text, order, arithmetic, rounding and bytes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use super::*;

fn n(text: &str) -> Numeric {
    Numeric::parse(text).unwrap()
}

#[test]
fn text() {
    for (input, output) in [
        (" +1.50e1 ", "15.0"),
        ("-0.0", "0.0"),
        (".5", "0.5"),
        ("5.", "5"),
        ("1e-3", "0.001"),
        ("1.25e3", "1250"),
        ("nan", "NaN"),
        ("-inf", "-Infinity"),
        ("+Infinity", "Infinity"),
        ("170141183460469231731687303715884105728", "170141183460469231731687303715884105728"),
        ("-123456789012345678901234567890123456789012.3400", "-123456789012345678901234567890123456789012.3400"),
        ("0e1000000000", "0"),
    ] {
        assert_eq!(n(input).to_string(), output, "{input}");
        let mut bytes = Vec::new();
        n(input).encode(&mut bytes);
        assert_eq!(Numeric::decode(&bytes).unwrap().to_string(), output);
        let mut wire = Vec::new();
        n(input).write_binary(&mut wire);
        assert_eq!(Numeric::from_binary(&wire).unwrap().to_string(), output);
    }
    for (special, bytes) in [("NaN", [0xc0, 0, 0, 0]), ("Infinity", [0xd0, 0, 0, 0x20]), ("-Infinity", [0xf0, 0, 0, 0x20])] {
        let mut wire = Vec::new();
        n(special).write_binary(&mut wire);
        assert_eq!(wire[4..], bytes, "{special}");
    }
    for bad in ["", " ", "1_0", "1e", "1e+", "+nan", "0x10", "infinityx", ".", "-", "1 2", "--1"] {
        assert_eq!(Numeric::parse(bad).unwrap_err().code(), SqlState::INVALID_TEXT_REPRESENTATION, "{bad}");
    }
    for bad in ["1e131072", "1e-20000", "1e1000000000", "1e20000000000"] {
        assert_eq!(Numeric::parse(bad).unwrap_err().message(), "value overflows numeric format");
    }
    assert_eq!(n("1e131071").to_string().len(), 131_072);
}
