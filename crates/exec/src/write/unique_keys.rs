//! Which rows of a batch may be inserted, and which meet rows that have one of their keys.
//!
//! A key is free when its lock is held and neither the newest commits nor the transaction's own rows have it. All keys of a batch are asked for at
//! once, without waiting, and looked up together; where nobody is in the way that is all. Otherwise rows are decided one after the other, as in
//! PostgreSQL. A key that is there needs no lock: whoever has its row, it is there, unless somebody deletes the row or changes the key.
//!
//! Invariant: a row that may be inserted has all of its keys locked. While a row is waited for, no other keys than those of such rows before
//! it are locked.

use super::expiry::remove_ended;
use super::lookup;
use super::table_writer::TableWriter;
use futures::future::try_join_all;
use hashbrown::{HashMap, HashSet};
use stoa_pg::{PgError, PgResult};
use stoa_table::failure::concurrent_update;
use stoa_table::row::raw::RowOfCells;
use stoa_table::row::{INDEX_FAMILY, KeyList};
use stoa_table::services::locks::{LockId, LockStrength, LockWait};
use stoa_table::txn::{KeyLock, Transaction};
use stoa_table::{KeyRange, TableId};

/// One unique constraint over one batch: its keys, by row.
pub struct UniqueKeys {
    /// A row that has a key of it is an error, and decides nothing else.
    pub is_strict: bool,
    /// By position in the writer; `None` is the primary key.
    pub index: Option<usize>,
    /// Empty where the row excludes no other.
    pub keys: KeyList,
    /// Whether each key is larger than the one before it: then none comes twice.
    ascending: bool,
    /// Keys of this batch's rows, where one may come twice.
    seen: HashSet<Vec<u8>>,
    /// Rows whose keys were looked for, and whether they were there: kept in SERIALIZABLE.
    asked: Vec<(usize, bool)>,
    /// What rows of a foreign table have already, by row; nothing of other tables.
    there: Vec<RowOfCells>,
}

/// A row that met another one.
#[derive(Debug)]
pub struct Conflict {
    pub row: usize,
    /// The constraint.
    pub constraint: usize,
    /// The key of the row that exists; `None` where that is one of this very batch.
    pub existing: Option<Vec<u8>>,
}

/// What becomes of the rows of a batch.
#[derive(Default)]
pub struct Decided {
    pub inserted: Vec<usize>,
    pub conflicts: Vec<Conflict>,
    /// The row that violates a constraint; nothing is said of those behind it.
    pub failed: Option<Conflict>,
}

/// Locks that a statement took, and may give up.
#[derive(Debug)]
pub struct Claims {
    /// How many locks the transaction had before.
    mark: usize,
    strength: LockStrength,
    taken: Vec<LockId>,
}

impl Claims {
    #[must_use]
    pub fn new(txn: &Transaction) -> Self {
        Self { mark: txn.locks_held(), strength: LockStrength::Key, taken: Vec::new() }
    }

    /// Those are kept, whatever becomes of the others.
    pub fn forget(&mut self, kept: &HashSet<LockId>) {
        self.taken.retain(|id| !kept.contains(id));
    }

    /// All are kept.
    pub fn forget_all(&mut self) {
        self.taken.clear();
    }

    /// Gives them up: no row was inserted under them.
    pub fn give_back(&mut self, txn: &Transaction) {
        txn.give_back(self.mark, &std::mem::take(&mut self.taken), self.strength);
        txn.gather_locks();
    }

    /// Gives them up but for some.
    fn give_back_others(&mut self, txn: &Transaction, kept: &HashSet<LockId>) {
        let (kept, others) = std::mem::take(&mut self.taken).into_iter().partition::<Vec<_>, _>(|id| kept.contains(id));
        self.taken = kept;
        txn.give_back(self.mark, &others, self.strength);
    }
}

/// What the lock of a row's key said.
#[derive(Clone, Copy)]
enum Asked {
    /// It is held, or the row needs none.
    Locked,
    /// Others have the row, as it is.
    Settled,
}

/// What a row waits for.
enum Waits {
    /// Another one who inserts or deletes the row, or changes its key.
    UntilSettled(LockId),
    /// Whoever has the lock of a key that is not there.
    ForKey(LockId),
}

/// How far a round came.
enum Reached {
    End,
    /// A row that was not asked for.
    Row(usize),
    Waits(usize, Waits),
}

impl UniqueKeys {
    #[must_use]
    pub fn new(is_strict: bool, index: Option<usize>, keys: KeyList) -> Self {
        let ascending = keys.iter().is_sorted_by(|a, b| a < b);
        Self { is_strict, index, keys, ascending, seen: HashSet::new(), asked: Vec::new(), there: Vec::new() }
    }

    /// Where rows have the keys.
    fn storage(&self, writer: &TableWriter) -> TableId {
        self.index.and_then(|at| writer.indexes.get(at)).map_or(writer.codec.storage, |index| index.codec.storage)
    }

