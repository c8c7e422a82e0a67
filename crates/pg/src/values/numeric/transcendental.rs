//! Roots, powers and logarithms of `numeric`, with the scales that PostgreSQL gives results.
//!
//! Computed in binary fixed point with guard digits beyond the scale of the result, then rounded once. Scales are chosen from
//! estimates of the result's size, which are PostgreSQL's, down to their rounding: they decide how many digits are shown.

use super::arithmetic::{MAX_DISPLAY_SCALE, MIN_SIGNIFICANT, big_divide_rounded};
use super::{MAX_DIGITS, Numeric, big_power_of_ten, overflow};
use crate::error::{PgError, PgResult};
use crate::sqlstate::SqlState;
use num_bigint::BigInt;
use num_traits::{One, Signed, ToPrimitive, Zero};
use std::f64::consts::{LN_10, LOG10_E};

/// Results with a larger natural logarithm overflow, with a smaller one are zero.
const MAX_LN: f64 = 6000.0;
/// Decimal digits computed beyond those that are kept.
const GUARD: u32 = 12;

/// A number of bits that holds `digits` decimal digits.
fn bits_for(digits: u32) -> u32 {
    (f64::from(digits) * std::f64::consts::LOG2_10) as u32 + 2
}

/// mantissa × 10^−scale in fixed point with `bits` bits after the point.
fn to_fixed(mantissa: &BigInt, scale: u32, bits: u32) -> BigInt {
    (mantissa << bits) / big_power_of_ten(scale)
}

/// Fixed point to a number with `scale` digits after the point.
fn from_fixed(value: &BigInt, bits: u32, scale: u32) -> PgResult<Numeric> {
    Numeric::from_big(big_divide_rounded(&(value * big_power_of_ten(scale)), &(BigInt::one() << bits)), scale)
}

/// 2 · artanh(z), |z| < 1.
fn double_artanh(z: &BigInt, bits: u32) -> BigInt {
    let square = (z * z) >> bits;
    let mut power = z.clone();
    let mut sum = z.clone();
    let mut n = 1u32;
    while !power.is_zero() && power.bits() > 1 {
        power = (&power * &square) >> bits;
        n += 2;
        sum += &power / n;
    }
    sum << 1
}

fn ln_2(bits: u32) -> BigInt {
    // ln 2 = 2 · artanh(1/3)
    double_artanh(&((BigInt::one() << bits) / 3), bits)
}

/// The natural logarithm of a positive number, in fixed point.
fn ln_fixed(n: &Numeric, bits: u32) -> BigInt {
    let Some(mantissa) = n.big_mantissa() else { return BigInt::zero() };
    let denominator = big_power_of_ten(n.display_scale());
    // n = y · 2^shift with y between 1/2 and 2.
    let shift = mantissa.bits() as i64 - denominator.bits() as i64;
    let up = i64::from(bits) - shift;
    let mut y = if up >= 0 { (mantissa << up as u64) / denominator } else { mantissa / (denominator << up.unsigned_abs()) };
    // Roots bring y near 1, where the series is short.
    let roots = 3 + bits / 200;
    for _ in 0..roots {
        y = (y << bits).sqrt();
    }
    let one = BigInt::one() << bits;
    let z = ((&y - &one) << bits) / (&y + &one);
    (double_artanh(&z, bits) << roots) + ln_2(bits) * shift
}

/// The natural logarithm rounded to `scale` digits after the point.
fn ln_to_scale(n: &Numeric, scale: u32) -> PgResult<Numeric> {
    // Each root loses a bit.
    let bits = bits_for(scale + GUARD);
    let bits = bits + 32 + bits / 100;
    from_fixed(&ln_fixed(n, bits), bits, scale)
}

/// e^x of fixed point, result in fixed point.
fn exp_fixed(x: &BigInt, bits: u32) -> BigInt {
    let ln2 = ln_2(bits);
    let shift = (x / &ln2).to_i64().unwrap_or(0);
    let halvings = 4 + (f64::from(bits).sqrt() as u32) / 4;
    let work = bits + 2 * halvings + 8;
    let rest: BigInt = ((x - ln2 * shift) << (work - bits)) >> halvings;
    let one = BigInt::one() << work;
    let mut term = one.clone();
    let mut sum = one;
    let mut n = 0u32;
    loop {
        n += 1;
        term = ((&term * &rest) >> work) / n;
        // A shift right of a negative number ends at −1, not at 0.
        if term.bits() <= 1 {
            break;
        }
        sum += &term;
    }
    for _ in 0..halvings {
        sum = (&sum * &sum) >> work;
    }
    let shift = shift - i64::from(work - bits);
    if shift >= 0 { sum << shift as u64 } else { sum >> shift.unsigned_abs() }
}

