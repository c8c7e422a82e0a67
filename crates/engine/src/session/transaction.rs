//! The transaction of a session: implicit or in a block, savepoints, the failed state; what is undone and what is kept.
//!
//! The engine's transaction begins late, with the first statement that reads or writes, so that SET TRANSACTION may still choose
//! its modes.

use super::api::TransactionStatus;
use super::session_impl::Session;
use std::sync::Arc;
use std::time::Duration;
use stoa_exec::environment::session::ActivityState;
use stoa_exec::settings::{COMMIT_TOKEN, Settings, isolation_name};
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_syntax::utility::{Isolation, TransactionModes};
use stoa_table::Durability;
use stoa_table::catalog::CatalogSnapshot;
use stoa_table::txn::{self, GroupId, Transaction, TxnOptions};

/// The modes that a transaction has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Modes {
    pub isolation: Isolation,
    pub read_only: bool,
    pub deferrable: bool,
}

/// READ UNCOMMITTED is READ COMMITTED, as in PostgreSQL.
fn level_of(written: Isolation) -> txn::Isolation {
    match written {
        Isolation::ReadUncommitted | Isolation::ReadCommitted => txn::Isolation::ReadCommitted,
        Isolation::RepeatableRead => txn::Isolation::RepeatableRead,
        Isolation::Serializable => txn::Isolation::Serializable,
    }
}

#[derive(Clone, Debug)]
struct Savepoint {
    name: String,
    read_only: bool,
    /// Lengths of what the transaction will send.
    outgoing: (usize, usize),
}

/// The transaction that is open, if one is.
#[derive(Default)]
pub(crate) struct Block {
    pub(crate) active: bool,
    /// Begun by BEGIN.
    pub(crate) explicit: bool,
    pub(crate) failed: bool,
    txn: Option<Arc<Transaction>>,
    modes: Option<Modes>,
    /// The modes with which it began, before it said any.
    first_modes: Option<Modes>,
    savepoints: Vec<Savepoint>,
    pub(crate) started_us: i64,
    /// A statement has seen a snapshot.
    pub(crate) queried: bool,
    /// It runs several statements of one text.
    shared_by_several: bool,
    /// Grows when a transaction ends: portals of an earlier one are gone.
    pub(crate) generation: u64,
}

impl Block {
    pub(crate) fn depth(&self) -> usize {
        self.savepoints.len()
    }

    /// Whether ending the transaction may take long: there is much to write, or checks wait that may read many rows.
    pub(crate) fn may_end_slowly(&self) -> bool {
        /// Rows whose constraints and index entries are seen to in a moment.
        const FEW_ROWS: usize = 256;
        self.txn.as_ref().is_some_and(|txn| txn.rows_written() > FEW_ROWS || txn.has_deferred())
    }
}

impl Session {
    /// What ReadyForQuery says.
    #[must_use]
    pub fn transaction_status(&self) -> TransactionStatus {
        match (self.block.explicit, self.block.failed) {
            (false, _) => TransactionStatus::Idle,
            (true, false) => TransactionStatus::InTransaction,
            (true, true) => TransactionStatus::Failed,
        }
    }

    /// Grows whenever a transaction ends; what was opened in an earlier one and does not outlive it is gone.
    #[must_use]
    pub fn transaction_generation(&self) -> u64 {
        self.block.generation
    }

    pub(crate) fn modes(&self) -> Modes {
        self.block.modes.unwrap_or_else(|| {
            let settings = self.shared.settings();
            Modes { isolation: settings.default_isolation, read_only: settings.default_read_only, deferrable: settings.default_deferrable }
        })
    }

    fn set_modes(&mut self, modes: Modes) {
        if let Some(txn) = &self.block.txn {
            // What may not be changed any more was refused before.
            let _ = txn.set_isolation(level_of(modes.isolation));
            let _ = txn.set_read_only(modes.read_only);
        }
        self.block.modes = Some(modes);
        self.shared.set_transaction_settings(isolation_name(modes.isolation), modes.read_only, modes.deferrable);
    }

    /// A text of so many statements begins; those that no block holds share a transaction.
    pub fn begin_text(&mut self, statements: usize) {
        self.block.shared_by_several = statements > 1;
    }

    /// Opens the implicit transaction unless one is open.
    pub(crate) fn open_implicit(&mut self) {
        if !self.block.active {
            self.block.active = true;
            // Not the time of a message before it: a session may have waited since.
            self.message_arrived();
            self.block.started_us = self.statement_us;
            self.shared.change_settings(|levels| levels.save());
            let modes = self.modes();
            self.block.first_modes = Some(modes);
            self.set_modes(modes);
        }
    }

