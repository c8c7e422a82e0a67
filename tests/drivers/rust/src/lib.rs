//! What the programs share: connections of tokio-postgres, as the variables of libpq say.

use rustls::pki_types::{CertificateDer, pem::PemObject};
use rustls::{ClientConfig, RootCertStore};
use std::env::var;
use tokio_postgres::config::{ChannelBinding, SslMode};
use tokio_postgres::{Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

/// How to connect, from `PGHOST`, `PGPORT`, `PGUSER`, `PGPASSWORD`, `PGDATABASE` and `PGSSLMODE`: `verify-full`, with the password's proof
/// bound to the channel, or `disable`.
pub fn config() -> Config {
    let mut how = Config::new();
    how.host(var("PGHOST").unwrap_or_else(|_| "127.0.0.1".into()));
    how.port(var("PGPORT").ok().and_then(|port| port.parse().ok()).expect("PGPORT"));
    how.user(var("PGUSER").expect("PGUSER")).dbname(var("PGDATABASE").unwrap_or_else(|_| "stoa".into()));
    if let Ok(password) = var("PGPASSWORD") {
        how.password(password);
    }
    match var("PGSSLMODE").as_deref() {
        Ok("verify-full") => how.ssl_mode(SslMode::Require).channel_binding(ChannelBinding::Require),
        Ok("disable") => how.ssl_mode(SslMode::Disable),
        other => panic!("PGSSLMODE is {other:?}"),
    };
    how.options("-c TimeZone=UTC");
    how
}

/// TLS that trusts the authorities of `PGSSLROOTCERT` alone, and wants the server's certificate to be of the host's name.
pub fn tls() -> MakeRustlsConnect {
    let mut roots = RootCertStore::empty();
    if let Ok(file) = var("PGSSLROOTCERT") {
        for certificate in CertificateDer::pem_file_iter(file).expect("PGSSLROOTCERT") {
            roots.add(certificate.expect("a certificate")).expect("an authority");
        }
    }
    trusting(roots)
}

/// TLS that trusts these authorities.
pub fn trusting(roots: RootCertStore) -> MakeRustlsConnect {
    MakeRustlsConnect::new(ClientConfig::builder().with_root_certificates(roots).with_no_client_auth())
}

/// A connection of whose messages nobody hears.
///
/// # Errors
/// What connecting raises.
pub async fn connect() -> Result<tokio_postgres::Client, tokio_postgres::Error> {
    let (client, connection) = config().connect(tls()).await?;
    tokio::spawn(connection);
    Ok(client)
}

/// What a server says to one without TLS.
pub async fn without_tls() -> Result<(), tokio_postgres::Error> {
    let mut how = config();
    how.ssl_mode(SslMode::Disable).channel_binding(ChannelBinding::Prefer);
    how.connect(NoTls).await.map(|_| ())
}
