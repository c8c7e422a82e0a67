//! The settings of the server around a database: where it listens, whom it lets in, what it logs. Sessions see them; who starts
//! the server says them, and its files do.

use super::{Context, Kind, Setting, Unit};
use stoa_pg::{PgError, PgResult, SqlState};
use stoa_table::catalog::role::READ_ALL_SETTINGS;
use stoa_table::catalog::{Authority, Oid};

const CONNECTIONS: &str = "Connections and Authentication / Connection Settings";
const TLS: &str = "Connections and Authentication / SSL";
const FILES: &str = "File Locations";
const LOGGED: &str = "Reporting and Logging / What to Log";

const fn of(name: &'static str, kind: Kind, default: &'static str, context: Context) -> Setting {
    Setting { name, kind, default, context, category: CONNECTIONS, description: "", report: false, hidden: false, effect: true }
}

impl Setting {
    const fn about(mut self, category: &'static str, description: &'static str) -> Self {
        (self.category, self.description) = (category, description);
        self
    }
}

/// Those settings, by name.
pub(super) const OF_THE_SERVER: &[Setting] = &[
    of("authentication_timeout", Kind::Integer { min: 1, max: 600, unit: Unit::Seconds }, "60", Context::Sighup)
        .about("Connections and Authentication / Authentication", "Sets the maximum allowed time to complete client authentication."),
    of("data_directory", Kind::Text, "", Context::Postmaster).about(FILES, "Sets the server's data directory."),
    of("hba_file", Kind::Text, "", Context::Postmaster).about(FILES, "Sets the server's \"hba\" configuration file."),
    of("ident_file", Kind::Text, "", Context::Postmaster).about(FILES, "Sets the server's \"ident\" configuration file."),
    of("listen_addresses", Kind::Text, "127.0.0.1", Context::Postmaster)
        .about(CONNECTIONS, "Sets the host name or IP address(es) to listen to."),
    of("log_connections", Kind::Bool, "off", Context::SuperuserBackend).about(LOGGED, "Logs each successful connection."),
    of("log_disconnections", Kind::Bool, "off", Context::SuperuserBackend).about(LOGGED, "Logs end of a session, including duration."),
    of("log_statement", Kind::Enum(&["none", "ddl", "mod", "all"]), "none", Context::Superuser)
        .about(LOGGED, "Sets the type of statements logged."),
    of("max_connections", Kind::Integer { min: 1, max: 262_143, unit: Unit::None }, "100", Context::Postmaster)
        .about(CONNECTIONS, "Sets the maximum number of concurrent connections."),
    of("port", Kind::Integer { min: 1, max: 65535, unit: Unit::None }, "5433", Context::Postmaster)
        .about(CONNECTIONS, "Sets the TCP port the server listens on."),
    of("ssl", Kind::Bool, "off", Context::Sighup).about(TLS, "Enables SSL connections."),
    of("ssl_ca_file", Kind::Text, "", Context::Sighup).about(TLS, "Location of the SSL certificate authority file."),
    of("ssl_cert_file", Kind::Text, "server.crt", Context::Sighup).about(TLS, "Location of the SSL server certificate file."),
    of("ssl_key_file", Kind::Text, "server.key", Context::Sighup).about(TLS, "Location of the SSL server private key file."),
    of("ssl_library", Kind::Text, "rustls", Context::Internal).about("Preset Options", "Shows the name of the SSL library."),
    of("ssl_min_protocol_version", Kind::Enum(&["TLSv1.2"]), "TLSv1.2", Context::Internal)
        .about(TLS, "Sets the minimum SSL/TLS protocol version to use."),
    of("superuser_reserved_connections", Kind::Integer { min: 0, max: 262_143, unit: Unit::None }, "3", Context::Postmaster)
        .about(CONNECTIONS, "Sets the number of connection slots reserved for superusers."),
    of("unix_socket_directories", Kind::Text, "", Context::Postmaster)
        .about(CONNECTIONS, "Sets the directories where Unix-domain sockets will be created."),
];

/// Whether a role may see a setting's value: what tells of the machine's files is for superusers and members of `pg_read_all_settings`.
#[must_use]
pub fn may_examine(authority: &Authority, role: Oid, name: &str) -> bool {
    let is_private = ["data_directory", "hba_file", "ident_file"].iter().any(|private| private.eq_ignore_ascii_case(name));
    !is_private || authority.has_rights_of(role, READ_ALL_SETTINGS)
}

/// As [`may_examine`].
///
/// # Errors
/// 42501 if it may not.
pub fn check_may_examine(authority: &Authority, role: Oid, name: &str) -> PgResult<()> {
    if may_examine(authority, role, name) {
        return Ok(());
    }
    let what = format!("must be superuser or have privileges of pg_read_all_settings to examine \"{name}\"");
    Err(PgError::new(SqlState::INSUFFICIENT_PRIVILEGE, what))
}
