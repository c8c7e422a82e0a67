//! INSERT, ON CONFLICT and UPSERT.
//!
//! Keys that must be unique are locked first and looked up behind the locks, in the newest commits and the transaction's own
//! rows: whoever comes second waits, and then sees.

use super::constraint::{duplicate_entry, duplicate_primary_key};
use super::expiry::remove_ended;
use super::foreign_key::ForeignKeyWork;
use super::policy::{checked, refuse};
use super::row_exprs::{RowExprs, Subqueries};
use super::rows::Rows;
use super::table_writer::{Entries, TableWriter};
use super::update::{self, Freshness};
use super::{Written, lookup, maps};
use crate::nodes::StatementContext;
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType, Int64Type};
use futures::future::try_join_all;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use stoa_pg::sqlstate::SqlState;
use stoa_pg::{PgError, PgResult};
use stoa_sql::bind::inference;
use stoa_sql::typed::tree::{ColId, Expr, OnConflict, PolicyCheck};
use stoa_table::catalog::{ColumnId, TableDescriptor};
use stoa_table::failure::concurrent_update;
use stoa_table::row::{INDEX_FAMILY, KeyList, RowEncoder};
use stoa_table::services::locks::LockId;
use stoa_table::services::locks::{LockStrength, LockWait};
use stoa_table::txn::{Isolation, statement_retry};
use stoa_table::{KeyRange, TableId};

/// What becomes of a row whose key exists.
pub enum ConflictRule {
    Error,
    /// `None`: any unique constraint.
    Nothing(Option<Vec<u32>>),
    Update(Box<DoUpdate>),
    /// These columns; `None`: all.
    Replace(Option<Vec<ColumnId>>),
}

/// The number of the primary key among arbiters; indexes go by OID.
const PRIMARY: u32 = 0;

impl ConflictRule {
    /// # Errors
    /// 42P10 if the values of parameters mean no constraint; XX000 for expressions over other columns than the two rows'.
    pub fn new(ctx: &StatementContext, queries: &dyn Subqueries, table: &TableDescriptor, on_conflict: &OnConflict) -> PgResult<Self> {
        let found = |arbiters| inference::arbiters(arbiters, &ctx.params, &ctx.eval);
        Ok(match on_conflict {
            OnConflict::Error => ConflictRule::Error,
            OnConflict::DoNothing { arbiters } => ConflictRule::Nothing(arbiters.as_ref().map(found).transpose()?),
            OnConflict::Replace { columns } => ConflictRule::Replace(columns.clone()),
            OnConflict::DoUpdate { arbiters, existing, excluded, assignments, condition } => {
                let columns = DoUpdateColumns { existing: existing.clone(), excluded: excluded.clone() };
                let exprs: Vec<Expr> = assignments.iter().map(|(_, e)| e.clone()).collect();
                let compile = |exprs: &[Expr]| DoUpdateExprs::new(queries, table, &columns, exprs);
                ConflictRule::Update(Box::new(DoUpdate {
                    arbiters: found(arbiters)?,
                    targets: assignments.iter().map(|(id, _)| *id).collect(),
                    assignments: compile(&exprs)?,
                    condition: condition.as_ref().map(|c| compile(std::slice::from_ref(c))).transpose()?,
                }))
            }
        })
    }
}

/// DO UPDATE, compiled.
pub struct DoUpdate {
    arbiters: Vec<u32>,
    targets: Vec<ColumnId>,
    assignments: DoUpdateExprs,
    condition: Option<DoUpdateExprs>,
}

struct DoUpdateColumns {
    existing: Vec<(ColumnId, ColId)>,
    excluded: Vec<(ColumnId, ColId)>,
}

/// Expressions over the existing row and the one that was to be inserted.
struct DoUpdateExprs {
    /// Whether the column is the excluded row's.
    used: Vec<(bool, ColumnId)>,
    exprs: RowExprs,
}

