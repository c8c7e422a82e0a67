//! `pg_namespace`: the schemas.

use super::super::builder::{Builder, V};
use stoa_exec::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_sql::catalog::names::{DATABASE_OWNER, DATABASE_OWNER_NAME, OWNER};
use stoa_table::catalog::PUBLIC_OID;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    let mut schemas: Vec<_> = ctx.catalog.schemas().collect();
    schemas.sort_by_key(|s| s.oid);
    for s in schemas {
        // What PostgreSQL 15 gives the schema public, and dumps only where it is otherwise.
        let (owner, privileges) = if s.oid == PUBLIC_OID {
            let privileges = [format!("{DATABASE_OWNER_NAME}=UC/{DATABASE_OWNER_NAME}"), format!("=U/{DATABASE_OWNER_NAME}")];
            (DATABASE_OWNER, V::Texts(privileges.into()))
        } else {
            (OWNER, V::Null)
        };
        t.row(vec![("oid", V::Oid(s.oid)), ("nspname", s.name.as_str().into()), ("nspowner", V::Oid(owner)), ("nspacl", privileges)]);
    }
    Ok(())
}
