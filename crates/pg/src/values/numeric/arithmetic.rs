//! Arithmetic of `numeric`, with the scales that PostgreSQL gives results.

use super::{MAX_DIGITS, MAX_SCALE, Numeric, Repr, big_power_of_ten, digits_of, overflow, power_of_ten};
use crate::error::{PgError, PgResult};
use crate::sqlstate::SqlState;
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};

/// Significant digits that quotients and functions have at least.
pub(crate) const MIN_SIGNIFICANT: i64 = 16;
/// Most digits after the point that a function chooses by itself.
pub(crate) const MAX_DISPLAY_SCALE: i64 = 1000;
/// SQL's `round` and `trunc` go no further than this on either side of the point.
pub(crate) const MAX_ROUND_SCALE: i32 = 16_383;
/// Digits before the point that rounding can take away.
pub(crate) const MIN_ROUND_SCALE: i32 = -131_073;

/// n / d, halves away from zero.
#[inline]
pub(crate) fn divide_rounded(n: i128, d: i128) -> i128 {
    let (quotient, rest) = (n / d, (n % d).unsigned_abs());
    if rest >= d.unsigned_abs() - rest { if (n < 0) == (d < 0) { quotient + 1 } else { quotient - 1 } } else { quotient }
}

/// n / d, halves away from zero.
pub(crate) fn big_divide_rounded(n: &BigInt, d: &BigInt) -> BigInt {
    let (quotient, rest) = n.div_rem(d);
    if rest.magnitude() * 2u32 >= *d.magnitude() {
        if n.is_negative() == d.is_negative() { quotient + 1 } else { quotient - 1 }
    } else {
        quotient
    }
}

/// The base-10000 weight of the first digit and that digit, as PostgreSQL stores numbers.
fn weight_and_first_digit(n: &Numeric) -> (i64, u64) {
    if n.is_zero() {
        return (0, 0);
    }
    let exponent = n.decimal_exponent();
    let weight = exponent.div_euclid(4);
    let count = (exponent - 4 * weight + 1) as u32;
    let first = match n.to_parts() {
        Some((mantissa, _)) => {
            let (magnitude, digits) = (mantissa.unsigned_abs(), digits_of(mantissa.unsigned_abs()));
            if digits >= count {
                (magnitude / power_of_ten(digits - count).map_or(1, i128::unsigned_abs)) as u64
            } else {
                magnitude as u64 * 10u64.pow(count - digits)
            }
        }
        None => n.leading_digits(count),
    };
    (weight, first)
}

/// The scale of a quotient: 16 significant digits, and no fewer places than either side shows.
fn quotient_scale(a: &Numeric, b: &Numeric) -> u32 {
    let ((weight_a, first_a), (weight_b, first_b)) = (weight_and_first_digit(a), weight_and_first_digit(b));
    let mut weight = weight_a - weight_b;
    if first_a <= first_b {
        weight -= 1;
    }
    (MIN_SIGNIFICANT - weight * 4).max(i64::from(a.display_scale())).max(i64::from(b.display_scale())).clamp(0, MAX_DISPLAY_SCALE) as u32
}

/// Mantissas of two finite numbers at one scale, when they fit.
#[inline]
fn align(a: &Numeric, b: &Numeric) -> Option<(i128, i128, u16)> {
    let ((a, s), (b, t)) = (a.to_parts()?, b.to_parts()?);
    match s.cmp(&t) {
        std::cmp::Ordering::Equal => Some((a, b, s)),
        std::cmp::Ordering::Less => Some((a.checked_mul(power_of_ten(u32::from(t - s))?)?, b, t)),
        std::cmp::Ordering::Greater => Some((a, b.checked_mul(power_of_ten(u32::from(s - t))?)?, s)),
    }
}

/// As [`align`], of any size; `None` if one is not finite.
fn big_align(a: &Numeric, b: &Numeric) -> Option<(BigInt, BigInt, u32)> {
    let (s, t) = (a.display_scale(), b.display_scale());
    let (mut x, mut y) = (a.big_mantissa()?, b.big_mantissa()?);
    if s < t {
        x *= big_power_of_ten(t - s);
    } else if t < s {
        y *= big_power_of_ten(s - t);
    }
    Some((x, y, s.max(t)))
}

fn infinity(negative: bool) -> Numeric {
    Numeric(Repr::Infinity { negative })
}

