//! `numeric`: a decimal number of any size with the number of digits that it shows after the point, as PostgreSQL keeps it.
//!
//! A value is a mantissa and a scale; mantissas of up to 127 bits are plain integers, larger ones big integers (invariant: a big
//! one never fits in 127 bits). Columns hold the sortable bytes of `stoa_encoding::numeric`, which order by value, followed by the
//! scale in two bytes, big-endian, which tells 1.0 from 1.00:
//!
//! ```text
//! number (prefix-free, sorts by value) | scale, 2 bytes
//! ```
//!
//! Arithmetic is in [`arithmetic`], roots and logarithms in [`transcendental`], whole columns in [`mod@column`].

use crate::error::{PgError, PgResult};
use crate::sqlstate::SqlState;
use crate::types::{PgType, numeric_typmod};
use num_bigint::{BigInt, BigUint, Sign};
use num_traits::{Signed, ToPrimitive, Zero};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use stoa_encoding::numeric as sortable;

pub mod arithmetic;
pub mod column;
pub mod transcendental;

pub use column::{NumericKind, builder, decimal_to_numeric, numeric_to_decimal, writer};

/// Most digits after the point.
pub(crate) const MAX_SCALE: u32 = 16_383;
/// Most digits before the point.
pub(crate) const MAX_DIGITS: u64 = 131_072;

/// A value of type `numeric`. Compares by value: 1.0 equals 1.00; NaN equals itself and is the greatest.
#[derive(Clone)]
pub struct Numeric(pub(crate) Repr);

#[derive(Clone)]
pub(crate) enum Repr {
    NaN,
    Infinity { negative: bool },
    Small { mantissa: i128, scale: u16 },
    Big { mantissa: Box<BigInt>, scale: u16 },
}

/// Powers of ten that an `i128` holds.
pub(crate) const POWERS: [i128; 39] = {
    let mut powers = [1i128; 39];
    let mut at = 1;
    while at < powers.len() {
        powers[at] = powers[at - 1] * 10;
        at += 1;
    }
    powers
};

/// 10^n as an `i128`.
#[inline]
pub(crate) fn power_of_ten(n: u32) -> Option<i128> {
    POWERS.get(n as usize).copied()
}

/// 10^n.
pub(crate) fn big_power_of_ten(n: u32) -> BigInt {
    match power_of_ten(n) {
        Some(power) => BigInt::from(power),
        None => BigInt::from(10).pow(n),
    }
}

/// Decimal digits of a mantissa; 0 for zero.
pub(crate) fn digits_of(mantissa: u128) -> u32 {
    mantissa.checked_ilog10().map_or(0, |log| log + 1)
}

fn big_digits_of(magnitude: &BigUint) -> u64 {
    if magnitude.is_zero() {
        return 0;
    }
    // The estimate is the right count or one below it.
    let estimate = ((magnitude.bits() - 1) as f64 * std::f64::consts::LOG10_2).floor() as u32;
    if *magnitude >= BigUint::from(10u32).pow(estimate) {
        let next = BigUint::from(10u32).pow(estimate + 1);
        u64::from(estimate) + 1 + u64::from(*magnitude >= next)
    } else {
        u64::from(estimate)
    }
}

/// The error for a number with too many digits.
pub(crate) fn overflow() -> PgError {
    PgError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "value overflows numeric format")
}

impl Numeric {
    pub const NAN: Numeric = Numeric(Repr::NaN);
    pub const INFINITY: Numeric = Numeric(Repr::Infinity { negative: false });
    pub const NEG_INFINITY: Numeric = Numeric(Repr::Infinity { negative: true });
    pub const ZERO: Numeric = Numeric(Repr::Small { mantissa: 0, scale: 0 });
    pub const ONE: Numeric = Numeric(Repr::Small { mantissa: 1, scale: 0 });

    #[must_use]
    pub fn from_i64(value: i64) -> Self {
        Self(Repr::Small { mantissa: i128::from(value), scale: 0 })
    }

    /// mantissa × 10^−scale, showing `scale` digits after the point.
    #[must_use]
    #[inline]
    pub fn from_i128(mantissa: i128, scale: u16) -> Self {
        Self(Repr::Small { mantissa, scale })
    }

