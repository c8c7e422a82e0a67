//! `pg_opclass`: the operator classes of indexes.

use super::super::builder::{Builder, V};
use super::super::objects::{BTREE_AM, FULLTEXT_AM, FULLTEXT_CLASS, FULLTEXT_FAMILY, GIN_AM};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_sql::catalog::names::OWNER;
use stoa_sql::catalog::opclass::{ARRAYS, BTREE, GIN, keeps};
use stoa_table::catalog::PG_CATALOG_OID;

/// Adds the rows.
pub fn fill(_: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    let mut row = |oid: u32, method: u32, name: &str, family: u32, takes: u32, own: bool, keeps: u32| {
        t.row(vec![
            ("oid", V::Oid(oid)),
            ("opcmethod", V::Oid(method)),
            ("opcname", name.into()),
            ("opcnamespace", V::Oid(PG_CATALOG_OID)),
            ("opcowner", V::Oid(OWNER)),
            ("opcfamily", V::Oid(family)),
            ("opcintype", V::Oid(takes)),
            ("opcdefault", own.into()),
            ("opckeytype", V::Oid(keeps)),
        ]);
    };
    for class in BTREE.iter().chain([&ARRAYS]) {
        row(class.oid, BTREE_AM, class.name, class.family, class.takes.oid(), class.is_own, 0);
    }
    for class in GIN {
        row(class.oid, GIN_AM, class.name, class.family, class.takes.oid(), class.is_own, keeps(class).oid());
    }
    row(FULLTEXT_CLASS, FULLTEXT_AM, "fulltext_ops", FULLTEXT_FAMILY, stoa_pg::PgType::Text.oid(), true, 0);
    Ok(())
}