impl DoUpdateExprs {
    fn new(queries: &dyn Subqueries, table: &TableDescriptor, columns: &DoUpdateColumns, exprs: &[Expr]) -> PgResult<Self> {
        let exprs = RowExprs::new(queries, exprs.to_vec());
        let mut used = Vec::new();
        for col in exprs.columns() {
            let find = |list: &[(ColumnId, ColId)]| list.iter().find(|(_, c)| *c == col).map(|(id, _)| *id);
            let (excluded, id) = match (find(&columns.existing), find(&columns.excluded)) {
                (Some(id), _) => (false, id),
                (None, Some(id)) => (true, id),
                (None, None) => return Err(PgError::internal("DO UPDATE uses a column of neither row")),
            };
            if table.column(id).is_none() {
                return Err(PgError::internal("a column that does not exist"));
            }
            used.push((excluded, id));
        }
        Ok(Self { used, exprs })
    }

    async fn evaluate(&mut self, ctx: &StatementContext, existing: &Rows, excluded: &Rows) -> PgResult<Vec<ArrayRef>> {
        let columns = self
            .used
            .iter()
            .map(|(of_excluded, id)| if *of_excluded { excluded.column(*id).cloned() } else { existing.column(*id).cloned() })
            .collect::<PgResult<Vec<_>>>()?;
        self.exprs.evaluate(&ctx.eval, &ctx.params, columns, existing.len()).await
    }
}

/// Inserts the rows of one batch; those that were written come back, in the order of the source.
///
/// # Errors
/// Constraint violations.
pub async fn apply(writer: &mut TableWriter, work: &mut ForeignKeyWork, rule: &mut ConflictRule, mut rows: Rows) -> PgResult<Written> {
    writer.complete(&mut rows)?;
    match rule {
        ConflictRule::Error => {
            let outcome = insert(writer, work, &rows, Arbiters::None).await?;
            Ok(Written { rows: rows.at(&outcome.inserted)?, source: outcome.inserted })
        }
        ConflictRule::Nothing(arbiters) => {
            let arbiters = arbiters.as_deref().map_or(Arbiters::All, Arbiters::These);
            let held = writer.ctx.txn.locks_held();
            let outcome = insert(writer, work, &rows, arbiters).await?;
            let existing: Vec<&[u8]> = outcome.conflicts.iter().filter_map(|(_, key)| key.as_deref()).collect();
            check_visible(writer, &existing)?;
            writer.ctx.txn.release_since(held, &outcome.unused);
            Ok(Written { rows: rows.at(&outcome.inserted)?, source: outcome.inserted })
        }
        ConflictRule::Update(rule) => {
            let outcome = insert(writer, work, &rows, Arbiters::These(&rule.arbiters)).await?;
            let inserted = rows.at(&outcome.inserted)?.without_maps(&writer.table);
            if outcome.conflicts.is_empty() {
                return Ok(Written { rows: inserted, source: outcome.inserted });
            }
            let updated = update_existing(writer, work, rule, &rows, &outcome.conflicts).await?;
            let all = inserted.append(&updated.rows.without_maps(&writer.table))?;
            let mut order: Vec<(usize, usize)> = outcome.inserted.iter().chain(&updated.source).copied().zip(0..).collect();
            order.sort_unstable();
            let positions: Vec<usize> = order.iter().map(|(_, at)| *at).collect();
            Ok(Written { rows: all.at(&positions)?, source: order.into_iter().map(|(source, _)| source).collect() })
        }
        ConflictRule::Replace(columns) => replace(writer, work, rows, columns.as_deref()).await,
    }
}

/// Which unique constraints a conflict is looked for in, rather than being an error.
#[derive(Clone, Copy)]
pub enum Arbiters<'a> {
    None,
    All,
    These(&'a [u32]),
}

impl Arbiters<'_> {
    fn include(self, id: u32) -> bool {
        match self {
            Arbiters::None => false,
            Arbiters::All => true,
            Arbiters::These(list) => list.contains(&id),
        }
    }
}

