//! What a transaction has written and nobody else sees: a buffer in memory, and spill files of what did not fit.
//!
//! Invariant: the buffer is newer than all files, and each file newer than those before it. A change without reset lies over the row
//! below (in an older file, an older write set, the store), cell by cell; one with reset replaces it.

use super::overlay::{Overlay, OverlayCursor};
use super::row_change::RowChange;
use super::spill_file::{SpillFile, SpillWriter};
use super::spill_space::{SpillMemory, SpillSpace};
use super::write_buffer::WriteBuffer;
use std::sync::{Arc, LazyLock};
use stoa_pg::sqlstate::SqlState;
use stoa_pg::{PgError, PgResult};
use stoa_store::{FamilyId, TableId};

/// Runs that are merged into one.
const MAX_FILES: usize = 12;

/// See the module.
#[derive(Debug)]
pub struct WriteSet {
    pub(super) buffer: WriteBuffer,
    /// The oldest first.
    pub(super) files: Vec<Arc<SpillFile>>,
    space: Arc<SpillSpace>,
    memory: SpillMemory,
    /// Why the buffer could not go to disk when it had to. Nothing is lost.
    failed: Option<PgError>,
}

impl Default for WriteSet {
    fn default() -> Self {
        static SPACE: LazyLock<Arc<SpillSpace>> = LazyLock::new(Arc::default);
        Self::new(&SPACE)
    }
}

impl WriteSet {
    #[must_use]
    pub fn new(space: &Arc<SpillSpace>) -> Self {
        Self { buffer: WriteBuffer::default(), files: Vec::new(), space: Arc::clone(space), memory: SpillMemory::default(), failed: None }
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty() && self.files.is_empty()
    }

