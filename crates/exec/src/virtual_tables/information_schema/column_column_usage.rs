//! `column_column_usage`: the columns that generated columns read.

use super::super::builder::Builder;
use super::super::objects::{schema_of, tables};
use super::shown::is_own;
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_sql::bind::{BindContext, bind_table_expr};
use stoa_sql::typed::tree::ColId;
use stoa_sql::typed::walk::columns_of;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for table in tables(ctx) {
        if !t.wants("table_name", table.name.as_str()) || !is_own(ctx, table.oid) {
            continue;
        }
        for column in table.visible_columns() {
            let Some(generated) = &column.generated else { continue };
            let bind = BindContext { catalog: &ctx.catalog, search_path: &ctx.search_path, eval: &ctx.eval, param_types: &[], text: "" };
            let mut used = Vec::new();
            columns_of(&bind_table_expr(&bind, &table, generated)?, &mut used);
            for read in table.visible_columns().filter(|c| used.contains(&ColId(c.id.0))) {
                t.row(vec![
                    ("table_catalog", ctx.catalog.database_name().into()),
                    ("table_schema", schema_of(ctx, table.schema).into()),
                    ("table_name", table.name.as_str().into()),
                    ("column_name", read.name.as_str().into()),
                    ("dependent_column", column.name.as_str().into()),
                ]);
            }
        }
    }
    Ok(())
}
