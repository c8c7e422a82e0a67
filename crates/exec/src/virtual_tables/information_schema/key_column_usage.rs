//! `key_column_usage`: the columns of keys and foreign keys.

use super::super::builder::{Builder, V};
use super::super::objects::{schema_of, tables};
use super::all_constraints;
use crate::environment::StatementContext;
use stoa_pg::PgResult;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for table in tables(ctx) {
        if !t.wants("table_name", table.name.as_str()) {
            continue;
        }
        for c in all_constraints(&table).into_iter().filter(|c| c.kind != "CHECK") {
            for (i, column) in c.columns.iter().enumerate() {
                let position = i as i64 + 1;
                t.row(vec![
                    ("constraint_catalog", ctx.catalog.database_name().into()),
                    ("constraint_schema", schema_of(ctx, table.schema).into()),
                    ("constraint_name", c.name.clone().into()),
                    ("table_catalog", ctx.catalog.database_name().into()),
                    ("table_schema", schema_of(ctx, table.schema).into()),
                    ("table_name", table.name.as_str().into()),
                    ("column_name", column.as_str().into()),
                    ("ordinal_position", V::Int(position)),
                    ("position_in_unique_constraint", if c.kind == "FOREIGN KEY" { V::Int(position) } else { V::Null }),
                ]);
            }
        }
    }
    Ok(())
}
