//! Ids and the values of sequences: outside of transactions, in blocks that are durable before the first of them is given out.
//!
//! Invariant: the stored state is never behind a value that was given out, so that a value is never given out twice, whatever
//! happens in between; after a crash, values of a block are left out.

use crate::catalog::store::{decode, delete, encode, get, put, sequence_key, store_ids, stored_ids};
use crate::catalog::{Numbers, Oid, SequenceDescriptor, SequenceState};
use async_trait::async_trait;
use hashbrown::HashMap;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_store::Store;
use tokio::sync::{Mutex as AsyncMutex, watch};

/// How many ids are taken at a time.
const ID_BLOCK: u32 = 64;
/// How many values are made durable at a time, unless CACHE says more.
const BLOCK: i64 = 32;
/// How many are where values are wanted fast.
const MAX_BLOCK: i64 = 4096;
/// Blocks that are used up sooner are followed by larger ones.
const FAST: Duration = Duration::from_millis(100);

/// What became of a write; `None` while it is under way.
type Outcome = watch::Receiver<Option<PgResult<()>>>;

/// A sequence in use.
#[derive(Debug)]
struct Live {
    state: SequenceState,
    /// Values behind the last one that are durable and not yet given out; none during a write.
    ahead: i64,
    /// The step between those.
    increment: i64,
    block: i64,
    stored: Option<Instant>,
    /// The write of its state that is under way: there is one at a time.
    writing: Option<Outcome>,
}

impl Live {
    fn new(state: SequenceState) -> Self {
        Self { state, ahead: 0, increment: 0, block: 0, stored: None, writing: None }
    }
}

/// Ids that were taken from the store and not yet given out.
#[derive(Debug)]
struct Ids {
    next: u32,
    end: u32,
}

/// The numbers of one process on a store.
#[derive(Debug)]
pub struct LocalNumbers {
    store: Arc<dyn Store>,
    /// `None` until the first one is asked for.
    ids: AsyncMutex<Option<Ids>>,
    transactions: AtomicU64,
    /// The sequences that were used.
    sequences: Mutex<HashMap<Oid, Arc<Mutex<Live>>>>,
}

impl LocalNumbers {
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, ids: AsyncMutex::default(), transactions: AtomicU64::new(1), sequences: Mutex::default() }
    }

    async fn of(&self, sequence: &SequenceDescriptor) -> PgResult<Arc<Mutex<Live>>> {
        if let Some(state) = self.known(sequence.oid) {
            return Ok(state);
        }
        let state = match get(&*self.store, &sequence_key(sequence.oid)).await? {
            Some(bytes) => SequenceState { log_cnt: 0, ..decode(&bytes)? },
            None => SequenceState { last_value: sequence.start, is_called: false, log_cnt: 0 },
        };
        let mut known = self.sequences.lock();
        Ok(Arc::clone(known.entry(sequence.oid).or_insert_with(|| Arc::new(Mutex::new(Live::new(state))))))
    }

    fn known(&self, oid: Oid) -> Option<Arc<Mutex<Live>>> {
        self.sequences.lock().get(&oid).map(Arc::clone)
    }

    /// Starts to write a state; `then` changes what is in memory once it is durable.
    ///
    /// A thread of its own does it. Functions wait for values in the middle of a batch, where they hold up the thread on which other
    /// tasks would go on: no write may depend on one of these.
    fn write(
        &self,
        oid: Oid,
        live: &Arc<Mutex<Live>>,
        now: &mut Live,
        state: SequenceState,
        then: impl FnOnce(&mut Live) + Send + 'static,
    ) -> PgResult<Outcome> {
        let (key, bytes) = (sequence_key(oid), encode(&state)?);
        let (tell, outcome) = watch::channel(None);
        let (store, of) = (Arc::clone(&self.store), Arc::clone(live));
        let work = move || {
            let result = futures::executor::block_on(put(&*store, &key, &bytes));
            let mut live = of.lock();
            live.writing = None;
            if result.is_ok() {
                then(&mut live);
            }
            drop(live);
            tell.send_replace(Some(result));
        };
        std::thread::Builder::new().name("stoa-sequence".into()).spawn(work).map_err(|error| {
            PgError::new(SqlState::INSUFFICIENT_RESOURCES, "could not start the thread that writes a sequence").detail(error.to_string())
        })?;
        now.ahead = 0;
        now.writing = Some(outcome.clone());
        Ok(outcome)
    }

    /// Starts to make a value durable that is to be given out next, and at least so many behind it.
    fn write_block(
        &self,
        sequence: &SequenceDescriptor,
        live: &Arc<Mutex<Live>>,
        now: &mut Live,
        value: i64,
        least: i64,
    ) -> PgResult<Outcome> {
        let own = sequence.cache.max(BLOCK).max(least);
        let fast = now.stored.is_some_and(|at| at.elapsed() < FAST);
        let block = if fast { now.block.saturating_mul(2).min(MAX_BLOCK).max(own) } else { own };
        let (last, count) = behind(sequence, value, block);
        let increment = sequence.increment;
        self.write(sequence.oid, live, now, SequenceState { last_value: last, is_called: true, log_cnt: 0 }, move |live| {
            // The value itself counts as well.
            *live = Live { ahead: count + 1, increment, block, stored: Some(Instant::now()), writing: None, state: live.state };
        })
    }
}

