//! The files that a new data directory gets: as open as a server on one's own machine was, and closed to all others.
//!
//! **The socket.** Whoever runs the server owns its files, so the operating system's user of the server may be any role by the socket:
//! the map [`OWNER_MAP`], which needs no line in `pg_ident.conf` and so cannot be lost by editing it. Others on the machine may be
//! the role of their own name, if there is one. Neither is a way around a role's own NOLOGIN or limits.
//! **Loopback** is trusted, as before there were rules; on a machine that is shared, change those two lines to `scram-sha-256`.
//! **All others** need TLS and a password: without a certificate there is no TLS, so nothing else is served.

/// The map by which the server's own user may be any role.
pub const OWNER_MAP: &str = "stoa_owner";

/// `pg_hba.conf` of a new data directory.
pub const DEFAULT_RULES: &str = r#"# Who may connect, from where, by which proof: the first line that fits decides, and what no line fits is refused.
# The format is that of PostgreSQL 15's pg_hba.conf. After a change: SELECT pg_reload_conf(), or SIGHUP; a file with a broken line
# changes nothing. SELECT * FROM pg_hba_file_rules shows what is read, and what is wrong.
#
#   local      DATABASE  USER  METHOD  [OPTIONS]
#   host       DATABASE  USER  ADDRESS  METHOD  [OPTIONS]     with or without TLS
#   hostssl    DATABASE  USER  ADDRESS  METHOD  [OPTIONS]     with TLS
#   hostnossl  DATABASE  USER  ADDRESS  METHOD  [OPTIONS]     without
#
# DATABASE  all, sameuser, samerole, names with commas between them, @file
# USER      all, names, +role for its members, @file
# ADDRESS   10.0.0.0/8, an address and a mask, a name, .a.domain, all, samehost, samenet
# METHOD    trust, reject, scram-sha-256, peer (the socket), cert (TLS)
# OPTIONS   map=NAME (pg_ident.conf; peer, cert), clientcert=verify-ca or verify-full (hostssl)

# By the socket: the user of the system who runs the server may be any role (the map stoa_owner), others the role of their name.
local    all  all                 peer  map=stoa_owner
# From this machine. If others work on it too, ask them for a password: scram-sha-256.
host     all  all  127.0.0.1/32   trust
host     all  all  ::1/128        trust
# From anywhere else, over TLS, with a password.
hostssl  all  all  all            scram-sha-256
"#;

/// `pg_ident.conf` of a new data directory.
pub const DEFAULT_IDENT: &str = r"# Which roles may users of the system (peer) or names of certificates (cert) be, where a line of pg_hba.conf says map=NAME.
#
#   MAP  NAME  ROLE
#
# A NAME that begins with a slash is a regular expression; \1 in ROLE stands for its first group:
#   mail  /^(.*)@example\.com$  \1
";