    /// mantissa × 10^−scale.
    ///
    /// # Errors
    /// 22003 when the number has more digits than `numeric` can hold.
    pub fn from_big(mantissa: BigInt, scale: u32) -> PgResult<Self> {
        if scale > MAX_SCALE {
            return Err(overflow());
        }
        let scale = scale as u16;
        if let Some(small) = mantissa.to_i128().filter(|small| *small != i128::MIN) {
            return Ok(Self(Repr::Small { mantissa: small, scale }));
        }
        // 3.33 bits a digit: only numbers near the limit are counted.
        if mantissa.bits() > 430_000 && big_digits_of(mantissa.magnitude()) > MAX_DIGITS + u64::from(scale) {
            return Err(overflow());
        }
        Ok(Self(Repr::Big { mantissa: Box::new(mantissa), scale }))
    }

    /// The double rounded to 15 significant digits, as PostgreSQL casts it.
    #[must_use]
    pub fn from_f64(value: f64) -> Self {
        Self::from_scientific(value.is_nan(), value.is_infinite(), value < 0.0, || format!("{value:.14e}"))
    }

    /// The float rounded to 6 significant digits.
    #[must_use]
    pub fn from_f32(value: f32) -> Self {
        Self::from_scientific(value.is_nan(), value.is_infinite(), value < 0.0, || format!("{value:.5e}"))
    }

    fn from_scientific(nan: bool, infinite: bool, negative: bool, text: impl Fn() -> String) -> Self {
        if nan {
            return Self::NAN;
        }
        if infinite {
            return Self(Repr::Infinity { negative });
        }
        let text = text();
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let mut mantissa = 0i128;
        for digit in digits.bytes().filter(u8::is_ascii_digit) {
            mantissa = mantissa * 10 + i128::from(digit - b'0');
        }
        let places = digits.split_once('.').map_or(0, |(_, fraction)| fraction.len() as i32);
        let mut scale = places - exponent.parse::<i32>().unwrap_or(0);
        if mantissa == 0 {
            return Self::ZERO;
        }
        while mantissa % 10 == 0 {
            mantissa /= 10;
            scale -= 1;
        }
        if negative {
            mantissa = -mantissa;
        }
        match u16::try_from(scale) {
            Ok(scale) => Self(Repr::Small { mantissa, scale }),
            Err(_) => Self::from_big(BigInt::from(mantissa) * big_power_of_ten(scale.unsigned_abs()), 0).unwrap_or(Self::NAN),
        }
    }

    /// Reads PostgreSQL's text: digits, point, exponent, `NaN`, `Infinity`, `inf`, blanks around.
    ///
    /// # Errors
    /// 22P02 for anything else, 22003 for too many digits.
    pub fn parse(text: &str) -> PgResult<Self> {
        let invalid = || PgError::invalid_text("numeric", text);
        let trimmed = text.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b');
        let bytes = trimmed.as_bytes();
        let (negative, unsigned) = match bytes.first() {
            Some(b'-') => (true, bytes.get(1..).unwrap_or(&[])),
            Some(b'+') => (false, bytes.get(1..).unwrap_or(&[])),
            _ => (false, bytes),
        };
        if !unsigned.first().is_some_and(|b| b.is_ascii_digit() || *b == b'.') {
            return if trimmed.eq_ignore_ascii_case("nan") {
                Ok(Self::NAN)
            } else if unsigned.eq_ignore_ascii_case(b"infinity") || unsigned.eq_ignore_ascii_case(b"inf") {
                Ok(Self(Repr::Infinity { negative }))
            } else {
                Err(invalid())
            };
        }
        let mut at = 0;
        let mut mantissa: Option<i128> = Some(0);
        let (mut digits, mut places, mut point) = (0usize, 0u32, false);
        while let Some(byte) = unsigned.get(at) {
            match byte {
                b'0'..=b'9' => {
                    mantissa = mantissa.and_then(|m| m.checked_mul(10)?.checked_add(i128::from(byte - b'0')));
                    digits += 1;
                    places += u32::from(point);
                }
                b'.' if !point => point = true,
                _ => break,
            }
            at += 1;
        }
        if digits == 0 {
            return Err(invalid());
        }
        let significand = unsigned.get(..at).unwrap_or(&[]);
        let exponent = match unsigned.get(at..).unwrap_or(&[]) {
            [] => 0i64,
            [b'e' | b'E', rest @ ..] => {
                // As C reads an integer: blanks may stand before it, and one that is too large is reported before what stands after it.
                let rest = rest.trim_ascii_start();
                let number = match rest {
                    [b'+' | b'-', number @ ..] => number,
                    number => number,
                };
                let digits = number.iter().take_while(|b| b.is_ascii_digit()).count();
                let magnitude = number.iter().take(digits).fold(0i64, |n, b| (n * 10 + i64::from(b - b'0')).min(4_000_000_000));
                if magnitude >= i64::from(i32::MAX / 2) {
                    return Err(overflow());
                }
                if digits == 0 || digits < number.len() {
                    return Err(invalid());
                }
                if rest.first() == Some(&b'-') { -magnitude } else { magnitude }
            }
            _ => return Err(invalid()),
        };
        let scale = i64::from(places) - exponent;
        let scale_out = u32::try_from(scale.max(0)).unwrap_or(u32::MAX);
        let raise = u32::try_from((-scale).max(0)).unwrap_or(u32::MAX);
        if mantissa == Some(0) {
            return Self::from_big(BigInt::zero(), scale_out);
        }
        if u64::from(raise) > MAX_DIGITS {
            return Err(overflow());
        }
        let raised = if raise == 0 { mantissa } else { mantissa.and_then(|m| m.checked_mul(power_of_ten(raise)?)) };
        match raised {
            Some(m) if scale_out <= MAX_SCALE => Ok(Self(Repr::Small { mantissa: if negative { -m } else { m }, scale: scale_out as u16 })),
            _ => {
                let digits: Vec<u8> = significand.iter().filter(|b| **b != b'.').map(|b| b - b'0').collect();
                let magnitude = BigUint::from_radix_be(&digits, 10).unwrap_or_default();
                let sign = if negative { Sign::Minus } else { Sign::Plus };
                Self::from_big(BigInt::from_biguint(sign, magnitude) * big_power_of_ten(raise), scale_out)
            }
        }
    }

