//! Locks that a transaction takes, and what follows from them: no row is written without its lock.

use super::{Isolation, Transaction};
use crate::catalog::{Oid, PUBLIC_OID};
use crate::failure::{concurrent_update, statement_retry};
use crate::row::KeyList;
use crate::services::locks::{Grant, LockId, LockStrength, LockWait, Mode, TableLockMode, Tried, Wait, Wanted, lock_failure};
use std::collections::HashSet;
use stoa_pg::PgResult;
use stoa_store::{TableId, Timestamp};

/// What [`Transaction::try_lock_key`] says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyLock {
    /// The key is locked, and was not before.
    Taken,
    Held,
    /// Others have the row, none of whom inserts or deletes it or changes its key.
    Settled,
    /// Another inserts or deletes the row, or changes its key.
    Unsettled,
}

fn grant_of(new: bool, stronger: bool) -> Grant {
    match (new, stronger) {
        (true, _) => Grant::New,
        (false, true) => Grant::Stronger,
        (false, false) => Grant::Held,
    }
}

/// Locks of rows that are held one by one.
const MANY_LOCKS: usize = 32 << 10;

impl Transaction {
    /// Locks rows of one table in the order of the keys, waiting for those who hold them. `relation` is for messages. With
    /// [`LockWait::SkipLocked`] the answer says which rows were locked.
    ///
    /// # Errors
    /// 55P03 (NOWAIT, lock timeout), 40P01.
    pub async fn lock_rows(
        &self,
        table: TableId,
        keys: &KeyList,
        strength: LockStrength,
        wait: LockWait,
        relation: &str,
    ) -> PgResult<Vec<bool>> {
        let mode = Mode::from(strength);
        let locks = self.transactions.locks();
        let mut out = Vec::with_capacity(keys.len());
        for (at, key) in keys.iter().enumerate() {
            let id = LockId::row(table, key);
            match locks.try_acquire(self.group, id, mode) {
                Tried::Granted(grant) => {
                    self.keep_lock(id, mode, grant);
                    out.push(true);
                }
                Tried::Busy if wait == LockWait::SkipLocked => out.push(false),
                _ => {
                    let rest: Vec<LockId> = keys.iter().skip(at).map(|key| LockId::row(table, key)).collect();
                    let what = || format!("row in relation \"{relation}\"");
                    self.lock_in_order(&rest, mode, self.patience(wait), wait == LockWait::SkipLocked, &mut out, what).await?;
                    break;
                }
            }
        }
        self.gather_locks();
        Ok(out)
    }

    fn patience(&self, wait: LockWait) -> Wait {
        match wait {
            LockWait::Wait => Wait::Until(self.state.lock().lock_timeout),
            LockWait::NoWait | LockWait::SkipLocked => Wait::Never,
        }
    }

    /// Asks for locks in their order, and waits for those who hold them; adds which of them are held, which is all without `skip`.
    async fn lock_in_order(
        &self,
        ids: &[LockId],
        mode: Mode,
        wait: Wait,
        skip: bool,
        held: &mut Vec<bool>,
        what: impl Fn() -> String,
    ) -> PgResult<()> {
        if !skip {
            self.waits();
        }
        let locks = self.transactions.locks();
        let stronger: Vec<bool> = ids.iter().map(|id| locks.strengthens(self.group, *id, mode)).collect();
        let wanted = Wanted { group: self.group, mode, wait, deadlock_timeout: self.deadlock_timeout(), skip };
        let mut taken = |at: usize, new: Option<bool>| {
            if let (Some(new), Some(id)) = (new, ids.get(at)) {
                self.keep_lock(*id, mode, grant_of(new, stronger.get(at).is_some_and(|stronger| *stronger)));
            }
            held.push(new.is_some());
        };
        locks.acquire(wanted, ids, &mut taken).await.map_err(|other| lock_failure(&other, &what()))
    }

