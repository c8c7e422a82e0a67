//! `referential_constraints`: the foreign keys, with the keys that they refer to.

use super::super::builder::{Builder, V};
use super::super::objects::{foreign_keys, schema_of, tables};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_table::catalog::{ForeignKeyAction, IndexKey, TableDescriptor};

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
    for table in tables(ctx) {
        for key in foreign_keys(&table) {
            let referenced = ctx.catalog.table(key.referenced_table);
            let unique = referenced.and_then(|r| unique_name(r, &key.referenced_columns));
            t.row(vec![
                ("constraint_catalog", ctx.catalog.database_name().into()),
                ("constraint_schema", schema_of(ctx, table.schema).into()),
                ("constraint_name", key.name.name.as_str().into()),
                ("unique_constraint_catalog", ctx.catalog.database_name().into()),
                ("unique_constraint_schema", referenced.map(|r| schema_of(ctx, r.schema)).into()),
                ("unique_constraint_name", unique.into()),
                ("match_option", if key.match_full { "FULL" } else { "NONE" }.into()),
                ("update_rule", rule(key.on_update)),
                ("delete_rule", rule(key.on_delete)),
            ]);
        }
    }
    Ok(())
}

fn unique_name(table: &TableDescriptor, columns: &[stoa_table::catalog::ColumnId]) -> Option<String> {
    let key: Vec<_> = table.key_columns().map(|p| p.column).collect();
    if let Some(p) = &table.primary_key
        && key.len() == columns.len()
        && columns.iter().all(|c| key.contains(c))
    {
        return Some(p.name.clone());
    }
    table
        .indexes
        .iter()
        .find(|i| {
            i.unique
                && i.parts.len() == columns.len()
                && i.parts.iter().all(|p| matches!(&p.key, IndexKey::Column(c) if columns.contains(c)))
        })
        .map(|i| i.name.clone())
}
