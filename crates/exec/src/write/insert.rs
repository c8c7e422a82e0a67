//! INSERT, ON CONFLICT and UPSERT.
//!
//! [`unique_keys`](super::unique_keys) decides which rows go in: whoever comes second waits for one who is inserting the same key, and then sees.

use super::constraint::{duplicate_entry, duplicate_primary_key};
use super::foreign_key::ForeignKeyWork;
use super::policy::{checked, refuse, refuse_by_maps};
use super::row_exprs::{RowExprs, Subqueries};
use super::rows::Rows;
use super::table_writer::{Entries, TableWriter};
use super::unique_keys::{Claims, Conflict, UniqueKeys, decide, lock_met, locks_of};
use super::update::{self, Freshness};
use super::{Written, lookup, maps};
use crate::environment::counters::RowChange;
use crate::nodes::StatementContext;
use arrow::array::{Array, ArrayRef, AsArray, UInt32Array};
use arrow::datatypes::{DataType, Int64Type};
use hashbrown::{HashMap, HashSet};
use std::sync::Arc;
use stoa_pg::sqlstate::SqlState;
use stoa_pg::{PgError, PgResult};
use stoa_sql::bind::inference;
use stoa_sql::typed::tree::{ColId, Expr, Mutation, OnConflict, PolicyCheck, XMAX};
use stoa_table::catalog::{ColumnId, TableDescriptor};
use stoa_table::failure::concurrent_update;
use stoa_table::row::{INDEX_FAMILY, KeyList, RowEncoder};
use stoa_table::services::locks::{LockStrength, LockWait};
use stoa_table::txn::{Isolation, statement_retry};

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
    pub fn new(ctx: &StatementContext, queries: &dyn Subqueries, mutation: &Mutation, on_conflict: &OnConflict) -> PgResult<Self> {
        let table = &mutation.table.0;
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
                    tells: mutation.returning_columns.iter().any(|(id, _)| *id == XMAX),
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
    /// The rows that come back are to have [`XMAX`].
    tells: bool,
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
            let Outcome { inserted, conflicts, mut unused } = insert(writer, work, &rows, arbiters).await?;
            let existing: Vec<&[u8]> = conflicts.iter().filter_map(|met| met.existing.as_deref()).collect();
            check_visible(writer, &existing)?;
            unused.give_back(&writer.ctx.txn);
            Ok(Written { rows: rows.at(&inserted)?, source: inserted })
        }
        ConflictRule::Update(rule) => {
            let Outcome { inserted: fresh, conflicts, unused } = insert(writer, work, &rows, Arbiters::These(&rule.arbiters)).await?;
            let mut inserted = rows.at(&fresh)?.without_maps(&writer.table);
            if rule.tells {
                inserted.set(XMAX, Arc::new(UInt32Array::from_value(0, inserted.len())));
            }
            if conflicts.is_empty() {
                return Ok(Written { rows: inserted, source: fresh });
            }
            let mut updated = update_existing(writer, work, rule, &rows, &conflicts, unused).await?;
            if rule.tells {
                writer.ctx.txn.assign_id();
                // The number as `xid` shows it.
                let id = writer.ctx.txn.id() as u32;
                updated.rows.set(XMAX, Arc::new(UInt32Array::from_value(id, updated.len())));
            }
            let all = inserted.append(&updated.rows.without_maps(&writer.table))?;
            let mut order: Vec<(usize, usize)> = fresh.iter().chain(&updated.source).copied().zip(0..).collect();
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
#[derive(Debug)]
pub struct Outcome {
    pub inserted: Vec<usize>,
    /// Rows that met an arbiter.
    pub conflicts: Vec<Met>,
    /// Locks of keys under which no row was inserted.
    unused: Claims,
}

/// A row that met an arbiter.
#[derive(Debug)]
pub struct Met {
    row: usize,
    /// The key of the row that exists; `None` where that is one of this very batch.
    existing: Option<Vec<u8>>,
    /// The unique index and the key that they have in common; `None` is the primary key.
    entry: Option<(usize, Vec<u8>)>,
}

impl Met {
    fn new(conflict: Conflict, unique: &[UniqueKeys]) -> Self {
        let Conflict { row, constraint, existing } = conflict;
        let constraint = unique.get(constraint);
        let entry = constraint.and_then(|constraint| Some((constraint.index?, constraint.keys.get(row).to_vec())));
        Self { row, existing, entry }
    }
}

/// Checks and writes complete rows.
///
/// # Errors
/// The violation of the first row that has one.
pub async fn insert(writer: &TableWriter, work: &mut ForeignKeyWork, rows: &Rows, arbiters: Arbiters<'_>) -> PgResult<Outcome> {
    let mut claims = Claims::new(&writer.ctx.txn);
    let inserted = insert_claimed(writer, work, rows, arbiters, &mut claims).await;
    if inserted.is_err() {
        // The statement may run again.
        claims.give_back(&writer.ctx.txn);
    }
    let (inserted, conflicts) = inserted?;
    if conflicts.is_empty() {
        writer.ctx.txn.gather_locks();
    }
    writer.note(RowChange::Inserted, inserted.len());
    Ok(Outcome { inserted, conflicts, unused: claims })
}

/// As [`insert`]; `claims` are the locks of keys that were taken, in the end those under which no row was inserted.
async fn insert_claimed(
    writer: &TableWriter,
    work: &mut ForeignKeyWork,
    rows: &Rows,
    arbiters: Arbiters<'_>,
    claims: &mut Claims,
) -> PgResult<(Vec<usize>, Vec<Met>)> {
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
        unique.push(UniqueKeys::new(!arbiters.include(PRIMARY), None, row_keys.clone()));
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
        unique.push(UniqueKeys::new(!arbiters.include(index.descriptor.oid), Some(at), keys));
    }
    unique.sort_by_key(|constraint| constraint.is_strict);
    let decided = decide(writer, &mut unique, limit, claims).await?;
    if writer.table.mapping.is_some() {
        encoder.over(unique.iter_mut().flat_map(UniqueKeys::take_there).collect());
    }
    if let Some(Conflict { row, constraint, .. }) = decided.failed {
        let error = violation(writer, rows, &entries, unique.get(constraint).and_then(|constraint| constraint.index), row)?;
        if writer.ctx.txn.isolation() == Isolation::Serializable {
            // A transaction that could not commit with this row is told so instead.
            put_rows(writer, &mut encoder, &mut entries, &row_keys, &[row])?;
            writer.ctx.txn.check_serializable().await?;
        }
        return Err(error);
    }
    let inserted = decided.inserted;
    for (index, entries) in writer.indexes.iter().zip(&entries).filter(|(index, _)| index.is_deferrable() && index.takes_puts()) {
        super::deferrable_unique::claim(writer, index, entries, inserted.iter().copied()).await?;
    }
    put_rows(writer, &mut encoder, &mut entries, &row_keys, &inserted)?;
    if let Some(failure) = failure {
        return Err(failure);
    }
    work.child_rows(writer, rows, &row_keys, &inserted)?;
    maps::put_new(writer, rows, &inserted).await?;
    refuse_by_maps(writer, PolicyCheck::Inserted, &rows.at(&inserted)?, true).await?;
    match decided.conflicts.is_empty() {
        true => claims.forget_all(),
        false => claims.forget(&locks_of(writer, &unique, &inserted)),
    }
    let conflicts = decided.conflicts.into_iter().map(|conflict| Met::new(conflict, &unique)).collect();
    Ok((inserted, conflicts))
}

