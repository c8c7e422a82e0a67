//! `check_constraints`: CHECKs and NOT NULLs.

use super::super::builder::Builder;
use super::super::objects::{schema_of, tables};
use super::shown::is_own;
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_sql::definition::Constraint;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for table in tables(ctx).into_iter().filter(|table| is_own(ctx, table.oid)) {
        for check in &table.checks {
            let definition = ctx.definitions().constraint(&table, &Constraint::Check(check), false);
            t.row(vec![
                ("constraint_catalog", ctx.catalog.database_name().into()),
                ("constraint_schema", schema_of(ctx, table.schema).into()),
                ("constraint_name", check.name.name.as_str().into()),
                ("check_clause", definition.strip_prefix("CHECK ").unwrap_or(&definition).into()),
            ]);
        }
        for column in table.visible_columns().filter(|c| c.not_null) {
            t.row(vec![
                ("constraint_catalog", ctx.catalog.database_name().into()),
                ("constraint_schema", schema_of(ctx, table.schema).into()),
                ("constraint_name", format!("{}_{}_{}_not_null", table.schema, table.oid, column.id.0).into()),
                ("check_clause", format!("{} IS NOT NULL", column.name).into()),
            ]);
        }
    }
    Ok(())
}