/// What [`insert`] did with each row.
#[derive(Debug, Default)]
pub struct Outcome {
    pub inserted: Vec<usize>,
    /// Rows that met an arbiter, with the key of the row that exists; `None` where that is one of this very batch.
    pub conflicts: Vec<(usize, Option<Vec<u8>>)>,
    /// Locks that were needed to see the conflicts, and for nothing else.
    unused: HashSet<LockId>,
}

/// One unique constraint over one batch: its keys, by row, and the rows that have them.
struct UniqueKeys {
    arbiter: u32,
    /// By position in the writer; `None` is the primary key.
    index: Option<usize>,
    /// Empty where the row excludes no other.
    keys: KeyList,
    /// Whether each key is larger than the one before it: then none comes twice.
    ascending: bool,
    /// Row keys of existing rows, by key.
    existing: HashMap<Vec<u8>, Vec<u8>>,
    /// Keys of this batch's rows.
    seen: HashSet<Vec<u8>>,
}

impl UniqueKeys {
    fn new(arbiter: u32, index: Option<usize>, keys: KeyList) -> Self {
        let ascending = keys.iter().is_sorted_by(|a, b| a < b);
        Self { arbiter, index, keys, ascending, existing: HashMap::new(), seen: HashSet::new() }
    }
}

/// Checks and writes complete rows.
///
/// # Errors
/// The violation of the first row that has one.
pub async fn insert(writer: &TableWriter, work: &mut ForeignKeyWork, rows: &Rows, arbiters: Arbiters<'_>) -> PgResult<Outcome> {
    let (limit, failure) = checked(writer, PolicyCheck::Inserted, rows).await?;
    let mut encoder = RowEncoder::new(&writer.codec, |id| rows.get(id).cloned())?;
    encoder.of_new_rows();
    let mut row_keys = KeyList::with_capacity(limit, 24);
    for row in 0..limit {
        row_keys.push_with(|out| encoder.key(row, out))?;
    }
    let mut entries = writer.indexes.iter().map(|index| index.entries(rows)).collect::<PgResult<Vec<_>>>()?;

    let mut unique = Vec::new();
    if writer.table.primary_key.is_some() {
        unique.push(UniqueKeys::new(PRIMARY, None, row_keys.clone()));
    }
    for (at, (index, entries)) in writer.indexes.iter().zip(&entries).enumerate() {
        if !index.descriptor.unique || !index.takes_puts() {
            continue;
        }
        if index.is_deferrable() {
            if limit > 0 && arbiters.include(index.descriptor.oid) {
                return Err(super::deferrable_unique::no_arbiter(writer, index));
            }
            continue;
        }
        let mut keys = KeyList::with_capacity(limit, 24);
        for row in 0..limit {
            let exclusive = entries.is_exclusive(row);
            keys.push_with(|out| if exclusive { entries.encoder.key(row, row_keys.get(row), out) } else { Ok(()) })?;
        }
        unique.push(UniqueKeys::new(index.descriptor.oid, Some(at), keys));
    }
    for unique in &unique {
        lock_keys(writer, unique).await?;
    }
    if writer.table.mapping.is_some() {
        // Its key is its only constraint, and tells which rows exist as well.
        let there = writer.cells_there(&row_keys).await?;
        for unique in &mut unique {
            let taken = row_keys.iter().zip(&there).filter(|(_, row)| row.is_there());
            unique.existing = taken.map(|(key, _)| (key.to_vec(), key.to_vec())).collect();
        }
        encoder.over(there);
    } else {
        try_join_all(unique.iter_mut().map(|unique| find_existing(writer, unique))).await?;
    }
    make_way(writer, &mut unique).await?;
    // A transaction waits for one lock at a time.
    for unique in &mut unique {
        confirm_existing(writer, unique).await?;
    }

    let mut outcome = Outcome::default();
    'rows: for row in 0..limit {
        for strict in [false, true] {
            for constraint in &unique {
                if arbiters.include(constraint.arbiter) == strict {
                    continue;
                }
                let key = constraint.keys.get(row);
                let existing = constraint.existing.get(key);
                if key.is_empty() || (existing.is_none() && !constraint.seen.contains(key)) {
                    continue;
                }
                if strict {
                    let error = violation(writer, rows, &entries, constraint, row)?;
                    if writer.ctx.txn.isolation() == Isolation::Serializable {
                        // A transaction that could not commit with this row is reported so instead.
                        put_rows(writer, &mut encoder, &mut entries, &row_keys, &[row])?;
                        writer.ctx.txn.check_serializable().await?;
                    }
                    return Err(error);
                }
                outcome.conflicts.push((row, existing.cloned()));
                continue 'rows;
            }
        }
        for constraint in &mut unique {
            // Conflicts that are errors need no account of what was written.
            let (key, counts) = (constraint.keys.get(row), !constraint.ascending || !matches!(arbiters, Arbiters::None));
            if counts && !key.is_empty() {
                constraint.seen.insert(key.to_vec());
            }
        }
        outcome.inserted.push(row);
    }
    outcome.unused = unused_locks(writer, &unique, &outcome.conflicts);
    for (index, entries) in writer.indexes.iter().zip(&entries).filter(|(index, _)| index.is_deferrable() && index.takes_puts()) {
        super::deferrable_unique::claim(writer, index, entries, outcome.inserted.iter().copied()).await?;
    }
    put_rows(writer, &mut encoder, &mut entries, &row_keys, &outcome.inserted)?;
    if let Some(failure) = failure {
        return Err(failure);
    }
    work.child_rows(writer, rows, &row_keys, &outcome.inserted)?;
    maps::put_new(writer, rows, &outcome.inserted).await?;
    Ok(outcome)
}

