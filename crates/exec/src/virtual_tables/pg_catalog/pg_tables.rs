//! `pg_tables`: the tables, by name.

use super::super::builder::Builder;
use super::super::objects::{has_triggers, indexes, owner_name, referenced_tables, schema_of, tables};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_sql::system_relations as definitions;
use stoa_table::catalog::RightsOf;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    for definition in definitions::all().filter(|definition| definition.kind == "r") {
        if t.wants("tablename", definition.name.as_str()) {
            t.row(vec![
                ("schemaname", definition.schema.as_str().into()),
                ("tablename", definition.name.as_str().into()),
                ("tableowner", owner_name(ctx, RightsOf::Relation(definition.oid)).into()),
                ("hasindexes", false.into()),
                ("hasrules", false.into()),
                ("hastriggers", false.into()),
                ("rowsecurity", false.into()),
            ]);
        }
    }
    let referenced = referenced_tables(ctx);
    for table in tables(ctx).into_iter().filter(|table| table.entries_of.is_none()) {
        if !t.wants("tablename", table.name.as_str()) {
            continue;
        }
        t.row(vec![
            ("schemaname", schema_of(ctx, table.schema).into()),
            ("tablename", table.name.as_str().into()),
            ("tableowner", owner_name(ctx, RightsOf::Relation(table.oid)).into()),
            ("hasindexes", (!indexes(&table).is_empty()).into()),
            ("hasrules", false.into()),
            ("hastriggers", has_triggers(&table, &referenced).into()),
            ("rowsecurity", table.row_security.enabled.into()),
        ]);
    }
    Ok(())
}
