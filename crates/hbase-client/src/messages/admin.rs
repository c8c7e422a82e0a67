//! What the `AdminService` of a region server is asked.

use super::region::{RegionInfo, RegionSpecifier, TableName};
use bytes::Bytes;

#[derive(Clone, PartialEq, prost::Message)]
pub struct FlushRegionRequest {
    #[prost(message, required, tag = "1")]
    pub region: RegionSpecifier,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct FlushRegionResponse {
    #[prost(uint64, required, tag = "1")]
    pub last_flush_time: u64,
    #[prost(bool, optional, tag = "2")]
    pub flushed: Option<bool>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct CompactRegionRequest {
    #[prost(message, required, tag = "1")]
    pub region: RegionSpecifier,
    #[prost(bool, optional, tag = "2")]
    pub major: Option<bool>,
    #[prost(bytes = "bytes", optional, tag = "3")]
    pub family: Option<Bytes>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct GetRegionInfoRequest {
    #[prost(message, required, tag = "1")]
    pub region: RegionSpecifier,
    #[prost(bool, optional, tag = "2")]
    pub compaction_state: Option<bool>,
    #[prost(bool, optional, tag = "3")]
    pub best_split_row: Option<bool>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct GetRegionInfoResponse {
    #[prost(message, required, tag = "1")]
    pub region_info: RegionInfo,
    /// 0: none is under way or waits; 1 minor, 2 major, 3 both.
    #[prost(int32, optional, tag = "2")]
    pub compaction_state: Option<i32>,
    #[prost(bool, optional, tag = "4")]
    pub splittable: Option<bool>,
    #[prost(bool, optional, tag = "5")]
    pub mergeable: Option<bool>,
    #[prost(bytes = "bytes", optional, tag = "6")]
    pub best_split_row: Option<Bytes>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct GetRegionLoadRequest {
    #[prost(message, optional, tag = "1")]
    pub table_name: Option<TableName>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct RegionLoad {
    #[prost(message, required, tag = "1")]
    pub region_specifier: RegionSpecifier,
    #[prost(uint32, optional, tag = "3")]
    pub storefiles: Option<u32>,
    #[prost(uint32, optional, tag = "4")]
    pub store_uncompressed_size_mb: Option<u32>,
    #[prost(uint32, optional, tag = "5")]
    pub storefile_size_mb: Option<u32>,
    #[prost(uint32, optional, tag = "6")]
    pub mem_store_size_mb: Option<u32>,
    #[prost(uint64, optional, tag = "8")]
    pub read_requests_count: Option<u64>,
    #[prost(uint64, optional, tag = "9")]
    pub write_requests_count: Option<u64>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct GetRegionLoadResponse {
    #[prost(message, repeated, tag = "1")]
    pub region_loads: Vec<RegionLoad>,
}
