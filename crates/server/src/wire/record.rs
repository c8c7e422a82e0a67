//! What the logs have of sessions: roles and rights that change, statements that are refused, and who leaves.

use crate::access::Access;
use serde_json::{Map, Value, json};
use std::time::Duration;
use stoa_engine::environment::SessionShared;
use stoa_pg::{PgError, SqlState};

/// Command tags of what is about roles and rights.
const ABOUT_RIGHTS: &[&str] = &[
    "CREATE ROLE",
    "ALTER ROLE",
    "DROP ROLE",
    "GRANT",
    "REVOKE",
    "ALTER DEFAULT PRIVILEGES",
    "REASSIGN OWNED",
    "DROP OWNED",
    "CREATE POLICY",
    "ALTER POLICY",
    "DROP POLICY",
];

fn facts(session: &SessionShared) -> Map<String, Value> {
    let mut facts = Map::new();
    facts.insert("pid".into(), json!(session.pid));
    facts.insert("user".into(), json!(session.login.name));
    facts.insert("database".into(), json!(session.database));
    facts.extend(session.client.address.map(|address| ("address".to_owned(), json!(address.ip().to_canonical().to_string()))));
    facts
}

/// A statement is done.
pub fn done(access: &Access, session: &SessionShared, tag: &str) {
    let Some(audit) = access.audit() else { return };
    let about_rows = || tag == "ALTER TABLE" && session.activity().query.to_ascii_uppercase().contains("ROW LEVEL SECURITY");
    if ABOUT_RIGHTS.iter().any(|about| tag.starts_with(about)) || about_rows() {
        let mut facts = facts(session);
        facts.insert("role".into(), json!(session.current_user()));
        facts.insert("command".into(), json!(tag));
        facts.insert("statement".into(), json!(&*session.activity().query));
        audit.record("rights changed", facts);
    }
}

/// A statement has failed: tells of it if it was not allowed.
pub fn refused(access: &Access, session: &SessionShared, error: &PgError) {
    if error.code() != SqlState::INSUFFICIENT_PRIVILEGE {
        return;
    }
    if let Some(audit) = access.audit() {
        let mut facts = facts(session);
        facts.insert("role".into(), json!(session.current_user()));
        facts.insert("message".into(), json!(error.message()));
        facts.insert("statement".into(), json!(&*session.activity().query));
        audit.record("statement refused", facts);
    }
}

/// A session ends.
pub fn left(access: &Access, session: &SessionShared) {
    let us = access.now_us().saturating_sub(session.started_us);
    let time = Duration::from_micros(u64::try_from(us).unwrap_or(0));
    if session.settings().raw("log_disconnections") == Some("on") {
        let (seconds, millis) = (time.as_secs(), time.subsec_millis());
        let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        let host = session
            .client
            .address
            .map_or_else(|| "[local]".to_owned(), |address| format!("{} port={}", address.ip().to_canonical(), address.port()));
        tracing::info!(
            pid = session.pid,
            "disconnection: session time: {hours}:{minutes:02}:{seconds:02}.{millis:03} user={} database={} host={host}",
            session.login.name,
            session.database
        );
    }
    if let Some(audit) = access.audit() {
        let mut facts = facts(session);
        facts.insert("seconds".into(), json!(time.as_secs_f64()));
        audit.record("disconnection", facts);
    }
}
