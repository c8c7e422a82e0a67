//! `pg_language`: the languages of functions.

use super::super::builder::{Builder, V};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_sql::catalog::names::OWNER;

/// Adds the rows.
pub fn fill(_: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for (oid, name) in [(12, "internal"), (13, "c"), (14, "sql")] {
        t.row(vec![
            ("oid", V::Oid(oid)),
            ("lanname", name.into()),
            ("lanowner", V::Oid(OWNER)),
            ("lanispl", false.into()),
            ("lanpltrusted", true.into()),
        ]);
    }
    Ok(())
}
