//! `pg_collation`: the collations.

use super::super::builder::{Builder, V};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_sql::catalog::collation::COLLATIONS;
use stoa_sql::catalog::names::OWNER;
use stoa_table::catalog::PG_CATALOG_OID;

/// Adds the rows.
pub fn fill(_: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for (oid, name, provider) in COLLATIONS {
        t.row(vec![
            ("oid", V::Oid(oid)),
            ("collname", name.into()),
            ("collnamespace", V::Oid(PG_CATALOG_OID)),
            ("collowner", V::Oid(OWNER)),
            ("collprovider", provider.into()),
            ("collisdeterministic", true.into()),
            ("collencoding", V::Int(-1)),
        ]);
    }
    Ok(())
}