    #[must_use]
    pub fn is_nan(&self) -> bool {
        matches!(self.0, Repr::NaN)
    }

    #[must_use]
    pub fn is_infinite(&self) -> bool {
        matches!(self.0, Repr::Infinity { .. })
    }

    #[must_use]
    pub fn is_finite(&self) -> bool {
        matches!(self.0, Repr::Small { .. } | Repr::Big { .. })
    }

    #[must_use]
    pub fn is_zero(&self) -> bool {
        matches!(self.0, Repr::Small { mantissa: 0, .. })
    }

    /// −1, 0 or 1; NaN counts as 1.
    #[must_use]
    pub fn signum(&self) -> i32 {
        match &self.0 {
            Repr::NaN => 1,
            Repr::Infinity { negative } => {
                if *negative {
                    -1
                } else {
                    1
                }
            }
            Repr::Small { mantissa, .. } => mantissa.signum() as i32,
            Repr::Big { mantissa, .. } => {
                if mantissa.is_negative() {
                    -1
                } else {
                    1
                }
            }
        }
    }

    /// Digits after the point as shown; 0 for NaN and the infinities.
    #[must_use]
    pub fn display_scale(&self) -> u32 {
        match &self.0 {
            Repr::Small { scale, .. } | Repr::Big { scale, .. } => u32::from(*scale),
            _ => 0,
        }
    }

    /// Mantissa and scale, if the number is finite and fits.
    #[must_use]
    #[inline]
    pub fn to_parts(&self) -> Option<(i128, u16)> {
        match self.0 {
            Repr::Small { mantissa, scale } => Some((mantissa, scale)),
            _ => None,
        }
    }

    /// The mantissa of a finite number.
    pub(crate) fn big_mantissa(&self) -> Option<BigInt> {
        match &self.0 {
            Repr::Small { mantissa, .. } => Some(BigInt::from(*mantissa)),
            Repr::Big { mantissa, .. } => Some((**mantissa).clone()),
            _ => None,
        }
    }

    /// Digits of the mantissa of a finite number: 0 for zero.
    pub(crate) fn mantissa_digits(&self) -> u64 {
        match &self.0 {
            Repr::Small { mantissa, .. } => u64::from(digits_of(mantissa.unsigned_abs())),
            Repr::Big { mantissa, .. } => big_digits_of(mantissa.magnitude()),
            _ => 0,
        }
    }

