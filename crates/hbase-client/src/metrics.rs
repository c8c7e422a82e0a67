//! Counts of what a client does, by server.

use crate::names::ServerName;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What has happened at one address since the client was made. Counts only grow, but for `under_way`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerMetrics {
    /// `host:port`.
    pub server: String,
    /// Calls that were sent, each try one.
    pub calls: u64,
    /// Tries that were not the first of their operation.
    pub retries: u64,
    /// Exceptions that the server answered.
    pub exceptions: u64,
    /// Calls that ended without an answer: their time was over, or the connection.
    pub unanswered: u64,
    /// Calls that wait for an answer now.
    pub under_way: u64,
    /// Connections that were made.
    pub connections: u64,
    /// Bytes of frames.
    pub bytes_sent: u64,
    pub bytes_received: u64,
}

/// The counts of a client.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metrics {
    /// Regions that were looked up in hbase:meta.
    pub region_lookups: u64,
    /// Scanners that were opened again behind the last row: after a split, a move, a lost answer.
    pub scanners_reopened: u64,
    pub servers: Vec<ServerMetrics>,
}

#[derive(Debug, Default)]
pub(crate) struct ServerCounts {
    pub(crate) calls: AtomicU64,
    pub(crate) retries: AtomicU64,
    pub(crate) exceptions: AtomicU64,
    pub(crate) unanswered: AtomicU64,
    pub(crate) under_way: AtomicU64,
    pub(crate) connections: AtomicU64,
    pub(crate) bytes_sent: AtomicU64,
    pub(crate) bytes_received: AtomicU64,
}

#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) region_lookups: AtomicU64,
    pub(crate) scanners_reopened: AtomicU64,
    servers: Mutex<BTreeMap<String, Arc<ServerCounts>>>,
}

pub(crate) fn add(count: &AtomicU64, n: u64) {
    count.fetch_add(n, Ordering::Relaxed);
}

impl Counts {
    pub(crate) fn server(&self, server: &ServerName) -> Arc<ServerCounts> {
        Arc::clone(self.servers.lock().entry(server.to_string()).or_default())
    }

    pub(crate) fn read(&self) -> Metrics {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let servers = self.servers.lock();
        let servers = servers.iter().map(|(server, counts)| ServerMetrics {
            server: server.clone(),
            calls: of(&counts.calls),
            retries: of(&counts.retries),
            exceptions: of(&counts.exceptions),
            unanswered: of(&counts.unanswered),
            under_way: of(&counts.under_way),
            connections: of(&counts.connections),
            bytes_sent: of(&counts.bytes_sent),
            bytes_received: of(&counts.bytes_received),
        });
        Metrics { region_lookups: of(&self.region_lookups), scanners_reopened: of(&self.scanners_reopened), servers: servers.collect() }
    }
}
