//! `pg_collation`: the collations.

use super::super::builder::{Builder, V};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_pg::collation::COLLATIONS;
use stoa_sql::catalog::names::OWNER;
use stoa_table::catalog::PG_CATALOG_OID;

/// Adds the rows.
pub fn fill(_: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for collation in COLLATIONS {
        let locale = || collation.locale.map_or(V::Null, V::from);
        t.row(vec![
            ("oid", V::Oid(collation.oid)),
            ("collname", collation.name.into()),
            ("collnamespace", V::Oid(PG_CATALOG_OID)),
            ("collowner", V::Oid(OWNER)),
            ("collprovider", collation.provider.into()),
            ("collisdeterministic", true.into()),
            ("collencoding", V::Int(collation.encoding)),
            ("collcollate", locale()),
            ("collctype", locale()),
        ]);
    }
    Ok(())
}
