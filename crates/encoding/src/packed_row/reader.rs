//! Reading one packed row: any column, by id, without preparation.
//!
//! Invariant: [`RowReader::new`] has checked the whole row, so that nothing after it can fail. For many rows and a known set
//! of columns use [`super::projection`].

use super::header::{Column, Header, MALFORMED, TRAILING, TRUNCATED};
use super::{Cell, ValueKind};
use crate::error::DecodeError;

/// A row, where it lies.
#[derive(Clone, Copy, Debug)]
pub struct RowReader<'a> {
    header: Header<'a>,
    fixed: &'a [u8],
    ends: Ends<'a>,
    data: &'a [u8],
}

/// The table of ends of variable-width values.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ends<'a> {
    Narrow(&'a [[u8; 2]]),
    Wide(&'a [[u8; 4]]),
}

impl<'a> Ends<'a> {
    #[inline]
    pub fn new(bytes: &'a [u8], wide: bool) -> Self {
        if wide { Ends::Wide(bytes.as_chunks().0) } else { Ends::Narrow(bytes.as_chunks().0) }
    }

    /// Where value n ends; `None` if there is none.
    #[inline]
    pub fn end(&self, n: usize) -> Option<usize> {
        match self {
            Ends::Narrow(ends) => ends.get(n).map(|end| usize::from(u16::from_le_bytes(*end))),
            Ends::Wide(ends) => ends.get(n).map(|end| u32::from_le_bytes(*end) as usize),
        }
    }

    /// The body of value n.
    #[inline]
    pub fn body(&self, data: &'a [u8], n: usize) -> Result<&'a [u8], DecodeError> {
        let start = if n == 0 { Some(0) } else { self.end(n - 1) };
        match (start, self.end(n)) {
            (Some(start), Some(end)) => data.get(start..end).ok_or(MALFORMED),
            _ => Err(MALFORMED),
        }
    }
}

/// Cuts what follows the fixed area into ends and data, and checks that the data ends with the row.
#[inline]
pub(super) fn split_variable(rest: &[u8], variable_count: usize, wide: bool) -> Result<(Ends<'_>, &[u8]), DecodeError> {
    let (ends, data) = rest.split_at_checked(variable_count * if wide { 4 } else { 2 }).ok_or(TRUNCATED)?;
    let ends = Ends::new(ends, wide);
    let data_len = variable_count.checked_sub(1).and_then(|last| ends.end(last)).unwrap_or(0);
    if data.len() == data_len {
        Ok((ends, data))
    } else if data.len() < data_len {
        Err(TRUNCATED)
    } else {
        Err(TRAILING)
    }
}

impl<'a> RowReader<'a> {
    /// Checks a row.
    ///
    /// # Errors
    /// It is of another version, or its tables contradict each other or its length.
    pub fn new(row: &'a [u8]) -> Result<Self, DecodeError> {
        let header = Header::parse(row)?;
        let rest = row.get(header.fixed_start..).ok_or(TRUNCATED)?;
        let (fixed, rest) = rest.split_at_checked(header.fixed_len).ok_or(TRUNCATED)?;
        let (ends, data) = split_variable(rest, header.variable_count, header.wide_ends)?;
        for n in 0..header.variable_count {
            ends.body(data, n)?;
        }
        Ok(Self { header, fixed, ends, data })
    }

    /// How many columns the row was written with.
    #[must_use]
    pub fn column_count(&self) -> usize {
        self.header.count
    }

    /// What the row says of a column. Costs a walk over the descriptors before it.
    #[must_use]
    pub fn get(&self, column_id: u32) -> Cell<'a> {
        match self.header.columns().find(|column| column.id >= column_id) {
            Some(column) if column.id == column_id => self.cell(&column),
            _ => Cell::Absent,
        }
    }

    /// Every column: its id, its kind as written, and NULL or its body.
    pub fn iter(&self) -> impl Iterator<Item = (u32, ValueKind, Cell<'a>)> + use<'a> {
        let reader = *self;
        self.header.columns().map(move |column| (column.id, column.kind(), reader.cell(&column)))
    }

    fn cell(&self, column: &Column) -> Cell<'a> {
        if column.null {
            return Cell::Null;
        }
        let body = if column.width == 0 {
            self.ends.body(self.data, column.ordinal).ok()
        } else {
            self.fixed.get(column.fixed_at..column.fixed_at + usize::from(column.width))
        };
        // `new` has read every body once.
        body.map_or(Cell::Null, Cell::Value)
    }
}
