//! Functions about the session, its transaction and its server, called for one row.

use super::cursor_row;
use arrow::array::StringViewArray;
use datafusion::common::ScalarValue;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use stoa_exec::environment::SessionEnvironment;
use stoa_exec::environment::waiting;
use stoa_exec::settings;
use stoa_exec::settings::server::check_may_examine;
use stoa_pg::values::array::array_of_elements;
use stoa_pg::values::datetime::epoch::from_clock;
use stoa_pg::values::interval::Interval;
use stoa_pg::{PgError, PgResult, PgType, SqlState, SqlType};
use stoa_sql::bind::dml::KEY_OF_CURRENT_ROW;
use stoa_sql::catalog::names::role_name;
use stoa_sql::privileges::check_disturb;
use stoa_table::catalog::Oid;
use stoa_table::services::Signal;
use stoa_table::services::locks::Wait;
use stoa_table::txn::advisory::AdvisoryKey;

/// The function's value; `None` for functions that are not about the session.
pub(super) fn call(system: &SessionEnvironment, function: &str, args: &[ScalarValue]) -> Option<PgResult<ScalarValue>> {
    let session = &*system.session;
    let txn_id = || ScalarValue::Int64(i64::try_from(system.txn.id()).ok());
    Some(match function {
        KEY_OF_CURRENT_ROW => cursor_row::key_part(system, args),
        "version" => text(Some(version())),
        "current_database" | "current_catalog" => text(Some(session.database.clone())),
        "current_schema" => text(schemas(system, false).into_iter().next()),
        "current_schemas" => names(schemas(system, boolean(args, 0))),
        "current_user" | "current_role" | "user" | "getpgusername" => text(Some(role_name(&system.catalog, system.role))),
        "session_user" => text(Some(role_name(&system.catalog, session.session_role()))),
        "current_query" => text(Some(session.activity().query.to_string())),
        "current_setting" => current_setting(system, args),
        "set_config" => set_config(system, args),
        "pg_settings_get_flags" => flags(string(args, 0)),
        "pg_backend_pid" => Ok(ScalarValue::Int32(i32::try_from(session.pid).ok())),
        "inet_client_addr" => text(session.client.address.map(|a| a.ip().to_string())),
        "inet_client_port" => Ok(ScalarValue::Int32(session.client.address.map(|a| i32::from(a.port())))),
        "inet_server_addr" => text(session.client.server_address.map(|a| a.ip().to_string())),
        "inet_server_port" => Ok(ScalarValue::Int32(session.client.server_address.map(|a| i32::from(a.port())))),
        "pg_postmaster_start_time" => time(system.database.started_us),
        "pg_conf_load_time" => time(system.database.configured_us.load(Ordering::Relaxed)),
        "getdatabaseencoding" => text(Some("UTF8".into())),
        "pg_my_temp_schema" => Ok(ScalarValue::UInt32(Some(session.temporary_schema().unwrap_or(0)))),
        "pg_is_other_temp_schema" => Ok(truth(is_other_temporary(system, args))),
        "pg_trigger_depth" => Ok(ScalarValue::Int32(Some(0))),
        "pg_jit_available" | "pg_is_in_recovery" => Ok(truth(false)),
        "pg_is_wal_replay_paused" => Err(PgError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, "recovery is not in progress")
            .hint("Recovery control functions can only be executed during recovery.")),
        "pg_reload_conf" => {
            if let Some(server) = system.database.server.get() {
                server.reload();
            }
            Ok(truth(true))
        }
        "pg_notification_queue_usage" => Ok(ScalarValue::Float64(Some(0.0))),
        "pg_notify" => {
            let (channel, payload) = (string(args, 0).unwrap_or_default(), string(args, 1).unwrap_or_default());
            session.outgoing.lock().notify(&channel, &payload).map(|()| ScalarValue::Null)
        }
        "pg_listening_channels" => names(system.database.tables.services().sessions().channels(session.pid)),
        "pg_cancel_backend" => signal(system, args, Signal::Cancel),
        "pg_terminate_backend" => signal(system, args, Signal::Terminate),
        "pg_sleep" | "pg_sleep_for" | "pg_sleep_until" => sleep(system, args.first()),
        "pg_export_snapshot" => system.txn.lend_snapshot().map(|name| ScalarValue::Utf8View(Some(name))),
        "txid_current" | "pg_current_xact_id" => {
            system.txn.assign_id();
            Ok(txn_id())
        }
        // As in PostgreSQL, numbers below those of transactions are older than anything.
        "age" => Ok(ScalarValue::Int32(match args.first() {
            Some(ScalarValue::UInt32(Some(xid))) if *xid < 3 => Some(i32::MAX),
            Some(ScalarValue::UInt32(Some(xid))) => Some((system.txn.id() as u32).wrapping_sub(*xid) as i32),
            _ => None,
        })),
        "txid_current_if_assigned" | "pg_current_xact_id_if_assigned" => {
            Ok(if system.txn.is_id_assigned() { txn_id() } else { ScalarValue::Int64(None) })
        }
        function if function.starts_with("pg_advisory_") || function.starts_with("pg_try_advisory_") => advisory(system, function, args),
        _ => return None,
    })
}