    /// Asks for the locks of the keys of rows, up to one that somebody else inserts, deletes or changes.
    fn ask(&self, writer: &TableWriter, from: usize, to: usize, claims: &mut Claims) -> Vec<Asked> {
        let (txn, storage) = (&writer.ctx.txn, self.storage(writer));
        let mut out = Vec::with_capacity(to - from);
        for row in from..to {
            let key = self.keys.get(row);
            if key.is_empty() {
                out.push(Asked::Locked);
                continue;
            }
            let id = LockId::row(storage, key);
            out.push(match txn.try_lock_key(id) {
                KeyLock::Unsettled => break,
                KeyLock::Settled => Asked::Settled,
                KeyLock::Held => Asked::Locked,
                KeyLock::Taken => {
                    claims.taken.push(id);
                    Asked::Locked
                }
            });
        }
        out
    }

    /// What the rows of a foreign table that were decided have already, for [`RowEncoder::over`](stoa_table::row::RowEncoder::over).
    pub fn take_there(&mut self) -> Vec<RowOfCells> {
        std::mem::take(&mut self.there)
    }

    /// The keys of the rows that have keys of some rows.
    async fn find(&mut self, writer: &TableWriter, from: usize, to: usize) -> PgResult<HashMap<Vec<u8>, Vec<u8>>> {
        let wanted: Vec<&[u8]> = (from..to).map(|row| self.keys.get(row)).filter(|key| !key.is_empty()).collect();
        if wanted.is_empty() {
            return Ok(HashMap::new());
        }
        if writer.table.mapping.is_some() {
            // Its key is its only constraint, and every row has one; which cells are there tells which rows are as well.
            let there = writer.cells_there(&wanted).await?;
            let found = wanted.iter().zip(&there).filter(|(_, row)| row.is_there()).map(|(key, _)| (key.to_vec(), key.to_vec())).collect();
            self.there.truncate(from);
            self.there.extend(there);
            return Ok(found);
        }
        let view = writer.ctx.txn.newest_view();
        match self.index.and_then(|at| writer.indexes.get(at)) {
            None => {
                let family = writer.codec.families.first().map(|f| f.id).ok_or_else(|| PgError::internal("a table without families"))?;
                let found = view.exists(writer.codec.storage, family, &wanted).await?;
                Ok(wanted.iter().zip(found).filter(|(_, found)| *found).map(|(k, _)| (k.to_vec(), k.to_vec())).collect())
            }
            Some(index) => lookup::live_entries(&view, writer, index, &wanted).await,
        }
    }
}

/// Decides what becomes of the first `rows` rows. Constraints that are not strict come first.
///
/// # Errors
/// Lock failures; the store failed; 40001.
pub async fn decide(writer: &TableWriter, unique: &mut [UniqueKeys], rows: usize, claims: &mut Claims) -> PgResult<Decided> {
    let txn = &writer.ctx.txn;
    let mut decided = Decided::default();
    let mut from = 0;
    loop {
        // A batch that nobody is in the way of takes one round.
        let asked: Vec<Vec<Asked>> = unique.iter().map(|constraint| constraint.ask(writer, from, rows, claims)).collect();
        let looks = unique.iter_mut().zip(&asked).map(|(constraint, asked)| constraint.find(writer, from, from + asked.len()));
        let mut found = try_join_all(looks).await?;
        make_way(writer, &mut found).await?;
        match decide_rows(writer, unique, from..rows, &asked, &found, &mut decided) {
            Reached::End => break,
            Reached::Row(row) => from = row,
            Reached::Waits(row, waits) => {
                from = row;
                claims.give_back_others(txn, &locks_of(writer, unique, &decided.inserted));
                match waits {
                    Waits::UntilSettled(id) => txn.wait_until_settled(id, &writer.table.name).await?,
                    Waits::ForKey(id) => {
                        if txn.lock_row(id, LockStrength::Key, &writer.table.name).await? {
                            claims.taken.push(id);
                        }
                    }
                }
            }
        }
    }
    if txn.records_reads() {
        for constraint in unique.iter() {
            check_absent(writer, constraint).await?;
        }
    }
    Ok(decided)
}

/// Locks rows that were met. The locks of keys that `unused` has are given up as soon as those of the rows have taken their place, and before anybody
/// is waited for. Gives the locks that are new.
///
/// # Errors
/// Lock failures.
pub async fn lock_met(writer: &TableWriter, rows: &KeyList, strength: LockStrength, mut unused: Claims) -> PgResult<Claims> {
    let txn = &writer.ctx.txn;
    let mut claims = Claims { mark: unused.mark, strength, taken: Vec::new() };
    let ids: Vec<LockId> = rows.iter().map(|key| LockId::row(writer.codec.storage, key)).collect();
    let mut locked = 0;
    for id in &ids {
        let Some(new) = txn.try_lock_row(*id, strength) else { break };
        claims.taken.extend(new.then_some(*id));
        locked += 1;
    }
    let (locked, rest) = ids.split_at(locked);
    if strength == unused.strength {
        unused.forget(&locked.iter().copied().collect());
    }
    unused.give_back(txn);
    for id in rest {
        claims.taken.extend(txn.lock_row(*id, strength, &writer.table.name).await?.then_some(*id));
    }
    Ok(claims)
}