/// Locks of keys that conflicting rows have, and of the rows that they met; rows may share a lock.
fn unused_locks(writer: &TableWriter, unique: &[UniqueKeys], conflicts: &[(usize, Option<Vec<u8>>)]) -> HashSet<LockId> {
    let mut out = HashSet::new();
    if conflicts.is_empty() {
        return out;
    }
    for constraint in unique {
        for (row, _) in conflicts {
            let key = constraint.keys.get(*row);
            if key.is_empty() {
                continue;
            }
            out.insert(LockId::row(constraint.storage(writer), key));
            out.extend(constraint.existing.get(key).map(|row| LockId::row(writer.codec.storage, row)));
        }
    }
    for constraint in unique {
        constraint.seen.iter().for_each(|key| {
            out.remove(&LockId::row(constraint.storage(writer), key));
        });
    }
    out
}

fn violation(writer: &TableWriter, rows: &Rows, entries: &[Entries<'_>], constraint: &UniqueKeys, row: usize) -> PgResult<PgError> {
    let at = constraint.index.and_then(|at| Some((writer.indexes.get(at)?, entries.get(at)?)));
    match at {
        None => duplicate_primary_key(writer, rows, row),
        Some((index, entries)) => duplicate_entry(writer, index, entries, row),
    }
}

impl UniqueKeys {
    /// Keys of rows that exclude others.
    fn wanted(&self) -> Vec<&[u8]> {
        self.keys.iter().filter(|key| !key.is_empty()).collect()
    }

    /// Where rows have the keys.
    fn storage(&self, writer: &TableWriter) -> TableId {
        self.index.and_then(|at| writer.indexes.get(at)).map_or(writer.codec.storage, |index| index.codec.storage)
    }
}

async fn lock_keys(writer: &TableWriter, unique: &UniqueKeys) -> PgResult<()> {
    let mut keys = KeyList::with_capacity(unique.keys.len(), 24);
    unique.wanted().into_iter().for_each(|key| keys.push(key));
    if keys.is_empty() {
        return Ok(());
    }
    let storage = unique.storage(writer);
    writer.ctx.txn.lock_rows(storage, &keys, LockStrength::Update, LockWait::Wait, &writer.table.name).await?;
    Ok(())
}

/// Looks up which keys of a constraint exist, behind their locks.
async fn find_existing(writer: &TableWriter, unique: &mut UniqueKeys) -> PgResult<()> {
    let view = writer.ctx.txn.newest_view();
    let wanted = unique.wanted();
    unique.existing = match unique.index.and_then(|at| writer.indexes.get(at)) {
        None => {
            let family = writer.codec.families.first().map(|f| f.id).ok_or_else(|| PgError::internal("a table without families"))?;
            let found = view.exists(writer.codec.storage, family, &wanted).await?;
            wanted.iter().zip(found).filter(|(_, found)| *found).map(|(k, _)| (k.to_vec(), k.to_vec())).collect()
        }
        Some(index) => lookup::live_entries(&view, writer, index, &wanted).await?,
    };
    Ok(())
}

/// Removes rows that have the keys, but have ended.
async fn make_way(writer: &TableWriter, unique: &mut [UniqueKeys]) -> PgResult<()> {
    let mut behind = KeyList::new();
    if writer.expiry.is_some() {
        unique.iter().flat_map(|unique| unique.existing.values()).for_each(|key| behind.push(key));
    }
    if behind.is_empty() {
        return Ok(());
    }
    let gone = Box::pin(remove_ended(writer, &behind, LockWait::Wait)).await?;
    unique.iter_mut().for_each(|unique| unique.existing.retain(|_, row| !gone.contains(row)));
    Ok(())
}

/// The rows behind entries that were found may be on their way out: waits for whoever has them, and looks again.
async fn confirm_existing(writer: &TableWriter, unique: &mut UniqueKeys) -> PgResult<()> {
    let txn = &writer.ctx.txn;
    if let Some(index) = unique.index.and_then(|at| writer.indexes.get(at))
        && !unique.existing.is_empty()
    {
        let mut behind = KeyList::new();
        unique.existing.values().for_each(|key| behind.push(key));
        txn.lock_rows(writer.codec.storage, &behind, LockStrength::KeyShare, LockWait::Wait, &writer.table.name).await?;
        let again: Vec<&[u8]> = unique.existing.keys().map(Vec::as_slice).collect();
        let found = lookup::live_entries(&txn.newest_view(), writer, index, &again).await?;
        unique.existing = found;
    }
    match txn.records_reads() {
        true => check_absent(writer, unique, unique.storage(writer), &unique.wanted()).await,
        false => Ok(()),
    }
}

/// SERIALIZABLE: a key that exists has been read. One that does not exist any more, but does in the snapshot, was freed by a
/// transaction that would have to come before this one, of which this one has seen nothing. As everywhere, only others of this
/// level count.
async fn check_absent(writer: &TableWriter, unique: &UniqueKeys, storage: TableId, wanted: &[&[u8]]) -> PgResult<()> {
    let txn = &writer.ctx.txn;
    let snapshot = txn.read_view().stored();
    let mut freed = Vec::new();
    for key in wanted {
        if unique.existing.contains_key(*key) {
            txn.record_read(storage, &KeyRange::point(key));
            continue;
        }
        if txn.written_behind(storage, key) && !txn.changed_by_transaction(storage, key)? {
            freed.push(*key);
        }
    }
    // Changed keys may have been absent all the time.
    let family = match unique.index {
        None => writer.codec.families.first().map(|f| f.id).ok_or_else(|| PgError::internal("a table without families"))?,
        Some(_) => INDEX_FAMILY,
    };
    if !freed.is_empty() && snapshot.exists(storage, family, &freed).await?.contains(&true) {
        return Err(concurrent_update());
    }
    Ok(())
}

/// Puts rows and their entries into the transaction.
pub(super) fn put_rows(
    writer: &TableWriter,
    encoder: &mut RowEncoder<'_>,
    entries: &mut [Entries<'_>],
    row_keys: &KeyList,
    rows: &[usize],
) -> PgResult<()> {
    let storage = writer.codec.storage;
    let mut scratch = Vec::new();
    writer.ctx.txn.write(|set| -> PgResult<()> {
        for row in rows {
            let key = row_keys.get(*row);
            encoder.cells(
                *row,
                |_| true,
                |family, qualifier, value| {
                    set.put(storage, key, family, qualifier, value);
                    Ok(())
                },
            )?;
            for (index, entries) in writer.indexes.iter().zip(entries.iter_mut()) {
                if !index.takes_puts() || !entries.includes(*row) {
                    continue;
                }
                scratch.clear();
                entries.encoder.key(*row, key, &mut scratch)?;
                let cell = entries.encoder.cell(*row, key)?;
                set.put(index.codec.storage, &scratch, INDEX_FAMILY, &[], Some(cell));
            }
        }
        Ok(())
    })?
}

/// REPEATABLE READ: a row that the snapshot does not show as it is cannot decide a conflict, nor be replaced.
fn check_visible(writer: &TableWriter, keys: &[&[u8]]) -> PgResult<()> {
    let txn = &writer.ctx.txn;
    if keys.is_empty() || txn.isolation() == Isolation::ReadCommitted {
        return Ok(());
    }
    let mut list = KeyList::new();
    keys.iter().for_each(|k| list.push(k));
    if txn.rows_changed_since(writer.codec.storage, &list, txn.read_view().timestamp()) { Err(concurrent_update()) } else { Ok(()) }
}

/// DO UPDATE on the rows that exist.
async fn update_existing(
    writer: &mut TableWriter,
    work: &mut ForeignKeyWork,
    rule: &mut DoUpdate,
    rows: &Rows,
    conflicts: &[(usize, Option<Vec<u8>>)],
) -> PgResult<Written> {
    let txn = Arc::clone(&writer.ctx.txn);
    let storage = writer.codec.storage;
    let mut keys = KeyList::new();
    let mut seen: HashMap<&[u8], usize> = HashMap::new();
    // Of each conflict, which of the keys it is about.
    let mut about = Vec::with_capacity(conflicts.len());
    for (_, existing) in conflicts {
        let Some(key) = existing else { return Err(second_time()) };
        if txn.changed_by_statement(storage, key)? {
            return Err(second_time());
        }
        let next = seen.len();
        let at = *seen.entry(key).or_insert(next);
        if at == next {
            keys.push(key);
        }
        about.push(at);
    }
    txn.lock_rows(storage, &keys, LockStrength::Update, LockWait::Wait, &writer.table.name).await?;
    let wanted: Vec<&[u8]> = keys.iter().collect();
    check_visible(writer, &wanted)?;
    if writer.table.map_columns().next().is_some() {
        // Entries are read as of the statement's snapshot, and so must the row be.
        txn.check_unchanged(storage, &keys)?;
    }
    let (existing, positions) = lookup::rows_by_key(&txn.newest_view(), &writer.table, &writer.codec, &wanted).await?;
    if positions.len() != wanted.len() {
        // It went away while its lock was waited for.
        return Err(if txn.isolation() == Isolation::ReadCommitted { statement_retry() } else { concurrent_update() });
    }
    if writer.expiry.as_ref().is_some_and(|expiry| expiry.ended(&existing, writer.ctx.eval.statement_time).is_ok_and(|e| !e.is_empty())) {
        // It was given an end while its lock was waited for.
        return Err(if txn.isolation() == Isolation::ReadCommitted { statement_retry() } else { concurrent_update() });
    }
    let existing = if about.len() == existing.len() { existing } else { existing.at(&about)? };
    let source: Vec<usize> = conflicts.iter().map(|(row, _)| *row).collect();
    let excluded = rows.at(&source)?;
    // Policies are asked before the statement's own condition.
    refuse(writer, PolicyCheck::Shown, &existing).await?;
    refuse(writer, PolicyCheck::Conflicting, &existing).await?;
    let ctx = writer.ctx.clone();
    let chosen: Vec<usize> = match &mut rule.condition {
        None => (0..existing.len()).collect(),
        Some(condition) => {
            let out = condition.evaluate(&ctx, &existing, &excluded).await?;
            let mask = out.first().ok_or_else(|| PgError::internal("a condition without a value"))?;
            let mask = datafusion::common::cast::as_boolean_array(mask).map_err(stoa_sql::typed::from_datafusion)?;
            (0..existing.len()).filter(|row| mask.is_valid(*row) && mask.value(*row)).collect()
        }
    };
    // A row that is updated cannot be met again; one whose condition does not hold is as it was.
    let mut updated: HashMap<usize, usize> = HashMap::new();
    for row in &chosen {
        updated.entry(about.get(*row).copied().unwrap_or(*row)).or_insert(*row);
    }
    if about.iter().enumerate().any(|(row, key)| updated.get(key).is_some_and(|first| row > *first)) {
        return Err(second_time());
    }
    let (existing, excluded) = (existing.at(&chosen)?, excluded.at(&chosen)?);
    let source: Vec<usize> = chosen.iter().filter_map(|at| source.get(*at).copied()).collect();
    if existing.is_empty() {
        return Ok(Written { rows: existing, source });
    }
    let mut after = existing.clone();
    let assigned = rule.assignments.evaluate(&ctx, &existing, &excluded).await?;
    for (id, array) in rule.targets.iter().zip(assigned) {
        after.set(*id, array);
    }
    writer.regenerate(&mut after)?;
    let mut assigned: HashSet<ColumnId> = rule.targets.iter().copied().collect();
    assigned.extend(writer.generated_columns());
    let written = update::update(writer, work, &existing, after, &assigned, Freshness::Newest).await?;
    let source = written.source.iter().filter_map(|at| source.get(*at).copied()).collect();
    Ok(Written { rows: written.rows, source })
}

fn second_time() -> PgError {
    PgError::new(SqlState::CARDINALITY_VIOLATION, "ON CONFLICT DO UPDATE command cannot affect row a second time")
        .hint("Ensure that no rows proposed for insertion within the same command have duplicate constrained values.")
}

/// UPSERT: whatever has the key is replaced, or some columns of it are. Of rows with one key the last counts.
async fn replace(writer: &mut TableWriter, work: &mut ForeignKeyWork, rows: Rows, columns: Option<&[ColumnId]>) -> PgResult<Written> {
    let (limit, failure) = checked(writer, PolicyCheck::Inserted, &rows).await?;
    if let Some(failure) = failure {
        return Err(failure);
    }
    let txn = Arc::clone(&writer.ctx.txn);
    let codec = Arc::clone(&writer.codec);
    let mut keys = KeyList::with_capacity(limit, 24);
    {
        let encoder = RowEncoder::new(&codec, |id| rows.get(id).cloned())?;
        for row in 0..limit {
            keys.push_with(|out| encoder.key(row, out))?;
        }
    }
    let times = data_times(&writer.table, &rows)?;
    let older = |a: usize, b: usize| times.as_ref().is_some_and(|times| times.get(a) < times.get(b));
    let mut last: HashMap<&[u8], usize> = HashMap::with_capacity(limit);
    for (row, key) in keys.iter().enumerate() {
        let winner = last.entry(key).or_insert(row);
        if !older(row, *winner) {
            *winner = row;
        }
    }
    let winners: Vec<usize> = (0..limit).filter(|row| last.get(keys.get(*row)) == Some(row)).collect();
    let rows_won = rows.at(&winners)?;
    let mut won = KeyList::with_capacity(winners.len(), 24);
    winners.iter().for_each(|row| won.push(keys.get(*row)));
    txn.lock_rows(codec.storage, &won, LockStrength::Update, LockWait::Wait, &writer.table.name).await?;
    let wanted: Vec<&[u8]> = won.iter().collect();
    check_visible(writer, &wanted)?;
    let all: Vec<usize> = (0..winners.len()).collect();
    let blind =
        columns.is_none() && times.is_none() && writer.indexes.is_empty() && writer.policies.is_none() && !work.is_referenced(writer);
    if blind {
        let mut encoder = RowEncoder::new(&codec, |id| rows_won.get(id).cloned())?;
        encoder.over(writer.cells_there(&won).await?);
        put_rows(writer, &mut encoder, &mut [], &won, &all)?;
        work.child_rows(writer, &rows_won, &won, &all)?;
        return Ok(Written { rows: rows_won, source: winners });
    }
    let (mut existing, mut positions) = lookup::rows_by_key(&txn.newest_view(), &writer.table, &codec, &wanted).await?;
    if let Some(expiry) = &writer.expiry {
        let ended = expiry.ended(&existing, writer.ctx.eval.statement_time)?;
        let live: Vec<usize> = (0..existing.len()).filter(|row| !ended.contains(row)).collect();
        positions = live.iter().filter_map(|row| positions.get(*row).copied()).collect();
        existing = existing.at(&live)?;
    }
    let known: HashSet<usize> = positions.iter().copied().collect();
    let fresh: Vec<usize> = all.iter().copied().filter(|at| !known.contains(at)).collect();
    insert(writer, work, &rows_won.at(&fresh)?, Arbiters::None).await?;
    if existing.is_empty() {
        return Ok(Written { rows: rows_won, source: winners });
    }
    refuse(writer, PolicyCheck::Shown, &existing).await?;
    refuse(writer, PolicyCheck::Conflicting, &existing).await?;
    if let (Some(new), Some(old)) = (&times, data_times(&writer.table, &existing)?) {
        // Late data: what is there is newer.
        let is_late = |(at, old): (&usize, &i64)| winners.get(*at).and_then(|row| new.get(*row)).is_some_and(|new| new < old);
        let kept: Vec<usize> = positions.iter().zip(&old).enumerate().filter(|(_, pair)| !is_late(*pair)).map(|(row, _)| row).collect();
        positions = kept.iter().filter_map(|row| positions.get(*row).copied()).collect();
        existing = existing.at(&kept)?;
    }
    let mut after = rows_won.at(&positions)?;
    let mut assigned: HashSet<ColumnId> = writer.table.live_columns().chain(writer.table.map_columns()).map(|c| c.id).collect();
    if let Some(columns) = columns {
        let given = std::mem::replace(&mut after, existing.clone());
        assigned.clear();
        for id in columns {
            let value = given.column(*id)?;
            // The key is what the row was found by; only its form may differ (1.0 and 1.00).
            if !writer.table.is_key(*id) || value.to_data() != existing.column(*id)?.to_data() {
                after.set(*id, value.clone());
                assigned.insert(*id);
            }
        }
        if !assigned.is_empty() {
            writer.regenerate(&mut after)?;
            assigned.extend(writer.generated_columns());
        }
    }
    // Where nothing but the key is named, a row that exists stays as it is, its age included.
    if !assigned.is_empty() {
        after = update::update(writer, work, &existing, after, &assigned, Freshness::Newest).await?.rows;
    }
    let (new, after) = (rows_won.at(&fresh)?.without_maps(&writer.table), after.without_maps(&writer.table));
    let written = new.append(&after)?;
    let mut order: Vec<(usize, usize)> = fresh.iter().chain(&positions).copied().zip(0..).collect();
    order.sort_unstable();
    let source = order.iter().filter_map(|(row, _)| winners.get(*row).copied()).collect();
    let order: Vec<usize> = order.iter().map(|(_, at)| *at).collect();
    Ok(Written { rows: written.at(&order)?, source })
}

/// The values of the column that tells which rows are newer, in its own order; NULL is the oldest. `None` if the table has none.
fn data_times(table: &TableDescriptor, rows: &Rows) -> PgResult<Option<Vec<i64>>> {
    let Some(column) = table.timestamp else { return Ok(None) };
    // Of dates and timestamps the numbers.
    let numbers = arrow::compute::cast(rows.column(column)?, &DataType::Int64)?;
    let numbers = numbers.as_primitive::<Int64Type>();
    Ok(Some((0..rows.len()).map(|row| if numbers.is_null(row) { i64::MIN } else { numbers.value(row) }).collect()))
}
