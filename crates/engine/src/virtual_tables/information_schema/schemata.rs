//! `schemata`: the schemas.

use super::super::builder::Builder;
use super::DATABASE;
use stoa_exec::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_sql::catalog::names::DATABASE_OWNER_NAME;
use stoa_table::catalog::PUBLIC_OID;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for s in ctx.catalog.schemas() {
        let owner = if s.oid == PUBLIC_OID { DATABASE_OWNER_NAME.to_owned() } else { ctx.session.current_user() };
        t.row(vec![("catalog_name", DATABASE.into()), ("schema_name", s.name.as_str().into()), ("schema_owner", owner.into())]);
    }
    Ok(())
}
