//! The transaction's own writes as one statement sees them: write sets, the later over the earlier, merged row by row.

use super::row_change::RowChange;
use super::spill_file::{SpillCursor, SpillFile};
use super::write_buffer::Place;
use super::write_set::WriteSet;
use crate::row::KeyList;
use crate::services::serializable::Writes;
use std::sync::Arc;
use stoa_pg::{PgError, PgResult};
use stoa_store::{KeyRange, MutationRef, Mutations, TableId};

/// Layers from the earliest. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Overlay {
    layers: Vec<Arc<WriteSet>>,
}

impl crate::feed::Written for Overlay {
    fn tables(&self) -> Vec<TableId> {
        Overlay::tables(self)
    }

    fn keys_of(&self, table: TableId) -> PgResult<KeyList> {
        Overlay::keys_of(self, table)
    }
}

impl Overlay {
    /// Layers from the earliest; empty ones are dropped.
    #[must_use]
    pub fn new(layers: impl IntoIterator<Item = Arc<WriteSet>>) -> Self {
        Self { layers: layers.into_iter().filter(|l| !l.is_empty()).collect() }
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    /// The layers that are not those of another, which keeps its own as they are.
    #[must_use]
    pub fn without(&self, other: &Overlay) -> Self {
        let known = |layer: &Arc<WriteSet>| other.layers.iter().any(|o| Arc::ptr_eq(o, layer));
        Self { layers: self.layers.iter().filter(|l| !known(l)).cloned().collect() }
    }

    /// Bytes held, in memory and on disk.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.layers.iter().map(|l| l.bytes()).sum()
    }

