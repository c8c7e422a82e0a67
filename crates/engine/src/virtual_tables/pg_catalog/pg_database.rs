//! `pg_database`: the databases.

use super::super::builder::{Builder, V};
use super::super::objects::DATABASE_OID;
use stoa_exec::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_sql::catalog::names::OWNER;

/// Adds the rows.
pub fn fill(_: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for (oid, name) in [(DATABASE_OID, "stoa"), (5, "postgres")] {
        t.row(vec![
            ("oid", V::Oid(oid)),
            ("datname", name.into()),
            ("datdba", V::Oid(OWNER)),
            ("encoding", V::Int(6)),
            ("datlocprovider", "c".into()),
            ("datistemplate", false.into()),
            ("datallowconn", true.into()),
            ("datconnlimit", V::Int(-1)),
            ("dattablespace", V::Oid(1663)),
            ("datcollate", "C".into()),
            ("datctype", "C".into()),
        ]);
    }
    Ok(())
}