    /// The engine's transaction; begins it if there is none.
    pub(crate) fn transaction(&mut self) -> PgResult<Arc<Transaction>> {
        self.open_implicit();
        if let Some(txn) = &self.block.txn {
            return Ok(txn.clone());
        }
        let modes = self.modes();
        let settings = self.shared.settings();
        let options = TxnOptions {
            isolation: level_of(modes.isolation),
            read_only: modes.read_only,
            lock_timeout: lock_timeout(&settings),
            deadlock_timeout: Some(Duration::from_millis(settings.deadlock_timeout_ms)),
            durability: durability(&settings),
            ..TxnOptions::new(GroupId(u64::from(self.shared.pid)))
        };
        let txn = match self.take_idle() {
            Some(txn) => {
                txn.renew(&options);
                txn
            }
            None => self.begin_transaction(options),
        };
        self.block.txn = Some(txn.clone());
        Ok(txn)
    }

    /// The catalog as the next statement will see it, without beginning a transaction.
    pub(crate) fn seen_catalog(&self) -> Arc<CatalogSnapshot> {
        self.block.txn.as_ref().map_or_else(|| self.database.transactions.published_catalog(), |txn| txn.catalog())
    }

    fn begin_transaction(&self, options: TxnOptions) -> Arc<Transaction> {
        let txn = self.database.transactions.begin(options);
        if self.shared.waits_for_slots() {
            let shared = Arc::clone(&self.shared);
            txn.set_before_waits(move || shared.release_slot());
        }
        txn
    }

    /// Tells the engine's transaction of settings that may have changed since it began.
    pub(crate) fn refresh_transaction_settings(&self) {
        if let Some(txn) = &self.block.txn {
            let settings = self.shared.settings();
            txn.set_patience(lock_timeout(&settings), Duration::from_millis(settings.deadlock_timeout_ms), durability(&settings));
        }
    }

    /// A failed block runs nothing but its end.
    ///
    /// # Errors
    /// 25P02 in a failed block.
    pub fn check_not_failed(&self) -> PgResult<()> {
        if self.block.failed {
            return Err(PgError::new(
                SqlState::IN_FAILED_SQL_TRANSACTION,
                "current transaction is aborted, commands ignored until end of transaction block",
            ));
        }
        Ok(())
    }

    /// 25P01 outside of a block.
    pub(crate) fn check_in_block(&self, statement: &str) -> PgResult<()> {
        if self.block.explicit {
            return Ok(());
        }
        Err(PgError::new(SqlState::NO_ACTIVE_SQL_TRANSACTION, format!("{statement} can only be used in transaction blocks")))
    }

    /// 25P01 where a statement has a transaction of its own: outside of a block, and alone in its query string.
    pub(crate) fn check_shares_transaction(&self, statement: &str) -> PgResult<()> {
        if self.block.shared_by_several { Ok(()) } else { self.check_in_block(statement) }
    }

    /// 25001 inside of a block, or among other statements of one query string.
    pub(crate) fn check_not_in_block(&self, statement: &str) -> PgResult<()> {
        if self.block.explicit || self.block.queried || self.block.shared_by_several {
            return Err(PgError::new(SqlState::ACTIVE_SQL_TRANSACTION, format!("{statement} cannot run inside a transaction block")));
        }
        Ok(())
    }

    /// 25006 in a read-only transaction.
    pub(crate) fn check_writable(&self, command: &str) -> PgResult<()> {
        if self.modes().read_only {
            return Err(PgError::new(SqlState::READ_ONLY_SQL_TRANSACTION, format!("cannot execute {command} in a read-only transaction")));
        }
        Ok(())
    }

    // Statements.

    pub(crate) fn begin(&mut self, modes: TransactionModes) -> PgResult<String> {
        if self.block.explicit {
            self.shared.warning(SqlState::ACTIVE_SQL_TRANSACTION, "there is already a transaction in progress");
        }
        self.block.explicit = true;
        self.set_transaction(modes)?;
        Ok("BEGIN".into())
    }

    pub(crate) fn set_transaction(&mut self, new: TransactionModes) -> PgResult<()> {
        let mut modes = self.modes();
        let error = |text: &str| Err(PgError::new(SqlState::ACTIVE_SQL_TRANSACTION, text));
        let nested = !self.block.savepoints.is_empty();
        if let Some(isolation) = new.isolation.filter(|i| *i != modes.isolation) {
            if self.block.queried {
                return error("SET TRANSACTION ISOLATION LEVEL must be called before any query");
            }
            if nested {
                return error("SET TRANSACTION ISOLATION LEVEL must not be called in a subtransaction");
            }
            modes.isolation = isolation;
        }
        if let Some(read_only) = new.read_only.filter(|r| *r != modes.read_only) {
            if !read_only && nested {
                return error("cannot set transaction read-write mode inside a read-only transaction");
            }
            if !read_only && self.block.queried {
                return error("transaction read-write mode must be set before any query");
            }
            modes.read_only = read_only;
        }
        if let Some(deferrable) = new.deferrable {
            if nested {
                return error("SET TRANSACTION [NOT] DEFERRABLE cannot be called within a subtransaction");
            }
            if self.block.queried {
                return error("SET TRANSACTION [NOT] DEFERRABLE must be called before any query");
            }
            modes.deferrable = deferrable;
        }
        self.set_modes(modes);
        Ok(())
    }

