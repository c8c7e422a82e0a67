//! The store's settings, and which RocksDB column family a family of a table lives in.
//!
//! Families with equal physical options share one column family ([`OptionClass`]); its name spells its options, so that a store
//! opens without reading anything else first.

use crate::keys::{Form, row_prefix};
use crate::retention::{RetentionFilterFactory, SharedRetention};
use rocksdb::{
    BlockBasedOptions, Cache, DB, DBCompressionType, DBRecoveryMode, DataBlockIndexType, LogLevel, Options, SliceTransform,
    WriteBufferManager,
};
use std::path::Path;
use std::sync::Arc;
use stoa_store::clock::{Clock, SystemClock};
use stoa_store::{BloomFilter, Compression, FamilyOptions};

/// Settings of a store on one machine.
#[derive(Clone, Debug)]
pub struct LsmOptions {
    /// Bytes for blocks read from files, indexes and filters, and for writes not yet flushed (which are charged to it).
    pub block_cache_bytes: usize,
    /// Bytes of writes held in memory before they are flushed, over all tables.
    pub write_buffer_bytes: usize,
    /// Threads for flushes and compactions.
    pub background_threads: usize,
    pub max_open_files: i32,
    /// The size towards which tables are cut into regions.
    pub region_bytes: u64,
    /// Regions that a table of some size has at least: the number of scans that can run in parallel.
    pub min_regions: usize,
    /// Rows from which on a table has at least `min_regions` regions.
    pub min_rows_to_split: u64,
    /// Bytes of files from which on a scan reads them itself.
    pub file_scan_bytes: u64,
    /// Whether to open a store whose write-ahead log is damaged in the middle, without what follows the damage. Otherwise
    /// such a store is refused as corrupt; a torn end of the log, as a power failure leaves it, is always accepted.
    pub salvage_log: bool,
    pub clock: Arc<dyn Clock>,
}

impl Default for LsmOptions {
    fn default() -> Self {
        Self {
            block_cache_bytes: 512 << 20,
            write_buffer_bytes: 128 << 20,
            background_threads: 2,
            max_open_files: 512,
            region_bytes: 64 << 20,
            min_regions: std::thread::available_parallelism().map_or(2, usize::from).max(2),
            min_rows_to_split: 200_000,
            file_scan_bytes: 4 << 20,
            salvage_log: false,
            clock: Arc::new(SystemClock),
        }
    }
}

/// What decides the column family: everything that RocksDB sets a column family, and nothing else.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct OptionClass {
    pub form: Form,
    /// Whether old entries go at compaction.
    pub expires: bool,
    pub compression: Compression,
    pub bloom: bool,
    pub block_size: u32,
    pub cached: bool,
    pub in_memory: bool,
    pub blob: bool,
}

impl OptionClass {
    pub fn of(options: &FamilyOptions) -> Self {
        let form = Form::of(options);
        Self {
            form,
            expires: form != Form::Plain || options.ttl.is_some(),
            compression: options.compression,
            // A versioned entry's key ends in its timestamp: a filter on row and column is one on the row.
            bloom: options.bloom_filter != BloomFilter::None,
            block_size: options.block_size.clamp(1024, 4 << 20),
            cached: options.block_cache,
            in_memory: options.in_memory,
            blob: options.blob,
        }
    }

    pub fn name(&self) -> String {
        let form = match self.form {
            Form::Plain => "plain",
            Form::PackedVersions => "versions",
            Form::Cells => "cells",
        };
        let compression = match self.compression {
            Compression::None => "none",
            Compression::Snappy => "snappy",
            Compression::Lz4 => "lz4",
            Compression::Zstd => "zstd",
        };
        let flag = |on: bool, letter: char| if on { letter } else { '-' };
        format!(
            "{form}.{compression}.{}.{}{}{}{}{}",
            self.block_size,
            flag(self.expires, 'e'),
            flag(self.bloom, 'b'),
            flag(self.cached, 'c'),
            flag(self.in_memory, 'm'),
            flag(self.blob, 'l'),
        )
    }

    /// `None` for a name that this version does not know.
    pub fn parse(name: &str) -> Option<Self> {
        let mut parts = name.split('.');
        let form = match parts.next()? {
            "plain" => Form::Plain,
            "versions" => Form::PackedVersions,
            "cells" => Form::Cells,
            _ => return None,
        };
        let compression = match parts.next()? {
            "none" => Compression::None,
            "snappy" => Compression::Snappy,
            "lz4" => Compression::Lz4,
            "zstd" => Compression::Zstd,
            _ => return None,
        };
        let block_size = parts.next()?.parse().ok()?;
        let flags = parts.next()?;
        let has = |letter: char| flags.contains(letter);
        let class = Self {
            form,
            expires: has('e'),
            compression,
            bloom: has('b'),
            block_size,
            cached: has('c'),
            in_memory: has('m'),
            blob: has('l'),
        };
        (class.name() == name).then_some(class)
    }
}