    /// Rows changed; one that is in several layers counts as often.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.layers.iter().map(|l| l.rows()).sum()
    }

    /// Why changes were lost, if any were.
    #[must_use]
    pub fn failure(&self) -> Option<&PgError> {
        self.layers.iter().find_map(|l| l.failure())
    }

    /// Whether some of it is on disk.
    #[must_use]
    pub fn has_spill_files(&self) -> bool {
        self.layers.iter().any(|l| l.has_spill_files())
    }

    /// Whether reads of a table must look here.
    #[must_use]
    pub fn touches(&self, table: TableId) -> bool {
        self.layers.iter().any(|l| l.touches(table))
    }

    /// Whether rows from one key to another, both included, may have been changed.
    #[must_use]
    pub fn may_touch(&self, table: TableId, first: &[u8], last: &[u8]) -> bool {
        let in_buffer = |layer: &WriteSet| {
            let row = layer.buffer.seek(table, first).and_then(|at| layer.buffer.at(table, at));
            row.is_some_and(|row| row.key() <= last)
        };
        self.layers.iter().any(|layer| layer.files.iter().any(|file| file.may_touch(table, first, last)) || in_buffer(layer))
    }

    /// The tables with changes, in order.
    #[must_use]
    pub fn tables(&self) -> Vec<TableId> {
        let mut out: Vec<TableId> = self.layers.iter().flat_map(|l| l.tables()).collect();
        out.sort_unstable();
        out.dedup();
        out
    }

    /// The changed rows of a table, in order.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn keys_of(&self, table: TableId) -> PgResult<KeyList> {
        let mut out = KeyList::new();
        let mut cursor = self.cursor(table, KeyRange::all(), false)?;
        while cursor.take()? {
            out.push(cursor.key());
        }
        Ok(out)
    }

    /// The least range that covers the changed rows of a table.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn span_of(&self, table: TableId) -> PgResult<Option<(Vec<u8>, Vec<u8>)>> {
        let first = self.cursor(table, KeyRange::all(), false)?.peek().map(<[u8]>::to_vec);
        let last = self.cursor(table, KeyRange::all(), true)?.peek().map(<[u8]>::to_vec);
        Ok(first.zip(last))
    }

    /// What was written, as far as other SERIALIZABLE transactions must know.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn writes(&self) -> PgResult<Writes> {
        /// Rows from which on only their span is recorded.
        const MAX_ROWS: usize = 50_000;
        let mut out = Writes::default();
        let exact = self.rows() <= MAX_ROWS;
        for table in self.tables() {
            if exact {
                out.add_keys(table, self.keys_of(table)?.iter().map(Into::into).collect());
            } else if let Some((first, last)) = self.span_of(table)? {
                out.add_span(table, KeyRange { start: first, end: KeyRange::point(&last).end });
            }
        }
        Ok(out)
    }

    /// The change of a row; none if it has none.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn get<'c>(&self, table: TableId, key: &[u8], out: &'c mut RowChange) -> PgResult<Option<&'c RowChange>> {
        out.clear();
        let mut found = false;
        for layer in &self.layers {
            found |= layer.get_into(table, key, out)?;
        }
        Ok(found.then_some(out))
    }

    /// Whether a row was changed.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn contains(&self, table: TableId, key: &[u8]) -> PgResult<bool> {
        for layer in &self.layers {
            if layer.contains(table, key)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Walks over the changed rows of a range.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn cursor(&self, table: TableId, range: KeyRange, reverse: bool) -> PgResult<OverlayCursor> {
        let mut sources = Vec::new();
        for layer in self.layers.iter().filter(|l| l.touches(table)) {
            for file in layer.files.iter().filter(|r| r.touches(table)) {
                sources.push(Source::Spilled(SpillCursor::open(file, table, &range.start, range.end.as_deref(), reverse)?));
            }
            let at = match (reverse, &range.end) {
                (false, _) => layer.buffer.seek(table, &range.start),
                (true, Some(end)) => layer.buffer.seek_before(table, end),
                (true, None) => layer.buffer.last(table),
            };
            sources.push(Source::Buffer { layer: Arc::clone(layer), at });
        }
        Ok(OverlayCursor::new(table, range, reverse, sources))
    }

    /// All of it, as the store takes it: rows in order.
    ///
    /// # Errors
    /// A file cannot be read, or what `f` says.
    pub fn each_mutation(&self, f: &mut dyn FnMut(MutationRef<'_>) -> PgResult<()>) -> PgResult<()> {
        for table in self.tables() {
            let mut cursor = self.cursor(table, KeyRange::all(), false)?;
            while cursor.take()? {
                cursor.change.mutations(table, &cursor.key).try_for_each(&mut *f)?;
            }
        }
        Ok(())
    }

    /// As [`Overlay::each_mutation`], in memory.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn mutations(&self) -> PgResult<Mutations> {
        let mut out = Mutations::new();
        self.each_mutation(&mut |mutation| {
            out.push(mutation);
            Ok(())
        })?;
        Ok(out)
    }
}

#[derive(Debug)]
enum Source {
    Buffer { layer: Arc<WriteSet>, at: Option<Place> },
    Spilled(SpillCursor),
}

impl Source {
    fn key(&self, table: TableId) -> Option<&[u8]> {
        match self {
            Source::Buffer { layer, at } => layer.buffer.at(table, (*at)?).map(|row| row.key()),
            Source::Spilled(cursor) => cursor.key(),
        }
    }

    fn add_to(&self, table: TableId, out: &mut RowChange) {
        match self {
            Source::Buffer { layer, at } => {
                if let Some(row) = at.and_then(|at| layer.buffer.at(table, at)) {
                    out.add(&row);
                }
            }
            Source::Spilled(cursor) => cursor.add_to(out),
        }
    }

    fn step(&mut self, table: TableId, reverse: bool) -> PgResult<()> {
        match self {
            Source::Buffer { layer, at } => {
                *at = at.and_then(|at| if reverse { layer.buffer.before(table, at) } else { layer.buffer.after(table, at) });
                Ok(())
            }
            Source::Spilled(cursor) => cursor.step(reverse),
        }
    }
}

