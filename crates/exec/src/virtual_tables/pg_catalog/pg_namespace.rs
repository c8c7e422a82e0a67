//! `pg_namespace`: the schemas.

use super::super::builder::{Builder, V};
use super::super::objects::acl;
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_table::catalog::RightsOf;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    let mut schemas: Vec<_> = ctx.catalog.schemas().collect();
    schemas.sort_by_key(|s| s.oid);
    for s in schemas {
        let of = RightsOf::Schema(s.oid);
        let (owner, privileges) = (ctx.catalog.authority().rights(of).owner, acl(ctx, of));
        t.row(vec![("oid", V::Oid(s.oid)), ("nspname", s.name.as_str().into()), ("nspowner", V::Oid(owner)), ("nspacl", privileges)]);
    }
    Ok(())
}
