//! The end of a transaction.

use super::{PrivateCatalog, Transaction};
use crate::catalog::CatalogSnapshot;
use crate::failure::store_error;
use crate::feed::Ticket;
use crate::services::locks::{GroupId, LockId};
use crate::txn::advisory::AdvisoryLocks;
use crate::txn::overlay::Overlay;
use crate::txn::transactions::Transactions;
use parking_lot::Mutex;
use std::sync::Arc;
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_store::{Commit, Durability, KeyRange, Mutations, OnVisible, StoreResult, Timestamp};

/// Bytes from which on a commit goes past the store's log, where there is plenty of memory: on its way there it is copied a few times.
const LARGE_COMMIT: usize = 24 << 20;
/// Locks up to which the store gives them up, which keeps it from the next commits meanwhile.
const MAX_RELEASED_BY_STORE: usize = 64;

/// The newest catalog of a database with a transaction's changes, if these fit what all databases are now.
fn replayed(
    private: &PrivateCatalog,
    newest: Option<Arc<CatalogSnapshot>>,
    all: impl FnOnce() -> Vec<Arc<CatalogSnapshot>>,
) -> PgResult<CatalogSnapshot> {
    let gone = || PgError::new(SqlState::INVALID_CATALOG_NAME, "the database was dropped");
    let mut out = CatalogSnapshot::clone(&*newest.ok_or_else(gone)?);
    out.advance();
    private.changes.iter().try_for_each(|change| change(&mut out))?;
    if !private.checks.is_empty() {
        let all = all();
        private.checks.iter().try_for_each(|check| check(&all))?;
    }
    Ok(out)
}

impl Transaction {
    /// Runs the deferred checks, makes everything durable and visible, then gives up the locks.
    ///
    /// # Errors
    /// 23503 and the like, 40001, or what the store said; the transaction is rolled back then.
    pub async fn commit(&self) -> PgResult<()> {
        let outcome = match self.prepare_commit().await {
            Ok(()) => self.commit_writes().await,
            Err(error) => Err(error),
        };
        match outcome {
            Ok(timestamp) => {
                let hooks = {
                    let mut state = self.state.lock();
                    state.finished = true;
                    self.open_objects.lock().clear();
                    state.committed = timestamp;
                    state.on_rollback.clear();
                    std::mem::take(&mut state.on_commit)
                };
                self.hold().release();
                for hook in hooks {
                    hook().await;
                }
                Ok(())
            }
            Err(error) => {
                self.rollback().await;
                Err(error)
            }
        }
    }

    /// Commits a transaction that only read, which nothing can keep from it; false, and nothing done, for any other.
    #[must_use]
    pub fn commit_reads(&self) -> bool {
        {
            let mut state = self.state.lock();
            let wrote = !state.layers.is_empty() || !state.current.is_empty() || state.catalog.is_some();
            if wrote || state.tracked || !state.deferred.is_empty() || !state.on_commit.is_empty() {
                return false;
            }
            state.finished = true;
            state.on_rollback.clear();
            // What is kept for another transaction keeps no version of any row.
            state.snapshot = None;
            state.catalog_of_snapshot = None;
            state.newest = None;
            state.lent.clear();
            self.open_objects.lock().clear();
        }
        self.hold().release();
        true
    }

    /// What is done before anything is durable, and may fail.
    async fn prepare_commit(&self) -> PgResult<()> {
        self.end_statement();
        for work in self.take_deferred(|_| true) {
            work.run(self).await?;
        }
        let token = self.state.lock().commit_token.take();
        if let Some(token) = token
            && self.has_writes()
        {
            crate::txn::commit_token::write(self, &token).await?;
            self.end_statement();
        }
        Ok(())
    }

    /// Names the transaction: see [`crate::txn::commit_token`].
    pub fn set_commit_token(&self, token: Option<String>) {
        self.state.lock().commit_token = token;
    }

