//! Where a store is, in one line: `hbase://zk1,zk2:2181/shop`.

use crate::options::HbaseOptions;
use std::fmt;
use std::str::FromStr;
use stoa_hbase_client::{ClientConfig, TableName};

/// A namespace of a cluster.
///
/// `hbase://HOST[:PORT],…/NAMESPACE` names the servers of ZooKeeper (port 2181 unless it is said), with `?znode=/path` if the cluster does not lie
/// under `/hbase`; `hbase+rpc://HOST:PORT,…/NAMESPACE` masters or region servers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HbaseUrl {
    text: String,
    cluster: Cluster,
    namespace: String,
}

/// Namespaces that are HBase's, or everybody's.
const TAKEN: [&str; 2] = ["hbase", "default"];

/// A cluster, and what is said of a place in it: how both kinds of addresses begin.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Cluster {
    nodes: String,
    by_rpc: bool,
    znode: Option<String>,
}

impl Cluster {
    pub fn config(&self) -> ClientConfig {
        let client = if self.by_rpc { ClientConfig::rpc(self.nodes.split(',')) } else { ClientConfig::zookeeper(&self.nodes) };
        match &self.znode {
            Some(znode) => client.znode_parent(znode),
            None => client,
        }
    }
}

/// Where a table of other programs is: `hbase://HOST[:PORT],…/[NAMESPACE:]TABLE`, the cluster as in [`HbaseUrl`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TableUrl {
    pub cluster: Cluster,
    pub table: TableName,
}

impl FromStr for TableUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<TableUrl, String> {
        let (cluster, place) =
            cluster_and_place(text, "a table is hbase://zk1,zk2:2181/namespace:name, or hbase+rpc://master:16000/namespace:name")?;
        let table = place.parse::<TableName>().map_err(|_| format!("\"{place}\" is no name of a table of HBase"))?;
        if table.namespace() == "hbase" {
            return Err(format!("\"{place}\" is a table of HBase itself"));
        }
        Ok(TableUrl { cluster, table })
    }
}

fn cluster_and_place<'t>(text: &'t str, form: &str) -> Result<(Cluster, &'t str), String> {
    let (by_rpc, rest) = match (text.strip_prefix("hbase://"), text.strip_prefix("hbase+rpc://")) {
        (Some(rest), _) => (false, rest),
        (_, Some(rest)) => (true, rest),
        _ => return Err(form.to_owned()),
    };
    let (place, query) = rest.split_once('?').map_or((rest, None), |(place, query)| (place, Some(query)));
    let Some((nodes, place)) = place.split_once('/') else {
        return Err(format!("what follows the servers is missing: {form}"));
    };
    for node in nodes.split(',') {
        let (host, port) = node.rsplit_once(':').map_or((node, None), |(host, port)| (host, Some(port)));
        if host.is_empty() || host.contains(|c: char| c.is_whitespace() || c == '@') {
            return Err(format!("\"{node}\" is no host"));
        }
        if port.map_or(by_rpc, |port| port.parse::<u16>().is_err()) {
            return Err(format!("\"{node}\" has no port"));
        }
    }
    let znode = match query {
        None => None,
        Some(query) => match query.split_once('=') {
            Some(("znode", path)) if path.starts_with('/') && !by_rpc => Some(path.to_owned()),
            _ => return Err(format!("\"{query}\" is not known here: ?znode=/path is")),
        },
    };
    Ok((Cluster { nodes: nodes.to_owned(), by_rpc, znode }, place))
}

impl HbaseUrl {
    /// The options of a store there, with the defaults.
    #[must_use]
    pub fn options(&self) -> HbaseOptions {
        HbaseOptions::new(self.cluster.config(), &self.namespace)
    }

    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.namespace
    }
}

impl fmt::Display for HbaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for HbaseUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<HbaseUrl, String> {
        let (cluster, namespace) =
            cluster_and_place(text, "a store is hbase://zk1,zk2:2181/namespace, or hbase+rpc://master:16000/namespace")?;
        let of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if namespace.is_empty() || !namespace.chars().all(of_name) {
            return Err(format!("\"{namespace}\" is no name for a namespace: letters, digits and _ are"));
        }
        if TAKEN.contains(&namespace) {
            return Err(format!("the namespace \"{namespace}\" is not for one program alone: take another name"));
        }
        Ok(HbaseUrl { text: text.to_owned(), cluster, namespace: namespace.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::{HbaseUrl, TableUrl};

    #[test]
    fn a_line_names_a_namespace() {
        let url: HbaseUrl = "hbase://zk1,zk2:2182/shop?znode=/hbase-unsecure".parse().unwrap();
        let cluster = &url.cluster;
        assert_eq!((cluster.nodes.as_str(), url.namespace(), cluster.znode.as_deref()), ("zk1,zk2:2182", "shop", Some("/hbase-unsecure")));
        assert_eq!(url.to_string(), "hbase://zk1,zk2:2182/shop?znode=/hbase-unsecure");
        let url: HbaseUrl = "hbase+rpc://m1:16000,m2:16000/shop_2".parse().unwrap();
        assert!(url.cluster.by_rpc && url.options().namespace == "shop_2");
    }

    #[test]
    fn a_line_names_a_table() {
        let url: TableUrl = "hbase://zk1:2181/web:clicks".parse().unwrap();
        assert_eq!((url.table.namespace(), url.table.table()), ("web", "clicks"));
        let url: TableUrl = "hbase+rpc://m1:16000/clicks-2".parse().unwrap();
        assert_eq!((url.table.namespace(), url.table.table()), ("default", "clicks-2"));
        for wrong in ["clicks", "hbase://zk1", "hbase://zk1/", "hbase://zk1/a b", "hbase://zk1/hbase:meta"] {
            assert!(wrong.parse::<TableUrl>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, wrong) in [
            ("shop", "a store is hbase://"),
            ("hbase://zk1", "is missing"),
            ("hbase:///shop", "is no host"),
            ("hbase://zk1,/shop", "is no host"),
            ("hbase://zk1:/shop", "has no port"),
            ("hbase://zk1:99999/shop", "has no port"),
            ("hbase+rpc://m1/shop", "has no port"),
            ("hbase://zk1/", "is no name"),
            ("hbase://zk1/a-b", "is no name"),
            ("hbase://zk1/a/b", "is no name"),
            ("hbase://zk1/default", "not for one program"),
            ("hbase://zk1/shop?x=1", "is not known"),
            ("hbase://zk1/shop?znode=hbase", "is not known"),
        ] {
            let error = text.parse::<HbaseUrl>().unwrap_err();
            assert!(error.contains(wrong), "{text}: {error}");
        }
    }
}
