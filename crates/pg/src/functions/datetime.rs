//! Functions of dates, times and intervals, a file a family.

use crate::registry::Registry;

pub mod clock;
mod construct;
mod extract;
pub(crate) mod memo;
mod span;
mod truncate;
mod zone;

/// Registers every function of dates and times.
pub fn register(r: &mut Registry) {
    clock::register(r);
    construct::register(r);
    extract::register(r);
    truncate::register(r);
    zone::register(r);
    span::register(r);
}

#[cfg(test)]
pub(crate) mod tests;
