//! UPDATE and DELETE of rows that were read.
//!
//! An assigned key is a delete and an insert. Uniqueness is checked row by row as PostgreSQL does: a key that a later row of the
//! statement would free is still taken, unless the constraint is deferrable ([`super::deferrable_unique`]).

use super::Written;
use super::constraint::{duplicate_entry, duplicate_primary_key};
use super::expiry::remove_ended;
use super::foreign_key::ForeignKeyWork;
use super::policy::{checked, refuse_by_maps};
use super::rows::Rows;
use super::table_writer::{Entries, IndexWriter, TableWriter};
use super::{lookup, maps};
use crate::environment::counters::RowChange;
use hashbrown::{HashMap, HashSet};
use std::borrow::Cow;
use std::sync::Arc;
use stoa_pg::{PgError, PgResult};
use stoa_sql::typed::tree::PolicyCheck;
use stoa_table::catalog::{ColumnId, IndexKey};
use stoa_table::row::{INDEX_FAMILY, KeyList, RowEncoder};
use stoa_table::services::locks::{LockStrength, LockWait};

/// What the old rows were read from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Freshness {
    /// The statement's snapshot: they are locked and compared with the newest commits here.
    Snapshot,
    /// The newest commits, behind locks.
    Newest,
}

/// Rows of a statement that it may change, with their keys.
struct Claimed {
    /// Their positions.
    source: Vec<usize>,
    keys: KeyList,
}

/// Locks rows that the statement read, leaving out those that it has changed already (a join gave them twice).
async fn claim(writer: &TableWriter, keys: KeyList, strength: LockStrength, freshness: Freshness) -> PgResult<Claimed> {
    if freshness == Freshness::Newest {
        return Ok(Claimed { source: (0..keys.len()).collect(), keys });
    }
    let txn = &writer.ctx.txn;
    let storage = writer.codec.storage;
    let mut source: Vec<usize> = Vec::with_capacity(keys.len());
    let mut seen: HashSet<&[u8]> = HashSet::new();
    let several = keys.len() > 1;
    for (row, key) in keys.iter().enumerate() {
        if !txn.changed_by_statement(storage, key)? && (!several || seen.insert(key)) {
            source.push(row);
        }
    }
    drop(seen);
    let keys = if source.len() == keys.len() {
        keys
    } else {
        let mut left = KeyList::with_capacity(source.len(), 24);
        source.iter().for_each(|row| left.push(keys.get(*row)));
        left
    };
    txn.lock_rows(storage, &keys, strength, LockWait::Wait, &writer.table.name).await?;
    txn.check_unchanged(storage, &keys)?;
    Ok(Claimed { source, keys })
}

/// The keys of rows that were read.
fn keys_read(writer: &TableWriter, rows: &Rows) -> PgResult<KeyList> {
    let columns = writer.table.key_columns().map(|part| rows.column(part.column).cloned()).collect::<PgResult<Vec<_>>>()?;
    writer.codec.encode_keys(&columns, rows.len(), None)
}

fn keys_of(encoder: &RowEncoder<'_>, rows: usize) -> PgResult<KeyList> {
    let mut keys = KeyList::with_capacity(rows, 24);
    for row in 0..rows {
        keys.push_with(|out| encoder.key(row, out))?;
    }
    Ok(keys)
}

/// Keys of a unique constraint that rows of a statement take and free, row by row.
#[derive(Default)]
struct Moves {
    /// Keys that others have, with their rows' keys (empty for the primary key).
    taken: HashMap<Vec<u8>, Vec<u8>>,
    freed: HashSet<Vec<u8>>,
    added: HashSet<Vec<u8>>,
}

impl Moves {
    /// Whether a row may take a key.
    fn take(&mut self, old: Option<Vec<u8>>, new: Vec<u8>) -> bool {
        self.freed.extend(old);
        let free = (!self.taken.contains_key(&new) || self.freed.contains(&new)) && !self.added.contains(&new);
        self.added.insert(new);
        free
    }

    fn free(&mut self, old: Vec<u8>) {
        self.added.remove(&old);
        self.freed.insert(old);
    }
}