/// Write buffers of a column family; when all are full, writes wait for a flush.
const WRITE_BUFFERS: i32 = 4;
const OPENING_WRITE_BUFFER: usize = 32 << 20;

/// What all column families share: memory, and the rules of what may go at compaction.
pub(crate) struct SharedResources {
    pub cache: Cache,
    /// For families that want to stay in memory: scans of others do not push them out.
    pub in_memory_cache: Cache,
    pub write_buffers: WriteBufferManager,
    pub retention: Arc<SharedRetention>,
    write_buffer_bytes: usize,
}

impl std::fmt::Debug for SharedResources {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SharedResources")
    }
}

impl LsmOptions {
    /// Of the memory for blocks, what the range cache has.
    pub(crate) fn range_cache_bytes(&self) -> usize {
        self.block_cache_bytes / 4
    }
}

impl SharedResources {
    pub fn new(options: &LsmOptions) -> Self {
        let in_memory = options.block_cache_bytes / 8;
        let cache = block_cache(options.block_cache_bytes - in_memory - options.range_cache_bytes());
        let write_buffers = WriteBufferManager::new_write_buffer_manager_with_cache(options.write_buffer_bytes, false, cache.clone());
        Self {
            cache,
            in_memory_cache: block_cache(in_memory),
            write_buffers,
            retention: Arc::default(),
            write_buffer_bytes: options.write_buffer_bytes,
        }
    }

    pub fn database_options(&self, options: &LsmOptions) -> Options {
        // Space is not reserved ahead, for it may be the last.
        let mut out = options_from("allow_fallocate=false");
        out.create_if_missing(true);
        out.create_missing_column_families(true);
        out.set_paranoid_checks(true);
        out.set_max_background_jobs(i32::try_from(options.background_threads.max(2)).unwrap_or(i32::MAX));
        out.set_max_subcompactions(u32::try_from(options.background_threads).unwrap_or(1));
        out.set_max_open_files(options.max_open_files);
        out.set_max_file_opening_threads(2);
        out.set_write_buffer_manager(&self.write_buffers);
        // Bounds what a start after a crash has to replay.
        out.set_max_total_wal_size(2 * self.write_buffer_bytes as u64);
        out.set_bytes_per_sync(1 << 20);
        out.set_wal_bytes_per_sync(1 << 20);
        out.set_log_level(LogLevel::Warn);
        out.set_max_log_file_size(4 << 20);
        out.set_keep_log_file_num(4);
        out.set_stats_dump_period_sec(0);
        out.set_stats_persist_period_sec(0);
        out.set_manifest_preallocation_size(64 << 10);
        out.set_table_cache_num_shard_bits(4);
        // One thread writes.
        out.set_allow_concurrent_memtable_write(false);
        out.set_enable_pipelined_write(false);
        out.set_skip_stats_update_on_db_open(true);
        out.set_wal_recovery_mode(DBRecoveryMode::PointInTime);
        // The default column family holds the metadata: little, read at open.
        self.common(&mut out, 1 << 20);
        let mut blocks = BlockBasedOptions::default();
        blocks.set_block_cache(&self.cache);
        blocks.set_format_version(6);
        out.set_block_based_table_factory(&blocks);
        out
    }

    /// Those with which a column family is opened. After an error for want of space RocksDB goes on when there is as much as the largest
    /// write buffer of that time.
    pub fn opening_options(&self, class: &OptionClass) -> Options {
        let mut out = self.family_options(class);
        out.set_write_buffer_size(self.write_buffer_size().min(OPENING_WRITE_BUFFER));
        out
    }

    /// Gives a column family that was opened the size that it shall have.
    pub fn set_write_buffer_size(&self, db: &DB, class: &OptionClass) {
        let size = self.write_buffer_size();
        let Some(family) = db.cf_handle(&class.name()).filter(|_| size > OPENING_WRITE_BUFFER) else { return };
        if let Err(error) = db.set_options_cf(&family, &[("write_buffer_size", &size.to_string())]) {
            tracing::warn!(%error, "writes are held in smaller buffers");
        }
    }

    /// Lets memory hold all that the logs of a directory hold; returns how much that may be.
    pub fn hold_log(&self, directory: &Path) -> usize {
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        let logs = entries.filter(|entry| entry.path().extension().is_some_and(|e| e == "log"));
        let bytes: u64 = logs.filter_map(|log| Some(log.metadata().ok()?.len())).sum();
        let bytes = usize::try_from(bytes.saturating_mul(3)).unwrap_or(usize::MAX / 2).saturating_add(64 << 20);
        self.write_buffers.set_buffer_size(bytes);
        bytes
    }

    /// The end of [`SharedResources::hold_log`].
    pub fn hold_writes(&self) {
        self.write_buffers.set_buffer_size(self.write_buffer_bytes);
    }

