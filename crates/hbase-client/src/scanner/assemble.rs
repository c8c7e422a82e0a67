//! Rows from what a server answers: parts are put together, and order is checked.
//!
//! Invariant: a row is given when it is whole, and lies behind all that were given before, within the scan's range. A server that says
//! otherwise is not believed: rows would be given twice, or for ever.

use super::spec::Scan;
use crate::error::Error;
use crate::row::{Part, Row};
use crate::wire::cell::Cell;
use bytes::Bytes;
use std::cmp::Ordering;

#[derive(Debug)]
pub(crate) struct Assembler {
    reversed: bool,
    /// The order of the table's rows.
    compare: fn(&[u8], &[u8]) -> Ordering,
    stop: Bytes,
    include_stop: bool,
    limit: usize,
    /// A row of which more is to come.
    open: Vec<Cell>,
    open_bytes: usize,
    /// The last row that was given, or where the scan begins.
    last: Option<Bytes>,
    first: (Bytes, bool),
}

impl Assembler {
    pub(crate) fn new(scan: &Scan, largest_row: usize) -> Assembler {
        Assembler {
            reversed: scan.reversed,
            compare: <[u8]>::cmp,
            stop: scan.stop.clone(),
            include_stop: scan.include_stop,
            limit: largest_row,
            open: Vec::new(),
            open_bytes: 0,
            last: None,
            first: (scan.start.clone(), scan.include_start),
        }
    }

    /// For a table whose rows have an order of their own.
    pub(crate) fn ordered_by(self, compare: fn(&[u8], &[u8]) -> Ordering) -> Assembler {
        Assembler { compare, ..self }
    }

    /// The last whole row.
    pub(crate) fn last(&self) -> Option<&Bytes> {
        self.last.as_ref()
    }

    /// Whether a part of a row waits for more.
    pub(crate) fn has_part(&self) -> bool {
        !self.open.is_empty()
    }

    /// Forgets a part: its row is read again from its beginning.
    pub(crate) fn drop_part(&mut self) {
        self.open.clear();
        self.open_bytes = 0;
    }

    /// Takes a part; whole rows go to `rows`.
    pub(crate) fn take(&mut self, part: Part, rows: &mut Vec<Row>) -> Result<(), Error> {
        let Some(key) = part.cells.first().map(Cell::row_bytes) else { return Ok(()) };
        if self.open.first().is_some_and(|cell| cell.row() != key) {
            self.finish(rows)?;
        }
        if self.open.is_empty() && !part.partial {
            return self.give(part.cells, rows);
        }
        self.open_bytes += part.cells.iter().map(Cell::size).sum::<usize>();
        if self.open_bytes > self.limit {
            return Err(Error::TooLarge { what: "a row".to_owned(), size: self.open_bytes as u64, limit: self.limit as u64 });
        }
        self.open.extend(part.cells);
        if part.partial { Ok(()) } else { self.finish(rows) }
    }

    /// The open row is whole.
    pub(crate) fn finish(&mut self, rows: &mut Vec<Row>) -> Result<(), Error> {
        self.open_bytes = 0;
        let cells = std::mem::take(&mut self.open);
        self.give(cells, rows)
    }

    fn give(&mut self, cells: Vec<Cell>, rows: &mut Vec<Row>) -> Result<(), Error> {
        let Some(row) = Row::new(cells)? else { return Ok(()) };
        let key = row.key();
        if !self.follows(key) || self.is_behind(key) {
            return Err(Error::Protocol(format!("a scanner answers row {} out of order", key.escape_ascii())));
        }
        self.last = Some(row.key_bytes());
        rows.push(row);
        Ok(())
    }

    fn follows(&self, key: &[u8]) -> bool {
        let after = |bound: &[u8], included: bool| {
            if key == bound { included } else { (self.compare)(key, bound).is_lt() == self.reversed }
        };
        match &self.last {
            Some(last) => after(last, false),
            None => self.first.0.is_empty() || after(&self.first.0, self.first.1),
        }
    }

    fn is_behind(&self, key: &[u8]) -> bool {
        if self.stop.is_empty() {
            return false;
        }
        if key == self.stop { !self.include_stop } else { (self.compare)(key, &self.stop).is_gt() != self.reversed }
    }
}

#[cfg(test)]
mod tests {
    use super::Assembler;
    use crate::error::Error;
    use crate::row::{Part, Row};
    use crate::scanner::Scan;
    use crate::wire::cell::{Cell, Cells, write_cell};

    fn cell(row: &str, qualifier: &str) -> Cell {
        let mut out = Vec::new();
        write_cell(&mut out, row.as_bytes(), b"f", qualifier.as_bytes(), 1, 4, b"value").unwrap();
        Cells::new(out.into()).take().unwrap()
    }

    fn part(row: &str, qualifiers: &[&str], partial: bool) -> Part {
        Part { cells: qualifiers.iter().map(|qualifier| cell(row, qualifier)).collect(), partial }
    }

    fn keys(rows: &[Row]) -> Vec<(String, usize)> {
        rows.iter().map(|row| (String::from_utf8(row.key().to_vec()).unwrap(), row.cells().len())).collect()
    }

    #[test]
    fn parts_become_whole_rows() {
        let (mut assembler, mut rows) = (Assembler::new(&Scan::all(), 1 << 20), Vec::new());
        for part in [
            part("a", &["1"], false),
            part("b", &["1", "2"], true),
            part("b", &["3"], true),
            // That of b was the last one after all.
            part("c", &["1"], true),
            part("c", &["2"], false),
            part("d", &["1"], true),
        ] {
            assembler.take(part, &mut rows).unwrap();
        }
        assert_eq!(keys(&rows), [("a".to_owned(), 1), ("b".to_owned(), 3), ("c".to_owned(), 2)]);
        assert!(assembler.has_part());
        assembler.finish(&mut rows).unwrap();
        assert_eq!(rows.len(), 4);
    }

    #[test]
    fn rows_out_of_order_or_range_are_refused() {
        let scan = |reversed: bool| if reversed { Scan::range("y", "c").reversed() } else { Scan::range("c", "y") };
        for (reversed, order) in [(false, ["d", "d"]), (false, ["d", "c"]), (false, ["d", "y"]), (true, ["d", "d"]), (true, ["d", "c"])] {
            let mut assembler = Assembler::new(&scan(reversed), 1 << 20);
            let mut rows = Vec::new();
            assembler.take(part(order[0], &["1"], false), &mut rows).unwrap();
            let refused = assembler.take(part(order[1], &["1"], false), &mut rows);
            assert!(matches!(refused, Err(Error::Protocol(_))), "{reversed} {order:?}");
        }
        let mut assembler = Assembler::new(&scan(false), 1 << 20);
        assert!(assembler.take(part("b", &["1"], false), &mut Vec::new()).is_err());
        assert!(assembler.take(part("c", &["1"], false), &mut Vec::new()).is_ok());
    }

    #[test]
    fn a_row_that_never_ends_is_bounded() {
        let (mut assembler, mut rows) = (Assembler::new(&Scan::all(), 1_000), Vec::new());
        let refused = (0..1_000).find_map(|number| assembler.take(part("a", &[&number.to_string()], true), &mut rows).err());
        assert!(matches!(refused, Some(Error::TooLarge { .. })));
    }
}
