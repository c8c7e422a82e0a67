//! `pg_opfamily`: the families of operator classes.

use super::super::builder::{Builder, V};
use super::super::objects::{BTREE_AM, FULLTEXT_AM, FULLTEXT_FAMILY, GIN_AM};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_sql::catalog::names::OWNER;
use stoa_sql::catalog::opclass::{BTREE_FAMILIES, GIN_FAMILIES};
use stoa_table::catalog::PG_CATALOG_OID;

/// Adds the rows.
pub fn fill(_: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    let btree = BTREE_FAMILIES.iter().map(|family| (BTREE_AM, *family));
    let gin = GIN_FAMILIES.iter().map(|family| (GIN_AM, *family));
    for (method, (oid, name)) in btree.chain(gin).chain([(FULLTEXT_AM, (FULLTEXT_FAMILY, "fulltext_ops"))]) {
        t.row(vec![
            ("oid", V::Oid(oid)),
            ("opfmethod", V::Oid(method)),
            ("opfname", name.into()),
            ("opfnamespace", V::Oid(PG_CATALOG_OID)),
            ("opfowner", V::Oid(OWNER)),
        ]);
    }
    Ok(())
}
