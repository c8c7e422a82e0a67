//! Bulk loads: commits larger than memory.
//!
//! A small load is one commit at its end. A large one begins with a time of its own, which no commit has: its rows are put at that time
//! while they come, and no reader sees what stands there. It ends with a commit, whose record says so in the log ([`StoredLoad`]): from
//! then on what stands at the time of the beginning counts as of the commit. Puts say nothing of what they replace, since that could not be
//! taken back; rows in which something is deleted wait in memory for the commit. What was put by a load that did not end is removed.
//!
//! Nobody else writes the rows of a load between its times, and the gates of its tables are held.

use crate::apply::to_mutation;
use crate::changes::{EncodedCommit, FamilyChange, RowChange};
use crate::commit::{COMMIT_BYTES, Core, count};
use crate::failure::{read_error, write_error};
use crate::keys::{LIMITS, bytes_to_hbase};
use crate::log::StoredLoad;
use crate::options::Markers;
use crate::tables::Table;
use crate::ticks::Tick;
use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use hashbrown::HashMap;
use parking_lot::RwLock;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stoa_hbase_client::{Action, Filter, Mutation, Scan};
use stoa_store::model::LoadOrder;
use stoa_store::{BulkLoad, Certainty, FamilyId, KeyRange, MutationRef, Mutations, StoreError, StoreResult, TableId, Timestamp};
use tokio::sync::OwnedRwLockReadGuard;
use tokio::task::JoinHandle;

/// Loads up to this size are one commit at their end.
const SMALL: usize = 8 << 20;
/// What is put at once, and how many times that.
const PIECE: usize = 2 << 20;
const AT_ONCE: usize = 4;
const ACTIONS: usize = 1000;
/// How long a piece is tried: longer than a region needs to be elsewhere when its server dies.
const PATIENCE: Duration = Duration::from_secs(120);
/// Rows of a load that did not end are looked for once more after so long, or a retention: a server may have carried out late what
/// was sent to it.
const LATE: Duration = Duration::from_secs(600);
const TEND: Duration = Duration::from_secs(1);
/// How long a load is remembered after its end, in retentions: from then on its cells have the time of its beginning.
const KEPT: u32 = 100;

/// A load, as long as it matters how it stands.
#[derive(Debug)]
struct Load {
    begin: Tick,
    end: Option<Tick>,
    tables: Arc<[TableId]>,
    /// It will not end.
    given_up: bool,
    /// When its rows were removed.
    swept: Option<Instant>,
}

/// The loads of a store.
#[derive(Debug, Default)]
pub(crate) struct Loads(RwLock<Vec<Load>>);

impl Loads {
    /// As the log tells of them: those that have not ended never will.
    pub fn found(loads: Vec<StoredLoad>) -> Loads {
        let load =
            |load: StoredLoad| Load { begin: load.begin, end: load.end, tables: load.tables, given_up: load.end.is_none(), swept: None };
        Loads(RwLock::new(loads.into_iter().map(load).collect()))
    }

    pub fn begin(&self, begin: Tick, tables: Arc<[TableId]>) {
        self.0.write().push(Load { begin, end: None, tables, given_up: false, swept: None });
    }

    pub fn end(&self, begin: Tick, end: Tick) {
        self.0.write().iter_mut().filter(|load| load.begin == begin).for_each(|load| load.end = Some(end));
    }

    pub fn give_up(&self, begin: Tick) {
        self.0.write().iter_mut().filter(|load| load.begin == begin).for_each(|load| load.given_up = true);
    }

    /// When the loads into a table began and have ended.
    pub fn of(&self, table: TableId) -> Vec<(Tick, Option<Tick>)> {
        let loads = self.0.read();
        loads.iter().filter(|load| load.tables.contains(&table)).map(|load| (load.begin, load.end)).collect()
    }
}

/// What a commit needs to end a load.
#[derive(Debug)]
pub(crate) struct EndedLoad {
    pub begin: Tick,
    pub tables: Arc<[TableId]>,
    /// The rows that it wrote.
    pub ranges: Vec<(TableId, KeyRange)>,
}

