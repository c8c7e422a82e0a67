//! A spill file: changes of rows that did not fit into memory, in a file of their own, in the order of tables and keys.
//!
//! ```text
//! file    blocks, each of one table
//! block   rows
//! row     u32 key length │ u16 cells │ u8 reset │ key │ cells
//! cell    u16 family │ u8 has a value │ u32 qualifier length │ u32 value length │ qualifier │ value
//! ```
//!
//! The place and the first key of each block are in memory, and a filter of all keys, so that looking for a row that is not there
//! reads nothing. Nothing of this outlives the process: the format is no promise.

use super::key_filter::KeyFilter;
use super::row_change::{ChangedRow, RowChange};
use super::spill_space::{SpillSpace, file_error};
use parking_lot::Mutex;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use stoa_pg::sqlstate::SqlState;
use stoa_pg::{PgError, PgResult};
use stoa_store::{FamilyId, TableId};

const BLOCK_BYTES: usize = 16 << 10;
const WRITE_BYTES: usize = 256 << 10;
const ROW_HEADER: usize = 7;
const CELL_HEADER: usize = 11;

#[derive(Clone, Copy, Debug)]
struct BlockMeta {
    table: TableId,
    offset: u64,
    len: u32,
    /// Its first key in `keys`.
    key_at: u32,
    key_len: u32,
}

/// A spill file that is complete.
#[derive(Debug)]
pub struct SpillFile {
    file: File,
    blocks: Vec<BlockMeta>,
    keys: Vec<u8>,
    /// The last key of each table.
    ends: Vec<(TableId, Vec<u8>)>,
    filter: KeyFilter,
    rows: usize,
    bytes: u64,
    /// The block that was read last.
    last: Mutex<Option<(usize, Arc<Block>)>>,
}

/// Writes a spill file; rows come in order.
pub struct SpillWriter {
    spill: SpillFile,
    /// Blocks that are not in the file yet.
    buffer: Vec<u8>,
    written: u64,
    /// Where in the buffer the current block begins.
    block_at: usize,
    block: Option<BlockMeta>,
    /// The last key that came.
    last: Vec<u8>,
}

fn hash(table: TableId, key: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64_with_seed(key, u64::from(table.0))
}

impl SpillWriter {
    /// A spill file of at most so many rows.
    ///
    /// # Errors
    /// 53100 and the like.
    pub fn new(space: &SpillSpace, rows: usize) -> PgResult<Self> {
        let spill = SpillFile {
            file: space.file()?,
            blocks: Vec::new(),
            keys: Vec::new(),
            ends: Vec::new(),
            filter: KeyFilter::with_capacity(rows),
            rows: 0,
            bytes: 0,
            last: Mutex::default(),
        };
        Ok(Self { spill, buffer: Vec::with_capacity(WRITE_BYTES + BLOCK_BYTES), written: 0, block_at: 0, block: None, last: Vec::new() })
    }

    /// # Errors
    /// 53100 and the like.
    pub fn add(&mut self, table: TableId, key: &[u8], change: &impl ChangedRow) -> PgResult<()> {
        let begun = self.block.as_ref();
        if begun.is_some_and(|b| b.table != table) || self.buffer.len() - self.block_at >= BLOCK_BYTES {
            self.end_block();
            if self.buffer.len() >= WRITE_BYTES {
                self.flush()?;
            }
        }
        if self.block.is_none() {
            let key_at = u32::try_from(self.spill.keys.len()).map_err(|_| too_many())?;
            self.spill.keys.extend_from_slice(key);
            self.block_at = self.buffer.len();
            self.block =
                Some(BlockMeta { table, offset: self.written + self.buffer.len() as u64, len: 0, key_at, key_len: key.len() as u32 });
        }
        let header = self.buffer.len();
        self.buffer.extend_from_slice(&(key.len() as u32).to_le_bytes());
        self.buffer.extend_from_slice(&[0, 0, u8::from(change.reset())]);
        self.buffer.extend_from_slice(key);
        let mut cells = 0u16;
        let buffer = &mut self.buffer;
        change.each_cell(&mut |family, qualifier, value| {
            cells = cells.saturating_add(1);
            buffer.extend_from_slice(&family.0.to_le_bytes());
            buffer.push(u8::from(value.is_some()));
            buffer.extend_from_slice(&(qualifier.len() as u32).to_le_bytes());
            buffer.extend_from_slice(&(value.map_or(0, <[u8]>::len) as u32).to_le_bytes());
            buffer.extend_from_slice(qualifier);
            buffer.extend_from_slice(value.unwrap_or_default());
        });
        if cells == u16::MAX {
            return Err(too_many());
        }
        if let Some(place) = self.buffer.get_mut(header + 4..header + 6) {
            place.copy_from_slice(&cells.to_le_bytes());
        }
        self.spill.filter.insert(hash(table, key));
        self.last.clear();
        self.last.extend_from_slice(key);
        self.spill.rows += 1;
        Ok(())
    }

