//! What gets and scans answer: the cells of a row.
//!
//! Invariant: a [`Row`] has at least one cell, and all of one key.

use crate::error::Error;
use crate::messages::client;
use crate::wire::cell::{Cell, Cells};
use bytes::Bytes;

/// The cells of a row that were asked for, in HBase's order: by family, qualifier, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    cells: Vec<Cell>,
}

impl Row {
    /// `None` for no cells.
    pub(crate) fn new(cells: Vec<Cell>) -> Result<Option<Row>, Error> {
        let Some(first) = cells.first() else { return Ok(None) };
        if cells.iter().any(|cell| cell.row() != first.row()) {
            return Err(Error::Protocol("a row has cells of another".to_owned()));
        }
        Ok(Some(Row { cells }))
    }

    #[must_use]
    pub fn key(&self) -> &[u8] {
        self.cells.first().map(Cell::row).unwrap_or_default()
    }

    /// The key, without a copy.
    #[must_use]
    pub fn key_bytes(&self) -> Bytes {
        self.cells.first().map(Cell::row_bytes).unwrap_or_default()
    }

    #[must_use]
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    #[must_use]
    pub fn into_cells(self) -> Vec<Cell> {
        self.cells
    }

    /// The newest cell of a column.
    #[must_use]
    pub fn cell(&self, family: &[u8], qualifier: &[u8]) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.family() == family && cell.qualifier() == qualifier)
    }

    /// The newest value of a column.
    #[must_use]
    pub fn value(&self, family: &[u8], qualifier: &[u8]) -> Option<&[u8]> {
        self.cell(family, qualifier).map(Cell::value)
    }

    /// The same row in memory of its own. Cells are slices of the answer that they came in, and keep all of it: a program that keeps
    /// few rows of many detaches them.
    #[must_use]
    pub fn detached(&self) -> Row {
        Row { cells: self.cells.iter().map(Cell::detached).collect() }
    }

    /// Bytes of the cells as they travel.
    #[must_use]
    pub fn size(&self) -> usize {
        self.cells.iter().map(Cell::size).sum()
    }
}

/// The cells of a result: in the message, or the next of the block.
pub(crate) fn read_result(result: &client::Result, block: &mut Cells) -> Result<Vec<Cell>, Error> {
    if result.cell.is_empty() {
        let count = usize::try_from(result.associated_cell_count.unwrap_or(0));
        let count = count.map_err(|_| Error::Protocol("a result has a negative number of cells".to_owned()))?;
        return block.take_many(count);
    }
    result.cell.iter().map(Cell::from_message).collect()
}

/// A row of an answer to a scan, or a part of one.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) cells: Vec<Cell>,
    pub(crate) partial: bool,
}

/// What an answer to a scan holds.
pub(crate) fn read_parts(response: &client::ScanResponse, block: Bytes) -> Result<Vec<Part>, Error> {
    let mut block = Cells::new(block);
    let mut parts = Vec::with_capacity(response.cells_per_result.len().max(response.results.len()));
    for (number, count) in response.cells_per_result.iter().enumerate() {
        let cells = block.take_many(*count as usize)?;
        parts.push(Part { cells, partial: response.partial_flag_per_result.get(number).copied().unwrap_or(false) });
    }
    if response.cells_per_result.is_empty() {
        for result in &response.results {
            parts.push(Part { cells: read_result(result, &mut block)?, partial: result.partial.unwrap_or(false) });
        }
    }
    if block.is_empty() { Ok(parts) } else { Err(Error::Protocol("more cells came than were announced".to_owned())) }
}
