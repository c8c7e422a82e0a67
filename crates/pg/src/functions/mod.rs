//! Functions, a file a family.

use crate::registry::Registry;

pub mod aggregate;
pub mod array;
pub mod bit;
pub mod bytea;
#[cfg(test)]
mod cases;
pub mod datetime;
pub mod encoding;
pub mod format;
pub mod hash;
pub mod information_schema;
pub mod json;
pub mod jsonpath;
pub mod keywords;
pub mod map;
pub mod math;
pub mod quote;
pub mod regexp;
pub mod series;
pub mod size;
pub mod subscript;
pub mod system;
pub mod text;
pub mod textsearch;
pub mod window;

pub use system::row_address;

/// Registers every function.
pub fn register(r: &mut Registry) {
    math::register(r);
    text::register(r);
    quote::register(r);
    bit::register(r);
    bytea::register(r);
    hash::register(r);
    regexp::register(r);
    datetime::register(r);
    format::register(r);
    array::register(r);
    series::register(r);
    size::register(r);
    json::register(r);
    jsonpath::register(r);
    textsearch::register(r);
    aggregate::register(r);
    window::register(r);
    system::register(r);
    information_schema::register(r);
    keywords::register(r);
}
