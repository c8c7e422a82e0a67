//! `pg_roles` and `pg_authid`: the roles.

use super::super::builder::{Builder, V};
use stoa_exec::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_sql::catalog::names::{DATABASE_OWNER, DATABASE_OWNER_NAME, OWNER};

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    let user = ctx.session.current_user();
    for (oid, role, is_user) in [(OWNER, user.as_str(), true), (DATABASE_OWNER, DATABASE_OWNER_NAME, false)] {
        t.row(vec![
            ("oid", V::Oid(oid)),
            ("rolname", role.into()),
            ("rolsuper", is_user.into()),
            ("rolinherit", true.into()),
            ("rolcreaterole", is_user.into()),
            ("rolcreatedb", is_user.into()),
            ("rolcanlogin", is_user.into()),
            ("rolreplication", false.into()),
            ("rolbypassrls", is_user.into()),
            ("rolconnlimit", V::Int(-1)),
        ]);
    }
    Ok(())
}