    /// The exponent of the first digit: 0 for 1 to 9.99, −1 for 0.1; 0 for zero.
    pub(crate) fn decimal_exponent(&self) -> i64 {
        let digits = self.mantissa_digits() as i64;
        if digits == 0 { 0 } else { digits - 1 - i64::from(self.display_scale()) }
    }

    /// The mantissa's first `n` digits, filled up with zeros.
    pub(crate) fn leading_digits(&self, n: u32) -> u64 {
        let digits = self.mantissa_digits() as u32;
        let Some(mantissa) = self.big_mantissa() else { return 0 };
        let magnitude = mantissa.abs();
        let cut = if digits >= n { magnitude / big_power_of_ten(digits - n) } else { magnitude * big_power_of_ten(n - digits) };
        cut.to_u64().unwrap_or(0)
    }

    /// The nearest double.
    ///
    /// # Errors
    /// 22003 when there is none.
    pub fn to_f64(&self) -> PgResult<f64> {
        let value = self.to_f64_saturating();
        if self.is_finite() && (value.is_infinite() || (value == 0.0 && !self.is_zero())) {
            return Err(PgError::new(
                SqlState::NUMERIC_VALUE_OUT_OF_RANGE,
                format!("\"{self}\" is out of range for type double precision"),
            ));
        }
        Ok(value)
    }

    /// The nearest double, ±infinity or zero where it has none.
    #[must_use]
    pub fn to_f64_saturating(&self) -> f64 {
        match &self.0 {
            Repr::NaN => f64::NAN,
            Repr::Infinity { negative: true } => f64::NEG_INFINITY,
            Repr::Infinity { negative: false } => f64::INFINITY,
            // Both exact: one rounding.
            Repr::Small { mantissa, scale } if mantissa.unsigned_abs() < 1 << 53 && *scale <= 22 => {
                *mantissa as f64 / POWERS.get(usize::from(*scale)).map_or(1.0, |power| *power as f64)
            }
            Repr::Small { mantissa, scale } => f64::from_str(&format!("{mantissa}e-{scale}")).unwrap_or(f64::NAN),
            Repr::Big { mantissa, scale } => f64::from_str(&format!("{mantissa}e-{scale}")).unwrap_or(f64::NAN),
        }
    }

