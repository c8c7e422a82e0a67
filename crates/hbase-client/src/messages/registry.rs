//! How the location of hbase:meta and the master are learnt: from servers, or from what they leave in ZooKeeper.

use super::region::{RegionLocation, ServerName};

/// A request without fields: most of the registry's and some of the master's.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Empty {}

#[derive(Clone, PartialEq, prost::Message)]
pub struct GetClusterIdResponse {
    #[prost(string, optional, tag = "1")]
    pub cluster_id: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct GetActiveMasterResponse {
    #[prost(message, optional, tag = "1")]
    pub server_name: Option<ServerName>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct GetMetaRegionLocationsResponse {
    #[prost(message, repeated, tag = "1")]
    pub meta_locations: Vec<RegionLocation>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct GetBootstrapNodesResponse {
    #[prost(message, repeated, tag = "1")]
    pub server_name: Vec<ServerName>,
}

/// Content of `/hbase/meta-region-server`.
#[derive(Clone, PartialEq, prost::Message)]
pub struct MetaRegionServer {
    #[prost(message, required, tag = "1")]
    pub server: ServerName,
    /// 3: open.
    #[prost(int32, optional, tag = "3")]
    pub state: Option<i32>,
}

/// Content of `/hbase/master`.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Master {
    #[prost(message, required, tag = "1")]
    pub master: ServerName,
}

/// Content of `/hbase/hbaseid`.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ClusterId {
    #[prost(string, required, tag = "1")]
    pub cluster_id: String,
}
