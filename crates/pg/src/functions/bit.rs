//! Functions of bit strings, whose values are texts of digits ([`crate::values::bit`]). Operators are in [`crate::operators::bit`].

use super::text::{negative_length, substring_range};
use crate::args::{Int4, Int8, Text, strict1, strict2, strict3, strict4};
use crate::error::{PgError, PgResult};
use crate::operators::bit::joined;
use crate::registry::Registry;
use crate::sqlstate::SqlState;
use crate::types::PgType;

fn substring(digits: &str, from: i32, count: Option<i32>) -> PgResult<&str> {
    let (first, count) = substring_range(from, count)?;
    let rest = digits.get(first..).unwrap_or("");
    Ok(count.and_then(|count| rest.get(..count)).unwrap_or(rest))
}

fn overlay(digits: &str, new: &str, from: i32, count: i32) -> PgResult<String> {
    if from <= 0 {
        return Err(negative_length());
    }
    let behind = from.checked_add(count).ok_or_else(|| PgError::out_of_range("integer"))?;
    joined(&[substring(digits, 1, Some(from - 1))?, new, substring(digits, behind, None)?])
}

/// Where a part begins, from 1; 0 where it does not stand.
fn position(digits: &str, part: &str) -> i32 {
    if digits.is_empty() {
        return 0;
    }
    digits.find(part).map_or(0, |at| at as i32 + 1)
}

/// The place of a digit.
fn at(digits: &str, n: i32) -> PgResult<usize> {
    usize::try_from(n).ok().filter(|n| *n < digits.len()).ok_or_else(|| {
        let message = format!("bit index {n} out of valid range (0..{})", digits.len() as i64 - 1);
        PgError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, message)
    })
}

fn with_bit(digits: &str, n: i32, bit: i32) -> PgResult<String> {
    let place = at(digits, n)?;
    let bit = match bit {
        0 => "0",
        1 => "1",
        _ => return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, "new bit must be 0 or 1")),
    };
    joined(&[digits.get(..place).unwrap_or(""), bit, digits.get(place + 1..).unwrap_or("")])
}

/// Registers the entries of this file.
pub fn register(r: &mut Registry) {
    use PgType::{Bit, Int4 as Int, Int8 as Big};
    for name in ["length", "bit_length"] {
        r.scalar(name, &[Bit], Int, strict1::<Text, Int4>(|_, v| Ok(v.len() as i32)), "number of bits");
    }
    r.scalar("octet_length", &[Bit], Int, strict1::<Text, Int4>(|_, v| Ok(v.len().div_ceil(8) as i32)), "number of bytes");
    let ones = strict1::<Text, Int8>(|_, v| Ok(v.bytes().filter(|digit| *digit == b'1').count() as i64));
    r.scalar("bit_count", &[Bit], Big, ones, "number of bits that are set");
    let bit = strict2::<Text, Int4, Int4>(|_, v, n| at(v, n).map(|place| i32::from(v.as_bytes().get(place) == Some(&b'1'))));
    r.scalar("get_bit", &[Bit, Int], Int, bit, "the bit at an index from 0");
    r.scalar(
        "set_bit",
        &[Bit, Int, Int],
        Bit,
        strict3::<Text, Int4, Int4, Text>(|_, v, n, bit| with_bit(v, n, bit)),
        "with another bit at an index",
    );
    let part = strict2::<Text, Int4, Text>(|_, v, from| substring(v, from, None).map(str::to_owned));
    r.scalar("substring", &[Bit, Int], Bit, part, "the part from a position");
    let part = strict3::<Text, Int4, Int4, Text>(|_, v, from, count| substring(v, from, Some(count)).map(str::to_owned));
    r.scalar("substring", &[Bit, Int, Int], Bit, part, "the part from a position, of a length");
    let replaced = strict3::<Text, Text, Int4, Text>(|_, v, new, from| overlay(v, new, from, new.len() as i32));
    r.scalar("overlay", &[Bit, Bit, Int], Bit, replaced, "replace a part by position");
    let replaced = strict4::<Text, Text, Int4, Int4, Text>(|_, v, new, from, count| overlay(v, new, from, count));
    r.scalar("overlay", &[Bit, Bit, Int, Int], Bit, replaced, "replace a part by position");
    r.scalar("position", &[Bit, Bit], Int, strict2::<Text, Text, Int4>(|_, v, part| Ok(position(v, part))), "where a part begins");
}
