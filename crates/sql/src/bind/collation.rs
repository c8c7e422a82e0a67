//! The collations that columns are given.

use super::name_parts;
use stoa_pg::collation;
use stoa_pg::{PgError, PgResult, PgType, SqlState};
use stoa_syntax::ast::ObjectName;

/// The collation that a column of a type is given: its name, if it is not the one that the type has anyway.
///
/// # Errors
/// 42704 for one that there is not, 42804 for a type that has none.
pub fn of_column(said: Option<&ObjectName>, ty: &PgType) -> PgResult<Option<String>> {
    let Some(said) = said else { return Ok(None) };
    let name = check(said)?;
    check_takes(ty)?;
    Ok(Some(name).filter(|name| name != if *ty == PgType::Name { "C" } else { "default" }))
}

/// Collations that order by code points, which is the one order there is; the name without its schema.
///
/// # Errors
/// 42704.
pub fn check(name: &ObjectName) -> PgResult<String> {
    let name = name_parts(name)?.join(".");
    let name = name.trim_start_matches("pg_catalog.");
    if collation::named(name).is_some() {
        return Ok(name.to_owned());
    }
    Err(PgError::new(SqlState::UNDEFINED_OBJECT, format!("collation \"{name}\" for encoding \"UTF8\" does not exist")))
}

/// # Errors
/// 42804 for types whose values are no texts.
pub fn check_takes(ty: &PgType) -> PgResult<()> {
    let element = match ty {
        PgType::Array(element) => element,
        other => other,
    };
    if element.is_string() {
        return Ok(());
    }
    Err(PgError::new(SqlState::DATATYPE_MISMATCH, format!("collations are not supported by type {ty}")))
}
