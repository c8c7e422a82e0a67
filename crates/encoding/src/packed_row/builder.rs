//! Writing packed rows.
//!
//! Invariant: a builder keeps its buffers from row to row and allocates only to grow them; misuse (a wrong width, a missing
//! column) is remembered and reported once, by [`RowBuilder::finish`]. Where next: [`super::reader`].

use super::header::WIDE_ENDS;
use super::{RowShape, ValueKind};
use crate::error::EncodeError;
use std::sync::Arc;

/// Collects the columns of a row in the order of their ids.
///
/// ```
/// use stoa_encoding::packed_row::{RowBuilder, RowReader, RowShape, ValueKind, Cell};
/// use std::sync::Arc;
///
/// let shape = Arc::new(RowShape::new(vec![(1, ValueKind::Fixed(4)), (2, ValueKind::Variable)])?);
/// let mut builder = RowBuilder::new();
/// let mut row = Vec::new();
/// builder.start(&shape);
/// builder.push_fixed(7i32.to_le_bytes());
/// builder.push_variable(b"seven");
/// builder.finish(&mut row)?;
/// assert_eq!(RowReader::new(&row)?.get(2), Cell::Value(b"seven"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct RowBuilder {
    shape: Option<Arc<RowShape>>,
    next: usize,
    nulls: Vec<u8>,
    fixed: Vec<u8>,
    ends: Vec<u32>,
    data: Vec<u8>,
    error: Option<EncodeError>,
}

impl RowBuilder {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins a row; the buffers stay.
    #[inline]
    pub fn start(&mut self, shape: &Arc<RowShape>) {
        if !self.shape.as_ref().is_some_and(|known| Arc::ptr_eq(known, shape)) {
            self.shape = Some(Arc::clone(shape));
        }
        self.next = 0;
        self.nulls.clear();
        self.nulls.resize(shape.columns.len().div_ceil(8), 0);
        self.fixed.clear();
        self.ends.clear();
        self.data.clear();
        self.error = None;
    }

    /// Adds the value of the next column, which is of this fixed width.
    #[inline]
    pub fn push_fixed<const N: usize>(&mut self, body: [u8; N]) {
        match self.next_kind() {
            Some(ValueKind::Fixed(width)) if usize::from(width) == N => self.fixed.extend_from_slice(&body),
            kind => self.refuse(kind, N),
        }
        self.next += 1;
    }

    /// Adds the value of the next column, which is of variable width.
    #[inline]
    pub fn push_variable(&mut self, body: &[u8]) {
        match self.next_kind() {
            Some(ValueKind::Variable) => self.append_variable(body),
            kind => self.refuse(kind, body.len()),
        }
        self.next += 1;
    }

    /// Makes the next column NULL.
    #[inline]
    pub fn push_null(&mut self) {
        match self.nulls.get_mut(self.next / 8) {
            Some(byte) => *byte |= 1 << (self.next % 8),
            None => self.refuse(None, 0),
        }
        self.next += 1;
    }

    /// Adds the value of the next column, whatever its kind; `None` is NULL.
    #[inline]
    pub fn push(&mut self, body: Option<&[u8]>) {
        let Some(body) = body else { return self.push_null() };
        match self.next_kind() {
            Some(ValueKind::Variable) => self.append_variable(body),
            Some(ValueKind::Fixed(width)) if usize::from(width) == body.len() => self.fixed.extend_from_slice(body),
            kind => self.refuse(kind, body.len()),
        }
        self.next += 1;
    }

    /// The bytes that [`RowBuilder::finish`] would append.
    #[must_use]
    pub fn encoded_len(&self) -> usize {
        let header = self.shape.as_ref().map_or(0, |shape| shape.header.len());
        header + self.nulls.len() + self.fixed.len() + self.ends.len() * if self.needs_wide_ends() { 4 } else { 2 } + self.data.len()
    }

    /// Appends the row.
    ///
    /// # Errors
    /// Not every column got a value of its kind, or the values exceed 4 GiB.
    pub fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let Some(shape) = &self.shape else { return Err(EncodeError::WrongKind { what: "a row that was not started" }) };
        if self.next != shape.columns.len() {
            return Err(EncodeError::WrongCount { expected: shape.columns.len(), found: self.next });
        }
        let wide = self.needs_wide_ends();
        out.reserve(self.encoded_len());
        let from = out.len();
        out.extend_from_slice(&shape.header);
        if wide && let Some(flags) = out.get_mut(from + 1) {
            *flags |= WIDE_ENDS;
        }
        out.extend_from_slice(&self.nulls);
        out.extend_from_slice(&self.fixed);
        if wide {
            self.ends.iter().for_each(|end| out.extend_from_slice(&end.to_le_bytes()));
        } else {
            // All ends are at most the length of the data, which fits.
            self.ends.iter().for_each(|end| out.extend_from_slice(&(*end as u16).to_le_bytes()));
        }
        out.extend_from_slice(&self.data);
        Ok(())
    }

    #[inline]
    fn needs_wide_ends(&self) -> bool {
        self.data.len() > usize::from(u16::MAX)
    }

    #[inline]
    fn next_kind(&self) -> Option<ValueKind> {
        Some(self.shape.as_ref()?.columns.get(self.next)?.1)
    }

    #[inline]
    fn append_variable(&mut self, body: &[u8]) {
        self.data.extend_from_slice(body);
        match u32::try_from(self.data.len()) {
            Ok(end) => self.ends.push(end),
            Err(_) => self.error = Some(EncodeError::TooLarge { what: "the row" }),
        }
    }

    #[cold]
    fn refuse(&mut self, kind: Option<ValueKind>, found: usize) {
        let error = match kind {
            Some(ValueKind::Fixed(width)) => EncodeError::WrongWidth { expected: usize::from(width), found },
            Some(ValueKind::Variable) => EncodeError::WrongKind { what: "a variable-width column" },
            None => EncodeError::WrongCount { expected: self.shape.as_ref().map_or(0, |s| s.columns.len()), found: self.next + 1 },
        };
        self.error.get_or_insert(error);
    }
}