    /// Options with which the log is read into memory and stays what it is, until there is place for files.
    pub fn replays_into_memory(mut options: Options, bytes: usize) -> Options {
        options.set_write_buffer_size(bytes);
        let in_memory = options.get_options_from_string("avoid_flush_during_recovery=true");
        in_memory.unwrap_or_else(|error| {
            tracing::warn!(%error, "the log cannot be read without writing files");
            options
        })
    }

    fn write_buffer_size(&self) -> usize {
        (self.write_buffer_bytes / WRITE_BUFFERS as usize).clamp(1 << 20, 64 << 20)
    }

    pub fn family_options(&self, class: &OptionClass) -> Options {
        let mut out = options_from(UNHURRIED);
        self.common(&mut out, self.write_buffer_size());
        let compression = match class.compression {
            Compression::None => DBCompressionType::None,
            Compression::Snappy => DBCompressionType::Snappy,
            Compression::Lz4 => DBCompressionType::Lz4,
            Compression::Zstd => DBCompressionType::Zstd,
        };
        out.set_compression_type(compression);
        let mut blocks = BlockBasedOptions::default();
        blocks.set_block_size(class.block_size as usize);
        blocks.set_format_version(6);
        if class.cached {
            blocks.set_block_cache(if class.in_memory { &self.in_memory_cache } else { &self.cache });
            // Indexes and filters count against the cache, so that memory has one bound.
            blocks.set_cache_index_and_filter_blocks(true);
            blocks.set_cache_index_and_filter_blocks_with_high_priority(true);
            blocks.set_pin_l0_filter_and_index_blocks_in_cache(true);
        } else {
            blocks.disable_cache();
        }
        if class.bloom {
            blocks.set_bloom_filter(10.0, false);
            blocks.set_optimize_filters_for_memory(true);
            blocks.set_whole_key_filtering(class.form == Form::Plain);
        }
        if class.form == Form::Plain {
            blocks.set_data_block_index_type(DataBlockIndexType::BinaryAndHash);
            blocks.set_data_block_hash_ratio(0.75);
            out.set_memtable_whole_key_filtering(class.bloom);
        } else {
            out.set_prefix_extractor(SliceTransform::create("stoa.row", row_prefix, None));
        }
        out.set_memtable_prefix_bloom_ratio(if class.bloom { 0.01 } else { 0.0 });
        out.set_block_based_table_factory(&blocks);
        if class.expires {
            // What expires in files that nothing is written to goes as well, a day later.
            out.set_periodic_compaction_seconds(24 * 60 * 60);
            out.set_compaction_filter_factory(RetentionFilterFactory::new(Arc::clone(&self.retention), class.form));
        }
        if class.blob {
            out.set_enable_blob_files(true);
            out.set_min_blob_size(4096);
            out.set_blob_compression_type(compression);
            out.set_enable_blob_gc(true);
        }
        out
    }

    fn common(&self, out: &mut Options, write_buffer_size: usize) {
        out.set_write_buffer_size(write_buffer_size);
        out.set_max_write_buffer_number(WRITE_BUFFERS);
        out.set_arena_block_size(256 << 10);
        out.set_level_compaction_dynamic_level_bytes(true);
        out.set_target_file_size_base(64 << 20);
        out.set_max_bytes_for_level_base(256 << 20);
        out.set_compaction_readahead_size(2 << 20);
    }
}

/// With this, files at the bottom are not written again as soon as no snapshot is older than they are: every file of a bulk load is such
/// a file, and only its sequence numbers would be other ones.
const UNHURRIED: &str = "bottommost_file_compaction_delay=86400";

/// The default options with some that only RocksDB's own words can set.
fn options_from(words: &str) -> Options {
    Options::default().get_options_from_string(words).unwrap_or_else(|error| {
        tracing::warn!(%error, "RocksDB does not know an option");
        Options::default()
    })
}

/// A cache whose lookups take no lock.
fn block_cache(bytes: usize) -> Cache {
    /// The table grows with what is in it.
    const ENTRY_BYTES_UNKNOWN: usize = 0;
    Cache::new_hyper_clock_cache(bytes, ENTRY_BYTES_UNKNOWN)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use std::time::Duration;
    use stoa_store::Layout;

    #[test]
    fn names_of_column_families_spell_their_options() {
        let plain = OptionClass::of(&FamilyOptions::default());
        assert_eq!(plain.name(), "plain.lz4.16384.-bc--");
        let families = [
            FamilyOptions { ttl: Some(Duration::from_secs(1)), compression: Compression::Zstd, blob: true, ..Default::default() },
            FamilyOptions { layout: Layout::Cells, in_memory: true, bloom_filter: BloomFilter::None, ..Default::default() },
            FamilyOptions { versions: 3, block_cache: false, block_size: 4096, ..Default::default() },
        ];
        for options in families {
            let class = OptionClass::of(&options);
            assert_eq!(OptionClass::parse(&class.name()), Some(class));
            assert_ne!(class, plain);
        }
        assert_eq!(OptionClass::parse("plain.lz4.16384.-bc--x"), None);
    }
}
