//! `constraint_table_usage`: the current role's tables that keys and foreign keys are about.

use super::super::builder::Builder;
use super::super::objects::{schema_of, tables};
use super::all_constraints;
use super::shown::is_own;
use crate::environment::StatementContext;
use stoa_pg::PgResult;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for table in tables(ctx) {
        for c in all_constraints(&table).into_iter().filter(|c| c.kind != "CHECK") {
            let owner = match &c.referenced {
                Some((oid, _)) => match ctx.catalog.shared_table(*oid) {
                    Some(referenced) => referenced.clone(),
                    None => continue,
                },
                None => table.clone(),
            };
            if !is_own(ctx, owner.oid) {
                continue;
            }
            t.row(vec![
                ("table_catalog", ctx.catalog.database_name().into()),
                ("table_schema", schema_of(ctx, owner.schema).into()),
                ("table_name", owner.name.as_str().into()),
                ("constraint_catalog", ctx.catalog.database_name().into()),
                ("constraint_schema", schema_of(ctx, table.schema).into()),
                ("constraint_name", c.name.into()),
            ]);
        }
    }
    Ok(())
}
