//! Changes of rows in memory, in key order, in one arena: no allocation a row or a cell.
//!
//! ```text
//! row    u32 key length │ u32 first cell │ u32 last cell │ u8 reset │ 3 spare │ key
//! cell   u32 next cell │ u32 qualifier length │ u32 value length │ u16 family │ u8 has a value │ 1 spare │ qualifier │ value
//! ```
//!
//! A place is a chunk's number (12 bits) and an offset in it (20 bits). Rows of a table stand in blocks of places in key order: a
//! B-tree of two levels, to whose end a row is appended at the price of one comparison.
//!
//! Invariant: a cell stands once in its row's chain. What was overwritten stays in the arena until the buffer is rebuilt.

use super::row_change::{ChangedRow, RowChange};
use stoa_store::{FamilyId, TableId};

const CHUNK: usize = 1 << 20;
/// Larger records have a chunk of their own.
const LARGE: usize = CHUNK / 4;
const FIRST_CHUNK: usize = 512;
const MAX_CHUNKS: usize = 1 << 12;
const BLOCK_ROWS: usize = 256;
const NONE: u32 = u32::MAX;
const ROW_HEADER: usize = 16;
const CELL_HEADER: usize = 16;

#[derive(Debug, Default)]
struct Arena {
    chunks: Vec<Vec<u8>>,
    /// The chunk that small records go to.
    current: usize,
    /// Bytes of all chunks.
    bytes: usize,
}

impl Arena {
    /// Room for a record; `None` when there is none left.
    fn add(&mut self, parts: [&[u8]; 3]) -> Option<u32> {
        let len = parts.iter().map(|p| p.len()).sum::<usize>();
        let at = if len > LARGE {
            self.new_chunk(len)?
        } else {
            match self.chunks.get(self.current) {
                Some(chunk) if chunk.capacity() - chunk.len() >= len && chunk.capacity() <= CHUNK => self.current,
                _ => {
                    let before = self.chunks.get(self.current).map_or(0, Vec::capacity);
                    let next = self.new_chunk((before * 2).clamp(FIRST_CHUNK, CHUNK).max(len))?;
                    self.current = next;
                    next
                }
            }
        };
        let chunk = self.chunks.get_mut(at)?;
        let offset = chunk.len();
        parts.iter().for_each(|p| chunk.extend_from_slice(p));
        Some((at as u32) << 20 | offset as u32)
    }

    fn new_chunk(&mut self, capacity: usize) -> Option<usize> {
        if self.chunks.len() == MAX_CHUNKS - 1 {
            return None;
        }
        self.bytes += capacity;
        self.chunks.push(Vec::with_capacity(capacity));
        Some(self.chunks.len() - 1)
    }

    fn get(&self, place: u32, from: usize, len: usize) -> &[u8] {
        let at = (place & 0xf_ffff) as usize + from;
        self.chunks.get((place >> 20) as usize).and_then(|chunk| chunk.get(at..at + len)).unwrap_or_default()
    }

    fn set(&mut self, place: u32, from: usize, bytes: &[u8]) {
        let at = (place & 0xf_ffff) as usize + from;
        if let Some(target) = self.chunks.get_mut((place >> 20) as usize).and_then(|chunk| chunk.get_mut(at..at + bytes.len())) {
            target.copy_from_slice(bytes);
        }
    }

    fn u32(&self, place: u32, from: usize) -> u32 {
        self.get(place, from, 4).try_into().map_or(NONE, u32::from_le_bytes)
    }

    fn key(&self, row: u32) -> &[u8] {
        self.get(row, ROW_HEADER, self.u32(row, 0) as usize)
    }

    fn cell(&self, cell: u32) -> Cell {
        let tail = self.get(cell, 12, 3);
        let family = FamilyId(u16::from_le_bytes([tail.first().copied().unwrap_or(0), tail.get(1).copied().unwrap_or(0)]));
        Cell {
            next: self.u32(cell, 0),
            qualifier: self.u32(cell, 4) as usize,
            value: self.u32(cell, 8) as usize,
            family,
            has_value: tail.get(2) == Some(&1),
        }
    }
}