    /// The nearest single-precision float.
    ///
    /// # Errors
    /// 22003 when there is none.
    pub fn to_f32(&self) -> PgResult<f32> {
        let value = match &self.0 {
            Repr::Small { mantissa, scale } => f32::from_str(&format!("{mantissa}e-{scale}")).unwrap_or(f32::NAN),
            Repr::Big { mantissa, scale } => f32::from_str(&format!("{mantissa}e-{scale}")).unwrap_or(f32::NAN),
            _ => self.to_f64_saturating() as f32,
        };
        if self.is_finite() && (value.is_infinite() || (value == 0.0 && !self.is_zero())) {
            return Err(PgError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, format!("\"{self}\" is out of range for type real")));
        }
        Ok(value)
    }

    /// The nearest integer, halves away from zero; `None` if it needs more than 127 bits.
    fn to_integer(&self, type_name: &str) -> PgResult<Option<i128>> {
        let special = |what: &str| PgError::unsupported(format!("cannot convert {what} to {type_name}"));
        match &self.0 {
            Repr::NaN => Err(special("NaN")),
            Repr::Infinity { .. } => Err(special("infinity")),
            Repr::Small { mantissa, scale: 0 } => Ok(Some(*mantissa)),
            _ => Ok(self.round(0).to_parts().map(|(mantissa, _)| mantissa)),
        }
    }

    /// # Errors
    /// 22003 when the rounded number is not a smallint; 0A000 for NaN and the infinities.
    pub fn to_i16(&self) -> PgResult<i16> {
        self.to_integer("smallint")?.and_then(|n| n.try_into().ok()).ok_or_else(|| PgError::out_of_range("smallint"))
    }

    /// # Errors
    /// 22003 when the rounded number is not an integer; 0A000 for NaN and the infinities.
    pub fn to_i32(&self) -> PgResult<i32> {
        self.to_integer("integer")?.and_then(|n| n.try_into().ok()).ok_or_else(|| PgError::out_of_range("integer"))
    }

    /// # Errors
    /// 22003 when the rounded number is not a bigint; 0A000 for NaN and the infinities.
    pub fn to_i64(&self) -> PgResult<i64> {
        self.to_integer("bigint")?.and_then(|n| n.try_into().ok()).ok_or_else(|| PgError::out_of_range("bigint"))
    }

    /// Rounds to the modifier's scale and checks its precision.
    ///
    /// # Errors
    /// 22003 `numeric field overflow` when there are more digits before the point than the modifier allows.
    pub fn apply_typmod(&self, typmod: i32) -> PgResult<Self> {
        let Some((precision, scale)) = numeric_typmod(&PgType::Numeric, typmod) else { return Ok(self.clone()) };
        let field = |detail: String| PgError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "numeric field overflow").detail(detail);
        match &self.0 {
            Repr::NaN => return Ok(self.clone()),
            Repr::Infinity { .. } => {
                return Err(field(format!("A field with precision {precision}, scale {scale} cannot hold an infinite value.")));
            }
            _ => {}
        }
        let rounded = self.round(scale);
        let most = i64::from(precision) - i64::from(scale);
        if !rounded.is_zero() && rounded.decimal_exponent() >= most {
            let (base, power) = if most == 0 { ("", "1".to_owned()) } else { ("10^", most.to_string()) };
            return Err(field(format!(
                "A field with precision {precision}, scale {scale} must round to an absolute value less than {base}{power}."
            )));
        }
        Ok(rounded)
    }

    /// Appends the text form.
    pub fn write_text(&self, out: &mut Vec<u8>) {
        let mut stack = [0u8; 40];
        let heap;
        let (negative, digits, scale) = match &self.0 {
            Repr::NaN => return out.extend(b"NaN"),
            Repr::Infinity { negative: true } => return out.extend(b"-Infinity"),
            Repr::Infinity { negative: false } => return out.extend(b"Infinity"),
            Repr::Small { mantissa, scale } => (*mantissa < 0, write_digits(mantissa.unsigned_abs(), &mut stack), usize::from(*scale)),
            Repr::Big { mantissa, scale } => {
                heap = mantissa.magnitude().to_string();
                (mantissa.is_negative(), heap.as_bytes(), usize::from(*scale))
            }
        };
        if negative {
            out.push(b'-');
        }
        let whole = digits.len().saturating_sub(scale);
        if whole == 0 {
            out.push(b'0');
        } else {
            out.extend(digits.get(..whole).unwrap_or(&[]));
        }
        if scale > 0 {
            out.push(b'.');
            out.extend(std::iter::repeat_n(b'0', scale.saturating_sub(digits.len())));
            out.extend(digits.get(whole..).unwrap_or(&[]));
        }
    }

    /// Appends PostgreSQL's binary form: digits of base 10000.
    pub fn write_binary(&self, out: &mut Vec<u8>) {
        // What PostgreSQL sends as the scale of infinities is a bit of their sign.
        let special = |sign: u16, out: &mut Vec<u8>| {
            let scale = if sign & 0x1000 != 0 { 0x20 } else { 0 };
            out.extend([0, 0, 0, 0, (sign >> 8) as u8, sign as u8, 0, scale]);
        };
        let scale = self.display_scale();
        let (negative, digits) = match &self.0 {
            Repr::NaN => return special(0xC000, out),
            Repr::Infinity { negative: false } => return special(0xD000, out),
            Repr::Infinity { negative: true } => return special(0xF000, out),
            Repr::Small { mantissa, .. } => (*mantissa < 0, digits_base_10000(BigUint::from(mantissa.unsigned_abs()), scale)),
            Repr::Big { mantissa, .. } => (mantissa.is_negative(), digits_base_10000(mantissa.magnitude().clone(), scale)),
        };
        let (weight, digits) = digits;
        out.extend((digits.len() as u16).to_be_bytes());
        out.extend((weight as i16).to_be_bytes());
        out.extend(if negative { [0x40, 0] } else { [0, 0] });
        out.extend((scale as u16).to_be_bytes());
        for digit in digits {
            out.extend(digit.to_be_bytes());
        }
    }

    /// Reads PostgreSQL's binary form.
    ///
    /// # Errors
    /// 22P03 for bytes that are not one, 08P01 for too few.
    pub fn from_binary(bytes: &[u8]) -> PgResult<Self> {
        let invalid =
            |what: &str| PgError::new(SqlState::INVALID_BINARY_REPRESENTATION, format!("invalid {what} in external \"numeric\" value"));
        let word = |at: usize| bytes.get(2 * at..2 * at + 2).and_then(|b| b.try_into().ok()).map(u16::from_be_bytes);
        let (Some(count), Some(weight), Some(sign), Some(scale)) = (word(0), word(1), word(2), word(3)) else {
            return Err(super::short_binary());
        };
        if bytes.len() > 2 * (4 + usize::from(count)) {
            return Err(super::bad_binary());
        }
        let negative = match sign {
            0xC000 => return Ok(Self::NAN),
            0xD000 => return Ok(Self::INFINITY),
            0xF000 => return Ok(Self::NEG_INFINITY),
            0 => false,
            0x4000 => true,
            _ => return Err(invalid("sign")),
        };
        if u32::from(scale) > MAX_SCALE {
            return Err(invalid("scale"));
        }
        let mut pairs = Vec::with_capacity(usize::from(count) * 2);
        for at in 0..usize::from(count) {
            let digit = word(4 + at).ok_or_else(super::short_binary)?;
            if digit >= 10_000 {
                return Err(invalid("digit"));
            }
            pairs.extend([(digit / 100) as u8, (digit % 100) as u8]);
        }
        // Digits beyond the scale are cut, as PostgreSQL does.
        let exponent = (i64::from(weight as i16) + 1) * 2;
        let magnitude = BigUint::from_radix_be(&pairs, 100).unwrap_or_default();
        let raise = (exponent - pairs.len() as i64) * 2 + i64::from(scale);
        let mantissa = BigInt::from_biguint(if negative { Sign::Minus } else { Sign::Plus }, magnitude);
        let shift = big_power_of_ten(raise.unsigned_abs() as u32);
        Self::from_big(if raise >= 0 { mantissa * shift } else { mantissa / shift }, u32::from(scale))
    }

    /// Appends the column form: sortable bytes, then the scale.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match &self.0 {
            Repr::NaN => sortable::encode_nan(out),
            Repr::Infinity { negative: true } => sortable::encode_neg_infinity(out),
            Repr::Infinity { negative: false } => sortable::encode_infinity(out),
            Repr::Small { mantissa, scale } => sortable::encode(*mantissa < 0, mantissa.unsigned_abs(), u32::from(*scale), out),
            Repr::Big { mantissa, scale } => {
                let odd = *scale % 2 == 1;
                let pairs = if odd { mantissa.magnitude() * 10u32 } else { mantissa.magnitude().clone() }.to_radix_be(100);
                let exponent = pairs.len() as i32 - i32::from(scale.div_ceil(2));
                sortable::encode_pairs(mantissa.is_negative(), exponent, &pairs, out);
            }
        }
        out.extend((self.display_scale() as u16).to_be_bytes());
    }

    /// Reads the column form.
    ///
    /// # Errors
    /// XX001 for bytes that [`Numeric::encode`] does not write.
    pub fn decode(bytes: &[u8]) -> PgResult<Self> {
        let corrupt = || PgError::new(SqlState::DATA_CORRUPTED, "a stored numeric cannot be read");
        let (decoded, used) = sortable::decode(bytes).ok_or_else(corrupt)?;
        let scale = match bytes.get(used..) {
            Some([high, low]) => u16::from_be_bytes([*high, *low]),
            _ => return Err(corrupt()),
        };
        let finite = match decoded {
            sortable::Decoded::NaN => return Ok(Self::NAN),
            sortable::Decoded::Infinity => return Ok(Self::INFINITY),
            sortable::Decoded::NegInfinity => return Ok(Self::NEG_INFINITY),
            sortable::Decoded::Zero => return Ok(Self(Repr::Small { mantissa: 0, scale })),
            sortable::Decoded::Finite(finite) => finite,
        };
        // The mantissa is the pairs × 10^raise, and raise is at least −1: one digit of the last pair may lie beyond the scale.
        let raise = 2 * (i64::from(finite.exponent) - finite.len() as i64) + i64::from(scale);
        if raise < -1 {
            return Err(corrupt());
        }
        if finite.len() <= 18 && finite.len() as i64 * 2 + raise <= 37 {
            let mut mantissa = 0i128;
            if finite.len() <= 9 {
                mantissa = i128::from(finite.pairs().fold(0u64, |sum, pair| sum * 100 + u64::from(pair)));
            } else {
                for pair in finite.pairs() {
                    mantissa = mantissa * 100 + i128::from(pair);
                }
            }
            mantissa = if raise < 0 { mantissa / 10 } else { mantissa * POWERS.get(raise as usize).copied().unwrap_or(1) };
            return Ok(Self(Repr::Small { mantissa: if finite.negative { -mantissa } else { mantissa }, scale }));
        }
        let pairs: Vec<u8> = finite.pairs().collect();
        let magnitude = BigUint::from_radix_be(&pairs, 100).ok_or_else(corrupt)?;
        let mantissa = BigInt::from_biguint(if finite.negative { Sign::Minus } else { Sign::Plus }, magnitude);
        let mantissa = if raise < 0 { mantissa / 10 } else { mantissa * big_power_of_ten(raise as u32) };
        Self::from_big(mantissa, u32::from(scale))
    }
}

