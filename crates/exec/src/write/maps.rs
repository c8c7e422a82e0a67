//! Columns of maps of the rows that are written: their entries, which are rows of a table of their own.
//!
//! Entries go with their row by the foreign key of that table, as rows that refer to others do. Here is what is put and removed: for a
//! whole map all of it, and what else the row has had goes; for a change ([`stoa_pg::types::map_change_arrow`]) what it names.

use super::foreign_key::{self, ForeignKeyWork};
use super::insert::{self, ConflictRule};
use super::rows::Rows;
use super::table_writer::TableWriter;
use super::update::{self, Freshness};
use super::{lookup, missing_column};
use arrow::array::{Array, ArrayRef, AsArray, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::DataType;
use hashbrown::HashSet;
use std::sync::Arc;
use stoa_pg::values::map::entries;
use stoa_pg::{PgError, PgResult};
use stoa_table::catalog::{ColumnDescriptor, ColumnId, TableDescriptor};
use stoa_table::failure::concurrent_update;
use stoa_table::row::{KeyList, RowEncoder};
use stoa_table::services::locks::{LockStrength, LockWait};
use stoa_table::txn::{Isolation, statement_retry};

/// Entries of some rows of a batch, as positions in the columns of their maps.
#[derive(Default)]
struct Named {
    /// By entry, its row.
    rows: Vec<u32>,
    at: Vec<u32>,
}

impl Named {
    fn push(&mut self, row: usize, at: usize) {
        // Batches and their entries are far below 2³².
        self.rows.push(row as u32);
        self.at.push(at as u32);
    }

    fn is_empty(&self) -> bool {
        self.at.is_empty()
    }
}

/// Puts the entries of new rows, at some positions of a batch.
///
/// # Errors
/// What writing rows raises.
pub async fn put_new(writer: &TableWriter, rows: &Rows, positions: &[usize]) -> PgResult<()> {
    for column in writer.table.map_columns() {
        let Some(maps) = rows.get(column.id) else { continue };
        let target = Target::new(writer, column)?;
        let map = maps.as_map_opt().ok_or_else(|| missing_column("a map"))?;
        let mut named = Named::default();
        // A change of what is not there yet is what it puts.
        let (values, removed) = match map.values().as_struct_opt() {
            Some(parts) => (parts.column(0), Some(parts.column(1).as_boolean())),
            None => (map.values(), None),
        };
        for row in positions.iter().filter(|row| map.is_valid(**row)) {
            entries(map, *row).filter(|at| removed.is_none_or(|removed| !removed.value(*at))).for_each(|at| named.push(*row, at));
        }
        target.put(rows, map.keys(), values, &named).await?;
    }
    Ok(())
}

/// Does to the maps of rows what they were assigned; `in_place`: the rows have the keys that they had.
///
/// # Errors
/// 0A000 for rows that have other keys; 40001; what writing rows raises.
pub async fn change(writer: &TableWriter, rows: &Rows, assigned: &HashSet<ColumnId>, in_place: bool) -> PgResult<()> {
    for column in writer.table.map_columns().filter(|c| assigned.contains(&c.id)) {
        if !in_place {
            return Err(PgError::unsupported("a row's key and its maps cannot be changed by one statement")
                .hint("Change the key first: the entries follow it."));
        }
        let Some(maps) = rows.get(column.id) else { continue };
        let target = Target::new(writer, column)?;
        let map = maps.as_map_opt().ok_or_else(|| missing_column("a map"))?;
        let DataType::Struct(_) = map.values().data_type() else {
            target.replace(rows, map).await?;
            continue;
        };
        let parts = map.values().as_struct();
        let removed = parts.column(1).as_boolean();
        let (mut put, mut gone) = (Named::default(), Named::default());
        for row in (0..rows.len()).filter(|row| map.is_valid(*row)) {
            for at in entries(map, row) {
                if removed.value(at) { gone.push(row, at) } else { put.push(row, at) }
            }
        }
        // What was computed of an entry that others have changed since is computed again.
        target.claim(rows, map.keys(), &put).await?;
        target.claim(rows, map.keys(), &gone).await?;
        target.remove(rows, map.keys(), &gone).await?;
        target.put(rows, map.keys(), parts.column(0), &put).await?;
    }
    Ok(())
}

/// A table of entries that is written.
struct Target<'a> {
    writer: &'a TableWriter,
    entries: TableWriter,
    /// The columns of the key, in both tables.
    row: Vec<(ColumnId, ColumnId)>,
    key: ColumnId,
    value: ColumnId,
}

impl<'a> Target<'a> {
    fn new(writer: &'a TableWriter, column: &ColumnDescriptor) -> PgResult<Self> {
        let oid = column.entries.ok_or_else(|| PgError::internal("a column of maps without a table of entries"))?;
        let table = writer.ctx.catalog.shared_table(oid).ok_or_else(|| PgError::internal("a table of entries that does not exist"))?;
        let columns: Vec<ColumnId> = table.live_columns().map(|c| c.id).collect();
        let [of_row @ .., key, value] = columns.as_slice() else { return Err(PgError::internal("a table of entries without columns")) };
        let row = writer.table.key_columns().map(|part| part.column).zip(of_row.iter().copied()).collect();
        Ok(Self { writer, entries: TableWriter::new(&writer.ctx, &table)?, row, key: *key, value: *value })
    }

