//! Savepoints, and taking back what was done since one.

use super::{Savepoint, State, Transaction};
use stoa_pg::{PgError, PgResult, SqlState};

impl Transaction {
    /// SAVEPOINT: names may repeat; the newest counts.
    ///
    /// # Errors
    /// None at present.
    pub fn savepoint(&self, name: &str) -> PgResult<()> {
        self.end_statement();
        let mut state = self.state.lock();
        let savepoint = Savepoint {
            name: name.to_owned(),
            layers: state.layers.len(),
            locks: state.locks.len(),
            strengthened: state.strengthened.len(),
            many_locks: self.transactions.locks().seal(self.group),
            advisory: self.advisory.mark(),
            catalog: state.catalog.clone(),
            on_commit: state.on_commit.len(),
            on_rollback: state.on_rollback.len(),
            deferred: state.deferred.len(),
            constraints: state.constraints.clone(),
        };
        state.savepoints.push(savepoint);
        Ok(())
    }

    /// How many savepoints there are.
    pub(in crate::txn) fn savepoints(&self) -> usize {
        self.state.lock().savepoints.len()
    }

    fn savepoint_position(state: &State, name: &str) -> PgResult<usize> {
        state
            .savepoints
            .iter()
            .rposition(|s| s.name == name)
            .ok_or_else(|| PgError::new(SqlState::INVALID_SAVEPOINT_SPECIFICATION, format!("savepoint \"{name}\" does not exist")))
    }

    /// RELEASE SAVEPOINT.
    ///
    /// # Errors
    /// 3B001.
    pub fn release(&self, name: &str) -> PgResult<()> {
        let mut state = self.state.lock();
        let at = Self::savepoint_position(&state, name)?;
        state.savepoints.truncate(at);
        self.open_objects.lock().release(at);
        state.merge_layers();
        Ok(())
    }

    /// ROLLBACK TO SAVEPOINT: the savepoint stays.
    ///
    /// # Errors
    /// 3B001.
    pub async fn rollback_to(&self, name: &str) -> PgResult<()> {
        let at = {
            let mut state = self.state.lock();
            let at = Self::savepoint_position(&state, name)?;
            state.savepoints.truncate(at + 1);
            self.open_objects.lock().roll_back_to(at);
            state.current.clear();
            if let Some(layers) = state.savepoints.get(at).map(|s| s.layers) {
                state.layers.truncate(layers);
            }
            at
        };
        self.run_rollback_hooks(|state| state.savepoints.get(at).map_or(0, |s| s.on_rollback)).await;
        let mut state = self.state.lock();
        let state = &mut *state;
        let Some(savepoint) = state.savepoints.get(at) else { return Ok(()) };
        state.catalog.clone_from(&savepoint.catalog);
        state.deferred.truncate(savepoint.deferred);
        state.constraints.clone_from(&savepoint.constraints);
        state.on_commit.truncate(savepoint.on_commit);
        self.advisory.rollback_to(savepoint.advisory);
        self.transactions.locks().release_many(self.group, savepoint.many_locks);
        let since = state.locks.split_off(savepoint.locks.min(state.locks.len()));
        self.transactions.locks().release(self.group, &since);
        for (id, mode) in state.strengthened.split_off(savepoint.strengthened.min(state.strengthened.len())) {
            let _ = self.transactions.locks().release_mode(self.group, id, mode);
        }
        Ok(())
    }

    /// Runs hooks of a rollback, the latest first, until as many are left as `floor` says. Locks are given up after it: whoever
    /// waits for one must find everything as it was before.
    pub(super) async fn run_rollback_hooks(&self, floor: impl Fn(&State) -> usize) {
        loop {
            let hook = {
                let mut state = self.state.lock();
                if state.on_rollback.len() <= floor(&state) {
                    return;
                }
                state.on_rollback.pop()
            };
            if let Some(hook) = hook {
                hook().await;
            }
        }
    }

    /// A statement failed: what was done since the newest savepoint is taken back at once, and its locks are given up.
    pub async fn abort_newest(&self) {
        let newest = self.state.lock().savepoints.last().map(|s| s.name.clone());
        match newest {
            // It is there: its name was read from it.
            Some(name) => drop(self.rollback_to(&name).await),
            None => self.rollback().await,
        }
    }
}
