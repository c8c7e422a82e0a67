//! The operator classes that index columns are given.
//!
//! Invariant: a class is taken where it means the order that Stoa has for its type; its name is kept to be shown where it is not what
//! PostgreSQL takes by default.

use super::name_parts;
use crate::catalog::opclass::{GIN, named, takes};
use stoa_pg::{PgError, PgResult, PgType, SqlState};
use stoa_syntax::ast::{Ident, ObjectName};

/// Classes of btree for types that Stoa has not: nothing is of these types.
const BTREE_OTHERS: &[&str] = &[
    "bit_ops",
    "cidr_ops",
    "enum_ops",
    "inet_ops",
    "macaddr8_ops",
    "macaddr_ops",
    "money_ops",
    "multirange_ops",
    "oidvector_ops",
    "pg_lsn_ops",
    "range_ops",
    "record_image_ops",
    "record_ops",
    "tid_ops",
    "varbit_ops",
    "xid8_ops",
];

/// The operator class that an index column of a type is given: its name, if it is not the one that the type has anyway.
///
/// # Errors
/// 42704 if the access method has no such class, 42804 if it takes another type.
pub fn class_of(method: &str, class: &ObjectName, ty: &PgType) -> PgResult<Option<String>> {
    let parts = name_parts(class)?;
    let name = match parts.as_slice() {
        [name] => name.as_str(),
        [schema, name] if schema == "pg_catalog" => name.as_str(),
        _ => return Err(undefined(&parts.join("."), method)),
    };
    let found: Option<(bool, bool)> = match method {
        "btree" if BTREE_OTHERS.contains(&name) => Some((false, false)),
        "btree" => named(name).map(|class| (takes(class, ty), class.is_own)),
        "gin" => GIN.iter().find(|class| class.name == name).map(|class| (takes(class, ty), class.is_own)),
        "gist" if name == "tsvector_ops" => Some((*ty == PgType::Tsvector, true)),
        _ => None,
    };
    if method == "btree" && matches!(name, "bpchar_ops" | "bpchar_pattern_ops") && matches!(ty, PgType::Text | PgType::Varchar) {
        // They take texts that differ in trailing blanks for equal.
        return Err(PgError::unsupported(format!("operator class \"{name}\" on type {ty} is not supported")).hint("Use text_pattern_ops."));
    }
    match found {
        None => Err(undefined(name, method)),
        Some((false, _)) => {
            Err(PgError::new(SqlState::DATATYPE_MISMATCH, format!("operator class \"{name}\" does not accept data type {ty}")))
        }
        Some((true, true)) => Ok(None),
        Some((true, false)) => Ok(Some(name.to_owned())),
    }
}

/// # Errors
/// 42804 if a class that an index column has does not take the column's new type.
pub fn check_kept(method: &str, class: Option<&str>, ty: &PgType) -> PgResult<()> {
    match class {
        Some(class) => class_of(method, &ObjectName::from(vec![Ident::new(class)]), ty).map(|_| ()),
        None => Ok(()),
    }
}

fn undefined(name: &str, method: &str) -> PgError {
    PgError::new(SqlState::UNDEFINED_OBJECT, format!("operator class \"{name}\" does not exist for access method \"{method}\""))
}