/// Writes decimal digits to the end of the buffer and gives them; zero is `0`.
fn write_digits(mut magnitude: u128, buffer: &mut [u8; 40]) -> &[u8] {
    let mut at = buffer.len();
    while magnitude > u128::from(u64::MAX) {
        at -= 1;
        buffer[at] = b'0' + (magnitude % 10) as u8;
        magnitude /= 10;
    }
    let mut rest = magnitude as u64;
    loop {
        at -= 1;
        buffer[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    &buffer[at..]
}

/// Base-10000 digits without zeros at either end, and the weight of the first.
fn digits_base_10000(magnitude: BigUint, scale: u32) -> (i32, Vec<u16>) {
    if magnitude.is_zero() {
        return (0, Vec::new());
    }
    let groups_after = scale.div_ceil(4);
    let aligned = magnitude * BigUint::from(10u32).pow(groups_after * 4 - scale);
    let mut pairs = aligned.to_radix_be(100);
    if pairs.len() % 2 == 1 {
        pairs.insert(0, 0);
    }
    let mut digits: Vec<u16> = pairs.chunks_exact(2).map(|pair| u16::from(pair[0]) * 100 + u16::from(pair[1])).collect();
    let weight = digits.len() as i32 - 1 - groups_after as i32;
    while digits.last() == Some(&0) {
        digits.pop();
    }
    (weight, digits)
}

impl fmt::Display for Numeric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Vec::new();
        self.write_text(&mut out);
        f.pad(std::str::from_utf8(&out).unwrap_or(""))
    }
}

