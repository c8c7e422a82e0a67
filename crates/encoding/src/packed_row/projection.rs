//! The hot path: the same few columns of many packed rows.
//!
//! Rows of one shape begin with the same bytes. A [`Projection`] keeps, for the headers it has met, where the wanted columns
//! lie, so that a row costs one comparison of its header and one of its null bitmap, and then a read per column. If only the
//! bitmap differs, the places are worked out again; if the header does, another one that was met is tried, and only then
//! is the row's header parsed.
//!
//! Invariant: what is cached depends on nothing but bytes that were compared equal. A row must be as long as its tables say,
//! so one that is cut short is an error whatever is asked of it; an offset out of order is found when it is used.

use super::Cell;
use super::header::{Header, TRUNCATED};
use super::reader::{Ends, split_variable};
use crate::error::DecodeError;

/// How many headers are kept: shapes of one table that rows scanned together were written with, each with narrow ends and
/// with wide ones.
const LAYOUTS: usize = 8;

/// The columns wanted of each row, in the order of their slots.
///
/// ```
/// # use stoa_encoding::packed_row::{Cell, Projection, RowBuilder, RowShape, ValueKind};
/// # use std::sync::Arc;
/// # let shape = Arc::new(RowShape::new(vec![(1, ValueKind::Fixed(4)), (2, ValueKind::Variable)])?);
/// # let mut builder = RowBuilder::new();
/// # let mut row = Vec::new();
/// # builder.start(&shape);
/// # builder.push_fixed(7i32.to_le_bytes());
/// # builder.push_variable(b"seven");
/// # builder.finish(&mut row)?;
/// let mut projection = Projection::new(vec![2, 9, 1]);
/// let mut cells = Vec::new();
/// projection.project(&row, |slot, cell| cells.push((slot, cell)))?;
/// assert_eq!(cells, [(0, Cell::Value(b"seven")), (1, Cell::Absent), (2, Cell::Value(&[7, 0, 0, 0]))]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Projection {
    column_ids: Vec<u32>,
    layouts: Vec<Layout>,
    /// The layout of the row before.
    current: usize,
    /// The layout that the next new header replaces when all are taken.
    victim: usize,
}

/// Where a wanted column lies.
#[derive(Clone, Copy, Debug)]
enum Place {
    Absent,
    Null,
    /// From here to there in the row.
    Fixed {
        start: u32,
        end: u32,
    },
    /// The n-th variable-width value.
    Variable {
        ordinal: u32,
    },
}

/// What is known of the rows that begin with one header.
#[derive(Clone, Debug)]
struct Layout {
    /// Version to descriptors.
    header: Vec<u8>,
    wide_ends: bool,
    /// The widths of all columns, 0 for variable.
    widths: Vec<u8>,
    /// The wanted columns: (position in the row, slot), ascending.
    wanted: Vec<(u32, u32)>,
    /// The bitmap for which the rest holds.
    nulls: Vec<u8>,
    fixed_end: usize,
    variable_count: usize,
    /// By slot.
    places: Vec<Place>,
}

impl Projection {
    /// A projection to these columns; the n-th is slot n.
    #[must_use]
    pub fn new(column_ids: Vec<u32>) -> Self {
        Self { column_ids, layouts: Vec::new(), current: 0, victim: 0 }
    }

    /// The wanted columns, by slot.
    #[must_use]
    pub fn column_ids(&self) -> &[u32] {
        &self.column_ids
    }

    /// Calls `sink(slot, cell)` for every slot in order.
    ///
    /// # Errors
    /// The row is malformed; some slots may have been seen by then.
    #[inline]
    pub fn project<'a>(&mut self, row: &'a [u8], mut sink: impl FnMut(usize, Cell<'a>)) -> Result<(), DecodeError> {
        let view = self.view(row)?;
        for slot in 0..view.places.len() {
            sink(slot, view.get(slot)?);
        }
        Ok(())
    }

    /// The row with its wanted columns located: to read some slots first and the others only if need be.
    ///
    /// # Errors
    /// The row is malformed.
    #[inline]
    pub fn view<'p, 'a>(&'p mut self, row: &'a [u8]) -> Result<RowView<'p, 'a>, DecodeError> {
        if !self.layouts.get(self.current).is_some_and(|layout| layout.begins(row)) {
            self.current = self.find_layout(row)?;
        }
        let layout = self.layouts.get_mut(self.current).ok_or(TRUNCATED)?;
        let nulls_start = layout.header.len();
        let fixed_start = nulls_start + layout.nulls.len();
        let nulls = row.get(nulls_start..fixed_start).ok_or(TRUNCATED)?;
        if nulls != layout.nulls.as_slice() {
            layout.locate(row)?;
        }
        let (_, rest) = row.split_at_checked(layout.fixed_end).ok_or(TRUNCATED)?;
        let (ends, data) = split_variable(rest, layout.variable_count, layout.wide_ends)?;
        Ok(RowView { places: &layout.places, row, ends, data })
    }

