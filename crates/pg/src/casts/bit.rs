//! Casts between bit strings and integers.

use crate::args::{Int4, Int8, Kernel, Text, strict1};
use crate::error::{PgError, PgResult};
use crate::registry::{CastContext, CastKind, Registry};
use crate::types::PgType;
use crate::values::bit::claim;

/// The lowest digits of a number in two's complement, as many as are asked for; the sign fills those beyond its width.
fn of_integer(value: i64, typmod: i32) -> PgResult<String> {
    let width = usize::try_from(typmod).unwrap_or(0).max(1);
    claim(width)?;
    Ok((0..width).rev().map(|bit| if value >> bit.min(63) & 1 == 1 { '1' } else { '0' }).collect())
}

/// The digits as a number of this many bits; shorter ones are no negative numbers.
fn integer(digits: &str, bits: usize, name: &str) -> PgResult<u64> {
    if digits.len() > bits {
        return Err(PgError::out_of_range(name));
    }
    Ok(digits.bytes().fold(0, |value, digit| value << 1 | u64::from(digit & 1)))
}

/// Registers the entries of this file.
pub fn register(r: &mut Registry) {
    use CastContext::{Explicit, Implicit};
    use PgType as P;
    r.add_cast(P::Bit, P::Varbit, Implicit, CastKind::Relabel);
    r.add_cast(P::Varbit, P::Bit, Implicit, CastKind::Relabel);
    let kernel = |kernel: Kernel| CastKind::Kernel(kernel);
    r.add_cast(P::Int4, P::Bit, Explicit, kernel(strict1::<Int4, Text>(|call, v| of_integer(i64::from(v), call.ret.typmod))));
    r.add_cast(P::Int8, P::Bit, Explicit, kernel(strict1::<Int8, Text>(|call, v| of_integer(v, call.ret.typmod))));
    r.add_cast(P::Bit, P::Int4, Explicit, kernel(strict1::<Text, Int4>(|_, v| Ok(integer(v, 32, "integer")? as u32 as i32))));
    r.add_cast(P::Bit, P::Int8, Explicit, kernel(strict1::<Text, Int8>(|_, v| Ok(integer(v, 64, "bigint")? as i64))));
}