    /// Bytes held, in memory and on disk.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.buffer.bytes() + self.files.iter().map(|r| usize::try_from(r.bytes()).unwrap_or(usize::MAX)).sum::<usize>()
    }

    /// Rows changed; one that is in several files counts as often.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.buffer.rows() + self.files.iter().map(|r| r.rows()).sum::<usize>()
    }

    /// Whether some of it is on disk.
    #[must_use]
    pub fn has_spill_files(&self) -> bool {
        !self.files.is_empty()
    }

    /// What went wrong since this was asked last.
    pub fn take_failure(&mut self) -> Option<PgError> {
        self.failed.take()
    }

    /// Sets or (without a value) removes a cell.
    pub fn put(&mut self, table: TableId, key: &[u8], family: FamilyId, qualifier: &[u8], value: Option<&[u8]>) {
        if !self.buffer.put(table, key, family, qualifier, value) {
            self.failed.get_or_insert_with(no_room);
        }
        self.check_memory();
    }

    /// Removes a row.
    pub fn delete(&mut self, table: TableId, key: &[u8]) {
        if !self.buffer.delete(table, key) {
            self.failed.get_or_insert_with(no_room);
        }
        self.check_memory();
    }

    fn check_memory(&mut self) {
        let fits = self.memory.grant(&self.space, self.buffer.bytes()) && !self.buffer.is_full();
        if !fits
            && self.failed.is_none()
            && let Err(error) = self.spill()
        {
            self.failed = Some(error);
        }
    }

    /// Why changes were lost, if any were.
    #[must_use]
    pub fn failure(&self) -> Option<&PgError> {
        self.failed.as_ref()
    }

    /// Moves the buffer to disk.
    ///
    /// # Errors
    /// 53100 and the like; the buffer stays as it is then.
    pub fn spill(&mut self) -> PgResult<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let mut writer = SpillWriter::new(&self.space, self.buffer.rows())?;
        for table in self.buffer.tables() {
            let mut at = self.buffer.first(table);
            while let Some(place) = at
                && let Some(row) = self.buffer.at(table, place)
            {
                writer.add(table, row.key(), &row)?;
                at = self.buffer.after(table, place);
            }
        }
        self.files.push(Arc::new(writer.finish()?));
        self.buffer = WriteBuffer::default();
        self.memory.free();
        self.merge_runs()
    }

    /// Keeps files few: the newest of about one size become one.
    fn merge_runs(&mut self) -> PgResult<()> {
        while self.merge_newest()? {}
        Ok(())
    }

    fn merge_newest(&mut self) -> PgResult<bool> {
        let size = |file: &Arc<SpillFile>| file.bytes();
        let newest = self.files.last().map_or(0, size);
        let alike = self.files.iter().rev().take_while(|file| size(file) < newest.saturating_mul(MAX_FILES as u64 / 2)).count();
        if alike < MAX_FILES {
            return Ok(false);
        }
        let from = self.files.len() - alike;
        let old = self.files.get(from..).unwrap_or_default().to_vec();
        let mut writer = SpillWriter::new(&self.space, old.iter().map(|r| r.rows()).sum())?;
        let mut tables: Vec<TableId> = old.iter().flat_map(|r| r.tables()).collect();
        tables.sort_unstable();
        tables.dedup();
        for table in tables {
            let mut cursor = OverlayCursor::of_files(&old, table)?;
            while cursor.take()? {
                writer.add(table, cursor.key(), cursor.change())?;
            }
        }
        let merged = Arc::new(writer.finish()?);
        self.files.truncate(from);
        self.files.push(merged);
        Ok(true)
    }

    /// Adds the change of a row; false if there is none.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn get_into(&self, table: TableId, key: &[u8], out: &mut RowChange) -> PgResult<bool> {
        let mut found = false;
        for file in &self.files {
            found |= file.get(table, key, out)?;
        }
        if let Some(row) = self.buffer.get(table, key) {
            out.add(&row);
            found = true;
        }
        Ok(found)
    }

    /// Whether a row was changed.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn contains(&self, table: TableId, key: &[u8]) -> PgResult<bool> {
        if self.buffer.get(table, key).is_some() {
            return Ok(true);
        }
        self.get_into(table, key, &mut RowChange::default())
    }

    #[must_use]
    pub fn touches(&self, table: TableId) -> bool {
        self.buffer.touches(table) || self.files.iter().any(|r| r.touches(table))
    }

    /// Forgets the changes of a table that was dropped or truncated, as far as they are in memory.
    pub fn forget_table(&mut self, table: TableId) {
        if self.files.iter().all(|r| !r.touches(table)) {
            self.buffer.forget_table(table);
        }
    }

    /// Adds later changes.
    pub fn absorb(&mut self, mut later: WriteSet) {
        if let Some(error) = later.failed.take() {
            self.failed.get_or_insert(error);
        }
        if self.is_empty() {
            let failed = self.failed.take();
            *self = later;
            self.failed = failed;
            return;
        }
        if !later.files.is_empty() {
            // What is here is older than what is there: it goes before it.
            if let Err(error) = self.spill() {
                self.failed.get_or_insert(error);
                return;
            }
            self.files.append(&mut later.files);
            self.buffer = std::mem::take(&mut later.buffer);
            self.memory = std::mem::take(&mut later.memory);
            if let Err(error) = self.merge_runs() {
                self.failed.get_or_insert(error);
            }
            return;
        }
        for table in later.buffer.tables() {
            let mut at = later.buffer.first(table);
            while let Some(place) = at
                && let Some(row) = later.buffer.at(table, place)
            {
                if !self.buffer.add(table, row.key(), &row) {
                    self.failed.get_or_insert_with(no_room);
                }
                self.check_memory();
                at = later.buffer.after(table, place);
            }
        }
    }

    /// The tables with changes, in order.
    #[must_use]
    pub fn tables(&self) -> Vec<TableId> {
        let mut out = self.buffer.tables();
        out.extend(self.files.iter().flat_map(|r| r.tables()));
        out.sort_unstable();
        out.dedup();
        out
    }

    /// All of it, as a statement sees it.
    #[must_use]
    pub fn into_overlay(self) -> Overlay {
        Overlay::new([Arc::new(self)])
    }
}

fn no_room() -> PgError {
    PgError::new(SqlState::OUT_OF_MEMORY, "out of memory").detail("The changes of the transaction do not fit into memory.")
}

#[cfg(test)]
mod tests;
