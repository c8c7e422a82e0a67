//! `pg_ts_config`: the text search configurations.

use super::super::builder::{Builder, V};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_sql::catalog::names::OWNER;
use stoa_table::catalog::PG_CATALOG_OID;

/// Adds the rows.
pub fn fill(_: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for (oid, name) in [(3748, "simple"), (13_164, "english")] {
        t.row(vec![
            ("oid", V::Oid(oid)),
            ("cfgname", name.into()),
            ("cfgnamespace", V::Oid(PG_CATALOG_OID)),
            ("cfgowner", V::Oid(OWNER)),
            ("cfgparser", V::Oid(3722)),
        ]);
    }
    Ok(())
}