/// e^x rounded to `scale` digits after the point; zero when it is too small for any scale.
fn exp_to_scale(x: &Numeric, scale: u32) -> PgResult<Numeric> {
    let estimate = x.to_f64_saturating();
    if estimate.abs() >= MAX_LN {
        return if estimate > 0.0 { Err(overflow()) } else { Numeric::from_big(BigInt::zero(), scale) };
    }
    let weight = (estimate / LN_10).max(0.0) as u32 + 1;
    let bits = bits_for(scale + 2 * weight + GUARD) + 32;
    let Some(mantissa) = x.big_mantissa() else { return Ok(Numeric::NAN) };
    from_fixed(&exp_fixed(&to_fixed(&mantissa, x.display_scale(), bits), bits), bits, scale)
}

/// The exponent of the first digit of ln(n), estimated.
fn ln_weight(n: &Numeric) -> i64 {
    let near_one = *n >= Numeric::from_i128(9, 1) && *n <= Numeric::from_i128(11, 1);
    if near_one {
        // ln(1 + x) is about x.
        let Ok(x) = n.sub(&Numeric::ONE) else { return 0 };
        return if x.is_zero() { 0 } else { x.decimal_exponent() };
    }
    if n.is_zero() {
        return 0;
    }
    // The first two base-10000 digits, with their exponent.
    let exponent = n.decimal_exponent();
    let weight = exponent.div_euclid(4);
    let first = (exponent - 4 * weight + 1) as u32;
    let has_second = n.trim_scale().mantissa_digits_without_zeros() > u64::from(first);
    let (digits, places) = if has_second { (n.leading_digits(first + 4), weight * 4 - 4) } else { (n.leading_digits(first), weight * 4) };
    let ln = (digits as f64).ln() + places as f64 * LN_10;
    ln.abs().log10() as i64
}

/// The scale of a function's result with `weight` digits before the point, beside arguments that show so many places.
fn result_scale(weight: i64, shown: &[&Numeric]) -> u32 {
    let shown = shown.iter().map(|n| i64::from(n.display_scale())).max().unwrap_or(0);
    (MIN_SIGNIFICANT - weight).max(shown).clamp(0, MAX_DISPLAY_SCALE) as u32
}

fn logarithm_domain(n: &Numeric) -> PgResult<()> {
    let message = match n.signum() {
        0 => "cannot take logarithm of zero",
        -1 => "cannot take logarithm of a negative number",
        _ => return Ok(()),
    };
    Err(PgError::new(SqlState::INVALID_ARGUMENT_FOR_LOG, message))
}

impl Numeric {
    /// Digits of the mantissa without trailing zeros.
    fn mantissa_digits_without_zeros(&self) -> u64 {
        let Some(mantissa) = self.big_mantissa() else { return 0 };
        let text = mantissa.magnitude().to_string();
        text.trim_end_matches('0').len() as u64
    }

    /// # Errors
    /// 2201F below zero.
    pub fn sqrt(&self) -> PgResult<Self> {
        if self.is_nan() {
            return Ok(Self::NAN);
        }
        if self.signum() < 0 {
            return Err(PgError::new(SqlState::INVALID_ARGUMENT_FOR_POWER, "cannot take square root of a negative number"));
        }
        if !self.is_finite() {
            return Ok(Self::INFINITY);
        }
        let weight = (self.decimal_exponent().div_euclid(4) + 1) * 4 / 2 - 1;
        self.sqrt_at(result_scale(weight, &[self]))
    }

    /// The square root of a number that is finite and not negative, rounded once to a scale.
    pub fn sqrt_at(&self, scale: u32) -> PgResult<Self> {
        let Some(mantissa) = self.big_mantissa() else { return Ok(Self::INFINITY) };
        // One digit more, cut: rounding by it is right, since a root that ends in 5 is exact.
        let raise = 2 * (i64::from(scale) + 1) - i64::from(self.display_scale());
        let power = big_power_of_ten(raise.unsigned_abs() as u32);
        let root = if raise >= 0 { mantissa * power } else { mantissa / power }.sqrt();
        Self::from_big(big_divide_rounded(&root, &BigInt::from(10)), scale)
    }

