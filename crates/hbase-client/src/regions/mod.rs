//! Regions: which there are, on which server each is, and how that is found out and remembered.
//!
//! [`cache`] remembers, [`meta`] asks hbase:meta, [`locate`] does what callers want: the region of a key, from the cache if it is there.

mod cache;
mod locate;
pub(crate) mod meta;

pub(crate) use cache::TableRegions;
pub(crate) use locate::{Locator, Side};

use crate::messages::region::{RegionInfo, RegionSpecifier};
use crate::names::{ServerName, TableName};
use bytes::Bytes;
use std::fmt;

/// A part of a table, from a key to before another, and the server that serves it.
#[derive(Clone, PartialEq, Eq)]
pub struct Region {
    pub(crate) name: Bytes,
    pub(crate) table: TableName,
    pub(crate) id: u64,
    pub(crate) start: Bytes,
    pub(crate) end: Bytes,
    pub(crate) server: ServerName,
    /// Grows with each opening.
    pub(crate) sequence: u64,
    /// Whether a server said where it went, not hbase:meta.
    pub(crate) hinted: bool,
}

impl Region {
    /// `table,start key,id.hash.`
    #[must_use]
    pub fn name(&self) -> &[u8] {
        &self.name
    }

    /// The hash in its name.
    #[must_use]
    pub fn encoded_name(&self) -> &[u8] {
        encoded_name(&self.name)
    }

    #[must_use]
    pub fn table(&self) -> &TableName {
        &self.table
    }

    /// The first key; empty: the region is the table's first.
    #[must_use]
    pub fn start_key(&self) -> &Bytes {
        &self.start
    }

    /// The key behind the last; empty: the region is the table's last.
    #[must_use]
    pub fn end_key(&self) -> &Bytes {
        &self.end
    }

    #[must_use]
    pub fn server(&self) -> &ServerName {
        &self.server
    }

    pub(crate) fn holds(&self, key: &[u8]) -> bool {
        &*self.start <= key && (self.end.is_empty() || key < &*self.end)
    }

    /// Whether keys right below this one (empty: the greatest of all) lie here.
    pub(crate) fn holds_below(&self, key: &[u8]) -> bool {
        if key.is_empty() { self.end.is_empty() } else { &*self.start < key && (self.end.is_empty() || key <= &*self.end) }
    }

    pub(crate) fn specifier(&self) -> RegionSpecifier {
        RegionSpecifier::name(self.name.clone())
    }

    pub(crate) fn info(&self) -> RegionInfo {
        RegionInfo {
            region_id: self.id,
            table_name: self.table.to_message(),
            start_key: Some(self.start.clone()),
            end_key: Some(self.end.clone()),
            offline: Some(false),
            split: Some(false),
            replica_id: Some(0),
        }
    }
}

/// What stands between the last two dots of a region's name.
fn encoded_name(name: &[u8]) -> &[u8] {
    let name = name.strip_suffix(b".").unwrap_or(name);
    name.rsplit(|byte| *byte == b'.').next().unwrap_or(name)
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}", self.name.escape_ascii(), self.server)
    }
}

impl fmt::Debug for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
