//! Operator classes of btree and gin indexes: which there are, which types each takes, and which is a type's own.
//!
//! Stoa has one order for each type, that of PostgreSQL under the collation C, which all classes of a type mean: they are names.

use stoa_pg::PgType;
use stoa_table::catalog::Oid;

/// A class that PostgreSQL has for a type that Stoa has.
#[derive(Clone, PartialEq, Debug)]
pub struct OperatorClass {
    pub oid: Oid,
    pub name: &'static str,
    /// The operator family.
    pub family: Oid,
    pub takes: PgType,
    /// Whether it is the class of indexes on the type that name none.
    pub is_own: bool,
}

const fn class(oid: Oid, name: &'static str, family: Oid, takes: PgType, is_own: bool) -> OperatorClass {
    OperatorClass { oid, name, family, takes, is_own }
}

/// That of arrays, whatever their elements.
pub static ARRAYS: OperatorClass = class(10_000, "array_ops", 397, PgType::AnyArray, true);

/// By name.
pub const BTREE: &[OperatorClass] = &[
    class(10_002, "bit_ops", 423, PgType::Bit, true),
    class(10_003, "bool_ops", 424, PgType::Bool, true),
    class(10_004, "bpchar_ops", 426, PgType::Bpchar, true),
    class(4219, "bpchar_pattern_ops", 2097, PgType::Bpchar, false),
    class(10_006, "bytea_ops", 428, PgType::Bytea, true),
    class(10_007, "char_ops", 429, PgType::Char, true),
    class(3122, "date_ops", 434, PgType::Date, true),
    class(10_012, "float4_ops", 1970, PgType::Float4, true),
    class(3123, "float8_ops", 1970, PgType::Float8, true),
    class(1979, "int2_ops", 1976, PgType::Int2, true),
    class(1978, "int4_ops", 1976, PgType::Int4, true),
    class(3124, "int8_ops", 1976, PgType::Int8, true),
    class(10_022, "interval_ops", 1982, PgType::Interval, true),
    class(10_088, "jsonb_ops", 4033, PgType::Jsonb, true),
    class(10_028, "name_ops", 1994, PgType::Name, true),
    class(3125, "numeric_ops", 1988, PgType::Numeric, true),
    class(1981, "oid_ops", 1989, PgType::Oid, true),
    class(3126, "text_ops", 1994, PgType::Text, true),
    class(4217, "text_pattern_ops", 2095, PgType::Text, false),
    class(10_038, "time_ops", 1996, PgType::Time, true),
    class(3128, "timestamp_ops", 434, PgType::Timestamp, true),
    class(3127, "timestamptz_ops", 434, PgType::Timestamptz, true),
    class(10_041, "timetz_ops", 2000, PgType::Timetz, true),
    class(10_074, "tsquery_ops", 3683, PgType::Tsquery, true),
    class(10_071, "tsvector_ops", 3626, PgType::Tsvector, true),
    class(10_065, "uuid_ops", 2968, PgType::Uuid, true),
    class(10_043, "varbit_ops", 2002, PgType::Varbit, true),
    class(10_044, "varchar_ops", 1994, PgType::Text, false),
    class(4218, "varchar_pattern_ops", 2095, PgType::Text, false),
];

/// Those of gin, by name.
pub const GIN: &[OperatorClass] = &[
    class(10_064, "array_ops", 2745, PgType::AnyArray, true),
    class(10_090, "jsonb_ops", 4036, PgType::Jsonb, true),
    class(10_091, "jsonb_path_ops", 4037, PgType::Jsonb, false),
    class(10_073, "tsvector_ops", 3659, PgType::Tsvector, true),
];

/// The families of btree's classes, by OID.
pub const BTREE_FAMILIES: &[(Oid, &str)] = &[
    (397, "array_ops"),
    (423, "bit_ops"),
    (424, "bool_ops"),
    (426, "bpchar_ops"),
    (428, "bytea_ops"),
    (429, "char_ops"),
    (434, "datetime_ops"),
    (1970, "float_ops"),
    (1976, "integer_ops"),
    (1982, "interval_ops"),
    (1988, "numeric_ops"),
    (1989, "oid_ops"),
    (1994, "text_ops"),
    (1996, "time_ops"),
    (2000, "timetz_ops"),
    (2002, "varbit_ops"),
    (2095, "text_pattern_ops"),
    (2097, "bpchar_pattern_ops"),
    (2968, "uuid_ops"),
    (3626, "tsvector_ops"),
    (3683, "tsquery_ops"),
    (4033, "jsonb_ops"),
];

/// Those of gin's.
pub const GIN_FAMILIES: &[(Oid, &str)] = &[(2745, "array_ops"), (3659, "tsvector_ops"), (4036, "jsonb_ops"), (4037, "jsonb_path_ops")];

/// What an index by a class of gin keeps of a column's values, as PostgreSQL tells it.
#[must_use]
pub fn keeps(class: &OperatorClass) -> PgType {
    match class.takes {
        PgType::AnyArray => PgType::AnyElement,
        _ if class.name == "jsonb_path_ops" => PgType::Int4,
        _ => PgType::Text,
    }
}

/// The class of gin that an index column has: that of a name, or without one that of its type.
#[must_use]
pub fn of_gin(name: Option<&str>, ty: &PgType) -> Option<&'static OperatorClass> {
    GIN.iter().find(|class| name.map_or(class.is_own && takes(class, ty), |name| class.name == name))
}

/// The class with a name.
#[must_use]
pub fn named(name: &str) -> Option<&'static OperatorClass> {
    if name == ARRAYS.name { Some(&ARRAYS) } else { BTREE.iter().find(|class| class.name == name) }
}

/// The class that a type has of its own; none for types that PostgreSQL has no order of.
#[must_use]
pub fn own(ty: &PgType) -> Option<&'static OperatorClass> {
    if ty.is_array() { Some(&ARRAYS) } else { BTREE.iter().find(|class| class.is_own && takes(class, ty)) }
}

/// Whether a class takes columns of a type: its values are, byte for byte, values of the type that the class is for.
#[must_use]
pub fn takes(class: &OperatorClass, ty: &PgType) -> bool {
    *ty == class.takes
        || match class.takes {
            PgType::AnyArray => ty.is_array(),
            PgType::Text => *ty == PgType::Varchar,
            // Texts have classes of their own.
            PgType::Bpchar => !class.is_own && matches!(ty, PgType::Text | PgType::Varchar),
            PgType::Oid => ty.is_oid_like() && *ty != PgType::Xid,
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn types_have_classes_of_their_own() {
        for (ty, name) in [
            (PgType::Varchar, "text_ops"),
            (PgType::Bpchar, "bpchar_ops"),
            (PgType::Regclass, "oid_ops"),
            (PgType::Timestamptz, "timestamptz_ops"),
            (PgType::Int4.array_of(), "array_ops"),
        ] {
            assert_eq!(own(&ty).unwrap().name, name, "{ty}");
        }
        assert!(own(&PgType::Json).is_none() && own(&PgType::Xid).is_none());
        assert!(BTREE.windows(2).all(|pair| pair[0].name < pair[1].name));
        let has = |families: &[(Oid, &str)], class: &OperatorClass| families.iter().any(|(oid, _)| *oid == class.family);
        assert!(BTREE.iter().chain([&ARRAYS]).all(|class| has(BTREE_FAMILIES, class)) && GIN.iter().all(|class| has(GIN_FAMILIES, class)));
    }
}
