//! Operators of bit strings, whose values are texts of digits ([`crate::values::bit`]). Functions are in [`crate::functions::bit`].

use super::number::COMPARISONS;
use crate::args::{Int4, Text, strict1, strict2};
use crate::error::{PgError, PgResult};
use crate::registry::{OperKind, Registry};
use crate::sqlstate::SqlState;
use crate::types::PgType;
use crate::values::bit::claim;

/// What two strings of one length become, digit by digit.
///
/// # Errors
/// 22026 for different lengths.
pub(crate) fn together(a: &str, b: &str, name: &str, of: fn(u8, u8) -> u8) -> PgResult<String> {
    if a.len() != b.len() {
        let message = format!("cannot {name} bit strings of different sizes");
        return Err(PgError::new(SqlState::STRING_DATA_LENGTH_MISMATCH, message));
    }
    claim(a.len())?;
    Ok(a.bytes().zip(b.bytes()).map(|(a, b)| char::from(b'0' | of(a, b) & 1)).collect())
}

fn inverted(digits: &str) -> PgResult<String> {
    claim(digits.len())?;
    Ok(digits.bytes().map(|digit| char::from(digit ^ 1)).collect())
}

/// Digits moved to the left, or to the right by a negative number; zeros take their places.
fn shifted(digits: &str, by: i64) -> PgResult<String> {
    claim(digits.len())?;
    let by_at_most = usize::try_from(by.unsigned_abs()).unwrap_or(usize::MAX).min(digits.len());
    let zeros = "0".repeat(by_at_most);
    Ok(if by >= 0 {
        format!("{}{zeros}", digits.get(by_at_most..).unwrap_or(""))
    } else {
        format!("{zeros}{}", digits.get(..digits.len() - by_at_most).unwrap_or(""))
    })
}

pub(crate) fn joined(parts: &[&str]) -> PgResult<String> {
    claim(parts.iter().map(|part| part.len()).sum())?;
    Ok(parts.concat())
}

/// Registers the entries of this file.
pub fn register(r: &mut Registry) {
    use PgType::{Bit, Int4 as Int, Varbit};
    for (name, op) in COMPARISONS {
        for ty in [Bit, Varbit] {
            r.comparison(name, ty.clone(), ty, OperKind::Native(op), op);
        }
    }
    let pairs: [(&str, &'static str, fn(u8, u8) -> u8); 3] =
        [("&", "AND", |a, b| a & b), ("|", "OR", |a, b| a | b), ("#", "XOR", |a, b| a ^ b)];
    for (name, word, of) in pairs {
        let kernel = strict2::<Text, Text, Text>(move |_, a, b| together(a, b, word, of));
        r.operator(name, Bit, Bit, Bit, OperKind::Kernel(kernel));
    }
    r.prefix_operator("~", Bit, Bit, OperKind::Kernel(strict1::<Text, Text>(|_, v| inverted(v))));
    r.operator("<<", Bit, Int, Bit, OperKind::Kernel(strict2::<Text, Int4, Text>(|_, v, by| shifted(v, i64::from(by)))));
    r.operator(">>", Bit, Int, Bit, OperKind::Kernel(strict2::<Text, Int4, Text>(|_, v, by| shifted(v, -i64::from(by)))));
    r.operator("||", Varbit, Varbit, Varbit, OperKind::Kernel(strict2::<Text, Text, Text>(|_, a, b| joined(&[a, b]))));
}
