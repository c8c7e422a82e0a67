//! Cells as they travel and lie in files: HBase's KeyValue, each behind its length.
//!
//! ```text
//! u32 length of all that follows | u32 length of the key | u32 length of the value
//! u16 length of the row | row | u8 length of the family | family | qualifier | i64 time | u8 type | value          big-endian
//! ```
//!
//! Invariant: a [`Cell`] has been checked; what it gives are slices of what was received.

use crate::error::Error;
use crate::messages::client;
use bytes::{BufMut, Bytes};
use std::fmt;

/// The time of a cell that the server is to put its own clock into.
pub const LATEST: i64 = i64::MAX;

/// What a cell is: a value, or a marker that hides others until a compaction takes both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CellKind {
    /// A value.
    Put,
    /// Hides the version of this time.
    Delete,
    /// Hides the versions of the whole family at this time.
    DeleteFamilyVersion,
    /// Hides the column's versions of this time and older ones.
    DeleteColumn,
    /// Hides all of the family of this time and older.
    DeleteFamily,
}

impl CellKind {
    pub(crate) fn code(self) -> u8 {
        match self {
            CellKind::Put => 4,
            CellKind::Delete => 8,
            CellKind::DeleteFamilyVersion => 10,
            CellKind::DeleteColumn => 12,
            CellKind::DeleteFamily => 14,
        }
    }

    fn of(code: u8) -> Option<CellKind> {
        Some(match code {
            4 => CellKind::Put,
            8 => CellKind::Delete,
            10 => CellKind::DeleteFamilyVersion,
            12 => CellKind::DeleteColumn,
            14 => CellKind::DeleteFamily,
            _ => return None,
        })
    }
}

/// A cell: slices of the answer that it came in, which stays in memory as long as one of its cells.
#[derive(Clone, PartialEq, Eq)]
pub struct Cell {
    /// The KeyValue.
    data: Bytes,
    row: u16,
    family: u8,
    /// Length of the key: the value follows it.
    key: u32,
}

/// Before the key.
const LENGTHS: usize = 8;
/// Of the key, beside row, family and qualifier: two lengths, time and type.
const FIXED: usize = 2 + 1 + 8 + 1;

impl Cell {
    #[must_use]
    pub fn row(&self) -> &[u8] {
        &self.data[self.row_range()]
    }

    /// The row, without a copy.
    #[must_use]
    pub fn row_bytes(&self) -> Bytes {
        self.data.slice(self.row_range())
    }

    #[must_use]
    pub fn family(&self) -> &[u8] {
        let start = LENGTHS + 2 + usize::from(self.row) + 1;
        &self.data[start..start + usize::from(self.family)]
    }

    #[must_use]
    pub fn qualifier(&self) -> &[u8] {
        let start = LENGTHS + 2 + usize::from(self.row) + 1 + usize::from(self.family);
        &self.data[start..self.key_end() - 9]
    }

    /// Milliseconds.
    #[must_use]
    pub fn timestamp(&self) -> i64 {
        let end = self.key_end() - 1;
        let mut time = [0; 8];
        time.copy_from_slice(&self.data[end - 8..end]);
        i64::from_be_bytes(time)
    }

    /// Gets, and scans that are not raw, answer puts alone.
    #[must_use]
    pub fn kind(&self) -> CellKind {
        CellKind::of(self.data[self.key_end() - 1]).unwrap_or(CellKind::Put)
    }

    #[must_use]
    pub fn value(&self) -> &[u8] {
        &self.data[self.key_end()..self.value_end()]
    }

    /// The value, without a copy.
    #[must_use]
    pub fn value_bytes(&self) -> Bytes {
        self.data.slice(self.key_end()..self.value_end())
    }

    /// Bytes of the cell as it travels.
    #[must_use]
    pub fn size(&self) -> usize {
        self.data.len() + 4
    }

    /// The same cell in memory of its own, so that it does not keep the whole answer.
    #[must_use]
    pub fn detached(&self) -> Cell {
        Cell { data: Bytes::copy_from_slice(&self.data), ..*self }
    }

    fn row_range(&self) -> std::ops::Range<usize> {
        LENGTHS + 2..LENGTHS + 2 + usize::from(self.row)
    }

