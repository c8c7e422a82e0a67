//! What the servers themselves say: HBase's RPC registry.
//!
//! Invariant: the nodes that were configured stay in the list; what they name as further ones is added behind them, up to a bound.

use crate::connection::{Lane, Pool, Service};
use crate::error::Error;
use crate::messages::registry::{
    Empty, GetActiveMasterResponse, GetBootstrapNodesResponse, GetClusterIdResponse, GetMetaRegionLocationsResponse,
};
use crate::names::ServerName;
use crate::wire::frame::Request;
use parking_lot::Mutex;
use prost::Message;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// How long one node may take.
const PATIENCE: Duration = Duration::from_secs(3);
/// How many nodes are remembered beside those that were configured.
const LEARNT: usize = 16;

#[derive(Debug)]
pub(crate) struct RpcRegistry {
    pool: Arc<Pool>,
    nodes: Arc<Nodes>,
    /// Which node answered last.
    first: AtomicUsize,
}

#[derive(Debug)]
struct Nodes {
    configured: Vec<ServerName>,
    learnt: Mutex<Vec<ServerName>>,
    /// Whether a node that answers has been asked for others.
    asked: AtomicBool,
}

impl RpcRegistry {
    pub(crate) fn new(nodes: &[String], pool: Arc<Pool>) -> Result<RpcRegistry, Error> {
        let parse = |node: &String| ServerName::parse(node).ok_or_else(|| Error::Argument(format!("{node:?} is not host:port")));
        let configured = nodes.iter().map(parse).collect::<Result<Vec<_>, Error>>()?;
        let nodes = Nodes { configured, learnt: Mutex::new(Vec::new()), asked: AtomicBool::new(false) };
        Ok(RpcRegistry { pool, nodes: Arc::new(nodes), first: AtomicUsize::new(0) })
    }

    pub(crate) async fn meta(&self, deadline: Instant) -> Result<ServerName, Error> {
        let response: GetMetaRegionLocationsResponse = self.ask("GetMetaRegionLocations", deadline).await?;
        let primary = response.meta_locations.iter().find(|location| location.region_info.replica_id.unwrap_or(0) == 0);
        let server = primary.and_then(|location| location.server_name.as_ref());
        ServerName::from_message(server.ok_or_else(|| Error::Registry("no server says where hbase:meta is".to_owned()))?)
    }

    pub(crate) async fn master(&self, deadline: Instant) -> Result<ServerName, Error> {
        let response: GetActiveMasterResponse = self.ask("GetActiveMaster", deadline).await?;
        let master = response.server_name.ok_or_else(|| Error::Registry("there is no active master".to_owned()))?;
        ServerName::from_message(&master)
    }

    pub(crate) async fn cluster_id(&self, deadline: Instant) -> Result<String, Error> {
        let response: GetClusterIdResponse = self.ask("GetClusterId", deadline).await?;
        response.cluster_id.ok_or_else(|| Error::Registry("no server knows the cluster's id".to_owned()))
    }

    /// Asks one node after the other, the one that answered last first.
    async fn ask<M: Message + Default>(&self, method: &'static str, deadline: Instant) -> Result<M, Error> {
        let nodes: Vec<ServerName> = self.nodes.configured.iter().chain(&*self.nodes.learnt.lock()).cloned().collect();
        let first = self.first.load(Ordering::Relaxed);
        let request = Request::new(method, &Empty {});
        let mut last = None;
        for number in 0..nodes.len() {
            let at = (first + number) % nodes.len();
            let until = deadline.min(Instant::now() + PATIENCE);
            match self.pool.call(&nodes[at], Service::Registry, Lane::Short, &request, until).await {
                Ok(response) => {
                    let answer = response.read()?;
                    self.first.store(at, Ordering::Relaxed);
                    if !self.nodes.asked.swap(true, Ordering::Relaxed) || number > 0 {
                        tokio::spawn(learn(Arc::clone(&self.pool), Arc::clone(&self.nodes), nodes[at].clone()));
                    }
                    return Ok(answer);
                }
                Err(e) => last = Some(e),
            }
            if deadline <= Instant::now() {
                break;
            }
        }
        let last = last.map(|e| format!("; last: {e}")).unwrap_or_default();
        Err(Error::Registry(format!("none of {} servers answers{last}", nodes.len())))
    }
}

/// Asks a node for others. That it does not know any is no failure, and nobody waits for it.
async fn learn(pool: Arc<Pool>, nodes: Arc<Nodes>, node: ServerName) {
    let request = Request::new("GetBootstrapNodes", &Empty {});
    let until = Instant::now() + PATIENCE;
    let Ok(response) = pool.call(&node, Service::Registry, Lane::Short, &request, until).await else { return };
    let Ok(named) = response.read::<GetBootstrapNodesResponse>() else { return };
    let named = named.server_name.iter().filter_map(|server| ServerName::from_message(server).ok());
    let new = named.filter(|server| !nodes.configured.iter().any(|known| known.same_address(server)));
    *nodes.learnt.lock() = new.take(LEARNT).collect();
}
