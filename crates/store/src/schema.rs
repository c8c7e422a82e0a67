//! Tables and families as a store knows them.

use std::time::Duration;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TableId(pub u32);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FamilyId(pub u16);

/// Whether a family's row is one cell or many.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Layout {
    /// One cell with an empty qualifier.
    #[default]
    Packed,
    /// A cell a qualifier.
    Cells,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Compression {
    None,
    Snappy,
    #[default]
    Lz4,
    Zstd,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum BloomFilter {
    None,
    #[default]
    Row,
    RowCol,
}

/// HBase's family options, with its meaning.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FamilyOptions {
    pub layout: Layout,
    pub versions: u32,
    pub min_versions: u32,
    pub ttl: Option<Duration>,
    pub compression: Compression,
    pub bloom_filter: BloomFilter,
    pub block_size: u32,
    pub block_cache: bool,
    pub in_memory: bool,
    /// Large values live apart from keys; values above 10 MiB need it.
    pub blob: bool,
}

impl FamilyOptions {
    /// Versions where their age alone says which go.
    pub const ALL_VERSIONS: u32 = 1_000_000;

    /// How long all changes of a value are kept, besides its newest version, which does not end.
    #[must_use]
    pub fn retention(&self) -> Option<Duration> {
        self.ttl.filter(|_| self.min_versions > 0 && self.versions >= Self::ALL_VERSIONS)
    }
}

impl Default for FamilyOptions {
    fn default() -> Self {
        Self {
            layout: Layout::default(),
            versions: 1,
            min_versions: 0,
            ttl: None,
            compression: Compression::default(),
            bloom_filter: BloomFilter::default(),
            block_size: 16 * 1024,
            block_cache: true,
            in_memory: false,
            blob: false,
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FamilySchema {
    pub id: FamilyId,
    pub name: String,
    pub options: FamilyOptions,
}

/// A table; the first family always holds a cell of each row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableSchema {
    pub id: TableId,
    /// For people; need not be unique.
    pub name: String,
    pub families: Vec<FamilySchema>,
    pub split_points: Vec<Vec<u8>>,
}
