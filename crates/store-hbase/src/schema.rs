//! Tables as HBase describes them: the names, the options of families, and the attribute that says what the store knows beside.
//!
//! Nothing of a table is removed by HBase because it is one version too many: what a snapshot may need goes only when the marker that
//! ended it is older than the retention, or its own age is over its TTL and the retention. See `docs/hbase.md`.

use crate::options::HbaseOptions;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use stoa_hbase_client::{FamilyDescriptor, TableDescriptor, TableName};
use stoa_store::model::stays_expired;
use stoa_store::{BloomFilter, Compression, FamilyId, FamilyOptions, FamilySchema, Layout, StoreError, StoreResult, TableId, TableSchema};

/// The attribute of a table's descriptor that holds a [`StoredTable`].
const ATTRIBUTE: &str = "stoa.table";
/// How long markers stay whatever else is there: a put that comes late finds what hides it.
const PURGE_DELETES: &str = "hbase.hstore.time.to.purge.deletes";
/// HBase's numbers for "all" and "for ever".
const ALL: i32 = i32::MAX;
/// Values of blobs above this size lie in files of their own.
const MOB_BYTES: u64 = 100 << 10;
const FORMAT: u32 = 1;
const LONGEST_NAME: usize = 100;

/// What the store keeps of a table in its descriptor.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct StoredTable {
    format: u32,
    id: u32,
    name: String,
    /// Commits up to this time are not its own, but of one of the same number that was there before.
    pub since: u64,
    pub retention_ms: u64,
    /// Snapshots from this time on can be read: what is before was kept for a shorter time.
    #[serde(default)]
    pub known_from_ms: u64,
    pub families: Vec<StoredFamily>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct StoredFamily {
    id: u16,
    name: String,
    /// Its name in HBase, which never changes.
    pub hbase: String,
    /// As of the table.
    pub since: u64,
    /// The microsecond up to which cells had expired when the TTL became longer or was taken away: they stay so.
    #[serde(default)]
    pub expired_us: u64,
    layout: StoredLayout,
    versions: u32,
    min_versions: u32,
    ttl_us: Option<u64>,
    compression: StoredCompression,
    bloom_filter: StoredBloomFilter,
    block_size: u32,
    block_cache: bool,
    in_memory: bool,
    blob: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredLayout {
    Packed,
    Cells,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredCompression {
    None,
    Snappy,
    Lz4,
    Zstd,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredBloomFilter {
    None,
    Row,
    RowCol,
}

impl StoredTable {
    /// For a table that is made, or altered where there is an old one: families of the same number keep their names in HBase.
    pub fn new(schema: &TableSchema, old: Option<&StoredTable>, now: u64, now_us: u64, retention: Duration) -> StoredTable {
        let mut taken: Vec<String> = old.iter().flat_map(|old| old.families.iter().map(|family| family.hbase.clone())).collect();
        let families = schema.families.iter().map(|family| {
            let known = old.and_then(|old| old.families.iter().find(|known| known.id == family.id.0));
            let (hbase, since) = match known {
                Some(known) => (known.hbase.clone(), known.since),
                None => (family_name(family, &taken), now),
            };
            taken.push(hbase.clone());
            let gone = known.map(|known| known.expired_us.max(stays_expired(&known.schema().options, &family.options, now_us)));
            StoredFamily { expired_us: gone.unwrap_or(0), ..StoredFamily::new(family, hbase, since) }
        });
        // The past that families keep is read at snapshots.
        let asked = schema.families.iter().filter_map(|family| family.options.retention()).map(HbaseOptions::retention_for);
        let retention = asked.fold(retention, Duration::max);
        let retention_ms = u64::try_from(retention.as_millis()).unwrap_or(u64::MAX);
        let known_from_ms = old.map_or(0, |old| {
            let horizon = HbaseOptions::horizon(Duration::from_millis(old.retention_ms)).as_millis();
            let shorter = now.saturating_sub(u64::try_from(horizon).unwrap_or(u64::MAX));
            if old.retention_ms < retention_ms { old.known_from_ms.max(shorter) } else { old.known_from_ms }
        });
        StoredTable {
            format: FORMAT,
            id: schema.id.0,
            name: schema.name.clone(),
            families: families.collect(),
            since: old.map_or(now, |old| old.since),
            retention_ms,
            known_from_ms,
        }
    }

    /// What a descriptor says; `None` if its table is no table of a store.
    ///
    /// # Errors
    /// [`StoreError::Corruption`]; [`StoreError::Invalid`] for a later format.
    pub fn of(descriptor: &TableDescriptor) -> StoreResult<Option<StoredTable>> {
        let Some(text) = descriptor.attributes.get(ATTRIBUTE.as_bytes()) else { return Ok(None) };
        let wrong = |what: String| StoreError::Corruption(format!("attribute {ATTRIBUTE} of {}: {what}", descriptor.name));
        let value: serde_json::Value = serde_json::from_slice(text).map_err(|e| wrong(e.to_string()))?;
        if value.get("format").and_then(serde_json::Value::as_u64) > Some(u64::from(FORMAT)) {
            return Err(StoreError::Invalid(format!("table {} was written by a later version of this program", descriptor.name)));
        }
        serde_json::from_value(value).map(Some).map_err(|e| wrong(e.to_string()))
    }

    /// The table as its creator described it; where it is parted is another question.
    pub fn schema(&self) -> TableSchema {
        let families = self.families.iter().map(StoredFamily::schema).collect();
        TableSchema { id: TableId(self.id), name: self.name.clone(), families, split_points: Vec::new() }
    }

    /// What HBase makes a table of, without codecs that it lacks.
    ///
    /// # Errors
    /// [`StoreError::Invalid`].
    pub fn descriptor(&self, name: &TableName, lacking: &[Compression]) -> StoreResult<TableDescriptor> {
        let text = serde_json::to_string(self).map_err(|e| StoreError::Invalid(e.to_string()))?;
        let families = self.families.iter().map(|family| family.descriptor(self.retention_ms, lacking));
        Ok(families.fold(TableDescriptor::new(name.clone()), TableDescriptor::family).attribute(ATTRIBUTE, &text))
    }

    /// The name that a new table gets in HBase.
    ///
    /// # Errors
    /// [`StoreError::Invalid`].
    pub fn table_name(&self, namespace: &str) -> StoreResult<TableName> {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.' || c == '-';
        let name: String = self.name.chars().take(LONGEST_NAME).map(|c| if fits(c) { c } else { '_' }).collect();
        let name = if name.starts_with(['-', '.']) { format!("_{name}") } else { name };
        TableName::new(namespace, &format!("{name}_{}", self.id)).map_err(|e| StoreError::Invalid(e.to_string()))
    }
}

/// The family's own name if HBase's shell can write it down and it is short, since it stands in every cell.
fn family_name(family: &FamilySchema, taken: &[String]) -> String {
    let fits = (1..=8).contains(&family.name.len()) && family.name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if fits && !taken.contains(&family.name) {
        return family.name.clone();
    }
    let numbered = (0..).map(|again| if again == 0 { format!("f{}", family.id.0) } else { format!("f{}_{again}", family.id.0) });
    numbered.into_iter().find(|name| !taken.contains(name)).unwrap_or_default()
}

impl StoredFamily {
    fn new(family: &FamilySchema, hbase: String, since: u64) -> StoredFamily {
        let options = &family.options;
        StoredFamily {
            id: family.id.0,
            name: family.name.clone(),
            hbase,
            since,
            expired_us: 0,
            layout: match options.layout {
                Layout::Packed => StoredLayout::Packed,
                Layout::Cells => StoredLayout::Cells,
            },
            versions: options.versions,
            min_versions: options.min_versions,
            ttl_us: options.ttl.map(|ttl| u64::try_from(ttl.as_micros()).unwrap_or(u64::MAX)),
            compression: match options.compression {
                Compression::None => StoredCompression::None,
                Compression::Snappy => StoredCompression::Snappy,
                Compression::Lz4 => StoredCompression::Lz4,
                Compression::Zstd => StoredCompression::Zstd,
            },
            bloom_filter: match options.bloom_filter {
                BloomFilter::None => StoredBloomFilter::None,
                BloomFilter::Row => StoredBloomFilter::Row,
                BloomFilter::RowCol => StoredBloomFilter::RowCol,
            },
            block_size: options.block_size,
            block_cache: options.block_cache,
            in_memory: options.in_memory,
            blob: options.blob,
        }
    }

    fn schema(&self) -> FamilySchema {
        let options = FamilyOptions {
            layout: match self.layout {
                StoredLayout::Packed => Layout::Packed,
                StoredLayout::Cells => Layout::Cells,
            },
            versions: self.versions,
            min_versions: self.min_versions,
            ttl: self.ttl_us.map(Duration::from_micros),
            compression: match self.compression {
                StoredCompression::None => Compression::None,
                StoredCompression::Snappy => Compression::Snappy,
                StoredCompression::Lz4 => Compression::Lz4,
                StoredCompression::Zstd => Compression::Zstd,
            },
            bloom_filter: match self.bloom_filter {
                StoredBloomFilter::None => BloomFilter::None,
                StoredBloomFilter::Row => BloomFilter::Row,
                StoredBloomFilter::RowCol => BloomFilter::RowCol,
            },
            block_size: self.block_size,
            block_cache: self.block_cache,
            in_memory: self.in_memory,
            blob: self.blob,
        };
        FamilySchema { id: FamilyId(self.id), name: self.name.clone(), options }
    }

    fn descriptor(&self, retention_ms: u64, lacking: &[Compression]) -> FamilyDescriptor {
        let retention_us = retention_ms.saturating_mul(1000);
        // Where all goes by its own age, that is what HBase's TTL counts; elsewhere it counts how long ago versions ended.
        let by_age = self.ttl_us.filter(|_| self.min_versions == 0);
        let ttl_us = by_age.unwrap_or(0).saturating_add(retention_us);
        let codec = match self.schema().options.compression {
            codec if lacking.contains(&codec) => "NONE",
            Compression::None => "NONE",
            Compression::Snappy => "SNAPPY",
            Compression::Lz4 => "LZ4",
            Compression::Zstd => "ZSTD",
        };
        let bloom_filter = match self.bloom_filter {
            StoredBloomFilter::None => "NONE",
            StoredBloomFilter::Row => "ROW",
            StoredBloomFilter::RowCol => "ROWCOL",
        };
        let family = FamilyDescriptor::new(Bytes::copy_from_slice(self.hbase.as_bytes()))
            .versions(ALL)
            .min_versions(if by_age.is_some() { 0 } else { ALL })
            .ttl(i32::try_from(ttl_us.div_ceil(1_000_000)).unwrap_or(ALL))
            .keep_deleted_cells("TTL")
            .configuration(PURGE_DELETES, &retention_ms.to_string())
            .data_block_encoding("FAST_DIFF")
            .bloom_filter(bloom_filter)
            .block_size(i32::try_from(self.block_size).unwrap_or(ALL))
            .block_cache(self.block_cache)
            .in_memory(self.in_memory)
            .compression(codec);
        if self.blob { family.mob(MOB_BYTES) } else { family }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    fn family(id: u16, name: &str, options: FamilyOptions) -> FamilySchema {
        FamilySchema { id: FamilyId(id), name: name.into(), options }
    }

    fn value<'a>(family: &'a FamilyDescriptor, name: &str) -> &'a str {
        std::str::from_utf8(&family.attributes[name.as_bytes()]).unwrap()
    }

    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn a_table_comes_back_from_its_descriptor() {
        let options = FamilyOptions { versions: 4, min_versions: 2, ttl: Some(HOUR), blob: true, ..FamilyOptions::default() };
        let families = vec![family(0, "main", FamilyOptions::default()), family(7, "lang und breit", options)];
        let schema = TableSchema { id: TableId(9), name: "größe/1".into(), families, split_points: vec![] };
        let stored = StoredTable::new(&schema, None, 5, 0, HOUR);
        let name = stored.table_name("shop").unwrap();
        assert_eq!(name.as_str(), "shop:gr__e_1_9");
        let descriptor = stored.descriptor(&name, &[]).unwrap();
        assert_eq!(StoredTable::of(&descriptor).unwrap().unwrap(), stored);
        assert_eq!(stored.schema(), schema);
        assert_eq!(descriptor.families.iter().map(|f| f.name.clone()).collect::<Vec<_>>(), ["main", "f7"]);
        assert!(StoredTable::of(&TableDescriptor::new(name.clone())).unwrap().is_none());
        assert!(matches!(StoredTable::of(&TableDescriptor::new(name.clone()).attribute(ATTRIBUTE, "{")), Err(StoreError::Corruption(_))));
        let later = TableDescriptor::new(name).attribute(ATTRIBUTE, "{\"format\": 99}");
        assert!(matches!(StoredTable::of(&later), Err(StoreError::Invalid(_))));
    }

    #[test]
    fn hbase_removes_by_age_only_what_expires_by_age() {
        let of = |versions, min_versions, ttl| {
            let options = FamilyOptions { versions, min_versions, ttl, ..FamilyOptions::default() };
            let schema = TableSchema { id: TableId(1), name: "t".into(), families: vec![family(0, "f", options)], split_points: vec![] };
            let stored = StoredTable::new(&schema, None, 0, 0, HOUR);
            let descriptor = stored.descriptor(&stored.table_name("n").unwrap(), &[Compression::Lz4]).unwrap();
            let family = &descriptor.families[0];
            assert_eq!(family.configuration[PURGE_DELETES], "3600000");
            assert_eq!(value(family, "COMPRESSION"), "NONE");
            assert_eq!((value(family, "VERSIONS"), value(family, "KEEP_DELETED_CELLS")), ("2147483647", "TTL"));
            (value(family, "MIN_VERSIONS").to_owned(), value(family, "TTL").to_owned())
        };
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(of(1, 0, None), pair("2147483647", "3600"));
        assert_eq!(of(5, 0, None), pair("2147483647", "3600"));
        assert_eq!(of(5, 1, Some(HOUR)), pair("2147483647", "3600"));
        assert_eq!(of(5, 0, Some(HOUR)), pair("0", "7200"));
        assert_eq!(of(1, 0, Some(Duration::from_secs(u64::from(u32::MAX)))), pair("0", "2147483647"));
    }

    #[test]
    fn a_table_is_kept_for_as_long_as_its_families_keep_their_past() {
        let of = |hours: Option<u32>, old: Option<&StoredTable>, now| {
            let plain = FamilyOptions::default();
            let options = match hours {
                Some(hours) => FamilyOptions { versions: FamilyOptions::ALL_VERSIONS, min_versions: 1, ttl: Some(HOUR * hours), ..plain },
                None => plain,
            };
            let schema = TableSchema { id: TableId(1), name: "t".into(), families: vec![family(0, "f", options)], split_points: vec![] };
            StoredTable::new(&schema, old, now, 0, HOUR)
        };
        let hour = 3_600_000;
        let plain = of(None, None, 100 * hour);
        assert_eq!((plain.retention_ms, plain.known_from_ms), (hour, 0));
        let kept = of(Some(24), None, 100 * hour);
        assert_eq!((kept.retention_ms, kept.known_from_ms), (48 * hour + 120_000, 0));
        // What was not kept is not known.
        let later = of(Some(24), Some(&plain), 100 * hour);
        assert_eq!((later.retention_ms, later.known_from_ms), (48 * hour + 120_000, 100 * hour - 29 * 60_000));
        let longer = of(Some(48), Some(&later), 101 * hour);
        assert_eq!(longer.known_from_ms, later.known_from_ms);
        let shorter = of(None, Some(&longer), 200 * hour);
        assert_eq!((shorter.retention_ms, shorter.known_from_ms), (hour, later.known_from_ms));
        assert_eq!(of(Some(1), Some(&shorter), 300 * hour).known_from_ms, 300 * hour - 29 * 60_000);
    }

    #[test]
    fn names_of_families_are_never_used_twice() {
        let table = |families| TableSchema { id: TableId(1), name: "t".into(), families, split_points: vec![] };
        let plain = FamilyOptions::default;
        let old = StoredTable::new(&table(vec![family(0, "f1", plain()), family(1, "long name", plain())]), None, 3, 0, HOUR);
        let names = |stored: &StoredTable| stored.families.iter().map(|f| (f.hbase.clone(), f.since)).collect::<Vec<_>>();
        assert_eq!(names(&old), [("f1".into(), 3), ("f1_1".into(), 3)]);
        // What goes and what comes under its name in one step are different families.
        let new = StoredTable::new(&table(vec![family(1, "other", plain()), family(2, "f1", plain())]), Some(&old), 8, 0, HOUR);
        assert_eq!(names(&new), [("f1_1".into(), 3), ("f2".into(), 8)]);
        assert_eq!(new.since, 3);
    }
}
