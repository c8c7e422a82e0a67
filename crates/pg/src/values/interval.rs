//! Values: interval.

/// `interval` with a modifier, as `format_type` prints it.
#[must_use]
pub fn format_typmod(_typmod: i32) -> String {
    "interval".into()
}
