//! Decimal numbers as bytes that sort by value and are prefix-free: 1.0 and 1.00 have the same bytes.
//!
//! ```text
//! −Infinity   10
//! negative    the bytes of the positive number, each complemented
//! zero        80
//! positive    81 e e e | pairs      E < −30, e = E + 2²³, big-endian
//!             82 … BE  | pairs      −30 ≤ E ≤ 30, the byte is 82 + (E + 30)
//!             BF e e e | pairs      E > 30
//! +Infinity   E0
//! NaN         F0
//! ```
//!
//! The number is 0.p₁p₂p₃… × 100^E with p₁ ≠ 0 and no trailing zero pairs. A pair is one byte, twice its value, plus one unless
//! it is the last: shorter sorts before longer, and the last pair ends the number. Invariant: one value, one form.

const NEG_INFINITY: u8 = 0x10;
const ZERO: u8 = 0x80;
const TINY: u8 = 0x81;
const SMALL: u8 = 0x82;
const HUGE: u8 = 0xBF;
const INFINITY: u8 = 0xE0;
const NAN: u8 = 0xF0;
/// Exponents from −30 to 30 are in the first byte.
const NEAR: i32 = 30;
const EXPONENT_BIAS: i32 = 1 << 23;

/// A number's bytes taken apart. The pairs are still as stored: see [`Finite::pairs`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decoded<'a> {
    NegInfinity,
    Zero,
    Finite(Finite<'a>),
    Infinity,
    NaN,
}

/// A finite number other than zero: 0.p₁p₂… × 100^exponent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Finite<'a> {
    pub negative: bool,
    pub exponent: i32,
    stored: &'a [u8],
}

impl<'a> Finite<'a> {
    /// The base-100 digits, most significant first; the first and the last are not zero.
    pub fn pairs(&self) -> impl ExactSizeIterator<Item = u8> + 'a {
        let mask = if self.negative { 0xFF } else { 0 };
        self.stored.iter().map(move |byte| (byte ^ mask) >> 1)
    }

    /// How many base-100 digits there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.stored.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.stored.is_empty()
    }
}

/// Appends −Infinity.
pub fn encode_neg_infinity(out: &mut Vec<u8>) {
    out.push(NEG_INFINITY);
}

/// Appends +Infinity.
pub fn encode_infinity(out: &mut Vec<u8>) {
    out.push(INFINITY);
}

/// Appends NaN, which sorts last.
pub fn encode_nan(out: &mut Vec<u8>) {
    out.push(NAN);
}

/// Appends ± magnitude × 10^−scale.
pub fn encode(negative: bool, magnitude: u128, scale: u32, out: &mut Vec<u8>) {
    if magnitude == 0 {
        out.push(ZERO);
        return;
    }
    // 128 bits are 39 decimal digits: 20 pairs, one more when the scale is odd.
    let mut pairs = [0u8; 21];
    let mut at = pairs.len();
    let mut rest = magnitude;
    if scale % 2 == 1 {
        at -= 1;
        pairs[at] = (rest % 10) as u8 * 10;
        rest /= 10;
    }
    while rest > u128::from(u64::MAX) {
        at -= 1;
        pairs[at] = (rest % 100) as u8;
        rest /= 100;
    }
    let mut rest = rest as u64;
    while rest > 0 {
        at -= 1;
        pairs[at] = (rest % 100) as u8;
        rest /= 100;
    }
    // `at` is the first pair unless the whole number was the one digit that odd scales split off.
    let last = pairs.iter().rposition(|pair| *pair != 0).map_or(pairs.len(), |last| last + 1);
    let exponent = (pairs.len() - at) as i32 - scale.div_ceil(2) as i32;
    encode_trimmed(negative, exponent, pairs.get(at..last).unwrap_or(&[]), out);
}

/// Appends ± 0.p₁p₂… × 100^exponent. Zero pairs at either end are dropped.
pub fn encode_pairs(negative: bool, exponent: i32, pairs: &[u8], out: &mut Vec<u8>) {
    let Some(first) = pairs.iter().position(|pair| *pair != 0) else {
        out.push(ZERO);
        return;
    };
    let last = pairs.iter().rposition(|pair| *pair != 0).map_or(pairs.len(), |last| last + 1);
    encode_trimmed(negative, exponent - first as i32, pairs.get(first..last).unwrap_or(&[]), out);
}