impl Numeric {
    /// # Errors
    /// 22003 on overflow of the format.
    pub fn add(&self, other: &Self) -> PgResult<Self> {
        if let Some((a, b, scale)) = align(self, other)
            && let Some(sum) = a.checked_add(b).filter(|sum| *sum != i128::MIN)
        {
            return Ok(Self::from_i128(sum, scale));
        }
        if let Some((a, b, scale)) = big_align(self, other) {
            return Self::from_big(a + b, scale);
        }
        Ok(match (&self.0, &other.0) {
            (Repr::NaN, _) | (_, Repr::NaN) => Self::NAN,
            (Repr::Infinity { negative: a }, Repr::Infinity { negative: b }) if a != b => Self::NAN,
            (Repr::Infinity { negative }, _) | (_, Repr::Infinity { negative }) => infinity(*negative),
            _ => Self::NAN,
        })
    }

    /// # Errors
    /// 22003 on overflow of the format.
    pub fn sub(&self, other: &Self) -> PgResult<Self> {
        self.add(&other.neg())
    }

    /// # Errors
    /// 22003 on overflow of the format.
    pub fn mul(&self, other: &Self) -> PgResult<Self> {
        if let (Some((a, s)), Some((b, t))) = (self.to_parts(), other.to_parts())
            && u32::from(s) + u32::from(t) <= MAX_SCALE
            && let Some(product) = a.checked_mul(b).filter(|product| *product != i128::MIN)
        {
            return Ok(Self::from_i128(product, s + t));
        }
        if let (Some(a), Some(b)) = (self.big_mantissa(), other.big_mantissa()) {
            let scale = self.display_scale() + other.display_scale();
            let product = a * b;
            return if scale > MAX_SCALE {
                Self::from_big(big_divide_rounded(&product, &big_power_of_ten(scale - MAX_SCALE)), MAX_SCALE)
            } else {
                Self::from_big(product, scale)
            };
        }
        if self.is_nan() || other.is_nan() || self.is_zero() || other.is_zero() {
            return Ok(Self::NAN);
        }
        Ok(infinity(self.signum() != other.signum()))
    }

    /// The quotient, at PostgreSQL's scale.
    ///
    /// # Errors
    /// 22012 by zero, 22003 on overflow of the format.
    pub fn div(&self, other: &Self) -> PgResult<Self> {
        if let Some(special) = self.special_quotient(other)? {
            return Ok(special);
        }
        self.div_to_scale(other, quotient_scale(self, other))
    }

    /// The quotient of finite numbers rounded to `scale` digits after the point.
    ///
    /// # Errors
    /// 22012 by zero, 22003 on overflow of the format.
    pub fn div_to_scale(&self, other: &Self, scale: u32) -> PgResult<Self> {
        if other.is_zero() {
            return Err(PgError::division_by_zero());
        }
        let raise = i64::from(scale) + i64::from(other.display_scale()) - i64::from(self.display_scale());
        if let (Some((a, _)), Some((b, _)), Ok(raise)) = (self.to_parts(), other.to_parts(), u32::try_from(raise))
            && let Some(n) = power_of_ten(raise).and_then(|power| a.checked_mul(power))
        {
            return Ok(Self::from_i128(divide_rounded(n, b), scale as u16));
        }
        let (Some(mut a), Some(mut b)) = (self.big_mantissa(), other.big_mantissa()) else { return Ok(Self::NAN) };
        let power = big_power_of_ten(raise.unsigned_abs() as u32);
        if raise >= 0 {
            a *= power;
        } else {
            b *= power;
        }
        Self::from_big(big_divide_rounded(&a, &b), scale)
    }

    /// The quotient when one side is NaN or infinite.
    fn special_quotient(&self, other: &Self) -> PgResult<Option<Self>> {
        Ok(match (&self.0, &other.0) {
            (Repr::NaN, _) | (_, Repr::NaN) | (Repr::Infinity { .. }, Repr::Infinity { .. }) => Some(Self::NAN),
            (Repr::Infinity { negative }, _) => match other.signum() {
                0 => return Err(PgError::division_by_zero()),
                sign => Some(infinity(*negative != (sign < 0))),
            },
            (_, Repr::Infinity { .. }) => Some(Self::ZERO),
            _ => None,
        })
    }

    /// `div(a, b)`: the quotient cut to an integer.
    ///
    /// # Errors
    /// 22012 by zero.
    pub fn div_trunc(&self, other: &Self) -> PgResult<Self> {
        if let Some(special) = self.special_quotient(other)? {
            return Ok(special);
        }
        if other.is_zero() {
            return Err(PgError::division_by_zero());
        }
        if let Some((a, b, _)) = align(self, other) {
            return Ok(Self::from_i128(a / b, 0));
        }
        let Some((a, b, _)) = big_align(self, other) else { return Ok(Self::NAN) };
        Self::from_big(a / b, 0)
    }

