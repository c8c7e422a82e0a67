//! The relations of `pg_catalog` that tell what goes on: settings, sessions, statistics.

use super::cell::{Table, V};
use super::pg_catalog::{DATABASE, indexed, indexes, schema_of, tables};
use stoa_exec::environment::session::ActivityState;
use stoa_exec::nodes::StatementContext;
use stoa_exec::settings::value::unit_name;
use stoa_exec::settings::{Kind, SETTINGS};
use stoa_pg::PgResult;
use stoa_pg::values::timezone;
use stoa_sql::catalog::names::OWNER;
use stoa_table::statistics::ColumnValues;
use stoa_table::txn::GroupId;
use stoa_table::txn::locks::LockId;

/// Fills a relation; those that no file knows stay empty.
pub fn fill(ctx: &StatementContext, name: &str, t: &mut Table<'_>) -> PgResult<()> {
    match name {
        "pg_timezone_names" => {
            let now = ctx.eval.transaction_time;
            for (name, zone) in timezone::names().iter().filter_map(|name| timezone::named(name)) {
                let (offset, is_dst, abbreviation) = timezone::offset_info(&zone, now);
                t.row(vec![
                    ("name", name.into()),
                    ("abbrev", abbreviation.into()),
                    ("utc_offset", V::Span(i64::from(offset) * 1_000_000)),
                    ("is_dst", is_dst.into()),
                ]);
            }
        }
        "pg_timezone_abbrevs" => {
            for (name, offset, is_dst) in timezone::abbreviations_at(ctx.eval.transaction_time) {
                t.row(vec![("abbrev", name.into()), ("utc_offset", V::Span(i64::from(offset) * 1_000_000)), ("is_dst", is_dst.into())]);
            }
        }
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
                let waits = ctx.txn.manager().locks().waits_for(GroupId(u64::from(session.pid)));
                let (wait_type, wait_event) = match waits {
                    Some(id) => ("Lock".into(), lock_type(id).into()),
                    None if activity.state == ActivityState::Active => (V::Null, V::Null),
                    None => ("Client".into(), "ClientRead".into()),
                };
                t.row(vec![
                    ("wait_event_type", wait_type),
                    ("wait_event", wait_event),
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
        "pg_locks" => locks(ctx, t),
        "pg_stat_user_tables" | "pg_stat_all_tables" | "pg_statio_user_tables" => {
            for table in tables(ctx) {
                let known = ctx.database.statistics.of(table.oid);
                let explicit = known.as_ref().is_some_and(|s| s.explicit);
                t.row(vec![
                    ("relid", V::Oid(table.oid)),
                    ("schemaname", schema_of(ctx, table.schema).into()),
                    ("relname", table.name.as_str().into()),
                    ("n_live_tup", V::Int(known.as_ref().map_or(0, |s| s.rows as i64))),
                    ("n_mod_since_analyze", V::Int(i64::try_from(ctx.database.statistics.changed(table.oid)).unwrap_or(i64::MAX))),
                    (
                        if explicit { "last_analyze" } else { "last_autoanalyze" },
                        known.as_ref().map_or(V::Null, |s| V::Time(s.collected_us)),
                    ),
                ]);
            }
        }
        "pg_stat_progress_create_index" => {
            for build in ctx.database.builds.list() {
                t.row(vec![
                    ("pid", V::Int(i64::from(build.pid))),
                    ("datid", V::Oid(DATABASE)),
                    ("datname", "stoa".into()),
                    ("relid", V::Oid(build.table)),
                    ("index_relid", V::Oid(build.index)),
                    ("command", build.command.into()),
                    ("phase", build.phase.into()),
                    ("tuples_total", V::Int(i64::try_from(build.rows_total).unwrap_or(i64::MAX))),
                    ("tuples_done", V::Int(i64::try_from(build.rows_done).unwrap_or(i64::MAX))),
                ]);
            }
        }
        "pg_stats" => {
            for table in tables(ctx) {
                let Some(known) = ctx.database.statistics.of(table.oid) else { continue };
                for column in table.visible_columns() {
                    if let Some(values) = known.column_values(column.id) {
                        t.row(column_row(schema_of(ctx, table.schema), &table.name, &column.name, values));
                    }
                }
            }
        }
        "pg_stat_user_indexes" | "pg_stat_all_indexes" => {
            for owner in indexed(ctx) {
                for index in indexes(&owner.table) {
                    t.row(vec![
                        ("relid", V::Oid(owner.oid)),
                        ("indexrelid", V::Oid(index.oid)),
                        ("schemaname", schema_of(ctx, owner.table.schema).into()),
                        ("relname", owner.name.as_str().into()),
                        ("indexrelname", index.name.into()),
                    ]);
                }
            }
        }
        "pg_stat_index_check" => {
            let count = |n: u64| V::Int(i64::try_from(n).unwrap_or(i64::MAX));
            for table in tables(ctx) {
                for index in table.indexes.iter().filter(|i| !i.is_fulltext()) {
                    let mut row = vec![
                        ("relid", V::Oid(table.oid)),
                        ("indexrelid", V::Oid(index.oid)),
                        ("schemaname", schema_of(ctx, table.schema).into()),
                        ("relname", table.name.as_str().into()),
                        ("indexrelname", index.name.as_str().into()),
                        ("checks", V::Int(0)),
                        ("faults_ever", V::Int(0)),
                    ];
                    if let Some(check) = ctx.database.checks.of(index.oid) {
                        row.truncate(5);
                        row.extend([
                            ("last_check", V::Time(check.ended_us)),
                            ("background", V::Bool(check.background)),
                            ("duration_ms", V::Int(check.duration_us / 1000)),
                            ("entries", count(check.entries)),
                            ("ranges", count(check.ranges)),
                            ("faults", count(check.faults)),
                            ("failure", check.failure.into()),
                            ("checks", count(check.checks)),
                            ("faults_ever", count(check.faults_ever)),
                        ]);
                    }
                    t.row(row);
                }
            }
        }
        "pg_stat_fulltext" => {
            let lags = ctx.database.text.feed().lag();
            for table in tables(ctx) {
                for index in table.indexes.iter().filter(|i| i.is_fulltext()) {
                    let Some(text) = ctx.database.text.get(index.storage) else { continue };
                    let lag = lags.iter().find(|l| l.table == table.storage && l.reader == index.storage.0);
                    let count = |n: u64| V::Int(i64::try_from(n).unwrap_or(i64::MAX));
                    let (state, reason) = match text.condition() {
                        stoa_exec::fulltext::Condition::Building => ("building", V::Null),
                        stoa_exec::fulltext::Condition::Ready(_) => ("ready", V::Null),
                        stoa_exec::fulltext::Condition::Broken(why) => ("broken", why.into()),
                    };
                    let generation = text.files().map(|f| f.generation());
                    let of = |f: &dyn Fn(&stoa_fulltext::Generation) -> u64| generation.as_ref().map_or(V::Null, |g| count(f(g)));
                    t.row(vec![
                        ("relid", V::Oid(table.oid)),
                        ("indexrelid", V::Oid(index.oid)),
                        ("schemaname", schema_of(ctx, table.schema).into()),
                        ("relname", table.name.as_str().into()),
                        ("indexrelname", index.name.as_str().into()),
                        ("state", state.into()),
                        ("reason", reason),
                        ("rows_built", count(text.progress())),
                        ("documents", of(&|g| g.documents())),
                        ("segments", of(&|g| g.segments() as u64)),
                        ("bytes", of(&|g| g.bytes())),
                        ("lag_commits", lag.map_or(V::Null, |l| count(l.commits))),
                        ("lag_rows", lag.map_or(V::Null, |l| count(l.keys))),
                        ("lag_ms", lag.map_or(V::Null, |l| count(u64::try_from(l.age.as_millis()).unwrap_or(u64::MAX)))),
                        ("feed_bytes", lag.map_or(V::Null, |l| count(l.bytes))),
                    ]);
                }
            }
        }
        _ => {}
    }
    Ok(())
}

/// What a lock is on, as `pg_locks.locktype` says it.
fn lock_type(id: LockId) -> &'static str {
    match id {
        // Who waits for a row waits for the transaction that has it.
        LockId::Row(_) => "transactionid",
        LockId::Table(_) => "relation",
        LockId::Advisory(1 | 2, _) => "advisory",
        LockId::Advisory(..) => "object",
    }
}

/// Locks of tables and advisory keys, the transactions of sessions, and what is waited for.
fn locks(ctx: &StatementContext, t: &mut Table<'_>) {
    let manager = ctx.txn.manager();
    let running = manager.running();
    let virtual_id = |group: GroupId| {
        let id = running.iter().find(|(g, _)| *g == group).map_or(0, |(_, id)| *id);
        format!("{}/{id}", group.0)
    };
    let pid = |group: GroupId| i64::try_from(group.0).map_or(V::Null, V::Int);
    for (group, id) in &running {
        for (kind, column, value) in [
            ("virtualxid", "virtualxid", V::Text(virtual_id(*group))),
            ("transactionid", "transactionid", V::Oid(u32::try_from(*id).unwrap_or(u32::MAX))),
        ] {
            t.row(vec![
                ("locktype", kind.into()),
                (column, value),
                ("virtualtransaction", virtual_id(*group).into()),
                ("pid", pid(*group)),
                ("mode", "ExclusiveLock".into()),
                ("granted", true.into()),
                ("fastpath", (kind == "virtualxid").into()),
            ]);
        }
    }
    for lock in manager.locks().overview() {
        let mut cells: Vec<(&str, V)> = vec![
            ("locktype", lock_type(lock.id).into()),
            ("virtualtransaction", virtual_id(lock.group).into()),
            ("pid", pid(lock.group)),
            ("mode", lock.mode_name().into()),
            ("granted", lock.granted.into()),
            ("fastpath", false.into()),
        ];
        match lock.id {
            LockId::Row(_) => {
                let blocker = manager.locks().blockers(lock.group).into_iter().next();
                let id = blocker.and_then(|b| running.iter().find(|(g, _)| *g == b)).map(|(_, id)| *id);
                cells.push(("transactionid", id.and_then(|id| u32::try_from(id).ok()).map_or(V::Null, V::Oid)));
            }
            LockId::Table(oid) => cells.extend([("database", V::Oid(DATABASE)), ("relation", V::Oid(oid))]),
            LockId::Advisory(kind, key) => {
                let (high, low) = ((key >> 32) as u32, key as u32);
                cells.extend([
                    ("database", V::Oid(DATABASE)),
                    ("classid", V::Oid(high)),
                    ("objid", V::Oid(low)),
                    ("objsubid", V::Int(i64::from(kind))),
                ]);
            }
        }
        t.row(cells);
    }
}

/// 0 where there is none.
fn time(us: i64) -> V {
    if us == 0 { V::Null } else { V::Time(us) }
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