/// What `version()` says; clients look for `PostgreSQL` and a number.
#[must_use]
pub fn version() -> String {
    format!("PostgreSQL 15.20 (Stoa {}) on {}-linux, 64-bit", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH)
}

fn text(value: Option<String>) -> PgResult<ScalarValue> {
    Ok(ScalarValue::Utf8View(value))
}

/// Of microseconds since 1970.
fn time(us: i64) -> PgResult<ScalarValue> {
    Ok(ScalarValue::TimestampMicrosecond(Some(from_clock(us)), Some("UTC".into())))
}

fn truth(value: bool) -> ScalarValue {
    ScalarValue::Boolean(Some(value))
}

fn names(values: Vec<String>) -> PgResult<ScalarValue> {
    array_of_elements(Arc::new(StringViewArray::from_iter_values(values)))
}

fn string(args: &[ScalarValue], at: usize) -> Option<String> {
    args.get(at)?.try_as_str().flatten().map(str::to_owned)
}

fn boolean(args: &[ScalarValue], at: usize) -> bool {
    matches!(args.get(at), Some(ScalarValue::Boolean(Some(true))))
}

fn integer(args: &[ScalarValue], at: usize) -> Option<i64> {
    match args.get(at)? {
        ScalarValue::Int32(value) => value.map(i64::from),
        ScalarValue::Int64(value) => *value,
        ScalarValue::UInt32(value) => value.map(i64::from),
        _ => None,
    }
}

/// The schemas of the search path, with those that are there without being named if `implicit`.
fn schemas(system: &SessionEnvironment, implicit: bool) -> Vec<String> {
    let named = &system.session.settings().search_path;
    let user = role_name(&system.catalog, system.role);
    let temporary = system.session.temporary_schema();
    let is_named = |oid: Oid, name: &str| {
        named.iter().any(|n| n == name || (n == "$user" && name == user) || (n == "pg_temp" && temporary == Some(oid)))
    };
    let found = system.search_path.iter().filter_map(|oid| system.catalog.schema(*oid));
    let mut out: Vec<String> = found.filter(|s| implicit || is_named(s.oid, &s.name)).map(|s| s.name.clone()).collect();
    // PostgreSQL makes it for whoever names it first; here it is made with what is put into it.
    if temporary.is_none() && named.first().is_some_and(|n| n == "pg_temp") {
        let at = usize::from(out.first().is_some_and(|name| name == "pg_catalog"));
        out.insert(at, format!("pg_temp_{}", system.session.pid));
    }
    out
}

// Settings.

fn current_setting(system: &SessionEnvironment, args: &[ScalarValue]) -> PgResult<ScalarValue> {
    let Some(name) = string(args, 0) else { return Ok(ScalarValue::Utf8View(None)) };
    check_may_examine(system.catalog.authority(), system.role, &name)?;
    match system.session.show(&name) {
        Some(value) => text(Some(value)),
        None if boolean(args, 1) => text(None),
        None => Err(settings::unrecognized(&name)),
    }
}

fn set_config(system: &SessionEnvironment, args: &[ScalarValue]) -> PgResult<ScalarValue> {
    let (session, authority) = (&*system.session, system.catalog.authority());
    let Some(name) = string(args, 0) else {
        return Err(PgError::new(SqlState::NULL_VALUE_NOT_ALLOWED, "SET requires parameter name"));
    };
    if matches!(name.to_ascii_lowercase().as_str(), "transaction_isolation" | "transaction_read_only" | "transaction_deferrable") {
        return Err(PgError::unsupported(format!("set_config cannot change {name}")).hint("Use SET."));
    }
    let (value, local) = (string(args, 1), boolean(args, 2));
    match name.to_ascii_lowercase().as_str() {
        "role" => super::roles::set_role(session, authority, value.as_deref(), local)?,
        "session_authorization" => super::roles::set_session_authorization(session, authority, value.as_deref(), local)?,
        _ => {
            settings::levels::check_allowed(&name, authority.is_superuser(system.role))?;
            session.change_settings(|levels| levels.set(&name, value.as_deref(), local))?;
        }
    }
    text(session.show(&name))
}