/// The locks of all keys of some rows.
#[must_use]
pub fn locks_of(writer: &TableWriter, unique: &[UniqueKeys], rows: &[usize]) -> HashSet<LockId> {
    let mut out = HashSet::with_capacity(rows.len() * unique.len());
    for constraint in unique {
        let storage = constraint.storage(writer);
        let keys = rows.iter().map(|row| constraint.keys.get(*row)).filter(|key| !key.is_empty());
        out.extend(keys.map(|key| LockId::row(storage, key)));
    }
    out
}

/// Decides rows in their order, as far as it is known what became of their keys.
fn decide_rows(
    writer: &TableWriter,
    unique: &mut [UniqueKeys],
    rows: std::ops::Range<usize>,
    asked: &[Vec<Asked>],
    found: &[HashMap<Vec<u8>, Vec<u8>>],
    decided: &mut Decided,
) -> Reached {
    let txn = &writer.ctx.txn;
    let records = txn.records_reads();
    let from = rows.start;
    'rows: for row in rows {
        for (n, constraint) in unique.iter_mut().enumerate() {
            let key = constraint.keys.get(row);
            if key.is_empty() {
                continue;
            }
            let mut existing = None;
            if !constraint.seen.contains(key) {
                let id = || LockId::row(constraint.storage(writer), key);
                let state = asked.get(n).and_then(|asked| asked.get(row - from));
                existing = found.get(n).and_then(|found| found.get(key));
                match (state, existing) {
                    (None, _) => {
                        let first = asked.get(n).is_some_and(|asked| asked.len() == row - from);
                        return if first { Reached::Waits(row, Waits::UntilSettled(id())) } else { Reached::Row(row) };
                    }
                    (Some(Asked::Settled), None) => return Reached::Waits(row, Waits::ForKey(id())),
                    (Some(_), Some(owner)) => {
                        let owner = LockId::row(writer.codec.storage, owner);
                        if constraint.index.is_some() && txn.is_unsettled(owner) {
                            return Reached::Waits(row, Waits::UntilSettled(owner));
                        }
                    }
                    (Some(Asked::Locked), None) => {}
                }
                if records {
                    constraint.asked.push((row, existing.is_some()));
                }
                if existing.is_none() {
                    continue;
                }
            }
            let conflict = Conflict { row, constraint: n, existing: existing.cloned() };
            if constraint.is_strict {
                decided.failed = Some(conflict);
                return Reached::End;
            }
            decided.conflicts.push(conflict);
            continue 'rows;
        }
        for constraint in unique.iter_mut().filter(|constraint| !constraint.ascending) {
            let key = constraint.keys.get(row);
            if !key.is_empty() {
                constraint.seen.insert(key.to_vec());
            }
        }
        decided.inserted.push(row);
    }
    Reached::End
}

/// Removes rows that have the keys, but have ended.
async fn make_way(writer: &TableWriter, found: &mut [HashMap<Vec<u8>, Vec<u8>>]) -> PgResult<()> {
    let mut behind = KeyList::new();
    if writer.expiry.is_some() {
        found.iter().flat_map(HashMap::values).for_each(|key| behind.push(key));
    }
    if behind.is_empty() {
        return Ok(());
    }
    let gone = Box::pin(remove_ended(writer, &behind, LockWait::Wait)).await?;
    found.iter_mut().for_each(|found| found.retain(|_, row| !gone.contains(row)));
    Ok(())
}

/// SERIALIZABLE: a key that exists has been read. One that does not exist any more, but does in the snapshot, was freed by a
/// transaction that would have to come before this one, of which this one has seen nothing. As everywhere, only others of this
/// level count.
async fn check_absent(writer: &TableWriter, constraint: &UniqueKeys) -> PgResult<()> {
    let (txn, storage) = (&writer.ctx.txn, constraint.storage(writer));
    let mut freed = Vec::new();
    for (row, is_there) in &constraint.asked {
        let key = constraint.keys.get(*row);
        if *is_there {
            txn.record_read(storage, &KeyRange::point(key));
        } else if txn.written_behind(storage, key) && !txn.changed_by_transaction(storage, key)? {
            freed.push(key);
        }
    }
    // Changed keys may have been absent all the time.
    let family = match constraint.index {
        None => writer.codec.families.first().map(|f| f.id).ok_or_else(|| PgError::internal("a table without families"))?,
        Some(_) => INDEX_FAMILY,
    };
    let snapshot = txn.read_view().stored();
    if !freed.is_empty() && snapshot.exists(storage, family, &freed).await?.contains(&true) {
        return Err(concurrent_update());
    }
    Ok(())
}