    /// What `div_trunc` leaves, with the sign of the dividend.
    ///
    /// # Errors
    /// 22012 by zero.
    pub fn rem(&self, other: &Self) -> PgResult<Self> {
        match (&self.0, &other.0) {
            (Repr::NaN, _) | (_, Repr::NaN) => return Ok(Self::NAN),
            (_, _) if other.is_zero() => return Err(PgError::division_by_zero()),
            (Repr::Infinity { .. }, _) => return Ok(Self::NAN),
            (_, Repr::Infinity { .. }) => return Ok(self.clone()),
            _ => {}
        }
        if let Some((a, b, scale)) = align(self, other) {
            return Ok(Self::from_i128(a % b, scale));
        }
        let Some((a, b, scale)) = big_align(self, other) else { return Ok(Self::NAN) };
        Self::from_big(a % b, scale)
    }

    #[must_use]
    pub fn neg(&self) -> Self {
        Self(match &self.0 {
            Repr::NaN => Repr::NaN,
            Repr::Infinity { negative } => Repr::Infinity { negative: !negative },
            Repr::Small { mantissa, scale } => Repr::Small { mantissa: -mantissa, scale: *scale },
            Repr::Big { mantissa, scale } => Repr::Big { mantissa: Box::new(-(**mantissa).clone()), scale: *scale },
        })
    }

    #[must_use]
    pub fn abs(&self) -> Self {
        if self.signum() < 0 { self.neg() } else { self.clone() }
    }

    /// −1, 0, 1 or NaN.
    #[must_use]
    pub fn sign(&self) -> Self {
        if self.is_nan() { Self::NAN } else { Self::from_i64(i64::from(self.signum())) }
    }

    /// Rounded to `places` digits after the point, halves away from zero; negative places round before the point.
    #[must_use]
    pub fn round(&self, places: i32) -> Self {
        self.cut(places, divide_rounded, big_divide_rounded)
    }

    /// Cut to `places` digits after the point.
    #[must_use]
    pub fn trunc(&self, places: i32) -> Self {
        self.cut(places, |n, d| n / d, |n, d| n / d)
    }

    fn cut(&self, places: i32, small: impl Fn(i128, i128) -> i128, big: impl Fn(&BigInt, &BigInt) -> BigInt) -> Self {
        if !self.is_finite() {
            return self.clone();
        }
        // One place more than the format has digits leaves nothing of any number.
        let places = places.clamp(-(MAX_DIGITS as i32) - 1, MAX_SCALE as i32);
        let scale = places.max(0) as u32;
        let drop = self.display_scale() as i32 - places;
        let raise = (-places).max(0) as u32;
        if let Some((mantissa, _)) = self.to_parts() {
            let cut = if drop <= 0 {
                power_of_ten(drop.unsigned_abs()).and_then(|p| mantissa.checked_mul(p))
            } else {
                match power_of_ten(drop as u32) {
                    Some(power) => power_of_ten(raise).and_then(|p| small(mantissa, power).checked_mul(p)),
                    // The divisor has more digits than any mantissa here: at most half of it.
                    None => Some(0),
                }
            };
            if let Some(mantissa) = cut {
                return Self::from_i128(mantissa, scale as u16);
            }
        }
        let Some(mantissa) = self.big_mantissa() else { return Self::NAN };
        let power = big_power_of_ten(drop.unsigned_abs());
        let cut = if drop <= 0 { mantissa * power } else { big(&mantissa, &power) * big_power_of_ten(raise) };
        // A carry into one digit more than the format has is kept: what is done next with the number says so.
        match cut.to_i128() {
            Some(mantissa) if mantissa != i128::MIN => Self::from_i128(mantissa, scale as u16),
            _ => Self(Repr::Big { mantissa: Box::new(cut), scale: scale as u16 }),
        }
    }

    /// The least integer that is not below.
    #[must_use]
    pub fn ceil(&self) -> Self {
        let cut = self.trunc(0);
        if cut < *self { cut.add(&Self::ONE).unwrap_or(cut) } else { cut }
    }

    /// The greatest integer that is not above.
    #[must_use]
    pub fn floor(&self) -> Self {
        let cut = self.trunc(0);
        if cut > *self { cut.sub(&Self::ONE).unwrap_or(cut) } else { cut }
    }