    /// e to this power.
    ///
    /// # Errors
    /// 22003 beyond the format.
    pub fn exp(&self) -> PgResult<Self> {
        if self.is_nan() {
            return Ok(Self::NAN);
        }
        if self.is_infinite() {
            return Ok(if self.signum() < 0 { Self::ZERO } else { Self::INFINITY });
        }
        let weight = (self.to_f64_saturating() * LOG10_E).clamp(-2000.0, 2000.0) as i64;
        exp_to_scale(self, result_scale(weight, &[self]))
    }

    /// The natural logarithm.
    ///
    /// # Errors
    /// 2201E for zero and below.
    pub fn ln(&self) -> PgResult<Self> {
        if self.is_nan() {
            return Ok(Self::NAN);
        }
        logarithm_domain(self)?;
        if self.is_infinite() {
            return Ok(Self::INFINITY);
        }
        ln_to_scale(self, result_scale(ln_weight(self), &[self]))
    }

    /// The logarithm to a base.
    ///
    /// # Errors
    /// 2201E for zero and below, 22012 for base 1.
    pub fn log(base: &Self, n: &Self) -> PgResult<Self> {
        if base.is_nan() || n.is_nan() {
            return Ok(Self::NAN);
        }
        logarithm_domain(base)?;
        logarithm_domain(n)?;
        match (base.is_infinite(), n.is_infinite()) {
            (true, true) => return Ok(Self::NAN),
            (true, false) => return Ok(Self::ZERO),
            (false, true) => return Ok(Self::INFINITY),
            (false, false) => {}
        }
        let (base_weight, n_weight) = (ln_weight(base), ln_weight(n));
        let scale = result_scale(n_weight - base_weight, &[base, n]);
        let digits = i64::from(scale) + (n_weight - base_weight).abs() + n_weight.abs() + base_weight.abs();
        let bits = bits_for(digits as u32 + GUARD);
        let bits = bits + 32 + bits / 100;
        let divisor = if *base == Self::ONE { BigInt::zero() } else { ln_fixed(base, bits) };
        if divisor.is_zero() {
            return Err(PgError::division_by_zero());
        }
        let dividend = if *n == Self::ONE { BigInt::zero() } else { ln_fixed(n, bits) };
        Self::from_big(big_divide_rounded(&(dividend * big_power_of_ten(scale)), &divisor), scale)
    }

    /// The logarithm to base 10.
    ///
    /// # Errors
    /// 2201E for zero and below.
    pub fn log10(&self) -> PgResult<Self> {
        Self::log(&Self::from_i64(10), self)
    }

    /// This number to a power.
    ///
    /// # Errors
    /// 2201F where the power is not a real number, 22003 beyond the format.
    pub fn pow(&self, exponent: &Self) -> PgResult<Self> {
        let invalid = |message: &str| PgError::new(SqlState::INVALID_ARGUMENT_FOR_POWER, message);
        let zero_to_negative = || invalid("zero raised to a negative power is undefined");
        let complex = || invalid("a negative number raised to a non-integer power yields a complex result");
        let integral = exponent.is_finite() && exponent.min_scale() == Some(0);
        if !self.is_finite() || !exponent.is_finite() {
            return self.special_power(exponent, integral, zero_to_negative, complex);
        }
        if self.is_zero() && exponent.signum() < 0 {
            return Err(zero_to_negative());
        }
        if self.signum() < 0 && !integral {
            return Err(complex());
        }
        if integral && let Some(power) = exponent.trunc(0).to_parts().and_then(|(power, _)| i32::try_from(power).ok()) {
            return self.integer_power(power);
        }
        if self.is_zero() {
            return Ok(Self::from_i128(0, MIN_SIGNIFICANT as u16));
        }
        let negative = self.signum() < 0 && exponent.is_odd();
        let base = self.abs();
        let weight = ln_weight(&base);
        let rough = ln_to_scale(&base, (8 - weight).clamp(0, MAX_DISPLAY_SCALE) as u32)?.mul(exponent)?.to_f64_saturating();
        if rough.abs() > 2000.0 * 3.01 {
            return if rough > 0.0 { Err(overflow()) } else { Ok(Self::from_i128(0, MAX_DISPLAY_SCALE as u16)) };
        }
        let result_weight = (rough * LOG10_E) as i64;
        let scale = result_scale(result_weight, &[&base, exponent]);
        // As many digits as keep e^x right to `scale` places, with the exponent's own size on top.
        let digits = i64::from(scale) + result_weight.max(0) + exponent.decimal_exponent().max(0) + 8;
        let ln = ln_to_scale(&base, digits.max(0) as u32)?;
        let power = exp_to_scale(&ln.mul(exponent)?.round(digits as i32), scale)?;
        Ok(if negative { power.neg() } else { power })
    }

