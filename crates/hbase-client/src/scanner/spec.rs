//! What a scan reads.

use crate::filter::Filter;
use crate::get::Selection;
use crate::messages::client;
use crate::messages::rpc::NameBytesPair;
use bytes::Bytes;
use std::ops::Range;

/// A range of rows, and which cells of them. Without more: all rows of the table, the newest version of each cell.
///
/// ```
/// # use stoa_hbase_client::{Filter, Scan};
/// let newest = Scan::range("a", "b").family("f").time_range(0..1_700_000_000_000);
/// let last = Scan::all().reversed().limit(1);
/// let keys = Scan::all().filter(Filter::all_of([Filter::first_key_only(), Filter::key_only()]));
/// ```
#[derive(Debug, Clone)]
pub struct Scan {
    pub(crate) start: Bytes,
    pub(crate) include_start: bool,
    pub(crate) stop: Bytes,
    pub(crate) include_stop: bool,
    pub(crate) reversed: bool,
    pub(crate) limit: Option<u64>,
    pub(crate) batch_bytes: u64,
    pub(crate) batch_rows: u32,
    selection: Selection,
    pread: Option<bool>,
    lazy_families: bool,
    raw: bool,
}

impl Scan {
    /// All rows.
    #[must_use]
    pub fn all() -> Scan {
        Scan::range(Bytes::new(), Bytes::new())
    }

    /// Rows from `start` to before `stop`; an empty key is the end of the table. For a reversed scan from `start` down to before `stop`.
    #[must_use]
    pub fn range(start: impl Into<Bytes>, stop: impl Into<Bytes>) -> Scan {
        Scan {
            start: start.into(),
            include_start: true,
            stop: stop.into(),
            include_stop: false,
            reversed: false,
            limit: None,
            batch_bytes: 2 << 20,
            batch_rows: i32::MAX as u32,
            selection: Selection::default(),
            pread: None,
            lazy_families: false,
            raw: false,
        }
    }

    /// Begins behind the first key.
    #[must_use]
    pub fn exclude_start(mut self) -> Scan {
        self.include_start = false;
        self
    }

    /// Ends with the last key, not before it.
    #[must_use]
    pub fn include_stop(mut self) -> Scan {
        self.include_stop = true;
        self
    }

    /// From great keys to small ones.
    #[must_use]
    pub fn reversed(mut self) -> Scan {
        self.reversed = true;
        self
    }

    /// Ends after so many rows. What fits into one region and one batch then takes one call.
    #[must_use]
    pub fn limit(mut self, rows: u64) -> Scan {
        self.limit = Some(rows);
        self
    }

    /// All columns of this family.
    #[must_use]
    pub fn family(mut self, family: impl Into<Bytes>) -> Scan {
        self.selection.family(family.into());
        self
    }

    #[must_use]
    pub fn column(mut self, family: impl Into<Bytes>, qualifier: impl Into<Bytes>) -> Scan {
        self.selection.column(family.into(), qualifier.into());
        self
    }

    /// Only cells of these times, in milliseconds.
    #[must_use]
    pub fn time_range(mut self, times: Range<u64>) -> Scan {
        self.selection.times(&times);
        self
    }

    /// Only cells of these times in this family, in place of what [`Scan::time_range`] says.
    #[must_use]
    pub fn family_time_range(mut self, family: impl Into<Bytes>, times: Range<u64>) -> Scan {
        self.selection.family_times(family.into(), &times);
        self
    }

    /// Up to so many versions of each column, newest first; 1 if not set.
    #[must_use]
    pub fn versions(mut self, versions: u32) -> Scan {
        self.selection.versions = versions;
        self
    }

    #[must_use]
    pub fn filter(mut self, filter: Filter) -> Scan {
        self.selection.filter = Some(filter);
        self
    }

    /// Blocks that are read do not enter the servers' cache.
    #[must_use]
    pub fn uncached(mut self) -> Scan {
        self.selection.no_cache = true;
        self
    }

    /// From each family of a row at most so many cells, behind so many.
    #[must_use]
    pub fn per_family(mut self, limit: u32, offset: u32) -> Scan {
        self.selection.store_limit = Some(limit);
        self.selection.store_offset = Some(offset);
        self
    }

    /// About how many bytes a server answers at once, 2 MiB if not set. Up to three batches are in memory: one that was given, one that
    /// waits, one that is read.
    #[must_use]
    pub fn batch_bytes(mut self, bytes: u64) -> Scan {
        self.batch_bytes = bytes.max(1);
        self
    }

    /// How many rows a server answers at most at once; as many as fit if not set.
    #[must_use]
    pub fn batch_rows(mut self, rows: u32) -> Scan {
        self.batch_rows = rows.clamp(1, i32::MAX as u32);
        self
    }

    /// Reads blocks one by one (true), or files in a stream (false); the server decides if not set.
    #[must_use]
    pub fn pread(mut self, pread: bool) -> Scan {
        self.pread = Some(pread);
        self
    }

    /// Families that the filter does not look at are read for rows that it lets through only.
    #[must_use]
    pub fn lazy_families(mut self) -> Scan {
        self.lazy_families = true;
        self
    }

    /// Gives the markers of deletions as well, and what they hide, as long as it is stored: [`Cell::kind`] tells them apart. It takes no
    /// single columns.
    ///
    /// [`Cell::kind`]: crate::Cell::kind
    #[must_use]
    pub fn raw(mut self) -> Scan {
        self.raw = true;
        self
    }

    /// The message of a scanner that begins here.
    pub(crate) fn to_message(&self, start: &Bytes, include_start: bool) -> client::Scan {
        let selection = &self.selection;
        client::Scan {
            column: selection.columns.clone(),
            attribute: self.raw.then(raw).into_iter().collect(),
            start_row: Some(start.clone()),
            stop_row: Some(self.stop.clone()),
            filter: selection.filter.as_ref().map(Filter::to_message),
            time_range: selection.time_range.clone(),
            max_versions: Some(selection.versions.max(1)),
            cache_blocks: selection.no_cache.then_some(false),
            max_result_size: Some(self.batch_bytes),
            store_limit: selection.store_limit,
            store_offset: selection.store_offset,
            // Where nothing is said, servers do, which they refuse to do backwards.
            load_column_families_on_demand: Some(self.lazy_families),
            reversed: self.reversed.then_some(true),
            caching: Some(self.batch_rows),
            cf_time_range: selection.family_time_ranges.clone(),
            include_start_row: Some(include_start),
            include_stop_row: Some(self.include_stop),
            read_type: self.pread.map(|pread| if pread { 2 } else { 1 }),
        }
    }
}

/// The attribute by which servers know a raw scan: a boolean as Java's `Bytes` has it.
fn raw() -> NameBytesPair {
    NameBytesPair { name: "_raw_".to_owned(), value: Some(Bytes::from_static(&[0xff])) }
}
