//! What a table and its families look like: attributes by name, as HBase keeps them.
//!
//! Invariant: what this client does not know stays as it was when a descriptor is read, changed and sent back.

use crate::error::Error;
use crate::messages::region::{ColumnFamilySchema, TableSchema};
use crate::messages::rpc::{BytesBytesPair, NameStringPair};
use crate::names::TableName;
use bytes::Bytes;
use std::collections::BTreeMap;

/// A table: its name, families and attributes.
///
/// ```
/// # use stoa_hbase_client::{FamilyDescriptor, TableDescriptor};
/// # fn f() -> Result<(), stoa_hbase_client::Error> {
/// let family = FamilyDescriptor::new("f").versions(3).compression("SNAPPY").data_block_encoding("FAST_DIFF");
/// let table = TableDescriptor::new("ns:table".parse()?).family(family).attribute("owner", "me");
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableDescriptor {
    pub name: TableName,
    /// HBase's own (`MAX_FILESIZE`, `DURABILITY`, `coprocessor$1` …) and yours.
    pub attributes: BTreeMap<Bytes, Bytes>,
    /// Settings of the servers for this table alone.
    pub configuration: BTreeMap<String, String>,
    pub families: Vec<FamilyDescriptor>,
}

impl TableDescriptor {
    #[must_use]
    pub fn new(name: TableName) -> TableDescriptor {
        TableDescriptor { name, attributes: BTreeMap::new(), configuration: BTreeMap::new(), families: Vec::new() }
    }

    /// Adds a family, in place of one of the same name.
    #[must_use]
    pub fn family(mut self, family: FamilyDescriptor) -> TableDescriptor {
        self.families.retain(|known| known.name != family.name);
        self.families.push(family);
        self
    }

    #[must_use]
    pub fn attribute(mut self, name: &str, value: &str) -> TableDescriptor {
        self.attributes.insert(Bytes::copy_from_slice(name.as_bytes()), Bytes::copy_from_slice(value.as_bytes()));
        self
    }

    #[must_use]
    pub fn configuration(mut self, name: &str, value: &str) -> TableDescriptor {
        self.configuration.insert(name.to_owned(), value.to_owned());
        self
    }

    pub(crate) fn to_message(&self) -> TableSchema {
        TableSchema {
            table_name: Some(self.name.to_message()),
            attributes: pairs(&self.attributes),
            column_families: self.families.iter().map(FamilyDescriptor::to_message).collect(),
            configuration: strings(&self.configuration),
        }
    }

    pub(crate) fn from_message(message: TableSchema) -> Result<TableDescriptor, Error> {
        let name = message.table_name.ok_or_else(|| Error::Protocol("a table without a name".to_owned()))?;
        Ok(TableDescriptor {
            name: TableName::from_message(&name)?,
            attributes: message.attributes.into_iter().map(|pair| (pair.first, pair.second)).collect(),
            configuration: message.configuration.into_iter().map(|pair| (pair.name, pair.value)).collect(),
            families: message.column_families.into_iter().map(FamilyDescriptor::from_message).collect(),
        })
    }
}

/// A family. What is not set is as HBase has it: one version, no TTL, no compression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FamilyDescriptor {
    pub name: Bytes,
    pub attributes: BTreeMap<Bytes, Bytes>,
    pub configuration: BTreeMap<String, String>,
}

impl FamilyDescriptor {
    #[must_use]
    pub fn new(name: impl Into<Bytes>) -> FamilyDescriptor {
        FamilyDescriptor { name: name.into(), attributes: BTreeMap::new(), configuration: BTreeMap::new() }
    }

    #[must_use]
    pub fn attribute(mut self, name: &str, value: &str) -> FamilyDescriptor {
        self.attributes.insert(Bytes::copy_from_slice(name.as_bytes()), Bytes::copy_from_slice(value.as_bytes()));
        self
    }

    #[must_use]
    pub fn configuration(mut self, name: &str, value: &str) -> FamilyDescriptor {
        self.configuration.insert(name.to_owned(), value.to_owned());
        self
    }

