//! What functions may ask of the session and the catalog around them: the [`System`] of a statement.

use super::settings::{self, value};
use super::shared::SessionShared;
use crate::catalog::{CatalogSnapshot, Oid};
use crate::database::DatabaseInner;
use crate::txn::Transaction;
use datafusion::common::ScalarValue;
use std::sync::Arc;
use stoa_pg::context::System;
use stoa_pg::{PgError, PgResult, SqlState, SqlType};

/// The surroundings of one statement's functions.
pub struct SessionSystem {
    pub database: Arc<DatabaseInner>,
    pub session: Arc<SessionShared>,
    pub catalog: Arc<CatalogSnapshot>,
    pub search_path: Arc<[Oid]>,
    pub txn: Arc<Transaction>,
}

impl std::fmt::Debug for SessionSystem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionSystem").field("pid", &self.session.pid).finish_non_exhaustive()
    }
}

impl System for SessionSystem {
    fn relation_name(&self, oid: u32) -> Option<String> {
        crate::virtual_tables::relation_name(self, oid)
    }

    fn relation_oid(&self, name: &str) -> PgResult<Option<u32>> {
        crate::virtual_tables::relation_oid(self, name)
    }

    fn schema_name(&self, oid: u32) -> Option<String> {
        crate::virtual_tables::schema_name(self, oid)
    }

    fn schema_oid(&self, name: &str) -> Option<u32> {
        crate::virtual_tables::schema_oid(self, name)
    }

    fn call(&self, function: &str, args: &[ScalarValue], result: &SqlType) -> PgResult<ScalarValue> {
        match session_function(self, function, args) {
            Some(out) => out.and_then(|value| value.cast_to(&result.arrow).map_err(|e| PgError::internal(e.to_string()))),
            None => crate::virtual_tables::call(self, function, args, result),
        }
    }
}

/// Functions about the session itself; `None` for others.
fn session_function(system: &SessionSystem, function: &str, args: &[ScalarValue]) -> Option<PgResult<ScalarValue>> {
    let session = &system.session;
    let text = |at: usize| args.get(at).and_then(|v| v.try_as_str().flatten()).map(str::to_owned);
    let boolean = |at: usize| matches!(args.get(at), Some(ScalarValue::Boolean(Some(true))));
    let integer = |at: usize| match args.get(at) {
        Some(ScalarValue::Int32(Some(n))) => Some(i64::from(*n)),
        Some(ScalarValue::Int64(n)) => *n,
        _ => None,
    };
    let string = |value: Option<String>| Some(Ok(ScalarValue::Utf8View(value)));
    let truth = |value: bool| Some(Ok(ScalarValue::Boolean(Some(value))));
    match function {
        "pg_backend_pid" => Some(Ok(ScalarValue::Int32(i32::try_from(session.pid).ok()))),
        "current_user" | "user" | "current_role" => string(Some(session.current_user())),
        "session_user" => string(Some(session.session_user.clone())),
        "current_database" | "current_catalog" => string(Some(session.database.clone())),
        "current_query" => string(Some(session.activity().query.to_string())),
        "current_setting" => Some(match text(0) {
            None => Ok(ScalarValue::Utf8View(None)),
            Some(name) => match session.show(&name) {
                Some(value) => Ok(ScalarValue::Utf8View(Some(value))),
                None if boolean(1) => Ok(ScalarValue::Utf8View(None)),
                None => Err(settings::unrecognized(&name)),
            },
        }),
        "set_config" => Some(set_config(session, text(0), text(1), boolean(2))),
        "pg_notify" => {
            Some(session.outgoing.lock().notify(&text(0).unwrap_or_default(), &text(1).unwrap_or_default()).map(|()| ScalarValue::Null))
        }
        "pg_cancel_backend" => {
            let target = integer(0).and_then(|pid| u32::try_from(pid).ok()).and_then(|pid| system.database.session(pid));
            if let Some(target) = &target {
                target.cancel();
            } else {
                missing_process(session, integer(0));
            }
            truth(target.is_some())
        }
        "pg_terminate_backend" => {
            let target = integer(0).and_then(|pid| u32::try_from(pid).ok()).and_then(|pid| system.database.session(pid));
            if let Some(target) = &target {
                target.terminate();
            } else {
                missing_process(session, integer(0));
            }
            truth(target.is_some())
        }
        "pg_is_in_recovery" => truth(false),
        "pg_postmaster_start_time" => Some(Ok(timestamp(system.database.started_us))),
        "pg_conf_load_time" => Some(Ok(timestamp(system.database.started_us))),
        "inet_client_addr" => string(session.client_address.map(|a| a.ip().to_string())),
        "inet_client_port" => Some(Ok(ScalarValue::Int32(session.client_address.map(|a| i32::from(a.port()))))),
        "pg_my_temp_schema" => Some(Ok(ScalarValue::UInt32(Some(session.temporary_schema().unwrap_or(0))))),
        _ => None,
    }
}

fn timestamp(us: i64) -> ScalarValue {
    ScalarValue::TimestampMicrosecond(Some(us), Some("UTC".into()))
}

fn missing_process(session: &SessionShared, pid: Option<i64>) {
    session.warning(SqlState::WARNING, format!("PID {} is not a PostgreSQL server process", pid.unwrap_or(0)));
}

fn set_config(session: &SessionShared, name: Option<String>, new: Option<String>, local: bool) -> PgResult<ScalarValue> {
    let Some(name) = name else {
        return Err(PgError::new(SqlState::NULL_VALUE_NOT_ALLOWED, "SET requires parameter name"));
    };
    let lower = name.to_ascii_lowercase();
    if matches!(
        lower.as_str(),
        "transaction_isolation" | "transaction_read_only" | "transaction_deferrable" | "role" | "session_authorization"
    ) {
        return Err(PgError::unsupported(format!("set_config cannot change {name}")).hint("Use SET."));
    }
    session.change_settings(|levels| levels.set(&name, new.as_deref(), local))?;
    Ok(ScalarValue::Utf8View(session.show(&name)))
}

/// The name of a relation with its schema where the search path does not find it, quoted where needed.
#[must_use]
pub fn qualified_name(schema: Option<&str>, name: &str) -> String {
    match schema {
        Some(schema) => format!("{}.{}", value::quote_identifier(schema), value::quote_identifier(name)),
        None => value::quote_identifier(name),
    }
}
