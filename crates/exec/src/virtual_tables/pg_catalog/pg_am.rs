//! `pg_am`: the access methods.

use super::super::builder::{Builder, V};
use super::super::objects::{BTREE_AM, FULLTEXT_AM, GIN_AM, HEAP_AM};
use crate::environment::StatementContext;
use stoa_pg::PgResult;

/// Adds the rows.
pub fn fill(_: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    // With the functions that PostgreSQL calls to use them; full text indexes have none there.
    let indexes = [(BTREE_AM, "btree", 330), (405, "hash", 331), (GIN_AM, "gin", 333), (FULLTEXT_AM, "fulltext", 0)];
    let indexes = indexes.map(|(oid, name, handler)| (oid, name, handler, "i"));
    for (oid, name, handler, kind) in [(HEAP_AM, "heap", 3, "t")].into_iter().chain(indexes) {
        t.row(vec![("oid", V::Oid(oid)), ("amname", name.into()), ("amhandler", V::Oid(handler)), ("amtype", kind.into())]);
    }
    Ok(())
}
