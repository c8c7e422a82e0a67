//! `pg_language`: the languages of functions.

use super::super::builder::{Builder, V};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_sql::catalog::names::OWNER;

/// Adds the rows.
pub fn fill(_: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    // With the functions that look at what is defined in them.
    for (oid, name, validator) in [(12, "internal", 2246), (13, "c", 2247), (14, "sql", 2248)] {
        t.row(vec![
            ("oid", V::Oid(oid)),
            ("lanname", name.into()),
            ("lanowner", V::Oid(OWNER)),
            ("lanispl", false.into()),
            ("lanpltrusted", (name == "sql").into()),
            ("lanplcallfoid", V::Oid(0)),
            ("laninline", V::Oid(0)),
            ("lanvalidator", V::Oid(validator)),
        ]);
    }
    Ok(())
}
