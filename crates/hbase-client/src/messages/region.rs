//! Tables, families, regions and servers as the other messages name them.

use super::rpc::{BytesBytesPair, NameStringPair};
use bytes::Bytes;

#[derive(Clone, PartialEq, prost::Message)]
pub struct TableName {
    #[prost(bytes = "bytes", required, tag = "1")]
    pub namespace: Bytes,
    #[prost(bytes = "bytes", required, tag = "2")]
    pub qualifier: Bytes,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct TableSchema {
    #[prost(message, optional, tag = "1")]
    pub table_name: Option<TableName>,
    #[prost(message, repeated, tag = "2")]
    pub attributes: Vec<BytesBytesPair>,
    #[prost(message, repeated, tag = "3")]
    pub column_families: Vec<ColumnFamilySchema>,
    #[prost(message, repeated, tag = "4")]
    pub configuration: Vec<NameStringPair>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ColumnFamilySchema {
    #[prost(bytes = "bytes", required, tag = "1")]
    pub name: Bytes,
    #[prost(message, repeated, tag = "2")]
    pub attributes: Vec<BytesBytesPair>,
    #[prost(message, repeated, tag = "3")]
    pub configuration: Vec<NameStringPair>,
}

/// 0 enabled, 1 disabled, 2 on its way to 1, 3 on its way to 0.
#[derive(Clone, PartialEq, prost::Message)]
pub struct TableState {
    #[prost(int32, required, tag = "1")]
    pub state: i32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct NamespaceDescriptor {
    #[prost(bytes = "bytes", required, tag = "1")]
    pub name: Bytes,
    #[prost(message, repeated, tag = "2")]
    pub configuration: Vec<NameStringPair>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct RegionInfo {
    #[prost(uint64, required, tag = "1")]
    pub region_id: u64,
    #[prost(message, required, tag = "2")]
    pub table_name: TableName,
    #[prost(bytes = "bytes", optional, tag = "3")]
    pub start_key: Option<Bytes>,
    #[prost(bytes = "bytes", optional, tag = "4")]
    pub end_key: Option<Bytes>,
    #[prost(bool, optional, tag = "5")]
    pub offline: Option<bool>,
    #[prost(bool, optional, tag = "6")]
    pub split: Option<bool>,
    #[prost(int32, optional, tag = "7")]
    pub replica_id: Option<i32>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct RegionSpecifier {
    /// 1: the whole name; 2: the encoded one.
    #[prost(int32, required, tag = "1")]
    pub r#type: i32,
    #[prost(bytes = "bytes", required, tag = "2")]
    pub value: Bytes,
}

impl RegionSpecifier {
    /// The region of this name.
    #[must_use]
    pub fn name(name: Bytes) -> RegionSpecifier {
        RegionSpecifier { r#type: 1, value: name }
    }

    /// The region whose name ends like this: the hash between its last two dots.
    #[must_use]
    pub fn encoded(name: Bytes) -> RegionSpecifier {
        RegionSpecifier { r#type: 2, value: name }
    }
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ServerName {
    #[prost(string, required, tag = "1")]
    pub host_name: String,
    #[prost(uint32, optional, tag = "2")]
    pub port: Option<u32>,
    #[prost(uint64, optional, tag = "3")]
    pub start_code: Option<u64>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct RegionLocation {
    #[prost(message, required, tag = "1")]
    pub region_info: RegionInfo,
    #[prost(message, optional, tag = "2")]
    pub server_name: Option<ServerName>,
    #[prost(int64, required, tag = "3")]
    pub seq_num: i64,
}

/// Milliseconds, from the first to before the second.
#[derive(Clone, PartialEq, prost::Message)]
pub struct TimeRange {
    #[prost(uint64, optional, tag = "1")]
    pub from: Option<u64>,
    #[prost(uint64, optional, tag = "2")]
    pub to: Option<u64>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ColumnFamilyTimeRange {
    #[prost(bytes = "bytes", required, tag = "1")]
    pub column_family: Bytes,
    #[prost(message, required, tag = "2")]
    pub time_range: TimeRange,
}
