//! `pg_database`: the databases.

use super::super::builder::{Builder, V};
use super::super::objects::{DATABASE_OID, acl};
use stoa_exec::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_table::catalog::RightsOf;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for (oid, name) in [(DATABASE_OID, "stoa"), (5, "postgres")] {
        t.row(vec![
            ("oid", V::Oid(oid)),
            ("datname", name.into()),
            ("datdba", V::Oid(ctx.catalog.authority().rights(RightsOf::Database).owner)),
            ("encoding", V::Int(6)),
            ("datlocprovider", "c".into()),
            ("datistemplate", false.into()),
            ("datallowconn", true.into()),
            ("datconnlimit", V::Int(-1)),
            ("dattablespace", V::Oid(1663)),
            ("datcollate", "C".into()),
            ("datctype", "C".into()),
            ("datacl", acl(ctx, RightsOf::Database)),
        ]);
    }
    Ok(())
}
