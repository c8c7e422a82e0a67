//! The relations of `pg_catalog` that tell what goes on: settings, sessions, statistics.

use super::cell::{Table, V};
use super::pg_catalog::{DATABASE, OWNER, indexes, schema_of, tables};
use crate::exec::StatementContext;
use crate::session::settings::value::unit_name;
use crate::session::settings::{Kind, SETTINGS};
use stoa_pg::PgResult;

/// Fills a relation; those that no file knows stay empty.
pub fn fill(ctx: &StatementContext, name: &str, t: &mut Table<'_>) -> PgResult<()> {
    match name {
        "pg_settings" => {
            let (now, reset) = (ctx.session.settings(), ctx.session.reset_settings());
            for setting in SETTINGS.iter().filter(|s| !s.hidden) {
                let value = match setting.name {
                    // These are the transaction's.
                    "transaction_isolation" | "transaction_read_only" | "transaction_deferrable" => ctx.session.show(setting.name),
                    name => now.raw(name).map(str::to_owned),
                };
                let (vartype, unit, min, max) = match setting.kind {
                    Kind::Bool => ("bool", "", V::Null, V::Null),
                    Kind::Text => ("string", "", V::Null, V::Null),
                    Kind::Enum(_) => ("enum", "", V::Null, V::Null),
                    Kind::Integer { min, max, unit } => ("integer", unit_name(unit), min.to_string().into(), max.to_string().into()),
                    Kind::Real { min, max, unit } => {
                        let max = if max == f64::MAX { "1.79769e+308".to_owned() } else { max.to_string() };
                        ("real", unit_name(unit), min.to_string().into(), max.into())
                    }
                };
                let words = match setting.kind {
                    Kind::Enum(words) => V::Texts(words.iter().map(|w| (*w).to_owned()).collect()),
                    _ => V::Null,
                };
                let source = if !now.is_set(setting.name) {
                    "default"
                } else if now.raw(setting.name) == reset.raw(setting.name) {
                    "client"
                } else {
                    "session"
                };
                t.row(vec![
                    ("name", setting.name.into()),
                    ("setting", value.into()),
                    ("unit", if unit.is_empty() { V::Null } else { unit.into() }),
                    ("category", setting.category.into()),
                    ("short_desc", setting.description.into()),
                    ("extra_desc", if setting.effect { V::Null } else { "Accepted for compatibility; it changes nothing in Stoa.".into() }),
                    ("context", setting.context.name().into()),
                    ("vartype", vartype.into()),
                    ("source", source.into()),
                    ("min_val", min),
                    ("max_val", max),
                    ("enumvals", words),
                    ("boot_val", setting.default.into()),
                    ("reset_val", reset.raw(setting.name).map(str::to_owned).into()),
                    ("pending_restart", false.into()),
                ]);
            }
        }
        "pg_prepared_statements" => {
            for p in ctx.session.prepared.lock().iter() {
                t.row(vec![
                    ("name", p.name.as_str().into()),
                    ("statement", p.statement.to_string().into()),
                    ("prepare_time", V::Time(p.prepare_time_us)),
                    ("parameter_types", V::Oids(p.parameter_types.iter().map(|ty| ty.ty.oid()).collect())),
                    ("from_sql", p.from_sql.into()),
                    ("generic_plans", V::Int(0)),
                    ("custom_plans", V::Int(0)),
                ]);
            }
        }
        "pg_cursors" => {
            for c in ctx.session.cursors.lock().iter() {
                t.row(vec![
                    ("name", c.name.as_str().into()),
                    ("statement", c.statement.to_string().into()),
                    ("is_holdable", c.is_holdable.into()),
                    ("is_binary", c.is_binary.into()),
                    ("is_scrollable", c.is_scrollable.into()),
                    ("creation_time", V::Time(c.creation_time_us)),
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
                    ("client_addr", session.client_address.map(|a| a.ip().to_string()).into()),
                    ("client_port", session.client_address.map_or(V::Null, |a| V::Int(i64::from(a.port())))),
                    ("backend_start", V::Time(session.started_us)),
                    ("query_start", time(activity.query_start_us)),
                    ("xact_start", time(activity.transaction_start_us)),
                    ("state_change", time(activity.state_change_us)),
                    ("state", activity.state.name().into()),
                    ("query", activity.query.to_string().into()),
                    ("backend_type", "client backend".into()),
                ]);
            }
        }
        "pg_stat_user_tables" | "pg_stat_all_tables" | "pg_statio_user_tables" => {
            for table in tables(ctx) {
                t.row(vec![
                    ("relid", V::Oid(table.oid)),
                    ("schemaname", schema_of(ctx, table.schema).into()),
                    ("relname", table.name.as_str().into()),
                ]);
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

/// 0 where there is none.
fn time(us: i64) -> V {
    if us == 0 { V::Null } else { V::Time(us) }
}
