//! Who the cluster is: where hbase:meta lies and who the master is, by ZooKeeper or by the servers themselves.
//!
//! Invariant: an answer is of now, not remembered: whoever remembers it ([`crate::regions`], [`crate::admin`]) asks again when it was wrong.

mod rpc;
mod zookeeper;

use crate::config::{ClientConfig, RegistryConfig};
use crate::connection::Pool;
use crate::error::Error;
use crate::names::ServerName;
use std::sync::Arc;
use tokio::time::Instant;

/// One of the two ways.
#[derive(Debug)]
pub(crate) enum Registry {
    ZooKeeper(zookeeper::ZooKeeper),
    Rpc(rpc::RpcRegistry),
}

impl Registry {
    pub(crate) fn new(config: &ClientConfig, pool: &Arc<Pool>) -> Result<Registry, Error> {
        Ok(match &config.registry {
            RegistryConfig::ZooKeeper { quorum, parent } => Registry::ZooKeeper(zookeeper::ZooKeeper::new(quorum, parent)),
            RegistryConfig::Rpc { nodes } => Registry::Rpc(rpc::RpcRegistry::new(nodes, Arc::clone(pool))?),
        })
    }

    /// The server of hbase:meta. To be called on the client's runtime, as the others.
    pub(crate) async fn meta(&self, deadline: Instant) -> Result<ServerName, Error> {
        match self {
            Registry::ZooKeeper(zookeeper) => zookeeper.meta(deadline).await,
            Registry::Rpc(rpc) => rpc.meta(deadline).await,
        }
    }

    /// The active master.
    pub(crate) async fn master(&self, deadline: Instant) -> Result<ServerName, Error> {
        match self {
            Registry::ZooKeeper(zookeeper) => zookeeper.master(deadline).await,
            Registry::Rpc(rpc) => rpc.master(deadline).await,
        }
    }

    /// The cluster's id.
    pub(crate) async fn cluster_id(&self, deadline: Instant) -> Result<String, Error> {
        match self {
            Registry::ZooKeeper(zookeeper) => zookeeper.cluster_id(deadline).await,
            Registry::Rpc(rpc) => rpc.cluster_id(deadline).await,
        }
    }
}