    /// How many versions of a cell are kept (`VERSIONS`).
    #[must_use]
    pub fn versions(self, versions: i32) -> FamilyDescriptor {
        self.attribute("VERSIONS", &versions.to_string())
    }

    /// How many versions are kept though their time is over (`MIN_VERSIONS`).
    #[must_use]
    pub fn min_versions(self, versions: i32) -> FamilyDescriptor {
        self.attribute("MIN_VERSIONS", &versions.to_string())
    }

    /// Seconds after which cells go (`TTL`).
    #[must_use]
    pub fn ttl(self, seconds: i32) -> FamilyDescriptor {
        self.attribute("TTL", &seconds.to_string())
    }

    /// `TRUE`, `FALSE` or `TTL`: whether cells behind a delete marker are kept.
    #[must_use]
    pub fn keep_deleted_cells(self, keep: &str) -> FamilyDescriptor {
        self.attribute("KEEP_DELETED_CELLS", keep)
    }

    /// `NONE`, `GZ`, `SNAPPY`, `LZ4`, `ZSTD` …: what the servers have.
    #[must_use]
    pub fn compression(self, codec: &str) -> FamilyDescriptor {
        self.attribute("COMPRESSION", codec)
    }

    /// `NONE`, `PREFIX`, `DIFF`, `FAST_DIFF` or `ROW_INDEX_V1`.
    #[must_use]
    pub fn data_block_encoding(self, encoding: &str) -> FamilyDescriptor {
        self.attribute("DATA_BLOCK_ENCODING", encoding)
    }

    /// `NONE`, `ROW` or `ROWCOL`.
    #[must_use]
    pub fn bloom_filter(self, kind: &str) -> FamilyDescriptor {
        self.attribute("BLOOMFILTER", kind)
    }

    /// Bytes of a block.
    #[must_use]
    pub fn block_size(self, bytes: i32) -> FamilyDescriptor {
        self.attribute("BLOCKSIZE", &bytes.to_string())
    }

    /// Whether blocks that are read enter the servers' cache.
    #[must_use]
    pub fn block_cache(self, cache: bool) -> FamilyDescriptor {
        self.attribute("BLOCKCACHE", if cache { "true" } else { "false" })
    }

    #[must_use]
    pub fn in_memory(self, in_memory: bool) -> FamilyDescriptor {
        self.attribute("IN_MEMORY", if in_memory { "true" } else { "false" })
    }

    /// Values of more than `threshold` bytes lie in files of their own (`IS_MOB`).
    #[must_use]
    pub fn mob(self, threshold: u64) -> FamilyDescriptor {
        self.attribute("IS_MOB", "true").attribute("MOB_THRESHOLD", &threshold.to_string())
    }

    fn to_message(&self) -> ColumnFamilySchema {
        ColumnFamilySchema { name: self.name.clone(), attributes: pairs(&self.attributes), configuration: strings(&self.configuration) }
    }

    fn from_message(message: ColumnFamilySchema) -> FamilyDescriptor {
        FamilyDescriptor {
            name: message.name,
            attributes: message.attributes.into_iter().map(|pair| (pair.first, pair.second)).collect(),
            configuration: message.configuration.into_iter().map(|pair| (pair.name, pair.value)).collect(),
        }
    }
}

fn pairs(map: &BTreeMap<Bytes, Bytes>) -> Vec<BytesBytesPair> {
    map.iter().map(|(first, second)| BytesBytesPair { first: first.clone(), second: second.clone() }).collect()
}

fn strings(map: &BTreeMap<String, String>) -> Vec<NameStringPair> {
    map.iter().map(|(name, value)| NameStringPair { name: name.clone(), value: value.clone() }).collect()
}

#[cfg(test)]
mod tests {
    use super::{FamilyDescriptor, TableDescriptor};

    #[test]
    fn a_descriptor_comes_back_as_it_went() {
        let family = FamilyDescriptor::new("f").versions(3).ttl(60).configuration("a.b", "c").mob(100);
        let table = TableDescriptor::new("n:t".parse().unwrap()).family(family).attribute("x", "y").configuration("k", "v");
        assert_eq!(TableDescriptor::from_message(table.to_message()).unwrap(), table);
    }
}
