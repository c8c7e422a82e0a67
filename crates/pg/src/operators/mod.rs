//! Operators, a file a kind of value.

use crate::registry::Registry;

pub mod array;
pub mod bit;
pub mod datetime;
pub mod json;
pub mod membership;
pub mod names;
pub mod number;
pub mod quantified;
pub mod record;
pub mod string;

/// Registers every operator.
pub fn register(r: &mut Registry) {
    number::register(r);
    string::register(r);
    datetime::register(r);
    json::register(r);
    array::register(r);
    record::register(r);
    bit::register(r);
}
