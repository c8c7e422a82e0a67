//! `key_column_usage`: the columns of keys and foreign keys.

use super::super::builder::{Builder, V};
use super::super::objects::{schema_of, tables};
use super::shown::{is_of_another_session, shown_columns};
use super::{all_constraints, referenced_key};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_table::catalog::ColumnId;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for table in tables(ctx) {
        if !t.wants("table_name", table.name.as_str()) || is_of_another_session(ctx, table.schema) {
            continue;
        }
        let is_seen = shown_columns(ctx, table.oid);
        for c in all_constraints(&table).into_iter().filter(|c| c.kind != "CHECK") {
            let referenced =
                c.referenced.as_ref().and_then(|(oid, columns)| Some((columns, referenced_key(ctx.catalog.table(*oid)?, columns)?.0)));
            for (i, id) in c.columns.iter().enumerate() {
                let Some(column) = table.column(*id).filter(|_| is_seen(*id)) else { continue };
                let place = |(columns, key): &(&Vec<ColumnId>, Vec<ColumnId>)| key.iter().position(|id| columns.get(i) == Some(id));
                let position = referenced.as_ref().and_then(place).map_or(V::Null, |at| V::Int(at as i64 + 1));
                t.row(vec![
                    ("constraint_catalog", ctx.catalog.database_name().into()),
                    ("constraint_schema", schema_of(ctx, table.schema).into()),
                    ("constraint_name", c.name.clone().into()),
                    ("table_catalog", ctx.catalog.database_name().into()),
                    ("table_schema", schema_of(ctx, table.schema).into()),
                    ("table_name", table.name.as_str().into()),
                    ("column_name", column.name.as_str().into()),
                    ("ordinal_position", V::Int(i as i64 + 1)),
                    ("position_in_unique_constraint", position),
                ]);
            }
        }
    }
    Ok(())
}
