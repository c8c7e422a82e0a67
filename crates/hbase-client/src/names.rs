//! Names of tables and servers.
//!
//! Invariant: a [`TableName`] is one that HBase accepts, so that it can stand in a row key of hbase:meta.

use crate::error::Error;
use crate::messages::region;
use bytes::Bytes;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// `namespace:table`, or `table` in the namespace `default`. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableName {
    /// As it stands in the names of regions: the namespace `default` is left out.
    full: Arc<str>,
}

impl TableName {
    /// The table that says where all regions are.
    pub const META: &'static str = "hbase:meta";

    /// # Errors
    /// [`Error::Argument`] for what HBase does not accept: letters, digits, `_`, `-` and `.` make a name, which does not begin with `-`
    /// or `.`; a namespace has no `-` and no `.`.
    pub fn new(namespace: &str, table: &str) -> Result<TableName, Error> {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        if table.is_empty() || table.starts_with(['-', '.']) || !table.chars().all(|c| word(c) || c == '-' || c == '.') {
            return Err(Error::Argument(format!("{table:?} is not the name of a table")));
        }
        if namespace.is_empty() || !namespace.chars().all(word) {
            return Err(Error::Argument(format!("{namespace:?} is not the name of a namespace")));
        }
        let full = if namespace == "default" { table.to_owned() } else { format!("{namespace}:{table}") };
        Ok(TableName { full: full.into() })
    }

    /// `namespace:table`, or `table` alone for the namespace `default`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.full
    }

    /// `default` if the name names none.
    #[must_use]
    pub fn namespace(&self) -> &str {
        self.full.split_once(':').map_or("default", |(namespace, _)| namespace)
    }

    /// The name without its namespace.
    #[must_use]
    pub fn table(&self) -> &str {
        self.full.split_once(':').map_or(&*self.full, |(_, table)| table)
    }

    pub(crate) fn is_meta(&self) -> bool {
        &*self.full == TableName::META
    }

    pub(crate) fn to_message(&self) -> region::TableName {
        region::TableName {
            namespace: Bytes::copy_from_slice(self.namespace().as_bytes()),
            qualifier: Bytes::copy_from_slice(self.table().as_bytes()),
        }
    }

    pub(crate) fn from_message(message: &region::TableName) -> Result<TableName, Error> {
        let text = |bytes: &Bytes| String::from_utf8(bytes.to_vec()).map_err(|_| Error::Protocol("a table's name is not UTF-8".to_owned()));
        TableName::new(&text(&message.namespace)?, &text(&message.qualifier)?)
    }
}

impl FromStr for TableName {
    type Err = Error;

    fn from_str(text: &str) -> Result<TableName, Error> {
        match text.split_once(':') {
            Some((namespace, table)) => TableName::new(namespace, table),
            None => TableName::new("default", text),
        }
    }
}

impl TryFrom<&str> for TableName {
    type Error = Error;

    fn try_from(text: &str) -> Result<TableName, Error> {
        text.parse()
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.full)
    }
}

impl fmt::Debug for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.full)
    }
}

/// A process of the cluster: two of the same address differ in their start codes.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServerName {
    /// Name or address.
    pub host: Arc<str>,
    pub port: u16,
    /// When it started, in milliseconds; 0 where that is not known.
    pub start_code: u64,
}

impl ServerName {
    /// A server of which only the address is known.
    #[must_use]
    pub fn at(host: &str, port: u16) -> ServerName {
        ServerName { host: host.into(), port, start_code: 0 }
    }

    pub(crate) fn same_address(&self, other: &ServerName) -> bool {
        self.port == other.port && self.host == other.host
    }

    pub(crate) fn from_message(message: &region::ServerName) -> Result<ServerName, Error> {
        let port = message.port.and_then(|port| u16::try_from(port).ok()).filter(|port| *port != 0);
        let port = port.ok_or_else(|| Error::Protocol(format!("server {} has no port", message.host_name)))?;
        Ok(ServerName { host: message.host_name.as_str().into(), port, start_code: message.start_code.unwrap_or(0) })
    }

    pub(crate) fn to_message(&self) -> region::ServerName {
        region::ServerName { host_name: self.host.to_string(), port: Some(u32::from(self.port)), start_code: Some(self.start_code) }
    }

    /// `host:port`, as hbase:meta says it.
    pub(crate) fn parse(text: &str) -> Option<ServerName> {
        let (host, port) = text.trim().rsplit_once(':')?;
        let port = port.parse().ok().filter(|port| *port != 0)?;
        if host.is_empty() { None } else { Some(ServerName::at(host, port)) }
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl fmt::Debug for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{},{}", self.host, self.port, self.start_code)
    }
}

#[cfg(test)]
mod tests {
    use super::{ServerName, TableName};

    #[test]
    fn names_that_hbase_accepts_are_taken_and_no_others() {
        for (text, namespace, table) in [("t", "default", "t"), ("default:t", "default", "t"), ("n:a.b-c_1", "n", "a.b-c_1")] {
            let name: TableName = text.parse().unwrap();
            assert_eq!((name.namespace(), name.table()), (namespace, table));
        }
        assert_eq!("default:t".parse::<TableName>().unwrap(), "t".parse().unwrap());
        for refused in ["", ":", "n:", ":t", "-t", ".t", "a,b", "n-1:t", "a b", "a:b:c"] {
            assert!(refused.parse::<TableName>().is_err(), "{refused:?}");
        }
    }

    #[test]
    fn addresses_are_read() {
        assert_eq!(ServerName::parse("h:1"), Some(ServerName::at("h", 1)));
        for refused in ["", "h", ":1", "h:", "h:0", "h:99999", "h:x"] {
            assert_eq!(ServerName::parse(refused), None, "{refused:?}");
        }
    }
}