    /// Asks for the lock of a key that is to be inserted, and waits for nobody.
    #[must_use]
    pub fn try_lock_key(&self, id: LockId) -> KeyLock {
        let locks = self.transactions.locks();
        match locks.try_acquire(self.group, id, Mode::KEY) {
            Tried::Granted(grant) => {
                self.keep_lock(id, Mode::KEY, grant);
                if grant == Grant::Held { KeyLock::Held } else { KeyLock::Taken }
            }
            _ if locks.others_hold(self.group, id, Mode::KEY) => KeyLock::Unsettled,
            _ => KeyLock::Settled,
        }
    }

    /// Whether another transaction is inserting or deleting the row of a key, or changing the key.
    #[must_use]
    pub fn is_unsettled(&self, id: LockId) -> bool {
        self.transactions.locks().others_hold(self.group, id, Mode::KEY)
    }

    /// Waits until no other transaction inserts or deletes the row of a key, or changes the key.
    ///
    /// # Errors
    /// 55P03, 40P01.
    pub async fn wait_until_settled(&self, id: LockId, relation: &str) -> PgResult<()> {
        let mark = self.locks_held();
        if self.lock_row(id, LockStrength::KeyShare, relation).await? {
            self.give_back(mark, &[id], LockStrength::KeyShare);
        }
        Ok(())
    }

    /// Locks a row or a key that is to be inserted, waiting for those who have it; whether it was not locked in this strength before.
    ///
    /// # Errors
    /// 55P03, 40P01.
    pub async fn lock_row(&self, id: LockId, strength: LockStrength, relation: &str) -> PgResult<bool> {
        self.waits();
        let (locks, mode) = (self.transactions.locks(), Mode::from(strength));
        let stronger = locks.strengthens(self.group, id, mode);
        let wait = self.patience(LockWait::Wait);
        let wanted = Wanted { group: self.group, mode, wait, deadlock_timeout: self.deadlock_timeout(), skip: false };
        let mut grant = Grant::Held;
        let mut taken = |_, new: Option<bool>| {
            grant = grant_of(new == Some(true), stronger);
            self.keep_lock(id, mode, grant);
        };
        let what = || format!("row in relation \"{relation}\"");
        locks.acquire(wanted, &[id], &mut taken).await.map_err(|other| lock_failure(&other, &what()))?;
        Ok(grant != Grant::Held)
    }

    /// How many locks are held one by one: to be told to [`Transaction::give_back`].
    #[must_use]
    pub fn locks_held(&self) -> usize {
        self.state.lock().locks.len()
    }

    /// Gives up a mode of some of the locks that were taken in it since: nothing was done under them.
    pub fn give_back(&self, mark: usize, unused: &[LockId], strength: LockStrength) {
        if unused.is_empty() {
            return;
        }
        let (locks, mode) = (self.transactions.locks(), Mode::from(strength));
        let given_up: HashSet<LockId> = unused.iter().copied().filter(|id| !locks.release_mode(self.group, *id, mode)).collect();
        let mut state = self.state.lock();
        let mark = mark.min(state.locks.len());
        let since = state.locks.split_off(mark);
        state.locks.extend(since.into_iter().filter(|id| !given_up.contains(id)));
    }

    /// Keeps the locks of very many rows in little memory.
    pub fn gather_locks(&self) {
        let mut state = self.state.lock();
        let from = state.savepoints.last().map_or(0, |s| s.locks);
        if state.locks.len().saturating_sub(from) < MANY_LOCKS {
            return;
        }
        let from = from.min(state.locks.len());
        let loose = state.locks.split_off(from);
        let kept = self.transactions.locks().gather(self.group, loose);
        state.locks.extend(kept);
        if state.locks.len() < MANY_LOCKS / 4 {
            state.locks.shrink_to(MANY_LOCKS / 4);
        }
    }

