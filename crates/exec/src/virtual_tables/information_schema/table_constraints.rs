//! `table_constraints`: keys, foreign keys, CHECKs and NOT NULLs.

use super::super::builder::{Builder, yes};
use super::super::objects::{schema_of, tables};
use super::all_constraints;
use super::shown::{are_constraints_shown, is_of_another_session};
use crate::environment::StatementContext;
use stoa_pg::PgResult;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for table in tables(ctx) {
        let is_hidden = || is_of_another_session(ctx, table.schema) || !are_constraints_shown(ctx, table.oid);
        if !t.wants("table_name", table.name.as_str()) || is_hidden() {
            continue;
        }
        for c in all_constraints(&table) {
            let nulls_distinct = c.nulls_distinct.map(yes);
            let mut cells = vec![
                ("constraint_catalog", ctx.catalog.database_name().into()),
                ("constraint_schema", schema_of(ctx, table.schema).into()),
                ("constraint_name", c.name.into()),
                ("table_catalog", ctx.catalog.database_name().into()),
                ("table_schema", schema_of(ctx, table.schema).into()),
                ("table_name", table.name.as_str().into()),
                ("constraint_type", c.kind.into()),
                ("is_deferrable", yes(c.deferrable)),
                ("initially_deferred", yes(c.deferred)),
                ("enforced", yes(true)),
            ];
            cells.extend(nulls_distinct.map(|yes| ("nulls_distinct", yes)));
            t.row(cells);
        }
        for column in table.visible_columns().filter(|c| c.not_null) {
            t.row(vec![
                ("constraint_catalog", ctx.catalog.database_name().into()),
                ("constraint_schema", schema_of(ctx, table.schema).into()),
                ("constraint_name", format!("{}_{}_{}_not_null", table.schema, table.oid, column.id.0).into()),
                ("table_catalog", ctx.catalog.database_name().into()),
                ("table_schema", schema_of(ctx, table.schema).into()),
                ("table_name", table.name.as_str().into()),
                ("constraint_type", "CHECK".into()),
                ("is_deferrable", yes(false)),
                ("initially_deferred", yes(false)),
                ("enforced", yes(true)),
            ]);
        }
    }
    Ok(())
}
