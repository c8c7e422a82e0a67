//! What a wide-column store promises: the contract that [`LsmStore`] and [`HbaseStore`] keep and [`model::ModelStore`] states.
//!
//! A store holds tables; a table has families; a row is addressed by its row key, a cell by (row key, family, qualifier,
//! timestamp). Rows are sorted by the bytes of the row key. Nothing else is assumed: no SQL, no types.
//!
//! Each guarantee of [`Store`] has a number; `conformance` has a test of that number, and every store passes it.
//!
//! [`LsmStore`]: https://docs.rs/stoa-store-lsm
//! [`HbaseStore`]: https://docs.rs/stoa-store-hbase

pub mod backfill;
pub mod cell_test;
pub mod clock;
pub mod commit_window;
pub mod conformance;
pub mod error;
pub mod history;
pub mod limits;
pub mod mirror;
pub mod model;
pub mod mutations;
pub mod parts;
pub mod range;
pub mod range_cache;
pub mod schema;
pub mod watch;

use async_trait::async_trait;
pub use cell_test::{ByteRange, CellTest};
pub use error::{Certainty, StoreError, StoreResult};
pub use history::{History, HistorySink, HistorySpec, Version};
pub use limits::Limits;
pub use mutations::{MutationRef, Mutations};
pub use range::KeyRange;
pub use range_cache::RangeCache;
pub use schema::{BloomFilter, Compression, FamilyId, FamilyOptions, FamilySchema, Layout, TableId, TableSchema};
use std::any::Any;
use std::ops::ControlFlow;
use std::sync::Arc;
pub use watch::{Watch, Watches};

/// A commit timestamp: a hybrid logical clock with microseconds since 1970 in the upper 48+ bits (`us << 12 | counter`), so
/// that it is a wall-clock time as well. Larger is later.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// The counter's width in bits.
    pub const COUNTER_BITS: u32 = 12;

    /// The first timestamp of a microsecond.
    #[must_use]
    pub fn from_micros(us: u64) -> Self {
        Timestamp(us << Self::COUNTER_BITS)
    }

    /// Microseconds since 1970.
    #[must_use]
    pub fn micros(self) -> u64 {
        self.0 >> Self::COUNTER_BITS
    }
}

/// One cell of a row as a read hands it over; the bytes are the store's and live until the sink returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CellRef<'a> {
    pub family: FamilyId,
    pub qualifier: &'a [u8],
    pub timestamp: Timestamp,
    pub value: &'a [u8],
}

