//! The tables that a statement uses, and how strongly each is locked until the transaction ends.
//!
//! Readers take ACCESS SHARE, FOR UPDATE and its kin ROW SHARE, statements that change rows ROW EXCLUSIVE, as in PostgreSQL: so that
//! a definition waits for those who use its table, and they for it. Temporary tables are nobody else's and are not locked.
//!
//! Invariant: when [`Session::bound_and_locked`] returns, the typed tree is that of the catalog that holds behind the locks.

use super::api::Prepared;
use super::prepared::{BoundStatement, PreparedStatement};
use super::session_impl::Session;
use std::pin::pin;
use std::sync::Arc;
use stoa_exec::environment::guard::interruptible;
use stoa_pg::PgResult;
use stoa_sql::typed::tree::{Bound, BoundBody, CteBody, Mutation, MutationKind, Rel};
use stoa_sql::typed::walk;
use stoa_table::catalog::{Oid, TableDescriptor};
use stoa_table::txn::TableLockMode;

/// A table of a statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TableLock {
    pub table: Oid,
    pub mode: TableLockMode,
    pub name: String,
}

/// The locks of a statement, one a table, in the order of OIDs: two statements that need the same do not cross.
pub(crate) fn table_locks(bound: &Bound) -> Box<[TableLock]> {
    let mut out = Vec::new();
    for cte in &bound.ctes {
        match &cte.body {
            CteBody::Query(rel) => relation(rel, &mut out),
            CteBody::Mutation(m) => mutation(m, &mut out),
        }
    }
    match &bound.body {
        BoundBody::Query(query) => relation(&query.rel, &mut out),
        BoundBody::Mutation(m) => mutation(m, &mut out),
    }
    out.into()
}

fn add(table: &TableDescriptor, mode: TableLockMode, out: &mut Vec<TableLock>) {
    if !table.temporary {
        add_oid(table.oid, &table.name, mode, out);
    }
}

fn add_oid(table: Oid, name: &str, mode: TableLockMode, out: &mut Vec<TableLock>) {
    match out.binary_search_by_key(&table, |lock| lock.table) {
        Ok(at) => {
            if let Some(lock) = out.get_mut(at) {
                lock.mode = lock.mode.max(mode);
            }
        }
        Err(at) => out.insert(at, TableLock { table, mode, name: name.to_owned() }),
    }
}

fn relation(rel: &Rel, out: &mut Vec<TableLock>) {
    walk::visit_all(rel, &mut |node| match node {
        Rel::Scan(scan) => add(&scan.table, TableLockMode::AccessShare, out),
        Rel::History(history) => add(&history.scan.table, TableLockMode::AccessShare, out),
        Rel::Lock { input, scans, .. } => walk::visit_rel(input, &mut |inner| {
            if let Rel::Scan(scan) = inner
                && scans.contains(&scan.scan_id)
            {
                add(&scan.table, TableLockMode::RowShare, out);
            }
        }),
        _ => {}
    });
}

fn mutation(m: &Mutation, out: &mut Vec<TableLock>) {
    relation(&m.source, out);
    for expr in walk::mutation_exprs(m) {
        walk::visit_subqueries(expr, &mut |q| relation(&q.rel, out));
    }
    let table = &m.table.0;
    add(table, TableLockMode::RowExclusive, out);
    if !matches!(m.kind, MutationKind::Delete { .. }) && !table.temporary {
        for key in &table.foreign_keys {
            add_oid(key.referenced_table, "of a foreign key", TableLockMode::RowShare, out);
        }
    }
}

impl Session {
    /// A statement that needs a snapshot begins: its typed tree, with its tables locked.
    pub(crate) async fn bound_and_locked(&mut self, statement: &PreparedStatement) -> PgResult<Arc<BoundStatement>> {
        self.start_query().await?;
        loop {
            let bound = self.bound(statement)?;
            let waited = self.lock_tables(&bound.locks).await?;
            let txn = self.transaction()?;
            if waited {
                // What was committed meanwhile is seen.
                txn.start_statement().await?;
            }
            if bound.is_seen_by(&txn) {
                return Ok(bound);
            }
        }
    }

    /// As [`Session::bound_and_locked`], for a statement that is executed now, which the current role must be allowed to.
    pub(crate) async fn bound_and_allowed(&mut self, statement: &PreparedStatement) -> PgResult<Arc<BoundStatement>> {
        let bound = self.bound_and_locked(statement).await?;
        bound.check(self.shared.current_role())?;
        Ok(bound)
    }

    /// Before a statement is kept: locks its tables, so that nobody is changing them and what is told of its columns is what it will
    /// give. Locks are those of its execution, and are kept until the transaction ends.
    ///
    /// # Errors
    /// What waiting for a lock raises, and binding again behind it; [`Session::fail`] has been called then.
    pub async fn settle(&mut self, prepared: &Prepared) -> PgResult<()> {
        let Some(bound) = prepared.inner.bound.lock().clone() else { return Ok(()) };
        let txn = self.transaction()?;
        if bound.locks.iter().all(|lock| txn.try_lock_table(lock.table, lock.mode)) && bound.is_seen_by(&txn) {
            return Ok(());
        }
        self.shared.begin_statement(prepared.inner.statement_text.clone(), self.statement_us, self.block.started_us);
        let shared = self.shared.clone();
        let settled = {
            let mut work = pin!(self.bound_and_locked(&prepared.inner));
            interruptible(&shared, work.as_mut()).await
        };
        match settled {
            Ok(_) => Ok(()),
            Err(error) => {
                self.fail().await;
                Err(error)
            }
        }
    }

    /// Whether any had to be waited for.
    pub(crate) async fn lock_tables(&mut self, locks: &[TableLock]) -> PgResult<bool> {
        let txn = self.transaction()?;
        let mut waited = false;
        for lock in locks {
            waited |= txn.lock_table(lock.table, lock.mode, false, &lock.name).await?;
        }
        Ok(waited)
    }
}