    /// The greatest common divisor, at the larger scale.
    ///
    /// # Errors
    /// 22003 on overflow of the format.
    pub fn gcd(&self, other: &Self) -> PgResult<Self> {
        match big_align(self, other) {
            Some((a, b, scale)) => Self::from_big(a.gcd(&b), scale),
            None => Ok(Self::NAN),
        }
    }

    /// The least common multiple, at the larger scale.
    ///
    /// # Errors
    /// 22003 on overflow of the format.
    pub fn lcm(&self, other: &Self) -> PgResult<Self> {
        match big_align(self, other) {
            Some((a, b, scale)) if a.is_zero() || b.is_zero() => Self::from_big(BigInt::zero(), scale),
            Some((a, b, scale)) => {
                let divisor = a.gcd(&b);
                Self::from_big((a / divisor * b).abs(), scale)
            }
            None => Ok(Self::NAN),
        }
    }

    /// n!
    ///
    /// # Errors
    /// 22003 below zero and beyond the format.
    pub fn factorial(n: i64) -> PgResult<Self> {
        if n < 0 {
            return Err(PgError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "factorial of a negative number is undefined"));
        }
        if n > 32_177 {
            return Err(overflow());
        }
        // The halves of a product are of like size: products of large numbers are few.
        fn product(from: u64, to: u64) -> BigInt {
            if to - from < 8 {
                (from..=to).fold(BigInt::one(), |product, n| product * n)
            } else {
                let middle = from + (to - from) / 2;
                product(from, middle) * product(middle + 1, to)
            }
        }
        Self::from_big(if n < 2 { BigInt::one() } else { product(2, n as u64) }, 0)
    }

    /// `scale(n)`: digits after the point as shown; `None` for NaN and the infinities.
    #[must_use]
    pub fn scale(&self) -> Option<i32> {
        self.is_finite().then(|| self.display_scale() as i32)
    }

    /// The digits after the point that are needed.
    #[must_use]
    pub fn min_scale(&self) -> Option<i32> {
        if !self.is_finite() {
            return None;
        }
        let mut scale = self.display_scale() as i32;
        if let Some((mut mantissa, _)) = self.to_parts() {
            if mantissa == 0 {
                return Some(0);
            }
            while scale > 0 && mantissa % 10 == 0 {
                mantissa /= 10;
                scale -= 1;
            }
            return Some(scale);
        }
        let digits = self.big_mantissa()?.magnitude().to_string();
        let zeros = digits.bytes().rev().take_while(|digit| *digit == b'0').count() as i32;
        Some((scale - zeros).max(0))
    }

    /// Without trailing zeros after the point.
    #[must_use]
    pub fn trim_scale(&self) -> Self {
        self.min_scale().map_or_else(|| self.clone(), |scale| self.trunc(scale))
    }

    /// The bucket of `count` equal ones between the bounds; 0 before the first, `count + 1` behind the last.
    ///
    /// # Errors
    /// 2201G for bounds or counts that make no buckets.
    pub fn width_bucket(&self, low: &Self, high: &Self, count: i32) -> PgResult<i32> {
        let invalid = |message: &str| PgError::new(SqlState::INVALID_ARGUMENT_FOR_WIDTH_BUCKET, message);
        if count <= 0 {
            return Err(invalid("count must be greater than zero"));
        }
        if self.is_nan() || low.is_nan() || high.is_nan() {
            return Err(invalid("operand, lower bound, and upper bound cannot be NaN"));
        }
        if low.is_infinite() || high.is_infinite() {
            return Err(invalid("lower and upper bounds must be finite"));
        }
        let beyond = || count.checked_add(1).ok_or_else(|| PgError::out_of_range("integer"));
        // Mirror descending bounds.
        let (value, from, to) = match low.cmp(high) {
            std::cmp::Ordering::Equal => return Err(invalid("lower bound cannot equal upper bound")),
            std::cmp::Ordering::Less => (self.clone(), low.clone(), high.clone()),
            std::cmp::Ordering::Greater => (self.neg(), low.neg(), high.neg()),
        };
        if value < from {
            return Ok(0);
        }
        if value >= to {
            return beyond();
        }
        let bucket = value.sub(&from)?.mul(&Self::from_i64(i64::from(count)))?.div_trunc(&to.sub(&from)?)?.to_i32()?;
        Ok(bucket.saturating_add(1))
    }
}