    pub(crate) async fn commit(&mut self, chain: bool) -> PgResult<String> {
        if !self.block.explicit {
            self.check_chain(chain, "COMMIT")?;
            self.shared.warning(SqlState::NO_ACTIVE_SQL_TRANSACTION, "there is no transaction in progress");
        }
        let failed = self.block.failed;
        if failed {
            let modes = self.modes_undone();
            self.abort_block().await;
            self.chain(chain, modes);
            return Ok("ROLLBACK".into());
        }
        let modes = self.modes();
        self.commit_block().await?;
        self.chain(chain, modes);
        Ok("COMMIT".into())
    }

    pub(crate) async fn rollback(&mut self, chain: bool) -> PgResult<String> {
        if !self.block.explicit {
            self.check_chain(chain, "ROLLBACK")?;
            self.shared.warning(SqlState::NO_ACTIVE_SQL_TRANSACTION, "there is no transaction in progress");
        }
        let modes = self.modes_undone();
        self.abort_block().await;
        self.chain(chain, modes);
        Ok("ROLLBACK".into())
    }

    /// The modes that a transaction has when it is rolled back, which AND CHAIN hands on: what it said of them itself ends with an error
    /// outside of savepoints, and what it said behind a savepoint in any case.
    fn modes_undone(&self) -> Modes {
        let modes = self.modes();
        match self.block.savepoints.first() {
            Some(savepoint) => Modes { read_only: savepoint.read_only, ..modes },
            None if self.block.failed => self.block.first_modes.unwrap_or(modes),
            None => modes,
        }
    }

    fn check_chain(&self, chain: bool, statement: &str) -> PgResult<()> {
        if chain { self.check_in_block(&format!("{statement} AND CHAIN")) } else { Ok(()) }
    }

    fn chain(&mut self, chain: bool, modes: Modes) {
        if chain {
            self.open_implicit();
            self.block.explicit = true;
            self.block.first_modes = Some(modes);
            self.set_modes(modes);
        }
    }

    pub(crate) fn savepoint(&mut self, name: String) -> PgResult<String> {
        self.check_in_block("SAVEPOINT")?;
        self.transaction()?.savepoint(&name)?;
        self.shared.change_settings(|levels| levels.save());
        let outgoing = self.shared.outgoing.lock();
        let lengths = (outgoing.messages.len(), outgoing.changes.len());
        drop(outgoing);
        self.block.savepoints.push(Savepoint { name, read_only: self.modes().read_only, outgoing: lengths });
        Ok("SAVEPOINT".into())
    }

    fn find_savepoint(&self, name: &str) -> PgResult<usize> {
        self.block
            .savepoints
            .iter()
            .rposition(|s| s.name == name)
            .ok_or_else(|| PgError::new(SqlState::INVALID_SAVEPOINT_SPECIFICATION, format!("savepoint \"{name}\" does not exist")))
    }

    pub(crate) fn release(&mut self, name: &str) -> PgResult<String> {
        self.check_in_block("RELEASE SAVEPOINT")?;
        let at = self.find_savepoint(name)?;
        self.transaction()?.release(name)?;
        let released = self.block.savepoints.drain(at..).next();
        if let Some(savepoint) = released {
            // That nothing may be written was said for what the savepoint began.
            let modes = Modes { read_only: savepoint.read_only, ..self.modes() };
            self.set_modes(modes);
        }
        // The transaction's own values are the first that are saved.
        self.shared.change_settings(|levels| levels.release(at + 1));
        self.release_cursors(at);
        Ok("RELEASE".into())
    }

    pub(crate) async fn rollback_to(&mut self, name: &str) -> PgResult<String> {
        self.check_in_block("ROLLBACK TO SAVEPOINT")?;
        let at = self.find_savepoint(name)?;
        self.transaction()?.rollback_to(name).await?;
        self.block.savepoints.truncate(at + 1);
        self.block.failed = false;
        if let Some(savepoint) = self.block.savepoints.last() {
            let mut outgoing = self.shared.outgoing.lock();
            outgoing.messages.truncate(savepoint.outgoing.0);
            outgoing.changes.truncate(savepoint.outgoing.1);
            drop(outgoing);
            let modes = Modes { read_only: savepoint.read_only, ..self.modes() };
            self.set_modes(modes);
        }
        self.shared.change_settings(|levels| levels.restore(at + 1));
        self.close_cursors_above(at);
        Ok("ROLLBACK".into())
    }

