//! Numbers inside jsonb: canonical decimal text, as `numeric` prints it.
//!
//! Invariant: the text has no exponent, no leading zeros, no sign on zero, and keeps the scale that was written (`1.50`), so
//! printing is a copy. Equality and order are by value; [`sort_key`] gives bytes in that order.

use crate::error::{PgError, PgResult};
use crate::sqlstate::SqlState;
use std::cmp::Ordering;

/// Digits that `numeric` allows before and after the point.
const MAX_INTEGER_DIGITS: i64 = 131_072;
const MAX_SCALE: i64 = 16_383;

fn overflow() -> PgError {
    PgError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "value overflows numeric format")
}

/// Appends the canonical form of a number in JSON's syntax.
pub fn canonical(text: &str, out: &mut Vec<u8>) -> PgResult<()> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (mantissa, exponent) = match digits.find(['e', 'E']) {
        Some(at) => {
            let exponent = digits.get(at + 1..).unwrap_or("0");
            (digits.get(..at).unwrap_or(digits), exponent.parse::<i64>().map_err(|_| overflow())?)
        }
        None => (digits, 0),
    };
    if exponent.abs() >= i64::from(i32::MAX / 2) {
        return Err(overflow());
    }
    let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let zero = !mantissa.bytes().any(|b| (b'1'..=b'9').contains(&b));
    let scale = (fraction.len() as i64 - exponent).max(0);
    if scale > MAX_SCALE {
        return Err(overflow());
    }
    if negative && !zero {
        out.push(b'-');
    }
    if zero {
        out.push(b'0');
        if scale > 0 {
            out.push(b'.');
            out.extend(std::iter::repeat_n(b'0', scale as usize));
        }
        return Ok(());
    }
    if exponent == 0 && integer.len() as i64 <= MAX_INTEGER_DIGITS {
        out.extend_from_slice(mantissa.as_bytes());
        return Ok(());
    }
    let point = integer.len() as i64 + exponent;
    let leading = integer.bytes().chain(fraction.bytes()).take_while(|b| *b == b'0').count() as i64;
    if point - leading > MAX_INTEGER_DIGITS {
        return Err(overflow());
    }
    let digits: Vec<u8> = integer.bytes().chain(fraction.bytes()).collect();
    let digit = |place: i64| usize::try_from(place).ok().and_then(|at| digits.get(at)).copied().unwrap_or(b'0');
    if point - leading <= 0 {
        out.push(b'0');
    } else {
        for place in leading..point {
            out.push(digit(place));
        }
    }
    if scale > 0 {
        out.push(b'.');
        for place in point..point + scale {
            out.push(digit(place));
        }
    }
    Ok(())
}

/// A canonical text taken apart: sign, digits before the point without leading zeros, digits after it without trailing ones.
struct Parts<'a> {
    negative: bool,
    integer: &'a [u8],
    fraction: &'a [u8],
}

fn parts(text: &str) -> Parts<'_> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (integer, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    Parts { negative, integer: integer.trim_start_matches('0').as_bytes(), fraction: fraction.trim_end_matches('0').as_bytes() }
}

impl Parts<'_> {
    fn is_zero(&self) -> bool {
        self.integer.is_empty() && self.fraction.is_empty()
    }
}

/// Compares by value.
#[must_use]
pub fn compare(a: &str, b: &str) -> Ordering {
    if a == b {
        return Ordering::Equal;
    }
    let (a, b) = (parts(a), parts(b));
    match (a.negative && !a.is_zero(), b.negative && !b.is_zero()) {
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (negative, _) => {
            let magnitude =
                a.integer.len().cmp(&b.integer.len()).then_with(|| a.integer.cmp(b.integer)).then_with(|| a.fraction.cmp(b.fraction));
            if negative { magnitude.reverse() } else { magnitude }
        }
    }
}

/// Appends bytes that compare as the numbers do; equal numbers give equal bytes.
///
/// ```text
/// 00 negative | 01 zero | 02 positive;  then biased decimal exponent, 4 bytes;  digits + 1 each;  00
/// ```
/// All after the sign is inverted for negative numbers.
pub fn sort_key(text: &str, out: &mut Vec<u8>) {
    let number = parts(text);
    if number.is_zero() {
        out.push(1);
        return;
    }
    out.push(if number.negative { 0 } else { 2 });
    let from = out.len();
    let exponent = if number.integer.is_empty() {
        -(number.fraction.iter().take_while(|b| **b == b'0').count() as i64)
    } else {
        number.integer.len() as i64
    };
    let biased = (exponent + i64::from(i32::MAX)).clamp(0, i64::from(u32::MAX)) as u32;
    out.extend_from_slice(&biased.to_be_bytes());
    let digits = number.integer.iter().chain(number.fraction).skip_while(|b| **b == b'0');
    out.extend(digits.map(|b| b.wrapping_sub(b'0') + 1));
    // Trailing zeros of an integer are not significant: 100 and 100.0 have equal fractions already, 1e2 has the same digits.
    while out.len() > from + 4 && out.last() == Some(&1) {
        out.pop();
    }
    out.push(0);
    if number.negative {
        for byte in out.iter_mut().skip(from) {
            *byte = !*byte;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn canonical_as_numeric_prints() {
        for (given, wanted) in [
            ("-0", "0"),
            ("-0.00", "0.00"),
            ("1E+3", "1000"),
            ("1.50e1", "15.0"),
            ("1.5e-3", "0.0015"),
            ("0e5", "0"),
            ("12.5e3", "12500"),
            ("-12.345e1", "-123.45"),
            ("0.001e2", "0.1"),
            ("0.001e3", "1"),
            ("0.00120e2", "0.120"),
            ("12345e-2", "123.45"),
            ("1.10", "1.10"),
        ] {
            let mut out = Vec::new();
            canonical(given, &mut out).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), wanted, "{given}");
        }
        for given in ["1e131072", "1e-17000", "1e99999999999999999999"] {
            assert_eq!(canonical(given, &mut Vec::new()).unwrap_err().code(), SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "{given}");
        }
    }

    #[test]
    fn order_is_by_value() {
        let sorted =
            ["-100", "-20.5", "-20.25", "-1", "-0.5", "-0.05", "0", "0.0001", "0.05", "0.5", "0.51", "1", "1.5", "2", "10", "20", "100"];
        let key = |s: &str| {
            let mut out = Vec::new();
            sort_key(s, &mut out);
            out
        };
        for (i, a) in sorted.iter().enumerate() {
            for (j, b) in sorted.iter().enumerate() {
                assert_eq!(compare(a, b), i.cmp(&j), "{a} {b}");
                assert_eq!(key(a).cmp(&key(b)), i.cmp(&j), "keys of {a} {b}");
            }
        }
        assert_eq!(compare("1.0", "1.00"), Ordering::Equal);
        assert_eq!(key("1.0"), key("1.00"));
        assert_eq!(key("100"), key("100.0"));
        assert_eq!(key("0"), key("0.00"));
    }
}
