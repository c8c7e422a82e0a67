//! `pg_tablespace`: the two tablespaces that PostgreSQL always has.

use super::super::builder::{Builder, V};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_sql::catalog::names::OWNER;

/// Adds the rows.
pub fn fill(_: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for (oid, name) in [(1663, "pg_default"), (1664, "pg_global")] {
        t.row(vec![("oid", V::Oid(oid)), ("spcname", name.into()), ("spcowner", V::Oid(OWNER))]);
    }
    Ok(())
}