/// Takes rows from a read. No allocation per row or cell is needed on either side.
pub trait RowSink: Send {
    /// One row: cells ordered by family (as in the request), qualifier, newest first. `Break` ends the block early; the scan
    /// goes on behind this row when asked for the next block.
    fn row(&mut self, key: &[u8], cells: &[CellRef<'_>]) -> ControlFlow<()>;

    /// What of the rows it makes use of: a store that fetches each cell from elsewhere may leave out the rest. Others give all.
    fn enough(&self) -> Enough {
        Enough::default()
    }
}

/// What of a read is of use to who takes it.
#[derive(Clone, Debug, Default)]
pub struct Enough {
    /// Cells whose qualifiers begin so; a row that has none of them still comes, with another one, whose value may be left out. `None`: all.
    pub cells: Option<Arc<[Box<[u8]>]>>,
    /// Rows that are still taken; `None`: all.
    pub rows: Option<u64>,
    /// Rows that do not pass all of these are not made use of: a scan may leave them out.
    pub tests: Arc<[CellTest]>,
}

/// A consistent view: everything committed at or below its timestamp, and nothing else, for as long as it is held.
pub trait Snapshot: Send + Sync + Any + std::fmt::Debug {
    fn timestamp(&self) -> Timestamp;
    /// For the store that made it, to reach its own type.
    fn as_any(&self) -> &dyn Any;
}

/// Which cells of the rows a read returns.
#[derive(Clone, Debug)]
pub struct ReadSpec {
    pub table: TableId,
    /// In this order. The first family of a table always has a cell, so a row exists if and only if that family has one; a read
    /// that leaves it out must not be used to decide whether rows exist.
    pub families: Vec<FamilyId>,
    /// Qualifiers in `[start, end)` for families with layout cells; `None` for all.
    pub qualifiers: Option<KeyRange>,
    /// Versions a cell, newest first; at least 1.
    pub versions: u32,
    /// Only cells with a timestamp in `[from, to)`.
    pub time_range: Option<(Timestamp, Timestamp)>,
    pub snapshot: Arc<dyn Snapshot>,
}

/// A scan over one key range.
#[derive(Clone, Debug)]
pub struct ScanSpec {
    pub read: ReadSpec,
    pub range: KeyRange,
    pub reverse: bool,
    /// Rows after which the scan ends; the store may read ahead less for it.
    pub limit: Option<u64>,
    /// Whether blocks read are worth keeping in the cache: false for scans of whole tables.
    pub fill_cache: bool,
}

/// An open scan.
#[async_trait]
pub trait Scan: Send {
    /// Pushes rows into the sink until the sink breaks, about `max_rows` rows were pushed, or the range ends. False at the end.
    async fn next_block(&mut self, max_rows: usize, sink: &mut dyn RowSink) -> StoreResult<bool>;

    /// Goes to a part of the scan's range, at whose end the scan ends from now on. Parts come in the order of the scan and do not
    /// overlap; what was left before a part is not read. A limit counts over all of them.
    fn restrict_to(&mut self, part: &KeyRange) -> StoreResult<()>;
}

/// A piece of a table that is served together: the unit of parallel scans.
#[derive(Clone, Debug)]
pub struct Region {
    pub range: KeyRange,
    pub approximate_bytes: u64,
    pub approximate_rows: u64,
    pub server: Option<String>,
    /// `None` if the store does not count.
    pub traffic: Option<Traffic>,
}

/// How many rows of a region were read and written, whichever transactions did it: rows that scans give, keys that are asked for, rows of
/// commits. Not exact, and lost with the process that counts, or when the region becomes another.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Traffic {
    pub reads: u64,
    pub writes: u64,
    /// Microseconds since 1970; `None` if the store does not know.
    pub since_us: Option<u64>,
}

/// See [`Store::extents`].
#[derive(Clone, Debug, Default)]
pub struct Extents {
    /// The regions of each table, in key order.
    pub regions: Vec<Vec<Region>>,
    /// Bytes and rows of each set of ranges, approximately.
    pub sizes: Vec<(u64, u64)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Durability {
    /// On stable storage before the call returns.
    #[default]
    Sync,
    /// In the operating system's hands: survives the process, not a power failure.
    Relaxed,
}

/// What a commit checks and writes.
#[derive(Debug)]
pub struct Commit<'a> {
    pub mutations: &'a Mutations,
    /// The timestamp at which the writer read: the commit fails with [`StoreError::Conflict`] if a row that it writes, or a key
    /// range in `validate`, was committed after it. `None`: no check (locks protect the rows).
    pub snapshot: Option<Timestamp>,
    /// Key ranges that must not have changed since `snapshot`.
    pub validate: &'a [(TableId, KeyRange)],
    pub durability: Durability,
}

/// What is done as soon as a commit is visible.
pub type OnVisible = Arc<dyn Fn(Timestamp) + Send + Sync>;

/// A commit larger than memory: changes come table by table, in ascending key order, and become visible at once. Dropped before
/// its end, it leaves nothing.
#[async_trait]
pub trait BulkLoad: Send {
    /// One change; a table comes once, its keys must not go down. Changes of one row mean what they mean in [`Mutations`]. An error
    /// leaves the load unusable.
    fn apply(&mut self, mutation: MutationRef<'_>) -> StoreResult<()>;
    /// Sets one cell.
    fn put(&mut self, table: TableId, key: &[u8], family: FamilyId, qualifier: &[u8], value: &[u8]) -> StoreResult<()> {
        self.apply(MutationRef::Put { table, key, family, qualifier, value })
    }
    /// Whether enough has come that [`BulkLoad::drain`] is awaited before more does.
    fn is_full(&self) -> bool {
        false
    }
    /// Works off what has come. Called between two rows, whenever the load is full: one that is not may refuse to hold more.
    async fn drain(&mut self) -> StoreResult<()> {
        Ok(())
    }
    /// Ingests everything: all or nothing over all tables, visible from the returned timestamp on, durable when the call returns.
    async fn finish(self: Box<Self>) -> StoreResult<Timestamp>;
}

/// A wide-column store.
///
/// 1. Scans yield row keys in byte order (descending when reversed), each row once, exactly the rows of the half-open range.
/// 2. A mutation of one row is atomic across its families.
/// 3. `commit` is atomic across rows and tables and gets a timestamp above that of every commit acknowledged before it began.
/// 4. A snapshot is a timestamp: reads at it see exactly the commits at or below it, however long they take.
/// 5. First committer wins: `commit` fails with a conflict if a row it wrote (or a range it validates) was committed by another
///    after its snapshot.
/// 6. An acknowledged write survives `kill -9` and, unless relaxed, power loss.
/// 7. Expired cells (TTL, version limits) are invisible at once and gone after compaction. No longer TTL, nor none, brings one back.
/// 8. A failed call says whether it is certain that nothing happened, certain that it did, or unknown ([`StoreError::certainty`]);
///    and whether a retry helps.
/// 9. Corruption is reported as such, never as missing rows.
/// 10. A watch ends before anyone can see a change of its range.
/// 11. A history says since when a row is known, and what it was from then on: a read of any time in between sees the same.
#[async_trait]
pub trait Store: Send + Sync + std::fmt::Debug {
    // Schema: each call is durable and atomic when it returns.