/// Waits for the end of a write.
async fn written(mut outcome: Outcome) -> PgResult<()> {
    match outcome.wait_for(Option::is_some).await {
        Ok(result) => result.clone().unwrap_or(Ok(())),
        Err(_) => Err(PgError::internal("the write of a sequence was given up")),
    }
}

impl Live {
    /// The value that comes next.
    fn following(&self, sequence: &SequenceDescriptor) -> PgResult<i64> {
        if self.state.is_called { step(sequence, self.state.last_value) } else { Ok(self.state.last_value) }
    }

    fn has_ahead(&self, sequence: &SequenceDescriptor, values: i64) -> bool {
        self.ahead >= values && self.increment == sequence.increment
    }

    /// Gives out a value, which is durable.
    fn give(&mut self, sequence: &SequenceDescriptor, value: i64) -> i64 {
        self.ahead -= 1;
        let log_cnt = match self.state.log_cnt {
            0 => behind(sequence, value, sequence.cache.max(BLOCK)).1,
            count => count - 1,
        };
        self.state = SequenceState { last_value: value, is_called: true, log_cnt };
        value
    }
}

#[async_trait]
impl Numbers for LocalNumbers {
    async fn next_id(&self) -> PgResult<Oid> {
        let mut ids = self.ids.lock().await;
        let ids = match &mut *ids {
            Some(ids) => ids,
            none => {
                let next = stored_ids(&*self.store).await?;
                none.insert(Ids { next, end: next })
            }
        };
        if ids.next == ids.end {
            let end = ids.end.checked_add(ID_BLOCK);
            let end = end.ok_or_else(|| PgError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "out of object identifiers"))?;
            store_ids(&*self.store, end).await?;
            ids.end = end;
        }
        let id = ids.next;
        ids.next += 1;
        Ok(id)
    }

    fn next_transaction(&self) -> u64 {
        self.transactions.fetch_add(1, Ordering::Relaxed)
    }

    fn try_next(&self, sequence: &SequenceDescriptor) -> Option<PgResult<i64>> {
        let live = self.known(sequence.oid)?;
        let mut live = live.lock();
        live.has_ahead(sequence, 1).then(|| live.following(sequence).map(|value| live.give(sequence, value)))
    }

    async fn next(&self, sequence: &SequenceDescriptor) -> PgResult<i64> {
        let live = self.of(sequence).await?;
        loop {
            let outcome = {
                let mut now = live.lock();
                let value = now.following(sequence)?;
                match &now.writing {
                    Some(outcome) => outcome.clone(),
                    None if now.has_ahead(sequence, 1) => return Ok(now.give(sequence, value)),
                    None => self.write_block(sequence, &live, &mut now, value, 0)?,
                }
            };
            written(outcome).await?;
        }
    }

    async fn fill(&self, sequence: &SequenceDescriptor, values: i64) -> PgResult<()> {
        let live = self.of(sequence).await?;
        let mut wrote = false;
        loop {
            let outcome = {
                let mut now = live.lock();
                match &now.writing {
                    Some(outcome) => outcome.clone(),
                    None if wrote || now.has_ahead(sequence, values) => return Ok(()),
                    // At its end it says so when the value is asked for.
                    None => match now.following(sequence) {
                        Ok(value) => {
                            wrote = true;
                            self.write_block(sequence, &live, &mut now, value, values)?
                        }
                        Err(_) => return Ok(()),
                    },
                }
            };
            written(outcome).await?;
        }
    }

    async fn state(&self, sequence: &SequenceDescriptor) -> PgResult<SequenceState> {
        let live = self.of(sequence).await?;
        let state = live.lock().state;
        Ok(state)
    }

    async fn restore(&self, sequence: &SequenceDescriptor, new: SequenceState) -> PgResult<()> {
        let live = self.of(sequence).await?;
        let new = SequenceState { log_cnt: 0, ..new };
        loop {
            let (outcome, own) = {
                let mut now = live.lock();
                match &now.writing {
                    Some(outcome) => (outcome.clone(), false),
                    None => (self.write(sequence.oid, &live, &mut now, new, move |live| *live = Live::new(new))?, true),
                }
            };
            let result = written(outcome).await;
            if own {
                return result;
            }
        }
    }

    async fn set(&self, sequence: &SequenceDescriptor, value: i64, is_called: bool) -> PgResult<()> {
        if !(sequence.min..=sequence.max).contains(&value) {
            return Err(PgError::new(
                SqlState::NUMERIC_VALUE_OUT_OF_RANGE,
                format!("setval: value {value} is out of bounds for sequence \"{}\" ({}..{})", sequence.name, sequence.min, sequence.max),
            ));
        }
        self.restore(sequence, SequenceState { last_value: value, is_called, log_cnt: 0 }).await
    }

    async fn forget(&self, oid: Oid) {
        self.sequences.lock().remove(&oid);
        // A row that stays is removed at the next open.
        if let Err(error) = delete(&*self.store, &sequence_key(oid)).await {
            tracing::warn!(%error, oid, "the state of a dropped sequence could not be removed");
        }
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
        crate::Tables::new(Arc::clone(&store)).open_catalog().await.unwrap();
        let s = sequence(1, 1, 100_000, 1, false);
        let first = LocalNumbers::new(Arc::clone(&store));
        let mut given = Vec::new();
        for _ in 0..40 {
            given.push(first.next(&s).await.unwrap());
        }
        assert_eq!(given, (1..=40).collect::<Vec<_>>());
        assert!(first.try_next(&SequenceDescriptor { oid: s.oid + 1, ..s.clone() }).is_none());
        assert_eq!(first.state(&s).await.unwrap(), SequenceState { last_value: 40, is_called: true, log_cnt: 26 });
        // Another step is not that of the values which are durable.
        let wide = SequenceDescriptor { increment: 20, ..s.clone() };
        given.push(first.next(&wide).await.unwrap());
        // As after a crash.
        let second = LocalNumbers::new(Arc::clone(&store));
        let next = second.next(&s).await.unwrap();
        assert!(!given.contains(&next) && next > 60);
        given.push(next);
        second.set(&s, 7, false).await.unwrap();
        assert_eq!(LocalNumbers::new(store).next(&s).await.unwrap(), 7);
    }

    #[tokio::test]
    async fn bounds_and_cycles() {
        let store: Arc<dyn Store> = Arc::new(ModelStore::default());
        crate::Tables::new(Arc::clone(&store)).open_catalog().await.unwrap();
        let sequences = LocalNumbers::new(store);
        let s = sequence(2, 1, 4, 1, false);
        assert_eq!((sequences.next(&s).await.unwrap(), sequences.next(&s).await.unwrap()), (1, 3));
        assert_eq!(sequences.next(&s).await.unwrap_err().code().as_str(), "2200H");
        let s = SequenceDescriptor { oid: 20_001, ..sequence(-1, -2, 5, 0, true) };
        for value in [0, -1, -2, 5] {
            assert_eq!(sequences.next(&s).await.unwrap(), value);
        }
        assert_eq!(sequences.set(&s, 6, true).await.unwrap_err().code().as_str(), "22003");
    }

    #[tokio::test]
    async fn values_that_were_filled_in_need_no_waiting() {
        let store: Arc<dyn Store> = Arc::new(ModelStore::default());
        crate::Tables::new(Arc::clone(&store)).open_catalog().await.unwrap();
        let (s, numbers) = (sequence(1, 1, 1000, 1, false), LocalNumbers::new(Arc::clone(&store)));
        assert!(numbers.try_next(&s).is_none());
        numbers.fill(&s, 200).await.unwrap();
        for value in 1..=200 {
            assert_eq!(numbers.try_next(&s).unwrap().unwrap(), value);
        }
        assert_eq!(numbers.state(&s).await.unwrap().last_value, 200);
        assert!(LocalNumbers::new(store).next(&s).await.unwrap() > 200);
    }
}
