//! Which cells of a row are read: columns, times, versions, a filter. [`Selection`] is what gets and scans have in common.

use crate::filter::Filter;
use crate::messages::client::{self, Column};
use crate::messages::region::{ColumnFamilyTimeRange, TimeRange};
use bytes::Bytes;
use std::ops::Range;

/// Columns, times and versions of a get or a scan.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selection {
    pub(crate) columns: Vec<Column>,
    pub(crate) filter: Option<Filter>,
    pub(crate) time_range: Option<TimeRange>,
    pub(crate) family_time_ranges: Vec<ColumnFamilyTimeRange>,
    pub(crate) versions: u32,
    pub(crate) no_cache: bool,
    pub(crate) store_limit: Option<u32>,
    pub(crate) store_offset: Option<u32>,
}

fn time_range(times: &Range<u64>) -> TimeRange {
    TimeRange { from: Some(times.start), to: Some(times.end) }
}

impl Selection {
    pub(crate) fn family(&mut self, family: Bytes) {
        match self.columns.iter_mut().find(|column| column.family == family) {
            Some(column) => column.qualifier.clear(),
            None => self.columns.push(Column { family, qualifier: Vec::new() }),
        }
    }

    pub(crate) fn column(&mut self, family: Bytes, qualifier: Bytes) {
        match self.columns.iter_mut().find(|column| column.family == family) {
            // The whole family is asked for already.
            Some(column) if column.qualifier.is_empty() => {}
            Some(column) => {
                // HBase wants them in order, each once.
                if let Err(at) = column.qualifier.binary_search(&qualifier) {
                    column.qualifier.insert(at, qualifier);
                }
            }
            None => self.columns.push(Column { family, qualifier: vec![qualifier] }),
        }
    }

    pub(crate) fn times(&mut self, times: &Range<u64>) {
        self.time_range = Some(time_range(times));
    }

    pub(crate) fn family_times(&mut self, family: Bytes, times: &Range<u64>) {
        self.family_time_ranges.retain(|known| known.column_family != family);
        self.family_time_ranges.push(ColumnFamilyTimeRange { column_family: family, time_range: time_range(times) });
    }
}

/// A read of one row. Without a family or column it reads all; without more it reads the newest version.
#[derive(Debug, Clone)]
pub struct Get {
    pub(crate) row: Bytes,
    selection: Selection,
    exists: bool,
}

impl Get {
    #[must_use]
    pub fn new(row: impl Into<Bytes>) -> Get {
        Get { row: row.into(), selection: Selection::default(), exists: false }
    }

    /// All columns of this family.
    #[must_use]
    pub fn family(mut self, family: impl Into<Bytes>) -> Get {
        self.selection.family(family.into());
        self
    }

    #[must_use]
    pub fn column(mut self, family: impl Into<Bytes>, qualifier: impl Into<Bytes>) -> Get {
        self.selection.column(family.into(), qualifier.into());
        self
    }

    /// Only cells of these times, in milliseconds.
    #[must_use]
    pub fn time_range(mut self, times: Range<u64>) -> Get {
        self.selection.times(&times);
        self
    }

    /// Only cells of these times in this family, in place of what [`Get::time_range`] says.
    #[must_use]
    pub fn family_time_range(mut self, family: impl Into<Bytes>, times: Range<u64>) -> Get {
        self.selection.family_times(family.into(), &times);
        self
    }

    /// Up to so many versions of each column, newest first; 1 if not set.
    #[must_use]
    pub fn versions(mut self, versions: u32) -> Get {
        self.selection.versions = versions;
        self
    }

    #[must_use]
    pub fn filter(mut self, filter: Filter) -> Get {
        self.selection.filter = Some(filter);
        self
    }

    /// Blocks that are read do not enter the servers' cache.
    #[must_use]
    pub fn uncached(mut self) -> Get {
        self.selection.no_cache = true;
        self
    }

    /// From each family at most so many cells, behind so many.
    #[must_use]
    pub fn per_family(mut self, limit: u32, offset: u32) -> Get {
        self.selection.store_limit = Some(limit);
        self.selection.store_offset = Some(offset);
        self
    }

    pub(crate) fn existence(mut self) -> Get {
        self.exists = true;
        self
    }

    pub(crate) fn to_message(&self) -> client::Get {
        let selection = &self.selection;
        client::Get {
            row: self.row.clone(),
            column: selection.columns.clone(),
            attribute: Vec::new(),
            filter: selection.filter.as_ref().map(Filter::to_message),
            time_range: selection.time_range.clone(),
            max_versions: Some(selection.versions.max(1)),
            cache_blocks: selection.no_cache.then_some(false),
            store_limit: selection.store_limit,
            store_offset: selection.store_offset,
            existence_only: self.exists.then_some(true),
            cf_time_range: selection.family_time_ranges.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Get;

    #[test]
    fn columns_are_in_order_and_a_family_takes_all() {
        let get = Get::new("r").column("f", "b").column("f", "a").column("f", "b").column("g", "x").family("g").column("g", "y");
        let message = get.to_message();
        assert_eq!(message.column[0].qualifier, ["a", "b"]);
        assert!(message.column[1].qualifier.is_empty());
    }
}
