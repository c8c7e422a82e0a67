//! `constraint_column_usage`: the columns of the current role's tables that constraints are about.

use super::super::builder::Builder;
use super::super::objects::{schema_of, tables};
use super::all_constraints;
use super::shown::is_own;
use crate::environment::StatementContext;
use stoa_pg::PgResult;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for table in tables(ctx) {
        for c in all_constraints(&table) {
            let (owner, columns) = match &c.referenced {
                Some((oid, columns)) => match ctx.catalog.shared_table(*oid) {
                    Some(referenced) => (referenced.clone(), columns),
                    None => continue,
                },
                None => (table.clone(), &c.columns),
            };
            if !is_own(ctx, owner.oid) {
                continue;
            }
            for column in columns.iter().filter_map(|id| owner.column(*id)) {
                t.row(vec![
                    ("table_catalog", ctx.catalog.database_name().into()),
                    ("table_schema", schema_of(ctx, owner.schema).into()),
                    ("table_name", owner.name.as_str().into()),
                    ("column_name", column.name.as_str().into()),
                    ("constraint_catalog", ctx.catalog.database_name().into()),
                    ("constraint_schema", schema_of(ctx, table.schema).into()),
                    ("constraint_name", c.name.clone().into()),
                ]);
            }
        }
    }
    Ok(())
}
