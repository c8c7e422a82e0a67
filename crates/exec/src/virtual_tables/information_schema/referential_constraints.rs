//! `referential_constraints`: the foreign keys, with the keys that they refer to.

use super::super::builder::{Builder, V};
use super::super::objects::{foreign_keys, schema_of, tables};
use super::referenced_key;
use super::shown::are_constraints_shown;
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_table::catalog::ForeignKeyAction;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    let rule = |a: ForeignKeyAction| {
        V::from(match a {
            ForeignKeyAction::NoAction => "NO ACTION",
            ForeignKeyAction::Restrict => "RESTRICT",
            ForeignKeyAction::Cascade => "CASCADE",
            ForeignKeyAction::SetNull => "SET NULL",
            ForeignKeyAction::SetDefault => "SET DEFAULT",
        })
    };
    for table in tables(ctx).into_iter().filter(|table| are_constraints_shown(ctx, table.oid)) {
        for key in foreign_keys(&table) {
            // A unique index that is no constraint has no name here.
            let referenced = ctx.catalog.table(key.referenced_table);
            let unique = referenced.and_then(|r| Some((r, referenced_key(r, &key.referenced_columns)?.1?)));
            t.row(vec![
                ("constraint_catalog", ctx.catalog.database_name().into()),
                ("constraint_schema", schema_of(ctx, table.schema).into()),
                ("constraint_name", key.name.name.as_str().into()),
                ("unique_constraint_catalog", unique.map(|_| ctx.catalog.database_name().to_owned()).into()),
                ("unique_constraint_schema", unique.map(|(r, _)| schema_of(ctx, r.schema)).into()),
                ("unique_constraint_name", unique.map(|(_, name)| name.to_owned()).into()),
                ("match_option", if key.match_full { "FULL" } else { "NONE" }.into()),
                ("update_rule", rule(key.on_update)),
                ("delete_rule", rule(key.on_delete)),
            ]);
        }
    }
    Ok(())
}