pub(crate) struct HbaseLoad {
    core: Arc<Core>,
    tables: Vec<Arc<Table>>,
    gates: Vec<OwnedRwLockReadGuard<()>>,
    order: LoadOrder,
    /// What has come and is not put yet.
    mutations: Mutations,
    /// The first key and the last one of each table.
    ranges: HashMap<TableId, (Vec<u8>, Vec<u8>)>,
    /// Rows that wait for the end, as a commit has them.
    at_end: BytesMut,
    begun: Option<Tick>,
    running: VecDeque<JoinHandle<StoreResult<()>>>,
}

impl HbaseLoad {
    /// # Errors
    /// [`StoreError::NoSuchTable`].
    pub async fn new(core: &Arc<Core>, ids: &[TableId]) -> StoreResult<HbaseLoad> {
        let mut sorted = ids.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let (mut tables, mut gates) = (Vec::with_capacity(sorted.len()), Vec::with_capacity(sorted.len()));
        for id in sorted {
            loop {
                let table = core.table(id)?;
                let gate = Arc::clone(&table.gate).read_owned().await;
                // It may be another one behind the gate.
                if core.tables().has(&table) {
                    tables.push(table);
                    gates.push(gate);
                    break;
                }
            }
        }
        Ok(HbaseLoad {
            core: Arc::clone(core),
            tables,
            gates,
            order: LoadOrder::new(ids),
            mutations: Mutations::new(),
            ranges: HashMap::new(),
            at_end: BytesMut::new(),
            begun: None,
            running: VecDeque::new(),
        })
    }

    fn small(&self) -> usize {
        self.core.options.faults.load_bytes.unwrap_or(SMALL)
    }

    /// Puts what has come, but for rows that must wait.
    async fn put_piece(&mut self) -> StoreResult<()> {
        let begin = self.begin().await?;
        let EncodedCommit { rows, .. } = EncodedCommit::new(&self.mutations, &self.core.tables())?;
        self.mutations.clear();
        let mut pieces: Vec<(Arc<Table>, Vec<Action>)> = Vec::new();
        for row in rows {
            let (first, last) = self.ranges.entry(row.table).or_insert_with(|| (row.key.to_vec(), Vec::new()));
            if *row.key < **first {
                return Err(StoreError::Invalid("the keys of a bulk load must not go down".into()));
            }
            last.clear();
            last.extend_from_slice(&row.key);
            let table = self.tables.iter().find(|table| table.id() == row.table).ok_or(StoreError::NoSuchTable(row.table.0))?;
            if !can_be_put(table, &row) {
                self.at_end.extend_from_slice(&row.encoded);
                if self.at_end.len() > COMMIT_BYTES {
                    let (size, limit) = (self.at_end.len() as u64, COMMIT_BYTES as u64);
                    return Err(StoreError::TooLarge { what: "what a bulk load deletes", size, limit });
                }
                continue;
            }
            let key = bytes_to_hbase(&row.key);
            let Some(put) = to_mutation(table, &key, &vec![(begin, row)], Markers::LeftOut) else { continue };
            match pieces.last_mut() {
                Some((of, actions)) if of.id() == table.id() && actions.len() < ACTIONS => actions.push(Action::Mutate(put)),
                _ => pieces.push((Arc::clone(table), vec![Action::Mutate(put)])),
            }
        }
        for (table, actions) in pieces {
            while self.running.len() >= AT_ONCE {
                self.one_ended().await?;
            }
            self.running.push_back(self.core.handle.spawn(put(Arc::clone(&self.core), self.stored(begin), table, actions)));
        }
        Ok(())
    }

    fn stored(&self, begin: Tick) -> StoredLoad {
        StoredLoad { begin, end: None, tables: self.tables.iter().map(|table| table.id()).collect() }
    }

    async fn begin(&mut self) -> StoreResult<Tick> {
        if let Some(begin) = self.begun {
            return Ok(begin);
        }
        let begin = self.core.begin_load(self.stored(Tick::default()).tables).await?;
        self.begun = Some(begin);
        Ok(begin)
    }

