//! Collations of columns: their names, which all mean one order.

use stoa_table::catalog::Oid;

/// The collation of texts of which nothing is said.
pub const DEFAULT: Oid = 100;
/// The collations: their OIDs, names and providers.
pub const COLLATIONS: [(Oid, &str, &str); 4] = [(DEFAULT, "default", "d"), (950, "C", "c"), (951, "POSIX", "c"), (952, "ucs_basic", "c")];

/// Whether there is a collation of a name.
#[must_use]
pub fn is_known(name: &str) -> bool {
    COLLATIONS.iter().any(|(_, known, _)| *known == name)
}
