//! The relations of `pg_catalog` that tell what goes on: settings, sessions, statistics.

use super::cell::{Table, V};
use super::pg_catalog::{DATABASE, OWNER, indexes, schema_of, tables};
use crate::exec::StatementContext;
use stoa_pg::PgResult;

/// Fills a relation; those that no file knows stay empty.
pub fn fill(ctx: &StatementContext, name: &str, t: &mut Table<'_>) -> PgResult<()> {
    match name {
        "pg_settings" => {
            for (name, value, description) in ctx.session.all_settings() {
                t.row(vec![
                    ("name", name.as_str().into()),
                    ("setting", value.as_str().into()),
                    ("category", "".into()),
                    ("short_desc", description.into()),
                    ("context", "user".into()),
                    ("vartype", "string".into()),
                    ("source", "default".into()),
                    ("boot_val", value.as_str().into()),
                    ("reset_val", value.into()),
                    ("pending_restart", false.into()),
                ]);
            }
        }
        "pg_stat_activity" => {
            for session in ctx.database.sessions() {
                let activity = session.activity();
                t.row(vec![
                    ("datid", V::Oid(DATABASE)),
                    ("datname", "stoa".into()),
                    ("pid", V::Int(i64::from(session.pid))),
                    ("usesysid", V::Oid(OWNER)),
                    ("usename", session.current_user().into()),
                    ("application_name", session.show("application_name").unwrap_or_default().into()),
                    ("backend_start", V::Time(session.started_us)),
                    ("query_start", activity.query_started_us.map_or(V::Null, V::Time)),
                    ("xact_start", activity.transaction_started_us.map_or(V::Null, V::Time)),
                    ("state_change", V::Time(activity.changed_us)),
                    ("state", activity.state.name().into()),
                    ("query", activity.query.to_string().into()),
                    ("backend_type", "client backend".into()),
                ]);
            }
        }
        "pg_stat_user_tables" | "pg_stat_all_tables" | "pg_statio_user_tables" => {
            for table in tables(ctx) {
                t.row(vec![("relid", V::Oid(table.oid)), ("schemaname", schema_of(ctx, table.schema).into()), ("relname", table.name.as_str().into())]);
            }
        }
        "pg_stat_user_indexes" | "pg_stat_all_indexes" => {
            for table in tables(ctx) {
                for index in indexes(&table) {
                    t.row(vec![
                        ("relid", V::Oid(table.oid)),
                        ("indexrelid", V::Oid(index.oid)),
                        ("schemaname", schema_of(ctx, table.schema).into()),
                        ("relname", table.name.as_str().into()),
                        ("indexrelname", index.name.into()),
                    ]);
                }
            }
        }
        _ => {}
    }
    Ok(())
}
