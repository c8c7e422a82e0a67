//! What HBase leaves in ZooKeeper: nodes of a few bytes of Java, `PBUF` and a message.
//!
//! Invariant: a session is kept while it works; after any failure the next question opens a new one.

use crate::error::Error;
use crate::messages::registry::{ClusterId, Master, MetaRegionServer};
use crate::names::ServerName;
use bytes::Bytes;
use prost::Message;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;
use zookeeper_client::Client;

/// How long one question may take.
const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) struct ZooKeeper {
    quorum: String,
    parent: String,
    client: Mutex<Option<Client>>,
}

impl std::fmt::Debug for ZooKeeper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", self.quorum, self.parent)
    }
}

impl ZooKeeper {
    pub(crate) fn new(quorum: &str, parent: &str) -> ZooKeeper {
        let with_port = |server: &str| if server.contains(':') { server.to_owned() } else { format!("{server}:2181") };
        let servers: Vec<String> = quorum.split(',').map(str::trim).filter(|s| !s.is_empty()).map(with_port).collect();
        ZooKeeper { quorum: servers.join(","), parent: parent.to_owned(), client: Mutex::new(None) }
    }

    pub(crate) async fn meta(&self, deadline: Instant) -> Result<ServerName, Error> {
        let node = self.node("meta-region-server", deadline).await?;
        let meta = MetaRegionServer::decode(node).map_err(|e| Error::Protocol(format!("meta-region-server in ZooKeeper: {e}")))?;
        // 3: open. Another state names a server that is to be or was.
        if meta.state.is_some_and(|state| state != 3) {
            return Err(Error::Registry("hbase:meta is not open".to_owned()));
        }
        ServerName::from_message(&meta.server)
    }

    pub(crate) async fn master(&self, deadline: Instant) -> Result<ServerName, Error> {
        let node = self.node("master", deadline).await?;
        let master = Master::decode(node).map_err(|e| Error::Protocol(format!("master in ZooKeeper: {e}")))?;
        ServerName::from_message(&master.master)
    }

    pub(crate) async fn cluster_id(&self, deadline: Instant) -> Result<String, Error> {
        let node = self.node("hbaseid", deadline).await?;
        let id = ClusterId::decode(node).map_err(|e| Error::Protocol(format!("hbaseid in ZooKeeper: {e}")))?;
        Ok(id.cluster_id)
    }

    /// The message in a node.
    async fn node(&self, name: &str, deadline: Instant) -> Result<Bytes, Error> {
        let path = format!("{}/{name}", self.parent);
        let until = deadline.min(Instant::now() + PATIENCE);
        let asked = tokio::time::timeout_at(until, self.read(&path)).await;
        match asked {
            Ok(data) => content(&data?).ok_or_else(|| Error::Registry(format!("{path} in ZooKeeper is not HBase's"))),
            Err(_) => {
                // The session may be what hangs.
                if let Ok(mut client) = self.client.try_lock() {
                    *client = None;
                }
                Err(Error::Registry(format!("ZooKeeper at {} does not answer", self.quorum)))
            }
        }
    }

    async fn read(&self, path: &str) -> Result<Vec<u8>, Error> {
        let mut held = self.client.lock().await;
        let client = match &*held {
            Some(client) => client.clone(),
            None => {
                let connector = Client::connector().with_session_timeout(Duration::from_secs(20)).with_fail_eagerly();
                let connected = connector.connect(&self.quorum).await;
                let client = connected.map_err(|e| Error::Registry(format!("ZooKeeper at {}: {e}", self.quorum)))?;
                held.insert(client).clone()
            }
        };
        // Others may ask at the same time.
        drop(held);
        match client.get_data(path).await {
            Ok((data, _)) => Ok(data),
            Err(zookeeper_client::Error::NoNode) => {
                Err(Error::Registry(format!("ZooKeeper at {} has no {path}: is HBase up, and is that its parent?", self.quorum)))
            }
            Err(e) => {
                *self.client.lock().await = None;
                Err(Error::Registry(format!("ZooKeeper at {}: {e}", self.quorum)))
            }
        }
    }
}

/// What stands behind `FF`, a length, as many bytes, and `PBUF`.
fn content(node: &[u8]) -> Option<Bytes> {
    let rest = match node.split_first()? {
        (0xff, rest) => {
            let (length, rest) = rest.split_first_chunk::<4>()?;
            rest.get(usize::try_from(u32::from_be_bytes(*length)).ok()?..)?
        }
        _ => node,
    };
    rest.strip_prefix(b"PBUF").map(Bytes::copy_from_slice)
}

#[cfg(test)]
mod tests {
    use super::{ZooKeeper, content};

    #[test]
    fn nodes_are_unwrapped() {
        assert_eq!(content(b"\xff\0\0\0\x02idPBUFmessage").as_deref(), Some(&b"message"[..]));
        assert_eq!(content(b"PBUFmessage").as_deref(), Some(&b"message"[..]));
        for wrong in [&b""[..], b"\xff", b"\xff\0\0\0\x09id", b"\xff\xff\xff\xff\xffPBUF", b"message", b"\xff\0\0\0\x02idPBU"] {
            assert_eq!(content(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn ports_are_added_to_a_quorum() {
        assert_eq!(ZooKeeper::new("a, b:1,,c", "/hbase").quorum, "a:2181,b:1,c:2181");
    }
}
