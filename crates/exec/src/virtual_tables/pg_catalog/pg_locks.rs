//! `pg_locks`: locks of tables and advisory keys, the transactions of sessions, and what is waited for.

use super::super::builder::{Builder, V};
use crate::environment::StatementContext;
use stoa_pg::PgResult;
use stoa_table::services::locks::LockId;
use stoa_table::txn::GroupId;

/// Locks of tables and advisory keys, the transactions of sessions, and what is waited for.
pub fn fill(ctx: &StatementContext, t: &mut Builder<'_>) -> PgResult<()> {
    let transactions = ctx.txn.transactions();
    let running = transactions.running_and_assigned();
    let virtual_id = |group: GroupId| {
        let id = running.iter().find(|(g, ..)| *g == group).map_or(0, |(_, id, _)| *id);
        format!("{}/{id}", group.0)
    };
    let pid = |group: GroupId| i64::try_from(group.0).map_or(V::Null, V::Int);
    for (group, id, assigned) in &running {
        let own = ("virtualxid", "virtualxid", V::Text(virtual_id(*group)));
        // Who only reads has no number.
        let number = assigned.then(|| ("transactionid", "transactionid", V::Oid(u32::try_from(*id).unwrap_or(u32::MAX))));
        for (kind, column, value) in [Some(own), number].into_iter().flatten() {
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
    for lock in transactions.locks().overview() {
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
                let blocker = transactions.locks().blockers(lock.group).into_iter().next();
                let id = blocker.and_then(|b| running.iter().find(|(g, ..)| *g == b)).map(|(_, id, _)| *id);
                cells.push(("transactionid", id.and_then(|id| u32::try_from(id).ok()).map_or(V::Null, V::Oid)));
            }
            LockId::Table(oid) => {
                // Whoever locks a table is connected to its database.
                let session = u32::try_from(lock.group.0).ok().and_then(|pid| ctx.database.session(pid));
                let database = session.map_or(V::Null, |session| V::Oid(session.database_oid));
                cells.extend([("database", database), ("relation", V::Oid(oid))]);
            }
            LockId::Advisory(kind, database, key) => {
                let (high, low) = ((key >> 32) as u32, key as u32);
                cells.extend([
                    ("database", V::Oid(database)),
                    ("classid", V::Oid(high)),
                    ("objid", V::Oid(low)),
                    ("objsubid", V::Int(i64::from(kind))),
                ]);
            }
        }
        t.row(cells);
    }
    Ok(())
}

/// What a lock is on, as `pg_locks.locktype` says it.
pub fn lock_type(id: LockId) -> &'static str {
    match id {
        // Who waits for a row waits for the transaction that has it.
        LockId::Row(_) => "transactionid",
        LockId::Table(_) => "relation",
        LockId::Advisory(1 | 2, ..) => "advisory",
        LockId::Advisory(..) => "object",
    }
}
