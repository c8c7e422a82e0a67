//! The functions by which PostgreSQL reads and writes the values of types: names, OIDs and signatures that clients ask of `pg_type`
//! and `pg_proc`.
//!
//! They are known by name and OID, and never called: Stoa's own conversions are in [`crate::values`]. `functions.tsv` and `types.tsv`
//! were asked of a PostgreSQL 15.

use std::sync::LazyLock;

/// One function.
#[derive(Debug)]
pub struct TypeFunction {
    pub oid: u32,
    pub name: &'static str,
    /// OIDs of the types of its arguments.
    pub args: Vec<u32>,
    pub ret: u32,
    /// `i`, `s` or `v`.
    pub volatility: &'static str,
    pub strict: bool,
}

/// What `pg_type` says of how values of a type are read, written and stored.
#[derive(Debug)]
pub struct TypeForms {
    pub oid: u32,
    pub input: u32,
    pub output: u32,
    pub receive: u32,
    pub send: u32,
    pub modifier_in: u32,
    pub modifier_out: u32,
    pub align: &'static str,
    pub storage: &'static str,
    pub analyze: u32,
    pub subscript: u32,
}

static FUNCTIONS: LazyLock<Vec<TypeFunction>> =
    LazyLock::new(|| include_str!("type_functions/functions.tsv").lines().filter_map(function).collect());

static TYPES: LazyLock<Vec<TypeForms>> = LazyLock::new(|| include_str!("type_functions/types.tsv").lines().filter_map(forms).collect());

fn function(line: &'static str) -> Option<TypeFunction> {
    let mut fields = line.split('\t');
    let mut next = || fields.next();
    Some(TypeFunction {
        oid: next()?.parse().ok()?,
        name: next()?,
        args: next()?.split(' ').filter_map(|oid| oid.parse().ok()).collect(),
        ret: next()?.parse().ok()?,
        volatility: next()?,
        strict: next()? == "t",
    })
}

fn forms(line: &'static str) -> Option<TypeForms> {
    let mut fields = line.split('\t');
    let mut next = || fields.next();
    Some(TypeForms {
        oid: next()?.parse().ok()?,
        input: next()?.parse().ok()?,
        output: next()?.parse().ok()?,
        receive: next()?.parse().ok()?,
        send: next()?.parse().ok()?,
        modifier_in: next()?.parse().ok()?,
        modifier_out: next()?.parse().ok()?,
        align: next()?,
        storage: next()?,
        analyze: next()?.parse().ok()?,
        subscript: next()?.parse().ok()?,
    })
}

/// Types that PostgreSQL has and Stoa has not, by their OIDs: the OID of their arrays, their names and how these are shown.
static ELSEWHERE: LazyLock<Vec<(u32, u32, &'static str, &'static str)>> = LazyLock::new(|| {
    let line = |line: &'static str| {
        let mut fields = line.split('\t');
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?, fields.next()?, fields.next()?))
    };
    include_str!("type_functions/elsewhere.tsv").lines().filter_map(line).collect()
});

/// The OID of a type that only PostgreSQL has, or of arrays of it, by its name: what clients compare OIDs with.
#[must_use]
pub fn elsewhere_named(text: &str) -> Option<u32> {
    let text = text.trim().to_lowercase();
    let text = text.strip_prefix("pg_catalog.").unwrap_or(&text);
    let (name, is_array) = text.strip_suffix("[]").map_or((text, false), |element| (element, true));
    let (oid, array, ..) = ELSEWHERE.iter().find(|(.., name_, shown)| *name_ == name || *shown == name)?;
    Some(if is_array { *array } else { *oid }).filter(|oid| *oid != 0)
}

/// How the name of a type that only PostgreSQL has is shown.
#[must_use]
pub fn elsewhere(oid: u32) -> Option<String> {
    let (own, _, _, shown) = ELSEWHERE.iter().find(|(own, array, ..)| *own == oid || *array == oid && oid != 0)?;
    Some(if *own == oid { (*shown).to_owned() } else { format!("{shown}[]") })
}

/// All functions, in the order of their OIDs.
#[must_use]
pub fn all() -> &'static [TypeFunction] {
    &FUNCTIONS
}

/// The functions of a name.
pub fn named(name: &str) -> impl Iterator<Item = &'static TypeFunction> {
    FUNCTIONS.iter().filter(move |f| f.name == name)
}

/// The function with an OID.
#[must_use]
pub fn by_oid(oid: u32) -> Option<&'static TypeFunction> {
    FUNCTIONS.binary_search_by_key(&oid, |f| f.oid).ok().and_then(|at| FUNCTIONS.get(at))
}

/// What `pg_type` says of a type; `None` for types that PostgreSQL does not have.
#[must_use]
pub fn of_type(oid: u32) -> Option<&'static TypeForms> {
    TYPES.binary_search_by_key(&oid, |t| t.oid).ok().and_then(|at| TYPES.get(at))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use crate::types::BASE_TYPES;

    #[test]
    fn every_line_is_read_in_order_and_every_type_has_functions() {
        assert_eq!(all().len(), include_str!("type_functions/functions.tsv").lines().count());
        assert_eq!(TYPES.len(), include_str!("type_functions/types.tsv").lines().count());
        assert!(FUNCTIONS.windows(2).all(|w| w[0].oid < w[1].oid) && TYPES.windows(2).all(|w| w[0].oid < w[1].oid));
        for forms in TYPES.iter() {
            for oid in [forms.input, forms.output] {
                assert!(by_oid(oid).is_some(), "{}", forms.oid);
            }
        }
        for (ty, info) in BASE_TYPES {
            assert!(of_type(info.oid).is_some(), "{ty:?}");
            assert!(info.array_oid == 0 || of_type(info.array_oid).is_some(), "{ty:?}[]");
        }
    }
}