impl fmt::Debug for Numeric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Ord for Numeric {
    fn cmp(&self, other: &Self) -> Ordering {
        let class = |n: &Self| match &n.0 {
            Repr::NaN => 2,
            Repr::Infinity { negative: false } => 1,
            Repr::Infinity { negative: true } => -1,
            _ => 0,
        };
        match (&self.0, &other.0) {
            (Repr::Small { mantissa: a, scale: s }, Repr::Small { mantissa: b, scale: t }) if s == t => return a.cmp(b),
            (Repr::Small { mantissa: a, scale: s }, Repr::Small { mantissa: b, scale: t }) => {
                let raised = if s < t {
                    power_of_ten(u32::from(t - s)).and_then(|p| a.checked_mul(p)).map(|a| a.cmp(b))
                } else {
                    power_of_ten(u32::from(s - t)).and_then(|p| b.checked_mul(p)).map(|b| a.cmp(&b))
                };
                if let Some(order) = raised {
                    return order;
                }
            }
            _ => {}
        }
        match (self.big_mantissa(), other.big_mantissa()) {
            (Some(a), Some(b)) => {
                let (s, t) = (self.display_scale(), other.display_scale());
                if s < t { (a * big_power_of_ten(t - s)).cmp(&b) } else { a.cmp(&(b * big_power_of_ten(s - t))) }
            }
            _ => class(self).cmp(&class(other)),
        }
    }
}

impl PartialOrd for Numeric {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Numeric {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Numeric {}

impl Hash for Numeric {
    /// By value: the bytes without the scale.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let mut bytes = Vec::new();
        self.encode(&mut bytes);
        bytes.truncate(bytes.len().saturating_sub(2));
        bytes.hash(state);
    }
}

impl From<i64> for Numeric {
    fn from(value: i64) -> Self {
        Self::from_i64(value)
    }
}

impl From<i32> for Numeric {
    fn from(value: i32) -> Self {
        Self::from_i64(i64::from(value))
    }
}

impl FromStr for Numeric {
    type Err = PgError;
    fn from_str(text: &str) -> PgResult<Self> {
        Self::parse(text)
    }
}

#[cfg(test)]
mod tests;