    fn key_end(&self) -> usize {
        LENGTHS + self.key as usize
    }

    fn value_end(&self) -> usize {
        let mut length = [0; 4];
        length.copy_from_slice(&self.data[4..8]);
        self.key_end() + u32::from_be_bytes(length) as usize
    }

    /// A cell from its KeyValue.
    fn check(data: Bytes) -> Result<Cell, Error> {
        let wrong = |what: &str| Error::Protocol(format!("a cell of {} bytes: {what}", data.len()));
        if data.len() < LENGTHS + FIXED {
            return Err(wrong("too short"));
        }
        let number = |at: usize| u32::from_be_bytes([data[at], data[at + 1], data[at + 2], data[at + 3]]);
        let (key, value) = (number(0), number(4));
        let end = LENGTHS as u64 + u64::from(key) + u64::from(value);
        // Tags may follow the value.
        if end > data.len() as u64 {
            return Err(wrong("key and value are longer"));
        }
        let row = u16::from_be_bytes([data[8], data[9]]);
        let family_at = LENGTHS + 2 + usize::from(row);
        let key_end = LENGTHS + key as usize;
        if family_at + 1 + 9 > key_end {
            return Err(wrong("the row is longer than the key"));
        }
        let family = data[family_at];
        if family_at + 1 + usize::from(family) + 9 > key_end {
            return Err(wrong("the family is longer than the key"));
        }
        Ok(Cell { data, row, family, key })
    }

    /// A cell that came as a message.
    pub(crate) fn from_message(cell: &client::Cell) -> Result<Cell, Error> {
        let bytes = |field: &Option<Bytes>| field.clone().unwrap_or_default();
        let code = u8::try_from(cell.cell_type.unwrap_or(4)).map_err(|_| Error::Protocol("a cell of no type".to_owned()))?;
        let time = cell.timestamp.map_or(LATEST, |time| time as i64);
        let mut out = Vec::new();
        let row = bytes(&cell.row);
        write_cell(&mut out, &row, &bytes(&cell.family), &bytes(&cell.qualifier), time, code, &bytes(&cell.value))?;
        Cell::check(Bytes::from(out).slice(4..))
    }
}

impl fmt::Debug for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
        let (row, family, qualifier) = (text(self.row()), text(self.family()), text(self.qualifier()));
        write!(f, "{row}/{family}:{qualifier}/{}/{:?}/{} bytes", self.timestamp(), self.kind(), self.value().len())
    }
}

/// Appends a cell with its length before it.
pub(crate) fn write_cell(
    out: &mut Vec<u8>,
    row: &[u8],
    family: &[u8],
    qualifier: &[u8],
    time: i64,
    code: u8,
    value: &[u8],
) -> Result<(), Error> {
    let too_long = |what: &str, size: usize, limit: u64| Error::TooLarge { what: what.to_owned(), size: size as u64, limit };
    let row_len = i16::try_from(row.len()).map_err(|_| too_long("a row key", row.len(), i16::MAX as u64))?;
    let family_len = i8::try_from(family.len()).map_err(|_| too_long("a family's name", family.len(), i8::MAX as u64))?;
    let key = FIXED + row.len() + family.len() + qualifier.len();
    let total = LENGTHS + key + value.len();
    if i32::try_from(total).is_err() {
        return Err(too_long("a cell", total, i32::MAX as u64));
    }
    out.reserve(total + 4);
    out.put_u32(total as u32);
    out.put_u32(key as u32);
    out.put_u32(value.len() as u32);
    out.put_i16(row_len);
    out.put_slice(row);
    out.put_i8(family_len);
    out.put_slice(family);
    out.put_slice(qualifier);
    out.put_i64(time);
    out.put_u8(code);
    out.put_slice(value);
    Ok(())
}

/// The cells of a block, one after the other.
#[derive(Debug, Clone)]
pub(crate) struct Cells {
    rest: Bytes,
}