/// Changes rows from `old` to `new`; `assigned` are the columns that may differ. The rows that were written come back.
///
/// # Errors
/// Constraint violations; a row changed behind the snapshot.
pub async fn update(
    writer: &mut TableWriter,
    work: &mut ForeignKeyWork,
    old: &Rows,
    new: Rows,
    assigned: &HashSet<ColumnId>,
    freshness: Freshness,
) -> PgResult<Written> {
    let writer = &*writer;
    let txn = Arc::clone(&writer.ctx.txn);
    let storage = writer.codec.storage;
    // Generated columns are written where they may differ, and keep their age elsewhere.
    let unaffected: Vec<ColumnId> = writer.unaffected(assigned).collect();
    let (mut new, mut affected) = (new, Cow::Borrowed(assigned));
    for id in unaffected {
        new.set(id, old.column(id)?.clone());
        affected.to_mut().remove(&id);
    }
    let assigned = &*affected;
    let moves_key = writer.assigns_key(assigned);
    if moves_key && writer.table.mapping.is_some() {
        return Err(PgError::unsupported("the key of a row of a foreign table cannot be changed")
            .detail("The row may have cells that the table does not map.")
            .hint("Insert the row with its new key, and delete the old one."));
    }
    let strength = if changes_a_key(writer, old, &new, assigned)? { LockStrength::Key } else { LockStrength::NoKeyUpdate };
    let Claimed { source, keys: old_keys } = claim(writer, keys_read(writer, old)?, strength, freshness).await?;
    let (old, new) = (old.at(&source)?, new.at(&source)?);
    if source.is_empty() {
        return Ok(Written { rows: new, source });
    }
    let (limit, failure) = checked(writer, PolicyCheck::Updated, &new).await?;
    let mut after = RowEncoder::new(&writer.codec, |id| new.get(id).cloned())?;
    after.of_columns(|id| assigned.contains(&id));
    let new_keys = if moves_key { keys_of(&after, limit)? } else { old_keys.clone() };

    // Which indexes must change, and their entries on both sides.
    let affected: Vec<usize> =
        (0..writer.indexes.len()).filter(|at| writer.indexes.get(*at).is_some_and(|i| moves_key || i.depends_on(assigned))).collect();
    let mut sides: Vec<(usize, Entries<'_>, Entries<'_>)> = Vec::with_capacity(affected.len());
    for at in affected {
        if let Some(index) = writer.indexes.get(at) {
            sides.push((at, index.entries(&old)?, index.entries(&new)?));
        }
    }

    check_unique(writer, &old_keys, &new_keys, limit, moves_key, &sides, &new).await?;
    if let Some(failure) = failure {
        return Err(failure);
    }

    for (at, before, after) in &sides {
        let Some(index) = writer.indexes.get(*at).filter(|i| i.is_deferrable() && i.takes_puts()) else { continue };
        let mut changed: Vec<usize> = Vec::new();
        for row in 0..limit {
            let (mut old, mut new) = (Vec::new(), Vec::new());
            before.encoder.parts(row, &mut old)?;
            after.encoder.parts(row, &mut new)?;
            if old != new {
                changed.push(row);
            }
        }
        super::deferrable_unique::claim(writer, index, after, changed.into_iter()).await?;
    }

    // Others keep what they have, and its age, unless the row moves.
    let families: Vec<bool> = writer.codec.families.iter().map(|f| f.columns.iter().any(|(id, _)| assigned.contains(id))).collect();
    let (mut old_entry, mut new_entry) = (Vec::new(), Vec::new());
    after.over(writer.cells_there(&new_keys.iter().collect::<Vec<_>>()).await?);
    txn.write(|set| -> PgResult<()> {
        // All old keys go before the new ones come: a key may pass from one row to another.
        for row in 0..limit {
            let (old_key, new_key) = (old_keys.get(row), new_keys.get(row));
            if old_key != new_key {
                set.delete(storage, old_key);
            }
            for (at, before, after) in &mut sides {
                let Some(index) = writer.indexes.get(*at) else { continue };
                if !before.includes(row) {
                    continue;
                }
                old_entry.clear();
                before.encoder.key(row, old_key, &mut old_entry)?;
                new_entry.clear();
                if after.includes(row) {
                    after.encoder.key(row, new_key, &mut new_entry)?;
                }
                if old_entry != new_entry {
                    set.delete(index.codec.storage, &old_entry);
                }
            }
        }
        for row in 0..limit {
            let (old_key, new_key) = (old_keys.get(row), new_keys.get(row));
            let moved = old_key != new_key;
            // A row always leaves a trace, so that others see that it was changed.
            let wanted = |family: usize| moved || families.get(family) == Some(&true) || (family == 0 && !families.contains(&true));
            after.cells(row, wanted, |family, qualifier, value| {
                set.put(storage, new_key, family, qualifier, value);
                Ok(())
            })?;
            for (at, _, after) in &mut sides {
                let Some(index) = writer.indexes.get(*at) else { continue };
                if !index.takes_puts() || !after.includes(row) {
                    continue;
                }
                new_entry.clear();
                after.encoder.key(row, new_key, &mut new_entry)?;
                let cell = after.encoder.cell(row, new_key)?;
                set.put(index.codec.storage, &new_entry, INDEX_FAMILY, &[], Some(cell));
            }
        }
        Ok(())
    })??;
    work.parent_rows(writer, &old, Some(&new), assigned)?;
    work.child_rows_assigned(writer, &old, &new, (&old_keys, &new_keys), assigned)?;
    drop((after, sides));
    change_maps(writer, &new, assigned, old_keys.iter().eq(new_keys.iter())).await?;
    Ok(Written { rows: new, source })
}

