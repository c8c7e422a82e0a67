//! `schemata`: the schemas.

use super::super::builder::Builder;
use super::super::objects::owner_name;
use super::shown::is_schema_shown;
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_table::catalog::RightsOf;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for s in ctx.catalog.schemas().filter(|s| is_schema_shown(ctx, s.oid)) {
        let owner = owner_name(ctx, RightsOf::Schema(s.oid));
        t.row(vec![
            ("catalog_name", ctx.catalog.database_name().into()),
            ("schema_name", s.name.as_str().into()),
            ("schema_owner", owner.into()),
        ]);
    }
    Ok(())
}