    async fn one_ended(&mut self) -> StoreResult<()> {
        // It stays until it has ended: who drops the load waits for it.
        let Some(running) = self.running.front_mut() else { return Ok(()) };
        let ended = running.await;
        self.running.pop_front();
        ended.unwrap_or_else(|_| Err(StoreError::Unavailable("the store is closed".into())))
    }
}

/// Whether a row can be put before the load ends: nothing of it is deleted, but what a put hides anyway.
fn can_be_put(table: &Table, row: &RowChange) -> bool {
    let of_family = |change: &FamilyChange| {
        let one_version = |id: FamilyId| table.families.iter().any(|of| of.id == id && of.is_packed() && of.options.versions == 1);
        let sets = change.cells.iter().all(|cell| cell.value.is_some());
        let hides = change.cleared || change.cells.iter().any(|cell| cell.replaced);
        sets && (!hides || (!change.cells.is_empty() && one_version(change.family)))
    };
    row.families.iter().all(of_family)
}

/// Puts rows of a load, once it is sure that the load is this store's to put: one that was taken over has its rows removed.
async fn put(core: Arc<Core>, load: StoredLoad, table: Arc<Table>, actions: Vec<Action>) -> StoreResult<()> {
    core.check_owner()?;
    if !core.log.write_load(&load).await.map_err(write_error)? {
        core.lose();
        return core.check_owner();
    }
    let answers = table.handle.timeout(PATIENCE).batch(&actions).await;
    answers.into_iter().find_map(Result::err).map_or(Ok(()), |error| {
        // Whatever became of it: the load is given up.
        Err(StoreError::Io { message: error.to_string(), certainty: Certainty::NotDone })
    })
}

#[async_trait]
impl BulkLoad for HbaseLoad {
    fn apply(&mut self, mutation: MutationRef<'_>) -> StoreResult<()> {
        let (id, key) = mutation.row();
        self.order.next(id, key)?;
        let table = self.tables.iter().find(|table| table.id() == id).ok_or(StoreError::NoSuchTable(id.0))?;
        LIMITS.check_mutation(&table.schema, &mutation)?;
        self.mutations.push(mutation);
        if self.mutations.bytes() > COMMIT_BYTES {
            let (size, limit) = (self.mutations.bytes() as u64, COMMIT_BYTES as u64);
            return Err(StoreError::TooLarge { what: "a bulk load that is not drained", size, limit });
        }
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.mutations.bytes() >= if self.begun.is_some() { PIECE.min(self.small()) } else { self.small() }
    }

    async fn drain(&mut self) -> StoreResult<()> {
        if self.is_full() { self.put_piece().await } else { Ok(()) }
    }

    async fn finish(mut self: Box<Self>) -> StoreResult<Timestamp> {
        count(&self.core.counters.loads, 1);
        self.drain().await?;
        let Some(begin) = self.begun else {
            // Until its end nobody else may write its rows: there is nothing to check.
            self.gates.clear();
            return self.core.commit(&self.mutations, None, &[], None).await;
        };
        if !self.mutations.is_empty() {
            self.put_piece().await?;
        }
        while !self.running.is_empty() {
            self.one_ended().await?;
        }
        let ranges = std::mem::take(&mut self.ranges).into_iter();
        let ranges = ranges.map(|(table, (first, last))| (table, KeyRange { start: first, end: KeyRange::point(&last).end })).collect();
        let load = EndedLoad { begin, tables: self.stored(begin).tables, ranges };
        let (body, gates) = (std::mem::take(&mut self.at_end).freeze(), std::mem::take(&mut self.gates));
        let ended = self.core.end_load(load, body, self.tables.clone(), gates).await;
        if !ended.as_ref().is_err_and(|error| error.certainty() == Certainty::NotDone) {
            self.begun = None;
        }
        self.tables.iter().for_each(|table| table.sizes.lock().forget());
        ended
    }
}

