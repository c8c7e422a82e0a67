//! `pg_attrdef`: defaults of columns, and what generates them.

use super::super::builder::{Builder, V};
use super::super::objects::{attnum, attrdef_oid, tables_among};
use crate::environment::StatementContext;
use stoa_pg::PgResult;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for table in tables_among(ctx, t.oids("adrelid")) {
        for c in table.visible_columns() {
            if let Some(sql) = c.default.as_ref().or(c.generated.as_ref()) {
                t.row(vec![
                    ("oid", V::Oid(attrdef_oid(&table, c))),
                    ("adrelid", V::Oid(table.oid)),
                    ("adnum", attnum(c)),
                    ("adbin", sql.as_str().into()),
                ]);
            }
        }
    }
    Ok(())
}
