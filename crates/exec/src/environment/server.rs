//! What statements may ask of the server that serves the database. An embedded database has none.

use std::fmt::Debug;
use std::net::SocketAddr;
use stoa_pg::PgResult;

/// Where a session's client is, and what its bytes travel through.
#[derive(Clone, Debug, Default)]
pub struct ClientInfo {
    /// Of a client by TCP: its address, and ours that it has reached.
    pub address: Option<SocketAddr>,
    pub server_address: Option<SocketAddr>,
    /// Whether it has come by the Unix socket.
    pub by_socket: bool,
    pub tls: Option<TlsInfo>,
}

/// A row of `pg_stat_ssl`, of a session with TLS.
#[derive(Clone, Debug)]
pub struct TlsInfo {
    pub version: &'static str,
    /// As OpenSSL calls it.
    pub cipher: &'static str,
    pub bits: i32,
    /// Of the client's certificate, if it has shown one: subject and issuer as `/CN=anna`, and the serial number in decimal.
    pub client_dn: Option<String>,
    pub client_serial: Option<String>,
    pub issuer_dn: Option<String>,
}

/// A row of `pg_hba_file_rules`.
#[derive(Clone, Debug)]
pub struct HostRule {
    pub line_number: usize,
    pub kind: Option<&'static str>,
    pub database: Option<Vec<String>>,
    pub user_name: Option<Vec<String>>,
    pub address: Option<String>,
    pub netmask: Option<String>,
    pub auth_method: Option<&'static str>,
    pub options: Option<Vec<String>>,
    pub error: Option<String>,
}

/// A row of `pg_ident_file_mappings`.
#[derive(Clone, Debug)]
pub struct NameMap {
    pub line_number: usize,
    pub map_name: Option<String>,
    pub sys_name: Option<String>,
    pub pg_username: Option<String>,
    pub error: Option<String>,
}

/// The server.
pub trait ServerControl: Send + Sync + Debug {
    /// Reads its files of configuration again, as `pg_reload_conf()` asks. What cannot be used leaves what was in force, and is logged.
    fn reload(&self);

    /// The rules of hosts as the file has them now.
    ///
    /// # Errors
    /// 58P01 and its kin if it cannot be read.
    fn host_rules(&self) -> PgResult<Vec<HostRule>>;

    /// The maps of names as the file has them now.
    ///
    /// # Errors
    /// As [`ServerControl::host_rules`].
    fn name_maps(&self) -> PgResult<Vec<NameMap>>;
}
