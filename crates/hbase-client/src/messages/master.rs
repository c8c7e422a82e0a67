//! What the `MasterService` is asked: tables, namespaces, regions, snapshots, procedures, the balancer.
//!
//! Most requests start a procedure and are answered by its number. A nonce makes a request that is sent twice start one procedure.

use super::region::{ColumnFamilySchema, NamespaceDescriptor, RegionInfo, RegionSpecifier, ServerName, TableName, TableSchema};
use super::rpc::ForeignExceptionMessage;
use bytes::Bytes;

/// The answer of whatever starts a procedure.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ProcedureStarted {
    #[prost(uint64, optional, tag = "1")]
    pub proc_id: Option<u64>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct GetProcedureResultRequest {
    #[prost(uint64, required, tag = "1")]
    pub proc_id: u64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct GetProcedureResultResponse {
    /// 0: unknown (long done, or never started); 1: runs; 2: done.
    #[prost(int32, required, tag = "1")]
    pub state: i32,
    #[prost(message, optional, tag = "5")]
    pub exception: Option<ForeignExceptionMessage>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct CreateTableRequest {
    #[prost(message, required, tag = "1")]
    pub table_schema: TableSchema,
    #[prost(bytes = "bytes", repeated, tag = "2")]
    pub split_keys: Vec<Bytes>,
    #[prost(uint64, optional, tag = "3")]
    pub nonce_group: Option<u64>,
    #[prost(uint64, optional, tag = "4")]
    pub nonce: Option<u64>,
}

/// DeleteTable, EnableTable and DisableTable alike.
#[derive(Clone, PartialEq, prost::Message)]
pub struct TableRequest {
    #[prost(message, required, tag = "1")]
    pub table_name: TableName,
    #[prost(uint64, optional, tag = "2")]
    pub nonce_group: Option<u64>,
    #[prost(uint64, optional, tag = "3")]
    pub nonce: Option<u64>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct TruncateTableRequest {
    #[prost(message, required, tag = "1")]
    pub table_name: TableName,
    #[prost(bool, optional, tag = "2")]
    pub preserve_splits: Option<bool>,
    #[prost(uint64, optional, tag = "3")]
    pub nonce_group: Option<u64>,
    #[prost(uint64, optional, tag = "4")]
    pub nonce: Option<u64>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ModifyTableRequest {
    #[prost(message, required, tag = "1")]
    pub table_name: TableName,
    #[prost(message, required, tag = "2")]
    pub table_schema: TableSchema,
    #[prost(uint64, optional, tag = "3")]
    pub nonce_group: Option<u64>,
    #[prost(uint64, optional, tag = "4")]
    pub nonce: Option<u64>,
}

/// AddColumn and ModifyColumn alike.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ColumnRequest {
    #[prost(message, required, tag = "1")]
    pub table_name: TableName,
    #[prost(message, required, tag = "2")]
    pub column_families: ColumnFamilySchema,
    #[prost(uint64, optional, tag = "3")]
    pub nonce_group: Option<u64>,
    #[prost(uint64, optional, tag = "4")]
    pub nonce: Option<u64>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct DeleteColumnRequest {
    #[prost(message, required, tag = "1")]
    pub table_name: TableName,
    #[prost(bytes = "bytes", required, tag = "2")]
    pub column_name: Bytes,
    #[prost(uint64, optional, tag = "3")]
    pub nonce_group: Option<u64>,
    #[prost(uint64, optional, tag = "4")]
    pub nonce: Option<u64>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct GetTableDescriptorsRequest {
    #[prost(message, repeated, tag = "1")]
    pub table_names: Vec<TableName>,
    #[prost(bool, optional, tag = "3")]
    pub include_sys_tables: Option<bool>,
    #[prost(string, optional, tag = "4")]
    pub namespace: Option<String>,
}

/// The answer to GetTableDescriptors; that of ListTableDescriptorsByNamespace has the same fields.
#[derive(Clone, PartialEq, prost::Message)]
pub struct TableDescriptors {
    #[prost(message, repeated, tag = "1")]
    pub table_schema: Vec<TableSchema>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct GetTableNamesRequest {
    #[prost(bool, optional, tag = "2")]
    pub include_sys_tables: Option<bool>,
    #[prost(string, optional, tag = "3")]
    pub namespace: Option<String>,
}

/// The answer to GetTableNames; that of ListTableNamesByNamespace has the same fields.
#[derive(Clone, PartialEq, prost::Message)]
pub struct TableNames {
    #[prost(message, repeated, tag = "1")]
    pub table_names: Vec<TableName>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct GetTableStateRequest {
    #[prost(message, required, tag = "1")]
    pub table_name: TableName,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct GetTableStateResponse {
    #[prost(message, required, tag = "1")]
    pub table_state: super::region::TableState,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct CreateNamespaceRequest {
    #[prost(message, required, tag = "1")]
    pub namespace_descriptor: NamespaceDescriptor,
    #[prost(uint64, optional, tag = "2")]
    pub nonce_group: Option<u64>,
    #[prost(uint64, optional, tag = "3")]
    pub nonce: Option<u64>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct DeleteNamespaceRequest {
    #[prost(string, required, tag = "1")]
    pub namespace_name: String,
    #[prost(uint64, optional, tag = "2")]
    pub nonce_group: Option<u64>,
    #[prost(uint64, optional, tag = "3")]
    pub nonce: Option<u64>,
}

/// ListTableDescriptorsByNamespace and ListTableNamesByNamespace alike.
#[derive(Clone, PartialEq, prost::Message)]
pub struct NamespaceRequest {
    #[prost(string, required, tag = "1")]
    pub namespace_name: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ListNamespaceDescriptorsResponse {
    #[prost(message, repeated, tag = "1")]
    pub namespace_descriptor: Vec<NamespaceDescriptor>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct SplitTableRegionRequest {
    #[prost(message, required, tag = "1")]
    pub region_info: RegionInfo,
    #[prost(bytes = "bytes", optional, tag = "2")]
    pub split_row: Option<Bytes>,
    #[prost(uint64, optional, tag = "3")]
    pub nonce_group: Option<u64>,
    #[prost(uint64, optional, tag = "4")]
    pub nonce: Option<u64>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct MergeTableRegionsRequest {
    #[prost(message, repeated, tag = "1")]
    pub region: Vec<RegionSpecifier>,
    #[prost(bool, optional, tag = "3")]
    pub forcible: Option<bool>,
    #[prost(uint64, optional, tag = "4")]
    pub nonce_group: Option<u64>,
    #[prost(uint64, optional, tag = "5")]
    pub nonce: Option<u64>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct MoveRegionRequest {
    #[prost(message, required, tag = "1")]
    pub region: RegionSpecifier,
    #[prost(message, optional, tag = "2")]
    pub dest_server_name: Option<ServerName>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct SetBalancerRunningRequest {
    #[prost(bool, required, tag = "1")]
    pub on: bool,
    #[prost(bool, optional, tag = "2")]
    pub synchronous: Option<bool>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct SetBalancerRunningResponse {
    #[prost(bool, optional, tag = "1")]
    pub prev_balance_value: Option<bool>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct IsBalancerEnabledResponse {
    #[prost(bool, required, tag = "1")]
    pub enabled: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct GetClusterStatusRequest {
    /// 0: version; 2: live servers.
    #[prost(int32, repeated, packed = "false", tag = "1")]
    pub options: Vec<i32>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct GetClusterStatusResponse {
    #[prost(message, required, tag = "1")]
    pub cluster_status: ClusterStatus,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ClusterStatus {
    #[prost(message, optional, tag = "1")]
    pub hbase_version: Option<HBaseVersion>,
    #[prost(message, repeated, tag = "2")]
    pub live_servers: Vec<LiveServerInfo>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct HBaseVersion {
    #[prost(string, required, tag = "1")]
    pub version: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct LiveServerInfo {
    #[prost(message, required, tag = "1")]
    pub server: ServerName,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct SnapshotDescription {
    #[prost(string, required, tag = "1")]
    pub name: String,
    #[prost(string, optional, tag = "2")]
    pub table: Option<String>,
    #[prost(int64, optional, tag = "3")]
    pub creation_time: Option<i64>,
    /// 0: of a disabled table; 1: flush first; 2: what is in files.
    #[prost(int32, optional, tag = "4")]
    pub r#type: Option<i32>,
    #[prost(int32, optional, tag = "5")]
    pub version: Option<i32>,
    /// Seconds after which the master removes it; 0: never.
    #[prost(int64, optional, tag = "8")]
    pub ttl: Option<i64>,
}

/// Snapshot, DeleteSnapshot, IsSnapshotDone and RestoreSnapshot alike.
#[derive(Clone, PartialEq, prost::Message)]
pub struct SnapshotRequest {
    #[prost(message, required, tag = "1")]
    pub snapshot: SnapshotDescription,
    #[prost(uint64, optional, tag = "2")]
    pub nonce_group: Option<u64>,
    #[prost(uint64, optional, tag = "3")]
    pub nonce: Option<u64>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct SnapshotResponse {
    /// Milliseconds.
    #[prost(int64, required, tag = "1")]
    pub expected_timeout: i64,
    /// From HBase 2.6 on.
    #[prost(int64, optional, tag = "2")]
    pub proc_id: Option<i64>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct IsSnapshotDoneResponse {
    #[prost(bool, optional, tag = "1")]
    pub done: Option<bool>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct GetCompletedSnapshotsResponse {
    #[prost(message, repeated, tag = "1")]
    pub snapshots: Vec<SnapshotDescription>,
}
