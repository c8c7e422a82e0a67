//! `pg_am`: the access methods.

use super::super::builder::{Builder, V};
use super::super::objects::{BTREE_AM, FULLTEXT_AM, GIN_AM, HEAP_AM};
use crate::environment::StatementContext;
use stoa_pg::PgResult;

/// Adds the rows.
pub fn fill(_: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    let indexes = [(BTREE_AM, "btree"), (405, "hash"), (GIN_AM, "gin"), (FULLTEXT_AM, "fulltext")].map(|(oid, name)| (oid, name, "i"));
    for (oid, name, kind) in [(HEAP_AM, "heap", "t")].into_iter().chain(indexes) {
        t.row(vec![("oid", V::Oid(oid)), ("amname", name.into()), ("amtype", kind.into())]);
    }
    Ok(())
}
