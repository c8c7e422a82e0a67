//! The header of a packed row: written from a shape, read into places.
//!
//! Invariant: [`Header::parse`] checks all that can be checked without looking at values; what it returns is self-delimiting,
//! so two rows that agree in its bytes have the same columns. Where next: [`super::builder`], [`super::reader`].

use super::{MAX_FIXED_WIDTH, ROW_FORMAT_VERSION, ValueKind};
use crate::error::{DecodeError, EncodeError};
use crate::valueside::sequence::unused_bits_set;

/// Flag: the ends of variable-width values are u32.
pub(super) const WIDE_ENDS: u8 = 1;
/// Bytes before the descriptors.
pub(super) const FRONT: usize = 4;

const WIDTH_BITS: u8 = 0x1f;
const GAP_SHIFT: u8 = 5;
const EXPLICIT_ID: u8 = 7;

pub(super) const TRUNCATED: DecodeError = DecodeError::Truncated { what: "packed row" };
pub(super) const MALFORMED: DecodeError = DecodeError::Malformed { what: "packed row" };
pub(super) const TRAILING: DecodeError = DecodeError::Trailing { what: "packed row" };

/// The bytes of a header without `WIDE_ENDS`.
pub(super) fn write(columns: &[(u32, ValueKind)]) -> Result<Vec<u8>, EncodeError> {
    let count = u16::try_from(columns.len()).map_err(|_| EncodeError::TooLarge { what: "the number of columns" })?;
    let [low, high] = count.to_le_bytes();
    let mut header = vec![ROW_FORMAT_VERSION, 0, low, high];
    // The least id that the next column may have; `None` after the greatest of all.
    let mut least = Some(0u32);
    for (id, kind) in columns {
        let gap = least.and_then(|least| id.checked_sub(least)).ok_or(EncodeError::UnsortedColumns { id: *id })?;
        let width = match *kind {
            ValueKind::Variable => 0,
            ValueKind::Fixed(width @ 1..=MAX_FIXED_WIDTH) => width,
            ValueKind::Fixed(width) => {
                return Err(EncodeError::WrongWidth { expected: usize::from(MAX_FIXED_WIDTH), found: usize::from(width) });
            }
        };
        match u8::try_from(gap) {
            Ok(gap) if gap < EXPLICIT_ID => header.push(width | gap << GAP_SHIFT),
            _ => {
                header.push(width | EXPLICIT_ID << GAP_SHIFT);
                header.extend_from_slice(&id.to_le_bytes());
            }
        }
        least = id.checked_add(1);
    }
    Ok(header)
}

/// The front of a row, cut into its tables.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header<'a> {
    pub wide_ends: bool,
    pub count: usize,
    pub descriptors: &'a [u8],
    pub nulls: &'a [u8],
    /// Where the fixed area begins.
    pub fixed_start: usize,
    /// The bytes of fixed-width columns that are not NULL.
    pub fixed_len: usize,
    /// How many variable-width columns are not NULL.
    pub variable_count: usize,
}

impl<'a> Header<'a> {
    pub fn parse(row: &'a [u8]) -> Result<Self, DecodeError> {
        let ([version, flags, low, high], rest) = row.split_first_chunk::<FRONT>().ok_or(TRUNCATED)?;
        if *version != ROW_FORMAT_VERSION {
            return Err(DecodeError::UnknownVersion { what: "packed row", version: *version });
        }
        if flags & !WIDE_ENDS != 0 {
            return Err(MALFORMED);
        }
        let count = usize::from(u16::from_le_bytes([*low, *high]));
        // First only the length of the descriptors, then, with the bitmap behind them known, their contents.
        let mut len = 0usize;
        for _ in 0..count {
            let descriptor = rest.get(len).ok_or(TRUNCATED)?;
            len += if descriptor >> GAP_SHIFT == EXPLICIT_ID { 5 } else { 1 };
        }
        let (descriptors, rest) = rest.split_at_checked(len).ok_or(TRUNCATED)?;
        let nulls = rest.get(..count.div_ceil(8)).ok_or(TRUNCATED)?;
        if unused_bits_set(nulls, count) {
            return Err(MALFORMED);
        }
        let mut header = Self {
            wide_ends: flags & WIDE_ENDS != 0,
            count,
            descriptors,
            nulls,
            fixed_start: FRONT + len + nulls.len(),
            fixed_len: 0,
            variable_count: 0,
        };
        let mut least = Some(0u32);
        for column in header.columns() {
            if least.is_none_or(|least| column.id < least) {
                return Err(MALFORMED);
            }
            least = column.id.checked_add(1);
            if !column.null {
                header.fixed_len += usize::from(column.width);
                header.variable_count += usize::from(column.width == 0);
            }
        }
        Ok(header)
    }

    /// The columns by ascending id. Stops early where an id does not fit; `parse` finds that as an id out of order.
    pub fn columns(&self) -> Columns<'a> {
        Columns { descriptors: self.descriptors, nulls: self.nulls, index: 0, next_id: 0, fixed: 0, variable: 0 }
    }
}

/// A column as a row's header has it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub id: u32,
    /// 0: variable.
    pub width: u8,
    pub null: bool,
    /// Where its value begins in the fixed area, if it is of fixed width and not NULL.
    pub fixed_at: usize,
    /// How many variable-width values stand before it.
    pub ordinal: usize,
}

impl Column {
    pub fn kind(&self) -> ValueKind {
        if self.width == 0 { ValueKind::Variable } else { ValueKind::Fixed(self.width) }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Columns<'a> {
    descriptors: &'a [u8],
    nulls: &'a [u8],
    index: usize,
    /// In 64 bits, so that it cannot overflow within the 65535 columns of a row.
    next_id: u64,
    fixed: usize,
    variable: usize,
}

impl Iterator for Columns<'_> {
    type Item = Column;

    #[inline]
    fn next(&mut self) -> Option<Column> {
        let (descriptor, mut rest) = self.descriptors.split_first()?;
        let gap = descriptor >> GAP_SHIFT;
        let id = if gap == EXPLICIT_ID {
            let (id, after) = rest.split_first_chunk::<4>()?;
            rest = after;
            u32::from_le_bytes(*id)
        } else {
            // An id that does not fit is reported as 0, which is out of order for any but the first column.
            u32::try_from(self.next_id + u64::from(gap)).unwrap_or(0)
        };
        self.descriptors = rest;
        self.next_id = u64::from(id) + 1;
        let width = descriptor & WIDTH_BITS;
        let null = self.nulls.get(self.index / 8).is_some_and(|byte| byte & (1 << (self.index % 8)) != 0);
        let column = Column { id, width, null, fixed_at: self.fixed, ordinal: self.variable };
        self.index += 1;
        if !null {
            self.fixed += usize::from(width);
            self.variable += usize::from(width == 0);
        }
        Some(column)
    }
}
