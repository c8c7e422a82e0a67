//! Advisory locks: `pg_advisory_lock` and its kin, held by a session (counted) or until the transaction ends.
//!
//! Invariant: the lock manager holds a mode for a group exactly while the session's count or the transaction's is above zero.

use crate::catalog::Oid;
use crate::services::Services;
use crate::services::locks::{GroupId, LockId, Mode, Tried, Wait, Wanted, lock_failure};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use stoa_pg::PgResult;

/// A key: one bigint, or two integers; the two spaces are apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AdvisoryKey {
    One(i64),
    Two(i32, i32),
}

impl AdvisoryKey {
    fn id(self, database: Oid) -> LockId {
        match self {
            AdvisoryKey::One(key) => LockId::Advisory(1, database, key as u64),
            AdvisoryKey::Two(a, b) => LockId::Advisory(2, database, (u64::from(a as u32) << 32) | u64::from(b as u32)),
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    session: u32,
    transaction: u32,
}

/// The advisory locks of one session.
#[derive(Debug)]
pub struct AdvisoryLocks {
    services: Arc<dyn Services>,
    /// Keys are of a database.
    database: Oid,
    group: GroupId,
    held: Mutex<HashMap<(LockId, Mode), Count>>,
    /// What the transaction took, in order: a savepoint's rollback gives up what came after it.
    taken: Mutex<Vec<(LockId, Mode)>>,
}

impl AdvisoryLocks {
    #[must_use]
    pub fn new(services: Arc<dyn Services>, database: Oid, group: GroupId) -> Self {
        Self { services, database, group, held: Mutex::default(), taken: Mutex::default() }
    }

    fn mode(shared: bool) -> Mode {
        if shared { Mode::ADVISORY_SHARED } else { Mode::ADVISORY_EXCLUSIVE }
    }

    fn count(&self, id: LockId, mode: Mode, transaction: bool) {
        let mut held = self.held.lock();
        let count = held.entry((id, mode)).or_default();
        if transaction {
            count.transaction += 1;
            self.taken.lock().push((id, mode));
        } else {
            count.session += 1;
        }
    }

    /// How many locks the transaction has taken so far.
    #[must_use]
    pub fn mark(&self) -> usize {
        self.taken.lock().len()
    }

    /// Gives up what the transaction took after a mark.
    pub fn rollback_to(&self, mark: usize) {
        let undone = {
            let mut taken = self.taken.lock();
            let mark = mark.min(taken.len());
            taken.split_off(mark)
        };
        let mut held = self.held.lock();
        for (id, mode) in undone {
            let Some(count) = held.get_mut(&(id, mode)) else { continue };
            count.transaction = count.transaction.saturating_sub(1);
            if count.session == 0 && count.transaction == 0 {
                held.remove(&(id, mode));
                let _ = self.services.locks().release_mode(self.group, id, mode);
            }
        }
    }

    /// Takes the lock, or waits for it; with [`Wait::Never`] it says whether it was free.
    ///
    /// # Errors
    /// 55P03 after the lock timeout, 40P01 in a deadlock.
    pub async fn lock(
        &self,
        key: AdvisoryKey,
        shared: bool,
        transaction: bool,
        wait: Wait,
        deadlock_timeout: std::time::Duration,
    ) -> PgResult<bool> {
        let (id, mode) = (key.id(self.database), Self::mode(shared));
        let wanted = Wanted { group: self.group, mode, wait, deadlock_timeout, skip: wait == Wait::Never };
        let mut held = true;
        let mut taken = |_, new: Option<bool>| match new {
            Some(_) => self.count(id, mode, transaction),
            None => held = false,
        };
        let outcome = self.services.locks().acquire(wanted, &[id], &mut taken).await;
        outcome.map(|()| held).map_err(|other| lock_failure(&other, "advisory lock"))
    }

    /// Takes the lock if it is free; `None` if that is not known at once.
    #[must_use]
    pub fn try_lock(&self, key: AdvisoryKey, shared: bool, transaction: bool) -> Option<bool> {
        let (id, mode) = (key.id(self.database), Self::mode(shared));
        match self.services.locks().try_acquire(self.group, id, mode) {
            Tried::Granted(_) => {
                self.count(id, mode, transaction);
                Some(true)
            }
            Tried::Busy => Some(false),
            Tried::Unknown => None,
        }
    }

    /// Gives up one hold of the session; false if it has none (PostgreSQL warns `you don't own a lock of type …`).
    #[must_use]
    pub fn unlock(&self, key: AdvisoryKey, shared: bool) -> bool {
        let (id, mode) = (key.id(self.database), Self::mode(shared));
        let mut held = self.held.lock();
        let Some(count) = held.get_mut(&(id, mode)).filter(|c| c.session > 0) else { return false };
        count.session -= 1;
        if count.session == 0 && count.transaction == 0 {
            held.remove(&(id, mode));
            let _ = self.services.locks().release_mode(self.group, id, mode);
        }
        true
    }

    /// Gives up all holds of the session.
    pub fn unlock_all(&self) {
        self.retain(|count| count.session = 0);
    }

    /// Gives up what was to be held until the transaction ends.
    pub fn end_transaction(&self) {
        self.taken.lock().clear();
        self.retain(|count| count.transaction = 0);
    }

    fn retain(&self, change: impl Fn(&mut Count)) {
        self.held.lock().retain(|(id, mode), count| {
            change(count);
            let keep = count.session > 0 || count.transaction > 0;
            if !keep {
                let _ = self.services.locks().release_mode(self.group, *id, *mode);
            }
            keep
        });
    }

    /// The transaction ends, or the session does.
    pub fn end_session(&self) {
        self.retain(|count| *count = Count::default());
    }
}

impl Drop for AdvisoryLocks {
    fn drop(&mut self) {
        self.end_session();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_are_counted_and_modes_are_apart() {
        let services = Arc::clone(crate::Tables::in_memory().services());
        let a = AdvisoryLocks::new(Arc::clone(&services), 1, GroupId(1));
        let b = AdvisoryLocks::new(Arc::clone(&services), 1, GroupId(2));
        let key = AdvisoryKey::One(7);
        assert_eq!(a.try_lock(key, false, false), Some(true));
        assert_eq!(a.try_lock(key, false, false), Some(true));
        assert_eq!(a.try_lock(key, true, true), Some(true));
        assert_eq!(b.try_lock(key, true, false), Some(false));
        assert!(a.unlock(key, false));
        assert_eq!(b.try_lock(key, true, false), Some(false));
        assert!(a.unlock(key, false));
        assert!(!a.unlock(key, false));
        assert_eq!(b.try_lock(key, true, false), Some(true));
        assert_eq!(b.try_lock(key, false, false), Some(false));
        a.end_transaction();
        assert_eq!(b.try_lock(key, false, false), Some(true));
        assert_eq!(a.try_lock(AdvisoryKey::Two(0, 7), false, false), Some(true));
    }
}