fn flags(name: Option<String>) -> PgResult<ScalarValue> {
    let Some(setting) = name.as_deref().and_then(settings::find) else {
        let none = ScalarValue::try_from(&SqlType::new(PgType::Text.array_of()).arrow);
        return none.map_err(|error| PgError::internal(error.to_string()));
    };
    let mut out = Vec::new();
    if setting.category.starts_with("Query Tuning") && setting.name != "default_statistics_target"
        || matches!(setting.name, "work_mem" | "search_path" | "temp_buffers")
    {
        out.push("EXPLAIN".to_owned());
    }
    if setting.hidden {
        out.push("NO_SHOW_ALL".to_owned());
    }
    if matches!(setting.category, "Preset Options" | "Developer Options") {
        out.push("NOT_IN_SAMPLE".to_owned());
    }
    names(out)
}

// Other sessions.

fn is_other_temporary(system: &SessionEnvironment, args: &[ScalarValue]) -> bool {
    let schema = integer(args, 0).and_then(|oid| u32::try_from(oid).ok()).and_then(|oid| system.catalog.schema(oid));
    schema.is_some_and(|s| s.temporary.is_some() && Some(s.oid) != system.session.temporary_schema())
}

fn signal(system: &SessionEnvironment, args: &[ScalarValue], signal: Signal) -> PgResult<ScalarValue> {
    let pid = integer(args, 0);
    let known = match pid.and_then(|pid| u32::try_from(pid).ok()) {
        Some(pid) => {
            check_signal(system, pid, signal)?;
            let sessions = system.database.tables.services().sessions();
            waiting::answer(&system.session, async { Ok(sessions.signal(pid, signal).await) })?
        }
        None => false,
    };
    if !known {
        let message = format!("PID {} is not a PostgreSQL backend process", pid.unwrap_or(0));
        system.session.warning(SqlState::WARNING, message);
    }
    Ok(truth(known))
}

/// Whom the current role may disturb: sessions of roles whose rights it has, others but superusers' by `pg_signal_backend`.
fn check_signal(system: &SessionEnvironment, pid: u32, signal: Signal) -> PgResult<()> {
    let Some(session) = system.database.session(pid) else { return Ok(()) };
    check_disturb(system.catalog.authority(), system.role, session.login.oid, signal == Signal::Terminate)
}

// Waiting.

fn sleep(system: &SessionEnvironment, how_long: Option<&ScalarValue>) -> PgResult<ScalarValue> {
    let micros = match how_long {
        Some(ScalarValue::Float64(Some(seconds))) => (seconds * 1e6) as i64,
        Some(ScalarValue::IntervalMonthDayNano(Some(value))) => {
            let micros = Interval::from_arrow(*value).sort_value();
            i64::try_from(micros).unwrap_or(if micros < 0 { i64::MIN } else { i64::MAX })
        }
        Some(ScalarValue::TimestampMicrosecond(Some(at), _)) => at.saturating_sub(from_clock(system.database.tables.now_us())),
        _ => return Ok(ScalarValue::Null),
    };
    let Ok(micros) = u64::try_from(micros) else { return Ok(ScalarValue::Null) };
    waiting::sleep(&system.session, Duration::from_micros(micros))?;
    Ok(ScalarValue::Null)
}

// Advisory locks.

fn advisory(system: &SessionEnvironment, function: &str, args: &[ScalarValue]) -> PgResult<ScalarValue> {
    let locks = system.txn.advisory();
    if function == "pg_advisory_unlock_all" {
        locks.unlock_all();
        return Ok(ScalarValue::Null);
    }
    let key = match args {
        [ScalarValue::Int64(Some(key))] => AdvisoryKey::One(*key),
        [ScalarValue::Int32(Some(one)), ScalarValue::Int32(Some(two))] => AdvisoryKey::Two(*one, *two),
        _ => return Ok(ScalarValue::Null),
    };
    let shared = function.ends_with("_shared");
    let transaction = function.contains("_xact_");
    if function.starts_with("pg_advisory_unlock") {
        let held = locks.unlock(key, shared);
        if !held {
            let mode = if shared { "ShareLock" } else { "ExclusiveLock" };
            system.session.warning(SqlState::WARNING, format!("you don't own a lock of type {mode}"));
        }
        return Ok(truth(held));
    }
    let (at_once, deadlock_timeout) = (locks.try_lock(key, shared, transaction), system.txn.deadlock_timeout());
    if function.starts_with("pg_try_") {
        let asked = || locks.lock(key, shared, transaction, Wait::Never, deadlock_timeout);
        return Ok(truth(at_once.map_or_else(|| waiting::answer(&system.session, asked()), Ok)?));
    }
    if at_once != Some(true) {
        let work = async { locks.lock(key, shared, transaction, system.txn.lock_wait(), deadlock_timeout).await.map(|_| ()) };
        waiting::others(&system.session, work, || locks.try_lock(key, shared, transaction) == Some(true))?;
    }
    Ok(ScalarValue::Null)
}