    /// The layout for a row that the current one does not fit.
    #[cold]
    fn find_layout(&mut self, row: &[u8]) -> Result<usize, DecodeError> {
        if let Some(known) = self.layouts.iter().position(|layout| layout.begins(row)) {
            return Ok(known);
        }
        let layout = Layout::new(row, &self.column_ids)?;
        if self.layouts.len() < LAYOUTS {
            self.layouts.push(layout);
            return Ok(self.layouts.len() - 1);
        }
        let replaced = self.victim;
        self.victim = (self.victim + 1) % LAYOUTS;
        if let Some(slot) = self.layouts.get_mut(replaced) {
            *slot = layout;
        }
        Ok(replaced)
    }
}

impl Layout {
    fn new(row: &[u8], column_ids: &[u32]) -> Result<Self, DecodeError> {
        let parsed = Header::parse(row)?;
        let header_len = parsed.fixed_start - parsed.nulls.len();
        let mut wanted = Vec::with_capacity(column_ids.len());
        let mut widths = Vec::with_capacity(parsed.count);
        let mut by_id: Vec<(u32, u32)> = column_ids.iter().zip(0u32..).map(|(id, slot)| (*id, slot)).collect();
        by_id.sort_unstable();
        let mut by_id = by_id.into_iter().peekable();
        for (column, index) in parsed.columns().zip(0u32..) {
            while by_id.next_if(|(id, _)| *id < column.id).is_some() {}
            while let Some((_, slot)) = by_id.next_if(|(id, _)| *id == column.id) {
                wanted.push((index, slot));
            }
            widths.push(column.width);
        }
        let mut layout = Self {
            header: row.get(..header_len).ok_or(TRUNCATED)?.to_vec(),
            wide_ends: parsed.wide_ends,
            widths,
            wanted,
            nulls: parsed.nulls.to_vec(),
            fixed_end: 0,
            variable_count: 0,
            places: vec![Place::Absent; column_ids.len()],
        };
        layout.locate(row)?;
        Ok(layout)
    }

    #[inline]
    fn begins(&self, row: &[u8]) -> bool {
        row.get(..self.header.len()) == Some(self.header.as_slice())
    }

    /// Works out the places for the bitmap of a row that has this header.
    fn locate(&mut self, row: &[u8]) -> Result<(), DecodeError> {
        let nulls_start = self.header.len();
        let nulls = row.get(nulls_start..nulls_start + self.nulls.len()).ok_or(TRUNCATED)?;
        if crate::valueside::sequence::unused_bits_set(nulls, self.widths.len()) {
            return Err(super::header::MALFORMED);
        }
        self.nulls.copy_from_slice(nulls);
        // Both fit: 65535 columns of at most 31 bytes.
        let mut at = (nulls_start + self.nulls.len()) as u32;
        let mut ordinal = 0u32;
        let mut index = 0u32;
        let mut wanted = self.wanted.iter().peekable();
        for (widths, nulls) in self.widths.chunks(8).zip(&self.nulls) {
            for (bit, width) in widths.iter().enumerate() {
                let present = u32::from(nulls & (1 << bit) == 0);
                let end = at + u32::from(*width) * present;
                while let Some((_, slot)) = wanted.next_if(|(column, _)| *column == index) {
                    let place = match (present, *width) {
                        (0, _) => Place::Null,
                        (_, 0) => Place::Variable { ordinal },
                        _ => Place::Fixed { start: at, end },
                    };
                    if let Some(entry) = self.places.get_mut(*slot as usize) {
                        *entry = place;
                    }
                }
                at = end;
                ordinal += u32::from(*width == 0) & present;
                index += 1;
            }
        }
        self.fixed_end = at as usize;
        self.variable_count = ordinal as usize;
        Ok(())
    }
}

/// A row with its wanted columns located.
#[derive(Clone, Copy, Debug)]
pub struct RowView<'p, 'a> {
    places: &'p [Place],
    row: &'a [u8],
    ends: Ends<'a>,
    data: &'a [u8],
}

impl<'a> RowView<'_, 'a> {
    /// What the row says of the column of a slot; absent if there is no such slot.
    ///
    /// # Errors
    /// The column's offsets are out of order.
    #[inline]
    pub fn get(&self, slot: usize) -> Result<Cell<'a>, DecodeError> {
        match self.places.get(slot) {
            None | Some(Place::Absent) => Ok(Cell::Absent),
            Some(Place::Null) => Ok(Cell::Null),
            Some(Place::Fixed { start, end }) => self.row.get(*start as usize..*end as usize).map(Cell::Value).ok_or(TRUNCATED),
            Some(Place::Variable { ordinal }) => self.ends.body(self.data, *ordinal as usize).map(Cell::Value),
        }
    }
}