    fn end_block(&mut self) {
        if let Some(mut block) = self.block.take() {
            block.len = (self.buffer.len() - self.block_at) as u32;
            match self.spill.ends.last_mut().filter(|(table, _)| *table == block.table) {
                Some((_, end)) => end.clone_from(&self.last),
                None => self.spill.ends.push((block.table, self.last.clone())),
            }
            self.spill.blocks.push(block);
        }
        self.block_at = self.buffer.len();
    }

    fn flush(&mut self) -> PgResult<()> {
        self.spill.file.write_all_at(&self.buffer, self.written).map_err(|e| file_error("write to", &e))?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        self.block_at = 0;
        Ok(())
    }

    /// # Errors
    /// 53100 and the like.
    pub fn finish(mut self) -> PgResult<SpillFile> {
        self.end_block();
        self.flush()?;
        self.spill.bytes = self.written;
        self.spill.blocks.shrink_to_fit();
        self.spill.keys.shrink_to_fit();
        Ok(self.spill)
    }
}

fn too_many() -> PgError {
    PgError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "a change of a row has too many cells, or a transaction too many changes")
}

fn damaged() -> PgError {
    PgError::new(SqlState::DATA_CORRUPTED, "a file with the changes of a transaction cannot be read")
}

/// A block in memory, with the places of its rows.
#[derive(Debug)]
struct Block {
    bytes: Vec<u8>,
    rows: Vec<u32>,
}

impl Block {
    fn parse(bytes: Vec<u8>) -> PgResult<Self> {
        let mut rows = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            rows.push(at as u32);
            let row = RunRow::new(&bytes, at).ok_or_else(damaged)?;
            at = row.end().ok_or_else(damaged)?;
        }
        Ok(Self { bytes, rows })
    }

    fn row(&self, at: usize) -> Option<RunRow<'_>> {
        RunRow::new(&self.bytes, *self.rows.get(at)? as usize)
    }

    fn key(&self, at: usize) -> &[u8] {
        self.row(at).map(|r| r.key).unwrap_or_default()
    }

    /// The first row at or behind a key.
    fn seek(&self, key: &[u8]) -> usize {
        self.rows.partition_point(|at| RunRow::new(&self.bytes, *at as usize).is_some_and(|row| row.key < key))
    }
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

/// A row in a block.
#[derive(Clone, Copy)]
struct RunRow<'a> {
    bytes: &'a [u8],
    key: &'a [u8],
    reset: bool,
    cells: u16,
    cells_at: usize,
}

impl<'a> RunRow<'a> {
    fn new(bytes: &'a [u8], at: usize) -> Option<Self> {
        let len = u32::from_le_bytes(number(bytes, at)?) as usize;
        let cells = u16::from_le_bytes(number(bytes, at + 4)?);
        let reset = *bytes.get(at + 6)? == 1;
        let key = bytes.get(at + ROW_HEADER..at + ROW_HEADER + len)?;
        Some(Self { bytes, key, reset, cells, cells_at: at + ROW_HEADER + len })
    }

    fn cell(&self, at: usize) -> Option<(FamilyId, &'a [u8], Option<&'a [u8]>, usize)> {
        let family = FamilyId(u16::from_le_bytes(number(self.bytes, at)?));
        let has_value = *self.bytes.get(at + 2)? == 1;
        let qualifier = u32::from_le_bytes(number(self.bytes, at + 3)?) as usize;
        let value = u32::from_le_bytes(number(self.bytes, at + 7)?) as usize;
        let from = at + CELL_HEADER;
        let end = from + qualifier + value;
        let bytes = self.bytes.get(from..end)?;
        let (qualifier, value) = bytes.split_at_checked(qualifier)?;
        Some((family, qualifier, has_value.then_some(value), end))
    }

    fn end(&self) -> Option<usize> {
        let mut at = self.cells_at;
        for _ in 0..self.cells {
            at = self.cell(at)?.3;
        }
        Some(at)
    }
}

impl ChangedRow for RunRow<'_> {
    fn reset(&self) -> bool {
        self.reset
    }

    fn each_cell(&self, f: &mut dyn FnMut(FamilyId, &[u8], Option<&[u8]>)) {
        let mut at = self.cells_at;
        for _ in 0..self.cells {
            let Some((family, qualifier, value, next)) = self.cell(at) else { return };
            f(family, qualifier, value);
            at = next;
        }
    }
}