impl Drop for HbaseLoad {
    fn drop(&mut self) {
        let Some(begin) = self.begun.take() else { return };
        let (core, running) = (Arc::clone(&self.core), std::mem::take(&mut self.running));
        let gates = std::mem::take(&mut self.gates);
        self.core.handle.spawn(async move {
            // What is under way comes before it is removed.
            for put in running {
                let _ = put.await;
            }
            drop(gates);
            core.loads.give_up(begin);
        });
    }
}

/// Forgets loads that matter to no reader any more, and removes the rows of those that will not end.
pub(crate) async fn tend(core: Arc<Core>) {
    let mut every = tokio::time::interval(TEND);
    let kept_ms = |load: &Load| {
        let tables = load.tables.iter().filter_map(|id| core.table(*id).ok());
        let longest = tables.map(|table| Duration::from_millis(table.stored.retention_ms)).fold(core.options.retention, Duration::max);
        u64::try_from(core.options.faults.loads_kept.unwrap_or(longest * KEPT).as_millis()).unwrap_or(u64::MAX)
    };
    loop {
        every.tick().await;
        if core.is_lost() {
            return;
        }
        let now_ms = core.options.clock.now_us() / 1000;
        let late = LATE.min(core.options.retention);
        let is_over = |load: &Load| match load.end {
            Some(end) => end.0.saturating_add(kept_ms(load)) < now_ms,
            None => load.given_up && load.swept.is_none_or(|at| at.elapsed() >= late),
        };
        let over: Vec<_> = {
            let loads = core.loads.0.read();
            let over = loads.iter().filter(|load| is_over(load));
            over.map(|load| (load.begin, load.end.is_some(), load.swept.is_some(), Arc::clone(&load.tables))).collect()
        };
        for (begin, ended, swept, tables) in over {
            if let Err(error) = end_of_load(&core, begin, ended, swept, &tables).await {
                tracing::warn!("load {} into {} tables is not tidied up yet: {error}", begin.0, tables.len());
            }
        }
    }
}

async fn end_of_load(core: &Core, begin: Tick, ended: bool, swept: bool, tables: &[TableId]) -> StoreResult<()> {
    if !ended {
        for id in tables {
            remove_rows(core, begin, *id).await?;
        }
        if !swept {
            let mut loads = core.loads.0.write();
            loads.iter_mut().filter(|load| load.begin == begin).for_each(|load| load.swept = Some(Instant::now()));
            return Ok(());
        }
    }
    if !core.log.forget_load(begin).await.map_err(write_error)? {
        core.lose();
        return Ok(());
    }
    core.loads.0.write().retain(|load| load.begin != begin);
    Ok(())
}

/// Removes all that stands at a time in a table.
async fn remove_rows(core: &Core, begin: Tick, id: TableId) -> StoreResult<()> {
    let Ok(table) = core.table(id) else { return Ok(()) };
    if begin.0 <= table.stored.since {
        return Ok(());
    }
    let times = begin.0..begin.0 + 1;
    let scan = Scan::range(Bytes::new(), Bytes::new()).filter(Filter::all_of([Filter::first_key_only(), Filter::key_only()])).uncached();
    let add = |scan: Scan, family: &crate::tables::Family| {
        scan.family(family.hbase.clone()).family_time_range(family.hbase.clone(), times.clone())
    };
    let mut scanner = table.handle.scan(table.families.iter().fold(scan, add));
    let mut rows = 0;
    while let Some(found) = scanner.next_batch().await.map_err(read_error)? {
        core.check_owner()?;
        rows += found.len();
        let delete = |key: &[u8]| {
            let empty = Mutation::delete(Bytes::copy_from_slice(key));
            table.families.iter().fold(empty, |delete, family| delete.family_version_at(&family.hbase, begin.0 as i64))
        };
        let actions: Vec<_> = found.iter().map(|row| Action::Mutate(delete(row.key()))).collect();
        let answers = table.handle.timeout(PATIENCE).batch(&actions).await;
        answers.into_iter().find_map(Result::err).map_or(Ok(()), |error| Err(write_error(error)))?;
    }
    if rows > 0 {
        tracing::info!("{rows} rows of a load into table {} that did not end are removed", id.0);
    }
    Ok(())
}
