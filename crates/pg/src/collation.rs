//! The collations, which all mean one order: that of bytes.

/// The collation of texts of which nothing is said.
pub const DEFAULT: u32 = 100;
/// The collation of names.
pub const C: u32 = 950;

/// One collation.
#[derive(Clone, Copy, Debug)]
pub struct Collation {
    pub oid: u32,
    pub name: &'static str,
    /// `collprovider`.
    pub provider: &'static str,
    /// `collcollate` and `collctype`.
    pub locale: Option<&'static str>,
    /// `collencoding`: −1 for any.
    pub encoding: i64,
}

const fn collation(oid: u32, name: &'static str, provider: &'static str, locale: Option<&'static str>, encoding: i64) -> Collation {
    Collation { oid, name, provider, locale, encoding }
}

/// All of them, by OID.
pub const COLLATIONS: [Collation; 4] = [
    collation(DEFAULT, "default", "d", None, -1),
    collation(C, "C", "c", Some("C"), -1),
    collation(951, "POSIX", "c", Some("POSIX"), -1),
    collation(952, "ucs_basic", "c", Some("C"), 6),
];

/// The collation of a name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Collation> {
    COLLATIONS.iter().find(|collation| collation.name == name)
}

/// The collation with an OID.
#[must_use]
pub fn by_oid(oid: u32) -> Option<&'static Collation> {
    COLLATIONS.iter().find(|collation| collation.oid == oid)
}
