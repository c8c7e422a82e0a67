//! Casts between types, a file a kind of value; the casts through text that every type has are in [`crate::values`].

use crate::registry::Registry;

pub mod datetime;
pub mod json;
pub mod number;
pub mod string;

/// Registers every cast.
pub fn register(r: &mut Registry) {
    number::register(r);
    string::register(r);
    datetime::register(r);
    json::register(r);
}