    fn is_odd(&self) -> bool {
        self.trunc(0).big_mantissa().is_some_and(|mantissa| mantissa.bit(0))
    }

    /// Powers where one side is NaN or infinite.
    fn special_power(
        &self,
        exponent: &Self,
        integral: bool,
        zero_to_negative: impl Fn() -> PgError,
        complex: impl Fn() -> PgError,
    ) -> PgResult<Self> {
        if self.is_nan() {
            return Ok(if exponent.is_zero() { Self::ONE } else { Self::NAN });
        }
        if exponent.is_nan() {
            return Ok(if *self == Self::ONE { Self::ONE } else { Self::NAN });
        }
        if self.is_zero() && exponent.signum() < 0 {
            return Err(zero_to_negative());
        }
        if *self == Self::ONE || exponent.is_zero() {
            return Ok(Self::ONE);
        }
        // An infinite exponent counts as an integer.
        if self.signum() < 0 && !integral && !exponent.is_infinite() {
            return Err(complex());
        }
        if self.is_zero() && exponent.signum() > 0 {
            return Ok(Self::ZERO);
        }
        if exponent.is_infinite() {
            let size = self.abs();
            return Ok(match size.cmp(&Self::ONE) {
                std::cmp::Ordering::Equal => Self::ONE,
                order if (order == std::cmp::Ordering::Greater) == (exponent.signum() > 0) => Self::INFINITY,
                _ => Self::ZERO,
            });
        }
        // An infinite base.
        if exponent.signum() < 0 {
            return Ok(Self::ZERO);
        }
        if self.signum() > 0 {
            return Ok(Self::INFINITY);
        }
        if !integral {
            return Err(complex());
        }
        Ok(if exponent.is_odd() { Self::NEG_INFINITY } else { Self::INFINITY })
    }

    /// An integer power, at the scale of the base but at least 16.
    fn integer_power(&self, exponent: i32) -> PgResult<Self> {
        let scale = i64::from(self.display_scale()).clamp(MIN_SIGNIFICANT, MAX_DISPLAY_SCALE) as u32;
        let places = scale as i32;
        match exponent {
            0 => return Ok(Self::ONE.round(places)),
            1 => return Ok(self.round(places)),
            -1 => return Self::ONE.div_to_scale(self, scale),
            2 => return Ok(self.mul(self)?.round(places)),
            _ if self.is_zero() => return Ok(Self::from_i128(0, scale as u16)),
            _ => {}
        }
        // log10 of the result, from the first 16 digits.
        let exponent_of_digits = self.decimal_exponent() - 15;
        let log = f64::from(exponent) * ((self.leading_digits(16) as f64).log10() + exponent_of_digits as f64);
        if log > MAX_DIGITS as f64 {
            return Err(overflow());
        }
        if log + 1.0 < -f64::from(scale) {
            return Ok(Self::from_i128(0, scale as u16));
        }
        // Products cut to the digits that the result needs, as a mantissa and a scale.
        let needed = (log.max(-f64::from(scale)) as i64 + i64::from(scale) + 32).max(40) as u64 + 20;
        let cut = |mantissa: BigInt, places: i64| -> (BigInt, i64) {
            let digits = (mantissa.bits() as f64 * std::f64::consts::LOG10_2) as u64;
            if digits > needed + 20 {
                let drop = (digits - needed) as u32;
                (mantissa / big_power_of_ten(drop), places - i64::from(drop))
            } else {
                (mantissa, places)
            }
        };
        let Some(base) = self.big_mantissa() else { return Ok(Self::NAN) };
        let mut square = (base, i64::from(self.display_scale()));
        let mut result = (BigInt::one(), 0i64);
        let mut rest = exponent.unsigned_abs();
        loop {
            if rest & 1 == 1 {
                result = cut(result.0 * &square.0, result.1 + square.1);
            }
            rest >>= 1;
            if rest == 0 {
                break;
            }
            square = cut(&square.0 * &square.0, square.1 * 2);
        }
        let (mut numerator, mut denominator, raise) = if exponent < 0 {
            let negative = result.0.is_negative();
            (if negative { -BigInt::one() } else { BigInt::one() }, result.0.abs(), i64::from(scale) + result.1)
        } else {
            (result.0, BigInt::one(), i64::from(scale) - result.1)
        };
        let power = big_power_of_ten(u32::try_from(raise.unsigned_abs()).map_err(|_| overflow())?);
        if raise >= 0 {
            numerator *= power;
        } else {
            denominator *= power;
        }
        Self::from_big(big_divide_rounded(&numerator, &denominator), scale)
    }
}
