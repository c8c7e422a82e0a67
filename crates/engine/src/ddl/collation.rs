//! Collations of columns: their names, which all mean one order.

use super::work::Work;
use stoa_pg::{PgError, PgResult, PgType, SqlState};
use stoa_syntax::ast::ObjectName;

/// The collation that a column of a type is given: its name, if it is not the one that the type has anyway.
///
/// # Errors
/// 42704 for one that there is not, 42804 for a type that has none.
pub(super) fn of_column(said: Option<&ObjectName>, ty: &PgType) -> PgResult<Option<String>> {
    let Some(said) = said else { return Ok(None) };
    let name = check(&Work::shown(said))?;
    check_takes(ty)?;
    Ok(Some(name).filter(|name| name != if *ty == PgType::Name { "C" } else { "default" }))
}

/// Collations that order by code points, which is the one order there is; the name without its schema.
pub(super) fn check(name: &str) -> PgResult<String> {
    match name.trim_start_matches("pg_catalog.") {
        known @ ("C" | "POSIX" | "default" | "ucs_basic") => Ok(known.to_owned()),
        other => Err(PgError::new(SqlState::UNDEFINED_OBJECT, format!("collation \"{other}\" for encoding \"UTF8\" does not exist"))),
    }
}

/// 42804 for types whose values are no texts.
pub(super) fn check_takes(ty: &PgType) -> PgResult<()> {
    let element = match ty {
        PgType::Array(element) => element,
        other => other,
    };
    if element.is_string() {
        return Ok(());
    }
    Err(PgError::new(SqlState::DATATYPE_MISMATCH, format!("collations are not supported by type {ty}")))
}