struct Cell {
    next: u32,
    qualifier: usize,
    value: usize,
    family: FamilyId,
    has_value: bool,
}

/// Rows of one table.
#[derive(Debug, Default)]
struct Rows {
    blocks: Vec<Vec<u32>>,
}

impl Rows {
    /// Where a key stands, or would.
    fn find(&self, arena: &Arena, key: &[u8]) -> Result<(usize, usize), (usize, usize)> {
        let behind_all = |block: &Vec<u32>| block.last().is_some_and(|last| arena.key(*last) < key);
        match self.blocks.last() {
            None => return Err((0, 0)),
            Some(last) if behind_all(last) => return Err((self.blocks.len() - 1, last.len())),
            Some(_) => {}
        }
        let at = self.blocks.partition_point(behind_all);
        let Some(block) = self.blocks.get(at) else { return Err((at, 0)) };
        match block.binary_search_by(|row| arena.key(*row).cmp(key)) {
            Ok(row) => Ok((at, row)),
            Err(row) => Err((at, row)),
        }
    }

    fn insert(&mut self, (at, row): (usize, usize), place: u32) {
        if self.blocks.is_empty() {
            self.blocks.push(Vec::new());
        }
        let last = at + 1 == self.blocks.len();
        let Some(block) = self.blocks.get_mut(at) else { return };
        if block.len() < BLOCK_ROWS {
            block.insert(row, place);
        } else if last && row == block.len() {
            let mut next = Vec::with_capacity(BLOCK_ROWS);
            next.push(place);
            self.blocks.push(next);
        } else {
            let mut upper = Vec::with_capacity(BLOCK_ROWS);
            upper.extend(block.drain(BLOCK_ROWS / 2..));
            if row <= block.len() {
                block.insert(row, place)
            } else {
                upper.insert(row - block.len(), place)
            }
            self.blocks.insert(at + 1, upper);
        }
    }

    fn place(&self, at: (usize, usize)) -> Option<u32> {
        self.blocks.get(at.0)?.get(at.1).copied()
    }
}

/// See the module.
#[derive(Debug, Default)]
pub struct WriteBuffer {
    arena: Arena,
    /// By table id.
    tables: Vec<(TableId, Rows)>,
    rows: usize,
    /// Bytes in the arena that count no more.
    garbage: usize,
}

/// Garbage below which nothing is rebuilt.
const MIN_GARBAGE: usize = 64 << 10;

