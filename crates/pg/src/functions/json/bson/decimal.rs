//! IEEE 754-2008 decimal128 in its binary integer form, as BSON has it: 34 digits, exponents from -6176 to 6111.

/// The largest coefficient: 34 nines.
const MAX_COEFFICIENT: u128 = 9_999_999_999_999_999_999_999_999_999_999_999;
const MAX_DIGITS: usize = 34;
const BIAS: i32 = 6176;
const MIN_EXPONENT: i32 = -6176;
const MAX_EXPONENT: i32 = 6111;
/// Bits of the coefficient where the number is finite and canonical.
const COEFFICIENT_BITS: u32 = 113;
const SIGN: u128 = 1 << 127;
const INFINITY: u128 = 0b11110 << 122;
const NAN: u128 = 0b11111 << 122;

/// The text of a number, as MongoDB writes it: with an exponent where it has one above 0, or six zeros or more behind the point.
pub fn text(bytes: [u8; 16]) -> String {
    let bits = u128::from_le_bytes(bytes);
    let sign = if bits & SIGN == 0 { "" } else { "-" };
    if bits & NAN == NAN {
        return "NaN".to_owned();
    }
    if bits & NAN == INFINITY {
        return format!("{sign}Infinity");
    }
    // The other form of a finite number has a coefficient beyond the largest, which counts as zero.
    let other_form = bits >> 125 & 0b11 == 0b11;
    let (exponent, coefficient) =
        if other_form { (bits >> 111, 0) } else { (bits >> COEFFICIENT_BITS, bits & ((1 << COEFFICIENT_BITS) - 1)) };
    let exponent = (exponent & 0x3fff) as i32 - BIAS;
    let coefficient = if coefficient > MAX_COEFFICIENT { 0 } else { coefficient };
    let digits = coefficient.to_string();
    let scientific = exponent + digits.len() as i32 - 1;
    if exponent > 0 || scientific < -6 {
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        let plus = if scientific > 0 { "+" } else { "" };
        return format!("{sign}{first}{point}{rest}E{plus}{scientific}");
    }
    let fraction = exponent.unsigned_abs() as usize;
    if fraction == 0 {
        return format!("{sign}{digits}");
    }
    let digits = format!("{digits:0>width$}", width = fraction + 1);
    let (whole, rest) = digits.split_at(digits.len() - fraction);
    format!("{sign}{whole}.{rest}")
}

/// The bytes of a number in decimal digits, with a point and an exponent if need be, or of `NaN`, `Infinity`, `-Infinity`; `None` where it is
/// none, or has more digits or another exponent than fit: nothing is rounded.
pub fn bytes(text: &str) -> Option<[u8; 16]> {
    let (sign, rest) = match text.as_bytes().first()? {
        b'-' => (SIGN, text.get(1..)?),
        b'+' => (0, text.get(1..)?),
        _ => (0, text),
    };
    if rest.eq_ignore_ascii_case("nan") {
        return Some(NAN.to_le_bytes());
    }
    if rest.eq_ignore_ascii_case("infinity") || rest.eq_ignore_ascii_case("inf") {
        return Some((sign | INFINITY).to_le_bytes());
    }
    let (number, exponent) = match rest.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
        None => (rest, 0),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let mut digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let mut exponent = exponent.checked_sub(i32::try_from(fraction.len()).ok()?)?;
    digits.drain(..digits.len() - digits.trim_start_matches('0').len());
    if digits.is_empty() {
        exponent = exponent.clamp(MIN_EXPONENT, MAX_EXPONENT);
    }
    // Zeros at the end and the exponent stand for each other.
    while digits.ends_with('0') && (digits.len() > MAX_DIGITS || exponent < MIN_EXPONENT) {
        digits.pop();
        exponent = exponent.checked_add(1)?;
    }
    while exponent > MAX_EXPONENT && digits.len() < MAX_DIGITS {
        digits.push('0');
        exponent -= 1;
    }
    if digits.len() > MAX_DIGITS || !(MIN_EXPONENT..=MAX_EXPONENT).contains(&exponent) {
        return None;
    }
    let coefficient = if digits.is_empty() { 0 } else { digits.parse::<u128>().ok()? };
    let biased = u128::from((exponent + BIAS).unsigned_abs());
    Some((sign | biased << COEFFICIENT_BITS | coefficient).to_le_bytes())
}