    async fn commit_writes(&self) -> PgResult<Option<Timestamp>> {
        let (writes, catalog, tracked, durability) = {
            let state = self.state.lock();
            (Overlay::new(state.layers.iter().cloned()), state.catalog.clone(), state.tracked, state.durability)
        };
        let sequence = if tracked {
            let decided = self.transactions.serializable().prepare(self.id(), writes.writes()?).await;
            decided.map_err(|_| serialization_danger("during commit attempt"))?
        } else {
            None
        };
        let outcome = match catalog {
            None => self.commit_store(&writes, durability).await,
            Some(private) => {
                let publishing = self.transactions.services().publication().begin().await;
                match replayed(&private, publishing.newest(self.transactions.database()), || publishing.all()) {
                    Err(error) => Err(error),
                    Ok(mut newest) => {
                        let outcome = self.commit_store(&writes, durability).await;
                        if let Ok(committed) = &outcome {
                            committed.iter().for_each(|at| newest.date(*at));
                            publishing.publish(newest).await;
                        }
                        outcome
                    }
                }
            }
        };
        if let Some(sequence) = sequence {
            let timestamp = match &outcome {
                Ok(timestamp) => Some(timestamp.unwrap_or_else(|| self.transactions.store().snapshot().timestamp())),
                Err(_) => None,
            };
            self.transactions.serializable().finish(sequence, timestamp);
        }
        outcome
    }

    async fn commit_store(&self, writes: &Overlay, durability: Durability) -> PgResult<Option<Timestamp>> {
        if let Some(error) = writes.failure() {
            return Err(error.clone());
        }
        if writes.is_empty() {
            return Ok(None);
        }
        let loads = self.state.lock().loads;
        if loads || writes.has_spill_files() || writes.bytes() > LARGE_COMMIT.min(self.transactions.spill_space().most() / 5) {
            return self.commit_bulk(writes).await.map(Some);
        }
        let mut mutations = writes.mutations()?;
        // An index or a table that is dropped is a change of a definition.
        if self.has_catalog_changes() {
            mutations.make_room();
        }
        let ticket = self.transactions.feed().begin(writes, &mut mutations).await?;
        // The locks protect the rows: nothing is left to check.
        let commit = Commit { mutations: &mutations, snapshot: None, validate: &[], durability };
        let release = if ticket.is_none() { self.release_when_visible() } else { None };
        let outcome = match release {
            Some(release) => self.transactions.store().commit_then(commit, release).await,
            None => self.transactions.store().commit(commit).await,
        };
        settle(ticket, &outcome);
        outcome.map(Some).map_err(store_error)
    }

    /// Gives up the locks as soon as the commit is visible, without the way back to the session: others wait for them. `None` for
    /// transactions that have more to do before, and for very many locks.
    fn release_when_visible(&self) -> Option<OnVisible> {
        let mut state = self.state.lock();
        if state.tracked || state.catalog.is_some() || state.locks.is_empty() || state.locks.len() > MAX_RELEASED_BY_STORE {
            return None;
        }
        state.strengthened.clear();
        let locks = Arc::new(Mutex::new(std::mem::take(&mut state.locks)));
        state.leaving = Some(Arc::clone(&locks));
        let (transactions, group) = (Arc::clone(&self.transactions), self.group);
        Some(Arc::new(move |_| {
            let locks = std::mem::take(&mut *locks.lock());
            transactions.locks().release(group, &locks);
        }))
    }