    /// Locks a table; whether it had to be waited for.
    ///
    /// # Errors
    /// 55P03, 40P01.
    pub async fn lock_table(&self, table: Oid, mode: TableLockMode, nowait: bool, relation: &str) -> PgResult<bool> {
        let wait = self.patience(if nowait { LockWait::NoWait } else { LockWait::Wait });
        self.lock_id(LockId::Table(table), mode.into(), wait, || format!("relation \"{relation}\"")).await
    }

    /// Locks a table if it is known at once that nobody is in the way; whether it is locked.
    #[must_use]
    pub fn try_lock_table(&self, table: Oid, mode: TableLockMode) -> bool {
        matches!(self.try_lock_id(LockId::Table(table), mode.into()), Tried::Granted(_))
    }

    /// Takes a lock for the transaction.
    fn try_lock_id(&self, id: LockId, mode: Mode) -> Tried {
        let tried = self.transactions.locks().try_acquire(self.group, id, mode);
        if let Tried::Granted(grant) = tried {
            self.keep_lock(id, mode, grant);
        }
        tried
    }

    /// Locks a row if nobody is in the way: `Some` if it is locked, with whether it was not locked in this strength before.
    #[must_use]
    pub fn try_lock_row(&self, id: LockId, strength: LockStrength) -> Option<bool> {
        let Tried::Granted(grant) = self.try_lock_id(id, strength.into()) else { return None };
        Some(grant != Grant::Held)
    }

    /// A lock that was taken for the transaction goes with it; one that was held before and is held in a further mode goes back to what it
    /// was with a savepoint.
    fn keep_lock(&self, id: LockId, mode: Mode, grant: Grant) {
        match grant {
            Grant::Held => {}
            Grant::New => self.state.lock().locks.push(id),
            Grant::Stronger => {
                let mut state = self.state.lock();
                if !state.savepoints.is_empty() {
                    state.strengthened.push((id, mode));
                }
            }
        }
    }

    /// Keeps a name that is being made from others until the transaction ends.
    ///
    /// # Errors
    /// 55P03, 40P01.
    pub async fn lock_name(&self, schema: Oid, name: &str) -> PgResult<()> {
        // Every database has its own schema of this number; other numbers are one database's, or of what all share.
        let database = if schema == PUBLIC_OID { self.transactions.database() } else { 0 };
        let id = LockId::Advisory(3, database, xxhash_rust::xxh3::xxh3_64_with_seed(name.as_bytes(), u64::from(schema)));
        let wait = self.patience(LockWait::Wait);
        self.lock_id(id, Mode::ADVISORY_EXCLUSIVE, wait, || format!("name \"{name}\"")).await.map(|_| ())
    }

    /// Takes a lock for the transaction; whether it had to be waited for.
    pub(in crate::txn) async fn lock_id(&self, id: LockId, mode: Mode, wait: Wait, what: impl Fn() -> String) -> PgResult<bool> {
        if matches!(self.try_lock_id(id, mode), Tried::Granted(_)) {
            return Ok(false);
        }
        self.lock_in_order(&[id], mode, wait, false, &mut Vec::new(), what).await.map(|()| true)
    }

    /// Whether a row was changed by another transaction behind the statement's snapshot. The rows must be locked.
    ///
    /// # Errors
    /// [`statement_retry`] in READ COMMITTED, else 40001.
    pub fn check_unchanged(&self, table: TableId, keys: &KeyList) -> PgResult<()> {
        let (snapshot, isolation) = {
            let state = self.state.lock();
            (state.snapshot.as_ref().map(|s| s.timestamp()), state.isolation)
        };
        let Some(since) = snapshot else { return Ok(()) };
        if !self.rows_changed_since(table, keys, since) {
            return Ok(());
        }
        Err(if isolation == Isolation::ReadCommitted { statement_retry() } else { concurrent_update() })
    }

    /// Whether any of the rows was committed after `since`.
    #[must_use]
    pub fn rows_changed_since(&self, table: TableId, keys: &KeyList, since: Timestamp) -> bool {
        let mut rows = keys.iter().map(|key| (table, key));
        self.transactions.store().rows_changed_since(&mut rows, since)
    }
}