impl Cells {
    pub(crate) fn new(block: Bytes) -> Cells {
        Cells { rest: block }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next one.
    ///
    /// # Errors
    /// [`Error::Protocol`] if there is none, or it is none.
    pub(crate) fn take(&mut self) -> Result<Cell, Error> {
        let Some(length) = self.rest.get(..4) else {
            return Err(Error::Protocol("fewer cells came than were announced".to_owned()));
        };
        let length = u32::from_be_bytes([length[0], length[1], length[2], length[3]]) as usize;
        if self.rest.len() - 4 < length {
            return Err(Error::Protocol(format!("a cell of {length} bytes is cut off at {}", self.rest.len() - 4)));
        }
        let mut data = self.rest.split_to(4 + length);
        Cell::check(data.split_off(4))
    }

    /// The next `count`. Room is made for cells that are there, whatever the count says.
    pub(crate) fn take_many(&mut self, count: usize) -> Result<Vec<Cell>, Error> {
        let mut cells = Vec::with_capacity(count.min(self.rest.len() / (4 + LENGTHS + FIXED)));
        for _ in 0..count {
            cells.push(self.take()?);
        }
        Ok(cells)
    }
}

#[cfg(test)]
mod tests {
    use super::{Cell, CellKind, Cells, write_cell};
    use crate::error::Error;
    use bytes::Bytes;
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    fn block() -> Vec<u8> {
        let mut out = Vec::new();
        write_cell(&mut out, b"row", b"f", b"q", 17, CellKind::Put.code(), b"value").unwrap();
        write_cell(&mut out, b"row", b"", b"", i64::MAX, CellKind::DeleteFamily.code(), b"").unwrap();
        out
    }

    #[test]
    fn cells_are_read_as_they_were_written() {
        let mut cells = Cells::new(block().into());
        let cell = cells.take().unwrap();
        assert_eq!((cell.row(), cell.family(), cell.qualifier()), (&b"row"[..], &b"f"[..], &b"q"[..]));
        assert_eq!((cell.timestamp(), cell.kind(), cell.value()), (17, CellKind::Put, &b"value"[..]));
        assert_eq!(cell.detached(), cell);
        let marker = cells.take().unwrap();
        assert_eq!((marker.timestamp(), marker.kind(), marker.value()), (i64::MAX, CellKind::DeleteFamily, &b""[..]));
        assert!(cells.is_empty() && cells.take().is_err());
    }

    #[test]
    fn the_bytes_are_those_of_hbase() {
        let mut out = Vec::new();
        write_cell(&mut out, b"r", b"f", b"q", 1, 4, b"v").unwrap();
        let expected = [0, 0, 0, 24, 0, 0, 0, 15, 0, 0, 0, 1, 0, 1, b'r', 1, b'f', b'q', 0, 0, 0, 0, 0, 0, 0, 1, 4, b'v'];
        assert_eq!(out, expected);
    }

    #[test]
    fn names_that_are_too_long_are_refused() {
        let long = vec![0; 32_768];
        assert!(matches!(write_cell(&mut Vec::new(), &long, b"f", b"", 0, 4, b""), Err(Error::TooLarge { .. })));
        assert!(write_cell(&mut Vec::new(), &long[1..], b"f", b"", 0, 4, b"").is_ok());
        assert!(write_cell(&mut Vec::new(), b"r", &long[..128], b"", 0, 4, b"").is_err());
    }

    #[test]
    fn cut_and_changed_cells_are_errors_or_cells() {
        let whole = block();
        let mut random = StdRng::seed_from_u64(1);
        let touch = |cell: &Cell| cell.row().len() + cell.family().len() + cell.qualifier().len() + cell.value().len() + cell.size();
        for cut in 0..whole.len() {
            let mut cells = Cells::new(Bytes::copy_from_slice(&whole[..cut]));
            assert!(cells.take_many(2).is_err(), "{cut}");
        }
        assert!(Cells::new(whole.clone().into()).take_many(usize::MAX).is_err());
        for _ in 0..50_000 {
            let mut changed = whole.clone();
            for _ in 0..random.random_range(1..4) {
                let at = random.random_range(0..changed.len());
                changed[at] = random.random();
            }
            let mut cells = Cells::new(changed.into());
            while let Ok(cell) = cells.take() {
                let _ = (touch(&cell), cell.timestamp(), cell.kind(), format!("{cell:?}"));
            }
        }
    }
}