    /// Makes a table; an error if the id is taken.
    async fn create_table(&self, schema: &TableSchema) -> StoreResult<()>;
    /// Replaces the families and options of a table: new families are empty, families left out are removed.
    async fn alter_table(&self, schema: &TableSchema) -> StoreResult<()>;
    /// Removes a table and its rows. Snapshots taken before may fail to read it afterwards. No error if there is none.
    async fn drop_table(&self, table: TableId) -> StoreResult<()>;
    async fn list_tables(&self) -> StoreResult<Vec<TableSchema>>;
    async fn describe_table(&self, table: TableId) -> StoreResult<Option<TableSchema>>;

    // Tables elsewhere.

    /// The families of a table that other programs own, as a raw table has them (the first one is `cells`, whose cells bear the qualifiers of
    /// `stoa_encoding::raw_cell`), and where its regions begin; `None` if there is no such table.
    async fn describe_elsewhere(&self, _location: &str, _cells: FamilyId) -> StoreResult<Option<TableSchema>> {
        Err(StoreError::Unsupported("this store has no tables of other programs".into()))
    }
    /// Gives such a table an id, under which its cells are read and written from now on: as they are at that moment, whatever the
    /// snapshot, each row by itself. Nothing is asked of the cluster yet. [`Store::drop_table`] lets go of it, and leaves it as it is.
    fn attach(&self, _schema: &TableSchema, _location: &str) -> StoreResult<()> {
        Err(StoreError::Unsupported("this store has no tables of other programs".into()))
    }

    // Regions.

    /// The regions of a table in key order; together they cover all keys.
    async fn regions(&self, table: TableId) -> StoreResult<Vec<Region>>;
    /// The approximate bytes and rows in a key range.
    async fn approximate_size(&self, table: TableId, range: &KeyRange) -> StoreResult<(u64, u64)>;
    /// The regions of some tables and the approximate bytes and rows of some sets of key ranges: what planning asks, in one call.
    async fn extents(&self, tables: &[TableId], ranges: &[(TableId, &[KeyRange])]) -> StoreResult<Extents> {
        let mut out = Extents { regions: Vec::with_capacity(tables.len()), sizes: Vec::with_capacity(ranges.len()) };
        for table in tables {
            out.regions.push(self.regions(*table).await?);
        }
        for (table, ranges) in ranges {
            let (mut bytes, mut rows) = (0u64, 0u64);
            for range in *ranges {
                let (b, r) = self.approximate_size(*table, range).await?;
                bytes = bytes.saturating_add(b);
                rows = rows.saturating_add(r);
            }
            out.sizes.push((bytes, rows));
        }
        Ok(out)
    }
    /// The bytes of a range, without a look at its rows: cheap enough to be asked before every read.
    async fn approximate_bytes(&self, table: TableId, range: &KeyRange) -> StoreResult<u64> {
        Ok(self.approximate_size(table, range).await?.0)
    }
    /// Adds a split point. It may take minutes where regions are moved for it.
    async fn split(&self, table: TableId, at: &[u8]) -> StoreResult<()>;
    /// Takes a split point away, if there is one: what lies on its two sides is one region then. It may take as long as a split.
    async fn unsplit(&self, table: TableId, at: &[u8]) -> StoreResult<()>;
    async fn flush(&self, table: TableId) -> StoreResult<()>;
    async fn compact(&self, table: TableId) -> StoreResult<()>;