/// Walks over the changed rows of one range of one table. [`OverlayCursor::peek`] tells the key of the next row,
/// [`OverlayCursor::take`] reads it.
#[derive(Debug)]
pub struct OverlayCursor {
    table: TableId,
    range: KeyRange,
    reverse: bool,
    /// The oldest first.
    sources: Vec<Source>,
    /// The source that the next row is in, if there is one, and the nearest of the others.
    next: Option<usize>,
    second: Option<usize>,
    key: Vec<u8>,
    change: RowChange,
}

impl OverlayCursor {
    fn new(table: TableId, range: KeyRange, reverse: bool, sources: Vec<Source>) -> Self {
        let mut out = Self { table, range, reverse, sources, next: None, second: None, key: Vec::new(), change: RowChange::default() };
        out.choose();
        out
    }

    /// Over all rows of a table in some files, the oldest first.
    pub(super) fn of_files(files: &[Arc<SpillFile>], table: TableId) -> PgResult<Self> {
        let sources =
            files.iter().map(|file| SpillCursor::open(file, table, &[], None, false).map(Source::Spilled)).collect::<PgResult<Vec<_>>>()?;
        Ok(Self::new(table, KeyRange::all(), false, sources))
    }

    fn is_before(&self, a: &[u8], b: &[u8]) -> bool {
        if self.reverse { a > b } else { a < b }
    }

    /// The key on which a source stands, if it is in the range.
    fn key_of(&self, at: usize) -> Option<&[u8]> {
        self.sources.get(at)?.key(self.table).filter(|key| self.range.contains(key))
    }

    fn choose(&mut self) {
        let mut best: Option<(usize, &[u8])> = None;
        let mut second = None;
        for at in 0..self.sources.len() {
            let Some(key) = self.key_of(at) else { continue };
            let nearer = |than: Option<(usize, &[u8])>| than.is_none_or(|(_, other)| self.is_before(key, other));
            if nearer(best) {
                (best, second) = (Some((at, key)), best);
            } else if nearer(second) {
                second = Some((at, key));
            }
        }
        (self.next, self.second) = (best.map(|(at, _)| at), second.map(|(at, _)| at));
    }

    /// As [`OverlayCursor::choose`], after `next` alone has moved: mostly it is still ahead of the others.
    fn choose_again(&mut self) {
        let next = self.next.and_then(|at| self.key_of(at));
        let second = self.second.and_then(|at| self.key_of(at));
        if next.is_none_or(|key| second.is_some_and(|other| !self.is_before(key, other))) {
            self.choose();
        }
    }

    /// The key of the next row.
    #[must_use]
    pub fn peek(&self) -> Option<&[u8]> {
        self.next.and_then(|at| self.sources.get(at)).and_then(|source| source.key(self.table))
    }

    /// Reads the next row, for [`OverlayCursor::key`] and [`OverlayCursor::change`]; false at the end.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn take(&mut self) -> PgResult<bool> {
        let Some(next) = self.next else { return Ok(false) };
        let Some(key) = self.sources.get(next).and_then(|source| source.key(self.table)) else { return Ok(false) };
        self.key.clear();
        self.key.extend_from_slice(key);
        self.change.clear();
        if self.second.and_then(|at| self.key_of(at)) != Some(self.key.as_slice()) {
            if let Some(source) = self.sources.get_mut(next) {
                source.add_to(self.table, &mut self.change);
                source.step(self.table, self.reverse)?;
            }
            self.choose_again();
            return Ok(true);
        }
        for source in &mut self.sources {
            if source.key(self.table) == Some(self.key.as_slice()) {
                source.add_to(self.table, &mut self.change);
                source.step(self.table, self.reverse)?;
            }
        }
        self.choose();
        Ok(true)
    }

    /// The key of the row that was read last.
    #[must_use]
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    #[must_use]
    pub fn change(&self) -> &RowChange {
        &self.change
    }
}
