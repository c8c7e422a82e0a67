//! The values of sequences: outside of transactions, in blocks that are durable before the first of them is given out.
//!
//! Invariant: the stored state is never behind a value that was given out, so that a value is never given out twice, whatever
//! happens in between; after a crash, values of a block are left out.

use super::descriptor::{Oid, SequenceDescriptor};
use super::store::{decode, delete, encode, get, put, sequence_key};
use hashbrown::HashMap;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_store::Store;

/// How many values are made durable at a time, unless CACHE says more.
const BLOCK: i64 = 32;
/// How many are where values are wanted fast.
const MAX_BLOCK: i64 = 4096;
/// Blocks that are used up sooner are followed by larger ones.
const FAST: Duration = Duration::from_millis(100);

/// What `SELECT * FROM sequence` shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SequenceState {
    pub last_value: i64,
    pub is_called: bool,
    /// How many values PostgreSQL would have made durable and not yet given out.
    #[serde(default)]
    pub log_cnt: i64,
}

/// A sequence in use.
#[derive(Debug)]
struct Live {
    state: SequenceState,
    /// Values behind the last one that are durable and not yet given out.
    ahead: i64,
    /// The step between those.
    increment: i64,
    block: i64,
    stored: Option<Instant>,
}

impl Live {
    fn new(state: SequenceState) -> Self {
        Self { state, ahead: 0, increment: 0, block: 0, stored: None }
    }
}

/// The sequences of a database that were used.
#[derive(Debug)]
pub struct Sequences {
    store: Arc<dyn Store>,
    states: Mutex<HashMap<Oid, Arc<Mutex<Live>>>>,
}

impl Sequences {
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        Self { store, states: Mutex::default() }
    }

    fn of(&self, sequence: &SequenceDescriptor) -> PgResult<Arc<Mutex<Live>>> {
        if let Some(state) = self.states.lock().get(&sequence.oid) {
            return Ok(Arc::clone(state));
        }
        let stored = wait(get(&*self.store, &sequence_key(sequence.oid)))?;
        let state = match stored {
            Some(bytes) => SequenceState { log_cnt: 0, ..decode(&bytes)? },
            None => SequenceState { last_value: sequence.start, is_called: false, log_cnt: 0 },
        };
        Ok(Arc::clone(self.states.lock().entry(sequence.oid).or_insert_with(|| Arc::new(Mutex::new(Live::new(state))))))
    }

    /// The next value.
    ///
    /// # Errors
    /// 2200H at the end of a sequence that does not cycle; what the store reports.
    pub fn next(&self, sequence: &SequenceDescriptor) -> PgResult<i64> {
        let live = self.of(sequence)?;
        let mut live = live.lock();
        let state = live.state;
        let value = if state.is_called { step(sequence, state.last_value)? } else { state.last_value };
        let own = sequence.cache.max(BLOCK);
        if live.ahead > 0 && live.increment == sequence.increment {
            live.ahead -= 1;
        } else {
            // Makes this value durable, and some behind it.
            let fast = live.stored.is_some_and(|at| at.elapsed() < FAST);
            let block = if fast { live.block.saturating_mul(2).min(MAX_BLOCK).max(own) } else { own };
            let (last, count) = behind(sequence, value, block);
            self.store_state(sequence.oid, SequenceState { last_value: last, is_called: true, log_cnt: 0 })?;
            *live = Live { ahead: count, increment: sequence.increment, block, stored: Some(Instant::now()), ..*live };
        }
        let log_cnt = if state.log_cnt > 0 { state.log_cnt - 1 } else { behind(sequence, value, own).1 };
        live.state = SequenceState { last_value: value, is_called: true, log_cnt };
        Ok(value)
    }

    /// Whether so many values are durable and can be had without waiting for the store, or for who does.
    #[must_use]
    pub fn has_ahead(&self, oid: Oid, values: i64) -> bool {
        let live = self.states.lock().get(&oid).map(Arc::clone);
        live.is_some_and(|live| live.try_lock().is_some_and(|live| live.ahead >= values))
    }

    /// `setval`.
    ///
    /// # Errors
    /// 22003 for a value out of the sequence's bounds.
    pub fn set(&self, sequence: &SequenceDescriptor, value: i64, is_called: bool) -> PgResult<()> {
        if !(sequence.min..=sequence.max).contains(&value) {
            return Err(PgError::new(
                SqlState::NUMERIC_VALUE_OUT_OF_RANGE,
                format!("setval: value {value} is out of bounds for sequence \"{}\" ({}..{})", sequence.name, sequence.min, sequence.max),
            ));
        }
        self.restore(sequence, SequenceState { last_value: value, is_called, log_cnt: 0 })
    }

    /// Sets the state as it is.
    ///
    /// # Errors
    /// What the store reports.
    pub fn restore(&self, sequence: &SequenceDescriptor, new: SequenceState) -> PgResult<()> {
        let live = self.of(sequence)?;
        let mut live = live.lock();
        let new = SequenceState { log_cnt: 0, ..new };
        self.store_state(sequence.oid, new)?;
        *live = Live::new(new);
        Ok(())
    }

    /// The state now.
    ///
    /// # Errors
    /// What the store reports.
    pub fn state(&self, sequence: &SequenceDescriptor) -> PgResult<SequenceState> {
        Ok(self.of(sequence)?.lock().state)
    }

    /// Forgets a sequence that was dropped.
    pub async fn forget(&self, oid: Oid) {
        self.states.lock().remove(&oid);
        // A row that stays is removed at the next open.
        if let Err(error) = delete(&*self.store, &sequence_key(oid)).await {
            tracing::warn!(%error, oid, "the state of a dropped sequence could not be removed");
        }
    }

    fn store_state(&self, oid: Oid, state: SequenceState) -> PgResult<()> {
        let bytes = encode(&state)?;
        wait(put(&*self.store, &sequence_key(oid), &bytes))
    }
}