impl WriteBuffer {
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Memory held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.arena.bytes + self.rows * 8
    }

    /// Whether it should not grow further: places have a limit.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.arena.chunks.len() >= MAX_CHUNKS - 96
    }

    fn table(&self, table: TableId) -> Option<&Rows> {
        self.tables.binary_search_by_key(&table, |(id, _)| *id).ok().and_then(|at| self.tables.get(at)).map(|(_, rows)| rows)
    }

    /// The row, made if there is none.
    fn row(&mut self, table: TableId, key: &[u8]) -> Option<(u32, bool)> {
        let at = match self.tables.binary_search_by_key(&table, |(id, _)| *id) {
            Ok(at) => at,
            Err(at) => {
                self.tables.insert(at, (table, Rows::default()));
                at
            }
        };
        let (_, rows) = self.tables.get_mut(at)?;
        match rows.find(&self.arena, key) {
            Ok(found) => rows.place(found).map(|row| (row, false)),
            Err(free) => {
                let mut header = [0u8; ROW_HEADER];
                header[..4].copy_from_slice(&(key.len() as u32).to_le_bytes());
                header[4..12].fill(0xff);
                let row = self.arena.add([&header, key, &[]])?;
                rows.insert(free, row);
                self.rows += 1;
                Some((row, true))
            }
        }
    }

    /// Sets or (without a value) removes a cell. False: there is no room.
    #[must_use]
    pub fn put(&mut self, table: TableId, key: &[u8], family: FamilyId, qualifier: &[u8], value: Option<&[u8]>) -> bool {
        let Some((row, new)) = self.row(table, key) else { return false };
        let mut before = NONE;
        let mut at = if new { NONE } else { self.arena.u32(row, 4) };
        while at != NONE {
            let cell = self.arena.cell(at);
            if cell.family == family && self.arena.get(at, CELL_HEADER, cell.qualifier) == qualifier {
                let bytes = value.unwrap_or_default();
                if bytes.len() <= cell.value {
                    // In its place.
                    self.arena.set(at, CELL_HEADER + cell.qualifier, bytes);
                    self.arena.set(at, 8, &(bytes.len() as u32).to_le_bytes());
                    self.arena.set(at, 14, &[u8::from(value.is_some())]);
                    self.garbage += cell.value - bytes.len();
                    return true;
                }
                self.unlink(row, before, at, cell.next);
                self.garbage += CELL_HEADER + cell.qualifier + cell.value;
                break;
            }
            before = at;
            at = cell.next;
        }
        let mut header = [0u8; CELL_HEADER];
        header[..4].copy_from_slice(&NONE.to_le_bytes());
        header[4..8].copy_from_slice(&(qualifier.len() as u32).to_le_bytes());
        header[8..12].copy_from_slice(&(value.map_or(0, <[u8]>::len) as u32).to_le_bytes());
        header[12..14].copy_from_slice(&family.0.to_le_bytes());
        header[14] = u8::from(value.is_some());
        let Some(cell) = self.arena.add([&header, qualifier, value.unwrap_or_default()]) else { return false };
        let place = cell.to_le_bytes();
        match self.arena.u32(row, 8) {
            NONE => self.arena.set(row, 4, &place),
            last => self.arena.set(last, 0, &place),
        }
        self.arena.set(row, 8, &place);
        self.tidy()
    }

    fn unlink(&mut self, row: u32, before: u32, at: u32, next: u32) {
        if before == NONE {
            self.arena.set(row, 4, &next.to_le_bytes())
        } else {
            self.arena.set(before, 0, &next.to_le_bytes())
        }
        if self.arena.u32(row, 8) == at {
            self.arena.set(row, 8, &before.to_le_bytes());
        }
    }

    /// Removes a row. False: there is no room.
    #[must_use]
    pub fn delete(&mut self, table: TableId, key: &[u8]) -> bool {
        let Some((row, new)) = self.row(table, key) else { return false };
        if !new {
            let mut at = self.arena.u32(row, 4);
            while at != NONE {
                let cell = self.arena.cell(at);
                self.garbage += CELL_HEADER + cell.qualifier + cell.value;
                at = cell.next;
            }
            self.arena.set(row, 4, &[0xff; 8]);
        }
        self.arena.set(row, 12, &[1]);
        self.tidy()
    }

    /// Adds a later change of a row.
    #[must_use]
    pub fn add(&mut self, table: TableId, key: &[u8], change: &impl ChangedRow) -> bool {
        let mut room = !change.reset() || self.delete(table, key);
        change.each_cell(&mut |family, qualifier, value| room = room && self.put(table, key, family, qualifier, value));
        room
    }

    /// Rebuilds the arena when most of it counts no more.
    fn tidy(&mut self) -> bool {
        if self.garbage < MIN_GARBAGE || self.garbage < self.arena.bytes / 2 {
            return true;
        }
        let mut fresh = WriteBuffer::default();
        let mut room = true;
        for table in self.tables() {
            let mut at = self.first(table);
            while let Some(place) = at {
                let Some(row) = self.at(table, place) else { break };
                room = room && fresh.add(table, row.key(), &row);
                at = self.after(table, place);
            }
        }
        if room {
            *self = fresh;
        }
        room
    }

    /// Forgets the changes of a table.
    pub fn forget_table(&mut self, table: TableId) {
        if let Ok(at) = self.tables.binary_search_by_key(&table, |(id, _)| *id) {
            let (_, rows) = self.tables.remove(at);
            self.rows -= rows.blocks.iter().map(Vec::len).sum::<usize>();
        }
        if self.tables.is_empty() {
            *self = WriteBuffer::default();
        }
    }

    /// The tables with changes, in order.
    #[must_use]
    pub fn tables(&self) -> Vec<TableId> {
        self.tables.iter().filter(|(_, rows)| !rows.blocks.is_empty()).map(|(id, _)| *id).collect()
    }

    #[must_use]
    pub fn touches(&self, table: TableId) -> bool {
        self.table(table).is_some_and(|rows| !rows.blocks.is_empty())
    }

    #[must_use]
    pub fn get(&self, table: TableId, key: &[u8]) -> Option<BufferedRow<'_>> {
        let rows = self.table(table)?;
        let at = rows.find(&self.arena, key).ok()?;
        Some(BufferedRow { arena: &self.arena, row: rows.place(at)? })
    }

    // Walking.

    /// The first row of a table.
    #[must_use]
    pub fn first(&self, table: TableId) -> Option<Place> {
        self.table(table).filter(|rows| !rows.blocks.is_empty()).map(|_| Place(0, 0))
    }

    /// The last row of a table.
    #[must_use]
    pub fn last(&self, table: TableId) -> Option<Place> {
        let rows = self.table(table)?;
        Some(Place(rows.blocks.len().checked_sub(1)?, rows.blocks.last()?.len().checked_sub(1)?))
    }

    /// The first row at or behind a key.
    #[must_use]
    pub fn seek(&self, table: TableId, key: &[u8]) -> Option<Place> {
        let rows = self.table(table)?;
        match rows.find(&self.arena, key) {
            Ok((block, row)) => Some(Place(block, row)),
            Err((block, row)) if rows.place((block, row)).is_some() => Some(Place(block, row)),
            Err((block, _)) => rows.place((block + 1, 0)).map(|_| Place(block + 1, 0)),
        }
    }

    /// The last row before a key.
    #[must_use]
    pub fn seek_before(&self, table: TableId, key: &[u8]) -> Option<Place> {
        match self.seek(table, key) {
            Some(place) => self.before(table, place),
            None => self.last(table),
        }
    }

    #[must_use]
    pub fn after(&self, table: TableId, place: Place) -> Option<Place> {
        let rows = self.table(table)?;
        let next = [Place(place.0, place.1 + 1), Place(place.0 + 1, 0)];
        next.into_iter().find(|p| rows.place((p.0, p.1)).is_some())
    }

    #[must_use]
    pub fn before(&self, table: TableId, place: Place) -> Option<Place> {
        match place {
            Place(block, row) if row > 0 => Some(Place(block, row - 1)),
            Place(block, _) => {
                let block = block.checked_sub(1)?;
                Some(Place(block, self.table(table)?.blocks.get(block)?.len().checked_sub(1)?))
            }
        }
    }

    #[must_use]
    pub fn at(&self, table: TableId, place: Place) -> Option<BufferedRow<'_>> {
        let row = self.table(table)?.place((place.0, place.1))?;
        Some(BufferedRow { arena: &self.arena, row })
    }
}

