//! `pg_am`: the access methods.

use super::super::builder::{Builder, V};
use super::super::objects::{BTREE_AM, FULLTEXT_AM, HEAP_AM};
use crate::environment::StatementContext;
use stoa_pg::PgResult;

/// Adds the rows.
pub fn fill(_: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for (oid, name, kind) in [(HEAP_AM, "heap", "t"), (BTREE_AM, "btree", "i"), (405, "hash", "i"), (FULLTEXT_AM, "fulltext", "i")] {
        t.row(vec![("oid", V::Oid(oid)), ("amname", name.into()), ("amtype", kind.into())]);
    }
    Ok(())
}