/// Does to the maps of changed rows what they were assigned, asks policies about them and counts the rows; `in_place`: the rows have the keys that they had.
async fn change_maps(writer: &TableWriter, rows: &Rows, assigned: &HashSet<ColumnId>, in_place: bool) -> PgResult<()> {
    maps::change(writer, rows, assigned, in_place).await?;
    refuse_by_maps(writer, PolicyCheck::Updated, rows, in_place).await?;
    writer.note(RowChange::Updated, rows.len());
    Ok(())
}

/// The lock that is taken of a row for an assignment to columns, whatever they are assigned.
#[must_use]
pub fn strength_of(writer: &TableWriter, assigned: &HashSet<ColumnId>) -> LockStrength {
    let unaffected: HashSet<ColumnId> = writer.unaffected(assigned).collect();
    let mut keys = key_columns(writer).into_iter();
    if keys.any(|id| assigned.contains(&id) && !unaffected.contains(&id)) { LockStrength::Key } else { LockStrength::NoKeyUpdate }
}

/// The columns by which foreign keys may refer to rows.
fn key_columns(writer: &TableWriter) -> HashSet<ColumnId> {
    let mut columns: HashSet<ColumnId> = writer.table.key.iter().map(|part| part.column).collect();
    for index in writer.indexes.iter().filter(|index| names_rows(index)) {
        columns.extend(index.descriptor.parts.iter().filter_map(|part| match part.key {
            IndexKey::Column(id) => Some(id),
            IndexKey::Expr(_) => None,
        }));
    }
    columns
}

/// Whether foreign keys may refer to rows by an index.
fn names_rows(index: &IndexWriter) -> bool {
    let of_columns = index.descriptor.parts.iter().all(|part| matches!(part.key, IndexKey::Column(_)));
    index.descriptor.unique && index.descriptor.predicate.is_none() && of_columns
}

