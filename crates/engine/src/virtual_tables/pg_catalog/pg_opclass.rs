//! `pg_opclass`: the operator class of all indexes.

use super::super::builder::{Builder, V};
use super::super::objects::BTREE_AM;
use stoa_exec::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_sql::catalog::names::OWNER;
use stoa_table::catalog::PG_CATALOG_OID;

/// Adds the rows.
pub fn fill(_: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    t.row(vec![
        ("oid", V::Oid(1978)),
        ("opcmethod", V::Oid(BTREE_AM)),
        ("opcname", "any_ops".into()),
        ("opcnamespace", V::Oid(PG_CATALOG_OID)),
        ("opcowner", V::Oid(OWNER)),
        ("opcdefault", true.into()),
    ]);
    Ok(())
}
