//! `pg_stat_activity`: the sessions, and what they do.

use super::super::builder::{Builder, V};
use super::pg_locks::lock_type;
use crate::environment::StatementContext;
use crate::environment::server::ClientInfo;
use crate::environment::session::ActivityState;
use stoa_pg::PgResult;
use stoa_table::txn::GroupId;

/// Adds the rows.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    let running = ctx.txn.transactions().running_and_assigned();
    let oldest = running.iter().filter(|(_, _, assigned)| *assigned).map(|(_, id, _)| *id).min();
    let number = |id: Option<u64>| id.map_or(V::Null, |id| V::Oid(u32::try_from(id).unwrap_or(u32::MAX)));
    for session in ctx.database.sessions() {
        // Others are told no more than that it is there.
        if !ctx.may_see(&session) {
            t.row(vec![
                ("datid", V::Oid(session.database_oid)),
                ("datname", session.database.as_str().into()),
                ("pid", V::Int(i64::from(session.pid))),
                ("usesysid", V::Oid(session.login.oid)),
                ("usename", session.login.name.clone().into()),
                ("application_name", session.show("application_name").unwrap_or_default().into()),
                ("query", "<insufficient privilege>".into()),
            ]);
            continue;
        }
        let activity = session.activity();
        let waits = ctx.txn.transactions().locks().waits_for(GroupId(u64::from(session.pid)));
        let (wait_type, wait_event) = match waits {
            Some(id) => ("Lock".into(), lock_type(id).into()),
            None if session.is_sending() => ("Client".into(), "ClientWrite".into()),
            None if activity.state == ActivityState::Active => (V::Null, V::Null),
            None => ("Client".into(), "ClientRead".into()),
        };
        let own = running.iter().find(|(group, ..)| *group == GroupId(u64::from(session.pid)));
        // What it reads is at least as new as its beginning. Between statements, what it will read is not known.
        let reads = own.filter(|_| activity.state == ActivityState::Active).map(|(_, id, _)| oldest.map_or(*id, |oldest| oldest.min(*id)));
        t.row(vec![
            ("backend_xid", number(own.filter(|(_, _, assigned)| *assigned).map(|(_, id, _)| *id))),
            ("backend_xmin", number(reads)),
            ("wait_event_type", wait_type),
            ("wait_event", wait_event),
            ("datid", V::Oid(session.database_oid)),
            ("datname", session.database.as_str().into()),
            ("pid", V::Int(i64::from(session.pid))),
            ("usesysid", V::Oid(session.login.oid)),
            ("usename", session.login.name.clone().into()),
            ("application_name", session.show("application_name").unwrap_or_default().into()),
            ("client_addr", session.client.address.map(|a| a.ip().to_canonical().to_string()).into()),
            ("client_port", client_port(&session.client)),
            ("backend_start", V::Time(session.started_us)),
            ("query_start", time(activity.query_start_us)),
            ("xact_start", time(activity.transaction_start_us)),
            ("state_change", time(activity.state_change_us)),
            ("state", activity.state.name().into()),
            ("query", activity.query.to_string().into()),
            ("backend_type", if session.in_background { "background worker" } else { "client backend" }.into()),
        ]);
    }
    Ok(())
}

/// -1 by the Unix socket.
fn client_port(client: &ClientInfo) -> V {
    match client.address {
        Some(address) => V::Int(i64::from(address.port())),
        None if client.by_socket => V::Int(-1),
        None => V::Null,
    }
}

/// 0 where there is none.
fn time(us: i64) -> V {
    if us == 0 { V::Null } else { V::Time(us) }
}