/// The last of at most so many values behind one, without a cycle, and how many they are.
fn behind(sequence: &SequenceDescriptor, value: i64, most: i64) -> (i64, i64) {
    let mut last = value;
    let mut count = 0;
    while count < most
        && let Some(next) = last.checked_add(sequence.increment)
        && (sequence.min..=sequence.max).contains(&next)
    {
        last = next;
        count += 1;
    }
    (last, count)
}

fn step(sequence: &SequenceDescriptor, last: i64) -> PgResult<i64> {
    let up = sequence.increment > 0;
    match last.checked_add(sequence.increment).filter(|v| if up { *v <= sequence.max } else { *v >= sequence.min }) {
        // A changed bound may be beyond the last value.
        Some(value) => Ok(if up { value.max(sequence.min) } else { value.min(sequence.max) }),
        None if sequence.cycle => Ok(if up { sequence.min } else { sequence.max }),
        None => Err(PgError::new(
            SqlState::SEQUENCE_GENERATOR_LIMIT_EXCEEDED,
            if up {
                format!("nextval: reached maximum value of sequence \"{}\" ({})", sequence.name, sequence.max)
            } else {
                format!("nextval: reached minimum value of sequence \"{}\" ({})", sequence.name, sequence.min)
            },
        )),
    }
}

/// Waits for a future where the caller cannot: functions are called row by row, inside of plans.
pub fn wait<F: Future>(future: F) -> F::Output {
    match tokio::runtime::Handle::try_current() {
        Ok(handle) if handle.runtime_flavor() == tokio::runtime::RuntimeFlavor::MultiThread => {
            tokio::task::block_in_place(|| handle.block_on(future))
        }
        _ => futures::executor::block_on(future),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use stoa_pg::{PgType, SqlType};
    use stoa_store::model::ModelStore;

    fn sequence(increment: i64, min: i64, max: i64, start: i64, cycle: bool) -> SequenceDescriptor {
        SequenceDescriptor {
            oid: 20_000,
            schema: 2200,
            name: "s".into(),
            ty: SqlType::new(PgType::Int8),
            start,
            increment,
            min,
            max,
            cache: 1,
            cycle,
            owned_by: None,
            comment: None,
            temporary: false,
        }
    }

    #[tokio::test]
    async fn values_are_never_given_twice() {
        let store: Arc<dyn Store> = Arc::new(ModelStore::default());
        let catalog = crate::catalog::open(&crate::Tables::new(Arc::clone(&store))).await.unwrap();
        drop(catalog);
        let s = sequence(1, 1, 100_000, 1, false);
        let first = Sequences::new(Arc::clone(&store));
        let mut given: Vec<i64> = (0..40).map(|_| first.next(&s).unwrap()).collect();
        assert_eq!(given, (1..=40).collect::<Vec<_>>());
        assert!(first.has_ahead(s.oid, 1) && !first.has_ahead(s.oid, MAX_BLOCK) && !first.has_ahead(s.oid + 1, 1));
        assert_eq!(first.state(&s).unwrap(), SequenceState { last_value: 40, is_called: true, log_cnt: 26 });
        // Another step is not that of the values which are durable.
        let wide = SequenceDescriptor { increment: 20, ..s.clone() };
        given.push(first.next(&wide).unwrap());
        // As after a crash.
        let second = Sequences::new(Arc::clone(&store));
        let next = second.next(&s).unwrap();
        assert!(!given.contains(&next) && next > 60);
        given.push(next);
        second.set(&s, 7, false).unwrap();
        assert_eq!(Sequences::new(store).next(&s).unwrap(), 7);
    }

    #[tokio::test]
    async fn bounds_and_cycles() {
        let store: Arc<dyn Store> = Arc::new(ModelStore::default());
        crate::catalog::open(&crate::Tables::new(Arc::clone(&store))).await.unwrap();
        let sequences = Sequences::new(store);
        let s = sequence(2, 1, 4, 1, false);
        assert_eq!((sequences.next(&s).unwrap(), sequences.next(&s).unwrap()), (1, 3));
        assert_eq!(sequences.next(&s).unwrap_err().code().as_str(), "2200H");
        let s = SequenceDescriptor { oid: 20_001, ..sequence(-1, -2, 5, 0, true) };
        assert_eq!((0..4).map(|_| sequences.next(&s).unwrap()).collect::<Vec<_>>(), [0, -1, -2, 5]);
        assert_eq!(sequences.set(&s, 6, true).unwrap_err().code().as_str(), "22003");
    }
}
