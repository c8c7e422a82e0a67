//! What a client is told when it is made: where the cluster says who it is, and the limits of time and memory.

use crate::error::Error;
use std::time::Duration;

/// How a client finds the cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RegistryConfig {
    ZooKeeper { quorum: String, parent: String },
    Rpc { nodes: Vec<String> },
}

/// How client and servers make sure of each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Security {
    /// The server believes the name it is told (`hbase.security.authentication` = `simple`).
    #[default]
    Simple,
    /// Not done yet: [`crate::Client::connect`] refuses it.
    Kerberos,
    /// Not done yet: [`crate::Client::connect`] refuses it.
    Tls,
}

/// Where the cluster is, and the limits that a client keeps.
///
/// ```
/// # use stoa_hbase_client::ClientConfig;
/// # use std::time::Duration;
/// let config = ClientConfig::zookeeper("zk1:2181,zk2:2181,zk3:2181").operation_timeout(Duration::from_secs(20));
/// ```
#[derive(Debug, Clone)]
pub struct ClientConfig {
    pub(crate) registry: RegistryConfig,
    pub(crate) security: Security,
    pub(crate) user: String,
    pub(crate) operation_timeout: Duration,
    pub(crate) rpc_timeout: Duration,
    pub(crate) connect_timeout: Duration,
    pub(crate) first_pause: Duration,
    pub(crate) longest_pause: Duration,
    pub(crate) connections_per_server: usize,
    pub(crate) bytes_under_way: usize,
    pub(crate) largest_response: usize,
    pub(crate) largest_row: usize,
    pub(crate) multi_bytes: usize,
    pub(crate) threads: usize,
}

impl ClientConfig {
    fn new(registry: RegistryConfig) -> ClientConfig {
        let name = |variable: &str| std::env::var(variable).ok().filter(|name| !name.is_empty());
        ClientConfig {
            registry,
            security: Security::Simple,
            user: name("HADOOP_USER_NAME").or_else(|| name("USER")).unwrap_or_else(|| "hbase".to_owned()),
            operation_timeout: Duration::from_secs(60),
            rpc_timeout: Duration::from_secs(10),
            connect_timeout: Duration::from_secs(3),
            first_pause: Duration::from_millis(10),
            longest_pause: Duration::from_secs(1),
            connections_per_server: 2,
            bytes_under_way: 32 << 20,
            largest_response: 256 << 20,
            largest_row: 256 << 20,
            multi_bytes: 2 << 20,
            threads: 2,
        }
    }

    /// A cluster that is found by ZooKeeper: `host:port` for each server of the quorum, commas between; the port is 2181 if left out.
    #[must_use]
    pub fn zookeeper(quorum: &str) -> ClientConfig {
        ClientConfig::new(RegistryConfig::ZooKeeper { quorum: quorum.to_owned(), parent: "/hbase".to_owned() })
    }

    /// A cluster that is found by its own servers (HBase's RPC registry, its default from 3.0 on): `host:port` of masters or region
    /// servers. One that answers is enough; others are learnt from it.
    #[must_use]
    pub fn rpc<I: IntoIterator<Item = S>, S: Into<String>>(nodes: I) -> ClientConfig {
        ClientConfig::new(RegistryConfig::Rpc { nodes: nodes.into_iter().map(Into::into).collect() })
    }

    /// The node of ZooKeeper under which the cluster lies (`zookeeper.znode.parent`), `/hbase` if not set. Nothing to the RPC registry.
    #[must_use]
    pub fn znode_parent(mut self, path: &str) -> ClientConfig {
        if let RegistryConfig::ZooKeeper { parent, .. } = &mut self.registry {
            path.trim_end_matches('/').clone_into(parent);
        }
        self
    }

    #[must_use]
    pub fn security(mut self, security: Security) -> ClientConfig {
        self.security = security;
        self
    }

    /// The name by which the servers know this client: `HADOOP_USER_NAME` or `USER` of the environment if not set.
    #[must_use]
    pub fn user(mut self, user: &str) -> ClientConfig {
        user.clone_into(&mut self.user);
        self
    }