    // Ends.

    /// Ends a statement or a group of them, as Sync does: an implicit transaction is committed.
    ///
    /// # Errors
    /// What the commit raises; everything is rolled back then.
    pub async fn finish(&mut self) -> PgResult<()> {
        let out = if self.block.active && !self.block.explicit { self.commit_block().await } else { Ok(()) };
        let state = match self.transaction_status() {
            TransactionStatus::Idle => ActivityState::Idle,
            TransactionStatus::InTransaction => ActivityState::IdleInTransaction,
            TransactionStatus::Failed => ActivityState::IdleInFailedTransaction,
        };
        self.shared.set_state(state, self.database.tables.now_us(), if self.block.active { self.block.started_us } else { 0 });
        out
    }

    /// A statement failed, wherever: an implicit transaction is rolled back, a block waits for its end. May be called twice.
    pub async fn fail(&mut self) {
        if self.block.explicit {
            if !self.block.failed {
                self.block.failed = true;
                if let Some(txn) = &self.block.txn {
                    // Others need not wait for a client that has yet to say ROLLBACK.
                    txn.abort_newest().await;
                }
            }
        } else if self.block.active {
            Box::pin(self.abort_block()).await;
        }
    }

    pub(crate) async fn commit_block(&mut self) -> PgResult<()> {
        if !self.block.active {
            return Ok(());
        }
        // The futures of what is rare are boxed, so that those of the ends of reads stay small.
        if self.block.may_end_slowly() {
            Box::pin(self.shared.before_blocking()).await;
        }
        if !self.cursors.is_empty()
            && let Err(error) = Box::pin(self.hold_cursors()).await
        {
            Box::pin(self.abort_block()).await;
            return Err(error);
        }
        if self.shared.temporary_schema().is_some()
            && let Err(error) = Box::pin(self.end_temporary_tables()).await
        {
            Box::pin(self.abort_block()).await;
            return Err(error);
        }
        let committed = match self.block.txn.take() {
            Some(txn) if txn.commit_reads() => {
                self.idle = Some(txn);
                Ok(false)
            }
            Some(txn) => {
                let token = self.shared.settings().custom_value(COMMIT_TOKEN).filter(|t| !t.is_empty()).map(str::to_owned);
                let named = token.is_some() && txn.has_writes();
                txn.set_commit_token(token);
                Box::pin(txn.commit()).await.map(|()| named)
            }
            None => Ok(false),
        };
        match committed {
            Ok(named) => {
                let outgoing = std::mem::take(&mut *self.shared.outgoing.lock());
                if !outgoing.is_empty() {
                    self.database.tables.services().sessions().publish(self.shared.pid, outgoing).await;
                }
                self.end_block(true);
                if named {
                    // A token names one transaction.
                    self.shared.change_settings(|levels| levels.set(COMMIT_TOKEN, Some(""), false))?;
                }
                Ok(())
            }
            Err(error) => {
                self.end_block(false);
                Err(error)
            }
        }
    }

    /// ON COMMIT of temporary tables.
    async fn end_temporary_tables(&mut self) -> PgResult<()> {
        if !self.block.txn.as_ref().is_some_and(|txn| txn.has_writes()) {
            return Ok(());
        }
        let context = self.statement_context("COMMIT".into(), Arc::from([]))?;
        crate::ddl::end_of_transaction(&context).await
    }

    pub(crate) async fn abort_block(&mut self) {
        if self.block.may_end_slowly() {
            self.shared.before_blocking().await;
        }
        if let Some(txn) = self.block.txn.take() {
            txn.rollback().await;
        }
        if self.block.active {
            self.end_block(false);
        }
    }

    fn end_block(&mut self, commit: bool) {
        self.database.counters.note_end(commit);
        self.shared.release_slot();
        self.forget_system();
        self.shared.outgoing.lock().messages.clear();
        self.shared.outgoing.lock().changes.clear();
        self.shared.change_settings(|levels| levels.end(commit));
        self.end_cursors(commit);
        self.block = Block { generation: self.block.generation + 1, ..Block::default() };
    }
}

fn lock_timeout(settings: &Settings) -> Option<Duration> {
    (settings.lock_timeout_ms > 0).then(|| Duration::from_millis(settings.lock_timeout_ms))
}

fn durability(settings: &Settings) -> Durability {
    if settings.synchronous_commit { Durability::Sync } else { Durability::Relaxed }
}
