//! The ranges that a scan reads, one after the other; those of a skip scan are found on the way.

use super::scan_output::ScanTable;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;
use stoa_pg::{PgError, PgResult};
use stoa_table::access::{AccessPath, Skip};
use stoa_table::range::prefix_successor;
use stoa_table::row::ColumnSource;
use stoa_table::txn::RangeRead;
use stoa_table::{CellRef, FamilyId, KeyRange};

/// See the module.
pub(super) struct Ranges {
    path: Arc<AccessPath>,
    /// In the order in which they are read. Of a skip scan: where values are looked for.
    pending: VecDeque<KeyRange>,
    /// Behind the value that was found last.
    found: VecDeque<KeyRange>,
    reverse: bool,
    /// Seeks of the store since it was asked last.
    seeks: usize,
}

impl Ranges {
    /// Ranges of a path, ascending.
    pub(super) fn new(path: &Arc<AccessPath>, ranges: Vec<KeyRange>, reverse: bool) -> Self {
        let mut pending: VecDeque<KeyRange> = ranges.into();
        if reverse {
            pending.make_contiguous().reverse();
        }
        Self { path: Arc::clone(path), pending, found: VecDeque::new(), reverse, seeks: 0 }
    }

    /// Leaves out what is not in `wanted` (ascending), before anything was read.
    pub(super) fn keep(&mut self, wanted: &[KeyRange]) {
        let mut out = Vec::new();
        for range in &self.pending {
            let from = wanted.partition_point(|w| w.end.as_ref().is_some_and(|end| *end <= range.start));
            let before = |w: &&KeyRange| range.end.as_ref().is_none_or(|end| w.start < *end);
            let mut part: Vec<KeyRange> = wanted.iter().skip(from).take_while(before).map(|w| range.intersect(w)).collect();
            if self.reverse {
                part.reverse();
            }
            out.extend(part.into_iter().filter(|r| !r.is_empty()));
        }
        self.pending = out.into();
    }

    /// Ranges that are left, or where values are looked for.
    pub(super) fn len(&self) -> usize {
        self.pending.len()
    }

    pub(super) fn clear(&mut self) {
        self.pending.clear();
        self.found.clear();
    }

    /// How often the store was to find a place, since this was asked last: for a range, or for the next value of a skip scan.
    pub(super) fn take_seeks(&mut self) -> usize {
        std::mem::take(&mut self.seeks)
    }

    pub(super) fn contain(&self, key: &[u8]) -> bool {
        self.pending.iter().any(|range| range.contains(key))
    }

    /// The next range; `None` at the end.
    pub(super) async fn next(&mut self, table: &ScanTable, source: &ColumnSource) -> PgResult<Option<KeyRange>> {
        let path = Arc::clone(&self.path);
        let Some(skip) = &path.skip else {
            self.seeks += usize::from(!self.pending.is_empty());
            return Ok(self.pending.pop_front());
        };
        loop {
            if let Some(range) = self.found.pop_front() {
                self.seeks += 1;
                return Ok(Some(range));
            }
            let Some(place) = self.pending.pop_front() else { return Ok(None) };
            if place.is_empty() {
                continue;
            }
            self.seeks += 1;
            let Some(key) = self.first(table, source, &place).await? else { continue };
            self.found_at(skip, place, &key)?;
        }
    }

    fn found_at(&mut self, skip: &Skip, place: KeyRange, key: &[u8]) -> PgResult<()> {
        let prefix = skip.prefix(&self.path.key, key).ok_or_else(|| PgError::internal("a key that cannot be read"))?;
        let inside = skip.behind(prefix).map(|range| range.intersect(&place)).filter(|r| !r.is_empty());
        if self.reverse {
            self.found.extend(inside.rev());
            self.pending.push_front(KeyRange::new(place.start, Some(prefix.to_vec())));
        } else {
            self.found.extend(inside);
            if let Some(next) = prefix_successor(prefix) {
                self.pending.push_front(KeyRange::new(next, place.end));
            }
        }
        Ok(())
    }

    /// The key that is read first in a range.
    async fn first(&self, table: &ScanTable, source: &ColumnSource, range: &KeyRange) -> PgResult<Option<Vec<u8>>> {
        let family = match source {
            ColumnSource::Table(codec) => codec.families.first().map_or(FamilyId(0), |f| f.id),
            ColumnSource::Index(_) => stoa_table::row::INDEX_FAMILY,
        };
        let read = RangeRead {
            table: source.storage(),
            families: vec![family],
            range: range.clone(),
            reverse: self.reverse,
            limit: Some(1),
            fill_cache: true,
        };
        let mut found = None;
        let mut scan = table.view.scan(read).await?;
        // Rows may be left out that the transaction has deleted.
        loop {
            let mut sink = |key: &[u8], _: &[CellRef<'_>]| {
                found = Some(key.to_vec());
                ControlFlow::Break(())
            };
            let more = scan.next_block(1, &mut sink).await?;
            if found.is_some() || !more {
                return Ok(found);
            }
        }
    }
}