impl SpillFile {
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Bytes in the file.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes in memory.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.keys.len() + self.blocks.len() * size_of::<BlockMeta>() + self.filter.bytes()
    }

    #[must_use]
    pub fn touches(&self, table: TableId) -> bool {
        let (from, to) = self.blocks_of(table);
        from < to
    }

    /// The tables with changes, in order.
    #[must_use]
    pub fn tables(&self) -> Vec<TableId> {
        let mut out: Vec<TableId> = self.blocks.iter().map(|b| b.table).collect();
        out.dedup();
        out
    }

    fn blocks_of(&self, table: TableId) -> (usize, usize) {
        (self.blocks.partition_point(|b| b.table < table), self.blocks.partition_point(|b| b.table <= table))
    }

    /// Whether the file may have changes of rows from one key to another, both included.
    #[must_use]
    pub fn may_touch(&self, table: TableId, first: &[u8], last: &[u8]) -> bool {
        let (from, _) = self.blocks_of(table);
        let begins = self.blocks.get(from).filter(|b| b.table == table).is_some_and(|b| self.first_key(b) <= last);
        begins && self.ends.iter().any(|(of, end)| *of == table && end.as_slice() >= first)
    }

    fn first_key(&self, block: &BlockMeta) -> &[u8] {
        self.keys.get(block.key_at as usize..(block.key_at + block.key_len) as usize).unwrap_or_default()
    }

    /// The block in which a key stands, if it stands anywhere.
    fn block_for(&self, table: TableId, key: &[u8]) -> Option<usize> {
        let (from, to) = self.blocks_of(table);
        let blocks = self.blocks.get(from..to)?;
        Some(from + blocks.partition_point(|b| self.first_key(b) <= key).checked_sub(1)?)
    }

    fn read(&self, at: usize) -> PgResult<Arc<Block>> {
        if let Some((number, block)) = &*self.last.lock()
            && *number == at
        {
            return Ok(Arc::clone(block));
        }
        let meta = self.blocks.get(at).ok_or_else(damaged)?;
        let mut bytes = vec![0; meta.len as usize];
        self.file.read_exact_at(&mut bytes, meta.offset).map_err(|e| file_error("read", &e))?;
        let block = Arc::new(Block::parse(bytes)?);
        *self.last.lock() = Some((at, Arc::clone(&block)));
        Ok(block)
    }

    /// Adds the change of a row; false if there is none.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn get(&self, table: TableId, key: &[u8], out: &mut RowChange) -> PgResult<bool> {
        if !self.may_touch(table, key, key) || !self.filter.may_contain(hash(table, key)) {
            return Ok(false);
        }
        let Some(block) = self.block_for(table, key) else { return Ok(false) };
        let block = self.read(block)?;
        match block.row(block.seek(key)).filter(|row| row.key == key) {
            Some(row) => {
                out.add(&row);
                Ok(true)
            }
            None => Ok(false),
        }
    }
}

/// Walks over the rows of one table.
#[derive(Debug)]
pub struct SpillCursor {
    spill: Arc<SpillFile>,
    table: TableId,
    /// Block and row; none at the end.
    at: Option<(usize, usize)>,
    block: Arc<Block>,
}

impl SpillCursor {
    /// Stands on the first row at or behind `start`, or (reversed) on the last row before `end`.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn open(spill: &Arc<SpillFile>, table: TableId, start: &[u8], end: Option<&[u8]>, reverse: bool) -> PgResult<Self> {
        let empty = Arc::new(Block { bytes: Vec::new(), rows: Vec::new() });
        let mut out = Self { spill: Arc::clone(spill), table, at: None, block: empty };
        let (from, to) = spill.blocks_of(table);
        if from == to {
            return Ok(out);
        }
        if !reverse {
            let block = spill.block_for(table, start).unwrap_or(from);
            out.block = spill.read(block)?;
            out.at = Some((block, out.block.seek(start)));
            out.settle()?;
        } else {
            let block = match end {
                None => Some(to - 1),
                Some(end) => spill.block_for(table, end),
            };
            let Some(block) = block else { return Ok(out) };
            out.block = spill.read(block)?;
            let row = end.map_or(out.block.rows.len(), |end| out.block.seek(end));
            out.at = Some((block, row));
            out.step(true)?;
        }
        Ok(out)
    }

    /// Goes on to the next block from behind the end of one.
    fn settle(&mut self) -> PgResult<()> {
        while let Some((block, row)) = self.at
            && row >= self.block.rows.len()
        {
            let next = block + 1;
            if self.spill.blocks.get(next).is_none_or(|b| b.table != self.table) {
                self.at = None;
                return Ok(());
            }
            self.block = self.spill.read(next)?;
            self.at = Some((next, 0));
        }
        Ok(())
    }

    /// The key of the row, if it stands on one.
    #[must_use]
    pub fn key(&self) -> Option<&[u8]> {
        self.at.map(|(_, row)| self.block.key(row))
    }

    /// Adds the row's change.
    pub fn add_to(&self, out: &mut RowChange) {
        if let Some(row) = self.at.and_then(|(_, row)| self.block.row(row)) {
            out.add(&row);
        }
    }

    /// # Errors
    /// The file cannot be read.
    pub fn step(&mut self, reverse: bool) -> PgResult<()> {
        let Some((block, row)) = self.at else { return Ok(()) };
        if !reverse {
            self.at = Some((block, row + 1));
            return self.settle();
        }
        if row > 0 {
            self.at = Some((block, row - 1));
            return Ok(());
        }
        self.at = None;
        if let Some(before) = block.checked_sub(1)
            && self.spill.blocks.get(before).is_some_and(|b| b.table == self.table)
        {
            self.block = self.spill.read(before)?;
            self.at = self.block.rows.len().checked_sub(1).map(|row| (before, row));
        }
        Ok(())
    }
}