/// Where a row stands among its table's: block and position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place(usize, usize);

/// The change of one row.
#[derive(Clone, Copy)]
pub struct BufferedRow<'a> {
    arena: &'a Arena,
    row: u32,
}

impl<'a> BufferedRow<'a> {
    #[must_use]
    pub fn key(&self) -> &'a [u8] {
        self.arena.key(self.row)
    }
}

impl ChangedRow for BufferedRow<'_> {
    fn reset(&self) -> bool {
        self.arena.get(self.row, 12, 1) == [1]
    }

    fn each_cell(&self, f: &mut dyn FnMut(FamilyId, &[u8], Option<&[u8]>)) {
        let mut at = self.arena.u32(self.row, 4);
        while at != NONE {
            let cell = self.arena.cell(at);
            let value = cell.has_value.then(|| self.arena.get(at, CELL_HEADER + cell.qualifier, cell.value));
            f(cell.family, self.arena.get(at, CELL_HEADER, cell.qualifier), value);
            at = cell.next;
        }
    }
}

impl BufferedRow<'_> {
    /// A copy of the change.
    #[must_use]
    pub fn to_change(&self) -> RowChange {
        let mut out = RowChange::default();
        out.add(self);
        out
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use std::collections::BTreeMap;

    const T: TableId = TableId(7);
    const F: FamilyId = FamilyId(0);

    fn random(seed: &mut u64) -> u64 {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *seed >> 33
    }

    /// Against a map: puts, removals, overwriting with longer and shorter values, deletions.
    #[test]
    fn it_holds_what_a_map_would_hold() {
        type Cells = BTreeMap<(u16, Vec<u8>), Option<Vec<u8>>>;
        let mut map: BTreeMap<Vec<u8>, (bool, Cells)> = BTreeMap::new();
        let mut buffer = WriteBuffer::default();
        let mut seed = 1;
        for step in 0..60_000u64 {
            let key = (random(&mut seed) % 3000).to_be_bytes().to_vec();
            let entry = map.entry(key.clone()).or_default();
            if random(&mut seed).is_multiple_of(10) {
                *entry = (true, Cells::new());
                assert!(buffer.delete(T, &key));
                continue;
            }
            let (family, qualifier) = ((random(&mut seed) % 2) as u16, vec![b'q'; (random(&mut seed) % 3) as usize]);
            let value = (!random(&mut seed).is_multiple_of(8)).then(|| vec![step as u8; (random(&mut seed) % 100) as usize]);
            assert!(buffer.put(T, &key, FamilyId(family), &qualifier, value.as_deref()));
            entry.1.insert((family, qualifier), value);
        }
        assert_eq!(buffer.rows(), map.len());
        assert!(buffer.bytes() < 3 << 20, "{} bytes: what is overwritten goes", buffer.bytes());
        let check = |row: BufferedRow<'_>| {
            let (reset, wanted) = &map[row.key()];
            assert_eq!(row.reset(), *reset);
            let mut cells = Cells::new();
            row.each_cell(&mut |f, q, v| assert!(cells.insert((f.0, q.to_vec()), v.map(<[u8]>::to_vec)).is_none()));
            assert_eq!(cells, *wanted);
        };
        map.keys().for_each(|key| check(buffer.get(T, key).unwrap()));
        let mut forward = Vec::new();
        let mut at = buffer.first(T);
        while let Some(place) = at {
            let row = buffer.at(T, place).unwrap();
            check(row);
            forward.push(row.key().to_vec());
            at = buffer.after(T, place);
        }
        assert!(forward.iter().eq(map.keys()));
        let mut at = buffer.last(T);
        while let Some(place) = at {
            assert_eq!(forward.pop().as_deref(), Some(buffer.at(T, place).unwrap().key()));
            at = buffer.before(T, place);
        }
        assert!(forward.is_empty());
        for n in 0..3001u64 {
            let key = n.to_be_bytes().to_vec();
            let of = |place: Option<Place>| place.map(|p| buffer.at(T, p).unwrap().key().to_vec());
            assert_eq!(of(buffer.seek(T, &key)), map.range(key.clone()..).next().map(|(k, _)| k.clone()));
            assert_eq!(of(buffer.seek_before(T, &key)), map.range(..key).next_back().map(|(k, _)| k.clone()));
        }
    }

    #[test]
    fn large_values_have_chunks_of_their_own_and_tables_are_forgotten() {
        let mut buffer = WriteBuffer::default();
        let large = vec![9; 3 << 20];
        for n in 0..4u8 {
            assert!(buffer.put(T, &[n], F, b"", Some(&large)));
            assert!(buffer.put(TableId(8), &[n], F, b"", Some(b"small")));
        }
        assert!((12 << 20..13 << 20).contains(&buffer.bytes()));
        assert_eq!(buffer.tables(), [T, TableId(8)]);
        buffer.forget_table(T);
        assert_eq!((buffer.rows(), buffer.touches(T)), (4, false));
        buffer.forget_table(TableId(8));
        assert_eq!(buffer.bytes(), 0);
    }
}
