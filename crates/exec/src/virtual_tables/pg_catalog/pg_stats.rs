//! `pg_stats`: what statistics say of columns.

use super::super::builder::{Builder, V};
use super::super::objects::{schema_of, tables};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_table::catalog::policy::hides_rows;
use stoa_table::catalog::{ColumnId, ObjectClass, Oid, Privileges, RightsOf};
use stoa_table::statistics::ColumnValues;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for table in tables(ctx) {
        let Some(known) = ctx.database.statistics.of(table.oid) else { continue };
        // They are values of rows, of any.
        if hides_rows(&ctx.catalog, ctx.role, &table) {
            continue;
        }
        for column in table.visible_columns().filter(|column| may_read(ctx, table.oid, column.id)) {
            if let Some(values) = known.column_values(column.id) {
                t.row(column_row(schema_of(ctx, table.schema), &table.name, &column.name, values));
            }
        }
    }
    Ok(())
}

/// Whether the current role may read a column.
fn may_read(ctx: &StatementContext, table: Oid, column: ColumnId) -> bool {
    let authority = ctx.catalog.authority();
    authority.may(ctx.role, ObjectClass::Table, RightsOf::Relation(table), Privileges::SELECT)
        || !authority.column_privileges(ctx.role, table, column, Privileges::SELECT, Privileges::NONE).0.is_empty()
}

/// A row of `pg_stats`.
fn column_row(schema: String, table: &str, column: &str, values: &ColumnValues) -> Vec<(&'static str, V)> {
    let texts = |list: Vec<String>| if list.is_empty() { V::Null } else { V::Texts(list) };
    vec![
        ("schemaname", schema.into()),
        ("tablename", table.into()),
        ("attname", column.into()),
        ("inherited", false.into()),
        ("null_frac", V::Float(values.null_share)),
        ("avg_width", V::Int(values.width as i64)),
        ("n_distinct", V::Float(values.distinct)),
        ("most_common_vals", texts(values.common.iter().map(|(v, _)| v.text.clone()).collect())),
        (
            "most_common_freqs",
            if values.common.is_empty() { V::Null } else { V::Floats(values.common.iter().map(|(_, share)| *share as f32).collect()) },
        ),
        ("histogram_bounds", texts(values.histogram.iter().map(|v| v.text.clone()).collect())),
        ("correlation", values.correlation.map_or(V::Null, V::Float)),
    ]
}