/// Whether any row gets another value in a column by which foreign keys may refer to it.
fn changes_a_key(writer: &TableWriter, old: &Rows, new: &Rows, assigned: &HashSet<ColumnId>) -> PgResult<bool> {
    for column in key_columns(writer).intersection(assigned) {
        if old.column(*column)?.to_data() != new.column(*column)?.to_data() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Checks that new keys are free, in the order of the rows.
async fn check_unique(
    writer: &TableWriter,
    old_keys: &KeyList,
    new_keys: &KeyList,
    limit: usize,
    moves_key: bool,
    sides: &[(usize, Entries<'_>, Entries<'_>)],
    rows: &Rows,
) -> PgResult<()> {
    let txn = &writer.ctx.txn;
    let storage = writer.codec.storage;
    let mut primary = None;
    if moves_key && writer.table.primary_key.is_some() {
        let mut wanted = KeyList::new();
        (0..limit).filter(|row| old_keys.get(*row) != new_keys.get(*row)).for_each(|row| wanted.push(new_keys.get(row)));
        let mut moves = Moves::default();
        if !wanted.is_empty() {
            txn.lock_rows(storage, &wanted, LockStrength::Key, LockWait::Wait, &writer.table.name).await?;
            let family = writer.codec.families.first().map(|f| f.id).ok_or_else(|| PgError::internal("a table without families"))?;
            let list: Vec<&[u8]> = wanted.iter().collect();
            let found = txn.newest_view().exists(storage, family, &list).await?;
            let mut taken = KeyList::new();
            list.iter().zip(found).filter(|(_, found)| *found).for_each(|(key, _)| taken.push(key));
            let ended = Box::pin(remove_ended(writer, &taken, LockWait::Wait)).await?;
            moves.taken = taken.iter().filter(|key| !ended.contains(*key)).map(|key| (key.to_vec(), Vec::new())).collect();
        }
        primary = Some(moves);
    }
    // By side: the keys that rows leave and take.
    type Pairs = Vec<(Option<Vec<u8>>, Option<Vec<u8>>)>;
    let mut by_index: Vec<Option<(Pairs, Moves)>> = Vec::with_capacity(sides.len());
    for (at, before, after) in sides {
        let Some(index) = writer.indexes.get(*at).filter(|i| i.descriptor.unique && i.takes_puts()) else {
            by_index.push(None);
            continue;
        };
        let mut pairs: Pairs = Vec::with_capacity(limit);
        let mut wanted: Vec<Vec<u8>> = Vec::new();
        let mut left = KeyList::new();
        for row in 0..limit {
            let key = |entries: &Entries<'_>, row_key: &[u8]| -> PgResult<Option<Vec<u8>>> {
                if !entries.is_exclusive(row) {
                    return Ok(None);
                }
                let mut key = Vec::new();
                entries.encoder.key(row, row_key, &mut key)?;
                Ok(Some(key))
            };
            let (old, new) = (key(before, old_keys.get(row))?, key(after, new_keys.get(row))?);
            if old == new {
                pairs.push((None, None));
            } else {
                wanted.extend(new.clone());
                if let Some(old) = old.as_deref().filter(|_| !names_rows(index)) {
                    left.push(old);
                }
                pairs.push((old, new));
            }
        }
        // The rows' locks say nothing of keys by which no foreign key refers to them.
        txn.lock_rows(index.codec.storage, &left, LockStrength::Key, LockWait::Wait, &writer.table.name).await?;
        let mut moves = Moves::default();
        if !wanted.is_empty() {
            let mut list = KeyList::new();
            wanted.iter().for_each(|k| list.push(k));
            txn.lock_rows(index.codec.storage, &list, LockStrength::Key, LockWait::Wait, &writer.table.name).await?;
            let keys: Vec<&[u8]> = wanted.iter().map(Vec::as_slice).collect();
            let mut found = lookup::live_entries(&txn.newest_view(), writer, index, &keys).await?;
            if !found.is_empty() {
                let mut behind = KeyList::new();
                found.values().for_each(|key| behind.push(key));
                Box::pin(remove_ended(writer, &behind, LockWait::Wait)).await?;
                txn.lock_rows(storage, &behind, LockStrength::KeyShare, LockWait::Wait, &writer.table.name).await?;
                found = lookup::live_entries(&txn.newest_view(), writer, index, &keys).await?;
            }
            moves.taken = found;
        }
        by_index.push(Some((pairs, moves)));
    }
    for row in 0..limit {
        if let Some(moves) = &mut primary {
            let (old, new) = (old_keys.get(row), new_keys.get(row));
            if old != new && !moves.take(Some(old.to_vec()), new.to_vec()) {
                txn.check_serializable().await?;
                return Err(duplicate_primary_key(writer, rows, row)?);
            }
        }
        for ((at, _, after), unique) in sides.iter().zip(&mut by_index) {
            let (Some((pairs, moves)), Some(index)) = (unique, writer.indexes.get(*at)) else { continue };
            match pairs.get(row).cloned().unwrap_or_default() {
                (old, Some(new)) => {
                    if !moves.take(old, new) {
                        txn.check_serializable().await?;
                        return Err(duplicate_entry(writer, index, after, row)?);
                    }
                }
                (Some(old), None) => moves.free(old),
                (None, None) => {}
            }
        }
    }
    Ok(())
}

/// Removes rows.
///
/// # Errors
/// A row changed behind the snapshot.
pub async fn delete(writer: &TableWriter, work: &mut ForeignKeyWork, old: &Rows, freshness: Freshness) -> PgResult<Written> {
    let Claimed { source, keys } = claim(writer, keys_read(writer, old)?, LockStrength::Key, freshness).await?;
    let old = old.at(&source)?;
    let entries = writer.indexes.iter().map(|index| index.entries(&old)).collect::<PgResult<Vec<_>>>()?;
    let mut scratch = Vec::new();
    writer.ctx.txn.write(|set| -> PgResult<()> {
        for (row, key) in keys.iter().enumerate() {
            set.delete(writer.codec.storage, key);
            for (index, entries) in writer.indexes.iter().zip(&entries) {
                if entries.includes(row) {
                    scratch.clear();
                    entries.encoder.key(row, key, &mut scratch)?;
                    set.delete(index.codec.storage, &scratch);
                }
            }
        }
        Ok(())
    })??;
    drop(entries);
    work.parent_rows(writer, &old, None, &HashSet::new())?;
    writer.note(RowChange::Deleted, source.len());
    Ok(Written { rows: old, source })
}