fn encode_trimmed(negative: bool, exponent: i32, pairs: &[u8], out: &mut Vec<u8>) {
    let mask = if negative { 0xFF } else { 0 };
    if (-NEAR..=NEAR).contains(&exponent) {
        out.push((SMALL + (exponent + NEAR) as u8) ^ mask);
    } else {
        out.push((if exponent < 0 { TINY } else { HUGE }) ^ mask);
        let [_, a, b, c] = (exponent + EXPONENT_BIAS).to_be_bytes();
        out.extend([a ^ mask, b ^ mask, c ^ mask]);
    }
    out.extend(pairs.iter().map(|pair| ((pair << 1) | 1) ^ mask));
    if let Some(last) = out.last_mut() {
        *last ^= 1;
    }
}

/// Takes a number from the front of `bytes`, with the number of bytes it takes there; `None` if there is none.
#[must_use]
pub fn decode(bytes: &[u8]) -> Option<(Decoded<'_>, usize)> {
    let first = *bytes.first()?;
    match first {
        NEG_INFINITY => return Some((Decoded::NegInfinity, 1)),
        ZERO => return Some((Decoded::Zero, 1)),
        INFINITY => return Some((Decoded::Infinity, 1)),
        NAN => return Some((Decoded::NaN, 1)),
        _ => {}
    }
    let negative = first < ZERO;
    let mask = if negative { 0xFF } else { 0 };
    let (exponent, start) = match first ^ mask {
        TINY | HUGE => {
            let [a, b, c] = *bytes.get(1..4)? else { return None };
            (i32::from_be_bytes([0, a ^ mask, b ^ mask, c ^ mask]) - EXPONENT_BIAS, 4)
        }
        near @ SMALL..HUGE => (i32::from(near - SMALL) - NEAR, 1),
        _ => return None,
    };
    let length = bytes.get(start..)?.iter().position(|byte| (byte ^ mask) & 1 == 0)? + 1;
    let stored = bytes.get(start..start + length)?;
    Some((Decoded::Finite(Finite { negative, exponent, stored }), start + length))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    fn bytes(negative: bool, magnitude: u128, scale: u32) -> Vec<u8> {
        let mut out = Vec::new();
        encode(negative, magnitude, scale, &mut out);
        out
    }

    #[test]
    fn golden() {
        assert_eq!(bytes(false, 1, 0), [0xA1, 0x02]);
        assert_eq!(bytes(false, 1234, 2), [0xA1, 0x19, 0x44]);
        assert_eq!(bytes(true, 1234, 2), [!0xA1, !0x19, !0x44]);
        assert_eq!(bytes(false, 15, 1), [0xA1, 0x03, 0x64]);
        assert_eq!(bytes(false, 5, 1), [0xA0, 0x64]);
        assert_eq!(bytes(false, 5, 16383), [0x81, 0x7F, 0xE0, 0x01, 100]);
    }

    #[test]
    fn order_and_round_trip() {
        let mut rows: Vec<Vec<u8>> = Vec::new();
        let mut lowest = Vec::new();
        encode_neg_infinity(&mut lowest);
        rows.push(lowest);
        let ascending: &[(u128, u32)] = &[
            (1, 16383),
            (1, 70),
            (1, 61),
            (1, 60),
            (1, 3),
            (9, 3),
            (1, 2),
            (99, 3),
            (1, 1),
            (11, 2),
            (1, 0),
            (1001, 3),
            (101, 2),
            (11, 1),
            (2, 0),
            (10, 0),
            (99, 0),
            (100, 0),
            (10_001, 2),
            (i128::MAX as u128, 0),
            (u128::MAX, 0),
        ];
        rows.extend(ascending.iter().rev().map(|(m, s)| bytes(true, *m, *s)));
        rows.push(bytes(false, 0, 5));
        rows.extend(ascending.iter().map(|(m, s)| bytes(false, *m, *s)));
        let mut out = Vec::new();
        encode_pairs(false, 65536, &[0, 12, 0, 1, 0], &mut out);
        rows.push(out);
        for write in [encode_infinity, encode_nan] {
            let mut out = Vec::new();
            write(&mut out);
            rows.push(out);
        }
        for pair in rows.windows(2) {
            assert!(pair[0] < pair[1], "{pair:x?}");
            assert!(!pair[1].starts_with(&pair[0]));
        }
        for row in &rows {
            let mut longer = row.clone();
            longer.extend([1, 2, 3]);
            assert_eq!(decode(&longer).unwrap().1, row.len());
        }
        assert_eq!(bytes(false, 10, 1), bytes(false, 1, 0));
        assert_eq!(bytes(false, 1_000_000, 6), bytes(false, 1, 0));
        let encoded = bytes(true, 123_456, 3);
        let (Decoded::Finite(finite), _) = decode(&encoded).unwrap() else { panic!() };
        assert_eq!((finite.negative, finite.exponent, finite.pairs().collect::<Vec<_>>()), (true, 2, vec![1, 23, 45, 60]));
        assert_eq!(decode(&[]), None);
        assert_eq!(decode(&[0xA1, 0x03]), None);
    }
}
