//! `pg_user`: the roles that log in.

use super::super::builder::{Builder, V};
use stoa_exec::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_sql::catalog::names::OWNER;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    t.row(vec![
        ("usename", ctx.session.current_user().into()),
        ("usesysid", V::Oid(OWNER)),
        ("usecreatedb", true.into()),
        ("usesuper", true.into()),
        ("userepl", false.into()),
        ("usebypassrls", true.into()),
    ]);
    Ok(())
}
