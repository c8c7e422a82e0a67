//! Sizes in bytes as people write them: `pg_size_pretty`, `pg_size_bytes`.

use super::text::{push, text1};
use crate::args::{Int8, Text, strict1};
use crate::error::{PgError, PgResult};
use crate::registry::Registry;
use crate::sqlstate::SqlState;
use crate::types::PgType;
use crate::values::numeric::{Numeric, NumericKind};

/// Registers the entries of this file.
pub fn register(r: &mut Registry) {
    use PgType::{Int8 as Big, Numeric as N, Text as T};
    let doc = "a size in bytes with a unit";
    r.scalar("pg_size_pretty", &[Big], T, text1::<Int8>(|_, n, out| push(out, &pretty(&Numeric::from_i64(n))?)), doc);
    r.scalar("pg_size_pretty", &[N], T, text1::<NumericKind>(|_, n, out| push(out, &pretty(&n)?)), doc);
    r.scalar("pg_size_bytes", &[T], Big, strict1::<Text, Int8>(|_, s| bytes(s)), "the bytes of a size with a unit");
}

/// A unit: its name, the absolute value below which it is used, whether it is rounded from halves, and its power of two.
struct Unit {
    name: &'static str,
    below: i64,
    halves: bool,
    bits: u32,
}

const fn unit(name: &'static str, bits: u32) -> Unit {
    Unit { name, below: 20 * 1024 - 1, halves: true, bits }
}

const UNITS: [Unit; 6] = [
    Unit { name: "bytes", below: 10 * 1024, halves: false, bits: 0 },
    unit("kB", 10),
    unit("MB", 20),
    unit("GB", 30),
    unit("TB", 40),
    unit("PB", 50),
];

/// Each unit is reached by dividing down to its half, which then rounds.
fn pretty(size: &Numeric) -> PgResult<String> {
    let mut size = size.clone();
    let mut units = UNITS.iter().peekable();
    while let Some(unit) = units.next() {
        let next = match units.peek() {
            Some(next) if size.abs() >= Numeric::from_i64(unit.below) => next,
            _ => {
                if unit.halves {
                    let away = Numeric::from_i64(if size.signum() < 0 { -1 } else { 1 });
                    size = size.add(&away)?.div_trunc(&Numeric::from_i64(2))?;
                }
                return Ok(format!("{size} {}", unit.name));
            }
        };
        let bits = next.bits - unit.bits + u32::from(unit.halves) - u32::from(next.halves);
        size = size.div_trunc(&Numeric::from_i64(1 << bits))?;
    }
    Err(PgError::internal("a size has no unit"))
}

fn bytes(text: &str) -> PgResult<i64> {
    let invalid = || PgError::new(SqlState::INVALID_PARAMETER_VALUE, format!("invalid size: \"{text}\""));
    let blank = |c: char| c.is_ascii_whitespace() || c == '\u{b}';
    let trimmed = text.trim_start_matches(blank);
    let digits = |from: usize| trimmed.bytes().skip(from).take_while(u8::is_ascii_digit).count();
    let sign = usize::from(trimmed.starts_with(['+', '-']));
    let mut end = sign + digits(sign);
    let mut found = end - sign;
    if trimmed.as_bytes().get(end) == Some(&b'.') {
        let fraction = digits(end + 1);
        found += fraction;
        end += 1 + fraction;
    }
    if found == 0 {
        return Err(invalid());
    }
    // An exponent, if digits follow; otherwise the letter is a unit.
    if matches!(trimmed.as_bytes().get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(trimmed.as_bytes().get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    let (number, name) = trimmed.split_at_checked(end).ok_or_else(invalid)?;
    let number = Numeric::parse(number)?;
    let name = name.trim_matches(blank);
    let bits = match name {
        "" => 0,
        name => UNITS.iter().find(|unit| unit.name.eq_ignore_ascii_case(name)).map(|unit| unit.bits).ok_or_else(|| {
            invalid()
                .detail(format!("Invalid size unit: \"{name}\"."))
                .hint("Valid units are \"bytes\", \"kB\", \"MB\", \"GB\", \"TB\", and \"PB\".")
        })?,
    };
    number.mul(&Numeric::from_i64(1 << bits))?.to_i64()
}