    fn table(&self) -> &Arc<TableDescriptor> {
        &self.entries.table
    }

    /// Entries without their values.
    fn keys_of(&self, rows: &Rows, keys: &ArrayRef, named: &Named) -> PgResult<Rows> {
        let (of_row, at) = (UInt32Array::from(named.rows.clone()), UInt32Array::from(named.at.clone()));
        let mut out = Rows::new(named.at.len());
        for (from, to) in &self.row {
            out.set(*to, take(rows.column(*from)?, &of_row, None)?);
        }
        out.set(self.key, take(keys, &at, None)?);
        Ok(out)
    }

    fn encoded(&self, rows: &Rows) -> PgResult<KeyList> {
        let encoder = RowEncoder::new(&self.entries.codec, |id| rows.get(id).cloned())?;
        let mut keys = KeyList::with_capacity(rows.len(), 32);
        for row in 0..rows.len() {
            keys.push_with(|out| encoder.key(row, out))?;
        }
        Ok(keys)
    }

    /// Locks entries; they must be as the statement's snapshot has them.
    async fn claim(&self, rows: &Rows, keys: &ArrayRef, named: &Named) -> PgResult<()> {
        if named.is_empty() {
            return Ok(());
        }
        let (txn, storage) = (&self.writer.ctx.txn, self.entries.codec.storage);
        let keys = self.encoded(&self.keys_of(rows, keys, named)?)?;
        txn.lock_rows(storage, &keys, LockStrength::Key, LockWait::Wait, &self.table().name).await?;
        txn.check_unchanged(storage, &keys)
    }

    async fn put(&self, rows: &Rows, keys: &ArrayRef, values: &ArrayRef, named: &Named) -> PgResult<()> {
        if named.is_empty() {
            return Ok(());
        }
        let mut new = self.keys_of(rows, keys, named)?;
        new.set(self.value, take(values, &UInt32Array::from(named.at.clone()), None)?);
        let mut writer = TableWriter::new(&self.writer.ctx, self.table())?;
        // That their rows are there is known.
        let mut work = ForeignKeyWork::default();
        Box::pin(insert::apply(&mut writer, &mut work, &mut ConflictRule::Replace(None), new)).await?;
        Ok(())
    }

    async fn remove(&self, rows: &Rows, keys: &ArrayRef, named: &Named) -> PgResult<()> {
        if named.is_empty() {
            return Ok(());
        }
        let keys = self.encoded(&self.keys_of(rows, keys, named)?)?;
        let wanted: Vec<&[u8]> = keys.iter().collect();
        let view = self.writer.ctx.txn.newest_view();
        let (old, _) = lookup::rows_by_key(&view, self.table(), &self.entries.codec, &wanted).await?;
        self.delete(old).await
    }

    async fn delete(&self, old: Rows) -> PgResult<()> {
        let writer = TableWriter::new(&self.writer.ctx, self.table())?;
        let mut work = ForeignKeyWork::default();
        Box::pin(update::delete(&writer, &mut work, &old, Freshness::Newest)).await?;
        Ok(())
    }

    /// Whole maps take the place of what the rows have.
    async fn replace(&self, rows: &Rows, map: &arrow::array::MapArray) -> PgResult<()> {
        let mut named = Named::default();
        for row in (0..rows.len()).filter(|row| map.is_valid(*row)) {
            entries(map, row).for_each(|at| named.push(row, at));
        }
        let kept: HashSet<Vec<u8>> = self.encoded(&self.keys_of(rows, map.keys(), &named)?)?.iter().map(<[u8]>::to_vec).collect();
        let (txn, storage) = (&self.writer.ctx.txn, self.entries.codec.storage);
        let fk = self.table().foreign_keys.first().ok_or_else(|| PgError::internal("a table of entries without its foreign key"))?;
        let values = fk.referenced_columns.iter().map(|id| rows.column(*id).cloned()).collect::<PgResult<Vec<_>>>()?;
        let all: Vec<usize> = (0..rows.len()).collect();
        let view = txn.newest_view();
        let found =
            foreign_key::find_children(&self.writer.ctx.eval, &view, &self.writer.table, self.table(), fk, &values, &all).await?.rows;
        let keys = self.encoded(&found)?;
        txn.lock_rows(storage, &keys, LockStrength::Key, LockWait::Wait, &self.table().name).await?;
        if txn.rows_changed_since(storage, &keys, view.timestamp()) {
            return Err(if txn.isolation() == Isolation::ReadCommitted { statement_retry() } else { concurrent_update() });
        }
        let snapshot = txn.read_view().timestamp();
        if txn.isolation() != Isolation::ReadCommitted && txn.rows_changed_since(storage, &keys, snapshot) {
            return Err(concurrent_update());
        }
        let gone: Vec<usize> = keys.iter().enumerate().filter(|(_, key)| !kept.contains(*key)).map(|(at, _)| at).collect();
        if !gone.is_empty() {
            self.delete(found.at(&gone)?).await?;
        }
        self.put(rows, map.keys(), map.values(), &named).await
    }
}