/// 23505; `index` is by position in the writer, `None` is the primary key.
fn violation(writer: &TableWriter, rows: &Rows, entries: &[Entries<'_>], index: Option<usize>, row: usize) -> PgResult<PgError> {
    match index.and_then(|at| Some((writer.indexes.get(at)?, entries.get(at)?))) {
        None => duplicate_primary_key(writer, rows, row),
        Some((index, entries)) => duplicate_entry(writer, index, entries, row),
    }
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
    conflicts: &[Met],
    unused: Claims,
) -> PgResult<Written> {
    let txn = Arc::clone(&writer.ctx.txn);
    let storage = writer.codec.storage;
    let mut assigned: HashSet<ColumnId> = rule.targets.iter().copied().collect();
    assigned.extend(writer.generated_columns());
    let mut keys = KeyList::new();
    let mut seen: HashMap<&[u8], usize> = HashMap::new();
    // Of each conflict, which of the keys it is about.
    let mut about = Vec::with_capacity(conflicts.len());
    for met in conflicts {
        let Some(key) = &met.existing else { return Err(second_time()) };
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
    let strength = update::strength_of(writer, &assigned);
    let mut locks = lock_met(writer, &keys, strength, unused).await?;
    // Whoever looks again has no locks of rows that are not those that it looked for.
    let mut gone = || {
        locks.give_back(&txn);
        if txn.isolation() == Isolation::ReadCommitted { statement_retry() } else { concurrent_update() }
    };
    let wanted: Vec<&[u8]> = keys.iter().collect();
    check_visible(writer, &wanted)?;
    if writer.table.map_columns().next().is_some() {
        // Entries are read as of the statement's snapshot, and so must the row be.
        txn.check_unchanged(storage, &keys)?;
    }
    let (existing, positions) = lookup::rows_by_key(&txn.newest_view(), &writer.table, &writer.codec, &wanted).await?;
    if positions.len() != wanted.len() {
        // It went away while its lock was waited for.
        return Err(gone());
    }
    if writer.expiry.as_ref().is_some_and(|expiry| expiry.ended(&existing, writer.ctx.eval.statement_time).is_ok_and(|e| !e.is_empty())) {
        // It was given an end while its lock was waited for.
        return Err(gone());
    }
    let existing = if about.len() == existing.len() { existing } else { existing.at(&about)? };
    if !still_meet(writer, conflicts, &existing)? {
        return Err(gone());
    }
    let source: Vec<usize> = conflicts.iter().map(|met| met.row).collect();
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
    let values = rule.assignments.evaluate(&ctx, &existing, &excluded).await?;
    for (id, array) in rule.targets.iter().zip(values) {
        after.set(*id, array);
    }
    writer.regenerate(&mut after)?;
    let written = update::update(writer, work, &existing, after, &assigned, Freshness::Newest).await?;
    let source = written.source.iter().filter_map(|at| source.get(*at).copied()).collect();
    Ok(Written { rows: written.rows, source })
}

/// Whether rows that were met in unique indexes still have the keys for which they were met.
fn still_meet(writer: &TableWriter, conflicts: &[Met], existing: &Rows) -> PgResult<bool> {
    for (at, index) in writer.indexes.iter().enumerate() {
        let mut met =
            conflicts.iter().enumerate().filter_map(|(row, met)| met.entry.as_ref().filter(|(n, _)| *n == at).map(|(_, key)| (row, key)));
        let Some(first) = met.next() else { continue };
        let entries = index.entries(existing)?;
        for (row, key) in std::iter::once(first).chain(met) {
            if !entries.is_exclusive(row) || lookup::exclusive_key(&entries.encoder, row)?.as_ref() != Some(key) {
                return Ok(false);
            }
        }
    }
    Ok(true)
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
    txn.lock_rows(codec.storage, &won, LockStrength::Key, LockWait::Wait, &writer.table.name).await?;
    let wanted: Vec<&[u8]> = won.iter().collect();
    check_visible(writer, &wanted)?;
    let all: Vec<usize> = (0..winners.len()).collect();
    let blind =
        columns.is_none() && times.is_none() && writer.indexes.is_empty() && writer.policies.is_none() && !work.is_referenced(writer);
    if blind {
        let mut encoder = RowEncoder::new(&codec, |id| rows_won.get(id).cloned())?;
        encoder.over(writer.cells_there(&won.iter().collect::<Vec<_>>()).await?);
        put_rows(writer, &mut encoder, &mut [], &won, &all)?;
        work.child_rows(writer, &rows_won, &won, &all)?;
        writer.note(RowChange::Inserted, all.len());
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
        refuse_by_maps(writer, PolicyCheck::Inserted, &after, true).await?;
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