    // Reading.

    /// The newest snapshot: sees every commit acknowledged before the call. Cheap.
    fn snapshot(&self) -> Arc<dyn Snapshot>;
    /// A view of the past, for families that keep versions; an error before the store's horizon.
    fn snapshot_at(&self, timestamp: Timestamp) -> StoreResult<Arc<dyn Snapshot>>;
    /// Reads rows by key, in the order of `keys` (absent rows are skipped; a key asked for twice is answered twice).
    async fn get(&self, spec: &ReadSpec, keys: &[&[u8]], sink: &mut dyn RowSink) -> StoreResult<()>;
    /// Opens a scan.
    async fn scan(&self, spec: ScanSpec) -> StoreResult<Box<dyn Scan>>;
    /// Opens a scan over parts of the spec's range alone, which come in the order of the scan and do not overlap: many lookups at once.
    async fn scan_parts(&self, spec: ScanSpec, parts: Arc<[KeyRange]>) -> StoreResult<Box<dyn Scan>> {
        Ok(Box::new(parts::PartScan::new(self.scan(spec).await?, parts)))
    }

    /// Opens a scan of the histories of rows: of those that were there at some time since they are known.
    async fn history(&self, spec: HistorySpec) -> StoreResult<Box<dyn History>>;

    /// What it costs to go on at another place of an open scan ([`Scan::restrict_to`]), in rows that the scan would have given meanwhile: a
    /// block to be found in memory here; where it is a call over a network, of a millisecond, some 700.
    fn seek_cost(&self) -> f64 {
        20.0
    }

    /// Watches a range: as long as the watch holds at the time of a snapshot, reads of the range at it give what they give at
    /// `snapshot`, which is held until the call returns. `None` where that cannot be promised: the range has changed since, its rows
    /// change by themselves (expiry, kept versions), or the store watches nothing. A later watch may end those that it overlaps.
    fn watch(&self, _table: TableId, _range: &KeyRange, _snapshot: &Arc<dyn Snapshot>) -> Option<Arc<Watch>> {
        None
    }

    // Writing.

    /// Applies all mutations at one timestamp, or none.
    async fn commit(&self, commit: Commit<'_>) -> StoreResult<Timestamp>;
    /// Commits, and calls `then` once, as soon as the commit is visible and before the call returns; not if it failed. What is called
    /// may hold up other commits: it is short, and asks nothing of the store.
    async fn commit_then(&self, commit: Commit<'_>, then: OnVisible) -> StoreResult<Timestamp> {
        let at = self.commit(commit).await?;
        then(at);
        Ok(at)
    }
    /// Whether any of the rows was committed after `since`. `false` is exact; `true` may be a guess when the store forgot.
    fn rows_changed_since(&self, rows: &mut dyn Iterator<Item = (TableId, &[u8])>, since: Timestamp) -> bool;
    /// Sets cells of a family as of a snapshot's time, one in each of these rows, in a table that nobody reads yet: what was committed since
    /// stays. Gives back the positions of rows of which that is not sure. Nobody else sets these rows but by what stands at them in
    /// another table: several backfills of one row at different times are no conflict.
    async fn backfill(&self, table: TableId, family: FamilyId, cells: &[(&[u8], &[u8])], at: Timestamp) -> StoreResult<Vec<usize>> {
        backfill::by_commits(self, table, family, cells, at).await
    }
    /// Starts a bulk load into some tables. Until its end nobody else may write rows that it writes.
    async fn bulk_load(&self, tables: &[TableId]) -> StoreResult<Box<dyn BulkLoad>>;

    // Backup.

    /// Writes a consistent copy of the whole store, as of the returned timestamp, into an empty directory.
    async fn backup(&self, directory: &std::path::Path) -> StoreResult<Timestamp>;

    /// The sizes of keys and cells that the store takes.
    fn limits(&self) -> Limits {
        Limits::default()
    }

    /// Counters for monitoring: name and value.
    fn metrics(&self) -> Vec<(String, u64)>;
}

/// A closure over a row's key and cells.
impl<F: FnMut(&[u8], &[CellRef<'_>]) -> ControlFlow<()> + Send> RowSink for F {
    fn row(&mut self, key: &[u8], cells: &[CellRef<'_>]) -> ControlFlow<()> {
        self(key, cells)
    }
}