    /// A large transaction is ingested by the store as sorted files, past its log and its memory.
    async fn commit_bulk(&self, writes: &Overlay) -> PgResult<Timestamp> {
        let mut records = Mutations::new();
        let ticket = self.transactions.feed().begin(writes, &mut records).await?;
        let load = async {
            let mut tables = writes.tables();
            tables.extend(records.iter().map(|record| record.row().0));
            tables.sort_unstable();
            tables.dedup();
            let mut load = self.transactions.store().bulk_load(&tables).await.map_err(store_error)?;
            for table in writes.tables() {
                let mut cursor = writes.cursor(table, KeyRange::all(), false)?;
                let mut rows = 0u32;
                while cursor.take()? {
                    cursor.change().mutations(table, cursor.key()).try_for_each(|m| load.apply(m)).map_err(store_error)?;
                    rows = rows.wrapping_add(1);
                    if load.is_full() {
                        load.drain().await.map_err(store_error)?;
                    } else if rows.is_multiple_of(4096) {
                        tokio::task::yield_now().await;
                    }
                }
            }
            records.iter().try_for_each(|record| load.apply(record)).map_err(store_error)?;
            Ok(load)
        };
        let load = match load.await {
            Ok(load) => load,
            Err(error) => {
                ticket.into_iter().for_each(Ticket::undone);
                return Err(error);
            }
        };
        let outcome = load.finish().await;
        settle(ticket, &outcome);
        outcome.map_err(store_error)
    }

    /// When the transaction was committed, if it wrote anything.
    #[must_use]
    pub fn commit_timestamp(&self) -> Option<Timestamp> {
        self.state.lock().committed
    }

    /// Throws everything away and gives up the locks.
    pub async fn rollback(&self) {
        {
            let mut state = self.state.lock();
            if state.finished {
                return;
            }
            state.layers.clear();
            state.current.clear();
            state.catalog = None;
            state.at_end.clear();
            state.deferred.clear();
            state.on_commit.clear();
            self.open_objects.lock().clear();
        }
        self.run_rollback_hooks(|_| 0).await;
        self.state.lock().finished = true;
        self.hold().release();
    }

    /// What others wait for.
    fn hold(&self) -> Hold {
        let mut state = self.state.lock();
        state.strengthened.clear();
        let mut locks = std::mem::take(&mut state.locks);
        if let Some(leaving) = state.leaving.take() {
            locks.append(&mut leaving.lock());
        }
        Hold {
            id: self.id(),
            group: self.group,
            transactions: Arc::clone(&self.transactions),
            advisory: Arc::clone(&self.advisory),
            locks,
            tracked: state.tracked,
        }
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        self.transactions.forget(self.number);
        // A session that went away without ROLLBACK, or in the middle of it; its hooks are run by a task if there is a runtime.
        let hooks = {
            let mut state = self.state.lock();
            if state.finished {
                return;
            }
            state.finished = true;
            std::mem::take(&mut state.on_rollback)
        };
        let hold = self.hold();
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) if !hooks.is_empty() => {
                runtime.spawn(async move {
                    for hook in hooks.into_iter().rev() {
                        hook().await;
                    }
                    hold.release();
                });
            }
            _ => hold.release(),
        }
    }
}

/// What a transaction keeps from others until it ends.
struct Hold {
    id: u64,
    group: GroupId,
    transactions: Arc<Transactions>,
    advisory: Arc<AdvisoryLocks>,
    locks: Vec<LockId>,
    tracked: bool,
}

impl Hold {
    fn release(self) {
        self.transactions.locks().release_many(self.group, 0);
        self.transactions.locks().release(self.group, &self.locks);
        self.advisory.end_transaction();
        if self.tracked {
            self.transactions.serializable().abort(self.id);
        }
    }
}

/// Tells the change feed how a commit ended.
fn settle(ticket: Option<Ticket>, outcome: &StoreResult<Timestamp>) {
    let Some(ticket) = ticket else { return };
    match outcome {
        Ok(at) => ticket.committed(*at),
        Err(error) if error.certainty() == stoa_store::Certainty::NotDone => ticket.undone(),
        Err(_) => drop(ticket),
    }
}

/// 40001 as PostgreSQL words it.
pub(super) fn serialization_danger(when: &str) -> PgError {
    PgError::new(SqlState::SERIALIZATION_FAILURE, "could not serialize access due to read/write dependencies among transactions")
        .detail(format!("Reason code: Canceled on identification as a pivot, {when}."))
        .hint("The transaction might succeed if retried.")
}