    /// How long an operation may take over all its tries, 60 s if not set. A [`crate::Table`] can have its own.
    #[must_use]
    pub fn operation_timeout(mut self, timeout: Duration) -> ClientConfig {
        self.operation_timeout = timeout;
        self
    }

    /// How long one try may wait for its server, 10 s if not set. A connection on which nothing has come for so long, though calls wait,
    /// is given up. A scanner's server answers within half of this time, with what it has found by then.
    #[must_use]
    pub fn rpc_timeout(mut self, timeout: Duration) -> ClientConfig {
        self.rpc_timeout = timeout;
        self
    }

    /// How long making a connection may take, 3 s if not set.
    #[must_use]
    pub fn connect_timeout(mut self, timeout: Duration) -> ClientConfig {
        self.connect_timeout = timeout;
        self
    }

    /// The pause before the second retry (the first comes at once where that makes sense), 10 ms if not set, and the longest that it grows
    /// to, 1 s if not set. Pauses are spread by a quarter to either side.
    #[must_use]
    pub fn pauses(mut self, first: Duration, longest: Duration) -> ClientConfig {
        self.first_pause = first;
        self.longest_pause = longest.max(first);
        self
    }

    /// 1, or 2 so that long answers do not stand before short ones, which is what is done if not set.
    #[must_use]
    pub fn connections_per_server(mut self, connections: usize) -> ClientConfig {
        self.connections_per_server = connections.clamp(1, 2);
        self
    }

    /// How many bytes of requests may wait to be sent or answered at one server, 32 MiB if not set; further calls wait until there is room.
    /// A larger request goes alone.
    #[must_use]
    pub fn bytes_under_way(mut self, bytes: usize) -> ClientConfig {
        self.bytes_under_way = bytes.clamp(1 << 16, u32::MAX as usize >> 3);
        self
    }

    /// The largest answer that is read, 256 MiB if not set: whoever asked for a larger one gets [`Error::TooLarge`].
    #[must_use]
    pub fn largest_response(mut self, bytes: usize) -> ClientConfig {
        self.largest_response = bytes.max(1 << 10);
        self
    }

    /// The largest row that a scanner puts together from its parts, 256 MiB if not set.
    #[must_use]
    pub fn largest_row(mut self, bytes: usize) -> ClientConfig {
        self.largest_row = bytes;
        self
    }

    /// About how many bytes of mutations go to a server in one call of [`crate::Table::batch`], 2 MiB if not set.
    #[must_use]
    pub fn multi_bytes(mut self, bytes: usize) -> ClientConfig {
        self.multi_bytes = bytes.max(1);
        self
    }

    /// Threads of the client's own runtime, 2 if not set.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> ClientConfig {
        self.threads = threads.max(1);
        self
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        match self.security {
            Security::Simple => {}
            Security::Kerberos => {
                return Err(Error::Unsupported("Kerberos is not supported yet; the cluster must use simple authentication".to_owned()));
            }
            Security::Tls => return Err(Error::Unsupported("TLS is not supported yet".to_owned())),
        }
        let empty = match &self.registry {
            RegistryConfig::ZooKeeper { quorum, .. } => quorum.trim().is_empty(),
            RegistryConfig::Rpc { nodes } => nodes.is_empty(),
        };
        if empty { Err(Error::Argument("no address of the cluster is given".to_owned())) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::{ClientConfig, Security};
    use crate::error::Error;

    #[test]
    fn what_is_not_supported_is_refused() {
        for security in [Security::Kerberos, Security::Tls] {
            let refused = ClientConfig::zookeeper("h:1").security(security).check();
            assert!(matches!(refused, Err(Error::Unsupported(_))), "{refused:?}");
        }
        assert!(ClientConfig::zookeeper("h:1").check().is_ok());
        assert!(ClientConfig::zookeeper(" ").check().is_err());
        assert!(ClientConfig::rpc(Vec::<String>::new()).check().is_err());
    }
}
